/*
 * scale.h - how the scale stage is cut into items. For C11 (the host) and CUDA C.
 *
 * A thread takes vectors of 16 bytes, eight at a time; where lines are not aligned, single components. A
 * block of 8 warps takes
 *
 *     across: lines are neighbours in memory    a vector a thread, 32 of them side by side, each warp every
 *                                               eighth element
 *     along: elements of a line are             8 times: (a part of) a line a warp, 32 vectors side by side
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_SCALE_H
#define OZG_CUDA_SCALE_H

#include "cuda/kernels.h"

#define OZG_CUDA_SCALE_RESIDENT 4 /* blocks on a multiprocessor */
#define OZG_CUDA_NORMS_RESIDENT 3

typedef struct ozg_cuda_scale_shape {
    int32_t along, wide; /* wide: vectors */
    int64_t groups;      /* blocks of lines; along: lines */
    int64_t chunk;       /* elements of an item */
    int64_t items;       /* along: of warps */
    int64_t blocks;      /* items of blocks */
} ozg_cuda_scale_shape;

/* For about `target` items for blocks, if there is that much to do. */
OZG_INLINE ozg_cuda_scale_shape ozg_cuda_scale_shape_of(const ozg_cuda_lines *l, int64_t target)
{
    const ozg_view *v = &l->view;
    const int64_t size = ozg_type_size(v->type), component = ozg_type_single(v->type) ? 4 : 8;
    int64_t least, wanted;
    ozg_cuda_scale_shape s;

    s.along = v->step == 1;
    s.wide = s.along || (((uintptr_t)v->x | (uintptr_t)v->step * (uintptr_t)size) & 15) == 0;
    if (s.along) {
        s.groups = l->count;
        least = 32 * 16 * 8 / size;
        target *= 8;
    } else {
        const int64_t width = 32 * (s.wide ? 16 : component);

        s.groups = (l->count * size + width - 1) / width;
        least = 64;
    }
    wanted = s.groups * l->k / (target + 1) / least * least;
    s.chunk = wanted < least ? least : wanted > 8192 ? 8192 : wanted;
    s.items = l->k > 0 ? s.groups * ((l->k + s.chunk - 1) / s.chunk) : 0;
    s.blocks = s.along ? (s.items + 7) / 8 : s.items;
    return s;
}

#endif
