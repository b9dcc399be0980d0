/*
 * device.cuh - what kernels need of the device, by names that tests can stand in for.
 *
 * With OZG_EMULATED the kernels are plain C++ for the processor (tests/cuda/emulate.h), thread by thread, so
 * that every machine and every sanitizer can run them.
 *
 *     OZG_KERNEL(name, args, threads, blocks) { ... }   a kernel with one argument `const args a`
 *     OZG_KERNEL_BATCH(name, ...) { ... }               the same twice: name, and name_batch (batch.cuh)
 *     OZG_SHARED(type, x)                               type *x: the dynamic shared memory
 *
 * From capability 9.0 on, a kernel may be launched while the one before it on the stream still runs
 * (device.h: programmatic dependent launch). EVERY kernel therefore begins by waiting until all work of the
 * one before is done and can be seen; OZG_KERNEL does it. So the one before has itself waited for the one
 * before it, and a kernel may take everything that was launched earlier as done.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_DEVICE_CUH
#define OZG_CUDA_DEVICE_CUH

#include <stdint.h>

#ifdef OZG_EMULATED
#include "emulate.h"
#else

#define OZG_DEVICE static __device__ __forceinline__
#define OZG_DEVICE_CALL                                                                                      \
    static __device__ __noinline__ /* rare: not to cost registers where it is not called */
/* The body is a function of its own, so that nothing of it can come before the wait. */
#define OZG_KERNEL(name, args, threads, blocks)                                                              \
    OZG_DEVICE void name##_body(const args &a);                                                              \
    extern "C" __global__ void __launch_bounds__(threads, blocks) name(const __grid_constant__ args a)       \
    {                                                                                                        \
        ozg_wait_for_previous();                                                                             \
        name##_body(a);                                                                                      \
    }                                                                                                        \
    OZG_DEVICE void name##_body(const args &a)

#define OZG_KERNEL_BATCH(name, args, threads, blocks)                                                        \
    OZG_DEVICE void name##_body(const args &a);                                                              \
    OZG_KERNEL(name##_batch, args, threads, blocks)                                                          \
    {                                                                                                        \
        __shared__ args product;                                                                             \
                                                                                                             \
        ozg_cuda_to_product(product, a);                                                                     \
        name##_body(product);                                                                                \
    }                                                                                                        \
    OZG_KERNEL(name, args, threads, blocks)

extern __shared__ __align__(1024) unsigned char ozg_shared_memory[];
#define OZG_SHARED(type, x) type *x = (type *)ozg_shared_memory

/* What the kernel before this one on the stream has done is done, and seen. PTX ISA, griddepcontrol. */
OZG_DEVICE void ozg_wait_for_previous(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/*
 * The next kernel may be launched now; it still waits until this one is done. Without a call: when all blocks
 * have ended. For kernels that find nothing to do: blocks of the next one take room from blocks that work.
 */
OZG_DEVICE void ozg_launch_next(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/*
 * Is floating point of 64 bits fast? Code for Hopper alone knows that it is, so that its kernels need not contain
 * another way of doing things; other code, of which one image is for many devices, is told (fp64 of the arguments).
 */
OZG_DEVICE int ozg_fast_fp64(int32_t fp64)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    return 1;
#else
    return fp64;
#endif
}

/*
 * x, a pointer to global memory, as all pointers in arguments are. The compiler knows that of the arguments of
 * a launch, but not of those that a block of a batch has in shared memory (batch.cuh): for what is stored in
 * inner loops.
 */
template <typename T> OZG_DEVICE T *ozg_global(T *x)
{
    __builtin_assume(__isGlobal(x));
    return x;
}

/* Shifts by 0 up to all bits. */
OZG_DEVICE uint32_t ozg_shr32(uint32_t x, int32_t by)
{
    uint32_t y;

    asm("shr.u32 %0, %1, %2;" : "=r"(y) : "r"(x), "r"(by));
    return y;
}

OZG_DEVICE uint64_t ozg_shr64(uint64_t x, int32_t by)
{
    uint64_t y;

    asm("shr.u64 %0, %1, %2;" : "=l"(y) : "l"(x), "r"(by));
    return y;
}

OZG_DEVICE uint64_t ozg_shl64(uint64_t x, int32_t by)
{
    uint64_t y;

    asm("shl.b64 %0, %1, %2;" : "=l"(y) : "l"(x), "r"(by));
    return y;
}

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

/* The same of signed numbers. */
OZG_DEVICE int ozg_dp2a_lo_ss(uint32_t a, uint32_t b, int c)
{
    int d;

    asm("dp2a.lo.s32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}

OZG_DEVICE int ozg_dp2a_hi_ss(uint32_t a, uint32_t b, int c)
{
    int d;

    asm("dp2a.hi.s32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}

/* c += A B of a warp, 16 x 8 over 32 bytes: mma.sync.m16n8k32, signed. */
OZG_DEVICE void ozg_mma_s8(int (&c)[4], const uint32_t (&x)[4], const uint32_t (&y)[2])
{
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
}

/* Four 8 x 8 matrices of 16-bit words; lane l gives row l % 8 of matrix l / 8, aligned to 16. ldmatrix.x4. */
OZG_DEVICE void ozg_ldmatrix_x4(uint32_t (&r)[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3},[%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"((uint32_t)__cvta_generic_to_shared(row))
                 : "memory");
}

/* 16 bytes of global memory to shared memory, some time before ozg_cp_async_wait() of their group. */
OZG_DEVICE void ozg_cp_async16(void *shared, const void *global)
{
    asm volatile("cp.async.cg.shared.global [%0],[%1],16;" ::"r"((uint32_t)__cvta_generic_to_shared(shared)),
                 "l"(global)
                 : "memory");
}

/* The same of 4 or 8 bytes. */
template <int BYTES> OZG_DEVICE void ozg_cp_async(void *shared, const void *global)
{
    asm volatile("cp.async.ca.shared.global [%0],[%1],%2;" ::"r"((uint32_t)__cvta_generic_to_shared(shared)),
                 "l"(global), "n"(BYTES)
                 : "memory");
}

OZG_DEVICE void ozg_cp_async_commit(void)
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/* All groups but the last N have come. */
template <int N> OZG_DEVICE void ozg_cp_async_wait(void)
{
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

/*
 * All blocks of a cooperative launch wait for each other; what they wrote before is then seen by all.
 * *arrived, in global memory, is 0 before the launch and counts the blocks that came: at most 2^32 - 1 in a
 * launch.
 */
OZG_DEVICE void ozg_grid_sync(uint32_t *arrived)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        const uint32_t blocks = gridDim.x;
        uint32_t seen, target;

        __threadfence();
        target = (atomicAdd(arrived, 1) / blocks + 1) * blocks;
        do {
            asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(seen) : "l"(arrived) : "memory");
        } while (seen < target);
        __threadfence();
    }
    __syncthreads();
}

#endif
#endif
