/*
 * test_native_bound.c - report.bound and report.bound_relative under every accuracy: never below the true
 * error of any component of any kind of matrix.
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

static int open_all(void **state)
{
    (void)state;
    return fixture_open(1 << 20, 1);
}

enum { ACCURACIES = 9, BY_DATA = 5 };

/*
 * Accuracy number q, way by way: moduli and widths from coarse to more than the type holds, scaling by a trial
 * product; from BY_DATA on those whose moduli follow from the data.
 */
static ozg_accuracy accuracy(int q, int way)
{
    switch (way % ACCURACIES) {
    case 0:
        return ozg_moduli(3 + q % 8);
    case 1:
        return ozg_moduli(11 + q % 12);
    case 2:
        return ozg_width(3 + q % 30);
    case 3:
        return ozg_width(33 + q % 40);
    case 4:
        return ozg_accurate(6 + q % 20);
    case BY_DATA:
        return ozg_native();
    case BY_DATA + 1:
        return ozg_rounded();
    case BY_DATA + 2:
        return ozg_with_moduli(ozg_native(), 6 + q % 20);
    default:
        return ozg_with_moduli(ozg_rounded(), 6 + q % 20);
    }
}

static struct gemm make(char type, int64_t m, int64_t n, int64_t k, enum family fa, enum family fb, int q)
{
    struct gemm g = {
        type, q % 2 ? 'N' : 'T', q % 3 ? 'N' : 'C', m, n, k, {1, 0}, {0, 0}, NULL, 0, NULL, 0, NULL, 0};
    struct rng r = {(uint64_t)q + 900};

    accuracy_scalars(&g, q);
    gemm_layout(&g, &arena, (struct padding){0, 1, 0}, 1);
    gemm_fill(&g, &r, fa, fb, fa);
    return g;
}

/* An infinity where the exact value just fits is no error that a number can bound: take it out. */
static void forgive_overflows(const struct exact *exact, void *after)
{
    const struct gemm *g = exact->product.g;
    void *expected = exact_image(exact);

    for (int64_t q = 0; q < component_count(g); q++) {
        const struct component at = component_at(g, q);

        if (isinf(component_get(g, after, at)))
            number_set(g->type, after, (at.i + at.j * g->ldc) * type_parts(g->type) + at.part,
                       component_get(g, expected, at));
    }
    free(expected);
}

/* Components compared. */
static int64_t check(const struct gemm *g, int q)
{
    struct exact exact;
    int64_t compared = 0;

    exact_open(&exact, g);
    for (int way = 0; way < ACCURACIES; way++) {
        struct excess excess;
        ozg_report report;
        void *after =
            accuracy_run(kernels.ctx[(q + way) % kernels.count], g, accuracy(q, way), &report, "bound");

        assert_non_null(after);
        if (way < BY_DATA)
            forgive_overflows(&exact, after);
        if (!report_holds(&exact, g->c, after, &report, "bound"))
            fail_msg("accuracy %d of product %d", way, q);
        bound_excess(&exact, g->c, after, report.bound, &excess);
        compared += excess.compared;
        free(after);
    }
    exact_close(&exact);
    return compared;
}

static void every_family(void **state)
{
    int64_t compared = 0;

    (void)state;
    for (int q = 0; q < 8 * FAMILY_END; q++) {
        const enum family f = (enum family)(q / 8);
        struct gemm g = make(types[q % 4], 6, 5, q % 8 < 4 ? 3 + q % 23 : 90, f, f, q);

        compared += check(&g, q);
    }
    for (int q = 0; q < 4 * FAMILY_END; q++) {
        struct gemm g =
            make(types[q % 4], 5, 4, 1 + q % 50, (enum family)(q / 4), (enum family)(q * 7 % FAMILY_END), q);

        compared += check(&g, q);
    }
    print_message("%lld components\n", (long long)compared);
    assert_true(compared > 50000);
}

/* alpha and beta from the hard set. */
static void hard_scalars(void **state)
{
    struct rng r = {71};

    (void)state;
    for (int q = 0; q < 120; q++) {
        struct gemm g = make(types[q % 4], 4, 3, 1 + q % 40, FAMILY_NORMAL, FAMILY_PHI2, q);

        gemm_random_scalars(&g, &r);
        check(&g, q);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_family),
        cmocka_unit_test(hard_scalars),
    };

    return cmocka_run_group_tests(tests, open_all, fixture_close);
}
