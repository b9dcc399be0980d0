/*
 * native.c - the BLAS of the system, found at run time, as the row to compare with.
 *
 * The library is opened privately and asked by its own handle: the layer libozgemm_blas.so, if it is
 * preloaded, does not come between.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "native.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>

#include "cli.h"

/* ?gemm_ of Fortran; every argument by reference, then the hidden lengths of the two characters. */
typedef void gemm_function(const char *transa, const char *transb, const int *m, const int *n, const int *k,
                           const void *alpha, const void *a, const int *lda, const void *b, const int *ldb,
                           const void *beta, void *c, const int *ldc, size_t length_a, size_t length_b);

struct native {
    void *handle;
    char *path;
    gemm_function *gemm[4];  /* s, d, c, z */
    char *(*corename)(void); /* of OpenBLAS; NULL: another BLAS */
};

/* open_one() - NULL if the file is no BLAS. */
static struct native *open_one(const char *file)
{
    static const char *const names[4] = {"sgemm_", "dgemm_", "cgemm_", "zgemm_"};
    struct link_map *map = NULL;
    void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL)
        return NULL;
    struct native *lib = xmalloc(sizeof *lib);
    *lib = (struct native){.handle = handle};
    for (int i = 0; i < 4; i++) {
        *(void **)&lib->gemm[i] = dlsym(handle, names[i]);
        if (lib->gemm[i] == NULL) {
            dlclose(handle);
            free(lib);
            return NULL;
        }
    }
    *(void **)&lib->corename = dlsym(handle, "openblas_get_corename");
    int known = dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name[0];
    char *real = known ? realpath(map->l_name, NULL) : NULL;
    lib->path = real ? real : xstrdup(known ? map->l_name : file);
    return lib;
}

struct native *native_open(const char *file)
{
    static const char *const usual[] = {"libblas.so.3", "libopenblas.so.0", "libopenblas.so"};
    struct native *lib = NULL;
    if (file)
        return open_one(file);
    for (size_t i = 0; i < sizeof usual / sizeof usual[0] && lib == NULL; i++)
        lib = open_one(usual[i]);
    return lib;
}

void native_close(struct native *lib)
{
    if (lib == NULL)
        return;
    free(lib->path); /* the library stays loaded: its threads may still run */
    free(lib);
}

const char *native_path(const struct native *lib)
{
    return lib->path;
}

const char *native_core(const struct native *lib)
{
    return lib->corename ? lib->corename() : NULL;
}

int native_gemm(const struct native *lib, const struct matrix *a, const struct matrix *b, struct matrix *c)
{
    static const double one_d[2] = {1, 0}, zero_d[2] = {0, 0};
    static const float one_f[2] = {1, 0}, zero_f[2] = {0, 0};
    int twice = type_double(a->type), index = (type_complex(a->type) ? 2 : 0) + twice;
    if (c->rows > INT_MAX || c->cols > INT_MAX || a->cols > INT_MAX)
        return 0;
    int m = (int)c->rows, n = (int)c->cols, k = (int)a->cols;
    int lda = (int)matrix_ld(a), ldb = (int)matrix_ld(b), ldc = (int)matrix_ld(c);
    lib->gemm[index]("N", "N", &m, &n, &k, twice ? (const void *)one_d : one_f, a->data, &lda, b->data, &ldb,
                     twice ? (const void *)zero_d : zero_f, c->data, &ldc, 1, 1);
    return 1;
}
