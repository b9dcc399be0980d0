/*
 * bench_kernels.c - times each stage function of each micro-kernel that this machine can run, on one thread.
 *
 *     bench_kernels [KERNEL]
 *
 * scale, norms, residuals (lines side by side | and along memory -), split (for all moduli together) and
 * floors: nanoseconds an element of the operand; product: 10^9 multiply-adds a second, panels in the
 * first-level cache; reduce: nanoseconds a sum; crt and bounds: nanoseconds an entry of C. 16 moduli (their 9
 * of 16 bits for kernels with such residues), width 55. The least of several times counts.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cpu/kernel.h"

enum { MODULI = 16, WIDTH = 55, K = 1024, LINES = OZG_SCALE_LINES, REPEATS = 7 };

/* What the stages work on; all of it stays in the caches. */
struct bench {
    const ozg_kernel *kernel;
    const ozg_rns *rns;
    ozg_view view;
    ozg_batch batch;
    uint64_t largest[LINES], places[LINES * K / 64], bound[OZG_STRIP];
    int32_t most[OZG_STRIP], least[OZG_STRIP];
    ozg_norms norms[LINES];
    int32_t e[LINES], d[LINES];
    uint32_t factor[LINES];
    ozg_lines rows;
    double x[LINES * K];
    _Alignas(64) unsigned char a[2 * OZG_MR_MAX * K];
    _Alignas(64) unsigned char b[2 * OZG_NR_MAX * K];
    _Alignas(64) int32_t acc[3][OZG_MR_MAX * OZG_NR_MAX];
    unsigned char planes[3 * MODULI * 2 * OZG_SPLIT_BATCH];
    unsigned char residues[4 * MODULI * OZG_STRIP * OZG_NR_MAX];
    uint64_t words[OZG_CRT_WORDS][OZG_STRIP];
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds of one run: the least of several measurements of about 10 ms. */
static double seconds_of(void (*run)(struct bench *), struct bench *b)
{
    double least = 1e9;
    long count = 1;

    for (int i = 0; i < REPEATS;) {
        double start = now(), time;

        for (long j = 0; j < count; j++)
            run(b);
        time = now() - start;
        if (time < 0.01) {
            count *= 2;
            continue;
        }
        least = time / (double)count < least ? time / (double)count : least;
        i++;
    }
    return least;
}

static void run_scale(struct bench *b)
{
    b->kernel->scale(&b->view, K, 0, LINES, b->largest);
}

static void run_split_a(struct bench *b)
{
    b->kernel->split(b->rns, WIDTH, &b->kernel->a, 0, &b->batch, b->planes, 2 * OZG_SPLIT_BATCH);
}

static void run_split_b_complex(struct bench *b)
{
    b->kernel->split(b->rns, WIDTH, &b->kernel->b, 1, &b->batch, b->planes, 2 * OZG_SPLIT_BATCH);
}

static void run_product(struct bench *b)
{
    if (b->kernel->state)
        b->kernel->state(1);
    b->kernel->product(b->rns, 1, OZG_K_BLOCK / b->kernel->a.step, b->a, b->b, 1, b->acc[0]);
    if (b->kernel->state)
        b->kernel->state(0);
}

static void reduce(struct bench *b, int complex_)
{
    const int32_t *const sums[3] = {b->acc[0], b->acc[1], b->acc[2]};

    b->kernel->reduce(b->rns, 1, complex_, b->kernel->a.lines, b->kernel->b.lines, 0, sums, b->residues,
                      b->residues + 2 * complex_ * OZG_STRIP * OZG_NR_MAX, OZG_STRIP);
}

static void run_reduce(struct bench *b)
{
    reduce(b, 0);
}

static void run_reduce_complex(struct bench *b)
{
    reduce(b, 1);
}

static void run_crt(struct bench *b)
{
    b->kernel->crt(b->rns, b->residues, (size_t)(OZG_STRIP * b->rns->word), b->words);
}

static void run_norms(struct bench *b)
{
    b->kernel->norms(&b->view, K, 0, LINES, ozg_norm_bits(K), b->e, b->norms);
}

static void run_residuals(struct bench *b)
{
    b->kernel->residuals(&b->view, K, 0, LINES, b->d, b->norms, b->places, K / 64);
}

static void run_floors_a(struct bench *b)
{
    b->kernel->floors(&b->kernel->a, 0, &b->batch, b->planes, 2 * OZG_SPLIT_BATCH);
}

static void run_floors_b_complex(struct bench *b)
{
    b->kernel->floors(&b->kernel->b, 1, &b->batch, b->planes, 2 * OZG_SPLIT_BATCH);
}

static void run_bounds(struct bench *b)
{
    const ozg_factors column = ozg_factors_of(&b->rows, 0);

    b->kernel->bounds(&b->rows, 0, OZG_STRIP, &column, b->bound, b->most, b->least);
}

/* Nanoseconds an element of the lines, side by side and along memory. */
static void print_lines(void (*run)(struct bench *), struct bench *b)
{
    b->view = (ozg_view){b->x, 1, LINES, 'd', 0, NULL};
    printf(" %7.3f", 1e9 * seconds_of(run, b) / (LINES * K));
    b->view = (ozg_view){b->x, K, 1, 'd', 0, NULL};
    printf(" %7.3f", 1e9 * seconds_of(run, b) / (LINES * K));
}

static void bench_product(struct bench *b)
{
    const double sums = b->kernel->a.lines * b->kernel->b.lines;

    printf("%-12s", b->kernel->name);
    print_lines(run_scale, b);
    printf(" %8.2f %8.2f", 1e9 * seconds_of(run_split_a, b) / OZG_SPLIT_BATCH,
           1e9 * seconds_of(run_split_b_complex, b) / OZG_SPLIT_BATCH);
    printf(" %9.1f", 1e-9 * sums * OZG_K_BLOCK / seconds_of(run_product, b));
    printf(" %8.3f %8.3f", 1e9 * seconds_of(run_reduce, b) / sums,
           1e9 * seconds_of(run_reduce_complex, b) / sums);
    printf(" %8.2f\n", 1e9 * seconds_of(run_crt, b) / OZG_STRIP);
    fflush(stdout);
}

static void bench_bounds(struct bench *b)
{
    printf("%-12s", b->kernel->name);
    print_lines(run_norms, b);
    print_lines(run_residuals, b);
    printf(" %8.2f %8.2f", 1e9 * seconds_of(run_floors_a, b) / OZG_SPLIT_BATCH,
           1e9 * seconds_of(run_floors_b_complex, b) / OZG_SPLIT_BATCH);
    printf(" %8.2f\n", 1e9 * seconds_of(run_bounds, b) / OZG_STRIP);
    fflush(stdout);
}

/* One table of all kernels, or of that of a name. Returns how many there are. */
static int bench_kernels(struct bench *b, const char *name, void (*bench)(struct bench *))
{
    int found = 0;

    for (int i = 0; (b->kernel = ozg_kernel_at(ozg_cpu_isa(), i)); i++)
        if (!name || strcmp(b->kernel->name, name) == 0) {
            found += !ozg_rns_get(&b->rns, b->kernel->a.word, MODULI);
            bench(b);
        }
    return found;
}

/* Any numbers will do: no stage takes a time that depends on them. The residues are below every modulus. */
static struct bench *make(void)
{
    struct bench *b = aligned_alloc(64, (sizeof *b + 63) / 64 * 64);

