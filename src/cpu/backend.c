/*
 * backend.c - the CPU backend: its table, and the scratch memory of the product stage.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "cpu/parts.h"
#include "driver.h"
#include "report.h"

size_t ozg_cpu_scratch_bytes(const ozg_kernel *kernel, int complex_, int64_t rows, int64_t columns)
{
    ozg_product_block(kernel, complex_, &rows, &columns);
    return (size_t)ozg_product_sums(kernel, rows, columns) * sizeof(int32_t) * (complex_ ? 3 : 1);
}

static ozg_status check(ozg_context *ctx, const ozg_shape *shape, const ozg_data *data,
                        const ozg_argument_numbers *numbers)
{
    (void)ctx;
    (void)shape;
    (void)data;
    (void)numbers; /* all memory is the CPU's */
    return OZG_OK;
}

static void *workspace(ozg_context *ctx, size_t bytes, ozg_status *status)
{
    void *work = ozg_context_arena(ctx, bytes);

    if (!work)
        *status =
            ozg_fail(ctx, OZG_E_NOMEM, "no memory for %zu bytes of workspace; lower memory_limit", bytes);
    return work;
}

static ozg_status predict(const ozg_plan *plan, const ozg_data *data, ozg_report *report)
{
    ozg_status status = OZG_OK;
    void *work = workspace(plan->ctx, plan->workspace, &status);

    return work ? ozg_driver_predict(plan, data, work, report) : status;
}

static ozg_status scale_c(ozg_context *ctx, const ozg_shape *shape, const ozg_data *data, ozg_report *report,
                          const char *reason)
{
    const int rounds = ozg_report_rounds(shape, data);

    ozg_driver_scale_c(shape, data);
    if (report)
        ozg_report_scaled(report, ctx, shape, rounds, rounds ? ozg_report_largest_entry(shape, data, 1) : 0,
                          reason);
    return OZG_OK;
}

static ozg_status wait_for(ozg_context *ctx, ozg_report *report)
{
    (void)ctx;
    (void)report; /* there when the call returned */
    return OZG_OK;
}

static void close_arena(ozg_context *ctx)
{
    free(ctx->arena);
}

const ozg_backend ozg_backend_cpu = {
    .name = "cpu",
    .check = check,
    .plan = ozg_plan_cpu,
    .workspace = workspace,
    .run = ozg_driver_run,
    .predict = predict,
    .scale_c = scale_c,
    .wait = wait_for,
    .close = close_arena,
    .prepare = ozg_cpu_prepare,
    .release = ozg_cpu_release,
};
