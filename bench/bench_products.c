/*
 * bench_products.c - times whole products of several micro-kernels alternately, on one thread.
 *
 *     bench_products [--type T] [--blas LIBRARY] [--size N]... [--depth K] [--accuracy A | --moduli S] [--rounds R]
 *                    KERNEL...
 *
 * N x N x K (N), type d, s or z (d), U(-1,1), accuracy native or rounded, or S moduli (16): for each N the least
 * processor time of a call of each kernel, in milliseconds, with its ratio to the first. The kernels take turns, R
 * rounds (20) of at least 20 ms each, so that a busy machine is busy for all. Kernels must give the same bits, or
 * nothing is printed of that N. --blas: ?gemm_ of that library, as another one, whose result is only looked at for
 * its rough size; set OPENBLAS_CORETYPE and its number of threads outside.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ozgemm.h"

enum { RUNNERS = 8, SIZES = 16 };

typedef void gemm_fn(const char *, const char *, const int *, const int *, const int *, const void *,
                     const void *, const int *, const void *, const int *, const void *, void *, const int *);

/* A kernel, or a BLAS. */
struct runner {
    const char *name;
    ozg_context *ctx;
    gemm_fn *gemm;
    void *c;
    double least;
};

struct bench {
    struct runner runner[RUNNERS];
    int runners, sizes, size[SIZES], depth, rounds;
    char type;
    ozg_accuracy accuracy;
    void *a, *b;
};

static void die(const char *what, const char *name)
{
    fprintf(stderr, "bench_products: %s %s\n", what, name);
    exit(2);
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Bytes of an element, and its components. */
static size_t element(const struct bench *b)
{
    return b->type == 's' ? sizeof(float) : b->type == 'z' ? 2 * sizeof(double) : sizeof(double);
}

static int64_t components(const struct bench *b, int64_t elements)
{
    return b->type == 'z' ? 2 * elements : elements;
}

static double component(const struct bench *b, const void *x, int64_t i)
{
    return b->type == 's' ? (double)((const float *)x)[i] : ((const double *)x)[i];
}

static int depth(const struct bench *b, int n)
{
    return b->depth ? b->depth : n;
}

static ozg_status emulate(const struct bench *b, const struct runner *r, int n)
{
    const double one[2] = {1, 0}, zero[2] = {0, 0};
    const ozg_accuracy how = b->accuracy;
    const int k = depth(b, n);

    if (b->type == 's')
        return ozg_sgemm(r->ctx, 'N', 'N', n, n, k, 1, b->a, n, b->b, k, 0, r->c, n, how, NULL);
    if (b->type == 'z')
        return ozg_zgemm(r->ctx, 'N', 'N', n, n, k, one, b->a, n, b->b, k, zero, r->c, n, how, NULL);
    return ozg_dgemm(r->ctx, 'N', 'N', n, n, k, 1, b->a, n, b->b, k, 0, r->c, n, how, NULL);
}

static void multiply(const struct bench *b, const struct runner *r, int n)
{
    const double one[2] = {1, 0}, zero[2] = {0, 0};
    const float one_s = 1, zero_s = 0;
    const void *alpha = b->type == 's' ? (const void *)&one_s : one,
               *beta = b->type == 's' ? (const void *)&zero_s : zero;
    const int k = depth(b, n);

    if (r->gemm)
        r->gemm("N", "N", &n, &n, &k, alpha, b->a, &n, b->b, &k, beta, r->c, &n);
    else if (emulate(b, r, n))
        die("a product failed:", ozg_last_error(r->ctx));
}

/* Calls for at least 20 ms. */
static void time_one(const struct bench *b, struct runner *r, int n)
{
    const double start = now();
    double time;
    int calls = 0;

    do {
        multiply(b, r, n);
        time = now() - start;
        calls++;
    } while (time < 0.02);
    r->least = fmin(r->least, time / calls);
}

/* All results are those of the first kernel: the same bits, or near them. */
static void check(const struct bench *b, int n)
{
    const struct runner *first = b->runner;
    const double near = (b->type == 's' ? 1e-5 : 1e-12) * depth(b, n);
    const int64_t entries = (int64_t)n * n;

    while (first->gemm)
        first++;
    for (int i = 0; i < b->runners; i++) {
        const struct runner *r = b->runner + i;

        if (!r->gemm && memcmp(r->c, first->c, element(b) * (size_t)entries) != 0)
            die("other bits come from", r->name);
        for (int64_t e = 0; r->gemm && e < components(b, entries); e++)
            if (!(fabs(component(b, r->c, e) - component(b, first->c, e)) < near))
                die("wrong numbers come from", r->name);
    }
}

static void fill(const struct bench *b, void *x, int64_t elements)
{
    for (int64_t e = 0; e < components(b, elements); e++)
        if (b->type == 's')
            ((float *)x)[e] = (float)(2 * drand48() - 1);
        else
            ((double *)x)[e] = 2 * drand48() - 1;
}

static void bench(struct bench *b, int n)
{
    fill(b, b->a, (int64_t)n * depth(b, n));
    fill(b, b->b, (int64_t)n * depth(b, n));
    for (int i = 0; i < b->runners; i++) {
        b->runner[i].least = INFINITY;
        multiply(b, b->runner + i, n);
    }
    check(b, n);
    for (int round = 0; round < b->rounds; round++)
        for (int i = 0; i < b->runners; i++)
            time_one(b, b->runner + i, n);
    printf("%6d", n);
    for (int i = 0; i < b->runners; i++)
        printf(" %11.4g %5.2f", 1e3 * b->runner[i].least, b->runner[i].least / b->runner[0].least);
    printf("\n");
    fflush(stdout);
}

static void add_runner(struct bench *b, const char *name, int is_blas)
{
    struct runner *r = b->runner + b->runners++;

    if (b->runners > RUNNERS)
        die("too many kernels:", name);
    r->name = name;
    if (is_blas) {
        const char *gemm = b->type == 's' ? "sgemm_" : b->type == 'z' ? "zgemm_" : "dgemm_";
        void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);

        r->name = "blas";
        if (!library || !(r->gemm = (gemm_fn *)(uintptr_t)dlsym(library, gemm)))
            die("no such product in", name);
    } else {
        ozg_config config;

        ozg_config_init(&config);
        config.threads = 1;
        config.kernel = name;
        if (ozg_create(&r->ctx, &config))
            die("no kernel", name);
    }
}

