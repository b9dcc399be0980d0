/*
 * fixup.h - how the kernels of repair.cu and fixup.cu are launched. None of them wants dynamic shared memory.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_FIXUP_H
#define OZG_CUDA_FIXUP_H

#include <stdint.h>

/* ozg_cuda_repair: any number of blocks is right; this many of a multiprocessor are resident at once. */
#define OZG_CUDA_REPAIR_THREADS 128
#define OZG_CUDA_REPAIR_BLOCKS  6

/* ozg_cuda_special, ozg_cuda_largest, ozg_cuda_scale_c: any number of blocks is right. */
#define OZG_CUDA_C_THREADS 256

/* ozg_cuda_raise: a block takes pieces of so many rows and columns; any number of blocks is right. */
#define OZG_CUDA_RAISE_THREADS 256
#define OZG_CUDA_RAISE_ROWS    (4 * OZG_CUDA_RAISE_THREADS)
#define OZG_CUDA_RAISE_COLUMNS 32

static inline int ozg_cuda_repair_blocks(int multiprocessors)
{
    return OZG_CUDA_REPAIR_BLOCKS * multiprocessors;
}

static inline int ozg_cuda_raise_blocks(int64_t rows, int64_t columns, int multiprocessors)
{
    const int64_t pieces =
        ((rows - 1) / OZG_CUDA_RAISE_ROWS + 1) * ((columns - 1) / OZG_CUDA_RAISE_COLUMNS + 1);
    const int64_t most = 8 * (int64_t)multiprocessors;

    return (int)(pieces < most ? pieces : most);
}

#endif
