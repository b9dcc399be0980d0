/*
 * batch.cuh - the arguments of a kernel X_batch, moved to the product of the block (ozg_cuda_batch).
 *
 * What X does for one product, X_batch does for many: the same body, with arguments that lie in shared memory
 * instead of those of the launch. So products of their own pay nothing for batches. The product kernels move
 * the few arguments that they need by themselves, since a tensor map cannot be moved.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_BATCH_CUH
#define OZG_CUDA_BATCH_CUH

#include <stddef.h>

#include "cuda/device.cuh"
#include "cuda/kernels.h"

template <typename T> OZG_DEVICE T *ozg_cuda_moved(T *x, int64_t bytes)
{
    return (T *)((uintptr_t)x + (uintptr_t)bytes);
}

/* NULL stays NULL. */
template <typename T> OZG_DEVICE void ozg_cuda_move(T *&x, int64_t bytes)
{
    if (x)
        x = ozg_cuda_moved(x, bytes);
}

/* The number of the block's product in the batch. */
OZG_DEVICE int64_t ozg_cuda_number_of(const ozg_cuda_request &r)
{
    return r.batch.first + (int64_t)blockIdx.y;
}

/* Its state; that of product 0 is given. */
template <typename T> OZG_DEVICE T *ozg_cuda_state_of(T *first, const ozg_cuda_request &r)
{
    return ozg_cuda_moved(first, ozg_cuda_number_of(r) * r.batch.known);
}

/* ---- members, by the thread that is number i among 32 ------------------------------------------- */

/* Pointers from `most` to the end of ozg_cuda_lines. */
enum { OZG_CUDA_LINES_POINTERS = (sizeof(ozg_cuda_lines) - offsetof(ozg_cuda_lines, most)) / sizeof(void *) };

/* x: the matrix as the state has it, or NULL: not by pointers. */
OZG_DEVICE void ozg_cuda_move_lines(ozg_cuda_lines &l, const ozg_cuda_request &r, int64_t stride,
                                    const void *x, int i)
{
    const int64_t q = ozg_cuda_number_of(r), by = q * r.batch.known;

    static_assert(OZG_CUDA_LINES_POINTERS < 31, "a thread each");
    if (i < OZG_CUDA_LINES_POINTERS)
        ozg_cuda_move(((uint8_t **)&l.most)[i], by);
    if (i < 31)
        return;
    ozg_cuda_move(l.view.shift, by);
    if (l.view.x && x)
        l.view.x = x;
    else
        ozg_cuda_move(l.view.x, q * stride);
}

OZG_DEVICE void ozg_cuda_move_c(void *&c, const ozg_cuda_request &r, const ozg_cuda_state *state)
{
    c = r.batch.pointers ? state->c : ozg_cuda_moved(c, ozg_cuda_number_of(r) * r.batch.c);
}

/* Both sides, threads 0 .. 63. */
OZG_DEVICE void ozg_cuda_move_both(ozg_cuda_lines &a, ozg_cuda_lines &b, const ozg_cuda_request &r,
                                   const ozg_cuda_state *state)
{
    const int i = (int)threadIdx.x;

    if (i < 32)
        ozg_cuda_move_lines(a, r, r.batch.a, r.batch.pointers ? state->a : nullptr, i);
    else if (i < 64)
        ozg_cuda_move_lines(b, r, r.batch.b, r.batch.pointers ? state->b : nullptr, i - 32);
}

/* ---- arguments ---------------------------------------------------------------------------------- */

/* Each moves `to`, a copy of `from`. Blocks have more than 64 threads; number 64 has what is no line. */

OZG_DEVICE void ozg_cuda_move_args(ozg_cuda_scale_args &to, const ozg_cuda_scale_args &from)
{
    ozg_cuda_move_both(to.a, to.b, from.request, ozg_cuda_state_of(from.state, from.request));
    if (threadIdx.x == 64) {
        to.state = ozg_cuda_state_of(from.state, from.request);
        for (int side = 0; side < 2; side++)
            ozg_cuda_move(to.chunks[side], ozg_cuda_number_of(from.request) * from.request.batch.known);
    }
}

