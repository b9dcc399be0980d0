/*
 * test_moduli.c - the sets of moduli and their widths, against GMP and the sets of doc/numerics.md section 2.
 *
 * SPDX-License-Identifier: MIT
 */
#include "moduli.h"
#include "unit.h"
#include "widths.h"

static mpz_t product, z;

/* product = M of a set */
static void multiply(const ozg_moduli_set *set)
{
    mpz_set_ui(product, 1);
    for (int l = 0; l < set->nmod; l++)
        mpz_mul_ui(product, product, set->m[l]);
}

static void test_pairwise_coprime(void **state)
{
    (void)state;
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++) {
        const ozg_moduli_set *set = ozg_moduli_get(s);

        assert_int_equal(set->nmod, s);
        for (int i = 0; i < s; i++) {
            assert_in_range(set->m[i], 2, 256);
            if (i > 0)
                assert_true(set->m[i] < set->m[i - 1]);
            mpz_set_ui(z, set->m[i]);
            for (int j = 0; j < i; j++)
                assert_int_equal(mpz_gcd_ui(NULL, z, set->m[j]), 1);
        }
    }
}

static void test_product_bits_top(void **state)
{
    (void)state;
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++) {
        const ozg_moduli_set *set = ozg_moduli_get(s);

        multiply(set);
        assert_int_equal(mpz_cmp(product, widths_product(s)), 0);
        assert_int_equal(set->bits, mpz_sizeinbase(product, 2));
        mpz_mul_2exp(z, product, 64);
        mpz_fdiv_q_2exp(z, z, (mp_bitcnt_t)set->bits);
        assert_true(set->top == mpz_low64(z));
    }
    multiply(ozg_moduli_get(49)); /* log2 M = 344.13: 2^344 < M < 2^344.2 */
    assert_int_equal(mpz_sizeinbase(product, 2), 345);
    mpz_pow_ui(z, product, 5);
    assert_int_equal(mpz_sizeinbase(z, 2) - 1, 1720);
}

static void test_sets_of_the_contract(void **state)
{
    static const struct {
        int s, more;
        int m[12];
    } row[] = {{8, 0, {256, 253, 251, 249, 247, 245, 241, 239}},
               {12, 8, {233, 229, 227, 223}},
               {14, 0, {256, 253, 251, 249, 247, 241, 239, 235, 233, 229, 227, 223}},
               {16, 14, {199, 197}},
               {18, 16, {193, 191}},
               {20, 18, {181, 179}},
               {22, 20, {173, 167}},
               {24, 22, {163, 157}}};

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const ozg_moduli_set *set = ozg_moduli_get(row[i].s),
                             *base = row[i].more ? ozg_moduli_get(row[i].more) : NULL;

        if (base)
            assert_memory_equal(set->m, base->m, (size_t)base->nmod * sizeof *base->m);
        for (int l = row[i].more; l < row[i].s && l - row[i].more < 12; l++)
            assert_int_equal(set->m[l], row[i].m[l - row[i].more]);
    }
    assert_int_equal(ozg_moduli_get(14)->m[12], 217);
    assert_int_equal(ozg_moduli_get(14)->m[13], 211);
}

/* The largest t with length 2^(2t+2) <= M, or 0 if that is below 1. */
static int width_by_gmp(int s, uint64_t length)
{
    int t = 0;

    for (mpz_set_u64(z, length), mpz_mul_2exp(z, z, 4); mpz_cmp(z, widths_product(s)) <= 0;
         mpz_mul_2exp(z, z, 2))
        t++;
    return t;
}

static void check_width(int s, uint64_t length)
{
    int t = ozg_moduli_width(s, length), expected = width_by_gmp(s, length);

    if (expected < 1 ? t >= 1 : t != expected)
        fail_msg("s = %d, length = %llu: width %d, expected %d", s, (unsigned long long)length, t, expected);
}

static void test_width_of_many_lengths(void **state)
{
    struct rng r = {1};

    (void)state;
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++) {
        for (uint64_t length = 1; length <= 300; length++)
            check_width(s, length);
        for (int i = 1; i < 64; i++)
            for (int step = -1; step <= 1; step++)
                check_width(s, (UINT64_C(1) << i) + (uint64_t)(int64_t)step);
        check_width(s, UINT64_MAX);
        for (int i = 0; i < 200; i++) {
            uint64_t length = rng_next(&r) >> rng_below(&r, 64);

            check_width(s, length ? length : 1);
        }
    }
}

