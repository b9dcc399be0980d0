/*
 * decide.h - the decisions that native and rounded products take from a sample, for C11 and CUDA C.
 *
 * What is measured comes from elsewhere (choose.c, cuda/choose.cu). A search asks for what it wants to know:
 * it returns a number of moduli s, the caller finds out about s and calls again, until the search returns 0.
 * For native the decisions are part of the definition of the result (apart.h, doc/bounds.md): integers and
 * fixed constants.
 *
 * In CUDA C all lanes of a warp call the searches together, with the same arguments, and share the lines.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_DECIDE_H
#define OZG_DECIDE_H

#include <math.h>

#include "apart.h"

/* ---- lanes -------------------------------------------------------------------------------------- */

#if defined(__CUDA_ARCH__) || defined(OZG_EMULATED)
#define OZG_LANE         ((int)(threadIdx.x % 32))
#define OZG_LANES        32
#define OZG_LANES_SUM(x) __reduce_add_sync(0xffffffffu, x)
#define OZG_LANES_MAX(x) __reduce_max_sync(0xffffffffu, x)
#else
#define OZG_LANE         0
#define OZG_LANES        1
#define OZG_LANES_SUM(x) (x)
#define OZG_LANES_MAX(x) (x)
#endif

/* ---- the sample --------------------------------------------------------------------------------- */

/* Part of the definition of native results. */
#define OZG_SAMPLE_LEAST                                                                                     \
    16 /* lines of a side, fewer only if there are fewer; else a sixteenth of all, at most 32 */
#define OZG_SAMPLE_FLOOR 31              /* bits of the sampled elements */
#define OZG_SAMPLE_ZERO  (INT16_MIN / 2) /* exponent of 0, below all others */

/* ozg_sample_lines() - how many of `count` lines the sample takes at most. */
OZG_INLINE int64_t ozg_sample_lines(int64_t count)
{
    const int64_t wanted = count / 16 < OZG_SAMPLE_LEAST ? OZG_SAMPLE_LEAST : count / 16;

    return wanted > OZG_SAMPLE_LINES ? OZG_SAMPLE_LINES : wanted < count ? wanted : count;
}

/* Number q of `wanted` lines is this one of those present: all, if there are not more. */
OZG_INLINE int64_t ozg_sample_number(int64_t q, int64_t present, int64_t wanted)
{
    return present <= wanted ? q : q * present / wanted;
}

/* ---- pairs -------------------------------------------------------------------------------------- */

/* What follows from the request. */
typedef struct ozg_rule {
    int native; /* 0: rounded */
    int single, complex_;
    int c;           /* ozg_bound_unit() */
    int least;       /* moduli: ozg_scaling_least() */
    uint32_t factor; /* F of native grade */
    int64_t k;
    double rate; /* products a nanosecond */
} ozg_rule;

/*
 * Of each component of a pair: |sum x y| about in units of 2^(e_i + e_j - 31), L of ozg_bound_passes() times
 * 2^c, and the largest exponent of a term, less e_i + e_j.
 */
typedef struct ozg_pair {
    uint64_t value[2], magnitude[2];
    int16_t term[2];
} ozg_pair;

/*
 * |AB| of a pair is about *z 2^(e_i + e_j - 31 + *q): by the sum, and where that has no bits left, by the
 * largest term. z < 2^47.
 */
OZG_INLINE void ozg_pair_value(const ozg_pair *pair, int c, int part, uint64_t *z, int32_t *q)
{
    *z = pair->value[part] >> c;
    *q = c;
    if (pair->value[part] >> 8 || pair->term[part] < OZG_SAMPLE_ZERO)
        return;
    *z = 1 << 20;
    *q = pair->term[part] - 1 + OZG_SAMPLE_FLOOR - 20;
}

/*
 * Does native grade fail for the pair? As passes_native() of the reconstruct stage, with an estimate of c^.
 */
