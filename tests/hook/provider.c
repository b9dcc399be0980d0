/*
 * provider.c - a BLAS of our own for the tests: the level-3 names note their arguments instead of computing,
 * dgemm_ and the ILP64 name dgemm_64_ compute by three loops. -DEMPTY: a library without any BLAS name.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>
#include <stdio.h>

#ifdef EMPTY
int provider_is_empty(void);
int provider_is_empty(void)
{
    return 1;
}
#else

/* What the last call looked like, in words: "dtrsm_ 1 2 3 ...". */
char provider_seen[512];
int provider_calls;

#define ADDRESS(x) ((long)(uintptr_t)(x))

/* Fortran: p1... are addresses, here read as numbers; lengths at the end. */
#define FORTRAN10(name)                                                                                      \
    void name(void *a, void *b, void *c, void *d, void *e, void *f, void *g, void *h, void *i, void *j,      \
              size_t l1, size_t l2);                                                                         \
    void name(void *a, void *b, void *c, void *d, void *e, void *f, void *g, void *h, void *i, void *j,      \
              size_t l1, size_t l2)                                                                          \
    {                                                                                                        \
        provider_calls++;                                                                                    \
        sprintf(provider_seen, "%s %ld %ld %ld %ld %ld %ld %ld %ld %ld %ld %zu %zu", #name, ADDRESS(a),      \
                ADDRESS(b), ADDRESS(c), ADDRESS(d), ADDRESS(e), ADDRESS(f), ADDRESS(g), ADDRESS(h),          \
                ADDRESS(i), ADDRESS(j), l1, l2);                                                             \
    }
#define FORTRAN12(name)                                                                                      \
    void name(void *a, void *b, void *c, void *d, void *e, void *f, void *g, void *h, void *i, void *j,      \
              void *k, void *l, size_t l1, size_t l2);                                                       \
    void name(void *a, void *b, void *c, void *d, void *e, void *f, void *g, void *h, void *i, void *j,      \
              void *k, void *l, size_t l1, size_t l2)                                                        \
    {                                                                                                        \
        provider_calls++;                                                                                    \
        sprintf(provider_seen, "%s %ld %ld %ld %ld %ld %ld %ld %ld %ld %ld %ld %ld %zu %zu", #name,          \
                ADDRESS(a), ADDRESS(b), ADDRESS(c), ADDRESS(d), ADDRESS(e), ADDRESS(f), ADDRESS(g),          \
                ADDRESS(h), ADDRESS(i), ADDRESS(j), ADDRESS(k), ADDRESS(l), l1, l2);                         \
    }
#define FORTRAN11(name)                                                                                      \
    void name(void *a, void *b, void *c, void *d, void *e, void *f, void *g, void *h, void *i, void *j,      \
              void *k, size_t l1, size_t l2, size_t l3, size_t l4);                                          \
    void name(void *a, void *b, void *c, void *d, void *e, void *f, void *g, void *h, void *i, void *j,      \
              void *k, size_t l1, size_t l2, size_t l3, size_t l4)                                           \
    {                                                                                                        \
        provider_calls++;                                                                                    \
        sprintf(provider_seen, "%s %ld %ld %ld %ld %ld %ld %ld %ld %ld %ld %ld %zu %zu %zu %zu", #name,      \
                ADDRESS(a), ADDRESS(b), ADDRESS(c), ADDRESS(d), ADDRESS(e), ADDRESS(f), ADDRESS(g),          \
                ADDRESS(h), ADDRESS(i), ADDRESS(j), ADDRESS(k), l1, l2, l3, l4);                             \
    }
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

/* CBLAS. D: the type of a scalar as it comes, F: how it is written, X(x): what is written. */
#define CBLAS13(name, D, F, X, D2, F2, X2)                                                                   \
    void name(int a, int b, int c, int d, int e, D f, void *g, int h, void *i, int j, D2 k, void *l, int m); \
    void name(int a, int b, int c, int d, int e, D f, void *g, int h, void *i, int j, D2 k, void *l, int m)  \
    {                                                                                                        \
        provider_calls++;                                                                                    \
        sprintf(provider_seen, "%s %d %d %d %d %d " F " %ld %d %ld %d " F2 " %ld %d", #name, a, b, c, d, e,  \
                X(f), ADDRESS(g), h, ADDRESS(i), j, X2(k), ADDRESS(l), m);                                   \
    }
