/*
 * test_monitor.c - ozg_?gemm_monitor() against exact numbers: errors of every component, Inf and NaN.
 *
 * The expected figures come from GMP: the exact value of each component, its distance from C, and the sum of
 * the magnitudes of its terms.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "check.h"
#include "../unit/environment.h"

static const char types[] = {'s', 'd', 'c', 'z'};
static ozg_context *ctx;
static struct arena arena;

static int open_all(void **state)
{
    ozg_config cfg;

    (void)state;
    arena_open(&arena, 1 << 20);
    ozg_config_init(&cfg);
    cfg.threads = 1; /* most products are tiny */
    return ozg_create(&ctx, &cfg) == OZG_OK ? 0 : -1;
}

static int close_all(void **state)
{
    (void)state;
    ozg_destroy(ctx);
    arena_close(&arena);
    return 0;
}

/* The call of the type; g->c is C before the product. */
static ozg_status monitor(ozg_context *of, const struct gemm *g, const void *c0, const void *c, int64_t lines,
                          uint64_t seed, ozg_monitor *result)
{
    const float alpha[2] = {(float)g->alpha[0], (float)g->alpha[1]};
    const float beta[2] = {(float)g->beta[0], (float)g->beta[1]};

    switch (g->type) {
    case 's':
        return ozg_monitor_sgemm(of, g->transa, g->transb, g->m, g->n, g->k, alpha[0], g->a, g->lda, g->b,
                                 g->ldb, beta[0], c0, g->ldc, c, g->ldc, lines, seed, result);
    case 'd':
        return ozg_monitor_dgemm(of, g->transa, g->transb, g->m, g->n, g->k, g->alpha[0], g->a, g->lda, g->b,
                                 g->ldb, g->beta[0], c0, g->ldc, c, g->ldc, lines, seed, result);
    case 'c':
        return ozg_monitor_cgemm(of, g->transa, g->transb, g->m, g->n, g->k, alpha, g->a, g->lda, g->b,
                                 g->ldb, beta, c0, g->ldc, c, g->ldc, lines, seed, result);
    default:
        return ozg_monitor_zgemm(of, g->transa, g->transb, g->m, g->n, g->k, g->alpha, g->a, g->lda, g->b,
                                 g->ldb, g->beta, c0, g->ldc, c, g->ldc, lines, seed, result);
    }
}

/* ---- the expected figures ----------------------------------------------------------------------- */

/* |x| / |y| of finite numbers, both beyond the range of double if need be. */
static double ratio(const struct ext *x, const struct ext *y)
{
    long ex, ey;
    const double mx = fabs(mpz_get_d_2exp(&ex, x->z)), my = fabs(mpz_get_d_2exp(&ey, y->z));
    const long e = ex + x->e - ey - y->e;

    if (mx == 0)
        return 0;
    return my == 0 ? HUGE_VAL : ldexp(mx / my, e > 5000 ? 5000 : e < -5000 ? -5000 : (int)e);
}

/* sum += |x y| */
static void add_magnitude(struct ext *sum, double x, double y)
{
    struct ext term, factor;

    if (x == 0 || y == 0)
        return;
    ext_init(&term);
    ext_init(&factor);
    ext_set_double(&term, fabs(x));
    ext_set_double(&factor, fabs(y));
    ext_mul(&term, &factor);
    ext_add(sum, &term);
    ext_clear(&term);
    ext_clear(&factor);
}

/* out[part] := the sum of |Re| and |Im| products of A and B in that part of AB. */
static void magnitudes_of_ab(const struct gemm *g, int64_t i, int64_t j, struct ext out[2])
{
    const struct view a = gemm_view_a(g), b = gemm_view_b(g);
    const int parts = type_parts(g->type);

    for (int64_t p = 0; p < g->k; p++)
        for (int x = 0; x < parts; x++)
            for (int y = 0; y < parts; y++)
                add_magnitude(&out[x ^ y], view_get(&a, i, p, x), view_get(&b, p, j, y));
}

