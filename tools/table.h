/*
 * table.h - small ASCII tables over JSON facts.
 *
 * A command collects its facts once, as JSON: an object for a summary, an array of objects for a table. These
 * functions are the human view of the same facts.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TOOL_TABLE_H
#define OZG_TOOL_TABLE_H

#include <stdio.h>
#include <jansson.h>

/* One column (or one line of a summary): the key of the fact, its heading with the unit, how to print it. */
struct column {
    const char *key;
    const char *head;
    const char *format; /* for reals, a printf format of one double such as "%.2e"; NULL: "%g" */
};

/* table_print() - heading, rule and one line for each object of rows; numbers right, texts left. A missing
 * or null fact is shown as "-". */
void table_print(FILE *f, const struct column *columns, int ncolumns, const json_t *rows);

/* summary_print() - one line "heading  value" for each fact of the object that is present and not empty. */
void summary_print(FILE *f, const struct column *lines, int nlines, const json_t *object);

#endif
