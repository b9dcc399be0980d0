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
    FAMILY_COUNT,     /* the kinds above: random products draw from them */

    /* Kinds by which accuracies that look at the data are measured. N is normal, U uniform in (0, 1). */
    FAMILY_NORMAL = FAMILY_COUNT, /* N, full mantissas */
    FAMILY_POSITIVE,              /* U, full mantissas */
    FAMILY_PHI1,                  /* (U - 1/2) exp(phi N) */
    FAMILY_PHI2,
    FAMILY_PHI4,
    FAMILY_PHI10,
    FAMILY_PHI20,
    FAMILY_GRADED_ROWS, /* N, each row and column times its own 2^-200..2^200 (2^-40..2^40) */
    FAMILY_GRADED_K,    /* N, both operands decay to 2^-40 along k */
    FAMILY_INSIDE,      /* A D, D^-1 B with D from 2^-30 to 2^30 */
    FAMILY_INSIDE_FAR,  /* the same from 2^-400 to 2^400 (2^-60 to 2^60) */
    FAMILY_EVIL,        /* spikes of A meet rows of B times 2^-40 */
    FAMILY_EVIL2,       /* spikes in A, half of the entries of B times 2^-40 */
    FAMILY_HILBERT,     /* 1 / (i + p + 1), 1 / (p + j + 1) */
    FAMILY_SPARSE,      /* N, 19 of 20 entries 0 */
    FAMILY_SHORT,       /* N in 24 bits (11 bits): floats stored as doubles */
    FAMILY_EXTREMES,    /* entries near the largest number next to entries near the smallest normal one */
    FAMILY_END
};

const char *family_name(enum family f);

/* family_is_finite() - the family holds neither Inf nor NaN. */
int family_is_finite(enum family f);

/* family_fill() - fill op(X), rows x cols, of 'A' (lines are rows), 'B' (lines are columns) or 'C'. */
void family_fill(enum family f, struct rng *r, const struct view *v, char side, int64_t rows, int64_t cols,
                 void *x);

#endif
