/*
 * backend.c - the CPU backend: its table of stages.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cpu/parts.h"

static size_t scratch_bytes(const struct ozg_kernel *kernel, int complex_, int64_t rows, int64_t columns)
{
    ozg_product_block(kernel, complex_, &rows, &columns);
    return (size_t)ozg_product_sums(kernel, rows, columns) * sizeof(int32_t) * (complex_ ? 3 : 1);
}

const ozg_backend ozg_backend_cpu = {"cpu",           scratch_bytes,     ozg_cpu_scale,
                                     ozg_cpu_norms,   ozg_cpu_residuals, ozg_cpu_split,
                                     ozg_cpu_product, ozg_cpu_ceilings,  ozg_cpu_reconstruct};
