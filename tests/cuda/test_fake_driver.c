/*
 * test_fake_driver.c - the fake CUDA driver itself: what it does, what it refuses, what it is told to fail.
 * with: ozg_fake_cuda
 *
 * SPDX-License-Identifier: MIT
 */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda/api.h"
#include "emulate_kernels.h"
#include "fake_driver.h"

enum { WORDS = 256, BYTES = WORDS * sizeof(uint32_t) };

static const ozg_cuda_api *cu;
static CUcontext context;
static CUmodule module;
static CUdeviceptr in, out, counter;
static uint32_t words[WORDS];

static void *host(CUdeviceptr p)
{
    return (void *)(uintptr_t)p;
}

static int open_all(void **state)
{
    const char *error;

    (void)state;
    ozg_cuda_driver_name = OZG_FAKE_CUDA;
    cu = ozg_cuda_api_open(&error);
    if (!cu)
        return -1;
    for (uint32_t i = 0; i < WORDS; i++)
        words[i] = i * i;
    return 0;
}

static int begin(void **state)
{
    (void)state;
    fake_reset();
    if (cu->primary_retain(&context, 0) || cu->context_push(context) || cu->allocate(&in, BYTES) ||
        cu->allocate(&out, BYTES) || cu->allocate(&counter, 4) || cu->module_load(&module, "emulate_kernels"))
        return -1;
    return cu->upload(in, words, BYTES, NULL);
}

static int end(void **state)
{
    CUcontext popped;

    (void)state;
    fake_reset();
    return cu->release(in) || cu->release(out) || cu->release(counter) || cu->module_unload(module) ||
           cu->context_pop(&popped) || cu->primary_release(0) || fake_count().allocations ||
           fake_count().contexts;
}

static CUresult sums(uint64_t *to, int blocks, size_t shared)
{
    emulate_args args = {host(in), (uint64_t *)to, host(counter), 0, 0};
    void *arguments[] = {&args};
    CUfunction f;

    assert_int_equal(cu->module_function(&f, module, "emulate_sums"), CUDA_SUCCESS);
    return cu->launch(f, (unsigned)blocks, 1, 1, WORDS, 1, 1, (unsigned)shared, NULL, arguments, NULL);
}

static uint64_t sum(void)
{
    uint64_t x = 0;

    for (int i = 0; i < WORDS; i++)
        x += words[i];
    return x;
}

static void test_works(void **state)
{
    uint64_t got[2] = {0, 0};
    CUevent a, b;
    float time;

    (void)state;
    assert_int_equal(cu->event_create(&a, CU_EVENT_DEFAULT), CUDA_SUCCESS);
    assert_int_equal(cu->event_create(&b, CU_EVENT_DEFAULT), CUDA_SUCCESS);
    for (fake.queued = 0; fake.queued < 2; fake.queued++) {
        void *pinned;

        assert_int_equal(cu->allocate_host(&pinned, sizeof got), CUDA_SUCCESS);
        memset(pinned, 0, sizeof got);
        assert_int_equal(cu->event_record(a, NULL), CUDA_SUCCESS);
        assert_int_equal(sums(host(out), 2, 1024), CUDA_SUCCESS);
        assert_int_equal(cu->event_record(b, NULL), CUDA_SUCCESS);
        assert_int_equal(cu->download(pinned, out, sizeof got, NULL), CUDA_SUCCESS);
        if (fake.queued) {
            assert_int_equal(*(uint64_t *)pinned, 0);
            assert_int_equal(cu->event_elapsed(&time, a, b), CUDA_ERROR_NOT_READY);
        }
        assert_int_equal(cu->stream_synchronize(NULL), CUDA_SUCCESS);
        assert_int_equal(cu->event_elapsed(&time, a, b), CUDA_SUCCESS);
        assert_true(time >= 0);
        memcpy(got, pinned, sizeof got);
        assert_int_equal(got[0], sum());
        assert_int_equal(got[1], sum() + WORDS);
        assert_int_equal(cu->release_host(pinned), CUDA_SUCCESS);
    }
    assert_int_equal(cu->event_destroy(a), CUDA_SUCCESS);
    assert_int_equal(cu->event_destroy(b), CUDA_SUCCESS);
}

