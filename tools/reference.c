/*
 * reference.c - the exact product of two matrices and the error of a computed one.
 *
 * SPDX-License-Identifier: MIT
 */
#include "reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

const char reference_missing[] = "this build has no exact reference: build it with FLINT, MPFR and GMP "
                                 "(libflint-dev libmpfr-dev libgmp-dev)";

#if OZG_HAVE_FLINT

#include <gmp.h>
#include <mpfr.h>
#include <flint/flint.h>
#include <flint/fmpz.h>
#include <flint/fmpz_mat.h>

/* The exact product is part[.] entry (i, j) times 2^(row[i] + col[j]). */
struct reference {
    char type;
    int64_t m, n;
    int parts;                    /* 1 real, 2 complex */
    fmpz_mat_t z[2];              /* real and imaginary part */
    int *row, *col;               /* exponents */
    long double *magnitude;       /* |A||B|, m x n */
    long double *row_norm;        /* 2-norms of the rows of A */
    long double *col_norm;        /* and of the columns of B */
    long double max_row, max_col; /* the largest of each */
};

/* Inner indices that are multiplied at once: bounds the memory of the integers. */
enum { CHUNK = 1024 };

int reference_available(void)
{
    return 1;
}

/* number() - component part of entry index. */
static double number(const struct matrix *x, size_t index, int part)
{
    size_t at = type_complex(x->type) ? 2 * index + (size_t)part : index;
    return type_double(x->type) ? ((const double *)x->data)[at] : (double)((const float *)x->data)[at];
}

/* odd_part() - x = *odd 2^e with an odd integer; x is not 0. */
static int odd_part(double x, int64_t *odd)
{
    int e;
    int64_t v = (int64_t)ldexp(frexp(x, &e), 53);
    int zeros = __builtin_ctzll((uint64_t)v);
    *odd = v / (INT64_C(1) << zeros);
    return e - 53 + zeros;
}

/* line_exponents() - for each row (or column) the power of two that makes all its numbers integers. */
static int *line_exponents(const struct matrix *x, int by_rows, int parts)
{
    int64_t lines = by_rows ? x->rows : x->cols, odd;
    int *e = xmalloc((size_t)lines * sizeof *e);
    for (int64_t i = 0; i < lines; i++)
        e[i] = INT32_MAX;
    for (int64_t j = 0; j < x->cols; j++)
        for (int64_t i = 0; i < x->rows; i++)
            for (int part = 0; part < parts; part++) {
                double v = number(x, (size_t)(i + j * x->rows), part);
                int64_t line = by_rows ? i : j;
                if (v != 0 && odd_part(v, &odd) < e[line])
                    e[line] = odd_part(v, &odd);
            }
    for (int64_t i = 0; i < lines; i++)
        e[i] = e[i] == INT32_MAX ? 0 : e[i];
    return e;
}

/* to_integers() - rows x cols entries of x from (i0, j0) on, each times 2^-e of its line. */
static void to_integers(fmpz_mat_t z, const struct matrix *x, int64_t i0, int64_t j0, int part, const int *e,
                        int by_rows)
{
    int64_t odd;
    for (slong i = 0; i < fmpz_mat_nrows(z); i++)
        for (slong j = 0; j < fmpz_mat_ncols(z); j++) {
            double v = number(x, (size_t)(i0 + i + (j0 + j) * x->rows), part);
            if (v == 0)
                continue; /* a new matrix is zero */
            int shift = odd_part(v, &odd) - e[by_rows ? i0 + i : j0 + j];
            fmpz_set_si(fmpz_mat_entry(z, i, j), odd);
            fmpz_mul_2exp(fmpz_mat_entry(z, i, j), fmpz_mat_entry(z, i, j), (ulong)shift);
        }
}

/* add_product() - to += sign_to x y and, if there is one, other -= x y. */
static void add_product(fmpz_mat_t x, fmpz_mat_t y, fmpz_mat_struct *to, int sign_to, fmpz_mat_struct *other)
{
    fmpz_mat_t t;
    fmpz_mat_init(t, fmpz_mat_nrows(x), fmpz_mat_ncols(y));
    fmpz_mat_mul(t, x, y);
    if (sign_to > 0)
        fmpz_mat_add(to, to, t);
    else
        fmpz_mat_sub(to, to, t);
    if (other)
        fmpz_mat_sub(other, other, t);
    fmpz_mat_clear(t);
}

