/*
 * ieee.h - binary64 and binary32 numbers as integers: taking them apart, and rounding to them once.
 *
 * No floating-point arithmetic: the caller's rounding mode and flush-to-zero setting have no influence, and
 * every machine gets the same bits. Written once for C11, CUDA C and OpenCL C.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_ARITH_IEEE_H
#define OZG_ARITH_IEEE_H

#include <stdint.h>
#include <string.h>

#include "arith/inline.h"

#define OZG_F64_SIGN (UINT64_C(1) << 63)
#define OZG_F64_INF  UINT64_C(0x7ff0000000000000)
#define OZG_F64_NAN  UINT64_C(0x7ff8000000000000) /* the default quiet NaN: the only one ever written */

/* A finite number: (-1)^neg mant 2^exp. Zero has mant = 0. */
typedef struct ozg_fp {
    uint64_t mant; /* < 2^53 */
    int32_t exp;
    int neg;
} ozg_fp;

/* Number of significant bits of x; 0 for 0. */
OZG_INLINE int ozg_bit_length(uint64_t x)
{
#if defined(__CUDA_ARCH__)
    return 64 - __clzll((long long)x);
#elif defined(__GNUC__)
    return x ? 64 - __builtin_clzll(x) : 0;
#else
    int n = 0;
    for (; x; x >>= 1)
        n++;
    return n;
#endif
}

/* Number of bits of x that are 1. */
OZG_INLINE int ozg_bit_count(uint64_t x)
{
#if defined(__CUDA_ARCH__)
    return __popcll(x);
#elif defined(__GNUC__)
    return __builtin_popcountll(x);
#else
    int n = 0;
    for (; x; x &= x - 1)
        n++;
    return n;
#endif
}

/* The bits of the double with the same value as the float with these bits (always exact; a NaN stays a NaN).
 */
OZG_INLINE uint64_t ozg_f64_of_f32(uint32_t bits)
{
    uint64_t sign = (uint64_t)(bits >> 31) << 63, frac = bits & 0x7fffff;
    uint32_t exp = bits >> 23 & 0xff;
    int n;

    if (exp == 0xff)
        return sign | OZG_F64_INF | frac << 29;
    if (exp)
        return sign | (uint64_t)(exp + 896) << 52 | frac << 29;
    if (!frac)
        return sign;
    n = ozg_bit_length(frac); /* frac 2^-149: leading bit 2^(n - 150) */
    return sign | (uint64_t)(n - 150 + 1023) << 52 | (frac << (53 - n) & (((uint64_t)1 << 52) - 1));
}

OZG_INLINE int ozg_is_special(uint64_t bits) /* Inf or NaN */
{
    return (bits & OZG_F64_INF) == OZG_F64_INF;
}

OZG_INLINE int ozg_is_nan(uint64_t bits)
{
    return (bits & ~OZG_F64_SIGN) > OZG_F64_INF;
}

/* The finite number with these bits. */
OZG_INLINE ozg_fp ozg_fp_of_bits(uint64_t bits)
{
    ozg_fp x;
    int e = (int)(bits >> 52 & 0x7ff);

    x.neg = (int)(bits >> 63);
    x.mant = (bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)(e > 0) << 52;
    x.exp = (e > 0 ? e : 1) - 1075;
    return x;
}

/* The frexp exponent e(x), 2^(e-1) <= |x| < 2^e, of a finite nonzero double. */
OZG_INLINE int ozg_exponent(uint64_t bits)
{
    ozg_fp x = ozg_fp_of_bits(bits);

    return x.exp + ozg_bit_length(x.mant);
}

/*
 * ozg_round_bits() - round (-1)^neg (top + tail) 2^(e - 63) to nearest, ties to even, where 2^63 <= top <
 * 2^64 (so e is the exponent of the leading bit) and 0 <= tail < 1 is nonzero iff sticky. Single: to
 * binary32, else to binary64, into the subnormal range and to infinity too. Returns the bits (binary32: in
 * the low half).
 */
OZG_INLINE uint64_t ozg_round_bits(int single, int neg, uint64_t top, int sticky, int64_t e)
{
    const int p = single ? 24 : 53; /* precision */
    const int emax = single ? 127 : 1023, emin = 1 - emax;
    const uint64_t sign = (uint64_t)neg << (single ? 31 : 63), inf = (uint64_t)(2 * emax + 1) << (p - 1);
    int64_t keep = e >= emin ? p : p - (emin - e); /* bits that stay; fewer for a subnormal result */
    uint64_t q, rem;

    if (e > emax)
        return sign | inf;
    if (keep < 0)
        return sign;
    if (keep == 0) { /* between half and one smallest subnormal: a tie goes to 0 */
        q = 0;
        rem = top;
    } else {
        q = top >> (64 - keep);
        rem = top << keep;
    }
    /* rem / 2^64 and the tail are the part cut off */
    if (rem > (UINT64_C(1) << 63) || (rem == UINT64_C(1) << 63 && (sticky || (q & 1))))
        q++;
    /* a carry out of q walks into the exponent field, as it should, up to the infinity */
    if (e >= emin)
        q += (uint64_t)(e + emax - 1) << (p - 1);
    return sign | (q > inf ? inf : q);
}

/*
 * Loading and storing without aliasing trouble or alignment beyond that of the element. CUDA C makes single
 * bytes of such a memcpy().
 */
OZG_INLINE uint64_t ozg_load_bits(const void *x, int single, int64_t index)
{
    if (single) {
        uint32_t b;
#if defined(__CUDA_ARCH__)
        b = ((const uint32_t *)x)[index];
#else
        memcpy(&b, (const char *)x + 4 * index, 4);
#endif
        return ozg_f64_of_f32(b);
    } else {
        uint64_t b;
#if defined(__CUDA_ARCH__)
        b = ((const uint64_t *)x)[index];
#else
        memcpy(&b, (const char *)x + 8 * index, 8);
#endif
        return b;
    }
}

OZG_INLINE void ozg_store_bits(void *x, int single, int64_t index, uint64_t bits)
{
#if defined(__CUDA_ARCH__)
    if (single)
        ((uint32_t *)x)[index] = (uint32_t)bits;
    else
        ((uint64_t *)x)[index] = bits;
#else
    if (single) {
        uint32_t b = (uint32_t)bits;
        memcpy((char *)x + 4 * index, &b, 4);
    } else {
        memcpy((char *)x + 8 * index, &bits, 8);
    }
#endif
}

#endif
