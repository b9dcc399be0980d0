/*
 * test_native.c - the policy OZG_AUTOMATIC on CUDA: what goes to cuBLAS and what does not, over stand-ins for
 * the driver and for cuBLAS. Products of small integers are exact, so that the CPU says what is right.
 * with: ozg_fake_cuda
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>

#include "device_context.h"

#include "cuda/native.h"
#include "gemm.h"

/* ---- the estimate ------------------------------------------------------------------------------- */

static int native_on(int capability, int wgmma, int multiprocessors, char type, int64_t m, int64_t n,
                     int64_t k)
{
    const ozg_shape s = {type, 'N', 'N', m, n, k, ozg_native()};

    return ozg_cuda_native_faster(capability, wgmma, multiprocessors, &s);
}

/* What was measured on an H200 (doc/performance.md). */
static void measured(void **state)
{
    static const struct {
        char type;
        int64_t m, k;
        int native;
    } row[] = {{'d', 1024, 1024, 1},   {'d', 2048, 2048, 1}, {'d', 4096, 4096, 0}, {'d', 8192, 8192, 0},
               {'d', 16384, 16384, 0}, {'d', 8192, 1024, 1}, {'d', 8192, 256, 1},  {'z', 2048, 2048, 0},
               {'z', 4096, 4096, 0},   {'z', 8192, 8192, 0}, {'s', 4096, 4096, 0}, {'s', 8192, 8192, 0}};

    (void)state;
    for (size_t q = 0; q < sizeof row / sizeof *row; q++)
        assert_int_equal(native_on(90, 1, 132, row[q].type, row[q].m, row[q].m, row[q].k), row[q].native);
}

/* GPUs for graphics have next to no FP64, but FP32; tiny products are native everywhere. */
static void other_devices(void **state)
{
    static const int capability[] = {80, 86, 87, 89, 90, 100, 103, 110, 120, 121, 130};

    (void)state;
    for (size_t q = 0; q < sizeof capability / sizeof *capability; q++)
        for (const char *type = "sdcz"; *type; type++)
            assert_int_equal(native_on(capability[q], 0, 100, *type, 16, 16, 16), 1);
    assert_int_equal(native_on(89, 0, 128, 'd', 1024, 1024, 1024), 0);
    assert_int_equal(native_on(121, 0, 128, 'z', 1024, 1024, 1024), 0);
    assert_int_equal(native_on(89, 0, 128, 's', 1024, 1024, 1024), 1);
    assert_int_equal(native_on(90, 0, 132, 'd', 8192, 8192, 8192), 1); /* the kernel that is not for it */
}

/* ---- contexts ----------------------------------------------------------------------------------- */

/* No others but these are tried. */
static void set_libraries(const char *first, const char *second)
{
    ozg_cuda_cublas_names[0] = first;
    ozg_cuda_cublas_names[1] = second;
    ozg_cuda_cublas_names[2] = NULL;
}

static ozg_config automatic(void)
{
    ozg_config cfg = cuda_config();

    cfg.policy = OZG_AUTOMATIC;
    cfg.device_pointers = 1;
    cfg.memory_limit = 256 << 20;
    set_libraries(OZG_FAKE_CUBLAS, NULL);
    return cfg;
}

static void *stand_in(const char *name)
{
    void *library = dlopen(OZG_FAKE_CUBLAS, RTLD_NOW);
    void *address = library ? dlsym(library, name) : NULL;

    assert_non_null(address);
    return address;
}

static void fail_cublas(int nth, int status, int create)
{
    void (*set)(int nth_call, int its_status, int create_status);

    *(void **)&set = stand_in("fake_cublas_set");
    set(nth, status, create);
}

static int cublas_count(const char *name)
{
    int (*count)(void);

    *(void **)&count = stand_in(name);
    return count();
}

static ozg_context *open_automatic(void)
{
    const ozg_config cfg = automatic();
    ozg_context *ctx;

    if (ozg_create(&ctx, &cfg))
        fail_msg("%s", ozg_last_error(NULL));
    return ctx;
}

