/*
 * test_field_values.c - failures reported from the field, about values. Each function bears the number of its
 * case (C01 to C05, C28, C30).
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "check.h"
#include "fixture.h"

static const char types[] = {'s', 'd', 'c', 'z'};

static int open_all(void **state)
{
    (void)state;
    return fixture_open(2 << 20, 1);
}

static void same_number(char type, const void *c, int64_t at, double want)
{
    double wide[2] = {want, 0};
    float narrow[2] = {(float)want, 0};

    assert_memory_equal((const char *)c + (size_t)at * type_number_bytes(type),
                        type_is_single(type) ? (const void *)narrow : wide, type_number_bytes(type));
}

/* A NaN whose payload is not the default one. */
static void set_odd_nan(char type, void *c, int64_t at)
{
    const uint64_t wide = UINT64_C(0xFFF8DEADBEEF0001);
    const uint32_t narrow = UINT32_C(0xFFC0BEEF);

    if (type_is_single(type))
        memcpy((float *)c + at, &narrow, sizeof narrow);
    else
        memcpy((double *)c + at, &wide, sizeof wide);
}

/* alpha = 0 with C = {-0, 1, NaN, ...}: 0 for beta 0, C for beta 1, -2 C for beta -2. A and B may be
 * unreadable. */
static void c01_one(char type, double beta, ozg_context *ctx)
{
    struct gemm g = {type, 'N', 'N', 4, 3, 5, {0, 0}, {beta, 0}, NULL, 0, NULL, 0, NULL, 0};
    struct rng r = {1};
    void *before;

    gemm_layout(&g, &arena, (struct padding){1, 1, 2}, 1);
    gemm_fill(&g, &r, FAMILY_UNIFORM, FAMILY_UNIFORM, FAMILY_SMALL);
    number_set(type, g.c, 0, -0.0);
    number_set(type, g.c, type_parts(type), 1);
    set_odd_nan(type, g.c, 2 * type_parts(type));
    before = gemm_image(&g);
    guard_lock(&arena.a, 1);
    guard_lock(&arena.b, 1);
    assert_int_equal(gemm_run(ctx, &g, g.c, ozg_moduli(16), NULL), OZG_OK);
    guard_lock(&arena.a, 0);
    guard_lock(&arena.b, 0);
    if (beta == 1) {
        assert_true(gemm_same(&g, g.c, before, "C01"));
    } else {
        same_number(type, g.c, 0, 0.0); /* also -2 x -0 */
        same_number(type, g.c, type_parts(type), beta);
        same_number(type, g.c, 2 * type_parts(type), beta == 0 ? 0.0 : quiet_nan());
    }
    free(before);
}

static void c01_scalars_of_zero(void **state)
{
    (void)state;
    for (int q = 0; q < 4 * kernels.count; q++) {
        struct gemm g = {types[q % 4], 'N', 'N', 4, 3, 5, {0, 0}, {0, 0}, NULL, 0, NULL, 0, NULL, 0};
        struct rng r = {2};

        c01_one(types[q % 4], 0, kernels.ctx[q / 4]);
        c01_one(types[q % 4], 1, kernels.ctx[q / 4]);
        c01_one(types[q % 4], -2, kernels.ctx[q / 4]);
        gemm_layout(&g, &arena, (struct padding){0, 0, 0},
                    0); /* readable, but full of Inf and NaN; C all NaN */
        gemm_fill(&g, &r, FAMILY_SPECIAL, FAMILY_SPECIAL, FAMILY_SMALL);
        memset(g.c, 0xFF, gemm_image_bytes(&g));
        assert_int_equal(gemm_run(kernels.ctx[q / 4], &g, g.c, ozg_moduli(16), NULL), OZG_OK);
        for (int64_t i = 0; i < 12 * type_parts(g.type); i++)
            same_number(g.type, g.c, i, 0.0);
    }
}

