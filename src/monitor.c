/*
 * monitor.c - how good is a product from anywhere: chosen rows and columns of C against the exact result.
 *
 * The chosen lines meet all lines of the other side, block by block; monitor_block.c judges a block.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fenv.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "monitor_block.h"

/*                                             type ta tb m  n  k al pa  a lda pb  b ldb bt  c ldc acc */
static const ozg_argument_numbers numbers = {0, 2, 3, 4, 5, 6, 7, 0, 8, 9, 0, 10, 11, 12, 15, 16, 0};
static const ozg_argument_numbers numbers_c0 = {0, 2, 3, 4, 5, 6, 7, 0, 8, 9, 0, 10, 11, 12, 13, 14, 0};
enum { NUMBER_LINES = 17, NUMBER_RESULT = 19 };

/* Lines that are copied at once: at most these, and fewer, down to the least, if they take more bytes. */
#define CHOSEN_MOST  64
#define OTHERS_MOST  512
#define LINES_LEAST  8
#define BYTES_A_SIDE ((int64_t)32 << 20)
#define LENGTH_MOST  (INT64_C(1) << 48) /* more than any memory holds: sizes in bytes stay below 2^63 */

/* ---- which lines -------------------------------------------------------------------------------- */

/* SplitMix64: G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* The first steps of a Fisher-Yates shuffle. The remainder favours some lines by at most count / 2^64. */
static void choose(ozg_monitor_side *z, uint64_t *state)
{
    for (int64_t i = 0; i < z->count; i++)
        z->index[i] = i;
    for (int64_t i = 0; i < z->chosen; i++) {
        const int64_t other = i + (int64_t)(next_random(state) % (uint64_t)(z->count - i));
        const int64_t line = z->index[other];

        z->index[other] = z->index[i];
        z->index[i] = line;
    }
}

/* ---- blocks ------------------------------------------------------------------------------------- */

/* Lines of doubles that are copied at once. */
static int64_t lines_at_once(const ozg_monitor_call *w, int64_t most)
{
    const int64_t fit = w->k ? BYTES_A_SIDE / (8 * w->parts * w->k) : most;

    return fit < LINES_LEAST ? LINES_LEAST : ozg_min64(fit, most);
}

/* Every chosen line with the other lines from number `from` on of the other side, index[from..count). */
static ozg_status check_lines(ozg_monitor_call *w, const ozg_monitor_side *chosen,
                              const ozg_monitor_side *others, int64_t from)
{
    const int64_t chosen_step = lines_at_once(w, CHOSEN_MOST), others_step = lines_at_once(w, OTHERS_MOST);
    ozg_status status = OZG_OK;

    w->of_chosen = chosen;
    w->of_others = others;
    for (int64_t o = from; o < others->count && !status; o += others_step)
        for (int64_t q = 0; q < chosen->chosen && !status; q += chosen_step) {
            w->other = others->index + o;
            w->others = ozg_min64(others->count - o, others_step);
            w->chosen = chosen->index + q;
            w->count = ozg_min64(chosen->chosen - q, chosen_step);
            status = ozg_monitor_check_block(w);
        }
    return status;
}

/* Memory for the largest block and the numbers of lines, one piece; NULL: none. */
static void *allocate(ozg_monitor_call *w)
{
    const int64_t longest = w->rows.count > w->columns.count ? w->rows.count : w->columns.count;
    const int64_t most = w->rows.chosen > w->columns.chosen ? w->rows.chosen : w->columns.chosen;
    const size_t y = (size_t)ozg_min64(lines_at_once(w, OTHERS_MOST), longest),
                 x = (size_t)ozg_min64(lines_at_once(w, CHOSEN_MOST), most), parts = (size_t)w->parts;
    const size_t line = (size_t)w->k * parts, entries = y * x * parts;
    const size_t numbers_of_lines = (size_t)w->rows.count + (size_t)w->columns.count;
    const size_t given = w->ctx->device_pointers ? (y + x) * line + 2 * entries : 0;
    const size_t doubles = (y + x) * line + 3 * entries + given;
    double *memory = malloc((doubles + numbers_of_lines) * 8);

    if (!memory)
        return NULL;
    w->y = memory;
    w->x = memory + y * line;
    w->expected = memory + (y + x) * line;
    w->residual = memory + (y + x) * line + entries;
    w->weight[0] = w->residual + entries;
    w->weight[1] = w->weight[0] + y * x; /* complex only */
    if (given) {
        w->given_y = w->weight[0] + entries;
        w->given_x = (double *)w->given_y + y * line;
        w->given_c = (double *)w->given_x + x * line;
        w->given_c0 = (double *)w->given_c + entries;
    }
    w->rows.index = (int64_t *)(void *)(memory + doubles);
    w->columns.index = w->rows.index + w->rows.count;
    return memory;
}

