/*
 * emulate_wgmma.h - asynchronous barriers, tensor copies and wgmma (src/cuda/wgmma.cuh) for a C++ compiler.
 *
 * Copies happen at once. A wgmma reads its operands as late as it may: when its group is waited for.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TEST_CUDA_EMULATE_WGMMA_H
#define OZG_TEST_CUDA_EMULATE_WGMMA_H

#include "emulate_tensor.h"

typedef uintptr_t ozg_shared_address;

static inline ozg_shared_address ozg_shared_address_of(const void *p)
{
    return (uintptr_t)p;
}

/* ---- barriers ----------------------------------------------------------------------------------- */

struct ozg_emulated_mbarrier {
    uint8_t count, missing, parity, made;
    int32_t bytes; /* announced and not yet there */
};

static inline ozg_emulated_mbarrier *ozg_emulated_mbarrier_at(ozg_shared_address barrier)
{
    ozg_emulated_mbarrier *b = (ozg_emulated_mbarrier *)barrier;

    if (barrier % 8 || b->made != 77)
        ozg_emulated_error("this is no mbarrier");
    return b;
}

static inline void ozg_emulated_mbarrier_look(ozg_emulated_mbarrier *b)
{
    if (b->missing == 0 && b->bytes == 0) {
        b->parity ^= 1;
        b->missing = b->count;
    }
}

static inline void ozg_mbarrier_init(ozg_shared_address barrier, int count)
{
    const ozg_emulated_mbarrier fresh = {(uint8_t)count, (uint8_t)count, 0, 77, 0};

    memcpy((void *)barrier, &fresh, sizeof fresh);
}

static inline void ozg_mbarrier_init_fence(void)
{
}

static inline void ozg_mbarrier_expect(ozg_shared_address barrier, int bytes)
{
    ozg_emulated_mbarrier *b = ozg_emulated_mbarrier_at(barrier);

    if (b->missing == 0)
        ozg_emulated_error("too many arrivals at an mbarrier");
    b->bytes += bytes;
    b->missing--;
    ozg_emulated_mbarrier_look(b);
}

static inline void ozg_mbarrier_arrive(ozg_shared_address barrier)
{
    ozg_mbarrier_expect(barrier, 0);
}

static inline void ozg_mbarrier_wait(ozg_shared_address barrier, int parity)
{
    while (ozg_emulated_mbarrier_at(barrier)->parity == parity)
        ozg_emulated_yield();
}

/* ---- tensor copies ------------------------------------------------------------------------------ */

/* With 128-byte swizzle, bits 4..6 of an address are exclusive-ored with bits 7..9. */
static inline ozg_shared_address ozg_emulated_swizzle(ozg_shared_address at)
{
    return at ^ ((at >> 7 & 7) << 4);
}

static inline void ozg_emulated_tensor_fetch(ozg_shared_address to, const ozg_cuda_map *map,
                                             ozg_shared_address barrier, const int *x)
{
    ozg_emulated_mbarrier *b = ozg_emulated_mbarrier_at(barrier);
    ozg_emulated_tensor t;
    uint64_t rows = 1;

    memcpy(&t, map, sizeof t);
    if (to % 1024)
        ozg_emulated_error("a tensor copy to a misaligned address");
    for (uint32_t i = 1; i < t.rank; i++)
        rows *= t.box[i];
    for (uint64_t row = 0; row < rows; row++) {
        uint64_t rest = row, at = 0;
        int outside = 0;

        for (uint32_t i = 1; i < t.rank; i++) {
            const int64_t place = x[i] + (int64_t)(rest % t.box[i]);

            outside |= place < 0 || place >= (int64_t)t.size[i];
            at += (uint64_t)place * t.stride[i];
            rest /= t.box[i];
        }
        for (int p = 0; p < (int)t.box[0]; p++) {
            const int64_t place = (int64_t)x[0] + p;
            const int in = !outside && place >= 0 && place < (int64_t)t.size[0];

            *(uint8_t *)ozg_emulated_swizzle(to + row * 128 + (uint64_t)p) =
                in ? t.base[at + (uint64_t)place] : 0;
        }
    }
    b->bytes -= (int32_t)(rows * t.box[0]);
    ozg_emulated_mbarrier_look(b);
}

