/*
 * prepared.c - one matrix in many products: A is scaled and split once, each B then costs only its own part.
 *
 * Here A x is applied again and again, as iterative solvers and time steppers do. The bits are those of plain
 * calls.
 *
 * SPDX-License-Identifier: MIT
 */
#include <ozgemm.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 400, COLUMNS = 8, STEPS = 5 };

/* must() - end the program with the library's own sentence if a call failed. */
static void must(ozg_status status, const ozg_context *ctx)
{
    if (status != OZG_OK) {
        fprintf(stderr, "%s\n", ozg_last_error(ctx));
        exit(1);
    }
}

int main(void)
{
    static double a[N * N], x[N * COLUMNS], y[N * COLUMNS], plain[N * COLUMNS];
    const ozg_accuracy accuracy = ozg_moduli(ozg_moduli_for_bits('d', N, 53));
    double prepared_split = 0, plain_split = 0;
    ozg_context *ctx;
    ozg_operand *pa;
    ozg_report report;

    for (int i = 0; i < N * N; i++)
        a[i] = cos(i) / sqrt(N);
    for (int i = 0; i < N * COLUMNS; i++)
        x[i] = sin(i);
    must(ozg_create(&ctx, NULL), NULL);
    must(ozg_operand_create(&pa, ctx, 'd', 'A', 'N', N, N, a, N, accuracy), ctx);
    for (int step = 0; step < STEPS; step++) {
        must(ozg_dgemm_prepared(ctx, 'N', 'N', N, COLUMNS, N, 1.0, pa, NULL, 0, NULL, x, N, 0.0, y, N,
                                accuracy, &report),
             ctx);
        prepared_split += report.seconds_scale + report.seconds_split;
        must(ozg_dgemm(ctx, 'N', 'N', N, COLUMNS, N, 1.0, a, N, x, N, 0.0, plain, N, accuracy, &report), ctx);
        plain_split += report.seconds_scale + report.seconds_split;
        if (memcmp(y, plain, sizeof y) != 0) {
            fprintf(stderr, "step %d: the prepared product differs from the plain one\n", step);
            return 1;
        }
        memcpy(x, y, sizeof x);
    }
    printf("%d products of %d x %d by %d columns, %d moduli: the same bits with A prepared\n", STEPS, N, N,
           COLUMNS, report.moduli);
    printf("scale and split: %.2f ms with A prepared, %.2f ms without\n", 1e3 * prepared_split,
           1e3 * plain_split);
    ozg_operand_destroy(pa);
    ozg_destroy(ctx);
    return 0;
}