/* 0 x Inf is NaN for every shape and transpose; one Inf among 64 terms reaches its entries only. */
static void c02_zero_times_infinity(void **state)
{
    (void)state;
    for (int q = 0; q < 4 * 16 * 4; q++) {
        struct gemm g = {types[q % 4],
                         q & 64 ? 'T' : 'N',
                         q & 128 ? 'C' : 'N',
                         1 + q / 4 % 4,
                         1 + q / 16 % 4,
                         1,
                         {1, 0},
                         {0, 0},
                         NULL,
                         0,
                         NULL,
                         0,
                         NULL,
                         0};

        gemm_layout(&g, &arena, (struct padding){0, 0, 0}, 1);
        for (int64_t i = 0; i < g.m * type_parts(g.type); i++)
            number_set(g.type, (void *)(uintptr_t)g.a, i, 0);
        for (int64_t j = 0; j < g.n * type_parts(g.type); j++)
            number_set(g.type, (void *)(uintptr_t)g.b, j, HUGE_VAL);
        assert_int_equal(gemm_run(kernels.ctx[q % kernels.count], &g, g.c, ozg_moduli(8), NULL), OZG_OK);
        for (int64_t i = 0; i < g.m * g.n * type_parts(g.type); i++)
            same_number(g.type, g.c, i, quiet_nan());
    }
    for (int q = 0; q < 16; q++) {
        struct gemm g = {types[q % 4],
                         q & 4 ? 'T' : 'N',
                         q & 8 ? 'T' : 'N',
                         6,
                         5,
                         64,
                         {1, 0},
                         {0, 0},
                         NULL,
                         0,
                         NULL,
                         0,
                         NULL,
                         0};
        struct rng r = {(uint64_t)q};
        struct view b;

        gemm_layout(&g, &arena, (struct padding){1, 2, 0}, 1);
        gemm_fill(&g, &r, FAMILY_SMALL, FAMILY_SMALL, FAMILY_SMALL);
        b = gemm_view_b(&g);
        number_set(g.type, (void *)(uintptr_t)g.b, view_index(&b, 17, 3, 0), -HUGE_VAL);
        assert_true(gemm_check(&kernels, &g, (struct request){REQUEST_MODULI, 10}));
    }
}

/* (scale x identity) B with B(i, j) = +-(i + 8 j) 2^lowest is exact. */
static void c03_one(char type, int scale, int lowest)
{
    struct gemm g = {type, 'N', 'N', 8, 8, 8, {1, 0}, {0, 0}, NULL, 0, NULL, 0, NULL, 0};
    int parts = type_parts(type);

    gemm_layout(&g, &arena, (struct padding){0, 0, 0}, 1);
    for (int64_t q = 0; q < 64 * parts; q++) {
        int64_t i = q / parts % 8, j = q / parts / 8;

        number_set(type, (void *)(uintptr_t)g.a, q, i == j && q % parts == 0 ? ldexp(1, scale) : 0);
        number_set(type, (void *)(uintptr_t)g.b, q, ldexp((double)((i + 8 * j) * (i % 2 ? -1 : 1)), lowest));
    }
    for (int kernel = 0; kernel < kernels.count; kernel++) {
        assert_int_equal(gemm_run(kernels.ctx[kernel], &g, g.c, ozg_width(53), NULL), OZG_OK);
        for (int64_t q = 0; q < 64 * parts; q++) {
            int64_t i = q / parts % 8, j = q / parts / 8;
            double want = ldexp((double)((i + 8 * j) * (i % 2 ? -1 : 1)), lowest + scale);

            same_number(type, g.c, q, want == 0 ? 0.0 : want);
        }
    }
}

