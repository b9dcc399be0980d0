/*
 * emulate_lock.h - a lock that tells when its own thread comes again: a kernel that died by a signal, from
 * which the test came back by longjmp(), left it locked.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TEST_CUDA_EMULATE_LOCK_H
#define OZG_TEST_CUDA_EMULATE_LOCK_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t ozg_lock_one;

__attribute__((constructor)) static void ozg_lock_start(void)
{
    pthread_mutexattr_t kind;

    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&ozg_lock_one, &kind);
    pthread_mutexattr_destroy(&kind);
}

static void ozg_lock(void)
{
    if (pthread_mutex_lock(&ozg_lock_one) != 0) {
        fputs("the launch before this one never came back: its kernel died\n", stderr);
        abort();
    }
}

static void ozg_unlock(void)
{
    pthread_mutex_unlock(&ozg_lock_one);
}

#endif
