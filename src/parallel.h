/*
 * parallel.h - the one place where threads are used, and where the time is read.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_PARALLEL_H
#define OZG_PARALLEL_H

#include <stdint.h>

/*
 * ozg_parallel() - run(arg, task, thread) for task = 0..tasks-1 on up to `threads` threads, in any order.
 * thread counts from 0 and stays below threads. One thread inside a parallel region of the caller, and in a
 * forked child of a process that had several threads: those of OpenMP do not survive fork, and a region
 * would wait for them.
 */
void ozg_parallel(int threads, int64_t tasks, void (*run)(void *arg, int64_t task, int thread), void *arg);

/* ozg_parallel_threads() - the threads to use when asked for `wanted` (0: as OpenMP says); at least 1. */
int ozg_parallel_threads(int wanted);

/* ozg_nanoseconds() - of a clock that only moves forward. */
uint64_t ozg_nanoseconds(void);

#endif
