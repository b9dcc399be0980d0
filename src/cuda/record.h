/*
 * record.h - what comes back from the device for a report, and the report that it makes.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_RECORD_H
#define OZG_CUDA_RECORD_H

#include "cuda/pipeline.h"

/* ctx->cuda->run: what calls leave for later ones. */
struct ozg_cuda_run_state {
    uint64_t serial; /* of the latest report that waits to be filled */
    int scaled;      /* it is that of C := RN(beta C); else of a product */
    int rounds;
    const char *reason;
    ozg_plan plan;
    ozg_cuda_places places;
    ozg_data data; /* the scalars */
    ozg_cuda_clock clock;
    CUstream up, down; /* for matrices of the host, beside the caller's; NULL: not made yet */
};

/*
 * ozg_cuda_record_open() - page-locked memory for the record of a plan; before any work is enqueued. Errors:
 * OZG_E_NOMEM, OZG_E_UNSUPPORTED (while the stream is being captured, and there is not enough).
 */
ozg_status ozg_cuda_record_open(ozg_context *ctx, const ozg_plan *plan);

/* ozg_cuda_record_bytes() - of the record of a plan. */
size_t ozg_cuda_record_bytes(const ozg_plan *plan);

/* ozg_cuda_record_state() - waits for the stream; *state: what the data decided. */
ozg_status ozg_cuda_record_state(ozg_cuda_job *job, ozg_cuda_state *state);

/* ozg_cuda_record_aside() - the same beside the record of a report that waits to be filled, which stays. */
ozg_status ozg_cuda_record_aside(ozg_cuda_job *job, ozg_cuda_state *state);

/*
 * ozg_cuda_record_product() - enqueues the copies, behind all work of the job; report is filled by
 * ozg_cuda_record_finish() when the stream is through, and known until then by report->reserved[0].
 */
void ozg_cuda_record_product(ozg_cuda_job *job, const ozg_data *data, ozg_report *report);

/* ozg_cuda_record_scaled() - the same for C := RN(beta C). */
void ozg_cuda_record_scaled(ozg_cuda_job *job, const ozg_data *data, ozg_report *report, const char *reason);

/* ozg_cuda_record_finish() - waits, and fills the report if it is still to be filled. */
ozg_status ozg_cuda_record_finish(ozg_context *ctx, ozg_report *report);

/*
 * ozg_cuda_record_open_batch() - as ozg_cuda_record_open(), for so many products. ozg_cuda_record_batch() -
 * waits, and adds the reports of the products of a job to a sum; first: it begins with them.
 */
ozg_status ozg_cuda_record_open_batch(ozg_context *ctx, const ozg_plan *plan, int64_t products);
ozg_status ozg_cuda_record_batch(ozg_cuda_job *job, const ozg_data *data, ozg_report *report, int first);

/* ozg_cuda_record_predict() - waits, and adds the bound of a part that was measured. */
ozg_status ozg_cuda_record_predict(ozg_cuda_job *job, const ozg_data *data, int part, ozg_report *report,
                                   double *products);

#endif
