/*
 * test_equal.c - the same bits whatever the micro-kernel, threads, tiles, plans, prepared operands and
 * batches.
 *
 * Each way to compute a product is compared byte by byte with one reference, the first context; that one is
 * compared with the oracle in tests/oracle.
 *
 * SPDX-License-Identifier: MIT
 */
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
    return fixture_open(48 << 20, 1);
}

/* The reference: the first context. C of g stays as it was. */
static void *reference(const struct gemm *g, ozg_accuracy acc)
{
    void *c = gemm_image(g);

    assert_int_equal(gemm_run(kernels.ctx[0], g, c, acc, NULL), OZG_OK);
    return c;
}

static void same_on(ozg_context *ctx, const struct gemm *g, ozg_accuracy acc, const void *expected,
                    const char *label, ozg_report *report)
{
    void *c = gemm_image(g);

    assert_int_equal(gemm_run(ctx, g, c, acc, report), OZG_OK);
    assert_true(gemm_same(g, c, expected, label));
    free(c);
}

/* Large enough that several threads are worth their start on every kernel. */
static void kernels_and_threads(void **state)
{
    (void)state;
    for (int q = 0; q < 4; q++) {
        struct gemm g = gemm_make(&arena, types[q], q % 2 ? "CN" : "NT", 150 + q, 131, 160 - q,
                                  q % 3 ? FAMILY_UNIFORM : FAMILY_SPECIAL, (uint64_t)q);
        ozg_accuracy acc = ozg_moduli(20 + q);
        void *expected = reference(&g, acc);

        for (int i = 0; i < kernels.count; i++) {
            ozg_report report;

            same_on(kernels.ctx[i], &g, acc, expected, kernels.name[i], &report);
            assert_string_equal(report.kernel, kernels.name[i]);
            for (int threads = 2; threads <= 4; threads++) {
                ozg_context *ctx = kernel_context(kernels.name[i], threads, 0, UINT64_MAX);

                same_on(ctx, &g, acc, expected, "threads", NULL);
                ozg_destroy(ctx);
            }
        }
        free(expected);
    }
}

/* Shapes so small that the plan may prefer a kernel other than the first: the bits are those of each. */
static void automatic_kernel(void **state)
{
    static const int64_t size[] = {1, 2, 5, 17};
    ozg_context *automatic = kernel_context(NULL, 1, 0, UINT64_MAX);
    int others = 0;

    (void)state;
    for (int q = 0; q < 4 * 64; q++) {
        struct gemm g =
            gemm_make(&arena, types[q % 4], q % 3 ? "NT" : "CN", size[q / 4 % 4], size[q / 16 % 4],
                      size[q / 64], q % 5 ? FAMILY_UNIFORM : FAMILY_SPECIAL, (uint64_t)q);
        ozg_accuracy acc = ozg_moduli(8 + q % 20);
        void *expected = gemm_image(&g);
        ozg_report report;

        assert_int_equal(gemm_run(automatic, &g, expected, acc, &report), OZG_OK);
        others += strcmp(report.kernel, kernels.name[0]) != 0;
        for (int i = 0; i < kernels.count; i++)
            same_on(kernels.ctx[i], &g, acc, expected, kernels.name[i], NULL);
        free(expected);
    }
    if (kernels.count > 1)
        assert_true(others > 0); /* one row or column is not worth the tiles of the fastest */
    ozg_destroy(automatic);
}

/* 4 to 8 MB of workspace against 2 GB: the report must say that there were more tiles. */
static void tiles(void **state)
{
    static const int64_t shape[][3] = {{600, 500, 300}, {1500, 5, 700}, {7, 1500, 700}};
    int tiled = 0;

    (void)state;
    for (int q = 0; q < 6; q++) {
        const int64_t *d = shape[q / 2];
        char type = types[(q + q / 2) % 4];
        struct gemm g =
            gemm_make(&arena, type, q % 2 ? "TN" : "NC", d[0], d[1], d[2], FAMILY_UNIFORM, (uint64_t)q);
        ozg_accuracy acc = ozg_moduli(q % 2 ? 16 : 9);
        size_t limit = (size_t)(4 + q % 5) << 20;
        ozg_context *whole = kernel_context(NULL, 2, (size_t)2 << 30, UINT64_MAX),
                    *small = kernel_context(NULL, 2, limit, UINT64_MAX);
        ozg_report one, many;
        void *expected = gemm_image(&g);

        assert_int_equal(gemm_run(whole, &g, expected, acc, &one), OZG_OK);
        same_on(small, &g, acc, expected, "tiles", &many);
        assert_true(many.workspace_bytes <= limit);
        tiled += many.tiles > 1 && many.tiles > one.tiles;
        free(expected);
        ozg_destroy(whole);
        ozg_destroy(small);
    }
    assert_true(tiled >= 4); /* with 9 moduli some of these shapes fit as one tile */
}

