/*
 * test_limbs.c - exact integers of several words and the one rounding of a sum, against GMP and MPFR.
 *
 * SPDX-License-Identifier: MIT
 */
#include "arith/limbs.h"
#include "dyadic.h"
#include "unit.h"

static mpz_t z, z2;
static struct ext sum, part;

/* Random words, now and then all zeros or all ones. */
static uint64_t random_word(struct rng *r)
{
    switch (rng_below(r, 8)) {
    case 0:
        return 0;
    case 1:
        return UINT64_MAX;
    case 2:
        return UINT64_C(1) << rng_below(r, 64);
    default:
        return rng_next(r);
    }
}

static void test_mul_add(void **state)
{
    struct rng r = {1};

    (void)state;
    for (int i = 0; i < 200000; i++) {
        uint64_t a = random_word(&r), b = random_word(&r), c = random_word(&r), hi = 0;
        uint64_t lo = ozg_mul_add(a, b, c, &hi), w[2] = {lo, hi};

        mpz_set_u64(z, a);
        mpz_set_u64(z2, b);
        mpz_mul(z, z, z2);
        mpz_set_u64(z2, c);
        mpz_add(z, z, z2);
        mpz_set_words(z2, w, 2);
        if (mpz_cmp(z, z2) != 0)
            fail_msg("%llx * %llx + %llx", (unsigned long long)a, (unsigned long long)b,
                     (unsigned long long)c);
    }
}

/* x := the term, exactly */
static void ext_set_term(struct ext *x, const ozg_term *t)
{
    mpz_set_words(z, t->w, t->n);
    if (t->neg)
        mpz_neg(z, z);
    ext_set_mpz(x, z, t->exp);
}

static uint64_t bits_of_ext(const struct ext *x, int single)
{
    double result = ext_round(x, single);

    return single ? bits_of_float((float)result) : bits_of_double(result);
}

static ozg_fp random_fp(struct rng *r)
{
    ozg_fp s = {rng_next(r) >> 11 >> rng_below(r, 53), (int32_t)rng_between(r, -1074, 971),
                (int)rng_below(r, 2)};

    return s;
}

static void test_terms(void **state)
{
    struct rng r = {2};

    (void)state;
    for (int i = 0; i < 20000; i++) {
        ozg_fp s = random_fp(&r), c = random_fp(&r);
        ozg_int v = {{0}, (int)rng_between(&r, 0, OZG_INT_WORDS), (int)rng_below(&r, 2)};
        int32_t x = (int32_t)rng_between(&r, -2488, 2046);
        ozg_term t, product = ozg_term_product(s, c);

        for (int w = 0; w < v.n; w++)
            v.w[w] = random_word(&r);
        mpz_set_words(z2, v.w, v.n);
        assert_int_equal(ozg_int_is_zero(&v), mpz_sgn(z2) == 0);
        if (v.neg)
            mpz_neg(z2, z2);
        t = ozg_term_scaled(s, &v, x);
        assert_in_range(t.n, 0, OZG_TERM_WORDS);
        ext_set_term(&sum, &t);
        ext_set_mpz(&part, z2, x);
        mpz_set_u64(z2, s.mant);
        mpz_mul(part.z, part.z, z2);
        part.e += s.exp;
        if (s.neg)
            ext_neg(&part);
        assert_int_equal(ext_cmp(&sum, &part), 0);
        ext_set_term(&sum, &product);
        mpz_set_u64(z, s.mant);
        mpz_set_u64(z2, c.mant);
        mpz_mul(z, z, z2);
        if (s.neg != c.neg)
            mpz_neg(z, z);
        ext_set_mpz(&part, z, (long)s.exp + c.exp);
        assert_int_equal(ext_cmp(&sum, &part), 0);
    }
}

static void test_round_words(void **state)
{
    struct rng r = {3};

    (void)state;
    for (int i = 0; i < 60000; i++) {
        const int single = (int)rng_below(&r, 2), neg = (int)rng_below(&r, 2), n = (int)rng_between(&r, 0, 7);
        uint64_t w[7];
        int64_t exp;

        for (int j = 0; j < n; j++)
            w[j] = random_word(&r);
        exp =
            (single ? rng_between(&r, -170, 130) : rng_between(&r, -1090, 1030)) - rng_between(&r, 0, 64 * n);
        mpz_set_words(z, w, n);
        if (neg)
            mpz_neg(z, z);
        ext_set_mpz(&sum, z, (long)exp);
        assert_true(ozg_round_words(single, neg, w, n, exp) == bits_of_ext(&sum, single));
    }
}

static void check_sum(int single, const ozg_term *t, int count)
{
    uint64_t actual = ozg_sum_round(single, t, count), expected;

    mpz_set_ui(z, 0);
    ext_set_mpz(&sum, z, 0);
    for (int i = 0; i < count; i++) {
        ext_set_term(&part, &t[i]);
        ext_add(&sum, &part);
    }
    expected = bits_of_ext(&sum, single);
    if (actual != expected)
        fail_msg("sum of %d terms, single %d: %llx, expected %llx", count, single, (unsigned long long)actual,
                 (unsigned long long)expected);
}

static ozg_term random_term(struct rng *r, int32_t low, int32_t high)
{
    ozg_term t = {{0},
                  (int)rng_between(r, 1, OZG_TERM_WORDS),
                  (int)rng_below(r, 2),
                  (int32_t)rng_between(r, low, high)};

    for (int i = 0; i < t.n; i++)
        t.w[i] = random_word(r);
    return t;
}

