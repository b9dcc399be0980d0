/*
 * test_rounded_same.c - ozg_rounded() and ozg_native() give the same bits on every micro-kernel, with any
 * threads, tiles, plans and batches; prepared operands keep the promise. The reference of rounded is the
 * exact product.
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

#include "../unit/environment.h"
#include "accuracy.h"
#include "errors.h"
#include "fixture.h"

static const char types[] = {'s', 'd', 'c', 'z'};

static int open_all(void **state)
{
    (void)state;
    return fixture_open(8 << 20, 1);
}

static ozg_accuracy accuracy(int native)
{
    return native ? ozg_native() : ozg_rounded();
}

static struct gemm make(char type, const char trans[2], int64_t m, int64_t n, int64_t k, enum family f, int q)
{
    struct gemm g = {type, trans[0], trans[1], m, n, k, {1, 0}, {0, 0}, NULL, 0, NULL, 0, NULL, 0};
    struct rng r = {(uint64_t)q + 300};

    accuracy_scalars(&g, q);
    gemm_layout(&g, &arena, (struct padding){q % 3, q % 2, 1}, 1);
    gemm_fill(&g, &r, f, f, f);
    return g;
}

/* The reference: the exact image, or what the first kernel gives, which must keep the promise of native. */
static void *reference(const struct gemm *g, int native)
{
    struct exact exact;
    void *expected;

    exact_open(&exact, g);
    if (native) {
        ozg_report report;

        expected = accuracy_run(kernels.ctx[0], g, ozg_native(), &report, "reference");
        assert_non_null(expected);
        assert_true(native_holds(&exact, g->c, expected, "native"));
        assert_true(report_holds(&exact, g->c, expected, &report, "native"));
    } else {
        expected = exact_image(&exact);
    }
    exact_close(&exact);
    return expected;
}

/* Families that need few repairs, many, all; k-scaling; Inf and NaN. */
static const enum family families[] = {FAMILY_NORMAL, FAMILY_PHI4,  FAMILY_INSIDE, FAMILY_SPECIAL,
                                       FAMILY_EVIL2,  FAMILY_PHI20, FAMILY_SPARSE, FAMILY_GRADED_ROWS};
enum { FAMILIES = sizeof families / sizeof families[0] };

/* Sizes that are worth several threads on every kernel. */
static void kernels_and_threads(void **state)
{
    ozg_context *three[MAX_KERNELS];

    (void)state;
    for (int i = 0; i < kernels.count; i++)
        three[i] = kernel_context(kernels.name[i], 3, 0, UINT64_MAX);
    for (int q = 0; q < 2 * FAMILIES; q++) {
        const int native = q % 2, complex_type = q / 2 % 4 > 1;
        struct gemm g = make(types[q / 2 % 4], q % 3 ? "NT" : "CN", complex_type ? 31 : 57, 37,
                             complex_type ? 70 : 101, families[q / 2], q);
        void *expected = reference(&g, native);

        for (int i = 0; i < kernels.count; i++) {
            ozg_report report;

            assert_true(
                accuracy_same(kernels.ctx[i], &g, accuracy(native), expected, &report, kernels.name[i]));
            assert_true(report.k_chunks >= 1);
            assert_true(accuracy_same(three[i], &g, accuracy(native), expected, NULL, "3 threads"));
        }
        free(expected);
    }
    for (int i = 0; i < kernels.count; i++)
        ozg_destroy(three[i]);
}

/* Shapes so small that the plan may prefer another kernel. */
static void automatic_kernel(void **state)
{
    static const int64_t size[] = {1, 2, 5, 17};
    ozg_context *automatic = kernel_context(NULL, 1, 0, UINT64_MAX);

    (void)state;
    for (int q = 0; q < 64; q++) {
        const int native = q / 4 % 2;
        struct gemm g = make(types[q % 4], q % 3 ? "NT" : "CN", size[q / 2 % 4], size[q / 4 % 4],
                             size[q / 16], families[q % FAMILIES], q);
        void *expected = reference(&g, native);

        assert_true(accuracy_same(automatic, &g, accuracy(native), expected, NULL, "automatic"));
        for (int i = 0; i < kernels.count; i++)
            assert_true(accuracy_same(kernels.ctx[i], &g, accuracy(native), expected, NULL, kernels.name[i]));
        free(expected);
    }
    ozg_destroy(automatic);
}

