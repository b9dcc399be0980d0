/*
 * monitor_block.h - a call of the monitor, and the check of a block of its entries.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_MONITOR_BLOCK_H
#define OZG_MONITOR_BLOCK_H

#include <string.h>

#include "driver.h"

/* Rows of op(A), or columns of op(B): index[0..chosen) are those to be checked, then come the others. */
typedef struct ozg_monitor_side {
    ozg_view view;
    int64_t count, chosen;
    int64_t *index;
} ozg_monitor_side;

/* E, R and W: monitor_block.c. */
typedef struct ozg_monitor_call {
    ozg_context *ctx;
    ozg_context *maker; /* of the products: the same; the CPU's where matrices are on a device */
    const ozg_shape *s;
    const ozg_data *d;        /* d->c: C, which is only read */
    const void *alpha, *beta; /* as given, numbers of the type */
    const void *c0;
    int64_t ldc0;
    int single, parts; /* components of an element */
    int64_t k;         /* 0 also for alpha = 0: nothing to multiply */
    ozg_monitor_side rows, columns;
    /* the block: some of the other lines meet some of the chosen ones */
    const ozg_monitor_side *of_others, *of_chosen;
    const int64_t *other, *chosen;
    int64_t others, count;
    /* lines of k elements, one after the other; and others x count elements, column-major */
    void *y, *x;
    void *given_y, *given_x, *given_c, *given_c0; /* as they are on a device; NULL: they are the host's */
    void *expected;                               /* E, in the type of the call */
    double *residual, *weight[2];                 /* R; W of each component, others x count numbers */
    ozg_monitor *result;
} ozg_monitor_call;

/* Component `at` of numbers of the type. */
static inline double ozg_monitor_number(const ozg_monitor_call *w, const void *x, int64_t at)
{
    const uint64_t bits = ozg_load_bits(x, w->single, at);
    double value;

    memcpy(&value, &bits, 8);
    return value;
}

static inline int ozg_monitor_beta_is_zero(const ozg_monitor_call *w)
{
    return ozg_is_zero(w->d->beta[0]) && ozg_is_zero(w->d->beta[1]);
}

/*
 * ozg_monitor_check_block() - judges the entries where the other lines of the block meet the chosen ones, into
 * w->result. Errors: those of products and of copies from a device.
 */
ozg_status ozg_monitor_check_block(ozg_monitor_call *w);

#endif