/* length just at M / 2^(2t+2), and the next one. */
static void test_width_at_its_limit(void **state)
{
    int tested = 0;

    (void)state;
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++)
        for (int t = 1; t <= OZG_WIDTH_MAX + 1; t++) {
            uint64_t length;

            mpz_fdiv_q_2exp(z, widths_product(s), (mp_bitcnt_t)(2 * t + 2));
            if (mpz_sgn(z) == 0 || mpz_sizeinbase(z, 2) > 63)
                continue;
            length = mpz_low64(z);
            assert_int_equal(ozg_moduli_width(s, length), t);
            assert_true(ozg_moduli_width(s, length + 1) < t);
            tested++;
        }
    assert_true(tested > 1000);
    assert_int_equal(ozg_moduli_width(OZG_NMOD_MAX, 1), OZG_WIDTH_MAX);
}

static void test_moduli_for_width(void **state)
{
    static const uint64_t length[] = {
        1, 2, 3, 1000, 4096, 131072, 300000, UINT64_C(1) << 40, UINT64_C(1) << 63};

    (void)state;
    for (size_t i = 0; i < sizeof length / sizeof *length; i++)
        for (int t = 1; t <= OZG_WIDTH_MAX + 1; t++) {
            int s = OZG_NMOD_MIN;

            while (s <= OZG_NMOD_MAX && width_by_gmp(s, length[i]) < t)
                s++;
            assert_int_equal(ozg_moduli_for_width(t, length[i]), s > OZG_NMOD_MAX ? 0 : s);
        }
}

/* M' (2^12 - 1) > 2^13 (floor(M/2) - floor(M/64)), where product is M'. */
static int has_room(int s)
{
    mpz_t room;
    int greater;

    mpz_init(room);
    mpz_fdiv_q_2exp(z, widths_product(s), 6);
    mpz_fdiv_q_2exp(room, widths_product(s), 1);
    mpz_sub(room, room, z);
    mpz_mul_2exp(room, room, 13);
    mpz_mul_ui(z, product, (1 << 12) - 1);
    greater = mpz_cmp(z, room) > 0;
    mpz_clear(room);
    return greater;
}

/* product = 2^16 times the n - 1 largest odd numbers <= most that are coprime one by one */
static void multiply_largest(int n, unsigned long most)
{
    mpz_t odd;

    mpz_init_set_ui(odd, 1);
    for (int l = 1; l < n; most -= 2)
        if (mpz_gcd_ui(NULL, odd, most) == 1) {
            mpz_mul_ui(odd, odd, most);
            l++;
        }
    mpz_mul_2exp(product, odd, 16);
    mpz_clear(odd);
}

/* 2^16 and odd coprime moduli below 2^15 that have room, and no as many with a smaller largest one have. */
static void test_wide_sets(void **state)
{
    (void)state;
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++) {
        ozg_moduli_set set;

        ozg_moduli_wide(s, &set);
        assert_in_range(set.nmod, 1, s);
        assert_int_equal(set.m[0], 65536);
        for (int i = 1; i < set.nmod; i++) {
            assert_true(set.m[i] % 2 == 1 && set.m[i] <= OZG_WIDE_ODD_MAX &&
                        (i == 1 || set.m[i] < set.m[i - 1]));
            mpz_set_ui(z, set.m[i]);
            for (int j = 1; j < i; j++)
                assert_int_equal(mpz_gcd_ui(NULL, z, set.m[j]), 1);
        }
        multiply(&set);
        assert_int_equal(set.bits, mpz_sizeinbase(product, 2));
        assert_true(has_room(s));
        for (unsigned long most = set.m[set.nmod > 1] - 2; set.nmod > 1 && most + 200 > set.m[1]; most -= 2) {
            multiply_largest(set.nmod, most);
            assert_false(has_room(s));
        }
    }
}

/* ---- complex products --------------------------------------------------------------------------- */

/* All primes of odd m are 1 mod 4. */
static int has_root(uint32_t m)
{
    for (uint32_t p = 2; p <= m; p++)
        for (; m % p == 0; m /= p)
            if (p % 4 != 1)
                return 0;
    return 1;
}

static void check_complex_set(const ozg_moduli_set *set)
{
    assert_in_range(set->nmod, 2, OZG_NMOD_MAX);
    assert_in_range(set->three, 0, set->nmod);
    for (int i = 0; i < set->nmod; i++) {
        const uint32_t m = set->m[i], j = ozg_moduli_root(m);

        assert_in_range(m, 2, 256);
        assert_true(m % 2 == 1 || m == 256);
        if (m % 2 == 1)
            assert_int_equal(j != 0, has_root(m));
        if (i >= set->three)
            assert_true(m % 2 == 1 && j > 0 && j < m && (j * j + 1) % m == 0);
        mpz_set_ui(z, m);
        for (int other = 0; other < i; other++)
            assert_int_equal(mpz_gcd_ui(NULL, z, set->m[other]), 1);
    }
}

