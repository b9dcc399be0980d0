/*
 * plan.h - every decision for one product: moduli, width, tiles, workspace. Made from the shape alone, in
 * microseconds.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_PLAN_H
#define OZG_PLAN_H

#include "context.h"
#include "cpu/kernel.h"

struct ozg_plan {
    ozg_context *ctx;
    ozg_shape shape;
    int prepared_a, prepared_b;
    int nmod, width; /* nmod: canonical moduli, which decide the width */
    const ozg_rns *rns;
    const ozg_kernel *kernel;
    int64_t mt, nt, kt; /* tile of C, and chunk of k */
    int threads;
    size_t scratch_bytes; /* of each thread */
    size_t workspace;     /* bytes, with slack to align the caller's */
    /* what follows are places in the workspace */
    size_t lines_a, lines_b, planes_a, planes_b, residues, scratch;
};

/* ozg_plan_make() - decides. m, n, k > 0, the shape checked. Errors: OZG_E_UNSUPPORTED, OZG_E_WORKSPACE,
 * OZG_E_NOMEM. */
ozg_status ozg_plan_make(ozg_plan *plan, ozg_context *ctx, const ozg_shape *shape, int prepared_a,
                         int prepared_b);

/* ozg_plan_accuracy() - moduli and width of a request at this k. Errors: OZG_E_UNSUPPORTED. */
ozg_status ozg_plan_accuracy(ozg_context *ctx, char type, int64_t k, ozg_accuracy acc, int *nmod, int *width);

/* Bytes of the ozg_lines of `count` lines, and the lines at that place. */
size_t ozg_lines_bytes(int64_t count);
ozg_lines ozg_lines_at(void *place, int64_t count);

/* The planes of `lines` lines of `k` elements at that place, and their bytes; planes = rns->nmod, complex 3
 * times that. */
size_t ozg_planes_bytes(const ozg_layout *layout, int planes, int64_t lines, int64_t k);
ozg_planes ozg_planes_at(void *place, const ozg_layout *layout, int64_t lines, int64_t k);

#endif
