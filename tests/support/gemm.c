/*
 * gemm.c - typed access to matrices, and the four entry points of the library behind one call.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gemm.h"

int type_is_single(char type)
{
    return type == 's' || type == 'c';
}

int type_is_complex(char type)
{
    return type == 'c' || type == 'z';
}

int type_parts(char type)
{
    return type_is_complex(type) ? 2 : 1;
}

size_t type_number_bytes(char type)
{
    return type_is_single(type) ? sizeof(float) : sizeof(double);
}

size_t type_bytes(char type)
{
    return type_number_bytes(type) * (size_t)type_parts(type);
}

int64_t matrix_elements(int64_t rows, int64_t cols, int64_t ld)
{
    return rows == 0 || cols == 0 ? 0 : (cols - 1) * ld + rows;
}

double number_get(char type, const void *x, int64_t i)
{
    return type_is_single(type) ? (double)((const float *)x)[i] : ((const double *)x)[i];
}

void number_set(char type, void *x, int64_t i, double value)
{
    if (type_is_single(type))
        ((float *)x)[i] = (float)value;
    else
        ((double *)x)[i] = value;
}

static int is_notrans(char trans)
{
    return trans == 'N' || trans == 'n';
}

int64_t view_index(const struct view *v, int64_t i, int64_t j, int part)
{
    int64_t element = is_notrans(v->trans) ? i + j * v->ld : j + i * v->ld;

    return element * type_parts(v->type) + part;
}

double view_get(const struct view *v, int64_t i, int64_t j, int part)
{
    double x = number_get(v->type, v->x, view_index(v, i, j, part));

    return part == 1 && (v->trans == 'C' || v->trans == 'c') ? -x : x;
}

struct view gemm_view_a(const struct gemm *g)
{
    return (struct view){g->type, g->transa, g->a, g->lda};
}

struct view gemm_view_b(const struct gemm *g)
{
    return (struct view){g->type, g->transb, g->b, g->ldb};
}

int64_t gemm_rows_a(const struct gemm *g)
{
    return is_notrans(g->transa) ? g->m : g->k;
}

int64_t gemm_cols_a(const struct gemm *g)
{
    return is_notrans(g->transa) ? g->k : g->m;
}

int64_t gemm_rows_b(const struct gemm *g)
{
    return is_notrans(g->transb) ? g->k : g->n;
}

int64_t gemm_cols_b(const struct gemm *g)
{
    return is_notrans(g->transb) ? g->n : g->k;
}

/* A float value held in a double, by its bits: the caller may have set flush-to-zero, which must not reach
 * it. */
static float to_single(double value)
{
    const int lowest = 0x380; /* exponent field of the largest double below the normal floats */
    uint64_t bits, mantissa;
    uint32_t narrow;
    float single;
    int exponent;

    memcpy(&bits, &value, sizeof bits);
    exponent = (int)(bits >> 52 & 0x7FF);
    mantissa = bits & ((UINT64_C(1) << 52) - 1);
    if (exponent == 0x7FF)
        narrow = UINT32_C(0x7F800000) | (uint32_t)(mantissa >> 29);
    else if (exponent > lowest)
        narrow = (uint32_t)(exponent - lowest) << 23 | (uint32_t)(mantissa >> 29);
    else
        narrow = lowest - exponent > 23
                     ? 0
                     : (uint32_t)((mantissa | UINT64_C(1) << 52) >> (30 + lowest - exponent));
    narrow |= (uint32_t)(bits >> 63) << 31;
    memcpy(&single, &narrow, sizeof single);
    return single;
}

