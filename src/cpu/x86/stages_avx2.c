/*
 * stages_avx2.c - the stages for AVX2.
 *
 * SPDX-License-Identifier: MIT
 */
#if defined(__x86_64__) && defined(__GNUC__)
#include "cpu/stages.h"
#include "cpu/x86/vec_avx2.h"
#define STAGE(name) ozg_##name##_avx2
#include "cpu/x86/residues16_avx2.h"
#include "cpu/stages_tmpl.h"
#include "cpu/bounds_tmpl.h"
#include "cpu/x86/words16_avx2.h"
#include "cpu/winograd_tmpl.h"
#else
typedef int ozg_no_avx2; /* an empty translation unit is not C */
#endif
