/*
 * product_avx512vnni.c - 32 x 12 micro-kernel: vpdpbusd of 512 bits. 24 sums, 2 vectors of A and 1 of B.
 *
 * SPDX-License-Identifier: MIT
 */
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#include "cpu/stages.h"

typedef __m512i vec;

#define PRODUCT   ozg_product_32x12x4_avx512vnni
#define TARGET    __attribute__((target("avx512f,avx512bw,avx512vnni")))
#define COLUMNS   12
#define vec_load  _mm512_loadu_si512
#define vec_store _mm512_storeu_si512
#define vec_set1  _mm512_set1_epi32
#define vec_dot   _mm512_dpbusd_epi32
#include "cpu/x86/product_vnni_tmpl.h"
#else
typedef int ozg_no_avx512vnni; /* an empty translation unit is not C */
#endif
