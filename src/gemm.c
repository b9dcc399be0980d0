/*
 * gemm.c - the public products: check the arguments, plan, run.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "cuda/batch.h"
#include "cuda/native.h"
#include "driver.h"
#include "report.h"

/*                                              type ta tb m  n  k al pa  a lda pb  b ldb bt  c ldc acc */
static const ozg_argument_numbers gemm_numbers = {0, 2, 3, 4, 5, 6, 7, 0, 8, 9, 0, 10, 11, 12, 13, 14, 15};
static const ozg_argument_numbers prepared_numbers = {0,  2,  3,  4,  5,  6,  7,  8, 9,
                                                      10, 11, 12, 13, 14, 15, 16, 17};
static const ozg_argument_numbers plan_numbers = {3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9};
static const ozg_argument_numbers run_numbers = {0, 0, 0, 0, 0, 0, 2, 0, 3, 4, 0, 5, 6, 7, 8, 9, 0};
static const ozg_argument_numbers strided_numbers = {0, 2, 3, 4, 5, 6, 7, 0, 8, 9, 0, 11, 12, 14, 15, 16, 19};
static const ozg_argument_numbers batch_numbers = {0, 2, 3, 4, 5, 6, 7, 0, 8, 9, 0, 10, 11, 12, 13, 14, 16};

static const ozg_argument_numbers bound_numbers = {0, 2, 3, 4, 5, 6, 7, 0, 8, 9, 0, 10, 11, 0, 0, 0, 12};

/* Failures leave a zeroed report. */
static ozg_status begin(ozg_context *ctx, ozg_report *report)
{
    if (report)
        memset(report, 0, sizeof *report);
    if (!ctx)
        return ozg_fail(NULL, OZG_E_ARG, "argument 1 (ctx) is NULL");
    return OZG_OK;
}

/* The moduli and the width of a prepared operand must be those of the call. */
static ozg_status check_moduli(ozg_context *ctx, const ozg_operand *op, const ozg_shape *s, int number)
{
    int nmod, width;
    ozg_status status = ozg_plan_accuracy(ctx, s->type, s->k, s->acc, &nmod, &width);

    if (!status && (op->acc.kind == OZG_BY_NATIVE || op->acc.kind == OZG_BY_ROUNDED || op->nmod != nmod ||
                    op->width != width))
        return ozg_fail(ctx, OZG_E_ARG,
                        "argument %d: the operand has %d moduli and width %d; this call needs %d and %d",
                        number, op->nmod, op->width, nmod, width);
    return status;
}

/* A native or rounded call takes the number of moduli of its prepared operands. */
static ozg_status take_moduli(ozg_context *ctx, const ozg_operand *op, ozg_shape *s, int number)
{
    if (op->acc.kind != s->acc.kind)
        return ozg_fail(ctx, OZG_E_ARG, "argument %d: the operand was prepared for another accuracy", number);
    if (s->acc.value && s->acc.value != op->nmod)
        return ozg_fail(
            ctx, OZG_E_ARG,
            "argument %d: the operand has %d moduli; the other one or the call %d; prepare it with "
            "ozg_with_moduli(..., %d)",
            number, op->nmod, s->acc.value, s->acc.value);
    s->acc.value = op->nmod;
    return OZG_OK;
}

