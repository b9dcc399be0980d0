/*
 * scale.h - how the scale stage is cut into items. For C11 (the host) and CUDA C.
 *
 * An item is a chunk of elements (2^ozg_cuda_scale_chunk_bits()), or the rest, of some lines. A thread holds what it
 * has of it, eight vectors of 16 bytes, or of single components where lines are not aligned. A block of 8 warps takes
 *
 *     across: lines are neighbours in memory    32 vectors of lines side by side, each warp every eighth element
 *     along: elements of a line are             8 items of one line each: 32 vectors side by side, a warp an item
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_SCALE_H
#define OZG_CUDA_SCALE_H

#include "cuda/kernels.h"

#define OZG_CUDA_SCALE_RESIDENT 4  /* blocks on a multiprocessor */
#define OZG_CUDA_NORMS_LINES    32 /* of a block of the norms kernel */

typedef struct ozg_cuda_scale_shape {
    int32_t along, wide; /* wide: vectors */
    uint32_t groups;     /* lines that an item takes side by side; along: lines */
    uint32_t chunks;     /* of a line. 2^32 items would be of more than 2 TB */
    int64_t blocks;      /* items of blocks */
} ozg_cuda_scale_shape;

/* log2 of the bytes of an element: 4, 8 or 16. */
OZG_INLINE int ozg_cuda_size_bits(char type)
{
    return 2 + !ozg_type_single(type) + ozg_type_complex(type);
}

/* log2 of the elements of an item: along, a thread has eight vectors of 16 bytes of it. */
OZG_INLINE int ozg_cuda_scale_chunk_bits(int along, char type)
{
    return along ? 12 - ozg_cuda_size_bits(type) : 6;
}

/* x / 2^bits, rounded up. */
OZG_INLINE int64_t ozg_cuda_shares(int64_t x, int bits)
{
    return (int64_t)(((uint64_t)x + (UINT64_C(1) << bits) - 1) >> bits);
}

OZG_INLINE ozg_cuda_scale_shape ozg_cuda_scale_shape_of(const ozg_cuda_lines *l)
{
    const ozg_view *v = &l->view;
    const int size = ozg_cuda_size_bits(v->type), component = ozg_type_single(v->type) ? 2 : 3;
    ozg_cuda_scale_shape s;

    s.along = v->step == 1;
    s.wide = s.along || (((uintptr_t)v->x | (uintptr_t)v->step << size) & 15) == 0;
    s.chunks = (uint32_t)ozg_cuda_shares(l->k, ozg_cuda_scale_chunk_bits(s.along, v->type));
    if (s.along) {
        s.groups = (uint32_t)l->count;
        s.blocks = ozg_cuda_shares((int64_t)s.groups * s.chunks, 3);
    } else {
        s.groups = (uint32_t)ozg_cuda_shares(l->count, 5 + (s.wide ? 4 : component) - size);
        s.blocks = (int64_t)s.groups * s.chunks;
    }
    return s;
}

#endif
