/*
 * calls.c - see calls.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "calls.h"

#define FORTRAN_GEMM(name)                                                                                   \
    void name(const char *, const char *, const int *, const int *, const int *, const void *, const void *, \
              const int *, const void *, const int *, const void *, void *, const int *)
#define CBLAS_GEMM(name, scalar)                                                                             \
    void name(int, int, int, int, int, int, scalar, const void *, int, const void *, int, scalar, void *, int)

FORTRAN_GEMM(sgemm_);
FORTRAN_GEMM(dgemm_);
FORTRAN_GEMM(cgemm_);
FORTRAN_GEMM(zgemm_);
CBLAS_GEMM(cblas_sgemm, float);
CBLAS_GEMM(cblas_dgemm, double);
CBLAS_GEMM(cblas_cgemm, const void *);
CBLAS_GEMM(cblas_zgemm, const void *);

int check_failures;

int check_status(void)
{
    if (check_failures > 0)
        printf("%d checks failed\n", check_failures);
    return check_failures > 0;
}

bool is_complex(char type)
{
    return type == 'c' || type == 'z';
}

static bool is_single(char type)
{
    return type == 's' || type == 'c';
}

size_t size_of(char type)
{
    return (is_complex(type) ? 2 : 1) * (is_single(type) ? sizeof(float) : sizeof(double));
}

size_t element(interface face, int i, int j, int ld)
{
    return face == CBLAS_ROWS ? (size_t)i * (size_t)ld + (size_t)j : (size_t)j * (size_t)ld + (size_t)i;
}

void store(char type, void *matrix, size_t x, double re, double im)
{
    size_t parts = is_complex(type) ? 2 : 1;
    const double value[2] = {re, im};

    for (size_t p = 0; p < parts; p++) {
        if (is_single(type))
            ((float *)matrix)[parts * x + p] = (float)value[p];
        else
            ((double *)matrix)[parts * x + p] = value[p];
    }
}

void load(char type, const void *matrix, size_t x, double value[2])
{
    size_t parts = is_complex(type) ? 2 : 1;

    value[1] = 0;
    for (size_t p = 0; p < parts; p++)
        value[p] = is_single(type) ? ((const float *)matrix)[parts * x + p]
                                   : ((const double *)matrix)[parts * x + p];
}

static void call_fortran(const gemm_call *g, const void *alpha, const void *beta)
{
    FORTRAN_GEMM((*routine)) = g->type == 's'   ? sgemm_
                               : g->type == 'd' ? dgemm_
                               : g->type == 'c' ? cgemm_
                                                : zgemm_;

    routine(&g->transa, &g->transb, &g->m, &g->n, &g->k, alpha, g->a, &g->lda, g->b, &g->ldb, beta, g->c,
            &g->ldc);
}

static int trans_number(char trans)
{
    return trans == 'N' ? NO_TRANS : trans == 'T' ? TRANS : CONJ_TRANS;
}

void call_gemm(interface face, const gemm_call *g)
{
    int layout = face == CBLAS_ROWS ? ROW_MAJOR : COL_MAJOR;
    int ta = trans_number(g->transa), tb = trans_number(g->transb);
    double alpha[2], beta[2]; /* room for a number of any type */

    store(g->type, alpha, 0, g->alpha[0], g->alpha[1]);
    store(g->type, beta, 0, g->beta[0], g->beta[1]);
    if (face == FORTRAN)
        call_fortran(g, alpha, beta);
    else if (g->type == 's')
        cblas_sgemm(layout, ta, tb, g->m, g->n, g->k, (float)g->alpha[0], g->a, g->lda, g->b, g->ldb,
                    (float)g->beta[0], g->c, g->ldc);
    else if (g->type == 'd')
        cblas_dgemm(layout, ta, tb, g->m, g->n, g->k, g->alpha[0], g->a, g->lda, g->b, g->ldb, g->beta[0],
                    g->c, g->ldc);
    else if (g->type == 'c')
        cblas_cgemm(layout, ta, tb, g->m, g->n, g->k, alpha, g->a, g->lda, g->b, g->ldb, beta, g->c, g->ldc);
    else
        cblas_zgemm(layout, ta, tb, g->m, g->n, g->k, alpha, g->a, g->lda, g->b, g->ldb, beta, g->c, g->ldc);
}
