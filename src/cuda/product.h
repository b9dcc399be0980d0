/*
 * product.h - launch shapes of the product kernels. For C11 (the host) and CUDA C.
 *
 * A tile is what a block computes at a time: so many rows and columns of C of one plane. Planes are padded to
 * OZG_CUDA_LINES lines and sums to 256 x 128, so that no kernel looks where its tile ends.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_PRODUCT_H
#define OZG_CUDA_PRODUCT_H

#include "cuda/kernels.h"

/* ozg_cuda_product_wgmma: two warpgroups multiply, one warp fetches `STAGES` blocks of k ahead. */
#define OZG_CUDA_WGMMA_THREADS 288
#define OZG_CUDA_WGMMA_ROWS    256
#define OZG_CUDA_WGMMA_COLUMNS 128
#define OZG_CUDA_WGMMA_K       128
#define OZG_CUDA_WGMMA_STAGES  4
#define OZG_CUDA_WGMMA_STAGE   ((OZG_CUDA_WGMMA_ROWS + OZG_CUDA_WGMMA_COLUMNS) * OZG_CUDA_WGMMA_K) /* bytes */
/* and up to 1024 bytes for its alignment, and the barriers */
#define OZG_CUDA_WGMMA_SHARED (OZG_CUDA_WGMMA_STAGES * OZG_CUDA_WGMMA_STAGE + 1024 + 256)
#define OZG_CUDA_WGMMA_BLOCKS 1 /* resident on a multiprocessor */

/* ozg_cuda_product_mma: eight warps, 32 columns x 64 rows each. 48 KB: any block may have them. */
#define OZG_CUDA_MMA_THREADS 256
#define OZG_CUDA_MMA_ROWS    128
#define OZG_CUDA_MMA_COLUMNS 128
#define OZG_CUDA_MMA_K       64
#define OZG_CUDA_MMA_STAGES  3
#define OZG_CUDA_MMA_STAGE   ((OZG_CUDA_MMA_ROWS + OZG_CUDA_MMA_COLUMNS) * OZG_CUDA_MMA_K) /* bytes */
#define OZG_CUDA_MMA_SHARED  (OZG_CUDA_MMA_STAGES * OZG_CUDA_MMA_STAGE)
#define OZG_CUDA_MMA_BLOCKS  2

/*
 * ozg_cuda_product_blocks() - blocks for a tile of `planes` planes of sums (at most): all that are resident,
 * but not more than there are tiles.
 */
static inline int ozg_cuda_product_blocks(int wgmma, int64_t rows, int64_t columns, int planes,
                                          int multiprocessors)
{
    const int64_t tile_rows = wgmma ? OZG_CUDA_WGMMA_ROWS : OZG_CUDA_MMA_ROWS;
    const int64_t tile_columns = wgmma ? OZG_CUDA_WGMMA_COLUMNS : OZG_CUDA_MMA_COLUMNS;
    const int64_t tiles =
        (rows + tile_rows - 1) / tile_rows * ((columns + tile_columns - 1) / tile_columns) * planes;
    const int64_t most = (int64_t)multiprocessors * (wgmma ? OZG_CUDA_WGMMA_BLOCKS : OZG_CUDA_MMA_BLOCKS);

    return (int)(tiles < most ? tiles : most);
}

#endif
