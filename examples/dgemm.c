/*
 * dgemm.c - one product: open a context, multiply, read the report, handle an error.
 *
 *   cc dgemm.c $(pkg-config --cflags --libs ozgemm) && ./a.out
 *
 * SPDX-License-Identifier: MIT
 */
#include <ozgemm.h>
#include <stdio.h>

int main(void)
{
    const double a[] = {1e16, 0.1, 1, 0.2, -1e16, -0.3}; /* 2 x 3, column by column */
    const double b[] = {1, 1, 1};
    double c[2] = {0, 0}; /* summing in double gives 0 and 5.55e-17, wrong in every digit */
    ozg_context *ctx;
    ozg_report report;

    if (ozg_create(&ctx, NULL) != OZG_OK) {
        fprintf(stderr, "%s\n", ozg_last_error(NULL));
        return 1;
    }
    ozg_status status =
        ozg_dgemm(ctx, 'N', 'N', 2, 1, 3, 1.0, a, 2, b, 3, 0.0, c, 2, ozg_moduli(16), &report);
    if (status == OZG_OK) {
        printf("C = %.17g, %.17g\n", c[0], c[1]);
        printf("%d moduli, width %d bits, proven error at most %.1e, %s\n", report.moduli, report.width,
               report.bound, report.exact ? "correctly rounded" : "inputs were rounded");
    }
    int fine = status == OZG_OK && report.exact && c[0] == 1;

    /* A wrong argument, on purpose (lda = 1): C stays as it is, and the message says what to change. */
    status = ozg_dgemm(ctx, 'N', 'N', 2, 1, 3, 1.0, a, 1, b, 3, 0.0, c, 2, ozg_moduli(16), NULL);
    printf("lda = 1 on purpose gives %s: %s\n", ozg_status_name(status), ozg_last_error(ctx));
    ozg_destroy(ctx);
    return fine && status == OZG_E_ARG ? 0 : 1;
}
