/*
 * reduce_table.h - the constants by which the product kernels take a 32-bit sum to its symmetric residue.
 *
 * Two forms, both exact: what is rounded is a quotient, and it is rounded to the right integer. In both the
 * residue is the low byte of x - q m, with q in the low byte of a float of known exponent, whatever lies
 * above.
 *
 * By bytes (any sum). The bytes b_i of x + 2^31 give v = sum b_i (256^i mod m) + C, a number >= 0 of the
 * class of x. The bits of 2^23 + v are those of 2^23 plus v, so that no conversion is needed, and
 *
 *     q = RN((2^23 + v) R + (2^23 + 2^14 - 256 - 2^23 R)),    R = n / 2^24, n = RN(2^24 / m),
 *
 * one rounding to an integer, since the result is in [2^23, 2^24). The constant is a multiple of 1/2 between
 * 2^22 and 2^24, hence exact, and 2^14 - 256 is 0 in the low byte. v / m is at least 1 / (2 m) from the
 * middle of two integers (m is odd), so that v |R - 1/m| < 1 / (2 m), that is v |n m - 2^24| < 2^23, is
 * enough. It holds for all canonical moduli: the largest v |n m - 2^24| is 0.78 2^23, of m = 245.
 *
 * Direct (short sums). |x| <= k h^2 <= 2^24 is exact as a float, h the largest residue, and q = RN(x I + 1.5
 * 2^23), I = RN(1 / m): one rounding again, right if |x| |I m - 1| < 1/2. `direct` is the largest such k, 524
 * or more.
 *
 * m = 256: the low byte of x is its residue, whatever q is.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_REDUCE_TABLE_H
#define OZG_CUDA_REDUCE_TABLE_H

#include <stdint.h>

typedef struct ozg_cuda_reduce {
    uint32_t powers; /* bytes: 256^i mod m, symmetric */
    uint32_t start;  /* the bits of 2^23, plus C */
    float scale;     /* R */
    float bias;      /* 2^23 + 2^14 - 256 - 2^23 R */
    float inverse;   /* I */
    uint32_t modulus;
    int32_t direct; /* elements of k up to which the direct form is right */
    int32_t reserved;
} ozg_cuda_reduce;

/* ozg_cuda_reduce_build() - the constants of m: 256, or odd and 3..255, of which both conditions hold. */
void ozg_cuda_reduce_build(ozg_cuda_reduce *t, uint32_t m);

#endif
