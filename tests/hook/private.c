/*
 * private.c - case C22 through the drop-in: the real BLAS was opened privately, unseen by RTLD_NEXT.
 *
 *   private FILE [OTHER]   open FILE with local scope; with OTHER, then close it and open that one
 *   private none           open nothing: dtrsm_ must be found by other means, or a message ends the program
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

#include "calls.h"

typedef void (*gemm_fn)(const char *, const char *, const int *, const int *, const int *, const double *,
                        const double *, const int *, const double *, const int *, const double *, double *,
                        const int *);

void dtrsm_(const void *, const void *, const void *, const void *, const void *, const void *, const void *,
            const void *, const void *, void *, const void *, size_t, size_t, size_t, size_t);

static void *address(int x)
{
    return (void *)(size_t)x;
}

static void call_dtrsm(void)
{
    dtrsm_(address(1), address(2), address(3), address(4), address(5), address(6), address(7), address(8),
           address(9), address(10), address(11), 12, 13, 14, 15);
}

static void emulated_product(void)
{
    double a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8}, c[4] = {0};
    gemm_call g = {.type = 'd',
                   .transa = 'N',
                   .transb = 'N',
                   .m = 2,
                   .n = 2,
                   .k = 2,
                   .alpha = {1, 0},
                   .a = a,
                   .b = b,
                   .c = c,
                   .lda = 2,
                   .ldb = 2,
                   .ldc = 2};

    call_gemm(FORTRAN, &g);
    CHECK(c[0] == 23 && c[1] == 34 && c[2] == 31 && c[3] == 46, "product: %g %g %g %g", c[0], c[1], c[2],
          c[3]);
}

/* dlsym() on the provider's handle gives the provider's own routine, which must work beside ours. */
static void direct_product(void *handle)
{
    double a = 3, b = 4, c = 0, one = 1, zero = 0;
    gemm_fn routine;
    void *symbol = dlsym(handle, "dgemm_");
    int n = 1;

    CHECK(symbol != NULL, "the provider has no dgemm_");
    if (symbol == NULL)
        return;
    memcpy(&routine, &symbol, sizeof routine);
    routine("N", "N", &n, &n, &n, &one, &a, &n, &b, &n, &zero, &c, &n);
    CHECK(c == 12 && strcmp(dlsym(handle, "provider_seen"), "dgemm_") == 0, "the provider's own dgemm_: %g",
          c);
}

int main(int argc, char **argv)
{
    void *handle = NULL;

    if (argc < 2)
        return 2;
    emulated_product();
    if (strcmp(argv[1], "none") != 0) {
        handle = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        CHECK(handle != NULL, "%s", dlerror());
        if (handle == NULL)
            return 2;
        direct_product(handle);
    }
    call_dtrsm();
    if (handle != NULL)
        CHECK(strcmp(dlsym(handle, "provider_seen"), "dtrsm_ 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15") == 0,
              "the provider saw: %s", (char *)dlsym(handle, "provider_seen"));
    if (argc > 2) {
        dlclose(handle);
        handle = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
        CHECK(handle != NULL, "%s", dlerror());
        direct_product(handle);
        call_dtrsm();
    }
    emulated_product();
    return check_status();
}
