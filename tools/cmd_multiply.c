/*
 * cmd_multiply.c - "ozgemm multiply": the product of two matrices in files.
 *
 * SPDX-License-Identifier: MIT
 */
#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "commands.h"
#include "matrix_io.h"
#include "product.h"
#include "progress.h"
#include "table.h"

enum {
    KEY_ACCURACY = 256,
    KEY_TRANSA,
    KEY_TRANSB,
    KEY_ALPHA,
    KEY_BETA,
    KEY_C,
    KEY_BACKEND,
    KEY_THREADS,
    KEY_MEMORY,
    KEY_KERNEL,
    KEY_TYPE,
    KEY_JSON
};

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "the product (needed): .h5, .npy or .mtx", 0},
    {"accuracy", KEY_ACCURACY, "WHAT", 0,
     "native (default), rounded, moduli=N, accurate=N, width=T or bits=B", 0},
    {"transa", KEY_TRANSA, "n|t|c", 0, "op(A): as it is, transposed, conjugate transposed", 0},
    {"transb", KEY_TRANSB, "n|t|c", 0, "op(B) likewise", 0},
    {"alpha", KEY_ALPHA, "X[,Y]", 0, "factor of the product, real and imaginary part (default 1)", 0},
    {"beta", KEY_BETA, "X[,Y]", 0, "factor of the matrix given by --c (default 1)", 0},
    {"c", KEY_C, "FILE", 0, "the matrix C of alpha op(A) op(B) + beta C", 0},
    {"type", KEY_TYPE, "d|s|z|c", 0,
     "compute in double, float, complex double, complex float (default: as the files need)", 0},
    {"backend", KEY_BACKEND, "NAME", 0, "cpu (default), cuda, or cuda:1 for the second GPU", 0},
    {"threads", KEY_THREADS, "N", 0, "CPU threads (default: as OpenMP says)", 0},
    {"memory", KEY_MEMORY, "SIZE", 0,
     "workspace at most, such as 512M (default: a quarter of the free memory)", 0},
    {"kernel", KEY_KERNEL, "NAME", 0, "CPU micro-kernel (ozgemm info lists them)", 0},
    {"json", KEY_JSON, NULL, 0, "print the summary as JSON", 0},
    {0}};

static const char doc[] = "Multiply the matrices of two files: alpha op(A) op(B) + beta C, rounded once.\v"
                          "Files: HDF5 (FILE.h5, or FILE.h5:/DATASET), NumPy (FILE.npy), Matrix Market "
                          "(FILE.mtx). An existing HDF5 output "
                          "keeps its other datasets.\n\nExample:\n  ozgemm multiply data.h5:/A data.h5:/B -o "
                          "C.npy --accuracy rounded";

struct multiply {
    const char *a, *b, *c, *out, *accuracy, *alpha, *beta;
    char transa, transb, type;
    ozg_config config;
    int json;
};

