/*
 * scaling.h - the scaling exponents D_i and E_j from what the scale stage found. doc/numerics.md secs. 2, 3.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_SCALING_H
#define OZG_SCALING_H

#include "backend.h"

/* ozg_scaling_fixed() - d = t - e. */
void ozg_scaling_fixed(ozg_lines *lines, int width);

/*
 * ozg_scaling_norm() - d = nu - e + g, where g is the largest integer with 4^g N <= Q(s). Then |c^| <= Q by
 * Cauchy and Schwarz (doc/bounds.md). Needs s >= ozg_scaling_least(). Returns the largest width d + e; 1 if
 * no line takes part.
 */
int ozg_scaling_norm(ozg_lines *lines, int s, uint64_t length);

/*
 * ozg_scaling_accurate() - d = 6 - e + g, where g is the largest integer with 4^g r <= Q(s) and r the largest
 * entry of the line's row or column of the product of ceilings ceil(2^(6 - e) |x|); r = 0: the line takes no
 * part. [EA] Algorithm 2. Needs s >= ozg_scaling_accurate_least(): 4096 k' <= Q(s), since rounding to nearest
 * is safe for g >= 0 only.
 */
void ozg_scaling_accurate(ozg_lines *lines, int s, const uint64_t *largest);
int ozg_scaling_accurate_least(uint64_t length);

/* ozg_scaling_least() - the fewest moduli for which g >= 0 for all data: 4^nu k' <= Q(s). 0: 49 are not
 * enough. */
int ozg_scaling_least(uint64_t length);

#endif
