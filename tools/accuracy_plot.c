/*
 * accuracy_plot.c - "ozgemm accuracy --plot": error against time, one panel a family, drawn by gnuplot.
 *
 * doc/methods.svg is made by
 *
 *     OPENBLAS_NUM_THREADS=1 ozgemm accuracy --threads 1 -m 256 -n 256 -k 2048 \
 *         --families uni,phi1,phi2,phi4,spike,inside,cancel,pos --moduli 12,13,14,15,16,17,18,20,22,24 \
 *         --plot doc/methods.svg
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "accuracy_plot.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* The errors shown: those below count as the smallest, as a line from 0 to 10^-11 says nothing. */
static const double least_error = 0.01;

/* The series of a panel, in the order of the key. */
static const struct {
    const char *method, *title, *style;
    const char *label; /* place and colour of the number of moduli */
} series[] = {
    {"moduli", "s moduli: fixed width (numbers: s)",
     "with linespoints linewidth 1.5 pointtype 7 pointsize 0.4 linecolor rgb '#0072b2'",
     "right offset -0.8,0 textcolor rgb '#0072b2'"},
    {"BLAS", "native BLAS", "with points pointtype 2 pointsize 1.1 linewidth 2.5 linecolor rgb '#444444'",
     ""},
    {"native", "native (number: s)", "with points pointtype 13 pointsize 1.5 linecolor rgb '#d55e00'",
     "center offset 0,0.9 textcolor rgb '#b04c00'"},
    {"rounded", "rounded (number: s)", "with points pointtype 9 pointsize 1.4 linecolor rgb '#009e73'",
     "left offset 0.9,0 textcolor rgb '#007a59'"},
};

static const char promise_style[] = "dashtype (8,6) linewidth 1 linecolor rgb '#d55e00'";

enum { NSERIES = sizeof series / sizeof series[0] };

static int png(const char *file)
{
    size_t length = strlen(file);
    return length > 4 && strcmp(file + length - 4, ".png") == 0;
}

void accuracy_plot_check(const char *file)
{
    size_t length = strlen(file);
    if (!png(file) && (length <= 4 || strcmp(file + length - 4, ".svg") != 0))
        fail("--plot is '%s': give a name that ends in .svg or .png", file);
    if (strpbrk(file, "'\n"))
        fail("--plot is '%s': give a name without quotes and line breaks", file);
    if (system("command -v gnuplot >/dev/null 2>&1") != 0)
        fail("--plot needs gnuplot, which is not installed");
}

