/*
 * inline.h - how functions are declared that are written once for C11, CUDA C and OpenCL C.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_ARITH_INLINE_H
#define OZG_ARITH_INLINE_H

#if defined(__CUDACC__)
#define OZG_INLINE static __host__ __device__ __forceinline__
#else
#define OZG_INLINE static inline
#endif

#endif
