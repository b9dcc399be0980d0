/*
 * cmd_speed.c - "ozgemm speed": how fast products are here, against the native BLAS and in themselves.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_plot.h"
#include "bench_system.h"
#include "cli.h"
#include "commands.h"
#include "reference.h"
#include "speed.h"
#include "table.h"

enum {
    KEY_SIZES = 256,
    KEY_SHAPE,
    KEY_TYPES,
    KEY_ACCURACIES,
    KEY_THREADS,
    KEY_COMPARE,
    KEY_FAMILY,
    KEY_SEED,
    KEY_RUNS,
    KEY_SECONDS,
    KEY_BLAS,
    KEY_KERNEL,
    KEY_MEMORY,
    KEY_JSON,
    KEY_PLOT
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "What is multiplied:", 1},
    {"sizes", KEY_SIZES, "LIST", 0, "N of N x N x N products (default: 256,512,1024)", 1},
    {"shape", KEY_SHAPE, "M,N,K", 0, "a product of another shape, C being M x N; may be repeated", 1},
    {"types", KEY_TYPES, "LIST", 0, "some of d,z,s,c (default: d)", 1},
    {"family", KEY_FAMILY, "NAME", 0,
     "the matrices (default: uni; ozgemm accuracy --families list explains them)", 1},
    {"seed", KEY_SEED, "S", 0, "seed of the random matrices (default: 42)", 1},
    {NULL, 0, NULL, 0, "How:", 2},
    {"accuracies", KEY_ACCURACIES, "LIST", 0,
     "native, rounded, moduli=N, accurate=N, width=T, bits=B (default: native,rounded,bits=53; float types "
     "bits=24)",
     2},
    {"threads", KEY_THREADS, "LIST", 0, "CPU threads, also of the native BLAS (default: as OpenMP says)", 2},
    {"kernel", KEY_KERNEL, "NAME", 0, "CPU micro-kernel (default: the fastest for the shape)", 2},
    {"memory", KEY_MEMORY, "SIZE", 0,
     "workspace at most, such as 512M (default: a quarter of the free memory)", 2},
    {"runs", KEY_RUNS, "N", 0, "turns of each row at least (default: 5)", 2},
    {"seconds", KEY_SECONDS, "S", 0, "time for each row at least (default: 0.3)", 2},
    {NULL, 0, NULL, 0, "Against what:", 3},
    {"blas", KEY_BLAS, "FILE", 0, "the native BLAS (default: libblas.so.3, then OpenBLAS)", 3},
    {"compare", KEY_COMPARE, "LIST", 0, "further methods, type d only: dot2, dd, float128", 3},
    {NULL, 0, NULL, 0, "Output:", 4},
    {"json", KEY_JSON, NULL, 0, "print as JSON", 4},
    {"plot", KEY_PLOT, "FILE", 0, "draw time / native against N (.png or .svg, by gnuplot)", 4},
    {0}};

static const char doc[] =
    "Measure how fast products are, against the native BLAS in the same process, and check each result.\v"
    "The native BLAS and the other way are timed in turn. \"ratio\" is the time of the other divided by "
    "that of the native BLAS (below 1: faster than native), the least and the median of all turns. "
    "\"limit\" is the share of what the micro-kernel could do: the time of its integer products alone, at "
    "the best rate seen here, divided by the whole time. Every result is checked against the exact product "
    "in some rows and columns, and everywhere against the native one; a wrong one shows no speed, and the "
    "exit status is 1.\n\n"
    "Examples:\n"
    "  ozgemm speed                                   # a first look, half a minute\n"
    "  ozgemm speed --sizes 512,1024,2048,4096 --threads 1,16 --plot ratio.svg\n"
    "  ozgemm speed --types d,z --accuracies moduli=14,moduli=16 --sizes 1024\n"
    "  ozgemm speed --shape 4096,4096,256 --shape 256,256,16384\n"
    "  ozgemm speed --compare dot2,dd,float128 --accuracies rounded --json";

enum { MAX_SHAPES = 64, MAX_WAYS = 32, MAX_THREADS = 32, MAX_TYPES = 4 };

struct command {
    struct speed run;
    struct shape shapes[MAX_SHAPES];
    struct way ways[MAX_WAYS];
    int threads[MAX_THREADS];
    char types[MAX_TYPES + 1];
    const char *family, *blas, *plot;
    const char *accuracies, *compare;
    int nshapes, json;
};

/* ---- arguments ------------------------------------------------------------------------------------- */

static void add_shape(struct command *q, int64_t m, int64_t n, int64_t k)
{
    if (q->nshapes == MAX_SHAPES)
        fail("there are more than %d shapes: give fewer", MAX_SHAPES);
    q->shapes[q->nshapes++] = (struct shape){m, n, k};
}

