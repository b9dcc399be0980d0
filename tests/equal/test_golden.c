/*
 * test_golden.c - hashes of results, so that machines that never meet can be compared.
 *
 * tests/golden/products.txt holds a hash of the defined result for each problem below, by a number of moduli,
 * rounded, and native. The hashes come from the oracle (GMP, MPFR), never from the library; those of native
 * results, for which there is no oracle, from the specification (kernel ref): other tests prove them accurate,
 * this one that they are the same everywhere. After a change of the list: test_golden --print >
 * tests/golden/products.txt
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

struct golden {
    const char *name;
    uint64_t hash;
};

static const struct golden table[] = {
#include "../golden/products.txt"
    {NULL, 0},
};

static const enum family families[] = {FAMILY_UNIFORM, FAMILY_WIDE,      FAMILY_SUBNORMAL, FAMILY_CANCEL,
                                       FAMILY_TIES,    FAMILY_TINY_TIES, FAMILY_OVERFLOW,  FAMILY_SPIKE,
                                       FAMILY_BITS,    FAMILY_SPECIAL};
enum { FAMILIES = sizeof families / sizeof families[0], PRODUCTS = 4 * FAMILIES, PROBLEMS = 3 * PRODUCTS };

/* What is asked of a product. */
enum kind { BY_MODULI, ROUNDED, NATIVE };

struct problem {
    enum kind kind;
    struct request request; /* by moduli */
};

/* FNV-1a over the bytes of C in little-endian order, padding left out. */
static uint64_t hash_of(const struct gemm *g, const void *c)
{
    const size_t number = type_number_bytes(g->type);
    uint64_t hash = UINT64_C(0xCBF29CE484222325);

    for (int64_t q = 0; q < g->m * g->n * type_parts(g->type); q++) {
        int64_t element = q / type_parts(g->type), part = q % type_parts(g->type);
        int64_t at = (element % g->m + element / g->m * g->ldc) * type_parts(g->type) + part;
        uint64_t bits = 0;
        uint32_t half;

        if (number == 8) {
            memcpy(&bits, (const char *)c + at * 8, 8);
        } else {
            memcpy(&half, (const char *)c + at * 4, 4);
            bits = half;
        }
        for (size_t byte = 0; byte < number; byte++)
            hash = (hash ^ (bits >> (8 * byte) & 0xFF)) * UINT64_C(0x100000001B3);
    }
    return hash;
}

/* Problem number `number`: product q in one of three accuracies, and its name. */
static struct problem make(int number, struct arena *arena, struct gemm *g, char name[64])
{
    static const char types[] = "sdcz", trans[] = "NTC";
    const int q = number % PRODUCTS;
    const struct problem problem = {(enum kind)(number / PRODUCTS), {REQUEST_MODULI, 5 + (q * 7) % 40}};
    enum family f = families[q / 4];
    struct rng r = {(uint64_t)q};
    char asked[16];

    memset(g, 0, sizeof *g);
    g->type = types[q % 4];
    g->transa = trans[q % 3];
    g->transb = trans[q / 3 % 3];
    g->m = 11 + q % 5;
    g->n = 14 - q % 4;
    g->k = 20 + 3 * q;
    g->alpha[0] = scalar_value(g->type, q % 2 ? 2 : 5);
    g->beta[0] = scalar_value(g->type, q % 3 ? 3 : 8);
    if (type_is_complex(g->type)) {
        g->alpha[1] = 0.5;
        g->beta[1] = q % 2 ? -3 : 0;
    }
    gemm_layout(g, arena, (struct padding){1, 2, 3}, 1);
    gemm_fill(g, &r, f, f, f);
    snprintf(asked, sizeof asked, "s%d", problem.request.value);
    snprintf(name, 64, "%c-%c%c-%dx%dx%d-%s-%s", g->type, g->transa, g->transb, (int)g->m, (int)g->n,
             (int)g->k, family_name(f),
             problem.kind == BY_MODULI ? asked
             : problem.kind == ROUNDED ? "rounded"
                                       : "native");
    return problem;
}

static uint64_t library_hash(ozg_context *ctx, const struct gemm *g, struct problem problem)
{
    const ozg_accuracy accuracy = problem.kind == BY_MODULI ? request_accuracy(problem.request)
                                  : problem.kind == ROUNDED ? ozg_rounded()
                                                            : ozg_native();
    void *c = gemm_image(g);
    uint64_t hash;

    assert_int_equal(gemm_run(ctx, g, c, accuracy, NULL), OZG_OK);
    hash = hash_of(g, c);
    free(c);
    return hash;
}

/* The hash of the definition. */
static uint64_t defined_hash(const struct gemm *g, struct problem problem)
{
    void *c;
    uint64_t hash;

    if (problem.kind == NATIVE) {
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
    oracle_gemm(g, problem.kind == ROUNDED ? ORACLE_EXACT : request_width(problem.request, g->type, g->k), c);
    hash = hash_of(g, c);
    free(c);
    return hash;
}

/* The file has one line for each problem, in order; library and oracle both give its hash. */
static void golden(void **state)
{
    struct kernels kernels;
    struct arena arena;
    int count = 0;

    (void)state;
    assert_true(kernels_open(&kernels, 2));
    arena_open(&arena, 64 << 10);
    while (table[count].name != NULL)
        count++;
    assert_int_equal(count, PROBLEMS);
    for (int q = 0; q < count; q++) {
        struct gemm g;
        char name[64];
        struct problem problem = make(q, &arena, &g, name);

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
    for (int q = 0; q < PROBLEMS; q++) {
        struct gemm g;
        char name[64];
        struct problem problem = make(q, &arena, &g, name);

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
