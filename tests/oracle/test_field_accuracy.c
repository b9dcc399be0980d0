/*
 * test_field_accuracy.c - failure cases from the field of the kinds exponent range, core of the scheme,
 * accuracy and symmetry (C05, C12, C13, C28, C29, C30), under every accuracy that looks at the data.
 *
 * The other files test_field_*.c have them with fixed moduli, and those kinds that accuracy does not touch.
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

#include "accuracy.h"

static struct kernels kernels;

/* The accuracies under test. */
static const struct way {
    const char *name;
    int rounded, moduli; /* 0: chosen */
} ways[] = {
    {"native", 0, 0},
    {"rounded", 1, 0},
    {"native, 14 moduli", 0, 14},
    {"rounded, 12 moduli", 1, 12},
    {"native, 6 moduli", 0, 6},
};
enum { WAYS = sizeof ways / sizeof ways[0] };

static ozg_accuracy accuracy(const struct way *w)
{
    const ozg_accuracy acc = w->rounded ? ozg_rounded() : ozg_native();

    return w->moduli ? ozg_with_moduli(acc, w->moduli) : acc;
}

static int open_all(void **state)
{
    (void)state;
    return kernels_open(&kernels, 2) ? 0 : -1;
}

static int close_all(void **state)
{
    (void)state;
    kernels_close(&kernels);
    return 0;
}

static double *numbers(int64_t count)
{
    double *x = calloc((size_t)count + 1, sizeof *x);

    assert_non_null(x);
    return x;
}

static double *matrix(struct rng *r, enum family f, int64_t rows, int64_t cols)
{
    double *x = numbers(rows * cols);
    const struct view v = {'d', 'N', x, rows};

    family_fill(f, r, &v, 'A', rows, cols, x);
    return x;
}

static void run(int kernel, const struct way *w, const struct gemm *g, void *c, ozg_report *report)
{
    if (gemm_run(kernels.ctx[kernel % kernels.count], g, c, accuracy(w), report) != OZG_OK)
        fail_msg("%s: %s", w->name, ozg_last_error(kernels.ctx[kernel % kernels.count]));
}

/* What the accuracy promises, and the bounds of the report, for C = alpha AB + beta C0. */
static void keeps_promise(const struct way *w, const struct exact *exact, const void *before,
                          const void *after, const ozg_report *report)
{
    if (w->rounded) {
        struct gemm g = *exact->product.g;
        void *expected = exact_image(exact);

        assert_ptr_equal(before, g.c);
        assert_true(gemm_same(&g, after, expected, w->name));
        free(expected);
    }
    assert_true(native_holds(exact, before, after, w->name));
    if (report != NULL)
        assert_true(report_holds(exact, before, after, report, w->name));
}

/*
 * C05: powers of two near the overflow limit change no bit; a true overflow is an infinity of the right sign.
 */
static void c05_scaled_near_overflow(const struct way *w)
{
    static const int power[] = {-600, -1, 1, 600, -1020, 1020, 450};
    double x[24], y[20], a[24], b[20], c[30], want[30];
    struct rng r = {5};
    const struct view vx = {'d', 'N', x, 6}, vy = {'d', 'N', y, 4};

    for (int q = 0; q < 7 * kernels.count; q++) {
        const int p = power[q % 7], whole = abs(p) == 1020, same_way = p == 450;
        const struct gemm plain = {'d', 'N', 'N', 6, 5, 4, {1, 0}, {0, 0}, x, 6, y, 4, want, 6};
        struct gemm scaled = plain;

        family_fill(whole ? FAMILY_INTEGERS : FAMILY_UNIFORM, &r, &vx, 'A', 6, 4, x);
        family_fill(whole ? FAMILY_INTEGERS : FAMILY_UNIFORM, &r, &vy, 'B', 4, 5, y);
        for (int i = 0; i < 24; i++) {
            x[i] = whole ? remainder(x[i], 1024) / 1024 : x[i];
            a[i] = ldexp(x[i], p);
        }
        for (int i = 0; i < 20; i++) {
            y[i] = whole ? remainder(y[i], 1024) / 1024 : y[i];
            b[i] = ldexp(y[i], same_way ? p : -p);
        }
        scaled.a = a;
        scaled.b = b;
        scaled.alpha[0] = same_way ? 0x1p-900 : 1;
        run(q / 7, w, &plain, want, NULL);
        run(q / 7, w, &scaled, c, NULL);
        assert_memory_equal(c, want, sizeof c);
    }
    for (int q = 0; q < 2 * kernels.count; q++) {
        const double big = 0x1p600, inf = q % 2 ? -HUGE_VAL : HUGE_VAL;
        const struct gemm g = {'d', 'N', 'N', 1, 1, 1, {q % 2 ? -1 : 1, 0}, {0, 0}, &big, 1, &big, 1, c, 1};

        run(q / 2, w, &g, c, NULL);
        assert_memory_equal(c, &inf, sizeof inf);
    }
}

