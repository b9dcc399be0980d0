/*
 * bench_system.h - what a measurement asks of the system: memory, threads of the native BLAS, settings that
 * falsify.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TOOL_BENCH_SYSTEM_H
#define OZG_TOOL_BENCH_SYSTEM_H

#include <stddef.h>
#include <jansson.h>

#include "native.h"

/* memory_mark() - from now on the peak counts; returns the bytes that this process holds now. */
size_t memory_mark(void);

/* memory_peak() - the most bytes that the process has held since memory_mark(), above those it held then. */
size_t memory_peak(size_t mark);

/* memory_obtained() - one sentence: how memory_peak() knows. After the first memory_mark(). */
const char *memory_obtained(void);

/*
 * blas_set_threads() - tell the native BLAS; NULL if it took the number, else a sentence that says why this
 * is not known. The sentence stays until the next call.
 */
const char *blas_set_threads(const struct native *lib, int threads);

/* default_threads() - as OpenMP says; 1 in a build without. */
int default_threads(void);

/*
 * spin_seconds() - how long waiting threads of the libraries may go on spinning after a call: 0.05, and where
 * the OpenMP of LLVM or Intel runs, what it says (usually 0.2 s).
 */
double spin_seconds(const struct native *lib);

/*
 * slow_blas() - an array of sentences: what makes the native BLAS slower than it can be here. That are
 * variables of the environment, and code for a processor that lacks what this one has. lib may be NULL.
 */
json_t *slow_blas(const struct native *lib);

#endif
