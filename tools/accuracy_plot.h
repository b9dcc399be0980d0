/*
 * accuracy_plot.h - "ozgemm accuracy --plot": error against time, one panel a family, drawn by gnuplot.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TOOL_ACCURACY_PLOT_H
#define OZG_TOOL_ACCURACY_PLOT_H

#include <jansson.h>

/* accuracy_plot_check() - fail() if the name is neither .svg nor .png, or if gnuplot is missing. */
void accuracy_plot_check(const char *file);

/* accuracy_plot_write() - draw the rows of a table of errors; the file appears whole or not at all. */
void accuracy_plot_write(const char *file, const json_t *table);

#endif
