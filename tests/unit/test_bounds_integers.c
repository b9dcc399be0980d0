/*
 * test_bounds_integers.c - the integer arithmetic of the bounds against GMP: what rounds up does, nothing
 * overflows, comparisons are exact. The claims are those of doc/bounds.md, sections 5 to 7 and 13.
 *
 * SPDX-License-Identifier: MIT
 */
#include "arith/bound.h"
#include "backend.h"
#include "unit.h"

static mpz_t z, z2;
static mpq_t left, right;

/* Random bits, now and then 0, a power of two, one less, or all ones. */
static uint64_t random_bits(struct rng *r, int most)
{
    const int bits = (int)rng_between(r, 1, most);
    const uint64_t top = UINT64_C(1) << (bits - 1);

    switch (rng_below(r, 8)) {
    case 0:
        return 0;
    case 1:
        return top;
    case 2:
        return top - 1;
    case 3:
        return top | (top - 1);
    default:
        return top | (rng_next(r) & (top - 1));
    }
}

/* x *= 2^n */
static void mpq_shift(mpq_t x, long n)
{
    if (n >= 0)
        mpq_mul_2exp(x, x, (mp_bitcnt_t)n);
    else
        mpq_div_2exp(x, x, (mp_bitcnt_t)-n);
}

static void mpq_set_u64(mpq_t x, uint64_t n)
{
    mpq_set_ui(x, 0, 1);
    mpz_set_u64(mpq_numref(x), n);
}

/* The lengths k' for which the proofs hold, at their limits. */
static const uint64_t lengths[] = {1,
                                   2,
                                   3,
                                   4095,
                                   65535,
                                   65536,
                                   131071,
                                   131072,
                                   1000000,
                                   UINT64_C(0x7fffffff),
                                   UINT64_C(0xffffffff),
                                   UINT64_C(0x100000000),
                                   (UINT64_C(1) << 33) - 2,
                                   UINT64_C(1) << 33,
                                   (UINT64_C(1) << 34) - 4};
#define LENGTHS (sizeof lengths / sizeof *lengths)

static void test_ceil_shift(void **state)
{
    struct rng r = {1};

    (void)state;
    for (int i = 0; i < 100000; i++) {
        const uint64_t x = random_bits(&r, 64);
        const int shift = (int)rng_between(&r, -(64 - ozg_bit_length(x | 1)), i % 2 ? 70 : 3000);

        mpz_set_u64(z, x);
        if (shift >= 0)
            mpz_cdiv_q_2exp(z, z, (mp_bitcnt_t)shift);
        else
            mpz_mul_2exp(z, z, (mp_bitcnt_t)-shift);
        if (mpz_low64(z) != ozg_ceil_shift(x, shift))
            fail_msg("ceil(%llu 2^%d)", (unsigned long long)x, -shift);
    }
}

static void check_sqrt(uint64_t x)
{
    mpz_set_u64(z, x);
    mpz_sqrtrem(z, z2, z);
    if (mpz_sgn(z2))
        mpz_add_ui(z, z, 1);
    if (mpz_low64(z) != ozg_ceil_sqrt(x))
        fail_msg("sqrt %llu", (unsigned long long)x);
}

static void test_ceil_sqrt(void **state)
{
    struct rng r = {2};

    (void)state;
    for (uint64_t x = 0; x < 1000; x++)
        check_sqrt(x);
    check_sqrt(UINT64_MAX);
    for (int i = 0; i < 30000; i++) {
        const uint64_t root = random_bits(&r, 32);

        check_sqrt(random_bits(&r, 64));
        check_sqrt(root * root);
        check_sqrt(root * root + 1);
        check_sqrt(root * root - 1);
    }
}

/* k' < 2^(16 + c) with the smallest c; nu is the largest up to 15 with k' 4^nu < 2^63, or one less. */
static void test_units(void **state)
{
    struct rng r = {3};

    (void)state;
    for (int i = 0; i < 20000; i++) {
        const uint64_t length =
            i < (int)LENGTHS ? lengths[i] : 1 + rng_next(&r) % (UINT64_C(1) << rng_between(&r, 1, 34));
        const int c = ozg_bound_unit(length), nu = ozg_norm_bits(length);

        assert_true(length >> (16 + c) == 0 && (c == 0 || length >> (15 + c)));
        mpz_set_u64(z, length);
        mpz_mul_2exp(z, z, (mp_bitcnt_t)(2 * nu));
        assert_in_range(mpz_sizeinbase(z, 2), 1, 63);
        assert_true(nu <= 15 && (nu == 15 || mpz_sizeinbase(z, 2) > 61));
    }
}