ozg_status gemm_run(ozg_context *ctx, const struct gemm *g, void *c, ozg_accuracy acc, ozg_report *report)
{
    const float alpha[2] = {to_single(g->alpha[0]), to_single(g->alpha[1])};
    const float beta[2] = {to_single(g->beta[0]), to_single(g->beta[1])};

    switch (g->type) {
    case 's':
        return ozg_sgemm(ctx, g->transa, g->transb, g->m, g->n, g->k, alpha[0], g->a, g->lda, g->b, g->ldb,
                         beta[0], c, g->ldc, acc, report);
    case 'd':
        return ozg_dgemm(ctx, g->transa, g->transb, g->m, g->n, g->k, g->alpha[0], g->a, g->lda, g->b, g->ldb,
                         g->beta[0], c, g->ldc, acc, report);
    case 'c':
        return ozg_cgemm(ctx, g->transa, g->transb, g->m, g->n, g->k, alpha, g->a, g->lda, g->b, g->ldb, beta,
                         c, g->ldc, acc, report);
    default:
        return ozg_zgemm(ctx, g->transa, g->transb, g->m, g->n, g->k, g->alpha, g->a, g->lda, g->b, g->ldb,
                         g->beta, c, g->ldc, acc, report);
    }
}

ozg_status gemm_run_prepared(ozg_context *ctx, const struct gemm *g, const ozg_operand *pa,
                             const ozg_operand *pb, void *c, ozg_accuracy acc, ozg_report *report)
{
    const float alpha[2] = {to_single(g->alpha[0]), to_single(g->alpha[1])};
    const float beta[2] = {to_single(g->beta[0]), to_single(g->beta[1])};

    switch (g->type) {
    case 's':
        return ozg_sgemm_prepared(ctx, g->transa, g->transb, g->m, g->n, g->k, alpha[0], pa, g->a, g->lda, pb,
                                  g->b, g->ldb, beta[0], c, g->ldc, acc, report);
    case 'd':
        return ozg_dgemm_prepared(ctx, g->transa, g->transb, g->m, g->n, g->k, g->alpha[0], pa, g->a, g->lda,
                                  pb, g->b, g->ldb, g->beta[0], c, g->ldc, acc, report);
    case 'c':
        return ozg_cgemm_prepared(ctx, g->transa, g->transb, g->m, g->n, g->k, alpha, pa, g->a, g->lda, pb,
                                  g->b, g->ldb, beta, c, g->ldc, acc, report);
    default:
        return ozg_zgemm_prepared(ctx, g->transa, g->transb, g->m, g->n, g->k, g->alpha, pa, g->a, g->lda, pb,
                                  g->b, g->ldb, g->beta, c, g->ldc, acc, report);
    }
}

ozg_status gemm_run_plan(ozg_context *ctx, const struct gemm *g, void *c, ozg_accuracy acc, int own_work)
{
    const float alpha[2] = {to_single(g->alpha[0]), to_single(g->alpha[1])};
    const float beta[2] = {to_single(g->beta[0]), to_single(g->beta[1])};
    const int single = type_is_single(g->type);
    const void *alpha_of_type = single ? (const void *)alpha : g->alpha;
    const void *beta_of_type = single ? (const void *)beta : g->beta;
    ozg_plan *plan;
    ozg_status status = ozg_plan_create(&plan, ctx, g->type, g->transa, g->transb, g->m, g->n, g->k, acc);
    char *work = NULL;

    if (status != OZG_OK)
        return status;
    if (own_work) {
        work = malloc(ozg_plan_workspace(plan) + 1);
        if (work == NULL)
            abort();
    }
    /* one byte off: any alignment will do */
    status = ozg_plan_run(plan, alpha_of_type, g->a, g->lda, g->b, g->ldb, beta_of_type, c, g->ldc,
                          work == NULL ? NULL : work + 1, NULL);
    free(work);
    ozg_plan_destroy(plan);
    return status;
}

void gemm_print(const struct gemm *g, const char *label)
{
    fprintf(stderr,
            "%s: %cgemm %c%c m=%lld n=%lld k=%lld alpha=(%a,%a) beta=(%a,%a) lda=%lld ldb=%lld ldc=%lld\n",
            label, g->type, g->transa, g->transb, (long long)g->m, (long long)g->n, (long long)g->k,
            g->alpha[0], g->alpha[1], g->beta[0], g->beta[1], (long long)g->lda, (long long)g->ldb,
            (long long)g->ldc);
}
