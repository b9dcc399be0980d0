/*
 * reconstruct.cu - residues of a real tile to C: c^, the tests that the accuracy asks for, and the one
 * rounding. What it computes is what src/cpu/reconstruct.c does, entry by entry.
 *
 *     native    an entry stays as it is if its bound is proven small enough (ozg_bound_passes)
 *     rounded   an entry stays as it is if RN(c^ - bound) and RN(c^ + bound) are the same bits
 *
 * and neither turns an error into an infinity. All others go to the list, and keep their C.
 *
 * There are two ways to c^: reconstruct_quads.cuh for real types and up to 24 moduli, reconstruct_dots.cuh.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cuda/factors.cuh"
#include "cuda/reconstruct_dots.cuh"
#include "cuda/reconstruct_quads.cuh"

/* beta = 0 and real */
template <int SINGLE> OZG_DEVICE void reconstruct_small(const ozg_cuda_reconstruct_args &a)
{
    __shared__ uint4 memory[sizeof(quads_memory<1, 8>) / sizeof(uint4) + 1];
    const ozg_cuda_table *table = table_of(a, 0, SMALL_WORDS);

    if (table)
        reconstruct_quads<SINGLE, 1, 8>(a, table, memory);
}

/* Real, C joins c^. */
template <int SINGLE> OZG_DEVICE void reconstruct_small_joined(const ozg_cuda_reconstruct_args &a)
{
    __shared__ uint4 memory[sizeof(shared_memory<0, 8, 4, 4>) / sizeof(uint4)];
    const ozg_cuda_table *table = table_of(a, 0, SMALL_WORDS);

    if (!table)
        return;
    if (table->weights.nlimb <= 4)
        reconstruct<SINGLE, 0, 4, 2, 4>(a, table, memory);
    else
        reconstruct<SINGLE, 0, 8, 4, 4>(a, table, memory);
}

/*
 * beta = 0 and real. With a.all also what is small, for parts that are rarely there and then cost one launch; at
 * N = 1024 this takes 27 us for what reconstruct_small() does in 20.
 */
template <int SINGLE> OZG_DEVICE void reconstruct_large(const ozg_cuda_reconstruct_args &a)
{
    __shared__ uint4 memory[sizeof(shared_memory<0, 24, 13, 2>) / sizeof(uint4)];
    const ozg_cuda_table *table = table_of(a, a.all ? 0 : SMALL_WORDS + 1, ANY_WORDS);

    if (!table)
        return;
    if (table->nword <= SMALL_WORDS)
        reconstruct_quads<SINGLE, 1, 8>(a, table, memory);
    else if (table->weights.nlimb <= 10)
        reconstruct_quads<SINGLE, 2, 10>(a, table, memory);
    else if (table->weights.nlimb == 12)
        reconstruct_quads<SINGLE, 2, OZG_CUDA_QUAD_DIGITS>(a, table, memory);
    else if (table->weights.nlimb == 16)
        reconstruct<SINGLE, 0, 16, 9, 2>(a, table, memory);
    else
        reconstruct<SINGLE, 0, 24, 13, 2>(a, table, memory);
}

template <int SINGLE> OZG_DEVICE void reconstruct_large_joined(const ozg_cuda_reconstruct_args &a)
{
    __shared__ uint4 memory[sizeof(shared_memory<0, 24, 13, 2>) / sizeof(uint4)];
    const ozg_cuda_table *table = table_of(a, SMALL_WORDS + 1, ANY_WORDS);

    if (!table)
        return;
    if (table->weights.nlimb <= 12)
        reconstruct<SINGLE, 0, 12, 6, 2>(a, table, memory);
    else if (table->weights.nlimb == 16)
        reconstruct<SINGLE, 0, 16, 9, 2>(a, table, memory);
    else
        reconstruct<SINGLE, 0, 24, 13, 2>(a, table, memory);
}

OZG_KERNEL_BATCH(ozg_cuda_reconstruct_small_d, ozg_cuda_reconstruct_args, THREADS, OZG_CUDA_RECONSTRUCT_SMALL)
{
    reconstruct_small<0>(a);
}

OZG_KERNEL(ozg_cuda_reconstruct_small_s, ozg_cuda_reconstruct_args, THREADS, OZG_CUDA_RECONSTRUCT_SMALL)
{
    reconstruct_small<1>(a);
}

OZG_KERNEL_BATCH(ozg_cuda_reconstruct_large_d, ozg_cuda_reconstruct_args, THREADS, OZG_CUDA_RECONSTRUCT_LARGE)
{
    reconstruct_large<0>(a);
}

OZG_KERNEL(ozg_cuda_reconstruct_large_s, ozg_cuda_reconstruct_args, THREADS, OZG_CUDA_RECONSTRUCT_LARGE)
{
    reconstruct_large<1>(a);
}

OZG_KERNEL_BATCH(ozg_cuda_reconstruct_small_d_joined, ozg_cuda_reconstruct_args, THREADS,
                 OZG_CUDA_RECONSTRUCT_JOINED)
{
    reconstruct_small_joined<0>(a);
}

OZG_KERNEL(ozg_cuda_reconstruct_small_s_joined, ozg_cuda_reconstruct_args, THREADS,
           OZG_CUDA_RECONSTRUCT_JOINED)
{
    reconstruct_small_joined<1>(a);
}

OZG_KERNEL_BATCH(ozg_cuda_reconstruct_large_d_joined, ozg_cuda_reconstruct_args, THREADS,
                 OZG_CUDA_RECONSTRUCT_LARGE)
{
    reconstruct_large_joined<0>(a);
}

OZG_KERNEL(ozg_cuda_reconstruct_large_s_joined, ozg_cuda_reconstruct_args, THREADS,
           OZG_CUDA_RECONSTRUCT_LARGE)
{
    reconstruct_large_joined<1>(a);
}

/* ---- factors ------------------------------------------------------------------------------------ */

OZG_KERNEL_BATCH(ozg_cuda_factors, ozg_cuda_factors_args, 256, 4)
{
    if (a.tile.part >= a.state->parts) {
        ozg_launch_next();
        return;
    }
    ozg_cuda_make_factors(a, (int64_t)blockIdx.x * blockDim.x + threadIdx.x, (int64_t)gridDim.x * blockDim.x);
}
