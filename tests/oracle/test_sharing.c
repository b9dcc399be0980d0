/*
 * test_sharing.c - batches: which matrices may lie between each other and which share an element, against
 * marks on every element; and that many interleaved products are accepted.
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

#include <ozgemm.h>

#include "errors.h"
#include "rng.h"

enum { FIELD = 1500, MOST = 12 };

static ozg_context *ctx;
static double field[FIELD], before[FIELD];

static int open_context(void **state)
{
    (void)state;
    for (int i = 0; i < FIELD; i++)
        field[i] = before[i] = i % 17;
    return ozg_create(&ctx, NULL) == OZG_OK ? 0 : -1;
}

static int close_context(void **state)
{
    (void)state;
    ozg_destroy(ctx);
    return 0;
}

/* A batch in the field: matrix q of A begins at element a[q], and so on. */
struct layout {
    int m, n, k, lda, ldb, ldc, count;
    int a[MOST], b[MOST], c[MOST];
};

/* Adds `mark` to the elements of a matrix; returns 1 if one of them has a mark of `against`. */
static int mark_matrix(unsigned char *marks, int at, int rows, int columns, int ld, int mark, int against)
{
    int met = 0;

    for (int j = 0; j < columns; j++)
        for (int i = 0; i < rows; i++) {
            unsigned char *x = &marks[at + i + j * ld];

            met |= (*x & against) != 0;
            *x |= (unsigned char)mark;
        }
    return met;
}

/* 1 if some C shares an element with an A, a B or another C. */
static int shares(const struct layout *l)
{
    enum { INPUT = 1, OUTPUT = 2 };
    unsigned char marks[FIELD] = {0};
    int met = 0;

    for (int q = 0; q < l->count; q++) {
        mark_matrix(marks, l->a[q], l->m, l->k, l->lda, INPUT, 0);
        mark_matrix(marks, l->b[q], l->k, l->n, l->ldb, INPUT, 0);
    }
    for (int q = 0; q < l->count; q++)
        met |= mark_matrix(marks, l->c[q], l->m, l->n, l->ldc, OUTPUT, INPUT | OUTPUT);
    return met;
}

/* Multiplies and compares the verdict. Afterwards the field is as before. Returns 1 if it was accepted. */
static int verdict(const struct layout *l)
{
    const double *a[MOST], *b[MOST];
    double *c[MOST];
    const int wrong = shares(l);
    ozg_status status;

    for (int q = 0; q < l->count; q++) {
        a[q] = field + l->a[q];
        b[q] = field + l->b[q];
        c[q] = field + l->c[q];
    }
    status = ozg_dgemm_batch(ctx, 'N', 'N', l->m, l->n, l->k, 1, a, l->lda, b, l->ldb, 0, c, l->ldc, l->count,
                             ozg_moduli(8), NULL);
    if (status != (wrong ? OZG_E_ARG : OZG_OK)) {
        fprintf(stderr, "%d products of %d x %d x %d, ld %d %d %d: status %s\n", l->count, l->m, l->n, l->k,
                l->lda, l->ldb, l->ldc, ozg_status_name(status));
        for (int q = 0; q < l->count; q++)
            fprintf(stderr, "  A at %d, B at %d, C at %d\n", l->a[q], l->b[q], l->c[q]);
        fail();
    }
    if (wrong)
        assert_memory_equal(field, before, sizeof field);
    memcpy(field, before, sizeof field);
    return !wrong;
}

static void swap(int *x, int *y)
{
    const int t = *x;

    *x = *y;
    *y = t;
}

/*
 * C beside C in one wide array, A beside A or one for all, likewise B; the products in any order. As it is,
 * it shares nothing.
 */
static struct layout interleaved(struct rng *r)
{
    struct layout l = {(int)rng_between(r, 1, 3),
                       (int)rng_between(r, 1, 4),
                       (int)rng_between(r, 1, 3),
                       0,
                       0,
                       0,
                       (int)rng_between(r, 2, MOST),
                       {0},
                       {0},
                       {0}};
    const int one_a = (int)rng_below(r, 2), one_b = (int)rng_below(r, 2);
    int at_b, at_c;

    l.lda = l.m * l.count;
    l.ldb = l.k * l.count;
    l.ldc = l.m * l.count + (int)rng_below(r, 3);
    at_b = 100 + l.lda * l.k;
    at_c = at_b + l.ldb * l.n;
    for (int q = 0; q < l.count; q++) {
        l.a[q] = 100 + (one_a ? 0 : q * l.m);
        l.b[q] = at_b + (one_b ? 0 : q * l.k);
        l.c[q] = at_c + q * l.m;
    }
    for (int q = l.count - 1; q > 0; q--) {
        swap(&l.a[q], &l.a[rng_below(r, (uint64_t)q + 1)]);
        swap(&l.b[q], &l.b[rng_below(r, (uint64_t)q + 1)]);
        swap(&l.c[q], &l.c[rng_below(r, (uint64_t)q + 1)]);
    }
    return l;
}

