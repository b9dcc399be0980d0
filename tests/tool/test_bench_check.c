/*
 * test_bench_check.c - what "ozgemm speed" takes for a right product, and the products that it compares with.
 * with: ozgemm_tool_parts
 *
 * The exact product comes from MPFR.
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

#include "cli.h" /* before cmocka, which has a macro of the name fail */

#include <cmocka.h>
#include <mpfr.h>

#include "../../bench/extended.h"
#include "bench_check.h"
#include "rng.h"

/* Of 64 rows or 65 columns a probe looks at 32, among them the first and the last, but not the second. */
enum { M = 64, N = 65, K = 30, UNSEEN = 1 };

struct product_case {
    struct matrix a, b, c; /* c: the exact product, correctly rounded */
    struct probe *probe;
};

static double number(const struct matrix *x, int64_t row, int64_t column, int part)
{
    size_t at = (size_t)(row + column * x->rows), step = type_complex(x->type) ? 2 : 1;
    at = step * at + (size_t)part;
    return type_double(x->type) ? ((double *)x->data)[at] : (double)((float *)x->data)[at];
}

static void set(struct matrix *x, int64_t row, int64_t column, int part, double value)
{
    size_t at = (size_t)(row + column * x->rows), step = type_complex(x->type) ? 2 : 1;
    at = step * at + (size_t)part;
    if (type_double(x->type))
        ((double *)x->data)[at] = value;
    else
        ((float *)x->data)[at] = (float)value;
}

static int parts(char type)
{
    return type_complex(type) ? 2 : 1;
}

/* exact_entry() - RN of one component of A B. 400 bits hold every sum here. */
static double exact_entry(const struct product_case *w, int64_t i, int64_t j, int part)
{
    mpfr_t sum, x;
    mpfr_init2(sum, 400);
    mpfr_init2(x, 128);
    mpfr_set_zero(sum, 1);
    for (int64_t p = 0; p < w->a.cols; p++)
        for (int q = 0; q < parts(w->a.type); q++) {
            mpfr_set_d(x, number(&w->a, i, p, q), MPFR_RNDN);
            mpfr_mul_d(x, x, number(&w->b, p, j, q ^ part), MPFR_RNDN); /* 106 bits: exact */
            if (q == 1 && part == 0)                                    /* i times i */
                mpfr_sub(sum, sum, x, MPFR_RNDN);
            else
                mpfr_add(sum, sum, x, MPFR_RNDN);
        }
    double value = type_double(w->a.type) ? mpfr_get_d(sum, MPFR_RNDN) : (double)mpfr_get_flt(sum, MPFR_RNDN);
    mpfr_clears(sum, x, (mpfr_ptr)0);
    return value;
}

/* Full mantissas, magnitudes 2^-8 .. 1, either sign. */
static void fill(struct matrix *x, uint64_t seed)
{
    struct rng r = {seed};
    for (int64_t j = 0; j < x->cols; j++)
        for (int64_t i = 0; i < x->rows; i++)
            for (int part = 0; part < parts(x->type); part++) {
                double magnitude = ldexp((double)(rng_next(&r) >> 11 | UINT64_C(1) << 52), -53);
                set(x, i, j, part, ldexp(rng_below(&r, 2) ? magnitude : -magnitude, -(int)rng_below(&r, 8)));
            }
}

/* cancel() - the second half of k takes nearly all of the first half away. */
static void cancel(struct product_case *w)
{
    int64_t half = w->a.cols / 2;
    for (int64_t p = 0; p < half; p++) {
        for (int64_t i = 0; i < w->a.rows; i++)
            set(&w->a, i, p + half, 0, number(&w->a, i, p, 0));
        for (int64_t j = 0; j < w->b.cols; j++)
            set(&w->b, p + half, j, 0, -number(&w->b, p, j, 0) * (1 + 0x1p-50 * (double)((p + j) % 3)));
    }
}

static struct product_case case_open(char type, int64_t m, int64_t n, int64_t k, int cancelling)
{
    struct product_case w = {matrix_alloc("A", type, m, k), matrix_alloc("B", type, k, n),
                             matrix_alloc("C", type, m, n), NULL};
    fill(&w.a, 1);
    fill(&w.b, 2);
    if (cancelling)
        cancel(&w);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++)
            for (int part = 0; part < parts(type); part++)
                set(&w.c, i, j, part, exact_entry(&w, i, j, part));
    w.probe = probe_make(&w.a, &w.b);
    return w;
}

