/*
 * test_field_use.c - failure cases from the field about operands and their neighbours: C11, C12, C18, C29.
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
    return kernels_open(&kernels, 1) ? 0 : -1;
}

static int close_all(void **state)
{
    (void)state;
    kernels_close(&kernels);
    return 0;
}

static double *matrix(struct rng *r, enum family f, int64_t rows, int64_t cols)
{
    double *x = malloc((size_t)(rows * cols) * sizeof *x);
    const struct view v = {'d', 'N', x, rows};

    assert_non_null(x);
    family_fill(f, r, &v, 'A', rows, cols, x);
    return x;
}

/* Output on an input is refused and changes nothing; one matrix as both inputs is right. */
static void c11_in_place(void **state)
{
    static const int64_t sizes[] = {4, 50, 131};
    struct rng r = {11};

    (void)state;
    for (int q = 0; q < 3; q++) {
        int64_t n = sizes[q];
        double *a = matrix(&r, FAMILY_UNIFORM, n, 2 * n), *b = matrix(&r, FAMILY_UNIFORM, n, n);
        double *copy = malloc((size_t)(2 * n * n) * sizeof *copy), *c = malloc((size_t)(n * n) * sizeof *c);
        struct gemm g = {'d', 'N', 'T', n, n, n, {1, 0}, {0, 0}, a, n, a, n, c, n};
        ozg_context *ctx = kernels.ctx[q % kernels.count];

        assert_non_null(copy);
        assert_non_null(c);
        memcpy(copy, a, (size_t)(2 * n * n) * sizeof *copy);
        memset(c, 0, (size_t)(n * n) * sizeof *c);
        for (int where = 0; where < 3; where++) { /* C = A, C = B, C over the second half of A */
            double *out = where == 2 ? a + n * n / 2 : a;

            assert_int_equal(ozg_dgemm(ctx, 'N', 'N', n, n, n, 1, where == 1 ? b : a, n, where == 1 ? a : b,
                                       n, 0, out, n, ozg_moduli(15), NULL),
                             OZG_E_ARG);
            assert_memory_equal(a, copy, (size_t)(2 * n * n) * sizeof *copy);
        }
        assert_true(gemm_check(&kernels, &g, (struct request){REQUEST_MODULI, 15}));
        free(a);
        free(b);
        free(c);
        free(copy);
    }
}

/* A A^T from one buffer and A (2 A)^T from a copy: bitwise symmetric, on every kernel and thread count. */
static void c12_symmetry(void **state)
{
    struct rng r = {12};

    (void)state;
    for (int q = 0; q < 8; q++) {
        int64_t m = q & 1 ? 57 : 5, k = q & 1 ? 1000 : 11, ld = m + (q & 2);
        double *a = matrix(&r, FAMILY_UNIFORM, ld, k), *twice = malloc((size_t)(ld * k) * sizeof *twice);
        double *c = malloc((size_t)(m * m) * sizeof *c);
        ozg_config cfg;
        ozg_context *ctx;

        assert_non_null(twice);
        assert_non_null(c);
        for (int64_t i = 0; i < ld * k; i++) {
            a[i] = fabs(a[i]);
            twice[i] = 2 * a[i];
        }
        ozg_config_init(&cfg);
        cfg.threads = 1 + q % 3;
        cfg.kernel = kernels.name[q / 2 % kernels.count];
        assert_int_equal(ozg_create(&ctx, &cfg), OZG_OK);
        assert_int_equal(
            ozg_dgemm(ctx, 'N', 'T', m, m, k, 1, a, ld, q & 4 ? twice : a, ld, 0, c, m, ozg_moduli(14), NULL),
            OZG_OK);
        for (int64_t i = 0; i < m; i++) {
            assert_true(c[i + i * m] >= 0);
            for (int64_t j = 0; j < i; j++)
                assert_memory_equal(&c[i + j * m], &c[j + i * m], sizeof *c);
        }
        ozg_destroy(ctx);
        free(a);
        free(twice);
        free(c);
    }
}

enum { C18_M = 64, C18_K = 96, C18_N = 48, C18_MORE = 6 };

