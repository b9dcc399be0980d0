/*
 * test_gemm_large.c - long k and larger shapes, bit for bit against FLINT, on every micro-kernel.
 * ctest: full
 *
 * The inner dimensions are those at which something in an implementation changes: 64 and 128 (unrolling),
 * 65536 and 131072 (signed 8-bit sums in 32 bits, chunks of k), 133144 (127^2 k < 2^31), 262144 and beyond
 * (several chunks).
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "check.h"

static const char types[] = {'s', 'd', 'c', 'z'};
static struct kernels kernels;

static int open_all(void **state)
{
    (void)state;
    return kernels_open(&kernels, 2) ? 0 : -1;
}

static int close_all(void **state)
{
    (void)state;
    kernels_close(&kernels);
    return 0;
}

/* One product in an arena of its own size. */
static void check(char type, const char trans[2], int64_t m, int64_t n, int64_t k, enum family f,
                  struct request request)
{
    struct gemm g = {type, trans[0], trans[1], m, n, k, {1, 0}, {0, 0}, NULL, 0, NULL, 0, NULL, 0};
    struct rng r = {(uint64_t)(k * 100 + m * 10 + n)};
    struct arena arena;
    int64_t largest = (m > n ? m : n) + 3;

    arena_open(&arena, (size_t)(largest > k + 3 ? largest : k + 3) * (size_t)largest * type_bytes(type));
    gemm_layout(&g, &arena, (struct padding){1, 0, 2}, (int)(k % 2));
    gemm_fill(&g, &r, f, f, FAMILY_UNIFORM);
    if (k % 3 == 0) {
        g.alpha[0] = scalar_value(type, 5); /* 1/3 */
        g.beta[0] = scalar_value(type, 8);  /* pi */
        g.beta[1] = type_is_complex(type) ? -0.5 : 0;
    }
    assert_true(gemm_check(&kernels, &g, request));
    arena_close(&arena);
}

static struct request moduli(int s)
{
    return (struct request){REQUEST_MODULI, s};
}

static void long_k(void **state)
{
    static const int64_t dims[] = {1,      2,      63,     64,     65,     66,     127,
                                   128,    129,    1000,   4096,   65535,  65536,  65537,
                                   131071, 131072, 131073, 133144, 133145, 262147, 300000};

    (void)state;
    for (size_t q = 0; q < sizeof dims / sizeof dims[0]; q++) {
        int64_t k = dims[q];

        check('d', k % 2 ? "NT" : "TN", 3, 2, k, FAMILY_UNIFORM, moduli(16 + (int)(q % 3)));
        check('z', k % 2 ? "CN" : "TC", 2, 1, k, FAMILY_UNIFORM, moduli(15 + (int)(q % 4)));
        check(q % 2 ? 's' : 'c', "NN", 2, 3, k, FAMILY_SPIKE, moduli(9));
    }
}

/* |c^| = k 2^2t, the largest that a width allows, for every s; k fills M/4 as far as a whole t can. */
static void largest_sums(void **state)
{
    static const int64_t dims[] = {1, 3, 65, 1000, 4095, 65536, 133145};

    (void)state;
    for (int s = 2; s <= 49; s++) {
        for (size_t q = s % 2; q < sizeof dims / sizeof dims[0]; q += 2) {
            check('d', "TN", 2, 2, dims[q], FAMILY_MAXIMA, moduli(s));
            if (s % 5 == 0 && dims[q] < 5000)
                check('z', "NT", 1, 2, dims[q], FAMILY_MAXIMA, moduli(s));
        }
    }
}

/* One modulus too few for this k: the width is below 1. */
static void too_long_k(void **state)
{
    (void)state;
    check('d', "NN", 1, 1, 4080, FAMILY_SMALL, moduli(2)); /* 4080 2^4 = 65280 = M: the last one with t = 1 */
    check('d', "NN", 1, 1, 4081, FAMILY_SMALL, moduli(2));
    check('z', "NN", 1, 1, 2041, FAMILY_SMALL, moduli(2));
    check('d', "NN", 2, 2, 65536, FAMILY_UNIFORM, moduli(2));
}

static void larger_shapes(void **state)
{
    static const enum family f[] = {FAMILY_UNIFORM, FAMILY_WIDE, FAMILY_SPIKE, FAMILY_BITS};

    (void)state;
    for (int q = 0; q < 4; q++) {
        check(types[q], "NN", 200, 150, 333, f[q], moduli(12 + 3 * q));
        check(types[q], "TC", 67, 131, 258, f[3 - q], moduli(20 - 3 * q));
    }
    check('d', "TN", 1, 700, 129, FAMILY_UNIFORM, moduli(18));
    check('d', "NT", 700, 1, 129, FAMILY_UNIFORM, moduli(18));
    check('z', "NC", 310, 5, 65, FAMILY_SPECIAL, moduli(30));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_k),
        cmocka_unit_test(largest_sums),
        cmocka_unit_test(too_long_k),
        cmocka_unit_test(larger_shapes),
    };

    return cmocka_run_group_tests(tests, open_all, close_all);
}
