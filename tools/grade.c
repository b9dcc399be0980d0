/*
 * grade.c - "ozgemm accuracy --grade": which error bound does each method keep on hard data?
 *
 * With u the unit roundoff and f(k) = k (complex: 2k), the bound of a conventional sum of k products,
 *
 *   A   |e_ij| <= f(k) u (|A||B|)_ij               every entry against its own terms
 *   B   |e_ij| <= f(k) u ||a_i|| ||b_j||           against the norms of its row and column
 *   C   |e_ij| <= f(k) u max ||a_i|| max ||b_j||   against the largest norms
 *
 * each with room for one half of the least positive number for the result (for a BLAS, which rounds in
 * between, for each product). A test gives the best letter whose bound holds in every entry, a method gets
 * the worst letter of all tests.
 *
 * From Demmel et al.: grade A, with f at most linear, shown by growing n; a power of two inside (A D)(D^-1 B)
 * that finds fixed-point arithmetic; tests that find fast algorithms such as Strassen's; a test of underflow.
 * Ours: the letters B and C in this form, all data and sizes, the tests "wide", "spike" and "range".
 *
 * SPDX-License-Identifier: MIT
 */
#include "grade.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "families.h"
#include "table.h"

/* One test: data of a family; growth: of sizes n x n x n. */
static const struct test {
    const char *name, *family;
    int growth;
    const char *tells;
} tests[] = {
    {"growth", "normal", 1, "N(0,1), n x n x n, n = 16, 32, ... 256: errors grow at most linearly in n"},
    {"rows", "gradrow", 0,
     "rows and columns of very different size: one scale for a whole matrix is not enough"},
    {"inside", "inside", 0,
     "A D and D^-1 B, D = 2^-30..2^30: finds one scale for each row and column, fixed point"},
    {"wide", "wide", 0, "large entries of A that meet zeros: the scale of a row must not depend on them"},
    {"zeros", "zeros", 0, "sums of zeros alone must be 0: finds algorithms that mix entries, as Strassen's"},
    {"spike", "evil2", 0,
     "a spike in each row of A, half of B small: no scaling of rows, columns and k helps"},
    {"range", "range", 0, "A D and D^-1 B, D = 2^-1000..2^1000 (float: 100): products of ordinary size"},
    {"underflow", "underflow", 0, "subnormal rows of A: finds flushing to zero and scales that overflow"},
};

enum { NTESTS = sizeof tests / sizeof tests[0], MAX_METHODS = 51, GROWTH_FIRST = 16, GROWTH_LAST = 256 };

/* What one method did in one test. */
struct mark {
    char letter;    /* 'A', 'B', 'C', or '-' */
    double error_u; /* largest |e| / (u |A||B|), at the size where it is nearest to its limit */
    double limit;   /* f(k) */
};

/* One method, over all tests. */
struct report_card {
    struct method method;
    struct mark marks[NTESTS];
    struct outcome out; /* the last one */
    json_t *broken;     /* promises of the library that were broken: an object as of check_promise() */
    double sum_x, sum_y, sum_xx, sum_xy; /* growth: log n and log error */
    int points;
};

static double limit_of(char type, int64_t k)
{
    return (double)k * (type_complex(type) ? 2 : 1);
}

static char letter_of(const struct error_figures *e, double bound)
{
    return (char)(e->componentwise <= bound ? 'A'
                  : e->linewise <= bound    ? 'B'
                  : e->matrixwise <= bound  ? 'C'
                                            : '-');
}

/* worse() - the worse of two letters; '-' is the worst, 0 none yet. */
static char worse(char x, char y)
{
    if (x == '-' || y == '-')
        return '-';
    return x > y ? x : y;
}

/* note() - enter the errors of one product. */
static void note(struct report_card *card, int test, char type, int64_t k, const struct error_figures *e)
{
    struct mark *mark = &card->marks[test];
    double limit = limit_of(type, k), u = roundoff_unit(type), error_u = e->componentwise / u;
    mark->letter = worse(mark->letter, letter_of(e, limit * u));
    if (mark->limit == 0 || !(error_u / limit <= mark->error_u / mark->limit)) {
        mark->error_u = error_u;
        mark->limit = limit;
    }
    if (tests[test].growth) {
        double x = log((double)k), y = log(fmax(error_u, 0x1p-10)); /* an exact product counts as 2^-10 u */
        card->sum_x += x;
        card->sum_y += y;
        card->sum_xx += x * x;
        card->sum_xy += x * y;
        card->points++;
    }
}

