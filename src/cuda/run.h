/*
 * run.h - the calls of backend.h that compute, on a CUDA device. All but the plan (plan.h).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_RUN_H
#define OZG_CUDA_RUN_H

#include "driver.h"

/*
 * ozg_cuda_run() - device pointers: enqueues the product on the stream and returns; it waits only where
 * repair_limit is set and the data choose what is repaired. Nothing is allocated if `work` is the caller's,
 * or the context's from an earlier call, and the record (record.h) is large enough: the calls can then be
 * captured into a graph. Pointers of the host: returns when C is there; `work` is not looked at, since it
 * would have to be on the device. Errors: as ozg_driver_run(), OZG_E_DEVICE.
 */
ozg_status ozg_cuda_run(const ozg_plan *plan, const ozg_data *data, void *work, ozg_report *report);

/*
 * ozg_cuda_predict() - as ozg_driver_predict(); waits. Device pointers: in memory of its own where the context's
 * is too small, which a captured graph may need as it is.
 */
ozg_status ozg_cuda_predict(const ozg_plan *plan, const ozg_data *data, ozg_report *report);

/* ozg_cuda_scale_c() - C := RN(beta C). */
ozg_status ozg_cuda_scale_c(ozg_context *ctx, const ozg_shape *shape, const ozg_data *data,
                            ozg_report *report, const char *reason);

/* ozg_cuda_wait() - until the stream is through. */
ozg_status ozg_cuda_wait(ozg_context *ctx, ozg_report *report);

/* ozg_cuda_close_run() - frees ctx->cuda->run. */
void ozg_cuda_close_run(ozg_context *ctx);

#endif
