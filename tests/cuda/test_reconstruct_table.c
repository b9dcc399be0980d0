/*
 * test_reconstruct_table.c - the constants of the reconstruction in rational numbers.
 *
 * with: ozg_cuda_emulated
 *
 * SPDX-License-Identifier: MIT
 */
#include "emulate_halves.h"
#include "reconstruct_fixture.h"

static int digit(const ozg_cuda_weights *t, int component, int i, int l)
{
    return (int16_t)(t->digit[component][i][l / 4][l / 2 % 2] >> 16 * (l % 2));
}

/* z = the number whose digits are those of modulus l, or of -M (l < 0) */
static void number_of(mpz_t z, const ozg_cuda_weights *t, int component, int l)
{
    mpz_set_ui(z, 0);
    for (int i = OZG_CRT_LIMBS - 1; i >= 0; i--) {
        const int x = l < 0 ? t->product[i] : digit(t, component, 2 + i, l);

        assert_in_range(x + 32768, 0, 65535);
        mpz_mul_2exp(z, z, 16);
        if (x < 0)
            mpz_sub_ui(z, z, (unsigned long)-x);
        else
            mpz_add_ui(z, z, (unsigned long)x);
    }
}

/* sum += h |(2^16 f + g) / 2^32 - w / M|, times 2^32 M */
static void add_error(mpz_t sum, const mpz_t w, const mpz_t m, long h, long f, long g)
{
    mpz_t error, part;

    mpz_inits(error, part, NULL);
    mpz_mul_si(error, m, f * 65536 + g);
    mpz_mul_2exp(part, w, 32);
    mpz_sub(error, error, part);
    mpz_abs(error, error);
    mpz_addmul_ui(sum, error, (unsigned long)h);
    mpz_clears(error, part, NULL);
}

/* 2^32 M (1 / 2 - Q / M) */
static void room_of(mpz_t room, const mpz_t m, const mpz_t q)
{
    mpz_mul_2exp(room, m, 31);
    mpz_submul_ui(room, q, 1ul << 32);
}

/*
 * Complex: the weight w mod m_l makes Re or Im of what halves.cuh makes of the planes, for any Re, Im, P1.
 */
static void check_factor(const ozg_rns *rns, int l, int component, long w)
{
    const long m = (long)rns->m[l], twice = m == 256 ? 1 : l < rns->three && component ? 4 : 2;
    const long j = l < rns->three ? 0 : root_of((int)m);
    struct rng r = {(uint64_t)m};

    for (int again = 0; again < 20; again++) {
        const long re = rng_between(&r, 0, m - 1), im = rng_between(&r, 0, m - 1),
                   other = rng_between(&r, 0, m - 1);
        const long by_three[2] = {(re + other) - other, (im + re + 2 * other) - (re + other) - other},
                   by_two[2] = {(re + j * im) + (re - j * im), (re + j * im) - (re - j * im)};
        const long v = l < rns->three ? by_three[component] : by_two[component]; /* twice the half of it */

        assert_int_equal(((w * v - twice * (component ? im : re)) % m + m) % m, 0);
    }
}

/* The weights of a component; adds to the errors of the quotient and to the largest residues. */
static void check_weights(const ozg_rns *rns, const ozg_cuda_weights *t, int complex_, int component,
                          const mpz_t m, mpz_t one, mpz_t two, long *largest)
{
    mpz_t w, y;

    mpz_inits(w, y, NULL);
    for (int l = 0; l < rns->nmod; l++) {
        const long own = (long)rns->m[l], h = own == 256 ? 128 : (own - 1) / 2;

        number_of(w, t, component, l);
        for (int other = 0; other < rns->nmod; other++) /* a weight is 0 modulo the others */
            assert_true(other == l || mpz_fdiv_ui(w, rns->m[other]) == 0);
        if (complex_)
            check_factor(rns, l, component, (long)mpz_fdiv_ui(w, rns->m[l]));
        else
            assert_int_equal(mpz_fdiv_ui(w, rns->m[l]), 1);
        mpz_mul_2exp(y, w, 1);
        assert_true(mpz_cmpabs(y, m) < 0);
        add_error(one, w, m, h, digit(t, component, 0, l), 0);
        add_error(two, w, m, h, digit(t, component, 0, l), digit(t, component, 1, l));
        *largest += h;
    }
    for (int l = rns->nmod; l < 4 * OZG_CUDA_GROUPS; l++)
        for (int i = 0; i < OZG_CUDA_DIGITS; i++)
            assert_int_equal(digit(t, component, i, l), 0);
    mpz_clears(w, y, NULL);
}

