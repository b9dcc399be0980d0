/*
 * test_bounds_lines.c - scaling by norms, the bound of an entry, its acceptance and its repair, for hard
 * lines, against exact arithmetic. The claims are those of doc/bounds.md, sections 3 to 7, 9 and 10.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "arith/residue.h"
#include "cpu/parts.h"
#include "cpu/stages.h"
#include "dyadic.h"
#include "scaling.h"
#include "unit.h"

enum { MOST = 48, LONG = 70000, WORDS = (LONG + 63) / 64 };

/* What a line is made of. */
enum kind {
    UNIFORM, /* full mantissas, a few binades */
    GRADED,  /* down to 2^-200 */
    MAXIMA,  /* all 1 - 2^-53: N at its largest */
    POWERS,  /* all 1 or 1/2: exact */
    GIANT,   /* one of them 2^20 to 2^70 times the others */
    HALVES,  /* one large number; the others are ties that leave +1/2 each */
    TURNS,   /* the same with signs in turn */
    LONE,    /* one large number, one that leaves 1/2, zeros */
    SPARSE,  /* mostly zeros */
    BITS,    /* any finite numbers */
    TINY,    /* subnormal */
    KINDS
};

/* One line with all that is measured of it. */
typedef struct line {
    double *x;
    int16_t *shift;
    ozg_lines l;
    uint8_t special;
    int32_t e, d;
    uint64_t squares;
    uint32_t f[6];
    uint64_t places[WORDS];
} line;

/* The exact sums of a component. */
typedef struct sums {
    struct ext ab, hat;             /* AB, c^ 2^(-D-E) */
    struct ext magnitude, hat_size; /* sum |a||b|, sum |a^||b^| */
    int64_t floors;
} sums;

static double memory[2][2 * LONG];
static int16_t shift_memory[2][LONG];
static line side[2];
static sums component[2];
static mpz_t z, quotient_limit;
static struct ext t, u, v;

static double odd_mantissa(struct rng *r)
{
    return ldexp((double)(rng_next(r) >> 11 | 1 | UINT64_C(1) << 52), -53);
}

static double finite_bits(struct rng *r)
{
    uint64_t bits;

    do
        bits = rng_next(r);
    while ((bits & OZG_F64_INF) == OZG_F64_INF);
    return double_of_bits(bits);
}

static double random_number(struct rng *r, enum kind kind, int e)
{
    const double sign = rng_below(r, 2) ? -1 : 1;

    switch (kind) {
    case MAXIMA:
        return ldexp(1 - 0x1p-53, e);
    case POWERS:
        return ldexp(1, e - (int)rng_below(r, 2));
    case GRADED:
        return sign * ldexp(odd_mantissa(r), e - (int)rng_below(r, 200));
    case GIANT:
        return sign * ldexp(odd_mantissa(r), e - (int)rng_between(r, 20, 70));
    case SPARSE:
        return rng_below(r, 8) ? 0 : sign * ldexp(odd_mantissa(r), e - (int)rng_below(r, 60));
    case BITS:
        return finite_bits(r);
    case TINY:
        return double_of_bits(rng_next(r) & ((UINT64_C(1) << rng_between(r, 1, 52)) - 1));
    default:
        return sign * ldexp(odd_mantissa(r), e - (int)rng_below(r, 4));
    }
}

static void open_line(line *x, int which, int64_t k, char type, int shifted)
{
    memset(x, 0, sizeof *x);
    x->x = memory[which];
    x->shift = shift_memory[which];
    x->l.view = (ozg_view){x->x, k, 1, type, 0, shifted ? x->shift : NULL};
    x->l.count = 1;
    x->l.k = k;
    x->l.special = &x->special;
    x->l.e = &x->e;
    x->l.d = &x->d;
    x->l.squares = &x->squares;
    x->l.x1 = x->f;
    x->l.x2 = x->f + 1;
    x->l.xmax = x->f + 2;
    x->l.r1 = x->f + 3;
    x->l.r2 = x->f + 4;
    x->l.rmax = x->f + 5;
    x->l.places = x->places;
    x->l.words = (k + 63) / 64;
}

