/*
 * kernels.c - the list of micro-kernels as an array.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cpu/stages.h"

static const ozg_kernel kernels[] = {
#define OZG_KERNEL(name, needs, rate, element_ns, word, mr, a_kr, a_nonneg, nr, b_kr, step, product, state,  \
                   stages)                                                                                   \
    {name,                                                                                                   \
     needs,                                                                                                  \
     rate,                                                                                                   \
     element_ns,                                                                                             \
     {mr, a_kr, step, word, a_nonneg},                                                                       \
     {nr, b_kr, step, word, 0},                                                                              \
     product,                                                                                                \
     state,                                                                                                  \
     ozg_scale_##stages,                                                                                     \
     ozg_norms_##stages,                                                                                     \
     ozg_residuals_##stages,                                                                                 \
     ozg_split_##stages,                                                                                     \
     ozg_floors_##stages,                                                                                    \
     ozg_reduce_##stages,                                                                                    \
     ozg_quarters_##stages,                                                                                  \
     ozg_combine_##stages,                                                                                   \
     ozg_crt_##stages,                                                                                       \
     ozg_round_##stages,                                                                                     \
     ozg_bounds_##stages,                                                                                    \
     ozg_doubt_##stages,                                                                                     \
     ozg_passes_##stages},
#include "cpu/kernels.inc"
#undef OZG_KERNEL
};

const ozg_kernel *ozg_kernel_at(unsigned isa, int index)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if ((kernels[i].isa & ~isa) == 0 && index-- == 0)
            return &kernels[i];
    return NULL;
}
