/*
 * product.c - the product stage in tasks: one modulus and one block of C each.
 *
 * A task keeps its 32-bit sums in scratch memory while it goes along k in steps of K_BLOCK, so that a
 * micro-panel of A and one of B stay in the first-level cache and a block of A in the second, and reduces
 * them once at the end.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cpu/parts.h"
#include "parallel.h"

#define K_BLOCK OZG_K_BLOCK /* a multiple of every step */

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
    int l; /* modulus; nmod: the floors */
    int64_t i0, i1, j0, j1;
    int32_t *sums; /* micro-tiles, column after column of micro-tiles; those of 3M one after another */
} block;

static int64_t micro_tile_size(const ozg_kernel *kernel)
{
    return kernel->a.lines * kernel->b.lines;
}

/* Asks for bytes [from, to) to be brought into the second-level cache. */
static void prefetch(const unsigned char *from, const unsigned char *to)
{
#if defined(__GNUC__)
    for (; from < to; from += 64)
        __builtin_prefetch(from, 0, 2);
#else
    (void)from, (void)to;
#endif
}

/* Elements of one operand: where its panels begin, and how far behind the bytes are that come next. */
typedef struct run {
    const unsigned char *base;
    size_t panel, ahead, next;
} run;

/*
 * Elements [p, p + count) of the plane of modulus l. What comes next is the next step along k, or after the
 * last one the first of the modulus that this thread takes next, most likely.
 */
static run run_of(const product_job *job, const ozg_planes *planes, const ozg_layout *layout, int64_t p0,
                  int product, int l, int64_t p, int64_t count)
{
    const int n = job->st->rns->nmod, next_l = l + job->st->threads;
    const size_t element = (size_t)(layout->lines * layout->word);
    const size_t plane =
        (size_t)(l < n ? product * n + l : (job->st->scalars.complex_ ? 3 : 1) * n + product);
    const int64_t left = job->count - p - count;
    run r = {planes->base + plane * planes->plane + (size_t)(p0 + p) * element, planes->panel,
             (size_t)count * element, (size_t)ozg_min64(left, K_BLOCK) * element};

    if (left == 0 && next_l < n) {
        r.ahead = (size_t)job->st->threads * planes->plane - (size_t)p * element;
        r.next = (size_t)ozg_min64(job->count, K_BLOCK) * element;
    }
    return r;
}

/* The share q of n of what comes next in panel number `panel`. */
static void prefetch_share(const run *r, int64_t panel, int64_t q, int64_t n)
{
    const unsigned char *next = r->base + (size_t)panel * r->panel + r->ahead;

    prefetch(next + r->next * (size_t)q / (size_t)n, next + r->next * (size_t)(q + 1) / (size_t)n);
}

/*
 * The sums of one product (0: Re or real, 1: Im, 2: Re + Im) over elements [p, p + count). Meanwhile the
 * elements that come next are brought nearer, each micro-tile caring for an equal share of its two panels:
 * tile loads have no other prefetcher.
 */
static void multiply(const product_job *job, const block *at, int product, int64_t p, int64_t count,
                     int32_t *sums)
{
    const ozg_kernel *kernel = job->st->kernel;
    const int64_t mr = kernel->a.lines, nr = kernel->b.lines,
                  steps = (count + kernel->a.step - 1) / kernel->a.step;
    const int64_t panels_a = (at->i1 - at->i0 + mr - 1) / mr, panels_b = (at->j1 - at->j0 + nr - 1) / nr;
    const run a = run_of(job, job->a, &kernel->a, job->a_p0, product, at->l, p, count);
    const run b = run_of(job, job->b, &kernel->b, job->b_p0, product, at->l, p, count);

    for (int64_t j = 0; j < panels_b; j++)
        for (int64_t i = 0; i < panels_a; i++, sums += micro_tile_size(kernel)) {
            const int64_t panel_a = at->i0 / mr + i, panel_b = at->j0 / nr + j;

            prefetch_share(&a, panel_a, j, panels_b);
            prefetch_share(&b, panel_b, i, panels_a);
            kernel->product(job->st->rns, at->l, steps, a.base + (size_t)panel_a * a.panel,
                            b.base + (size_t)panel_b * b.panel, p > 0, sums);
        }
}

/*
 * The sums of a micro-tile of floors, at most 127^2 k'. Complex, from P0, P1 and P2 as in 3M:
 *     |Re Re| + |Im Im| = P0 + P1,  |Re Im| + |Im Re| = P2 - P0 - P1.
 */
