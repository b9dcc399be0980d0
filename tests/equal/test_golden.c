/*
 * test_golden.c - hashes of results, so that machines that never meet can be compared.
 *
 * tests/golden/products.txt holds a hash of the defined result for each problem of support/golden.c, by a
 * number of moduli, rounded, and native. The hashes come from the oracle (GMP, MPFR), never from the library;
 * those of native results, for which there is no oracle, from the specification (kernel ref): other tests prove
 * them accurate, this one that they are the same everywhere. On a CUDA device: cuda/prog_golden.c. After a change
 * of the list: test_golden --print > tests/golden/products.txt
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

#include "golden.h"

static uint64_t library_hash(ozg_context *ctx, const struct gemm *g, struct golden_problem problem)
{
    void *c = gemm_image(g);
    uint64_t hash;

    assert_int_equal(gemm_run(ctx, g, c, golden_accuracy(problem), NULL), OZG_OK);
    hash = golden_hash(g, c);
    free(c);
    return hash;
}

/* The hash of the definition. */
static uint64_t defined_hash(const struct gemm *g, struct golden_problem problem)
{
    void *c;
    uint64_t hash;

    if (problem.kind == GOLDEN_NATIVE) {
        ozg_config cfg;
        ozg_context *ctx;

        ozg_config_init(&cfg);
        cfg.kernel = "ref";
        cfg.threads = 1;
        assert_int_equal(ozg_create(&ctx, &cfg), OZG_OK);
        hash = library_hash(ctx, g, problem);
        ozg_destroy(ctx);
        return hash;
    }
    c = gemm_image(g);
    oracle_gemm(
        g, problem.kind == GOLDEN_ROUNDED ? ORACLE_EXACT : request_width(problem.request, g->type, g->k), c);
    hash = golden_hash(g, c);
    free(c);
    return hash;
}

/* The file has one line for each problem, in order; library and oracle both give its hash. */
static void golden(void **state)
{
    const struct golden *table = golden_table();
    struct kernels kernels;
    struct arena arena;
    int count = 0;

    (void)state;
    assert_true(kernels_open(&kernels, 2));
    arena_open(&arena, 64 << 10);
    while (table[count].name != NULL)
        count++;
    assert_int_equal(count, golden_count());
    for (int q = 0; q < count; q++) {
        struct gemm g;
        char name[64];
        struct golden_problem problem = golden_make(q, &arena, &g, name);

        assert_string_equal(name, table[q].name);
        assert_int_equal(defined_hash(&g, problem), table[q].hash);
        for (int i = 0; i < kernels.count; i++) {
            const uint64_t hash = library_hash(kernels.ctx[i], &g, problem);

            if (hash != table[q].hash)
                gemm_print(&g, kernels.name[i]);
            assert_int_equal(hash, table[q].hash);
        }
    }
    arena_close(&arena);
    kernels_close(&kernels);
}

static int print(void)
{
    struct arena arena;

    printf("/* Hashes of defined results, by test_golden --print. SPDX-License-Identifier: MIT */\n");
    arena_open(&arena, 64 << 10);
    for (int q = 0; q < golden_count(); q++) {
        struct gemm g;
        char name[64];
        struct golden_problem problem = golden_make(q, &arena, &g, name);

        printf("{\"%s\", 0x%016llX},\n", name, (unsigned long long)defined_hash(&g, problem));
    }
    arena_close(&arena);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(golden)};

    if (argc == 2 && strcmp(argv[1], "--print") == 0)
        return print();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
