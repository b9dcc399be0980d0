/*
 * loops.c - a BLAS of our own whose ?gemm computes by three loops, entry after entry straight into C: where C
 * shares elements with A or B, the result is wrong.
 *
 * SPDX-License-Identifier: MIT
 */
#include <complex.h>
#include <stddef.h>

enum { ROW_MAJOR = 101, COL_MAJOR = 102, NO_TRANS = 111, TRANS = 112, CONJ_TRANS = 113 };

static int number_of(char trans)
{
    return trans == 'N' ? NO_TRANS : trans == 'T' ? TRANS : CONJ_TRANS;
}

/* op(X)(i, j) lies at x[i * rows + j * columns]. */
typedef struct steps {
    ptrdiff_t rows, columns;
} steps;

static steps steps_of(int layout, int trans, int ld)
{
    return (layout == COL_MAJOR) == (trans == NO_TRANS) ? (steps){1, ld} : (steps){ld, 1};
}

#define SAME(x) (x)

/* The product for type T; letter##_loops() takes both layouts. */
#define LOOPS(letter, T, CONJ)                                                                               \
    static void letter##_loops(int layout, int ta, int tb, int m, int n, int k, T alpha, const T *a,         \
                               int lda, const T *b, int ldb, T beta, T *c, int ldc)                          \
    {                                                                                                        \
        const steps sa = steps_of(layout, ta, lda), sb = steps_of(layout, tb, ldb);                          \
        const steps sc = steps_of(layout, NO_TRANS, ldc);                                                    \
                                                                                                             \
        for (int i = 0; i < m; i++)                                                                          \
            for (int j = 0; j < n; j++) {                                                                    \
                T sum = 0, *out = c + i * sc.rows + j * sc.columns;                                          \
                for (int p = 0; p < k; p++) {                                                                \
                    const T x = a[i * sa.rows + p * sa.columns], y = b[p * sb.rows + j * sb.columns];        \
                    sum += (ta == CONJ_TRANS ? CONJ(x) : x) * (tb == CONJ_TRANS ? CONJ(y) : y);              \
                }                                                                                            \
                *out = alpha * sum + (beta == 0 ? 0 : beta * *out);                                          \
            }                                                                                                \
    }                                                                                                        \
    void letter##gemm_(const char *, const char *, const int *, const int *, const int *, const T *,         \
                       const T *, const int *, const T *, const int *, const T *, T *, const int *);         \
    void letter##gemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k,             \
                       const T *alpha, const T *a, const int *lda, const T *b, const int *ldb,               \
                       const T *beta, T *c, const int *ldc)                                                  \
    {                                                                                                        \
        letter##_loops(COL_MAJOR, number_of(*ta), number_of(*tb), *m, *n, *k, *alpha, a, *lda, b, *ldb,      \
                       *beta, c, *ldc);                                                                      \
    }

/* The C face. S: how a scalar comes; VALUE(s): what it is. */
#define C_FACE(letter, T, S, VALUE)                                                                          \
    void cblas_##letter##gemm(int, int, int, int, int, int, S, const T *, int, const T *, int, S, T *, int); \
    void cblas_##letter##gemm(int layout, int ta, int tb, int m, int n, int k, S alpha, const T *a, int lda, \
                              const T *b, int ldb, S beta, T *c, int ldc)                                    \
    {                                                                                                        \
        letter##_loops(layout, ta, tb, m, n, k, VALUE(alpha), a, lda, b, ldb, VALUE(beta), c, ldc);          \
    }

#define AT(pointer) (*(pointer))
LOOPS(s, float, SAME)
LOOPS(d, double, SAME)
LOOPS(c, float complex, conjf)
LOOPS(z, double complex, conj)
C_FACE(s, float, float, SAME)
C_FACE(d, double, double, SAME)
C_FACE(c, float complex, const float complex *, AT)
C_FACE(z, double complex, const double complex *, AT)
