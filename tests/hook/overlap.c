/*
 * overlap.c - case C11 through the drop-in: C = A, C = B, C partly over A, and A = B.
 *
 * BLAS leaves an output that shares elements with an input undefined. Here it is as if the inputs had been
 * copied first, so the bits must be those of the call with copies, and nothing outside C may change.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "calls.h"

static double *numbers(size_t count, unsigned seed)
{
    double *x = malloc(count * sizeof *x);

    for (size_t i = 0; i < count; i++) {
        seed = seed * 1103515245u + 12345u;
        x[i] = ((double)(seed >> 8) - 8388608.0) / 3e6;
    }
    return x;
}

static double *copy_of(const double *x, size_t count)
{
    return memcpy(malloc(count * sizeof *x), x, count * sizeof *x);
}

/* A, B and C lie in one field of doubles at these offsets: once in place, once with A and B copied away. */
static void overlapping(int n, size_t at_a, size_t at_b, size_t at_c, double beta)
{
    size_t size = (size_t)n * (size_t)(n + 1), field = 3 * size + 16;
    double *in_place = numbers(field, (unsigned)n + 7u);
    double *apart = copy_of(in_place, field), *a = copy_of(apart + at_a, size),
           *b = copy_of(apart + at_b, size);
    gemm_call g = {.type = 'd', .transa = 'N', .transb = 'T', .m = n, .n = n, .k = n, .alpha = {1.25, 0}};

    g.beta[0] = beta;
    g.lda = g.ldb = g.ldc = n + 1;
    g.a = a, g.b = b, g.c = apart + at_c;
    call_gemm(FORTRAN, &g);
    g.a = in_place + at_a, g.b = in_place + at_b, g.c = in_place + at_c;
    call_gemm(FORTRAN, &g);
    CHECK(memcmp(in_place, apart, field * sizeof(double)) == 0, "n %d A at %zu B at %zu C at %zu beta %g", n,
          at_a, at_b, at_c, beta);
    free(in_place);
    free(apart);
    free(a);
    free(b);
}

int main(void)
{
    static const int sizes[] = {4, 50, 500};

    for (int i = 0; i < 3; i++) {
        size_t size = (size_t)sizes[i] * (size_t)(sizes[i] + 1);
        for (int beta = 0; beta <= 2; beta += 2) {
            overlapping(sizes[i], 0, size, 0, beta);        /* C = A */
            overlapping(sizes[i], 0, size, size, beta);     /* C = B */
            overlapping(sizes[i], 0, size, size / 2, beta); /* C over the end of A and the start of B */
            overlapping(sizes[i], 0, 0, size, beta);        /* A = B: allowed by BLAS */
            overlapping(sizes[i], 0, 0, 0, beta);           /* all three */
        }
    }
    return check_status();
}
