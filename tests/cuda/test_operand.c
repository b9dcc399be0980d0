/*
 * test_operand.c - prepared operands of a CUDA context, and the monitor, over the emulated driver: what is launched,
 * graphs, lifetimes, refusals, failures of the driver. The bits are prog_equal.c's part.
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
#include "errors.h"
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
    return ozg_create(&cpu, NULL) != OZG_OK;
}

static int close_all(void **state)
{
    (void)state;
    ozg_destroy(cpu);
    return 0;
}

/* ---- a product, on the device or in the memory of the host ---------------------------------------- */

typedef struct work {
    ozg_context *ctx;
    product g;
    void *a, *b, *c; /* where the context wants them */
    ozg_operand *pa, *pb;
    void *expected; /* C of the CPU, without operands */
} work;

static void *place(const work *w, const void *x, size_t bytes)
{
    void *y = w->ctx->device_pointers ? fake_allocate(bytes) : junk(bytes);

    if (w->ctx->device_pointers)
        fake_write(y, x, bytes);
    else
        memcpy(y, x, bytes);
    return y;
}

/* A real product of 30 x 20 x 40. Native and rounded: with so many moduli. */
static work begin(ozg_context *ctx, ozg_accuracy acc, enum family family)
{
    work w = {ctx,
              {'d', 'N', 'T', 30, 20,   40,   1,    family, {1.5, 0}, {-0.5, 0}, 0,
               acc, 0,   0,   0,  NULL, NULL, NULL, 0,      0,        0},
              NULL,
              NULL,
              NULL,
              NULL,
              NULL,
              NULL};
    product *g = &w.g;

    product_make(g, 7);
    w.a = place(&w, g->a, g->bytes_a);
    w.b = place(&w, g->b, g->bytes_b);
    w.c = place(&w, g->c, g->bytes_c);
    w.expected = junk(g->bytes_c);
    memcpy(w.expected, g->c, g->bytes_c);
    assert_int_equal(ozg_dgemm(cpu, 'N', 'T', 30, 20, 40, 1.5, g->a, g->lda, g->b, g->ldb, -0.5, w.expected,
                               g->ldc, acc, NULL),
                     OZG_OK);
    return w;
}

static ozg_status make_a(work *w)
{
    return ozg_operand_create(&w->pa, w->ctx, 'd', 'A', 'N', 30, 40, w->a, w->g.lda, w->g.acc);
}

static ozg_status make_b(work *w)
{
    return ozg_operand_create(&w->pb, w->ctx, 'd', 'B', 'T', 40, 20, w->b, w->g.ldb, w->g.acc);
}

/* With those operands that are there. */
static ozg_status multiply(const work *w, ozg_report *report)
{
    return ozg_dgemm_prepared(w->ctx, 'N', 'T', 30, 20, 40, 1.5, w->pa, w->pa ? NULL : w->a, w->g.lda, w->pb,
                              w->pb ? NULL : w->b, w->g.ldb, -0.5, w->c, w->g.ldc, w->g.acc, report);
}

static void drop_operands(work *w)
{
    ozg_operand_destroy(w->pa);
    ozg_operand_destroy(w->pb);
    w->pa = w->pb = NULL;
}

static void *result_of(const work *w)
{
    void *c = junk(w->g.bytes_c);

    if (w->ctx->device_pointers)
        fake_read(c, w->c, w->g.bytes_c);
    else
        memcpy(c, w->c, w->g.bytes_c);
    return c;
}

static void check_result(const work *w, const void *expected)
{
    void *c = result_of(w);

    assert_memory_equal(c, expected, w->g.bytes_c);
    assert_int_equal(fake_count().complaints, 0);
    free(c);
}

static void end(work *w)
{
    void *x[3] = {w->a, w->b, w->c};

    drop_operands(w);
    for (int q = 0; q < 3; q++)
        if (w->ctx->device_pointers)
            fake_free(x[q]);
        else
            free(x[q]);
    free(w->expected);
    product_free(&w->g);
}

static ozg_accuracy some_accuracy(int q)
{
    return q == 0 ? ozg_moduli(15) : ozg_with_moduli(q == 1 ? ozg_native() : ozg_rounded(), 14);
}

/* ---- what a call does ----------------------------------------------------------------------------- */

