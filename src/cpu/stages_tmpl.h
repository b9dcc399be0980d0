/*
 * stages_tmpl.h - scale, split, reduce and reconstruct as loops over whole strips, which compilers turn into
 * vector code.
 *
 * Include with
 *     STAGE(name)   the name with the suffix of the instruction set, e.g. ozg_##name##_avx2
 *     TARGET        the function attribute that allows it
 *     vec, VEC_LANES, vec_load, vec_store, vec_set1, vec_madd   vectors of 32-bit numbers; vec_madd(acc, x,
 * y) adds the products of the signed 16-bit halves of x and y Same bits as the _ref versions (tests/kernels
 * compares each). All integer arithmetic, see arith/residue.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cpu/stages.h"

#define ABS_BITS (~OZG_F64_SIGN)

/* ---- scale -------------------------------------------------------------------------------------- */

/* largest[i] = max over p of |x[i + p ld]|, `count` contiguous doubles a step. */
TARGET static void largest_across(const unsigned char *x, int64_t step, int64_t k, int64_t count,
                                  uint64_t *largest)
{
    for (int64_t p = 0; p < k; p++, x += 8 * step)
        for (int64_t i = 0; i < count; i++) {
            int64_t bits;

            memcpy(&bits, x + 8 * i, 8);
            bits &= (int64_t)ABS_BITS;
            largest[i] = (int64_t)largest[i] < bits ? (uint64_t)bits : largest[i];
        }
}

/* max |x[p]| over n contiguous doubles */
TARGET static uint64_t largest_along(const unsigned char *x, int64_t n)
{
    int64_t most[8] = {0};
    int64_t p = 0;

    for (; p + 8 <= n; p += 8)
        for (int q = 0; q < 8; q++) {
            int64_t bits;

            memcpy(&bits, x + 8 * (p + q), 8);
            bits &= (int64_t)ABS_BITS;
            most[q] = most[q] < bits ? bits : most[q];
        }
    for (; p < n; p++) {
        int64_t bits;

        memcpy(&bits, x + 8 * p, 8);
        bits &= (int64_t)ABS_BITS;
        most[0] = most[0] < bits ? bits : most[0];
    }
    for (int q = 1; q < 8; q++)
        most[0] = most[0] < most[q] ? most[q] : most[0];
    return (uint64_t)most[0];
}

TARGET void STAGE(scale)(const ozg_view *v, int64_t k, int64_t i0, int64_t i1, uint64_t *largest)
{
    const unsigned char *x = v->x;

    if (v->type == 'd' && v->line_stride == 1) {
        for (int64_t i = i0; i < i1; i++)
            largest[i - i0] = 0;
        largest_across(x + 8 * i0, v->step, k, i1 - i0, largest);
    } else if ((v->type == 'd' || v->type == 'z') && v->step == 1) {
        const int64_t parts = v->type == 'z' ? 2 : 1;

        for (int64_t i = i0; i < i1; i++)
            largest[i - i0] = largest_along(x + 8 * parts * i * v->line_stride, parts * k);
    } else {
        ozg_scale_ref(v, k, i0, i1, largest);
    }
}

/* ---- split -------------------------------------------------------------------------------------- */

