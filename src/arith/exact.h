/*
 * exact.h - the exact sum of any number of products of doubles, whatever their exponents.
 *
 * A long accumulator in digits of 32 bits, kept in 64-bit words so that a carry is needed once in 2^29
 * products only. Written once for C11, CUDA C and OpenCL C.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_ARITH_EXACT_H
#define OZG_ARITH_EXACT_H

#include "arith/entry.h"

/*
 * Products of doubles are multiples of 2^-2148 below 2^2048, and fewer than 2^62 are added: 4258 bits and a
 * sign. Digit 0 has the weight 2^-2176 = 2^(-32 * 68).
 */
#define OZG_EXACT_LOWEST (-2176)
#define OZG_EXACT_DIGITS 136
#define OZG_EXACT_WORDS  (OZG_EXACT_DIGITS / 2)

typedef struct ozg_exact {
    int64_t digit[OZG_EXACT_DIGITS];
    uint32_t added; /* numbers since the last carry */
    int low, high;  /* digits outside of low..high are 0 */
} ozg_exact;

OZG_INLINE void ozg_exact_clear(ozg_exact *acc)
{
    for (int i = 0; i < OZG_EXACT_DIGITS; i++)
        acc->digit[i] = 0;
    acc->added = 0;
    acc->low = OZG_EXACT_DIGITS;
    acc->high = -1;
}

/* All digits but the highest into [0, 2^32): the value stays. */
OZG_INLINE void ozg_exact_carry(ozg_exact *acc)
{
    int64_t carry = 0;

    for (int i = 0; i < OZG_EXACT_DIGITS - 1; i++) {
        const int64_t digit = acc->digit[i] + carry;

        acc->digit[i] = digit & INT64_C(0xffffffff);
        carry = (digit - acc->digit[i]) / (INT64_C(1) << 32); /* exact */
    }
    acc->digit[OZG_EXACT_DIGITS - 1] += carry;
    acc->added = 0;
    acc->high = OZG_EXACT_DIGITS - 1;
}

/* acc += (-1)^neg (hi 2^64 + lo) 2^exp, exp >= OZG_EXACT_LOWEST */
OZG_INLINE void ozg_exact_add(ozg_exact *acc, uint64_t lo, uint64_t hi, int32_t exp, int neg)
{
    const int32_t at = exp - OZG_EXACT_LOWEST;
    const int bit = at % 32;
    const uint64_t top = bit ? hi >> (64 - bit) : 0, sign = neg ? UINT64_MAX : 0;
    const uint64_t low = lo << bit, high = hi << bit | (bit ? lo >> (64 - bit) : 0);
    const uint64_t part[5] = {low & 0xffffffff, low >> 32, high & 0xffffffff, high >> 32, top};
    const int first = at / 32, last = first + 4 < OZG_EXACT_DIGITS ? first + 4 : OZG_EXACT_DIGITS - 1;

    for (int i = first; i <= last; i++)
        acc->digit[i] += (int64_t)((part[i - first] ^ sign) - sign);
    acc->low = first < acc->low ? first : acc->low;
    acc->high = last > acc->high ? last : acc->high;
    if (++acc->added == UINT32_C(1) << 29)
        ozg_exact_carry(acc);
}

/* acc += (-1)^negate x y */
OZG_INLINE void ozg_exact_add_product(ozg_exact *acc, ozg_fp x, ozg_fp y, int negate)
{
    uint64_t lo, hi;

    if (x.mant == 0 || y.mant == 0)
        return;
    lo = ozg_mul_add(x.mant, y.mant, 0, &hi);
    ozg_exact_add(acc, lo, hi, x.exp + y.exp, x.neg ^ y.neg ^ negate);
}

/*
 * acc += (-1)^negate z 2^exp, a multiple of 2^-2148 even where exp is less: the bits below are 0.
 */
