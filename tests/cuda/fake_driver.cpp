/*
 * fake_driver.cpp - the functions of the CUDA driver API that src/cuda/api.h names, and those of
 * fake_driver.h.
 *
 * SPDX-License-Identifier: MIT
 */

#include "cuda/kernels.h"
#include "emulate_lock.h"
#include "emulate_tensor.h"
#include "fake_parts.h"

#define API extern "C" __attribute__((visibility("default")))

enum { DEVICES = 8, DEPTH = 16, MODULES = 128 };

struct CUctx_st {
    int device, retained;
    CUstream_st usual; /* the default stream */
};

struct CUmod_st {
    int live, device;
    char file[64]; /* that its kernels are from */
};

fake_device fake;

static CUctx_st contexts[DEVICES];
static CUfunc_st *functions;
static CUmod_st modules[MODULES];
static __thread CUcontext current[DEPTH];
static __thread int depth;

static struct {
    char function[64];
    int nth, result;
} fault;

static struct {
    char name[64];
    uint64_t calls;
} counter[64];

/* ---- what every call goes through ------------------------------------------------------------------ */

static void count_call(const char *name)
{
    counter[0].calls++;
    for (int i = 1; i < 64; i++) {
        if (!counter[i].name[0])
            snprintf(counter[i].name, sizeof counter[i].name, "%s", name);
        if (strcmp(counter[i].name, name) == 0) {
            counter[i].calls++;
            return;
        }
    }
}

static int has_fault(const char *name)
{
    if (fault.nth == 0 || (fault.function[0] && strcmp(fault.function, name) != 0) || --fault.nth > 0)
        return 0;
    if (fault.result >= CUDA_ERROR_ILLEGAL_ADDRESS && fault.result <= CUDA_ERROR_LAUNCH_FAILED &&
        fault.result != CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)
        fake_sticky = fault.result;
    return 1;
}

enum { ANYWHERE = 0, IN_CONTEXT = 1, NOT_IN_CAPTURE = 2, EVEN_AFTER_ERRORS = 4 };

/* The lock, held until the end of the function, and what the call answers before it does anything. */
struct entry {
    int result;

    entry(const char *name, int needs)
    {
        ozg_lock();
        count_call(name);
        result = CUDA_SUCCESS;
        if (has_fault(name))
            result = fault.result;
        else if ((needs & IN_CONTEXT) && (depth == 0 || !current[depth - 1]))
            result = CUDA_ERROR_INVALID_CONTEXT;
        else if (fake_sticky && (needs & IN_CONTEXT) && !(needs & EVEN_AFTER_ERRORS))
            result = fake_sticky;
        else if ((needs & NOT_IN_CAPTURE) && fake_capturing())
            result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        if (result == CUDA_ERROR_INVALID_CONTEXT)
            fake_complain("%s() without a current context", name);
    }
    ~entry()
    {
        ozg_unlock();
    }
};

/* The stream; NULL: the default one of the current context. */
static CUstream_st *stream_of(CUstream s)
{
    return s ? s : &current[depth - 1]->usual;
}

/* Work for a stream that belongs to another context: the driver takes none. */
static int is_foreign(CUstream s)
{
    if (!s || s->context == current[depth - 1])
        return 0;
    fake_complain("work for a stream of another device");
    return 1;
}

#define ENTER(needs)                                                                                         \
    entry here(__func__, needs);                                                                             \
    if (here.result != CUDA_SUCCESS)                                                                         \
    return here.result

/* ---- the device ------------------------------------------------------------------------------------ */

