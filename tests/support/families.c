/*
 * families.c - kinds of matrices that are hard for a product.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <string.h>

#include "dyadic.h"
#include "families.h"

/* Where an entry stands: line is the row of op(A) or the column of op(B), p the inner index. */
struct place {
    char side;
    int64_t line, p;
    int part;
    int precision, emin, emax; /* 53, -1074, 1024 or 24, -149, 128 */
};

const char *family_name(enum family f)
{
    static const char *const name[FAMILY_COUNT] = {
        "uniform", "grid", "maxima",    "integers", "small", "wide",     "subnormal", "zeros",
        "cancel",  "ties", "tiny-ties", "overflow", "spike", "identity", "bits",      "special"};

    return name[f];
}

int family_is_finite(enum family f)
{
    return f != FAMILY_SPECIAL;
}

static double sign_of(struct rng *r)
{
    return rng_next(r) & 1 ? -1.0 : 1.0;
}

/* A full mantissa in [1/2, 1), signed. */
static double mantissa(struct rng *r, int precision)
{
    uint64_t top = UINT64_C(1) << (precision - 1);

    return sign_of(r) * ldexp((double)(top + rng_below(r, top)), -precision);
}

/* Full mantissas in (-1, 1): the exponent is geometric, as for a uniform distribution. */
static double uniform(struct rng *r, int precision)
{
    int e = 0;

    for (uint64_t bits = rng_next(r) | UINT64_C(1) << 20; (bits & 1) == 0; bits >>= 1)
        e--;
    return ldexp(mantissa(r, precision), e);
}

static double grid(struct rng *r, int precision)
{
    return sign_of(r) * ldexp((double)rng_below(r, UINT64_C(1) << precision), -precision);
}

/* A hash of the line, so that a whole row or column shares a property. */
static uint64_t line_hash(const struct place *at)
{
    struct rng r = {(uint64_t)at->line * 2 + (at->side == 'B')};

    return rng_next(&r);
}

static double wide(struct rng *r, const struct place *at)
{
    int span = at->precision == 53 ? 1000 : 100;

    return ldexp(mantissa(r, at->precision), (int)(line_hash(at) % (2 * (uint64_t)span + 1)) - span);
}

static double subnormal(struct rng *r, const struct place *at)
{
    int bits = (int)rng_below(r, (uint64_t)at->precision + 2); /* up to twice the smallest normal number */

    return sign_of(r) * ldexp((double)(rng_next(r) >> 11 >> (53 - (bits > 53 ? 53 : bits))), at->emin);
}

static double zeros(struct rng *r, const struct place *at)
{
    if (line_hash(at) % 4 == 0 || rng_below(r, 3) != 0)
        return sign_of(r) * 0.0;
    return (double)rng_between(r, -3, 3);
}

/* a(2q) and a(2q+1) differ in the last bit or not at all, b(2q+1) = -b(2q). */
static double cancel(struct rng *r, const struct place *at)
{
    struct rng pair = {line_hash(at) + (uint64_t)(at->p / 2) * 4 + (uint64_t)at->part};
    double x = mantissa(&pair, at->precision);

    if (at->side == 'B')
        return at->p % 2 == 1 ? -x : x;
    if (at->p % 2 == 0 || rng_next(r) % 2 == 0)
        return x;
    return x + copysign(ldexp(1, -at->precision), x) * (fabs(x) < 0.9 ? 1 : 0);
}

/* Sums 2^P + (small odd or even integers): half a unit in the last place is 1. */
static double ties(struct rng *r, const struct place *at)
{
    if (at->side == 'C')
        return (double)rng_between(r, -2, 2);
    if (at->p == 0)
        return at->side == 'A' ? ldexp((double)rng_between(r, 8, 15), at->precision - 3) : 1;
    return at->side == 'A' ? (double)rng_between(r, -1, 2) : sign_of(r);
}

