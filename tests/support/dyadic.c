/*
 * dyadic.c - exact numbers z 2^e (GMP) and their one rounding (MPFR).
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <mpfr.h>

#include "dyadic.h"

double quiet_nan(void)
{
    uint64_t bits = UINT64_C(0x7FF8000000000000);
    double d;

    memcpy(&d, &bits, sizeof d);
    return d;
}

void ext_init(struct ext *x)
{
    mpz_init(x->z);
    x->e = 0;
    x->kind = EXT_FINITE;
}

void ext_clear(struct ext *x)
{
    mpz_clear(x->z);
}

void ext_set(struct ext *x, const struct ext *y)
{
    mpz_set(x->z, y->z);
    x->e = y->e;
    x->kind = y->kind;
}

static void set_kind(struct ext *x, enum ext_kind kind)
{
    mpz_set_ui(x->z, 0);
    x->e = 0;
    x->kind = kind;
}

void ext_set_double(struct ext *x, double d)
{
    if (isnan(d)) {
        set_kind(x, EXT_NAN);
    } else if (isinf(d)) {
        set_kind(x, d > 0 ? EXT_PLUS_INF : EXT_MINUS_INF);
    } else {
        int e;
        double f = frexp(d, &e);

        mpz_set_d(x->z, ldexp(f, 53));
        x->e = e - 53;
        x->kind = EXT_FINITE;
    }
}

void ext_set_mpz(struct ext *x, const mpz_t z, long e)
{
    mpz_set(x->z, z);
    x->e = e;
    x->kind = EXT_FINITE;
}

void ext_neg(struct ext *x)
{
    mpz_neg(x->z, x->z);
    if (x->kind == EXT_PLUS_INF)
        x->kind = EXT_MINUS_INF;
    else if (x->kind == EXT_MINUS_INF)
        x->kind = EXT_PLUS_INF;
}

int ext_sign(const struct ext *x)
{
    if (x->kind == EXT_FINITE)
        return mpz_sgn(x->z);
    return x->kind == EXT_PLUS_INF ? 1 : x->kind == EXT_MINUS_INF ? -1 : 0;
}

void ext_abs(struct ext *x)
{
    if (ext_sign(x) < 0)
        ext_neg(x);
}

/* Bring x and y (both finite) to the exponent of x, the smaller one; yz gets the mantissa of y. */
static void align(struct ext *x, mpz_t yz, const struct ext *y)
{
    if (x->e > y->e) {
        mpz_mul_2exp(x->z, x->z, (mp_bitcnt_t)(x->e - y->e));
        x->e = y->e;
    }
    mpz_mul_2exp(yz, y->z, (mp_bitcnt_t)(y->e - x->e));
}

void ext_add(struct ext *x, const struct ext *y)
{
    mpz_t yz;

    if (x->kind != EXT_FINITE || y->kind != EXT_FINITE) {
        if (y->kind == EXT_FINITE || x->kind == EXT_NAN || x->kind == y->kind)
            return;
        set_kind(x, x->kind == EXT_FINITE ? y->kind : EXT_NAN);
        return;
    }
    if (mpz_sgn(y->z) == 0)
        return;
    if (mpz_sgn(x->z) == 0) {
        ext_set(x, y);
        return;
    }
    mpz_init(yz);
    align(x, yz, y);
    mpz_add(x->z, x->z, yz);
    mpz_clear(yz);
}

void ext_mul(struct ext *x, const struct ext *y)
{
    int sign = ext_sign(x) * ext_sign(y);

    if (x->kind == EXT_FINITE && y->kind == EXT_FINITE) {
        mpz_mul(x->z, x->z, y->z);
        x->e += y->e;
    } else { /* sign 0: NaN times anything, or zero times infinity */
        set_kind(x, sign == 0 ? EXT_NAN : sign > 0 ? EXT_PLUS_INF : EXT_MINUS_INF);
    }
}

void ext_shift(struct ext *x, long n)
{
    x->e += n;
}

int ext_cmp(const struct ext *x, const struct ext *y)
{
    struct ext d;
    int sign;

    ext_init(&d);
    ext_set(&d, y);
    ext_neg(&d);
    ext_add(&d, x);
    sign = ext_sign(&d);
    ext_clear(&d);
    return sign;
}

static double round_special(const struct ext *x)
{
    if (x->kind == EXT_NAN)
        return quiet_nan();
    return x->kind == EXT_PLUS_INF ? HUGE_VAL : x->kind == EXT_MINUS_INF ? -HUGE_VAL : 0.0;
}

double ext_round(const struct ext *x, int single)
{
    mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
    mpfr_t r;
    double d;
    int inexact;

    if (x->kind != EXT_FINITE || mpz_sgn(x->z) == 0)
        return round_special(x);
    mpfr_init2(r, single ? 24 : 53);
    mpfr_set_emin(single ? -148 : -1073);
    mpfr_set_emax(single ? 128 : 1024);
    inexact = mpfr_set_z_2exp(r, x->z, x->e, MPFR_RNDN);
    mpfr_subnormalize(r, inexact, MPFR_RNDN);
    d = mpfr_get_d(r, MPFR_RNDN);
    mpfr_set_emin(emin);
    mpfr_set_emax(emax);
    mpfr_clear(r);
    return d;
}

double ext_round_by_hand(const struct ext *x, int single)
{
    const long precision = single ? 24 : 53, lowest = single ? -149 : -1074, highest = single ? 128 : 1024;
    long top, unit; /* 2^(top-1) <= |x| < 2^top; 2^unit is the last place */
    mpz_t q, r, half;
    double d;

    if (x->kind != EXT_FINITE || mpz_sgn(x->z) == 0)
        return round_special(x);
    top = x->e + (long)mpz_sizeinbase(x->z, 2);
    unit = top - precision > lowest ? top - precision : lowest;
    mpz_inits(q, r, half, NULL);
    mpz_abs(q, x->z);
    if (x->e >= unit) {
        mpz_mul_2exp(q, q, (mp_bitcnt_t)(x->e - unit));
    } else {
        mpz_setbit(half, (mp_bitcnt_t)(unit - x->e - 1));
        mpz_fdiv_r_2exp(r, q, (mp_bitcnt_t)(unit - x->e));
        mpz_fdiv_q_2exp(q, q, (mp_bitcnt_t)(unit - x->e));
        if (mpz_cmp(r, half) > 0 || (mpz_cmp(r, half) == 0 && mpz_odd_p(q)))
            mpz_add_ui(q, q, 1);
    }
    if (mpz_sgn(q) != 0 && unit + (long)mpz_sizeinbase(q, 2) > highest)
        d = HUGE_VAL;
    else
        d = ldexp(mpz_get_d(q), (int)unit);
    mpz_clears(q, r, half, NULL);
    return mpz_sgn(x->z) < 0 ? -d : d;
}
