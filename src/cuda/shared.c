/*
 * shared.c - sets up a CUDA device for the process: modules and tables, once for each device.
 *
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/shared.h"
#include "cuda/table.h"

#define CAPABILITY_LEAST 80 /* mma.m16n8k32 of int8 (product_mma.cu) */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ozg_cuda_shared *devices; /* under the lock; never freed */

/* ---- errors ------------------------------------------------------------------------------------- */

/* The driver gives this answer to everything from now on: what the device was doing is lost. */
static int is_fatal(CUresult result)
{
    return result == CUDA_ERROR_ECC_UNCORRECTABLE || result == CUDA_ERROR_NVLINK_UNCORRECTABLE ||
           result == CUDA_ERROR_ILLEGAL_ADDRESS || result == CUDA_ERROR_LAUNCH_TIMEOUT ||
           (result >= CUDA_ERROR_CONTEXT_IS_DESTROYED && result <= CUDA_ERROR_LAUNCH_FAILED &&
            result != CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED &&
            result != CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED) ||
           result == CUDA_ERROR_CONTAINED || result == CUDA_ERROR_DEINITIALIZED;
}

static ozg_status status_of(CUresult result)
{
    switch (result) {
    case CUDA_SUCCESS:
        return OZG_OK;
    case CUDA_ERROR_OUT_OF_MEMORY:
        return OZG_E_NOMEM;
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_INVALID_DEVICE:
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_SYSTEM_NOT_READY:
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
        return OZG_E_NODEVICE;
    default:
        return result >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED && result <= CUDA_ERROR_CAPTURED_EVENT
                   ? OZG_E_UNSUPPORTED
                   : OZG_E_DEVICE;
    }
}

ozg_status ozg_cuda_explain(ozg_context *ctx, const ozg_cuda_api *api, CUresult result, const char *what)
{
    const ozg_status status = status_of(result);
    const char *name = NULL, *text = NULL;

    if (api->error_name(result, &name) != CUDA_SUCCESS || !name)
        name = "unknown error";
    if (api->error_string(result, &text) != CUDA_SUCCESS || !text)
        text = "no description";
    if (is_fatal(result)) {
        ozg_fail(ctx, status,
                 "the CUDA device failed when it should %s (%s, error %d: %s); its work is lost: restart the "
                 "process",
                 what, name, result, text);
        if (ctx->cuda)
            memcpy(ctx->cuda->failed, ctx->error, sizeof ctx->error);
        return status;
    }
    if (status == OZG_E_NOMEM)
        return ozg_fail(ctx, status,
                        "no memory on the CUDA device to %s (%s); lower memory_limit or free some", what,
                        name);
    if (status == OZG_E_UNSUPPORTED)
        return ozg_fail(
            ctx, status,
            "cannot %s while the stream is being captured (%s); make the same call once before the capture",
            what, name);
    if (result == CUDA_ERROR_NOT_INITIALIZED)
        return ozg_fail(ctx, status,
                        "CUDA cannot %s in a forked child of a process that used it (%s); use exec", what,
                        name);
    return ozg_fail(ctx, status, "CUDA cannot %s: %s (%s, error %d)", what, text, name, result);
}

/* ---- setting up --------------------------------------------------------------------------------- */

static CUresult get_attributes(ozg_cuda_shared *d)
{
    int major = 0, minor = 0, shared = 0;
    const struct {
        int attribute, *value;
    } wanted[] = {{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major},
                  {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor},
                  {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &d->multiprocessors},
                  {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &shared},
                  {CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, &d->reads_host}};
    CUresult result = d->api->device_get(&d->device, d->number);

    if (!result)
        result = d->api->device_name(d->name, sizeof d->name - 1, d->device);
    for (size_t i = 0; !result && i < sizeof wanted / sizeof *wanted; i++)
        result = d->api->device_attribute(wanted[i].value, wanted[i].attribute, d->device);
    d->capability = 10 * major + minor;
    d->shared_most = (size_t)shared;
    return result;
}

/*
 * All at once: a kernel may first be wanted while a stream is captured, and then nothing can be loaded. Images for
 * other devices are passed over: those of the wgmma kernels are for one capability only.
 */
static ozg_status load_modules(ozg_context *ctx, ozg_cuda_shared *d)
{
    for (const ozg_cuda_image *image = ozg_cuda_images; image->data; image++) {
        CUresult result = d->modules < OZG_CUDA_MODULES
                              ? d->api->module_load(&d->module[d->modules].module, image->data)
                              : CUDA_ERROR_OUT_OF_MEMORY;

        if (result == CUDA_ERROR_NO_BINARY_FOR_GPU)
            continue;
        if (result)
            return ozg_cuda_explain(ctx, d->api, result, "load the kernels");
        d->module[d->modules++].image = image->name;
    }
    if (d->modules == 0)
        return ozg_fail(
            ctx, OZG_E_NODEVICE,
            "this build has no kernels for compute capability %d.%d (CUDA device %d, %s); build it "
            "with another nvcc",
            d->capability / 10, d->capability % 10, d->number, d->name);
    return OZG_OK;
}

