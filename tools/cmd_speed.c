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
#include "speed_cuda.h"
#include "speed_table.h"
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
    KEY_BACKEND,
    KEY_BLAS,
    KEY_CUBLAS,
    KEY_KERNEL,
    KEY_MEMORY,
    KEY_JSON,
    KEY_PLOT
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "What is multiplied:", 1},
    {"sizes", KEY_SIZES, "LIST", 0, "N of N x N x N products (default: 256,512,1024; GPU: 1024,2048,4096)",
     1},
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
    {"backend", KEY_BACKEND, "NAME", 0, "cpu (default), cuda, or cuda:1 for the second GPU", 2},
    {"threads", KEY_THREADS, "LIST", 0, "CPU threads, also of the native BLAS (default: as OpenMP says)", 2},
    {"kernel", KEY_KERNEL, "NAME", 0,
     "CPU micro-kernel, or cuda-wgmma, cuda-mma (default: the fastest for the shape)", 2},
    {"memory", KEY_MEMORY, "SIZE", 0,
     "workspace at most, such as 512M (default: a quarter of the free memory)", 2},
    {"runs", KEY_RUNS, "N", 0, "turns of each row at least (default: 5); GPU: bursts (default: 9)", 2},
    {"seconds", KEY_SECONDS, "S", 0,
     "time for each row at least (default: 0.3); GPU: of the sustained load (default: 0.5)", 2},
    {NULL, 0, NULL, 0, "Against what:", 3},
    {"blas", KEY_BLAS, "FILE", 0, "the native BLAS (default: libblas.so.3, then OpenBLAS)", 3},
    {"cublas", KEY_CUBLAS, "FILE", 0,
     "the native BLAS of the GPU, or none (default: libcublas.so.13, .12, .11)", 3},
    {"compare", KEY_COMPARE, "LIST", 0,
     "further methods, type d only: dot2, dd, float128; GPU: cublas-emulated, int8, or none (default: both)",
     3},
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
    "On a GPU matrices live there, native is cuBLAS, and there are two times: a burst, the median of calls "
    "that each come after 100 ms without work, and the mean under sustained load, with the energy of a call "
    "(J). \"limit\" is the time that the integer products would take at the best rate of the run, of cuBLAS "
    "(int8) or of the product stage, divided by the whole time. What is missing, such as cuBLAS, is "
    "noted.\n\n"
    "Examples:\n"
    "  ozgemm speed                                   # a first look, half a minute\n"
    "  ozgemm speed --sizes 512,1024,2048,4096 --threads 1,16 --plot ratio.svg\n"
    "  ozgemm speed --types d,z --accuracies moduli=14,moduli=16 --sizes 1024\n"
    "  ozgemm speed --shape 4096,4096,256 --shape 256,256,16384\n"
    "  ozgemm speed --compare dot2,dd,float128 --accuracies rounded --json\n"
    "  ozgemm speed --backend cuda --sizes 1024,2048,4096,8192";

enum { MAX_SHAPES = 64, MAX_WAYS = 32, MAX_THREADS = 32, MAX_TYPES = 4 };

