/*
 * accuracy.c - exact products by long accumulators, and the promises of accuracies that look at the data.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <gmp.h>

#include "accuracy.h"

/*
 * An accumulator: limb 0 has the weight 2^-2176. Products of finite numbers are multiples of 2^-2148 below
 * 2^2048; 70 limbs hold 2^256 of them.
 */
enum { LIMBS = 70, LOWEST = -2176 };
_Static_assert(GMP_LIMB_BITS == 64, "the mantissa of a double is one limb");

/* (-1)^neg mant 2^(exp - 1088), exp >= 0 */
struct number {
    mp_limb_t mant;
    int exp, neg;
};

/* Sums of the positive and of the negative terms of a component: their sum is |A||B|, their difference AB. */
struct sums {
    mp_limb_t term[2][LIMBS];
};

static void *allocate(int64_t count, size_t size)
{
    void *p = calloc((size_t)count + 1, size);

    if (p == NULL)
        abort();
    return p;
}

static struct number to_number(double x)
{
    struct number out = {0, 0, signbit(x) != 0};
    int e;

    if (x != 0) {
        out.mant = (mp_limb_t)ldexp(frexp(fabs(x), &e), 53);
        out.exp = e - 53 - LOWEST / 2;
        for (; out.exp < 0; out.exp++) /* below 2^-1088 the mantissa of a subnormal number ends in zeros */
            out.mant >>= 1;
    }
    return out;
}

static void add_product(struct sums *s, struct number x, struct number y, int negate)
{
    mp_limb_t p[3], *to = s->term[x.neg ^ y.neg ^ negate];
    const int at = (x.exp + y.exp) / 64, bit = (x.exp + y.exp) % 64;

    if (x.mant == 0 || y.mant == 0)
        return;
    p[1] = mpn_mul_1(p, &x.mant, 1, y.mant);
    p[2] = bit ? mpn_lshift(p, p, 2, (unsigned)bit) : 0;
    mpn_add(to + at, to + at, LIMBS - at, p, 3);
}

/*
 * All numbers of the rows of op(A) or the columns of op(B), line by line; special[line]: it has Inf or NaN.
 */
static struct number *numbers_of(const struct gemm *g, char side, int *special)
{
    const struct view v = side == 'A' ? gemm_view_a(g) : gemm_view_b(g);
    const int64_t lines = side == 'A' ? g->m : g->n, per_line = g->k * type_parts(g->type);
    struct number *out = allocate(lines * per_line, sizeof *out);

    for (int64_t q = 0; q < lines * per_line; q++) {
        const int64_t line = q / per_line, p = q % per_line / type_parts(g->type);
        const int part = (int)(q % type_parts(g->type));
        const double x = side == 'A' ? view_get(&v, line, p, part) : view_get(&v, p, line, part);

        if (isfinite(x))
            out[q] = to_number(x);
        else
            special[line] = 1;
    }
    return out;
}

/* The two sums of one component: a and b are k numbers or pairs. */
static void dot(struct sums *s, const struct gemm *g, const struct number *a, const struct number *b,
                int part)
{
    memset(s, 0, sizeof *s);
    for (int64_t p = 0; p < g->k; p++) {
        if (!type_is_complex(g->type)) {
            add_product(s, a[p], b[p], 0);
        } else {
            add_product(s, a[2 * p], b[2 * p + part], 0);
            add_product(s, a[2 * p + 1], b[2 * p + 1 - part], part == 0);
        }
    }
}

/* out := the value of limbs, without zeros at its end */
static void to_ext(struct ext *out, const mp_limb_t *limbs, int negate)
{
    mp_bitcnt_t zeros;

    mpz_import(out->z, LIMBS, -1, sizeof *limbs, 0, 0, limbs);
    out->e = LOWEST;
    out->kind = EXT_FINITE;
    zeros = mpz_sgn(out->z) == 0 ? 0 : mpz_scan1(out->z, 0);
    mpz_tdiv_q_2exp(out->z, out->z, zeros);
    out->e += (long)zeros;
    if (negate)
        mpz_neg(out->z, out->z);
}

