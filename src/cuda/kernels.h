/*
 * kernels.h - the CUDA kernels: what each computes, its arguments, its launch. For C11 (the host) and CUDA C.
 *
 * A call enqueues
 *
 *     begin                    clears the state and the sums of lines
 *     scale, norms             the exponent of every line, and its norms where they are wanted
 *     choose                   native and rounded: moduli, shifts along k, parts (src/apart.h)
 *     for each part, for each tile of it
 *         split                residues, floors, norms of what is rounded away
 *         product              all moduli in one launch; and these norms as factors of bounds (a kernel of its own,
 *                              factors, for batches and where no product follows)
 *         reconstruct          tests and the one rounding; entries that fail go to a list
 *         repair               the list
 *     special                  rows and columns with Inf or NaN
 *
 * on one stream; a side that is prepared (operand.h) is neither scaled nor split. Nothing goes back to the
 * host in between: what the data decide (the number of moduli, the sizes of the parts, entries to be
 * repaired) is in ozg_cuda_state, which kernels read, and a kernel of a part that does not exist returns at
 * once. Every argument struct is passed by value. Integer arithmetic: the bits are those of the plain C
 * stages (src/cpu).
 *
 * Products of one shape may go through together, each kernel for all of them: see ozg_cuda_batch.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_KERNELS_H
#define OZG_CUDA_KERNELS_H

#include "apart.h"
#include "arith/entry.h"
#include "lines.h"
#include "rns.h"

/* ---- what they share ---------------------------------------------------------------------------- */

/* What the data decide, and what is counted. In device memory. */
typedef struct ozg_cuda_state {
    int32_t parts;           /* 1 .. OZG_PARTS; kernels of parts beyond return at once */
    int32_t shifted;         /* the views' shifts count */
    int32_t nmod[OZG_PARTS]; /* canonical moduli of each part: s */
    int32_t
        width[OZG_PARTS]; /* the largest d + e of its lines; fixed accuracies: t. Set by split (atomicMax) */
    ozg_part part[OZG_PARTS]; /* its rows and columns, by place (see index) */
    uint64_t estimate;        /* entries that will be repaired */
    uint64_t tested, repaired;
    uint64_t largest; /* ozg_bound_key() of the largest bound that native did not repair */
    uint64_t special_rows, special_columns;
    uint64_t largest_entry; /* bits of the largest finite |component| of C as a double */
    uint32_t inexact;       /* 1: some bit of an operand was rounded away */
    uint32_t failed;        /* entries in the list of the present tile */
    uint32_t next;          /* the next entry of the list to be repaired */
    uint32_t arrived;       /* barriers of choose */
    const void *a, *b;      /* of a product of a batch of pointers: its matrices */
    void *c;
} ozg_cuda_state;

/*
 * The lines of an operand. Arrays by STORED line (the line's number in the caller's matrix), whatever the
 * part. The arrays from `most` to `rtop` are zeroed by begin.
 */
typedef struct ozg_cuda_lines {
    ozg_view view; /* view.shift: k shifts, which count if state->shifted; or NULL */
    int64_t count, k;
    int64_t words;           /* 64-bit words of `places` of a line */
    uint64_t *most;          /* bits of the largest |component|, as a double */
    uint64_t *sum, *squares; /* norms of ceil(|x| 2^(nu - e)) (ozg_norms_ref) */
    uint32_t *top;
    uint64_t *rsum, *rsquares; /* norms of residuals (ozg_residuals_ref) of the present part; zero at first */
    uint32_t *rtop;
    uint64_t *ceiling;        /* accurate: the largest sum of ceilings of the line; else NULL */
    uint8_t *special;         /* 0, OZG_LINE_INF, OZG_LINE_NAN: set by norms, as e */
    int32_t *e, *d;           /* d: of the present part, set by split */
    uint32_t *x1, *x2, *xmax; /* set by choose */
    uint32_t *r1, *r2, *rmax; /* set by factors */
    uint64_t *places;         /* bit p: element p is rounded (ozg_lines); NULL: not wanted */
    int64_t *index; /* the stored line of each place, if state->parts > 1; NULL: there is one part only */
} ozg_cuda_lines;

/*
 * A batch: kernels X_batch (begin: itself) do for each product what X does for one. The grid has a second
 * dimension: blockIdx.y is the place of the product in the launch, first + blockIdx.y its number in the batch.
 * The arguments are those of product 0; a block first moves them to its own (batch.cuh). All 0 for a single
 * product.
 */
typedef struct ozg_cuda_batch {
    int64_t known;    /* bytes from the state, the lines, the memory of choose of a product to the next's */
    int64_t tile;     /* bytes from the planes, sums, list of a place to the next's */
    int64_t lines;    /* the same in lines of planes */
    int64_t a, b, c;  /* bytes from a matrix to the next product's */
    int32_t pointers; /* 1: the matrices are those of the state instead */
    int32_t first;
} ozg_cuda_batch;

