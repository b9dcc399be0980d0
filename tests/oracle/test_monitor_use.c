/*
 * test_monitor_use.c - ozg_monitor_?gemm(): which lines it takes, blocks of lines, wrong arguments, no room.
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

#include "errors.h"
#include "gemm.h"

static ozg_context *ctx;

static int open_all(void **state)
{
    ozg_config cfg;

    (void)state;
    ozg_config_init(&cfg);
    cfg.threads = 1; /* most products are tiny */
    return ozg_create(&ctx, &cfg) == OZG_OK ? 0 : -1;
}

static int close_all(void **state)
{
    (void)state;
    ozg_destroy(ctx);
    return 0;
}

/* ---- lines -------------------------------------------------------------------------------------- */

enum { SIDE = 6 };

/* Which rows and columns of a SIDE x SIDE product are checked: those where one wrong entry is seen. */
static void chosen_lines(int64_t lines, uint64_t seed, int rows[SIDE], int columns[SIDE])
{
    const double one[SIDE] = {1, 1, 1, 1, 1, 1};
    double c[SIDE * SIDE];
    int seen[SIDE][SIDE];

    for (int q = 0; q < SIDE * SIDE; q++) {
        ozg_monitor m;

        for (int i = 0; i < SIDE * SIDE; i++)
            c[i] = i == q ? 2 : 1;
        assert_int_equal(ozg_monitor_dgemm(ctx, 'N', 'N', SIDE, SIDE, 1, 1, one, SIDE, one, 1, 0, NULL, 0, c,
                                           SIDE, lines, seed, &m),
                         OZG_OK);
        assert_true(m.rows == lines && m.columns == lines);
        assert_int_equal(m.compared, lines * (2 * SIDE - lines));
        assert_true(m.compared - m.rounded <= 1 && (m.max_error == 1) == (m.rounded < m.compared));
        seen[q % SIDE][q / SIDE] = m.rounded < m.compared;
    }
    for (int i = 0; i < SIDE; i++) {
        rows[i] = columns[i] = 1;
        for (int j = 0; j < SIDE; j++) {
            rows[i] &= seen[i][j];
            columns[i] &= seen[j][i];
        }
    }
    for (int q = 0; q < SIDE * SIDE; q++)
        assert_int_equal(seen[q % SIDE][q / SIDE], rows[q % SIDE] | columns[q / SIDE]);
}

static int count_of(const int chosen[SIDE])
{
    int count = 0;

    for (int i = 0; i < SIDE; i++)
        count += chosen[i];
    return count;
}

/* Distinct lines, as many as asked for; the same for the same seed, and each of them about equally often. */
static void lines_by_seed(void **state)
{
    enum { SEEDS = 120 };
    int rows[SIDE], columns[SIDE], again[2][SIDE], total[2][SIDE] = {{0}};

    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        chosen_lines(2, seed, rows, columns);
        assert_true(count_of(rows) == 2 && count_of(columns) == 2);
        for (int i = 0; i < SIDE; i++) {
            total[0][i] += rows[i];
            total[1][i] += columns[i];
        }
        if (seed % 20)
            continue;
        chosen_lines(2, seed, again[0], again[1]);
        assert_memory_equal(rows, again[0], sizeof rows);
        assert_memory_equal(columns, again[1], sizeof columns);
    }
    for (int i = 0; i < SIDE; i++) /* 40 +- 5 */
        for (int side = 0; side < 2; side++)
            assert_true(total[side][i] > 20 && total[side][i] < 60);
    chosen_lines(5, UINT64_MAX, rows, columns);
    assert_true(count_of(rows) == 5 && count_of(columns) == 5);
}

/* More lines than a block holds on both sides, and lines so long that few make a block: integers. */
static void many_blocks(void **state)
{
    static const int64_t sizes[][3] = {{1100, 130, 3}, {70, 1030, 2}, {64, 3, 66000}};

    (void)state;
    for (int q = 0; q < 3; q++) {
        const int64_t m = sizes[q][0], n = sizes[q][1], k = sizes[q][2], all = m * n, few = 3 * (m + n) - 9;
        double *a = calloc((size_t)(m * k), sizeof *a), *b = calloc((size_t)(k * n), sizeof *b),
               *c = calloc((size_t)all, sizeof *c);
        ozg_monitor r;
        int64_t wrong = 0;

        assert_true(a != NULL && b != NULL && c != NULL);
        for (int64_t i = 0; i < m; i++)
            for (int64_t p = 0; p < k; p++)
                a[i + p * m] = (double)(i % 13 + 1) * (p % 2 ? -2 : 3);
        for (int64_t j = 0; j < n; j++)
            for (int64_t p = 0; p < k; p++)
                b[p + j * k] = (double)(j % 17 + 1);
        for (int64_t i = 0; i < all; i++) /* the sum of k times 3, -2 */
            c[i] = (double)((i % m % 13 + 1) * (i / m % 17 + 1)) * (double)((k + 1) / 2 * 3 - k / 2 * 2);
        assert_int_equal(
            ozg_monitor_dgemm(ctx, 'N', 'N', m, n, k, 1, a, m, b, k, 0, NULL, 0, c, m, all, 5, &r), OZG_OK);
        assert_true(r.compared == (uint64_t)all && r.rounded == r.compared && r.max_error == 0);
        for (int64_t i = 0; i < all; i += 37, wrong++)
            c[i] += i == 37 * (all / 74) ? 2 : 1;
        assert_int_equal(
            ozg_monitor_dgemm(ctx, 'N', 'N', m, n, k, 1, a, m, b, k, 0, NULL, 0, c, m, all, 5, &r), OZG_OK);
        assert_true(r.rounded == (uint64_t)(all - wrong) && r.max_error == 2);
        for (int64_t i = 0; i < all; i++)
            c[i] += 3;
        assert_int_equal(ozg_monitor_dgemm(ctx, 'N', 'N', m, n, k, 1, a, m, b, k, 0, NULL, 0, c, m, 3, 5, &r),
                         OZG_OK);
        assert_true(r.compared == (uint64_t)few && r.rounded == 0 && r.max_error >= 3);
        free(a);
        free(b);
        free(c);
    }
}

