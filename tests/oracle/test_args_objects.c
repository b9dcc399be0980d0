/*
 * test_args_objects.c - bad arguments of contexts, plans, prepared operands and batches; reports and small
 * queries.
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "check.h"
#include "errors.h"

static ozg_context *ctx;

static int open_context(void **state)
{
    (void)state;
    return ozg_create(&ctx, NULL) == OZG_OK ? 0 : -1;
}

static int close_context(void **state)
{
    (void)state;
    ozg_destroy(ctx);
    return 0;
}

static ozg_config defaults(void)
{
    ozg_config cfg;

    memset(&cfg, 0xAA, sizeof cfg);
    assert_int_equal(ozg_config_init(&cfg), OZG_OK);
    return cfg;
}

/* A context that must not open. */
static void refuse(const ozg_config *cfg, ozg_status want)
{
    ozg_context *made = (ozg_context *)(uintptr_t)0xBAD;

    expect_error(NULL, ozg_create(&made, cfg), want, 0);
    assert_null(made);
}

static void config_defaults(void **state)
{
    ozg_config cfg = defaults();

    (void)state;
    assert_int_equal(cfg.backend, OZG_BACKEND_BEST);
    assert_int_equal(cfg.device, 0);
    assert_int_equal(cfg.threads, 0);
    assert_int_equal(cfg.memory_limit, 0);
    assert_true(cfg.repair_limit == UINT64_MAX);
    assert_int_equal(cfg.policy, OZG_EMULATE);
    assert_null(cfg.stream);
    assert_int_equal(cfg.device_pointers, 0);
    assert_null(cfg.kernel);
    assert_true(cfg.progress == NULL);
    assert_null(cfg.progress_arg);
    for (size_t i = 0; i < sizeof cfg.reserved / sizeof *cfg.reserved; i++)
        assert_true(cfg.reserved[i] == 0);
    expect_error(NULL, ozg_config_init(NULL), OZG_E_ARG, 1);
}

static void wrong_configs(void **state)
{
    ozg_config cfg = defaults();

    (void)state;
    expect_error(NULL, ozg_create(NULL, NULL), OZG_E_ARG, 1);
    expect_error(NULL, ozg_create(NULL, &cfg), OZG_E_ARG, 1);
    cfg = defaults();
    cfg.threads = -1;
    refuse(&cfg, OZG_E_ARG);
    cfg = defaults();
    cfg.device = 1;
    refuse(&cfg, OZG_E_NODEVICE);
    cfg = defaults();
    cfg.backend = OZG_BACKEND_CUDA;
    cfg.device = 1 << 20;
    refuse(&cfg, OZG_E_NODEVICE);
    cfg = defaults();
    cfg.backend = OZG_BACKEND_CUDA;
    cfg.device_pointers = 2;
    refuse(&cfg, OZG_E_ARG);
    cfg = defaults();
    cfg.backend = OZG_BACKEND_OPENCL;
    refuse(&cfg, OZG_E_NODEVICE);
    cfg = defaults();
    cfg = defaults();
    cfg.backend = (ozg_backend_kind)77;
    refuse(&cfg, OZG_E_ARG);
    cfg = defaults();
    cfg.policy = OZG_AUTOMATIC;
    refuse(&cfg, OZG_E_UNSUPPORTED);
    cfg.policy = OZG_OFF;
    refuse(&cfg, OZG_E_UNSUPPORTED);
    cfg.policy = (ozg_policy)-5;
    refuse(&cfg, OZG_E_ARG);
    cfg = defaults();
    cfg.backend = OZG_BACKEND_CPU;
    cfg.stream = &cfg;
    refuse(&cfg, OZG_E_ARG);
    cfg = defaults();
    cfg.backend = OZG_BACKEND_CPU;
    cfg.device_pointers = 1;
    refuse(&cfg, OZG_E_ARG);
    cfg = defaults();
    cfg.kernel = "no such kernel";
    refuse(&cfg, OZG_E_UNSUPPORTED);
    cfg.kernel = "";
    refuse(&cfg, OZG_E_UNSUPPORTED);
    ozg_destroy(NULL);
}

