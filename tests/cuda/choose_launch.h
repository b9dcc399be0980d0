/*
 * choose_launch.h - a launch of ozg_cuda_choose, for the tests that compare what it decides and what it decides by.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TEST_CUDA_CHOOSE_LAUNCH_H
#define OZG_TEST_CUDA_CHOOSE_LAUNCH_H

#include <stdlib.h>
#include <string.h>

#include "cpu/kernel.h"
#include "cuda/kernels.h"
#include "emulate.h"
#include "stage.h"

/* Memory aligned as a device's is, with bytes that nobody should take for data. */
static inline void *aligned(size_t bytes)
{
    void *x = aligned_alloc(256, (bytes + 255) / 256 * 256);

    assert_non_null(x);
    memset(x, 0xcd, bytes);
    return x;
}

/*
 * launch_choose() - with args->state, a and b set, and what the call does not need 0: the request for the product of
 * these lines, and the launch in so many blocks. args->memory is to be freed.
 */
static inline void launch_choose(const ozg_stage *st, char type, int blocks, ozg_cuda_choose_args *args)
{
    args->request.kind = st->kind;
    args->request.single = st->scalars.single;
    args->request.complex_ = st->scalars.complex_;
    args->request.measured = 1;
    args->request.m = args->a.count;
    args->request.n = args->b.count;
    args->request.k = st->k;
    args->request.length = st->length;
    args->rate = st->kernel->rate;
    ozg_cuda_choose_limits(&args->limits, st->length);
    args->bytes = ozg_cuda_choose_bytes(type, args->a.count, args->b.count, st->k);
    args->memory = aligned(args->bytes);
    memset(args->memory, 0, OZG_CUDA_CHOOSE_ZERO);
    assert_int_equal(
        ozg_emulated_launch_cooperative("ozg_cuda_choose", blocks, OZG_CUDA_CHOOSE_THREADS, 0, args),
        OZG_EMULATED_OK);
}

#endif
