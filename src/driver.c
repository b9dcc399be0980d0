/*
 * driver.c - scale, then tile by tile: split, product, reconstruct.
 *
 * SPDX-License-Identifier: MIT
 */
#define _POSIX_C_SOURCE 200809L

#include <time.h>

#include "driver.h"
#include "parallel.h"
#include "report.h"
#include "special.h"

typedef struct operand_state {
    ozg_view view;
    ozg_lines lines;
    ozg_planes planes;
    int prepared;
} operand_state;

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Time since *from, which moves on. */
static double lap(double *from)
{
    double now = seconds(), passed = now - *from;

    *from = now;
    return passed;
}

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

ozg_view ozg_view_of(char type, char side, char trans, const void *x, int64_t ld, int64_t count, int64_t k)
{
    ozg_view v = {x, 1, ld, type, ozg_type_complex(type) && trans == 'C'};

    if ((side == 'A') != (trans == 'N')) { /* the lines are the columns of the stored matrix */
        v.line_stride = ld;
        v.step = 1;
    }
    /*
     * the stride between things of which there is one may be anything: no address is to be computed from it
     */
    if (count == 1 && v.step == 1)
        v.line_stride = k;
    if (k == 1 && v.line_stride == 1)
        v.step = count;
    return v;
}

static ozg_stage stage_of(const ozg_kernel *kernel, const ozg_rns *rns, int width, int threads, char type)
{
    ozg_stage st;

    st.kernel = kernel;
    st.rns = rns;
    st.width = width;
    st.threads = threads;
    st.scratch = NULL; /* only the product stage uses it */
    st.scratch_bytes = 0;
    st.scalars.single = ozg_type_single(type);
    st.scalars.complex_ = ozg_type_complex(type);
    return st;
}

static void set_scalars(ozg_scalars *s, const ozg_data *data)
{
    for (int part = 0; part < 2; part++) {
        s->alpha[part] = ozg_scalar_of(data->alpha[part]);
        s->beta[part] = ozg_scalar_of(data->beta[part]);
    }
}

void ozg_driver_scale_c(const ozg_shape *shape, const ozg_data *data)
{
    ozg_scalars s;

    if (shape->m == 0 || (data->beta[0] == 1 && ozg_is_zero(data->beta[1])))
        return; /* m = 0: not even a loop over n, which may be anything */
    s.single = ozg_type_single(shape->type);
    s.complex_ = ozg_type_complex(shape->type);
    set_scalars(&s, data);
    for (int64_t j = 0; j < shape->n; j++)
        for (int64_t i = 0; i < shape->m; i++)
            ozg_entry_scale(&s, data->c, i + j * data->ldc);
}

/* Planes that begin at line i0, which is the first of a panel. */
static ozg_planes planes_from(const ozg_planes *all, const ozg_layout *layout, int64_t i0)
{
    ozg_planes part = *all;

    part.base += (size_t)(i0 / layout->lines) * all->panel;
    return part;
}

/* The planes of lines [i0, i0 + lines), elements [p0, p0 + count): split now, or there already. *at: the
 * number of element p0. */
static ozg_planes tile_planes(const ozg_context *ctx, const ozg_stage *st, const ozg_layout *layout,
                              const operand_state *op, int64_t i0, int64_t lines, int64_t p0, int64_t count,
                              int64_t *at)
{
    *at = op->prepared ? p0 : 0;
    if (op->prepared)
        return planes_from(&op->planes, layout, i0);
    ctx->backend->split(st, layout, &op->view, op->lines.d, i0, lines, p0, count, &op->planes);
    return op->planes;
}

static void run_tiles(const ozg_plan *plan, const ozg_stage *st, const operand_state *a,
                      const operand_state *b, const ozg_data *data, const ozg_residues *residues,
                      ozg_report *report)
{
    const ozg_context *ctx = plan->ctx;
    const ozg_shape *s = &plan->shape;
    double clock = seconds();
    ozg_planes pa = a->planes, pb = b->planes;
    int64_t a_p0 = 0, b_p0 = 0;

    for (int64_t i0 = 0; i0 < s->m; i0 += plan->mt)
        for (int64_t j0 = 0; j0 < s->n; j0 += plan->nt) {
            const int64_t rows = min64(plan->mt, s->m - i0), columns = min64(plan->nt, s->n - j0);

            for (int64_t p0 = 0; p0 < s->k; p0 += plan->kt) {
                const int64_t count = min64(plan->kt, s->k - p0);

                if (j0 == 0 || plan->kt < s->k) /* else the planes of A are still those of these rows */
                    pa = tile_planes(ctx, st, &st->kernel->a, a, i0, rows, p0, count, &a_p0);
                if (i0 == 0 || plan->nt < s->n || plan->kt < s->k)
                    pb = tile_planes(ctx, st, &st->kernel->b, b, j0, columns, p0, count, &b_p0);
                report->seconds_split += lap(&clock);
                ctx->backend->product(st, &pa, a_p0, &pb, b_p0, rows, columns, count, p0 == 0, residues);
                report->seconds_product += lap(&clock);
            }
            ctx->backend->reconstruct(st, residues, &a->lines, i0, rows, &b->lines, j0, columns, data->c,
                                      data->ldc);
            report->seconds_reconstruct += lap(&clock);
        }
}

