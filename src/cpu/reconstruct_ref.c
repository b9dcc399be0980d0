/*
 * reconstruct_ref.c - the Chinese remainder theorem, the plain C that defines it. [Xe2] sec. 4.4.
 *
 *     Z = sum_l r_l weight_l,   q = rint(Z / M),   c^ = Z - q M
 *
 * Limbs are summed in 64 bits: 49 * 255 * 65535 and 26 * 65535 * 65535 are far below 2^63. The rounding to
 * the result that follows is ozg_entry_update().
 *
 * SPDX-License-Identifier: MIT
 */
#include "cpu/stages.h"

/* Residue l of row e. */
static uint64_t residue(const ozg_rns *rns, const void *residues, size_t plane, int l, int e)
{
    const unsigned char *at = (const unsigned char *)residues + (size_t)l * plane + (size_t)(e * rns->word);
    uint16_t wide;

    if (rns->word == 1)
        return *at;
    memcpy(&wide, at, 2);
    return wide;
}

void ozg_crt_ref(const ozg_rns *rns, const void *residues, size_t plane, uint64_t (*out)[OZG_STRIP])
{
    for (int e = 0; e < OZG_STRIP; e++) {
        uint64_t z = UINT64_C(1) << (rns->quotient_shift - 1), q;
        int64_t carry = 0;

        for (int l = 0; l < rns->nmod; l++)
            z += residue(rns, residues, plane, l, e) * rns->quotient[l];
        q = z >> rns->quotient_shift;
        for (int w = 0; w < rns->nword; w++)
            out[w][e] = 0;
        for (int i = 0; i < rns->nlimb; i++) {
            uint64_t sum = (uint64_t)carry - q * rns->product[i];

            for (int l = 0; l < rns->nmod; l++)
                sum += residue(rns, residues, plane, l, e) * rns->weight[l][i];
            out[i / 4][e] |= (sum & 0xffff) << 16 * (i % 4);
            carry = (int64_t)(sum - (sum & 0xffff)) / 65536; /* exact */
        }
    }
}

void ozg_round_ref(int single, int n, uint64_t (*words)[OZG_STRIP], const int32_t *d, int32_t exponent,
                   int negate, uint64_t *out)
{
    for (int e = 0; e < OZG_STRIP; e++) {
        const int neg = (int)(words[n - 1][e] >> 63);
        uint64_t magnitude[OZG_CRT_WORDS], carry = (uint64_t)neg;

        for (int w = 0; w < n; w++) {
            magnitude[w] = (words[w][e] ^ (neg ? UINT64_MAX : 0)) + carry;
            carry &= magnitude[w] == 0;
        }
        out[e] = ozg_round_words(single, neg ^ negate, magnitude, n, (int64_t)exponent - d[e]);
    }
}

void ozg_bounds_ref(const ozg_lines *a, int64_t i, int count, const ozg_factors *b, uint64_t *bound,
                    int32_t *most, int32_t *least)
{
    for (int e = 0; e < count; e++) {
        const ozg_factors row = ozg_factors_of(a, i + e);

        bound[e] = ozg_bound(&row, b);
        most[e] = row.w > b->w ? row.w : b->w;
        least[e] = row.w > b->w ? b->w : row.w;
    }
}

void ozg_doubt_ref(int single, int n, uint64_t (*words)[OZG_STRIP], const int32_t *d, int32_t exponent,
                   const uint64_t *bound, const int32_t *shift, uint8_t *doubt)
{
    (void)single, (void)n, (void)words, (void)d, (void)exponent, (void)shift;
    for (int e = 0; e < OZG_STRIP; e++)
        doubt[e] = bound[e] != 0;
}

void ozg_passes_ref(const uint64_t *bound, const int32_t *shift, uint32_t f, const uint64_t *floors, int c,
                    uint8_t *pass)
{
    for (int e = 0; e < OZG_STRIP; e++)
        pass[e] = (uint8_t)ozg_bound_fits(bound[e], f * (uint64_t)(uint32_t)(floors[e] >> c), shift[e]);
}
