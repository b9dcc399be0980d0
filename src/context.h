/*
 * context.h - an open backend, its memory and its last error.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CONTEXT_H
#define OZG_CONTEXT_H

#include "backend.h"

#define OZG_ERROR_SIZE 256
#define OZG_ALIGN      ((size_t)64)

struct ozg_cuda; /* cuda/device.h */

/* Winograd's algorithm on the CPU: where an estimate says that it pays, nowhere, wherever possible. */
enum { OZG_WINOGRAD_PAYS, OZG_WINOGRAD_NEVER, OZG_WINOGRAD_ALWAYS };

struct ozg_context {
    const ozg_backend *backend;
    struct ozg_cuda *cuda;           /* NULL on the CPU */
    const struct ozg_kernel *kernel; /* the fastest for large products, or the one asked for; the CPU's */
    const char *kernel_name;         /* of the product stage, for reports that know no better */
    int kernel_is_fixed;             /* asked for: used for all sizes */
    int device_pointers;             /* matrices live on the device: the host cannot read them */
    int threads;                     /* as asked for; 0: as OpenMP says at each call */
    int winograd;                    /* OZG_WINOGRAD_PAYS; tests set others. CUDA ignores it */
    size_t memory_limit;
    uint64_t repair_limit;
    void (*progress)(void *arg, double done);
    void *progress_arg;
    void *arena; /* workspace kept between calls */
    size_t arena_bytes;
    char error[OZG_ERROR_SIZE];
};

static inline size_t ozg_round_up(size_t x, size_t to)
{
    return (x + to - 1) / to * to;
}

static inline int64_t ozg_round_up64(int64_t x, int64_t to)
{
    return (x + to - 1) / to * to;
}

static inline int64_t ozg_min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ozg_context_arena() - at least bytes of host memory, aligned to OZG_ALIGN; NULL: no memory (the old arena
 * is then gone). */
void *ozg_context_arena(ozg_context *ctx, size_t bytes);

/* ozg_fail() - writes the sentence to the context (NULL: to this thread) and returns status. */
ozg_status ozg_fail(ozg_context *ctx, ozg_status status, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* The buffer that ozg_fail() writes to. */
char *ozg_error_buffer(ozg_context *ctx);

#endif
