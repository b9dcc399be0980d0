/*
 * errors.h - expect a failed call: its status, its sentence and the argument that the sentence names.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TEST_ERRORS_H
#define TEST_ERRORS_H

#include <ozgemm.h>

/*
 * error_is() - got is want, and ozg_last_error(ctx) is one sentence that names "argument NUMBER" (0: need not
 * name any) and holds no line break. Returns 0 with a message otherwise.
 */
int error_is(const ozg_context *ctx, ozg_status got, ozg_status want, int number);

/* expect_error() - the same inside a cmocka test: it fails where the call stands. Include cmocka.h first. */
#define expect_error(ctx, call, want, number) assert_true(error_is(ctx, call, want, number))

#endif
