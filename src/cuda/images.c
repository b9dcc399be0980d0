/*
 * images.c - the kernels that the build has embedded, or none; and which image has which kernel.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "cuda/shared.h"

#if OZG_CUDA_EMBEDDED
extern const ozg_cuda_image ozg_cuda_embedded[]; /* the build makes it from the .cu files */
const ozg_cuda_image *ozg_cuda_images = ozg_cuda_embedded;
#else
static const ozg_cuda_image none = {NULL, NULL};
const ozg_cuda_image *ozg_cuda_images = &none;
#endif

/* By what follows ozg_cuda_; X_batch is where X is. */
static const struct {
    const char *kernel, *image;
} places[] = {{"choose", "choose"},
              {"special", "fixup"},
              {"largest", "fixup"},
              {"scale_c", "fixup"},
              {"raise", "fixup"},
              {"gather", "gather"},
              {"product_mma", "product_mma"},
              {"product_wgmma", "product_sm90"},
              {"reconstruct_small_d", "reconstruct"},
              {"reconstruct_small_s", "reconstruct"},
              {"reconstruct_large_d", "reconstruct"},
              {"reconstruct_large_s", "reconstruct"},
              {"reconstruct_small_d_joined", "reconstruct"},
              {"reconstruct_small_s_joined", "reconstruct"},
              {"reconstruct_large_d_joined", "reconstruct"},
              {"reconstruct_large_s_joined", "reconstruct"},
              {"factors", "reconstruct"},
              {"reconstruct_small_any", "reconstruct_any"},
              {"reconstruct_large_any", "reconstruct_any"},
              {"reconstruct_small_z", "reconstruct_complex"},
              {"reconstruct_small_c", "reconstruct_complex"},
              {"reconstruct_large_z", "reconstruct_complex"},
              {"reconstruct_large_c", "reconstruct_complex"},
              {"repair", "repair"},
              {"begin", "scale"},
              {"matrices", "scale"},
              {"scale", "scale"},
              {"norms", "scale"},
              {"split", "split"}};

const char *ozg_cuda_image_of(const char *kernel)
{
    static const char prefix[] = "ozg_cuda_";

    if (strncmp(kernel, prefix, sizeof prefix - 1) != 0)
        return NULL;
    kernel += sizeof prefix - 1;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const size_t length = strlen(places[i].kernel);

        if (strncmp(kernel, places[i].kernel, length) == 0 &&
            (!kernel[length] || strcmp(kernel + length, "_batch") == 0))
            return places[i].image;
    }
    return NULL;
}
