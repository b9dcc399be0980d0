/*
 * product_ref.c - the product stage, the plain C that defines it: exact sums of products of residues, reduced
 * mod m.
 *
 * |residue| <= 128, so sums over k <= 131071 elements fit 32 bits; those mod 256 may wrap, which their
 * modulus divides.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cpu/stages.h"

void ozg_product_ref(const ozg_rns *rns, int l, int64_t steps, const void *a, const void *b, int add,
                     int32_t *acc)
{
    const int8_t *x = a, *y = b;
    uint32_t sum = add ? (uint32_t)acc[0] : 0;

    (void)rns, (void)l;
    for (int64_t p = 0; p < steps; p++)
        sum += (uint32_t)(x[p] * y[p]);
    acc[0] = (int32_t)sum;
}

/* Residue number e at x. */
static uint32_t load(const void *x, int word, int64_t e)
{
    uint16_t wide;

    if (word == 1)
        return ((const uint8_t *)x)[e];
    memcpy(&wide, (const char *)x + 2 * e, 2);
    return wide;
}

static void store(void *x, int word, int64_t e, uint32_t r)
{
    const uint16_t wide = (uint16_t)r;

    if (word == 1)
        ((uint8_t *)x)[e] = (uint8_t)r;
    else
        memcpy((char *)x + 2 * e, &wide, 2);
}

/* Entry e of re and im. */
static void reduce_entry(const ozg_rns *rns, int l, int complex_, int first, int32_t s0, int32_t s1,
                         int32_t s2, void *re, void *im, int64_t e)
{
    const uint32_t m = rns->m[l], inv = rns->inv[l], offset = rns->offset[l];
    const uint32_t old_re = first ? 0 : load(re, rns->word, e);
    uint32_t old_im, p0, p1;

    if (!complex_) {
        store(re, rns->word, e, ozg_mod_sum(old_re, s0, m, inv, offset));
        return;
    }
    old_im = first ? 0 : load(im, rns->word, e);
    p0 = ozg_mod_sum(0, s0, m, inv, offset);
    p1 = ozg_mod_sum(0, s1, m, inv, offset);
    store(re, rns->word, e, ozg_mod(old_re + p0 + m - p1, m, inv));
    store(im, rns->word, e, ozg_mod(ozg_mod_sum(old_im, s2, m, inv, offset) + 2 * m - p0 - p1, m, inv));
}

void ozg_reduce_ref(const ozg_rns *rns, int l, int complex_, int mr, int columns, int first,
                    const int32_t *const sums[3], void *re, void *im, int64_t ld)
{
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < mr; i++) {
            const int at = j * mr + i;

            reduce_entry(rns, l, complex_, first, sums[0][at], complex_ ? sums[1][at] : 0,
                         complex_ ? sums[2][at] : 0, re, im, i + j * ld);
        }
}
