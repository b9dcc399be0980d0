/*
 * test_residue.c - from a number to its residues, and from 32-bit sums back to residues, against GMP [Xe2]
 * sec. 8.1.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "arith/residue.h"
#include "cpu/kernel.h"
#include "unit.h"

enum { PLANE = 2 * OZG_SPLIT_BATCH };

/* z = RN_int(x 2^d), ties to even, from frexp() and GMP integers. */
static void scale_by_gmp(mpz_t z, double x, int d)
{
    int e, above;
    mpz_t rest, half;

    mpz_inits(rest, half, NULL);
    mpz_set_d(z, ldexp(frexp(x, &e), 53)); /* x = z 2^(e - 53) */
    d += e - 53;
    if (d >= 0) {
        mpz_mul_2exp(z, z, (mp_bitcnt_t)d);
    } else {
        mpz_fdiv_r_2exp(rest, z, (mp_bitcnt_t)-d);
        mpz_fdiv_q_2exp(z, z, (mp_bitcnt_t)-d);
        mpz_setbit(half, (mp_bitcnt_t)(-d - 1));
        above = mpz_cmp(rest, half);
        if (above > 0 || (above == 0 && mpz_odd_p(z)))
            mpz_add_ui(z, z, 1);
    }
    mpz_clears(rest, half, NULL);
}

/* ---- one batch through the split of a kernel ---------------------------------------------------- */

static void pad(ozg_batch *batch)
{
    for (int e = batch->count; e < OZG_SPLIT_BATCH; e++) {
        batch->re[e] = batch->im[e] = 0;
        batch->d[e] = OZG_D_NONE;
    }
}

/* Compares the residues of every element with z[e] mod m_l; returns how many were compared. */
static long check_batch(const ozg_kernel *kernel, const ozg_rns *rns, int width, const ozg_batch *batch,
                        mpz_t *z)
{
    static unsigned char out[OZG_NMOD_MAX * PLANE];
    const ozg_layout symmetric = {.lines = 1, .kr = 1, .word = rns->word};

    kernel->split(rns, width, &symmetric, 0, batch, out, PLANE);
    for (int l = 0; l < rns->nmod; l++)
        for (int e = 0; e < batch->count; e++) {
            const long m = rns->m[l], range = rns->word == 1 ? 256 : 65536;
            uint16_t wide;
            long r = out[l * PLANE + e];

            memcpy(&wide, out + l * PLANE + 2 * e, 2);
            r = rns->word == 1 ? r : wide;
            r -= r >= range / 2 ? range : 0;
            if (labs(2 * r) > m || (r + range * m) % m != (long)mpz_fdiv_ui(z[e], (unsigned long)m))
                fail_msg("%s, width %d: %a 2^%d mod %ld = %lu, not %ld", kernel->name, width,
                         double_of_bits(batch->re[e]), (int)batch->d[e], m,
                         mpz_fdiv_ui(z[e], (unsigned long)m), r);
        }
    return (long)rns->nmod * batch->count;
}

/* ref takes systems of both words, every other kernel those of its own. */
static long check_words(const ozg_kernel *kernel, int s, int width, const ozg_batch *batch, mpz_t *z)
{
    long compared = 0;

    for (int word = 1; word <= 2; word++) {
        const ozg_rns *rns;

        if (kernel->isa && kernel->a.word != word)
            continue;
        assert_int_equal(ozg_rns_get(&rns, word, s), OZG_OK);
        compared += check_batch(kernel, rns, width, batch, z);
    }
    return compared;
}

/* A double with |x| 2^d <= 2^t (1 - 2^-54), so that |a^| <= 2^t is reached now and then, of every kind. */
static void random_element(struct rng *r, int t, uint64_t *bits, int32_t *d)
{
    uint64_t sign = rng_next(r) & OZG_F64_SIGN, fraction = rng_next(r) >> 12, exponent = 0;
    int e;

    switch (rng_below(r, 10)) {
    case 0: /* signed zero */
        fraction = 0;
        break;
    case 1: /* subnormal */
        fraction >>= rng_below(r, 52);
        break;
    case 2: /* rounds up to the next power of two, mostly */
        fraction = (UINT64_C(1) << 52) - 1;
        exponent = 1 + rng_below(r, 2046);
        break;
    case 3: /* few bits: ties */
        fraction = rng_below(r, 16) << (48 - rng_below(r, 45));
        exponent = 1 + rng_below(r, 2046);
        break;
    default:
        exponent = 1 + rng_below(r, 2046);
    }
    *bits = sign | exponent << 52 | fraction;
    e = *bits << 1 ? ozg_exponent(*bits) : -100;
    *d = t - e - (rng_below(r, 3) ? (int32_t)rng_below(r, (uint64_t)t + 60) : 0);
}

