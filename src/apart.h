/*
 * apart.h - rows and columns that need more moduli than the others, and the product in parts.
 *
 * Native accuracy alone. With few lines far out, a number of moduli that suits all is too large for most of
 * them, and one that suits most leaves the others to repairs. The product is then computed in up to three
 * parts, each with moduli of its own:
 *
 *     ordinary rows x ordinary columns,  far rows x all columns,  ordinary rows x far columns
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_APART_H
#define OZG_APART_H

#include "lines.h"
#include "moduli.h"

#define OZG_SAMPLE_LINES 32 /* of a side at most; bits of a mask */

/*
 * ---- The rule: part of the definition of native results -------------------------------------------------
 *
 * Known are, for each s, the pairs of sampled lines (choose.c) that fail native grade with s moduli.
 *
 * 1. Far out at s: as long as there is a sampled row or column that fails in more than 1/OZG_FAR_PAIRS of its
 *    pairs, the one with the largest share of them (rows before columns, then the first) is taken out. s will
 *    do if less than 1/OZG_FAR_LINES of the sampled rows and of the sampled columns were taken out.
 * 2. s1 goes from the number of moduli for all downwards as long as it will do and the ordinary lines alone
 * do
 *    not cost more than all lines do now. Its cost is that of the parts, in products of the size of the
 *    problem: the share of the part times (s + OZG_REPAIR times the share of its pairs that fails), with the
 *    best s >= s1 for each of the other two parts, and OZG_SPLIT_AGAIN s / m for the columns and
 *    OZG_SPLIT_AGAIN s / n for the rows that these parts split again.
 * 3. Lines are computed apart if the least cost is below that of all lines in one by at least OZG_APART_GAIN:
 *    less does not pay for rule 4 and for the smaller parts. Nothing of this is looked at where all lines in
 *    one cost less than one product more than usual (decide.h).
 * 4. Then each row fails or passes against OZG_FAR_AGAINST ordinary sampled columns (all, if there are not
 *    more; evenly) at s1. It is far out if it fails in more than 1/OZG_FAR_PAIRS of these pairs. Columns
 *    likewise, if a sampled column is far out, and rows are looked at only if a sampled row is.
 * 5. If more than 1/OZG_FAR_LINES of all rows or of all columns are far out, no line is computed apart.
 * 6. Each part chooses its number of moduli from a sample of its own lines, as a whole product does; the
 *    scaling along k is that of the whole.
 */
#define OZG_FAR_PAIRS   8
#define OZG_FAR_LINES   4
#define OZG_FAR_AGAINST 8
#define OZG_APART_GAIN  2   /* products */
#define OZG_REPAIR      256 /* products that the exact computation of all entries costs */
#define OZG_SPLIT_AGAIN 16  /* products of two numbers that the split of one costs, per modulus */

#define OZG_COST_UNIT 1024 /* of costs: those of the pairs of a sample are times pairs times this */

/*
 * What is known of each s: nothing (0), all, or that its cost is above that of another. Native: bit j of
 * row[s][i] is set if the pair of the sample fails.
 */
enum { OZG_KNOWN = 1, OZG_ABOVE };

typedef struct ozg_fails {
    int rows, columns; /* of the sample */
    int64_t m, n;      /* of the product */
    uint8_t known[OZG_NMOD_MAX + 1];
    uint32_t row[OZG_NMOD_MAX + 1][OZG_SAMPLE_LINES];
    uint64_t cost[OZG_NMOD_MAX + 1], repairs[OZG_NMOD_MAX + 1]; /* of all pairs, in OZG_COST_UNIT */
} ozg_fails;

/* What is to be computed apart. */
typedef struct ozg_apart {
    int nmod;                  /* s1; 0: nothing */
    uint32_t rows, columns;    /* the ordinary ones of the sample */
    int far_rows, far_columns; /* sampled ones that are not */
    uint64_t cost;             /* in OZG_COST_UNIT */
} ozg_apart;

/* ozg_apart_count() - how many of the flags are set; -1: more than rule 5 allows. */
int64_t ozg_apart_count(const uint8_t *far, int64_t count);

/*
 * ozg_apart_order() - brings the lines that are flagged behind all others, both in the order in which they
 * are stored. What the scale stage found out moves with them; d, residuals and places are lost. index: of
 * count.
 */
void ozg_apart_order(ozg_lines *lines, const uint8_t *far, int64_t *index);

/* ozg_apart_lines() - lines [first, first + count) as lines of their own, on the same arrays. */
ozg_lines ozg_apart_lines(const ozg_lines *lines, int64_t first, int64_t count);

#define OZG_PARTS 3

/* Rows and columns of a part, by number after ozg_apart_order() (decide.h: ozg_apart_parts()). */
typedef struct ozg_part {
    int64_t i0, rows, j0, columns;
} ozg_part;

#endif
