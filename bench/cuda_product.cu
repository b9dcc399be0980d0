/*
 * cuda_product.cu - how fast the wgmma product kernel is on this device, and whether its sums are right.
 *
 * Not a part of the build, since it needs the CUDA runtime. By hand, in the root of the sources:
 *
 *     nvcc -std=c++17 -O3 -fmad=false -gencode=arch=compute_90a,code=sm_90a -Iinclude -Isrc -o cuda_product \
 *         bench/cuda_product.cu src/cuda/reduce_table.c src/cuda/product_maps.c src/moduli.c
 *     ./cuda_product [mma] [MODULI] [M N K]
 *
 * Without M N K it goes through 1024..8192 and short k. Each line: the median of single launches after 100 ms
 * without work (burst), and the mean of launches one behind the other for half a second (sustained; the board
 * then runs at its power limit), in ms and 10^12 operations a second; sums that are wrong of those that were
 * looked at on the host, which include the corners. Residues are random, real, first chunk.
 *
 * SPDX-License-Identifier: MIT
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <vector>

#include <cuda_runtime.h>

extern "C" {
#include "cuda/product_maps.h"
#include "cuda/table.h"
}

#include "../src/cuda/product_mma.cu"
#include "../src/cuda/product_sm90.cu"

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        const cudaError_t error_ = (call);                                                                   \
        if (error_ != cudaSuccess) {                                                                         \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error_));                                  \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

struct bench {
    int mma, nmod;
    int64_t m, n, k;
    ozg_cuda_product_args args;
    ozg_cuda_table *tables; /* device */
    ozg_cuda_state *state;
    int multiprocessors;
    int (*map)(ozg_cuda_map *, int, uint32_t, void *, const uint64_t *, const uint64_t *, const uint32_t *,
               const uint32_t *, int, int, int, int);
    cudaEvent_t from, to;
};

static uint32_t modulus(int nmod, int plane)
{
    return ozg_moduli_get(nmod)->m[plane % nmod];
}

/* Random residues; the same on the host and the device. */
static __host__ __device__ int residue(uint64_t at, uint32_t m, uint64_t seed)
{
    uint64_t z = (at + 1) * 0x9E3779B97F4A7C15u + seed;

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (int)((z ^ (z >> 31)) % m) - (int)(m == 256 ? 128 : (m - 1) / 2);
}

static __global__ void fill(ozg_cuda_planes p, int plane, int64_t k, uint32_t m, uint64_t seed)
{
    const int64_t bytes = p.lines * p.pitch;

    for (int64_t at = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; at < bytes;
         at += (int64_t)gridDim.x * blockDim.x)
        p.base[plane * bytes + at] =
            at % p.pitch < k ? (uint8_t)residue((uint64_t)(plane * bytes + at), m, seed) : 0;
}

static ozg_cuda_planes make_planes(const bench *b, int64_t lines, uint64_t seed)
{
    ozg_cuda_planes p = {NULL, (lines + 255) / 256 * 256, (b->k + 127) / 128 * 128};

    CHECK(cudaMalloc(&p.base, (size_t)(b->nmod * p.lines * p.pitch)));
    for (int plane = 0; plane < b->nmod; plane++)
        fill<<<4096, 256>>>(p, plane, b->k, modulus(b->nmod, plane), seed);
    CHECK(cudaGetLastError());
    return p;
}

