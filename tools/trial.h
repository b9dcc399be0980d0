/*
 * trial.h - one family of matrices: its exact product, and the errors of each method.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TOOL_TRIAL_H
#define OZG_TOOL_TRIAL_H

#include "method.h"
#include "progress.h"

struct trial {
    const char *name; /* of the family */
    struct matrix a, b, c;
    struct reference *exact;
};

/* trial_open() - matrices and exact product; name was checked. bar gets m n k units (complex: 3 m n k). */
struct trial trial_open(char type, const char *name, int64_t m, int64_t n, int64_t k, uint64_t seed,
                        struct progress *bar);

void trial_close(struct trial *t);

/*
 * trial_run() - run the method and compare, with so many roundings forgiven (reference.h). Returns out->done;
 * e is then filled. bar gets a twentieth of the units of trial_open().
 */
int trial_run(struct trial *t, const struct machine *machine, struct method method, double roundings,
              struct outcome *out, struct error_figures *e, struct progress *bar);

/* trial_units() - the units of trial_open(). */
double trial_units(char type, int64_t m, int64_t n, int64_t k);

#endif
