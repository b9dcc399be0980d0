/*
 * native.c - native products by cuBLAS, opened once for the process; a handle for each context that wants it.
 *
 * Declarations are those of the cuBLAS reference (cublas_api.h 11 to 13), of what is used.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dlfcn.h>
#include <fenv.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "cuda/native.h"
#include "report.h"

enum { CUBLAS_STATUS_ALLOC_FAILED = 3 };

typedef int gemm_function(void *handle, int transa, int transb, int m, int n, int k, const void *alpha,
                          const void *a, int lda, const void *b, int ldb, const void *beta, void *c, int ldc);

const char *ozg_cuda_cublas_names[OZG_CUDA_CUBLAS] = {"libcublas.so.13", "libcublas.so.12",
                                                      "libcublas.so.11"};

static struct {
    int (*create)(void **handle);
    int (*destroy)(void *handle);
    int (*set_stream)(void *handle, void *stream);
    gemm_function *gemm[4]; /* s, d, c, z */
} cublas;

static int opened; /* the library is chosen; under the lock, as long as it is not */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

enum { NO_LIBRARY = -1 };

/* ---- the library -------------------------------------------------------------------------------- */

/* Returns whether all functions are there. */
static int find_functions(void *library)
{
    const struct {
        const char *name;
        void *member;
    } functions[] = {{"cublasCreate_v2", &cublas.create},        {"cublasDestroy_v2", &cublas.destroy},
                     {"cublasSetStream_v2", &cublas.set_stream}, {"cublasSgemm_v2", &cublas.gemm[0]},
                     {"cublasDgemm_v2", &cublas.gemm[1]},        {"cublasCgemm_v2", &cublas.gemm[2]},
                     {"cublasZgemm_v2", &cublas.gemm[3]}};

    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *address = dlsym(library, functions[i].name);

        if (!address)
            return 0;
        memcpy(functions[i].member, &address, sizeof address);
    }
    return 1;
}

/*
 * A handle of the first library that has one to give: the newest may be too new for the driver. That library is
 * kept, and no other is opened any more. Returns the status of the first that was there, NO_LIBRARY if none was.
 * One that is no use stays loaded: what it left behind with CUDA cannot be unloaded.
 */
static int choose_library(void **handle)
{
    int answer = NO_LIBRARY;

    for (size_t i = 0; i < OZG_CUDA_CUBLAS && !opened; i++) {
        void *library =
            ozg_cuda_cublas_names[i] ? dlopen(ozg_cuda_cublas_names[i], RTLD_NOW | RTLD_LOCAL) : NULL;
        int status;

        if (!library)
            continue;
        if (!find_functions(library)) {
            dlclose(library);
            continue;
        }
        status = cublas.create(handle);
        opened = status == 0;
        answer = opened || answer == NO_LIBRARY ? status : answer;
    }
    return answer;
}

static int create_handle(void **handle)
{
    int status;

    pthread_mutex_lock(&lock);
    status = opened ? cublas.create(handle) : choose_library(handle);
    pthread_mutex_unlock(&lock);
    return status;
}

/* ---- contexts ----------------------------------------------------------------------------------- */

ozg_status ozg_cuda_native_open(ozg_context *ctx)
{
    struct ozg_cuda *g = ctx->cuda;
    int status = create_handle(&g->native);

    if (status == NO_LIBRARY)
        return ozg_fail(ctx, OZG_E_UNSUPPORTED,
                        "policy OZG_AUTOMATIC needs cuBLAS, and %.40s cannot be loaded; install it or use "
                        "OZG_EMULATE",
                        ozg_cuda_cublas_names[1] ? "libcublas.so.13, .12 or .11" : ozg_cuda_cublas_names[0]);
    if (status) {
        g->native = NULL;
        return ozg_fail(ctx, status == CUBLAS_STATUS_ALLOC_FAILED ? OZG_E_NOMEM : OZG_E_UNSUPPORTED,
                        "policy OZG_AUTOMATIC needs cuBLAS, and that does not start here (status %d); use "
                        "OZG_EMULATE",
                        status);
    }
    status = cublas.set_stream(g->native, g->stream);
    if (status) {
        ozg_cuda_native_close(ctx);
        return ozg_fail(ctx, OZG_E_UNSUPPORTED, "cuBLAS does not take cfg->stream (status %d)", status);
    }
    return OZG_OK;
}