static void c03_subnormals(void **state)
{
    static const double mixed[] = {0x1p-1022, -0x0.fffffffffffffp-1022, 0x1p-1074, -0x1.fffffffffffffp-1022};
    static const float mixed_single[] = {0x1p-126f, -0x0.fffffep-126f, 0x1p-149f, -0x1.fffffep-126f};
    double c[4];
    float d[4];
    const double one = 1;
    const float one_single = 1;

    (void)state;
    c03_one('d', 0, -1074);
    c03_one('d', 1000, -1074);
    c03_one('z', 0, -1074);
    c03_one('z', 1000, -1074);
    c03_one('s', 0, -149);
    c03_one('s', 120, -149);
    c03_one('c', 0, -149);
    for (int kernel = 0; kernel < kernels.count;
         kernel++) { /* one row that mixes normal and subnormal numbers */
        for (int p = 0; p < 4; p++) {
            double unit[4] = {0, 0, 0, 0};

            unit[p] = 1;
            assert_int_equal(ozg_dgemm(kernels.ctx[kernel], 'T', 'N', 1, 1, 4, one, mixed, 4, unit, 4, 0,
                                       &c[p], 1, ozg_width(54), NULL),
                             OZG_OK);
        }
        assert_memory_equal(c, mixed, sizeof mixed);
        assert_int_equal(ozg_sgemm(kernels.ctx[kernel], 'N', 'N', 4, 1, 1, one_single, mixed_single, 4,
                                   &one_single, 1, 0, d, 4, ozg_width(24), NULL),
                         OZG_OK);
        assert_memory_equal(d, mixed_single, sizeof mixed_single);
    }
}

/* Signs of zeros: IEEE for beta C alone; +0 for every exact zero with a product in it. */
static void c04_signs_of_zero(void **state)
{
    const double minus[2] = {-0.0, -0.0}, one = 1;

    (void)state;
    for (int q = 0; q < kernels.count; q++) {
        double c = 0.0, d[2] = {7, 7};

        assert_int_equal(
            ozg_dgemm(kernels.ctx[q], 'N', 'N', 1, 1, 1, 0, &one, 1, &one, 1, -1, &c, 1, ozg_moduli(8), NULL),
            OZG_OK);
        same_number('d', &c, 0, -0.0);
        assert_int_equal(
            ozg_dgemm(kernels.ctx[q], 'N', 'N', 1, 1, 0, 1, &one, 1, &one, 1, 1, &c, 1, ozg_moduli(8), NULL),
            OZG_OK);
        same_number('d', &c, 0, -0.0);
        for (int m = 1; m <= 2; m++) {
            for (int t = 0; t < 2; t++) {
                d[0] = d[1] = 7;
                assert_int_equal(ozg_dgemm(kernels.ctx[q], t ? 'T' : 'N', 'N', m, 1, 1, 1, minus, t ? 1 : 2,
                                           &one, 1, 0, d, 2, ozg_moduli(8), NULL),
                                 OZG_OK);
                same_number('d', d, 0, 0.0);
                same_number('d', d, 1, m == 2 ? 0.0 : 7);
            }
        }
        c = -0.0; /* 0 x 1 + 1 x -0: +0, as doc/numerics.md says */
        assert_int_equal(ozg_dgemm(kernels.ctx[q], 'N', 'N', 1, 1, 1, -1, minus, 1, &one, 1, 1, &c, 1,
                                   ozg_moduli(8), NULL),
                         OZG_OK);
        same_number('d', &c, 0, 0.0);
    }
}

