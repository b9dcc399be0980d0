/*
 * residue.h - from a scaled number to its residues, and from 32-bit sums back to residues, in 32-bit
 * integers.
 *
 * a^ = RN_int(a 2^D) has at most 53 significant bits, so a^ = (-1)^neg mant 2^shift. Its 21-bit limbs u_l
 * give
 *
 *     |a^| mod m = ( sum_l u_l (2^(21 l) mod m) ) mod m          [Xe2] sec. 4.2, on the magnitude
 *
 * and at most four limbs are not 0, so that the sum is below 4 * 2^21 * 255 < 2^31 for m <= 256, and below
 * 2^39 for m <= 2^16. Written once for C11, CUDA C and OpenCL C.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_ARITH_RESIDUE_H
#define OZG_ARITH_RESIDUE_H

#include <stdint.h>

#include "arith/inline.h"

#define OZG_LIMB_BITS 21
#define OZG_LIMB_MASK ((UINT32_C(1) << OZG_LIMB_BITS) - 1)

/* |a^| = mant 2^shift with mant < 2^53 and shift >= 0. */
typedef struct ozg_scaled {
    uint64_t mant;
    int32_t shift;
    int neg;
} ozg_scaled;

/*
 * ozg_scale_bits() - RN_int(a 2^d), ties to even, for the finite double with these bits. A d below -2^19 (the
 * mark of a row that takes no part) gives 0 for any bits, Inf and NaN included. Shifts stay below 64 for
 * every d.
 */
OZG_INLINE ozg_scaled ozg_scale_bits(uint64_t bits, int32_t d)
{
    ozg_scaled z;
    int32_t e = (int32_t)(bits >> 52 & 0x7ff), up, down;
    uint64_t mant = (bits & ((UINT64_C(1) << 52) - 1)) | (uint64_t)(e > 0) << 52;

    z.neg = (int)(bits >> 63);
    up = (e > 0 ? e : 1) - 1075 + d;
    down = up < 0 ? (up < -63 ? 63 : -up) : 0;
    if (down) /* half - 1 + the last bit kept: rounds up above a tie, and at a tie if that bit is odd */
        mant = (mant + (UINT64_C(1) << (down - 1)) - 1 + (mant >> down & 1)) >> down;
    z.mant = mant;
    z.shift = up > 0 ? up : 0;
    return z;
}

/* Limb l, bits 21 l .. 21 l + 20, of mant 2^shift. One of the two shifts is always by 0. */
OZG_INLINE uint32_t ozg_limb(uint64_t mant, int32_t shift, int l)
{
    int32_t d = shift - OZG_LIMB_BITS * l;
    int32_t left = d > 0 ? (d > 63 ? 63 : d) : 0, right = d < 0 ? (d < -63 ? 63 : -d) : 0;

    return (uint32_t)(mant << left >> right) & OZG_LIMB_MASK;
}

/* v mod m for any 32-bit v; inv = floor(2^32 / m). The quotient is at most 1 too small [Xe2] sec. 4.2,
 * Barrett. */
OZG_INLINE uint32_t ozg_mod(uint32_t v, uint32_t m, uint32_t inv)
{
    uint32_t r = v - (uint32_t)((uint64_t)v * inv >> 32) * m;

    return r >= m ? r - m : r;
}

/* -r mod m, for r in [0, m). */
OZG_INLINE uint32_t ozg_mod_negate(uint32_t r, uint32_t m)
{
    return r ? m - r : 0;
}

/*
 * The symmetric residue in [-h, m - 1 - h], h = floor((m - 1) / 2), of r in [0, m). It fits an int8 for m <
 * 256; for m = 256 the residue 128 is stored as -128, which is in the same class. Likewise int16 and 2^16.
 */
OZG_INLINE int32_t ozg_symmetric(uint32_t r, uint32_t m)
{
    return (int32_t)r - (r > m / 2 ? (int32_t)m : 0);
}

/*
 * ozg_mod_sum() - (old + sum) mod m for old in [0, m) and a 32-bit signed sum. offset = -2^31 mod m in [0,
 * m) repays the 2^31 that makes the sum unsigned. For m = 256 and 2^16 the sum may have wrapped: 2^32 is a
 * multiple of both.
 */
OZG_INLINE uint32_t ozg_mod_sum(uint32_t old, int32_t sum, uint32_t m, uint32_t inv, uint32_t offset)
{
    uint32_t v = (uint32_t)sum ^ UINT32_C(0x80000000);
    uint32_t r = v - (uint32_t)((uint64_t)v * inv >> 32) * m + old + offset; /* < 4 m */

    r = r >= 2 * m ? r - 2 * m : r;
    return r >= m ? r - m : r;
}

#endif
