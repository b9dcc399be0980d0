/*
 * test_stream.c - matrices of the host that do not fit the workspace: what cannot be done, bounds, progress,
 * failures of the driver. The bits are prog_equal.c's part (group streamed).
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

#include "call_context.h"
#include "cuda/device.h"
#include "fake_driver.h"
#include "plan.h"

static ozg_context *cpu;

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

static product make(int64_t m, int64_t n, int64_t k, ozg_accuracy acc, enum family family)
{
    product g = {'d', 'N', 'T', m, n,    k,    1,    family, {1.5, 0}, {-0.5, 0}, 0,
                 acc, 0,   0,   0, NULL, NULL, NULL, 0,      0,        0};

    product_make(&g, 7);
    return g;
}

static ozg_status call(ozg_context *ctx, const product *g, void *c, ozg_report *report)
{
    return ozg_dgemm(ctx, g->transa, g->transb, g->m, g->n, g->k, g->alpha[0], g->a, g->lda, g->b, g->ldb,
                     g->beta[0], c, g->ldc, g->acc, report);
}

static void *copy_of(const void *x, size_t bytes)
{
    void *y = junk(bytes);

    memcpy(y, x, bytes);
    return y;
}

/* The least memory_limit at which ctx can do the product. */
static size_t least_limit(ozg_context *ctx, const product *g)
{
    size_t low = 0, high = (size_t)1 << 30;
    int streamed = 0;

    while (high - low > 256) {
        ozg_plan *plan = NULL;

        ctx->memory_limit = (low + high) / 2;
        if (ozg_plan_create(&plan, ctx, 'd', g->transa, g->transb, g->m, g->n, g->k, g->acc)) {
            low = ctx->memory_limit;
        } else {
            high = ctx->memory_limit;
            streamed = plan->streamed;
        }
        ozg_plan_destroy(plan);
    }
    assert_true(streamed);
    ctx->memory_limit = low;
    assert_int_equal(call(ctx, g, g->c, NULL), OZG_E_WORKSPACE);
    ctx->memory_limit = high;
    return high;
}

/* Workspace that holds the operands, but not C: told after the choice, and before C is touched. */
static void parts(void **state)
{
    product g = make(300, 282, 130, ozg_native(), EVIL);
    ozg_context *ctx = open_context(OZG_BACKEND_CUDA, 0, 1, UINT64_MAX);
    void *c = copy_of(g.c, g.bytes_c), *expected = copy_of(g.c, g.bytes_c);
    const size_t limit = least_limit(ctx, &g);
    ozg_report report;

    (void)state;
    fake.far_pointers = 1;
    assert_true(strstr(ozg_last_error(ctx), "copies of A and B and of a block of C") != NULL);
    assert_int_equal(call(cpu, &g, expected, NULL), OZG_OK);
    assert_int_equal(call(ctx, &g, c, &report), OZG_E_WORKSPACE);
    assert_true(strstr(ozg_last_error(ctx), "in parts") != NULL && report.emulated == 0);
    assert_memory_equal(c, g.c, g.bytes_c);
    ctx->memory_limit = limit + g.bytes_c + (2 << 20); /* all of C fits */
    assert_int_equal(call(ctx, &g, c, &report), OZG_OK);
    assert_memory_equal(c, expected, g.bytes_c);
    assert_int_equal(fake_count().complaints, 0);
    ozg_destroy(ctx);
    free(c);
    free(expected);
    product_free(&g);
    fake_reset();
}

