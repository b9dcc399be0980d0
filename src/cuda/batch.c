/*
 * batch.c - products of one shape together: one launch for each stage of many products.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cuda/batch.h"
#include "cuda/record.h"
#include "report.h"

/* ---- how it is cut ------------------------------------------------------------------------------ */

#define MOST_PRODUCTS 32768             /* of a launch: the second dimension of a grid is at most 65535 */
#define PLANES_BYTES  ((size_t)4 << 30) /* at a time: enough work that starts of kernels do not count */
#define KNOWN_BYTES   ((size_t)1 << 30)

/* Of products of two INT8 numbers: such a product takes so long that kernels start meanwhile. */
#define LARGE 5e10

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

ozg_cuda_batch_cut ozg_cuda_batch_cut_of(const ozg_plan *plan, int64_t count)
{
    const ozg_shape *s = &plan->shape;
    ozg_cuda_batch_cut none = {0, 0, 0, 0, 0}, c = none;
    size_t room = plan->ctx->memory_limit, most, planes, groups;
    ozg_cuda_places p;

    if (plan->mt < s->m || plan->nt < s->n || plan->kt < s->k)
        return none;
    ozg_cuda_place(plan, &p);
    if ((double)p.planes * (double)s->m * (double)s->n * (double)s->k > LARGE)
        return none;
    most = min_size((size_t)count, MOST_PRODUCTS);
    c.known_bytes = p.plane[0];
    c.tile_bytes = ozg_round_up(p.bytes - p.plane[0], (size_t)(64 * p.pitch)); /* whole groups of lines */
    room -= min_size(room, 256);                                               /* to be aligned */
    planes = min_size(min_size(most, PLANES_BYTES / c.tile_bytes), room / (c.known_bytes + c.tile_bytes));
    if (planes < 2)
        return none;
    groups = ((size_t)count - 1) / planes + 1; /* of one size */
    planes = ((size_t)count - 1) / groups + 1;
    room = min_size((room - planes * c.tile_bytes) / c.known_bytes, KNOWN_BYTES / c.known_bytes);
    c.known = (int)(room < planes ? planes : min_size(room / planes * planes, most));
    c.planes = (int)planes;
    c.bytes = (size_t)c.known * c.known_bytes + planes * c.tile_bytes + 256;
    return c;
}

/* ---- a part of the batch ------------------------------------------------------------------------ */

/* Planes, sums and C of all products of the job, as many at a time as there are planes for. */
static void multiply(ozg_cuda_job *job, int planes)
{
    const int products = job->products;

    for (int q = 0; q < products; q += planes) {
        job->request.batch.first = q;
        job->products = planes < products - q ? planes : products - q;
        ozg_cuda_job_ceilings(job);
        ozg_cuda_job_tiles(job, NULL);
    }
    job->request.batch.first = 0;
    job->products = products;
}

static ozg_cuda_batch strides_of(const ozg_plan *plan, const ozg_cuda_batch_cut *cut, const ozg_products *all)
{
    const int64_t size = ozg_type_size(plan->shape.type);
    ozg_cuda_places p;
    ozg_cuda_batch b;

    ozg_cuda_place(plan, &p);
    memset(&b, 0, sizeof b);
    b.known = (int64_t)cut->known_bytes;
    b.tile = (int64_t)cut->tile_bytes;
    b.lines = b.tile / p.pitch;
    b.pointers = all->a != NULL;
    b.a = all->a ? 0 : all->stride_a * size;
    b.b = all->b ? 0 : all->stride_b * size;
    b.c = all->c ? 0 : all->stride_c * size;
    return b;
}

/* Products [first, first + products). report: NULL, or a sum. *touched: some C may be written. */
static ozg_status run_some(const ozg_plan *plan, const ozg_cuda_batch_cut *cut, const ozg_data *data,
                           const ozg_products *all, int64_t first, int products, void *work,
                           ozg_report *report, int *touched)
{
    const ozg_cuda_batch strides = strides_of(plan, cut, all);
    ozg_cuda_job job;
    ozg_data d;

    ozg_products_at(&d, data, all, first);
    ozg_cuda_job_open_batch(&job, plan, &d, work, report != NULL, &strides, products,
                            cut->planes < products ? cut->planes : products);
    ozg_cuda_job_begin(&job);
    if (strides.pointers)
        ozg_cuda_job_matrices(&job, data, all, first);
    ozg_cuda_job_scale(&job);
    ozg_cuda_job_choose(&job);
    multiply(&job, cut->planes);
    ozg_cuda_job_special(&job, 0, plan->shape.n);
    if (report) {
        ozg_cuda_job_largest(&job);
        ozg_cuda_record_batch(&job, data, report, first == 0);
    }
    *touched |= job.touched;
    return job.status;
}

/* ---- all of it ---------------------------------------------------------------------------------- */

static ozg_status run_all(const ozg_plan *plan, const ozg_cuda_batch_cut *cut, const ozg_data *data,
                          const ozg_products *all, ozg_report *report)
{
    ozg_context *ctx = plan->ctx;
    ozg_plan together = *plan;
    ozg_status status = OZG_OK;
    void *work;
    int touched = 0;

    if (report)
        status = ozg_cuda_record_open_batch(ctx, plan, cut->known);
    together.workspace = cut->bytes;
    work = status ? NULL : ozg_cuda_arena(ctx, cut->bytes, &status);
    if (!work)
        return status;
    for (int64_t q = 0; !status && q < all->count; q += cut->known) {
        const int64_t left = all->count - q;

        status = run_some(&together, cut, data, all, q, left < cut->known ? (int)left : cut->known, work,
                          report, &touched);
    }
    if (status) /* OZG_E_DEVICE where some C may be written: no other promises that all are as they were */
        return touched ? OZG_E_DEVICE : status;
    if (ctx->progress)
        ctx->progress(ctx->progress_arg, 1);
    return OZG_OK;
}

ozg_status ozg_cuda_run_batch(const ozg_plan *plan, const ozg_data *data, const ozg_products *all,
                              ozg_report *report, int *done)
{
    ozg_context *ctx = plan->ctx;
    const int limited = ozg_by_data(plan->shape.acc) && ctx->repair_limit < UINT64_MAX;
    ozg_cuda_batch_cut cut;
    ozg_status status;

    if (!ctx->device_pointers || limited)
        return OZG_OK;
    cut = ozg_cuda_batch_cut_of(plan, all->count);
    if (cut.known == 0)
        return OZG_OK;
    *done = 1;
    status = ozg_cuda_enter(ctx);
    return status ? status : ozg_cuda_leave(ctx, run_all(plan, &cut, data, all, report));
}

ozg_status ozg_cuda_may_wait(ozg_context *ctx)
{
    ozg_status status = ozg_cuda_enter(ctx);

    if (status)
        return status;
    if (ozg_cuda_capturing(ctx))
        status = ozg_fail(ctx, OZG_E_UNSUPPORTED,
                          "a batch with a report waits, and the stream is being captured; pass NULL");
    return ozg_cuda_leave(ctx, status);
}
