/*
 * cmd_accuracy.c - "ozgemm accuracy": errors against the exact product, as in the tables of [Xe2].
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accuracy.h"
#include "cli.h"
#include "commands.h"
#include "families.h"
#include "grade.h"
#include "accuracy_plot.h"

enum {
    KEY_TABLES = 256,
    KEY_TYPE,
    KEY_MODULI,
    KEY_FAMILIES,
    KEY_METHODS,
    KEY_GRADE,
    KEY_PLOT,
    KEY_SEED,
    KEY_BLAS,
    KEY_BACKEND,
    KEY_THREADS,
    KEY_KERNEL,
    KEY_JSON
};

static const struct argp_option options[] = {
    {"tables", KEY_TABLES, "LIST", 0,
     "tables of the Xe2 paper: 2, 6, 7, 8, 13 (default: 2,6,8,13; table 7 takes long)", 0},
    {"families", KEY_FAMILIES, "LIST|all", 0,
     "matrices for a table of your own (default: uni,phi2,sincos); \"list\" explains them", 0},
    {"methods", KEY_METHODS, "LIST", 0, "some of blas, moduli, native, rounded (default: all)", 0},
    {"moduli", KEY_MODULI, "LIST", 0, "numbers of moduli (default: those of the table)", 0},
    {"grade", KEY_GRADE, NULL, 0, "grade each method A, B or C by hard tests", 0},
    {"plot", KEY_PLOT, "FILE", 0, "draw error against time of a table of your own: .svg or .png, by gnuplot",
     0},
    {"type", KEY_TYPE, "d|z|s|c", 0, "type for a table of your own or the grades (default: d)", 0},
    {NULL, 'm', "M", 0, "rows of the product (default: 512; your own table 128; grades 48)", 0},
    {NULL, 'n', "N", 0, "columns of the product (default: as for rows)", 0},
    {NULL, 'k', "K", 0, "inner dimension (default: 4096; grades 1024)", 0},
    {"seed", KEY_SEED, "S", 0, "seed of the random matrices (default: 42)", 0},
    {"blas", KEY_BLAS, "FILE", 0, "the native BLAS (default: libblas.so.3, then OpenBLAS)", 0},
    {"backend", KEY_BACKEND, "NAME", 0, "of the emulation: cpu (default), cuda, or cuda:1 for the second GPU", 0},
    {"threads", KEY_THREADS, "N", 0, "CPU threads of the emulation", 0},
    {"kernel", KEY_KERNEL, "NAME", 0, "CPU micro-kernel", 0},
    {"json", KEY_JSON, NULL, 0, "print as JSON", 0},
    {0}};

static const char doc[] =
    "Print the errors of the emulated and the native product against the exact one.\v"
    "Without --tables, any of --families, --methods, --moduli, --plot and --type asks for one table of your "
    "own. "
    "A row \"moduli\" has a fixed width, \"native\" is ozg_native(), \"rounded\" is ozg_rounded(); s is the "
    "number of moduli used.\n\n"
    "--grade follows J. Demmel et al., \"How to grade the accuracy of the BLAS\" (arXiv 2609.12307): grade A "
    "means "
    "|e| <= f(k) u |A||B| in every entry with f at most linear, here f(k) = k (complex 2k). B is against the "
    "norms of row and column, C against the largest norms. From the paper are grade A, the search for a "
    "growth "
    "that is more than linear, powers of two inside the product that find fixed-point arithmetic, and tests "
    "for "
    "fast algorithms and underflow; the form of B and C, the matrices, the sizes and the tests \"wide\", "
    "\"spike\" and \"range\" are ours.\n\n"
    "The exit code is 1 if the library broke a promise: a bound of a report, the factor sqrt(k) + 1 "
    "of "
    "native, a rounding of rounded, or a grade of one of the two that is not A.\n\n"
    "Examples:\n  ozgemm accuracy --families uni,phi2 --moduli 14,16,18 -m 200 -n 200 -k 1000\n"
    "  ozgemm accuracy --grade";

enum { MAX_TABLES = 8 };

struct command {
    const char *tables, *families, *moduli, *blas, *plot;
    char type;
    int json, grade;
    ozg_config config;
    struct accuracy run;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct command *q = state->input;
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
    case KEY_METHODS:
        q->run.methods = methods_parse(arg, "--methods");
        break;
    case KEY_GRADE:
        q->grade = 1;
        break;
    case KEY_PLOT:
        accuracy_plot_check(arg);
        q->plot = arg;
        break;
    case KEY_TYPE:
        if (strlen(arg) != 1 || strchr("dzsc", arg[0]) == NULL)
            fail("--type is '%s': give one of the letters d, z, s, c", arg);
        q->type = arg[0];
        break;
    case 'm':
        q->run.m = parse_int(arg, "-m", 1, 1 << 20);
        break;
    case 'n':
        q->run.n = parse_int(arg, "-n", 1, 1 << 20);
        break;
    case 'k':
        q->run.k = parse_int(arg, "-k", 1, 1 << 26);
        break;
    case KEY_SEED:
        q->run.seed = (uint64_t)parse_int(arg, "--seed", 0, INT64_MAX);
        break;
    case KEY_BLAS:
        q->blas = arg;
        break;
    case KEY_THREADS:
        q->config.threads = (int)parse_int(arg, "--threads", 1, 4096);
        break;
    case KEY_BACKEND:
        parse_backend(arg, &q->config);
        break;
    case KEY_KERNEL:
        q->config.kernel = parse_kernel(arg, "--kernel");
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

/* paper_tables() - the tables of the paper, not one of the user's own. */
static int paper_tables(const struct command *q)
{
    return q->tables || !(q->families || q->moduli || q->type || q->plot || q->run.methods);
}

