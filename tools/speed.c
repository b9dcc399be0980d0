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
#include "product.h"

enum { MAX_TURNS = 1000, CALLS = 5 };
static const double LIMIT = 0.1; /* seconds for the limit of a row, at most */
static const double TURN = 0.1;  /* seconds after which no other call of a turn begins */

/* ---- ways to multiply --------------------------------------------------------------------------------------- */

int way_parse(const char *text, struct way *way)
{
    static const struct {
        const char *name;
        int by, lo, hi; /* hi = 0: a name without a number */
    } words[] = {{"native", BY_NATIVE, 0, 0},
                 {"rounded", BY_ROUNDED, 0, 0},
                 {"moduli", BY_MODULI, 2, 49},
                 {"width", BY_WIDTH, 1, 200},
                 {"bits", BY_BITS, 1, 200},
                 {"accurate", BY_ACCURATE, 2, 49},
                 {"dot2", BY_EXTENDED, EXTENDED_DOT2, 0},
                 {"dd", BY_EXTENDED, EXTENDED_DD, 0},
                 {"float128", BY_EXTENDED, EXTENDED_FLOAT128, 0}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t length = strlen(words[i].name);
        if (strncmp(text, words[i].name, length) != 0)
            continue;
        *way = (struct way){.by = words[i].by, .value = words[i].lo};
        snprintf(way->name, sizeof way->name, "%s", words[i].name);
        if (words[i].hi == 0 && text[length] == '\0')
            return 1;
        if (words[i].hi == 0 || text[length] == '\0' || strchr("=:", text[length]) == NULL)
            continue;
        way->value = (int)parse_int(text + length + 1, words[i].name, words[i].lo, words[i].hi);
        snprintf(way->name, sizeof way->name, "%s=%d", words[i].name, way->value);
        return 1;
    }
    return 0;
}

/* accuracy_of() - the request to the library; 0 if there is none for this k. */
static int accuracy_of(const struct way *way, char type, int64_t k, ozg_accuracy *accuracy)
{
    int s = 2;
    switch (way->by) {
    case BY_NATIVE:
        *accuracy = ozg_native();
        break;
    case BY_ROUNDED:
        *accuracy = ozg_rounded();
        break;
    case BY_ACCURATE:
        *accuracy = accuracy_parse(way->name, type, k);
        break;
    case BY_WIDTH:
        *accuracy = ozg_width(way->value);
        break;
    default:
        s = way->by == BY_BITS ? ozg_moduli_for_bits(type, k, way->value) : way->value;
        *accuracy = ozg_moduli(s);
    }
    return s > 0;
}

/* ---- one contest: the matrices of one type and shape ------------------------------------------------- */

struct contest {
    struct speed *q;
    char type;
    int64_t m, n, k;
    int threads;
    struct matrix a, b, c, d; /* d: the product of the native BLAS */
    struct probe *probe;
    int compare; /* d is there and right */
};

/* poison() - NaN everywhere: what is not written must not look right. */
static void poison(struct matrix *c)
{
    memset(c->data, 0xff, type_size(c->type) * (size_t)c->rows * (size_t)c->cols);
}

