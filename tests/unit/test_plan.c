/*
 * test_plan.c - every plan stays below its memory limit, its places do not overlap, its tiles are whole, and
 * the limit that a refusal names is the smallest one.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cpu/parts.h"
#include "plan.h"
#include "unit.h"
#include "widths.h"

static ozg_context *open_context(const char *kernel)
{
    ozg_config cfg;
    ozg_context *ctx;

    assert_int_equal(ozg_config_init(&cfg), OZG_OK);
    cfg.kernel = kernel;
    cfg.threads = 3;
    assert_int_equal(ozg_create(&ctx, &cfg), OZG_OK);
    return ctx;
}

static size_t round_up(size_t x, size_t to)
{
    return (x + to - 1) / to * to;
}

/* Bytes of one plane: whole micro-panels, each aligned. */
static size_t plane_bytes(const ozg_layout *layout, int64_t lines, int64_t k)
{
    const size_t panels = round_up((size_t)lines, (size_t)layout->lines) / (size_t)layout->lines;

    return panels *
           round_up((size_t)(layout->lines * layout->word) * round_up((size_t)k, (size_t)layout->step), 64);
}

/* The place at *end is aligned and begins where the last one ended or later; *end moves behind it. */
static void check_place(size_t at, size_t bytes, size_t *end)
{
    assert_int_equal(at % 64, 0);
    assert_true(at >= *end);
    *end = at + bytes;
}

static void check_places(const ozg_plan *p)
{
    const ozg_kernel *kernel = p->kernel;
    const size_t parts = ozg_type_complex(p->shape.type) ? 2 : 1, native = p->shape.acc.kind == OZG_BY_NATIVE,
                 planes = ((size_t)p->rns->nmod + native) * (parts == 2 ? 3 : 1);
    const size_t line = 41 + (ozg_by_data(p->shape.acc) ? ((size_t)p->shape.k + 63) / 64 * 8 : 0);
    size_t end = 0;

    if (!p->prepared_a)
        check_place(p->lines_a, (size_t)p->shape.m * line, &end);
    if (!p->prepared_b)
        check_place(p->lines_b, (size_t)p->shape.n * line, &end);
    if (ozg_by_data(p->shape.acc))
        check_place(p->shifts, 4 * (size_t)p->shape.k, &end);
    if (!p->prepared_a)
        check_place(p->planes_a, planes * plane_bytes(&kernel->a, p->mt, p->kt), &end);
    if (!p->prepared_b)
        check_place(p->planes_b, planes * plane_bytes(&kernel->b, p->nt, p->kt), &end);
    if (p->winograd) {
        const ozg_halves half = ozg_halves_of(kernel, p->mt, p->nt, p->kt);
        const size_t sums = 4 * (size_t)p->rns->nmod * (parts == 2 ? 3 : 1);

        assert_true(half.rows > 0 && !p->prepared_a && !p->prepared_b);
        check_place(p->sums_a, sums * plane_bytes(&kernel->a, half.rows, half.count), &end);
        check_place(p->sums_b, sums * plane_bytes(&kernel->b, half.columns, half.count), &end);
        assert_true(p->scratch_bytes >= ozg_winograd_scratch_bytes(kernel, parts == 2, &half));
    }
    check_place(p->residues,
                parts * (size_t)(p->rns->nmod * p->rns->word) * round_up((size_t)p->mt, OZG_STRIP) *
                    (size_t)p->nt,
                &end);
    if (native)
        check_place(p->floors, 4 * parts * round_up((size_t)p->mt, OZG_STRIP) * (size_t)p->nt, &end);
    assert_true(p->threads >= 1 && p->scratch_bytes % 64 == 0);
    assert_true(p->scratch_bytes >= ozg_cpu_scratch_bytes(kernel, parts == 2, p->mt, p->nt));
    check_place(p->scratch, p->scratch_bytes * (size_t)p->threads, &end);
    assert_true(end + 63 <= p->workspace); /* the caller's memory may have any alignment */
}

