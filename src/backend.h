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

#include "arith/entry.h"
#include "problem.h"
#include "rns.h"

/* Element p of line i is x[i line_stride + p step] (elements of the type); conj: its imaginary part is
 * negated. */
typedef struct ozg_view {
    const void *x;
    int64_t line_stride, step;
    char type;
    int conj;
} ozg_view;

/* D of a line that takes no part (all zero, or with Inf or NaN): a^ = 0 for all its elements. */
#define OZG_D_NONE (-(INT32_C(1) << 20))

enum { OZG_LINE_INF = 1, OZG_LINE_NAN = 2 };

/* What the scale stage finds out about each line. */
typedef struct ozg_lines {
    int64_t count;
    int32_t *d;       /* D_i or E_j; OZG_D_NONE */
    uint8_t *special; /* 0, OZG_LINE_INF or OZG_LINE_NAN */
    uint64_t
        *norm1; /* sum_p |x_p| over both components <= norm1 2^(e - 20), e = width - d; only for reports */
    uint8_t *inexact; /* a bit is rounded away by the split; only for reports */
} ozg_lines;

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
    size_t plane; /* bytes */
    int64_t ld;   /* words; a multiple of OZG_STRIP, so that a strip may be read as a whole */
} ozg_residues;

#define OZG_STRIP 32

struct ozg_kernel;

/* What all stages of one call share. */
typedef struct ozg_stage {
    const struct ozg_kernel *kernel;
    const ozg_rns *rns;
    int width;
    int threads;
    unsigned char *scratch; /* scratch_bytes for each thread */
    size_t scratch_bytes;
    ozg_scalars scalars;
} ozg_stage;

/*
 * The stages. All read and write host memory on the CPU; none can fail: memory is given by the caller.
 *   scratch_bytes  memory that each thread needs in the product stage for tiles of rows x columns
 *   scale          d and special of all lines; measure adds norm1 and inexact
 *   split          lines [i0, i0 + lines) and elements [p0, p0 + count) of a view to planes, padding included
 *   product        residues (+)= A B over count elements from element p0 of both planes; first: overwrite
 *   reconstruct    C(i, j) from the residues, but not where row i or column j is special
 */
typedef struct ozg_backend {
    const char *name;
    size_t (*scratch_bytes)(const struct ozg_kernel *kernel, int complex_, int64_t rows, int64_t columns);
    void (*scale)(const ozg_stage *st, const ozg_view *v, int64_t k, ozg_lines *lines);
    void (*measure)(const ozg_stage *st, const ozg_view *v, int64_t k, ozg_lines *lines);
    void (*split)(const ozg_stage *st, const ozg_layout *layout, const ozg_view *v, const int32_t *d,
                  int64_t i0, int64_t lines, int64_t p0, int64_t count, const ozg_planes *out);
    void (*product)(const ozg_stage *st, const ozg_planes *a, int64_t a_p0, const ozg_planes *b, int64_t b_p0,
                    int64_t rows, int64_t columns, int64_t count, int first, const ozg_residues *out);
    void (*reconstruct)(const ozg_stage *st, const ozg_residues *in, const ozg_lines *a, int64_t i0,
                        int64_t rows, const ozg_lines *b, int64_t j0, int64_t columns, void *c, int64_t ldc);
} ozg_backend;

extern const ozg_backend ozg_backend_cpu;

#endif
