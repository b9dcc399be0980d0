/*
 * test_arm.c - the models of Arm instructions against examples by hand, and against the instructions themselves
 * where the machine has them: random and extreme operands, sums that wrap.
 * with: ozg_models
 *
 * SPDX-License-Identifier: MIT
 */
#include "../kernels/kernels.h"
#include "fill.h"
#include "models/arm.h"

static void test_by_hand(void **state)
{
    const int8_t x[16] = {1, 2, 3, 4, 0, 0, 0, -128, -128, -128, -128, -128, 127, 0, 0, 0},
                 y[16] = {5, -6, 7, 8, 0, 0, 0, -128, 127, 127, 127, 127, 1, 1, 1, 1};
    int32_t acc[4] = {100, 0, INT32_MIN, INT32_MAX};

    (void)state;
    assert_int_equal(model_sdot(10, x, y), 10 + 5 - 12 + 21 + 32);
    assert_int_equal(model_sdot(0, x + 8, y + 8), -128 * 127 * 4);     /* no saturation */
    assert_int_equal(model_sdot(INT32_MAX, x, y), INT32_MIN + 45);     /* wraps: 46 more */
    assert_int_equal(model_sdot(INT32_MIN, x + 12, x + 4), INT32_MIN); /* 127 * 0 */
    model_smmla(acc, x, y);
    assert_int_equal(acc[0], 100 + 46 + 128 * 128);            /* first half of x, first half of y */
    assert_int_equal(acc[1], 10 * 127 - 128);                  /* first, second */
    assert_int_equal(acc[2], INT32_MAX - 128 * 14 + 1);        /* second, first: wraps */
    assert_int_equal(acc[3], INT32_MAX - 4 * 128 * 127 + 127); /* second, second */
}

#if defined(OZG_ARM_KERNELS) && OZG_ARM_KERNELS
#include <arm_neon.h>

enum { ROUNDS = 20000 };

__attribute__((target("arch=armv8.2-a+dotprod"))) static void sdot(int32_t *acc, const int8_t *x,
                                                                   const int8_t *y)
{
    vst1q_s32(acc, vdotq_s32(vld1q_s32(acc), vld1q_s8(x), vld1q_s8(y)));
}

__attribute__((target("arch=armv8.2-a+dotprod"))) static void sdot_by_element(int32_t *acc, const int8_t *x,
                                                                              const int8_t *y)
{
    vst1q_s32(acc, vdotq_laneq_s32(vld1q_s32(acc), vld1q_s8(x), vld1q_s8(y), 2));
}

__attribute__((target("arch=armv8.2-a+i8mm"))) static void smmla(int32_t *acc, const int8_t *x,
                                                                 const int8_t *y)
{
    vst1q_s32(acc, vmmlaq_s32(vld1q_s32(acc), vld1q_s8(x), vld1q_s8(y)));
}

static void model_sdot_four(int32_t *acc, const int8_t *x, const int8_t *y)
{
    for (int i = 0; i < 4; i++)
        acc[i] = model_sdot(acc[i], x + 4 * i, y + 4 * i);
}

static void model_sdot_by_element(int32_t *acc, const int8_t *x, const int8_t *y)
{
    for (int i = 0; i < 4; i++)
        acc[i] = model_sdot(acc[i], x + 4 * i, y + 8);
}

static void check(const char *name, unsigned isa,
                  void (*instruction)(int32_t *, const int8_t *, const int8_t *),
                  void (*model)(int32_t *, const int8_t *, const int8_t *))
{
    struct rng r = {1};

    if ((ozg_cpu_isa() & isa) != isa) {
        print_message("SKIPPED: this machine has no %s to compare with\n", name);
        return;
    }
    for (int round = 0; round < ROUNDS; round++) {
        int32_t acc[4], actual[4];
        int8_t x[16], y[16];

        fill(&r, acc, sizeof acc);
        fill(&r, x, sizeof x);
        fill(&r, y, sizeof y);
        memcpy(actual, acc, sizeof acc);
        instruction(actual, x, y);
        model(acc, x, y);
        assert_memory_equal(actual, acc, sizeof acc);
    }
    print_message("%s compared\n", name);
}

static void test_instructions(void **state)
{
    (void)state;
    check("SDOT", OZG_ISA_NEONDOT, sdot, model_sdot_four);
    check("SDOT by element", OZG_ISA_NEONDOT, sdot_by_element, model_sdot_by_element);
    check("SMMLA", OZG_ISA_NEONI8MM, smmla, model_smmla);
}
#define WITH_INSTRUCTIONS , cmocka_unit_test(test_instructions)
#else
#define WITH_INSTRUCTIONS
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_by_hand) WITH_INSTRUCTIONS};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
