/*
 * test_rns.c - every number of a residue system against GMP, and the claims that src/rns.c proves.
 *
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>

#include "arith/residue.h"
#include "rns.h"
#include "unit.h"

enum { SYSTEMS = 2 * (OZG_NMOD_MAX - OZG_NMOD_MIN + 1) };

static mpz_t product, weight, z;

/* The system, and product = its M. */
enum { COMPLEX = 3 }; /* of words 1, 2, and of complex products */

static const ozg_rns *get(int word, int s)
{
    const ozg_rns *rns = NULL;

    if (word == COMPLEX) {
        assert_int_equal(ozg_rns_complex(&rns, s), OZG_OK);
        assert_int_equal(rns->nmod, ozg_moduli_complex(s)->nmod);
        assert_int_equal(ozg_rns_products(rns, 1), 2 * rns->nmod + ozg_moduli_complex(s)->three);
    } else {
        assert_int_equal(ozg_rns_get(&rns, word, s), OZG_OK);
        assert_true(word == 2 || rns->nmod == s);
        assert_int_equal(ozg_rns_products(rns, 0), rns->nmod);
        assert_int_equal(ozg_rns_products(rns, 1), 3 * rns->nmod);
    }
    assert_int_equal(rns->word, word == COMPLEX ? 1 : word);
    mpz_set_ui(product, 1);
    for (int l = 0; l < rns->nmod; l++)
        mpz_mul_ui(product, product, rns->m[l]);
    return rns;
}

/* weight = that of modulus l; returns y_l */
static unsigned long weight_of(const ozg_rns *rns, int l)
{
    mpz_set_limbs16(weight, rns->weight[l], OZG_CRT_LIMBS);
    mpz_divexact_ui(z, product, rns->m[l]);
    mpz_fdiv_qr(z, weight, weight, z);
    assert_int_equal(mpz_sgn(weight), 0); /* M / m divides it */
    mpz_set_limbs16(weight, rns->weight[l], OZG_CRT_LIMBS);
    return mpz_get_ui(z);
}

/* First, while no system is built: all threads get the same one. */
static void *get_all(void *systems)
{
    for (int i = 0; i < SYSTEMS; i++)
        if (ozg_rns_get((const ozg_rns **)systems + i, 1 + i % 2, OZG_NMOD_MIN + i / 2) != OZG_OK)
            return NULL;
    return systems;
}

static void test_built_once_by_many_threads(void **state)
{
    static const ozg_rns *systems[4][SYSTEMS];
    pthread_t thread[4];

    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, get_all, systems[i]), 0);
    for (int i = 0; i < 4; i++) {
        void *result;

        assert_int_equal(pthread_join(thread[i], &result), 0);
        assert_non_null(result);
        assert_memory_equal(systems[i], systems[0], sizeof systems[0]);
    }
    assert_non_null(systems[0][0]);
}

/* 16 bits of the symmetric residue of 2^e mod m, as a number */
static void check_power_half(uint32_t half, unsigned long e, uint32_t m)
{
    const int64_t x = (int16_t)(uint16_t)half;

    assert_in_range(2 * llabs(x), 0, m);
    mpz_ui_pow_ui(z, 2, e);
    mpz_sub_ui(z, z, (unsigned long)(x + 65536));
    assert_int_equal(mpz_fdiv_ui(z, m), (m - 65536 % m) % m);
}

/* 8-bit residues by bytes: what x86/residues8_bytes.h says of them. */
static void check_bytes(const ozg_rns *rns, int l)
{
    const int m = (int)rns->m[l];

    for (int i = 0; i < 4; i++) {
        const int c = (int8_t)(uint8_t)(rns->bytes[l] >> 8 * i);

        assert_true(abs(c) <= (i == 1 ? 85 : 127) && 2 * abs(c) <= m);
        mpz_ui_pow_ui(z, 2, (unsigned long)(8 * i));
        assert_int_equal(mpz_fdiv_ui(z, (unsigned long)m), (c + m) % m);
    }
    assert_in_range(rns->bytes_1[l], OZG_BYTES_1, OZG_BYTES_1 + m - 1);
    assert_in_range(rns->bytes_2[l], OZG_BYTES_2, OZG_BYTES_2 + m - 1);
    assert_int_equal(rns->bytes_1[l] % rns->m[l], 0);
    assert_int_equal(rns->bytes_2[l] % rns->m[l], 0);
}