/* bits_of() - a number that changes if a bit of C changes (FNV-1a by words of 32 bits). */
static uint64_t bits_of(const struct matrix *c)
{
    const uint32_t *word = c->data;
    size_t count = type_size(c->type) / sizeof *word * (size_t)c->rows * (size_t)c->cols;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ word[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static double flops(const struct contest *t)
{
    return (type_complex(t->type) ? 8.0 : 2.0) * (double)t->m * (double)t->n * (double)t->k;
}

static void progress_part(struct contest *t, double part, const char *name)
{
    char stage[80];
    double units = flops(t) + 1e8;
    snprintf(stage, sizeof stage, "%cgemm %lld x %lld x %lld, %s", t->type, (long long)t->m, (long long)t->n,
             (long long)t->k, name);
    progress_step(&t->q->bar, part * units, stage);
}

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
            progress_part(t, 1.0 / t->q->runs, name);
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

/* ---- rows ------------------------------------------------------------------------------------------ */

static json_t *row_new(const struct contest *t, const char *method)
{
    json_t *row = json_pack("{s:s#, s:I, s:I, s:I, s:i, s:s, s:b, s:s, s:n}", "type", &t->type, 1, "m",
                            (json_int_t)t->m, "n", (json_int_t)t->n, "k", (json_int_t)t->k, "threads",
                            t->threads, "method", method, "available", 1, "reason", "", "wrong");
    json_array_append_new(t->q->rows, row);
    return row;
}

static void refuse(struct contest *t, json_t *row, const char *reason)
{
    json_object_set_new(row, "available", json_false());
    json_object_set_new(row, "reason", json_text(reason));
    progress_part(t, 1, "");
}

static void put_race(const struct contest *t, json_t *row, struct times *x)
{
    json_object_set_new(row, "turns", json_integer(x->turns));
    put_times(row, "seconds", x->own, x->turns);
    json_object_set_new(row, "gflops", json_number(flops(t) / x->own[0] / 1e9)); /* sorted: the least */
    if (t->compare) {
        put_times(row, "native_seconds", x->native, x->turns);
        put_times(row, "ratio", x->ratio, x->turns);
    }
}

static void put_report(const struct contest *t, json_t *row, const ozg_report *r)
{
    const struct {
        const char *key;
        double seconds;
    } stages[] = {{"share_scale", r->seconds_scale},
                  {"share_split", r->seconds_split},
                  {"share_product", r->seconds_product},
                  {"share_reconstruct", r->seconds_reconstruct},
                  {"share_repair", r->seconds_repair}};
    json_object_set_new(row, "backend", json_text(r->backend));
    json_object_set_new(row, "kernel", json_text(r->kernel));
    json_object_set_new(row, "moduli", json_integer(r->moduli));
    json_object_set_new(row, "width", json_integer(r->width));
    json_object_set_new(row, "products", json_integer(r->products));
    json_object_set_new(row, "tested", json_integer((json_int_t)r->tested));
    json_object_set_new(row, "repaired", json_integer((json_int_t)r->repaired));
    json_object_set_new(row, "workspace_bytes", json_integer((json_int_t)r->workspace_bytes));
    json_object_set_new(row, "exact", json_boolean(r->exact));
    json_object_set_new(row, "bound", json_number(r->bound));
    for (size_t i = 0; i < sizeof stages / sizeof stages[0]; i++)
        json_object_set_new(row, stages[i].key, json_number(stages[i].seconds / r->seconds_total));
    json_object_set_new(row, "multiply_adds", json_number(limit_work(r, t->m, t->n, t->k)));
    json_object_set_new(row, "product_seconds", json_number(r->seconds_product));
}

static void set_wrong(struct contest *t, json_t *row, const char *sentence)
{
    json_object_set_new(row, "wrong", json_text(sentence));
    t->q->wrong++;
}

/* verdict() - the facts of a finding; returns whether the result is right. */
static int verdict(struct contest *t, json_t *row, const struct finding *f, const char *against)
{
    char line[200];
    if (!f->wrong)
        return 1;
    snprintf(line, sizeof line, "entry (%lld, %lld) differs by %.3g from the %s, allowed is %.3g",
             (long long)f->row, (long long)f->column, f->error, against, f->allowed);
    set_wrong(t, row, line);
    return 0;
}

/* check() - is C right, by the sample and against the native product? Puts what the sample shows. */
static int check(struct contest *t, const struct probe *s, json_t *row, const struct matrix *c,
                 struct promise promise)
{
    struct finding f = probe_check(s, c, promise);
    json_t *facts = json_pack("{s:I, s:I}", "sampled", (json_int_t)f.entries, "compared", (json_int_t)0);
    json_object_set_new(facts, "correctly_rounded_percent", json_number(f.errors.rounded));
    json_object_set_new(facts, "max_ulp", json_number(f.errors.max_ulp));
    json_object_set_new(facts, "componentwise", json_number(f.errors.componentwise));
    json_object_set_new(row, "checked", facts);
    if (!verdict(t, row, &f, "exact product"))
        return 0;
    if (!t->compare)
        return 1;
    f = probe_compare(s, c, promise, &t->d, promise_of_blas(t->type, t->k));
    json_object_set_new(facts, "compared", json_integer((json_int_t)f.entries));
    return verdict(t, row, &f, "native product");
}

/* ---- the native BLAS ------------------------------------------------------------------------------- */

static void note_once(struct speed *q, const char *sentence)
{
    size_t i;
    json_t *note;
    json_array_foreach(q->notes, i, note) if (strcmp(json_string_value(note), sentence) == 0) return;
    json_array_append_new(q->notes, json_text(sentence));
}

static void measure_native(struct contest *t)
{
    struct times *x = xmalloc(sizeof *x);
    const struct runner own = {run_native, t, 1};
    json_t *row = row_new(t, "BLAS");
    const char *problem = blas_set_threads(t->q->native, t->threads);
    if (problem)
        note_once(t->q, problem);
    json_object_set_new(row, "threads_set", json_boolean(problem == NULL));
    t->compare = 0;
    poison(&t->d);
    if (!native_gemm(t->q->native, &t->a, &t->b, &t->d))
        refuse(t, row, "the sizes do not fit the 32-bit integers of the BLAS");
    else if (check(t, t->probe, row, &t->d, promise_of_blas(t->type, t->k))) {
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

/*
 * promise_of() - what the library promises: the bound of its report; correct rounding where it says so or was
 * asked for it; for the accuracy native (sqrt k + 1) u abs(A) abs(B) whatever the report says.
 */
static struct promise promise_of(const struct contest *t, const struct way *way, const ozg_report *r)
{
    struct promise p = {r->bound, r->bound_relative > 0 ? r->bound_relative : INFINITY, r->exact};
    if (way->by == BY_NATIVE)
        p.relative = fmin(p.relative, (sqrt((double)t->k) + 1) * unit_roundoff(t->type));
    if (way->by == BY_ROUNDED)
        p.rounded = 1;
    return p;
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
    uint64_t bits = bits_of(&t->c);
    race(t, &own, way->name, x);
    ozg_report r = stages(t, e);
    double seconds = t->q->seconds < LIMIT ? t->q->seconds : LIMIT;
    if (bits != bits_of(&t->c))
        set_wrong(t, row, "the bits of the product changed from one call to another");
    else {
        put_race(t, row, x);
        put_report(t, row, &r);
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
    json_t *row = row_new(t, way->name);
    if (!accuracy_of(way, t->type, t->k, &accuracy)) {
        refuse(t, row, "49 moduli are not enough for these bits");
        return;
    }
    config.threads = t->threads;
    check_status(ozg_create(&e.ctx, &config), NULL);
    e.p = product_of(t->type, t->m, t->n, t->k, t->a.data, t->b.data, t->c.data, accuracy);
    poison(&t->c);
    size_t mark = memory_mark();
    ozg_status status = product_run(e.ctx, &e.p, &r);
    size_t peak = memory_peak(mark);
    if (status == OZG_E_UNSUPPORTED || status == OZG_E_WORKSPACE || status == OZG_E_NOMEM)
        refuse(t, row, ozg_last_error(e.ctx));
    else {
        check_status(status, e.ctx);
        json_object_set_new(row, "peak_bytes", json_integer((json_int_t)peak));
        if (check(t, t->probe, row, &t->c, promise_of(t, way, &r)))
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
        return check(t, t->probe, row, &t->c, promise);
    struct matrix b = t->b, c = t->c;
    b.cols = c.cols = e->columns;
    struct probe *s = probe_make(&t->a, &b);
    int fine = check(t, s, row, &c, promise);
    probe_free(s);
    return fine;
}

static void measure_extended(struct contest *t, const struct way *way)
{
    struct extended e = {t, (enum extended_method)way->value, t->n, 1};
    json_t *row = row_new(t, way->name);
    const char *missing = extended_missing(e.method);
    if (t->type != 'd' || missing) {
        refuse(t, row, missing ? missing : "for type d only");
        return;
    }
    poison(&t->c);
    if (e.method == EXTENDED_FLOAT128)
        e.columns = few_columns(&e);
    run_extended(&e);
    if (!e.fine)
        refuse(t, row, "no memory for the packed rows");
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
    return (flops(&t) + 1e8) * q->nthreads * (q->nways + (q->native != NULL));
}

/* measure_ways() - the rows of one number of threads. */
static void measure_ways(struct contest *t)
{
    if (t->q->native)
        measure_native(t);
    for (int i = 0; i < t->q->nways; i++) {
        struct way way = t->q->ways[i];
        if (way.by == BY_BITS && way.value == 0) {
            way.value = default_bits(t->type);
            snprintf(way.name, sizeof way.name, "bits=%d", way.value);
        }
        if (way.by == BY_EXTENDED)
            measure_extended(t, &way);
        else
            measure_emulated(t, &way);
    }
}

void speed_measure(struct speed *q, char type, struct shape shape)
{
    struct contest t = {.q = q, .type = type, .m = shape.m, .n = shape.n, .k = shape.k};
    t.a = matrix_alloc("A", type, t.m, t.k);
    t.b = matrix_alloc("B", type, t.k, t.n);
    t.c = matrix_alloc("C", type, t.m, t.n);
    t.d = matrix_alloc("C", type, q->native ? t.m : 0, t.n);
    family_fill(q->family, q->phi, q->seed, &t.a, &t.b);
    t.probe = probe_make(&t.a, &t.b);
    for (int i = 0; i < q->nthreads; i++) {
        t.threads = q->threads[i];
        measure_ways(&t);
    }
    probe_free(t.probe);
    matrix_free(&t.a);
    matrix_free(&t.b);
    matrix_free(&t.c);
    matrix_free(&t.d);
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
