/*
 * product.c - the product stage in tasks: one modulus and one block of C each.
 *
 * A task keeps its 32-bit sums in scratch memory while it goes along k in steps of K_BLOCK, so that a
 * micro-panel of A and one of B stay in the first-level cache and a block of A in the second, and reduces
 * them once at the end.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "cpu/product.h"
#include "parallel.h"

#define K_BLOCK OZG_K_BLOCK /* a multiple of every step */

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

/*
 * Elements [p, p + count) of the plane of modulus l, from line i0 on. What comes next is the next step along
 * k, or after the last one the first of the modulus that this thread takes next, most likely.
 */
static ozg_run run_of(const ozg_product_job *job, const ozg_planes *planes, const ozg_layout *layout,
                      int64_t p0, int product, const ozg_task_block *at, int64_t i0, int64_t p, int64_t count)
{
    const int n = job->st->rns->nmod, l = at->l, next_l = l + job->st->threads;
    const size_t element = (size_t)(layout->lines * layout->word);
    const size_t plane =
        (size_t)(l < n ? product * n + l : (job->st->scalars.complex_ ? 3 : 1) * n + product);
    const int64_t left = job->count - p - count;
    const unsigned char *first = planes->base + plane * planes->plane +
                                 (size_t)(i0 / layout->lines) * planes->panel + (size_t)p0 * element;
    const ozg_run r = {first + (size_t)p * element, first + (size_t)(p + count) * element, planes->panel,
                       planes->panel, (size_t)ozg_min64(left, K_BLOCK) * element};
    const ozg_run last = {r.base, first + (size_t)job->st->threads * planes->plane, r.panel, r.panel,
                          (size_t)ozg_min64(job->count, K_BLOCK) * element};

    return left == 0 && next_l < n ? last : r;
}

/* The share q of n of what comes next in a panel. */
static void prefetch_share(const ozg_run *r, int64_t panel, int64_t q, int64_t n)
{
    const unsigned char *next = r->next + (size_t)panel * r->next_panel;

    prefetch(next + r->next_bytes * (size_t)q / (size_t)n,
             next + r->next_bytes * (size_t)(q + 1) / (size_t)n);
}

/* Each micro-tile cares for an equal share of its two panels: tile loads have no other prefetcher. */
void ozg_product_panels(const ozg_stage *st, int l, int64_t count, const int32_t *from, const ozg_run *a,
                        int64_t panels_a, const ozg_run *b, int64_t panels_b, int32_t *sums)
{
    const ozg_kernel *kernel = st->kernel;
    const int64_t steps = (count + kernel->a.step - 1) / kernel->a.step, size = micro_tile_size(kernel);
    const int copies = from && from != sums, add = from != NULL;

    for (int64_t j = 0; j < panels_b; j++)
        for (int64_t i = 0; i < panels_a; i++, sums += size) {
            prefetch_share(a, i, j, panels_b);
            prefetch_share(b, j, i, panels_a);
            if (copies)
                memcpy(sums, from + (j * panels_a + i) * size, (size_t)size * sizeof *sums);
            kernel->product(st->rns, l, steps, a->base + (size_t)i * a->panel, b->base + (size_t)j * b->panel,
                            add, sums);
        }
}

/* The sums of one product (0: Re or real, 1: Im, 2: Re + Im) over elements [p, p + count). */
static void multiply(const ozg_product_job *job, const ozg_task_block *at, int product, int64_t p,
                     int64_t count)
{
    const ozg_kernel *kernel = job->st->kernel;
    const int64_t mr = kernel->a.lines, nr = kernel->b.lines;
    const ozg_run a = run_of(job, job->a, &kernel->a, job->a_p0, product, at, at->i0, p, count);
    const ozg_run b = run_of(job, job->b, &kernel->b, job->b_p0, product, at, at->j0, p, count);

    int32_t *sums = at->sums + product * at->size;

    ozg_product_panels(job->st, at->l, count, p > 0 ? sums : NULL, &a, (at->i1 - at->i0 + mr - 1) / mr, &b,
                       (at->j1 - at->j0 + nr - 1) / nr, sums);
}

/*
 * The sums of a micro-tile of floors, at most 127^2 k'. Complex, from P0, P1 and P2 as in 3M:
 *     |Re Re| + |Im Im| = P0 + P1,  |Re Im| + |Im Re| = P2 - P0 - P1.
 */
static void add_floors(const ozg_product_job *job, int columns, const int32_t *const sums[3], int64_t at)
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

void ozg_product_store(const ozg_product_job *job, int l, int64_t i, int64_t j, int columns,
                       const int32_t *const sums[3])
{
    const ozg_stage *st = job->st;
    const int complex_ = st->scalars.complex_, nmod = st->rns->nmod;
    const int64_t to = i + j * job->out->ld;
    unsigned char *re = job->out->base + (size_t)l * job->out->plane + (size_t)(to * st->rns->word);
    unsigned char *im = re + (complex_ ? (size_t)nmod * job->out->plane : 0);

    if (l < nmod)
        st->kernel->reduce(st->rns, l, complex_, st->kernel->a.lines, columns, job->first, sums, re, im,
                           job->out->ld);
    else
        add_floors(job, columns, sums, to);
}

