/*
 * method.c - the ways to compute a product that "ozgemm accuracy" compares, run and timed alike.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "method.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "product.h"

static const char *const words[] = {"BLAS", "moduli", "native", "rounded"};

int methods_parse(const char *text, const char *what)
{
    int choice = 0;
    char *list = xstrdup(text), *save = NULL;
    for (char *word = strtok_r(list, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
        int kind = 0;
        while (kind < 4 && strcasecmp(word, words[kind]) != 0)
            kind++;
        if (kind == 4)
            fail("%s has '%s': give some of blas, moduli, native, rounded", what, word);
        choice |= 1 << kind;
    }
    free(list);
    if (choice == 0)
        fail("%s is empty: give some of blas, moduli, native, rounded", what);
    return choice;
}

int methods_list(int choice, const char *moduli, struct method *methods, int max)
{
    int n = 0, s[64];
    if (choice & 1 << METHOD_BLAS)
        methods[n++] = (struct method){METHOD_BLAS, 0};
    int count = choice & 1 << METHOD_MODULI ? parse_list(moduli, "--moduli", 2, 49, s, max - 3) : 0;
    for (int i = 0; i < count; i++)
        methods[n++] = (struct method){METHOD_MODULI, s[i]};
    if (choice & 1 << METHOD_NATIVE)
        methods[n++] = (struct method){METHOD_NATIVE, 0};
    if (choice & 1 << METHOD_ROUNDED)
        methods[n++] = (struct method){METHOD_ROUNDED, 0};
    return n;
}

const char *method_word(struct method method)
{
    return words[method.kind];
}

static ozg_accuracy accuracy_of(struct method method)
{
    if (method.kind == METHOD_MODULI)
        return ozg_moduli(method.moduli);
    return method.kind == METHOD_NATIVE ? ozg_native() : ozg_rounded();
}

/* run_once() - 1: C is there. The report may be NULL. */
static int run_once(const struct machine *machine, struct method method, const struct matrix *a,
                    const struct matrix *b, struct matrix *c, ozg_report *report, char *why, size_t room)
{
    if (method.kind == METHOD_BLAS) {
        if (machine->blas && native_gemm(machine->blas, a, b, c))
            return 1;
        snprintf(why, room, machine->blas ? "too large for this BLAS" : "no native BLAS was found");
        return 0;
    }
    struct product p =
        product_of(a->type, a->rows, b->cols, a->cols, a->data, b->data, c->data, accuracy_of(method));
    ozg_status status = product_run(machine->ctx, &p, report);
    if (status == OZG_E_UNSUPPORTED && method.kind != METHOD_MODULI) {
        snprintf(why, room, "%s (%s)", ozg_last_error(machine->ctx), ozg_status_name(status));
        return 0;
    }
    check_status(status, machine->ctx);
    return 1;
}

/*
 * The fastest of a few runs: until three are within a tenth of it, or 0.3 s are over. What takes longer runs
 * once.
 */
void method_run(const struct machine *machine, struct method method, const struct matrix *a,
                const struct matrix *b, struct matrix *c, struct outcome *out)
{
    enum { RUNS = 200 };
    const double most = 0.3;
    double seconds[RUNS], start = seconds_now();
    int alike = 1;
    memset(out, 0, sizeof *out);
    out->done = run_once(machine, method, a, b, c, &out->report, out->why, sizeof out->why);
    out->seconds = seconds[0] = seconds_now() - start;
    for (int n = 1; out->done && n < RUNS && alike < 3 && seconds_now() - start < most; n++) {
        double begin = seconds_now();
        run_once(machine, method, a, b, c, NULL, out->why, sizeof out->why);
        seconds[n] = seconds_now() - begin;
        out->seconds = seconds[n] < out->seconds ? seconds[n] : out->seconds;
        alike = 0;
        for (int i = 0; i <= n; i++)
            alike += seconds[i] <= 1.1 * out->seconds;
    }
}

void method_warm(const struct machine *machine, char type)
{
    enum { SIZE = 96 };
    struct outcome out;
    struct matrix a = matrix_alloc("A", type, SIZE, SIZE), b = matrix_alloc("B", type, SIZE, SIZE),
                  c = matrix_alloc("C", type, SIZE, SIZE);
    method_run(machine, (struct method){METHOD_BLAS, 0}, &a, &b, &c, &out);
    method_run(machine, (struct method){METHOD_MODULI, 8}, &a, &b, &c, &out);
    matrix_free(&a);
    matrix_free(&b);
    matrix_free(&c);
}

double native_factor(int64_t k)
{
    return sqrt((double)k) + 1;
}

double roundoff_unit(char type)
{
    return type_double(type) ? 0x1p-53 : 0x1p-24;
}

int promise_kept(struct method method, char type, int64_t k, const struct outcome *out,
                 const struct error_figures *e, char *why)
{
    const ozg_report *r = &out->report;
    double u = roundoff_unit(type);
    why[0] = '\0';
    if (method.kind == METHOD_BLAS || !out->done)
        return 1;
    if (!(e->largest <= r->bound))
        snprintf(why, 160, "|e| = %.3Lg, report.bound = %.3g", e->largest, r->bound);
    else if (r->exact && e->rounded < 100)
        snprintf(why, 160, "report.exact, but %.4f %% correctly rounded", e->rounded);
    else if (r->bound_relative > 0 && !(e->componentwise <= r->bound_relative))
        snprintf(why, 160, "%.3g u, report.bound_relative = %.3g u", e->componentwise / u,
                 r->bound_relative / u);
    else if (method.kind == METHOD_NATIVE && !(e->componentwise <= native_factor(k) * u))
        snprintf(why, 160, "%.3g u, promised are %.3g u", e->componentwise / u, native_factor(k));
    else if (method.kind == METHOD_ROUNDED && e->rounded < 100)
        snprintf(why, 160, "%.4f %% correctly rounded", e->rounded);
    return why[0] == '\0';
}