/* AB and |A||B| of all components of finite lines. */
static void multiply(struct exact *x, const struct number *a, const struct number *b, const int *special_a,
                     const int *special_b, int keep_product)
{
    const struct gemm *g = x->product.g;
    const int64_t per_line = g->k * type_parts(g->type);

    for (int64_t q = 0; q < component_count(g); q++) {
        const struct component at = component_at(g, q);
        struct sums s;

        if (special_a[at.i] || special_b[at.j])
            continue;
        dot(&s, g, a + at.i * per_line, b + at.j * per_line, at.part);
        if (!keep_product) {
            const int negative = mpn_cmp(s.term[0], s.term[1], LIMBS) < 0;
            mp_limb_t difference[LIMBS];

            mpn_sub_n(difference, s.term[negative], s.term[!negative], LIMBS);
            to_ext(&x->product.ab[q], difference, negative);
        }
        mpn_add_n(s.term[0], s.term[0], s.term[1], LIMBS);
        to_ext(&x->magnitude[q], s.term[0], 0);
    }
}

static int64_t count_set(const int *flag, int64_t count)
{
    int64_t n = 0;

    for (int64_t q = 0; q < count; q++)
        n += flag[q];
    return n;
}

void exact_open(struct exact *x, const struct gemm *g)
{
    const int64_t components = component_count(g);
    struct number *a, *b;
    int *special_a, *special_b;

    memset(x, 0, sizeof *x);
    x->product.g = g;
    x->product.exact = 1;
    x->empty = g->k == 0 || (g->alpha[0] == 0 && (!type_is_complex(g->type) || g->alpha[1] == 0));
    if (x->empty || components == 0)
        return;
    special_a = allocate(g->m, sizeof *special_a);
    special_b = allocate(g->n, sizeof *special_b);
    a = numbers_of(g, 'A', special_a);
    b = numbers_of(g, 'B', special_b);
    x->special_rows = count_set(special_a, g->m);
    x->special_cols = count_set(special_b, g->n);
    x->magnitude = allocate(components, sizeof *x->magnitude);
    for (int64_t q = 0; q < components; q++)
        ext_init(&x->magnitude[q]);
    if (x->special_rows + x->special_cols > 0) { /* the oracle knows how Inf and NaN add */
        oracle_open(&x->product, g, ORACLE_EXACT);
    } else {
        x->product.ab = allocate(components, sizeof *x->product.ab);
        for (int64_t q = 0; q < components; q++)
            ext_init(&x->product.ab[q]);
    }
    multiply(x, a, b, special_a, special_b, x->special_rows + x->special_cols > 0);
    free(special_a);
    free(special_b);
    free(a);
    free(b);
}

void exact_close(struct exact *x)
{
    for (int64_t q = 0; x->magnitude != NULL && q < component_count(x->product.g); q++)
        ext_clear(&x->magnitude[q]);
    free(x->magnitude);
    oracle_close(&x->product);
}

void *exact_image(const struct exact *x)
{
    void *image = gemm_image(x->product.g);

    oracle_result(&x->product, image);
    return image;
}

int64_t component_count(const struct gemm *g)
{
    return g->m * g->n * type_parts(g->type);
}

struct component component_at(const struct gemm *g, int64_t q)
{
    const int parts = type_parts(g->type);

    return (struct component){q / parts % g->m, q / parts / g->m, (int)(q % parts)};
}

double component_get(const struct gemm *g, const void *image, struct component at)
{
    return number_get(g->type, image, (at.i + at.j * g->ldc) * type_parts(g->type) + at.part);
}

static const struct ext *magnitude_at(const struct exact *x, struct component at)
{
    const struct gemm *g = x->product.g;

    return &x->magnitude[(at.i + at.j * g->m) * type_parts(g->type) + at.part];
}

/* sum += |scalar| y, y not negative; a scalar of 0 contributes nothing */
static void add_size(struct ext *sum, double scalar, const struct ext *y)
{
    struct ext term;

    if (scalar == 0)
        return;
    ext_init(&term);
    ext_set_double(&term, fabs(scalar));
    ext_mul(&term, y);
    ext_add(sum, &term);
    ext_clear(&term);
}

