/*
 * test_choose.c - ozg_cuda_choose against the CPU: the same moduli, shifts along k, parts and lines in them.
 * with: ozg_cuda_emulated
 *
 * They are part of the definition of native results. Rounded: the same rules, sums in another order.
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
#include "cuda/kernels.h"
#include "parallel.h"
#include "plan.h"
#include "rng.h"
#include "scaling.h"

enum family {
    UNIFORM,
    WIDE,
    WIDER,
    INTEGERS,
    INSIDE,
    FAR_INSIDE, /* up to the ends of the range, subnormal numbers among them */
    HOLES,
    SUBNORMAL,
    BITS, /* any finite number */
    FAMILIES
};

/* What some lines are besides. */
enum {
    EVIL_ROWS = 1, /* one row in 16 has a spike that meets small elements */
    EVIL_COLUMNS = 2,
    EVIL_MANY = 4,  /* with EVIL_...: of those that are sampled few, but half of the others */
    EVIL_SOME = 32, /* with EVIL_...: for three quarters of the other side alone */
    ABSENT = 8,     /* zero lines, and lines with Inf or NaN */
    NEARLY_ALL_ABSENT = 16
};

typedef struct problem {
    char type;
    int kind, fixed, traits;
    int64_t m, n, k;
    int along[2]; /* step is 1, else line_stride */
    int conj[2];
    enum family family;
    int blocks;
} problem;

/* One operand; facts are by stored line. */
typedef struct operand {
    ozg_view view;
    int64_t count, k;
    void *x;
    int32_t *e;
    uint64_t *sum, *squares;
    uint32_t *top, *x1, *x2, *xmax;
    uint8_t *special;
    int64_t *index;
    int16_t *shift;
} operand;

typedef struct outcome {
    int parts, shifted;
    int nmod[OZG_PARTS];
    ozg_part part[OZG_PARTS];
    uint64_t estimate;
} outcome;

/* How often the tests went which way. */
static struct {
    int usual, plain, shifted, two, three, too_many, absent, none;
} seen;

/* ---- data --------------------------------------------------------------------------------------- */

static double make_number(struct rng *r, const problem *p, int64_t q, int is_a)
{
    const double x = ldexp((double)(int64_t)(rng_next(r) | 1), -63);
    const int single = ozg_type_single(p->type), most = single ? 120 : 1020;
    uint64_t bits;
    double y;

    switch (p->family) {
    case WIDE:
        return ldexp(x, (int)rng_between(r, -12, 12));
    case WIDER:
        return ldexp(x, (int)(rng_between(r, -40, 40) + rng_between(r, -40, 40)) / 2);
    case INTEGERS:
        return (double)rng_between(r, -1000000, 1000000);
    case INSIDE:
        return ldexp(x, (is_a ? 1 : -1) * (int)(q * 37 % 61 - 30));
    case FAR_INSIDE:
        return ldexp(x, (is_a ? 1 : -1) * (int)(q * 37 % 61 - 30) * most / 30);
    case HOLES:
        return rng_below(r, 4) ? 0 : ldexp(x, (int)rng_between(r, -8, 8));
    case SUBNORMAL:
        return ldexp(x, (single ? -126 : -1022) + (int)rng_between(r, -20, 10));
    case BITS:
        do
            bits = rng_next(r);
        while (ozg_is_special(bits));
        memcpy(&y, &bits, 8);
        return single ? ldexp(x, (int)rng_between(r, -126, 126)) : y;
    default:
        return x;
    }
}

static double get(const operand *o, int64_t i, int64_t p, int part)
{
    const int64_t at =
        (i * o->view.line_stride + p * o->view.step) * (1 + ozg_type_complex(o->view.type)) + part;

    return ozg_type_single(o->view.type) ? (double)((const float *)o->x)[at] : ((const double *)o->x)[at];
}

static void set(operand *o, int64_t i, int64_t p, int part, double x)
{
    const int64_t at =
        (i * o->view.line_stride + p * o->view.step) * (1 + ozg_type_complex(o->view.type)) + part;

    if (ozg_type_single(o->view.type))
        ((float *)o->x)[at] = (float)x;
    else
        ((double *)o->x)[at] = x;
}

