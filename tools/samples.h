/*
 * samples.h - small products for the self-test, made from integers: the same bits on every machine.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TOOL_SAMPLES_H
#define OZG_TOOL_SAMPLES_H

#include "matrix.h"
#include "product.h"

enum kind {
    KIND_UNIFORM,   /* full mantissas, exponents over 40 binades */
    KIND_INTEGER,   /* -2^20 .. 2^20 (float: -2^10 .. 2^10) */
    KIND_SUBNORMAL, /* the smallest normal numbers and below */
    KIND_SPECIAL,   /* small integers with some Inf, NaN and signed zeros */
    KIND_COUNT
};

struct sample {
    char type, transa, transb;
    int64_t m, n, k;
    enum kind kind;
    int scaled; /* alpha and beta that are neither 0 nor 1, else alpha = 1, beta = 0 */
    ozg_accuracy accuracy;
};

/*
 * golden_sample() - the products that all machines have in common. rounded = 0: wide enough to keep every
 * bit, so that the result is the correctly rounded product. rounded = 1: 8 moduli, op, alpha and beta;
 * special values too.
 */
struct sample golden_sample(char type, enum kind kind, int rounded);

/* The data of a sample: A and B as stored (transposed ones with their sizes exchanged), and C. */
struct sample_data {
    struct matrix a, b, c;
};

struct sample_data sample_fill(const struct sample *s);
void sample_free(struct sample_data *d);

/* sample_run() - d->c := the product. */
ozg_status sample_run(ozg_context *ctx, const struct sample *s, struct sample_data *d, ozg_report *report);

/* matrix_equal() - the same bits. */
int matrix_equal(const struct matrix *x, const struct matrix *y);

/* matrix_hash() - FNV-1a (64 bits) over the numbers, low byte first on every machine, going on from hash. */
uint64_t matrix_hash(uint64_t hash, const struct matrix *x);

extern const uint64_t hash_start;

#endif
