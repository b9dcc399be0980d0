/*
 * backend.h - what a backend offers, and what passes between the stages of the CPU's.
 *
 * Lines (lines.h) of a tile are stored in micro-panels; see ozg_layout.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_BACKEND_H
#define OZG_BACKEND_H

#include <stdatomic.h>

#include "arith/entry.h"
#include "lines.h"
#include "rns.h"

/*
 * ozg_layout - how residues of one operand lie in memory. A micro-panel holds `lines` lines in groups of kr
 * elements: element p of line i is number ((p / kr) lines + i % lines) kr + p % kr of panel i / lines, each
 * of `word` bytes (1: int8, 2: int16). Lines beyond the end are 0, and so are elements up to a multiple of
 * `step`, the number of elements that the micro-kernel takes at once (a multiple of kr; at most 64). nonneg:
 * residues in [0, m), else symmetric.
 */
typedef struct ozg_layout {
    int lines, kr, step, word, nonneg;
} ozg_layout;

/*
 * Residue planes of one operand. Plane q = component * nmod + l holds the residues mod m_l of component 0
 * (Re), and for complex operands 1 (Im) and 2 (Re + Im, for 3M [Xe2] sec. 5).
 */
typedef struct ozg_planes {
    unsigned char *base;
    size_t plane, panel; /* bytes from one to the next */
} ozg_planes;

/*
 * Residues of a tile of c^ in [0, m), words of rns->word bytes: plane component * nmod + l, component 0
 * (Re) and 1 (Im); column-major.
 */
typedef struct ozg_residues {
    unsigned char *base;
    size_t plane;       /* bytes */
    int64_t ld;         /* words; a multiple of OZG_STRIP, so that a strip may be read as a whole */
    size_t numbers;     /* of a component below */
    uint64_t *floors;   /* sums of floors, ld numbers a column, Im behind Re; NULL: not wanted */
    uint64_t *ceilings; /* sums of ceilings, ld numbers a column; complex: the larger of Re and Im */
} ozg_residues;

#define OZG_STRIP 32

struct ozg_kernel;

/* What all stages of one call share (cpu/parts.h). */
typedef struct ozg_stage {
    const struct ozg_kernel *kernel;
    const ozg_rns *rns;
    int ceilings;    /* split makes ceilings instead of residues, for accurate scaling */
    int kind;        /* OZG_BY_...: which entries are tested and repaired */
    int width;       /* the largest of all lines */
    int reported;    /* somebody wants to know the largest bound */
    uint64_t length; /* k' */
    int64_t k;
    int threads;
    unsigned char *scratch; /* scratch_bytes for each thread */
    size_t scratch_bytes;
    ozg_scalars scalars;
} ozg_stage;

/*
 * What the reconstruct stage did beside rounding: entries, time of all threads, and the largest bound of an
 * entry that native accuracy did not repair, as ozg_bound_key().
 */
typedef struct ozg_repairs {
    _Atomic uint64_t tested, repaired, nanoseconds, largest;
} ozg_repairs;

/*
 * Entries of a matrix: (i, j), i < rows and j < columns, is element row[i] row_step + column[j]
 * column_step of x. row or column NULL: i, j themselves. Column-major in `out`, without gaps.
 */
typedef struct ozg_entries {
    const void *x;
    char type;
    const int64_t *row, *column;
    int64_t rows, columns, row_step, column_step;
} ozg_entries;

/*
 * ozg_backend - a kind of device, as the public interface (gemm.c) sees it. Arguments are checked; but for
 * check and scale_c m, n, k > 0, and there is something to multiply.
 *
 *   check      the backend can use what the pointers that are not NULL point to. Errors: OZG_E_ARG.
 *   plan       tiles and workspace of a plan whose shape, rows, columns, nmod and width are set (plan.h).
 *              Errors: OZG_E_WORKSPACE, OZG_E_NOMEM, OZG_E_UNSUPPORTED.
 *   workspace  at least bytes of the context's own; NULL: the sentence is written and *status set
 *   run        the product, in plan->workspace bytes at work. report: NULL, or cleared
 *              (ozg_report_nothing()).
 *   batch      the products of a batch, many at a time, if that is faster than one by one; else nothing
 *              happens. plan: of one of them. *done, which is 0: they are run, and report, if not NULL, has
 *              their sum (ozg_report_add()). NULL: one by one always.
 *   predict    the report of such a run without it; beta and C do not matter. Where the workspace is, is its
 *              own affair. Errors: of workspace and run.
 *   scale_c    C := RN(beta C), m and n > 0; report: NULL, or to be filled, with this reason
 *   wait       until all work of the context is done; report: NULL, or that of an earlier call, to be filled
 *   close      gives back what the context has there
 *   prepare    scales, splits and copies op(X), whose size is not 0: type .. width of the operand are set
 *              (nmod 0: the data choose, and prepare sets it). Errors: OZG_E_NOMEM and those of a
 *              product; release follows.
 *   release    gives back what prepare took, as far as it came; not the operand itself
 *   gather     entries of a matrix that is where the context's matrices are, to memory of the host. NULL:
 *              they are there
 *
 * run, scale_c, prepare: a backend with a stream may return before the work is done; wait then fills the
 * report.
 */
typedef struct ozg_backend {
    const char *name;
    ozg_status (*check)(ozg_context *ctx, const ozg_shape *shape, const ozg_data *data,
                        const ozg_argument_numbers *numbers);
    ozg_status (*plan)(ozg_plan *plan);
    void *(*workspace)(ozg_context *ctx, size_t bytes, ozg_status *status);
    ozg_status (*run)(const ozg_plan *plan, const ozg_data *data, void *work, ozg_report *report);
    ozg_status (*batch)(const ozg_plan *plan, const ozg_data *data, const ozg_products *all,
                        ozg_report *report, int *done);
    ozg_status (*predict)(const ozg_plan *plan, const ozg_data *data, ozg_report *report);
    ozg_status (*scale_c)(ozg_context *ctx, const ozg_shape *shape, const ozg_data *data, ozg_report *report,
                          const char *reason);
    ozg_status (*wait)(ozg_context *ctx, ozg_report *report);
    void (*close)(ozg_context *ctx);
    ozg_status (*prepare)(ozg_operand *operand, char trans, const void *x, int64_t ldx);
    void (*release)(ozg_operand *operand);
    ozg_status (*gather)(ozg_context *ctx, const ozg_entries *from, void *out);
} ozg_backend;

extern const ozg_backend ozg_backend_cpu, ozg_backend_cuda;

#endif
