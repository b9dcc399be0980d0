/*
 * test_bound.c - the error bound of the report and that of [Xe2] Eq. 7 against the true error, entry by
 * entry.
 *
 * The true error is the distance of the computed entry from alpha op(A) op(B) + beta C without any rounding,
 * as an exact number. Nothing here is a floating-point comparison of rounded quantities.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "check.h"
#include "fixture.h"

static const char types[] = {'s', 'd', 'c', 'z'};

static int open_all(void **state)
{
    (void)state;
    return fixture_open(1 << 20, 1);
}

/* out := the sum of |x| over a row of op(A) or a column of op(B), both parts. */
static void line_norm(const struct gemm *g, char side, int64_t line, struct ext *out)
{
    const struct view v = side == 'A' ? gemm_view_a(g) : gemm_view_b(g);
    struct ext x;

    ext_init(&x);
    ext_set_double(out, 0);
    for (int64_t p = 0; p < g->k; p++) {
        for (int part = 0; part < type_parts(g->type); part++) {
            ext_set_double(&x, fabs(side == 'A' ? view_get(&v, line, p, part) : view_get(&v, p, line, part)));
            ext_add(out, &x);
        }
    }
    ext_clear(&x);
}

/* [Xe2] Eq. 7 for entry (i, j): (1/2) 2^-D |b|_1 + (1/2) 2^-E |a|_1 + (1/4) k' 2^(-D-E) + max(u |c|,
 * 2^-1075). */
static void equation7(const struct oracle *o, int64_t i, int64_t j, double c, struct ext *bound)
{
    const struct gemm *g = o->g;
    const int single = type_is_single(g->type);
    struct ext x;

    ext_init(&x);
    line_norm(g, 'B', j, bound);
    ext_shift(bound, -o->d[i] - 1);
    line_norm(g, 'A', i, &x);
    ext_shift(&x, -o->e[j] - 1);
    ext_add(bound, &x);
    ext_set_double(&x, (double)g->k * type_parts(g->type));
    ext_shift(&x, -o->d[i] - o->e[j] - 2);
    ext_add(bound, &x);
    ext_set_double(&x, fabs(c));
    ext_shift(&x, single ? -24 : -53);
    ext_add(bound, &x);
    ext_set_double(&x, 1);
    ext_shift(&x, single ? -150 : -1075);
    ext_add(bound, &x);
    ext_clear(&x);
}

/* error := |computed - exact| */
static void true_error(const struct oracle *exact, const void *before, int64_t i, int64_t j, int part,
                       double computed, struct ext *error)
{
    struct ext x;

    ext_init(&x);
    oracle_value(exact, before, i, j, part, error);
    ext_set_double(&x, computed);
    ext_neg(&x);
    ext_add(error, &x);
    ext_abs(error);
    ext_clear(&x);
}

struct sizes {
    double largest_error; /* rounded up */
    double largest_equation7;
    int overflows;
};

/* Compare every finite entry of `after` with the exact product; plain: alpha = 1, beta = 0, so that Eq. 7
 * holds. */
