/*
 * test_entry.c - one entry of C: a table written from doc/numerics.md sections 2 and 8, and all combinations
 * of hard numbers against sums of extended numbers.
 *
 * SPDX-License-Identifier: MIT
 */
#include <float.h>
#include <math.h>

#include "arith/entry.h"
#include "dyadic.h"
#include "unit.h"

#define ULP  0x1p-52
#define TINY 0x1p-1074

static ozg_value finite_value(int neg, uint64_t z, int32_t x)
{
    ozg_value v = {OZG_FINITE, 0, {{z}, 1, neg}, x};

    return v;
}

static ozg_value value_of(double x)
{
    ozg_value v = {isnan(x) ? OZG_INVALID : OZG_INFINITE, signbit(x) != 0, {{0}, 1, 0}, 0};
    uint64_t mant;
    int e = 0;

    if (!isfinite(x))
        return v;
    mant = (uint64_t)ldexp(frexp(fabs(x), &e), 53);
    return finite_value(x < 0, mant, e - 53);
}

static ozg_scalars scalars_of(int single, int complex_, const double *alpha, const double *beta)
{
    ozg_scalars s = {single, complex_, {{0}}, {{0}}};

    for (int part = 0; part <= complex_; part++) {
        s.alpha[part] = ozg_scalar_of(alpha[part]);
        s.beta[part] = ozg_scalar_of(beta[part]);
    }
    return s;
}

/* Every NaN that is written is the default quiet NaN. */
static uint64_t expected_bits(int single, double x)
{
    if (single)
        return isnan(x) ? UINT32_C(0x7fc00000) : bits_of_float((float)x);
    return isnan(x) ? UINT64_C(0x7ff8000000000000) : bits_of_double(x);
}

/* C between two elements that must not change. */
struct entry {
    int single;
    union {
        double d[6];
        float f[6];
    } u;
};

static void entry_set(struct entry *c, int single, int parts, const double *x)
{
    c->single = single;
    for (int i = 0; i < 6; i++) {
        double value = i >= parts && i < 2 * parts ? x[i - parts] : 77;

        if (single)
            c->u.f[i] = (float)value;
        else
            c->u.d[i] = value;
    }
}

static uint64_t entry_bits(const struct entry *c, int i)
{
    return c->single ? bits_of_float(c->u.f[i]) : bits_of_double(c->u.d[i]);
}

static void check_entry(const struct entry *c, int parts, const double *expected, const char *label, long row)
{
    for (int i = 0; i < 3 * parts && i < 6; i++) {
        double value = i >= parts && i < 2 * parts ? expected[i - parts] : 77;

        if (entry_bits(c, i) != expected_bits(c->single, value))
            fail_msg("%s %ld: number %d is %llx, expected %llx", label, row, i,
                     (unsigned long long)entry_bits(c, i),
                     (unsigned long long)expected_bits(c->single, value));
    }
}

static void update(int single, int complex_, const double *alpha, const ozg_value *v, const double *beta,
                   const double *c, const double *expected, const char *label, long row)
{
    ozg_scalars s = scalars_of(single, complex_, alpha, beta);
    struct entry entry;

    entry_set(&entry, single, 1 + complex_, c);
    ozg_entry_update(&s, v, &entry.u, 1);
    check_entry(&entry, 1 + complex_, expected, label, row);
}

static void scale(int single, int complex_, const double *beta, const double *c, const double *expected,
                  const char *label, long row)
{
    ozg_scalars s = scalars_of(single, complex_, beta, beta);
    struct entry entry;

    entry_set(&entry, single, 1 + complex_, c);
    ozg_entry_scale(&s, &entry.u, 1);
    check_entry(&entry, 1 + complex_, expected, label, row);
}

/* ---- the tables --------------------------------------------------------------------------------- */

