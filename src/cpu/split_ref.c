/*
 * split_ref.c - the split stage, the plain C that defines it: residues of x^ = RN_int(x 2^d). [Xe2] sec. 4.2.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cpu/stages.h"

/* x^ mod m_l in [0, m_l) */
static uint32_t residue(const ozg_rns *rns, int l, int limbs, uint64_t bits, int32_t d)
{
    ozg_scaled z = ozg_scale_bits(bits, d);
    uint64_t v = 0;
    uint32_t r;

    for (int i = 0; i < limbs; i++)
        v += (uint64_t)ozg_limb(z.mant, z.shift, i) * rns->power[l][i];
    r = (uint32_t)(v % rns->m[l]);
    return z.neg ? ozg_mod_negate(r, rns->m[l]) : r;
}

static void store(const ozg_layout *layout, unsigned char *out, int e, uint32_t r, uint32_t m)
{
    int32_t x = layout->nonneg ? (int32_t)r : ozg_symmetric(r, m);

    if (layout->word == 1) {
        out[e] = (unsigned char)x;
    } else {
        int16_t word = (int16_t)x;
        memcpy(out + 2 * e, &word, 2);
    }
}

void ozg_split_ref(const ozg_rns *rns, int width, const ozg_layout *layout, int complex_,
                   const ozg_batch *batch, unsigned char *out, size_t plane)
{
    const int limbs = width / OZG_LIMB_BITS + 1, s = rns->nmod; /* ceil((width + 1) / 21) */

    for (int l = 0; l < s; l++)
        for (int e = 0; e < batch->count; e++) {
            uint32_t m = rns->m[l], re = residue(rns, l, limbs, batch->re[e], batch->d[e]), im;

            store(layout, out + (size_t)l * plane, e, re, m);
            if (!complex_)
                continue;
            im = residue(rns, l, limbs, batch->im[e], batch->d[e]);
            store(layout, out + (size_t)(s + l) * plane, e, im, m);
            store(layout, out + (size_t)(2 * s + l) * plane, e, re + im >= m ? re + im - m : re + im, m);
        }
}
