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

void ozg_product_ref(int64_t steps, const void *a, const void *b, int add, int32_t *acc)
{
    const int8_t *x = a, *y = b;
    uint32_t sum = add ? (uint32_t)acc[0] : 0;

    for (int64_t p = 0; p < steps; p++)
        sum += (uint32_t)(x[p] * y[p]);
    acc[0] = (int32_t)sum;
}

/* One entry: old and new residues at re and im. */
static void reduce_entry(uint32_t m, uint32_t inv, uint32_t offset, int complex_, int first, int32_t s0,
                         int32_t s1, int32_t s2, uint8_t *re, uint8_t *im)
{
    const uint32_t old_re = first ? 0 : *re, old_im = complex_ && !first ? *im : 0;
    uint32_t p0, p1;

    if (!complex_) {
        *re = (uint8_t)ozg_mod_sum(old_re, s0, m, inv, offset);
        return;
    }
    p0 = ozg_mod_sum(0, s0, m, inv, offset);
    p1 = ozg_mod_sum(0, s1, m, inv, offset);
    *re = (uint8_t)ozg_mod(old_re + p0 + m - p1, m, inv);
    *im = (uint8_t)ozg_mod(ozg_mod_sum(old_im, s2, m, inv, offset) + 2 * m - p0 - p1, m, inv);
}

void ozg_reduce_ref(const ozg_rns *rns, int l, int complex_, int mr, int columns, int first,
                    const int32_t *const sums[3], uint8_t *re, uint8_t *im, int64_t ld)
{
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < mr; i++) {
            const int at = j * mr + i;

            reduce_entry(rns->m[l], rns->inv[l], rns->offset[l], complex_, first, sums[0][at],
                         complex_ ? sums[1][at] : 0, complex_ ? sums[2][at] : 0, re + i + j * ld,
                         im + i + j * ld);
        }
}
