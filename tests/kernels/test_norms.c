/*
 * test_norms.c - the norms of lines by every kernel, against ref and GMP: all types, strides and sizes,
 * subnormal numbers, up to a guard page.
 *
 * SPDX-License-Identifier: MIT
 */
#include "lines.h"

static struct guard memory;
static mpz_t z;

/* ceil(|x| 2^(nu - e)) */
static uint64_t value_by_gmp(double x, int nu, int32_t e)
{
    const int up = mpz_set_magnitude(z, x) + nu - e;

    if (up >= 0)
        mpz_mul_2exp(z, z, (mp_bitcnt_t)up);
    else
        mpz_cdiv_q_2exp(z, z, (mp_bitcnt_t)-up);
    return mpz_low64(z);
}

static void check(const ozg_kernel *kernel, const ozg_view *v, int64_t k, int64_t i0, int64_t i1, int nu,
                  const int32_t *e)
{
    ozg_norms n[LINES + 1], ref[LINES];

    memset(n, 0x5a, sizeof n);
    kernel->norms(v, k, i0, i1, nu, e, n);
    kernel_ref()->norms(v, k, i0, i1, nu, e, ref);
    for (int64_t i = 0; i < i1 - i0; i++) {
        ozg_norms expected = {0, 0, 0};

        for (int64_t p = 0; p < k && e[i] != OZG_E_NONE; p++)
            for (int part = 0; part <= ozg_type_complex(v->type); part++)
                norms_add(&expected, value_by_gmp(line_number(v, i0 + i, p, part), nu, e[i]));
        if (!norms_equal(&n[i], &expected) || !norms_equal(&ref[i], &expected))
            fail_msg("%s, type %c, strides %d %d, k %d, nu %d, line %d, e %d: %llx %llx %x, "
                     "expected %llx %llx %x",
                     kernel->name, v->type, (int)v->line_stride, (int)v->step, (int)k, nu, (int)(i0 + i),
                     (int)e[i], (unsigned long long)n[i].sum, (unsigned long long)n[i].squares, n[i].most,
                     (unsigned long long)expected.sum, (unsigned long long)expected.squares, expected.most);
    }
    assert_true(n[i1 - i0].sum == UINT64_C(0x5a5a5a5a5a5a5a5a));
}

static void check_shape(const ozg_kernel *kernel, struct rng *r, char type, int form, int64_t lines,
                        int64_t k)
{
    const int64_t i0 = rng_below(r, 2) ? rng_between(r, 0, lines - 1) : 0;
    const int nu = (int)(rng_below(r, 4) ? ozg_norm_bits((uint64_t)k) : rng_between(r, 8, 15));
    ozg_view v = {NULL, 1, 1, type, (int)rng_below(r, 2), NULL};
    int32_t e[LINES];

    line_fill(r, &memory, &v, form, lines, k, e);
    check(kernel, &v, k, i0, lines, nu, e + i0);
    for (int64_t i = 0; i < lines; i++) /* 2^e may be larger */
        e[i] += e[i] != OZG_E_NONE && rng_below(r, 2) ? (int32_t)rng_below(r, 60) : 0;
    check(kernel, &v, k, i0, lines, nu, e + i0);
}

static void test_norms(void **state)
{
    static const char types[] = {'s', 'd', 'c', 'z'};
    struct rng r = {1};

    (void)state;
    for (int i = 0; kernel_at(i); i++)
        for (int type = 0; type < 4; type++)
            for (int form = 0; form < 2; form++) {
                for (int64_t size = 1; size <= LINES; size++) {
                    check_shape(kernel_at(i), &r, types[type], form, size, rng_between(&r, 1, 9));
                    check_shape(kernel_at(i), &r, types[type], form, rng_between(&r, 1, 9), size);
                }
                check_shape(kernel_at(i), &r, types[type], form, 5, 1000);
            }
}

/* Sums of a long line of the largest numbers are not cut off. */
static void test_largest(void **state)
{
    enum { K = 1 << 15 };
    const int32_t e = 1;

    (void)state;
    for (int i = 0; kernel_at(i); i++)
        for (int64_t step = 1; step <= 2; step++) {
            const ozg_view v = {guard_tail(&memory, 16 * K), 1, step, 'd', 0, NULL};

            for (int64_t p = 0; p < K; p++)
                line_set_number(&v, p * step, 0x1.fffffffffffffp0);
            check(kernel_at(i), &v, K, 0, 1, 15, &e);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_norms), cmocka_unit_test(test_largest)};
    int failed;

    mpz_init(z);
    guard_open(&memory, 1 << 20);
    failed = cmocka_run_group_tests(tests, kernels_announce, NULL);
    guard_close(&memory);
    mpz_clear(z);
    return failed;
}
