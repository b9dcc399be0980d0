/*
 * stream.c - products of matrices of the host, block by block.
 *
 * Everything that a kernel reads is found by the numbers of lines in the whole matrices: views and C are set so
 * that the block lies where it would lie if the rest were there, too. What a tile needs is uploaded while the one
 * before is computed; then C of that one goes back. So when a tile's blocks come, all tiles but the last one are
 * done, and their half of the two blocks of B and C is free.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "cuda/record.h"
#include "cuda/run.h"
#include "cuda/stream.h"
#include "parallel.h"

typedef struct stream {
    ozg_cuda_job job;
    const ozg_data *data; /* of the host */
    unsigned char *base;  /* of the workspace */
    int whole;            /* A and B are there */
    int reads_c;          /* beta is not 0 */
    int predicts;         /* there is no C, and nothing goes back */
    int64_t i0, j0;       /* of the blocks of A and of B that are there; -1: none */
    int half_b;           /* where the block of B is */
    int half;             /* of the present tile's C */
    ozg_cuda_tile before; /* enqueued, and not back yet; rows 0: none */
    int written;          /* some of C went back */
    uint64_t transfer;    /* nanoseconds */
} stream;

/* ---- blocks ------------------------------------------------------------------------------------- */

/* What a copy of a block is of the caller's matrix: `columns` columns of `rows` elements. */
typedef struct block {
    const void *host;
    int64_t ld_host;
    void *device;
    int64_t ld_device, rows, columns;
} block;

static ozg_status wait_for(ozg_context *ctx, CUstream s, int mark)
{
    const struct ozg_cuda *g = ctx->cuda;

    return ozg_cuda_check(ctx, g->api->stream_wait(s, g->event[mark], 0), "wait for a copy");
}

static void upload(stream *s, const block *b)
{
    ozg_context *ctx = s->job.ctx;
    struct ozg_cuda *g = ctx->cuda;
    const size_t size = (size_t)ozg_type_size(s->job.plan.shape.type);
    const CUstream work = g->stream;
    const uint64_t start = ozg_nanoseconds();

    if (s->job.status)
        return;
    g->stream = g->run->up;
    s->job.status = ozg_cuda_upload(ctx, b->device, (size_t)b->ld_device * size, b->host,
                                    (size_t)b->ld_host * size, (size_t)b->rows * size, b->columns);
    if (!s->job.status)
        s->job.status = ozg_cuda_mark(ctx, OZG_CUDA_ARRIVED);
    g->stream = work;
    g->after_kernel = 0;
    if (!s->job.status)
        s->job.status = wait_for(ctx, work, OZG_CUDA_ARRIVED);
    s->transfer += ozg_nanoseconds() - start;
}

/* The tile that is enqueued goes back: all before it are there then, and it is done. */
static void send_back(stream *s)
{
    ozg_context *ctx = s->job.ctx;
    struct ozg_cuda *g = ctx->cuda;
    const ozg_shape *shape = &s->job.plan.shape;
    const ozg_cuda_places *p = &s->job.places;
    const ozg_cuda_tile *t = &s->before;
    const size_t size = (size_t)ozg_type_size(shape->type);
    const int half = s->half ^ 1;
    const CUstream work = g->stream;
    const uint64_t start = ozg_nanoseconds();

    if (s->job.status || t->rows == 0)
        return;
    s->job.status = wait_for(ctx, g->run->down, OZG_CUDA_DONE + half);
    g->stream = g->run->down;
    s->written |= !s->job.status;
    if (!s->job.status)
        s->job.status =
            ozg_cuda_download(ctx, (char *)s->data->c + (size_t)(t->i0 + t->j0 * s->data->ldc) * size,
                              (size_t)s->data->ldc * size, s->base + p->c + (size_t)half * p->slot_c,
                              (size_t)p->ld_c * size, (size_t)t->rows * size, t->columns);
    g->stream = work;
    g->after_kernel = 0;
    s->transfer += ozg_nanoseconds() - start;
    if (!s->job.status && ctx->progress)
        ctx->progress(ctx->progress_arg,
                      ((double)t->i0 * (double)shape->n + (double)t->rows * (double)(t->j0 + t->columns)) /
                          ((double)shape->m * (double)shape->n));
    s->before.rows = 0;
}

