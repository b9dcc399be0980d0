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
#include "cuda/reconstruct_dots.cuh"
#include "cuda/reconstruct_quads.cuh"

/* beta = 0 and real */
template <int SINGLE> OZG_DEVICE void reconstruct_small(const ozg_cuda_reconstruct_args &a)
{
    __shared__ uint4 memory[sizeof(quads_memory<1, 8>) / sizeof(uint4) + 1];
    const ozg_cuda_table *table = table_of(a, 0);

    if (table)
        reconstruct_quads<SINGLE, 1, 8>(a, table, memory);
}

/* Real, C joins c^. */
template <int SINGLE> OZG_DEVICE void reconstruct_small_joined(const ozg_cuda_reconstruct_args &a)
{
    __shared__ uint4 memory[sizeof(shared_memory<0, 8, 4, 4>) / sizeof(uint4)];
    const ozg_cuda_table *table = table_of(a, 0);

    if (!table)
        return;
    if (table->weights.nlimb <= 4)
        reconstruct<SINGLE, 0, 4, 2, 4>(a, table, memory);
    else
        reconstruct<SINGLE, 0, 8, 4, 4>(a, table, memory);
}

/* beta = 0 and real */
template <int SINGLE> OZG_DEVICE void reconstruct_large(const ozg_cuda_reconstruct_args &a)
{
    __shared__ uint4 memory[sizeof(shared_memory<0, 24, 13, 2>) / sizeof(uint4)];
    const ozg_cuda_table *table = table_of(a, 1);

    if (!table)
        return;
    if (table->weights.nlimb <= 10)
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
    const ozg_cuda_table *table = table_of(a, 1);

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

OZG_KERNEL_BATCH(ozg_cuda_reconstruct_small_d_joined, ozg_cuda_reconstruct_args, THREADS,
                 OZG_CUDA_RECONSTRUCT_JOINED)
{
    reconstruct_small_joined<0>(a);
}

OZG_KERNEL(ozg_cuda_reconstruct_small_s, ozg_cuda_reconstruct_args, THREADS, OZG_CUDA_RECONSTRUCT_SMALL)
{
    reconstruct_small<1>(a);
}

OZG_KERNEL(ozg_cuda_reconstruct_small_s_joined, ozg_cuda_reconstruct_args, THREADS,
           OZG_CUDA_RECONSTRUCT_JOINED)
{
    reconstruct_small_joined<1>(a);
}

OZG_KERNEL_BATCH(ozg_cuda_reconstruct_large_d, ozg_cuda_reconstruct_args, THREADS, OZG_CUDA_RECONSTRUCT_LARGE)
{
    reconstruct_large<0>(a);
}

OZG_KERNEL_BATCH(ozg_cuda_reconstruct_large_d_joined, ozg_cuda_reconstruct_args, THREADS,
                 OZG_CUDA_RECONSTRUCT_LARGE)
{
    reconstruct_large_joined<0>(a);
}

OZG_KERNEL(ozg_cuda_reconstruct_large_s, ozg_cuda_reconstruct_args, THREADS, OZG_CUDA_RECONSTRUCT_LARGE)
{
    reconstruct_large<1>(a);
}

OZG_KERNEL(ozg_cuda_reconstruct_large_s_joined, ozg_cuda_reconstruct_args, THREADS,
           OZG_CUDA_RECONSTRUCT_LARGE)
{
    reconstruct_large_joined<1>(a);
}

/* ---- factors ------------------------------------------------------------------------------------ */

/* Line `place` of the part's tile. Returns whether some bit of it was rounded away. */
OZG_DEVICE int factors_of_line(const ozg_cuda_lines &l, int64_t i, int unit)
{
    const ozg_norms norms = {l.rsum[i], l.rsquares[i], l.rtop[i]};
    uint32_t r1, r2, most;

    ozg_norms_factors(&norms, 16, unit, &r1, &r2, &most);
    l.r1[i] = r1;
    l.r2[i] = r2;
    l.rmax[i] = most;
    l.rsum[i] = 0;
    l.rsquares[i] = 0;
    l.rtop[i] = 0;
    return most != 0 && l.e[i] != OZG_E_NONE;
}

OZG_KERNEL_BATCH(ozg_cuda_factors, ozg_cuda_factors_args, 256, 1)
{
    const int64_t blocks_a = (a.tile.rows + 255) / 256;
    const int of_a = blockIdx.x < blocks_a;
    const int64_t at = (int64_t)(of_a ? blockIdx.x : blockIdx.x - blocks_a) * 256 + threadIdx.x;
    const ozg_part *part = &a.state->part[a.tile.part];
    const int64_t i0 = of_a ? a.tile.i0 : a.tile.j0, most = of_a ? a.tile.rows : a.tile.columns;
    const int64_t place = (of_a ? part->i0 : part->j0) + i0 + at, all = of_a ? part->rows : part->columns;
    int inexact = 0;

    if (a.tile.part >= a.state->parts) {
        ozg_launch_next();
        return;
    }
    if (!(of_a ? a.rows : a.columns))
        return;
    if (at < most && i0 + at < all) {
        const ozg_cuda_lines &l = of_a ? a.a : a.b;

        inexact =
            factors_of_line(l, a.state->parts > 1 ? l.index[place] : place, ozg_bound_unit(a.request.length));
    }
    if (__any_sync(ALL, inexact) && threadIdx.x % 32 == 0)
        a.state->inexact = 1;
}
