/*
 * device.h - what a context on a CUDA device owns, and how the host talks to the device: memory, copies,
 * launches, events, errors.
 *
 * Every call from the public interface goes like this:
 *
 *     status = ozg_cuda_enter(ctx);                   the device's context is current; after an error
 *     if (!status)                                    of the device: OZG_E_DEVICE for ever
 *         status = ozg_cuda_leave(ctx, work(ctx));    the caller's own context is current again
 *
 * Everything below but open, close and name is called between the two. Each function that returns an
 * ozg_status has written the sentence.
 *
 * Of the process are, once for each device: the primary context, the modules with the kernels, and the tables
 * of moduli. They stay until the process ends.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_DEVICE_H
#define OZG_CUDA_DEVICE_H

#include "context.h"
#include "cuda/api.h"
#include "cuda/kernels.h"

/*
 * The kernels as the build embeds them: fat binaries, one for each .cu file and called as that, ended by data NULL. A
 * build without them has an empty list. Tests may set it before the first context.
 */
typedef struct ozg_cuda_image {
    const char *name;
    const void *data;
} ozg_cuda_image;
extern const ozg_cuda_image *ozg_cuda_images;

struct ozg_cuda_shared; /* of a device, for all contexts: shared.h */

#define OZG_CUDA_KERNELS      64         /* kernels that a context knows by name, at most */
#define OZG_CUDA_SHARED_USUAL (48 << 10) /* dynamic shared memory that no kernel has to ask for */

/* A kernel as this context has seen it. */
typedef struct ozg_cuda_function {
    const char *name;
    CUfunction function;
    size_t shared; /* dynamic shared memory that it may have */
    int waits;     /* for the kernel before it, by itself (device.cuh): it may be launched early */
} ozg_cuda_function;

/* Page-locked host memory. */
typedef struct ozg_cuda_pinned {
    void *base;
    size_t bytes;
} ozg_cuda_pinned;

/* ctx->cuda */
struct ozg_cuda {
    const ozg_cuda_api *api;
    struct ozg_cuda_shared *device;
    int number; /* of the device */
    int multiprocessors;
    int capability;                      /* 10 major + minor: 90 */
    size_t shared_most;                  /* dynamic shared memory of a block, at most */
    const char *kernel;                  /* product: "cuda-wgmma" or "cuda-mma" */
    int wgmma;                           /* the same as a number */
    CUstream stream;                     /* the caller's, or NULL: the default stream */
    void *native;                        /* cublasHandle_t for OZG_AUTOMATIC (native.h); else NULL */
    int after_kernel;                    /* its last work is a kernel of this call: ozg_cuda_launch() */
    const struct ozg_cuda_table *tables; /* device memory: ozg_cuda_tables_of() */
    CUdeviceptr arena, aside;            /* kept between calls: workspace; see ozg_cuda_aside() */
    size_t arena_bytes, aside_bytes;
    ozg_cuda_pinned staging; /* for matrices of the host: two halves, used in turn */
    ozg_cuda_pinned record;  /* see ozg_cuda_record() */
    CUevent half_free[2];    /* the copy that used that half is done */
    int half;
    CUevent *event; /* see ozg_cuda_mark() */
    int events, event_room;
    ozg_cuda_function function[OZG_CUDA_KERNELS];
    int functions;
    struct ozg_cuda_run_state *run;   /* what calls leave for later ones; see ozg_cuda_close_run() */
    struct ozg_cuda_operand *retired; /* destroyed in a capture, and not freed yet: operand.h */
    char failed[OZG_ERROR_SIZE];      /* the sentence of the error that ended this context's work; "": none */
};

/* ---- contexts ----------------------------------------------------------------------------------- */

/*
 * ozg_cuda_open() - ctx->cuda for cfg->device, and ctx->memory_limit if cfg has none. Errors: OZG_E_NODEVICE
 * (no driver, too old a driver, no such device, too old a device, no kernels in this build),
 * OZG_E_UNSUPPORTED (cfg->kernel), OZG_E_NOMEM, OZG_E_DEVICE; ctx->cuda is then NULL, and the sentence is
 * ctx's.
 */
ozg_status ozg_cuda_open(ozg_context *ctx, const ozg_config *cfg);

/* ozg_cuda_close_run() - frees ctx->cuda->run (run.c); the stream is done. */
void ozg_cuda_close_run(ozg_context *ctx);

/* ozg_cuda_close_operands() - frees operands that were destroyed in a capture (operand.c); the stream is
 * done. reachable: the device's context is current. */
void ozg_cuda_close_operands(ozg_context *ctx, int reachable);

/* ozg_cuda_close() - waits for the stream and gives everything back. */
void ozg_cuda_close(ozg_context *ctx);

/* ozg_cuda_name() - of device number `device`, for as long as the process lives; NULL: there is none. */
const char *ozg_cuda_name(int device);

/* ---- calls -------------------------------------------------------------------------------------- */

/* ozg_cuda_enter() - Errors: OZG_E_DEVICE, and nothing is to be left then. */
ozg_status ozg_cuda_enter(ozg_context *ctx);

/* ozg_cuda_leave() - returns status, or OZG_E_DEVICE if status is OZG_OK and leaving failed. */
ozg_status ozg_cuda_leave(ozg_context *ctx, ozg_status status);

/* ozg_cuda_check() - a CUresult as a status; `what` was tried ("copy the matrices"). */
ozg_status ozg_cuda_check(ozg_context *ctx, CUresult result, const char *what);

