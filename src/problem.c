/*
 * problem.c - the argument rules of a BLAS product, and the exact overlap test.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "moduli.h"
#include "problem.h"

static ozg_status wrong(char *error, size_t size, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(error, size, format, args);
    va_end(args);
    return OZG_E_ARG;
}

static int normalise_trans(char *trans)
{
    switch (*trans) {
    case 'n':
    case 'N':
        *trans = 'N';
        return 1;
    case 't':
    case 'T':
        *trans = 'T';
        return 1;
    case 'c':
    case 'C':
        *trans = 'C';
        return 1;
    default:
        return 0;
    }
}

static ozg_status check_accuracy(ozg_accuracy acc, int number, char *error, size_t size)
{
    if (acc.kind == OZG_BY_MODULI || acc.kind == OZG_BY_ACCURATE) {
        if (acc.value < OZG_NMOD_MIN || acc.value > OZG_NMOD_MAX)
            return wrong(error, size, "argument %d: %s(%d) is outside %d..%d moduli", number,
                         acc.kind == OZG_BY_MODULI ? "ozg_moduli" : "ozg_accurate", acc.value, OZG_NMOD_MIN,
                         OZG_NMOD_MAX);
        return OZG_OK;
    }
    if (acc.kind == OZG_BY_WIDTH) {
        if (acc.value < 1)
            return wrong(error, size, "argument %d: ozg_width(%d) must be at least 1 bit", number, acc.value);
        return OZG_OK;
    }
    if (acc.kind == OZG_BY_NATIVE || acc.kind == OZG_BY_ROUNDED) {
        if (acc.value != 0 && (acc.value < OZG_NMOD_MIN || acc.value > OZG_NMOD_MAX))
            return wrong(error, size, "argument %d: ozg_with_moduli(%d) is outside %d..%d moduli", number,
                         acc.value, OZG_NMOD_MIN, OZG_NMOD_MAX);
        return OZG_OK;
    }
    return wrong(error, size,
                 "argument %d: the accuracy must come from ozg_native(), ozg_rounded(), ozg_moduli(), "
                 "ozg_accurate() or ozg_width()",
                 number);
}

ozg_status ozg_problem_check_shape(ozg_shape *s, const ozg_argument_numbers *arg, char *error, size_t size)
{
    if (s->type != 's' && s->type != 'd' && s->type != 'c' && s->type != 'z')
        return wrong(error, size, "argument %d (type) must be 's', 'd', 'c' or 'z'", arg->type);
    if (!normalise_trans(&s->transa))
        return wrong(error, size, "argument %d (transa) must be 'N', 'T' or 'C'", arg->transa);
    if (!normalise_trans(&s->transb))
        return wrong(error, size, "argument %d (transb) must be 'N', 'T' or 'C'", arg->transb);
    if (s->m < 0)
        return wrong(error, size, "argument %d (m) is %lld; it must not be negative", arg->m,
                     (long long)s->m);
    if (s->n < 0)
        return wrong(error, size, "argument %d (n) is %lld; it must not be negative", arg->n,
                     (long long)s->n);
    if (s->k < 0)
        return wrong(error, size, "argument %d (k) is %lld; it must not be negative", arg->k,
                     (long long)s->k);
    return check_accuracy(s->acc, arg->acc, error, size);
}

/* The column interval [at, at + height) meets a column of b. */
static int column_meets(uintptr_t at, uint64_t height, const ozg_block *b)
{
    int64_t q;

    if (at + height <= b->first)
        return 0;
    if (at < b->first) /* begins below: only the first column can be met */
        return 1;
    q = (int64_t)((at - b->first) / b->ld); /* the last column that begins at or below at */
    if (q >= b->columns)
        return (at - b->first) - (uint64_t)(b->columns - 1) * b->ld < b->height;
    if ((at - b->first) - (uint64_t)q * b->ld < b->height)
        return 1;
    return q + 1 < b->columns && at + height > b->first + (uint64_t)(q + 1) * b->ld;
}

/* The two blocks share a byte. Exact, also for interleaved blocks of one large array. */
static int overlap(const ozg_block *c, const ozg_block *x)
{
    uint64_t c_end = c->first + (uint64_t)(c->columns - 1) * c->ld + c->height;
    uint64_t x_end = x->first + (uint64_t)(x->columns - 1) * x->ld + x->height;

    if (c_end <= x->first || x_end <= c->first)
        return 0;
    for (int64_t j = 0; j < c->columns; j++)
        if (column_meets(c->first + (uint64_t)j * c->ld, c->height, x))
            return 1;
    return 0;
}

