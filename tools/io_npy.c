/*
 * io_npy.c - NumPy's .npy: versions 1 to 3, both orders of storage, both byte orders.
 *
 * Types read: f4 f8 c8 c16, and the integers i1 i2 i4 i8 u1 u2 u4 u8 where each value is a double.
 * Format: numpy.lib.format of the NumPy manual.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "matrix_io.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"

/* What the header says. */
struct header {
    char kind;   /* 'f', 'c', 'i' or 'u' */
    int size;    /* bytes of an element */
    int swapped; /* the other byte order */
    int fortran; /* column-major */
    int64_t shape[2];
};

static int little_endian(void)
{
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first == 1;
}

/* read_bytes() - exactly count bytes, else fail(). */
static void read_bytes(FILE *f, const char *path, void *to, size_t count)
{
    if (fread(to, 1, count, f) != count) {
        if (ferror(f))
            fail("%s: cannot be read: %s", path, strerror(errno));
        fail("%s: the file is cut short: write it again", path);
    }
}

/* peek() - the next character that is no blank. */
static char peek(const char **p)
{
    while (isspace((unsigned char)**p))
        (*p)++;
    return **p;
}

/* skip() - past blanks and, if it is there, the character c; tells whether it was. */
static int skip(const char **p, char c)
{
    int there = peek(p) == c;
    *p += there;
    return there;
}

/* quoted() - a Python string of up to size - 1 characters. */
static int quoted(const char **p, char *to, size_t size)
{
    size_t n = 0;
    char quote = skip(p, '\'') ? '\'' : (skip(p, '"') ? '"' : 0);
    if (!quote)
        return 0;
    for (; **p && **p != quote; (*p)++)
        if (n + 1 < size)
            to[n++] = **p;
    to[n] = '\0';
    return *(*p)++ == quote;
}

static void parse_descr(const char **p, const char *path, struct header *h)
{
    char descr[16];
    int used = 0;
    if (!quoted(p, descr, sizeof descr))
        fail("%s: has structured elements: save a plain matrix of numbers", path);
    if (sscanf(descr, "%*[<>=|]%c%d%n", &h->kind, &h->size, &used) != 2 || descr[used] != '\0')
        fail("%s: has elements of type '%s': save float or complex numbers", path, descr);
    int floats = h->kind == 'f' && (h->size == 4 || h->size == 8);
    int complexes = h->kind == 'c' && (h->size == 8 || h->size == 16);
    int integers =
        (h->kind == 'i' || h->kind == 'u') && (h->size == 1 || h->size == 2 || h->size == 4 || h->size == 8);
    if (!floats && !complexes && !integers)
        fail("%s: has elements of type '%s': save float32, float64, complex64, complex128 or integers", path,
             descr);
    h->swapped = (descr[0] == '<' && !little_endian()) || (descr[0] == '>' && little_endian());
}

static void parse_shape(const char **p, const char *path, struct header *h)
{
    int n = 0;
    if (!skip(p, '('))
        fail("%s: the header has no shape in it: write the file again", path);
    while (!skip(p, ')')) {
        char *end;
        errno = 0;
        long long v = strtoll(*p, &end, 10);
        if (end == *p || errno != 0 || v < 0)
            fail("%s: the header gives a size that is no number of elements: write the file again", path);
        *p = end;
        if (n < 2)
            h->shape[n] = v;
        n++;
        skip(p, 'L'); /* as Python 2 wrote it */
        if (!skip(p, ',') && peek(p) != ')')
            fail("%s: the header gives a shape that is no tuple: write the file again", path);
    }
    if (n != 2)
        fail("%s: has %d dimension%s: a matrix has 2; reshape it", path, n, n == 1 ? "" : "s");
}

