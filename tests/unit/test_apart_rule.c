/*
 * test_apart_rule.c - which lines are far out and when they are computed apart, against the rule of apart.h in
 * other words; lines in the order of the parts.
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "decide.h"
#include "plan.h"
#include "rng.h"

/* A pair fails below `need` moduli. */
typedef struct table {
    ozg_fails f;
    int need[OZG_SAMPLE_LINES][OZG_SAMPLE_LINES];
    int looked;
} table;

static void find(table *t, int s)
{
    for (int i = 0; i < t->f.rows; i++) {
        t->f.row[s][i] = 0;
        for (int j = 0; j < t->f.columns; j++)
            t->f.row[s][i] |= (uint32_t)(s < t->need[i][j]) << j;
    }
    t->f.known[s] = OZG_KNOWN;
    t->looked++;
}

static void make(table *t, struct rng *r)
{
    const int hard = (int)rng_below(r, 6), step = 1 + (int)rng_below(r, 9);

    memset(t, 0, sizeof *t);
    t->f.rows = (int)rng_between(r, 1, OZG_SAMPLE_LINES);
    t->f.columns = (int)rng_between(r, 1, OZG_SAMPLE_LINES);
    t->f.m = t->f.rows * rng_between(r, 1, 60);
    t->f.n = t->f.columns * rng_between(r, 1, 60);
    for (int i = 0; i < t->f.rows; i++)
        for (int j = 0; j < t->f.columns; j++)
            t->need[i][j] = 12 + (rng_below(r, 40) == 0) + (i < hard ? step + (int)rng_below(r, 2) : 0) +
                            (j < hard / 2 && rng_below(r, 5) ? step : 0) + (rng_below(r, 90) == 0 ? 40 : 0);
}

static ozg_apart search(table *t, int s, int least, uint64_t lowest)
{
    ozg_apart found;
    ozg_wish wish;

    while ((wish = ozg_apart_search(&t->f, s, least, lowest, &found)).s) {
        assert_true(t->f.known[wish.s] != OZG_KNOWN && wish.limit == UINT64_MAX);
        find(t, wish.s);
    }
    return found;
}

/* ---- the rule in other words -------------------------------------------------------------------- */

typedef struct kept {
    int row[OZG_SAMPLE_LINES], column[OZG_SAMPLE_LINES], rows, columns;
} kept;

/* Pairs that fail at s, and all; of lines that are kept (1), are not (0), or both (2). */
static int64_t count(const table *t, const kept *k, int s, int want_row, int want_column, int64_t *pairs)
{
    int64_t fails = 0;

    *pairs = 0;
    for (int i = 0; i < t->f.rows; i++)
        for (int j = 0; j < t->f.columns; j++)
            if ((want_row == 2 || k->row[i] == want_row) &&
                (want_column == 2 || k->column[j] == want_column)) {
                ++*pairs;
                fails += s < t->need[i][j];
            }
    return fails;
}

/* The share of failing pairs of a line that is kept; -1: it is not. */
static double share(const table *t, const kept *k, int s, int is_row, int line)
{
    int fails = 0, pairs = 0;

    if (!(is_row ? k->row : k->column)[line])
        return -1;
    for (int q = 0; q < (is_row ? t->f.columns : t->f.rows); q++)
        if ((is_row ? k->column : k->row)[q]) {
            pairs++;
            fails += s < (is_row ? t->need[line][q] : t->need[q][line]);
        }
    return (double)fails /
           pairs; /* fractions of small numbers: different ones differ by far more than an ulp */
}

static int take_out(const table *t, kept *k, int s)
{
    k->rows = t->f.rows;
    k->columns = t->f.columns;
    for (int q = 0; q < OZG_SAMPLE_LINES; q++) {
        k->row[q] = q < t->f.rows;
        k->column[q] = q < t->f.columns;
    }
    for (;;) {
        double most = 0.125;
        int *at = NULL;

        for (int i = 0; i < t->f.rows; i++)
            if (share(t, k, s, 1, i) > most) {
                most = share(t, k, s, 1, i);
                at = &k->row[i];
            }
        for (int j = 0; j < t->f.columns; j++)
            if (share(t, k, s, 0, j) > most) {
                most = share(t, k, s, 0, j);
                at = &k->column[j];
            }
        if (!at)
            return 1;
        *at = 0;
        if (at >= k->row && at < k->row + OZG_SAMPLE_LINES)
            k->rows--;
        else
            k->columns--;
        if (4 * k->rows <= 3 * t->f.rows || 4 * k->columns <= 3 * t->f.columns)
            return 0;
    }
}

static int64_t best_part(const table *t, const kept *k, int s1, int want_row, int want_column, int64_t across)
{
    int64_t lowest = INT64_MAX, pairs;

    for (int s = s1; s <= OZG_NMOD_MAX; s++) {
        const int64_t fails = count(t, k, s, want_row, want_column, &pairs);
        const int64_t cost =
            (s * pairs + 256 * fails) * 1024 + 16 * (int64_t)s * t->f.rows * t->f.columns * 1024 / across;

        if (pairs == 0)
            return 0;
        lowest = cost < lowest ? cost : lowest;
    }
    return lowest;
}