static void check_tiles(const ozg_plan *p)
{
    const ozg_kernel *kernel = p->kernel;
    const ozg_shape *s = &p->shape;

    assert_true(p->mt >= 1 && p->mt <= s->m);
    assert_true(p->nt >= 1 && p->nt < s->n + kernel->b.lines);
    assert_true(p->kt >= 1 && p->kt <= s->k && p->kt <= 131071);
    if (p->mt < s->m)
        assert_true(p->mt % kernel->a.lines == 0 && p->mt % OZG_STRIP == 0);
    if (p->nt < s->n)
        assert_int_equal(p->nt % kernel->b.lines, 0);
    if (p->kt < s->k)
        assert_true(p->kt % 64 == 0 && p->kt % kernel->a.step == 0);
}

static int64_t random_size(struct rng *r)
{
    return 1 + (int64_t)(rng_next(r) >> 1 >> rng_between(r, 36, 62));
}

static ozg_shape random_shape(struct rng *r)
{
    static const char types[] = {'s', 'd', 'c', 'z'};
    ozg_shape s = {types[rng_below(r, 4)], 'N', 'N', random_size(r), random_size(r), random_size(r), {0, 0}};

    s.acc = rng_below(r, 2) ? ozg_moduli((int)rng_between(r, 8, 49)) : ozg_width((int)rng_between(r, 1, 140));
    return s;
}

/* The number of bytes in "... needs at least N". */
static size_t needed_bytes(const ozg_context *ctx)
{
    const char *at = strstr(ozg_last_error(ctx), "at least ");

    assert_non_null(at);
    return (size_t)strtoull(at + strlen("at least "), NULL, 10);
}

static void check_shape(ozg_context *ctx, const ozg_shape *s, int prepared, struct rng *r)
{
    const int width =
        s->acc.kind == ozg_moduli(2).kind ? widths_width(s->type, s->k, s->acc.value) : s->acc.value;
    const int nmod =
        s->acc.kind == ozg_moduli(2).kind ? s->acc.value : widths_moduli_for_bits(s->type, s->k, width);
    ozg_plan plan;
    size_t least;

    ctx->memory_limit = 1;
    if (nmod == 0 || width < 1) {
        assert_int_equal(ozg_plan_make(&plan, ctx, s, prepared & 1, prepared >> 1), OZG_E_UNSUPPORTED);
        return;
    }
    assert_int_equal(ozg_plan_make(&plan, ctx, s, prepared & 1, prepared >> 1), OZG_E_WORKSPACE);
    least = needed_bytes(ctx);
    for (int i = 0; i < 8; i++) {
        ctx->memory_limit = i == 0 ? least : least + (rng_next(r) >> rng_between(r, 30, 60));
        assert_int_equal(ozg_plan_make(&plan, ctx, s, prepared & 1, prepared >> 1), OZG_OK);
        assert_true(plan.workspace <= ctx->memory_limit);
        assert_int_equal(plan.nmod, nmod);
        assert_int_equal(plan.rns->word, plan.kernel->a.word);
        assert_true(plan.rns->word == 2 || plan.rns->nmod == nmod);
        assert_int_equal(plan.width, width);
        check_tiles(&plan);
        check_places(&plan);
    }
    ctx->memory_limit = least - 1;
    assert_int_equal(ozg_plan_make(&plan, ctx, s, prepared & 1, prepared >> 1), OZG_E_WORKSPACE);
    assert_int_equal(needed_bytes(ctx), least);
}

static void test_many_shapes_and_limits(void **state)
{
    struct rng r = {1};

    (void)state;
    for (int i = 0; ozg_kernel_name(i); i++) {
        ozg_context *ctx = open_context(ozg_kernel_name(i));

        for (int j = 0; j < 400; j++) {
            const ozg_shape s = random_shape(&r);

            ctx->winograd = j / 4 % 3;
            check_shape(ctx, &s, j % 4, &r);
        }
        ozg_destroy(ctx);
    }
}