/* The products are the monitor's own: nothing is refused for its repairs, and none reports its progress. */
static ozg_status check_all(ozg_monitor_call *w, uint64_t seed)
{
    ozg_context *ctx = w->maker;
    const uint64_t repair_limit = ctx->repair_limit;
    void (*const progress)(void *, double) = ctx->progress;
    fenv_t caller;
    ozg_status status;

    choose(&w->rows, &seed);
    choose(&w->columns, &seed);
    ctx->repair_limit = UINT64_MAX;
    ctx->progress = NULL;
    fegetenv(&caller);
    fesetenv(FE_DFL_ENV);
    status = check_lines(w, &w->rows, &w->columns, 0);
    if (!status) /* the rest of the chosen columns */
        status = check_lines(w, &w->columns, &w->rows, w->rows.chosen);
    fesetenv(&caller);
    ctx->repair_limit = repair_limit;
    ctx->progress = progress;
    return status;
}

/* A context for lines that come from a device. */
static ozg_status open_maker(ozg_monitor_call *w)
{
    ozg_config cfg;
    ozg_status status;

    ozg_config_init(&cfg);
    cfg.backend = OZG_BACKEND_CPU;
    cfg.threads = w->ctx->threads;
    status = ozg_create(&w->maker, &cfg);
    return status ? ozg_fail(w->ctx, status, "%s", ozg_last_error(NULL)) : OZG_OK;
}

static ozg_status run(ozg_monitor_call *w, uint64_t seed)
{
    ozg_context *ctx = w->ctx;
    const int64_t most = w->rows.count > w->columns.count ? w->rows.count : w->columns.count;
    void *memory = most > LENGTH_MOST || w->k > LENGTH_MOST ? NULL : allocate(w);
    ozg_status status = OZG_OK;

    if (!memory)
        return ozg_fail(ctx, OZG_E_NOMEM, "no memory to check %lld rows and %lld columns; use fewer lines",
                        (long long)w->rows.chosen, (long long)w->columns.chosen);
    w->maker = ctx;
    if (w->given_y)
        status = open_maker(w);
    if (!status)
        status = check_all(w, seed);
    if (w->maker != ctx)
        ozg_destroy(w->maker);
    free(memory);
    return status;
}

/* ---- public ------------------------------------------------------------------------------------- */

/* The rules of a product for A, B and C. C0 matters only if beta is not 0, and may share elements. */
static ozg_status check_matrices(ozg_monitor_call *w, ozg_shape *s)
{
    ozg_context *ctx = w->ctx;
    ozg_status status = ozg_problem_check_shape(s, &numbers, ozg_error_buffer(ctx), OZG_ERROR_SIZE);

    if (!status)
        status = ozg_problem_check_data(s, w->d, &numbers, ozg_error_buffer(ctx), OZG_ERROR_SIZE);
    if (!status)
        status = ctx->backend->check(ctx, s, w->d, &numbers);
    if (!status && !ozg_monitor_beta_is_zero(w)) {
        ozg_shape alone = *s;
        ozg_data old = *w->d;

        alone.k = 0; /* A and B are checked */
        old.c = (void *)(uintptr_t)w->c0;
        old.ldc = w->ldc0;
        status = ozg_problem_check_data(&alone, &old, &numbers_c0, ozg_error_buffer(ctx), OZG_ERROR_SIZE);
        if (!status)
            status = ctx->backend->check(ctx, &alone, &old, &numbers_c0);
    }
    return status;
}

static ozg_status check(ozg_monitor_call *w, ozg_shape *s, int64_t lines)
{
    const ozg_status status = check_matrices(w, s);

    if (status || lines >= 1)
        return status;
    return ozg_fail(w->ctx, OZG_E_ARG, "argument %d (lines) is %lld; it must be at least 1", NUMBER_LINES,
                    (long long)lines);
}

