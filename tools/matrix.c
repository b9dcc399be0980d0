/*
 * matrix.c - a dense matrix in memory: column-major, packed, one of the four types.
 *
 * SPDX-License-Identifier: MIT
 */
#include "matrix.h"

#include <stdlib.h>
#include <string.h>

#include "cli.h"

struct matrix matrix_alloc(const char *name, char type, int64_t rows, int64_t cols)
{
    struct matrix x = {.type = type, .rows = rows, .cols = cols};
    size_t bytes;
    if (rows < 0 || cols < 0)
        fail("%s: %lld x %lld is no size of a matrix: sizes must not be negative", name, (long long)rows,
             (long long)cols);
    if (__builtin_mul_overflow((size_t)rows, (size_t)cols, &bytes) ||
        __builtin_mul_overflow(bytes, type_size(type), &bytes) || bytes > PTRDIFF_MAX)
        fail("%s: a %lld x %lld matrix does not fit any memory: check the sizes in the file", name,
             (long long)rows, (long long)cols);
    if (bytes > physical_memory())
        fail("%s: a %lld x %lld matrix needs %.3g GB and this machine has %.3g GB: take a smaller one", name,
             (long long)rows, (long long)cols, (double)bytes / 1e9, (double)physical_memory() / 1e9);
    x.data = calloc(bytes ? bytes : 1, 1);
    if (x.data == NULL)
        fail("%s: no memory for %.3g MB: take a smaller matrix", name, (double)bytes / 1e6);
    return x;
}

void matrix_free(struct matrix *x)
{
    free(x->data);
    x->data = NULL;
}

int64_t matrix_ld(const struct matrix *x)
{
    return x->rows > 1 ? x->rows : 1;
}

/* component() - number index of the real numbers in x (complex: real and imaginary parts in turn). */
static double component(const struct matrix *x, size_t index)
{
    return type_double(x->type) ? ((const double *)x->data)[index] : (double)((const float *)x->data)[index];
}

static void set_component(struct matrix *x, size_t index, double value)
{
    if (type_double(x->type))
        ((double *)x->data)[index] = value;
    else
        ((float *)x->data)[index] = (float)value;
}

void matrix_convert(struct matrix *x, char type, const char *name)
{
    if (x->type == type)
        return;
    struct matrix y = matrix_alloc(name, type, x->rows, x->cols);
    size_t count = (size_t)x->rows * (size_t)x->cols;
    size_t from = type_complex(x->type) ? 2 : 1, to = type_complex(type) ? 2 : 1;
    for (size_t e = 0; e < count; e++) {
        set_component(&y, e * to, component(x, e * from));
        if (from == 2 && to == 2)
            set_component(&y, 2 * e + 1, component(x, 2 * e + 1));
        if (from == 2 && to == 1 && component(x, 2 * e + 1) != 0)
            fail("%s is complex: give --type z or c, or no --type", name);
    }
    matrix_free(x);
    *x = y;
}

/* Copies go by squares of TILE x TILE elements so that both sides stay in the cache. */
enum { TILE = 32 };

/* transpose() - dst[j + i ldd] = src[i + j lds] for i < rows, j < cols; elements of size bytes. */
static void transpose(char *dst, size_t ldd, const char *src, size_t lds, size_t rows, size_t cols,
                      size_t size)
{
    for (size_t jb = 0; jb < cols; jb += TILE)
        for (size_t ib = 0; ib < rows; ib += TILE)
            for (size_t j = jb; j < cols && j < jb + TILE; j++)
                for (size_t i = ib; i < rows && i < ib + TILE; i++)
                    memcpy(dst + (j + i * ldd) * size, src + (i + j * lds) * size, size);
}

void matrix_put_rows(struct matrix *x, int64_t first, int64_t count, const void *src)
{
    size_t size = type_size(x->type);
    transpose((char *)x->data + (size_t)first * size, (size_t)x->rows, src, (size_t)x->cols, (size_t)x->cols,
              (size_t)count, size);
}

void matrix_get_rows(const struct matrix *x, int64_t first, int64_t count, void *dst)
{
    size_t size = type_size(x->type);
    transpose(dst, (size_t)x->cols, (const char *)x->data + (size_t)first * size, (size_t)x->rows,
              (size_t)count, (size_t)x->cols, size);
}

int64_t lines_per_block(int64_t lines, int64_t length, size_t size)
{
    size_t line = (size_t)length * size, block = (size_t)4 << 20;
    int64_t n = line == 0 ? lines : (line > block ? 1 : (int64_t)(block / line));
    n = n < lines ? n : lines;
    return n > 1 ? n : 1;
}

int integer_exact(uint64_t v)
{
    return v == 0 || v >> __builtin_ctzll(v) < (uint64_t)1 << 53;
}