/* q: Q of the canonical moduli. nword: of them, too. */
static void check_constants(const ozg_rns *rns, const ozg_cuda_weights *t, int complex_, const mpz_t q,
                            int nword)
{
    mpz_t m, w, room;

    mpz_inits(m, w, room, NULL);
    product_of(m, rns);
    number_of(w, t, 0, -1);
    mpz_add(w, w, m);
    assert_int_equal(mpz_sgn(w), 0);
    assert_true(mpz_sizeinbase(q, 2) < (size_t)(16 * t->nlimb));
    assert_int_equal((t->nlimb + 3) / 4, nword);
    room_of(room, m, q);
    for (int component = 0; component <= complex_; component++) {
        mpz_t one, two;
        long largest = 0;

        mpz_inits(one, two, NULL);
        check_weights(rns, t, complex_, component, m, one, two, &largest);
        assert_true(complex_ || mpz_cmp(one, room) < 0);
        mpz_addmul_ui(two, m, 1ul << 16); /* the low digits are rounded down */
        assert_true(mpz_cmp(two, room) < 0);
        assert_true(largest <= 3653); /* then sums of digits, q digits and carries stay below 2^31: */
        assert_true(largest * 32768 + (largest / 2 + 1) * 32768 + 16384 < INT64_C(1) << 31);
        mpz_clears(one, two, NULL);
    }
    mpz_clears(m, w, room, NULL);
}

static void test_constants(void **state)
{
    (void)state;
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++)
        for (int complex_ = 0; complex_ < 2; complex_++) {
            const ozg_cuda_table *table = ozg_cuda_tables_of(tables, complex_) + s;
            const ozg_rns *rns = rns_of(1, s);
            mpz_t q;

            mpz_init(q);
            largest_of(q, rns);
            assert_true(!complex_ || ozg_rns_complex(&rns, s) == OZG_OK);
            check_constants(rns, &table->weights, complex_, q, rns_of(1, s)->nword);
            assert_int_equal(table->nword, rns_of(1, s)->nword);
            assert_int_equal(table->nmod, rns->nmod);
            assert_int_equal(table->planes, ozg_rns_products(rns, complex_));
            if (complex_) /* the kernels have room for all moduli */
                assert_true(table->nmod <= 4 * OZG_CUDA_COMPLEX_GROUPS(table->weights.nlimb));
            mpz_clear(q);
        }
}

/* Two planes of all systems in all their residues, a third in some. Each four moduli once. */
static void test_halves(void **state)
{
    uint32_t seen[300][5];
    int count = 0;

    (void)state;
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++) {
        const ozg_cuda_table *table = ozg_cuda_tables_of(tables, 1) + s;

        for (int g = 0; 4 * g < table->nmod; g++) {
            uint32_t key[5] = {(uint32_t)(4 * g < table->three)};
            int64_t differ = 0;
            int32_t first[4];
            const emulate_halves_args args = {
                table, g, &differ, {&first[0], &first[1], &first[2], &first[3]}};
            int known = 0;

            memcpy(key + 1, table->weights.half[g], sizeof table->weights.half[g]);
            for (int q = 0; q < count && !known; q++)
                known = memcmp(seen[q], key, sizeof key) == 0;
            if (known)
                continue;
            assert_true(count < 300);
            memcpy(seen[count++], key, sizeof key);
            assert_int_equal(ozg_emulated_launch("emulate_halves", 1, 1, 0, &args), OZG_EMULATED_OK);
            if (differ)
                fail_msg("s = %d, modulus %d: residues %d, %d, %d", s, (int)table->reduce[first[0]].modulus,
                         first[1], first[2], first[3]);
        }
    }
    print_message("%d groups of four moduli\n", count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_constants), cmocka_unit_test(test_halves)};

    return cmocka_run_group_tests(tests, make_tables, NULL);
}
