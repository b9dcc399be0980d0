/*
 * test_accurate.c - accurate scaling against its definition, by GMP: exponents from the product of ceilings, the
 * integers that follow, one rounding.
 *
 * SPDX-License-Identifier: MIT
 */
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
#include "errors.h"
#include "fixture.h"
#include "widths.h"

enum { NONE = 100000 }; /* D of a line whose integers are all 0 */

static int open_all(void **state)
{
    (void)state;
    return fixture_open(1 << 20, 2);
}

/* Element p of line i, part of it. */
static double element(const struct gemm *g, char side, int64_t i, int64_t p, int part)
{
    const struct view v = side == 'A' ? gemm_view_a(g) : gemm_view_b(g);

    return side == 'A' ? view_get(&v, i, p, part) : view_get(&v, p, i, part);
}

/* frexp exponent of the largest component of a line; NONE: all zero. */
static int line_exponent(const struct gemm *g, char side, int64_t i)
{
    int most = -NONE;

    for (int64_t p = 0; p < g->k; p++)
        for (int part = 0; part < type_parts(g->type); part++) {
            int e;

            if (frexp(element(g, side, i, p, part), &e) != 0 && e > most)
                most = e;
        }
    return most == -NONE ? NONE : most;
}

/* ceil(2^(6 - e) |x|), exact: doubles hold 2^(6 - e) x but for its last subnormal bits, so shift in two steps. */
static long ceiling(double x, int e)
{
    int own;
    const double m = frexp(fabs(x), &own); /* |x| = m 2^own */
    const int shift = own - e + 6;

    return x == 0 ? 0 : shift < 0 ? 1 : (long)ceil(ldexp(m, shift));
}

/* |A||B| of the ceilings; complex: the larger component. */
static long ceilings_entry(const struct gemm *g, int64_t i, int64_t j, int e, int f)
{
    long re = 0, im = 0;

    for (int64_t p = 0; p < g->k; p++) {
        const long a0 = ceiling(element(g, 'A', i, p, 0), e), b0 = ceiling(element(g, 'B', j, p, 0), f);
        long a1, b1;

        re += a0 * b0;
        if (!type_is_complex(g->type))
            continue;
        a1 = ceiling(element(g, 'A', i, p, 1), e);
        b1 = ceiling(element(g, 'B', j, p, 1), f);
        re += a1 * b1;
        im += a0 * b1 + a1 * b0;
    }
    return re > im ? re : im;
}

/* The largest g with 4^g r <= Q = (M >> 1) - (M >> 6). */
static int largest_power(long r, int s)
{
    mpz_t q, x;
    int g = 0;

    mpz_init(q);
    mpz_init_set_si(x, r);
    mpz_fdiv_q_2exp(q, widths_product(s), 6);
    mpz_neg(q, q);
    {
        mpz_t half;

        mpz_init(half);
        mpz_fdiv_q_2exp(half, widths_product(s), 1);
        mpz_add(q, q, half);
        mpz_clear(half);
    }
    while (mpz_mul_2exp(x, x, 2), mpz_cmp(x, q) <= 0)
        g++;
    mpz_clear(q);
    mpz_clear(x);
    return g;
}

/* D of every row or column. */
static void line_exponents(const struct gemm *g, char side, int s, int *d)
{
    const int64_t lines = side == 'A' ? g->m : g->n, others = side == 'A' ? g->n : g->m;

    for (int64_t i = 0; i < lines; i++) {
        const int e = line_exponent(g, side, i);
        long most = 0;

        for (int64_t j = 0; j < others && e != NONE; j++) {
            const int f = line_exponent(g, side == 'A' ? 'B' : 'A', j);
            const long r = f == NONE     ? 0
                           : side == 'A' ? ceilings_entry(g, i, j, e, f)
                                         : ceilings_entry(g, j, i, f, e);

            most = r > most ? r : most;
        }
        d[i] = most == 0 ? NONE : 6 - e + largest_power(most, s);
    }
}

