/*
 * number.cuh - elements of operands as integers in 32-bit words, for the scale and split kernels.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_NUMBER_CUH
#define OZG_CUDA_NUMBER_CUH

#include "arith/bound.h"
#include "cuda/device.cuh"
#include "cuda/kernels.h"

/*
 * |x| = (hi 2^32 + lo) 2^(exp - 1085), below 2^63: the mantissa from bit 62 downwards, the exponent field of
 * a double. neg: all bits are the sign. Inf and NaN are what their fields say; nothing that is used depends
 * on them.
 */
typedef struct ozg_cuda_number {
    uint32_t hi, lo, neg;
    int32_t exp;
} ozg_cuda_number;

#define OZG_CUDA_UNIT    1085
#define OZG_CUDA_LEADING UINT32_C(0x40000000)

OZG_DEVICE ozg_cuda_number ozg_cuda_number_of(uint64_t bits)
{
    const uint32_t hi = (uint32_t)(bits >> 32), lo = (uint32_t)bits;
    const int32_t e = (int32_t)(hi >> 20 & 0x7ff);
    ozg_cuda_number n;

    n.hi = (__funnelshift_l(lo, hi, 10) & (OZG_CUDA_LEADING - 1)) | (e > 0 ? OZG_CUDA_LEADING : 0);
    n.lo = lo << 10;
    n.neg = (uint32_t)((int32_t)hi >> 31);
    n.exp = max(e, 1);
    return n;
}

OZG_DEVICE ozg_cuda_number ozg_cuda_number_of(uint32_t bits)
{
    const int32_t e = (int32_t)(bits >> 23 & 0xff);
    ozg_cuda_number n;

    n.hi = (bits << 7 & (OZG_CUDA_LEADING - 1)) | (e > 0 ? OZG_CUDA_LEADING : 0);
    n.lo = 0;
    n.neg = (uint32_t)((int32_t)bits >> 31);
    n.exp = max(e, 1) + 896;
    return n;
}

/*
 * The same where |x| 2^d < 2^-16 for all subnormal x: 0 and these become some number of the least exponent,
 * whose x^ is 0 like theirs. d <= ozg_cuda_plain_d().
 */
OZG_DEVICE ozg_cuda_number ozg_cuda_plain_number_of(uint64_t bits)
{
    const uint32_t hi = (uint32_t)(bits >> 32), lo = (uint32_t)bits;
    ozg_cuda_number n;

    n.hi = (__funnelshift_l(lo, hi, 10) & (OZG_CUDA_LEADING - 1)) | OZG_CUDA_LEADING;
    n.lo = lo << 10;
    n.neg = (uint32_t)((int32_t)hi >> 31);
    n.exp = (int32_t)(hi >> 20 & 0x7ff);
    return n;
}

OZG_DEVICE ozg_cuda_number ozg_cuda_plain_number_of(uint32_t bits)
{
    ozg_cuda_number n;

    n.hi = (bits << 7 & (OZG_CUDA_LEADING - 1)) | OZG_CUDA_LEADING;
    n.lo = 0;
    n.neg = (uint32_t)((int32_t)bits >> 31);
    n.exp = (int32_t)(bits >> 23 & 0xff) + 896;
    return n;
}

OZG_DEVICE int32_t ozg_cuda_plain_d(int single)
{
    return (single ? 126 : 1022) - 16;
}

/* Bit 62 is set of every number but 0, whose exponent goes far below all others. */
OZG_DEVICE void ozg_cuda_normalize(ozg_cuda_number &n)
{
    const uint64_t mant = (uint64_t)n.hi << 32 | n.lo;
    const int up = mant ? __clzll((long long)mant) - 1 : 0;

    n.hi = (uint32_t)(mant << up >> 32);
    n.lo = (uint32_t)(mant << up);
    n.exp = mant ? n.exp - up : -(INT32_C(1) << 20);
}

/*
 * ceil(|x| 2^(bits - e)) for |x| < 2^e, from = OZG_CUDA_UNIT - bits + e, bits <= 15: the number of bits to be
 * cut off, from - exp, is at least 63 - 15, so that those of lo are among them.
 */
OZG_DEVICE uint32_t ozg_cuda_ceiling(const ozg_cuda_number &n, int32_t from)
{
    const int32_t down = min(from - 32 - n.exp, 31);

    return ((n.hi | (n.lo != 0)) + ((UINT32_C(1) << down) - 1)) >> down;
}

