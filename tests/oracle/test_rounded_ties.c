/*
 * test_rounded_ties.c - ozg_rounded() where rounding is hardest, made on purpose: alpha AB + beta C is a tie,
 * a tie off by the smallest possible amount or by any power of two, an exact zero or just beside it, in the
 * subnormals, at overflow, at a power of two.
 *
 * Each entry gets the exact value it is meant to have: behind an inner part of ordinary numbers ("noise",
 * which is rounded when it is scaled), the inner dimension has slots that belong to one component each. A
 * slot holds a power of two in B and an integer times a power of two in A; slots add what is missing between
 * the noise and the target.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "accuracy.h"
#include "fixture.h"

static const char types[] = {'s', 'd', 'c', 'z'};

enum { M = 3, N = 2, NOISE = 11, SLOTS = 24, LARGEST_K = NOISE + M * N * 2 * SLOTS };

static int open_all(void **state)
{
    (void)state;
    return fixture_open((size_t)LARGEST_K * M * 16 + 4096, 1);
}

/* A product under construction: slots in use of each component. */
struct planted {
    struct gemm g;
    struct rng r;
    int used[M * N * 2];
};

static int precision(const struct gemm *g)
{
    return type_is_single(g->type) ? 24 : 53;
}

/* Exponent of the smallest number, and of the unit in the last place of the largest. */
static int lowest(const struct gemm *g)
{
    return type_is_single(g->type) ? -149 : -1074;
}

static int highest_unit(const struct gemm *g)
{
    return type_is_single(g->type) ? 104 : 971;
}

/* op(X)(i, j) := value, which 'C' conjugates */
static void set(const struct view *v, int64_t i, int64_t j, int part, double value)
{
    const int conjugated = part == 1 && (v->trans == 'C' || v->trans == 'c');

    number_set(v->type, (void *)(uintptr_t)v->x, view_index(v, i, j, part), conjugated ? -value : value);
}

/* Multiply the noise of op(A) ('A') or op(B) by 2^scale. */
static void scale_noise(const struct view *v, char side, int64_t lines, int scale)
{
    for (int64_t q = 0; q < lines * NOISE * type_parts(v->type); q++) {
        const int part = (int)(q % type_parts(v->type));
        const int64_t line = q / type_parts(v->type) % lines, x = q / type_parts(v->type) / lines;
        const int64_t i = side == 'A' ? line : x, j = side == 'A' ? x : line;

        set(v, i, j, part, ldexp(view_get(v, i, j, part), scale));
    }
}

/* Zeros everywhere, noise of a family times 2^scale in the first NOISE places of the inner dimension. */
static void planted_open(struct planted *p, char type, const char trans[2], enum family noise, int scale,
                         int q)
{
    *p = (struct planted){{type, trans[0], trans[1], M, N, 0, {1, 0}, {0, 0}, NULL, 0, NULL, 0, NULL, 0},
                          {(uint64_t)q + 77},
                          {0}};
    p->g.k = NOISE + M * N * type_parts(type) * SLOTS;
    gemm_layout(&p->g, &arena, (struct padding){q % 2, 0, 1}, 1);
    {
        const struct view a = gemm_view_a(&p->g), b = gemm_view_b(&p->g);

        for (int64_t x = 0; x < p->g.k; x++)
            for (int part = 0; part < type_parts(type); part++) {
                for (int64_t i = 0; i < M; i++)
                    set(&a, i, x, part, 0);
                for (int64_t j = 0; j < N; j++)
                    set(&b, x, j, part, 0);
            }
        family_fill(noise, &p->r, &a, 'A', M, NOISE, (void *)(uintptr_t)p->g.a);
        family_fill(noise, &p->r, &b, 'B', NOISE, N, (void *)(uintptr_t)p->g.b);
        scale_noise(&a, 'A', M, scale);
        scale_noise(&b, 'B', N, scale);
    }
    for (int64_t x = 0; x < M * N * type_parts(type); x++)
        number_set(type, p->g.c,
                   (x / type_parts(type) % M + x / type_parts(type) / M * p->g.ldc) * type_parts(type) +
                       x % type_parts(type),
                   0);
}

