/*
 * immintrin.h - stands before the compiler's header of this name where the micro-kernels are compiled for the
 * models (models.cmake): those of its functions that product_*.c use, on models/x86.h.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef MODELS_IMMINTRIN_H
#define MODELS_IMMINTRIN_H

#include <string.h>

#include "models/x86.h"

typedef struct model_256 {
    int32_t lane[8];
} __m256i;

typedef struct model_512 {
    int32_t lane[16];
} __m512i;

static inline __m256i _mm256_loadu_si256(const __m256i *x)
{
    __m256i v;

    memcpy(&v, x, sizeof v);
    return v;
}

static inline void _mm256_storeu_si256(__m256i *x, __m256i v)
{
    memcpy(x, &v, sizeof v);
}

static inline __m256i _mm256_set1_epi32(int x)
{
    __m256i v;

    for (int i = 0; i < 8; i++)
        v.lane[i] = x;
    return v;
}

static inline __m256i _mm256_add_epi32(__m256i x, __m256i y)
{
    for (int i = 0; i < 8; i++)
        x.lane[i] = (int32_t)((uint32_t)x.lane[i] + (uint32_t)y.lane[i]);
    return x;
}

static inline __m256i _mm256_xor_si256(__m256i x, __m256i y)
{
    for (int i = 0; i < 8; i++)
        x.lane[i] ^= y.lane[i];
    return x;
}

static inline __m256i _mm256_madd_epi16(__m256i x, __m256i y)
{
    for (int i = 0; i < 8; i++)
        x.lane[i] = model_vpmaddwd(x.lane[i], y.lane[i]);
    return x;
}

static inline __m256i _mm256_dpbusd_avx_epi32(__m256i acc, __m256i u, __m256i s)
{
    for (int i = 0; i < 8; i++)
        acc.lane[i] = model_vpdpbusd(acc.lane[i], u.lane[i], s.lane[i]);
    return acc;
}

static inline __m512i _mm512_loadu_si512(const void *x)
{
    __m512i v;

    memcpy(&v, x, sizeof v);
    return v;
}

static inline void _mm512_storeu_si512(void *x, __m512i v)
{
    memcpy(x, &v, sizeof v);
}

static inline __m512i _mm512_set1_epi32(int x)
{
    __m512i v;

    for (int i = 0; i < 16; i++)
        v.lane[i] = x;
    return v;
}

static inline __m512i _mm512_dpbusd_epi32(__m512i acc, __m512i u, __m512i s)
{
    for (int i = 0; i < 16; i++)
        acc.lane[i] = model_vpdpbusd(acc.lane[i], u.lane[i], s.lane[i]);
    return acc;
}

#define _tile_loadconfig                model_ldtilecfg
#define _tile_release                   model_tilerelease
#define _tile_zero                      model_tilezero
#define _tile_loadd(tile, base, bytes)  model_tileloadd(tile, base, (size_t)(bytes))
#define _tile_stored(tile, base, bytes) model_tilestored(tile, base, (size_t)(bytes))
#define _tile_dpbssd                    model_tdpbssd
#define _tile_dpbusd                    model_tdpbusd

#endif
