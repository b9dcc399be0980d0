/*
 * operand.c - prepared operands of the CPU: scaled, split and copied once.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "choose.h"
#include "cpu/parts.h"
#include "driver.h"
#include "parallel.h"
#include "scaling.h"

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

static const ozg_layout *layout_of(const ozg_operand *op)
{
    return op->side == 'A' ? &op->ctx->kernel->a : &op->ctx->kernel->b;
}

/* Memory for the planes, once the number of moduli is known. Errors: OZG_E_NOMEM. */
static ozg_status allocate_planes(ozg_operand *op, const ozg_rns *rns)
{
    const ozg_layout *layout = layout_of(op);
    const size_t bytes =
        ozg_planes_bytes(layout, ozg_plan_planes(op->type, op->acc, rns->nmod), op->count, op->k);

    op->split = aligned_alloc(OZG_ALIGN, ozg_round_up(bytes, OZG_ALIGN));
    if (!op->split)
        return no_memory(op, bytes);
    op->planes = ozg_planes_at(op->split, layout, op->count, op->k);
    return OZG_OK;
}

static ozg_stage stage_of(const ozg_operand *op, const ozg_rns *rns)
{
    const ozg_shape s = {op->type, 'N', 'N', op->count, op->count, op->k, op->acc};

    return ozg_driver_stage(op->ctx->kernel, rns, &s, op->width, ozg_parallel_threads(op->ctx->threads));
}

/* The number of moduli of an operand that is prepared for a partner of which nothing is known: as if that
 * were like itself. Errors: OZG_E_NOMEM. */
static ozg_status choose_for_operand(ozg_operand *op, ozg_stage *st)
{
    void *memory;
    ozg_choice choice;

    if (op->acc.value) /* asked for */
        return OZG_OK;
    memory = malloc(ozg_choose_bytes(op->type, op->count, op->count, op->k));
    if (!memory)
        return ozg_fail(op->ctx, OZG_E_NOMEM, "no memory to choose the number of moduli");
    choice = ozg_choose(st, &op->lines, &op->lines, 0, 0, NULL, NULL, memory);
    free(memory);
    op->nmod = choice.nmod;
    return OZG_OK;
}

/* Exponents and norms of an operand whose lines are placed, and its number of moduli. Errors: OZG_E_NOMEM. */
static ozg_status measure(ozg_operand *op)
{
    ozg_stage st = stage_of(op, NULL);

    ozg_cpu_scale(&st, &op->lines);
    ozg_cpu_norms(&st, &op->lines);
    return ozg_by_data(op->acc) ? choose_for_operand(op, &st) : OZG_OK;
}

/* D, residuals and planes, once these are placed too. */
static void fill_planes(ozg_operand *op, const ozg_rns *rns)
{
    ozg_stage st = stage_of(op, rns);

    if (ozg_by_data(op->acc))
        st.width = ozg_scaling_norm(&op->lines, op->nmod, st.length);
    else
        ozg_scaling_fixed(&op->lines, op->width);
    ozg_cpu_residuals(&st, &op->lines);
    ozg_cpu_split(&st, layout_of(op), &op->lines, 0, op->count, 0, op->k, &op->planes);
}

ozg_status ozg_cpu_prepare(ozg_operand *op, char trans, const void *x, int64_t ldx)
{
    const ozg_view source = ozg_view_of(op->type, op->side, trans, x, ldx, op->count, op->k);
    const ozg_rns *rns;
    ozg_status status = allocate_lines(op);

    if (status)
        return status;
    copy_elements(&source, op->count, op->k, (void *)op->lines.view.x);
    status = measure(op);
    if (status)
        return status;
    if (ozg_rns_get(&rns, op->ctx->kernel->a.word, op->nmod))
        return ozg_fail(op->ctx, OZG_E_NOMEM, "no memory for the tables of %d moduli", op->nmod);
    status = allocate_planes(op, rns);
    if (!status)
        fill_planes(op, rns);
    return status;
}

void ozg_cpu_release(ozg_operand *op)
{
    free(op->memory);
    free(op->split);
}