/* ozg_cuda_synchronize() - waits for the stream. Errors: OZG_E_DEVICE; OZG_E_UNSUPPORTED: it is captured. */
ozg_status ozg_cuda_synchronize(ozg_context *ctx);

/* ozg_cuda_memory_type() - CU_MEMORYTYPE_... of what is there; 0: CUDA does not know of it; -1: nobody can tell. */
int ozg_cuda_memory_type(ozg_context *ctx, const void *pointer);

/* ozg_cuda_here() - a pointer to `what` ("argument 8 (a)") may be used by kernels. Else OZG_E_ARG. */
ozg_status ozg_cuda_here(ozg_context *ctx, const void *pointer, const char *what);

/* ozg_cuda_capturing() - the stream is being captured into a graph: no waiting, no allocation. */
int ozg_cuda_capturing(ozg_context *ctx);

/* ---- launches ----------------------------------------------------------------------------------- */

/*
 * ozg_cuda_launch() - a kernel with one argument struct, on the stream; args is read before it returns.
 * `kernel` is its name, a string literal. cooperative: all blocks at once, or OZG_E_DEVICE.
 *
 * Where the work before it on the stream is a kernel of the same call, and nothing else (whoever enqueues
 * something else says after_kernel = 0), it is a programmatic dependent launch: its blocks come as soon as
 * those of the one before are done, or call ozg_launch_next() (device.cuh). That kernel must wait by itself,
 * which machine code for 9.0 does and code made from PTX for 8.0 does not. Never a cooperative one.
 */
ozg_status ozg_cuda_launch(ozg_context *ctx, const char *kernel, int blocks, int threads, size_t shared,
                           int cooperative, const void *args);

/* ozg_cuda_launch_batch() - the same with so many blocks for each of `products` products, at most 65535. */
ozg_status ozg_cuda_launch_batch(ozg_context *ctx, const char *kernel, int blocks, int products, int threads,
                                 size_t shared, int cooperative, const void *args);

/* ozg_cuda_fast_fp64() - the device adds doubles at half the rate of floats; others at 1/32 or 1/64 of it. */
static inline int ozg_cuda_fast_fp64(const ozg_context *ctx)
{
    const int capability = ctx->cuda->capability;

    return capability == 80 || capability == 90 || capability == 100;
}

/* ozg_cuda_resident() - how many blocks of a kernel fit on the whole device at once. */
ozg_status ozg_cuda_resident(ozg_context *ctx, const char *kernel, int threads, size_t shared, int *blocks);

/* ---- memory (memory.c) -------------------------------------------------------------------------- */

/*
 * ozg_cuda_arena() - at least `bytes` of device memory, aligned to 256, the same memory as long as it is
 * large enough; work on the stream that uses the old one is waited for. NULL: the sentence is written
 * (OZG_E_NOMEM, or *status if not NULL).
 */
void *ozg_cuda_arena(ozg_context *ctx, size_t bytes, ozg_status *status);

/* ozg_cuda_aside() - the same for what is no product, and so may be called while a graph needs the arena as it
 * is: operands that are made, entries for the monitor. */
void *ozg_cuda_aside(ozg_context *ctx, size_t bytes, ozg_status *status);

/* ozg_cuda_record() - at least `bytes` of page-locked host memory for what comes back from the device;
 * growing keeps the content and waits for the stream first. NULL: as ozg_cuda_arena(). */
void *ozg_cuda_record(ozg_context *ctx, size_t bytes, ozg_status *status);

/*
 * ozg_cuda_upload(), ozg_cuda_download() - `columns` columns of `height` bytes, ld_... bytes apart (any
 * multiple of the element), between host memory of any kind and device memory, by way of page-locked memory.
 * In order with the stream; the host's memory may be changed (upload), is written (download) when they
 * return. What lies between the columns is not touched.
 */
ozg_status ozg_cuda_upload(ozg_context *ctx, void *device, size_t ld_device, const void *host, size_t ld_host,
                           size_t height, int64_t columns);
ozg_status ozg_cuda_download(ozg_context *ctx, void *host, size_t ld_host, const void *device,
                             size_t ld_device, size_t height, int64_t columns);

/* ozg_cuda_fetch() - bytes from the device to ozg_cuda_record() memory; asynchronous. */
ozg_status ozg_cuda_fetch(ozg_context *ctx, void *record, const void *device, size_t bytes);

/* ozg_cuda_zero() - bytes of device memory := 0; asynchronous. */
ozg_status ozg_cuda_zero(ozg_context *ctx, void *device, size_t bytes);

/* ozg_cuda_close_memory() - gives it all back; the stream is done. */
void ozg_cuda_close_memory(ozg_context *ctx);

/* ---- times -------------------------------------------------------------------------------------- */

/* ozg_cuda_mark() - the stream's work so far ends at time number `mark` (0, 1, ...). Marks may be used again.
 * Costs some 2 us. */
ozg_status ozg_cuda_mark(ozg_context *ctx, int mark);

/* ozg_cuda_seconds() - between two marks; 0 if one of them is not reached yet, or was made in a capture. */
double ozg_cuda_seconds(ozg_context *ctx, int from, int to);

/* ozg_cuda_reached() - waits until the stream is past the mark. */
ozg_status ozg_cuda_reached(ozg_context *ctx, int mark);

#endif
