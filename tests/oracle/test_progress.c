/*
 * test_progress.c - the progress callback: rising shares that end at 1, by the thread that called.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fenv.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <ozgemm.h>

struct seen {
    int calls, wrong;
    double last;
    pthread_t thread;
};

static void note(void *arg, double done)
{
    struct seen *seen = arg;

    seen->wrong |= !(done > seen->last) || done > 1 || !pthread_equal(seen->thread, pthread_self());
    seen->last = done;
    seen->calls++;
}

static void test_progress(void **state)
{
    enum { M = 70, N = 1037, K = 3 };
    static double a[M * K], b[K * N], c[M * N];
    const ozg_accuracy accuracies[] = {ozg_moduli(9), ozg_native(), ozg_rounded()};
    struct seen seen = {0, 0, 0, pthread_self()};
    ozg_config cfg;
    ozg_context *ctx;

    (void)state;
    assert_int_equal(ozg_config_init(&cfg), OZG_OK);
    cfg.progress = note;
    cfg.progress_arg = &seen;
    cfg.memory_limit = 1 << 20; /* several tiles */
    assert_int_equal(ozg_create(&ctx, &cfg), OZG_OK);
    for (int i = 0; i < M * K; i++)
        a[i] = i;
    for (int i = 0; i < K * N; i++)
        b[i] = 1 / (1.0 + i);
    for (int q = 0; q < 3 * 3; q++) { /* the caller's rounding mode has no influence */
        static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_TOWARDZERO};
        ozg_report report;
        ozg_status status;

        seen.calls = 0;
        seen.last = 0;
        fesetround(modes[q / 3]);
        status = ozg_dgemm(ctx, 'N', 'N', M, N, K, 1, a, M, b, K, 0, c, M, accuracies[q % 3], &report);
        fesetround(FE_TONEAREST);
        assert_int_equal(status, OZG_OK);
        assert_int_equal(seen.wrong, 0);
        assert_int_equal(seen.calls, report.tiles);
        assert_true(seen.calls > 1 && seen.last == 1);
    }
    ozg_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_progress)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
