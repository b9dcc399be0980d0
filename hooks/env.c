/*
 * env.c - the settings of libozgemm_blas.so: the only file that reads the environment.
 *
 * It is read once, when the library is loaded: no allocation and no output, since the process may be a shell
 * that never computes. A wrong value means the default and is reported when the first product is computed.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "hook.h"

static ozg_hook_settings settings;

/* A parser stores the value of a well-formed text and returns true; otherwise it stores nothing. */
typedef struct setting {
    const char *name;
    bool (*parse)(const char *text);
    const char *wanted; /* ends the sentence "write ..." */
    const char *otherwise;
} setting;

/* whole_number() - decimal digits only, up to most. */
static bool whole_number(const char *text, unsigned long long most, unsigned long long *value,
                         const char **end)
{
    char *stop;

    if (text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    *value = strtoull(text, &stop, 10);
    *end = stop;
    return errno == 0 && *value <= most;
}

static bool parse_int(const char *text, int least, int most, int *result)
{
    unsigned long long value;
    const char *end;

    if (!whole_number(text, (unsigned long long)most, &value, &end) || *end != '\0' || (int)value < least)
        return false;
    *result = (int)value;
    return true;
}

static bool parse_accuracy(const char *text)
{
    settings.rounded = strcmp(text, "rounded") == 0;
    return settings.rounded || strcmp(text, "native") == 0;
}

static bool parse_moduli(const char *text)
{
    return strcmp(text, "auto") == 0 || parse_int(text, 2, 49, &settings.moduli);
}

static bool parse_threads(const char *text)
{
    return parse_int(text, 1, 4096, &settings.threads);
}

static bool parse_memory(const char *text)
{
    static const char units[] = "KMG";
    unsigned long long value, factor = 1;
    const char *end, *unit;

    if (!whole_number(text, SIZE_MAX, &value, &end) || value == 0)
        return false;
    if (*end != '\0') {
        unit = strchr(units, *end >= 'a' ? *end - 'a' + 'A' : *end);
        if (unit == NULL || end[1] != '\0')
            return false;
        factor = 1ULL << (10 * (unit - units + 1));
    }
    if (value > SIZE_MAX / factor)
        return false;
    settings.memory = (size_t)(value * factor);
    return true;
}

/* Any short word; ozg_hook_env_report() asks the library whether it is a kernel. */
static bool parse_kernel(const char *text)
{
    if (strlen(text) >= sizeof settings.kernel)
        return false;
    strcpy(settings.kernel, text);
    return true;
}

static bool parse_log(const char *text)
{
    return parse_int(text, 0, 1, &settings.log);
}

static const char kernel_wanted[] = "a name that \"ozgemm info\" lists";

static const setting table[] = {
    {"OZG_ACCURACY", parse_accuracy, "native or rounded", "native"},
    {"OZG_MODULI", parse_moduli, "auto or a number from 2 to 49", "auto"},
    {"OZG_THREADS", parse_threads, "a number from 1 to 4096", "what OpenMP says"},
    {"OZG_MEMORY", parse_memory, "a number of bytes, with K, M or G behind it if you like",
     "a quarter of the free memory"},
    {"OZG_KERNEL", parse_kernel, kernel_wanted, "the fastest"},
    {"OZG_LOG", parse_log, "0 or 1", "0"},
};

enum { SETTINGS = sizeof table / sizeof table[0] };

static char wrong[SETTINGS][48]; /* the beginning of each wrong text; "": it was right */

__attribute__((constructor)) static void read_environment(void)
{
    for (int i = 0; i < SETTINGS; i++) {
        const char *text = secure_getenv(table[i].name);
        if (text != NULL && text[0] != '\0' && !table[i].parse(text))
            snprintf(wrong[i], sizeof wrong[i], "%s", text);
    }
}

static void check_kernel(void)
{
    const char *name;

    if (settings.kernel[0] == '\0')
        return;
    for (int i = 0; (name = ozg_kernel_name(i)) != NULL; i++)
        if (strcmp(name, settings.kernel) == 0)
            return;
    ozg_hook_say("OZG_KERNEL=%s is not a kernel of this machine: write %s; using the fastest.",
                 settings.kernel, kernel_wanted);
    settings.kernel[0] = '\0';
}

static void report(void)
{
    for (int i = 0; i < SETTINGS; i++)
        if (wrong[i][0] != '\0')
            ozg_hook_say("%s=%s is wrong: write %s; using %s.", table[i].name, wrong[i], table[i].wanted,
                         table[i].otherwise);
    check_kernel();
}

void ozg_hook_env_report(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, report);
}

const ozg_hook_settings *ozg_hook_env(void)
{
    return &settings;
}