OZG_INLINE int ozg_pair_fails(const ozg_rule *r, const ozg_pair *pair, const ozg_factors *a,
                              const ozg_factors *b)
{
    const uint64_t bound = ozg_bound(a, b);
    const int32_t least = a->w < b->w ? a->w : b->w;
    int fails = 0;

    for (int part = 0; part <= r->complex_; part++) {
        uint64_t value;
        int32_t q;

        ozg_pair_value(pair, r->c, part, &value, &q); /* c^ = value 2^(least + most - 31 + q) */
        fails |= !ozg_bound_passes(bound, r->factor, (uint32_t)(pair->magnitude[part] >> r->c), r->single,
                                   r->complex_, r->c, least) &&
                 !ozg_bound_passes_value(bound, r->factor, value, least - OZG_SAMPLE_FLOOR + q, r->single,
                                         r->c, 0);
    }
    return fails;
}

/* Rough times of an exact entry: of itself, and of each place. They decide the time of rounded alone. */
#define OZG_REPAIR_NS 300.0
#define OZG_PLACE_NS  12.0

/*
 * The chance that the rounding of the pair is in doubt: 2 bound / ulp, where AB is about value
 * 2^(e_i + e_j - 31), ulp about 2^(1 - p) of it, and the bound 2^(-D-E) bound 2^(most + 2 c - 32).
 */
OZG_INLINE double ozg_pair_doubt(const ozg_rule *r, const ozg_pair *pair, const ozg_factors *a,
                                 const ozg_factors *b)
{
    const double bound = (double)ozg_bound(a, b);
    const int32_t least = a->w < b->w ? a->w : b->w;
    const int32_t shift = 2 * r->c - 32 + (r->single ? 24 : 53) + OZG_SAMPLE_FLOOR - least;
    double doubt = 0;

    for (int part = 0; part <= r->complex_; part++) {
        uint64_t value;
        int32_t q;

        ozg_pair_value(pair, r->c, part, &value, &q);
        doubt += ldexp(bound, shift - q) / ((double)value + 0.5);
    }
    return doubt < 1 ? doubt : 1;
}

/* What an exact entry costs, in products of one entry: by the places where elements were rounded, or all. */
OZG_INLINE double ozg_repair_cost(const ozg_rule *r, double places)
{
    const double k = (double)r->k;

    return (OZG_REPAIR_NS + OZG_PLACE_NS * (places < k / 2 ? places : k / 2)) * r->rate / k;
}

/* How many of m n entries are repaired, if `repairs` / OZG_COST_UNIT of so many pairs are. */
OZG_INLINE uint64_t ozg_repairs_of(uint64_t repairs, uint64_t pairs, int64_t m, int64_t n)
{
    return (uint64_t)((double)repairs / OZG_COST_UNIT / (double)pairs * (double)m * (double)n);
}

/* ---- the number of moduli ------------------------------------------------------------------------ */

typedef struct ozg_choice {
    int nmod;
    int shifted;      /* the shifts along k pay: they are in shift_a and shift_b */
    uint64_t repairs; /* estimate of entries to be repaired, with nmod for all */
    ozg_apart apart;  /* lines that are to be computed apart */
    uint64_t cost;    /* of all pairs, in OZG_COST_UNIT */
} ozg_choice;

/* What a search wants to know: s of it, and no more than that the cost of s is above the limit, if it is. */
typedef struct ozg_wish {
    int s; /* 0: nothing, the search is done */
    uint64_t limit;
} ozg_wish;

/* Part of the definition of native results: moduli at which the search begins, what full mantissas take. */
OZG_INLINE int ozg_usual_moduli(const ozg_rule *r)
{
    return (r->single ? 8 : 14) + (r->native ? 0 : 3);
}

OZG_INLINE int ozg_start_moduli(const ozg_rule *r)
{
    const int usual = ozg_usual_moduli(r);

    return usual > r->least ? usual : r->least;
}

/* The cost of one product of the sample. */
OZG_INLINE uint64_t ozg_product_cost(const ozg_fails *f)
{
    return (uint64_t)(f->rows * f->columns) * OZG_COST_UNIT;
}

/*
 * Data that cost less than one product more than usual (rounded: two) are not looked at again: neither for
 * lines far out nor for shifts.
 */
OZG_INLINE int ozg_is_usual(const ozg_rule *r, const ozg_fails *f, uint64_t cost)
{
    return cost < (uint64_t)(ozg_usual_moduli(r) + (r->native ? 1 : 2)) * ozg_product_cost(f);
}