/* A prepared side is neither scaled nor split: begin, product, reconstruct, special (and repair) are left. */
static void launches(void **state)
{
    (void)state;
    for (int device = 0; device < 2; device++)
        for (int a = 0; a < 3; a++) {
            ozg_context *ctx = open_cuda(device);
            work w = begin(ctx, some_accuracy(a), WIDE);
            const uint64_t left = a ? 5 : 4;
            uint64_t before;

            assert_int_equal(make_a(&w), OZG_OK);
            assert_int_equal(make_b(&w), OZG_OK);
            assert_int_equal(ozg_operand_moduli(w.pa), a ? 14 : 15);
            before = fake_count().launches;
            assert_int_equal(multiply(&w, NULL), OZG_OK);
            assert_int_equal(ozg_report_wait(ctx, NULL), OZG_OK);
            assert_int_equal(fake_count().launches - before, left);
            check_result(&w, w.expected);
            ozg_operand_destroy(
                w.pa); /* then one side: scale, norms, split and, to know what is rounded, more */
            w.pa = NULL;
            before = fake_count().launches;
            assert_int_equal(multiply(&w, NULL), OZG_OK);
            assert_int_equal(ozg_report_wait(ctx, NULL), OZG_OK);
            assert_int_equal(fake_count().launches - before, left + (a ? 4 : 3));
            end(&w);
            ozg_destroy(ctx);
        }
}

/* Neither A nor copies of it count against memory_limit, once it is prepared. */
static void memory(void **state)
{
    (void)state;
    for (int device = 0; device < 2; device++) {
        ozg_context *ctx = open_cuda(device);
        work w = begin(ctx, ozg_moduli(15), UNIFORM);
        const fake_counts before = fake_count();
        size_t without, with;
        ozg_report report;

        assert_int_equal(multiply(&w, &report), OZG_OK);
        assert_int_equal(ozg_report_wait(ctx, &report), OZG_OK);
        without = report.workspace_bytes;
        assert_int_equal(make_a(&w), OZG_OK);
        assert_int_equal(multiply(&w, &report), OZG_OK);
        assert_int_equal(ozg_report_wait(ctx, &report), OZG_OK);
        with = report.workspace_bytes;
        assert_true(with + 15 * 256 * 128 + (device ? 0 : w.g.bytes_a) <= without + 4096);
        drop_operands(&w);
        assert_int_equal(fake_count().allocations, before.allocations + 1); /* the workspace */
        end(&w);
        ozg_destroy(ctx);
    }
}

/* ---- streams and graphs --------------------------------------------------------------------------- */

/* The operand may be destroyed, and its matrix changed, while the work on it waits on the stream. */
static void enqueued(void **state)
{
    (void)state;
    fake.queued = 1;
    for (int a = 0; a < 3; a++) {
        ozg_context *ctx = open_cuda(1);
        work w = begin(ctx, some_accuracy(a), SPECIAL);
        CUdeviceptr x;

        memcpy(&x, &w.a, sizeof x);
        assert_int_equal(make_a(&w), OZG_OK);
        assert_int_equal(ozg_cuda_enter(ctx), OZG_OK);
        assert_int_equal(ctx->cuda->api->set_bytes(x, 0xff, w.g.bytes_a, NULL), 0);
        assert_int_equal(ozg_cuda_leave(ctx, OZG_OK), OZG_OK);
        assert_int_equal(make_b(&w), OZG_OK);
        assert_int_equal(multiply(&w, NULL), OZG_OK);
        drop_operands(&w);
        check_result(&w, w.expected);
        end(&w);
        ozg_destroy(ctx);
    }
    fake_reset();
}

/* Creation of fixed accuracies waits for nothing; native and rounded wait for the number of moduli. */
static void waits(void **state)
{
    (void)state;
    fake.queued = 1;
    for (int a = 0; a < 4; a++) {
        ozg_context *ctx = open_cuda(1);
        work w = begin(ctx, a == 3 ? ozg_native() : some_accuracy(a), UNIFORM);
        uint64_t before;

        assert_int_equal(multiply(&w, NULL), OZG_OK); /* the workspace is there */
        assert_int_equal(ozg_report_wait(ctx, NULL), OZG_OK);
        before = fake_calls("cuStreamSynchronize");
        assert_int_equal(make_a(&w), OZG_OK);
        if (a == 3)
            assert_true(fake_calls("cuStreamSynchronize") > before);
        else
            assert_int_equal(fake_calls("cuStreamSynchronize"), before);
        assert_true(ozg_operand_moduli(w.pa) >= 2);
        end(&w);
        ozg_destroy(ctx);
    }
    fake_reset();
}

