/*
 * monitor_block.c - a block of what the monitor checks: three products of its lines, and the judgement.
 *
 * X = alpha op(A) op(B) + beta C0. Of the lines of a block three products are made, each by the library itself:
 *
 *     E = RN(X)                           in the type of the call, ozg_rounded(): what C should be
 *     R = X - C                           in double, so that errors below a unit in the last place show
 *     W = |alpha| |A||B| + |beta| |C0|    in double, ozg_native(): what errors are weighed by
 *
 * R is RN(alpha AB + H) + L, where H + L = beta C0 - C in two doubles. With beta = 0 that is H = -C, L = 0,
 * and R is RN(X - C). Else L is off by 2^-50 of the roundings that it collects, far below u W.
 *
 * All terms of W are positive, so that the native bound is a relative error of W, below 2^-34 at any k.
 * Before, magnitudes are cut to their leading 12 bits, which makes W smaller by a factor of at least
 * (1 - 2^-11)^2, and lets native accuracy do with few moduli. (Few bits of a whole line would not do: the
 * product of entries that are all small in their lines would lose all of them.)
 *
 * SPDX-License-Identifier: MIT
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "moduli.h"
#include "monitor_block.h"
#include "monitor_copy.h"

/*
 * Bits that products for R keep. X - C cancels all leading bits, which the library's own choice from a sample
 * does not know: entries of lines that then lose bits are all repaired. With these few of usual data are, and
 * more moduli would cost more than that.
 */
#define RESIDUAL_BITS 64

/* ---- copies of lines ---------------------------------------------------------------------------- */

/* Where matrices are on a device, copies of the lines of the block, as given, are there already. */
static void copy_lines(const ozg_monitor_call *w, const ozg_monitor_side *of, const int64_t *index,
                       int64_t count, ozg_copy_how how, void *out)
{
    ozg_view view = of->view;

    if (w->given_y) {
        view.x = of == w->of_others ? w->given_y : w->given_x;
        view.line_stride = w->k;
        view.step = 1;
        index = NULL;
    }
    ozg_monitor_copy(&view, index, count, w->k, how, w->ctx->threads, out);
}

static ozg_status fetch_lines(const ozg_monitor_call *w, const ozg_monitor_side *of, const int64_t *index,
                              int64_t count, void *out)
{
    const ozg_entries lines = {of->view.x, w->s->type, NULL,          index,
                               w->k,       count,      of->view.step, of->view.line_stride};

    return w->ctx->backend->gather(w->ctx, &lines, out);
}

/* Where other lines meet chosen ones in C or C0. */
static ozg_status fetch_entries(const ozg_monitor_call *w, const void *c, int64_t ld, void *out)
{
    const int by_rows = w->of_chosen == &w->rows;
    const ozg_entries block = {c,         w->s->type, w->other,         w->chosen,
                               w->others, w->count,   by_rows ? ld : 1, by_rows ? 1 : ld};

    return w->ctx->backend->gather(w->ctx, &block, out);
}

/* Brings what the block needs of matrices on a device. */
static ozg_status fetch_block(const ozg_monitor_call *w)
{
    ozg_status status = OZG_OK;

    if (!w->given_y)
        return OZG_OK;
    if (w->k > 0)
        status = fetch_lines(w, w->of_others, w->other, w->others, w->given_y);
    if (!status && w->k > 0)
        status = fetch_lines(w, w->of_chosen, w->chosen, w->count, w->given_x);
    if (!status)
        status = fetch_entries(w, w->d->c, w->d->ldc, w->given_c);
    if (!status && !ozg_monitor_beta_is_zero(w))
        status = fetch_entries(w, w->c0, w->ldc0, w->given_c0);
    return status;
}

/* ---- the three products of a block --------------------------------------------------------------- */

static ozg_status multiply_type(const ozg_monitor_call *w, char type, int64_t k, const void *alpha,
                                const void *beta, void *c, ozg_accuracy acc)
{
    const int64_t m = w->others, n = w->count, ld = k > 0 ? k : 1;
    ozg_context *ctx = w->maker;

    switch (type) {
    case 's':
        return ozg_sgemm(ctx, 'T', 'N', m, n, k, *(const float *)alpha, w->y, ld, w->x, ld,
                         *(const float *)beta, c, m, acc, NULL);
    case 'd':
        return ozg_dgemm(ctx, 'T', 'N', m, n, k, *(const double *)alpha, w->y, ld, w->x, ld,
                         *(const double *)beta, c, m, acc, NULL);
    case 'c':
        return ozg_cgemm(ctx, 'T', 'N', m, n, k, alpha, w->y, ld, w->x, ld, beta, c, m, acc, NULL);
    default:
        return ozg_zgemm(ctx, 'T', 'N', m, n, k, alpha, w->y, ld, w->x, ld, beta, c, m, acc, NULL);
    }
}

