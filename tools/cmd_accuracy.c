/*
 * cmd_accuracy.c - "ozgemm accuracy": errors against the exact product, as in the tables of [Xe2].
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "commands.h"
#include "families.h"
#include "native.h"
#include "product.h"
#include "progress.h"
#include "reference.h"
#include "table.h"

enum {
    KEY_TABLES = 256,
    KEY_TYPE,
    KEY_MODULI,
    KEY_FAMILIES,
    KEY_SEED,
    KEY_BLAS,
    KEY_THREADS,
    KEY_KERNEL,
    KEY_JSON
};

static const struct argp_option options[] = {
    {"tables", KEY_TABLES, "LIST", 0, "tables of the Xe2 paper: 2, 6, 8, 13 (default: all four)", 0},
    {"families", KEY_FAMILIES, "LIST", 0, "matrices for a table of your own (default: uni,phi2,sincos)", 0},
    {"moduli", KEY_MODULI, "LIST", 0, "numbers of moduli (default: those of the table)", 0},
    {"type", KEY_TYPE, "d|z|s|c", 0, "type for a table of your own (default: d)", 0},
    {NULL, 'm', "M", 0, "rows of the product (default: 512)", 0},
    {NULL, 'n', "N", 0, "columns of the product (default: 512)", 0},
    {NULL, 'k', "K", 0, "inner dimension (default: 4096)", 0},
    {"seed", KEY_SEED, "S", 0, "seed of the random matrices (default: 1)", 0},
    {"blas", KEY_BLAS, "FILE", 0, "the native BLAS (default: libblas.so.3, then OpenBLAS)", 0},
    {"threads", KEY_THREADS, "N", 0, "CPU threads of the emulation", 0},
    {"kernel", KEY_KERNEL, "NAME", 0, "CPU micro-kernel", 0},
    {"json", KEY_JSON, NULL, 0, "print as JSON", 0},
    {0}};

static const char doc[] =
    "Print the errors of the emulated and the native product against the exact one.\v"
    "Without --tables, any of --families, --moduli and --type asks for one table of your own.\n\n"
    "Example:\n  ozgemm accuracy --families uni,phi2 --moduli 14,16,18 -m 200 -n 200 -k 1000";

enum { MAX_LIST = 48, MAX_FAMILIES = 32 };

/* One table of errors: what the paper has in it, or what the user asks for. */
struct spec {
    int number; /* of the table in the paper; 0: the user's own */
    char type;
    const char *families;
    const char *moduli;
};

static const struct spec papers[] = {
    {6, 'd', "unigrid,phi2,sincos", "12,14,16,18,20,24"},
    {8, 'd', "spike,cancel", "12,16,20,24"},
    {13, 'z', "unigrid,phi2,cancel", "12,14,16,20,24"},
};

