/*
 * test_apart.c - native products with rows or columns far out, which are computed apart with moduli of their
 * own: the promise, the same bits on every machine, and that it pays.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "accuracy.h"
#include "fixture.h"

/* Lines that are to be far out. */
enum { ROWS = 1, COLUMNS = 2 };

static const char types[] = {'s', 'd', 'c', 'z'};

static int open_all(void **state)
{
    (void)state;
    return fixture_open(8 << 20, 1);
}

/* Ordinary numbers. */
static struct gemm ordinary(char type, const char trans[2], int64_t m, int64_t n, int64_t k, int q)
{
    struct gemm g = {type, trans[0], trans[1], m, n, k, {1, 0}, {0, 0}, NULL, 0, NULL, 0, NULL, 0};
    struct rng r = {(uint64_t)q + 9000};

    gemm_layout(&g, &arena, (struct padding){q % 3, q / 3 % 3, q % 2}, q / 2 % 2);
    gemm_fill(&g, &r, FAMILY_NORMAL, FAMILY_NORMAL, FAMILY_NORMAL);
    return g;
}

/* Element p of row i of op(A) or column i of op(B), times 2^e. */
static void scale_element(const struct gemm *g, int is_a, int64_t i, int64_t p, int e)
{
    const struct view v = is_a ? gemm_view_a(g) : gemm_view_b(g);

    for (int part = 0; part < type_parts(g->type); part++) {
        const int64_t at = is_a ? view_index(&v, i, p, part) : view_index(&v, p, i, part);

        number_set(g->type, (void *)(uintptr_t)v.x, at, ldexp(number_get(g->type, v.x, at), e));
    }
}

static void set_element(const struct gemm *g, int is_a, int64_t i, int64_t p, double x)
{
    const struct view v = is_a ? gemm_view_a(g) : gemm_view_b(g);

    number_set(g->type, (void *)(uintptr_t)v.x, is_a ? view_index(&v, i, p, 0) : view_index(&v, p, i, 0), x);
}

/* About one line in `every`, but not evenly. SOME: 18 in a row, of which the sample sees one or two, and others. */
enum { SOME = 0 };

static int is_chosen(int64_t i, int every)
{
    return every == SOME ? (i >= 40 && i < 58) || i % 31 == 30 : (i * 7 / every + i) % every == every / 2;
}

/* A spike in one line of `every` meets elements of the other side that are as small: an evil line. */
static void make_evil_by(const struct gemm *g, int is_a, int every, int e)
{
    const int64_t lines = is_a ? g->m : g->n, others = is_a ? g->n : g->m, half = g->k / 2;

    for (int64_t i = 0; i < lines; i++)
        if (is_chosen(i, every))
            scale_element(g, is_a, i, is_a ? i % half : half + i % half, e);
    for (int64_t p = is_a ? 0 : half; p < (is_a ? half : 2 * half); p++) {
        int met = 0;

        for (int64_t i = 0; i < lines; i++)
            met |= is_chosen(i, every) && i % half == (is_a ? p : p - half);
        for (int64_t j = 0; j < others && met; j++)
            scale_element(g, !is_a, j, p, -e);
    }
}

static void make_evil(const struct gemm *g, int is_a, int every)
{
    make_evil_by(g, is_a, every, 40);
}

/* Elements of one line in `every` times exp(10 N) each, N from twelve uniform numbers, as powers of two. */
static void make_wide(const struct gemm *g, int is_a, int every, int q)
{
    struct rng r = {(uint64_t)q + 77};

    for (int64_t i = 0; i < (is_a ? g->m : g->n); i++)
        for (int64_t p = 0; p < g->k && is_chosen(i, every); p++) {
            int64_t sum = 0;

            for (int u = 0; u < 12; u++)
                sum += rng_between(&r, -500, 500);
            scale_element(g, is_a, i, p, (int)(sum * 144 / 10000));
        }
}

static int planes(char type, int moduli)
{
    return (moduli + 1) * (type_is_complex(type) ? 3 : 1);
}

/* Some lines have fewer moduli than others. */
static int is_apart(const struct gemm *g, const ozg_report *r)
{
    return r->products < planes(g->type, r->moduli);
}

