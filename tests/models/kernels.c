/*
 * kernels.c - the list of micro-kernels, of all processors, with product and state as compiled for the models.
 *
 * SPDX-License-Identifier: MIT
 */
#include "models/names.h"

#include "cpu/stages.h"
#include "models/kernels.h"

/* Every line of kernels.inc counts. */
#ifndef __x86_64__
#define __x86_64__ 1
#endif
#ifdef OZG_ARM_KERNELS
#undef OZG_ARM_KERNELS
#define OZG_ARM_KERNELS 1
#endif

static const ozg_kernel kernels[] = {
#define OZG_KERNEL(name_, needs, rate_, ns, word, mr, a_kr, a_nonneg, nr, b_kr, step, product_, state_,      \
                   stages)                                                                                   \
    {.name = name_,                                                                                          \
     .isa = needs,                                                                                           \
     .rate = rate_,                                                                                          \
     .element_ns = ns,                                                                                       \
     .a = {mr, a_kr, step, word, a_nonneg},                                                                  \
     .b = {nr, b_kr, step, word, 0},                                                                         \
     .product = product_,                                                                                    \
     .state = state_,                                                                                        \
     .scale = ozg_scale_ref,                                                                                 \
     .norms = ozg_norms_ref,                                                                                 \
     .residuals = ozg_residuals_ref,                                                                         \
     .split = ozg_split_ref,                                                                                 \
     .floors = ozg_floors_ref,                                                                               \
     .reduce = ozg_reduce_ref,                                                                               \
     .crt = ozg_crt_ref,                                                                                     \
     .round = ozg_round_ref,                                                                                 \
     .bounds = ozg_bounds_ref,                                                                               \
     .doubt = ozg_doubt_ref,                                                                                 \
     .passes = ozg_passes_ref},
#include "cpu/kernels.inc"
#undef OZG_KERNEL
};

const ozg_kernel *modelled_kernel_at(int index)
{
    const int count = (int)(sizeof kernels / sizeof *kernels) - 1;

    return index < count ? &kernels[index] : NULL;
}
