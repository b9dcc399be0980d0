/*
 * report.c - facts and bound of a call.
 *
 * The bound of an entry is that of arith/bound.h, from norms of its two lines. That of a call takes the
 * largest value over all lines of each norm, in three terms,
 *
 *     e <=   min(max rmax_i 2^-D_i  max x1_j 2^e_j,  ... r2 x2 ...,  ... r1 xmax ...)
 *          + the same with A and B exchanged
 *          + min(max r2_i 2^-D_i  max r2_j 2^-E_j, ... )
 *
 * in m + n steps; native products know the largest bound of the entries that were not repaired instead. Then
 * comes (|alpha_r| + |alpha_i|) times that, and the one rounding, max(u |c_ij|, 2^-1075). The norms are upper
 * bounds from integers; what follows is rounded to nearest and then enlarged.
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
    r->kernel = ctx->kernel_name;
    r->scheme = "crt";
}

void ozg_report_nothing(ozg_report *r, const ozg_context *ctx, const char *reason)
{
    clear(r, ctx);
    r->reason = reason;
    r->exact = 1;
}

/* m 2^e with 1/2 <= m < 1, or 0: the exponent may be beyond that of a double. */
typedef struct scaled {
    double m;
    int e;
} scaled;

static scaled scaled_of(double x, int e)
{
    int exponent;
    scaled s;

    s.m = frexp(x, &exponent);
    s.e = x > 0 ? e + exponent : 0;
    return s;
}

static int is_less(scaled x, scaled y)
{
    if (x.m <= 0 || y.m <= 0)
        return x.m < y.m;
    return x.e != y.e ? x.e < y.e : x.m < y.m;
}

static scaled product(scaled x, scaled y)
{
    return scaled_of(x.m * y.m, x.e + y.e);
}

/* The value as a double, not below it; perhaps infinite. */
static double value(scaled s)
{
    const double y = ldexp(s.m, s.e);

    return s.m > 0 && y < DBL_MIN ? y + DBL_TRUE_MIN : y;
}

static void raise_to(scaled *most, scaled x)
{
    if (is_less(*most, x))
        *most = x;
}

/*
 * The largest norms of lines that take part, of elements and of residuals; 0: 1-norm, 1: 2-norm, 2:
 * maximum.
 */
typedef struct extremes {
    scaled x[3], r[3];
} extremes;

static extremes extremes_of(const ozg_lines *l, int c)
{
    extremes z = {{{0, 0}, {0, 0}, {0, 0}}, {{0, 0}, {0, 0}, {0, 0}}};

    for (int64_t i = 0; i < l->count; i++) {
        const uint32_t x[3] = {l->x1[i], l->x2[i], l->xmax[i]}, r[3] = {l->r1[i], l->r2[i], l->rmax[i]};

        if (l->e[i] == OZG_E_NONE)
            continue;
        for (int q = 0; q < 3; q++) {
            raise_to(&z.x[q], scaled_of(x[q], l->e[i] + c - 16));
            raise_to(&z.r[q], scaled_of(r[q], -l->d[i] + c - 16));
        }
    }
    return z;
}

/* The smallest of the three of Hoelder's inequality. */
static double least_product(const scaled x[3], const scaled y[3])
{
    scaled least = product(x[0], y[2]);

    for (int q = 1; q < 3; q++) {
        const scaled other = product(x[q], y[2 - q]);

        least = is_less(other, least) ? other : least;
    }
    return value(least);
}

/* The three terms, each at its largest. */
static double largest_error(const extremes *a, const extremes *b, uint64_t length)
{
    if (length > UINT32_MAX) /* the factors of lines may have overflown */
        return HUGE_VAL;
    return (least_product(a->r, b->x) + least_product(b->r, a->x) + least_product(a->r, b->r)) * ENLARGE;
}