/* f = ceil(x 2^-down), and f fits */
static void check_linear(uint32_t f, uint64_t x, int down)
{
    mpz_set_u64(z, x);
    if (down < 0)
        mpz_mul_2exp(z, z, (mp_bitcnt_t)-down);
    else
        mpz_cdiv_q_2exp(z, z, (mp_bitcnt_t)down);
    assert_true(mpz_cmp_ui(z, f) == 0);
}

/* f 2^down >= sqrt x, and not by more than two units of either rounding */
static void check_root(uint32_t f, uint64_t x, int down)
{
    for (int less = 0; less <= 2; less += 2) {
        mpq_set_u64(left, f >= (uint32_t)less ? f - (uint32_t)less : 0);
        mpq_shift(left, down);
        mpq_mul(left, left, left);
        mpq_set_u64(right, x);
        if (less == 0)
            assert_true(mpq_cmp(left, right) >= 0);
        else if (x > 4)
            assert_true(mpq_cmp(left, right) < 0);
    }
}

/* Norms of lines of k' numbers y <= most, in units of 2^-bits, as factors: upper bounds that fit 32 bits. */
static void check_factors(struct rng *r, uint64_t length, int bits)
{
    const int c = ozg_bound_unit(length), down = bits - 16 + c;
    const uint64_t most = UINT64_C(1) << (bits == 16 ? 15 : bits);
    uint64_t y = rng_below(r, 3) ? most : 1 + rng_below(r, most), count = rng_below(r, 2) ? length : 1;
    ozg_norms n;
    uint32_t f1, f2, largest;

    if (rng_below(r, 4) == 0)
        count = 1 + rng_below(r, length);
    n.sum = count * y;
    n.squares = count * (y * y);
    n.most = (uint32_t)y;
    mpz_set_u64(z, count);
    mpz_set_u64(z2, y * y);
    mpz_mul(z, z, z2);
    assert_true(mpz_sizeinbase(z, 2) <= 64); /* nothing has wrapped */
    ozg_norms_factors(&n, bits, c, &f1, &f2, &largest);
    check_linear(f1, n.sum, down);
    check_linear(largest, n.most, down);
    check_root(f2, n.squares, down);
    if (bits == 16) {
        assert_true(f1 <= UINT32_C(1) << 31 && f2 <= 1 << 23 && largest <= 1 << 15);
    } else {
        assert_true(f2 < (1 << 24) + 2 && largest <= 1 << 16);
    }
}

static void test_factors(void **state)
{
    struct rng r = {4};

    (void)state;
    for (int i = 0; i < 20000; i++) {
        const uint64_t length = i % 2 ? lengths[rng_below(&r, LENGTHS)]
                                      : 1 + rng_next(&r) % (UINT64_C(1) << rng_between(&r, 1, 32));

        check_factors(&r, length, ozg_norm_bits(length));
        check_factors(&r, length, 16);
    }
}

/* Six factors within the ranges of a length, often at their limits. */
static ozg_factors random_factors(struct rng *r, int c)
{
    const int exact = rng_below(r, 6) == 0, limit = rng_below(r, 3) == 0;
    ozg_factors f;

    f.x1 = limit ? UINT32_MAX : (uint32_t)random_bits(r, 32);
    f.x2 = limit ? (1 << 24) + 1 : (uint32_t)random_bits(r, 24);
    f.xmax = limit ? UINT32_C(65536) >> (c < 16 ? c : 16) : (uint32_t)random_bits(r, 16);
    f.r1 = exact ? 0 : limit ? UINT32_C(1) << 31 : (uint32_t)random_bits(r, 31);
    f.r2 = exact ? 0 : limit ? 1 << 23 : (uint32_t)random_bits(r, 23);
    f.rmax = exact ? 0 : limit ? 1 << 15 : (uint32_t)random_bits(r, 15);
    f.w = (int32_t)rng_between(r, 13, rng_below(r, 2) ? 172 : 70);
    return f;
}

