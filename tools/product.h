/*
 * product.h - one call for the products of all four types.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TOOL_PRODUCT_H
#define OZG_TOOL_PRODUCT_H

#include "cli.h"
#include "ozgemm.h"

/* C := alpha op(A) op(B) + beta C; data of the type, packed or with leading dimensions, column-major. */
struct product {
    char type, transa, transb;
    int64_t m, n, k;
    struct scalar alpha, beta;
    const void *a, *b;
    void *c;
    int64_t lda, ldb, ldc;
    ozg_accuracy accuracy;
};

/* product_of() - alpha = 1, beta = 0, no transposes, packed matrices. */
struct product product_of(char type, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c,
                          ozg_accuracy accuracy);

/* product_run() - ozg_?gemm(). */
ozg_status product_run(ozg_context *ctx, const struct product *p, ozg_report *report);

/*
 * product_least_memory() - the workspace that the product needs at least: the smallest memory_limit that the
 * library takes. 0: the limit of the configuration is enough.
 */
size_t product_least_memory(const ozg_config *config, const struct product *p);

#endif
