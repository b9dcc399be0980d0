/*
 * oracle.c - the defined result of a product: integers by GMP, products by GMP or FLINT, one rounding by
 * MPFR.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <gmp.h>
#include <flint/flint.h>
#include <flint/fmpz.h>
#include <flint/fmpz_mat.h>

#include "oracle.h"
#include "widths.h"

/* Products with more terms than this go to FLINT. */
enum { SMALL_PRODUCT = 20000 };

/* The rows of op(A) or the columns of op(B), as integers x 2^exponent. */
struct lines {
    int64_t count, length;
    int parts;
    mpz_t *x;       /* part of place p in a line: x[(line length + p) parts + part] */
    long *exponent; /* D_i or E_j */
    int *special;   /* the line has an infinity or NaN */
    int inexact;    /* some bit of some finite line was rounded away */
};

static void *allocate(int64_t count, size_t size)
{
    void *p = calloc((size_t)count + 1, size);

    if (p == NULL)
        abort();
    return p;
}

/* A line is a row of op(A) ('A') or a column of op(B) ('B'). */
static double line_get(const struct view *v, char side, int64_t line, int64_t p, int part)
{
    return side == 'A' ? view_get(v, line, p, part) : view_get(v, p, line, part);
}

/* q := RN_int(x 2^shift), ties to even; returns 1 if a bit was lost. */
static int round_to_integer(mpz_t q, double x, long shift)
{
    struct ext value;
    mpz_t rest, half;
    int lost = 0, order;

    ext_init(&value);
    ext_set_double(&value, x);
    shift += value.e;
    if (shift >= 0) {
        mpz_mul_2exp(q, value.z, (mp_bitcnt_t)shift);
    } else { /* floor, then up if the rest is above the half, or at the half and odd */
        mpz_inits(rest, half, NULL);
        mpz_fdiv_q_2exp(q, value.z, (mp_bitcnt_t)-shift);
        mpz_fdiv_r_2exp(rest, value.z, (mp_bitcnt_t)-shift);
        mpz_setbit(half, (mp_bitcnt_t)(-shift - 1));
        order = mpz_cmp(rest, half);
        if (order > 0 || (order == 0 && mpz_odd_p(q)))
            mpz_add_ui(q, q, 1);
        lost = mpz_sgn(rest) != 0;
        mpz_clears(rest, half, NULL);
    }
    ext_clear(&value);
    return lost;
}

/* The exponent of one line: t - e(largest entry), or one that keeps every bit. Returns 1 for Inf or NaN. */
static int line_exponent(const struct lines *l, const struct view *v, char side, int64_t line, int width,
                         long *out)
{
    int largest = -5000, e;

    for (int64_t i = 0; i < l->length * l->parts; i++) {
        double x = line_get(v, side, line, i / l->parts, (int)(i % l->parts));

        if (!isfinite(x))
            return 1;
        if (x == 0)
            continue;
        frexp(x, &e);
        if (e > largest)
            largest = e;
    }
    if (largest == -5000)
        *out = 0;
    else
        *out = width == ORACLE_EXACT ? 1074 : (long)width - largest;
    return 0;
}

static void lines_open(struct lines *l, const struct view *v, char side, int64_t count, int64_t length,
                       int width)
{
    l->count = count;
    l->length = length;
    l->parts = type_parts(v->type);
    l->inexact = 0;
    l->x = allocate(count * length * l->parts, sizeof *l->x);
    l->exponent = allocate(count, sizeof *l->exponent);
    l->special = allocate(count, sizeof *l->special);
    for (int64_t line = 0; line < count; line++) {
        l->special[line] = line_exponent(l, v, side, line, width, &l->exponent[line]);
        for (int64_t i = 0; i < length * l->parts; i++) {
            mpz_t *q = &l->x[line * length * l->parts + i];

            mpz_init(*q);
            if (!l->special[line])
                l->inexact |= round_to_integer(*q, line_get(v, side, line, i / l->parts, (int)(i % l->parts)),
                                               l->exponent[line]);
        }
    }
}

