/*
 * stages_avx512.c - the stages for AVX-512.
 *
 * SPDX-License-Identifier: MIT
 */
#if defined(__x86_64__) && defined(__GNUC__)
#include "cpu/stages.h"
#include "cpu/x86/vec_avx512.h"
#define STAGE(name) ozg_##name##_avx512
#include "cpu/residues8_tmpl.h"
#include "cpu/stages_tmpl.h"
#include "cpu/bounds_tmpl.h"
#include "cpu/x86/words8_avx512.h"
#include "cpu/winograd_tmpl.h"
#else
typedef int ozg_no_avx512; /* an empty translation unit is not C */
#endif