static void names_and_versions(void **state)
{
    static const char *const name[] = {"OZG_OK",          "OZG_E_ARG",         "OZG_E_NOMEM",
                                       "OZG_E_WORKSPACE", "OZG_E_UNSUPPORTED", "OZG_E_NODEVICE",
                                       "OZG_E_DEVICE",    "OZG_E_INTERNAL"};
    char version[32];
    int last = 0;

    (void)state;
    for (int i = 0; i < 8; i++)
        assert_string_equal(ozg_status_name((ozg_status)i), name[i]);
    assert_string_equal(ozg_status_name((ozg_status)8), "OZG_E_?");
    assert_string_equal(ozg_status_name((ozg_status)-1), "OZG_E_?");
    snprintf(version, sizeof version, "%d.%d.%d", OZG_VERSION_MAJOR, OZG_VERSION_MINOR, OZG_VERSION_PATCH);
    assert_string_equal(ozg_version(), version);
    while (ozg_kernel_name(last) != NULL)
        last++;
    assert_true(last >= 1);
    assert_string_equal(ozg_kernel_name(last - 1), "ref");
    assert_null(ozg_kernel_name(last + 100));
    assert_null(ozg_kernel_name(-1));
}

/* "" before the first failure; the sentence of the last failure afterwards, also after a success. */
static void last_errors(void **state)
{
    ozg_context *other;
    double x = 2, c = 0;

    (void)state;
    assert_int_equal(ozg_create(&other, NULL), OZG_OK);
    assert_string_equal(ozg_last_error(other), "");
    expect_error(other, ozg_dgemm(other, 'N', 'N', 1, -1, 1, 1, &x, 1, &x, 1, 0, &c, 1, ozg_moduli(8), NULL),
                 OZG_E_ARG, 5);
    assert_int_equal(ozg_dgemm(other, 'N', 'N', 1, 1, 1, 1, &x, 1, &x, 1, 0, &c, 1, ozg_moduli(8), NULL),
                     OZG_OK);
    assert_true(c == 4);
    expect_error(other, OZG_E_ARG, OZG_E_ARG, 5);
    ozg_destroy(other);
}

static void wrong_plans(void **state)
{
    double x[4] = {1, 2, 3, 4}, c[4] = {9, 9, 9, 9}, one = 1;
    ozg_plan *plan;

    (void)state;
    expect_error(ctx, ozg_plan_create(NULL, ctx, 'd', 'N', 'N', 2, 2, 2, ozg_moduli(9)), OZG_E_ARG, 1);
    expect_error(NULL, ozg_plan_create(&plan, NULL, 'd', 'N', 'N', 2, 2, 2, ozg_moduli(9)), OZG_E_ARG, 2);
    expect_error(ctx, ozg_plan_create(&plan, ctx, 'q', 'N', 'N', 2, 2, 2, ozg_moduli(9)), OZG_E_ARG, 3);
    expect_error(ctx, ozg_plan_create(&plan, ctx, 'd', 'Q', 'N', 2, 2, 2, ozg_moduli(9)), OZG_E_ARG, 4);
    expect_error(ctx, ozg_plan_create(&plan, ctx, 'd', 'N', 'Q', 2, 2, 2, ozg_moduli(9)), OZG_E_ARG, 5);
    expect_error(ctx, ozg_plan_create(&plan, ctx, 'd', 'N', 'N', -2, 2, 2, ozg_moduli(9)), OZG_E_ARG, 6);
    expect_error(ctx, ozg_plan_create(&plan, ctx, 'd', 'N', 'N', 2, -2, 2, ozg_moduli(9)), OZG_E_ARG, 7);
    expect_error(ctx, ozg_plan_create(&plan, ctx, 'd', 'N', 'N', 2, 2, -2, ozg_moduli(9)), OZG_E_ARG, 8);
    expect_error(ctx, ozg_plan_create(&plan, ctx, 'd', 'N', 'N', 2, 2, 2, ozg_moduli(99)), OZG_E_ARG, 9);
    assert_null(plan);
    expect_error(ctx, ozg_plan_create(&plan, ctx, 'd', 'N', 'N', 2, 2, 4081, ozg_moduli(2)),
                 OZG_E_UNSUPPORTED, 0);
    assert_null(plan);
    assert_int_equal(ozg_plan_create(&plan, ctx, 'd', 'N', 'N', 2, 2, 2, ozg_moduli(9)), OZG_OK);
    expect_error(NULL, ozg_plan_run(NULL, &one, x, 2, x, 2, &one, c, 2, NULL, NULL), OZG_E_ARG, 1);
    expect_error(ctx, ozg_plan_run(plan, NULL, x, 2, x, 2, &one, c, 2, NULL, NULL), OZG_E_ARG, 2);
    expect_error(ctx, ozg_plan_run(plan, &one, NULL, 2, x, 2, &one, c, 2, NULL, NULL), OZG_E_ARG, 3);
    expect_error(ctx, ozg_plan_run(plan, &one, x, 1, x, 2, &one, c, 2, NULL, NULL), OZG_E_ARG, 4);
    expect_error(ctx, ozg_plan_run(plan, &one, x, 2, NULL, 2, &one, c, 2, NULL, NULL), OZG_E_ARG, 5);
    expect_error(ctx, ozg_plan_run(plan, &one, x, 2, x, 0, &one, c, 2, NULL, NULL), OZG_E_ARG, 6);
    expect_error(ctx, ozg_plan_run(plan, &one, x, 2, x, 2, NULL, c, 2, NULL, NULL), OZG_E_ARG, 7);
    expect_error(ctx, ozg_plan_run(plan, &one, x, 2, x, 2, &one, NULL, 2, NULL, NULL), OZG_E_ARG, 8);
    expect_error(ctx, ozg_plan_run(plan, &one, x, 2, x, 2, &one, c, 1, NULL, NULL), OZG_E_ARG, 9);
    expect_error(ctx, ozg_plan_run(plan, &one, x, 2, c, 2, &one, c, 2, NULL, NULL), OZG_E_ARG, 8);
    for (int i = 0; i < 4; i++)
        assert_true(c[i] == 9);
    assert_int_equal(ozg_plan_workspace(NULL), 0);
    ozg_plan_destroy(plan);
    ozg_plan_destroy(NULL);
}

