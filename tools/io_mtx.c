/*
 * io_mtx.c - Matrix Market files: coordinate and array; real, complex, integer and pattern; all symmetries.
 *
 * Format: https://math.nist.gov/MatrixMarket/formats.html. Read into a dense matrix of double ('d' or 'z');
 * entries must lie in the matrix, in the lower triangle of a symmetric one, and come once.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "matrix_io.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli.h"

enum field { REAL, COMPLEX, INTEGER, PATTERN };
enum symmetry { GENERAL, SYMMETRIC, SKEW, HERMITIAN };

struct reader {
    FILE *f;
    const char *path;
    char *line; /* the current one */
    size_t room;
    long number;
    int coordinate;
    enum field field;
    enum symmetry symmetry;
    int64_t rows, cols, entries;
};

/* word_of() - which of the words is it? -1: none. */
static int word_of(const char *word, const char *const *words)
{
    for (int i = 0; words[i]; i++)
        if (strcasecmp(word, words[i]) == 0)
            return i;
    return -1;
}

/* next_line() - the next line that is neither blank nor a comment; 0 at the end. */
static int next_line(struct reader *r)
{
    while (getline(&r->line, &r->room, r->f) >= 0) {
        r->number++;
        size_t blanks = strspn(r->line, " \t\r\n");
        if (r->line[blanks] != '\0' && r->line[blanks] != '%')
            return 1;
    }
    if (ferror(r->f))
        fail("%s: cannot be read: %s", r->path, strerror(errno));
    return 0;
}

static void read_banner(struct reader *r)
{
    static const char *const formats[] = {"array", "coordinate", NULL};
    static const char *const fields[] = {"real", "complex", "integer", "pattern", NULL};
    static const char *const symmetries[] = {"general", "symmetric", "skew-symmetric", "hermitian", NULL};
    char mark[20], object[20], format[20], field[20], symmetry[20];
    int words = -1;
    if (getline(&r->line, &r->room, r->f) >= 0)
        words = sscanf(r->line, "%19s %19s %19s %19s %19s", mark, object, format, field, symmetry);
    r->number = 1;
    if (words != 5 || strcasecmp(mark, "%%MatrixMarket") != 0 || strcasecmp(object, "matrix") != 0)
        fail("%s: is no Matrix Market file: line 1 must be '%%%%MatrixMarket matrix ...'", r->path);
    int fo = word_of(format, formats), fi = word_of(field, fields), sy = word_of(symmetry, symmetries);
    if (fo < 0 || fi < 0 || sy < 0)
        fail("%s: line 1: '%s %s %s' is not known: see the Matrix Market formats", r->path, format, field,
             symmetry);
    r->coordinate = fo;
    r->field = (enum field)fi;
    r->symmetry = (enum symmetry)sy;
    if ((r->field == PATTERN && !r->coordinate) || (r->symmetry == HERMITIAN && r->field != COMPLEX) ||
        (r->symmetry == SKEW && r->field == PATTERN))
        fail("%s: line 1: '%s %s %s' does not go together", r->path, format, field, symmetry);
}

/* integer_word() - the next word of the line as a whole number of at least lo. */
static int64_t integer_word(struct reader *r, char **p, int64_t lo, const char *what)
{
    char *end;
    errno = 0;
    long long v = strtoll(*p, &end, 10);
    if (end == *p || !strchr(" \t\r\n", *end) || errno != 0 || v < lo)
        fail("%s: line %ld: the %s must be a whole number of at least %lld", r->path, r->number, what,
             (long long)lo);
    *p = end;
    return v;
}

/* real_word() - the next word as a double; integers must be exact. */
static double real_word(struct reader *r, char **p)
{
    char *end;
    errno = 0;
    double v = 0;
    if (r->field == INTEGER) {
        long long i = strtoll(*p, &end, 10);
        v = (double)i;
        if (errno != 0 || !integer_exact(i < 0 ? 0 - (uint64_t)i : (uint64_t)i))
            fail("%s: line %ld: no double can hold this integer: make the field real", r->path, r->number);
    } else {
        v = strtod(*p, &end);
        if (errno == ERANGE && fabs(v) > 1)
            fail("%s: line %ld: the number is out of the range of double", r->path, r->number);
    }
    if (end == *p || !strchr(" \t\r\n", *end))
        fail("%s: line %ld: expected a number", r->path, r->number);
    *p = end;
    return v;
}

static void end_of_line(struct reader *r, const char *p)
{
    if (p[strspn(p, " \t\r\n")] != '\0')
        fail("%s: line %ld: has more words than the format allows", r->path, r->number);
}

static void read_sizes(struct reader *r)
{
    if (!next_line(r))
        fail("%s: the line of sizes is missing: the file is cut short", r->path);
    char *p = r->line;
    r->rows = integer_word(r, &p, 0, "number of rows");
    r->cols = integer_word(r, &p, 0, "number of columns");
    if (r->coordinate)
        r->entries = integer_word(r, &p, 0, "number of entries");
    end_of_line(r, p);
    if (r->symmetry != GENERAL && r->rows != r->cols)
        fail("%s: line %ld: a symmetric matrix must be square", r->path, r->number);
}

