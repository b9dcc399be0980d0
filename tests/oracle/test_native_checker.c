/*
 * test_native_checker.c - the checks of accuracy.h themselves: their exact products against the oracle, and
 * errors planted on purpose, just inside and just outside each limit.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "accuracy.h"
#include "fixture.h"

static const char types[] = {'s', 'd', 'c', 'z'};

static int open_all(void **state)
{
    (void)state;
    return fixture_open(256 << 10, 1);
}

static struct gemm make(char type, const char trans[2], int64_t m, int64_t n, int64_t k, enum family f,
                        uint64_t seed)
{
    struct gemm g = {type, trans[0], trans[1], m, n, k, {1, 0}, {0, 0}, NULL, 0, NULL, 0, NULL, 0};
    struct rng r = {seed};

    accuracy_scalars(&g, (int)seed);
    gemm_layout(&g, &arena, (struct padding){1, 0, 2}, 1);
    gemm_fill(&g, &r, f, f, f);
    return g;
}

/* Every kind of matrix, Inf and NaN among them: the same exact value as the oracle's. */
static void exact_products(void **state)
{
    struct ext x, y;

    (void)state;
    ext_init(&x);
    ext_init(&y);
    for (int q = 0; q < 4 * FAMILY_END; q++) {
        struct gemm g =
            make(types[q % 4], q % 3 ? "NC" : "TN", 3, 4, 1 + q % 29, (enum family)(q / 4), (uint64_t)q);
        struct exact exact;
        struct oracle oracle;

        exact_open(&exact, &g);
        oracle_open(&oracle, &g, ORACLE_EXACT);
        for (int64_t n = 0; n < component_count(&g); n++) {
            const struct component at = component_at(&g, n);

            oracle_value(&exact.product, g.c, at.i, at.j, at.part, &x);
            oracle_value(&oracle, g.c, at.i, at.j, at.part, &y);
            assert_int_equal(x.kind, y.kind);
            assert_true(x.kind != EXT_FINITE || ext_cmp(&x, &y) == 0);
        }
        oracle_close(&oracle);
        exact_close(&exact);
    }
    ext_clear(&x);
    ext_clear(&y);
}

/* |A||B| is AB of the moduli: real types from |a| and |b|, complex ones by hand on one entry. */
static void magnitudes(void **state)
{
    const double a[4] = {3, -4, -1, 0.5}, b[4] = {-2, 1, 8, 16}; /* (3 - 4i)(-2 + i) + (-1 + i/2)(8 + 16i) */
    double c[2] = {-5, 7};
    struct gemm z = {'z', 'N', 'N', 1, 1, 2, {-2, 0.25}, {3, -1}, a, 1, b, 2, c, 1};
    struct exact exact;
    struct ext size, want;

    (void)state;
    ext_init(&size);
    ext_init(&want);
    exact_open(&exact, &z);
    /* |Ar||Br| + |Ai||Bi| = 6 + 4 + 8 + 8, |Ar||Bi| + |Ai||Br| = 3 + 8 + 16 + 4 */
    exact_size(&exact, c, (struct component){0, 0, 0}, &size);
    ext_set_double(&want, 2 * 26 + 0.25 * 31 + 3 * 5 + 1 * 7);
    assert_int_equal(ext_cmp(&size, &want), 0);
    exact_size(&exact, c, (struct component){0, 0, 1}, &size);
    ext_set_double(&want, 2 * 31 + 0.25 * 26 + 3 * 7 + 1 * 5);
    assert_int_equal(ext_cmp(&size, &want), 0);
    exact_close(&exact);
    for (int q = 0; q < 2 * FAMILY_END; q++) {
        struct gemm g = make(types[q % 2], "NN", 4, 3, 9, (enum family)(q / 2), 0); /* alpha = 1, beta = 0 */
        struct oracle oracle;

        if (q / 2 == FAMILY_SPECIAL)
            continue;
        exact_open(&exact, &g);
        for (int64_t i = 0; i < 36; i++)
            number_set(g.type, (void *)(uintptr_t)g.a, i % 4 + i / 4 * g.lda,
                       fabs(number_get(g.type, g.a, i % 4 + i / 4 * g.lda)));
        for (int64_t i = 0; i < 27; i++)
            number_set(g.type, (void *)(uintptr_t)g.b, i, fabs(number_get(g.type, g.b, i)));
        oracle_open(&oracle, &g, ORACLE_EXACT);
        for (int64_t n = 0; n < 12; n++) {
            exact_size(&exact, g.c, component_at(&g, n), &size);
            assert_int_equal(ext_cmp(&size, &oracle.ab[n]), 0);
        }
        oracle_close(&oracle);
        exact_close(&exact);
    }
    ext_clear(&size);
    ext_clear(&want);
}

