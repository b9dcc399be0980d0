/*
 * contest.c - one contest of "ozgemm speed": the matrices, the check of results, what a row says.
 *
 * SPDX-License-Identifier: MIT
 */
#include "contest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../bench/extended.h"
#include "bench_limit.h"
#include "cli.h"

/* ---- ways to multiply ----------------------------------------------------------------------------- */

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
                 {"float128", BY_EXTENDED, EXTENDED_FLOAT128, 0},
                 {"cublas-emulated", BY_CUBLAS_EMULATED, 0, 0},
                 {"int8", BY_CUBLAS_INT8, 0, 0}};
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

struct way way_of_type(const struct way *way, char type)
{
    struct way own = *way;
    if (own.by == BY_BITS && own.value == 0) {
        own.value = default_bits(type);
        snprintf(own.name, sizeof own.name, "bits=%d", own.value);
    }
    return own;
}

int way_accuracy(const struct way *way, char type, int64_t k, ozg_accuracy *accuracy)
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

/* ---- matrices -------------------------------------------------------------------------------------- */

void contest_begin(struct contest *t, int native)
{
    t->a = matrix_alloc("A", t->type, t->m, t->k);
    t->b = matrix_alloc("B", t->type, t->k, t->n);
    t->c = matrix_alloc("C", t->type, t->m, t->n);
    t->d = matrix_alloc("C", t->type, native ? t->m : 0, t->n);
    family_fill(t->q->family, t->q->phi, t->q->seed, &t->a, &t->b);
    t->probe = probe_make(&t->a, &t->b);
}

void contest_end(struct contest *t)
{
    probe_free(t->probe);
    matrix_free(&t->a);
    matrix_free(&t->b);
    matrix_free(&t->c);
    matrix_free(&t->d);
}

void contest_poison(struct matrix *c)
{
    memset(c->data, 0xff, type_size(c->type) * (size_t)c->rows * (size_t)c->cols);
}

uint64_t contest_bits(const struct matrix *c)
{
    const uint32_t *word = c->data;
    size_t count = type_size(c->type) / sizeof *word * (size_t)c->rows * (size_t)c->cols;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ word[i]) * UINT64_C(0x100000001b3);
    return hash;
}

double contest_flops(const struct contest *t)
{
    return (type_complex(t->type) ? 8.0 : 2.0) * (double)t->m * (double)t->n * (double)t->k;
}

void contest_progress(struct contest *t, double part, const char *name)
{
    char stage[80];
    double units = contest_flops(t) + 1e8;
    snprintf(stage, sizeof stage, "%cgemm %lld x %lld x %lld, %s", t->type, (long long)t->m, (long long)t->n,
             (long long)t->k, name);
    progress_step(&t->q->bar, part * units, stage);
}

/* ---- rows ------------------------------------------------------------------------------------------ */

json_t *contest_row(const struct contest *t, const char *method)
{
    json_t *row = json_pack("{s:s#, s:I, s:I, s:I}", "type", &t->type, 1, "m", (json_int_t)t->m, "n",
                            (json_int_t)t->n, "k", (json_int_t)t->k);
    if (t->threads > 0)
        json_object_set_new(row, "threads", json_integer(t->threads));
    json_object_set_new(row, "method", json_string(method));
    json_object_set_new(row, "available", json_true());
    json_object_set_new(row, "reason", json_string(""));
    json_object_set_new(row, "wrong", json_null());
    json_array_append_new(t->q->rows, row);
    return row;
}

void contest_refuse(struct contest *t, json_t *row, const char *reason)
{
    json_object_set_new(row, "available", json_false());
    json_object_set_new(row, "reason", json_text(reason));
    contest_progress(t, 1, "");
}

void contest_report(const struct contest *t, json_t *row, const ozg_report *r)
{
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
    json_object_set_new(row, "multiply_adds", json_number(limit_work(r, t->m, t->n, t->k)));
    json_object_set_new(row, "product_seconds", json_number(r->seconds_product));
}

void contest_shares(json_t *row, const ozg_report *r)
{
    const struct {
        const char *key;
        double seconds;
    } stages[] = {{"share_scale", r->seconds_scale},
                  {"share_split", r->seconds_split},
                  {"share_product", r->seconds_product},
                  {"share_reconstruct", r->seconds_reconstruct},
                  {"share_repair", r->seconds_repair}};
    for (size_t i = 0; i < sizeof stages / sizeof stages[0]; i++)
        json_object_set_new(row, stages[i].key, json_number(stages[i].seconds / r->seconds_total));
}

void speed_note(struct speed *q, const char *sentence)
{
    size_t i;
    json_t *note;
    json_array_foreach(q->notes, i, note) if (strcmp(json_string_value(note), sentence) == 0) return;
    json_array_append_new(q->notes, json_text(sentence));
}

/* ---- results --------------------------------------------------------------------------------------- */

void contest_wrong(struct contest *t, json_t *row, const char *sentence)
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
    contest_wrong(t, row, line);
    return 0;
}

int contest_check(struct contest *t, const struct probe *s, json_t *row, const struct matrix *c,
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

int contest_defined(struct contest *t, const struct way *way, json_t *row, const struct matrix *c)
{
    ozg_accuracy accuracy;
    if (way->by != BY_MODULI && way->by != BY_BITS && way->by != BY_WIDTH)
        return 1;
    if (!way_accuracy(way, t->type, t->k, &accuracy))
        return 1;
    struct finding f = probe_defined(t->probe, &t->a, &t->b, c, accuracy);
    json_object_set_new(json_object_get(row, "checked"), "defined", json_integer((json_int_t)f.entries));
    return verdict(t, row, &f, "defined result");
}

struct promise contest_promise(const struct contest *t, const struct way *way, const ozg_report *r)
{
    struct promise p = {r->bound, r->bound_relative > 0 ? r->bound_relative : INFINITY, r->exact};
    if (way->by == BY_NATIVE)
        p.relative = fmin(p.relative, (sqrt((double)t->k) + 1) * unit_roundoff(t->type));
    if (way->by == BY_ROUNDED)
        p.rounded = 1;
    return p;
}
