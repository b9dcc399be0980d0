/*
 * check.c - lay out a product in guarded memory, run it on every micro-kernel, compare it with the oracle.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

void arena_open(struct arena *r, size_t bytes_each)
{
    guard_open(&r->a, bytes_each);
    guard_open(&r->b, bytes_each);
    guard_open(&r->c, bytes_each);
}

void arena_close(struct arena *r)
{
    guard_close(&r->a);
    guard_close(&r->b);
    guard_close(&r->c);
}

/* One matrix of the arena, filled with a signalling pattern of NaN. */
static void *place(const struct guard *g, char type, int64_t elements, int at_tail)
{
    size_t bytes = (size_t)elements * type_bytes(type);

    if (bytes > g->room) {
        fprintf(stderr, "the arena is too small for %lld elements\n", (long long)elements);
        abort();
    }
    return memset(at_tail ? guard_tail(g, bytes) : guard_head(g), 0xFF, bytes);
}

static int64_t leading(int64_t rows, int64_t pad)
{
    return (rows > 1 ? rows : 1) + pad;
}

void gemm_layout(struct gemm *g, struct arena *r, struct padding pad, int at_tail)
{
    const int64_t ra = gemm_rows_a(g), ca = gemm_cols_a(g), rb = gemm_rows_b(g), cb = gemm_cols_b(g);

    g->lda = leading(ra, pad.a);
    g->ldb = leading(rb, pad.b);
    g->ldc = leading(g->m, pad.c);
    g->a = place(&r->a, g->type, matrix_elements(ra, ca, g->lda), at_tail);
    g->b = place(&r->b, g->type, matrix_elements(rb, cb, g->ldb), at_tail);
    g->c = place(&r->c, g->type, matrix_elements(g->m, g->n, g->ldc), at_tail);
}

void gemm_fill(struct gemm *g, struct rng *r, enum family fa, enum family fb, enum family fc)
{
    const struct view va = gemm_view_a(g), vb = gemm_view_b(g), vc = {g->type, 'N', g->c, g->ldc};

    family_fill(fa, r, &va, 'A', g->m, g->k, (void *)(uintptr_t)g->a);
    family_fill(fb, r, &vb, 'B', g->k, g->n, (void *)(uintptr_t)g->b);
    family_fill(fc, r, &vc, 'C', g->m, g->n, g->c);
}

struct gemm gemm_make(struct arena *arena, char type, const char trans[2], int64_t m, int64_t n, int64_t k,
                      enum family f, uint64_t seed)
{
    struct gemm g = {type, trans[0], trans[1], m, n, k, {0, 0}, {0, 0}, NULL, 0, NULL, 0, NULL, 0};
    struct rng r = {seed};

    g.alpha[0] = scalar_value(type, 5);
    g.beta[0] = scalar_value(type, 8);
    if (type_is_complex(type)) {
        g.alpha[1] = -2;
        g.beta[1] = 0.75;
    }
    gemm_layout(&g, arena, (struct padding){3, 0, 1}, 1);
    gemm_fill(&g, &r, f, f, FAMILY_UNIFORM);
    return g;
}

size_t gemm_image_bytes(const struct gemm *g)
{
    return (size_t)matrix_elements(g->m, g->n, g->ldc) * type_bytes(g->type);
}

void *gemm_image(const struct gemm *g)
{
    size_t bytes = gemm_image_bytes(g);
    void *image = malloc(bytes + 1);

    if (image == NULL)
        abort();
    if (bytes > 0)
        memcpy(image, g->c, bytes);
    return image;
}

int gemm_same(const struct gemm *g, const void *actual, const void *expected, const char *label)
{
    const size_t bytes = gemm_image_bytes(g), number = type_number_bytes(g->type);
    const int parts = type_parts(g->type);
    int64_t at = 0;

    if (bytes == 0 || memcmp(actual, expected, bytes) == 0)
        return 1;
    while (memcmp((const char *)actual + (size_t)at * number, (const char *)expected + (size_t)at * number,
                  number) == 0)
        at++;
    gemm_print(g, label);
    fprintf(stderr, "  row %lld column %lld part %d: got %a, expected %a (C was %a)%s\n",
            (long long)(at / parts % g->ldc), (long long)(at / parts / g->ldc), (int)(at % parts),
            number_get(g->type, actual, at), number_get(g->type, expected, at), number_get(g->type, g->c, at),
            at / parts % g->ldc >= g->m ? " in the padding" : "");
    return 0;
}

ozg_context *kernel_context(const char *kernel, int threads, size_t memory_limit, uint64_t repair_limit)
{
    ozg_config cfg;
    ozg_context *ctx;

    ozg_config_init(&cfg);
    cfg.backend = OZG_BACKEND_CPU;
    cfg.kernel = kernel;
    cfg.threads = threads;
    cfg.memory_limit = memory_limit;
    cfg.repair_limit = repair_limit;
    if (ozg_create(&ctx, &cfg) != OZG_OK) {
        fprintf(stderr, "kernel %s: %s\n", kernel ? kernel : "NULL", ozg_last_error(NULL));
        abort();
    }
    return ctx;
}