/* Nothing enqueued uses a block any more. */
static void drain(stream *s)
{
    if (s->predicts && !s->job.status)
        s->job.status = ozg_cuda_synchronize(s->job.ctx);
    else
        send_back(s);
}

/* The view of all lines by which line `first` is the first of the copy. */
static void *as_if_whole(void *copy, int64_t elements, char type)
{
    return (void *)((uintptr_t)copy - (uintptr_t)(elements * ozg_type_size(type)));
}

/* Lines of side A (0) or B (1) to the copy, which the job's view is then of. */
static void bring_lines(stream *s, int side, int64_t first, int64_t count, unsigned char *copy)
{
    const ozg_shape *shape = &s->job.plan.shape;
    const ozg_data *d = s->data;
    const char trans = side ? shape->transb : shape->transa;
    const int64_t all = side ? shape->n : shape->m, ld = side ? s->job.places.ld_b : s->job.places.ld_a;
    const int lines_are_rows = (side == 0) == (trans == 'N');
    const ozg_view host = ozg_view_of(shape->type, side ? 'B' : 'A', trans, side ? d->b : d->a,
                                      side ? d->ldb : d->lda, all, shape->k);
    ozg_view *view = side ? &s->job.b.view : &s->job.a.view;
    const block b = {(const char *)host.x + first * host.line_stride * ozg_type_size(shape->type),
                     side ? d->ldb : d->lda,
                     copy,
                     ld,
                     lines_are_rows ? count : shape->k,
                     lines_are_rows ? shape->k : count};

    upload(s, &b);
    view->x = as_if_whole(copy, first * view->line_stride, shape->type);
}

/* ---- tiles -------------------------------------------------------------------------------------- */

/* The blocks of A and B; lines that are seen for the first time are scaled. */
static void bring_operands(stream *s, const ozg_cuda_tile *t)
{
    const ozg_cuda_places *p = &s->job.places;

    if (!s->data->pa && t->i0 != s->i0) {
        drain(s);
        bring_lines(s, 0, t->i0, t->rows, s->base + p->a);
        ozg_cuda_job_scale_lines(&s->job, 0, t->i0, t->rows);
    }
    if (!s->data->pb && t->j0 != s->j0 && (t->i0 == 0 || !s->predicts)) {
        if (s->predicts)
            drain(s);
        s->half_b ^= 1;
        bring_lines(s, 1, t->j0, t->columns, s->base + p->b + (size_t)s->half_b * p->slot_b);
        if (t->i0 == 0)
            ozg_cuda_job_scale_lines(&s->job, 1, t->j0, t->columns);
        s->j0 = t->j0;
    }
    s->i0 = t->i0;
}

static void before_tile(void *arg, const ozg_cuda_tile *t)
{
    stream *s = arg;
    const ozg_cuda_places *p = &s->job.places;
    const char type = s->job.plan.shape.type;
    unsigned char *copy = s->base + p->c + (size_t)s->half * p->slot_c;

    if (!s->whole)
        bring_operands(s, t);
    if (s->predicts)
        return;
    if (s->reads_c) {
        const block c = {(const char *)s->data->c + (t->i0 + t->j0 * s->data->ldc) * ozg_type_size(type),
                         s->data->ldc,
                         copy,
                         p->ld_c,
                         t->rows,
                         t->columns};

        upload(s, &c);
    }
    s->job.c = as_if_whole(copy, t->i0 + t->j0 * p->ld_c, type);
    s->job.ldc = p->ld_c;
}

static void after_tile(void *arg, const ozg_cuda_tile *t)
{
    stream *s = arg;

    ozg_cuda_job_finish_tile(&s->job, t);
    if (!s->job.status)
        s->job.status = ozg_cuda_mark(s->job.ctx, OZG_CUDA_DONE + s->half);
    send_back(s);
    s->before = *t;
    s->half ^= 1;
}

/* ---- a call ------------------------------------------------------------------------------------- */

