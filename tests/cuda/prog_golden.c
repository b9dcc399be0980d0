/*
 * prog_golden.c - products on a CUDA device have the hashes of tests/golden/products.txt (support/golden.h), which
 * other devices and processors have, too: machines that never meet are compared.
 *
 *     prog_golden [--driver LIBRARY [--capability N] [--order N] [--fresh N]] [--every N]
 *
 * --every: this share of them, for emulation; the rest as in device_program.h.
 * Each product with matrices of the host and of the device, by every kernel that the device can run. A line for each of
 * these; exit status 1 if a hash is another one, 77 if there is no device.
 *
 * SPDX-License-Identifier: MIT
 */
#include "device_program.h"

#include "golden.h"

static int wrong, every = 1;

static size_t matrix_bytes(const struct gemm *g, int64_t rows, int64_t columns, int64_t ld)
{
    return (size_t)matrix_elements(rows, columns, ld) * type_bytes(g->type);
}

static ozg_status run_on_device(ozg_context *ctx, const struct gemm *g, void *c, ozg_accuracy acc)
{
    const size_t a_bytes = matrix_bytes(g, gemm_rows_a(g), gemm_cols_a(g), g->lda),
                 b_bytes = matrix_bytes(g, gemm_rows_b(g), gemm_cols_b(g), g->ldb),
                 c_bytes = gemm_image_bytes(g);
    struct gemm there = *g;
    CUdeviceptr memory[3], to;
    ozg_status status;

    there.a = (const void *)(uintptr_t)device_copy(g->a, a_bytes, 0, &memory[0]);
    there.b = (const void *)(uintptr_t)device_copy(g->b, b_bytes, 0, &memory[1]);
    to = device_copy(c, c_bytes, 0, &memory[2]);
    status = gemm_run(ctx, &there, (void *)(uintptr_t)to, acc, NULL);
    if (!status)
        status = ozg_report_wait(ctx, NULL);
    must(api->download(c, to, c_bytes, NULL), "download");
    must(api->stream_synchronize(NULL), "synchronize");
    for (int q = 0; q < 3; q++)
        must(api->release(memory[q]), "release");
    return status;
}

static void check(ozg_context *ctx, const struct golden *expected, const struct gemm *g,
                  struct golden_problem problem)
{
    void *c = gemm_image(g);
    const ozg_accuracy acc = golden_accuracy(problem);
    const ozg_status status =
        ctx->device_pointers ? run_on_device(ctx, g, c, acc) : gemm_run(ctx, g, c, acc, NULL);
    const uint64_t hash = golden_hash(g, c);

    if (status)
        printf("    %s: %s\n", expected->name, ozg_last_error(ctx));
    else if (hash != expected->hash)
        printf("    %s: 0x%016llX, not 0x%016llX\n", expected->name, (unsigned long long)hash,
               (unsigned long long)expected->hash);
    wrong += status || hash != expected->hash;
    free(c);
}

/* All products in one context. */
static void check_all(const char *kernel, int device_pointers)
{
    const struct golden *table = golden_table();
    const int before = wrong;
    int count = 0;
    ozg_config cfg;
    ozg_context *ctx;
    struct arena arena;

    ozg_config_init(&cfg);
    cfg.backend = OZG_BACKEND_CUDA;
    cfg.kernel = kernel;
    cfg.device_pointers = device_pointers;
    must(ozg_create(&ctx, &cfg), "create a context");
    must(ozg_cuda_enter(ctx), "enter");
    arena_open(&arena, 64 << 10);
    for (int q = 0; q < golden_count(); q += every, count++) {
        struct gemm g;
        char name[64];
        const struct golden_problem problem = golden_make(q, &arena, &g, name);

        if (!table[q].name || strcmp(name, table[q].name) != 0) {
            printf("tests/golden/products.txt has no %s in line %d\n", name, q + 2);
            exit(2);
        }
        check(ctx, &table[q], &g, problem);
    }
    arena_close(&arena);
    printf("%-10s %s pointers: %d products, %d differ\n", kernel, device_pointers ? "device" : "host  ",
           count, wrong - before);
    fflush(stdout);
    ozg_cuda_leave(ctx, OZG_OK);
    ozg_destroy(ctx);
}

/* Is a context with this kernel to be had? */
static int can_run(const char *kernel)
{
    ozg_config cfg;
    ozg_context *ctx;

    ozg_config_init(&cfg);
    cfg.backend = OZG_BACKEND_CUDA;
    cfg.kernel = kernel;
    if (ozg_create(&ctx, &cfg))
        return 0;
    ozg_destroy(ctx);
    return 1;
}

int main(int argc, char **argv)
{
    static const char *const kernels[] = {"cuda-mma", "cuda-wgmma"};
    ozg_context *first;
    const char *share = option_of(argc, argv, "--every");

    every = share && atoi(share) > 0 ? atoi(share) : 1;
    use_driver(argc, argv, 1);
    first = open_context(OZG_BACKEND_CUDA, 0, 0);
    api = first->cuda->api;
    for (size_t q = 0; q < sizeof kernels / sizeof *kernels; q++)
        for (int device_pointers = 0; device_pointers < 2; device_pointers++)
            if (can_run(kernels[q]))
                check_all(kernels[q], device_pointers);
    printf("%s: %d differ from tests/golden/products.txt\n", ozg_device_name(OZG_BACKEND_CUDA, 0), wrong);
    ozg_destroy(first);
    return wrong != 0;
}