static void check_constants(const ozg_rns *rns, int l)
{
    const uint32_t m = rns->m[l];

    mpz_ui_pow_ui(z, 2, 32);
    mpz_fdiv_q_ui(z, z, m);
    assert_int_equal(rns->inv[l], mpz_get_ui(z));
    if (rns->word == 1)
        check_bytes(rns, l);
    mpz_set_si(z, -(INT64_C(1) << 31));
    assert_int_equal(rns->offset[l], mpz_fdiv_ui(z, m));
    for (int i = 0; i < OZG_SPLIT_LIMBS; i++) {
        mpz_ui_pow_ui(z, 2, (unsigned long)(OZG_LIMB_BITS * i));
        assert_int_equal(rns->power[l][i], mpz_fdiv_ui(z, m));
    }
    for (int i = 0; i < OZG_SPLIT_PAIRS; i++) {
        check_power_half(rns->power_pair[l][i] & 0xffff, (unsigned long)(30 * i), m);
        check_power_half(rns->power_pair[l][i] >> 16, (unsigned long)(30 * i + 15), m);
    }
}

static void test_constants_of_the_split(void **state)
{
    (void)state;
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++)
        for (int word = 1; word <= COMPLEX; word++) {
            const ozg_rns *rns = get(word, s);

            for (int l = 0; l < rns->nmod; l++) {
                assert_true(word != 1 || rns->m[l] == ozg_moduli_get(s)->m[l]);
                check_constants(rns, l);
            }
        }
    assert_true(OZG_LIMB_BITS * OZG_SPLIT_LIMBS > OZG_WIDTH_MAX); /* |a^| = 2^171 fits */
    assert_true(30 * OZG_SPLIT_PAIRS > OZG_WIDTH_MAX);
}

/* The weight of m_l is 1 mod m_l and 0 mod the others, and below M: that says which number it is. */
static void test_weights_and_product(void **state)
{
    (void)state;
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++)
        for (int word = 1; word <= COMPLEX; word++) {
            const ozg_rns *rns = get(word, s);

            mpz_set_limbs16(z, rns->product, OZG_CRT_LIMBS);
            assert_int_equal(mpz_cmp(z, product), 0);
            for (int l = 0; l < rns->nmod; l++) {
                unsigned long y = weight_of(rns, l);

                assert_in_range(y, 1, rns->m[l] - 1);
                for (int i = 0; i < rns->nmod; i++)
                    assert_int_equal(mpz_fdiv_ui(weight, rns->m[i]), i == l);
                for (int i = 0; i < OZG_CRT_LIMBS; i++)
                    assert_in_range(rns->weight[l][i], 0, 0xffff);
            }
        }
}

/* c^ in two's complement: |c^| < M / 2 <= 2^(16 nlimb - 1), and no limb of M or a weight is left out. */
static void test_limbs_suffice(void **state)
{
    (void)state;
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++)
        for (int word = 1; word <= 2; word++) {
            const ozg_rns *rns = get(word, s);

            assert_in_range(rns->nlimb, 1, OZG_CRT_LIMBS);
            assert_int_equal(rns->nlimb, 4 * rns->nword);
            mpz_fdiv_q_2exp(z, product, 1);
            assert_true(mpz_sizeinbase(z, 2) <= (size_t)(16 * rns->nlimb - 1));
            assert_true(mpz_sizeinbase(product, 2) <= (size_t)(16 * rns->nlimb));
        }
}

/* Number l of the pairs: balanced digits of weight_l, or of -M for l = nmod, modulo 2^(16 nlimb). */
static void check_pair_half(const ozg_rns *rns, int l, const mpz_t number)
{
    mpz_set_ui(z, 0);
    for (int i = rns->nlimb - 1; i >= 0; i--) {
        int16_t digit = (int16_t)(uint16_t)(rns->pair[l / 2][i] >> 16 * (l % 2));

        mpz_mul_2exp(z, z, 16);
        if (digit < 0)
            mpz_sub_ui(z, z, (unsigned long)-digit);
        else
            mpz_add_ui(z, z, (unsigned long)digit);
    }
    mpz_sub(z, z, number);
    mpz_fdiv_r_2exp(z, z, (mp_bitcnt_t)(16 * rns->nlimb));
    assert_int_equal(mpz_sgn(z), 0);
}

/* All 32-bit sums of the CRT by pairs stay below 2^31. */
static void test_pairs(void **state)
{
    (void)state;
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++) {
        const ozg_rns *rns = get(1, s);
        uint64_t numbers = 0, quotient = UINT64_C(1) << (rns->quotient_shift - 1);

        assert_int_equal(rns->npair, s / 2 + 1);
        for (int l = 0; l < s; l++) {
            weight_of(rns, l);
            check_pair_half(rns, l, weight);
            numbers += rns->m[l] - 1;
            quotient += (uint64_t)(rns->m[l] - 1) * rns->quotient[l];
        }
        mpz_neg(weight, product);
        check_pair_half(rns, s, weight);
        if (s % 2 == 0)
            for (int i = 0; i < rns->nlimb; i++)
                assert_int_equal(rns->pair[s / 2][i] >> 16, 0);
        /* sum of the residues and the quotient < 2^14, times a digit <= 2^15, and a carry: below 2^30 */
        assert_true(numbers + (quotient >> rns->quotient_shift) < 1 << 14);
    }
}