/* One matrix: leading dimension, address, extent. *b gets its bytes. rows, columns >= 1. */
static ozg_status check_matrix(const char *name, char type, const void *x, int64_t rows, int64_t columns,
                               int64_t ld, int number, int number_ld, ozg_block *b, char *error, size_t size)
{
    const int64_t bytes = ozg_type_size(type);

    if (!x)
        return wrong(error, size, "argument %d (%s) is NULL", number, name);
    b->first = (uintptr_t)x;
    if (columns == 1) /* its leading dimension is never used, and may be anything */
        ld = rows;
    if (ld > INT64_MAX / bytes || (columns > 1 && columns - 1 > (INT64_MAX / bytes - rows) / ld) ||
        b->first + (uint64_t)((columns - 1) * ld + rows) * (uint64_t)bytes < b->first)
        return wrong(error, size,
                     "argument %d (ld%s) is %lld: the matrix would not fit into the address space", number_ld,
                     name, (long long)ld);
    b->ld = (uint64_t)(ld * bytes);
    b->height = (uint64_t)(rows * bytes);
    b->columns = columns;
    b->of = name[0];
    return OZG_OK;
}

static ozg_status check_ld(const char *name, int64_t ld, int64_t rows, int number, char *error, size_t size)
{
    if (ld < rows || ld < 1)
        return wrong(error, size, "argument %d (ld%s) is %lld; it must be at least %lld", number, name,
                     (long long)ld, (long long)(rows > 1 ? rows : 1));
    return OZG_OK;
}

/* Rows and columns of the stored A (is_a) or B. */
static void stored_size(const ozg_shape *s, int is_a, int64_t *rows, int64_t *columns)
{
    const int64_t lines = is_a ? s->m : s->n;
    const int lines_are_rows = is_a == ((is_a ? s->transa : s->transb) == 'N');

    *rows = lines_are_rows ? lines : s->k;
    *columns = lines_are_rows ? s->k : lines;
}

static ozg_status check_operand_ld(const ozg_shape *s, int is_a, int64_t ld, const ozg_argument_numbers *arg,
                                   char *error, size_t size)
{
    int64_t rows, columns;

    stored_size(s, is_a, &rows, &columns);
    return check_ld(is_a ? "a" : "b", ld, rows, is_a ? arg->lda : arg->ldb, error, size);
}

static ozg_status check_operand_matrix(const ozg_shape *s, int is_a, const void *x, int64_t ld,
                                       const ozg_argument_numbers *arg, ozg_block *b, char *error,
                                       size_t size)
{
    int64_t rows, columns;

    stored_size(s, is_a, &rows, &columns);
    return check_matrix(is_a ? "a" : "b", s->type, x, rows, columns, ld, is_a ? arg->a : arg->b,
                        is_a ? arg->lda : arg->ldb, b, error, size);
}

ozg_status ozg_problem_check_operand(const ozg_shape *s, int is_a, const void *x, int64_t ldx,
                                     const ozg_argument_numbers *arg, char *error, size_t size)
{
    ozg_block b;
    ozg_status status = check_operand_ld(s, is_a, ldx, arg, error, size);

    if (status || s->k == 0 || (is_a ? s->m : s->n) == 0)
        return status;
    return check_operand_matrix(s, is_a, x, ldx, arg, &b, error, size);
}

/* A or B beside C: it exists and shares no element with C. */
static ozg_status check_against_c(const ozg_shape *s, int is_a, const void *x, int64_t ld, const ozg_block *c,
                                  const ozg_argument_numbers *arg, char *error, size_t size)
{
    ozg_block b = {0, 0, 0, 0, 0};
    ozg_status status = check_operand_matrix(s, is_a, x, ld, arg, &b, error, size);

    if (!status && overlap(c, &b))
        return wrong(error, size, "argument %d (c) shares elements with argument %d (%s); use another C",
                     arg->c, is_a ? arg->a : arg->b, is_a ? "a" : "b");
    return status;
}

ozg_status ozg_problem_check_data(const ozg_shape *s, const ozg_data *d, const ozg_argument_numbers *arg,
                                  char *error, size_t size)
{
    ozg_block c;
    ozg_status status = OZG_OK;

    if (!d->pa)
        status = check_operand_ld(s, 1, d->lda, arg, error, size);
    if (!status && !d->pb)
        status = check_operand_ld(s, 0, d->ldb, arg, error, size);
    if (!status)
        status = check_ld("c", d->ldc, s->m, arg->ldc, error, size);
    if (status || s->m == 0 || s->n == 0)
        return status;
    status = check_matrix("c", s->type, d->c, s->m, s->n, d->ldc, arg->c, arg->ldc, &c, error, size);
    if (status || ozg_nothing_to_multiply(s, d))
        return status;
    if (!d->pa)
        status = check_against_c(s, 1, d->a, d->lda, &c, arg, error, size);
    if (!status && !d->pb)
        status = check_against_c(s, 0, d->b, d->ldb, &c, arg, error, size);
    return status;
}

