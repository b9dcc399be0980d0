/*
 * test_choose_sums.c - the sums over the sample that ozg_cuda_choose decides by, number by number those of
 * src/sample.c: test_choose.c sees of them only what is decided.
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

#include "choose.h"
#include "cpu/parts.h"
#include "cpu/stages.h"
#include "choose_launch.h"
#include "cuda/choose.h"
#include "plan.h"
#include "rng.h"
#include "sample.h"

typedef struct problem {
    char type;
    int kind, range; /* exponents go from -range to range */
    int64_t m, n, k;
    int along[2], conj[2]; /* step is 1 */
    int absent;            /* a row of zeros */
    int blocks;
} problem;

/* An operand, and its lines on the CPU. */
typedef struct side {
    void *x, *memory;
    ozg_lines lines;
} side;

/* Elements of a wide range, or short ones, whose residuals are often 0. */
static void fill(const problem *p, void *x, int64_t count, struct rng *r)
{
    for (int64_t i = 0; i < count; i++) {
        const int exponent = (int)rng_between(r, -p->range, p->range), none = rng_below(r, 9) == 0;
        const double y = none ? 0 : ldexp((double)((int64_t)rng_next(r) >> rng_below(r, 63)), exponent - 63);

        if (ozg_type_single(p->type))
            ((float *)x)[i] = (float)y;
        else
            ((double *)x)[i] = y;
    }
}

static void open_side(const problem *p, const ozg_stage *st, int of_b, side *s, struct rng *r)
{
    const int64_t count = of_b ? p->n : p->m, ld = p->along[of_b] ? p->k : count, elements = count * p->k;
    const ozg_view view = {NULL,
                           p->along[of_b] ? ld : 1,
                           p->along[of_b] ? 1 : ld,
                           p->type,
                           p->conj[of_b] && ozg_type_complex(p->type),
                           NULL};
    const size_t size = (size_t)ozg_type_size(p->type);

    s->x = aligned((size_t)elements * size);
    fill(p, s->x, elements * (1 + ozg_type_complex(p->type)), r);
    for (int64_t q = 0; q < p->k && p->absent && count > 1; q++) /* line 1 */
        memset((char *)s->x + (size_t)(view.line_stride + q * view.step) * size, 0, size);
    s->memory = aligned(ozg_lines_bytes(count, p->k, 1));
    s->lines = ozg_lines_at(s->memory, &view, count, p->k, 1);
    s->lines.view.x = s->x;
    ozg_cpu_scale(st, &s->lines);
    ozg_cpu_norms(st, &s->lines);
}

/* The facts of the lines for the kernel; memory: of them. */
static ozg_cuda_lines cuda_lines(const problem *p, const side *s, void **memory)
{
    const int64_t n = s->lines.count;
    const int nu = ozg_norm_bits(ozg_dot_length(p->type, p->k));
    uint64_t *at = *memory = aligned((size_t)n * 80);
    ozg_cuda_lines l;

    memset(&l, 0, sizeof l);
    l.view = s->lines.view;
    l.count = n;
    l.k = p->k;
    l.sum = at;
    l.squares = at + n;
    l.top = (uint32_t *)(at + 2 * n);
    l.x1 = l.top + n;
    l.x2 = l.x1 + n;
    l.xmax = l.x2 + n;
    l.e = (int32_t *)(l.xmax + n);
    for (int64_t i = 0; i < n; i++) {
        ozg_norms norms;

        l.e[i] = s->lines.e[i];
        ozg_norms_ref(&l.view, p->k, i, i + 1, nu, &l.e[i], &norms);
        l.sum[i] = norms.sum;
        l.squares[i] = norms.squares;
        l.top[i] = norms.most;
    }
    return l;
}

/* The memory in which the blocks of the kernel meet. */
static ozg_choose_memory *run_kernel(const problem *p, const ozg_stage *st, const side *s)
{
    void *facts[2];
    ozg_cuda_state state;
    ozg_cuda_choose_args args;

    memset(&args, 0, sizeof args);
    memset(&state, 0, sizeof state);
    args.state = &state;
    args.a = cuda_lines(p, &s[0], &facts[0]);
    args.b = cuda_lines(p, &s[1], &facts[1]);
    launch_choose(st, p->type, p->blocks, &args);
    free(facts[0]);
    free(facts[1]);
    return args.memory;
}

static uint64_t absolute(uint64_t x)
{
    return x >> 63 ? 0 - x : x;
}