/* set_sizes() - the sizes that were not given, and all methods. */
static void set_sizes(struct command *q)
{
    struct accuracy *run = &q->run;
    int64_t side = q->grade ? 48 : paper_tables(q) ? 512 : 128;
    run->m = run->m ? run->m : side;
    run->n = run->n ? run->n : side;
    run->k = run->k ? run->k : q->grade ? 1024 : 4096;
    run->methods = run->methods ? run->methods : METHODS_ALL;
}

/* choose() - the tables to make; returns how many. */
static int choose(const struct command *q, int papers, struct spec *specs)
{
    int numbers[MAX_TABLES], n = 1;
    if (papers) {
        n = parse_list(q->tables ? q->tables : "2,6,8,13", "--tables", 2, 13, numbers, MAX_TABLES);
        for (int i = 0; i < n; i++)
            if (!accuracy_paper(numbers[i], &specs[i]))
                fail("--tables has %d: give some of 2, 6, 7, 8, 13", numbers[i]);
    } else {
        int twice = q->type == 0 || type_double(q->type);
        specs[0] = (struct spec){0, 'd', "uni,phi2,sincos", twice ? "12,14,16,18,20,24" : "4,6,8,10,12,14"};
    }
    for (int i = 0; i < n; i++) {
        if (q->families && specs[i].number != 2)
            specs[i].families = strcmp(q->families, "all") == 0 ? families_all : q->families;
        specs[i].moduli = q->moduli ? q->moduli : specs[i].moduli;
        specs[i].type = q->type ? q->type : specs[i].type;
        accuracy_check(&q->run, &specs[i]);
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

/* print_head() - what all tables have in common: the native BLAS, if it is used, and the abbreviations. */
static void print_head(const struct command *q, int blas_used)
{
    const struct native *lib = q->run.machine.blas;
    if (blas_used && lib == NULL)
        printf("native BLAS: none found, so its rows and the relative times are missing\n");
    else if (blas_used && native_core(lib))
        printf("native BLAS: %s, core %s\n", native_path(lib), native_core(lib));
    else if (blas_used)
        printf("native BLAS: %s\n", native_path(lib));
    if (!q->grade)
        printf(
            "s: moduli; t: bits kept of each scaled row and column; CR: correctly rounded entries; u = %s\n",
            q->type && !type_double(q->type) ? "2^-24" : "2^-53");
    printf("\n");
}

/* open_run() - what the tables need: the exact reference, the native BLAS, a context. */
static void open_run(struct command *q, double work)
{
    struct machine *machine = &q->run.machine;
    if (work > 0 && !reference_available())
        fail("%s", reference_missing);
    machine->blas = native_open(q->blas);
    if (q->blas && machine->blas == NULL)
        fail("%s: is no BLAS with sgemm_, dgemm_, cgemm_ and zgemm_: name another file", q->blas);
    check_status(ozg_create(&machine->ctx, &q->config), NULL);
    if (!q->json)
        print_head(q, work > 0 && q->run.methods & 1 << METHOD_BLAS);
    method_warm(machine, q->type ? q->type : 'd');
    progress_begin(&q->run.bar, work);
}

static json_t *facts(const struct command *q)
{
    const struct accuracy *run = &q->run;
    const struct native *lib = run->machine.blas;
    json_t *o = json_pack("{s:s, s:I, s:I, s:I, s:I}", "version", ozg_version(), "m", (json_int_t)run->m, "n",
                          (json_int_t)run->n, "k", (json_int_t)run->k, "seed", (json_int_t)run->seed);
    json_object_set_new(o, "native_blas", lib ? json_text(native_path(lib)) : json_null());
    json_object_set_new(o, "native_blas_core",
                        lib && native_core(lib) ? json_text(native_core(lib)) : json_null());
    json_object_set_new(o, "promises_checked", json_integer(run->promises));
    json_object_set_new(o, "promises_broken", json_integer(run->broken));
    return o;
}

/* run_tables() - all tables, each printed as soon as it is there; returns them. */
static json_t *run_tables(struct command *q, int papers)
{
    struct spec specs[MAX_TABLES];
    double work = 0;
    json_t *tables = json_array();
    int n = choose(q, papers, specs);
    if (q->plot && papers)
        fail("--plot draws a table of your own: leave out --tables");
    for (int i = 0; i < n; i++)
        work += accuracy_work(&q->run, &specs[i]);
    open_run(q, work);
    for (int i = 0; i < n; i++) {
        json_t *table = accuracy_table(&q->run, &specs[i]);
        progress_end(&q->run.bar);
        if (!q->json) {
            accuracy_print(table);
            printf("%s", i + 1 < n ? "\n" : "");
            fflush(stdout);
        }
        json_array_append_new(tables, table);
    }
    if (q->plot)
        accuracy_plot_write(q->plot, json_array_get(tables, 0));
    return tables;
}

/* run_grades() - the grades, printed; returns the facts. */
static json_t *run_grades(struct command *q)
{
    char type = q->type ? q->type : 'd';
    const char *moduli = q->moduli ? q->moduli : type_double(type) ? "14,16" : "7,8";
    if (q->tables || q->families || q->plot)
        fail("--grade has matrices of its own: leave out --tables, --families and --plot");
    open_run(q, grade_work(&q->run, type, moduli));
    json_t *grades = grade_run(&q->run, type, moduli);
    progress_end(&q->run.bar);
    if (!q->json)
        grade_print(grades);
    return grades;
}

/* below_a() - how many of native and rounded, which promise grade A, got another one. */
static int below_a(const json_t *grades)
{
    int n = 0;
    size_t index;
    const json_t *method;
    json_array_foreach(json_object_get(grades, "methods"), index, method)
    {
        const char *name = json_string_value(json_object_get(method, "method"));
        const char *grade = json_string_value(json_object_get(method, "grade"));
        n +=
            grade && strcmp(grade, "A") != 0 && (strcmp(name, "native") == 0 || strcmp(name, "rounded") == 0);
    }
    return n;
}

int cmd_accuracy(int argc, char **argv)
{
    struct command q = {.run = {.seed = 42}};
    check_status(ozg_config_init(&q.config), NULL);
    command_parse("accuracy", options, parse, "", doc, argc, argv, &q);
    if (q.families && strcmp(q.families, "list") == 0) {
        list_families();
        return EXIT_FINE;
    }
    int papers = paper_tables(&q);
    set_sizes(&q);
    json_t *results = q.grade ? run_grades(&q) : run_tables(&q, papers);
    int failed = q.run.broken + (q.grade ? below_a(results) : 0);
    json_t *o = facts(&q);
    json_object_set_new(o, q.grade ? "grades" : "tables", results);
    if (!q.json && q.run.promises)
        printf("\npromises of the library: %d checked, %d broken\n", q.run.promises, q.run.broken);
    if (q.json)
        print_json(o);
    else
        json_decref(o);
    ozg_destroy(q.run.machine.ctx);
    native_close(q.run.machine.blas);
    return failed ? EXIT_CHECK_FAILED : EXIT_FINE;
}