/* A captured call runs again with another partner; in the capture nothing is prepared, and nothing is freed. */
static void graph(void **state)
{
    (void)state;
    for (int a = 0; a < 3; a++) {
        ozg_context *ctx = open_cuda(1);
        work w = begin(ctx, some_accuracy(a), UNIFORM), other = begin(ctx, some_accuracy(a), WIDE);
        product mixed = w.g; /* A of one, B and C of the other */
        uint64_t tried;
        int live;

        assert_int_equal(make_a(&w), OZG_OK);
        assert_int_equal(multiply(&w, NULL), OZG_OK);
        assert_int_equal(make_a(&other), OZG_OK);
        live = fake_count().allocations;
        fake_capture_begin();
        tried = fake_calls("cuMemAlloc_v2");
        expect_error(ctx, make_b(&w), OZG_E_UNSUPPORTED, 0);
        assert_null(w.pb);
        assert_int_equal(fake_calls("cuMemAlloc_v2"), tried); /* which would end the capture */
        assert_int_equal(multiply(&w, NULL), OZG_OK);
        ozg_operand_destroy(other.pa);
        other.pa = NULL;
        fake_capture_end();
        assert_int_equal(fake_count().allocations, live);
        fake_write(w.b, other.g.b, other.g.bytes_b);
        fake_write(w.c, other.g.c, other.g.bytes_c);
        fake_capture_run();
        memcpy(other.expected, other.g.c, other.g.bytes_c);
        assert_int_equal(ozg_dgemm(cpu, 'N', 'T', 30, 20, 40, 1.5, mixed.a, mixed.lda, other.g.b, mixed.ldb,
                                   -0.5, other.expected, mixed.ldc, mixed.acc, NULL),
                         OZG_OK);
        check_result(&w, other.expected);
        assert_int_equal(make_b(&w), OZG_OK); /* now what was destroyed is freed: two pieces; two come */
        assert_int_equal(fake_count().allocations, live);
        end(&other);
        end(&w);
        ozg_destroy(ctx);
    }
}

/* ... or when the context is closed. */
static void destroyed_in_a_capture(void **state)
{
    const int before = fake_count().allocations;
    ozg_context *ctx = open_cuda(1);
    work w = begin(ctx, ozg_moduli(15), UNIFORM);

    (void)state;
    assert_int_equal(make_a(&w), OZG_OK);
    assert_int_equal(make_b(&w), OZG_OK);
    fake_capture_begin();
    drop_operands(&w);
    fake_capture_end();
    end(&w);
    assert_int_equal(fake_count().allocations, before + 4);
    ozg_destroy(ctx);
    assert_int_equal(fake_count().allocations, before);
    assert_int_equal(fake_count().complaints, 0);
}

/* A report that waits to be filled outlives the making of an operand, which looks at the device, too. */
static void pending_report(void **state)
{
    ozg_report report, expected;

    (void)state;
    fake.queued = 1;
    for (int a = 0; a < 3; a++) {
        ozg_context *ctx = open_cuda(1);
        work w = begin(ctx, a == 0 ? ozg_moduli(15) : a == 1 ? ozg_native() : ozg_width(50), SPECIAL);
        work other = begin(ctx, ozg_native(), WIDE);

        memcpy(w.expected, w.g.c, w.g.bytes_c);
        assert_int_equal(ozg_dgemm(cpu, 'N', 'T', 30, 20, 40, 1.5, w.g.a, w.g.lda, w.g.b, w.g.ldb, -0.5,
                                   w.expected, w.g.ldc, w.g.acc, &expected),
                         OZG_OK);
        assert_int_equal(multiply(&w, &report), OZG_OK);
        assert_int_equal(make_a(&other), OZG_OK);
        assert_int_equal(ozg_report_wait(ctx, &report), OZG_OK);
        assert_true(report.bound == expected.bound && report.special_rows == expected.special_rows &&
                    report.tested == expected.tested && report.moduli == expected.moduli);
        check_result(&w, w.expected);
        end(&other);
        end(&w);
        ozg_destroy(ctx);
    }
    fake_reset();
}

