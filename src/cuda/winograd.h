/*
 * winograd.h - products of residues by the algorithm of Strassen and Winograd, one level: seven products of
 * halves instead of eight. For C11 (the host) and CUDA C.
 *
 * Modulo m, with the quadrants of a plane of A, B and C (12: first lines of C, second columns):
 *
 *     S1 = A21 + A22     T1 = B12 - B11     U1 = A11 B11           C11 = U1 + A12 B21
 *     S2 = S1 - A11      T2 = B22 - T1      U2 = U1 + S2 T2        C12 = U2 + S1 T1 + S4 B22
 *     S3 = A11 - A21     T3 = B22 - B12     U3 = U2 + S3 T3        C21 = U3 + A22 T4
 *     S4 = A12 - S2      T4 = B21 - T2                             C22 = U3 + S1 T1
 *
 * (S. Winograd, Linear Algebra Appl. 4 (1971) 381, T4 with the other sign.) S and T are made by
 * winograd.cu, as symmetric residues: planes of their own behind those of the operand. Everything else happens
 * in the product kernel, since a block computes all seven products for one tile of each quadrant of C. Step by
 * step, its sums in registers, and in parentheses what is stored where:
 *
 *     A11 B11 (C11: U1)   + S2 T2 (C12: U2)   + S3 T3 (C21: U3)   + S1 T1 (C22: done)
 *     A12 B21, to which U1 is added (C11: done)
 *     S4 B22, to which U2 and C22 - U3 = S1 T1 are added (C12: done)
 *     A22 T4, to which U3 is added (C21: done)
 *
 * So nothing but the sums of the product is stored, each thread reads what it has written itself, and there is
 * no pass over C. The sums in registers are those of four products of half the k: with |x| <= 127 they stay
 * below 2^31 for k <= OZG_CUDA_WINOGRAD_K, 2 k 127^2 + 3 128 < 2^31; those mod 256 may wrap.
 *
 * Halves are of the tile that there is: rows and columns, rounded up to whole tiles of the product kernels, k to
 * 128. What lies in lines behind those of the tile is unknown: in S and T the lines of the second half count as
 * 0 there, and an unknown line of A22 or B22 ends in unknown entries of C alone.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_WINOGRAD_H
#define OZG_CUDA_WINOGRAD_H

#include "cuda/kernels.h"

#define OZG_CUDA_WINOGRAD_STEPS   7
#define OZG_CUDA_WINOGRAD_K       65536
#define OZG_CUDA_WINOGRAD_ROWS    256 /* of a half: a multiple of so many */
#define OZG_CUDA_WINOGRAD_COLUMNS 128
#define OZG_CUDA_WINOGRAD_PITCH   128

/*
 * The quadrants of step s, four bits each from the low end on. Of operands: 1: second half of k, 2: second half
 * of the lines, 4: in the plane of S or T, where the quadrants are S1, S2 and below them S3, S4. Of C: 1: second
 * columns, 2: second rows.
 */
#define OZG_CUDA_WINOGRAD_A            UINT32_C(0x3714650)
#define OZG_CUDA_WINOGRAD_B            UINT32_C(0x7314650)
#define OZG_CUDA_WINOGRAD_C            UINT32_C(0x2103210)
#define OZG_CUDA_QUADRANT(which, step) ((int)((which) >> 4 * (step)) & 15)

/* ozg_cuda_half() - half of `count`, rounded up to a multiple of `unit`. */
#ifdef __CUDACC__
__host__ __device__
#endif
    static inline int64_t
    ozg_cuda_half(int64_t count, int64_t unit)
{
    return (count + 2 * unit - 1) / (2 * unit) * unit;
}

/*
 * ozg_cuda_winograd_fits() - a product of `residues` planes of residues and `floors` of floors goes this way:
 * `room` is how many planes there are of each operand; 0: it must not.
 */
#ifdef __CUDACC__
__host__ __device__
#endif
    static inline int
    ozg_cuda_winograd_fits(int residues, int floors, int room)
{
    return 2 * residues + floors <= room;
}

/* ozg_cuda_winograd: bytes of k of a warp at a time, lines one after the other. */
#define OZG_CUDA_WINOGRAD_THREADS  256
#define OZG_CUDA_WINOGRAD_RESIDENT 4 /* blocks of a multiprocessor */
#define OZG_CUDA_WINOGRAD_SEGMENT  512
#define OZG_CUDA_WINOGRAD_LINES    4

#endif