/* The scaling exponent rule, and everything else that follows from the request. */
typedef struct ozg_cuda_request {
    int32_t kind;  /* OZG_BY_... */
    int32_t width; /* fixed accuracies: t */
    int32_t single, complex_;
    int32_t measured; /* norms of lines and of residuals are wanted (native, rounded, or a report) */
    int32_t reported; /* the largest bound is wanted */
    int64_t m, n, k;
    uint64_t length; /* k' */
    ozg_cuda_batch batch;
} ozg_cuda_request;

/*
 * Residue planes of a tile of one operand: plane q, line i (place in the tile), element p is byte base[(q
 * lines + i) pitch + p]. pitch is a multiple of 128 and elements from the end up to pitch are 0; lines is a
 * multiple of OZG_CUDA_LINES. What lies in lines beyond those of the tile does not matter. Plane q nmod +
 * l: component q modulo number l of the nmod moduli of the table, symmetric residues (int8; of 256: any
 * byte of the class). Real: q = 0 alone, the number. Complex, the first `three` moduli: Re, Im, Re + Im;
 * the others, of which j is a root of -1: Re + j Im, Re - j Im. Native: behind these planes, table->planes
 * of them, 1 plane (complex 3) of floors. Ceilings: one plane, complex two.
 */
#define OZG_CUDA_LINES 256
typedef struct ozg_cuda_planes {
    uint8_t *base;
    int64_t lines, pitch;
} ozg_cuda_planes;

/*
 * Sums of a tile, plane q: symmetric residues (int8) of the product of planes q (halves.cuh has what
 * complex ones are), base[(q columns + j) ld + i]; ld a multiple of 256, columns of 128. floors:
 * exact sums of the planes of floors, floors[(q columns + j) ld + i] in words of floor_bytes (4, or 8 where
 * several chunks of k are added).
 */
typedef struct ozg_cuda_residues {
    uint8_t *base;
    int64_t ld, columns;
    void *floors;
    int32_t floor_bytes;
} ozg_cuda_residues;

/*
 * Where a tile is: places [i0, i0 + rows) of the part's rows as far as the part has such, columns likewise.
 */
typedef struct ozg_cuda_tile {
    int32_t part;
    int64_t i0, rows, j0, columns;
    int64_t p0, count; /* the chunk of k */
    int32_t first;     /* it is the first chunk: sums begin */
} ozg_cuda_tile;

/* The constants of every number of moduli, tables[s], in device memory; of real or of complex products. */
struct ozg_cuda_table;

/* ---- scale.cu ----------------------------------------------------------------------------------- */

/*
 * ozg_cuda_begin - zero[0 .. words) := 0 (64-bit words), *state := initial, with what is known of
 * prepared operands (their special lines, width, inexact); of product y of a batch `known` bytes y behind
 * these. Any grid; threads 256.
 */
typedef struct ozg_cuda_begin_args {
    ozg_cuda_state *state;
    ozg_cuda_state initial;
    const ozg_cuda_state *prepared[2]; /* of A, B; NULL: not prepared */
    uint64_t *zero;
    int64_t words;
    int64_t known;
} ozg_cuda_begin_args;

/*
 * ozg_cuda_matrices - a, b, c of `count` states, `known` bytes from one to the next: matrix[q] by value, so
 * that what the host has is needed no longer, also not in a graph. One block of OZG_CUDA_MATRICES threads.
 */
#define OZG_CUDA_MATRICES 128
typedef struct ozg_cuda_matrices_args {
    ozg_cuda_state *state;
    int64_t known;
    int64_t count;
    struct {
        const void *a, *b;
        void *c;
    } matrix[OZG_CUDA_MATRICES];
} ozg_cuda_matrices_args;

/*
 * ozg_cuda_scale - what each item of scale.h has of each of its lines: the largest component and, if
 * request.measured, norms with the exponent of that. Views without shifts. Item number c of line i is
 * chunks[side][c count + i], ozg_cuda_chunk_bytes() in all. Any number of blocks of OZG_CUDA_SCALE_THREADS is right;
 * ozg_cuda_scale_blocks() says how many are good for an operand.
 * ozg_cuda_norms - from these of all lines of both operands most, ozg_scale_ref(); e and special,
 * special_rows/columns of the state; if request.measured also sum, squares, top: ozg_norms_ref(). Items whose
 * exponent is not that of the line are read again: they are few where numbers are of one size. Any number of blocks
 * of OZG_CUDA_SCALE_THREADS; ozg_cuda_norms_blocks().
 */
