/*
 * test_gemm.c - whole products with the micro-kernels of all processors on models of their instructions, the other
 * stages in plain C: the bits of ref, at every edge of micro-tiles and steps, with several threads and tiles.
 * with: ozg_models
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

#include "context.h"
#include "fixture.h"
#include "models/kernels.h"
#include "models/x86.h"

enum { ROUNDS = 40 };

static int open_all(void **state)
{
    (void)state;
    return fixture_open(8 << 20, 1);
}

/* The context of ref, or with a kernel on models in its place. */
static ozg_context *open_context(const ozg_kernel *kernel, int threads, size_t memory_limit)
{
    ozg_context *ctx = kernel_context("ref", threads, memory_limit, UINT64_MAX);

    if (kernel) {
        ctx->kernel = kernel;
        ctx->kernel_name = kernel->name;
    }
    return ctx;
}

/* The same product by ref and by the model. Returns the tiles of the latter. */
static int64_t compare(ozg_context *ref, ozg_context *modelled, char type, int64_t m, int64_t n, int64_t k,
                       ozg_accuracy acc, enum family family, uint64_t seed)
{
    struct gemm g = {
        .type = type, .transa = seed % 2 ? 'N' : 'C', .transb = seed % 3 ? 'T' : 'N', .m = m, .n = n, .k = k};
    struct rng r = {seed};
    void *expected, *c;
    ozg_report report;

    g.alpha[0] = 1;
    g.beta[0] = seed % 4 ? 0 : 0.75;
    gemm_layout(&g, &arena, (struct padding){3, 0, 1}, 1);
    gemm_fill(&g, &r, family, family, FAMILY_UNIFORM);
    expected = gemm_image(&g);
    c = gemm_image(&g);
    assert_int_equal(gemm_run(ref, &g, expected, acc, NULL), OZG_OK);
    assert_int_equal(gemm_run(modelled, &g, c, acc, &report), OZG_OK);
    assert_string_equal(report.kernel, modelled->kernel->name);
    assert_false(model_tiles_configured());
    assert_true(gemm_same(&g, c, expected, report.kernel));
    free(expected);
    free(c);
    return report.tiles * report.k_chunks;
}

/* m, n and k at, below and above whole micro-panels and steps. */
static void test_edges(void **state)
{
    const ozg_kernel *kernel;
    ozg_context *ref = open_context(NULL, 1, 0);

    (void)state;
    for (int q = 0; (kernel = modelled_kernel_at(q)); q++) {
        ozg_context *modelled = open_context(kernel, 1, 0);
        const int64_t m[] = {1, kernel->a.lines - 1, kernel->a.lines, kernel->a.lines + 1},
                      n[] = {1, kernel->b.lines - 1, kernel->b.lines, kernel->b.lines + 1},
                      k[] = {1, kernel->a.step - 1, kernel->a.step, kernel->a.step + 1};

        for (int e = 0; e < 64; e++)
            compare(ref, modelled, e % 3 ? 'd' : 'z', m[e % 4], n[e / 4 % 4], k[e / 16],
                    ozg_moduli(8 + e % 12), FAMILY_UNIFORM, (uint64_t)e);
        ozg_destroy(modelled);
    }
    ozg_destroy(ref);
}

/* Any shape, with blocks of k, threads and tiles; floors and ceilings beside residues. */
static void test_shapes(void **state)
{
    const ozg_kernel *kernel;
    struct rng r = {1};
    int cut = 0;

    (void)state;
    for (int q = 0; (kernel = modelled_kernel_at(q)); q++)
        for (int round = 0; round < ROUNDS; round++) {
            const int large = round % 5 == 0;
            const size_t limit = large ? (size_t)1 << 20 : 0;
            ozg_context *ref = open_context(NULL, 1, limit),
                        *modelled = open_context(kernel, 1 + round % 3, limit);
            const int64_t m = rng_between(&r, 1, 2 * kernel->a.lines + 1),
                          n = rng_between(&r, 1, 2 * kernel->b.lines + 1),
                          k = large ? rng_between(&r, OZG_K_BLOCK - 1, 1100) : rng_between(&r, 1, 150);
            const ozg_accuracy acc = round % 4 == 0   ? ozg_native()
                                     : round % 4 == 1 ? ozg_accurate(12)
                                                      : ozg_moduli(10 + round % 9);

            cut += 1 < compare(ref, modelled, "dszc"[rng_below(&r, 4)], m, n, k, acc,
                               round % 7 ? FAMILY_UNIFORM : FAMILY_SPECIAL, (uint64_t)round);
            ozg_destroy(modelled);
            ozg_destroy(ref);
        }
    print_message("%d products in several tiles or chunks of k\n", cut);
    assert_true(cut > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_edges), cmocka_unit_test(test_shapes)};

    return cmocka_run_group_tests(tests, open_all, fixture_close);
}