static ozg_status typed_monitor(ozg_context *ctx, ozg_shape *s, ozg_data *d, const void *alpha,
                                const void *beta, const void *c0, int64_t ldc0, int64_t lines, uint64_t seed,
                                ozg_monitor *result)
{
    ozg_monitor_call w = {.ctx = ctx, .s = s, .d = d, .alpha = alpha, .beta = beta, .c0 = c0, .ldc0 = ldc0};
    ozg_status status;

    if (result)
        memset(result, 0, sizeof *result);
    if (!ctx)
        return ozg_fail(NULL, OZG_E_ARG, "argument 1 (ctx) is NULL");
    if (!alpha || !beta)
        return ozg_fail(ctx, OZG_E_ARG, "argument %d (%s) is NULL", alpha ? numbers.beta : numbers.alpha,
                        alpha ? "beta" : "alpha");
    w.single = ozg_type_single(s->type);
    w.parts = 1 + ozg_type_complex(s->type);
    for (int part = 0; part < w.parts; part++) {
        d->alpha[part] = ozg_monitor_number(&w, alpha, part);
        d->beta[part] = ozg_monitor_number(&w, beta, part);
    }
    status = check(&w, s, lines);
    if (!status && !result)
        status = ozg_fail(ctx, OZG_E_ARG, "argument %d (result) is NULL", NUMBER_RESULT);
    if (status)
        return status;
    w.k = ozg_nothing_to_multiply(s, d) ? 0 : s->k;
    w.rows = (ozg_monitor_side){ozg_view_of(s->type, 'A', s->transa, d->a, d->lda, s->m, s->k), s->m,
                                ozg_min64(lines, s->m), NULL};
    w.columns = (ozg_monitor_side){ozg_view_of(s->type, 'B', s->transb, d->b, d->ldb, s->n, s->k), s->n,
                                   ozg_min64(lines, s->n), NULL};
    w.result = result;
    result->rows = w.rows.chosen;
    result->columns = w.columns.chosen;
    if (s->m > 0 && s->n > 0)
        status = run(&w, seed);
    if (status)
        memset(result, 0, sizeof *result);
    return status;
}

ozg_status ozg_monitor_dgemm(ozg_context *ctx, char transa, char transb, int64_t m, int64_t n, int64_t k,
                             double alpha, const double *a, int64_t lda, const double *b, int64_t ldb,
                             double beta, const double *c0, int64_t ldc0, const double *c, int64_t ldc,
                             int64_t lines, uint64_t seed, ozg_monitor *result)
{
    ozg_shape s = {'d', transa, transb, m, n, k, ozg_rounded()};
    ozg_data d = {{0, 0}, {0, 0}, a, b, lda, ldb, NULL, NULL, (void *)(uintptr_t)c, ldc};

    return typed_monitor(ctx, &s, &d, &alpha, &beta, c0, ldc0, lines, seed, result);
}

ozg_status ozg_monitor_sgemm(ozg_context *ctx, char transa, char transb, int64_t m, int64_t n, int64_t k,
                             float alpha, const float *a, int64_t lda, const float *b, int64_t ldb,
                             float beta, const float *c0, int64_t ldc0, const float *c, int64_t ldc,
                             int64_t lines, uint64_t seed, ozg_monitor *result)
{
    ozg_shape s = {'s', transa, transb, m, n, k, ozg_rounded()};
    ozg_data d = {{0, 0}, {0, 0}, a, b, lda, ldb, NULL, NULL, (void *)(uintptr_t)c, ldc};

    return typed_monitor(ctx, &s, &d, &alpha, &beta, c0, ldc0, lines, seed, result);
}

ozg_status ozg_monitor_zgemm(ozg_context *ctx, char transa, char transb, int64_t m, int64_t n, int64_t k,
                             const double alpha[2], const double *a, int64_t lda, const double *b,
                             int64_t ldb, const double beta[2], const double *c0, int64_t ldc0,
                             const double *c, int64_t ldc, int64_t lines, uint64_t seed, ozg_monitor *result)
{
    ozg_shape s = {'z', transa, transb, m, n, k, ozg_rounded()};
    ozg_data d = {{0, 0}, {0, 0}, a, b, lda, ldb, NULL, NULL, (void *)(uintptr_t)c, ldc};

    return typed_monitor(ctx, &s, &d, alpha, beta, c0, ldc0, lines, seed, result);
}

ozg_status ozg_monitor_cgemm(ozg_context *ctx, char transa, char transb, int64_t m, int64_t n, int64_t k,
                             const float alpha[2], const float *a, int64_t lda, const float *b, int64_t ldb,
                             const float beta[2], const float *c0, int64_t ldc0, const float *c, int64_t ldc,
                             int64_t lines, uint64_t seed, ozg_monitor *result)
{
    ozg_shape s = {'c', transa, transb, m, n, k, ozg_rounded()};
    ozg_data d = {{0, 0}, {0, 0}, a, b, lda, ldb, NULL, NULL, (void *)(uintptr_t)c, ldc};

    return typed_monitor(ctx, &s, &d, alpha, beta, c0, ldc0, lines, seed, result);
}