/* ---- refusals ------------------------------------------------------------------------------------- */

static ozg_status reshaped(const work *w, int64_t m, int64_t n, int64_t k, ozg_accuracy acc)
{
    return ozg_dgemm_prepared(w->ctx, 'N', 'N', m, n, k, 1, w->pa, NULL, 0, w->pb, NULL, 0, 0, w->c, m, acc,
                              NULL);
}

/* As on the CPU (test_args_objects.c): nothing is looked at, or written, before all is right. */
static void refusals(void **state)
{
    (void)state;
    for (int device = 0; device < 2; device++) {
        ozg_context *ctx = open_cuda(device), *stranger = open_cuda(device);
        const ozg_accuracy acc = ozg_moduli(15);
        work w = begin(ctx, acc, UNIFORM), foreign = w;
        ozg_operand *p = (ozg_operand *)1;

        assert_int_equal(make_a(&w), OZG_OK);
        assert_int_equal(make_b(&w), OZG_OK);
        foreign.ctx = stranger;
        foreign.pa = w.pa;
        expect_error(ctx, ozg_operand_create(&p, ctx, 'd', 'A', 'N', 30, 40, NULL, 30, acc), OZG_E_ARG, 8);
        expect_error(ctx, ozg_operand_create(&p, ctx, 'd', 'A', 'N', 30, 40, w.a, 29, acc), OZG_E_ARG, 9);
        expect_error(ctx, ozg_operand_create(&p, ctx, 'd', 'A', 'N', 30, 40, w.a, 31, ozg_accurate(15)),
                     OZG_E_UNSUPPORTED, 0);
        assert_null(p);
        expect_error(ctx, reshaped(&w, 29, 20, 40, acc), OZG_E_ARG, 8);
        expect_error(ctx, reshaped(&w, 30, 19, 40, acc), OZG_E_ARG, 11);
        expect_error(ctx, reshaped(&w, 30, 20, 39, acc), OZG_E_ARG, 8);
        expect_error(ctx, reshaped(&w, 30, 20, 40, ozg_moduli(14)), OZG_E_ARG, 8);
        expect_error(ctx, reshaped(&w, 30, 20, 40, ozg_native()), OZG_E_ARG, 8);
        expect_error(stranger, multiply(&foreign, NULL), OZG_E_ARG, 8);
        foreign.ctx = ctx;
        foreign.pa = w.pb;
        foreign.pb = w.pa;
        expect_error(ctx, multiply(&foreign, NULL), OZG_E_ARG, 8);
        check_result(&w, w.g.c);
        assert_int_equal(ozg_dgemm_prepared(ctx, 'N', 'T', 30, 20, 40, 1.5, w.pa, w.g.a, -1, w.pb, w.g.b, -1,
                                            -0.5, w.c, w.g.ldc, acc, NULL),
                         OZG_OK); /* a and lda are not looked at, even where they are wrong */
        check_result(&w, w.expected);
        end(&w);
        ozg_destroy(stranger);
        ozg_destroy(ctx);
    }
}

