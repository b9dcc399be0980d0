/*
 * test_device.c - what a context on a CUDA device owns, over a driver that fails when it is told to.
 * with: ozg_fake_cuda
 *
 * The driver is opened once in a process, so every test is a process of its own: this program again, with the
 * name of the test.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <fenv.h>
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

#include "cuda/device.h"
#include "cuda/table.h"
#include "errors.h"
#include "fake_driver.h"
#include "rng.h"

#define OUT_OF_MEMORY   2   /* CUresult */
#define LAUNCH_FAILED   719 /* stays */
#define OUT_OF_RESOURCE 701 /* does not */
#define UNKNOWN_ERROR   999

static ozg_config cuda_config(void)
{
    ozg_config cfg;

    assert_int_equal(ozg_config_init(&cfg), OZG_OK);
    cfg.backend = OZG_BACKEND_CUDA;
    return cfg;
}

static void refuse(const ozg_config *cfg, ozg_status status, const char *word)
{
    ozg_context *ctx = (ozg_context *)1;

    expect_error(NULL, ozg_create(&ctx, cfg), status, 0);
    assert_null(ctx);
    if (!strstr(ozg_last_error(NULL), word))
        fail_msg("\"%s\" lacks \"%s\"", ozg_last_error(NULL), word);
}

static ozg_context *open_context(int device)
{
    ozg_config cfg = cuda_config();
    ozg_context *ctx;

    cfg.device = device;
    if (ozg_create(&ctx, &cfg))
        fail_msg("%s", ozg_last_error(NULL));
    return ctx;
}

/* Nobody may be left in a context of the library's, and nothing was wrong in what the driver saw. */
static void check_outside(void)
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
static int leave_outside(void)
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

/* ---- no device ---------------------------------------------------------------------------------- */

static void no_driver(void **state)
{
    ozg_config cfg = cuda_config();

    (void)state;
    ozg_cuda_driver_name = "libno_such_driver.so.1";
    refuse(&cfg, OZG_E_NODEVICE, "libno_such_driver.so.1");
    refuse(&cfg, OZG_E_NODEVICE, "libno_such_driver.so.1"); /* told again */
    assert_null(ozg_device_name(OZG_BACKEND_CUDA, 0));
    cfg.backend = OZG_BACKEND_BEST;
    cfg.device_pointers = 1;
    refuse(&cfg, OZG_E_NODEVICE, "libno_such_driver.so.1");
}

static void incomplete_driver(void **state)
{
    const ozg_config cfg = cuda_config();

    (void)state;
    ozg_cuda_driver_name = "libm.so.6";
    refuse(&cfg, OZG_E_NODEVICE, "cuInit");
}

static void old_driver(void **state)
{
    const ozg_config cfg = cuda_config();

    (void)state;
    fake.version = 10020;
    refuse(&cfg, OZG_E_NODEVICE, "10.2");
}

static void no_device(void **state)
{
    const ozg_config cfg = cuda_config();

    (void)state;
    fake.devices = 0;
    refuse(&cfg, OZG_E_NODEVICE, "no CUDA device");
    assert_null(ozg_device_name(OZG_BACKEND_CUDA, 0));
}

static void broken_driver(void **state)
{
    const ozg_config cfg = cuda_config();

    (void)state;
    fake_fail("cuInit", 1, UNKNOWN_ERROR);
    refuse(&cfg, OZG_E_NODEVICE, "nvidia-smi");
}

static void wrong_number(void **state)
{
    ozg_config cfg = cuda_config();

    (void)state;
    fake.devices = 2;
    for (int device = -1; device <= 2; device += 3) {
        cfg.device = device;
        refuse(&cfg, OZG_E_NODEVICE, "0 to 1");
        assert_null(ozg_device_name(OZG_BACKEND_CUDA, device));
    }
    assert_non_null(ozg_device_name(OZG_BACKEND_CUDA, 0));
    assert_non_null(ozg_device_name(OZG_BACKEND_CUDA, 1));
    assert_ptr_equal(ozg_device_name(OZG_BACKEND_CUDA, 1), ozg_device_name(OZG_BACKEND_CUDA, 1));
    assert_string_equal(ozg_device_name(OZG_BACKEND_CPU, 0), "CPU");
    assert_null(ozg_device_name(OZG_BACKEND_CPU, 1));
    assert_null(ozg_device_name(OZG_BACKEND_OPENCL, 0));
    check_outside();
}

