/*
 * split.h - how the split stage is cut into steps. For C11 (the host) and CUDA C.
 *
 * A thread takes 16 elements of a line at a time (complex: 8), in quads of four neighbours. A warp takes
 *
 *     across: lines are neighbours in memory    8 lines (complex: 4) of 64 elements; quads of a thread are
 *                                               neighbours
 *     along: elements of a line are             1, 2 or 4 lines; quads of neighbouring threads are neighbours
 *
 * so that it reads and writes whole sectors of 32 bytes, mostly 64 and more. A block of 8 warps: across 4 x 2
 * warps along lines and k, along 8 x 1.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_SPLIT_H
#define OZG_CUDA_SPLIT_H

#include "cuda/kernels.h"

#define OZG_CUDA_SPLIT_RESIDENT 2 /* blocks on a multiprocessor */

typedef struct ozg_cuda_split_shape {
    int32_t along;
    int32_t warp_lines, block_lines;
    int32_t step;          /* elements of each line that a block takes at a time */
    int32_t gap;           /* from one quad of a thread to its next */
    int64_t groups, steps; /* blocks of lines, steps along k */
} ozg_cuda_split_shape;

/* Of `lines` lines, `elements` bytes each in a plane, padding included. */
OZG_INLINE ozg_cuda_split_shape ozg_cuda_split_shape_of(int complex_, int along, int64_t lines,
                                                        int64_t elements)
{
    const int32_t quads = complex_ ? 2 : 4;
    ozg_cuda_split_shape s;

    s.along = along;
    if (along) { /* as few lines as do not leave an eighth of the threads idle */
        s.warp_lines = 1;
        while (s.warp_lines < quads && elements % (128 * quads / s.warp_lines) != 0 &&
               elements < 8 * 128 * quads / s.warp_lines)
            s.warp_lines *= 2;
        s.block_lines = 8 * s.warp_lines;
        s.gap = 128 / s.warp_lines;
        s.step = quads * s.gap;
    } else {
        s.warp_lines = 2 * quads;
        s.block_lines = 4 * s.warp_lines;
        s.gap = 4;
        s.step = 128;
    }
    s.groups = (lines + s.block_lines - 1) / s.block_lines;
    s.steps = (elements + s.step - 1) / s.step;
    return s;
}

#endif
