/*
 * test_run.c - the calls of a CUDA context as a whole, over the emulated driver: workspace, streams and
 * graphs, reports, refusals, failures of the driver. The bits are prog_equal.c's part.
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

#include "cuda/device.h"
#include "cuda/plan.h"
#include "call_context.h"
#include "fake_driver.h"

static ozg_context *cpu;

static ozg_context *open_cuda(int device_pointers)
{
    return open_context(OZG_BACKEND_CUDA, device_pointers, 256 << 20, UINT64_MAX);
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

/* ---- a product and its copies on the device ------------------------------------------------------ */

static product make(char type, int64_t m, int64_t n, int64_t k, ozg_accuracy acc, enum family family)
{
    product g = {type, 'N', 'T', m, n,    k,    1,    family, {1.5, 0}, {-0.5, 0}, 0,
                 acc,  0,   0,   0, NULL, NULL, NULL, 0,      0,        0};

    product_make(&g, 7);
    return g;
}

typedef struct copies {
    void *a, *b, *c;
} copies;

static copies to_device(const product *g)
{
    const copies d = {fake_allocate(g->bytes_a), fake_allocate(g->bytes_b), fake_allocate(g->bytes_c)};

    fake_write(d.a, g->a, g->bytes_a);
    fake_write(d.b, g->b, g->bytes_b);
    fake_write(d.c, g->c, g->bytes_c);
    return d;
}

static void free_copies(const copies *d)
{
    fake_free(d->a);
    fake_free(d->b);
    fake_free(d->c);
}

static ozg_status call(ozg_context *ctx, const product *g, const void *a, const void *b, void *c,
                       ozg_report *report)
{
    if (g->type == 'z')
        return ozg_zgemm(ctx, g->transa, g->transb, g->m, g->n, g->k, g->alpha, a, g->lda, b, g->ldb, g->beta,
                         c, g->ldc, g->acc, report);
    return ozg_dgemm(ctx, g->transa, g->transb, g->m, g->n, g->k, g->alpha[0], a, g->lda, b, g->ldb,
                     g->beta[0], c, g->ldc, g->acc, report);
}

static void *copy_of(const void *x, size_t bytes)
{
    void *y = junk(bytes);

    memcpy(y, x, bytes);
    return y;
}

/* C as the CPU has it. */
static void *expected_of(const product *g, ozg_report *report)
{
    void *c = copy_of(g->c, g->bytes_c);

    assert_int_equal(call(cpu, g, g->a, g->b, c, report), OZG_OK);
    return c;
}

static void check_device(const product *g, const copies *d, const void *expected)
{
    void *c = junk(g->bytes_c);

    fake_read(c, d->c, g->bytes_c);
    assert_memory_equal(c, expected, g->bytes_c);
    assert_int_equal(fake_count().complaints, 0);
    free(c);
}

static void check_facts(const ozg_report *x, const ozg_report *y)
{
    assert_int_equal(x->emulated, y->emulated);
    assert_string_equal(x->reason, y->reason);
    assert_int_equal(x->moduli, y->moduli);
    assert_int_equal(x->width, y->width);
    assert_int_equal(x->exact, y->exact);
    assert_int_equal(x->tested, y->tested);
    assert_int_equal(x->repaired, y->repaired);
    assert_memory_equal(&x->bound, &y->bound, sizeof x->bound);
    assert_memory_equal(&x->bound_relative, &y->bound_relative, sizeof x->bound_relative);
}

/* ---- workspace ----------------------------------------------------------------------------------- */

/* Tiles are cut until they fit, and a run needs no byte more than the plan says; the fake driver looks. */
static void workspace_suffices(void **state)
{
    static const int64_t shape[][3] = {{1, 1, 1}, {300, 5, 40}, {3, 290, 600}, {270, 150, 300}};

    (void)state;
    for (size_t q = 0; q < sizeof shape / sizeof *shape; q++)
        for (int a = 0; a < 3; a++) {
            const ozg_accuracy acc = a == 0 ? ozg_native() : a == 1 ? ozg_accurate(14) : ozg_moduli(15);
            product g = make(a == 1 ? 'z' : 'd', shape[q][0], shape[q][1], shape[q][2], acc, UNIFORM);
            ozg_context *ctx = open_context(OZG_BACKEND_CUDA, 1, (size_t)(9 + 6 * a) << 20, UINT64_MAX);
            copies d = to_device(&g);
            void *expected = expected_of(&g, NULL), *work;
            ozg_plan *plan;

            if (ozg_plan_create(&plan, ctx, g.type, g.transa, g.transb, g.m, g.n, g.k, acc))
                fail_msg("%s", ozg_last_error(ctx));
            assert_true(ozg_plan_workspace(plan) <= ozg_memory_limit(ctx));
            work = fake_allocate(ozg_plan_workspace(plan) + 8);
            assert_int_equal(ozg_plan_run(plan, g.alpha, d.a, g.lda, d.b, g.ldb, g.beta, d.c, g.ldc,
                                          (char *)work + 8, NULL),
                             OZG_OK);
            check_device(&g, &d, expected);
            ozg_plan_destroy(plan);
            fake_free(work);
            free_copies(&d);
            free(expected);
            product_free(&g);
            ozg_destroy(ctx);
        }
}

