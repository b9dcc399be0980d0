/*
 * special.c - the sums with Inf or NaN: only the terms with a special factor count.
 *
 * SPDX-License-Identifier: MIT
 */
#include "special.h"
#include "parallel.h"

#define FEW 64

/* Where a line has special elements: all of them if count <= FEW, else "look at every element". */
typedef struct places {
    int nan; /* the line has a NaN: every entry is NaN */
    int count;
    int64_t p[FEW];
} places;

typedef struct special_job {
    const ozg_stage *st;
    const ozg_view *a, *b;
    const ozg_lines *la, *lb;
    int64_t k;
    void *c;
    int64_t ldc;
} special_job;

static void load(const ozg_view *v, int64_t i, int64_t p, uint64_t x[2])
{
    const int single = ozg_type_single(v->type), complex_ = ozg_type_complex(v->type);
    int64_t index = i * v->line_stride + p * v->step;

    x[0] = ozg_load_bits(v->x, single, complex_ ? 2 * index : index);
    x[1] = complex_ ? ozg_load_bits(v->x, single, 2 * index + 1) ^ (v->conj ? OZG_F64_SIGN : 0) : 0;
}

static void find_places(const ozg_view *v, int64_t i, int64_t k, uint8_t special, places *out)
{
    out->nan = special == OZG_LINE_NAN;
    out->count = 0;
    for (int64_t p = 0; special == OZG_LINE_INF && p < k && out->count <= FEW; p++) {
        uint64_t x[2];

        load(v, i, p, x);
        if (ozg_is_special(x[0]) || ozg_is_special(x[1])) {
            if (out->count < FEW)
                out->p[out->count] = p;
            out->count++;
        }
    }
}

/* The term (-1)^negate x y of a sum, if a factor is special. */
static void add_term(ozg_sum *sum, uint64_t x, uint64_t y, int negate)
{
    if (!ozg_is_special(x) && !ozg_is_special(y))
        return;
    if (ozg_is_nan(x) || ozg_is_nan(y) || !(x & ~OZG_F64_SIGN) || !(y & ~OZG_F64_SIGN))
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
    if (job->st->scalars.complex_) {
        add_term(&sum[0], x[1], y[1], 1);
        add_term(&sum[1], x[0], y[1], 0);
        add_term(&sum[1], x[1], y[0], 0);
    }
}

static int decided(const ozg_sum *sum)
{
    return sum->nan || (sum->plus_inf && sum->minus_inf);
}

static void add_places(const special_job *job, int64_t i, int64_t j, const places *at, ozg_sum sum[2])
{
    const int complex_ = job->st->scalars.complex_, all = at->count > FEW;
    int64_t count = all ? job->k : at->count;

    for (int64_t q = 0; q < count && !(decided(&sum[0]) && (!complex_ || decided(&sum[1]))); q++)
        add_place(job, i, j, all ? q : at->p[q], sum);
}

static void entry(const special_job *job, int64_t i, int64_t j, const places *row, const places *column)
{
    ozg_sum sum[2] = {{.count = 0}, {.count = 0}};
    ozg_value v[2];

    sum[0].nan = sum[1].nan = row->nan || column->nan;
    add_places(job, i, j, row, sum);
    add_places(job, i, j, column, sum);
    for (int part = 0; part < 2; part++) {
        v[part].kind = decided(&sum[part]) ? OZG_INVALID : OZG_INFINITE;
        v[part].neg = sum[part].minus_inf;
    }
    ozg_entry_update(&job->st->scalars, v, job->c, i + j * job->ldc);
}

static void row_task(void *arg, int64_t i, int thread)
{
    const special_job *job = arg;
    places row, column;

    (void)thread;
    if (!job->la->special[i])
        return;
    find_places(job->a, i, job->k, job->la->special[i], &row);
    for (int64_t j = 0; j < job->lb->count; j++) {
        find_places(job->b, j, job->k, job->lb->special[j], &column);
        entry(job, i, j, &row, &column);
    }
}

static void column_task(void *arg, int64_t j, int thread)
{
    const special_job *job = arg;
    const places none = {.count = 0};
    places column;

    (void)thread;
    if (!job->lb->special[j])
        return;
    find_places(job->b, j, job->k, job->lb->special[j], &column);
    for (int64_t i = 0; i < job->la->count; i++)
        if (!job->la->special[i])
            entry(job, i, j, &none, &column);
}

static uint64_t count_special(const ozg_lines *lines)
{
    uint64_t count = 0;

    for (int64_t i = 0; i < lines->count; i++)
        count += lines->special[i] != 0;
    return count;
}

void ozg_special_rows_columns(const ozg_stage *st, const ozg_view *a, const ozg_lines *la, const ozg_view *b,
                              const ozg_lines *lb, int64_t k, void *c, int64_t ldc, uint64_t *rows,
                              uint64_t *columns)
{
    special_job job = {st, a, b, la, lb, k, c, ldc};

    *rows = count_special(la);
    *columns = count_special(lb);
    if (*rows)
        ozg_parallel(st->threads, la->count, row_task, &job);
    if (*columns)
        ozg_parallel(st->threads, lb->count, column_task, &job);
}