/* Row 0 (column 0) has the same bits whatever other rows (columns) are there: tiny, huge, NaN or none. */
static void c18_row_independence(void **state)
{
    struct rng r = {18};
    double *a = matrix(&r, FAMILY_UNIFORM, C18_M + C18_MORE, C18_K),
           *w = matrix(&r, FAMILY_UNIFORM, C18_K, C18_N);
    double *at = malloc(sizeof *at * (C18_M + C18_MORE) * C18_K),
           *c = malloc(sizeof *c * (C18_M + C18_MORE) * C18_N);
    double row0[C18_N], column0[C18_N], x;

    (void)state;
    assert_non_null(at);
    assert_non_null(c);
    for (int p = 0; p < C18_K; p++) {
        for (int q = 0; q < C18_MORE; q++) { /* the appended rows */
            x = q < 2 ? 1e300 : q < 4 ? 1e-300 : q == 4 ? quiet_nan() : HUGE_VAL;
            a[C18_M + q + p * (C18_M + C18_MORE)] *= x;
        }
        for (int i = 0; i < C18_M + C18_MORE; i++)
            at[p + i * C18_K] = a[i + p * (C18_M + C18_MORE)];
    }
    for (int kernel = 0; kernel < kernels.count; kernel++) {
        for (int m = 1; m <= C18_M + C18_MORE; m++) {
            assert_int_equal(ozg_dgemm(kernels.ctx[kernel], 'N', 'N', m, C18_N, C18_K, 1, a, C18_M + C18_MORE,
                                       w, C18_K, 0, c, m, ozg_moduli(14), NULL),
                             OZG_OK);
            for (int j = 0; j < C18_N; j++) {
                if (m == 1)
                    row0[j] = c[j];
                assert_memory_equal(&c[j * m], &row0[j], sizeof *c);
            }
            /* the transposed game: m columns of the transposed matrix behind W^T */
            assert_int_equal(ozg_dgemm(kernels.ctx[kernel], 'T', 'N', C18_N, m, C18_K, 1, w, C18_K, at, C18_K,
                                       0, c, C18_N, ozg_moduli(14), NULL),
                             OZG_OK);
            if (m == 1)
                memcpy(column0, c, sizeof column0);
            assert_memory_equal(c, column0, sizeof column0);
            assert_memory_equal(column0, row0, sizeof row0);
        }
    }
    free(a);
    free(w);
    free(at);
    free(c);
}

/* Nothing is remembered about a matrix by its address. */
static void c29_changed_operand(void **state)
{
    static double buffer[40 * 40], a[40 * 40], c[40 * 40];
    struct rng r = {29};
    const struct view va = {'d', 'N', a, 40};

    (void)state;
    family_fill(FAMILY_UNIFORM, &r, &va, 'A', 40, 40, a);
    for (int q = 0; q < 12; q++) {
        static const int64_t shape[][2] = {{40, 40}, {40, 40}, {30, 20}, {20, 30}, {7, 40}, {40, 7}};
        int64_t k = shape[q % 6][0], n = shape[q % 6][1];
        struct gemm g = {'d', 'N', 'N', 40, n, k, {1, 0}, {0, 0}, a, 40, buffer, k + q % 2 * (40 - k), c, 40};
        struct view vb = {'d', 'N', buffer, g.ldb};

        family_fill(q % 3 ? FAMILY_SPIKE : FAMILY_INTEGERS, &r, &vb, 'B', k, n,
                    buffer); /* new data, same address */
        assert_true(gemm_check(&kernels, &g, (struct request){REQUEST_MODULI, 15}));
        buffer[(size_t)rng_below(&r, (uint64_t)k)] *= -3; /* one entry changed in place */
        assert_true(gemm_check(&kernels, &g, (struct request){REQUEST_MODULI, 15}));
        a[(size_t)rng_below(&r, 1600)] += 1;
        assert_true(gemm_check(&kernels, &g, (struct request){REQUEST_MODULI, 15}));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c11_in_place),
        cmocka_unit_test(c12_symmetry),
        cmocka_unit_test(c18_row_independence),
        cmocka_unit_test(c29_changed_operand),
    };

    return cmocka_run_group_tests(tests, open_all, close_all);
}
