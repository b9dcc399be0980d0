/*
 * split_table.c - the constants that take x^ to its residue (split_table.h).
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "cuda/split_table.h"

static const int words_of[OZG_CUDA_SPLIT_FORMS] = {1, 2, 3, OZG_CUDA_SPLIT_WORDS};

/* 2^bits mod m */
static uint32_t power_of_two(int bits, uint32_t m)
{
    uint32_t x = 1 % m;

    while (bits-- > 0)
        x = 2 * x % m;
    return x;
}

/* Signed residues of 256^b, in bytes. */
static void set_powers(ozg_cuda_split_modulus *t, uint32_t m)
{
    uint32_t r = 1;

    for (int b = 0; b < 4 * OZG_CUDA_SPLIT_WORDS; b++, r = 256 * r % m) {
        const uint32_t symmetric = r > m / 2 ? r - m : r;

        t->power[b / 4] |= (symmetric & 0xff) << 8 * (b % 4);
    }
}

void ozg_cuda_split_modulus_build(ozg_cuda_split_modulus *t, uint32_t m, uint32_t j)
{
    const uint32_t h = (m - 1) / 2, half = (uint32_t)((UINT64_C(1) << 31) / m);

    memset(t, 0, sizeof *t);
    set_powers(t, m);
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
        const uint32_t bias = power_of_two(32 * words_of[form] - 1, m);

        t->offset[form] = (h + m - bias) % m * t->ratio + half;
        t->start |= (j ? (m - bias) % m : 0) << 8 * form;
    }
}
