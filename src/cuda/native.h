/*
 * native.h - native products by cuBLAS on a CUDA device, for the policy OZG_AUTOMATIC: opened when the first
 * context asks for that policy, so that the library needs nothing of CUDA otherwise.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_NATIVE_H
#define OZG_CUDA_NATIVE_H

#include "cuda/device.h"

/*
 * The libraries that are tried, in this order: libcublas.so.13, .12 and .11. Tests set them before the first
 * context; NULL: none.
 */
#define OZG_CUDA_CUBLAS 3
extern const char *ozg_cuda_cublas_names[OZG_CUDA_CUBLAS];

/*
 * ozg_cuda_native_open() - a handle of cuBLAS on the stream of ctx: ctx->cuda->native. The primary context is
 * current. Errors: OZG_E_UNSUPPORTED (no cuBLAS, or it does not work here), OZG_E_NOMEM.
 */
ozg_status ozg_cuda_native_open(ozg_context *ctx);

/* ozg_cuda_native_close() - the primary context is current, the stream is done. */
void ozg_cuda_native_close(ozg_context *ctx);

/*
 * ozg_cuda_native_wanted() - is this product one for cuBLAS? Only in a context that has opened it, for
 * accuracy native, without prepared operands and without a number of moduli (ozg_with_moduli()), and where
 * ozg_cuda_native_faster() says so.
 */
int ozg_cuda_native_wanted(const ozg_context *ctx, const ozg_shape *shape, const ozg_data *data);

/*
 * ozg_cuda_native_run() - enqueues the product and returns; m, n, k > 0. report: NULL, or filled at once.
 * Errors: OZG_E_NOMEM (of cuBLAS; C is as it was), OZG_E_DEVICE.
 */
ozg_status ozg_cuda_native_run(ozg_context *ctx, const ozg_shape *shape, const ozg_data *data,
                               ozg_report *report);

/* ozg_cuda_native_report() - the report of such a product: nothing is proven, no times. */
void ozg_cuda_native_report(const ozg_context *ctx, ozg_report *report);

/*
 * ozg_cuda_native_faster() - does a native product of this shape and type take less time than emulation with
 * accuracy native, by an estimate (native_model.c)? multiprocessors: of the device; wgmma: the product
 * kernel.
 */
int ozg_cuda_native_faster(int capability, int wgmma, int multiprocessors, const ozg_shape *shape);

#endif
