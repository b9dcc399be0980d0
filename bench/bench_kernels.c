/*
 * bench_kernels.c - times each stage function of each micro-kernel that this machine can run, on one thread.
 *
 *     bench_kernels [KERNEL]
 *
 * scale and split: nanoseconds an element of the operand (split: for all moduli together); product: 10^9
 * multiply-adds a second, panels in the first-level cache; reduce: nanoseconds a sum; crt: nanoseconds an
 * entry of C. 16 moduli, width 55. The least of several times counts.
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
    uint64_t largest[LINES];
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

static int bench_kernel(struct bench *b, const ozg_kernel *kernel)
{
    const double sums = kernel->a.lines * kernel->b.lines;
    double across, along;

    if (ozg_rns_get(&b->rns, kernel->a.word, MODULI))
        return 0;
    b->kernel = kernel;
    b->view = (ozg_view){b->x, 1, LINES, 'd', 0};
    across = seconds_of(run_scale, b);
    b->view = (ozg_view){b->x, K, 1, 'd', 0};
    along = seconds_of(run_scale, b);
    printf("%-12s %7.3f %7.3f", kernel->name, 1e9 * across / (LINES * K), 1e9 * along / (LINES * K));
    printf(" %8.2f %8.2f", 1e9 * seconds_of(run_split_a, b) / OZG_SPLIT_BATCH,
           1e9 * seconds_of(run_split_b_complex, b) / OZG_SPLIT_BATCH);
    printf(" %9.1f", 1e-9 * sums * OZG_K_BLOCK / seconds_of(run_product, b));
    printf(" %8.3f %8.3f", 1e9 * seconds_of(run_reduce, b) / sums,
           1e9 * seconds_of(run_reduce_complex, b) / sums);
    printf(" %8.2f\n", 1e9 * seconds_of(run_crt, b) / OZG_STRIP);
    fflush(stdout);
    return 1;
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
    }
    return b;
}

int main(int argc, char **argv)
{
    const ozg_kernel *kernel;
    struct bench *b = make();
    int found = 0;

    if (!b) {
        fprintf(stderr, "bench_kernels: no memory\n");
        return 2;
    }
    printf("%-12s %7s %7s %8s %8s %9s %8s %8s %8s\n", "kernel", "scale|", "scale-", "split d", "split z",
           "product", "reduce d", "reduce z", "crt");
    printf("%-12s %7s %7s %8s %8s %9s %8s %8s %8s\n", "", "ns", "ns", "ns", "ns", "GMAC/s", "ns", "ns", "ns");
    for (int i = 0; (kernel = ozg_kernel_at(ozg_cpu_isa(), i)); i++)
        if (argc < 2 || strcmp(kernel->name, argv[1]) == 0) {
            found |= bench_kernel(b, kernel);
        }
    if (!found)
        fprintf(stderr,
                "bench_kernels: this machine has no kernel \"%s\"; run without arguments for the list\n",
                argv[1]);
    free(b);
    return found ? 0 : 2;
}