static void compare_entries(const struct gemm *g, int width, const void *before, const void *after,
                            double reported, int plain, struct sizes *out)
{
    struct oracle exact, rounded;
    struct ext error, bound;

    oracle_open(&exact, g, ORACLE_EXACT);
    oracle_open(&rounded, g, width);
    ext_init(&error);
    ext_init(&bound);
    for (int64_t q = 0; q < g->m * g->n * type_parts(g->type); q++) {
        int part = (int)(q % type_parts(g->type));
        int64_t i = q / type_parts(g->type) % g->m, j = q / type_parts(g->type) / g->m;
        double c = number_get(g->type, after, (i + j * g->ldc) * type_parts(g->type) + part);

        if (!isfinite(c)) {
            out->overflows++;
            continue;
        }
        true_error(&exact, before, i, j, part, c, &error);
        ext_set_double(&bound, reported);
        if (ext_cmp(&error, &bound) > 0) {
            gemm_print(g, "bound");
            fprintf(stderr, "  entry (%lld, %lld) part %d: error %a above the bound %a of the report\n",
                    (long long)i, (long long)j, part, ext_round(&error, 0), reported);
            fail();
        }
        out->largest_error = fmax(out->largest_error, ext_round(&error, 0));
        if (!plain)
            continue;
        equation7(&rounded, i, j, c, &bound);
        if (ext_cmp(&error, &bound) > 0) {
            gemm_print(g, "Eq. 7");
            fprintf(stderr, "  entry (%lld, %lld): error %a above %a\n", (long long)i, (long long)j,
                    ext_round(&error, 0), ext_round(&bound, 0));
            fail();
        }
        out->largest_equation7 = fmax(out->largest_equation7, ext_round(&bound, 0));
    }
    ext_clear(&error);
    ext_clear(&bound);
    oracle_close(&exact);
    oracle_close(&rounded);
}

/* Run g on one kernel, check the report and every entry. */
static void check_bound(const struct gemm *g, struct request request, int kernel, int plain)
{
    const int width = request_width(request, g->type, g->k);
    struct sizes sizes = {0, 0, 0};
    ozg_report report;
    void *before = gemm_image(g), *after;
    struct oracle o;
    int exact;

    memset(&report, 0xAA, sizeof report);
    assert_int_equal(gemm_run(kernels.ctx[kernel], g, g->c, request_accuracy(request), &report), OZG_OK);
    after = gemm_image(g);
    memcpy(g->c, before, gemm_image_bytes(g));
    assert_int_equal(report.emulated, 1);
    assert_int_equal(report.width, width);
    assert_true(report.bound >= 0);
    oracle_open(&o, g, width);
    exact = o.exact;
    oracle_close(&o);
    if (report.exact != exact) {
        gemm_print(g, "exact");
        fprintf(stderr, "  report.exact is %d, but the data say %d at width %d\n", report.exact, exact,
                width);
        fail();
    }
    compare_entries(g, width, before, after, report.bound, plain, &sizes);
    if (plain && sizes.overflows == 0 &&
        report.bound > 2 * sizes.largest_equation7 + 0x1p-1070) { /* not useless */
        gemm_print(g, "bound");
        fprintf(stderr, "  the bound %a is above twice the largest of Eq. 7, %a\n", report.bound,
                sizes.largest_equation7);
        fail();
    }
    free(before);
    free(after);
}

static const enum family finite[] = {FAMILY_UNIFORM, FAMILY_GRID,      FAMILY_MAXIMA, FAMILY_INTEGERS,
                                     FAMILY_SMALL,   FAMILY_SUBNORMAL, FAMILY_ZEROS,  FAMILY_CANCEL,
                                     FAMILY_TIES,    FAMILY_TINY_TIES, FAMILY_SPIKE};
enum { FINITE_COUNT = sizeof finite / sizeof finite[0] };

/* alpha = 1, beta = 0: also against Eq. 7. */
static void plain_products(void **state)
{
    struct rng r = {21};

    (void)state;
    for (int n = 0; n < 4 * FINITE_COUNT * 6; n++) {
        struct gemm g = {types[n % 4],
                         n & 1 ? 'T' : 'N',
                         n & 2 ? 'C' : 'N',
                         5,
                         4,
                         1 + (n * 7) % 40,
                         {1, 0},
                         {0, 0},
                         NULL,
                         0,
                         NULL,
                         0,
                         NULL,
                         0};

        gemm_layout(&g, &arena, (struct padding){0, 1, 0}, 1);
        gemm_fill(&g, &r, finite[n / 4 % FINITE_COUNT], finite[rng_below(&r, FINITE_COUNT)], FAMILY_UNIFORM);
        check_bound(&g, (struct request){REQUEST_MODULI, 3 + (n * 5) % 25}, n % kernels.count, 1);
    }
}