static void open_case(bench *b)
{
    ozg_cuda_product_args *a = &b->args;
    ozg_cuda_state state;
    ozg_cuda_api api;

    memset(a, 0, sizeof *a);
    memset(&state, 0, sizeof state);
    memset(&api, 0, sizeof api);
    state.parts = 1;
    state.nmod[0] = b->nmod;
    state.part[0].rows = b->m;
    state.part[0].columns = b->n;
    CHECK(cudaMemcpy(b->state, &state, sizeof state, cudaMemcpyHostToDevice));
    a->state = b->state;
    a->tables = b->tables;
    a->request.kind = OZG_BY_MODULI;
    a->tile.rows = b->m;
    a->tile.columns = b->n;
    a->tile.count = b->k;
    a->tile.first = 1;
    a->a = make_planes(b, b->m, 1);
    a->b = make_planes(b, b->n, 2);
    a->out.ld = a->a.lines;
    a->out.columns = a->b.lines;
    a->out.floor_bytes = 4;
    CHECK(cudaMalloc(&a->out.base, (size_t)(b->nmod * a->out.ld * a->out.columns)));
    CHECK(cudaMemset(a->out.base, 0x5a, (size_t)(b->nmod * a->out.ld * a->out.columns)));
    api.tensor_map = b->map;
    if (ozg_cuda_product_maps(&api, &a->a, &a->b, b->nmod, &a->map_a, &a->map_b)) {
        fprintf(stderr, "cuTensorMapEncodeTiled() failed\n");
        exit(1);
    }
    CHECK(cudaDeviceSynchronize());
}

static void close_case(bench *b)
{
    CHECK(cudaFree(b->args.a.base));
    CHECK(cudaFree(b->args.b.base));
    CHECK(cudaFree(b->args.out.base));
}

static void launch(const bench *b)
{
    const int blocks = ozg_cuda_product_blocks(!b->mma, b->m, b->n, b->nmod, b->multiprocessors);

    if (b->mma)
        ozg_cuda_product_mma<<<blocks, OZG_CUDA_MMA_THREADS, OZG_CUDA_MMA_SHARED>>>(b->args);
    else
        ozg_cuda_product_wgmma<<<blocks, OZG_CUDA_WGMMA_THREADS, OZG_CUDA_WGMMA_SHARED>>>(b->args);
}

/* ms of `launches` launches. */
static double timed(const bench *b, int launches)
{
    float ms;

    CHECK(cudaEventRecord(b->from));
    for (int i = 0; i < launches; i++)
        launch(b);
    CHECK(cudaEventRecord(b->to));
    CHECK(cudaEventSynchronize(b->to));
    CHECK(cudaGetLastError());
    CHECK(cudaEventElapsedTime(&ms, b->from, b->to));
    return ms;
}

/* Is entry (i, j) of a plane, r, the symmetric residue (of 256: of the class)? */
static int right(const bench *b, int plane, int64_t i, int64_t j, int r)
{
    const ozg_cuda_planes *x = &b->args.a, *y = &b->args.b;
    const int m = (int)modulus(b->nmod, plane);
    const int64_t at_x = (plane * x->lines + i) * x->pitch, at_y = (plane * y->lines + j) * y->pitch;
    int64_t sum = 0;

    for (int64_t p = 0; p < b->k; p++)
        sum += residue((uint64_t)(at_x + p), (uint32_t)m, 1) * residue((uint64_t)(at_y + p), (uint32_t)m, 2);
    sum = (sum % m + m) % m;
    return m == 256 ? (uint8_t)r == sum : r == (sum > m / 2 ? sum - m : sum);
}

/* Wrong ones of a column in each plane; *looked: how many were looked at. */
static int64_t count_wrong(const bench *b, int64_t *looked)
{
    const ozg_cuda_residues *out = &b->args.out;
    std::vector<int8_t> column((size_t)b->m);
    const int64_t step = 1 + b->m * b->k / (1 << 19);
    int64_t wrong = 0;

    *looked = 0;
    for (int plane = 0; plane < b->nmod; plane++)
        for (int c = 0; c < 3; c++) {
            const int64_t j = c == 0 ? 0 : c == 1 ? b->n - 1 : (plane * 7919 + 131) % b->n;

            CHECK(cudaMemcpy(column.data(), out->base + (plane * out->columns + j) * out->ld, (size_t)b->m,
                             cudaMemcpyDeviceToHost));
            for (int64_t i = 0; i < b->m; i += i + step < b->m || i == b->m - 1 ? step : b->m - 1 - i) {
                wrong += !right(b, plane, i, j, column[(size_t)i]);
                ++*looked;
            }
        }
    return wrong;
}

