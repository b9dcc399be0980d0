/*
 * product_sm90.cu - the product of all planes of a tile by wgmma, for sm_90a.
 *
 * A block computes tiles of 128 columns x 256 rows of C, one after the other. One thread fetches operands,
 * 128 bytes of k at a time and up to four such blocks ahead, across tiles; two warpgroups multiply, 64
 * columns each. Sums go from registers to memory while the next tile's blocks arrive. product.cuh says which
 * column of the instruction is which row of C; the map of A fetches lines in this order.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cuda/product.cuh"
#include "cuda/wgmma.cuh"

/* Other targets than sm_90a have no wgmma. */
#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)

/* Blocks of k in shared memory, used in turn. Both sides go through them by the same rule. */
typedef struct ozg_cuda_wgmma_ring {
    ozg_shared_address stages;      /* of each the lines of B, then those of A */
    ozg_shared_address full, empty; /* barriers of each stage */
    int stage, parity;              /* of the present round */
} ozg_cuda_wgmma_ring;

OZG_DEVICE void ozg_cuda_wgmma_advance(ozg_cuda_wgmma_ring *ring)
{
    if (++ring->stage == OZG_CUDA_WGMMA_STAGES) {
        ring->stage = 0;
        ring->parity ^= 1;
    }
}

OZG_DEVICE ozg_cuda_wgmma_ring ozg_cuda_wgmma_ring_at(void *shared)
{
    ozg_cuda_wgmma_ring ring;

    ring.stages = (ozg_shared_address_of(shared) + 1023) & ~(ozg_shared_address)1023;
    ring.full = ring.stages + OZG_CUDA_WGMMA_STAGES * OZG_CUDA_WGMMA_STAGE;
    ring.empty = ring.full + 8 * OZG_CUDA_WGMMA_STAGES;
    ring.stage = ring.parity = 0;
    if (threadIdx.x == 0) {
        for (int s = 0; s < OZG_CUDA_WGMMA_STAGES; s++) {
            ozg_mbarrier_init(ring.full + 8 * s, 1);
            ozg_mbarrier_init(ring.empty + 8 * s, 8); /* warps that multiply */
        }
        ozg_mbarrier_init_fence();
    }
    __syncthreads();
    return ring;
}

/* The next block of k: element p of lines line_a.. and line_b.., counted through all planes. */
OZG_DEVICE void ozg_cuda_wgmma_fetch(const ozg_cuda_product_args &a, ozg_cuda_wgmma_ring *ring, int p,
                                     int64_t line_a, int64_t line_b)
{
    const ozg_shared_address to = ring->stages + ring->stage * OZG_CUDA_WGMMA_STAGE;
    const ozg_shared_address full = ring->full + 8 * ring->stage;

    ozg_mbarrier_wait(ring->empty + 8 * ring->stage, ring->parity ^ 1);
    ozg_mbarrier_expect(full, OZG_CUDA_WGMMA_STAGE);
    ozg_tensor_fetch2(to, &a.map_b, full, p, (int)line_b);
    ozg_tensor_fetch5(to + OZG_CUDA_WGMMA_COLUMNS * OZG_CUDA_WGMMA_K, &a.map_a, full, p, 0, 0, 0,
                      (int)(line_a / 64));
    ozg_cuda_wgmma_advance(ring);
}

/* The thread that fetches. */
OZG_DEVICE void ozg_cuda_wgmma_fetch_all(const ozg_cuda_product_args &a, const ozg_cuda_product_work &w,
                                         ozg_cuda_wgmma_ring ring)
{
    const int blocks = (int)((a.tile.count + OZG_CUDA_WGMMA_K - 1) / OZG_CUDA_WGMMA_K);
    const int64_t first = ozg_cuda_product_line(a, w);

    for (int number = (int)blockIdx.x; number < w.total; number += (int)gridDim.x) {
        int plane, tile_i, tile_j;

        ozg_cuda_product_place(w, number, &plane, &tile_i, &tile_j);
        for (int pair = 0; pair < w.pairs; pair++) {
            const int64_t line_a = ozg_cuda_product_plane_a(w, plane, pair) * a.a.lines +
                                   (int64_t)tile_i * OZG_CUDA_WGMMA_ROWS + first;
            const int64_t line_b = ozg_cuda_product_plane_b(w, plane, pair) * a.b.lines +
                                   (int64_t)tile_j * OZG_CUDA_WGMMA_COLUMNS + first;

            for (int block = 0; block < blocks; block++)
                ozg_cuda_wgmma_fetch(a, &ring, block * OZG_CUDA_WGMMA_K, line_a, line_b);
        }
    }
}

