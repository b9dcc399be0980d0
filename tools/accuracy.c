/*
 * accuracy.c - the tables of "ozgemm accuracy", as JSON facts and as text.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "accuracy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "families.h"
#include "table.h"

enum { MAX_MODULI = 48, MAX_METHODS = MAX_MODULI + 3 };

static const struct spec papers[] = {
    {2, 'd', "", ""},
    {6, 'd', "unigrid,phi2,sincos", "12,14,16,18,20,24"},
    {7, 'd', "unigrid,phi0.5,phi1,phi2,phi4,sincos", ""},
    {8, 'd', "spike,cancel", "12,16,20,24"},
    {13, 'z', "unigrid,phi2,cancel", "12,14,16,20,24"},
};

int accuracy_paper(int number, struct spec *spec)
{
    for (size_t i = 0; i < sizeof papers / sizeof papers[0]; i++)
        if (papers[i].number == number) {
            *spec = papers[i];
            return 1;
        }
    return 0;
}

struct names names_of(const char *list)
{
    enum { MOST = sizeof((struct names *)0)->name / sizeof(char *) };
    struct names names = {.list = xstrdup(list)};
    char *save = NULL;
    for (char *name = strtok_r(names.list, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
        if (names.count == MOST)
            fail("--families has more than %d names: give fewer", MOST);
        names.name[names.count++] = name;
    }
    return names;
}

void names_free(struct names *names)
{
    free(names->list);
}

void accuracy_check(const struct accuracy *q, const struct spec *spec)
{
    int moduli[MAX_MODULI];
    double phi;
    if (spec->number == 2)
        return;
    struct names names = names_of(spec->families);
    if (names.count == 0)
        fail("--families is empty: ozgemm accuracy --families list shows the names");
    for (int i = 0; i < names.count; i++) {
        const struct family *f = family_find(names.name[i], &phi);
        if (f == NULL)
            fail("'%s' is no family of matrices: ozgemm accuracy --families list shows them", names.name[i]);
        if (family_even_k(f) && q->k % 2)
            fail("the family %s needs an even k: give -k %lld", names.name[i], (long long)q->k + 1);
    }
    if (spec->number != 7)
        parse_list(spec->moduli, "--moduli", 2, 49, moduli, MAX_MODULI);
    names_free(&names);
}

/* ---- Table 2: moduli and widths ----------------------------------------------------------------- */

/*
 * log2_of_product() - log2 M of s moduli, from the widths alone: t bits need k 2^(2t+2) <= M, so the largest
 * k that still has t bits is floor(M / 2^(2t+2)).
 */
static double log2_of_product(int s)
{
    int64_t lo = (int64_t)1 << 40, hi = (int64_t)1 << 43; /* t bits at lo, fewer at hi */
    int t = ozg_width_of_moduli('d', lo, s);
    if (t < 1) { /* few moduli: one bit */
        t = 1;
        lo = 1;
    }
    while (hi - lo > 1) {
        int64_t k = lo + (hi - lo) / 2;
        if (ozg_width_of_moduli('d', k, s) >= t)
            lo = k;
        else
            hi = k;
    }
    return log2((double)lo) + 2 * t + 2;
}

static json_t *table_of_widths(void)
{
    static const struct {
        const char *key;
        int k;
    } columns[] = {{"k1024", 1024}, {"k4096", 4096}, {"k16384", 16384}, {"k65536", 65536}};
    json_t *rows = json_array();
    for (int s = 4; s <= 24; s += 2) {
        double bits = log2_of_product(s);
        int limbs = bits < 32 ? 2 : (int)(bits / 32) + 1; /* at least two, as in the paper */
        json_t *row = json_pack("{s:i, s:f, s:i}", "moduli", s, "log2_product", bits, "limbs", limbs);
        for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
            json_object_set_new(row, columns[i].key, json_integer(ozg_width_of_moduli('d', columns[i].k, s)));
        json_array_append_new(rows, row);
    }
    return json_pack("{s:i, s:s, s:s, s:{}, s:o}", "number", 2, "title",
                     "Table 2: moduli, 32-bit limbs and width t in bits by inner dimension", "type", "d",
                     "families", "rows", rows);
}

/* ---- Tables 6, 8, 13 and the user's: errors ----------------------------------------------------- */

