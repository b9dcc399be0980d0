/*
 * test_bounds_exact.c - Q(s) and the exponents that follow from it, the words of c^ and its bound, the exact
 * accumulator, and the certificate of a rounding, against GMP and MPFR. doc/bounds.md, sections 2, 3, 8, 9.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "arith/exact.h"
#include "dyadic.h"
#include "rns.h"
#include "scaling.h"
#include "unit.h"

static mpz_t z, z2, most;
static struct ext t, u, total[2];

/* most = Q(s) */
static void set_most(int s)
{
    const ozg_moduli_set *set = ozg_moduli_get(s);

    mpz_set_ui(most, 1);
    for (int l = 0; l < set->nmod; l++)
        mpz_mul_ui(most, most, set->m[l]);
    mpz_fdiv_q_2exp(z, most, 6);
    mpz_fdiv_q_2exp(most, most, 1);
    mpz_sub(most, most, z);
}

static void test_most_bits_top(void **state)
{
    (void)state;
    mpz_set_ui(z2, 0);
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++) {
        const ozg_moduli_set *set = ozg_moduli_get(s);

        set_most(s);
        assert_int_equal(set->most_bits, mpz_sizeinbase(most, 2));
        mpz_mul_2exp(z, most, 64);
        mpz_fdiv_q_2exp(z, z, (mp_bitcnt_t)set->most_bits);
        assert_true(set->most_top == mpz_low64(z));
        assert_true(mpz_cmp(most, z2) > 0); /* Q grows with s */
        mpz_set(z2, most);
    }
}

/* c^, C in its unit and the bound fit two's complement of the words of c^, in both residue systems: (2.1). */
static void test_words(void **state)
{
    (void)state;
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++) {
        const ozg_rns *rns[2];

        for (int word = 1; word <= 2; word++) {
            const ozg_rns **system = &rns[word - 1];

            assert_int_equal(ozg_rns_get(system, word, s), OZG_OK);
            set_most(s);
            mpz_set_ui(z, 1);
            mpz_mul_2exp(z, z, (mp_bitcnt_t)(64 * (*system)->nword - 7));
            mpz_sub_ui(z, z, 1);
            mpz_addmul_ui(most, z, 2);
            assert_true(mpz_sizeinbase(most, 2) <= (size_t)(64 * (*system)->nword - 1));
        }
        assert_int_equal(rns[0]->nword, rns[1]->nword);
    }
}

/* g of a line with this N: the largest with 4^g N <= Q, or -1. */
static void check_power(int s, uint64_t n)
{
    uint64_t squares = n;
    int32_t e = 100, d;
    ozg_lines l;
    int g;

    memset(&l, 0, sizeof l);
    l.count = 1;
    l.e = &e;
    l.d = &d;
    l.squares = &squares;
    ozg_scaling_norm(&l, s, 1);
    g = d + e - ozg_norm_bits(1);
    mpz_set_u64(z, n);
    if (g < 0) {
        assert_true(g == -1 && mpz_cmp(z, most) > 0);
        return;
    }
    mpz_mul_2exp(z, z, (mp_bitcnt_t)(2 * g));
    assert_true(mpz_cmp(z, most) <= 0);
    mpz_mul_2exp(z, z, 2);
    assert_true(mpz_cmp(z, most) > 0);
    assert_true(g + 15 <= 172 || n < UINT64_C(1) << 28);
}

static void test_largest_power(void **state)
{
    struct rng r = {1};

    (void)state;
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++) {
        set_most(s);
        for (int i = 0; i < 300; i++)
            check_power(s, (rng_next(&r) | 1) >> rng_below(&r, 64) | 1);
        for (int bit = 0; bit < 64; bit++) { /* at 2^bit, and at the leading bits of Q */
            mpz_mul_2exp(z2, most, 64);
            mpz_fdiv_q_2exp(z2, z2, mpz_sizeinbase(most, 2) + (mp_bitcnt_t)bit);
            for (int step = -1; step <= 1; step++) {
                const uint64_t power = (UINT64_C(1) << bit) + (uint64_t)(int64_t)step,
                               top = mpz_low64(z2) + (uint64_t)(int64_t)step;

                check_power(s, power ? power : 1);
                check_power(s, top ? top : 1);
            }
        }
        check_power(s, UINT64_MAX);
    }
}

/* ---- the accumulator ---------------------------------------------------------------------------- */

static ozg_exact acc[2];

