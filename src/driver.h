/*
 * driver.h - runs a plan on the CPU: the tile loop, the caller of its stages (cpu/parts.h) but for prepared operands.
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
    ozg_accuracy acc;
    int nmod, width;               /* width 0: as the data have it */
    struct ozg_cuda_operand *cuda; /* cuda/operand.h; NULL on the CPU */
    /* what follows is the CPU's */
    ozg_lines lines; /* of the copy, which Inf, NaN and repairs need */
    ozg_planes planes;
    void *memory, *split; /* of lines and copy; of the planes */
};

/* op(X) of an operand as lines: rows of op(A) (side 'A') or columns of op(B) (side 'B'). */
ozg_view ozg_view_of(char type, char side, char trans, const void *x, int64_t ld, int64_t count, int64_t k);

/*
 * ozg_driver_run() - C := RN(alpha op(A) op(B) + beta C) in the plan's workspace. report may be NULL. Errors,
 * both before C is touched: OZG_E_UNSUPPORTED (repair_limit), OZG_E_NOMEM (tables of moduli).
 */
ozg_status ozg_driver_run(const ozg_plan *plan, const ozg_data *data, void *workspace, ozg_report *report);

/*
 * ozg_driver_predict() - the report of such a run without it: what the data alone tell. beta and C do not
 * matter. Errors as ozg_driver_run().
 */
ozg_status ozg_driver_predict(const ozg_plan *plan, const ozg_data *data, void *workspace,
                              ozg_report *report);

/* ozg_driver_check_repairs() - Errors: OZG_E_UNSUPPORTED (more repairs than repair_limit). */
ozg_status ozg_driver_check_repairs(ozg_context *ctx, uint64_t repairs);

/* ozg_driver_scale_c() - C := RN(beta C), for alpha = 0 or k = 0. */
void ozg_driver_scale_c(const ozg_shape *shape, const ozg_data *data);

/* ozg_driver_stage() - what the stages need to know of a shape, but for scalars and scratch memory. */
ozg_stage ozg_driver_stage(const ozg_kernel *kernel, const ozg_rns *rns, const ozg_shape *shape, int width,
                           int threads);

/* The `prepare` and `release` of backend.h (cpu/operand.c). */
ozg_status ozg_cpu_prepare(ozg_operand *operand, char trans, const void *x, int64_t ldx);
void ozg_cpu_release(ozg_operand *operand);

#endif
