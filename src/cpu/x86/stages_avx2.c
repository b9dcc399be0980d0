/*
 * stages_avx2.c - the stages for AVX2.
 *
 * SPDX-License-Identifier: MIT
 */
#if defined(__x86_64__) && defined(__GNUC__)
#define STAGE(name) ozg_##name##_avx2
#define TARGET      __attribute__((target("avx2,bmi2")))
#define VEC_LANES   8

#include <immintrin.h>

typedef __m256i vec;

TARGET static inline vec vec_load(const void *x)
{
    return _mm256_load_si256(x);
}

TARGET static inline void vec_store(void *x, vec v)
{
    _mm256_store_si256(x, v);
}

TARGET static inline vec vec_set1(int32_t x)
{
    return _mm256_set1_epi32(x);
}

TARGET static inline vec vec_madd(vec acc, vec x, vec y)
{
    return _mm256_add_epi32(acc, _mm256_madd_epi16(x, y));
}

#include "cpu/stages_tmpl.h"
#else
typedef int ozg_no_avx2; /* an empty translation unit is not C */
#endif
