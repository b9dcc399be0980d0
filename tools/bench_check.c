/*
 * bench_check.c - is this product right? Asked for every speed that "ozgemm speed" prints.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "product.h"

enum { MOST = 32 }; /* rows and columns of a sample */

struct probe {
    char type;
    int64_t k;
    int64_t nrows, ncols, rows[MOST], cols[MOST];
    struct reference *exact;
    struct matrix rounded;         /* the exact product, correctly rounded */
    double *magnitude;             /* abs(A) abs(B) of each component of the sample, see magnitudes() */
    double *row_norms, *col_norms; /* of all rows of A and columns of B, Euclidean */
};

double dot_length(char type, int64_t k)
{
    return (type_complex(type) ? 2.0 : 1.0) * (double)k;
}

double unit_roundoff(char type)
{
    return type_double(type) ? 0x1p-53 : 0x1p-24;
}

struct promise promise_of_blas(char type, int64_t k)
{
    double x = (dot_length(type, k) + 2) * unit_roundoff(type);
    return (struct promise){INFINITY, x < 1 ? x / (1 - x) : INFINITY, 0};
}

/* part_of() - a component of entry number index. */
static double part_of(const struct matrix *x, size_t index, int part)
{
    size_t at = type_complex(x->type) ? 2 * index + (size_t)part : index;
    return type_double(x->type) ? ((const double *)x->data)[at] : (double)((const float *)x->data)[at];
}

static int parts(char type)
{
    return type_complex(type) ? 2 : 1;
}

/*
 * choose() - at most MOST of n indices, one at random from each of equal parts, the first and the last
 * always; returns how many.
 */
static int64_t choose(int64_t n, uint64_t stream, int64_t *chosen)
{
    int64_t count = n < MOST ? n : MOST;
    for (int64_t q = 0; q < count; q++) {
        int64_t from = q * n / count, to = (q + 1) * n / count; /* q n < 2^63: n is the side of a matrix */
        uint64_t z = (stream + (uint64_t)q + 1) * UINT64_C(0x9e3779b97f4a7c15);
        chosen[q] = from + (int64_t)((z ^ z >> 29) % (uint64_t)(to - from));
    }
    if (count > 0) {
        chosen[0] = 0;
        chosen[count - 1] = n - 1;
    }
    return count;
}

/* gather() - entries (rows[i], cols[j]) of x; a NULL list means all. */
static struct matrix gather(const struct matrix *x, const int64_t *rows, int64_t nrows, const int64_t *cols,
                            int64_t ncols)
{
    struct matrix y = matrix_alloc("a sample", x->type, nrows, ncols);
    size_t size = type_size(x->type);
    for (int64_t j = 0; j < ncols; j++)
        for (int64_t i = 0; i < nrows; i++) {
            size_t at = (size_t)((rows ? rows[i] : i) + (cols ? cols[j] : j) * x->rows);
            memcpy((char *)y.data + size * (size_t)(i + j * nrows), (const char *)x->data + size * at, size);
        }
    return y;
}

/* norms() - of the rows of x, or of its columns. */
static double *norms(const struct matrix *x, int by_rows)
{
    size_t lines = (size_t)(by_rows ? x->rows : x->cols);
    double *y = xmalloc(lines * sizeof *y);
    long double *squares = xmalloc(lines * sizeof *squares); /* of a range that holds them */
    for (size_t line = 0; line < lines; line++)
        squares[line] = 0;
    for (int64_t j = 0; j < x->cols; j++)
        for (int64_t i = 0; i < x->rows; i++)
            for (int part = 0; part < parts(x->type); part++) {
                long double v = part_of(x, (size_t)(i + j * x->rows), part);
                squares[by_rows ? i : j] += v * v;
            }
    for (size_t line = 0; line < lines; line++)
        y[line] = (double)sqrtl(squares[line]);
    free(squares);
    return y;
}

/*
 * magnitudes() - abs(A) abs(B) of each component: the sum of the magnitudes of all real products in it. Those of
 * Re are Re Re and Im Im, those of Im are Re Im and Im Re.
 */
static double *magnitudes(const struct matrix *a, const struct matrix *b)
{
    int count = parts(a->type);
    double *y = xmalloc((size_t)(a->rows * b->cols * count) * sizeof *y), *next = y;
    for (int64_t j = 0; j < b->cols; j++)
        for (int64_t i = 0; i < a->rows; i++)
            for (int part = 0; part < count; part++) {
                double sum = 0;
                for (int64_t p = 0; p < a->cols; p++)
                    for (int q = 0; q < count; q++)
                        sum += fabs(part_of(a, (size_t)(i + p * a->rows), q) *
                                    part_of(b, (size_t)(p + j * b->rows), q ^ part));
                *next++ = sum;
            }
    return y;
}

struct probe *probe_make(const struct matrix *a, const struct matrix *b)
{
    struct probe *s = xmalloc(sizeof *s);
    *s = (struct probe){.type = a->type, .k = a->cols};
    s->nrows = choose(a->rows, 1, s->rows);
    s->ncols = choose(b->cols, 2, s->cols);
    struct matrix x = gather(a, s->rows, s->nrows, NULL, a->cols);
    struct matrix y = gather(b, NULL, b->rows, s->cols, s->ncols);
    s->exact = reference_make(&x, &y, NULL);
    s->rounded = matrix_alloc("a sample", a->type, s->nrows, s->ncols);
    reference_round(s->exact, &s->rounded);
    s->magnitude = magnitudes(&x, &y);
    s->row_norms = norms(a, 1);
    s->col_norms = norms(b, 0);
    matrix_free(&x);
    matrix_free(&y);
    return s;
}