static void lines_close(struct lines *l)
{
    for (int64_t i = 0; i < l->count * l->length * l->parts; i++)
        mpz_clear(l->x[i]);
    free(l->x);
    free(l->exponent);
    free(l->special);
}

/* c := sum over p of a(i, p, parta) b(p, j, partb), added or subtracted. */
static void small_dot(mpz_t c, const struct lines *a, int64_t i, int parta, const struct lines *b, int64_t j,
                      int partb, int subtract)
{
    mpz_t *x = &a->x[i * a->length * a->parts + parta], *y = &b->x[j * b->length * b->parts + partb];

    for (int64_t p = 0; p < a->length; p++) {
        if (subtract)
            mpz_submul(c, x[p * a->parts], y[p * b->parts]);
        else
            mpz_addmul(c, x[p * a->parts], y[p * b->parts]);
    }
}

static void small_product(struct oracle *o, const struct lines *a, const struct lines *b)
{
    for (int64_t q = 0; q < a->count * b->count; q++) {
        int64_t i = q % a->count, j = q / a->count;
        struct ext *re = &o->ab[q * a->parts], *im = re + 1;

        small_dot(re->z, a, i, 0, b, j, 0, 0);
        if (a->parts == 2) {
            small_dot(re->z, a, i, 1, b, j, 1, 1);
            small_dot(im->z, a, i, 0, b, j, 1, 0);
            small_dot(im->z, a, i, 1, b, j, 0, 0);
        }
    }
}

/* One part of all lines as a FLINT matrix, lines as rows (transposed = 0) or columns. */
static void to_flint(fmpz_mat_t out, const struct lines *l, int part, int transposed)
{
    fmpz_mat_init(out, transposed ? l->length : l->count, transposed ? l->count : l->length);
    for (int64_t line = 0; line < l->count; line++) {
        for (int64_t p = 0; p < l->length; p++)
            fmpz_set_mpz(transposed ? fmpz_mat_entry(out, p, line) : fmpz_mat_entry(out, line, p),
                         l->x[(line * l->length + p) * l->parts + part]);
    }
}

/* Add the product of two parts to (or subtract it from) part to of the result. */
static void large_product_of_parts(struct oracle *o, const struct lines *a, int parta, const struct lines *b,
                                   int partb, int to, int subtract)
{
    fmpz_mat_t x, y, z;
    mpz_t entry;

    to_flint(x, a, parta, 0);
    to_flint(y, b, partb, 1);
    fmpz_mat_init(z, a->count, b->count);
    fmpz_mat_mul(z, x, y);
    mpz_init(entry);
    for (int64_t q = 0; q < a->count * b->count; q++) {
        struct ext *c = &o->ab[q * a->parts + to];

        fmpz_get_mpz(entry, fmpz_mat_entry(z, q % a->count, q / a->count));
        if (subtract)
            mpz_sub(c->z, c->z, entry);
        else
            mpz_add(c->z, c->z, entry);
    }
    mpz_clear(entry);
    fmpz_mat_clear(x);
    fmpz_mat_clear(y);
    fmpz_mat_clear(z);
}

static void large_product(struct oracle *o, const struct lines *a, const struct lines *b)
{
    large_product_of_parts(o, a, 0, b, 0, 0, 0);
    if (a->parts == 2) {
        large_product_of_parts(o, a, 1, b, 1, 0, 1);
        large_product_of_parts(o, a, 0, b, 1, 1, 0);
        large_product_of_parts(o, a, 1, b, 0, 1, 0);
    }
    flint_cleanup();
}

/* sum += (subtract: -) x y */
static void add_term(struct ext *sum, double x, double y, int subtract)
{
    struct ext term, factor;

    ext_init(&term);
    ext_init(&factor);
    ext_set_double(&term, x);
    ext_set_double(&factor, y);
    ext_mul(&term, &factor);
    if (subtract)
        ext_neg(&term);
    ext_add(sum, &term);
    ext_clear(&term);
    ext_clear(&factor);
}

