/*
 * apart.c - which sampled lines are far out, what parts would cost, and lines in the order of the parts.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "apart.h"

static uint32_t first_bits(int count)
{
    return count < 32 ? (UINT32_C(1) << count) - 1 : UINT32_MAX;
}

static int bit_count(uint32_t mask)
{
    return ozg_bit_count(mask);
}

/* ---- rule 1 ------------------------------------------------------------------------------------- */

/* column[j]: bit i is bit j of row[i]. */
static void transpose(const uint32_t *row, int rows, int columns, uint32_t *column)
{
    memset(column, 0, (size_t)columns * sizeof *column);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            column[j] |= (row[i] >> j & 1) << i;
}

/* The line with the largest share of failing pairs so far. */
typedef struct worst {
    int line, is_row, fails, pairs;
} worst;

static void find_worst(const uint32_t *fails, int count, uint32_t lines, uint32_t others, int is_row,
                       worst *w)
{
    const int pairs = bit_count(others);

    for (int q = 0; q < count; q++) {
        const int fail = lines >> q & 1 ? bit_count(fails[q] & others) : 0;

        if (fail * w->pairs > w->fails * pairs)
            *w = (worst){q, is_row, fail, pairs};
    }
}

/* The ordinary rows and columns at s. 0: too many are not. */
static int take_out(const ozg_fails *f, int s, uint32_t *rows, uint32_t *columns)
{
    uint32_t column[OZG_SAMPLE_LINES];

    transpose(f->row[s], f->rows, f->columns, column);
    *rows = first_bits(f->rows);
    *columns = first_bits(f->columns);
    for (;;) {
        worst w = {0, 0, 0, 1};

        find_worst(f->row[s], f->rows, *rows, *columns, 1, &w);
        find_worst(column, f->columns, *columns, *rows, 0, &w);
        if (OZG_FAR_PAIRS * w.fails <= w.pairs)
            return 1;
        *(w.is_row ? rows : columns) &= ~(UINT32_C(1) << w.line);
        if (OZG_FAR_LINES * (f->rows - bit_count(*rows)) >= f->rows ||
            OZG_FAR_LINES * (f->columns - bit_count(*columns)) >= f->columns)
            return 0;
    }
}

/* ---- rules 2 and 3 ------------------------------------------------------------------------------ */

static void know(ozg_fails *f, int s)
{
    if (!f->known[s])
        f->find(f->sample, s);
}

/* The cost of s moduli for the pairs of these rows and columns. */
static uint64_t cost_of(ozg_fails *f, int s, uint32_t rows, uint32_t columns)
{
    uint64_t fails = 0;

    know(f, s);
    for (int i = 0; i < f->rows; i++)
        fails += rows >> i & 1 ? (uint64_t)bit_count(f->row[s][i] & columns) : 0;
    return ((uint64_t)s * (uint64_t)(bit_count(rows) * bit_count(columns)) + OZG_REPAIR * fails) *
           OZG_COST_UNIT;
}

/* The same with the best number from s on, where lines are split again; across: lines of the other side. */
static uint64_t best_cost(ozg_fails *f, int s, uint32_t rows, uint32_t columns, int64_t across)
{
    const uint64_t all = (uint64_t)(f->rows * f->columns) * OZG_COST_UNIT;
    const uint64_t pairs = (uint64_t)(bit_count(rows) * bit_count(columns)) * OZG_COST_UNIT;
    uint64_t lowest = UINT64_MAX;

    if (pairs == 0)
        return 0;
    for (; s <= OZG_NMOD_MAX && (uint64_t)s * pairs < lowest; s++) {
        const uint64_t again = OZG_SPLIT_AGAIN * (uint64_t)s * all / (uint64_t)across;
        const uint64_t here = cost_of(f, s, rows, columns) + again;

        lowest = here < lowest ? here : lowest;
    }
    return lowest;
}

