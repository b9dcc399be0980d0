/*
 * bench_limit.c - how fast a micro-kernel can be on this machine, as far as a caller of the library can see.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_limit.h"

#include <stdlib.h>

#include "cli.h"
#include "families.h"
#include "product.h"

const char limit_obtained[] =
    "the fastest product stage seen in this run with this kernel and number of threads: of small products "
    "whose residues of one modulus stay in the second-level cache, one on each thread at the same time, and "
    "of "
    "the products in the table; it includes the reduction of the sums, so the instructions alone may be "
    "faster";

/* Small products: few moduli, as each one's residues are used once; long enough for the reduction of the sums
 * to be a small part. */
static const struct {
    int64_t lines, k;
    int moduli;
} shapes[] = {{96, 1024, 3}, {256, 2048, 4}};
enum { SHAPES = sizeof shapes / sizeof shapes[0], CALLS = 2 };

double limit_work(const ozg_report *report, int64_t m, int64_t n, int64_t k)
{
    return (double)report->products * (double)m * (double)n * (double)k;
}

/* fastest() - multiply-adds a second of one thread with one of the shapes; 0 if there is no memory. */
static double fastest(const ozg_config *config, int shape, double seconds)
{
    int64_t lines = shapes[shape].lines, k = shapes[shape].k, count = lines * k;
    double *data = malloc(sizeof *data * (size_t)(2 * count + lines * lines)), best = 0;
    ozg_context *ctx = NULL;
    if (data && ozg_create(&ctx, config) == OZG_OK) {
        for (int64_t e = 0; e < 2 * count; e++)
            data[e] = (double)(random_bits(1, (uint64_t)e) >> 11) - 0x1p52;
        struct product p = product_of('d', lines, lines, k, data, data + count, data + 2 * count,
                                      ozg_moduli(shapes[shape].moduli));
        double start = seconds_now();
        for (int call = 0; call < CALLS || seconds_now() - start < seconds; call++) {
            ozg_report r;
            if (product_run(ctx, &p, &r) != OZG_OK)
                break;
            double rate = r.seconds_product > 0 ? limit_work(&r, lines, lines, k) / r.seconds_product : 0;
            best = rate > best ? rate : best;
        }
    }
    ozg_destroy(ctx);
    free(data);
    return best;
}

double limit_rate(const ozg_config *config, const char *kernel, int threads, double seconds)
{
    ozg_config one = *config;
    double best = 0;
    one.kernel = kernel;
    one.threads = 1;
    for (int shape = 0; shape < SHAPES; shape++) {
        double sum = 0;
#pragma omp parallel for num_threads(threads) schedule(static, 1) reduction(+ : sum)
        for (int thread = 0; thread < threads; thread++)
            sum += fastest(&one, shape, seconds / SHAPES);
        best = sum > best ? sum : best;
    }
    return best;
}