static void add_floors(const product_job *job, int columns, const int32_t *const sums[3], int64_t at)
{
    const int mr = job->st->kernel->a.lines, complex_ = job->st->scalars.complex_;
    uint64_t *re = job->out->floors + at, *im = re + (complex_ ? job->out->numbers : 0);

    for (int j = 0; j < columns; j++)
        for (int i = 0; i < mr; i++) {
            const uint32_t p0 = (uint32_t)sums[0][j * mr + i],
                           p1 = complex_ ? (uint32_t)sums[1][j * mr + i] : 0;
            const int64_t to = i + j * job->out->ld;

            re[to] = (job->first ? 0 : re[to]) + p0 + p1;
            if (complex_)
                im[to] = (job->first ? 0 : im[to]) + (uint32_t)sums[2][j * mr + i] - p0 - p1;
        }
}

/* The sums of all micro-tiles into the residues of C. `size`: sums of one product. */
static void reduce(const product_job *job, const block *at, int64_t size)
{
    const ozg_kernel *kernel = job->st->kernel;
    const int complex_ = job->st->scalars.complex_, mr = kernel->a.lines, nr = kernel->b.lines;
    const int32_t *sums = at->sums;
    const int nmod = job->st->rns->nmod;
    unsigned char *re = job->out->base + (size_t)at->l * job->out->plane;
    unsigned char *im = re + (complex_ ? (size_t)nmod * job->out->plane : 0);

    for (int64_t j = at->j0; j < at->j1; j += nr)
        for (int64_t i = at->i0; i < at->i1; i += mr, sums += micro_tile_size(kernel)) {
            const int32_t *const three[3] = {sums, complex_ ? sums + size : sums,
                                             complex_ ? sums + 2 * size : sums};
            const int64_t to = i + j * job->out->ld, byte = to * job->st->rns->word;
            const int columns = (int)ozg_min64(nr, at->j1 - j);

            if (at->l < nmod)
                kernel->reduce(job->st->rns, at->l, complex_, mr, columns, job->first, three, re + byte,
                               im + byte, job->out->ld);
            else
                add_floors(job, columns, three, to);
        }
}

static void product_task(void *arg, int64_t task, int thread)
{
    const product_job *job = arg;
    const ozg_kernel *kernel = job->st->kernel;
    const int planes = job->st->rns->nmod + (job->st->kind == OZG_BY_NATIVE);
    const int64_t number = task / planes;
    const int64_t size = ozg_product_sums(kernel, job->block_rows, job->block_columns);
    block at;

    at.l = (int)(task % planes); /* all moduli of a block one after another */
    at.i0 = number % job->row_blocks * job->block_rows;
    at.i1 = ozg_min64(at.i0 + job->block_rows, job->rows);
    at.j0 = number / job->row_blocks * job->block_columns;
    at.j1 = ozg_min64(at.j0 + job->block_columns, job->columns);
    at.sums = (int32_t *)(job->st->scratch + (size_t)thread * job->st->scratch_bytes);
    if (kernel->state)
        kernel->state(1);
    for (int64_t p = 0; p < job->count; p += K_BLOCK)
        for (int q = 0; q < (job->st->scalars.complex_ ? 3 : 1); q++)
            multiply(job, &at, q, p, ozg_min64(K_BLOCK, job->count - p), at.sums + q * size);
    if (kernel->state)
        kernel->state(0);
    reduce(job, &at, size);
}

int64_t ozg_product_sums(const ozg_kernel *kernel, int64_t rows, int64_t columns)
{
    const int64_t mr = kernel->a.lines, nr = kernel->b.lines;

    return (rows + mr - 1) / mr * ((columns + nr - 1) / nr) * micro_tile_size(kernel);
}

void ozg_product_block(const ozg_kernel *kernel, int complex_, int64_t *rows, int64_t *columns)
{
    const int64_t most_columns = complex_ ? 256 : 384, nr = kernel->b.lines;

    *rows = ozg_min64(*rows, 256);
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
        tasks = (st->rns->nmod + (st->kind == OZG_BY_NATIVE)) * job.row_blocks * job.column_blocks;
        if (tasks >= 4 * st->threads || job.block_rows <= 2 * OZG_STRIP)
            break;
    }
    ozg_parallel(st->threads, tasks, product_task, &job);
}
