/*
 * product.h - the product stage of every kernel of a list against a triple loop over the layout: all numbers
 * of steps, extreme residues, sums at the 32-bit limit, folds, and no read behind the panels. The list is
 * that of the library (test_product.c), or its kernels on models of instructions (models/test_product.c).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TEST_PRODUCT_H
#define TEST_PRODUCT_H

#include "kernels.h"

enum { K_LIMIT = 131072, ALIGN = 64, SUMS = OZG_MR_MAX * OZG_NR_MAX };

/* The index-th kernel of the list; NULL past the last. */
static const ozg_kernel *(*tested)(int index);

static struct guard memory_a, memory_b;
static int16_t *a, *b; /* residues as numbers: element p of line i at a[i + p lines] */

enum pattern { ANY, LOWEST, HIGHEST, LOWEST_HIGHEST, ALTERNATING, SIGNS, ONE_ELEMENT, PATTERNS };

/* Residues of modulus l. */
static int pattern_value(struct rng *r, const ozg_rns *rns, int l, const ozg_layout *layout,
                         enum pattern pattern, int is_a, int line, int64_t p)
{
    const int m = (int)rns->m[l], low = layout->nonneg ? 0 : -(m / 2), high = low + m - 1;

    switch (pattern) {
    case LOWEST:
        return low;
    case HIGHEST:
        return high;
    case LOWEST_HIGHEST:
        return is_a ? high : low;
    case ALTERNATING:
        return (p + line) % 2 ? high : low;
    case SIGNS:
        return rng_next(r) & 1 ? high : low;
    case ONE_ELEMENT:
        return p % 97 == 5 * line % 97 ? high : 0;
    default:
        return low + (int)rng_below(r, (uint64_t)m);
    }
}

/* Fills x with numbers and a panel that ends at the guard page (rounded up to the alignment, with dirt) by
 * ozg_layout. */
static const void *pack(struct rng *r, const struct guard *memory, const ozg_rns *rns, int l,
                        const ozg_layout *layout, enum pattern pattern, int is_a, int64_t k, int16_t *x)
{
    const size_t bytes = (size_t)k * (size_t)(layout->lines * layout->word);
    const size_t whole = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    unsigned char *panel = guard_tail(memory, whole);

    memset(panel, 0x7f, whole);
    for (int64_t p = 0; p < k; p++) {
        const int64_t first = p / layout->kr * layout->lines * layout->kr + p % layout->kr;

        for (int i = 0; i < layout->lines; i++) {
            const int64_t number = first + i * layout->kr;
            const int16_t value = (int16_t)pattern_value(r, rns, l, layout, pattern, is_a, i, p);

            x[i + p * layout->lines] = value;
            if (layout->word == 1)
                panel[number] = (unsigned char)value;
            else
                memcpy(panel + 2 * number, &value, 2);
        }
    }
    return panel;
}

/* old plus the sum */
static int64_t sum_by_hand(const ozg_kernel *kernel, int32_t old, int i, int j, int64_t k)
{
    int64_t sum = old;

    for (int64_t p = 0; p < k; p++)
        sum += a[i + p * kernel->a.lines] * b[j + p * kernel->b.lines];
    return sum;
}

/* The largest sum that a kernel of 16-bit words gives, and to which it may be told to add: 2^15 (|c| + 1). */
static int64_t most_folded(uint32_t m)
{
    const int64_t c = 65536 % m;

    return 32768 * ((2 * c > m ? m - c : c) + 1);
}

/* 8 bits: the sum modulo 2^32, which is exact where it fits. 16 bits: of its class, and small. */
static int is_right(const ozg_rns *rns, int l, int32_t actual, int64_t expected)
{
    const uint32_t m = rns->m[l];

    if (rns->word == 1)
        return (uint32_t)actual == (uint32_t)expected;
    return (actual - expected) % m == 0 && (m == 65536 || llabs(actual) <= most_folded(m));
}

static int32_t old_sum(struct rng *r, const ozg_rns *rns, int l, enum pattern pattern)
{
    const int64_t any = (int32_t)(rng_next(r) >> 32), most = most_folded(rns->m[l]);

    if (rns->word == 1 || rns->m[l] == 65536)
        return (int32_t)any;
    return (int32_t)(pattern == ANY ? any % (most + 1) : pattern == LOWEST_HIGHEST ? -most : most);
}