int kernels_open(struct kernels *k, int threads)
{
    for (k->count = 0; k->count < MAX_KERNELS && ozg_kernel_name(k->count) != NULL; k->count++) {
        k->name[k->count] = ozg_kernel_name(k->count);
        k->ctx[k->count] = kernel_context(k->name[k->count], threads, 0, UINT64_MAX);
    }
    if (k->count == 0)
        fprintf(stderr, "ozg_kernel_name(0) is NULL\n");
    return k->count > 0;
}

void kernels_close(struct kernels *k)
{
    for (int i = 0; i < k->count; i++)
        ozg_destroy(k->ctx[i]);
    k->count = 0;
}

/* Run g on one context; C is given back as it was. */
static int check_one(const struct gemm *g, ozg_context *ctx, const char *name, struct request request,
                     ozg_status want, const void *before, const void *expected)
{
    const size_t bytes = gemm_image_bytes(g);
    ozg_status got = gemm_run(ctx, g, g->c, request_accuracy(request), NULL);
    void *actual = gemm_image(g);
    int ok = got == want;

    if (bytes > 0)
        memcpy(g->c, before, bytes);
    if (!ok) {
        gemm_print(g, name);
        fprintf(stderr, "  status %s, expected %s (%s)\n", ozg_status_name(got), ozg_status_name(want),
                ozg_last_error(ctx));
    }
    ok = ok && gemm_same(g, actual, expected, name);
    free(actual);
    if (!ok)
        fprintf(stderr, "  at %s %d\n", request.kind == REQUEST_MODULI ? "moduli" : "width", request.value);
    return ok;
}

int gemm_check(const struct kernels *k, const struct gemm *g, struct request request)
{
    void *before = gemm_image(g), *expected = gemm_image(g);
    int width = request_width(request, g->type, g->k), ok = 1;

    if (width >= 1)
        oracle_gemm(g, width, expected);
    for (int i = 0; i < k->count; i++)
        ok &= check_one(g, k->ctx[i], k->name[i], request, width >= 1 ? OZG_OK : OZG_E_UNSUPPORTED, before,
                        expected);
    free(before);
    free(expected);
    return ok;
}

int scalar_count(void)
{
    return 14;
}

double scalar_value(char type, int index)
{
    const int single = type_is_single(type);
    const double value[] = {0,
                            -0.0,
                            1,
                            -1,
                            0.125,
                            1.0 / 3,
                            single ? 1e38 : 1e300,
                            single ? 1e-41 : 1e-310,
                            3.14159265358979323846,
                            HUGE_VAL,
                            -HUGE_VAL,
                            quiet_nan(),
                            single ? 0x1p-149 : 0x1p-1074,
                            single ? -0x1.fffffep127 : -0x1.fffffffffffffp1023};

    return single ? (double)(float)value[index] : value[index];
}

/* One scalar; Inf and NaN are rarer than the others. */
static double random_scalar(struct rng *r, char type)
{
    int index = (int)rng_below(r, (uint64_t)scalar_count());

    if (index >= 9 && index <= 11 && rng_below(r, 4) != 0)
        index = 2;
    return scalar_value(type, index);
}

void gemm_random_scalars(struct gemm *g, struct rng *r)
{
    for (int part = 0; part < 2; part++) {
        g->alpha[part] = random_scalar(r, g->type);
        g->beta[part] = random_scalar(r, g->type);
        if (!type_is_complex(g->type) && part == 1)
            g->alpha[1] = g->beta[1] = 0;
    }
}

static int64_t random_size(struct rng *r, int largest)
{
    return rng_below(r, 12) == 0 ? rng_between(r, 0, 1) : rng_between(r, 1, largest);
}

static struct request random_request(struct rng *r, char type, int64_t k)
{
    struct request q = {REQUEST_MODULI, (int)rng_between(r, 2, 49)};

    if (rng_below(r, 3) == 0) {
        q.kind = REQUEST_WIDTH;
        q.value = (int)rng_between(r, 1, request_width((struct request){REQUEST_MODULI, 49}, type, k));
    } else if (rng_below(r, 2) == 0) {
        q.value = (int)rng_between(r, 12, 20);
    }
    return q;
}

void gemm_random(struct gemm *g, struct rng *r, struct arena *arena, char type, int largest,
                 struct request *request)
{
    static const char trans[] = {'N', 'T', 'C', 'n', 't', 'c'};
    struct padding pad;
    enum family fa = (enum family)rng_below(r, FAMILY_COUNT), fb = fa, fc = fa;

    g->type = type;
    g->transa = trans[rng_below(r, 6)];
    g->transb = trans[rng_below(r, 6)];
    g->m = random_size(r, largest);
    g->n = random_size(r, largest);
    g->k = random_size(r, largest);
    pad = (struct padding){(int64_t)rng_below(r, 4), (int64_t)rng_below(r, 4), (int64_t)rng_below(r, 4)};
    gemm_random_scalars(g, r);
    gemm_layout(g, arena, pad, (int)rng_below(r, 2));
    if (rng_below(r, 2) == 0) /* families are made in pairs, but any pair will do */
        fb = (enum family)rng_below(r, FAMILY_COUNT);
    if (rng_below(r, 2) == 0)
        fc = (enum family)rng_below(r, FAMILY_COUNT);
    gemm_fill(g, r, fa, fb, fc);
    *request = random_request(r, type, g->k);
}