/*
 * C12: A A^T and A (2A)^T of positive numbers: the diagonal is not negative, asymmetry stays within the
 * promise.
 */
static void c12_symmetry(const struct way *w)
{
    struct rng r = {12};

    for (int q = 0; q < 8; q++) {
        const int64_t m = q & 1 ? 37 : 5, k = q & 1 ? 500 : 11, ld = m + (q & 2);
        double *a = matrix(&r, FAMILY_POSITIVE, ld, k), *twice = numbers(ld * k), *c = numbers(m * m);
        const struct gemm g = {'d', 'N', 'T', m, m, k, {1, 0}, {0, 0}, a, ld, q & 4 ? twice : a, ld, c, m};
        double *before = numbers(m * m);
        struct exact exact;
        ozg_report report;

        for (int64_t i = 0; i < ld * k; i++)
            twice[i] = 2 * a[i];
        exact_open(&exact, &g);
        run(q / 2, w, &g, c, &report);
        for (int64_t i = 0; i < m; i++) {
            assert_true(c[i + i * m] >= 0);
            for (int64_t j = 0; j < i; j++)
                assert_memory_equal(&c[i + j * m], &c[j + i * m], sizeof *c);
        }
        assert_true(native_holds(&exact, before, c, w->name)); /* beta = 0: C before does not count */
        assert_true(report_holds(&exact, before, c, &report, w->name));
        exact_close(&exact);
        free(a);
        free(twice);
        free(c);
        free(before);
    }
}

enum { ROWS = 300, COLUMNS = 50 };

/* Lower Cholesky factor of s in place; 0 if it is not positive definite. */
static int cholesky(double *s)
{
    for (int j = 0; j < COLUMNS; j++) {
        for (int p = 0; p < j; p++) {
            for (int i = j; i < COLUMNS; i++)
                s[i + j * COLUMNS] -= s[i + p * COLUMNS] * s[j + p * COLUMNS];
        }
        if (!(s[j + j * COLUMNS] > 0))
            return 0;
        for (int i = COLUMNS - 1; i >= j; i--)
            s[i + j * COLUMNS] /= sqrt(s[j + j * COLUMNS]);
    }
    return 1;
}

