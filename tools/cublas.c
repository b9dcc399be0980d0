/*
 * cublas.c - cuBLAS, found at run time: native products, its own emulation, products of 8-bit integers.
 *
 * Declarations are those of the cuBLAS reference (cublas_api.h 11 to 13), of what is used.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "cublas.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { OP_N = 0, OP_T = 1 };
enum { FP32_EMULATED_BF16X9_MATH = 4, FP64_EMULATED_FIXEDPOINT_MATH = 8 }; /* cublasMath_t */
enum { STRATEGY_EAGER = 2 };                                               /* cublasEmulationStrategy_t */
enum { R_8I = 3, R_32I = 10, COMPUTE_32I = 72, GEMM_DEFAULT = -1 };

typedef int gemm_32(void *handle, int transa, int transb, int m, int n, int k, const void *alpha,
                    const void *a, int lda, const void *b, int ldb, const void *beta, void *c, int ldc);
typedef int gemm_64(void *handle, int transa, int transb, int64_t m, int64_t n, int64_t k, const void *alpha,
                    const void *a, int64_t lda, const void *b, int64_t ldb, const void *beta, void *c,
                    int64_t ldc);
typedef int gemm_ex(void *handle, int transa, int transb, int m, int n, int k, const void *alpha,
                    const void *a, int type_a, int lda, const void *b, int type_b, int ldb, const void *beta,
                    void *c, int type_c, int ldc, int compute, int algorithm);

struct cublas {
    void *file;
    char *path;
    int (*create)(void **handle);
    int (*destroy)(void *handle);
    int (*set_stream)(void *handle, void *stream);
    int (*get_version)(void *handle, int *version);
    gemm_32 *gemm[4]; /* s, d, c, z */
    /* NULL where this version has none: */
    gemm_64 *gemm_long[4];
    gemm_ex *gemm_ex;
    int (*set_math)(void *handle, int mode);
    int (*set_strategy)(void *handle, int strategy);
    int (*set_bits)(void *handle, int *device);
    const char *(*status_string)(int status);
};

struct cublas_handle {
    struct cublas *lib;
    void *handle;
    int version;
};

/* ---- the library ----------------------------------------------------------------------------------- */

/* find() - the functions; returns whether all that must be there are. */
static int find(struct cublas *lib)
{
    const struct {
        const char *name;
        void *place;
        int required;
    } functions[] = {{"cublasCreate_v2", &lib->create, 1},
                     {"cublasDestroy_v2", &lib->destroy, 1},
                     {"cublasSetStream_v2", &lib->set_stream, 1},
                     {"cublasGetVersion_v2", &lib->get_version, 1},
                     {"cublasSgemm_v2", &lib->gemm[0], 1},
                     {"cublasDgemm_v2", &lib->gemm[1], 1},
                     {"cublasCgemm_v2", &lib->gemm[2], 1},
                     {"cublasZgemm_v2", &lib->gemm[3], 1},
                     {"cublasSgemm_v2_64", &lib->gemm_long[0], 0},
                     {"cublasDgemm_v2_64", &lib->gemm_long[1], 0},
                     {"cublasCgemm_v2_64", &lib->gemm_long[2], 0},
                     {"cublasZgemm_v2_64", &lib->gemm_long[3], 0},
                     {"cublasGemmEx", &lib->gemm_ex, 0},
                     {"cublasSetMathMode", &lib->set_math, 0},
                     {"cublasSetEmulationStrategy", &lib->set_strategy, 0},
                     {"cublasSetFixedPointEmulationMantissaBitCountPointer", &lib->set_bits, 0},
                     {"cublasGetStatusString", &lib->status_string, 0}};
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *address = dlsym(lib->file, functions[i].name);
        if (address == NULL && functions[i].required)
            return 0;
        memcpy(functions[i].place, &address, sizeof address);
    }
    return 1;
}

/* open_one() - NULL if the file is no cuBLAS. */
static struct cublas *open_one(const char *file)
{
    struct link_map *map = NULL;
    void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL)
        return NULL;
    struct cublas *lib = xmalloc(sizeof *lib);
    *lib = (struct cublas){.file = handle};
    if (!find(lib)) {
        dlclose(handle);
        free(lib);
        return NULL;
    }
    int known = dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name[0];
    char *real = known ? realpath(map->l_name, NULL) : NULL;
    lib->path = real ? real : xstrdup(known ? map->l_name : file);
    return lib;
}

struct cublas *cublas_open(const char *file)
{
    static const char *const usual[] = {"libcublas.so.13",
                                        "libcublas.so.12",
                                        "libcublas.so.11",
                                        "/usr/local/cuda/lib64/libcublas.so.13",
                                        "/usr/local/cuda/lib64/libcublas.so.12",
                                        "/usr/local/cuda/lib64/libcublas.so.11"};
    struct cublas *lib = NULL;
    if (file)
        return open_one(file);
    for (size_t i = 0; i < sizeof usual / sizeof usual[0] && lib == NULL; i++)
        lib = open_one(usual[i]);
    return lib;
}