/* X is the largest number, but beta C0, and its distance from the last C, are beyond. */
static void overflow_on_the_way(void **state)
{
    const double most = 0x1.fffffffffffffp1023, unit = 0x1p971, one = 1, near = most - unit, far = -most;
    ozg_monitor r;

    (void)state;
    assert_int_equal(
        ozg_monitor_dgemm(ctx, 'N', 'N', 1, 1, 1, -most, &one, 1, &one, 1, 2, &most, 1, &most, 1, 1, 0, &r),
        OZG_OK);
    assert_true(r.rounded == 1 && r.max_error <= unit / 2 && r.max_ulp <= 0.5 && r.worst_grade <= 1);
    assert_int_equal(
        ozg_monitor_dgemm(ctx, 'N', 'N', 1, 1, 1, -most, &one, 1, &one, 1, 2, &most, 1, &near, 1, 1, 0, &r),
        OZG_OK);
    assert_true(r.rounded == 0 && r.special == 0);
    assert_true(r.max_error >= unit && r.max_error <= 1.5 * unit && r.max_ulp >= 1 && r.max_ulp <= 1.5);
    assert_true(r.worst_grade > 0.3 && r.worst_grade < 4);
    assert_int_equal(
        ozg_monitor_dgemm(ctx, 'N', 'N', 1, 1, 1, most, &one, 1, &one, 1, 0, NULL, 0, &far, 1, 1, 0, &r),
        OZG_OK);
    assert_true(r.rounded == 0 && r.special == 0 && isinf(r.max_error) && r.max_ulp > 0x1p53 &&
                r.worst_grade > 0x1p53);
}

/* C0 and C of different leading dimensions: X = 1 + C0. */
static void two_leading_dimensions(void **state)
{
    const double one[3] = {1, 1, 1}, c0[8] = {1, 2, 3, -7, -7, 4, 5, 6};
    const double c[7] = {2, 3, 4, -8, 5, 6, 7}; /* columns of 3 in 5 and in 4 */
    ozg_monitor r;

    (void)state;
    assert_int_equal(ozg_monitor_dgemm(ctx, 'N', 'N', 3, 2, 1, 1, one, 3, one, 1, 1, c0, 5, c, 4, 3, 0, &r),
                     OZG_OK);
    assert_true(r.compared == 6 && r.rounded == 6 && r.max_error == 0);
}

/* ---- arguments ---------------------------------------------------------------------------------- */

static double x[64];

static ozg_status monitor(ozg_context *of, const struct gemm *g, const double *c0, const double *c,
                          int64_t lines, ozg_monitor *result)
{
    return ozg_monitor_dgemm(of, g->transa, g->transb, g->m, g->n, g->k, g->alpha[0], g->a, g->lda, g->b,
                             g->ldb, g->beta[0], c0, g->ldc, c, g->ldc, lines, 0, result);
}

/* A call that fails, whose result is zeroed. */
static void refused(int number, const struct gemm *g, const double *c0, const double *c, int64_t lines)
{
    ozg_monitor r, zero;

    memset(&r, 0xFF, sizeof r);
    memset(&zero, 0, sizeof zero);
    expect_error(ctx, monitor(ctx, g, c0, c, lines, &r), OZG_E_ARG, number);
    assert_memory_equal(&r, &zero, sizeof r);
}

