/*
 * test_bounds.c - the bounds of entries of every kernel against ref and GMP: factors of all sizes, exact
 * lines, widths that differ, lines that take no part, rows up to a guard page.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels.h"
#include "moduli.h"

enum { ROWS = 2 * OZG_STRIP, ARRAYS = 8 };

static struct guard memory[ARRAYS];
static mpz_t z[3], sum;

static uint32_t random_factor(struct rng *r, int bits)
{
    return (uint32_t)(rng_below(r, 4) ? rng_next(r) >> (64 - bits) >> rng_below(r, (uint64_t)bits)
                                      : (UINT64_C(1) << bits) - 1);
}

/* The largest that factors can be: k' < 2^16 numbers, none above 1, resp. 1/2, in units of 2^-16. */
static ozg_factors random_line(struct rng *r, int32_t w)
{
    ozg_factors f = {random_factor(r, 32),
                     random_factor(r, 24),
                     random_factor(r, 17),
                     random_factor(r, 31),
                     random_factor(r, 23),
                     random_factor(r, 16),
                     w};

    if (rng_below(r, 4) == 0) /* exact */
        f.r1 = f.r2 = f.rmax = 0;
    if (rng_below(r, 12) == 0) {
        memset(&f, 0, sizeof f);
        f.w = OZG_D_NONE + OZG_E_NONE;
    }
    return f;
}

/* z[0] = the least of three products, 2^-shift of it rounded up */
static void add_least(uint32_t x0, uint32_t y0, uint32_t x1, uint32_t y1, uint32_t x2, uint32_t y2, int shift)
{
    const uint32_t x[3] = {x0, x1, x2}, y[3] = {y0, y1, y2};

    for (int q = 0; q < 3; q++) {
        mpz_set_ui(z[q], x[q]);
        mpz_mul_ui(z[q], z[q], y[q]);
        if (mpz_cmp(z[q], z[0]) < 0)
            mpz_set(z[0], z[q]);
    }
    if (mpz_sgn(z[0]))
        mpz_cdiv_q_2exp(z[0], z[0], (mp_bitcnt_t)shift);
    mpz_add(sum, sum, z[0]);
}

static uint64_t bound_by_gmp(const ozg_factors *a, const ozg_factors *b)
{
    const int w = a->w > b->w ? a->w : b->w;

    mpz_set_ui(sum, 0);
    add_least(a->rmax, b->x1, a->r2, b->x2, a->r1, b->xmax, w - b->w);
    add_least(b->rmax, a->x1, b->r2, a->x2, b->r1, a->xmax, w - a->w);
    add_least(a->r2, b->r2, a->r1, b->rmax, a->rmax, b->r1, w);
    if (mpz_sgn(sum) == 0)
        return 0;
    mpz_fdiv_q_2exp(z[0], sum, 24);
    mpz_add(sum, sum, z[0]);
    mpz_add_ui(sum, sum, 1);
    return mpz_low64(sum);
}

/* Arrays of count rows, each up to a guard page. */
static ozg_lines rows_of(const ozg_factors *row, int count)
{
    ozg_lines l = {{NULL, 1, 1, 'd', 0, NULL},
                   count,
                   1,
                   NULL,
                   NULL,
                   NULL,
                   NULL,
                   NULL,
                   NULL,
                   NULL,
                   NULL,
                   NULL,
                   NULL,
                   NULL,
                   0,
                   NULL};
    uint32_t *array[ARRAYS];

    for (int q = 0; q < ARRAYS; q++)
        array[q] = guard_tail(&memory[q], (size_t)count * 4);
    l.x1 = array[0];
    l.x2 = array[1];
    l.xmax = array[2];
    l.r1 = array[3];
    l.r2 = array[4];
    l.rmax = array[5];
    l.d = (int32_t *)array[6];
    l.e = (int32_t *)array[7];
    for (int i = 0; i < count; i++) {
        l.x1[i] = row[i].x1;
        l.x2[i] = row[i].x2;
        l.xmax[i] = row[i].xmax;
        l.r1[i] = row[i].r1;
        l.r2[i] = row[i].r2;
        l.rmax[i] = row[i].rmax;
        l.e[i] = row[i].w < 0 ? OZG_E_NONE : i * 31 - 1000;
        l.d[i] = row[i].w - l.e[i];
    }
    return l;
}

static void check(const ozg_kernel *kernel, struct rng *r, int count)
{
    int32_t width[4][OZG_STRIP + 1];
    const int skip = (int)rng_below(r, OZG_STRIP), common = (int)rng_between(r, 1, OZG_WIDTH_MAX);
    const int differ = (int)rng_below(r, 3);
    ozg_factors row[ROWS], column;
    uint64_t bound[OZG_STRIP + 1], ref[OZG_STRIP];
    ozg_lines lines;

    for (int i = 0; i <= skip + count; i++) {
        const int32_t w = (int32_t)(differ == 0   ? common
                                    : differ == 1 ? common + rng_between(r, 0, 1)
                                                  : rng_between(r, 1, OZG_WIDTH_MAX));
        const ozg_factors f = random_line(r, w);

        if (i < skip + count)
            row[i] = f;
        else
            column = f;
    }
    lines = rows_of(row, skip + count);
    memset(bound, 0x5a, sizeof bound);
    memset(width, 0x5a, sizeof width);
    kernel->bounds(&lines, skip, count, &column, bound, width[0], width[1]);
    kernel_ref()->bounds(&lines, skip, count, &column, ref, width[2], width[3]);
    for (int e = 0; e < count; e++) {
        const uint64_t expected = bound_by_gmp(&row[skip + e], &column);

        if (bound[e] != expected || ref[e] != expected)
            fail_msg("%s, %d rows, w %d %d: row %d: %llx (ref %llx), expected %llx", kernel->name, count,
                     (int)row[skip + e].w, (int)column.w, e, (unsigned long long)bound[e],
                     (unsigned long long)ref[e], (unsigned long long)expected);
    }
    for (int e = 0; e < count; e++) {
        const int32_t w = row[skip + e].w;

        assert_int_equal(width[0][e], w > column.w ? w : column.w);
        assert_int_equal(width[1][e], w > column.w ? column.w : w);
        assert_true(width[2][e] == width[0][e] && width[3][e] == width[1][e]);
    }
    for (int e = count; e <= OZG_STRIP; e++)
        assert_true(bound[e] == UINT64_C(0x5a5a5a5a5a5a5a5a) && width[0][e] == 0x5a5a5a5a &&
                    width[1][e] == 0x5a5a5a5a);
}

static void test_bounds(void **state)
{
    struct rng r = {1};

    (void)state;
    for (int i = 0; kernel_at(i); i++)
        for (int count = 1; count <= OZG_STRIP; count++)
            for (int again = 0; again < 200; again++)
                check(kernel_at(i), &r, count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bounds)};
    int failed;

    mpz_inits(z[0], z[1], z[2], sum, NULL);
    for (int q = 0; q < ARRAYS; q++)
        guard_open(&memory[q], ROWS * 4);
    failed = cmocka_run_group_tests(tests, kernels_announce, NULL);
    for (int q = 0; q < ARRAYS; q++)
        guard_close(&memory[q]);
    mpz_clears(z[0], z[1], z[2], sum, NULL);
    return failed;
}