/* Sizes beyond any memory, refused before x is looked at; too little memory on the device, or memory_limit. */
static void no_memory(void **state)
{
    const double x = 1;

    (void)state;
    for (int device = 0; device < 2; device++) {
        ozg_context *ctx = open_cuda(device);
        work w = begin(ctx, ozg_moduli(15), UNIFORM);
        const void *one = device ? w.a : (const void *)&x;
        const int before = fake_count().allocations;
        ozg_operand *p;

        for (int q = 0; q < 4; q++) {
            static const int log2_size[][2] = {{20, 31}, {30, 20}, {32, 10}, {32, 20}};
            const int64_t count = INT64_C(1) << log2_size[q][0], k = INT64_C(1) << log2_size[q][1];

            expect_error(ctx, ozg_operand_create(&p, ctx, 'd', 'A', 'T', count, k, one, k, ozg_moduli(15)),
                         q == 1 ? OZG_E_NOMEM : OZG_E_UNSUPPORTED, 0);
            assert_null(p);
        }
        fake.memory = fake_count().bytes + 50000; /* enough for the lines, not for the planes */
        expect_error(ctx, make_a(&w), OZG_E_NOMEM, 0);
        fake.memory = fake_count().bytes + 100;
        expect_error(ctx, make_a(&w), OZG_E_NOMEM, 0);
        assert_null(w.pa);
        fake_reset();
        assert_int_equal(fake_count().allocations, before);
        assert_int_equal(make_a(&w), OZG_OK);
        assert_int_equal(multiply(&w, NULL), OZG_OK);
        assert_int_equal(ozg_report_wait(ctx, NULL), OZG_OK);
        check_result(&w, w.expected);
        end(&w);
        ozg_destroy(ctx);
        ctx = open_context(OZG_BACKEND_CUDA, device, 5000, UINT64_MAX);
        w = begin(ctx, ozg_native(), UNIFORM);
        expect_error(ctx, make_a(&w), OZG_E_WORKSPACE, 0);
        assert_null(w.pa);
        w.g.acc = ozg_moduli(15); /* needs no workspace */
        assert_int_equal(make_a(&w), OZG_OK);
        end(&w);
        ozg_destroy(ctx);
    }
}

/* Of two prepared operands, too, it is known how many entries will be repaired. */
static void repair_limit(void **state)
{
    (void)state;
    for (int device = 0; device < 2; device++) {
        ozg_context *ctx = open_context(OZG_BACKEND_CUDA, device, 256 << 20, 1);
        work w = begin(ctx, ozg_with_moduli(ozg_native(), 8), WIDE);

        assert_int_equal(make_a(&w), OZG_OK);
        assert_int_equal(make_b(&w), OZG_OK);
        expect_error(ctx, multiply(&w, NULL), OZG_E_UNSUPPORTED, 0);
        check_result(&w, w.g.c);
        end(&w);
        ozg_destroy(ctx);
    }
}

/* Empty operands: nothing is kept, and nothing is multiplied. */
static void empty(void **state)
{
    (void)state;
    for (int device = 0; device < 2; device++) {
        ozg_context *ctx = open_cuda(device);
        ozg_operand *p[4];
        ozg_report r;
        const int before = fake_count().allocations;

        assert_int_equal(ozg_operand_create(&p[0], ctx, 'd', 'A', 'N', 0, 3, NULL, 1, ozg_moduli(9)), OZG_OK);
        assert_int_equal(ozg_operand_create(&p[1], ctx, 'd', 'B', 'N', 3, 0, NULL, 3, ozg_moduli(9)), OZG_OK);
        assert_int_equal(ozg_operand_create(&p[2], ctx, 'd', 'A', 'N', 2, 0, NULL, 2, ozg_native()), OZG_OK);
        assert_int_equal(ozg_operand_create(&p[3], ctx, 'd', 'B', 'N', 0, 0, NULL, 1, ozg_native()), OZG_OK);
        assert_int_equal(fake_count().allocations, before);
        assert_int_equal(ozg_dgemm_prepared(ctx, 'N', 'N', 0, 0, 3, 1, p[0], NULL, 0, p[1], NULL, 0, 2, NULL,
                                            1, ozg_moduli(9), &r),
                         OZG_OK);
        assert_string_equal(r.reason, "m = 0");
        for (int q = 0; q < 4; q++) {
            assert_int_equal(ozg_operand_moduli(p[q]), 0);
            ozg_operand_destroy(p[q]);
        }
        ozg_destroy(ctx);
    }
}

/* ---- failures ------------------------------------------------------------------------------------- */

/* A context that was not left, since that failed. */
static void leave(void)
{
    const char *error;
    const ozg_cuda_api *api = ozg_cuda_api_open(&error);
    CUcontext current = NULL;

    assert_non_null(api);
    assert_int_equal(api->context_current(&current), 0);
    if (current)
        assert_int_equal(api->context_pop(&current), 0);
}

/*
 * Each call of the driver fails once: a status, no operand, and nothing stays behind but, once in a variant,
 * page-locked memory that could not be freed.
 */
