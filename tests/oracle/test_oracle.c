/*
 * test_oracle.c - the oracle itself, against what it does not use: fma(), long division by hand, two product
 * routes.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "check.h"
#include "dyadic.h"
#include "oracle.h"
#include "rng.h"

/* A finite double or float value with any exponent, many of them near the ends of the range. */
static double random_finite(struct rng *r, int single)
{
    int emin = single ? -149 : -1074, span = single ? 276 : 2097, precision = single ? 24 : 53;
    int e = emin + (int)rng_below(r, rng_below(r, 2) ? (uint64_t)(span - precision + 1) : 60);
    double x = ldexp((double)(rng_next(r) >> (64 - rng_below(r, (uint64_t)precision) - 1)), e);

    return rng_next(r) & 1 ? -x : x;
}

static void same_bits(double x, double y)
{
    uint64_t a, b;

    memcpy(&a, &x, sizeof a);
    memcpy(&b, &y, sizeof b);
    assert_int_equal(a, b);
}

/* MPFR's rounding and the one by hand, on random numbers and on exact ties of every kind. */
static void rounding(void **state)
{
    struct rng r = {1};
    struct ext x;

    (void)state;
    ext_init(&x);
    for (int n = 0; n < 60000; n++) {
        int single = n & 1;

        mpz_set_ui(x.z, (unsigned long)rng_next(&r));
        mpz_mul_2exp(x.z, x.z, rng_below(&r, 80));
        if (rng_below(&r, 2) == 0)
            mpz_add_ui(x.z, x.z, (unsigned long)rng_below(&r, 2));
        if (rng_below(&r, 2) == 0)
            mpz_fdiv_q_2exp(x.z, x.z, rng_below(&r, 140));
        if (rng_below(&r, 2) == 0)
            mpz_neg(x.z, x.z);
        x.e = single ? rng_between(&r, -220, 130) : rng_between(&r, -1150, 1030);
        same_bits(ext_round(&x, single), ext_round_by_hand(&x, single));
    }
    ext_clear(&x);
}

/* One term of full width is a fused multiply-add: RN(a b + beta c), beta 1. Zeros are +0 in the oracle. */
static void fused_multiply_add(void **state)
{
    struct rng r = {2};

    (void)state;
    for (int n = 0; n < 40000; n++) {
        double a = random_finite(&r, 0), b = random_finite(&r, 0), c = random_finite(&r, 0), d = c, want;
        float fa, fb, fc, fd, fwant;
        struct gemm g = {'d', 'N', 'N', 1, 1, 1, {1, 0}, {1, 0}, &a, 1, &b, 1, &d, 1};
        struct gemm f = {'s', 'N', 'N', 1, 1, 1, {1, 0}, {1, 0}, &fa, 1, &fb, 1, &fd, 1};

        if (rng_below(&r, 3) == 0) { /* near cancellation */
            c = -(a * b);
            if (!isfinite(c))
                c = 0;
            d = c;
        }
        want = fma(a, b, c);
        oracle_gemm(&g, 53, &d);
        same_bits(d, want == 0 && (a == 0 || b == 0) ? 0.0 : want);
        fa = (float)random_finite(&r, 1);
        fb = (float)random_finite(&r, 1);
        fd = fc = (float)random_finite(&r, 1);
        fwant = fmaf(fa, fb, fc);
        oracle_gemm(&f, 24, &fd);
        same_bits((double)fd, fwant == 0 && (fa == 0 || fb == 0) ? 0.0 : (double)fwant);
    }
}

/* Inf, NaN and zeros in k = 1 products agree with the hardware; so do two-term sums. */
static void special_values(void **state)
{
    const double set[] = {0.0, -0.0, 1, -2, HUGE_VAL, -HUGE_VAL, quiet_nan()};
    double a[2], b[2], c, want;
    struct gemm g = {'d', 'N', 'N', 1, 1, 2, {1, 0}, {0, 0}, a, 1, b, 2, &c, 1};

    (void)state;
    for (int n = 0; n < 7 * 7 * 7 * 7; n++) {
        a[0] = set[n % 7];
        b[0] = set[n / 7 % 7];
        a[1] = set[n / 49 % 7];
        b[1] = set[n / 343];
        c = 5;
        want = a[0] * b[0] + a[1] * b[1];
        oracle_gemm(&g, 53, &c);
        same_bits(c, isnan(want) ? quiet_nan() : want == 0 ? 0.0 : want);
    }
}