/* At least 2.2 million residues for each kernel. */
static void test_split_of_random_numbers(void **state)
{
    struct rng r = {1};
    mpz_t z[OZG_SPLIT_BATCH];

    (void)state;
    for (int e = 0; e < OZG_SPLIT_BATCH; e++)
        mpz_init(z[e]);
    for (int i = 0; ozg_kernel_at(ozg_cpu_isa(), i); i++) {
        const ozg_kernel *kernel = ozg_kernel_at(ozg_cpu_isa(), i);
        long compared = 0;

        for (int t = 1; compared < 2200000; t = t % OZG_WIDTH_MAX + 1) {
            ozg_batch batch = {.count = OZG_SPLIT_BATCH};

            for (int e = 0; e < batch.count; e++) {
                random_element(&r, t, &batch.re[e], &batch.d[e]);
                scale_by_gmp(z[e], double_of_bits(batch.re[e]), batch.d[e]);
                assert_true(mpz_sizeinbase(z[e], 2) <= (size_t)t + 1);
            }
            compared += check_words(kernel, ozg_moduli_for_width(t, 1), t, &batch, z);
        }
        print_message("%s: %ld residues\n", kernel->name, compared);
    }
    for (int e = 0; e < OZG_SPLIT_BATCH; e++)
        mpz_clear(z[e]);
}

/* |a^| = 2^t for every t, among them 2^(21 L - 1): reached exactly and by rounding up; and 2^t - 1 or its
 * nearest. */
static void test_split_at_the_largest_magnitude(void **state)
{
    const double value[] = {0.5, -0.5, 1 - ldexp(1, -53), ldexp(1, -53) - 1, 0.5 + ldexp(1, -53)};
    mpz_t z[OZG_SPLIT_BATCH];

    (void)state;
    for (int e = 0; e < OZG_SPLIT_BATCH; e++)
        mpz_init(z[e]);
    for (int i = 0; ozg_kernel_at(ozg_cpu_isa(), i); i++)
        for (int t = 1; t <= OZG_WIDTH_MAX; t++) {
            ozg_batch batch = {.count = 10};

            for (int e = 0; e < batch.count; e++) {
                batch.re[e] = bits_of_double(value[e / 2]);
                batch.d[e] = t + (e / 2 < 2 && e % 2); /* 0.5 2^(t+1) = 2^t */
                scale_by_gmp(z[e], value[e / 2], batch.d[e]);
            }
            pad(&batch);
            assert_int_equal(mpz_scan1(z[1], 0), t);
            assert_int_equal(mpz_sizeinbase(z[1], 2), t + 1);
            if (t < 53)
                assert_int_equal(mpz_cmp(z[4], z[1]), 0); /* by rounding up */
            check_words(ozg_kernel_at(ozg_cpu_isa(), i), ozg_moduli_for_width(t, 1), t, &batch, z);
        }
    for (int e = 0; e < OZG_SPLIT_BATCH; e++)
        mpz_clear(z[e]);
}

/* ---- the parts ---------------------------------------------------------------------------------- */

static void check_scaled(uint64_t bits, int32_t d, mpz_t z, mpz_t z2)
{
    ozg_scaled s = ozg_scale_bits(bits, d);
    mpz_t limb;

    assert_true(s.mant <= UINT64_C(1) << 53 && s.shift >= 0);
    scale_by_gmp(z, double_of_bits(bits), d);
    mpz_set_u64(z2, s.mant);
    mpz_mul_2exp(z2, z2, (mp_bitcnt_t)s.shift);
    assert_int_equal(mpz_cmpabs(z, z2), 0);
    assert_int_equal(s.neg, bits >> 63);
    mpz_init(limb);
    for (int l = 0; l < OZG_SPLIT_LIMBS; l++) {
        mpz_fdiv_q_2exp(limb, z2, (mp_bitcnt_t)(OZG_LIMB_BITS * l));
        assert_int_equal(ozg_limb(s.mant, s.shift, l), mpz_low64(limb) & OZG_LIMB_MASK);
    }
    mpz_clear(limb);
}

static void test_scale_bits(void **state)
{
    struct rng r = {2};
    mpz_t z, z2;

    (void)state;
    mpz_inits(z, z2, NULL);
    for (int i = 0; i < 40000; i++) {
        uint64_t bits;
        int32_t d;

        random_element(&r, 1 + (int)rng_below(&r, OZG_WIDTH_MAX), &bits, &d);
        check_scaled(bits, d, z, z2);
    }
    for (int tie = 1; tie < 64; tie++) /* tie / 2, to even */
        check_scaled(bits_of_double(tie), -1, z, z2);
    mpz_clears(z, z2, NULL);
    assert_true(ozg_scale_bits(bits_of_double(HUGE_VAL), OZG_D_NONE).mant == 0);
    assert_true(ozg_scale_bits(bits_of_double(-HUGE_VAL) + 12345, OZG_D_NONE).mant == 0);
    assert_true(ozg_scale_bits(bits_of_double(HUGE_VAL) - 1, OZG_D_NONE).mant == 0);
    assert_true(ozg_scale_bits(0, 1244).mant == 0);
}

