/*
 * vec_avx512.h - the vectors of stages_tmpl.h in AVX-512 with VNNI: 16 numbers of 32 bits, 8 of 64.
 *
 * SPDX-License-Identifier: MIT
 */
#include <immintrin.h>

#define TARGET    __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512cd,avx512vnni,bmi2")))
#define VEC       TARGET static inline __attribute__((always_inline))
#define VEC_LANES 16

typedef __m512i vec;   /* 32-bit lanes */
typedef __m512i vec64; /* 64-bit lanes */

VEC vec vec_load(const void *x)
{
    return _mm512_loadu_si512(x);
}

VEC void vec_store(void *x, vec v)
{
    _mm512_storeu_si512(x, v);
}

/* The low half of each lane; the lanes fit a signed 16-bit number. */
VEC void vec_store_low16(void *x, vec v)
{
    _mm256_storeu_si256(x, _mm512_cvtepi32_epi16(v));
}

VEC vec vec_load_u8(const uint8_t *x)
{
    return _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)x));
}

/* The low byte of each lane. */
VEC void vec_store_low8(void *x, vec v)
{
    _mm_storeu_si128(x, _mm512_cvtepi32_epi8(v));
}

VEC vec vec_set1(uint32_t x)
{
    return _mm512_set1_epi32((int)x);
}

VEC vec vec_add(vec x, vec y)
{
    return _mm512_add_epi32(x, y);
}

VEC vec vec_sub(vec x, vec y)
{
    return _mm512_sub_epi32(x, y);
}

VEC vec vec_and(vec x, vec y)
{
    return _mm512_and_si512(x, y);
}

VEC vec vec_or(vec x, vec y)
{
    return _mm512_or_si512(x, y);
}

VEC vec vec_xor(vec x, vec y)
{
    return _mm512_xor_si512(x, y);
}

VEC vec vec_shift_left(vec x, int n)
{
    return _mm512_slli_epi32(x, (unsigned)n);
}

VEC vec vec_shift_right(vec x, int n)
{
    return _mm512_srli_epi32(x, (unsigned)n);
}

VEC vec vec_shift_right_signed(vec x, int n)
{
    return _mm512_srai_epi32(x, (unsigned)n);
}

/* unsigned minimum */
VEC vec vec_min(vec x, vec y)
{
    return _mm512_min_epu32(x, y);
}

VEC vec vec_mul(vec x, vec y)
{
    return _mm512_mullo_epi32(x, y);
}

/* floor(x y / 2^32) */
VEC vec vec_mul_high(vec x, vec y)
{
    const __m512i even = _mm512_srli_epi64(_mm512_mul_epu32(x, y), 32);
    const __m512i odd = _mm512_mul_epu32(_mm512_srli_epi64(x, 32), _mm512_srli_epi64(y, 32));

    return _mm512_mask_blend_epi32(0xaaaa, even, odd);
}

/* a > b ? x : y, signed */
VEC vec vec_if_greater(vec a, vec b, vec x, vec y)
{
    return _mm512_mask_blend_epi32(_mm512_cmpgt_epi32_mask(a, b), y, x);
}

/* acc + the products of the signed 16-bit halves of x and y */
VEC vec vec_madd(vec acc, vec x, vec y)
{
    return _mm512_dpwssd_epi32(acc, x, y);
}

/* Numbers lo + 2^32 hi, in order, to 2 vectors' worth of memory. */
VEC void vec_store_wide(void *x, vec lo, vec hi)
{
    const __m512i a = _mm512_unpacklo_epi32(lo, hi), b = _mm512_unpackhi_epi32(lo, hi);
    const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11),
                  second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);

    _mm512_storeu_si512(x, _mm512_permutex2var_epi64(a, first, b));
    _mm512_storeu_si512((__m512i *)x + 1, _mm512_permutex2var_epi64(a, second, b));
}

VEC vec64 vec64_load_i32(const int32_t *x)
{
    return _mm512_cvtepi32_epi64(_mm256_loadu_si256((const __m256i *)x));
}

/* The low half of each lane: numbers of elements e.., in order. */
VEC void vec64_store_pairs(uint32_t *x, int e, vec64 v)
{
    _mm256_storeu_si256((__m256i *)(x + e), _mm512_cvtepi64_epi32(v));
}

/* The low and the high halves of 16 lanes. */
VEC void vec64_store_both_pairs(uint32_t *low, uint32_t *high, const vec64 *v)
{
    for (int i = 0; i < 2; i++) {
        vec64_store_pairs(low, 8 * i, v[i]);
        vec64_store_pairs(high, 8 * i, _mm512_srli_epi64(v[i], 32));
    }
}

