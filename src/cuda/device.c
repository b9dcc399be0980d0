/*
 * device.c - a context on a CUDA device: opening and closing, the caller's current context, launches, times,
 * errors.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "cuda/native.h"
#include "cuda/shared.h"

/* ---- errors ------------------------------------------------------------------------------------- */

ozg_status ozg_cuda_check(ozg_context *ctx, CUresult result, const char *what)
{
    return result == CUDA_SUCCESS ? OZG_OK : ozg_cuda_explain(ctx, ctx->cuda->api, result, what);
}

/* ---- calls -------------------------------------------------------------------------------------- */

ozg_status ozg_cuda_enter(ozg_context *ctx)
{
    struct ozg_cuda *g = ctx->cuda;

    g->after_kernel = 0;
    if (*g->failed)
        return ozg_fail(ctx, OZG_E_DEVICE, "%s", g->failed);
    return ozg_cuda_check(ctx, g->api->context_push(g->device->context), "use the device");
}

ozg_status ozg_cuda_leave(ozg_context *ctx, ozg_status status)
{
    CUcontext popped;
    const CUresult result = ctx->cuda->api->context_pop(&popped);

    if (status || !result)
        return status;
    ozg_cuda_check(ctx, result, "go back to the caller's context");
    return OZG_E_DEVICE; /* whatever the driver says: the work is done */
}

int ozg_cuda_capturing(ozg_context *ctx)
{
    int status = CU_STREAM_CAPTURE_STATUS_NONE;
    const CUresult result = ctx->cuda->api->stream_capturing(ctx->cuda->stream, &status);

    if (result) /* the legacy stream beside a capture: to wait for it would end that */
        return result >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED && result <= CUDA_ERROR_CAPTURED_EVENT;
    return status != CU_STREAM_CAPTURE_STATUS_NONE;
}

ozg_status ozg_cuda_synchronize(ozg_context *ctx)
{
    if (ozg_cuda_capturing(ctx)) /* to ask the driver would end the capture */
        return ozg_fail(ctx, OZG_E_UNSUPPORTED, "cannot wait for a stream that is being captured");
    return ozg_cuda_check(ctx, ctx->cuda->api->stream_synchronize(ctx->cuda->stream), "finish its work");
}

/* cuPointerGetAttributes, not ...Attribute: for the latter, memory that CUDA does not know of is an error. */
int ozg_cuda_memory_type(ozg_context *ctx, const void *pointer)
{
    const ozg_cuda_api *api = ctx->cuda->api;
    int attribute = CU_POINTER_ATTRIBUTE_MEMORY_TYPE, type = 0;
    void *value = &type;
    CUresult result;

    if (!api->pointer_attributes)
        return -1;
    result = api->pointer_attributes(1, &attribute, &value, (CUdeviceptr)(uintptr_t)pointer);
    return result == CUDA_SUCCESS ? type : result == CUDA_ERROR_INVALID_VALUE ? 0 : -1;
}

ozg_status ozg_cuda_here(ozg_context *ctx, const void *pointer, const char *what)
{
    if (ctx->cuda->device->reads_host || ozg_cuda_memory_type(ctx, pointer) != 0)
        return OZG_OK;
    return ozg_fail(ctx, OZG_E_ARG,
                    "%s is host memory, which the device cannot read; pass device memory or set "
                    "cfg->device_pointers = 0",
                    what);
}

/* ---- launches ----------------------------------------------------------------------------------- */

/* The kernel with so much shared memory allowed, as the context knows it. NULL: *status is set. */
static const ozg_cuda_function *function_of(ozg_context *ctx, const char *kernel, size_t shared,
                                            ozg_status *status)
{
    struct ozg_cuda *g = ctx->cuda;
    ozg_cuda_function *f = g->function;

    while (f < g->function + g->functions && f->name != kernel && strcmp(f->name, kernel) != 0)
        f++;
    *status = OZG_OK;
    if (f < g->function + g->functions && shared <= f->shared)
        return f;
    if (f == g->function + OZG_CUDA_KERNELS)
        *status = ozg_fail(ctx, OZG_E_INTERNAL, "there are more kernels than OZG_CUDA_KERNELS");
    else
        *status = ozg_cuda_find(ctx, g->device, kernel, shared, f);
    if (*status)
        return NULL;
    if (f == g->function + g->functions)
        g->functions++;
    return f;
}

/* Graphs know of dependent launches since CUDA 12.3. */
static int may_overlap(ozg_context *ctx, const ozg_cuda_function *f)
{
    const struct ozg_cuda *g = ctx->cuda;

    return g->after_kernel && f->waits && (g->api->version >= 12030 || !ozg_cuda_capturing(ctx));
}

