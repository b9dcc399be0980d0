/*
 * families.h - kinds of matrices that are hard for a product, made from integers only: the same on every
 * machine.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TEST_FAMILIES_H
#define TEST_FAMILIES_H

#include "gemm.h"
#include "rng.h"

enum family {
    FAMILY_UNIFORM,   /* (-1, 1), full mantissas at every magnitude */
    FAMILY_GRID,      /* (-1, 1), multiples of 2^-53 (2^-24) */
    FAMILY_MAXIMA,    /* all 1 - 2^-53 (1 - 2^-24): |c^| at its limit */
    FAMILY_INTEGERS,  /* up to 2^20 (2^10) */
    FAMILY_SMALL,     /* -2..2 */
    FAMILY_WIDE,      /* each row and column times its own 2^-1000..2^1000 (2^-100..2^100) */
    FAMILY_SUBNORMAL, /* around the smallest normal number, most of them below */
    FAMILY_ZEROS,     /* signed zeros, whole zero rows and columns, a few small integers */
    FAMILY_CANCEL,    /* pairs of terms that cancel but for their last bits */
    FAMILY_TIES,      /* sums half way between two numbers */
    FAMILY_TINY_TIES, /* the same in the subnormal range */
    FAMILY_OVERFLOW,  /* sums at the largest number, half way to overflow */
    FAMILY_SPIKE,     /* uniform, one entry of each row and column times 2^40 */
    FAMILY_IDENTITY,  /* op(A) or op(B) the identity */
    FAMILY_BITS,      /* random bits that are a finite number */
    FAMILY_SPECIAL,   /* small integers and uniform with Inf, NaN and zeros between */
    FAMILY_COUNT
};

const char *family_name(enum family f);

/* family_is_finite() - the family holds neither Inf nor NaN. */
int family_is_finite(enum family f);

/* family_fill() - fill op(X), rows x cols, of 'A' (lines are rows), 'B' (lines are columns) or 'C'. */
void family_fill(enum family f, struct rng *r, const struct view *v, char side, int64_t rows, int64_t cols,
                 void *x);

#endif
