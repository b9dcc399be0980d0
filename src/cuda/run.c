/*
 * run.c - products on a CUDA device, of matrices there or in the memory of the host.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "cuda/record.h"
#include "cuda/run.h"
#include "cuda/stream.h"
#include "parallel.h"
#include "report.h"

ozg_status ozg_cuda_learn(ozg_cuda_job *job, ozg_cuda_state *state)
{
    if (ozg_cuda_record_state(job, state))
        return job->status;
    job->status = ozg_driver_check_repairs(job->ctx, state->estimate);
    if (!job->status)
        ozg_cuda_job_settle(job, state);
    return job->status;
}

static void tell_progress(const ozg_context *ctx, double done)
{
    if (ctx->progress)
        ctx->progress(ctx->progress_arg, done);
}

/* ---- matrices on the device --------------------------------------------------------------------- */

static ozg_status run_on_device(const ozg_plan *plan, const ozg_data *data, void *work, ozg_report *report)
{
    ozg_context *ctx = plan->ctx;
    const int limited = ozg_by_data(plan->shape.acc) && ctx->repair_limit < UINT64_MAX;
    ozg_cuda_job job;
    ozg_cuda_state state;

    if (report || limited) {
        const ozg_status status = ozg_cuda_record_open(ctx, plan);

        if (status)
            return status;
        ctx->cuda->run->serial++; /* the record is no longer that of an earlier report */
    }
    ozg_cuda_job_open(&job, plan, data, work, report != NULL, report != NULL);
    ozg_cuda_job_begin(&job);
    ozg_cuda_job_scale(&job);
    ozg_cuda_job_choose(&job);
    if (limited && ozg_cuda_learn(&job, &state))
        return job.status;
    ozg_cuda_job_ceilings(&job);
    ozg_cuda_job_tiles(&job, NULL);
    ozg_cuda_job_special(&job, 0, plan->shape.n);
    if (report) {
        ozg_cuda_job_largest(&job);
        ozg_cuda_record_product(&job, data, report);
    }
    if (!job.status)
        tell_progress(ctx, 1);
    return ozg_cuda_job_ended(&job);
}

/* ---- matrices of the host ----------------------------------------------------------------------- */

/*
 * Matrices come by a stream of their own, and C leaves by another: what the kernels wait for is told by
 * events. The copies of a call are used once, so that nothing else has to be waited for.
 */

/* A product of matrices of the host: copies of them on the device. */
typedef struct visit {
    ozg_cuda_job job;
    const ozg_data *data;
    ozg_data copy;
    int64_t rows_a, rows_b; /* of the stored matrices */
    int reads_c;            /* beta is not 0 */
    int by_panels;          /* B comes when its columns are needed, and is scaled then */
    int finish_panels;      /* columns of C are done with the last tile of theirs */
    int64_t j0, columns;    /* the panel of C that is enqueued and not copied yet; columns 0: none */
    int panels;             /* that are done */
    int written;            /* some of C went back */
    uint64_t transfer;      /* nanoseconds */
} visit;

/* The device waits for event number `mark` before it goes on with this stream. */
static void wait_for(visit *v, CUstream stream, int mark)
{
    struct ozg_cuda *g = v->job.ctx->cuda;

    g->after_kernel = 0;
    if (!v->job.status)
        v->job.status =
            ozg_cuda_check(v->job.ctx, g->api->stream_wait(stream, g->event[mark], 0), "wait for a copy");
}

/* `columns` columns of `rows` elements from column j0 of a matrix of the host. */
static void upload(visit *v, const void *copy, int64_t ld_copy, const void *x, int64_t ldx, int64_t rows,
                   int64_t j0, int64_t columns)
{
    struct ozg_cuda *g = v->job.ctx->cuda;
    const CUstream work = g->stream;
    const int64_t size = ozg_type_size(v->job.plan.shape.type);
    const uint64_t start = ozg_nanoseconds();
    char *device;

    if (v->job.status)
        return;
    memcpy(&device, &copy, sizeof copy);
    g->stream = g->run->up;
    v->job.status = ozg_cuda_upload(v->job.ctx, device + j0 * ld_copy * size, (size_t)(ld_copy * size),
                                    (const char *)x + j0 * ldx * size, (size_t)ldx * (size_t)size,
                                    (size_t)(rows * size), columns);
    if (!v->job.status)
        v->job.status = ozg_cuda_mark(v->job.ctx, OZG_CUDA_ARRIVED);
    g->stream = work;
    wait_for(v, work, OZG_CUDA_ARRIVED);
    v->transfer += ozg_nanoseconds() - start;
}

