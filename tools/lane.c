/*
 * lane.c - one way to compute C on a GPU.
 *
 * SPDX-License-Identifier: MIT
 */
#include "lane.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* ---- products of 8-bit integers -------------------------------------------------------------------- */

static int64_t round_up(int64_t n)
{
    return (n + 15) / 16 * 16;
}

/* integers() - count random ones. */
static int8_t *integers(int64_t count, uint64_t stream)
{
    int8_t *x = xmalloc((size_t)count);
    for (int64_t i = 0; i < count; i += 8) {
        uint64_t word = random_bits(stream, (uint64_t)i);
        for (int64_t j = i; j < i + 8 && j < count; j++, word >>= 8)
            x[j] = (int8_t)((int)(word % 255) - 127);
    }
    return x;
}

static const char *open_int8(struct lane *l)
{
    struct int8_product *p = &l->int8;
    p->m = round_up(l->t->m);
    p->n = round_up(l->t->n);
    p->k = round_up(l->t->k);
    if (p->k > INT32_MAX / (127 * 127))
        return "the sums of so many products leave 32 bits";
    size_t bytes_a = (size_t)(p->m * p->k), bytes_b = (size_t)(p->k * p->n);
    l->c_bytes = sizeof(int32_t) * (size_t)(p->m * p->n);
    p->on.a = cuda_memory(l->cuda, bytes_a);
    p->on.b = cuda_memory(l->cuda, bytes_b);
    p->on.c = cuda_memory(l->cuda, l->c_bytes);
    if (p->on.a == NULL || p->on.b == NULL || p->on.c == NULL)
        return "the GPU has no memory for the matrices of integers";
    p->a = integers((int64_t)bytes_a, 1);
    p->b = integers((int64_t)bytes_b, 2);
    cuda_upload(l->cuda, p->on.a, p->a, bytes_a);
    cuda_upload(l->cuda, p->on.b, p->b, bytes_b);
    l->c = p->on.c;
    l->flops = 2.0 * (double)p->m * (double)p->n * (double)p->k;
    return NULL;
}

/* check_int8() - every entry of some rows and columns, edges included. */
static int check_int8(struct lane *l, const int32_t *c)
{
    enum { MOST = 32 };
    const struct int8_product *p = &l->int8;
    int64_t rows = p->m < MOST ? p->m : MOST, cols = p->n < MOST ? p->n : MOST;
    char line[160];
    for (int64_t q = 0; q < rows * cols; q++) {
        int64_t i = rows > 1 ? q / cols * (p->m - 1) / (rows - 1) : 0;
        int64_t j = cols > 1 ? q % cols * (p->n - 1) / (cols - 1) : 0, sum = 0;
        for (int64_t e = 0; e < p->k; e++)
            sum += p->a[e + i * p->k] * p->b[e + j * p->k];
        if (sum == c[i + j * p->m])
            continue;
        snprintf(line, sizeof line, "entry (%lld, %lld) is %d, the exact sum is %lld", (long long)i + 1,
                 (long long)j + 1, (int)c[i + j * p->m], (long long)sum);
        contest_wrong(l->t, l->row, line);
        return 0;
    }
    json_object_set_new(
        l->row, "checked",
        json_pack("{s:I, s:I}", "sampled", (json_int_t)(rows * cols), "compared", (json_int_t)0));
    return 1;
}

static void close_int8(struct lane *l)
{
    cuda_release(l->cuda, l->int8.on.a);
    cuda_release(l->cuda, l->int8.on.b);
    cuda_release(l->cuda, l->int8.on.c);
    free(l->int8.a);
    free(l->int8.b);
}

/* ---- opening --------------------------------------------------------------------------------------- */

static const char *open_cublas(struct lane *l, struct cublas *cublas)
{
    const char *problem = "there is no cuBLAS";
    if (cublas)
        l->handle = cublas_begin(cublas, cuda_stream(l->cuda), &problem);
    if (l->handle == NULL)
        return problem;
    l->promise = promise_of_blas(l->t->type, l->t->k);
    if (l->kind == LANE_INT8)
        return open_int8(l);
    if (l->kind == LANE_CUBLAS)
        return NULL;
    l->promise.relative *=
        4; /* (4 k + 1) u abs(A) abs(B) is what is proven for this emulation, arXiv 2511.13778 */
    l->device_bits = cuda_memory(l->cuda, sizeof *l->device_bits);
    if (l->device_bits == NULL)
        return "the GPU has no memory left";
    cuda_poison(l->cuda, l->device_bits, sizeof *l->device_bits);
    return cublas_emulate(l->handle, l->t->type, l->device_bits, &l->tells_bits);
}