static void test_refuses(void **state)
{
    const uint64_t before = fake_count().complaints;
    uint64_t here[2];
    CUfunction f;
    CUcontext popped;

    (void)state;
    assert_int_equal(cu->module_function(&f, module, "emulate_nothing"), CUDA_ERROR_NOT_FOUND);
    assert_int_equal(cu->module_function(&f, module, "ozg_cuda_split"), CUDA_ERROR_NOT_FOUND); /* of another image */
    assert_int_equal(cu->upload(in + 1, words, BYTES, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cu->download(words, in - 1, 4, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(sums(host(out), 1, 49153), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cu->release(in + 256), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cu->context_pop(&popped), CUDA_SUCCESS);
    assert_int_equal(cu->stream_synchronize(NULL), CUDA_ERROR_INVALID_CONTEXT);
    assert_int_equal(cu->context_push(popped), CUDA_SUCCESS);
    assert_int_equal(sums(here, 1, 1024), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(cu->stream_synchronize(NULL), CUDA_ERROR_ILLEGAL_ADDRESS); /* stays */
    assert_int_equal(fake_count().complaints, before + 8);
}

static void test_limits(void **state)
{
    CUdeviceptr p;
    CUfunction f;
    int blocks;

    (void)state;
    fake.memory = fake_count().bytes + 1000;
    assert_int_equal(cu->allocate(&p, 1001), CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(cu->allocate(&p, 1000), CUDA_SUCCESS);
    assert_int_equal(cu->release(p), CUDA_SUCCESS);
    assert_int_equal(cu->module_function(&f, module, "emulate_rounds"), CUDA_SUCCESS);
    assert_int_equal(cu->resident(&blocks, f, 128, 1024), CUDA_SUCCESS);
    assert_int_equal(blocks, 2);
    assert_int_equal(cu->launch_cooperative(f, 9, 1, 1, 128, 1, 1, 16, NULL, NULL),
                     CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    assert_int_equal(
        cu->function_attribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, fake.shared_most + 1),
        CUDA_ERROR_INVALID_VALUE);
}

static void test_fails(void **state)
{
    CUdeviceptr p;

    (void)state;
    fake_fail("cuMemAlloc_v2", 2, CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(cu->allocate(&p, 10), CUDA_SUCCESS);
    assert_int_equal(cu->release(p), CUDA_SUCCESS);
    assert_int_equal(cu->allocate(&p, 10), CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(cu->allocate(&p, 10), CUDA_SUCCESS);
    assert_int_equal(cu->release(p), CUDA_SUCCESS);
    fake_fail(NULL, 1, CUDA_ERROR_LAUNCH_FAILED);
    assert_int_equal(cu->set_bytes(out, 0, 8, NULL), CUDA_ERROR_LAUNCH_FAILED);
    assert_int_equal(cu->set_bytes(out, 0, 8, NULL), CUDA_ERROR_LAUNCH_FAILED); /* stays */
}

static void test_graph(void **state)
{
    uint64_t got;
    CUdeviceptr p;
    int capturing;

    (void)state;
    assert_int_equal(cu->set_bytes(out, 0, BYTES, NULL), CUDA_SUCCESS);
    fake_capture_begin();
    assert_int_equal(cu->stream_capturing(NULL, &capturing), CUDA_SUCCESS);
    assert_int_equal(capturing, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    assert_int_equal(sums(host(out), 1, 1024), CUDA_SUCCESS);
    assert_int_equal(cu->stream_synchronize(NULL), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    assert_int_equal(cu->allocate(&p, 10), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    fake_capture_end();
    fake_read(&got, host(out), sizeof got);
    assert_int_equal(got, 0);
    fake_capture_run();
    fake_read(&got, host(out), sizeof got);
    assert_int_equal(got, sum());
}

/* In a process of its own, without cmocka's handlers. */
static int survives(void (*action)(void))
{
    const uint64_t before = fake_count().complaints;
    const pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        close(2);
        action();
        _exit(fake_count().complaints > before ? 42 : 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void write_inside(void)
{
    sums((uint64_t *)host(out) + WORDS / 2 - 1, 1, 1024);
}

static void write_behind(void)
{
    sums((uint64_t *)host(out) + WORDS / 2, 1, 1024);
}

static void write_before(void)
{
    sums((uint64_t *)host(out) - 1, 1, 1024);
}

static void touch(void)
{
    *(volatile char *)host(out) = 1;
}

/* Writes beyond device memory are seen; the host cannot touch it. */
static void test_red_zones(void **state)
{
    (void)state;
    assert_true(survives(write_inside));
    assert_false(survives(write_behind));
    assert_false(survives(write_before));
    assert_false(survives(touch));
}

/* Of queued work the younger stream's is done first, unless an event says otherwise; and only what is waited for. */
static void test_streams(void **state)
{
    CUstream old, young;
    CUevent event;
    unsigned char *pinned;

    (void)state;
    fake.queued = 1;
    assert_int_equal(cu->event_create(&event, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
    assert_int_equal(cu->allocate_host((void **)&pinned, 4), CUDA_SUCCESS);
    assert_int_equal(cu->stream_create(&old, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    assert_int_equal(cu->stream_create(&young, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    for (int ordered = 0; ordered < 2; ordered++) {
        memset(pinned, 0, 4);
        assert_int_equal(cu->set_bytes(out, 1, 4, NULL), CUDA_SUCCESS);
        assert_int_equal(cu->stream_synchronize(NULL), CUDA_SUCCESS);
        assert_int_equal(cu->set_bytes(out, 2, 4, old), CUDA_SUCCESS);
        assert_int_equal(cu->event_record(event, old), CUDA_SUCCESS);
        if (ordered)
            assert_int_equal(cu->stream_wait(young, event, 0), CUDA_SUCCESS);
        assert_int_equal(cu->download(pinned, out, 4, young), CUDA_SUCCESS);
        assert_int_equal(cu->set_bytes(out, 3, 4, old), CUDA_SUCCESS);
        assert_int_equal(pinned[0], 0);
        assert_int_equal(cu->stream_synchronize(young), CUDA_SUCCESS);
        assert_int_equal(pinned[0], ordered ? 2 : 1);
        assert_int_equal(cu->stream_synchronize(old), CUDA_SUCCESS);
    }
    assert_int_equal(cu->stream_destroy(old), CUDA_SUCCESS);
    assert_int_equal(cu->stream_destroy(young), CUDA_SUCCESS);
    assert_int_equal(cu->release_host(pinned), CUDA_SUCCESS);
    assert_int_equal(cu->event_destroy(event), CUDA_SUCCESS);
}

/* Nothing of one device is for the other. */
static void test_two_devices(void **state)
{
    const uint64_t before = fake_count().complaints;
    CUcontext other, popped;
    CUstream stream;
    CUdeviceptr there;

    (void)state;
    fake.devices = 2;
    assert_int_equal(cu->primary_retain(&other, 1), CUDA_SUCCESS);
    assert_int_equal(cu->context_push(other), CUDA_SUCCESS);
    assert_int_equal(cu->allocate(&there, BYTES), CUDA_SUCCESS);
    assert_int_equal(cu->stream_create(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    assert_int_equal(cu->upload(in, words, BYTES, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(sums(host(there), 1, 1024), CUDA_ERROR_INVALID_VALUE); /* a kernel of the first */
    assert_int_equal(cu->context_pop(&popped), CUDA_SUCCESS);
    assert_int_equal(cu->upload(in, words, BYTES, stream), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(cu->stream_synchronize(stream), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(sums(host(there), 1, 1024), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(fake_count().complaints, before + 5);
    fake_reset();
    assert_int_equal(cu->release(there), CUDA_SUCCESS);
    assert_int_equal(cu->stream_destroy(stream), CUDA_SUCCESS);
    assert_int_equal(cu->primary_release(1), CUDA_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_works, begin, end),
        cmocka_unit_test_setup_teardown(test_refuses, begin, end),
        cmocka_unit_test_setup_teardown(test_limits, begin, end),
        cmocka_unit_test_setup_teardown(test_fails, begin, end),
        cmocka_unit_test_setup_teardown(test_graph, begin, end),
        cmocka_unit_test_setup_teardown(test_red_zones, begin, end),
        cmocka_unit_test_setup_teardown(test_streams, begin, end),
        cmocka_unit_test_setup_teardown(test_two_devices, begin, end),
    };

    return cmocka_run_group_tests(tests, open_all, NULL);
}