static void driver_fails(void **state)
{
    fake_counts before;

    (void)state;
    ozg_destroy(open_cuda(0));
    before = fake_count();
    for (int variant = 0; variant < 8; variant++)
        for (int nth = 1, all = 0; !all; nth += variant & 4 ? 5 : 1) {
            ozg_context *ctx = open_cuda(variant % 2);
            work w = begin(ctx, variant & 2 ? ozg_moduli(15) : ozg_native(), UNIFORM);
            const uint64_t calls = fake_calls(NULL);
            ozg_status status;

            fake_fail(NULL, nth, variant & 4 ? 719 : 2);
            status = make_a(&w);
            if (status)
                assert_null(w.pa);
            else
                status = multiply(&w, NULL);
            all = fake_calls(NULL) - calls < (uint64_t)nth;
            fake_fail(NULL, 0, 0);
            if (status)
                assert_true((status == OZG_E_NOMEM || status == OZG_E_DEVICE) && *ozg_last_error(ctx) != 0);
            assert_true(!all || status == OZG_OK);
            drop_operands(&w); /* with a device that has failed, too */
            fake_reset();
            end(&w);
            ozg_destroy(ctx);
            leave();
            assert_int_equal(fake_count().allocations, before.allocations);
            assert_int_equal(fake_count().events, 0);
            assert_in_range(fake_count().pinned, 0, before.pinned + variant + 1);
        }
}

/* The same of the monitor. */
static void monitor_fails(void **state)
{
    (void)state;
    for (int nth = 1, all = 0; !all; nth++) {
        ozg_context *ctx = open_cuda(1);
        work w = begin(ctx, ozg_moduli(15), UNIFORM);
        const uint64_t calls = fake_calls(NULL);
        ozg_monitor found;
        ozg_status status;

        fake_fail(NULL, nth, nth % 2 ? 2 : 719);
        status = ozg_monitor_dgemm(ctx, 'N', 'T', 30, 20, 40, 1.5, w.a, w.g.lda, w.b, w.g.ldb, 0, NULL, 30,
                                   w.c, w.g.ldc, 2, 1, &found);
        all = fake_calls(NULL) - calls < (uint64_t)nth;
        fake_fail(NULL, 0, 0);
        if (status)
            assert_true((status == OZG_E_NOMEM || status == OZG_E_DEVICE) && found.compared == 0);
        assert_true(!all || (status == OZG_OK && found.compared == 96));
        fake_reset();
        end(&w);
        ozg_destroy(ctx);
        leave();
    }
}

/* It waits, so that it cannot be captured; and it says how little memory is too little. */
static void monitor_refuses(void **state)
{
    ozg_context *ctx = open_cuda(1);
    work w = begin(ctx, ozg_moduli(15), UNIFORM);
    ozg_monitor found;

    (void)state;
    fake_capture_begin();
    expect_error(ctx,
                 ozg_monitor_dgemm(ctx, 'N', 'T', 30, 20, 40, 1.5, w.a, w.g.lda, w.b, w.g.ldb, 0, NULL, 30,
                                   w.c, w.g.ldc, 2, 1, &found),
                 OZG_E_UNSUPPORTED, 0);
    fake_capture_end();
    end(&w);
    ozg_destroy(ctx);
    ctx = open_context(OZG_BACKEND_CUDA, 1, 256, UINT64_MAX);
    w = begin(ctx, ozg_moduli(15), UNIFORM);
    expect_error(ctx,
                 ozg_monitor_dgemm(ctx, 'N', 'T', 30, 20, 40, 1.5, w.a, w.g.lda, w.b, w.g.ldb, 0, NULL, 30,
                                   w.c, w.g.ldc, 2, 1, &found),
                 OZG_E_WORKSPACE, 0);
    assert_int_equal(found.compared, 0);
    end(&w);
    ozg_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches),       cmocka_unit_test(memory),
        cmocka_unit_test(enqueued),       cmocka_unit_test(waits),
        cmocka_unit_test(graph),          cmocka_unit_test(destroyed_in_a_capture),
        cmocka_unit_test(pending_report), cmocka_unit_test(refusals),
        cmocka_unit_test(no_memory),      cmocka_unit_test(repair_limit),
        cmocka_unit_test(empty),          cmocka_unit_test(driver_fails),
        cmocka_unit_test(monitor_fails),  cmocka_unit_test(monitor_refuses),
    };

    return cmocka_run_group_tests(tests, open_all, close_all);
}