/* sum += 2^shift min(x1 y3, x2 y2, x3 y1) */
static void add_least(mpq_t sum, uint32_t x1, uint32_t x2, uint32_t x3, uint32_t y1, uint32_t y2, uint32_t y3,
                      int shift)
{
    mpz_set_ui(z, x1);
    mpz_mul_ui(z, z, y3);
    mpz_set_ui(z2, x2);
    mpz_mul_ui(z2, z2, y2);
    if (mpz_cmp(z2, z) < 0)
        mpz_set(z, z2);
    mpz_set_ui(z2, x3);
    mpz_mul_ui(z2, z2, y1);
    if (mpz_cmp(z2, z) < 0)
        mpz_set(z, z2);
    mpq_set_z(right, z);
    mpq_shift(right, shift);
    mpq_add(sum, sum, right);
}

/* ozg_bound() against (4.2) in rationals: no less than (1 + 2^-24) times it, and no more than 5 above. */
static void test_bound(void **state)
{
    struct rng r = {5};

    (void)state;
    for (int i = 0; i < 100000; i++) {
        const int c = (int)rng_below(&r, 19);
        const ozg_factors a = random_factors(&r, c), b = random_factors(&r, c);
        const int w = a.w > b.w ? a.w : b.w;
        const uint64_t bound = ozg_bound(&a, &b);

        mpq_set_ui(left, 0, 1);
        add_least(left, a.rmax, a.r2, a.r1, b.xmax, b.x2, b.x1, b.w - w);
        add_least(left, b.rmax, b.r2, b.r1, a.xmax, a.x2, a.x1, a.w - w);
        add_least(left, a.rmax, a.r2, a.r1, b.rmax, b.r2, b.r1, -w);
        mpq_set(right, left);
        mpq_shift(right, -24);
        mpq_add(left, left, right);
        mpq_set_u64(right, bound);
        assert_true(mpq_cmp(right, left) >= 0);
        assert_true((bound == 0) == (mpq_sgn(left) == 0));
        assert_true(bound >> 50 == 0);
        mpq_set_ui(right, 5, 1);
        mpq_add(left, left, right);
        mpq_set_u64(right, bound);
        assert_true(mpq_cmp(right, left) <= 0);
    }
}

/* Lines without a number that takes part: the bound is 0, and no shift is undefined (sanitizers look). */
static void test_bound_of_lines_that_take_no_part(void **state)
{
    struct rng r = {6};
    int32_t d[2] = {OZG_D_NONE, 5}, e[2] = {OZG_E_NONE, 50};
    uint32_t x[2] = {0, 1000}, residual[2] = {0, 7};
    ozg_lines l;

    (void)state;
    memset(&l, 0, sizeof l);
    l.d = d;
    l.e = e;
    l.x1 = l.x2 = l.xmax = x;
    l.r1 = l.r2 = l.rmax = residual;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            const ozg_factors a = ozg_factors_of(&l, i), b = ozg_factors_of(&l, j);

            assert_true((ozg_bound(&a, &b) == 0) == (i + j < 2));
            assert_true(ozg_bound_passes(0, 8, 0, (int)rng_below(&r, 2), 0, 3, a.w < b.w ? a.w : b.w));
        }
}

/* bound 2^shift <= product? */
static void check_fits(uint64_t bound, uint64_t product, int32_t shift)
{
    mpq_set_u64(left, bound);
    mpq_shift(left, shift);
    mpq_set_u64(right, product);
    if (bound && shift >= 63) /* never needed: may be refused */
        assert_true(!ozg_bound_fits(bound, product, shift) || mpq_cmp(left, right) <= 0);
    else if (ozg_bound_fits(bound, product, shift) != (mpq_cmp(left, right) <= 0))
        fail_msg("fits(%llu, %llu, %d)", (unsigned long long)bound, (unsigned long long)product, shift);
}

static void test_fits(void **state)
{
    struct rng r = {7};

    (void)state;
    for (int i = 0; i < 60000; i++) {
        const uint64_t product = random_bits(&r, i % 2 ? 48 : 64);
        const int32_t shift = (int32_t)rng_between(&r, -200, i % 3 ? 70 : 400);

        check_fits(random_bits(&r, 51), product, shift);
        for (int step = -1; step <= 1; step++) { /* at the limit */
            if (shift >= 0 && shift < 64 && product >> shift >> 51 == 0)
                check_fits((product >> shift) + (uint64_t)(int64_t)step, product, shift);
            if (shift < 0 && ozg_bit_length(product) - shift <= 50)
                check_fits((product << -shift) + (uint64_t)(int64_t)step, product, shift);
        }
    }
}

