/*
 * speed_table.c - the tables of "ozgemm speed --backend cuda", for people.
 *
 * SPDX-License-Identifier: MIT
 */
#include "speed_table.h"

#include <stdio.h>
#include <string.h>

#include "table.h"

json_t *speed_shape(const json_t *row)
{
    json_int_t m = json_integer_value(json_object_get(row, "m")),
               n = json_integer_value(json_object_get(row, "n")),
               k = json_integer_value(json_object_get(row, "k"));
    return m == n && n == k ? json_integer(m)
                            : json_sprintf("%lldx%lldx%lld", (long long)m, (long long)n, (long long)k);
}

/* remark() - what the note of a row means; "": it has none. */
static void remark(const json_t *row, char *line, size_t size)
{
    const char *method = json_string_value(json_object_get(row, "method"));
    const char *wrong = json_string_value(json_object_get(row, "wrong"));
    const char *other = json_string_value(json_object_get(row, "remark"));
    const json_t *columns = json_object_get(row, "timed_columns");
    long long n = json_integer_value(json_object_get(row, "n"));
    line[0] = '\0';
    if (json_is_false(json_object_get(row, "available")))
        snprintf(line, size, "%s: not available: %s", method,
                 json_string_value(json_object_get(row, "reason")));
    else if (wrong)
        snprintf(line, size, "%s at %lld: WRONG: %s", method, n, wrong);
    else if (columns)
        snprintf(line, size, "%s at n = %lld: timed on %lld of the columns and scaled", method, n,
                 (long long)json_integer_value(columns));
    else if (other)
        snprintf(line, size, "%s at n = %lld: %s", method, n, other);
}

void speed_remarks(const json_t *rows)
{
    size_t i;
    const json_t *row;
    json_t *said = json_object();
    json_array_foreach((json_t *)rows, i, row)
    {
        char line[400];
        remark(row, line, sizeof line);
        if (line[0] && json_object_get(said, line) == NULL) {
            printf("%s\n", line);
            json_object_set_new(said, line, json_true());
        }
    }
    json_decref(said);
}

/* put() - a number of an inner object under a key of its own, times a factor. */
static void put(json_t *o, const char *key, const json_t *inner, const char *name, double factor)
{
    const json_t *value = json_object_get(inner, name);
    if (json_is_number(value))
        json_object_set_new(o, key, json_real(factor * json_number_value(value)));
}

static const char *note_of(const json_t *row)
{
    if (json_is_false(json_object_get(row, "available")))
        return "not available";
    if (json_is_string(json_object_get(row, "wrong")))
        return "WRONG";
    return json_object_get(row, "remark") ? "see below" : "";
}

/* for_people() - the row as the table of times shows it. */
static json_t *for_people(const json_t *row)
{
    json_t *o = json_copy((json_t *)row);
    const json_t *burst = json_object_get(row, "burst"), *lasting = json_object_get(row, "sustained"),
                 *bits = json_object_get(row, "emulation_bits");
    json_object_set_new(o, "shape", speed_shape(row));
    if (json_is_integer(bits))
        json_object_set(o, "width", (json_t *)bits);
    put(o, "burst_ms", burst, "seconds", 1e3);
    put(o, "burst_tflops", burst, "tflops", 1);
    put(o, "burst_ratio", burst, "ratio", 1);
    put(o, "burst_limit", burst, "limit_share", 100);
    put(o, "lasting_ms", lasting, "seconds", 1e3);
    put(o, "lasting_tflops", lasting, "tflops", 1);
    put(o, "lasting_ratio", lasting, "ratio", 1);
    put(o, "lasting_limit", lasting, "limit_share", 100);
    put(o, "joules", lasting, "joules", 1);
    put(o, "energy_ratio", lasting, "energy_ratio", 1);
    json_object_set_new(o, "note", json_string(note_of(row)));
    return o;
}

/* stages_of() - the row as the table of stages shows it; NULL: it has no stages. */
static json_t *stages_of(const json_t *row)
{
    static const char *const keys[] = {"scale", "split", "product", "reconstruct", "repair", "total"};
    enum { KEYS = sizeof keys / sizeof keys[0] };
    const json_t *stages = json_object_get(json_object_get(row, "sustained"), "stages_ms");
    char text[64];
    size_t used = 0;
    if (stages == NULL)
        return NULL;
    json_t *o = json_copy((json_t *)row);
    double total = json_number_value(json_object_get(stages, "total"));
    for (int i = 0; i < KEYS; i++) {
        put(o, keys[i], stages, keys[i], 1);
        if (i < KEYS - 1)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%.0f", i ? "/" : "",
                                     100 * json_number_value(json_object_get(stages, keys[i])) / total);
    }
    json_object_set_new(o, "shape", speed_shape(row));
    json_object_set_new(o, "shares", json_string(text));
    return o;
}

static void print_times(const json_t *rows, int notes)
{
    static const struct column columns[] = {
        {"shape", "N", NULL},
        {"method", "method", NULL},
        {"moduli", "s", NULL},
        {"width", "t", NULL},
        {"burst_ms", "burst (ms)", "%.4g"},
        {"burst_tflops", "TFLOP/s", "%.3g"},
        {"burst_ratio", "ratio", "%.2f"},
        {"burst_limit", "limit %", "%.0f"},
        {"lasting_ms", "sustained", "%.4g"},
        {"lasting_tflops", "TFLOP/s", "%.3g"},
        {"lasting_ratio", "ratio", "%.2f"},
        {"lasting_limit", "limit %", "%.0f"},
        {"joules", "J", "%.3g"},
        {"energy_ratio", "J ratio", "%.2f"},
        {"repaired", "repaired", NULL},
        {"note", "", NULL},
    };
    int n = sizeof columns / sizeof columns[0];
    table_print(stdout, columns, notes ? n : n - 1, rows);
}

static void print_stages(const json_t *rows, char type)
{
    static const struct column columns[] = {
        {"shape", "N", NULL},
        {"method", "method", NULL},
        {"kernel", "kernel", NULL},
        {"products", "products", NULL},
        {"scale", "scale (ms)", "%.3g"},
        {"split", "split", "%.3g"},
        {"product", "product", "%.3g"},
        {"reconstruct", "reconstruct", "%.3g"},
        {"repair", "repair", "%.3g"},
        {"total", "total", "%.4g"},
        {"shares", "percent", NULL},
    };
    if (json_array_size(rows) == 0)
        return;
    printf("\n%cgemm, stages of a call with a report, under sustained load\n", type);
    table_print(stdout, columns, sizeof columns / sizeof columns[0], rows);
}

void speed_table_cuda(const json_t *rows, char type)
{
    size_t i;
    const json_t *row;
    json_t *times = json_array(), *stages = json_array();
    int notes = 0;
    json_array_foreach((json_t *)rows, i, row)
    {
        if (json_string_value(json_object_get(row, "type"))[0] != type)
            continue;
        json_t *parts = stages_of(row);
        json_array_append_new(times, for_people(row));
        if (parts)
            json_array_append_new(stages, parts);
        notes |= note_of(row)[0] != '\0';
    }
    printf("\n%cgemm\n", type);
    print_times(times, notes);
    speed_remarks(times);
    print_stages(stages, type);
    json_decref(times);
    json_decref(stages);
}
