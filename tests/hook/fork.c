/*
 * fork.c - case C20: products before, in and after a child of fork(), also while another thread computes, and
 * where the program itself has started OpenMP threads.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"

enum { LARGEST = 200 };

static atomic_bool stop;

/* Products of 8 x 8 and 200 x 200 with entries that can be told beforehand: A all u, B all v. */
static int product(int n, double u, double v)
{
    size_t size = (size_t)n * (size_t)n;
    double *a = malloc(3 * size * sizeof *a), *b = a + size, *c = b + size;
    gemm_call g = {.type = 'd', .transa = 'N', .transb = 'N', .m = n, .n = n, .k = n, .alpha = {1, 0}};
    int wrong = 0;

    for (size_t x = 0; x < size; x++) {
        a[x] = u;
        b[x] = v;
    }
    g.a = a, g.b = b, g.c = c;
    g.lda = g.ldb = g.ldc = n;
    call_gemm(FORTRAN, &g);
    for (size_t x = 0; x < size; x++)
        wrong += c[x] != n * u * v;
    free(a);
    return wrong;
}

static int both(void)
{
    return product(8, 3, 5) + product(LARGEST, 7, 2);
}

/* In the child: alarm() ends it if it hangs. */
static void in_child(const char *what)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        alarm(60);
        _exit(both() == 0 ? 0 : 1);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0,
          "%s: the child ended with status %d", what, status);
}

static void *keep_computing(void *unused)
{
    (void)unused;
    while (!atomic_load(&stop))
        CHECK(both() == 0, "a thread beside fork() computed wrongly");
    return NULL;
}

int main(void)
{
    pthread_t thread;
    int count = 0;

    alarm(110);
    in_child("fork() before anything else");
#pragma omp parallel reduction(+ : count)
    count += 1;
    in_child("fork() after the program's own OpenMP region");
    CHECK(count >= 1, "no OpenMP thread");
    CHECK(both() == 0, "before fork()");
    in_child("fork()");
    CHECK(both() == 0, "after fork()");
    if (pthread_create(&thread, NULL, keep_computing, NULL) != 0)
        return 2;
    for (int i = 0; i < 20; i++) {
        usleep(1000);
        in_child("fork() while another thread computes");
    }
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    CHECK(both() == 0, "at the end");
    return check_status();
}
