/*
 * fixture.h - what most tests of products share: all micro-kernels, and guarded memory for one product at a time.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TEST_FIXTURE_H
#define TEST_FIXTURE_H

#include "check.h"

extern struct kernels kernels;
extern struct arena arena;

/* fixture_open() - bytes for each matrix, contexts with so many threads. For a group setup: returns 0 or -1. */
int fixture_open(size_t bytes_each, int threads);

/* fixture_close() - the group teardown. */
int fixture_close(void **state);

#endif