/* The same bits and facts as `report` and `after` in this context. */
static void check_same(ozg_context *ctx, const struct gemm *g, const void *after, const ozg_report *report,
                       const char *label)
{
    ozg_report other;

    assert_true(accuracy_same(ctx, g, ozg_native(), after, &other, label));
    assert_true(other.moduli == report->moduli && other.width == report->width);
    assert_true(other.products <= report->products && other.exact == report->exact); /* 16 bits: fewer */
    assert_true(other.tested == report->tested && other.repaired == report->repaired);
    assert_memory_equal(&other.bound, &report->bound, sizeof report->bound);
}

/* The smallest memory in which the product is done, about. */
static size_t least_memory(const struct gemm *g)
{
    for (size_t limit = 1 << 14;; limit += limit / 16) {
        ozg_context *ctx = kernel_context(NULL, 1, limit, UINT64_MAX);
        void *c = gemm_image(g);
        const ozg_status status = gemm_run(ctx, g, c, ozg_native(), NULL);

        ozg_destroy(ctx);
        free(c);
        if (status == OZG_OK)
            return limit;
        assert_int_equal(status, OZG_E_WORKSPACE);
    }
}

static void check_everywhere(const struct gemm *g, const void *after, const ozg_report *report)
{
    const size_t least = least_memory(g);

    for (int kernel = 1; kernel < kernels.count; kernel++)
        check_same(kernels.ctx[kernel], g, after, report, kernels.name[kernel]);
    for (int q = 0; q < 4; q++) {
        ozg_context *ctx = kernel_context(kernels.name[q % kernels.count], q % 2 ? 3 : 1,
                                          q ? least * (size_t)(q + 4) / 4 : 0, UINT64_MAX);

        check_same(ctx, g, after, report, "threads and memory");
        ozg_destroy(ctx);
    }
}

/* Computed (in parts or not), the promise kept, the same everywhere. Returns the report. */
static ozg_report check(const struct gemm *g, int apart, const char *label)
{
    struct exact exact;
    ozg_report report;
    void *after = accuracy_run(kernels.ctx[0], g, ozg_native(), &report, label);

    assert_non_null(after);
    exact_open(&exact, g);
    assert_true(native_holds(&exact, g->c, after, label));
    assert_true(report_holds(&exact, g->c, after, &report, label));
    if (is_apart(g, &report) != apart) {
        gemm_print(g, label);
        fail_msg("%d moduli, %d products, %d repaired", report.moduli, report.products, (int)report.repaired);
    }
    check_everywhere(g, after, &report);
    exact_close(&exact);
    free(after);
    return report;
}

/* Evil rows, columns, and both, of all types and transposes, with all kinds of scalars. */
static void evil_lines(void **state)
{
    static const char *const trans[] = {"NN", "TN", "NT", "CC"};

    (void)state;
    for (int q = 0; q < 3 * 4; q++) {
        struct gemm g = ordinary(types[(q + q / 4) % 4], trans[q % 4], 192, 184, 24 + q, q);
        const int sides = 1 + q / 4;
        const int single = g.type == 's' || g.type == 'c';
        const int e = sides == (ROWS | COLUMNS) && single ? 24 : 40; /* more, and repairs pay */
        ozg_report report;

        accuracy_scalars(&g, q);
        if (sides & ROWS)
            make_evil_by(&g, 1, SOME, e);
        if (sides & COLUMNS)
            make_evil_by(&g, 0, SOME, e);
        report = check(&g, 1, "evil");
        assert_true(100 * report.repaired <= (uint64_t)(4 * g.m * g.n));
    }
}

/* Rows and columns with Inf and NaN, and zero ones, beside far ones and among them; C is read. */
static void special_lines(void **state)
{
    (void)state;
    for (int q = 0; q < 4; q++) {
        struct gemm g = ordinary(types[q], q % 2 ? "TN" : "NC", 195, 192, 33, q + 50);

        g.beta[0] = q % 2 ? -2 : 0.75;
        make_evil(&g, q < 2, SOME);
        for (int64_t p = 0; p < g.k; p++)
            set_element(&g, 1, 11, p, 0);
        for (int64_t i = 1; i < g.m; i += 19)
            set_element(&g, 1, i, i % g.k, i % 2 ? INFINITY : NAN);
        for (int64_t j = 0; j < g.n; j++) /* of the far lines, too */
            if (q >= 2 && is_chosen(j, SOME) && j % 3 == 0)
                set_element(&g, 0, j, 5, -INFINITY);
        check(&g, 1, "special");
    }
}

