/*
 * bench_plot.c - the picture of "ozgemm speed", drawn by gnuplot, in the style of doc/accuracy.gp.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "bench_plot.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { MOST = 64 }; /* lines */

/* A line of the picture: all rows of this type, number of threads and way. */
struct line {
    const char *type, *method;
    json_int_t threads;
};

static const char *ending(const char *file)
{
    const char *dot = strrchr(file, '.');
    return dot ? dot : "";
}

void plot_check(const char *file)
{
    if (strcmp(ending(file), ".png") != 0 && strcmp(ending(file), ".svg") != 0)
        fail("--plot is '%s': give a file that ends in .png or .svg", file);
    for (const char *p = file; *p; p++)
        if (iscntrl((unsigned char)*p))
            fail("--plot is '%s': give a name without control characters", file);
    if (system("gnuplot --version >/dev/null 2>&1") != 0)
        fail("--plot needs gnuplot: install it, or leave --plot out");
}

/* put_text() - a string of gnuplot in single quotes, in which a quote is doubled. */
static void put_text(FILE *f, const char *text)
{
    fputc('\'', f);
    for (; *text; text++)
        fprintf(f, "%s%c", *text == '\'' ? "'" : "", *text);
    fputc('\'', f);
}

static struct line line_of(const json_t *row)
{
    return (struct line){json_string_value(json_object_get(row, "type")),
                         json_string_value(json_object_get(row, "method")),
                         json_integer_value(json_object_get(row, "threads"))};
}

static int same(struct line x, struct line y)
{
    return strcmp(x.type, y.type) == 0 && strcmp(x.method, y.method) == 0 && x.threads == y.threads;
}

/* ratio_of() - the median; on a GPU that under sustained load. */
static double ratio_of(const json_t *row)
{
    const json_t *sustained = json_object_get(row, "sustained");
    const json_t *ratio =
        sustained ? json_object_get(sustained, "ratio") : json_object_get(row, "ratio_median");
    return json_is_real(ratio) ? json_real_value(ratio) : 0;
}

/* size_of() - N of a cube; of another shape the side of the cube with as much work. */
static double size_of(const json_t *row)
{
    return cbrt(json_number_value(json_object_get(row, "m")) * json_number_value(json_object_get(row, "n")) *
                json_number_value(json_object_get(row, "k")));
}

/* find_lines() - those that have a ratio; returns how many. */
static int find_lines(const json_t *rows, struct line *lines)
{
    size_t i;
    int n = 0, known;
    const json_t *row;
    json_array_foreach((json_t *)rows, i, row)
    {
        known = ratio_of(row) <= 0 || n == MOST;
        for (int j = 0; j < n && !known; j++)
            known = same(lines[j], line_of(row));
        if (!known)
            lines[n++] = line_of(row);
    }
    return n;
}

/* put_points() - size and ratio of a line's rows, as inline data; "smooth unique" will sort them. */
static void put_points(FILE *f, int number, struct line line, const json_t *rows)
{
    size_t i;
    const json_t *row;
    fprintf(f, "$line%d << EOD\n", number);
    json_array_foreach((json_t *)rows, i, row) if (ratio_of(row) > 0 && same(line, line_of(row)))
        fprintf(f, "%.6g %.6g\n", size_of(row), ratio_of(row));
    fprintf(f, "EOD\n");
}

/* What all lines have in common goes to the title, what differs to their names. */
struct common {
    int type, threads;
};

static struct common common_of(const struct line *lines, int n)
{
    struct common all = {1, 1};
    for (int i = 1; i < n; i++) {
        all.type &= strcmp(lines[i].type, lines[0].type) == 0;
        all.threads &= lines[i].threads == lines[0].threads;
    }
    return all;
}

/* describe() - " dgemm, 2 threads": the parts that are wanted; no threads: a GPU. */
static void describe(char *text, size_t size, struct line line, int type, int threads)
{
    size_t used = 0;
    text[0] = '\0';
    if (type)
        used += (size_t)snprintf(text, size, ", %sgemm", line.type);
    if (threads && line.threads > 0)
        snprintf(text + used, size - used, ", %d thread%s", (int)line.threads, line.threads == 1 ? "" : "s");
}

/* put_style() - axes, grid and key; both axes in powers of two. what: the times of the ratios. */
static void put_style(FILE *f, const char *file, const char *title, const char *what)
{
    int png = strcmp(ending(file), ".png") == 0;
    fprintf(f, "set terminal %s\nset encoding utf8\nset output ",
            png ? "pngcairo size 880,540 font 'Arial,11' background 'white'"
                : "svg size 880,540 font 'Helvetica,Arial,sans-serif,14' background 'white' name 'speed'");
    put_text(f, file);
    fprintf(f, "\nset title noenhanced ");
    put_text(f, title);
    fprintf(f,
            "\nset xlabel 'N'\nset ylabel 'time / time of native BLAS (%s)' offset -0.5,0\n"
            "set logscale xy 2\nset format '%%g'\nset xtics nomirror\nset ytics nomirror\n"
            "set border 3 linecolor rgb '#666666'\n"
            "set grid ytics linecolor rgb '#e4e4e4' linewidth 1 linetype 1\n"
            "set key outside right top Left reverse noenhanced samplen 2.5 spacing 1.3\n"
            "set offsets graph 0.04, graph 0.04, graph 0.06, graph 0.06\n",
            what);
}

static void put_script(FILE *f, const char *file, const json_t *rows, const char *blas,
                       const struct line *lines, int n)
{
    static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                          "#e69f00", "#56b4e9", "#555555"};
    static const int marks[] = {7, 5, 9, 13, 11, 6, 4, 8};
    enum { COLOURS = sizeof colours / sizeof colours[0], MARKS = sizeof marks / sizeof marks[0] };
    struct common all = common_of(lines, n);
    char text[160], title[320];
    describe(text, sizeof text, lines[0], all.type, all.threads);
    snprintf(title, sizeof title, "Time / time of native BLAS (%.100s)%s; below 1 is faster", blas, text);
    for (int i = 0; i < n; i++)
        put_points(f, i, lines[i], rows);
    put_style(f, file, title, lines->threads > 0 ? "median" : "sustained");
    fprintf(f, "plot 1 with lines dashtype (10,8) linewidth 1.5 linecolor rgb '#555555' title 'native BLAS'");
    for (int i = 0; i < n; i++) {
        fprintf(
            f,
            ", \\\n $line%d using 1:2 smooth unique with linespoints linewidth 2 pointtype %d pointsize 0.8 "
            "linecolor rgb '%s' title ",
            i, marks[i % MARKS], colours[i % COLOURS]);
        snprintf(title, sizeof title, "%s", lines[i].method);
        describe(title + strlen(title), sizeof title - strlen(title), lines[i], !all.type, !all.threads);
        put_text(f, title);
    }
    fprintf(f, "\nunset output\n");
}

void plot_ratios(const char *file, const json_t *rows, const char *blas)
{
    struct line lines[MOST];
    int n = find_lines(rows, lines);
    if (n == 0)
        fail("--plot: there is no ratio to draw, as no row has a right result beside that of a native BLAS");
    FILE *f = popen("gnuplot >/dev/null 2>&1", "w");
    if (f == NULL)
        fail("--plot: gnuplot cannot be started");
    put_script(f, file, rows, blas, lines, n);
    int written = !ferror(f);
    if (pclose(f) != 0 || !written)
        fail("%s: gnuplot cannot write this picture: name another file", file);
}