/*
 * add_chunk() - the inner indices p0 .. p0 + count - 1. Complex by three products:
 * Re = Ar Br - Ai Bi, Im = (Ar + Ai)(Br + Bi) - Ar Br - Ai Bi.
 */
static void add_chunk(struct reference *r, const struct matrix *a, const struct matrix *b, int64_t p0,
                      int64_t count)
{
    fmpz_mat_t x[2], y[2];
    for (int part = 0; part < r->parts; part++) {
        fmpz_mat_init(x[part], r->m, count);
        fmpz_mat_init(y[part], count, r->n);
        to_integers(x[part], a, 0, p0, part, r->row, 1);
        to_integers(y[part], b, p0, 0, part, r->col, 0);
    }
    add_product(x[0], y[0], r->z[0], 1, r->parts == 2 ? r->z[1] : NULL);
    if (r->parts == 2) {
        add_product(x[1], y[1], r->z[0], -1, r->z[1]);
        fmpz_mat_add(x[0], x[0], x[1]);
        fmpz_mat_add(y[0], y[0], y[1]);
        add_product(x[0], y[0], r->z[1], 1, NULL);
    }
    for (int part = 0; part < r->parts; part++) {
        fmpz_mat_clear(x[part]);
        fmpz_mat_clear(y[part]);
    }
}

/* magnitudes() - |x|, complex |Re| + |Im|. */
static long double *magnitudes(const struct matrix *x)
{
    size_t count = (size_t)x->rows * (size_t)x->cols;
    long double *y = xmalloc(count * sizeof *y);
    for (size_t e = 0; e < count; e++)
        y[e] = fabsl(number(x, e, 0)) + (type_complex(x->type) ? fabsl(number(x, e, 1)) : 0);
    return y;
}

/* ordinary_range() - do all products of two entries, and their sums, stay far from the limits of double? */
static int ordinary_range(const long double *x, size_t nx, const long double *y, size_t ny)
{
    int lo[2] = {0, 0}, hi[2] = {0, 0};
    for (size_t e = 0; e < nx + ny; e++) {
        long double v = e < nx ? x[e] : y[e - nx];
        int side = e >= nx, q = v > 0 ? ilogbl(v) : 0;
        lo[side] = q < lo[side] ? q : lo[side];
        hi[side] = q > hi[side] ? q : hi[side];
    }
    return lo[0] + lo[1] > -900 && hi[0] + hi[1] < 900;
}

/* add_magnitudes() - z += x y for the inner indices first .. last - 1, in long double. */
static void add_magnitudes(size_t m, size_t n, size_t k, size_t first, size_t last, const long double *x,
                           const long double *y, long double *z)
{
    for (size_t j = 0; j < n; j++)
        for (size_t p = first; p < last; p++)
            for (size_t i = 0; i < m; i++)
                z[i + j * m] += x[i + p * m] * y[p + j * k];
}

/* add_ordinary_magnitudes() - the same in double, which is eight times faster; part is a column of z. */
static void add_ordinary_magnitudes(size_t m, size_t n, size_t k, size_t first, size_t last,
                                    const long double *x, const long double *y, long double *z)
{
    double *block = xmalloc(m * (last - first) * sizeof *block), *part = xmalloc(m * sizeof *part);
    for (size_t e = 0; e < m * (last - first); e++)
        block[e] = (double)x[e + first * m];
    for (size_t j = 0; j < n; j++) {
        memset(part, 0, m * sizeof *part);
        for (size_t p = first; p < last; p++) {
            double factor = (double)y[p + j * k];
            for (size_t i = 0; i < m; i++)
                part[i] += block[i + (p - first) * m] * factor;
        }
        for (size_t i = 0; i < m; i++)
            z[i + j * m] += part[i];
    }
    free(block);
    free(part);
}

/*
 * product_of_magnitudes() - |A||B|. Products of doubles reach from 2^-2148 to 2^2048, which only the
 * exponents of long double hold.
 */
static long double *product_of_magnitudes(const struct matrix *a, const struct matrix *b)
{
    enum { BLOCK = 64 };
    size_t m = (size_t)a->rows, n = (size_t)b->cols, k = (size_t)a->cols;
    long double *x = magnitudes(a), *y = magnitudes(b), *z = xmalloc(m * n * sizeof *z);
    int ordinary = ordinary_range(x, m * k, y, k * n);
    for (size_t e = 0; e < m * n; e++)
        z[e] = 0;
    for (size_t first = 0; first < k; first += BLOCK) {
        size_t last = k - first < BLOCK ? k : first + BLOCK;
        (ordinary ? add_ordinary_magnitudes : add_magnitudes)(m, n, k, first, last, x, y, z);
    }
    free(x);
    free(y);
    return z;
}

