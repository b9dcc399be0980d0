/*
 * product_mma.cu - the product of all planes of a tile by mma.sync, for every device since sm_80.
 *
 * A block computes tiles of 128 columns x 128 rows of C, 64 bytes of k at a time; three of these are in
 * shared memory or on their way. Each of eight warps has 32 columns x 64 rows. product.cuh says which column
 * of the instruction is which row of C.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cuda/product.cuh"

/*
 * In shared memory a line has 64 bytes, four pieces of 16. A piece is stored at place piece ^ (some bits of
 * the number of the line), so that the eight lines that a matrix of ldmatrix takes are in eight different
 * places modulo 128 bytes: lines of B are taken in order; of A lines 16 q + 2 t + c, q = 0..3, c = 0, 1.
 */
OZG_DEVICE int ozg_cuda_mma_place_a(int line, int piece)
{
    return line * OZG_CUDA_MMA_K + (piece ^ (line >> 4 & 3)) * 16;
}

OZG_DEVICE int ozg_cuda_mma_place_b(int line, int piece)
{
    return line * OZG_CUDA_MMA_K + (piece ^ (line >> 1 & 3)) * 16;
}

/* The operands of a tile. */
typedef struct ozg_cuda_mma_tile {
    int plane;
    int64_t i, j; /* its first row and column */
    int blocks;   /* of k */
    int steps;    /* blocks of all pairs of planes */
} ozg_cuda_mma_tile;

/* Starts to fetch step number `step`: lines of A, behind them lines of B. */
OZG_DEVICE void ozg_cuda_mma_fetch(const ozg_cuda_product_args &a, const ozg_cuda_product_work &w,
                                   const ozg_cuda_mma_tile &tile, int step, uint8_t *stage)
{
    const int pair = step >= tile.blocks, line = (int)threadIdx.x / 4, piece = (int)threadIdx.x % 4;
    const int64_t p = (int64_t)(step - pair * tile.blocks) * OZG_CUDA_MMA_K + piece * 16;
    const int64_t first = ozg_cuda_product_line(a, w);
    const int64_t line_a = ozg_cuda_product_plane_a(w, tile.plane, pair) * a.a.lines + first + tile.i + line;
    const int64_t line_b = ozg_cuda_product_plane_b(w, tile.plane, pair) * a.b.lines + first + tile.j + line;
    const uint8_t *from_a = a.a.base + line_a * a.a.pitch + p, *from_b = a.b.base + line_b * a.b.pitch + p;
    uint8_t *stage_b = stage + OZG_CUDA_MMA_ROWS * OZG_CUDA_MMA_K;

#pragma unroll
    for (int l = 0; l < OZG_CUDA_MMA_ROWS; l += OZG_CUDA_MMA_THREADS / 4) {
        ozg_cp_async16(stage + ozg_cuda_mma_place_a(line + l, piece), from_a + l * a.a.pitch);
        ozg_cp_async16(stage_b + ozg_cuda_mma_place_b(line + l, piece), from_b + l * a.b.pitch);
    }
}

/* sums += the product of a stage. sums[x][t]: 16 columns from 16 x on, columns 8 t of the group of rows. */
OZG_DEVICE void ozg_cuda_mma_multiply(int (&sums)[2][8][4], const uint8_t *stage)
{
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const int column = warp % 4 * 32 + lane % 16;
    const int row = warp / 4 * 64 + lane % 8 / 2 * 16 + lane / 16 * 2 + lane % 2;
    const uint8_t *stage_b = stage + OZG_CUDA_MMA_ROWS * OZG_CUDA_MMA_K;

#pragma unroll
    for (int half = 0; half < 2; half++) {
        uint32_t x[2][4], y[4][4];

#pragma unroll
        for (int i = 0; i < 2; i++)
            ozg_ldmatrix_x4(x[i], stage_b + ozg_cuda_mma_place_b(column + 16 * i, 2 * half + lane / 16));
#pragma unroll
        for (int t = 0; t < 4; t++) /* columns 8 (2 t) and 8 (2 t + 1) of the group */
            ozg_ldmatrix_x4(y[t], stage + ozg_cuda_mma_place_a(row + 4 * t, 2 * half + lane / 8 % 2));
#pragma unroll
        for (int t = 0; t < 8; t++) {
            const uint32_t two[2] = {y[t / 2][t % 2 * 2], y[t / 2][t % 2 * 2 + 1]};

            for (int i = 0; i < 2; i++)
                ozg_mma_s8(sums[i][t], x[i], two);
        }
    }
}

