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
    int nmod, width; /* canonical moduli; native and rounded: a guess until the data are known, and width 0 */
    int64_t rows, columns; /* of C: all, or those of a part (apart.h) */
    int64_t mt, nt, kt;    /* tile of C, and chunk of k */
    size_t workspace;      /* bytes, with slack to align the caller's */
    const ozg_rns *rns;
    int streamed; /* CUDA: matrices of the host come and go by tiles (cuda/stream.h) */
    /* what follows is the CPU's */
    const ozg_kernel *kernel; /* NULL on other devices */
    int threads;
    int winograd;         /* one level of it, in tiles that are large enough */
    size_t scratch_bytes; /* of each thread */
    /* what follows are places in the workspace */
    size_t lines_a, lines_b, index, far, shifts, sample, planes_a, planes_b, sums_a, sums_b, residues, floors;
    size_t ceilings, scratch;
};

/* ozg_plan_make() - decides, with the context's backend. m, n, k > 0, the shape checked. Errors:
 * OZG_E_UNSUPPORTED, OZG_E_WORKSPACE, OZG_E_NOMEM. */
ozg_status ozg_plan_make(ozg_plan *plan, ozg_context *ctx, const ozg_shape *shape, int prepared_a,
                         int prepared_b);

/* ozg_plan_cpu() - the CPU's part of it: kernel, threads, tiles, workspace. */
ozg_status ozg_plan_cpu(ozg_plan *plan);

/*
 * ozg_plan_settle() - cuts the tiles again for nmod moduli and the plan's rows and columns, within the
 * workspace that it has. Cannot fail but for OZG_E_NOMEM (tables): ozg_plan_make() left room for the smallest
 * tile of 49.
 */
ozg_status ozg_plan_settle(ozg_plan *plan, int nmod);

/*
 * ozg_plan_accuracy() - moduli and width of a request at this k; native and rounded: the number of moduli
 * asked for, or 0, and width 0. Errors: OZG_E_UNSUPPORTED.
 */
ozg_status ozg_plan_accuracy(ozg_context *ctx, char type, int64_t k, ozg_accuracy acc, int *nmod, int *width);

/* ozg_by_data() - the accuracy is native or rounded: the scaling follows from the data, and entries are
 * tested.
 */
static inline int ozg_by_data(ozg_accuracy acc)
{
    return acc.kind == OZG_BY_NATIVE || acc.kind == OZG_BY_ROUNDED;
}

/* ozg_plan_apart() - lines may be computed apart: native, and nobody fixed the moduli. */
int ozg_plan_apart(const ozg_plan *plan);

/* Bytes of the ozg_lines of `count` lines of k elements, and the lines at that place. places: with them. */
size_t ozg_lines_bytes(int64_t count, int64_t k, int places);
ozg_lines ozg_lines_at(void *place, const ozg_view *view, int64_t count, int64_t k, int places);

/* The planes of `lines` lines of `k` elements at that place, and their bytes. */
size_t ozg_planes_bytes(const ozg_layout *layout, int planes, int64_t lines, int64_t k);
ozg_planes ozg_planes_at(void *place, const ozg_layout *layout, int64_t lines, int64_t k);

/* ozg_plan_planes() - planes of an operand: of residues, complex 3 each, and of floors. */
int ozg_plan_planes(char type, ozg_accuracy acc, int nmod);

#endif
