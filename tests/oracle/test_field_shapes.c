/*
 * test_field_shapes.c - failure cases from the field about sizes and layout: C06, C08, C14, C16, C17.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "check.h"
#include "fixture.h"

static const char types[] = {'s', 'd', 'c', 'z'};

static int open_all(void **state)
{
    (void)state;
    return fixture_open(1 << 20, 1);
}

/* k = 0 still means C := beta C, with A and B NULL; rows m .. ldc - 1 stay; m = 0 or n = 0 touch nothing. */
static void c06_empty_sizes(void **state)
{
    static const double betas[] = {2, 0, 1};

    (void)state;
    for (int q = 0; q < 12 * kernels.count; q++) {
        struct gemm g = {types[q % 4],          'N',  'T', 3,    3, 0,    {1, 0},
                         {betas[q / 4 % 3], 0}, NULL, 1,   NULL, 3, NULL, 5};
        ozg_context *ctx = kernels.ctx[q / 12];
        const int parts = type_parts(g.type);
        struct rng r = {(uint64_t)q};
        void *expected;

        gemm_layout(&g, &arena, (struct padding){0, 0, 2}, 1);
        gemm_fill(&g, &r, FAMILY_UNIFORM, FAMILY_UNIFORM, FAMILY_UNIFORM);
        if (g.beta[0] == 0)
            memset(g.c, 0xFF, gemm_image_bytes(&g));
        expected = gemm_image(&g);
        for (int64_t e = 0; e < 9 * parts; e++) {
            int64_t at = (e / parts % 3 + e / parts / 3 * g.ldc) * parts + e % parts;

            if (g.beta[0] != 1)
                number_set(g.type, expected, at, g.beta[0] == 0 ? 0.0 : 2 * number_get(g.type, g.c, at));
        }
        g.a = g.b = NULL;
        g.lda = 3;
        assert_int_equal(gemm_run(ctx, &g, g.c, ozg_moduli(16), NULL), OZG_OK);
        assert_true(gemm_same(&g, g.c, expected, "C06"));
        g.m = 0;
        assert_int_equal(gemm_run(ctx, &g, NULL, ozg_moduli(16), NULL), OZG_OK);
        g.m = 3;
        g.n = 0;
        assert_int_equal(gemm_run(ctx, &g, NULL, ozg_moduli(16), NULL), OZG_OK);
        g.k = 5;
        g.ldb = 1;
        assert_int_equal(gemm_run(ctx, &g, NULL, ozg_moduli(16), NULL), OZG_OK);
        free(expected);
    }
}

/* Row-major 64 x 239 x 64 with one element of padding, seen as the transposed column-major product. */
static void c08_row_length(void **state)
{
    (void)state;
    for (int q = 0; q < 4; q++) {
        for (int64_t n = 239; n <= 240; n++) {
            struct gemm g = {types[q], 'N', 'N', n, 64, 64, {1, 0}, {1, 0}, NULL, 0, NULL, 0, NULL, 0};
            struct rng r = {(uint64_t)q};

            gemm_layout(&g, &arena, (struct padding){240 - n, 0, 240 - n}, 1);
            gemm_fill(&g, &r, FAMILY_UNIFORM, FAMILY_UNIFORM, FAMILY_UNIFORM);
            assert_true(gemm_check(&kernels, &g, (struct request){REQUEST_MODULI, 14}));
        }
    }
}

/* m = 7, n = 61, k = 68; then every m, n and k in 1 .. 70, leading dimensions + {0, 1, 3}, any element
 * alignment. */
static void c14_odd_sizes(void **state)
{
    static const int64_t pads[] = {0, 1, 3};
    struct rng r = {14};

    (void)state;
    for (int q = 0; q < 3 * 70; q++) {
        struct gemm g = {types[q % 4],
                         q % 5 % 2 ? 'T' : 'N',
                         q % 7 % 2 ? 'C' : 'N',
                         7,
                         61,
                         68,
                         {1, 0},
                         {0, 0},
                         NULL,
                         0,
                         NULL,
                         0,
                         NULL,
                         0};

        if (q > 0) {
            g.m = q % 3 == 0 ? q / 3 + 1 : rng_between(&r, 1, 70);
            g.n = q % 3 == 1 ? q / 3 + 1 : rng_between(&r, 1, 70);
            g.k = q % 3 == 2 ? q / 3 + 1 : rng_between(&r, 1, 70);
        }
        gemm_layout(&g, &arena, (struct padding){pads[q % 3], pads[q / 3 % 3], pads[q / 9 % 3]}, q % 2);
        gemm_fill(&g, &r, FAMILY_UNIFORM, FAMILY_UNIFORM, FAMILY_UNIFORM);
        assert_true(gemm_check(&kernels, &g, (struct request){REQUEST_MODULI, 11 + q % 9}));
    }
}