static void scale(operand *o, int64_t i, int64_t p, int e)
{
    for (int part = 0; part <= ozg_type_complex(o->view.type); part++)
        set(o, i, p, part, ldexp(get(o, i, p, part), e));
}

static int is_evil(const problem *p, int64_t i, int64_t count)
{
    const int64_t sampled = count / ozg_sample_lines(count); /* one in so many */

    if (p->traits & EVIL_MANY)
        return i % sampled ? i % 2 : i / sampled % 5 == 0;
    return i % 16 == (count > 64 ? 0 : 7);
}

static void make_evil(const problem *p, operand *o, operand *other, int of_b)
{
    const int64_t half = p->k / 2, first = of_b ? half : 0, spikes = p->traits & EVIL_MANY ? 8 : half;

    for (int64_t q = 0; q < half && q < spikes; q++) {
        int met = 0;

        for (int64_t i = 0; i < o->count; i++)
            if (is_evil(p, i, o->count) && i % spikes == q) {
                scale(o, i, first + q, 40);
                met = 1;
            }
        for (int64_t j = 0; j < other->count && met; j++)
            scale(other, j, first + q, p->traits & EVIL_SOME && j < other->count / 4 ? 5 : -40);
    }
}

static void make_absent(const problem *p, operand *o, struct rng *r)
{
    for (int64_t i = 0; i < o->count; i++) {
        const int what = p->traits & NEARLY_ALL_ABSENT ? (rng_below(r, 40) ? 0 : 2) : (int)rng_below(r, 12);

        if (what == 0)
            for (int64_t q = 0; q < p->k; q++)
                for (int part = 0; part <= ozg_type_complex(p->type); part++)
                    set(o, i, q, part, 0);
        if (what == 1)
            set(o, i, (int64_t)rng_below(r, (uint64_t)p->k), 0, rng_below(r, 2) ? HUGE_VAL : NAN);
    }
}

static void *room(int64_t count, size_t size)
{
    void *x = malloc((size_t)(count > 0 ? count : 1) * size);

    assert_non_null(x);
    memset(x, 0xcd, (size_t)count * size);
    return x;
}

static operand open_operand(const problem *p, int of_b, struct rng *r)
{
    const int64_t count = of_b ? p->n : p->m;
    const int64_t ld = (p->along[of_b] ? p->k : count) + (int64_t)rng_below(r, 4);
    const ozg_view view = {NULL,
                           p->along[of_b] ? ld : 1,
                           p->along[of_b] ? 1 : ld,
                           p->type,
                           p->conj[of_b] && ozg_type_complex(p->type),
                           NULL};
    operand o = {0};

    o.view = view;
    o.count = count;
    o.k = p->k;
    o.x = room(ld * (p->along[of_b] ? count : p->k), (size_t)ozg_type_size(p->type));
    for (int64_t i = 0; i < count; i++)
        for (int64_t q = 0; q < p->k; q++)
            for (int part = 0; part <= ozg_type_complex(p->type); part++)
                set(&o, i, q, part, make_number(r, p, q, !of_b));
    o.view.x = o.x;
    return o;
}

/* Room for facts, which are those of the views. */
static void open_facts(operand *o, const operand *data)
{
    *o = *data;
    o->e = room(o->count, sizeof *o->e);
    o->sum = room(o->count, sizeof *o->sum);
    o->squares = room(o->count, sizeof *o->squares);
    o->top = room(o->count, sizeof *o->top);
    o->x1 = room(o->count, sizeof *o->x1);
    o->x2 = room(o->count, sizeof *o->x2);
    o->xmax = room(o->count, sizeof *o->xmax);
    o->special = room(o->count, sizeof *o->special);
    o->index = room(o->count, sizeof *o->index);
    o->shift = room(o->k, sizeof *o->shift);
}

