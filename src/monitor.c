/*
 * monitor.c - how good is a product from anywhere: chosen rows and columns of C against the exact result.
 *
 * X = alpha op(A) op(B) + beta C0. Of the chosen lines, block by block, three products are made, each by
 * the library itself:
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
#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "moduli.h"
#include "monitor_copy.h"

/*                                             type ta tb m  n  k al pa  a lda pb  b ldb bt  c ldc acc */
static const ozg_argument_numbers numbers = {0, 2, 3, 4, 5, 6, 7, 0, 8, 9, 0, 10, 11, 12, 15, 16, 0};
static const ozg_argument_numbers numbers_c0 = {0, 2, 3, 4, 5, 6, 7, 0, 8, 9, 0, 10, 11, 12, 13, 14, 0};
enum { NUMBER_LINES = 17, NUMBER_RESULT = 19 };

/* Lines that are copied at once: at most these, and fewer, down to the least, if they take more bytes. */
#define CHOSEN_MOST  64
#define OTHERS_MOST  512
#define LINES_LEAST  8
#define BYTES_A_SIDE ((int64_t)32 << 20)
#define LENGTH_MOST  (INT64_C(1) << 48) /* more than any memory holds: sizes in bytes stay below 2^63 */

/*
 * Bits that products for R keep. X - C cancels all leading bits, which the library's own choice from a sample
 * does not know: entries of lines that then lose bits are all repaired. With these few of usual data are, and
 * more moduli would cost more than that.
 */
#define RESIDUAL_BITS 64

/* Rows of op(A), or columns of op(B): index[0..chosen) are those to be checked, then come the others. */
typedef struct side {
    ozg_view view;
    int64_t count, chosen;
    int64_t *index;
} side;

typedef struct monitor {
    ozg_context *ctx;
    ozg_context *maker; /* of the products: the same; the CPU's where matrices are on a device */
    const ozg_shape *s;
    const ozg_data *d;        /* d->c: C, which is only read */
    const void *alpha, *beta; /* as given, numbers of the type */
    const void *c0;
    int64_t ldc0;
    int single, parts; /* components of an element */
    int64_t k;         /* 0 also for alpha = 0: nothing to multiply */
    side rows, columns;
    /* the block: some of the other lines meet some of the chosen ones */
    const side *of_others, *of_chosen;
    const int64_t *other, *chosen;
    int64_t others, count;
    /* lines of k elements, one after the other; and others x count elements, column-major */
    void *y, *x;
    void *given_y, *given_x, *given_c, *given_c0; /* as they are on a device; NULL: they are the host's */
    void *expected;                               /* E, in the type of the call */
    double *residual, *weight[2];                 /* R; W of each component, others x count numbers */
    ozg_monitor *result;
} monitor;

/* ---- which lines -------------------------------------------------------------------------------- */

/* SplitMix64: G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* The first steps of a Fisher-Yates shuffle. The remainder favours some lines by at most count / 2^64. */
static void choose(side *z, uint64_t *state)
{
    for (int64_t i = 0; i < z->count; i++)
        z->index[i] = i;
    for (int64_t i = 0; i < z->chosen; i++) {
        const int64_t other = i + (int64_t)(next_random(state) % (uint64_t)(z->count - i));
        const int64_t line = z->index[other];

        z->index[other] = z->index[i];
        z->index[i] = line;
    }
}

static int beta_is_zero(const monitor *w)
{
    return ozg_is_zero(w->d->beta[0]) && ozg_is_zero(w->d->beta[1]);
}

/* ---- copies of lines ---------------------------------------------------------------------------- */

/* Where matrices are on a device, copies of the lines of the block, as given, are there already. */
static void copy_lines(const monitor *w, const side *of, const int64_t *index, int64_t count,
                       ozg_copy_how how, void *out)
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

static ozg_status fetch_lines(const monitor *w, const side *of, const int64_t *index, int64_t count,
                              void *out)
{
    const ozg_entries lines = {of->view.x, w->s->type, NULL,          index,
                               w->k,       count,      of->view.step, of->view.line_stride};

    return w->ctx->backend->gather(w->ctx, &lines, out);
}

