/*
 * test_batch.c - batches of a CUDA context, over the emulated driver: launches, graphs, memory, reports,
 * failures. The bits of all kinds of data are prog_equal.c's part.
 * with: ozg_fake_cuda
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "equal_data.h"

#include "cuda/batch.h"
#include "cuda/device.h"
#include "call_context.h"
#include "fake_driver.h"

static ozg_context *cpu;

static ozg_context *open_cuda(void)
{
    return open_context(OZG_BACKEND_CUDA, 1, 256 << 20, UINT64_MAX);
}

static int open_all(void **state)
{
    (void)state;
    ozg_cuda_driver_name = OZG_FAKE_CUDA;
    ozg_cuda_images = fake_images;
    cpu = open_context(OZG_BACKEND_CPU, 0, 0, UINT64_MAX);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    ozg_destroy(cpu);
    return 0;
}

/* ---- a batch and its copies on the device -------------------------------------------------------- */

typedef struct copies {
    void *a, *b, *c;
} copies;

static void free_copies(const copies *d)
{
    fake_free(d->a);
    fake_free(d->b);
    fake_free(d->c);
}

static void *copy_of(const void *x, size_t bytes)
{
    void *y = junk(bytes);

    memcpy(y, x, bytes);
    return y;
}

static copies batch_to_device(const batch *z)
{
    const copies d = {fake_allocate(z->bytes_a), fake_allocate(z->bytes_b), fake_allocate(z->bytes_c)};

    fake_write(d.a, z->a, z->bytes_a);
    fake_write(d.b, z->b, z->bytes_b);
    fake_write(d.c, z->c, z->bytes_c);
    return d;
}

/* By pointers, whose arrays are gone afterwards. */
static ozg_status call_batch(ozg_context *ctx, const batch *z, const copies *d, int64_t count,
                             ozg_report *report)
{
    const product *g = &z->like;
    const double **a = junk((size_t)count * sizeof *a), **b = junk((size_t)count * sizeof *b);
    double **c = junk((size_t)count * sizeof *c);
    ozg_status status;

    for (int64_t q = 0; q < count; q++) {
        a[q] = (const double *)d->a + q * z->stride_a;
        b[q] = (const double *)d->b + q * z->stride_b;
        c[q] = (double *)d->c + z->place[q] * z->stride_c;
    }
    status = ozg_dgemm_batch(ctx, g->transa, g->transb, g->m, g->n, g->k, g->alpha[0], a, g->lda, b, g->ldb,
                             g->beta[0], c, g->ldc, count, g->acc, report);
    memset(a, 0xff, (size_t)count * sizeof *a);
    memset(b, 0xff, (size_t)count * sizeof *b);
    memset(c, 0xff, (size_t)count * sizeof *c);
    free(a);
    free(b);
    free(c);
    return status;
}

/* All C, as the CPU has the first `count` products. */
static double *batch_expected(const batch *z, int64_t count)
{
    const copies host = {z->a, z->b, copy_of(z->c, z->bytes_c)};

    assert_int_equal(call_batch(cpu, z, &host, count, NULL), OZG_OK);
    return host.c;
}

static void check_batch(const batch *z, const copies *d, const double *expected)
{
    double *c = junk(z->bytes_c);

    fake_read(c, d->c, z->bytes_c);
    assert_memory_equal(c, expected, z->bytes_c);
    assert_int_equal(fake_count().complaints, 0);
    free(c);
}

static uint64_t launches(void)
{
    return fake_calls("cuLaunchKernel") + fake_calls("cuLaunchKernelEx") +
           fake_calls("cuLaunchCooperativeKernel");
}

static batch make_batch(int count, ozg_accuracy acc, int scattered)
{
    const product g = {'d', 'N', 'T', 19, 17,   30,   1,    UNIFORM, {1.5, 0}, {-0.5, 0}, 0,
                       acc, 0,   0,   0,  NULL, NULL, NULL, 0,       0,        0};
    batch z;

    batch_make(&z, &g, count, 0, scattered, 11);
    return z;
}