/* z := RN_int(x 2^d), ties to even */
static void scaled_integer(mpz_t z, double x, int d)
{
    int own;
    long shift;
    mpz_t rest;

    mpz_set_d(z, ldexp(frexp(x, &own), 53)); /* x = z 2^(own - 53) */
    shift = own - 53 + d;
    if (shift >= 0) {
        mpz_mul_2exp(z, z, (mp_bitcnt_t)shift);
        return;
    }
    if (shift < -60) {
        mpz_set_ui(z, 0);
        return;
    }
    mpz_init(rest);
    mpz_fdiv_r_2exp(rest, z, (mp_bitcnt_t)-shift);
    mpz_fdiv_q_2exp(z, z, (mp_bitcnt_t)-shift);
    mpz_mul_2exp(rest, rest, (mp_bitcnt_t)(64 + shift)); /* the part cut off, in units of 2^-64 */
    {
        mpz_t half;
        int sign;

        mpz_init_set_ui(half, 1);
        mpz_mul_2exp(half, half, 63);
        sign = mpz_cmp(rest, half);
        if (sign > 0 || (sign == 0 && mpz_odd_p(z)))
            mpz_add_ui(z, z, 1);
        mpz_clear(half);
    }
    mpz_clear(rest);
}

/* Component `part` of entry (i, j) of op(A) op(B) as defined; real factors x, y of parts px, py. */
static void exact_entry(const struct gemm *g, int64_t i, int64_t j, int part, int d, int e, struct ext *out)
{
    mpz_t x, y, sum;

    mpz_init(x);
    mpz_init(y);
    mpz_init(sum);
    for (int64_t p = 0; p < g->k; p++)
        for (int q = 0; q < type_parts(g->type); q++) {
            scaled_integer(x, element(g, 'A', i, p, q), d);
            scaled_integer(y, element(g, 'B', j, p, part ^ q), e);
            if (q && !part)
                mpz_neg(x, x); /* Im Im */
            mpz_addmul(sum, x, y);
        }
    ext_set_mpz(out, sum, -(long)d - e);
    mpz_clear(x);
    mpz_clear(y);
    mpz_clear(sum);
}

static void check_product(const struct gemm *g, int s)
{
    int d[64], e[64];

    line_exponents(g, 'A', s, d);
    line_exponents(g, 'B', s, e);
    for (int q = 0; q < kernels.count; q++) {
        ozg_report report;

        assert_int_equal(gemm_run(kernels.ctx[q], g, g->c, ozg_accurate(s), &report), OZG_OK);
        assert_int_equal(report.moduli, s);
        for (int64_t at = 0; at < g->m * g->n * type_parts(g->type); at++) {
            const int part = (int)(at % type_parts(g->type));
            const int64_t i = at / type_parts(g->type) % g->m, j = at / type_parts(g->type) / g->m;
            const double value = number_get(g->type, g->c, (i + j * g->ldc) * type_parts(g->type) + part);
            struct ext x;
            double wanted = 0;

            ext_init(&x);
            if (d[i] != NONE && e[j] != NONE) {
                exact_entry(g, i, j, part, d[i], e[j], &x);
                wanted = ext_round(&x, type_is_single(g->type));
            }
            ext_clear(&x);
            if (memcmp(&value, &wanted, sizeof value) != 0) {
                gemm_print(g, kernels.name[q]);
                fail_msg("%d moduli, entry (%lld, %lld) part %d: %a, not %a", s, (long long)i, (long long)j,
                         part, value, wanted);
            }
        }
    }
}

static void test_definition(void **state)
{
    static const char types[] = {'s', 'd', 'c', 'z'};
    static const enum family families[] = {FAMILY_UNIFORM,   FAMILY_MAXIMA, FAMILY_INTEGERS, FAMILY_WIDE,
                                           FAMILY_SUBNORMAL, FAMILY_ZEROS,  FAMILY_CANCEL,   FAMILY_SPIKE,
                                           FAMILY_IDENTITY,  FAMILY_BITS};
    struct rng r = {1};

    (void)state;
    for (int round = 0; round < 4 * 10 * 6; round++) {
        const enum family family = families[round / 4 % 10];
        struct gemm g = {.type = types[round % 4],
                         .transa = "NTC"[rng_below(&r, 3)],
                         .transb = "NTC"[rng_below(&r, 3)],
                         .m = rng_between(&r, 1, 9),
                         .n = rng_between(&r, 1, 9),
                         .k = rng_between(&r, 1, 40),
                         .alpha = {1, 0}};
        const struct padding pad = {rng_between(&r, 0, 2), 0, rng_between(&r, 0, 2)};

        gemm_layout(&g, &arena, pad, 0);
        gemm_fill(&g, &r, family, family, FAMILY_SMALL);
        check_product(&g, (int)rng_between(&r, 4, 49));
    }
}

