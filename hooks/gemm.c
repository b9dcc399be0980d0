/*
 * gemm.c - the ?gemm call that the Fortran and the C entries share: netlib's checks, the product, its
 * failures.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "hook.h"

static int64_t max64(int64_t x, int64_t y)
{
    return x > y ? x : y;
}

static bool is_trans(char trans)
{
    return trans != '\0' && strchr("NnTtCc", trans) != NULL;
}

static bool is_plain(char trans)
{
    return trans == 'N' || trans == 'n';
}

int ozg_hook_gemm_check(const ozg_hook_gemm *call)
{
    if (!is_trans(call->transa))
        return 1;
    if (!is_trans(call->transb))
        return 2;
    if (call->m < 0)
        return 3;
    if (call->n < 0)
        return 4;
    if (call->k < 0)
        return 5;
    if (call->lda < max64(1, is_plain(call->transa) ? call->m : call->k))
        return 8;
    if (call->ldb < max64(1, is_plain(call->transb) ? call->k : call->n))
        return 10;
    if (call->ldc < max64(1, call->m))
        return 13;
    return 0;
}

static bool is_single(char type)
{
    return type == 's' || type == 'c';
}

static size_t element_size(char type)
{
    size_t real = is_single(type) ? sizeof(float) : sizeof(double);

    return type == 'c' || type == 'z' ? 2 * real : real;
}

/* What the user asked for; native grade by default. */
static ozg_accuracy choose_accuracy(void)
{
    const ozg_hook_settings *settings = ozg_hook_env();

    return settings->moduli != 0 ? ozg_moduli(settings->moduli)
           : settings->rounded   ? ozg_rounded()
                                 : ozg_native();
}

static ozg_status product(ozg_context *context, const ozg_hook_gemm *g, ozg_accuracy accuracy)
{
    switch (g->type) {
    case 's':
        return ozg_sgemm(context, g->transa, g->transb, g->m, g->n, g->k, *(const float *)g->alpha, g->a,
                         g->lda, g->b, g->ldb, *(const float *)g->beta, g->c, g->ldc, accuracy, NULL);
    case 'd':
        return ozg_dgemm(context, g->transa, g->transb, g->m, g->n, g->k, *(const double *)g->alpha, g->a,
                         g->lda, g->b, g->ldb, *(const double *)g->beta, g->c, g->ldc, accuracy, NULL);
    case 'c':
        return ozg_cgemm(context, g->transa, g->transb, g->m, g->n, g->k, g->alpha, g->a, g->lda, g->b,
                         g->ldb, g->beta, g->c, g->ldc, accuracy, NULL);
    default:
        return ozg_zgemm(context, g->transa, g->transb, g->m, g->n, g->k, g->alpha, g->a, g->lda, g->b,
                         g->ldb, g->beta, g->c, g->ldc, accuracy, NULL);
    }
}

/* The elements of C from one place to another of the same layout. */
static void copy_matrix(void *to, const void *from, const ozg_hook_gemm *call)
{
    size_t size = element_size(call->type), step = (size_t)call->ldc * size;

    for (int64_t j = 0; j < call->n; j++)
        memcpy((char *)to + (size_t)j * step, (const char *)from + (size_t)j * step, (size_t)call->m * size);
}

/*
 * C shares elements with A or B, which BLAS leaves undefined: call->c becomes a copy of C, of the same
 * layout, and ozg_hook_gemm_settle() brings the result back. NULL if there is no memory.
 */
static void *move_output(ozg_hook_gemm *call)
{
    size_t size = element_size(call->type), elements = (size_t)(call->ldc * (call->n - 1) + call->m);
    void *copy = elements > SIZE_MAX / size ? NULL : malloc(elements * size);

    if (copy != NULL) {
        copy_matrix(copy, call->c, call);
        call->c = copy;
    }
    return copy;
}

void ozg_hook_gemm_settle(const ozg_hook_gemm *call, void *c)
{
    if (call->c == c)
        return;
    copy_matrix(c, call->c, call);
    free(call->c);
}

static bool compute(ozg_hook_gemm *call)
{
    ozg_accuracy accuracy = choose_accuracy();
    ozg_hook_loan loan;
    ozg_status status;

    loan = ozg_hook_take();
    if (loan.context == NULL)
        return false;
    status = product(loan.context, call, accuracy);
    if (status == OZG_E_ARG) { /* all but the overlap has been checked */
        if (move_output(call) == NULL) {
            ozg_hook_say("no memory to multiply in place; stopped, since no result would be right");
            abort();
        }
        status = product(loan.context, call, accuracy);
    }
    if (status != OZG_OK)
        ozg_hook_failed(ozg_last_error(loan.context));
    ozg_hook_give(loan);
    return status == OZG_OK;
}

bool ozg_hook_gemm_run(ozg_hook_entry *entry, ozg_hook_gemm *call)
{
    if (call->m == 0 || call->n == 0) {
        ozg_hook_count(entry, OZG_HOOK_EMPTY);
        return true;
    }
    if (!compute(call))
        return false;
    ozg_hook_count(entry, OZG_HOOK_EMULATED);
    return true;
}
