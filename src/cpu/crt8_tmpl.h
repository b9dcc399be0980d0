/*
 * crt8_tmpl.h - what crt does with 8-bit residues, in vectors. Included by the files that have split and
 * reduce.
 *
 * SPDX-License-Identifier: MIT
 */

#define VECTORS (OZG_STRIP / VEC_LANES)

/* The residues of a strip, and its quotient q as number nmod, in pairs of 16-bit numbers. */
TARGET static void pair_residues(const ozg_rns *rns, const uint8_t *residues, size_t plane,
                                 vec pairs[(OZG_NMOD_MAX + 2) / 2][VECTORS])
{
    const int s = rns->nmod;

    for (int v = 0; v < VECTORS; v++) {
        vec q = vec_set1(UINT32_C(1) << (rns->quotient_shift - 1));

        for (int l = 0; l < s; l++) {
            const vec r = vec_load_u8(residues + (size_t)l * plane + v * VEC_LANES);

            q = vec_add(q, vec_mul(r, vec_set1(rns->quotient[l])));
            pairs[l / 2][v] = l % 2 ? vec_or(pairs[l / 2][v], vec_shift_left(r, 16)) : r;
        }
        q = vec_shift_right(q, rns->quotient_shift);
        pairs[s / 2][v] = s % 2 ? vec_or(pairs[s / 2][v], vec_shift_left(q, 16)) : q;
    }
}

#define AT_ONCE (8 / VECTORS) /* limbs: enough independent sums to keep the multipliers busy */

/*
 * Limbs i, i + 1, ... of all pairs times their digits: below 2^30 in magnitude, since |digit| <= 2^15 and
 * the numbers add up to less than 2^14.
 */
VEC void sum_limbs(const ozg_rns *rns, int i, vec (*pairs)[VECTORS], vec (*sum)[VECTORS])
{
    vec acc[AT_ONCE][VECTORS];

    for (int g = 0; g < AT_ONCE; g++)
        for (int v = 0; v < VECTORS; v++)
            acc[g][v] = vec_set1(0);
    for (int j = 0; j < rns->npair; j++)
        for (int g = 0; g < AT_ONCE; g++) {
            const vec digits_of_limb = vec_set1(rns->pair[j][i + g]);

            for (int v = 0; v < VECTORS; v++)
                acc[g][v] = vec_madd(acc[g][v], pairs[j][v], digits_of_limb);
        }
    for (int g = 0; g < AT_ONCE; g++)
        for (int v = 0; v < VECTORS; v++)
            sum[g][v] = acc[g][v];
}

TARGET void STAGE(crt)(const ozg_rns *rns, const void *residues, size_t plane, uint64_t (*out)[OZG_STRIP])
{
    const vec mask = vec_set1(0xffff);
    vec pairs[(OZG_NMOD_MAX + 2) / 2][VECTORS], limb[4][VECTORS], carry[VECTORS];

    pair_residues(rns, residues, plane, pairs);
    for (int v = 0; v < VECTORS; v++)
        carry[v] = vec_set1(0);
    for (int w = 0; w < rns->nword; w++) {
        for (int q = 0; q < 4; q += AT_ONCE)
            sum_limbs(rns, 4 * w + q, pairs, limb + q);
        for (int v = 0; v < VECTORS; v++) {
            for (int q = 0; q < 4; q++) { /* the upper part of each sum is carried on */
                limb[q][v] = vec_add(limb[q][v], carry[v]);
                carry[v] = vec_shift_right_signed(limb[q][v], 16);
                limb[q][v] = vec_and(limb[q][v], mask);
            }
            vec_store_wide(out[w] + v * VEC_LANES, vec_or(limb[0][v], vec_shift_left(limb[1][v], 16)),
                           vec_or(limb[2][v], vec_shift_left(limb[3][v], 16)));
        }
    }
}

#undef AT_ONCE
#undef VECTORS