static void old_device(void **state)
{
    const ozg_config cfg = cuda_config();

    (void)state;
    fake.major = 7;
    fake.minor = 5;
    refuse(&cfg, OZG_E_NODEVICE, "7.5");
    assert_int_equal(fake_count().contexts, 0);
}

static void no_kernels(void **state)
{
    static const ozg_cuda_image none = {NULL, NULL};
    const ozg_config cfg = cuda_config();

    (void)state;
    ozg_cuda_images = &none;
    refuse(&cfg, OZG_E_NODEVICE, "no CUDA kernels");
    assert_null(ozg_device_name(OZG_BACKEND_CUDA, 0));
}

static void kernels_for_others(void **state)
{
    const ozg_config cfg = cuda_config();

    (void)state;
    fake_fail("cuModuleLoadData", 1, CUDA_ERROR_NO_BINARY_FOR_GPU);
    refuse(&cfg, OZG_E_NODEVICE, "capability 8.0");
    assert_int_equal(fake_count().contexts, 0);
    ozg_destroy(open_context(0)); /* it was only that time */
    check_outside();
}

/* ---- contexts ----------------------------------------------------------------------------------- */

static void opens(void **state)
{
    ozg_config cfg = cuda_config();
    ozg_context *ctx = open_context(0), *other;
    const fake_counts before = fake_count();

    (void)state;
    check_outside();
    assert_true(ozg_memory_limit(ctx) <= fake.memory / 4 && ozg_memory_limit(ctx) > fake.memory / 5);
    assert_string_equal(ctx->cuda->kernel, "cuda-mma");
    cfg.memory_limit = 12345;
    cfg.kernel = "cuda-mma";
    assert_int_equal(ozg_create(&other, &cfg), OZG_OK);
    assert_int_equal(ozg_memory_limit(other), 12345);
    assert_int_equal(fake_calls("cuModuleLoadData"), 1); /* of the process */
    ozg_destroy(other);
    assert_int_equal(fake_count().allocations, before.allocations);
    assert_int_equal(fake_count().events, before.events);
    cfg.kernel = "cuda-wgmma";
    refuse(&cfg, OZG_E_UNSUPPORTED, "cuda-wgmma");
    cfg.kernel = "ref";
    refuse(&cfg, OZG_E_UNSUPPORTED, "ref");
    cfg.kernel = NULL;
    cfg.threads = -1;
    refuse(&cfg, OZG_E_ARG, "threads");
    cfg = cuda_config();
    cfg.device_pointers = 2;
    refuse(&cfg, OZG_E_ARG, "device_pointers");
    ozg_destroy(ctx);
    assert_int_equal(fake_count().events, 0);
    assert_int_equal(fake_count().pinned, 0);
    check_outside();
}

static void best(void **state)
{
    ozg_config cfg;
    ozg_context *ctx;

    (void)state;
    ozg_config_init(&cfg);
    assert_int_equal(ozg_create(&ctx, &cfg), OZG_OK);
    assert_null(ctx->cuda);
    ozg_destroy(ctx);
    cfg.device_pointers = 1;
    assert_int_equal(ozg_create(&ctx, &cfg), OZG_OK);
    assert_non_null(ctx->cuda);
    assert_string_equal(ctx->backend->name, "cuda");
    ozg_destroy(ctx);
}

