/*
 * report.c - facts and bound of a call.
 *
 * The bound is [Xe2] Eq. 7 with exact lines left out. With a = 2^-D (a^ + rho), |rho| <= 1/2, and rho = 0
 * for an exact row (likewise E, b^, sigma for a column),
 *
 *     |AB - 2^(-D-E) A^B^|_ij <=   [row i inexact]    2^-D_i / 2 ||b_j||_1
 *                                + [column j inexact] 2^-E_j / 2 ||a_i||_1
 *                                + [both]             k' 2^(-D_i-E_j) / 4
 *
 * and an entry of C is off by at most (|alpha_r| + |alpha_i|) times that plus the one rounding, max(u
 * |c_ij|, 2^-1075). The bound of the call takes the largest value of each of the three terms: m + n steps,
 * and never more than three times the largest sum. The norms are upper bounds from integers; what follows
 * is rounded to nearest and then enlarged.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "cpu/kernel.h"
#include "parallel.h"
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

/*
 * The largest norm of the lines that take part, and the smallest D of the inexact ones (inexact 0: there is
 * none).
 */
typedef struct extremes {
    double norm1;
    int32_t d;
    int inexact;
} extremes;

static extremes extremes_of(const ozg_lines *lines, int width)
{
    extremes x = {0, 0, 0};

    for (int64_t i = 0; i < lines->count; i++) {
        double norm1;

        if (lines->d[i] == OZG_D_NONE)
            continue;
        norm1 = up((double)lines->norm1[i], width - lines->d[i] - 20);
        x.norm1 = norm1 > x.norm1 ? norm1 : x.norm1;
        if (lines->inexact[i] && (!x.inexact || lines->d[i] < x.d)) {
            x.d = lines->d[i];
            x.inexact = 1;
        }
    }
    return x;
}

/* The three terms, each at its largest. */
static double largest_error(const ozg_plan *plan, const extremes *a, const extremes *b)
{
    const double quarter = (double)ozg_dot_length(plan->shape.type, plan->shape.k) / 4;
    double e = 0;

    if (a->inexact)
        e += up(b->norm1, -a->d - 1);
    if (b->inexact)
        e += up(a->norm1, -b->d - 1);
    if (a->inexact && b->inexact)
        e += up(quarter, -a->d - b->d);
    return e * ENLARGE;
}

/* The largest finite |component| of C, as bits; each task looks at one column. */
typedef struct largest_job {
    const ozg_shape *s;
    const ozg_data *data;
    _Atomic uint64_t most;
} largest_job;

static void largest_task(void *arg, int64_t j, int thread)
{
    largest_job *job = arg;
    const int single = ozg_type_single(job->s->type), parts = 1 + ozg_type_complex(job->s->type);
    uint64_t most = 0, known = atomic_load(&job->most);

    (void)thread;
    for (int64_t i = 0; i < parts * job->s->m; i++) {
        uint64_t bits = ozg_load_bits(job->data->c, single, i + parts * j * job->data->ldc) & ~OZG_F64_SIGN;

        if (bits > most && !ozg_is_special(bits))
            most = bits;
    }
    while (most > known && !atomic_compare_exchange_weak(&job->most, &known, most))
        ;
}

static double largest_entry(const ozg_shape *s, const ozg_data *data, int threads)
{
    largest_job job = {s, data, 0};
    uint64_t most;
    double value;

    ozg_parallel(threads, s->n, largest_task, &job);
    most = atomic_load(&job.most);
    memcpy(&value, &most, 8);
    return value;
}

/* The one rounding: max(u |c|, 2^-1075), single 2^-150. */
static double rounding_error(const ozg_shape *s, const ozg_data *data, int threads)
{
    const int single = ozg_type_single(s->type);
    const double tiny = single ? 0x1p-150 : DBL_TRUE_MIN;
    const double error = (single ? 0x1p-24 : 0x1p-53) * largest_entry(s, data, threads);

    return error > tiny ? error : tiny;
}

static void set_bound(ozg_report *r, const ozg_plan *plan, const ozg_data *data, const ozg_lines *a,
                      const ozg_lines *b)
{
    const double re = fabs(data->alpha[0]), im = fabs(data->alpha[1]); /* their sum may overflow */
    const extremes xa = extremes_of(a, plan->width), xb = extremes_of(b, plan->width);
    double error = largest_error(plan, &xa, &xb);

    if (isfinite(re) && isfinite(im) && error > 0)
        /* error may be infinite; the products may be subnormal */
        error = ((re > 0 ? error * re : 0) + (im > 0 ? error * im : 0)) * ENLARGE + DBL_TRUE_MIN;
    r->bound = (error + rounding_error(&plan->shape, data, plan->threads)) * ENLARGE;
    r->exact = !xa.inexact && !xb.inexact;
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
    r->bound = rounding_error(s, data, 1) * ENLARGE;
    fesetenv(&caller);
}

void ozg_report_product(ozg_report *r, const ozg_plan *plan, const ozg_data *data, const ozg_lines *a,
                        const ozg_lines *b)
{
    const ozg_shape *s = &plan->shape;
    fenv_t caller;

    r->emulated = 1;
    r->kernel = plan->kernel->name;
    r->moduli = plan->nmod;
    r->width = plan->width;
    r->products = plan->rns->nmod * (ozg_type_complex(s->type) ? 3 : 1);
    r->tiles = ((s->m - 1) / plan->mt + 1) * ((s->n - 1) / plan->nt + 1);
    r->k_chunks = (s->k - 1) / plan->kt + 1;
    r->workspace_bytes = plan->workspace;
    fegetenv(&caller); /* the caller's rounding mode must not shrink a bound */
    fesetenv(FE_DFL_ENV);
    set_bound(r, plan, data, a, b);
    fesetenv(&caller);
}