/* Where other lines meet chosen ones in C or C0. */
static ozg_status fetch_entries(const monitor *w, const void *c, int64_t ld, void *out)
{
    const int by_rows = w->of_chosen == &w->rows;
    const ozg_entries block = {c,         w->s->type, w->other,         w->chosen,
                               w->others, w->count,   by_rows ? ld : 1, by_rows ? 1 : ld};

    return w->ctx->backend->gather(w->ctx, &block, out);
}

/* Brings what the block needs of matrices on a device. */
static ozg_status fetch_block(const monitor *w)
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
    if (!status && !beta_is_zero(w))
        status = fetch_entries(w, w->c0, w->ldc0, w->given_c0);
    return status;
}

/* ---- the three products of a block --------------------------------------------------------------- */

static ozg_status multiply_type(const monitor *w, char type, int64_t k, const void *alpha, const void *beta,
                                void *c, ozg_accuracy acc)
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
static ozg_status multiply(const monitor *w, char type, int64_t k, const void *alpha, const void *beta,
                           void *c, ozg_accuracy acc)
{
    const ozg_status status = multiply_type(w, type, k, alpha, beta, c, acc);

    if (status && w->maker != w->ctx)
        return ozg_fail(w->ctx, status, "%s", ozg_last_error(w->maker));
    return status;
}

/* The element of C or C0, or of their copies, where other line o meets chosen line q. */
static int64_t place(const monitor *w, int64_t o, int64_t q, int64_t ld)
{
    if (w->given_y)
        return o + q * w->others;
    return w->of_chosen == &w->rows ? w->chosen[q] + w->other[o] * ld : w->other[o] + w->chosen[q] * ld;
}

static const void *matrix_c(const monitor *w)
{
    return w->given_y ? w->given_c : w->d->c;
}

static const void *matrix_c0(const monitor *w)
{
    return w->given_y ? w->given_c0 : w->c0;
}

/* E */
static ozg_status expect(monitor *w)
{
    const size_t size = (size_t)ozg_type_size(w->s->type);
    char *out = w->expected;

    copy_lines(w, w->of_others, w->other, w->others, OZG_COPY_GIVEN, w->y);
    copy_lines(w, w->of_chosen, w->chosen, w->count, OZG_COPY_GIVEN, w->x);
    for (int64_t q = 0; q < w->count && !beta_is_zero(w); q++)
        for (int64_t o = 0; o < w->others; o++, out += size)
            memcpy(out, (const char *)matrix_c0(w) + place(w, o, q, w->ldc0) * (int64_t)size, size);
    return multiply(w, w->s->type, w->k, w->alpha, w->beta, w->expected, ozg_rounded());
}

static double number(const monitor *w, const void *x, int64_t at)
{
    const uint64_t bits = ozg_load_bits(x, w->single, at);
    double value;

    memcpy(&value, &bits, 8);
    return value;
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
static two old_minus_given(const monitor *w, int64_t o, int64_t q, int part)
{
    two s = {-number(w, matrix_c(w), place(w, o, q, w->d->ldc) * w->parts + part), 0, 0}, sum;

    for (int i = 0; i < w->parts; i++) { /* beta_i meets component part ^ i of C0, Im Im negatively */
        const double beta = i && !part ? -w->d->beta[i] : w->d->beta[i];

        if (!ozg_is_zero(beta))
            add_product(&s, beta, number(w, matrix_c0(w), place(w, o, q, w->ldc0) * w->parts + (part ^ i)));
    }
    sum = (two){s.high, 0, 0}; /* high := RN(high + low) */
    add(&sum, s.low);
    sum.slack = s.slack;
    return sum;
}

/* R, but for L */
static ozg_status subtract(monitor *w)
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
static double weight_of_old(const monitor *w, int64_t o, int64_t q, int part)
{
    double sum = 0;

    for (int i = 0; i < w->parts; i++)
        if (!ozg_is_zero(w->d->beta[i]))
            sum += fabs(w->d->beta[i]) *
                   fabs(number(w, matrix_c0(w), place(w, o, q, w->ldc0) * w->parts + (part ^ i)));
    return sum;
}

/* W. Complex lines are real ones of 2k numbers: |xr||yr| + |xi||yi|, and exchanged |xr||yi| + |xi||yr|. */
static ozg_status weigh(monitor *w)
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

static void judge_component(monitor *w, int64_t o, int64_t q, int part)
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
                     fabs(number(w, w->expected, at) - number(w, matrix_c(w), at_c)), ldexp(1, unit));
    r->max_error = fmax(r->max_error, error);
    r->max_ulp = fmax(r->max_ulp, ldexp(error, -unit));
    of_entry =
        grade(error, isfinite(rest.slack) ? rest.slack : 0, w->weight[part][o + q * w->others], w->single);
    if (same && of_entry > 1) /* |RN(X) - X| <= u |X| <= u W, or half the smallest subnormal */
        of_entry = 1;
    r->worst_grade = fmax(r->worst_grade, of_entry);
}

