/*
 * test_bounds_choice.c - the number of moduli and the shifts along k that native products choose, against the
 * words of doc/bounds.md, section 11, written down again: whole lines, no pieces, costs as plain numbers.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "choose.h"
#include "cpu/parts.h"
#include "cpu/stages.h"
#include "plan.h"
#include "scaling.h"
#include "stage.h"
#include "unit.h"

enum { LINES = 32 };

/* One operand: count lines of k elements, one after the other. */
typedef struct operand {
    char type;
    int64_t count, k;
    void *x;
    void *memory;
    ozg_lines lines;
} operand;

/* The sampled lines as doubles. */
typedef struct sampled {
    const operand *all;
    int n;
    double *x; /* line q begins at q k parts */
    int16_t *shift;
    ozg_lines l;
    uint8_t special[LINES];
    int32_t e[LINES], d[LINES];
    uint64_t squares[LINES];
    uint32_t f[6][LINES];
} sampled;

typedef struct model {
    char type;
    int64_t k;
    int single, complex_;
    uint64_t length;
    sampled side[2];
} model;

/* ---- operands ----------------------------------------------------------------------------------- */

enum family {
    UNIFORM,
    WIDE,
    WIDER,
    INSIDE,
    FAR_INSIDE,
    SPIKE,
    INTEGERS,
    HOLES,
    FAMILIES,
    TIE_DOWN,
    TIE_UP,
    STOP,
    START,
    USUAL,
    ABOVE_USUAL,
    CANCEL,
    CANCEL_MORE
};

/* Roughly normal, integer */
static int wide(struct rng *r, int range)
{
    return (int)(rng_between(r, -range, range) + rng_between(r, -range, range)) / 2;
}

static double random_number(struct rng *r, enum family f, char type, int64_t p, int is_a)
{
    const double x = ldexp((double)(int64_t)(rng_next(r) | 1), -63);
    const int most = type == 's' || type == 'c' ? 120 : 1020;

    switch (f) {
    case WIDE:
        return ldexp(x, wide(r, 12));
    case WIDER:
        return ldexp(x, wide(r, 40));
    case INSIDE:
        return ldexp(x, (int)(is_a ? 1 : -1) * (int)(p * 37 % 61 - 30));
    case FAR_INSIDE: /* down to subnormal numbers, up to 2^most */
        return ldexp(x, (int)(is_a ? 1 : -1) * (int)(p * 37 % 61 - 30) * most / 30);
    case SPIKE:
        return rng_below(r, 20) ? x : ldexp(x, 30);
    case INTEGERS:
        return (double)rng_between(r, -1000000, 1000000);
    case HOLES:
        return rng_below(r, 4) ? 0 : ldexp(x, wide(r, 8));
    default:
        return x;
    }
}

static void store(const operand *o, int64_t i, double x)
{
    if (o->type == 's' || o->type == 'c')
        ((float *)o->x)[i] = (float)x;
    else
        ((double *)o->x)[i] = x;
}

static void open_operand(operand *o, struct rng *r, enum family f, char type, int64_t count, int64_t k,
                         int is_a)
{
    const int parts = 1 + ozg_type_complex(type);
    const ozg_view view = {NULL, k, 1, type, ozg_type_complex(type) && rng_below(r, 2), NULL};

    o->type = type;
    o->count = count;
    o->k = k;
    o->x = calloc((size_t)(count * k), (size_t)ozg_type_size(type));
    o->memory = aligned_alloc(64, ozg_lines_bytes(count, k, 1));
    assert_true(o->x && o->memory);
    for (int64_t i = 0; i < count; i++) {
        /* 0: a line of zeros; 1: with Inf or NaN */
        const int what = f > FAMILIES ? 2 : (int)rng_below(r, 12);

        for (int64_t p = 0; p < k * parts && what; p++)
            store(o, i * k * parts + p, random_number(r, f, type, p / parts, is_a));
        if (what == 1)
            store(o, i * k * parts + (int64_t)rng_below(r, (uint64_t)(k * parts)),
                  rng_below(r, 2) ? HUGE_VAL : NAN);
    }
    o->lines = ozg_lines_at(o->memory, &view, count, k, 1);
    o->lines.view.x = o->x;
}

