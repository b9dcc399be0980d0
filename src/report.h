/*
 * report.h - what a call tells about itself, the proven bound above all.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_REPORT_H
#define OZG_REPORT_H

#include "plan.h"

/* All members of a report as of a call that multiplied nothing. */
void ozg_report_nothing(ozg_report *r, const ozg_context *ctx, const char *reason);

/*
 * ozg_report_scaled() - the same for a call that computed C := RN(beta C), once it has: with the bound of
 * that. rounds: ozg_report_rounds(), whether it rounds; if not, largest_entry does not matter.
 */
void ozg_report_scaled(ozg_report *r, const ozg_context *ctx, const ozg_shape *s, int rounds,
                       uint64_t largest_entry, const char *reason);
int ozg_report_rounds(const ozg_shape *s, const ozg_data *data);

/* ozg_report_largest_entry() - bits of the largest finite |component| of C, in host memory, as a double. */
uint64_t ozg_report_largest_entry(const ozg_shape *s, const ozg_data *data, int threads);

/*
 * ozg_report_part() - facts of a part of a product, once its lines are measured: added to those of the parts
 * before. exact: no bit of its lines was rounded away. *products: the sum of all parts, each by its share of
 * C; 0 at first.
 */
void ozg_report_part(ozg_report *r, const ozg_plan *plan, int exact, double *products);

/* ozg_report_exact() - no bit of these lines was rounded away. */
int ozg_report_exact(const ozg_lines *lines);

/*
 * ozg_report_predicted() - the bound of a part that was only scaled and measured, with beta = 0, unless that
 * of another part was larger.
 */
void ozg_report_predicted(ozg_report *r, const ozg_plan *plan, const ozg_data *data, const ozg_lines *a,
                          const ozg_lines *b);

/* ozg_report_add() - the sum of a batch: times, counts, the largest of what is no sum. first: it begins. */
void ozg_report_add(ozg_report *sum, const ozg_report *one, int first);

/* What a product found: largest is ozg_repairs.largest, largest_entry ozg_report_largest_entry(). */
typedef struct ozg_findings {
    uint64_t tested, repaired, largest, largest_entry;
} ozg_findings;

/*
 * ozg_report_product() - the bound, once C is computed, and what the tests and repairs counted. The lines
 * matter for fixed accuracies only (a product in parts is native).
 */
void ozg_report_product(ozg_report *r, const ozg_plan *plan, const ozg_data *data, const ozg_lines *a,
                        const ozg_lines *b, const ozg_findings *found);

#endif
