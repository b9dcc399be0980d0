/*
 * prog_speed.c - "ozgemm speed" on the stand-in for the CUDA driver, with the emulated kernels.
 * with: ozgemm_tool_parts
 *
 *     prog_speed [--devices N] [--memory BYTES] [--fail FUNCTION,NTH,RESULT] [--spoil BYTES,NTH,BIT]
 *                -- ARGUMENT...
 *
 * libcuda.so.1 has to be the stand-in (tests/cuda/fake_driver.h), found by LD_LIBRARY_PATH. The options are
 * of its device; ARGUMENT... are those of "ozgemm speed". --spoil: of what comes back from the device, the
 * NTH copy of BYTES has this bit of its last number wrong.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "cuda/device.h"

#include "../cuda/fake_driver.h" /* behind it: the list of images */

static void *stand_in(void *library, const char *name)
{
    void *address = library ? dlsym(library, name) : NULL;

    if (!address) {
        fprintf(stderr, "prog_speed: libcuda.so.1 is no stand-in: it has no %s\n", name);
        exit(3);
    }
    return address;
}

/* "cuMemAlloc_v2,3,2": the third call of it answers 2. */
static void set_fault(void *library, char *text)
{
    void (*fail_at)(const char *function, int nth, int result);
    char *nth = strchr(text, ','), *result = nth ? strchr(nth + 1, ',') : NULL;

    if (!result)
        exit(3);
    *nth = '\0';
    *(void **)&fail_at = stand_in(library, "fake_fail");
    fail_at(text, atoi(nth + 1), atoi(result + 1));
}

static struct {
    long bytes, nth;
    int bit;
    CUresult (*download)(void *to, CUdeviceptr from, size_t bytes, CUstream stream);
} spoil;

static CUresult download(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    const CUresult result = spoil.download(to, from, bytes, stream);

    if ((long)bytes == spoil.bytes && --spoil.nth == 0)
        ((unsigned char *)to)[bytes - 8 + (size_t)(spoil.bit / 8)] ^= (unsigned char)(1 << spoil.bit % 8);
    return result;
}

/* "4608,2,62": the second copy of 4608 bytes. */
static void set_spoil(const char *text)
{
    const char *error;
    ozg_cuda_api *api = (ozg_cuda_api *)(uintptr_t)ozg_cuda_api_open(&error);

    if (!api || sscanf(text, "%ld,%ld,%d", &spoil.bytes, &spoil.nth, &spoil.bit) != 3)
        exit(3);
    spoil.download = api->download;
    api->download = download;
}

/* look() - nothing was wrong in what the driver saw, and of what the tool took nothing is left. */
static int look(void *library)
{
    fake_counts (*count)(void);

    *(void **)&count = stand_in(library, "fake_count");
    if (count().complaints == 0 && count().events == 0)
        return 0;
    fprintf(stderr, "prog_speed: complaints of the driver, or %d events left\n", count().events);
    return 1;
}

int main(int argc, char **argv)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    fake_device *device = stand_in(library, "fake");
    int at = 1;

    for (; at + 1 < argc && strcmp(argv[at], "--") != 0; at += 2) {
        if (strcmp(argv[at], "--devices") == 0)
            device->devices = atoi(argv[at + 1]);
        else if (strcmp(argv[at], "--memory") == 0)
            device->memory = (size_t)atoll(argv[at + 1]);
        else if (strcmp(argv[at], "--fail") == 0)
            set_fault(library, argv[at + 1]);
        else if (strcmp(argv[at], "--spoil") == 0)
            set_spoil(argv[at + 1]);
        else
            return 3;
    }
    if (at == argc)
        return 3;
    ozg_cuda_images = fake_images;
    argv[at] = (char[]){"speed"};
    const int status = cmd_speed(argc - at, argv + at);

    fflush(stdout);
    return look(library) ? 4 : status;
}
