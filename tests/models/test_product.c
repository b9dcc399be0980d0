/*
 * test_product.c - the tests of the product stage, kernels/product.h, with the micro-kernels of all processors on
 * models of their instructions.
 * with: ozg_models
 *
 * SPDX-License-Identifier: MIT
 */
#include "../kernels/product.h"
#include "models/kernels.h"
#include "models/x86.h"

/* Every kernel of the library is in the list, and is not the library's own. */
static void test_list(void **state)
{
    const ozg_kernel *kernel;

    (void)state;
    for (int i = 0; (kernel = ozg_kernel_at(~0u, i)) && kernel != kernel_ref(); i++) {
        int found = 0;

        for (int j = 0; modelled_kernel_at(j); j++)
            if (strcmp(modelled_kernel_at(j)->name, kernel->name) == 0) {
                assert_ptr_not_equal(modelled_kernel_at(j)->product, kernel->product);
                assert_true(!kernel->state || modelled_kernel_at(j)->state != kernel->state);
                found++;
            }
        if (found != 1)
            fail_msg("%s is %d times in the list of models", kernel->name, found);
    }
}

/* What state sets up it gives back: nothing stays behind in the thread. */
static void test_state(void **state)
{
    int with_state = 0;

    (void)state;
    for (int i = 0; modelled_kernel_at(i); i++)
        if (modelled_kernel_at(i)->state) {
            with_state++;
            modelled_kernel_at(i)->state(1);
            assert_true(model_tiles_configured());
            modelled_kernel_at(i)->state(0);
            assert_false(model_tiles_configured());
        }
    assert_int_equal(with_state, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_list), cmocka_unit_test(test_state),
                                       PRODUCT_TESTS};
    int failed = product_open(modelled_kernel_at);

    if (failed)
        return failed;
    for (int i = 0; modelled_kernel_at(i); i++)
        print_message("kernel %s, modelled\n", modelled_kernel_at(i)->name);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    product_close();
    return failed;
}
