/*
 * extended.h - products of doubles with more than double precision and without matrix engines: what one would
 * otherwise use, for "ozgemm speed --compare".
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_BENCH_EXTENDED_H
#define OZG_BENCH_EXTENDED_H

#include <stdint.h>

enum extended_method {
    EXTENDED_DOT2, /* compensated dot products: [Ogita, Rump, Oishi 2005] algorithm 5.3, as if in 106 bits */
    EXTENDED_DD,   /* the same products, summed in double-double, normalised after every addition */
    EXTENDED_FLOAT128 /* products and sums in binary128, by the software of the compiler */
};

/* extended_missing() - why this machine or this build cannot do it; NULL: it can. */
const char *extended_missing(enum extended_method method);

/* extended_gemm() - C := A B, each entry rounded to double at the end; column-major. Returns 0 if there is no
 * memory for the packed rows. */
int extended_gemm(enum extended_method method, int threads, int64_t m, int64_t n, int64_t k, const double *a,
                  int64_t lda, const double *b, int64_t ldb, double *c, int64_t ldc);

/*
 * extended_error() - a bound of the error of an entry besides its rounding to double, relative to the entry
 * of abs(A) abs(B).
 */
double extended_error(enum extended_method method, int64_t k);

#endif