/* line_norms() - the 2-norm of each row (or column), and the largest of them. */
static long double *line_norms(const struct matrix *x, int by_rows, long double *largest)
{
    int64_t lines = by_rows ? x->rows : x->cols;
    long double *size = magnitudes(x), *norm = xmalloc((size_t)lines * sizeof *norm);
    for (int64_t i = 0; i < lines; i++)
        norm[i] = 0;
    for (int64_t j = 0; j < x->cols; j++)
        for (int64_t i = 0; i < x->rows; i++) {
            long double v = size[i + j * x->rows];
            norm[by_rows ? i : j] += v * v;
        }
    *largest = 0;
    for (int64_t i = 0; i < lines; i++) {
        norm[i] = sqrtl(norm[i]);
        *largest = norm[i] > *largest ? norm[i] : *largest;
    }
    free(size);
    return norm;
}

struct reference *reference_make(const struct matrix *a, const struct matrix *b, struct progress *progress)
{
    struct reference *r = xmalloc(sizeof *r);
    *r = (struct reference){
        .type = a->type, .m = a->rows, .n = b->cols, .parts = type_complex(a->type) ? 2 : 1};
    r->row = line_exponents(a, 1, r->parts);
    r->col = line_exponents(b, 0, r->parts);
    r->magnitude = product_of_magnitudes(a, b);
    r->row_norm = line_norms(a, 1, &r->max_row);
    r->col_norm = line_norms(b, 0, &r->max_col);
    flint_set_num_threads(processors());
    for (int part = 0; part < r->parts; part++)
        fmpz_mat_init(r->z[part], r->m, r->n);
    for (int64_t p = 0; p < a->cols; p += CHUNK) {
        int64_t count = a->cols - p < CHUNK ? a->cols - p : CHUNK;
        add_chunk(r, a, b, p, count);
        if (progress)
            progress_step(progress, (double)r->m * (double)r->n * (double)count * (r->parts == 2 ? 3 : 1),
                          "exact reference");
    }
    return r;
}

void reference_free(struct reference *r)
{
    if (r == NULL)
        return;
    for (int part = 0; part < r->parts; part++)
        fmpz_mat_clear(r->z[part]);
    free(r->row);
    free(r->col);
    free(r->magnitude);
    free(r->row_norm);
    free(r->col_norm);
    free(r);
    flint_cleanup_master();
}

/* Room to look at one component after the other. */
struct viewer {
    mpz_t integer;
    mpfr_t exact, computed, error;
};

static void viewer_open(struct viewer *v)
{
    mpfr_set_emin(mpfr_get_emin_min());
    mpfr_set_emax(mpfr_get_emax_max());
    mpz_init(v->integer);
    mpfr_init2(v->exact, 64);
    mpfr_init2(v->computed, 53);
    mpfr_init2(v->error, 64);
}

static void viewer_close(struct viewer *v)
{
    mpz_clear(v->integer);
    mpfr_clears(v->exact, v->computed, v->error, (mpfr_ptr)0);
}

/* view() - v->exact := the exact component, in as many bits as it has. */
static void view(struct viewer *v, const struct reference *r, int64_t i, int64_t j, int part)
{
    fmpz_get_mpz(v->integer, fmpz_mat_entry(r->z[part], i, j));
    size_t size = mpz_sizeinbase(v->integer, 2);
    mpfr_set_prec(v->exact, (mpfr_prec_t)(size < 2 ? 2 : size));
    mpfr_set_z_2exp(v->exact, v->integer, (mpfr_exp_t)r->row[i] + r->col[j], MPFR_RNDN);
}

/* round_exact() - one rounding to the type, subnormal numbers and overflow included. */
static double round_exact(const struct viewer *v, char type)
{
    return type_double(type) ? mpfr_get_d(v->exact, MPFR_RNDN) : (double)mpfr_get_flt(v->exact, MPFR_RNDN);
}

/* ulp_exponent() - the unit in the last place of the exact value is 2 to this. */
static int ulp_exponent(const struct viewer *v, char type)
{
    int digits = type_double(type) ? 53 : 24, least = type_double(type) ? -1074 : -149;
    if (mpfr_zero_p(v->exact) || mpfr_get_exp(v->exact) - digits < least)
        return least;
    return (int)mpfr_get_exp(v->exact) - digits;
}

