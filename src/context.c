/*
 * context.c - configuration, contexts, status texts.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* madvise() */
#endif

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "context.h"
#include "cpu/kernel.h"
#include "cuda/device.h"

#define STRING_(x) #x
#define STRING(x)  STRING_(x)

static _Thread_local char thread_error[OZG_ERROR_SIZE];

const char *ozg_version(void)
{
    return STRING(OZG_VERSION_MAJOR) "." STRING(OZG_VERSION_MINOR) "." STRING(OZG_VERSION_PATCH);
}

const char *ozg_status_name(ozg_status status)
{
    static const char *const name[] = {"OZG_OK",          "OZG_E_ARG",         "OZG_E_NOMEM",
                                       "OZG_E_WORKSPACE", "OZG_E_UNSUPPORTED", "OZG_E_NODEVICE",
                                       "OZG_E_DEVICE",    "OZG_E_INTERNAL"};

    return (unsigned)status < sizeof name / sizeof *name ? name[status] : "OZG_E_?";
}

char *ozg_error_buffer(ozg_context *ctx)
{
    return ctx ? ctx->error : thread_error;
}

const char *ozg_last_error(const ozg_context *ctx)
{
    return ctx ? ctx->error : thread_error;
}

ozg_status ozg_fail(ozg_context *ctx, ozg_status status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(ozg_error_buffer(ctx), OZG_ERROR_SIZE, format, args);
    va_end(args);
    return status;
}

ozg_status ozg_config_init(ozg_config *cfg)
{
    if (!cfg)
        return ozg_fail(NULL, OZG_E_ARG, "argument 1 (cfg) is NULL");
    memset(cfg, 0, sizeof *cfg);
    cfg->backend = OZG_BACKEND_BEST;
    cfg->policy = OZG_EMULATE;
    cfg->repair_limit = UINT64_MAX;
    return OZG_OK;
}

static const ozg_kernel *kernel_by_name(const char *name)
{
    const ozg_kernel *kernel;

    for (int i = 0; (kernel = ozg_kernel_at(ozg_cpu_isa(), i)); i++)
        if (!name || strcmp(kernel->name, name) == 0)
            return kernel;
    return NULL;
}

const char *ozg_kernel_name(int index)
{
    const ozg_kernel *kernel = index < 0 ? NULL : ozg_kernel_at(ozg_cpu_isa(), index);

    return kernel ? kernel->name : NULL;
}

const char *ozg_device_name(ozg_backend_kind backend, int device)
{
    if (backend == OZG_BACKEND_CUDA)
        return ozg_cuda_name(device);
    return (backend == OZG_BACKEND_CPU || backend == OZG_BACKEND_BEST) && device == 0 ? "CPU" : NULL;
}

/* Matrices of the host stay there: their way to a device and back may take longer than the product. */
static int wants_cuda(const ozg_config *cfg)
{
    return cfg->backend == OZG_BACKEND_CUDA ||
           (cfg->backend == OZG_BACKEND_BEST && (cfg->stream || cfg->device_pointers));
}

static ozg_status check_cpu(const ozg_config *cfg)
{
    if (cfg->device != 0)
        return ozg_fail(NULL, OZG_E_NODEVICE, "cfg->device is %d; the cpu backend has device 0 only",
                        cfg->device);
    if (cfg->stream || cfg->device_pointers)
        return ozg_fail(NULL, OZG_E_ARG, "cfg->stream and cfg->device_pointers must be 0 on the cpu backend");
    return OZG_OK;
}

static ozg_status check_config(const ozg_config *cfg)
{
    if (cfg->backend == OZG_BACKEND_OPENCL)
        return ozg_fail(NULL, OZG_E_NODEVICE, "this build has no OpenCL backend; use OZG_BACKEND_CPU");
    if (cfg->backend != OZG_BACKEND_BEST && cfg->backend != OZG_BACKEND_CPU &&
        cfg->backend != OZG_BACKEND_CUDA)
        return ozg_fail(NULL, OZG_E_ARG, "cfg->backend is %d, which is no backend", (int)cfg->backend);
    if (cfg->threads < 0)
        return ozg_fail(NULL, OZG_E_ARG, "cfg->threads is %d; it must not be negative", cfg->threads);
    if (cfg->device_pointers != 0 && cfg->device_pointers != 1)
        return ozg_fail(NULL, OZG_E_ARG, "cfg->device_pointers is %d; it must be 0 or 1",
                        cfg->device_pointers);
    if (cfg->policy != OZG_EMULATE && cfg->policy != OZG_AUTOMATIC && cfg->policy != OZG_OFF)
        return ozg_fail(NULL, OZG_E_ARG, "cfg->policy is %d, which is no policy", (int)cfg->policy);
    if (cfg->policy == OZG_OFF || (cfg->policy == OZG_AUTOMATIC && !wants_cuda(cfg)))
        return ozg_fail(NULL, OZG_E_UNSUPPORTED,
                        "the library has no native BLAS; cfg->policy must be OZG_EMULATE, on CUDA it may be "
                        "OZG_AUTOMATIC");
    if (cfg->policy == OZG_AUTOMATIC && !cfg->device_pointers)
        return ozg_fail(NULL, OZG_E_UNSUPPORTED,
                        "policy OZG_AUTOMATIC is for matrices on the device; set cfg->device_pointers = 1 or "
                        "use OZG_EMULATE");
    return wants_cuda(cfg) ? OZG_OK : check_cpu(cfg);
}

