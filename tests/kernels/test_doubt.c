/*
 * test_doubt.c - the tests of a strip by every kernel: passes against GMP, and that a row without doubt rounds to
 * the same bits at both ends of its interval and in between.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels.h"

enum { W = OZG_CRT_WORDS };

static uint64_t random_bits(struct rng *r, int most)
{
    const int bits = (int)rng_between(r, 0, most);

    return bits == 0 ? 0 : rng_next(r) >> (64 - bits);
}

static void test_passes(void **state)
{
    struct rng r = {1};
    mpz_t left, right;

    (void)state;
    mpz_init(left);
    mpz_init(right);
    for (int round = 0; round < 20000; round++) {
        uint64_t bound[OZG_STRIP], floors[OZG_STRIP];
        int32_t shift[OZG_STRIP];
        uint8_t pass[OZG_STRIP];
        const uint32_t f = 1 + (uint32_t)random_bits(&r, 17);
        const int c = (int)rng_between(&r, 0, 16);

        for (int e = 0; e < OZG_STRIP; e++) {
            bound[e] = random_bits(&r, 51);
            floors[e] = random_bits(&r, 31) << c | random_bits(&r, c);
            shift[e] = (int32_t)(rng_below(&r, 4) ? rng_between(&r, -60, 60) : rng_between(&r, -3000, 3000));
            if (rng_below(&r, 3) == 0 && shift[e] > 0 && shift[e] < 14) /* at the edge */
                bound[e] = (f * (floors[e] >> c) >> shift[e]) + rng_below(&r, 2);
        }
        for (int i = 0; kernel_at(i); i++) {
            memset(pass, 7, sizeof pass);
            kernel_at(i)->passes(bound, shift, f, floors, c, pass);
            for (int e = 0; e < OZG_STRIP; e++) {
                mpz_set_ui(left, bound[e]);
                mpz_set_ui(right, f * (floors[e] >> c));
                mpz_mul_2exp(shift[e] > 0 ? left : right, shift[e] > 0 ? left : right,
                             (mp_bitcnt_t)(shift[e] > 0 ? shift[e] : -shift[e]));
                if (pass[e] != (mpz_cmp(left, right) <= 0))
                    fail_msg("%s: %llu 2^%d against %u %llu >> %d: %d", kernel_at(i)->name,
                             (unsigned long long)bound[e], (int)shift[e], (unsigned)f,
                             (unsigned long long)floors[e], c, pass[e]);
            }
        }
    }
    mpz_clear(left);
    mpz_clear(right);
}

/* z := row e of n words in two's complement */
static void number_of(mpz_t z, int n, uint64_t (*words)[OZG_STRIP], int e)
{
    uint64_t w[W];

    for (int i = 0; i < n; i++)
        w[i] = words[i][e];
    mpz_import(z, (size_t)n, -1, 8, 0, 0, w);
    if (w[n - 1] >> 63) {
        mpz_t wrap;

        mpz_init_set_ui(wrap, 1);
        mpz_mul_2exp(wrap, wrap, (mp_bitcnt_t)(64 * n));
        mpz_sub(z, z, wrap);
        mpz_clear(wrap);
    }
}

/* RN(z 2^x) by the rounding that tests/unit checks. */
static uint64_t round_number(int single, const mpz_t z, int64_t x)
{
    uint64_t w[W + 4] = {0};
    size_t count = 0;

    mpz_export(w, &count, -1, 8, 0, 0, z);
    return ozg_round_words(single, mpz_sgn(z) < 0, w, (int)count, x);
}

/* A number near a tie, a power of two or anywhere, of up to 64 n - 8 bits. */
static void fill_row(struct rng *r, int single, int n, uint64_t (*words)[OZG_STRIP], int e)
{
    const int bits = (int)rng_between(r, 1, 64 * n - 8), precision = single ? 24 : 53;
    mpz_t z;
    uint64_t w[W] = {0};

    mpz_init_set_ui(z, 1);
    mpz_mul_2exp(z, z, (mp_bitcnt_t)(bits - 1));
    if (rng_below(r, 3) && bits > precision) { /* a tie between two numbers, or a number, and a little */
        mpz_t part;

        mpz_init_set_ui(part, rng_next(r) >> (64 - precision));
        mpz_mul_2exp(part, part, (mp_bitcnt_t)(bits - precision - 1 + (int)rng_below(r, 2)));
        mpz_add(z, z, part);
        mpz_clear(part);
    }
    mpz_add_ui(z, z, random_bits(r, 40));
    if (rng_below(r, 2))
        mpz_sub_ui(z, z, random_bits(r, 40));
    mpz_export(w, NULL, -1, 8, 0, 0, z);
    if (rng_below(r, 20) == 0)
        memset(w, 0, sizeof w);
    if (rng_below(r, 2)) { /* two's complement of the negative */
        uint64_t carry = 1;

        for (int i = 0; i < n; i++) {
            w[i] = ~w[i] + carry;
            carry = carry && w[i] == 0;
        }
    }
    for (int i = 0; i < n; i++)
        words[i][e] = w[i];
    mpz_clear(z);
}

static void test_doubt(void **state)
{
    struct rng r = {2};
    uint64_t sure = 0, all = 0;
    mpz_t z, move;

    (void)state;
    mpz_init(z);
    mpz_init(move);
    for (int round = 0; round < 4000; round++) {
        const int n = (int)rng_between(&r, 1, W), single = (int)rng_below(&r, 2);
        const int32_t exponent = (int32_t)rng_between(&r, -1200, 1000);
        uint64_t words[W][OZG_STRIP], bound[OZG_STRIP];
        int32_t d[OZG_STRIP], shift[OZG_STRIP];
        uint8_t doubt[OZG_STRIP];

        for (int e = 0; e < OZG_STRIP; e++) {
            fill_row(&r, single, n, words, e);
            d[e] = (int32_t)rng_between(&r, -300, 300);
            bound[e] = random_bits(&r, 50);
            shift[e] = (int32_t)rng_between(&r, -50, 64 * n);
        }
        for (int i = 0; kernel_at(i); i++) {
            memset(doubt, 7, sizeof doubt);
            kernel_at(i)->doubt(single, n, words, d, exponent, bound, shift, doubt);
            for (int e = 0; e < OZG_STRIP; e++) {
                uint64_t ends[2];

                all += kernel_at(i)->isa != 0;
                if (doubt[e])
                    continue;
                sure += kernel_at(i)->isa != 0;
                for (int up = 0; up < 2; up++) { /* in units of 2^-50 of the last bit of c^ */
                    number_of(z, n, words, e);
                    mpz_mul_2exp(z, z, 50);
                    mpz_set_ui(move, bound[e]);
                    mpz_mul_2exp(move, move, (mp_bitcnt_t)(shift[e] + 50));
                    if (up)
                        mpz_add(z, z, move);
                    else
                        mpz_sub(z, z, move);
                    ends[up] = round_number(single, z, (int64_t)exponent - d[e] - 50);
                }
                if (ends[0] != ends[1])
                    fail_msg("%s: row %d, n %d, bound %llu 2^%d", kernel_at(i)->name, e, n,
                             (unsigned long long)bound[e], (int)shift[e]);
            }
        }
    }
    assert_true(all == 0 || sure > all / 20); /* a test that doubts everything would be of no use */
    mpz_clear(z);
    mpz_clear(move);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_passes), cmocka_unit_test(test_doubt)};

    return cmocka_run_group_tests(tests, kernels_announce, NULL);
}
