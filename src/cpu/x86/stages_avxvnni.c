/*
 * stages_avxvnni.c - the stages for AVX2 with AVX-VNNI and 8-bit residues.
 *
 * SPDX-License-Identifier: MIT
 */
#if defined(__x86_64__) && defined(__GNUC__)
#include "cpu/stages.h"
#define TARGET __attribute__((target("avx2,avxvnni,bmi2")))
#include "cpu/x86/vec_avx2.h"
#include "cpu/x86/vec_avxvnni.h"
#define STAGE(name) ozg_##name##_avxvnni
#include "cpu/x86/residues8_bytes.h"
#include "cpu/stages_tmpl.h"
#include "cpu/bounds_tmpl.h"
#include "cpu/x86/words8_avx2.h"
#include "cpu/winograd_tmpl.h"
#else
typedef int ozg_no_avxvnni_stages; /* an empty translation unit is not C */
#endif
