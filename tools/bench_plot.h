/*
 * bench_plot.h - the picture of "ozgemm speed", drawn by gnuplot.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TOOL_BENCH_PLOT_H
#define OZG_TOOL_BENCH_PLOT_H

#include <jansson.h>

/* plot_check() - before the work: fail() if the name ends neither in .png nor in .svg, or gnuplot is missing.
 */
void plot_check(const char *file);

/*
 * plot_ratios() - the ratio to the native BLAS against N, a line for each type, number of threads and way.
 * blas: its name for the title.
 */
void plot_ratios(const char *file, const json_t *rows, const char *blas);

#endif
