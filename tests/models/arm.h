/*
 * arm.h - models in plain C of the Arm instructions with which the micro-kernels multiply, after the Arm
 * Architecture Reference Manual for A-profile (DDI 0487, C7.2). None saturates; sums wrap modulo 2^32.
 *
 *   SDOT    lane: acc + x0 y0 + ... + x3 y3, signed bytes; by element: y is one four of a register for all lanes
 *   SMMLA   2 x 2 lanes: acc[2 i + j] + sum over e < 8 of x[8 i + e] y[8 j + e], signed bytes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef MODELS_ARM_H
#define MODELS_ARM_H

#include <stdint.h>

static inline int32_t model_sdot(int32_t acc, const int8_t *x, const int8_t *y)
{
    uint32_t sum = (uint32_t)acc;

    for (int e = 0; e < 4; e++)
        sum += (uint32_t)(x[e] * y[e]);
    return (int32_t)sum;
}

static inline void model_smmla(int32_t *acc, const int8_t *x, const int8_t *y)
{
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            for (int e = 0; e < 8; e += 4)
                acc[2 * i + j] = model_sdot(acc[2 * i + j], x + 8 * i + e, y + 8 * j + e);
}

#endif