/* 21-bit limbs of the magnitudes of a batch: limb i of element e in u[i][e]; neg[e] all ones or 0. */
TARGET static void limbs_of_batch(int count, int limbs, const uint64_t *bits, const int32_t *d,
                                  uint32_t (*u)[OZG_SPLIT_BATCH], uint32_t *neg)
{
    uint64_t mant[OZG_SPLIT_BATCH];
    int64_t shift[OZG_SPLIT_BATCH];

    for (int e = 0; e < count; e++) { /* ozg_scale_bits() in 64-bit lanes */
        int64_t x = (int64_t)bits[e], exponent = x >> 52 & 0x7ff, up, down;
        uint64_t m = (bits[e] & ((UINT64_C(1) << 52) - 1)) | (exponent > 0 ? UINT64_C(1) << 52 : 0);

        up = (exponent > 0 ? exponent : 1) - 1075 + d[e];
        down = up < 0 ? -up : 0;
        down = down > 63 ? 63 : down;
        /* for down = 0 both added terms are 0 */
        mant[e] =
            (m + ((UINT64_C(1) << down) >> 1) - (down > 0) + (m >> down & (uint64_t)(down > 0))) >> down;
        shift[e] = up > 0 ? up : 0;
    }
    for (int e = 0; e < count; e++)
        neg[e] = (uint32_t) - (int32_t)(bits[e] >> 63);
    for (int i = 0; i < limbs; i++)
        for (int e = 0; e < count; e++) { /* ozg_limb() */
            int64_t left = shift[e] - OZG_LIMB_BITS * i, right = -left;

            left = left > 0 ? left : 0;
            left = left > 63 ? 63 : left;
            right = right > 0 ? right : 0;
            right = right > 63 ? 63 : right;
            u[i][e] = (uint32_t)(mant[e] << left >> right & OZG_LIMB_MASK);
        }
}

/* r[e] = x^ mod m_l in [0, m_l), from the limbs. */
TARGET static void residues_of_limbs(const ozg_rns *rns, int l, int count, int limbs,
                                     uint32_t (*u)[OZG_SPLIT_BATCH], const uint32_t *neg, uint32_t *r)
{
    const uint32_t m = rns->m[l], inv = rns->inv[l], *power = rns->power[l];
    uint32_t v[OZG_SPLIT_BATCH];

    if (limbs <= 3) {
        const uint32_t p1 = power[1], p2 = power[2];

        for (int e = 0; e < count; e++)
            v[e] = u[0][e] + u[1][e] * p1 + u[2][e] * p2;
    } else {
        for (int e = 0; e < count; e++)
            v[e] = u[0][e];
        for (int i = 1; i < limbs; i++)
            for (int e = 0; e < count; e++)
                v[e] += u[i][e] * power[i];
    }
    for (int e = 0; e < count; e++) {
        uint32_t x = v[e] - (uint32_t)((uint64_t)v[e] * inv >> 32) * m;
        uint32_t y = x - m, z; /* wraps to a large number if x < m: the minimum is x mod m */

        x = x < y ? x : y;
        z = m - x;
        z = z == m ? 0 : z;
        r[e] = (x & ~neg[e]) | (z & neg[e]);
    }
}

TARGET static void store_residues(const ozg_layout *layout, uint32_t m, int count, const uint32_t *r,
                                  unsigned char *out)
{
    const uint32_t half = layout->nonneg ? UINT32_MAX : m / 2;
    int8_t bytes[OZG_SPLIT_BATCH];
    int16_t words[OZG_SPLIT_BATCH];
    const int whole = (count + 15) & ~15;

    if (layout->word == 1) {
        for (int e = 0; e < whole; e++)
            bytes[e] = (int8_t)(r[e] - (r[e] > half ? m : 0));
        memcpy(out, bytes, (size_t)count);
    } else {
        for (int e = 0; e < whole; e++)
            words[e] = (int16_t)(r[e] - (r[e] > half ? m : 0));
        memcpy(out, words, 2 * (size_t)count);
    }
}

