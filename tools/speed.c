/*
 * speed.c - the measurements of "ozgemm speed", as JSON facts.
 *
 * A row is measured in turns: the native BLAS, then the other. A turn of either is a few calls in a row, of
 * which the fastest counts: the first one wakes threads. Between turns on several threads is a pause, as the
 * threads of the library before go on spinning for a while and would take time from the other.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "speed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../bench/extended.h"
#include "bench_check.h"
#include "bench_limit.h"
#include "bench_system.h"
#include "cli.h"
#include "contest.h"
#include "product.h"

enum { MAX_TURNS = 1000, CALLS = 5 };
static const double LIMIT = 0.1; /* seconds for the limit of a row, at most */
static const double TURN = 0.1;  /* seconds after which no other call of a turn begins */

/* ---- times ----------------------------------------------------------------------------------------- */

/* One way to compute C; scale: the time is that of so many times as much work. */
struct runner {
    void (*run)(void *arg);
    void *arg;
    double scale;
};

struct times {
    int turns;
    double own[MAX_TURNS], native[MAX_TURNS], ratio[MAX_TURNS];
};

static void rest(const struct contest *t)
{
    struct timespec pause = {0, (long)(t->q->pause * 1e9)};
    if (t->threads > 1)
        nanosleep(&pause, NULL);
}

/* turn() - the fastest of a few calls in a row. */
static double turn(const struct contest *t, const struct runner *r)
{
    double best = INFINITY, begin = 0;
    rest(t);
    for (int call = 0; call < CALLS; call++) {
        double start = seconds_now();
        r->run(r->arg);
        double end = seconds_now();
        best = fmin(best, (end - start) * r->scale);
        begin = call == 0 ? start : begin;
        if (end - begin > TURN)
            break;
    }
    return best;
}

static void run_native(void *arg)
{
    struct contest *t = arg;
    native_gemm(t->q->native, &t->a, &t->b, &t->d);
}

/* race() - turns of the native BLAS, if there is one to compare with, and of the other, in turn. */
static void race(struct contest *t, const struct runner *own, const char *name, struct times *x)
{
    const struct runner native = {run_native, t, 1};
    double start = seconds_now();
    x->turns = 0;
    do {
        int i = x->turns++;
        x->native[i] = t->compare ? turn(t, &native) : 0;
        x->own[i] = turn(t, own);
        x->ratio[i] = x->own[i] / x->native[i];
        if (i < t->q->runs)
            contest_progress(t, 1.0 / t->q->runs, name);
    } while (x->turns < MAX_TURNS && (x->turns < t->q->runs || seconds_now() - start < t->q->seconds));
}

