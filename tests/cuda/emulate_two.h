/*
 * emulate_two.h - the argument of the kernel in emulate_two.cpp, which rounds sums of two terms.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TEST_CUDA_EMULATE_TWO_H
#define OZG_TEST_CUDA_EMULATE_TWO_H

#include "arith/limbs.h"

typedef struct emulate_two_args {
    int32_t single;
    const ozg_term *x, *y;
    uint64_t *bits;
} emulate_two_args;

#endif
