/*
 * bench_products.c - times whole products of several micro-kernels alternately, on one thread.
 *
 *     bench_products [--blas LIBRARY] [--size N]... [--moduli S] [--rounds R] KERNEL...
 *
 * N x N x N, type d, U(-1,1), S moduli (16): for each N the least processor time of a call of each kernel, in
 * milliseconds, with its ratio to the first. The kernels take turns, R rounds (20) of at least 20 ms each, so
 * that a busy machine is busy for all. Kernels must give the same bits, or nothing is printed of that N.
 * --blas: dgemm_ of that library, as another one, whose result is only looked at for its rough size; set
 * OPENBLAS_CORETYPE and its number of threads outside.
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

typedef void dgemm_fn(const char *, const char *, const int *, const int *, const int *, const double *,
                      const double *, const int *, const double *, const int *, const double *, double *,
                      const int *);

/* A kernel, or a BLAS. */
struct runner {
    const char *name;
    ozg_context *ctx;
    dgemm_fn *dgemm;
    double *c, least;
};

struct bench {
    struct runner runner[RUNNERS];
    int runners, sizes, size[SIZES], moduli, rounds;
    double *a, *b;
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

static void multiply(const struct bench *b, const struct runner *r, int n)
{
    const double one = 1, zero = 0;

    if (r->dgemm)
        r->dgemm("N", "N", &n, &n, &n, &one, b->a, &n, b->b, &n, &zero, r->c, &n);
    else if (ozg_dgemm(r->ctx, 'N', 'N', n, n, n, 1, b->a, n, b->b, n, 0, r->c, n, ozg_moduli(b->moduli),
                       NULL))
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

    while (first->dgemm)
        first++;
    for (int i = 0; i < b->runners; i++) {
        const struct runner *r = b->runner + i;

        if (!r->dgemm && memcmp(r->c, first->c, sizeof *r->c * (size_t)n * (size_t)n) != 0)
            die("other bits come from", r->name);
        for (int64_t e = 0; r->dgemm && e < (int64_t)n * n; e++)
            if (!(fabs(r->c[e] - first->c[e]) < 1e-12 * n))
                die("wrong numbers come from", r->name);
    }
}

static void bench(struct bench *b, int n)
{
    for (int64_t e = 0; e < (int64_t)n * n; e++) {
        b->a[e] = 2 * drand48() - 1;
        b->b[e] = 2 * drand48() - 1;
    }
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
        void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);

        r->name = "blas";
        if (!library || !(r->dgemm = (dgemm_fn *)(uintptr_t)dlsym(library, "dgemm_")))
            die("no dgemm_ in", name);
    } else {
        ozg_config config;

        ozg_config_init(&config);
        config.threads = 1;
        config.kernel = name;
        if (ozg_create(&r->ctx, &config))
            die("no kernel", name);
    }
}

static void read_arguments(struct bench *b, int argc, char **argv)
{
    b->moduli = 16;
    b->rounds = 20;
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-')
            add_runner(b, argv[i], 0);
        else if (i + 1 == argc)
            die("a value is missing after", argv[i]);
        else if (strcmp(argv[i], "--blas") == 0)
            add_runner(b, argv[++i], 1);
        else if (strcmp(argv[i], "--size") == 0 && b->sizes < SIZES)
            b->size[b->sizes++] = atoi(argv[++i]);
        else if (strcmp(argv[i], "--moduli") == 0)
            b->moduli = atoi(argv[++i]);
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
    size_t most = 1;

    read_arguments(&b, argc, argv);
    for (int i = 0; i < b.sizes; i++)
        most = b.size[i] > (int)most ? (size_t)b.size[i] : most;
    b.a = malloc(sizeof *b.a * most * most);
    b.b = malloc(sizeof *b.b * most * most);
    printf("%6s", "N");
    for (int i = 0; i < b.runners; i++) {
        b.runner[i].c = malloc(sizeof *b.a * most * most);
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
