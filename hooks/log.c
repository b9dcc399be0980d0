/*
 * log.c - what became of the calls: counts for each exported name, the line at exit (OZG_LOG=1), and all
 * messages.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hook.h"

ozg_hook_entry ozg_hook_entries[OZG_HOOK_ENTRIES] = {
#define ENTRY(symbol) {.name = #symbol},
#include "level3.inc"
};

static const char *const outcome_names[OZG_HOOK_OUTCOMES] = {"emulated", "passed on", "empty", "errors"};

static atomic_flag has_reason = ATOMIC_FLAG_INIT;
static char first_reason[200];

/* A child of fork() counts its own calls only: the parent reports the others. */
static void forget_counts(void)
{
    for (int i = 0; i < OZG_HOOK_ENTRIES; i++)
        for (int j = 0; j < OZG_HOOK_OUTCOMES; j++)
            atomic_store_explicit(&ozg_hook_entries[i].count[j], 0, memory_order_relaxed);
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, forget_counts);
}

void ozg_hook_count(ozg_hook_entry *entry, ozg_hook_outcome outcome)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    if (ozg_hook_env()->log == 0)
        return;
    pthread_once(&once, watch_forks);
    atomic_fetch_add_explicit(&entry->count[outcome], 1, memory_order_relaxed);
}

void ozg_hook_failed(const char *reason)
{
    if (!atomic_flag_test_and_set(&has_reason))
        snprintf(first_reason, sizeof first_reason, "%s", reason);
}

/* One write(), so that lines of several processes do not mix; no stdio, whose streams may be closed already.
 */
static void write_line(const char *text, size_t length)
{
    ssize_t written = write(STDERR_FILENO, text, length);

    (void)written; /* nobody is left to be told */
}

void ozg_hook_say(const char *format, ...)
{
    static const char prefix[] = "libozgemm_blas: ";
    char line[512];
    size_t length = sizeof prefix - 1;
    va_list arguments;
    int added;

    memcpy(line, prefix, length);
    va_start(arguments, format);
    added = vsnprintf(line + length, sizeof line - length - 1, format, arguments);
    va_end(arguments);
    if (added > 0)
        length += strlen(line + length);
    line[length] = '\n';
    write_line(line, length + 1);
}

/* A text that grows in a fixed buffer; what does not fit is left out. */
typedef struct text {
    char line[6000];
    size_t length;
} text;

static void append(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void append(text *t, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(t->line + t->length, sizeof t->line - t->length, format, arguments);
    va_end(arguments);
    t->length += strlen(t->line + t->length);
}

static void append_entry(text *t, const ozg_hook_entry *entry, unsigned long long total[OZG_HOOK_OUTCOMES])
{
    const char *before = ": ";
    bool named = false;

    for (int j = 0; j < OZG_HOOK_OUTCOMES; j++) {
        unsigned long long count = atomic_load_explicit(&entry->count[j], memory_order_relaxed);
        if (count == 0)
            continue;
        if (!named)
            append(t, "; %s", entry->name);
        append(t, "%s%s %llu", before, outcome_names[j], count);
        named = true;
        before = ", ";
        total[j] += count;
    }
}

/* libozgemm_blas[sh 42]: emulated 9, passed on 1, empty 0, errors 0; dgemm_: emulated 9; dsyrk_: ... */
__attribute__((destructor)) static void report_at_exit(void)
{
    static text entries, line;
    unsigned long long total[OZG_HOOK_OUTCOMES] = {0}, calls = 0;

    if (ozg_hook_env()->log == 0)
        return;
    for (int i = 0; i < OZG_HOOK_ENTRIES; i++)
        append_entry(&entries, &ozg_hook_entries[i], total);
    append(&line, "libozgemm_blas[%s %ld]: ", program_invocation_short_name, (long)getpid());
    for (int j = 0; j < OZG_HOOK_OUTCOMES; j++) {
        append(&line, "%s%s %llu", j == 0 ? "" : ", ", outcome_names[j], total[j]);
        calls += total[j];
    }
    append(&line, "%s", calls == 0 ? "; no level-3 BLAS call was seen" : entries.line);
    if (first_reason[0] != '\0')
        append(&line, "; first failure: %s", first_reason);
    append(&line, "\n");
    write_line(line.line, line.length);
}
