/*
 * test_device_memory.c - what a context on a CUDA device owns: its memory, and copies from and to the host.
 * with: ozg_fake_cuda
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "device_context.h"

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
    uint64_t images = 0;

    (void)state;
    while (fake_images[images].name)
        images++;
    fake.devices = 2;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, worker, (void *)(uintptr_t)&device[i]), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    assert_int_equal(fake_calls("cuModuleLoadData"), 2 * images);
    assert_int_equal(fake_count().contexts, 2); /* they stay */
    check_outside();
}

static const struct CMUnitTest tests[] = {TEST(arena), TEST(record), TEST(copies), TEST(copies_fail),
                                          TEST(two_devices)};

int main(int argc, char **argv)
{
    return device_main(argc, argv, tests, sizeof tests / sizeof *tests);
}
