/*
 * matrix.h - a dense matrix in memory: column-major, packed, one of the four types.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TOOL_MATRIX_H
#define OZG_TOOL_MATRIX_H

#include <stddef.h>
#include <stdint.h>

struct matrix {
    char type; /* 's', 'd', 'c' or 'z' */
    int64_t rows, cols;
    void *data; /* rows x cols elements, column-major, leading dimension rows */
};

/*
 * matrix_alloc() - zeros. fail() with one line if the size overflows or is more than the machine has;
 * name says whose matrix it is.
 */
struct matrix matrix_alloc(const char *name, char type, int64_t rows, int64_t cols);

void matrix_free(struct matrix *x);

/* matrix_ld() - the leading dimension that BLAS wants: max(1, rows). */
int64_t matrix_ld(const struct matrix *x);

/*
 * matrix_convert() - to another type, in place. Real to complex and float to double are exact; double to
 * float rounds to nearest; complex to real drops zeros and calls fail() if there is another imaginary part.
 */
void matrix_convert(struct matrix *x, char type, const char *name);

/* matrix_put_rows() - copy count rows that lie row-major in src to rows first, first + 1, ... of x. */
void matrix_put_rows(struct matrix *x, int64_t first, int64_t count, const void *src);

/* matrix_get_rows() - the reverse: count rows, row-major, into dst. */
void matrix_get_rows(const struct matrix *x, int64_t first, int64_t count, void *dst);

/* lines_per_block() - how many of these lines, each length elements of size bytes, make a block of about 4
 * MB. */
int64_t lines_per_block(int64_t lines, int64_t length, size_t size);

/* integer_exact() - is this magnitude a double without rounding? */
int integer_exact(uint64_t v);

#endif