/* Runs the kernel once and compares every stride-th sum. add: to sums that are there. */
static void check(const ozg_kernel *kernel, struct rng *r, const ozg_rns *rns, int l, enum pattern pattern,
                  int64_t steps, int add, int stride)
{
    const int mr = kernel->a.lines, nr = kernel->b.lines;
    const int64_t k = steps * kernel->a.step;
    const void *panel_a = pack(r, &memory_a, rns, l, &kernel->a, pattern, 1, k, a);
    const void *panel_b = pack(r, &memory_b, rns, l, &kernel->b, pattern, 0, k, b);
    static _Alignas(64) int32_t acc[SUMS + 16], old[SUMS + 16];

    for (int i = 0; i < SUMS + 16; i++)
        acc[i] = old[i] = old_sum(r, rns, l, pattern);
    if (kernel->state)
        kernel->state(1);
    kernel->product(rns, l, steps, panel_a, panel_b, add, acc);
    if (kernel->state)
        kernel->state(0);
    for (int at = 0; at < mr * nr; at += stride) {
        const int64_t expected = sum_by_hand(kernel, add ? old[at] : 0, at % mr, at / mr, k);

        if (!is_right(rns, l, acc[at], expected))
            fail_msg("%s: mod %u, pattern %d, k %lld, add %d, entry (%d, %d): %d, expected %lld",
                     kernel->name, (unsigned)rns->m[l], (int)pattern, (long long)k, add, at % mr, at / mr,
                     (int)acc[at], (long long)expected);
    }
    for (int i = mr * nr; i < SUMS + 16; i++)
        assert_int_equal(acc[i], old[i]);
}

static void test_all_numbers_of_steps(void **state)
{
    struct rng r = {1};

    (void)state;
    for (int i = 0; tested(i); i++)
        for (int pattern = 0; pattern < PATTERNS; pattern++)
            for (int64_t steps = 1; steps <= 40; steps++)
                check(tested(i), &r, rns_of(tested(i)->a.word, 16), steps % 3 != 0, (enum pattern)pattern,
                      steps, (int)steps % 2, 1);
}

/* 8 bits, k = 131072: only products of residues mod 256 reach 2^31 and wrap; one step less, but added to old
 * sums. */
static void test_sums_at_the_limit(void **state)
{
    struct rng r = {2};

    (void)state;
    for (int i = 0; tested(i); i++)
        for (int pattern = LOWEST; pattern <= SIGNS && tested(i)->a.word == 1; pattern++)
            for (int less = 0; less < 2; less++)
                check(tested(i), &r, rns_of(1, 16), 0, (enum pattern)pattern,
                      K_LIMIT / tested(i)->a.step - less, less, 31);
}

/* 16 bits: every system, its smallest and largest modulus, extreme residues added to extreme sums, with and
 * around every possible number of folds. */
static void test_folds(void **state)
{
    struct rng r = {3};

    (void)state;
    for (int i = 0; tested(i); i++)
        for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX && tested(i)->a.word == 2; s++) {
            const ozg_rns *rns = rns_of(2, s);

            for (int pattern = 0; pattern <= SIGNS; pattern++)
                for (int l = 0; l < rns->nmod; l += l == 1 && rns->nmod > 2 ? rns->nmod - 2 : 1) {
                    const int64_t most = OZG_K_BLOCK / tested(i)->a.step,
                                  every = rns->fold_every[l] / tested(i)->a.step;

                    check(tested(i), &r, rns, l, (enum pattern)pattern, most, 1, 5);
                    check(tested(i), &r, rns, l, (enum pattern)pattern, every, 1, 5);
                    check(tested(i), &r, rns, l, (enum pattern)pattern, every == most ? 1 : every + 1, 1, 5);
                    check(tested(i), &r, rns, l, (enum pattern)pattern, rng_between(&r, 1, most), 0, 5);
                }
        }
}

#define PRODUCT_TESTS                                                                                        \
    cmocka_unit_test(test_all_numbers_of_steps), cmocka_unit_test(test_sums_at_the_limit),                   \
        cmocka_unit_test(test_folds)

/* Memory for the tests of this list. Returns 99, the exit status, if there is none. */
static int product_open(const ozg_kernel *(*list)(int))
{
    tested = list;
    a = malloc(sizeof *a * OZG_MR_MAX * K_LIMIT);
    b = malloc(sizeof *b * OZG_NR_MAX * K_LIMIT);
    if (!a || !b)
        return 99;
    guard_open(&memory_a, 2 * OZG_MR_MAX * K_LIMIT);
    guard_open(&memory_b, 2 * OZG_NR_MAX * K_LIMIT);
    return 0;
}

static void product_close(void)
{
    guard_close(&memory_a);
    guard_close(&memory_b);
    free(a);
    free(b);
}

#endif