static const struct {
    double alpha, v, beta, c, expected;
} real_row[] = {
    {1, 3, 0, NAN, 3}, /* beta = 0 does not read C */
    {2, -3, -0.0, NAN, -6},
    {1, 2, 3, 4, 14},
    {1, 0, 0, 5, 0.0},
    {-1, 0, 0, 5, 0.0},
    {1, 0, 1, -0.0, 0.0}, /* an exact zero is +0 */
    {1, 2, 1, -2, 0.0},
    {-1, 2, 1, 2, 0.0},
    {1, 0, -3, 0.0, 0.0},
    {3, 0, 2, 7, 14},
    {NAN, 5, 0, 1, NAN},
    {NAN, 0, 1, 1, NAN},
    {1, 1, NAN, 0, NAN},
    {1, 1, NAN, 3, NAN},
    {INFINITY, 3, 0, 1, INFINITY},
    {INFINITY, -3, 0, 1, -INFINITY},
    {-INFINITY, -3, 0, 1, INFINITY},
    {INFINITY, 0, 0, 1, NAN},
    {-INFINITY, 0, 1, 1, NAN},
    {INFINITY, 3, 1, -INFINITY, NAN},
    {INFINITY, 3, 1, INFINITY, INFINITY},
    {INFINITY, 3, 1, -1e300, INFINITY},
    {2, INFINITY, 0, 1, INFINITY},
    {-2, INFINITY, 0, 1, -INFINITY},
    {-2, -INFINITY, 1, 9, INFINITY},
    {1, NAN, 0, 1, NAN},
    {TINY, INFINITY, 1, 1, INFINITY},
    {0, INFINITY, 1, 5, 5},
    {0, NAN, 1, 5, 5},
    {1, INFINITY, 1, -INFINITY, NAN},
    {1, INFINITY, -1, INFINITY, NAN},
    {1, -INFINITY, -1, INFINITY, -INFINITY},
    {1, 1, INFINITY, 0, NAN},
    {1, 1, INFINITY, -0.0, NAN},
    {1, 1, INFINITY, 2, INFINITY},
    {1, 1, INFINITY, -2, -INFINITY},
    {1, 1, -1, INFINITY, -INFINITY},
    {1, 1, 2, NAN, NAN},
    {1, 1, TINY, INFINITY, INFINITY},
    {2, DBL_MAX, 0, 0, INFINITY},
    {-2, DBL_MAX, 0, 0, -INFINITY},
    {2, DBL_MAX, -2, DBL_MAX, 0.0},
    {2, DBL_MAX, -1, DBL_MAX, DBL_MAX},
    {4, DBL_MAX, -3, DBL_MAX, DBL_MAX},
    {TINY, 0.5, 0, 0, 0.0},
    {-TINY, 0.5, 0, 0, -0.0},
    {TINY, -0.5, 0, 0, -0.0},
    {TINY, 0.5 + ULP, 0, 0, TINY},
    {TINY, 0.5, TINY, TINY, TINY},
    {TINY, 0.5, -TINY, TINY, 0.0},
    {TINY, TINY, 1, 0, 0.0},
    {TINY, -TINY, 1, 0.0, -0.0},
    {TINY, TINY, 1, 1, 1},
    {0.5, 3 * TINY, 0, 0, 2 * TINY},
    {0.5, TINY, 0.5, TINY, TINY},
    {1, 1, ULP, 0.5, 1},
    {1, 1, ULP, 0.5 + ULP, 1 + ULP},
    {1, 1 + ULP, ULP, 0.5, 1 + 2 * ULP},
    {1 + ULP, 1 + ULP, -1, 1 + 2 * ULP, 0x1p-104},
};

static void test_real_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof real_row / sizeof *real_row; i++) {
        ozg_value v = value_of(real_row[i].v);

        update(0, 0, &real_row[i].alpha, &v, &real_row[i].beta, &real_row[i].c, &real_row[i].expected,
               "real row", (long)i);
    }
}

