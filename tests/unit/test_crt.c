/*
 * test_crt.c - the reconstruction of integers from their residues, on every kernel, for every number of
 * moduli [Xe2] sec. 8.1.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cpu/kernel.h"
#include "unit.h"

enum { INTEGERS = 8192, PLANE = INTEGERS + OZG_STRIP };

static mpz_t c[INTEGERS];
static unsigned char residues[2 * OZG_NMOD_MAX * PLANE];

/*
 * M / 4, M/2 - M/64, small numbers and powers of two of both signs; the rest random up to M / 4, some up to
 * M/2 - M/64, M the canonical product.
 */
static void choose_integers(struct rng *r, const ozg_moduli_set *set)
{
    mpz_t m, quarter, most, low;
    int i = 0;

    mpz_inits(m, quarter, most, low, NULL);
    mpz_set_ui(m, 1);
    for (int l = 0; l < set->nmod; l++)
        mpz_mul_ui(m, m, set->m[l]);
    mpz_fdiv_q_2exp(quarter, m, 2);
    mpz_fdiv_q_2exp(most, m, 1);
    mpz_fdiv_q_2exp(m, m, 6);
    mpz_sub(most, most, m);
    for (int step = 0; step < 4; step++) {
        mpz_set_ui(c[i++], (unsigned long)step);
        mpz_sub_ui(c[i++], quarter, (unsigned long)step);
        mpz_sub_ui(c[i++], most, (unsigned long)step);
    }
    for (mpz_set_ui(low, 1); mpz_cmp(low, quarter) <= 0; mpz_mul_2exp(low, low, 1)) {
        mpz_set(c[i++], low);
        mpz_sub_ui(c[i++], low, 1);
    }
    for (int half = i; i < 2 * half; i++)
        mpz_neg(c[i], c[i - half]);
    mpz_neg(low, quarter);
    for (; i < 3 * INTEGERS / 4; i++)
        mpz_random_between(c[i], r, low, quarter);
    mpz_neg(low, most);
    for (; i < INTEGERS; i++)
        mpz_random_between(c[i], r, low, most);
    mpz_clears(m, quarter, most, low, NULL);
}

/* z = word of row e in two's complement */
static void set_value(mpz_t z, const ozg_rns *rns, uint64_t (*out)[OZG_STRIP], int e)
{
    uint64_t w[OZG_CRT_WORDS];

    for (int i = 0; i < rns->nword; i++)
        w[i] = out[i][e];
    mpz_set_words(z, w, rns->nword);
    if (w[rns->nword - 1] >> 63) {
        mpz_t wrap;

        mpz_init(wrap);
        mpz_setbit(wrap, (mp_bitcnt_t)(64 * rns->nword));
        mpz_sub(z, z, wrap);
        mpz_clear(wrap);
    }
}

static void check_kernel(const ozg_kernel *kernel, const ozg_rns *rns)
{
    uint64_t out[OZG_CRT_WORDS][OZG_STRIP];
    mpz_t z;

    mpz_init(z);
    for (int i = 0; i < INTEGERS; i += OZG_STRIP) {
        memset(out, 0xa5, sizeof out);
        kernel->crt(rns, residues + i * rns->word, (size_t)(PLANE * rns->word), out);
        for (int e = 0; e < OZG_STRIP; e++) {
            set_value(z, rns, out, e);
            if (mpz_cmp(z, c[i + e]) != 0) {
                gmp_fprintf(stderr, "%s, %d moduli: %Zd, expected %Zd\n", kernel->name, rns->nmod, z,
                            c[i + e]);
                fail();
            }
        }
    }
    mpz_clear(z);
}

static void set_residues(const ozg_rns *rns)
{
    for (int l = 0; l < rns->nmod; l++)
        for (int i = 0; i < INTEGERS; i++) {
            const unsigned long r = mpz_fdiv_ui(c[i], rns->m[l]);
            const uint16_t wide = (uint16_t)r;

            if (rns->word == 1)
                residues[l * PLANE + i] = (unsigned char)r;
            else
                memcpy(residues + 2 * (l * PLANE + i), &wide, 2);
        }
}

/* ref takes systems of both words, every other kernel those of its own. */
static void test_every_number_of_moduli(void **state)
{
    struct rng r = {1};
    const ozg_kernel *kernel;

    (void)state;
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++) {
        choose_integers(&r, ozg_moduli_get(s));
        for (int word = 1; word <= 2; word++) {
            const ozg_rns *rns;

            assert_int_equal(ozg_rns_get(&rns, word, s), OZG_OK);
            set_residues(rns);
            for (int i = 0; (kernel = ozg_kernel_at(ozg_cpu_isa(), i)); i++)
                if (kernel->isa == 0 || kernel->a.word == word)
                    check_kernel(kernel, rns);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_number_of_moduli)};
    int failed;

    for (int i = 0; i < INTEGERS; i++)
        mpz_init(c[i]);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    for (int i = 0; i < INTEGERS; i++)
        mpz_clear(c[i]);
    return failed;
}