/* Values worked out by hand: ties, half of the smallest number, overflow by half a unit. */
static void known_roundings(void **state)
{
    const struct {
        double a, b, c, want;
    } table[] = {
        {0x1p53, 1, 1, 0x1p53},
        {0x1p53, 1, 3, 0x1p53 + 4},
        {0x1p-540, 0x1p-535, 0, 0.0},
        {-0x1p-540, 0x1p-535, 0, -0.0},
        {3 * 0x1p-540, 0x1p-535, 0, 0x1p-1073},
        {0x1p-540, 0x1p-535, 0x1p-1074, 0x1p-1073},
        {0x1p970, 1, 0x1.fffffffffffffp1023, HUGE_VAL},
        {0x1.fffffffffffffp969, 1, 0x1.fffffffffffffp1023, 0x1.fffffffffffffp1023},
        {0x1p600, 0x1p600, -HUGE_VAL, -HUGE_VAL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        double c = table[i].c;
        struct gemm g = {'d', 'N', 'N', 1, 1, 1, {1, 0}, {1, 0}, &table[i].a, 1, &table[i].b, 1, &c, 1};

        oracle_gemm(&g, 53, &c);
        same_bits(c, table[i].want);
    }
}

/* Rounding of entries to t bits: ties to even, |a^| = 2^t reached, exponents of the largest entry. */
static void known_widths(void **state)
{
    const double a[] = {1 - 0x1p-53, 0.5 + 0x1p-5, 0.5 + 0x1p-4, -0x1p-5};
    const double want[] = {16, 8, 9,
                           0}; /* t = 4, D = 4 - 0: 8.5 -> 8, 9 -> 9, -0.5 -> 0; the first rounds up to 2^4 */
    double c[4] = {7, 7, 7, 7}, b = 1;
    struct gemm g = {'d', 'N', 'N', 4, 1, 1, {1, 0}, {0, 0}, a, 4, &b, 1, c, 4};
    struct gemm t = {'d', 'N', 'N', 1, 4, 1, {1, 0}, {0, 0}, &b, 1, c, 1, c, 1};
    double row[4] = {7, 7, 7, 7};

    (void)state;
    g.transa = 'T'; /* one row of four: all share D */
    g.m = 1;
    g.k = 4;
    for (int p = 0; p < 4; p++) {
        double unit[4] = {0, 0, 0, 0};

        unit[p] = 1;
        g.b = unit;
        g.ldb = 4;
        c[0] = 7;
        oracle_gemm(&g, 4, c);
        same_bits(c[0], want[p] / 16);
    }
    t.b = a; /* four columns of one entry: each has its own E, so that 0.53125 = 8.5 / 16 is a tie again */
    t.c = row;
    oracle_gemm(&t, 4, row);
    same_bits(row[0], 1);
    same_bits(row[1], 0.5);
    same_bits(row[2], 0.5 + 0x1p-4);
    same_bits(row[3], -0x1p-5);
}

/* The two routes to the exact product, GMP and FLINT, on the same problem cut into pieces of k. */
static void two_routes(void **state)
{
    static const char type[] = {'d', 'z'};
    struct rng r = {3};
    struct arena arena;

    (void)state;
    arena_open(&arena, 1 << 20);
    for (int n = 0; n < 4; n++) {
        struct gemm g = {type[n & 1], 'T', 'C', 30, 30, 30, {1, 0}, {0, 0}, NULL, 0, NULL, 0, NULL, 0}, part;
        int parts = type_parts(g.type);
        void *whole, *piece;

        gemm_layout(&g, &arena, (struct padding){1, 0, 2}, 1);
        gemm_fill(&g, &r, FAMILY_INTEGERS, FAMILY_INTEGERS, FAMILY_SMALL);
        whole = gemm_image(&g);
        piece = gemm_image(&g);
        oracle_gemm(&g, 60, whole); /* 27000 terms: FLINT */
        part = g;
        part.k = 15; /* 13500 terms: GMP */
        oracle_gemm(&part, 60, piece);
        part.a = (const char *)g.a + 15 * type_bytes(g.type);
        part.b = (const char *)g.b + 15 * (size_t)g.ldb * type_bytes(g.type);
        part.beta[0] = 1;
        oracle_gemm(&part, 60, piece);
        assert_true(gemm_same(&g, piece, whole, "two routes"));
        assert_int_equal(parts, n & 1 ? 2 : 1);
        free(whole);
        free(piece);
    }
    arena_close(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounding),       cmocka_unit_test(fused_multiply_add),
        cmocka_unit_test(special_values), cmocka_unit_test(known_roundings),
        cmocka_unit_test(known_widths),   cmocka_unit_test(two_routes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
