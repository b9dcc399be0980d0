/*
 * lines.h - views of random lines between guard pages, for the stages that look at lines of an operand.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TEST_LINES_H
#define TEST_LINES_H

#include <math.h>

#include "kernels.h"
#include "problem.h"

enum { LINES = OZG_SCALE_LINES + 6 }; /* one more task than a stage takes at a time */

/* Component `part` of element p of line i. */
static inline double line_number(const ozg_view *v, int64_t i, int64_t p, int part)
{
    const int64_t at = (1 + ozg_type_complex(v->type)) * (i * v->line_stride + p * v->step) + part;

    return ozg_type_single(v->type) ? (double)((const float *)v->x)[at] : ((const double *)v->x)[at];
}

static inline void line_set_number(const ozg_view *v, int64_t at, double x)
{
    if (ozg_type_single(v->type))
        ((float *)(uintptr_t)v->x)[at] = (float)x;
    else
        ((double *)(uintptr_t)v->x)[at] = x;
}

/* z 2^result = |x|, finite */
static inline int mpz_set_magnitude(mpz_t z, double x)
{
    int exponent;

    mpz_set_d(z, ldexp(frexp(fabs(x), &exponent), 53));
    return exponent - 53;
}

/* Below 2^exponent, often far below; few or many bits; zeros. */
static inline double line_random_number(struct rng *r, int exponent)
{
    const uint64_t bits = rng_next(r) >> 11 << rng_below(r, 53) & ((UINT64_C(1) << 53) - 1);
    const double x = ldexp((double)bits, exponent - 53 - (int)(rng_below(r, 3) ? rng_below(r, 90) : 0));

    return rng_below(r, 8) == 0 ? (rng_below(r, 2) ? 0 : -0.0) : rng_below(r, 2) ? x : -x;
}

/* An exponent of lines: anything, or where numbers are subnormal. */
static inline int line_random_exponent(struct rng *r, int single)
{
    const int least = single ? -148 : -1073;

    return (int)(rng_below(r, 2) ? rng_between(r, least, least + 60)
                                 : rng_between(r, least, single ? 127 : 1023));
}

/*
 * line_fill() - lines side by side (form 0) or each along memory (form 1), with gaps of Inf. The last number
 * ends where a guard page begins, or the first one begins where one ends. special: one line in eight has an
 * Inf or a NaN. e: of each line, OZG_E_NONE of zeros and of special ones.
 */
static inline void line_fill(struct rng *r, const struct guard *memory, ozg_view *v, int form, int64_t lines,
                             int64_t k, int32_t *e)
{
    const int single = ozg_type_single(v->type), parts = 1 + ozg_type_complex(v->type);
    const int common = line_random_exponent(r, single), differ = rng_below(r, 2) == 0;
    const int64_t gap = rng_between(r, 0, 3);
    size_t count;

    v->line_stride = form ? k + gap : 1;
    v->step = form ? 1 : lines + gap;
    count = (size_t)(parts * ((lines - 1) * v->line_stride + (k - 1) * v->step + 1));
    v->x = rng_below(r, 4) ? guard_tail(memory, count * (single ? 4 : 8)) : guard_head(memory);
    for (size_t i = 0; i < count; i++)
        line_set_number(v, (int64_t)i, INFINITY);
    for (int64_t i = 0; i < lines; i++) {
        const int exponent = differ ? line_random_exponent(r, single) : common, zero = rng_below(r, 12) == 0;
        double largest = 0;
        int exact;

        for (int64_t p = 0; p < k; p++)
            for (int part = 0; part < parts; part++) {
                const double x = zero ? 0 : line_random_number(r, exponent);

                line_set_number(v, parts * (i * v->line_stride + p * v->step) + part, x);
                largest = fmax(largest, fabs(line_number(v, i, p, part)));
            }
        frexp(largest, &exact);
        e[i] = largest == 0 ? OZG_E_NONE : exact;
        if (isinf(largest) || rng_below(r, 8) == 0) {
            const int64_t p = rng_between(r, 0, k - 1);

            line_set_number(v, parts * (i * v->line_stride + p * v->step), rng_below(r, 2) ? INFINITY : NAN);
            e[i] = OZG_E_NONE;
        }
    }
}

/* y^ of a line as the stages sum them up. */
static inline void norms_add(ozg_norms *n, uint64_t y)
{
    n->sum += y;
    n->squares += y * y;
    n->most = y > n->most ? (uint32_t)y : n->most;
}

static inline int norms_equal(const ozg_norms *x, const ozg_norms *y)
{
    return x->sum == y->sum && x->squares == y->squares && x->most == y->most;
}

#endif