static void close_facts(operand *o)
{
    free(o->e);
    free(o->sum);
    free(o->squares);
    free(o->top);
    free(o->x1);
    free(o->x2);
    free(o->xmax);
    free(o->special);
    free(o->index);
    free(o->shift);
}

/* ---- the CPU: choose() of src/driver.c ------------------------------------------------------------ */

/* The facts of all lines as the view has it now. */
static void take_facts(operand *o, const ozg_lines *l, int nu)
{
    for (int64_t i = 0; i < o->count; i++) {
        ozg_norms n;

        o->e[i] = l->e[i];
        ozg_norms_ref(&l->view, o->k, i, i + 1, nu, &l->e[i], &n);
        assert_true(n.squares == l->squares[i]);
        o->sum[i] = n.sum;
        o->squares[i] = n.squares;
        o->top[i] = n.most;
        o->x1[i] = l->x1[i];
        o->x2[i] = l->x2[i];
        o->xmax[i] = l->xmax[i];
        o->special[i] = l->special[i];
    }
}

static int order(const ozg_stage *st, ozg_lines *l[2], operand *o[2], const ozg_apart *apart, ozg_part *part)
{
    uint8_t *far[2] = {room(o[0]->count, 1), room(o[1]->count, 1)};
    const size_t bytes = ozg_choose_bytes(l[0]->view.type, o[0]->count, o[1]->count, o[0]->k);
    void *memory = aligned(bytes + 64);
    int64_t count[2];
    int parts = 1;

    ozg_choose_far(st, l[0], l[1], apart, far[0], far[1], memory, (bytes + 63) / 64 * 64);
    for (int q = 0; q < 2; q++)
        count[q] = ozg_apart_count(far[q], o[q]->count);
    if (count[0] >= 0 && count[1] >= 0 && count[0] + count[1] > 0) {
        for (int q = 0; q < 2; q++)
            ozg_apart_order(l[q], far[q], o[q]->index);
        parts = ozg_apart_parts(o[0]->count, count[0], o[1]->count, count[1], part);
    } else {
        seen.too_many += count[0] < 0 || count[1] < 0;
    }
    free(memory);
    free(far[0]);
    free(far[1]);
    return parts;
}

static void cut(const ozg_stage *st, ozg_lines *l[2], outcome *out, void *memory)
{
    out->estimate = 0;
    for (int q = 0; q < out->parts; q++) {
        const ozg_part *part = &out->part[q];
        const ozg_lines a = ozg_apart_lines(l[0], part->i0, part->rows),
                        b = ozg_apart_lines(l[1], part->j0, part->columns);
        const ozg_choice choice = ozg_choose(st, &a, &b, 0, 0, NULL, NULL, memory);

        out->nmod[q] = choice.nmod;
        out->estimate += choice.repairs;
    }
}

static outcome run_cpu(const problem *p, operand *o[2])
{
    const ozg_stage st = stage_of(ozg_kernel_at(ozg_cpu_isa(), 0), p->kind, p->type, p->k);
    const int nu = ozg_norm_bits(st.length), apart = p->kind == OZG_BY_NATIVE && !p->fixed;
    outcome out = {1, 0, {0, 0, 0}, {{0, p->m, 0, p->n}}, 0};
    void *memory = aligned(ozg_choose_bytes(p->type, p->m, p->n, p->k)), *place[2];
    ozg_lines lines[2], *l[2] = {&lines[0], &lines[1]};
    ozg_choice choice;

    for (int q = 0; q < 2; q++) {
        place[q] = aligned(ozg_lines_bytes(o[q]->count, p->k, 1));
        lines[q] = ozg_lines_at(place[q], &o[q]->view, o[q]->count, p->k, 1);
        ozg_cpu_scale(&st, l[q]);
        ozg_cpu_norms(&st, l[q]);
    }
    choice = ozg_choose(&st, l[0], l[1], p->fixed, apart, o[0]->shift, o[1]->shift, memory);
    for (int q = 0; q < 2; q++) {
        if (choice.shifted) {
            lines[q].view.shift = o[q]->shift;
            ozg_cpu_scale(&st, l[q]);
            ozg_cpu_norms(&st, l[q]);
        }
        take_facts(o[q], l[q], nu);
    }
    out.nmod[0] = choice.nmod;
    out.shifted = choice.shifted;
    out.estimate = choice.repairs;
    if (choice.apart.nmod)
        out.parts = order(&st, l, o, &choice.apart, out.part);
    if (out.parts > 1)
        cut(&st, l, &out, memory);
    free(memory);
    free(place[0]);
    free(place[1]);
    return out;
}

