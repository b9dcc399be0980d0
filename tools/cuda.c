/*
 * cuda.c - a GPU for "ozgemm speed": memory, copies, one stream, times.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "cuda.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../src/cuda/api.h"
#include "cli.h"

struct cuda {
    const ozg_cuda_api *api;
    CUdevice device;
    CUcontext context;
    CUstream stream;
    CUevent mark[2];
    char name[128], bus[32];
};

/* must() - what was tried has worked, or the command ends. */
static void must(const struct cuda *g, CUresult result, const char *what)
{
    const char *name = NULL;
    if (result == CUDA_SUCCESS)
        return;
    if (g->api->error_name(result, &name) != CUDA_SUCCESS || name == NULL)
        name = "unknown error";
    fail("the GPU failed: cannot %s (%s, error %d); see whether nvidia-smi works, and try again", what, name,
         result);
}

/* find_bus() - "0000:1b:00.0"; the library has no use for this function, so it is looked up here. */
static void find_bus(struct cuda *g)
{
    CUresult (*bus)(char *text, int size, CUdevice device) = NULL;
    void *driver = dlopen(ozg_cuda_driver_name, RTLD_NOW | RTLD_NOLOAD);
    if (driver)
        *(void **)&bus = dlsym(driver, "cuDeviceGetPCIBusId");
    if (bus == NULL || bus(g->bus, sizeof g->bus, g->device) != CUDA_SUCCESS)
        g->bus[0] = '\0';
    if (driver)
        dlclose(driver);
}

struct cuda *cuda_open(int number)
{
    const char *error;
    const ozg_cuda_api *api = ozg_cuda_api_open(&error);
    if (api == NULL)
        fail("%s", error);
    struct cuda *g = xmalloc(sizeof *g);
    *g = (struct cuda){.api = api};
    must(g, api->device_get(&g->device, number), "find the device");
    must(g, api->device_name(g->name, sizeof g->name, g->device), "tell its name");
    must(g, api->primary_retain(&g->context, g->device), "open its context");
    must(g, api->context_push(g->context), "use its context");
    must(g, api->stream_create(&g->stream, CU_STREAM_NON_BLOCKING), "make a stream");
    for (int i = 0; i < 2; i++)
        must(g, api->event_create(&g->mark[i], CU_EVENT_DEFAULT), "make an event");
    find_bus(g);
    return g;
}

void cuda_close(struct cuda *g)
{
    CUcontext popped;
    if (g == NULL)
        return;
    cuda_finish(g);
    for (int i = 0; i < 2; i++)
        must(g, g->api->event_destroy(g->mark[i]), "give an event back");
    must(g, g->api->stream_destroy(g->stream), "give the stream back");
    must(g, g->api->context_pop(&popped), "leave its context");
    must(g, g->api->primary_release(g->device), "close its context");
    free(g);
}

const char *cuda_name(const struct cuda *g)
{
    return g->name;
}

const char *cuda_bus(const struct cuda *g)
{
    return g->bus;
}

int cuda_driver(const struct cuda *g)
{
    return g->api->version;
}

void *cuda_stream(const struct cuda *g)
{
    return g->stream;
}

void *cuda_memory(struct cuda *g, size_t bytes)
{
    CUdeviceptr memory = 0;
    CUresult result = g->api->allocate(&memory, bytes ? bytes : 1);
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        return NULL;
    must(g, result, "allocate memory");
    return (void *)(uintptr_t)memory;
}

void cuda_release(struct cuda *g, void *memory)
{
    if (memory)
        must(g, g->api->release((CUdeviceptr)(uintptr_t)memory), "give memory back");
}

void cuda_upload(struct cuda *g, void *device, const void *host, size_t bytes)
{
    must(g, g->api->upload((CUdeviceptr)(uintptr_t)device, host, bytes, g->stream), "copy to its memory");
    cuda_finish(g);
}

void cuda_download(struct cuda *g, void *host, const void *device, size_t bytes)
{
    must(g, g->api->download(host, (CUdeviceptr)(uintptr_t)device, bytes, g->stream), "copy its memory");
    cuda_finish(g);
}

void cuda_poison(struct cuda *g, void *device, size_t bytes)
{
    must(g, g->api->set_bytes((CUdeviceptr)(uintptr_t)device, 0xff, bytes, g->stream), "set its memory");
}

void cuda_finish(struct cuda *g)
{
    must(g, g->api->stream_synchronize(g->stream), "finish its work");
}

void cuda_mark(struct cuda *g, int number)
{
    must(g, g->api->event_record(g->mark[number], g->stream), "record an event");
}

double cuda_seconds(struct cuda *g)
{
    float milliseconds = 0;
    must(g, g->api->event_elapsed(&milliseconds, g->mark[0], g->mark[1]), "tell a time");
    return 1e-3 * (double)milliseconds;
}
