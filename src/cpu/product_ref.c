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

void ozg_product_ref(int64_t groups, const void *a, const void *b, int32_t *acc)
{
    const int8_t *x = a, *y = b;
    uint32_t sum = 0;

    for (int64_t p = 0; p < groups; p++)
        sum += (uint32_t)(x[p] * y[p]);
    acc[0] = (int32_t)sum;
}

void ozg_reduce_ref(const ozg_rns *rns, int l, int complex_, int rows, int first,
                    const int32_t *const sums[3], uint8_t *re, uint8_t *im)
{
    const uint32_t m = rns->m[l], inv = rns->inv[l], offset = rns->offset[l];

    for (int i = 0; i < rows; i++) {
        uint32_t old_re = first ? 0 : re[i], old_im, p0, p1;

        if (!complex_) {
            re[i] = (uint8_t)ozg_mod_sum(old_re, sums[0][i], m, inv, offset);
            continue;
        }
        old_im = first ? 0 : im[i];
        p0 = ozg_mod_sum(0, sums[0][i], m, inv, offset);
        p1 = ozg_mod_sum(0, sums[1][i], m, inv, offset);
        re[i] = (uint8_t)ozg_mod(old_re + p0 + m - p1, m, inv);
        im[i] = (uint8_t)ozg_mod(ozg_mod_sum(old_im, sums[2][i], m, inv, offset) + 2 * m - p0 - p1, m, inv);
    }
}