/* C13: S = X^T X is the same on all kernels, and positive definite with a small factor residual. */
static void c13_cholesky_of_cross_product(const struct way *w)
{
    static double s[COLUMNS * COLUMNS], first[COLUMNS * COLUMNS], factor[COLUMNS * COLUMNS];
    struct rng r = {13};
    double *x = matrix(&r, FAMILY_NORMAL, ROWS, COLUMNS), worst = 0;
    const struct gemm g = {'d',    'T', 'N',  COLUMNS, COLUMNS, ROWS, {1, 0},
                           {0, 0}, x,   ROWS, x,       ROWS,    s,    COLUMNS};

    for (int q = 0; q < kernels.count; q++) {
        run(q, w, &g, s, NULL);
        if (q == 0)
            memcpy(first, s, sizeof s);
        assert_memory_equal(s, first, sizeof s);
    }
    memcpy(factor, s, sizeof s);
    assert_true(cholesky(factor));
    for (int i = 0; i < COLUMNS; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = 0;

            for (int p = 0; p <= j; p++)
                sum += factor[i + p * COLUMNS] * factor[j + p * COLUMNS];
            worst =
                fmax(worst, fabs(sum - s[i + j * COLUMNS]) / sqrt(s[i + i * COLUMNS] * s[j + j * COLUMNS]));
        }
    }
    assert_true(worst <= COLUMNS * 0x1p-53); /* Cauchy-Schwarz and COLUMNS roundings */
    free(x);
}

/* Data of C28: integers, U(0, 1), multiples of pi and e, magnitudes 2^-27 .. 2^27. */
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

/*
 * C28: the choice of moduli meets its promise on fractions, and so does any number of them; a wrong one is
 * refused.
 */
static void c28_any_number_of_moduli(const struct way *w)
{
    static const int64_t dims[] = {5, 300, 2000};

    for (int q = 0; q < 12; q++) {
        const int64_t k = dims[q / 4];
        double *a = numbers(3 * k), *b = numbers(3 * k), c[9], before[9] = {0};
        struct gemm g = {'d', 'T', 'N', 3, 3, k, {1, 0}, {0, 0}, a, k, b, k, before, 3};
        struct rng r = {(uint64_t)q};
        struct exact exact;
        ozg_report report;

        for (int64_t i = 0; i < 3 * k; i++) {
            a[i] = c28_entry(q % 4, &r, 'A');
            b[i] = c28_entry(q % 4, &r, 'B');
        }
        exact_open(&exact, &g);
        run(q, w, &g, c, &report);
        keeps_promise(w, &exact, before, c, &report);
        for (int s = 6; s <= 49 && w->moduli == 0; s += s < 22 ? 1 : 9) {
            const struct way given = {w->name, w->rounded, s};

            run(s, &given, &g, c, &report);
            keeps_promise(&given, &exact, before, c, &report);
        }
        memcpy(c, before, sizeof c);
        for (int s = 50; s <= 59; s++) {
            const struct way given = {w->name, w->rounded, s};

            assert_int_equal(gemm_run(kernels.ctx[0], &g, c, accuracy(&given), NULL), OZG_E_ARG);
        }
        assert_memory_equal(c, before, sizeof c);
        exact_close(&exact);
        free(a);
        free(b);
    }
}

/*
 * C29: nothing is remembered about a matrix by its address; what a prepared operand remembers is its own
 * copy.
 */
static void c29_changed_operand(const struct way *w)
{
    static const int64_t shape[][2] = {{40, 40}, {40, 40}, {30, 20}, {20, 30}, {7, 40}, {40, 7}};
    static double buffer[40 * 40], a[40 * 40], before[40 * 40], c[40 * 40], prepared[40 * 40];
    struct rng r = {29};
    const struct view va = {'d', 'N', a, 40};

    family_fill(FAMILY_UNIFORM, &r, &va, 'A', 40, 40, a);
    for (int q = 0; q < 6; q++) {
        const int64_t k = shape[q][0], n = shape[q][1];
        const struct gemm g = {
            'd', 'N', 'N', 40, n, k, {1, 0}, {0, 0}, a, 40, buffer, k + q % 2 * (40 - k), before, 40};
        const struct view vb = {'d', 'N', buffer, g.ldb};
        ozg_context *ctx = kernels.ctx[q % kernels.count];
        ozg_operand *p;

        family_fill(q % 3 ? FAMILY_SPIKE : FAMILY_INTEGERS, &r, &vb, 'B', k, n, buffer);
        assert_int_equal(ozg_operand_create(&p, ctx, 'd', 'B', 'N', k, n, buffer, g.ldb, accuracy(w)),
                         OZG_OK);
        assert_int_equal(gemm_run_prepared(ctx, &g, NULL, p, prepared, accuracy(w), NULL), OZG_OK);
        for (int change = 0; change < 3; change++) { /* new data at the same address; one entry; one of A */
            struct exact exact;
            ozg_report report;

            if (change == 1)
                buffer[(size_t)rng_below(&r, (uint64_t)k)] *= -3;
            if (change == 2)
                a[(size_t)rng_below(&r, 1600)] += 1;
            exact_open(&exact, &g);
            run(q, w, &g, c, &report);
            keeps_promise(w, &exact, before, c, &report);
            if (change == 1) { /* the operand still holds the old entry */
                assert_int_equal(gemm_run_prepared(ctx, &g, NULL, p, c, accuracy(w), NULL), OZG_OK);
                assert_memory_equal(c, prepared, (size_t)(40 * n) * sizeof *c);
            }
            exact_close(&exact);
        }
        ozg_operand_destroy(p);
    }
}