/* Whatever call of the driver fails: a status, a sentence, nothing left behind, and the next try succeeds. */
static void open_fails(int result, ozg_status expected)
{
    const ozg_config cfg = cuda_config();
    ozg_context *ctx = NULL;
    int nth = 1, left = 0;

    ozg_destroy(open_context(0)); /* the driver is open */
    for (;; nth++) {
        const fake_counts before = fake_count();
        ozg_status status;

        fake_fail(NULL, nth, result);
        status = ozg_create(&ctx, &cfg);
        fake_fail(NULL, 0, 0);
        if (!status)
            break;
        assert_null(ctx);
        assert_true(status == expected || status == OZG_E_UNSUPPORTED);
        assert_true(*ozg_last_error(NULL));
        assert_int_equal(fake_count().allocations, before.allocations);
        assert_int_equal(fake_count().events, before.events);
        left += leave_outside();
    }
    assert_true(nth > 3);
    assert_true(left <= 1); /* where leaving it was what failed */
    ozg_destroy(ctx);
    check_outside();
}

static void open_fails_memory(void **state)
{
    (void)state;
    open_fails(OUT_OF_MEMORY, OZG_E_NOMEM);
}

static void open_fails_otherwise(void **state)
{
    (void)state;
    open_fails(UNKNOWN_ERROR, OZG_E_DEVICE);
}

/* The same for the first context of the process, which loads the kernels; nothing of the device is kept. */
static void first_open_fails(void **state)
{
    static const char *const function[] = {
        "cuDeviceGet",   "cuDeviceGetName",      "cuDeviceGetAttribute", "cuModuleLoadData",
        "cuMemAlloc_v2", "cuMemcpyHtoDAsync_v2", "cuCtxPushCurrent_v2",  "cuDevicePrimaryCtxRetain"};
    const ozg_config cfg = cuda_config();

    (void)state;
    for (size_t i = 0; i < sizeof function / sizeof *function; i++) {
        fake_fail(function[i], 1, OUT_OF_MEMORY);
        refuse(&cfg, OZG_E_NOMEM, "memory");
        assert_int_equal(fake_count().contexts, 0);
        assert_int_equal(fake_count().allocations, 0);
        check_outside();
    }
    assert_int_equal(fake_calls("cuModuleUnload"), fake_calls("cuModuleLoadData") - 1); /* one try failed */
    ozg_destroy(open_context(0));
}

/* The caller's context stays current during a call's absence. */
static void current_context(void **state)
{
    ozg_context *ctx = open_context(0);
    const ozg_cuda_api *api = ctx->cuda->api;
    CUcontext mine = NULL, current = NULL;
    CUdevice device;

    (void)state;
    assert_int_equal(api->device_get(&device, 0), 0);
    assert_int_equal(api->primary_retain(&mine, device), 0);
    assert_int_equal(ozg_cuda_enter(ctx), OZG_OK);
    assert_int_equal(api->context_current(&current), 0);
    assert_ptr_equal(current, mine);
    assert_int_equal(ozg_cuda_leave(ctx, OZG_E_ARG), OZG_E_ARG); /* the first error is told */
    assert_int_equal(ozg_cuda_enter(ctx), OZG_OK);
    assert_int_equal(ozg_cuda_leave(ctx, OZG_OK), OZG_OK);
    api->primary_release(device);
    ozg_destroy(ctx);
    check_outside();
}

static void tables(void **state)
{
    const size_t bytes = (OZG_NMOD_MAX + 1) * sizeof(ozg_cuda_table);
    ozg_cuda_table *have = malloc(bytes), *want = calloc(1, sizeof *want);
    ozg_context *ctx;

    (void)state;
    fesetround(FE_UPWARD); /* has no influence */
    ctx = open_context(0);
    fesetround(FE_TONEAREST);
    fake_read(have, ctx->cuda->tables, bytes);
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++) {
        memset(want, 0, sizeof *want);
        assert_int_equal(ozg_cuda_table_build(want, s), OZG_OK);
        assert_int_equal(want->nmod, s);
        assert_memory_equal(want, &have[s], sizeof *want);
    }
    free(have);
    free(want);
    ozg_destroy(ctx);
}

/* ---- memory ------------------------------------------------------------------------------------- */