/* A factor F of a random k, often the largest. */
static uint32_t random_f(struct rng *r)
{
    return rng_below(r, 4) ? 1 + (uint32_t)rng_below(r, 1 << rng_between(r, 0, 17)) : UINT32_C(1) << 17;
}

/* right = 2^shift f z */
static void set_product(uint32_t f, uint64_t z47, long shift)
{
    mpq_set_u64(right, z47);
    mpz_mul_ui(mpq_numref(right), mpq_numref(right), f);
    mpq_shift(right, shift);
}

/* (7.1): E 2^(c - 32 + p + 2 b - least) <= F L */
static void test_passes(void **state)
{
    struct rng r = {8};

    (void)state;
    for (int i = 0; i < 60000; i++) {
        const int single = (int)rng_below(&r, 2), complex_ = (int)rng_below(&r, 2),
                  c = (int)rng_below(&r, 19);
        const int b = complex_ ? 6 : 7, p = single ? 24 : 53;
        const uint32_t f = random_f(&r), l = (uint32_t)random_bits(&r, 31);
        const int32_t least = (int32_t)rng_between(&r, 13, 172), h = c - 32 + p + 2 * b - least;
        uint64_t bound = random_bits(&r, 50);

        if (i % 2 && ozg_bit_length((uint64_t)f * l) - h <= 50 && h < 0)
            bound = ((uint64_t)f * l << -h) + rng_below(&r, 3) - 1;
        assert_int_equal(OZG_FLOOR_BITS(complex_), b);
        mpq_set_u64(left, bound);
        mpq_shift(left, h);
        set_product(f, l, 0);
        assert_int_equal(ozg_bound_passes(bound, f, l, single, complex_, c, least),
                         mpq_cmp(left, right) <= 0);
    }
}

/* (7.3): implies E (1 + F 2^-p) 2^(most + 2 c - 32) <= F 2^-p z 2^q, and not much is lost. */
static void test_passes_value(void **state)
{
    struct rng r = {9};
    int passed = 0;

    (void)state;
    for (int i = 0; i < 60000; i++) {
        const int single = (int)rng_below(&r, 2), c = (int)rng_below(&r, 19), p = single ? 24 : 53;
        const uint32_t f = random_f(&r);
        const uint64_t z47 = random_bits(&r, 47), bound = random_bits(&r, 50);
        const int32_t most = (int32_t)rng_between(&r, 13, 172);
        const int32_t near = most + 2 * c - 32 + p + ozg_bit_length(bound) - ozg_bit_length(f * z47),
                      q = near + (int32_t)rng_between(&r, -3, i % 4 ? 3 : 200);
        const int pass = ozg_bound_passes_value(bound, f, z47, q, single, c, most);

        mpq_set_u64(left, bound);
        mpq_shift(left, most + 2 * c - 32);
        if (pass) {
            mpq_set_ui(right, f, 1);
            mpq_shift(right, -p);
            mpq_mul(right, right, left);
            mpq_add(left, left, right);
            set_product(f, z47, q - p);
            assert_true(mpq_cmp(left, right) <= 0);
        } else if (bound > 1000) { /* 1 + 2^-7 and one unit: far below 1.02 */
            set_product(f, z47, q - p);
            mpz_mul_ui(mpq_numref(left), mpq_numref(left), 102);
            mpz_mul_ui(mpq_numref(right), mpq_numref(right), 100);
            assert_true(mpq_cmp(left, right) > 0);
        }
        passed += pass;
    }
    assert_in_range(passed, 10000, 50000);
}

/* F = floor(sqrt k), cut at 2^17 */
static void check_factor_of_k(int64_t k)
{
    const uint32_t f = ozg_native_factor(k);

    mpz_set_u64(z, (uint64_t)k);
    mpz_sqrt(z, z);
    if (mpz_cmp_ui(z, 1 << 17) > 0)
        mpz_set_ui(z, 1 << 17);
    if (mpz_cmp_ui(z, f) != 0)
        fail_msg("F of %lld is %u", (long long)k, f);
}

