/*
 * halves.cuh - residues of Re and Im from those of the planes of a complex product, four moduli at a time.
 *
 * All moduli but 256 are odd, so that a sum or difference v of two symmetric residues has a half mod m that
 * is a symmetric residue again: v / 2, or (v - m) / 2 of odd v > 0 and (v + m) / 2 of odd v < 0. With
 * half() for this,
 *
 *     2M    Re = half(x + y)          j Im = half(x - y)
 *     3M    Re / 2 = half(P0 - P1)    Im / 4 = half(half(P2) - half(P0 + P1))
 *     256   Re = P0 - P1              Im = P2 - P0 - P1, any byte of the class
 *
 * and the factors 1 / j, 2 and 4 are in the weights (reconstruct_table.h). In words of four bytes each is X
 * = x + 128: floor((x + y) / 2) + 128 = (X & Y) + ((X ^ Y) >> 1), whose bytes do not meet, and odd bytes
 * get -(m - 1) / 2 or (m + 1) / 2 on top. All of it is enumerated: tests/cuda/test_reconstruct_table.c.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_HALVES_CUH
#define OZG_CUDA_HALVES_CUH

#include "cuda/device.cuh"
#include "cuda/kernels.h"
#include "cuda/table.h"

#define OZG_CUDA_BIAS 0x80808080u

/* k: ozg_cuda_weights.half of the four moduli. f = floor(v / 2) + 128; bit 0 of bytes of `odd`: v is odd. */
OZG_DEVICE uint32_t ozg_cuda_half(uint32_t f, uint32_t odd, const uint4 &k)
{
    const uint32_t positive = f >> 7;

    odd &= 0x01010101u;
    return f + ((odd & ~positive) * 255 & k.y) - ((odd & positive) * 255 & k.x);
}

OZG_DEVICE uint32_t ozg_cuda_half_sum(uint32_t x, uint32_t y, const uint4 &k)
{
    return ozg_cuda_half((x & y) + (((x ^ y) & 0xfefefefeu) >> 1), x ^ y, k);
}

/* X - Y is even more than X + ~Y, by 1: its half is rounded up. */
OZG_DEVICE uint32_t ozg_cuda_half_difference(uint32_t x, uint32_t y, const uint4 &k)
{
    return ozg_cuda_half((x | ~y) - ((~(x ^ y) & 0xfefefefeu) >> 1), x ^ y, k);
}

/* Low bytes of x from y. */
OZG_DEVICE uint32_t ozg_cuda_low_byte(uint32_t x, uint32_t y)
{
    return (x & ~0xffu) | (y & 0xffu);
}

/*
 * ozg_cuda_components() - a, b: bytes of the first two planes of four moduli, c: of the third, where some of
 * them are by 3M (three). Re, or that of the table, to a, Im to b.
 */
OZG_DEVICE void ozg_cuda_components(uint32_t *a, uint32_t *b, uint32_t c, int three, const uint4 &k)
{
    const uint32_t x = *a ^ OZG_CUDA_BIAS, y = *b ^ OZG_CUDA_BIAS;
    const uint32_t sum = ozg_cuda_half_sum(x, y, k), difference = ozg_cuda_half_difference(x, y, k);
    uint32_t re = sum ^ OZG_CUDA_BIAS, im = difference ^ OZG_CUDA_BIAS;

    if (three) {
        const uint32_t half = ozg_cuda_half_sum(c ^ OZG_CUDA_BIAS, OZG_CUDA_BIAS, k);
        const uint32_t third = ozg_cuda_half_difference(half, sum, k) ^ OZG_CUDA_BIAS, by_three = k.z;
        const uint32_t swap = (re ^ im) & by_three;

        re ^= swap;
        im = (im & ~by_three) | (third & by_three);
        if (k.w) { /* the first one is 256 */
            re = ozg_cuda_low_byte(re, *a - *b);
            im = ozg_cuda_low_byte(im, c - *a - *b);
        }
    }
    *a = re;
    *b = im;
}

/* The half of v mod m, odd m, |v| < m. */
OZG_DEVICE int ozg_cuda_half_of(int v, int m)
{
    return (v + (v % 2 == 0 ? 0 : v > 0 ? -m : m)) / 2;
}

/* The same for one entry and one modulus: number l of t, at byte `at` of the planes. */
OZG_DEVICE int ozg_cuda_component(const ozg_cuda_table *t, const ozg_cuda_residues *in, int l, int component,
                                  int64_t at)
{
    const int64_t plane = in->columns * in->ld;
    const int8_t *p = (const int8_t *)in->base + l * plane + at;
    const int m = (int)t->reduce[l].modulus, a = p[0], b = p[t->nmod * plane];
    int third;

    if (l >= t->three)
        return ozg_cuda_half_of(component ? a - b : a + b, m);
    if (!component)
        return m == 256 ? (int8_t)(a - b) : ozg_cuda_half_of(a - b, m);
    third = p[2 * t->nmod * plane];
    if (m == 256)
        return (int8_t)(third - a - b);
    return ozg_cuda_half_of(ozg_cuda_half_of(third, m) - ozg_cuda_half_of(a + b, m), m);
}

#endif