static double real_of(const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static const char *text_of(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text ? text : "";
}

/* time_key() - time as a ratio to the BLAS, if there is one. */
static const char *time_key(const json_t *rows)
{
    return json_is_number(json_object_get(json_array_get(rows, 0), "time_ratio")) ? "time_ratio" : "seconds";
}

/* limits() - common axes: the largest error and the range of times, in whole factors. */
static void limits(FILE *f, const json_t *rows, const char *key)
{
    size_t index;
    const json_t *row;
    double top = 1e3, lo = INFINITY, hi = 0;
    json_array_foreach((json_t *)rows, index, row)
    {
        top = fmax(top, real_of(row, "error_u"));
        lo = fmin(lo, real_of(row, key));
        hi = fmax(hi, real_of(row, key));
    }
    fprintf(f, "set yrange [%g:%g]\n", least_error / 3, 10 * top);
    fprintf(f,
            "set ytics ('<0.01' %g, '1' 1, '10^{4}' 1e4, '10^{8}' 1e8, '10^{12}' 1e12, '10^{16}' 1e16) "
            "nomirror\n",
            least_error);
    fprintf(f, "set xrange [%g:%g]\n", lo / 2, hi * 2);
    fprintf(f, hi / lo < 100
                   ? "set xtics (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) nomirror\n"
                   : "set xtics 10 nomirror\n");
}

/*
 * points() - the data of one series of one family as a named block: time, error, and s, which is a label
 * where there is room for one. Returns how many points there are.
 */
static int points(FILE *f, const json_t *rows, const char *key, const char *family, int which)
{
    int n = 0;
    size_t index;
    const json_t *row;
    double last = 0; /* log10 of the error that has the last label */
    fprintf(f, "$s%d << EOD\n", which);
    json_array_foreach((json_t *)rows, index, row)
    {
        double x = real_of(row, key), y = real_of(row, "error_u"), s = real_of(row, "moduli");
        if (strcmp(text_of(row, "family"), family) != 0 ||
            strcmp(text_of(row, "method"), series[which].method) != 0 || isnan(x))
            continue;
        y = isnan(y) ? 1e300 : fmax(y, least_error); /* an infinite error: at the upper edge */
        int label = !isnan(s) && (n == 0 || fabs(log10(y) - last) > 1.3);
        last = label ? log10(y) : last;
        fprintf(f, label ? "%.6g %.6g %.0f\n" : "%.6g %.6g \"\"\n", x, y, s);
        n++;
    }
    fprintf(f, "EOD\n");
    return n;
}

/* panel() - one family. */
static void panel(FILE *f, const json_t *rows, const char *key, const char *family)
{
    int have[NSERIES];
    for (int i = 0; i < NSERIES; i++)
        have[i] = points(f, rows, key, family, i);
    fprintf(f, "set title '%s' offset 0,-0.6\nplot promise with lines %s notitle", family, promise_style);
    for (int i = 0; i < NSERIES; i++) {
        if (!have[i])
            continue;
        fprintf(f, ", \\\n    $s%d using 1:2 %s notitle", i, series[i].style);
        if (*series[i].label)
            fprintf(f, ", \\\n    $s%d using 1:2:3 with labels %s font ',9' notitle", i, series[i].label);
    }
    fprintf(f, "\n");
}

/* key_panel() - the last cell: what the marks mean. */
static void key_panel(FILE *f)
{
    fprintf(f, "unset title\nunset border\nunset tics\nunset grid\nset lmargin 0\n"
               "set key at graph 0,0.95 left top vertical Left reverse samplen 2 spacing 1.4\nplot ");
    for (int i = 0; i < NSERIES; i++)
        fprintf(f, "NaN %s title '%s', \\\n    ", series[i].style, series[i].title);
    fprintf(f, "NaN with lines %s title 'promise of native'\n", promise_style);
}

/* script() - everything that gnuplot is told. */
static void script(FILE *f, const char *file, const char *output, const json_t *table)
{
    const json_t *rows = json_object_get(table, "rows"), *families = json_object_get(table, "families");
    const char *key = time_key(rows), *family;
    json_t *text;
    int cells = (int)json_object_size(families) + 1;
    int columns = 2 + (cells > 4) + (cells > 9) + (cells > 16), lines = (cells + columns - 1) / columns;
    fprintf(f, "set terminal %s size %d,%d font '%s' background 'white'%s\n", png(file) ? "pngcairo" : "svg",
            330 * columns, 260 * lines + 55, png(file) ? "Arial,10" : "Helvetica,Arial,sans-serif,12",
            png(file) ? "" : " name 'methods'");
    fprintf(f, "set encoding utf8\nset output '%s'\n", output);
    fprintf(f,
            "set multiplot layout %d,%d title \"%s\\nup: largest |e|/(u|A||B|) against the exact product\\n"
            "right: time of one product%s\"\n",
            lines, columns, text_of(table, "title"),
            strcmp(key, "time_ratio") == 0 ? " / time of the native BLAS" : " in seconds");
    fprintf(f,
            "set logscale xy\nset border 3 linecolor rgb '#666666'\n"
            "set grid ytics linecolor rgb '#e4e4e4' linewidth 1 linetype 1\nunset key\nunset mytics\n"
            "set lmargin 8\npromise = %g\n",
            real_of(table, "native_promise_u"));
    limits(f, rows, key);
    json_object_foreach((json_t *)families, family, text) panel(f, rows, key, family);
    key_panel(f);
    fprintf(f, "unset multiplot\nset output\n");
}

void accuracy_plot_write(const char *file, const json_t *table)
{
    size_t room = strlen(file) + 8;
    char *part = xmalloc(room);
    snprintf(part, room, "%s.part", file);
    FILE *f = popen("gnuplot", "w");
    if (f == NULL)
        fail("gnuplot cannot be started: %s", strerror(errno));
    script(f, file, part, table);
    int status = pclose(f);
    if (status != 0 || rename(part, file) != 0) {
        remove(part);
        fail("%s: gnuplot could not draw it", file);
    }
    free(part);
}