static ozg_status check_block(monitor *w)
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

/* ---- blocks ------------------------------------------------------------------------------------- */

/* Lines of doubles that are copied at once. */
static int64_t lines_at_once(const monitor *w, int64_t most)
{
    const int64_t fit = w->k ? BYTES_A_SIDE / (8 * w->parts * w->k) : most;

    return fit < LINES_LEAST ? LINES_LEAST : ozg_min64(fit, most);
}

/* Every chosen line with the other lines from number `from` on of the other side, index[from..count). */
static ozg_status check_lines(monitor *w, const side *chosen, const side *others, int64_t from)
{
    const int64_t chosen_step = lines_at_once(w, CHOSEN_MOST), others_step = lines_at_once(w, OTHERS_MOST);
    ozg_status status = OZG_OK;

    w->of_chosen = chosen;
    w->of_others = others;
    for (int64_t o = from; o < others->count && !status; o += others_step)
        for (int64_t q = 0; q < chosen->chosen && !status; q += chosen_step) {
            w->other = others->index + o;
            w->others = ozg_min64(others->count - o, others_step);
            w->chosen = chosen->index + q;
            w->count = ozg_min64(chosen->chosen - q, chosen_step);
            status = check_block(w);
        }
    return status;
}

/* Memory for the largest block and the numbers of lines, one piece; NULL: none. */
static void *allocate(monitor *w)
{
    const int64_t longest = w->rows.count > w->columns.count ? w->rows.count : w->columns.count;
    const int64_t most = w->rows.chosen > w->columns.chosen ? w->rows.chosen : w->columns.chosen;
    const size_t y = (size_t)ozg_min64(lines_at_once(w, OTHERS_MOST), longest),
                 x = (size_t)ozg_min64(lines_at_once(w, CHOSEN_MOST), most), parts = (size_t)w->parts;
    const size_t line = (size_t)w->k * parts, entries = y * x * parts;
    const size_t numbers_of_lines = (size_t)w->rows.count + (size_t)w->columns.count;
    const size_t given = w->ctx->device_pointers ? (y + x) * line + 2 * entries : 0;
    const size_t doubles = (y + x) * line + 3 * entries + given;
    double *memory = malloc((doubles + numbers_of_lines) * 8);

    if (!memory)
        return NULL;
    w->y = memory;
    w->x = memory + y * line;
    w->expected = memory + (y + x) * line;
    w->residual = memory + (y + x) * line + entries;
    w->weight[0] = w->residual + entries;
    w->weight[1] = w->weight[0] + y * x; /* complex only */
    if (given) {
        w->given_y = w->weight[0] + entries;
        w->given_x = (double *)w->given_y + y * line;
        w->given_c = (double *)w->given_x + x * line;
        w->given_c0 = (double *)w->given_c + entries;
    }
    w->rows.index = (int64_t *)(void *)(memory + doubles);
    w->columns.index = w->rows.index + w->rows.count;
    return memory;
}

