/*
 * memory.c - device memory that is kept, page-locked memory, and copies of matrices of the host.
 *
 * A matrix travels in pieces of half of the staging memory: while one half is on its way, threads copy
 * between the other and the caller's memory. Memory that the caller has page-locked already goes without the
 * detour.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "cuda/device.h"
#include "parallel.h"

#define HALF      ((size_t)16 << 20)  /* bytes of a piece: 0.3 ms on the bus; starting it: microseconds */
#define TASK      ((size_t)512 << 10) /* what a thread copies at a time */
#define PITCH_MAX ((size_t)INT32_MAX) /* of cuMemcpy2DAsync: CU_DEVICE_ATTRIBUTE_MAX_PITCH on all devices */

/* ---- memory that is kept ------------------------------------------------------------------------ */

/*
 * Growing: OZG_E_UNSUPPORTED while the stream is captured, since it may neither wait nor allocate. used: there is
 * memory that work on the stream may use.
 */
static ozg_status may_grow(ozg_context *ctx, int used)
{
    if (ozg_cuda_capturing(ctx))
        return ozg_fail(
            ctx, OZG_E_UNSUPPORTED,
            "the context has to allocate memory, which a stream that is being captured does not allow; "
            "make the same call once before the capture");
    return used ? ozg_cuda_synchronize(ctx) : OZG_OK;
}

static void *refuse(ozg_status *status, ozg_status why)
{
    if (status)
        *status = why;
    return NULL;
}

/* *memory of at least `bytes`; *held: how much it has. */
static void *hold(ozg_context *ctx, CUdeviceptr *memory, size_t *held, size_t bytes, ozg_status *status)
{
    const ozg_cuda_api *api = ctx->cuda->api;
    ozg_status why;

    if (bytes > *held) {
        why = may_grow(ctx, *memory != 0);
        if (!why && *memory) {
            why = ozg_cuda_check(ctx, api->release(*memory), "free its workspace");
            if (why)
                return refuse(status, why); /* it is still there: closing the context frees it */
            *memory = 0;
            *held = 0;
        }
        if (!why)
            why = ozg_cuda_check(ctx, api->allocate(memory, bytes), "hold the workspace");
        if (why)
            return refuse(status, why);
        *held = bytes;
    }
    return (void *)(uintptr_t)*memory;
}

void *ozg_cuda_arena(ozg_context *ctx, size_t bytes, ozg_status *status)
{
    return hold(ctx, &ctx->cuda->arena, &ctx->cuda->arena_bytes, bytes, status);
}

void *ozg_cuda_aside(ozg_context *ctx, size_t bytes, ozg_status *status)
{
    return hold(ctx, &ctx->cuda->aside, &ctx->cuda->aside_bytes, bytes, status);
}

/* Page-locked memory of at least bytes, with the content it had. */
static ozg_status have_pinned(ozg_context *ctx, ozg_cuda_pinned *p, size_t bytes)
{
    const ozg_cuda_api *api = ctx->cuda->api;
    void *base = NULL;
    ozg_status status;

    if (bytes <= p->bytes)
        return OZG_OK;
    status = may_grow(ctx, p->base != NULL);
    if (!status)
        status = ozg_cuda_check(ctx, api->allocate_host(&base, bytes), "use page-locked memory of the host");
    if (status)
        return status;
    if (p->base) {
        memcpy(base, p->base, p->bytes);
        api->release_host(p->base);
    }
    p->base = base;
    p->bytes = bytes;
    return OZG_OK;
}

void *ozg_cuda_record(ozg_context *ctx, size_t bytes, ozg_status *status)
{
    const ozg_status why = have_pinned(ctx, &ctx->cuda->record, bytes);

    return why ? refuse(status, why) : ctx->cuda->record.base;
}

void ozg_cuda_close_memory(ozg_context *ctx)
{
    struct ozg_cuda *g = ctx->cuda;

    if (g->arena)
        g->api->release(g->arena);
    if (g->aside)
        g->api->release(g->aside);
    if (g->staging.base)
        g->api->release_host(g->staging.base);
    if (g->record.base)
        g->api->release_host(g->record.base);
}

/* ---- copies ------------------------------------------------------------------------------------- */

ozg_status ozg_cuda_fetch(ozg_context *ctx, void *record, const void *device, size_t bytes)
{
    struct ozg_cuda *g = ctx->cuda;

    g->after_kernel = 0;
    return ozg_cuda_check(ctx, g->api->download(record, (CUdeviceptr)(uintptr_t)device, bytes, g->stream),
                          "copy results");
}

