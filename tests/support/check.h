/*
 * check.h - lay out a product in guarded memory with dirty padding, run it and compare every bit with the
 * oracle.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TEST_CHECK_H
#define TEST_CHECK_H

#include "families.h"
#include "gemm.h"
#include "guard.h"
#include "oracle.h"

/* Room for the three matrices of one product at a time. */
struct arena {
    struct guard a, b, c;
};

void arena_open(struct arena *r, size_t bytes_each);
void arena_close(struct arena *r);

/* Rows of padding below each column. */
struct padding {
    int64_t a, b, c;
};

/*
 * gemm_layout() - with type, transa, transb, m, n, k of g set, choose the leading dimensions, place A, B and
 * C in the arena (at_tail: against the page behind, else the page before) and fill them with NaN, which stays
 * in the padding.
 */
void gemm_layout(struct gemm *g, struct arena *r, struct padding pad, int at_tail);

/* gemm_fill() - fill the three matrices from the families. */
void gemm_fill(struct gemm *g, struct rng *r, enum family fa, enum family fb, enum family fc);

/* gemm_make() - a product with its matrices from a family (C: uniform), scalars that round, and padding. */
struct gemm gemm_make(struct arena *arena, char type, const char trans[2], int64_t m, int64_t n, int64_t k,
                      enum family f, uint64_t seed);

/* gemm_image_bytes() - bytes from the first to the last element of C. */
size_t gemm_image_bytes(const struct gemm *g);

/* gemm_image() - a copy of C with its padding, to be freed; never NULL. */
void *gemm_image(const struct gemm *g);

/* gemm_same() - 1 if two images of C agree bit for bit; else 0 and a message where they differ. */
int gemm_same(const struct gemm *g, const void *actual, const void *expected, const char *label);

/* kernel_context() - a context of the CPU with this kernel (NULL: any) and these limits; aborts if it does not open. */
ozg_context *kernel_context(const char *kernel, int threads, size_t memory_limit, uint64_t repair_limit);

/* All micro-kernels of this machine, each in a context of its own. */
enum { MAX_KERNELS = 16 };

struct kernels {
    int count;
    const char *name[MAX_KERNELS];
    ozg_context *ctx[MAX_KERNELS];
};

/* kernels_open() - returns 1; 0 with a message if there is none. */
int kernels_open(struct kernels *k, int threads);
void kernels_close(struct kernels *k);

/*
 * gemm_check() - run g on every kernel and compare C and its padding with the oracle bit for bit; where the
 * request cannot be served, expect OZG_E_UNSUPPORTED and C untouched. C is the same afterwards. Returns 0
 * with a message if anything differs.
 */
int gemm_check(const struct kernels *k, const struct gemm *g, struct request request);

/* gemm_random() - a random product with sizes 0..largest, from the generator alone; the matrices are in the
 * arena. */
void gemm_random(struct gemm *g, struct rng *r, struct arena *arena, char type, int largest,
                 struct request *request);

/* gemm_random_scalars() - alpha and beta from the set of hard ones. */
void gemm_random_scalars(struct gemm *g, struct rng *r);

/* scalar_count(), scalar_value() - that set: 0, -0, 1, -1, 2^-3, 1/3, huge, subnormal, pi, Inf, -Inf, NaN,
 * the smallest, the largest. */
int scalar_count(void);
double scalar_value(char type, int index);

#endif
