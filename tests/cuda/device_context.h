/*
 * device_context.h - contexts over a driver that fails when it is told to, for the tests of what they own.
 *
 * The driver is opened once in a process, so every test is a process of its own: the program again, with the
 * name of the test. _GNU_SOURCE comes before this header.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TEST_CUDA_DEVICE_CONTEXT_H
#define OZG_TEST_CUDA_DEVICE_CONTEXT_H

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

#include "cuda/device.h"
#include "cuda/table.h"
#include "errors.h"
#include "fake_driver.h"
#include "rng.h"

#define OUT_OF_MEMORY   2   /* CUresult */
#define LAUNCH_FAILED   719 /* stays */
#define OUT_OF_RESOURCE 701 /* does not */
#define UNKNOWN_ERROR   999

static inline ozg_config cuda_config(void)
{
    ozg_config cfg;

    assert_int_equal(ozg_config_init(&cfg), OZG_OK);
    cfg.backend = OZG_BACKEND_CUDA;
    return cfg;
}

static inline void refuse(const ozg_config *cfg, ozg_status status, const char *word)
{
    ozg_context *ctx = (ozg_context *)1;

    expect_error(NULL, ozg_create(&ctx, cfg), status, 0);
    assert_null(ctx);
    if (!strstr(ozg_last_error(NULL), word))
        fail_msg("\"%s\" lacks \"%s\"", ozg_last_error(NULL), word);
}

static inline ozg_context *open_context(int device)
{
    ozg_config cfg = cuda_config();
    ozg_context *ctx;

    cfg.device = device;
    if (ozg_create(&ctx, &cfg))
        fail_msg("%s", ozg_last_error(NULL));
    return ctx;
}

/* Nobody may be left in a context of the library's, and nothing was wrong in what the driver saw. */
static inline void check_outside(void)
{
    const char *error;
    const ozg_cuda_api *api = ozg_cuda_api_open(&error);
    CUcontext current = (CUcontext)1;

    assert_non_null(api);
    assert_int_equal(api->context_current(&current), 0);
    assert_null(current);
    assert_int_equal(fake_count().complaints, 0);
}

/* Leaves the context that a call left current. Returns whether there was one. */
static inline int leave_outside(void)
{
    const char *error;
    const ozg_cuda_api *api = ozg_cuda_api_open(&error);
    CUcontext current = NULL;

    assert_int_equal(api->context_current(&current), 0);
    if (current)
        assert_int_equal(api->context_pop(&current), 0);
    check_outside();
    return current != NULL;
}

/* ---- every test in a process of its own --------------------------------------------------------- */

#define TEST(name)                                                                                           \
    {                                                                                                        \
#name, name, NULL, NULL, NULL                                                                        \
    }

static inline void in_child(void **state)
{
    const char *name = *state;
    const pid_t child = fork();
    int status;

    if (child == 0) {
        execl("/proc/self/exe", "device", name, (char *)NULL);
        _exit(127);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (status)
        fail_msg("%s: status %d", name, status);
}

static inline int device_main(int argc, char **argv, const struct CMUnitTest *tests, size_t count)
{
    struct CMUnitTest all[32];

    ozg_cuda_driver_name = OZG_FAKE_CUDA;
    ozg_cuda_images = fake_images;
    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
        return _cmocka_run_group_tests("tests", tests, count, NULL, NULL);
    }
    if (count > sizeof all / sizeof *all)
        return 1;
    for (size_t i = 0; i < count; i++)
        all[i] = (struct CMUnitTest){tests[i].name, in_child, NULL, NULL, (void *)(uintptr_t)tests[i].name};
    return _cmocka_run_group_tests("device", all, count, NULL, NULL);
}

#endif
