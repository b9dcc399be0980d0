/*
 * reconstruct_table.h - the constants by which residues become c^: weights and quotient in digits of 16
 * bits.
 *
 * From symmetric residues r_l (8 bits, |r_l| <= h_l) of c^, [Xe2] sec. 4.4 with symmetric inverses:
 *
 *     Z = sum_l r_l W_l,  W_l = y_l (M / m_l),  y_l the inverse of M / m_l mod m_l of least size,
 *     c^ = Z - q M,  q = rint(Z / M),  Z / M = sum_l r_l y_l / m_l.
 *
 * Digits are balanced, in [-2^15, 2^15): of W_l and of -M, the least significant first. Digit sums are exact
 * in 32 bits: sum_l h_l <= 3653, so that three sums (complex: P2 - P0 - P1) are at most 3 * 3653 * 2^15 <
 * 2^28.5 in size; q is at most 3 * 3653 / 2 + 1 < 2^12.5, q times a digit 2^27.5; and a carry 2^14: below
 * 2^31. c^ is found modulo 2^(16 nlimb), which holds it: |c^| <= Q < 2^(16 nlimb - 1).
 *
 * The quotient. y_l / m_l = (F_l + G_l / 2^16) / 2^16 up to 2^-33, F_l in (-2^15, 2^15), G_l in [-2^15,
 * 2^15). q = floor(sum / 2^16 + 1/2) is right if |c^| / M + error < 1/2; for |c^| <= Q = floor(M / 2) -
 * floor(M / 64) that is error < 1/64 - 1/M (doc/bounds.md sec. 2). The error is
 *
 *     one digit, sum r_l F_l:
 *         at most sum h_l |F_l / 2^16 - y_l / m_l|, 0.981 / 64 for every s (s = 47; 0.42 / 64 for s = 16)
 *     two digits, sum r_l F_l + floor(sum r_l G_l / 2^16), of three residues:
 *         at most 3 * 1.5e-5 / 64 + 2^-16 < 0.002 / 64
 *
 * tests/cuda/test_reconstruct_table.c computes both for every s in rational numbers, and reconstructs +-Q.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_RECONSTRUCT_TABLE_H
#define OZG_CUDA_RECONSTRUCT_TABLE_H

#include "rns.h"

#define OZG_CUDA_GROUPS      ((OZG_NMOD_MAX + 3) / 4) /* of four moduli */
#define OZG_CUDA_DIGITS      (2 + OZG_CRT_LIMBS)      /* F, G, then those of W */
#define OZG_CUDA_QUAD_DIGITS 12                       /* c^ of up to 24 moduli */

typedef struct ozg_cuda_weights {
    int32_t nlimb; /* digits that hold c^: the least of 2, 4, 6, 7, 8, 10, 12, 16, 20, 24 */
    int32_t reserved;
    int32_t product[OZG_CRT_LIMBS]; /* of -M */
    /*
     * For matrix instructions (reconstruct_quads.cuh), up to OZG_CUDA_QUAD_DIGITS digits: balanced bytes of
     * F and of the W_l, fragment[T][g][lane]: byte 2 (T - 1) + lane / 4 % 2 of the weights, T = 0: of F, of
     * moduli 16 g + 4 (lane % 4) .. + 3.
     */
    uint32_t fragment[1 + OZG_CUDA_QUAD_DIGITS][2][32];
    /* digit[i][g][h]: digits i of moduli 4 g + 2 h (low half) and 4 g + 2 h + 1; 0 beyond the last modulus */
    uint32_t digit[OZG_CUDA_DIGITS][OZG_CUDA_GROUPS][2];
} ozg_cuda_weights;

/* ozg_cuda_weights_build() - for a system of words of 1 byte. */
void ozg_cuda_weights_build(ozg_cuda_weights *t, const ozg_rns *rns);

#endif