static int by_size(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* put_times() - the least and the median of a row's turns as NAME_min and NAME_median; sorts them. */
static void put_times(json_t *row, const char *name, double *values, int n)
{
    char key[64];
    qsort(values, (size_t)n, sizeof *values, by_size);
    snprintf(key, sizeof key, "%s_min", name);
    json_object_set_new(row, key, json_number(values[0]));
    snprintf(key, sizeof key, "%s_median", name);
    json_object_set_new(row, key, json_number((values[(n - 1) / 2] + values[n / 2]) / 2));
}

static void put_race(const struct contest *t, json_t *row, struct times *x)
{
    json_object_set_new(row, "turns", json_integer(x->turns));
    put_times(row, "seconds", x->own, x->turns);
    json_object_set_new(row, "gflops",
                        json_number(contest_flops(t) / x->own[0] / 1e9)); /* sorted: the least */
    if (t->compare) {
        put_times(row, "native_seconds", x->native, x->turns);
        put_times(row, "ratio", x->ratio, x->turns);
    }
}

/* ---- the native BLAS ------------------------------------------------------------------------------- */

static void measure_native(struct contest *t)
{
    struct times *x = xmalloc(sizeof *x);
    const struct runner own = {run_native, t, 1};
    json_t *row = contest_row(t, "BLAS");
    const char *problem = blas_set_threads(t->q->native, t->threads);
    if (problem)
        speed_note(t->q, problem);
    json_object_set_new(row, "threads_set", json_boolean(problem == NULL));
    t->compare = 0;
    contest_poison(&t->d);
    if (!native_gemm(t->q->native, &t->a, &t->b, &t->d))
        contest_refuse(t, row, "the sizes do not fit the 32-bit integers of the BLAS");
    else if (contest_check(t, t->probe, row, &t->d, promise_of_blas(t->type, t->k))) {
        race(t, &own, "BLAS", x);
        put_race(t, row, x);
        t->compare = 1;
    }
    free(x);
}

/* ---- ozgemm ---------------------------------------------------------------------------------------- */

struct emulated {
    ozg_context *ctx;
    struct product p;
};

static void run_emulated(void *arg)
{
    struct emulated *e = arg;
    check_status(product_run(e->ctx, &e->p, NULL), e->ctx);
}

/* stages() - the report of the fastest of a few calls: its shares are the row's. */
static ozg_report stages(const struct contest *t, struct emulated *e)
{
    ozg_report best = {0}, r;
    rest(t);
    double begin = seconds_now();
    for (int call = 0; call < CALLS && (call == 0 || seconds_now() - begin < TURN); call++) {
        check_status(product_run(e->ctx, &e->p, &r), e->ctx);
        best = call == 0 || r.seconds_total < best.seconds_total ? r : best;
    }
    return best;
}

/* limit_entry() - the entry of this kernel and number of threads. */
static json_t *limit_entry(const struct speed *q, const char *kernel, int threads)
{
    size_t i;
    json_t *limit;
    json_array_foreach(q->limits, i, limit)
    {
        if (strcmp(json_string_value(json_object_get(limit, "kernel")), kernel) == 0 &&
            json_integer_value(json_object_get(limit, "threads")) == threads)
            return limit;
    }
    limit = json_pack("{s:s, s:i, s:f, s:s}", "kernel", kernel, "threads", threads,
                      "multiply_adds_per_second", 0.0, "obtained", limit_obtained);
    json_array_append_new(q->limits, limit);
    return limit;
}

/* raise_limit() - the limit is at least this rate. */
static void raise_limit(const struct speed *q, const char *kernel, int threads, double rate)
{
    json_t *limit = limit_entry(q, kernel, threads);
    json_t *known = json_object_get(limit, "multiply_adds_per_second");
    if (isfinite(rate) && rate > json_real_value(known))
        json_real_set(known, rate);
}

/* race_emulated() - all that is measured once the first result was right. */
static void race_emulated(struct contest *t, const struct way *way, struct emulated *e, json_t *row)
{
    struct times *x = xmalloc(sizeof *x);
    const struct runner own = {run_emulated, e, 1};
    uint64_t bits = contest_bits(&t->c);
    race(t, &own, way->name, x);
    ozg_report r = stages(t, e);
    double seconds = t->q->seconds < LIMIT ? t->q->seconds : LIMIT;
    if (bits != contest_bits(&t->c))
        contest_wrong(t, row, "the bits of the product changed from one call to another");
    else {
        put_race(t, row, x);
        contest_report(t, row, &r);
        contest_shares(row, &r);
        raise_limit(t->q, r.kernel, t->threads, limit_rate(&t->q->config, r.kernel, t->threads, seconds));
        raise_limit(t->q, r.kernel, t->threads, limit_work(&r, t->m, t->n, t->k) / r.seconds_product);
    }
    free(x);
}

static void measure_emulated(struct contest *t, const struct way *way)
{
    ozg_config config = t->q->config;
    struct emulated e;
    ozg_report r;
    ozg_accuracy accuracy;
    json_t *row = contest_row(t, way->name);
    if (!way_accuracy(way, t->type, t->k, &accuracy)) {
        contest_refuse(t, row, "49 moduli are not enough for these bits");
        return;
    }
    config.threads = t->threads;
    check_status(ozg_create(&e.ctx, &config), NULL);
    e.p = product_of(t->type, t->m, t->n, t->k, t->a.data, t->b.data, t->c.data, accuracy);
    contest_poison(&t->c);
    size_t mark = memory_mark();
    ozg_status status = product_run(e.ctx, &e.p, &r);
    size_t peak = memory_peak(mark);
    if (status == OZG_E_UNSUPPORTED || status == OZG_E_WORKSPACE || status == OZG_E_NOMEM)
        contest_refuse(t, row, ozg_last_error(e.ctx));
    else {
        check_status(status, e.ctx);
        json_object_set_new(row, "peak_bytes", json_integer((json_int_t)peak));
        if (contest_check(t, t->probe, row, &t->c, contest_promise(t, way, &r)))
            race_emulated(t, way, &e, row);
    }
    ozg_destroy(e.ctx);
}

/* ---- methods to compare with ----------------------------------------------------------------------- */

struct extended {
    const struct contest *t;
    enum extended_method method;
    int64_t columns; /* the first ones only */
    int fine;
};

static void run_extended(void *arg)
{
    struct extended *e = arg;
    const struct contest *t = e->t;
    e->fine &= extended_gemm(e->method, t->threads, t->m, e->columns, t->k, t->a.data, matrix_ld(&t->a),
                             t->b.data, matrix_ld(&t->b), t->c.data, matrix_ld(&t->c));
}

/* few_columns() - as many columns as a turn has time for: 1 .. n. */
static int64_t few_columns(struct extended *e)
{
    double start = seconds_now();
    e->columns = e->t->n < e->t->threads ? e->t->n : e->t->threads; /* at least one for each thread */
    run_extended(e);
    double columns = (double)e->columns * TURN / (seconds_now() - start);
    return columns >= (double)e->t->n     ? e->t->n
           : columns > (double)e->columns ? (int64_t)columns
                                          : e->columns;
}

/* check_extended() - the columns that were computed, by a probe of them. */
static int check_extended(struct contest *t, const struct extended *e, json_t *row)
{
    struct promise promise = {INFINITY, extended_error(e->method, t->k), 0};
    if (e->columns == t->n)
        return contest_check(t, t->probe, row, &t->c, promise);
    struct matrix b = t->b, c = t->c;
    b.cols = c.cols = e->columns;
    struct probe *s = probe_make(&t->a, &b);
    int fine = contest_check(t, s, row, &c, promise);
    probe_free(s);
    return fine;
}

static void measure_extended(struct contest *t, const struct way *way)
{
    struct extended e = {t, (enum extended_method)way->value, t->n, 1};
    json_t *row = contest_row(t, way->name);
    const char *missing = extended_missing(e.method);
    if (t->type != 'd' || missing) {
        contest_refuse(t, row, missing ? missing : "for type d only");
        return;
    }
    contest_poison(&t->c);
    if (e.method == EXTENDED_FLOAT128)
        e.columns = few_columns(&e);
    run_extended(&e);
    if (!e.fine)
        contest_refuse(t, row, "no memory for the packed rows");
    else if (check_extended(t, &e, row)) {
        struct times *x = xmalloc(sizeof *x);
        const struct runner own = {run_extended, &e, (double)t->n / (double)e.columns};
        race(t, &own, way->name, x);
        put_race(t, row, x);
        if (e.columns < t->n)
            json_object_set_new(row, "timed_columns", json_integer((json_int_t)e.columns));
        free(x);
    }
}

/* ---- all of it ------------------------------------------------------------------------------------- */

double speed_work(const struct speed *q, char type, struct shape shape)
{
    struct contest t = {.type = type, .m = shape.m, .n = shape.n, .k = shape.k};
    return (contest_flops(&t) + 1e8) * q->nthreads * (q->nways + (q->native != NULL));
}

/* measure_ways() - the rows of one number of threads. */
static void measure_ways(struct contest *t)
{
    if (t->q->native)
        measure_native(t);
    for (int i = 0; i < t->q->nways; i++) {
        struct way way = way_of_type(&t->q->ways[i], t->type);
        if (way.by == BY_EXTENDED)
            measure_extended(t, &way);
        else
            measure_emulated(t, &way);
    }
}

void speed_measure(struct speed *q, char type, struct shape shape)
{
    struct contest t = {.q = q, .type = type, .m = shape.m, .n = shape.n, .k = shape.k};
    contest_begin(&t, q->native != NULL);
    for (int i = 0; i < q->nthreads; i++) {
        t.threads = q->threads[i];
        measure_ways(&t);
    }
    contest_end(&t);
}

void speed_finish(struct speed *q)
{
    size_t i;
    json_t *row;
    progress_end(&q->bar);
    json_array_foreach(q->rows, i, row)
    {
        const char *kernel = json_string_value(json_object_get(row, "kernel"));
        if (kernel == NULL)
            continue;
        json_t *limit = limit_entry(q, kernel, (int)json_integer_value(json_object_get(row, "threads")));
        double rate = json_real_value(json_object_get(limit, "multiply_adds_per_second"));
        double seconds = json_number_value(json_object_get(row, "multiply_adds")) / rate;
        json_object_set_new(row, "limit_seconds", json_number(seconds));
        json_object_set_new(row, "limit_share",
                            json_number(seconds / json_number_value(json_object_get(row, "seconds_min"))));
    }
}