/* An entry whose row or column has Inf or NaN: the sum of its terms as extended numbers. */
static void special_entry(struct oracle *o, int64_t i, int64_t j)
{
    const struct view a = gemm_view_a(o->g), b = gemm_view_b(o->g);
    const int parts = type_parts(o->g->type);
    struct ext *re = &o->ab[(i + j * o->g->m) * parts], *im = re + 1;

    ext_set_double(re, 0);
    for (int64_t p = 0; p < o->g->k; p++)
        add_term(re, view_get(&a, i, p, 0), view_get(&b, p, j, 0), 0);
    if (parts == 1)
        return;
    ext_set_double(im, 0);
    for (int64_t p = 0; p < o->g->k; p++) {
        add_term(re, view_get(&a, i, p, 1), view_get(&b, p, j, 1), 1);
        add_term(im, view_get(&a, i, p, 0), view_get(&b, p, j, 1), 0);
        add_term(im, view_get(&a, i, p, 1), view_get(&b, p, j, 0), 0);
    }
}

void oracle_open(struct oracle *o, const struct gemm *g, int width)
{
    const struct view va = gemm_view_a(g), vb = gemm_view_b(g);
    const int parts = type_parts(g->type);
    struct lines a, b;

    memset(o, 0, sizeof *o);
    o->g = g;
    o->width = width;
    o->exact = 1;
    if (g->m == 0 || g->n == 0 || g->k == 0 || (g->alpha[0] == 0 && (parts == 1 || g->alpha[1] == 0)))
        return; /* nothing to multiply: A and B are not read */
    lines_open(&a, &va, 'A', g->m, g->k, width);
    lines_open(&b, &vb, 'B', g->n, g->k, width);
    o->exact = !a.inexact && !b.inexact;
    o->ab = allocate(g->m * g->n * parts, sizeof *o->ab);
    for (int64_t q = 0; q < g->m * g->n * parts; q++)
        ext_init(&o->ab[q]);
    if (g->m * g->n * g->k <= SMALL_PRODUCT)
        small_product(o, &a, &b);
    else
        large_product(o, &a, &b);
    for (int64_t q = 0; q < g->m * g->n; q++) {
        int64_t i = q % g->m, j = q / g->m;

        if (a.special[i] || b.special[j])
            special_entry(o, i, j);
        else
            for (int part = 0; part < parts; part++)
                ext_shift(&o->ab[q * parts + part], -a.exponent[i] - b.exponent[j]);
    }
    o->d = a.exponent;
    o->e = b.exponent;
    a.exponent = b.exponent = NULL;
    lines_close(&a);
    lines_close(&b);
}

void oracle_close(struct oracle *o)
{
    const int64_t count = o->ab == NULL ? 0 : o->g->m * o->g->n * type_parts(o->g->type);

    for (int64_t q = 0; q < count; q++)
        ext_clear(&o->ab[q]);
    free(o->ab);
    free(o->d);
    free(o->e);
}

/* sum += (subtract: -) scalar x; a scalar of 0 contributes nothing. */
static void add_scaled(struct ext *sum, double scalar, const struct ext *x, int subtract)
{
    struct ext term;

    if (scalar == 0)
        return;
    ext_init(&term);
    ext_set_double(&term, scalar);
    ext_mul(&term, x);
    if (subtract)
        ext_neg(&term);
    ext_add(sum, &term);
    ext_clear(&term);
}

/* sum += one part of scalar x, x of one or two parts */
static void add_product(struct ext *sum, int parts, const double scalar[2], const struct ext *x, int part)
{
    add_scaled(sum, scalar[0], &x[part], 0);
    if (parts == 2)
        add_scaled(sum, scalar[1], &x[1 - part], part == 0);
}

/* The parts of an entry of C as extended numbers. */
static void read_c(const struct gemm *g, const void *c, int64_t i, int64_t j, struct ext x[2])
{
    for (int part = 0; part < type_parts(g->type); part++)
        ext_set_double(&x[part], number_get(g->type, c, (i + j * g->ldc) * type_parts(g->type) + part));
}

