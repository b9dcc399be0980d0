/*
 * speed.h - the measurements of "ozgemm speed", as JSON facts.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TOOL_SPEED_H
#define OZG_TOOL_SPEED_H

#include <jansson.h>

#include "families.h"
#include "native.h"
#include "ozgemm.h"
#include "progress.h"

struct shape {
    int64_t m, n, k;
};

/* A way to multiply, besides the native BLAS. */
struct way {
    char name[32]; /* "native", "rounded", "moduli=16", "width=53", ..., "dot2", "dd", "float128", "int8" */
    enum {
        BY_NATIVE,
        BY_ROUNDED,
        BY_MODULI,
        BY_WIDTH,
        BY_BITS,
        BY_ACCURATE,
        BY_EXTENDED, /* this and the next: methods to compare with, on the CPU; on a GPU */
        BY_CUBLAS_EMULATED,
        BY_CUBLAS_INT8
    } by;
    int value; /* moduli, width, bits (0: those of the type); of BY_EXTENDED an enum extended_method */
};

/* way_parse() - "moduli=16" or "moduli:16", ...; returns 0 if the text is no method. fail() if the number
 * behind it makes no sense. */
int way_parse(const char *text, struct way *way);

/* What all rows of one run have in common. */
struct speed {
    struct native *native; /* NULL: no ratios */
    struct speed_gpu *gpu; /* speed_cuda.h; NULL: on the CPU */
    ozg_config config;
    const struct family *family;
    double phi;
    uint64_t seed;
    int runs;       /* turns of a row at least */
    double seconds; /* for a row at least */
    const struct way *ways;
    int nways;
    const int *threads;
    int nthreads;
    double pause; /* seconds between turns on several threads */
    struct progress bar;
    json_t *rows;   /* one for each way, number of threads, shape and type, in the order of the text */
    json_t *notes;  /* sentences */
    json_t *limits; /* kernel, threads, multiply_adds_per_second, obtained */
    int wrong;      /* rows whose result was wrong */
};

/* speed_work() - how long this type and shape take, in units of the bar. */
double speed_work(const struct speed *q, char type, struct shape shape);

/* speed_measure() - append the rows of one type and shape. */
void speed_measure(struct speed *q, char type, struct shape shape);

/* speed_finish() - fill in what needs all rows: the shares of the limits. */
void speed_finish(struct speed *q);

#endif
