/*
 * product_avx2.c - 16 x 6 micro-kernel: int8 A widened on loading, int16 B broadcast, pairs along k by
 * vpmaddwd.
 *
 * 12 accumulators, 2 vectors of A, 1 of B and 1 product fill the 16 registers.
 *
 * SPDX-License-Identifier: MIT
 */
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#include "cpu/stages.h"

/* acc += a * the pair at b, broadcast */
#define STEP(lo, hi, pair)                                                                                   \
    do {                                                                                                     \
        __m256i y = _mm256_set1_epi32(pair);                                                                 \
        lo = _mm256_add_epi32(lo, _mm256_madd_epi16(a0, y));                                                 \
        hi = _mm256_add_epi32(hi, _mm256_madd_epi16(a1, y));                                                 \
    } while (0)

static inline int32_t pair_at(const int16_t *b)
{
    int32_t pair;

    memcpy(&pair, b, 4);
    return pair;
}

/* The start of an accumulator. */
__attribute__((target("avx2"))) static inline __m256i start(int add, const int32_t *acc)
{
    return add ? _mm256_loadu_si256((const __m256i *)acc) : _mm256_setzero_si256();
}

__attribute__((target("avx2"))) void ozg_product_16x6x2_avx2(const ozg_rns *rns, int l, int64_t steps,
                                                             const void *a, const void *b, int add,
                                                             int32_t *acc)
{
    const int8_t *x = a;
    const int16_t *y16 = b;
    __m256i c00 = start(add, acc), c01 = start(add, acc + 8), c10 = start(add, acc + 16),
            c11 = start(add, acc + 24);
    __m256i c20 = start(add, acc + 32), c21 = start(add, acc + 40), c30 = start(add, acc + 48);
    __m256i c31 = start(add, acc + 56), c40 = start(add, acc + 64), c41 = start(add, acc + 72);
    __m256i c50 = start(add, acc + 80), c51 = start(add, acc + 88);
    __m256i *out = (__m256i *)acc;

    for (int64_t p = 0; p < steps; p++, x += 32, y16 += 12) {
        __m256i a0 = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)x));
        __m256i a1 = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(x + 16)));

        STEP(c00, c01, pair_at(y16));
        STEP(c10, c11, pair_at(y16 + 2));
        STEP(c20, c21, pair_at(y16 + 4));
        STEP(c30, c31, pair_at(y16 + 6));
        STEP(c40, c41, pair_at(y16 + 8));
        STEP(c50, c51, pair_at(y16 + 10));
    }
    out[0] = c00, out[1] = c01, out[2] = c10, out[3] = c11, out[4] = c20, out[5] = c21;
    out[6] = c30, out[7] = c31, out[8] = c40, out[9] = c41, out[10] = c50, out[11] = c51;
}
#else
typedef int ozg_no_avx2; /* an empty translation unit is not C */
#endif
