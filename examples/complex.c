/*
 * complex.c - complex matrices are pairs (re, im); both parts of an entry are rounded once.
 *
 * U is the matrix of the discrete Fourier transform, so U^H U - I shows how far its rounded entries are from
 * unitary. C99's double complex has the same layout as the pairs, and a cast is all that it needs.
 *
 * SPDX-License-Identifier: MIT
 */
#include <ozgemm.h>
#include <complex.h>
#include <math.h>
#include <stdio.h>

enum { N = 128 };

int main(void)
{
    static double complex u[N * N], p[N * N];
    const double one[2] = {1, 0}, minus_one[2] = {-1, 0};
    double largest = 0;
    ozg_context *ctx;
    ozg_report report;

    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) {
            u[i + j * N] = cexp(-2 * 3.141592653589793 * I * (i * j % N) / N) / sqrt(N);
            p[i + j * N] = i == j;
        }
    if (ozg_create(&ctx, NULL) != OZG_OK) {
        fprintf(stderr, "%s\n", ozg_last_error(NULL));
        return 1;
    }
    /* P := U^H U - I in one rounding: P starts as I, alpha = 1, beta = -1. */
    if (ozg_zgemm(ctx, 'C', 'N', N, N, N, one, (double *)u, N, (double *)u, N, minus_one, (double *)p, N,
                  ozg_moduli(18), &report) != OZG_OK) {
        fprintf(stderr, "%s\n", ozg_last_error(ctx));
        return 1;
    }
    for (int i = 0; i < N * N; i++)
        largest = fmax(largest, cabs(p[i]));
    printf("max |U^H U - I| = %.3e, this figure known to %.1e: %d products of residues for %d moduli\n",
           largest, report.bound, report.products, report.moduli);
    ozg_destroy(ctx);
    return largest > 0 && largest < 1e-14 && report.bound < largest ? 0 : 1;
}
