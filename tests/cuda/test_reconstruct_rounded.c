/*
 * test_reconstruct_rounded.c - the kernels for rounded results, bit for bit against the CPU's stage; the
 * factors of their bounds.
 *
 * with: ozg_cuda_emulated
 *
 * SPDX-License-Identifier: MIT
 */
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

enum { LINES = 600 };

static void check_factors(struct rng *r)
{
    uint64_t sum[2][LINES], squares[2][LINES], sum_was[2][LINES], squares_was[2][LINES];
    uint32_t top[2][LINES], top_was[2][LINES], f[2][3][LINES], expected[3];
    int32_t e[2][LINES];
    int64_t index[2][LINES];
    ozg_cuda_state state = {.parts = (int)rng_between(r, 1, 2),
                            .part = {{.i0 = 7, .rows = 500, .j0 = 3, .columns = 290}}};
    ozg_cuda_factors_args args = {
        .state = &state, .rows = rng_below(r, 4) != 0, .columns = rng_below(r, 4) != 0};
    ozg_cuda_lines *side[2] = {&args.a, &args.b};
    int inexact = 0;

    args.request.length = (uint64_t)rng_between(r, 1, rng_below(r, 2) ? 60000 : UINT32_MAX);
    args.tile = (ozg_cuda_tile){
        .i0 = 100, .rows = rng_between(r, 1, 450), .j0 = rng_between(r, 0, 200), .columns = 300};
    for (int q = 0; q < 2; q++) {
        for (int i = 0; i < LINES; i++) {
            sum[q][i] = sum_was[q][i] = rng_below(r, 2) ? rng_below(r, args.request.length << 15) : 0;
            squares[q][i] = squares_was[q][i] = rng_below(r, args.request.length << 30);
            top[q][i] = top_was[q][i] = rng_below(r, 50) ? 0 : (uint32_t)rng_below(r, 32769);
            e[q][i] = rng_below(r, 5) ? 3 : OZG_E_NONE;
            index[q][i] = LINES - 1 - i;
        }
        memset(f[q], 0xa5, sizeof f[q]);
        *side[q] = (ozg_cuda_lines){.rsum = sum[q],
                                    .rsquares = squares[q],
                                    .rtop = top[q],
                                    .e = e[q],
                                    .r1 = f[q][0],
                                    .r2 = f[q][1],
                                    .rmax = f[q][2],
                                    .index = index[q]};
    }
    assert_int_equal(
        ozg_emulated_launch("ozg_cuda_factors", (int)((args.tile.rows + 255) / 256) + 2, 256, 0, &args),
        OZG_EMULATED_OK);
    for (int q = 0; q < 2; q++)
        for (int place = 0; place < LINES; place++) {
            const int64_t first = q ? 3 + args.tile.j0 : 107, most = q ? args.tile.columns : args.tile.rows;
            const int64_t end = first + most < (q ? 293 : 507) ? first + most : q ? 293 : 507;
            const int in = place >= first && place < end && (q ? args.columns : args.rows);
            const int64_t i = state.parts > 1 ? index[q][place] : place;
            const ozg_norms norms = {sum_was[q][i], squares_was[q][i], top_was[q][i]};

            memset(expected, 0xa5, sizeof expected);
            if (in)
                ozg_norms_factors(&norms, 16, ozg_bound_unit(args.request.length), &expected[0], &expected[1],
                                  &expected[2]);
            inexact |= in && norms.most && e[q][i] != OZG_E_NONE;
            for (int x = 0; x < 3; x++)
                assert_int_equal(f[q][x][i], expected[x]);
            assert_true(sum[q][i] == (in ? 0 : norms.sum) && squares[q][i] == (in ? 0 : norms.squares) &&
                        top[q][i] == (in ? 0 : norms.most));
        }
    assert_int_equal(state.inexact, inexact);
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