static void check_mod(uint32_t v, uint32_t m, uint32_t inv)
{
    if (ozg_mod(v, m, inv) != v % m)
        fail_msg("%u mod %u gave %u", (unsigned)v, (unsigned)m, (unsigned)ozg_mod(v, m, inv));
}

static void test_mod(void **state)
{
    struct rng r = {3};

    (void)state;
    for (uint32_t m = 2; m <= 65536; m += m < 256 ? 1 : m == 65535 ? 1 : 101) {
        const uint32_t inv = (uint32_t)((UINT64_C(1) << 32) / m), most = UINT32_MAX / m;

        for (uint32_t i = 0; i < 1000; i++) {
            const uint32_t quotient[3] = {i, most - i, (uint32_t)rng_below(&r, most)};

            for (int j = 0; j < 3; j++)
                for (uint32_t step = 0; step < 3; step++)
                    check_mod(quotient[j] * m + step - 1, m, inv);
            check_mod(UINT32_MAX - i, m, inv);
        }
    }
}

/* 8-bit moduli: 4 * (2^21 - 1) * 255 < 2^31, whatever the shift: the sum over the limbs of the split. */
static void test_split_sum_stays_below_2_31(void **state)
{
    (void)state;
    for (int shift = 0; shift <= OZG_WIDTH_MAX - 53; shift++)
        for (int bits = 53; bits <= 54; bits++) {
            const uint64_t mant = bits == 53 ? (UINT64_C(1) << 53) - 1 : UINT64_C(1) << 53;
            uint64_t most = 0;

            for (int l = 0; l < OZG_SPLIT_LIMBS; l++)
                most += (uint64_t)ozg_limb(mant, shift, l) * 255;
            assert_true(most < UINT64_C(1) << 31);
        }
}

static void check_mod_sum(uint32_t old, int32_t sum, uint32_t m)
{
    const uint32_t inv = (uint32_t)((UINT64_C(1) << 32) / m), offset = (m - (UINT32_C(1) << 31) % m) % m;
    int64_t expected = ((int64_t)old + sum) % m;

    if (ozg_mod_sum(old, sum, m, inv, offset) != expected + (expected < 0 ? m : 0))
        fail_msg("(%u + %d) mod %u", (unsigned)old, (int)sum, (unsigned)m);
}

static void test_mod_sum(void **state)
{
    static const int32_t edge[] = {
        INT32_MIN, INT32_MIN + 1, INT32_MIN + 255, -257,          -256,      -255,          -1, 0, 1, 255,
        256,       257,           INT32_MAX - 255, INT32_MAX - 1, INT32_MAX, 131071 * 16384};
    struct rng r = {4};

    (void)state;
    for (uint32_t m = 2; m <= 65536; m += m < 256 ? 1 : 640)
        for (uint32_t old = 0; old < m; old += m <= 256 || old > m - 1000 ? 1 : 997) {
            for (size_t i = 0; i < sizeof edge / sizeof *edge; i++)
                check_mod_sum(old, edge[i], m);
            for (int i = 0; i < 20; i++)
                check_mod_sum(old, (int32_t)(rng_next(&r) >> 33) - (int32_t)(rng_next(&r) >> 33), m);
        }
}

static void test_symmetric_and_negate(void **state)
{
    (void)state;
    for (int m = 2; m <= 256; m++)
        for (int r = 0; r < m; r++) {
            const int h = (m - 1) / 2, x = ozg_symmetric((uint32_t)r, (uint32_t)m);

            assert_true(x >= -h && x <= m - 1 - h);
            assert_int_equal((x - r) % m, 0);
            assert_int_equal((int)(int8_t)x - x, m == 256 && r == 128 ? -256 : 0);
            assert_int_equal(ozg_mod_negate((uint32_t)r, (uint32_t)m), (m - r) % m);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_split_of_random_numbers),
        cmocka_unit_test(test_split_at_the_largest_magnitude),
        cmocka_unit_test(test_scale_bits),
        cmocka_unit_test(test_mod),
        cmocka_unit_test(test_mod_sum),
        cmocka_unit_test(test_split_sum_stays_below_2_31),
        cmocka_unit_test(test_symmetric_and_negate),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
