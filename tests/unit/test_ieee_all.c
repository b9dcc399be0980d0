/*
 * test_ieee_all.c - every one of the 2^32 floats becomes the double that the hardware makes of it.
 *
 * ctest: full
 *
 * SPDX-License-Identifier: MIT
 */
#include "arith/ieee.h"
#include "unit.h"

static void test_every_float(void **state)
{
    uint32_t bits = 0;

    (void)state;
    do {
        uint64_t converted = ozg_f64_of_f32(bits);

        if ((bits & 0x7fffffff) > 0x7f800000 ? !ozg_is_nan(converted) || converted >> 63 != bits >> 31
                                             : converted != bits_of_double((double)float_of_bits(bits)))
            fail_msg("float %08x became %016llx", (unsigned)bits, (unsigned long long)converted);
    } while (++bits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_float)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