static CUresult launch_dependent(const struct ozg_cuda *g, const ozg_cuda_function *f, int blocks,
                                 int products, int threads, size_t shared, void **arguments)
{
    ozg_cuda_launch_attribute attribute;
    ozg_cuda_launch_config config;

    memset(&attribute, 0, sizeof attribute);
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.number = 1;
    memset(&config, 0, sizeof config);
    config.grid[0] = (unsigned)blocks;
    config.block[0] = (unsigned)threads;
    config.grid[1] = (unsigned)products;
    config.grid[2] = config.block[1] = config.block[2] = 1;
    config.shared = (unsigned)shared;
    config.stream = g->stream;
    config.attributes = &attribute;
    config.count = 1;
    return g->api->launch_with(&config, f->function, arguments, NULL);
}

ozg_status ozg_cuda_launch_batch(ozg_context *ctx, const char *kernel, int blocks, int products, int threads,
                                 size_t shared, int cooperative, const void *args)
{
    struct ozg_cuda *g = ctx->cuda;
    void *arguments[1];
    const ozg_cuda_function *f;
    ozg_status status;
    CUresult result;

    if (blocks <= 0 || products <= 0)
        return OZG_OK;
    f = function_of(ctx, kernel, shared, &status);
    if (!f)
        return status;
    memcpy(arguments, &args, sizeof args); /* the driver's pointer is not to const, but it only reads */
    if (cooperative)
        result = g->api->launch_cooperative(f->function, (unsigned)blocks, (unsigned)products, 1,
                                            (unsigned)threads, 1, 1, (unsigned)shared, g->stream, arguments);
    else if (may_overlap(ctx, f))
        result = launch_dependent(g, f, blocks, products, threads, shared, arguments);
    else
        result = g->api->launch(f->function, (unsigned)blocks, (unsigned)products, 1, (unsigned)threads, 1, 1,
                                (unsigned)shared, g->stream, arguments, NULL);
    g->after_kernel = result == CUDA_SUCCESS;
    return ozg_cuda_check(ctx, result, "launch a kernel");
}

ozg_status ozg_cuda_launch(ozg_context *ctx, const char *kernel, int blocks, int threads, size_t shared,
                           int cooperative, const void *args)
{
    return ozg_cuda_launch_batch(ctx, kernel, blocks, 1, threads, shared, cooperative, args);
}

ozg_status ozg_cuda_resident(ozg_context *ctx, const char *kernel, int threads, size_t shared, int *blocks)
{
    ozg_status status;
    const ozg_cuda_function *f = function_of(ctx, kernel, shared, &status);

    if (!f)
        return status;
    status =
        ozg_cuda_check(ctx, ctx->cuda->api->resident(blocks, f->function, threads, shared), "count blocks");
    *blocks *= ctx->cuda->multiprocessors;
    return status;
}

/* ---- times -------------------------------------------------------------------------------------- */

/* Room for event number `mark`, and the event. */
static ozg_status have_event(ozg_context *ctx, int mark)
{
    struct ozg_cuda *g = ctx->cuda;

    if (mark >= g->event_room) {
        const int room = 2 * mark + 16;
        CUevent *event = realloc(g->event, (size_t)room * sizeof *event);

        if (!event)
            return ozg_fail(ctx, OZG_E_NOMEM, "no memory for %d events", room);
        g->event = event;
        g->event_room = room;
    }
    for (; g->events <= mark; g->events++) {
        const ozg_status status = ozg_cuda_check(
            ctx, g->api->event_create(&g->event[g->events], CU_EVENT_DEFAULT), "make an event");

        if (status)
            return status;
    }
    return OZG_OK;
}

ozg_status ozg_cuda_mark(ozg_context *ctx, int mark)
{
    const ozg_status status = have_event(ctx, mark);

    ctx->cuda->after_kernel = 0;
    if (status)
        return status;
    return ozg_cuda_check(ctx, ctx->cuda->api->event_record(ctx->cuda->event[mark], ctx->cuda->stream),
                          "record an event");
}

double ozg_cuda_seconds(ozg_context *ctx, int from, int to)
{
    const struct ozg_cuda *g = ctx->cuda;
    float milliseconds = 0;

    if (from >= g->events || to >= g->events ||
        g->api->event_elapsed(&milliseconds, g->event[from], g->event[to]))
        return 0;
    return 1e-3 * (double)milliseconds;
}

ozg_status ozg_cuda_reached(ozg_context *ctx, int mark)
{
    if (mark >= ctx->cuda->events)
        return OZG_OK; /* nobody marked it */
    return ozg_cuda_check(ctx, ctx->cuda->api->event_synchronize(ctx->cuda->event[mark]), "finish its work");
}