/* A prepared operand must be what the call says. */
static ozg_status check_operand(ozg_context *ctx, const ozg_operand *op, char side, ozg_shape *s, int number)
{
    const int64_t count = side == 'A' ? s->m : s->n;

    if (!op)
        return OZG_OK;
    if (op->ctx != ctx)
        return ozg_fail(ctx, OZG_E_ARG, "argument %d: the operand was prepared in another context", number);
    if (op->type != s->type || op->side != side)
        return ozg_fail(
            ctx, OZG_E_ARG,
            "argument %d: the operand was prepared as type '%c', side '%c'; this call needs '%c', '%c'",
            number, op->type, op->side, s->type, side);
    if (op->count != count || op->k != s->k)
        return ozg_fail(
            ctx, OZG_E_ARG, "argument %d: the operand is %lld x %lld; this call needs %lld x %lld", number,
            (long long)(side == 'A' ? op->count : op->k), (long long)(side == 'A' ? op->k : op->count),
            (long long)(side == 'A' ? count : s->k), (long long)(side == 'A' ? s->k : count));
    if (s->k == 0 || count == 0)
        return OZG_OK; /* nothing was split */
    return ozg_by_data(s->acc) ? take_moduli(ctx, op, s, number) : check_moduli(ctx, op, s, number);
}

static const char *reason_for_nothing(const ozg_shape *s)
{
    return s->m == 0 ? "m = 0" : s->n == 0 ? "n = 0" : s->k == 0 ? "k = 0" : "alpha = 0";
}

/* The product, arguments already checked. plan: NULL, or one for this shape. work: NULL, or its workspace. */
static ozg_status run(ozg_context *ctx, const ozg_plan *plan, const ozg_shape *s, const ozg_data *d,
                      void *work, ozg_report *report)
{
    ozg_plan made;
    ozg_status status = OZG_OK;

    if (s->m == 0 || s->n == 0) {
        if (report)
            ozg_report_nothing(report, ctx, reason_for_nothing(s));
        return OZG_OK;
    }
    if (ozg_nothing_to_multiply(s, d))
        return ctx->backend->scale_c(ctx, s, d, report, reason_for_nothing(s));
    if (ozg_cuda_native_wanted(ctx, s, d))
        return ozg_cuda_native_run(ctx, s, d, report);
    if (!plan) {
        status = ozg_plan_make(&made, ctx, s, d->pa != NULL, d->pb != NULL);
        if (status)
            return status;
        plan = &made;
    }
    if (!work ||
        (ctx->cuda && !ctx->device_pointers)) /* a caller with matrices of the host has memory of the host */
        work = ctx->backend->workspace(ctx, plan->workspace, &status);
    if (!work)
        return status;
    if (report)
        ozg_report_nothing(report, ctx, "");
    status = ctx->backend->run(plan, d, work, report);
    if (status && report)
        memset(report, 0, sizeof *report);
    return status;
}

static ozg_status check_data(ozg_context *ctx, const ozg_shape *s, const ozg_data *d,
                             const ozg_argument_numbers *numbers)
{
    const ozg_status status = ozg_problem_check_data(s, d, numbers, ozg_error_buffer(ctx), OZG_ERROR_SIZE);

    return status ? status : ctx->backend->check(ctx, s, d, numbers);
}

static ozg_status gemm(ozg_context *ctx, ozg_shape *s, const ozg_data *d, const ozg_argument_numbers *numbers,
                       ozg_report *report)
{
    ozg_status status;

    if (d->pa) /* the flag of a prepared operand is not looked at */
        s->transa = 'N';
    if (d->pb)
        s->transb = 'N';
    status = ozg_problem_check_shape(s, numbers, ozg_error_buffer(ctx), OZG_ERROR_SIZE);
    if (!status)
        status = check_operand(ctx, d->pa, 'A', s, numbers->pa);
    if (!status)
        status = check_operand(ctx, d->pb, 'B', s, numbers->pb);
    if (!status)
        status = check_data(ctx, s, d, numbers);
    return status ? status : run(ctx, NULL, s, d, NULL, report);
}

/* The value of a float, untouched by the caller's flush-to-zero setting. */
static double of_float(float x)
{
    uint32_t bits;
    uint64_t wide;
    double y;

    memcpy(&bits, &x, 4);
    wide = ozg_f64_of_f32(bits);
    memcpy(&y, &wide, 8);
    return y;
}

