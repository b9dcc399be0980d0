/*
 * plan.c - decide once, run often, in memory of your own: no allocation inside the time loop.
 *
 * SPDX-License-Identifier: MIT
 */
#include <ozgemm.h>
#include <stdio.h>
#include <stdlib.h>

enum { M = 60, N = 40, K = 300, RUNS = 3 };

static int failed(const ozg_context *ctx)
{
    fprintf(stderr, "%s\n", ozg_last_error(ctx));
    return 1;
}

int main(void)
{
    static double a[M * K], b[K * N], c[M * N];
    const double alpha = 1, beta = 1;
    ozg_context *ctx;
    ozg_plan *plan;
    ozg_report report;

    for (int i = 0; i < M * K; i++)
        a[i] = i % 7 - 3;
    for (int i = 0; i < K * N; i++)
        b[i] = i % 5 - 2;
    if (ozg_create(&ctx, NULL) != OZG_OK)
        return failed(NULL);
    if (ozg_plan_create(&plan, ctx, 'd', 'N', 'N', M, N, K, ozg_width(53)) != OZG_OK)
        return failed(ctx);
    void *work = malloc(ozg_plan_workspace(plan));
    if (work == NULL)
        return 1;
    for (int run = 0; run < RUNS; run++) /* C := A B + C */
        if (ozg_plan_run(plan, &alpha, a, M, b, K, &beta, c, M, work, &report) != OZG_OK)
            return failed(ctx);

    double sum = 0; /* of row 0 and column 0, in integers: exact in double */
    for (int p = 0; p < K; p++)
        sum += RUNS * a[M * p] * b[p];
    printf("width %d bits by %d moduli, workspace %zu bytes, %d runs: C[0,0] = %g, exactly %g\n",
           report.width, report.moduli, ozg_plan_workspace(plan), RUNS, c[0], sum);
    free(work);
    ozg_plan_destroy(plan);
    ozg_destroy(ctx);
    return c[0] == sum ? 0 : 1;
}
