/*
 * choose.c - samples lines of both operands and asks for each number of moduli how many entries would fail.
 *
 * The sample is up to 32 lines a side, evenly among those that take part, and all pairs of them. For s moduli
 * the lines are scaled as all lines would be; their residuals give the bound of each pair, and floors of the
 * elements (arith/bound.h) give a lower bound of |A||B| and, with more bits, an estimate of AB. The cost of
 * s is
 *
 *     native    s + OZG_REPAIR (share of pairs that fail)          in products of the size of the problem
 *     rounded   s + the time of repairs in the same unit, from the chance that the rounding is in doubt
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <string.h>

#include "choose.h"
#include "cpu/kernel.h"
#include "cpu/stages.h"
#include "parallel.h"
#include "sample.h"
#include "scaling.h"

/* Part of the definition of native results. */
#define START_DOUBLE 14 /* moduli at which the search begins */
#define START_SINGLE 8
#define SHIFT_MOST   1100 /* of an element along k */

/* Rough times of an exact entry: of itself, and of each place. They decide the time of rounded alone. */
#define REPAIR_NS 300.0
#define PLACE_NS  12.0

/* ---- the cost of s moduli ----------------------------------------------------------------------- */

/*
 * The chance that the rounding of the pair is in doubt: 2 bound / ulp, where AB is about value
 * 2^(e_i + e_j - 31), ulp about 2^(1 - p) of it, and the bound 2^(-D-E) bound 2^(most + 2 c - 32).
 */
static double pair_doubt(const ozg_sample *z, int i, int j, uint64_t bound, int32_t least)
{
    const int complex_ = z->st->scalars.complex_, c = ozg_bound_unit(z->st->length);
    const int32_t shift = 2 * c - 32 + (z->st->scalars.single ? 24 : 53) + OZG_SAMPLE_FLOOR - least;
    double doubt = 0;

    for (int part = 0; part <= complex_; part++) {
        uint64_t value;
        int32_t q;

        ozg_sample_value(z, i, j, part, &value, &q);
        doubt += ldexp((double)bound, shift - q) / ((double)value + 0.5);
    }
    return doubt < 1 ? doubt : 1;
}

/* What an exact entry costs, in products of one entry: by the places where elements were rounded, or all. */
static double repair_cost(const ozg_sample *z, int i, int j)
{
    const double k = (double)z->st->k, places = (double)z->a.places[i] + (double)z->b.places[j];

    return (REPAIR_NS + PLACE_NS * (places < k / 2 ? places : k / 2)) * z->st->kernel->rate / k;
}

/* What the repairs of rounded cost, in products times pairs; *doubts: how many are expected. */
static double doubt_cost(const ozg_sample *z, double *doubts)
{
    double work = 0;

    *doubts = 0;
    for (int i = 0; i < z->a.lines.count; i++)
        for (int j = 0; j < z->b.lines.count; j++) {
            const ozg_factors a = ozg_factors_of(&z->a.lines, i), b = ozg_factors_of(&z->b.lines, j);
            const double doubt = pair_doubt(z, i, j, ozg_bound(&a, &b), a.w < b.w ? a.w : b.w);

            *doubts += doubt;
            work += doubt * repair_cost(z, i, j);
        }
    return work;
}

/*
 * The cost of s moduli for all pairs, in products (of the size of the problem) times pairs times
 * OZG_COST_UNIT; some number above `limit` if it is above that.
 */
static uint64_t cost(ozg_sample *z, int s, uint64_t limit)
{
    const uint64_t pairs = (uint64_t)(z->a.lines.count * z->b.lines.count), most = pairs * OZG_COST_UNIT;
    const uint64_t left = limit > (uint64_t)s * most ? limit - (uint64_t)s * most : 0;
    double doubts, work;

    ozg_sample_residuals(z, OZG_SIDE_A | OZG_SIDE_B, s);
    if (z->st->kind == OZG_BY_NATIVE) {
        const uint64_t enough = left / (OZG_REPAIR * OZG_COST_UNIT);
        const uint64_t fails = ozg_sample_fails(z, enough, z->fails.row[s]);

        z->repairs = fails * OZG_COST_UNIT;
        z->fails.known[s] = fails <= enough;
        return (uint64_t)s * most + OZG_REPAIR * z->repairs;
    }
    work = doubt_cost(z, &doubts);
    z->repairs = (uint64_t)(doubts * OZG_COST_UNIT);
    return (uint64_t)s * most + (uint64_t)(work * OZG_COST_UNIT);
}

