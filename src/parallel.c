/*
 * parallel.c - OpenMP, or one thread without it.
 *
 * SPDX-License-Identifier: MIT
 */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <stdatomic.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "parallel.h"

#ifdef _OPENMP
/* A child of fork has this process's OpenMP bookkeeping, but none of its threads: the first region would wait
 * for ever. */
static atomic_int started, orphaned;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void in_child(void)
{
    atomic_store(&orphaned, atomic_load(&started));
}

static void watch_fork(void)
{
    pthread_atfork(NULL, NULL, in_child);
}
#endif

void ozg_parallel(int threads, int64_t tasks, void (*run)(void *arg, int64_t task), void *arg)
{
#ifdef _OPENMP
    if (threads > 1 && tasks > 1 && !omp_in_parallel() && !atomic_load(&orphaned)) {
        pthread_once(&once, watch_fork);
        atomic_store(&started, 1);
        if (threads > tasks)
            threads = (int)tasks;
#pragma omp parallel for schedule(dynamic) num_threads(threads)
        for (int64_t task = 0; task < tasks; task++)
            run(arg, task);
        return;
    }
#endif
    (void)threads;
    for (int64_t task = 0; task < tasks; task++)
        run(arg, task);
}

int ozg_parallel_threads(int wanted)
{
#ifdef _OPENMP
    int threads = wanted > 0 ? wanted : omp_get_max_threads();
#else
    int threads = 1;

    (void)wanted;
#endif
    return threads > 1 ? threads : 1;
}
