/*
 * operand.h - a prepared operand on a CUDA device, and entries of a matrix from there: the `prepare`,
 * `release` and `gather` of backend.h.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_OPERAND_H
#define OZG_CUDA_OPERAND_H

#include "cuda/device.h"
#include "driver.h"

/*
 * What a call needs of an operand, in device memory: a state with what was counted when it was made, the
 * lines of its copy (with norms, exponents, factors and places), and the planes of all its moduli, of all
 * lines and all k.
 */
typedef struct ozg_cuda_operand {
    CUdeviceptr memory, split; /* of state, lines and copy; of the planes */
    ozg_cuda_state *state;
    ozg_cuda_chunk *chunks; /* of scale */
    ozg_cuda_lines lines;
    ozg_cuda_planes planes;
    struct ozg_cuda_operand *next; /* of those that wait for their release */
} ozg_cuda_operand;

/*
 * ozg_cuda_prepare() - enqueues everything on the stream and returns; but native and rounded wait for the
 * number of moduli, and matrices of the host until they are copied. Errors: OZG_E_NOMEM, OZG_E_WORKSPACE
 * (native, rounded: the sample does not fit memory_limit), OZG_E_UNSUPPORTED (too large; the stream is
 * being captured), OZG_E_ARG (x is memory of the host), OZG_E_DEVICE.
 */
ozg_status ozg_cuda_prepare(ozg_operand *operand, char trans, const void *x, int64_t ldx);

/*
 * ozg_cuda_release() - waits for the stream and frees the memory; while the stream is being captured,
 * which forbids both, at the next ozg_cuda_prepare() or ozg_cuda_release() after it, or when the context
 * is closed.
 */
void ozg_cuda_release(ozg_operand *operand);

/* ozg_cuda_entries() - by way of the context's workspace; waits. Errors: as ozg_cuda_prepare(). */
ozg_status ozg_cuda_entries(ozg_context *ctx, const ozg_entries *from, void *out);

#endif