/*
 * Lines that are exact, but for line 0 of A, 1 and t, and line 0 of B, which meets t alone: this pair fails
 * up to the s for which t is kept well enough. With 256 pairs one failure costs as much as one modulus.
 * TIE_UP: line 8 of B, of which every eighth is sampled, meets a number of A that needs far more moduli.
 * STOP: five lines of B meet t alone; of 1024 pairs, they cost more than one modulus, but less than two.
 * START: two do, with 13 and 14 moduli, not with 15: dearer than one modulus, but not than two.
 */
static void set_tie(operand *o, enum family f, int is_a)
{
    const double third = 0x1.5555555555555p0;

    for (int64_t i = 0; i < o->count; i++)
        for (int64_t p = 0; p < o->k; p++)
            store(o, i * o->k + p, p < 2);
    for (int64_t i = 0; i <= (is_a ? 0 : f == STOP ? 64 : f == START ? 8 : 0); i += f == STOP ? 16 : 8)
        store(o, i * o->k + is_a, is_a ? ldexp(third, f == TIE_DOWN ? -4 : f == START ? -9 : -8) : 0);
    if (f == TIE_UP && is_a)
        store(o, 2, ldexp(third, -30));
    if (f == TIE_UP && !is_a)
        for (int64_t p = 0; p < o->k; p++)
            store(o, 8 * o->k + p, p == 2);
}

/* Lines that are all alike, of three elements. */
static void set_alike(operand *o, enum family f, int is_a)
{
    const double third = 0x1.5555555555555p0, cancels = f == CANCEL ? 0x1p-12 : 0x1p-13;
    const int h = (is_a ? 1 : -1) * (f == USUAL ? 27 : 28);

    for (int64_t i = 0; i < o->count; i++) {
        /* CANCEL: V has 9 bits, CANCEL_MORE 8, and no product has a bit among the floors */
        const double x[3] = {is_a ? third : ldexp(third, -9), is_a ? third : ldexp(third, -9) * (cancels - 1),
                             is_a ? ldexp(third, -40) : 1};
        /* else what shifts make equal, and what takes 2 h + 1 bits without them: with 14 moduli, and with 15 */
        const double y[3] = {ldexp(1, h), ldexp(1, -h), 0};

        for (int p = 0; p < 3; p++)
            store(o, i * 3 + p, f >= CANCEL ? x[p] : y[p]);
    }
}

static void close_operand(operand *o)
{
    free(o->x);
    free(o->memory);
}

/* ---- the model ---------------------------------------------------------------------------------- */

/* Component `part` of element p of line i, not conjugated. */
static double component_of(const operand *o, int64_t i, int64_t p, int part)
{
    const int64_t at = (i * o->k + p) * (1 + ozg_type_complex(o->type)) + part;

    return ozg_type_single(o->type) ? (double)((const float *)o->x)[at] : ((const double *)o->x)[at];
}

static int takes_part(const operand *o, int64_t i)
{
    const int parts = 1 + ozg_type_complex(o->type);
    int any = 0;

    for (int64_t p = 0; p < o->k * parts; p++) {
        const double x = component_of(o, i, p / parts, (int)(p % parts));

        if (!isfinite(x))
            return 0;
        any |= x != 0;
    }
    return any;
}

