/*
 * test_field_long.c - failure cases from the field that need long sums: C13 and C15.
 * ctest: full
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

enum { ROWS = 400, COLUMNS = 120 };

/* Lower Cholesky factor of s in place; 0 if it is not positive definite. */
static int cholesky(double *s)
{
    for (int j = 0; j < COLUMNS; j++) {
        for (int p = 0; p < j; p++) {
            for (int i = j; i < COLUMNS; i++)
                s[i + j * COLUMNS] -= s[i + p * COLUMNS] * s[j + p * COLUMNS];
        }
        if (!(s[j + j * COLUMNS] > 0))
            return 0;
        for (int i = COLUMNS - 1; i >= j; i--)
            s[i + j * COLUMNS] /= sqrt(s[j + j * COLUMNS]);
    }
    return 1;
}

/* S = X^T X is symmetric, the same on all kernels, and positive definite with a small factor residual. */
static void c13_cholesky_of_cross_product(void **state)
{
    static double x[ROWS * COLUMNS], s[COLUMNS * COLUMNS], first[COLUMNS * COLUMNS],
        factor[COLUMNS * COLUMNS];
    const struct view v = {'d', 'N', x, ROWS};
    struct rng r = {13};
    double worst = 0;

    (void)state;
    family_fill(FAMILY_UNIFORM, &r, &v, 'A', ROWS, COLUMNS, x);
    for (int q = 0; q < kernels.count; q++) {
        assert_int_equal(ozg_dgemm(kernels.ctx[q], 'T', 'N', COLUMNS, COLUMNS, ROWS, 1, x, ROWS, x, ROWS, 0,
                                   s, COLUMNS, ozg_moduli(16), NULL),
                         OZG_OK);
        if (q == 0)
            memcpy(first, s, sizeof s);
        assert_memory_equal(s, first, sizeof s);
    }
    memcpy(factor, s, sizeof s);
    assert_true(cholesky(factor));
    for (int i = 0; i < COLUMNS; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = 0;

            for (int p = 0; p <= j; p++)
                sum += factor[i + p * COLUMNS] * factor[j + p * COLUMNS];
            assert_memory_equal(&s[i + j * COLUMNS], &s[j + i * COLUMNS], sizeof *s);
            worst =
                fmax(worst, fabs(sum - s[i + j * COLUMNS]) / sqrt(s[i + i * COLUMNS] * s[j + j * COLUMNS]));
        }
    }
    assert_true(worst <= COLUMNS * 0x1p-53); /* Cauchy-Schwarz and COLUMNS roundings */
}

/* sum := sum + x y z, exactly */
static void add_product(struct ext *sum, double x, double y, double z)
{
    struct ext product, factor;

    ext_init(&product);
    ext_init(&factor);
    ext_set_double(&product, x);
    ext_set_double(&factor, y);
    ext_mul(&product, &factor);
    ext_set_double(&factor, z);
    ext_mul(&product, &factor);
    ext_add(sum, &product);
    ext_clear(&product);
    ext_clear(&factor);
}

/* Rows (first, rest, rest, ...) and constant columns; a first entry above the rest keeps -1 as the integer
 * -1. */
static const struct constants {
    double first, rest, column;
    int width;
} constants[] = {
    {127, 127, 127, 9},       {-128, -128, -128, 9},
    {127.5, 127.5, 127.5, 9}, {1 - 0x1p-53, 1 - 0x1p-53, 1 - 0x1p-53, 53},
    {127, -1, 127, 7}, /* residues m - 1 and 127, where those of A are not negative */
    {-128, -1, -128, 8},
};
enum { CONSTANTS = sizeof constants / sizeof constants[0] };

/* The exact sum, rounded once, at every k where 8-bit sums, chunks or formulas of bits could break. */
static void c15_constant_matrices(void **state)
{
    static const int64_t dims[] = {0,      1,      65535,  65536,  65537,  131071,
                                   131072, 131073, 133144, 133145, 262147, 1048576};
    struct ext exact;

    (void)state;
    ext_init(&exact);
    for (size_t q = 0; q < CONSTANTS * sizeof dims / sizeof dims[0]; q++) {
        const struct constants *v = &constants[q % CONSTANTS];
        const int64_t k = dims[q / CONSTANTS], ld = k > 1 ? k : 1;
        double *x = malloc(4 * (size_t)ld * sizeof *x), *y = x + 2 * ld, want;

        assert_non_null(x);
        for (int64_t i = 0; i < 2 * k; i++) {
            x[i] = i % k == 0 ? v->first : v->rest;
            y[i] = v->column;
        }
        ext_set_double(&exact, 0);
        if (k > 0) {
            add_product(&exact, 1, v->first, v->column);
            add_product(&exact, (double)(k - 1), v->rest, v->column);
        }
        want = ext_round(&exact, 0);
        for (int kernel = 0; kernel < kernels.count; kernel++) {
            double c[4] = {7, 7, 7, 7};

            assert_int_equal(ozg_dgemm(kernels.ctx[kernel], 'T', 'N', 2, 2, k, 1, x, ld, y, ld, 0, c, 2,
                                       ozg_width(v->width), NULL),
                             OZG_OK);
            for (int i = 0; i < 4; i++)
                assert_memory_equal(&c[i], &want, sizeof want);
        }
        free(x);
    }
    ext_clear(&exact);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c13_cholesky_of_cross_product),
        cmocka_unit_test(c15_constant_matrices),
    };

    return cmocka_run_group_tests(tests, open_all, close_all);
}
