/*
 * lines.h - the lines of an operand, and what is known of each.
 *
 * Both operands are looked at in the same way: a "line" is a row of op(A) or a column of op(B), its elements
 * are numbered p = 0..k-1. For C11 and CUDA C.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_LINES_H
#define OZG_LINES_H

#include "arith/bound.h"
#include "problem.h"

/*
 * Element p of line i is x[i line_stride + p step] (elements of the type) times 2^shift[p]; shift may be
 * NULL. conj: its imaginary part is negated.
 */
typedef struct ozg_view {
    const void *x;
    int64_t line_stride, step;
    char type;
    int conj;
    const int16_t *shift;
} ozg_view;

/* e or D of a line that takes no part (all zero, or with Inf or NaN): a^ = 0 for all its elements. */
#define OZG_D_NONE (-(INT32_C(1) << 20))
#define OZG_E_NONE OZG_D_NONE

enum { OZG_LINE_INF = 1, OZG_LINE_NAN = 2 };

/* Integers y_p of a line: their sum, the sum of their squares, the largest. */
typedef struct ozg_norms {
    uint64_t sum, squares;
    uint32_t most;
} ozg_norms;

/*
 * The lines of an operand, and what the scale stage finds out about each. Arrays of count elements; what is
 * not asked for is not set.
 */
typedef struct ozg_lines {
    ozg_view view;
    int64_t count, k;
    uint8_t *special;                          /* 0, OZG_LINE_INF or OZG_LINE_NAN */
    int32_t *e;                                /* 2^(e-1) <= largest |component| < 2^e; OZG_E_NONE */
    int32_t *d;                                /* D_i or E_j; OZG_D_NONE */
    uint64_t *squares;                         /* N = sum ceil(2^(nu - e) |x|)^2 (arith/bound.h) */
    uint32_t *x1, *x2, *xmax, *r1, *r2, *rmax; /* the factors of the bound; rmax = 0: the line is exact */
    /*
     * Bit p of word p / 64 of words[i]: some component of element p of line i is rounded. NULL: not wanted.
     */
    uint64_t *places;
    int64_t words;        /* of each line */
    const int64_t *index; /* line i is the stored line index[i], rising in runs (apart.h); NULL: line i */
} ozg_lines;

/* The stored line of line i: where its elements and its row or column of C are. */
OZG_INLINE int64_t ozg_line_stored(const ozg_lines *l, int64_t i)
{
    return l->index ? l->index[i] : i;
}

/* Norms of numbers in units of 2^-bits as factors of bounds, in units of 2^(c - 16), rounded up. */
OZG_INLINE void ozg_norms_factors(const ozg_norms *n, int bits, int c, uint32_t *f1, uint32_t *f2,
                                     uint32_t *most)
{
    const int down = bits - 16 + c;

    *f1 = (uint32_t)ozg_ceil_shift(n->sum, down);
    *f2 = (uint32_t)ozg_ceil_shift(ozg_ceil_sqrt(n->squares), down);
    *most = (uint32_t)ozg_ceil_shift(n->most, down);
}

OZG_INLINE ozg_factors ozg_factors_of(const ozg_lines *l, int64_t i)
{
    const ozg_factors f = {l->x1[i], l->x2[i], l->xmax[i], l->r1[i], l->r2[i], l->rmax[i], l->d[i] + l->e[i]};

    return f;
}

#endif