/* The panel of C that is done goes back. */
static void download_panel(visit *v)
{
    struct ozg_cuda *g = v->job.ctx->cuda;
    const CUstream work = g->stream;
    const ozg_shape *s = &v->job.plan.shape;
    const int64_t size = ozg_type_size(s->type), ldc = v->data->ldc, ld = v->copy.ldc;
    const int64_t done = v->j0 + v->columns;
    const uint64_t start = ozg_nanoseconds();

    if (v->job.status || v->columns == 0)
        return;
    wait_for(v, g->run->down, OZG_CUDA_DONE + v->panels++ % 2);
    g->stream = g->run->down;
    v->written |= !v->job.status;
    if (!v->job.status)
        v->job.status = ozg_cuda_download(v->job.ctx, (char *)v->data->c + v->j0 * ldc * size,
                                          (size_t)ldc * (size_t)size, (char *)v->copy.c + v->j0 * ld * size,
                                          (size_t)(ld * size), (size_t)(s->m * size), v->columns);
    g->stream = work;
    v->transfer += ozg_nanoseconds() - start;
    v->columns = 0;
    if (!v->job.status)
        tell_progress(v->job.ctx, done == s->n ? 1 : (double)done / (double)s->n);
}

/* Columns [j0, j0 + columns) of C are enqueued, all of them: those before go back meanwhile. */
static void finish_panel(visit *v, int64_t j0, int64_t columns)
{
    ozg_cuda_job_special(&v->job, j0, columns);
    if (!v->job.status)
        v->job.status = ozg_cuda_mark(v->job.ctx, OZG_CUDA_DONE + (v->panels + (v->columns > 0)) % 2);
    download_panel(v);
    v->j0 = j0;
    v->columns = columns;
}

static void upload_b(visit *v, int64_t j0, int64_t columns)
{
    upload(v, v->copy.b, v->copy.ldb, v->data->b, v->data->ldb, v->rows_b, j0, columns);
}

static void upload_c(visit *v, int64_t j0, int64_t columns)
{
    if (v->reads_c)
        upload(v, v->copy.c, v->copy.ldc, v->data->c, v->data->ldc, v->job.request.m, j0, columns);
}

static void before_tile(void *arg, const ozg_cuda_tile *t)
{
    visit *v = arg;

    if (t->i0 > 0 || t->part > 0)
        return;
    if (v->by_panels) {
        upload_b(v, t->j0, t->columns);
        ozg_cuda_job_scale_columns(&v->job, t->j0, t->columns);
    }
    if (v->finish_panels)
        upload_c(v, t->j0, t->columns);
}

static void after_tile(void *arg, const ozg_cuda_tile *t)
{
    visit *v = arg;

    if (v->finish_panels && t->i0 + t->rows == v->job.request.m)
        finish_panel(v, t->j0, t->columns);
}

static void open_visit(visit *v, const ozg_plan *plan, const ozg_data *data, void *work, int report)
{
    const ozg_shape *s = &plan->shape;
    unsigned char *base = (unsigned char *)ozg_round_up((size_t)work, 256);
    ozg_cuda_places p;

    ozg_cuda_place(plan, &p);
    memset(v, 0, sizeof *v);
    v->data = data;
    v->copy = *data;
    v->copy.a = base + p.a;
    v->copy.b = base + p.b;
    v->copy.c = base + p.c;
    v->copy.lda = p.ld_a;
    v->copy.ldb = p.ld_b;
    v->copy.ldc = p.ld_c;
    v->rows_a = s->transa == 'N' ? s->m : s->k;
    v->rows_b = s->transb == 'N' ? s->k : s->n;
    v->reads_c = !ozg_is_zero(data->beta[0]) || !ozg_is_zero(data->beta[1]);
    v->by_panels =
        s->transb == 'N' && (s->acc.kind == OZG_BY_MODULI || s->acc.kind == OZG_BY_WIDTH) && !data->pb;
    ozg_cuda_job_open(&v->job, plan, &v->copy, work, report, report);
    ozg_cuda_job_begin(&v->job);
    if (!data->pa)
        upload(v, v->copy.a, v->copy.lda, data->a, data->lda, v->rows_a, 0, p.columns_a);
    if (v->by_panels && !data->pa)
        ozg_cuda_job_scale_rows(&v->job);
    if (!v->by_panels && !data->pb)
        upload_b(v, 0, p.columns_b);
}

ozg_status ozg_cuda_own_workspace(const ozg_plan *plan, void **work)
{
    ozg_context *ctx = plan->ctx;
    struct ozg_cuda *g = ctx->cuda;
    ozg_status status = ozg_cuda_synchronize(ctx);

    *work = status ? NULL : ozg_cuda_arena(ctx, plan->workspace, &status);
    if (*work)
        status = ozg_cuda_record_open(ctx, plan);
    if (!status && !g->run->up)
        status =
            ozg_cuda_check(ctx, g->api->stream_create(&g->run->up, CU_STREAM_NON_BLOCKING), "make a stream");
    if (!status && !g->run->down)
        status = ozg_cuda_check(ctx, g->api->stream_create(&g->run->down, CU_STREAM_NON_BLOCKING),
                                "make a stream");
    return status;
}