ozg_status ozg_cuda_zero(ozg_context *ctx, void *device, size_t bytes)
{
    struct ozg_cuda *g = ctx->cuda;

    if (bytes == 0)
        return OZG_OK;
    g->after_kernel = 0;
    return ozg_cuda_check(ctx, g->api->set_bytes((CUdeviceptr)(uintptr_t)device, 0, bytes, g->stream),
                          "clear memory");
}

/* A matrix on its way: columns of `height` bytes. */
typedef struct transfer {
    ozg_context *ctx;
    unsigned char *host, *device;
    size_t ld_host, ld_device, height;
    int64_t columns;
    int up;
} transfer;

/* Columns [j, j + columns), bytes [at, at + height) of each; in a half they lie one behind the other. */
typedef struct piece {
    int64_t j, columns;
    size_t at, height;
} piece;

/* Without gaps in both memories it is one long column. */
static void join_columns(transfer *t)
{
    if (t->columns > 1 && t->ld_host == t->height && t->ld_device == t->height) {
        t->height *= (size_t)t->columns;
        t->columns = 1;
    }
    if (t->columns == 1)
        t->ld_host = t->ld_device = t->height;
}

/* The piece behind p (at first: height 0). 0: there is none. */
static int next_piece(const transfer *t, piece *p)
{
    const int64_t whole = t->height ? (int64_t)(HALF / t->height) : 0; /* columns that fit */

    if (p->height > 0 && p->at + p->height < t->height) {
        p->at += p->height;
    } else {
        p->j += p->columns;
        p->at = 0;
    }
    if (p->j >= t->columns || t->height == 0)
        return 0;
    p->columns = whole == 0 ? 1 : t->columns - p->j < whole ? t->columns - p->j : whole;
    p->height = t->height - p->at < HALF ? t->height - p->at : HALF;
    return 1;
}

/* Between the device and `memory`, whose columns are ld bytes apart: the caller's, or a half. */
static CUresult copy_piece(const transfer *t, const piece *p, unsigned char *memory, size_t ld)
{
    struct ozg_cuda *g = t->ctx->cuda;
    const CUdeviceptr device = (CUdeviceptr)(uintptr_t)(t->device + (size_t)p->j * t->ld_device + p->at);
    ozg_cuda_copy c = {0};

    g->after_kernel = 0;
    if (p->columns == 1 || (ld == p->height && t->ld_device == p->height)) {
        const size_t bytes = p->height * (size_t)p->columns;

        return t->up ? g->api->upload(device, memory, bytes, g->stream)
                     : g->api->download(memory, device, bytes, g->stream);
    }
    c.src_type = t->up ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    c.dst_type = t->up ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    c.src_host = c.dst_host = memory;
    c.src_device = c.dst_device = device;
    c.src_pitch = t->up ? ld : t->ld_device;
    c.dst_pitch = t->up ? t->ld_device : ld;
    c.bytes = p->height;
    c.height = (size_t)p->columns;
    return g->api->copy_2d(&c, g->stream);
}

/* The driver takes no such pitch: column by column. */
static ozg_status copy_columns(const transfer *t, const piece *p, unsigned char *memory, size_t ld)
{
    CUresult result = CUDA_SUCCESS;

    if (p->columns == 1 || (ld <= PITCH_MAX && t->ld_device <= PITCH_MAX))
        return ozg_cuda_check(t->ctx, copy_piece(t, p, memory, ld), "copy a matrix");
    for (int64_t j = 0; !result && j < p->columns; j++) {
        const piece one = {p->j + j, 1, p->at, p->height};

        result = copy_piece(t, &one, memory + (size_t)j * ld, ld);
    }
    return ozg_cuda_check(t->ctx, result, "copy a matrix");
}

/* A piece between a half and the caller's memory, by tasks of whole columns or of parts of one. */
typedef struct stage_job {
    const transfer *t;
    const piece *p;
    unsigned char *half;
    int64_t columns; /* of a task */
    size_t bytes;    /* of each column */
    int64_t parts;   /* tasks of a column */
} stage_job;

static void stage_task(void *arg, int64_t task, int thread)
{
    const stage_job *s = arg;
    const transfer *t = s->t;
    const piece *p = s->p;
    const int64_t first = task / s->parts * s->columns;
    const size_t at = (size_t)(task % s->parts) * s->bytes;
    const size_t bytes = p->height - at < s->bytes ? p->height - at : s->bytes;

    (void)thread;
    for (int64_t j = first; j < first + s->columns && j < p->columns; j++) {
        unsigned char *host = t->host + (size_t)(p->j + j) * t->ld_host + p->at + at;
        unsigned char *half = s->half + (size_t)j * p->height + at;

        if (t->up)
            memcpy(half, host, bytes);
        else
            memcpy(host, half, bytes);
    }
}

