/*
 * fewest.c - Table 7 of [Xe2]: the fewest moduli for a goal, beside those that native and rounded choose.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "accuracy.h"
#include "cli.h"
#include "table.h"

static const int64_t inner[] = {256, 4096, 65536}; /* the k of Table 7 */
enum { NINNER = sizeof inner / sizeof inner[0], FIRST = 8, LAST = 24 };

double fewest_work(const struct accuracy *q, char type)
{
    double k = (double)(inner[0] + inner[1] + inner[2]);
    return trial_units(type, q->m, q->n, 1) * k * (1 + (LAST - FIRST + 4) / 20.0);
}

/* set_once() - the first s that reached a goal. */
static void set_once(json_t *row, const char *key, int reached, int s)
{
    if (reached && json_object_get(row, key) == NULL)
        json_object_set_new(row, key, json_integer(s));
}

/* search() - try s = 8, 9, ... until every goal is reached. blas: the errors of the BLAS, or NULL. */
static void search(struct accuracy *q, struct trial *t, const struct error_figures *blas, json_t *row)
{
    struct outcome out;
    struct error_figures e;
    for (int s = FIRST; s <= LAST; s++) {
        struct method method = {METHOD_MODULI, s};
        trial_run(t, &q->machine, method, 1, &out, &e, &q->bar);
        check_promise(q, row, method, t->a.type, t->a.cols, &out, &e);
        set_once(row, "as_blas", blas && e.componentwise <= blas->componentwise, s);
        set_once(row, "rounded_99_9_percent", e.rounded >= 99.9, s);
        set_once(row, "rounded_100_percent", e.rounded >= 100, s);
        if (e.rounded >= 100 && (blas == NULL || json_object_get(row, "as_blas")))
            break;
    }
}

/* certified_columns() - what native or rounded chooses and reaches: keys "native_moduli" and so on. */
static void certified_columns(struct accuracy *q, struct trial *t, enum method_kind kind, json_t *row)
{
    struct method method = {kind, 0};
    struct outcome out;
    struct error_figures e;
    char key[64];
    const char *word = method_word(method);
    if (!(q->methods & 1 << kind))
        return;
    if (!trial_run(t, &q->machine, method, 1, &out, &e, &q->bar)) {
        snprintf(key, sizeof key, "%s_unsupported", word);
        json_object_set_new(row, key, json_text(out.why));
        return;
    }
    snprintf(key, sizeof key, "%s_moduli", word);
    json_object_set_new(row, key, json_integer(out.report.moduli));
    snprintf(key, sizeof key, "%s_percent", word);
    json_object_set_new(row, key, json_number(e.rounded));
    snprintf(key, sizeof key, "%s_error_u", word);
    json_object_set_new(row, key, json_number(e.componentwise / roundoff_unit(t->a.type)));
    snprintf(key, sizeof key, "%s_repaired_percent", word);
    json_object_set_new(row, key,
                        json_number(100 * (double)out.report.repaired / ((double)q->m * (double)q->n)));
    check_promise(q, row, method, t->a.type, t->a.cols, &out, &e);
}

void fewest_rows(struct accuracy *q, char type, const char *family, json_t *rows)
{
    for (int i = 0; i < NINNER; i++) {
        struct outcome out;
        struct error_figures blas;
        struct trial t = trial_open(type, family, q->m, q->n, inner[i], q->seed, &q->bar);
        json_t *row = json_pack("{s:s, s:I}", "family", family, "k", (json_int_t)inner[i]);
        int have = q->machine.blas && q->methods & 1 << METHOD_BLAS &&
                   trial_run(&t, &q->machine, (struct method){METHOD_BLAS, 0}, 1, &out, &blas, &q->bar);
        search(q, &t, have ? &blas : NULL, row);
        certified_columns(q, &t, METHOD_NATIVE, row);
        certified_columns(q, &t, METHOD_ROUNDED, row);
        json_object_set_new(row, "blas_rounded_percent", have ? json_number(blas.rounded) : json_null());
        json_array_append_new(rows, row);
        trial_close(&t);
    }
}

/* moduli_of() - the fact of this key; otherwise if it is missing. */
static int moduli_of(const json_t *row, const char *key, int otherwise)
{
    const json_t *value = json_object_get(row, key);
    return json_is_integer(value) ? (int)json_integer_value(value) : otherwise;
}

/* few_repairs() - were at most 10 % of the entries of native or rounded repaired? */
static int few_repairs(const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key);
    return json_is_real(value) && json_real_value(value) <= 10;
}

/*
 * print_better() - one line each: where native and rounded need fewer moduli. Rows with many repairs do not
 * count, as these take their time too.
 */
static void print_better(const json_t *rows)
{
    size_t index;
    const json_t *row;
    int count = 0, fewer = 0, most = 0, natives = 0, as_few = 0;
    json_array_foreach((json_t *)rows, index, row)
    {
        int rounded = moduli_of(row, "rounded_moduli", 0), native = moduli_of(row, "native_moduli", 0);
        int saved = moduli_of(row, "rounded_100_percent", LAST + 1) - rounded;
        count += rounded > 0;
        natives += native > 0;
        if (rounded > 0 && saved > 0 && few_repairs(row, "rounded_repaired_percent")) {
            fewer++;
            most = saved > most ? saved : most;
        }
        as_few += native > 0 && native <= moduli_of(row, "as_blas", LAST + 1) &&
                  few_repairs(row, "native_repaired_percent");
    }
    if (count)
        printf("better: rounded has 100 %% CR, certified, with fewer moduli than a fixed width (and at most "
               "10 %% repaired) in %d of %d rows, up to %d fewer\n",
               fewer, count, most);
    if (natives)
        printf("better: native is proven for every input, with no more moduli than the fixed width that "
               "happens to be as good as this BLAS (and at most 10 %% repaired) in %d of %d rows\n",
               as_few, natives);
}

void fewest_print(const json_t *rows)
{
    static const struct column columns[] = {
        {"family", "data", NULL},
        {"k", "k", NULL},
        {"as_blas", "s: as BLAS", NULL},
        {"rounded_99_9_percent", "99.9 % CR", NULL},
        {"rounded_100_percent", "100 % CR", NULL},
        {"native_moduli", "native: s", NULL},
        {"native_percent", "CR (%)", "%.1f"},
        {"native_error_u", "max (u)", "%.2g"},
        {"native_repaired_percent", "repaired (%)", "%.1f"},
        {"rounded_moduli", "rounded: s", NULL},
        {"rounded_percent", "CR (%)", "%.1f"},
        {"rounded_repaired_percent", "repaired (%)", "%.1f"},
        {"blas_rounded_percent", "BLAS CR (%)", "%.1f"},
    };
    table_print(stdout, columns, sizeof columns / sizeof columns[0], rows);
    print_better(rows);
    for (int i = 0; i < 2; i++) {
        const char *word = i ? "rounded" : "native", *key = i ? "rounded_unsupported" : "native_unsupported";
        const char *why = json_string_value(json_object_get(json_array_get(rows, 0), key));
        if (why)
            printf("%s: %s\n", word, why);
    }
    printf("as BLAS: smallest s whose largest |e|/(|A||B|) is not above that of the BLAS\n");
}