/* Several chunks of k in one product, tiled or not. */
static void chunks(void **state)
{
    (void)state;
    for (int q = 0; q < 2; q++) {
        struct gemm g = gemm_make(&arena, q ? 'c' : 'd', "TN", 2, 3, 270000, FAMILY_UNIFORM, 5);
        ozg_accuracy acc = ozg_moduli(12);
        ozg_context *small = kernel_context(NULL, 1, (size_t)8 << 20, UINT64_MAX);
        ozg_report report;
        void *expected = reference(&g, acc);

        same_on(kernels.ctx[kernels.count - 1], &g, acc, expected, "chunks", &report);
        assert_true(report.k_chunks >= 3);
        same_on(small, &g, acc, expected, "chunks in a small workspace", &report);
        free(expected);
        ozg_destroy(small);
    }
}

static void plans(void **state)
{
    (void)state;
    for (int q = 0; q < 24; q++) {
        struct gemm g = gemm_make(&arena, types[q % 4], q % 3 ? "Tn" : "Nc", q < 20 ? 17 + q : 0, 9,
                                  q < 22 ? 31 : 0, FAMILY_UNIFORM, (uint64_t)q);
        ozg_accuracy acc = q % 2 ? ozg_moduli(14) : ozg_width(47);
        void *expected = reference(&g, acc), *c = gemm_image(&g);

        assert_int_equal(gemm_run_plan(kernels.ctx[q % kernels.count], &g, c, acc, q % 5 == 0), OZG_OK);
        assert_true(gemm_same(&g, c, expected, "plan"));
        free(expected);
        free(c);
    }
}

/* A plan runs often, on other data and leading dimensions. */
static void plan_reuse(void **state)
{
    ozg_accuracy acc = ozg_moduli(15);
    ozg_plan *plan;
    double one = 1, zero = 0;

    (void)state;
    assert_int_equal(ozg_plan_create(&plan, kernels.ctx[0], 'd', 'T', 'N', 20, 10, 30, acc), OZG_OK);
    for (int q = 0; q < 5; q++) {
        struct gemm g =
            gemm_make(&arena, 'd', "TN", 20, 10, 30, q == 3 ? FAMILY_SPECIAL : FAMILY_UNIFORM, (uint64_t)q);
        void *expected = gemm_image(&g), *c = gemm_image(&g);

        g.alpha[0] = 1;
        g.beta[0] = 0;
        assert_int_equal(gemm_run(kernels.ctx[0], &g, expected, acc, NULL), OZG_OK);
        assert_int_equal(ozg_plan_run(plan, &one, g.a, g.lda, g.b, g.ldb, &zero, c, g.ldc, NULL, NULL),
                         OZG_OK);
        assert_true(gemm_same(&g, c, expected, "plan again"));
        free(expected);
        free(c);
    }
    ozg_plan_destroy(plan);
}

