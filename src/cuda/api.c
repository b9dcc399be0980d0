/*
 * api.c - opens the CUDA driver and finds its functions, once for the process.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "cuda/api.h"

#define DRIVER_LEAST 11000 /* CUDA 11.0: the first with cuStreamIsCapturing() as it is now, and sm_80 */

const char *ozg_cuda_driver_name = "libcuda.so.1";

static ozg_cuda_api api;
static char why[200]; /* the sentence if there is no driver; else "" */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* A name in the driver, and the member of api that gets its address. */
typedef struct symbol {
    const char *name;
    void *member;
    int required;
} symbol;

#define REQUIRED(function, name, arguments) {name, &api.function, 1},
#define OPTIONAL(function, name, arguments) {name, &api.function, 0},
static const symbol symbols[] = {OZG_CUDA_API(REQUIRED) OZG_CUDA_API_OPTIONAL(OPTIONAL)};

/* The first function that must be there and is not; NULL: all are. */
static const char *find_symbols(void *library)
{
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *address = dlsym(library, symbols[i].name);

        if (!address && symbols[i].required)
            return symbols[i].name;
        memcpy(symbols[i].member, &address, sizeof address); /* ISO C has no cast from objects to functions */
    }
    return NULL;
}

static void explain(CUresult result)
{
    const char *name = NULL;

    if (api.error_name(result, &name) != CUDA_SUCCESS || !name)
        name = "unknown error";
    if (result == CUDA_ERROR_NO_DEVICE)
        snprintf(why, sizeof why, "there is no CUDA device (%s); use OZG_BACKEND_CPU", name);
    else if (result == CUDA_ERROR_SYSTEM_DRIVER_MISMATCH ||
             result == CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE)
        snprintf(why, sizeof why,
                 "the CUDA driver's library and kernel module do not match (%s); reboot or "
                 "install them again",
                 name);
    else
        snprintf(why, sizeof why,
                 "the CUDA driver does not start (%s, error %d); see whether nvidia-smi works", name, result);
}

static void open_driver(void)
{
    void *library = dlopen(ozg_cuda_driver_name, RTLD_NOW | RTLD_LOCAL);
    const char *missing;
    CUresult result;

    if (!library) {
        snprintf(why, sizeof why,
                 "there is no CUDA driver (%.60s cannot be loaded); install NVIDIA's driver or "
                 "use OZG_BACKEND_CPU",
                 ozg_cuda_driver_name);
        return;
    }
    missing = find_symbols(library);
    if (missing) {
        snprintf(why, sizeof why,
                 "the CUDA driver is too old (it has no %s); install one of CUDA %d.%d or later", missing,
                 DRIVER_LEAST / 1000, DRIVER_LEAST % 1000 / 10);
        return; /* the library stays: the driver does not like to be unloaded */
    }
    result = api.init(0);
    if (result == CUDA_SUCCESS)
        result = api.driver_version(&api.version);
    if (result != CUDA_SUCCESS)
        explain(result);
    else if (api.version < DRIVER_LEAST)
        snprintf(why, sizeof why, "the CUDA driver is for CUDA %d.%d; install one of %d.%d or later",
                 api.version / 1000, api.version % 1000 / 10, DRIVER_LEAST / 1000, DRIVER_LEAST % 1000 / 10);
}

const ozg_cuda_api *ozg_cuda_api_open(const char **error)
{
    pthread_once(&once, open_driver);
    *error = why;
    return *why ? NULL : &api;
}