OZG_INLINE void ozg_exact_add_int(ozg_exact *acc, const ozg_int *z, int32_t exp, int negate)
{
    for (int i = 0; i < z->n; i++, exp += 64) {
        if (!z->w[i])
            continue;
        if (exp >= OZG_EXACT_LOWEST)
            ozg_exact_add(acc, z->w[i], 0, exp, z->neg ^ negate);
        else
            ozg_exact_add(acc, z->w[i] >> (OZG_EXACT_LOWEST - exp), 0, OZG_EXACT_LOWEST, z->neg ^ negate);
    }
}

/* The sum as sign and magnitude: (-1)^*neg sum_i w[i] 2^(64 i) 2^OZG_EXACT_LOWEST. */
OZG_INLINE void ozg_exact_words(ozg_exact *acc, uint64_t *w, int *neg)
{
    uint64_t carry, flip;

    ozg_exact_carry(acc);
    *neg = acc->digit[OZG_EXACT_DIGITS - 1] < 0;
    flip = *neg ? UINT64_MAX : 0;
    carry = (uint64_t)*neg;
    for (int i = 0; i < OZG_EXACT_WORDS; i++) {
        w[i] = (((uint64_t)acc->digit[2 * i] | (uint64_t)acc->digit[2 * i + 1] << 32) ^ flip) + carry;
        carry &= w[i] == 0;
    }
}

/*
 * ozg_exact_value() - the sum as a value, if it is short enough: the usual case. The digits stay as they are.
 */
OZG_INLINE int ozg_exact_value(const ozg_exact *acc, ozg_value *v)
{
    const int first = acc->low & ~1, last = acc->high + 2; /* two digits more take the carries and the sign */
    uint64_t flip, carry_in;
    int64_t carry = 0;
    int neg;

    v->kind = OZG_FINITE;
    v->neg = v->z.neg = 0;
    v->z.n = 0;
    v->x = 0;
    if (acc->high < 0)
        return 1;
    if (last >= OZG_EXACT_DIGITS || last - first >= 2 * OZG_INT_WORDS)
        return 0;
    v->z.n = (last - first) / 2 + 1;
    v->x = OZG_EXACT_LOWEST + 32 * first;
    for (int i = 0; i < v->z.n; i++) {
        const int64_t low = acc->digit[first + 2 * i] + carry, rest = low >= 0 ? low >> 32 : ~(~low >> 32);
        const int at = first + 2 * i + 1;
        const int64_t high = (at < OZG_EXACT_DIGITS ? acc->digit[at] : 0) + rest;

        v->z.w[i] = (uint64_t)(low & INT64_C(0xffffffff)) | (uint64_t)high << 32;
        carry = high >= 0 ? high >> 32 : ~(~high >> 32);
    }
    neg = carry < 0;
    flip = neg ? UINT64_MAX : 0;
    carry_in = (uint64_t)neg;
    for (int i = 0; i < v->z.n; i++) { /* the magnitude */
        v->z.w[i] = (v->z.w[i] ^ flip) + carry_in;
        carry_in &= v->z.w[i] == 0;
    }
    v->z.neg = neg;
    return 1;
}

/*
 * alpha AB + beta C from exact components of AB: scalars are odd multiples of 2^-1074..2^1023 below 2^1024,
 * so the bits of the sum lie between 2^(-2176 - 1074) and 2^(2176 + 1024).
 */
#define OZG_EXACT_SUM_LOWEST (-3264) /* -64 * 51 */
#define OZG_EXACT_SUM_WORDS  ((3264 + 3200) / 64 + 2)

typedef struct ozg_exact_work {
    uint64_t sum[OZG_EXACT_SUM_WORDS]; /* two's complement, in units of 2^OZG_EXACT_SUM_LOWEST */
    uint64_t w[OZG_EXACT_WORDS + 1];
} ozg_exact_work;

#define OZG_EXACT_WORK OZG_SUM_WORDS /* words: at least those of ozg_exact_work */