/* Scaling by powers of two near the overflow limit changes no bit. */
static void c05_scaled_near_overflow(void **state)
{
    static const int power[] = {-600, -1, 1, 600, -1020, 1020};
    double x[24], y[20], a[24], b[20], c[30], want[30];
    struct rng r = {5};
    const struct view vx = {'d', 'N', x, 6}, vy = {'d', 'N', y, 4};

    (void)state;
    for (int q = 0; q < 7 * kernels.count; q++) {
        ozg_context *ctx = kernels.ctx[q / 7];
        int p = q % 7 == 6 ? 450 : power[q % 7];

        family_fill(q % 7 < 4 || q % 7 == 6 ? FAMILY_UNIFORM : FAMILY_INTEGERS, &r, &vx, 'A', 6, 4, x);
        family_fill(q % 7 < 4 || q % 7 == 6 ? FAMILY_UNIFORM : FAMILY_INTEGERS, &r, &vy, 'B', 4, 5, y);
        for (int i = 0; i < 24; i++) {
            x[i] = q % 7 == 4 || q % 7 == 5 ? remainder(x[i], 1024) / 1024 : x[i];
            a[i] = ldexp(x[i], p);
        }
        for (int i = 0; i < 20; i++) {
            y[i] = q % 7 == 4 || q % 7 == 5 ? remainder(y[i], 1024) / 1024 : y[i];
            b[i] = ldexp(y[i], q % 7 == 6 ? p : -p);
        }
        assert_int_equal(ozg_dgemm(ctx, 'N', 'N', 6, 5, 4, 1, x, 6, y, 4, 0, want, 6, ozg_moduli(17), NULL),
                         OZG_OK);
        assert_int_equal(ozg_dgemm(ctx, 'N', 'N', 6, 5, 4, q % 7 == 6 ? 0x1p-900 : 1, a, 6, b, 4, 0, c, 6,
                                   ozg_moduli(17), NULL),
                         OZG_OK);
        assert_memory_equal(c, want, sizeof c);
    }
    for (int q = 0; q < kernels.count; q++) {
        const double big = 0x1p600;

        assert_int_equal(
            ozg_dgemm(kernels.ctx[q], 'N', 'N', 1, 1, 1, 1, &big, 1, &big, 1, 0, c, 1, ozg_moduli(17), NULL),
            OZG_OK);
        same_number('d', c, 0, HUGE_VAL);
        assert_int_equal(
            ozg_dgemm(kernels.ctx[q], 'N', 'N', 1, 1, 1, -1, &big, 1, &big, 1, 0, c, 1, ozg_moduli(17), NULL),
            OZG_OK);
        same_number('d', c, 0, -HUGE_VAL);
    }
}

/* Data of C28: integers, U(0,1), multiples of pi and e, magnitudes 2^-27 .. 2^27. */
static double c28_entry(int kind, struct rng *r, char side)
{
    double u = ldexp((double)(rng_next(r) >> 11), -53);

    switch (kind) {
    case 0:
        return (double)rng_between(r, -1000, 1000);
    case 1:
        return u;
    case 2:
        return (double)rng_between(r, -20, 20) *
               (side == 'A' ? 3.14159265358979323846 : 2.71828182845904523536);
    default:
        return ldexp(u - 0.5, (int)rng_between(r, -27, 27));
    }
}

/* The largest error of any entry of C = A B, rounded to a double; NaN if an entry is not finite. */
static double largest_error(const struct oracle *exact, const double *c)
{
    struct ext value, x;
    double largest = 0;

    ext_init(&value);
    ext_init(&x);
    for (int64_t q = 0; q < exact->g->m * exact->g->n; q++) {
        if (!isfinite(c[q]))
            largest = quiet_nan();
        oracle_value(exact, c, q % exact->g->m, q / exact->g->m, 0, &value);
        ext_set_double(&x, -c[q]);
        ext_add(&value, &x);
        ext_abs(&value);
        largest = fmax(largest, ext_round(&value, 0));
    }
    ext_clear(&value);
    ext_clear(&x);
    return largest;
}

/* More moduli never make it worse, and in the end every entry is correctly rounded; 50 moduli and more are
 * refused. */
