/*
 * native_model.c - is native faster? An estimate from type, shape and device alone.
 *
 * Times are counted in cycles, summed over all multiprocessors. With P products of integers (usual data: 14
 * moduli and a product of floors, single 7 and 1; complex 2.2 times as many, by 2M) and c = 1, complex 3:
 *
 *     emulation = START M + c (LINE (m + n) k + ENTRY m n) + P 2 m n k / (rate of int8 * its share)
 *     native    = LAUNCH M + flops / (rate of the type * NATIVE),   flops = 2 m n k, complex 8 m n k
 *
 * M multiprocessors. The constants are fitted to the sustained times of one H200 (doc/performance.md) at 1.98
 * GHz (D 1024 to 16384, k = 256 and 1024, S, Z): off by at most 7 %.
 * On other devices they are an assumption; what decides there is the rate of FP64, which GPUs for graphics
 * have next to none of.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cuda/native.h"

/* Operations in a cycle of a multiprocessor: vector and matrix units for FP64, vectors for FP32 (matrix units
 * have no FP32), mma.sync or wgmma for 8-bit integers. CUDA C++ Programming Guide, arithmetic instructions,
 * and the architecture papers. */
typedef struct rates {
    int capability;
    double fp64, fp32, int8;
} rates;

static const rates known[] = {
    {80, 128, 128, 4096}, {86, 4, 256, 2048},    {87, 4, 256, 4096},  {89, 4, 256, 2048},
    {90, 256, 256, 8192}, {100, 128, 256, 4096}, {103, 4, 256, 2048}, {120, 4, 256, 2048},
};

#define START       2.3e5 /* cycles until all kernels have come and gone, on the way to full use */
#define LAUNCH      1e4
#define LINE        2.3  /* scale and split, an element of op(A) or op(B) */
#define ENTRY       3.9  /* reconstruct and repair, an entry of C */
#define NATIVE      0.76 /* of its rate that cuBLAS reaches */
#define WGMMA       0.655
#define MMA         0.5
#define MMA_ON_SM90 0.25

/* That of the capability, or of the last one before it. */
static const rates *rates_of(int capability)
{
    const rates *r = known;

    while (r + 1 < known + sizeof known / sizeof *known && r[1].capability <= capability)
        r++;
    return r;
}

int ozg_cuda_native_faster(int capability, int wgmma, int multiprocessors, const ozg_shape *s)
{
    const rates *r = rates_of(capability);
    const int single = ozg_type_single(s->type), complex_ = ozg_type_complex(s->type);
    const double m = (double)s->m, n = (double)s->n, k = (double)s->k, parts = complex_ ? 3 : 1;
    const double products = (complex_ ? 2.2 : 1) * (single ? 7 + 1 : 14 + 1);
    const double share = wgmma ? WGMMA : r->capability == 90 ? MMA_ON_SM90 : MMA;
    const double emulation = START * multiprocessors + parts * (LINE * (m + n) * k + ENTRY * m * n) +
                             products * 2 * m * n * k / (r->int8 * share);
    const double native =
        LAUNCH * multiprocessors + (complex_ ? 8 : 2) * m * n * k / ((single ? r->fp32 : r->fp64) * NATIVE);

    return native < emulation;
}