/* Exponent, norms, D and residuals as the scale stage finds them. */
static void measure(line *x, int s)
{
    const uint64_t length = (uint64_t)x->l.k * (1 + (x->l.view.type == 'z'));
    const int nu = ozg_norm_bits(length), c = ozg_bound_unit(length);
    ozg_norms n;

    x->e = ozg_exponent_shifted(&x->l.view, x->l.k, 0);
    ozg_norms_ref(&x->l.view, x->l.k, 0, 1, nu, &x->e, &n);
    x->squares = n.squares;
    ozg_norms_factors(&n, nu, c, x->f, x->f + 1, x->f + 2);
    ozg_scaling_norm(&x->l, s, length);
    ozg_residuals_ref(&x->l.view, x->l.k, 0, 1, &x->d, &n, x->places, x->l.words);
    ozg_norms_factors(&n, 16, c, x->f + 3, x->f + 4, x->f + 5);
}

/* Every number but the first becomes one that leaves 1/2, so small that N, hence d, does not change. */
static void set_halves(struct rng *r, line *x, enum kind kind, int64_t numbers, int e, int s)
{
    x->x[0] = ldexp(1, e - 1);
    for (int64_t i = 1; i < numbers; i++)
        x->x[i] = kind == LONE && i > 1 ? 0 : ldexp(1, e - 20);
    measure(x, s);
    for (int64_t i = 1; i < numbers; i++)
        if (x->x[i] != 0)
            x->x[i] = ldexp(x->d + e > 26 ? (double)(2 * rng_below(r, 8)) + 0.5 : 0.5, -x->d) *
                      (kind == TURNS && i % 2 ? -1 : 1);
}

static void fill_line(struct rng *r, line *x, enum kind kind, int s)
{
    const int64_t numbers = x->l.k * (1 + (x->l.view.type == 'z'));
    const int e = (int)rng_between(r, -60, 60);

    if (kind == HALVES || kind == TURNS || kind == LONE) {
        const int16_t *shift = x->l.view.shift;

        x->l.view.shift = NULL; /* the residuals are those of unshifted numbers */
        set_halves(r, x, kind, numbers, e, s);
        x->l.view.shift = shift;
    } else {
        for (int64_t i = 0; i < numbers; i++)
            x->x[i] = random_number(r, kind, e);
        if (kind == GIANT || kind == SPARSE || kind == TINY)
            x->x[rng_below(r, (uint64_t)numbers)] = ldexp(odd_mantissa(r), kind == TINY ? -1022 : e);
    }
    measure(x, s);
}

/* z = RN_int(x), ties to even */
static void round_ext(mpz_t q, const struct ext *x)
{
    if (x->e >= 0) {
        mpz_mul_2exp(q, x->z, (mp_bitcnt_t)x->e);
        return;
    }
    mpz_set_ui(z, 1);
    mpz_mul_2exp(z, z, (mp_bitcnt_t)(-x->e - 1));
    mpz_add(z, z, x->z); /* floor(x + 1/2), one less if that was a tie and is odd */
    mpz_fdiv_q_2exp(q, z, (mp_bitcnt_t)-x->e);
    if (mpz_odd_p(q) && mpz_divisible_2exp_p(z, (mp_bitcnt_t)-x->e))
        mpz_sub_ui(q, q, 1);
}

/* Number i of a line, with its shift: exactly, and what the split keeps of it in units of 2^-d. */
static void element(const line *x, int64_t i, struct ext *exact, struct ext *kept)
{
    const int64_t p = x->l.view.type == 'z' ? i / 2 : i;

    ext_set_double(exact, x->x[i]);
    ext_shift(exact, x->l.view.shift ? x->shift[p] : 0);
    ext_set(kept, exact);
    ext_shift(kept, x->d);
    round_ext(kept->z, kept);
    kept->e = 0;
}

/* z = ceil(|x|) */
static void ceil_size(const struct ext *x)
{
    mpz_abs(z, x->z);
    if (x->e >= 0)
        mpz_mul_2exp(z, z, (mp_bitcnt_t)x->e);
    else
        mpz_cdiv_q_2exp(z, z, (mp_bitcnt_t)-x->e);
}

static uint32_t floor_of(const line *x, int64_t i)
{
    const int complex_ = x->l.view.type == 'z', shift = x->l.view.shift ? x->shift[complex_ ? i / 2 : i] : 0;

    return ozg_floor(bits_of_double(x->x[i]), OZG_FLOOR_BITS(complex_) - x->e + shift);
}

