/*
 * vec_avx2.h - the vectors of stages_tmpl.h in AVX2: 8 numbers of 32 bits, 4 of 64.
 *
 * SPDX-License-Identifier: MIT
 */
#include <immintrin.h>

#define TARGET    __attribute__((target("avx2,bmi2")))
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

VEC vec64 vec64_load_i32(const int32_t *x)
{
    return _mm256_cvtepi32_epi64(_mm_loadu_si128((const __m128i *)x));
}

/*
 * The low half of each lane: numbers of elements e.., e a multiple of 4. Of each sixteen, first those of
 * even e, then those of odd e.
 */
VEC void vec64_store_pairs(uint32_t *x, int e, vec64 v)
{
    const __m256i order = _mm256_setr_epi32(0, 4, 2, 6, 0, 0, 0, 0);
    const __m128i pairs = _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(v, order));

    x += e / 16 * 16 + e % 16 / 2;
    _mm_storel_epi64((__m128i *)x, pairs);
    _mm_storel_epi64((__m128i *)(x + 8), _mm_unpackhi_epi64(pairs, pairs));
}

/* The low and the high halves of 16 lanes, in the order of vec64_store_pairs(). */
VEC void vec64_store_both_pairs(uint32_t *low, uint32_t *high, const vec64 *v)
{
#define SELECT(a, b, which)                                                                                  \
    _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), which))
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    const __m256i low0 = SELECT(v[0], v[1], 0x88), low1 = SELECT(v[2], v[3], 0x88);
    const __m256i high0 = SELECT(v[0], v[1], 0xdd), high1 = SELECT(v[2], v[3], 0xdd);

    vec_store(low, _mm256_permutevar8x32_epi32(SELECT(low0, low1, 0x88), order));
    vec_store(low + 8, _mm256_permutevar8x32_epi32(SELECT(low0, low1, 0xdd), order));
    vec_store(high, _mm256_permutevar8x32_epi32(SELECT(high0, high1, 0x88), order));
    vec_store(high + 8, _mm256_permutevar8x32_epi32(SELECT(high0, high1, 0xdd), order));
#undef SELECT
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