static void know_fails(void *arg, int s)
{
    cost(arg, s, UINT64_MAX);
}

/* What full mantissas of like size take. */
static int usual_moduli(const ozg_sample *z)
{
    return (z->st->scalars.single ? START_SINGLE : START_DOUBLE) + (z->st->kind == OZG_BY_ROUNDED ? 3 : 0);
}

/* Looks for the cheapest s for all: upwards from a start, else downwards. *lowest: its cost. */
static ozg_choice search_one(ozg_sample *z, uint64_t *lowest)
{
    const uint64_t product =
        (uint64_t)(z->a.lines.count * z->b.lines.count) * OZG_COST_UNIT; /* the cost of one */
    const int least = ozg_scaling_least(z->st->length);
    const int start = usual_moduli(z) > least ? usual_moduli(z) : least;
    ozg_choice best = {start, 0, 0, {0, 0, 0, 0, 0, 0}};
    uint64_t here;

    *lowest = cost(z, start, UINT64_MAX);
    best.repairs = z->repairs;
    for (int s = start + 1; s <= OZG_NMOD_MAX && (uint64_t)s * product < *lowest; s++)
        if ((here = cost(z, s, *lowest)) < *lowest) {
            *lowest = here;
            best = (ozg_choice){s, 0, z->repairs, {0, 0, 0, 0, 0, 0}};
        }
    for (int s = start - 1; best.nmod == s + 1 && s >= least; s--)
        if ((here = cost(z, s, *lowest)) <= *lowest) {
            *lowest = here;
            best = (ozg_choice){s, 0, z->repairs, {0, 0, 0, 0, 0, 0}};
        }
    return best;
}

/*
 * Data that cost less than one product more than usual (rounded: two) are not looked at again: neither for lines
 * far out nor for shifts.
 */
static int is_usual(const ozg_sample *z, uint64_t lowest)
{
    const uint64_t product = (uint64_t)(z->a.lines.count * z->b.lines.count) * OZG_COST_UNIT;

    return lowest < (uint64_t)(usual_moduli(z) + (z->st->kind == OZG_BY_ROUNDED ? 2 : 1)) * product;
}

/* The same, and whether lines far out are to be computed apart. */
static ozg_choice search(ozg_sample *z, int apart, uint64_t *lowest)
{
    ozg_choice best;

    memset(z->fails.known, 0, sizeof z->fails.known);
    z->fails.rows = (int)z->a.lines.count;
    z->fails.columns = (int)z->b.lines.count;
    z->fails.m = z->a.all->count;
    z->fails.n = z->b.all->count;
    z->fails.find = know_fails;
    z->fails.sample = z;
    best = search_one(z, lowest);
    if (apart && z->st->kind == OZG_BY_NATIVE && !is_usual(z, *lowest)) {
        best.apart = ozg_apart_search(&z->fails, best.nmod, ozg_scaling_least(z->st->length), *lowest);
        *lowest = best.apart.nmod ? best.apart.cost : *lowest;
    }
    return best;
}

/* ---- scaling along k ---------------------------------------------------------------------------- */

/* Rooms of a block of elements, of all lines. */
typedef struct room_job {
    const ozg_lines *lines;
    int16_t *room;
} room_job;

#define ROOM_BLOCK 512 /* elements of a task */

/* The largest exponent of a component of element p of line i, less that of the line. */
static int32_t room_of(const ozg_lines *l, int64_t i, int64_t p)
{
    const ozg_view *v = &l->view;
    const int parts = 1 + ozg_type_complex(v->type), single = ozg_type_single(v->type);
    const int64_t line = ozg_line_stored(l, i) * v->line_stride;
    int32_t most = INT16_MIN;

    for (int part = 0; part < parts; part++) {
        const int64_t at = (line + p * v->step) * parts + part;
        const uint64_t bits = ozg_load_bits(v->x, single, at) & ~OZG_F64_SIGN;
        const int32_t e = bits ? ozg_exponent(bits) - l->e[i] : INT16_MIN;

        most = e > most ? e : most;
    }
    return most;
}

