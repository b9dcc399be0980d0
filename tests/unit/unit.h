/*
 * unit.h - what the white-box tests share: cmocka, random integers, and GMP integers from machine words.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TEST_UNIT_H
#define TEST_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <gmp.h>
#include <cmocka.h>

#include "rng.h"

static inline void mpz_set_u64(mpz_t z, uint64_t x)
{
    mpz_import(z, 1, -1, sizeof x, 0, 0, &x);
}

/* z = sum_i w[i] 2^(64 i) */
static inline void mpz_set_words(mpz_t z, const uint64_t *w, int n)
{
    mpz_import(z, (size_t)n, -1, sizeof *w, 0, 0, w);
}

/* z = sum_i w[i] 2^(16 i) for limbs below 2^16 */
static inline void mpz_set_limbs16(mpz_t z, const uint32_t *w, int n)
{
    mpz_import(z, (size_t)n, -1, sizeof *w, 0, 16, w);
}

/* The low 64 bits of z >= 0. */
static inline uint64_t mpz_low64(const mpz_t z)
{
    uint64_t x = 0;
    mpz_t low;

    mpz_init(low);
    mpz_fdiv_r_2exp(low, z, 64);
    mpz_export(&x, NULL, -1, sizeof x, 0, 0, low);
    mpz_clear(low);
    return x;
}

/* A random z with lo <= z <= hi. */
static inline void mpz_random_between(mpz_t z, struct rng *r, const mpz_t lo, const mpz_t hi)
{
    uint64_t w[8];
    mpz_t range;

    mpz_init(range);
    mpz_sub(range, hi, lo);
    mpz_add_ui(range, range, 1);
    for (int i = 0; i < 8; i++)
        w[i] = rng_next(r);
    mpz_set_words(z, w, 8);
    mpz_mod(z, z, range);
    mpz_add(z, z, lo);
    mpz_clear(range);
}

static inline double double_of_bits(uint64_t bits)
{
    double x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint64_t bits_of_double(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float float_of_bits(uint32_t bits)
{
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint32_t bits_of_float(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

#endif