static void refused(void **state)
{
    ozg_config cfg = automatic();

    (void)state;
    cfg.policy = OZG_OFF;
    refuse(&cfg, OZG_E_UNSUPPORTED, "OZG_EMULATE");
    cfg.policy = OZG_AUTOMATIC;
    cfg.device_pointers = 0;
    refuse(&cfg, OZG_E_UNSUPPORTED, "device_pointers");
    cfg.backend = OZG_BACKEND_CPU;
    refuse(&cfg, OZG_E_UNSUPPORTED, "OZG_EMULATE");
    assert_int_equal(fake_count().events, 0);
}

static void no_cublas(void **state)
{
    const ozg_config cfg = automatic();

    (void)state;
    set_libraries("libno_such_cublas.so.1", NULL);
    refuse(&cfg, OZG_E_UNSUPPORTED, "libno_such_cublas.so.1");
    refuse(&cfg, OZG_E_UNSUPPORTED, "OZG_EMULATE"); /* told again */
    assert_int_equal(fake_count().events, 0);
    check_outside();
}

static void incomplete_cublas(void **state)
{
    const ozg_config cfg = automatic();

    (void)state;
    set_libraries("libm.so.6", NULL);
    refuse(&cfg, OZG_E_UNSUPPORTED, "libm.so.6");
}

static void broken_cublas(void **state)
{
    const ozg_config cfg = automatic();
    ozg_context *ctx;

    (void)state;
    fail_cublas(0, 0, 1);
    refuse(&cfg, OZG_E_UNSUPPORTED, "status 1");
    fail_cublas(0, 0, 3);
    refuse(&cfg, OZG_E_NOMEM, "status 3");
    assert_int_equal(fake_count().events, 0);
    fail_cublas(0, 0, 0);
    assert_int_equal(ozg_create(&ctx, &cfg), OZG_OK);
    assert_int_equal(cublas_count("fake_cublas_handles"), 1);
    ozg_destroy(ctx);
    assert_int_equal(cublas_count("fake_cublas_handles"), 0);
    assert_int_equal(fake_count().events, 0);
    check_outside();
}

/* What is no library, lacks a function or gives no handle is passed over; what is kept serves all contexts. */
static void next_cublas(void **state)
{
    static const char *const useless[] = {"libno_such_cublas.so.1", "libm.so.6", OZG_FAKE_CUBLAS_NONE};
    const ozg_config cfg = automatic();
    ozg_context *ctx[3];

    (void)state;
    set_libraries(OZG_FAKE_CUBLAS_NONE, NULL);
    refuse(&cfg, OZG_E_UNSUPPORTED, "status 1");
    fail_cublas(0, 0, 3);
    set_libraries(OZG_FAKE_CUBLAS_NONE, OZG_FAKE_CUBLAS);
    refuse(&cfg, OZG_E_UNSUPPORTED, "status 1"); /* that of the first */
    set_libraries("libm.so.6", OZG_FAKE_CUBLAS);
    refuse(&cfg, OZG_E_NOMEM, "status 3");
    fail_cublas(0, 0, 0);
    for (int q = 0; q < 3; q++) {
        set_libraries(useless[2 - q], q == 0 ? OZG_FAKE_CUBLAS : NULL);
        assert_int_equal(ozg_create(&ctx[q], &cfg), OZG_OK);
        assert_int_equal(cublas_count("fake_cublas_handles"), q + 1);
    }
    fail_cublas(0, 0, 3); /* the one that is kept, and no other */
    set_libraries(OZG_FAKE_CUBLAS_NONE, NULL);
    refuse(&cfg, OZG_E_NOMEM, "status 3");
    for (int q = 0; q < 3; q++)
        ozg_destroy(ctx[q]);
    assert_int_equal(cublas_count("fake_cublas_handles"), 0);
    assert_int_equal(fake_count().events, 0);
    check_outside();
}

/* ---- products ----------------------------------------------------------------------------------- */