/* A scalar of the type at x. */
static void read_scalar(double out[2], char type, const void *x)
{
    const int complex_ = ozg_type_complex(type);
    float f[2] = {0, 0};

    out[1] = 0;
    if (ozg_type_single(type)) {
        memcpy(f, x, complex_ ? 8 : 4);
        out[0] = of_float(f[0]);
        out[1] = of_float(f[1]);
    } else {
        memcpy(out, x, complex_ ? 16 : 8);
    }
}

/* The product of one type; alpha and beta point to numbers of that type. */
static ozg_status typed_gemm(ozg_context *ctx, char type, char transa, char transb, int64_t m, int64_t n,
                             int64_t k, const void *alpha, const ozg_operand *pa, const void *a, int64_t lda,
                             const ozg_operand *pb, const void *b, int64_t ldb, const void *beta, void *c,
                             int64_t ldc, ozg_accuracy acc, const ozg_argument_numbers *numbers,
                             ozg_report *report)
{
    ozg_shape s = {type, transa, transb, m, n, k, acc};
    ozg_data d = {{0, 0}, {0, 0}, a, b, lda, ldb, pa, pb, c, ldc};
    ozg_status status = begin(ctx, report);

    if (status)
        return status;
    if (!alpha || !beta)
        return ozg_fail(ctx, OZG_E_ARG, "argument %d (%s) is NULL", alpha ? numbers->beta : numbers->alpha,
                        alpha ? "beta" : "alpha");
    read_scalar(d.alpha, type, alpha);
    read_scalar(d.beta, type, beta);
    return gemm(ctx, &s, &d, numbers, report);
}

ozg_status ozg_dgemm(ozg_context *ctx, char transa, char transb, int64_t m, int64_t n, int64_t k,
                     double alpha, const double *a, int64_t lda, const double *b, int64_t ldb, double beta,
                     double *c, int64_t ldc, ozg_accuracy acc, ozg_report *report)
{
    return typed_gemm(ctx, 'd', transa, transb, m, n, k, &alpha, NULL, a, lda, NULL, b, ldb, &beta, c, ldc,
                      acc, &gemm_numbers, report);
}

ozg_status ozg_dgemm_prepared(ozg_context *ctx, char transa, char transb, int64_t m, int64_t n, int64_t k,
                              double alpha, const ozg_operand *pa, const double *a, int64_t lda,
                              const ozg_operand *pb, const double *b, int64_t ldb, double beta, double *c,
                              int64_t ldc, ozg_accuracy acc, ozg_report *report)
{
    return typed_gemm(ctx, 'd', transa, transb, m, n, k, &alpha, pa, a, lda, pb, b, ldb, &beta, c, ldc, acc,
                      &prepared_numbers, report);
}

ozg_status ozg_sgemm(ozg_context *ctx, char transa, char transb, int64_t m, int64_t n, int64_t k, float alpha,
                     const float *a, int64_t lda, const float *b, int64_t ldb, float beta, float *c,
                     int64_t ldc, ozg_accuracy acc, ozg_report *report)
{
    return typed_gemm(ctx, 's', transa, transb, m, n, k, &alpha, NULL, a, lda, NULL, b, ldb, &beta, c, ldc,
                      acc, &gemm_numbers, report);
}

ozg_status ozg_sgemm_prepared(ozg_context *ctx, char transa, char transb, int64_t m, int64_t n, int64_t k,
                              float alpha, const ozg_operand *pa, const float *a, int64_t lda,
                              const ozg_operand *pb, const float *b, int64_t ldb, float beta, float *c,
                              int64_t ldc, ozg_accuracy acc, ozg_report *report)
{
    return typed_gemm(ctx, 's', transa, transb, m, n, k, &alpha, pa, a, lda, pb, b, ldb, &beta, c, ldc, acc,
                      &prepared_numbers, report);
}

