/*
 * equal_winograd.h - Winograd's algorithm whatever the size, and times with and without it. A part of
 * prog_equal.c.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TEST_CUDA_EQUAL_WINOGRAD_H
#define OZG_TEST_CUDA_EQUAL_WINOGRAD_H

/* From now on, in all contexts. */
static void use_winograd(int always)
{
    winograd = always;
    on_device->winograd = on_host->winograd = always ? OZG_WINOGRAD_ALWAYS : OZG_WINOGRAD_PAYS;
}

/* Halves with and without lines in the second one; parts; tiles; moduli for which there is no room. */
static void group_winograd(void)
{
    const int before = winograd;

    use_winograd(1);
    check(make('d', 300, 280, 150, ozg_native(), UNIFORM), 1);
    check(make('z', 40, 200, 260, ozg_moduli(6), UNIFORM), 0);
    check(make('s', 520, 140, 130, ozg_rounded(), WIDE), 0);
    check(make('d', 300, 283, 130, ozg_native(), EVIL), 0);
    check(make('d', 20, 10, 270, ozg_native(), WIDE), 2);
    check(make('c', 10, 140, 20, ozg_accurate(9), UNIFORM), 1);
    for (int t = 0; t < 4 && !quick; t++)
        for (int q = 0; q < 5; q++) {
            product g = make(types[t], 250 + 100 * q, 300 - 20 * t, 120 + 70 * q, accuracy(types[t], q),
                             q % 2 ? WIDE : UNIFORM);

            g.beta[0] = q % 2 ? 0 : 0.5;
            g.pad = q % 3;
            g.transa = t % 2 ? 'T' : 'N';
            check(g, 1);
        }
    use_winograd(before);
}

#define TIMED 7 /* of each way; the median counts */

static int by_total(const void *x, const void *y)
{
    const double a = ((const ozg_report *)x)->seconds_total, b = ((const ozg_report *)y)->seconds_total;

    return (a > b) - (a < b);
}

static void run_timed(const product *g, const CUdeviceptr x[3], int way, ozg_report *report)
{
    on_device->winograd = way ? OZG_WINOGRAD_ALWAYS : OZG_WINOGRAD_NEVER;
    must(
        call(on_device, g, (void *)(uintptr_t)x[0], (void *)(uintptr_t)x[1], (void *)(uintptr_t)x[2], report),
        ozg_last_error(on_device));
    must(ozg_report_wait(on_device, report), "report");
}

static void *download_c(const product *g, CUdeviceptr x)
{
    void *c = junk(g->bytes_c);

    must(api->download(c, x, g->bytes_c, NULL), "download");
    must(api->stream_synchronize(NULL), "synchronize");
    return c;
}

/* Both ways by turns; C of both must be the same. */
static void time_product(product *g)
{
    ozg_report report[2][TIMED];
    void *c[2] = {NULL, NULL};
    CUdeviceptr x[3], memory[3];

    product_make(g, seed);
    x[0] = device_copy(g->a, g->bytes_a, 0, &memory[0]);
    x[1] = device_copy(g->b, g->bytes_b, 0, &memory[1]);
    x[2] = device_copy(g->c, g->bytes_c, 0, &memory[2]);
    must(api->stream_synchronize(NULL), "synchronize");
    for (int i = -1; i < TIMED; i++) /* the first time does not count */
        for (int way = 0; way < 2; way++) {
            run_timed(g, x, way, &report[way][i < 0 ? 0 : i]);
            if (i < 0)
                c[way] = download_c(g, x[2]);
        }
    cases++;
    differences += memcmp(c[0], c[1], g->bytes_c) != 0;
    for (int way = 0; way < 2; way++) {
        const ozg_report *r = &report[way][TIMED / 2];

        qsort(report[way], TIMED, sizeof report[way][0], by_total);
        printf("%c %lld, accuracy %d %d, %d moduli, %s  %10.3f ms: scale %.3f, split %.3f, product %.3f, "
               "reconstruct %.3f, repair %.3f; %lld tiles, %.2f GB\n",
               g->type, (long long)g->m, g->acc.kind, g->acc.value, r->moduli, way ? "winograd" : "usual   ",
               1e3 * r->seconds_total, 1e3 * r->seconds_scale, 1e3 * r->seconds_split,
               1e3 * r->seconds_product, 1e3 * r->seconds_reconstruct, 1e3 * r->seconds_repair,
               (long long)r->tiles, 1e-9 * (double)r->workspace_bytes);
        free(c[way]);
    }
    for (int q = 0; q < 3; q++)
        must(api->release(memory[q]), "release");
    product_free(g);
}

/* D by native and by 15 moduli, Z by 15. */
static void time_winograd(int64_t n)
{
    product g[] = {make('d', n, n, n, accuracy('d', 0), UNIFORM),
                   make('d', n, n, n, accuracy('d', 1), UNIFORM),
                   make('z', n, n, n, accuracy('z', 1), UNIFORM)};

    for (size_t q = 0; q < sizeof g / sizeof *g; q++)
        time_product(&g[q]);
    use_winograd(winograd);
}

#endif
