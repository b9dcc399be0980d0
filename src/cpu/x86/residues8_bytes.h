/*
 * residues8_bytes.h - what split, reduce and crt do with 8-bit residues where vpdpbusd multiplies unsigned by
 * signed bytes. Include after a vec_*.h and before stages_tmpl.h, which says what STAGE is.
 *
 * With c_i = 2^(8 i) mod m of least size, |c_i| <= 127, a number v of bytes v_i is sum v_i c_i modulo m, one
 * instruction for a 32-bit lane:
 *     1. of up to three 32-bit numbers, added or subtracted, from -OZG_BYTES_1 to OZG_BYTES_1;
 *     2. with a multiple of m and two numbers below m added it is below 2 OZG_BYTES_1 + 3 * 256 < 9 * 2^16,
 *        and the same again is from -OZG_BYTES_2 to OZG_BYTES_2 + 255, as |c_1| <= 85: for m > 170 c_1 is
 *        256 - m, below that at most m / 2;
 *     3. with a multiple of m and a number below m added it is below 2 OZG_BYTES_2 + 3 * 256 < 2^16: the
 *        quotient by m, from floor(2^16 / m) in 16-bit lanes, is right or 1 too small.
 * m = 256 has c_i = 0 for i > 0.
 *
 * SPDX-License-Identifier: MIT
 */

#define VECTORS (16 / VEC_LANES) /* sixteen numbers are worked on at once */

/* A modulus in all lanes. */
typedef struct modulus {
    vec bytes;          /* c_i */
    vec base_1, base_2; /* multiples of m */
    __m256i m16, inv16; /* 16-bit lanes */
} modulus;

VEC modulus modulus_of(const ozg_rns *rns, int l)
{
    const int m = (int)rns->m[l];
    modulus q;

    q.bytes = vec_set1(rns->bytes[l]);
    q.base_1 = vec_set1(rns->bytes_1[l]);
    q.base_2 = vec_set1(rns->bytes_2[l]);
    q.m16 = _mm256_set1_epi16((int16_t)m);
    q.inv16 = _mm256_set1_epi16((int16_t)(uint16_t)(rns->inv[l] >> 16));
    return q;
}

/* x mod m for x < 2 m: x - m wraps to a large number if x < m. */
VEC __m256i mod_once(const modulus *q, __m256i x)
{
    return _mm256_min_epu16(x, _mm256_sub_epi16(x, q->m16));
}

/* (old + what step 1 gave, with its multiple of m) mod m: steps 2 and 3 for sixteen numbers. */
VEC __m256i mod_sixteen(const modulus *q, __m256i old, const vec *first)
{
    vec second[VECTORS];
    __m256i x, quotient;

    for (int v = 0; v < VECTORS; v++)
        second[v] = vec_dot(q->base_2, first[v], q->bytes);
    x = _mm256_add_epi16(vec_narrow(second), old);
    quotient = _mm256_mulhi_epu16(x, q->inv16);
    return mod_once(q, _mm256_sub_epi16(x, _mm256_mullo_epi16(quotient, q->m16)));
}

/* The low bytes of sixteen numbers. */
VEC void store_bytes(void *to, __m256i x)
{
    const __m256i low = _mm256_and_si256(x, _mm256_set1_epi16(0xff));

    _mm_storeu_si128(to, _mm_packus_epi16(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1)));
}

/* ---- split -------------------------------------------------------------------------------------- */

/*
 * At most five digits of a number are not 0, at most 2^15 in size, and residues of powers are at most m / 2:
 * the sum of their products is below 2^17 m in size, and OFFSET m more makes it a positive number of the same
 * class, below 2^26.
 */
#define OFFSET (UINT32_C(1) << 17)

/* What the residues of one modulus need beside it. */
typedef struct split_modulus {
    vec offset, power[OZG_SPLIT_PAIRS];
    __m256i half;
} split_modulus;

VEC void split_modulus_set(split_modulus *z, const ozg_rns *rns, int l, int pairs)
{
    z->offset = vec_set1(rns->m[l] * OFFSET);
    z->half = _mm256_set1_epi16((int16_t)(rns->m[l] / 2));
    for (int i = 0; i < pairs; i++)
        z->power[i] = vec_set1(rns->power_pair[l][i]);
}

/* x^ mod m in [0, m) of elements e.. */
VEC __m256i residue(const modulus *q, const split_modulus *z, int pairs, const ozg_digits *in, int e)
{
    vec first[VECTORS];

    for (int v = 0; v < VECTORS; v++) {
        vec x = z->offset;

        for (int i = 0; i < pairs; i++)
            x = vec_madd(x, vec_load(in->pair[i] + e + v * VEC_LANES), z->power[i]);
        first[v] = vec_dot(q->base_1, x, q->bytes);
    }
    return mod_sixteen(q, _mm256_setzero_si256(), first);
}

VEC void store_residue(const ozg_layout *layout, const modulus *q, const split_modulus *z, __m256i r,
                       unsigned char *out, int e)
{
    if (!layout->nonneg)
        r = _mm256_sub_epi16(r, _mm256_and_si256(_mm256_cmpgt_epi16(r, z->half), q->m16));
    store_bytes(out + e, r);
}

