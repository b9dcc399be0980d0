/*
 * passes.c - every level-3 name that is not ?gemm reaches the next BLAS with all its arguments unchanged,
 * hidden lengths included. The prototypes are the callers', written down apart from the drop-in's own list.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "calls.h"

extern char provider_seen[];

static int routines;

static void *at(int x)
{
    return (void *)(size_t)x;
}

static void expect(const char *name, const char *arguments)
{
    size_t length = strlen(name);

    routines++;
    CHECK(strncmp(provider_seen, name, length) == 0 && strcmp(provider_seen + length, arguments) == 0,
          "%s%s expected, seen: %s", name, arguments, provider_seen);
    provider_seen[0] = '\0';
}

#define FORTRAN10(name)                                                                                      \
    {                                                                                                        \
        extern void name(void *, void *, void *, void *, void *, void *, void *, void *, void *, void *,     \
                         size_t, size_t);                                                                    \
        name(at(1), at(2), at(3), at(4), at(5), at(6), at(7), at(8), at(9), at(10), 11, 12);                 \
        expect(#name, " 1 2 3 4 5 6 7 8 9 10 11 12");                                                        \
    }
#define FORTRAN11(name)                                                                                      \
    {                                                                                                        \
        extern void name(void *, void *, void *, void *, void *, void *, void *, void *, void *, void *,     \
                         void *, size_t, size_t, size_t, size_t);                                            \
        name(at(1), at(2), at(3), at(4), at(5), at(6), at(7), at(8), at(9), at(10), at(11), 12, 13, 14, 15); \
        expect(#name, " 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15");                                               \
    }
#define FORTRAN12(name)                                                                                      \
    {                                                                                                        \
        extern void name(void *, void *, void *, void *, void *, void *, void *, void *, void *, void *,     \
                         void *, void *, size_t, size_t);                                                    \
        name(at(1), at(2), at(3), at(4), at(5), at(6), at(7), at(8), at(9), at(10), at(11), at(12), 13, 14); \
        expect(#name, " 1 2 3 4 5 6 7 8 9 10 11 12 13 14");                                                  \
    }

/* S, S2: types of alpha and beta; V, V2: their values; T: how the provider writes them. */
#define CBLAS13(name, S, V, S2, V2, T)                                                                       \
    {                                                                                                        \
        extern void name(int, int, int, int, int, S, void *, int, void *, int, S2, void *, int);             \
        name(1, 2, 3, 4, 5, V, at(7), 8, at(9), 10, V2, at(12), 13);                                         \
        expect(#name, " 1 2 3 4 5 " T);                                                                      \
    }
#define CBLAS11(name, S, V, V2, T)                                                                           \
    {                                                                                                        \
        extern void name(int, int, int, int, int, S, void *, int, S, void *, int);                           \
        name(1, 2, 3, 4, 5, V, at(7), 8, V2, at(10), 11);                                                    \
        expect(#name, " 1 2 3 4 5 " T);                                                                      \
    }
#define CBLAS12(name, S, V, T)                                                                               \
    {                                                                                                        \
        extern void name(int, int, int, int, int, int, int, S, void *, int, void *, int);                    \
        name(1, 2, 3, 4, 5, 6, 7, V, at(9), 10, at(11), 12);                                                 \
        expect(#name, " 1 2 3 4 5 6 7 " T " 9 10 11 12");                                                    \
    }

static void fortran(void)
{
    FORTRAN12(ssymm_)
    FORTRAN12(dsymm_)
    FORTRAN12(csymm_)
    FORTRAN12(zsymm_)
    FORTRAN12(chemm_)
    FORTRAN12(zhemm_)
    FORTRAN12(ssyr2k_)
    FORTRAN12(dsyr2k_)
    FORTRAN12(csyr2k_)
    FORTRAN12(zsyr2k_)
    FORTRAN12(cher2k_)
    FORTRAN12(zher2k_)
    FORTRAN10(ssyrk_)
    FORTRAN10(dsyrk_)
    FORTRAN10(csyrk_)
    FORTRAN10(zsyrk_)
    FORTRAN10(cherk_)
    FORTRAN10(zherk_)
    FORTRAN11(strmm_)
    FORTRAN11(dtrmm_)
    FORTRAN11(ctrmm_)
    FORTRAN11(ztrmm_)
    FORTRAN11(strsm_)
    FORTRAN11(dtrsm_)
    FORTRAN11(ctrsm_)
    FORTRAN11(ztrsm_)
}

#define REAL13    "0.5 7 8 9 10 0.25 12 13"
#define COMPLEX13 "6 7 8 9 10 11 12 13"
#define MIXED13   "6 7 8 9 10 0.25 12 13"
#define REAL11    "0.5 7 8 0.25 10 11"
#define COMPLEX11 "6 7 8 9 10 11"

static void cblas(void)
{
    CBLAS13(cblas_ssymm, float, 0.5f, float, 0.25f, REAL13)
    CBLAS13(cblas_dsymm, double, 0.5, double, 0.25, REAL13)
    CBLAS13(cblas_csymm, void *, at(6), void *, at(11), COMPLEX13)
    CBLAS13(cblas_zsymm, void *, at(6), void *, at(11), COMPLEX13)
    CBLAS13(cblas_chemm, void *, at(6), void *, at(11), COMPLEX13)
    CBLAS13(cblas_zhemm, void *, at(6), void *, at(11), COMPLEX13)
    CBLAS13(cblas_ssyr2k, float, 0.5f, float, 0.25f, REAL13)
    CBLAS13(cblas_dsyr2k, double, 0.5, double, 0.25, REAL13)
    CBLAS13(cblas_csyr2k, void *, at(6), void *, at(11), COMPLEX13)
    CBLAS13(cblas_zsyr2k, void *, at(6), void *, at(11), COMPLEX13)
    CBLAS13(cblas_cher2k, void *, at(6), float, 0.25f, MIXED13)
    CBLAS13(cblas_zher2k, void *, at(6), double, 0.25, MIXED13)
    CBLAS11(cblas_ssyrk, float, 0.5f, 0.25f, REAL11)
    CBLAS11(cblas_dsyrk, double, 0.5, 0.25, REAL11)
    CBLAS11(cblas_csyrk, void *, at(6), at(9), COMPLEX11)
    CBLAS11(cblas_zsyrk, void *, at(6), at(9), COMPLEX11)
    CBLAS11(cblas_cherk, float, 0.5f, 0.25f, REAL11)
    CBLAS11(cblas_zherk, double, 0.5, 0.25, REAL11)
    CBLAS12(cblas_strmm, float, 0.5f, "0.5")
    CBLAS12(cblas_dtrmm, double, 0.5, "0.5")
    CBLAS12(cblas_ctrmm, void *, at(8), "8")
    CBLAS12(cblas_ztrmm, void *, at(8), "8")
    CBLAS12(cblas_strsm, float, 0.5f, "0.5")
    CBLAS12(cblas_dtrsm, double, 0.5, "0.5")
    CBLAS12(cblas_ctrsm, void *, at(8), "8")
    CBLAS12(cblas_ztrsm, void *, at(8), "8")
}

int main(void)
{
    fortran();
    cblas();
    CHECK(routines == 52, "%d routines tried, not 52", routines);
    return check_status();
}