static void too_little_memory(void **state)
{
    (void)state;
    for (int device = 0; device < 2; device++) {
        ozg_context *ctx = open_context(OZG_BACKEND_CUDA, device, 1 << 16, UINT64_MAX);
        ozg_plan *plan;

        assert_int_equal(ozg_plan_create(&plan, ctx, 'd', 'N', 'N', 400, 400, 400, ozg_native()),
                         OZG_E_WORKSPACE);
        assert_int_equal(ozg_plan_create(&plan, ctx, 'd', 'N', 'N', INT64_C(1) << 32, 4, 4, ozg_moduli(15)),
                         OZG_E_WORKSPACE);
        assert_int_equal(
            ozg_plan_create(&plan, ctx, 'z', 'N', 'N', INT64_C(1) << 30, INT64_C(1) << 30, 4, ozg_moduli(15)),
            OZG_E_WORKSPACE);
        ozg_destroy(ctx);
    }
}

/* ---- streams and graphs -------------------------------------------------------------------------- */

/*
 * A run with the caller's workspace neither allocates nor waits: it can be captured and run again on new
 * data.
 */
static void graph(void **state)
{
    ozg_context *ctx = open_cuda(1);

    (void)state;
    for (int a = 0; a < 3; a++) {
        product g = make('d', 30, 20, 40,
                         a == 0   ? ozg_native()
                         : a == 1 ? ozg_rounded()
                                  : ozg_moduli(16),
                         UNIFORM);
        product h = make('d', 30, 20, 40, g.acc, WIDE);
        copies d = to_device(&g);
        void *expected, *work;
        ozg_plan *plan;
        uint64_t allocations;

        assert_int_equal(ozg_plan_create(&plan, ctx, 'd', 'N', 'T', 30, 20, 40, g.acc), OZG_OK);
        work = fake_allocate(ozg_plan_workspace(plan));
        allocations = fake_calls("cuMemAlloc_v2") + fake_calls("cuMemAllocHost_v2");
        fake_capture_begin();
        if (ozg_plan_run(plan, g.alpha, d.a, g.lda, d.b, g.ldb, g.beta, d.c, g.ldc, work, NULL))
            fail_msg("%s", ozg_last_error(ctx));
        fake_capture_end();
        assert_int_equal(allocations, fake_calls("cuMemAlloc_v2") + fake_calls("cuMemAllocHost_v2"));
        check_device(&g, &d, g.c); /* nothing has happened yet */
        for (int again = 0; again < 2; again++) {
            const product *now = again ? &h : &g;

            fake_write(d.a, now->a, now->bytes_a);
            fake_write(d.b, now->b, now->bytes_b);
            fake_write(d.c, now->c, now->bytes_c);
            fake_capture_run();
            expected = expected_of(now, NULL);
            check_device(now, &d, expected);
            free(expected);
        }
        ozg_plan_destroy(plan);
        fake_free(work);
        free_copies(&d);
        product_free(&g);
        product_free(&h);
    }
    ozg_destroy(ctx);
}