/* c^ has more bits than a double: rounded once, after the multiplication by alpha. */
static void test_one_rounding(void **state)
{
    const struct {
        int single;
        double alpha;
        int neg;
        uint64_t z;
        int32_t x;
        double beta, c, expected;
    } row[] = {
        {0, 3, 0, (UINT64_C(1) << 53) + 1, 0, 0, 0, 0x1.8p54 + 4},
        {0, -3, 0, (UINT64_C(1) << 53) + 1, 0, 0, 0, -0x1.8p54 - 4},
        {0, 1, 0, (UINT64_C(1) << 53) + 1, -53, 0, 0, 1},
        {0, 1, 0, (UINT64_C(1) << 53) + 1, -53, TINY, TINY, 1 + ULP},
        {0, 1, 0, (UINT64_C(1) << 53) + 1, -53, -TINY, TINY, 1},
        {0, 1, 0, (UINT64_C(1) << 54) - 1, 970, 0, 0, INFINITY},
        {0, 1, 0, (UINT64_C(1) << 54) - 1, 970, -TINY, TINY, DBL_MAX},
        {0, 1, 1, (UINT64_C(1) << 54) - 1, 970, 0, 0, -INFINITY},
        {0, 1, 1, (UINT64_C(1) << 54) - 1, 970, TINY, TINY, -DBL_MAX},
        {0, TINY, 0, 1, 1073 + 600, 0, 0, 0x1p599},
        {0, 1, 0, 1, -1075, 0, 0, 0.0},
        {0, 1, 1, 1, -1075, 0, 0, -0.0},
        {0, 1, 0, 3, -1075, 0, 0, 2 * TINY},
        {0, 1, 0, UINT64_MAX, -1086, 0, 0, DBL_MIN},
        /* by way of double it would be 1 */
        {1, 1, 0, (UINT64_C(1) << 60) + (UINT64_C(1) << 36) + 1, -60, 0, 0, 1 + 0x1p-23},
        {1, 1, 0, (UINT64_C(1) << 60) + (UINT64_C(1) << 36), -60, 0, 0, 1},
        {1, 1, 0, (UINT64_C(1) << 25) - 1, 103, 0, 0, INFINITY},
        {1, 1, 0, (UINT64_C(1) << 25) - 1, 103, -0x1p-149, 0x1p-149, FLT_MAX},
        {1, 0x1p-149, 0, 1, -1, 0, 0, 0.0},
        {1, -0x1p-149, 0, 1, -1, 0, 0, -0.0},
        {1, 0x1p-149, 0, 3, -1, 0, 0, 0x1p-148},
        {1, 1, 0, 1, -150, 0x1p-149, 0x1p-149, 0x1p-149},
        {1, 1, 0, 0, 0, 1, -0.0, 0.0},
        {1, INFINITY, 1, 1, 0, 0, 0, -INFINITY},
        {1, INFINITY, 0, 0, 0, 0, 0, NAN},
        {1, 1, 0, 1, 0, 1, NAN, NAN},
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        ozg_value v = finite_value(row[i].neg, row[i].z, row[i].x);

        update(row[i].single, 0, &row[i].alpha, &v, &row[i].beta, &row[i].c, &row[i].expected, "row",
               (long)i);
    }
}

