/*
 * choose.c - what the host has to know of ozg_cuda_choose.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cuda/choose.h"
#include "scaling.h"

_Static_assert(offsetof(ozg_choose_memory, more) <= OZG_CUDA_CHOOSE_ZERO, "begin has to clear more");

size_t ozg_cuda_choose_bytes(char type, int64_t m, int64_t n, int64_t k)
{
    (void)type;
    return OZG_CHOOSE_ROOMS_AT + 2 * (size_t)k * sizeof(uint32_t) + (size_t)(m + n);
}

void ozg_cuda_choose_limits(ozg_cuda_limits *limits, uint64_t length)
{
    limits->least = ozg_scaling_least(length);
    for (int s = 0; s <= OZG_NMOD_MAX; s++) {
        const ozg_moduli_set *set = s < OZG_NMOD_MIN ? NULL : ozg_moduli_get(s);

        limits->bits[s] = set ? set->most_bits : 0;
        limits->top[s] = set ? set->most_top : 0;
    }
}
