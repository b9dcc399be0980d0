/*
 * test_ieee.c - taking binary32 and binary64 apart and rounding to them, against the hardware, frexp() and
 * MPFR, under every rounding mode and with subnormals flushed.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "arith/ieee.h"
#include "dyadic.h"
#include "environment.h"
#include "unit.h"

/* ---- float to double ---------------------------------------------------------------------------- */

static void check_f32(uint32_t bits, uint64_t converted)
{
    float x = float_of_bits(bits);
    int same = isnan(x) ? ozg_is_nan(converted) && converted >> 63 == bits >> 31
                        : converted == bits_of_double((double)x);

    if (!same)
        fail_msg("float %08x became %016llx", (unsigned)bits, (unsigned long long)converted);
}

/* All signs and exponents, fractions with every single bit, runs of ones, and random ones. */
static void test_f64_of_f32(void **state)
{
    enum { FRACTIONS = 256 };
    struct rng r = {1};

    (void)state;
    for (uint32_t top = 0; top < 512; top++)
        for (int environment = 0; environment < ENVIRONMENTS; environment++) {
            uint32_t bits[FRACTIONS];
            uint64_t converted[FRACTIONS];

            for (int i = 0; i < FRACTIONS; i++)
                bits[i] = top << 23 | (i < 23   ? UINT32_C(1) << i
                                       : i < 47 ? (UINT32_C(1) << (i - 23)) - 1
                                       : i < 70 ? 0x7fffff & ~((UINT32_C(1) << (i - 47)) - 1)
                                                : (uint32_t)rng_below(&r, 1 << 23));
            environment_set(environment);
            for (int i = 0; i < FRACTIONS; i++)
                converted[i] = ozg_f64_of_f32(bits[i]);
            environment_set(0);
            for (int i = 0; i < FRACTIONS; i++)
                check_f32(bits[i], converted[i]);
        }
}

/* ---- mantissa and exponent of a double ---------------------------------------------------------- */

static void check_f64(uint64_t bits)
{
    double x = double_of_bits(bits);
    ozg_fp fp;
    int e;

    assert_int_equal(ozg_is_nan(bits), isnan(x) != 0);
    assert_int_equal(ozg_is_special(bits), !isfinite(x));
    if (!isfinite(x))
        return;
    fp = ozg_fp_of_bits(bits);
    assert_true(fp.mant < UINT64_C(1) << 53);
    assert_int_equal(fp.neg, signbit(x) != 0);
    assert_true(ldexp((double)fp.mant, fp.exp) == fabs(x));
    if (x == 0)
        return;
    frexp(x, &e);
    assert_int_equal(ozg_exponent(bits), e);
}

static void test_parts_of_f64(void **state)
{
    struct rng r = {2};

    (void)state;
    for (uint64_t top = 0; top < 4096; top++) {
        for (int i = 0; i <= 52; i++) {
            check_f64(top << 52 | ((UINT64_C(1) << i) - 1));
            check_f64(top << 52 | (i < 52 ? UINT64_C(1) << i : 0));
        }
        for (int i = 0; i < 32; i++)
            check_f64(top << 52 | rng_next(&r) >> 12);
    }
    assert_int_equal(ozg_exponent(1), -1073);
    assert_int_equal(ozg_exponent(bits_of_double(HUGE_VAL) - 1), 1024);
}

static void test_bit_length(void **state)
{
    (void)state;
    assert_int_equal(ozg_bit_length(0), 0);
    for (int i = 0; i < 64; i++) {
        assert_int_equal(ozg_bit_length(UINT64_C(1) << i), i + 1);
        assert_int_equal(ozg_bit_length(UINT64_MAX >> i), 64 - i);
    }
}

/* ---- rounding ----------------------------------------------------------------------------------- */

struct rounding {
    int single, neg, sticky;
    uint64_t top, expected, actual;
    int64_t e;
};

/* The expected bits of (-1)^neg (top + a quarter if sticky) 2^(e - 63), by MPFR. */
static uint64_t round_by_mpfr(const struct rounding *c)
{
    struct ext x;
    double result;
    mpz_t z;

    ext_init(&x);
    mpz_init(z);
    mpz_set_u64(z, c->top);
    mpz_mul_2exp(z, z, 2);
    mpz_add_ui(z, z, (unsigned long)c->sticky);
    if (c->neg)
        mpz_neg(z, z);
    ext_set_mpz(&x, z, (long)c->e - 65);
    result = ext_round(&x, c->single);
    ext_clear(&x);
    mpz_clear(z);
    return c->single ? bits_of_float((float)result) : bits_of_double(result);
}

/* A leading word that is a tie, next to one, all ones (a carry through everything) or random, for any
 * precision. */
static uint64_t hard_top(struct rng *r)
{
    const int keep = (int)rng_below(r, 64); /* bits above the cut, without the leading one */
    const uint64_t below = UINT64_MAX >> 1 >> keep, half = below / 2 + 1;
    uint64_t top = (rng_below(r, 3) ? rng_next(r) : UINT64_MAX) | UINT64_C(1) << 63;

    switch (rng_below(r, 6)) {
    case 0:
        return (top & ~below) | (below ? half : 0);
    case 1:
        return (top & ~below) | (below ? half - 1 : 0);
    case 2:
        return (top & ~below) | (below ? half + (half < below) : 0);
    case 3:
        return top & ~below;
    case 4:
        return UINT64_MAX << keep | UINT64_C(1) << 63;
    default:
        return top;
    }
}