/* ---- the kernel --------------------------------------------------------------------------------- */

static ozg_cuda_lines cuda_lines(const problem *p, operand *o)
{
    ozg_cuda_lines l;

    memset(&l, 0, sizeof l);
    l.view = o->view;
    l.view.shift = o->shift;
    l.count = o->count;
    l.k = p->k;
    l.sum = o->sum;
    l.squares = o->squares;
    l.top = o->top;
    l.e = o->e;
    l.x1 = o->x1;
    l.x2 = o->x2;
    l.xmax = o->xmax;
    l.special = o->special;
    l.index = o->index;
    return l;
}

/* What the stages before choose leave: e and the norms. */
static void set_facts(const problem *p, operand *o)
{
    const int nu = ozg_norm_bits(ozg_dot_length(p->type, p->k));

    for (int64_t i = 0; i < o->count; i++) {
        uint64_t most;
        ozg_norms n;

        ozg_scale_ref(&o->view, p->k, i, i + 1, &most);
        o->e[i] = most == 0 || ozg_is_special(most) ? OZG_E_NONE : ozg_exponent(most);
        ozg_norms_ref(&o->view, p->k, i, i + 1, nu, &o->e[i], &n);
        o->sum[i] = n.sum;
        o->squares[i] = n.squares;
        o->top[i] = n.most;
    }
}

static outcome run_kernel(const problem *p, operand *o[2])
{
    const ozg_stage st = stage_of(ozg_kernel_at(ozg_cpu_isa(), 0), p->kind, p->type, p->k);
    ozg_cuda_state state;
    ozg_cuda_choose_args args;
    outcome out = {0, 0, {0, 0, 0}, {{0, 0, 0, 0}}, 0};

    memset(&args, 0, sizeof args);
    memset(&state, 0, sizeof state);
    for (int q = 0; q < 2; q++)
        set_facts(p, o[q]);
    args.state = &state;
    args.a = cuda_lines(p, o[0]);
    args.b = cuda_lines(p, o[1]);
    args.fixed = p->fixed;
    args.apart = p->kind == OZG_BY_NATIVE && !p->fixed;
    args.shifts = 1;
    launch_choose(&st, p->type, p->blocks, &args);
    free(args.memory);
    out.parts = state.parts;
    out.shifted = state.shifted;
    out.estimate = state.estimate;
    for (int q = 0; q < state.parts; q++) {
        out.nmod[q] = state.nmod[q];
        out.part[q] = state.part[q];
    }
    return out;
}

/* ---- both --------------------------------------------------------------------------------------- */

static void compare_lines(const operand *x, const operand *y, const outcome *out)
{
    const size_t n = (size_t)x->count;

    assert_memory_equal(x->e, y->e, n * sizeof *x->e);
    assert_memory_equal(x->sum, y->sum, n * sizeof *x->sum);
    assert_memory_equal(x->squares, y->squares, n * sizeof *x->squares);
    assert_memory_equal(x->top, y->top, n * sizeof *x->top);
    assert_memory_equal(x->x1, y->x1, n * sizeof *x->x1);
    assert_memory_equal(x->x2, y->x2, n * sizeof *x->x2);
    assert_memory_equal(x->xmax, y->xmax, n * sizeof *x->xmax);
    if (out->parts > 1)
        assert_memory_equal(x->index, y->index, n * sizeof *x->index);
    if (out->shifted)
        assert_memory_equal(x->shift, y->shift, (size_t)x->k * sizeof *x->shift);
}