/* The caller's rounding mode and flush to zero: no influence on bits or on what native decides. */
static void environments(void **state)
{
    static const enum family f[] = {FAMILY_PHI4, FAMILY_SUBNORMAL, FAMILY_TINY_TIES, FAMILY_EVIL2,
                                    FAMILY_SPARSE};

    (void)state;
    for (int q = 0; q < 2 * 4 * 5; q++) {
        const int native = q % 2;
        struct gemm g = make(types[q / 2 % 4], "TN", 9, 8, 40, f[q / 8], q);
        struct exact exact;
        void *expected = NULL;
        ozg_report usual, report;

        exact_open(&exact, &g);
        for (int e = 0; e < ENVIRONMENTS; e++) {
            void *after;

            environment_set(e);
            after = accuracy_run(kernels.ctx[(q + e) % kernels.count], &g, accuracy(native), &report,
                                 environment_name[e]);
            environment_set(0);
            assert_non_null(after);
            if (e == 0) {
                expected = after;
                usual = report;
            }
            assert_true(gemm_same(&g, after, expected, environment_name[e]));
            assert_true(report_holds(&exact, g.c, after, &report, environment_name[e]));
            assert_true(!native || (report.moduli == usual.moduli && report.repaired == usual.repaired));
            if (e > 0)
                free(after);
        }
        free(expected);
        exact_close(&exact);
    }
}

/* A small workspace makes tiles along m, n or both. */
static void tiles(void **state)
{
    static const int64_t shape[][3] = {{230, 190, 60}, {800, 4, 200}, {3, 900, 210}};
    int tiled = 0;

    (void)state;
    for (int q = 0; q < 12; q++) {
        const int64_t *d = shape[q / 4];
        const int native = q % 2;
        const size_t limit = (size_t)3 << 18;
        struct gemm g = make(q % 5 == 4 ? 'c' : 'd', q % 4 > 1 ? "TN" : "NC", d[0], d[1],
                             q % 5 == 4 ? d[2] / 2 : d[2], families[q % 6], q);
        ozg_context *whole = kernel_context(NULL, 2, (size_t)1 << 30, UINT64_MAX);
        ozg_context *small = kernel_context(kernels.name[q % kernels.count], 2, limit, UINT64_MAX);
        ozg_report one, many;
        void *expected = accuracy_run(whole, &g, accuracy(native), &one, "whole");

        assert_non_null(expected);
        assert_true(accuracy_same(small, &g, accuracy(native), expected, &many, "tiles"));
        assert_true(many.workspace_bytes <= limit);
        if (native) { /* all that belongs to the definition */
            assert_int_equal(one.moduli, many.moduli);
            assert_true(one.repaired == many.repaired);
            assert_memory_equal(&one.bound, &many.bound, sizeof one.bound);
        }
        tiled += many.tiles > 1 && many.tiles > one.tiles;
        free(expected);
        ozg_destroy(whole);
        ozg_destroy(small);
    }
    assert_true(tiled >= 6);
}

static void plans(void **state)
{
    (void)state;
    for (int q = 0; q < 48; q++) {
        const int native = q / 4 % 2;
        struct gemm g = make(types[q % 4], q % 3 ? "Tn" : "Nc", q < 40 ? 3 + q : 0, 9, q < 44 ? 31 : 0,
                             families[q / 4 % FAMILIES], q);
        void *expected = reference(&g, native), *c = gemm_image(&g);

        assert_int_equal(gemm_run_plan(kernels.ctx[q % kernels.count], &g, c, accuracy(native), q % 5 == 0),
                         OZG_OK);
        assert_true(gemm_same(&g, c, expected, "plan"));
        free(expected);
        free(c);
    }
}

