/*
 * bench_limit.h - how fast a micro-kernel can be on this machine, as far as a caller of the library can see.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TOOL_BENCH_LIMIT_H
#define OZG_TOOL_BENCH_LIMIT_H

#include "ozgemm.h"

/* limit_obtained - one sentence: how this rate is measured, and what it is not. */
extern const char limit_obtained[];

/*
 * limit_rate() - low-precision multiply-adds a second of the product stage with this kernel: threads products
 * at once, each on one thread with a context of its own, whose residues of one modulus stay in the cache. The
 * sum of the fastest products of the threads. Takes the seconds given, or what a few small products take.
 */
double limit_rate(const ozg_config *config, const char *kernel, int threads, double seconds);

/* limit_work() - the low-precision multiply-adds of a product, all moduli together. */
double limit_work(const ozg_report *report, int64_t m, int64_t n, int64_t k);

#endif
