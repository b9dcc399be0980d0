/*
 * test_predict.c - ozg_bound_?gemm(): the same moduli as the product, and a bound above its true error.
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
#include "errors.h"

static struct arena arena;
static ozg_context *ctx;

static int open_all(void **state)
{
    (void)state;
    arena_open(&arena, 1 << 20);
    return ozg_create(&ctx, NULL);
}

static int close_all(void **state)
{
    (void)state;
    ozg_destroy(ctx);
    arena_close(&arena);
    return 0;
}

static ozg_status predict(const struct gemm *g, ozg_accuracy acc, ozg_report *r)
{
    const float alpha[2] = {(float)g->alpha[0], (float)g->alpha[1]};

    switch (g->type) {
    case 's':
        return ozg_bound_sgemm(ctx, g->transa, g->transb, g->m, g->n, g->k, alpha[0], g->a, g->lda, g->b,
                               g->ldb, acc, r);
    case 'd':
        return ozg_bound_dgemm(ctx, g->transa, g->transb, g->m, g->n, g->k, g->alpha[0], g->a, g->lda, g->b,
                               g->ldb, acc, r);
    case 'c':
        return ozg_bound_cgemm(ctx, g->transa, g->transb, g->m, g->n, g->k, alpha, g->a, g->lda, g->b, g->ldb,
                               acc, r);
    default:
        return ozg_bound_zgemm(ctx, g->transa, g->transb, g->m, g->n, g->k, g->alpha, g->a, g->lda, g->b,
                               g->ldb, acc, r);
    }
}

/* Every finite entry of c is within the bound of the exact value. */
static void check_entries(const struct gemm *g, const void *c, double bound)
{
    struct oracle exact;
    struct ext error, x;

    oracle_open(&exact, g, ORACLE_EXACT);
    ext_init(&error);
    ext_init(&x);
    for (int64_t q = 0; q < g->m * g->n * type_parts(g->type); q++) {
        const int part = (int)(q % type_parts(g->type));
        const int64_t i = q / type_parts(g->type) % g->m, j = q / type_parts(g->type) / g->m;
        const double value = number_get(g->type, c, (i + j * g->ldc) * type_parts(g->type) + part);

        if (!isfinite(value))
            continue;
        oracle_value(&exact, c, i, j, part, &error);
        ext_set_double(&x, -value);
        ext_add(&error, &x);
        ext_abs(&error);
        ext_set_double(&x, bound);
        if (ext_cmp(&error, &x) > 0) {
            gemm_print(g, "predicted bound");
            fail_msg("entry (%lld, %lld): error %a above %a", (long long)i, (long long)j,
                     ext_round(&error, 0), bound);
        }
    }
    ext_clear(&error);
    ext_clear(&x);
    oracle_close(&exact);
}

static void test_same_as_the_product(void **state)
{
    static const char types[] = {'s', 'd', 'c', 'z'};
    static const enum family families[] = {FAMILY_UNIFORM,   FAMILY_MAXIMA, FAMILY_INTEGERS, FAMILY_WIDE,
                                           FAMILY_SUBNORMAL, FAMILY_CANCEL, FAMILY_SPIKE,    FAMILY_BITS};
    const ozg_accuracy accuracies[] = {ozg_native(), ozg_rounded(), ozg_moduli(9), ozg_width(40)};
    struct rng r = {1};

    (void)state;
    for (int round = 0; round < 4 * 8 * 4 * 3; round++) {
        const ozg_accuracy acc = accuracies[round % 4];
        struct gemm g = {.type = types[round / 4 % 4],
                         .transa = "NTC"[rng_below(&r, 3)],
                         .transb = "NTC"[rng_below(&r, 3)],
                         .m = rng_between(&r, 1, 12),
                         .n = rng_between(&r, 1, 12),
                         .k = rng_between(&r, 1, 70),
                         .alpha = {rng_below(&r, 2) ? 1 : -0.375, 0}};
        const enum family family = families[round / 16 % 8];
        const struct padding pad = {rng_between(&r, 0, 2), 0, 0};
        ozg_report predicted, report;

        if (type_is_complex(g.type) && rng_below(&r, 2))
            g.alpha[1] = 1.5;
        gemm_layout(&g, &arena, pad, 0);
        gemm_fill(&g, &r, family, family, FAMILY_SMALL);
        assert_int_equal(predict(&g, acc, &predicted), OZG_OK);
        assert_int_equal(gemm_run(ctx, &g, g.c, acc, &report), OZG_OK);
        assert_int_equal(predicted.emulated, 1);
        assert_int_equal(predicted.moduli, report.moduli);
        assert_int_equal(predicted.width, report.width);
        assert_int_equal(predicted.products, report.products);
        assert_int_equal(predicted.exact, report.exact);
        assert_true(predicted.bound_relative == report.bound_relative);
        check_entries(&g, g.c, predicted.bound);
    }
}

