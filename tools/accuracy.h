/*
 * accuracy.h - the tables of "ozgemm accuracy", as JSON facts and as text.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TOOL_ACCURACY_H
#define OZG_TOOL_ACCURACY_H

#include <jansson.h>

#include "trial.h"

/* What all tables of one run have in common. */
struct accuracy {
    int64_t m, n, k;
    uint64_t seed;
    int methods; /* a choice (method.h) */
    struct machine machine;
    struct progress bar;
    int promises, broken; /* rows whose promises were checked; those that broke one */
};

/* One table: of the paper [Xe2], or of the user. */
struct spec {
    int number; /* in the paper; 0: the user's own table of errors */
    char type;
    const char *families; /* names with commas */
    const char *moduli;   /* numbers with commas; table 7 looks for them itself */
};

/* Names of one list, split at the commas. */
struct names {
    char *list;
    const char *name[64];
    int count;
};

struct names names_of(const char *list);
void names_free(struct names *names);

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

/* Table 7: the rows of one family, the units of the bar, the rows as text. */
void fewest_rows(struct accuracy *q, char type, const char *family, json_t *rows);
double fewest_work(const struct accuracy *q, char type);
void fewest_print(const json_t *rows);

/* check_promise() - count this row, and say in it whether the library kept its promise. */
void check_promise(struct accuracy *q, json_t *row, struct method method, char type, int64_t k,
                   const struct outcome *out, const struct error_figures *e);

/* print_notes() - under a table: what is not supported, and every promise that was broken. */
void print_notes(const json_t *rows);

#endif