ozg_apart ozg_apart_search(ozg_fails *f, int s, int least, uint64_t lowest)
{
    const uint32_t all_rows = first_bits(f->rows), all_columns = first_bits(f->columns);
    const uint64_t product = (uint64_t)(f->rows * f->columns) * OZG_COST_UNIT;
    ozg_apart best = {0, 0, 0, 0, 0, lowest - OZG_APART_GAIN * product + 1};

    if (lowest <= OZG_APART_GAIN * product)
        return (ozg_apart){0, 0, 0, 0, 0, 0};
    for (int s1 = s; s1 >= least; s1--) {
        uint32_t rows, columns;
        uint64_t cost;

        know(f, s1);
        if (!take_out(f, s1, &rows, &columns))
            break;
        cost = cost_of(f, s1, rows, columns);
        if (s1 < s && cost >= lowest)
            break;
        if (rows == all_rows && columns == all_columns)
            continue;
        cost += best_cost(f, s1, all_rows & ~rows, all_columns, f->m);
        cost += best_cost(f, s1, rows, all_columns & ~columns, f->n);
        if (cost < best.cost)
            best = (ozg_apart){
                s1, rows, columns, bit_count(all_rows & ~rows), bit_count(all_columns & ~columns), cost};
    }
    return best;
}

/* ---- lines in the order of the parts ------------------------------------------------------------ */

int64_t ozg_apart_count(const uint8_t *far, int64_t count)
{
    int64_t sum = 0;

    for (int64_t i = 0; i < count; i++)
        sum += far[i];
    return sum > count / OZG_FAR_LINES ? -1 : sum;
}

/* x[i] := the old x[index[i]], by way of `old`. */
static void order32(uint32_t *x, uint32_t *old, const int64_t *index, int64_t count)
{
    memcpy(old, x, (size_t)count * sizeof *x);
    for (int64_t i = 0; i < count; i++)
        x[i] = old[index[i]];
}

static void order64(uint64_t *x, uint64_t *old, const int64_t *index, int64_t count)
{
    memcpy(old, x, (size_t)count * sizeof *x);
    for (int64_t i = 0; i < count; i++)
        x[i] = old[index[i]];
}

static void order8(uint8_t *x, uint8_t *old, const int64_t *index, int64_t count)
{
    memcpy(old, x, (size_t)count);
    for (int64_t i = 0; i < count; i++)
        x[i] = old[index[i]];
}

void ozg_apart_order(ozg_lines *lines, const uint8_t *far, int64_t *index)
{
    const int64_t count = lines->count;
    int64_t at = 0;

    for (int behind = 0; behind < 2; behind++)
        for (int64_t i = 0; i < count; i++)
            if (far[i] == behind)
                index[at++] = i;
    /* residuals and places are not known yet: their arrays hold the old order meanwhile */
    order32((uint32_t *)lines->e, lines->r1, index, count);
    order32(lines->x1, lines->r1, index, count);
    order32(lines->x2, lines->r1, index, count);
    order32(lines->xmax, lines->r1, index, count);
    order64(lines->squares, lines->places, index, count);
    order8(lines->special, (uint8_t *)lines->r1, index, count);
    lines->index = index;
}

ozg_lines ozg_apart_lines(const ozg_lines *lines, int64_t first, int64_t count)
{
    ozg_lines part = *lines;

    part.count = count;
    part.special += first;
    part.e += first;
    part.d += first;
    part.squares += first;
    part.x1 += first;
    part.x2 += first;
    part.xmax += first;
    part.r1 += first;
    part.r2 += first;
    part.rmax += first;
    part.places += first * part.words;
    part.index += first;
    return part;
}

int ozg_apart_parts(int64_t m, int64_t far_rows, int64_t n, int64_t far_columns, ozg_part part[OZG_PARTS])
{
    const int64_t rows = m - far_rows, columns = n - far_columns;
    int parts = 0;

    part[parts++] = (ozg_part){0, rows, 0, columns}; /* more than half of both sides */
    if (far_rows)
        part[parts++] = (ozg_part){rows, far_rows, 0, n};
    if (far_columns)
        part[parts++] = (ozg_part){0, rows, columns, far_columns};
    return parts;
}