OZG_DEVICE void ozg_cuda_move_args(ozg_cuda_choose_args &to, const ozg_cuda_choose_args &from)
{
    ozg_cuda_move_both(to.a, to.b, from.request, ozg_cuda_state_of(from.state, from.request));
    if (threadIdx.x == 64) {
        to.state = ozg_cuda_state_of(from.state, from.request);
        ozg_cuda_move(to.memory, ozg_cuda_number_of(from.request) * from.request.batch.known);
    }
}

OZG_DEVICE void ozg_cuda_move_args(ozg_cuda_split_args &to, const ozg_cuda_split_args &from)
{
    const int64_t by = blockIdx.y * from.request.batch.tile;

    ozg_cuda_move_both(to.side[0].lines, to.side[1].lines, from.request,
                       ozg_cuda_state_of(from.state, from.request));
    if (threadIdx.x == 64) {
        to.state = ozg_cuda_state_of(from.state, from.request);
        ozg_cuda_move(to.side[0].planes.base, by);
        ozg_cuda_move(to.side[1].planes.base, by);
    }
}

OZG_DEVICE void ozg_cuda_move_args(ozg_cuda_factors_args &to, const ozg_cuda_factors_args &from)
{
    ozg_cuda_move_both(to.a, to.b, from.request, ozg_cuda_state_of(from.state, from.request));
    if (threadIdx.x == 64)
        to.state = ozg_cuda_state_of(from.state, from.request);
}

OZG_DEVICE void ozg_cuda_move_args(ozg_cuda_reconstruct_args &to, const ozg_cuda_reconstruct_args &from)
{
    const int64_t by = blockIdx.y * from.request.batch.tile;
    ozg_cuda_state *state = ozg_cuda_state_of(from.state, from.request);

    ozg_cuda_move_both(to.a, to.b, from.request, state);
    if (threadIdx.x == 64) {
        to.state = state;
        ozg_cuda_move(to.in.base, by);
        ozg_cuda_move(to.in.floors, by);
        ozg_cuda_move(to.list, by);
        ozg_cuda_move_c(to.c, from.request, state);
    }
}

OZG_DEVICE void ozg_cuda_move_args(ozg_cuda_c_args &to, const ozg_cuda_c_args &from)
{
    ozg_cuda_state *state = ozg_cuda_state_of(from.state, from.request);

    ozg_cuda_move_both(to.a, to.b, from.request, state);
    if (threadIdx.x == 64) {
        to.state = state;
        ozg_cuda_move_c(to.c, from.request, state);
    }
}

/* It reads no matrix. */
OZG_DEVICE void ozg_cuda_move_args(ozg_cuda_raise_args &to, const ozg_cuda_raise_args &from)
{
    const int i = (int)threadIdx.x;

    if (i < 32)
        ozg_cuda_move_lines(to.a, from.request, 0, nullptr, i);
    else if (i < 64)
        ozg_cuda_move_lines(to.b, from.request, 0, nullptr, i - 32);
    else if (i == 64)
        ozg_cuda_move(to.in.floors, blockIdx.y * from.request.batch.tile);
}

/* What OZG_KERNEL_BATCH begins with: `to`, in shared memory, becomes `from` for the product of the block. */
template <typename T> OZG_DEVICE void ozg_cuda_to_product(T &to, const T &from)
{
    static_assert(sizeof(T) % sizeof(uint64_t) == 0, "whole words");
    for (int i = (int)threadIdx.x; i < (int)(sizeof(T) / sizeof(uint64_t)); i += (int)blockDim.x)
        ((uint64_t *)&to)[i] = ((const uint64_t *)&from)[i];
    __syncthreads();
    ozg_cuda_move_args(to, from);
    __syncthreads();
}

#endif