/* after(at) := the number nearest to exact + sign factor limit, outward or inward */
static void plant(const struct exact *x, const void *before, void *after, struct component at,
                  double relative, int outward)
{
    const struct gemm *g = x->product.g;
    const int64_t place = (at.i + at.j * g->ldc) * type_parts(g->type) + at.part;
    struct ext value, limit;
    double target;

    ext_init(&value);
    ext_init(&limit);
    exact_size(x, before, at, &limit);
    ext_set_double(&value, relative);
    ext_mul(&limit, &value);
    oracle_value(&x->product, before, at.i, at.j, at.part, &value);
    ext_add(&value, &limit);
    target = ext_round(&value, type_is_single(g->type));
    /* one unit on: beyond the rounding of the target itself */
    target = type_is_single(g->type) ? (double)nextafterf((float)target, outward ? HUGE_VALF : -HUGE_VALF)
                                     : nextafter(target, outward ? HUGE_VAL : -HUGE_VAL);
    number_set(g->type, after, place, target);
    ext_clear(&value);
    ext_clear(&limit);
}

/* One component moved to just inside or just outside of 7 u S (17 u S at k = 256). */
static void planted_errors(void **state)
{
    (void)state;
    for (int q = 0; q < 4 * 8; q++) {
        const enum family f[] = {FAMILY_UNIFORM, FAMILY_NORMAL, FAMILY_PHI2, FAMILY_POSITIVE};
        struct gemm g = make(types[q % 4], "TC", 3, 3, q & 16 ? 256 : 36, f[q / 4 % 4], (uint64_t)q);
        const double promise = (q & 16 ? 17 : 7) * (type_is_single(g.type) ? 0x1p-24 : 0x1p-53);
        struct exact exact;
        struct excess excess;

        exact_open(&exact, &g);
        for (int64_t n = 0; n < component_count(&g); n++) {
            void *after = exact_image(&exact);

            native_excess(&exact, g.c, after, &excess);
            assert_true(excess.compared == component_count(&g) && excess.beyond == 0);
            assert_true(excess.largest_in_units <= 1);
            plant(&exact, g.c, after, component_at(&g, n), promise, 1);
            native_excess(&exact, g.c, after, &excess);
            assert_true(excess.beyond == 1 && excess.largest_ratio > 1 && excess.error > excess.limit);
            plant(&exact, g.c, after, component_at(&g, n), promise, 0);
            native_excess(&exact, g.c, after, &excess);
            assert_true(excess.beyond == 0 && excess.largest_ratio > 0.5);
            free(after);
        }
        exact_close(&exact);
    }
}

/* A result that is no number where it should be one is beyond any limit; an overflow is free. */
static void lost_numbers(void **state)
{
    struct gemm g = make('d', "NN", 2, 2, 5, FAMILY_UNIFORM, 0);
    struct exact exact;
    struct excess excess;
    double *after;

    (void)state;
    exact_open(&exact, &g);
    after = exact_image(&exact);
    after[0] = quiet_nan();
    after[1] = HUGE_VAL;
    native_excess(&exact, g.c, after, &excess);
    assert_int_equal(excess.beyond, 2);
    bound_excess(&exact, g.c, after, 1e300, &excess);
    assert_int_equal(excess.beyond, 2);
    free(after);
    exact_close(&exact);
    g.alpha[0] = 0x1p1023;
    number_set('d', (void *)(uintptr_t)g.a, 0, 0x1p10); /* row 0 overflows */
    exact_open(&exact, &g);
    after = exact_image(&exact);
    assert_true(isinf(after[0]));
    native_excess(&exact, g.c, after, &excess);
    assert_int_equal(excess.beyond, 0);
    assert_true(excess.compared < 4);
    free(after);
    exact_close(&exact);
}

/*
 * Enough moduli for exact integers: the library itself gives the exact image, and its bound is above the
 * errors.
 */
static void many_moduli(void **state)
{
    (void)state;
    for (int q = 0; q < 4 * 6; q++) {
        const enum family f[] = {FAMILY_UNIFORM,  FAMILY_NORMAL,  FAMILY_GRID,
                                 FAMILY_INTEGERS, FAMILY_HILBERT, FAMILY_SHORT};
        struct gemm g = make(types[q % 4], "CN", 5, 6, 33, f[q / 4], (uint64_t)q);
        struct exact exact;
        struct excess excess;
        void *expected;
        ozg_report report;

        exact_open(&exact, &g);
        expected = exact_image(&exact);
        for (int kernel = 0; kernel < kernels.count; kernel++)
            assert_true(
                accuracy_same(kernels.ctx[kernel], &g, ozg_moduli(40), expected, &report, "40 moduli"));
        assert_true(report_holds(&exact, g.c, expected, &report, "40 moduli"));
        bound_excess(&exact, g.c, expected, report.bound, &excess);
        assert_true(excess.largest_error > 0 || report.bound == 0 || f[q / 4] == FAMILY_INTEGERS);
        bound_excess(&exact, g.c, expected, 0.99 * excess.largest_error, &excess);
        assert_true(excess.beyond > 0 || excess.largest_error == 0);
        assert_true(native_holds(&exact, g.c, expected, "40 moduli"));
        free(expected);
        exact_close(&exact);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_products), cmocka_unit_test(magnitudes),  cmocka_unit_test(planted_errors),
        cmocka_unit_test(lost_numbers),   cmocka_unit_test(many_moduli),
    };

    return cmocka_run_group_tests(tests, open_all, fixture_close);
}