/* Rows and columns 2^(+-1000) apart: the error of every entry against Eq. 7 of its own row and column. */
static void wide_rows(void **state)
{
    struct rng r = {22};

    (void)state;
    for (int n = 0; n < 16; n++) {
        struct gemm g = {types[n % 4], 'N', 'N', 6, 5, 33, {1, 0}, {0, 0}, NULL, 0, NULL, 0, NULL, 0};

        gemm_layout(&g, &arena, (struct padding){0, 0, 0}, 1);
        gemm_fill(&g, &r, FAMILY_WIDE, n & 4 ? FAMILY_WIDE : FAMILY_UNIFORM, FAMILY_UNIFORM);
        check_bound(&g, (struct request){REQUEST_MODULI, 8 + n}, n % kernels.count, 1);
    }
}

/* All scalars that are finite. */
static void scaled_products(void **state)
{
    static const int scalar[] = {2, 3, 4, 5, 7, 8, 0};
    struct rng r = {23};

    (void)state;
    for (int n = 0; n < 400; n++) {
        struct gemm g = {types[n % 4], 'N', 'T', 4, 5, 1 + n % 37, {0, 0}, {0, 0}, NULL, 0, NULL, 0, NULL, 0};

        g.alpha[0] = scalar_value(g.type, scalar[rng_below(&r, 6)]);
        g.beta[0] = scalar_value(g.type, scalar[rng_below(&r, 7)]);
        if (type_is_complex(g.type)) {
            g.alpha[1] = scalar_value(g.type, scalar[rng_below(&r, 7)]);
            g.beta[1] = scalar_value(g.type, scalar[rng_below(&r, 7)]);
        }
        gemm_layout(&g, &arena, (struct padding){0, 0, 1}, 0);
        gemm_fill(&g, &r, finite[rng_below(&r, FINITE_COUNT)], finite[rng_below(&r, FINITE_COUNT)],
                  FAMILY_UNIFORM);
        check_bound(&g, (struct request){REQUEST_MODULI, 3 + n % 25}, n % kernels.count, 0);
    }
}

/* out := part of beta C(at), without any rounding. */
static void scaled_entry(const struct gemm *g, const void *c, int64_t at, int part, struct ext *out)
{
    struct ext x, y;

    ext_init(&x);
    ext_init(&y);
    ext_set_double(out, g->beta[0]);
    ext_set_double(&x, number_get(g->type, c, at * type_parts(g->type) + part));
    ext_mul(out, &x);
    if (type_is_complex(g->type)) {
        ext_set_double(&x, part ? g->beta[1] : -g->beta[1]);
        ext_set_double(&y, number_get(g->type, c, at * type_parts(g->type) + 1 - part));
        ext_mul(&x, &y);
        ext_add(out, &x);
    }
    ext_clear(&x);
    ext_clear(&y);
}