/* sum += (-1)^negate s acc */
OZG_INLINE void ozg_exact_sum_scaled(ozg_exact_work *work, ozg_fp s, ozg_exact *acc, int negate)
{
    uint64_t *const w = work->w, carry = 0;
    int neg;

    if (s.mant == 0)
        return;
    ozg_exact_words(acc, w, &neg);
    for (int i = 0; i < OZG_EXACT_WORDS; i++)
        w[i] = ozg_mul_add(s.mant, w[i], carry, &carry);
    w[OZG_EXACT_WORDS] = carry;
    ozg_sum_add(work->sum, OZG_EXACT_SUM_WORDS, w, OZG_EXACT_WORDS + 1, neg ^ s.neg ^ negate,
                s.exp + OZG_EXACT_LOWEST - OZG_EXACT_SUM_LOWEST);
}

/* sum += (-1)^negate s c */
OZG_INLINE void ozg_exact_sum_product(ozg_exact_work *work, ozg_fp s, ozg_fp c, int negate)
{
    const ozg_term t = ozg_term_product(s, c);

    if (s.mant && c.mant)
        ozg_sum_add(work->sum, OZG_EXACT_SUM_WORDS, t.w, t.n, t.neg ^ negate, t.exp - OZG_EXACT_SUM_LOWEST);
}

/* 1, 0 or -1 as a value: all that counts beside an Inf or NaN */
OZG_INLINE ozg_value ozg_exact_sign(ozg_exact *acc)
{
    ozg_value v = {OZG_FINITE, 0, {{0}, 1, 0}, 0};

    ozg_exact_carry(acc);
    v.z.neg = acc->digit[OZG_EXACT_DIGITS - 1] < 0;
    for (int i = 0; i < OZG_EXACT_DIGITS; i++)
        v.z.w[0] |= acc->digit[i] != 0;
    return v;
}

/*
 * ozg_exact_component() - ozg_entry_component() for exact components ab[0], ab[1] (complex) of AB of any
 * length. ozg_exact_component_in() - the same in work, OZG_EXACT_WORK words.
 */
OZG_INLINE uint64_t ozg_exact_component_in(uint64_t *words, const ozg_scalars *s, int part, ozg_exact *ab,
                                              const uint64_t old[2])
{
    const int complex_ = s->complex_;
    ozg_exact_work *const work = (ozg_exact_work *)words; /* of words alone */
    ozg_value v[2];
    int special = 0;

    if (ozg_exact_value(&ab[0], &v[0]) && (!complex_ || ozg_exact_value(&ab[1], &v[1])))
        return ozg_entry_component_in(words, s, part, v, old);

    for (int q = 0; q <= complex_; q++) /* a scalar 0 contributes nothing, not even 0 times Inf */
        special |= s->alpha[q].kind != OZG_FINITE || s->beta[q].kind != OZG_FINITE ||
                   (!ozg_scalar_is_zero(s->beta[q]) && ozg_is_special(old[part ^ q]));
    if (special) {
        v[0] = ozg_exact_sign(&ab[0]);
        v[1] = complex_ ? ozg_exact_sign(&ab[1]) : v[0];
        return ozg_entry_component_in(words, s, part, v, old);
    }
    for (int i = 0; i < OZG_EXACT_SUM_WORDS; i++)
        work->sum[i] = 0;
    for (int q = 0; q <= complex_; q++) { /* the scalar's component q meets component part ^ q */
        const int negate = q && !part;

        ozg_exact_sum_scaled(work, s->alpha[q].fp, &ab[part ^ q], negate);
        ozg_exact_sum_product(work, s->beta[q].fp, ozg_fp_of_bits(old[part ^ q]), negate);
    }
    return ozg_sum_round_words(s->single, work->sum, OZG_EXACT_SUM_WORDS, OZG_EXACT_SUM_LOWEST);
}

OZG_INLINE uint64_t ozg_exact_component(const ozg_scalars *s, int part, ozg_exact *ab,
                                           const uint64_t old[2])
{
    uint64_t words[OZG_EXACT_WORK];

    return ozg_exact_component_in(words, s, part, ab, old);
}

#endif
