/*
 * test_bounds.c - the screens of src/cuda/bounds.cuh, in floats, against the bounds of arith/bound.h, which are
 * integers: never below them, and above by no more than their terms say.
 *
 * with: ozg_cuda_emulated
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <mpfr.h>

#include "emulate.h"
#include "emulate_bounds.h"
#include "rng.h"

/* A row, a column and a number, and what the kernel says of them. */
struct trial {
    ozg_factors line[2];
    int32_t d[2], e[2];
    emulate_bounds_args args;
    emulate_bounds_out out;
    uint64_t bound;        /* E */
    double screen;         /* 2^64 T by the formula */
    int unit, most, least; /* c; widths */
};

static uint32_t up_to(struct rng *r, int bits)
{
    return (uint32_t)(1 + rng_below(r, (UINT64_C(1) << (1 + rng_below(r, (uint64_t)bits))) - 1));
}

/* Norms that may be: exact lines, or lines with little or much that is rounded. */
static void fill_line(struct trial *t, int q, struct rng *r)
{
    ozg_factors *f = &t->line[q];
    const int exact = rng_below(r, 6) == 0;

    f->w = (int32_t)(rng_below(r, 2) ? rng_between(r, 15, 30) : rng_between(r, 15, 177));
    f->x1 = up_to(r, 32);
    f->x2 = up_to(r, 24);
    f->xmax = up_to(r, rng_below(r, 2) ? 16 : 31);
    f->r1 = exact ? 0 : up_to(r, 32);
    f->r2 = exact ? 0 : up_to(r, 24);
    f->rmax = exact ? 0 : up_to(r, 15);
    t->d[q] = (int32_t)rng_between(r, -200, 200);
    t->e[q] = f->w - t->d[q];
}

static void lines_of(struct trial *t, int q)
{
    ozg_factors *f = &t->line[q];
    ozg_cuda_lines *l = q ? &t->args.column : &t->args.row;

    l->count = 1;
    l->d = &t->d[q];
    l->e = &t->e[q];
    l->x1 = &f->x1;
    l->x2 = &f->x2;
    l->xmax = &f->xmax;
    l->r1 = &f->r1;
    l->r2 = &f->r2;
    l->rmax = &f->rmax;
}

/* m(i, j) 2^-w_i of the head of bounds.cuh. */
static double term_of(const ozg_factors *r, const ozg_factors *x)
{
    const double one = (double)r->r2 * (double)x->x2, two = (double)r->r1 * (double)x->xmax;

    return ldexp(one < two ? one : two, -r->w);
}

/* What follows from the lines and the request. */
static void conclude(struct trial *t)
{
    const ozg_factors *a = &t->line[0], *b = &t->line[1];

    lines_of(t, 0);
    lines_of(t, 1);
    t->args.out = &t->out;
    t->unit = ozg_bound_unit(t->args.request.length);
    t->most = a->w > b->w ? a->w : b->w;
    t->least = a->w > b->w ? b->w : a->w;
    t->bound = ozg_bound(a, b);
    t->screen = term_of(a, b) + term_of(b, a) + ldexp((double)a->r2, -a->w) * ldexp((double)b->r2, -b->w) +
                ldexp(4, -a->w) + ldexp(4, -b->w);
    t->screen = ldexp(t->screen, 64);
}

static void fill_trial(struct trial *t, struct rng *r)
{
    memset(t, 0, sizeof *t);
    fill_line(t, 0, r);
    fill_line(t, 1, r);
    t->args.request.kind = OZG_BY_NATIVE;
    t->args.request.single = (int)rng_below(r, 2);
    t->args.request.complex_ = (int)rng_below(r, 2);
    t->args.request.length = rng_below(r, 2) ? 1000 : 1 + rng_below(r, UINT32_MAX);
    t->args.factor = (uint32_t)rng_between(r, 1, 1 << 17);
    conclude(t);
}

static void ask(struct trial *t)
{
    assert_int_equal(ozg_emulated_launch("emulate_bounds", 1, 1, 0, &t->args), OZG_EMULATED_OK);
}

/* ---- the screen --------------------------------------------------------------------------------- */

/* The largest bound as it is reported: its mantissa and exponent, times 2^(2 c - 32 ...) as in kernels. */
static void check_key(const struct trial *t)
{
    const int exponents = t->most + 2 * t->unit - 32 - t->d[0] - t->d[1];
    const double value = ldexp((double)(t->out.key & 0xffffff), (int)(t->out.key >> 24) - OZG_BOUND_KEY);
    const double screen =
        ldexp(t->screen, t->line[0].w + t->line[1].w + 2 * t->unit - 96 - t->d[0] - t->d[1]);

    assert_true(t->out.key > ozg_bound_key(t->bound, exponents));
    assert_true(value <= screen * (1 + 0x1p-14));
}