/* parse_header() - the Python dictionary {'descr': ..., 'fortran_order': ..., 'shape': ...}. */
static struct header parse_header(const char *text, const char *path)
{
    struct header h = {0};
    const char *p = text;
    int seen = 0;
    if (!skip(&p, '{'))
        fail("%s: the header is no dictionary: write the file again", path);
    while (!skip(&p, '}')) {
        char key[32];
        if (!quoted(&p, key, sizeof key) || !skip(&p, ':'))
            fail("%s: the header cannot be understood: write the file again", path);
        peek(&p);
        if (strcmp(key, "descr") == 0) {
            parse_descr(&p, path, &h);
            seen |= 1;
        } else if (strcmp(key, "fortran_order") == 0 && (!strncmp(p, "True", 4) || !strncmp(p, "False", 5))) {
            h.fortran = *p == 'T';
            p += h.fortran ? 4 : 5;
            seen |= 2;
        } else if (strcmp(key, "shape") == 0) {
            parse_shape(&p, path, &h);
            seen |= 4;
        } else
            fail("%s: the header cannot be understood: write the file again", path);
        if (!skip(&p, ',') && peek(&p) != '}')
            fail("%s: the header cannot be understood: write the file again", path);
    }
    if (seen != 7)
        fail("%s: the header must have descr, fortran_order and shape: write the file again", path);
    return h;
}

/* read_header() - magic, version, length and dictionary. */
static struct header read_header(FILE *f, const char *path)
{
    unsigned char start[8], length[4] = {0};
    read_bytes(f, path, start, sizeof start);
    if (memcmp(start, "\x93NUMPY", 6) != 0)
        fail("%s: is no .npy file: it does not begin with the mark of NumPy", path);
    if (start[6] < 1 || start[6] > 3)
        fail("%s: is .npy of version %d: save it as version 1, 2 or 3", path, start[6]);
    read_bytes(f, path, length, start[6] == 1 ? 2 : 4);
    size_t n = length[0] | (size_t)length[1] << 8 | (size_t)length[2] << 16 | (size_t)length[3] << 24;
    if (n > 1 << 20)
        fail("%s: the header claims %zu bytes: write the file again", path, n);
    char *text = xmalloc(n + 1);
    read_bytes(f, path, text, n);
    text[n] = '\0';
    struct header h = parse_header(text, path);
    free(text);
    return h;
}

/* check_length() - a regular file must hold what the header promises, no more and no less. */
static void check_length(FILE *f, const char *path, const struct header *h)
{
    struct stat info;
    int64_t bytes, position = ftell(f);
    if (fstat(fileno(f), &info) != 0 || !S_ISREG(info.st_mode) || position < 0)
        return;
    if (__builtin_mul_overflow(h->shape[0], h->shape[1], &bytes) ||
        __builtin_mul_overflow(bytes, (int64_t)h->size, &bytes))
        fail("%s: a %lld x %lld matrix does not fit any memory: check the file", path, (long long)h->shape[0],
             (long long)h->shape[1]);
    int64_t have = (int64_t)info.st_size - position;
    if (have != bytes)
        fail("%s: has %lld bytes of data where a %lld x %lld matrix has %lld: write the file again", path,
             (long long)have, (long long)h->shape[0], (long long)h->shape[1], (long long)bytes);
}

static void swap_bytes(unsigned char *data, size_t count, size_t size)
{
    for (size_t e = 0; e < count; e++, data += size)
        for (size_t i = 0; i < size / 2; i++) {
            unsigned char t = data[i];
            data[i] = data[size - 1 - i];
            data[size - 1 - i] = t;
        }
}

/* integer_value() - element e of an integer array as a double, which must be exact. */
static double integer_value(const unsigned char *raw, size_t e, const struct header *h, const char *path)
{
    const unsigned char *bytes = raw + e * (size_t)h->size;
    uint64_t bits = 0;
    for (int i = 0; i < h->size; i++) /* most significant byte first */
        bits = bits << 8 | bytes[little_endian() ? h->size - 1 - i : i];
    int negative = h->kind == 'i' && bits >> (8 * h->size - 1);
    uint64_t size = negative ? 0 - (bits | ~(UINT64_MAX >> (64 - 8 * h->size))) : bits;
    if (!integer_exact(size))
        fail("%s: has an integer that no double can hold: convert the matrix to float64 yourself", path);
    return negative ? -(double)size : (double)size;
}

