/*
 * driver.h - runs a plan: the tile loop, the only caller of the stages.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_DRIVER_H
#define OZG_DRIVER_H

#include "plan.h"

/* A matrix that is already scaled and split. */
struct ozg_operand {
    ozg_context *ctx;
    char type, side;
    int64_t count, k; /* lines of k elements */
    int nmod, width;
    ozg_lines lines;
    ozg_planes planes;
    ozg_view view; /* a copy of the elements, for Inf and NaN */
    void *memory;
};

/* op(X) of an operand as lines: rows of op(A) (side 'A') or columns of op(B) (side 'B'). */
ozg_view ozg_view_of(char type, char side, char trans, const void *x, int64_t ld, int64_t count, int64_t k);

/* ozg_driver_run() - C := RN(alpha op(A) op(B) + beta C) in the plan's workspace. Cannot fail. report may be
 * NULL. */
void ozg_driver_run(const ozg_plan *plan, const ozg_data *data, void *workspace, ozg_report *report);

/* ozg_driver_scale_c() - C := RN(beta C), for alpha = 0 or k = 0. */
void ozg_driver_scale_c(const ozg_shape *shape, const ozg_data *data);

/* ozg_driver_prepare() - scale, measure and split all lines of an operand whose memory is set. */
void ozg_driver_prepare(ozg_operand *operand, const ozg_rns *rns, const ozg_view *source);

#endif