static void compare_pairs(const ozg_sample *z, const ozg_choose_sums *sums, int complex_)
{
    for (int i = 0; i < z->a.lines.count; i++)
        for (int j = 0; j < z->b.lines.count; j++)
            for (int part = 0; part <= complex_; part++) {
                const int at = i * OZG_SAMPLE_LINES + j;
                const ozg_pair *pair = &z->pair[i][j];

                assert_int_equal(absolute(sums->value[part][at]), pair->value[part]);
                assert_int_equal(sums->magnitude[part][at], pair->magnitude[part]);
                assert_int_equal((int32_t)sums->term[part][at] + 2 * OZG_SAMPLE_ZERO, pair->term[part]);
            }
}

/* Residuals for s moduli; where they are counted, also the elements that are rounded. */
static void compare_residuals(ozg_sample *z, const ozg_choose_sums *sums, int s, uint64_t *rounded)
{
    ozg_side *of[2] = {&z->a, &z->b};

    ozg_sample_residuals(z, OZG_SIDE_A | OZG_SIDE_B, s);
    for (int q = 0; q < 2; q++)
        for (int i = 0; i < of[q]->lines.count; i++) {
            const int slot = q * OZG_SAMPLE_LINES + i;
            const ozg_norms n = {sums->sum[s][slot], sums->squares[s][slot], sums->most[s][slot]};
            uint32_t r1, r2, rmax;

            ozg_norms_factors(&n, 16, z->rule.c, &r1, &r2, &rmax);
            assert_int_equal(r1, of[q]->r1[i]);
            assert_int_equal(r2, of[q]->r2[i]);
            assert_int_equal(rmax, of[q]->rmax[i]);
            if (z->st->kind == OZG_BY_ROUNDED)
                assert_int_equal(sums->places[s][slot], of[q]->places[i]);
            *rounded += sums->places[s][slot];
        }
}

static uint64_t check(const problem *p, uint64_t seed)
{
    const ozg_stage st = stage_of(ozg_kernel_at(ozg_cpu_isa(), 0), p->kind, p->type, p->k);
    struct rng r = {seed};
    side s[2];
    uint64_t rounded = 0;
    void *memory;
    ozg_choose_memory *met;
    ozg_sample *z;

    open_side(p, &st, 0, &s[0], &r);
    open_side(p, &st, 1, &s[1], &r);
    met = run_kernel(p, &st, s);
    memory = aligned(ozg_choose_bytes(p->type, p->m, p->n, p->k));
    z = ozg_sample_open(&st, &s[0].lines, &s[1].lines, memory);
    if (z->a.lines.count > 0 && z->b.lines.count > 0) {
        const int start = ozg_start_moduli(&z->rule);
        const ozg_choose_sums *sums =
            met->absent[0] + met->absent[1] ? &met->more[OZG_SUMS_PRESENT - 1] : &met->first;

        ozg_sample_pairs(z);
        compare_pairs(z, sums, st.scalars.complex_);
        for (int n = start; n > start - 2 && n >= z->rule.least; n--)
            compare_residuals(z, sums, n, &rounded);
    }
    free(met);
    free(memory);
    for (int q = 0; q < 2; q++) {
        free(s[q].x);
        free(s[q].memory);
    }
    return rounded;
}

static void sums(void **state)
{
    static const int lines[] = {1, 3, 31, 32, 33, 70}, ks[] = {1, 7, 63, 64, 65, 130, 400};
    struct rng r = {5};
    uint64_t rounded = 0;

    (void)state;
    for (int q = 0; q < 160; q++) {
        const problem p = {"sdcz"[q % 4],
                           rng_below(&r, 2) ? OZG_BY_NATIVE : OZG_BY_ROUNDED,
                           (int)rng_below(&r, 3) * 16,
                           lines[rng_below(&r, 6)],
                           lines[rng_below(&r, 6)],
                           ks[rng_below(&r, 7)],
                           {(int)rng_below(&r, 2), (int)rng_below(&r, 2)},
                           {(int)rng_below(&r, 2), (int)rng_below(&r, 2)},
                           rng_below(&r, 4) == 0,
                           1 + (int)rng_below(&r, 9)};

        ozg_emulated_order((uint32_t)q % 5);
        rounded += check(&p, (uint64_t)q + 1);
    }
    ozg_emulated_order(0);
    assert_true(rounded > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
