/*
 * blas.c - the Fortran entries of ?gemm.
 *
 * Compilers add the lengths of the two character arguments at the end; C programs leave them out. They are
 * only ever handed on, so it does not matter what stands there.
 *
 * SPDX-License-Identifier: MIT
 */
#include <ctype.h>

#include "hook.h"

/* serve() - true: done; false: the next BLAS must do it. */
static bool serve(ozg_hook_entry *entry, ozg_hook_gemm *call)
{
    int number = ozg_hook_gemm_check(call);
    char routine[] = "?GEMM ";

    if (number == 0)
        return ozg_hook_gemm_run(entry, call);
    routine[0] = (char)toupper(call->type);
    ozg_hook_count(entry, OZG_HOOK_ERROR);
    ozg_hook_xerbla(routine, number);
    return true;
}

#define PARAMETERS(integer)                                                                                  \
    const char *transa, const char *transb, const integer *m, const integer *n, const integer *k,            \
        const void *alpha, const void *a, const integer *lda, const void *b, const integer *ldb,             \
        const void *beta, void *c, const integer *ldc, size_t lena, size_t lenb

#define F_GEMM(name, type, integer)                                                                          \
    OZG_API void name(PARAMETERS(integer));                                                                  \
    void name(PARAMETERS(integer))                                                                           \
    {                                                                                                        \
        ozg_hook_entry *entry = OZG_HOOK_ENTRY(name);                                                        \
        ozg_hook_gemm call = {type, *transa, *transb, *m, *n, *k, alpha, a, *lda, b, *ldb, beta, c, *ldc};   \
        if (!serve(entry, &call))                                                                            \
            ((void (*)(PARAMETERS(integer)))ozg_hook_next(entry))(transa, transb, m, n, k, alpha, a, lda, b, \
                                                                  ldb, beta, call.c, ldc, lena, lenb);       \
        ozg_hook_gemm_settle(&call, c);                                                                      \
    }
#include "level3.inc"
