/*
 * backend.h - the four stages as a backend offers them, and what passes between them.
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

/* What all stages of one call share. */
typedef struct ozg_stage {
    const struct ozg_kernel *kernel;
    const ozg_rns *rns;
    int ceilings;       /* split makes ceilings instead of residues, for accurate scaling */
    int kind;           /* OZG_BY_...: which entries are tested and repaired */
    int width;          /* the largest of all lines */
    int reported;       /* somebody wants to know the largest bound */
    uint64_t length;    /* k' */
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
 * The stages. All read and write host memory on the CPU; none can fail: memory is given by the caller.
 *   scratch_bytes  memory that each thread needs in the product stage for tiles of rows x columns
 *   scale          e and special of all lines; index NULL, here and for norms
 *   norms          squares, x1, x2, xmax of all lines
 *   residuals      r1, r2, rmax, places of all lines, for their d
 *   split          lines [i0, i0 + lines) and elements [p0, p0 + count) to planes, padding included
 *   product        residues (+)= A B over count elements from element p0 of both planes; first: overwrite
 *   ceilings       out->ceilings (+)= the product of planes that hold ceilings (split with ceilings)
 *   reconstruct    C(i, j) from the residues, but not where row i or column j is special; entries that the
 *                  accuracy asks to test are tested, and those that fail are computed exactly
 */
typedef struct ozg_backend {
    const char *name;
    size_t (*scratch_bytes)(const struct ozg_kernel *kernel, int complex_, int64_t rows, int64_t columns);
    void (*scale)(const ozg_stage *st, ozg_lines *lines);
    void (*norms)(const ozg_stage *st, ozg_lines *lines);
    void (*residuals)(const ozg_stage *st, ozg_lines *lines);
    void (*split)(const ozg_stage *st, const ozg_layout *layout, const ozg_lines *lines, int64_t i0,
                  int64_t count_lines, int64_t p0, int64_t count, const ozg_planes *out);
    void (*product)(const ozg_stage *st, const ozg_planes *a, int64_t a_p0, const ozg_planes *b, int64_t b_p0,
                    int64_t rows, int64_t columns, int64_t count, int first, const ozg_residues *out);
    void (*ceilings)(const ozg_stage *st, const ozg_planes *a, const ozg_planes *b, int64_t rows,
                     int64_t columns, int64_t count, int first, const ozg_residues *out);
    void (*reconstruct)(const ozg_stage *st, const ozg_residues *in, const ozg_lines *a, int64_t i0,
                        int64_t rows, const ozg_lines *b, int64_t j0, int64_t columns, void *c, int64_t ldc,
                        ozg_repairs *repairs);
} ozg_backend;

extern const ozg_backend ozg_backend_cpu;

#endif