/* Number l of `wide`: balanced digits of weight_l, or of -M, modulo 2^(16 nlimb). */
static void check_wide(const ozg_rns *rns, int l, const mpz_t number)
{
    mpz_set_ui(z, 0);
    for (int i = 2 * rns->nword - 1; i >= 0; i--) {
        const int64_t digit = rns->wide[l][i];

        mpz_mul_2exp(z, z, 32);
        if (digit < 0)
            mpz_sub_ui(z, z, (unsigned long)-digit);
        else
            mpz_add_ui(z, z, (unsigned long)digit);
    }
    mpz_sub(z, z, number);
    mpz_fdiv_r_2exp(z, z, (mp_bitcnt_t)(16 * rns->nlimb));
    assert_int_equal(mpz_sgn(z), 0);
}

static void test_wide_digits(void **state)
{
    (void)state;
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++) {
        const ozg_rns *rns = get(2, s);

        for (int l = 0; l < rns->nmod; l++) {
            weight_of(rns, l);
            check_wide(rns, l, weight);
        }
        mpz_neg(weight, product);
        check_wide(rns, rns->nmod, weight);
    }
}

/* error = sum_l (m_l - 1) |quotient_l / 2^f - y_l / m_l|; returns the largest value of the code's sum. */
static uint64_t error_of_quotient(const ozg_rns *rns, mpq_t error)
{
    const int f = rns->quotient_shift;
    uint64_t most = UINT64_C(1) << (f - 1);
    mpq_t term;

    mpq_init(term);
    mpq_set_ui(error, 0, 1);
    for (int l = 0; l < rns->nmod; l++) {
        int64_t m = rns->m[l], y = (int64_t)weight_of(rns, l), q = rns->quotient[l];
        int64_t off = q * m - y * (INT64_C(1) << f); /* quotient / 2^f - y / m = off / (m 2^f) */

        assert_in_range(2 * llabs(off), 0, m);
        most += (uint64_t)((m - 1) * q);
        mpq_set_si(term, (m - 1) * llabs(off), (unsigned long)m << f);
        mpq_canonicalize(term);
        mpq_add(error, error, term);
    }
    mpq_clear(term);
    return most;
}

/* The claims at set_quotients(): rounded to nearest, no overflow, the largest such f, error <= 0.0076 M. */
static void test_quotient(void **state)
{
    double worst = 0;
    mpq_t error;

    (void)state;
    mpq_init(error);
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++) {
        const ozg_rns *rns = get(1, s);
        const int f = rns->quotient_shift;
        uint64_t most_above = UINT64_C(1) << f;

        assert_true(error_of_quotient(rns, error) < UINT64_C(1) << 32);
        for (int l = 0; l < s; l++) {
            int64_t m = rns->m[l], y = (int64_t)weight_of(rns, l);

            most_above += (uint64_t)((m - 1) * ((y * (INT64_C(1) << (f + 2)) / m + 1) / 2));
        }
        assert_true(f == 24 || most_above >= UINT64_C(1) << 32);
        assert_true(mpq_cmp_ui(error, 76, 10000) <= 0);
        worst = mpq_get_d(error) > worst ? mpq_get_d(error) : worst;
    }
    print_message("largest error of the quotient: %.6f\n", worst);
    mpq_clear(error);
}

/* Q + error M' < M'/2 for word 2, Q = floor(M/2) - floor(M/64) of the canonical M. */
static void test_room(void **state)
{
    mpz_t q, canonical;
    mpq_t error, room;

    (void)state;
    mpz_inits(q, canonical, NULL);
    mpq_inits(error, room, NULL);
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++)
        for (int word = 1; word <= 2; word++) {
            const ozg_rns *rns;

            get(1, s);
            mpz_set(canonical, product);
            mpz_fdiv_q_2exp(q, canonical, 1);
            mpz_fdiv_q_2exp(canonical, canonical, 6);
            mpz_sub(q, q, canonical);
            rns = get(word, s);
            error_of_quotient(rns, error);
            assert_true(word == 1 || mpq_cmp_ui(error, 1, 1 << 13) < 0);
            mpq_set_z(room, product);
            mpq_mul(error, error, room);
            mpq_div_2exp(room, room, 1);
            mpq_sub(room, room, error); /* M'/2 - error M' */
            mpq_set_z(error, q);
            assert_true(mpq_cmp(error, room) < 0);
        }
    mpz_clears(q, canonical, NULL);
    mpq_clears(error, room, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_built_once_by_many_threads),
        cmocka_unit_test(test_constants_of_the_split),
        cmocka_unit_test(test_weights_and_product),
        cmocka_unit_test(test_limbs_suffice),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_wide_digits),
        cmocka_unit_test(test_quotient),
        cmocka_unit_test(test_room),
    };
    int failed;

    mpz_inits(product, weight, z, NULL);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    mpz_clears(product, weight, z, NULL);
    return failed;
}