static void add_term(sums *to, int64_t i, int64_t j, int negate)
{
    struct ext kept[2];

    for (int q = 0; q < 2; q++)
        ext_init(&kept[q]);
    element(&side[0], i, &t, &kept[0]);
    element(&side[1], j, &u, &kept[1]);
    ext_mul(&t, &u);
    ext_mul(&kept[0], &kept[1]);
    if (negate) {
        ext_neg(&t);
        ext_neg(&kept[0]);
    }
    ext_add(&to->ab, &t);
    ext_add(&to->hat, &kept[0]);
    ext_abs(&t);
    ext_abs(&kept[0]);
    ext_add(&to->magnitude, &t);
    ext_add(&to->hat_size, &kept[0]);
    to->floors += (int64_t)floor_of(&side[0], i) * floor_of(&side[1], j);
    for (int q = 0; q < 2; q++)
        ext_clear(&kept[q]);
}

static void compute_sums(void)
{
    const int complex_ = side[0].l.view.type == 'z';

    for (int part = 0; part < 2; part++) {
        sums *to = &component[part];
        struct ext *all[4] = {&to->ab, &to->hat, &to->magnitude, &to->hat_size};

        for (int q = 0; q < 4; q++) {
            mpz_set_ui(all[q]->z, 0);
            all[q]->e = 0;
        }
        to->floors = 0;
    }
    for (int64_t p = 0; p < side[0].l.k; p++)
        if (complex_) {
            add_term(&component[0], 2 * p, 2 * p, 0);
            add_term(&component[0], 2 * p + 1, 2 * p + 1, 1);
            add_term(&component[1], 2 * p, 2 * p + 1, 0);
            add_term(&component[1], 2 * p + 1, 2 * p, 0);
        } else {
            add_term(&component[0], p, p, 0);
        }
}

/* N, the 1-norm and the largest residual, and the places, number by number. */
static void check_measured(const line *x)
{
    const int64_t parts = 1 + (x->l.view.type == 'z'), length = x->l.k * parts;
    const int nu = ozg_norm_bits((uint64_t)length), c = ozg_bound_unit((uint64_t)length);
    uint64_t squares = 0, sum = 0, largest = 0, places[WORDS] = {0};
    struct ext kept;

    ext_init(&kept);
    for (int64_t i = 0; i < length; i++) {
        element(x, i, &t, &kept);
        ext_set(&u, &t);
        ext_shift(&u, nu - x->e);
        ceil_size(&u);
        squares += mpz_low64(z) * mpz_low64(z);
        ext_shift(&t, x->d);
        ext_neg(&kept);
        ext_add(&t, &kept);
        ext_shift(&t, 16);
        ceil_size(&t);
        sum += mpz_low64(z);
        largest = mpz_low64(z) > largest ? mpz_low64(z) : largest;
        places[i / parts / 64] |= (uint64_t)(mpz_sgn(z) != 0) << (i / parts % 64);
    }
    ext_clear(&kept);
    assert_true(squares == x->squares);
    assert_true(x->f[3] == ozg_ceil_shift(sum, c) && x->f[5] == ozg_ceil_shift(largest, c));
    assert_memory_equal(places, x->places, (size_t)x->l.words * sizeof *places);
}

/* Q(s) by GMP */
static void set_limit(int s)
{
    const ozg_moduli_set *set = ozg_moduli_get(s);

    mpz_set_ui(quotient_limit, 1);
    for (int l = 0; l < set->nmod; l++)
        mpz_mul_ui(quotient_limit, quotient_limit, set->m[l]);
    mpz_fdiv_q_2exp(z, quotient_limit, 6);
    mpz_fdiv_q_2exp(quotient_limit, quotient_limit, 1);
    mpz_sub(quotient_limit, quotient_limit, z);
}

/* x := what the bound says, in units of c^ */
static void set_bound(struct ext *x, uint64_t *bound)
{
    const ozg_factors a = ozg_factors_of(&side[0].l, 0), b = ozg_factors_of(&side[1].l, 0);
    const uint64_t length = (uint64_t)side[0].l.k * (1 + (side[0].l.view.type == 'z'));

    *bound = ozg_bound(&a, &b);
    mpz_set_u64(z, *bound);
    ext_set_mpz(x, z, (a.w > b.w ? a.w : b.w) + 2L * ozg_bound_unit(length) - 32);
}

