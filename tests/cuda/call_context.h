/*
 * call_context.h - contexts for the tests of whole calls.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TEST_CUDA_CALL_CONTEXT_H
#define OZG_TEST_CUDA_CALL_CONTEXT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ozgemm.h"

static inline ozg_context *open_context(ozg_backend_kind backend, int device_pointers, size_t memory_limit,
                                        uint64_t repair_limit)
{
    ozg_config cfg;
    ozg_context *ctx;

    assert_int_equal(ozg_config_init(&cfg), OZG_OK);
    cfg.backend = backend;
    cfg.device_pointers = device_pointers;
    cfg.memory_limit = memory_limit;
    cfg.repair_limit = repair_limit;
    if (ozg_create(&ctx, &cfg))
        fail_msg("%s", ozg_last_error(NULL));
    return ctx;
}

#endif