static void c28_more_moduli(void **state)
{
    static const int64_t dims[] = {5, 300, 4000};

    (void)state;
    for (int q = 0; q < 12; q++) {
        int64_t k = dims[q / 4];
        double *a = malloc(3 * (size_t)k * sizeof *a), *b = malloc(3 * (size_t)k * sizeof *b), c[9], best[9];
        struct gemm g = {'d', 'T', 'N', 3, 3, k, {1, 0}, {0, 0}, a, k, b, k, c, 3};
        struct rng r = {(uint64_t)q};
        double last = HUGE_VAL;
        struct oracle exact;

        assert_non_null(a);
        assert_non_null(b);
        for (int64_t i = 0; i < 3 * k; i++) {
            a[i] = c28_entry(q % 4, &r, 'A');
            b[i] = c28_entry(q % 4, &r, 'B');
        }
        oracle_open(&exact, &g, ORACLE_EXACT);
        oracle_result(&exact, best);
        for (int s = 2; s <= 49; s++) {
            double error;

            assert_int_equal(gemm_run(kernels.ctx[s % kernels.count], &g, c, ozg_moduli(s), NULL), OZG_OK);
            error = largest_error(&exact, c);
            assert_true(error <= last); /* false for NaN */
            last = error;
        }
        assert_memory_equal(c, best, sizeof best);
        for (int s = 50; s <= 59; s++)
            assert_int_equal(gemm_run(kernels.ctx[0], &g, c, ozg_moduli(s), NULL), OZG_E_ARG);
        assert_memory_equal(c, best, sizeof best);
        oracle_close(&exact);
        free(a);
        free(b);
    }
}

/* Powers of two on rows and columns leave the bits as they are; small data are as good as large data. */
static void c30_scaled_rows_and_columns(void **state)
{
    static double x[64 * 64], y[64 * 64], a[64 * 64], b[64 * 64], want[64 * 64], c[64 * 64];
    const struct view vx = {'d', 'N', x, 64}, vy = {'d', 'N', y, 64};
    struct rng r = {30};

    (void)state;
    family_fill(FAMILY_UNIFORM, &r, &vx, 'A', 64, 64, x);
    family_fill(FAMILY_UNIFORM, &r, &vy, 'B', 64, 64, y);
    for (int q = 0; q < 64 * 64; q++) {
        a[q] = ldexp(x[q], -(q % 64 % 61));
        b[q] = ldexp(y[q], -(q / 64 % 61));
    }
    for (int kernel = 0; kernel < kernels.count; kernel++) {
        ozg_context *ctx = kernels.ctx[kernel];

        assert_int_equal(
            ozg_dgemm(ctx, 'N', 'N', 64, 64, 64, 1, x, 64, y, 64, 0, want, 64, ozg_moduli(15), NULL), OZG_OK);
        assert_int_equal(
            ozg_dgemm(ctx, 'N', 'N', 64, 64, 64, 1, a, 64, b, 64, 0, c, 64, ozg_moduli(15), NULL), OZG_OK);
        for (int q = 0; q < 64 * 64; q++)
            c[q] = ldexp(c[q], q % 64 % 61 + q / 64 % 61);
        assert_memory_equal(c, want, sizeof c);
    }
    for (int q = 0; q < 2; q++) { /* plain data of 1e-3 .. 1e-1, entry by entry */
        struct gemm g = {q ? 's' : 'd', 'N', 'N', 20, 20, 50, {1, 0}, {0, 0}, NULL, 0, NULL, 0, NULL, 0};

        gemm_layout(&g, &arena, (struct padding){0, 0, 0}, 1);
        for (int i = 0; i < 1000; i++) {
            number_set(g.type, (void *)(uintptr_t)g.a, i,
                       0.001 + ldexp((double)(rng_next(&r) >> 11), -53) / 10);
            number_set(g.type, (void *)(uintptr_t)g.b, i,
                       0.001 + ldexp((double)(rng_next(&r) >> 11), -53) / 10);
        }
        assert_true(gemm_check(&kernels, &g, (struct request){REQUEST_MODULI, 15}));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c01_scalars_of_zero),
        cmocka_unit_test(c02_zero_times_infinity),
        cmocka_unit_test(c03_subnormals),
        cmocka_unit_test(c04_signs_of_zero),
        cmocka_unit_test(c05_scaled_near_overflow),
        cmocka_unit_test(c28_more_moduli),
        cmocka_unit_test(c30_scaled_rows_and_columns),
    };

    return cmocka_run_group_tests(tests, open_all, fixture_close);
}