/* Safety, (5.1) and (6.1) for one component. Returns |error| / bound. */
static double check_component(const sums *c)
{
    const int b = OZG_FLOOR_BITS(side[0].l.view.type == 'z');
    uint64_t bound;
    double ratio;

    ext_set_mpz(&t, quotient_limit, 0);
    assert_true(ext_cmp(&c->hat_size, &t) <= 0);
    ext_set(&u, &c->hat); /* the error in units of c^, times 1 + 2^-24 */
    ext_neg(&u);
    ext_set(&t, &c->ab);
    ext_shift(&t, side[0].d + side[1].d);
    ext_add(&u, &t);
    ext_abs(&u);
    ext_set(&t, &u);
    ext_shift(&t, -24);
    ext_add(&u, &t);
    set_bound(&v, &bound);
    assert_true(ext_cmp(&u, &v) <= 0);
    assert_true(bound != 0 || ext_sign(&u) == 0);
    ratio = bound ? ext_round(&u, 0) / ext_round(&v, 0) : 0;
    mpz_set_u64(z, (uint64_t)c->floors);
    ext_set_mpz(&t, z, side[0].e + side[1].e - 2L * b);
    assert_true(ext_cmp(&t, &c->magnitude) <= 0);
    return ratio;
}

/* ---- acceptance and repair ---------------------------------------------------------------------- */

static void value_of_hat(ozg_value *value, const sums *c)
{
    memset(value, 0, sizeof *value);
    mpz_mul_2exp(z, c->hat.z, (mp_bitcnt_t)c->hat.e);
    value->z.n = OZG_INT_WORDS;
    value->z.neg = mpz_sgn(z) < 0;
    mpz_export(value->z.w, NULL, -1, 8, 0, 0, z);
    value->x = -side[0].d - side[1].d;
}

/* to := (alpha ab + beta c) of a component, or the sum of the absolute values, or that for A and B alone. */
static void set_expression(struct ext *to, const double *alpha, const double *beta, const double *c, int part,
                           int complex_, int absolute)
{
    mpz_set_ui(to->z, 0);
    to->e = 0;
    for (int q = 0; q <= complex_; q++) {
        const sums *ab = &component[part ^ q];

        ext_set_double(&t, alpha[q]);
        ext_mul(&t, absolute ? &ab->magnitude : &ab->ab);
        ext_set_double(&u, beta[q]);
        ext_set_double(&v, c[part ^ q]);
        ext_mul(&u, &v);
        if (absolute) {
            ext_abs(&t);
            ext_abs(&u);
        } else if (q && !part) {
            ext_neg(&t);
            ext_neg(&u);
        }
        ext_add(to, &t);
        ext_add(to, &u);
    }
}

/* abs(result - exact) <= (F + 1) u size + eta */
static void check_native(const struct ext *exact, struct ext *size, double result, int single)
{
    ext_set_double(&t, result);
    ext_set(&u, exact);
    ext_neg(&u);
    ext_add(&t, &u);
    ext_abs(&t);
    mpz_set_ui(z, ozg_native_factor(side[0].l.k) + 1);
    ext_set_mpz(&u, z, single ? -24 : -53);
    ext_mul(&u, size);
    mpz_set_ui(z, 1);
    ext_set_mpz(&v, z, single ? -150 : -1075);
    ext_add(&u, &v);
    assert_true(ext_cmp(&t, &u) <= 0);
}

/* (7.3) for a component, with the leading bits of c^, sometimes fewer of them */
static int passes_value(struct rng *r, const sums *to, uint64_t bound, int single, int c, int32_t most)
{
    int32_t q;

    mpz_abs(z, to->hat.z);
    mpz_mul_2exp(z, z, (mp_bitcnt_t)to->hat.e);
    q = (int32_t)mpz_sizeinbase(z, 2) - (int32_t)rng_between(r, 30, 47);
    q = q > 0 ? q : 0;
    mpz_fdiv_q_2exp(z, z, (mp_bitcnt_t)q);
    return ozg_bound_passes_value(bound, ozg_native_factor(side[0].l.k), mpz_low64(z), q, single, c, most);
}

