/*
 * words16_avx2.h - 16-bit residues in AVX2, for winograd_tmpl.h.
 *
 * SPDX-License-Identifier: MIT
 */
#define WORDS 16

VEC vec words_set1(uint32_t x)
{
    return _mm256_set1_epi16((int16_t)(uint16_t)x);
}

VEC vec words_add(vec x, vec y)
{
    return _mm256_add_epi16(x, y);
}

VEC vec words_sub(vec x, vec y)
{
    return _mm256_sub_epi16(x, y);
}

/* As mod_subtract(): a negative difference wraps to a large number, also where m is 2^16, here 0. */
VEC vec words_mod_sub(vec m, vec x, vec y)
{
    const vec difference = _mm256_sub_epi16(x, y);

    return _mm256_min_epu16(difference, _mm256_add_epi16(difference, m));
}