static void wrong_operands(void **state)
{
    double x[6] = {1, 2, 3, 4, 5, 6};
    ozg_operand *p;
    ozg_accuracy acc = ozg_moduli(9);

    (void)state;
    expect_error(ctx, ozg_operand_create(NULL, ctx, 'd', 'A', 'N', 2, 3, x, 2, acc), OZG_E_ARG, 1);
    expect_error(NULL, ozg_operand_create(&p, NULL, 'd', 'A', 'N', 2, 3, x, 2, acc), OZG_E_ARG, 2);
    expect_error(ctx, ozg_operand_create(&p, ctx, 'e', 'A', 'N', 2, 3, x, 2, acc), OZG_E_ARG, 3);
    expect_error(ctx, ozg_operand_create(&p, ctx, 'd', 'C', 'N', 2, 3, x, 2, acc), OZG_E_ARG, 4);
    expect_error(ctx, ozg_operand_create(&p, ctx, 'd', 'A', 'X', 2, 3, x, 2, acc), OZG_E_ARG, 5);
    expect_error(ctx, ozg_operand_create(&p, ctx, 'd', 'A', 'N', -2, 3, x, 2, acc), OZG_E_ARG, 6);
    expect_error(ctx, ozg_operand_create(&p, ctx, 'd', 'B', 'N', 2, -3, x, 2, acc), OZG_E_ARG, 7);
    expect_error(ctx, ozg_operand_create(&p, ctx, 'd', 'A', 'N', 2, 3, NULL, 2, acc), OZG_E_ARG, 8);
    expect_error(ctx, ozg_operand_create(&p, ctx, 'd', 'A', 'N', 2, 3, x, 1, acc), OZG_E_ARG, 9);
    expect_error(ctx, ozg_operand_create(&p, ctx, 'd', 'A', 'T', 2, 3, x, 2, acc), OZG_E_ARG, 9);
    expect_error(ctx, ozg_operand_create(&p, ctx, 'd', 'B', 'N', 3, 2, x, 2, acc), OZG_E_ARG, 9);
    expect_error(ctx, ozg_operand_create(&p, ctx, 'd', 'B', 'N', 3, 2, x, 3, ozg_moduli(1)), OZG_E_ARG, 10);
    assert_null(p);
    acc = ozg_with_moduli(ozg_native(), 2);
    expect_error(ctx, ozg_operand_create(&p, ctx, 'd', 'A', 'N', 2, 3, x, 2, acc), OZG_E_UNSUPPORTED, 0);
    assert_null(p);
    ozg_operand_destroy(NULL);
}

