/*
 * product_neoni8mm.c - 16 x 6 micro-kernel: eights along k by SMMLA, which multiplies two lines of one operand
 * by two of the other.
 *
 * Both operands hold symmetric residues: |sum| <= 128 * 128 k, exact in 32 bits up to k = 131071; sums of
 * residues mod 256 may wrap. The first operand of SMMLA is B, so that the halves of a vector of sums are two
 * lines of A in one column, and in the next. 24 accumulators, 3 vectors of B, and those of A one after
 * another. A step takes 24 SMMLA and 11 loads for 768 products.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cpu/stages.h"

#if OZG_ARM_KERNELS
#include <arm_neon.h>

#define PAIRS_A 8 /* pairs of lines, and of columns */
#define PAIRS_B 3

/* The low halves of x and y; the high halves. */
static inline int32x4_t low_halves(int32x4_t x, int32x4_t y)
{
    return vcombine_s32(vget_low_s32(x), vget_low_s32(y));
}

static inline int32x4_t high_halves(int32x4_t x, int32x4_t y)
{
    return vcombine_s32(vget_high_s32(x), vget_high_s32(y));
}

__attribute__((target("arch=armv8.2-a+i8mm"))) void ozg_product_16x6x8_neoni8mm(const ozg_rns *rns, int l,
                                                                                int64_t steps, const void *a,
                                                                                const void *b, int add,
                                                                                int32_t *acc)
{
    const int8_t *x = a, *y = b;
    int32x4_t sum[PAIRS_B][PAIRS_A];

    (void)rns, (void)l;
#pragma GCC unroll 3
    for (int j = 0; j < PAIRS_B; j++)
#pragma GCC unroll 4
        for (int i = 0; i < PAIRS_A; i += 2) {
            const int32_t *at = acc + 32 * j + 2 * i;
            const int32x4_t left = add ? vld1q_s32(at) : vdupq_n_s32(0);
            const int32x4_t right = add ? vld1q_s32(at + 16) : vdupq_n_s32(0);

            sum[j][i] = low_halves(left, right);
            sum[j][i + 1] = high_halves(left, right);
        }
    for (int64_t p = 0; p < steps; p++, x += 16 * PAIRS_A, y += 16 * PAIRS_B) {
        const int8x16_t b0 = vld1q_s8(y), b1 = vld1q_s8(y + 16), b2 = vld1q_s8(y + 32);

#pragma GCC unroll 8
        for (int i = 0; i < PAIRS_A; i++) {
            const int8x16_t lines = vld1q_s8(x + 16 * i);

            sum[0][i] = vmmlaq_s32(sum[0][i], b0, lines);
            sum[1][i] = vmmlaq_s32(sum[1][i], b1, lines);
            sum[2][i] = vmmlaq_s32(sum[2][i], b2, lines);
            if (i == PAIRS_A / 2 - 1)
                __asm__ volatile("" ::: "memory"); /* no more loads so far ahead that sums leave registers */
        }
    }
#pragma GCC unroll 3
    for (int j = 0; j < PAIRS_B; j++)
#pragma GCC unroll 4
        for (int i = 0; i < PAIRS_A; i += 2) {
            int32_t *at = acc + 32 * j + 2 * i;

            vst1q_s32(at, low_halves(sum[j][i], sum[j][i + 1]));
            vst1q_s32(at + 16, high_halves(sum[j][i], sum[j][i + 1]));
        }
}
#endif
