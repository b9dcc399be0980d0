/*
 * product.h - what the tasks of the product stage share: product.c and winograd.c.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CPU_PRODUCT_H
#define OZG_CPU_PRODUCT_H

#include "cpu/parts.h"

/*
 * A part of a tile and of its planes, cut in tasks: one modulus and one block each. winograd: rows and
 * columns are those of a quarter, and a task does that block of all four.
 */
typedef struct ozg_region {
    int64_t i0, j0, rows, columns;
    int l0, planes, winograd;
    int64_t block_rows, block_columns, row_blocks, column_blocks, tasks;
} ozg_region;

#define OZG_REGIONS 4

typedef struct ozg_product_job {
    const ozg_stage *st;
    const ozg_planes *a, *b;
    int64_t a_p0, b_p0, count;
    int first;
    const ozg_residues *out;
    const ozg_winograd *w;
    ozg_halves half; /* rows 0: no region is by Winograd */
    ozg_region region[OZG_REGIONS];
    int regions;
} ozg_product_job;

/* The block of C of a task; by Winograd that of the first quarter. */
typedef struct ozg_task_block {
    int l; /* modulus; nmod: the floors */
    int64_t i0, i1, j0, j1;
    int32_t *sums; /* micro-tiles, column after column of micro-tiles; those of 3M one after another */
    int64_t size;  /* sums of one product */
} ozg_task_block;

/* Elements of some micro-panels of one operand, panel bytes apart, and the bytes of each that come next. */
typedef struct ozg_run {
    const unsigned char *base, *next;
    size_t panel, next_panel, next_bytes;
} ozg_run;

/*
 * ozg_product_panels() - the sums of all micro-tiles of panels_a panels and panels_b: added to those at
 * `from`, which may be `sums`, or NULL. Meanwhile what comes next is brought nearer.
 */
void ozg_product_panels(const ozg_stage *st, int l, int64_t count, const int32_t *from, const ozg_run *a,
                        int64_t panels_a, const ozg_run *b, int64_t panels_b, int32_t *sums);

/* ozg_product_store() - adds the sums of a micro-tile at row i and column j of the tile to what is there. */
void ozg_product_store(const ozg_product_job *job, int l, int64_t i, int64_t j, int columns,
                       const int32_t *const sums[3]);

/* ozg_winograd_task() - the products of a block of all quarters, with its sums, and stores them. */
void ozg_winograd_task(const ozg_product_job *job, const ozg_task_block *at);

#endif
