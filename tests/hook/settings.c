/*
 * settings.c - one emulated product whose error shows the number of moduli, and one call that is passed on.
 *
 *   settings           prints "error E", the largest error of a 16 x 16 product against long double
 *   settings unset     the same after removing all settings from the environment
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"

enum { N = 16 };

int main(int argc, char **argv)
{
    double a[N * N], b[N * N], c[N * N], worst = 0;
    gemm_call g = {.type = 'd',
                   .transa = 'N',
                   .transb = 'N',
                   .m = N,
                   .n = N,
                   .k = N,
                   .alpha = {1, 0},
                   .a = a,
                   .b = b,
                   .c = c,
                   .lda = N,
                   .ldb = N,
                   .ldc = N};
    unsigned state = 1;

    if (argc > 1 && strcmp(argv[1], "unset") == 0) {
        static const char *const names[] = {"OZG_MODULI", "OZG_THREADS", "OZG_MEMORY", "OZG_KERNEL",
                                            "OZG_LOG"};

        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            unsetenv(names[i]); /* not clearenv(): OpenMP runtimes look for their own settings */
    }
    for (int x = 0; x < N * N; x++) {
        a[x] = sin((double)x + 0.5);
        state = state * 1664525u + 1013904223u;
        b[x] = (double)state / 4e9 + 1e-9 * x;
    }
    call_gemm(CBLAS_ROWS, &g);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            long double sum = 0;
            for (int p = 0; p < N; p++)
                sum += (long double)a[i * N + p] * (long double)b[p * N + j];
            worst = fmax(worst, fabs((double)(sum - (long double)c[i * N + j])));
        }
    printf("error %.2e\n", worst);
    return 0;
}