/* Add one piece, at most the precision of the type in bits, to a component of op(A) op(B). */
static void add_piece(struct planted *p, struct component at, const mpz_t piece, long exponent)
{
    const struct view a = gemm_view_a(&p->g), b = gemm_view_b(&p->g);
    const int64_t q = (at.i + at.j * M) * type_parts(p->g.type) + at.part;
    const int64_t slot = NOISE + q * SLOTS + p->used[q]++;
    const long of_b = exponent / 2;

    assert_true(p->used[q] <= SLOTS);
    set(&a, at.i, slot, at.part, ldexp(mpz_get_d(piece), (int)(exponent - of_b)));
    set(&b, slot, at.j, 0, ldexp(1, (int)of_b));
}

/* Add x to a component of op(A) op(B), exactly. */
static void add(struct planted *p, struct component at, const struct ext *x)
{
    const mp_bitcnt_t bits = (mp_bitcnt_t)precision(&p->g);
    struct ext rest;
    mpz_t piece;

    ext_init(&rest);
    ext_set(&rest, x);
    mpz_init(piece);
    while (mpz_sgn(rest.z) != 0) {
        mp_bitcnt_t zeros = mpz_scan1(rest.z, 0);

        mpz_tdiv_q_2exp(rest.z, rest.z, zeros);
        rest.e += (long)zeros;
        mpz_tdiv_r_2exp(piece, rest.z, bits);
        add_piece(p, at, piece, rest.e);
        mpz_sub(rest.z, rest.z, piece);
    }
    mpz_clear(piece);
    ext_clear(&rest);
}

/* Make op(A) op(B) zero: subtract the noise. */
static void cancel_noise(struct planted *p)
{
    struct exact exact;

    exact_open(&exact, &p->g);
    for (int64_t q = 0; q < component_count(&p->g); q++) {
        struct ext *x = &exact.product.ab[q];

        ext_neg(x);
        add(p, component_at(&p->g, q), x);
    }
    exact_close(&exact);
}

/* Is x half way between two neighbours? Then the least amount to either side decides. */
static int is_tie(const struct ext *x, int single)
{
    struct ext side, least;
    double above, below;

    ext_init(&side);
    ext_init(&least);
    ext_set_double(&least, 1);
    ext_shift(&least, -6000);
    ext_set(&side, x);
    ext_add(&side, &least);
    above = ext_round(&side, single);
    ext_neg(&least);
    ext_set(&side, x);
    ext_add(&side, &least);
    below = ext_round(&side, single);
    ext_clear(&side);
    ext_clear(&least);
    return above != below;
}

/*
 * Compare with the exact product on every kernel, with the moduli chosen and given. Returns the ties in it.
 */
static int check(const struct planted *p, int q)
{
    struct exact exact;
    struct ext value;
    void *expected;
    ozg_report report;
    int ties = 0;

    ext_init(&value);
    exact_open(&exact, &p->g);
    expected = exact_image(&exact);
    for (int64_t n = 0; n < component_count(&p->g); n++) {
        const struct component at = component_at(&p->g, n);

        oracle_value(&exact.product, p->g.c, at.i, at.j, at.part, &value);
        ties += is_tie(&value, type_is_single(p->g.type));
    }
    for (int kernel = 0; kernel < kernels.count; kernel++) {
        assert_true(accuracy_same(kernels.ctx[kernel], &p->g, ozg_rounded(), expected, &report, "rounded"));
        assert_true(report_holds(&exact, p->g.c, expected, &report, "rounded"));
    }
    for (int s = 0; s < 4; s++) {
        static const int moduli[] = {6, 13, 17, 49};

        assert_true(accuracy_same(kernels.ctx[(s + q) % kernels.count], &p->g,
                                  ozg_with_moduli(ozg_rounded(), moduli[s]), expected, NULL, "given moduli"));
    }
    free(expected);
    exact_close(&exact);
    ext_clear(&value);
    return ties;
}

/* Where ties are planted. */
enum place { ORDINARY, BELOW_POWER, AT_POWER, SUBNORMAL, TINY, AT_OVERFLOW, ZERO, PLACES };