#define OZG_CUDA_SCALE_THREADS 256
typedef struct ozg_cuda_chunk {
    uint64_t most;    /* bits of the largest |component|, as a double */
    uint64_t squares; /* norms of ceil(|x| 2^(nu - e)), e of `most`; not where that is 0, Inf or NaN */
    uint32_t sum, top;
} ozg_cuda_chunk;

typedef struct ozg_cuda_scale_args {
    ozg_cuda_state *state;
    ozg_cuda_request request;
    ozg_cuda_lines a, b;
    ozg_cuda_chunk *chunks[2];
    int32_t fp64; /* floating point of 64 bits is fast on this device (ozg_fast_fp64()): for the same bits */
} ozg_cuda_scale_args;

int ozg_cuda_norms_blocks(const ozg_cuda_lines *lines, int multiprocessors);
size_t ozg_cuda_chunk_bytes(char type, char side, char trans, int64_t count, int64_t k);
int ozg_cuda_scale_blocks(const ozg_cuda_lines *lines, int multiprocessors);

/* ---- choose.cu ---------------------------------------------------------------------------------- */

/*
 * ozg_cuda_choose - what choose() of src/driver.c does up to the number of moduli of each part, for native
 * and rounded: x1, x2, xmax of all lines; parts, shifted, nmod, part, estimate of the state; index; with
 * shifts also e, sum, squares, top of all lines. fixed: the number of moduli, or 0. apart: parts are
 * allowed. shifts: a.view.shift and b.view.shift are places for shifts. A cooperative launch, any number of
 * blocks of OZG_CUDA_CHOOSE_THREADS, of which those of one product wait for each other; of one block for each
 * product: any launch. memory: ozg_cuda_choose_bytes(), aligned to 256, of which the first
 * OZG_CUDA_CHOOSE_ZERO are zeroed by begin. limits: ozg_cuda_choose_limits().
 */
#define OZG_CUDA_CHOOSE_THREADS 256
#define OZG_CUDA_CHOOSE_BLOCKS  2 /* of a multiprocessor */
#define OZG_CUDA_CHOOSE_ZERO    122880

/* What scaling by norms allows: Q(s) of ozg_moduli_set, and the fewest moduli. */
typedef struct ozg_cuda_limits {
    int32_t least;
    int32_t bits[OZG_NMOD_MAX + 1];
    uint64_t top[OZG_NMOD_MAX + 1];
} ozg_cuda_limits;

typedef struct ozg_cuda_choose_args {
    ozg_cuda_state *state;
    ozg_cuda_request request;
    ozg_cuda_lines a, b;
    int32_t fixed, apart, shifts;
    double
        rate; /* rounded: INT8 products of one modulus a nanosecond, for what repairs cost; decides time alone */
    ozg_cuda_limits limits;
    void *memory;
    size_t bytes;
} ozg_cuda_choose_args;

void ozg_cuda_choose_limits(ozg_cuda_limits *limits, uint64_t length);
size_t ozg_cuda_choose_bytes(char type, int64_t m, int64_t n, int64_t k);

/* ---- split.cu ----------------------------------------------------------------------------------- */

/*
 * ozg_cuda_split - lines of a tile to planes, both operands or one: d (state->nmod of the part; scaling.h),
 * places, the residual norms where `measure` says so, residues of all moduli and native floors; ceilings =
 * 1: ceilings instead (accurate scaling). side[q].lines.view.x NULL: not this operand. Persistent: any
 * number of blocks of OZG_CUDA_SPLIT_THREADS is right; ozg_cuda_split_blocks() says how many are good for an
 * operand. fp64: floating point of 64 bits is fast on this device: it may be used, for the same bits.
 */
#define OZG_CUDA_SPLIT_THREADS 256
typedef struct ozg_cuda_split_side {
    ozg_cuda_lines lines;
    ozg_cuda_planes planes;
    int32_t measure; /* these lines are seen for the first time in this part */
} ozg_cuda_split_side;

typedef struct ozg_cuda_split_args {
    ozg_cuda_state *state;
    ozg_cuda_request request;
    ozg_cuda_tile tile;
    ozg_cuda_split_side side[2]; /* A, B */
    const struct ozg_cuda_table *tables;
    int32_t ceilings;
    int32_t fp64;
} ozg_cuda_split_args;

int ozg_cuda_split_blocks(const ozg_cuda_lines *lines, int64_t count, int64_t elements, int multiprocessors);
size_t ozg_cuda_split_shared(void); /* dynamic shared memory, bytes */

/* ---- reconstruct.cu ----------------------------------------------------------------------------- */

/*
 * ozg_cuda_factors - r1, r2, rmax of the lines of a tile from rsum, rsquares, rtop, which are zeroed;
 * state->inexact. Grid: a thread a line, blocks of 256: rows first (rounded up to blocks), then columns.
 */