/* |alpha| |A||B| + |beta| |C0| of a component; |beta C0| alone where no product counts. */
static void weight(const struct gemm *g, int multiplied, int64_t i, int64_t j, int part, struct ext *out)
{
    const int parts = type_parts(g->type);
    struct ext ab[2], term;

    ext_init(&ab[0]);
    ext_init(&ab[1]);
    ext_init(&term);
    if (multiplied)
        magnitudes_of_ab(g, i, j, ab);
    ext_set_double(out, 0);
    for (int q = 0; q < parts; q++) {
        if (multiplied && g->alpha[q] != 0) {
            ext_set_double(&term, fabs(g->alpha[q]));
            ext_mul(&term, &ab[part ^ q]);
            ext_add(out, &term);
        }
        if (g->beta[q] != 0)
            add_magnitude(out, g->beta[q], number_get(g->type, g->c, (i + j * g->ldc) * parts + (part ^ q)));
    }
    ext_clear(&ab[0]);
    ext_clear(&ab[1]);
    ext_clear(&term);
}

/* alpha op(A) op(B) + beta C0 of a component. */
static void exact_value(const struct oracle *o, int64_t i, int64_t j, int part, struct ext *out)
{
    const struct gemm *g = o->g;
    const int parts = type_parts(g->type);
    struct ext term, old;

    if (o->ab != NULL) {
        oracle_value(o, g->c, i, j, part, out);
        return;
    }
    ext_init(&term);
    ext_init(&old);
    ext_set_double(out, 0);
    for (int q = 0; q < parts; q++)
        if (g->beta[q] != 0) {
            ext_set_double(&term, q == 1 && part == 0 ? -g->beta[q] : g->beta[q]);
            ext_set_double(&old, number_get(g->type, g->c, (i + j * g->ldc) * parts + (part ^ q)));
            ext_mul(&term, &old);
            ext_add(out, &term);
        }
    ext_clear(&term);
    ext_clear(&old);
}

/* The distance from |x| to the next number of the type. */
static double unit_of(double x, int single)
{
    const double size = fabs(x);

    if (single)
        return (double)nextafterf((float)size, HUGE_VALF) == HUGE_VAL
                   ? 0x1p104
                   : (double)nextafterf((float)size, HUGE_VALF) - size;
    return isinf(nextafter(size, HUGE_VAL)) ? 0x1p971 : nextafter(size, HUGE_VAL) - size;
}

/* What is expected, with a lower and an upper limit of each maximum. */
struct verdict {
    uint64_t compared, rounded, special;
    double error[2], ulps[2], grade[2];
};

static void widen(double limits[2], double low, double high)
{
    limits[0] = fmax(limits[0], low);
    limits[1] = fmax(limits[1], high);
}

/* How far off low bits of beta C0 - C may make the distance of C from X, if beta is not 0. */
static double off_by_old(double c, double beta_c0)
{
    const double sum = beta_c0 > 0 ? fabs(c) + beta_c0 : 0;

    return sum > 0x1p1020 ? HUGE_VAL : sum * 0x1p-100;
}

/* (|error| - eta) / (u W) <= grade, and at most 0.1 % above that; where W is near the ends of double, any. */
static void expect_grade(struct verdict *v, struct ext *error, const struct ext *w, double far, int single)
{
    const double u = single ? 0x1p-24 : 0x1p-53;
    struct ext one, eta;
    double whole, less, size;

    ext_init(&one);
    ext_init(&eta);
    ext_set_double(&one, 1);
    ext_set_double(&eta, -1);
    ext_shift(&eta, single ? -150 : -1075);
    size = ratio(w, &one);
    whole = ratio(error, w) / u;
    ext_abs(error);
    ext_add(error, &eta);
    less = ext_sign(error) > 0 ? ratio(error, w) / u : 0;
    widen(v->grade, less * (1 - 0x1p-45),
          size > 0x1p1020 || size < 0x1p-1000
              ? HUGE_VAL
              : 0x1p-1000 + ((single ? less : whole) + far / u / size) * 1.001);
    ext_clear(&one);
    ext_clear(&eta);
}

/* A finite component: value is exact, c is judged. */
static void expect_finite(struct verdict *v, const struct ext *value, const struct ext *w, double c,
                          int single, double beta_c0)
{
    const double unit = unit_of(ext_round(value, single), single);
    struct ext error, scale;
    double size, far;

    ext_init(&error);
    ext_init(&scale);
    ext_set_double(&error, c);
    ext_neg(&error);
    ext_add(&error, value);
    ext_set_double(&scale, 1);
    size = ratio(&error, &scale);
    far = size * 0x1p-49 + 0x1p-1074 + fmin(unit, off_by_old(c, beta_c0));
    widen(v->error, size - far, size + far);
    ext_set_double(&scale, unit);
    widen(v->ulps, ratio(&error, &scale) - far / unit, ratio(&error, &scale) + far / unit);
    expect_grade(v, &error, w, far + off_by_old(c, beta_c0) + 0x1p-1072, single);
    ext_clear(&error);
    ext_clear(&scale);
}

