/*
 * test_residuals.c - what the split rounds away from lines, by every kernel, against ref and GMP: all types,
 * strides and sizes, every d, subnormal numbers, ties, up to guard pages.
 *
 * SPDX-License-Identifier: MIT
 */
#include "lines.h"

enum { SPARE = 2 }; /* words beyond those of the elements, to be cleared */

static struct guard memory, bits;
static mpz_t z, nearest;

/* ceil(|x 2^d - n| 2^16), n the integer nearest to x 2^d */
static uint64_t value_by_gmp(double x, int32_t d)
{
    const int exponent = mpz_set_magnitude(z, x) + d;
    const mp_bitcnt_t down = (mp_bitcnt_t)-exponent;

    if (exponent >= 0)
        return 0;
    mpz_set_ui(nearest, 1); /* floor((2 z + 2^down) / 2^(down + 1)) 2^down */
    mpz_mul_2exp(nearest, nearest, down);
    mpz_addmul_ui(nearest, z, 2);
    mpz_fdiv_q_2exp(nearest, nearest, down + 1);
    mpz_mul_2exp(nearest, nearest, down);
    mpz_sub(z, z, nearest);
    mpz_abs(z, z);
    mpz_mul_2exp(z, z, 16);
    mpz_cdiv_q_2exp(z, z, down);
    return mpz_low64(z);
}

/* Norms and places of line i as they should be. */
static ozg_norms line_by_gmp(const ozg_view *v, int64_t k, int64_t i, int32_t d, uint64_t *place,
                             int64_t words)
{
    ozg_norms n = {0, 0, 0};

    memset(place, 0, (size_t)words * sizeof *place);
    for (int64_t p = 0; p < k && d != OZG_D_NONE; p++)
        for (int part = 0; part <= ozg_type_complex(v->type); part++) {
            const uint64_t y = value_by_gmp(line_number(v, i, p, part), d);

            norms_add(&n, y);
            place[p / 64] |= (uint64_t)(y > 0) << p % 64;
        }
    return n;
}

static void check(const ozg_kernel *kernel, const ozg_view *v, int64_t k, int64_t i0, int64_t i1,
                  const int32_t *d, int64_t words, int wanted)
{
    const size_t bytes = (size_t)((i1 - i0) * words) * sizeof(uint64_t);
    uint64_t *places = guard_tail(&bits, bytes), ref_places[LINES * 32], expected_place[32];
    ozg_norms n[LINES + 1], ref[LINES];

    memset(n, 0x5a, sizeof n);
    memset(places, 0x5a, bytes);
    kernel->residuals(v, k, i0, i1, d, n, wanted ? places : NULL, words);
    kernel_ref()->residuals(v, k, i0, i1, d, ref, ref_places, words);
    for (int64_t i = 0; i < i1 - i0; i++) {
        const ozg_norms expected = line_by_gmp(v, k, i0 + i, d[i], expected_place, words);

        if (!norms_equal(&n[i], &expected) || !norms_equal(&ref[i], &expected))
            fail_msg("%s, type %c, strides %d %d, k %d, line %d, d %d: %llx %llx %x, expected %llx %llx %x",
                     kernel->name, v->type, (int)v->line_stride, (int)v->step, (int)k, (int)(i0 + i),
                     (int)d[i], (unsigned long long)n[i].sum, (unsigned long long)n[i].squares, n[i].most,
                     (unsigned long long)expected.sum, (unsigned long long)expected.squares, expected.most);
        if ((wanted && memcmp(places + i * words, expected_place, (size_t)words * 8)) ||
            memcmp(ref_places + i * words, expected_place, (size_t)words * 8))
            fail_msg("%s, type %c, strides %d %d, k %d, line %d, d %d: places differ", kernel->name, v->type,
                     (int)v->line_stride, (int)v->step, (int)k, (int)(i0 + i), (int)d[i]);
    }
    assert_true(n[i1 - i0].sum == UINT64_C(0x5a5a5a5a5a5a5a5a));
}

/* d of a line of exponent e: as a width says, or anything. */
static int32_t random_d(struct rng *r, int32_t e, int width)
{
    if (e == OZG_E_NONE)
        return OZG_D_NONE;
    switch (rng_below(r, 8)) {
    case 0:
        return (int32_t)rng_between(r, -3000, 3000);
    case 1: /* all below 1/2, or all integers */
        return -e + (int32_t)(rng_below(r, 2) ? rng_between(r, -70, 2) : rng_between(r, 40, 160));
    default:
        return width - e;
    }
}

static void check_shape(const ozg_kernel *kernel, struct rng *r, char type, int form, int64_t lines,
                        int64_t k)
{
    const int64_t i0 = rng_below(r, 2) ? rng_between(r, 0, lines - 1) : 0;
    const int width = (int)(rng_below(r, 2) ? rng_between(r, 1, 60) : rng_between(r, 1, OZG_WIDTH_MAX));
    ozg_view v = {NULL, 1, 1, type, (int)rng_below(r, 2), NULL};
    int32_t d[LINES];

    line_fill(r, &memory, &v, form, lines, k, d);
    for (int64_t i = 0; i < lines; i++)
        d[i] = random_d(r, d[i], width);
    check(kernel, &v, k, i0, lines, d + i0, (k + 63) / 64 + (int64_t)rng_below(r, SPARE + 1),
          rng_below(r, 8) > 0);
}

static void test_residuals(void **state)
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
                for (int64_t k = 120; k <= 140; k++)
                    check_shape(kernel_at(i), &r, types[type], form, rng_between(&r, 1, 20), k);
                check_shape(kernel_at(i), &r, types[type], form, 5, 1000);
            }
}

/* Each number against each of many d: n + 1/2, n + 1/2 +- one unit in the last place, one bit, subnormals. */
static void test_ties(void **state)
{
    enum { NUMBERS = 40 };
    static const double unit[] = {0x1p-1074, 0x1p-1022, 0x1p-60, 1, 0x1p900};
    int32_t d[NUMBERS];

    (void)state;
    for (int i = 0; kernel_at(i); i++)
        for (int form = 0; form < 2; form++)
            for (int u = 0; u < 5; u++)
                for (int down = -3; down <= 130; down++) {
                    ozg_view v = {guard_tail(&memory, 8 * NUMBERS * NUMBERS),
                                  form ? NUMBERS : 1,
                                  form ? 1 : NUMBERS,
                                  'd',
                                  0,
                                  NULL};
                    int exponent;

                    frexp(unit[u], &exponent);
                    for (int q = 0; q < NUMBERS; q++) {
                        d[q] = -exponent - down;
                        for (int p = 0; p < NUMBERS; p++) /* (2^p + {-1, 0, 1}) units */
                            line_set_number(&v, q * v.line_stride + p * v.step,
                                            unit[u] * (double)((INT64_C(1) << p) + q % 3 - 1));
                    }
                    check(kernel_at(i), &v, NUMBERS, 0, NUMBERS, d, 1, 1);
                }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_residuals), cmocka_unit_test(test_ties)};
    int failed;

    mpz_inits(z, nearest, NULL);
    guard_open(&memory, 1 << 20);
    guard_open(&bits, 1 << 16);
    failed = cmocka_run_group_tests(tests, kernels_announce, NULL);
    guard_close(&memory);
    guard_close(&bits);
    mpz_clears(z, nearest, NULL);
    return failed;
}