/* Launches do not depend on how many products there are; a graph keeps the pointers, and takes new data. */
static void batch_graph(void **state)
{
    (void)state;
    for (int a = 0; a < 3; a++) {
        const ozg_accuracy acc = a == 0 ? ozg_native() : a == 1 ? ozg_rounded() : ozg_moduli(15);
        ozg_context *ctx = open_context(OZG_BACKEND_CUDA, 1, (size_t)2 << 30, UINT64_MAX);
        batch z = make_batch(9, acc, 1);
        copies d = batch_to_device(&z);
        double *expected = batch_expected(&z, 9);
        uint64_t before, few, allocations;
        ozg_report report;

        assert_int_equal(call_batch(ctx, &z, &d, 9, NULL), OZG_OK);
        check_batch(&z, &d, expected);
        fake_write(d.c, z.c, z.bytes_c);
        before = launches();
        assert_int_equal(call_batch(ctx, &z, &d, 2, NULL), OZG_OK);
        few = launches() - before;
        fake_write(d.c, z.c, z.bytes_c);
        before = launches();
        allocations = fake_calls("cuMemAlloc_v2") + fake_calls("cuMemAllocHost_v2");
        fake_capture_begin();
        assert_int_equal(call_batch(ctx, &z, &d, 9, &report), OZG_E_UNSUPPORTED);
        z.like.alpha[0] = 0; /* one by one */
        assert_int_equal(call_batch(ctx, &z, &d, 9, &report), OZG_E_UNSUPPORTED);
        z.like.alpha[0] = 1.5;
        assert_int_equal(launches(), before);
        assert_int_equal(call_batch(ctx, &z, &d, 9, NULL), OZG_OK);
        fake_capture_end();
        assert_int_equal(launches() - before, few);
        assert_int_equal(allocations, fake_calls("cuMemAlloc_v2") + fake_calls("cuMemAllocHost_v2"));
        check_batch(&z, &d, z.c);
        for (int again = 0; again < 2; again++) {
            fake_write(d.c, z.c, z.bytes_c);
            fake_capture_run();
            check_batch(&z, &d, expected);
        }
        free(expected);
        free_copies(&d);
        batch_free(&z);
        ozg_destroy(ctx);
    }
}

/* A cut of a batch of this shape, with so much memory. */
static void check_cut(const int64_t shape[3], ozg_accuracy acc, int64_t count, size_t limit)
{
    ozg_context *ctx = open_context(OZG_BACKEND_CUDA, 1, limit, UINT64_MAX);
    ozg_cuda_batch_cut c = {0, 0, 0, 0, 0};
    ozg_plan *plan;

    if (!ozg_plan_create(&plan, ctx, 'd', 'N', 'N', shape[0], shape[1], shape[2], acc))
        c = ozg_cuda_batch_cut_of(plan, count);
    if (limit > (size_t)1 << 25)
        assert_true(c.known >= 2);
    if (c.known) {
        assert_true(c.planes >= 2 && c.known >= c.planes && c.known <= count && c.known < 65536);
        assert_true(c.known_bytes * (size_t)c.known + c.tile_bytes * (size_t)c.planes <= c.bytes);
        assert_true(c.bytes <= limit);
        assert_true(c.known_bytes + c.tile_bytes + 256 >= ozg_plan_workspace(plan)); /* as if alone */
    }
    ozg_plan_destroy(plan);
    ozg_destroy(ctx);
}

/* What does not fit together goes one by one; what does stays below the limit. */
static void batch_is_cut(void **state)
{
    static const int64_t count[] = {2, 3, 7, 1000, 100000};
    static const int64_t shape[][3] = {{100, 300, 200}, {33, 40, 24}, {5, 3, 7}, {257, 129, 130}};

    (void)state;
    for (size_t limit = (size_t)1 << 20; limit <= (size_t)1 << 33; limit += limit / 3)
        for (size_t q = 0; q < 20; q++)
            check_cut(shape[q % 4], q % 3 ? ozg_native() : ozg_moduli(15), count[q % 5], limit);
}

/* Of arrays each pointer is looked at, by strides the first and the last matrix. */
static void batch_refuses_host_memory(void **state)
{
    batch z = make_batch(5, ozg_moduli(15), 0);
    ozg_context *ctx = open_cuda();
    const copies d = batch_to_device(&z), host = {z.a, z.b, z.c};
    const product *g = &z.like;

    (void)state;
    for (int bad = 0; bad < 15; bad++) {
        const double *a[5], *b[5];
        double *c[5];

        for (int q = 0; q < 5; q++) {
            a[q] = (double *)(bad == q ? host.a : d.a) + q * z.stride_a;
            b[q] = (double *)(bad == 5 + q ? host.b : d.b) + q * z.stride_b;
            c[q] = (double *)(bad == 10 + q ? host.c : d.c) + q * z.stride_c;
        }
        assert_int_equal(ozg_dgemm_batch(ctx, 'N', 'T', g->m, g->n, g->k, 1, a, g->lda, b, g->ldb, 0, c,
                                         g->ldc, 5, g->acc, NULL),
                         OZG_E_ARG);
    }
    for (int bad = 0; bad < 3; bad++)
        assert_int_equal(ozg_dgemm_batch_strided(ctx, 'N', 'T', g->m, g->n, g->k, 1, bad == 0 ? host.a : d.a,
                                                 g->lda, z.stride_a, bad == 1 ? host.b : d.b, g->ldb,
                                                 z.stride_b, 0, bad == 2 ? host.c : d.c, g->ldc, z.stride_c,
                                                 5, g->acc, NULL),
                         OZG_E_ARG);
    check_batch(&z, &d, z.c);
    free_copies(&d);
    batch_free(&z);
    ozg_destroy(ctx);
}