typedef struct ozg_cuda_factors_args {
    ozg_cuda_state *state;
    ozg_cuda_request request;
    ozg_cuda_tile tile;
    ozg_cuda_lines a, b;
    int32_t rows, columns; /* of each whether they are wanted */
} ozg_cuda_factors_args;

/*
 * ozg_cuda_reconstruct_small (at most 2 words of c^) and _large (more) - C of the tile, but not where a row
 * or column is special; entries whose test fails go to list, place in the tile i + j rows (rows of the
 * tile), and keep their C. The one whose number of words is not that of the part returns at once. Both names
 * go on by the type of C and of its scalars, _d, _s, _z, _c or _any: ozg_cuda_reconstruct_name(). "rows of
 * the tile": those that the part has.
 */
#define OZG_CUDA_RECONSTRUCT_THREADS 128
typedef struct ozg_cuda_reconstruct_args {
    ozg_cuda_state *state;
    ozg_cuda_request request;
    ozg_cuda_tile tile;
    ozg_cuda_lines a, b;
    ozg_cuda_residues in;
    const struct ozg_cuda_table *tables;
    ozg_scalars scalars;
    void *c;
    int64_t ldc;
    uint32_t *list;
    uint32_t factor; /* F of native grade */
    int32_t all;     /* _large: do what _small does as well (ozg_cuda_reconstruct_may_all()) */
    int32_t fp64;    /* floating point of 64 bits is fast on this device: it may be used, for the same bits */
} ozg_cuda_reconstruct_args;

/* ---- product: product_sm90.cu, product_mma.cu ----------------------------------------------------- */

/*
 * ozg_cuda_product_... - out (+)= A B of all planes of a tile over tile.count elements: product plane q from
 * planes q of both; residues reduced, floors (and ceilings) exact. ceilings = 1: the planes hold ceilings
 * and so do the sums (floors of out): |A||B|; complex: out 0 = Re Re + Im Im, 1 = Re Im + Im Re. factors: what
 * ozg_cuda_factors does is done here, where these ask for it and the launch is not for a batch: without a launch
 * of its own. Persistent: one-dimensional grid, any number of blocks is right.
 */
#ifdef __cplusplus
#define OZG_CUDA_ALIGN64 alignas(64)
#else
#define OZG_CUDA_ALIGN64 _Alignas(64)
#endif

typedef struct ozg_cuda_map {
    OZG_CUDA_ALIGN64 uint64_t opaque[16]; /* CUtensorMap */
} ozg_cuda_map;

typedef struct ozg_cuda_product_args {
    ozg_cuda_map map_a, map_b; /* sm_90: tensor maps of the planes; others do not read them */
    const ozg_cuda_state *state;
    ozg_cuda_request request;
    ozg_cuda_tile tile;
    ozg_cuda_planes a, b;
    ozg_cuda_residues out;
    const struct ozg_cuda_table *tables;
    int32_t ceilings;
    ozg_cuda_factors_args factors;
} ozg_cuda_product_args;

/* ---- repair.cu, fixup.cu ------------------------------------------------------------------------ */

/*
 * ozg_cuda_repair - the entries of the list, exactly, with the residues of the tile; then the list is empty.
 * Its arguments are those of reconstruct. ozg_cuda_special - entries in rows and columns with Inf or NaN
 * (src/special.c). Whole C. ozg_cuda_largest - state->largest_entry. ozg_cuda_scale_c - C := RN(beta C)
 * (ozg_driver_scale_c). ozg_cuda_raise - accurate: ceiling[i] of the lines of a tile from the sums of
 * ceilings.
 */
typedef struct ozg_cuda_c_args {
    ozg_cuda_state *state;
    ozg_cuda_request request;
    ozg_cuda_lines a, b;
    ozg_scalars scalars;
    void *c;
    int64_t ldc;
} ozg_cuda_c_args;

typedef struct ozg_cuda_raise_args {
    ozg_cuda_request request;
    ozg_cuda_tile tile;
    ozg_cuda_lines a, b;
    ozg_cuda_residues in;
} ozg_cuda_raise_args;

/* ---- gather.cu ---------------------------------------------------------------------------------- */

/*
 * ozg_cuda_gather - entries of a matrix as words: word w of (i, j), w < words, is
 * x[(row[i] row_step + column[j] column_step) words + w]; row or column NULL: i, j themselves. It goes to
 * out[(i + j ld) words + w]. Any grid; threads OZG_CUDA_GATHER_THREADS.
 */
#define OZG_CUDA_GATHER_THREADS 256
typedef struct ozg_cuda_gather_args {
    const void *x;
    void *out;
    const int64_t *row, *column;
    int64_t rows, columns, row_step, column_step, ld;
    int32_t word; /* its bytes: 4 or 8 */
    int32_t words;
} ozg_cuda_gather_args;

#endif
