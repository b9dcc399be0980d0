/*
 * bench_winograd.c - one product with and without Winograd in the product stage, alternately in one process.
 *
 *     bench_winograd KERNEL N [MODULI [THREADS [RUNS [TYPE]]]]
 *
 * MODULI 0 (default): native accuracy; THREADS 1, RUNS 5, TYPE d or z. The least of the runs counts: seconds of
 * processor time (with a machine that others use, the more reliable of the two) and of the clock, those of the
 * product stage by the clock, and bytes of workspace. "chosen": what the plan does by itself. Exit status 1 if
 * a bit differs.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "context.h"
#include "plan.h"

struct best {
    double processor, wall, product;
    size_t workspace;
};

static double now(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double smaller(double x, double y)
{
    return x < y ? x : y;
}

/* Full mantissas in (-1, 1). */
static double *random_matrix(size_t count)
{
    double *x = malloc(count * sizeof *x);
    uint64_t state = count;

    for (size_t i = 0; x && i < count; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        x[i] = ((double)(state >> 11) - 0x1p52) * 0x1p-52;
    }
    return x;
}

static ozg_status multiply(ozg_context *ctx, char type, int64_t n, ozg_accuracy acc, const double *a,
                           const double *b, double *c, ozg_report *report)
{
    static const double one[2] = {1, 0}, zero[2] = {0, 0};

    if (type == 'z')
        return ozg_zgemm(ctx, 'N', 'N', n, n, n, one, a, n, b, n, zero, c, n, acc, report);
    return ozg_dgemm(ctx, 'N', 'N', n, n, n, 1, a, n, b, n, 0, c, n, acc, report);
}

static void measure(struct best *best, ozg_context *ctx, char type, int64_t n, ozg_accuracy acc,
                    const double *a, const double *b, double *c)
{
    const double processor = now(CLOCK_PROCESS_CPUTIME_ID), wall = now(CLOCK_MONOTONIC);
    ozg_report report;

    if (multiply(ctx, type, n, acc, a, b, c, &report)) {
        fprintf(stderr, "bench_winograd: %s\n", ozg_last_error(ctx));
        exit(2);
    }
    best->processor = smaller(best->processor, now(CLOCK_PROCESS_CPUTIME_ID) - processor);
    best->wall = smaller(best->wall, now(CLOCK_MONOTONIC) - wall);
    best->product = smaller(best->product, report.seconds_product);
    best->workspace = report.workspace_bytes;
}

int main(int argc, char **argv)
{
    const int64_t n = argc > 2 ? atoll(argv[2]) : 0;
    const int moduli = argc > 3 ? atoi(argv[3]) : 0, runs = argc > 5 ? atoi(argv[5]) : 5;
    const char type = argc > 6 ? argv[6][0] : 'd';
    const size_t count = (size_t)(n * n) * (type == 'z' ? 2 : 1);
    const ozg_accuracy acc = moduli ? ozg_moduli(moduli) : ozg_native();
    const ozg_shape shape = {type, 'N', 'N', n, n, n, acc};
    struct best best[2] = {{1e9, 1e9, 1e9, 0}, {1e9, 1e9, 1e9, 0}};
    double *a, *b, *c[2];
    ozg_config cfg;
    ozg_context *ctx;
    ozg_plan plan;

    ozg_config_init(&cfg);
    cfg.backend = OZG_BACKEND_CPU;
    cfg.kernel = argc > 1 ? argv[1] : NULL;
    cfg.threads = argc > 4 ? atoi(argv[4]) : 1;
    a = n > 0 ? random_matrix(count) : NULL;
    b = a ? random_matrix(count) : NULL;
    c[0] = b ? calloc(count, sizeof(double)) : NULL;
    c[1] = c[0] ? calloc(count, sizeof(double)) : NULL;
    if (!c[1] || ozg_create(&ctx, &cfg) || ozg_plan_make(&plan, ctx, &shape, 0, 0)) {
        fprintf(stderr, "usage: bench_winograd KERNEL N [MODULI [THREADS [RUNS [TYPE]]]]\n");
        return 2;
    }
    for (int i = 0; i < 2 * runs; i++) {
        ctx->winograd = i % 2 ? OZG_WINOGRAD_ALWAYS : OZG_WINOGRAD_NEVER;
        measure(&best[i % 2], ctx, type, n, acc, a, b, c[i % 2]);
    }
    for (int i = 0; i < 2; i++)
        printf("%-9s %c %lld, %d moduli, %d threads: processor %8.4f s, clock %8.4f s, product %8.4f s, %5zu "
               "MiB%s\n",
               i ? "winograd" : "classical", type, (long long)n, moduli, cfg.threads, best[i].processor,
               best[i].wall, best[i].product, best[i].workspace >> 20, plan.winograd == i ? ", chosen" : "");
    printf("ratio     processor %.3f, clock %.3f, product %.3f\n", best[1].processor / best[0].processor,
           best[1].wall / best[0].wall, best[1].product / best[0].product);
    ozg_destroy(ctx);
    return memcmp(c[0], c[1], count * sizeof(double)) != 0;
}