/* Native holds for `rows` rows from row i0 on. */
static void check_rows(const struct gemm *g, const void *after, int64_t i0, int64_t rows)
{
    const size_t size = type_bytes(g->type);
    struct gemm some = *g;
    struct exact exact;
    struct excess excess;

    some.m = rows;
    some.a = (const char *)g->a + (size_t)i0 * size * (size_t)(g->transa == 'N' ? 1 : g->lda);
    some.c = (char *)g->c + (size_t)i0 * size;
    exact_open(&exact, &some);
    native_excess(&exact, some.c, (const char *)after + (size_t)i0 * size, &excess);
    assert_int_equal(excess.compared, component_count(&some));
    assert_int_equal(excess.beyond, 0);
    exact_close(&exact);
}

/* One row in 16 times exp(10 N): parts would save between one and two products, which is not enough. */
static void wide_rows(void **state)
{
    enum { SIDE = 640, K = 256 };
    const char *const trans[] = {"NN", "TT"};

    (void)state;
    for (int q = 0; q < 2; q++) {
        struct gemm g = ordinary('d', trans[q], SIDE, SIDE, K, q);
        ozg_report before, report;
        void *after = accuracy_run(kernels.ctx[0], &g, ozg_native(), &before, "ordinary");

        assert_non_null(after);
        assert_false(is_apart(&g, &before));
        assert_int_equal(before.repaired, 0);
        free(after);
        make_wide(&g, q == 0, 16, q);
        after = accuracy_run(kernels.ctx[0], &g, ozg_native(), &report, "wide");
        assert_non_null(after);
        assert_false(is_apart(&g, &report));
        assert_in_range(report.moduli, before.moduli + 1, before.moduli + 3);
        assert_true(100 * report.repaired < SIDE * SIDE);
        check_same(kernels.ctx[kernels.count > 1], &g, after, &report, "wide");
        check_rows(&g, after, 0, 24);
        check_rows(&g, after, SIDE - 9, 9);
        free(after);
    }
}

/* Evil rows in a square product: nearly all of C has the moduli of ordinary data. */
static void evil_rows_pay(void **state)
{
    enum { SIDE = 256 };
    struct gemm g = ordinary('d', "NN", SIDE, SIDE, SIDE, 7);
    ozg_report before, report;
    void *after = accuracy_run(kernels.ctx[0], &g, ozg_native(), &before, "ordinary");

    (void)state;
    assert_non_null(after);
    free(after);
    make_evil(&g, 1, 16);
    after = accuracy_run(kernels.ctx[0], &g, ozg_native(), &report, "evil");
    assert_non_null(after);
    assert_true(report.moduli >= before.moduli + 5);
    assert_true(report.products <= before.products + 1);
    assert_true(100 * report.repaired < SIDE * SIDE);
    check_rows(&g, after, 0, 20);
    free(after);
}

/* Too many such lines, whether the sample shows it or not; few lines; moduli given; a prepared operand. */
static void in_one(void **state)
{
    struct gemm g = ordinary('d', "NN", 96, 88, 30, 1);
    const int64_t far = 6; /* in the sample, whose 16 rows are every sixth one */
    ozg_operand *b;
    ozg_report report;
    void *c;

    (void)state;
    make_evil(&g, 1, 3);
    check(&g, 0, "every third row");
    g = ordinary('d', "NN", 96, 88, 30, 1);
    for (int64_t i = far; i < 48; i++)
        if (i == far || i % 6)
            scale_element(&g, 1, i, i % g.k, 40);
    for (int64_t j = 0; j < g.n; j++)
        for (int64_t p = 0; p < g.k; p++)
            scale_element(&g, 0, j, p, p < 20 ? -40 : 0);
    check(&g, 0, "one row of the sample, many others");
    g = ordinary('d', "NN", 39, 39, 30, 1);
    make_evil(&g, 1, SOME);
    check(&g, 0, "a far row that is not sampled");
    g = ordinary('d', "NN", 192, 184, 40, 1);
    make_evil(&g, 1, SOME);
    c = gemm_image(&g);
    assert_int_equal(gemm_run(kernels.ctx[0], &g, c, ozg_with_moduli(ozg_native(), 15), &report), OZG_OK);
    assert_true(report.moduli == 15 && report.products == 16 && report.repaired > 0);
    assert_int_equal(
        ozg_operand_create(&b, kernels.ctx[0], 'd', 'B', 'N', g.k, g.n, g.b, g.ldb, ozg_native()), OZG_OK);
    assert_int_equal(gemm_run_prepared(kernels.ctx[0], &g, NULL, b, c, ozg_native(), &report), OZG_OK);
    assert_true(report.products == report.moduli + 1);
    ozg_operand_destroy(b);
    free(c);
}