/* The work of a product up to the last panel of C. */
static void run_visit(visit *v, const ozg_plan *plan)
{
    const ozg_cuda_visitor visitor = {before_tile, after_tile, v};
    ozg_cuda_state state;

    if (!v->by_panels)
        ozg_cuda_job_scale(&v->job);
    ozg_cuda_job_choose(&v->job);
    if (ozg_by_data(plan->shape.acc) && ozg_cuda_learn(&v->job, &state))
        return;
    v->finish_panels = v->job.parts == 1;
    if (!v->finish_panels)
        upload_c(v, 0, plan->shape.n);
    ozg_cuda_job_ceilings(&v->job);
    ozg_cuda_job_tiles(&v->job, &visitor);
    if (!v->finish_panels)
        finish_panel(v, 0, plan->shape.n);
    download_panel(v);
}

ozg_status ozg_cuda_abandon(ozg_context *ctx, ozg_status status, int written)
{
    const struct ozg_cuda *g = ctx->cuda;

    g->api->stream_synchronize(g->run->up);
    g->api->stream_synchronize(g->run->down);
    g->api->stream_synchronize(g->stream);
    return written ? OZG_E_DEVICE : status;
}

static ozg_status run_on_host(const ozg_plan *plan, const ozg_data *data, ozg_report *report)
{
    const uint64_t start = ozg_nanoseconds();
    ozg_context *ctx = plan->ctx;
    void *work;
    visit v;
    ozg_status status = ozg_cuda_own_workspace(plan, &work);

    if (status)
        return status;
    if (plan->streamed)
        return ozg_cuda_stream_run(plan, data, work, report);
    open_visit(&v, plan, data, work, report != NULL);
    run_visit(&v, plan);
    if (report) {
        ozg_cuda_job_largest(&v.job);
        ozg_cuda_record_product(&v.job, data, report);
    }
    if (v.job.status)
        return ozg_cuda_abandon(ctx, v.job.status, v.written);
    status = ozg_cuda_record_finish(ctx, report);
    if (report) {
        report->reserved[0] = 0;
        report->seconds_transfer = 1e-9 * (double)v.transfer;
        report->seconds_total = 1e-9 * (double)(ozg_nanoseconds() - start);
    }
    return status ? OZG_E_DEVICE : OZG_OK; /* C is there, or its last columns are not */
}

ozg_status ozg_cuda_run(const ozg_plan *plan, const ozg_data *data, void *work, ozg_report *report)
{
    ozg_context *ctx = plan->ctx;
    const ozg_status status = ozg_cuda_enter(ctx);

    if (status)
        return status;
    return ozg_cuda_leave(ctx, ctx->device_pointers ? run_on_device(plan, data, work, report)
                                                    : run_on_host(plan, data, report));
}

/* ---- reports alone ------------------------------------------------------------------------------ */

/* The parts one by one: they share the memory of exponents and residuals. */
ozg_status ozg_cuda_predict_parts(ozg_cuda_job *job, const ozg_data *data, const ozg_cuda_visitor *visitor,
                                  ozg_report *report)
{
    double products = 0;

    ozg_cuda_job_ceilings(job);
    for (int q = 0; !job->status && q < job->parts; q++) {
        ozg_cuda_job_measure(job, q, visitor);
        ozg_cuda_record_predict(job, data, q, report, &products);
    }
    return job->status;
}

/* work: of plan->workspace bytes, of the device; pointers of the host: NULL. */
static ozg_status predict(const ozg_plan *plan, const ozg_data *data, void *work, ozg_report *report)
{
    ozg_context *ctx = plan->ctx;
    const uint64_t start = ozg_nanoseconds();
    ozg_cuda_state state;
    visit v;
    ozg_status status = work ? ozg_cuda_record_open(ctx, plan) : ozg_cuda_own_workspace(plan, &work);

    if (status)
        return status;
    if (plan->streamed)
        return ozg_cuda_stream_predict(plan, data, work, report);
    if (ctx->device_pointers) {
        ozg_cuda_job_open(&v.job, plan, data, work, 1, 0);
        ozg_cuda_job_begin(&v.job);
        ozg_cuda_job_scale(&v.job);
    } else {
        open_visit(&v, plan, data, work, 1);
        if (v.by_panels) {
            upload_b(&v, 0, plan->shape.n);
            ozg_cuda_job_scale_columns(&v.job, 0, plan->shape.n);
        } else {
            ozg_cuda_job_scale(&v.job);
        }
    }
    ozg_cuda_job_choose(&v.job);
    if (ozg_by_data(plan->shape.acc)) {
        if (ozg_cuda_learn(&v.job, &state))
            return ctx->device_pointers ? v.job.status : ozg_cuda_abandon(ctx, v.job.status, 0);
        report->repaired = state.estimate;
    }
    status = ozg_cuda_predict_parts(&v.job, data, NULL, report);
    if (status && !ctx->device_pointers)
        ozg_cuda_abandon(ctx, status, 0);
    report->seconds_scale = report->seconds_total = 1e-9 * (double)(ozg_nanoseconds() - start);
    return status;
}

