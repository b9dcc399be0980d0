/*
 * test_rns.c - every number of a residue system against GMP, and the claims that src/rns.c proves.
 *
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>

#include "arith/residue.h"
#include "rns.h"
#include "unit.h"

static mpz_t product, weight, z;

static const ozg_rns *get(int s)
{
    const ozg_rns *rns = NULL;

    assert_int_equal(ozg_rns_get(&rns, s), OZG_OK);
    assert_int_equal(rns->nmod, s);
    mpz_set_ui(product, 1);
    for (int l = 0; l < s; l++)
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
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++)
        if (ozg_rns_get((const ozg_rns **)systems + s, s) != OZG_OK)
            return NULL;
    return systems;
}

static void test_built_once_by_many_threads(void **state)
{
    static const ozg_rns *systems[4][OZG_NMOD_MAX + 1];
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
    assert_non_null(systems[0][OZG_NMOD_MIN]);
}

static void test_constants_of_the_split(void **state)
{
    (void)state;
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++) {
        const ozg_rns *rns = get(s);

        for (int l = 0; l < s; l++) {
            assert_int_equal(rns->m[l], ozg_moduli_get(s)->m[l]);
            mpz_ui_pow_ui(z, 2, 32);
            mpz_fdiv_q_ui(z, z, rns->m[l]);
            assert_int_equal(rns->inv[l], mpz_get_ui(z));
            mpz_set_si(z, -(INT64_C(1) << 31));
            assert_int_equal(rns->offset[l], mpz_fdiv_ui(z, rns->m[l]));
            for (int i = 0; i < OZG_SPLIT_LIMBS; i++) {
                mpz_ui_pow_ui(z, 2, (unsigned long)(OZG_LIMB_BITS * i));
                assert_int_equal(rns->power[l][i], mpz_fdiv_ui(z, rns->m[l]));
            }
        }
    }
    assert_true(OZG_LIMB_BITS * OZG_SPLIT_LIMBS > OZG_WIDTH_MAX); /* |a^| = 2^171 fits */
}

/* The weight of m_l is 1 mod m_l and 0 mod the others, and below M: that says which number it is. */
static void test_weights_and_product(void **state)
{
    (void)state;
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++) {
        const ozg_rns *rns = get(s);

        mpz_set_limbs16(z, rns->product, OZG_CRT_LIMBS);
        assert_int_equal(mpz_cmp(z, product), 0);
        for (int l = 0; l < s; l++) {
            unsigned long y = weight_of(rns, l);

            assert_in_range(y, 1, rns->m[l] - 1);
            for (int i = 0; i < s; i++)
                assert_int_equal(mpz_fdiv_ui(weight, rns->m[i]), i == l);
            for (int i = 0; i < OZG_CRT_LIMBS; i++)
                assert_in_range(rns->weight[l][i], 0, 0xffff);
        }
    }
}

/* c^ in two's complement: |c^| <= 0.49 M < 2^(16 nlimb - 1); all 32-bit sums of the CRT stay below 2^31. */
static void test_limbs_suffice(void **state)
{
    (void)state;
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++) {
        const ozg_rns *rns = get(s);
        uint64_t most_quotient = UINT64_C(1) << (rns->quotient_shift - 1);

        assert_in_range(rns->nlimb, 1, OZG_CRT_LIMBS);
        assert_int_equal(rns->nlimb, 4 * rns->nword);
        mpz_mul_ui(z, product, 49);
        mpz_fdiv_q_ui(z, z, 100);
        assert_true(mpz_sizeinbase(z, 2) <= (size_t)(16 * rns->nlimb - 1));
        assert_true(mpz_sizeinbase(product, 2) <=
                    (size_t)(16 * rns->nlimb)); /* no limb of M or a weight is left out */
        for (int l = 0; l < s; l++)
            most_quotient += (uint64_t)(rns->m[l] - 1) * rns->quotient[l];
        most_quotient >>= rns->quotient_shift;
        for (int i = 0; i < rns->nlimb; i++) {
            uint64_t most = 1 << 16;

            for (int l = 0; l < s; l++)
                most += (uint64_t)(rns->m[l] - 1) * rns->weight[l][i];
            assert_true(most < UINT64_C(1) << 31);
            assert_true(most_quotient * rns->product[i] + (1 << 16) < UINT64_C(1) << 31);
        }
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

static void test_pairs(void **state)
{
    (void)state;
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++) {
        const ozg_rns *rns = get(s);
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

/* The claims at set_quotients(): rounded to nearest, no overflow, the largest such f, error <= 0.0076 M. */
static void test_quotient(void **state)
{
    double worst = 0;
    mpq_t error, term;

    (void)state;
    mpq_inits(error, term, NULL);
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++) {
        const ozg_rns *rns = get(s);
        const int f = rns->quotient_shift;
        uint64_t most = UINT64_C(1) << (f - 1), most_above = UINT64_C(1) << f;

        mpq_set_ui(error, 0, 1);
        for (int l = 0; l < s; l++) {
            int64_t m = rns->m[l], y = (int64_t)weight_of(rns, l), q = rns->quotient[l];
            int64_t off = q * m - y * (INT64_C(1) << f); /* quotient / 2^f - y / m = off / (m 2^f) */

            assert_in_range(2 * llabs(off), 0, m);
            most += (uint64_t)((m - 1) * q);
            most_above += (uint64_t)((m - 1) * ((y * (INT64_C(1) << (f + 2)) / m + 1) / 2));
            mpq_set_si(term, (m - 1) * llabs(off), (unsigned long)m << f);
            mpq_canonicalize(term);
            mpq_add(error, error, term);
        }
        assert_true(most < UINT64_C(1) << 32);
        assert_true(f == 24 || most_above >= UINT64_C(1) << 32);
        assert_true(mpq_cmp_ui(error, 76, 10000) <= 0);
        worst = mpq_get_d(error) > worst ? mpq_get_d(error) : worst;
    }
    print_message("largest error of the quotient: %.6f\n", worst);
    mpq_clears(error, term, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_built_once_by_many_threads),
        cmocka_unit_test(test_constants_of_the_split),
        cmocka_unit_test(test_weights_and_product),
        cmocka_unit_test(test_limbs_suffice),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_quotient),
    };
    int failed;

    mpz_inits(product, weight, z, NULL);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    mpz_clears(product, weight, z, NULL);
    return failed;
}