/* A prepared, B prepared, both; then with the originals overwritten, since operands are copies. */
static void prepared_operands(void **state)
{
    (void)state;
    for (int q = 0; q < 16; q++) {
        struct gemm g = gemm_make(&arena, types[q % 4], q % 3 ? "TN" : "nc", 23 + q, 19, 40 + 3 * q,
                                  q > 11 ? FAMILY_SPECIAL : FAMILY_WIDE, (uint64_t)q);
        ozg_accuracy acc = q % 2 ? ozg_moduli(16) : ozg_width(40);
        ozg_context *ctx = kernels.ctx[q % kernels.count];
        void *expected = reference(&g, acc), *c;
        ozg_operand *pa, *pb;

        assert_int_equal(ozg_operand_create(&pa, ctx, g.type, 'A', g.transa, g.m, g.k, g.a, g.lda, acc),
                         OZG_OK);
        assert_int_equal(ozg_operand_create(&pb, ctx, g.type, 'B', g.transb, g.k, g.n, g.b, g.ldb, acc),
                         OZG_OK);
        for (int which = 0; which < 4; which++) {
            if (which == 3) { /* both, twice, the second time without the matrices */
                g.a = g.b = NULL;
                g.lda = g.ldb = 0;
                g.transa = g.transb = '?';
            }
            c = gemm_image(&g);
            if (gemm_run_prepared(ctx, &g, which == 1 ? NULL : pa, which == 0 ? NULL : pb, c, acc, NULL) !=
                OZG_OK)
                fail_msg("%s", ozg_last_error(ctx));
            assert_true(gemm_same(&g, c, expected, "prepared"));
            free(c);
        }
        ozg_operand_destroy(pa);
        ozg_operand_destroy(pb);
        free(expected);
    }
}

/* One prepared operand in many products, in a small workspace that forces tiles. */
static void prepared_in_tiles(void **state)
{
    (void)state;
    for (int side = 0; side < 2; side++) {
        struct gemm g = gemm_make(&arena, 'd', "NN", 700, 500, 250, FAMILY_UNIFORM, 9);
        ozg_accuracy acc = ozg_moduli(16);
        ozg_context *small = kernel_context(NULL, 2, (size_t)4 << 20, UINT64_MAX);
        ozg_report report;
        ozg_operand *p;
        void *expected = reference(&g, acc), *c = gemm_image(&g);

        if (side == 0)
            assert_int_equal(ozg_operand_create(&p, small, 'd', 'A', 'N', 700, 250, g.a, g.lda, acc), OZG_OK);
        else
            assert_int_equal(ozg_operand_create(&p, small, 'd', 'B', 'N', 250, 500, g.b, g.ldb, acc), OZG_OK);
        assert_int_equal(gemm_run_prepared(small, &g, side ? NULL : p, side ? p : NULL, c, acc, &report),
                         OZG_OK);
        assert_true(gemm_same(&g, c, expected, "prepared in tiles"));
        assert_true(report.tiles > 1);
        ozg_operand_destroy(p);
        ozg_destroy(small);
        free(expected);
        free(c);
    }
}

enum { BATCH = 5, BATCH_M = 6, BATCH_N = 7, BATCH_K = 9 };

/* Strided batches against single products; stride 0 shares A or B. */
static void strided_batches(void **state)
{
    struct rng r = {31};
    double a[BATCH * BATCH_M * BATCH_K], b[BATCH * BATCH_K * BATCH_N], c[BATCH * 50], one_by_one[BATCH * 50];
    const struct view va = {'d', 'N', a, BATCH_M}, vb = {'d', 'N', b, BATCH_K};
    ozg_accuracy acc = ozg_moduli(14);

    (void)state;
    family_fill(FAMILY_SPIKE, &r, &va, 'A', BATCH_M, BATCH * BATCH_K, a);
    family_fill(FAMILY_SPIKE, &r, &vb, 'B', BATCH_K, BATCH * BATCH_N, b);
    for (int shared = 0; shared < 4; shared++) {
        int64_t sa = shared & 1 ? 0 : BATCH_M * BATCH_K, sb = shared & 2 ? 0 : BATCH_K * BATCH_N;

        for (int i = 0; i < BATCH * 50; i++)
            c[i] = one_by_one[i] = i / 7.0;
        for (int q = 0; q < BATCH; q++)
            assert_int_equal(ozg_dgemm(kernels.ctx[0], 'N', 'N', BATCH_M, BATCH_N, BATCH_K, 1.5, a + q * sa,
                                       BATCH_M, b + q * sb, BATCH_K, -1, one_by_one + q * 50, 7, acc, NULL),
                             OZG_OK);
        assert_int_equal(ozg_dgemm_batch_strided(kernels.ctx[0], 'N', 'N', BATCH_M, BATCH_N, BATCH_K, 1.5, a,
                                                 BATCH_M, sa, b, BATCH_K, sb, -1, c, 7, 50, BATCH, acc, NULL),
                         OZG_OK);
        assert_memory_equal(c, one_by_one, sizeof c);
    }
    assert_int_equal(ozg_dgemm_batch_strided(kernels.ctx[0], 'N', 'N', BATCH_M, BATCH_N, BATCH_K, 1.5, a,
                                             BATCH_M, 0, b, BATCH_K, 0, -1, c, 7, 50, 0, acc, NULL),
                     OZG_OK);
    assert_memory_equal(c, one_by_one, sizeof c); /* count 0 does nothing */
}

