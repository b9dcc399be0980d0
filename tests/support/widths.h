/*
 * widths.h - moduli and widths computed again from their definition, by GMP.
 *
 * M(s) is the largest product of s pairwise coprime numbers 2..256; t(s, k') is the largest t with k'
 * 2^(2t+2) <= M(s), where k' = k for real and 2k for complex products. Nothing here comes from the library.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TEST_WIDTHS_H
#define TEST_WIDTHS_H

#include <stdint.h>
#include <gmp.h>

enum { WIDTHS_MAX_MODULI = 49 };

/* widths_product() - M(s), 1 <= s <= WIDTHS_MAX_MODULI. The first call makes the table: one thread only. */
mpz_srcptr widths_product(int s);

/* widths_width() - t(s, k'); may be below 1. type is 's', 'd', 'c' or 'z'; k = 0 counts as 1. */
int widths_width(char type, int64_t k, int s);

/* widths_moduli_for_bits() - the smallest s in 2..49 with t(s, k') >= bits; 0 if there is none. */
int widths_moduli_for_bits(char type, int64_t k, int bits);

#endif