/* OZG_CUDA_TABLES of them */
static ozg_status build_tables(ozg_context *ctx, struct ozg_cuda_table *tables)
{
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++)
        if (ozg_cuda_table_build(&tables[s], 0, s) ||
            ozg_cuda_table_build(&tables[OZG_NMOD_MAX + 1 + s], 1, s))
            return ozg_fail(ctx, OZG_E_NOMEM, "no memory for the tables of %d moduli", s);
    return OZG_OK;
}

static ozg_status upload_tables(ozg_context *ctx, ozg_cuda_shared *d)
{
    const size_t bytes = OZG_CUDA_TABLES * sizeof(struct ozg_cuda_table);
    struct ozg_cuda_table *tables = calloc(OZG_CUDA_TABLES, sizeof *tables);
    ozg_status status;
    CUresult result;

    if (!tables)
        return ozg_fail(ctx, OZG_E_NOMEM, "no memory for the tables of moduli");
    status = build_tables(ctx, tables);
    if (!status) {
        result = d->api->allocate(&d->tables, bytes);
        if (!result)
            result = d->api->upload(d->tables, tables, bytes, NULL);
        if (!result)
            result = d->api->stream_synchronize(NULL);
        if (result)
            status = ozg_cuda_explain(ctx, d->api, result, "hold the tables of moduli");
    }
    free(tables);
    return status;
}

/* What the first context brings to the device, in the primary context. */
static ozg_status fill(ozg_context *ctx, ozg_cuda_shared *d)
{
    ozg_status status = load_modules(ctx, d);

    if (!status)
        status = upload_tables(ctx, d);
    if (status) {
        for (int i = 0; i < d->modules; i++)
            d->api->module_unload(d->module[i].module);
        if (d->tables)
            d->api->release(d->tables);
    }
    return status;
}

static ozg_status set_up(ozg_context *ctx, ozg_cuda_shared *d)
{
    CUresult result = get_attributes(d);
    CUcontext popped;
    ozg_status status;

    if (result)
        return ozg_cuda_explain(ctx, d->api, result, "describe the device");
    if (d->capability < CAPABILITY_LEAST)
        return ozg_fail(ctx, OZG_E_NODEVICE,
                        "CUDA device %d (%s) has compute capability %d.%d; at least %d.%d is needed",
                        d->number, d->name, d->capability / 10, d->capability % 10, CAPABILITY_LEAST / 10,
                        CAPABILITY_LEAST % 10);
    result = d->api->primary_retain(&d->context, d->device);
    if (result)
        return ozg_cuda_explain(ctx, d->api, result, "open the device");
    result = d->api->context_push(d->context);
    if (result) {
        status = ozg_cuda_explain(ctx, d->api, result, "open the device");
    } else {
        status = fill(ctx, d);
        d->api->context_pop(&popped);
    }
    if (status)
        d->api->primary_release(d->device);
    return status;
}

static ozg_status check_number(ozg_context *ctx, const ozg_cuda_api *api, int number)
{
    int count = 0;
    const CUresult result = api->device_count(&count);

    if (result)
        return ozg_cuda_explain(ctx, api, result, "count the devices");
    if (number >= 0 && number < count)
        return OZG_OK;
    if (count == 0)
        return ozg_fail(ctx, OZG_E_NODEVICE, "there is no CUDA device; use OZG_BACKEND_CPU");
    return ozg_fail(ctx, OZG_E_NODEVICE,
                    "cfg->device is %d; the CUDA devices are 0 to %d (CUDA_VISIBLE_DEVICES counts)", number,
                    count - 1);
}

/* Under the lock. */
static ozg_cuda_shared *share(ozg_context *ctx, const ozg_cuda_api *api, int number, ozg_status *status)
{
    ozg_cuda_shared *d = devices;

    while (d && d->number != number)
        d = d->next;
    if (d)
        return d;
    *status = check_number(ctx, api, number);
    if (*status)
        return NULL;
    d = calloc(1, sizeof *d);
    if (!d) {
        *status = ozg_fail(ctx, OZG_E_NOMEM, "no memory for a CUDA device");
        return NULL;
    }
    d->api = api;
    d->number = number;
    *status = set_up(ctx, d);
    if (*status) {
        free(d);
        return NULL;
    }
    d->next = devices;
    devices = d;
    return d;
}