static void arena(void **state)
{
    ozg_context *ctx = open_context(0);
    ozg_status status = OZG_OK;
    void *first, *second;
    uint64_t waits;
    int before;

    (void)state;
    assert_int_equal(ozg_cuda_enter(ctx), OZG_OK);
    before = fake_count().allocations;
    first = ozg_cuda_arena(ctx, 1000, &status);
    assert_non_null(first);
    assert_ptr_equal(ozg_cuda_arena(ctx, 10, &status), first);
    second = ozg_cuda_arena(ctx, 1 << 20, &status);
    assert_non_null(second);
    assert_int_equal(fake_count().allocations, before + 1);
    assert_null(ozg_cuda_arena(ctx, fake.memory + 1, &status));
    expect_error(ctx, status, OZG_E_NOMEM, 0);
    assert_non_null(ozg_cuda_arena(ctx, 1 << 20, &status)); /* the context goes on */
    fake_capture_begin();
    assert_true(ozg_cuda_capturing(ctx));
    assert_non_null(ozg_cuda_arena(ctx, 1 << 20, NULL)); /* there already */
    waits = fake_calls("cuStreamSynchronize");
    assert_null(ozg_cuda_arena(ctx, 2 << 20, &status));
    expect_error(ctx, status, OZG_E_UNSUPPORTED, 0);
    expect_error(ctx, ozg_cuda_synchronize(ctx), OZG_E_UNSUPPORTED, 0);
    assert_int_equal(fake_calls("cuStreamSynchronize"), waits); /* it would end the capture */
    fake_capture_end();
    assert_false(ozg_cuda_capturing(ctx));
    assert_non_null(ozg_cuda_arena(ctx, 2 << 20, &status));
    assert_int_equal(ozg_cuda_leave(ctx, OZG_OK), OZG_OK);
    ozg_destroy(ctx);
    assert_int_equal(fake_count().allocations, before);
    check_outside();
}

static void record(void **state)
{
    ozg_context *ctx = open_context(0);
    ozg_status status = OZG_OK;
    unsigned char *r;

    (void)state;
    assert_int_equal(ozg_cuda_enter(ctx), OZG_OK);
    r = ozg_cuda_record(ctx, 100, &status);
    memset(r, 7, 100);
    r = ozg_cuda_record(ctx, 100000, &status);
    for (int i = 0; i < 100; i++)
        assert_int_equal(r[i], 7);
    fake_fail("cuMemAllocHost_v2", 1, OUT_OF_MEMORY);
    assert_null(ozg_cuda_record(ctx, 1000000, &status));
    expect_error(ctx, status, OZG_E_NOMEM, 0);
    assert_ptr_equal(ozg_cuda_record(ctx, 100000, &status), r);
    assert_int_equal(ozg_cuda_leave(ctx, OZG_OK), OZG_OK);
    ozg_destroy(ctx);
    assert_int_equal(fake_count().pinned, 0);
}

/* A matrix up and down again: every byte of the columns arrives, and none between them is touched. */
static void copy(ozg_context *ctx, size_t height, int64_t columns, size_t ld_host, size_t ld_device)
{
    const size_t host_bytes = ld_host * (size_t)columns + 64, device_bytes = ld_device * (size_t)columns + 64;
    unsigned char *from = malloc(host_bytes), *to = malloc(host_bytes), *image = malloc(device_bytes);
    unsigned char *device = fake_allocate(device_bytes);
    struct rng rng = {height + 131 * (uint64_t)columns};

    for (size_t i = 0; i < host_bytes; i++)
        from[i] = (unsigned char)rng_next(&rng);
    memset(to, 0x55, host_bytes);
    memset(image, 0x77, device_bytes);
    fake_write(device, image, device_bytes);
    assert_int_equal(ozg_cuda_enter(ctx), OZG_OK);
    assert_int_equal(ozg_cuda_upload(ctx, device, ld_device, from, ld_host, height, columns), OZG_OK);
    assert_int_equal(ozg_cuda_download(ctx, to, ld_host, device, ld_device, height, columns), OZG_OK);
    assert_int_equal(ozg_cuda_leave(ctx, OZG_OK), OZG_OK);
    fake_read(image, device, device_bytes);
    for (int64_t j = 0; j < columns; j++) {
        const size_t at = (size_t)j * ld_host, at_device = (size_t)j * ld_device;

        assert_memory_equal(from + at, to + at, height);
        assert_memory_equal(from + at, image + at_device, height);
        for (size_t i = height; i < ld_host; i++)
            assert_int_equal(to[at + i], 0x55);
        for (size_t i = height; i < ld_device; i++)
            assert_int_equal(image[at_device + i], 0x77);
    }
    fake_free(device);
    free(from);
    free(to);
    free(image);
}

