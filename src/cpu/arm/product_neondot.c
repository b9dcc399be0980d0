/*
 * product_neondot.c - 16 x 6 micro-kernel: signed A in four vectors of 4 lines, signed B by columns, fours
 * along k by SDOT.
 *
 * Both operands hold symmetric residues: |sum| <= 128 * 128 k, exact in 32 bits up to k = 131071; sums of
 * residues mod 256 may wrap. 24 accumulators, 4 vectors of A, 1 1/2 of B. A step takes 24 SDOT and 6 loads
 * for 384 products.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cpu/stages.h"

#if OZG_ARM_KERNELS
#include <arm_neon.h>

#define COLUMNS 6
#define VECTORS 4 /* of 4 lines */

__attribute__((target("arch=armv8.2-a+dotprod"))) void
ozg_product_16x6x4_neondot(const ozg_rns *rns, int l, int64_t steps, const void *a, const void *b, int add,
                           int32_t *acc)
{
    const int8_t *x = a, *y = b;
    int32x4_t sum[COLUMNS][VECTORS];

    (void)rns, (void)l;
#pragma GCC unroll 6
    for (int j = 0; j < COLUMNS; j++)
#pragma GCC unroll 4
        for (int i = 0; i < VECTORS; i++)
            sum[j][i] = add ? vld1q_s32(acc + 16 * j + 4 * i) : vdupq_n_s32(0);
    for (int64_t p = 0; p < steps; p++, x += 64, y += 4 * COLUMNS) {
        const int8x16_t b0 = vld1q_s8(y); /* columns 0 to 3, a four of each */
        const int8x8_t b1 = vld1_s8(y + 16);

#pragma GCC unroll 4
        for (int i = 0; i < VECTORS; i++) {
            const int8x16_t lines = vld1q_s8(x + 16 * i);

            sum[0][i] = vdotq_laneq_s32(sum[0][i], lines, b0, 0);
            sum[1][i] = vdotq_laneq_s32(sum[1][i], lines, b0, 1);
            sum[2][i] = vdotq_laneq_s32(sum[2][i], lines, b0, 2);
            sum[3][i] = vdotq_laneq_s32(sum[3][i], lines, b0, 3);
            sum[4][i] = vdotq_lane_s32(sum[4][i], lines, b1, 0);
            sum[5][i] = vdotq_lane_s32(sum[5][i], lines, b1, 1);
        }
    }
#pragma GCC unroll 6
    for (int j = 0; j < COLUMNS; j++)
#pragma GCC unroll 4
        for (int i = 0; i < VECTORS; i++)
            vst1q_s32(acc + 16 * j + 4 * i, sum[j][i]);
}
#endif
