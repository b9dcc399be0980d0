/*
 * families.h - the test matrices of "ozgemm accuracy".
 *
 * Every entry is a function of the seed, the matrix and its place alone, so a family is the same for every
 * order of work. Families that use exp, log, pow, sin or cos may differ in last bits between C libraries;
 * the others may not.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TOOL_FAMILIES_H
#define OZG_TOOL_FAMILIES_H

#include <stdint.h>

#include "matrix.h"

struct family; /* one kind of matrices */

/* family_find() - by name: "uni", "unigrid", "phi2", "phi=0.5", ...; *phi is the number behind phi. NULL:
 * none. */
const struct family *family_find(const char *name, double *phi);

/* family_fill() - A (m x k) and B (k x n), whose type and sizes are set. */
void family_fill(const struct family *f, double phi, uint64_t seed, struct matrix *a, struct matrix *b);

/* family_text() - what it is, in one line. */
const char *family_text(const struct family *f);

/* family_even_k() - does it need an even k? */
int family_even_k(const struct family *f);

/* family_name() - the names in turn, for lists; NULL past the last. */
const char *family_name(int index);

/* families_all - every name that is no second one, with commas; phi with 0.5, 1, 2, 4, 10 and 20. */
extern const char families_all[];

/* random_bits() - 64 random bits: number index of a stream (SplitMix64 as a counter-based generator). */
uint64_t random_bits(uint64_t stream, uint64_t index);

#endif
