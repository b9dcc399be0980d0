/*
 * accuracy.h - the tables of "ozgemm accuracy", as JSON facts and as text.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TOOL_ACCURACY_H
#define OZG_TOOL_ACCURACY_H

#include <jansson.h>

#include "native.h"
#include "ozgemm.h"
#include "progress.h"

/* What all tables of one run have in common. */
struct accuracy {
    int64_t m, n, k;
    uint64_t seed;
    struct native *native; /* NULL: no native rows */
    ozg_context *ctx;
    struct progress bar;
};

/* One table: of the paper [Xe2], or of the user. */
struct spec {
    int number; /* in the paper; 0: the user's own table of errors */
    char type;
    const char *families; /* names with commas */
    const char *moduli;   /* numbers with commas; table 7 looks for them itself */
};

/* accuracy_paper() - the table of this number as the paper has it; 0 if it is none of 2, 6, 7, 8, 13. */
int accuracy_paper(int number, struct spec *spec);

/* accuracy_check() - fail() if the families or moduli of the table make no sense. */
void accuracy_check(const struct accuracy *q, const struct spec *spec);

/* accuracy_work() - how long the table takes, in units of the bar. */
double accuracy_work(const struct accuracy *q, const struct spec *spec);

/* accuracy_table() - the facts: number, title, type, rows, families (names and what they are). */
json_t *accuracy_table(struct accuracy *q, const struct spec *spec);

/* accuracy_print() - the facts as text. */
void accuracy_print(const json_t *table);

#endif