/* c := alpha y^T x + beta c; lines of k elements; scalars of the type. */
static ozg_status multiply(const ozg_monitor_call *w, char type, int64_t k, const void *alpha,
                           const void *beta, void *c, ozg_accuracy acc)
{
    const ozg_status status = multiply_type(w, type, k, alpha, beta, c, acc);

    if (status && w->maker != w->ctx)
        return ozg_fail(w->ctx, status, "%s", ozg_last_error(w->maker));
    return status;
}

/* The element of C or C0, or of their copies, where other line o meets chosen line q. */
static int64_t place(const ozg_monitor_call *w, int64_t o, int64_t q, int64_t ld)
{
    if (w->given_y)
        return o + q * w->others;
    return w->of_chosen == &w->rows ? w->chosen[q] + w->other[o] * ld : w->other[o] + w->chosen[q] * ld;
}

static const void *matrix_c(const ozg_monitor_call *w)
{
    return w->given_y ? w->given_c : w->d->c;
}

static const void *matrix_c0(const ozg_monitor_call *w)
{
    return w->given_y ? w->given_c0 : w->c0;
}

/* E */
static ozg_status expect(ozg_monitor_call *w)
{
    const size_t size = (size_t)ozg_type_size(w->s->type);
    char *out = w->expected;

    copy_lines(w, w->of_others, w->other, w->others, OZG_COPY_GIVEN, w->y);
    copy_lines(w, w->of_chosen, w->chosen, w->count, OZG_COPY_GIVEN, w->x);
    for (int64_t q = 0; q < w->count && !ozg_monitor_beta_is_zero(w); q++)
        for (int64_t o = 0; o < w->others; o++, out += size)
            memcpy(out, (const char *)matrix_c0(w) + place(w, o, q, w->ldc0) * (int64_t)size, size);
    return multiply(w, w->s->type, w->k, w->alpha, w->beta, w->expected, ozg_rounded());
}

/* A sum as high + low, low being off by at most 2^-50 slack. */
typedef struct two {
    double high, low, slack;
} two;

/* D. Knuth, The Art of Computer Programming 2, sec. 4.2.2: the rounding error of a sum is itself a double. */
static void add(two *s, double x)
{
    const double sum = s->high + x, back = sum - s->high, error = (s->high - (sum - back)) + (x - back);

    s->high = sum;
    s->low += error;
    s->slack += fabs(error);
}

static void add_product(two *s, double x, double y)
{
    const double product = x * y, error = fma(x, y, -product);

    if (ozg_is_zero(x) || ozg_is_zero(y))
        return;
    add(s, product);
    s->low += error;
    s->slack += fabs(error);
    if (fabs(product) < 0x1p-960) /* its error may be below the smallest number */
        s->slack += 0x1p-1024;
}

/* H + L = beta C0 - C of a component. */
static two old_minus_given(const ozg_monitor_call *w, int64_t o, int64_t q, int part)
{
    two s = {-ozg_monitor_number(w, matrix_c(w), place(w, o, q, w->d->ldc) * w->parts + part), 0, 0}, sum;

    for (int i = 0; i < w->parts; i++) { /* beta_i meets component part ^ i of C0, Im Im negatively */
        const double beta = i && !part ? -w->d->beta[i] : w->d->beta[i];

        if (!ozg_is_zero(beta))
            add_product(&s, beta,
                        ozg_monitor_number(w, matrix_c0(w), place(w, o, q, w->ldc0) * w->parts + (part ^ i)));
    }
    sum = (two){s.high, 0, 0}; /* high := RN(high + low) */
    add(&sum, s.low);
    sum.slack = s.slack;
    return sum;
}

/* R, but for L */
static ozg_status subtract(ozg_monitor_call *w)
{
    static const double one[2] = {1, 0};
    const char type = w->parts > 1 ? 'z' : 'd';
    const int fewest = ozg_moduli_for_bits(type, w->k, RESIDUAL_BITS);
    double *out = w->residual;

    if (w->single) { /* else the copies are doubles */
        copy_lines(w, w->of_others, w->other, w->others, OZG_COPY_DOUBLES, w->y);
        copy_lines(w, w->of_chosen, w->chosen, w->count, OZG_COPY_DOUBLES, w->x);
    }
    for (int64_t q = 0; q < w->count; q++)
        for (int64_t o = 0; o < w->others; o++)
            for (int part = 0; part < w->parts; part++)
                *out++ = old_minus_given(w, o, q, part).high;
    return multiply(w, type, w->k, w->d->alpha, one, w->residual,
                    ozg_with_moduli(ozg_rounded(), fewest ? fewest : OZG_NMOD_MAX));
}

/* |beta| |C0| of a component: each part of beta with the part of C0 that it meets. */
static double weight_of_old(const ozg_monitor_call *w, int64_t o, int64_t q, int part)
{
    double sum = 0;

    for (int i = 0; i < w->parts; i++)
        if (!ozg_is_zero(w->d->beta[i]))
            sum += fabs(w->d->beta[i]) *
                   fabs(ozg_monitor_number(w, matrix_c0(w), place(w, o, q, w->ldc0) * w->parts + (part ^ i)));
    return sum;
}

