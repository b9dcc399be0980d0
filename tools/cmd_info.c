/*
 * cmd_info.c - "ozgemm info": what is available on this machine and what would be used.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "commands.h"
#include "native.h"
#include "product.h"
#include "reference.h"
#include "table.h"

enum { KEY_BLAS = 256, KEY_JSON };

static const struct argp_option options[] = {
    {"blas", KEY_BLAS, "FILE", 0, "the native BLAS (default: libblas.so.3, then OpenBLAS)", 0},
    {"json", KEY_JSON, NULL, 0, "print as JSON", 0},
    {0}};

static const char doc[] = "Say what is available on this machine and what would be used.";

struct info {
    const char *blas;
    int json;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct info *q = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        quiet_argp(state);
        break;
    case KEY_BLAS:
        q->blas = arg;
        break;
    case KEY_JSON:
        q->json = 1;
        break;
    case ARGP_KEY_ARG:
        fail("info takes no '%s': leave it out", arg);
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const int64_t inner[] = {256, 1024, 4096, 16384, 65536};
enum { NINNER = sizeof inner / sizeof inner[0] };

/* inner_key() - "k4096". */
static const char *inner_key(int i)
{
    static char text[NINNER][24];
    snprintf(text[i], sizeof text[i], "k%lld", (long long)inner[i]);
    return text[i];
}

/* moduli_for_bits() - the fewest moduli for the bits of a number of the type, by k. */
static json_t *moduli_for_bits(void)
{
    json_t *rows = json_array();
    for (const char *type = "dszc"; *type; type++) {
        json_t *row = json_pack("{s:s#, s:i}", "type", type, 1, "bits", default_bits(*type));
        for (int i = 0; i < NINNER; i++)
            json_object_set_new(row, inner_key(i),
                                json_integer(ozg_moduli_for_bits(*type, inner[i], default_bits(*type))));
        json_array_append_new(rows, row);
    }
    return rows;
}

/* widths() - the width of each number of moduli, real types, by k; complex types have the width of twice the
 * k. */
static json_t *widths(void)
{
    json_t *rows = json_array();
    for (int s = 2; s <= 48; s += 2) {
        json_t *row = json_pack("{s:i}", "moduli", s);
        for (int i = 0; i < NINNER; i++) {
            int t = ozg_width_of_moduli('d', inner[i], s);
            json_object_set_new(row, inner_key(i), t > 0 ? json_integer(t) : json_null());
        }
        json_array_append_new(rows, row);
    }
    return rows;
}

/* kernels() - the micro-kernels of this machine, fastest first. */
static json_t *kernels(void)
{
    json_t *names = json_array();
    for (int i = 0; ozg_kernel_name(i); i++)
        json_array_append_new(names, json_text(ozg_kernel_name(i)));
    return names;
}

/* backends() - those that this machine can use. */
static json_t *backends(void)
{
    json_t *names = json_pack("[s]", "cpu");
    if (ozg_device_name(OZG_BACKEND_CUDA, 0))
        json_array_append_new(names, json_string("cuda"));
    return names;
}

/* gpus() - names of the CUDA devices, in the order of their numbers. */
static json_t *gpus(void)
{
    json_t *names = json_array();
    for (int i = 0; ozg_device_name(OZG_BACKEND_CUDA, i); i++)
        json_array_append_new(names, json_text(ozg_device_name(OZG_BACKEND_CUDA, i)));
    return names;
}

/* threads_used() - as OpenMP says, if the library was built with it. */
static int threads_used(void)
{
    int (*max_threads)(void) = NULL;
    *(void **)&max_threads = dlsym(RTLD_DEFAULT, "omp_get_max_threads");
    return max_threads ? max_threads() : 1;
}

static json_t *variable(const char *name)
{
    const char *value = getenv(name);
    return value ? json_text(value) : json_null();
}

/* default_memory_limit() - what a context takes if it is not told. */
static size_t default_memory_limit(void)
{
    ozg_context *ctx;
    check_status(ozg_create(&ctx, NULL), NULL);
    size_t limit = ozg_memory_limit(ctx);
    ozg_destroy(ctx);
    return limit;
}