API CUresult cuInit(unsigned)
{
    ENTER(ANYWHERE);
    return fake.devices > 0 ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

API CUresult cuDriverGetVersion(int *version)
{
    ENTER(ANYWHERE);
    *version = fake.version;
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetCount(int *count)
{
    ENTER(ANYWHERE);
    *count = fake.devices;
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGet(CUdevice *device, int number)
{
    ENTER(ANYWHERE);
    if (number < 0 || number >= fake.devices || number >= DEVICES)
        return CUDA_ERROR_INVALID_DEVICE;
    *device = number;
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetName(char *name, int size, CUdevice device)
{
    ENTER(ANYWHERE);
    snprintf(name, (size_t)size, "emulated device %d", device);
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetPCIBusId(char *text, int size, CUdevice device)
{
    ENTER(ANYWHERE);
    snprintf(text, (size_t)size, "0000:%02x:00.0", 11 + device);
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice)
{
    ENTER(ANYWHERE);
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        *value = fake.multiprocessors;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        *value = fake.major;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        *value = fake.minor;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS:
        *value = fake.host_pointers;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
        *value = 1;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
        *value = fake.shared_most;
        return CUDA_SUCCESS;
    }
    return fake_complain("attribute %d is not known", attribute);
}

/* ---- contexts -------------------------------------------------------------------------------------- */

API CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    ENTER(ANYWHERE);
    contexts[device].device = device;
    if (!contexts[device].usual.context)
        fake_stream_open(&contexts[device].usual, &contexts[device]);
    contexts[device].retained++;
    fake_now.contexts++;
    *context = &contexts[device];
    return CUDA_SUCCESS;
}

API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    ENTER(ANYWHERE);
    if (contexts[device].retained == 0)
        return fake_complain("a context is released that was not retained");
    contexts[device].retained--;
    fake_now.contexts--;
    return CUDA_SUCCESS;
}

API CUresult cuCtxPushCurrent_v2(CUcontext context)
{
    ENTER(ANYWHERE);
    if (depth == DEPTH || !context || context->retained == 0)
        return fake_complain("cuCtxPushCurrent() of a context that does not live, or too often");
    current[depth++] = context;
    return CUDA_SUCCESS;
}

API CUresult cuCtxPopCurrent_v2(CUcontext *context)
{
    ENTER(ANYWHERE);
    if (depth == 0) {
        fake_complain("cuCtxPopCurrent() of an empty stack");
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    depth--;
    if (context)
        *context = current[depth];
    return CUDA_SUCCESS;
}

API CUresult cuCtxGetCurrent(CUcontext *context)
{
    ENTER(ANYWHERE);
    *context = depth ? current[depth - 1] : NULL;
    return CUDA_SUCCESS;
}

API CUresult cuStreamGetCtx(CUstream stream, CUcontext *context)
{
    ENTER(IN_CONTEXT);
    *context = stream_of(stream)->context;
    return CUDA_SUCCESS;
}

/* ---- memory ---------------------------------------------------------------------------------------- */

API CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
    ENTER(IN_CONTEXT);
    *free_bytes = fake.memory > fake_now.bytes ? fake.memory - fake_now.bytes : 0;
    *total = fake.memory;
    return CUDA_SUCCESS;
}

API CUresult cuMemAlloc_v2(CUdeviceptr *memory, size_t bytes)
{
    ENTER(IN_CONTEXT | NOT_IN_CAPTURE);
    void *p;

    if (bytes == 0)
        return fake_complain("cuMemAlloc() of 0 bytes");
    p = fake_memory_new(bytes);
    if (!p)
        return CUDA_ERROR_OUT_OF_MEMORY;
    fake_memory_give(p, current[depth - 1]->device);
    *memory = (CUdeviceptr)(uintptr_t)p;
    return CUDA_SUCCESS;
}

/* Waits for everything, as the driver's does. */
API CUresult cuMemFree_v2(CUdeviceptr memory)
{
    ENTER(IN_CONTEXT | NOT_IN_CAPTURE | EVEN_AFTER_ERRORS);
    fake_finish();
    if (!fake_memory_free((void *)(uintptr_t)memory))
        return fake_complain("cuMemFree() of %p, which is no allocation", (void *)(uintptr_t)memory);
    return CUDA_SUCCESS;
}

API CUresult cuMemAllocHost_v2(void **memory, size_t bytes)
{
    ENTER(IN_CONTEXT | NOT_IN_CAPTURE);
    *memory = fake_pinned_new(bytes);
    return *memory ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

API CUresult cuMemFreeHost(void *memory)
{
    ENTER(IN_CONTEXT | NOT_IN_CAPTURE | EVEN_AFTER_ERRORS);
    fake_finish();
    if (!fake_pinned_free(memory))
        return fake_complain("cuMemFreeHost() of %p, which is no allocation", memory);
    return CUDA_SUCCESS;
}

/* Of memory that CUDA does not know of: 0. */
API CUresult cuPointerGetAttributes(unsigned count, int *attributes, void **values, CUdeviceptr pointer)
{
    ENTER(IN_CONTEXT);
    const void *p = (const void *)(uintptr_t)pointer;
    const int device = fake_memory_holds(p, 1);

    for (unsigned i = 0; i < count; i++) {
        if (attributes[i] != CU_POINTER_ATTRIBUTE_MEMORY_TYPE)
            return CUDA_ERROR_INVALID_VALUE;
        *(unsigned *)values[i] = device                 ? CU_MEMORYTYPE_DEVICE
                                 : fake_pinned_holds(p) ? CU_MEMORYTYPE_HOST
                                                        : 0;
    }
    return CUDA_SUCCESS;
}

/* ---- copies ---------------------------------------------------------------------------------------- */

static int in_device(const void *p, size_t pitch, size_t bytes, size_t height)
{
    return fake_memory_holds(p, (height - 1) * pitch + bytes) &&
           !fake_memory_elsewhere(p, current[depth - 1]->device);
}

/* Memory of the host that is not page-locked: the call itself copies. */
static CUresult copy(const fake_work *w, int to_device, int from_device)
{
    const int pageable =
        (!to_device && !fake_pinned_holds(w->to)) || (!from_device && !fake_pinned_holds(w->from));
    int result;

    if (w->bytes == 0 || w->height == 0)
        return CUDA_SUCCESS;
    if (is_foreign(w->stream))
        return CUDA_ERROR_INVALID_HANDLE;
    if ((to_device && !in_device(w->to, w->to_pitch, w->bytes, w->height)) ||
        (from_device && !in_device(w->from, w->from_pitch, w->bytes, w->height)))
        return fake_complain("a copy of %zu x %zu bytes leaves its device memory (to %p, from %p)", w->bytes,
                             w->height, (const void *)w->to, (const void *)w->from);
    if (pageable && fake_capturing())
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    result = fake_do(w);
    return pageable && result == CUDA_SUCCESS ? fake_finish_stream(w->stream) : result;
}

API CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    ENTER(IN_CONTEXT);
    fake_work w = {};

    w.kind = FAKE_COPY;
    w.stream = stream_of(stream);
    w.to = (unsigned char *)(uintptr_t)to;
    w.from = (const unsigned char *)from;
    w.bytes = bytes;
    w.height = 1;
    return copy(&w, 1, 0);
}

API CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    ENTER(IN_CONTEXT);
    fake_work w = {};

    w.kind = FAKE_COPY;
    w.stream = stream_of(stream);
    w.to = (unsigned char *)to;
    w.from = (const unsigned char *)(uintptr_t)from;
    w.bytes = bytes;
    w.height = 1;
    return copy(&w, 0, 1);
}

API CUresult cuMemcpy2DAsync_v2(const ozg_cuda_copy *c, CUstream stream)
{
    ENTER(IN_CONTEXT);
    const int to_device = c->dst_type == CU_MEMORYTYPE_DEVICE,
              from_device = c->src_type == CU_MEMORYTYPE_DEVICE;
    fake_work w = {};

    if ((!to_device && c->dst_type != CU_MEMORYTYPE_HOST) ||
        (!from_device && c->src_type != CU_MEMORYTYPE_HOST))
        return fake_complain("cuMemcpy2D() of memory types %d and %d", c->src_type, c->dst_type);
    if (c->src_x + c->bytes > c->src_pitch || c->dst_x + c->bytes > c->dst_pitch)
        return fake_complain("cuMemcpy2D() of rows that are longer than their pitch");
    w.kind = FAKE_COPY;
    w.stream = stream_of(stream);
    w.to = to_device ? (unsigned char *)(uintptr_t)c->dst_device : (unsigned char *)c->dst_host;
    w.from =
        from_device ? (const unsigned char *)(uintptr_t)c->src_device : (const unsigned char *)c->src_host;
    w.to += c->dst_y * c->dst_pitch + c->dst_x;
    w.from += c->src_y * c->src_pitch + c->src_x;
    w.to_pitch = c->dst_pitch;
    w.from_pitch = c->src_pitch;
    w.bytes = c->bytes;
    w.height = c->height;
    return copy(&w, to_device, from_device);
}

API CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream)
{
    ENTER(IN_CONTEXT);
    fake_work w = {};

    w.kind = FAKE_SET;
    w.stream = stream_of(stream);
    w.to = (unsigned char *)(uintptr_t)to;
    w.value = value;
    w.bytes = count;
    if (!fake_memory_holds(w.to, count))
        return fake_complain("cuMemsetD8() of %zu bytes leaves its memory", count);
    return fake_do(&w);
}