static void stage(const transfer *t, const piece *p, unsigned char *half)
{
    stage_job s = {t, p, half, 1, p->height, 1};

    if (p->height < TASK)
        s.columns = (int64_t)(TASK / p->height);
    else
        s.bytes = TASK;
    s.parts = (int64_t)((p->height - 1) / s.bytes + 1);
    ozg_parallel(ozg_parallel_threads(t->ctx->threads), ((p->columns - 1) / s.columns + 1) * s.parts,
                 stage_task, &s);
}

/* The half whose turn it is, free. */
static ozg_status take_half(ozg_context *ctx, unsigned char **half)
{
    struct ozg_cuda *g = ctx->cuda;

    g->half ^= 1;
    *half = (unsigned char *)g->staging.base + (g->half ? HALF : 0);
    return ozg_cuda_check(ctx, g->api->event_synchronize(g->half_free[g->half]), "finish a copy");
}

static ozg_status mark_half(ozg_context *ctx)
{
    const struct ozg_cuda *g = ctx->cuda;

    return ozg_cuda_check(ctx, g->api->event_record(g->half_free[g->half], g->stream), "record an event");
}

static ozg_status upload_staged(const transfer *t)
{
    piece p = {0, 0, 0, 0};
    unsigned char *half;
    ozg_status status = OZG_OK;

    while (!status && next_piece(t, &p)) {
        status = take_half(t->ctx, &half);
        if (status)
            return status;
        stage(t, &p, half);
        status = copy_columns(t, &p, half, p.height);
        if (!status)
            status = mark_half(t->ctx);
    }
    return status;
}

static ozg_status download_staged(const transfer *t)
{
    struct ozg_cuda *g = t->ctx->cuda;
    piece p = {0, 0, 0, 0}, before = p;
    unsigned char *half, *half_before = NULL;
    ozg_status status = OZG_OK;

    while (!status && next_piece(t, &p)) {
        status = take_half(t->ctx, &half);
        if (!status)
            status = copy_columns(t, &p, half, p.height);
        if (!status)
            status = mark_half(t->ctx);
        if (!status && half_before) { /* the other one arrives meanwhile */
            status =
                ozg_cuda_check(t->ctx, g->api->event_synchronize(g->half_free[g->half ^ 1]), "finish a copy");
            if (!status)
                stage(t, &before, half_before);
        }
        before = p;
        half_before = half;
    }
    if (!status && half_before) {
        status = ozg_cuda_check(t->ctx, g->api->event_synchronize(g->half_free[g->half]), "finish a copy");
        if (!status)
            stage(t, &before, half_before);
    }
    return status;
}

/* The caller has page-locked it. */
static int is_pinned(ozg_context *ctx, const void *host)
{
    return ozg_cuda_memory_type(ctx, host) == CU_MEMORYTYPE_HOST;
}

static ozg_status run_transfer(transfer *t)
{
    ozg_status status;

    if (t->height == 0 || t->columns == 0)
        return OZG_OK;
    join_columns(t);
    if (is_pinned(t->ctx, t->host)) {
        const piece all = {0, t->columns, 0, t->height};

        status = copy_columns(t, &all, t->host, t->ld_host);
        return status ? status : ozg_cuda_synchronize(t->ctx);
    }
    status = have_pinned(t->ctx, &t->ctx->cuda->staging, 2 * HALF);
    if (status)
        return status;
    return t->up ? upload_staged(t) : download_staged(t);
}

ozg_status ozg_cuda_upload(ozg_context *ctx, void *device, size_t ld_device, const void *host, size_t ld_host,
                           size_t height, int64_t columns)
{
    transfer t = {ctx, NULL, device, ld_host, ld_device, height, columns, 1};

    memcpy(&t.host, &host, sizeof host); /* only read */
    return run_transfer(&t);
}

ozg_status ozg_cuda_download(ozg_context *ctx, void *host, size_t ld_host, const void *device,
                             size_t ld_device, size_t height, int64_t columns)
{
    transfer t = {ctx, host, NULL, ld_host, ld_device, height, columns, 0};

    memcpy(&t.device, &device, sizeof device); /* only read */
    return run_transfer(&t);
}