static int passes(struct rng *r, int single, int complex_)
{
    const ozg_factors a = ozg_factors_of(&side[0].l, 0), b = ozg_factors_of(&side[1].l, 0);
    const int c = ozg_bound_unit((uint64_t)side[0].l.k * (1 + (uint64_t)complex_));
    const uint64_t bound = ozg_bound(&a, &b);
    int pass = 1;

    for (int part = 0; part <= complex_; part++)
        pass &=
            ozg_bound_passes(bound, ozg_native_factor(side[0].l.k), (uint32_t)(component[part].floors >> c),
                             single, complex_, c, a.w < b.w ? a.w : b.w) ||
            passes_value(r, &component[part], bound, single, c, a.w < b.w ? b.w : a.w);
    return pass;
}

static double random_scalar(struct rng *r)
{
    switch (rng_below(r, 4)) {
    case 0:
        return 0;
    case 1:
        return ldexp(rng_below(r, 2) ? 1 : -1, (int)rng_between(r, -5, 5));
    default:
        return (rng_below(r, 2) ? 1 : -1) *
               (double)(float)ldexp(odd_mantissa(r), (int)rng_between(r, -60, 60));
    }
}

static double result_of(const void *c, int single, int part)
{
    return single ? (double)((const float *)c)[part] : ((const double *)c)[part];
}

/* The entry with random scalars: native grade if it passes; its repair is RN. Returns whether it passes. */
static int check_entry(struct rng *r, int single, int complex_)
{
    ozg_stage st;
    ozg_value ab[2];
    double alpha[2] = {1, 0}, beta[2] = {0, 0}, old[2];
    union {
        float f[2];
        double d[2];
    } stay, repaired;
    struct ext exact, size;
    const int pass = passes(r, single, complex_);

    ext_init(&exact);
    ext_init(&size);
    memset(&st, 0, sizeof st);
    st.scalars.single = single;
    st.scalars.complex_ = complex_;
    for (int q = 0; q < 2; q++) {
        alpha[q] = q && !complex_ ? 0 : random_scalar(r);
        beta[q] = q && !complex_ ? 0 : random_scalar(r);
        st.scalars.alpha[q] = ozg_scalar_of(alpha[q]);
        st.scalars.beta[q] = ozg_scalar_of(beta[q]);
        value_of_hat(&ab[q], &component[complex_ ? q : 0]);
        old[q] = random_scalar(r);
        if (single)
            stay.f[q] = (float)old[q];
        else
            stay.d[q] = old[q];
        old[q] = result_of(&stay, single, q);
    }
    repaired = stay;
    ozg_entry_update(&st.scalars, ab, &stay, 0);
    ozg_cpu_repair(&st, &side[0].l, 0, &side[1].l, 0, ab, &repaired, 0);
    for (int part = 0; part <= complex_; part++) {
        const double result = result_of(&stay, single, part), expected = result_of(&repaired, single, part);

        set_expression(&exact, alpha, beta, old, part, complex_, 0);
        set_expression(&size, alpha, beta, old, part, complex_, 1);
        assert_true(bits_of_double(ext_round(&exact, single)) == bits_of_double(expected));
        if (pass && fabs(result) <= 0x1.fffffffffffffp1023)
            check_native(&exact, &size, result, single);
    }
    ext_clear(&exact);
    ext_clear(&size);
    return pass;
}

/* ---- tests -------------------------------------------------------------------------------------- */

/* Fills both lines; returns the number of moduli. */
static int random_pair(struct rng *r, char type, int shifted)
{
    const int64_t k = (int64_t)rng_between(r, 1, rng_below(r, 3) ? 6 : MOST),
                  reach = rng_below(r, 2) ? 512 : 20;
    const int least = ozg_scaling_least((uint64_t)k * (1 + (type == 'z')));
    const int s =
        rng_below(r, 4) == 0 ? least : (int)rng_between(r, least, rng_below(r, 3) ? 18 : OZG_NMOD_MAX);

    for (int64_t p = 0; p < k; p++) {
        shift_memory[0][p] = (int16_t)rng_between(r, -reach, reach);
        shift_memory[1][p] = (int16_t)-shift_memory[0][p];
    }
    for (int q = 0; q < 2; q++) {
        open_line(&side[q], q, k, type, shifted);
        do
            fill_line(r, &side[q], (enum kind)rng_below(r, KINDS), s);
        while (side[q].e == OZG_E_NONE);
    }
    return s;
}