/* decode() - count elements of the file become elements of x's type, in place or in number. */
static const void *decode(unsigned char *raw, double *number, size_t count, const struct header *h,
                          const char *path)
{
    size_t parts = h->kind == 'c' ? 2 : 1;
    if (h->swapped)
        swap_bytes(raw, count * parts, (size_t)h->size / parts);
    if (h->kind == 'f' || h->kind == 'c')
        return raw;
    for (size_t e = 0; e < count; e++)
        number[e] = integer_value(raw, e, h, path);
    return number;
}

/* read_data() - the elements, by blocks of lines: rows, or columns in Fortran order. */
static void read_data(FILE *f, const char *path, const struct header *h, struct matrix *x)
{
    int64_t lines = h->fortran ? x->cols : x->rows, length = h->fortran ? x->rows : x->cols;
    int64_t block = lines_per_block(lines, length, type_size(x->type));
    size_t size = type_size(x->type), room = (size_t)block * (size_t)length;
    unsigned char *raw = xmalloc(room * (size_t)h->size);
    double *number = xmalloc(room * sizeof(double));
    for (int64_t i = 0; i < lines; i += block) {
        int64_t count = lines - i < block ? lines - i : block;
        size_t n = (size_t)count * (size_t)length;
        read_bytes(f, path, raw, n * (size_t)h->size);
        const void *elements = decode(raw, number, n, h, path);
        if (h->fortran)
            memcpy((char *)x->data + (size_t)i * (size_t)length * size, elements, n * size);
        else
            matrix_put_rows(x, i, count, elements);
    }
    free(raw);
    free(number);
}

struct matrix npy_read(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        fail("%s: cannot be read: %s", path, strerror(errno));
    struct header h = read_header(f, path);
    check_length(f, path, &h);
    char type = h.kind == 'c' ? (h.size == 8 ? 'c' : 'z') : (h.kind == 'f' && h.size == 4 ? 's' : 'd');
    struct matrix x = matrix_alloc(path, type, h.shape[0], h.shape[1]);
    read_data(f, path, &h, &x);
    if (fgetc(f) != EOF)
        fail("%s: has more data than its header says: write the file again", path);
    fclose(f);
    return x;
}

void npy_write(const char *path, const char *name, const struct matrix *x)
{
    char header[128], text[128];
    size_t part = type_double(x->type) ? 8 : 4;
    FILE *f = fopen(path, "wb");
    if (f == NULL)
        fail("%s: cannot be written: %s", name, strerror(errno));
    int n =
        snprintf(text, sizeof text, "{'descr': '%c%c%zu', 'fortran_order': True, 'shape': (%lld, %lld), }",
                 little_endian() ? '<' : '>', type_complex(x->type) ? 'c' : 'f',
                 part * (type_complex(x->type) ? 2 : 1), (long long)x->rows, (long long)x->cols);
    /* 10 bytes, then text, blanks and a newline: 128 in all, so that the data are aligned to 64 */
    memcpy(header, "\x93NUMPY\x01\x00\x76\x00", 10);
    memset(header + 10, ' ', sizeof header - 11);
    memcpy(header + 10, text, (size_t)n);
    header[sizeof header - 1] = '\n';
    size_t count = (size_t)x->rows * (size_t)x->cols;
    int good = fwrite(header, 1, sizeof header, f) == sizeof header &&
               fwrite(x->data, type_size(x->type), count, f) == count;
    if (fclose(f) != 0 || !good)
        fail("%s: cannot be written: %s", name, strerror(errno));
}