/* Products of integers times half of the smallest number. */
static double tiny_ties(struct rng *r, const struct place *at)
{
    int lower = (at->emin - 1) / 2;

    return ldexp((double)rng_between(r, -7, 7), at->side == 'A'   ? lower
                                                : at->side == 'B' ? at->emin - 1 - lower
                                                                  : at->emin);
}

/* The largest number plus or minus half a unit in its last place. */
static double overflow(struct rng *r, const struct place *at)
{
    double most = ldexp(1, at->precision) - 1;

    if (at->side == 'C')
        return sign_of(r) * ldexp(most, at->emax - at->precision);
    if (at->p == 0)
        return at->side == 'A' ? ldexp(1, at->emax - at->precision) : sign_of(r) * most;
    if (at->p == 1)
        return at->side == 'A' ? ldexp(1, at->emax - at->precision - 1) : (double)rng_between(r, -1, 1);
    return 0;
}

static double spike(struct rng *r, const struct place *at, int64_t length)
{
    double x = uniform(r, at->precision);

    return (uint64_t)at->p == line_hash(at) % (uint64_t)length ? ldexp(x, 40) : x;
}

static double identity(const struct place *at)
{
    return at->line == at->p && at->part == 0 ? 1 : 0;
}

static double random_bits(struct rng *r, const struct place *at)
{
    int e = (int)rng_between(r, at->emin + at->precision, at->emax);

    if (rng_below(r, 16) == 0)
        return subnormal(r, at);
    return ldexp(mantissa(r, at->precision), e);
}

static double special(struct rng *r, const struct place *at)
{
    switch (rng_below(r, 32)) {
    case 0:
        return sign_of(r) * HUGE_VAL;
    case 1:
        return line_hash(at) % 2 ? quiet_nan() : 0.0;
    case 2:
    case 3:
    case 4:
        return sign_of(r) * 0.0;
    case 5:
        return sign_of(r) * HUGE_VAL * (line_hash(at) % 2 ? 0 : 1);
    default:
        return rng_next(r) & 1 ? (double)rng_between(r, -2, 2) : uniform(r, at->precision);
    }
}

static double entry(enum family f, struct rng *r, const struct place *at, int64_t length)
{
    switch (f) {
    case FAMILY_UNIFORM:
        return uniform(r, at->precision);
    case FAMILY_GRID:
        return grid(r, at->precision);
    case FAMILY_MAXIMA:
        return 1 - ldexp(1, -at->precision);
    case FAMILY_INTEGERS:
        return (double)rng_between(r, -(1 << (at->precision == 53 ? 20 : 10)),
                                   1 << (at->precision == 53 ? 20 : 10));
    case FAMILY_SMALL:
        return (double)rng_between(r, -2, 2);
    case FAMILY_WIDE:
        return wide(r, at);
    case FAMILY_SUBNORMAL:
        return subnormal(r, at);
    case FAMILY_ZEROS:
        return zeros(r, at);
    case FAMILY_CANCEL:
        return cancel(r, at);
    case FAMILY_TIES:
        return ties(r, at);
    case FAMILY_TINY_TIES:
        return tiny_ties(r, at);
    case FAMILY_OVERFLOW:
        return overflow(r, at);
    case FAMILY_SPIKE:
        return spike(r, at, length);
    case FAMILY_IDENTITY:
        return identity(at);
    case FAMILY_BITS:
        return random_bits(r, at);
    default:
        return special(r, at);
    }
}

void family_fill(enum family f, struct rng *r, const struct view *v, char side, int64_t rows, int64_t cols,
                 void *x)
{
    const int single = type_is_single(v->type);
    struct place at = {side, 0, 0, 0, single ? 24 : 53, single ? -149 : -1074, single ? 128 : 1024};

    for (int64_t q = 0; q < rows * cols; q++) {
        int64_t i = q % rows, j = q / rows;

        at.line = side == 'B' ? j : i;
        at.p = side == 'B' ? i : j;
        for (at.part = 0; at.part < type_parts(v->type); at.part++)
            number_set(v->type, x, view_index(v, i, j, at.part), entry(f, r, &at, side == 'B' ? rows : cols));
    }
}
