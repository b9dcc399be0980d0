/*
 * oracle.h - the defined result of a product, computed apart from the library by GMP, FLINT and MPFR.
 *
 * The definition is that of doc/numerics.md: integers a^ = RN_int(a 2^D_i), b^ = RN_int(b 2^E_j) of t bits,
 * their exact product, and one rounding of alpha op(A) op(B) + beta C.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TEST_ORACLE_H
#define TEST_ORACLE_H

#include "dyadic.h"
#include "gemm.h"

/* As a width: no bit of A and B is rounded away. */
enum { ORACLE_EXACT = 0 };

struct oracle {
    const struct gemm *g;
    int width;      /* t, or ORACLE_EXACT */
    int exact;      /* no bit of the finite rows and columns was rounded away */
    long *d, *e;    /* exponents D_i, E_j; 0 for a row or column of zeros */
    struct ext *ab; /* op(A) op(B) as defined: entry (i, j), part: ab[(i + j m) parts + part] */
};

/* oracle_open() - compute the product of g at this width. g and its A and B must stay. */
void oracle_open(struct oracle *o, const struct gemm *g, int width);
void oracle_close(struct oracle *o);

/* oracle_value() - part of entry (i, j) of alpha op(A) op(B) + beta C before the rounding; needs alpha != 0,
 * k > 0. */
void oracle_value(const struct oracle *o, const void *c, int64_t i, int64_t j, int part, struct ext *value);

/* oracle_result() - c := the defined result, from the alpha, beta and ldc of g. c may be larger than C:
 * padding stays. */
void oracle_result(const struct oracle *o, void *c);

/* oracle_gemm() - the three steps in one. */
void oracle_gemm(const struct gemm *g, int width, void *c);

/* What a test asks for: ozg_moduli(value) or ozg_width(value). */
struct request {
    enum { REQUEST_MODULI, REQUEST_WIDTH } kind;
    int value;
};

/* request_accuracy() - the same in the words of the library. */
ozg_accuracy request_accuracy(struct request r);

/* request_width() - the width that the request means, by widths.h; below 1 if it cannot be served. */
int request_width(struct request r, char type, int64_t k);

#endif
