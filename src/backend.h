/*
 * backend.h - the four stages as a backend offers them, and what passes between them.
 *
 * Both operands are looked at in the same way: a "line" is a row of op(A) or a column of op(B), its elements
 * are numbered p = 0..k-1. Lines of a tile are stored in micro-panels; see ozg_layout.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_BACKEND_H
#define OZG_BACKEND_H

#include <stdatomic.h>

#include "arith/bound.h"
#include "arith/entry.h"
#include "problem.h"
#include "rns.h"

/*
 * Element p of line i is x[i line_stride + p step] (elements of the type) times 2^shift[p]; shift may be
 * NULL. conj: its imaginary part is negated.
 */
typedef struct ozg_view {
    const void *x;
    int64_t line_stride, step;
    char type;
    int conj;
    const int16_t *shift;
} ozg_view;

/* e or D of a line that takes no part (all zero, or with Inf or NaN): a^ = 0 for all its elements. */
#define OZG_D_NONE (-(INT32_C(1) << 20))
#define OZG_E_NONE OZG_D_NONE

enum { OZG_LINE_INF = 1, OZG_LINE_NAN = 2 };

/* Integers y_p of a line: their sum, the sum of their squares, the largest. */
typedef struct ozg_norms {
    uint64_t sum, squares;
    uint32_t most;
} ozg_norms;

/*
 * The lines of an operand, and what the scale stage finds out about each. Arrays of count elements; what is
 * not asked for is not set.
 */
typedef struct ozg_lines {
    ozg_view view;
    int64_t count, k;
    uint8_t *special;                          /* 0, OZG_LINE_INF or OZG_LINE_NAN */
    int32_t *e;                                /* 2^(e-1) <= largest |component| < 2^e; OZG_E_NONE */
    int32_t *d;                                /* D_i or E_j; OZG_D_NONE */
    uint64_t *squares;                         /* N = sum ceil(2^(nu - e) |x|)^2 (arith/bound.h) */
    uint32_t *x1, *x2, *xmax, *r1, *r2, *rmax; /* the factors of the bound; rmax = 0: the line is exact */
    /*
     * Bit p of word p / 64 of words[i]: some component of element p of line i is rounded. NULL: not wanted.
     */
    uint64_t *places;
    int64_t words;        /* of each line */
    const int64_t *index; /* line i is the stored line index[i], rising in runs (apart.h); NULL: line i */
} ozg_lines;

/* The stored line of line i: where its elements and its row or column of C are. */
static inline int64_t ozg_line_stored(const ozg_lines *l, int64_t i)
{
    return l->index ? l->index[i] : i;
}

/* Norms of numbers in units of 2^-bits as factors of bounds, in units of 2^(c - 16), rounded up. */
static inline void ozg_norms_factors(const ozg_norms *n, int bits, int c, uint32_t *f1, uint32_t *f2,
                                     uint32_t *most)
{
    const int down = bits - 16 + c;

    *f1 = (uint32_t)ozg_ceil_shift(n->sum, down);
    *f2 = (uint32_t)ozg_ceil_shift(ozg_ceil_sqrt(n->squares), down);
    *most = (uint32_t)ozg_ceil_shift(n->most, down);
}

static inline ozg_factors ozg_factors_of(const ozg_lines *l, int64_t i)
{
    const ozg_factors f = {l->x1[i], l->x2[i], l->xmax[i], l->r1[i], l->r2[i], l->rmax[i], l->d[i] + l->e[i]};

    return f;
}

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