static void open_sampled(sampled *s, const operand *o)
{
    const int parts = 1 + ozg_type_complex(o->type);
    const int64_t part = o->count / 16 > 16 ? o->count / 16 : 16, capped = part < LINES ? part : LINES;
    const int64_t wanted = capped < o->count ? capped : o->count;
    int64_t *index = calloc((size_t)o->count, sizeof *index), present = 0;

    assert_true(index != NULL);
    for (int64_t i = 0; i < o->count; i++)
        if (takes_part(o, i))
            index[present++] = i;
    memset(s, 0, sizeof *s);
    s->all = o;
    s->n = (int)(present < wanted ? present : wanted);
    s->x = calloc((size_t)(s->n * o->k * parts) + 1, sizeof *s->x);
    s->shift = calloc((size_t)o->k, sizeof *s->shift);
    assert_true(s->x && s->shift);
    for (int q = 0; q < s->n; q++) {
        const int64_t i = present <= wanted ? index[q] : index[q * present / wanted];

        for (int64_t p = 0; p < o->k * parts; p++) {
            s->x[q * o->k * parts + p] = component_of(o, i, p / parts, (int)(p % parts));
            if (o->lines.view.conj && p % 2)
                s->x[q * o->k * parts + p] *= -1;
        }
    }
    s->l.view = (ozg_view){s->x, o->k, 1, parts == 2 ? 'z' : 'd', 0, s->shift};
    s->l.count = s->n;
    s->l.k = o->k;
    s->l.special = s->special;
    s->l.e = s->e;
    s->l.d = s->d;
    s->l.squares = s->squares;
    s->l.x1 = s->f[0];
    s->l.x2 = s->f[1];
    s->l.xmax = s->f[2];
    s->l.r1 = s->f[3];
    s->l.r2 = s->f[4];
    s->l.rmax = s->f[5];
    free(index);
}

static void open_model(model *m, const operand *a, const operand *b)
{
    m->type = a->type;
    m->k = a->k;
    m->single = ozg_type_single(a->type);
    m->complex_ = ozg_type_complex(a->type);
    m->length = (uint64_t)a->k * (1 + (uint64_t)m->complex_);
    open_sampled(&m->side[0], a);
    open_sampled(&m->side[1], b);
}

static void close_model(model *m)
{
    for (int q = 0; q < 2; q++) {
        free(m->side[q].x);
        free(m->side[q].shift);
    }
}

/* e, N and norms, with the shifts as they are */
static void measure(const model *m, sampled *s)
{
    const int nu = ozg_norm_bits(m->length), c = ozg_bound_unit(m->length);
    ozg_norms n[LINES];

    for (int q = 0; q < s->n; q++)
        s->e[q] = ozg_exponent_shifted(&s->l.view, m->k, q);
    ozg_norms_ref(&s->l.view, m->k, 0, s->n, nu, s->e, n);
    for (int q = 0; q < s->n; q++) {
        s->squares[q] = n[q].squares;
        ozg_norms_factors(&n[q], nu, c, &s->f[0][q], &s->f[1][q], &s->f[2][q]);
    }
}

static double number_at(const model *m, const sampled *s, int q, int64_t p, int part)
{
    return s->x[(q * m->k + p) * (1 + m->complex_) + part];
}

/* floor(2^(b - e) |x|) with the sign of x */
static int64_t floor_at(const model *m, const sampled *s, int q, int64_t p, int part, int b)
{
    const double x = number_at(m, s, q, p, part);
    const int64_t f = ozg_floor(bits_of_double(x), b - s->e[q] + s->shift[p]);

    return x < 0 ? -f : f;
}

/* The exponent of a product that is not 0, less e_i + e_j. */
static int exponent_at(const model *m, int i, int j, int64_t p, int part_a, int part_b)
{
    int e, f;

    frexp(number_at(m, &m->side[0], i, p, part_a), &e);
    frexp(number_at(m, &m->side[1], j, p, part_b), &f);
    return e + f - m->side[0].e[i] - m->side[1].e[j];
}

/*
 * What is known of a pair whatever s is: L 2^c, |AB| about in units of 2^(e_i + e_j - 31), and the largest
 * exponent of a product.
 */
typedef struct pair {
    int64_t floors, value;
    int largest, any;
} pair;