/* Native grade: the fewest floors that the screen lets pass are enough, and not many more than enough. */
static void check_limit(const struct trial *t)
{
    const int shift = ozg_bound_shift(t->args.request.single, t->args.request.complex_, t->unit);
    const double wanted = ldexp(t->screen, shift - 64) / t->args.factor;
    uint64_t low = 0, high = UINT64_C(1) << 31;

    while (low < high) {
        const uint64_t l = (low + high) / 2;

        if (t->out.screen <= (float)l * t->out.limit)
            high = l;
        else
            low = l + 1;
    }
    if (low == UINT64_C(1) << 31)
        assert_true(wanted > 0x1p30);
    else
        assert_true(low > 0 && (double)low <= wanted * (1 + 0x1p-13) + 1);
    if (low < UINT64_C(1) << 31)
        assert_true(ozg_bound_passes(t->bound, t->args.factor, (uint32_t)low, t->args.request.single,
                                     t->args.request.complex_, t->unit, t->least));
}

static void test_screen(void **state)
{
    struct rng r = {1};

    (void)state;
    for (int q = 0; q < 40000; q++) {
        struct trial t;

        fill_trial(&t, &r);
        ask(&t);
        assert_true(t.out.tested == (t.bound > 0) && t.out.some == t.out.tested);
        assert_int_equal(t.out.widths, t.line[0].w + t.line[1].w);
        assert_true((double)t.out.screen * 65537 / 65536 >= ldexp((double)t.bound, 64 - t.least));
        assert_true(fabs((double)t.out.screen - t.screen) <= t.screen * 0x1p-20);
        if (t.bound)
            check_key(&t);
        check_limit(&t);
    }
}

/* ---- roundings in doubt ------------------------------------------------------------------------- */

/* RN of (top + part / 1024 +- bound) 2^x to p bits, into out. */
static void round_end(mpfr_t out, uint64_t top, int part, const mpq_t bound, int down)
{
    mpq_t c, small;
    mpz_t high;

    mpq_inits(c, small, NULL);
    mpz_init_set_ui(high, (unsigned long)(top >> 32));
    mpz_mul_2exp(high, high, 32);
    mpz_add_ui(high, high, (unsigned long)(top & 0xffffffff));
    mpq_set_z(c, high);
    mpq_set_ui(small, (unsigned long)part, 1024);
    mpq_canonicalize(small);
    mpq_add(c, c, small);
    if (down)
        mpq_sub(c, c, bound);
    else
        mpq_add(c, c, bound);
    mpfr_set_q(out, c, MPFR_RNDN);
    mpz_clear(high);
    mpq_clears(c, small, NULL);
}

/* Both ends of what may be the number round alike. */
static int agrees(const struct trial *t, const mpq_t bound)
{
    const mpfr_prec_t digits = t->args.request.single ? 24 : 53;
    mpfr_t ends[2];
    int same;

    mpfr_inits2(digits, ends[0], ends[1], (mpfr_ptr)NULL);
    round_end(ends[0], t->args.top, t->args.sticky ? 1 : 0, bound, 1);
    round_end(ends[1], t->args.top, t->args.sticky ? 1023 : 0, bound, 0);
    same = mpfr_equal_p(ends[0], ends[1]);
    mpfr_clears(ends[0], ends[1], (mpfr_ptr)NULL);
    return same;
}

/* T in units of the last of 64 bits of the number. */
static double screen_units(const struct trial *t)
{
    return ldexp(t->screen, t->line[0].w + t->line[1].w + 2 * t->unit - 96 + 63 - t->args.exp);
}

/*
 * A number whose distance to the next change of the rounding (or to the power of two below) is about the bound
 * or T, in units of the last of 64 bits, or any; exp: such that the bound is mostly 2^-5 .. 2^41 of them.
 */
static double fill_number(struct trial *t, struct rng *r)
{
    const int cut = t->args.request.single ? 40 : 11, most = t->args.request.single ? 126 : 1022;
    const uint64_t half = UINT64_C(1) << (cut - 1), kept = UINT64_C(1) << 63 | rng_next(r) >> 1;
    double units;
    const uint64_t form = rng_below(r, 4);
    int bits = (int)rng_between(r, -5, 41);
    uint64_t gap;

    if (form == 2) /* also of no importance, and so large that 64 bits do not hold it */
        bits = (int)rng_between(r, -100, 80);
    if (form == 3) /* more than a quarter of the last place */
        bits = cut - 1;
    t->args.exp = t->most + 2 * t->unit - 32 + ozg_bit_length(t->bound) + 63 - bits;
    units = ldexp((double)t->bound, t->most + 2 * t->unit - 32 - t->args.exp + 63);
    gap = (uint64_t)fmin(ceil(form ? units : screen_units(t)), 0x1p62) + rng_below(r, 9);
    gap = gap > 4 ? gap - 4 : 0;
    if (form == 2)
        t->args.top = kept;
    else if (form == 3) /* the lower end lies in the binade below, where places are half as large */
        t->args.top = (UINT64_C(1) << 63) + rng_below(r, (uint64_t)units / 4 + 1);
    else if (rng_below(r, 3) == 0)
        t->args.top = (UINT64_C(1) << 63) + gap;
    else if (gap < half)
        t->args.top = (kept & ~(2 * half - 1)) | (rng_below(r, 2) ? half + gap : half - gap);
    else
        t->args.top = kept;
    t->args.sticky = (int)rng_below(r, 2);
    t->args.exponent = (int32_t)(rng_below(r, 3)   ? rng_between(r, -most, most)
                                 : rng_below(r, 2) ? most - 3 + (int32_t)rng_below(r, 6)
                                                   : 3 - most - (int32_t)rng_below(r, 6)) -
                       t->args.exp;
    return units;
}