/* Integers in -8 .. 8: all sums are exact in binary32. */
static void *integers(char type, int64_t rows, int64_t cols, int64_t ld, struct rng *r, size_t *bytes)
{
    const int64_t count = matrix_elements(rows, cols, ld) * type_parts(type);
    void *x;

    *bytes = (size_t)count * type_number_bytes(type);
    x = malloc(*bytes);
    assert_non_null(x);
    for (int64_t i = 0; i < count; i++)
        number_set(type, x, i, (double)rng_between(r, -8, 8));
    return x;
}

/* A product, its matrices on the device, and what the CPU makes of it. */
typedef struct trial {
    struct gemm host, device;
    size_t bytes[3];
    void *expected;
} trial;

static trial make(char type, char transa, char transb, int64_t m, int64_t n, int64_t k, int beta)
{
    struct rng r = {(uint64_t)type + (uint64_t)(m + n + k)};
    trial t = {.host = {.type = type, .transa = transa, .transb = transb, .m = m, .n = n, .k = k}};
    struct gemm *g = &t.host;
    ozg_context *cpu;

    g->alpha[0] = 3;
    g->alpha[1] = type_is_complex(type) ? -2 : 0;
    g->beta[0] = beta ? -0.5 : 0;
    g->beta[1] = beta && type_is_complex(type) ? 1 : 0;
    g->lda = gemm_rows_a(g) + 3;
    g->ldb = gemm_rows_b(g) + 2;
    g->ldc = m + 1;
    g->a = integers(type, gemm_rows_a(g), gemm_cols_a(g), g->lda, &r, &t.bytes[0]);
    g->b = integers(type, gemm_rows_b(g), gemm_cols_b(g), g->ldb, &r, &t.bytes[1]);
    g->c = integers(type, m, n, g->ldc, &r, &t.bytes[2]);
    t.device = *g;
    t.device.a = fake_allocate(t.bytes[0]);
    t.device.b = fake_allocate(t.bytes[1]);
    t.device.c = fake_allocate(t.bytes[2]);
    fake_write((void *)(uintptr_t)t.device.a, g->a, t.bytes[0]);
    fake_write((void *)(uintptr_t)t.device.b, g->b, t.bytes[1]);
    fake_write(t.device.c, g->c, t.bytes[2]);
    t.expected = g->c;
    assert_int_equal(ozg_create(&cpu, NULL), OZG_OK);
    assert_int_equal(gemm_run(cpu, g, g->c, ozg_rounded(), NULL), OZG_OK);
    ozg_destroy(cpu);
    return t;
}

static void check_result(const trial *t)
{
    void *c = malloc(t->bytes[2]);

    assert_non_null(c);
    fake_read(c, t->device.c, t->bytes[2]);
    for (int64_t i = 0; i < (int64_t)(t->bytes[2] / type_number_bytes(t->host.type)); i++)
        if (number_get(t->host.type, c, i) !=
            number_get(t->host.type, t->expected, i)) /* zeros may differ in sign */
            fail_msg("number %lld is %g, not %g", (long long)i, number_get(t->host.type, c, i),
                     number_get(t->host.type, t->expected, i));
    free(c);
}

static void drop(trial *t)
{
    fake_free((void *)(uintptr_t)t->device.a);
    fake_free((void *)(uintptr_t)t->device.b);
    fake_free(t->device.c);
    free((void *)(uintptr_t)t->host.a);
    free((void *)(uintptr_t)t->host.b);
    free(t->host.c);
}

static void check_native(const ozg_report *r)
{
    assert_int_equal(r->emulated, 0);
    assert_non_null(strstr(r->reason, "cuBLAS is faster"));
    assert_string_equal(r->backend, "cuda");
    assert_string_equal(r->kernel, "cublas");
    assert_string_equal(r->scheme, "");
    assert_true(isinf(r->bound));
    assert_int_equal(r->exact, 0);
    assert_int_equal(r->moduli, 0);
    assert_int_equal(r->products, 0);
}

