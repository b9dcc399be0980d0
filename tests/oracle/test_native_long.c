/*
 * test_native_long.c - native and rounded at k = 1024 and 4096: the promises, how many moduli they take, and
 * how far the bound of the report is above the true error.
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

#include "accuracy.h"
#include "fixture.h"

static const char types[] = {'s', 'd', 'c', 'z'};

enum { SIDE = 48, LONG = 4096 };

static int open_all(void **state)
{
    (void)state;
    return fixture_open((size_t)(SIDE + 2) * LONG * 16, 2);
}

static struct gemm make(char type, const char trans[2], int64_t m, int64_t n, int64_t k, enum family f, int q)
{
    struct gemm g = {type, trans[0], trans[1], m, n, k, {1, 0}, {0, 0}, NULL, 0, NULL, 0, NULL, 0};
    struct rng r = {(uint64_t)q + 700};

    accuracy_scalars(&g, q);
    gemm_layout(&g, &arena, (struct padding){q % 2, 0, 1}, 1);
    gemm_fill(&g, &r, f, f, f);
    return g;
}

/* Native and rounded on the fastest kernel and number q of the others: promises kept, the same bits. */
static void check(const struct gemm *g, int q)
{
    struct exact exact;
    ozg_report report;
    void *native, *expected;

    exact_open(&exact, g);
    expected = exact_image(&exact);
    native = accuracy_run(kernels.ctx[0], g, ozg_native(), &report, "native");
    assert_non_null(native);
    assert_true(native_holds(&exact, g->c, native, "native"));
    assert_true(report_holds(&exact, g->c, native, &report, "native"));
    for (int turn = 0; turn < (kernels.count > 1 ? 2 : 1); turn++) {
        const int kernel = turn ? 1 + q % (kernels.count - 1) : 0;

        assert_true(accuracy_same(kernels.ctx[kernel], g, ozg_native(), native, NULL, kernels.name[kernel]));
        assert_true(
            accuracy_same(kernels.ctx[kernel], g, ozg_rounded(), expected, &report, kernels.name[kernel]));
        assert_true(report_holds(&exact, g->c, expected, &report, "rounded"));
    }
    free(native);
    free(expected);
    exact_close(&exact);
}

/* Few rows and columns of every kind and type. */
static void long_sums(void **state)
{
    (void)state;
    for (int q = 0; q < 2 * FAMILY_END; q++) {
        for (int t = 0; t < 4; t++) {
            struct gemm g =
                make(types[t], q % 3 ? "TN" : "NC", 3, 2, q % 2 ? LONG : 1024, (enum family)(q / 2), q + t);

            check(&g, q);
        }
    }
}

/*
 * Lengths at which units of bounds, sums and chunks of k change: 2^15 and 2^16 real terms, and several
 * chunks.
 */
static void chunked_sums(void **state)
{
    static const int64_t dims[] = {32767, 32768, 65535, 65536, 65537, 140000};
    static const enum family f[] = {FAMILY_NORMAL, FAMILY_MAXIMA, FAMILY_PHI4, FAMILY_INSIDE};
    struct arena large;

    (void)state;
    arena_open(&large, 140002 * 2 * 16);
    for (int q = 0; q < 6 * 4; q++) {
        struct gemm g = {types[(q + q / 4) % 4],
                         q % 3 ? 'T' : 'N',
                         'N',
                         2,
                         1,
                         dims[q / 4],
                         {1, 0},
                         {0, 0},
                         NULL,
                         0,
                         NULL,
                         0,
                         NULL,
                         0};
        struct rng r = {(uint64_t)q};

        accuracy_scalars(&g, q);
        gemm_layout(&g, &large, (struct padding){0, 1, 0}, 1);
        gemm_fill(&g, &r, f[q % 4], f[q % 4], FAMILY_NORMAL);
        check(&g, q);
    }
    arena_close(&large);
}

/* What the choice of moduli must reach at k = 4096, alpha = 1 and beta = 0, and the repairs in percent it may
 * leave. */
static const struct {
    enum family family;
    int least, most, repaired;
} expected_moduli[] = {
    {FAMILY_UNIFORM, 14, 14, 1}, {FAMILY_NORMAL, 14, 14, 1}, {FAMILY_HILBERT, 14, 14, 1},
    {FAMILY_INSIDE, 14, 14, 1},  {FAMILY_PHI1, 15, 15, 1},   {FAMILY_PHI2, 2, 17, 10},
    {FAMILY_PHI4, 2, 18, 15},    {FAMILY_SHORT, 2, 12, 10},  {FAMILY_INTEGERS, 2, 7, 0},
    {FAMILY_EVIL, 2, 15, 10},    {FAMILY_SPIKE, 2, 22, 10},  {FAMILY_SPARSE, 2, 18, 10},
};
enum { EXPECTED = sizeof expected_moduli / sizeof expected_moduli[0] };