/*
 * ozg_know() - the cost of s, native: of so many failing pairs, whose masks are set if `all` of them were
 * counted.
 */
OZG_INLINE void ozg_know(ozg_fails *f, int s, uint64_t fails, int all)
{
    f->repairs[s] = fails * OZG_COST_UNIT;
    f->cost[s] = (uint64_t)s * ozg_product_cost(f) + OZG_REPAIR * f->repairs[s];
    f->known[s] = (uint8_t)(all ? OZG_KNOWN : OZG_ABOVE);
}

/* How many failing pairs may be counted before the cost of s is above the limit. */
OZG_INLINE uint64_t ozg_enough_fails(const ozg_fails *f, int s, uint64_t limit)
{
    const uint64_t products = (uint64_t)s * ozg_product_cost(f);

    return limit > products ? (limit - products) / (OZG_REPAIR * OZG_COST_UNIT) : 0;
}

/*
 * ozg_know_doubts() - the same, rounded: of so many doubts, and what their repairs cost in products times
 * pairs.
 */
OZG_INLINE void ozg_know_doubts(ozg_fails *f, int s, double doubts, double work)
{
    f->repairs[s] = (uint64_t)(doubts * OZG_COST_UNIT);
    f->cost[s] = (uint64_t)s * ozg_product_cost(f) + (uint64_t)(work * OZG_COST_UNIT);
    f->known[s] = OZG_KNOWN;
}

OZG_INLINE ozg_wish ozg_wish_for(int s, uint64_t limit)
{
    ozg_wish w;

    w.s = s;
    w.limit = limit;
    return w;
}

/* The cheapest s for all: upwards from a start, else downwards. */
OZG_INLINE ozg_wish ozg_search_one(const ozg_rule *r, const ozg_fails *f, int *nmod, uint64_t *lowest)
{
    const int start = ozg_start_moduli(r);

    if (!f->known[start])
        return ozg_wish_for(start, UINT64_MAX);
    *lowest = f->cost[start];
    *nmod = start;
    for (int s = start + 1; s <= OZG_NMOD_MAX && (uint64_t)s * ozg_product_cost(f) < *lowest; s++) {
        if (!f->known[s])
            return ozg_wish_for(s, *lowest);
        if (f->cost[s] < *lowest) {
            *lowest = f->cost[s];
            *nmod = s;
        }
    }
    for (int s = start - 1; *nmod == s + 1 && s >= r->least; s--) {
        if (!f->known[s])
            return ozg_wish_for(s, *lowest);
        if (f->cost[s] <= *lowest) {
            *lowest = f->cost[s];
            *nmod = s;
        }
    }
    return ozg_wish_for(0, 0);
}

/* ---- lines far out: rules 1 to 3 of apart.h -------------------------------------------------------- */

OZG_INLINE uint32_t ozg_first_bits(int count)
{
    return count < 32 ? (UINT32_C(1) << count) - 1 : UINT32_MAX;
}

/* The line with the largest share of failing pairs so far. */
typedef struct ozg_worst {
    int line, is_row, fails, pairs;
} ozg_worst;

/*
 * The first of the lines with the most failing pairs, if its share is larger than that of w. mask[q]: fails
 * of line q.
 */
OZG_INLINE void ozg_find_worst(const uint32_t *mask, int count, uint32_t lines, uint32_t others, int is_row,
                               ozg_worst *w)
{
    const int pairs = ozg_bit_count(others);
    int most = 0, fails;

    for (int q = OZG_LANE; q < count; q += OZG_LANES) {
        const int fail = lines >> q & 1 ? ozg_bit_count(mask[q] & others) : 0;
        const int key = fail * OZG_SAMPLE_LINES + OZG_SAMPLE_LINES - 1 - q;

        most = key > most ? key : most;
    }
    most = OZG_LANES_MAX(most);
    fails = most / OZG_SAMPLE_LINES;
    if (fails * w->pairs > w->fails * pairs) {
        w->line = OZG_SAMPLE_LINES - 1 - most % OZG_SAMPLE_LINES;
        w->is_row = is_row;
        w->fails = fails;
        w->pairs = pairs;
    }
}

