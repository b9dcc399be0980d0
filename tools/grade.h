/*
 * grade.h - "ozgemm accuracy --grade": which error bound does each method keep on hard data?
 *
 * The grades are those of J. Demmel et al., "How to grade the accuracy of the BLAS" (arXiv 2609.12307).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TOOL_GRADE_H
#define OZG_TOOL_GRADE_H

#include "accuracy.h"

/* grade_work() - units of the bar. */
double grade_work(const struct accuracy *q, char type, const char *moduli);

/* grade_run() - the facts: tests, and for each method its grade, worst error and the outcome of each test. */
json_t *grade_run(struct accuracy *q, char type, const char *moduli);

/* grade_print() - the facts as text. */
void grade_print(const json_t *facts);

#endif
