/*
 * emulate_product.cpp - the reductions of the product kernels, one number after the other.
 *
 * SPDX-License-Identifier: MIT
 */
#include "emulate_product.h"
#include "cuda/product.cuh"

static void look(const emulate_reduce_args &a, int64_t x, uint32_t residue)
{
    const int64_t m = a.m.modulus, r = ((x % m) + m) % m, wanted = r > m / 2 ? r - m : r;

    if ((residue & 255) == ((uint32_t)wanted & 255))
        return;
    if ((*a.differ)++ == 0)
        *a.first_fail = x;
}

#define ENUMERATE(kernel, function)                                                                          \
    OZG_KERNEL(kernel, emulate_reduce_args, 1, 1)                                                            \
    {                                                                                                        \
        for (int64_t x = a.from; x <= a.to; x += a.step) {                                                   \
            look(a, x, function(x, a.m));                                                                    \
            if (x < a.to)                                                                                    \
                look(a, x + 1, function(x + 1, a.m));                                                        \
        }                                                                                                    \
    }

static uint32_t of_class(int64_t v, const ozg_cuda_reduce &m)
{
    return ozg_cuda_reduce_class(0x4b000000u + (uint32_t)v, m);
}

static uint32_t by_bytes(int64_t x, const ozg_cuda_reduce &m)
{
    return ozg_cuda_reduce_bytes((int)x, m);
}

static uint32_t directly(int64_t x, const ozg_cuda_reduce &m)
{
    return ozg_cuda_reduce_direct((int)x, m);
}

ENUMERATE(emulate_reduce_class, of_class)
ENUMERATE(emulate_reduce_bytes, by_bytes)
ENUMERATE(emulate_reduce_direct, directly)
