/*
 * emulate_kernels.h - the argument of the kernels in emulate_kernels.cpp.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TEST_CUDA_EMULATE_KERNELS_H
#define OZG_TEST_CUDA_EMULATE_KERNELS_H

#include <stdint.h>

enum { EMULATE_OPERATIONS = 14 };

typedef struct emulate_args {
    const uint32_t *in; /* 256 words */
    uint64_t *out;
    uint32_t *counter;
    int32_t rounds, garbage;
} emulate_args;

#endif
