/*
 * shared.h - what all contexts of the process on one CUDA device share: its primary context, the modules with
 * the kernels, and the tables of moduli.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_SHARED_H
#define OZG_CUDA_SHARED_H

#include "cuda/device.h"

#define OZG_CUDA_NAME    96 /* of a device, and 0 */
#define OZG_CUDA_MODULES 24

/* An image that has code for the device. */
typedef struct ozg_cuda_module {
    const char *image;
    CUmodule module;
} ozg_cuda_module;

typedef struct ozg_cuda_shared {
    const ozg_cuda_api *api;
    int number;
    CUdevice device;
    CUcontext context; /* the primary one */
    char name[OZG_CUDA_NAME];
    int multiprocessors, capability;
    int reads_host; /* kernels may use any memory of the host */
    size_t shared_most;
    ozg_cuda_module module[OZG_CUDA_MODULES];
    int modules;
    CUdeviceptr tables;
    /* below: under the lock */
    ozg_cuda_function function[OZG_CUDA_KERNELS];
    int functions;
    struct ozg_cuda_shared *next;
} ozg_cuda_shared;

/*
 * ozg_cuda_share() - the one of device `number`; the first call for it sets it up. NULL: the sentence is
 * ctx's, and *status set. Any thread.
 */
ozg_cuda_shared *ozg_cuda_share(ozg_context *ctx, int number, ozg_status *status);

/* ozg_cuda_image_of() - the name of the image, that of the .cu file, which has this kernel; NULL: none has. */
const char *ozg_cuda_image_of(const char *kernel);

/*
 * ozg_cuda_find() - a kernel with at least so much dynamic shared memory allowed; its context is current.
 * *function is a copy. Errors: OZG_E_NODEVICE (no such kernel in this build), OZG_E_DEVICE. Any thread.
 */
ozg_status ozg_cuda_find(ozg_context *ctx, ozg_cuda_shared *device, const char *name, size_t shared,
                         ozg_cuda_function *function);

/* ozg_cuda_explain() - a CUresult other than success as a status, with the sentence in ctx; `api` may not be
 * NULL. */
ozg_status ozg_cuda_explain(ozg_context *ctx, const ozg_cuda_api *api, CUresult result, const char *what);

#endif