/* alpha = 0 or k = 0: the bound is that of the one rounding of beta C, not 0 where beta C rounds. */
static void scaled_c_alone(void **state)
{
    static const int scalar[] = {5, 8, 7, 4};
    struct rng r = {25};
    struct ext error, x;

    (void)state;
    ext_init(&error);
    ext_init(&x);
    for (int n = 0; n < 128; n++) {
        struct gemm g = {types[n % 4], 'N',  'N', 5,    4, n & 4 ? 3 : 0, {0, 0},
                         {0, 0},       NULL, 0,   NULL, 0, NULL,          0};
        ozg_report report;
        int rounded = 0;
        void *c;

        g.alpha[0] = g.k == 0;
        g.beta[0] = scalar_value(g.type, scalar[n / 8 % 4]);
        g.beta[1] = type_is_complex(g.type) ? scalar_value(g.type, scalar[n / 32]) : 0;
        gemm_layout(&g, &arena, (struct padding){0, 0, 1}, 1);
        gemm_fill(&g, &r, FAMILY_UNIFORM, FAMILY_UNIFORM, n % 3 ? FAMILY_UNIFORM : FAMILY_SUBNORMAL);
        c = gemm_image(&g);
        assert_int_equal(gemm_run(kernels.ctx[n % kernels.count], &g, c, ozg_moduli(9), &report), OZG_OK);
        assert_int_equal(report.emulated, 0);
        for (int64_t q = 0; q < g.m * g.n * type_parts(g.type); q++) {
            const int part = (int)(q % type_parts(g.type));
            const int64_t at = q / type_parts(g.type) % g.m + q / type_parts(g.type) / g.m * g.ldc;

            scaled_entry(&g, g.c, at, part, &error);
            ext_set_double(&x, -number_get(g.type, c, at * type_parts(g.type) + part));
            ext_add(&error, &x);
            ext_abs(&error);
            rounded |= ext_sign(&error) != 0;
            ext_set_double(&x, report.bound);
            assert_true(ext_cmp(&error, &x) <= 0);
        }
        assert_true(isfinite(report.bound) && (report.bound > 0 || !rounded));
        free(c);
    }
    ext_clear(&error);
    ext_clear(&x);
}

/* |re alpha| + |im alpha| overflows though each is finite: the bound is neither lost nor infinite. */
static void immense_alpha(void **state)
{
    struct rng r = {26};

    (void)state;
    for (int n = 0; n < 16; n++) {
        struct gemm g = {'z',    'N',  'T', 4,    5, 30,   {0x1.8p1023, 0x1.9p1023},
                         {0, 0}, NULL, 0,   NULL, 0, NULL, 0};
        ozg_report report;
        void *c;

        gemm_layout(&g, &arena, (struct padding){0, 0, 0}, 1);
        gemm_fill(&g, &r, FAMILY_UNIFORM, FAMILY_UNIFORM, FAMILY_UNIFORM);
        for (int64_t i = 0; i < 2 * 4 * 30; i++) /* near 2^-900, so that C is finite */
            number_set('z', (void *)(uintptr_t)g.a, i, ldexp(number_get('z', g.a, i), -900));
        c = gemm_image(&g);
        assert_int_equal(gemm_run(kernels.ctx[n % kernels.count], &g, c, ozg_moduli(3 + n), &report), OZG_OK);
        assert_true(isfinite(report.bound));
        check_bound(&g, (struct request){REQUEST_MODULI, 3 + n}, n % kernels.count, 0);
        free(c);
    }
}

/* Integers are exact: report.exact and the bits of the exact product. */
static void integers(void **state)
{
    struct rng r = {24};

    (void)state;
    for (int n = 0; n < 40; n++) {
        struct gemm g = {types[n % 4], 'T', 'N', 7, 6, 50, {1, 0}, {0, 0}, NULL, 0, NULL, 0, NULL, 0};
        const int single = type_is_single(g.type);
        const struct request request = {REQUEST_WIDTH, single ? 11 : 21};
        ozg_report report;
        void *expected;

        g.beta[0] = n % 3 - 1;
        gemm_layout(&g, &arena, (struct padding){0, 0, 0}, 1);
        gemm_fill(&g, &r, FAMILY_INTEGERS, FAMILY_INTEGERS, FAMILY_INTEGERS);
        expected = gemm_image(&g);
        oracle_gemm(&g, ORACLE_EXACT, expected);
        assert_int_equal(
            gemm_run(kernels.ctx[n % kernels.count], &g, g.c, request_accuracy(request), &report), OZG_OK);
        assert_true(gemm_same(&g, g.c, expected, "integers"));
        assert_int_equal(report.exact, 1);
        free(expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_products), cmocka_unit_test(wide_rows),     cmocka_unit_test(scaled_products),
        cmocka_unit_test(scaled_c_alone), cmocka_unit_test(immense_alpha), cmocka_unit_test(integers),
    };

    return cmocka_run_group_tests(tests, open_all, fixture_close);
}