void cublas_close(struct cublas *lib)
{
    if (lib == NULL)
        return;
    free(lib->path); /* the library stays loaded */
    free(lib);
}

const char *cublas_path(const struct cublas *lib)
{
    return lib->path;
}

/* ---- handles --------------------------------------------------------------------------------------- */

/* sentence() - NULL for status 0. */
static const char *sentence(const struct cublas *lib, int status, const char *call)
{
    static char text[160];
    if (status == 0)
        return NULL;
    const char *name = lib->status_string ? lib->status_string(status) : NULL;
    snprintf(text, sizeof text, "%s of cuBLAS failed with status %d%s%.80s%s", call, status, name ? " (" : "",
             name ? name : "", name ? ")" : "");
    return text;
}

struct cublas_handle *cublas_begin(struct cublas *lib, void *stream, const char **problem)
{
    struct cublas_handle *h = xmalloc(sizeof *h);
    *h = (struct cublas_handle){.lib = lib};
    *problem = sentence(lib, lib->create(&h->handle), "cublasCreate");
    if (*problem) {
        free(h);
        return NULL;
    }
    *problem = sentence(lib, lib->set_stream(h->handle, stream), "cublasSetStream");
    if (*problem == NULL)
        *problem = sentence(lib, lib->get_version(h->handle, &h->version), "cublasGetVersion");
    if (*problem == NULL)
        return h;
    cublas_end(h);
    return NULL;
}

void cublas_end(struct cublas_handle *h)
{
    if (h == NULL)
        return;
    h->lib->destroy(h->handle); /* what has failed was said before */
    free(h);
}

int cublas_version(const struct cublas_handle *h)
{
    return h->version;
}

const char *cublas_emulate(struct cublas_handle *h, char type, int *bits, int *tells)
{
    const struct cublas *lib = h->lib;
    *tells = 0;
    if (lib->set_math == NULL || lib->set_strategy == NULL)
        return "this version of cuBLAS has no emulation: 12.9 has it for s and c, 13.0.2 for d and z";
    const char *problem = sentence(lib,
                                   lib->set_math(h->handle, type_double(type) ? FP64_EMULATED_FIXEDPOINT_MATH
                                                                              : FP32_EMULATED_BF16X9_MATH),
                                   "cublasSetMathMode");
    if (problem == NULL)
        problem = sentence(lib, lib->set_strategy(h->handle, STRATEGY_EAGER), "cublasSetEmulationStrategy");
    if (problem == NULL && lib->set_bits && type_double(type))
        *tells = lib->set_bits(h->handle, bits) == 0;
    return problem;
}

/* ---- products -------------------------------------------------------------------------------------- */

const char *cublas_gemm(struct cublas_handle *h, char type, int64_t m, int64_t n, int64_t k, const void *a,
                        const void *b, void *c)
{
    static const double one_d[2] = {1, 0}, zero_d[2] = {0, 0};
    static const float one_f[2] = {1, 0}, zero_f[2] = {0, 0};
    static const char *const names[4] = {"cublasSgemm", "cublasDgemm", "cublasCgemm", "cublasZgemm"};
    const int twice = type_double(type), index = (type_complex(type) ? 2 : 0) + twice;
    const void *one = twice ? (const void *)one_d : one_f, *zero = twice ? (const void *)zero_d : zero_f;
    int status;
    if (h->lib->gemm_long[index])
        status = h->lib->gemm_long[index](h->handle, OP_N, OP_N, m, n, k, one, a, m, b, k, zero, c, m);
    else if (m > INT_MAX || n > INT_MAX || k > INT_MAX)
        return "the sizes do not fit the 32-bit integers of this version of cuBLAS";
    else
        status = h->lib->gemm[index](h->handle, OP_N, OP_N, (int)m, (int)n, (int)k, one, a, (int)m, b, (int)k,
                                     zero, c, (int)m);
    return sentence(h->lib, status, names[index]);
}

const char *cublas_int8(struct cublas_handle *h, int64_t m, int64_t n, int64_t k, const int8_t *a,
                        const int8_t *b, int32_t *c)
{
    static const int32_t one = 1, zero = 0;
    if (h->lib->gemm_ex == NULL)
        return "this version of cuBLAS has no cublasGemmEx";
    if (m > INT_MAX || n > INT_MAX || k > INT_MAX)
        return "the sizes do not fit the 32-bit integers of cublasGemmEx";
    return sentence(h->lib,
                    h->lib->gemm_ex(h->handle, OP_T, OP_N, (int)m, (int)n, (int)k, &one, a, R_8I, (int)k, b,
                                    R_8I, (int)k, &zero, c, R_32I, (int)m, COMPUTE_32I, GEMM_DEFAULT),
                    "cublasGemmEx");
}