TARGET void STAGE(split)(const ozg_rns *rns, int width, const ozg_layout *layout, int complex_,
                         const ozg_batch *batch, unsigned char *out, size_t plane)
{
    const int limbs = width / OZG_LIMB_BITS + 1, s = rns->nmod, count = (batch->count + 15) & ~15;
    uint32_t u[2][OZG_SPLIT_LIMBS][OZG_SPLIT_BATCH], neg[2][OZG_SPLIT_BATCH];
    uint32_t re[OZG_SPLIT_BATCH], im[OZG_SPLIT_BATCH];

    for (int i = limbs; i < 3; i++)
        memset(u[0][i], 0, sizeof u[0][i]), memset(u[1][i], 0, sizeof u[1][i]);
    limbs_of_batch(count, limbs, batch->re, batch->d, u[0], neg[0]);
    if (complex_)
        limbs_of_batch(count, limbs, batch->im, batch->d, u[1], neg[1]);
    for (int l = 0; l < s; l++) {
        const uint32_t m = rns->m[l];

        residues_of_limbs(rns, l, count, limbs, u[0], neg[0], re);
        store_residues(layout, m, batch->count, re, out + (size_t)l * plane);
        if (!complex_)
            continue;
        residues_of_limbs(rns, l, count, limbs, u[1], neg[1], im);
        store_residues(layout, m, batch->count, im, out + (size_t)(s + l) * plane);
        for (int e = 0; e < count; e++) {
            uint32_t x = re[e] + im[e], y = x - m;

            re[e] = x < y ? x : y;
        }
        store_residues(layout, m, batch->count, re, out + (size_t)(2 * s + l) * plane);
    }
}

/* ---- reduce -------------------------------------------------------------------------------------- */

#define ROWS 16 /* at once; mr is a multiple */

/* ozg_mod_sum() and ozg_mod() with minima in place of comparisons: x - m wraps to a large number if x < m. */
TARGET static inline uint32_t mod_sum(uint32_t old, int32_t sum, uint32_t m, uint32_t inv, uint32_t offset)
{
    uint32_t v = (uint32_t)sum ^ UINT32_C(0x80000000);
    uint32_t r = v - (uint32_t)((uint64_t)v * inv >> 32) * m + old + offset;

    r = r - 2 * m < r ? r - 2 * m : r;
    return r - m < r ? r - m : r;
}

TARGET static void reduce_real(uint32_t m, uint32_t inv, uint32_t offset, int first, const int32_t *sums,
                               uint8_t *re)
{
    uint32_t old[ROWS], new[ROWS];

    for (int i = 0; i < ROWS; i++)
        old[i] = re[i];
    for (int i = 0; i < ROWS; i++)
        new[i] = mod_sum(first ? 0 : old[i], sums[i], m, inv, offset);
    for (int i = 0; i < ROWS; i++)
        re[i] = (uint8_t) new[i];
}

TARGET static void reduce_complex(uint32_t m, uint32_t inv, uint32_t offset, int first, const int32_t *s0,
                                  const int32_t *s1, const int32_t *s2, uint8_t *re, uint8_t *im)
{
    uint32_t old_re[ROWS], old_im[ROWS], new_re[ROWS], new_im[ROWS];

    for (int i = 0; i < ROWS; i++) {
        old_re[i] = re[i];
        old_im[i] = im[i];
    }
    for (int i = 0; i < ROWS; i++) {
        const uint32_t p0 = mod_sum(0, s0[i], m, inv, offset), p1 = mod_sum(0, s1[i], m, inv, offset);
        uint32_t x = (first ? 0 : old_re[i]) + p0 + m - p1;                                   /* < 3 m */
        uint32_t y = mod_sum(first ? 0 : old_im[i], s2[i], m, inv, offset) + 2 * m - p0 - p1; /* < 3 m */

        x = x - 2 * m < x ? x - 2 * m : x;
        y = y - 2 * m < y ? y - 2 * m : y;
        new_re[i] = x - m < x ? x - m : x;
        new_im[i] = y - m < y ? y - m : y;
    }
    for (int i = 0; i < ROWS; i++) {
        re[i] = (uint8_t)new_re[i];
        im[i] = (uint8_t)new_im[i];
    }
}

