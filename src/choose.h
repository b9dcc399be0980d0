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
#include "decide.h"

/*
 * ozg_choose() - both operands scaled and measured (scale, norms). s: the number of moduli if that is given
 * and only the repairs are wanted, else 0. apart: lines may be computed apart. shift_a, shift_b: room for k
 * shifts each, where the lines have none yet; NULL: they keep those of their views. memory:
 * ozg_choose_bytes().
 */
ozg_choice ozg_choose(const ozg_stage *st, const ozg_lines *a, const ozg_lines *b, int s, int apart,
                      int16_t *shift_a, int16_t *shift_b, void *memory);

/*
 * ozg_choose_far() - sets the flags of the rows and columns that are far out, by rule 4 of apart.h; the
 * others are cleared. The lines as in ozg_choose(), with the shifts that it chose. memory: at least
 * ozg_choose_bytes(); more is of use to more threads.
 */
void ozg_choose_far(const ozg_stage *st, const ozg_lines *a, const ozg_lines *b, const ozg_apart *apart,
                    uint8_t *far_a, uint8_t *far_b, void *memory, size_t bytes);

size_t ozg_choose_bytes(char type, int64_t m, int64_t n, int64_t k);

#endif