void probe_free(struct probe *s)
{
    if (s == NULL)
        return;
    reference_free(s->exact);
    matrix_free(&s->rounded);
    free(s->magnitude);
    free(s->row_norms);
    free(s->col_norms);
    free(s);
}

/* tiny() - what k' products below the normal numbers may lose: each at most the smallest subnormal. */
static double tiny(const struct probe *s)
{
    return dot_length(s->type, s->k) * (type_double(s->type) ? 0x1p-1074 : 0x1p-149);
}

/* allowed() - the least of the promises for an entry with this entry of abs(A) abs(B). */
static double allowed(const struct probe *s, struct promise p, double magnitude)
{
    double relative = magnitude > 0 ? p.relative * magnitude : 0;
    return (relative < p.absolute ? relative : p.absolute) + tiny(s);
}

/* judge() - keep the worst entry: the one whose error is the largest multiple of what is allowed. */
static void judge(struct finding *f, double error, double most, int64_t row, int64_t column)
{
    f->entries++;
    if (error <= most && error < INFINITY) /* a NaN is worse than any number */
        return;
    if (f->wrong && !isnan(error) && (isnan(f->error) || error / most <= f->error / f->allowed))
        return;
    f->wrong = 1;
    f->row = row + 1;
    f->column = column + 1;
    f->error = error;
    f->allowed = most;
}

struct finding probe_check(const struct probe *s, const struct matrix *c, struct promise promise)
{
    struct finding f = {0};
    struct matrix got = gather(c, s->rows, s->nrows, s->cols, s->ncols);
    const double *magnitude = s->magnitude;
    for (int64_t j = 0; j < s->ncols; j++)
        for (int64_t i = 0; i < s->nrows; i++)
            for (int part = 0; part < parts(s->type); part++, magnitude++) {
                size_t at = (size_t)(i + j * s->nrows);
                double x = part_of(&got, at, part), exact = part_of(&s->rounded, at, part);
                /* The roundings of the computed and of the exact entry: two halves of a unit. */
                double rounding = 2 * unit_roundoff(s->type) * fmax(fabs(x), fabs(exact));
                double most = promise.rounded ? 0 : allowed(s, promise, *magnitude) + rounding;
                judge(&f, x == exact ? 0 : fabs(x - exact), most, s->rows[i], s->cols[j]);
            }
    f.errors = reference_compare(s->exact, &got);
    matrix_free(&got);
    return f;
}

/* on_the_cpu() - the product of the chosen rows and columns. */
static struct matrix on_the_cpu(const struct probe *s, const struct matrix *a, const struct matrix *b,
                                ozg_accuracy accuracy)
{
    struct matrix x = gather(a, s->rows, s->nrows, NULL, a->cols);
    struct matrix y = gather(b, NULL, b->rows, s->cols, s->ncols);
    struct matrix z = matrix_alloc("a sample", s->type, s->nrows, s->ncols);
    struct product p = product_of(s->type, s->nrows, s->ncols, s->k, x.data, y.data, z.data, accuracy);
    ozg_context *ctx;
    check_status(ozg_create(&ctx, NULL), NULL);
    check_status(product_run(ctx, &p, NULL), ctx);
    ozg_destroy(ctx);
    matrix_free(&x);
    matrix_free(&y);
    return z;
}

struct finding probe_defined(const struct probe *s, const struct matrix *a, const struct matrix *b,
                             const struct matrix *c, ozg_accuracy accuracy)
{
    struct finding f = {0};
    struct matrix got = gather(c, s->rows, s->nrows, s->cols, s->ncols);
    struct matrix defined = on_the_cpu(s, a, b, accuracy);
    size_t bytes = type_size(s->type);
    for (int64_t q = 0; q < s->nrows * s->ncols; q++) {
        size_t at = (size_t)q;
        double error = fabs(part_of(&got, at, 0) - part_of(&defined, at, 0));
        if (type_complex(s->type))
            error = fmax(error, fabs(part_of(&got, at, 1) - part_of(&defined, at, 1)));
        if (memcmp((char *)got.data + at * bytes, (char *)defined.data + at * bytes, bytes) == 0)
            error = 0;
        else if (error <= 0)
            error = NAN; /* the sign of a zero */
        judge(&f, error, 0, s->rows[q % s->nrows], s->cols[q / s->nrows]);
    }
    matrix_free(&got);
    matrix_free(&defined);
    return f;
}

struct finding probe_compare(const struct probe *s, const struct matrix *c, struct promise promise,
                             const struct matrix *other, struct promise others)
{
    struct finding f = {0};
    for (int64_t j = 0; j < c->cols; j++)
        for (int64_t i = 0; i < c->rows; i++)
            for (int part = 0; part < parts(s->type); part++) {
                size_t at = (size_t)(i + j * c->rows);
                double x = part_of(c, at, part), y = part_of(other, at, part);
                double magnitude = s->row_norms[i] * s->col_norms[j];
                double most = allowed(s, promise, magnitude) + allowed(s, others, magnitude) +
                              2 * unit_roundoff(s->type) * fmax(fabs(x), fabs(y));
                judge(&f, x == y ? 0 : fabs(x - y), most, i, j);
            }
    return f;
}
