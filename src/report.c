/*
 * report.c - facts and bound of a call.
 *
 * The bound, [Xe2] Eq. 7 with exact lines left out. With a = 2^-D (a^ + alpha), |alpha| <= 1/2, and alpha = 0
 * for an exact row (likewise E, b^, beta for a column), |AB - 2^(-D-E) A^B^|_ij  <=  e_ij  =  [row i inexact]
 * 2^-D_i / 2 ||b_j||_1  +  [column j inexact] 2^-E_j / 2 ||a_i||_1
 *                                        +  [both] k' 2^(-D_i-E_j) / 4
 * and an entry of C is off by at most (|alpha_r| + |alpha_i|) e_ij plus the one rounding, max(u |c_ij|,
 * 2^-1075). The norms are upper bounds from integers; what follows is rounded to nearest and then enlarged.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fenv.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "cpu/kernel.h"
#include "report.h"

#define ENLARGE (1 + 0x1p-48) /* more than the roundings of one entry's bound */

static void clear(ozg_report *r, const ozg_context *ctx)
{
    memset(r, 0, sizeof *r);
    r->reason = "";
    r->backend = ctx->backend->name;
    r->kernel = ctx->kernel->name;
    r->scheme = "crt";
}

void ozg_report_nothing(ozg_report *r, const ozg_context *ctx, const char *reason)
{
    clear(r, ctx);
    r->reason = reason;
    r->exact = 1;
}

/* x 2^e, not below it */
static double up(double x, int e)
{
    double y = ldexp(x, e);

    return x > 0 && y < DBL_MIN ? y + DBL_TRUE_MIN : y;
}

/* max e_ij over the entries that are computed by residues */
static double largest_error(const ozg_plan *plan, const ozg_lines *a, const ozg_lines *b)
{
    const double quarter = (double)ozg_dot_length(plan->shape.type, plan->shape.k) / 4;
    double most = 0;

    for (int64_t j = 0; j < b->count; j++) {
        const int bit_b = b->inexact[j];
        const double norm_b = up((double)b->norm1[j], plan->width - b->d[j] - 20);

        if (b->d[j] == OZG_D_NONE)
            continue;
        for (int64_t i = 0; i < a->count; i++) {
            double e = 0;

            if (a->d[i] == OZG_D_NONE || !(bit_b | a->inexact[i]))
                continue;
            if (a->inexact[i])
                e += up(norm_b, -a->d[i] - 1);
            if (bit_b)
                e += up(up((double)a->norm1[i], plan->width - a->d[i] - 20), -b->d[j] - 1);
            if (bit_b && a->inexact[i])
                e += up(quarter, -a->d[i] - b->d[j]);
            most = e > most ? e : most;
        }
    }
    return most * ENLARGE;
}

/* The largest finite |component| of C. */
static double largest_entry(const ozg_shape *s, const ozg_data *data)
{
    const int single = ozg_type_single(s->type), parts = 1 + ozg_type_complex(s->type);
    uint64_t most = 0;
    double value;

    for (int64_t j = 0; j < s->n; j++)
        for (int64_t i = 0; i < parts * s->m; i++) {
            uint64_t bits = ozg_load_bits(data->c, single, i + parts * j * data->ldc) & ~OZG_F64_SIGN;

            if (!ozg_is_special(bits) && bits > most)
                most = bits;
        }
    memcpy(&value, &most, 8);
    return value;
}

/* No bit of these lines was rounded away. */
static int all_exact(const ozg_lines *l)
{
    for (int64_t i = 0; i < l->count; i++)
        if (l->inexact[i])
            return 0;
    return 1;
}

/* The one rounding: max(u |c|, 2^-1075), single 2^-150. */
static double rounding_error(const ozg_shape *s, const ozg_data *data)
{
    const int single = ozg_type_single(s->type);
    const double tiny = single ? 0x1p-150 : DBL_TRUE_MIN;
    const double error = (single ? 0x1p-24 : 0x1p-53) * largest_entry(s, data);

    return error > tiny ? error : tiny;
}

static void set_bound(ozg_report *r, const ozg_plan *plan, const ozg_data *data, const ozg_lines *a,
                      const ozg_lines *b)
{
    const double re = fabs(data->alpha[0]), im = fabs(data->alpha[1]); /* their sum may overflow */
    double error = largest_error(plan, a, b);

    if (isfinite(re) && isfinite(im) && error > 0)
        /* error may be infinite; the products may be subnormal */
        error = ((re > 0 ? error * re : 0) + (im > 0 ? error * im : 0)) * ENLARGE + DBL_TRUE_MIN;
    r->bound = (error + rounding_error(&plan->shape, data)) * ENLARGE;
    r->exact = all_exact(a) && all_exact(b);
}

void ozg_report_scaled(ozg_report *r, const ozg_context *ctx, const ozg_shape *s, const ozg_data *data,
                       const char *reason)
{
    const int beta_0 = ozg_is_zero(data->beta[0]) && ozg_is_zero(data->beta[1]);
    const int beta_1 = data->beta[0] == 1 && ozg_is_zero(data->beta[1]);
    fenv_t caller;

    ozg_report_nothing(r, ctx, reason);
    if (s->m == 0 || s->n == 0 || beta_0 || beta_1)
        return;
    fegetenv(&caller);
    fesetenv(FE_DFL_ENV);
    r->bound = rounding_error(s, data) * ENLARGE;
    fesetenv(&caller);
}

void ozg_report_product(ozg_report *r, const ozg_plan *plan, const ozg_data *data, const ozg_lines *a,
                        const ozg_lines *b)
{
    const ozg_shape *s = &plan->shape;
    fenv_t caller;

    r->emulated = 1;
    r->moduli = plan->nmod;
    r->width = plan->width;
    r->products = plan->nmod * (ozg_type_complex(s->type) ? 3 : 1);
    r->tiles = ((s->m - 1) / plan->mt + 1) * ((s->n - 1) / plan->nt + 1);
    r->k_chunks = (s->k - 1) / plan->kt + 1;
    r->workspace_bytes = plan->workspace;
    fegetenv(&caller); /* the caller's rounding mode must not shrink a bound */
    fesetenv(FE_DFL_ENV);
    set_bound(r, plan, data, a, b);
    fesetenv(&caller);
}