static void add_place(const model *m, pair *to, int i, int j, int64_t p, int part_a, int part_b, int sign)
{
    const sampled *a = &m->side[0], *b = &m->side[1];
    const int bits = m->complex_ ? 6 : 7;
    const int64_t product = floor_at(m, a, i, p, part_a, 31) * floor_at(m, b, j, p, part_b, 31);

    to->floors += llabs(floor_at(m, a, i, p, part_a, bits) * floor_at(m, b, j, p, part_b, bits));
    to->value += sign * (product / (INT64_C(1) << 31)); /* towards 0 */
    if (number_at(m, a, i, p, part_a) != 0 && number_at(m, b, j, p, part_b) != 0) {
        const int e = exponent_at(m, i, j, p, part_a, part_b);

        to->largest = to->any && to->largest > e ? to->largest : e;
        to->any = 1;
    }
}

static pair pair_of(const model *m, int i, int j, int part)
{
    pair to = {0, 0, 0, 0};

    for (int64_t p = 0; p < m->k; p++) {
        add_place(m, &to, i, j, p, 0, part, 1);
        if (m->complex_)
            add_place(m, &to, i, j, p, 1, !part, part ? 1 : -1);
    }
    to.value = llabs(to.value);
    return to;
}

static int fails(const model *m, int i, int j)
{
    const ozg_factors x = ozg_factors_of(&m->side[0].l, i), y = ozg_factors_of(&m->side[1].l, j);
    const int c = ozg_bound_unit(m->length), least = x.w < y.w ? x.w : y.w, most = x.w < y.w ? y.w : x.w;
    const uint64_t bound = ozg_bound(&x, &y);
    const uint32_t f = ozg_native_factor(m->k);
    int fail = 0;

    if (bound == 0)
        return 0;
    for (int part = 0; part <= m->complex_; part++) {
        const pair of = pair_of(m, i, j, part);
        uint64_t z = (uint64_t)of.value >> c;
        int q = c - 31 + least + most;

        if (of.value < 256 && of.any) { /* the sum has no bits: the largest product instead */
            z = 1;
            q = of.largest - 1 + least + most;
        }
        fail |= !ozg_bound_passes(bound, f, (uint32_t)(of.floors >> c), m->single, m->complex_, c, least) &&
                !ozg_bound_passes_value(bound, f, z, q, m->single, c, most);
    }
    return fail;
}

/* q s + 256 z */
static int64_t cost(model *m, int s)
{
    const int c = ozg_bound_unit(m->length);
    int64_t z = 0;

    for (int which = 0; which < 2; which++) {
        sampled *x = &m->side[which];
        ozg_norms n[LINES];

        ozg_scaling_norm(&x->l, s, m->length);
        ozg_residuals_ref(&x->l.view, m->k, 0, x->n, x->d, n, NULL, 0);
        for (int q = 0; q < x->n; q++)
            ozg_norms_factors(&n[q], 16, c, &x->f[3][q], &x->f[4][q], &x->f[5][q]);
    }
    for (int i = 0; i < m->side[0].n; i++)
        for (int j = 0; j < m->side[1].n; j++)
            z += fails(m, i, j);
    return (int64_t)m->side[0].n * m->side[1].n * s + 256 * z;
}

static int search(model *m, int64_t *lowest)
{
    const int least = ozg_scaling_least(m->length), usual = m->single ? 8 : 14;
    const int start = usual > least ? usual : least;
    const int64_t q = (int64_t)m->side[0].n * m->side[1].n;
    int best = start;

    *lowest = cost(m, start);
    for (int s = start + 1; s <= 49 && q * s < *lowest; s++) {
        const int64_t here = cost(m, s);

        if (here < *lowest) {
            *lowest = here;
            best = s;
        }
    }
    if (best != start)
        return best;
    for (int s = start - 1; s >= least; s--) {
        const int64_t here = cost(m, s);

        if (here > *lowest)
            break;
        *lowest = here;
        best = s;
    }
    return best;
}

