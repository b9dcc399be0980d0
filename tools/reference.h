/*
 * reference.h - the exact product of two matrices and the error of a computed one.
 *
 * Each row of A and column of B is a power of two times a vector of integers; FLINT multiplies the integers,
 * MPFR compares and rounds. Nothing is approximated but the printed figures.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TOOL_REFERENCE_H
#define OZG_TOOL_REFERENCE_H

#include "matrix.h"
#include "progress.h"

struct reference;

/*
 * How far a computed C is from the exact AB. Complex entries count as two components, and |a| then means
 * |Re a| + |Im a|. An infinity where the exact value rounds to it has no error; any other one, and NaN, has
 * an infinite error. The three ratios forgive half the least positive number, which no rounding can avoid.
 */
struct error_figures {
    double max_ulp;       /* largest |e| in units in the last place of the exact value */
    double rounded;       /* percentage of correctly rounded components */
    double componentwise; /* largest |e| / (|A||B|) */
    double linewise;      /* largest |e| / (||a_i|| ||b_j||), 2-norms of row i of A and column j of B */
    double matrixwise;    /* largest |e| / (max ||a_i|| max ||b_j||) */
    double normwise;      /* ||e||_F / ||C||_F */
    long double largest;  /* largest |e| of a finite component */
};

/* reference_available() - was this build made with FLINT and MPFR? */
int reference_available(void);

/* reference_missing() - the sentence for a build without. */
extern const char reference_missing[];

/* reference_make() - the exact product; A and B must be finite. progress may be NULL; it gets m n k units of
 * work (complex: 3 m n k). */
struct reference *reference_make(const struct matrix *a, const struct matrix *b, struct progress *progress);

void reference_free(struct reference *r);

/* reference_compare() - c has the type and size of the product; the ratios forgive one rounding. */
struct error_figures reference_compare(const struct reference *r, const struct matrix *c);

/*
 * reference_compare_sums() - the same, but the ratios forgive so many errors of half the least positive
 * number: a BLAS rounds each product, too.
 */
struct error_figures reference_compare_sums(const struct reference *r, const struct matrix *c,
                                            double roundings);

/* reference_round() - c := the correctly rounded product. */
void reference_round(const struct reference *r, struct matrix *c);

#endif
