/*
 * vec_avxvnni.h - what residues8_bytes.h and stages_tmpl.h need beyond vec_avx2.h where residues have 8 bits:
 * 8 lanes of 32 bits, in order, with the multiply-adds of AVX-VNNI. Include after vec_avx2.h, with a TARGET
 * that has avxvnni.
 *
 * SPDX-License-Identifier: MIT
 */

VEC vec vec_load_u8(const uint8_t *x)
{
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)x));
}

VEC vec vec_mul(vec x, vec y)
{
    return _mm256_mullo_epi32(x, y);
}

/* acc + the products of the signed 16-bit halves of x and y */
VEC vec vec_madd(vec acc, vec x, vec y)
{
    return _mm256_dpwssd_avx_epi32(acc, x, y);
}

/* acc + the products of the unsigned bytes of x and the signed bytes of y */
VEC vec vec_dot(vec acc, vec x, vec y)
{
    return _mm256_dpbusd_avx_epi32(acc, x, y);
}

/* -x of signed bytes */
VEC vec vec_negate_bytes(vec x)
{
    return _mm256_sub_epi8(_mm256_setzero_si256(), x);
}

/* 16 numbers in [0, 2^16) of 32 bits as numbers of 16 bits. */
VEC __m256i vec_narrow(const vec *x)
{
    return _mm256_permute4x64_epi64(_mm256_packus_epi32(x[0], x[1]), 0xd8);
}

/* Numbers lo + 2^32 hi, in order, to 2 vectors' worth of memory. */
VEC void vec_store_wide(void *x, vec lo, vec hi)
{
    const __m256i a = _mm256_unpacklo_epi32(lo, hi), b = _mm256_unpackhi_epi32(lo, hi);

    _mm256_storeu_si256(x, _mm256_permute2x128_si256(a, b, 0x20));
    _mm256_storeu_si256((__m256i *)x + 1, _mm256_permute2x128_si256(a, b, 0x31));
}

/* The low half of each lane: numbers of elements e.., in order. */
VEC void vec64_store_pairs(uint32_t *x, int e, vec64 v)
{
    const __m256i order = _mm256_setr_epi32(0, 2, 4, 6, 0, 0, 0, 0);

    _mm_storeu_si128((__m128i *)(x + e), _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(v, order)));
}

/* The low and the high halves of 16 lanes, in order. */
VEC void vec64_store_both_pairs(uint32_t *low, uint32_t *high, const vec64 *v)
{
    for (int i = 0; i < 2; i++) {
        vec_store(low + 8 * i, vec64_low_halves(v[2 * i], v[2 * i + 1]));
        vec_store(high + 8 * i, vec64_high_halves(v[2 * i], v[2 * i + 1]));
    }
}