/* One plan on data that need few moduli and on data that need many. */
static void plan_reuse(void **state)
{
    static const double one = 1, minus = -1;

    (void)state;
    for (int native = 0; native < 2; native++) {
        ozg_plan *plan;
        char *work;

        assert_int_equal(ozg_plan_create(&plan, kernels.ctx[0], 'd', 'T', 'N', 20, 10, 60, accuracy(native)),
                         OZG_OK);
        work = malloc(ozg_plan_workspace(plan) + 1);
        assert_non_null(work);
        for (int q = 0; q < 2 * FAMILIES; q++) {
            struct gemm g = make('d', "TN", 20, 10, 60, families[q % FAMILIES], 1); /* alpha = -1, beta = 1 */
            void *expected, *c = gemm_image(&g);

            g.alpha[0] = 1;
            g.beta[0] = -1;
            expected = reference(&g, native);
            assert_int_equal(ozg_plan_run(plan, &one, g.a, g.lda, g.b, g.ldb, &minus, c, g.ldc,
                                          q % 3 ? work + 1 : NULL, NULL),
                             OZG_OK);
            assert_true(gemm_same(&g, c, expected, "plan again"));
            free(expected);
            free(c);
        }
        free(work);
        ozg_plan_destroy(plan);
    }
}

/*
 * A prepared, B prepared, both: rounded has the same bits; native keeps the promise, alike on every kernel.
 */
static void prepared_one(const struct gemm *g, int native, ozg_accuracy acc, const struct exact *exact)
{
    void *expected[3] = {NULL, NULL, NULL}, *c;

    for (int i = 0; i < kernels.count; i++) {
        ozg_context *ctx = kernels.ctx[i];
        ozg_accuracy fitting;
        ozg_operand *pa, *pb;

        assert_int_equal(ozg_operand_create(&pa, ctx, g->type, 'A', g->transa, g->m, g->k, g->a, g->lda, acc),
                         OZG_OK);
        fitting = ozg_with_moduli(acc, ozg_operand_moduli(pa));
        assert_int_equal(
            ozg_operand_create(&pb, ctx, g->type, 'B', g->transb, g->k, g->n, g->b, g->ldb, fitting), OZG_OK);
        assert_int_equal(ozg_operand_moduli(pb), ozg_operand_moduli(pa));
        for (int which = 0; which < 3; which++) {
            ozg_report report;

            c = gemm_image(g);
            if (gemm_run_prepared(ctx, g, which == 1 ? NULL : pa, which == 0 ? NULL : pb, c, acc, &report) !=
                OZG_OK)
                fail_msg("%s", ozg_last_error(ctx));
            if (expected[which] == NULL)
                expected[which] = native ? c : exact_image(exact);
            assert_true(gemm_same(g, c, expected[which], "prepared"));
            assert_true(i > 0 || native_holds(exact, g->c, c, "prepared"));
            assert_true(i > 0 || report_holds(exact, g->c, c, &report, "prepared"));
            if (c != expected[which])
                free(c);
        }
        ozg_operand_destroy(pa);
        ozg_operand_destroy(pb);
    }
    for (int which = 0; which < 3; which++)
        free(expected[which]);
}

static void prepared_operands(void **state)
{
    (void)state;
    for (int q = 0; q < 4 * FAMILIES; q++) {
        const int native = q / 4 % 2;
        struct gemm g = make(types[q % 4], q % 3 ? "TN" : "nc", 13 + q / 4, 9, 40 + q, families[q / 4], q);
        struct exact exact;

        exact_open(&exact, &g);
        prepared_one(&g, native, ozg_with_moduli(accuracy(native), 11 + q % 20), &exact);
        exact_close(&exact);
    }
}

/* The number of moduli left to the operand. */
static void prepared_by_data(void **state)
{
    (void)state;
    for (int q = 0; q < 2 * FAMILIES; q++) {
        const int native = q % 2;
        struct gemm g = make(types[q / 2 % 4], "TN", 13, 9, 70, families[q / 2], q);
        struct exact exact;

        exact_open(&exact, &g);
        prepared_one(&g, native, accuracy(native), &exact);
        exact_close(&exact);
    }
}

