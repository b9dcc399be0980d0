/*
 * vec_avx2.h - the vectors of stages_tmpl.h in AVX2: 8 numbers of 32 bits, 4 of 64.
 *
 * SPDX-License-Identifier: MIT
 */
#include <immintrin.h>

#ifndef TARGET
#define TARGET __attribute__((target("avx2,bmi2")))
#endif
#define VEC       TARGET static inline __attribute__((always_inline))
#define VEC_LANES 8

typedef __m256i vec;   /* 32-bit lanes; 16-bit lanes in residues16_avx2.h */
typedef __m256i vec64; /* 64-bit lanes */

VEC vec vec_load(const void *x)
{
    return _mm256_loadu_si256(x);
}

VEC void vec_store(void *x, vec v)
{
    _mm256_storeu_si256(x, v);
}

VEC vec vec_set1(uint32_t x)
{
    return _mm256_set1_epi32((int)x);
}

VEC vec vec_add(vec x, vec y)
{
    return _mm256_add_epi32(x, y);
}

VEC vec vec_sub(vec x, vec y)
{
    return _mm256_sub_epi32(x, y);
}

VEC vec vec_and(vec x, vec y)
{
    return _mm256_and_si256(x, y);
}

VEC vec vec_or(vec x, vec y)
{
    return _mm256_or_si256(x, y);
}

VEC vec vec_xor(vec x, vec y)
{
    return _mm256_xor_si256(x, y);
}

/* unsigned minimum */
VEC vec vec_min(vec x, vec y)
{
    return _mm256_min_epu32(x, y);
}

VEC vec vec_shift_left(vec x, int n)
{
    return _mm256_slli_epi32(x, n);
}

VEC vec vec_shift_right(vec x, int n)
{
    return _mm256_srli_epi32(x, n);
}

VEC vec vec_shift_right_signed(vec x, int n)
{
    return _mm256_srai_epi32(x, n);
}

/* The low byte of each lane. */
VEC void vec_store_low8(void *x, vec v)
{
    const __m256i pick = _mm256_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 4,
                                          8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
    const __m256i bytes = _mm256_shuffle_epi8(v, pick);

    _mm_storel_epi64(x,
                     _mm_unpacklo_epi32(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1)));
}

/* The low half of each lane; the lanes fit a signed 16-bit number. */
VEC void vec_store_low16(void *x, vec v)
{
    _mm_storeu_si128(x, _mm_packs_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1)));
}

VEC vec64 vec64_load_i32(const int32_t *x)
{
    return _mm256_cvtepi32_epi64(_mm_loadu_si128((const __m128i *)x));
}

VEC vec64 vec64_set1(uint64_t x)
{
    return _mm256_set1_epi64x((long long)x);
}

VEC vec64 vec64_add(vec64 x, vec64 y)
{
    return _mm256_add_epi64(x, y);
}

VEC vec64 vec64_sub(vec64 x, vec64 y)
{
    return _mm256_sub_epi64(x, y);
}

VEC vec64 vec64_and(vec64 x, vec64 y)
{
    return _mm256_and_si256(x, y);
}

VEC vec64 vec64_or(vec64 x, vec64 y)
{
    return _mm256_or_si256(x, y);
}

VEC vec64 vec64_shift_left(vec64 x, int n)
{
    return _mm256_slli_epi64(x, n);
}

VEC vec64 vec64_shift_right(vec64 x, int n)
{
    return _mm256_srli_epi64(x, n);
}

/* Shifts by n a lane; 0 for n >= 64, n unsigned. */
VEC vec64 vec64_shift_left_by(vec64 x, vec64 n)
{
    return _mm256_sllv_epi64(x, n);
}

VEC vec64 vec64_shift_right_by(vec64 x, vec64 n)
{
    return _mm256_srlv_epi64(x, n);
}

/* all ones where x < 0 */
VEC vec64 vec64_negative(vec64 x)
{
    return _mm256_cmpgt_epi64(_mm256_setzero_si256(), x);
}

/* all ones where x = 0 */
VEC vec64 vec64_is_zero(vec64 x)
{
    return _mm256_cmpeq_epi64(x, _mm256_setzero_si256());
}

