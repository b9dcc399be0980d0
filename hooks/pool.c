/*
 * pool.c - lends contexts to calling threads: a context serves one thread at a time, callers come from
 * everywhere.
 *
 * One context, the wide one, may use several threads. It goes to a caller that is alone; everybody who comes
 * while it is away, or from inside a parallel region, gets a narrow one with one thread, so that the callers'
 * threads are never multiplied by ours. The bits do not depend on it.
 *
 * Nothing is ever locked while a product runs, and nothing is kept per thread: a narrow context goes back
 * into the first free slot, so that there are never more of them than there were callers at once. The slots
 * are atomic pointers, so fork() at any moment leaves them usable; what another thread had on loan at that
 * moment is lost to the child (if it was the wide one, the child computes with one thread).
 *
 * SPDX-License-Identifier: MIT
 */
#ifdef _OPENMP
#include <omp.h>
#endif

#include "hook.h"

enum { SLOTS = 256 }; /* narrow contexts kept; callers beyond it make and destroy their own */

static _Atomic(ozg_context *) narrow[SLOTS];
static ozg_context *wide; /* belongs to the holder of wide_taken */
static atomic_flag wide_taken = ATOMIC_FLAG_INIT;

static bool in_parallel_region(void)
{
#ifdef _OPENMP
    return omp_in_parallel() != 0;
#else
    return false;
#endif
}

static ozg_context *make_context(int threads)
{
    const ozg_hook_settings *settings = ozg_hook_env();
    ozg_config config;
    ozg_context *context = NULL;

    ozg_hook_env_report();
    if (ozg_config_init(&config) != OZG_OK)
        return NULL;
    config.backend = OZG_BACKEND_CPU;
    config.threads = threads;
    config.memory_limit = settings->memory;
    config.kernel = settings->kernel[0] != '\0' ? settings->kernel : NULL;
    if (ozg_create(&context, &config) != OZG_OK) {
        ozg_hook_failed(ozg_last_error(NULL));
        return NULL;
    }
    return context;
}

ozg_hook_loan ozg_hook_take(void)
{
    ozg_context *context;

    if (!in_parallel_region() && !atomic_flag_test_and_set_explicit(&wide_taken, memory_order_acquire)) {
        if (wide == NULL)
            wide = make_context(ozg_hook_env()->threads);
        if (wide != NULL)
            return (ozg_hook_loan){wide, true};
        atomic_flag_clear_explicit(&wide_taken, memory_order_release);
    }
    for (int i = 0; i < SLOTS; i++) {
        if (atomic_load_explicit(&narrow[i], memory_order_relaxed) == NULL)
            continue;
        context = atomic_exchange_explicit(&narrow[i], NULL, memory_order_acquire);
        if (context != NULL)
            return (ozg_hook_loan){context, false};
    }
    return (ozg_hook_loan){make_context(1), false};
}

void ozg_hook_give(ozg_hook_loan loan)
{
    if (loan.context == NULL)
        return;
    if (loan.wide) {
        atomic_flag_clear_explicit(&wide_taken, memory_order_release);
        return;
    }
    for (int i = 0; i < SLOTS; i++) {
        ozg_context *none = NULL;
        if (atomic_load_explicit(&narrow[i], memory_order_relaxed) == NULL &&
            atomic_compare_exchange_strong_explicit(&narrow[i], &none, loan.context, memory_order_release,
                                                    memory_order_relaxed))
            return;
    }
    ozg_destroy(loan.context);
}