static void test_complex_table(void **state)
{
    const struct {
        double alpha[2], v[2], beta[2], c[2], expected[2];
    } row[] = {
        {{0, 1}, {1, 2}, {0, 0}, {NAN, NAN}, {-2, 1}},
        {{2, 3}, {5, 7}, {0, 0}, {NAN, NAN}, {-11, 29}},
        {{1, 0}, {1, 2}, {2, 3}, {5, 7}, {-10, 31}},
        /* a component 0 of alpha: nothing, not 0 times Inf */
        {{2, 0}, {INFINITY, 1}, {0, 0}, {0, 0}, {INFINITY, 2}},
        {{0, 2}, {INFINITY, 1}, {0, 0}, {0, 0}, {-2, INFINITY}},
        {{1, 1}, {INFINITY, 1}, {0, 0}, {0, 0}, {INFINITY, INFINITY}},
        {{1, 1}, {INFINITY, INFINITY}, {0, 0}, {0, 0}, {NAN, INFINITY}},
        {{1, -1}, {INFINITY, INFINITY}, {0, 0}, {0, 0}, {INFINITY, NAN}},
        {{1, 0}, {NAN, 3}, {0, 0}, {0, 0}, {NAN, 3}},
        {{0, 1}, {NAN, 3}, {0, 0}, {0, 0}, {-3, NAN}},
        {{1, 1}, {NAN, 3}, {0, 0}, {0, 0}, {NAN, NAN}},
        {{INFINITY, 0}, {2, 0}, {0, 0}, {0, 0}, {INFINITY, NAN}},
        {{0, INFINITY}, {2, 3}, {0, 0}, {0, 0}, {-INFINITY, INFINITY}},
        {{NAN, 0}, {2, 3}, {0, 0}, {0, 0}, {NAN, NAN}},
        {{1, 0}, {1, 1}, {0, 1}, {INFINITY, 2}, {-1, INFINITY}},
        {{1, 0}, {1, 1}, {1, 0}, {INFINITY, 2}, {INFINITY, 3}},
        {{1, 0}, {1, 1}, {1, 1}, {INFINITY, 2}, {INFINITY, INFINITY}},
        {{1, 0}, {1, 1}, {1, 0}, {NAN, 2}, {NAN, 3}},
        {{1, 0}, {INFINITY, 1}, {1, 0}, {-INFINITY, 2}, {NAN, 3}},
        {{1, 1}, {1, 1}, {0, 0}, {0, 0}, {0.0, 2}}, /* cancels: +0 */
        {{1, 0}, {0, 0}, {1, 0}, {-0.0, -0.0}, {0.0, 0.0}},
        {{1, 0}, {1, -1}, {-1, 0}, {1, -1}, {0.0, 0.0}},
        {{DBL_MAX, DBL_MAX}, {DBL_MAX, DBL_MAX}, {1, 0}, {TINY, 0}, {TINY, INFINITY}},
        {{TINY, 0}, {0.5, -0.5}, {0, 0}, {0, 0}, {0.0, -0.0}},
        {{1, ULP}, {1, 0.5}, {0, 0}, {0, 0}, {1 - ULP / 2, 0.5 + ULP}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const ozg_value v[2] = {value_of(row[i].v[0]), value_of(row[i].v[1])};

        update(0, 1, row[i].alpha, v, row[i].beta, row[i].c, row[i].expected, "complex row", (long)i);
    }
}

static void test_scale_table(void **state)
{
    const struct {
        int complex_;
        double beta[2], c[2], expected[2];
    } row[] = {
        {0, {0}, {NAN}, {0.0}},
        {0, {-0.0}, {-INFINITY}, {0.0}},
        {0, {0}, {-5}, {0.0}}, /* beta = 0 does not read C */
        {0, {2}, {0.0}, {0.0}},
        {0, {2}, {-0.0}, {-0.0}},
        {0, {-2}, {0.0}, {-0.0}},
        {0, {-2}, {-0.0}, {0.0}},
        {0, {3}, {5}, {15}},
        {0, {NAN}, {0}, {NAN}},
        {0, {NAN}, {1}, {NAN}},
        {0, {2}, {NAN}, {NAN}},
        {0, {INFINITY}, {0}, {NAN}},
        {0, {INFINITY}, {-0.0}, {NAN}},
        {0, {INFINITY}, {-3}, {-INFINITY}},
        {0, {-3}, {INFINITY}, {-INFINITY}},
        {0, {2}, {DBL_MAX}, {INFINITY}},
        {0, {0.5}, {TINY}, {0.0}},
        {0, {-0.5}, {TINY}, {-0.0}},
        {0, {0.5}, {3 * TINY}, {2 * TINY}},
        {0, {1}, {-NAN}, {NAN}},
        {1, {0, 0}, {NAN, NAN}, {0.0, 0.0}},
        {1, {2, 3}, {5, 7}, {-11, 29}},
        {1, {1, 0}, {-0.0, -0.0}, {-0.0, -0.0}},
        {1, {-1, 0}, {0.0, -0.0}, {-0.0, 0.0}},
        {1, {0, 1}, {0.0, 3}, {-3, 0.0}},
        {1, {0, 1}, {-0.0, 0.0}, {-0.0, -0.0}},
        {1, {1, 1}, {0.0, 0.0}, {0.0, 0.0}},
        {1, {1, 1}, {-0.0, 0.0}, {-0.0, 0.0}},
        {1, {1, 1}, {1, 1}, {0.0, 2}},
        {1, {1, 0}, {INFINITY, 2}, {INFINITY, 2}},
        {1, {0, 1}, {INFINITY, 2}, {-2, INFINITY}},
        {1, {1, 1}, {INFINITY, INFINITY}, {NAN, INFINITY}},
        {1, {1, 0}, {NAN, 2}, {NAN, 2}},
        {1, {NAN, 0}, {1, 2}, {NAN, NAN}},
        {1, {INFINITY, 0}, {0, 2}, {NAN, INFINITY}},
        {1, {TINY, 0}, {0.5, -0.5}, {0.0, -0.0}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        scale(0, row[i].complex_, row[i].beta, row[i].c, row[i].expected, "scale row", (long)i);
}

/* ---- combinations, against sums of extended numbers --------------------------------------------- */

/* Numbers that both formats have. */
static double hard_number(struct rng *r, int single)
{
    const double least = single ? 0x1p-149 : TINY, most = single ? FLT_MAX : DBL_MAX,
                 eps = single ? 0x1p-23 : ULP;
    const double number[] = {0.0,  -0.0,  1,       -1,      3,        0.5,       least, -3 * least,
                             most, -most, 1 + eps, eps / 2, INFINITY, -INFINITY, NAN};

    return number[rng_below(r, sizeof number / sizeof *number)];
}

struct model {
    struct ext sum, term, factor;
    int zeros, negative_zeros, others;
};

/* sum += (-1)^negate s x; a scalar 0 contributes nothing. */
static void model_add(struct model *m, int negate, double s, double x)
{
    if (s == 0)
        return;
    ext_set_double(&m->term, s);
    ext_set_double(&m->factor, x);
    ext_mul(&m->term, &m->factor);
    if (negate)
        ext_neg(&m->term);
    ext_add(&m->sum, &m->term);
    if (x == 0 && isfinite(s)) {
        m->zeros++;
        m->negative_zeros += (signbit(s) != 0) ^ (signbit(x) != 0) ^ negate;
    } else {
        m->others++;
    }
}

static void model_clear_sum(struct model *m)
{
    ext_set_double(&m->sum, 0);
    m->zeros = m->negative_zeros = m->others = 0;
}

/* The rounded sum; signed_zero: with the sign that IEEE gives a sum of zeros. */
static double model_result(struct model *m, int single, int signed_zero)
{
    if (signed_zero && m->others == 0 && m->zeros > 0 && m->zeros == m->negative_zeros)
        return -0.0;
    return ext_round(&m->sum, single);
}

static void test_combinations(void **state)
{
    struct rng r = {1};
    struct model m;

    (void)state;
    ext_init(&m.sum);
    ext_init(&m.term);
    ext_init(&m.factor);
    for (long i = 0; i < 60000; i++) {
        const int single = (int)rng_below(&r, 2), complex_ = (int)rng_below(&r, 2), scales = i % 4 == 0;
        double alpha[2], x[2], beta[2], c[2], expected[2];
        ozg_value v[2];

        for (int part = 0; part < 2; part++) {
            alpha[part] = scales || (part && !complex_) ? 0 : hard_number(&r, single);
            beta[part] = part && !complex_ ? 0 : hard_number(&r, single);
            x[part] = hard_number(&r, single);
            c[part] = hard_number(&r, single);
            v[part] = value_of(x[part]);
        }
        for (int part = 0; part <= complex_; part++) {
            model_clear_sum(&m);
            model_add(&m, 0, alpha[0], x[part]);
            model_add(&m, part == 0, alpha[1], x[1 - part]);
            model_add(&m, 0, beta[0], c[part]);
            model_add(&m, part == 0, beta[1], c[1 - part]);
            expected[part] = model_result(&m, single, scales);
        }
        if (scales)
            scale(single, complex_, beta, c, expected, "scale combination", i);
        else
            update(single, complex_, alpha, v, beta, c, expected, "combination", i);
    }
    ext_clear(&m.sum);
    ext_clear(&m.term);
    ext_clear(&m.factor);
}

static void test_scalars(void **state)
{
    ozg_scalar s = ozg_scalar_of(-12);

    (void)state;
    assert_true(s.kind == OZG_FINITE && s.fp.mant == 3 && s.fp.exp == 2 && s.fp.neg == 1);
    assert_true(ozg_scalar_is_zero(ozg_scalar_of(-0.0)));
    assert_false(ozg_scalar_is_zero(ozg_scalar_of(TINY)));
    assert_false(ozg_scalar_is_zero(ozg_scalar_of(INFINITY)));
    assert_int_equal(ozg_scalar_of(-INFINITY).kind, OZG_INFINITE);
    assert_int_equal(ozg_scalar_of(NAN).kind, OZG_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_real_table),    cmocka_unit_test(test_one_rounding),
        cmocka_unit_test(test_complex_table), cmocka_unit_test(test_scale_table),
        cmocka_unit_test(test_combinations),  cmocka_unit_test(test_scalars),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