/* The ordinary rows and columns at s. 0: too many are not. */
OZG_INLINE int ozg_take_out(const ozg_fails *f, int s, uint32_t *rows, uint32_t *columns)
{
    uint32_t column[OZG_SAMPLE_LINES]; /* each lane reads what it wrote itself */

    for (int j = OZG_LANE; j < f->columns; j += OZG_LANES) {
        column[j] = 0;
        for (int i = 0; i < f->rows; i++)
            column[j] |= (f->row[s][i] >> j & 1) << i;
    }
    *rows = ozg_first_bits(f->rows);
    *columns = ozg_first_bits(f->columns);
    for (;;) {
        ozg_worst w = {0, 0, 0, 1};

        ozg_find_worst(f->row[s], f->rows, *rows, *columns, 1, &w);
        ozg_find_worst(column, f->columns, *columns, *rows, 0, &w);
        if (OZG_FAR_PAIRS * w.fails <= w.pairs)
            return 1;
        *(w.is_row ? rows : columns) &= ~(UINT32_C(1) << w.line);
        if (OZG_FAR_LINES * (f->rows - ozg_bit_count(*rows)) >= f->rows ||
            OZG_FAR_LINES * (f->columns - ozg_bit_count(*columns)) >= f->columns)
            return 0;
    }
}

/* Failing pairs at s of these rows and columns. */
OZG_INLINE uint64_t ozg_count_fails(const ozg_fails *f, int s, uint32_t rows, uint32_t columns)
{
    int fails = 0;

    for (int i = OZG_LANE; i < f->rows; i += OZG_LANES)
        fails += rows >> i & 1 ? ozg_bit_count(f->row[s][i] & columns) : 0;
    return (uint64_t)OZG_LANES_SUM(fails);
}

/* The cost of s moduli for the pairs of these rows and columns. */
OZG_INLINE uint64_t ozg_cost_of(const ozg_fails *f, int s, uint32_t rows, uint32_t columns)
{
    const uint64_t products = (uint64_t)s * (uint64_t)(ozg_bit_count(rows) * ozg_bit_count(columns));

    return (products + OZG_REPAIR * ozg_count_fails(f, s, rows, columns)) * OZG_COST_UNIT;
}

/*
 * *cost += the same with the best number from s on, where lines are split again; across: lines of the other
 * side. Returns a number that has to be known first, or 0.
 */
OZG_INLINE int ozg_add_best_cost(const ozg_fails *f, int s, uint32_t rows, uint32_t columns, int64_t across,
                                 uint64_t *cost)
{
    const uint64_t all = ozg_product_cost(f);
    const uint64_t pairs = (uint64_t)(ozg_bit_count(rows) * ozg_bit_count(columns)) * OZG_COST_UNIT;
    uint64_t lowest = UINT64_MAX;

    if (pairs == 0)
        return 0;
    for (; s <= OZG_NMOD_MAX && (uint64_t)s * pairs < lowest; s++) {
        const uint64_t again = OZG_SPLIT_AGAIN * (uint64_t)s * all / (uint64_t)across;
        uint64_t here;

        if (f->known[s] != OZG_KNOWN)
            return s;
        here = ozg_cost_of(f, s, rows, columns) + again;
        lowest = here < lowest ? here : lowest;
    }
    *cost += lowest;
    return 0;
}

/*
 * ozg_apart_search() - rules 1 to 3: the wish, or in *best what is to be computed apart. s: the best number
 * for all lines, of cost `lowest`; least: the smallest.
 */
