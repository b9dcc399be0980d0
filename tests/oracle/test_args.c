/*
 * test_args.c - bad arguments of a product: the status, the number of the argument in the sentence, C
 * untouched.
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

static const char types[] = {'s', 'd', 'c', 'z'};
static ozg_context *ctx;

static int open_context(void **state)
{
    ozg_config cfg;

    (void)state;
    ozg_config_init(&cfg);
    cfg.threads = 1;
    return ozg_create(&ctx, &cfg) == OZG_OK ? 0 : -1;
}

static int close_context(void **state)
{
    (void)state;
    ozg_destroy(ctx);
    return 0;
}

enum field { TRANSA, TRANSB, M, N, K, A, LDA, B, LDB, C, LDC, MODULI, WIDTH, ACCURACY };

/* One wrong value in a product of 3 x 4 x 5, transa and transb as given, and what must come of it. */
static const struct wrong {
    const char trans[3];
    enum field field;
    int64_t value;
    int number;
    ozg_status status;
} table[] = {
    {"NN", TRANSA, 'x', 2, OZG_E_ARG},
    {"NN", TRANSA, 0, 2, OZG_E_ARG},
    {"NN", TRANSB, 'M', 3, OZG_E_ARG},
    {"NN", TRANSB, -61, 3, OZG_E_ARG},
    {"NN", M, -1, 4, OZG_E_ARG},
    {"NN", M, INT64_MIN, 4, OZG_E_ARG},
    {"NN", N, -1, 5, OZG_E_ARG},
    {"NN", K, -1, 6, OZG_E_ARG},
    {"NN", K, INT64_MIN, 6, OZG_E_ARG},
    {"NN", A, 0, 8, OZG_E_ARG},
    {"NN", LDA, 2, 9, OZG_E_ARG},
    {"TN", LDA, 4, 9, OZG_E_ARG},
    {"cN", LDA, 4, 9, OZG_E_ARG},
    {"NN", LDA, 0, 9, OZG_E_ARG},
    {"NN", LDA, -3, 9, OZG_E_ARG},
    {"NN", LDA, INT64_MIN, 9, OZG_E_ARG},
    {"NN", LDA, INT64_MAX, 9, OZG_E_ARG},
    {"NN", LDA, INT64_MAX / 8, 9, OZG_E_ARG},
    {"NN", B, 0, 10, OZG_E_ARG},
    {"NN", LDB, 4, 11, OZG_E_ARG},
    {"NT", LDB, 3, 11, OZG_E_ARG},
    {"Nc", LDB, 3, 11, OZG_E_ARG},
    {"NN", LDB, INT64_MAX, 11, OZG_E_ARG},
    {"NN", C, 0, 13, OZG_E_ARG},
    {"NN", LDC, 2, 14, OZG_E_ARG},
    {"TT", LDC, 2, 14, OZG_E_ARG},
    {"NN", LDC, 0, 14, OZG_E_ARG},
    {"NN", LDC, INT64_MAX, 14, OZG_E_ARG},
    {"NN", MODULI, 1, 15, OZG_E_ARG},
    {"NN", MODULI, 0, 15, OZG_E_ARG},
    {"NN", MODULI, -16, 15, OZG_E_ARG},
    {"NN", MODULI, 50, 15, OZG_E_ARG},
    {"NN", MODULI, INT32_MAX, 15, OZG_E_ARG},
    {"NN", WIDTH, 0, 15, OZG_E_ARG},
    {"NN", WIDTH, -1, 15, OZG_E_ARG},
    {"NN", WIDTH, INT32_MIN, 15, OZG_E_ARG},
    {"NN", WIDTH, 172, 0, OZG_E_UNSUPPORTED},
    {"NN", WIDTH, INT32_MAX, 0, OZG_E_UNSUPPORTED},
    {"NN", ACCURACY, 0, 15, OZG_E_ARG},        /* native with 50 moduli */
    {"NN", ACCURACY, 1, 15, OZG_E_ARG},        /* rounded with -1 */
    {"NN", ACCURACY, 2, 0, OZG_E_UNSUPPORTED}, /* native with 2 moduli: too few for any k */
    {"NN", ACCURACY, 3, 15, OZG_E_ARG},        /* not made by any function */
};

/* Put the wrong value into g and acc; C is returned apart. */
static void *spoil(const struct wrong *w, struct gemm *g, ozg_accuracy *acc)
{
    int64_t *const place[] = {NULL, NULL, &g->m, &g->n, &g->k, NULL, &g->lda, NULL, &g->ldb, NULL, &g->ldc};
    void *c = g->c;

    if (w->field <= LDC && place[w->field] != NULL)
        *place[w->field] = w->value;
    else if (w->field == TRANSA)
        g->transa = (char)w->value;
    else if (w->field == TRANSB)
        g->transb = (char)w->value;
    else if (w->field == A)
        g->a = NULL;
    else if (w->field == B)
        g->b = NULL;
    else if (w->field == C)
        c = NULL;
    else if (w->field == MODULI)
        *acc = ozg_moduli((int)w->value);
    else if (w->field == WIDTH)
        *acc = ozg_width((int)w->value);
    else
        *acc = w->value == 0   ? ozg_with_moduli(ozg_native(), 50)
               : w->value == 1 ? ozg_with_moduli(ozg_rounded(), -1)
               : w->value == 2 ? ozg_with_moduli(ozg_native(), 2)
                               : (ozg_accuracy){12345, 16};
    return c;
}

