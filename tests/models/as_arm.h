/*
 * as_arm.h - as_x86.h for src/cpu/arm/product_*.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "models/names.h"

#include "cpu/stages.h"

#undef OZG_ARM_KERNELS
#define OZG_ARM_KERNELS 1
#define target(isa)     unused /* in __attribute__((target("..."))) */