/* The sums of `blocks` blocks of k, 64 columns x 256 rows. A stage is given back when it has been read. */
OZG_DEVICE void ozg_cuda_wgmma_sums(int (&sums)[128], ozg_cuda_wgmma_ring *ring, int group, int blocks)
{
    const int leader = threadIdx.x % 32 == 0;
    ozg_shared_address before = 0;

#pragma unroll 1
    for (int block = 0; block < blocks; block++) {
        const ozg_shared_address stage = ring->stages + ring->stage * OZG_CUDA_WGMMA_STAGE;
        const ozg_wgmma_operand x = ozg_wgmma_operand_at(stage + group * 64 * OZG_CUDA_WGMMA_K);
        const ozg_wgmma_operand y = ozg_wgmma_operand_at(stage + OZG_CUDA_WGMMA_COLUMNS * OZG_CUDA_WGMMA_K);

        ozg_mbarrier_wait(ring->full + 8 * ring->stage, ring->parity);
        ozg_wgmma_fence();
#pragma unroll
        for (int n = 0; n < OZG_CUDA_WGMMA_K / 32; n++)
            ozg_wgmma_s8(sums, ozg_wgmma_operand_from(x, n), ozg_wgmma_operand_from(y, n), (block | n) != 0);
        ozg_wgmma_commit();
        if (block > 0) {
            ozg_wgmma_wait<1>();
            if (leader)
                ozg_mbarrier_arrive(before);
        }
        before = ring->empty + 8 * ring->stage;
        ozg_cuda_wgmma_advance(ring);
    }
    ozg_wgmma_wait<0>();
#pragma unroll
    for (int i = 0; i < 128; i++) /* the compiler must not move what reads the sums before the wait */
        asm volatile("" : "+r"(sums[i])::"memory");
    if (leader)
        ozg_mbarrier_arrive(before);
}

template <int HOW>
OZG_DEVICE void ozg_cuda_wgmma_store(const int (&sums)[128], const ozg_cuda_product_args &a,
                                     const ozg_cuda_product_work &w, int plane, int64_t row, int64_t column,
                                     const ozg_cuda_reduce &m)
{
#pragma unroll
    for (int h = 0; h < 2; h++)
#pragma unroll
        for (int group = 0; group < OZG_CUDA_WGMMA_ROWS / 64; group++) {
            int x[16];

#pragma unroll
            for (int t = 0; t < 16; t++)
                x[t] = sums[4 * (8 * group + t / 2) + 2 * h + t % 2];
            ozg_cuda_product_store<HOW>(x, a, w, plane, row + 64 * group, column + 8 * h, m);
        }
}

/* A warpgroup that multiplies. */
OZG_DEVICE void ozg_cuda_wgmma_multiply_all(const ozg_cuda_product_args &a, const ozg_cuda_product_work &w,
                                            ozg_cuda_wgmma_ring ring)
{
    const int group = (int)threadIdx.x / 128, warp = (int)threadIdx.x / 32 % 4, lane = (int)threadIdx.x % 32;
    const int blocks = (int)((a.tile.count + OZG_CUDA_WGMMA_K - 1) / OZG_CUDA_WGMMA_K) * w.pairs;

    for (int number = (int)blockIdx.x; number < w.total; number += (int)gridDim.x) {
        int sums[128], plane, tile_i, tile_j, how;
        int64_t row, column;
        ozg_cuda_reduce m;

        ozg_cuda_product_place(w, number, &plane, &tile_i, &tile_j);
        m = ozg_cuda_product_modulus(w, plane); /* here: it comes while there is something to do */
        ozg_cuda_wgmma_sums(sums, &ring, group, blocks);
        how = ozg_cuda_product_how(a, w, plane, m);
        row = (int64_t)tile_i * OZG_CUDA_WGMMA_ROWS + lane % 4 * 16 + ozg_cuda_product_row(a, w, how);
        column = (int64_t)tile_j * OZG_CUDA_WGMMA_COLUMNS + group * 64 + warp * 16 + lane / 4;
        switch (how) {
        case OZG_CUDA_DIRECT:
            ozg_cuda_wgmma_store<OZG_CUDA_DIRECT>(sums, a, w, plane, row, column, m);
            break;
        case OZG_CUDA_BYTES:
            ozg_cuda_wgmma_store<OZG_CUDA_BYTES>(sums, a, w, plane, row, column, m);
            break;
        case OZG_CUDA_ADDED:
            ozg_cuda_wgmma_store<OZG_CUDA_ADDED>(sums, a, w, plane, row, column, m);
            break;
        default:
            ozg_cuda_wgmma_store<OZG_CUDA_EXACT>(sums, a, w, plane, row, column, m);
        }
    }
}

OZG_DEVICE void ozg_cuda_wgmma_product(const ozg_cuda_product_args &a, int batch)
{
    OZG_SHARED(uint8_t, shared);
    const ozg_cuda_wgmma_ring ring = ozg_cuda_wgmma_ring_at(shared);

    if (!batch && threadIdx.x < 256) /* while the first stages are on their way */
        ozg_cuda_make_factors(a.factors, (int64_t)blockIdx.x * 256 + threadIdx.x, (int64_t)gridDim.x * 256);
    __syncwarp(); /* what follows is for whole warps */
    const ozg_cuda_product_work w =
        ozg_cuda_product_work_of(a, batch, OZG_CUDA_WGMMA_ROWS, OZG_CUDA_WGMMA_COLUMNS);

    if (threadIdx.x < 256)
        ozg_cuda_wgmma_multiply_all(a, w, ring);
    else if (threadIdx.x == 256)
        ozg_cuda_wgmma_fetch_all(a, w, ring);
}

OZG_KERNEL(ozg_cuda_product_wgmma, ozg_cuda_product_args, OZG_CUDA_WGMMA_THREADS, OZG_CUDA_WGMMA_BLOCKS)
{
    ozg_cuda_wgmma_product(a, 0);
}

OZG_KERNEL(ozg_cuda_product_wgmma_batch, ozg_cuda_product_args, OZG_CUDA_WGMMA_THREADS, OZG_CUDA_WGMMA_BLOCKS)
{
    ozg_cuda_wgmma_product(a, 1);
}

#endif