static void run_roundings(struct rounding *c, int count)
{
    for (int environment = 0; environment < ENVIRONMENTS; environment++) {
        environment_set(environment);
        for (int i = 0; i < count; i++)
            c[i].actual = ozg_round_bits(c[i].single, c[i].neg, c[i].top, c[i].sticky, c[i].e);
        environment_set(0);
        for (int i = 0; i < count; i++)
            if (c[i].actual != c[i].expected)
                fail_msg("%s, single %d: top %016llx sticky %d e %lld: %llx, expected %llx",
                         environment_name[environment], c[i].single, (unsigned long long)c[i].top,
                         c[i].sticky, (long long)c[i].e, (unsigned long long)c[i].actual,
                         (unsigned long long)c[i].expected);
    }
}

/* Every exponent from below the smallest subnormal to above the overflow. */
static void test_rounding(void **state)
{
    enum { COUNT = 24 };
    struct rng r = {3};

    (void)state;
    for (int single = 0; single < 2; single++)
        for (int64_t e = single ? -160 : -1085; e <= (single ? 130 : 1027); e++) {
            struct rounding c[COUNT];
            int edge = single ? e < -120 || e > 120 : e < -1015 || e > 1020;
            int count = edge || single ? COUNT : COUNT / 4;

            for (int i = 0; i < count; i++) {
                c[i].single = single;
                c[i].neg = (int)rng_below(&r, 2);
                c[i].sticky = (int)rng_below(&r, 2);
                c[i].top = hard_top(&r);
                c[i].e = e;
                c[i].expected = round_by_mpfr(&c[i]);
            }
            run_roundings(c, count);
        }
}

/* Known by hand: half the smallest subnormal, the largest subnormal, the largest number, and far beyond both
 * ends. */
static void test_rounding_edges(void **state)
{
    const uint64_t one = UINT64_C(1) << 63, inf = OZG_F64_INF, finf = 0x7f800000;
    struct rounding c[] = {
        {0, 0, 0, one, 0, 0, -1075},
        {0, 0, 1, one, 1, 0, -1075},
        {0, 1, 0, one + 1, OZG_F64_SIGN | 1, 0, -1075},
        {0, 0, 1, UINT64_MAX, 0, 0, -1076},
        {0, 1, 1, UINT64_MAX, OZG_F64_SIGN, 0, INT64_MIN / 2},
        {0, 0, 0, one, 1, 0, -1074},
        {0, 0, 0, one | one >> 1, 2, 0, -1074},
        {0, 0, 0, UINT64_MAX, UINT64_C(1) << 52, 0, -1023},
        {0, 0, 0, UINT64_MAX << 11, inf - 1, 0, 1023},
        {0, 0, 1, (UINT64_MAX << 10) - 1, inf - 1, 0, 1023},
        {0, 1, 0, UINT64_MAX << 10, OZG_F64_SIGN | inf, 0, 1023},
        {0, 0, 0, one, inf, 0, 1024},
        {0, 0, 0, one, inf, 0, INT64_MAX / 2},
        {1, 0, 0, one, 0, 0, -150},
        {1, 0, 1, one, 1, 0, -150},
        {1, 1, 1, UINT64_MAX, UINT64_C(1) << 31, 0, -151},
        {1, 0, 0, UINT64_MAX, UINT64_C(1) << 23, 0, -127},
        {1, 0, 0, UINT64_MAX << 40, finf - 1, 0, 127},
        {1, 0, 1, (UINT64_MAX << 39) - 1, finf - 1, 0, 127},
        {1, 0, 0, UINT64_MAX << 39, finf, 0, 127},
        {1, 1, 0, one, UINT64_C(1) << 31 | finf, 0, 128},
    };

    (void)state;
    run_roundings(c, (int)(sizeof c / sizeof *c));
}

/* ---- memory ------------------------------------------------------------------------------------- */

static void test_load_and_store_anywhere(void **state)
{
    unsigned char memory[64];

    (void)state;
    for (int offset = 0; offset < 8; offset++) {
        memset(memory, 0xa5, sizeof memory);
        ozg_store_bits(memory + offset, 0, 2, UINT64_C(0x0123456789abcdef));
        ozg_store_bits(memory + offset, 1, 1, UINT64_C(0xffffffff3f800000)); /* only the low half counts */
        assert_true(ozg_load_bits(memory + offset, 0, 2) == UINT64_C(0x0123456789abcdef));
        assert_true(ozg_load_bits(memory + offset, 1, 1) == bits_of_double(1));
        for (int i = 0; i < 64; i++)
            if (i - offset < 4 || (i - offset >= 8 && i - offset < 16) || i - offset >= 24)
                assert_int_equal(memory[i], 0xa5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_f64_of_f32),     cmocka_unit_test(test_parts_of_f64),
        cmocka_unit_test(test_bit_length),     cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_rounding_edges), cmocka_unit_test(test_load_and_store_anywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
