/*
 * residues16_avx2.h - what split, reduce and crt do with 16-bit residues, in AVX2. Include after vec_avx2.h
 * and before stages_tmpl.h, which says what STAGE is.
 *
 * Sixteen residues are worked on at once, in 16-bit lanes. Odd moduli are below 2^15 (OZG_WIDE_ODD_MAX), so
 * that 2 m fits; x - m wraps to a large number if x < m, so that the unsigned minimum of x and x - m is x
 * mod m for x < 2 m. For m = 2^16 the m of the lanes is 0, and all of this computes modulo 2^16, too.
 *
 * SPDX-License-Identifier: MIT
 */

/* acc + the products of the signed 16-bit halves of x and y */
VEC vec vec_madd(vec acc, vec x, vec y)
{
    return _mm256_add_epi32(acc, _mm256_madd_epi16(x, y));
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

/* A modulus in all lanes. */
typedef struct modulus {
    vec m;   /* 16 bits */
    vec inv; /* 32 bits */
} modulus;

VEC modulus modulus_of(const ozg_rns *rns, int l)
{
    const modulus q = {_mm256_set1_epi16((int16_t)(uint16_t)rns->m[l]), _mm256_set1_epi32((int)rns->inv[l])};

    return q;
}

/*
 * v mod m of 16 numbers: 16-bit lane 2 j is that of 32-bit lane j of even, lane 2 j + 1 that of odd. As
 * ozg_mod(); only the low 16 bits of the quotients matter.
 */
VEC vec mod_sixteen(const modulus *q, vec even, vec odd)
{
    /* products of 32-bit lanes 0, 2, ... and 1, 3, ...: their quotients are the upper halves */
    const vec even0 = _mm256_mul_epu32(even, q->inv);
    const vec even1 = _mm256_mul_epu32(_mm256_srli_epi64(even, 32), q->inv);
    const vec odd0 = _mm256_mul_epu32(odd, q->inv);
    const vec odd1 = _mm256_mul_epu32(_mm256_srli_epi64(odd, 32), q->inv);
    const vec quotient0 = _mm256_blend_epi16(_mm256_srli_epi64(even0, 32), _mm256_srli_epi64(odd0, 16), 0x22);
    const vec quotient1 = _mm256_blend_epi16(even1, _mm256_slli_epi64(odd1, 16), 0x88);
    const vec quotient = _mm256_blend_epi32(quotient0, quotient1, 0xaa);
    const vec v = _mm256_blend_epi16(even, _mm256_slli_epi32(odd, 16), 0xaa);
    const vec r = _mm256_sub_epi16(v, _mm256_mullo_epi16(quotient, q->m));

    return _mm256_min_epu16(r, _mm256_sub_epi16(r, q->m));
}

/* x + y and x - y mod m, for x and y in [0, m) */
VEC vec mod_add(const modulus *q, vec x, vec y)
{
    const vec sum = _mm256_add_epi16(x, y);

    return _mm256_min_epu16(sum, _mm256_sub_epi16(sum, q->m));
}

VEC vec mod_subtract(const modulus *q, vec x, vec y)
{
    const vec difference = _mm256_sub_epi16(x, y);

    return _mm256_min_epu16(difference, _mm256_add_epi16(difference, q->m));
}

/* ---- split -------------------------------------------------------------------------------------- */

/*
 * Of the digits of x^ (ozg_digits), at most four are as large as 2^15, and one more below 2^7: the mantissa
 * has 53 bits, up to 15 of which lie in its lowest digit. With residues of powers of at most m / 2, the sum
 * of the products is in size at most (2^16 + 2^6) m = OFFSET m. OFFSET m + h more, h = floor((m - 1) / 2),
 * is not negative, and below (2^17 + 2^7 + 1) m < 2^32 for m <= OZG_WIDE_ODD_MAX. The residue of that, less
 * h, is the symmetric one of x^. Modulo 2^16 everything may wrap.
 */
#define OFFSET ((UINT32_C(1) << 16) + (UINT32_C(1) << 6))

typedef struct split_modulus {
    modulus q;
    vec offset, half, power[OZG_SPLIT_PAIRS];
} split_modulus;

VEC split_modulus split_modulus_of(const ozg_rns *rns, int l, int pairs)
{
    const uint32_t half = (rns->m[l] - 1) / 2;
    split_modulus s;

    s.q = modulus_of(rns, l);
    s.offset = _mm256_set1_epi32((int)(rns->m[l] * OFFSET + half));
    s.half = _mm256_set1_epi16((int16_t)half);
    for (int i = 0; i < pairs; i++)
        s.power[i] = _mm256_set1_epi32((int)rns->power_pair[l][i]);
    return s;
}

/* (x^ + h) mod m of elements e .. e + 15 */
VEC vec shifted_residues(const split_modulus *s, int pairs, const ozg_digits *in, int e)
{
    vec even = s->offset, odd = s->offset;

    for (int i = 0; i < pairs; i++) {
        even = _mm256_add_epi32(even, _mm256_madd_epi16(vec_load(in->pair[i] + e), s->power[i]));
        odd = _mm256_add_epi32(odd, _mm256_madd_epi16(vec_load(in->pair[i] + e + 8), s->power[i]));
    }
    return mod_sixteen(&s->q, even, odd);
}

/* The symmetric residues of a real batch mod m_l, and those of a complex one with their sums for 3M. */
VEC void split_real_pairs(const ozg_rns *rns, int l, int pairs, int count, const ozg_digits *re,
                          unsigned char *out)
{
    const split_modulus s = split_modulus_of(rns, l, pairs);

    for (int e = 0; e < count; e += 16)
        vec_store(out + 2 * e, _mm256_sub_epi16(shifted_residues(&s, pairs, re, e), s.half));
}

VEC void split_complex_pairs(const ozg_rns *rns, int l, int pairs, int count, const ozg_digits *re,
                             const ozg_digits *im, unsigned char *const out[3])
{
    const split_modulus s = split_modulus_of(rns, l, pairs);

    for (int e = 0; e < count; e += 16) {
        const vec x = shifted_residues(&s, pairs, re, e), y = shifted_residues(&s, pairs, im, e);
        const vec sum = mod_subtract(&s.q, mod_add(&s.q, x, y), s.half);

        vec_store(out[0] + 2 * e, _mm256_sub_epi16(x, s.half));
        vec_store(out[1] + 2 * e, _mm256_sub_epi16(y, s.half));
        vec_store(out[2] + 2 * e, _mm256_sub_epi16(sum, s.half));
    }
}

/* Widths of 30 to 59 bits, the usual ones, with a loop over the pairs that is unrolled. */
TARGET static void split_real(const ozg_rns *rns, int l, int pairs, const ozg_layout *layout, int count,
                              const ozg_digits *re, unsigned char *out)
{
    (void)layout; /* symmetric words */
    if (pairs == 2)
        split_real_pairs(rns, l, 2, count, re, out);
    else
        split_real_pairs(rns, l, pairs, count, re, out);
}

TARGET static void split_complex(const ozg_rns *rns, int l, int pairs, const ozg_layout *layout, int count,
                                 const ozg_digits *re, const ozg_digits *im, unsigned char *const out[3])
{
    (void)layout;
    if (pairs == 2)
        split_complex_pairs(rns, l, 2, count, re, im, out);
    else
        split_complex_pairs(rns, l, pairs, count, re, im, out);
}

/* ---- reduce ------------------------------------------------------------------------------------- */

/*
 * sum mod m of 16 sums, |sum| <= 2^30: raise = 2^31 + (-2^31 mod m) is a multiple of m and makes them
 * positive. Modulo 2^16 any sum, as everything may wrap.
 */
VEC vec sums_mod(const modulus *q, vec raise, const int32_t *sums)
{
    const vec order = _mm256_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15, 0, 1, 4, 5, 8, 9,
                                       12, 13, 2, 3, 6, 7, 10, 11, 14, 15);
    const vec r = mod_sixteen(q, _mm256_add_epi32(vec_load(sums), raise),
                              _mm256_add_epi32(vec_load(sums + 8), raise)); /* 0, 8, 1, 9, ... */

    return _mm256_permute4x64_epi64(_mm256_shuffle_epi8(r, order), 0xd8);
}