/* A real product with both operands prepared or given; C is 2 x 2 or less. */
static ozg_status prepared(const ozg_operand *pa, const double *a, int64_t lda, const ozg_operand *pb,
                           const double *b, int64_t ldb, double *c, int64_t ldc, ozg_accuracy acc)
{
    return ozg_dgemm_prepared(ctx, 'N', 'N', 2, 2, 3, 1, pa, a, lda, pb, b, ldb, 0, c, ldc, acc, NULL);
}

/* The same with another shape. */
static ozg_status reshaped(const ozg_operand *pa, const ozg_operand *pb, int64_t m, int64_t n, int64_t k,
                           double *c)
{
    return ozg_dgemm_prepared(ctx, 'N', 'N', m, n, k, 1, pa, NULL, 0, pb, NULL, 0, 0, c, m, ozg_moduli(9),
                              NULL);
}

/* Prepared operands that do not fit the call: shape, type, side, accuracy, context; their numbers are 8
 * and 11. */
static void wrong_prepared_calls(void **state)
{
    double x[6] = {1, 2, 3, 4, 5, 6}, c[4] = {9, 9, 9, 9}, one[2] = {1, 0};
    ozg_operand *pa, *pb;
    ozg_context *other;
    ozg_accuracy acc = ozg_moduli(9);

    (void)state;
    assert_int_equal(ozg_create(&other, NULL), OZG_OK);
    assert_int_equal(ozg_operand_create(&pa, ctx, 'd', 'A', 'N', 2, 3, x, 2, acc), OZG_OK);
    assert_int_equal(ozg_operand_create(&pb, ctx, 'd', 'B', 'N', 3, 2, x, 3, acc), OZG_OK);
    expect_error(ctx, reshaped(pa, pb, 3, 2, 3, c), OZG_E_ARG, 8);
    expect_error(ctx, reshaped(pa, pb, 2, 2, 2, c), OZG_E_ARG, 8);
    expect_error(ctx, reshaped(pa, pb, 2, 1, 3, c), OZG_E_ARG, 11);
    expect_error(ctx, reshaped(pb, pb, 2, 2, 3, c), OZG_E_ARG, 8);
    expect_error(ctx, reshaped(pa, pa, 2, 2, 3, c), OZG_E_ARG, 11);
    expect_error(ctx, prepared(pa, NULL, 0, pb, NULL, 0, c, 2, ozg_moduli(10)), OZG_E_ARG, 8);
    expect_error(ctx, prepared(NULL, NULL, 2, pb, NULL, 0, c, 2, acc), OZG_E_ARG, 9);
    expect_error(ctx, prepared(NULL, x, 1, pb, NULL, 0, c, 2, acc), OZG_E_ARG, 10);
    expect_error(ctx, prepared(pa, NULL, 0, NULL, x, 2, c, 2, acc), OZG_E_ARG, 13);
    expect_error(ctx, prepared(pa, NULL, 0, NULL, c, 3, c, 2, acc), OZG_E_ARG, 15);
    expect_error(ctx, prepared(pa, NULL, 0, pb, NULL, 0, c, 1, acc), OZG_E_ARG, 16);
    expect_error(ctx, prepared(pa, NULL, 0, pb, NULL, 0, c, 2, ozg_moduli(0)), OZG_E_ARG, 17);
    expect_error(
        ctx, ozg_zgemm_prepared(ctx, 'N', 'N', 2, 2, 3, one, pa, NULL, 0, pb, NULL, 0, one, c, 2, acc, NULL),
        OZG_E_ARG, 8);
    expect_error(
        other, ozg_dgemm_prepared(other, 'N', 'N', 2, 2, 3, 1, pa, NULL, 0, pb, NULL, 0, 0, c, 2, acc, NULL),
        OZG_E_ARG, 8);
    for (int i = 0; i < 4; i++)
        assert_true(c[i] == 9);
    assert_int_equal(prepared(pa, NULL, 0, pb, NULL, 0, c, 2, acc), OZG_OK);
    assert_true(c[0] == 22 && c[3] == 64);
    ozg_operand_destroy(pa);
    ozg_operand_destroy(pb);
    ozg_destroy(other);
}

