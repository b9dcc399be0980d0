/*
 * test_product.c - the product stage of every kernel that this machine can run: product.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "product.h"

static void test_descriptions(void **state)
{
    const ozg_kernel *kernel;

    (void)state;
    for (int i = 0; (kernel = ozg_kernel_at(~0u, i)); i++) {
        const int mr = kernel->a.lines, nr = kernel->b.lines, step = kernel->a.step;

        assert_true(mr >= 1 && mr <= OZG_MR_MAX && OZG_STRIP % mr == 0);
        assert_true(nr >= 1 && nr <= OZG_NR_MAX);
        assert_true(step == kernel->b.step && step <= 64 && 64 % step == 0);
        assert_true(step % kernel->a.kr == 0 && step % kernel->b.kr == 0);
        assert_in_range(kernel->a.word, 1, 2);
        assert_int_equal(kernel->a.word, kernel->b.word);
        assert_true(kernel->a.word == 1 || !kernel->a.nonneg);
        assert_non_null(kernel->name);
    }
    assert_string_equal(kernel_ref()->name, "ref");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_descriptions), PRODUCT_TESTS};
    int failed = product_open(kernel_at);

    if (failed)
        return failed;
    failed = cmocka_run_group_tests(tests, kernels_announce, NULL);
    product_close();
    return failed;
}
