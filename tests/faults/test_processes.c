/*
 * test_processes.c - several threads with contexts of their own at once; fork after a threaded product (C20,
 * core part).
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "check.h"

/* The first few products are large: several threads are worth their start. */
enum { THREADS = 4, LARGE_PRODUCTS = 4, LARGE = 200, PRODUCTS = 40, SMALL = 60, SECONDS_AT_MOST = 60 };

/* Problem number q of this test, in memory of its own. */
struct problem {
    struct gemm g;
    struct arena arena;
    struct request request;
    void *expected;
};

static void problem_open(struct problem *p, int q)
{
    static const char types[] = "sdcz";
    const int large = q < LARGE_PRODUCTS;
    struct rng r = {(uint64_t)q + 100};

    memset(&p->g, 0, sizeof p->g);
    p->g.type = types[q % 4];
    p->g.transa = q & 1 ? 'T' : 'N';
    p->g.transb = q & 2 ? 'C' : 'N';
    p->g.m = large ? LARGE : rng_between(&r, 1, SMALL);
    p->g.n = large ? LARGE : rng_between(&r, 1, SMALL);
    p->g.k = large ? LARGE : rng_between(&r, 1, SMALL);
    p->g.alpha[0] = 1;
    p->g.beta[0] = -1;
    p->request = (struct request){REQUEST_MODULI, (int)rng_between(&r, large ? 20 : 6, large ? 24 : 49)};
    arena_open(&p->arena, large ? 1 << 20 : 1 << 17);
    gemm_layout(&p->g, &p->arena, (struct padding){1, 0, 1}, 1);
    gemm_fill(&p->g, &r, FAMILY_UNIFORM, FAMILY_SPIKE, FAMILY_UNIFORM);
    p->expected = gemm_image(&p->g);
    oracle_gemm(&p->g, request_width(p->request, p->g.type, p->g.k), p->expected);
}

static void problem_close(struct problem *p)
{
    arena_close(&p->arena);
    free(p->expected);
}

/* 1: the product has the expected bits. */
static int problem_solved(const struct problem *p, ozg_context *ctx)
{
    void *c = gemm_image(&p->g);
    int ok = gemm_run(ctx, &p->g, c, request_accuracy(p->request), NULL) == OZG_OK &&
             gemm_same(&p->g, c, p->expected, "threads or fork");

    free(c);
    return ok;
}

static struct problem problem[PRODUCTS];

/* A thread: its own context, opened and closed here, all problems from its own starting point. */
static void *worker(void *start)
{
    const char *kernel = ozg_kernel_name(0);
    ozg_context *ctx;
    ozg_config cfg;
    intptr_t failures = 0;

    ozg_config_init(&cfg);
    cfg.threads = 2;
    cfg.kernel = kernel;
    if (ozg_create(&ctx, &cfg) != OZG_OK)
        return (void *)(intptr_t)-1;
    for (int q = 0; q < PRODUCTS; q++)
        failures += !problem_solved(&problem[(q + (int)(intptr_t)start) % PRODUCTS], ctx);
    ozg_destroy(ctx);
    return (void *)failures;
}

/* Runs first: the tables of moduli are then made by several threads at once. */
static void threads_at_once(void **state)
{
    pthread_t thread[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, worker, (void *)(intptr_t)(i * 7)), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failures;

        assert_int_equal(pthread_join(thread[i], &failures), 0);
        assert_null(failures);
    }
}

/* In a child: true within a minute, by the alarm. */
static int in_child(int (*test)(ozg_context *), ozg_context *ctx)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        alarm(SECONDS_AT_MOST);
        _exit(test(ctx) ? 0 : 1);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int with_the_context_of_the_parent(ozg_context *ctx)
{
    return problem_solved(&problem[1], ctx) && problem_solved(&problem[6], ctx);
}

static int with_a_new_context(ozg_context *unused)
{
    ozg_context *ctx;
    ozg_config cfg;
    int ok;

    (void)unused;
    ozg_config_init(&cfg);
    cfg.threads = 3;
    ok = ozg_create(&ctx, &cfg) == OZG_OK && problem_solved(&problem[0], ctx);
    ozg_destroy(ctx);
    return ok;
}

static int with_a_grandchild(ozg_context *ctx)
{
    return with_the_context_of_the_parent(ctx) && in_child(with_a_new_context, ctx) &&
           problem_solved(&problem[2], ctx);
}

static void fork_after_threads(void **state)
{
    ozg_context *ctx;
    ozg_config cfg;

    (void)state;
    assert_int_equal(ozg_config_init(&cfg), OZG_OK);
    cfg.threads = 4;
    assert_int_equal(ozg_create(&ctx, &cfg), OZG_OK);
    for (int q = 0; q < PRODUCTS; q++)
        assert_true(problem_solved(&problem[q], ctx));
    assert_true(in_child(with_the_context_of_the_parent, ctx));
    assert_true(in_child(with_a_new_context, ctx));
    assert_true(in_child(with_a_grandchild, ctx));
    assert_true(problem_solved(&problem[3], ctx)); /* the parent goes on */
    ozg_destroy(ctx);
}

static int open_all(void **state)
{
    (void)state;
    for (int q = 0; q < PRODUCTS; q++)
        problem_open(&problem[q], q);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    for (int q = 0; q < PRODUCTS; q++)
        problem_close(&problem[q]);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_at_once),
        cmocka_unit_test(fork_after_threads),
    };

    return cmocka_run_group_tests(tests, open_all, close_all);
}
