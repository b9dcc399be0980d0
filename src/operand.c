/*
 * operand.c - prepared operands: the public calls. What is kept is the backend's (cpu/operand.c,
 * cuda/operand.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "driver.h"

/*                                               type ta tb m  n  k al pa a lda pb b ldb bt c ldc acc */
static const ozg_argument_numbers numbers_a = {3, 5, 0, 6, 0, 7, 0, 0, 8, 9, 0, 0, 0, 0, 0, 0, 10};
static const ozg_argument_numbers numbers_b = {3, 0, 5, 0, 7, 6, 0, 0, 0, 0, 0, 8, 9, 0, 0, 0, 10};

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

static ozg_status prepare(ozg_operand *op, char trans, const void *x, int64_t ldx)
{
    const ozg_status status = ozg_plan_accuracy(op->ctx, op->type, op->k, op->acc, &op->nmod, &op->width);

    return status ? status : op->ctx->backend->prepare(op, trans, x, ldx);
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
        status = prepare(op, is_a ? s.transa : s.transb, x, ldx);
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
    operand->ctx->backend->release(operand);
    free(operand);
}