/* Operands without rows or columns, k > 0: a product with them is the empty one, as the plain call. */
static void empty_operands(void **state)
{
    static const char types[] = {'s', 'd', 'c', 'z'};
    double x[12] = {1, 2, 3, 4, 5, 6}, c[8] = {9, 9, 9, 9, 9, 9, 9, 9};

    (void)state;
    for (int q = 0; q < 16; q++) {
        const int64_t m = q & 4 ? 2 : 0, n = q & 4 ? 0 : q & 8 ? 0 : 2;
        const struct gemm g = {types[q % 4], 'N', 'N', m, n, 3, {1, 0}, {2, 0}, x, 2, x, 3, c, 2};
        const ozg_accuracy acc = q & 8 ? ozg_moduli(9) : ozg_width(11);
        ozg_operand *pa, *pb;
        ozg_report r;

        assert_int_equal(ozg_operand_create(&pa, ctx, g.type, 'A', 'N', m, 3, m ? x : NULL, 2, acc), OZG_OK);
        assert_int_equal(ozg_operand_create(&pb, ctx, g.type, 'B', 'N', 3, n, n ? x : NULL, 3, acc), OZG_OK);
        for (int which = 0; which < 4; which++) {
            memset(&r, 0xAA, sizeof r);
            if (gemm_run_prepared(ctx, &g, which & 1 ? pa : NULL, which & 2 ? pb : NULL, c, acc, &r) !=
                OZG_OK)
                fail_msg("%s", ozg_last_error(ctx));
            assert_int_equal(r.emulated, 0);
            assert_string_equal(r.reason, m == 0 ? "m = 0" : "n = 0");
            assert_true(r.bound == 0);
        }
        ozg_operand_destroy(pa);
        ozg_operand_destroy(pb);
    }
    for (int i = 0; i < 8; i++)
        assert_true(c[i] == 9);
}

/* Operands that no memory holds, where sizes in bytes may pass 2^64: refused before x is looked at. */
static void immense_operands(void **state)
{
    static const int log2_count[] = {4, 24, 30, 40};
    const double x = 1;

    (void)state;
    for (int kernel = 0; ozg_kernel_name(kernel) != NULL; kernel++) {
        ozg_config cfg = defaults();
        ozg_context *one;

        cfg.kernel = ozg_kernel_name(kernel);
        assert_int_equal(ozg_create(&one, &cfg), OZG_OK);
        for (int q = 0; q < 2 * 2 * 4 * 12; q++) { /* 2^49 to 2^60 elements */
            const int64_t count = INT64_C(1) << log2_count[q / 4 % 4],
                          k = INT64_C(1) << (49 + q / 16 - log2_count[q / 4 % 4]);
            const char type = q & 1 ? 's' : 'c', side = q & 2 ? 'A' : 'B';

            if (type == 'c' && q / 16 == 11)
                continue; /* 2^63 bytes: beyond the address space, another error */
            for (int s = 2; s <= 49; s++) {
                ozg_operand *p;

                if (ozg_width_of_moduli(type, k, s) < 1)
                    continue;
                expect_error(
                    one,
                    side == 'A' ? ozg_operand_create(&p, one, type, 'A', 'T', count, k, &x, k, ozg_moduli(s))
                                : ozg_operand_create(&p, one, type, 'B', 'N', k, count, &x, k, ozg_moduli(s)),
                    OZG_E_NOMEM, 0);
                assert_null(p);
            }
        }
        ozg_destroy(one);
    }
}

static ozg_status strided(const double *a, int64_t stride_a, const double *b, int64_t stride_b, double *c,
                          int64_t ldc, int64_t stride_c, int64_t count, ozg_accuracy acc)
{
    return ozg_dgemm_batch_strided(ctx, 'N', 'N', 2, 2, 2, 1, a, 2, stride_a, b, 2, stride_b, 0, c, ldc,
                                   stride_c, count, acc, NULL);
}

