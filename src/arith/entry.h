/*
 * entry.h - one entry of C: RN(alpha AB + beta C) with Inf, NaN and signed zeros. doc/numerics.md secs. 2
 * and 8.
 *
 * Written once for C11, CUDA C and OpenCL C.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_ARITH_ENTRY_H
#define OZG_ARITH_ENTRY_H

#include "arith/limbs.h"

enum { OZG_FINITE = 0, OZG_INFINITE = 1, OZG_INVALID = 2 };

/* alpha or beta, or one component of it. */
typedef struct ozg_scalar {
    int kind;  /* OZG_FINITE, OZG_INFINITE, OZG_INVALID (NaN) */
    ozg_fp fp; /* an odd mantissa, or 0; for an infinity only the sign counts */
} ozg_scalar;

/* A component of op(A) op(B): the integer z 2^x, or what a row or column with Inf or NaN makes of it. */
typedef struct ozg_value {
    int kind;
    int neg; /* of an infinity */
    ozg_int z;
    int32_t x;
} ozg_value;

/* The scalars of a call, taken apart. complex_: the second components count. */
typedef struct ozg_scalars {
    int single, complex_;
    ozg_scalar alpha[2], beta[2];
} ozg_scalars;

/* A sum of up to four products on its way to the one rounding. */
typedef struct ozg_sum {
    ozg_term t[4];
    int count;
    int plus_inf, minus_inf, nan;
    int zeros, negative_zeros; /* products that are an exact zero, and those of them that are -0 */
} ozg_sum;

OZG_INLINE ozg_scalar ozg_scalar_of(double x)
{
    ozg_scalar s;
    uint64_t bits;

    memcpy(&bits, &x, 8);
    s.kind = ozg_is_nan(bits) ? OZG_INVALID : ozg_is_special(bits) ? OZG_INFINITE : OZG_FINITE;
    s.fp = ozg_fp_of_bits(bits);
    while (s.fp.mant && !(s.fp.mant & 1)) {
        s.fp.mant >>= 1;
        s.fp.exp++;
    }
    return s;
}

OZG_INLINE int ozg_scalar_is_zero(ozg_scalar s)
{
    return s.kind == OZG_FINITE && s.fp.mant == 0;
}

OZG_INLINE void ozg_sum_infinity(ozg_sum *sum, int neg)
{
    if (neg)
        sum->minus_inf = 1;
    else
        sum->plus_inf = 1;
}

/* sum += (-1)^negate s v. A scalar 0 contributes nothing, not even 0 times Inf. */
OZG_INLINE void ozg_sum_value(ozg_sum *sum, ozg_scalar s, int negate, const ozg_value *v)
{
    int zero = v->kind == OZG_FINITE && ozg_int_is_zero(&v->z);

    s.fp.neg ^= negate;
    if (ozg_scalar_is_zero(s))
        return;
    if (s.kind == OZG_INVALID || v->kind == OZG_INVALID || (s.kind == OZG_INFINITE && zero))
        sum->nan = 1;
    else if (s.kind == OZG_INFINITE || v->kind == OZG_INFINITE)
        ozg_sum_infinity(sum, s.fp.neg ^ (v->kind == OZG_INFINITE ? v->neg : v->z.neg));
    else if (!zero)
        sum->t[sum->count++] = ozg_term_scaled(s.fp, &v->z, v->x);
}

/* sum += (-1)^negate s c, where c is the number with these bits. */
OZG_INLINE void ozg_sum_old(ozg_sum *sum, ozg_scalar s, int negate, uint64_t bits)
{
    ozg_fp c = ozg_fp_of_bits(bits);
    int infinite = ozg_is_special(bits);

    s.fp.neg ^= negate;
    if (ozg_scalar_is_zero(s))
        return;
    if (s.kind == OZG_INVALID || ozg_is_nan(bits) || (s.kind == OZG_INFINITE && !infinite && !c.mant))
        sum->nan = 1;
    else if (s.kind == OZG_INFINITE || infinite)
        ozg_sum_infinity(sum, s.fp.neg ^ c.neg);
    else if (c.mant)
        sum->t[sum->count++] = ozg_term_product(s.fp, c);
    else {
        sum->zeros++;
        sum->negative_zeros += s.fp.neg ^ c.neg;
    }
}

/* The bits of a sum that is infinite or NaN; else 0. */
OZG_INLINE uint64_t ozg_sum_special(const ozg_sum *sum, int single)
{
    const uint64_t inf = single ? UINT64_C(0x7f800000) : OZG_F64_INF,
                   sign = single ? UINT64_C(1) << 31 : OZG_F64_SIGN;

    if (sum->nan || (sum->plus_inf && sum->minus_inf))
        return single ? UINT64_C(0x7fc00000) : OZG_F64_NAN;
    if (sum->plus_inf || sum->minus_inf)
        return sum->minus_inf ? sign | inf : inf;
    return 0;
}

/* The one rounding, in acc (ozg_sum_round_in()). An exact zero is +0. */
OZG_INLINE uint64_t ozg_sum_finish_in(uint64_t *acc, const ozg_sum *sum, int single)
{
    const uint64_t special = ozg_sum_special(sum, single);

    return special || !sum->count ? special : ozg_sum_round_in(acc, single, sum->t, sum->count);
}

