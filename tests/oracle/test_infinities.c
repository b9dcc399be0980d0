/*
 * test_infinities.c - sums with many Inf: few lines or many, whole ones and more than 64 in one, columns of A
 * that meet rows of B, signs and zeros beside them; every entry against the oracle.
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
    return fixture_open(1 << 20, 1);
}

static void set_a(const struct gemm *g, int64_t i, int64_t p, int part, double value)
{
    const struct view v = gemm_view_a(g);

    number_set(g->type, (void *)(uintptr_t)g->a, view_index(&v, i, p, part), value);
}

static void set_b(const struct gemm *g, int64_t p, int64_t j, int part, double value)
{
    const struct view v = gemm_view_b(g);

    number_set(g->type, (void *)(uintptr_t)g->b, view_index(&v, p, j, part), value);
}

/* Lines with Inf may be few or many, which the library treats apart. */
enum { FEW = 3, MANY = 10 };

/*
 * Product q of a row of tests, lines x lines: types and transposes in turn. zeros: small integers, many of
 * them 0, which make NaN with an Inf; else positive ones, where the sign of Inf shows.
 */
static struct gemm make(int q, int lines, int64_t k, int zeros)
{
    struct gemm g = {types[q % 4],
                     "NTC"[q / 4 % 3],
                     "NCT" [q / 12 % 3],
                     lines,
                     lines,
                     k,
                     { 1, 0 },
                     {q % 5 == 0, 0},
                     NULL,
                     0,
                     NULL,
                     0,
                     NULL,
                     0};
    struct rng r = {(uint64_t)q};

    gemm_layout(&g, &arena, (struct padding){1, 0, 2}, 1);
    gemm_fill(&g, &r, FAMILY_SMALL, FAMILY_SMALL, FAMILY_SMALL);
    for (int64_t p = 0; p < k && !zeros; p++)
        for (int part = 0; part < type_parts(g.type); part++)
            for (int64_t i = 0; i < lines; i++) {
                set_a(&g, i, p, part, (double)rng_between(&r, 1, 9));
                set_b(&g, p, i, part, (double)rng_between(&r, 1, 9));
            }
    return g;
}

static void check(const struct gemm *g)
{
    assert_true(gemm_check(&kernels, g, (struct request){REQUEST_MODULI, 9}));
}

/* Rows of A, or columns of B, with n Inf each, spread over k: from one to all elements. */
static void put_infinities(const struct gemm *g, int q, int64_t n)
{
    const int part = q % 7 % type_parts(g->type);
    const double inf = q % 3 ? HUGE_VAL : -HUGE_VAL;

    for (int64_t i = 1; i < g->m; i++)
        for (int64_t x = 0; x < n; x++) {
            const int64_t p = (x * 77 + q + i) % g->k; /* 77 and k are coprime: n places */

            if (q % 2)
                set_a(g, i, p, part, inf);
            else
                set_b(g, p, i, part, inf);
        }
}

static void many_in_a_line(void **state)
{
    static const int64_t count[] = {1, 63, 64, 65, 66, 128, 129, 199, 200};

    (void)state;
    for (int q = 0; q < 36 * 9; q++)
        for (int zeros = 0; zeros < 2; zeros++) {
            struct gemm g = make(q, (q / 2 + zeros) % 3 ? FEW : MANY, 200, zeros);

            put_infinities(&g, q, count[q / 36]);
            check(&g);
        }
}

/* Lines of Inf alone, where one term at place p decides: another sign of Inf, or a zero beside it. */
static void one_term_decides(void **state)
{
    static const int64_t place[] = {0, 1, 62, 63, 64, 65, 127, 128, 129};

    (void)state;
    for (int q = 0; q < 36 * 9; q++) {
        const int64_t p = place[q / 36];
        struct gemm g = make(q, q / 2 % 3 ? FEW : MANY, 130, 0);
        const int part = q % 5 % type_parts(g.type);

        for (int64_t i = 1; i < g.m; i++)
            for (int64_t x = 0; x < g.k; x++)
                for (int any = 0; any < type_parts(g.type); any++)
                    set_a(&g, i, x, any, i % 4 ? HUGE_VAL : -HUGE_VAL);
        set_b(&g, p, 0, part, 0.0);
        set_b(&g, p, 1, part, q % 2 ? -0.0 : -7);
        set_a(&g, g.m - 1, p, part, -HUGE_VAL);
        check(&g);
    }
}

/* A column of A full of Inf meets a row of B full of Inf, at the same place of k or at two. */
static void column_meets_row(void **state)
{
    (void)state;
    for (int q = 0; q < 36 * 4; q++) {
        struct gemm g = make(q, q / 2 % 3 ? FEW : MANY, 1 + q * 3 % 70, q / 36 % 2);
        const int64_t at_a = q * 5 % g.k, at_b = q % 2 ? at_a : q * 11 % g.k;

        for (int part = 0; part < type_parts(g.type); part++)
            for (int64_t i = 0; i < g.m; i++) {
                if (q % 3 == 2 && part == 0 && type_is_complex(g.type))
                    continue; /* Inf in the imaginary parts only */
                set_a(&g, i, at_a, part, i % 2 ? HUGE_VAL : -HUGE_VAL);
                set_b(&g, at_b, i, part, i % 3 ? HUGE_VAL : -HUGE_VAL);
            }
        check(&g);
    }
}

/* A and B all Inf of either sign, in some with a zero or a NaN. */
static void nothing_but_infinities(void **state)
{
    (void)state;
    for (int q = 0; q < 36 * 3; q++) {
        struct gemm g = make(q, q / 2 % 3 ? FEW : MANY, 100, 0);
        struct rng r = {(uint64_t)q};

        for (int64_t p = 0; p < g.k; p++)
            for (int part = 0; part < type_parts(g.type); part++)
                for (int64_t i = 0; i < g.m; i++) {
                    set_a(&g, i, p, part, i == 2 && p % 2 ? -HUGE_VAL : HUGE_VAL);
                    set_b(&g, p, i, part, i == 1 && rng_below(&r, 2) ? -HUGE_VAL : HUGE_VAL);
                }
        if (q / 36 == 1)
            set_a(&g, 0, q % 100, 0, -0.0);
        if (q / 36 == 2)
            set_b(&g, q % 100, 2, 0, quiet_nan());
        check(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_in_a_line),
        cmocka_unit_test(one_term_decides),
        cmocka_unit_test(column_meets_row),
        cmocka_unit_test(nothing_but_infinities),
    };

    return cmocka_run_group_tests(tests, open_all, fixture_close);
}