void ozg_cuda_native_close(ozg_context *ctx)
{
    if (ctx->cuda->native)
        cublas.destroy(ctx->cuda->native);
    ctx->cuda->native = NULL;
}

/* ---- products ----------------------------------------------------------------------------------- */

/* All of it in the integers of cublas?gemm(). */
static int fits(const ozg_shape *s, const ozg_data *d)
{
    return s->m <= INT_MAX && s->n <= INT_MAX && s->k <= INT_MAX && d->lda <= INT_MAX && d->ldb <= INT_MAX &&
           d->ldc <= INT_MAX;
}

int ozg_cuda_native_wanted(const ozg_context *ctx, const ozg_shape *s, const ozg_data *d)
{
    const struct ozg_cuda *g = ctx->cuda;

    return g && g->native && s->acc.kind == OZG_BY_NATIVE && s->acc.value == 0 && !d->pa && !d->pb &&
           fits(s, d) && ozg_cuda_native_faster(g->capability, g->wgmma, g->multiprocessors, s);
}

static int operation(char trans, int complex_)
{
    return trans == 'N' ? 0 : trans == 'C' && complex_ ? 2 : 1;
}

/* Scalars of single precision, which came from floats: exact, also where the caller flushes to zero. */
static void floats_of(const ozg_data *d, float alpha[2], float beta[2])
{
    fenv_t caller;

    fegetenv(&caller);
    fesetenv(FE_DFL_ENV);
    for (int part = 0; part < 2; part++) {
        alpha[part] = (float)d->alpha[part];
        beta[part] = (float)d->beta[part];
    }
    fesetenv(&caller);
}

static ozg_status multiply(ozg_context *ctx, const ozg_shape *s, const ozg_data *d)
{
    const int single = ozg_type_single(s->type), complex_ = ozg_type_complex(s->type);
    float alpha[2], beta[2];
    int status;

    floats_of(d, alpha, beta);
    status = cublas.gemm[2 * complex_ + !single](
        ctx->cuda->native, operation(s->transa, complex_), operation(s->transb, complex_), (int)s->m,
        (int)s->n, (int)s->k, single ? (const void *)alpha : d->alpha, d->a, (int)d->lda, d->b, (int)d->ldb,
        single ? (const void *)beta : d->beta, d->c, (int)d->ldc);

    if (status == CUBLAS_STATUS_ALLOC_FAILED)
        return ozg_fail(ctx, OZG_E_NOMEM, "cuBLAS has no memory for its workspace; free some");
    if (status)
        return ozg_fail(ctx, OZG_E_DEVICE, "cuBLAS could not multiply (status %d)", status);
    return OZG_OK;
}

void ozg_cuda_native_report(const ozg_context *ctx, ozg_report *report)
{
    ozg_report_nothing(report, ctx, "native cuBLAS is faster for this shape");
    report->kernel = "cublas";
    report->scheme = "";
    report->bound = INFINITY;
    report->exact = 0;
}

ozg_status ozg_cuda_native_run(ozg_context *ctx, const ozg_shape *s, const ozg_data *d, ozg_report *report)
{
    ozg_status status = ozg_cuda_enter(ctx);

    if (!status)
        status = ozg_cuda_leave(ctx, multiply(ctx, s, d));
    if (status)
        return status;
    if (ctx->progress)
        ctx->progress(ctx->progress_arg, 1);
    if (report)
        ozg_cuda_native_report(ctx, report);
    return OZG_OK;
}