static void test_native_factor(void **state)
{
    struct rng r = {10};

    (void)state;
    for (int64_t k = 1; k < 2000; k++)
        check_factor_of_k(k);
    for (int i = 0; i < 20000; i++) {
        const int64_t root = 1 + (int64_t)rng_below(&r, i % 2 ? 300 : 1 << 18);

        for (int step = -1; step <= 1; step++)
            if (root * root + step > 0)
                check_factor_of_k(root * root + step);
    }
    check_factor_of_k(INT64_MAX);
}

/* The value of a key, as report.c takes it. */
static void set_key_value(mpq_t x, uint64_t key)
{
    mpq_set_u64(x, key & 0xffffff);
    mpq_shift(x, (long)(key >> 24) - OZG_BOUND_KEY);
}

static void test_bound_key(void **state)
{
    struct rng r = {11};
    uint64_t last_key = 0;
    mpq_t last, here, upper;

    (void)state;
    mpq_inits(last, here, upper, NULL);
    for (int i = 0; i < 60000; i++) {
        const uint64_t bound = random_bits(&r, 50);
        const int32_t exp = (int32_t)rng_between(&r, i % 3 ? -30 : -4000, i % 3 ? 30 : 4000);
        const uint64_t key = ozg_bound_key(bound, exp);

        mpq_set_u64(here, bound);
        mpq_shift(here, exp);
        set_key_value(upper, key);
        assert_true(mpq_cmp(upper, here) >= 0);
        mpq_set_ui(left, (1 << 22) + 1, 1 << 22);
        mpq_mul(left, left, here);
        assert_true(bound == 0 ? key == 0 : mpq_cmp(upper, left) <= 0);
        if (mpq_cmp(here, last) < 0) { /* the keys order like the numbers */
            assert_true(key <= last_key);
        } else {
            assert_true(key >= last_key);
        }
        mpq_set(last, here);
        last_key = key;
    }
    assert_true(ozg_bound_key((UINT64_C(1) << 24) - 1, 0) <= ozg_bound_key(UINT64_C(1) << 24, 0));
    mpq_clears(last, here, upper, NULL);
}

static void test_floor(void **state)
{
    struct rng r = {12};

    (void)state;
    for (int i = 0; i < 60000; i++) {
        uint64_t bits = rng_next(&r);
        const int32_t b = i % 2 ? 7 : 6;
        int32_t e, s;
        ozg_fp x;

        if (rng_below(&r, 4) == 0)
            bits &= ~OZG_F64_INF; /* subnormal */
        if (ozg_is_special(bits) || bits << 1 == 0)
            continue;
        x = ozg_fp_of_bits(bits);
        e = ozg_exponent(bits) + (int32_t)rng_below(&r, i % 3 ? 10 : 2000); /* of the line */
        s = b - e;
        mpz_set_u64(z, x.mant);
        if (x.exp + s >= 0)
            mpz_mul_2exp(z, z, (mp_bitcnt_t)(x.exp + s));
        else
            mpz_fdiv_q_2exp(z, z, (mp_bitcnt_t) - (x.exp + s));
        assert_true(mpz_cmp_ui(z, 1u << b) < 0);
        assert_true(mpz_cmp_ui(z, ozg_floor(bits, s)) == 0);
    }
    assert_true(ozg_floor(0, 3000) == 0 && ozg_floor(OZG_F64_SIGN, -3000) == 0);
    assert_true(ozg_floor(OZG_F64_INF, OZG_D_NONE) == 0 && ozg_floor(OZG_F64_NAN, OZG_D_NONE) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ceil_shift), cmocka_unit_test(test_ceil_sqrt),
        cmocka_unit_test(test_units),      cmocka_unit_test(test_factors),
        cmocka_unit_test(test_bound),      cmocka_unit_test(test_bound_of_lines_that_take_no_part),
        cmocka_unit_test(test_passes),     cmocka_unit_test(test_passes_value),
        cmocka_unit_test(test_fits),       cmocka_unit_test(test_native_factor),
        cmocka_unit_test(test_bound_key),  cmocka_unit_test(test_floor),
    };
    int failed;

    mpz_inits(z, z2, NULL);
    mpq_inits(left, right, NULL);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    mpz_clears(z, z2, NULL);
    mpq_clears(left, right, NULL);
    return failed;
}