ozg_cuda_shared *ozg_cuda_share(ozg_context *ctx, int number, ozg_status *status)
{
    const ozg_cuda_api *api;
    const char *error;
    ozg_cuda_shared *d;

    if (!ozg_cuda_images->data) {
        *status = ozg_fail(ctx, OZG_E_NODEVICE,
                           "this build has no CUDA kernels: build it with nvcc and OZG_CUDA=ON, or use the "
                           "CPU backend");
        return NULL;
    }
    api = ozg_cuda_api_open(&error);
    if (!api) {
        *status = ozg_fail(ctx, OZG_E_NODEVICE, "%s", error);
        return NULL;
    }
    pthread_mutex_lock(&lock);
    d = share(ctx, api, number, status);
    pthread_mutex_unlock(&lock);
    return d;
}

/* ---- kernels ------------------------------------------------------------------------------------ */

/*
 * The kernel begins by waiting for the one before it (device.cuh): it was compiled for 9.0 or later. On a
 * later device it may be code that the driver made from PTX for 8.0.
 */
static int waits(const ozg_cuda_shared *d, CUfunction function)
{
    int ptx = 0;

    return d->capability >= 90 && d->api->launch_with && d->api->function_tell &&
           !d->api->function_tell(&ptx, CU_FUNC_ATTRIBUTE_PTX_VERSION, function) && ptx >= 90;
}

/* The image that has the kernel. NULL: none has, or not for this device. */
static CUmodule module_of(const ozg_cuda_shared *d, const char *kernel)
{
    const char *image = ozg_cuda_image_of(kernel);

    for (int i = 0; image && i < d->modules; i++)
        if (strcmp(d->module[i].image, image) == 0)
            return d->module[i].module;
    return NULL;
}

/* Under the lock: a kernel that is asked for the first time. */
static ozg_status look_up(ozg_context *ctx, ozg_cuda_shared *d, const char *name, ozg_cuda_function **found)
{
    const CUmodule module = module_of(d, name);
    ozg_cuda_function *f = &d->function[d->functions];
    CUresult result = CUDA_ERROR_NOT_FOUND;

    if (d->functions == OZG_CUDA_KERNELS)
        return ozg_fail(ctx, OZG_E_INTERNAL, "there are more kernels than OZG_CUDA_KERNELS");
    if (module)
        result = d->api->module_function(&f->function, module, name);
    if (result == CUDA_ERROR_NOT_FOUND)
        return ozg_fail(ctx, OZG_E_NODEVICE,
                        "this build lacks the CUDA kernel %s for compute capability %d.%d", name,
                        d->capability / 10, d->capability % 10);
    if (result)
        return ozg_cuda_explain(ctx, d->api, result, "load a kernel");
    f->name = name;
    f->shared = OZG_CUDA_SHARED_USUAL;
    f->waits = waits(d, f->function);
    d->functions++;
    *found = f;
    return OZG_OK;
}

static ozg_status allow_shared(ozg_context *ctx, const ozg_cuda_shared *d, ozg_cuda_function *f,
                               size_t shared)
{
    CUresult result;

    if (shared <= f->shared)
        return OZG_OK;
    if (shared > d->shared_most)
        return ozg_fail(ctx, OZG_E_DEVICE, "%s needs %zu bytes of shared memory; CUDA device %d has %zu",
                        f->name, shared, d->number, d->shared_most);
    result =
        d->api->function_attribute(f->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)shared);
    if (result)
        return ozg_cuda_explain(ctx, d->api, result, "give a kernel its shared memory");
    f->shared = shared;
    return OZG_OK;
}

ozg_status ozg_cuda_find(ozg_context *ctx, ozg_cuda_shared *d, const char *name, size_t shared,
                         ozg_cuda_function *function)
{
    ozg_cuda_function *f = NULL;
    ozg_status status = OZG_OK;

    pthread_mutex_lock(&lock);
    for (int i = 0; !f && i < d->functions; i++)
        if (strcmp(d->function[i].name, name) == 0)
            f = &d->function[i];
    if (!f)
        status = look_up(ctx, d, name, &f);
    if (!status)
        status = allow_shared(ctx, d, f, shared);
    if (!status)
        *function = *f;
    pthread_mutex_unlock(&lock);
    return status;
}

/* ---- names -------------------------------------------------------------------------------------- */

#define NAMED 64 /* devices that are listed */

const char *ozg_cuda_name(int number)
{
    static char name[NAMED][OZG_CUDA_NAME]; /* under the lock until it is not "", then it stays */
    const char *error;
    const ozg_cuda_api *api = ozg_cuda_images->data ? ozg_cuda_api_open(&error) : NULL;
    int count = 0, there = 0;
    CUdevice device;

    if (!api || api->device_count(&count) || number < 0 || number >= count || number >= NAMED)
        return NULL;
    pthread_mutex_lock(&lock);
    there = *name[number] ||
            (!api->device_get(&device, number) && !api->device_name(name[number], OZG_CUDA_NAME - 1, device));
    pthread_mutex_unlock(&lock);
    return there ? name[number] : NULL;
}