/* put() - entry (i, j), counted from 0, and its mirror image. */
static void put(const struct reader *r, struct matrix *x, int64_t i, int64_t j, double re, double im)
{
    double *data = x->data;
    size_t at = (size_t)(i + j * x->rows), mirror = (size_t)(j + i * x->rows);
    if (i != j && r->symmetry != GENERAL) {
        double sign = r->symmetry == SKEW ? -1 : 1;
        if (x->type == 'z') {
            data[2 * mirror] = sign * re;
            data[2 * mirror + 1] = r->symmetry == HERMITIAN ? -im : sign * im;
        } else
            data[mirror] = sign * re;
    }
    if (x->type == 'z') {
        data[2 * at] = re;
        data[2 * at + 1] = im;
    } else
        data[at] = re;
}

/* read_value() - the value of an entry and the check of a Hermitian diagonal. */
static void read_value(struct reader *r, struct matrix *x, char *p, int64_t i, int64_t j)
{
    double re = r->field == PATTERN ? 1 : real_word(r, &p);
    double im = r->field == COMPLEX ? real_word(r, &p) : 0;
    end_of_line(r, p);
    if (i == j && r->symmetry == HERMITIAN && im != 0)
        fail("%s: line %ld: the diagonal of a Hermitian matrix is real", r->path, r->number);
    put(r, x, i, j, re, im);
}

static void read_coordinate(struct reader *r, struct matrix *x)
{
    size_t count = (size_t)x->rows * (size_t)x->cols;
    unsigned char *seen = calloc(count / 8 + 1, 1);
    if (seen == NULL)
        fail("%s: no memory for %.3g MB", r->path, (double)count / 8e6);
    for (int64_t e = 0; e < r->entries; e++) {
        if (!next_line(r))
            fail("%s: has %lld of %lld entries: the file is cut short", r->path, (long long)e,
                 (long long)r->entries);
        char *p = r->line;
        int64_t i = integer_word(r, &p, 1, "row") - 1, j = integer_word(r, &p, 1, "column") - 1;
        if (i >= r->rows || j >= r->cols)
            fail("%s: line %ld: entry (%lld, %lld) lies outside of the %lld x %lld matrix", r->path,
                 r->number, (long long)i + 1, (long long)j + 1, (long long)r->rows, (long long)r->cols);
        if (r->symmetry != GENERAL && i < j + (r->symmetry == SKEW))
            fail("%s: line %ld: entry (%lld, %lld) is not in the lower triangle that this symmetry stores",
                 r->path, r->number, (long long)i + 1, (long long)j + 1);
        size_t at = (size_t)(i + j * r->rows);
        if (seen[at / 8] >> at % 8 & 1)
            fail("%s: line %ld: entry (%lld, %lld) comes twice", r->path, r->number, (long long)i + 1,
                 (long long)j + 1);
        seen[at / 8] |= (unsigned char)(1 << at % 8);
        read_value(r, x, p, i, j);
    }
    free(seen);
}

static void read_array(struct reader *r, struct matrix *x)
{
    for (int64_t j = 0; j < r->cols; j++) {
        int64_t first = r->symmetry == GENERAL ? 0 : j + (r->symmetry == SKEW);
        for (int64_t i = first; i < r->rows; i++) {
            if (!next_line(r))
                fail("%s: ends at entry (%lld, %lld): the file is cut short", r->path, (long long)i + 1,
                     (long long)j + 1);
            read_value(r, x, r->line, i, j);
        }
    }
}

struct matrix mtx_read(const char *path)
{
    struct reader r = {.f = fopen(path, "r"), .path = path};
    if (r.f == NULL)
        fail("%s: cannot be read: %s", path, strerror(errno));
    read_banner(&r);
    read_sizes(&r);
    struct matrix x = matrix_alloc(path, r.field == COMPLEX ? 'z' : 'd', r.rows, r.cols);
    if (r.coordinate)
        read_coordinate(&r, &x);
    else
        read_array(&r, &x);
    if (next_line(&r))
        fail("%s: line %ld: there are more entries than the sizes say", path, r.number);
    free(r.line);
    fclose(r.f);
    return x;
}

void mtx_write(const char *path, const char *name, const struct matrix *x)
{
    size_t parts = type_complex(x->type) ? 2 : 1;
    int digits = type_double(x->type) ? 17 : 9;
    FILE *f = fopen(path, "w");
    if (f == NULL)
        fail("%s: cannot be written: %s", name, strerror(errno));
    fprintf(f, "%%%%MatrixMarket matrix array %s general\n%lld %lld\n", parts == 2 ? "complex" : "real",
            (long long)x->rows, (long long)x->cols);
    for (size_t e = 0; e < (size_t)x->rows * (size_t)x->cols && !ferror(f); e++)
        for (size_t part = 0; part < parts; part++) {
            size_t at = e * parts + part;
            double v = type_double(x->type) ? ((double *)x->data)[at] : (double)((float *)x->data)[at];
            fprintf(f, "%.*g%c", digits, v, part + 1 < parts ? ' ' : '\n');
        }
    int good = !ferror(f);
    if (fclose(f) != 0 || !good)
        fail("%s: cannot be written: %s", name, strerror(errno));
}