static void test_doubt(void **state)
{
    struct rng r = {2};
    int clear = 0, open = 0, far = 0;

    (void)state;
    for (int q = 0; q < 60000; q++) {
        struct trial t;
        mpq_t bound;

        do
            fill_trial(&t, &r);
        while (t.bound == 0);
        const double units = fill_number(&t, &r);
        const int most = t.args.request.single ? 126 : 1022, x = t.args.exp + t.args.exponent;
        const uint64_t half = UINT64_C(1) << (t.args.request.single ? 39 : 10),
                       part = t.args.top & (2 * half - 1);
        const uint64_t gap = part > half ? part - half : half - part,
                       above = t.args.top - (UINT64_C(1) << 63);
        const double slack = screen_units(&t);

        ask(&t);
        mpq_init(bound);
        mpq_set_d(bound, units);
        if (!t.out.doubt)
            assert_true(agrees(&t, bound) && x >= -most && x <= most);
        if (x >= -most && x <= most && slack < 0x1p36 && slack * (1 + 0x1p-14) + 3 < (double)gap &&
            slack * (1 + 0x1p-14) + 3 < (double)above)
            assert_false(t.out.doubt);
        clear += !t.out.doubt;
        open += t.out.doubt;
        far += x < -most || x > most;
        mpq_clear(bound);
    }
    print_message("%d clear, %d in doubt, %d of these out of range\n", clear, open, far);
    assert_true(clear > 10000 && open > 10000 && far > 1000);
}

/*
 * A row without rounded elements and a column of one sum, so that T is (r2 + 8) 2^-WIDTH and, with the factor by which
 * it is enlarged in float, has the mantissa 2^23 + 2^zeros; it is that times 2^up units of the last of 64 bits of the
 * number, which is as far from a change of the rounding as can be.
 */
static void fill_shifted(struct trial *t, int single, int zeros, int up)
{
    enum { WIDTH = 40 };
    const float wanted = 0x1p23f + ldexpf(1, zeros);
    uint32_t sum = (uint32_t)(wanted * 65536.0 / 65537);

    while ((float)sum * (1 + 0x1p-16f) < wanted)
        sum++;
    assert_true((float)sum * (1 + 0x1p-16f) == wanted);
    memset(t, 0, sizeof *t);
    t->line[0] = (ozg_factors){UINT32_MAX, 1, 1, 0, 0, 0, WIDTH};
    t->line[1] = (ozg_factors){1, 1, 1, sum - 8, sum - 8, 1 << 15, WIDTH};
    t->e[0] = t->e[1] = WIDTH;
    t->args.request.kind = OZG_BY_ROUNDED;
    t->args.request.single = single;
    t->args.request.length = 1000;
    conclude(t);
    assert_true(t->screen == ldexp(sum, 64 - WIDTH));
    t->args.exp = WIDTH + 2 * t->unit - 32 + 63 - up + (wanted == 0x1p24f);
    t->args.exponent = -t->args.exp;
    t->args.top = UINT64_C(3) << 62;
}

/* A bound that leaves 64 bits, or of which they keep zeros alone, is not small. */
static void test_shifted(void **state)
{
    int clear = 0, open = 0;

    (void)state;
    for (int single = 0; single < 2; single++)
        for (int zeros = 0; zeros <= 23; zeros++)
            for (int up = -30; up <= 100; up++) {
                struct trial t;
                mpq_t bound;

                fill_shifted(&t, single, zeros, up);
                ask(&t);
                mpq_init(bound);
                mpq_set_d(bound, ldexp((double)t.bound, t.most + 2 * t.unit - 32 - t.args.exp + 63));
                if (!t.out.doubt)
                    assert_true(agrees(&t, bound));
                clear += !t.out.doubt;
                open += t.out.doubt;
                mpq_clear(bound);
            }
    assert_true(clear > 1000 && open > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_screen), cmocka_unit_test(test_doubt),
                                       cmocka_unit_test(test_shifted)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
