/*
 * test_native.c - ozg_native(): |E| <= f u (|alpha||A||B| + |beta C|) + 2^-1075 (single: 2^-150), f = sqrt(k)
 * + 1, for every component and any finite data, with |A||B| from exact arithmetic.
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
#include "errors.h"
#include "fixture.h"

static const char types[] = {'s', 'd', 'c', 'z'};

static int open_all(void **state)
{
    (void)state;
    return fixture_open(1 << 20, 1);
}

static struct gemm shape(char type, const char trans[2], int64_t m, int64_t n, int64_t k)
{
    return (struct gemm){type, trans[0], trans[1], m, n, k, {1, 0}, {0, 0}, NULL, 0, NULL, 0, NULL, 0};
}

static void fill(struct gemm *g, int q, enum family fa, enum family fb, enum family fc)
{
    struct rng r = {(uint64_t)q + 2000};

    gemm_layout(g, &arena, (struct padding){q % 3, q / 3 % 3, q % 2}, q / 2 % 2);
    gemm_fill(g, &r, fa, fb, fc);
}

/* Run g on every kernel: the same bits, and the promise kept. */
static void check(const struct gemm *g, ozg_accuracy acc)
{
    struct exact exact;
    ozg_report report;
    void *after = accuracy_run(kernels.ctx[0], g, acc, &report, "native");

    assert_non_null(after);
    exact_open(&exact, g);
    assert_true(native_holds(&exact, g->c, after, "native"));
    assert_true(report_holds(&exact, g->c, after, &report, "native"));
    for (int kernel = 1; kernel < kernels.count; kernel++) {
        ozg_report other;

        assert_true(accuracy_same(kernels.ctx[kernel], g, acc, after, &other, kernels.name[kernel]));
        assert_int_equal(other.moduli, report.moduli);
        assert_true(other.repaired == report.repaired);
        assert_memory_equal(&other.bound, &report.bound, sizeof report.bound);
    }
    exact_close(&exact);
    free(after);
}

/* Every kind of matrix at every inner dimension, ordinary scalars. */
static void every_family(void **state)
{
    static const int64_t dims[] = {1, 2, 8, 32, 64, 300};
    static const char *const trans[] = {"NN", "TN", "NC", "CT"};

    (void)state;
    for (int q = 0; q < 4 * 6 * FAMILY_END; q++) {
        const enum family f = (enum family)(q / 24);
        const int64_t k = dims[q / 4 % 6];
        struct gemm g = shape(types[q % 4], trans[(q / 4 + q) % 4], k < 300 ? 7 : 3, k < 300 ? 5 : 4, k);

        accuracy_scalars(&g, q / 3);
        fill(&g, q, f, f, f);
        check(&g, ozg_native());
    }
}

/* Any kind against any other. */
static void mixed_families(void **state)
{
    (void)state;
    for (int q = 0; q < 7 * FAMILY_END; q++) {
        struct gemm g = shape(types[q % 4], q % 3 ? "TN" : "NT", 1 + q % 6, 1 + q % 5, 1 + q * 7 % 40);

        accuracy_scalars(&g, q);
        fill(&g, q, (enum family)(q % FAMILY_END), (enum family)((q * 11 + q / FAMILY_END) % FAMILY_END),
             (enum family)(q * 5 % FAMILY_END));
        check(&g, ozg_native());
    }
}

/* Random products in all sizes from 0, with hard scalars, Inf and NaN among them. */
static void random_products(void **state)
{
    struct rng r = {61};

    (void)state;
    for (int q = 0; q < 400; q++) {
        struct request unused;
        struct gemm g;

        gemm_random(&g, &r, &arena, types[q % 4], 20, &unused);
        check(&g, ozg_native());
    }
}

/* Too few moduli for the data are made up for by repairs, more do no harm. */
static void given_moduli(void **state)
{
    static const enum family f[] = {FAMILY_UNIFORM, FAMILY_PHI4,   FAMILY_INSIDE,
                                    FAMILY_EVIL2,   FAMILY_SPARSE, FAMILY_SPECIAL};

    (void)state;
    for (int q = 0; q < 4 * 6; q++) {
        struct gemm g = shape(types[q % 4], q % 3 ? "NN" : "TC", 5, 6, 50);

        accuracy_scalars(&g, q);
        fill(&g, q, f[q / 4], f[q / 4], FAMILY_NORMAL);
        for (int s = 6; s <= 49; s += s < 20 ? 1 : 7)
            check(&g, ozg_with_moduli(ozg_native(), s));
    }
}

/* Prepared operands, which fix the moduli and allow no scaling along k, on data that would want it. */
static void prepared_operands(void **state)
{
    static const enum family f[] = {FAMILY_INSIDE_FAR, FAMILY_EVIL, FAMILY_PHI10, FAMILY_NORMAL};

    (void)state;
    for (int q = 0; q < 4 * 4 * 2; q++) {
        struct gemm g = shape(types[q % 4], q % 3 ? "NT" : "CN", 9, 8, 64);
        ozg_context *ctx = kernels.ctx[q % kernels.count];
        struct exact exact;
        ozg_operand *p;
        ozg_report report;
        void *c;

        accuracy_scalars(&g, q);
        fill(&g, q, f[q / 4 % 4], f[q / 4 % 4], FAMILY_NORMAL);
        c = gemm_image(&g);
        exact_open(&exact, &g);
        if (q / 16)
            assert_int_equal(
                ozg_operand_create(&p, ctx, g.type, 'A', g.transa, 9, 64, g.a, g.lda, ozg_native()), OZG_OK);
        else
            assert_int_equal(
                ozg_operand_create(&p, ctx, g.type, 'B', g.transb, 64, 8, g.b, g.ldb, ozg_native()), OZG_OK);
        assert_int_equal(
            gemm_run_prepared(ctx, &g, q / 16 ? p : NULL, q / 16 ? NULL : p, c, ozg_native(), &report),
            OZG_OK);
        assert_true(native_holds(&exact, g.c, c, "prepared"));
        assert_true(report_holds(&exact, g.c, c, &report, "prepared"));
        ozg_operand_destroy(p);
        exact_close(&exact);
        free(c);
    }
}