/* ---- streams and events ---------------------------------------------------------------------------- */

API CUresult cuStreamSynchronize(CUstream stream)
{
    ENTER(IN_CONTEXT | NOT_IN_CAPTURE);
    return is_foreign(stream) ? CUDA_ERROR_INVALID_HANDLE : fake_finish_stream(stream_of(stream));
}

API CUresult cuCtxSynchronize(void)
{
    ENTER(IN_CONTEXT | NOT_IN_CAPTURE);
    return fake_finish();
}

API CUresult cuStreamIsCapturing(CUstream, int *status)
{
    ENTER(IN_CONTEXT);
    *status = fake_capturing() ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

API CUresult cuStreamCreate(CUstream *stream, unsigned)
{
    ENTER(IN_CONTEXT);
    *stream = (CUstream)calloc(1, sizeof **stream);
    if (!*stream)
        return CUDA_ERROR_OUT_OF_MEMORY;
    fake_stream_open(*stream, current[depth - 1]);
    return CUDA_SUCCESS;
}

/* It stays where it is: its work goes on. */
API CUresult cuStreamDestroy_v2(CUstream)
{
    ENTER(IN_CONTEXT | EVEN_AFTER_ERRORS);
    return CUDA_SUCCESS;
}

API CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned)
{
    ENTER(IN_CONTEXT);
    fake_work w = {};

    if (is_foreign(stream))
        return CUDA_ERROR_INVALID_HANDLE;
    w.kind = FAKE_WAIT;
    w.stream = stream_of(stream);
    w.event = event;
    w.target = event->given;
    return fake_do(&w);
}

