/*
 * rns.h - a residue system: the moduli and every number that the stages need of them.
 *
 * Names as in [Xe2] sec. 4: M = prod m_l, y_l = (M/m_l)^-1 mod m_l, weight_l = y_l (M/m_l). An engine may
 * use any system whose M has room for c^: the result does not depend on it (doc/numerics.md sec. 2). There
 * are three for each canonical number of moduli s: that of the canonical moduli, for engines with 8-bit
 * residues, the cheapest of moduli of up to 16 bits that has as much room, and the cheapest with 8-bit
 * residues for complex products by 2M.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_RNS_H
#define OZG_RNS_H

#include "moduli.h"
#include "ozgemm.h"

#define OZG_SPLIT_LIMBS 9  /* 21-bit limbs of a^: ceil((171 + 1) / 21) */
#define OZG_SPLIT_PAIRS 6  /* pairs of its 15-bit digits: ceil((171 + 1) / 30) */
#define OZG_CRT_WORDS   6  /* 64-bit words of c^: floor(344 / 64) + 1 */
#define OZG_CRT_LIMBS   24 /* its 16-bit limbs */

#define OZG_BYTES_1 (3 * 255 * (1 + 3 * 127))
#define OZG_BYTES_2 (255 * 85 + 8 * 127)

typedef struct ozg_rns {
    int word; /* bytes of a residue, 1 or 2 */
    int nmod;
    int three; /* ozg_moduli_set */
    uint32_t m[OZG_NMOD_MAX];
    uint32_t inv[OZG_NMOD_MAX];                    /* floor(2^32 / m) */
    uint32_t offset[OZG_NMOD_MAX];                 /* -2^31 mod m */
    uint32_t power[OZG_NMOD_MAX][OZG_SPLIT_LIMBS]; /* 2^(21 l) mod m */
    /*
     * For engines that multiply pairs of 16-bit numbers: symmetric residues of 2^(30 i) and 2^(30 i + 15),
     * low and high half.
     */
    uint32_t power_pair[OZG_NMOD_MAX][OZG_SPLIT_PAIRS];
    /*
     * Word 1, for engines that multiply unsigned by signed bytes: symmetric residues of 1, 2^8, 2^16 and 2^24,
     * a byte each, and the least multiples of m from OZG_BYTES_1 and OZG_BYTES_2 on (x86/residues8_bytes.h).
     */
    uint32_t bytes[OZG_NMOD_MAX], bytes_1[OZG_NMOD_MAX], bytes_2[OZG_NMOD_MAX];
    int nword;                                    /* 64-bit words of c^: floor(log2 M / 64) + 1 */
    int nlimb;                                    /* its 16-bit limbs, 4 nword */
    uint32_t weight[OZG_NMOD_MAX][OZG_CRT_LIMBS]; /* y_l (M/m_l) in 16-bit limbs */
    uint32_t product[OZG_CRT_LIMBS];              /* M in 16-bit limbs */
    int quotient_shift;                           /* f */
    uint32_t quotient[OZG_NMOD_MAX];              /* RN(2^f y_l / m_l) */
    /*
     * Word 1. Balanced digits in [-2^15, 2^15) of the weights, and of -M as number nmod: numbers 2 j and
     * 2 j + 1 lie in the low and the high half of pair[j] (0 beyond the last).
     */
    int npair;
    uint32_t pair[(OZG_NMOD_MAX + 2) / 2][OZG_CRT_LIMBS];
    /* Word 2. Balanced digits in [-2^31, 2^31) of the weights, and of -M as number nmod. */
    int32_t wide[OZG_NMOD_MAX + 1][2 * OZG_CRT_WORDS];
    int fold_every[OZG_NMOD_MAX]; /* word 2: ozg_fold_every(), and c */
    int32_t fold_factor[OZG_NMOD_MAX];
} ozg_rns;

/*
 * ozg_rns_get() - the system for residues of `word` bytes, 1 or 2, that takes the place of s canonical
 * moduli, 2..49. Built once, never freed. Thread-safe. Errors: OZG_E_NOMEM.
 */
ozg_status ozg_rns_get(const ozg_rns **rns, int word, int s);

/* ozg_rns_complex() - the same for complex products by 2M, residues of 1 byte: ozg_moduli_complex(). */
ozg_status ozg_rns_complex(const ozg_rns **rns, int s);

/* ozg_rns_products() - products of residues for one product: s; complex 3 s, or fewer by 2M. */
static inline int ozg_rns_products(const ozg_rns *rns, int complex_)
{
    return complex_ ? 2 * rns->nmod + rns->three : rns->nmod;
}

#endif