TARGET void STAGE(reduce)(const ozg_rns *rns, int l, int complex_, int mr, int columns, int first,
                          const int32_t *const sums[3], void *re, void *im, int64_t ld)
{
    const modulus q = modulus_of(rns, l);
    const vec raise = _mm256_set1_epi32((int)((UINT32_C(1) << 31) + rns->offset[l]));

    for (int j = 0; j < columns; j++)
        for (int i = 0; i < mr; i += 16) {
            const int at = j * mr + i;
            uint16_t *to = (uint16_t *)re + i + j * ld, *to_im = (uint16_t *)im + i + j * ld;
            vec p0 = sums_mod(&q, raise, sums[0] + at), p1, p2;

            if (complex_) {
                p1 = sums_mod(&q, raise, sums[1] + at);
                p2 = mod_subtract(&q, sums_mod(&q, raise, sums[2] + at), mod_add(&q, p0, p1));
                vec_store(to_im, first ? p2 : mod_add(&q, p2, vec_load(to_im)));
                p0 = mod_subtract(&q, p0, p1);
            }
            vec_store(to, first ? p0 : mod_add(&q, p0, vec_load(to)));
        }
}

/* ---- crt ----------------------------------------------------------------------------------------- */

#define VECTORS  (OZG_STRIP / 4)
#define TOGETHER 4 /* vectors: 8 sums at a time hide the latency of the multiplications */

