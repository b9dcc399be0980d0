/*
 * rng.h - a deterministic generator of integers, the same on every machine.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TEST_RNG_H
#define TEST_RNG_H

#include <stdint.h>

struct rng {
    uint64_t state;
};

/* rng_next() - 64 random bits (splitmix64). */
uint64_t rng_next(struct rng *r);

/* rng_below() - an integer in 0..n-1; n >= 1. */
uint64_t rng_below(struct rng *r, uint64_t n);

/* rng_between() - an integer in lo..hi. */
int64_t rng_between(struct rng *r, int64_t lo, int64_t hi);

#endif