static void copies(void **state)
{
    ozg_context *ctx = open_context(0);

    (void)state;
    for (int queued = 0; queued < 2; queued++) {
        fake.queued = queued;
        copy(ctx, 8, 1, 8, 8);
        copy(ctx, 8, 1000, 8, 8);
        copy(ctx, 8, 1000, 24, 8);
        copy(ctx, 24, 77, 24, 128);
        copy(ctx, 1000, 301, 1008, 1024);
        copy(ctx, 700000, 60, 700008, 700000);                        /* several whole columns in a half */
        copy(ctx, (16 << 20) + 8, 2, (16 << 20) + 8, (16 << 20) + 8); /* joined, three pieces */
        copy(ctx, (16 << 20) + 8, 2, (16 << 20) + 16, (16 << 20) + 64);
    }
    ozg_destroy(ctx);
    check_outside();
}

/* Each call of the driver in a copy fails once: a status, and the context goes on. */
static void copies_fail(void **state)
{
    ozg_context *ctx = open_context(0);
    unsigned char *host = calloc(1, 40 << 20), *device = fake_allocate(40 << 20);

    (void)state;
    for (int down = 0; down < 2; down++)
        for (int nth = 1;; nth++) {
            ozg_status status;

            assert_int_equal(ozg_cuda_enter(ctx), OZG_OK);
            fake_fail(NULL, nth, OUT_OF_MEMORY);
            status = down ? ozg_cuda_download(ctx, host, 4 << 20, device, 4 << 20, 3 << 20, 10)
                          : ozg_cuda_upload(ctx, device, 4 << 20, host, 4 << 20, 3 << 20, 10);
            fake_fail(NULL, 0, 0);
            assert_int_equal(ozg_cuda_leave(ctx, OZG_OK), OZG_OK);
            if (!status)
                break;
            expect_error(ctx, status, OZG_E_NOMEM, 0);
        }
    copy(ctx, 700000, 60, 700008, 700000);
    ozg_destroy(ctx);
    fake_free(device);
    free(host);
    check_outside();
}

/* ---- launches ----------------------------------------------------------------------------------- */

/* begin: clears a few words. */
static ozg_status launch(ozg_context *ctx, void *memory)
{
    ozg_cuda_begin_args args;

    memset(&args, 0, sizeof args);
    args.state = memory;
    args.initial.parts = 1;
    args.zero = (uint64_t *)(void *)((unsigned char *)memory + 4096);
    args.words = 100;
    return ozg_cuda_launch(ctx, "ozg_cuda_begin", 2, 256, 0, 0, &args);
}

static void launches(void **state)
{
    ozg_context *ctx = open_context(0);
    unsigned char *memory = fake_allocate(8192), image[8192];
    ozg_cuda_state found;
    int blocks = 0;

    (void)state;
    memset(image, 0xff, sizeof image);
    fake_write(memory, image, sizeof image);
    assert_int_equal(ozg_cuda_enter(ctx), OZG_OK);
    assert_int_equal(ozg_cuda_mark(ctx, 0), OZG_OK);
    assert_int_equal(launch(ctx, memory), OZG_OK);
    assert_int_equal(ozg_cuda_mark(ctx, 40), OZG_OK);
    assert_int_equal(ozg_cuda_reached(ctx, 40), OZG_OK);
    assert_true(ozg_cuda_seconds(ctx, 0, 40) >= 0);
    assert_true(ozg_cuda_seconds(ctx, 0, 1000) <= 0);
    assert_int_equal(ozg_cuda_resident(ctx, "ozg_cuda_begin", 256, 0, &blocks), OZG_OK);
    assert_int_equal(blocks, fake.resident * fake.multiprocessors);
    expect_error(ctx, ozg_cuda_launch(ctx, "ozg_cuda_no_such_kernel", 1, 32, 0, 0, image), OZG_E_NODEVICE, 0);
    expect_error(ctx, ozg_cuda_launch(ctx, "ozg_cuda_begin", 1, 32, fake.shared_most + 1, 0, image),
                 OZG_E_DEVICE, 0);
    assert_int_equal(ozg_cuda_synchronize(ctx), OZG_OK);
    assert_int_equal(ozg_cuda_leave(ctx, OZG_OK), OZG_OK);
    fake_read(image, memory, sizeof image);
    memcpy(&found, image, sizeof found);
    assert_int_equal(found.parts, 1);
    for (int i = 0; i < 900; i++)
        assert_int_equal(image[4096 + i], i < 800 ? 0 : 0xff);
    ozg_destroy(ctx);
    fake_free(memory);
    check_outside();
}

