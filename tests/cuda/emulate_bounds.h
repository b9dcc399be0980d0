/*
 * emulate_bounds.h - the argument of the kernel in emulate_bounds.cpp: what the screens of bounds.cuh say of a row, a
 * column, and a number.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TEST_CUDA_EMULATE_BOUNDS_H
#define OZG_TEST_CUDA_EMULATE_BOUNDS_H

#include "cuda/kernels.h"

typedef struct emulate_bounds_out {
    float screen, limit;
    int32_t tested, some, widths, doubt; /* some: the terms are not 0 */
    uint64_t key;
} emulate_bounds_out;

typedef struct emulate_bounds_args {
    ozg_cuda_lines row, column; /* of one line each */
    ozg_cuda_request request;
    uint32_t factor;
    uint64_t top; /* the number: ozg_cuda_leading */
    int32_t sticky, exp;
    int32_t exponent; /* it is rounded times 2^exponent */
    emulate_bounds_out *out;
} emulate_bounds_args;

#endif
