/*
 * hook.h - what the files of libozgemm_blas.so share: the list of exported names, settings, contexts, the
 * next BLAS.
 *
 * One call, as a straight line:  dgemm_ (blas.c) or cblas_dgemm (cblas.c) checks the arguments -> gemm.c
 * lends a context (pool.c) and calls the library -> where that fails, the next BLAS does it (next.c).
 * Everything that is not a ?gemm goes to the next BLAS at once (pass.c).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_HOOK_H
#define OZG_HOOK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ozgemm.h"

/* ---- the exported names (log.c) ----------------------------------------------------------------- */

typedef void (*ozg_hook_fn)(void); /* any function; its caller knows the true type */

/* What became of a call. */
typedef enum ozg_hook_outcome {
    OZG_HOOK_EMULATED, /* computed by the library */
    OZG_HOOK_PASSED,   /* done by the next BLAS */
    OZG_HOOK_EMPTY,    /* m = 0 or n = 0: nothing to do */
    OZG_HOOK_ERROR,    /* an argument was wrong */
    OZG_HOOK_OUTCOMES
} ozg_hook_outcome;

typedef struct ozg_hook_entry {
    const char *name;
    _Atomic(ozg_hook_fn) next; /* the same name in the next BLAS; NULL as long as none was found */
    atomic_ullong count[OZG_HOOK_OUTCOMES];
} ozg_hook_entry;

enum {
#define ENTRY(name) OZG_HOOK_##name,
#include "level3.inc"
    OZG_HOOK_ENTRIES
};

/* The entry of an exported name: OZG_HOOK_ENTRY(dgemm_). */
extern ozg_hook_entry ozg_hook_entries[OZG_HOOK_ENTRIES];
#define OZG_HOOK_ENTRY(name) (&ozg_hook_entries[OZG_HOOK_##name])

/* ozg_hook_count() - one more call of this outcome; costs nothing unless OZG_LOG is 1. */
void ozg_hook_count(ozg_hook_entry *entry, ozg_hook_outcome outcome);

/* ozg_hook_failed() - remember why the library could not serve a call (the first reason of the process is
 * kept). */
void ozg_hook_failed(const char *reason);

/* ozg_hook_say() - one line on standard error, as printf(); the name of the library is put in front. */
void ozg_hook_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- settings (env.c) --------------------------------------------------------------------------- */

/* All zero is the default of every setting, so that a call before the library's own start is served as well.
 */
typedef struct ozg_hook_settings {
    int moduli;      /* 2..49, and no more than that is promised; 0: as the accuracy says */
    bool rounded;    /* every entry correctly rounded; else native grade */
    int threads;     /* 0: as OpenMP says */
    size_t memory;   /* bytes of workspace of one product; 0: the library's default */
    char kernel[32]; /* name of a micro-kernel; "": the fastest */
    int log;         /* 1: one line at exit */
} ozg_hook_settings;

/* ozg_hook_env() - the settings, read when the library was loaded. */
const ozg_hook_settings *ozg_hook_env(void);

/* ozg_hook_env_report() - say once in a process which settings are wrong, and check the name of the kernel.
 */
void ozg_hook_env_report(void);

/* ---- contexts (pool.c) -------------------------------------------------------------------------- */

typedef struct ozg_hook_loan {
    ozg_context *context; /* NULL: none could be made */
    bool wide;            /* it is the one that may use several threads */
} ozg_hook_loan;

/* ozg_hook_take(), ozg_hook_give() - lend a context to this thread, and take it back. */
ozg_hook_loan ozg_hook_take(void);
void ozg_hook_give(ozg_hook_loan loan);

/* ---- the rest of the process (next.c, xerbla.c) ------------------------------------------------- */

/* ozg_hook_next() - the routine of the same name in the next BLAS. Never NULL: without any, it says so and
 * aborts. */
ozg_hook_fn ozg_hook_next(ozg_hook_entry *entry);

/* ozg_hook_lookup() - a symbol of the program or of any loaded object, not of this library; NULL if there is
 * none. */
void *ozg_hook_lookup(const char *name);

/* ozg_hook_xerbla() - report a wrong argument of a Fortran routine ("DGEMM ") through the program's xerbla_.
 */
void ozg_hook_xerbla(const char *routine, int number);

/*
 * ozg_hook_cblas_xerbla() - report a wrong argument of a CBLAS routine by its position in the C call, through
 * the program's cblas_xerbla, else xerbla_. form is "" or has one %d for value.
 */
void ozg_hook_cblas_xerbla(const char *routine, int position, const char *form, int value);

/* ---- products (gemm.c) -------------------------------------------------------------------------- */

/* A ?gemm call, column-major. alpha and beta point to one number of the type, for c and z to a pair. */
typedef struct ozg_hook_gemm {
    char type; /* 's', 'd', 'c' or 'z' */
    char transa, transb;
    int64_t m, n, k;
    const void *alpha, *a;
    int64_t lda;
    const void *b;
    int64_t ldb;
    const void *beta;
    void *c;
    int64_t ldc;
} ozg_hook_gemm;

/* ozg_hook_gemm_check() - the number of the first wrong argument of the Fortran call, in netlib's order; 0:
 * none. */
int ozg_hook_gemm_check(const ozg_hook_gemm *call);

/*
 * ozg_hook_gemm_run() - compute a call whose arguments are right, and count it. An output that shares
 * elements with an input is computed as if the inputs had been copied first. false: C is as before, and the
 * next BLAS must do it.
 */
bool ozg_hook_gemm_run(ozg_hook_entry *entry, ozg_hook_gemm *call);

/*
 * ozg_hook_gemm_settle() - after the call was served or passed on with call->c: the result to the program's
 * c.
 */
void ozg_hook_gemm_settle(const ozg_hook_gemm *call, void *c);

#endif
