/*
 * x86.h - models in plain C of the x86 instructions with which the micro-kernels multiply, after Intel's
 * Software Developer's Manual, volume 2. None saturates; sums wrap modulo 2^32.
 *
 *   vpmaddwd    lane: x0 y0 + x1 y1, signed 16-bit numbers
 *   vpdpbusd    lane: acc + u0 s0 + ... + u3 s3, u unsigned and s signed bytes (EVEX and VEX alike)
 *   tdpbssd     tiles: c[i][j] += sum over q and e < 4 of a[i][4 q + e] b[q][4 j + e], signed bytes
 *   tdpbusd     the same, a unsigned
 *
 * Bytes and 16-bit numbers of a lane lie in memory from the least on. Checked against the instructions
 * themselves where the machine has them: test_x86.c.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef MODELS_X86_H
#define MODELS_X86_H

#include <stddef.h>
#include <stdint.h>

static inline int32_t model_vpmaddwd(int32_t x, int32_t y)
{
    uint32_t sum = 0;

    for (int e = 0; e < 2; e++)
        sum += (uint32_t)((int16_t)(uint16_t)((uint32_t)x >> 16 * e) *
                          (int16_t)(uint16_t)((uint32_t)y >> 16 * e));
    return (int32_t)sum;
}

static inline int32_t model_vpdpbusd(int32_t acc, int32_t u, int32_t s)
{
    uint32_t sum = (uint32_t)acc;

    for (int e = 0; e < 4; e++)
        sum += (uint32_t)((uint8_t)((uint32_t)u >> 8 * e) * (int8_t)(uint8_t)((uint32_t)s >> 8 * e));
    return (int32_t)sum;
}

/*
 * The tiles of a thread. Where a processor would fault, the program ends with a sentence: tiles without a
 * configuration, a configuration that is not allowed, shapes that do not go together.
 */
int model_tiles_configured(void);
void model_ldtilecfg(const void *config);
void model_tilerelease(void);
void model_tilezero(int tile);
void model_tileloadd(int tile, const void *base, size_t stride);
void model_tilestored(int tile, void *base, size_t stride);
void model_tdpbssd(int c, int a, int b);
void model_tdpbusd(int c, int a, int b);

#endif
