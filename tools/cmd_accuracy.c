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
#include "reference.h"

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
    {"tables", KEY_TABLES, "LIST", 0,
     "tables of the Xe2 paper: 2, 6, 7, 8, 13 (default: 2,6,8,13; table 7 takes long)", 0},
    {"families", KEY_FAMILIES, "LIST", 0, "matrices for a table of your own (default: uni,phi2,sincos)", 0},
    {"moduli", KEY_MODULI, "LIST", 0, "numbers of moduli (default: those of the table)", 0},
    {"type", KEY_TYPE, "d|z|s|c", 0, "type for a table of your own (default: d)", 0},
    {NULL, 'm', "M", 0, "rows of the product (default: 512)", 0},
    {NULL, 'n', "N", 0, "columns of the product (default: 512)", 0},
    {NULL, 'k', "K", 0, "inner dimension (default: 4096)", 0},
    {"seed", KEY_SEED, "S", 0, "seed of the random matrices (default: 42)", 0},
    {"blas", KEY_BLAS, "FILE", 0, "the native BLAS (default: libblas.so.3, then OpenBLAS)", 0},
    {"threads", KEY_THREADS, "N", 0, "CPU threads of the emulation", 0},
    {"kernel", KEY_KERNEL, "NAME", 0, "CPU micro-kernel", 0},
    {"json", KEY_JSON, NULL, 0, "print as JSON", 0},
    {0}};

static const char doc[] =
    "Print the errors of the emulated and the native product against the exact one.\v"
    "Without --tables, any of --families, --moduli and --type asks for one table of your own.\n\n"
    "Example:\n  ozgemm accuracy --families uni,phi2 --moduli 14,16,18 -m 200 -n 200 -k 1000";

enum { MAX_TABLES = 8 };

struct command {
    const char *tables, *families, *moduli, *blas;
    char type;
    int json;
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

/* choose() - the tables to make; returns how many. */
static int choose(const struct command *q, struct spec *specs)
{
    int numbers[MAX_TABLES], n = 1;
    if (q->tables || !(q->families || q->moduli || q->type)) {
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
            specs[i].families = q->families;
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
static void print_head(const struct command *q, int native_used)
{
    const struct native *lib = q->run.native;
    if (native_used && lib == NULL)
        printf("native BLAS: none found, so the native rows are missing\n");
    else if (native_used && native_core(lib))
        printf("native BLAS: %s, core %s\n", native_path(lib), native_core(lib));
    else if (native_used)
        printf("native BLAS: %s\n", native_path(lib));
    printf("s: moduli; t: bits kept of each scaled row and column; CR: correctly rounded entries\n\n");
}

/* open_run() - what the tables need: the exact reference, the native BLAS, a context. */
static void open_run(struct command *q, const struct spec *specs, int n)
{
    double work = 0;
    for (int i = 0; i < n; i++)
        work += accuracy_work(&q->run, &specs[i]);
    if (work > 0 && !reference_available())
        fail("%s", reference_missing);
    q->run.native = native_open(q->blas);
    if (q->blas && q->run.native == NULL)
        fail("%s: is no BLAS with sgemm_, dgemm_, cgemm_ and zgemm_: name another file", q->blas);
    check_status(ozg_create(&q->run.ctx, &q->config), NULL);
    if (!q->json)
        print_head(q, work > 0);
    progress_begin(&q->run.bar, work);
}

static json_t *facts(const struct command *q, json_t *tables)
{
    const struct accuracy *run = &q->run;
    json_t *o = json_pack("{s:s, s:I, s:I, s:I, s:I}", "version", ozg_version(), "m", (json_int_t)run->m, "n",
                          (json_int_t)run->n, "k", (json_int_t)run->k, "seed", (json_int_t)run->seed);
    json_object_set_new(o, "native_blas", run->native ? json_text(native_path(run->native)) : json_null());
    json_object_set_new(o, "native_blas_core",
                        run->native && native_core(run->native) ? json_text(native_core(run->native))
                                                                : json_null());
    json_object_set_new(o, "tables", tables);
    return o;
}

int cmd_accuracy(int argc, char **argv)
{
    struct command q = {.run = {.m = 512, .n = 512, .k = 4096, .seed = 42}};
    struct spec specs[MAX_TABLES];
    check_status(ozg_config_init(&q.config), NULL);
    command_parse("accuracy", options, parse, "", doc, argc, argv, &q);
    if (q.families && strcmp(q.families, "list") == 0) {
        list_families();
        return EXIT_FINE;
    }
    json_t *tables = json_array();
    int n = choose(&q, specs);
    open_run(&q, specs, n);
    for (int i = 0; i < n; i++) {
        json_t *table = accuracy_table(&q.run, &specs[i]);
        progress_end(&q.run.bar);
        if (!q.json) { /* each as soon as it is there */
            accuracy_print(table);
            printf("%s", i + 1 < n ? "\n" : "");
            fflush(stdout);
        }
        json_array_append_new(tables, table);
    }
    json_t *o = facts(&q, tables);
    if (q.json)
        print_json(o);
    else
        json_decref(o);
    ozg_destroy(q.run.ctx);
    native_close(q.run.native);
    return EXIT_FINE;
}