/* In memory for this call alone: neither the workspace nor the record of the context grows. */
static ozg_status predict_apart(const ozg_plan *plan, const ozg_data *data, ozg_report *report)
{
    ozg_context *ctx = plan->ctx;
    struct ozg_cuda *g = ctx->cuda;
    const ozg_cuda_pinned kept = g->record;
    CUdeviceptr work = 0;
    ozg_status status = ozg_cuda_synchronize(ctx);

    if (!status)
        status = ozg_cuda_check(ctx, g->api->allocate(&work, plan->workspace), "hold the workspace");
    if (status)
        return status;
    memset(&g->record, 0, sizeof g->record);
    status = predict(plan, data, (void *)(uintptr_t)work, report);
    g->api->stream_synchronize(g->stream); /* whatever it answers: nothing uses the memory any more */
    g->api->release(work);
    if (g->record.base)
        g->api->release_host(g->record.base);
    g->record = kept;
    return status;
}

static ozg_status predict_somewhere(const ozg_plan *plan, const ozg_data *data, ozg_report *report)
{
    const struct ozg_cuda *g = plan->ctx->cuda;

    if (!plan->ctx->device_pointers)
        return predict(plan, data, NULL, report);
    if (plan->workspace > g->arena_bytes || ozg_cuda_record_bytes(plan) > g->record.bytes)
        return predict_apart(plan, data, report);
    g->run->serial++; /* the record is no longer that of an earlier report */
    return predict(plan, data, (void *)(uintptr_t)g->arena, report);
}

ozg_status ozg_cuda_predict(const ozg_plan *plan, const ozg_data *data, ozg_report *report)
{
    const ozg_status status = ozg_cuda_enter(plan->ctx);

    return status ? status : ozg_cuda_leave(plan->ctx, predict_somewhere(plan, data, report));
}

/* ---- C := RN(beta C) ---------------------------------------------------------------------------- */

static ozg_status scale_on_device(ozg_context *ctx, const ozg_shape *shape, const ozg_data *data,
                                  ozg_report *report, const char *reason)
{
    const int rounds = ozg_report_rounds(shape, data);
    ozg_cuda_job job;
    ozg_status status = OZG_OK;
    void *work = NULL;

    if (!report && data->beta[0] == 1 && ozg_is_zero(data->beta[1]))
        return OZG_OK; /* C stays as it is */
    if (report)
        status = ozg_cuda_record_open(ctx, NULL);
    if (!status)
        work = ozg_cuda_arena(ctx, OZG_CUDA_SCALED_BYTES, &status);
    if (!work)
        return status;
    ozg_cuda_job_open_scaled(&job, ctx, shape, data, work);
    if (data->beta[0] != 1 || !ozg_is_zero(data->beta[1]))
        ozg_cuda_job_scale_c(&job);
    if (report && rounds)
        ozg_cuda_job_largest(&job);
    if (report)
        ozg_cuda_record_scaled(&job, data, report, reason);
    return ozg_cuda_job_ended(&job);
}

/* The host's matrix is scaled where it is: the same bits, and the bus is slower than the host. */
static ozg_status scale_on_host(ozg_context *ctx, const ozg_shape *shape, const ozg_data *data,
                                ozg_report *report, const char *reason)
{
    const int rounds = ozg_report_rounds(shape, data);

    ozg_driver_scale_c(shape, data);
    if (report)
        ozg_report_scaled(report, ctx, shape, rounds, rounds ? ozg_report_largest_entry(shape, data, 1) : 0,
                          reason);
    return OZG_OK;
}

ozg_status ozg_cuda_scale_c(ozg_context *ctx, const ozg_shape *shape, const ozg_data *data,
                            ozg_report *report, const char *reason)
{
    ozg_status status;

    if (!ctx->device_pointers)
        return scale_on_host(ctx, shape, data, report, reason);
    status = ozg_cuda_enter(ctx);
    return status ? status : ozg_cuda_leave(ctx, scale_on_device(ctx, shape, data, report, reason));
}

ozg_status ozg_cuda_wait(ozg_context *ctx, ozg_report *report)
{
    const ozg_status status = ozg_cuda_enter(ctx);

    if (status)
        return status;
    if (!ctx->device_pointers) /* calls returned when they were done */
        return ozg_cuda_leave(ctx, OZG_OK);
    return ozg_cuda_leave(ctx, ozg_cuda_record_finish(ctx, report));
}