/* Bytes that programs may still take without swapping; where the system does not say: all there are. */
static size_t available_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    unsigned long long kilobytes;
    char line[128];
    FILE *info = fopen("/proc/meminfo", "r");

    while (info && fgets(line, sizeof line, info))
        if (sscanf(line, "MemAvailable: %llu kB", &kilobytes) == 1) {
            fclose(info);
            return (size_t)kilobytes * 1024;
        }
    if (info)
        fclose(info);
    return pages > 0 && size > 0 ? (size_t)pages * (size_t)size : 0;
}

static size_t default_memory_limit(void)
{
    const size_t least = (size_t)64 << 20, quarter = available_memory() / 4;

    return quarter > least ? quarter : least;
}

static ozg_status open_cpu(ozg_context *ctx, const ozg_config *cfg)
{
    ctx->backend = &ozg_backend_cpu;
    ctx->kernel = kernel_by_name(cfg->kernel);
    if (!ctx->kernel)
        return ozg_fail(ctx, OZG_E_UNSUPPORTED, "kernel \"%.40s\" is unknown or cannot run on this machine",
                        cfg->kernel);
    ctx->kernel_name = ctx->kernel->name;
    ctx->kernel_is_fixed = cfg->kernel != NULL;
    if (!ctx->memory_limit)
        ctx->memory_limit = default_memory_limit();
    return OZG_OK;
}

static ozg_status open_cuda(ozg_context *ctx, const ozg_config *cfg)
{
    const ozg_status status = ozg_cuda_open(ctx, cfg);

    ctx->backend = &ozg_backend_cuda;
    if (!status)
        ctx->kernel_name = ctx->cuda->kernel;
    return status;
}

ozg_status ozg_create(ozg_context **ctx, const ozg_config *cfg)
{
    ozg_config defaults;
    ozg_context *made;
    ozg_status status;

    if (!ctx)
        return ozg_fail(NULL, OZG_E_ARG, "argument 1 (ctx) is NULL");
    *ctx = NULL;
    if (!cfg) {
        ozg_config_init(&defaults);
        cfg = &defaults;
    }
    status = check_config(cfg);
    if (status)
        return status;
    made = calloc(1, sizeof *made);
    if (!made)
        return ozg_fail(NULL, OZG_E_NOMEM, "no memory for a context");
    made->device_pointers = cfg->device_pointers;
    made->threads = cfg->threads;
    made->repair_limit = cfg->repair_limit;
    made->progress = cfg->progress;
    made->progress_arg = cfg->progress_arg;
    made->memory_limit = cfg->memory_limit;
    status = wants_cuda(cfg) ? open_cuda(made, cfg) : open_cpu(made, cfg);
    if (status) {
        memcpy(thread_error, made->error, sizeof thread_error);
        free(made);
        return status;
    }
    *ctx = made;
    return OZG_OK;
}

size_t ozg_memory_limit(const ozg_context *ctx)
{
    return ctx ? ctx->memory_limit : 0;
}

void ozg_destroy(ozg_context *ctx)
{
    if (!ctx)
        return;
    ctx->backend->close(ctx);
    free(ctx);
}

/* Large workspace begins at a huge page, and asks for such: planes are walked through in long strides. */
static void *allocate_workspace(size_t bytes)
{
    const size_t huge = (size_t)2 << 20, align = bytes >= 2 * huge ? huge : OZG_ALIGN;
    void *memory = aligned_alloc(align, ozg_round_up(bytes, align));

#if defined(__linux__)
    if (memory && align == huge)
        madvise(memory, ozg_round_up(bytes, align),
                MADV_HUGEPAGE); /* a wish: either way the bits are the same */
#endif
    return memory;
}

void *ozg_context_arena(ozg_context *ctx, size_t bytes)
{
    if (bytes > ctx->arena_bytes) {
        free(ctx->arena);
        ctx->arena_bytes = 0;
        ctx->arena = allocate_workspace(bytes);
        if (!ctx->arena)
            return NULL;
        ctx->arena_bytes = bytes;
    }
    return ctx->arena;
}