    if (!b)
        return NULL;
    memset(b->residues, 17, sizeof b->residues);
    memset(b->a, 3, sizeof b->a);
    memset(b->b, 5, sizeof b->b);
    for (int i = 0; i < LINES * K; i++)
        b->x[i] = (i % 2 ? 1 : -1) / (3.0 + i);
    b->batch.count = OZG_SPLIT_BATCH;
    for (int e = 0; e < OZG_SPLIT_BATCH; e++) {
        memcpy(&b->batch.re[e], &b->x[e], 8);
        memcpy(&b->batch.im[e], &b->x[e + 1], 8);
        b->batch.d[e] = WIDTH;
        b->batch.s[e] = OZG_FLOOR_BITS(1);
    }
    for (int i = 0; i < LINES; i++) {
        b->e[i] = 0;
        b->d[i] = WIDTH - 10; /* some numbers are rounded, some not */
        b->factor[i] = (uint32_t)(1000 + i);
    }
    b->rows = (ozg_lines){.x1 = b->factor,
                          .x2 = b->factor,
                          .xmax = b->factor,
                          .r1 = b->factor,
                          .r2 = b->factor,
                          .rmax = b->factor,
                          .d = b->d,
                          .e = b->e};
    return b;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : NULL;
    struct bench *b = make();
    int found;

    if (!b) {
        fprintf(stderr, "bench_kernels: no memory\n");
        return 2;
    }
    printf("%-12s %7s %7s %8s %8s %9s %8s %8s %8s\n", "kernel", "scale|", "scale-", "split d", "split z",
           "product", "reduce d", "reduce z", "crt");
    printf("%-12s %7s %7s %8s %8s %9s %8s %8s %8s\n", "", "ns", "ns", "ns", "ns", "GMAC/s", "ns", "ns", "ns");
    found = bench_kernels(b, name, bench_product);
    printf("\n%-12s %7s %7s %7s %7s %8s %8s %8s\n", "kernel", "norms|", "norms-", "resid|", "resid-",
           "floors d", "floors z", "bounds");
    printf("%-12s %7s %7s %7s %7s %8s %8s %8s\n", "", "ns", "ns", "ns", "ns", "ns", "ns", "ns");
    bench_kernels(b, name, bench_bounds);
    if (!found)
        fprintf(stderr,
                "bench_kernels: this machine has no kernel \"%s\"; run without arguments for the list\n",
                name);
    free(b);
    return found ? 0 : 2;
}
