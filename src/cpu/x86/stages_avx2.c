/*
 * stages_avx2.c - the stages for AVX2.
 *
 * SPDX-License-Identifier: MIT
 */
#if defined(__x86_64__) && defined(__GNUC__)
#define STAGE(name) ozg_##name##_avx2
#define TARGET      __attribute__((target("avx2,bmi2")))
#include "cpu/stages_tmpl.h"
#else
typedef int ozg_no_avx2; /* an empty translation unit is not C */
#endif