/* t := one word, mant 2^exp */
static ozg_term small_term(uint64_t mant, int neg, int32_t exp)
{
    ozg_term t = {{mant}, 1, neg, exp};

    return t;
}

static void test_sums_of_any_exponents(void **state)
{
    struct rng r = {4};

    (void)state;
    for (int i = 0; i < 40000; i++) {
        const int single = (int)rng_below(&r, 2), count = (int)rng_between(&r, 1, 4);
        const int32_t spread = (int32_t)rng_below(&r, i % 2 ? 100 : 2500);
        const int32_t middle = (int32_t)rng_between(&r, -1100, 1000);
        ozg_term t[4];

        for (int j = 0; j < count; j++)
            t[j] = random_term(&r, middle - spread, middle + spread);
        check_sum(single, t, count);
    }
}

/* Terms that cancel, wholly or down to a few bits far below. */
static void test_cancellation(void **state)
{
    struct rng r = {5};

    (void)state;
    for (int i = 0; i < 20000; i++) {
        const int single = (int)rng_below(&r, 2), split = (int)rng_below(&r, 2);
        ozg_term t[4];

        t[0] = random_term(&r, -1400, 700);
        t[1] = t[0];
        t[1].neg ^= 1;
        t[2] = random_term(&r, t[0].exp - 1200, t[0].exp + 100);
        if (split) { /* the same number with other words: shifted down by one word */
            t[1].n = t[0].n < OZG_TERM_WORDS ? t[0].n + 1 : t[0].n;
            if (t[1].n > t[0].n) {
                memmove(t[1].w + 1, t[0].w, (size_t)t[0].n * sizeof *t[0].w);
                t[1].w[0] = 0;
                t[1].exp -= 64;
            }
        }
        t[3] = t[2];
        t[3].neg ^= 1;
        if (rng_below(&r, 2))
            t[3].w[0] ^= 1;
        check_sum(single, t, (int)rng_between(&r, 2, 4));
    }
}

/* A number, half a unit of its last place, and something tiny or nothing. */
static void test_ties(void **state)
{
    struct rng r = {6};

    (void)state;
    for (int i = 0; i < 20000; i++) {
        const int single = (int)rng_below(&r, 2), p = single ? 24 : 53;
        const int32_t exp =
            single ? (int32_t)rng_between(&r, -149, 103) : (int32_t)rng_between(&r, -1074, 970);
        ozg_term t[4];

        t[0] = small_term(rng_next(&r) >> (64 - p) >> (rng_below(&r, 4) ? 0 : rng_below(&r, 30)), 0, exp);
        t[1] = small_term(1, (int)rng_below(&r, 2), exp - 1);
        t[2] = small_term(rng_below(&r, 3), (int)rng_below(&r, 2), (int32_t)rng_between(&r, -3500, exp - 2));
        t[3] = small_term(rng_below(&r, 2), (int)rng_below(&r, 2), (int32_t)rng_between(&r, -3500, exp - 2));
        check_sum(single, t, (int)rng_between(&r, 2, 4));
    }
}

/* The highest and the lowest bit that can occur at all, in one sum: the accumulator holds them. */
static void test_extreme_exponents(void **state)
{
    /* scalar 2^-1074, D = E = 171 + 1073; scalar (2^53 - 1) 2^971, D = E = 1 - 1024, |c^| < 2^344 */
    const int32_t lowest = -1074 - 2 * (171 + 1073), highest = 971 + 2 * (1024 - 1);
    ozg_term t[4] = {small_term(1, 0, lowest), {{0}, OZG_TERM_WORDS, 0, highest}};

    (void)state;
    for (int i = 0; i < 6; i++)
        t[1].w[i] = UINT64_MAX;
    t[1].w[6] = (UINT64_C(1) << (344 + 53 - 384)) - 1;
    assert_true((highest + 64 * OZG_TERM_WORDS - lowest) / 64 + 3 <= OZG_SUM_WORDS);
    for (int signs = 0; signs < 16; signs++)
        for (int order = 0; order < 2; order++) {
            t[2] = t[1];
            t[3] = t[0];
            for (int i = 0; i < 4; i++)
                t[i].neg = signs >> i & 1;
            for (int count = 2; count <= 4; count++)
                for (int single = 0; single < 2; single++)
                    check_sum(single, t + order * (4 - count), count);
        }
}

static void test_zeros(void **state)
{
    ozg_term t[4] = {{{0}, 3, 1, 5}, {{0}, 7, 1, -2000}, {{0}, 1, 0, 0}, {{0}, 2, 1, 900}};

    (void)state;
    for (int count = 1; count <= 4; count++)
        assert_true(ozg_sum_round(0, t, count) == 0); /* an exact zero is +0 */
    t[2] = small_term(3, 1, -1);
    assert_true(ozg_sum_round(0, t, 4) == bits_of_double(-1.5));
    assert_true(ozg_sum_round(1, t, 3) == bits_of_float(-1.5f));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mul_add),           cmocka_unit_test(test_terms),
        cmocka_unit_test(test_round_words),       cmocka_unit_test(test_sums_of_any_exponents),
        cmocka_unit_test(test_cancellation),      cmocka_unit_test(test_ties),
        cmocka_unit_test(test_extreme_exponents), cmocka_unit_test(test_zeros),
    };
    int failed;

    mpz_inits(z, z2, NULL);
    ext_init(&sum);
    ext_init(&part);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    ext_clear(&sum);
    ext_clear(&part);
    mpz_clears(z, z2, NULL);
    return failed;
}
