/*
 * wgmma.cuh - what Hopper has for matrix products: asynchronous barriers, tensor copies, wgmma. For sm_90a.
 *
 * Shared memory is named by its 32-bit address (ozg_shared_address), in tests by a pointer's bits.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_WGMMA_CUH
#define OZG_CUDA_WGMMA_CUH

#include "cuda/device.cuh"
#include "cuda/kernels.h"

#ifdef OZG_EMULATED
#include "emulate_wgmma.h"
#else

typedef uint32_t ozg_shared_address;

OZG_DEVICE ozg_shared_address ozg_shared_address_of(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

/* ---- barriers: 8 bytes of shared memory --------------------------------------------------------- */

/* A phase is over when `count` arrivals have come, and all bytes that were announced. */
OZG_DEVICE void ozg_mbarrier_init(ozg_shared_address barrier, int count)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}

/* After init: the barriers are seen by tensor copies. */
OZG_DEVICE void ozg_mbarrier_init_fence(void)
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async;" ::: "memory");
}

OZG_DEVICE void ozg_mbarrier_arrive(ozg_shared_address barrier)
{
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/* Announces so many bytes, and arrives. */
OZG_DEVICE void ozg_mbarrier_expect(ozg_shared_address barrier, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

/* Waits until the phase of this parity is over; the one before the first has parity 1. */
OZG_DEVICE void ozg_mbarrier_wait(ozg_shared_address barrier, int parity)
{
    asm volatile("{\n"
                 ".reg .pred over;\n"
                 "again_%=:\n"
                 "mbarrier.try_wait.parity.shared.b64 over, [%0], %1;\n"
                 "@!over bra again_%=;\n"
                 "}" ::"r"(barrier),
                 "r"(parity)
                 : "memory");
}

/* ---- tensor copies: a box of a tensor to shared memory, its bytes told to a barrier --------------- */

OZG_DEVICE void ozg_tensor_fetch2(ozg_shared_address to, const ozg_cuda_map *map, ozg_shared_address barrier,
                                  int x0, int x1)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%3, %4}], [%2];" ::"r"(to),
                 "l"(map), "r"(barrier), "r"(x0), "r"(x1)
                 : "memory");
}

OZG_DEVICE void ozg_tensor_fetch5(ozg_shared_address to, const ozg_cuda_map *map, ozg_shared_address barrier,
                                  int x0, int x1, int x2, int x3, int x4)
{
    asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%3, %4, %5, %6, %7}], [%2];" ::"r"(to),
                 "l"(map), "r"(barrier), "r"(x0), "r"(x1), "r"(x2), "r"(x3), "r"(x4)
                 : "memory");
}

/* ---- wgmma -------------------------------------------------------------------------------------- */

/* An operand in shared memory: rows of 128 bytes, swizzled by 128 bytes; aligned to 1024. */
typedef uint64_t ozg_wgmma_operand;

/*
 * PTX ISA, "Matrix descriptor": the address, leading offset 1 (not used), 1024 bytes between groups of 8
 * rows, each in units of 16; 128-byte swizzle.
 */
OZG_DEVICE ozg_wgmma_operand ozg_wgmma_operand_at(ozg_shared_address address)
{
    return (uint64_t)((address & 0x3ffff) >> 4) | UINT64_C(1) << 16 | UINT64_C(1024 / 16) << 32 |
           UINT64_C(1) << 62;
}

/* The same rows from 32 n bytes on, n < 4. */
OZG_DEVICE ozg_wgmma_operand ozg_wgmma_operand_from(ozg_wgmma_operand x, int n)
{
    return x + (uint64_t)(2 * n);
}

/* Sums may be used by wgmma now. */
OZG_DEVICE void ozg_wgmma_fence(void)
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

OZG_DEVICE void ozg_wgmma_commit(void)
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/* All groups but the last N are done. */
template <int N> OZG_DEVICE void ozg_wgmma_wait(void)
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}

/* Ten operands %x0 .. %x9 of asm, and d[x] .. d[x + 9] */
#define OZG_TEN(x)                                                                                           \
    "%" #x "0, %" #x "1, %" #x "2, %" #x "3, %" #x "4, %" #x "5, %" #x "6, %" #x "7, %" #x "8, %" #x "9, "
#define OZG_TEN_OF(d, x)                                                                                     \
    "+r"(d[x]), "+r"(d[x + 1]), "+r"(d[x + 2]), "+r"(d[x + 3]), "+r"(d[x + 4]), "+r"(d[x + 5]),              \
        "+r"(d[x + 6]), "+r"(d[x + 7]), "+r"(d[x + 8]), "+r"(d[x + 9])

/*
 * d (+)= X Y^T of a warpgroup, 64 x 256 over 32 bytes; add = 0: d is overwritten. Thread 32 w + 4 g + q has
 * d[4 t + 2 h + c] of row 16 w + 8 h + g, column 8 t + 2 q + c.
 */
OZG_DEVICE void ozg_wgmma_s8(int (&d)[128], ozg_wgmma_operand x, ozg_wgmma_operand y, int add)
{
    asm volatile("{\n"
                 ".reg .pred add;\n"
                 "setp.ne.b32 add, %130, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8 {" OZG_TEN() OZG_TEN(1) OZG_TEN(2)
                     OZG_TEN(3) OZG_TEN(4) OZG_TEN(5) OZG_TEN(6) OZG_TEN(7) OZG_TEN(8) OZG_TEN(9) OZG_TEN(10)
                         OZG_TEN(11) "%120, %121, %122, %123, %124, %125, %126, %127}, %128, %129, add;\n"
                                     "}"
                 : OZG_TEN_OF(d, 0), OZG_TEN_OF(d, 10), OZG_TEN_OF(d, 20), OZG_TEN_OF(d, 30),
                   OZG_TEN_OF(d, 40), OZG_TEN_OF(d, 50), OZG_TEN_OF(d, 60), OZG_TEN_OF(d, 70),
                   OZG_TEN_OF(d, 80), OZG_TEN_OF(d, 90), OZG_TEN_OF(d, 100), OZG_TEN_OF(d, 110), "+r"(d[120]),
                   "+r"(d[121]), "+r"(d[122]), "+r"(d[123]), "+r"(d[124]), "+r"(d[125]), "+r"(d[126]),
                   "+r"(d[127])
                 : "l"(x), "l"(y), "r"(add));
}

#undef OZG_TEN
#undef OZG_TEN_OF

#endif
#endif