static const char *open_own(struct lane *l)
{
    const struct contest *t = l->t;
    ozg_config config = t->q->config;
    ozg_accuracy accuracy;
    if (!way_accuracy(l->way, t->type, t->k, &accuracy))
        return "49 moduli are not enough for these bits";
    config.stream = cuda_stream(l->cuda);
    config.device_pointers = 1;
    if (ozg_create(&l->ctx, &config) != OZG_OK)
        return ozg_last_error(NULL);
    l->product = product_of(t->type, t->m, t->n, t->k, l->on->a, l->on->b, l->on->c, accuracy);
    return NULL;
}

const char *lane_open(struct lane *l, struct cublas *cublas)
{
    const struct contest *t = l->t;
    l->c = l->on->c;
    l->c_bytes = type_size(t->type) * (size_t)t->m * (size_t)t->n;
    l->flops = contest_flops(t);
    return l->kind == LANE_OWN ? open_own(l) : open_cublas(l, cublas);
}

void lane_close(struct lane *l)
{
    ozg_destroy(l->ctx);
    cublas_end(l->handle);
    if (l->kind == LANE_INT8)
        close_int8(l);
    cuda_release(l->cuda, l->device_bits);
}

/* ---- running --------------------------------------------------------------------------------------- */

const char *lane_run(struct lane *l, ozg_report *report)
{
    const struct contest *t = l->t;
    const struct int8_product *p = &l->int8;
    if (l->kind == LANE_INT8)
        return cublas_int8(l->handle, p->m, p->n, p->k, p->on.a, p->on.b, p->on.c);
    if (l->kind != LANE_OWN)
        return cublas_gemm(l->handle, t->type, t->m, t->n, t->k, l->on->a, l->on->b, l->on->c);
    if (product_run(l->ctx, &l->product, report) != OZG_OK)
        return ozg_last_error(l->ctx);
    return NULL;
}

const char *lane_wait(struct lane *l, ozg_report *report)
{
    if (l->kind == LANE_OWN && ozg_report_wait(l->ctx, report) != OZG_OK)
        return ozg_last_error(l->ctx);
    cuda_finish(l->cuda);
    return NULL;
}

/* ---- results --------------------------------------------------------------------------------------- */

/* exact() - against the exact product and the defined result; cuBLAS is not compared with itself. */
static int exact(struct lane *l, const struct matrix *c)
{
    const int compare = l->t->compare;
    if (l->kind == LANE_CUBLAS)
        l->t->compare = 0;
    int right = contest_check(l->t, l->t->probe, l->row, c, l->promise);
    l->t->compare = compare;
    return right && (l->kind != LANE_OWN || contest_defined(l->t, l->way, l->row, c));
}

/* fetch() - C of the device in t->c, or the integers in memory of their own, which the caller frees. */
static int32_t *fetch(struct lane *l)
{
    int32_t *sums = l->kind == LANE_INT8 ? xmalloc(l->c_bytes) : NULL;
    cuda_download(l->cuda, sums ? sums : l->t->c.data, l->c, l->c_bytes);
    return sums;
}

int lane_check(struct lane *l)
{
    int32_t *sums = fetch(l);
    int right = sums ? check_int8(l, sums) : exact(l, &l->t->c);
    l->bits = sums ? 0 : contest_bits(&l->t->c);
    free(sums);
    return right;
}

int lane_recheck(struct lane *l)
{
    int32_t *sums = fetch(l);
    int right = sums ? check_int8(l, sums) : contest_bits(&l->t->c) == l->bits;
    free(sums);
    if (right || sums)
        return right;
    if (l->kind != LANE_OWN)
        return exact(l, &l->t->c);
    contest_wrong(l->t, l->row, "the bits of a product that was timed differ from those of the checked one");
    return 0;
}
