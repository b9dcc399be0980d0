/*
 * factors.cuh - the factors of the bounds of what was rounded away of lines (ozg_norms_factors), from the norms that
 * split has summed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_FACTORS_CUH
#define OZG_CUDA_FACTORS_CUH

#include "cuda/device.cuh"
#include "cuda/kernels.h"

/* Stored line i. Returns whether some bit of it was rounded away. */
OZG_DEVICE int ozg_cuda_factors_of_line(const ozg_cuda_lines &l, int64_t i, int unit)
{
    const ozg_norms norms = {l.rsum[i], l.rsquares[i], l.rtop[i]};
    uint32_t r1, r2, most;

    ozg_norms_factors(&norms, 16, unit, &r1, &r2, &most);
    l.r1[i] = r1;
    l.r2[i] = r2;
    l.rmax[i] = most;
    l.rsum[i] = 0;
    l.rsquares[i] = 0;
    l.rtop[i] = 0;
    return most != 0 && l.e[i] != OZG_E_NONE;
}

/* The share of a thread, number `thread` of `threads`, of the lines that are wanted. */
OZG_DEVICE void ozg_cuda_make_factors(const ozg_cuda_factors_args &a, int64_t thread, int64_t threads)
{
    const int there = (a.rows || a.columns) && a.tile.part < a.state->parts;
    int64_t rows, columns;
    int indexed, unit;

    if (!there)
        return;
    const ozg_part &part = a.state->part[a.tile.part];

    rows = a.rows ? max(min(a.tile.rows, part.rows - a.tile.i0), (int64_t)0) : 0;
    columns = a.columns ? max(min(a.tile.columns, part.columns - a.tile.j0), (int64_t)0) : 0;
    indexed = a.state->parts > 1;
    unit = ozg_bound_unit(a.request.length);
    for (int64_t at = thread; at < rows + columns; at += threads) {
        const int of_a = at < rows;
        const ozg_cuda_lines &l = of_a ? a.a : a.b;
        const int64_t place = of_a ? part.i0 + a.tile.i0 + at : part.j0 + a.tile.j0 + at - rows;

        if (ozg_cuda_factors_of_line(l, indexed ? l.index[place] : place, unit))
            a.state->inexact = 1;
    }
}

#endif