ozg_status ozg_zgemm(ozg_context *ctx, char transa, char transb, int64_t m, int64_t n, int64_t k,
                     const double alpha[2], const double *a, int64_t lda, const double *b, int64_t ldb,
                     const double beta[2], double *c, int64_t ldc, ozg_accuracy acc, ozg_report *report)
{
    return typed_gemm(ctx, 'z', transa, transb, m, n, k, alpha, NULL, a, lda, NULL, b, ldb, beta, c, ldc, acc,
                      &gemm_numbers, report);
}

ozg_status ozg_zgemm_prepared(ozg_context *ctx, char transa, char transb, int64_t m, int64_t n, int64_t k,
                              const double alpha[2], const ozg_operand *pa, const double *a, int64_t lda,
                              const ozg_operand *pb, const double *b, int64_t ldb, const double beta[2],
                              double *c, int64_t ldc, ozg_accuracy acc, ozg_report *report)
{
    return typed_gemm(ctx, 'z', transa, transb, m, n, k, alpha, pa, a, lda, pb, b, ldb, beta, c, ldc, acc,
                      &prepared_numbers, report);
}

ozg_status ozg_cgemm(ozg_context *ctx, char transa, char transb, int64_t m, int64_t n, int64_t k,
                     const float alpha[2], const float *a, int64_t lda, const float *b, int64_t ldb,
                     const float beta[2], float *c, int64_t ldc, ozg_accuracy acc, ozg_report *report)
{
    return typed_gemm(ctx, 'c', transa, transb, m, n, k, alpha, NULL, a, lda, NULL, b, ldb, beta, c, ldc, acc,
                      &gemm_numbers, report);
}

ozg_status ozg_cgemm_prepared(ozg_context *ctx, char transa, char transb, int64_t m, int64_t n, int64_t k,
                              const float alpha[2], const ozg_operand *pa, const float *a, int64_t lda,
                              const ozg_operand *pb, const float *b, int64_t ldb, const float beta[2],
                              float *c, int64_t ldc, ozg_accuracy acc, ozg_report *report)
{
    return typed_gemm(ctx, 'c', transa, transb, m, n, k, alpha, pa, a, lda, pb, b, ldb, beta, c, ldc, acc,
                      &prepared_numbers, report);
}

/* ---- bounds without the product ----------------------------------------------------------------- */

/* The report of a product that is not computed. d->c is NULL and beta 0: neither is looked at. */
static ozg_status bound(ozg_context *ctx, char type, char transa, char transb, int64_t m, int64_t n,
                        int64_t k, const void *alpha, const void *a, int64_t lda, const void *b, int64_t ldb,
                        ozg_accuracy acc, ozg_report *report)
{
    ozg_shape s = {type, transa, transb, m, n, k, acc};
    ozg_data d = {{0, 0}, {0, 0}, a, b, lda, ldb, NULL, NULL, NULL, 0};
    ozg_plan plan;
    ozg_status status = begin(ctx, report);

    if (status)
        return status;
    if (!report || !alpha)
        return ozg_fail(ctx, OZG_E_ARG, "argument %s is NULL", report ? "7 (alpha)" : "13 (report)");
    read_scalar(d.alpha, type, alpha);
    status = ozg_problem_check_shape(&s, &bound_numbers, ozg_error_buffer(ctx), OZG_ERROR_SIZE);
    for (int is_a = 1; !status && is_a >= 0; is_a--)
        status = ozg_problem_check_operand(&s, is_a, is_a ? a : b, is_a ? lda : ldb, &bound_numbers,
                                           ozg_error_buffer(ctx), OZG_ERROR_SIZE);
    if (!status)
        status = ctx->backend->check(ctx, &s, &d, &bound_numbers);
    if (status)
        return status;
    ozg_report_nothing(report, ctx, "");
    if (m == 0 || n == 0 || ozg_nothing_to_multiply(&s, &d)) {
        report->reason = reason_for_nothing(&s);
        return OZG_OK;
    }
    if (ozg_cuda_native_wanted(ctx, &s, &d)) {
        ozg_cuda_native_report(ctx, report);
        return OZG_OK;
    }
    status = ozg_plan_make(&plan, ctx, &s, 0, 0);
    if (!status)
        status = ctx->backend->predict(&plan, &d, report);
    if (status)
        memset(report, 0, sizeof *report);
    return status;
}

