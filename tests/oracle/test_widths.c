/*
 * test_widths.c - widths and numbers of moduli against GMP, and GMP against the printed tables of [Xe2].
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include <ozgemm.h>

#include "widths.h"

/* [Xe2] Table 2 as printed: s, log2 M to one decimal, t at k = 1024, 4096, 16384, 65536. */
static const struct {
    int s;
    double log2_product;
    int width[4];
} table2[] = {
    {4, 31.9, {9, 8, 7, 6}},       {6, 47.8, {17, 16, 15, 14}},   {8, 63.6, {25, 24, 23, 22}},
    {10, 79.3, {33, 32, 31, 30}},  {12, 94.9, {41, 40, 39, 38}},  {14, 110.4, {49, 48, 47, 46}},
    {16, 125.6, {56, 55, 54, 53}}, {18, 140.8, {64, 63, 62, 61}}, {20, 155.8, {71, 70, 69, 68}},
    {22, 170.6, {79, 78, 77, 76}}, {24, 185.2, {86, 85, 84, 83}},
};

/* [Xe2] Table 13: complex, k = 4096. */
static const int table13[][2] = {{12, 39}, {14, 47}, {16, 55}, {20, 70}, {24, 85}};

static double log2_of(mpz_srcptr x)
{
    long e;
    double f = mpz_get_d_2exp(&e, x);

    return (double)e + log2(f);
}

static void paper_tables(void **state)
{
    int entries = 0;

    (void)state;
    for (size_t i = 0; i < sizeof table2 / sizeof table2[0]; i++) {
        assert_true(fabs(log2_of(widths_product(table2[i].s)) - table2[i].log2_product) <= 0.05 + 1e-9);
        for (int q = 0; q < 4; q++, entries++) {
            int64_t k = INT64_C(1024) << (2 * q);

            assert_int_equal(widths_width('d', k, table2[i].s), table2[i].width[q]);
            assert_int_equal(ozg_width_of_moduli('d', k, table2[i].s), table2[i].width[q]);
        }
    }
    assert_int_equal(entries, 44);
    for (size_t i = 0; i < sizeof table13 / sizeof table13[0]; i++) {
        assert_int_equal(widths_width('z', 4096, table13[i][0]), table13[i][1]);
        assert_int_equal(ozg_width_of_moduli('z', 4096, table13[i][0]), table13[i][1]);
    }
    assert_true(fabs(log2_of(widths_product(49)) - 344.13) < 0.005);
    assert_int_equal(widths_width('d', 1, 49), 171);
    assert_int_equal(widths_width('d', 16384, 2), -1); /* 65280 < 2^14 2^2 */
}

/* The product for small s by trying all sets. */
static void products_by_search(void **state)
{
    unsigned long best2 = 0, best3 = 0;
    mpz_t g;

    (void)state;
    mpz_init(g);
    for (unsigned long a = 256; a >= 200; a--) {
        for (unsigned long b = a - 1; b >= 199; b--) {
            mpz_set_ui(g, a);
            if (mpz_gcd_ui(NULL, g, b) != 1)
                continue;
            best2 = a * b > best2 ? a * b : best2;
            mpz_set_ui(g, a * b);
            for (unsigned long c = b - 1; c >= 198; c--) {
                if (mpz_gcd_ui(NULL, g, c) == 1 && a * b * c > best3)
                    best3 = a * b * c;
            }
        }
    }
    mpz_clear(g);
    assert_int_equal(mpz_get_ui(widths_product(2)), best2);
    assert_int_equal(mpz_get_ui(widths_product(3)), best3);
}

/* Every s, every type, inner dimensions on both sides of powers of two. */
static void library_widths(void **state)
{
    static const char type[] = {'s', 'd', 'c', 'z'};
    static const int64_t dims[] = {0,
                                   1,
                                   2,
                                   3,
                                   7,
                                   1023,
                                   1024,
                                   1025,
                                   4095,
                                   4096,
                                   4097,
                                   65535,
                                   65536,
                                   65537,
                                   300000,
                                   1048576,
                                   INT64_C(1) << 40};

    (void)state;
    for (int s = -1; s <= 55; s++) {
        for (int y = 0; y < 4; y++) {
            for (size_t q = 0; q < sizeof dims / sizeof dims[0]; q++) {
                int width = s < 2 || s > 49 ? 0 : widths_width(type[y], dims[q], s);

                assert_int_equal(ozg_width_of_moduli(type[y], dims[q], s), width < 1 ? 0 : width);
            }
        }
    }
}

/* k at the exact edge: the largest k with width t, and the next one. */
static void library_width_edges(void **state)
{
    mpz_t k;

    (void)state;
    mpz_init(k);
    for (int s = 2; s <= 49; s++) {
        for (int t = 1; t <= 171; t++) {
            mpz_fdiv_q_2exp(k, widths_product(s), (mp_bitcnt_t)(2 * t + 2)); /* floor(M / 2^(2t+2)) */
            if (mpz_cmp_ui(k, 1) < 0 || mpz_cmp_ui(k, UINT64_C(1) << 60) > 0)
                continue;
            assert_int_equal(ozg_width_of_moduli('d', (int64_t)mpz_get_ui(k), s), t);
            assert_true(ozg_width_of_moduli('d', (int64_t)mpz_get_ui(k) + 1, s) < t);
            assert_int_equal(ozg_width_of_moduli('z', (int64_t)mpz_get_ui(k) / 2, s),
                             mpz_cmp_ui(k, 1) > 0          ? t
                             : widths_width('z', 0, s) < 1 ? 0
                                                           : widths_width('z', 0, s));
        }
    }
    mpz_clear(k);
}

static void moduli_for_bits(void **state)
{
    static const char type[] = {'s', 'd', 'c', 'z'};
    static const int64_t dims[] = {0, 1, 17, 4096, 65536, 300000};

    (void)state;
    for (int y = 0; y < 4; y++) {
        for (size_t q = 0; q < sizeof dims / sizeof dims[0]; q++) {
            for (int bits = 1; bits <= 180; bits++)
                assert_int_equal(ozg_moduli_for_bits(type[y], dims[q], bits),
                                 widths_moduli_for_bits(type[y], dims[q], bits));
        }
    }
    assert_int_equal(ozg_moduli_for_bits('x', 10, 53), 0);
    assert_int_equal(ozg_moduli_for_bits('d', -1, 53), 0);
    assert_int_equal(ozg_moduli_for_bits('d', 10, 0), 0);
    assert_int_equal(ozg_moduli_for_bits('d', 10, -5), 0);
    assert_int_equal(ozg_moduli_for_bits('d', 1, INT32_MAX), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paper_tables),    cmocka_unit_test(products_by_search),
        cmocka_unit_test(library_widths),  cmocka_unit_test(library_width_edges),
        cmocka_unit_test(moduli_for_bits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
