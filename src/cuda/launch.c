/*
 * launch.c - with how many blocks, and how much shared memory, the scale and split kernels are launched.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cuda/scale.h"
#include "cuda/split.h"
#include "cuda/split_table.h"

/* As many as there is work for; at most as many as are resident if they are given to one operand. */
static int blocks_of(int64_t items, int resident, int multiprocessors)
{
    const int64_t most = (int64_t)resident * multiprocessors;

    return (int)(items < 1 ? 1 : items < most ? items : most);
}

int ozg_cuda_scale_blocks(const ozg_cuda_lines *lines, int multiprocessors)
{
    return blocks_of(ozg_cuda_scale_shape_of(lines).blocks, OZG_CUDA_SCALE_RESIDENT, multiprocessors);
}

int ozg_cuda_norms_blocks(const ozg_cuda_lines *lines, int multiprocessors)
{
    return blocks_of((lines->count + OZG_CUDA_NORMS_LINES - 1) / OZG_CUDA_NORMS_LINES,
                     OZG_CUDA_SCALE_RESIDENT, multiprocessors);
}

/* Lines that are columns in memory have steps of 1; the others may, and are then cut into fewer chunks. */
size_t ozg_cuda_chunk_bytes(char type, char side, char trans, int64_t count, int64_t k)
{
    const int bits = ozg_cuda_scale_chunk_bits((side == 'A') != (trans == 'N'), type);

    return (size_t)(ozg_cuda_shares(k, bits) * count) * sizeof(ozg_cuda_chunk);
}

int ozg_cuda_split_blocks(const ozg_cuda_lines *lines, int64_t count, int64_t elements, int multiprocessors)
{
    const ozg_cuda_split_shape s = ozg_cuda_split_shape_of(
        ozg_type_complex(lines->view.type), lines->view.step == 1, count, (elements + 127) / 128 * 128);

    return blocks_of(s.groups * s.steps, OZG_CUDA_SPLIT_RESIDENT, multiprocessors);
}

size_t ozg_cuda_split_shared(void)
{
    /* the table, one entry more that is read and not used; 16 numbers of each thread */
    return (OZG_NMOD_MAX + 1) * sizeof(ozg_cuda_split_modulus) + (size_t)OZG_CUDA_SPLIT_THREADS * 16 * 8;
}