API CUresult cuEventCreate(CUevent *event, unsigned flags)
{
    ENTER(IN_CONTEXT);
    *event = (CUevent)calloc(1, sizeof **event);
    if (!*event)
        return CUDA_ERROR_OUT_OF_MEMORY;
    (*event)->timed = !(flags & CU_EVENT_DISABLE_TIMING);
    fake_now.events++;
    return CUDA_SUCCESS;
}

API CUresult cuEventDestroy_v2(CUevent event)
{
    ENTER(IN_CONTEXT | EVEN_AFTER_ERRORS);
    fake_finish();
    fake_now.events--;
    free(event);
    return CUDA_SUCCESS;
}

API CUresult cuEventRecord(CUevent event, CUstream stream)
{
    ENTER(IN_CONTEXT);
    fake_work w = {};

    if (is_foreign(stream))
        return CUDA_ERROR_INVALID_HANDLE;
    w.kind = FAKE_EVENT;
    w.stream = stream_of(stream);
    w.event = event;
    return fake_do(&w);
}

API CUresult cuEventSynchronize(CUevent event)
{
    ENTER(IN_CONTEXT | NOT_IN_CAPTURE);
    return event->done < event->given ? fake_finish_event(event) : CUDA_SUCCESS;
}

API CUresult cuEventQuery(CUevent event)
{
    ENTER(IN_CONTEXT);
    return event->done < event->given ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

API CUresult cuEventElapsedTime(float *milliseconds, CUevent from, CUevent to)
{
    ENTER(IN_CONTEXT);
    if (!from->timed || !to->timed || !from->given || !to->given)
        return CUDA_ERROR_INVALID_HANDLE;
    if (from->done < from->given || to->done < to->given)
        return CUDA_ERROR_NOT_READY;
    *milliseconds = (float)(1e3 * (to->seconds - from->seconds));
    return CUDA_SUCCESS;
}

/* ---- kernels --------------------------------------------------------------------------------------- */

API CUresult cuModuleLoadData(CUmodule *loaded, const void *image)
{
    ENTER(IN_CONTEXT | NOT_IN_CAPTURE);
    if (!image)
        return fake_complain("cuModuleLoadData() of no image");
    for (CUmod_st *m = modules; m < modules + MODULES; m++)
        if (!m->live) {
            m->live = 1;
            m->device = current[depth - 1]->device;
            snprintf(m->file, sizeof m->file, "%s", (const char *)image);
            *loaded = m;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_OUT_OF_MEMORY;
}

API CUresult cuModuleUnload(CUmodule module)
{
    ENTER(IN_CONTEXT | NOT_IN_CAPTURE | EVEN_AFTER_ERRORS);
    if (!module->live)
        return fake_complain("a module is unloaded that is not loaded");
    module->live = 0;
    return CUDA_SUCCESS;
}

API CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    ENTER(IN_CONTEXT);
    CUfunc_st *f = functions;

    if (!module->live || !ozg_emulated_is_from(name, module->file)) {
        fake_complain("%s() of %s in an image that does not have it, %s", __func__, name, module->file);
        return CUDA_ERROR_NOT_FOUND;
    }
    while (f && (strcmp(f->name, name) != 0 || f->device != module->device))
        f = f->next;
    if (!f) {
        f = (CUfunc_st *)calloc(1, sizeof *f);
        if (!f)
            return CUDA_ERROR_OUT_OF_MEMORY;
        snprintf(f->name, sizeof f->name, "%s", name);
        f->shared = 49152;
        f->device = module->device;
        f->next = functions;
        functions = f;
    }
    *function = f;
    return CUDA_SUCCESS;
}

API CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction)
{
    ENTER(IN_CONTEXT);
    if (attribute != CU_FUNC_ATTRIBUTE_PTX_VERSION)
        return fake_complain("attribute %d of a kernel is not known", attribute);
    *value = fake.ptx ? fake.ptx : 10 * fake.major + fake.minor;
    return CUDA_SUCCESS;
}

API CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value)
{
    ENTER(IN_CONTEXT);
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
        return fake_complain("attribute %d of a kernel is not known", attribute);
    if (value < 0 || value > fake.shared_most)
        return CUDA_ERROR_INVALID_VALUE;
    function->shared = value;
    return CUDA_SUCCESS;
}

static int resident(int threads, size_t shared)
{
    int blocks = fake.resident;

    if (threads < 1 || threads > 1024 || shared > (size_t)fake.shared_most)
        return 0;
    blocks = blocks < 2048 / threads ? blocks : 2048 / threads;
    return shared * (size_t)blocks > (size_t)fake.shared_most ? (int)((size_t)fake.shared_most / shared)
                                                              : blocks;
}

API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction, int threads, size_t shared)
{
    ENTER(IN_CONTEXT);
    *blocks = resident(threads, shared);
    return CUDA_SUCCESS;
}

static CUresult launch(CUfunction f, const unsigned grid[3], const unsigned block[3], unsigned shared,
                       int cooperative, CUstream stream, void **arguments)
{
    fake_work w = {};
    const size_t bytes = ozg_emulated_args_bytes(f->name);
    const void *host;

    if (grid[0] < 1 || grid[1] < 1 || grid[2] < 1 || grid[0] > INT32_MAX || grid[1] > 65535 ||
        grid[2] > 65535 || block[0] < 1 || block[0] > 1024 || block[1] != 1 || block[2] != 1 ||
        (int)shared > f->shared || bytes > 4096)
        return fake_complain(
            "launch of %s: %u x %u x %u blocks of %u threads, %u bytes of shared memory (%d allowed)",
            f->name, grid[0], grid[1], grid[2], block[0], shared, f->shared);
    if (cooperative && (uint64_t)grid[0] * grid[1] * grid[2] >
                           (uint64_t)resident((int)block[0], shared) * (uint64_t)fake.multiprocessors)
        return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    if (is_foreign(stream) || f->device != current[depth - 1]->device)
        return fake_complain("launch of %s: it or its stream belongs to another device", f->name);
    host = fake.far_pointers ? NULL : fake_foreign_pointer(arguments[0], bytes, f->device);
    if (host) {
        fake_complain("launch of %s: %p in its arguments is memory of another device", f->name, host);
        return fake_sticky = CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    host = fake.host_pointers || fake.far_pointers ? NULL : fake_host_pointer(arguments[0], bytes);
    if (host) {
        fake_complain("launch of %s: %p in its arguments is host memory", f->name, host);
        return fake_sticky = CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    w.kind = FAKE_LAUNCH;
    w.stream = stream_of(stream);
    w.function = f;
    for (int i = 0; i < 3; i++)
        w.grid[i] = (int)grid[i];
    w.threads = (int)block[0];
    w.shared = shared;
    w.cooperative = cooperative;
    w.args = arguments[0];
    return fake_do(&w);
}

API CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                            unsigned bz, unsigned shared, CUstream stream, void **arguments, void **)
{
    ENTER(IN_CONTEXT);
    const unsigned grid[3] = {gx, gy, gz}, block[3] = {bx, by, bz};

    return launch(f, grid, block, shared, 0, stream, arguments);
}

/* With programmatic stream serialization, where that is right, and nothing else. */
API CUresult cuLaunchKernelEx(const ozg_cuda_launch_config *c, CUfunction f, void **arguments, void **)
{
    ENTER(IN_CONTEXT);
    const int ptx = fake.ptx ? fake.ptx : 10 * fake.major + fake.minor;

    if (c->count != 1 || c->attributes->id != CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION ||
        c->attributes->value.number != 1)
        return fake_complain("launch of %s with attributes that are not known", f->name);
    if (fake.major < 9 || ptx < 90)
        return fake_complain("launch of %s: it does not wait for the kernel before it", f->name);
    if (stream_of(c->stream)->last != FAKE_LAUNCH)
        return fake_complain("dependent launch of %s: what comes before it is no kernel", f->name);
    if (fake_capturing() && fake.version < 12030)
        return fake_complain("dependent launch of %s: this driver knows none in graphs", f->name);
    fake_now.dependent++;
    return launch(f, c->grid, c->block, c->shared, 0, c->stream, arguments);
}

API CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                       unsigned by, unsigned bz, unsigned shared, CUstream stream,
                                       void **arguments)
{
    ENTER(IN_CONTEXT);
    const unsigned grid[3] = {gx, gy, gz}, block[3] = {bx, by, bz};

    return launch(f, grid, block, shared, 1, stream, arguments);
}