void check_promise(struct accuracy *q, json_t *row, struct method method, char type, int64_t k,
                   const struct outcome *out, const struct error_figures *e)
{
    char why[160], text[224];
    if (method.kind == METHOD_BLAS || !out->done)
        return;
    int kept = promise_kept(method, type, k, out, e, why);
    q->promises++;
    q->broken += !kept;
    snprintf(text, sizeof text, "%s, s = %d: %s", method_word(method), out->report.moduli, why);
    if (!kept)
        json_object_set_new(row, "broken", json_text(text));
    json_object_set_new(row, "promise", json_string(json_object_get(row, "broken") ? "broken" : "kept"));
}

/* certified() - a method that chooses the moduli itself and repairs entries. */
static int certified(struct method method)
{
    return method.kind == METHOD_NATIVE || method.kind == METHOD_ROUNDED;
}

/* error_row() - the facts of one product; blas is the time of the BLAS, or 0. */
static json_t *error_row(struct accuracy *q, const struct trial *t, struct method method,
                         const struct outcome *out, const struct error_figures *e, double blas)
{
    char type = t->a.type;
    double entries = (double)q->m * (double)q->n;
    int emulated = method.kind != METHOD_BLAS;
    json_t *row = json_pack("{s:s, s:s}", "family", t->name, "method", method_word(method));
    if (!out->done) {
        json_object_set_new(row, "unsupported", json_text(out->why));
        return row;
    }
    json_object_set_new(row, "moduli", emulated ? json_integer(out->report.moduli) : json_null());
    json_object_set_new(row, "width", json_integer(emulated ? out->report.width : default_bits(type)));
    json_object_set_new(row, "error_u", json_number(e->componentwise / roundoff_unit(type)));
    json_object_set_new(row, "max_ulp", json_number(e->max_ulp));
    json_object_set_new(row, "correctly_rounded_percent", json_number(e->rounded));
    json_object_set_new(row, "componentwise", json_number(e->componentwise));
    json_object_set_new(row, "normwise", json_number(e->normwise));
    if (certified(method)) {
        json_object_set_new(row, "repaired", json_integer((json_int_t)out->report.repaired));
        json_object_set_new(row, "repaired_percent",
                            json_number(100 * (double)out->report.repaired / entries));
    }
    json_object_set_new(row, "seconds", json_number(out->seconds));
    json_object_set_new(row, "time_ratio", blas > 0 ? json_number(out->seconds / blas) : json_null());
    check_promise(q, row, method, type, q->k, out, e);
    return row;
}

/* errors_of_family() - the rows of one family: one for each method. */
static void errors_of_family(struct accuracy *q, const struct spec *spec, const char *name, json_t *rows)
{
    struct method methods[MAX_METHODS];
    struct outcome out;
    struct error_figures e;
    double blas = 0;
    int n = methods_list(q->methods, spec->moduli, methods, MAX_METHODS);
    struct trial t = trial_open(spec->type, name, q->m, q->n, q->k, q->seed, &q->bar);
    for (int i = 0; i < n; i++) {
        if (methods[i].kind == METHOD_BLAS && q->machine.blas == NULL)
            continue; /* the head of the output says so once */
        int done = trial_run(&t, &q->machine, methods[i], 1, &out, &e, &q->bar);
        blas = done && methods[i].kind == METHOD_BLAS ? out.seconds : blas;
        json_array_append_new(rows, error_row(q, &t, methods[i], &out, &e, blas));
    }
    trial_close(&t);
}

/* ---- all tables --------------------------------------------------------------------------------- */

double accuracy_work(const struct accuracy *q, const struct spec *spec)
{
    struct method methods[MAX_METHODS];
    if (spec->number == 2)
        return 0;
    struct names names = names_of(spec->families);
    double families = names.count;
    names_free(&names);
    if (spec->number == 7)
        return families * fewest_work(q, spec->type);
    int n = methods_list(q->methods, spec->moduli, methods, MAX_METHODS);
    return families * trial_units(spec->type, q->m, q->n, q->k) * (1 + n / 20.0);
}

static void make_title(const struct accuracy *q, const struct spec *spec, char *title, size_t size)
{
    char table[32] = "";
    if (spec->number)
        snprintf(table, sizeof table, "Table %d: ", spec->number);
    if (spec->number == 7)
        snprintf(title, size, "%sfewest moduli of %cgemm, %lld x %lld", table, spec->type, (long long)q->m,
                 (long long)q->n);
    else
        snprintf(title, size, "%serrors of %cgemm, %lld x %lld, k = %lld", table, spec->type, (long long)q->m,
                 (long long)q->n, (long long)q->k);
}

