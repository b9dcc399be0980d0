/*
 * equal_memory.h - products in little memory: in tiles, and of matrices of the host that come and go. A part of
 * prog_equal.c.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TEST_CUDA_EQUAL_MEMORY_H
#define OZG_TEST_CUDA_EQUAL_MEMORY_H

#include "plan.h"

static void group_memory(void)
{
    for (int t = 0; t < (quick ? 2 : 4); t++)
        for (int q = 0; q < 5; q++) {
            product g = make(types[t], 290, 150 + 120 * (q % 2), q % 3 ? 100 : 150, accuracy(types[t], q),
                             q % 2 ? WIDE : UNIFORM);

            if (quick && q > 0 && (q + t) % 2)
                continue;
            g.beta[0] = 0.5;
            g.transa = q % 2 ? 'T' : 'N';
            g.transb = q % 3 ? 'N' : 'T';
            check(g, 2);
        }
}

/* A context for matrices of the host with the least memory in which the product is possible. */
static ozg_context *least_context(const product *g, int *streamed)
{
    ozg_context *ctx = open_context(OZG_BACKEND_CUDA, 0, 1);
    size_t low = 0, high = (size_t)1 << 30; /* between them */

    while (high - low > 1024) {
        ozg_plan *plan = NULL;

        ctx->memory_limit = (low + high) / 2;
        if (ozg_plan_create(&plan, ctx, g->type, g->transa, g->transb, g->m, g->n, g->k, g->acc)) {
            low = ctx->memory_limit;
        } else {
            high = ctx->memory_limit;
            *streamed = plan->streamed;
        }
        ozg_plan_destroy(plan);
    }
    ctx->memory_limit = high;
    return ctx;
}

/* Matrices of the host that do not fit the workspace: with a report, without, and its prediction. */
static void check_streamed(product g)
{
    ozg_report report;
    ozg_context *ctx;
    int streamed = 0;
    void *c;

    product_make(&g, seed * 1000003 + (uint64_t)cases);
    c = copy_c(&g);
    must(call(cpu, &g, g.a, g.b, c, &report), "the CPU's product");
    ctx = least_context(&g, &streamed);
    compare(ctx, &g, c, &report, "streamed");
    compare(ctx, &g, c, NULL, "streamed, no report");
    if (!streamed && differ(&g, "streamed"))
        printf("        it was not streamed\n");
    ozg_destroy(ctx);
    free(c);
    product_free(&g);
}

static void group_streamed(void)
{
    static const char trans[] = "NTC";

    if (stand_in_device)
        stand_in_device->far_pointers = 1;
    for (int t = 0; t < 4; t++)
        for (int q = 0; q < 12; q++) {
            const enum family f = q % 4 == 3 ? SPECIAL : q % 4 == 2 ? WIDE : UNIFORM;
            product g = make(types[t], quick ? 300 : 700, quick ? 300 : 650, quick ? 40 : 300 + q,
                             accuracy(types[t], q % 6), q % 6 == 0 ? UNIFORM : f);

            if (quick && (q + t) % 4)
                continue;
            g.transa = trans[(q + t) % 3];
            g.transb = trans[(q / 3 + t) % 3];
            g.beta[0] = q % 2 ? -0.5 : 0;
            g.pad = q % 3;
            check_streamed(g);
        }
    if (stand_in_device)
        stand_in_device->far_pointers = 0;
}

#endif
