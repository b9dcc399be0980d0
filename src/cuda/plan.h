/*
 * plan.h - how a product is cut on a CUDA device, and where everything is in its workspace. From the shape
 * alone.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_PLAN_H
#define OZG_CUDA_PLAN_H

#include "cuda/kernels.h"
#include "driver.h"

/* What is where. size_t: bytes from the beginning of the workspace. */
typedef struct ozg_cuda_places {
    int planes;                      /* of one operand */
    int64_t pitch, lines_a, lines_b; /* of the planes; the residues have ld lines_a */
    int64_t columns;                 /* of the residues */
    int64_t places;                  /* 64-bit words of a line, 0: not wanted */
    int64_t ld_a, ld_b, ld_c;        /* of the copies of matrices of the host; elements */
    int64_t columns_a, columns_b;
    size_t state;
    size_t line[2];  /* of A and B, from e to rmax */
    size_t sums[2];  /* from most to rtop */
    size_t line_end; /* behind sums[1]: reports need line[0] .. line_end */
    size_t choose, choose_bytes;
    size_t chunks[2]; /* of scale */
    size_t zero,
        zero_bytes; /* what begin clears: sums[0] (fixed accuracies: line[0]) .. line_end, and of choose */
    size_t special[2], place[2], index[2], shift[2];
    size_t a, b, c; /* copies of matrices of the host; streamed: of blocks of them, two of B and of C, */
    size_t slot_b, slot_c; /* so many bytes from one to the other */
    size_t plane[2], residues, floors, list;
    size_t bytes; /* with slack to align the caller's */
} ozg_cuda_places;

/*
 * ozg_cuda_plan() - tiles and workspace, for device pointers or those of the host as the context has it: the
 * `plan` of backend.h. nmod: how many moduli there is room for, OZG_NMOD_MAX where the data choose. Errors:
 * OZG_E_WORKSPACE, OZG_E_NOMEM.
 */
ozg_status ozg_cuda_plan(ozg_plan *plan);

/*
 * ozg_cuda_whole() - of a plan that is streamed: A and B are on the device as wholes, and only C is not. So it is
 * where something is decided by all of both.
 */
static inline int ozg_cuda_whole(const ozg_plan *plan)
{
    return plan->shape.acc.kind != OZG_BY_MODULI && plan->shape.acc.kind != OZG_BY_WIDTH;
}

/*
 * ozg_cuda_settle() - cuts the tiles again where the host has learnt the number of moduli, within the
 * workspace that the plan has. Errors: OZG_E_NOMEM (tables).
 */
ozg_status ozg_cuda_settle(ozg_plan *plan, int nmod);

/* ozg_cuda_rns() - the residue system in place of the canonical nmod moduli. Errors: OZG_E_NOMEM. */
static inline ozg_status ozg_cuda_rns(const ozg_rns **rns, char type, int nmod)
{
    return ozg_type_complex(type) ? ozg_rns_complex(rns, nmod) : ozg_rns_get(rns, 1, nmod);
}

/* ozg_cuda_residue_planes() - planes of residues of an operand, and of sums. Rises with nmod. */
int ozg_cuda_residue_planes(char type, int nmod);

/* ozg_cuda_planes_of() - the same with planes of floors. */
int ozg_cuda_planes_of(char type, ozg_accuracy acc, int nmod);

/* ozg_cuda_chosen() - the data choose the number of moduli; so that nobody knows it when work is enqueued. */
static inline int ozg_cuda_chosen(const ozg_plan *plan)
{
    return ozg_by_data(plan->shape.acc) && !plan->shape.acc.value;
}

/* ozg_cuda_place() - the places of a plan whose tiles are cut. */
void ozg_cuda_place(const ozg_plan *plan, ozg_cuda_places *places);

/*
 * ozg_cuda_line_bytes(), ozg_cuda_sum_bytes() - of what is known of `count` lines: the arrays from e to
 * rmax; those from most to rtop, which begin clears. ozg_cuda_lines_of() - lines with these at `line` and
 * `sums`.
 */
size_t ozg_cuda_line_bytes(int64_t count);
size_t ozg_cuda_sum_bytes(int64_t count, int accurate);
ozg_cuda_lines ozg_cuda_lines_of(const ozg_view *view, int64_t count, int64_t k, int accurate,
                                 unsigned char *line, unsigned char *sums);

/* ozg_cuda_lines_at() - the lines of A (side 0) or B (side 1) in the workspace at `base`. */
ozg_cuda_lines ozg_cuda_lines_at(const ozg_plan *plan, const ozg_cuda_places *places, unsigned char *base,
                                 int side, const ozg_view *view);

/* ozg_cuda_tiles() - how many tiles of `unit` cover `count`. */
static inline int64_t ozg_cuda_tiles(int64_t count, int64_t unit)
{
    return count > 0 ? (count - 1) / unit + 1 : 0;
}

#endif
