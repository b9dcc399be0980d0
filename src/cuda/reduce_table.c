/*
 * reduce_table.c - the constants of the reduction of sums, by the conditions of reduce_table.h.
 *
 * That they are right for every sum is enumerated by tests/cuda/test_product.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>

#include "cuda/reduce_table.h"

/* The residue of x mod m of least size. */
static int32_t symmetric(uint32_t x, uint32_t m)
{
    const int32_t r = (int32_t)(x % m);

    return r > (int32_t)(m / 2) ? r - (int32_t)m : r;
}

/* The largest k with k h^2 <= 2^24 and k h^2 |I m - 1| < 1/2, in exact doubles. */
static int32_t direct_limit(float inverse, uint32_t m)
{
    const double error = (double)inverse * (double)m - 1; /* 24 + 8 bits */
    const double size = error < 0 ? -error : error;
    const int32_t square = (int32_t)((m - 1) / 2 * ((m - 1) / 2));
    int32_t k = (1 << 24) / square;

    if (m == 256)
        return INT32_MAX;
    while ((double)k * (double)square * size >= 0.5)
        k--;
    return k;
}

void ozg_cuda_reduce_build(ozg_cuda_reduce *t, uint32_t m)
{
    const uint32_t n = ((UINT32_C(1) << 25) / m + 1) / 2; /* RN(2^24 / m) */
    int32_t least = 0, start;
    uint32_t power = 1;

    assert(m == 256 || (m % 2 && m >= 3 && m <= 255));
    t->powers = 0;
    for (int i = 0; i < 4; i++) {
        const int32_t c = symmetric(power, m);

        t->powers |= (uint32_t)(c & 255) << 8 * i;
        least += c < 0 ? 255 * c : 0;
        power = power * 256 % m;
    }
    /* C: at least -least, and of the class of -2^31 */
    start = (int32_t)(m - (UINT32_C(1) << 31) % m) % (int32_t)m;
    start += (-least + (int32_t)m - 1) / (int32_t)m * (int32_t)m;
    t->start = UINT32_C(0x4b000000) + (uint32_t)start;
    t->scale = (float)n / (float)(1 << 24);
    t->bias = (float)((1 << 23) + (1 << 14) - 256) - (float)n / 2;
    t->inverse = 1 / (float)m;
    t->modulus = m;
    t->direct = direct_limit(t->inverse, m);
    t->reserved = 0;
}
