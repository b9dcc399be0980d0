/*
 * fixture.c - the kernels and the memory of a group of tests.
 *
 * SPDX-License-Identifier: MIT
 */
#include "fixture.h"

struct kernels kernels;
struct arena arena;

int fixture_open(size_t bytes_each, int threads)
{
    arena_open(&arena, bytes_each);
    return kernels_open(&kernels, threads) ? 0 : -1;
}

int fixture_close(void **state)
{
    (void)state;
    kernels_close(&kernels);
    arena_close(&arena);
    return 0;
}
