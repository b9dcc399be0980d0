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
#include <string.h>

#include "choose.h"
#include "cpu/kernel.h"
#include "cpu/stages.h"
#include "parallel.h"
#include "sample.h"
#include "scaling.h"

/* ---- the cost of s moduli ----------------------------------------------------------------------- */

/* What the repairs of rounded cost, in products times pairs; *doubts: how many are expected. */
static double doubt_cost(const ozg_sample *z, double *doubts)
{
    double work = 0;

    *doubts = 0;
    for (int i = 0; i < z->a.lines.count; i++)
        for (int j = 0; j < z->b.lines.count; j++) {
            const ozg_factors a = ozg_factors_of(&z->a.lines, i), b = ozg_factors_of(&z->b.lines, j);
            const double doubt = ozg_pair_doubt(&z->rule, &z->pair[i][j], &a, &b);

            *doubts += doubt;
            work += doubt * ozg_repair_cost(&z->rule, (double)z->a.places[i] + (double)z->b.places[j]);
        }
    return work;
}

/* Finds out what a search wants to know. */
static void look(ozg_sample *z, ozg_wish wish)
{
    ozg_fails *f = &z->fails;

    ozg_sample_residuals(z, OZG_SIDE_A | OZG_SIDE_B, wish.s);
    if (z->rule.native) {
        const uint64_t enough = ozg_enough_fails(f, wish.s, wish.limit);
        const uint64_t fails = ozg_sample_fails(z, enough, f->row[wish.s]);

        ozg_know(f, wish.s, fails, fails <= enough);
    } else {
        double doubts;
        const double work = doubt_cost(z, &doubts);

        ozg_know_doubts(f, wish.s, doubts, work);
    }
}

/* Nothing is known of the pairs yet. */
static void forget(ozg_sample *z)
{
    ozg_fails *f = &z->fails;

    memset(f->known, 0, sizeof f->known);
    f->rows = (int)z->a.lines.count;
    f->columns = (int)z->b.lines.count;
    f->m = z->a.all->count;
    f->n = z->b.all->count;
}

static ozg_choice search(ozg_sample *z, int apart)
{
    ozg_choice choice;
    ozg_wish wish;

    forget(z);
    while ((wish = ozg_search(&z->rule, &z->fails, apart, &choice)).s)
        look(z, wish);
    return choice;
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
    int32_t most = OZG_ROOM_NONE;

    for (int part = 0; part < parts; part++) {
        const int64_t at = (line + p * v->step) * parts + part;
        const uint64_t bits = ozg_load_bits(v->x, single, at) & ~OZG_F64_SIGN;
        const int32_t e = bits ? ozg_exponent(bits) - l->e[i] : OZG_ROOM_NONE;

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
        job->room[p] = OZG_ROOM_NONE;
    for (int64_t q = 0; q < outer; q++)
        for (int64_t r = 0; r < inner; r++) {
            const int64_t i = along ? q : r, p = begin + (along ? r : q);
            const int32_t room = l->e[i] == OZG_E_NONE ? OZG_ROOM_NONE : room_of(l, i, p);

            job->room[p] = room > job->room[p] ? (int16_t)room : job->room[p];
        }
}

/*
 * room[p] = the largest exponent of element p in any line, less that of the line; OZG_ROOM_NONE: all are 0.
 */
static void set_room(const ozg_stage *st, const ozg_lines *lines, int16_t *room)
{
    room_job job = {lines, room};

    ozg_parallel(st->threads, (lines->k + ROOM_BLOCK - 1) / ROOM_BLOCK, room_task, &job);
}

/* Shifts of A and B along k. Returns 0 if all are 0. */
static int set_shifts(const ozg_sample *z, int16_t *shift_a, int16_t *shift_b)
{
    int any = 0;

    set_room(z->st, z->a.all, shift_a);
    set_room(z->st, z->b.all, shift_b);
    for (int64_t p = 0; p < z->st->k; p++) {
        const int32_t d = ozg_shift_of_rooms(shift_a[p], shift_b[p]);

        shift_a[p] = (int16_t)d;
        shift_b[p] = (int16_t)-d;
        any |= d != 0;
    }
    return any;
}

/* The choice with shifts, if they pay, else `plain`. */
static ozg_choice try_shifts(ozg_sample *z, int apart, ozg_choice plain, int16_t *shift_a, int16_t *shift_b)
{
    ozg_choice shifted;

    if (ozg_is_usual(&z->rule, &z->fails, plain.cost) || !set_shifts(z, shift_a, shift_b))
        return plain;
    z->a.shift = shift_a;
    z->b.shift = shift_b;
    ozg_sample_measure(z, &z->a);
    ozg_sample_measure(z, &z->b);
    ozg_sample_pairs(z);
    shifted = search(z, apart);
    shifted.shifted = 1;
    return ozg_shifts_pay(&z->fails, shifted.cost, plain.cost) ? shifted : plain;
}

/* ---- lines far out ------------------------------------------------------------------------------ */

/* Keeps OZG_FAR_AGAINST of the lines of the mask, evenly. */
static void keep_lines(ozg_side *x, uint32_t mask)
{
    const int present = ozg_bit_count(mask), wanted = present < OZG_FAR_AGAINST ? present : OZG_FAR_AGAINST;
    int n = 0, seen = 0;

    for (int q = 0; q < x->lines.count && n < wanted; q++)
        if (mask >> q & 1) {
            if (seen == ozg_sample_number(n, present, OZG_FAR_AGAINST))
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

        job->far[x->index[q]] = (uint8_t)ozg_is_far(fails, (int)other->lines.count);
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
    ozg_choice choice = {s ? s : z->rule.least, 0, 0, {0, 0, 0, 0, 0, 0}, 0};
    const uint64_t pairs = (uint64_t)(z->a.lines.count * z->b.lines.count);

    if (pairs == 0)
        return choice;
    ozg_sample_pairs(z);
    if (s) {
        forget(z);
        look(z, ozg_wish_for(s, UINT64_MAX));
        choice.repairs = z->fails.repairs[s];
    } else {
        choice = search(z, apart);
        if (shift_a && shift_b)
            choice = try_shifts(z, apart, choice, shift_a, shift_b);
    }
    choice.repairs = ozg_repairs_of(choice.repairs, pairs, a->count, b->count);
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