void exact_size(const struct exact *x, const void *before, struct component at, struct ext *size)
{
    const struct gemm *g = x->product.g;
    const struct component other = {at.i, at.j, 1 - at.part};
    struct ext old;

    ext_init(&old);
    ext_set_double(size, 0);
    for (int q = 0; q < type_parts(g->type); q++) {
        const struct component from = q == 0 ? at : other;

        if (!x->empty)
            add_size(size, g->alpha[q], magnitude_at(x, from));
        if (g->beta[q] != 0) {
            ext_set_double(&old, fabs(component_get(g, before, from)));
            add_size(size, g->beta[q], &old);
        }
    }
    ext_clear(&old);
}

/* value := the exact component; alpha = 0 and k = 0 included */
static void exact_value(const struct exact *x, const void *before, struct component at, struct ext *value)
{
    struct gemm g = *x->product.g;
    struct ext zero[2];
    struct oracle o = {&g, ORACLE_EXACT, 1, NULL, NULL, zero};

    if (!x->empty) {
        oracle_value(&x->product, before, at.i, at.j, at.part, value);
        return;
    }
    /* one entry of an empty product: op(A) op(B) = 0 */
    ext_init(&zero[0]);
    ext_init(&zero[1]);
    g.m = g.n = 1;
    oracle_value(&o, (const char *)before + (size_t)(at.i + at.j * g.ldc) * type_bytes(g.type), 0, 0, at.part,
                 value);
    ext_clear(&zero[0]);
    ext_clear(&zero[1]);
}

int exact_error(const struct exact *x, const void *before, const void *after, struct component at,
                struct ext *error)
{
    const struct gemm *g = x->product.g;
    struct ext c;

    exact_value(x, before, at, error);
    if (error->kind != EXT_FINITE || isinf(ext_round(error, type_is_single(g->type)))) {
        ext_set_double(error, 0);
        return 0;
    }
    ext_init(&c);
    ext_set_double(&c, component_get(g, after, at));
    if (c.kind == EXT_NAN)
        c.kind = EXT_PLUS_INF; /* as wrong as an infinity */
    ext_neg(&c);
    ext_add(error, &c);
    ext_abs(error);
    ext_clear(&c);
    return 1;
}

/* x / y, both above 0, to a few digits */
static double quotient(const struct ext *x, const struct ext *y)
{
    long ex, ey;
    double fx, fy;

    if (x->kind != EXT_FINITE)
        return HUGE_VAL;
    if (mpz_sgn(x->z) == 0)
        return 0;
    if (mpz_sgn(y->z) == 0)
        return HUGE_VAL;
    fx = mpz_get_d_2exp(&ex, x->z);
    fy = mpz_get_d_2exp(&ey, y->z);
    ex += x->e - ey - y->e;
    return ldexp(fx / fy, (int)(ex > 5000 ? 5000 : ex < -5000 ? -5000 : ex));
}

/* error <= limit; only finite numbers are compared exactly */
static int is_within(const struct ext *error, const struct ext *limit)
{
    if (limit->kind == EXT_PLUS_INF)
        return 1;
    return error->kind == EXT_FINITE && limit->kind == EXT_FINITE && ext_cmp(error, limit) <= 0;
}

