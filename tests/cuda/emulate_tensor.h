/*
 * emulate_tensor.h - a tensor map that the emulation can read, and its cuTensorMapEncodeTiled(). C and C++.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TEST_CUDA_EMULATE_TENSOR_H
#define OZG_TEST_CUDA_EMULATE_TENSOR_H

#include <stdint.h>
#include <string.h>

#include "cuda/kernels.h"

/* What ozg_cuda_map holds. */
typedef struct ozg_emulated_tensor {
    const uint8_t *base;
    uint64_t size[5], stride[5]; /* bytes; stride[0] = 1 */
    uint32_t box[5], rank;
} ozg_emulated_tensor;

/* The driver's function (src/cuda/api.h), with what it demands; not 0: invalid. 128-byte swizzle only. */
static inline int ozg_emulated_tensor_map(ozg_cuda_map *map, int type, uint32_t rank, void *base,
                                          const uint64_t *size, const uint64_t *stride, const uint32_t *box,
                                          const uint32_t *element_stride, int interleave, int swizzle,
                                          int promotion, int fill)
{
    ozg_emulated_tensor t;

    memset(&t, 0, sizeof t);
    if (type != 0 || rank < 1 || rank > 5 || (uintptr_t)map % 64 || (uintptr_t)base % 16 || interleave != 0 ||
        swizzle != 3 || promotion < 0 || fill != 0)
        return 1;
    t.base = (const uint8_t *)base;
    t.rank = rank;
    for (uint32_t i = 0; i < rank; i++) {
        t.size[i] = size[i];
        t.stride[i] = i ? stride[i - 1] : 1;
        t.box[i] = box[i];
        if (size[i] < 1 || size[i] > UINT64_C(1) << 32 || box[i] < 1 || box[i] > 256 ||
            element_stride[i] != 1 || (i && (t.stride[i] % 16 || t.stride[i] >= UINT64_C(1) << 40)))
            return 1;
    }
    if (box[0] != 128) /* what the twin of the copy can do */
        return 1;
    memset(map, 0, sizeof *map);
    memcpy(map, &t, sizeof t);
    return 0;
}

#endif