/* The operand as the caller gave it, with its places in the workspace; or the prepared one. */
static operand_state operand_of(const ozg_plan *plan, char side, const ozg_data *data, unsigned char *work)
{
    const ozg_shape *s = &plan->shape;
    const int is_a = side == 'A';
    const ozg_operand *prepared = is_a ? data->pa : data->pb;
    const int64_t count = is_a ? s->m : s->n;
    operand_state op;

    op.prepared = prepared != NULL;
    if (prepared) {
        op.view = prepared->view;
        op.lines = prepared->lines;
        op.planes = prepared->planes;
        return op;
    }
    op.view = ozg_view_of(s->type, side, is_a ? s->transa : s->transb, is_a ? data->a : data->b,
                          is_a ? data->lda : data->ldb, count, s->k);
    op.lines = ozg_lines_at(work + (is_a ? plan->lines_a : plan->lines_b), count);
    op.planes =
        ozg_planes_at(work + (is_a ? plan->planes_a : plan->planes_b),
                      is_a ? &plan->kernel->a : &plan->kernel->b, is_a ? plan->mt : plan->nt, plan->kt);
    return op;
}

static void scale_operand(const ozg_context *ctx, const ozg_stage *st, operand_state *op, int64_t k,
                          int measure)
{
    if (op->prepared)
        return;
    ctx->backend->scale(st, &op->view, k, &op->lines);
    if (measure)
        ctx->backend->measure(st, &op->view, k, &op->lines);
}

void ozg_driver_run(const ozg_plan *plan, const ozg_data *data, void *workspace, ozg_report *report)
{
    const ozg_shape *s = &plan->shape;
    unsigned char *work = (unsigned char *)ozg_round_up((size_t)workspace, OZG_ALIGN);
    ozg_stage st = stage_of(plan->kernel, plan->rns, plan->width, plan->threads, s->type);
    operand_state a = operand_of(plan, 'A', data, work), b = operand_of(plan, 'B', data, work);
    ozg_residues residues;
    ozg_report unused = {0}, *r = report ? report : &unused;
    double start = seconds(), clock = start;

    st.scratch = work + plan->scratch;
    st.scratch_bytes = plan->scratch_bytes;
    set_scalars(&st.scalars, data);
    residues.base = work + plan->residues;
    residues.ld = (plan->mt + OZG_STRIP - 1) / OZG_STRIP * OZG_STRIP;
    residues.plane = (size_t)(residues.ld * plan->nt * plan->rns->word);
    scale_operand(plan->ctx, &st, &a, s->k, report != NULL);
    scale_operand(plan->ctx, &st, &b, s->k, report != NULL);
    r->seconds_scale += lap(&clock);
    run_tiles(plan, &st, &a, &b, data, &residues, r);
    clock = seconds();
    ozg_special_rows_columns(&st, &a.view, &a.lines, &b.view, &b.lines, s->k, data->c, data->ldc,
                             plan->ctx->memory_limit - plan->workspace, &r->special_rows, &r->special_cols);
    r->seconds_reconstruct += lap(&clock);
    if (report)
        ozg_report_product(report, plan, data, &a.lines, &b.lines);
    r->seconds_total += seconds() - start;
}

void ozg_driver_prepare(ozg_operand *operand, const ozg_rns *rns, const ozg_view *source)
{
    const ozg_context *ctx = operand->ctx;
    const ozg_layout *layout = operand->side == 'A' ? &ctx->kernel->a : &ctx->kernel->b;
    ozg_stage st =
        stage_of(ctx->kernel, rns, operand->width, ozg_parallel_threads(ctx->threads), operand->type);

    ctx->backend->scale(&st, source, operand->k, &operand->lines);
    ctx->backend->measure(&st, source, operand->k, &operand->lines);
    ctx->backend->split(&st, layout, source, operand->lines.d, 0, operand->count, 0, operand->k,
                        &operand->planes);
}