VEC void split_pairs(const ozg_rns *rns, int l, int pairs, const ozg_layout *layout, int count,
                     const ozg_digits *re, unsigned char *out)
{
    const modulus q = modulus_of(rns, l);
    split_modulus z;

    split_modulus_set(&z, rns, l, pairs);
    for (int e = 0; e < count; e += 16)
        store_residue(layout, &q, &z, residue(&q, &z, pairs, re, e), out, e);
}

/* The residues of a real batch mod m_l; two pairs are the usual case. */
TARGET static void split_real(const ozg_rns *rns, int l, int pairs, const ozg_layout *layout, int count,
                              const ozg_digits *re, unsigned char *out)
{
    if (pairs == 2)
        split_pairs(rns, l, 2, layout, count, re, out);
    else
        split_pairs(rns, l, pairs, layout, count, re, out);
}

VEC void split_complex_pairs(const ozg_rns *rns, int l, int pairs, const ozg_layout *layout, int count,
                             const ozg_digits *re, const ozg_digits *im, unsigned char *const out[3])
{
    const modulus q = modulus_of(rns, l);
    split_modulus z;

    split_modulus_set(&z, rns, l, pairs);
    for (int e = 0; e < count; e += 16) {
        const __m256i x = residue(&q, &z, pairs, re, e), y = residue(&q, &z, pairs, im, e);

        store_residue(layout, &q, &z, x, out[0], e);
        store_residue(layout, &q, &z, y, out[1], e);
        store_residue(layout, &q, &z, mod_once(&q, _mm256_add_epi16(x, y)), out[2], e);
    }
}

/* Those of a complex batch, with their sums for 3M. */
TARGET static void split_complex(const ozg_rns *rns, int l, int pairs, const ozg_layout *layout, int count,
                                 const ozg_digits *re, const ozg_digits *im, unsigned char *const out[3])
{
    if (pairs == 2)
        split_complex_pairs(rns, l, 2, layout, count, re, im, out);
    else
        split_complex_pairs(rns, l, pairs, layout, count, re, im, out);
}

/* ---- reduce ------------------------------------------------------------------------------------- */

/* 2^31 more makes a sum unsigned. */
VEC vec unsigned_sum(const int32_t *sum)
{
    return vec_xor(vec_load(sum), vec_set1(UINT32_C(0x80000000)));
}

VEC __m256i old_residues(int first, const uint8_t *x)
{
    return first ? _mm256_setzero_si256() : _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)x));
}

VEC void reduce_real(const modulus *q, vec base, int first, const int32_t *sums, uint8_t *re)
{
    vec x[VECTORS];

    for (int v = 0; v < VECTORS; v++)
        x[v] = vec_dot(base, unsigned_sum(sums + v * VEC_LANES), q->bytes);
    store_bytes(re, mod_sixteen(q, old_residues(first, re), x));
}

/* base: repays the 2^31 of im; those of re cancel. */
VEC void reduce_complex(const modulus *q, vec base, int first, const int32_t *s0, const int32_t *s1,
                        const int32_t *s2, uint8_t *re, uint8_t *im)
{
    const vec minus = vec_negate_bytes(q->bytes);
    vec x[VECTORS], y[VECTORS];

    for (int v = 0; v < VECTORS; v++) {
        const vec p0 = unsigned_sum(s0 + v * VEC_LANES), p1 = unsigned_sum(s1 + v * VEC_LANES);
        const vec p2 = unsigned_sum(s2 + v * VEC_LANES);

        x[v] = vec_dot(vec_dot(q->base_1, p0, q->bytes), p1, minus);
        y[v] = vec_dot(vec_dot(vec_dot(base, p2, q->bytes), p0, minus), p1, minus);
    }
    store_bytes(re, mod_sixteen(q, old_residues(first, re), x));
    store_bytes(im, mod_sixteen(q, old_residues(first, im), y));
}

TARGET void STAGE(reduce)(const ozg_rns *rns, int l, int complex_, int mr, int columns, int first,
                          const int32_t *const sums[3], void *re, void *im, int64_t ld)
{
    const uint32_t m = rns->m[l], offset = rns->offset[l], base = rns->bytes_1[l];
    const vec real = vec_set1(base + offset), imaginary = vec_set1(base + m - offset);
    const modulus q = modulus_of(rns, l);
    uint8_t *re8 = re, *im8 = im;

    for (int j = 0; j < columns; j++)
        for (int i = 0; i < mr; i += 16) { /* mr is a multiple of 16 */
            const int at = j * mr + i;

            if (complex_)
                reduce_complex(&q, imaginary, first, sums[0] + at, sums[1] + at, sums[2] + at,
                               re8 + i + j * ld, im8 + i + j * ld);
            else
                reduce_real(&q, real, first, sums[0] + at, re8 + i + j * ld);
        }
}

#undef OFFSET
#undef VECTORS

#include "cpu/crt8_tmpl.h"