/* The sums of a tile. Ends when all threads have read what they need of the shared memory. */
OZG_DEVICE void ozg_cuda_mma_sums(int (&sums)[2][8][4], const ozg_cuda_product_args &a,
                                  const ozg_cuda_product_work &w, const ozg_cuda_mma_tile &tile,
                                  uint8_t *shared)
{
    const int ahead = OZG_CUDA_MMA_STAGES - 1;
    int stage = 0, free_stage = ahead;

    for (int s = 0; s < ahead; s++) {
        if (s < tile.steps)
            ozg_cuda_mma_fetch(a, w, tile, s, shared + s * OZG_CUDA_MMA_STAGE);
        ozg_cp_async_commit();
    }
#pragma unroll 1
    for (int step = 0; step < tile.steps; step++) {
        ozg_cp_async_wait<OZG_CUDA_MMA_STAGES - 2>();
        __syncthreads(); /* this step is there for all, and the step before has been read by all */
        if (step + ahead < tile.steps)
            ozg_cuda_mma_fetch(a, w, tile, step + ahead, shared + free_stage * OZG_CUDA_MMA_STAGE);
        ozg_cp_async_commit();
        ozg_cuda_mma_multiply(sums, shared + stage * OZG_CUDA_MMA_STAGE);
        stage = stage + 1 < OZG_CUDA_MMA_STAGES ? stage + 1 : 0;
        free_stage = free_stage + 1 < OZG_CUDA_MMA_STAGES ? free_stage + 1 : 0;
    }
    __syncthreads();
}

template <int HOW>
OZG_DEVICE void ozg_cuda_mma_store(const int (&sums)[2][8][4], const ozg_cuda_product_args &a,
                                   const ozg_cuda_product_work &w, const ozg_cuda_mma_tile &tile,
                                   const ozg_cuda_reduce &m)
{
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const int64_t row = tile.i + warp / 4 * 64 + lane % 4 * 16 + ozg_cuda_product_row(a, w, HOW),
                  column = tile.j + warp % 4 * 32 + lane / 4;

#pragma unroll
    for (int i = 0; i < 4; i++) { /* columns 8 i on */
        int x[16];

#pragma unroll
        for (int t = 0; t < 16; t++)
            x[t] = sums[i / 2][t / 2][i % 2 * 2 + t % 2];
        ozg_cuda_product_store<HOW>(x, a, w, tile.plane, row, column + 8 * i, m);
    }
}

/* Tile number `number`. */
OZG_DEVICE ozg_cuda_mma_tile ozg_cuda_mma_tile_of(const ozg_cuda_product_args &a,
                                                  const ozg_cuda_product_work &w, int number)
{
    ozg_cuda_mma_tile tile;
    int tile_i, tile_j;

    ozg_cuda_product_place(w, number, &tile.plane, &tile_i, &tile_j);
    tile.i = (int64_t)tile_i * OZG_CUDA_MMA_ROWS;
    tile.j = (int64_t)tile_j * OZG_CUDA_MMA_COLUMNS;
    tile.blocks = (int)((a.tile.count + OZG_CUDA_MMA_K - 1) / OZG_CUDA_MMA_K);
    tile.steps = tile.blocks * w.pairs;
    return tile;
}

OZG_DEVICE void ozg_cuda_mma_product(const ozg_cuda_product_args &a, int batch)
{
    OZG_SHARED(uint8_t, shared);
    const ozg_cuda_product_work w =
        ozg_cuda_product_work_of(a, batch, OZG_CUDA_MMA_ROWS, OZG_CUDA_MMA_COLUMNS);

    if (!batch)
        ozg_cuda_make_factors(a.factors, (int64_t)blockIdx.x * blockDim.x + threadIdx.x,
                              (int64_t)gridDim.x * blockDim.x);
    for (int number = (int)blockIdx.x; number < w.total; number += (int)gridDim.x) {
        const ozg_cuda_mma_tile tile = ozg_cuda_mma_tile_of(a, w, number);
        int sums[2][8][4] = {};
        ozg_cuda_reduce m;

        ozg_cuda_mma_sums(sums, a, w, tile, shared);
        m = ozg_cuda_product_modulus(w, tile.plane);
        switch (ozg_cuda_product_how(a, w, tile.plane, m)) {
        case OZG_CUDA_DIRECT:
            ozg_cuda_mma_store<OZG_CUDA_DIRECT>(sums, a, w, tile, m);
            break;
        case OZG_CUDA_BYTES:
            ozg_cuda_mma_store<OZG_CUDA_BYTES>(sums, a, w, tile, m);
            break;
        case OZG_CUDA_ADDED:
            ozg_cuda_mma_store<OZG_CUDA_ADDED>(sums, a, w, tile, m);
            break;
        default:
            ozg_cuda_mma_store<OZG_CUDA_EXACT>(sums, a, w, tile, m);
        }
    }
}

OZG_KERNEL(ozg_cuda_product_mma, ozg_cuda_product_args, OZG_CUDA_MMA_THREADS, OZG_CUDA_MMA_BLOCKS)
{
    ozg_cuda_mma_product(a, 0);
}

OZG_KERNEL(ozg_cuda_product_mma_batch, ozg_cuda_product_args, OZG_CUDA_MMA_THREADS, OZG_CUDA_MMA_BLOCKS)
{
    ozg_cuda_mma_product(a, 1);
}