/* All types, transposes, scalars and leading dimensions reach cuBLAS as they are. */
static void native(void **state)
{
    static const char flags[] = "NTC";
    ozg_context *ctx = open_automatic();

    (void)state;
    for (const char *type = "sdcz"; *type; type++)
        for (int q = 0; q < 9; q++) {
            trial t = make(*type, flags[q / 3], flags[q % 3], 5 + q, 9 - q / 2, 7 + q % 4, q % 2);
            const int calls = cublas_count("fake_cublas_calls");
            ozg_report r;

            memset(&r, 0xA5, sizeof r);
            if (gemm_run(ctx, &t.device, t.device.c, ozg_native(), &r))
                fail_msg("%s", ozg_last_error(ctx));
            check_native(&r);
            assert_int_equal(ozg_report_wait(ctx, &r), OZG_OK);
            check_native(&r);
            assert_int_equal(cublas_count("fake_cublas_calls"), calls + 1);
            check_result(&t);
            drop(&t);
        }
    ozg_destroy(ctx);
    check_outside();
}

/* Who asks for bits or proofs gets them, also under this policy. */
static void emulated(void **state)
{
    const ozg_accuracy acc[] = {ozg_rounded(), ozg_moduli(14), ozg_width(53),
                                ozg_with_moduli(ozg_native(), 15)};
    ozg_context *ctx = open_automatic();

    (void)state;
    for (size_t q = 0; q < sizeof acc / sizeof *acc; q++) {
        trial t = make('d', 'N', 'T', 9, 6, 8, 1);
        ozg_report r;

        assert_int_equal(gemm_run(ctx, &t.device, t.device.c, acc[q], &r), OZG_OK);
        assert_int_equal(ozg_report_wait(ctx, &r), OZG_OK);
        assert_int_equal(r.emulated, 1);
        check_result(&t);
        drop(&t);
    }
    assert_int_equal(cublas_count("fake_cublas_calls"), 0);
    ozg_destroy(ctx);
}

/* Without FP64 units a product that is not tiny is emulated; under OZG_EMULATE all are. */
static void emulated_where_faster(void **state)
{
    ozg_config cfg = automatic();
    trial t = make('d', 'N', 'N', 90, 90, 90, 0), small = make('d', 'N', 'N', 8, 8, 8, 0);
    ozg_context *ctx;
    ozg_report r;

    (void)state;
    fake.minor = 9;
    fake.multiprocessors = 1;
    ctx = open_automatic();
    assert_int_equal(gemm_run(ctx, &t.device, t.device.c, ozg_native(), &r), OZG_OK);
    assert_int_equal(ozg_report_wait(ctx, &r), OZG_OK);
    assert_int_equal(r.emulated, 1);
    assert_int_equal(cublas_count("fake_cublas_calls"), 0);
    check_result(&t);
    ozg_destroy(ctx);
    cfg.policy = OZG_EMULATE;
    assert_int_equal(ozg_create(&ctx, &cfg), OZG_OK);
    assert_int_equal(gemm_run(ctx, &small.device, small.device.c, ozg_native(), &r), OZG_OK);
    assert_int_equal(ozg_report_wait(ctx, &r), OZG_OK);
    assert_int_equal(r.emulated, 1);
    assert_int_equal(cublas_count("fake_cublas_handles"), 0);
    check_result(&small);
    ozg_destroy(ctx);
    drop(&t);
    drop(&small);
}

