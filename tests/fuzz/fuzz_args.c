/*
 * fuzz_args.c - libFuzzer: any arguments at all, on matrices inside a small arena.
 *
 * Never a crash or a write outside C. What the rules of the header call valid must be done and be right; what
 * they call wrong must be refused with C untouched. The rules are written here once more, apart from the
 * library.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gemm.h"
#include "oracle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { NUMBERS = 256, LIMIT = 12 }; /* numbers in the arena; sizes below which a product is tried in full */

/* The input as a stream of small integers. */
struct input {
    const uint8_t *data;
    size_t size;
};

static int take(struct input *in)
{
    if (in->size == 0)
        return 0;
    in->size--;
    return *in->data++;
}

/* A size or leading dimension: mostly small, now and then an extreme one. */
static int64_t take_size(struct input *in)
{
    static const int64_t odd[] = {-1,        INT64_MIN, INT64_MAX, INT64_MAX / 8, INT64_C(1) << 32,
                                  INT32_MIN, 1 << 20,   255};
    int x = take(in);

    return x >= 248 ? odd[x - 248] : x % (LIMIT + 1);
}

static char take_trans(struct input *in)
{
    static const char trans[] = "NTCntcNTCntcNTC";
    int x = take(in);

    return x >= 240 ? (char)take(in) : trans[x % 15];
}

static int valid_trans(char t)
{
    return t != 0 && strchr("NTCntc", t) != NULL;
}

static int64_t at_least(int64_t x)
{
    return x > 1 ? x : 1;
}

static int nothing(const struct gemm *g)
{
    return g->m == 0 || g->n == 0 || g->k == 0 ||
           (g->alpha[0] == 0 && (!type_is_complex(g->type) || g->alpha[1] == 0));
}

/* The matrix lies inside the arena, counted in elements from its first one. */
static int inside(const struct gemm *g, int64_t first, int64_t rows, int64_t cols, int64_t ld)
{
    int64_t room = NUMBERS / type_parts(g->type) - first;

    return rows == 0 || cols == 0 || (rows <= room && (cols == 1 || (cols - 1) <= (room - rows) / ld));
}

/* 1: an element of C is one of x (both inside the arena). */
static int meets(const struct gemm *g, int64_t c, int64_t x, int64_t rows, int64_t cols, int64_t ld)
{
    for (int64_t q = 0; q < g->m * g->n; q++) {
        int64_t e = c + q % g->m + q / g->m * g->ldc;

        for (int64_t j = 0; j < cols; j++) {
            if (e >= x + j * ld && e < x + j * ld + rows)
                return 1;
        }
    }
    return 0;
}

/* EITHER: one column, but a leading dimension that no address space has. TOO_FAR: the arena does not hold the
 * matrices. */
enum verdict { REFUSED, RUNS, EITHER, TOO_FAR };

/* The rules of the header, for matrices at elements a, b, c of the arena. */
static enum verdict judge(const struct gemm *g, struct request request, int64_t a, int64_t b, int64_t c)
{
    if (!valid_trans(g->transa) || !valid_trans(g->transb) || g->m < 0 || g->n < 0 || g->k < 0)
        return REFUSED;
    if (request.kind == REQUEST_MODULI ? request.value < 2 || request.value > 49 : request.value < 1)
        return REFUSED;
    if (g->lda < at_least(gemm_rows_a(g)) || g->ldb < at_least(gemm_rows_b(g)) || g->ldc < at_least(g->m))
        return REFUSED;
    if (!inside(g, c, g->m, g->n, g->ldc))
        return TOO_FAR;
    if (nothing(g))
        return RUNS;
    if (!inside(g, a, gemm_rows_a(g), gemm_cols_a(g), g->lda) ||
        !inside(g, b, gemm_rows_b(g), gemm_cols_b(g), g->ldb))
        return TOO_FAR;
    if (meets(g, c, a, gemm_rows_a(g), gemm_cols_a(g), g->lda) ||
        meets(g, c, b, gemm_rows_b(g), gemm_cols_b(g), g->ldb))
        return REFUSED;
    if (request_width(request, g->type, g->k) < 1)
        return REFUSED;
    return RUNS;
}

static int endless(const struct gemm *g)
{
    const int64_t most = INT64_MAX / (int64_t)type_bytes(g->type);

    return g->lda > most || g->ldb > most || g->ldc > most;
}

static void take_problem(struct input *in, struct gemm *g, struct request *request)
{
    static const double scalar[] = {0, 1, -1, 0.5, 3, -0.0, 1, 1};

    memset(g, 0, sizeof *g);
    g->type = "sdcz"[take(in) % 4];
    g->transa = take_trans(in);
    g->transb = take_trans(in);
    g->m = take_size(in);
    g->n = take_size(in);
    g->k = take_size(in);
    g->lda = take_size(in);
    g->ldb = take_size(in);
    g->ldc = take_size(in);
    for (int part = 0; part < 2; part++) {
        g->alpha[part] = scalar[take(in) % 8];
        g->beta[part] = scalar[take(in) % 8];
    }
    request->kind = take(in) % 2 ? REQUEST_MODULI : REQUEST_WIDTH;
    request->value = take(in) - (take(in) % 8 == 0 ? 200 : 0);
}

static void fail(const struct gemm *g, struct request request, const char *what)
{
    gemm_print(g, what);
    fprintf(stderr, "  %s %d\n", request.kind == REQUEST_MODULI ? "moduli" : "width", request.value);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static ozg_context *ctx;
    double arena[NUMBERS], before[NUMBERS], want[NUMBERS];
    struct input in = {data, size};
    struct request request;
    struct gemm g;
    size_t element;
    int64_t a, b, c;
    enum verdict verdict;
    ozg_status status;
    ozg_report report;

    if (ctx == NULL) {
        ozg_config cfg;

        ozg_config_init(&cfg);
        cfg.threads = 1;
        if (ozg_create(&ctx, &cfg) != OZG_OK)
            abort();
    }
    take_problem(&in, &g, &request);
    a = take(&in) % (NUMBERS / 2);
    b = take(&in) % (NUMBERS / 2);
    c = take(&in) % (NUMBERS / 2);
    verdict = judge(&g, request, a, b, c);
    if (verdict == TOO_FAR)
        return 0;
    if (verdict == RUNS && endless(&g))
        verdict = EITHER;
    for (int i = 0; i < NUMBERS; i++)
        number_set(g.type, arena, i, (double)(take(&in) - 128) / 4);
    memcpy(before, arena, sizeof arena);
    memcpy(want, arena, sizeof arena);
    element = type_bytes(g.type);
    if (verdict != REFUSED) {
        g.a = (char *)before + (size_t)a * element;
        g.b = (char *)before + (size_t)b * element;
        oracle_gemm(&g, request_width(request, g.type, g.k), (char *)want + (size_t)c * element);
    }
    g.a = (char *)arena + (size_t)a * element;
    g.b = (char *)arena + (size_t)b * element;
    status = gemm_run(ctx, &g, (char *)arena + (size_t)c * element, request_accuracy(request), &report);
    if (verdict != EITHER && (status == OZG_OK) != (verdict == RUNS))
        fail(&g, request, ozg_status_name(status));
    if (memcmp(arena, status == OZG_OK ? want : before, sizeof arena) != 0)
        fail(&g, request, "wrong result");
    return 0;
}
