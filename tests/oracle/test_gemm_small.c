/*
 * test_gemm_small.c - products up to 20 x 20 x 20 of every kind, on every micro-kernel, bit for bit against
 * the oracle.
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "check.h"
#include "fixture.h"

static const char types[] = {'s', 'd', 'c', 'z'};

static int open_all(void **state)
{
    (void)state;
    return fixture_open(16 << 10, 1);
}

/* All types and transposes (36 with the case of the letters) on two shapes, at s = 2 .. 49 in turn. */
static void every_transpose(void **state)
{
    static const char trans[] = "NTCntc";
    struct rng r = {11};
    int s = 2;

    (void)state;
    for (int n = 0; n < 4 * 36 * 4; n++) {
        struct gemm g = {types[n % 4],
                         trans[n / 4 % 6],
                         trans[n / 24 % 6],
                         5,
                         3,
                         7,
                         {1, 0},
                         {0, 0},
                         NULL,
                         0,
                         NULL,
                         0,
                         NULL,
                         0};

        if (n / 144 % 2 == 1) {
            g.m = 9;
            g.n = 17;
            g.k = 4;
        }
        gemm_random_scalars(&g, &r);
        gemm_layout(&g, &arena, (struct padding){n % 3, n / 3 % 3, n % 2}, n / 288);
        gemm_fill(&g, &r, FAMILY_UNIFORM, FAMILY_UNIFORM, FAMILY_UNIFORM);
        assert_true(gemm_check(&kernels, &g, (struct request){REQUEST_MODULI, s}));
        s = s == 49 ? 2 : s + 1;
    }
}

/* Every pair of scalars from the hard set; complex ones in all four places. */
static void every_alpha_beta(void **state)
{
    struct rng r = {12};
    const int count = scalar_count();

    (void)state;
    for (int n = 0; n < 4 * count * count; n++) {
        struct gemm g = {types[n % 4], 'N', 'T', 3, 2, 3, {1, 0}, {0, 0}, NULL, 0, NULL, 0, NULL, 0};
        enum family f = (enum family)(n / 4 % FAMILY_COUNT);

        g.alpha[0] = scalar_value(g.type, n / 4 % count);
        g.beta[0] = scalar_value(g.type, n / 4 / count);
        if (type_is_complex(g.type)) {
            g.alpha[1] = scalar_value(g.type, (n / 4 * 7 + 3) % count);
            g.beta[1] = scalar_value(g.type, (n / 4 * 5 + n / 4 / count) % count);
        }
        gemm_layout(&g, &arena, (struct padding){0, 1, 1}, 1);
        gemm_fill(&g, &r, f, f, f);
        assert_true(gemm_check(&kernels, &g, (struct request){REQUEST_MODULI, 16}));
    }
}

/* Every shape with sizes 0, 1, 2, 3, 8, 9 for real double, at the width that keeps the data exact and at a
 * small one. */
static void every_small_shape(void **state)
{
    static const int64_t size[] = {0, 1, 2, 3, 8, 9};
    struct rng r = {13};

    (void)state;
    for (int n = 0; n < 216; n++) {
        struct gemm g = {types[n % 4],
                         n & 4 ? 'T' : 'N',
                         n & 8 ? 'C' : 'N',
                         size[n % 6],
                         size[n / 6 % 6],
                         size[n / 36],
                         {1, 0},
                         {1, 0},
                         NULL,
                         0,
                         NULL,
                         0,
                         NULL,
                         0};

        gemm_layout(&g, &arena, (struct padding){n % 2, 0, n % 3}, n / 3 % 2);
        gemm_fill(&g, &r, FAMILY_UNIFORM, FAMILY_GRID, FAMILY_INTEGERS);
        assert_true(gemm_check(&kernels, &g, (struct request){REQUEST_WIDTH, n % 2 ? 60 : 9}));
    }
}

/* Every family against every other, in all types. */
static void every_pair_of_families(void **state)
{
    struct rng r = {14};

    (void)state;
    for (int n = 0; n < 4 * FAMILY_COUNT * FAMILY_COUNT; n++) {
        enum family fa = (enum family)(n / 4 % FAMILY_COUNT), fb = (enum family)(n / 4 / FAMILY_COUNT);
        struct gemm g = {types[n % 4], 'T', 'N',  4, 5,    6, {1, 0}, {(double)(n % 3) - 1, 0},
                         NULL,         0,   NULL, 0, NULL, 0};

        gemm_layout(&g, &arena, (struct padding){1, 0, 1}, n % 2);
        gemm_fill(&g, &r, fa, fb, fa);
        assert_true(gemm_check(&kernels, &g, (struct request){REQUEST_MODULI, n % 5 == 0 ? 24 : 17}));
    }
}

/* Widths around multiples of 21, the bits of a limb of the split: |a^| = 2^t is reached; up to 171, the last of all. */
static void limb_edges(void **state)
{
    static const enum family f[] = {FAMILY_MAXIMA, FAMILY_BITS, FAMILY_UNIFORM};
    struct rng r = {16};

    (void)state;
    for (int n = 0; n < 3 * 4 * 171; n++) {
        int width = n / 12 + 1;
        struct gemm g = {types[n % 4], 'N', 'T', 2, 3, 1 + n % 2, {1, 0}, {0, 0}, NULL, 0, NULL, 0, NULL, 0};

        if (width % 21 > 1 && width % 21 < 19 && width < 168)
            continue;
        gemm_layout(&g, &arena, (struct padding){0, 0, 0}, 1);
        gemm_fill(&g, &r, f[n / 4 % 3], f[n / 4 % 3], FAMILY_SMALL);
        assert_true(gemm_check(&kernels, &g, (struct request){REQUEST_WIDTH, width}));
    }
}

/* Everything at random. */
static void random_products(void **state)
{
    struct rng r = {15};

    (void)state;
    for (int n = 0; n < 2000; n++) {
        struct request request;
        struct gemm g;

        gemm_random(&g, &r, &arena, types[n % 4], 20, &request);
        assert_true(gemm_check(&kernels, &g, request));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_transpose),   cmocka_unit_test(every_alpha_beta),
        cmocka_unit_test(every_small_shape), cmocka_unit_test(every_pair_of_families),
        cmocka_unit_test(limb_edges),        cmocka_unit_test(random_products),
    };

    return cmocka_run_group_tests(tests, open_all, fixture_close);
}