/* The products are the monitor's own: nothing is refused for its repairs, and none reports its progress. */
static ozg_status check_all(monitor *w, uint64_t seed)
{
    ozg_context *ctx = w->maker;
    const uint64_t repair_limit = ctx->repair_limit;
    void (*const progress)(void *, double) = ctx->progress;
    fenv_t caller;
    ozg_status status;

    choose(&w->rows, &seed);
    choose(&w->columns, &seed);
    ctx->repair_limit = UINT64_MAX;
    ctx->progress = NULL;
    fegetenv(&caller);
    fesetenv(FE_DFL_ENV);
    status = check_lines(w, &w->rows, &w->columns, 0);
    if (!status) /* the rest of the chosen columns */
        status = check_lines(w, &w->columns, &w->rows, w->rows.chosen);
    fesetenv(&caller);
    ctx->repair_limit = repair_limit;
    ctx->progress = progress;
    return status;
}

/* A context for lines that come from a device. */
static ozg_status open_maker(monitor *w)
{
    ozg_config cfg;
    ozg_status status;

    ozg_config_init(&cfg);
    cfg.backend = OZG_BACKEND_CPU;
    cfg.threads = w->ctx->threads;
    status = ozg_create(&w->maker, &cfg);
    return status ? ozg_fail(w->ctx, status, "%s", ozg_last_error(NULL)) : OZG_OK;
}

static ozg_status run(monitor *w, uint64_t seed)
{
    ozg_context *ctx = w->ctx;
    const int64_t most = w->rows.count > w->columns.count ? w->rows.count : w->columns.count;
    void *memory = most > LENGTH_MOST || w->k > LENGTH_MOST ? NULL : allocate(w);
    ozg_status status = OZG_OK;

    if (!memory)
        return ozg_fail(ctx, OZG_E_NOMEM, "no memory to check %lld rows and %lld columns; use fewer lines",
                        (long long)w->rows.chosen, (long long)w->columns.chosen);
    w->maker = ctx;
    if (w->given_y)
        status = open_maker(w);
    if (!status)
        status = check_all(w, seed);
    if (w->maker != ctx)
        ozg_destroy(w->maker);
    free(memory);
    return status;
}

/* ---- public ------------------------------------------------------------------------------------- */

/* The rules of a product for A, B and C. C0 matters only if beta is not 0, and may share elements. */
static ozg_status check_matrices(monitor *w, ozg_shape *s)
{
    ozg_context *ctx = w->ctx;
    ozg_status status = ozg_problem_check_shape(s, &numbers, ozg_error_buffer(ctx), OZG_ERROR_SIZE);

    if (!status)
        status = ozg_problem_check_data(s, w->d, &numbers, ozg_error_buffer(ctx), OZG_ERROR_SIZE);
    if (!status)
        status = ctx->backend->check(ctx, s, w->d, &numbers);
    if (!status && !beta_is_zero(w)) {
        ozg_shape alone = *s;
        ozg_data old = *w->d;

        alone.k = 0; /* A and B are checked */
        old.c = (void *)(uintptr_t)w->c0;
        old.ldc = w->ldc0;
        status = ozg_problem_check_data(&alone, &old, &numbers_c0, ozg_error_buffer(ctx), OZG_ERROR_SIZE);
        if (!status)
            status = ctx->backend->check(ctx, &alone, &old, &numbers_c0);
    }
    return status;
}

static ozg_status check(monitor *w, ozg_shape *s, int64_t lines)
{
    const ozg_status status = check_matrices(w, s);

    if (status || lines >= 1)
        return status;
    return ozg_fail(w->ctx, OZG_E_ARG, "argument %d (lines) is %lld; it must be at least 1", NUMBER_LINES,
                    (long long)lines);
}

