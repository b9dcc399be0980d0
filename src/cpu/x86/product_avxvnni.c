/*
 * product_avxvnni.c - 16 x 6 micro-kernel for processors with AVX-VNNI and without AVX-512: unsigned A in two
 * vectors of 8 lines, signed B broadcast, fours along k by vpdpbusd of 256 bits.
 *
 * A holds residues in [0, m), B symmetric ones: exact in 32 bits, as product_avx512vnni.c says. 12 sums, 2
 * vectors of A and 1 of B are 15 of 16 registers; a step is 12 multiply-adds, which two ports take in 6
 * cycles, enough for their latency of 5, and 8 loads.
 *
 * SPDX-License-Identifier: MIT
 */
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#include "cpu/stages.h"

#define COLUMNS 6

__attribute__((target("avx2,avxvnni"))) void ozg_product_16x6x4_avxvnni(const ozg_rns *rns, int l,
                                                                        int64_t steps, const void *a,
                                                                        const void *b, int add, int32_t *acc)
{
    const __m256i *x = a;
    const int8_t *y = b;
    __m256i *sums = (__m256i *)acc, lo[COLUMNS], hi[COLUMNS];

    (void)rns, (void)l;
#pragma GCC unroll 6
    for (int j = 0; j < COLUMNS; j++) {
        lo[j] = add ? _mm256_loadu_si256(sums + 2 * j) : _mm256_setzero_si256();
        hi[j] = add ? _mm256_loadu_si256(sums + 2 * j + 1) : _mm256_setzero_si256();
    }
    for (int64_t p = 0; p < steps; p++, x += 2, y += 4 * COLUMNS) {
        const __m256i a0 = _mm256_loadu_si256(x), a1 = _mm256_loadu_si256(x + 1);

#pragma GCC unroll 6
        for (int j = 0; j < COLUMNS; j++) {
            const __m256i four = _mm256_set1_epi32(ozg_four_bytes(y + 4 * j));

            lo[j] = _mm256_dpbusd_avx_epi32(lo[j], a0, four);
            hi[j] = _mm256_dpbusd_avx_epi32(hi[j], a1, four);
        }
    }
#pragma GCC unroll 6
    for (int j = 0; j < COLUMNS; j++) {
        _mm256_storeu_si256(sums + 2 * j, lo[j]);
        _mm256_storeu_si256(sums + 2 * j + 1, hi[j]);
    }
}
#else
typedef int ozg_no_avxvnni; /* an empty translation unit is not C */
#endif
