/*
 * factors_data.h - lines that were measured, and what the kernels that make factors of them should leave.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TEST_CUDA_FACTORS_DATA_H
#define OZG_TEST_CUDA_FACTORS_DATA_H

#include "cuda/kernels.h"
#include "rng.h"
#include "../unit/unit.h"

enum { FACTORS_LINES = 600 };

/* The lines of A, and of B, by stored line. */
struct factors_data {
    uint64_t sum[2][FACTORS_LINES], squares[2][FACTORS_LINES];
    uint64_t sum_was[2][FACTORS_LINES], squares_was[2][FACTORS_LINES];
    uint32_t top[2][FACTORS_LINES], top_was[2][FACTORS_LINES], factor[2][3][FACTORS_LINES];
    int32_t e[2][FACTORS_LINES];
    int64_t index[2][FACTORS_LINES];
    ozg_cuda_factors_args args;
};

static inline void factors_fill_line(struct factors_data *f, struct rng *r, int q, int i)
{
    const uint64_t length = f->args.request.length;

    f->sum[q][i] = f->sum_was[q][i] = rng_below(r, 2) ? rng_below(r, length << 15) : 0;
    f->squares[q][i] = f->squares_was[q][i] = rng_below(r, length << 30);
    f->top[q][i] = f->top_was[q][i] = rng_below(r, 50) ? 0 : (uint32_t)rng_below(r, 32769);
    f->e[q][i] = rng_below(r, 5) ? 3 : OZG_E_NONE;
    f->index[q][i] = FACTORS_LINES - 1 - i;
}

/* args of a tile: rows, columns, both or none are wanted. */
static inline void factors_fill(struct factors_data *f, struct rng *r, ozg_cuda_state *state,
                                const ozg_cuda_tile *tile)
{
    ozg_cuda_lines *side[2] = {&f->args.a, &f->args.b};

    f->args = (ozg_cuda_factors_args){
        .state = state, .tile = *tile, .rows = rng_below(r, 4) != 0, .columns = rng_below(r, 4) != 0};
    f->args.request.length = (uint64_t)rng_between(r, 1, rng_below(r, 2) ? 60000 : UINT32_MAX);
    memset(f->factor, 0xa5, sizeof f->factor);
    for (int q = 0; q < 2; q++) {
        for (int i = 0; i < FACTORS_LINES; i++)
            factors_fill_line(f, r, q, i);
        *side[q] = (ozg_cuda_lines){.rsum = f->sum[q],
                                    .rsquares = f->squares[q],
                                    .rtop = f->top[q],
                                    .e = f->e[q],
                                    .r1 = f->factor[q][0],
                                    .r2 = f->factor[q][1],
                                    .rmax = f->factor[q][2],
                                    .index = f->index[q]};
    }
}

/* Is the line at this place of the part one of those that are wanted? */
static inline int factors_wanted(const struct factors_data *f, int q, int64_t place)
{
    const ozg_cuda_tile *t = &f->args.tile;
    const ozg_part *part = &f->args.state->part[t->part];
    const int64_t at = place - (q ? part->j0 + t->j0 : part->i0 + t->i0);

    if (q)
        return f->args.columns && at >= 0 && at < t->columns && t->j0 + at < part->columns;
    return f->args.rows && at >= 0 && at < t->rows && t->i0 + at < part->rows;
}

/* Factors of the lines of the tile, whose norms are 0 now, and inexact; all others, or (made = 0) all, as they were. */
static inline void factors_check(const struct factors_data *f, int made)
{
    const int unit = ozg_bound_unit(f->args.request.length);
    uint32_t inexact = 0, expected[3];

    for (int q = 0; q < 2; q++)
        for (int64_t place = 0; place < FACTORS_LINES; place++) {
            const int64_t i = f->args.state->parts > 1 ? f->index[q][place] : place;
            const ozg_norms norms = {f->sum_was[q][i], f->squares_was[q][i], f->top_was[q][i]};
            const int in = made && factors_wanted(f, q, place);

            memset(expected, 0xa5, sizeof expected);
            if (in)
                ozg_norms_factors(&norms, 16, unit, &expected[0], &expected[1], &expected[2]);
            inexact |= in && norms.most && f->e[q][i] != OZG_E_NONE;
            for (int x = 0; x < 3; x++)
                assert_int_equal(f->factor[q][x][i], expected[x]);
            assert_true(f->sum[q][i] == (in ? 0 : norms.sum) &&
                        f->squares[q][i] == (in ? 0 : norms.squares) &&
                        f->top[q][i] == (in ? 0 : norms.most));
        }
    assert_int_equal(f->args.state->inexact, inexact);
}

#endif