static void wrong_arguments(void **state)
{
    const struct gemm right = {'d', 'N', 'N', 3, 2, 4, {1, 0}, {1, 0}, x, 3, x + 12, 4, NULL, 3};
    const double *c0 = x + 20, *c = x + 26;
    const float *floats = (const float *)(const void *)x;
    struct gemm g;
    ozg_monitor r;

    (void)state;
    assert_int_equal(monitor(ctx, &right, c0, c, 1, &r), OZG_OK);
    assert_int_equal(monitor(ctx, &right, x, c, 1, &r), OZG_OK); /* C0 may be A */
#define REFUSED(number, change) (g = right, change, refused(number, &g, c0, c, 1))
    REFUSED(2, g.transa = 'X');
    REFUSED(3, g.transb = 0);
    REFUSED(4, g.m = -1);
    REFUSED(5, g.n = -1);
    REFUSED(6, g.k = -1);
    REFUSED(8, g.a = NULL);
    REFUSED(9, g.lda = 2);
    REFUSED(10, g.b = NULL);
    REFUSED(11, g.ldb = 3);
    REFUSED(16, g.ldc = 2);
#undef REFUSED
    refused(13, &right, NULL, c, 1);
    refused(15, &right, c0, NULL, 1);
    refused(15, &right, c0, x, 1);
    refused(17, &right, c0, c, 0);
    refused(17, &right, c0, c, -1);
    expect_error(ctx, monitor(ctx, &right, c0, c, 1, NULL), OZG_E_ARG, 19);
    expect_error(NULL, monitor(NULL, &right, c0, c, 1, &r), OZG_E_ARG, 1);
    expect_error(ctx,
                 ozg_monitor_dgemm(ctx, 'N', 'N', 3, 2, 4, 1, x, 3, x + 12, 4, 0, NULL, 0, c, 2, 1, 0, &r),
                 OZG_E_ARG, 16);
    assert_int_equal(
        ozg_monitor_dgemm(ctx, 'N', 'N', 3, 2, 4, 0, NULL, 3, NULL, 4, 0, NULL, 0, c, 3, 1, 0, &r), OZG_OK);
    expect_error(ctx, ozg_monitor_zgemm(ctx, 'N', 'N', 1, 1, 1, NULL, x, 1, x, 1, x, c0, 1, c, 1, 1, 0, &r),
                 OZG_E_ARG, 7);
    expect_error(ctx,
                 ozg_monitor_cgemm(ctx, 'N', 'N', 1, 1, 1, floats, floats, 1, floats, 1, NULL, NULL, 1,
                                   floats + 8, 1, 1, 0, &r),
                 OZG_E_ARG, 12);
}

/* No workspace, and lines that no memory holds: the result is zeroed. */
static void no_room(void **state)
{
    const struct gemm g = {'d', 'N', 'N', 3, 2, 4, {1, 0}, {0, 0}, x, 3, x + 12, 4, NULL, 3};
    const float *floats = (const float *)(const void *)x;
    const int64_t huge = INT64_C(1) << 50;
    ozg_config cfg;
    ozg_context *small;
    ozg_monitor r, zero;

    (void)state;
    memset(&zero, 0, sizeof zero);
    memset(&r, 0xFF, sizeof r);
    ozg_config_init(&cfg);
    cfg.memory_limit = 1;
    assert_int_equal(ozg_create(&small, &cfg), OZG_OK);
    expect_error(small, monitor(small, &g, NULL, x + 26, 1, &r), OZG_E_WORKSPACE, 0);
    assert_memory_equal(&r, &zero, sizeof r);
    ozg_destroy(small);
    memset(&r, 0xFF, sizeof r);
    expect_error(ctx,
                 ozg_monitor_sgemm(ctx, 'T', 'N', 1, 1, huge, 1, floats + 2, huge, floats + 2, huge, 0, NULL,
                                   0, floats, 1, 1, 0, &r),
                 OZG_E_NOMEM, 0);
    assert_memory_equal(&r, &zero, sizeof r);
}

/* The smallest numbers, correctly rounded: never beyond the grade 1. */
static void smallest_results(void **state)
{
    static const double cases[][4] = {/* a, b, beta, c0 */
                                      {1, 0, 1, 0x1p-1074},
                                      {0, 0, 0x1p-1074, 0x1p-537},
                                      {0x1p-600, 0x1p-600, 1, 0x1p-1074},
                                      {0x1p-500, 0x1p-600, 0x1p-74, 0x1.8p-1000}};

    (void)state;
    for (size_t q = 0; q < sizeof cases / sizeof *cases; q++) {
        const double *data = cases[q];
        double c = data[3];
        ozg_monitor m;

        assert_int_equal(ozg_dgemm(ctx, 'N', 'N', 1, 1, 1, 1, &data[0], 1, &data[1], 1, data[2], &c, 1,
                                   ozg_rounded(), NULL),
                         OZG_OK);
        assert_int_equal(ozg_monitor_dgemm(ctx, 'N', 'N', 1, 1, 1, 1, &data[0], 1, &data[1], 1, data[2],
                                           &data[3], 1, &c, 1, 1, 0, &m),
                         OZG_OK);
        assert_int_equal(m.rounded, m.compared);
        assert_true(m.worst_grade <= 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_by_seed),       cmocka_unit_test(many_blocks),
        cmocka_unit_test(overflow_on_the_way), cmocka_unit_test(two_leading_dimensions),
        cmocka_unit_test(wrong_arguments),     cmocka_unit_test(no_room),
        cmocka_unit_test(smallest_results),
    };

    return cmocka_run_group_tests(tests, open_all, close_all);
}