TARGET void STAGE(reduce)(const ozg_rns *rns, int l, int complex_, int mr, int columns, int first,
                          const int32_t *const sums[3], uint8_t *re, uint8_t *im, int64_t ld)
{
    const uint32_t m = rns->m[l], inv = rns->inv[l], offset = rns->offset[l];

    for (int j = 0; j < columns; j++)
        for (int i = 0; i < mr; i += ROWS) {
            const int at = j * mr + i;

            if (complex_)
                reduce_complex(m, inv, offset, first, sums[0] + at, sums[1] + at, sums[2] + at,
                               re + i + j * ld, im + i + j * ld);
            else
                reduce_real(m, inv, offset, first, sums[0] + at, re + i + j * ld);
        }
}

/* ---- reconstruct --------------------------------------------------------------------------------- */

#define VECTORS (OZG_STRIP / VEC_LANES)

/* The residues of a strip and its quotient q as number nmod, in pairs of 16-bit numbers. */
TARGET static void pair_residues(const ozg_rns *rns, const uint8_t *residues, size_t plane,
                                 uint32_t (*pairs)[OZG_STRIP])
{
    uint32_t q[OZG_STRIP];

    for (int e = 0; e < OZG_STRIP; e++)
        q[e] = UINT32_C(1) << (rns->quotient_shift - 1);
    for (int j = 0; j < rns->npair; j++)
        for (int e = 0; e < OZG_STRIP; e++)
            pairs[j][e] = 0;
    for (int l = 0; l < rns->nmod; l++) {
        const uint8_t *in = residues + (size_t)l * plane;
        const uint32_t quotient = rns->quotient[l], shift = l % 2 ? 16 : 0;
        uint32_t *pair = pairs[l / 2];

        for (int e = 0; e < OZG_STRIP; e++) {
            const uint32_t r = in[e];

            q[e] += r * quotient;
            pair[e] |= r << shift;
        }
    }
    for (int e = 0; e < OZG_STRIP; e++)
        pairs[rns->nmod / 2][e] |= q[e] >> rns->quotient_shift << (rns->nmod % 2 ? 16 : 0);
}

/* Limb i of the sum of all pairs times their digits: below 2^30, since |digit| <= 2^15 and sum r < 2^14. */
TARGET static void sum_limb(const ozg_rns *rns, int i, uint32_t (*pairs)[OZG_STRIP], int32_t *sum)
{
    vec acc[VECTORS];

    for (int v = 0; v < VECTORS; v++)
        acc[v] = vec_load(sum + v * VEC_LANES);
    for (int j = 0; j < rns->npair; j++) {
        const vec digits = vec_set1((int32_t)rns->pair[j][i]);

        for (int v = 0; v < VECTORS; v++)
            acc[v] = vec_madd(acc[v], vec_load(pairs[j] + v * VEC_LANES), digits);
    }
    for (int v = 0; v < VECTORS; v++)
        vec_store(sum + v * VEC_LANES, acc[v]);
}

TARGET void STAGE(crt)(const ozg_rns *rns, const uint8_t *residues, size_t plane, uint64_t (*out)[OZG_STRIP])
{
    _Alignas(64) uint32_t pairs[(OZG_NMOD_MAX + 2) / 2][OZG_STRIP], low[4][OZG_STRIP];
    _Alignas(64) int32_t sum[OZG_STRIP] = {0}; /* of a limb; its upper part is the carry into the next */

    pair_residues(rns, residues, plane, pairs);
    for (int w = 0; w < rns->nword; w++) {
        for (int q = 0; q < 4; q++) {
            sum_limb(rns, 4 * w + q, pairs, sum);
            for (int e = 0; e < OZG_STRIP; e++) {
                low[q][e] = (uint32_t)sum[e] & 0xffff;
                sum[e] >>= 16;
            }
        }
        for (int e = 0; e < OZG_STRIP; e++)
            out[w][e] = (uint64_t)(low[2][e] | low[3][e] << 16) << 32 | (low[0][e] | low[1][e] << 16);
    }
}

#undef ABS_BITS
#undef ROWS
#undef VECTORS
