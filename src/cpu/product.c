/*
 * product.c - the product stage in tasks: one modulus and one block of C each.
 *
 * A task keeps its exact 32-bit sums in scratch memory while it goes along k in steps of K_BLOCK, so that a
 * micro-panel of A and one of B stay in the first-level cache and a block of A in the second, and reduces
 * them once at the end.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cpu/parts.h"
#include "parallel.h"

#define K_BLOCK 512 /* a multiple of every step */

typedef struct product_job {
    const ozg_stage *st;
    const ozg_planes *a, *b;
    int64_t a_p0, b_p0, rows, columns, count;
    int first;
    const ozg_residues *out;
    int64_t block_rows, block_columns, row_blocks, column_blocks;
} product_job;

/* The block of C of a task. */
typedef struct block {
    int l; /* modulus */
    int64_t i0, i1, j0, j1;
    int32_t *sums; /* micro-tiles, column after column of micro-tiles; those of 3M one after another */
} block;

static int64_t micro_tile_size(const ozg_kernel *kernel)
{
    return kernel->a.lines * kernel->b.lines;
}

/* The sums of one product (0: Re or real, 1: Im, 2: Re + Im) over elements [p, p + count). */
static void multiply(const product_job *job, const block *at, int product, int64_t p, int64_t count,
                     int32_t *sums)
{
    const ozg_kernel *kernel = job->st->kernel;
    const ozg_layout *la = &kernel->a, *lb = &kernel->b;
    const size_t plane = (size_t)(product * job->st->rns->nmod + at->l);
    const int64_t steps = (count + la->step - 1) / la->step;
    const unsigned char *a =
        job->a->base + plane * job->a->plane + (size_t)((job->a_p0 + p) * la->lines * la->word);
    const unsigned char *b =
        job->b->base + plane * job->b->plane + (size_t)((job->b_p0 + p) * lb->lines * lb->word);

    for (int64_t j = at->j0; j < at->j1; j += lb->lines)
        for (int64_t i = at->i0; i < at->i1; i += la->lines, sums += micro_tile_size(kernel))
            kernel->product(steps, a + (size_t)(i / la->lines) * job->a->panel,
                            b + (size_t)(j / lb->lines) * job->b->panel, p > 0, sums);
}

/* The sums of all micro-tiles into the residues of C. `size`: sums of one product. */
static void reduce(const product_job *job, const block *at, int64_t size)
{
    const ozg_kernel *kernel = job->st->kernel;
    const int complex_ = job->st->scalars.complex_, mr = kernel->a.lines, nr = kernel->b.lines;
    const int32_t *sums = at->sums;
    uint8_t *re = job->out->base + (size_t)at->l * job->out->plane;
    uint8_t *im = re + (complex_ ? (size_t)job->st->rns->nmod * job->out->plane : 0);

    for (int64_t j = at->j0; j < at->j1; j += nr)
        for (int64_t i = at->i0; i < at->i1; i += mr, sums += micro_tile_size(kernel)) {
            const int32_t *const three[3] = {sums, complex_ ? sums + size : sums,
                                             complex_ ? sums + 2 * size : sums};
            const int64_t to = i + j * job->out->ld;

            kernel->reduce(job->st->rns, at->l, complex_, mr, (int)ozg_min64(nr, at->j1 - j), job->first,
                           three, re + to, im + to, job->out->ld);
        }
}

static void product_task(void *arg, int64_t task, int thread)
{
    const product_job *job = arg;
    const ozg_kernel *kernel = job->st->kernel;
    const int64_t blocks = job->row_blocks * job->column_blocks, number = task % blocks;
    const int64_t size = ozg_product_sums(kernel, job->block_rows, job->block_columns);
    block at;

    at.l = (int)(task / blocks);
    at.i0 = number % job->row_blocks * job->block_rows;
    at.i1 = ozg_min64(at.i0 + job->block_rows, job->rows);
    at.j0 = number / job->row_blocks * job->block_columns;
    at.j1 = ozg_min64(at.j0 + job->block_columns, job->columns);
    at.sums = (int32_t *)(job->st->scratch + (size_t)thread * job->st->scratch_bytes);
    for (int64_t p = 0; p < job->count; p += K_BLOCK)
        for (int q = 0; q < (job->st->scalars.complex_ ? 3 : 1); q++)
            multiply(job, &at, q, p, ozg_min64(K_BLOCK, job->count - p), at.sums + q * size);
    reduce(job, &at, size);
}

int64_t ozg_product_sums(const ozg_kernel *kernel, int64_t rows, int64_t columns)
{
    const int64_t mr = kernel->a.lines, nr = kernel->b.lines;

    return (rows + mr - 1) / mr * ((columns + nr - 1) / nr) * micro_tile_size(kernel);
}

void ozg_product_block(const ozg_kernel *kernel, int complex_, int64_t *rows, int64_t *columns)
{
    const int64_t most_rows = complex_ ? 256 : 512, most_columns = complex_ ? 256 : 384, nr = kernel->b.lines;

    *rows = ozg_min64(*rows, most_rows);
    *columns = ozg_min64(*columns, most_columns / nr * nr);
}

void ozg_cpu_product(const ozg_stage *st, const ozg_planes *a, int64_t a_p0, const ozg_planes *b,
                     int64_t b_p0, int64_t rows, int64_t columns, int64_t count, int first,
                     const ozg_residues *out)
{
    product_job job = {st, a, b, a_p0, b_p0, rows, columns, count, first, out, rows, columns, 1, 1};
    int64_t tasks;

    ozg_product_block(st->kernel, st->scalars.complex_, &job.block_rows, &job.block_columns);
    for (;; job.block_rows = (job.block_rows / 2 + OZG_STRIP - 1) / OZG_STRIP *
                             OZG_STRIP) { /* enough tasks for all threads */
        job.row_blocks = (rows + job.block_rows - 1) / job.block_rows;
        job.column_blocks = (columns + job.block_columns - 1) / job.block_columns;
        tasks = st->rns->nmod * job.row_blocks * job.column_blocks;
        if (tasks >= 4 * st->threads || job.block_rows <= 2 * OZG_STRIP)
            break;
    }
    ozg_parallel(st->threads, tasks, product_task, &job);
}
