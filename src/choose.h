/*
 * choose.h - the number of moduli of native and rounded products, and the scaling along k, from a sample.
 *
 * For native the choice is part of the definition of the result: integers and fixed constants only
 * (doc/bounds.md). For rounded it decides the time alone.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CHOOSE_H
#define OZG_CHOOSE_H

#include "backend.h"

typedef struct ozg_choice {
    int nmod;
    int shifted;      /* the shifts along k pay: they are in shift_a and shift_b */
    uint64_t repairs; /* estimate of entries to be repaired */
} ozg_choice;

/*
 * ozg_choose() - both operands scaled and measured (scale, norms), without shifts. s: the number of moduli if
 * that is given and only the repairs are wanted, else 0. shift_a, shift_b: room for k shifts each, or NULL
 * where there must be none. memory: ozg_choose_bytes().
 */
ozg_choice ozg_choose(const ozg_stage *st, const ozg_lines *a, const ozg_lines *b, int s, int16_t *shift_a,
                      int16_t *shift_b, void *memory);

size_t ozg_choose_bytes(char type, int64_t m, int64_t n, int64_t k);

#endif