/* Plans, batches and bounds take the same way; nothing to multiply needs neither. */
static void other_calls(void **state)
{
    ozg_context *ctx = open_automatic();
    trial t = make('d', 'T', 'N', 7, 5, 6, 1), u = make('d', 'T', 'N', 7, 5, 6, 1);
    const struct gemm *g = &t.device, *h = &u.device;
    const double *const a[2] = {g->a, h->a}, *const b[2] = {g->b, h->b};
    double *const c[2] = {g->c, h->c};
    ozg_plan *plan;
    ozg_report r;

    (void)state;
    assert_int_equal(
        ozg_bound_dgemm(ctx, 'T', 'N', g->m, g->n, g->k, 3, g->a, g->lda, g->b, g->ldb, ozg_native(), &r),
        OZG_OK);
    check_native(&r);
    assert_int_equal(cublas_count("fake_cublas_calls"), 0);
    assert_int_equal(ozg_plan_create(&plan, ctx, 'd', 'T', 'N', g->m, g->n, g->k, ozg_native()), OZG_OK);
    assert_int_equal(
        ozg_plan_run(plan, g->alpha, g->a, g->lda, g->b, g->ldb, g->beta, g->c, g->ldc, NULL, &r), OZG_OK);
    check_native(&r);
    check_result(&t);
    ozg_plan_destroy(plan);
    fake_write(t.device.c, t.expected, t.bytes[2]);
    assert_int_equal(ozg_dgemm_batch(ctx, 'T', 'N', g->m, g->n, g->k, 3, a, g->lda, b, g->ldb, 0, c, g->ldc,
                                     2, ozg_native(), &r),
                     OZG_OK);
    check_native(&r);
    assert_int_equal(cublas_count("fake_cublas_calls"), 3);
    assert_int_equal(
        ozg_dgemm(ctx, 'N', 'N', g->m, g->n, 0, 1, NULL, g->m, NULL, 1, 1, g->c, g->ldc, ozg_native(), &r),
        OZG_OK);
    assert_int_equal(ozg_report_wait(ctx, &r), OZG_OK);
    assert_string_equal(r.reason, "k = 0");
    assert_int_equal(cublas_count("fake_cublas_calls"), 3);
    ozg_destroy(ctx);
    drop(&t);
    drop(&u);
}

static void failures(void **state)
{
    ozg_context *ctx = open_automatic();
    trial t = make('z', 'N', 'N', 4, 4, 4, 0);
    ozg_report r;

    (void)state;
    fail_cublas(1, 13, 0);
    assert_int_equal(gemm_run(ctx, &t.device, t.device.c, ozg_native(), &r), OZG_E_DEVICE);
    assert_non_null(strstr(ozg_last_error(ctx), "status 13"));
    assert_int_equal(r.emulated, 0);
    assert_null(r.reason);
    fail_cublas(1, 3, 0);
    assert_int_equal(gemm_run(ctx, &t.device, t.device.c, ozg_native(), NULL), OZG_E_NOMEM);
    assert_int_equal(gemm_run(ctx, &t.device, t.device.c, ozg_native(), &r), OZG_OK);
    check_result(&t);
    fake_fail("cuCtxPushCurrent_v2", 1, UNKNOWN_ERROR);
    assert_int_equal(gemm_run(ctx, &t.device, t.device.c, ozg_native(), NULL), OZG_E_DEVICE);
    ozg_destroy(ctx);
    assert_int_equal(cublas_count("fake_cublas_handles"), 0);
    drop(&t);
}

/* C of the products before a failure is written. */
static void failures_in_a_batch(void **state)
{
    ozg_context *ctx = open_automatic();
    trial t = make('d', 'N', 'N', 4, 4, 4, 0), u = make('d', 'N', 'N', 4, 4, 4, 0);
    const struct gemm *g = &t.device, *h = &u.device;
    const double *const a[2] = {g->a, h->a}, *const b[2] = {g->b, h->b};
    double *const c[2] = {g->c, h->c};

    (void)state;
    for (int nth = 1; nth <= 2; nth++) {
        fail_cublas(nth, 3, 0);
        assert_int_equal(ozg_dgemm_batch(ctx, 'N', 'N', 4, 4, 4, 3, a, g->lda, b, h->ldb, 0, c, g->ldc, 2,
                                         ozg_native(), NULL),
                         nth == 1 ? OZG_E_NOMEM : OZG_E_DEVICE);
    }
    ozg_destroy(ctx);
    drop(&t);
    drop(&u);
}

static const struct CMUnitTest tests[] = {
    TEST(measured),           TEST(other_devices),         TEST(refused),     TEST(no_cublas),
    TEST(incomplete_cublas),  TEST(broken_cublas),         TEST(next_cublas), TEST(native),
    TEST(emulated),           TEST(emulated_where_faster), TEST(other_calls), TEST(failures),
    TEST(failures_in_a_batch)};

int main(int argc, char **argv)
{
    return device_main(argc, argv, tests, sizeof tests / sizeof *tests);
}
