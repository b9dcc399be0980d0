/*
 * special.h - entries of C whose row or column has Inf or NaN. doc/numerics.md sec. 8.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_SPECIAL_H
#define OZG_SPECIAL_H

#include "backend.h"

/*
 * ozg_special_rows_columns() - C(i, j) for every special row i and every special column j, as IEEE
 * arithmetic would have it. *rows, *columns: how many there are. Takes at most `memory` bytes of its own,
 * or none at all.
 */
void ozg_special_rows_columns(const ozg_stage *st, const ozg_lines *a, const ozg_lines *b, void *c,
                              int64_t ldc, size_t memory, uint64_t *rows, uint64_t *columns);

#endif