/* tie := an odd multiple of half a unit in the last place, or 0, of either sign. */
static void choose_tie(struct planted *p, enum place place, struct ext *tie)
{
    const int digits = precision(&p->g);
    const uint64_t top = UINT64_C(1) << (digits - 1);
    uint64_t n = top + rng_below(&p->r, top); /* the tie is n + 1/2 units */
    long unit = rng_between(&p->r, -40, 20);

    if (place == BELOW_POWER)
        n = 2 * top - 1;
    if (place == AT_POWER) /* just above the power: between it and its upper neighbour */
        n = top;
    if (place == SUBNORMAL || place == TINY)
        n = place == TINY ? rng_below(&p->r, 3) : rng_below(&p->r, top);
    if (place == AT_OVERFLOW)
        n = 2 * top - 1;
    if (place == SUBNORMAL || place == TINY)
        unit = lowest(&p->g);
    if (place == AT_OVERFLOW)
        unit = highest_unit(&p->g);
    mpz_set_ui(tie->z, place == ZERO ? 0 : 2 * n + 1);
    tie->e = unit - 1;
    tie->kind = EXT_FINITE;
    if (rng_next(&p->r) & 1)
        ext_neg(tie);
}

/* x := +-2^n, or 0 */
static void set_power(struct ext *x, int sign, long n)
{
    ext_set_double(x, sign);
    ext_shift(x, n);
}

/* A target: a tie, and what it is off by. They stay apart, lest a gap between them fill with ones. */
struct target {
    struct ext tie, off;
};

static void target_init(struct target *t)
{
    ext_init(&t->tie);
    ext_init(&t->off);
}

static void target_clear(struct target *t)
{
    ext_clear(&t->tie);
    ext_clear(&t->off);
}

/*
 * Target of component q: off by nothing, by the least amount that a product can be, or by some power of two.
 */
static int choose_target(struct planted *p, enum place place, int q, struct target *t)
{
    static const int sign[] = {0, 1, -1, 1, -1, 0};
    const long least = 2 * (long)lowest(&p->g) + 2; /* alpha may be 4 */
    long from;

    choose_tie(p, place, &t->tie);
    from = t->tie.e - 1;
    set_power(&t->off, sign[q % 6],
              q % 6 < 3 ? least
                        : rng_between(&p->r, place == ZERO || from - 150 < least ? least : from - 150, from));
    return sign[q % 6] == 0;
}

/* beta C, exactly, of one component. */
static void scaled_c(const struct gemm *g, struct component at, struct ext *out)
{
    struct gemm alone = *g;
    struct ext zero[2];
    const struct oracle o = {&alone, ORACLE_EXACT, 1, NULL, NULL, zero};

    ext_init(&zero[0]);
    ext_init(&zero[1]);
    alone.m = alone.n = 1;
    oracle_value(&o, (const char *)g->c + (size_t)(at.i + at.j * g->ldc) * type_bytes(g->type), 0, 0, at.part,
                 out);
    ext_clear(&zero[0]);
    ext_clear(&zero[1]);
}

/* alpha = +-2^x, or +-2^x i: op(A) op(B) := (target - beta C) / alpha. */
static void aim(struct planted *p, struct component at, const struct target *t)
{
    const struct gemm *g = &p->g;
    const int turned = g->alpha[0] == 0; /* Re = -alpha_i Im, Im = alpha_i Re */
    const double factor = turned ? g->alpha[1] : g->alpha[0];
    const struct component to = {at.i, at.j, turned ? 1 - at.part : at.part};
    const int negate = (factor < 0) ^ (turned && at.part == 0);
    struct ext missing;

    ext_init(&missing);
    for (int q = 0; q < 3; q++) {
        if (q == 0)
            scaled_c(g, at, &missing);
        else
            ext_set(&missing, q == 1 ? &t->tie : &t->off);
        ext_shift(&missing, -ilogb(factor));
        if (negate ^ (q == 0))
            ext_neg(&missing);
        add(p, to, &missing);
    }
    ext_clear(&missing);
}

static void fill_c(struct planted *p, int scale)
{
    const int parts = type_parts(p->g.type);
    struct view v = {p->g.type, 'N', p->g.c, p->g.ldc};

    family_fill(FAMILY_UNIFORM, &p->r, &v, 'C', M, N, p->g.c);
    for (int64_t q = 0; q < M * N * parts; q++) {
        int64_t at = (q / parts % M + q / parts / M * p->g.ldc) * parts + q % parts;

        number_set(p->g.type, p->g.c, at, ldexp(number_get(p->g.type, p->g.c, at), scale));
    }
}