ozg_status ozg_bound_dgemm(ozg_context *ctx, char transa, char transb, int64_t m, int64_t n, int64_t k,
                           double alpha, const double *a, int64_t lda, const double *b, int64_t ldb,
                           ozg_accuracy acc, ozg_report *report)
{
    return bound(ctx, 'd', transa, transb, m, n, k, &alpha, a, lda, b, ldb, acc, report);
}

ozg_status ozg_bound_sgemm(ozg_context *ctx, char transa, char transb, int64_t m, int64_t n, int64_t k,
                           float alpha, const float *a, int64_t lda, const float *b, int64_t ldb,
                           ozg_accuracy acc, ozg_report *report)
{
    return bound(ctx, 's', transa, transb, m, n, k, &alpha, a, lda, b, ldb, acc, report);
}

ozg_status ozg_bound_zgemm(ozg_context *ctx, char transa, char transb, int64_t m, int64_t n, int64_t k,
                           const double alpha[2], const double *a, int64_t lda, const double *b, int64_t ldb,
                           ozg_accuracy acc, ozg_report *report)
{
    return bound(ctx, 'z', transa, transb, m, n, k, alpha, a, lda, b, ldb, acc, report);
}

ozg_status ozg_bound_cgemm(ozg_context *ctx, char transa, char transb, int64_t m, int64_t n, int64_t k,
                           const float alpha[2], const float *a, int64_t lda, const float *b, int64_t ldb,
                           ozg_accuracy acc, ozg_report *report)
{
    return bound(ctx, 'c', transa, transb, m, n, k, alpha, a, lda, b, ldb, acc, report);
}

ozg_status ozg_report_wait(ozg_context *ctx, ozg_report *report)
{
    ozg_status status = begin(ctx, NULL);

    if (!status)
        status = ctx->backend->wait(ctx, report);
    if (status && status != OZG_E_UNSUPPORTED && report) /* a report is still to be had after the capture */
        memset(report, 0, sizeof *report);
    return status;
}

/* ---- plans -------------------------------------------------------------------------------------- */

ozg_status ozg_plan_create(ozg_plan **plan, ozg_context *ctx, char type, char transa, char transb, int64_t m,
                           int64_t n, int64_t k, ozg_accuracy acc)
{
    ozg_shape s = {type, transa, transb, m, n, k, acc};
    ozg_status status;

    if (!plan)
        return ozg_fail(ctx, OZG_E_ARG, "argument 1 (plan) is NULL");
    *plan = NULL;
    if (!ctx)
        return ozg_fail(NULL, OZG_E_ARG, "argument 2 (ctx) is NULL");
    status = ozg_problem_check_shape(&s, &plan_numbers, ozg_error_buffer(ctx), OZG_ERROR_SIZE);
    if (status)
        return status;
    *plan = calloc(1, sizeof **plan);
    if (!*plan)
        return ozg_fail(ctx, OZG_E_NOMEM, "no memory for a plan");
    (*plan)->ctx = ctx;
    (*plan)->shape = s;
    if (m > 0 && n > 0 && k > 0)
        status = ozg_plan_make(*plan, ctx, &s, 0, 0);
    if (status) {
        free(*plan);
        *plan = NULL;
    }
    return status;
}

void ozg_plan_destroy(ozg_plan *plan)
{
    free(plan);
}

size_t ozg_plan_workspace(const ozg_plan *plan)
{
    return plan ? plan->workspace : 0;
}