static void launch_counted(ozg_context *ctx, void *memory, uint64_t dependent)
{
    const uint64_t before = fake_count().dependent;

    assert_int_equal(launch(ctx, memory), OZG_OK);
    assert_int_equal(fake_count().dependent - before, dependent);
}

/* Of three kernels after one of the same call: how many are dependent launches, 3 or none. */
static void launch_three(ozg_context *ctx, void *memory, uint64_t dependent)
{
    assert_int_equal(ozg_cuda_enter(ctx), OZG_OK);
    launch_counted(ctx, memory, 0);
    for (int i = 0; i < 3; i++)
        launch_counted(ctx, memory, dependent);
    assert_int_equal(ozg_cuda_leave(ctx, OZG_OK), OZG_OK);
}

static void dependent_launches(void **state)
{
    unsigned char host[64] = {0}, *memory = fake_allocate(8192), *record;
    ozg_context *ctx;

    (void)state;
    fake.major = 9;
    ctx = open_context(0);
    launch_three(ctx, memory, 1);
    launch_three(ctx, memory, 1);
    assert_int_equal(ozg_cuda_enter(ctx), OZG_OK);
    launch_counted(ctx, memory, 0);
    assert_int_equal(ozg_cuda_mark(ctx, 0), OZG_OK);
    launch_counted(ctx, memory, 0);
    launch_counted(ctx, memory, 1);
    assert_int_equal(ozg_cuda_zero(ctx, memory, 64), OZG_OK);
    launch_counted(ctx, memory, 0);
    assert_int_equal(ozg_cuda_upload(ctx, memory, 8, host, 16, 8, 4), OZG_OK);
    launch_counted(ctx, memory, 0);
    assert_int_equal(ozg_cuda_download(ctx, host, 16, memory, 8, 8, 4), OZG_OK);
    launch_counted(ctx, memory, 0);
    record = ozg_cuda_record(ctx, 64, NULL);
    assert_non_null(record);
    assert_int_equal(ozg_cuda_fetch(ctx, record, memory, 64), OZG_OK);
    launch_counted(ctx, memory, 0);
    fake_fail("cuLaunchKernelEx", 1, OUT_OF_RESOURCE);
    expect_error(ctx, launch(ctx, memory), OZG_E_DEVICE, 0);
    launch_counted(ctx, memory, 0);
    assert_int_equal(ozg_cuda_leave(ctx, OZG_OK), OZG_OK);
    fake_capture_begin();
    launch_three(ctx, memory, 1);
    fake_capture_end();
    ozg_destroy(ctx);
    fake_free(memory);
    check_outside();
}

