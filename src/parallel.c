/*
 * parallel.c - OpenMP, or one thread without it.
 *
 * SPDX-License-Identifier: MIT
 */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <time.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "parallel.h"

#ifdef _OPENMP
/*
 * A child of fork has its parent's OpenMP bookkeeping but none of its threads: its first region would wait
 * for ever. The program may have started those threads without us, so every fork is watched, from when the
 * library is loaded.
 */
static atomic_int several, orphaned;

static void before_fork(void)
{
    struct stat task; /* one link more than two for each thread of the process */

    atomic_store(&several, stat("/proc/self/task", &task) != 0 || task.st_nlink != 3);
}

static void in_child(void)
{
    if (atomic_load(&several))
        atomic_store(&orphaned, 1);
}

__attribute__((constructor)) static void watch_fork(void)
{
    pthread_atfork(before_fork, NULL, in_child);
}

/*
 * OpenMP ends the process if it cannot start a thread. So the number of threads that can run at once is
 * tried first, by threads that wait for each other; what was possible once is taken to stay so.
 */
static atomic_int possible = 1;

static void *wait_for_release(void *mutex)
{
    pthread_mutex_lock(mutex);
    pthread_mutex_unlock(mutex);
    return NULL;
}

static int try_threads(int wanted)
{
    enum { MOST = 1024 };
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_t thread[MOST];
    int count = 0;

    pthread_mutex_lock(&mutex);
    while (count < MOST && count < wanted - 1 &&
           pthread_create(&thread[count], NULL, wait_for_release, &mutex) == 0)
        count++;
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < count; i++)
        pthread_join(thread[i], NULL);
    return count + 1;
}

static int possible_threads(int wanted)
{
    int known = atomic_load(&possible);

    if (wanted <= known)
        return wanted;
    known = try_threads(wanted);
    atomic_store(&possible, known);
    return known < wanted ? known : wanted;
}
#endif

void ozg_parallel(int threads, int64_t tasks, void (*run)(void *arg, int64_t task, int thread), void *arg)
{
#ifdef _OPENMP
    if (threads > 1 && tasks > 1 && !omp_in_parallel() && !atomic_load(&orphaned)) {
        threads = possible_threads(threads < tasks ? threads : (int)tasks);
#pragma omp parallel for schedule(dynamic) num_threads(threads)
        for (int64_t task = 0; task < tasks; task++)
            run(arg, task, omp_get_thread_num());
        return;
    }
#endif
    (void)threads;
    for (int64_t task = 0; task < tasks; task++)
        run(arg, task, 0);
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

uint64_t ozg_nanoseconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}