static void wrong_values(void **state)
{
    struct arena arena;

    (void)state;
    arena_open(&arena, 1 << 12);
    for (size_t q = 0; q < 4 * sizeof table / sizeof table[0]; q++) {
        const struct wrong *w = &table[q / 4];
        struct gemm g = {types[q % 4], w->trans[0], w->trans[1], 3,    4, 5,    {1, 0},
                         {1, 0},       NULL,        0,           NULL, 0, NULL, 0};
        struct gemm good;
        ozg_accuracy acc = ozg_moduli(16);
        ozg_report report, zero;
        struct rng r = {q};
        void *before, *c;

        memset(&report, 0xAA, sizeof report);
        memset(&zero, 0, sizeof zero);
        gemm_layout(&g, &arena, (struct padding){0, 0, 1}, 1);
        gemm_fill(&g, &r, FAMILY_UNIFORM, FAMILY_UNIFORM, FAMILY_UNIFORM);
        before = gemm_image(&g);
        good = g;
        c = spoil(w, &g, &acc);
        expect_error(ctx, gemm_run(ctx, &g, c, acc, &report), w->status, w->number);
        assert_memory_equal(&report, &zero, sizeof zero);
        assert_memory_equal(good.c, before, gemm_image_bytes(&good));
        free(before);
    }
    arena_close(&arena);
}

/* The first wrong argument is the one that is named; ctx NULL is told to the thread; scalars of complex
 * types. */
static void null_arguments(void **state)
{
    double x = 1, c = 3, z[2] = {1, 0};
    float f[2] = {1, 0};
    ozg_report report;

    (void)state;
    expect_error(NULL, ozg_dgemm(NULL, 'N', 'N', 1, 1, 1, 1, &x, 1, &x, 1, 1, &c, 1, ozg_moduli(8), NULL),
                 OZG_E_ARG, 1);
    expect_error(NULL, ozg_sgemm(NULL, 'N', 'N', 1, 1, 1, 1, f, 1, f, 1, 1, f, 1, ozg_moduli(8), NULL),
                 OZG_E_ARG, 1);
    expect_error(NULL, ozg_report_wait(NULL, &report), OZG_E_ARG, 1);
    expect_error(ctx, ozg_zgemm(ctx, 'N', 'N', 1, 1, 1, NULL, z, 1, z, 1, z, z, 1, ozg_moduli(8), NULL),
                 OZG_E_ARG, 7);
    expect_error(ctx, ozg_zgemm(ctx, 'N', 'N', 1, 1, 1, z, z, 1, z, 1, NULL, z, 1, ozg_moduli(8), NULL),
                 OZG_E_ARG, 12);
    expect_error(ctx, ozg_cgemm(ctx, 'N', 'N', 1, 1, 1, NULL, f, 1, f, 1, f, f, 1, ozg_moduli(8), NULL),
                 OZG_E_ARG, 7);
    expect_error(ctx, ozg_cgemm(ctx, 'N', 'N', 1, 1, 1, f, f, 1, f, 1, NULL, f, 1, ozg_moduli(8), NULL),
                 OZG_E_ARG, 12);
    assert_true(c == 3 && z[0] == 1 && z[1] == 0 && f[0] == 1 && f[1] == 0);
    assert_int_equal(ozg_report_wait(ctx, &report), OZG_OK);
}

/* Empty products check their arguments as well. */
static void empty_products(void **state)
{
    double c[4] = {1, 2, 3, 4};

    (void)state;
    expect_error(ctx, ozg_dgemm(ctx, 'N', 'N', 0, 0, 0, 1, NULL, 0, NULL, 1, 1, NULL, 1, ozg_moduli(8), NULL),
                 OZG_E_ARG, 9);
    expect_error(ctx, ozg_dgemm(ctx, 'N', 'N', 2, 2, 0, 1, NULL, 2, NULL, 1, 0, c, 1, ozg_moduli(8), NULL),
                 OZG_E_ARG, 14);
    expect_error(ctx, ozg_dgemm(ctx, 'N', 'N', 2, 2, 0, 1, NULL, 2, NULL, 1, 0, c, 2, ozg_moduli(50), NULL),
                 OZG_E_ARG, 15);
    expect_error(ctx, ozg_dgemm(ctx, 'N', 'N', 2, 2, 0, 1, NULL, 2, NULL, 1, 0, NULL, 2, ozg_moduli(8), NULL),
                 OZG_E_ARG, 13);
    assert_true(c[0] == 1 && c[1] == 2 && c[2] == 3 && c[3] == 4);
}