/* C30: powers of two on rows and columns leave the bits as they are; small data are as good as large data. */
static void c30_scaled_rows_and_columns(const struct way *w)
{
    static double x[64 * 64], y[64 * 64], a[64 * 64], b[64 * 64], before[64 * 64], want[64 * 64], c[64 * 64];
    const struct view vx = {'d', 'N', x, 64}, vy = {'d', 'N', y, 64};
    const struct gemm plain = {'d', 'N', 'N', 64, 64, 64, {1, 0}, {0, 0}, x, 64, y, 64, before, 64};
    struct gemm scaled = plain, small = {'d', 'N', 'N', 20, 20, 50, {1, 0}, {0, 0}, x, 20, y, 50, before, 20};
    struct rng r = {30};
    struct exact exact;
    ozg_report report;

    family_fill(FAMILY_UNIFORM, &r, &vx, 'A', 64, 64, x);
    family_fill(FAMILY_UNIFORM, &r, &vy, 'B', 64, 64, y);
    for (int q = 0; q < 64 * 64; q++) {
        a[q] = ldexp(x[q], -(q % 64 % 61));
        b[q] = ldexp(y[q], -(q / 64 % 61));
    }
    scaled.a = a;
    scaled.b = b;
    for (int kernel = 0; kernel < kernels.count; kernel++) {
        run(kernel, w, &plain, want, NULL);
        run(kernel, w, &scaled, c, NULL);
        for (int q = 0; q < 64 * 64; q++)
            c[q] = ldexp(c[q], q % 64 % 61 + q / 64 % 61);
        assert_memory_equal(c, want, sizeof c);
    }
    for (int q = 0; q < 1000; q++) { /* plain data of 1e-3 .. 1e-1, entry by entry */
        x[q] = 0.001 + ldexp((double)(rng_next(&r) >> 11), -53) / 10;
        y[q] = 0.001 + ldexp((double)(rng_next(&r) >> 11), -53) / 10;
    }
    exact_open(&exact, &small);
    run(0, w, &small, c, &report);
    keeps_promise(w, &exact, before, c, &report);
    exact_close(&exact);
}

/* The table: every case under every accuracy. */
static void (*const cases[])(const struct way *) = {
    c05_scaled_near_overflow, c12_symmetry,        c13_cholesky_of_cross_product,
    c28_any_number_of_moduli, c29_changed_operand, c30_scaled_rows_and_columns,
};

static void every_case(void **state)
{
    for (size_t q = 0; q < sizeof cases / sizeof cases[0]; q++)
        cases[q](*state);
}

int main(void)
{
    struct CMUnitTest tests[WAYS];

    for (int q = 0; q < WAYS; q++)
        tests[q] = (struct CMUnitTest){ways[q].name, every_case, NULL, NULL, (void *)(uintptr_t)&ways[q]};
    return cmocka_run_group_tests(tests, open_all, close_all);
}