static void expect_component(struct verdict *v, const struct oracle *o, const void *want, const void *c,
                             int64_t i, int64_t j, int part)
{
    const struct gemm *g = o->g;
    const int single = type_is_single(g->type);
    const int64_t at = (i + j * g->ldc) * type_parts(g->type) + part;
    const double x = number_get(g->type, want, at), y = number_get(g->type, c, at);
    struct ext value, w;
    double beta_c0 = 0;
    int same = (isnan(x) && isnan(y)) || memcmp(&x, &y, sizeof x) == 0;

    v->compared++;
    v->rounded += (uint64_t)same;
    if (!isfinite(x) || !isfinite(y)) {
        v->special += !same;
        return;
    }
    ext_init(&value);
    ext_init(&w);
    exact_value(o, i, j, part, &value);
    weight(g, o->ab != NULL, i, j, part, &w);
    for (int q = 0; q < type_parts(g->type); q++)
        if (g->beta[q] != 0)
            beta_c0 += fabs(g->beta[q] * number_get(g->type, g->c, at - part + (part ^ q)));
    expect_finite(v, &value, &w, y, single, beta_c0);
    ext_clear(&value);
    ext_clear(&w);
}

static int within(const char *name, double got, const double limits[2])
{
    if (got >= limits[0] && got <= limits[1])
        return 1;
    fprintf(stderr, "%s is %.17g, expected %.17g to %.17g\n", name, got, limits[0], limits[1]);
    return 0;
}

/* All lines of C are judged as the exact numbers say. want: RN. */
static void expect_verdict(const struct oracle *o, const void *want, const void *c)
{
    const struct gemm *g = o->g;
    struct verdict v = {0, 0, 0, {0, 0}, {0, 0}, {0, 0}};
    ozg_monitor r;
    int good;

    for (int64_t q = 0; q < g->m * g->n; q++)
        for (int part = 0; part < type_parts(g->type); part++)
            expect_component(&v, o, want, c, q % g->m, q / g->m, part);
    assert_int_equal(monitor(ctx, g, g->c, c, INT64_MAX, 1, &r), OZG_OK);
    good = within("max_error", r.max_error, v.error) & within("max_ulp", r.max_ulp, v.ulps) &
           within("worst_grade", r.worst_grade, v.grade);
    if (!good || r.compared != v.compared || r.rounded != v.rounded || r.special != v.special)
        gemm_print(g, "monitor");
    assert_true(good);
    assert_true(r.rows == g->m && r.columns == g->n);
    assert_int_equal(r.compared, v.compared);
    assert_int_equal(r.rounded, v.rounded);
    assert_int_equal(r.special, v.special);
}

/* ---- data --------------------------------------------------------------------------------------- */

static struct gemm product(char type, int ops, int64_t m, int64_t n, int64_t k)
{
    struct gemm g = {
        type, "NTC"[ops % 3], "NTC" [ops / 3 % 3], m, n, k, {1, 0 }, {0, 0}, NULL, 0, NULL, 0, NULL, 0};

    gemm_layout(&g, &arena, (struct padding){1, 0, 2}, 1);
    return g;
}

/* The kinds of C that are judged. */
enum { ROUNDED, NEIGHBOURS, NATIVE, FEW_MODULI, ANYTHING, INFINITE, KINDS };

static void make_c(const struct gemm *g, struct rng *r, int kind, void *c)
{
    const int64_t parts = type_parts(g->type), numbers = matrix_elements(g->m, g->n, g->ldc) * parts;

    if (kind == NATIVE || kind == FEW_MODULI) {
        memcpy(c, g->c, gemm_image_bytes(g));
        assert_int_equal(gemm_run(ctx, g, c, kind == NATIVE ? ozg_native() : ozg_moduli(8), NULL), OZG_OK);
    }
    for (int64_t i = 0; i < numbers && kind >= NEIGHBOURS; i++) {
        const double x = number_get(g->type, c, i);
        const uint64_t dice = rng_below(r, 4);

        if (kind == NEIGHBOURS && dice && type_is_single(g->type))
            number_set(g->type, c, i, (double)nextafterf((float)x, dice == 1 ? HUGE_VALF : -HUGE_VALF));
        else if (kind == NEIGHBOURS && dice)
            number_set(g->type, c, i, nextafter(x, dice == 1 ? HUGE_VAL : -HUGE_VAL));
        else if (kind == ANYTHING && dice)
            number_set(g->type, c, i, ldexp(x + (double)dice, (int)dice * 8 - 16));
        else if (kind == INFINITE && dice < 2)
            number_set(g->type, c, i,
                       rng_below(r, 2) ? copysign(quiet_nan(), dice ? 1 : -1)
                       : dice          ? HUGE_VAL
                                       : -HUGE_VAL);
    }
}

