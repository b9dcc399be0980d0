/*
 * bench_check.h - is this product right? Asked for every speed that "ozgemm speed" prints.
 *
 * Some rows times some columns, edges included, are compared with the exact product (reference.h). All other
 * entries are compared with another computed product.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TOOL_BENCH_CHECK_H
#define OZG_TOOL_BENCH_CHECK_H

#include "matrix.h"
#include "ozgemm.h"
#include "reference.h"

struct probe;

/* What a component must keep besides its rounding: abs(e) <= absolute and abs(e) <= relative times abs(A) abs(B),
 * the sum of the magnitudes of all real products in it; INFINITY where nothing is promised. */
struct promise {
    double absolute, relative;
    int rounded; /* 1: every entry is correctly rounded */
};

/* What a check found. */
struct finding {
    int wrong;           /* 1: the entry (row, column) breaks the promise: the worst one */
    int64_t row, column; /* counted from 1 */
    double error, allowed;
    int64_t entries;             /* that were compared */
    struct error_figures errors; /* of probe_check() only */
};

/* dot_length() - k' of a component: k, complex 2k. unit_roundoff() - u of the type. */
double dot_length(char type, int64_t k);
double unit_roundoff(char type);

/* promise_of_blas() - the bound of any order of summation: gamma of k' + 2 [Higham 2002, sec. 3.1]. */
struct promise promise_of_blas(char type, int64_t k);

/* probe_make() - choose at most 32 rows and 32 columns and make their exact product; A and B are finite and
 * stay with the caller. */
struct probe *probe_make(const struct matrix *a, const struct matrix *b);
void probe_free(struct probe *s);

/* probe_check() - C against the exact product in the chosen rows and columns. */
struct finding probe_check(const struct probe *s, const struct matrix *c, struct promise promise);

/*
 * probe_defined() - C against the defined result of these moduli or this width in the chosen rows and columns,
 * bit for bit: that of the library on the CPU, which needs no other rows and columns for it.
 */
struct finding probe_defined(const struct probe *s, const struct matrix *a, const struct matrix *b,
                             const struct matrix *c, ozg_accuracy accuracy);

/*
 * probe_compare() - every entry of C against another computed product, of this promise. abs(A) abs(B) is
 * replaced by the product of the norms of row and column (Cauchy-Schwarz): this finds what is grossly wrong.
 */
struct finding probe_compare(const struct probe *s, const struct matrix *c, struct promise promise,
                             const struct matrix *other, struct promise others);

#endif
