/*
 * limbs.h - exact integers of several words, and the one rounding of alpha c^ 2^x + beta C.
 *
 * Written once for C11, CUDA C and OpenCL C.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_ARITH_LIMBS_H
#define OZG_ARITH_LIMBS_H

#include <stdint.h>

#include "arith/ieee.h"

/* |c^| < M / 2 < 2^344: 6 words; times a 53-bit scalar: 7 words. */
#define OZG_INT_WORDS  6
#define OZG_TERM_WORDS (OZG_INT_WORDS + 1)

/* The integer (-1)^neg sum_i w[i] 2^(64 i) over n words. */
typedef struct ozg_int {
    uint64_t w[OZG_INT_WORDS];
    int n;
    int neg;
} ozg_int;

/* The number (-1)^neg (sum_i w[i] 2^(64 i)) 2^exp over n words; 0 if all words are 0. */
typedef struct ozg_term {
    uint64_t w[OZG_TERM_WORDS];
    int n;
    int neg;
    int32_t exp;
} ozg_term;

/* hi 2^64 + lo = a b + c, which never overflows. */
OZG_INLINE uint64_t ozg_mul_add(uint64_t a, uint64_t b, uint64_t c, uint64_t *hi)
{
#if defined(__SIZEOF_INT128__)
    __extension__ typedef unsigned __int128 u128;
    u128 p = (u128)a * b + c;

    *hi = (uint64_t)(p >> 64);
    return (uint64_t)p;
#else
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t p0 = a0 * b0, p1 = a0 * b1 + (p0 >> 32), p2 = a1 * b0 + (uint32_t)p1;
    uint64_t lo = p2 << 32 | (uint32_t)p0, sum = lo + c;

    *hi = a1 * b1 + (p1 >> 32) + (p2 >> 32) + (sum < lo);
    return sum;
#endif
}

OZG_INLINE int ozg_int_is_zero(const ozg_int *z)
{
    uint64_t any = 0;

    for (int i = 0; i < z->n; i++)
        any |= z->w[i];
    return any == 0;
}

/* s z 2^x */
OZG_INLINE ozg_term ozg_term_scaled(ozg_fp s, const ozg_int *z, int32_t x)
{
    ozg_term t = {{0}, z->n + 1, s.neg ^ z->neg, s.exp + x};
    uint64_t carry = 0;

    for (int i = 0; i < z->n; i++) /* mant is 1 for powers of two: the usual case */
        t.w[i] = s.mant == 1 ? z->w[i] : ozg_mul_add(s.mant, z->w[i], carry, &carry);
    t.w[z->n] = carry;
    return t;
}

/* s c */
OZG_INLINE ozg_term ozg_term_product(ozg_fp s, ozg_fp c)
{
    ozg_term t = {{0}, 2, s.neg ^ c.neg, s.exp + c.exp};

    t.w[0] = ozg_mul_add(s.mant, c.mant, 0, &t.w[1]);
    return t;
}

/* Round (-1)^neg (sum_i w[i] 2^(64 i)) 2^exp over n words once. An exact zero is +0. */
OZG_INLINE uint64_t ozg_round_words(int single, int neg, const uint64_t *w, int n, int64_t exp)
{
    uint64_t top, below, sticky = 0;
    int bits;

    while (n > 0 && !w[n - 1])
        n--;
    if (n == 0)
        return 0;
    bits = ozg_bit_length(w[n - 1]);
    below = n > 1 ? w[n - 2] : 0;
    top = bits < 64 ? w[n - 1] << (64 - bits) | below >> bits : w[n - 1];
    sticky = bits < 64 ? below << (64 - bits) : below;
    for (int i = 0; i < n - 2; i++)
        sticky |= w[i];
    return ozg_round_bits(single, neg, top, sticky != 0, exp + 64 * (int64_t)(n - 1) + bits - 1);
}

/*
 * The exact sum of a few terms needs no more than the distance between the highest and the lowest bit that
 * can occur. Shifts along k are at most 1100 in magnitude:
 *     lowest    scalar 2^-1074, x = -D - E with D, E <= width - e(max) <= 172 + 1073 + 1100:   2^-5764
 *     highest   scalar < 2^1024, x <= 2 (1024 + 1100), |c^| < 2^384:                            2^5656
 * One word more for the carries of four terms, one for the sign, one for the alignment.
 */
#define OZG_SUM_WORDS ((5764 + 5656) / 64 + 4)

/* acc += or -= (neg) the count words w, at bit offset (two's complement in n words). */
OZG_INLINE void ozg_sum_add(uint64_t *acc, int n, const uint64_t *w, int count, int neg, int64_t offset)
{
    int word = (int)(offset / 64), bit = (int)(offset % 64);
    uint64_t before = 0, carry = (uint64_t)neg, flip = neg ? ~UINT64_C(0) : 0;

    /* subtracting is adding the complement plus 1; below the first word the complement is all ones and 1
     * carries through */
    for (int i = word; i < n; i++) {
        uint64_t here = i - word < count ? w[i - word] : 0;
        uint64_t add = (bit ? here << bit | before >> (64 - bit) : here) ^ flip, sum = acc[i] + carry;

        carry = sum < carry;
        acc[i] = sum + add;
        carry += acc[i] < add;
        before = here;
    }
}

/* Round the number in two's complement acc 2^exp over n words once. */
OZG_INLINE uint64_t ozg_sum_round_words(int single, uint64_t *acc, int n, int64_t exp)
{
    const int neg = (int)(acc[n - 1] >> 63);

    if (neg) { /* the magnitude */
        uint64_t carry = 1;

        for (int i = 0; i < n; i++) {
            acc[i] = ~acc[i] + carry;
            carry = carry && acc[i] == 0;
        }
    }
    return ozg_round_words(single, neg, acc, n, exp);
}

/*
 * ozg_sum_round() - the sum of count terms, exact whatever their exponents, rounded once. An exact zero:
 * +0. ozg_sum_round_in() - the same in acc, OZG_SUM_WORDS words, where the stack has none to spare.
 */
OZG_INLINE uint64_t ozg_sum_round_in(uint64_t *acc, int single, const ozg_term *t, int count)
{
    int64_t lo = 0, hi = 0;
    int n, any = 0;

    if (count == 1)
        return ozg_round_words(single, t[0].neg, t[0].w, t[0].n, t[0].exp);
    for (int i = 0; i < count; i++) {
        int used = t[i].n;

        while (used > 0 && !t[i].w[used - 1])
            used--;
        if (used == 0)
            continue;
        if (!any || t[i].exp < lo)
            lo = t[i].exp;
        if (!any || t[i].exp + 64 * used > hi)
            hi = t[i].exp + 64 * used;
        any = 1;
    }
    if (!any)
        return 0;
    n = (int)((hi - lo) / 64) + 3;
    for (int i = 0; i < n; i++)
        acc[i] = 0;
    for (int i = 0; i < count; i++) {
        int used = t[i].n;

        while (used > 0 && !t[i].w[used - 1])
            used--;
        if (used)
            ozg_sum_add(acc, n, t[i].w, used, t[i].neg, t[i].exp - lo);
    }
    return ozg_sum_round_words(single, acc, n, lo);
}

OZG_INLINE uint64_t ozg_sum_round(int single, const ozg_term *t, int count)
{
    uint64_t acc[OZG_SUM_WORDS];

    return ozg_sum_round_in(acc, single, t, count);
}

#endif