/* C of every kind, for A, B and C0 as they are; and C itself is left alone. */
static void expect_all_kinds(const struct gemm *g, struct rng *r)
{
    void *want = gemm_image(g), *c = gemm_image(g), *before = gemm_image(g);
    const size_t bytes = gemm_image_bytes(g);
    struct oracle o;

    oracle_open(&o, g, ORACLE_EXACT);
    oracle_result(&o, want);
    for (int kind = 0; kind < KINDS; kind++) {
        memcpy(c, want, bytes);
        make_c(g, r, kind, c);
        expect_verdict(&o, want, c);
    }
    assert_memory_equal(g->c, before, bytes);
    oracle_close(&o);
    free(want);
    free(c);
    free(before);
}

static void every_type_op_and_family(void **state)
{
    struct rng r = {7};

    (void)state;
    for (int q = 0; q < 4 * 9; q++)
        for (int f = 0; f < FAMILY_COUNT; f++) {
            const int64_t m = rng_between(&r, 1, 5), n = rng_between(&r, 1, 5), k = rng_between(&r, 1, 9);
            struct gemm g = product(types[q % 4], q / 4, m, n, k);

            gemm_fill(&g, &r, (enum family)f, (enum family)f, FAMILY_UNIFORM);
            if (q % 3 == 1)
                g.beta[0] = -1;
            if (q % 3 == 2) {
                g.alpha[0] = 0.75;
                g.beta[0] = type_is_single(g.type) ? (double)(1 / 3.0f) : 1 / 3.0;
                g.alpha[1] = g.beta[1] = type_is_complex(g.type) ? 0.625 : 0;
            }
            expect_all_kinds(&g, &r);
        }
}

/* Scalars that overflow, underflow, are 0, Inf or NaN; sizes of 0. */
static void hard_scalars_and_sizes(void **state)
{
    static const int64_t sizes[][3] = {{3, 2, 4}, {0, 3, 2}, {3, 0, 2}, {2, 3, 0}, {0, 0, 0}, {1, 1, 1}};
    struct rng r = {8};

    (void)state;
    for (int q = 0; q < 600; q++) {
        const int64_t *size = sizes[q % 3 ? 0 : q / 3 % 6];
        struct gemm g = product(types[q % 4], (int)rng_below(&r, 9), size[0], size[1], size[2]);
        enum family family[3];

        for (int f = 0; f < 3; f++)
            family[f] = (enum family)rng_below(&r, FAMILY_COUNT);
        gemm_fill(&g, &r, family[0], family[1], family[2]);
        gemm_random_scalars(&g, &r);
        expect_all_kinds(&g, &r);
    }
}

/* alpha AB and beta C0 cancel all but the last bits, so that X is far below both. */
static void cancelled_by_c0(void **state)
{
    struct rng r = {9};

    (void)state;
    for (int q = 0; q < 36; q++) {
        struct gemm g = product(types[q % 4], q / 4, 4, 3, 7);

        gemm_fill(&g, &r, FAMILY_UNIFORM, FAMILY_UNIFORM, FAMILY_UNIFORM);
        assert_int_equal(gemm_run(ctx, &g, g.c, ozg_rounded(), NULL), OZG_OK);
        g.beta[0] = -1;
        expect_all_kinds(&g, &r);
        g.alpha[0] = 3; /* -3 C0 is no double */
        g.beta[0] = -3;
        expect_all_kinds(&g, &r);
    }
}

/* ---- grades that are known ---------------------------------------------------------------------- */

static double native_factor(int64_t k)
{
    return sqrt((double)k) + 1;
}

