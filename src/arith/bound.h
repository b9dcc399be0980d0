/*
 * bound.h - the error that scaling leaves in an entry, from norms of lines, in integers: doc/bounds.md.
 *
 * A line (row of op(A), column of op(B)) of exponent e, 2^(e-1) <= max |x_p| < 2^e, is scaled by 2^d and
 * rounded to integers: x_p 2^d = x^_p + rho_p, |rho_p| <= 1/2. Its width is w = d + e. Six numbers of each
 * line, all rounded up, in units of 2^(c - 16), bound every entry:
 *
 *     x1, x2, xmax    1-, 2- and largest-entry norm of x 2^-e
 *     r1, r2, rmax    the same of rho
 *
 * c is 0 up to k' = 65535 and grows so that each fits 32 bits, up to k' = 2^32 - 1. Written once for C11,
 * CUDA C and OpenCL C.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_ARITH_BOUND_H
#define OZG_ARITH_BOUND_H

#include "arith/ieee.h"

/* c for dot products of k' terms: k' < 2^(16 + c). */
OZG_INLINE int ozg_bound_unit(uint64_t length)
{
    const int bits = ozg_bit_length(length);

    return bits > 16 ? bits - 16 : 0;
}

/*
 * nu: lines are measured in units of 2^(e - nu). 15 bits for k' < 2^33: sum (2^nu)^2 over k' terms stays
 * below 2^63.
 */
OZG_INLINE int ozg_norm_bits(uint64_t length)
{
    const int most = (63 - ozg_bit_length(length)) / 2;

    return most < 15 ? most : 15;
}

/* ceil(x 2^-shift) for any shift that does not overflow; any at all for x = 0 */
OZG_INLINE uint64_t ozg_ceil_shift(uint64_t x, int shift)
{
    if (x == 0)
        return 0;
    if (shift <= 0)
        return x << -shift;
    return shift > 63 ? x != 0 : (x >> shift) + ((x & ((UINT64_C(1) << shift) - 1)) != 0);
}

/* ceil(sqrt(x)) */
OZG_INLINE uint64_t ozg_ceil_sqrt(uint64_t x)
{
    uint64_t root = 0;

#if defined(__CUDA_ARCH__)
    /*
     * rounded towards 0, so not above sqrt(x), and by less than 3 2^-53 of it below: floor(sqrt(x)), or 1
     * less
     */
    root = (uint64_t)__dsqrt_rz(__ull2double_rz(x));
    root += root < UINT32_MAX && (root + 1) * (root + 1) <= x;
#else
    for (int bit = 31; bit >= 0; bit--) { /* floor(sqrt(x)) */
        const uint64_t next = root | UINT64_C(1) << bit;

        if (next * next <= x)
            root = next;
    }
#endif
    return root + (root * root < x);
}

OZG_INLINE uint64_t ozg_min3(uint64_t x, uint64_t y, uint64_t z)
{
    const uint64_t least = x < y ? x : y;

    return least < z ? least : z;
}

/*
 * The largest g with 4^g n <= Q, n > 0, Q of `bits` bits, the leading 64 of which are top; -1: there is
 * none.
 */
OZG_INLINE int ozg_power_of_four(uint64_t n, int bits, uint64_t top)
{
    const int length = ozg_bit_length(n), room = bits - length; /* 2^(length - 1) <= n < 2^length */
    const int fits = n << (64 - length) <= top;                 /* 2^room n <= Q */
    const int power = fits ? room : room - 1;                   /* the largest r with 2^r n <= Q */

    return power >= 0 ? power / 2 : -1;
}

/*
 * ceil(|x 2^d - RN_int(x 2^d)| 2^16) for |x| 2^d = mant 2^-down: at most 2^15, and 0 for down <= 0. RN_int(x
 * 2^d) is 0 for down > 63, as mant < 2^53.
 */
OZG_INLINE uint64_t ozg_residual(uint64_t mant, int32_t down)
{
    uint64_t low, distance;

    if (down <= 0)
        return 0;
    if (down > 63)
        return ozg_ceil_shift(mant, down - 16);
    low = mant & ((UINT64_C(1) << down) - 1);
    distance = (UINT64_C(1) << down) - low; /* to the next integer */
    return ozg_ceil_shift(low < distance ? low : distance, down - 16);
}

/* The six numbers and the width of a line. */
typedef struct ozg_factors {
    uint32_t x1, x2, xmax, r1, r2, rmax;
    int32_t w;
} ozg_factors;

/*
 * ozg_bound() - E with |2^(D+E) AB - c^|_ij <= E 2^(max(w_i, w_j) + 2 c - 32): Hoelder's inequality three
 * times,
 *
 *     |sum rho b 2^E|  <=  2^w_j min(rmax_i x1_j, r2_i x2_j, r1_i xmax_j)        and so on,
 *
 * enlarged by a factor 1 + 2^-24 for the one rounding that follows. E < 2^50; 0 if both lines are exact.
 */
