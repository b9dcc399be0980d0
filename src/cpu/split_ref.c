/*
 * split_ref.c - the split stage, the plain C that defines it: residues of x^ = RN_int(x 2^d),
 * [Xe2] sec. 4.2, and the floors for lower bounds of |A||B|.
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

static void store_word(const ozg_layout *layout, unsigned char *out, int e, int32_t x)
{
    if (layout->word == 1) {
        out[e] = (unsigned char)x;
    } else {
        int16_t word = (int16_t)x;
        memcpy(out + 2 * e, &word, 2);
    }
}

static void store(const ozg_layout *layout, unsigned char *out, int e, uint32_t r, uint32_t m)
{
    store_word(layout, out, e, layout->nonneg ? (int32_t)r : ozg_symmetric(r, m));
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

void ozg_floors_ref(const ozg_layout *layout, int complex_, const ozg_batch *batch, unsigned char *out,
                    size_t plane)
{
    for (int e = 0; e < batch->count; e++) {
        const uint32_t re = ozg_floor(batch->re[e], batch->s[e]);
        const uint32_t im = complex_ ? ozg_floor(batch->im[e], batch->s[e]) : 0;

        store_word(layout, out, e, (int32_t)re);
        if (!complex_)
            continue;
        store_word(layout, out + plane, e, (int32_t)im);
        store_word(layout, out + 2 * plane, e, (int32_t)(re + im));
    }
}

void ozg_ceilings(const ozg_layout *layout, int complex_, const ozg_batch *batch, unsigned char *out,
                  size_t plane)
{
    for (int e = 0; e < batch->count; e++) {
        store_word(layout, out, e, (int32_t)ozg_ceiling(batch->re[e], batch->s[e]));
        if (complex_)
            store_word(layout, out + plane, e, (int32_t)ozg_ceiling(batch->im[e], batch->s[e]));
    }
}