static void known_grades(void **state)
{
    struct rng r = {10};

    (void)state;
    for (int q = 0; q < 8; q++) {
        struct gemm g = product(types[q % 4], q, 30, 20, 100);
        const uint64_t all = 600 * (uint64_t)type_parts(g.type);
        void *c = gemm_image(&g);
        ozg_monitor m;

        gemm_fill(&g, &r, FAMILY_UNIFORM, FAMILY_UNIFORM, FAMILY_UNIFORM);
        assert_int_equal(gemm_run(ctx, &g, c, ozg_rounded(), NULL), OZG_OK);
        assert_int_equal(monitor(ctx, &g, NULL, c, 30, 0, &m), OZG_OK);
        assert_true(m.compared == all && m.rounded == all && m.special == 0);
        assert_true(m.max_ulp > 0.45 && m.max_ulp <= 0.5 && m.worst_grade < 1.001 && m.worst_grade > 0.01);
        assert_int_equal(gemm_run(ctx, &g, c, ozg_native(), NULL), OZG_OK);
        assert_int_equal(monitor(ctx, &g, NULL, c, 30, 0, &m), OZG_OK);
        assert_true(m.rounded < all && m.worst_grade <= native_factor(100));
        assert_int_equal(gemm_run(ctx, &g, c, ozg_moduli(type_is_single(g.type) ? 4 : 8), NULL), OZG_OK);
        assert_int_equal(monitor(ctx, &g, NULL, c, 30, 0, &m), OZG_OK);
        assert_true(m.rounded < all / 10 && m.worst_grade > 100 * native_factor(100) && m.max_ulp > 1000);
        free(c);
    }
}

/* One wrong component in a C that is right: 2^-40 off where all others are exact integers. */
static void planted_error(void **state)
{
    struct rng r = {11};

    (void)state;
    for (int q = 0; q < 36; q++) {
        struct gemm g = product(types[q % 4], q / 4, 9, 7, 5);
        const int single = type_is_single(g.type), parts = type_parts(g.type);
        const int64_t i = q % 9, j = q % 7, at = (i + j * g.ldc) * parts + q % parts;
        const double off = single ? 0x1p-10 : 0x1p-40;
        void *c = gemm_image(&g);
        double x;
        ozg_monitor m;

        gemm_fill(&g, &r, FAMILY_SMALL, FAMILY_SMALL, FAMILY_ZEROS);
        assert_int_equal(gemm_run(ctx, &g, c, ozg_rounded(), NULL), OZG_OK);
        assert_int_equal(monitor(ctx, &g, NULL, c, 9, 0, &m), OZG_OK);
        assert_true(m.max_error == 0 && m.max_ulp == 0 && m.worst_grade == 0 && m.rounded == m.compared);
        x = number_get(g.type, c, at);
        number_set(g.type, c, at, x + off);
        assert_int_equal(monitor(ctx, &g, NULL, c, 9, 0, &m), OZG_OK);
        assert_true(m.rounded == m.compared - 1 && m.max_error == off && m.special == 0);
        assert_true(m.max_ulp == off / unit_of(x, single));
        free(c);
    }
}

/* ---- surroundings ------------------------------------------------------------------------------- */

static void never(void *arg, double done)
{
    (void)done;
    *(int *)arg = 1;
}

/* Rounding modes, flush to zero, repair_limit and a function for progress make no difference. */
static void surroundings(void **state)
{
    struct rng r = {12};
    ozg_config cfg;
    ozg_context *other;
    int called = 0;

    (void)state;
    ozg_config_init(&cfg);
    cfg.threads = 1;
    cfg.repair_limit = 0;
    cfg.progress = never;
    cfg.progress_arg = &called;
    assert_int_equal(ozg_create(&other, &cfg), OZG_OK);
    for (int q = 0; q < 8; q++) {
        struct gemm g = product(types[q % 4], q, 20, 12, 15);
        ozg_monitor want, got;

        gemm_fill(&g, &r, q < 4 ? FAMILY_UNIFORM : FAMILY_BITS, q < 4 ? FAMILY_UNIFORM : FAMILY_BITS,
                  q < 4 ? FAMILY_UNIFORM : FAMILY_BITS);
        g.beta[0] = 0.3125;
        assert_int_equal(monitor(ctx, &g, g.c, g.c, 4, 9, &want), OZG_OK);
        for (int e = 1; e < ENVIRONMENTS; e++) {
            environment_set(e);
            assert_int_equal(monitor(other, &g, g.c, g.c, 4, 9, &got), OZG_OK);
            environment_set(0);
            assert_memory_equal(&want, &got, sizeof want);
        }
    }
    assert_int_equal(called, 0);
    ozg_destroy(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_op_and_family),
        cmocka_unit_test(hard_scalars_and_sizes),
        cmocka_unit_test(cancelled_by_c0),
        cmocka_unit_test(known_grades),
        cmocka_unit_test(planted_error),
        cmocka_unit_test(surroundings),
    };

    return cmocka_run_group_tests(tests, open_all, close_all);
}