/* Of a whole product all kernels but the first and the cooperative one; with a report few: it marks times. */
static void dependent_product(void **state)
{
    enum { N = 40 };
    ozg_config cfg = cuda_config();
    double host[N * N], *device[3];
    ozg_context *ctx;
    ozg_report report;

    (void)state;
    fake.major = 9;
    fake.shared_most = 232448;
    cfg.device_pointers = 1;
    assert_int_equal(ozg_create(&ctx, &cfg), OZG_OK);
    assert_string_equal(ctx->cuda->kernel, "cuda-wgmma");
    for (int i = 0; i < N * N; i++)
        host[i] = 1.0 / (i + 1);
    for (int i = 0; i < 3; i++) {
        device[i] = fake_allocate(sizeof host);
        fake_write(device[i], host, sizeof host);
    }
    for (int reported = 0; reported < 2; reported++) {
        const uint64_t first = fake_calls("cuLaunchKernel"), before = fake_count().dependent,
                       launches = fake_count().launches;

        assert_int_equal(ozg_dgemm(ctx, 'N', 'N', N, N, N, 1, device[0], N, device[1], N, 0, device[2], N,
                                   ozg_native(), reported ? &report : NULL),
                         OZG_OK);
        if (reported)
            assert_true(fake_count().dependent - before < (fake_count().launches - launches) / 2);
        else
            assert_int_equal(fake_calls("cuLaunchKernel") - first, 1);
        assert_true(fake_count().dependent > before);
    }
    assert_int_equal(ozg_report_wait(ctx, &report), OZG_OK);
    ozg_destroy(ctx);
    for (int i = 0; i < 3; i++)
        fake_free(device[i]);
    check_outside();
}

/* Before CUDA 12.3 graphs know none. */
static void dependent_launches_captured(void **state)
{
    void *memory = fake_allocate(8192);
    ozg_context *ctx;

    (void)state;
    fake.major = 9;
    fake.version = 12020;
    ctx = open_context(0);
    fake_capture_begin();
    launch_three(ctx, memory, 0);
    fake_capture_end();
    launch_three(ctx, memory, 1);
    ozg_destroy(ctx);
    fake_free(memory);
    check_outside();
}

/* A later device runs what was compiled for 8.0: these kernels do not wait. */
static void no_dependent_launches(void **state)
{
    void *memory = fake_allocate(8192);
    ozg_context *ctx;

    (void)state;
    fake.major = 10;
    fake.ptx = 80;
    ctx = open_context(0);
    launch_three(ctx, memory, 0);
    ozg_destroy(ctx);
    fake_free(memory);
    check_outside();
}

/* A kernel failed: every later call says so, in the same words, and closing still works. */
static void failed_device(void **state)
{
    ozg_context *ctx = open_context(0);
    void *memory = fake_allocate(8192);
    double a[4] = {1, 2, 3, 4}, c[4] = {0};
    char sentence[OZG_ERROR_SIZE];

    (void)state;
    assert_int_equal(ozg_cuda_enter(ctx), OZG_OK);
    fake_fail("cuLaunchKernel", 1, OUT_OF_RESOURCE); /* this launch, and no other */
    expect_error(ctx, launch(ctx, memory), OZG_E_DEVICE, 0);
    assert_int_equal(launch(ctx, memory), OZG_OK);
    fake_fail("cuStreamSynchronize", 1, LAUNCH_FAILED);
    expect_error(ctx, ozg_cuda_synchronize(ctx), OZG_E_DEVICE, 0);
    strcpy(sentence, ozg_last_error(ctx));
    assert_non_null(strstr(sentence, "restart"));
    ozg_cuda_leave(ctx, OZG_OK);
    fake_reset(); /* even if the driver forgot it */
    expect_error(ctx, ozg_cuda_enter(ctx), OZG_E_DEVICE, 0);
    assert_string_equal(ozg_last_error(ctx), sentence);
    expect_error(ctx, ozg_dgemm(ctx, 'N', 'N', 2, 2, 2, 1, a, 2, a, 2, 0, c, 2, ozg_moduli(9), NULL),
                 OZG_E_DEVICE, 0);
    expect_error(ctx, ozg_report_wait(ctx, NULL), OZG_E_DEVICE, 0);
    assert_string_equal(ozg_last_error(ctx), sentence);
    ozg_destroy(ctx);
    fake_free(memory);
}