API CUresult cuTensorMapEncodeTiled(ozg_cuda_map *map, int type, uint32_t rank, void *base,
                                    const uint64_t *size, const uint64_t *stride, const uint32_t *box,
                                    const uint32_t *element_stride, int interleave, int swizzle,
                                    int promotion, int fill)
{
    ENTER(ANYWHERE);
    size_t last = size[0]; /* the byte behind the tensor */

    for (uint32_t i = 1; i < rank; i++)
        last += (size[i] - 1) * stride[i - 1];
    if (!fake_memory_holds(base, last))
        return fake_complain("cuTensorMapEncodeTiled(): %zu bytes at %p leave their memory", last, base);
    if (ozg_emulated_tensor_map(map, type, rank, base, size, stride, box, element_stride, interleave, swizzle,
                                promotion, fill))
        return fake_complain("cuTensorMapEncodeTiled(): bad arguments");
    return CUDA_SUCCESS;
}

/* ---- errors ---------------------------------------------------------------------------------------- */

API CUresult cuGetErrorName(CUresult result, const char **text)
{
    static __thread char name[32];

    snprintf(name, sizeof name, "FAKE_ERROR_%d", result);
    *text = name;
    return CUDA_SUCCESS;
}

API CUresult cuGetErrorString(CUresult, const char **text)
{
    *text = "an error of the fake driver";
    return CUDA_SUCCESS;
}

