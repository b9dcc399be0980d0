/*
 * special.c - the sums with Inf or NaN: only the terms with a special factor count.
 *
 * Where many lines are special, each line becomes bit masks along k (infinite, zero, negative), so that an
 * entry takes a few operations for 64 terms. Else, or without memory for the masks, the elements themselves
 * are looked at.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "parallel.h"
#include "special.h"

#define MANY 8 /* special lines that are worth making masks of all lines */

enum { MASK_INFINITE, MASK_ZERO, MASK_NEGATIVE, MASKS };

typedef struct special_job {
    const ozg_stage *st;
    const ozg_lines *a, *b;
    int64_t k, words; /* 64-bit words of a mask */
    uint64_t *masks;  /* of the lines of A, then of B: component * MASKS + mask; NULL: none */
    void *c;
    int64_t ldc;
} special_job;

static void load(const ozg_lines *l, int64_t i, int64_t p, uint64_t x[2])
{
    const ozg_view *v = &l->view;
    const int single = ozg_type_single(v->type), complex_ = ozg_type_complex(v->type);
    int64_t index = ozg_line_stored(l, i) * v->line_stride + p * v->step;

    x[0] = ozg_load_bits(v->x, single, complex_ ? 2 * index : index);
    x[1] = complex_ ? ozg_load_bits(v->x, single, 2 * index + 1) ^ (v->conj ? OZG_F64_SIGN : 0) : 0;
}

static int parts(const special_job *job)
{
    return 1 + job->st->scalars.complex_;
}

/* The masks of component `part` of line i of A, or of B. */
static uint64_t *masks_of(const special_job *job, int is_a, int64_t i, int part)
{
    const int64_t line = is_a ? i : job->a->count + i;

    return job->masks + ((line * parts(job) + part) * MASKS) * job->words;
}

static void mask_task(void *arg, int64_t line, int thread)
{
    const special_job *job = arg;
    const int is_a = line < job->a->count;
    const int64_t i = is_a ? line : line - job->a->count;
    const ozg_lines *l = is_a ? job->a : job->b;

    (void)thread;
    for (int part = 0; part < parts(job); part++) {
        uint64_t *mask = masks_of(job, is_a, i, part);

        for (int64_t q = 0; q < MASKS * job->words; q++)
            mask[q] = 0;
        for (int64_t p = 0; p < job->k; p++) {
            const uint64_t bit = UINT64_C(1) << (p % 64);
            uint64_t x[2];

            load(l, i, p, x);
            mask[MASK_INFINITE * job->words + p / 64] |= ozg_is_special(x[part]) ? bit : 0;
            mask[MASK_ZERO * job->words + p / 64] |= x[part] << 1 == 0 ? bit : 0;
            mask[MASK_NEGATIVE * job->words + p / 64] |= x[part] >> 63 ? bit : 0;
        }
    }
}

static int decided(const ozg_sum *sum)
{
    return sum->nan || (sum->plus_inf && sum->minus_inf);
}

/* sum += the terms (-1)^negate x_p y_p with an infinite factor; lines with NaN do not come here. */
static void add_masked(const special_job *job, ozg_sum *sum, const uint64_t *x, const uint64_t *y, int negate)
{
    const int64_t n = job->words;
    const uint64_t flip = negate ? UINT64_MAX : 0;

    for (int64_t w = 0; w < n && !decided(sum); w++) {
        const uint64_t x_inf = x[MASK_INFINITE * n + w], y_inf = y[MASK_INFINITE * n + w];
        const uint64_t negative = x[MASK_NEGATIVE * n + w] ^ y[MASK_NEGATIVE * n + w] ^ flip;

        if ((x_inf & y[MASK_ZERO * n + w]) | (y_inf & x[MASK_ZERO * n + w])) /* Inf times 0 */
            sum->nan = 1;
        sum->minus_inf |= ((x_inf | y_inf) & negative) != 0;
        sum->plus_inf |= ((x_inf | y_inf) & ~negative) != 0;
    }
}

