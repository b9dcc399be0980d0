/*
 * bench_system.c - what a measurement asks of the system: memory, threads of the native BLAS, settings that
 * falsify.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "bench_system.h"

#include "cli.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

/* ---- memory: Linux keeps the largest resident size, VmHWM, and forgets it on request, proc(5) --------- */

static int can_reset = 1;

/* status_bytes() - a size from /proc/self/status, such as "VmHWM:"; 0 if unknown. */
static size_t status_bytes(const char *key)
{
    char line[256];
    size_t kib = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, key, strlen(key)) == 0)
            kib = (size_t)strtoull(line + strlen(key), NULL, 10);
    if (f)
        fclose(f);
    return kib * 1024;
}

size_t memory_mark(void)
{
    malloc_trim(0); /* what is free goes back: taking it again must count */
    FILE *f = fopen("/proc/self/clear_refs", "w");
    can_reset = f && fputs("5", f) != EOF;
    can_reset &= f && fclose(f) == 0;
    return can_reset ? status_bytes("VmRSS:") : status_bytes("VmHWM:");
}

size_t memory_peak(size_t mark)
{
    size_t peak = status_bytes("VmHWM:");
    return peak > mark ? peak - mark : 0;
}

const char *memory_obtained(void)
{
    return can_reset
               ? "largest resident size (VmHWM, set back before the first call) less that before it"
               : "growth of the largest resident size of the process (VmHWM could not be set back), so only "
                 "what exceeds all rows before";
}

/* ---- threads of the native BLAS -------------------------------------------------------------------- */

const char *blas_set_threads(const struct native *lib, int threads)
{
    static const struct {
        const char *set, *get;
    } calls[] = {{"openblas_set_num_threads", "openblas_get_num_threads"},
                 {"MKL_Set_Num_Threads", "MKL_Get_Max_Threads"}};
    static char sentence[160];
    void *handle = dlopen(native_path(lib), RTLD_NOW | RTLD_NOLOAD); /* it is open already */
    for (size_t i = 0; handle && i < sizeof calls / sizeof calls[0]; i++) {
        void (*set)(int);
        int (*get)(void);
        *(void **)&set = dlsym(handle, calls[i].set);
        *(void **)&get = dlsym(handle, calls[i].get);
        if (set == NULL || get == NULL)
            continue;
        set(threads);
        int now = get();
        dlclose(handle);
        if (now == threads)
            return NULL;
        snprintf(sentence, sizeof sentence,
                 "the native BLAS runs with %d threads, not with %d: it did not take "
                 "the number",
                 now, threads);
        return sentence;
    }
    if (handle)
        dlclose(handle);
    snprintf(sentence, sizeof sentence,
             "the threads of the native BLAS could not be set to %d: it has no call for "
             "it that is known here",
             threads);
    return sentence;
}

int default_threads(void)
{
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

double spin_seconds(const struct native *lib)
{
    int (*blocktime)(void) = NULL;
    *(void **)&blocktime = dlsym(RTLD_DEFAULT, "kmp_get_blocktime");
    void *handle = lib && blocktime == NULL ? dlopen(native_path(lib), RTLD_NOW | RTLD_NOLOAD) : NULL;
    if (handle) {
        *(void **)&blocktime = dlsym(handle, "kmp_get_blocktime");
        dlclose(handle);
    }
    double milliseconds = blocktime ? blocktime() : 0;
    return 0.05 + (milliseconds < 200 ? milliseconds : 200) / 1000;
}

/* ---- a slow BLAS ----------------------------------------------------------------------------------- */

/* lacks() - what the code that OpenBLAS has chosen does not use although this processor has it; NULL: nothing
 * known. Names as openblas_get_corename() gives them. */
static const char *lacks(const char *core)
{
#if defined(__x86_64__) && defined(__GNUC__)
    static const char *const no_avx2[] = {
        "Katmai",    "Coppermine", "Northwood", "Prescott",    "Banias",     "Atom",    "Core2",
        "Penryn",    "Dunnington", "Nehalem",   "Sandybridge", "Athlon",     "Opteron", "Opteron_SSE3",
        "Barcelona", "Bobcat",     "Bulldozer", "Piledriver",  "Steamroller"};
    static const char *const no_avx512[] = {"Haswell", "Zen", "Excavator"};
    for (size_t i = 0; i < sizeof no_avx2 / sizeof no_avx2[0] && __builtin_cpu_supports("avx2"); i++)
        if (strcmp(core, no_avx2[i]) == 0)
            return "AVX2";
    for (size_t i = 0; i < sizeof no_avx512 / sizeof no_avx512[0] && __builtin_cpu_supports("avx512f"); i++)
        if (strcmp(core, no_avx512[i]) == 0)
            return "AVX-512";
#endif
    (void)core;
    return NULL;
}

json_t *slow_blas(const struct native *lib)
{
    static const struct {
        const char *name, *what;
    } settings[] = {{"OPENBLAS_CORETYPE", "takes the code of that processor"},
                    {"OPENBLAS_L2_SIZE", "cuts its blocks for a cache of that size"}};
    const char *core = lib ? native_core(lib) : NULL, *missing = core ? lacks(core) : NULL;
    json_t *found = json_array();
    char line[320];
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        const char *value = getenv(settings[i].name);
        if (value == NULL)
            continue;
        snprintf(line, sizeof line,
                 "%s=%.60s is set: OpenBLAS %s instead of its own choice, which is mostly faster",
                 settings[i].name, value, settings[i].what);
        json_array_append_new(found, json_text(line));
    }
    if (missing) {
        snprintf(line, sizeof line,
                 "OpenBLAS takes the code of %.40s, without %s, which this processor has: a BLAS that knows "
                 "it would be faster, and the ratios higher; name one by --blas",
                 core, missing);
        json_array_append_new(found, json_text(line));
    }
    return found;
}
