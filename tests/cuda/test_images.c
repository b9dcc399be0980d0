/*
 * test_images.c - which image has which kernel: of all kernels that there are, and so that no search fails.
 * with: ozg_fake_cuda
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "device_context.h"

#include "cuda/shared.h"
#include "emulate.h"

#define N 8

static int images(void)
{
    int count = 0;

    while (fake_images[count].data)
        count++;
    return count;
}

/* All kernels of src/cuda are in the image of their file, and every file has kernels. */
static void every_kernel(void **state)
{
    int of_image[64] = {0}, kernels = 0;
    const char *name;

    (void)state;
    for (int i = 0; (name = ozg_emulated_name(i)); i++) {
        const char *image = ozg_cuda_image_of(name);

        if (strncmp(name, "ozg_cuda_", 9) != 0) {
            assert_null(image); /* one of the tests */
            continue;
        }
        if (!image || !ozg_emulated_is_from(name, image))
            fail_msg("%s is not in the image \"%s\": see src/cuda/images.c", name, image ? image : "");
        kernels++;
        for (int q = 0; q < images(); q++)
            of_image[q] += strcmp(fake_images[q].name, image) == 0;
    }
    assert_true(kernels > images() && kernels <= OZG_CUDA_KERNELS);
    for (int q = 0; q < images(); q++) {
        if (!of_image[q])
            fail_msg("there is no kernel in %s", fake_images[q].name);
        kernels -= of_image[q];
    }
    assert_int_equal(kernels, 0); /* all are in images that fake_driver.h lists */
}

static void no_kernel(void **state)
{
    static const char *const names[] = {"",
                                        "split",
                                        "ozg_cuda_",
                                        "ozg_cuda_splits",
                                        "ozg_cuda_spli",
                                        "ozg_cuda_split_batch_batch",
                                        "ozg_cuda__batch",
                                        "X",
                                        "ozg_",
                                        "_batch",
                                        "emulate_sums"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_null(ozg_cuda_image_of(names[i]));
    assert_string_equal(ozg_cuda_image_of("ozg_cuda_scale"), "scale");
    assert_string_equal(ozg_cuda_image_of("ozg_cuda_scale_batch"), "scale");
    assert_string_equal(ozg_cuda_image_of("ozg_cuda_scale_c"), "fixup");
}

/* ---- calls ---------------------------------------------------------------------------------------- */

static double host[3][2 * N * N];

static void multiply(ozg_context *ctx, ozg_accuracy acc, double beta, void *const x[3])
{
    const float single[2] = {1, 0}, single_beta[2] = {(float)beta, 0};
    const double one[2] = {1, 0}, both[2] = {beta, 0};

    assert_int_equal(
        ozg_sgemm(ctx, 'N', 'T', N, N, N, 1, x[0], N, x[1], N, single_beta[0], x[2], N, acc, NULL), OZG_OK);
    assert_int_equal(ozg_dgemm(ctx, 'T', 'N', N, N, N, 1, x[0], N, x[1], N, beta, x[2], N, acc, NULL),
                     OZG_OK);
    assert_int_equal(
        ozg_cgemm(ctx, 'N', 'N', N, N, N, single, x[0], N, x[1], N, single_beta, x[2], N, acc, NULL), OZG_OK);
    assert_int_equal(ozg_zgemm(ctx, 'C', 'N', N, N, N, one, x[0], N, x[1], N, both, x[2], N, acc, NULL),
                     OZG_OK);
}

static void some_calls(ozg_context *ctx, void *const x[3])
{
    const ozg_accuracy acc[] = {ozg_moduli(16), ozg_moduli(3), ozg_native(), ozg_rounded(), ozg_accurate(12)};
    static const double beta[] = {0, 1, 0.3};
    ozg_report report;

    for (size_t a = 0; a < sizeof acc / sizeof *acc; a++) {
        for (size_t b = 0; b < (a == 0 ? sizeof beta / sizeof *beta : 1); b++)
            multiply(ctx, acc[a], beta[b], x);
        assert_int_equal(ozg_dgemm_batch_strided(ctx, 'N', 'N', 4, 4, 4, 1, x[0], 4, 16, x[1], 4, 16, 0, x[2],
                                                 4, 16, 5, acc[a], NULL),
                         OZG_OK);
    }
    assert_int_equal(
        ozg_dgemm(ctx, 'N', 'N', N, N, N, 1, x[0], N, x[1], N, 0, x[2], N, ozg_native(), &report), OZG_OK);
    assert_int_equal(ozg_report_wait(ctx, &report), OZG_OK);
    assert_int_equal(ozg_dgemm(ctx, 'N', 'N', N, N, N, 0, x[0], N, x[1], N, 2, x[2], N, ozg_native(), NULL),
                     OZG_OK);
}

/* The driver is asked for each kernel once, and has it; it complains where an image lacks what it is asked for. */
static void look_at_calls(int device_pointers)
{
    ozg_config cfg = cuda_config();
    void *x[3];
    ozg_context *ctx;
    uint64_t asked;

    fake.multiprocessors = 1; /* few blocks */
    cfg.device_pointers = device_pointers;
    assert_int_equal(ozg_create(&ctx, &cfg), OZG_OK);
    assert_int_equal(fake_calls("cuModuleLoadData"), images());
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 2 * N * N; j++)
            host[i][j] = 1.0 / (1 + (i + j) % 37);
        x[i] = device_pointers ? fake_allocate(sizeof host[i]) : host[i];
        if (device_pointers)
            fake_write(x[i], host[i], sizeof host[i]);
    }
    some_calls(ctx, x);
    asked = fake_calls("cuModuleGetFunction");
    assert_true(asked > (uint64_t)images() && asked <= OZG_CUDA_KERNELS);
    multiply(ctx, ozg_moduli(16), 0, x);
    assert_int_equal(fake_calls("cuModuleGetFunction"), asked);
    assert_int_equal(fake_calls("cuModuleLoadData"), images());
    ozg_destroy(ctx);
    for (int i = 0; i < 3 && device_pointers; i++)
        fake_free(x[i]);
    check_outside();
}

static void calls_on_host(void **state)
{
    (void)state;
    look_at_calls(0);
}

static void calls_on_device(void **state)
{
    (void)state;
    look_at_calls(1);
}

static void calls_on_hopper(void **state)
{
    (void)state;
    fake.major = 9;
    fake.shared_most = 232448;
    look_at_calls(1);
}

static const struct CMUnitTest tests[] = {TEST(every_kernel), TEST(no_kernel), TEST(calls_on_host),
                                          TEST(calls_on_device), TEST(calls_on_hopper)};

int main(int argc, char **argv)
{
    return device_main(argc, argv, tests, sizeof tests / sizeof *tests);
}
