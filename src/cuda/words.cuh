/*
 * words.cuh - c^ in words: from residues, its leading bits, C added to it, and the one rounding. In
 * registers: what arith/limbs.h does for any number of words, loops unrolled, without arrays in memory.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_WORDS_CUH
#define OZG_CUDA_WORDS_CUH

#include "arith/limbs.h"
#include "cuda/device.cuh"

/* An integer of N words in two's complement. */
template <int N> struct ozg_cuda_words {
    uint64_t w[N];
};

/*
 * Leading 64 bits of |v|: (top + f) 2^(exp - 63), 2^63 <= top < 2^64, 0 <= f < 1, f > 0 if sticky. v = 0:
 * top = 0.
 */
typedef struct ozg_cuda_leading {
    uint64_t top;
    int sticky, neg;
    int exp;
} ozg_cuda_leading;

template <int N> OZG_DEVICE ozg_cuda_leading ozg_cuda_leading_of(const ozg_cuda_words<N> &v)
{
    const uint64_t flip = (uint64_t)((int64_t)v.w[N - 1] >> 63);
    uint64_t carry = flip & 1, high = 0, low = 0, below = 0, last = 0, seen = 0;
    int base = 63, zeros;
    ozg_cuda_leading out;

#pragma unroll
    for (int i = 0; i < N; i++) { /* upwards: the last word that is not 0 wins */
        const uint64_t word = (v.w[i] ^ flip) + carry;

        carry &= (uint64_t)(word == 0);
        if (word) {
            high = word;
            low = last;
            below = seen;
            base = 64 * i + 63;
        }
        seen |= last;
        last = word;
    }
    zeros = 64 - ozg_bit_length(high);
    out.top = high << (zeros & 63) | low >> 1 >> (63 - (zeros & 63));
    out.sticky = (low << (zeros & 63) | below) != 0;
    out.neg = (int)(flip & 1);
    out.exp = base - zeros;
    return out;
}

/* ozg_round_bits() where it is rare. */
template <int SINGLE> OZG_DEVICE_CALL uint64_t ozg_cuda_round_call(int neg, uint64_t top, int sticky, int exp)
{
    return ozg_round_bits(SINGLE, neg, top, sticky, exp);
}

/*
 * RN of v 2^exponent, negated if `negate`, to binary32 (in the low half) or binary64: ozg_round_bits(), with
 * what is surely neither subnormal nor infinite before rounding by itself.
 */
template <int SINGLE> OZG_DEVICE uint64_t ozg_cuda_round(const ozg_cuda_leading &v, int exponent, int negate)
{
    const int precision = SINGLE ? 24 : 53, cut = 64 - precision, most = SINGLE ? 127 : 1023;
    const int x = v.exp + exponent, neg = v.neg ^ negate;
    const uint64_t all = v.top | (uint64_t)v.sticky, kept = all >> cut,
                   rest = all & ((UINT64_C(1) << cut) - 1);
    uint64_t bits;

    if (v.top == 0)
        return 0;
    if (x < 1 - most || x > most)
        return ozg_cuda_round_call<SINGLE>(neg, v.top, v.sticky, x);
    bits = kept + (uint64_t)(rest + (kept & 1) > UINT64_C(1) << (cut - 1));
    return (bits + ((uint64_t)(x + most - 1) << (precision - 1))) | (uint64_t)neg << (SINGLE ? 31 : 63);
}

/* v += (-1)^neg mant 2^shift for shift >= 0. */
template <int N> OZG_DEVICE void ozg_cuda_words_add(ozg_cuda_words<N> *v, uint64_t mant, int shift, int neg)
{
    const uint64_t flip = 0 - (uint64_t)neg;
    uint64_t carry = (uint64_t)neg;

#pragma unroll
    for (int i = 0; i < N; i++) { /* subtracting is adding the complement plus 1 */
        const int up = shift - 64 * i;
        const uint64_t part = up >= 64 || up <= -64 ? 0 : up >= 0 ? mant << up : mant >> -up;
        const uint64_t sum = v->w[i] + carry, all = sum + (part ^ flip);

        carry = (uint64_t)(sum < carry) + (uint64_t)(all < sum);
        v->w[i] = all;
    }
}

/*
 * ozg_cuda_words_join() - leading bits of c + (-1)^neg mant 2^shift, mant < 2^53, |c| < 2^(64 N - 1), to be
 * rounded to at most 53 bits (or at a fixed place, in the subnormal range). The sum is exact in N + 2 words,
 * at an exponent of -64 where the number is no integer, except where one of the two only counts as a tail:
 *
 * - shift > S = 64 N + 55: it is taken as S, and the exponent grows instead. Places where the rounding of a
 *   number of at least 2^shift changes are multiples of 2^(shift - 54), in the subnormal range too, and so
 *   is the number. c, of size below 2^(shift - 56), does not reach the next one, be it where it was or
 *   2^(shift - S) times as large.
 * - shift < -64: |mant 2^shift| < 2^-11. If c = 0 nothing else counts, so that the number is taken by
 *   itself. Else the sum is above 1/2 in size and such places are multiples of 2^-55: of the number in units
 *   of 2^-64 the integral part is kept, and its last bit set if something lies below. That is the exact sum
 *   unless some bit is lost, and then it is on the same side of every even number.
 */
template <int N>
OZG_DEVICE ozg_cuda_leading ozg_cuda_words_join(const ozg_cuda_words<N> &c, uint64_t mant, int shift, int neg)
{
    const int most = 64 * N + 55;
    ozg_cuda_words<N + 2> v;
    ozg_cuda_leading out;
    int unit = 0, excess = 0;
    uint64_t any = 0;

#pragma unroll
    for (int i = 0; i < N; i++)
        any |= c.w[i];
    if (any == 0) { /* shift 0, put right below */
        excess = shift;
        shift = 0;
    } else if (shift > most) {
        excess = shift - most;
        shift = most;
    } else if (shift < 0) {
        unit = 1;
        shift += 64;
        if (shift < 0) {
            const int down = -shift < 63 ? -shift : 63;

            mant = mant >> down | (uint64_t)((mant & ((UINT64_C(1) << down) - 1)) != 0);
            shift = 0;
        }
    }
#pragma unroll
    for (int i = 0; i < N + 2; i++) {
        const uint64_t sign = (uint64_t)((int64_t)c.w[N - 1] >> 63);
        const uint64_t plain = i < N ? c.w[i < N ? i : 0] : sign, up = i == 0 ? 0
                                                                       : i <= N
                                                                           ? c.w[i > 0 && i <= N ? i - 1 : 0]
                                                                           : sign;

        v.w[i] = unit ? up : plain;
    }
    ozg_cuda_words_add(&v, mant, shift, neg);
    out = ozg_cuda_leading_of(v);
    out.exp += excess - 64 * unit;
    return out;
}

/* The same where it is not to cost registers. */
template <int N>
OZG_DEVICE_CALL ozg_cuda_leading ozg_cuda_words_join_call(ozg_cuda_words<N> c, uint64_t mant, int shift,
                                                          int neg)
{
    return ozg_cuda_words_join<N>(c, mant, shift, neg);
}

#endif
