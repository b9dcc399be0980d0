/*
 * emulate_kernels.cpp - kernels that test the emulation itself (test_emulate.c): each writes what it sees.
 *
 * SPDX-License-Identifier: MIT
 */
#include "emulate_kernels.h"
#include "cuda/device.cuh"

/* Rows of 32 words a warp: number of the operation, then lane. */
OZG_KERNEL(emulate_lanes, emulate_args, 256, 1)
{
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const uint32_t all = 0xFFFFFFFFu, x = a.in[threadIdx.x];
    uint64_t *out = a.out + (size_t)(EMULATE_OPERATIONS * 32) * warp + lane;

    out[0] = __shfl_sync(all, x, (lane * 7 + 3) & 31);
    out[32] = __shfl_xor_sync(all, (uint64_t)x << 20 | lane, 5);
    out[64] = __shfl_down_sync(all, x, 3);
    out[96] = __shfl_up_sync(all, x, 9);
    out[128] = __shfl_sync(all, x, 5, 8);
    out[160] = __ballot_sync(all, x & 1);
    out[192] = __any_sync(all, x == a.in[3]);
    out[224] = __all_sync(all, x & 1);
    out[256] = (uint32_t)__reduce_add_sync(all, x);
    out[288] = (uint32_t)__reduce_min_sync(all, (int)x);
    out[320] = __reduce_max_sync(all, x);
    out[352] = __reduce_or_sync(all, x & 0xF0F0);
    if (lane < 16) /* two halves apart, one of them twice */
        out[384] = __shfl_xor_sync(0xFFFFu, __shfl_xor_sync(0xFFFFu, x, 1), 2);
    else
        out[384] = __ballot_sync(0xFFFF0000u, x & 2);
    if (lane < 20) { /* the others have ended, or are elsewhere */
        __syncwarp(0xFFFFFu);
        out[416] = __reduce_add_sync(0xFFFFFu, 1u);
    }
}

OZG_KERNEL(emulate_bits, emulate_args, 256, 1)
{
    const uint32_t x = a.in[threadIdx.x], y = a.in[threadIdx.x ^ 1], z = a.in[threadIdx.x ^ 2];
    uint64_t *out = a.out + (size_t)EMULATE_OPERATIONS * threadIdx.x;

    out[0] = (uint64_t)__clz((int)x) << 32 | (uint32_t)__ffs((int)x);
    out[1] = (uint64_t)__popc(x) << 32 | __brev(x);
    out[2] = __umulhi(x, y);
    out[3] = __umul64hi((uint64_t)x << 32 | y, (uint64_t)y << 32 | z);
    out[4] = __byte_perm(x, y, 0x7250);
    out[5] = (uint64_t)__funnelshift_l(x, y, z) << 32 | __funnelshift_r(x, y, z);
    out[6] = (uint32_t)ozg_dp4a_us(x, y, (int)z);
    out[7] = (uint32_t)ozg_dp4a_ss(x, y, (int)z);
    out[8] = ozg_dp2a_lo_uu(x, y, z);
    out[9] = (uint32_t)ozg_dp2a_lo_us(x, y, (int)z);
    out[10] = (uint32_t)ozg_dp2a_hi_us(x, y, (int)z);
    out[11] = (uint64_t)(uint32_t)__float2int_rn((float)(int)x / 65536) << 32 |
              __float_as_uint(__int2float_rn((int)y));
    out[12] = (uint64_t)min(x, 77u) << 32 | max(y, 77u);
    out[13] = (uint64_t)__clzll((long long)x << (z & 31)) << 32 | (uint32_t)__popcll((uint64_t)y << 3);
}

/* c = A B, A 16 x 32 by rows, B 32 x 8 by columns, bytes; c 16 x 8 by rows. */
OZG_KERNEL(emulate_mma, emulate_args, 32, 1)
{
    const int lane = threadIdx.x, g = lane / 4, t = lane % 4;
    const uint32_t *row = a.in, *column = a.in + 16 * 8; /* words */
    const uint32_t x[4] = {row[8 * g + t], row[8 * (g + 8) + t], row[8 * g + t + 4],
                           row[8 * (g + 8) + t + 4]};
    const uint32_t y[2] = {column[8 * g + t], column[8 * g + t + 4]};
    int c[4] = {1, 1, 1, 1};

    ozg_mma_s8(c, x, y);
    for (int r = 0; r < 4; r++)
        a.out[8 * (g + 8 * (r / 2)) + 2 * t + r % 2] = (uint32_t)c[r];
}

