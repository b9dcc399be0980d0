/*
 * fake_cublas.c - a cuBLAS without a device, for the tests of "ozgemm speed --backend cuda" and of the policy
 * OZG_AUTOMATIC: its products run on the processor, on the memory of the stand-in driver
 * (tests/cuda/fake_driver.h), which is linked with the program or libcuda.so.1.
 *
 * Compiled with -D:
 *     NEED_STREAM      the default stream, which would not be ordered with the others, is refused
 *     NO_CREATE        there are no handles, as if it were not for this driver
 *     NO_EMULATION     the version before it
 *     NO_INT8          no cublasGemmEx
 *     NO_LONG          no functions of 64-bit sizes
 *     NO_DGEMM         no cublasDgemm_v2: no library to work with
 *     SILENT           its emulation does not tell its bits, and computes the same as native
 *     FAILING=N        the call number N of any product answers 13
 *     WRONG=N          from the call number N on, the last entry of C is wrong; WRONG_KIND: of native
 *                      (0), the emulation (1), integers (2)
 *     LAZY=N           from the call number N on, native products are not computed at all
 *     FLICKER          every call of the emulation gives other bits, all of them good
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <complex.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef FAILING
#define FAILING 0
#endif
#ifndef LAZY
#define LAZY 0
#endif
#ifndef WRONG
#define WRONG      0
#define WRONG_KIND 0
#endif

#define API __attribute__((visibility("default")))

/* A handle: how it multiplies. */
struct handle {
    void *stream;
    int has_stream, math, strategy;
    int *bits;
};

static int calls, kind_calls[3], handles, failing = FAILING, failing_status = 13, create_status;

/* fake_cublas_set() - the call number nth of any product from now on (0: none) and every cublasCreate()
 * (0: none) answer these. fake_cublas_handles() - that live. fake_cublas_calls() - of products so far. */
API void fake_cublas_set(int nth, int status, int create)
{
    failing = nth > 0 ? calls + nth : 0;
    failing_status = status;
    create_status = create;
}

API int fake_cublas_handles(void)
{
    return handles;
}

API int fake_cublas_calls(void)
{
    return calls;
}

static void *driver(const char *name)
{
    void *address = dlsym(RTLD_DEFAULT, name), *library;

    if (address)
        return address;
    library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    address = library ? dlsym(library, name) : NULL;
    if (!address)
        abort();
    return address;
}

static void *read_device(const void *device, size_t bytes)
{
    void (*get)(void *to, const void *from, size_t size);
    void *own = malloc(bytes);

    *(void **)&get = driver("fake_read");
    if (!own)
        abort();
    get(own, device, bytes);
    return own;
}

static void write_device(void *device, const void *own, size_t bytes)
{
    void (*put)(void *to, const void *from, size_t size);

    *(void **)&put = driver("fake_write");
    put(device, own, bytes);
}

/* counted() - this call fails; *wrong: its result is to be wrong. */
static int counted(int kind, int *wrong)
{
    kind_calls[kind]++;
    *wrong = WRONG > 0 && kind == WRONG_KIND && kind_calls[kind] >= WRONG;
    return ++calls == failing;
}

/* ---- handles -------------------------------------------------------------------------------------- */

API int cublasCreate_v2(void **handle)
{
#ifdef NO_CREATE
    return 1;
#endif
    if (create_status)
        return create_status;
    *handle = calloc(1, sizeof(struct handle));
    handles += *handle != NULL;
    return *handle ? 0 : 3;
}

API int cublasDestroy_v2(void *handle)
{
    free(handle);
    handles--;
    return 0;
}

API int cublasSetStream_v2(void *handle, void *stream)
{
#ifdef NEED_STREAM
    if (!stream)
        return 7;
#endif
    ((struct handle *)handle)->stream = stream;
    ((struct handle *)handle)->has_stream = 1;
    return 0;
}

API int cublasGetVersion_v2(void *handle, int *version)
{
    *version = 130100;
    return handle ? 0 : 1;
}

API const char *cublasGetStatusString(int status)
{
    return status == 13 ? "CUBLAS_STATUS_EXECUTION_FAILED" : "CUBLAS_STATUS_OTHER";
}

#ifndef NO_EMULATION
API int cublasSetMathMode(void *handle, int mode)
{
    ((struct handle *)handle)->math = mode;
    return mode == 8 || mode == 4 ? 0 : 7;
}

API int cublasSetEmulationStrategy(void *handle, int strategy)
{
    ((struct handle *)handle)->strategy = strategy;
    return strategy == 2 ? 0 : 7;
}

#ifndef SILENT
API int cublasSetFixedPointEmulationMantissaBitCountPointer(void *handle, int *device)
{
    ((struct handle *)handle)->bits = device;
    return 0;
}
#endif
#endif

/* ---- products ------------------------------------------------------------------------------------- */

/* emulates() - does this handle emulate products of this type? */
static int emulates(const struct handle *h, int twice)
{
    const int bits = 55;

    if (h->strategy != 2 || h->math != (twice ? 8 : 4))
        return 0;
    if (h->bits)
        write_device(h->bits, &bits, sizeof bits);
    return 1;
}

#ifdef FLICKER
#define FLICKERING 1
#else
#define FLICKERING 0
#endif
#ifdef SILENT
#define SAME_ORDER 1
#else
#define SAME_ORDER 0
#endif