/* slope() - of log error over log n by least squares; 0 if there are too few sizes. */
static double slope(const struct report_card *card)
{
    double n = card->points;
    return n < 3 ? 0
                 : (n * card->sum_xy - card->sum_x * card->sum_y) /
                       (n * card->sum_xx - card->sum_x * card->sum_x);
}

/* judge_growth() - errors that grow faster than n are not of grade A, whatever the sizes tried. */
static void judge_growth(struct report_card *card)
{
    for (int i = 0; i < NTESTS; i++)
        if (tests[i].growth && card->marks[i].letter == 'A' && slope(card) > 1)
            card->marks[i].letter = 'B';
}

/* one_product() - all methods on one trial. */
static void one_product(struct accuracy *q, int test, char type, int64_t m, int64_t n, int64_t k,
                        struct report_card *cards, int ncards)
{
    struct error_figures e;
    struct trial t = trial_open(type, tests[test].family, m, n, k, q->seed, &q->bar);
    for (int i = 0; i < ncards; i++) {
        struct report_card *card = &cards[i];
        double roundings = card->method.kind == METHOD_BLAS ? limit_of(type, k) : 1;
        if (!trial_run(&t, &q->machine, card->method, roundings, &card->out, &e, &q->bar))
            continue;
        note(card, test, type, k, &e);
        check_promise(q, card->broken, card->method, type, k, &card->out, &e);
    }
    trial_close(&t);
}

/* last_size() - of the test of growth. */
static int64_t last_size(const struct accuracy *q)
{
    return q->k < GROWTH_LAST ? q->k : GROWTH_LAST;
}

double grade_work(const struct accuracy *q, char type, const char *moduli)
{
    struct method methods[MAX_METHODS];
    double units = (NTESTS - 1) * trial_units(type, q->m, q->n, q->k);
    for (int64_t n = GROWTH_FIRST; n <= last_size(q); n *= 2)
        units += trial_units(type, n, n, n);
    return units * (1 + methods_list(q->methods, moduli, methods, MAX_METHODS) / 20.0);
}

/* ---- the facts ---------------------------------------------------------------------------------- */

/* facts_of_test() - one mark. */
static json_t *facts_of_test(const struct report_card *card, int test)
{
    const struct mark *mark = &card->marks[test];
    json_t *o = json_pack("{s:s, s:s#, s:b}", "test", tests[test].name, "grade", &mark->letter, 1, "pass",
                          mark->letter == 'A');
    json_object_set_new(o, "error_u", json_number(mark->error_u));
    json_object_set_new(o, "limit_u", json_number(mark->limit));
    if (tests[test].growth)
        json_object_set_new(o, "slope", json_number(slope(card)));
    return o;
}

/* facts_of_method() - the grade, the worst test, and all tests. */
static json_t *facts_of_method(const struct report_card *card)
{
    int worst = 0, emulated = card->method.kind == METHOD_MODULI;
    char letter = 'A';
    json_t *list = json_array();
    json_t *o = json_pack("{s:s, s:o}", "method", method_word(card->method), "moduli",
                          emulated ? json_integer(card->method.moduli) : json_null());
    if (!card->out.done) {
        json_object_set_new(o, "unsupported", json_text(card->out.why));
        json_decref(list);
        return o;
    }
    for (int i = 0; i < NTESTS; i++) {
        const struct mark *mark = &card->marks[i], *old = &card->marks[worst];
        letter = worse(letter, mark->letter);
        worst = mark->error_u / mark->limit > old->error_u / old->limit ? i : worst;
        json_array_append_new(list, facts_of_test(card, i));
    }
    json_object_set_new(o, "grade", json_stringn(&letter, 1));
    json_object_set_new(o, "worst_test", json_string(tests[worst].name));
    json_object_set_new(o, "worst_ratio", json_number(card->marks[worst].error_u / card->marks[worst].limit));
    json_object_set_new(o, "tests", list);
    json_object_update(o, card->broken);
    return o;
}