static void room_task(void *arg, int64_t task, int thread)
{
    const room_job *job = arg;
    const ozg_lines *l = job->lines;
    const int64_t begin = task * ROOM_BLOCK, end = begin + ROOM_BLOCK < l->k ? begin + ROOM_BLOCK : l->k;
    const int along = l->view.step == 1; /* the inner loop runs along memory */
    const int64_t outer = along ? l->count : end - begin, inner = along ? end - begin : l->count;

    (void)thread;
    for (int64_t p = begin; p < end; p++)
        job->room[p] = INT16_MIN;
    for (int64_t q = 0; q < outer; q++)
        for (int64_t r = 0; r < inner; r++) {
            const int64_t i = along ? q : r, p = begin + (along ? r : q);
            const int32_t room = l->e[i] == OZG_E_NONE ? INT16_MIN : room_of(l, i, p);

            job->room[p] = room > job->room[p] ? (int16_t)room : job->room[p];
        }
}

/* room[p] = the largest exponent of element p in any line, less that of the line; INT16_MIN: all are 0. */
static void set_room(const ozg_stage *st, const ozg_lines *lines, int16_t *room)
{
    room_job job = {lines, room};

    ozg_parallel(st->threads, (lines->k + ROOM_BLOCK - 1) / ROOM_BLOCK, room_task, &job);
}

/*
 * Shifts d_p of A and -d_p of B, d_p = (room of B - room of A) / 2 towards 0, that even out a scaling
 * inside: A diag(2^x), diag(2^-x) B. Returns 0 if all are 0.
 */
static int set_shifts(const ozg_sample *z, int16_t *shift_a, int16_t *shift_b)
{
    int any = 0;

    set_room(z->st, z->a.all, shift_a);
    set_room(z->st, z->b.all, shift_b);
    for (int64_t p = 0; p < z->st->k; p++) {
        const int32_t a = shift_a[p], b = shift_b[p],
                      half = a == INT16_MIN || b == INT16_MIN ? 0 : (b - a) / 2;
        const int32_t d = half > SHIFT_MOST ? SHIFT_MOST : half < -SHIFT_MOST ? -SHIFT_MOST : half;

        shift_a[p] = (int16_t)d;
        shift_b[p] = (int16_t)-d;
        any |= d != 0;
    }
    return any;
}

/* The choice with shifts, if it saves at least one product; else `plain`, whose cost is `lowest`. */
static ozg_choice try_shifts(ozg_sample *z, int apart, ozg_choice plain, uint64_t lowest, int16_t *shift_a,
                             int16_t *shift_b)
{
    const uint64_t product = (uint64_t)(z->a.lines.count * z->b.lines.count) * OZG_COST_UNIT;
    ozg_choice shifted;
    uint64_t cost_shifted;

    if (is_usual(z, lowest) || !set_shifts(z, shift_a, shift_b))
        return plain;
    z->a.shift = shift_a;
    z->b.shift = shift_b;
    ozg_sample_measure(z, &z->a);
    ozg_sample_measure(z, &z->b);
    ozg_sample_pairs(z);
    shifted = search(z, apart, &cost_shifted);
    shifted.shifted = 1;
    return cost_shifted + product <= lowest ? shifted : plain;
}

/* ---- lines far out ------------------------------------------------------------------------------ */

/* Keeps OZG_FAR_AGAINST of the lines of the mask, evenly. */
static void keep_lines(ozg_side *x, uint32_t mask)
{
    const int present = ozg_bit_count(mask), wanted = present < OZG_FAR_AGAINST ? present : OZG_FAR_AGAINST;
    int n = 0, seen = 0;

    for (int q = 0; q < x->lines.count && n < wanted; q++)
        if (mask >> q & 1) {
            if (seen == n * present / wanted)
                x->index[n++] = x->index[q];
            seen++;
        }
    ozg_sample_take(x, n);
}

/* Pairs of line q of a side that fail. */
static int fails_of(const uint32_t row[OZG_SAMPLE_LINES], int is_a, int q, int others)
{
    int fails = 0;

    if (is_a)
        return ozg_bit_count(row[q]);
    for (int i = 0; i < others; i++)
        fails += (int)(row[i] >> q & 1);
    return fails;
}

