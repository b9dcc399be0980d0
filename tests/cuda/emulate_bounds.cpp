/*
 * emulate_bounds.cpp - the screens of bounds.cuh as a kernel.
 *
 * SPDX-License-Identifier: MIT
 */
#include "emulate_bounds.h"
#include "cuda/bounds.cuh"

OZG_KERNEL(emulate_bounds, emulate_bounds_args, 1, 1)
{
    const ozg_cuda_line row = ozg_cuda_line_of(&a.row, 0, 1), column = ozg_cuda_line_of(&a.column, 0, 1);
    const ozg_cuda_tests tests = ozg_cuda_tests_of(&a.request, a.factor);
    const ozg_cuda_leading v = {a.top, a.sticky, 0, a.exp};
    emulate_bounds_out *out = a.out;

    out->screen = ozg_cuda_screen(&row, &column);
    out->limit = tests.limit;
    out->tested = ozg_cuda_tested(&row, &column);
    out->some = ozg_cuda_screen_terms(&row, &column) > 0;
    out->widths = ozg_cuda_line_width(&row) + ozg_cuda_line_width(&column);
    out->key = ozg_cuda_screen_key(out->screen, out->widths - row.d - column.d, tests.unit);
    out->doubt = ozg_cuda_in_doubt(a.request.single, tests.unit, v, a.exponent, out->screen, out->widths);
}