/* Where one thread has enough memory, more threads are no reason to refuse: the plan takes fewer of them. */
static void test_threads_give_way(void **state)
{
    struct rng r = {3};
    int fewer = 0;

    (void)state;
    for (int i = 0; ozg_kernel_name(i); i++) {
        ozg_context *ctx = open_context(ozg_kernel_name(i));

        for (int j = 0; j < 300; j++) {
            ozg_shape s = {"sdcz"[rng_below(&r, 4)],
                           'N',
                           'N',
                           rng_between(&r, 1, 3000),
                           rng_between(&r, 1, 3000),
                           rng_between(&r, 1, 3000),
                           ozg_moduli((int)rng_between(&r, 8, 49))};
            const int prepared = j % 4;
            ozg_plan plan;
            size_t least;
            int wanted;

            ctx->threads = 1;
            ctx->memory_limit = 1;
            assert_int_equal(ozg_plan_make(&plan, ctx, &s, prepared & 1, prepared >> 1), OZG_E_WORKSPACE);
            least = needed_bytes(ctx);
            ctx->threads = 4;
            ctx->memory_limit = (size_t)1 << 40;
            assert_int_equal(ozg_plan_make(&plan, ctx, &s, prepared & 1, prepared >> 1), OZG_OK);
            wanted = plan.threads;
            ctx->memory_limit = least;
            if (ozg_plan_make(&plan, ctx, &s, prepared & 1, prepared >> 1) != OZG_OK)
                fail_msg(
                    "%c %lld x %lld x %lld, %d moduli, prepared %d: %zu bytes are enough for one thread: %s",
                    s.type, (long long)s.m, (long long)s.n, (long long)s.k, s.acc.value, prepared, least,
                    ozg_last_error(ctx));
            assert_true(plan.workspace <= least);
            fewer += plan.threads < wanted;
        }
        ozg_destroy(ctx);
    }
    assert_true(fewer > 0);
}

/* Winograd where the estimate says that it pays: large products of the 16-bit engine, never small ones. */
static void test_winograd_where_it_pays(void **state)
{
    (void)state;
    for (int i = 0; ozg_kernel_name(i); i++) {
        ozg_context *ctx = open_context(ozg_kernel_name(i));
        ozg_shape s = {'d', 'N', 'N', 2048, 2048, 2048, ozg_moduli(16)};
        ozg_plan plan;

        ctx->memory_limit = (size_t)1 << 34;
        assert_int_equal(ozg_plan_make(&plan, ctx, &s, 0, 0), OZG_OK);
        if (strcmp(plan.kernel->name, "avx2") == 0)
            assert_int_equal(plan.winograd, 1);
        if (strcmp(plan.kernel->name, "amxint8") == 0)
            assert_int_equal(plan.winograd, 0);
        s.m = s.n = s.k = 100;
        assert_int_equal(ozg_plan_make(&plan, ctx, &s, 0, 0), OZG_OK);
        assert_int_equal(plan.winograd, 0);
        ctx->winograd = OZG_WINOGRAD_ALWAYS;
        assert_int_equal(ozg_plan_make(&plan, ctx, &s, 0, 0), OZG_OK);
        assert_int_equal(plan.winograd, 1);
        ctx->memory_limit = plan.workspace - 1; /* not enough for that tile, but for smaller ones */
        assert_int_equal(ozg_plan_make(&plan, ctx, &s, 0, 0), OZG_OK);
        assert_true(plan.workspace <= ctx->memory_limit);
        ozg_destroy(ctx);
    }
}