/* The sums of all micro-tiles into the residues of C. */
static void store(const ozg_product_job *job, const ozg_task_block *at)
{
    const ozg_kernel *kernel = job->st->kernel;
    const int64_t behind = job->st->scalars.complex_ ? at->size : 0;
    const int mr = kernel->a.lines, nr = kernel->b.lines;
    const int32_t *sums = at->sums;

    for (int64_t j = at->j0; j < at->j1; j += nr)
        for (int64_t i = at->i0; i < at->i1; i += mr, sums += micro_tile_size(kernel)) {
            const int32_t *const three[3] = {sums, sums + behind, sums + 2 * behind};

            ozg_product_store(job, at->l, i, j, (int)ozg_min64(nr, at->j1 - j), three);
        }
}

static void classical_task(const ozg_product_job *job, const ozg_task_block *at)
{
    const ozg_kernel *kernel = job->st->kernel;

    if (kernel->state)
        kernel->state(1);
    for (int64_t p = 0; p < job->count; p += K_BLOCK)
        for (int q = 0; q < (job->st->scalars.complex_ ? 3 : 1); q++)
            multiply(job, at, q, p, ozg_min64(K_BLOCK, job->count - p));
    if (kernel->state)
        kernel->state(0);
    store(job, at);
}

static void product_task(void *arg, int64_t task, int thread)
{
    const ozg_product_job *job = arg;
    const ozg_region *r = job->region;
    int64_t number;
    ozg_task_block at;

    for (; task >= r->tasks; r++)
        task -= r->tasks;
    number = task / r->planes;
    at.l = r->l0 + (int)(task % r->planes); /* all moduli of a block one after another */
    at.i0 = r->i0 + number % r->row_blocks * r->block_rows;
    at.i1 = ozg_min64(at.i0 + r->block_rows, r->i0 + r->rows);
    at.j0 = r->j0 + number / r->row_blocks * r->block_columns;
    at.j1 = ozg_min64(at.j0 + r->block_columns, r->j0 + r->columns);
    at.size = ozg_product_sums(job->st->kernel, r->block_rows, r->block_columns);
    at.sums = (int32_t *)(job->st->scratch + (size_t)thread * job->st->scratch_bytes);
    if (r->winograd)
        ozg_winograd_task(job, &at);
    else
        classical_task(job, &at);
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

/* Adds a region of `planes` planes from number l0 on, if it is not empty. */
static void add_region(ozg_product_job *job, int winograd, int l0, int planes, int64_t i0, int64_t j0,
                       int64_t rows, int64_t columns)
{
    const ozg_stage *st = job->st;
    ozg_region *r = &job->region[job->regions];

    if (rows == 0 || columns == 0 || planes == 0)
        return;
    job->regions++;
    *r = (ozg_region){i0, j0, rows, columns, l0, planes, winograd, rows, columns, 1, 1, 0};
    ozg_product_block(st->kernel, st->scalars.complex_, &r->block_rows, &r->block_columns);
    for (;; r->block_rows = ozg_round_up64(r->block_rows / 2, OZG_STRIP)) { /* tasks for all threads */
        r->row_blocks = (rows + r->block_rows - 1) / r->block_rows;
        r->column_blocks = (columns + r->block_columns - 1) / r->block_columns;
        r->tasks = planes * r->row_blocks * r->column_blocks;
        if (r->tasks >= 4 * st->threads || r->block_rows <= 2 * OZG_STRIP)
            break;
    }
}

void ozg_cpu_product(const ozg_stage *st, const ozg_planes *a, int64_t a_p0, const ozg_planes *b,
                     int64_t b_p0, int64_t rows, int64_t columns, int64_t count, int first,
                     const ozg_winograd *w, const ozg_residues *out)
{
    const ozg_halves none = {0, 0, 0}, half = w ? ozg_halves_of(st->kernel, rows, columns, count) : none;
    const int native = st->kind == OZG_BY_NATIVE, nmod = st->rns->nmod;
    const int64_t core_rows = 2 * half.rows, core_columns = 2 * half.columns;
    ozg_product_job job = {.st = st, .a = a, .b = b, .a_p0 = a_p0, .b_p0 = b_p0, .count = count};
    int64_t tasks = 0;

    job.first = first;
    job.w = w;
    job.half = half;
    job.out = out;
    add_region(&job, 1, 0, nmod, 0, 0, half.rows, half.columns);
    if (job.regions == 0)
        add_region(&job, 0, 0, nmod + native, 0, 0, rows, columns);
    else { /* the floors, and what the halves leave over */
        add_region(&job, 0, nmod, native, 0, 0, rows, columns);
        add_region(&job, 0, 0, nmod, 0, core_columns, rows, columns - core_columns);
        add_region(&job, 0, 0, nmod, core_rows, 0, rows - core_rows, core_columns);
    }
    for (int i = 0; i < job.regions; i++)
        tasks += job.region[i].tasks;
    ozg_parallel(st->threads, tasks, product_task, &job);
}
