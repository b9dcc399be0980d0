/*
 * test_rounded.c - ozg_rounded(): every component is RN(alpha op(A) op(B) + beta C), bit for bit, on every
 * micro-kernel and with any number of moduli; small products of every kind.
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

/* Product q with the given sizes; its scalars are still to be set. */
static struct gemm shape(char type, const char trans[2], int64_t m, int64_t n, int64_t k)
{
    return (struct gemm){type, trans[0], trans[1], m, n, k, {1, 0}, {0, 0}, NULL, 0, NULL, 0, NULL, 0};
}

static void fill(struct gemm *g, int q, enum family fa, enum family fb, enum family fc)
{
    struct rng r = {(uint64_t)q + 1000};

    gemm_layout(g, &arena, (struct padding){q % 3, q / 3 % 3, q % 2}, q / 2 % 2);
    gemm_fill(g, &r, fa, fb, fc);
}

/* Run g on some kernels (all, or one in turn) and compare with the exact product; check the report. */
static void check(const struct gemm *g, int first, int last)
{
    struct exact exact;
    void *expected;
    ozg_report report;

    exact_open(&exact, g);
    expected = exact_image(&exact);
    for (int q = first; q <= last; q++) {
        const int kernel = q % kernels.count;

        assert_true(
            accuracy_same(kernels.ctx[kernel], g, ozg_rounded(), expected, &report, kernels.name[kernel]));
        assert_true(report_holds(&exact, g->c, expected, &report, kernels.name[kernel]));
    }
    free(expected);
    exact_close(&exact);
}

static void check_all(const struct gemm *g)
{
    check(g, 0, kernels.count - 1);
}

/* All types and transposes on two shapes, hard scalars (Inf and NaN among them). */
static void every_transpose(void **state)
{
    static const char trans[] = "NTC";
    struct rng r = {51};

    (void)state;
    for (int q = 0; q < 4 * 9 * 4; q++) {
        const char pair[2] = {trans[q / 4 % 3], trans[q / 12 % 3]};
        struct gemm g = q / 36 % 2 ? shape(types[q % 4], pair, 9, 17, 4) : shape(types[q % 4], pair, 5, 3, 7);

        gemm_random_scalars(&g, &r);
        fill(&g, q, FAMILY_NORMAL, FAMILY_UNIFORM, FAMILY_UNIFORM);
        check_all(&g);
    }
}

/* Every pair of scalars from the hard set, complex ones in all four places. */
static void every_alpha_beta(void **state)
{
    const int count = scalar_count();

    (void)state;
    for (int q = 0; q < 4 * count * count; q++) {
        struct gemm g = shape(types[q % 4], "NT", 3, 2, 6);
        const int p = q / 4;

        g.alpha[0] = scalar_value(g.type, p % count);
        g.beta[0] = scalar_value(g.type, p / count);
        if (type_is_complex(g.type)) {
            g.alpha[1] = scalar_value(g.type, (p * 5 + 3) % count);
            g.beta[1] = scalar_value(g.type, (p / count * 3 + p) % count);
        }
        fill(&g, q, q % 7 ? FAMILY_PHI2 : FAMILY_BITS, FAMILY_NORMAL, q % 5 ? FAMILY_NORMAL : FAMILY_ZEROS);
        check(&g, q / 4, q / 4);
    }
}

/* Every kind of matrix, three sizes, ordinary scalars. */
static void every_family(void **state)
{
    static const int64_t size[][3] = {{7, 5, 33}, {1, 3, 90}, {13, 6, 19}};
    static const char *const trans[] = {"NN", "TN", "NC", "CT"};

    (void)state;
    for (int q = 0; q < 4 * 3 * FAMILY_END; q++) {
        const int64_t *d = size[q / 4 % 3];
        const enum family f = (enum family)(q / 12);
        struct gemm g = shape(types[q % 4], trans[(q / 4 + q) % 4], d[0], d[1], d[2]);

        accuracy_scalars(&g, q / 3);
        fill(&g, q, f, f, f);
        check_all(&g);
    }
}

/*
 * Any kind against any other: the largest numbers next to the smallest, subnormal ones, zeros, Inf and NaN.
 */
static void mixed_families(void **state)
{
    (void)state;
    for (int q = 0; q < 7 * FAMILY_END; q++) {
        struct gemm g = shape(types[q % 4], q % 3 ? "TN" : "NT", 1 + q % 6, 1 + q % 5, 1 + q * 7 % 40);

        accuracy_scalars(&g, q);
        fill(&g, q, (enum family)(q % FAMILY_END), (enum family)((q * 11 + q / FAMILY_END) % FAMILY_END),
             (enum family)(q * 5 % FAMILY_END));
        check(&g, q, q);
    }
}

/* Random products in all sizes from 0, with hard scalars. */
static void random_products(void **state)
{
    struct rng r = {52};

    (void)state;
    for (int q = 0; q < 240; q++) {
        struct request unused;
        struct gemm g;

        gemm_random(&g, &r, &arena, types[q % 4], 20, &unused);
        check(&g, q, q + 1);
    }
}

