/*
 * product_avx2.c - 16 x 6 micro-kernel for 16-bit residues: A in two vectors of 8 lines, B broadcast, pairs
 * along k by vpmaddwd, sums folded in registers.
 *
 * 12 accumulators, 2 vectors of A, 1 of B and 1 product fill the 16 registers. A step takes 24 instructions
 * of the vector ports for 2 x 96 products. Every fold_every products the sums are folded (moduli.h), in two
 * instructions for 8 sums:
 *     v = hi 2^16 + lo,  0 <= lo < 2^16:   lo with its top bit flipped is lo - 2^15 as a signed number, and
 *     vpmaddwd by the pair (1, c) makes lo - 2^15 + hi c = v - 2^15 (mod m).
 * The 2^15 of all folds to come are added at the start. ozg_fold_every() proves that no sum leaves 32 bits;
 * sums mod 2^16 may, which their modulus divides.
 *
 * SPDX-License-Identifier: MIT
 */
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#include "cpu/stages.h"

#define SUMS 12 /* vectors: 6 columns of 16 */

__attribute__((target("avx2"))) void ozg_product_16x6x2_avx2(const ozg_rns *rns, int l, int64_t steps,
                                                             const void *a, const void *b, int add,
                                                             int32_t *acc)
{
    const int folded = l < rns->nmod;
    const int64_t every = folded ? rns->fold_every[l] / 2 : steps,
                  folds = folded ? (steps + every - 1) / every : 0;
    const __m256i top = _mm256_set1_epi32(0x8000), start = _mm256_set1_epi32((int32_t)folds << 15);
    const __m256i factors =
        _mm256_set1_epi32(folded ? (int32_t)((uint32_t)rns->fold_factor[l] << 16 | 1) : 0);
    const int16_t *x = a, *y = b;
    __m256i sum[SUMS];

#pragma GCC unroll 12
    for (int i = 0; i < SUMS; i++)
        sum[i] = add ? _mm256_add_epi32(start, _mm256_loadu_si256((const __m256i *)(acc + 8 * i))) : start;
    while (steps > 0) {
        const int64_t now = steps < every ? steps : every;

        for (int64_t p = 0; p < now; p++, x += 32, y += 12) {
            const __m256i a0 = _mm256_loadu_si256((const __m256i *)x);
            const __m256i a1 = _mm256_loadu_si256((const __m256i *)(x + 16));

#pragma GCC unroll 6
            for (int j = 0; j < SUMS / 2; j++) {
                const __m256i pair = _mm256_set1_epi32(ozg_four_bytes(y + 2 * j));

                sum[2 * j] = _mm256_add_epi32(sum[2 * j], _mm256_madd_epi16(a0, pair));
                sum[2 * j + 1] = _mm256_add_epi32(sum[2 * j + 1], _mm256_madd_epi16(a1, pair));
            }
        }
#pragma GCC unroll 12
        for (int i = 0; folded && i < SUMS; i++)
            sum[i] = _mm256_madd_epi16(_mm256_xor_si256(sum[i], top), factors);
        steps -= now;
    }
#pragma GCC unroll 12
    for (int i = 0; i < SUMS; i++)
        _mm256_storeu_si256((__m256i *)(acc + 8 * i), sum[i]);
}
#else
typedef int ozg_no_avx2; /* an empty translation unit is not C */
#endif