OZG_INLINE uint64_t ozg_sum_finish(const ozg_sum *sum, int single)
{
    uint64_t acc[OZG_SUM_WORDS];

    return ozg_sum_finish_in(acc, sum, single);
}

/* C[index] as it is, where beta lets it be read, else 0; old[1]: its imaginary part. */
OZG_INLINE void ozg_entry_old(const ozg_scalars *s, const void *c, int64_t index, uint64_t old[2])
{
    const int parts = 1 + s->complex_;
    const int reads = !ozg_scalar_is_zero(s->beta[0]) || (s->complex_ && !ozg_scalar_is_zero(s->beta[1]));

    for (int part = 0; part < 2; part++)
        old[part] = reads && part < parts ? ozg_load_bits(c, s->single, parts * index + part) : 0;
}

/*
 * ozg_entry_sum() - component `part` of alpha v + beta old:
 *     Re = alpha_r v_r - alpha_i v_i + beta_r old_r - beta_i old_i
 *     Im = alpha_r v_i + alpha_i v_r + beta_r old_i + beta_i old_r
 */
OZG_INLINE void ozg_entry_sum(ozg_sum *sum, const ozg_scalars *s, int part, const ozg_value *v,
                                 const uint64_t old[2])
{
    sum->count = sum->plus_inf = sum->minus_inf = sum->nan = sum->zeros = sum->negative_zeros = 0;
    ozg_sum_value(sum, s->alpha[0], 0, &v[part]);
    ozg_sum_old(sum, s->beta[0], 0, old[part]);
    if (s->complex_) {
        ozg_sum_value(sum, s->alpha[1], !part, &v[!part]);
        ozg_sum_old(sum, s->beta[1], !part, old[!part]);
    }
}

/* ozg_entry_component() - RN of it. */
OZG_INLINE uint64_t ozg_entry_component_in(uint64_t *acc, const ozg_scalars *s, int part, const ozg_value *v,
                                              const uint64_t old[2])
{
    ozg_sum sum;

    ozg_entry_sum(&sum, s, part, v, old);
    return ozg_sum_finish_in(acc, &sum, s->single);
}

OZG_INLINE uint64_t ozg_entry_component(const ozg_scalars *s, int part, const ozg_value *v,
                                           const uint64_t old[2])
{
    uint64_t acc[OZG_SUM_WORDS];

    return ozg_entry_component_in(acc, s, part, v, old);
}

/* C[index] := these bits. */
OZG_INLINE void ozg_entry_store(const ozg_scalars *s, void *c, int64_t index, const uint64_t bits[2])
{
    for (int part = 0; part <= s->complex_; part++)
        ozg_store_bits(c, s->single, (1 + s->complex_) * index + part, bits[part]);
}

/* ozg_entry_update() - C[index] := RN(alpha v + beta C[index]); v[1] is the imaginary component of complex
 * types. */
OZG_INLINE void ozg_entry_update(const ozg_scalars *s, const ozg_value *v, void *c, int64_t index)
{
    uint64_t old[2], bits[2];

    ozg_entry_old(s, c, index, old);
    for (int part = 0; part <= s->complex_; part++)
        bits[part] = ozg_entry_component(s, part, v, old);
    ozg_entry_store(s, c, index, bits);
}

/* RN of a sum of products of beta and C alone, with the sign that IEEE gives an exact zero. */
OZG_INLINE uint64_t ozg_sum_finish_signed(const ozg_sum *sum, int single)
{
    uint64_t bits = ozg_sum_finish(sum, single);

    if (bits == 0 && sum->count == 0 && sum->zeros > 0 && sum->negative_zeros == sum->zeros)
        return single ? UINT64_C(1) << 31 : OZG_F64_SIGN;
    return bits;
}

/* ozg_entry_scale() - C[index] := RN(beta C[index]) with its IEEE sign; beta = 0 does not read C and writes
 * +0. */
OZG_INLINE void ozg_entry_scale(const ozg_scalars *s, void *c, int64_t index)
{
    ozg_sum re, im;

    re.count = re.plus_inf = re.minus_inf = re.nan = re.zeros = re.negative_zeros = 0;
    im = re;
    if (!s->complex_) {
        if (!ozg_scalar_is_zero(s->beta[0]))
            ozg_sum_old(&re, s->beta[0], 0, ozg_load_bits(c, s->single, index));
        ozg_store_bits(c, s->single, index, ozg_sum_finish_signed(&re, s->single));
        return;
    }
    if (!ozg_scalar_is_zero(s->beta[0]) || !ozg_scalar_is_zero(s->beta[1])) {
        uint64_t old_re = ozg_load_bits(c, s->single, 2 * index),
                 old_im = ozg_load_bits(c, s->single, 2 * index + 1);

        ozg_sum_old(&re, s->beta[0], 0, old_re);
        ozg_sum_old(&re, s->beta[1], 1, old_im);
        ozg_sum_old(&im, s->beta[0], 0, old_im);
        ozg_sum_old(&im, s->beta[1], 0, old_re);
    }
    ozg_store_bits(c, s->single, 2 * index, ozg_sum_finish_signed(&re, s->single));
    ozg_store_bits(c, s->single, 2 * index + 1, ozg_sum_finish_signed(&im, s->single));
}

#endif
