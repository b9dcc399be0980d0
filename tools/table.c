/*
 * table.c - small ASCII tables over JSON facts.
 *
 * SPDX-License-Identifier: MIT
 */
#include "table.h"

#include <string.h>

enum { CELL = 512 };

/* join() - the texts of an array with blanks between. */
static void join(char *text, const json_t *array)
{
    size_t i, used = 0;
    const json_t *item;
    text[0] = '\0';
    json_array_foreach((json_t *)array, i, item)
    {
        const char *word = json_string_value(item);
        if (word && used + strlen(word) + 2 < CELL)
            used += (size_t)snprintf(text + used, CELL - used, "%s%s", i ? " " : "", word);
    }
}

/* cell() - the fact as text; returns whether it is a number. */
static int cell(char *text, const json_t *value, const char *format)
{
    if (json_is_integer(value))
        snprintf(text, CELL, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value)) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(text, CELL, format ? format : "%g", json_real_value(value));
#pragma GCC diagnostic pop
    } else if (json_is_string(value))
        snprintf(text, CELL, "%s", json_string_value(value));
    else if (json_is_boolean(value))
        snprintf(text, CELL, "%s", json_is_true(value) ? "yes" : "no");
    else if (json_is_array(value))
        join(text, value);
    else
        snprintf(text, CELL, "-");
    return !json_is_string(value) && !json_is_boolean(value);
}

/* column_width() - the longest text of a column, heading included. */
static int column_width(const struct column *c, const json_t *rows, int *numeric)
{
    char text[CELL];
    size_t index, width = strlen(c->head);
    const json_t *row;
    *numeric = 1;
    json_array_foreach((json_t *)rows, index, row)
    {
        *numeric &= cell(text, json_object_get(row, c->key), c->format);
        if (strlen(text) > width)
            width = strlen(text);
    }
    return (int)width;
}

/* line_print() - one line of the table; row NULL: the headings. */
static void line_print(FILE *f, const struct column *columns, int n, const int *width, const int *numeric,
                       const json_t *row)
{
    char text[CELL];
    for (int c = 0; c < n; c++) {
        const char *gap = c + 1 < n ? "  " : "";
        if (row)
            cell(text, json_object_get(row, columns[c].key), columns[c].format);
        else
            snprintf(text, CELL, "%s", columns[c].head);
        if (numeric[c])
            fprintf(f, "%*s%s", width[c], text, gap);
        else
            fprintf(f, "%-*s%s", c + 1 < n ? width[c] : 0, text, gap);
    }
    fputc('\n', f);
}

void table_print(FILE *f, const struct column *columns, int ncolumns, const json_t *rows)
{
    enum { MAX = 16 };
    int width[MAX] = {0}, numeric[MAX] = {0}, total = 0;
    size_t index;
    const json_t *row;
    if (ncolumns > MAX)
        ncolumns = MAX;
    for (int c = 0; c < ncolumns; c++) {
        width[c] = column_width(&columns[c], rows, &numeric[c]);
        total += width[c] + (c + 1 < ncolumns ? 2 : 0);
    }
    line_print(f, columns, ncolumns, width, numeric, NULL);
    for (int i = 0; i < total; i++)
        fputc('-', f);
    fputc('\n', f);
    json_array_foreach((json_t *)rows, index, row) line_print(f, columns, ncolumns, width, numeric, row);
}

void summary_print(FILE *f, const struct column *lines, int nlines, const json_t *object)
{
    char text[CELL];
    int width = 0;
    for (int i = 0; i < nlines; i++)
        if ((int)strlen(lines[i].head) > width)
            width = (int)strlen(lines[i].head);
    for (int i = 0; i < nlines; i++) {
        const json_t *value = json_object_get(object, lines[i].key);
        if (value == NULL || (json_is_string(value) && json_string_length(value) == 0))
            continue;
        cell(text, value, lines[i].format);
        fprintf(f, "%-*s  %s\n", width, lines[i].head, text);
    }
}
