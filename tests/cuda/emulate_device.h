/*
 * emulate_device.h - CUDA C for a C++ compiler: words, vector types, intrinsics, collectives.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TEST_CUDA_EMULATE_DEVICE_H
#define OZG_TEST_CUDA_EMULATE_DEVICE_H

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- words -------------------------------------------------------------------------------------- */

#define __device__
#define __host__
#define __global__
#define __constant__
#define __grid_constant__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
/*
 * One section for all such variables: it can be filled at the start of a block, and swapped between blocks.
 */
#define __shared__ static __attribute__((section("ozg_shared_statics")))

#define OZG_DEVICE          static inline
#define OZG_DEVICE_CALL     static
#define OZG_SHARED(type, x) type *x = (type *)ozg_emulated_shared

typedef struct ozg_emulated_kernel {
    const char *name;
    void (*run)(const void *args);
    size_t bytes, alignment; /* of args */
    int threads;             /* launch bound */
    const char *file;
    struct ozg_emulated_kernel *next;
} ozg_emulated_kernel;

#define OZG_KERNEL(name, args, threads, blocks)                                                              \
    static void name(const args &a);                                                                         \
    static void name##_run(const void *p)                                                                    \
    {                                                                                                        \
        name(*(const args *)p);                                                                              \
    }                                                                                                        \
    static ozg_emulated_kernel name##_kernel = {#name,    name##_run, sizeof(args), alignof(args), threads,  \
                                                __FILE__, 0};                                                \
    __attribute__((constructor)) static void name##_register(void)                                           \
    {                                                                                                        \
        ozg_emulated_register(&name##_kernel);                                                               \
    }                                                                                                        \
    static void name(const args &a)

template <typename T> OZG_DEVICE T *ozg_global(T *x)
{
    return x;
}

#define OZG_KERNEL_BATCH(name, args, threads, blocks)                                                        \
    static void name(const args &a);                                                                         \
    OZG_KERNEL(name##_batch, args, threads, blocks)                                                          \
    {                                                                                                        \
        __shared__ args product;                                                                             \
                                                                                                             \
        ozg_cuda_to_product(product, a);                                                                     \
        name(product);                                                                                       \
    }                                                                                                        \
    OZG_KERNEL(name, args, threads, blocks)

struct uint3 {
    unsigned x, y, z;
};
typedef uint3 dim3;

#define OZG_EMULATED_VECTORS(name, type, bytes2, bytes4)                                                     \
    struct alignas(bytes2) name##2                                                                           \
    {                                                                                                        \
        type x, y;                                                                                           \
    };                                                                                                       \
    struct alignas(bytes4) name##4                                                                           \
    {                                                                                                        \
        type x, y, z, w;                                                                                     \
    };                                                                                                       \
    static inline name##2 make_##name##2(type x, type y)                                                     \
    {                                                                                                        \
        return name##2 {x, y};                                                                               \
    }                                                                                                        \
    static inline name##4 make_##name##4(type x, type y, type z, type w)                                     \
    {                                                                                                        \
        return name##4 {x, y, z, w};                                                                         \
    }

OZG_EMULATED_VECTORS(char, signed char, 2, 4)
OZG_EMULATED_VECTORS(uchar, unsigned char, 2, 4)
OZG_EMULATED_VECTORS(short, short, 4, 8)
OZG_EMULATED_VECTORS(ushort, unsigned short, 4, 8)
OZG_EMULATED_VECTORS(int, int, 8, 16)
OZG_EMULATED_VECTORS(uint, unsigned, 8, 16)
OZG_EMULATED_VECTORS(longlong, long long, 16, 16)
OZG_EMULATED_VECTORS(ulonglong, unsigned long long, 16, 16)
OZG_EMULATED_VECTORS(float, float, 8, 16)
OZG_EMULATED_VECTORS(double, double, 16, 16)

/* ---- the running thread (emulate.cpp) ----------------------------------------------------------- */

extern uint3 threadIdx, blockIdx, blockDim, gridDim;
extern unsigned char *ozg_emulated_shared;
static const int warpSize = 32;

/*
 * ozg_emulated_together() - a collective of the lanes in mask that still run. The last that comes calls
 * step(mask, lane), where lane[i] is `mine` of lane i, or NULL; all return when it is done. Lanes with the
 * same mask must come with the same step. Lanes outside mask may meet elsewhere.
 */
typedef void ozg_emulated_step(uint32_t mask, void *const lane[32]);

extern "C" {
void ozg_emulated_register(ozg_emulated_kernel *kernel);
void ozg_emulated_together(uint32_t mask, ozg_emulated_step *step, void *mine);
int ozg_emulated_barrier(int value); /* __syncthreads(); returns the number of values that are not 0 */
void ozg_emulated_yield(void);       /* let others run: to be called in every loop that waits for memory */
void ozg_emulated_copy(void *to, const void *from, int bytes); /* cp.async, of 4, 8 or 16 bytes */
void ozg_emulated_copy_commit(void);
void ozg_emulated_copy_wait(int but); /* all groups but the last so many */
[[noreturn]] void ozg_emulated_error(const char *text);

ozg_emulated_step ozg_emulated_step_nothing, ozg_emulated_step_shuffle, ozg_emulated_step_ballot,
    ozg_emulated_step_match, ozg_emulated_step_add, ozg_emulated_step_and, ozg_emulated_step_or,
    ozg_emulated_step_xor, ozg_emulated_step_min, ozg_emulated_step_max, ozg_emulated_step_umin,
    ozg_emulated_step_umax, ozg_emulated_step_mma_s8, ozg_emulated_step_ldmatrix;
}

/* What a lane brings and takes. */
struct ozg_emulated_lane {
    uint64_t value, result;
    int source;
};

static inline uint64_t ozg_emulated_exchange(uint32_t mask, ozg_emulated_step *step, uint64_t value,
                                             int source)
{
    ozg_emulated_lane mine = {value, 0, source};

    ozg_emulated_together(mask, step, &mine);
    return mine.result;
}

/* ---- barriers ----------------------------------------------------------------------------------- */

static inline void __syncthreads(void)
{
    ozg_emulated_barrier(0);
}

static inline int __syncthreads_count(int value)
{
    return ozg_emulated_barrier(value);
}

static inline int __syncthreads_or(int value)
{
    return ozg_emulated_barrier(value) != 0;
}

static inline int __syncthreads_and(int value)
{
    return ozg_emulated_barrier(!value) == 0;
}

static inline void __syncwarp(uint32_t mask = 0xFFFFFFFFu)
{
    ozg_emulated_exchange(mask, ozg_emulated_step_nothing, 0, 0);
}

static inline void __threadfence(void)
{
}

static inline void __threadfence_block(void)
{
}

static inline void __threadfence_system(void)
{
}

static inline void __nanosleep(unsigned)
{
    ozg_emulated_yield();
}

static inline void __trap(void)
{
    ozg_emulated_error("__trap()");
}

/* ---- collectives of a warp ---------------------------------------------------------------------- */

template <typename T> static inline T ozg_emulated_shuffle(uint32_t mask, T x, int source)
{
    static_assert(sizeof(T) <= 8, "a shuffle moves at most 64 bits");
    uint64_t bits = 0;

    memcpy(&bits, &x, sizeof x);
    bits = ozg_emulated_exchange(mask, ozg_emulated_step_shuffle, bits, source);
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline int ozg_emulated_lane_number(void)
{
    return (int)(threadIdx.x & 31);
}

/* The source of a shuffle: the lane itself where `to` leaves its segment of `width` lanes. */
static inline int ozg_emulated_source(int to, int width)
{
    const int lane = ozg_emulated_lane_number(), first = lane & -width;

    return to < first || to >= first + width ? lane : to;
}

template <typename T> static inline T __shfl_sync(uint32_t mask, T x, int source, int width = 32)
{
    return ozg_emulated_shuffle(mask, x, (ozg_emulated_lane_number() & -width) + (source & (width - 1)));
}

template <typename T> static inline T __shfl_xor_sync(uint32_t mask, T x, int bits, int width = 32)
{
    const int lane = ozg_emulated_lane_number(), to = lane ^ bits;

    /* Only what lies above the segment is out of it. */
    return ozg_emulated_shuffle(mask, x, to >= (lane & -width) + width ? lane : to);
}

template <typename T> static inline T __shfl_down_sync(uint32_t mask, T x, unsigned by, int width = 32)
{
    return ozg_emulated_shuffle(mask, x, ozg_emulated_source(ozg_emulated_lane_number() + (int)by, width));
}

template <typename T> static inline T __shfl_up_sync(uint32_t mask, T x, unsigned by, int width = 32)
{
    return ozg_emulated_shuffle(mask, x, ozg_emulated_source(ozg_emulated_lane_number() - (int)by, width));
}

static inline uint32_t __ballot_sync(uint32_t mask, int value)
{
    return (uint32_t)ozg_emulated_exchange(mask, ozg_emulated_step_ballot, value != 0, 0);
}

static inline int __any_sync(uint32_t mask, int value)
{
    return __ballot_sync(mask, value) != 0;
}

static inline int __all_sync(uint32_t mask, int value)
{
    return __ballot_sync(mask, !value) == 0;
}

static inline uint32_t __activemask(void)
{
    return 0xFFFFFFFFu;
}

template <typename T> static inline uint32_t __match_any_sync(uint32_t mask, T x)
{
    uint64_t bits = 0;

    memcpy(&bits, &x, sizeof x);
    return (uint32_t)ozg_emulated_exchange(mask, ozg_emulated_step_match, bits, 0);
}

#define OZG_EMULATED_REDUCE(name, type, step)                                                                \
    static inline type __reduce_##name##_sync(uint32_t mask, type x)                                         \
    {                                                                                                        \
        return (type)ozg_emulated_exchange(mask, step, (uint32_t)x, 0);                                      \
    }

OZG_EMULATED_REDUCE(add, int, ozg_emulated_step_add)
OZG_EMULATED_REDUCE(add, unsigned, ozg_emulated_step_add)
OZG_EMULATED_REDUCE(and, unsigned, ozg_emulated_step_and)
OZG_EMULATED_REDUCE(or, unsigned, ozg_emulated_step_or)
OZG_EMULATED_REDUCE(xor, unsigned, ozg_emulated_step_xor)
OZG_EMULATED_REDUCE(min, int, ozg_emulated_step_min)
OZG_EMULATED_REDUCE(min, unsigned, ozg_emulated_step_umin)
OZG_EMULATED_REDUCE(max, int, ozg_emulated_step_max)
OZG_EMULATED_REDUCE(max, unsigned, ozg_emulated_step_umax)

/* ---- atomics: one fiber runs at a time ---------------------------------------------------------- */

template <typename T> struct ozg_emulated_same {
    typedef T type;
};

#define OZG_EMULATED_ATOMIC(name, expression)                                                                \
    template <typename T> static inline T atomic##name(T *p, typename ozg_emulated_same<T>::type v)          \
    {                                                                                                        \
        const T old = *p;                                                                                    \
                                                                                                             \
        *p = expression;                                                                                     \
        return old;                                                                                          \
    }                                                                                                        \
    template <typename T> static inline T atomic##name##_block(T *p, typename ozg_emulated_same<T>::type v)  \
    {                                                                                                        \
        return atomic##name(p, v);                                                                           \
    }

OZG_EMULATED_ATOMIC(Add, (T)(old + v))
OZG_EMULATED_ATOMIC(Sub, (T)(old - v))
OZG_EMULATED_ATOMIC(And, (T)(old &v))
OZG_EMULATED_ATOMIC(Or, (T)(old | v))
OZG_EMULATED_ATOMIC(Xor, (T)(old ^ v))
OZG_EMULATED_ATOMIC(Min, (v < old ? v : old))
OZG_EMULATED_ATOMIC(Max, (v > old ? v : old))
OZG_EMULATED_ATOMIC(Exch, v)

template <typename T>
static inline T atomicCAS(T *p, typename ozg_emulated_same<T>::type expected,
                          typename ozg_emulated_same<T>::type v)
{
    const T old = *p;

    if (old == expected)
        *p = v;
    return old;
}

/* ---- loads and stores with hints ---------------------------------------------------------------- */

#define OZG_EMULATED_LOAD(name)                                                                              \
    template <typename T> static inline T name(const T *p)                                                   \
    {                                                                                                        \
        return *p;                                                                                           \
    }
#define OZG_EMULATED_STORE(name)                                                                             \
    template <typename T> static inline void name(T *p, typename ozg_emulated_same<T>::type v)               \
    {                                                                                                        \
        *p = v;                                                                                              \
    }

OZG_EMULATED_LOAD(__ldg)
OZG_EMULATED_LOAD(__ldca)
OZG_EMULATED_LOAD(__ldcg)
OZG_EMULATED_LOAD(__ldcs)
OZG_EMULATED_LOAD(__ldcv)
OZG_EMULATED_LOAD(__ldlu)
OZG_EMULATED_STORE(__stcg)
OZG_EMULATED_STORE(__stcs)
OZG_EMULATED_STORE(__stwb)
OZG_EMULATED_STORE(__stwt)

#include "emulate_math.h"

/* ---- the words of device.cuh -------------------------------------------------------------------- */

static inline int ozg_emulated_byte(uint32_t a, int i, int is_signed)
{
    const int x = (int)(a >> (8 * i) & 255);

    return is_signed ? (int)(signed char)x : x;
}

static inline uint32_t ozg_emulated_dp4a(uint32_t a, uint32_t b, uint32_t c, int signed_a, int signed_b)
{
    for (int i = 0; i < 4; i++)
        c += (uint32_t)(ozg_emulated_byte(a, i, signed_a) * ozg_emulated_byte(b, i, signed_b));
    return c;
}

static inline uint32_t ozg_emulated_dp2a(uint32_t a, uint32_t b, uint32_t c, int signed_b, int high)
{
    for (int i = 0; i < 2; i++)
        c += (a >> (16 * i) & 65535) * (uint32_t)ozg_emulated_byte(b, i + 2 * high, signed_b);
    return c;
}

/* Kernels run one after the other. */
OZG_DEVICE void ozg_launch_next(void)
{
}

/* Both ways are there, as in the images for many devices. */
OZG_DEVICE int ozg_fast_fp64(int32_t fp64)
{
    return fp64;
}

OZG_DEVICE uint32_t ozg_shr32(uint32_t x, int32_t by)
{
    if (by < 0 || by > 32)
        ozg_emulated_error("ozg_shr32() by less than 0 or more than 32");
    return by < 32 ? x >> by : 0;
}

OZG_DEVICE uint64_t ozg_shr64(uint64_t x, int32_t by)
{
    if (by < 0 || by > 64)
        ozg_emulated_error("ozg_shr64() by less than 0 or more than 64");
    return by < 64 ? x >> by : 0;
}

OZG_DEVICE uint64_t ozg_shl64(uint64_t x, int32_t by)
{
    if (by < 0 || by > 64)
        ozg_emulated_error("ozg_shl64() by less than 0 or more than 64");
    return by < 64 ? x << by : 0;
}

OZG_DEVICE int ozg_dp4a_us(uint32_t a, uint32_t b, int c)
{
    return (int)ozg_emulated_dp4a(a, b, (uint32_t)c, 0, 1);
}

OZG_DEVICE int ozg_dp4a_ss(uint32_t a, uint32_t b, int c)
{
    return (int)ozg_emulated_dp4a(a, b, (uint32_t)c, 1, 1);
}

OZG_DEVICE uint32_t ozg_dp2a_lo_uu(uint32_t a, uint32_t b, uint32_t c)
{
    return ozg_emulated_dp2a(a, b, c, 0, 0);
}

OZG_DEVICE int ozg_dp2a_lo_us(uint32_t a, uint32_t b, int c)
{
    return (int)ozg_emulated_dp2a(a, b, (uint32_t)c, 1, 0);
}

OZG_DEVICE int ozg_dp2a_hi_us(uint32_t a, uint32_t b, int c)
{
    return (int)ozg_emulated_dp2a(a, b, (uint32_t)c, 1, 1);
}

/* Signed numbers by the bytes at 2 high. */
static inline int ozg_emulated_dp2a_signed(uint32_t a, uint32_t b, int c, int high)
{
    for (int i = 0; i < 2; i++)
        c += (int16_t)(a >> (16 * i)) * ozg_emulated_byte(b, i + 2 * high, 1);
    return c;
}

OZG_DEVICE int ozg_dp2a_lo_ss(uint32_t a, uint32_t b, int c)
{
    return ozg_emulated_dp2a_signed(a, b, c, 0);
}

OZG_DEVICE int ozg_dp2a_hi_ss(uint32_t a, uint32_t b, int c)
{
    return ozg_emulated_dp2a_signed(a, b, c, 1);
}

struct ozg_emulated_mma {
    int *c;
    const uint32_t *x, *y;
};

OZG_DEVICE void ozg_mma_s8(int (&c)[4], const uint32_t (&x)[4], const uint32_t (&y)[2])
{
    ozg_emulated_mma mine = {c, x, y};

    ozg_emulated_together(0xFFFFFFFFu, ozg_emulated_step_mma_s8, &mine);
}

struct ozg_emulated_ldmatrix {
    uint32_t *r;
    const void *row;
};

OZG_DEVICE void ozg_ldmatrix_x4(uint32_t (&r)[4], const void *row)
{
    ozg_emulated_ldmatrix mine = {r, row};

    ozg_emulated_together(0xFFFFFFFFu, ozg_emulated_step_ldmatrix, &mine);
}

OZG_DEVICE void ozg_cp_async16(void *shared, const void *global)
{
    ozg_emulated_copy(shared, global, 16);
}

template <int BYTES> OZG_DEVICE void ozg_cp_async(void *shared, const void *global)
{
    ozg_emulated_copy(shared, global, BYTES);
}

OZG_DEVICE void ozg_cp_async_commit(void)
{
    ozg_emulated_copy_commit();
}

template <int N> OZG_DEVICE void ozg_cp_async_wait(void)
{
    ozg_emulated_copy_wait(N);
}

OZG_DEVICE void ozg_grid_sync(uint32_t *arrived)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        const uint32_t blocks = gridDim.x, ticket = atomicAdd(arrived, 1),
                       target = (ticket / blocks + 1) * blocks;

        while (*(volatile uint32_t *)arrived < target)
            ozg_emulated_yield();
    }
    __syncthreads();
}

#endif
