/*
 * test_lone_columns.c - a matrix of one column never uses its leading dimension, which may then be anything.
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ozgemm.h"

/* 3 x 1 times 1 x 1 and the other way round, every leading dimension of a lone column immense. */
static void immense_leading_dimensions(void **state)
{
    const double a[] = {1.5, -2, 3}, b[] = {0.5}, row[] = {2, 4, 8};
    const int64_t immense = INT64_MAX;

    (void)state;
    for (int i = 0; ozg_kernel_name(i); i++) {
        ozg_config config;
        ozg_context *ctx;
        ozg_operand *prepared;
        double c[] = {9, 9, 9};

        ozg_config_init(&config);
        config.kernel = ozg_kernel_name(i);
        assert_int_equal(ozg_create(&ctx, &config), OZG_OK);
        assert_int_equal(
            ozg_dgemm(ctx, 'N', 'N', 3, 1, 1, 2, a, immense, b, immense, 1, c, immense, ozg_moduli(16), NULL),
            OZG_OK);
        assert_true(c[0] == 10.5 && c[1] == 7 && c[2] == 12);
        assert_int_equal(ozg_dgemm(ctx, 'T', 'N', 1, 1, 3, 1, a, immense, row, immense, 0, c, immense,
                                   ozg_moduli(16), NULL),
                         OZG_OK);
        assert_true(c[0] == 1.5 * 2 - 8 + 24 && c[1] == 7);
        assert_int_equal(ozg_operand_create(&prepared, ctx, 'd', 'A', 'N', 3, 1, a, immense, ozg_moduli(16)),
                         OZG_OK);
        assert_int_equal(ozg_dgemm_prepared(ctx, 'N', 'N', 3, 1, 1, 1, prepared, NULL, 0, NULL, b, immense, 0,
                                            c, immense, ozg_moduli(16), NULL),
                         OZG_OK);
        assert_true(c[0] == 0.75 && c[1] == -1 && c[2] == 1.5);
        ozg_operand_destroy(prepared);
        ozg_destroy(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(immense_leading_dimensions)};

    return cmocka_run_group_tests_name("lone_columns", tests, NULL, NULL);
}
