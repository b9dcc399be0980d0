/*
 * reconstruct_complex.cu - residues of a complex tile to C. See reconstruct.cu, and reconstruct_dots.cuh for
 * the way to c^.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cuda/reconstruct_dots.cuh"

template <int SINGLE> OZG_DEVICE void reconstruct_small_complex(const ozg_cuda_reconstruct_args &a)
{
    __shared__ uint4 memory[sizeof(shared_memory<1, 8, OZG_CUDA_COMPLEX_GROUPS(8), 2>) / sizeof(uint4)];
    const ozg_cuda_table *table = table_of(a, 0, SMALL_WORDS);

    if (!table)
        return;
    if (table->weights.nlimb <= 4)
        reconstruct<SINGLE, 1, 4, OZG_CUDA_COMPLEX_GROUPS(4), 2>(a, table, memory);
    else if (table->weights.nlimb == 6)
        reconstruct<SINGLE, 1, 6, OZG_CUDA_COMPLEX_GROUPS(6), 2>(a, table, memory);
    else if (table->weights.nlimb == 7)
        reconstruct<SINGLE, 1, 7, OZG_CUDA_COMPLEX_GROUPS(7), 2>(a, table, memory);
    else
        reconstruct<SINGLE, 1, 8, OZG_CUDA_COMPLEX_GROUPS(8), 2>(a, table, memory);
}

template <int SINGLE> OZG_DEVICE void reconstruct_large_complex(const ozg_cuda_reconstruct_args &a)
{
    __shared__ uint4 memory[sizeof(shared_memory<1, 12, OZG_CUDA_COMPLEX_GROUPS(12), 2>) / sizeof(uint4)];
    const ozg_cuda_table *table = table_of(a, SMALL_WORDS + 1, ANY_WORDS);

    if (!table)
        return;
    if (table->weights.nlimb == 10)
        reconstruct<SINGLE, 1, 10, OZG_CUDA_COMPLEX_GROUPS(10), 2>(a, table, memory);
    else if (table->weights.nlimb == 12)
        reconstruct<SINGLE, 1, 12, OZG_CUDA_COMPLEX_GROUPS(12), 2>(a, table, memory);
    else if (table->weights.nlimb == 16)
        reconstruct<SINGLE, 1, 16, OZG_CUDA_COMPLEX_GROUPS(16), 1>(a, table, memory);
    else if (table->weights.nlimb == 20)
        reconstruct<SINGLE, 1, 20, OZG_CUDA_COMPLEX_GROUPS(20), 1>(a, table, memory);
    else
        reconstruct<SINGLE, 1, 24, OZG_CUDA_COMPLEX_GROUPS(24), 1>(a, table, memory);
}

OZG_KERNEL(ozg_cuda_reconstruct_small_z, ozg_cuda_reconstruct_args, THREADS, OZG_CUDA_RECONSTRUCT_COMPLEX)
{
    reconstruct_small_complex<0>(a);
}

OZG_KERNEL(ozg_cuda_reconstruct_small_c, ozg_cuda_reconstruct_args, THREADS, OZG_CUDA_RECONSTRUCT_COMPLEX)
{
    reconstruct_small_complex<1>(a);
}

OZG_KERNEL(ozg_cuda_reconstruct_large_z, ozg_cuda_reconstruct_args, THREADS, OZG_CUDA_RECONSTRUCT_LARGE)
{
    reconstruct_large_complex<0>(a);
}

OZG_KERNEL(ozg_cuda_reconstruct_large_c, ozg_cuda_reconstruct_args, THREADS, OZG_CUDA_RECONSTRUCT_LARGE)
{
    reconstruct_large_complex<1>(a);
}