static json_t *facts(const struct info *q)
{
    struct native *blas = native_open(q->blas);
    if (q->blas && blas == NULL)
        fail("%s: is no BLAS with sgemm_, dgemm_, cgemm_ and zgemm_: name another file", q->blas);
    json_t *o = json_object();
    json_object_set_new(o, "version", json_text(ozg_version()));
    json_object_set_new(o, "backends", backends());
    json_object_set_new(o, "gpus", gpus());
    json_object_set_new(o, "kernels", kernels());
    json_object_set_new(o, "kernel", json_text(ozg_kernel_name(0)));
    json_object_set_new(o, "processors", json_integer(processors()));
    json_object_set_new(o, "threads", json_integer(threads_used()));
    json_object_set_new(o, "memory_limit_bytes", json_integer((json_int_t)default_memory_limit()));
    json_object_set_new(o, "moduli_for_bits", moduli_for_bits());
    json_object_set_new(o, "widths", widths());
    json_object_set_new(o, "native_blas", blas ? json_text(native_path(blas)) : json_null());
    json_object_set_new(o, "native_blas_core",
                        blas && native_core(blas) ? json_text(native_core(blas)) : json_null());
    json_object_set_new(o, "OPENBLAS_CORETYPE", variable("OPENBLAS_CORETYPE"));
    json_object_set_new(o, "OPENBLAS_L2_SIZE", variable("OPENBLAS_L2_SIZE"));
    json_object_set_new(o, "exact_reference", json_boolean(reference_available()));
    native_close(blas);
    return o;
}

static void print_by_k(const char *title, const json_t *rows, const struct column *first, int nfirst)
{
    static const char *const heads[NINNER] = {"k=256", "k=1024", "k=4096", "k=16384", "k=65536"};
    struct column columns[2 + NINNER];
    for (int i = 0; i < nfirst; i++)
        columns[i] = first[i];
    for (int i = 0; i < NINNER; i++)
        columns[nfirst + i] = (struct column){inner_key(i), heads[i], NULL};
    printf("\n%s\n", title);
    table_print(stdout, columns, nfirst + NINNER, rows);
}

static void print_facts(const json_t *o)
{
    static const struct column lines[] = {
        {"version", "version", NULL},
        {"backends", "backends", NULL},
        {"gpus", "GPUs", NULL},
        {"kernels", "kernels, fastest first", NULL},
        {"kernel", "kernel for large products", NULL},
        {"processors", "processors", NULL},
        {"threads", "threads used", NULL},
        {"memory_limit_bytes", "workspace limit (bytes)", NULL},
        {"native_blas", "native BLAS", NULL},
        {"native_blas_core", "native BLAS core", NULL},
        {"OPENBLAS_CORETYPE", "OPENBLAS_CORETYPE (slows OpenBLAS)", NULL},
        {"OPENBLAS_L2_SIZE", "OPENBLAS_L2_SIZE (slows OpenBLAS)", NULL},
        {"exact_reference", "exact reference built in", NULL},
    };
    static const struct column type[] = {{"type", "type", NULL}, {"bits", "bits", NULL}};
    static const struct column moduli[] = {{"moduli", "moduli", NULL}};
    summary_print(stdout, lines, sizeof lines / sizeof lines[0], o);
    print_by_k("Fewest moduli for the bits of a number (--accuracy bits)",
               json_object_get(o, "moduli_for_bits"), type, 2);
    print_by_k("Width in bits of a number of moduli (real; complex: as real with 2 k)",
               json_object_get(o, "widths"), moduli, 1);
}

int cmd_info(int argc, char **argv)
{
    struct info q = {0};
    command_parse("info", options, parse, "", doc, argc, argv, &q);
    json_t *o = facts(&q);
    if (q.json)
        print_json(o);
    else {
        print_facts(o);
        json_decref(o);
    }
    return EXIT_FINE;
}