enum { SHARED = 120 };

/* Mark the elements of a rows x cols matrix in the map with bit; returns 1 if a marked one has another bit of
 * `against`. */
static int mark(unsigned char *map, int64_t first, int64_t rows, int64_t cols, int64_t ld, int bit,
                int against)
{
    int met = 0;

    for (int64_t j = 0; j < cols; j++) {
        for (int64_t i = 0; i < rows; i++) {
            met |= map[first + i + j * ld] & against;
            map[first + i + j * ld] |= (unsigned char)bit;
        }
    }
    return met != 0;
}

/* A random matrix that fits into the shared array. */
static int64_t random_place(struct rng *r, int64_t rows, int64_t cols, int64_t *ld)
{
    int64_t most = cols > 1 ? (SHARED - rows) / (cols - 1) : SHARED, room;

    *ld = rng_between(r, rows, most < 3 * rows ? most : 3 * rows);
    room = SHARED - matrix_elements(rows, cols, *ld);
    return rng_between(r, 0, room);
}

/* A, B and C anywhere in one array: refused exactly if an element of C is one of A or B, else right. */
static void overlaps(void **state)
{
    double x[2 * SHARED], before[2 * SHARED], want[2 * SHARED];
    struct rng r = {41};
    int refused = 0, accepted = 0;

    (void)state;
    for (int q = 0; q < 6000; q++) {
        struct gemm g = {q % 2 ? 'z' : 'd',
                         q & 2 ? 'T' : 'N',
                         'N',
                         rng_between(&r, 1, 5),
                         rng_between(&r, 1, 5),
                         rng_between(&r, 1, 5),
                         {1, 0},
                         {1, 0},
                         NULL,
                         0,
                         NULL,
                         0,
                         NULL,
                         0};
        int parts = type_parts(g.type), shared;
        unsigned char map[SHARED] = {0};
        int64_t a = random_place(&r, gemm_rows_a(&g), gemm_cols_a(&g), &g.lda);
        int64_t b = random_place(&r, gemm_rows_b(&g), gemm_cols_b(&g), &g.ldb);
        int64_t c = random_place(&r, g.m, g.n, &g.ldc);

        mark(map, a, gemm_rows_a(&g), gemm_cols_a(&g), g.lda, 1, 0);
        mark(map, b, gemm_rows_b(&g), gemm_cols_b(&g), g.ldb, 1, 0);
        shared = mark(map, c, g.m, g.n, g.ldc, 2, 1);
        for (int i = 0; i < 2 * SHARED; i++)
            x[i] = before[i] = want[i] = (double)rng_between(&r, -9, 9);
        g.a = before + a * parts;
        g.b = before + b * parts;
        oracle_gemm(&g, 20, want + c * parts);
        g.a = x + a * parts;
        g.b = x + b * parts;
        if (shared) {
            refused++;
            expect_error(ctx, gemm_run(ctx, &g, x + c * parts, ozg_width(20), NULL), OZG_E_ARG, 13);
            assert_memory_equal(x, before, sizeof x);
        } else {
            accepted++;
            assert_int_equal(gemm_run(ctx, &g, x + c * parts, ozg_width(20), NULL), OZG_OK);
            assert_memory_equal(x, want, sizeof x);
        }
    }
    assert_true(refused > 500 && accepted > 500);
}

/* Interleaved submatrices of one large array share no element; neighbours may touch. */
static void interleaved(void **state)
{
    double x[9 * 10], c[9], a[9], b[9];

    (void)state;
    for (int i = 0; i < 90; i++)
        x[i] = i;
    for (int i = 0; i < 9; i++) {
        a[i] = x[i % 3 + i / 3 * 9];
        b[i] = x[i % 3 + 3 + i / 3 * 9];
        c[i] = x[i % 3 + 6 + i / 3 * 9];
    }
    assert_int_equal(ozg_dgemm(ctx, 'N', 'N', 3, 3, 3, 1, a, 3, b, 3, 1, c, 3, ozg_width(20), NULL), OZG_OK);
    assert_int_equal(ozg_dgemm(ctx, 'N', 'N', 3, 3, 3, 1, x, 9, x + 3, 9, 1, x + 6, 9, ozg_width(20), NULL),
                     OZG_OK);
    for (int i = 0; i < 90; i++)
        assert_true(x[i] == (i < 27 && i % 9 >= 6 ? c[i % 9 - 6 + i / 9 * 3] : (double)i));
    expect_error(ctx, ozg_dgemm(ctx, 'N', 'N', 3, 3, 3, 1, x, 9, x + 3, 9, 1, x + 5, 9, ozg_width(20), NULL),
                 OZG_E_ARG, 13);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_values), cmocka_unit_test(null_arguments), cmocka_unit_test(empty_products),
        cmocka_unit_test(overlaps),     cmocka_unit_test(interleaved),
    };

    return cmocka_run_group_tests(tests, open_context, close_context);
}
