/*
 * operand.c - prepared operands: scaled, split and copied once.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "driver.h"

/*                                               type ta tb m  n  k al pa a lda pb b ldb bt c ldc acc */
static const ozg_argument_numbers numbers_a = {3, 5, 0, 6, 0, 7, 0, 0, 8, 9, 0, 0, 0, 0, 0, 0, 10};
static const ozg_argument_numbers numbers_b = {3, 0, 5, 0, 7, 6, 0, 0, 0, 0, 0, 8, 9, 0, 0, 0, 10};

/* Flips the sign of the number at x, NaN included. */
static void negate(void *x, int single)
{
    uint64_t wide;
    uint32_t narrow;

    if (single) {
        memcpy(&narrow, x, 4);
        narrow ^= UINT32_C(1) << 31;
        memcpy(x, &narrow, 4);
    } else {
        memcpy(&wide, x, 8);
        wide ^= OZG_F64_SIGN;
        memcpy(x, &wide, 8);
    }
}

/* The elements of a view as lines one after the other, conj carried out. */
static void copy_elements(const ozg_view *v, int64_t count, int64_t k, void *out)
{
    const int single = ozg_type_single(v->type);
    const size_t size = (size_t)ozg_type_size(v->type);
    unsigned char *to = out;

    for (int64_t i = 0; i < count; i++)
        for (int64_t p = 0; p < k; p++, to += size) {
            memcpy(to, (const char *)v->x + (i * v->line_stride + p * v->step) * (int64_t)size, size);
            if (v->conj)
                negate(to + size / 2, single);
        }
}

#define ELEMENTS_MAX (INT64_C(1) << 48) /* more than any memory holds: sizes in bytes stay below 2^63 */

static ozg_status no_memory(ozg_operand *op, size_t bytes)
{
    return ozg_fail(op->ctx, OZG_E_NOMEM, "no memory for a prepared operand of %zu bytes", bytes);
}

/* Memory for lines and the copy. Errors: OZG_E_NOMEM. */
static ozg_status allocate_lines(ozg_operand *op)
{
    const int by_data = ozg_by_data(op->acc);
    ozg_view view = {NULL, op->k, 1, op->type, 0, NULL};
    size_t lines, copy;

    if (op->count > ELEMENTS_MAX / op->k)
        return ozg_fail(op->ctx, OZG_E_NOMEM, "no memory holds a prepared operand of %lld x %lld elements",
                        (long long)op->count, (long long)op->k);
    lines = ozg_lines_bytes(op->count, op->k, by_data);
    copy = (size_t)(op->count * op->k * ozg_type_size(op->type));
    op->memory = aligned_alloc(OZG_ALIGN, ozg_round_up(lines + copy, OZG_ALIGN));
    if (!op->memory)
        return no_memory(op, lines + copy);
    view.x = (unsigned char *)op->memory + lines;
    op->lines = ozg_lines_at(op->memory, &view, op->count, op->k, by_data);
    return OZG_OK;
}

/* Memory for the planes, once the number of moduli is known. Errors: OZG_E_NOMEM. */
static ozg_status allocate_planes(ozg_operand *op, const ozg_rns *rns)
{
    const ozg_layout *layout = op->side == 'A' ? &op->ctx->kernel->a : &op->ctx->kernel->b;
    const size_t bytes =
        ozg_planes_bytes(layout, ozg_plan_planes(op->type, op->acc, rns->nmod), op->count, op->k);

    op->split = aligned_alloc(OZG_ALIGN, ozg_round_up(bytes, OZG_ALIGN));
    if (!op->split)
        return no_memory(op, bytes);
    op->planes = ozg_planes_at(op->split, layout, op->count, op->k);
    return OZG_OK;
}

static ozg_status fill(ozg_operand *op, char trans, const void *x, int64_t ldx)
{
    const ozg_view source = ozg_view_of(op->type, op->side, trans, x, ldx, op->count, op->k);
    const ozg_rns *rns;
    ozg_status status = ozg_plan_accuracy(op->ctx, op->type, op->k, op->acc, &op->nmod, &op->width);

    if (!status)
        status = allocate_lines(op);
    if (status)
        return status;
    copy_elements(&source, op->count, op->k, (void *)op->lines.view.x);
    status = ozg_driver_measure(op);
    if (status)
        return status;
    if (ozg_rns_get(&rns, op->ctx->kernel->a.word, op->nmod))
        return ozg_fail(op->ctx, OZG_E_NOMEM, "no memory for the tables of %d moduli", op->nmod);
    status = allocate_planes(op, rns);
    if (!status)
        ozg_driver_prepare(op, rns);
    return status;
}

/* The rules of the matrix, as those of a product in which the other operand and C do not matter. */
static ozg_status check(ozg_context *ctx, ozg_shape *s, char side, const void *x, int64_t ldx)
{
    const ozg_argument_numbers *numbers = side == 'A' ? &numbers_a : &numbers_b;
    const int is_a = side == 'A';
    ozg_status status = ozg_problem_check_shape(s, numbers, ozg_error_buffer(ctx), OZG_ERROR_SIZE);

    if (status)
        return status;
    return ozg_problem_check_operand(s, is_a, x, ldx, numbers, ozg_error_buffer(ctx), OZG_ERROR_SIZE);
}

ozg_status ozg_operand_create(ozg_operand **operand, ozg_context *ctx, char type, char side, char trans,
                              int64_t rows, int64_t cols, const void *x, int64_t ldx, ozg_accuracy acc)
{
    const int is_a = side == 'A' || side == 'a';
    ozg_shape s = {
        type, is_a ? trans : 'N', is_a ? 'N' : trans, is_a ? rows : 0, is_a ? 0 : cols, is_a ? cols : rows,
        acc};
    ozg_operand *op;
    ozg_status status;

    if (!operand)
        return ozg_fail(ctx, OZG_E_ARG, "argument 1 (operand) is NULL");
    *operand = NULL;
    if (!ctx)
        return ozg_fail(NULL, OZG_E_ARG, "argument 2 (ctx) is NULL");
    if (!is_a && side != 'B' && side != 'b')
        return ozg_fail(ctx, OZG_E_ARG, "argument 4 (side) must be 'A' or 'B'");
    status = check(ctx, &s, is_a ? 'A' : 'B', x, ldx);
    if (!status && acc.kind == OZG_BY_ACCURATE)
        status = ozg_fail(ctx, OZG_E_UNSUPPORTED,
                          "accurate scaling depends on both operands; prepare with another accuracy");
    if (!status && !ctx->kernel)
        status = ozg_fail(ctx, OZG_E_UNSUPPORTED,
                          "the %s backend has no prepared operands; use ozg_plan_run() or OZG_BACKEND_CPU",
                          ctx->backend->name);
    if (status)
        return status;
    op = calloc(1, sizeof *op);
    if (!op)
        return ozg_fail(ctx, OZG_E_NOMEM, "no memory for a prepared operand");
    op->ctx = ctx;
    op->type = type;
    op->side = is_a ? 'A' : 'B';
    op->count = is_a ? rows : cols;
    op->k = is_a ? cols : rows;
    op->acc = acc;
    if (op->count > 0 && op->k > 0)
        status = fill(op, is_a ? s.transa : s.transb, x, ldx);
    if (status)
        ozg_operand_destroy(op);
    else
        *operand = op;
    return status;
}

int ozg_operand_moduli(const ozg_operand *operand)
{
    return operand ? operand->nmod : 0;
}

void ozg_operand_destroy(ozg_operand *operand)
{
    if (!operand)
        return;
    free(operand->memory);
    free(operand->split);
    free(operand);
}
