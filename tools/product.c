/*
 * product.c - one call for the products of all four types.
 *
 * SPDX-License-Identifier: MIT
 */
#include "product.h"

static int64_t at_least_1(int64_t n)
{
    return n > 1 ? n : 1;
}

struct product product_of(char type, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c,
                          ozg_accuracy accuracy)
{
    return (struct product){
        .type = type,
        .transa = 'N',
        .transb = 'N',
        .m = m,
        .n = n,
        .k = k,
        .alpha = {{1, 0}, {1, 0}},
        .a = a,
        .b = b,
        .c = c,
        .lda = at_least_1(m),
        .ldb = at_least_1(k),
        .ldc = at_least_1(m),
        .accuracy = accuracy,
    };
}

ozg_status product_run(ozg_context *ctx, const struct product *p, ozg_report *report)
{
    switch (p->type) {
    case 's':
        return ozg_sgemm(ctx, p->transa, p->transb, p->m, p->n, p->k, p->alpha.f[0], p->a, p->lda, p->b, p->ldb,
                         p->beta.f[0], p->c, p->ldc, p->accuracy, report);
    case 'd':
        return ozg_dgemm(ctx, p->transa, p->transb, p->m, p->n, p->k, p->alpha.d[0], p->a, p->lda, p->b, p->ldb,
                         p->beta.d[0], p->c, p->ldc, p->accuracy, report);
    case 'c':
        return ozg_cgemm(ctx, p->transa, p->transb, p->m, p->n, p->k, p->alpha.f, p->a, p->lda, p->b, p->ldb,
                         p->beta.f, p->c, p->ldc, p->accuracy, report);
    default:
        return ozg_zgemm(ctx, p->transa, p->transb, p->m, p->n, p->k, p->alpha.d, p->a, p->lda, p->b, p->ldb,
                         p->beta.d, p->c, p->ldc, p->accuracy, report);
    }
}

/* fits() - is this limit enough? What else may be wrong with the product, the product itself tells. */
static int fits(ozg_config config, const struct product *p, size_t limit)
{
    ozg_context *ctx;
    ozg_plan *plan;
    config.memory_limit = limit;
    check_status(ozg_create(&ctx, &config), NULL);
    ozg_status status =
        ozg_plan_create(&plan, ctx, p->type, p->transa, p->transb, p->m, p->n, p->k, p->accuracy);
    ozg_plan_destroy(plan);
    ozg_destroy(ctx);
    return status != OZG_E_WORKSPACE;
}

size_t product_least_memory(const ozg_config *config, const struct product *p)
{
    size_t small = config->memory_limit, enough = small;
    if (small == 0 || fits(*config, p, small))
        return 0;
    do
        enough = enough > SIZE_MAX / 2 ? SIZE_MAX : 2 * enough;
    while (enough < SIZE_MAX && !fits(*config, p, enough));
    while (enough - small > 1) {
        size_t middle = small + (enough - small) / 2;
        *(fits(*config, p, middle) ? &enough : &small) = middle;
    }
    return enough;
}