/* All arguments are checked before the first product: no C may be shared with any A, any B or another C. */
static void wrong_batches(void **state)
{
    double x[24], c[12];
    const double *pa[3] = {x, x + 4, x + 8}, *pb[3] = {x, NULL, x};
    double *pc[3] = {c, c + 4, c + 8}, *same[3] = {c, c + 4, c + 7};
    ozg_accuracy acc = ozg_moduli(9);

    (void)state;
    for (int i = 0; i < 24; i++)
        x[i] = i + 1;
    for (int i = 0; i < 12; i++)
        c[i] = 9;
    expect_error(ctx, strided(NULL, 4, x, 4, c, 2, 4, 3, acc), OZG_E_ARG, 8);
    expect_error(ctx, strided(x, 4, NULL, 4, c, 2, 4, 3, acc), OZG_E_ARG, 11);
    expect_error(ctx, strided(x, 4, x, 4, NULL, 2, 4, 3, acc), OZG_E_ARG, 15);
    expect_error(ctx, strided(x, 4, x, 4, c, 1, 4, 3, acc), OZG_E_ARG, 16);
    expect_error(ctx, strided(x, 4, x, 4, c, 2, 4, -1, acc), OZG_E_ARG, 18);
    expect_error(ctx, strided(x, 4, x, 4, c, 2, 4, 3, ozg_moduli(77)), OZG_E_ARG, 19);
    expect_error(ctx, strided(x, 4, x, 4, c, 2, 0, 3, acc), OZG_E_ARG, 0); /* all C the same */
    expect_error(ctx, strided(x, 4, x, 4, c, 2, 3, 3, acc), OZG_E_ARG, 0); /* each C meets the next */
    expect_error(ctx, strided(c, 0, x, 4, c + 4, 2, -4, 2, acc), OZG_E_ARG,
                 0); /* the second C is the first A */
    expect_error(ctx, strided(x, 4, c + 8, 0, c, 2, 4, 3, acc), OZG_E_ARG, 0); /* the third C is B */
    expect_error(ctx, ozg_dgemm_batch(ctx, 'N', 'N', 2, 2, 2, 1, NULL, 2, pa, 2, 0, pc, 2, 3, acc, NULL),
                 OZG_E_ARG, 8);
    expect_error(ctx, ozg_dgemm_batch(ctx, 'N', 'N', 2, 2, 2, 1, pa, 2, NULL, 2, 0, pc, 2, 3, acc, NULL),
                 OZG_E_ARG, 10);
    expect_error(ctx, ozg_dgemm_batch(ctx, 'N', 'N', 2, 2, 2, 1, pa, 2, pa, 2, 0, NULL, 2, 3, acc, NULL),
                 OZG_E_ARG, 13);
    expect_error(ctx, ozg_dgemm_batch(ctx, 'N', 'N', 2, 2, 2, 1, pa, 2, pb, 2, 0, pc, 2, 3, acc, NULL),
                 OZG_E_ARG, 10);
    expect_error(ctx, ozg_dgemm_batch(ctx, 'N', 'N', 2, 2, 2, 1, pa, 2, pa, 2, 0, pc, 2, -3, acc, NULL),
                 OZG_E_ARG, 15);
    expect_error(ctx, ozg_dgemm_batch(ctx, 'N', 'N', 2, 2, 2, 1, pa, 2, pa, 2, 0, same, 2, 3, acc, NULL),
                 OZG_E_ARG, 13);
    for (int i = 0; i < 12; i++)
        assert_true(c[i] == 9);
    assert_int_equal(ozg_dgemm_batch(ctx, 'N', 'N', 2, 2, 2, 1, NULL, 2, NULL, 2, 0, NULL, 2, 0, acc, NULL),
                     OZG_OK);
}

/* Too small a workspace: refused, C untouched; the sentence says how much is needed, and that much works. */
static void too_little_memory(void **state)
{
    double x[64], c[64];
    ozg_config cfg = defaults();
    ozg_context *small;
    ozg_plan *plan;

    (void)state;
    for (int i = 0; i < 64; i++) {
        x[i] = i;
        c[i] = 9;
    }
    cfg.memory_limit = 16;
    assert_int_equal(ozg_create(&small, &cfg), OZG_OK);
    expect_error(small, ozg_dgemm(small, 'N', 'N', 8, 8, 8, 1, x, 8, x, 8, 0, c, 8, ozg_moduli(16), NULL),
                 OZG_E_WORKSPACE, 0);
    expect_error(small, ozg_plan_create(&plan, small, 'd', 'N', 'N', 8, 8, 8, ozg_moduli(16)),
                 OZG_E_WORKSPACE, 0);
    assert_null(plan);
    for (int i = 0; i < 64; i++)
        assert_true(c[i] == 9);
    ozg_destroy(small);
}