/* x := the sum that acc holds */
static void set_acc(struct ext *x, ozg_exact *sum)
{
    uint64_t w[OZG_EXACT_WORDS];
    int neg;

    ozg_exact_words(sum, w, &neg);
    mpz_set_words(z, w, OZG_EXACT_WORDS);
    if (neg)
        mpz_neg(z, z);
    ext_set_mpz(x, z, OZG_EXACT_LOWEST);
}

static void clear_acc(int which)
{
    ozg_exact_clear(&acc[which]);
    mpz_set_ui(z, 0);
    ext_set_mpz(&total[which], z, 0);
}

/* The sum, also as a short value where it is one. Returns whether it was. */
static int check_acc(int which)
{
    ozg_value v;
    const int is_short = ozg_exact_value(&acc[which], &v);

    if (is_short) {
        assert_in_range(v.z.n, 0, OZG_INT_WORDS);
        mpz_set_words(z, v.z.w, v.z.n);
        if (v.z.neg)
            mpz_neg(z, z);
        ext_set_mpz(&t, z, v.x);
        assert_int_equal(ext_cmp(&t, &total[which]), 0);
    }
    set_acc(&t, &acc[which]);
    assert_int_equal(ext_cmp(&t, &total[which]), 0);
    return is_short;
}

/* The exponents of all numbers begin here, if they are to be near each other. */
static int near = -1;

/* Finite bits: anything, now and then zero, subnormal, the largest or the smallest. */
static uint64_t random_finite(struct rng *r)
{
    const uint64_t sign = rng_next(r) & OZG_F64_SIGN;
    uint64_t bits;

    if (near >= 0)
        return sign | ((uint64_t)near + rng_below(r, 48)) << 52 | rng_next(r) >> 12;
    switch (rng_below(r, 10)) {
    case 0:
        return sign;
    case 1:
        return sign | (OZG_F64_INF - 1);
    case 2:
        return sign | 1;
    case 3:
        return sign | (rng_next(r) >> rng_between(r, 12, 63));
    default:
        do
            bits = rng_next(r);
        while (ozg_is_special(bits));
        return bits;
    }
}

static void add_product(int which, uint64_t x, uint64_t y, int negate)
{
    ozg_exact_add_product(&acc[which], ozg_fp_of_bits(x), ozg_fp_of_bits(y), negate);
    ext_set_double(&t, double_of_bits(x));
    ext_set_double(&u, double_of_bits(y));
    ext_mul(&t, &u);
    if (negate)
        ext_neg(&t);
    ext_add(&total[which], &t);
}

static void random_products(struct rng *r, int which)
{
    const int count = (int)rng_between(r, 0, 12), cancel = rng_below(r, 3) == 0;

    near = rng_below(r, 2) ? (int)rng_below(r, 1999) : -1;
    clear_acc(which);
    for (int i = 0; i < count; i++) {
        const uint64_t x = random_finite(r), y = random_finite(r);
        const int negate = (int)rng_below(r, 2);

        add_product(which, x, y, negate);
        if (cancel) /* exactly, or down to the last bit */
            add_product(which, x, y ^ (rng_below(r, 4) == 0 && (y << 1)), !negate);
    }
}

static void test_products(void **state)
{
    struct rng r = {2};
    int short_ones = 0;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        random_products(&r, 0);
        if (rng_below(&r, 4) == 0)
            ozg_exact_carry(&acc[0]);
        short_ones += check_acc(0);
        check_acc(0); /* reading leaves the value */
    }
    assert_in_range(short_ones, 5000, 15000);
    near = -1;
}

/* Digits low..high hold a remainder, and as much as 2^29 - 1 numbers can add to each. */
static void fill_digits(struct rng *r, int low, int high, int sign)
{
    const int64_t full = (int64_t)((UINT64_C(1) << 29) - 1) * (int64_t)UINT32_MAX;

    clear_acc(0);
    for (int q = low; q <= high; q++)
        acc[0].digit[q] = (int64_t)rng_below(r, UINT64_C(1) << 32) + full * (sign              ? sign
                                                                             : rng_below(r, 2) ? 1
                                                                                               : -1);
    acc[0].low = low;
    acc[0].high = high;
    acc[0].added = (UINT32_C(1) << 29) - 1;
    for (int q = OZG_EXACT_DIGITS - 1; q >= 0; q--) { /* by Horner */
        mpz_mul_2exp(total[0].z, total[0].z, 32);
        mpz_set_si(z, acc[0].digit[q]);
        mpz_add(total[0].z, total[0].z, z);
    }
    total[0].e = OZG_EXACT_LOWEST;
}

