/*
 * bounds.cuh - the tests of native and rounded accuracy (doc/bounds.md secs. 5, 7, 8): a screen in floats,
 * and the exact test in integers where the screen decides nothing.
 *
 * The screen. Write W and w for the larger and the smaller width of two lines, E = ozg_bound(). E <= (1 +
 * 2^-24) S + 1, S a sum of three terms, each of them rounded up, of which the least of three products is at
 * most m(i, j) = min(r2_i x2_j, r1_i xmax_j), m(j, i), and r2_i r2_j:
 *
 *     2^-w S <= m(i, j) 2^-w_i + m(j, i) 2^-w_j + r2_i r2_j 2^(-w_i - w_j) + 3 2^-w
 *     2^-w E <= (1 + 2^-24) T
 *     T = m(i, j) 2^-w_i + m(j, i) 2^-w_j + (r2_i 2^-w_i) (r2_j 2^-w_j) + 4 2^-w_i + 4 2^-w_j
 *
 * as W + w = w_i + w_j and 2^-w <= 2^-w_i + 2^-w_j. (Where few elements are rounded, r1 xmax is far less than
 * r2 x2.) In floats T is taken times 2^64, so that with 15 <= w <= 177, r2, x2 < 2^25 and r1, xmax < 2^33
 * everything lies in [2^-113, 2^115], but the third term, which may become 0 beside the others. Numbers are
 * not negative: conversions and at most eight roundings, each to the nearest, lose a factor of less than
 * (1 - 2^-24)^12, and 1 + 2^-16 makes up for them and for (1 + 2^-24).
 *
 * Native: floors pass, by ozg_bound_passes(), if 2^(b - w) E <= F L, b = ozg_bound_shift(), as its roundings
 * leave both sides integers. So T 2^b (1 + 2^-16) <= F L suffices, and the screen asks for 2^64 T <= F L 2^(64 -
 * b) (1 - 2^-15), whose roundings are far smaller than what 2^-15 leaves. (2^64 T is at least 2^-113, so that
 * L = 0 does not pass; multiplied by 2^(b - 64) it could become 0.) What it does not pass is tested exactly: the
 * decision is that of the exact test.
 *
 * Rounded: eps, the bound in units of the last of 64 leading bits, is at most 1 + T (1 + 2^-16) 2^(w_i + w_j
 * + 2 c - 32 - (exp - 63)), and the quick test of doc/bounds.md sec. 8 follows. What it leaves in doubt is
 * rounded at both ends.
 *
 * Whether E > 0 is exact: a line has r1, r2, rmax all 0 or none, likewise x1, x2, xmax, and x > 0 where r >
 * 0. So E > 0 if and only if r_i > 0 and x_j > 0, or r_j > 0 and x_i > 0.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_BOUNDS_CUH
#define OZG_CUDA_BOUNDS_CUH

#include "cuda/kernels.h"
#include "cuda/words.cuh"

/*
 * A line as the kernels want it. r, r1: 2^64 r2 2^-w, 2^64 r1 2^-w; x, xmax: x2, xmax; u: 2^66 2^-w; 0 where
 * there is no test, and for lines of zeros.
 */
struct alignas(16) ozg_cuda_line {
    float r, x, r1, xmax, u;
    int d;
};

/* 2^e, |e| <= 126 */
OZG_DEVICE float ozg_cuda_power(int e)
{
    return __uint_as_float((uint32_t)(127 + e) << 23);
}

/* Line i of the caller's matrix. */
OZG_DEVICE ozg_cuda_line ozg_cuda_line_of(const ozg_cuda_lines *l, int64_t i, int tests)
{
    ozg_cuda_line out = {0, 0, 0, 0, 0, l->d[i]};

    if (tests && l->x2[i] != 0) {
        const float unit = ozg_cuda_power(64 - (out.d + l->e[i]));

        out.r = (float)l->r2[i] * unit;
        out.x = (float)l->x2[i];
        out.r1 = (float)l->r1[i] * unit;
        out.xmax = (float)l->xmax[i];
        out.u = 4 * unit;
    }
    return out;
}

/* The width of a line with x > 0. */
OZG_DEVICE int ozg_cuda_line_width(const ozg_cuda_line *l)
{
    return 127 + 66 - (int)(__float_as_uint(l->u) >> 23);
}

/* E > 0? */
OZG_DEVICE int ozg_cuda_tested(const ozg_cuda_line *row, const ozg_cuda_line *column)
{
    return (row->r > 0 && column->x > 0) || (column->r > 0 && row->x > 0);
}

/* The terms of 2^64 T with a product: 0 if and only if E is, as none of the first two rounds to 0. */
OZG_DEVICE float ozg_cuda_screen_terms(const ozg_cuda_line *row, const ozg_cuda_line *column)
{
    const float of_row = fminf(row->r * column->x, row->r1 * column->xmax);
    const float of_column = fminf(column->r * row->x, column->r1 * row->xmax);

    return __fmaf_rn(row->r * ozg_cuda_power(-64), column->r, of_row) + of_column;
}

/* 2^64 T */
OZG_DEVICE float ozg_cuda_screen(const ozg_cuda_line *row, const ozg_cuda_line *column)
{
    return ozg_cuda_screen_terms(row, column) + (row->u + column->u);
}

/*
 * ozg_bound_key() of a number that is not below the bound of the entry and of more than its 24 bits: screen
 * as above, exponents: w_i + w_j - d_i - d_j.
 */