/* W. Complex lines are real ones of 2k numbers: |xr||yr| + |xi||yi|, and exchanged |xr||yi| + |xi||yr|. */
static ozg_status weigh(ozg_monitor_call *w)
{
    static const double one = 1;
    ozg_status status = OZG_OK;

    for (int part = 0; part < w->parts; part++)
        for (int64_t q = 0; q < w->count; q++)
            for (int64_t o = 0; o < w->others; o++)
                w->weight[part][o + q * w->others] = weight_of_old(w, o, q, part);
    copy_lines(w, w->of_chosen, w->chosen, w->count, OZG_COPY_MAGNITUDES, w->x);
    for (int exchanged = 0; exchanged < w->parts; exchanged++) {
        copy_lines(w, w->of_others, w->other, w->others, exchanged ? OZG_COPY_EXCHANGED : OZG_COPY_MAGNITUDES,
                   w->y);
        for (int part = 0; part < w->parts && !status; part++) {
            const double alpha = fabs(w->d->alpha[part ^ exchanged]);

            status = multiply(w, 'd', w->k * w->parts, &alpha, &one, w->weight[part], ozg_native());
        }
    }
    return status;
}

/* ---- the judgement ------------------------------------------------------------------------------ */

/* The exponent of the unit in the last place of a finite number. */
static int ulp_exponent(uint64_t bits, int single)
{
    const int least = single ? -149 : -1074;
    const int e = bits << 1 == 0 ? least : ozg_exponent(bits & ~OZG_F64_SIGN) - (single ? 24 : 53);

    return e > least ? e : least;
}

/*
 * An upper bound of (|error| - eta) / (u W), eta = half the smallest subnormal number, as in the bound of
 * native grade. Double: error is rounded, at most by eta where it is subnormal: eta is taken off already.
 */
static double grade(double error, double slack, double weight, int single)
{
    const double u = single ? 0x1p-24 : 0x1p-53, eta = single ? 0x1p-150 : 0;
    const double most = error * (1 + 0x1p-50) + slack * 0x1p-50 - eta;
    const double least = fmin(weight, DBL_MAX) * (1 - 0x1p-32) - 4 * DBL_TRUE_MIN;

    if (!(most > 0))
        return 0;
    return least > 0 ? (most / least + DBL_TRUE_MIN) * (1 + 0x1p-50) / u : HUGE_VAL;
}

/*
 * |C - X| of a finite component, as R has it, but no further from |C - E| than half a unit in the last place:
 * R may be worse where terms of beta C0 are far above X, and it or H may overflow.
 */
static double distance(double found, double apart, double ulp)
{
    if (!isfinite(found))
        return apart + ulp / 2;
    return fmin(fmax(found, apart - ulp / 2), apart + ulp / 2);
}

static void judge_component(ozg_monitor_call *w, int64_t o, int64_t q, int part)
{
    const int64_t at = (o + q * w->others) * w->parts + part,
                  at_c = place(w, o, q, w->d->ldc) * w->parts + part;
    const uint64_t want = ozg_load_bits(w->expected, w->single, at),
                   got = ozg_load_bits(matrix_c(w), w->single, at_c);
    const int same = want == got || (ozg_is_nan(want) && ozg_is_nan(got)),
              unit = ulp_exponent(want, w->single);
    const two rest = old_minus_given(w, o, q, part);
    ozg_monitor *r = w->result;
    double error, of_entry;

    r->compared++;
    r->rounded += (uint64_t)same;
    if (ozg_is_special(want) || ozg_is_special(got)) {
        r->special += !same;
        return;
    }
    error = distance(fabs(w->residual[at] + rest.low),
                     fabs(ozg_monitor_number(w, w->expected, at) - ozg_monitor_number(w, matrix_c(w), at_c)),
                     ldexp(1, unit));
    r->max_error = fmax(r->max_error, error);
    r->max_ulp = fmax(r->max_ulp, ldexp(error, -unit));
    of_entry =
        grade(error, isfinite(rest.slack) ? rest.slack : 0, w->weight[part][o + q * w->others], w->single);
    if (same && of_entry > 1) /* |RN(X) - X| <= u |X| <= u W, or half the smallest subnormal */
        of_entry = 1;
    r->worst_grade = fmax(r->worst_grade, of_entry);
}

ozg_status ozg_monitor_check_block(ozg_monitor_call *w)
{
    ozg_status status = fetch_block(w);

    if (!status)
        status = expect(w);
    if (!status)
        status = subtract(w);
    if (!status)
        status = weigh(w);
    for (int64_t q = 0; q < w->count && !status; q++)
        for (int64_t o = 0; o < w->others; o++)
            for (int part = 0; part < w->parts; part++)
                judge_component(w, o, q, part);
    return status;
}
