/*
 * split_table.c - the constants that take x^ to its residue (split_table.h).
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "cuda/split_table.h"

/* 2^bits mod m */
static uint32_t power_of_two(int bits, uint32_t m)
{
    uint32_t x = 1 % m;

    while (bits-- > 0)
        x = 2 * x % m;
    return x;
}

/* Signed residues of 2^from 256^b, b = 0 .. 3, in bytes. */
static uint32_t powers_from(int from, uint32_t m)
{
    uint32_t bytes = 0, r = power_of_two(from, m);

    for (int b = 0; b < 4; b++, r = 256 * r % m) {
        const uint32_t symmetric = r > m / 2 ? r - m : r;

        bytes |= (symmetric & 0xff) << 8 * b;
    }
    return bytes;
}

/* What X is more than x^, mod m. */
static uint32_t bias_of(int form, uint32_t m)
{
    static const int words[] = {1, 2, 3, OZG_CUDA_SPLIT_WORDS};
    uint32_t bias = 0;

    if (form < OZG_CUDA_SPLIT_2_LIMBS)
        return power_of_two(32 * words[form] - 1, m);
    for (int i = 0; i < 2 + form - OZG_CUDA_SPLIT_2_LIMBS; i++)
        bias += power_of_two(OZG_CUDA_SPLIT_LIMB_BITS * i + 31, m);
    return bias % m;
}

void ozg_cuda_split_modulus_build(ozg_cuda_split_modulus *t, uint32_t m, uint32_t j)
{
    const uint32_t h = (m - 1) / 2, half = (uint32_t)((UINT64_C(1) << 31) / m);

    memset(t, 0, sizeof *t);
    for (int i = 0; i < OZG_CUDA_SPLIT_WORDS; i++)
        t->power[i] = powers_from(32 * i, m);
    for (int i = 0; i < OZG_CUDA_SPLIT_LIMBS; i++)
        t->limb[i] = powers_from(OZG_CUDA_SPLIT_LIMB_BITS * i, m);
    if (m == 256) {
        t->ratio = UINT32_C(1) << 24;
        t->times = 255 << 8;
        t->add = 65280;
        return;
    }
    t->ratio = (uint32_t)(((UINT64_C(1) << 32) + m / 2) / m);
    t->times = m << 8;
    t->add = (256 - h) << 16;
    t->both = h * t->ratio + half;
    t->root = (uint32_t)((((uint64_t)j << 32) + m / 2) / m);
    for (int form = 0; form < OZG_CUDA_SPLIT_FORMS; form++) {
        const uint32_t bias = bias_of(form, m);

        t->offset[form] = (h + m - bias) % m * t->ratio + half;
        t->start[form] = (uint8_t)(j ? (m - bias) % m : 0);
    }
}