static int is_zero(const struct gemm *g, const double scalar[2])
{
    return scalar[0] == 0 && (!type_is_complex(g->type) || scalar[1] == 0);
}

void oracle_value(const struct oracle *o, const void *c, int64_t i, int64_t j, int part, struct ext *value)
{
    const struct gemm *g = o->g;
    const int parts = type_parts(g->type);
    struct ext old[2];

    ext_set_double(value, 0);
    add_product(value, parts, g->alpha, &o->ab[(i + j * g->m) * parts], part);
    if (is_zero(g, g->beta))
        return;
    ext_init(&old[0]);
    ext_init(&old[1]);
    read_c(g, c, i, j, old);
    add_product(value, parts, g->beta, old, part);
    ext_clear(&old[0]);
    ext_clear(&old[1]);
}

/* RN(beta C) of one part with the sign of zero that IEEE arithmetic gives: a sum of zeros is -0 if all terms
 * are. */
static double scaled_c(const struct gemm *g, const void *c, int64_t i, int64_t j, int part)
{
    const int parts = type_parts(g->type);
    struct ext old[2], sum;
    int terms = 0, negative_zeros = 0;
    double result;

    ext_init(&old[0]);
    ext_init(&old[1]);
    ext_init(&sum);
    read_c(g, c, i, j, old);
    add_product(&sum, parts, g->beta, old, part);
    for (int q = 0; q < parts; q++) { /* term q: beta[q] times the part of C that it meets */
        double x = number_get(g->type, c, (i + j * g->ldc) * parts + (q == 0 ? part : 1 - part));

        if (g->beta[q] == 0)
            continue;
        terms++;
        negative_zeros += x == 0 && (signbit(x) != 0) ^ (signbit(g->beta[q]) != 0) ^ (q == 1 && part == 0);
    }
    result = ext_round(&sum, type_is_single(g->type));
    if (sum.kind == EXT_FINITE && ext_sign(&sum) == 0 && terms > 0 && negative_zeros == terms)
        result = -0.0;
    ext_clear(&old[0]);
    ext_clear(&old[1]);
    ext_clear(&sum);
    return result;
}

void oracle_result(const struct oracle *o, void *c)
{
    const struct gemm *g = o->g;
    const int parts = type_parts(g->type);
    double new[2];
    struct ext value;

    if (o->ab == NULL && g->beta[0] == 1 && (parts == 1 || g->beta[1] == 0))
        return; /* C stays, bit for bit */
    ext_init(&value);
    for (int64_t q = 0; q < g->m * g->n; q++) {
        int64_t i = q % g->m, j = q / g->m, at = (i + j * g->ldc) * parts;

        for (int part = 0; part < parts; part++) {
            if (o->ab != NULL) {
                oracle_value(o, c, i, j, part, &value);
                new[part] = ext_round(&value, type_is_single(g->type));
            } else {
                new[part] = is_zero(g, g->beta) ? 0.0 : scaled_c(g, c, i, j, part);
            }
        }
        for (int part = 0; part < parts; part++)
            number_set(g->type, c, at + part, new[part]);
    }
    ext_clear(&value);
}

void oracle_gemm(const struct gemm *g, int width, void *c)
{
    struct oracle o;

    oracle_open(&o, g, width);
    oracle_result(&o, c);
    oracle_close(&o);
}

ozg_accuracy request_accuracy(struct request r)
{
    return r.kind == REQUEST_MODULI ? ozg_moduli(r.value) : ozg_width(r.value);
}

int request_width(struct request r, char type, int64_t k)
{
    if (r.kind == REQUEST_MODULI)
        return r.value < 2 || r.value > WIDTHS_MAX_MODULI ? 0 : widths_width(type, k, r.value);
    return widths_moduli_for_bits(type, k, r.value) == 0 ? 0 : r.value;
}
