/*
 * emulate_halves.h - the argument of the kernel in emulate_halves.cpp, which takes residues of planes to
 * those of Re and Im.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TEST_CUDA_EMULATE_HALVES_H
#define OZG_TEST_CUDA_EMULATE_HALVES_H

#include "cuda/table.h"

typedef struct emulate_halves_args {
    const ozg_cuda_table *table;
    int32_t g;         /* moduli 4 g .. 4 g + 3 */
    int64_t *differ;   /* how many are not right */
    int32_t *first[4]; /* of the first of them: l and the residues of the planes */
} emulate_halves_args;

#endif