/* signed maximum */
VEC vec64 vec64_max(vec64 x, vec64 y)
{
    return _mm256_blendv_epi8(y, x, _mm256_cmpgt_epi64(x, y));
}

VEC vec64 vec64_xor(vec64 x, vec64 y)
{
    return _mm256_xor_si256(x, y);
}

/* where the mask is all ones 0, where it is 0 x */
VEC vec64 vec64_clear(vec64 mask, vec64 x)
{
    return _mm256_andnot_si256(mask, x);
}

/* where the mask is all ones x, where it is 0 y */
VEC vec64 vec64_select(vec64 mask, vec64 x, vec64 y)
{
    return _mm256_blendv_epi8(y, x, mask);
}

/* Leading zeros; 63 for 0. */
VEC vec64 vec64_leading_zeros(vec64 x)
{
    vec64 n = _mm256_setzero_si256();

    for (int step = 32; step > 0; step /= 2) { /* the upper `step` bits are 0: shift them out */
        const vec64 empty = _mm256_cmpeq_epi64(_mm256_srli_epi64(x, 64 - step), _mm256_setzero_si256());
        const vec64 by = _mm256_and_si256(empty, _mm256_set1_epi64x(step));

        x = _mm256_sllv_epi64(x, by);
        n = _mm256_add_epi64(n, by);
    }
    return n;
}

/* The first n of the numbers at x, n <= VEC_LANES, else zeros; nothing beyond them is read. */
VEC vec vec_load_some(const void *x, int n)
{
    const vec lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);

    return _mm256_maskload_epi32(x, _mm256_cmpgt_epi32(_mm256_set1_epi32(n), lane));
}

/* signed maximum */
VEC vec vec_max(vec x, vec y)
{
    return _mm256_max_epi32(x, y);
}

/* Shifts by n a lane; 0 for n >= 32, n unsigned. */
VEC vec vec_shift_left_by(vec x, vec n)
{
    return _mm256_sllv_epi32(x, n);
}

VEC vec vec_shift_right_by(vec x, vec n)
{
    return _mm256_srlv_epi32(x, n);
}

/* Bit i is set where lane i is negative. */
VEC uint64_t vec_signs(vec x)
{
    return (uint64_t)(unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(x));
}

/* The low halves of the lanes of x and then of y; the high halves. */
VEC vec vec64_low_halves(vec64 x, vec64 y)
{
    const __m256 low = _mm256_shuffle_ps(_mm256_castsi256_ps(x), _mm256_castsi256_ps(y), 0x88);

    return _mm256_permute4x64_epi64(_mm256_castps_si256(low), 0xd8);
}

VEC vec vec64_high_halves(vec64 x, vec64 y)
{
    const __m256 high = _mm256_shuffle_ps(_mm256_castsi256_ps(x), _mm256_castsi256_ps(y), 0xdd);

    return _mm256_permute4x64_epi64(_mm256_castps_si256(high), 0xd8);
}

/* The products of the low halves of each lane. */
VEC vec64 vec64_mul_low(vec64 x, vec64 y)
{
    return _mm256_mul_epu32(x, y);
}

/* minimum of numbers whose difference fits a signed lane */
VEC vec64 vec64_min(vec64 x, vec64 y)
{
    const __m256i smaller = _mm256_sub_epi64(x, y); /* negative if x < y */

    return _mm256_castpd_si256(
        _mm256_blendv_pd(_mm256_castsi256_pd(y), _mm256_castsi256_pd(x), _mm256_castsi256_pd(smaller)));
}

/* The lanes of x and y in turn, x first, to 2 vectors' worth of memory. */
VEC void vec64_store_in_turn(void *to, vec64 x, vec64 y)
{
    const __m256i a = _mm256_unpacklo_epi64(x, y), b = _mm256_unpackhi_epi64(x, y);

    _mm256_storeu_si256(to, _mm256_permute2x128_si256(a, b, 0x20));
    _mm256_storeu_si256((__m256i *)to + 1, _mm256_permute2x128_si256(a, b, 0x31));
}
