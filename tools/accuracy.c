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
#include "product.h"
#include "reference.h"
#include "table.h"

enum { MAX_MODULI = 48, MAX_FAMILIES = 32 };

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

/* split_names() - the names of a list, which is cut up; returns how many. */
static int split_names(char *list, char **names)
{
    int n = 0;
    char *save = NULL;
    for (char *name = strtok_r(list, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
        if (n == MAX_FAMILIES)
            fail("--families has more than %d names: give fewer", MAX_FAMILIES);
        names[n++] = name;
    }
    return n;
}

void accuracy_check(const struct accuracy *q, const struct spec *spec)
{
    char *list, *names[MAX_FAMILIES];
    int moduli[MAX_MODULI], n;
    double phi;
    if (spec->number == 2)
        return;
    list = xstrdup(spec->families);
    n = split_names(list, names);
    if (n == 0)
        fail("--families is empty: ozgemm accuracy --families list shows the names");
    for (int i = 0; i < n; i++) {
        const struct family *f = family_find(names[i], &phi);
        if (f == NULL)
            fail("'%s' is no family of matrices: ozgemm accuracy --families list shows them", names[i]);
        if (family_even_k(f) && q->k % 2)
            fail("the family %s needs an even k: give -k %lld", names[i], (long long)q->k + 1);
    }
    if (spec->number != 7)
        parse_list(spec->moduli, "--moduli", 2, 49, moduli, MAX_MODULI);
    free(list);
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

/* ---- one family of matrices: the exact product and the errors of the others --------------------- */

struct trial {
    const char *name;
    struct matrix a, b, c;
    struct reference *exact;
};

static struct trial trial_open(struct accuracy *q, char type, const char *name, int64_t k)
{
    double phi;
    const struct family *f = family_find(name, &phi);
    struct trial t = {
        .name = name,
        .a = matrix_alloc("A", type, q->m, k),
        .b = matrix_alloc("B", type, k, q->n),
        .c = matrix_alloc("C", type, q->m, q->n),
    };
    family_fill(f, phi, q->seed, &t.a, &t.b);
    t.exact = reference_make(&t.a, &t.b, &q->bar);
    return t;
}

static void trial_close(struct trial *t)
{
    reference_free(t->exact);
    matrix_free(&t->a);
    matrix_free(&t->b);
    matrix_free(&t->c);
}

/* Every product counts as a twentieth of the exact one on the bar. */
static void trial_step(struct accuracy *q, const struct trial *t)
{
    double units = (double)q->m * (double)q->n * (double)t->a.cols * (type_complex(t->a.type) ? 3 : 1);
    progress_step(&q->bar, units / 20, t->name);
}

/* trial_native() - the errors of the native BLAS; 0 if there is none. */
static int trial_native(struct accuracy *q, struct trial *t, struct error_figures *e)
{
    if (q->native == NULL || !native_gemm(q->native, &t->a, &t->b, &t->c))
        return 0;
    *e = reference_compare(t->exact, &t->c);
    trial_step(q, t);
    return 1;
}

/* trial_emulated() - the errors with s moduli; *width gets t. */
static struct error_figures trial_emulated(struct accuracy *q, struct trial *t, int s, int *width)
{
    ozg_report report;
    struct product p =
        product_of(t->a.type, q->m, q->n, t->a.cols, t->a.data, t->b.data, t->c.data, ozg_moduli(s));
    check_status(product_run(q->ctx, &p, &report), q->ctx);
    *width = report.width;
    trial_step(q, t);
    return reference_compare(t->exact, &t->c);
}

/* ---- Tables 6, 8, 13 and the user's: errors ----------------------------------------------------- */

static void append_errors(json_t *rows, const char *family, const char *method, json_t *moduli, int width,
                          struct error_figures e)
{
    json_t *row = json_pack("{s:s, s:s, s:o, s:i}", "family", family, "method", method, "moduli", moduli,
                            "width", width);
    json_object_set_new(row, "max_ulp", json_number(e.max_ulp));
    json_object_set_new(row, "correctly_rounded_percent", json_number(e.rounded));
    json_object_set_new(row, "componentwise", json_number(e.componentwise));
    json_object_set_new(row, "normwise", json_number(e.normwise));
    json_array_append_new(rows, row);
}

/* errors_of_family() - the rows of one family: native, then each number of moduli. */
static void errors_of_family(struct accuracy *q, const struct spec *spec, const char *name, json_t *rows)
{
    char method[32];
    int moduli[MAX_MODULI], width;
    int n = parse_list(spec->moduli, "--moduli", 2, 49, moduli, MAX_MODULI);
    struct error_figures e;
    struct trial t = trial_open(q, spec->type, name, q->k);
    if (trial_native(q, &t, &e)) {
        snprintf(method, sizeof method, "native %cgemm", spec->type);
        append_errors(rows, name, method, json_null(), default_bits(spec->type), e);
    }
    for (int i = 0; i < n; i++) {
        e = trial_emulated(q, &t, moduli[i], &width);
        snprintf(method, sizeof method, "s = %d", moduli[i]);
        append_errors(rows, name, method, json_integer(moduli[i]), width, e);
    }
    trial_close(&t);
}

/* ---- Table 7: the fewest moduli ----------------------------------------------------------------- */

static const int64_t inner[] = {256, 4096, 65536}; /* the k of Table 7 */
enum { NINNER = sizeof inner / sizeof inner[0], FIRST = 8, LAST = 24 };

/* fewest_of_family() - the rows of one family: one for each k. */
static void fewest_of_family(struct accuracy *q, const struct spec *spec, const char *name, json_t *rows)
{
    for (int i = 0; i < NINNER; i++) {
        struct error_figures native, e;
        struct trial t = trial_open(q, spec->type, name, inner[i]);
        int have = trial_native(q, &t, &native), width;
        json_t *row = json_pack("{s:s, s:I}", "family", name, "k", (json_int_t)inner[i]);
        for (int s = FIRST; s <= LAST; s++) {
            e = trial_emulated(q, &t, s, &width);
            if (have && e.componentwise <= native.componentwise && !json_object_get(row, "as_native"))
                json_object_set_new(row, "as_native", json_integer(s));
            if (e.rounded >= 99.9 && !json_object_get(row, "rounded_99_9_percent"))
                json_object_set_new(row, "rounded_99_9_percent", json_integer(s));
            if (e.rounded >= 100 && (!have || json_object_get(row, "as_native"))) {
                json_object_set_new(row, "rounded_100_percent", json_integer(s));
                break;
            }
        }
        json_object_set_new(row, "native_rounded_percent", have ? json_number(native.rounded) : json_null());
        json_array_append_new(rows, row);
        trial_close(&t);
    }
}

/* ---- all tables --------------------------------------------------------------------------------- */

double accuracy_work(const struct accuracy *q, const struct spec *spec)
{
    int families = 1, methods = spec->number == 7 ? LAST - FIRST + 1 : 1;
    double k = spec->number == 7 ? (double)(inner[0] + inner[1] + inner[2]) : (double)q->k;
    double units = (double)q->m * (double)q->n * k * (type_complex(spec->type) ? 3 : 1);
    for (const char *p = spec->families; *p; p++)
        families += *p == ',';
    for (const char *p = spec->moduli; *p; p++)
        methods += *p == ',';
    return spec->number == 2 ? 0 : units * families * (1 + (methods + 1) / 20.0);
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
    if (spec->number == 2)
        return table_of_widths();
    char title[160], *names[MAX_FAMILIES], *list = xstrdup(spec->families);
    int n = split_names(list, names);
    json_t *rows = json_array(), *texts = json_object();
    double phi;
    make_title(q, spec, title, sizeof title);
    for (int i = 0; i < n; i++) {
        json_object_set_new(texts, names[i], json_text(family_text(family_find(names[i], &phi))));
        if (spec->number == 7)
            fewest_of_family(q, spec, names[i], rows);
        else
            errors_of_family(q, spec, names[i], rows);
    }
    free(list);
    return json_pack("{s:i, s:s, s:s#, s:o, s:o}", "number", spec->number, "title", title, "type",
                     &spec->type, 1, "families", texts, "rows", rows);
}

static void print_rows(const json_t *table)
{
    static const struct column widths[] = {{"moduli", "s", NULL},         {"log2_product", "log2 M", "%.1f"},
                                           {"limbs", "limbs", NULL},      {"k1024", "t, k=1024", NULL},
                                           {"k4096", "t, k=4096", NULL},  {"k16384", "t, k=16384", NULL},
                                           {"k65536", "t, k=65536", NULL}};
    static const struct column fewest[] = {
        {"family", "data", NULL},
        {"k", "k", NULL},
        {"as_native", "s: |e|/(|A||B|) as native", NULL},
        {"rounded_99_9_percent", "s: 99.9 % CR", NULL},
        {"rounded_100_percent", "s: 100 % CR", NULL},
        {"native_rounded_percent", "native CR (%)", "%.1f"},
    };
    static const struct column errors[] = {
        {"family", "data", NULL},
        {"method", "method", NULL},
        {"width", "t (bits)", NULL},
        {"max_ulp", "max (ulp)", "%.3g"},
        {"correctly_rounded_percent", "CR (%)", "%.2f"},
        {"componentwise", "max |e|/(|A||B|)", "%.1e"},
        {"normwise", "||e||_F/||C||_F", "%.1e"},
    };
    const json_t *rows = json_object_get(table, "rows");
    json_int_t number = json_integer_value(json_object_get(table, "number"));
    if (number == 2)
        table_print(stdout, widths, sizeof widths / sizeof widths[0], rows);
    else if (number == 7)
        table_print(stdout, fewest, sizeof fewest / sizeof fewest[0], rows);
    else
        table_print(stdout, errors, sizeof errors / sizeof errors[0], rows);
}

void accuracy_print(const json_t *table)
{
    const char *name;
    json_t *text;
    printf("%s\n", json_string_value(json_object_get(table, "title")));
    print_rows(table);
    json_object_foreach(json_object_get(table, "families"), name, text)
        printf("%s: %s\n", name, json_string_value(text));
    if (type_complex(json_string_value(json_object_get(table, "type"))[0]))
        printf("an entry counts as two components; |x| = |Re x| + |Im x| in |A||B|\n");
}
