/*
 * residues8_tmpl.h - what split, reduce and crt do with 8-bit residues, in vectors. Include after a vec_*.h
 * and before stages_tmpl.h, which says what STAGE is.
 *
 * A recurring step: x - m wraps to a large number if x < m, so that the unsigned minimum of x and x - m is
 * x mod m for x < 2 m.
 *
 * SPDX-License-Identifier: MIT
 */

/* ---- split -------------------------------------------------------------------------------------- */

/*
 * At most five digits of a number are not 0, so the sum of their products with residues below 256 is below
 * 5 * 2^15 * 2^8 < 2^26 in magnitude, and OFFSET m more is a positive number of the same class, below 2^28.
 */
#define OFFSET (UINT32_C(1) << 19)

/* What the residues of one modulus need, in all lanes. */
typedef struct split_modulus {
    vec m, inv, offset, power[OZG_SPLIT_PAIRS];
} split_modulus;

/* x^ mod m in [0, m) of elements e.. */
VEC vec residue(const split_modulus *q, int pairs, const ozg_digits *in, int e)
{
    vec v = q->offset;

    for (int i = 0; i < pairs; i++)
        v = vec_madd(v, vec_load(in->pair[i] + e), q->power[i]);
    v = vec_sub(v, vec_mul(vec_mul_high(v, q->inv), q->m));
    return vec_min(v, vec_sub(v, q->m));
}

VEC void store_residue(const ozg_layout *layout, const split_modulus *q, vec half, vec r, unsigned char *out,
                       int e)
{
    if (!layout->nonneg)
        r = vec_if_greater(r, half, vec_sub(r, q->m), r);
    vec_store_low8(out + e, r);
}

VEC split_modulus split_modulus_of(const ozg_rns *rns, int l, int pairs)
{
    split_modulus q;

    q.m = vec_set1(rns->m[l]);
    q.inv = vec_set1(rns->inv[l]);
    q.offset = vec_set1(rns->m[l] * OFFSET);
    for (int i = 0; i < pairs; i++)
        q.power[i] = vec_set1(rns->power_pair[l][i]);
    return q;
}

/* The residues of a real batch mod m_l, and those of a complex one with their sums for 3M. */
TARGET static void split_real(const ozg_rns *rns, int l, int pairs, const ozg_layout *layout, int count,
                              const ozg_digits *re, unsigned char *out)
{
    const split_modulus q = split_modulus_of(rns, l, pairs);
    const vec half = vec_set1(rns->m[l] / 2);

    for (int e = 0; e < count; e += VEC_LANES)
        store_residue(layout, &q, half, residue(&q, pairs, re, e), out, e);
}

TARGET static void split_complex(const ozg_rns *rns, int l, int pairs, const ozg_layout *layout, int count,
                                 const ozg_digits *re, const ozg_digits *im, unsigned char *const out[3])
{
    const split_modulus q = split_modulus_of(rns, l, pairs);
    const vec half = vec_set1(rns->m[l] / 2);

    for (int e = 0; e < count; e += VEC_LANES) {
        const vec x = residue(&q, pairs, re, e), y = residue(&q, pairs, im, e), sum = vec_add(x, y);

        store_residue(layout, &q, half, x, out[0], e);
        store_residue(layout, &q, half, y, out[1], e);
        store_residue(layout, &q, half, vec_min(sum, vec_sub(sum, q.m)), out[2], e);
    }
}

/* ---- reduce ------------------------------------------------------------------------------------- */

/* The modulus of a micro-tile in all lanes. */
typedef struct modulus {
    vec m, inv, offset;
} modulus;

/* ozg_mod_sum() */
VEC vec mod_sum(const modulus *q, vec old, vec sum)
{
    const vec v = vec_xor(sum, vec_set1(UINT32_C(0x80000000)));
    vec r = vec_sub(v, vec_mul(vec_mul_high(v, q->inv), q->m));

    r = vec_add(r, vec_add(old, q->offset));
    r = vec_min(r, vec_sub(r, vec_add(q->m, q->m)));
    return vec_min(r, vec_sub(r, q->m));
}

/* x mod m for x < 3 m */
VEC vec mod_small(const modulus *q, vec x)
{
    x = vec_min(x, vec_sub(x, vec_add(q->m, q->m)));
    return vec_min(x, vec_sub(x, q->m));
}

VEC void reduce_real(const modulus *q, int first, const int32_t *sums, uint8_t *re)
{
    const vec old = first ? vec_set1(0) : vec_load_u8(re);

    vec_store_low8(re, mod_sum(q, old, vec_load(sums)));
}

VEC void reduce_complex(const modulus *q, int first, const int32_t *s0, const int32_t *s1, const int32_t *s2,
                        uint8_t *re, uint8_t *im)
{
    const vec zero = vec_set1(0);
    const vec old_re = first ? zero : vec_load_u8(re), old_im = first ? zero : vec_load_u8(im);
    const vec p0 = mod_sum(q, zero, vec_load(s0)), p1 = mod_sum(q, zero, vec_load(s1));
    const vec p2 = mod_sum(q, old_im, vec_load(s2)), minus_p1 = vec_sub(q->m, p1);

    vec_store_low8(re, mod_small(q, vec_add(old_re, vec_add(p0, minus_p1))));
    vec_store_low8(im, mod_small(q, vec_add(vec_add(p2, minus_p1), vec_sub(q->m, p0))));
}

TARGET void STAGE(reduce)(const ozg_rns *rns, int l, int complex_, int mr, int columns, int first,
                          const int32_t *const sums[3], void *re, void *im, int64_t ld)
{
    uint8_t *re8 = re, *im8 = im;
    const modulus q = {vec_set1(rns->m[l]), vec_set1(rns->inv[l]), vec_set1(rns->offset[l])};

    for (int j = 0; j < columns; j++)
        for (int i = 0; i < mr; i += VEC_LANES) { /* mr is a multiple of 16 */
            const int at = j * mr + i;

            if (complex_)
                reduce_complex(&q, first, sums[0] + at, sums[1] + at, sums[2] + at, re8 + i + j * ld,
                               im8 + i + j * ld);
            else
                reduce_real(&q, first, sums[0] + at, re8 + i + j * ld);
        }
}

#include "cpu/crt8_tmpl.h"

#undef OFFSET