static void bounds(void **state)
{
    static const char trans[] = "NT";

    (void)state;
    fake.queued = 1;
    fake.far_pointers = 1;
    for (int q = 0; q < 8; q++) {
        product g = make(530, 300, 50,
                         q / 2 == 0   ? ozg_moduli(14)
                         : q / 2 == 1 ? ozg_width(50)
                         : q / 2 == 2 ? ozg_accurate(15)
                                      : ozg_native(),
                         q / 2 == 3 ? UNIFORM : SPECIAL);
        ozg_context *ctx = open_context(OZG_BACKEND_CUDA, 0, 1, UINT64_MAX);
        ozg_report x, y;

        product_free(&g);
        g.transa = trans[q % 2];
        g.transb = trans[(q + 1) % 2];
        product_make(&g, 8);
        least_limit(ctx, &g);
        assert_int_equal(
            ozg_bound_dgemm(cpu, g.transa, g.transb, g.m, g.n, g.k, 1.5, g.a, g.lda, g.b, g.ldb, g.acc, &x),
            OZG_OK);
        assert_int_equal(
            ozg_bound_dgemm(ctx, g.transa, g.transb, g.m, g.n, g.k, 1.5, g.a, g.lda, g.b, g.ldb, g.acc, &y),
            OZG_OK);
        assert_int_equal(x.moduli, y.moduli);
        assert_int_equal(x.width, y.width);
        assert_int_equal(x.exact, y.exact);
        assert_memory_equal(&x.bound, &y.bound, sizeof x.bound);
        assert_true(x.bound > 0);
        ozg_destroy(ctx);
        product_free(&g);
    }
    assert_int_equal(fake_count().complaints, 0);
    fake_reset();
}

/* How far it was told to be. */
struct told {
    double done;
    int calls;
};

static void note(void *arg, double done)
{
    struct told *t = arg;

    assert_true(done > t->done && done <= 1);
    t->done = done;
    t->calls++;
}

static void progress(void **state)
{
    product g = make(600, 300, 20, ozg_moduli(12), UNIFORM);
    ozg_context *ctx = open_context(OZG_BACKEND_CUDA, 0, 1, UINT64_MAX);
    struct told told = {0, 0};

    (void)state;
    fake.far_pointers = 1;
    least_limit(ctx, &g);
    ctx->progress = note;
    ctx->progress_arg = &told;
    assert_int_equal(call(ctx, &g, g.c, NULL), OZG_OK);
    assert_true(told.done == 1 && told.calls == 9); /* 3 x 3 tiles */
    ozg_destroy(ctx);
    product_free(&g);
    fake_reset();
}

/* Each call of the driver fails once. Where C may be written in part it is OZG_E_DEVICE. */
static void driver_fails(void **state)
{
    product g = make(600, 300, 8, ozg_moduli(6), UNIFORM);
    void *expected = copy_of(g.c, g.bytes_c);
    fake_counts before;
    int kept = 0, mixed = 0;

    (void)state;
    assert_int_equal(call(cpu, &g, expected, NULL), OZG_OK);
    ozg_destroy(open_context(OZG_BACKEND_CUDA, 0, 1, UINT64_MAX));
    before = fake_count();
    for (int nth = 1, all = 0; !all; nth += 5) {
        ozg_context *ctx = open_context(OZG_BACKEND_CUDA, 0, 1, UINT64_MAX);
        void *c = copy_of(g.c, g.bytes_c);
        ozg_report report;
        ozg_status status;
        uint64_t calls;

        fake.far_pointers = 1;
        least_limit(ctx, &g);
        calls = fake_calls(NULL);
        fake_fail(NULL, nth, nth % 2 ? 2 : 719);
        status = call(ctx, &g, c, nth % 4 < 2 ? &report : NULL);
        all = fake_calls(NULL) - calls < (uint64_t)nth;
        fake_fail(NULL, 0, 0);
        if (!status)
            assert_memory_equal(c, expected, g.bytes_c);
        else if (status == OZG_E_NOMEM)
            assert_memory_equal(c, g.c, g.bytes_c);
        else
            assert_true(status == OZG_E_DEVICE && *ozg_last_error(ctx) != 0);
        kept += status == OZG_E_NOMEM;
        mixed += status && memcmp(c, g.c, g.bytes_c) != 0;
        assert_true(!all || !status);
        free(c);
        ozg_destroy(ctx);
        fake_reset();
        assert_int_equal(fake_count().allocations, before.allocations);
        assert_int_equal(fake_count().events + fake_count().pinned, 0);
    }
    assert_true(kept > 5 && mixed > 2);
    free(expected);
    product_free(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(parts), cmocka_unit_test(bounds),
                                       cmocka_unit_test(progress), cmocka_unit_test(driver_fails)};

    return cmocka_run_group_tests(tests, open_all, close_all);
}