/* Sums over the components; long double so that squares neither overflow nor vanish. */
struct sums {
    struct error_figures worst;
    long double errors, values;
    int64_t rounded, count;
};

/* raise_to() - *worst := the larger one; a NaN counts as infinite. */
static void raise_to(double *worst, long double x)
{
    if (!(x <= *worst))
        *worst = isnan(x) ? INFINITY : (double)x;
}

/* ratio() - error / size, and 0 / 0 = 0. */
static long double ratio(long double error, long double size)
{
    return error > 0 ? error / size : isnan(error) ? INFINITY : 0;
}

/* error_of() - |x - v->exact|, rounded once to 64 bits; no error where both overflow. */
static long double error_of(struct viewer *v, double x, double rounded)
{
    if (isinf(x) && x == rounded)
        return 0;
    mpfr_set_d(v->computed, x, MPFR_RNDN);
    mpfr_sub(v->error, v->computed, v->exact, MPFR_RNDN);
    return fabsl(mpfr_get_ld(v->error, MPFR_RNDN));
}

/* compare_one() - component (i, j) in v->exact against the computed value x; see reference_compare_sums(). */
static void compare_one(struct sums *s, struct viewer *v, const struct reference *r, int64_t i, int64_t j,
                        double x, double roundings)
{
    double rounded = round_exact(v, r->type);
    long double error = error_of(v, x, rounded), value = mpfr_get_ld(v->exact, MPFR_RNDN);
    long double half = ldexpl((long double)roundings, type_double(r->type) ? -1075 : -150);
    long double rest = error - half > 0 ? error - half : isnan(error) ? error : 0;
    raise_to(&s->worst.max_ulp, ldexpl(error, -ulp_exponent(v, r->type)));
    raise_to(&s->worst.componentwise, ratio(rest, r->magnitude[i + j * r->m]));
    raise_to(&s->worst.linewise, ratio(rest, r->row_norm[i] * r->col_norm[j]));
    raise_to(&s->worst.matrixwise, ratio(rest, r->max_row * r->max_col));
    if (isfinite(x) && error > s->worst.largest)
        s->worst.largest = error;
    s->errors += error * error;
    s->values += value * value;
    s->rounded += x == rounded;
    s->count++;
}

struct error_figures reference_compare_sums(const struct reference *r, const struct matrix *c,
                                            double roundings)
{
    struct sums s = {0};
    struct viewer v;
    viewer_open(&v);
    for (int64_t j = 0; j < r->n; j++)
        for (int64_t i = 0; i < r->m; i++)
            for (int part = 0; part < r->parts; part++) {
                view(&v, r, i, j, part);
                compare_one(&s, &v, r, i, j, number(c, (size_t)(i + j * r->m), part), roundings);
            }
    viewer_close(&v);
    s.worst.rounded = s.count ? 100.0 * (double)s.rounded / (double)s.count : 100;
    s.worst.normwise = (double)sqrtl(ratio(s.errors, s.values));
    return s.worst;
}

struct error_figures reference_compare(const struct reference *r, const struct matrix *c)
{
    return reference_compare_sums(r, c, 1);
}

void reference_round(const struct reference *r, struct matrix *c)
{
    struct viewer v;
    viewer_open(&v);
    for (int64_t j = 0; j < r->n; j++)
        for (int64_t i = 0; i < r->m; i++)
            for (int part = 0; part < r->parts; part++) {
                size_t at = (size_t)(i + j * r->m) * (size_t)r->parts + (size_t)part;
                view(&v, r, i, j, part);
                double x = round_exact(&v, r->type);
                if (type_double(r->type))
                    ((double *)c->data)[at] = x;
                else
                    ((float *)c->data)[at] = (float)x;
            }
    viewer_close(&v);
}

#else /* without FLINT: the command says what is missing before it comes here */

int reference_available(void)
{
    return 0;
}

struct reference *reference_make(const struct matrix *a, const struct matrix *b, struct progress *progress)
{
    (void)a;
    (void)b;
    (void)progress;
    fail("%s", reference_missing);
}

void reference_free(struct reference *r)
{
    (void)r;
}

struct error_figures reference_compare(const struct reference *r, const struct matrix *c)
{
    (void)r;
    (void)c;
    fail("%s", reference_missing);
}

struct error_figures reference_compare_sums(const struct reference *r, const struct matrix *c,
                                            double roundings)
{
    (void)roundings;
    return reference_compare(r, c);
}

void reference_round(const struct reference *r, struct matrix *c)
{
    (void)r;
    (void)c;
    fail("%s", reference_missing);
}

#endif
