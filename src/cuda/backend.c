/*
 * backend.c - the CUDA backend: its table.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "cuda/batch.h"
#include "cuda/device.h"
#include "cuda/operand.h"
#include "cuda/plan.h"
#include "cuda/run.h"

/* A matrix that is read or written, by the number and name of its argument. */
static ozg_status check_matrix(ozg_context *ctx, const void *x, int number, const char *name)
{
    char what[32];

    if (!x)
        return OZG_OK;
    snprintf(what, sizeof what, "argument %d (%s)", number, name);
    return ozg_cuda_here(ctx, x, what);
}

static ozg_status check_matrices(ozg_context *ctx, const ozg_shape *s, const ozg_data *d,
                                 const ozg_argument_numbers *numbers)
{
    ozg_status status = check_matrix(ctx, d->c, numbers->c, "c");

    if (!status && !d->pa && !ozg_nothing_to_multiply(s, d))
        status = check_matrix(ctx, d->a, numbers->a, "a");
    if (!status && !d->pb && !ozg_nothing_to_multiply(s, d))
        status = check_matrix(ctx, d->b, numbers->b, "b");
    return status;
}

static ozg_status check(ozg_context *ctx, const ozg_shape *shape, const ozg_data *data,
                        const ozg_argument_numbers *numbers)
{
    const ozg_status status =
        ctx->device_pointers && shape->m > 0 && shape->n > 0 ? ozg_cuda_enter(ctx) : OZG_OK;

    if (status || !ctx->device_pointers || shape->m == 0 || shape->n == 0)
        return status;
    return ozg_cuda_leave(ctx, check_matrices(ctx, shape, data, numbers));
}

static void *workspace(ozg_context *ctx, size_t bytes, ozg_status *status)
{
    void *work;

    *status = ozg_cuda_enter(ctx);
    if (*status)
        return NULL;
    work = ozg_cuda_arena(ctx, bytes, status);
    *status = ozg_cuda_leave(ctx, *status);
    return *status ? NULL : work;
}

const ozg_backend ozg_backend_cuda = {
    .name = "cuda",
    .check = check,
    .plan = ozg_cuda_plan,
    .workspace = workspace,
    .run = ozg_cuda_run,
    .batch = ozg_cuda_run_batch,
    .predict = ozg_cuda_predict,
    .scale_c = ozg_cuda_scale_c,
    .wait = ozg_cuda_wait,
    .close = ozg_cuda_close,
    .prepare = ozg_cuda_prepare,
    .release = ozg_cuda_release,
    .gather = ozg_cuda_entries,
};