/* ---- batches ------------------------------------------------------------------------------------ */

/* x + q stride elements, as an address: strides are not checked, and NULL stays NULL for the check of data.
 */
static void *advance(const void *x, int64_t q, int64_t stride)
{
    return x ? (void *)((uintptr_t)x + (uintptr_t)q * (uintptr_t)stride * sizeof(double)) : NULL;
}

void ozg_products_at(ozg_data *d, const ozg_data *data, const ozg_products *all, int64_t q)
{
    *d = *data;
    d->a = all->a ? all->a[q] : advance(data->a, q, all->stride_a);
    d->b = all->b ? all->b[q] : advance(data->b, q, all->stride_b);
    d->c = all->c ? all->c[q] : advance(data->c, q, all->stride_c);
}

int ozg_problem_blocks(const ozg_shape *s, const ozg_data *d, ozg_block *out)
{
    static const ozg_argument_numbers unused = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    char error[8]; /* the product is checked: nothing is said */
    int count = 0;

    if (s->m == 0 || s->n == 0)
        return 0;
    check_matrix("c", s->type, d->c, s->m, s->n, d->ldc, 0, 0, &out[count++], error, sizeof error);
    if (ozg_nothing_to_multiply(s, d))
        return count;
    if (!d->pa)
        check_operand_matrix(s, 1, d->a, d->lda, &unused, &out[count++], error, sizeof error);
    if (!d->pb)
        check_operand_matrix(s, 0, d->b, d->ldb, &unused, &out[count++], error, sizeof error);
    return count;
}

static int compare_blocks(const void *left, const void *right)
{
    const ozg_block *a = left, *b = right;

    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return a->of < b->of ? -1 : a->of > b->of;
}

/* One column of a block, as bytes [first, end). */
typedef struct interval {
    uint64_t first, end;
    int is_c;
} interval;

static int compare_intervals(const void *left, const void *right)
{
    const interval *a = left, *b = right;

    return a->first < b->first ? -1 : a->first > b->first;
}

/* Sorted by address, a column clashes if it begins before the end of an earlier one and either is of a C. */
static int intervals_clash(interval *columns, size_t count)
{
    uint64_t end_of_c = 0, end = 0;

    qsort(columns, count, sizeof *columns, compare_intervals);
    for (size_t i = 0; i < count; i++) {
        if (columns[i].first < (columns[i].is_c ? end : end_of_c))
            return 1;
        end = columns[i].end > end ? columns[i].end : end;
        if (columns[i].is_c && columns[i].end > end_of_c)
            end_of_c = columns[i].end;
    }
    return 0;
}

/* Blocks [begin, begin + count), whose bytes lie between each other's: column by column. -1: no memory. */
static int columns_clash(const ozg_block *blocks, size_t count)
{
    size_t total = 0, at = 0;
    interval *columns;
    int clash;

    for (size_t i = 0; i < count; i++) {
        if ((uint64_t)blocks[i].columns > SIZE_MAX / sizeof *columns - total)
            return -1;
        total += (size_t)blocks[i].columns;
    }
    columns = malloc(total * sizeof *columns);
    if (!columns)
        return -1;
    for (size_t i = 0; i < count; i++)
        for (int64_t q = 0; q < blocks[i].columns; q++, at++) {
            columns[at].first = blocks[i].first + (uint64_t)q * blocks[i].ld;
            columns[at].end = columns[at].first + blocks[i].height;
            columns[at].is_c = blocks[i].of == 'c';
        }
    clash = intervals_clash(columns, total);
    free(columns);
    return clash;
}

int ozg_problem_blocks_clash(ozg_block *blocks, size_t count)
{
    size_t kept = 0;

    qsort(blocks, count, sizeof *blocks, compare_blocks);
    for (size_t i = 0; i < count; i++) { /* an A or B that is used again counts once */
        const ozg_block *last = kept ? &blocks[kept - 1] : NULL;

        if (!last || last->of == 'c' || last->of != blocks[i].of || last->first != blocks[i].first)
            blocks[kept++] = blocks[i];
    }
    for (size_t i = 0, next; i < kept; i = next) { /* runs of blocks whose ranges of bytes hang together */
        uint64_t end = 0;
        int has_c = 0, clash;

        for (next = i; next < kept && (next == i || blocks[next].first < end); next++) {
            const ozg_block *x = &blocks[next];
            const uint64_t x_end = x->first + (uint64_t)(x->columns - 1) * x->ld + x->height;

            end = x_end > end ? x_end : end;
            has_c |= x->of == 'c';
        }
        clash = has_c && next - i > 1 ? columns_clash(blocks + i, next - i) : 0;
        if (clash)
            return clash;
    }
    return 0;
}
