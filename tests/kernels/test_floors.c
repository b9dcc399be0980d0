/*
 * test_floors.c - the floors of every kernel against ref and GMP: word sizes, batch sizes, complex sums,
 * subnormal numbers, and no byte beyond the batch.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels.h"

enum { ROOM = 2 * OZG_SPLIT_BATCH + 40, PLANES = 3 };

static unsigned char actual[PLANES * ROOM], ref[PLANES * ROOM], expected[PLANES * ROOM];
static mpz_t z;

/* floor(|x| 2^s) */
static int floor_by_gmp(uint64_t bits, int32_t s)
{
    const double x = double_of_bits(bits);
    int exponent;

    if (s == OZG_D_NONE)
        return 0;
    mpz_set_d(z, ldexp(frexp(fabs(x), &exponent), 53));
    exponent += s - 53;
    if (exponent >= 0)
        mpz_mul_2exp(z, z, (mp_bitcnt_t)exponent);
    else
        mpz_fdiv_q_2exp(z, z, (mp_bitcnt_t)-exponent);
    assert_true(mpz_cmp_ui(z, 128) < 0);
    return (int)mpz_get_ui(z);
}

static void random_element(struct rng *r, int complex_, int tiny, ozg_batch *batch, int e)
{
    const int bits = OZG_FLOOR_BITS(complex_);
    const int exponent = (int)(tiny ? rng_between(r, -1073, -1000) : rng_between(r, -1073, 1024));
    uint64_t x[2];

    for (int part = 0; part < 2; part++) {
        const int below = (int)(rng_below(r, 2) ? 0 : rng_below(r, 70));
        const uint64_t m = rng_next(r) >> 11 | (rng_below(r, 2) ? UINT64_C(1) << 52 : 0);

        double value = ldexp((double)m, exponent - 53 - below);

        if (rng_below(r, 8) == 0 || value == ldexp(1, exponent)) /* a subnormal that was rounded up */
            value = nextafter(exponent < 1024 ? ldexp(1, exponent) : INFINITY, 0);
        x[part] = bits_of_double(value) | (rng_next(r) & OZG_F64_SIGN);
        if (rng_below(r, 10) == 0)
            x[part] &= OZG_F64_SIGN;
    }
    batch->re[e] = x[0];
    batch->im[e] = x[1];
    batch->s[e] = bits - exponent;
    if (rng_below(r, 10) == 0) {
        batch->s[e] = OZG_D_NONE;
        batch->re[e] |= rng_below(r, 2) ? OZG_F64_INF : 0;
    }
}

/* Behind the count zeros up to a multiple of 16, as the backend has it, then dirt. */
static void random_batch(struct rng *r, int complex_, ozg_batch *batch, int count)
{
    const int tiny = rng_below(r, 3) == 0;

    batch->count = count;
    for (int e = 0; e < OZG_SPLIT_BATCH; e++) {
        random_element(r, complex_, tiny, batch, e);
        batch->d[e] = (int32_t)rng_next(r);
        if (e >= count && e < ((count + 15) & ~15)) {
            batch->re[e] = batch->im[e] = 0;
            batch->d[e] = batch->s[e] = OZG_D_NONE;
        }
    }
}

static void expect(const ozg_layout *layout, int complex_, const ozg_batch *batch, size_t plane)
{
    for (int e = 0; e < batch->count; e++) {
        const int re = floor_by_gmp(batch->re[e], batch->s[e]);
        const int im = complex_ ? floor_by_gmp(batch->im[e], batch->s[e]) : 0;
        const int16_t x[PLANES] = {(int16_t)re, (int16_t)im, (int16_t)(re + im)};

        for (int q = 0; q < (complex_ ? 3 : 1); q++) /* little-endian, as all kernels but ref */
            if (layout->word == 1)
                expected[(size_t)q * plane + (size_t)e] = (unsigned char)x[q];
            else
                memcpy(expected + (size_t)q * plane + (size_t)(2 * e), &x[q], 2);
    }
}

static void check(const ozg_kernel *kernel, struct rng *r, const ozg_layout *layout, int complex_, int count)
{
    const size_t plane = (size_t)(count * layout->word) + rng_below(r, 8);
    ozg_batch batch;

    random_batch(r, complex_, &batch, count);
    memset(actual, 0x5a, sizeof actual);
    memset(ref, 0x5a, sizeof ref);
    memset(expected, 0x5a, sizeof expected);
    kernel->floors(layout, complex_, &batch, actual, plane);
    kernel_ref()->floors(layout, complex_, &batch, ref, plane);
    expect(layout, complex_, &batch, plane);
    assert_memory_equal(ref, expected, sizeof ref);
    for (size_t at = 0; at < sizeof actual; at++)
        if (actual[at] != expected[at])
            fail_msg(
                "%s, word %d, complex %d, %d elements, plane of %d bytes: byte %d is %02x, expected %02x",
                kernel->name, layout->word, complex_, count, (int)plane, (int)at, actual[at], expected[at]);
}

static void test_floors(void **state)
{
    struct rng r = {1};

    (void)state;
    for (int i = 0; kernel_at(i); i++)
        for (int form = 0; form < 4; form++) {
            const ozg_layout layout = {.lines = 1, .kr = 1, .step = 1, .word = 1 + form % 2};

            for (int count = 1; count <= OZG_SPLIT_BATCH; count++)
                for (int again = 0; again < 3; again++)
                    check(kernel_at(i), &r, &layout, form / 2, count);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_floors)};
    int failed;

    mpz_init(z);
    failed = cmocka_run_group_tests(tests, kernels_announce, NULL);
    mpz_clear(z);
    return failed;
}
