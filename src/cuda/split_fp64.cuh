/*
 * split_fp64.cuh - x^, residuals and floors of doubles by floating point, where that is as fast as it is on
 * devices for servers.
 *
 * With y = x 2^d, |y| <= 2^w, and U = 2^(26 i) for limb i from the last one down to 0,
 *
 *     z = RN(y + 3/2 2^52 U + 2^31 U)      a multiple of U, since it lies in [2^52 U, 2^53 U)
 *     y := y - (z - 3/2 2^52 U - 2^31 U)   what is left, at most U / 2 in size
 *
 * the low word of z is limb i + 2^31 of x^ as split_table.h wants it. Every difference is exact: if |y| < U / 2
 * the limb is 0 and y stays; else ulp(y) >= 2^-52 U / 2, of which what is left, at most U / 2, is a multiple of
 * at most 2^52. Of the last z (U = 1) the rounding is that of x^, to nearest with ties to even, since all other
 * limbs are multiples of 2^26. Limbs of x^ are at most 2^25 in size, the last one 2^(w - 26 i) <= 2^30.
 *
 *     ceil(|y| 2^16) and floor(|x| 2^(bits - e)) are the low words of RU(|y| 2^16 + 2^52) and
 *     RD(|x| 2^(bits - e) + 2^52): numbers in [2^52, 2^53) have no digits behind the point.
 *
 * All this wants y exact: 2^d is a normal double, and y is 0 or normal where d < 0 (SPLIT_TINY).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_SPLIT_FP64_CUH
#define OZG_CUDA_SPLIT_FP64_CUH

#include "cuda/split_words.cuh"

/* 2^n, a normal double. */
OZG_DEVICE double power_of_two(int32_t n)
{
    return __hiloint2double((n + 1023) << 20, 0);
}

/* 2^d and 2^(bits - e) of a line are normal doubles. SPLIT_TINY is for what this leaves open. */
OZG_DEVICE int powers_fit(const split_thread &t)
{
    const int32_t d = OZG_CUDA_UNIT - t.from, floors = OZG_CUDA_UNIT - t.from_floor;

    return d >= -1000 && d <= 1023 && floors >= -1022 && floors <= 1023;
}

/* No y = x 2^d of the thread but 0 is below the normal numbers, d < 0. */
template <int N> OZG_DEVICE int all_normal(const uint64_t (&x)[N], const split_thread &t)
{
    const uint32_t least = (uint32_t)max(1 - (OZG_CUDA_UNIT - t.from), 1) << 20;
    int normal = 1;

#pragma unroll
    for (int i = 0; i < N; i++) {
        const uint32_t hi = (uint32_t)(x[i] >> 32) & 0x7fffffff;

        normal &= hi >= least || (hi | (uint32_t)x[i]) == 0;
    }
    return normal;
}

/* Takes limb i off y; returns it as split_table.h wants it. */
template <int i> OZG_DEVICE uint32_t take_limb(double &y)
{
    const double unit = i == 2 ? 0x1p52 : i == 1 ? 0x1p26 : 1, above = unit * (0x1.8p52 + 0x1p31);
    const double z = __dadd_rn(y, above);

    y = __dsub_rn(y, __dsub_rn(z, above));
    return (uint32_t)__double2loint(z);
}

/* scale_words(), by L limbs. */
template <int L, int parts, int Q, int full>
OZG_DEVICE void scale_limbs(uint32_t (&w)[4 * Q * parts][L], const uint64_t (&x)[4 * Q * parts],
                            const split_work &v, const split_thread &t, uint32_t p,
                            const split_stores &stores, int g0, split_norms &norms)
{
    const double power = power_of_two(OZG_CUDA_UNIT - t.from),
                 floor_power =
                     power_of_two(max(OZG_CUDA_UNIT - t.from_floor, -1022)); /* lines of zeros: any */
    uint32_t floors[parts][Q];

    for (int part = 0; part < parts; part++)
        for (int g = 0; g < Q; g++)
            floors[part][g] = 0;
#pragma unroll
    for (int i = 0; i < 4 * Q * parts; i++) {
        const uint64_t sign = parts == 2 && i % 2 ? (uint64_t)(v.conj & 0x80000000) << 32 : 0;
        const double number = __longlong_as_double((long long)(x[i] ^ sign));
        double y = __dmul_rn(number, power);

        if (L == 3)
            w[i][2 % L] = take_limb<2>(y);
        w[i][1] = take_limb<1>(y);
        w[i][0] = take_limb<0>(y);
        if (full) {
            const double f = __fma_rd(fabs(number), floor_power, 0x1p52);

            add_residual(norms, (uint32_t)__double2loint(__fma_ru(fabs(y), 0x1p16, 0x1p52)),
                         4 * g0 + i / parts);
            floors[i % parts][i / (4 * parts)] |= (uint32_t)__double2loint(f) << 8 * (i / parts % 4);
        }
    }
    if (full && v.native)
        store_floors<parts, Q>(floors, v, t, p, stores);
}

#endif