/* The same with the memory of the context, and with a report: bounds, operands and the monitor leave it alone. */
static void graph_in_context(void **state)
{
    (void)state;
    for (int a = 0; a < 2; a++) {
        product g = make('d', 30, 20, 40, a ? ozg_native() : ozg_moduli(16), UNIFORM);
        product h = make('d', 90, 150, 230, ozg_native(), WIDE); /* larger */
        ozg_context *ctx = open_cuda(1);
        copies d = to_device(&g), e = to_device(&h);
        ozg_report report, other, expected_report;
        void *expected = expected_of(&g, &expected_report), *arena;
        ozg_operand *op;
        ozg_monitor found;

        assert_int_equal(call(ctx, &g, d.a, d.b, d.c, &report), OZG_OK);
        assert_int_equal(ozg_report_wait(ctx, &report), OZG_OK);
        arena = (void *)(uintptr_t)ctx->cuda->arena;
        fake_capture_begin();
        assert_int_equal(call(ctx, &g, d.a, d.b, d.c, &report), OZG_OK);
        fake_capture_end();
        assert_int_equal(
            ozg_bound_dgemm(ctx, 'N', 'T', h.m, h.n, h.k, 1.5, e.a, h.lda, e.b, h.ldb, h.acc, &other),
            OZG_OK);
        assert_int_equal(ozg_operand_create(&op, ctx, 'd', 'A', 'N', h.m, h.k, e.a, h.lda, h.acc), OZG_OK);
        assert_int_equal(ozg_monitor_dgemm(ctx, 'N', 'T', h.m, h.n, h.k, 1.5, e.a, h.lda, e.b, h.ldb, 0, NULL,
                                           h.ldc, e.c, h.ldc, 4, 1, &found),
                         OZG_OK);
        assert_ptr_equal((void *)(uintptr_t)ctx->cuda->arena, arena);
        fake_write(d.c, g.c, g.bytes_c);
        fake_capture_run();
        check_device(&g, &d, expected);
        assert_int_equal(ozg_report_wait(ctx, &report), OZG_OK);
        check_facts(&report, &expected_report);
        ozg_operand_destroy(op);
        free(expected);
        free_copies(&d);
        free_copies(&e);
        product_free(&g);
        product_free(&h);
        ozg_destroy(ctx);
    }
}

/* Reports come with ozg_report_wait(), and only the latest can be had. */
static void reports_wait(void **state)
{
    ozg_context *ctx;

    (void)state;
    fake.queued = 1;
    ctx = open_cuda(1);
    for (int a = 0; a < 3; a++) {
        product g = make(a == 2 ? 'z' : 'd', 25, 33, 40,
                         a == 0   ? ozg_native()
                         : a == 1 ? ozg_width(50)
                                  : ozg_accurate(14),
                         a ? SPECIAL : WIDE);
        copies d = to_device(&g);
        ozg_report report, first, other;
        void *expected = expected_of(&g, &report), *c;

        assert_int_equal(call(ctx, &g, d.a, d.b, d.c, &first), OZG_OK);
        assert_int_equal(ozg_report_wait(ctx, &first), OZG_OK);
        check_facts(&first, &report);
        assert_true(first.special_rows == report.special_rows && first.special_cols == report.special_cols);
        assert_int_equal(ozg_report_wait(ctx, &first), OZG_OK);
        check_facts(&first, &report);
        check_device(&g, &d, expected);
        c = copy_of(expected, g.bytes_c); /* again, on the result */
        assert_int_equal(call(cpu, &g, g.a, g.b, c, &report), OZG_OK);
        assert_int_equal(call(ctx, &g, d.a, d.b, d.c, &other), OZG_OK);
        assert_int_equal(ozg_report_wait(ctx, &first), OZG_E_ARG);
        assert_int_equal(ozg_report_wait(ctx, &other), OZG_OK);
        check_facts(&other, &report);
        assert_int_equal(ozg_report_wait(ctx, NULL), OZG_OK);
        check_device(&g, &d, c);
        free(c);
        free(expected);
        free_copies(&d);
        product_free(&g);
    }
    ozg_destroy(ctx);
    fake_reset();
}

/* ---- decisions ----------------------------------------------------------------------------------- */

static void repair_limit(void **state)
{
    product g = make('d', 40, 40, 60, ozg_with_moduli(ozg_native(), 8), WIDE);
    ozg_report report;
    void *expected = expected_of(&g, &report);

    (void)state;
    assert_true(report.repaired > 0);
    for (int device = 0; device < 2; device++) {
        ozg_context *ctx = open_context(OZG_BACKEND_CUDA, device, 256 << 20, 1);
        copies d = to_device(&g);
        void *c = copy_of(g.c, g.bytes_c);

        assert_int_equal(device ? call(ctx, &g, d.a, d.b, d.c, NULL) : call(ctx, &g, g.a, g.b, c, NULL),
                         OZG_E_UNSUPPORTED);
        check_device(&g, &d, g.c);
        assert_memory_equal(c, g.c, g.bytes_c);
        ozg_destroy(ctx);
        ctx = open_context(OZG_BACKEND_CUDA, device, 256 << 20, 1600);
        assert_int_equal(device ? call(ctx, &g, d.a, d.b, d.c, NULL) : call(ctx, &g, g.a, g.b, c, NULL),
                         OZG_OK);
        check_device(&g, &d, device ? expected : g.c);
        assert_memory_equal(c, device ? g.c : expected, g.bytes_c);
        free(c);
        free_copies(&d);
        ozg_destroy(ctx);
    }
    free(expected);
    product_free(&g);
}

