/*
 * test_winograd.c - the same bits whether or not the product stage goes by Winograd: all types, accuracies,
 * transpositions, kernels, threads, tiles and chunks; and a workspace that ends at a page that faults.
 *
 * The problems of tests/golden are smaller than the smallest tile that Winograd cuts (64 rows), so hashes say
 * nothing about it; products without it are compared with the oracle in tests/oracle.
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
#include "cpu/parts.h"
#include "guard.h"
#include "plan.h"

static struct arena arena;

static int open_arena(void **state)
{
    (void)state;
    arena_open(&arena, 64 << 20);
    return 0;
}

static int close_arena(void **state)
{
    (void)state;
    arena_close(&arena);
    return 0;
}

/* winograd: OZG_WINOGRAD_... */
static ozg_context *open_context(const char *kernel, int threads, size_t memory_limit, int winograd)
{
    ozg_context *ctx = kernel_context(kernel, threads, memory_limit, UINT64_MAX);

    ctx->winograd = winograd;
    return ctx;
}

static ozg_accuracy accuracy_of(int number)
{
    switch (number) {
    case 0:
        return ozg_native();
    case 1:
        return ozg_rounded();
    case 2:
        return ozg_accurate(17);
    case 3:
        return ozg_width(50);
    default:
        return ozg_moduli(8 + number);
    }
}

static void *product(ozg_context *ctx, const struct gemm *g, ozg_accuracy acc, ozg_report *report)
{
    void *c = gemm_image(g);

    assert_int_equal(gemm_run(ctx, g, c, acc, report), OZG_OK);
    return c;
}

/* The plan of this product goes by Winograd. */
static int is_winograd(ozg_context *ctx, const struct gemm *g, ozg_accuracy acc)
{
    const ozg_shape shape = {g->type, g->transa, g->transb, g->m, g->n, g->k, acc};
    ozg_plan plan;

    assert_int_equal(ozg_plan_make(&plan, ctx, &shape, 0, 0), OZG_OK);
    return plan.winograd && ozg_halves_of(plan.kernel, plan.mt, plan.nt, plan.kt).rows > 0;
}

static void all_kinds(void **state)
{
    static const char types[] = "sdcz", trans[] = "NTC";
    static const enum family families[] = {FAMILY_UNIFORM, FAMILY_SPECIAL, FAMILY_WIDE};

    (void)state;
    for (int i = 0; ozg_kernel_name(i); i++)
        for (int q = 0; q < 36; q++) {
            const char op[2] = {trans[q / 4 % 3], trans[q / 3 % 3]};
            const int is_ref = strcmp(ozg_kernel_name(i), "ref") == 0; /* slow */
            struct gemm g = gemm_make(&arena, types[q % 4], op, 64 + (q * 37) % 150, 65 + (q * 53) % 140,
                                      66 + (q * 71) % 300, families[q / 6 % 3], (uint64_t)q);
            const ozg_accuracy acc = accuracy_of(q / 4 % 6);
            ozg_context *with = open_context(ozg_kernel_name(i), 1 + q % 3, 0, OZG_WINOGRAD_ALWAYS),
                        *without = open_context(ozg_kernel_name(i), 1, 0, OZG_WINOGRAD_NEVER);
            void *expected, *c;

            assert_true(is_winograd(with, &g, acc));
            assert_false(is_winograd(without, &g, acc));
            if (!is_ref || q % 9 == 0) {
                expected = product(without, &g, acc, NULL);
                c = product(with, &g, acc, NULL);
                assert_true(gemm_same(&g, c, expected, ozg_kernel_name(i)));
                free(expected);
                free(c);
            }
            ozg_destroy(with);
            ozg_destroy(without);
        }
}

/* One product in little memory, or with long k. */
static void check_limit(const char *kernel, const struct gemm *g, ozg_accuracy acc, size_t limit,
                        ozg_report *report)
{
    ozg_context *with = open_context(kernel, 2, limit, OZG_WINOGRAD_ALWAYS),
                *without = open_context(kernel, 2, (size_t)2 << 30, OZG_WINOGRAD_NEVER);
    void *expected = product(without, g, acc, NULL), *c = product(with, g, acc, report);

    assert_true(gemm_same(g, c, expected, kernel));
    assert_true(report->workspace_bytes <= limit);
    assert_true(is_winograd(with, g, acc));
    free(expected);
    free(c);
    ozg_destroy(with);
    ozg_destroy(without);
}

