/*
 * stages_tmpl.h - scale, split, reduce and reconstruct as loops over whole strips, which compilers turn into
 * vector code.
 *
 * Include with
 *     STAGE(name)   the name with the suffix of the instruction set, e.g. ozg_##name##_avx2
 *     TARGET        the function attribute that allows it
 * Same bits as the _ref versions (tests/kernels compares each). All integer arithmetic, see arith/residue.h.
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

/* ---- reduce ------------------------------------------------------------------------------------- */

/* out[i] = (old[i] + sum[i]) mod m; in and out may be the same. */
TARGET static inline void add_sums(uint32_t m, uint32_t inv, uint32_t offset, int rows, const uint32_t *old,
                                   const int32_t *sum, uint32_t *out)
{
    for (int i = 0; i < rows; i++)
        out[i] = ozg_mod_sum(old[i], sum[i], m, inv, offset);
}

TARGET void STAGE(reduce)(const ozg_rns *rns, int l, int complex_, int rows, int first,
                          const int32_t *const sums[3], uint8_t *re, uint8_t *im)
{
    const uint32_t m = rns->m[l], inv = rns->inv[l], offset = rns->offset[l];
    uint32_t old[OZG_MR_MAX], p0[OZG_MR_MAX], p1[OZG_MR_MAX], p2[OZG_MR_MAX];
    const uint32_t zero[OZG_MR_MAX] = {0};

    for (int i = 0; i < rows; i++)
        old[i] = first ? 0 : re[i];
    if (!complex_) {
        add_sums(m, inv, offset, rows, old, sums[0], p0);
        for (int i = 0; i < rows; i++)
            re[i] = (uint8_t)p0[i];
        return;
    }
    add_sums(m, inv, offset, rows, zero, sums[0], p0);
    add_sums(m, inv, offset, rows, zero, sums[1], p1);
    add_sums(m, inv, offset, rows, zero, sums[2], p2);
    for (int i = 0; i < rows; i++) {
        uint32_t x = old[i] + p0[i] + m - p1[i], y = (first ? 0 : im[i]) + p2[i] + 2 * m - p0[i] - p1[i];

        re[i] = (uint8_t)ozg_mod(x, m, inv);
        im[i] = (uint8_t)ozg_mod(y, m, inv);
    }
}

/* ---- reconstruct -------------------------------------------------------------------------------- */

TARGET void STAGE(crt)(const ozg_rns *rns, const uint8_t *residues, size_t plane, uint32_t (*out)[OZG_STRIP])
{
    uint32_t r[OZG_NMOD_MAX][OZG_STRIP], q[OZG_STRIP];
    int32_t carry[OZG_STRIP] = {0};

    for (int e = 0; e < OZG_STRIP; e++)
        q[e] = UINT32_C(1) << (rns->quotient_shift - 1);
    for (int l = 0; l < rns->nmod; l++) {
        const uint8_t *in = residues + (size_t)l * plane;
        const uint32_t quotient = rns->quotient[l];

        for (int e = 0; e < OZG_STRIP; e++)
            r[l][e] = in[e];
        for (int e = 0; e < OZG_STRIP; e++)
            q[e] += r[l][e] * quotient;
    }
    for (int e = 0; e < OZG_STRIP; e++)
        q[e] >>= rns->quotient_shift;
    for (int i = 0; i < rns->nlimb; i++) {
        const uint32_t product = rns->product[i];
        uint32_t sum[OZG_STRIP];

        for (int e = 0; e < OZG_STRIP; e++)
            sum[e] = (uint32_t)carry[e] - q[e] * product;
        for (int l = 0; l < rns->nmod; l++) {
            const uint32_t weight = rns->weight[l][i];

            for (int e = 0; e < OZG_STRIP; e++)
                sum[e] += r[l][e] * weight;
        }
        for (int e = 0; e < OZG_STRIP; e++) {
            out[i][e] = sum[e] & 0xffff;
            carry[e] = (int32_t)sum[e] >> 16;
        }
    }
}

#undef ABS_BITS
