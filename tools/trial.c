/*
 * trial.c - one family of matrices: its exact product, and the errors of each method.
 *
 * SPDX-License-Identifier: MIT
 */
#include "trial.h"

#include <string.h>

#include "cli.h"
#include "families.h"

struct trial trial_open(char type, const char *name, int64_t m, int64_t n, int64_t k, uint64_t seed,
                        struct progress *bar)
{
    double phi;
    const struct family *f = family_find(name, &phi);
    struct trial t = {
        .name = name,
        .a = matrix_alloc("A", type, m, k),
        .b = matrix_alloc("B", type, k, n),
        .c = matrix_alloc("C", type, m, n),
    };
    family_fill(f, phi, seed, &t.a, &t.b);
    t.exact = reference_make(&t.a, &t.b, bar);
    return t;
}

void trial_close(struct trial *t)
{
    reference_free(t->exact);
    matrix_free(&t->a);
    matrix_free(&t->b);
    matrix_free(&t->c);
}

double trial_units(char type, int64_t m, int64_t n, int64_t k)
{
    return (double)m * (double)n * (double)k * (type_complex(type) ? 3 : 1);
}

int trial_run(struct trial *t, const struct machine *machine, struct method method, double roundings,
              struct outcome *out, struct error_figures *e, struct progress *bar)
{
    memset(e, 0, sizeof *e);
    method_run(machine, method, &t->a, &t->b, &t->c, out);
    if (out->done)
        *e = reference_compare_sums(t->exact, &t->c, roundings);
    progress_step(bar, trial_units(t->a.type, t->c.rows, t->c.cols, t->a.cols) / 20, t->name);
    return out->done;
}