static const enum family noises[] = {FAMILY_UNIFORM, FAMILY_INTEGERS, FAMILY_PHI4, FAMILY_INSIDE};

/*
 * The power of two that brings noise to the size of the numbers at this place: errors of scaling decide
 * there.
 */
static int noise_scale(enum place place, char type)
{
    const int single = type_is_single(type);

    if (place == SUBNORMAL || place == TINY)
        return single ? -65 : -520;
    if (place == AT_OVERFLOW)
        return single ? 50 : 490;
    return 0;
}

/* alpha a power of two; beta 0, a power of two or general; every place, every noise. */
static void planted_ties(void **state)
{
    static const double betas[][2] = {{0, 0}, {-0.5, 0}, {1.0 / 3, 0.7}};
    static const double alphas[] = {1, -4, 0.25};

    (void)state;
    for (int q = 0; q < 4 * PLACES * 4 * 3; q++) {
        const enum place place = (enum place)(q / 4 % PLACES);
        const int ways = q / 4 / PLACES;
        struct planted p;
        struct target target;
        int ties = 0;

        target_init(&target);
        planted_open(&p, types[q % 4], q % 3 ? "TN" : "NC", noises[ways % 4],
                     q / 3 % 2 ? noise_scale(place, types[q % 4]) : 0, q);
        p.g.alpha[q / 8 % 2 && type_is_complex(p.g.type)] = alphas[(q + ways) % 3];
        if (p.g.alpha[1] != 0)
            p.g.alpha[0] = 0;
        for (int part = 0; part < type_parts(p.g.type); part++)
            p.g.beta[part] =
                type_is_single(p.g.type) ? (double)(float)betas[ways / 4][part] : betas[ways / 4][part];
        if (p.g.beta[0] != 0)
            fill_c(&p, place == SUBNORMAL || place == TINY ? lowest(&p.g) / 2 : 0);
        cancel_noise(&p);
        for (int64_t n = 0; n < component_count(&p.g); n++) {
            ties += choose_target(&p, place, (int)n + q, &target);
            aim(&p, component_at(&p.g, n), &target);
        }
        if (check(&p, q) != (place == ZERO ? 0 : ties))
            fail_msg("product %d: %d ties were planted", q, ties);
        target_clear(&target);
    }
}

/* An odd integer of just so many bits, signed. */
static void odd_integer(struct rng *r, mpz_t z, int bits)
{
    const uint64_t top = UINT64_C(1) << (bits - 1);

    mpz_set_ui(z, (top + rng_below(r, top)) | 1);
    if (rng_next(r) & 1)
        mpz_neg(z, z);
}

/*
 * General alpha and beta, integers of full precision, and C too. With x = alpha^-1 (2^q - beta C) mod
 * 2^(q+1), alpha x + beta C is an odd multiple of 2^q; it is a tie if it has precision + 1 bits above 2^q,
 * which a random C soon gives. Complex: the same among the Gaussian integers, alpha^-1 = conj(alpha) /
 * |alpha|^2 with |alpha|^2 odd.
 */
struct integers {
    mpz_t alpha[2], beta[2], c[2], x[2], value[2], t, norm;
};

static void integers_init(struct integers *n)
{
    for (int part = 0; part < 2; part++)
        mpz_inits(n->alpha[part], n->beta[part], n->c[part], n->x[part], n->value[part], NULL);
    mpz_inits(n->t, n->norm, NULL);
}

static void integers_clear(struct integers *n)
{
    for (int part = 0; part < 2; part++)
        mpz_clears(n->alpha[part], n->beta[part], n->c[part], n->x[part], n->value[part], NULL);
    mpz_clears(n->t, n->norm, NULL);
}

/* out += (-1)^negate (u v), complex; conjugate: of u */
static void add_complex_product(mpz_t out[2], mpz_t u[2], mpz_t v[2], int conjugate)
{
    mpz_addmul(out[0], u[0], v[0]);
    mpz_addmul(out[1], u[0], v[1]);
    if (conjugate) {
        mpz_addmul(out[0], u[1], v[1]);
        mpz_submul(out[1], u[1], v[0]);
    } else {
        mpz_submul(out[0], u[1], v[1]);
        mpz_addmul(out[1], u[1], v[0]);
    }
}

