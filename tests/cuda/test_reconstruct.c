/*
 * test_reconstruct.c - the kernels by moduli and by native precision, bit for bit against the CPU's stage.
 *
 * with: ozg_cuda_emulated
 *
 * SPDX-License-Identifier: MIT
 */
#include "reconstruct_compare.h"

static void test_moduli(void **state)
{
    (void)state;
    for (int scalars = 0; scalars < 4; scalars++)
        check_kind(OZG_BY_MODULI, scalars, (uint64_t)scalars + 1);
}

static void test_native(void **state)
{
    (void)state;
    for (int scalars = 0; scalars < 3; scalars++)
        check_kind(OZG_BY_NATIVE, scalars, (uint64_t)scalars + 11);
}

/* Bits of the largest c^. */
static int bits_of_set(int s)
{
    mpz_t most;
    int bits;

    mpz_init(most);
    largest_of(most, rns_of(1, s));
    bits = (int)mpz_sizeinbase(most, 2);
    mpz_clear(most);
    return bits;
}

/*
 * Where doubles round (round_fp64()): c^ of at most two words, from 79 bits on (choose_entry(): 78), by either way.
 * Shorter ones must be left to integers, and none that is longer be in their warp.
 */
static void test_ties_of_doubles(void **state)
{
    struct rng r = {41};
    int fixtures = 0;

    (void)state;
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX && rns_of(1, s)->nword <= 2; s++)
        for (int length = 79; length < bits_of_set(s); length += TIE_COLUMNS)
            for (int fp64 = 0; fp64 < 2; fp64++, fixtures++)
                run_with(&r, s, 0, length % 4 ? OZG_BY_MODULI : OZG_BY_NATIVE, 0, length, fp64);
    assert_true(fixtures > 20);
}

/* Every s and type, all scalars. */
static void test_ties(void **state)
{
    struct rng r = {43};
    int fixtures = 0;

    (void)state;
    for (int type = 0; type < 4; type++)
        for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++) {
            const int least = type % 2 ? 26 : 55, more = bits_of_set(s) - least;

            if (more <= 0) /* no c^ is as long */
                continue;
            run_with(&r, s, type, OZG_BY_MODULI, s % 3, least + (int)rng_below(&r, (uint64_t)more), -1);
            fixtures++;
        }
    assert_true(fixtures > 150);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_moduli), cmocka_unit_test(test_native),
                                       cmocka_unit_test(test_ties_of_doubles), cmocka_unit_test(test_ties)};

    return cmocka_run_group_tests(tests, make_tables, NULL);
}