/* choice() - one of the letters, in the case that allowed has. */
static char choice(const char *arg, const char *what, const char *allowed)
{
    const char *lower = strlen(arg) == 1 ? strchr("ntcdszNTCDSZ", arg[0]) : NULL;
    for (const char *p = allowed; lower && *p; p++)
        if (tolower((unsigned char)*p) == tolower((unsigned char)arg[0]))
            return *p;
    fail("%s is '%s': give one of the letters %s", what, arg, allowed);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct multiply *q = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        quiet_argp(state);
        break;
    case 'o':
        q->out = arg;
        break;
    case KEY_ACCURACY:
        q->accuracy = arg;
        break;
    case KEY_TRANSA:
        q->transa = choice(arg, "--transa", "NTC");
        break;
    case KEY_TRANSB:
        q->transb = choice(arg, "--transb", "NTC");
        break;
    case KEY_ALPHA:
        q->alpha = arg;
        break;
    case KEY_BETA:
        q->beta = arg;
        break;
    case KEY_C:
        q->c = arg;
        break;
    case KEY_TYPE:
        q->type = choice(arg, "--type", "dszc");
        break;
    case KEY_THREADS:
        q->config.threads = (int)parse_int(arg, "--threads", 1, 4096);
        break;
    case KEY_MEMORY:
        q->config.memory_limit = parse_bytes(arg, "--memory");
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
        if (state->arg_num > 1)
            fail("multiply takes two matrices: '%s' is one too many", arg);
        *(state->arg_num == 0 ? &q->a : &q->b) = arg;
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static void parse_arguments(struct multiply *q, int argc, char **argv)
{
    *q = (struct multiply){.transa = 'N', .transb = 'N'};
    check_status(ozg_config_init(&q->config), NULL);
    command_parse("multiply", options, parse, "A B -o FILE", doc, argc, argv, q);
    if (q->b == NULL)
        fail("multiply needs two matrices: ozgemm multiply A B -o FILE");
    if (q->out == NULL)
        fail("multiply needs an output: add -o FILE");
    if (q->beta && !q->c &&
        (parse_scalar(q->beta, "--beta").d[0] != 0 || parse_scalar(q->beta, "--beta").d[1] != 0))
        fail("--beta needs a matrix: add --c FILE");
}

/* ---- the problem: matrices of one type whose shapes fit ----------------------------------------- */

struct problem {
    struct product p;
    struct matrix a, b, c;
};

static const char *size_text(const struct matrix *x, char trans, char *text)
{
    int64_t rows = trans == 'N' ? x->rows : x->cols, cols = trans == 'N' ? x->cols : x->rows;
    sprintf(text, "%lld x %lld", (long long)rows, (long long)cols);
    return text;
}

/* common_type() - the least type that holds all of it. */
static char common_type(const struct multiply *q, const struct problem *w)
{
    int twice = type_double(w->a.type) || type_double(w->b.type) || (q->c && type_double(w->c.type));
    int pair = type_complex(w->a.type) || type_complex(w->b.type) || (q->c && type_complex(w->c.type)) ||
               w->p.alpha.d[1] != 0 || w->p.beta.d[1] != 0;
    return "sdcz"[2 * pair + twice];
}

static void check_shapes(const struct multiply *q, const struct problem *w)
{
    char ta[64], tb[64], tc[64];
    const struct product *p = &w->p;
    size_text(&w->a, q->transa, ta);
    size_text(&w->b, q->transb, tb);
    if ((q->transb == 'N' ? w->b.rows : w->b.cols) != p->k)
        fail("op(A) is %s and op(B) is %s: the columns of op(A) must be as many as the rows of op(B)", ta,
             tb);
    if (q->c && (w->c.rows != p->m || w->c.cols != p->n))
        fail("C is %s and the product of %s and %s is %lld x %lld: the sizes must be equal",
             size_text(&w->c, 'N', tc), ta, tb, (long long)p->m, (long long)p->n);
}

/* read_problem() - files, types, shapes, accuracy. */
static void read_problem(const struct multiply *q, struct problem *w)
{
    static const struct scalar zero = {{0, 0}, {0, 0}};
    *w = (struct problem){.a = matrix_read(q->a), .b = matrix_read(q->b)};
    if (q->c)
        w->c = matrix_read(q->c);
    int64_t m = q->transa == 'N' ? w->a.rows : w->a.cols, k = q->transa == 'N' ? w->a.cols : w->a.rows;
    int64_t n = q->transb == 'N' ? w->b.cols : w->b.rows;
    w->p = product_of('d', m, n, k, NULL, NULL, NULL, ozg_moduli(2));
    w->p.alpha = parse_scalar(q->alpha ? q->alpha : "1", "--alpha");
    w->p.beta = q->c ? parse_scalar(q->beta ? q->beta : "1", "--beta") : zero;
    check_shapes(q, w);
    char type = q->type ? q->type : common_type(q, w);
    if (!type_complex(type) && (w->p.alpha.d[1] != 0 || w->p.beta.d[1] != 0))
        fail("--alpha or --beta is complex: give --type z or c, or no --type");
    matrix_convert(&w->a, type, q->a);
    matrix_convert(&w->b, type, q->b);
    if (q->c)
        matrix_convert(&w->c, type, q->c);
    else
        w->c = matrix_alloc("C", type, m, n);
    w->p = (struct product){.type = type,
                            .transa = q->transa,
                            .transb = q->transb,
                            .m = m,
                            .n = n,
                            .k = k,
                            .alpha = w->p.alpha,
                            .beta = w->p.beta,
                            .a = w->a.data,
                            .b = w->b.data,
                            .c = w->c.data,
                            .lda = matrix_ld(&w->a),
                            .ldb = matrix_ld(&w->b),
                            .ldc = matrix_ld(&w->c),
                            .accuracy = accuracy_parse(q->accuracy, type, k)};
}

/* ---- the run ------------------------------------------------------------------------------------ */

/* check_memory() - fail() if --memory is less than the product needs. */
static void check_memory(const struct multiply *q, const struct product *p)
{
    size_t least = product_least_memory(&q->config, p);
    if (least)
        fail("--memory is too little: this product needs at least %zuK", (least + 1023) / 1024);
}

/* show_progress() - the library says how much of the product is done. */
static void show_progress(void *arg, double done)
{
    struct progress *bar = arg;
    progress_step(bar, done - bar->done, "multiplying");
}

static void run(const struct multiply *q, const struct problem *w, ozg_report *report)
{
    struct progress bar;
    ozg_config config = q->config;
    ozg_context *ctx;
    progress_begin(&bar, 1);
    config.progress = show_progress;
    config.progress_arg = &bar;
    check_status(ozg_create(&ctx, &config), NULL);
    ozg_status status = product_run(ctx, &w->p, report);
    progress_end(&bar);
    check_status(status, ctx);
    ozg_destroy(ctx);
}

/* ---- the summary -------------------------------------------------------------------------------- */

/* largest() - the largest finite component of C. */
static double largest(const struct matrix *c)
{
    double most = 0;
    size_t count = (size_t)c->rows * (size_t)c->cols * (type_complex(c->type) ? 2 : 1);
    for (size_t e = 0; e < count; e++) {
        double v = fabs(type_double(c->type) ? ((double *)c->data)[e] : (double)((float *)c->data)[e]);
        if (v > most && v <= 1.7976931348623157e308)
            most = v;
    }
    return most;
}

static json_t *facts(const struct multiply *q, const struct problem *w, const ozg_report *r, double read,
                     double write)
{
    const struct product *p = &w->p;
    char shapes[160];
    double flops = (type_complex(p->type) ? 8.0 : 2.0) * (double)p->m * (double)p->n * (double)p->k;
    double most = largest(&w->c);
    snprintf(shapes, sizeof shapes, "(%lld x %lld) (%lld x %lld)", (long long)p->m, (long long)p->k,
             (long long)p->k, (long long)p->n);
    json_t *o = json_object();
    json_object_set_new(o, "a", json_text(q->a));
    json_object_set_new(o, "b", json_text(q->b));
    json_object_set_new(o, "output", json_text(q->out));
    json_object_set_new(o, "shapes", json_text(shapes));
    json_object_set_new(o, "m", json_integer(p->m));
    json_object_set_new(o, "n", json_integer(p->n));
    json_object_set_new(o, "k", json_integer(p->k));
    json_object_set_new(o, "type", json_stringn(&p->type, 1));
    json_object_set_new(o, "transa", json_stringn(&p->transa, 1));
    json_object_set_new(o, "transb", json_stringn(&p->transb, 1));
    json_object_set_new(o, "accuracy", json_text(q->accuracy ? q->accuracy : "native"));
    json_object_set_new(o, "emulated", json_boolean(r->emulated));
    json_object_set_new(o, "reason", json_text(r->reason));
    json_object_set_new(o, "backend", json_text(r->backend));
    json_object_set_new(o, "kernel", json_text(r->kernel));
    json_object_set_new(o, "scheme", json_text(r->scheme));
    json_object_set_new(o, "moduli", json_integer(r->moduli));
    json_object_set_new(o, "width", json_integer(r->width));
    json_object_set_new(o, "products", json_integer(r->products));
    json_object_set_new(o, "bound", json_number(r->bound));
    json_object_set_new(o, "largest_entry", json_number(most));
    json_object_set_new(o, "bound_over_largest", most > 0 ? json_number(r->bound / most) : json_null());
    json_object_set_new(o, "exact", json_boolean(r->exact));
    json_object_set_new(o, "tested", json_integer((json_int_t)r->tested));
    json_object_set_new(o, "repaired", json_integer((json_int_t)r->repaired));
    json_object_set_new(o, "special_rows", json_integer((json_int_t)r->special_rows));
    json_object_set_new(o, "special_cols", json_integer((json_int_t)r->special_cols));
    json_object_set_new(o, "tiles", json_integer((json_int_t)r->tiles));
    json_object_set_new(o, "k_chunks", json_integer((json_int_t)r->k_chunks));
    json_object_set_new(o, "workspace_bytes", json_integer((json_int_t)r->workspace_bytes));
    json_object_set_new(o, "seconds_read", json_number(read));
    json_object_set_new(o, "seconds_scale", json_number(r->seconds_scale));
    json_object_set_new(o, "seconds_split", json_number(r->seconds_split));
    json_object_set_new(o, "seconds_product", json_number(r->seconds_product));
    json_object_set_new(o, "seconds_reconstruct", json_number(r->seconds_reconstruct));
    json_object_set_new(o, "seconds_repair", json_number(r->seconds_repair));
    json_object_set_new(o, "seconds_total", json_number(r->seconds_total));
    json_object_set_new(o, "seconds_write", json_number(write));
    json_object_set_new(o, "gflops", json_number(r->seconds_total > 0 ? flops / r->seconds_total / 1e9 : 0));
    return o;
}

/* by_data() - is the accuracy native or rounded? */
static int by_data(const struct multiply *q)
{
    return !q->accuracy || strcmp(q->accuracy, "native") == 0 || strcmp(q->accuracy, "rounded") == 0;
}

/*
 * for_people() - the facts as the summary shows them: "emulated" only if it was not, and why; MiB for bytes;
 * how to keep more bits if some were rounded away.
 */
static json_t *for_people(const struct multiply *q, const struct problem *w, const ozg_report *r,
                          json_t *facts)
{
    json_t *o = json_copy(facts);
    int bits = r->width + 16, rounded = q->accuracy && strcmp(q->accuracy, "rounded") == 0;
    if (r->emulated)
        json_object_del(o, "emulated");
    else
        json_object_set_new(o, "emulated", json_sprintf("no: %s", r->reason));
    json_object_set_new(o, "workspace_mib", json_number((double)r->workspace_bytes / (1 << 20)));
    if (r->tested == 0 && r->repaired == 0) {
        json_object_del(o, "tested");
        json_object_del(o, "repaired");
    }
    if (!r->emulated || r->exact || rounded)
        return o;
    if (by_data(q))
        json_object_set_new(o, "more_accuracy", json_string("--accuracy rounded"));
    else if (ozg_moduli_for_bits(w->p.type, w->p.k, bits) > 0)
        json_object_set_new(o, "more_accuracy", json_sprintf("--accuracy bits=%d", bits));
    return o;
}

static void print_summary(json_t *o)
{
    static const struct column lines[] = {
        {"output", "output", NULL},
        {"shapes", "shapes", NULL},
        {"type", "type", NULL},
        {"emulated", "emulated", NULL},
        {"kernel", "kernel", NULL},
        {"accuracy", "accuracy", NULL},
        {"moduli", "moduli", NULL},
        {"width", "width (bits)", NULL},
        {"bound", "error bound, absolute", "%.2e"},
        {"bound_over_largest", "error bound / largest entry", "%.2e"},
        {"exact", "inputs kept exactly", NULL},
        {"tested", "entries tested", NULL},
        {"repaired", "entries computed exactly", NULL},
        {"more_accuracy", "more accuracy", NULL},
        {"special_rows", "rows with Inf or NaN", NULL},
        {"special_cols", "columns with Inf or NaN", NULL},
        {"tiles", "tiles", NULL},
        {"workspace_mib", "workspace (MiB)", "%.1f"},
        {"seconds_read", "read (s)", "%.3f"},
        {"seconds_scale", "scale (s)", "%.3f"},
        {"seconds_split", "split (s)", "%.3f"},
        {"seconds_product", "product (s)", "%.3f"},
        {"seconds_reconstruct", "reconstruct (s)", "%.3f"},
        {"seconds_repair", "repair (s)", "%.3f"},
        {"seconds_total", "whole product (s)", "%.3f"},
        {"seconds_write", "write (s)", "%.3f"},
        {"gflops", "rate (GFLOP/s)", "%.2f"},
    };
    summary_print(stdout, lines, sizeof lines / sizeof lines[0], o);
    json_decref(o);
}

int cmd_multiply(int argc, char **argv)
{
    struct multiply q;
    struct problem w;
    ozg_report report = {0};
    parse_arguments(&q, argc, argv);
    output_open(q.out);
    double start = seconds_now();
    read_problem(&q, &w);
    check_memory(&q, &w.p);
    double read = seconds_now() - start;
    run(&q, &w, &report);
    start = seconds_now();
    output_write(&w.c);
    json_t *o = facts(&q, &w, &report, read, seconds_now() - start);
    if (q.json)
        print_json(o);
    else {
        print_summary(for_people(&q, &w, &report, o));
        json_decref(o);
    }
    matrix_free(&w.a);
    matrix_free(&w.b);
    matrix_free(&w.c);
    return EXIT_FINE;
}