/* ozg_bound_dgemm() tells the same facts without the product. */
static void prediction(void **state)
{
    (void)state;
    for (int q = 0; q < 3; q++) {
        struct gemm g = ordinary('d', "NT", 192, 184, 50, q);
        ozg_context *limited = kernel_context(NULL, 1, 0, 0);
        struct exact exact;
        struct excess excess;
        ozg_report predicted, report;
        void *after;

        if (q != 1)
            make_evil(&g, 1, SOME);
        if (q != 0)
            make_evil(&g, 0, SOME);
        after = accuracy_run(kernels.ctx[0], &g, ozg_native(), &report, "predicted");
        assert_non_null(after);
        assert_int_equal(ozg_bound_dgemm(kernels.ctx[0], 'N', 'T', g.m, g.n, g.k, 1, g.a, g.lda, g.b, g.ldb,
                                         ozg_native(), &predicted),
                         OZG_OK);
        assert_true(is_apart(&g, &report) && predicted.moduli == report.moduli);
        assert_true(predicted.products == report.products && predicted.width == report.width);
        assert_true(predicted.tiles == report.tiles && predicted.exact == report.exact);
        exact_open(&exact, &g);
        bound_excess(&exact, g.c, after, predicted.bound, &excess);
        assert_int_equal(excess.beyond, 0);
        exact_close(&exact);
        if (predicted.repaired > 0) { /* refused before C is touched */
            void *c = gemm_image(&g);

            assert_int_equal(gemm_run(limited, &g, c, ozg_native(), NULL), OZG_E_UNSUPPORTED);
            assert_true(gemm_same(&g, c, g.c, "refused"));
            free(c);
        }
        ozg_destroy(limited);
        free(after);
    }
}

static void note(void *arg, double done)
{
    double *seen = arg; /* the last share, calls, calls that did not rise */

    seen[2] += done > seen[0] ? 0 : 1;
    seen[0] = done;
    seen[1]++;
}

static void progress(void **state)
{
    struct gemm g = ordinary('d', "NN", 192, 191, 40, 3);
    double seen[3] = {0, 0, 0};
    ozg_config cfg;
    ozg_context *ctx;
    ozg_report report;
    void *c = gemm_image(&g);

    (void)state;
    make_evil_by(&g, 1, SOME, 60);
    make_evil_by(&g, 0, SOME, 60);
    ozg_config_init(&cfg);
    cfg.progress = note;
    cfg.progress_arg = seen;
    cfg.memory_limit = least_memory(&g);
    assert_int_equal(ozg_create(&ctx, &cfg), OZG_OK);
    assert_int_equal(gemm_run(ctx, &g, c, ozg_native(), &report), OZG_OK);
    assert_true(is_apart(&g, &report) && report.tiles > 3);
    assert_true(seen[0] >= 1 && seen[0] <= 1 && seen[2] < 1);
    assert_int_equal((int64_t)seen[1], report.tiles);
    ozg_destroy(ctx);
    free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evil_lines),    cmocka_unit_test(special_lines), cmocka_unit_test(wide_rows),
        cmocka_unit_test(evil_rows_pay), cmocka_unit_test(in_one),        cmocka_unit_test(prediction),
        cmocka_unit_test(progress),
    };

    return cmocka_run_group_tests(tests, open_all, fixture_close);
}
