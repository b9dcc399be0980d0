/*
 * product_avx512vnni.c - 32 x 12 micro-kernel: unsigned A in two vectors of 16 lines, signed B broadcast,
 * fours along k by vpdpbusd.
 *
 * A holds residues in [0, m), B symmetric ones: |sum| <= 255 * 128 k, exact in 32 bits up to k = 65793;
 * a chunk has at most 65536 (plan.c). 24 accumulators, 2 vectors of A and 1 of B.
 *
 * SPDX-License-Identifier: MIT
 */
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#include "cpu/stages.h"

#define COLUMNS 12

__attribute__((target("avx512f,avx512bw,avx512vnni"))) void
ozg_product_32x12x4_avx512vnni(const ozg_rns *rns, int l, int64_t steps, const void *a, const void *b,
                               int add, int32_t *acc)
{
    const uint8_t *x = a;
    const int8_t *y = b;
    __m512i lo[COLUMNS], hi[COLUMNS];

    (void)rns, (void)l;
#pragma GCC unroll 12
    for (int j = 0; j < COLUMNS; j++) {
        lo[j] = add ? _mm512_loadu_si512(acc + 32 * j) : _mm512_setzero_si512();
        hi[j] = add ? _mm512_loadu_si512(acc + 32 * j + 16) : _mm512_setzero_si512();
    }
    for (int64_t p = 0; p < steps; p++, x += 128, y += 4 * COLUMNS) {
        const __m512i a0 = _mm512_loadu_si512(x), a1 = _mm512_loadu_si512(x + 64);

#pragma GCC unroll 12
        for (int j = 0; j < COLUMNS; j++) {
            const __m512i four = _mm512_set1_epi32(ozg_four_bytes(y + 4 * j));

            lo[j] = _mm512_dpbusd_epi32(lo[j], a0, four);
            hi[j] = _mm512_dpbusd_epi32(hi[j], a1, four);
        }
    }
#pragma GCC unroll 12
    for (int j = 0; j < COLUMNS; j++) {
        _mm512_storeu_si512(acc + 32 * j, lo[j]);
        _mm512_storeu_si512(acc + 32 * j + 16, hi[j]);
    }
}
#else
typedef int ozg_no_avx512vnni; /* an empty translation unit is not C */
#endif
