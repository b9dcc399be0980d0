/*
 * words8_avx512.h - 8-bit residues in AVX-512, for winograd_tmpl.h.
 *
 * SPDX-License-Identifier: MIT
 */
#define WORDS 64

VEC vec words_set1(uint32_t x)
{
    return _mm512_set1_epi8((char)(uint8_t)x);
}

VEC vec words_add(vec x, vec y)
{
    return _mm512_add_epi8(x, y);
}

VEC vec words_sub(vec x, vec y)
{
    return _mm512_sub_epi8(x, y);
}

/* For m = 256 the m of the lanes is 0, and the difference wraps. */
VEC vec words_mod_sub(vec m, vec x, vec y)
{
    const vec difference = _mm512_sub_epi8(x, y);

    return _mm512_mask_add_epi8(difference, _mm512_cmplt_epu8_mask(x, y), difference, m);
}