typedef struct far_job {
    const ozg_stage *st;
    const ozg_lines *a, *b;
    const ozg_apart *apart;
    int is_a; /* the lines that are looked at */
    int64_t block;
    uint8_t *far;
    unsigned char *memory; /* bytes for each thread */
    size_t bytes;
} far_job;

/* Flags the lines of a block that are far out. */
static void far_task(void *arg, int64_t task, int thread)
{
    const far_job *job = arg;
    ozg_sample *z = (ozg_sample *)(void *)(job->memory + (size_t)thread * job->bytes);
    ozg_side *x = job->is_a ? &z->a : &z->b, *other = job->is_a ? &z->b : &z->a;
    const int64_t first = task * job->block;
    int n = 0;

    for (int64_t i = first; i < first + job->block && i < x->all->count; i++)
        if (x->all->e[i] != OZG_E_NONE)
            x->index[n++] = i;
    ozg_sample_take(x, n);
    ozg_sample_pairs(z);
    ozg_sample_residuals(z, job->is_a ? OZG_SIDE_A : OZG_SIDE_B, job->apart->nmod);
    ozg_sample_fails(z, UINT64_MAX, z->fails.row[0]);
    for (int q = 0; q < n; q++) {
        const int fails = fails_of(z->fails.row[0], job->is_a, q, (int)other->lines.count);

        job->far[x->index[q]] = OZG_FAR_PAIRS * fails > other->lines.count;
    }
}

/* Flags the lines of a side that are far out. */
static void find_far(far_job *job, int threads)
{
    const int64_t count = job->is_a ? job->a->count : job->b->count;
    const int64_t tasks = (count + job->block - 1) / job->block;

    for (int t = 0; t < threads; t++) {
        ozg_sample *z = ozg_sample_open(job->st, job->a, job->b, job->memory + (size_t)t * job->bytes);
        ozg_side *other = job->is_a ? &z->b : &z->a;

        keep_lines(other, job->is_a ? job->apart->columns : job->apart->rows);
        ozg_sample_residuals(z, job->is_a ? OZG_SIDE_B : OZG_SIDE_A, job->apart->nmod);
    }
    ozg_parallel(threads, tasks, far_task, job);
}

/* ---- public ------------------------------------------------------------------------------------- */

ozg_choice ozg_choose(const ozg_stage *st, const ozg_lines *a, const ozg_lines *b, int s, int apart,
                      int16_t *shift_a, int16_t *shift_b, void *memory)
{
    ozg_sample *z = ozg_sample_open(st, a, b, memory);
    ozg_choice choice = {s ? s : ozg_scaling_least(st->length), 0, 0, {0, 0, 0, 0, 0, 0}};
    const uint64_t pairs = (uint64_t)(z->a.lines.count * z->b.lines.count);
    uint64_t lowest;

    if (pairs == 0)
        return choice;
    ozg_sample_pairs(z);
    if (s) {
        cost(z, s, UINT64_MAX);
        choice.repairs = z->repairs;
    } else {
        choice = search(z, apart, &lowest);
        if (shift_a && shift_b)
            choice = try_shifts(z, apart, choice, lowest, shift_a, shift_b);
    }
    choice.repairs = (uint64_t)((double)choice.repairs / OZG_COST_UNIT / (double)pairs * (double)a->count *
                                (double)b->count);
    return choice;
}

void ozg_choose_far(const ozg_stage *st, const ozg_lines *a, const ozg_lines *b, const ozg_apart *apart,
                    uint8_t *far_a, uint8_t *far_b, void *memory, size_t bytes)
{
    const size_t each = (ozg_choose_bytes(a->view.type, a->count, b->count, a->k) + 63) / 64 * 64;
    const int64_t fit = (int64_t)(bytes / each);
    const int threads = fit < 1 ? 1 : fit < st->threads ? (int)fit : st->threads;
    far_job rows = {st, a, b, apart, 1, ozg_sample_lines(a->count), far_a, memory, each};
    far_job columns = {st, a, b, apart, 0, ozg_sample_lines(b->count), far_b, memory, each};

    memset(far_a, 0, (size_t)a->count);
    memset(far_b, 0, (size_t)b->count);
    if (apart->far_rows)
        find_far(&rows, threads);
    if (apart->far_columns)
        find_far(&columns, threads);
}
