/*
 * images.c - the kernels that the build has embedded, or none.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cuda/device.h"

#if OZG_CUDA_EMBEDDED
extern const ozg_cuda_image ozg_cuda_embedded[]; /* the build makes it from the .cu files */
const ozg_cuda_image *ozg_cuda_images = ozg_cuda_embedded;
#else
static const ozg_cuda_image none = {NULL, NULL};
const ozg_cuda_image *ozg_cuda_images = &none;
#endif