/* ---- for tests ------------------------------------------------------------------------------------- */

void fake_work_capture(int on);
void fake_work_replay(void);

static void set_defaults(void)
{
    fake = {};
    fake.devices = 1;
    fake.version = 12040;
    fake.major = 8;
    fake.multiprocessors = 4;
    fake.resident = 2;
    fake.shared_most = 166912;
    fake.memory = (size_t)1 << 30;
    fake.fresh = 0xCD;
}

__attribute__((constructor)) static void start(void)
{
    set_defaults();
}

void fake_reset(void)
{
    ozg_lock();
    fake_finish();
    set_defaults();
    fake_sticky = CUDA_SUCCESS;
    fault.nth = 0;
    ozg_unlock();
}

void fake_fail(const char *function, int nth, int result)
{
    ozg_lock();
    snprintf(fault.function, sizeof fault.function, "%s", function ? function : "");
    fault.nth = nth;
    fault.result = result;
    ozg_unlock();
}

uint64_t fake_calls(const char *function)
{
    uint64_t calls = 0;

    ozg_lock();
    for (int i = 0; i < 64; i++) {
        if (function ? strcmp(counter[i].name, function) == 0 : i == 0)
            calls = counter[i].calls;
    }
    ozg_unlock();
    return calls;
}

fake_counts fake_count(void)
{
    ozg_lock();
    const fake_counts counts = fake_now;

    ozg_unlock();
    return counts;
}

void fake_capture_begin(void)
{
    ozg_lock();
    fake_work_capture(1);
    ozg_unlock();
}

void fake_capture_end(void)
{
    ozg_lock();
    fake_work_capture(0);
    ozg_unlock();
}

void fake_capture_run(void)
{
    ozg_lock();
    fake_work_replay();
    ozg_unlock();
}

void *fake_allocate(size_t bytes)
{
    ozg_lock();
    void *p = fake_memory_new(bytes ? bytes : 1);

    ozg_unlock();
    return p;
}

void fake_free(void *memory)
{
    ozg_lock();
    fake_finish();
    if (memory && !fake_memory_free(memory))
        fake_complain("fake_free() of %p, which is no allocation", memory);
    ozg_unlock();
}

static void move(void *to, const void *from, size_t bytes)
{
    ozg_lock();
    fake_finish();
    fake_memory_open();
    memcpy(to, from, bytes);
    fake_memory_close();
    ozg_unlock();
}

void fake_write(void *device, const void *from, size_t bytes)
{
    move(device, from, bytes);
}

void fake_read(void *to, const void *device, size_t bytes)
{
    move(to, device, bytes);
}
