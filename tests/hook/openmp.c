/*
 * openmp.c - case C19: small products with random shapes from many threads at once, checked entry by entry.
 *
 *   openmp NESTED     an OpenMP loop of 30 products (NESTED 1: each in a parallel region of its own), then
 *                     the same from POSIX threads; the process must keep the number of threads of its callers
 *
 * SPDX-License-Identifier: MIT
 */
#define _POSIX_C_SOURCE 200809L

#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "calls.h"

enum { TASKS = 30, LARGEST = 38, POSIX_THREADS = 16, SHORT_THREADS = 500 };

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

/* One product of integers; the answer is exact. Returns the number of wrong entries. */
static int product(unsigned seed)
{
    double a[LARGEST * LARGEST], b[LARGEST * LARGEST], c[LARGEST * LARGEST];
    unsigned state = seed * 2654435761u + 1u;
    gemm_call g = {
        .type = 'd', .alpha = {1, 0}, .a = a, .b = b, .c = c, .lda = LARGEST, .ldb = LARGEST, .ldc = LARGEST};
    int wrong = 0;

    g.transa = "NT"[seed % 2];
    g.transb = "NT"[seed / 2 % 2];
    g.m = (int)(next_random(&state) % LARGEST) + 1;
    g.n = (int)(next_random(&state) % LARGEST) + 1;
    g.k = (int)(next_random(&state) % LARGEST) + 1;
    for (int x = 0; x < LARGEST * LARGEST; x++) {
        a[x] = (double)(next_random(&state) % 2001) - 1000;
        b[x] = (double)(next_random(&state) % 2001) - 1000;
        c[x] = -1;
    }
    call_gemm(FORTRAN, &g);
    for (int j = 0; j < g.n; j++)
        for (int i = 0; i < g.m; i++) {
            double sum = 0;
            for (int p = 0; p < g.k; p++)
                sum += (g.transa == 'N' ? a[i + p * LARGEST] : a[p + i * LARGEST]) *
                       (g.transb == 'N' ? b[p + j * LARGEST] : b[j + p * LARGEST]);
            wrong += c[i + j * LARGEST] != sum;
        }
    return wrong;
}

static void *posix_thread(void *argument)
{
    return (void *)(size_t)product((unsigned)(size_t)argument);
}

static int in_posix_threads(int count, int at_once)
{
    pthread_t threads[POSIX_THREADS];
    int wrong = 0;
    void *result;

    for (int done = 0; done < count; done += at_once) {
        for (int i = 0; i < at_once; i++)
            if (pthread_create(&threads[i], NULL, posix_thread, (void *)(size_t)(done + i)) != 0)
                exit(2);
        for (int i = 0; i < at_once; i++) {
            pthread_join(threads[i], &result);
            wrong += (int)(size_t)result;
        }
    }
    return wrong;
}

/* A number from /proc/self/status: "Threads:", or "VmRSS:" in KiB. */
static long status_of(const char *key)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long value = -1;

    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, key, strlen(key)) == 0)
            value = atol(line + strlen(key));
    if (file != NULL)
        fclose(file);
    return value;
}

/* Threads that are left once those that end have had time to: at most 3 s. */
static long threads_at_rest(long most)
{
    const struct timespec pause = {0, 10000000};
    long threads = status_of("Threads:");

    for (int i = 0; i < 300 && threads > most; i++) {
        nanosleep(&pause, NULL);
        threads = status_of("Threads:");
    }
    return threads;
}

int main(int argc, char **argv)
{
    int nested = argc > 1 && atoi(argv[1]) != 0, callers = omp_get_max_threads(), wrong = 0;
    const long most = (nested ? 2 : 1) * callers + callers;
    long memory, threads;

    omp_set_max_active_levels(nested ? 3 : 1);
#pragma omp parallel for schedule(dynamic) reduction(+ : wrong)
    for (int i = 0; i < TASKS; i++) {
        int inner = 0;
#pragma omp parallel num_threads(nested ? 2 : 1) reduction(+ : inner)
        inner += product((unsigned)i);
        wrong += inner;
    }
    CHECK(wrong == 0, "%d wrong entries from an OpenMP loop", wrong);
    /* Each caller brings at most one more for a nested region; ours are at most one team besides. */
    threads = threads_at_rest(most);
    CHECK(threads <= most, "%ld threads for %d callers", threads, callers);

    wrong = in_posix_threads(POSIX_THREADS * 4, POSIX_THREADS);
    CHECK(wrong == 0, "%d wrong entries from POSIX threads", wrong);
    memory = status_of("VmRSS:");
    wrong = in_posix_threads(SHORT_THREADS, 4);
    CHECK(wrong == 0, "%d wrong entries from short threads", wrong);
    memory = status_of("VmRSS:") - memory;
    CHECK(memory < 8192, "memory grew by %ld KiB over %d short threads", memory, SHORT_THREADS);
    return check_status();
}