/* k = 1, 16 moduli: width 63 and more; and a row so sparse that its ceilings are few. */
static void test_wide_results(void **state)
{
    struct rng r = {2};
    struct gemm g = {.type = 'd', .transa = 'N', .transb = 'N', .m = 3, .n = 3, .k = 1, .alpha = {1, 0}};
    const struct padding none = {0, 0, 0};
    double *a;

    (void)state;
    gemm_layout(&g, &arena, none, 0);
    gemm_fill(&g, &r, FAMILY_UNIFORM, FAMILY_UNIFORM, FAMILY_SMALL);
    check_product(&g, 16);
    g.k = 40;
    gemm_layout(&g, &arena, none, 0);
    gemm_fill(&g, &r, FAMILY_UNIFORM, FAMILY_UNIFORM, FAMILY_SMALL);
    a = (double *)(uintptr_t)g.a;
    for (int64_t p = 0; p < g.k; p++)
        if (p % 20)
            a[p * g.lda] = 0; /* row 0 keeps two entries */
    check_product(&g, 16);
}

/* Too few moduli for g >= 0 (s = 2 at k = 65536 would wrap), and operands prepared alone. */
static void test_refusals(void **state)
{
    static double a[65536], c[1];
    const double x[4] = {1, 2, 3, 4};
    ozg_context *ctx = kernels.ctx[0];
    ozg_operand *p = NULL;

    (void)state;
    expect_error(ctx,
                 ozg_dgemm(ctx, 'N', 'N', 1, 1, 65536, 1, a, 1, a, 65536, 0, c, 1, ozg_accurate(2), NULL),
                 OZG_E_UNSUPPORTED, 0);
    expect_error(ctx, ozg_dgemm(ctx, 'N', 'N', 1, 1, 1, 1, a, 1, a, 1, 0, c, 1, ozg_accurate(1), NULL),
                 OZG_E_ARG, 15);
    expect_error(ctx, ozg_dgemm(ctx, 'N', 'N', 1, 1, 1, 1, a, 1, a, 1, 0, c, 1, ozg_accurate(50), NULL),
                 OZG_E_ARG, 15);
    expect_error(ctx, ozg_operand_create(&p, ctx, 'd', 'A', 'N', 2, 2, x, 2, ozg_accurate(16)),
                 OZG_E_UNSUPPORTED, 0);
    assert_null(p);
}

/* Tiles and chunks of k do not change the bits: a memory limit just enough for small ones. */
static void test_tiles(void **state)
{
    enum { M = 100, N = 90, K = 300 };
    static double a[M * K], b[K * N], c[2][M * N];
    struct rng r = {3};
    ozg_config cfg;

    (void)state;
    for (int i = 0; i < M * K; i++)
        a[i] = (double)rng_between(&r, -1000, 1000) * ldexp(1, (int)rng_between(&r, -30, 30));
    for (int i = 0; i < K * N; i++)
        b[i] = (double)rng_between(&r, -1000, 1000) * ldexp(1, (int)rng_between(&r, -30, 30));
    for (int small = 0; small < 2; small++) {
        ozg_context *ctx;
        ozg_report report;

        assert_int_equal(ozg_config_init(&cfg), OZG_OK);
        cfg.memory_limit = small ? 400000 : 0;
        assert_int_equal(ozg_create(&ctx, &cfg), OZG_OK);
        assert_int_equal(
            ozg_dgemm(ctx, 'N', 'N', M, N, K, 1, a, M, b, K, 0, c[small], M, ozg_accurate(12), &report),
            OZG_OK);
        assert_int_equal(report.tiles > 1, small);
        ozg_destroy(ctx);
    }
    assert_memory_equal(c[0], c[1], sizeof c[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_definition),
        cmocka_unit_test(test_wide_results),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_tiles),
    };

    return cmocka_run_group_tests(tests, open_all, fixture_close);
}
