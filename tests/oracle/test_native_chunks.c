/*
 * test_native_chunks.c - the bits of native products do not depend on memory_limit, which decides into how many
 * chunks k is cut: at k' >= 65536, where the sums of floors are cut to their unit 2^c.
 *
 * Columns are alike, but for L (doc/bounds.md, section 6), which grows by 1 from one to the next: some are repaired,
 * and the others pass. Both halves of k have an odd sum of floors, so that whoever cuts them one by one gets L - 1.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "check.h"

enum { K = 65536, HALF = K / 2, TINY = 2000, COLUMNS = 32, S = 12 };

static double a[K], *b; /* b: columns of K */

/* The elements a(p) and b(p, j); all are multiples of 2^-7, but for TINY ones, which are rounded. */
static double element_a(int p)
{
    const double of_floor = 1.0 / 128; /* whose floor is 1 */

    if (p == 0 || p == 2)
        return p ? -127 * of_floor : 127 * of_floor;
    if (p == 1 || p == HALF + 1 || p == HALF + 2)
        return p == HALF + 2 ? -of_floor : of_floor;
    return p >= HALF + 1000 && p < HALF + 1000 + TINY ? ldexp(1 + 0x1p-20, -40) : 0;
}

static double element_b(int p, int j)
{
    switch (p) {
    case 0:
    case 2: /* 2 x 127 x 3 = 762 */
        return 3.0 / 128;
    case 1:
        return (2 * j + 1) / 128.0;
    case HALF + 1:
        return 100.0 / 128;
    case HALF + 2:
        return 99.0 / 128;
    default:
        return 127.0 / 128;
    }
}

static void fill(void)
{
    for (int p = 0; p < K; p++) {
        a[p] = element_a(p);
        for (int j = 0; j < COLUMNS; j++)
            b[(int64_t)j * K + p] = element_b(p, j);
    }
}

static ozg_report run(const char *kernel, size_t memory_limit, double *c)
{
    ozg_context *ctx;
    ozg_config config;
    ozg_report report;

    assert_int_equal(ozg_config_init(&config), OZG_OK);
    config.threads = 1;
    config.kernel = kernel;
    config.memory_limit = memory_limit;
    assert_int_equal(ozg_create(&ctx, &config), OZG_OK);
    assert_int_equal(ozg_dgemm(ctx, 'N', 'N', 1, COLUMNS, K, 1, a, 1, b, K, 0, c, 1,
                               ozg_with_moduli(ozg_native(), S), &report),
                     OZG_OK);
    ozg_destroy(ctx);
    return report;
}

static void test_chunks(void **state)
{
    double whole[COLUMNS], cut[COLUMNS];
    const char *kernel;

    (void)state;
    fill();
    for (int i = 0; (kernel = ozg_kernel_name(i)); i++) {
        const ozg_report r1 = run(kernel, (size_t)1 << 30, whole);

        assert_int_equal(r1.k_chunks, 1);
        assert_int_equal(r1.tested, COLUMNS);
        assert_in_range(r1.repaired, 1, COLUMNS - 1);
        for (int mib = 4; mib <= 8; mib *= 2) {
            const ozg_report r2 = run(kernel, (size_t)mib << 20, cut);

            assert_true(r2.k_chunks > 1 || mib == 8);
            assert_int_equal(r2.repaired, r1.repaired);
            assert_memory_equal(cut, whole, sizeof whole);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chunks),
    };
    int failed;

    b = calloc((size_t)K * COLUMNS, sizeof *b);
    if (!b)
        return 1;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(b);
    return failed;
}
