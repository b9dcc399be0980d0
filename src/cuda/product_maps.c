/*
 * product_maps.c - tensor maps for the wgmma kernel.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cuda/product.h"
#include "cuda/product_maps.h"

ozg_cuda_map_shape ozg_cuda_product_shape_a(const ozg_cuda_planes *planes, int count)
{
    const uint64_t line = (uint64_t)planes->pitch, groups = (uint64_t)planes->lines / 64 * (uint64_t)count;
    /* column 8 t + 2 q + c of a group is its line 16 q + 2 t + c: c, q, t from the inside */
    const ozg_cuda_map_shape shape = {5,
                                      {line, 2, 4, 8, groups},
                                      {line, 16 * line, 2 * line, 64 * line},
                                      {OZG_CUDA_WGMMA_K, 2, 4, 8, OZG_CUDA_WGMMA_ROWS / 64}};

    return shape;
}

ozg_cuda_map_shape ozg_cuda_product_shape_b(const ozg_cuda_planes *planes, int count)
{
    const uint64_t line = (uint64_t)planes->pitch, lines = (uint64_t)planes->lines * (uint64_t)count;
    const ozg_cuda_map_shape shape = {
        2, {line, lines, 0, 0, 0}, {line, 0, 0, 0}, {OZG_CUDA_WGMMA_K, OZG_CUDA_WGMMA_COLUMNS, 0, 0, 0}};

    return shape;
}

static CUresult encode(const ozg_cuda_api *api, const ozg_cuda_map_shape *shape,
                       const ozg_cuda_planes *planes, ozg_cuda_map *map)
{
    const uint32_t one[5] = {1, 1, 1, 1, 1};

    return api->tensor_map(map, CU_TENSOR_MAP_DATA_TYPE_UINT8, shape->rank, planes->base, shape->size,
                           shape->stride, shape->box, one, CU_TENSOR_MAP_INTERLEAVE_NONE,
                           CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                           CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

CUresult ozg_cuda_product_maps(const ozg_cuda_api *api, const ozg_cuda_planes *a, const ozg_cuda_planes *b,
                               int count, ozg_cuda_map *map_a, ozg_cuda_map *map_b)
{
    const ozg_cuda_map_shape of_a = ozg_cuda_product_shape_a(a, count),
                             of_b = ozg_cuda_product_shape_b(b, count);
    const CUresult result = encode(api, &of_a, a, map_a);

    return result ? result : encode(api, &of_b, b, map_b);
}

CUresult ozg_cuda_product_part(const ozg_cuda_api *api, int side, const ozg_cuda_planes *planes, int count,
                               int64_t line, int64_t p, ozg_cuda_map *map)
{
    const ozg_cuda_planes from = {planes->base + line * planes->pitch + p, planes->lines, planes->pitch};
    ozg_cuda_map_shape shape =
        side ? ozg_cuda_product_shape_b(planes, count) : ozg_cuda_product_shape_a(planes, count);

    shape.size[0] -= (uint64_t)p;
    shape.size[shape.rank - 1] -= (uint64_t)(side ? line : line / 64);
    return encode(api, &shape, &from, map);
}