static ozg_accuracy accuracy_named(const char *name)
{
    if (strcmp(name, "native") && strcmp(name, "rounded"))
        die("no such accuracy:", name);
    return *name == 'n' ? ozg_native() : ozg_rounded();
}

/* Options before the names of what they concern: --type before --blas. */
static void read_arguments(struct bench *b, int argc, char **argv)
{
    b->accuracy = ozg_moduli(16);
    b->rounds = 20;
    b->type = 'd';
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-')
            add_runner(b, argv[i], 0);
        else if (i + 1 == argc)
            die("a value is missing after", argv[i]);
        else if (strcmp(argv[i], "--blas") == 0)
            add_runner(b, argv[++i], 1);
        else if (strcmp(argv[i], "--size") == 0 && b->sizes < SIZES)
            b->size[b->sizes++] = atoi(argv[++i]);
        else if (strcmp(argv[i], "--depth") == 0)
            b->depth = atoi(argv[++i]);
        else if (strcmp(argv[i], "--type") == 0 && argv[i + 1][0] && strchr("dsz", argv[i + 1][0]))
            b->type = argv[++i][0];
        else if (strcmp(argv[i], "--accuracy") == 0)
            b->accuracy = accuracy_named(argv[++i]);
        else if (strcmp(argv[i], "--moduli") == 0)
            b->accuracy = ozg_moduli(atoi(argv[++i]));
        else if (strcmp(argv[i], "--rounds") == 0)
            b->rounds = atoi(argv[++i]);
        else
            die("no such option:", argv[i]);
    }
    if (!b->sizes)
        b->size[b->sizes++] = 1024;
}

int main(int argc, char **argv)
{
    static struct bench b;
    size_t most = 1, deep;

    read_arguments(&b, argc, argv);
    for (int i = 0; i < b.sizes; i++)
        most = b.size[i] > (int)most ? (size_t)b.size[i] : most;
    deep = b.depth ? (size_t)b.depth : most;
    b.a = malloc(element(&b) * most * deep);
    b.b = malloc(element(&b) * most * deep);
    printf("%6s", "N");
    for (int i = 0; i < b.runners; i++) {
        b.runner[i].c = malloc(element(&b) * most * most);
        printf(" %11s ratio", b.runner[i].name);
        if (!b.a || !b.b || !b.runner[i].c)
            die("no memory for", b.runner[i].name);
    }
    printf("\n");
    for (int i = 0; b.runners && i < b.sizes; i++)
        bench(&b, b.size[i]);
    for (int i = 0; i < b.runners; i++) {
        ozg_destroy(b.runner[i].ctx);
        free(b.runner[i].c);
    }
    free(b.a);
    free(b.b);
    return b.runners ? 0 : 2;
}