/* Sizes that no memory holds: refused, without overflow in the arithmetic. */
static void test_immense_shapes(void **state)
{
    const int64_t size[] = {
        1,        131072, INT64_C(1) << 31, INT64_C(1) << 46, INT64_C(1317624576693539402), INT64_MAX / 2,
        INT64_MAX};
    const int sizes = (int)(sizeof size / sizeof *size);
    ozg_context *ctx = open_context(NULL);

    (void)state;
    ctx->memory_limit = (size_t)1 << 38;
    for (int i = 0; i < sizes; i++)
        for (int j = 0; j < sizes; j++)
            for (int p = 0; p < sizes; p++)
                for (int complex_ = 0; complex_ < 2; complex_++) {
                    ozg_shape s = {complex_ ? 'z' : 'd', 'N', 'N', size[i], size[j], size[p], ozg_moduli(49)};
                    ozg_plan plan;
                    ozg_status status = ozg_plan_make(&plan, ctx, &s, 0, 0);

                    if (size[i] > INT64_C(1) << 40 || size[j] > INT64_C(1) << 40)
                        assert_int_equal(status, OZG_E_WORKSPACE);
                    else
                        assert_int_equal(status, OZG_OK);
                    if (status == OZG_OK) {
                        check_tiles(&plan);
                        check_places(&plan);
                    }
                    s.acc = p % 2 ? ozg_native() : ozg_rounded();
                    status = ozg_plan_make(&plan, ctx, &s, 0, 0);
                    if (status == OZG_OK) {
                        check_tiles(&plan);
                        check_places(&plan);
                        assert_int_equal(ozg_plan_settle(&plan, 49), OZG_OK);
                        check_places(&plan);
                    } else {
                        assert_true(status == OZG_E_WORKSPACE || status == OZG_E_UNSUPPORTED);
                    }
                }
    ozg_destroy(ctx);
}

/* A product in the smallest tiles: the report tells them, and every entry is written once. */
static void test_smallest_tiles_run(void **state)
{
    enum { M = 150, N = 70, K = 333 };
    static double a[M * K], b[K * N], c[2][M * N];
    struct rng r = {2};

    (void)state;
    for (int i = 0; i < M * K; i++)
        a[i] = (double)rng_between(&r, -100, 100);
    for (int i = 0; i < K * N; i++)
        b[i] = (double)rng_between(&r, -100, 100);
    for (int i = 0; ozg_kernel_name(i); i++) {
        ozg_context *ctx = open_context(ozg_kernel_name(i));
        ozg_shape s = {'d', 'N', 'N', M, N, K, ozg_moduli(16)};
        ozg_plan plan;
        ozg_report report;

        for (int j = 0; j < M * N; j++)
            c[0][j] = c[1][j] = j;
        assert_int_equal(ozg_dgemm(ctx, 'N', 'N', M, N, K, 1, a, M, b, K, 1, c[0], M, s.acc, NULL), OZG_OK);
        ctx->memory_limit = 1;
        assert_int_equal(ozg_plan_make(&plan, ctx, &s, 0, 0), OZG_E_WORKSPACE);
        ctx->memory_limit = needed_bytes(ctx);
        assert_int_equal(ozg_plan_make(&plan, ctx, &s, 0, 0), OZG_OK);
        assert_true(plan.mt < M && plan.nt < N && plan.kt < K);
        assert_int_equal(ozg_dgemm(ctx, 'N', 'N', M, N, K, 1, a, M, b, K, 1, c[1], M, s.acc, &report),
                         OZG_OK);
        assert_int_equal(report.tiles, ((M + plan.mt - 1) / plan.mt) * ((N + plan.nt - 1) / plan.nt));
        assert_int_equal(report.k_chunks, (K + plan.kt - 1) / plan.kt);
        assert_true(report.workspace_bytes <= ctx->memory_limit);
        assert_memory_equal(c[0], c[1], sizeof c[0]);
        ozg_destroy(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_shapes_and_limits), cmocka_unit_test(test_threads_give_way),
        cmocka_unit_test(test_winograd_where_it_pays), cmocka_unit_test(test_immense_shapes),
        cmocka_unit_test(test_smallest_tiles_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
