/*
 * test_environment.c - the caller's rounding mode, flush-to-zero setting and exception flags: no influence,
 * no change.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fenv.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "check.h"
#include "fixture.h"

static const char types[] = {'s', 'd', 'c', 'z'};

static int open_all(void **state)
{
    (void)state;
    return fixture_open(1 << 16, 2);
}

/* A product with subnormals in all places, big enough for two threads. */
static struct gemm make(int q)
{
    struct gemm g = {types[q % 4], 'N', 'T', 33, 31, 29, {1, 0}, {1, 0}, NULL, 0, NULL, 0, NULL, 0};
    static const enum family f[] = {FAMILY_SUBNORMAL, FAMILY_TINY_TIES, FAMILY_UNIFORM, FAMILY_OVERFLOW,
                                    FAMILY_SPECIAL};
    struct rng r = {(uint64_t)q};

    g.alpha[0] = scalar_value(g.type, q % 3 == 0 ? 5 : q % 3 == 1 ? 7 : 2); /* 1/3, subnormal, 1 */
    g.beta[0] = scalar_value(g.type, q % 2 ? 7 : 3);
    gemm_layout(&g, &arena, (struct padding){0, 0, 0}, 1);
    gemm_fill(&g, &r, f[q / 4 % 5], q % 3 ? f[q / 4 % 5] : FAMILY_UNIFORM, FAMILY_SUBNORMAL);
    return g;
}

/* The same call under the present settings of the caller. */
static void *result(const struct gemm *g, int kernel, double *bound)
{
    void *c = gemm_image(g);
    ozg_report report;

    assert_int_equal(gemm_run(kernels.ctx[kernel], g, c, ozg_moduli(20), &report), OZG_OK);
    *bound = report.bound;
    return c;
}

static void rounding_modes(void **state)
{
    static const int mode[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};

    (void)state;
    for (int q = 0; q < 20 * kernels.count; q++) {
        struct gemm g = make(q / kernels.count);
        double bound, other_bound;
        void *want = result(&g, q % kernels.count, &bound);

        for (int i = 0; i < 3; i++) {
            void *c;
            int after;

            assert_int_equal(fesetround(mode[i]), 0);
            c = result(&g, q % kernels.count, &other_bound);
            after = fegetround();
            fesetround(FE_TONEAREST);
            assert_int_equal(after, mode[i]);
            assert_true(gemm_same(&g, c, want, "rounding mode"));
            assert_memory_equal(&other_bound, &bound, sizeof bound);
            free(c);
        }
        free(want);
    }
}

#if defined(__SSE2__)
enum { FTZ_AND_DAZ = 0x8040, STATUS_FLAGS = 0x3F };

static void flush_to_zero(void **state)
{
    const unsigned normal = _mm_getcsr();

    (void)state;
    for (int q = 0; q < 20 * kernels.count; q++) {
        struct gemm g = make(q / kernels.count);
        double bound, other_bound;
        void *want = result(&g, q % kernels.count, &bound), *c;
        unsigned after;

        _mm_setcsr(normal | FTZ_AND_DAZ);
        c = result(&g, q % kernels.count, &other_bound);
        after = _mm_getcsr();
        _mm_setcsr(normal);
        assert_int_equal(after & ~(unsigned)STATUS_FLAGS, (normal | FTZ_AND_DAZ) & ~(unsigned)STATUS_FLAGS);
        assert_true(gemm_same(&g, c, want, "flush to zero"));
        assert_memory_equal(&other_bound, &bound, sizeof bound);
        free(c);
        free(want);
    }
}

/* Subnormal scalars of single precision arrive whole under DAZ, and so do prepared operands. */
static void flush_to_zero_at_the_edges(void **state)
{
    const unsigned normal = _mm_getcsr();
    const float a = 0x1p-149f, b = 3, alpha = 0x1p-140f;
    const double x = 0x1p-1074, y = 5;

    (void)state;
    for (int q = 0; q < kernels.count; q++) {
        float c = 0x1p-148f, big = 0x1p120f, d = 0;
        double z = 0;
        uint32_t bits;
        uint64_t wide;
        ozg_operand *p;

        _mm_setcsr(normal | FTZ_AND_DAZ);
        ozg_sgemm(kernels.ctx[q], 'N', 'N', 1, 1, 1, 1, &a, 1, &b, 1, 1, &c, 1, ozg_moduli(12), NULL);
        ozg_sgemm(kernels.ctx[q], 'N', 'N', 1, 1, 1, alpha, &big, 1, &b, 1, 0, &d, 1, ozg_moduli(12), NULL);
        ozg_operand_create(&p, kernels.ctx[q], 'd', 'A', 'N', 1, 1, &x, 1, ozg_moduli(12));
        ozg_dgemm_prepared(kernels.ctx[q], 'N', 'N', 1, 1, 1, 1, p, NULL, 0, NULL, &y, 1, 0, &z, 1,
                           ozg_moduli(12), NULL);
        ozg_operand_destroy(p);
        _mm_setcsr(normal);
        memcpy(&bits, &c, sizeof bits);
        assert_int_equal(bits, 5); /* 3 2^-149 + 2 2^-149 */
        assert_true(d == 3 * 0x1p-20f);
        memcpy(&wide, &z, sizeof wide);
        assert_int_equal(wide, 5);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounding_modes),
#if defined(__SSE2__)
        cmocka_unit_test(flush_to_zero),
        cmocka_unit_test(flush_to_zero_at_the_edges),
#endif
    };

    return cmocka_run_group_tests(tests, open_all, fixture_close);
}