/* Fill a line of op(X) with x, y in turn. */
static void alternate(const struct gemm *g, char side, double x, double y)
{
    const struct view v = side == 'A' ? gemm_view_a(g) : gemm_view_b(g);
    const int64_t rows = side == 'A' ? g->m : g->k, cols = side == 'A' ? g->k : g->n;

    for (int64_t q = 0; q < rows * cols; q++) {
        for (int part = 0; part < type_parts(g->type); part++)
            number_set(g->type, (void *)(uintptr_t)v.x, view_index(&v, q % rows, q / rows, part),
                       (side == 'A' ? q / rows : q % rows) % 2 ? y : x);
    }
}

/*
 * Integers whose residues are extreme: -128, 127 and alternating at a width that takes them as they are (8
 * and 7 bits), and 22-bit integers that are 128 mod 256 and at an end of the residues mod 255 and 253 as
 * well.
 */
static void c16_extreme_residues(void **state)
{
    static const int64_t dims[] = {2, 16, 32, 63, 64, 65, 1000};
    double value[8] = {-128, 127, 128, -127};
    int count = 4;

    (void)state;
    for (int64_t x = 128; count < 8; x += 256) {
        if ((x % 255 == 127 || x % 255 == 128) && (x % 253 == 126 || x % 253 == 127))
            value[count++] = (double)x;
        assert_true(x < 1 << 26);
    }
    for (int q = 0; q < 7 * 8 * 8; q++) {
        double x = value[q / 7 % 8], y = value[q / 56];
        struct gemm g = {types[q % 4 == 0 ? 3 : 1],
                         q % 3 ? 'N' : 'T',
                         q % 5 ? 'N' : 'T',
                         1 + q % 9,
                         9 - q % 8,
                         dims[q % 7],
                         {1, 0},
                         {0, 0},
                         NULL,
                         0,
                         NULL,
                         0,
                         NULL,
                         0};
        int width = fabs(x) > 128 || fabs(y) > 128                   ? 26
                    : x == -128 || x == 128 || y == -128 || y == 128 ? 8
                                                                     : 7;

        gemm_layout(&g, &arena, (struct padding){0, 0, 0}, 1);
        alternate(&g, 'A', x, y);
        alternate(&g, 'B', q % 2 ? x : y, q % 2 ? y : x);
        assert_true(gemm_check(&kernels, &g, (struct request){REQUEST_WIDTH, width}));
    }
}

enum { FAR = 1500000000 };

/* A 3 x 3 matrix with columns 12 GB apart: only the pages of its elements can be touched. */
static double *far_columns(void **map, size_t *bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);

    *bytes = (2 * (size_t)FAR + 3) * sizeof(double) + page;
    *map = mmap(NULL, *bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (*map == MAP_FAILED)
        return NULL;
    for (size_t j = 0; j < 3; j++) {
        uintptr_t first = (uintptr_t)*map + j * FAR * sizeof(double), start = first / page * page;

        if (mprotect((void *)start, first + 24 - start, PROT_READ | PROT_WRITE) != 0)
            return NULL;
    }
    return *map;
}

static void c17_huge_stride(void **state)
{
    void *map[3];
    size_t bytes[3];
    double *x[3], near_c[9], near_a[9], near_b[9];

    (void)state;
    for (int q = 0; q < 3; q++) {
        x[q] = far_columns(&map[q], &bytes[q]);
        if (x[q] == NULL) {
            print_message("C17 is skipped: this machine does not map 3 x 24 GB of address space\n");
            skip();
        }
    }
    for (int q = 0; q < 4 * kernels.count; q++) {
        for (int i = 0; i < 9; i++) {
            int64_t at = i % 3 + i / 3 * (int64_t)FAR;

            x[0][at] = near_a[i] = 1.0 / (i + 1);
            x[1][at] = near_b[i] = 1.0 / (i + 10);
            x[2][at] = near_c[i] = i;
        }
        assert_int_equal(ozg_dgemm(kernels.ctx[q / 4], q & 1 ? 'T' : 'N', q & 2 ? 'T' : 'N', 3, 3, 3, 1,
                                   near_a, 3, near_b, 3, 0.5, near_c, 3, ozg_moduli(16), NULL),
                         OZG_OK);
        assert_int_equal(ozg_dgemm(kernels.ctx[q / 4], q & 1 ? 'T' : 'N', q & 2 ? 'T' : 'N', 3, 3, 3, 1, x[0],
                                   FAR, x[1], FAR, 0.5, x[2], FAR, ozg_moduli(16), NULL),
                         OZG_OK);
        for (int64_t j = 0; j < 3; j++)
            assert_memory_equal(x[2] + j * FAR, near_c + 3 * j, 3 * sizeof(double));
    }
    for (int q = 0; q < 3; q++)
        munmap(map[q], bytes[q]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c06_empty_sizes), cmocka_unit_test(c08_row_length),
        cmocka_unit_test(c14_odd_sizes),   cmocka_unit_test(c16_extreme_residues),
        cmocka_unit_test(c17_huge_stride),
    };

    return cmocka_run_group_tests(tests, open_all, fixture_close);
}
