/*
 * test_product.c - the product stage of every kernel against a triple loop over the layout: all numbers of
 * steps, extreme residues, sums at the 32-bit limit, and no read behind the panels.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels.h"

enum { K_LIMIT = 131072, ALIGN = 64, SUMS = OZG_MR_MAX * OZG_NR_MAX };

static struct guard memory_a, memory_b;
static int16_t *a, *b; /* residues as numbers: element p of line i at a[i + p lines] */

enum pattern { ANY, LOWEST, HIGHEST, LOWEST_HIGHEST, ALTERNATING, SIGNS, ONE_ELEMENT, PATTERNS };

static int pattern_value(struct rng *r, const ozg_layout *layout, enum pattern pattern, int is_a, int line,
                         int64_t p)
{
    const int low = layout->nonneg ? 0 : -128, high = layout->nonneg ? 255 : 127;

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
        return low + (int)(rng_next(r) & 255);
    }
}

/* Fills x with numbers and a panel that ends at the guard page (rounded up to the alignment, with dirt) by
 * ozg_layout. */
static const void *pack(struct rng *r, const struct guard *memory, const ozg_layout *layout,
                        enum pattern pattern, int is_a, int64_t k, int16_t *x)
{
    const size_t bytes = (size_t)k * (size_t)(layout->lines * layout->word);
    const size_t whole = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    unsigned char *panel = guard_tail(memory, whole);

    memset(panel, 0x7f, whole);
    for (int64_t p = 0; p < k; p++) {
        const int64_t first = p / layout->kr * layout->lines * layout->kr + p % layout->kr;

        for (int i = 0; i < layout->lines; i++) {
            const int64_t number = first + i * layout->kr;
            const int16_t value = (int16_t)pattern_value(r, layout, pattern, is_a, i, p);

            x[i + p * layout->lines] = value;
            if (layout->word == 1)
                panel[number] = (unsigned char)value;
            else
                memcpy(panel + 2 * number, &value, 2);
        }
    }
    return panel;
}

/* old plus the sum modulo 2^32, which is exact where it fits. */
static int32_t sum_by_hand(const ozg_kernel *kernel, int32_t old, int i, int j, int64_t k)
{
    uint32_t sum = (uint32_t)old;

    for (int64_t p = 0; p < k; p++)
        sum += (uint32_t)(a[i + p * kernel->a.lines] * b[j + p * kernel->b.lines]);
    return (int32_t)sum;
}

/* Runs the kernel once and compares every stride-th sum. add: to sums that are there. */
static void check(const ozg_kernel *kernel, struct rng *r, enum pattern pattern, int64_t steps, int add,
                  int stride)
{
    const int mr = kernel->a.lines, nr = kernel->b.lines;
    const int64_t k = steps * kernel->a.step;
    const void *panel_a = pack(r, &memory_a, &kernel->a, pattern, 1, k, a);
    const void *panel_b = pack(r, &memory_b, &kernel->b, pattern, 0, k, b);
    static _Alignas(64) int32_t acc[SUMS + 16], old[SUMS + 16];

    for (int i = 0; i < SUMS + 16; i++)
        acc[i] = old[i] = pattern == ANY ? (int32_t)(rng_next(r) >> 32) : i;
    if (kernel->state)
        kernel->state(1);
    kernel->product(rns_of(1, 16), 0, steps, panel_a, panel_b, add, acc);
    if (kernel->state)
        kernel->state(0);
    for (int at = 0; at < mr * nr; at += stride) {
        const int32_t expected = sum_by_hand(kernel, add ? old[at] : 0, at % mr, at / mr, k);

        if (acc[at] != expected)
            fail_msg("%s: pattern %d, k %lld, add %d, entry (%d, %d): %d, expected %d", kernel->name,
                     (int)pattern, (long long)k, add, at % mr, at / mr, (int)acc[at], (int)expected);
    }
    for (int i = mr * nr; i < SUMS + 16; i++)
        assert_int_equal(acc[i], old[i]);
}

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
        assert_in_range(kernel->b.word, 1, 2);
        assert_non_null(kernel->name);
    }
    assert_string_equal(kernel_ref()->name, "ref");
}

static void test_all_numbers_of_steps(void **state)
{
    struct rng r = {1};

    (void)state;
    for (int i = 0; kernel_at(i); i++)
        for (int pattern = 0; pattern < PATTERNS; pattern++)
            for (int64_t steps = 1; steps <= 40; steps++)
                check(kernel_at(i), &r, (enum pattern)pattern, steps, (int)steps % 2, 1);
}

/* k = 131072: only products of residues mod 256 reach 2^31 and wrap; one step less, but added to old sums. */
static void test_sums_at_the_limit(void **state)
{
    struct rng r = {2};

    (void)state;
    for (int i = 0; kernel_at(i); i++)
        for (int pattern = LOWEST; pattern <= SIGNS; pattern++)
            for (int less = 0; less < 2; less++)
                check(kernel_at(i), &r, (enum pattern)pattern, K_LIMIT / kernel_at(i)->a.step - less, less,
                      31);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_descriptions),
        cmocka_unit_test(test_all_numbers_of_steps),
        cmocka_unit_test(test_sums_at_the_limit),
    };
    int failed;

    a = malloc(sizeof *a * OZG_MR_MAX * K_LIMIT);
    b = malloc(sizeof *b * OZG_NR_MAX * K_LIMIT);
    if (!a || !b)
        return 99;
    guard_open(&memory_a, 2 * OZG_MR_MAX * K_LIMIT);
    guard_open(&memory_b, 2 * OZG_NR_MAX * K_LIMIT);
    failed = cmocka_run_group_tests(tests, kernels_announce, NULL);
    guard_close(&memory_a);
    guard_close(&memory_b);
    free(a);
    free(b);
    return failed;
}
