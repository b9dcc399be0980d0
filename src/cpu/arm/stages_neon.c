/*
 * stages_neon.c - the stages for NEON.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cpu/stages.h"

#if OZG_ARM_KERNELS
#include "cpu/arm/vec_neon.h"
#define STAGE(name) ozg_##name##_neon
#include "cpu/residues8_tmpl.h"
#include "cpu/stages_tmpl.h"
#include "cpu/bounds_tmpl.h"
#include "cpu/arm/words8_neon.h"
#include "cpu/winograd_tmpl.h"
#endif