static void add_sizes(struct command *q, const char *text)
{
    int sizes[MAX_SHAPES], n = parse_list(text, "--sizes", 1, 1 << 20, sizes, MAX_SHAPES);
    for (int i = 0; i < n; i++)
        add_shape(q, sizes[i], sizes[i], sizes[i]);
}

static void add_one_shape(struct command *q, const char *text)
{
    int sides[4];
    if (parse_list(text, "--shape", 1, 1 << 26, sides, 4) != 3)
        fail("--shape is '%s': give three numbers M,N,K", text);
    add_shape(q, sides[0], sides[1], sides[2]);
}

static void set_types(struct command *q, const char *text)
{
    int n = 0;
    q->types[0] = '\0'; /* in place of the default */
    for (const char *p = text;; p += 2) {
        if (*p == '\0' || strchr("dzsc", *p) == NULL || (p[1] != ',' && p[1] != '\0'))
            fail("--types is '%s': give some of the letters d,z,s,c", text);
        if (strchr(q->types, *p) == NULL)
            q->types[n++] = *p;
        q->types[n] = '\0';
        if (p[1] == '\0')
            return;
    }
}

/* add_ways() - the names of a list; extended: the ones of --compare, else accuracies. */
static void add_ways(struct command *q, const char *text, int extended)
{
    const char *what = extended ? "--compare" : "--accuracies";
    const char *good =
        extended ? "dot2, dd, float128" : "native, rounded, moduli=N, accurate=N, width=T, bits=B";
    char *copy = xstrdup(text), *save = NULL;
    int before = q->run.nways;
    for (char *name = strtok_r(copy, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
        struct way *way = &q->ways[q->run.nways];
        if (q->run.nways == MAX_WAYS)
            fail("%s: there are more than %d ways to multiply: give fewer", what, MAX_WAYS);
        if (!way_parse(name, way) || (way->by == BY_EXTENDED) != extended)
            fail("%s has '%s': give some of %s", what, name, good);
        q->run.nways++;
    }
    if (q->run.nways == before)
        fail("%s is empty: give some of %s", what, good);
    free(copy);
}

static double parse_seconds(const char *text)
{
    char *end;
    double x = strtod(text, &end);
    if (end == text || *end != '\0' || !(x >= 0 && x <= 1e6))
        fail("--seconds is '%s': give a number from 0 to 1000000", text);
    return x;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct command *q = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        quiet_argp(state);
        break;
    case KEY_SIZES:
        add_sizes(q, arg);
        break;
    case KEY_SHAPE:
        add_one_shape(q, arg);
        break;
    case KEY_TYPES:
        set_types(q, arg);
        break;
    case KEY_ACCURACIES:
        q->accuracies = arg;
        break;
    case KEY_THREADS:
        q->run.nthreads = parse_list(arg, "--threads", 1, 4096, q->threads, MAX_THREADS);
        break;
    case KEY_COMPARE:
        q->compare = arg;
        break;
    case KEY_FAMILY:
        q->family = arg;
        break;
    case KEY_SEED:
        q->run.seed = (uint64_t)parse_int(arg, "--seed", 0, INT64_MAX);
        break;
    case KEY_RUNS:
        q->run.runs = (int)parse_int(arg, "--runs", 1, 1000);
        break;
    case KEY_SECONDS:
        q->run.seconds = parse_seconds(arg);
        break;
    case KEY_BLAS:
        q->blas = arg;
        break;
    case KEY_KERNEL:
        q->run.config.kernel = parse_kernel(arg, "--kernel");
        break;
    case KEY_MEMORY:
        q->run.config.memory_limit = parse_bytes(arg, "--memory");
        break;
    case KEY_JSON:
        q->json = 1;
        break;
    case KEY_PLOT:
        q->plot = arg;
        break;
    case ARGP_KEY_ARG:
        fail("speed takes no '%s': leave it out", arg);
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* parse_arguments() - the options, then what they leave open. */
static void parse_arguments(struct command *q, int argc, char **argv)
{
    check_status(ozg_config_init(&q->run.config), NULL);
    command_parse("speed", options, parse, "", doc, argc, argv, q);
    if (q->nshapes == 0)
        add_sizes(q, "256,512,1024");
    if (q->accuracies == NULL) {
        add_ways(q, "native,rounded,bits=53", 0);
        q->ways[q->run.nways - 1].value = 0; /* 53 or 24, by type */
    } else
        add_ways(q, q->accuracies, 0);
    if (q->compare)
        add_ways(q, q->compare, 1);
    if (q->run.nthreads == 0)
        q->threads[q->run.nthreads++] = default_threads();
    q->run.ways = q->ways;
    q->run.threads = q->threads;
    q->run.family = family_find(q->family, &q->run.phi);
    if (q->run.family == NULL)
        fail("'%s' is no family of matrices: ozgemm accuracy --families list shows them", q->family);
    for (int i = 0; i < q->nshapes; i++)
        if (family_even_k(q->run.family) && q->shapes[i].k % 2)
            fail("the family %s needs an even inner dimension: not %lld", q->family,
                 (long long)q->shapes[i].k);
    if (q->plot)
        plot_check(q->plot);
    if (!reference_available())
        fail("%s", reference_missing);
}

/* ---- the run --------------------------------------------------------------------------------------- */

static void run(struct command *q)
{
    struct speed *s = &q->run;
    double work = 0;
    s->rows = json_array();
    s->limits = json_array();
    s->native = native_open(q->blas);
    s->notes = slow_blas(s->native);
    s->pause = spin_seconds(s->native);
    if (q->blas && s->native == NULL)
        fail("%s: is no BLAS with sgemm_, dgemm_, cgemm_ and zgemm_: name another file", q->blas);
    if (s->native == NULL)
        json_array_append_new(s->notes,
                              json_text("no native BLAS was found, so there are no ratios: install one "
                                        "(libopenblas0), or name it by --blas"));
    for (const char *type = q->types; *type; type++)
        for (int i = 0; i < q->nshapes; i++)
            work += speed_work(s, *type, q->shapes[i]);
    progress_begin(&s->bar, work);
    for (const char *type = q->types; *type; type++)
        for (int i = 0; i < q->nshapes; i++)
            speed_measure(s, *type, q->shapes[i]);
    speed_finish(s);
}

static json_t *variable(const char *name)
{
    const char *value = getenv(name);
    return value ? json_text(value) : json_null();
}

static json_t *facts(const struct command *q)
{
    const struct speed *s = &q->run;
    const char *core = s->native ? native_core(s->native) : NULL;
    json_t *o = json_pack("{s:s, s:s, s:s, s:I, s:i, s:f}", "version", ozg_version(), "family", q->family,
                          "data", family_text(s->family), "seed", (json_int_t)s->seed, "runs", s->runs,
                          "seconds", s->seconds);
    json_object_set_new(o, "native_blas", s->native ? json_text(native_path(s->native)) : json_null());
    json_object_set_new(o, "native_blas_core", core ? json_text(core) : json_null());
    json_object_set_new(o, "OPENBLAS_CORETYPE", variable("OPENBLAS_CORETYPE"));
    json_object_set_new(o, "OPENBLAS_L2_SIZE", variable("OPENBLAS_L2_SIZE"));
    json_object_set_new(o, "peak_bytes_obtained", json_text(memory_obtained()));
    json_object_set(o, "notes", s->notes);
    json_object_set(o, "limits", s->limits);
    json_object_set(o, "rows", s->rows);
    return o;
}

/* ---- text ------------------------------------------------------------------------------------------ */

/* share_text() - "7/31/46/14/0": percent of each stage. */
static json_t *share_text(const json_t *row)
{
    static const char *const keys[] = {"share_scale", "share_split", "share_product", "share_reconstruct",
                                       "share_repair"};
    char text[64];
    size_t used = 0;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const json_t *share = json_object_get(row, keys[i]);
        if (share == NULL)
            return json_null();
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.0f", i ? "/" : "",
                                 100 * json_number_value(share));
    }
    return json_string(text);
}