static inline void ozg_tensor_fetch2(ozg_shared_address to, const ozg_cuda_map *map,
                                     ozg_shared_address barrier, int x0, int x1)
{
    const int x[5] = {x0, x1, 0, 0, 0};

    ozg_emulated_tensor_fetch(to, map, barrier, x);
}

static inline void ozg_tensor_fetch5(ozg_shared_address to, const ozg_cuda_map *map,
                                     ozg_shared_address barrier, int x0, int x1, int x2, int x3, int x4)
{
    const int x[5] = {x0, x1, x2, x3, x4};

    ozg_emulated_tensor_fetch(to, map, barrier, x);
}

/* ---- wgmma -------------------------------------------------------------------------------------- */

typedef uintptr_t ozg_wgmma_operand; /* where row 0 begins */

static inline ozg_wgmma_operand ozg_wgmma_operand_at(ozg_shared_address address)
{
    if (address % 1024)
        ozg_emulated_error("an operand of wgmma is misaligned");
    return address;
}

static inline ozg_wgmma_operand ozg_wgmma_operand_from(ozg_wgmma_operand x, int n)
{
    return x + 32 * (uintptr_t)n;
}

/* What a thread has not been waited for. group: the number of its commit. */
struct ozg_emulated_wgmma {
    int *d;
    ozg_wgmma_operand x, y;
    int add, group;
};

enum { OZG_EMULATED_WGMMAS = 64 };

struct ozg_emulated_wgmmas {
    ozg_emulated_wgmma todo[OZG_EMULATED_WGMMAS];
    int count, group; /* groups committed */
};

static ozg_emulated_wgmmas ozg_emulated_wgmmas_of[1024];

static inline void ozg_wgmma_fence(void)
{
}

static inline void ozg_wgmma_commit(void)
{
    ozg_emulated_wgmmas_of[threadIdx.x].group++;
}

static inline void ozg_wgmma_s8(int (&d)[128], ozg_wgmma_operand x, ozg_wgmma_operand y, int add)
{
    ozg_emulated_wgmmas *w = &ozg_emulated_wgmmas_of[threadIdx.x];

    if (w->count == OZG_EMULATED_WGMMAS)
        ozg_emulated_error("more wgmmas than the emulation remembers");
    w->todo[w->count++] = ozg_emulated_wgmma{d, x, y, add, w->group};
}

/* Row `row` from byte 0 on, 32 bytes as numbers. */
static inline void ozg_emulated_wgmma_row(int8_t *to, ozg_wgmma_operand x, int row)
{
    for (int p = 0; p < 32; p += 16) {
        const uintptr_t at = x + (uintptr_t)(row / 8) * 1024 + (uintptr_t)(row % 8) * 128 + (uintptr_t)p;

        memcpy(to + p, (const void *)ozg_emulated_swizzle(at), 16);
    }
}

static inline void ozg_emulated_wgmma_run(const ozg_emulated_wgmma *w)
{
    const int warp = threadIdx.x / 32 % 4, g = threadIdx.x % 32 / 4, q = threadIdx.x % 4;
    int8_t x[2][32], y[32];

    for (int h = 0; h < 2; h++)
        ozg_emulated_wgmma_row(x[h], w->x, 16 * warp + 8 * h + g);
    for (int t = 0; t < 32; t++)
        for (int c = 0; c < 2; c++) {
            ozg_emulated_wgmma_row(y, w->y, 8 * t + 2 * q + c);
            for (int h = 0; h < 2; h++) {
                int *d = &w->d[4 * t + 2 * h + c], sum = 0;

                for (int p = 0; p < 32; p++)
                    sum += x[h][p] * y[p];
                *d = (int)((w->add ? (uint32_t)*d : 0) + (uint32_t)sum);
            }
        }
}

/* Also waits for the other lanes, which the hardware runs as one. */
template <int N> static inline void ozg_wgmma_wait(void)
{
    ozg_emulated_wgmmas *w = &ozg_emulated_wgmmas_of[threadIdx.x];
    int kept = 0;

    for (int i = 0; i < w->count; i++) {
        if (w->todo[i].group < w->group - N)
            ozg_emulated_wgmma_run(&w->todo[i]);
        else
            w->todo[kept++] = w->todo[i];
    }
    w->count = kept;
    __syncwarp();
}

#endif