ozg_status ozg_plan_run(const ozg_plan *plan, const void *alpha, const void *a, int64_t lda, const void *b,
                        int64_t ldb, const void *beta, void *c, int64_t ldc, void *work, ozg_report *report)
{
    ozg_data d = {{0, 0}, {0, 0}, a, b, lda, ldb, NULL, NULL, c, ldc};
    ozg_context *ctx = plan ? plan->ctx : NULL;
    ozg_status status;

    if (report)
        memset(report, 0, sizeof *report);
    if (!plan || !alpha || !beta)
        return ozg_fail(ctx, OZG_E_ARG, "argument %s is NULL",
                        !plan    ? "1 (plan)"
                        : !alpha ? "2 (alpha)"
                                 : "7 (beta)");
    read_scalar(d.alpha, plan->shape.type, alpha);
    read_scalar(d.beta, plan->shape.type, beta);
    status = check_data(ctx, &plan->shape, &d, &run_numbers);
    return status ? status : run(ctx, plan, &plan->shape, &d, work, report);
}

/* ---- batches ------------------------------------------------------------------------------------ */

/* No C may share an element with any A or B or another C. */
static ozg_status check_sharing(ozg_context *ctx, const ozg_shape *s, const ozg_data *first,
                                const ozg_products *all, int number_c)
{
    const size_t most = SIZE_MAX / (3 * sizeof(ozg_block));
    ozg_block *blocks;
    size_t count = 0;
    int clash;

    if (all->count < 2)
        return OZG_OK; /* one product was checked alone */
    blocks = (uint64_t)all->count > most ? NULL : malloc((size_t)all->count * 3 * sizeof *blocks);
    if (!blocks)
        return ozg_fail(ctx, OZG_E_NOMEM, "no memory to check %lld products; use smaller batches",
                        (long long)all->count);
    for (int64_t q = 0; q < all->count; q++) {
        ozg_data d;

        ozg_products_at(&d, first, all, q);
        count += (size_t)ozg_problem_blocks(s, &d, blocks + count);
    }
    clash = ozg_problem_blocks_clash(blocks, count);
    free(blocks);
    if (clash < 0)
        return ozg_fail(ctx, OZG_E_NOMEM, "no memory to check %lld products; use smaller batches",
                        (long long)all->count);
    if (clash)
        return ozg_fail(ctx, OZG_E_ARG,
                        "argument %d (c): some C shares elements with an A, a B or another C of the batch; "
                        "use separate ones",
                        number_c);
    return OZG_OK;
}

/*
 * Each product's arguments, and no C shared. Whether the backend can use the memory is asked for every
 * pointer that the caller gives; of matrices by strides for the first and the last, between which they lie.
 */
static ozg_status check_products(ozg_context *ctx, const ozg_shape *s, const ozg_data *first,
                                 const ozg_products *all, const ozg_argument_numbers *numbers)
{
    ozg_status status = OZG_OK;
    ozg_data d;

    for (int64_t q = 0; !status && q < all->count; q++) {
        ozg_products_at(&d, first, all, q);
        status = ozg_problem_check_data(s, &d, numbers, ozg_error_buffer(ctx), OZG_ERROR_SIZE);
        if (!status && (all->a || q == 0 || q == all->count - 1))
            status = ctx->backend->check(ctx, s, &d, numbers);
    }
    return status ? status : check_sharing(ctx, s, first, all, numbers->c);
}

/* Many products at a time, if the backend knows how to. done: they are computed. */
static ozg_status run_together(ozg_context *ctx, const ozg_shape *s, const ozg_data *first,
                               const ozg_products *all, ozg_report *report, int *done)
{
    ozg_plan plan;
    ozg_status status;

    if (!ctx->backend->batch || all->count < 2 || s->m == 0 || s->n == 0 ||
        ozg_nothing_to_multiply(s, first) || ozg_cuda_native_wanted(ctx, s, first))
        return OZG_OK;
    status = ozg_plan_make(&plan, ctx, s, 0, 0);
    return status ? status : ctx->backend->batch(&plan, first, all, report, done);
}

