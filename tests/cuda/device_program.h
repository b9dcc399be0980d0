/*
 * device_program.h - what programs on a CUDA device have in common: the driver, contexts, device memory.
 *
 * They run on a device, or over the emulation: --driver names a library instead of libcuda.so.1, --capability
 * what its device has, 80 or 90 (then work is done late), --order the order of threads and blocks (emulate.h), --fresh
 * the bytes that its memory begins with: nothing may depend on them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TEST_CUDA_DEVICE_PROGRAM_H
#define OZG_TEST_CUDA_DEVICE_PROGRAM_H

#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE
#endif
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/device.h"
#include "fake_driver.h"

static const ozg_cuda_api *api;      /* of the first context */
static fake_device *stand_in_device; /* NULL: it is a real one */

/* What follows a word of the command line; NULL: it is not there. */
static inline const char *option_of(int argc, char **argv, const char *word)
{
    for (int q = 1; q + 1 < argc; q++)
        if (strcmp(argv[q], word) == 0)
            return argv[q + 1];
    return NULL;
}

/* The library that stands in for the driver, if one is named; its kernels are emulated. devices: that it has. */
static inline void use_driver(int argc, char **argv, int devices)
{
    const char *path = option_of(argc, argv, "--driver"), *capability = option_of(argc, argv, "--capability"),
               *order = option_of(argc, argv, "--order"), *fresh = option_of(argc, argv, "--fresh");
    const int of_device = capability ? atoi(capability) : 80;
    void (*set_order)(uint32_t seed);
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL;
    fake_device *device = library ? dlsym(library, "fake") : NULL;

    if (!path)
        return;
    if (!device) {
        printf("%s\n", dlerror());
        exit(2);
    }
    *(void **)(void *)&set_order = dlsym(library, "ozg_emulated_order");
    set_order(order ? (uint32_t)strtoul(order, NULL, 0) : 0);
    stand_in_device = device;
    device->devices = devices;
    device->fresh = fresh ? (int)strtol(fresh, NULL, 0) : device->fresh;
    device->queued = of_device == 90;
    device->major = of_device / 10;
    device->minor = of_device % 10;
    device->shared_most = of_device == 90 ? 232448 : 166912;
    ozg_cuda_driver_name = path;
    ozg_cuda_images = fake_images;
}

static inline ozg_context *open_context(ozg_backend_kind backend, int device_pointers, size_t memory_limit)
{
    ozg_config cfg;
    ozg_context *ctx;

    ozg_config_init(&cfg);
    cfg.backend = backend;
    cfg.device_pointers = device_pointers;
    cfg.memory_limit = memory_limit;
    if (ozg_create(&ctx, &cfg)) {
        printf("%s\n", ozg_last_error(NULL));
        exit(77);
    }
    return ctx;
}

static inline void must(int result, const char *what)
{
    if (!result)
        return;
    printf("%s: error %d\n", what, result);
    exit(2);
}

/*
 * A copy of host memory on the device, at an odd element of an allocation: nothing is aligned more than it
 * has to be.
 */
static inline CUdeviceptr device_copy(const void *x, size_t bytes, size_t offset, CUdeviceptr *allocation)
{
    must(api->allocate(allocation, bytes + offset), "allocate");
    must(api->upload(*allocation + offset, x, bytes, NULL), "upload");
    return *allocation + offset;
}

#endif
