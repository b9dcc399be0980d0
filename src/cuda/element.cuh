/*
 * element.cuh - elements of operands as the caller stored them, one at a time.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_ELEMENT_CUH
#define OZG_CUDA_ELEMENT_CUH

#include "cuda/device.cuh"
#include "cuda/kernels.h"

/* The lanes of a warp. */
#define OZG_CUDA_WARP 32
#define OZG_CUDA_ALL  0xffffffffu

OZG_DEVICE int64_t ozg_cuda_least(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

/* How many pieces of size `by` x things are. */
OZG_DEVICE int64_t ozg_cuda_pieces(int64_t x, int64_t by)
{
    return (x + by - 1) / by;
}

/* The components of element p of a line, as bits of doubles; 0 for Im of real types. */
OZG_DEVICE void ozg_cuda_element(const ozg_cuda_lines *l, int64_t line, int64_t p, int single, int complex_,
                                 uint64_t bits[2])
{
    const int64_t at = line * l->view.line_stride + p * l->view.step;

    bits[1] = 0;
    if (complex_) {
        bits[0] = ozg_load_bits(l->view.x, single, 2 * at);
        bits[1] = ozg_load_bits(l->view.x, single, 2 * at + 1) ^ (l->view.conj ? OZG_F64_SIGN : 0);
    } else {
        bits[0] = ozg_load_bits(l->view.x, single, at);
    }
}

#endif
