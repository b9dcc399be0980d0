/*
 * golden.c - the problems of tests/golden/products.txt, and hashes of their results.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "golden.h"

static const struct golden table[] = {
#include "../golden/products.txt"
    {NULL, 0},
};

static const enum family families[] = {FAMILY_UNIFORM, FAMILY_WIDE,      FAMILY_SUBNORMAL, FAMILY_CANCEL,
                                       FAMILY_TIES,    FAMILY_TINY_TIES, FAMILY_OVERFLOW,  FAMILY_SPIKE,
                                       FAMILY_BITS,    FAMILY_SPECIAL};
enum { FAMILIES = sizeof families / sizeof families[0], PRODUCTS = 4 * FAMILIES, PROBLEMS = 3 * PRODUCTS };

const struct golden *golden_table(void)
{
    return table;
}

int golden_count(void)
{
    return PROBLEMS;
}

uint64_t golden_hash(const struct gemm *g, const void *c)
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

/* Product q in one of three accuracies. */
struct golden_problem golden_make(int number, struct arena *arena, struct gemm *g, char name[64])
{
    static const char types[] = "sdcz", trans[] = "NTC";
    const int q = number % PRODUCTS;
    const struct golden_problem problem = {(enum golden_kind)(number / PRODUCTS),
                                           {REQUEST_MODULI, 5 + (q * 7) % 40}};
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
             problem.kind == GOLDEN_MODULI    ? asked
             : problem.kind == GOLDEN_ROUNDED ? "rounded"
                                              : "native");
    return problem;
}

ozg_accuracy golden_accuracy(struct golden_problem problem)
{
    return problem.kind == GOLDEN_MODULI    ? request_accuracy(problem.request)
           : problem.kind == GOLDEN_ROUNDED ? ozg_rounded()
                                            : ozg_native();
}