/* With a repair_limit, and in host memory, products go one by one; progress comes once for all. */
static void batch_one_by_one(void **state)
{
    batch z = make_batch(4, ozg_native(), 0);
    double *expected = batch_expected(&z, 4);

    (void)state;
    for (int device = 0; device < 2; device++) {
        ozg_context *ctx = open_context(OZG_BACKEND_CUDA, device, 256 << 20, device ? 1000000 : UINT64_MAX);
        copies d = batch_to_device(&z), host = {z.a, z.b, copy_of(z.c, z.bytes_c)};

        assert_int_equal(call_batch(ctx, &z, device ? &d : &host, 4, NULL), OZG_OK);
        check_batch(&z, &d, device ? expected : z.c);
        assert_memory_equal(host.c, device ? z.c : expected, z.bytes_c);
        free(host.c);
        free_copies(&d);
        ozg_destroy(ctx);
    }
    free(expected);
    batch_free(&z);
}

static void check_facts(const ozg_report *x, const ozg_report *y)
{
    assert_int_equal(x->moduli, y->moduli);
    assert_int_equal(x->width, y->width);
    assert_int_equal(x->exact, y->exact);
    assert_int_equal(x->special_rows, y->special_rows);
    assert_int_equal(x->special_cols, y->special_cols);
    assert_int_equal(x->tested, y->tested);
    assert_int_equal(x->repaired, y->repaired);
    assert_memory_equal(&x->bound, &y->bound, sizeof x->bound);
}

/* A report of a batch is complete when the call returns, and stays so. */
static void batch_report(void **state)
{
    (void)state;
    for (int a = 0; a < 2; a++) {
        ozg_context *ctx = open_cuda();
        batch z = make_batch(7, a ? ozg_native() : ozg_moduli(14), 0);
        copies d = batch_to_device(&z), host = {z.a, z.b, copy_of(z.c, z.bytes_c)};
        const product *g = &z.like;
        ozg_report x, y, single;

        assert_int_equal(call_batch(cpu, &z, &host, 7, &x), OZG_OK);
        assert_int_equal(ozg_dgemm(ctx, g->transa, g->transb, g->m, g->n, g->k, g->alpha[0], d.a, g->lda, d.b,
                                   g->ldb, g->beta[0], d.c, g->ldc, g->acc, &single),
                         OZG_OK);
        fake_write(d.c, z.c, z.bytes_c);
        assert_int_equal(call_batch(ctx, &z, &d, 7, &y), OZG_OK);
        check_facts(&x, &y);
        assert_true(y.seconds_total >= 0 && y.workspace_bytes > single.workspace_bytes);
        assert_int_equal(ozg_report_wait(ctx, &single), OZG_E_ARG); /* its record is gone */
        assert_int_equal(ozg_report_wait(ctx, &y), OZG_OK);
        check_facts(&x, &y);
        check_batch(&z, &d, host.c);
        free(host.c);
        free_copies(&d);
        batch_free(&z);
        ozg_destroy(ctx);
    }
}

/*
 * Each call of the driver fails once. If it is said that C is as it was, then no C is half of the result. (To
 * leave the device's context may be what fails, behind all of them.)
 */
static void driver_fails_in_batch(void **state)
{
    batch z = make_batch(3, ozg_moduli(15), 1);
    double *expected = batch_expected(&z, 3);
    fake_counts before;

    (void)state;
    ozg_destroy(open_cuda());
    before = fake_count();
    for (int result = 2; result <= 719; result += 717)
        for (int nth = 1;; nth++) {
            ozg_context *ctx = open_cuda();
            copies d = batch_to_device(&z);
            double *c = junk(z.bytes_c);
            uint64_t calls = fake_calls(NULL);
            ozg_report report;
            ozg_status status;

            fake_fail(NULL, nth, result);
            status = call_batch(ctx, &z, &d, 3, &report);
            calls = fake_calls(NULL) - calls;
            fake_fail(NULL, 0, 0);
            assert_true(status == OZG_OK || status == OZG_E_NOMEM || status == OZG_E_DEVICE);
            if (status)
                assert_true(*ozg_last_error(ctx) != 0 && report.emulated == 0);
            fake_read(c, d.c, z.bytes_c);
            if (status != OZG_E_DEVICE)
                assert_true(memcmp(c, expected, z.bytes_c) == 0 ||
                            (status && memcmp(c, z.c, z.bytes_c) == 0));
            free(c);
            free_copies(&d);
            ozg_destroy(ctx);
            fake_reset();
            assert_int_equal(fake_count().allocations, before.allocations);
            assert_int_equal(fake_count().events + fake_count().pinned, 0);
            if (calls < (uint64_t)nth)
                break; /* no call is left to fail */
        }
    free(expected);
    batch_free(&z);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(batch_graph),
                                       cmocka_unit_test(batch_is_cut),
                                       cmocka_unit_test(batch_refuses_host_memory),
                                       cmocka_unit_test(batch_one_by_one),
                                       cmocka_unit_test(batch_report),
                                       cmocka_unit_test(driver_fails_in_batch)};

    return cmocka_run_group_tests(tests, open_all, close_all);
}
