/*
 * test_measure.c - the norms and the exactness of lines, by every kernel, against ref and GMP.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels.h"
#include "problem.h"

enum { LINES = OZG_SCALE_LINES };

static struct guard memory;
static mpz_t z;

/* norm1 += ceil(|x| 2^(20 - e)); inexact if x 2^d is no integer. */
static void add_by_gmp(double x, int e, int d, uint64_t *norm1, int *inexact)
{
    int exponent;

    if (x == 0)
        return;
    mpz_set_d(z, ldexp(frexp(fabs(x), &exponent), 53)); /* |x| = z 2^(exponent - 53) */
    exponent -= 53;
    *inexact |= exponent + d < 0 && mpz_scan1(z, 0) < (mp_bitcnt_t) - (exponent + d);
    if (exponent + 20 - e >= 0)
        mpz_mul_2exp(z, z, (mp_bitcnt_t)(exponent + 20 - e));
    else
        mpz_cdiv_q_2exp(z, z, (mp_bitcnt_t) - (exponent + 20 - e));
    *norm1 += mpz_low64(z);
}

static double number_at(const ozg_view *v, int64_t at)
{
    return ozg_type_single(v->type) ? (double)((const float *)v->x)[at] : ((const double *)v->x)[at];
}

static void check(const ozg_kernel *kernel, const ozg_view *v, int64_t k, int64_t i0, int64_t i1, int width,
                  const int32_t *d)
{
    const int parts = 1 + ozg_type_complex(v->type);
    uint64_t norm1[LINES + 1], ref_norm1[LINES];
    uint8_t inexact[LINES + 1], ref_inexact[LINES];

    memset(norm1, 0x5a, sizeof norm1);
    memset(inexact, 0x5a, sizeof inexact);
    kernel->measure(v, k, i0, i1, width, d, norm1, inexact);
    kernel_ref()->measure(v, k, i0, i1, width, d, ref_norm1, ref_inexact);
    for (int64_t i = 0; i < i1 - i0; i++) {
        uint64_t norm1_by_gmp = 0;
        int inexact_by_gmp = 0;

        for (int64_t p = 0; p < k && d[i] != OZG_D_NONE; p++)
            for (int part = 0; part < parts; part++)
                add_by_gmp(number_at(v, parts * ((i0 + i) * v->line_stride + p * v->step) + part),
                           width - d[i], d[i], &norm1_by_gmp, &inexact_by_gmp);
        if (norm1[i] != norm1_by_gmp || inexact[i] != inexact_by_gmp || ref_norm1[i] != norm1_by_gmp ||
            ref_inexact[i] != inexact_by_gmp)
            fail_msg("%s, type %c, strides %d %d, k %d, width %d, line %d, d %d: %llx %d, expected %llx %d",
                     kernel->name, v->type, (int)v->line_stride, (int)v->step, (int)k, width, (int)(i0 + i),
                     (int)d[i], (unsigned long long)norm1[i], inexact[i], (unsigned long long)norm1_by_gmp,
                     inexact_by_gmp);
    }
    assert_int_equal(inexact[i1 - i0], 0x5a);
    assert_int_equal(norm1[i1 - i0] >> 32, 0x5a5a5a5a);
}

/* Of exponents around that of the line, few or many bits, zeros, subnormals. */
static double any_number(struct rng *r, int single, int exponent)
{
    const double x = ldexp((double)(rng_next(r) >> 11 << rng_below(r, 53) & ((UINT64_C(1) << 53) - 1)),
                           exponent - 53 - (int)(rng_below(r, 3) ? rng_below(r, 90) : 0));

    if (rng_below(r, 8) == 0)
        return rng_below(r, 2) ? 0 : -0.0;
    return (rng_below(r, 2) ? 1 : -1) * (single ? (double)(float)x : x);
}

/* Fills a view, and d of each line from its largest component. */
static void fill(struct rng *r, ozg_view *v, int64_t lines, int64_t k, int width, int32_t *d)
{
    const int single = ozg_type_single(v->type), parts = 1 + ozg_type_complex(v->type);
    const int64_t count = parts * ((lines - 1) * v->line_stride + (k - 1) * v->step + 1);
    const int exponent = (int)(single ? rng_between(r, -148, 127) : rng_between(r, -1073, 1023));
    char *x = guard_tail(&memory, (size_t)count * (single ? 4 : 8));

    v->x = x;
    for (int64_t i = 0; i < count; i++) {
        const double value = any_number(r, single, exponent);
        const float f = (float)value;

        memcpy(x + i * (single ? 4 : 8), single ? (const void *)&f : (const void *)&value, single ? 4 : 8);
    }
    for (int64_t i = 0; i < lines; i++) {
        double largest = 0;
        int e;

        for (int64_t p = 0; p < k; p++)
            for (int part = 0; part < parts; part++)
                largest =
                    fmax(largest, fabs(number_at(v, parts * (i * v->line_stride + p * v->step) + part)));
        frexp(largest, &e);
        d[i] = largest == 0 || rng_below(r, 10) == 0 ? OZG_D_NONE : width - e;
    }
}

static void check_shape(const ozg_kernel *kernel, struct rng *r, char type, int form, int64_t lines,
                        int64_t k)
{
    const int64_t i0 = rng_below(r, 2) ? rng_between(r, 0, lines - 1) : 0;
    const int width = (int)rng_between(r, 1, OZG_WIDTH_MAX);
    ozg_view v = {NULL, 1, 1, type, 0};
    int32_t d[LINES];

    if (form)
        v.line_stride = k + rng_between(r, 0, 3);
    else
        v.step = lines + rng_between(r, 0, 3);
    fill(r, &v, lines, k, width, d);
    check(kernel, &v, k, i0, lines, width, d + i0);
}

static void test_measure(void **state)
{
    static const char types[] = {'s', 'd', 'c', 'z'};
    struct rng r = {1};

    (void)state;
    for (int i = 0; kernel_at(i); i++)
        for (int type = 0; type < 4; type++)
            for (int form = 0; form < 2; form++)
                for (int64_t size = 1; size <= LINES; size++) {
                    check_shape(kernel_at(i), &r, types[type], form, size, rng_between(&r, 1, 9));
                    check_shape(kernel_at(i), &r, types[type], form, rng_between(&r, 1, 9), size);
                }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_measure)};
    int failed;

    mpz_init(z);
    guard_open(&memory, 1 << 18);
    failed = cmocka_run_group_tests(tests, kernels_announce, NULL);
    guard_close(&memory);
    mpz_clear(z);
    return failed;
}