/* One by one. On the CPU only the first can lack memory. */
static ozg_status run_each(ozg_context *ctx, const ozg_shape *s, const ozg_data *first,
                           const ozg_products *all, ozg_report *report)
{
    ozg_report one;
    ozg_data d;

    for (int64_t q = 0; q < all->count; q++) {
        ozg_status status;

        ozg_products_at(&d, first, all, q);
        status = run(ctx, NULL, s, &d, NULL, report ? &one : NULL);
        if (report && !status)
            status = ctx->backend->wait(ctx, &one);
        if (status) /* C of those before is written: no other status promises that all are as they were */
            return q > 0 && ctx->cuda ? OZG_E_DEVICE : status;
        if (report)
            ozg_report_add(report, &one, q == 0);
    }
    return OZG_OK;
}

static ozg_status run_batch(ozg_context *ctx, ozg_shape *s, const ozg_data *first, const ozg_products *all,
                            const ozg_argument_numbers *numbers, int count_number, ozg_report *report)
{
    int done = 0;
    ozg_status status = begin(ctx, report);

    if (!status)
        status = ozg_problem_check_shape(s, numbers, ozg_error_buffer(ctx), OZG_ERROR_SIZE);
    if (!status && all->count < 0)
        status = ozg_fail(ctx, OZG_E_ARG, "argument %d (count) is %lld; it must not be negative",
                          count_number, (long long)all->count);
    if (!status)
        status = check_products(ctx, s, first, all, numbers);
    if (report && !status)
        ozg_report_nothing(report, ctx, "count = 0");
    if (!status && report && ctx->cuda && ctx->device_pointers && all->count > 0)
        status = ozg_cuda_may_wait(ctx);
    if (!status)
        status = run_together(ctx, s, first, all, report, &done);
    if (!status && !done)
        status = run_each(ctx, s, first, all, report);
    if (status)
        begin(ctx, report);
    return status;
}

ozg_status ozg_dgemm_batch_strided(ozg_context *ctx, char transa, char transb, int64_t m, int64_t n,
                                   int64_t k, double alpha, const double *a, int64_t lda, int64_t stride_a,
                                   const double *b, int64_t ldb, int64_t stride_b, double beta, double *c,
                                   int64_t ldc, int64_t stride_c, int64_t count, ozg_accuracy acc,
                                   ozg_report *report)
{
    ozg_shape s = {'d', transa, transb, m, n, k, acc};
    ozg_data d = {{alpha, 0}, {beta, 0}, a, b, lda, ldb, NULL, NULL, c, ldc};
    ozg_products all = {NULL, NULL, NULL, stride_a, stride_b, stride_c, count};

    return run_batch(ctx, &s, &d, &all, &strided_numbers, 18, report);
}

ozg_status ozg_dgemm_batch(ozg_context *ctx, char transa, char transb, int64_t m, int64_t n, int64_t k,
                           double alpha, const double *const *a, int64_t lda, const double *const *b,
                           int64_t ldb, double beta, double *const *c, int64_t ldc, int64_t count,
                           ozg_accuracy acc, ozg_report *report)
{
    ozg_shape s = {'d', transa, transb, m, n, k, acc};
    ozg_data d = {{alpha, 0}, {beta, 0}, NULL, NULL, lda, ldb, NULL, NULL, NULL, ldc};
    ozg_products all = {a, b, c, 0, 0, 0, count};

    if (!begin(ctx, report) && count > 0 && (!a || !b || !c))
        return ozg_fail(ctx, OZG_E_ARG, "argument %s, an array of pointers, is NULL",
                        !a   ? "8 (a)"
                        : !b ? "10 (b)"
                             : "13 (c)");
    return run_batch(ctx, &s, &d, &all, &batch_numbers, 15, report);
}