/* floor(|x| 2^(bits - e)), from as above. */
OZG_DEVICE uint32_t ozg_cuda_floor(const ozg_cuda_number &n, int32_t from)
{
    return n.hi >> min(from - 32 - n.exp, 31);
}

/* RN_int(x 2^d) = (-1)^neg (q + up) 2^left; rest 2^-32: what was cut off q before it was rounded, sticky. */
typedef struct ozg_cuda_scaled {
    uint64_t q;
    uint32_t up, rest;
    int32_t right; /* |x| 2^d = (hi 2^32 + lo) 2^-right */
} ozg_cuda_scaled;

/*
 * ozg_cuda_scale_number() - from = OZG_CUDA_UNIT - d. For W words of x^, |x| 2^d < 2^w: right > 62 - w, so
 * right > 32 if W = 1 (w <= 30; single precision alone, lo = 0) and right > 0 if W = 2 (w <= 62). Else 10 is
 * the least that counts: q holds all 53 bits. Rounding to nearest, ties to even (ozg_scale_bits()): rest,
 * with its lowest bit set by all bits below it and by q odd, exceeds 2^31. If right > 64, 64 does as well:
 * rest < 2^31 and q = 0. All
 * this is for numbers with bit 62 set, for 0, and where right is large anyway: where d is larger than
 * ozg_cuda_plain_d(), ozg_cuda_normalize() comes first.
 */
template <int W> OZG_DEVICE ozg_cuda_scaled ozg_cuda_scale_number(const ozg_cuda_number &n, int32_t from)
{
    ozg_cuda_scaled z;

    z.right = from - n.exp;
    if (W == 1) {
        const int32_t s = min(z.right - 32, 32);

        z.q = ozg_shr32(n.hi, s);
        z.rest = n.hi << (32 - s);
        z.up = (z.rest | ((uint32_t)z.q & 1)) > UINT32_C(0x80000000);
    } else {
        const int32_t s = min(W == 2 ? z.right : max(z.right, 10), 64);
        const uint64_t mant = (uint64_t)n.hi << 32 | n.lo, low = ozg_shl64(mant, 64 - s);

        z.q = ozg_shr64(mant, s);
        z.rest = (uint32_t)(low >> 32) | ((uint32_t)low != 0);
        z.up = (low | (z.q & 1)) > UINT64_C(1) << 63;
    }
    return z;
}

/*
 * ceil(|x 2^d - x^| 2^16) (ozg_residual()). min(rest, 2^32 - rest) 2^-32 is the distance if right <= 64, and
 * rest 2^(32 - right) if it is more.
 */
OZG_DEVICE uint32_t ozg_cuda_residual(const ozg_cuda_scaled &z)
{
    const uint32_t distance = min(z.rest, 0 - z.rest);
    const int32_t down = min(max(z.right, 64) - 48, 31);

    return (distance + ((UINT32_C(1) << down) - 1)) >> down;
}

/* x^ + 2^(32 W - 1), |x^| <= 2^(32 W - 2), in W words. */
template <int W> OZG_DEVICE void ozg_cuda_words(uint32_t (&w)[W], const ozg_cuda_scaled &z, uint32_t neg)
{
    const uint32_t one = z.up ^ (neg & 1); /* -(q + up) = ~q + 1 - up */

    if (W == 1) {
        w[0] = ((uint32_t)z.q ^ neg) + one + UINT32_C(0x80000000);
        return;
    }
    const uint64_t x = (z.q ^ ((uint64_t)neg << 32 | neg)) + one;

    if (W == 2) {
        w[0] = (uint32_t)x;
        w[1 % W] = (uint32_t)(x >> 32) + UINT32_C(0x80000000);
        return;
    }
    const int32_t left = max(10 - z.right, 0);
    const uint32_t x0 = (uint32_t)x, x1 = (uint32_t)(x >> 32), above = (uint32_t)((int32_t)x1 >> 31);

    for (int i = 0; i < W; i++)
        w[i] = above;
    w[0] = x0 << (left & 31);
    w[1 % W] = __funnelshift_l(x0, x1, left & 31);
    w[2 % W] = __funnelshift_l(x1, above, left & 31);
    for (int by = 1; by < (W > 3 ? 4 : 2); by *= 2) /* left <= w - 53: 41 if W = 3, 125 if W = 6 */
        for (int i = W - 1; i >= 0; i--)
            if (left & 32 * by)
                w[i] = i >= by ? w[i - by] : 0;
    w[W - 1] ^= UINT32_C(0x80000000);
}

#endif