/*
 * 16 x 32 bytes by asynchronous copies; *counter: the registers that are not the fragment of A, and copies
 * that came early.
 */
OZG_KERNEL(emulate_fragments, emulate_args, 32, 1)
{
    OZG_SHARED(uint8_t, rows);
    const int lane = threadIdx.x, g = lane / 4, t = lane % 4;
    const uint32_t *words = (const uint32_t *)rows;
    uint32_t x[4];

    ozg_cp_async16(rows + 16 * lane, a.in + 4 * lane);
    ozg_cp_async_commit();
    ozg_cp_async16(rows + 512 + 16 * lane, a.in + 4 * lane);
    ozg_cp_async_commit();
    ozg_cp_async_wait<1>();
    if (words[128 + 4 * lane] == a.in[4 * lane]) /* already */
        atomicAdd(a.counter, 1u << 16);
    else if (words[128 + 4 * lane] != 0xA5A5A5A5u)
        atomicAdd(a.counter, 1u);
    __syncwarp();
    ozg_ldmatrix_x4(x, rows + 32 * (lane % 16) + 16 * (lane / 16));
    for (int r = 0; r < 4; r++) {
        if (x[r] != a.in[8 * (g + 8 * (r % 2)) + t + 4 * (r / 2)])
            atomicAdd(a.counter, 1u);
    }
    ozg_cp_async_wait<0>();
    if (words[128 + 4 * lane] != a.in[4 * lane])
        atomicAdd(a.counter, 1u);
}

/* Sums of the block by a tree in shared memory; a block a word. faulty: a barrier is missing. */
OZG_DEVICE void emulate_tree(const emulate_args &a, int faulty)
{
    OZG_SHARED(uint32_t, sum);
    __shared__ uint32_t last[32];
    const unsigned i = threadIdx.x;
    const size_t block = blockIdx.x + gridDim.x * (blockIdx.y + (size_t)gridDim.y * blockIdx.z);

    if (a.garbage && (sum[i] != 0xA5A5A5A5u || last[i & 31] != 0xA5A5A5A5u))
        atomicAdd(a.counter, 1u);
    __syncthreads();
    sum[i] = a.in[i] + (uint32_t)block;
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (!faulty)
            __syncthreads();
        if (i < half)
            sum[i] += sum[i + half];
    }
    if (i == 0)
        last[5] = sum[0];
    __syncthreads();
    if (i == 77)
        a.out[block] = last[5];
}

OZG_KERNEL(emulate_sums, emulate_args, 256, 1)
{
    emulate_tree(a, 0);
}

OZG_KERNEL(emulate_sums_faulty, emulate_args, 256, 1)
{
    emulate_tree(a, 1);
}

/* Barriers that some threads leave early, and counts. */
OZG_KERNEL(emulate_barriers, emulate_args, 256, 1)
{
    if (threadIdx.x >= 200)
        return;
    const int odd = __syncthreads_count((int)(a.in[threadIdx.x] & 1)), all = __syncthreads_and(1);

    a.out[threadIdx.x] = (uint64_t)odd << 1 | (uint64_t)all;
}

/*
 * Rounds of a grid: each block adds what its neighbour wrote in the round before. Its own number is in
 * shared memory.
 */
OZG_KERNEL(emulate_rounds, emulate_args, 128, 1)
{
    OZG_SHARED(uint32_t, own);
    __shared__ uint32_t twice;
    const unsigned next = (blockIdx.x + 1) % gridDim.x;

    if (threadIdx.x == 0) {
        own[0] = blockIdx.x;
        twice = 2 * blockIdx.x;
        a.out[blockIdx.x] = 1;
    }
    for (int r = 0; r < a.rounds; r++) {
        uint64_t *now = a.out + (size_t)(r & 1) * gridDim.x, *then = a.out + (size_t)(~r & 1) * gridDim.x;

        ozg_grid_sync(a.counter);
        if (threadIdx.x == 31)
            then[blockIdx.x] = now[blockIdx.x] + now[next] + own[0] + twice;
    }
}

OZG_KERNEL(emulate_deadlock, emulate_args, 64, 1)
{
    if (threadIdx.x < 40)
        __syncthreads();
    else
        __syncwarp();
    a.out[0] = 1;
}

OZG_KERNEL(emulate_overrun, emulate_args, 64, 1)
{
    OZG_SHARED(uint8_t, bytes);

    bytes[a.rounds] = 1;
}
