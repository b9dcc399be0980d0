/*
 * emulate_product.h - the argument of the kernels in emulate_product.cpp, which enumerate reductions.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TEST_CUDA_EMULATE_PRODUCT_H
#define OZG_TEST_CUDA_EMULATE_PRODUCT_H

#include "cuda/reduce_table.h"

typedef struct emulate_reduce_args {
    ozg_cuda_reduce m;
    int64_t from, to; /* what is enumerated: from, from + step, ..., and the number behind each of these */
    int64_t step;
    int64_t *differ;     /* how many are not the symmetric residue (m = 256: of the class) */
    int64_t *first_fail; /* the first of them */
} emulate_reduce_args;

#endif