/* alpha is large, and what it multiplies is below the smallest number: the bound of the rounding counts. */
static void test_large_alpha(void **state)
{
    const ozg_accuracy accuracies[] = {ozg_moduli(20), ozg_native(), ozg_rounded()};
    const double a = 0x1.0000000000001p-530, b = 0x1.0000000400001p-530;
    struct gemm g = {
        .type = 'd', .transa = 'N', .transb = 'N', .m = 1, .n = 1, .k = 1, .alpha = {0x1p1000, 0}};

    (void)state;
    gemm_layout(&g, &arena, (struct padding){0, 0, 0}, 0);
    g.a = &a;
    g.b = &b;
    for (int i = 0; i < 3; i++) {
        ozg_report r;

        assert_int_equal(predict(&g, accuracies[i], &r), OZG_OK);
        assert_int_equal(gemm_run(ctx, &g, g.c, accuracies[i], NULL), OZG_OK);
        check_entries(&g, g.c, r.bound);
        assert_true(r.bound < 0x1p-110); /* of a product of 2^-60 */
    }
}

static void test_arguments(void **state)
{
    double a[4] = {1, 2, 3, 4};
    ozg_report r;

    (void)state;
    expect_error(NULL, ozg_bound_dgemm(NULL, 'N', 'N', 2, 2, 2, 1, a, 2, a, 2, ozg_native(), &r), OZG_E_ARG,
                 1);
    expect_error(ctx, ozg_bound_dgemm(ctx, 'Q', 'N', 2, 2, 2, 1, a, 2, a, 2, ozg_native(), &r), OZG_E_ARG, 2);
    expect_error(ctx, ozg_bound_dgemm(ctx, 'N', 'Q', 2, 2, 2, 1, a, 2, a, 2, ozg_native(), &r), OZG_E_ARG, 3);
    expect_error(ctx, ozg_bound_dgemm(ctx, 'N', 'N', -1, 2, 2, 1, a, 2, a, 2, ozg_native(), &r), OZG_E_ARG,
                 4);
    expect_error(ctx, ozg_bound_dgemm(ctx, 'N', 'N', 2, 2, 2, 1, NULL, 2, a, 2, ozg_native(), &r), OZG_E_ARG,
                 8);
    expect_error(ctx, ozg_bound_dgemm(ctx, 'N', 'N', 2, 2, 2, 1, a, 1, a, 2, ozg_native(), &r), OZG_E_ARG, 9);
    expect_error(ctx, ozg_bound_dgemm(ctx, 'N', 'N', 2, 2, 2, 1, a, 2, NULL, 2, ozg_native(), &r), OZG_E_ARG,
                 10);
    expect_error(ctx, ozg_bound_dgemm(ctx, 'N', 'N', 2, 2, 2, 1, a, 2, a, 1, ozg_native(), &r), OZG_E_ARG,
                 11);
    expect_error(ctx, ozg_bound_dgemm(ctx, 'N', 'N', 2, 2, 2, 1, a, 2, a, 2, ozg_moduli(1), &r), OZG_E_ARG,
                 12);
    expect_error(ctx, ozg_bound_dgemm(ctx, 'N', 'N', 2, 2, 2, 1, a, 2, a, 2, ozg_native(), NULL), OZG_E_ARG,
                 13);
    expect_error(ctx, ozg_bound_zgemm(ctx, 'N', 'N', 1, 1, 1, NULL, a, 2, a, 2, ozg_native(), &r), OZG_E_ARG,
                 7);
    assert_int_equal(ozg_bound_dgemm(ctx, 'N', 'N', 2, 2, 2, 0, NULL, 2, NULL, 2, ozg_native(), &r),
                     OZG_E_ARG);
    assert_int_equal(ozg_bound_dgemm(ctx, 'N', 'N', 2, 2, 0, 1, NULL, 2, NULL, 1, ozg_native(), &r), OZG_OK);
    assert_int_equal(r.emulated, 0);
    assert_string_equal(r.reason, "k = 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_the_product),
        cmocka_unit_test(test_large_alpha),
        cmocka_unit_test(test_arguments),
    };

    return cmocka_run_group_tests(tests, open_all, close_all);
}