json_t *accuracy_table(struct accuracy *q, const struct spec *spec)
{
    char title[160];
    double phi;
    if (spec->number == 2)
        return table_of_widths();
    struct names names = names_of(spec->families);
    json_t *rows = json_array(), *texts = json_object();
    make_title(q, spec, title, sizeof title);
    for (int i = 0; i < names.count; i++) {
        const char *name = names.name[i];
        json_object_set_new(texts, name, json_text(family_text(family_find(name, &phi))));
        if (spec->number == 7)
            fewest_rows(q, spec->type, name, rows);
        else
            errors_of_family(q, spec, name, rows);
    }
    names_free(&names);
    return json_pack("{s:i, s:s, s:s#, s:f, s:o, s:o}", "number", spec->number, "title", title, "type",
                     &spec->type, 1, "native_promise_u", native_factor(q->k), "families", texts, "rows",
                     rows);
}

/* print_unsupported() - why this method has no figures, once. */
static void print_unsupported(const json_t *rows, const char *word)
{
    size_t index;
    const json_t *row;
    json_array_foreach((json_t *)rows, index, row)
    {
        const char *method = json_string_value(json_object_get(row, "method"));
        const char *why = json_string_value(json_object_get(row, "unsupported"));
        if (why && method && strcmp(method, word) == 0) {
            printf("%s: %s\n", word, why);
            return;
        }
    }
}

void print_notes(const json_t *rows)
{
    size_t index;
    const json_t *row;
    print_unsupported(rows, "BLAS");
    print_unsupported(rows, "native");
    print_unsupported(rows, "rounded");
    json_array_foreach((json_t *)rows, index, row)
    {
        const char *why = json_string_value(json_object_get(row, "broken"));
        const char *name = json_string_value(json_object_get(row, "family"));
        if (why)
            printf("PROMISE BROKEN: %s%s%s\n", name ? name : "", name ? ", " : "", why);
    }
}

static void print_rows(const json_t *table)
{
    static const struct column widths[] = {{"moduli", "s", NULL},         {"log2_product", "log2 M", "%.1f"},
                                           {"limbs", "limbs", NULL},      {"k1024", "t, k=1024", NULL},
                                           {"k4096", "t, k=4096", NULL},  {"k16384", "t, k=16384", NULL},
                                           {"k65536", "t, k=65536", NULL}};
    /* as in the paper, and our own columns behind */
    static const struct column paper[] = {
        {"family", "data", NULL},
        {"method", "method", NULL},
        {"moduli", "s", NULL},
        {"width", "t", NULL},
        {"max_ulp", "max (ulp)", "%.3g"},
        {"correctly_rounded_percent", "CR (%)", "%.2f"},
        {"componentwise", "max |e|/(|A||B|)", "%.1e"},
        {"normwise", "||e||_F/||C||_F", "%.1e"},
        {"repaired_percent", "repaired (%)", "%.2f"},
        {"time_ratio", "time/BLAS", "%.1f"},
    };
    static const struct column own[] = {
        {"family", "data", NULL},
        {"method", "method", NULL},
        {"moduli", "s", NULL},
        {"width", "t", NULL},
        {"error_u", "max |e|/(u|A||B|)", "%.2g"},
        {"max_ulp", "max (ulp)", "%.2g"},
        {"correctly_rounded_percent", "CR (%)", "%.2f"},
        {"repaired_percent", "repaired (%)", "%.2f"},
        {"time_ratio", "time/BLAS", "%.1f"},
    };
    const json_t *rows = json_object_get(table, "rows");
    json_int_t number = json_integer_value(json_object_get(table, "number"));
    if (number == 2)
        table_print(stdout, widths, sizeof widths / sizeof widths[0], rows);
    else if (number == 7)
        fewest_print(rows);
    else if (number)
        table_print(stdout, paper, sizeof paper / sizeof paper[0], rows);
    else
        table_print(stdout, own, sizeof own / sizeof own[0], rows);
    print_notes(rows);
}

void accuracy_print(const json_t *table)
{
    const char *name, *last = "";
    json_t *text;
    printf("%s\n", json_string_value(json_object_get(table, "title")));
    print_rows(table);
    json_object_foreach(json_object_get(table, "families"), name, text)
    {
        if (strcmp(last, json_string_value(text)) != 0) /* phi1 and phi2 have one text */
            printf("%s: %s\n", name, json_string_value(text));
        last = json_string_value(text);
    }
    if (type_complex(json_string_value(json_object_get(table, "type"))[0]))
        printf("an entry counts as two components; |x| = |Re x| + |Im x| in |A||B|\n");
}
