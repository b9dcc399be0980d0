/*
 * root.h - the root of -1 by which complex products go by 2M, found by trial: ozg_moduli_root() is what is tested.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TEST_CUDA_ROOT_H
#define OZG_TEST_CUDA_ROOT_H

/* The least; there is one if all primes of m are 1 mod 4. */
static inline int root_of(int m)
{
    int j = 1;

    while ((j * j + 1) % m != 0)
        j++;
    return j;
}

#endif