/* The largest exponent of a line. */
static int line_exponent(const operand *o, int64_t i)
{
    int most = -5000, e;

    for (int64_t p = 0; p < o->k; p++)
        for (int part = 0; part <= ozg_type_complex(o->type); part++)
            if (frexp(component_of(o, i, p, part), &e) != 0 && e > most)
                most = e;
    return most;
}

enum { NO_ROOM = -5000 };

/* room[p]: the largest e of element p less that of its line, over all lines that take part; NO_ROOM: all are 0. */
static int *room_of(const operand *o)
{
    int *room = malloc((size_t)o->k * sizeof *room), e;

    assert_true(room != NULL);
    for (int64_t p = 0; p < o->k; p++)
        room[p] = NO_ROOM;
    for (int64_t i = 0; i < o->count; i++) {
        const int whole = line_exponent(o, i);

        if (!takes_part(o, i))
            continue;
        for (int64_t p = 0; p < o->k; p++)
            for (int part = 0; part <= ozg_type_complex(o->type); part++)
                if (frexp(component_of(o, i, p, part), &e) != 0 && e - whole > room[p])
                    room[p] = e - whole;
    }
    return room;
}

static int set_shifts(model *m)
{
    int *a = room_of(m->side[0].all), *b = room_of(m->side[1].all), some = 0;

    for (int64_t p = 0; p < m->k; p++) {
        const int d = a[p] != NO_ROOM && b[p] != NO_ROOM ? (b[p] - a[p]) / 2 : 0;

        assert_in_range(abs(d), 0, 1048); /* the cut at 1100 changes nothing */
        m->side[0].shift[p] = (int16_t)d;
        m->side[1].shift[p] = (int16_t)-d;
        some |= d != 0;
    }
    free(a);
    free(b);
    return some;
}

/* s; *shifted and the shifts in m */
static int choose(model *m, int may_shift, int *shifted)
{
    const int64_t q = (int64_t)m->side[0].n * m->side[1].n;
    int64_t lowest, lowest_shifted;
    int s, s_shifted;

    *shifted = 0;
    if (q == 0)
        return ozg_scaling_least(m->length);
    measure(m, &m->side[0]);
    measure(m, &m->side[1]);
    s = search(m, &lowest);
    if (!may_shift || lowest < (m->single ? 9 : 15) * q || !set_shifts(m))
        return s;
    measure(m, &m->side[0]);
    measure(m, &m->side[1]);
    s_shifted = search(m, &lowest_shifted);
    *shifted = lowest_shifted + q <= lowest;
    return *shifted ? s_shifted : s;
}

/* ---- the comparison ----------------------------------------------------------------------------- */

static const ozg_kernel *plain_kernel(void)
{
    const ozg_kernel *last = NULL, *kernel;

    for (int i = 0; (kernel = ozg_kernel_at(0, i)); i++)
        last = kernel;
    return last;
}

