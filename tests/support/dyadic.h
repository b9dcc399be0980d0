/*
 * dyadic.h - exact numbers z 2^e and their one rounding, for the oracle.
 *
 * An extended number is a dyadic number, an infinity or NaN. Sums and products of extended numbers follow
 * IEEE arithmetic, but finite ones never round and never overflow.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TEST_DYADIC_H
#define TEST_DYADIC_H

#include <stddef.h>
#include <gmp.h>

enum ext_kind { EXT_FINITE, EXT_PLUS_INF, EXT_MINUS_INF, EXT_NAN };

struct ext {
    mpz_t z; /* the value is z 2^e when kind is EXT_FINITE */
    long e;
    enum ext_kind kind;
};

void ext_init(struct ext *x); /* 0 */
void ext_clear(struct ext *x);
void ext_set(struct ext *x, const struct ext *y);
void ext_set_double(struct ext *x, double d);
void ext_set_mpz(struct ext *x, const mpz_t z, long e);
void ext_neg(struct ext *x);
void ext_abs(struct ext *x);
int ext_sign(const struct ext *x); /* -1, 0, 1; 0 for NaN */

/* ext_add() - x += y. */
void ext_add(struct ext *x, const struct ext *y);

/* ext_mul() - x *= y. */
void ext_mul(struct ext *x, const struct ext *y);

/* ext_shift() - x *= 2^n. */
void ext_shift(struct ext *x, long n);

/* ext_cmp() - sign of x - y; both finite. */
int ext_cmp(const struct ext *x, const struct ext *y);

/*
 * ext_round() - RN(x) in binary64 (single = 0) or binary32 (single = 1), by MPFR with one rounding into the
 * subnormal range and to infinity. An exact zero is +0; what rounds to zero keeps its sign; NaN is the
 * default quiet NaN.
 */
double ext_round(const struct ext *x, int single);

/* ext_round_by_hand() - the same by integer division on the mantissa, to check ext_round(). */
double ext_round_by_hand(const struct ext *x, int single);

/* quiet_nan() - the default quiet NaN, 0x7FF8000000000000. */
double quiet_nan(void);

#endif
