/*
 * split_table.h - the constants that take x^ to its residue, of one modulus.
 *
 * x^ lies in W words of 32 bits, biased: X = x^ + 2^(32 W - 1), W one of OZG_CUDA_SPLIT_WORDS. Over the bytes
 * X_b of X, with signed residues P_b of 256^b,
 *
 *     v = sum X_b P_b = X (mod m),    |v| <= 24 255 128 < 2^20                  [Xe2] sec. 4.2 with bytes
 *     f = v R + K mod 2^32,           R = RN(2^32 / m), K = c R + floor(2^31 / m)
 *     the residue is byte 2 of (f >> 16) T + A
 *
 * with h = floor((m - 1) / 2), c = h - 2^(32 W - 1) mod m, T = m, A = (256 - h) 2^16. Proof for odd m, with u
 * = v + c = q m + r, u = x^ + h (mod m), 0 <= r < m, R = (2^32 + z) / m, |z| <= m / 2: f is, mod 2^32,
 *
 *     (r 2^32 + u z + 2^31) / m - y,    0 <= y < 1.
 *
 * |u| < 2^22 (see `both`), so |u z| < 2^29: this lies in (0, 2^32), so it is f, and
 *
 *     f m < (r + 1) 2^32                so    (f >> 16) m < (r + 1) 2^16
 *     f m > r 2^32 + 2^30               so    (f >> 16) m > f m / 2^16 - m >= r 2^16 + 2^14 - m > r 2^16.
 *
 * Byte 2 of the sum is then r + 256 - h mod 256, the byte of r - h, which is the symmetric residue
 * (arith/residue.h). m = 256: P = 1, 0, 0 .., R = 2^24, K = 0, T = 255, A = 65280. f >> 16 = 256 r, r the
 * lowest byte of X, and 65280 r + 65280 lies in [65536 r, 65536 (r + 1)) for r <= 255.
 *
 * Re + Im, with both c in: f(Re) + f(Im) - B, where B = h R + floor(2^31 / m), is f of u = u_Re + u_Im - h.
 *
 * Re + j Im and Re - j Im, j^2 = -1 (2M): with J = RN(j 2^32 / m), w = v(Im) + c', c' = -2^(32 W - 1) mod m,
 *
 *     f(Re) + w J and f(Re) - w J mod 2^32 are f of u + j w and u - j w, u = v(Re) + c:
 *
 * w = Im^ (mod m), and with J = (j 2^32 + y) / m, |y| <= m / 2, the error u z / m above becomes (u z +- w y)
 * / m. |u|, |w| < 2^20 + 2^8, so that |u z +- w y| < 2^29, too, and the rest follows as before.
 *
 * Where x^ comes from floating point (split_fp64.cuh) it lies in L = 2 or 3 limbs of 26 bits instead, the last one
 * longer, each in a word of its own and biased by 2^31: X = sum (limb_i + 2^31) 2^(26 i). Then P_b are of 2^(26
 * i) 256^b, 2^(32 W - 1) above is sum 2^(26 i + 31), and all else is the same.
 *
 * Tested for all moduli by enumeration: tests/cuda/test_split_table.c.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_SPLIT_TABLE_H
#define OZG_CUDA_SPLIT_TABLE_H

#include <stdint.h>

/*
 * How x^ lies: in 1, 2, 3 or 6 words, or in 2 or 3 limbs. Of width w = d + e (lines.h), |x^| <= 2^w: w <= 32 W
 * - 2, or w <= 26 L + 4, so that the last limb is at most 2^30.
 */
enum {
    OZG_CUDA_SPLIT_1,
    OZG_CUDA_SPLIT_2,
    OZG_CUDA_SPLIT_3,
    OZG_CUDA_SPLIT_6,
    OZG_CUDA_SPLIT_2_LIMBS,
    OZG_CUDA_SPLIT_3_LIMBS,
    OZG_CUDA_SPLIT_FORMS
};
#define OZG_CUDA_SPLIT_WORDS     6
#define OZG_CUDA_SPLIT_LIMBS     3
#define OZG_CUDA_SPLIT_LIMB_BITS 26

typedef struct ozg_cuda_split_modulus {
    uint32_t ratio;                        /* R */
    uint32_t times;                        /* T 2^8 */
    uint32_t add;                          /* A */
    uint32_t both;                         /* B */
    uint32_t offset[OZG_CUDA_SPLIT_FORMS]; /* K */
    uint32_t power[OZG_CUDA_SPLIT_WORDS];  /* P of words, four bytes each */
    uint32_t limb[OZG_CUDA_SPLIT_LIMBS];   /* P of limbs */
    uint32_t root;                         /* J; 3M: unused */
    uint8_t start[8];                      /* c' of each form; 3M: unused */
    uint32_t unused[2];                    /* a multiple of 16 bytes */
} ozg_cuda_split_modulus;

/* ozg_cuda_split_modulus_build() - the constants of m, which is 256 or odd and below. j: 2M, else 0. */
void ozg_cuda_split_modulus_build(ozg_cuda_split_modulus *t, uint32_t m, uint32_t j);

#endif