/* Accepted as it is; then with one matrix moved by a few elements, or to where another one is. */
static void one_matrix_moved(void **state)
{
    struct rng r = {41};
    int accepted = 0, refused = 0;

    (void)state;
    for (int i = 0; i < 3000; i++) {
        struct layout l = interleaved(&r);
        int *const all[] = {l.a, l.b, l.c};
        int *moved = &all[rng_below(&r, 3)][rng_below(&r, (uint64_t)l.count)];

        assert_true(verdict(&l));
        if (rng_below(&r, 2))
            *moved += (int)rng_between(&r, -6, 6);
        else
            *moved = all[rng_below(&r, 3)][rng_below(&r, (uint64_t)l.count)] + (int)rng_between(&r, -2, 2);
        if (verdict(&l))
            accepted++;
        else
            refused++;
    }
    assert_true(accepted > 300 && refused > 300);
}

/* Matrices anywhere: chains of blocks that hang together, blocks inside others, one A or B many times. */
static void anywhere(void **state)
{
    struct rng r = {42};
    int accepted = 0, refused = 0;

    (void)state;
    for (int i = 0; i < 6000; i++) {
        struct layout l = interleaved(&r);
        const int room = (int)rng_between(&r, 30, 1000);

        l.count = (int)rng_between(&r, 2, 5);
        l.lda = (int)rng_between(&r, l.m, 60);
        l.ldb = (int)rng_between(&r, l.k, 60);
        l.ldc = (int)rng_between(&r, l.m, 60);
        for (int q = 0; q < l.count; q++) {
            l.a[q] = (int)rng_below(&r, (uint64_t)room);
            l.b[q] = (int)rng_below(&r, (uint64_t)room);
            l.c[q] = (int)rng_below(&r, (uint64_t)room);
        }
        if (verdict(&l))
            accepted++;
        else
            refused++;
    }
    assert_true(accepted > 1000 && refused > 1000);
}

/* By strides, with one A and one B for all; all C side by side, or the last one over the first. */
static void strided(void **state)
{
    static const double a[6] = {1, 2, 3, 4, 5, 6};
    ozg_accuracy acc = ozg_moduli(8);

    (void)state;
    for (int count = 2; count <= 200; count += 9) {
        const double *gap = field + 2 * count; /* behind the first columns of all C: room for an A */
        const int64_t ldc = 2 * count + 4;

        assert_int_equal(ozg_dgemm_batch_strided(ctx, 'N', 'N', 2, 3, 2, 1, gap, 2, 0, a, 2, 0, 0, field, ldc,
                                                 2, count, acc, NULL),
                         OZG_OK);
        memcpy(field, before, sizeof field);
        assert_int_equal(ozg_dgemm_batch_strided(ctx, 'N', 'N', 2, 3, 2, 1, a, 2, 0, a, 2, 0, 0, field, ldc,
                                                 2, count, acc, NULL),
                         OZG_OK);
        for (int q = 0; q < count; q++)
            assert_true(field[2 * q] == 7 && field[2 * q + 1] == 10); /* the first columns */
        memcpy(field, before, sizeof field);
        expect_error(ctx,
                     ozg_dgemm_batch_strided(ctx, 'N', 'N', 2, 3, 2, 1, a, 2, 0, a, 2, 0, 0, field,
                                             2 * count - 1, 2, count, acc, NULL),
                     OZG_E_ARG, 15);
        expect_error(ctx,
                     ozg_dgemm_batch_strided(ctx, 'N', 'N', 2, 3, 2, 1, gap - 1, 2, 0, a, 2, 0, 0, field, ldc,
                                             2, count, acc, NULL),
                     OZG_E_ARG, 15); /* A begins with an element of the last C */
        assert_memory_equal(field, before, sizeof field);
    }
}

/*
 * A million C that lie between each other's columns: a check of each with each would not come to an end here.
 * Only beta C is computed.
 */
static void a_million(void **state)
{
    const int64_t count = 1000000;
    double *c = calloc((size_t)count * 2, sizeof *c);

    (void)state;
    assert_non_null(c);
    c[0] = c[count] = c[2 * count - 1] = 5;
    assert_int_equal(ozg_dgemm_batch_strided(ctx, 'N', 'N', 1, 2, 1, 0, NULL, 1, 0, NULL, 1, 0, -3, c, count,
                                             1, count, ozg_moduli(8), NULL),
                     OZG_OK);
    assert_true(c[0] == -15 && c[count] == -15 && c[2 * count - 1] == -15);
    expect_error(ctx,
                 ozg_dgemm_batch_strided(ctx, 'N', 'N', 1, 2, 1, 0, NULL, 1, 0, NULL, 1, 0, -3, c, count - 1,
                                         1, count, ozg_moduli(8), NULL),
                 OZG_E_ARG, 15); /* the last C begins where the first one ends */
    assert_true(c[0] == -15 && c[count] == -15 && c[2 * count - 1] == -15);
    free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_matrix_moved),
        cmocka_unit_test(anywhere),
        cmocka_unit_test(strided),
        cmocka_unit_test(a_million),
    };

    return cmocka_run_group_tests(tests, open_context, close_context);
}
