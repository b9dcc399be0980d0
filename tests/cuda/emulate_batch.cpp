/*
 * emulate_batch.cpp - see emulate_batch.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "emulate_batch.h"
#include "cuda/batch.cuh"

extern "C" {
emulate_batch_args emulate_batch_seen[EMULATE_BATCH_PRODUCTS];
}

#define TELL(member, args)                                                                                   \
    OZG_KERNEL_BATCH(emulate_batch_##member, args, 256, 1)                                                   \
    {                                                                                                        \
        if (threadIdx.x == blockDim.x - 1)                                                                   \
            emulate_batch_seen[blockIdx.y].member = a;                                                       \
    }

TELL(scale, ozg_cuda_scale_args)
TELL(choose, ozg_cuda_choose_args)
TELL(split, ozg_cuda_split_args)
TELL(factors, ozg_cuda_factors_args)
TELL(reconstruct, ozg_cuda_reconstruct_args)
TELL(c, ozg_cuda_c_args)
TELL(raise, ozg_cuda_raise_args)
