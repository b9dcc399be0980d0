/*
 * test_nomem.c - no memory at the n-th allocation of the library, for every n until the call succeeds.
 *
 * This program has its own malloc family in front of that of the C library. Only calls whose return address
 * lies in the program itself (the library is linked into it statically) can fail; the OpenMP run-time and
 * cmocka never do.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include <ozgemm.h>

#include "errors.h"

extern char __executable_start, etext; /* made by the linker: the program's code lies between */

static _Thread_local long countdown = -1; /* fail when it reaches 0; -1: never */
static _Thread_local long living;         /* allocations of the program itself that are not yet freed */
static _Thread_local int watching;
static _Thread_local long denials; /* allocations that failed */

static void *(*next_malloc)(size_t), *(*next_calloc)(size_t, size_t), *(*next_realloc)(void *, size_t);
static void *(*next_aligned_alloc)(size_t, size_t);
static int (*next_posix_memalign)(void **, size_t, size_t);
static void (*next_free)(void *);

/* dlsym() may allocate: from here, and never given back. */
static char early[1 << 14];
static size_t early_used;

static void *early_malloc(size_t size)
{
    void *p = early + early_used;

    early_used += (size + 15) / 16 * 16;
    if (early_used > sizeof early)
        abort();
    return p;
}

/* ISO C has no conversion from void * to a function pointer; POSIX guarantees that the bits may be copied. */
static void look_up(void *pointer, const char *name)
{
    void *symbol = dlsym(RTLD_NEXT, name);

    memcpy(pointer, &symbol, sizeof symbol);
}

static void prepare(void)
{
    static int started;

    if (started)
        return;
    started = 1;
    look_up(&next_calloc, "calloc");
    look_up(&next_realloc, "realloc");
    look_up(&next_aligned_alloc, "aligned_alloc");
    look_up(&next_posix_memalign, "posix_memalign");
    look_up(&next_free, "free");
    look_up(&next_malloc, "malloc");
}

/* 1: this allocation must fail. Counts it otherwise. */
static int denied(const void *caller)
{
    if (!watching || (const char *)caller < &__executable_start || (const char *)caller >= &etext)
        return 0;
    if (countdown == 0) {
        errno = ENOMEM;
        denials++;
        return 1;
    }
    if (countdown > 0)
        countdown--;
    living++;
    return 0;
}

void *malloc(size_t size)
{
    prepare();
    if (next_malloc == NULL)
        return early_malloc(size);
    return denied(__builtin_return_address(0)) ? NULL : next_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    prepare();
    if (next_malloc == NULL)
        return early_malloc(count * size); /* zero, being static */
    return denied(__builtin_return_address(0)) ? NULL : next_calloc(count, size);
}