static void open_stream(stream *s, const ozg_plan *plan, const ozg_data *data, void *work, int report,
                        int predicts)
{
    ozg_cuda_places p;
    ozg_data copy = *data;

    memset(s, 0, sizeof *s);
    ozg_cuda_place(plan, &p);
    s->base = (unsigned char *)ozg_round_up((size_t)work, 256);
    s->data = data;
    s->whole = ozg_cuda_whole(plan);
    s->reads_c = !ozg_is_zero(data->beta[0]) || !ozg_is_zero(data->beta[1]);
    s->predicts = predicts;
    s->i0 = s->j0 = -1;
    copy.a = s->base + p.a;
    copy.b = s->base + p.b;
    copy.c = s->base + p.c;
    copy.lda = p.ld_a;
    copy.ldb = p.ld_b;
    copy.ldc = p.ld_c;
    ozg_cuda_job_open(&s->job, plan, &copy, work, report, report && !predicts);
    ozg_cuda_job_begin(&s->job);
    if (!s->whole)
        return;
    if (!data->pa)
        bring_lines(s, 0, 0, plan->shape.m, s->base + p.a);
    if (!data->pb)
        bring_lines(s, 1, 0, plan->shape.n, s->base + p.b);
    ozg_cuda_job_scale(&s->job);
}

/* The number of moduli, where the data choose it. Errors: OZG_E_WORKSPACE, OZG_E_UNSUPPORTED (repair_limit). */
static ozg_status settle(stream *s, ozg_report *predicted)
{
    ozg_cuda_job *job = &s->job;
    ozg_cuda_state state;

    ozg_cuda_job_choose(job);
    if (!ozg_by_data(job->plan.shape.acc) || ozg_cuda_learn(job, &state))
        return job->status;
    if (predicted)
        predicted->repaired = state.estimate;
    else if (state.parts > 1)
        job->status =
            ozg_fail(job->ctx, OZG_E_WORKSPACE,
                     "memory_limit is %zu bytes; these data are multiplied in parts, for which all of C has "
                     "to be there, "
                     "too; raise memory_limit by %zu, or fix the number of moduli",
                     job->ctx->memory_limit,
                     (size_t)(job->places.ld_c * job->plan.shape.n * ozg_type_size(job->plan.shape.type)));
    return job->status;
}

ozg_status ozg_cuda_stream_run(const ozg_plan *plan, const ozg_data *data, void *work, ozg_report *report)
{
    const uint64_t start = ozg_nanoseconds();
    ozg_context *ctx = plan->ctx;
    stream s;
    const ozg_cuda_visitor visitor = {before_tile, after_tile, &s};
    ozg_status status;

    open_stream(&s, plan, data, work, report != NULL, 0);
    if (!settle(&s, NULL)) {
        ozg_cuda_job_ceilings(&s.job);
        ozg_cuda_job_tiles(&s.job, &visitor);
        send_back(&s);
    }
    if (report)
        ozg_cuda_record_product(&s.job, data, report);
    if (s.job.status)
        return ozg_cuda_abandon(ctx, s.job.status, s.written);
    status = ozg_cuda_record_finish(ctx, report);
    if (report) {
        report->reserved[0] = 0;
        report->seconds_transfer = 1e-9 * (double)s.transfer;
        report->seconds_total = 1e-9 * (double)(ozg_nanoseconds() - start);
    }
    return status ? OZG_E_DEVICE : OZG_OK;
}

ozg_status ozg_cuda_stream_predict(const ozg_plan *plan, const ozg_data *data, void *work, ozg_report *report)
{
    const uint64_t start = ozg_nanoseconds();
    stream s;
    const ozg_cuda_visitor visitor = {before_tile, NULL, &s};
    ozg_status status;

    open_stream(&s, plan, data, work, 1, 1);
    status = settle(&s, report);
    if (!status)
        status = ozg_cuda_predict_parts(&s.job, data, &visitor, report);
    if (status)
        return ozg_cuda_abandon(plan->ctx, status, 0);
    report->seconds_scale = report->seconds_total = 1e-9 * (double)(ozg_nanoseconds() - start);
    return OZG_OK;
}