/* s1, or 0; *best: the cost. */
static int model(const table *t, int s, int least, int64_t lowest, int64_t *best)
{
    int s1 = 0;
    int64_t pairs;
    kept k;

    *best = lowest - 2 * (int64_t)t->f.rows * t->f.columns * 1024;
    for (int at = s; at >= least && take_out(t, &k, at); at--) {
        int64_t fails = count(t, &k, at, 1, 1, &pairs), cost = (at * pairs + 256 * fails) * 1024;

        if (at < s && cost >= lowest)
            break;
        if (k.rows == t->f.rows && k.columns == t->f.columns)
            continue;
        cost += best_part(t, &k, at, 0, 2, t->f.m) + best_part(t, &k, at, 1, 0, t->f.n);
        if (cost < *best || (cost == *best && !s1)) {
            *best = cost;
            s1 = at;
        }
    }
    return s1;
}

static void rule(void **state)
{
    struct rng r = {5};
    int apart = 0;

    (void)state;
    for (int q = 0; q < 3000; q++) {
        table t;
        ozg_apart found;
        kept k;
        int64_t pairs, lowest = INT64_MAX, best;
        int s = 0, s1;

        make(&t, &r);
        memset(&k, 0, sizeof k);
        for (int at = 10; at <= OZG_NMOD_MAX; at++) {
            const int64_t fails = count(&t, &k, at, 2, 2, &pairs), cost = (at * pairs + 256 * fails) * 1024;

            if (cost < lowest) {
                lowest = cost;
                s = at;
            }
        }
        found = search(&t, s, 10, (uint64_t)lowest);
        s1 = model(&t, s, 10, lowest, &best);
        assert_int_equal(found.nmod, s1);
        if (!s1)
            continue;
        apart++;
        assert_true(found.cost == (uint64_t)best);
        assert_true(take_out(&t, &k, s1));
        for (int i = 0; i < t.f.rows; i++)
            assert_int_equal(found.rows >> i & 1, k.row[i]);
        for (int j = 0; j < t.f.columns; j++)
            assert_int_equal(found.columns >> j & 1, k.column[j]);
        assert_true(found.far_rows == t.f.rows - k.rows && found.far_columns == t.f.columns - k.columns);
    }
    assert_in_range(apart, 300, 2700);
}

/* Ordinary data: the search looks at no number of moduli that was not known already. */
static void no_further_looks(void **state)
{
    table t;

    (void)state;
    memset(&t, 0, sizeof t);
    t.f = (ozg_fails){.rows = 32, .columns = 32, .m = 512, .n = 512};
    for (int q = 0; q < 32 * 32; q++)
        t.need[q / 32][q % 32] = q % 2 ? 14 : 13;
    find(&t, 14);
    find(&t, 13);
    assert_int_equal(search(&t, 14, 5, 14 * 1024 * 1024).nmod, 0);
    assert_int_equal(t.looked, 2);
}

/* Facts move with their lines, both kinds in their order; parts cover C once. */
static void order(void **state)
{
    enum { COUNT = 37, K = 70 };
    const ozg_view view = {NULL, 1, COUNT, 'd', 0, NULL};
    void *memory = aligned_alloc(64, ozg_lines_bytes(COUNT, K, 1));
    ozg_lines l = ozg_lines_at(memory, &view, COUNT, K, 1), part;
    int64_t index[COUNT];
    uint8_t far[COUNT], seen[COUNT][COUNT] = {{0}};
    ozg_part parts[OZG_PARTS];

    (void)state;
    for (int i = 0; i < COUNT; i++) {
        far[i] = i % 5 == 3;
        l.e[i] = -i;
        l.special[i] = (uint8_t)(i + 1);
        l.squares[i] = UINT64_C(1) << 40 | (uint64_t)i;
        l.x1[i] = (uint32_t)i + 100;
        l.x2[i] = (uint32_t)i + 200;
        l.xmax[i] = (uint32_t)i + 300;
    }
    assert_int_equal(ozg_apart_count(far, COUNT), 7);
    ozg_apart_order(&l, far, index);
    part = ozg_apart_lines(&l, 30, 7);
    assert_true(part.count == 7 && part.places == l.places + 30 * l.words && part.d == l.d + 30);
    for (int q = 0; q < COUNT; q++) {
        const int64_t i = ozg_line_stored(&l, q);

        assert_true(far[i] == (q >= 30) && (q % 30 == 0 || i > index[q - 1]));
        assert_true(l.e[q] == -i && l.special[q] == i + 1 &&
                    l.squares[q] == (UINT64_C(1) << 40 | (uint64_t)i));
        assert_true(l.x1[q] == i + 100 && l.x2[q] == i + 200 && l.xmax[q] == i + 300);
        assert_true(q < 30 || (ozg_line_stored(&part, q - 30) == i && part.x2[q - 30] == i + 200));
    }
    assert_int_equal(ozg_apart_count(far, 4), 1);
    memset(far, 1, 10);
    assert_int_equal(ozg_apart_count(far, COUNT), -1);
    for (int q = 0; q < ozg_apart_parts(COUNT, 7, COUNT, 4, parts); q++)
        for (int64_t i = 0; i < parts[q].rows; i++)
            for (int64_t j = 0; j < parts[q].columns; j++)
                seen[parts[q].i0 + i][parts[q].j0 + j]++;
    for (int q = 0; q < COUNT * COUNT; q++)
        assert_int_equal(seen[q / COUNT][q % COUNT], 1);
    assert_int_equal(ozg_apart_parts(COUNT, 0, COUNT, 4, parts), 2);
    free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rule), cmocka_unit_test(no_further_looks),
                                       cmocka_unit_test(order)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
