/*
 * product_avxvnni.c - 16 x 6 micro-kernel for processors with AVX-VNNI and without AVX-512: vpdpbusd of 256 bits.
 *
 * 12 sums, 2 vectors of A and 1 of B are 15 of 16 registers; a step is 12 multiply-adds, which two ports take
 * in 6 cycles, enough for their latency of 5, and 8 loads.
 *
 * SPDX-License-Identifier: MIT
 */
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#include "cpu/stages.h"

typedef __m256i vec;

#define PRODUCT   ozg_product_16x6x4_avxvnni
#define TARGET    __attribute__((target("avx2,avxvnni")))
#define COLUMNS   6
#define vec_load  _mm256_loadu_si256
#define vec_store _mm256_storeu_si256
#define vec_set1  _mm256_set1_epi32
#define vec_dot   _mm256_dpbusd_avx_epi32
#include "cpu/x86/product_vnni_tmpl.h"
#else
typedef int ozg_no_avxvnni; /* an empty translation unit is not C */
#endif