/* x for this C; 1 if all parts of alpha x + beta C are ties. */
static int solve(struct integers *n, struct rng *r, int parts, int digits, mp_bitcnt_t q)
{
    int ties = 1;
    mpz_t rest[2];

    mpz_inits(rest[0], rest[1], NULL);
    for (int part = 0; part < 2; part++)
        mpz_set_ui(n->value[part], 0);
    add_complex_product(n->value, n->beta, n->c, 0);
    for (int part = 0; part < parts; part++) {
        mpz_setbit(rest[part], q);
        mpz_sub(rest[part], rest[part], n->value[part]);
    }
    mpz_mul(n->norm, n->alpha[0], n->alpha[0]);
    mpz_addmul(n->norm, n->alpha[1], n->alpha[1]);
    mpz_set_ui(n->t, 0);
    mpz_setbit(n->t, q + 1);
    assert_true(mpz_invert(n->norm, n->norm, n->t));
    mpz_set_ui(n->x[0], 0);
    mpz_set_ui(n->x[1], 0);
    add_complex_product(n->x, n->alpha, rest, 1);
    for (int part = 0; part < parts; part++) {
        mpz_mul(n->x[part], n->x[part], n->norm);
        mpz_mod(n->x[part], n->x[part], n->t);
        if (rng_next(r) & 1)
            mpz_sub(n->x[part], n->x[part], n->t);
    }
    add_complex_product(n->value, n->alpha, n->x, 0);
    for (int part = 0; part < parts; part++)
        ties &= mpz_scan1(n->value[part], 0) == q &&
                mpz_sizeinbase(n->value[part], 2) == q + (mp_bitcnt_t)digits + 1;
    mpz_clears(rest[0], rest[1], NULL);
    return ties;
}

static void general_scalars(void **state)
{
    (void)state;
    for (int q = 0; q < 4 * 12; q++) {
        struct planted p;
        struct integers n;
        int ties = 0;

        integers_init(&n);
        planted_open(&p, types[q % 4], q % 3 ? "NT" : "CN", noises[q / 4 % 4], 0, q);
        const int digits = precision(&p.g), parts = type_parts(p.g.type),
                  scale = (int)rng_between(&p.r, -30, 30);

        odd_integer(&p.r, n.alpha[0], digits);
        odd_integer(&p.r, n.beta[0], digits);
        for (int part = 0; part < parts; part++) {
            if (part == 1) {
                odd_integer(&p.r, n.alpha[1], digits - 1);
                odd_integer(&p.r, n.beta[1], digits - 2);
                mpz_mul_ui(n.alpha[1], n.alpha[1], 2);
            }
            p.g.alpha[part] = ldexp(mpz_get_d(n.alpha[part]), -digits);
            p.g.beta[part] = ldexp(mpz_get_d(n.beta[part]), -digits);
        }
        cancel_noise(&p);
        for (int64_t e = 0; e < M * N; e++) {
            const struct component at = {e % M, e / M, 0};

            do {
                for (int part = 0; part < parts; part++)
                    odd_integer(&p.r, n.c[part], digits);
            } while (!solve(&n, &p.r, parts, digits, (mp_bitcnt_t)digits + 6));
            for (int part = 0; part < parts; part++) {
                const struct component to = {at.i, at.j, part};
                struct ext x;

                ext_init(&x);
                number_set(p.g.type, p.g.c, (at.i + at.j * p.g.ldc) * parts + part,
                           ldexp(mpz_get_d(n.c[part]), scale));
                ext_set_mpz(&x, n.x[part], scale);
                add(&p, to, &x);
                if (e % 3 != 0) { /* off by the least amount, in x: both parts of the value move */
                    set_power(&x, e % 3 == 1 ? 1 : -1, 2 * (long)lowest(&p.g));
                    add(&p, to, &x);
                } else {
                    ties++;
                }
                ext_clear(&x);
            }
        }
        assert_int_equal(check(&p, q), ties);
        integers_clear(&n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_ties),
        cmocka_unit_test(general_scalars),
    };

    return cmocka_run_group_tests(tests, open_all, fixture_close);
}