static void run(bench *b)
{
    const double operations = 2.0 * b->nmod * (double)b->m * (double)b->n * (double)b->k;
    std::vector<double> burst;
    int64_t wrong, looked;
    double mean;
    int launches;

    open_case(b);
    timed(b, 1);
    wrong = count_wrong(b, &looked);
    for (int i = 0; i < 9; i++) {
        usleep(100000);
        burst.push_back(timed(b, 1));
    }
    std::sort(burst.begin(), burst.end());
    launches = 1 + (int)(500 / burst[4]);
    timed(b, launches);
    mean = timed(b, launches) / launches;
    printf("%-5s %2d moduli %6lld x %6lld x %6lld", b->mma ? "mma" : "wgmma", b->nmod, (long long)b->m,
           (long long)b->n, (long long)b->k);
    printf("  burst %9.4f ms %6.0f TOP/s  sustained %9.4f ms %6.0f TOP/s", burst[4],
           operations / burst[4] * 1e-9, mean, operations / mean * 1e-9);
    printf("  wrong %lld of %lld\n", (long long)wrong, (long long)looked);
    fflush(stdout);
    close_case(b);
}

/* What the driver and the tables need. */
static void open_bench(bench *b)
{
    std::vector<ozg_cuda_table> tables(OZG_NMOD_MAX + 1);
    cudaDriverEntryPointQueryResult found;
    cudaDeviceProp device;
    void *map = NULL;

    CHECK(cudaGetDeviceProperties(&device, 0));
    b->multiprocessors = device.multiProcessorCount;
    printf("%s, %d multiprocessors\n", device.name, b->multiprocessors);
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &map, 12000, cudaEnableDefault, &found));
    memcpy(&b->map, &map, sizeof map);
    memset(tables.data(), 0, tables.size() * sizeof tables[0]);
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++) {
        tables[(size_t)s].nmod = tables[(size_t)s].planes = s;
        for (int l = 0; l < s; l++)
            ozg_cuda_reduce_build(&tables[(size_t)s].reduce[l], ozg_moduli_get(s)->m[l]);
    }
    CHECK(cudaMalloc(&b->tables, tables.size() * sizeof tables[0]));
    CHECK(cudaMemcpy(b->tables, tables.data(), tables.size() * sizeof tables[0], cudaMemcpyHostToDevice));
    CHECK(cudaMalloc(&b->state, sizeof *b->state));
    CHECK(cudaFuncSetAttribute(ozg_cuda_product_wgmma, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               OZG_CUDA_WGMMA_SHARED));
    CHECK(cudaEventCreate(&b->from));
    CHECK(cudaEventCreate(&b->to));
}

int main(int argc, char **argv)
{
    static const int64_t shape[][3] = {{1024, 1024, 1024}, {2048, 2048, 2048}, {4096, 4096, 4096},
                                       {8192, 8192, 8192}, {8192, 8192, 256},  {8192, 8192, 512},
                                       {8192, 8192, 1024}, {4096, 4096, 128},  {1000, 999, 1001},
                                       {4097, 4225, 600},  {777, 333, 131072}};
    bench b;

    memset(&b, 0, sizeof b);
    argc--, argv++;
    if (argc > 0 && !strcmp(argv[0], "mma")) {
        b.mma = 1;
        argc--, argv++;
    }
    b.nmod = argc > 0 ? atoi(argv[0]) : 15;
    if (b.nmod < OZG_NMOD_MIN || b.nmod > OZG_NMOD_MAX || (argc > 1 && argc < 4)) {
        fprintf(stderr, "usage: cuda_product [mma] [MODULI] [M N K]\n");
        return 2;
    }
    open_bench(&b);
    for (size_t i = 0; i < (argc > 3 ? 1 : sizeof shape / sizeof shape[0]); i++) {
        b.m = argc > 3 ? atoll(argv[1]) : shape[i][0];
        b.n = argc > 3 ? atoll(argv[2]) : shape[i][1];
        b.k = argc > 3 ? atoll(argv[3]) : shape[i][2];
        run(&b);
    }
    return 0;
}
