/*
 * refused.c - case C11 where the library refuses the product, so that the next BLAS computes it: C = A, C = B
 * and C partly over both are still as if the inputs had been copied first, and nothing outside C changes.
 *
 * Run with so little memory that every product is refused. Small integers: exact in any order of the sums.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "calls.h"

enum { N = 23, LD = N + 2, FIELD = 3 * N * LD };

/* Element (i, j) of op(X). */
static void operand(interface face, const gemm_call *g, int is_a, int i, int j, double value[2])
{
    const char trans = is_a ? g->transa : g->transb;
    const void *x = is_a ? g->a : g->b;
    const int ld = is_a ? g->lda : g->ldb;

    load(g->type, x, trans == 'N' ? element(face, i, j, ld) : element(face, j, i, ld), value);
    if (trans == 'C')
        value[1] = -value[1];
}

/* The product of matrices that do not overlap; alpha and beta are real. */
static void multiply_apart(interface face, const gemm_call *g)
{
    for (int i = 0; i < g->m; i++)
        for (int j = 0; j < g->n; j++) {
            const size_t at = element(face, i, j, g->ldc);
            double sum[2] = {0, 0}, x[2], y[2];

            for (int p = 0; p < g->k; p++) {
                operand(face, g, 1, i, p, x);
                operand(face, g, 0, p, j, y);
                sum[0] += x[0] * y[0] - x[1] * y[1];
                sum[1] += x[0] * y[1] + x[1] * y[0];
            }
            load(g->type, g->c, at, x);
            store(g->type, g->c, at, g->alpha[0] * sum[0] + g->beta[0] * x[0],
                  g->alpha[0] * sum[1] + g->beta[0] * x[1]);
        }
}

static char *copy_of(const char *x, size_t bytes)
{
    char *copy = malloc(bytes);

    if (copy == NULL)
        abort();
    return memcpy(copy, x, bytes);
}

/* A, B and C begin at these elements of one field. */
static void overlapping(interface face, gemm_call g, int at_a, int at_b, int at_c)
{
    const size_t size = size_of(g.type), bytes = FIELD * size;
    char *in_place = calloc(FIELD, size), *apart, *original;

    if (in_place == NULL)
        abort();
    for (int x = 0; x < FIELD; x++)
        store(g.type, in_place, (size_t)x, x * 7 % 11 - 5, x * 5 % 13 - 6);
    apart = copy_of(in_place, bytes);
    original = copy_of(in_place, bytes);
    g.a = original + (size_t)at_a * size, g.b = original + (size_t)at_b * size;
    g.c = apart + (size_t)at_c * size;
    multiply_apart(face, &g);
    g.a = in_place + (size_t)at_a * size, g.b = in_place + (size_t)at_b * size;
    g.c = in_place + (size_t)at_c * size;
    call_gemm(face, &g);
    CHECK(memcmp(in_place, apart, bytes) == 0,
          "%cgemm, interface %d, %c%c, m %d n %d, A at %d B at %d C at %d", g.type, face, g.transa, g.transb,
          g.m, g.n, at_a, at_b, at_c);
    free(in_place);
    free(apart);
    free(original);
}

/* Five positions of C for one shape. */
static void every_position(interface face, const gemm_call *g)
{
    enum { SIZE = N * LD };

    overlapping(face, *g, 0, SIZE, 0);        /* C = A */
    overlapping(face, *g, 0, SIZE, SIZE);     /* C = B */
    overlapping(face, *g, 0, SIZE, SIZE / 2); /* C over the end of A and the start of B */
    overlapping(face, *g, 0, 0, 0);           /* all three */
    overlapping(face, *g, 0, SIZE, 2 * SIZE); /* apart: passed on as it is */
}

int main(void)
{
    static const char types[] = {'s', 'd', 'c', 'z'};

    for (int q = 0; q < 4 * INTERFACES; q++)
        for (int shape = 0; shape < 4; shape++) { /* square, wide, tall; with and without transposes */
            gemm_call g = {.type = types[q % 4], .k = N, .alpha = {2, 0}, .lda = LD, .ldb = LD, .ldc = LD};

            g.m = shape == 1 ? 9 : N;
            g.n = shape == 2 ? 9 : N;
            g.transa = shape == 3 ? 'C' : 'N';
            g.transb = shape == 0 ? 'T' : 'N';
            g.beta[0] = shape % 2 ? 3 : 0;
            every_position((interface)(q / 4), &g);
        }
    return check_status();
}