/* Chooses for random operands in both ways. Returns 100 s, plus 1 if shifts are taken. */
static int check(struct rng *r, enum family f, char type, int64_t rows, int64_t columns, int64_t k,
                 int may_shift)
{
    const ozg_stage st = stage_of(plain_kernel(), OZG_BY_NATIVE, type, k);
    int16_t *shift = calloc((size_t)(2 * k), sizeof *shift);
    void *memory = aligned_alloc(64, (ozg_choose_bytes(type, rows, columns, k) + 63) / 64 * 64);
    operand a, b;
    ozg_choice choice;
    model m;
    int s, shifted;

    assert_true(shift && memory);
    open_operand(&a, r, f, type, rows, k, 1);
    open_operand(&b, r, f, type, columns, k, 0);
    if (f > FAMILIES) {
        (f < USUAL ? set_tie : set_alike)(&a, f, 1);
        (f < USUAL ? set_tie : set_alike)(&b, f, 0);
    }
    ozg_cpu_scale(&st, &a.lines);
    ozg_cpu_norms(&st, &a.lines);
    ozg_cpu_scale(&st, &b.lines);
    ozg_cpu_norms(&st, &b.lines);
    choice = ozg_choose(&st, &a.lines, &b.lines, 0, 0, may_shift ? shift : NULL, may_shift ? shift + k : NULL,
                        memory);
    open_model(&m, &a, &b);
    s = choose(&m, may_shift, &shifted);
    if (choice.nmod != s || choice.shifted != shifted)
        fail_msg("family %d, type %c, %d x %d x %d: s = %d, shifted %d; expected %d, %d", (int)f, type,
                 (int)rows, (int)columns, (int)k, choice.nmod, choice.shifted, s, shifted);
    if (shifted) {
        assert_memory_equal(shift, m.side[0].shift, (size_t)k * sizeof *shift);
        assert_memory_equal(shift + k, m.side[1].shift, (size_t)k * sizeof *shift);
    }
    close_model(&m);
    close_operand(&a);
    close_operand(&b);
    free(shift);
    free(memory);
    return 100 * s + shifted;
}

static void test_small(void **state)
{
    struct rng r = {1};
    int seen[50] = {0}, shifted = 0, different = 0;

    (void)state;
    for (int i = 0; i < 300; i++) {
        const enum family f = (enum family)(i % FAMILIES);
        const int result =
            check(&r, f, "dszc"[rng_below(&r, 4)], (int64_t)rng_between(&r, 1, 40),
                  (int64_t)rng_between(&r, 1, 40), (int64_t)rng_between(&r, 1, 40), rng_below(&r, 4) != 0);

        different += !seen[result / 100]++;
        shifted += result % 100;
    }
    assert_true(different > 10 && shifted > 10);
}

/* More lines than are sampled: up, and down, from 32 to 300. */
static void test_samples(void **state)
{
    struct rng r = {2};

    (void)state;
    for (int i = 0; i < 14; i++)
        check(&r, (enum family)(i % FAMILIES), "dz"[i % 2], (int64_t)rng_between(&r, 30, 300),
              (int64_t)rng_between(&r, 30, 300), (int64_t)rng_between(&r, 1, 12), i % 4 != 3);
}

/* Numbers of moduli of equal cost, up and down; and where the way down stops. */
static void test_ties(void **state)
{
    struct rng r = {4};

    (void)state;
    assert_int_equal(check(&r, TIE_DOWN, 'd', 128, 128, 64, 1), 1300);
    assert_int_equal(check(&r, TIE_UP, 'd', 128, 128, 64, 1), 1300);
    assert_int_equal(check(&r, STOP, 'd', 512, 512, 4096, 1), 1400);
    assert_int_equal(check(&r, START, 'd', 128, 128, 64, 1), 1500);
}

/* Shifts are not looked at where they are not needed; what an estimate by a few bits is worth. */
static void test_alike(void **state)
{
    struct rng r = {5};

    (void)state;
    assert_int_equal(check(&r, USUAL, 'd', 20, 20, 3, 1), 1400);
    assert_int_equal(check(&r, ABOVE_USUAL, 'd', 20, 20, 3, 1), 100 * ozg_scaling_least(3) + 1);
    assert_int_equal(check(&r, ABOVE_USUAL, 'd', 20, 20, 3, 0), 1500);
    assert_true(check(&r, CANCEL, 'd', 20, 20, 3, 0) > check(&r, CANCEL_MORE, 'd', 20, 20, 3, 0));
}

/* More components than fit one piece. */
static void test_long(void **state)
{
    struct rng r = {3};

    (void)state;
    check(&r, WIDE, 'd', 4, 3, 17000, 1);
    check(&r, INSIDE, 'z', 3, 2, 9000, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small), cmocka_unit_test(test_samples), cmocka_unit_test(test_ties),
        cmocka_unit_test(test_alike), cmocka_unit_test(test_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