/* The number of moduli, given or chosen, never shows in the bits. */
static void any_moduli(void **state)
{
    static const enum family f[] = {FAMILY_UNIFORM,    FAMILY_PHI4,     FAMILY_INSIDE, FAMILY_CANCEL,
                                    FAMILY_SPIKE,      FAMILY_GRADED_K, FAMILY_EVIL,   FAMILY_EVIL2,
                                    FAMILY_INSIDE_FAR, FAMILY_SPECIAL};

    (void)state;
    for (int q = 0; q < 4 * 10; q++) {
        struct gemm g = shape(types[q % 4], q % 3 ? "NN" : "TC", 6, 7, 70);
        struct exact exact;
        void *expected;
        ozg_report report;

        accuracy_scalars(&g, q);
        fill(&g, q, f[q / 4], f[q / 4], FAMILY_NORMAL);
        exact_open(&exact, &g);
        expected = exact_image(&exact);
        for (int s = 9; s <= 31; s++) {
            const int moduli = s == 9 ? 6 : s == 31 ? 49 : s, kernel = (s + q) % kernels.count;

            assert_true(accuracy_same(kernels.ctx[kernel], &g, ozg_with_moduli(ozg_rounded(), moduli),
                                      expected, &report, kernels.name[kernel]));
            assert_int_equal(report.moduli, moduli);
            assert_true(report_holds(&exact, g.c, expected, &report, "given moduli"));
        }
        free(expected);
        exact_close(&exact);
    }
}

/* C - AB where C is already RN(AB): what is left are the rounding errors. */
static void residuals(void **state)
{
    static const enum family f[] = {FAMILY_UNIFORM, FAMILY_NORMAL, FAMILY_PHI2,
                                    FAMILY_HILBERT, FAMILY_INSIDE, FAMILY_CANCEL};

    (void)state;
    for (int q = 0; q < 4 * 6 * 2; q++) {
        struct gemm g = shape(types[q % 4], q % 3 ? "NN" : "CT", 8, 6, q % 2 ? 65 : 17);

        fill(&g, q, f[q / 8], f[q / 8], FAMILY_ZEROS);
        assert_int_equal(gemm_run(kernels.ctx[q % kernels.count], &g, g.c, ozg_rounded(), NULL), OZG_OK);
        g.alpha[0] = q / 4 % 2 ? -1 : 1;
        g.beta[0] = -g.alpha[0];
        check_all(&g);
        if (type_is_complex(g.type)) { /* the same times i: the parts change places */
            g.alpha[1] = g.alpha[0];
            g.beta[1] = g.beta[0];
            g.alpha[0] = g.beta[0] = 0;
            check(&g, q, q);
        }
    }
}

/* Data that need no rounding: report.exact, and nothing is repaired even where nothing may be. */
static void exact_data(void **state)
{
    (void)state;
    for (int q = 0; q < 4 * 4; q++) {
        static const enum family f[] = {FAMILY_INTEGERS, FAMILY_SMALL, FAMILY_IDENTITY, FAMILY_ZEROS};
        struct gemm g = shape(types[q % 4], "NT", 9, 8, 21);
        ozg_context *ctx = kernel_context(NULL, 1, 0, 0);
        ozg_report report;
        void *after;

        accuracy_scalars(&g, q);
        fill(&g, q, f[q / 4], f[q / 4], FAMILY_INTEGERS);
        check(&g, q, q);
        after = accuracy_run(ctx, &g, ozg_rounded(), &report, "exact data");
        assert_non_null(after);
        assert_int_equal(report.repaired, 0);
        assert_int_equal(report.exact, 1);
        free(after);
        ozg_destroy(ctx);
    }
}

/* A limit on repairs: refused with an estimate before any work, C as it was; done without the limit. */
static void repair_limit(void **state)
{
    ozg_context *limited = kernel_context(NULL, 1, 0, 1);

    (void)state;
    for (int q = 0; q < 4; q++) {
        struct gemm g = shape(types[q], "NN", 20, 20, 60);
        void *before;

        fill(&g, q, FAMILY_PHI20, FAMILY_PHI20, FAMILY_NORMAL);
        before = gemm_image(&g);
        expect_error(limited, gemm_run(limited, &g, g.c, ozg_with_moduli(ozg_rounded(), 8), NULL),
                     OZG_E_UNSUPPORTED, 0);
        assert_true(gemm_same(&g, g.c, before, "refused"));
        assert_non_null(strpbrk(ozg_last_error(limited), "123456789")); /* the estimate */
        check(&g, q, q);
        free(before);
    }
    ozg_destroy(limited);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_transpose), cmocka_unit_test(every_alpha_beta), cmocka_unit_test(every_family),
        cmocka_unit_test(mixed_families),  cmocka_unit_test(random_products),  cmocka_unit_test(any_moduli),
        cmocka_unit_test(residuals),       cmocka_unit_test(exact_data),       cmocka_unit_test(repair_limit),
    };

    return cmocka_run_group_tests(tests, open_all, fixture_close);
}
