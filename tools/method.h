/*
 * method.h - the ways to compute a product that "ozgemm accuracy" compares, run and timed alike.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TOOL_METHOD_H
#define OZG_TOOL_METHOD_H

#include "matrix.h"
#include "native.h"
#include "ozgemm.h"
#include "reference.h"

enum method_kind {
    METHOD_BLAS,   /* ?gemm of the native BLAS */
    METHOD_MODULI, /* ozg_moduli(s) */
    METHOD_NATIVE, /* ozg_native() */
    METHOD_ROUNDED /* ozg_rounded() */
};

struct method {
    enum method_kind kind;
    int moduli; /* of METHOD_MODULI */
};

/* What the methods run on. */
struct machine {
    ozg_context *ctx;
    struct native *blas; /* NULL: there is none */
};

/* What one method did. */
struct outcome {
    int done;          /* C was computed */
    char why[256];     /* else: why not, in one sentence */
    ozg_report report; /* of ozgemm; zeros for the BLAS */
    double seconds;    /* the fastest of a few runs */
};

/* A choice of kinds is a sum of 1 << kind. */
enum { METHODS_ALL = 1 << METHOD_BLAS | 1 << METHOD_MODULI | 1 << METHOD_NATIVE | 1 << METHOD_ROUNDED };

/* methods_parse() - a choice such as "blas,rounded"; fail() if a name is wrong. */
int methods_parse(const char *text, const char *what);

/* methods_list() - the methods of a choice, with these numbers of moduli; returns how many. */
int methods_list(int choice, const char *moduli, struct method *methods, int max);

/* method_word() - "BLAS", "moduli", "native" or "rounded". */
const char *method_word(struct method method);

/*
 * method_run() - C := A B. What ozgemm does not support is an outcome, any other error a fail(). Short
 * products run several times.
 */
void method_run(const struct machine *machine, struct method method, const struct matrix *a,
                const struct matrix *b, struct matrix *c, struct outcome *out);

/* method_warm() - a small product of each, so that threads and memory are there before time is taken. */
void method_warm(const struct machine *machine, char type);

/* native_factor() - f(k) of ozg_native(): |e| <= f(k) u |A||B| (doc/numerics.md). */
double native_factor(int64_t k);

/* roundoff_unit() - u: 2^-53, for float types 2^-24. */
double roundoff_unit(char type);

/*
 * promise_kept() - does C with these errors (and one rounding forgiven) keep what the library promises: the
 * bounds of the report, the factor of native, every rounding of rounded? why says what not, room for 160.
 */
int promise_kept(struct method method, char type, int64_t k, const struct outcome *out,
                 const struct error_figures *e, char *why);

#endif