static void case_close(struct product_case *w)
{
    probe_free(w->probe);
    matrix_free(&w->a);
    matrix_free(&w->b);
    matrix_free(&w->c);
}

static const struct promise correctly_rounded = {0, 0, 1};

/* assert_wrong() - the finding is this entry. */
static void assert_wrong(struct finding f, int64_t row, int64_t column)
{
    assert_true(f.wrong);
    assert_int_equal(f.row, row + 1);
    assert_int_equal(f.column, column + 1);
}

static void right_product_passes(void **state)
{
    (void)state;
    for (const char *type = "dzsc"; *type; type++) {
        struct product_case w = case_open(*type, M, N, K, 0);
        struct finding f = probe_check(w.probe, &w.c, correctly_rounded);
        assert_false(f.wrong);
        assert_int_equal(f.entries, 32 * 32 * parts(*type));
        assert_true(f.errors.rounded == 100);
        f = probe_compare(w.probe, &w.c, correctly_rounded, &w.c, promise_of_blas(*type, K));
        assert_false(f.wrong);
        assert_int_equal(f.entries, M * N * parts(*type));
        case_close(&w);
    }
}

/* One unit in the last place, in a corner and in the last part. */
static void one_ulp_is_found(void **state)
{
    (void)state;
    for (const char *type = "dzsc"; *type; type++) {
        struct product_case w = case_open(*type, M, N, K, 0);
        const int64_t rows[] = {0, M - 1, 0, M - 1}, columns[] = {0, 0, N - 1, N - 1};
        for (int corner = 0; corner < 4; corner++) {
            int part = parts(*type) - 1;
            double right = number(&w.c, rows[corner], columns[corner], part);
            double next = type_double(*type) ? nextafter(right, 9) : (double)nextafterf((float)right, 9);
            struct promise loose = {4 * fabs(next - right), INFINITY, 0};
            set(&w.c, rows[corner], columns[corner], part, next);
            assert_wrong(probe_check(w.probe, &w.c, correctly_rounded), rows[corner], columns[corner]);
            assert_false(probe_check(w.probe, &w.c, loose).wrong);
            set(&w.c, rows[corner], columns[corner], part, right);
        }
        case_close(&w);
    }
}

/* Errors a little below and above what is promised, by absolute value and against abs(A) abs(B). */
static void promises_are_kept_to(void **state)
{
    (void)state;
    for (const char *type = "dzsc"; *type; type++) {
        struct product_case w = case_open(*type, M, N, K, 0);
        int part = parts(*type) - 1;
        double right = number(&w.c, 0, N - 1, part), u = type_double(*type) ? 0x1p-53 : 0x1p-24,
               magnitude = 0;
        for (int64_t p = 0; p < K; p++)
            for (int q = 0; q < parts(*type); q++) /* of the imaginary part: Re Im and Im Re */
                magnitude += fabs(number(&w.a, 0, p, q) * number(&w.b, p, N - 1, q ^ part));
        const struct promise absolute = {1000 * u * magnitude, INFINITY, 0},
                             relative = {INFINITY, 1000 * u, 0};
        set(&w.c, 0, N - 1, part, right + 990 * u * magnitude);
        assert_false(probe_check(w.probe, &w.c, absolute).wrong);
        assert_false(probe_check(w.probe, &w.c, relative).wrong);
        set(&w.c, 0, N - 1, part, right - 1010 * u * magnitude);
        assert_wrong(probe_check(w.probe, &w.c, absolute), 0, N - 1);
        assert_wrong(probe_check(w.probe, &w.c, relative), 0, N - 1);
        case_close(&w);
    }
}

