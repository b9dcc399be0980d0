/*
 * emulate_batch.h - kernels that tell which arguments a block of a batch has (test_batch_args.c).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TEST_CUDA_EMULATE_BATCH_H
#define OZG_TEST_CUDA_EMULATE_BATCH_H

#include "cuda/kernels.h"

enum { EMULATE_BATCH_PRODUCTS = 3 };

typedef union emulate_batch_args {
    ozg_cuda_scale_args scale;
    ozg_cuda_choose_args choose;
    ozg_cuda_split_args split;
    ozg_cuda_factors_args factors;
    ozg_cuda_reconstruct_args reconstruct;
    ozg_cuda_c_args c;
    ozg_cuda_raise_args raise;
} emulate_batch_args;

/* What the last block of each blockIdx.y had: kernels emulate_batch_scale_batch and so on, by member. */
#ifdef __cplusplus
extern "C"
#else
extern
#endif
    emulate_batch_args emulate_batch_seen[EMULATE_BATCH_PRODUCTS];

#endif
