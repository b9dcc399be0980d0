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
 * that.
 */
void ozg_report_scaled(ozg_report *r, const ozg_context *ctx, const ozg_shape *s, const ozg_data *data,
                       const char *reason);

/*
 * ozg_report_part() - facts of a part of a product, once its lines are measured: added to those of the parts
 * before. *products: the sum of all parts, each by its share of C; 0 at first.
 */
void ozg_report_part(ozg_report *r, const ozg_plan *plan, const ozg_lines *a, const ozg_lines *b,
                     double *products);

/*
 * ozg_report_predicted() - the bound of a part that was only scaled and measured, with beta = 0, unless that
 * of another part was larger.
 */
void ozg_report_predicted(ozg_report *r, const ozg_plan *plan, const ozg_data *data, const ozg_lines *a,
                          const ozg_lines *b);

/*
 * ozg_report_product() - the bound, once C is computed (a product in parts: native, and the lines do not
 * matter); what the tests and repairs counted.
 */
void ozg_report_product(ozg_report *r, const ozg_plan *plan, const ozg_data *data, const ozg_lines *a,
                        const ozg_lines *b, ozg_repairs *repairs);

#endif