/* E of every component against bound (if relative < 0) or relative S + eta. */
static void compare(const struct exact *x, const void *before, const void *after, double bound,
                    double relative, struct excess *out)
{
    const struct gemm *g = x->product.g;
    struct ext error, limit, size, eta;

    memset(out, 0, sizeof *out);
    ext_init(&error);
    ext_init(&limit);
    ext_init(&size);
    ext_init(&eta);
    ext_set_double(&eta, 1);
    ext_shift(&eta, type_is_single(g->type) ? -150 : -1075);
    for (int64_t q = 0; q < component_count(g); q++) {
        const struct component at = component_at(g, q);

        if (!exact_error(x, before, after, at, &error))
            continue;
        exact_size(x, before, at, &size);
        ext_set_double(&limit, relative < 0 ? bound : relative);
        if (relative >= 0) {
            ext_mul(&limit, &size);
            ext_add(&limit, &eta);
        }
        out->compared++;
        if (!is_within(&error, &limit) && out->beyond++ == 0) {
            out->first = at;
            out->error = ext_round(&error, 0);
            out->limit = ext_round(&limit, 0);
        }
        out->largest_error = fmax(out->largest_error, ext_round(&error, 0));
        out->largest_size = fmax(out->largest_size, ext_round(&size, 0));
        out->largest_ratio = fmax(out->largest_ratio, quotient(&error, &limit));
        out->largest_in_units =
            fmax(out->largest_in_units, ldexp(quotient(&error, &size), type_is_single(g->type) ? 24 : 53));
    }
    ext_clear(&error);
    ext_clear(&limit);
    ext_clear(&size);
    ext_clear(&eta);
}

void native_excess(const struct exact *x, const void *before, const void *after, struct excess *out)
{
    const double f =
        nextafter(sqrt((double)x->product.g->k), 0) + 1; /* rounded down: never looser than the promise */

    compare(x, before, after, 0, ldexp(nextafter(f, 0), type_is_single(x->product.g->type) ? -24 : -53), out);
}

void bound_excess(const struct exact *x, const void *before, const void *after, double bound,
                  struct excess *out)
{
    compare(x, before, after, bound, -1, out);
}

void relative_excess(const struct exact *x, const void *before, const void *after, double relative,
                     struct excess *out)
{
    compare(x, before, after, 0, relative, out);
}

static int complain(const struct gemm *g, const struct excess *e, const char *label, const char *what)
{
    gemm_print(g, label);
    fprintf(stderr, "  row %lld column %lld part %d: error %a above %s %a (%lld of %lld components)\n",
            (long long)e->first.i, (long long)e->first.j, e->first.part, e->error, what, e->limit,
            (long long)e->beyond, (long long)e->compared);
    return 0;
}

/* Components that are no number or overflow, and the padding, against the correctly rounded image. */
static int same_elsewhere(const struct exact *x, const void *before, const void *after, const char *label)
{
    const struct gemm *g = x->product.g;
    const size_t bytes = gemm_image_bytes(g);
    struct gemm padded = *g;
    struct ext error, value;
    char *expected, *actual = allocate((int64_t)bytes, 1);
    int ok;

    ext_init(&error);
    ext_init(&value);
    padded.c = (void *)(uintptr_t)before;
    if (bytes > 0)
        memcpy(actual, after, bytes);
    expected = gemm_image(&padded);
    oracle_result(&x->product, expected);
    for (int64_t q = 0; q < component_count(g); q++) {
        const struct component at = component_at(g, q);
        const size_t number = type_number_bytes(g->type);
        const size_t place =
            ((size_t)(at.i + at.j * g->ldc) * (size_t)type_parts(g->type) + (size_t)at.part) * number;
        int is_free = exact_error(x, before, after, at, &error);

        if (!is_free) { /* near the largest number, it or an infinity */
            exact_value(x, before, at, &value);
            is_free = value.kind == EXT_FINITE && fabs(component_get(g, after, at)) >= ldexp(1, 100);
        }
        if (is_free)
            memcpy(expected + place, actual + place, number);
    }
    ok = gemm_same(&padded, actual, expected, label);
    ext_clear(&error);
    ext_clear(&value);
    free(expected);
    free(actual);
    return ok;
}

int native_holds(const struct exact *x, const void *before, const void *after, const char *label)
{
    struct excess excess;

    native_excess(x, before, after, &excess);
    if (excess.beyond > 0)
        return complain(x->product.g, &excess, label, "the promise");
    return same_elsewhere(x, before, after, label);
}

static int number_is(const struct gemm *g, const char *label, const char *name, int64_t got, int64_t want)
{
    if (got == want)
        return 1;
    gemm_print(g, label);
    fprintf(stderr, "  report.%s is %lld, expected %lld\n", name, (long long)got, (long long)want);
    return 0;
}