/* The same by looking at one pair of elements. */
static void add_term(ozg_sum *sum, uint64_t x, uint64_t y, int negate)
{
    if (!ozg_is_special(x) && !ozg_is_special(y))
        return;
    if (x << 1 == 0 || y << 1 == 0)
        sum->nan = 1;
    else
        ozg_sum_infinity(sum, (int)((x ^ y) >> 63) ^ negate);
}

static void add_place(const special_job *job, int64_t i, int64_t j, int64_t p, ozg_sum sum[2])
{
    uint64_t x[2], y[2];

    load(job->a, i, p, x);
    load(job->b, j, p, y);
    add_term(&sum[0], x[0], y[0], 0);
    if (parts(job) == 2) {
        add_term(&sum[0], x[1], y[1], 1);
        add_term(&sum[1], x[0], y[1], 0);
        add_term(&sum[1], x[1], y[0], 0);
    }
}

static void add_all(const special_job *job, int64_t i, int64_t j, ozg_sum sum[2])
{
    const uint64_t *x[2], *y[2];

    if (!job->masks) {
        for (int64_t p = 0; p < job->k && !(decided(&sum[0]) && (parts(job) == 1 || decided(&sum[1]))); p++)
            add_place(job, i, j, p, sum);
        return;
    }
    for (int part = 0; part < parts(job); part++) {
        x[part] = masks_of(job, 1, i, part);
        y[part] = masks_of(job, 0, j, part);
    }
    add_masked(job, &sum[0], x[0], y[0], 0);
    if (parts(job) == 2) {
        add_masked(job, &sum[0], x[1], y[1], 1);
        add_masked(job, &sum[1], x[0], y[1], 0);
        add_masked(job, &sum[1], x[1], y[0], 0);
    }
}

/* C(i, j), where row i or column j has Inf or NaN. A NaN anywhere in them makes the entry NaN. */
static void entry(const special_job *job, int64_t i, int64_t j)
{
    ozg_sum sum[2] = {{.count = 0}, {.count = 0}};
    ozg_value v[2] = {{0}, {0}};

    sum[0].nan = sum[1].nan = job->a->special[i] == OZG_LINE_NAN || job->b->special[j] == OZG_LINE_NAN;
    if (!sum[0].nan)
        add_all(job, i, j, sum);
    for (int part = 0; part < 2; part++) {
        v[part].kind = decided(&sum[part]) ? OZG_INVALID : OZG_INFINITE;
        v[part].neg = sum[part].minus_inf;
    }
    ozg_entry_update(&job->st->scalars, v, job->c,
                     ozg_line_stored(job->a, i) + ozg_line_stored(job->b, j) * job->ldc);
}

static void column_task(void *arg, int64_t j, int thread)
{
    const special_job *job = arg;

    (void)thread;
    for (int64_t i = 0; i < job->a->count; i++)
        if (job->a->special[i] || job->b->special[j])
            entry(job, i, j);
}

static uint64_t count_special(const ozg_lines *lines)
{
    uint64_t count = 0;

    for (int64_t i = 0; i < lines->count; i++)
        count += lines->special[i] != 0;
    return count;
}

void ozg_special_rows_columns(const ozg_stage *st, const ozg_lines *a, const ozg_lines *b, void *c,
                              int64_t ldc, size_t memory, uint64_t *rows, uint64_t *columns)
{
    special_job job = {st, a, b, a->k, (a->k + 63) / 64, NULL, c, ldc};
    /* below the memory that the caller holds for the elements: the product cannot overflow */
    const size_t bytes =
        (size_t)((a->count + b->count) * parts(&job) * MASKS * job.words) * sizeof *job.masks;

    *rows = count_special(a);
    *columns = count_special(b);
    if (*rows == 0 && *columns == 0)
        return;
    if (*rows + *columns >= MANY && bytes <= memory)
        job.masks = malloc(bytes);
    if (job.masks)
        ozg_parallel(st->threads, a->count + b->count, mask_task, &job);
    ozg_parallel(st->threads, b->count, column_task, &job);
    free(job.masks);
}