static void tally(const problem *p, const outcome *out)
{
    const int usual = ozg_type_single(p->type) ? 8 : 14;

    seen.shifted += out->shifted;
    seen.two += out->parts == 2;
    seen.three += out->parts == 3;
    seen.absent += (p->traits & ABSENT) != 0;
    seen.usual += out->parts == 1 && !out->shifted && out->nmod[0] <= usual;
    seen.plain += out->parts == 1 && !out->shifted && out->nmod[0] > usual;
}

static void check(const problem *p, uint64_t seed)
{
    struct rng r = {seed};
    operand data[2], cpu[2], cuda[2];
    operand *pcpu[2] = {&cpu[0], &cpu[1]}, *pcuda[2] = {&cuda[0], &cuda[1]};
    outcome want, have;

    for (int q = 0; q < 2; q++)
        data[q] = open_operand(p, q, &r);
    if (p->traits & EVIL_ROWS)
        make_evil(p, &data[0], &data[1], 0);
    if (p->traits & EVIL_COLUMNS)
        make_evil(p, &data[1], &data[0], 1);
    for (int q = 0; q < 2; q++) {
        if (p->traits & (ABSENT | NEARLY_ALL_ABSENT))
            make_absent(p, &data[q], &r);
        open_facts(&cpu[q], &data[q]);
        open_facts(&cuda[q], &data[q]);
    }
    want = run_cpu(p, pcpu);
    have = run_kernel(p, pcuda);
    tally(p, &want);
    if (want.parts != have.parts || want.shifted != have.shifted || want.nmod[0] != have.nmod[0] ||
        want.estimate != have.estimate)
        print_message(
            "%c %lld %lld %lld family %d traits %d kind %d seed %llu: parts %d %d shifted %d %d moduli %d %d "
            "estimate %llu %llu\n",
            p->type, (long long)p->m, (long long)p->n, (long long)p->k, (int)p->family, p->traits, p->kind,
            (unsigned long long)seed, want.parts, have.parts, want.shifted, have.shifted, want.nmod[0],
            have.nmod[0], (unsigned long long)want.estimate, (unsigned long long)have.estimate);
    assert_int_equal(want.parts, have.parts);
    assert_int_equal(want.shifted, have.shifted);
    for (int q = 0; q < want.parts; q++) {
        assert_int_equal(want.nmod[q], have.nmod[q]);
        assert_memory_equal(&want.part[q], &have.part[q], sizeof want.part[q]);
    }
    if (p->kind == OZG_BY_NATIVE)
        assert_true(want.estimate == have.estimate);
    else
        assert_true(fabs((double)want.estimate - (double)have.estimate) <= 1 + 1e-6 * (double)want.estimate);
    for (int q = 0; q < 2; q++) {
        compare_lines(&cpu[q], &cuda[q], &want);
        close_facts(&cpu[q]);
        close_facts(&cuda[q]);
        free(data[q].x);
    }
}

static int64_t pick(struct rng *r, const int *from, int count)
{
    return from[rng_below(r, (uint64_t)count)];
}

static problem make_problem(struct rng *r)
{
    static const int lines[] = {1, 2, 5, 16, 17, 33, 64, 100, 300, 512, 700},
                     ks[] = {1, 2, 7, 31, 64, 65, 100, 200, 333}, blocks[] = {1, 2, 3, 5, 8};
    static const int traits[] = {0,
                                 0,
                                 0,
                                 ABSENT,
                                 EVIL_ROWS,
                                 EVIL_COLUMNS,
                                 EVIL_ROWS | EVIL_COLUMNS,
                                 EVIL_ROWS | ABSENT,
                                 NEARLY_ALL_ABSENT};
    problem p;

    memset(&p, 0, sizeof p);
    p.type = "sdcz"[rng_below(r, 4)];
    p.kind = rng_below(r, 4) ? OZG_BY_NATIVE : OZG_BY_ROUNDED;
    p.traits = (int)pick(r, traits, sizeof traits / sizeof *traits);
    p.m = pick(r, lines, sizeof lines / sizeof *lines);
    p.n = pick(r, lines, sizeof lines / sizeof *lines);
    p.k = pick(r, ks, sizeof ks / sizeof *ks);
    for (int q = 0; q < 2; q++) {
        p.along[q] = (int)rng_below(r, 2);
        p.conj[q] = (int)rng_below(r, 2);
    }
    p.family = (enum family)rng_below(r, FAMILIES);
    p.blocks = (int)pick(r, blocks, sizeof blocks / sizeof *blocks);
    p.fixed = rng_below(r, 12) ? 0 : 9 + (int)rng_below(r, 10);
    return p;
}

