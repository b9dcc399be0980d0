/*
 * batch.h - products of one shape together on a CUDA device, each kernel for many of them (kernels.h).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_BATCH_H
#define OZG_CUDA_BATCH_H

#include "cuda/plan.h"

/*
 * How a batch is cut: as many products as are known at a time (their states, lines, choices), and of these as
 * have planes at a time. Bytes from one to the next, and of all.
 */
typedef struct ozg_cuda_batch_cut {
    int known, planes; /* products; known 0: one by one */
    size_t known_bytes, tile_bytes;
    size_t bytes;
} ozg_cuda_batch_cut;

/*
 * ozg_cuda_batch_cut_of() - of `count` products of this plan, below the context's memory_limit. One by one
 * if a product has several tiles or chunks of k, or keeps the device busy by itself, or if no two fit.
 */
ozg_cuda_batch_cut ozg_cuda_batch_cut_of(const ozg_plan *plan, int64_t count);

/*
 * ozg_cuda_run_batch() - the `batch` of backend.h. Nothing happens for matrices of the host, and with a
 * repair_limit, which must wait for each product. Errors: as ozg_cuda_run(), but OZG_E_DEVICE once work began.
 */
ozg_status ozg_cuda_run_batch(const ozg_plan *plan, const ozg_data *data, const ozg_products *all,
                              ozg_report *report, int *done);

/*
 * ozg_cuda_may_wait() - before a batch with a report, which waits, however it is computed.
 * OZG_E_UNSUPPORTED: the stream is being captured.
 */
ozg_status ozg_cuda_may_wait(ozg_context *ctx);

#endif