/* note_of() - the last word of a row. */
static const char *note_of(const json_t *row)
{
    if (json_is_false(json_object_get(row, "available")))
        return "not available";
    if (json_is_string(json_object_get(row, "wrong")))
        return "WRONG";
    return json_object_get(row, "timed_columns") ? "scaled" : "";
}

/* for_people() - the row as the table shows it. */
static json_t *for_people(const json_t *row)
{
    json_t *o = json_copy((json_t *)row);
    json_int_t m = json_integer_value(json_object_get(row, "m")),
               n = json_integer_value(json_object_get(row, "n")),
               k = json_integer_value(json_object_get(row, "k"));
    const json_t *limit = json_object_get(row, "limit_share"), *peak = json_object_get(row, "peak_bytes");
    json_object_set_new(o, "shape",
                        m == n && n == k
                            ? json_integer(m)
                            : json_sprintf("%lldx%lldx%lld", (long long)m, (long long)n, (long long)k));
    json_object_set_new(o, "shares", share_text(row));
    if (limit)
        json_object_set_new(o, "limit_percent", json_real(100 * json_number_value(limit)));
    if (peak)
        json_object_set_new(o, "peak_mib", json_real(json_number_value(peak) / (1 << 20)));
    json_object_set_new(o, "note", json_string(note_of(row)));
    return o;
}

