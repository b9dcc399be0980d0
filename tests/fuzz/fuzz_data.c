/*
 * fuzz_data.c - libFuzzer: any bits as data, in small products of valid shape, against the oracle.
 *
 * The first bytes choose type, shape, scalars and accuracy; the rest are the bits of alpha, beta, A, B and C
 * in turn.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct kernels kernels;
static struct arena arena;

enum { HEAD = 10, LARGEST = 9 };

static void start(void)
{
    if (kernels.count > 0)
        return;
    arena_open(&arena, 8192);
    if (!kernels_open(&kernels, 1))
        abort();
}

/* The next number of the type from the bytes; beyond their end they start again, changed a little. */
static double next_number(char type, const uint8_t *data, size_t size, size_t *at)
{
    uint8_t bytes[8];
    double wide;
    float narrow;

    for (size_t i = 0; i < type_number_bytes(type); i++, ++*at)
        bytes[i] = size == 0 ? (uint8_t)*at : (uint8_t)(data[*at % size] + *at / size);
    memcpy(&wide, bytes, sizeof wide);
    memcpy(&narrow, bytes, sizeof narrow);
    return type_is_single(type) ? (double)narrow : wide;
}

static void fill_all(struct gemm *g, const uint8_t *data, size_t size)
{
    const struct view v[3] = {gemm_view_a(g), gemm_view_b(g), {g->type, 'N', g->c, g->ldc}};
    const int64_t rows[3] = {g->m, g->k, g->m}, cols[3] = {g->k, g->n, g->n};
    const int parts = type_parts(g->type);
    size_t at = 0;

    for (int part = 0; part < parts; part++) {
        g->alpha[part] = next_number(g->type, data, size, &at);
        g->beta[part] = next_number(g->type, data, size, &at);
    }
    for (int which = 0; which < 3; which++) {
        for (int64_t q = 0; q < rows[which] * cols[which] * parts; q++)
            number_set(
                g->type, (void *)(uintptr_t)v[which].x,
                view_index(&v[which], q / parts % rows[which], q / parts / rows[which], (int)(q % parts)),
                next_number(g->type, data, size, &at));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const double plain[] = {1, -1, 0, 0.5};
    struct gemm g;
    struct request request;
    int most;

    start();
    if (size < HEAD)
        return 0;
    memset(&g, 0, sizeof g);
    g.type = "sdcz"[data[0] % 4];
    g.transa = "NTC"[data[1] % 3];
    g.transb = "NTC"[data[2] % 3];
    g.m = data[3] % (LARGEST + 1);
    g.n = data[4] % (LARGEST + 1);
    g.k = data[5] % (LARGEST + 1);
    request.kind = data[6] % 2 ? REQUEST_MODULI : REQUEST_WIDTH;
    most = request_width((struct request){REQUEST_MODULI, 49}, g.type, g.k);
    request.value = request.kind == REQUEST_MODULI ? 2 + data[7] % 48 : 1 + data[7] % most;
    gemm_layout(&g, &arena, (struct padding){data[8] & 1, data[8] >> 1 & 1, data[8] >> 2 & 1},
                data[8] >> 3 & 1);
    fill_all(&g, data + HEAD, size - HEAD);
    if (data[9] & 1) { /* plain scalars half of the time */
        g.alpha[0] = plain[data[9] >> 1 & 3];
        g.beta[0] = plain[data[9] >> 3 & 3];
        g.alpha[1] = g.beta[1] = 0;
    }
    if (!gemm_check(&kernels, &g, request))
        abort();
    return 0;
}
