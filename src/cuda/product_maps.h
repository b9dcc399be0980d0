/*
 * product_maps.h - how the wgmma kernel wants to see the planes of its operands: as tensors, box by box.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_PRODUCT_MAPS_H
#define OZG_CUDA_PRODUCT_MAPS_H

#include "cuda/api.h"
#include "cuda/kernels.h"

/* A tensor of bytes, innermost dimension first; stride[i] is that of dimension i + 1. 128-byte swizzle. */
typedef struct ozg_cuda_map_shape {
    uint32_t rank;
    uint64_t size[5], stride[4];
    uint32_t box[5];
} ozg_cuda_map_shape;

/*
 * ozg_cuda_product_shape_a(), _b() - of `count` planes. A: dimensions {pitch, 2, 4, 8, groups of 64 lines}:
 * the lines of a group come in the order that product.cuh describes. B: {pitch, lines of all planes}.
 */
ozg_cuda_map_shape ozg_cuda_product_shape_a(const ozg_cuda_planes *planes, int count);
ozg_cuda_map_shape ozg_cuda_product_shape_b(const ozg_cuda_planes *planes, int count);

/*
 * ozg_cuda_product_maps() - the maps of both operands; api->tensor_map must be there. Planes must be aligned
 * to 16. No device work.
 */
CUresult ozg_cuda_product_maps(const ozg_cuda_api *api, const ozg_cuda_planes *a, const ozg_cuda_planes *b,
                               int count, ozg_cuda_map *map_a, ozg_cuda_map *map_b);

/*
 * ozg_cuda_product_part() - the map of A (side 0) or B (1) of the planes from line `line` and element `p`
 * on, as if they began there: a tile of an operand whose planes are there as a whole. Multiples of 64 and
 * 128. It describes no byte behind the planes.
 */
CUresult ozg_cuda_product_part(const ozg_cuda_api *api, int side, const ozg_cuda_planes *planes, int count,
                               int64_t line, int64_t p, ozg_cuda_map *map);

#endif