/* A batch that fails leaves a zeroed report, whichever argument is wrong. */
static void reports_of_wrong_batches(void **state)
{
    static const ozg_report zeroed;
    double x[4] = {1, 2, 3, 4}, c[4];
    const double *a[1] = {x};
    double *out[1] = {c};

    (void)state;
    for (int q = 0; q < 5; q++) {
        static const int number[] = {8, 10, 13, 4, 14};
        ozg_report r;
        ozg_status status;

        memset(&r, 0xAA, sizeof r);
        status =
            ozg_dgemm_batch(ctx, 'N', 'N', q == 3 ? -1 : 2, 2, 2, 1, q == 0 ? NULL : a, 2, q == 1 ? NULL : a,
                            2, 0, q == 2 ? NULL : out, q == 4 ? 1 : 2, 1, ozg_moduli(9), &r);
        expect_error(ctx, status, OZG_E_ARG, number[q]);
        assert_memory_equal(&r, &zeroed, sizeof r);
    }
}

/* For 9 moduli: 71.5 bits, which take 5 moduli of up to 16 bits. */
static int products_of_9(const ozg_report *r)
{
    return strcmp(r->kernel, "avx2") == 0 ? 5 : 9;
}

/* What a report says about products whose facts are known. */
static void reports(void **state)
{
    double a[6] = {1, 2, 3, 4, 5, 6}, c[9], z[2] = {1, 0};
    ozg_report r;

    (void)state;
    memset(&r, 0xAA, sizeof r);
    a[4] = quiet_nan();
    assert_int_equal(ozg_dgemm(ctx, 'T', 'N', 3, 3, 2, 1, a, 2, a, 2, 0, c, 3, ozg_moduli(9), &r), OZG_OK);
    assert_int_equal(r.emulated, 1);
    assert_string_equal(r.reason, "");
    assert_string_equal(r.backend, "cpu");
    assert_string_equal(r.scheme, "crt");
    assert_non_null(r.kernel);
    assert_int_equal(r.moduli, 9);
    assert_int_equal(r.products, products_of_9(&r));
    assert_int_equal(r.special_rows, 1);
    assert_int_equal(r.special_cols, 1);
    assert_int_equal(r.tiles, 1);
    assert_int_equal(r.k_chunks, 1);
    assert_true(r.repaired == 0 && r.tested == 0 && r.workspace_bytes > 0);
    assert_true(r.seconds_total >= 0 && r.seconds_repair == 0 && r.seconds_transfer == 0);
    assert_int_equal(ozg_zgemm(ctx, 'T', 'N', 1, 1, 1, z, a, 1, a, 1, z, c, 1, ozg_moduli(9), &r), OZG_OK);
    assert_int_equal(r.products, 3 * products_of_9(&r));
    assert_int_equal(ozg_dgemm(ctx, 'N', 'N', 3, 3, 0, 1, NULL, 3, NULL, 1, 0, c, 3, ozg_moduli(9), &r),
                     OZG_OK);
    assert_int_equal(r.emulated, 0);
    assert_string_equal(r.reason, "k = 0");
    assert_int_equal(ozg_dgemm(ctx, 'N', 'N', 3, 3, 4, 0, NULL, 3, NULL, 4, 0, c, 3, ozg_moduli(9), &r),
                     OZG_OK);
    assert_int_equal(r.emulated, 0);
    assert_string_equal(r.reason, "alpha = 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(config_defaults),
        cmocka_unit_test(wrong_configs),
        cmocka_unit_test(names_and_versions),
        cmocka_unit_test(last_errors),
        cmocka_unit_test(wrong_plans),
        cmocka_unit_test(wrong_operands),
        cmocka_unit_test(wrong_prepared_calls),
        cmocka_unit_test(wrong_batches),
        cmocka_unit_test(too_little_memory),
        cmocka_unit_test(reports),
        cmocka_unit_test(empty_operands),
        cmocka_unit_test(immense_operands),
        cmocka_unit_test(reports_of_wrong_batches),
    };

    return cmocka_run_group_tests(tests, open_context, close_context);
}
