/*
 * parts.h - the stages of the CPU backend, one file each.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CPU_PARTS_H
#define OZG_CPU_PARTS_H

#include "context.h"
#include "cpu/kernel.h"

/*
 * The stages. None can fail: memory is given by the caller.
 *   scratch_bytes  memory that each thread needs in the product stage for tiles of rows x columns
 *   scale          e and special of all lines; index NULL, here and for norms
 *   norms          squares, x1, x2, xmax of all lines
 *   residuals      r1, r2, rmax, places of all lines, for their d
 *   split          lines [i0, i0 + lines) and elements [p0, p0 + count) to planes, padding included
 *   quarters       the sums of an operand for Winograd, from planes of that tile
 *   product        residues (+)= A B over count elements from element p0 of both planes; first: overwrite; w:
 *                  the sums of both, or NULL for the classical product
 *   ceilings       out->ceilings (+)= the product of planes that hold ceilings (split with ceilings)
 *   reconstruct    C(i, j) from the residues, but not where row i or column j is special; entries that the
 *                  accuracy asks to test are tested, and those that fail are computed exactly
 */
/*
 * ozg_halves - the halves of a tile for one level of Winograd: quarters of `rows` rows of A and `columns`
 * columns of B, whole micro-panels, and `count` elements along k, of which the second half may have fewer.
 * Rows and columns beyond both halves are multiplied in the classical way. All 0: the tile is too small, or
 * the sums of so many products would not fit 32 bits.
 */
typedef struct ozg_halves {
    int64_t rows, columns, count;
} ozg_halves;

/* ozg_winograd - the sums of the quarters of both operands: plane 4 q + t has sum t of plane q (kernel.h). */
typedef struct ozg_winograd {
    ozg_planes a, b;
} ozg_winograd;

ozg_halves ozg_halves_of(const ozg_kernel *kernel, int64_t rows, int64_t columns, int64_t count);

size_t ozg_cpu_scratch_bytes(const ozg_kernel *kernel, int complex_, int64_t rows, int64_t columns);
void ozg_cpu_scale(const ozg_stage *st, ozg_lines *lines);
void ozg_cpu_norms(const ozg_stage *st, ozg_lines *lines);
void ozg_cpu_residuals(const ozg_stage *st, ozg_lines *lines);
void ozg_cpu_split(const ozg_stage *st, const ozg_layout *layout, const ozg_lines *lines, int64_t i0,
                   int64_t count_lines, int64_t p0, int64_t count, const ozg_planes *out);
void ozg_cpu_quarters(const ozg_stage *st, char side, const ozg_planes *planes, const ozg_halves *half,
                      int64_t count, const ozg_planes *out);
void ozg_cpu_product(const ozg_stage *st, const ozg_planes *a, int64_t a_p0, const ozg_planes *b,
                     int64_t b_p0, int64_t rows, int64_t columns, int64_t count, int first,
                     const ozg_winograd *w, const ozg_residues *out);
void ozg_cpu_ceilings(const ozg_stage *st, const ozg_planes *a, const ozg_planes *b, int64_t rows,
                      int64_t columns, int64_t count, int first, const ozg_residues *out);
void ozg_cpu_reconstruct(const ozg_stage *st, const ozg_residues *in, const ozg_lines *a, int64_t i0,
                         int64_t rows, const ozg_lines *b, int64_t j0, int64_t columns, void *c, int64_t ldc,
                         ozg_repairs *repairs);

/*
 * ozg_cpu_repair() - C[index] := the correctly rounded entry of row i of A and column j of B. c: the
 * components of c^ 2^x, from which the exact sum follows by a few products where only few elements were
 * rounded.
 */
void ozg_cpu_repair(const ozg_stage *st, const ozg_lines *a, int64_t i, const ozg_lines *b, int64_t j,
                    const ozg_value c[2], void *out, int64_t index);

/* ozg_product_block() - cuts a tile of *rows x *columns to the largest block of one task. */
void ozg_product_block(const ozg_kernel *kernel, int complex_, int64_t *rows, int64_t *columns);

/* ozg_winograd_scratch_bytes() - the memory that a thread needs for quarters of a tile by Winograd. */
size_t ozg_winograd_scratch_bytes(const ozg_kernel *kernel, int complex_, const ozg_halves *half);

/* ozg_product_sums() - 32-bit sums of one product in a block, whole micro-tiles. */
int64_t ozg_product_sums(const ozg_kernel *kernel, int64_t rows, int64_t columns);

#endif