struct command {
    struct speed run;
    struct shape shapes[MAX_SHAPES];
    struct way ways[MAX_WAYS];
    int threads[MAX_THREADS];
    char types[MAX_TYPES + 1];
    const char *family, *blas, *cublas, *plot, *kernel;
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

static int on_gpu(const struct command *q)
{
    return q->run.config.backend == OZG_BACKEND_CUDA;
}

/* add_ways() - the names of a list; compare: those of --compare, else accuracies. */
static void add_ways(struct command *q, const char *text, int compare)
{
    const char *what = compare ? "--compare" : "--accuracies";
    const char *good = !compare    ? "native, rounded, moduli=N, accurate=N, width=T, bits=B"
                       : on_gpu(q) ? "cublas-emulated, int8, or none"
                                   : "dot2, dd, float128";
    const int kind = !compare ? 0 : on_gpu(q) ? 2 : 1;
    char *copy = xstrdup(text), *save = NULL;
    int before = q->run.nways;
    for (char *name = strtok_r(copy, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
        struct way *way = &q->ways[q->run.nways];
        if (q->run.nways == MAX_WAYS)
            fail("%s: there are more than %d ways to multiply: give fewer", what, MAX_WAYS);
        if (!way_parse(name, way) || (way->by >= BY_EXTENDED) + (way->by > BY_EXTENDED) != kind)
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

/* parse_how() - the options on how it is measured, and where; returns whether it is one of them. */
static int parse_how(struct command *q, int key, char *arg)
{
    switch (key) {
    case KEY_RUNS:
        q->run.runs = (int)parse_int(arg, "--runs", 1, 1000);
        return 1;
    case KEY_SECONDS:
        q->run.seconds = parse_seconds(arg);
        return 1;
    case KEY_BACKEND:
        parse_backend(arg, &q->run.config);
        return 1;
    case KEY_BLAS:
        q->blas = arg;
        return 1;
    case KEY_CUBLAS:
        q->cublas = arg;
        return 1;
    case KEY_KERNEL:
        q->kernel = arg;
        return 1;
    case KEY_MEMORY:
        q->run.config.memory_limit = parse_bytes(arg, "--memory");
        return 1;
    default:
        return 0;
    }
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
    case KEY_JSON:
        q->json = 1;
        break;
    case KEY_PLOT:
        q->plot = arg;
        break;
    case ARGP_KEY_ARG:
        fail("speed takes no '%s': leave it out", arg);
    default:
        return parse_how(q, key, arg) ? 0 : ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* settle_cpu(), settle_gpu() - what the options leave open, and which of them are for the other. */
static void settle_cpu(struct command *q)
{
    if (q->cublas)
        fail("--cublas is for --backend cuda: leave it out, or name the native BLAS of the CPU by --blas");
    if (q->nshapes == 0)
        add_sizes(q, "256,512,1024");
    if (q->kernel)
        q->run.config.kernel = parse_kernel(q->kernel, "--kernel");
    if (q->run.runs == 0)
        q->run.runs = 5;
    if (q->run.seconds < 0)
        q->run.seconds = 0.3;
    if (q->run.nthreads == 0)
        q->threads[q->run.nthreads++] = default_threads();
}

static void settle_gpu(struct command *q)
{
    if (q->blas)
        fail("--blas is for the CPU: name cuBLAS by --cublas");
    if (q->run.nthreads)
        fail("--threads is for the CPU: leave it out");
    if (q->nshapes == 0)
        add_sizes(q, "1024,2048,4096");
    q->run.config.kernel = q->kernel; /* the library looks whether the GPU can run it */
    if (q->run.runs == 0)
        q->run.runs = 9;
    if (q->run.seconds < 0)
        q->run.seconds = 0.5;
    if (q->compare == NULL)
        q->compare = "cublas-emulated,int8";
    if (strcmp(q->compare, "none") == 0)
        q->compare = NULL;
}

/* parse_arguments() - the options, then what they leave open. */
static void parse_arguments(struct command *q, int argc, char **argv)
{
    check_status(ozg_config_init(&q->run.config), NULL);
    q->run.config.backend = OZG_BACKEND_CPU;
    command_parse("speed", options, parse, "", doc, argc, argv, q);
    if (on_gpu(q))
        settle_gpu(q);
    else
        settle_cpu(q);
    if (q->accuracies == NULL) {
        add_ways(q, "native,rounded,bits=53", 0);
        q->ways[q->run.nways - 1].value = 0; /* 53 or 24, by type */
    } else
        add_ways(q, q->accuracies, 0);
    if (q->compare)
        add_ways(q, q->compare, 1);
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

/* open_cpu() - the native BLAS. */
static void open_cpu(struct command *q)
{
    struct speed *s = &q->run;
    s->native = native_open(q->blas);
    s->notes = slow_blas(s->native);
    s->pause = spin_seconds(s->native);
    if (q->blas && s->native == NULL)
        fail("%s: is no BLAS with sgemm_, dgemm_, cgemm_ and zgemm_: name another file", q->blas);
    if (s->native == NULL)
        json_array_append_new(s->notes,
                              json_text("no native BLAS was found, so there are no ratios: install one "
                                        "(libopenblas0), or name it by --blas"));
}

static void open_gpu(struct command *q)
{
    q->run.notes = json_array();
    speed_cuda_open(&q->run, q->cublas);
}

static void run(struct command *q)
{
    struct speed *s = &q->run;
    double work = 0;
    s->rows = json_array();
    s->limits = json_array();
    if (on_gpu(q))
        open_gpu(q);
    else
        open_cpu(q);
    for (const char *type = q->types; *type; type++)
        for (int i = 0; i < q->nshapes; i++)
            work += s->gpu ? speed_cuda_work(s, *type, q->shapes[i]) : speed_work(s, *type, q->shapes[i]);
    progress_begin(&s->bar, work);
    for (const char *type = q->types; *type; type++)
        for (int i = 0; i < q->nshapes; i++)
            if (s->gpu)
                speed_cuda_measure(s, *type, q->shapes[i]);
            else
                speed_measure(s, *type, q->shapes[i]);
    if (s->gpu)
        speed_cuda_finish(s);
    else
        speed_finish(s);
}

static json_t *variable(const char *name)
{
    const char *value = getenv(name);
    return value ? json_text(value) : json_null();
}

/* facts_cpu() - what the native BLAS is, and how memory was measured. */
static void facts_cpu(const struct speed *s, json_t *o)
{
    const char *core = s->native ? native_core(s->native) : NULL;
    json_object_set_new(o, "native_blas", s->native ? json_text(native_path(s->native)) : json_null());
    json_object_set_new(o, "native_blas_core", core ? json_text(core) : json_null());
    json_object_set_new(o, "OPENBLAS_CORETYPE", variable("OPENBLAS_CORETYPE"));
    json_object_set_new(o, "OPENBLAS_L2_SIZE", variable("OPENBLAS_L2_SIZE"));
    json_object_set_new(o, "peak_bytes_obtained", json_text(memory_obtained()));
    json_object_set(o, "limits", s->limits);
}

static json_t *facts(const struct command *q)
{
    const struct speed *s = &q->run;
    json_t *o = json_pack("{s:s, s:s, s:s, s:I, s:i, s:f}", "version", ozg_version(), "family", q->family,
                          "data", family_text(s->family), "seed", (json_int_t)s->seed, "runs", s->runs,
                          "seconds", s->seconds);
    if (s->gpu)
        speed_cuda_facts(s, o);
    else
        facts_cpu(s, o);
    json_object_set(o, "notes", s->notes);
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
    const json_t *limit = json_object_get(row, "limit_share"), *peak = json_object_get(row, "peak_bytes");
    json_object_set_new(o, "shape", speed_shape(row));
    json_object_set_new(o, "shares", share_text(row));
    if (limit)
        json_object_set_new(o, "limit_percent", json_real(100 * json_number_value(limit)));
    if (peak)
        json_object_set_new(o, "peak_mib", json_real(json_number_value(peak) / (1 << 20)));
    json_object_set_new(o, "note", json_string(note_of(row)));
    return o;
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
    speed_remarks(rows);
    json_decref(rows);
}

static void print_notes(const json_t *o)
{
    size_t i;
    const json_t *note;
    json_array_foreach(json_object_get(o, "notes"), i, note) printf("NOTE: %s\n", json_string_value(note));
    printf("data: %s: %s\n", json_string_value(json_object_get(o, "family")),
           json_string_value(json_object_get(o, "data")));
}

static void print_gpu(const struct command *q, const json_t *o)
{
    const char *native = speed_cuda_native(&q->run);
    const json_t *watts = json_object_get(o, "power_limit_watts");
    printf("GPU: %s", json_string_value(json_object_get(o, "device")));
    if (json_is_number(watts))
        printf(", limit of power %.0f W", json_number_value(watts));
    printf("\n");
    if (native)
        printf("native BLAS: %s, %s\n", native, json_string_value(json_object_get(o, "cublas")));
    print_notes(o);
    printf(
        "s: moduli; t: bits kept of each scaled row and column; ratio: time / time of cuBLAS (below 1: "
        "faster)\n"
        "burst: median of calls after 100 ms without work; sustained: mean under lasting load; J: energy of "
        "a "
        "call, sustained, and / that of cuBLAS\n"
        "limit: integer products at the best rate of this run / time; int8: TOP/s of integers, no product of "
        "the type\n");
    for (const char *type = q->types; *type; type++)
        speed_table_cuda(q->run.rows, *type);
}

static void print_text(const struct command *q, const json_t *o)
{
    const char *core = json_string_value(json_object_get(o, "native_blas_core"));
    if (q->run.native)
        printf("native BLAS: %s%s%s\n", native_path(q->run.native), core ? ", core " : "", core ? core : "");
    print_notes(o);
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
    if (q->run.gpu && speed_cuda_native(&q->run))
        snprintf(blas, sizeof blas, "%s", speed_cuda_native(&q->run));
    plot_ratios(q->plot, q->run.rows, blas);
}

int cmd_speed(int argc, char **argv)
{
    struct command q = {.types = "d", .family = "uni", .run = {.seed = 42, .seconds = -1}};
    parse_arguments(&q, argc, argv);
    run(&q);
    json_t *o = facts(&q);
    if (!q.json && q.run.gpu)
        print_gpu(&q, o);
    else if (!q.json)
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
    speed_cuda_close(&q.run);
    if (q.run.wrong == 0)
        return EXIT_FINE;
    fflush(stdout);
    fprintf(stderr, "ozgemm: %d of the measured products are wrong: the rows say which entries\n",
            q.run.wrong);
    return EXIT_CHECK_FAILED;
}
