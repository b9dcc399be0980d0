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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_moduli), cmocka_unit_test(test_native)};

    return cmocka_run_group_tests(tests, make_tables, NULL);
}