OZG_DEVICE uint64_t ozg_cuda_screen_key(float screen, int exponents, int unit)
{
    const uint32_t bits = __float_as_uint(screen * (1 + 1.0f / 65536));
    const int exp = (int)(bits >> 23) - 150 - 64 + exponents + 2 * unit - 32;

    return (uint64_t)(exp + 1 + OZG_BOUND_KEY) << 24 | (((bits & 0x7fffff) | 0x800000) / 2 + 2);
}

/* E, and the widths. */
typedef struct ozg_cuda_bound {
    uint64_t e;
    int most, least;
} ozg_cuda_bound;

OZG_DEVICE ozg_factors ozg_cuda_factors_of(const ozg_cuda_lines *l, int64_t i)
{
    const ozg_factors f = {l->x1[i], l->x2[i], l->xmax[i], l->r1[i], l->r2[i], l->rmax[i], l->d[i] + l->e[i]};

    return f;
}

/* Lines i and j of the caller's matrices. */
OZG_DEVICE ozg_cuda_bound ozg_cuda_bound_of(const ozg_cuda_lines *a, int64_t i, const ozg_cuda_lines *b,
                                            int64_t j)
{
    const ozg_factors row = ozg_cuda_factors_of(a, i), column = ozg_cuda_factors_of(b, j);
    const ozg_cuda_bound out = {ozg_bound(&row, &column), row.w > column.w ? row.w : column.w,
                                row.w > column.w ? column.w : row.w};

    return out;
}

/* What all entries of a call share. */
typedef struct ozg_cuda_tests {
    int kind; /* OZG_BY_NATIVE, OZG_BY_ROUNDED, else 0 */
    int single, complex_;
    int unit;        /* c */
    uint32_t factor; /* F */
    float limit;     /* native: of 2^64 T for each unit of L */
    int reported;
} ozg_cuda_tests;

OZG_DEVICE int ozg_cuda_tests_wanted(const ozg_cuda_request *r)
{
    return r->kind == OZG_BY_NATIVE || r->kind == OZG_BY_ROUNDED;
}

OZG_DEVICE ozg_cuda_tests ozg_cuda_tests_of(const ozg_cuda_request *r, uint32_t factor)
{
    ozg_cuda_tests t;

    t.kind = ozg_cuda_tests_wanted(r) ? r->kind : 0;
    t.single = r->single;
    t.complex_ = r->complex_;
    t.unit = ozg_bound_unit(r->length);
    t.factor = factor;
    t.limit = (float)factor * ozg_cuda_power(64 - ozg_bound_shift(r->single, r->complex_, t.unit)) *
              (1 - 1.0f / 32768);
    t.reported = r->kind == OZG_BY_NATIVE && r->reported;
    return t;
}

/* L of a component from the sums of floors at place `at` of a plane. */
OZG_DEVICE uint64_t ozg_cuda_floors(const ozg_cuda_residues *in, int q, int64_t at)
{
    const int64_t place = q * in->columns * in->ld + at;

    return in->floor_bytes == 4 ? ((const uint32_t *)in->floors)[place]
                                : ((const uint64_t *)in->floors)[place];
}

OZG_DEVICE uint32_t ozg_cuda_floor_sum(const ozg_cuda_residues *in, int component, int complex_, int64_t at,
                                       int unit)
{
    uint64_t sum = ozg_cuda_floors(in, 0, at);

    if (complex_) {
        const uint64_t other = ozg_cuda_floors(in, 1, at);

        sum = component == 0 ? sum + other : ozg_cuda_floors(in, 2, at) - sum - other;
    }
    return (uint32_t)(sum >> unit);
}

/* Native grade of a component, exactly. l: its L; c: leading bits of c^. */
OZG_DEVICE int ozg_cuda_native_passes(const ozg_cuda_tests *t, const ozg_cuda_bound *bound, uint32_t l,
                                      const ozg_cuda_leading *c)
{
    const int bits = (c->exp & 63) + 1, kept = bits < 47 ? bits : 47; /* of the highest word that is not 0 */
    const uint64_t z = c->top >> (64 - kept);

    return ozg_bound_passes(bound->e, t->factor, l, t->single, t->complex_, t->unit, bound->least) ||
           ozg_bound_passes_value(bound->e, t->factor, z, c->top ? c->exp + 1 - kept : 0, t->single, t->unit,
                                  bound->most);
}

/*
 * 0 only if all numbers within the bound of the entry round alike. v: leading bits, to be rounded times
 * 2^exponent; screen: 2^64 T; widths: w_i + w_j.
 */
OZG_DEVICE int ozg_cuda_in_doubt(int single, int unit, const ozg_cuda_leading &v, int exponent, float screen,
                                 int widths)
{
    const int cut = single ? 40 : 11, most = single ? 126 : 1022, x = v.exp + exponent;
    const uint32_t bits = __float_as_uint(screen * (1 + 1.0f / 65536));
    const int up = (int)(bits >> 23) - 150 - 64 + widths + 2 * unit - 32 + 63 - v.exp,
              down = up < -63 ? 63 : -up;
    const uint64_t mant = (bits & 0x7fffff) | 0x800000, half = UINT64_C(1) << (cut - 1);
    const uint64_t part = v.top & (2 * half - 1), gap = part > half ? part - half : half - part;
    uint64_t eps;

    if (v.top == 0 || x < -most || x > most || up > 38)
        return 1;
    eps = 2 + (up >= 0 ? mant << up : mant >> down);
    return eps >= gap || eps >= v.top - (UINT64_C(1) << 63);
}

#endif
