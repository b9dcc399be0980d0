/*
 * pass.c - the level-3 routines that the library does not compute: each call goes to the next BLAS as it
 * came.
 *
 * SPDX-License-Identifier: MIT
 */
#include "hook.h"

/* PASS_ON() - the function `name` with these parameters, which calls its namesake with these arguments. */
#define PASS_ON(name, parameters, arguments)                                                                 \
    OZG_API void name parameters;                                                                            \
    void name parameters                                                                                     \
    {                                                                                                        \
        ((void(*) parameters)ozg_hook_next(OZG_HOOK_ENTRY(name))) arguments;                                 \
    }

/* Fortran: addresses, then one hidden length for each character argument. */
typedef const void *at;

#define F_SYMM(name) /* (side, uplo, m, n | uplo, trans, n, k), alpha, A, lda, B, ldb, beta, C, ldc */       \
    PASS_ON(name,                                                                                            \
            (at o1, at o2, at m, at n, at alpha, at a, at lda, at b, at ldb, at beta, void *c, at ldc,       \
             size_t l1, size_t l2),                                                                          \
            (o1, o2, m, n, alpha, a, lda, b, ldb, beta, c, ldc, l1, l2))
#define F_SYRK(name) /* uplo, trans, n, k, alpha, A, lda, beta, C, ldc */                                    \
    PASS_ON(name,                                                                                            \
            (at uplo, at trans, at n, at k, at alpha, at a, at lda, at beta, void *c, at ldc, size_t l1,     \
             size_t l2),                                                                                     \
            (uplo, trans, n, k, alpha, a, lda, beta, c, ldc, l1, l2))
#define F_TRMM(name) /* side, uplo, transa, diag, m, n, alpha, A, lda, B, ldb */                             \
    PASS_ON(name,                                                                                            \
            (at side, at uplo, at trans, at diag, at m, at n, at alpha, at a, at lda, void *b, at ldb,       \
             size_t l1, size_t l2, size_t l3, size_t l4),                                                    \
            (side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb, l1, l2, l3, l4))

/* CBLAS: options and sizes are int; real scalars come by value, complex ones by address. */
#define C_SYMM(name, scalar1, scalar2) /* as F_SYMM, with the layout in front */                             \
    PASS_ON(name,                                                                                            \
            (int layout, int o1, int o2, int m, int n, scalar1 alpha, at a, int lda, at b, int ldb,          \
             scalar2 beta, void *c, int ldc),                                                                \
            (layout, o1, o2, m, n, alpha, a, lda, b, ldb, beta, c, ldc))
#define C_SYRK(name, scalar)                                                                                 \
    PASS_ON(name,                                                                                            \
            (int layout, int uplo, int trans, int n, int k, scalar alpha, at a, int lda, scalar beta,        \
             void *c, int ldc),                                                                              \
            (layout, uplo, trans, n, k, alpha, a, lda, beta, c, ldc))
#define C_TRMM(name, scalar)                                                                                 \
    PASS_ON(name,                                                                                            \
            (int layout, int side, int uplo, int trans, int diag, int m, int n, scalar alpha, at a, int lda, \
             void *b, int ldb),                                                                              \
            (layout, side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb))
#include "level3.inc"
