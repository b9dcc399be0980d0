/*
 * scale.h - how the scale stage is cut into items. For C11 (the host) and CUDA C.
 *
 * An item is OZG_CUDA_CHUNK elements, or the rest, of some lines. A thread holds what it has of it, eight vectors of
 * 16 bytes, or of single components where lines are not aligned. A block of 8 warps takes
 *
 *     across: lines are neighbours in memory    32 vectors of lines side by side, each warp every eighth element
 *     along: elements of a line are             8 items of one line each: 32 vectors side by side, a warp an item
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_SCALE_H
#define OZG_CUDA_SCALE_H

#include "cuda/kernels.h"

#define OZG_CUDA_SCALE_RESIDENT 3  /* blocks on a multiprocessor */
#define OZG_CUDA_NORMS_LINES    32 /* of a block of the norms kernel */

typedef struct ozg_cuda_scale_shape {
    int32_t along, wide; /* wide: vectors */
    int64_t groups;      /* lines that an item takes side by side; along: lines */
    int64_t chunk;       /* elements of an item */
    int64_t chunks;      /* of a line */
    int64_t blocks;      /* items of blocks */
} ozg_cuda_scale_shape;

/* Elements of an item: a thread has eight vectors of it. */
OZG_INLINE int64_t ozg_cuda_scale_chunk(int along, int64_t size)
{
    return along ? 32 * 8 * 16 / size : 64;
}

OZG_INLINE ozg_cuda_scale_shape ozg_cuda_scale_shape_of(const ozg_cuda_lines *l)
{
    const ozg_view *v = &l->view;
    const int64_t size = ozg_type_size(v->type), component = ozg_type_single(v->type) ? 4 : 8;
    ozg_cuda_scale_shape s;

    s.along = v->step == 1;
    s.wide = s.along || (((uintptr_t)v->x | (uintptr_t)v->step * (uintptr_t)size) & 15) == 0;
    s.chunk = ozg_cuda_scale_chunk(s.along, size);
    s.chunks = (l->k + s.chunk - 1) / s.chunk;
    if (s.along) {
        s.groups = l->count;
        s.blocks = (s.groups * s.chunks + 7) / 8;
    } else {
        const int64_t width = 32 * (s.wide ? 16 : component);

        s.groups = (l->count * size + width - 1) / width;
        s.blocks = s.groups * s.chunks;
    }
    return s;
}

#endif
