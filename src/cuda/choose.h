/*
 * choose.h - the memory in which the blocks of ozg_cuda_choose meet.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_CHOOSE_H
#define OZG_CUDA_CHOOSE_H

#include "cuda/kernels.h"

#define OZG_CHOOSE_BOTH     (2 * OZG_SAMPLE_LINES) /* slots of lines: of A first, then of B */
#define OZG_CHOOSE_PAIRS    (OZG_SAMPLE_LINES * OZG_SAMPLE_LINES)
#define OZG_CHOOSE_SEGMENTS 512 /* in which lines are counted */

/* Sums of a sample over k, of all blocks. Begin as 0. */
typedef struct ozg_choose_sums {
    /* of each pair and component: ozg_pair, value in two's complement; term - 2 OZG_SAMPLE_ZERO */
    uint64_t value[2][OZG_CHOOSE_PAIRS], magnitude[2][OZG_CHOOSE_PAIRS];
    uint32_t term[2][OZG_CHOOSE_PAIRS];
    /* of each line: norms of residuals for s moduli, and rounded elements */
    uint64_t sum[OZG_NMOD_MAX + 1][OZG_CHOOSE_BOTH], squares[OZG_NMOD_MAX + 1][OZG_CHOOSE_BOTH];
    uint32_t most[OZG_NMOD_MAX + 1][OZG_CHOOSE_BOTH], places[OZG_NMOD_MAX + 1][OZG_CHOOSE_BOTH];
    /* with shifts: the norms, and e - OZG_E_NONE */
    uint64_t norm_sum[OZG_CHOOSE_BOTH], norm_squares[OZG_CHOOSE_BOTH];
    uint32_t norm_most[OZG_CHOOSE_BOTH], exponent[OZG_CHOOSE_BOTH];
    uint32_t fails[2][OZG_SAMPLE_LINES]; /* at the start of the search: ozg_fails.row */
} ozg_choose_sums;

/* Which sums: the sample if all lines take part, among those that do, with shifts, of the parts. */
enum {
    OZG_SUMS_ALL,
    OZG_SUMS_PRESENT,
    OZG_SUMS_SHIFTED,
    OZG_SUMS_PARTS,
    OZG_SUMS = OZG_SUMS_PARTS + OZG_PARTS
};

/* The beginning, up to `more`, is zero before the launch. */
typedef struct ozg_choose_memory {
    ozg_choose_sums first;
    uint32_t absent[2]; /* lines of A and of B that take no part */
    uint32_t shifts;    /* some shift is not 0 */
    uint32_t unused;
    ozg_choose_sums more[OZG_SUMS - 1];
    uint32_t counts[2 * OZG_PARTS][OZG_CHOOSE_SEGMENTS];
} ozg_choose_memory;

/*
 * Behind it: rooms of both sides, k numbers each, less OZG_ROOM_NONE; flags of the rows and columns that are
 * far out.
 */
#define OZG_CHOOSE_ROOMS_AT ((sizeof(ozg_choose_memory) + 255) / 256 * 256)

#endif