OZG_INLINE uint64_t ozg_bound(const ozg_factors *a, const ozg_factors *b)
{
    const int32_t w = a->w > b->w ? a->w : b->w;
    const uint64_t of_a =
        ozg_min3((uint64_t)a->rmax * b->x1, (uint64_t)a->r2 * b->x2, (uint64_t)a->r1 * b->xmax);
    const uint64_t of_b =
        ozg_min3((uint64_t)b->rmax * a->x1, (uint64_t)b->r2 * a->x2, (uint64_t)b->r1 * a->xmax);
    const uint64_t both =
        ozg_min3((uint64_t)a->r2 * b->r2, (uint64_t)a->r1 * b->rmax, (uint64_t)a->rmax * b->r1);
    const uint64_t sum =
        ozg_ceil_shift(of_a, w - b->w) + ozg_ceil_shift(of_b, w - a->w) + ozg_ceil_shift(both, w);

    return sum ? sum + (sum >> 24) + 1 : 0;
}

/* bound 2^shift <= right? */
OZG_INLINE int ozg_bound_fits(uint64_t bound, uint64_t right, int32_t shift)
{
    if (shift < 0)
        return ozg_ceil_shift(bound, -shift) <= right;
    return bound <= right >> (shift < 63 ? shift : 63) && (shift < 63 || bound == 0);
}

/*
 * The entry is proven to be of native grade if its error is at most F 2^-p |A||B|, p = 53 (single 24). With
 * the error at most 2^(-D-E) bound 2^(most + 2 c - 32), most and least the larger and the smaller of the two
 * widths, this follows from
 *
 *     |A||B| >= L 2^(e_i + e_j - 2 b + c)      ozg_bound_passes(), L < 2^31 from floors (ozg_floor)
 *     |A||B| >= |AB| >= |c^ 2^(-D-E)| - error  ozg_bound_passes_value(), |c^| >= z 2^q, z < 2^47
 *
 * since e - D = w - 2 D. The second needs bound (1 + F 2^-p) instead of bound.
 */
OZG_INLINE int32_t ozg_bound_shift(int single, int complex_, int c)
{
    return c - 32 + (single ? 24 : 53) + (complex_ ? 12 : 14);
}

OZG_INLINE int ozg_bound_passes(uint64_t bound, uint32_t f, uint32_t l, int single, int complex_, int c,
                                   int32_t least)
{
    return ozg_bound_fits(bound, (uint64_t)f * l, ozg_bound_shift(single, complex_, c) - least);
}

OZG_INLINE int ozg_bound_passes_value(uint64_t bound, uint32_t f, uint64_t z, int32_t q, int single, int c,
                                         int32_t most)
{
    const int p = single ? 24 : 53;

    if (bound)
        bound += (bound >> (p - 17)) + 1; /* F <= 2^17 */
    return ozg_bound_fits(bound, f * z, most + 2 * c - 32 + p - q);
}

/* F = floor(sqrt k) <= f(k) - 1 of native grade, f(k) = sqrt(k) + 1. At most 2^17. */
OZG_INLINE uint32_t ozg_native_factor(int64_t k)
{
    const uint64_t above = ozg_ceil_sqrt((uint64_t)k),
                   root = above * above == (uint64_t)k ? above : above - 1;

    return root > 1 << 17 ? UINT32_C(1) << 17 : (uint32_t)root;
}

/*
 * ozg_floor() - floor(|x| 2^(b - e)) of the finite double with these bits, below 2^b if |x| < 2^e; s = b - e.
 * Products of floors never exceed those of the numbers.
 */
OZG_INLINE uint32_t ozg_floor(uint64_t bits, int32_t s)
{
    const ozg_fp x = ozg_fp_of_bits(bits);
    const int32_t down = -(x.exp + s);

    return x.mant == 0 || down > 63 ? 0 : (uint32_t)(down >= 0 ? x.mant >> down : x.mant << -down);
}

#define OZG_FLOOR_BITS(complex_) ((complex_) ? 6 : 7) /* Re + Im must fit 7 bits */

/* ozg_ceiling() - the same rounded up, for accurate scaling: at most 2^6 if s = 6 - e. */
#define OZG_CEILING_BITS 6

OZG_INLINE uint32_t ozg_ceiling(uint64_t bits, int32_t s)
{
    const ozg_fp x = ozg_fp_of_bits(bits);

    return (uint32_t)ozg_ceil_shift(x.mant, -(x.exp + s));
}

/*
 * ozg_bound_key() - bound 2^exp, rounded up, as an integer that orders like it: mantissa of 24 bits below the
 * exponent plus OZG_BOUND_KEY. 0 for 0.
 */
#define OZG_BOUND_KEY (1 << 20)

OZG_INLINE uint64_t ozg_bound_key(uint64_t bound, int32_t exp)
{
    int down = ozg_bit_length(bound) - 23;

    if (bound == 0)
        return 0;
    bound = ozg_ceil_shift(bound, down); /* 2^22 .. 2^23 */
    return (uint64_t)(exp + down + OZG_BOUND_KEY) << 24 | bound;
}

#endif