void *realloc(void *p, size_t size)
{
    prepare();
    if (denied(__builtin_return_address(0)))
        return NULL;
    if (p != NULL && watching)
        living--;
    return next_realloc(p, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    prepare();
    return denied(__builtin_return_address(0)) ? NULL : next_aligned_alloc(alignment, size);
}

int posix_memalign(void **p, size_t alignment, size_t size)
{
    prepare();
    return denied(__builtin_return_address(0)) ? ENOMEM : next_posix_memalign(p, alignment, size);
}

void free(void *p)
{
    const char *caller = __builtin_return_address(0);

    prepare();
    if (p == NULL || ((char *)p >= early && (char *)p < early + sizeof early))
        return;
    if (watching && caller >= &__executable_start && caller < &etext)
        living--;
    next_free(p);
}

/* ---- the calls
 * ---------------------------------------------------------------------------------------------- */

enum { SIZE = 40 };

static double a[SIZE * SIZE], b[SIZE * SIZE], c[SIZE * SIZE], before[SIZE * SIZE];

/*
 * A scene opens a context and makes a call or two. *failed_inside: the context opened, so that it has the
 * sentence. Each scene has a number of moduli of its own, whose tables are then new to the process.
 */
static ozg_status create_and_multiply(ozg_context **ctx, int *failed_inside)
{
    ozg_config cfg;
    ozg_status status;

    ozg_config_init(&cfg);
    cfg.threads = 1;
    status = ozg_create(ctx, &cfg);
    *failed_inside = status == OZG_OK;
    if (status != OZG_OK)
        return status;
    return ozg_dgemm(*ctx, 'N', 'T', SIZE, SIZE, SIZE, 1, a, SIZE, b, SIZE, 1, c, SIZE, ozg_moduli(15), NULL);
}

static ozg_status multiply_complex(ozg_context **ctx, int *failed_inside)
{
    static const double one[2] = {1, 1};
    ozg_report report;
    ozg_status status = ozg_create(ctx, NULL);

    *failed_inside = status == OZG_OK;
    if (status != OZG_OK)
        return status;
    return ozg_zgemm(*ctx, 'N', 'C', SIZE / 2, SIZE / 2, SIZE / 2, one, a, SIZE / 2, b, SIZE / 2, one, c,
                     SIZE / 2, ozg_moduli(31), &report);
}

static ozg_status plan_and_run(ozg_context **ctx, int *failed_inside)
{
    const double one = 1;
    ozg_plan *plan;
    ozg_status status = ozg_create(ctx, NULL);

    *failed_inside = status == OZG_OK;
    if (status != OZG_OK)
        return status;
    status = ozg_plan_create(&plan, *ctx, 'd', 'N', 'N', SIZE, SIZE, SIZE, ozg_moduli(8));
    if (status != OZG_OK)
        return status;
    status = ozg_plan_run(plan, &one, a, SIZE, b, SIZE, &one, c, SIZE, NULL, NULL);
    ozg_plan_destroy(plan);
    return status;
}

static ozg_status prepare_and_run(ozg_context **ctx, int *failed_inside)
{
    ozg_operand *pa, *pb;
    ozg_status status = ozg_create(ctx, NULL);

    *failed_inside = status == OZG_OK;
    if (status != OZG_OK)
        return status;
    status = ozg_operand_create(&pa, *ctx, 'd', 'A', 'T', SIZE, SIZE, a, SIZE, ozg_width(33));
    if (status != OZG_OK)
        return status;
    status = ozg_operand_create(&pb, *ctx, 'd', 'B', 'N', SIZE, SIZE, b, SIZE, ozg_width(33));
    if (status == OZG_OK) {
        status = ozg_dgemm_prepared(*ctx, 'T', 'N', SIZE, SIZE, SIZE, 1, pa, NULL, 0, pb, NULL, 0, 1, c, SIZE,
                                    ozg_width(33), NULL);
        ozg_operand_destroy(pb);
    }
    ozg_operand_destroy(pa);
    return status;
}

static ozg_status multiply_batch(ozg_context **ctx, int *failed_inside)
{
    ozg_status status = ozg_create(ctx, NULL);

    *failed_inside = status == OZG_OK;
    if (status != OZG_OK)
        return status;
    return ozg_dgemm_batch_strided(*ctx, 'N', 'N', 10, 10, 10, 1, a, 10, 100, b, 10, 100, 1, c, 10, 100, 16,
                                   ozg_moduli(12), NULL);
}

static void fill(void)
{
    for (int i = 0; i < SIZE * SIZE; i++) {
        a[i] = 1.0 / (i + 1);
        b[i] = 1.0 / (i + 7);
        c[i] = before[i] = i;
    }
}

/* One run of a scene whose n-th allocation fails (-1: none). Counts in *kept what is not given back. */
static ozg_status run_scene(ozg_status (*scene)(ozg_context **, int *), long n, long *kept)
{
    ozg_context *ctx = NULL;
    ozg_status status;
    int failed_inside = 0;

    fill();
    living = 0;
    countdown = n;
    watching = 1;
    status = scene(&ctx, &failed_inside);
    watching = 0;
    countdown = -1;
    if (status == OZG_OK) {
        assert_true(memcmp(c, before, sizeof c) != 0);
    } else {
        expect_error(failed_inside ? ctx : NULL, status, OZG_E_NOMEM, 0);
        assert_memory_equal(c, before, sizeof c);
        if (!failed_inside)
            assert_null(ctx);
    }
    watching = 1;
    ozg_destroy(ctx);
    watching = 0;
    *kept += living;
    return status;
}

/* Tables that are made once for the whole process and kept, as a child without failures counts them. */
static long tables_of(ozg_status (*scene)(ozg_context **, int *))
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        long kept = 0;

        _exit(run_scene(scene, -1, &kept) == OZG_OK && kept >= 0 && kept < 100 ? (int)kept : 100);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 100);
    return WEXITSTATUS(status);
}

/* Fail at every place until it succeeds: all that it took is given back, but for the tables of the process. */
static void every_place(ozg_status (*scene)(ozg_context **, int *))
{
    const long tables = tables_of(scene);
    long kept = 0, n = 0;

    while (run_scene(scene, n, &kept) != OZG_OK)
        assert_true(++n < 1000);
    assert_true(n >= 2); /* a context and a workspace at the least */
    assert_int_equal(kept, tables);
    kept = 0;
    for (n = 0; run_scene(scene, n, &kept) != OZG_OK; n++) /* with the tables there */
        assert_int_equal(kept, 0);
    assert_int_equal(kept, 0);
}

static void gemm(void **state)
{
    (void)state;
    every_place(create_and_multiply);
}

static void complex_gemm(void **state)
{
    (void)state;
    every_place(multiply_complex);
}

static void plan(void **state)
{
    (void)state;
    every_place(plan_and_run);
}

static void operands(void **state)
{
    (void)state;
    every_place(prepare_and_run);
}

static void batch(void **state)
{
    (void)state;
    every_place(multiply_batch);
}

