/*
 * words8_avx2.h - 8-bit residues in AVX2, for winograd_tmpl.h.
 *
 * SPDX-License-Identifier: MIT
 */
#define WORDS 32

VEC vec words_set1(uint32_t x)
{
    return _mm256_set1_epi8((char)(uint8_t)x);
}

VEC vec words_add(vec x, vec y)
{
    return _mm256_add_epi8(x, y);
}

VEC vec words_sub(vec x, vec y)
{
    return _mm256_sub_epi8(x, y);
}

/* For m = 256 the m of the lanes is 0, and the difference wraps. */
VEC vec words_mod_sub(vec m, vec x, vec y)
{
    const vec not_less = _mm256_cmpeq_epi8(_mm256_max_epu8(x, y), x);

    return _mm256_add_epi8(_mm256_sub_epi8(x, y), _mm256_andnot_si256(not_less, m));
}
