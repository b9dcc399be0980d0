/*
 * cblas.c - the C entries of ?gemm. A row-major product is the column-major product of the transposes, with A
 * and B exchanged: the bits are the same.
 *
 * SPDX-License-Identifier: MIT
 */
#include "hook.h"

/* The enumerations of cblas.h are of type int. */
enum { ROW_MAJOR = 101, COL_MAJOR = 102, NO_TRANS = 111, TRANS = 112, CONJ_TRANS = 113 };

static char trans_letter(int trans)
{
    switch (trans) {
    case NO_TRANS:
        return 'N';
    case TRANS:
        return 'T';
    case CONJ_TRANS:
        return 'C';
    default:
        return '\0';
    }
}

static void exchange(ozg_hook_gemm *call)
{
    ozg_hook_gemm old = *call;

    call->transa = old.transb;
    call->transb = old.transa;
    call->m = old.n;
    call->n = old.m;
    call->a = old.b;
    call->b = old.a;
    call->lda = old.ldb;
    call->ldb = old.lda;
}

/* The position in the C call of argument `number` of the Fortran call that was made from it. */
static int position_of(int number, bool exchanged)
{
    static const int exchanged_position[] = {[3] = 5, [4] = 4, [5] = 6, [8] = 11, [10] = 9, [13] = 14};

    return exchanged ? exchanged_position[number] : number + 1;
}

static void refuse(ozg_hook_entry *entry, int position, const char *form, int value)
{
    ozg_hook_count(entry, OZG_HOOK_ERROR);
    ozg_hook_cblas_xerbla(entry->name, position, form, value);
}

/* serve() - true: done; false: the next BLAS must do it. The letters of call are filled in here. */
static bool serve(ozg_hook_entry *entry, int layout, int transa, int transb, ozg_hook_gemm *call)
{
    int number;

    call->transa = trans_letter(transa);
    call->transb = trans_letter(transb);
    if (layout != ROW_MAJOR && layout != COL_MAJOR)
        refuse(entry, 1, "layout is %d, not CblasRowMajor or CblasColMajor\n", layout);
    else if (call->transa == '\0')
        refuse(entry, 2, "TransA is %d, not CblasNoTrans, CblasTrans or CblasConjTrans\n", transa);
    else if (call->transb == '\0')
        refuse(entry, 3, "TransB is %d, not CblasNoTrans, CblasTrans or CblasConjTrans\n", transb);
    else {
        if (layout == ROW_MAJOR)
            exchange(call);
        number = ozg_hook_gemm_check(call);
        if (number == 0)
            return ozg_hook_gemm_run(entry, call);
        refuse(entry, position_of(number, layout == ROW_MAJOR), "", 0);
    }
    return true;
}

#define PARAMETERS(scalar, integer)                                                                          \
    int layout, int transa, int transb, integer m, integer n, integer k, scalar alpha, const void *a,        \
        integer lda, const void *b, integer ldb, scalar beta, void *c, integer ldc

/* alpha_at, beta_at: the addresses of the scalars, which come by value if real and by address if complex. */
#define C_GEMM(name, type, scalar, alpha_at, beta_at, integer)                                               \
    OZG_API void name(PARAMETERS(scalar, integer));                                                          \
    void name(PARAMETERS(scalar, integer))                                                                   \
    {                                                                                                        \
        ozg_hook_entry *entry = OZG_HOOK_ENTRY(name);                                                        \
        ozg_hook_gemm call = {type, 0, 0, m, n, k, alpha_at, a, lda, b, ldb, beta_at, c, ldc};               \
        if (!serve(entry, layout, transa, transb, &call))                                                    \
            ((void (*)(PARAMETERS(scalar, integer)))ozg_hook_next(entry))(                                   \
                layout, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, call.c, ldc);                  \
        ozg_hook_gemm_settle(&call, c);                                                                      \
    }
#define C_GEMM_REAL(name, type, real, integer) C_GEMM(name, type, real, &alpha, &beta, integer)
#define C_GEMM_COMPLEX(name, type, integer)    C_GEMM(name, type, const void *, alpha, beta, integer)
#include "level3.inc"