#define CBLAS11(name, D, F, X)                                                                               \
    void name(int a, int b, int c, int d, int e, D f, void *g, int h, D i, void *j, int k);                  \
    void name(int a, int b, int c, int d, int e, D f, void *g, int h, D i, void *j, int k)                   \
    {                                                                                                        \
        provider_calls++;                                                                                    \
        sprintf(provider_seen, "%s %d %d %d %d %d " F " %ld %d " F " %ld %d", #name, a, b, c, d, e, X(f),    \
                ADDRESS(g), h, X(i), ADDRESS(j), k);                                                         \
    }
#define CBLAS12(name, D, F, X)                                                                               \
    void name(int a, int b, int c, int d, int e, int f, int g, D h, void *i, int j, void *k, int l);         \
    void name(int a, int b, int c, int d, int e, int f, int g, D h, void *i, int j, void *k, int l)          \
    {                                                                                                        \
        provider_calls++;                                                                                    \
        sprintf(provider_seen, "%s %d %d %d %d %d %d %d " F " %ld %d %ld %d", #name, a, b, c, d, e, f, g,    \
                X(h), ADDRESS(i), j, ADDRESS(k), l);                                                         \
    }
#define FLOAT            float, "%g", (double)
#define DOUBLE           double, "%g", (double)
#define COMPLEX          void *, "%ld", ADDRESS
#define EACH(macro, ...) macro(__VA_ARGS__)
EACH(CBLAS13, cblas_ssymm, FLOAT, FLOAT)
EACH(CBLAS13, cblas_dsymm, DOUBLE, DOUBLE)
EACH(CBLAS13, cblas_csymm, COMPLEX, COMPLEX)
EACH(CBLAS13, cblas_zsymm, COMPLEX, COMPLEX)
EACH(CBLAS13, cblas_chemm, COMPLEX, COMPLEX)
EACH(CBLAS13, cblas_zhemm, COMPLEX, COMPLEX)
EACH(CBLAS13, cblas_ssyr2k, FLOAT, FLOAT)
EACH(CBLAS13, cblas_dsyr2k, DOUBLE, DOUBLE)
EACH(CBLAS13, cblas_csyr2k, COMPLEX, COMPLEX)
EACH(CBLAS13, cblas_zsyr2k, COMPLEX, COMPLEX)
EACH(CBLAS13, cblas_cher2k, COMPLEX, FLOAT)
EACH(CBLAS13, cblas_zher2k, COMPLEX, DOUBLE)
EACH(CBLAS11, cblas_ssyrk, FLOAT)
EACH(CBLAS11, cblas_dsyrk, DOUBLE)
EACH(CBLAS11, cblas_csyrk, COMPLEX)
EACH(CBLAS11, cblas_zsyrk, COMPLEX)
EACH(CBLAS11, cblas_cherk, FLOAT)
EACH(CBLAS11, cblas_zherk, DOUBLE)
EACH(CBLAS12, cblas_strmm, FLOAT)
EACH(CBLAS12, cblas_dtrmm, DOUBLE)
EACH(CBLAS12, cblas_ctrmm, COMPLEX)
EACH(CBLAS12, cblas_ztrmm, COMPLEX)
EACH(CBLAS12, cblas_strsm, FLOAT)
EACH(CBLAS12, cblas_dtrsm, DOUBLE)
EACH(CBLAS12, cblas_ctrsm, COMPLEX)
EACH(CBLAS12, cblas_ztrsm, COMPLEX)

/* Integers I: int for dgemm_, int64_t for dgemm_64_. Not transposed. */
#define GEMM(name, I)                                                                                        \
    void name(const char *, const char *, const I *m, const I *n, const I *k, const double *alpha,           \
              const double *a, const I *lda, const double *b, const I *ldb, const double *beta, double *c,   \
              const I *ldc);                                                                                 \
    void name(const char *ta, const char *tb, const I *m, const I *n, const I *k, const double *alpha,       \
              const double *a, const I *lda, const double *b, const I *ldb, const double *beta, double *c,   \
              const I *ldc)                                                                                  \
    {                                                                                                        \
        (void)ta;                                                                                            \
        (void)tb;                                                                                            \
        provider_calls++;                                                                                    \
        sprintf(provider_seen, "%s", #name);                                                                 \
        for (I j = 0; j < *n; j++)                                                                           \
            for (I i = 0; i < *m; i++) {                                                                     \
                double sum = 0;                                                                              \
                for (I p = 0; p < *k; p++)                                                                   \
                    sum += a[i + p * *lda] * b[p + j * *ldb];                                                \
                c[i + j * *ldc] = *alpha * sum + *beta * c[i + j * *ldc];                                    \
            }                                                                                                \
    }
GEMM(dgemm_, int)
GEMM(dgemm_64_, int64_t)
#endif
