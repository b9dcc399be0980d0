/*
 * sample.h - sampled lines of both operands, and which of their pairs fail native grade.
 *
 * Lines are looked at in pieces of OZG_SAMPLE_PIECE components, so that the memory does not grow with k.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_SAMPLE_H
#define OZG_SAMPLE_H

#include "backend.h"
#include "decide.h"

#define OZG_SAMPLE_PIECE 8192 /* components of a line that are looked at together; an even number */

/* The sampled lines of one operand. */
typedef struct ozg_side {
    int threads;
    const ozg_lines *all;
    int64_t index[OZG_SAMPLE_LINES];
    ozg_lines lines;      /* view of the piece */
    const int16_t *shift; /* of all elements, or NULL */
    int64_t begin, count; /* the elements of the piece; count 0: none loaded */
    uint64_t *bits;       /* the piece: OZG_SAMPLE_PIECE components a line, as doubles */
    int32_t *floor;       /* floor(|x| 2^(31 - e)) with the sign */
    int16_t *exponent;    /* of each component, less e; ZERO for 0 */
    /* the arrays of lines */
    uint8_t special[OZG_SAMPLE_LINES];
    int32_t e[OZG_SAMPLE_LINES], d[OZG_SAMPLE_LINES];
    uint64_t squares[OZG_SAMPLE_LINES];
    uint32_t x1[OZG_SAMPLE_LINES], x2[OZG_SAMPLE_LINES], xmax[OZG_SAMPLE_LINES];
    uint32_t r1[OZG_SAMPLE_LINES], r2[OZG_SAMPLE_LINES], rmax[OZG_SAMPLE_LINES];
    uint64_t place[OZG_SAMPLE_LINES * OZG_SAMPLE_PIECE / 64]; /* where elements of the piece are rounded */
    int64_t places[OZG_SAMPLE_LINES];                         /* how many are */
} ozg_side;

typedef struct ozg_sample {
    const ozg_stage *st;
    ozg_rule rule;
    ozg_side a, b;
    int64_t piece; /* elements */
    ozg_pair pair[OZG_SAMPLE_LINES][OZG_SAMPLE_LINES];
    ozg_fails fails; /* of each s that was looked at */
} ozg_sample;

/*
 * ozg_sample_open() - chooses the lines and copies what is known of them, with the shifts of their views.
 * memory: ozg_choose_bytes().
 */
ozg_sample *ozg_sample_open(const ozg_stage *st, const ozg_lines *a, const ozg_lines *b, void *memory);

/* ozg_sample_take() - the first n of x->index are the lines from now on. */
void ozg_sample_take(ozg_side *x, int n);

/* ozg_sample_load() - elements [p0, p0 + count) of all lines. */
void ozg_sample_load(ozg_side *x, int64_t p0, int64_t count);

/* ozg_sample_measure() - e and norms of the lines with new shifts. */
void ozg_sample_measure(const ozg_sample *z, ozg_side *x);

/* ozg_sample_pairs() - what does not depend on s, of all pairs. */
void ozg_sample_pairs(ozg_sample *z);

#define OZG_SIDE_A 1
#define OZG_SIDE_B 2

/* ozg_sample_residuals() - D of the lines of one side or both for s moduli, and the norms of what is then
 * rounded away. */
void ozg_sample_residuals(ozg_sample *z, int sides, int s);

/*
 * ozg_sample_fails() - bit j of row[i]: the pair fails for the D that is set. Returns how many do; rows after
 * those with more than `enough` are not looked at.
 */
uint64_t ozg_sample_fails(const ozg_sample *z, uint64_t enough, uint32_t row[OZG_SAMPLE_LINES]);

#endif
