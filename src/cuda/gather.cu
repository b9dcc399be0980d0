/*
 * gather.cu - entries of a matrix to where they lie close together: copies of operands, and chosen lines.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cuda/device.cuh"
#include "cuda/kernels.h"

enum { THREADS = OZG_CUDA_GATHER_THREADS, STEPS = 4 };

/*
 * A block takes pieces: `width` words of a column (a power of two) times STEPS, and as many columns as
 * there are threads left.
 */
template <typename W> OZG_DEVICE void gather(const ozg_cuda_gather_args &a)
{
    const int64_t height = a.rows * a.words;
    int width = THREADS;

    while (width / 2 >= height)
        width /= 2;
    const int64_t down = (height + width * STEPS - 1) / (width * STEPS), across = THREADS / width;
    const int x = (int)threadIdx.x % width, y = (int)threadIdx.x / width;

    for (int64_t piece = blockIdx.x; piece < down * ((a.columns + across - 1) / across); piece += gridDim.x) {
        const int64_t j = piece / down * across + y;
        const int64_t first = piece % down * width * STEPS + x;

        if (j >= a.columns)
            continue;
        const int64_t from = (a.column ? a.column[j] : j) * a.column_step;

        for (int64_t at = first; at < first + width * STEPS && at < height; at += width) {
            const int64_t i = a.words == 1 ? at : at / a.words, w = at - i * a.words;

            ((W *)a.out)[j * a.ld * a.words + at] =
                ((const W *)a.x)[((a.row ? a.row[i] : i) * a.row_step + from) * a.words + w];
        }
    }
}

OZG_KERNEL(ozg_cuda_gather, ozg_cuda_gather_args, OZG_CUDA_GATHER_THREADS, 4)
{
    if (a.word == 8)
        gather<uint64_t>(a);
    else
        gather<uint32_t>(a);
}