VEC vec64 vec64_set1(uint64_t x)
{
    return _mm512_set1_epi64((long long)x);
}

VEC vec64 vec64_add(vec64 x, vec64 y)
{
    return _mm512_add_epi64(x, y);
}

VEC vec64 vec64_sub(vec64 x, vec64 y)
{
    return _mm512_sub_epi64(x, y);
}

VEC vec64 vec64_and(vec64 x, vec64 y)
{
    return _mm512_and_si512(x, y);
}

VEC vec64 vec64_or(vec64 x, vec64 y)
{
    return _mm512_or_si512(x, y);
}

VEC vec64 vec64_shift_left(vec64 x, int n)
{
    return _mm512_slli_epi64(x, (unsigned)n);
}

VEC vec64 vec64_shift_right(vec64 x, int n)
{
    return _mm512_srli_epi64(x, (unsigned)n);
}

/* Shifts by n a lane; 0 for n >= 64, n unsigned. */
VEC vec64 vec64_shift_left_by(vec64 x, vec64 n)
{
    return _mm512_sllv_epi64(x, n);
}

VEC vec64 vec64_shift_right_by(vec64 x, vec64 n)
{
    return _mm512_srlv_epi64(x, n);
}

/* all ones where x < 0 */
VEC vec64 vec64_negative(vec64 x)
{
    return _mm512_srai_epi64(x, 63);
}

/* all ones where x = 0 */
VEC vec64 vec64_is_zero(vec64 x)
{
    return _mm512_movm_epi64(_mm512_testn_epi64_mask(x, x));
}

/* signed maximum */
VEC vec64 vec64_max(vec64 x, vec64 y)
{
    return _mm512_max_epi64(x, y);
}

VEC vec64 vec64_xor(vec64 x, vec64 y)
{
    return _mm512_xor_si512(x, y);
}

/* where the mask is all ones 0, where it is 0 x */
VEC vec64 vec64_clear(vec64 mask, vec64 x)
{
    return _mm512_andnot_si512(mask, x);
}

/* where the mask is all ones x, where it is 0 y */
VEC vec64 vec64_select(vec64 mask, vec64 x, vec64 y)
{
    return _mm512_mask_blend_epi64(_mm512_movepi64_mask(mask), y, x);
}

/* Leading zeros; 64 for 0. */
VEC vec64 vec64_leading_zeros(vec64 x)
{
    return _mm512_lzcnt_epi64(x);
}

/* The first n of the numbers at x, n <= VEC_LANES, else zeros; nothing beyond them is read. */
VEC vec vec_load_some(const void *x, int n)
{
    return _mm512_maskz_loadu_epi32((__mmask16)((1u << n) - 1), x);
}

/* signed maximum */
VEC vec vec_max(vec x, vec y)
{
    return _mm512_max_epi32(x, y);
}

/* Shifts by n a lane; 0 for n >= 32, n unsigned. */
VEC vec vec_shift_left_by(vec x, vec n)
{
    return _mm512_sllv_epi32(x, n);
}

VEC vec vec_shift_right_by(vec x, vec n)
{
    return _mm512_srlv_epi32(x, n);
}

/* Bit i is set where lane i is negative. */
VEC uint64_t vec_signs(vec x)
{
    return _mm512_movepi32_mask(x);
}

/* The low halves of the lanes of x and then of y; the high halves. */
VEC vec vec64_low_halves(vec64 x, vec64 y)
{
    const __m512i order = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);

    return _mm512_permutex2var_epi32(x, order, y);
}

VEC vec vec64_high_halves(vec64 x, vec64 y)
{
    const __m512i order = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);

    return _mm512_permutex2var_epi32(x, order, y);
}

/* The products of the low halves of each lane. */
VEC vec64 vec64_mul_low(vec64 x, vec64 y)
{
    return _mm512_mul_epu32(x, y);
}

/* minimum of numbers whose difference fits a signed lane */
VEC vec64 vec64_min(vec64 x, vec64 y)
{
    return _mm512_min_epi64(x, y);
}

/* The lanes of x and y in turn, x first, to 2 vectors' worth of memory. */
VEC void vec64_store_in_turn(void *to, vec64 x, vec64 y)
{
    const __m512i first = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11),
                  second = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);

    _mm512_storeu_si512(to, _mm512_permutex2var_epi64(x, first, y));
    _mm512_storeu_si512((__m512i *)to + 1, _mm512_permutex2var_epi64(x, second, y));
}
