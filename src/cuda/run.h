/*
 * run.h - the calls of backend.h that compute, on a CUDA device. All but the plan (plan.h).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_RUN_H
#define OZG_CUDA_RUN_H

#include "cuda/pipeline.h"
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

/* ---- what calls with matrices of the host share (stream.h) ---------------------------------------- */

/* ozg_cuda_learn() - what the data decided, once the stream is that far; the job is told. Errors:
 * OZG_E_UNSUPPORTED (repair_limit). */
ozg_status ozg_cuda_learn(ozg_cuda_job *job, ozg_cuda_state *state);

/*
 * ozg_cuda_own_workspace() - the context's own workspace, since what the caller gave would be memory of the host; the
 * record, and the streams. Errors: OZG_E_NOMEM, OZG_E_DEVICE, OZG_E_UNSUPPORTED (while the stream is captured).
 */
ozg_status ozg_cuda_own_workspace(const ozg_plan *plan, void **work);

/* ozg_cuda_abandon() - the status of a failed call, of which nothing goes on in its memory. written: some of C is the
 * product's. */
ozg_status ozg_cuda_abandon(ozg_context *ctx, ozg_status status, int written);

/* ozg_cuda_predict_parts() - the report of a job whose moduli are settled. visitor: NULL, or for
 * ozg_cuda_job_measure(). */
ozg_status ozg_cuda_predict_parts(ozg_cuda_job *job, const ozg_data *data, const ozg_cuda_visitor *visitor,
                                  ozg_report *report);

/* ozg_cuda_close_run() - frees ctx->cuda->run. */
void ozg_cuda_close_run(ozg_context *ctx);

#endif