static void predict(void **state)
{
    (void)state;
    for (int device = 0; device < 2; device++)
        for (int a = 0; a < 4; a++) {
            product g = make('d', 90, 60, 64,
                             a == 0   ? ozg_native()
                             : a == 1 ? ozg_moduli(14)
                             : a == 2 ? ozg_accurate(15)
                                      : ozg_with_moduli(ozg_rounded(), 15),
                             a == 0 ? EVIL : SPECIAL);
            ozg_context *ctx = open_cuda(device);
            copies d = to_device(&g);
            ozg_report x, y;

            assert_int_equal(
                ozg_bound_dgemm(cpu, 'N', 'T', g.m, g.n, g.k, 1.5, g.a, g.lda, g.b, g.ldb, g.acc, &x),
                OZG_OK);
            assert_int_equal(ozg_bound_dgemm(ctx, 'N', 'T', g.m, g.n, g.k, 1.5, device ? d.a : g.a, g.lda,
                                             device ? d.b : g.b, g.ldb, g.acc, &y),
                             OZG_OK);
            check_facts(&x, &y);
            check_device(&g, &d, g.c);
            free_copies(&d);
            product_free(&g);
            ozg_destroy(ctx);
        }
}

static void scaled(void **state)
{
    static const double beta[] = {0, 1, -2, 0.3, INFINITY};

    (void)state;
    for (int device = 0; device < 2; device++)
        for (size_t q = 0; q < sizeof beta / sizeof *beta; q++) {
            product g = make('d', 19, 23, 5, ozg_native(), UNIFORM);
            ozg_context *ctx = open_cuda(device);
            copies d = to_device(&g);
            ozg_report x, y;
            void *expected, *c = copy_of(g.c, g.bytes_c);

            g.alpha[0] = 0;
            g.beta[0] = beta[q];
            expected = expected_of(&g, &x);
            assert_int_equal(device ? call(ctx, &g, d.a, d.b, d.c, &y) : call(ctx, &g, g.a, g.b, c, &y),
                             OZG_OK);
            assert_int_equal(ozg_report_wait(ctx, &y), OZG_OK);
            check_facts(&x, &y);
            check_device(&g, &d, device ? expected : g.c);
            assert_memory_equal(c, device ? g.c : expected, g.bytes_c);
            free(c);
            free(expected);
            free_copies(&d);
            product_free(&g);
            ozg_destroy(ctx);
        }
}

static void note(void *arg, double done)
{
    *(double *)arg = done;
}

static void progress(void **state)
{
    product g = make('d', 12, 10, 8, ozg_moduli(15), UNIFORM);

    (void)state;
    for (int device = 0; device < 2; device++) {
        ozg_config cfg;
        ozg_context *ctx;
        copies d = to_device(&g);
        double done = 0;

        assert_int_equal(ozg_config_init(&cfg), OZG_OK);
        cfg.backend = OZG_BACKEND_CUDA;
        cfg.device_pointers = device;
        cfg.progress = note;
        cfg.progress_arg = &done;
        assert_int_equal(ozg_create(&ctx, &cfg), OZG_OK);
        assert_int_equal(device ? call(ctx, &g, d.a, d.b, d.c, NULL) : call(ctx, &g, g.a, g.b, g.c, NULL),
                         OZG_OK);
        assert_true(done == 1);
        free_copies(&d);
        ozg_destroy(ctx);
    }
    product_free(&g);
}

/* ---- failures ------------------------------------------------------------------------------------ */

/*
 * Each call of the driver fails once. C is what it was or the product; nothing stays behind.
 */