/* What the probe does not look at, the comparison with another product finds, in either of them. */
static void unseen_entries_are_compared(void **state)
{
    (void)state;
    for (const char *type = "dzsc"; *type; type++) {
        struct product_case w = case_open(*type, M, N, K, 0);
        struct matrix other = matrix_alloc("C", *type, M, N);
        struct promise blas = promise_of_blas(*type, K);
        memcpy(other.data, w.c.data, type_size(*type) * M * N);
        int part = parts(*type) - 1;
        const double values[] = {NAN, INFINITY, -INFINITY, 1e10,
                                 number(&w.c, UNSEEN, UNSEEN, part) + 0x1p-12};
        for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
            set(&other, UNSEEN, UNSEEN, part, values[v]);
            assert_false(probe_check(w.probe, &other, correctly_rounded).wrong);
            assert_wrong(probe_compare(w.probe, &other, correctly_rounded, &w.c, blas), UNSEEN, UNSEEN);
            assert_wrong(probe_compare(w.probe, &w.c, correctly_rounded, &other, blas), UNSEEN, UNSEEN);
        }
        matrix_free(&other);
        case_close(&w);
    }
}

static void no_number_is_found(void **state)
{
    const double values[] = {NAN, INFINITY, -INFINITY};
    const struct promise any = {INFINITY, INFINITY, 0};
    (void)state;
    for (const char *type = "dzsc"; *type; type++) {
        struct product_case w = case_open(*type, 5, 3, 4, 0);
        for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
            double right = number(&w.c, 2, 1, 0);
            set(&w.c, 2, 1, 0, values[v]);
            assert_wrong(probe_check(w.probe, &w.c, any), 2, 1);
            set(&w.c, 2, 1, 0, right);
        }
        case_close(&w);
    }
}

/* Sums in the type itself keep the promise of a BLAS; rounding the sums to a few bits fewer does not. */
static void plain_sums_pass_as_blas(void **state)
{
    (void)state;
    for (const char *type = "ds"; *type; type++) {
        struct product_case w = case_open(*type, 40, 33, 64, 0);
        for (int64_t j = 0; j < 33; j++)
            for (int64_t i = 0; i < 40; i++) {
                double sum = 0;
                for (int64_t p = 0; p < 64; p++) {
                    sum += number(&w.a, i, p, 0) * number(&w.b, p, j, 0);
                    sum = *type == 'd' ? sum : (double)(float)sum;
                }
                set(&w.c, i, j, 0, sum);
            }
        assert_false(probe_check(w.probe, &w.c, promise_of_blas(*type, 64)).wrong);
        set(&w.c, 39, 0, 0, number(&w.c, 39, 0, 0) + (*type == 'd' ? 0x1p-44 : 0x1p-14));
        assert_wrong(probe_check(w.probe, &w.c, promise_of_blas(*type, 64)), 39, 0);
        case_close(&w);
    }
}

/* The methods of --compare within their bounds, where 50 bits cancel: a plain sum would be far outside. */
static void extended_products_keep_their_bounds(void **state)
{
    static const struct {
        int64_t m, n, k;
    } shapes[] = {{1, 1, 2}, {8, 2, 64}, {13, 5, 300}, {31, 18, 70}};
    (void)state;
    for (size_t q = 0; q < sizeof shapes / sizeof shapes[0]; q++)
        for (int method = EXTENDED_DOT2; method <= EXTENDED_FLOAT128; method++)
            for (int threads = 1; threads <= 2; threads++) {
                struct product_case w = case_open('d', shapes[q].m, shapes[q].n, shapes[q].k, 1);
                struct promise promise = {INFINITY, extended_error((enum extended_method)method, shapes[q].k),
                                          0};
                if (extended_missing((enum extended_method)method) == NULL) {
                    memset(w.c.data, 0xff, 8 * (size_t)(w.c.rows * w.c.cols));
                    assert_true(extended_gemm((enum extended_method)method, threads, w.c.rows, w.c.cols,
                                              w.a.cols, w.a.data, w.a.rows, w.b.data, w.b.rows, w.c.data,
                                              w.c.rows));
                    assert_false(probe_check(w.probe, &w.c, promise).wrong);
                }
                case_close(&w);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_product_passes),
        cmocka_unit_test(one_ulp_is_found),
        cmocka_unit_test(promises_are_kept_to),
        cmocka_unit_test(unseen_entries_are_compared),
        cmocka_unit_test(no_number_is_found),
        cmocka_unit_test(plain_sums_pass_as_blas),
        cmocka_unit_test(extended_products_keep_their_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