/* C matrices may lie between each other's columns, as long as they share no element. */
static void interleaved_batches(void **state)
{
    struct rng r = {33};
    double a[4], b[BATCH * 4], c[2 * 2 * BATCH], one_by_one[2 * 2 * BATCH];
    const struct view va = {'d', 'N', a, 2}, vb = {'d', 'N', b, 2};
    ozg_accuracy acc = ozg_moduli(14);

    (void)state;
    family_fill(FAMILY_UNIFORM, &r, &va, 'A', 2, 2, a);
    family_fill(FAMILY_UNIFORM, &r, &vb, 'B', 2, BATCH * 2, b);
    memset(c, 0, sizeof c);
    memset(one_by_one, 0, sizeof one_by_one);
    for (int q = 0; q < BATCH; q++)
        assert_int_equal(ozg_dgemm(kernels.ctx[0], 'N', 'N', 2, 2, 2, 1, a, 2, b + 4 * q, 2, 0,
                                   one_by_one + 2 * q, 2 * BATCH, acc, NULL),
                         OZG_OK);
    assert_int_equal(ozg_dgemm_batch_strided(kernels.ctx[0], 'N', 'N', 2, 2, 2, 1, a, 2, 0, b, 2, 4, 0, c,
                                             2 * BATCH, 2, BATCH, acc, NULL),
                     OZG_OK);
    assert_memory_equal(c, one_by_one, sizeof c);
}

static void pointer_batches(void **state)
{
    struct rng r = {32};
    double a[BATCH * BATCH_M * BATCH_K], b[BATCH * BATCH_K * BATCH_N], c[BATCH * 50], one_by_one[BATCH * 50];
    const struct view va = {'d', 'T', a, BATCH_K}, vb = {'d', 'N', b, BATCH_K};
    const double *pa[BATCH], *pb[BATCH];
    double *pc[BATCH];
    ozg_accuracy acc = ozg_width(50);
    ozg_report report;

    (void)state;
    family_fill(FAMILY_UNIFORM, &r, &va, 'A', BATCH * BATCH_M, BATCH_K, a);
    family_fill(FAMILY_UNIFORM, &r, &vb, 'B', BATCH_K, BATCH * BATCH_N, b);
    for (int i = 0; i < BATCH * 50; i++)
        c[i] = one_by_one[i] = i / 7.0;
    for (int q = 0; q < BATCH; q++) {
        pa[q] = a + (q * 2 % BATCH) * BATCH_M * BATCH_K;
        pb[q] = b + (q / 2) * BATCH_K * BATCH_N;
        pc[q] = c + (BATCH - 1 - q) * 50;
        assert_int_equal(ozg_dgemm(kernels.ctx[0], 'T', 'N', BATCH_M, BATCH_N, BATCH_K, 1.5, pa[q], BATCH_K,
                                   pb[q], BATCH_K, -1, one_by_one + (BATCH - 1 - q) * 50, 7, acc, NULL),
                         OZG_OK);
    }
    assert_int_equal(ozg_dgemm_batch(kernels.ctx[0], 'T', 'N', BATCH_M, BATCH_N, BATCH_K, 1.5, pa, BATCH_K,
                                     pb, BATCH_K, -1, pc, 7, BATCH, acc, &report),
                     OZG_OK);
    assert_memory_equal(c, one_by_one, sizeof c);
    assert_int_equal(report.emulated, 1);
    assert_true(report.bound > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_and_threads),
        cmocka_unit_test(automatic_kernel),
        cmocka_unit_test(tiles),
        cmocka_unit_test(chunks),
        cmocka_unit_test(plans),
        cmocka_unit_test(plan_reuse),
        cmocka_unit_test(prepared_operands),
        cmocka_unit_test(prepared_in_tiles),
        cmocka_unit_test(strided_batches),
        cmocka_unit_test(interleaved_batches),
        cmocka_unit_test(pointer_batches),
    };

    return cmocka_run_group_tests(tests, open_all, fixture_close);
}
