/*
 * consumer.c - somebody's program: one product through the public header; exits 0 if it is right.
 *
 * SPDX-License-Identifier: MIT
 */
#include <ozgemm.h>
#include <stdio.h>

int main(void)
{
    const double a[4] = {1, 3, 2, 4}, b[4] = {5, 7, 6, 8}; /* [1 2; 3 4] and [5 6; 7 8] by columns */
    const double expected[4] = {19, 43, 22, 50};
    double c[4] = {0, 0, 0, 0};
    ozg_context *context;
    ozg_status status = ozg_create(&context, NULL);

    if (status != OZG_OK) {
        fprintf(stderr, "ozg_create: %s: %s\n", ozg_status_name(status), ozg_last_error(NULL));
        return 1;
    }
    status = ozg_dgemm(context, 'N', 'N', 2, 2, 2, 1.0, a, 2, b, 2, 0.0, c, 2, ozg_moduli(16), NULL);
    if (status != OZG_OK) {
        fprintf(stderr, "ozg_dgemm: %s: %s\n", ozg_status_name(status), ozg_last_error(context));
        return 1;
    }
    ozg_destroy(context);
    for (int i = 0; i < 4; i++) {
        if (c[i] != expected[i]) {
            fprintf(stderr, "entry %d is %g, not %g\n", i, c[i], expected[i]);
            return 1;
        }
    }
    printf("version %s: right\n", ozg_version());
    return 0;
}
