/*
 * test_reconstruct_table.c - the constants of the reconstruction in rational numbers.
 *
 * with: ozg_cuda_emulated
 *
 * SPDX-License-Identifier: MIT
 */
#include "reconstruct_fixture.h"

static int digit(const ozg_cuda_weights *t, int i, int l)
{
    return (int16_t)(t->digit[i][l / 4][l / 2 % 2] >> 16 * (l % 2));
}

/* z = the number whose digits are those of row `first` and on, or of -M (l < 0) */
static void number_of(mpz_t z, const ozg_cuda_weights *t, int l)
{
    mpz_set_ui(z, 0);
    for (int i = OZG_CRT_LIMBS - 1; i >= 0; i--) {
        const int x = l < 0 ? t->product[i] : digit(t, 2 + i, l);

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

static void check_constants(const ozg_rns *rns, const ozg_cuda_weights *t)
{
    mpz_t m, q, w, y, one, two, room;

    mpz_inits(m, q, w, y, one, two, room, NULL);
    product_of(m, rns);
    largest_of(q, rns);
    number_of(w, t, -1);
    mpz_add(w, w, m);
    assert_int_equal(mpz_sgn(w), 0);
    assert_true(mpz_sizeinbase(q, 2) < (size_t)(16 * t->nlimb));
    assert_int_equal((t->nlimb + 3) / 4, rns->nword);
    for (int l = 0; l < 4 * OZG_CUDA_GROUPS; l++) {
        const long h = l >= rns->nmod ? 0 : rns->m[l] == 256 ? 128 : (rns->m[l] - 1) / 2;

        number_of(w, t, l);
        if (l >= rns->nmod) {
            assert_int_equal(mpz_sgn(w) | digit(t, 0, l) | digit(t, 1, l), 0);
            continue;
        }
        for (int other = 0; other < rns->nmod;
             other++) /* a weight is 1 modulo its own, 0 modulo the others */
            assert_int_equal(mpz_fdiv_ui(w, rns->m[other]), other == l);
        mpz_mul_2exp(y, w, 1);
        assert_true(mpz_cmpabs(y, m) < 0);
        add_error(one, w, m, h, digit(t, 0, l), 0);
        add_error(two, w, m, h, digit(t, 0, l), digit(t, 1, l));
    }
    room_of(room, m, q);
    assert_true(mpz_cmp(one, room) < 0);
    mpz_mul_ui(two, two, 3);
    mpz_addmul_ui(two, m, 1ul << 16); /* the low digits are rounded down */
    assert_true(mpz_cmp(two, room) < 0);
    mpz_clears(m, q, w, y, one, two, room, NULL);
}

static void test_constants(void **state)
{
    (void)state;
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++)
        check_constants(rns_of(1, s), &tables[s].weights);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_constants)};

    return cmocka_run_group_tests(tests, make_tables, NULL);
}