/* print_remarks() - what the notes of the rows mean; the same sentence once. */
static void print_remarks(const json_t *rows)
{
    size_t i;
    const json_t *row;
    json_t *said = json_object();
    json_array_foreach((json_t *)rows, i, row)
    {
        char line[400] = "";
        const char *method = json_string_value(json_object_get(row, "method"));
        const char *wrong = json_string_value(json_object_get(row, "wrong"));
        const json_t *columns = json_object_get(row, "timed_columns");
        if (json_is_false(json_object_get(row, "available")))
            snprintf(line, sizeof line, "%s: not available: %s", method,
                     json_string_value(json_object_get(row, "reason")));
        else if (wrong)
            snprintf(line, sizeof line, "%s at %lld: WRONG: %s", method,
                     (long long)json_integer_value(json_object_get(row, "n")), wrong);
        else if (columns)
            snprintf(line, sizeof line, "%s at n = %lld: timed on %lld of the columns and scaled", method,
                     (long long)json_integer_value(json_object_get(row, "n")),
                     (long long)json_integer_value(columns));
        if (line[0] && json_object_get(said, line) == NULL) {
            printf("%s\n", line);
            json_object_set_new(said, line, json_true());
        }
    }
    json_decref(said);
}

/* print_group() - the table of one type and number of threads. */
static void print_group(const json_t *all, char type, int threads)
{
    static const struct column columns[] = {
        {"shape", "N", NULL},
        {"method", "method", NULL},
        {"kernel", "kernel", NULL},
        {"moduli", "s", NULL},
        {"width", "t", NULL},
        {"gflops", "GFLOP/s", "%.3g"},
        {"seconds_min", "time (s)", "%.3g"},
        {"seconds_median", "median", "%.3g"},
        {"ratio_min", "ratio", "%.2f"},
        {"ratio_median", "median", "%.2f"},
        {"shares", "stages %", NULL},
        {"limit_percent", "limit %", "%.0f"},
        {"peak_mib", "MiB", "%.1f"},
        {"repaired", "repaired", NULL},
        {"note", "", NULL},
    };
    size_t i;
    const json_t *row;
    json_t *rows = json_array();
    int notes = 0, n = sizeof columns / sizeof columns[0];
    json_array_foreach((json_t *)all, i, row)
    {
        if (json_string_value(json_object_get(row, "type"))[0] != type ||
            json_integer_value(json_object_get(row, "threads")) != threads)
            continue;
        json_array_append_new(rows, for_people(row));
        notes |= note_of(row)[0] != '\0';
    }
    printf("\n%cgemm, %d thread%s\n", type, threads, threads == 1 ? "" : "s");
    table_print(stdout, columns, notes ? n : n - 1, rows);
    print_remarks(rows);
    json_decref(rows);
}

static void print_text(const struct command *q, const json_t *o)
{
    size_t i;
    const json_t *note;
    const char *core = json_string_value(json_object_get(o, "native_blas_core"));
    if (q->run.native)
        printf("native BLAS: %s%s%s\n", native_path(q->run.native), core ? ", core " : "", core ? core : "");
    json_array_foreach(q->run.notes, i, note) printf("NOTE: %s\n", json_string_value(note));
    printf("data: %s: %s\n", q->family, family_text(q->run.family));
    printf("s: moduli; t: bits kept of each scaled row and column; ratio: time / time of the native BLAS\n"
           "stages: scale/split/product/reconstruct/repair; limit: integer products at the kernel's best "
           "rate / time\n");
    for (const char *type = q->types; *type; type++)
        for (int t = 0; t < q->run.nthreads; t++)
            print_group(q->run.rows, *type, q->threads[t]);
}

static void plot(const struct command *q)
{
    char blas[128] = "none";
    const char *path = q->run.native ? native_path(q->run.native) : NULL,
               *slash = path ? strrchr(path, '/') : NULL;
    const char *core = path ? native_core(q->run.native) : NULL;
    if (path)
        snprintf(blas, sizeof blas, "%.60s%s%.40s", slash ? slash + 1 : path, core ? ", core " : "",
                 core ? core : "");
    plot_ratios(q->plot, q->run.rows, blas);
}

int cmd_speed(int argc, char **argv)
{
    struct command q = {.types = "d", .family = "uni", .run = {.seed = 42, .runs = 5, .seconds = 0.3}};
    parse_arguments(&q, argc, argv);
    run(&q);
    json_t *o = facts(&q);
    if (!q.json)
        print_text(&q, o);
    if (q.plot)
        plot(&q);
    if (q.json)
        print_json(o);
    else
        json_decref(o);
    json_decref(q.run.rows);
    json_decref(q.run.limits);
    json_decref(q.run.notes);
    native_close(q.run.native);
    if (q.run.wrong == 0)
        return EXIT_FINE;
    fflush(stdout);
    fprintf(stderr, "ozgemm: %d of the measured products are wrong: the rows say which entries\n",
            q.run.wrong);
    return EXIT_CHECK_FAILED;
}
