/*
 * test_reconstruct_table.c - the constants of the reconstruction in rational numbers.
 *
 * with: ozg_cuda_emulated
 *
 * SPDX-License-Identifier: MIT
 */
#include "reconstruct_fixture.h"

static int digit(const ozg_cuda_weights *t, int component, int i, int plane)
{
    return (int16_t)(t->digit[component][i][plane / 4][plane / 2 % 2] >> 16 * (plane % 2));
}

/* z = the number whose digits are those of a plane, or of -M (plane < 0) */
static void number_of(mpz_t z, const ozg_cuda_weights *t, int component, int plane)
{
    mpz_set_ui(z, 0);
    for (int i = OZG_CRT_LIMBS - 1; i >= 0; i--) {
        const int x = plane < 0 ? t->product[i] : digit(t, component, 2 + i, plane);

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
 * The factor of the residue of plane q in a component must undo what the planes are: with any Re, Im and P1
 * the sum of the factors times the planes' residues is Re or Im.
 */
static void check_factors(const ozg_rns *rns, int l, int component, const long factor[3])
{
    const long m = (long)rns->m[l];
    struct rng r = {(uint64_t)m};
    long j = 1;

    while (l >= rns->three && (j * j + 1) % m != 0)
        j++;
    for (int again = 0; again < 20; again++) {
        const long re = rng_between(&r, 0, m - 1), im = rng_between(&r, 0, m - 1),
                   other = rng_between(&r, 0, m - 1);
        const long by_three[3] = {re + other, other, im + re + 2 * other},
                   by_two[3] = {re + j * im, re - j * im, 0};
        long sum = 0;

        for (int q = 0; q < 3; q++)
            sum += factor[q] * (l < rns->three ? by_three[q] : by_two[q]);
        assert_int_equal(((sum - (component ? im : re)) % m + m) % m, 0);
    }
}

/* The weights of a component, plane by plane; adds to the errors of the quotient and to the largest residues. */
static void check_planes(const ozg_rns *rns, const ozg_cuda_weights *t, int complex_, int component,
                         const mpz_t m, mpz_t one, mpz_t two, long *largest)
{
    const int planes = ozg_rns_products(rns, complex_);
    mpz_t w, y;

    mpz_inits(w, y, NULL);
    for (int l = 0; l < rns->nmod; l++) {
        const long own = (long)rns->m[l], h = own == 256 ? 128 : (own - 1) / 2;
        long factor[3] = {0, 0, 0};

        for (int q = 0; q < 3 && q * rns->nmod + l < planes; q++) {
            const int plane = q * rns->nmod + l;

            number_of(w, t, component, plane);
            for (int other = 0; other < rns->nmod; other++)
                assert_true(other == l || mpz_fdiv_ui(w, rns->m[other]) == 0);
            factor[q] = (long)mpz_fdiv_ui(w, rns->m[l]);
            mpz_mul_2exp(y, w, 1);
            assert_true(mpz_cmpabs(y, m) < 0);
            add_error(one, w, m, h, digit(t, component, 0, plane), 0);
            add_error(two, w, m, h, digit(t, component, 0, plane), digit(t, component, 1, plane));
            *largest += h;
        }
        if (complex_)
            check_factors(rns, l, component, factor);
        else
            assert_int_equal(factor[0], 1);
    }
    for (int plane = planes; plane < 4 * OZG_CUDA_GROUPS; plane++)
        for (int i = 0; i < OZG_CUDA_DIGITS; i++)
            assert_int_equal(digit(t, component, i, plane), 0);
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
        check_planes(rns, t, complex_, component, m, one, two, &largest);
        assert_true(complex_ || mpz_cmp(one, room) < 0);
        mpz_addmul_ui(two, m, 1ul << 16); /* the low digits are rounded down */
        assert_true(mpz_cmp(two, room) < 0);
        assert_true(largest <= 3 * 3653); /* then sums of digits, q digits and carries stay below 2^31: */
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
            if (complex_) /* the kernels have room for all planes */
                assert_true(table->planes <= 4 * OZG_CUDA_COMPLEX_GROUPS(table->weights.nlimb));
            mpz_clear(q);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_constants)};

    return cmocka_run_group_tests(tests, make_tables, NULL);
}