static ozg_status typed_monitor(ozg_context *ctx, ozg_shape *s, ozg_data *d, const void *alpha,
                                const void *beta, const void *c0, int64_t ldc0, int64_t lines, uint64_t seed,
                                ozg_monitor *result)
{
    monitor w = {.ctx = ctx, .s = s, .d = d, .alpha = alpha, .beta = beta, .c0 = c0, .ldc0 = ldc0};
    ozg_status status;

    if (result)
        memset(result, 0, sizeof *result);
    if (!ctx)
        return ozg_fail(NULL, OZG_E_ARG, "argument 1 (ctx) is NULL");
    if (!alpha || !beta)
        return ozg_fail(ctx, OZG_E_ARG, "argument %d (%s) is NULL", alpha ? numbers.beta : numbers.alpha,
                        alpha ? "beta" : "alpha");
    w.single = ozg_type_single(s->type);
    w.parts = 1 + ozg_type_complex(s->type);
    for (int part = 0; part < w.parts; part++) {
        d->alpha[part] = number(&w, alpha, part);
        d->beta[part] = number(&w, beta, part);
    }
    status = check(&w, s, lines);
    if (!status && !result)
        status = ozg_fail(ctx, OZG_E_ARG, "argument %d (result) is NULL", NUMBER_RESULT);
    if (status)
        return status;
    w.k = ozg_nothing_to_multiply(s, d) ? 0 : s->k;
    w.rows = (side){ozg_view_of(s->type, 'A', s->transa, d->a, d->lda, s->m, s->k), s->m,
                    ozg_min64(lines, s->m), NULL};
    w.columns = (side){ozg_view_of(s->type, 'B', s->transb, d->b, d->ldb, s->n, s->k), s->n,
                       ozg_min64(lines, s->n), NULL};
    w.result = result;
    result->rows = w.rows.chosen;
    result->columns = w.columns.chosen;
    if (s->m > 0 && s->n > 0)
        status = run(&w, seed);
    if (status)
        memset(result, 0, sizeof *result);
    return status;
}

ozg_status ozg_monitor_dgemm(ozg_context *ctx, char transa, char transb, int64_t m, int64_t n, int64_t k,
                             double alpha, const double *a, int64_t lda, const double *b, int64_t ldb,
                             double beta, const double *c0, int64_t ldc0, const double *c, int64_t ldc,
                             int64_t lines, uint64_t seed, ozg_monitor *result)
{
    ozg_shape s = {'d', transa, transb, m, n, k, ozg_rounded()};
    ozg_data d = {{0, 0}, {0, 0}, a, b, lda, ldb, NULL, NULL, (void *)(uintptr_t)c, ldc};

    return typed_monitor(ctx, &s, &d, &alpha, &beta, c0, ldc0, lines, seed, result);
}

ozg_status ozg_monitor_sgemm(ozg_context *ctx, char transa, char transb, int64_t m, int64_t n, int64_t k,
                             float alpha, const float *a, int64_t lda, const float *b, int64_t ldb,
                             float beta, const float *c0, int64_t ldc0, const float *c, int64_t ldc,
                             int64_t lines, uint64_t seed, ozg_monitor *result)
{
    ozg_shape s = {'s', transa, transb, m, n, k, ozg_rounded()};
    ozg_data d = {{0, 0}, {0, 0}, a, b, lda, ldb, NULL, NULL, (void *)(uintptr_t)c, ldc};

    return typed_monitor(ctx, &s, &d, &alpha, &beta, c0, ldc0, lines, seed, result);
}

ozg_status ozg_monitor_zgemm(ozg_context *ctx, char transa, char transb, int64_t m, int64_t n, int64_t k,
                             const double alpha[2], const double *a, int64_t lda, const double *b,
                             int64_t ldb, const double beta[2], const double *c0, int64_t ldc0,
                             const double *c, int64_t ldc, int64_t lines, uint64_t seed, ozg_monitor *result)
{
    ozg_shape s = {'z', transa, transb, m, n, k, ozg_rounded()};
    ozg_data d = {{0, 0}, {0, 0}, a, b, lda, ldb, NULL, NULL, (void *)(uintptr_t)c, ldc};

    return typed_monitor(ctx, &s, &d, alpha, beta, c0, ldc0, lines, seed, result);
}

ozg_status ozg_monitor_cgemm(ozg_context *ctx, char transa, char transb, int64_t m, int64_t n, int64_t k,
                             const float alpha[2], const float *a, int64_t lda, const float *b, int64_t ldb,
                             const float beta[2], const float *c0, int64_t ldc0, const float *c, int64_t ldc,
                             int64_t lines, uint64_t seed, ozg_monitor *result)
{
    ozg_shape s = {'c', transa, transb, m, n, k, ozg_rounded()};
    ozg_data d = {{0, 0}, {0, 0}, a, b, lda, ldb, NULL, NULL, (void *)(uintptr_t)c, ldc};

    return typed_monitor(ctx, &s, &d, alpha, beta, c0, ldc0, lines, seed, result);
}
