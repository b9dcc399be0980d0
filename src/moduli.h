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

/* The s pairwise coprime moduli <= 256 with the largest product M, in descending order. */
typedef struct ozg_moduli_set {
    int nmod;
    uint16_t m[OZG_NMOD_MAX];
    int bits;     /* M has this many bits */
    uint64_t top; /* floor(M 2^(64 - bits)): its leading 64 bits */
    /*
     * The same two of Q = (M >> 1) - (M >> 6), the largest |c^| that scaling from the data may reach: the
     * quotient of the reconstruction is then right on every engine (numerics.md sec. 3).
     */
    int most_bits;
    uint64_t most_top;
} ozg_moduli_set;

/* ozg_moduli_get() - the set of s moduli, s in 2..49. Computed once per process (a few ms); cannot fail.
 * Thread-safe. */
const ozg_moduli_set *ozg_moduli_get(int s);

/*
 * ozg_moduli_width() - the largest t with length 2^(2t+2) <= M, which may be below 1; length >= 1 is k' = k,
 * complex 2 k. With |a^|, |b^| <= 2^t this keeps |c^| <= M / 4. [Xe2] sec. 4.1, Eq. 4.
 */
int ozg_moduli_width(int s, uint64_t length);

/* ozg_moduli_for_width() - the fewest moduli whose width is at least t; 0 if 49 are not enough. */
int ozg_moduli_for_width(int t, uint64_t length);

#endif