/* Data that need no rounding: correctly rounded, and done even where nothing may be repaired. */
static void exact_data(void **state)
{
    ozg_context *ctx = kernel_context(NULL, 1, 0, 0);

    (void)state;
    for (int q = 0; q < 4 * 4; q++) {
        static const enum family f[] = {FAMILY_INTEGERS, FAMILY_SMALL, FAMILY_IDENTITY, FAMILY_ZEROS};
        struct gemm g = shape(types[q % 4], "NT", 9, 8, 21);
        struct exact exact;
        ozg_report report;
        void *expected;

        accuracy_scalars(&g, q);
        fill(&g, q, f[q / 4], f[q / 4], FAMILY_INTEGERS);
        exact_open(&exact, &g);
        expected = exact_image(&exact);
        assert_true(accuracy_same(ctx, &g, ozg_native(), expected, &report, "exact data"));
        assert_int_equal(report.exact, 1);
        assert_int_equal(report.repaired, 0);
        assert_true(report.moduli <= 9);
        exact_close(&exact);
        free(expected);
    }
    ozg_destroy(ctx);
}

/* A limit on repairs: refused with an estimate before any work, C as it was; done without the limit. */
static void repair_limit(void **state)
{
    ozg_context *limited = kernel_context(NULL, 1, 0, 2);

    (void)state;
    for (int q = 0; q < 4; q++) {
        struct gemm g = shape(types[q], "NN", 20, 20, 60);
        void *before;

        fill(&g, q, FAMILY_PHI20, FAMILY_PHI20, FAMILY_NORMAL);
        before = gemm_image(&g);
        expect_error(limited, gemm_run(limited, &g, g.c, ozg_with_moduli(ozg_native(), 8), NULL),
                     OZG_E_UNSUPPORTED, 0);
        assert_true(gemm_same(&g, g.c, before, "refused"));
        assert_non_null(strpbrk(ozg_last_error(limited), "123456789")); /* the estimate */
        check(&g, ozg_with_moduli(ozg_native(), 8));
        check(&g, ozg_native());
        free(before);
    }
    ozg_destroy(limited);
}

/* So few moduli that the scaling has no room: the promise all the same, or refused with C as it was. */
static void hardly_any_moduli(void **state)
{
    (void)state;
    for (int q = 0; q < 4 * 5 * 2; q++) {
        struct gemm g = shape(types[q % 4], "NN", 4, 3, q / 20 ? 700 : 30);
        const ozg_accuracy acc = ozg_with_moduli(q % 3 ? ozg_native() : ozg_rounded(), 2 + q / 4 % 5);
        struct exact exact;
        ozg_status status;
        void *c;

        fill(&g, q, FAMILY_NORMAL, FAMILY_NORMAL, FAMILY_NORMAL);
        c = gemm_image(&g);
        status = gemm_run(kernels.ctx[q % kernels.count], &g, c, acc, NULL);
        exact_open(&exact, &g);
        if (status == OZG_OK)
            assert_true(native_holds(&exact, g.c, c, "few moduli"));
        else
            assert_true(status == OZG_E_UNSUPPORTED && gemm_same(&g, c, g.c, "refused"));
        assert_true(status == OZG_OK || q / 4 % 5 < 4); /* 6 moduli will do */
        exact_close(&exact);
        free(c);
    }
}

/* The number of moduli is 2..49, and the request is one of these two. */
static void wrong_moduli(void **state)
{
    static const int wrong[] = {-1, 1, 50, 59, 1000};
    struct gemm g = shape('d', "NN", 4, 3, 5);
    void *before;

    (void)state;
    fill(&g, 1, FAMILY_NORMAL, FAMILY_NORMAL, FAMILY_NORMAL);
    before = gemm_image(&g);
    for (int q = 0; q < 10; q++) {
        ozg_accuracy acc = ozg_with_moduli(q % 2 ? ozg_native() : ozg_rounded(), wrong[q / 2]);
        ozg_plan *plan;

        expect_error(kernels.ctx[0], gemm_run(kernels.ctx[0], &g, g.c, acc, NULL), OZG_E_ARG, 15);
        assert_int_equal(ozg_plan_create(&plan, kernels.ctx[0], 'd', 'N', 'N', 4, 3, 5, acc), OZG_E_ARG);
        assert_true(gemm_same(&g, g.c, before, "refused"));
    }
    free(before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_family),      cmocka_unit_test(mixed_families),
        cmocka_unit_test(random_products),   cmocka_unit_test(given_moduli),
        cmocka_unit_test(prepared_operands), cmocka_unit_test(exact_data),
        cmocka_unit_test(repair_limit),      cmocka_unit_test(hardly_any_moduli),
        cmocka_unit_test(wrong_moduli),
    };

    return cmocka_run_group_tests(tests, open_all, fixture_close);
}