struct accuracy {
    const char *tables, *families, *moduli, *blas;
    char type;
    int64_t m, n, k, seed;
    ozg_config config;
    int json;
    struct native *native;
    ozg_context *ctx;
    struct progress bar;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct accuracy *q = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        quiet_argp(state);
        break;
    case KEY_TABLES:
        q->tables = arg;
        break;
    case KEY_FAMILIES:
        q->families = arg;
        break;
    case KEY_MODULI:
        q->moduli = arg;
        break;
    case KEY_TYPE:
        if (strlen(arg) != 1 || strchr("dzsc", arg[0]) == NULL)
            fail("--type is '%s': give one of the letters d, z, s, c", arg);
        q->type = arg[0];
        break;
    case 'm':
        q->m = parse_int(arg, "-m", 1, 1 << 20);
        break;
    case 'n':
        q->n = parse_int(arg, "-n", 1, 1 << 20);
        break;
    case 'k':
        q->k = parse_int(arg, "-k", 1, 1 << 26);
        break;
    case KEY_SEED:
        q->seed = parse_int(arg, "--seed", 0, INT64_MAX);
        break;
    case KEY_BLAS:
        q->blas = arg;
        break;
    case KEY_THREADS:
        q->config.threads = (int)parse_int(arg, "--threads", 1, 4096);
        break;
    case KEY_KERNEL:
        q->config.kernel = arg;
        break;
    case KEY_JSON:
        q->json = 1;
        break;
    case ARGP_KEY_ARG:
        fail("accuracy takes no '%s': leave it out", arg);
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* ---- Table 2: moduli and widths
 * --------------------------------------------------------------------------------- */

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

static json_t *table2(void)
{
    json_t *rows = json_array();
    for (int s = 4; s <= 24; s += 2) {
        double bits = log2_of_product(s);
        json_array_append_new(
            rows,
            json_pack("{s:i, s:o, s:i, s:i, s:i, s:i, s:i}", "moduli", s, "log2_product", json_real(bits),
                      "limbs", (int)floor(bits / 32) + 1, "k1024", ozg_width_of_moduli('d', 1024, s), "k4096",
                      ozg_width_of_moduli('d', 4096, s), "k16384", ozg_width_of_moduli('d', 16384, s),
                      "k65536", ozg_width_of_moduli('d', 65536, s)));
    }
    return json_pack("{s:i, s:s, s:o}", "number", 2, "title",
                     "Table 2: moduli, 32-bit limbs and width t in bits by inner dimension", "rows", rows);
}

static void print_table2(const json_t *table)
{
    static const struct column columns[] = {{"moduli", "s", NULL},         {"log2_product", "log2 M", "%.1f"},
                                            {"limbs", "limbs", NULL},      {"k1024", "t, k=1024", NULL},
                                            {"k4096", "t, k=4096", NULL},  {"k16384", "t, k=16384", NULL},
                                            {"k65536", "t, k=65536", NULL}};
    table_print(stdout, columns, sizeof columns / sizeof columns[0], json_object_get(table, "rows"));
}

/* ---- Tables 6, 8, 13 and the user's: errors
 * --------------------------------------------------------------------- */

/* The work of one table, in units of the bar: products of real matrices by the reference. */
static double work_of(const struct accuracy *q, char type, int families, int methods)
{
    double units = (double)q->m * (double)q->n * (double)q->k * (type_complex(type) ? 3 : 1);
    return units * families * (1 + 0.05 * methods);
}

/* split_families() - the names of a list, checked; returns how many. */
static int split_families(char *list, const struct accuracy *q, char **names)
{
    int n = 0;
    char *save = NULL;
    double phi;
    for (char *name = strtok_r(list, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
        const struct family *f = family_find(name, &phi);
        if (n == MAX_FAMILIES)
            fail("--families has more than %d names: give fewer", MAX_FAMILIES);
        if (f == NULL)
            fail("'%s' is no family of matrices: ozgemm accuracy --families list shows them", name);
        if (family_even_k(f) && q->k % 2)
            fail("the family %s needs an even k: give -k %lld", name, (long long)q->k + 1);
        names[n++] = name;
    }
    if (n == 0)
        fail("--families is empty: ozgemm accuracy --families list shows the names");
    return n;
}

static void append_row(json_t *rows, const char *family, const char *method, json_t *moduli, int width,
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

/* run_family() - one family: native, then each number of moduli. */
static void run_family(struct accuracy *q, char type, const char *name, const int *moduli, int nmoduli,
                       json_t *rows)
{
    char method[32];
    double phi, unit = work_of(q, type, 1, 0) * 0.05;
    const struct family *f = family_find(name, &phi);
    struct matrix a = matrix_alloc("A", type, q->m, q->k), b = matrix_alloc("B", type, q->k, q->n);
    struct matrix c = matrix_alloc("C", type, q->m, q->n);
    family_fill(f, phi, (uint64_t)q->seed, &a, &b);
    struct reference *exact = reference_make(&a, &b, &q->bar);
    if (q->native && native_gemm(q->native, &a, &b, &c)) {
        snprintf(method, sizeof method, "native %cgemm", type);
        append_row(rows, name, method, json_null(), default_bits(type), reference_compare(exact, &c));
    }
    progress_step(&q->bar, unit, name);
    for (int i = 0; i < nmoduli; i++) {
        ozg_report report;
        struct product p = product_of(type, q->m, q->n, q->k, a.data, b.data, c.data, ozg_moduli(moduli[i]));
        check_status(product_run(q->ctx, &p, &report), q->ctx);
        snprintf(method, sizeof method, "s = %d", moduli[i]);
        append_row(rows, name, method, json_integer(moduli[i]), report.width, reference_compare(exact, &c));
        progress_step(&q->bar, unit, name);
    }
    reference_free(exact);
    matrix_free(&a);
    matrix_free(&b);
    matrix_free(&c);
}

static json_t *error_table(struct accuracy *q, const struct spec *spec)
{
    char title[160], *names[MAX_FAMILIES], *list = xstrdup(spec->families);
    int moduli[MAX_LIST], nmoduli = parse_list(spec->moduli, "--moduli", 2, 49, moduli, MAX_LIST);
    int nfamilies = split_families(list, q, names);
    json_t *rows = json_array(), *texts = json_object();
    double phi;
    for (int i = 0; i < nfamilies; i++) {
        json_object_set_new(texts, names[i], json_text(family_text(family_find(names[i], &phi))));
        run_family(q, spec->type, names[i], moduli, nmoduli, rows);
    }
    snprintf(title, sizeof title, "%s%.0d%serrors of %cgemm, %lld x %lld, k = %lld",
             spec->number ? "Table " : "", spec->number, spec->number ? ": " : "", spec->type,
             (long long)q->m, (long long)q->n, (long long)q->k);
    free(list);
    return json_pack("{s:i, s:s, s:s#, s:o, s:o}", "number", spec->number, "title", title, "type",
                     &spec->type, 1, "families", texts, "rows", rows);
}

static void print_error_table(const json_t *table)
{
    static const struct column columns[] = {
        {"family", "data", NULL},
        {"method", "method", NULL},
        {"width", "t (bits)", NULL},
        {"max_ulp", "max (ulp)", "%.3g"},
        {"correctly_rounded_percent", "CR (%)", "%.2f"},
        {"componentwise", "max |e|/(|A||B|)", "%.1e"},
        {"normwise", "||e||_F/||C||_F", "%.1e"},
    };
    const char *name;
    json_t *text;
    table_print(stdout, columns, sizeof columns / sizeof columns[0], json_object_get(table, "rows"));
    json_object_foreach(json_object_get(table, "families"), name, text)
        printf("%s: %s\n", name, json_string_value(text));
    if (type_complex(json_string_value(json_object_get(table, "type"))[0]))
        printf("an entry counts as two components; |x| = |Re x| + |Im x| in |A||B|\n");
}

/* ---- the command
 * ------------------------------------------------------------------------------------------------ */

/* chosen() - the tables to make: numbers, and for each error table its specification. */
static int chosen(const struct accuracy *q, int *with_table2, struct spec *specs)
{
    int numbers[8], n = 0, count;
    int own = !q->tables && (q->families || q->moduli || q->type);
    *with_table2 = 0;
    if (own) {
        const char *moduli = type_double(q->type ? q->type : 'd') ? "12,14,16,18,20,24" : "4,6,8,10,12,14";
        specs[0] = (struct spec){0, q->type ? q->type : 'd', q->families ? q->families : "uni,phi2,sincos",
                                 q->moduli ? q->moduli : moduli};
        return 1;
    }
    count = parse_list(q->tables ? q->tables : "2,6,8,13", "--tables", 2, 13, numbers, 8);
    for (int i = 0; i < count; i++) {
        int before = n;
        for (size_t t = 0; t < sizeof papers / sizeof papers[0]; t++)
            if (papers[t].number == numbers[i])
                specs[n++] = papers[t];
        if (numbers[i] == 2)
            *with_table2 = 1;
        else if (n == before)
            fail("--tables has %d: give some of 2, 6, 8, 13", numbers[i]);
    }
    for (int i = 0; i < n; i++) {
        specs[i].families = q->families ? q->families : specs[i].families;
        specs[i].moduli = q->moduli ? q->moduli : specs[i].moduli;
        specs[i].type = q->type ? q->type : specs[i].type;
    }
    return n;
}

static void list_families(void)
{
    double phi;
    for (int i = 0; family_name(i); i++) {
        char name[32];
        snprintf(name, sizeof name, "%s%s", family_name(i), strcmp(family_name(i), "phi") ? "" : "1");
        printf("%-8s  %s\n", family_name(i), family_text(family_find(name, &phi)));
    }
}

/* total_work() - of all tables, for the bar. */
static double total_work(const struct accuracy *q, const struct spec *specs, int n)
{
    double work = 0;
    for (int i = 0; i < n; i++) {
        int families = 1, moduli = 1;
        for (const char *p = specs[i].families; *p; p++)
            families += *p == ',';
        for (const char *p = specs[i].moduli; *p; p++)
            moduli += *p == ',';
        work += work_of(q, specs[i].type, families, moduli + 1);
    }
    return work;
}

/* begin() - the headline: printed before the long work, in the human form. */
static json_t *begin(struct accuracy *q, int nspecs)
{
    if (nspecs > 0 && !reference_available())
        fail("%s", reference_missing);
    q->native = nspecs > 0 ? native_open(q->blas) : NULL;
    if (q->blas && nspecs > 0 && q->native == NULL)
        fail("%s: is no BLAS with sgemm_, dgemm_, cgemm_ and zgemm_: name another file", q->blas);
    check_status(ozg_create(&q->ctx, &q->config), NULL);
    json_t *o = json_pack("{s:s, s:I, s:I, s:I, s:I}", "version", ozg_version(), "m", (json_int_t)q->m, "n",
                          (json_int_t)q->n, "k", (json_int_t)q->k, "seed", (json_int_t)q->seed);
    json_object_set_new(o, "native_blas", q->native ? json_text(native_path(q->native)) : json_null());
    if (!q->json && nspecs > 0)
        printf("native BLAS: %s\n",
               q->native ? native_path(q->native) : "none found, so the native rows are missing");
    return o;
}

/* emit() - one finished table: printed at once, or kept for the JSON text. */
static void emit(const struct accuracy *q, json_t *tables, json_t *table)
{
    int number = (int)json_integer_value(json_object_get(table, "number"));
    if (!q->json) {
        printf("%s%s\n", json_array_size(tables) ? "\n" : "",
               json_string_value(json_object_get(table, "title")));
        if (number == 2)
            print_table2(table);
        else
            print_error_table(table);
        fflush(stdout);
    }
    json_array_append_new(tables, table);
}

int cmd_accuracy(int argc, char **argv)
{
    struct accuracy q = {.m = 512, .n = 512, .k = 4096, .seed = 1};
    struct spec specs[8];
    int with_table2;
    check_status(ozg_config_init(&q.config), NULL);
    command_parse("accuracy", options, parse, "", doc, argc, argv, &q);
    if (q.families && strcmp(q.families, "list") == 0) {
        list_families();
        return EXIT_FINE;
    }
    int n = chosen(&q, &with_table2, specs);
    json_t *o = begin(&q, n), *tables = json_array();
    progress_begin(&q.bar, total_work(&q, specs, n));
    if (with_table2)
        emit(&q, tables, table2());
    for (int i = 0; i < n; i++) {
        json_t *table = error_table(&q, &specs[i]);
        progress_end(&q.bar);
        emit(&q, tables, table);
    }
    json_object_set_new(o, "tables", tables);
    if (q.json)
        print_json(o);
    else
        json_decref(o);
    ozg_destroy(q.ctx);
    native_close(q.native);
    return EXIT_FINE;
}