/* Just before a carry is due: the next number brings it, and the value stays. */
static void test_carries(void **state)
{
    struct rng r = {3};

    (void)state;
    for (int i = 0; i < 1000; i++) {
        const int low = i % 2 ? 0 : (int)rng_below(&r, OZG_EXACT_DIGITS - 20),
                  high = i % 2 ? OZG_EXACT_DIGITS - 2 : low + (int)rng_below(&r, 12);

        fill_digits(&r, low, high, i % 3 - 1);
        assert_true(i % 2 || high - low > 8 || check_acc(0));
        fill_digits(&r, low, high, i % 3 - 1);
        add_product(0, OZG_F64_INF - 1, random_finite(&r) | 1, i % 5 == 0);
        assert_true(acc[0].added == 0);
        for (int q = 0; q < OZG_EXACT_DIGITS - 1; q++)
            assert_true(acc[0].digit[q] >> 32 == 0);
        check_acc(0);
    }
}

/* z 2^exp with bits of 0 below 2^-2148: exponents far below the first digit. */
static void test_integers(void **state)
{
    struct rng r = {4};

    (void)state;
    for (int i = 0; i < 20000; i++) {
        const int32_t exp = (int32_t)rng_between(&r, -3514, i % 2 ? 1600 : -2000);
        const int zeros = exp < -2148 ? -2148 - exp : 0, negate = (int)rng_below(&r, 2);
        ozg_int n = {{0}, (int)rng_between(&r, 1, OZG_INT_WORDS), (int)rng_below(&r, 2)};

        for (int w = 0; w < n.n; w++) {
            const int below = zeros - 64 * w;

            n.w[w] = rng_below(&r, 4) ? rng_next(&r) : UINT64_MAX;
            n.w[w] = below >= 64 ? 0 : below > 0 ? n.w[w] >> below << below : n.w[w];
        }
        random_products(&r, 0);
        ozg_exact_add_int(&acc[0], &n, exp, negate);
        mpz_set_words(z, n.w, n.n);
        ext_set_mpz(&t, z, exp);
        if (n.neg ^ negate)
            ext_neg(&t);
        ext_add(&total[0], &t);
        check_acc(0);
    }
}

static double random_scalar(struct rng *r, int special)
{
    if (special && rng_below(r, 3) == 0)
        return rng_below(r, 3) == 0 ? quiet_nan() : rng_below(r, 2) ? HUGE_VAL : -HUGE_VAL;
    return rng_below(r, 5) == 0 ? 0 : double_of_bits(random_finite(r));
}

static void random_scalars(struct rng *r, ozg_scalars *s, double alpha[2], double beta[2], int special)
{
    s->single = (int)rng_below(r, 2);
    s->complex_ = (int)rng_below(r, 2);
    for (int q = 0; q < 2; q++) {
        alpha[q] = s->complex_ || q == 0 ? random_scalar(r, special) : 0;
        beta[q] = s->complex_ || q == 0 ? random_scalar(r, special) : 0;
        s->alpha[q] = ozg_scalar_of(alpha[q]);
        s->beta[q] = ozg_scalar_of(beta[q]);
    }
}

/* sum += (-1)^negate x y; a scalar 0 contributes nothing */
static void add_scaled(struct ext *sum, double x, const struct ext *y, int negate)
{
    struct ext product;

    if (x == 0)
        return;
    ext_init(&product);
    ext_set_double(&product, x);
    ext_mul(&product, y);
    if (negate)
        ext_neg(&product);
    ext_add(sum, &product);
    ext_clear(&product);
}

/* The bits of component `part` of alpha ab + beta c, by exact arithmetic and MPFR. */
static uint64_t expected_bits(const ozg_scalars *s, const double alpha[2], const double beta[2], int part,
                              const struct ext *ab, const uint64_t old[2])
{
    struct ext sum, c;
    double result;

    ext_init(&sum);
    ext_init(&c);
    for (int q = 0; q <= s->complex_; q++) {
        add_scaled(&sum, alpha[q], &ab[part ^ q], q && !part);
        ext_set_double(&c, double_of_bits(old[part ^ q]));
        add_scaled(&sum, beta[q], &c, q && !part);
    }
    result = ext_round(&sum, s->single);
    ext_clear(&sum);
    ext_clear(&c);
    return s->single ? bits_of_float((float)result) : bits_of_double(result);
}