/* The value of an ozg_bound_key(). */
static double largest_tested(uint64_t key)
{
    return key ? value(scaled_of((double)(key & 0xffffff), (int)(key >> 24) - OZG_BOUND_KEY)) : 0;
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

uint64_t ozg_report_largest_entry(const ozg_shape *s, const ozg_data *data, int threads)
{
    largest_job job = {s, data, 0};

    ozg_parallel(threads, s->n, largest_task, &job);
    return atomic_load(&job.most);
}

/* The one rounding: max(u |c|, 2^-1075), single 2^-150. largest: bits of the largest |c|. */
static double rounding_error(const ozg_shape *s, uint64_t largest)
{
    const int single = ozg_type_single(s->type);
    const double tiny = single ? 0x1p-150 : DBL_TRUE_MIN;
    double most, error;

    memcpy(&most, &largest, 8);
    error = (single ? 0x1p-24 : 0x1p-53) * most;
    return error > tiny ? error : tiny;
}

/* The error of alpha AB, from that of AB. */
static double times_alpha(const ozg_data *data, double error)
{
    const double re = fabs(data->alpha[0]), im = fabs(data->alpha[1]); /* their sum may overflow */

    if (!isfinite(re) || !isfinite(im) || error <= 0)
        return error;
    /* error may be infinite; the products may be subnormal */
    return ((re > 0 ? error * re : 0) + (im > 0 ? error * im : 0)) * ENLARGE + DBL_TRUE_MIN;
}

/* The error against |alpha||A||B| + |beta C| that the accuracy promises; 0: none. */
static double promise(const ozg_shape *s)
{
    const double u = ozg_type_single(s->type) ? 0x1p-24 : 0x1p-53;

    return s->acc.kind == OZG_BY_NATIVE    ? u * (ozg_native_factor(s->k) + 1)
           : s->acc.kind == OZG_BY_ROUNDED ? u
                                           : 0;
}

static void set_bound(ozg_report *r, const ozg_plan *plan, const ozg_data *data, const ozg_lines *a,
                      const ozg_lines *b, const ozg_findings *found)
{
    const ozg_shape *s = &plan->shape;
    const int c = ozg_bound_unit(ozg_dot_length(s->type, s->k)), kind = s->acc.kind;
    double error = 0;

    if (kind == OZG_BY_NATIVE) {
        error = largest_tested(found->largest) * ENLARGE;
    } else if (kind != OZG_BY_ROUNDED) {
        const extremes xa = extremes_of(a, c), xb = extremes_of(b, c);

        error = largest_error(&xa, &xb, ozg_dot_length(s->type, s->k));
    }
    r->bound = (times_alpha(data, error) + rounding_error(s, found->largest_entry)) * ENLARGE;
    r->bound_relative = promise(s);
}

int ozg_report_rounds(const ozg_shape *s, const ozg_data *data)
{
    const int beta_0 = ozg_is_zero(data->beta[0]) && ozg_is_zero(data->beta[1]);
    const int beta_1 = data->beta[0] == 1 && ozg_is_zero(data->beta[1]);

    return s->m > 0 && s->n > 0 && !beta_0 && !beta_1;
}

void ozg_report_scaled(ozg_report *r, const ozg_context *ctx, const ozg_shape *s, int rounds,
                       uint64_t largest_entry, const char *reason)
{
    fenv_t caller;

    ozg_report_nothing(r, ctx, reason);
    if (!rounds)
        return;
    fegetenv(&caller);
    fesetenv(FE_DFL_ENV);
    r->bound = rounding_error(s, largest_entry) * ENLARGE;
    fesetenv(&caller);
}

int ozg_report_exact(const ozg_lines *l)
{
    uint32_t inexact = 0;

    for (int64_t i = 0; i < l->count; i++)
        inexact |= l->e[i] == OZG_E_NONE ? 0 : l->rmax[i];
    return inexact == 0;
}

static int larger(int x, int y)
{
    return x > y ? x : y;
}

/* Of the whole size, floors among them. */
static int products_of(const ozg_plan *plan)
{
    const int complex_ = ozg_type_complex(plan->shape.type);

    return ozg_rns_products(plan->rns, complex_) +
           (plan->shape.acc.kind == OZG_BY_NATIVE ? (complex_ ? 3 : 1) : 0);
}

void ozg_report_part(ozg_report *r, const ozg_plan *plan, int exact, double *products)
{
    const ozg_shape *s = &plan->shape;
    const int64_t chunks = (s->k - 1) / plan->kt + 1;
    const double share = (double)plan->rows / (double)s->m * ((double)plan->columns / (double)s->n);

    *products += products_of(plan) * share;
    r->emulated = 1;
    if (plan->kernel)
        r->kernel = plan->kernel->name;
    r->moduli = larger(r->moduli, plan->nmod);
    r->width = larger(r->width, plan->width);
    r->products = (int)ceil(*products - 0x1p-20); /* more than the roundings of the shares */
    r->tiles += ((plan->rows - 1) / plan->mt + 1) * ((plan->columns - 1) / plan->nt + 1);
    r->k_chunks = chunks > r->k_chunks ? chunks : r->k_chunks;
    r->workspace_bytes = plan->workspace;
    r->exact &= exact;
}

void ozg_report_predicted(ozg_report *r, const ozg_plan *plan, const ozg_data *data, const ozg_lines *a,
                          const ozg_lines *b)
{
    const ozg_shape *s = &plan->shape;
    const int c = ozg_bound_unit(ozg_dot_length(s->type, s->k)), kind = s->acc.kind;
    const double u = ozg_type_single(s->type) ? 0x1p-24 : 0x1p-53;
    fenv_t caller;
    extremes xa, xb;
    double largest, error, bound;

    fegetenv(&caller);
    fesetenv(FE_DFL_ENV);
    xa = extremes_of(a, c);
    xb = extremes_of(b, c);
    largest = least_product(xa.x, xb.x); /* of |A||B| */
    error = kind == OZG_BY_ROUNDED ? 0 : largest_error(&xa, &xb, ozg_dot_length(s->type, s->k));
    if (kind == OZG_BY_NATIVE && error > largest * u * ozg_native_factor(s->k))
        error = largest * u * ozg_native_factor(s->k); /* what is more is computed exactly */
    /* alpha first: what it multiplies may be subnormal */
    bound = (times_alpha(data, error) + times_alpha(data, largest + error) * u) * ENLARGE +
            (ozg_type_single(s->type) ? 0x1p-150 : 0) + DBL_TRUE_MIN;
    r->bound = bound > r->bound ? bound : r->bound;
    r->bound_relative = promise(s);
    fesetenv(&caller);
}

void ozg_report_product(ozg_report *r, const ozg_plan *plan, const ozg_data *data, const ozg_lines *a,
                        const ozg_lines *b, const ozg_findings *found)
{
    fenv_t caller;

    r->tested = found->tested;
    r->repaired = found->repaired;
    fegetenv(&caller); /* the caller's rounding mode must not shrink a bound */
    fesetenv(FE_DFL_ENV);
    set_bound(r, plan, data, a, b, found);
    fesetenv(&caller);
}

void ozg_report_add(ozg_report *sum, const ozg_report *one, int first)
{
    ozg_report total = *one;

    if (!first) {
        total.bound = sum->bound > one->bound ? sum->bound : one->bound;
        total.bound_relative =
            sum->bound_relative > one->bound_relative ? sum->bound_relative : one->bound_relative;
        total.exact &= sum->exact;
        total.moduli = larger(sum->moduli, one->moduli);
        total.width = larger(sum->width, one->width);
        total.products = larger(sum->products, one->products);
        total.tested += sum->tested;
        total.repaired += sum->repaired;
        total.tiles += sum->tiles;
        total.special_rows += sum->special_rows;
        total.special_cols += sum->special_cols;
        total.seconds_scale += sum->seconds_scale;
        total.seconds_split += sum->seconds_split;
        total.seconds_product += sum->seconds_product;
        total.seconds_reconstruct += sum->seconds_reconstruct;
        total.seconds_repair += sum->seconds_repair;
        total.seconds_transfer += sum->seconds_transfer;
        total.seconds_total += sum->seconds_total;
    }
    total.reserved[0] = 0; /* nothing is left to be filled */
    *sum = total;
}
