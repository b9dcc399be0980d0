/*
 * api.h - the CUDA driver API, opened when the first context asks for a device: the library needs neither
 * headers nor libraries of CUDA to be built, and no driver to be loaded.
 *
 * Declarations are those of the CUDA driver API reference (cuda.h 12.0), of what is used. Names are those of
 * the functions in libcuda.so.1.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_API_H
#define OZG_CUDA_API_H

#include <stddef.h>
#include <stdint.h>

typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;

/* CUresult */
enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_DEINITIALIZED = 4,
    CUDA_ERROR_STUB_LIBRARY = 34,
    CUDA_ERROR_DEVICE_UNAVAILABLE = 46,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_INVALID_DEVICE = 101,
    CUDA_ERROR_INVALID_CONTEXT = 201,
    CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
    CUDA_ERROR_ECC_UNCORRECTABLE = 214,
    CUDA_ERROR_NVLINK_UNCORRECTABLE = 220,
    CUDA_ERROR_CONTAINED = 226,
    CUDA_ERROR_OPERATING_SYSTEM = 304,
    CUDA_ERROR_INVALID_HANDLE = 400,
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_NOT_READY = 600,
    CUDA_ERROR_ILLEGAL_ADDRESS = 700,
    CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
    CUDA_ERROR_LAUNCH_TIMEOUT = 702,
    CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
    CUDA_ERROR_ASSERT = 710,
    CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED = 712,
    CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED = 713,
    CUDA_ERROR_HARDWARE_STACK_ERROR = 714,
    CUDA_ERROR_ILLEGAL_INSTRUCTION = 715,
    CUDA_ERROR_MISALIGNED_ADDRESS = 716,
    CUDA_ERROR_INVALID_ADDRESS_SPACE = 717,
    CUDA_ERROR_INVALID_PC = 718,
    CUDA_ERROR_LAUNCH_FAILED = 719,
    CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
    CUDA_ERROR_SYSTEM_NOT_READY = 802,
    CUDA_ERROR_SYSTEM_DRIVER_MISMATCH = 803,
    CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE = 804,
    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900,
    CUDA_ERROR_STREAM_CAPTURE_INVALIDATED = 901,
    CUDA_ERROR_CAPTURED_EVENT = 907,
    CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD = 908
};

/* CUdevice_attribute */
enum {
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
    CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS = 88,
    CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH = 95,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97
};

/* CUfunction_attribute */
enum { CU_FUNC_ATTRIBUTE_PTX_VERSION = 5, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8 };
enum { CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6 }; /* CUlaunchAttributeID */
enum { CU_STREAM_NON_BLOCKING = 1 };
enum { CU_EVENT_DEFAULT = 0, CU_EVENT_DISABLE_TIMING = 2 };
enum { CU_STREAM_CAPTURE_STATUS_NONE = 0, CU_STREAM_CAPTURE_STATUS_ACTIVE = 1 };
enum { CU_MEMORYTYPE_HOST = 1, CU_MEMORYTYPE_DEVICE = 2 }; /* CUmemorytype */
enum { CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2 };
enum { CU_TENSOR_MAP_DATA_TYPE_UINT8 = 0, CU_TENSOR_MAP_INTERLEAVE_NONE = 0 };
enum { CU_TENSOR_MAP_SWIZZLE_128B = 3, CU_TENSOR_MAP_L2_PROMOTION_L2_256B = 3 };
enum { CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE = 0 };

/* CUDA_MEMCPY2D */
typedef struct ozg_cuda_copy {
    size_t src_x, src_y;
    int src_type;
    const void *src_host;
    CUdeviceptr src_device;
    void *src_array;
    size_t src_pitch;
    size_t dst_x, dst_y;
    int dst_type;
    void *dst_host;
    CUdeviceptr dst_device;
    void *dst_array;
    size_t dst_pitch;
    size_t bytes, height;
} ozg_cuda_copy;

/* CUlaunchAttribute, of an integer. */
typedef struct ozg_cuda_launch_attribute {
    int id, padding;
    union {
        int number;
        uint64_t words[8];
    } value;
} ozg_cuda_launch_attribute;

/* CUlaunchConfig */
typedef struct ozg_cuda_launch_config {
    unsigned grid[3], block[3];
    unsigned shared;
    CUstream stream;
    ozg_cuda_launch_attribute *attributes;
    unsigned count; /* of attributes */
} ozg_cuda_launch_config;

/*
 * X(function, name in the library, arguments): what must be there. Since CUDA 11.
 */