/* report.exact says that nothing was cut off: then every bit is that of the exact product, rounded once. */
static int exact_holds(const struct exact *x, const void *before, const void *after, const char *label)
{
    struct gemm g = *x->product.g;
    void *expected;
    int ok;

    g.c = (void *)(uintptr_t)before;
    expected = gemm_image(&g);
    oracle_result(&x->product, expected);
    ok = gemm_same(&g, after, expected, label);
    if (!ok)
        fprintf(stderr, "  although report.exact is 1\n");
    free(expected);
    return ok;
}

int report_holds(const struct exact *x, const void *before, const void *after, const ozg_report *report,
                 const char *label)
{
    const struct gemm *g = x->product.g;
    const uint64_t entries = (uint64_t)(g->m * g->n) * (uint64_t)type_parts(g->type);
    struct excess excess;
    int ok = 1;

    bound_excess(x, before, after, report->bound, &excess);
    if (excess.beyond > 0)
        ok = complain(g, &excess, label, "report.bound");
    relative_excess(x, before, after, report->bound_relative, &excess);
    if (report->bound_relative != 0 && excess.beyond > 0)
        ok = complain(g, &excess, label, "report.bound_relative x size");
    ok &= number_is(g, label, "emulated", report->emulated, component_count(g) > 0 && !x->empty);
    ok &= number_is(g, label, "special_rows", (int64_t)report->special_rows, x->special_rows);
    ok &= number_is(g, label, "special_cols", (int64_t)report->special_cols, x->special_cols);
    if (report->exact)
        ok &= exact_holds(x, before, after, label);
    if (report->repaired > entries || report->tested > entries || !(report->bound >= 0) ||
        !(report->bound_relative >= 0) || (report->emulated && (report->moduli < 2 || report->moduli > 49))) {
        gemm_print(g, label);
        fprintf(stderr, "  tested %llu, repaired %llu, bound %a, relative %a, %d moduli\n",
                (unsigned long long)report->tested, (unsigned long long)report->repaired, report->bound,
                report->bound_relative, report->moduli);
        ok = 0;
    }
    return ok;
}

void *accuracy_run(ozg_context *ctx, const struct gemm *g, ozg_accuracy acc, ozg_report *report,
                   const char *label)
{
    void *after = gemm_image(g);
    ozg_status status;

    if (report != NULL)
        memset(report, 0xAA, sizeof *report);
    status = gemm_run(ctx, g, after, acc, report);
    if (status == OZG_OK)
        return after;
    gemm_print(g, label);
    fprintf(stderr, "  %s: %s\n", ozg_status_name(status), ozg_last_error(ctx));
    free(after);
    return NULL;
}

int accuracy_same(ozg_context *ctx, const struct gemm *g, ozg_accuracy acc, const void *expected,
                  ozg_report *report, const char *label)
{
    void *after = accuracy_run(ctx, g, acc, report, label);
    int ok = after != NULL && gemm_same(g, after, expected, label);

    free(after);
    return ok;
}

/* The nearest float, by way of memory: gcc 12 drops a vector of (double)(float) conversions. */
static double to_single(double x)
{
    float narrow;

    number_set('s', &narrow, 0, x);
    return number_get('s', &narrow, 0);
}

void accuracy_scalars(struct gemm *g, int q)
{
    static const double real[][2] = {
        {1, 0}, {-1, 1}, {0.125, -2}, {1.0 / 3, 0}, {3.14159265358979323846, -0.7}};
    static const double imaginary[][2] = {{0, 0}, {0, 0}, {0, 1}, {-2.7182818284590452354, 0.3}, {1, 0}};
    const int single = type_is_single(g->type);

    for (int s = 0; s < 2; s++) {
        double *scalar = s == 0 ? g->alpha : g->beta;

        scalar[0] = real[q % 5][s];
        scalar[1] = type_is_complex(g->type) ? imaginary[q / 5 % 5][s] : 0;
        for (int part = 0; part < 2 && single; part++)
            scalar[part] = to_single(scalar[part]);
    }
}