static void unsupported(void **state)
{
    ozg_config cfg = cuda_config();
    double x[4] = {1, 2, 3, 4}, y[4] = {0}, *device = fake_allocate(sizeof x);
    ozg_context *ctx = open_context(0);
    ozg_operand *operand = (ozg_operand *)1;
    ozg_monitor found;

    (void)state;
    expect_error(ctx, ozg_operand_create(&operand, ctx, 'd', 'A', 'N', 2, 2, x, 2, ozg_moduli(9)),
                 OZG_E_UNSUPPORTED, 0);
    assert_null(operand);
    ozg_destroy(ctx);
    cfg.device_pointers = 1;
    assert_int_equal(ozg_create(&ctx, &cfg), OZG_OK);
    expect_error(ctx,
                 ozg_monitor_dgemm(ctx, 'N', 'N', 2, 2, 2, 1, x, 2, x, 2, 0, NULL, 2, x, 2, 1, 1, &found),
                 OZG_E_ARG, 15); /* C shares memory with A: arguments come first */
    expect_error(ctx,
                 ozg_monitor_dgemm(ctx, 'N', 'N', 2, 2, 2, 1, x, 2, x, 2, 0, NULL, 2, y, 2, 1, 1, &found),
                 OZG_E_UNSUPPORTED, 0);
    expect_error(ctx, ozg_dgemm(ctx, 'N', 'N', 2, 2, 2, 1, x, 2, x, 2, 0, device, 2, ozg_moduli(9), NULL),
                 OZG_E_ARG, 8); /* memory of the host, which kernels cannot read */
    expect_error(ctx,
                 ozg_dgemm(ctx, 'N', 'N', 2, 2, 2, 1, device, 2, device, 2, 0, y, 2, ozg_moduli(9), NULL),
                 OZG_E_ARG, 13);
    ozg_destroy(ctx);
    fake_free(device);
    check_outside();
}

/* ---- two at once -------------------------------------------------------------------------------- */

static void *worker(void *arg)
{
    ozg_context *ctx = open_context(*(const int *)arg);

    for (int i = 0; i < 20; i++)
        copy(ctx, 1000 + (size_t)i, 100, 1024, 1024 + (size_t)i);
    ozg_destroy(ctx);
    return NULL;
}

static void two_devices(void **state)
{
    static const int device[4] = {0, 1, 0, 1};
    pthread_t thread[4];

    (void)state;
    fake.devices = 2;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, worker, (void *)(uintptr_t)&device[i]), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    assert_int_equal(fake_calls("cuModuleLoadData"), 2);
    assert_int_equal(fake_count().contexts, 2); /* they stay */
    check_outside();
}

/* ---- every test in a process of its own --------------------------------------------------------- */

#define TEST(name)                                                                                           \
    {                                                                                                        \
#name, name, NULL, NULL, NULL                                                                        \
    }
static const struct CMUnitTest tests[] = {TEST(no_driver),
                                          TEST(incomplete_driver),
                                          TEST(old_driver),
                                          TEST(no_device),
                                          TEST(broken_driver),
                                          TEST(wrong_number),
                                          TEST(old_device),
                                          TEST(no_kernels),
                                          TEST(kernels_for_others),
                                          TEST(opens),
                                          TEST(best),
                                          TEST(open_fails_memory),
                                          TEST(open_fails_otherwise),
                                          TEST(first_open_fails),
                                          TEST(current_context),
                                          TEST(tables),
                                          TEST(arena),
                                          TEST(record),
                                          TEST(copies),
                                          TEST(copies_fail),
                                          TEST(launches),
                                          TEST(dependent_launches),
                                          TEST(dependent_product),
                                          TEST(dependent_launches_captured),
                                          TEST(no_dependent_launches),
                                          TEST(failed_device),
                                          TEST(unsupported),
                                          TEST(two_devices)};

#define TESTS (sizeof tests / sizeof *tests)

static void in_child(void **state)
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

int main(int argc, char **argv)
{
    struct CMUnitTest all[TESTS];

    ozg_cuda_driver_name = OZG_FAKE_CUDA;
    ozg_cuda_images = fake_images;
    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
        return cmocka_run_group_tests(tests, NULL, NULL);
    }
    for (size_t i = 0; i < TESTS; i++)
        all[i] = (struct CMUnitTest){tests[i].name, in_child, NULL, NULL, (void *)(uintptr_t)tests[i].name};
    return cmocka_run_group_tests_name("device", all, NULL, NULL);
}
