/*
 * test_reconstruct_rounded.c - the kernels for rounded results, bit for bit against the CPU's stage; the
 * factors of their bounds.
 *
 * with: ozg_cuda_emulated
 *
 * SPDX-License-Identifier: MIT
 */
#include "factors_data.h"
#include "reconstruct_compare.h"

static void test_rounded(void **state)
{
    (void)state;
    for (int scalars = 0; scalars < 3; scalars++)
        check_kind(OZG_BY_ROUNDED, scalars, (uint64_t)scalars + 21);
    printf("rounded: %llu of %llu tested entries listed without need\n", (unsigned long long)all.doubted,
           (unsigned long long)all.tested);
    assert_true(all.doubted <= all.tested / 8);
}

/* ---- factors ------------------------------------------------------------------------------------ */

static void check_factors(struct rng *r)
{
    ozg_cuda_state state = {.parts = (int)rng_between(r, 1, 2),
                            .part = {{.i0 = 7, .rows = 500, .j0 = 3, .columns = 290}}};
    const ozg_cuda_tile tile = {
        .i0 = 100, .rows = rng_between(r, 1, 450), .j0 = rng_between(r, 0, 200), .columns = 300};
    struct factors_data f;

    factors_fill(&f, r, &state, &tile);
    assert_int_equal(
        ozg_emulated_launch("ozg_cuda_factors", (int)((tile.rows + 255) / 256) + 2, 256, 0, &f.args),
        OZG_EMULATED_OK);
    factors_check(&f, 1);
}

static void test_factors(void **state)
{
    struct rng r = {31};

    (void)state;
    for (int again = 0; again < 60; again++)
        check_factors(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rounded), cmocka_unit_test(test_factors)};

    return cmocka_run_group_tests(tests, make_tables, NULL);
}
