/*
 * test_device_launch.c - launches on a CUDA device, those that depend on the one before, and failed ones.
 * with: ozg_fake_cuda
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "device_context.h"

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

static const struct CMUnitTest tests[] = {TEST(launches),
                                          TEST(dependent_launches),
                                          TEST(dependent_product),
                                          TEST(dependent_launches_captured),
                                          TEST(no_dependent_launches),
                                          TEST(failed_device)};

int main(int argc, char **argv)
{
    return device_main(argc, argv, tests, sizeof tests / sizeof *tests);
}
