/*
 * test_gather.c - entries of a matrix, by indices or all of them, against a plain loop.
 * with: ozg_cuda_emulated
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "cuda/kernels.h"
#include "emulate.h"
#include "guard.h"
#include "rng.h"
#include "../unit/unit.h"

/* Numbers below `below`, in any order, some of them twice. */
static int64_t *indices(struct rng *r, int64_t count, int64_t below)
{
    int64_t *index = malloc((size_t)count * sizeof *index);

    if (!index)
        abort();
    for (int64_t i = 0; i < count; i++)
        index[i] = rng_between(r, 0, below - 1);
    return index;
}

/* What is gathered, where the kernel sees it: the last byte of a matrix lies before a closed page. */
typedef struct entries {
    struct guard x, out;
    size_t bytes_x, bytes_out;
    ozg_cuda_gather_args args;
    int64_t *row, *column;
} entries;

/* which: bits for words of 4 bytes, 2 words, rows side by side, indices of rows and of columns. */
static void open_entries(entries *e, struct rng *r, int64_t rows, int64_t columns, int which)
{
    ozg_cuda_gather_args *a = &e->args;
    const int64_t m = rows + 3, n = columns + 2, ldx = m + rng_between(r, 0, 4);
    size_t size;

    memset(e, 0, sizeof *e);
    a->word = which & 1 ? 4 : 8;
    a->words = which & 2 ? 2 : 1;
    a->rows = rows;
    a->columns = columns;
    a->row_step = which & 4 ? n + 1 : 1;
    a->column_step = which & 4 ? 1 : ldx;
    a->ld = rows + rng_between(r, 0, 3);
    size = (size_t)(a->word * a->words);
    e->bytes_x = (size_t)((m - 1) * a->row_step + (n - 1) * a->column_step + 1) * size;
    e->bytes_out = (size_t)((columns - 1) * a->ld + rows) * size;
    guard_open(&e->x, e->bytes_x);
    guard_open(&e->out, e->bytes_out);
    a->x = guard_tail(&e->x, e->bytes_x);
    a->out = guard_tail(&e->out, e->bytes_out);
    e->row = which & 8 ? indices(r, rows, m) : NULL;
    e->column = which & 16 ? indices(r, columns, n) : NULL;
    a->row = e->row;
    a->column = e->column;
}

static void check(struct rng *r, int64_t rows, int64_t columns, int which)
{
    entries e;
    unsigned char *x, *expected;
    size_t size;

    open_entries(&e, r, rows, columns, which);
    size = (size_t)(e.args.word * e.args.words);
    x = guard_tail(&e.x, e.bytes_x);
    expected = malloc(e.bytes_out);
    if (!expected)
        abort();
    for (size_t i = 0; i < e.bytes_x; i++)
        x[i] = (unsigned char)rng_below(r, 256);
    memset(e.args.out, 0x5a, e.bytes_out);
    memset(expected, 0x5a, e.bytes_out); /* what lies between the columns stays */
    for (int64_t j = 0; j < columns; j++)
        for (int64_t i = 0; i < rows; i++) {
            const int64_t row = e.row ? e.row[i] : i, column = e.column ? e.column[j] : j;

            memcpy(expected + (size_t)(i + j * e.args.ld) * size,
                   x + (size_t)(row * e.args.row_step + column * e.args.column_step) * size, size);
        }
    assert_int_equal(ozg_emulated_launch("ozg_cuda_gather", (int)rng_between(r, 1, 5),
                                         OZG_CUDA_GATHER_THREADS, 0, &e.args),
                     0);
    assert_memory_equal(e.args.out, expected, e.bytes_out);
    guard_close(&e.x);
    guard_close(&e.out);
    free(expected);
    free(e.row);
    free(e.column);
}

static void test_gather(void **state)
{
    static const int64_t shape[][2] = {{1, 1},  {1, 700},  {700, 1}, {3, 300},  {31, 33},
                                       {64, 5}, {129, 17}, {513, 3}, {1024, 2}, {2050, 2}};
    struct rng r = {5};

    (void)state;
    for (size_t q = 0; q < sizeof shape / sizeof *shape; q++)
        for (int which = 0; which < 32; which++)
            check(&r, shape[q][0], shape[q][1], which);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_gather)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
