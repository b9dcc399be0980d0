/*
 * rng.c - splitmix64: a counter and a mixing function.
 *
 * SPDX-License-Identifier: MIT
 */
#include "rng.h"

uint64_t rng_next(struct rng *r)
{
    uint64_t x = r->state += UINT64_C(0x9E3779B97F4A7C15);

    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

uint64_t rng_below(struct rng *r, uint64_t n)
{
    return rng_next(r) % n;
}

int64_t rng_between(struct rng *r, int64_t lo, int64_t hi)
{
    return lo + (int64_t)rng_below(r, (uint64_t)(hi - lo) + 1);
}