static void driver_fails(void **state)
{
    product g = make('d', 9, 8, 7, ozg_native(), UNIFORM);
    void *expected = expected_of(&g, NULL);
    fake_counts before;

    (void)state;
    ozg_destroy(open_cuda(0));
    before = fake_count();
    for (int result = 2; result <= 719; result += 717)
        for (int nth = 1;; nth++) {
            ozg_context *ctx = open_cuda(0);
            void *c = copy_of(g.c, g.bytes_c);
            ozg_report report;
            ozg_status status;
            uint64_t calls = fake_calls(NULL);

            fake_fail(NULL, nth, result);
            status = call(ctx, &g, g.a, g.b, c, &report);
            calls = fake_calls(NULL) - calls;
            fake_fail(NULL, 0, 0);
            if (status)
                assert_true(status == OZG_E_NOMEM || status == OZG_E_DEVICE);
            if (status)
                assert_true(*ozg_last_error(ctx) != 0 && report.emulated == 0);
            if (!status)
                assert_memory_equal(c, expected, g.bytes_c);
            else if (status == OZG_E_NOMEM)
                assert_memory_equal(c, g.c, g.bytes_c);
            else
                assert_true(memcmp(c, g.c, g.bytes_c) == 0 || memcmp(c, expected, g.bytes_c) == 0);
            free(c);
            ozg_destroy(ctx);
            fake_reset();
            assert_int_equal(fake_count().allocations, before.allocations);
            assert_int_equal(fake_count().events + fake_count().pinned, 0);
            if (calls < (uint64_t)nth)
                break; /* no call is left to fail */
        }
    free(expected);
    product_free(&g);
}

/* One product or a batch of three of them, with matrices on the device. */
static ozg_status one_or_batch(ozg_context *ctx, const product *g, const copies *d, int three)
{
    return three ? ozg_dgemm_batch_strided(ctx, g->transa, g->transb, g->m, g->n, g->k, g->alpha[0], d->a,
                                           g->lda, 0, d->b, g->ldb, 0, g->beta[0], d->c, g->ldc,
                                           g->ldc * g->n, 3, g->acc, NULL)
                 : call(ctx, g, d->a, d->b, d->c, NULL);
}

/*
 * A launch fails for want of memory: before the first kernel that writes C that is what is told, and C is as it
 * was; afterwards it is OZG_E_DEVICE. The host's C is only written at the end.
 */
static void launches_fail(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) { /* device, batch, host */
        product g = make('d', 20, 300, 30, ozg_moduli(15), UNIFORM);
        int early = 0, late = 0;

        for (int nth = 1; nth < 100; nth++) {
            ozg_context *ctx = open_cuda(kind < 2);
            copies d = to_device(&g);
            const size_t bytes = kind == 1 ? 3 * (size_t)(g.ldc * g.n) * 8 : g.bytes_c;
            void *c = junk(bytes), *was = junk(bytes);
            ozg_status status;

            if (kind == 1) {
                fake_free(d.c);
                d.c = fake_allocate(bytes);
                fake_write(d.c, c, bytes);
            }
            memcpy(kind == 1 ? was : c, kind == 1 ? c : g.c, bytes);
            if (kind != 1)
                memcpy(was, g.c, bytes);
            fake_fail("cuLaunchKernel", nth, 2);
            status = kind == 2 ? call(ctx, &g, g.a, g.b, c, NULL) : one_or_batch(ctx, &g, &d, kind == 1);
            fake_fail(NULL, 0, 0);
            if (kind < 2)
                fake_read(c, d.c, bytes);
            if (status == OZG_E_NOMEM) {
                assert_true(*ozg_last_error(ctx) != 0 && late == 0);
                assert_memory_equal(c, was, bytes);
                early++;
            } else if (status) {
                assert_int_equal(status, OZG_E_DEVICE);
                late++;
            }
            free(c);
            free(was);
            free_copies(&d);
            ozg_destroy(ctx);
            fake_reset();
            if (!status)
                break;
            assert_true(nth < 99);
        }
        assert_true(early >= 4 && (late > 0 || kind == 2));
        product_free(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(workspace_suffices),
                                       cmocka_unit_test(too_little_memory),
                                       cmocka_unit_test(graph),
                                       cmocka_unit_test(graph_in_context),
                                       cmocka_unit_test(reports_wait),
                                       cmocka_unit_test(repair_limit),
                                       cmocka_unit_test(predict),
                                       cmocka_unit_test(scaled),
                                       cmocka_unit_test(progress),
                                       cmocka_unit_test(driver_fails),
                                       cmocka_unit_test(launches_fail)};

    return cmocka_run_group_tests(tests, open_all, close_all);
}