/* ---- contexts ----------------------------------------------------------------------------------- */

/* Errors: OZG_E_UNSUPPORTED. */
static ozg_status choose_product(ozg_context *ctx, const char *wanted)
{
    struct ozg_cuda *g = ctx->cuda;
    ozg_cuda_function unused;
    const int may = g->capability == 90 && g->api->tensor_map &&
                    !ozg_cuda_find(ctx, g->device, "ozg_cuda_product_wgmma", 0, &unused);

    g->wgmma = wanted ? strcmp(wanted, "cuda-wgmma") == 0 : may;
    if ((wanted && !g->wgmma && strcmp(wanted, "cuda-mma") != 0) || (g->wgmma && !may))
        return ozg_fail(ctx, OZG_E_UNSUPPORTED,
                        "kernel \"%.40s\" is unknown or cannot run on CUDA device %d (capability %d.%d)",
                        wanted ? wanted : "", g->number, g->capability / 10, g->capability % 10);
    g->kernel = g->wgmma ? "cuda-wgmma" : "cuda-mma";
    *ctx->error = 0; /* of the search */
    return OZG_OK;
}

/* A stream of another device would only fail at the first launch, and not say why. */
static ozg_status check_stream(ozg_context *ctx)
{
    struct ozg_cuda *g = ctx->cuda;
    CUcontext owner = NULL;

    if (!g->stream || !g->api->stream_context || g->api->stream_context(g->stream, &owner))
        return OZG_OK;
    if (owner == g->device->context)
        return OZG_OK;
    g->stream = NULL; /* closing the context waits for it */
    return ozg_fail(ctx, OZG_E_ARG, "cfg->stream does not belong to CUDA device %d (its primary context)",
                    g->number);
}

/* The primary context is current. */
static ozg_status set_up(ozg_context *ctx, const ozg_config *cfg)
{
    const size_t least = (size_t)64 << 20;
    struct ozg_cuda *g = ctx->cuda;
    size_t unused, total;
    ozg_status status = choose_product(ctx, cfg->kernel);

    if (!status)
        status = check_stream(ctx);
    for (int i = 0; !status && i < 2; i++)
        status = ozg_cuda_check(ctx, g->api->event_create(&g->half_free[i], CU_EVENT_DISABLE_TIMING),
                                "make an event");
    if (!status && cfg->policy == OZG_AUTOMATIC)
        status = ozg_cuda_native_open(ctx);
    if (status || ctx->memory_limit)
        return status;
    status = ozg_cuda_check(ctx, g->api->memory_info(&unused, &total), "tell its free memory");
    ctx->memory_limit = unused / 4 > least ? unused / 4 : least;
    return status;
}

ozg_status ozg_cuda_open(ozg_context *ctx, const ozg_config *cfg)
{
    ozg_status status = OZG_OK;
    ozg_cuda_shared *device = ozg_cuda_share(ctx, cfg->device, &status);
    struct ozg_cuda *g;

    if (!device)
        return status;
    g = calloc(1, sizeof *g);
    if (!g)
        return ozg_fail(ctx, OZG_E_NOMEM, "no memory for a context");
    g->api = device->api;
    g->device = device;
    g->number = device->number;
    g->multiprocessors = device->multiprocessors;
    g->capability = device->capability;
    g->shared_most = device->shared_most;
    g->tables = (const struct ozg_cuda_table *)(uintptr_t)device->tables;
    g->stream = cfg->stream;
    ctx->cuda = g;
    status = ozg_cuda_enter(ctx);
    if (!status)
        status = ozg_cuda_leave(ctx, set_up(ctx, cfg));
    if (status)
        ozg_cuda_close(ctx);
    return status;
}

void ozg_cuda_close(ozg_context *ctx)
{
    struct ozg_cuda *g = ctx->cuda;
    CUcontext popped;

    if (!g)
        return;
    if (!g->api->context_push(
            g->device->context)) { /* whatever failed before: the rest is still to be given back */
        g->api->stream_synchronize(g->stream);
        ozg_cuda_native_close(ctx);
        ozg_cuda_close_run(ctx);
        ozg_cuda_close_operands(ctx, 1);
        ozg_cuda_close_memory(ctx);
        for (int i = 0; i < 2; i++)
            if (g->half_free[i])
                g->api->event_destroy(g->half_free[i]);
        for (int i = 0; i < g->events; i++)
            g->api->event_destroy(g->event[i]);
        g->api->context_pop(&popped);
    } else {
        ozg_cuda_close_operands(ctx, 0);
        free(g->run);
    }
    free(g->event);
    free(g);
    ctx->cuda = NULL;
}