/* Little memory: several tiles, some too small for halves; chunks along k, the last one too small. */
static void tiles_and_chunks(void **state)
{
    static const int64_t shape[][3] = {{600, 500, 300}, {333, 1000, 200}, {70, 80, 66000}, {65, 70, 65600}};
    static const size_t limit[] = {(size_t)6 << 20, (size_t)5 << 20, (size_t)1 << 30, (size_t)1 << 30};
    int tiled = 0, chunked = 0;

    (void)state;
    for (int q = 0; q < 8; q++) {
        const int64_t *d = shape[q / 2];
        struct gemm g = gemm_make(&arena,
                                  q % 2       ? 'd'
                                  : q / 2 < 2 ? 'c'
                                              : 's',
                                  q % 2 ? "TN" : "NT", d[0], d[1], d[2], FAMILY_UNIFORM, (uint64_t)q);

        for (int i = 0; ozg_kernel_name(i); i++) {
            const int is_ref = strcmp(ozg_kernel_name(i), "ref") == 0; /* slow */
            ozg_report report;

            if (is_ref ? q > 0 : q >= 4 && (i + q) % 3) /* one or two long products each */
                continue;
            check_limit(ozg_kernel_name(i), &g, q % 4 == 3 ? ozg_native() : ozg_moduli(9), limit[q / 2],
                        &report);
            tiled += report.tiles > 2;
            chunked += report.k_chunks > 1;
        }
    }
    assert_true(tiled >= 1);
    assert_true(!ozg_kernel_name(1) || chunked >= 1); /* ref alone: no long product */
}

/* A caller's workspace of exactly the bytes that the plan names: a read or write behind it faults. */
static void workspace_is_honoured(void **state)
{
    (void)state;
    for (int i = 0; ozg_kernel_name(i); i++)
        for (int q = 0; q < 6; q++) {
            const int is_large = q == 5; /* three blocks of a quarter are more memory than a block without */
            struct gemm g =
                gemm_make(&arena, "dzs"[q % 3], "NT", is_large ? 530 : 130 + 11 * q,
                          is_large ? 790 : 140 - 7 * q, is_large ? 70 : 150, FAMILY_UNIFORM, (uint64_t)q);
            const ozg_accuracy acc = q < 3 || is_large ? ozg_moduli(8) : ozg_native();
            ozg_context *with = open_context(ozg_kernel_name(i), 2, 0, OZG_WINOGRAD_ALWAYS),
                        *without = open_context(ozg_kernel_name(i), 2, 0, OZG_WINOGRAD_NEVER);
            void *expected = product(without, &g, acc, NULL), *c = gemm_image(&g);
            double alpha[2] = {g.alpha[0], g.alpha[1]}, beta[2] = {g.beta[0], g.beta[1]};
            float alpha_single = (float)alpha[0], beta_single = (float)beta[0];
            struct guard memory;
            ozg_plan *plan;
            size_t bytes;

            assert_int_equal(ozg_plan_create(&plan, with, g.type, g.transa, g.transb, g.m, g.n, g.k, acc),
                             OZG_OK);
            assert_int_equal(plan->winograd, 1);
            bytes = ozg_plan_workspace(plan);
            guard_open(&memory, bytes);
            for (int tail = 0; tail < 2; tail++) {
                memcpy(c, g.c, gemm_image_bytes(&g));
                assert_int_equal(ozg_plan_run(plan, g.type == 's' ? (void *)&alpha_single : alpha, g.a, g.lda,
                                              g.b, g.ldb, g.type == 's' ? (void *)&beta_single : beta, c,
                                              g.ldc, tail ? guard_tail(&memory, bytes) : guard_head(&memory),
                                              NULL),
                                 OZG_OK);
                assert_true(gemm_same(&g, c, expected, "workspace"));
            }
            ozg_plan_destroy(plan);
            guard_close(&memory);
            free(expected);
            free(c);
            ozg_destroy(with);
            ozg_destroy(without);
        }
}

/* Prepared operands have no sums of quarters: such products stay classical, also where Winograd is forced. */
static void prepared_is_classical(void **state)
{
    struct gemm g = gemm_make(&arena, 'd', "NN", 200, 200, 200, FAMILY_UNIFORM, 1);
    ozg_context *with = open_context(NULL, 1, 0, OZG_WINOGRAD_ALWAYS);
    const ozg_accuracy acc = ozg_moduli(15);
    void *expected = product(with, &g, acc, NULL), *c = gemm_image(&g);
    ozg_operand *pa;

    (void)state;
    assert_true(is_winograd(with, &g, acc));
    assert_int_equal(ozg_operand_create(&pa, with, 'd', 'A', 'N', g.m, g.k, g.a, g.lda, acc), OZG_OK);
    assert_int_equal(gemm_run_prepared(with, &g, pa, NULL, c, acc, NULL), OZG_OK);
    assert_true(gemm_same(&g, c, expected, "prepared"));
    ozg_operand_destroy(pa);
    ozg_destroy(with);
    free(expected);
    free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_kinds),
        cmocka_unit_test(tiles_and_chunks),
        cmocka_unit_test(workspace_is_honoured),
        cmocka_unit_test(prepared_is_classical),
    };

    return cmocka_run_group_tests(tests, open_arena, close_arena);
}