/* A failed call leaves the context usable, and the result is the same as without the failure. */
static void after_a_failure(void **state)
{
    ozg_context *ctx;
    double want[SIZE * SIZE];

    (void)state;
    fill();
    memcpy(want, before, sizeof want);
    assert_int_equal(ozg_create(&ctx, NULL), OZG_OK);
    watching = 1;
    countdown = 0;
    assert_int_equal(
        ozg_dgemm(ctx, 'N', 'N', SIZE, SIZE, SIZE, 1, a, SIZE, b, SIZE, 1, c, SIZE, ozg_moduli(15), NULL),
        OZG_E_NOMEM);
    watching = 0;
    countdown = -1;
    assert_memory_equal(c, before, sizeof c);
    assert_int_equal(
        ozg_dgemm(ctx, 'N', 'N', SIZE, SIZE, SIZE, 1, a, SIZE, b, SIZE, 1, c, SIZE, ozg_moduli(15), NULL),
        OZG_OK);
    ozg_destroy(ctx);
    assert_int_equal(ozg_create(&ctx, NULL), OZG_OK);
    assert_int_equal(
        ozg_dgemm(ctx, 'N', 'N', SIZE, SIZE, SIZE, 1, a, SIZE, b, SIZE, 1, want, SIZE, ozg_moduli(15), NULL),
        OZG_OK);
    assert_memory_equal(c, want, sizeof c);
    ozg_destroy(ctx);
}

/* A product of one type with Inf in rows and columns, alone, as the type's own call. */
static ozg_status multiply_special(ozg_context *ctx, int complex_)
{
    static const double one[2] = {1, 0};

    if (complex_)
        return ozg_zgemm(ctx, 'N', 'T', SIZE / 2, SIZE / 2, SIZE / 2, one, a, SIZE / 2, b, SIZE / 2, one, c,
                         SIZE / 2, ozg_moduli(9), NULL);
    return ozg_dgemm(ctx, 'N', 'T', SIZE, SIZE, SIZE, 1, a, SIZE, b, SIZE, 1, c, SIZE, ozg_moduli(9), NULL);
}

/* One Inf in each of a dozen rows of A and columns of B, the signs in turn; zeros meet some. */
static void fill_special(void)
{
    fill();
    for (int i = 0; i < 12; i++) {
        a[121 * i] = i % 2 ? -INFINITY : INFINITY; /* real: row i at place 3 i */
        b[37 * i + 5] = i % 3 ? INFINITY : -INFINITY;
    }
    for (int j = 0; j < SIZE; j += 3)
        b[6 * SIZE + j] = 0;
}

/* The signs of Inf and NaN must all be in it, or a comparison of bits would say little. */
static void expect_variety(const double *x, int count)
{
    int plus = 0, minus = 0, nan = 0, finite = 0;

    for (int i = 0; i < count; i++) {
        plus += isinf(x[i]) && x[i] > 0;
        minus += isinf(x[i]) && x[i] < 0;
        nan += isnan(x[i]);
        finite += isfinite(x[i]);
    }
    assert_true(plus > 20 && minus > 20 && nan > 20 && finite > 20);
}

/* Inf needs memory for masks. Without it the call does not fail, and the bits are the same, only slower. */
static void special_without_memory(void **state)
{
    static double want[SIZE * SIZE];
    int served = 0;

    (void)state;
    for (int complex_ = 0; complex_ < 2; complex_++) {
        ozg_context *ctx;

        assert_int_equal(ozg_create(&ctx, NULL), OZG_OK);
        fill_special();
        assert_int_equal(multiply_special(ctx, complex_), OZG_OK);
        memcpy(want, c, sizeof want);
        expect_variety(want, complex_ ? SIZE * SIZE / 2 : SIZE * SIZE);
        for (long n = 0, denied = 1; denied; n++) {
            ozg_status status;

            fill_special();
            denials = 0;
            countdown = n;
            watching = 1;
            status = multiply_special(ctx, complex_);
            watching = 0;
            countdown = -1;
            denied = denials;
            served += denied && status == OZG_OK;
            assert_true(status == OZG_OK || (status == OZG_E_NOMEM && denied));
            assert_memory_equal(c, status == OZG_OK ? want : before, sizeof c);
        }
        ozg_destroy(ctx);
    }
    assert_true(served >= 2); /* once for each type at the least */
}

/* The OpenMP run-time starts now, so that nothing it does falls into a watched call. */
static int start(void **state)
{
    ozg_context *ctx;
    double x = 1;
    ozg_status status;

    (void)state;
    if (ozg_create(&ctx, NULL) != OZG_OK)
        return -1;
    status = ozg_dgemm(ctx, 'N', 'N', 1, 1, 1, 1, &x, 1, &x, 1, 0, c, 1, ozg_moduli(5), NULL);
    ozg_destroy(ctx);
    return status == OZG_OK ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gemm),
        cmocka_unit_test(complex_gemm),
        cmocka_unit_test(plan),
        cmocka_unit_test(operands),
        cmocka_unit_test(batch),
        cmocka_unit_test(after_a_failure),
        cmocka_unit_test(special_without_memory),
    };

    return cmocka_run_group_tests(tests, start, NULL);
}
