/*
 * moduli.h - the sets of moduli, and the width that a set allows. Doc: numerics.md sec. 2.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_MODULI_H
#define OZG_MODULI_H

#include <stdint.h>

#define OZG_NMOD_MIN  2
#define OZG_NMOD_MAX  49
#define OZG_WIDTH_MAX 171 /* of 49 moduli at k = 1 */

/* Pairwise coprime moduli in descending order (complex systems: of each kind), and their product M. */
typedef struct ozg_moduli_set {
    int nmod;
    int three; /* complex products: by 3M modulo the first so many, by 2M modulo the others */
    uint32_t m[OZG_NMOD_MAX];
    int bits;     /* M has this many bits */
    uint64_t top; /* floor(M 2^(64 - bits)): its leading 64 bits */
    /*
     * The same two of Q = (M >> 1) - (M >> 6), the largest |c^| that scaling from the data may reach: the
     * quotient of the reconstruction is then right on every engine (numerics.md sec. 3).
     */
    int most_bits;
    uint64_t most_top;
} ozg_moduli_set;

/*
 * ozg_moduli_get() - the canonical set: the s moduli <= 256 with the largest product, s in 2..49. Computed
 * once per process (a few ms); cannot fail. Thread-safe.
 */
const ozg_moduli_set *ozg_moduli_get(int s);

/* Odd moduli have 15 bits at most, so that sums of two residues fit 16 bits, and (2^17 + 2^8) m fits 32. */
#define OZG_WIDE_ODD_MAX 32703

/*
 * ozg_moduli_wide() - moduli of up to 16 bits that take the place of the canonical s: 2^16 and odd ones,
 * the cheapest whose product M' has room for every |c^| <= floor(M/2) - floor(M/64), M the canonical
 * product, with M'/2^13 to spare for the error of the quotient (rns.c). Takes up to a few milliseconds.
 */
void ozg_moduli_wide(int s, ozg_moduli_set *set);

/*
 * ozg_moduli_root() - the least j with j^2 = -1 mod m, or 0. Odd m have one if all their primes are 1 mod 4.
 * Products of complex numbers mod such an m by 2M: with x = (a + j b)(c + j d) and y = (a - j b)(c - j d),
 *     ac - bd = (x + y) / 2,    ad + bc = (x - y) / (2 j)    (mod m).
 */
uint32_t ozg_moduli_root(uint32_t m);

/*
 * ozg_moduli_complex() - moduli <= 256 that take the place of the canonical s in complex products by 2M: 2
 * (nmod - three) + 3 three products in place of 3 s. First those by 3M, which are coprime to all numbers of
 * the list by 2M, then those by 2M. They have room as those of ozg_moduli_wide() have. Where no such system
 * has fewer products it is the canonical one, three = s. Computed once per process (a few ms). Thread-safe.
 */
const ozg_moduli_set *ozg_moduli_complex(int s);

/*
 * Engines with 16-bit residues x, |x| <= h = floor((m - 1) / 2), fold their 32-bit sums every so many
 * products:
 *     fold(v) = floor(v / 2^16) c + (v mod 2^16) - 2^15 = v - 2^15 (mod m),    c = 2^16 mod m, of least size,
 * so |fold(v)| <= 2^15 (|c| + 1), whatever v is.
 */
#define OZG_K_BLOCK 512 /* most products of one call of a micro-kernel */

/* ozg_fold_factor() - c. ozg_fold_every() - the products between folds, a multiple of 4 up to OZG_K_BLOCK. */
int32_t ozg_fold_factor(uint32_t m);
int ozg_fold_every(uint32_t m);

/*
 * ozg_moduli_width() - the largest t with length 2^(2t+2) <= M, which may be below 1; length >= 1 is k' = k,
 * complex 2 k. With |a^|, |b^| <= 2^t this keeps |c^| <= M / 4. [Xe2] sec. 4.1, Eq. 4.
 */
int ozg_moduli_width(int s, uint64_t length);

/* ozg_moduli_for_width() - the fewest moduli whose width is at least t; 0 if 49 are not enough. */
int ozg_moduli_for_width(int t, uint64_t length);

#endif