static void check_pairs(struct rng *r, int count, char type, int shifted)
{
    int passed = 0;

    for (int i = 0; i < count; i++) {
        const int complex_ = type == 'z';

        set_limit(random_pair(r, type, shifted));
        check_measured(&side[0]);
        check_measured(&side[1]);
        compute_sums();
        for (int part = 0; part <= complex_; part++)
            check_component(&component[part]);
        passed += check_entry(r, i % 2, complex_);
    }
    assert_in_range(passed, count / 20, count - count / 20); /* both happen */
}

static void test_real(void **state)
{
    struct rng r = {1};

    (void)state;
    check_pairs(&r, 2000, 'd', 0);
}

static void test_complex(void **state)
{
    struct rng r = {2};

    (void)state;
    check_pairs(&r, 800, 'z', 0);
}

static void test_shifted(void **state)
{
    struct rng r = {3};

    (void)state;
    check_pairs(&r, 1000, 'd', 1);
    check_pairs(&r, 400, 'z', 1);
}

/* Residuals rho of row A and numbers of column B for which one of the three products of norms is sharp. */
static void set_sharp(struct rng *r, int which, int s)
{
    const int64_t k = 40;

    for (int q = 0; q < 2; q++) {
        open_line(&side[q], q, k, 'd', 0);
        fill_line(r, &side[q], q ? POWERS : which == 1 ? LONE : HALVES, s);
    }
    for (int64_t p = 0; p < k; p++)
        switch (which) {
        case 0: /* largest rho times 1-norm of b */
            memory[1][p] = p % 2 ? 1 : 0.25;
            break;
        case 1: /* 1-norm of rho times largest b: one rho, which meets it */
            memory[1][p] = p == 1 ? 1 : 0.75;
            break;
        default: /* 2-norms: rho and b parallel */
            memory[1][p] = p == 0 ? 0 : p % 2 ? 1 : 0.5;
            memory[0][p] = p % 2 || p == 0 ? memory[0][p] : ldexp(0.25, -side[0].d);
        }
    if (which != 1)
        memory[1][0] = 0;
    for (int q = 0; q < 2; q++)
        measure(&side[q], s);
}

static void test_bound_is_reached(void **state)
{
    struct rng r = {4};

    (void)state;
    for (int i = 0; i < 60; i++) {
        const int s = 12 + i % 20;

        set_limit(s);
        set_sharp(&r, i % 3, s);
        compute_sums();
        assert_true(side[0].f[5] == 1 << 15 && side[1].f[5] == 0);
        assert_true(check_component(&component[0]) > 0.98);
    }
}

/* k' above 2^16: units of 2^(c - 16) with c > 0. */
static void test_long(void **state)
{
    struct rng r = {5};
    const enum kind kind[3] = {HALVES, MAXIMA, UNIFORM};

    (void)state;
    for (int i = 0; i < 3; i++) {
        const int s = i == 1 ? ozg_scaling_least(LONG) : 14;

        set_limit(s);
        for (int q = 0; q < 2; q++) {
            open_line(&side[q], q, LONG, 'd', 0);
            fill_line(&r, &side[q], kind[q ? (i == 2 ? 2 : 1) : i], s);
        }
        compute_sums();
        check_component(&component[0]);
        check_entry(&r, 0, 0);
        check_entry(&r, 1, 0);
    }
}

/* The smallest s of a length, all numbers the largest: N = 4^nu k', and one modulus less would not do. */
static void test_least(void **state)
{
    (void)state;
    for (uint64_t length = 1; length < UINT64_C(1) << 34; length += 1 + length / 64) {
        const int s = ozg_scaling_least(length);

        for (int less = 0; less < 2 && s - less >= OZG_NMOD_MIN; less++) {
            set_limit(s - less);
            mpz_set_u64(z, length);
            mpz_mul_2exp(z, z, (mp_bitcnt_t)(2 * ozg_norm_bits(length)));
            assert_true((mpz_cmp(z, quotient_limit) <= 0) == !less);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_real),    cmocka_unit_test(test_complex),
        cmocka_unit_test(test_shifted), cmocka_unit_test(test_bound_is_reached),
        cmocka_unit_test(test_long),    cmocka_unit_test(test_least),
    };
    struct ext *all[3] = {&t, &u, &v};

    mpz_inits(z, quotient_limit, NULL);
    for (int i = 0; i < 3; i++)
        ext_init(all[i]);
    for (int part = 0; part < 2; part++) {
        ext_init(&component[part].ab);
        ext_init(&component[part].hat);
        ext_init(&component[part].magnitude);
        ext_init(&component[part].hat_size);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
