/*
 * test_round.c - the usual rounding (alpha = +-2^q, beta = 0) of every kernel against ref and MPFR: ties,
 * carries, signs, subnormals, overflow.
 *
 * SPDX-License-Identifier: MIT
 */
#include "dyadic.h"
#include "kernels.h"

static struct ext value;
static mpz_t z, wrap;

/* Words of a number of so many bits in two's complement: random, a tie or next to it, all ones, or zero. */
static void random_integer(struct rng *r, int n, int bits, uint64_t w[OZG_CRT_WORDS])
{
    for (int i = 0; i < OZG_CRT_WORDS; i++)
        w[i] = rng_next(r);
    mpz_set_words(z, w, n);
    mpz_setbit(z, (mp_bitcnt_t)bits);
    mpz_fdiv_q_2exp(z, z, mpz_sizeinbase(z, 2) - (size_t)bits);
    switch (rng_below(r, 4)) {
    case 0:
        if (bits > 54) { /* a tie of one of the formats, 1 more or 1 less */
            const mp_bitcnt_t cut = (mp_bitcnt_t)(bits - (rng_below(r, 2) ? 53 : 24));

            mpz_fdiv_q_2exp(z, z, cut);
            mpz_mul_2exp(z, z, cut);
            mpz_setbit(z, cut - 1);
            mpz_add_ui(z, z, (unsigned long)rng_below(r, 2));
            mpz_sub_ui(z, z, (unsigned long)rng_below(r, 2));
        }
        break;
    case 1: /* a carry through everything */
        mpz_set_ui(z, 0);
        mpz_setbit(z, (mp_bitcnt_t)bits);
        mpz_sub_ui(z, z, 1);
        break;
    case 2:
        mpz_set_ui(z, 0);
        break;
    }
    if (rng_below(r, 2))
        mpz_neg(z, z);
    mpz_set_ui(wrap, 0);
    if (mpz_sgn(z) < 0)
        mpz_setbit(wrap, (mp_bitcnt_t)(64 * n));
    mpz_add(wrap, wrap, z);
    memset(w, 0, OZG_CRT_WORDS * sizeof *w);
    mpz_export(w, NULL, -1, sizeof *w, 0, 0, wrap);
}

static uint64_t round_by_mpfr(int single, int negate, long exponent)
{
    double x;

    if (negate)
        mpz_neg(z, z);
    ext_set_mpz(&value, z, exponent);
    x = ext_round(&value, single);
    return single ? bits_of_float((float)x) : bits_of_double(x);
}

/* hard: into the subnormal range and beyond the largest number; else all rows surely are normal. */
static void check(const ozg_kernel *kernel, struct rng *r, int single, int n, int hard)
{
    const int negate = (int)rng_below(r, 2), far = single ? 160 : 1100, spread = single ? 100 : 200;
    const int least = (int)rng_between(r, 1, 64 * n - 1),
              most = hard || least + spread > 64 * n - 1 ? 64 * n - 1 : least + spread;
    const int32_t exponent = (int32_t)(hard ? rng_between(r, -far, far) - least : -least - spread / 2);
    uint64_t words[OZG_CRT_WORDS][OZG_STRIP], actual[OZG_STRIP + 1], ref[OZG_STRIP], expected[OZG_STRIP];
    int32_t d[OZG_STRIP];

    memset(words, 0x5a, sizeof words);
    for (int e = 0; e < OZG_STRIP; e++) {
        uint64_t w[OZG_CRT_WORDS];

        random_integer(r, n, (int)rng_between(r, least, most), w);
        for (int i = 0; i < n; i++)
            words[i][e] = w[i];
        d[e] = (int32_t)rng_between(r, -20, 20);
        if (mpz_sgn(z) == 0 && rng_below(r, 2))
            d[e] = OZG_D_NONE;
        expected[e] = round_by_mpfr(single, negate, (long)exponent - d[e]);
    }
    actual[OZG_STRIP] = UINT64_C(0x5a5a5a5a5a5a5a5a);
    kernel->round(single, n, words, d, exponent, negate, actual);
    kernel_ref()->round(single, n, words, d, exponent, negate, ref);
    for (int e = 0; e < OZG_STRIP; e++)
        if (actual[e] != expected[e] || ref[e] != expected[e])
            fail_msg("%s, single %d, %d words, exponent %d - %d: row %d is %llx (ref %llx), expected %llx",
                     kernel->name, single, n, (int)exponent, (int)d[e], e, (unsigned long long)actual[e],
                     (unsigned long long)ref[e], (unsigned long long)expected[e]);
    assert_true(actual[OZG_STRIP] == UINT64_C(0x5a5a5a5a5a5a5a5a));
}

static void test_round(void **state)
{
    struct rng r = {1};

    (void)state;
    for (int i = 0; kernel_at(i); i++)
        for (int form = 0; form < 4; form++)
            for (int n = 1; n <= OZG_CRT_WORDS; n++)
                for (int again = 0; again < 40; again++)
                    check(kernel_at(i), &r, form % 2, n, form / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_round)};
    int failed;

    ext_init(&value);
    mpz_inits(z, wrap, NULL);
    failed = cmocka_run_group_tests(tests, kernels_announce, NULL);
    ext_clear(&value);
    mpz_clears(z, wrap, NULL);
    return failed;
}