OZG_INLINE ozg_wish ozg_apart_search(const ozg_fails *f, int s, int least, uint64_t lowest, ozg_apart *best)
{
    const uint32_t all_rows = ozg_first_bits(f->rows), all_columns = ozg_first_bits(f->columns);
    const uint64_t gain = OZG_APART_GAIN * ozg_product_cost(f);

    best->nmod = 0;
    best->cost = lowest > gain ? lowest - gain + 1 : 0;
    for (int s1 = s; s1 >= least && best->cost; s1--) {
        uint32_t rows, columns;
        uint64_t cost;
        int unknown = f->known[s1] != OZG_KNOWN ? s1 : 0;

        if (unknown)
            return ozg_wish_for(unknown, UINT64_MAX);
        if (!ozg_take_out(f, s1, &rows, &columns))
            break;
        cost = ozg_cost_of(f, s1, rows, columns);
        if (s1 < s && cost >= lowest)
            break;
        if (rows == all_rows && columns == all_columns)
            continue;
        unknown = ozg_add_best_cost(f, s1, all_rows & ~rows, all_columns, f->m, &cost);
        if (!unknown)
            unknown = ozg_add_best_cost(f, s1, rows, all_columns & ~columns, f->n, &cost);
        if (unknown)
            return ozg_wish_for(unknown, UINT64_MAX);
        if (cost < best->cost) {
            best->nmod = s1;
            best->rows = rows;
            best->columns = columns;
            best->far_rows = ozg_bit_count(all_rows & ~rows);
            best->far_columns = ozg_bit_count(all_columns & ~columns);
            best->cost = cost;
        }
    }
    return ozg_wish_for(0, 0);
}

/* The number of moduli, and whether lines far out are to be computed apart, if that is allowed. */
OZG_INLINE ozg_wish ozg_search(const ozg_rule *r, const ozg_fails *f, int apart, ozg_choice *choice)
{
    ozg_wish wish = ozg_search_one(r, f, &choice->nmod, &choice->cost);

    choice->shifted = 0;
    choice->apart.nmod = 0;
    if (wish.s)
        return wish;
    choice->repairs = f->repairs[choice->nmod];
    if (!apart || !r->native || ozg_is_usual(r, f, choice->cost))
        return wish;
    wish = ozg_apart_search(f, choice->nmod, r->least, choice->cost, &choice->apart);
    if (!wish.s && choice->apart.nmod)
        choice->cost = choice->apart.cost;
    return wish;
}

/* Rule 4: a line that fails in so many of its pairs. */
OZG_INLINE int ozg_is_far(int fails, int pairs)
{
    return OZG_FAR_PAIRS * fails > pairs;
}

/* Rule 5. */
OZG_INLINE int ozg_too_many_far(int64_t far, int64_t count)
{
    return far > count / OZG_FAR_LINES;
}

/* The parts of an m x n product that are not empty; returns how many. */
OZG_INLINE int ozg_apart_parts(int64_t m, int64_t far_rows, int64_t n, int64_t far_columns,
                               ozg_part part[OZG_PARTS])
{
    const int64_t rows = m - far_rows, columns = n - far_columns;
    const ozg_part ordinary = {0, rows, 0, columns}; /* more than half of both sides */
    const ozg_part below = {rows, far_rows, 0, n}, beside = {0, rows, columns, far_columns};
    int parts = 0;

    part[parts++] = ordinary;
    if (far_rows)
        part[parts++] = below;
    if (far_columns)
        part[parts++] = beside;
    return parts;
}

/* ---- shifts along k ------------------------------------------------------------------------------- */

#define OZG_SHIFT_MOST 1100      /* of an element along k: part of the definition of native results */
#define OZG_ROOM_NONE  INT16_MIN /* of elements that are all 0 */

/*
 * The shift d_p of A (that of B is -d_p), (room of B - room of A) / 2 towards 0, that evens out a scaling
 * inside: A diag(2^x), diag(2^-x) B. The room: the largest exponent of element p in any line, less that of
 * the line.
 */
OZG_INLINE int32_t ozg_shift_of_rooms(int32_t a, int32_t b)
{
    const int32_t half = a == OZG_ROOM_NONE || b == OZG_ROOM_NONE ? 0 : (b - a) / 2;

    return half > OZG_SHIFT_MOST ? OZG_SHIFT_MOST : half < -OZG_SHIFT_MOST ? -OZG_SHIFT_MOST : half;
}

/* Shifts are taken if they save at least one product. */
OZG_INLINE int ozg_shifts_pay(const ozg_fails *f, uint64_t shifted, uint64_t plain)
{
    return shifted + ozg_product_cost(f) <= plain;
}

#endif
