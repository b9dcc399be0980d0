/*
 * test_parallel.c - every task runs exactly once: with any number of threads, nested, from several threads,
 * and after fork.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "parallel.h"
#include "unit.h"

enum { TASKS = 1000, SECONDS = 60 };

struct job {
    int threads; /* asked for */
    atomic_int runs[TASKS], others;
};

static void count(void *arg, int64_t task, int thread)
{
    struct job *job = arg;

    if (task < 0 || task >= TASKS || thread < 0 || thread >= job->threads)
        atomic_fetch_add(&job->others, 1);
    else
        atomic_fetch_add(&job->runs[task], 1);
}

/* 0 if tasks 0 .. tasks - 1 ran `times` times each and no other. */
static int wrong(const struct job *job, int64_t tasks, int times)
{
    int bad = atomic_load(&job->others) != 0;

    for (int i = 0; i < TASKS; i++)
        bad |= atomic_load(&job->runs[i]) != (i < tasks ? times : 0);
    return bad;
}

static int run_once(int threads, int64_t tasks)
{
    static struct job job;

    memset(&job, 0, sizeof job);
    job.threads = threads;
    ozg_parallel(threads, tasks, count, &job);
    return wrong(&job, tasks, 1);
}

/* In a child: 0 if all its tasks ran. It is killed if it waits for ever. */
static int run_in_child(void)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        alarm(SECONDS);
        _exit(run_once(4, TASKS) || run_once(2, 3));
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

/* First, while this process has no thread: the child may use threads, and its own child then must not wait
 * for them. */
static void test_fork_before_threads(void **state)
{
    int status;
    pid_t child;

    (void)state;
    assert_int_equal(run_in_child(), 0);
    child = fork();
    if (child == 0) {
        int bad;

        alarm(2 * SECONDS);
        bad = run_once(4, TASKS);
        _exit(bad || run_in_child());
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void test_each_task_once(void **state)
{
    static const int64_t tasks[] = {0, 1, 2, 3, 7, 64, TASKS};
    static const int threads[] = {1, 2, 3, 8, 100};

    (void)state;
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++)
        for (size_t j = 0; j < sizeof threads / sizeof *threads; j++)
            for (int again = 0; again < 3; again++)
                assert_int_equal(run_once(threads[j], tasks[i]), 0);
}

static void nest(void *arg, int64_t task, int thread)
{
    (void)task;
    (void)thread;
    ozg_parallel(4, TASKS, count, arg);
}

static void test_nested(void **state)
{
    static struct job job;

    (void)state;
    memset(&job, 0, sizeof job);
    job.threads = 4;
    ozg_parallel(3, 10, nest, &job);
    assert_int_equal(wrong(&job, TASKS, 10), 0);
}

static void *run_many(void *unused)
{
    struct job *job = calloc(1, sizeof *job);
    int bad = job == NULL;

    (void)unused;
    for (int i = 0; i < 20 && !bad; i++) {
        memset(job, 0, sizeof *job);
        job->threads = 2;
        ozg_parallel(2, 300, count, job);
        bad = wrong(job, 300, 1);
    }
    free(job);
    return (void *)(intptr_t)bad;
}

static void test_from_several_threads(void **state)
{
    pthread_t thread[4];

    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, run_many, NULL), 0);
    for (int i = 0; i < 4; i++) {
        void *bad;

        assert_int_equal(pthread_join(thread[i], &bad), 0);
        assert_null(bad);
    }
}

static void test_fork_after_threads(void **state)
{
    (void)state;
    assert_int_equal(run_once(4, TASKS), 0);
    assert_int_equal(run_in_child(), 0);
    assert_int_equal(run_once(4, TASKS), 0); /* the parent goes on */
}

/* Tasks of one thread number never overlap in time: each thread may keep memory of its own. */
struct owners {
    atomic_int busy[8], clashes;
};

static void own(void *arg, int64_t task, int thread)
{
    struct owners *o = arg;

    (void)task;
    if (atomic_exchange(&o->busy[thread], 1))
        atomic_fetch_add(&o->clashes, 1);
    sched_yield();
    atomic_store(&o->busy[thread], 0);
}

static void test_threads_have_numbers_of_their_own(void **state)
{
    static struct owners o;

    (void)state;
    ozg_parallel(8, 5000, own, &o);
    assert_int_equal(atomic_load(&o.clashes), 0);
}

static void test_number_of_threads(void **state)
{
    (void)state;
    assert_true(ozg_parallel_threads(0) >= 1);
    assert_int_equal(ozg_parallel_threads(1), 1);
    assert_in_range(ozg_parallel_threads(3), 1, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fork_before_threads),
        cmocka_unit_test(test_each_task_once),
        cmocka_unit_test(test_nested),
        cmocka_unit_test(test_from_several_threads),
        cmocka_unit_test(test_fork_after_threads),
        cmocka_unit_test(test_number_of_threads),
        cmocka_unit_test(test_threads_have_numbers_of_their_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
