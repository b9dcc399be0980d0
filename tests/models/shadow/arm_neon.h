/*
 * arm_neon.h - stands before the compiler's header of this name where the micro-kernels are compiled for the
 * models (models.cmake): those of its functions that product_*.c use, on models/arm.h.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef MODELS_ARM_NEON_H
#define MODELS_ARM_NEON_H

#include <string.h>

#include "models/arm.h"

typedef struct model_8x8 {
    int8_t lane[8];
} int8x8_t;

typedef struct model_8x16 {
    int8_t lane[16];
} int8x16_t;

typedef struct model_32x2 {
    int32_t lane[2];
} int32x2_t;

typedef struct model_32x4 {
    int32_t lane[4];
} int32x4_t;

static inline int8x8_t vld1_s8(const int8_t *x)
{
    int8x8_t v;

    memcpy(&v, x, sizeof v);
    return v;
}

static inline int8x16_t vld1q_s8(const int8_t *x)
{
    int8x16_t v;

    memcpy(&v, x, sizeof v);
    return v;
}

static inline int32x4_t vld1q_s32(const int32_t *x)
{
    int32x4_t v;

    memcpy(&v, x, sizeof v);
    return v;
}

static inline void vst1q_s32(int32_t *x, int32x4_t v)
{
    memcpy(x, &v, sizeof v);
}

static inline int32x4_t vdupq_n_s32(int32_t x)
{
    const int32x4_t v = {{x, x, x, x}};

    return v;
}

static inline int32x2_t vget_low_s32(int32x4_t x)
{
    const int32x2_t v = {{x.lane[0], x.lane[1]}};

    return v;
}

static inline int32x2_t vget_high_s32(int32x4_t x)
{
    const int32x2_t v = {{x.lane[2], x.lane[3]}};

    return v;
}

static inline int32x4_t vcombine_s32(int32x2_t low, int32x2_t high)
{
    const int32x4_t v = {{low.lane[0], low.lane[1], high.lane[0], high.lane[1]}};

    return v;
}

static inline int32x4_t vdotq_lane_s32(int32x4_t acc, int8x16_t x, int8x8_t y, int lane)
{
    for (int i = 0; i < 4; i++)
        acc.lane[i] = model_sdot(acc.lane[i], x.lane + 4 * i, y.lane + 4 * lane);
    return acc;
}

static inline int32x4_t vdotq_laneq_s32(int32x4_t acc, int8x16_t x, int8x16_t y, int lane)
{
    for (int i = 0; i < 4; i++)
        acc.lane[i] = model_sdot(acc.lane[i], x.lane + 4 * i, y.lane + 4 * lane);
    return acc;
}

static inline int32x4_t vmmlaq_s32(int32x4_t acc, int8x16_t x, int8x16_t y)
{
    model_smmla(acc.lane, x.lane, y.lane);
    return acc;
}

#endif
