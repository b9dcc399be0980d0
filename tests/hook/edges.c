/*
 * edges.c - cases C01 and C06 through the drop-in: alpha = 0, beta = 0, k = 0, m = 0, n = 0; and plain
 * products of small integers with every pair of transposes, so that the entries are known to multiply at all.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "calls.h"

static const char types[] = "sdcz";

enum { M = 4, N = 3, K = 5, LD = 8, AREA = LD * LD };

/* The start of a page that nobody may read. */
static const void *forbidden(void)
{
    return mmap(NULL, 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* Real and imaginary part of element x of C before a call: a negative zero, numbers, a NaN. */
static double before(size_t x)
{
    return x % 5 == 0 ? -0.0 : x % 5 == 1 ? NAN : (double)x - 7.5;
}

static double after(double beta, double old)
{
    return beta == 0 ? 0.0 : beta * old;
}

static bool same(double x, double y)
{
    return isnan(x) ? isnan(y) != 0 : x == y && !signbit(x) == !signbit(y);
}

/* C := beta C was due: the m x n part must have it, the rest must be untouched. */
static void check_scaled(interface face, const gemm_call *g, const char *what)
{
    unsigned char inside[AREA] = {0}, copy[AREA * 16];
    double value[2];

    for (int j = 0; j < g->n; j++)
        for (int i = 0; i < g->m; i++)
            inside[element(face, i, j, g->ldc)] = 1;
    for (size_t x = 0; x < AREA; x++)
        store(g->type, copy, x, before(x), before(x + 3));
    for (size_t x = 0; x < AREA; x++) {
        load(g->type, g->c, x, value);
        if (!inside[x] || g->beta[0] == 1)
            CHECK(memcmp((char *)g->c + x * size_of(g->type), copy + x * size_of(g->type),
                         size_of(g->type)) == 0,
                  "%s: %cgemm interface %d touched element %zu", what, g->type, face, x);
        else
            CHECK(same(value[0], after(g->beta[0], before(x))) &&
                      (!is_complex(g->type) || same(value[1], after(g->beta[0], before(x + 3)))),
                  "%s: %cgemm interface %d beta %g element %zu is %g %g", what, g->type, face, g->beta[0], x,
                  value[0], value[1]);
    }
}

static void scale_only(interface face, gemm_call g, const char *what)
{
    static const double betas[] = {0, 1, -2};
    unsigned char c[AREA * 16];

    g.c = c;
    for (int t = 0; t < 4; t++)
        for (int b = 0; b < 3; b++) {
            g.type = types[t];
            g.beta[0] = betas[b];
            for (size_t x = 0; x < AREA; x++)
                store(g.type, c, x, before(x), before(x + 3));
            call_gemm(face, &g);
            check_scaled(face, &g, what);
        }
}

static void case_c01(interface face)
{
    gemm_call g = {.transa = 'N', .transb = 'N', .m = M, .n = N, .k = K, .lda = LD, .ldb = LD, .ldc = LD};

    g.a = forbidden();
    g.b = forbidden();
    scale_only(face, g, "C01: alpha = 0");
}

static void case_c06(interface face)
{
    gemm_call g = {.m = 3, .n = 3, .alpha = {1, 0}, .lda = 1, .ldb = 1, .ldc = 5};

    g.transa = face == CBLAS_ROWS ? 'N' : 'T';
    g.transb = face == CBLAS_ROWS ? 'T' : 'N';
    scale_only(face, g, "C06: k = 0");
    for (int t = 0; t < 4; t++) {
        gemm_call empty = {
            .type = types[t], .transa = 'N', .transb = 'N', .k = 3, .alpha = {1, 0}, .beta = {2, 0}};
        empty.lda = empty.ldb = empty.ldc = 8;
        empty.m = 3;
        call_gemm(face, &empty);
        empty.m = 0;
        empty.n = 3;
        call_gemm(face, &empty);
    }
}

/* Element (i, j) of op(X) of an integer matrix, and its product by three loops. */
static void operand(interface face, char type, char trans, const void *x, int i, int j, double value[2])
{
    load(type, x, trans == 'N' ? element(face, i, j, LD) : element(face, j, i, LD), value);
    if (trans == 'C')
        value[1] = -value[1];
}

static void check_product(interface face, const gemm_call *g, const void *old)
{
    double u[2], v[2], got[2], c[2], re, im;

    for (int j = 0; j < g->n; j++)
        for (int i = 0; i < g->m; i++) {
            re = im = 0;
            for (int p = 0; p < g->k; p++) {
                operand(face, g->type, g->transa, g->a, i, p, u);
                operand(face, g->type, g->transb, g->b, p, j, v);
                re += u[0] * v[0] - u[1] * v[1];
                im += u[0] * v[1] + u[1] * v[0];
            }
            load(g->type, old, element(face, i, j, g->ldc), c);
            load(g->type, g->c, element(face, i, j, g->ldc), got);
            CHECK(got[0] == 3 * re + 2 * c[0] && got[1] == 3 * im + 2 * c[1],
                  "%cgemm %c%c interface %d (%d,%d): %g %g", g->type, g->transa, g->transb, face, i, j,
                  got[0], got[1]);
        }
}

static void products(interface face)
{
    static const char trans[] = "NTC";
    unsigned char a[AREA * 16], b[AREA * 16], c[AREA * 16], old[AREA * 16];
    gemm_call g = {.m = M, .n = N, .k = K, .alpha = {3, 0}, .beta = {2, 0}, .lda = LD, .ldb = LD, .ldc = LD};

    g.a = a;
    g.b = b;
    g.c = c;
    for (int t = 0; t < 4; t++)
        for (int pair = 0; pair < 9; pair++) {
            g.type = types[t];
            g.transa = trans[pair / 3];
            g.transb = trans[pair % 3];
            for (size_t x = 0; x < AREA; x++) {
                store(g.type, a, x, (double)(x * 7 % 19) - 9, (double)(x * 5 % 17) - 8);
                store(g.type, b, x, (double)(x * 11 % 23) - 11, (double)(x * 3 % 13) - 6);
                store(g.type, c, x, (double)(x * 13 % 29) - 14, (double)(x * 2 % 11) - 5);
            }
            memcpy(old, c, sizeof old);
            call_gemm(face, &g);
            check_product(face, &g, old);
        }
}

int main(void)
{
    for (interface face = FORTRAN; face < INTERFACES; face++) {
        products(face);
        case_c01(face);
        case_c06(face);
    }
    return check_status();
}