/* Elements between the first and the last of a matrix of so many rows and columns. */
static size_t extent(int64_t rows, int64_t columns, int64_t ld)
{
    return (size_t)(ld * (columns - 1) + rows);
}

#define SAME(x) (x)

/* The emulation sums in another order, and with FLICKER in one order more from call to call. */
#define GEMM(name, type, integer, twice, conjugate)                                                          \
    API int name(void *handle, int ta, int tb, integer m, integer n, integer k, const type *alpha,           \
                 const type *a, integer lda, const type *b, integer ldb, const type *beta, type *c,          \
                 integer ldc)                                                                                \
    {                                                                                                        \
        struct handle *h = handle;                                                                           \
        const int emulated = emulates(h, twice);                                                             \
        int wrong;                                                                                           \
                                                                                                             \
        if (!h->has_stream || lda < (ta ? k : m) || ldb < (tb ? n : k) || ldc < m)                           \
            return 7;                                                                                        \
        if (counted(emulated, &wrong))                                                                       \
            return failing_status;                                                                           \
        if (LAZY > 0 && !emulated && kind_calls[0] >= LAZY)                                                  \
            return 0;                                                                                        \
        const int64_t turn = FLICKERING && emulated ? kind_calls[1] : 0;                                     \
        const int back = emulated && !SAME_ORDER;                                                            \
        const size_t bytes = sizeof *c * extent(m, n, ldc);                                                  \
        type *x = read_device(a, sizeof *x * (ta ? extent(k, m, lda) : extent(m, k, lda)));                  \
        type *y = read_device(b, sizeof *y * (tb ? extent(n, k, ldb) : extent(k, n, ldb)));                  \
        type *z = read_device(c, bytes);                                                                     \
                                                                                                             \
        for (integer j = 0; j < n; j++)                                                                      \
            for (integer i = 0; i < m; i++) {                                                                \
                type sum = 0;                                                                                \
                                                                                                             \
                for (integer q = 0; q < k; q++) {                                                            \
                    const integer p = (integer)(((back ? k - 1 - q : q) + turn) % k);                        \
                    const type u = ta ? x[p + i * lda] : x[i + p * lda];                                     \
                    const type v = tb ? y[j + p * ldb] : y[p + j * ldb];                                     \
                                                                                                             \
                    sum += (ta == 2 ? conjugate(u) : u) * (tb == 2 ? conjugate(v) : v);                      \
                }                                                                                            \
                sum *= *alpha;                                                                               \
                z[i + j * ldc] = *beta == 0 ? sum : sum + *beta * z[i + j * ldc];                            \
            }                                                                                                \
        if (wrong)                                                                                           \
            z[m - 1 + (n - 1) * ldc] += 1;                                                                   \
        write_device(c, z, bytes);                                                                           \
        free(x);                                                                                             \
        free(y);                                                                                             \
        free(z);                                                                                             \
        return 0;                                                                                            \
    }

GEMM(cublasSgemm_v2, float, int, 0, SAME)
#ifndef NO_DGEMM
GEMM(cublasDgemm_v2, double, int, 1, SAME)
#endif
GEMM(cublasCgemm_v2, float complex, int, 0, conjf)
GEMM(cublasZgemm_v2, double complex, int, 1, conj)
#ifndef NO_LONG
GEMM(cublasSgemm_v2_64, float, int64_t, 0, SAME)
GEMM(cublasDgemm_v2_64, double, int64_t, 1, SAME)
GEMM(cublasCgemm_v2_64, float complex, int64_t, 0, conjf)
GEMM(cublasZgemm_v2_64, double complex, int64_t, 1, conj)
#endif

#ifndef NO_INT8
/* Signed bytes, op(A) = A^T, sums of 32 bits: nothing else is asked for. */
API int cublasGemmEx(void *handle, int ta, int tb, int m, int n, int k, const void *alpha, const void *a,
                     int type_a, int lda, const void *b, int type_b, int ldb, const void *beta, void *c,
                     int type_c, int ldc, int compute, int algorithm)
{
    int wrong;

    if (!handle || ta != 1 || tb != 0 || *(const int32_t *)alpha != 1 || *(const int32_t *)beta != 0 ||
        type_a != 3 || type_b != 3 || type_c != 10 || compute != 72 || algorithm != -1 || lda < k ||
        ldb < k || ldc < m)
        return 7;
    if (lda % 16 || ldb % 16 || ldc % 4)
        return 15;
    if (counted(2, &wrong))
        return failing_status;
    int8_t *x = read_device(a, (size_t)lda * (size_t)m), *y = read_device(b, (size_t)ldb * (size_t)n);
    int32_t *z = malloc(sizeof *z * (size_t)ldc * (size_t)n);

    if (!z)
        abort();
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            int32_t sum = 0;

            for (int p = 0; p < k; p++)
                sum += x[p + i * lda] * y[p + j * ldb];
            z[i + j * ldc] = sum;
        }
    if (wrong)
        z[m - 1 + (n - 1) * ldc]++;
    write_device(c, z, sizeof *z * (size_t)ldc * (size_t)n);
    free(x);
    free(y);
    free(z);
    return 0;
}
#endif