#define OZG_CUDA_API(X)                                                                                      \
    X(init, "cuInit", (unsigned flags))                                                                      \
    X(driver_version, "cuDriverGetVersion", (int *version))                                                  \
    X(device_count, "cuDeviceGetCount", (int *count))                                                        \
    X(device_get, "cuDeviceGet", (CUdevice * device, int number))                                            \
    X(device_name, "cuDeviceGetName", (char *name, int size, CUdevice device))                               \
    X(device_attribute, "cuDeviceGetAttribute", (int *value, int attribute, CUdevice device))                \
    X(primary_retain, "cuDevicePrimaryCtxRetain", (CUcontext * context, CUdevice device))                    \
    X(primary_release, "cuDevicePrimaryCtxRelease_v2", (CUdevice device))                                    \
    X(context_push, "cuCtxPushCurrent_v2", (CUcontext context))                                              \
    X(context_pop, "cuCtxPopCurrent_v2", (CUcontext * context))                                              \
    X(context_current, "cuCtxGetCurrent", (CUcontext * context))                                             \
    X(memory_info, "cuMemGetInfo_v2", (size_t * free_bytes, size_t * total))                                 \
    X(allocate, "cuMemAlloc_v2", (CUdeviceptr * memory, size_t bytes))                                       \
    X(release, "cuMemFree_v2", (CUdeviceptr memory))                                                         \
    X(allocate_host, "cuMemAllocHost_v2", (void **memory, size_t bytes))                                     \
    X(release_host, "cuMemFreeHost", (void *memory))                                                         \
    X(upload, "cuMemcpyHtoDAsync_v2", (CUdeviceptr to, const void *from, size_t bytes, CUstream stream))     \
    X(download, "cuMemcpyDtoHAsync_v2", (void *to, CUdeviceptr from, size_t bytes, CUstream stream))         \
    X(copy_2d, "cuMemcpy2DAsync_v2", (const ozg_cuda_copy *copy, CUstream stream))                           \
    X(set_bytes, "cuMemsetD8Async", (CUdeviceptr to, unsigned char value, size_t count, CUstream stream))    \
    X(stream_synchronize, "cuStreamSynchronize", (CUstream stream))                                          \
    X(stream_create, "cuStreamCreate", (CUstream * stream, unsigned flags))                                  \
    X(stream_destroy, "cuStreamDestroy_v2", (CUstream stream))                                               \
    X(stream_wait, "cuStreamWaitEvent", (CUstream stream, CUevent event, unsigned flags))                    \
    X(stream_capturing, "cuStreamIsCapturing", (CUstream stream, int *status))                               \
    X(event_create, "cuEventCreate", (CUevent * event, unsigned flags))                                      \
    X(event_destroy, "cuEventDestroy_v2", (CUevent event))                                                   \
    X(event_record, "cuEventRecord", (CUevent event, CUstream stream))                                       \
    X(event_synchronize, "cuEventSynchronize", (CUevent event))                                              \
    X(event_elapsed, "cuEventElapsedTime", (float *milliseconds, CUevent from, CUevent to))                  \
    X(module_load, "cuModuleLoadData", (CUmodule * module, const void *image))                               \
    X(module_unload, "cuModuleUnload", (CUmodule module))                                                    \
    X(module_function, "cuModuleGetFunction", (CUfunction * function, CUmodule module, const char *name))    \
    X(function_attribute, "cuFuncSetAttribute", (CUfunction function, int attribute, int value))             \
    X(resident, "cuOccupancyMaxActiveBlocksPerMultiprocessor",                                               \
      (int *blocks, CUfunction function, int threads, size_t shared))                                        \
    X(launch, "cuLaunchKernel",                                                                              \
      (CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,    \
       unsigned shared, CUstream stream, void **arguments, void **extra))                                    \
    X(launch_cooperative, "cuLaunchCooperativeKernel",                                                       \
      (CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,    \
       unsigned shared, CUstream stream, void **arguments))                                                  \
    X(error_name, "cuGetErrorName", (CUresult result, const char **text))                                    \
    X(error_string, "cuGetErrorString", (CUresult result, const char **text))

/* What may be missing: NULL then. cuLaunchKernelEx since CUDA 11.8, cuTensorMapEncodeTiled since 12.0. */
#define OZG_CUDA_API_OPTIONAL(X)                                                                             \
    X(pointer_attributes, "cuPointerGetAttributes",                                                          \
      (unsigned count, int *attributes, void **values, CUdeviceptr pointer))                                 \
    X(stream_context, "cuStreamGetCtx", (CUstream stream, CUcontext * context))                              \
    X(function_tell, "cuFuncGetAttribute", (int *value, int attribute, CUfunction function))                 \
    X(launch_with, "cuLaunchKernelEx",                                                                       \
      (const ozg_cuda_launch_config *config, CUfunction function, void **arguments, void **extra))           \
    X(tensor_map, "cuTensorMapEncodeTiled",                                                                  \
      (ozg_cuda_map_bits * map, int type, uint32_t rank, void *base, const uint64_t *size,                   \
       const uint64_t *stride, const uint32_t *box, const uint32_t *element_stride, int interleave,          \
       int swizzle, int promotion, int fill))

typedef struct ozg_cuda_map ozg_cuda_map_bits; /* CUtensorMap */

#define OZG_CUDA_MEMBER(function, name, arguments) CUresult(*function) arguments;
typedef struct ozg_cuda_api {
    OZG_CUDA_API(OZG_CUDA_MEMBER)
    OZG_CUDA_API_OPTIONAL(OZG_CUDA_MEMBER)
    int version; /* of the driver: 12040 */
} ozg_cuda_api;

/* The library that is opened; "libcuda.so.1". Tests set it before the first call. */
extern const char *ozg_cuda_driver_name;

/*
 * ozg_cuda_api_open() - the driver, opened and initialized by the first call of the process; later calls
 * answer the same. NULL: *error is a sentence that says why, valid for the life of the process. Any thread.
 */
const ozg_cuda_api *ozg_cuda_api_open(const char **error);

#endif
