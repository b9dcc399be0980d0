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
    static const char *const name[FAMILY_END] = {
        "uniform", "grid",    "maxima",      "integers",  "small",    "wide",       "subnormal",
        "zeros",   "cancel",  "ties",        "tiny-ties", "overflow", "spike",      "identity",
        "bits",    "special", "normal",      "pos",       "phi1",     "phi2",       "phi4",
        "phi10",   "phi20",   "graded-rows", "graded-k",  "inside",   "inside-far", "evil",
        "evil2",   "hilbert", "sparse",      "short",     "extremes"};

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

/* About normal, as a multiple of 2^-17: the sum of 48 numbers of 16 bits has the variance 4 x 2^32. */
static double coarse_normal(struct rng *r)
{
    int64_t sum = 0;

    for (int q = 0; q < 12; q++) {
        uint64_t bits = rng_next(r);

        sum += (int64_t)((bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48));
    }
    return ldexp((double)(2 * sum - 48 * INT64_C(0xffff)), -18);
}

/* The same with a full mantissa. */
static double normal(struct rng *r)
{
    const double coarse = coarse_normal(r);

    return coarse + ldexp(uniform(r, 53), -17);
}

/* (U - 1/2) exp(phi N); the exponential is 2^(whole) (1 + rest), which is exp within 7 %. */
static double phi(struct rng *r, const struct place *at, double phi_)
{
    const double u = ldexp((double)(rng_next(r) >> 11), -53) - 0.5;
    const double x = coarse_normal(r) * phi_ * 0x1.71547652b82fep0; /* 1 / ln 2 */
    const double whole = floor(x);
    const double most = at->emax - 28; /* reached by single precision only */

    return ldexp(u * (1 + (x - whole)), (int)fmax(-most, fmin(most, whole)));
}

/* The power of two of inner index p, the same for both operands: up for A, down for B. */
static int inside(const struct place *at, int span)
{
    struct rng r = {(uint64_t)at->p * 7919 + 17};
    int power = (int)rng_between(&r, -span, span);

    return at->side == 'B' ? -power : power;
}

/* The inner index at which row i of A has its spike: in the first half, and below 48. */
static int is_evil_row(const struct place *at, int64_t length)
{
    const int64_t rows = length < 96 ? (length + 1) / 2 : 48;

    return at->side == 'B' ? at->p < rows : at->p == at->line % rows;
}

static double evil(struct rng *r, const struct place *at, int64_t length)
{
    return ldexp(normal(r), is_evil_row(at, length) ? at->side == 'B' ? -40 : 40 : 0);
}

static double evil2(struct rng *r, const struct place *at, int64_t length)
{
    if (at->side == 'B')
        return ldexp(normal(r), rng_next(r) & 1 ? -40 : 0);
    return ldexp(normal(r), (uint64_t)at->p == line_hash(at) % (uint64_t)length ? 40 : 0);
}

/* x in at most so many bits */
static double shortened(double x, int bits)
{
    int e;
    double f = frexp(x, &e);

    return ldexp(nearbyint(ldexp(f, bits)), e - bits);
}

static double extremes(struct rng *r, const struct place *at)
{
    return ldexp(mantissa(r, at->precision), rng_next(r) & 1 ? at->emax : at->emin + at->precision);
}

/* The kinds from FAMILY_NORMAL on. In 'C' each is of ordinary size. */
static double measured(enum family f, struct rng *r, const struct place *at, int64_t length)
{
    static const double phis[] = {1, 2, 4, 10, 20};
    const int wide_type = at->precision == 53, span = wide_type ? 200 : 40;

    switch (at->side == 'C' ? FAMILY_NORMAL : f) {
    case FAMILY_POSITIVE:
        return fabs(uniform(r, at->precision));
    case FAMILY_PHI1:
    case FAMILY_PHI2:
    case FAMILY_PHI4:
    case FAMILY_PHI10:
    case FAMILY_PHI20:
        return phi(r, at, phis[f - FAMILY_PHI1]);
    case FAMILY_GRADED_ROWS:
        return ldexp(normal(r), (int)(line_hash(at) % (2 * (uint64_t)span + 1)) - span);
    case FAMILY_GRADED_K:
        return ldexp(normal(r), (int)(-40 * at->p / length));
    case FAMILY_INSIDE:
        return ldexp(normal(r), inside(at, 30));
    case FAMILY_INSIDE_FAR:
        return ldexp(normal(r), inside(at, wide_type ? 400 : 60));
    case FAMILY_EVIL:
        return evil(r, at, length);
    case FAMILY_EVIL2:
        return evil2(r, at, length);
    case FAMILY_HILBERT:
        return 1.0 / (double)(at->line + at->p + 1 + at->part);
    case FAMILY_SPARSE:
        return rng_below(r, 20) == 0 ? normal(r) : 0;
    case FAMILY_SHORT:
        return shortened(normal(r), wide_type ? 24 : 11);
    case FAMILY_EXTREMES:
        return extremes(r, at);
    default:
        return normal(r);
    }
}

static double entry(enum family f, struct rng *r, const struct place *at, int64_t length)
{
    if (f >= FAMILY_COUNT)
        return measured(f, r, at, length);
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