/* The residues of a strip as 64-bit numbers, and its quotient q as number nmod. */
VEC void widen_residues(const ozg_rns *rns, const unsigned char *residues, size_t plane,
                        vec64 (*number)[VECTORS])
{
    vec64 q[VECTORS];

#pragma GCC unroll 8
    for (int v = 0; v < VECTORS; v++)
        q[v] = vec64_set1(UINT64_C(1) << 31);
    for (int l = 0; l < rns->nmod; l++, residues += plane) {
        const vec quotient = _mm256_set1_epi32((int)rns->quotient[l]);

#pragma GCC unroll 8
        for (int v = 0; v < VECTORS; v++) {
            number[l][v] = _mm256_cvtepu16_epi64(_mm_loadl_epi64((const __m128i *)(residues + 8 * v)));
            q[v] = vec64_add(q[v], _mm256_mul_epu32(number[l][v], quotient));
        }
    }
#pragma GCC unroll 8
    for (int v = 0; v < VECTORS; v++)
        number[rns->nmod][v] = vec64_shift_right(q[v], 32);
}

/*
 * Word w of c^ from its 32-bit limbs: sums of numbers below 2^19 times digits, |digit| <= 2^31, so far
 * below 2^61 in size. BIAS makes them positive; of its carry 2^30 the next sum is relieved. carry: that
 * into the word.
 */
#define BIAS (UINT64_C(1) << 62)

VEC void sum_word(const ozg_rns *rns, int w, int v0, vec64 (*number)[VECTORS], vec64 *carry, uint64_t *out)
{
    vec64 low[TOGETHER], high[TOGETHER];

#pragma GCC unroll 4
    for (int v = 0; v < TOGETHER; v++) {
        low[v] = carry[v];
        high[v] = vec64_set1(BIAS - (BIAS >> 32));
    }
    for (int l = 0; l <= rns->nmod; l++) {
        const vec digit0 = _mm256_set1_epi32(rns->wide[l][2 * w]),
                  digit1 = _mm256_set1_epi32(rns->wide[l][2 * w + 1]);

#pragma GCC unroll 4
        for (int v = 0; v < TOGETHER; v++) {
            low[v] = vec64_add(low[v], _mm256_mul_epi32(number[l][v0 + v], digit0));
            high[v] = vec64_add(high[v], _mm256_mul_epi32(number[l][v0 + v], digit1));
        }
    }
#pragma GCC unroll 4
    for (int v = 0; v < TOGETHER; v++) {
        high[v] = vec64_add(high[v], vec64_shift_right(low[v], 32));
        carry[v] = vec64_add(vec64_shift_right(high[v], 32), vec64_set1(BIAS - (BIAS >> 32)));
        vec_store(out + 4 * v, _mm256_blend_epi32(low[v], _mm256_slli_epi64(high[v], 32), 0xaa));
    }
}

TARGET void STAGE(crt)(const ozg_rns *rns, const void *residues, size_t plane, uint64_t (*out)[OZG_STRIP])
{
    vec64 number[OZG_NMOD_MAX + 1][VECTORS];

    widen_residues(rns, residues, plane, number);
    for (int v = 0; v < VECTORS; v += TOGETHER) {
        vec64 carry[TOGETHER];

        for (int q = 0; q < TOGETHER; q++)
            carry[q] = vec64_set1(BIAS);
        for (int w = 0; w < rns->nword; w++)
            sum_word(rns, w, v, number, carry, out[w] + 4 * v);
    }
}

#undef BIAS
#undef OFFSET
#undef TOGETHER
#undef VECTORS