/* Two operands of different numbers of moduli, or of another accuracy than the call, do not fit. */
static void prepared_unlike(void **state)
{
    struct gemm g = make('d', "NN", 6, 7, 30, FAMILY_NORMAL, 0);
    void *c = gemm_image(&g);
    ozg_operand *pa, *pb;

    (void)state;
    for (int native = 0; native < 2; native++) {
        const ozg_accuracy acc = accuracy(native), other = accuracy(!native);

        assert_int_equal(ozg_operand_create(&pa, kernels.ctx[0], 'd', 'A', 'N', 6, 30, g.a, g.lda,
                                            ozg_with_moduli(acc, 15)),
                         OZG_OK);
        assert_int_equal(ozg_operand_create(&pb, kernels.ctx[0], 'd', 'B', 'N', 30, 7, g.b, g.ldb,
                                            ozg_with_moduli(acc, 16)),
                         OZG_OK);
        assert_int_equal(ozg_operand_moduli(pb), 16);
        expect_error(kernels.ctx[0], gemm_run_prepared(kernels.ctx[0], &g, pa, pb, c, acc, NULL), OZG_E_ARG,
                     11);
        expect_error(kernels.ctx[0], gemm_run_prepared(kernels.ctx[0], &g, pa, NULL, c, other, NULL),
                     OZG_E_ARG, 8);
        expect_error(kernels.ctx[0],
                     gemm_run_prepared(kernels.ctx[0], &g, NULL, pb, c, ozg_with_moduli(acc, 15), NULL),
                     OZG_E_ARG, 11);
        expect_error(kernels.ctx[0], gemm_run_prepared(kernels.ctx[0], &g, pa, NULL, c, ozg_moduli(15), NULL),
                     OZG_E_ARG, 8);
        assert_true(gemm_same(&g, c, g.c, "refused"));
        ozg_operand_destroy(pa);
        ozg_operand_destroy(pb);
    }
    free(c);
}

enum { BATCH = 6, BATCH_M = 6, BATCH_N = 7, BATCH_K = 29 };

/* Each product of a batch as if it were alone, whatever its neighbours need. */
static void batches(void **state)
{
    static double a[BATCH * BATCH_M * BATCH_K], b[BATCH * BATCH_K * BATCH_N], c[BATCH * 50],
        alone[BATCH * 50];
    struct rng r = {41};
    const double *pa[BATCH], *pb[BATCH];
    double *pc[BATCH];

    (void)state;
    for (int q = 0; q < BATCH; q++) {
        const enum family f = families[q];
        const struct view va = {'d', 'N', a + q * BATCH_M * BATCH_K, BATCH_M};
        const struct view vb = {'d', 'N', b + q * BATCH_K * BATCH_N, BATCH_K};

        family_fill(f, &r, &va, 'A', BATCH_M, BATCH_K, (void *)(uintptr_t)va.x);
        family_fill(f, &r, &vb, 'B', BATCH_K, BATCH_N, (void *)(uintptr_t)vb.x);
        pa[q] = va.x;
        pb[q] = vb.x;
        pc[q] = c + q * 50;
    }
    for (int way = 0; way < 4; way++) {
        ozg_accuracy acc = accuracy(way % 2);
        ozg_report report;

        for (int i = 0; i < BATCH * 50; i++)
            c[i] = alone[i] = i / 7.0;
        for (int q = 0; q < BATCH; q++)
            assert_int_equal(ozg_dgemm(kernels.ctx[0], 'N', 'N', BATCH_M, BATCH_N, BATCH_K, 1.5, pa[q],
                                       BATCH_M, pb[q], BATCH_K, -1, alone + q * 50, 7, acc, NULL),
                             OZG_OK);
        if (way < 2)
            assert_int_equal(ozg_dgemm_batch_strided(kernels.ctx[kernels.count - 1], 'N', 'N', BATCH_M,
                                                     BATCH_N, BATCH_K, 1.5, a, BATCH_M, BATCH_M * BATCH_K, b,
                                                     BATCH_K, BATCH_K * BATCH_N, -1, c, 7, 50, BATCH, acc,
                                                     &report),
                             OZG_OK);
        else
            assert_int_equal(ozg_dgemm_batch(kernels.ctx[0], 'N', 'N', BATCH_M, BATCH_N, BATCH_K, 1.5, pa,
                                             BATCH_M, pb, BATCH_K, -1, pc, 7, BATCH, acc, &report),
                             OZG_OK);
        assert_memory_equal(c, alone, sizeof c);
        assert_true(report.bound > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_and_threads),
        cmocka_unit_test(automatic_kernel),
        cmocka_unit_test(environments),
        cmocka_unit_test(tiles),
        cmocka_unit_test(plans),
        cmocka_unit_test(plan_reuse),
        cmocka_unit_test(prepared_operands),
        cmocka_unit_test(prepared_by_data),
        cmocka_unit_test(prepared_unlike),
        cmocka_unit_test(batches),
    };

    return cmocka_run_group_tests(tests, open_all, fixture_close);
}