static void test_components(void **state)
{
    struct rng r = {5};

    (void)state;
    for (int i = 0; i < 20000; i++) {
        double alpha[2], beta[2];
        uint64_t old[2];
        ozg_scalars s;

        random_scalars(&r, &s, alpha, beta, i % 4 == 0);
        for (int q = 0; q < 2; q++) {
            random_products(&r, q);
            old[q] = bits_of_double(random_scalar(&r, i % 4 == 1));
        }
        for (int part = 0; part <= s.complex_; part++)
            assert_true(ozg_exact_component(&s, part, acc, old) ==
                        expected_bits(&s, alpha, beta, part, total, old));
    }
}

/* ---- the certificate ---------------------------------------------------------------------------- */

/* The component with v[q] moved so that it grows (move 1) or falls (-1), as section 8 says. */
static uint64_t moved_bits(const ozg_scalars *s, int part, const int64_t c[2], int64_t bound, int move,
                           int32_t x, const uint64_t old[2])
{
    ozg_value v[2];

    memset(v, 0, sizeof v);
    for (int q = 0; q <= s->complex_; q++) {
        const int down = (s->alpha[q].fp.neg ^ (q && !part) ^ (move < 0)) && move;
        const int64_t n = c[part ^ q] + (move == 0 ? 0 : down ? -bound : bound);

        v[part ^ q].z.n = 1;
        v[part ^ q].z.neg = n < 0;
        v[part ^ q].z.w[0] = n < 0 ? -(uint64_t)n : (uint64_t)n;
        v[part ^ q].x = x;
    }
    return ozg_entry_component(s, part, v, old);
}

/* Scalars and old C that bring small integers near ties, zero, the subnormal range or overflow. */
static void certificate_scalars(struct rng *r, ozg_scalars *s, int special, int32_t *x, uint64_t old[2])
{
    static const double unusual[6] = {1, -1, HUGE_VAL, -HUGE_VAL, 0, 1};
    const int single = (int)rng_below(r, 2), at = (int)rng_below(r, 4);

    s->single = single;
    s->complex_ = (int)rng_below(r, 2);
    *x = at == 0 ? (single ? -151 : -1076) : at == 1 ? (single ? 122 : 1018) : at == 2 ? -3 : 0;
    for (int q = 0; q < 2; q++) {
        const double alpha = special ? unusual[rng_below(r, 6)] : (double)rng_between(r, -3, 3),
                     beta = special ? unusual[rng_below(r, 6)] : (double)rng_between(r, -1, 1);

        s->alpha[q] = ozg_scalar_of(q && !s->complex_ ? 0 : alpha);
        s->beta[q] = ozg_scalar_of(q && !s->complex_ ? 0 : beta);
        old[q] = bits_of_double(
            special ? unusual[rng_below(r, 6)]
                    : ldexp((double)(rng_next(r) >> (single ? 40 : 11)), at == 0   ? *x + 1
                                                                         : at == 1 ? *x - (single ? 20 : 48)
                                                                                   : 0));
        if (rng_below(r, 3) == 0)
            old[q] = 0;
    }
}

/* Equal bits at both ends: every integer of the box, the ends and 0 included, has these bits. */
static void test_certificate(void **state)
{
    struct rng r = {6};
    int certain = 0;

    (void)state;
    for (int i = 0; i < 40000; i++) {
        const int64_t bound = (int64_t)rng_between(&r, 1, 3);
        int64_t c[2], inside[2];
        uint64_t old[2], below;
        int32_t x;
        ozg_scalars s;

        certificate_scalars(&r, &s, i % 3 == 0, &x, old);
        for (int q = 0; q < 2; q++)
            c[q] = (int64_t)rng_between(&r, i % 2 ? -4 : -70, i % 2 ? 4 : 70);
        for (int part = 0; part <= s.complex_; part++) {
            below = moved_bits(&s, part, c, bound, -1, x, old);
            if (below != moved_bits(&s, part, c, bound, 1, x, old))
                continue;
            certain++;
            for (inside[0] = c[0] - bound; inside[0] <= c[0] + bound; inside[0]++)
                for (inside[1] = c[1] - bound; inside[1] <= c[1] + bound; inside[1]++)
                    if (moved_bits(&s, part, inside, 0, 0, x, old) != below)
                        fail_msg("case %d: certified, but not constant", i);
        }
    }
    assert_in_range(certain, 5000, 60000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_most_bits_top), cmocka_unit_test(test_words),
        cmocka_unit_test(test_largest_power), cmocka_unit_test(test_products),
        cmocka_unit_test(test_carries),       cmocka_unit_test(test_integers),
        cmocka_unit_test(test_components),    cmocka_unit_test(test_certificate),
    };

    mpz_inits(z, z2, most, NULL);
    ext_init(&t);
    ext_init(&u);
    ext_init(&total[0]);
    ext_init(&total[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