static void moduli_of_native(void **state)
{
    int wrong = 0;

    (void)state;
    for (int q = 0; q < EXPECTED; q++) {
        const enum family f = expected_moduli[q].family;
        struct gemm g = make('d', q % 2 ? "TN" : "NN", SIDE, SIDE, LONG, f, 5 * q); /* alpha = 1, beta = 0 */
        struct exact exact;
        struct excess excess;
        ozg_report report;
        void *after = accuracy_run(kernels.ctx[0], &g, ozg_native(), &report, family_name(f));

        assert_non_null(after);
        exact_open(&exact, &g);
        native_excess(&exact, g.c, after, &excess);
        print_message(
            "%-10s %d moduli, %llu of %d repaired, at most %.3g u, %.3g of the promise, bound %.3g errors\n",
            family_name(f), report.moduli, (unsigned long long)report.repaired, SIDE * SIDE,
            excess.largest_in_units, excess.largest_ratio, report.bound / excess.largest_error);
        assert_true(native_holds(&exact, g.c, after, family_name(f)));
        assert_true(report_holds(&exact, g.c, after, &report, family_name(f)));
        assert_true(report.bound_relative > 0 || excess.largest_error == 0);
        wrong += report.moduli < expected_moduli[q].least || report.moduli > expected_moduli[q].most ||
                 100 * report.repaired > (uint64_t)expected_moduli[q].repaired * SIDE * SIDE;
        exact_close(&exact);
        free(after);
    }
    assert_int_equal(wrong, 0);
}

/* Rounded on the same data: every bit, and the work stays near what the certificate needs. */
static void moduli_of_rounded(void **state)
{
    static const struct {
        enum family family;
        int most;
    } kind[] = {{FAMILY_UNIFORM, 18}, {FAMILY_NORMAL, 18},  {FAMILY_PHI2, 20},
                {FAMILY_PHI4, 22},    {FAMILY_INTEGERS, 8}, {FAMILY_SHORT, 13}};
    int wrong = 0;

    (void)state;
    for (int q = 0; q < 6; q++) {
        struct gemm g = make('d', q % 2 ? "NT" : "NN", SIDE, SIDE, LONG, kind[q].family, 5 * q + 100);
        struct exact exact;
        ozg_report report;
        void *expected;

        exact_open(&exact, &g);
        expected = exact_image(&exact);
        assert_true(
            accuracy_same(kernels.ctx[0], &g, ozg_rounded(), expected, &report, family_name(kind[q].family)));
        assert_true(report_holds(&exact, g.c, expected, &report, family_name(kind[q].family)));
        print_message("%-10s %d moduli, %llu of %d tested, %llu repaired\n", family_name(kind[q].family),
                      report.moduli, (unsigned long long)report.tested, SIDE * SIDE,
                      (unsigned long long)report.repaired);
        wrong += report.moduli > kind[q].most;
        free(expected);
        exact_close(&exact);
    }
    assert_int_equal(wrong, 0);
}

/* C - AB where C = RN(AB), at length. */
static void residuals(void **state)
{
    static const enum family f[] = {FAMILY_UNIFORM, FAMILY_PHI2, FAMILY_HILBERT, FAMILY_INSIDE};

    (void)state;
    for (int q = 0; q < 8; q++) {
        struct gemm g = make(types[q % 4], "NT", 12, 9, q / 4 ? LONG : 1024, f[q % 4], 5 * q);

        g.beta[0] = g.beta[1] = 0;
        g.alpha[0] = 1;
        g.alpha[1] = 0;
        assert_int_equal(gemm_run(kernels.ctx[0], &g, g.c, ozg_rounded(), NULL), OZG_OK);
        g.alpha[0] = -1;
        g.beta[0] = 1;
        check(&g, q);
    }
}

static int ascending(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;

    return (a > b) - (a < b);
}

enum { PRODUCTS = 5, MEDIANS = 4 };

/* ratio[way][q] := bound / worst error of product q for U(-1, 1), by native and three numbers of moduli. */
static void ratios_of(int q, int64_t k, double ratio[MEDIANS][PRODUCTS])
{
    struct gemm g = make('d', "NN", SIDE, SIDE, k, FAMILY_UNIFORM, 5 * q); /* alpha = 1, beta = 0 */
    struct exact exact;

    exact_open(&exact, &g);
    for (int way = 0; way < MEDIANS; way++) {
        struct excess excess;
        ozg_report report;
        void *after =
            accuracy_run(kernels.ctx[0], &g, way ? ozg_moduli(8 + 3 * way) : ozg_native(), &report, "median");

        assert_non_null(after);
        bound_excess(&exact, g.c, after, report.bound, &excess);
        assert_int_equal(excess.beyond, 0);
        ratio[way][q] = excess.largest_error > 0 ? report.bound / excess.largest_error : 1;
        free(after);
    }
    exact_close(&exact);
}

/* The median of bound / worst error is below 30. */
static void not_far_above(void **state)
{
    static const int64_t dims[] = {64, 1024, 4096};
    int wrong = 0;

    (void)state;
    for (int d = 0; d < 3; d++) {
        double ratio[MEDIANS][PRODUCTS];

        for (int q = 0; q < PRODUCTS; q++)
            ratios_of(q, dims[d], ratio);
        for (int way = 0; way < MEDIANS; way++) {
            qsort(ratio[way], PRODUCTS, sizeof ratio[way][0], ascending);
            print_message("k = %lld, %s: bound / error is %.3g\n", (long long)dims[d],
                          way == 0   ? "native"
                          : way == 1 ? "11 moduli"
                          : way == 2 ? "14 moduli"
                                     : "17 moduli",
                          ratio[way][PRODUCTS / 2]);
            wrong += !(ratio[way][PRODUCTS / 2] < 30);
        }
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_sums),        cmocka_unit_test(chunked_sums),
        cmocka_unit_test(moduli_of_native), cmocka_unit_test(moduli_of_rounded),
        cmocka_unit_test(residuals),        cmocka_unit_test(not_far_above),
    };

    return cmocka_run_group_tests(tests, open_all, fixture_close);
}
