/*
 * test_scale.c - the scale stage of every kernel against ref: all types, strides and sizes, up to a guard
 * page.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels.h"
#include "problem.h"

enum { LINES = OZG_SCALE_LINES, LONGEST = 100 };

static const uint64_t canary = UINT64_C(0xa5a5a5a5a5a5a5a5);
static struct guard memory;

/* Any number; Inf and NaN only where special. */
static double any_number(struct rng *r, int single, int special)
{
    double x;

    switch (rng_below(r, special ? 20 : 16)) {
    case 0:
        return 0;
    case 1:
        return -0.0;
    case 2:
        return single ? 0x1p-149 : 0x1p-1074;
    case 16:
        return INFINITY;
    case 17:
        return -INFINITY;
    case 18:
        return NAN;
    default:
        x = single ? (double)float_of_bits((uint32_t)rng_next(r)) : double_of_bits(rng_next(r));
        return isfinite(x) ? x : 1;
    }
}

/* count numbers that end where the page behind begins. */
static void *fill(struct rng *r, int single, int64_t count, int special)
{
    char *x = guard_tail(&memory, (size_t)count * (single ? 4 : 8));

    for (int64_t i = 0; i < count; i++) {
        double value = any_number(r, single, special);
        float f = (float)value;

        memcpy(x + i * (single ? 4 : 8), single ? (void *)&f : (void *)&value, single ? 4 : 8);
    }
    return x;
}

/* The largest |component| of a line, by floating-point arithmetic; any NaN wins. */
static double largest_by_hand(const ozg_view *v, int64_t k, int64_t line)
{
    const int parts = 1 + ozg_type_complex(v->type);
    double largest = 0;

    for (int64_t p = 0; p < k; p++)
        for (int part = 0; part < parts; part++) {
            const int64_t at = parts * (line * v->line_stride + p * v->step) + part;
            const double x =
                ozg_type_single(v->type) ? (double)((const float *)v->x)[at] : ((const double *)v->x)[at];

            if (isnan(x) || fabs(x) > largest)
                largest = isnan(x) || isnan(largest) ? NAN : fabs(x);
        }
    return largest;
}

static void check_view(const ozg_kernel *kernel, const ozg_view *v, int64_t k, int64_t i0, int64_t i1)
{
    uint64_t largest[LINES + 1], ref[LINES];

    for (int i = 0; i <= LINES; i++)
        largest[i] = canary;
    kernel->scale(v, k, i0, i1, largest);
    kernel_ref()->scale(v, k, i0, i1, ref);
    for (int64_t i = 0; i < i1 - i0; i++) {
        double by_hand = largest_by_hand(v, k, i0 + i);

        if (isnan(by_hand) ? !ozg_is_nan(largest[i])
                           : largest[i] != bits_of_double(by_hand) || largest[i] != ref[i])
            fail_msg("%s, type %c, strides %d %d, k %d: line %d is %llx, expected %a", kernel->name, v->type,
                     (int)v->line_stride, (int)v->step, (int)k, (int)(i0 + i), (unsigned long long)largest[i],
                     by_hand);
    }
    for (int64_t i = i1 - i0; i <= LINES; i++)
        assert_true(largest[i] == canary);
}

/* Form 0: the lines lie side by side; form 1: the elements of a line do. */
static void check_shape(const ozg_kernel *kernel, struct rng *r, char type, int form, int64_t lines,
                        int64_t k)
{
    const int single = ozg_type_single(type), parts = 1 + ozg_type_complex(type),
              special = (int)rng_below(r, 2);
    const int64_t i0 = rng_below(r, 2) ? rng_between(r, 0, lines - 1) : 0;
    ozg_view v = {NULL, 1, 1, type, (int)rng_below(r, 2), NULL};

    if (form)
        v.line_stride = k + rng_between(r, 0, 3);
    else
        v.step = lines + rng_between(r, 0, 3);
    v.x = fill(r, single, parts * ((lines - 1) * v.line_stride + (k - 1) * v.step + 1), special);
    check_view(kernel, &v, k, i0, lines);
    if (lines > 1)
        check_view(kernel, &v, k, 0, lines - 1);
}

static void test_scale(void **state)
{
    static const char types[] = {'s', 'd', 'c', 'z'};
    struct rng r = {1};

    (void)state;
    for (int i = 0; kernel_at(i); i++)
        for (int type = 0; type < 4; type++)
            for (int form = 0; form < 2; form++) {
                for (int64_t lines = 1; lines <= LINES; lines++)
                    check_shape(kernel_at(i), &r, types[type], form, lines, rng_between(&r, 1, 9));
                for (int64_t k = 1; k <= LONGEST; k++)
                    check_shape(kernel_at(i), &r, types[type], form, rng_between(&r, 1, 9), k);
                check_shape(kernel_at(i), &r, types[type], form, 3, 1000);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_scale)};
    int failed;

    guard_open(&memory, 1 << 18);
    failed = cmocka_run_group_tests(tests, kernels_announce, NULL);
    guard_close(&memory);
    return failed;
}