/* Every |c^| <= Q of the canonical moduli has room, at the least cost of any that begins both lists. */
static void test_complex_sets(void **state)
{
    static const int contract[][2] = {{12, 26}, {14, 30}, {16, 35}, {18, 40}, {20, 46}, {24, 57}};
    int before = 0;

    (void)state;
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++) {
        const ozg_moduli_set *set = ozg_moduli_complex(s);
        const int cost = 2 * set->nmod + set->three;

        check_complex_set(set);
        assert_in_range(cost, before, 3 * s);
        before = cost;
        multiply(set);
        assert_int_equal(set->bits, mpz_sizeinbase(product, 2));
        if (cost < 3 * s)
            assert_true(has_room(s));
        else
            assert_memory_equal(set->m, ozg_moduli_get(s)->m, (size_t)s * sizeof *set->m);
        assert_true(cost < 3 * s || set->three == s);
        for (size_t q = 0; q < sizeof contract / sizeof *contract; q++)
            if (contract[q][0] == s)
                assert_int_equal(cost, contract[q][1]);
    }
}

/* No system of fewer products has room: any of the moduli by 2M and of those by 3M, the largest of each. */
static void test_complex_sets_are_cheapest(void **state)
{
    uint32_t list[2][256];
    int count[2] = {0, 0};

    (void)state;
    for (int kind = 0; kind < 2; kind++) /* with a root; then any, coprime to all those */
        for (uint32_t m = 256; m > 1; m--) {
            int coprime = kind || (m % 2 && has_root(m));

            for (int other = 0; other <= kind; other++)
                for (int i = 0; i < count[other]; i++) {
                    mpz_set_ui(z, m);
                    coprime &= mpz_gcd_ui(NULL, z, list[other][i]) == 1;
                }
            if (coprime)
                list[kind][count[kind]++] = m;
        }
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++) {
        const ozg_moduli_set *set = ozg_moduli_complex(s);
        const int cost = 2 * set->nmod + set->three;

        for (int two = 0; two <= count[0]; two++)
            for (int three = 0; three <= count[1] && 2 * two + 3 * three < cost; three++) {
                mpz_set_ui(product, 1);
                for (int i = 0; i < two + three; i++)
                    mpz_mul_ui(product, product, i < two ? list[0][i] : list[1][i - two]);
                assert_false(has_room(s));
            }
    }
}

/* The claims at ozg_fold_every(), for all moduli that may occur. */
static void test_folds(void **state)
{
    (void)state;
    for (int64_t m = 3; m <= OZG_WIDE_ODD_MAX; m += 2) {
        const int64_t c = ozg_fold_factor((uint32_t)m), h = (m - 1) / 2, every = ozg_fold_every((uint32_t)m);

        assert_true(2 * llabs(c) <= m && (65536 - c) % m == 0);
        assert_true(every >= 4 && every <= OZG_K_BLOCK && every % 4 == 0);
        for (int64_t more = 0; more <= 4; more += 4) { /* the largest: 4 more may overflow */
            const int64_t folds = (OZG_K_BLOCK + every + more - 1) / (every + more);
            const int64_t most = 32768 * (llabs(c) + 1) + 32768 * folds + (every + more) * h * h;

            assert_true(more == 0 ? most < INT64_C(1) << 31
                                  : most >= INT64_C(1) << 31 || every == OZG_K_BLOCK);
        }
    }
    assert_true(((INT64_C(1) << 17) + (1 << 8)) * OZG_WIDE_ODD_MAX < INT64_C(1) << 32);
    assert_int_equal(ozg_fold_every(65536), OZG_K_BLOCK);
    assert_int_equal(ozg_fold_factor(65536), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairwise_coprime),
        cmocka_unit_test(test_product_bits_top),
        cmocka_unit_test(test_sets_of_the_contract),
        cmocka_unit_test(test_width_of_many_lengths),
        cmocka_unit_test(test_width_at_its_limit),
        cmocka_unit_test(test_moduli_for_width),
        cmocka_unit_test(test_wide_sets),
        cmocka_unit_test(test_complex_sets),
        cmocka_unit_test(test_complex_sets_are_cheapest),
        cmocka_unit_test(test_folds),
    };
    int failed;

    mpz_inits(product, z, NULL);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    mpz_clears(product, z, NULL);
    return failed;
}