/* ---- the tests ---------------------------------------------------------------------------------- */

static void any(void **state)
{
    struct rng r = {77};

    (void)state;
    for (int q = 0; q < 150; q++) {
        const problem p = make_problem(&r);

        ozg_emulated_order((uint32_t)q % 5);
        check(&p, (uint64_t)q + 1000);
    }
    ozg_emulated_order(0);
}

/* Lines far out, of a size at which they are computed apart. */
static void apart(void **state)
{
    static const int traits[] = {EVIL_ROWS,
                                 EVIL_COLUMNS,
                                 EVIL_ROWS | EVIL_COLUMNS,
                                 EVIL_ROWS | EVIL_MANY,
                                 EVIL_COLUMNS | EVIL_MANY,
                                 EVIL_ROWS | EVIL_COLUMNS | ABSENT,
                                 EVIL_ROWS | EVIL_SOME,
                                 EVIL_COLUMNS | EVIL_SOME};
    int q = 0;

    (void)state;
    for (size_t t = 0; t < sizeof traits / sizeof *traits; t++)
        for (int type = 0; type < (traits[t] & EVIL_SOME ? 1 : 4); type++, q++) {
            const int many = traits[t] & EVIL_MANY;
            problem p = {"dszc"[type],
                         OZG_BY_NATIVE,
                         0,
                         traits[t],
                         many ? 640 : 620,
                         many ? 640 : 660,
                         type % 2 ? 128 : 257,
                         {0, 0},
                         {0, 1},
                         UNIFORM,
                         4};

            p.along[0] = q % 2;
            p.along[1] = q / 2 % 2;
            if (q % 3 == 2)
                p.family = INSIDE; /* shifts, too */
            ozg_emulated_order((uint32_t)q % 4);
            check(&p, (uint64_t)q + 1);
        }
    ozg_emulated_order(0);
    print_message("usual %d, more moduli %d, shifts %d, two parts %d, three %d, too many far out %d\n",
                  seen.usual, seen.plain, seen.shifted, seen.two, seen.three, seen.too_many);
    assert_true(seen.usual > 10 && seen.plain > 5 && seen.shifted > 5 && seen.two > 5 && seen.three > 2 &&
                seen.too_many > 0 && seen.absent > 5);
}

/* More than one piece of the CPU, more than one tile of each block. */
static void long_lines(void **state)
{
    static const int64_t ks[] = {8191, 8193, 20000};
    static const enum family families[] = {UNIFORM, WIDER, INSIDE};

    (void)state;
    for (int q = 0; q < 9; q++) {
        const problem p = {"dzc"[q % 3], OZG_BY_NATIVE, 0,      q % 3 ? 0 : ABSENT, 5, 18,
                           ks[q / 3],    {q % 2, 1},    {1, 0}, families[q % 3],    3};

        check(&p, (uint64_t)q + 50);
    }
}

/* Many lines, in several segments, some of them absent. */
static void many_lines(void **state)
{
    (void)state;
    for (int q = 0; q < 4; q++) {
        const problem p = {"ds"[q % 2],
                           OZG_BY_NATIVE,
                           0,
                           q < 2 ? NEARLY_ALL_ABSENT : ABSENT,
                           3000,
                           1 + 900 * (q % 2),
                           3,
                           {q % 2, q / 2},
                           {0, 0},
                           WIDE,
                           3};

        check(&p, (uint64_t)q + 70);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any), cmocka_unit_test(apart),
                                       cmocka_unit_test(long_lines), cmocka_unit_test(many_lines)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
