/*
 * test_device.c - a context on a CUDA device: what opens, what is refused, what is left behind.
 * with: ozg_fake_cuda
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <fenv.h>

#include "device_context.h"

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
    static const ozg_cuda_image one[] = {{"split", "split"}, {NULL, NULL}};
    const ozg_config cfg = cuda_config();

    (void)state;
    ozg_cuda_images = one;
    fake_fail("cuModuleLoadData", 1, CUDA_ERROR_NO_BINARY_FOR_GPU);
    refuse(&cfg, OZG_E_NODEVICE, "capability 8.0");
    assert_int_equal(fake_count().contexts, 0);
    ozg_cuda_images = fake_images;
    ozg_destroy(open_context(0)); /* it was only that time */
    check_outside();
}

/* One image has no code for the device: what needs it says so. */
static void one_image_for_others(const char *image)
{
    int number = 0;

    while (strcmp(fake_images[number].name, image) != 0)
        number++;
    fake_fail("cuModuleLoadData", number + 1, CUDA_ERROR_NO_BINARY_FOR_GPU);
}

static void no_wgmma(void **state)
{
    ozg_config cfg = cuda_config();
    ozg_context *ctx;

    (void)state;
    fake.major = 9;
    fake.shared_most = 232448;
    one_image_for_others("product_sm90");
    ctx = open_context(0);
    assert_string_equal(ctx->cuda->kernel, "cuda-mma");
    cfg.kernel = "cuda-wgmma";
    refuse(&cfg, OZG_E_UNSUPPORTED, "cuda-wgmma");
    ozg_destroy(ctx);
    check_outside();
}

static void no_split(void **state)
{
    const double a[4] = {1, 2, 3, 4};
    double c[4];
    ozg_context *ctx;

    (void)state;
    one_image_for_others("split");
    ctx = open_context(0);
    expect_error(ctx, ozg_dgemm(ctx, 'N', 'N', 2, 2, 2, 1, a, 2, a, 2, 0, c, 2, ozg_moduli(9), NULL),
                 OZG_E_NODEVICE, 0);
    assert_non_null(
        strstr(ozg_last_error(ctx), "lacks the CUDA kernel ozg_cuda_split for compute capability 8.0"));
    ozg_destroy(ctx);
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
    assert_int_equal(fake_calls("cuModuleLoadData"),
                     sizeof fake_images / sizeof *fake_images - 1); /* of the process */
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
        int outside;
        ozg_status status;

        fake_fail(NULL, nth, result);
        status = ozg_create(&ctx, &cfg);
        fake_fail(NULL, 0, 0);
        if (!status)
            break;
        assert_null(ctx);
        assert_true(*ozg_last_error(NULL));
        assert_int_equal(fake_count().allocations, before.allocations);
        assert_int_equal(fake_count().events, before.events);
        outside = leave_outside();
        assert_true(status == (outside ? OZG_E_DEVICE : expected) || status == OZG_E_UNSUPPORTED);
        left += outside;
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
    const size_t bytes = OZG_CUDA_TABLES * sizeof(ozg_cuda_table);
    ozg_cuda_table *have = malloc(bytes), *want = calloc(1, sizeof *want);
    ozg_context *ctx;

    (void)state;
    fesetround(FE_UPWARD); /* has no influence */
    ctx = open_context(0);
    fesetround(FE_TONEAREST);
    fake_read(have, ctx->cuda->tables, bytes);
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++)
        for (int complex_ = 0; complex_ < 2; complex_++) {
            memset(want, 0, sizeof *want);
            assert_int_equal(ozg_cuda_table_build(want, complex_, s), OZG_OK);
            assert_int_equal(want->nmod, complex_ ? ozg_moduli_complex(s)->nmod : s);
            assert_memory_equal(want, ozg_cuda_tables_of(have, complex_) + s, sizeof *want);
        }
    free(have);
    free(want);
    ozg_destroy(ctx);
}

static void host_memory(void **state)
{
    ozg_config cfg = cuda_config();
    double x[4] = {1, 2, 3, 4}, y[4] = {0}, *device = fake_allocate(sizeof x);
    ozg_operand *operand = (ozg_operand *)1;
    ozg_monitor found;
    ozg_context *ctx;

    (void)state;
    cfg.device_pointers = 1;
    assert_int_equal(ozg_create(&ctx, &cfg), OZG_OK);
    expect_error(ctx, ozg_operand_create(&operand, ctx, 'd', 'A', 'N', 2, 2, x, 2, ozg_moduli(9)), OZG_E_ARG,
                 8);
    assert_null(operand);
    expect_error(ctx,
                 ozg_monitor_dgemm(ctx, 'N', 'N', 2, 2, 2, 1, x, 2, x, 2, 0, NULL, 2, x, 2, 1, 1, &found),
                 OZG_E_ARG, 15); /* C shares memory with A: arguments come first */
    expect_error(ctx,
                 ozg_monitor_dgemm(ctx, 'N', 'N', 2, 2, 2, 1, x, 2, x, 2, 0, NULL, 2, y, 2, 1, 1, &found),
                 OZG_E_ARG, 15);
    expect_error(
        ctx, ozg_monitor_dgemm(ctx, 'N', 'N', 2, 2, 2, 1, x, 2, x, 2, 0, NULL, 2, device, 2, 1, 1, &found),
        OZG_E_ARG, 8);
    expect_error(ctx,
                 ozg_monitor_dgemm(ctx, 'N', 'N', 2, 2, 2, 0, x, 2, x, 2, 1, y, 2, device, 2, 1, 1, &found),
                 OZG_E_ARG, 13);
    expect_error(ctx, ozg_dgemm(ctx, 'N', 'N', 2, 2, 2, 1, x, 2, x, 2, 0, device, 2, ozg_moduli(9), NULL),
                 OZG_E_ARG, 8); /* memory of the host, which kernels cannot read */
    expect_error(ctx,
                 ozg_dgemm(ctx, 'N', 'N', 2, 2, 2, 1, device, 2, device, 2, 0, y, 2, ozg_moduli(9), NULL),
                 OZG_E_ARG, 13);
    ozg_destroy(ctx);
    fake_free(device);
    check_outside();
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
                                          TEST(no_wgmma),
                                          TEST(no_split),
                                          TEST(opens),
                                          TEST(best),
                                          TEST(open_fails_memory),
                                          TEST(open_fails_otherwise),
                                          TEST(first_open_fails),
                                          TEST(current_context),
                                          TEST(tables),
                                          TEST(host_memory)};

int main(int argc, char **argv)
{
    return device_main(argc, argv, tests, sizeof tests / sizeof *tests);
}