json_t *grade_run(struct accuracy *q, char type, const char *moduli)
{
    struct method methods[MAX_METHODS];
    struct report_card cards[MAX_METHODS];
    json_t *texts = json_array(), *list = json_array();
    int n = methods_list(q->methods, moduli, methods, MAX_METHODS);
    memset(cards, 0, sizeof cards);
    for (int i = 0; i < n; i++) {
        cards[i].method = methods[i];
        cards[i].broken = json_object();
    }
    for (int test = 0; test < NTESTS; test++) {
        if (!tests[test].growth)
            one_product(q, test, type, q->m, q->n, q->k, cards, n);
        for (int64_t s = GROWTH_FIRST; tests[test].growth && s <= last_size(q); s *= 2)
            one_product(q, test, type, s, s, s, cards, n);
        json_array_append_new(texts, json_pack("{s:s, s:s, s:s}", "test", tests[test].name, "family",
                                               tests[test].family, "tells", tests[test].tells));
    }
    for (int i = 0; i < n; i++) {
        judge_growth(&cards[i]);
        json_array_append_new(list, facts_of_method(&cards[i]));
        json_decref(cards[i].broken);
    }
    return json_pack("{s:s#, s:I, s:I, s:I, s:o, s:o}", "type", &type, 1, "m", (json_int_t)q->m, "n",
                     (json_int_t)q->n, "k", (json_int_t)q->k, "tests", texts, "methods", list);
}

/* ---- as text ------------------------------------------------------------------------------------ */

/* row_of() - the facts of a method with one cell a test: "pass 0.4" or "FAIL 3e+14". */
static json_t *row_of(const json_t *method)
{
    size_t index;
    const json_t *test, *moduli = json_object_get(method, "moduli");
    json_t *row = json_deep_copy(method);
    if (json_is_integer(moduli)) {
        char name[32];
        snprintf(name, sizeof name, "s = %d", (int)json_integer_value(moduli));
        json_object_set_new(row, "method", json_string(name));
    }
    if (json_object_get(row, "grade") && json_is_null(json_object_get(row, "worst_ratio")))
        json_object_set_new(row, "worst_ratio", json_string("inf"));
    json_array_foreach(json_object_get(method, "tests"), index, test)
    {
        char cell[32];
        const json_t *error = json_object_get(test, "error_u");
        snprintf(cell, sizeof cell, "%s %.2g", json_is_true(json_object_get(test, "pass")) ? "pass" : "FAIL",
                 json_is_real(error) ? json_real_value(error) : INFINITY);
        json_object_set_new(row, json_string_value(json_object_get(test, "test")), json_string(cell));
    }
    return row;
}

void grade_print(const json_t *facts)
{
    struct column columns[NTESTS + 3] = {
        {"method", "method", NULL}, {"grade", "grade", NULL}, {"worst_ratio", "worst", "%.2g"}};
    size_t index;
    const json_t *method;
    json_t *rows = json_array();
    for (int i = 0; i < NTESTS; i++)
        columns[3 + i] = (struct column){tests[i].name, tests[i].name, NULL};
    json_array_foreach(json_object_get(facts, "methods"), index, method)
        json_array_append_new(rows, row_of(method));
    printf("grades of %sgemm, %lld x %lld, k = %lld: largest |e|/(u|A||B|) in each test, at most %s for "
           "grade A; "
           "worst: the largest part of that limit\n",
           json_string_value(json_object_get(facts, "type")),
           (long long)json_integer_value(json_object_get(facts, "m")),
           (long long)json_integer_value(json_object_get(facts, "n")),
           (long long)json_integer_value(json_object_get(facts, "k")),
           type_complex(json_string_value(json_object_get(facts, "type"))[0]) ? "2k" : "k");
    table_print(stdout, columns, NTESTS + 3, rows);
    print_notes(json_object_get(facts, "methods"));
    for (int i = 0; i < NTESTS; i++)
        printf("%s: %s\n", tests[i].name, tests[i].tells);
    json_decref(rows);
}
