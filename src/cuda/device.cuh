/*
 * device.cuh - what kernels need of the device, by names that tests can stand in for.
 *
 * With OZG_EMULATED the kernels are plain C++ for the processor (tests/cuda/emulate.h), thread by thread, so
 * that every machine and every sanitizer can run them.
 *
 *     OZG_KERNEL(name, args, threads, blocks) { ... }   a kernel with one argument `const args a`
 *     OZG_SHARED(type, x)                               type *x: the dynamic shared memory
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_DEVICE_CUH
#define OZG_CUDA_DEVICE_CUH

#ifdef OZG_EMULATED
#include "emulate.h"
#else

#define OZG_DEVICE static __device__ __forceinline__
#define OZG_KERNEL(name, args, threads, blocks)                                                              \
    extern "C" __global__ void __launch_bounds__(threads, blocks) name(const __grid_constant__ args a)

extern __shared__ __align__(1024) unsigned char ozg_shared_memory[];
#define OZG_SHARED(type, x) type *x = (type *)ozg_shared_memory

/* a b + c over four bytes; b signed, a unsigned (us) or signed (ss). */
OZG_DEVICE int ozg_dp4a_us(uint32_t a, uint32_t b, int c)
{
    int d;

    asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}

OZG_DEVICE int ozg_dp4a_ss(uint32_t a, uint32_t b, int c)
{
    int d;

    asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}

/* Two 16-bit numbers of a times the low (lo) or high (hi) two bytes of b, + c. */
OZG_DEVICE uint32_t ozg_dp2a_lo_uu(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t d;

    asm("dp2a.lo.u32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}

OZG_DEVICE int ozg_dp2a_lo_us(uint32_t a, uint32_t b, int c)
{
    int d;

    asm("dp2a.lo.u32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}

OZG_DEVICE int ozg_dp2a_hi_us(uint32_t a, uint32_t b, int c)
{
    int d;

    asm("dp2a.hi.u32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}

/* c += A B of a warp, 16 x 8 over 32 bytes: mma.sync.m16n8k32, signed. */
OZG_DEVICE void ozg_mma_s8(int (&c)[4], const uint32_t (&x)[4], const uint32_t (&y)[2])
{
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
}

#endif
#endif
