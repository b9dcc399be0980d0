/*
 * backend.c - the CPU backend: cuts the stages into tasks for the threads and calls the kernel's stage
 * functions.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stddef.h>

#include "cpu/kernel.h"
#include "parallel.h"

/* ---- scale -------------------------------------------------------------------------------------- */

typedef struct scale_job {
    const ozg_stage *st;
    const ozg_view *v;
    int64_t k;
    ozg_lines *lines;
} scale_job;

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void scale_task(void *arg, int64_t task)
{
    const scale_job *job = arg;
    int64_t i0 = task * OZG_SCALE_LINES, i1 = min64(i0 + OZG_SCALE_LINES, job->lines->count);
    uint64_t largest[OZG_SCALE_LINES];

    job->st->kernel->scale(job->v, job->k, i0, i1, largest);
    for (int64_t i = i0; i < i1; i++) {
        uint64_t most = largest[i - i0];

        job->lines->special[i] = ozg_is_nan(most) ? OZG_LINE_NAN : ozg_is_special(most) ? OZG_LINE_INF : 0;
        job->lines->d[i] =
            most == 0 || job->lines->special[i] ? OZG_D_NONE : job->st->width - ozg_exponent(most);
    }
}

static void scale(const ozg_stage *st, const ozg_view *v, int64_t k, ozg_lines *lines)
{
    scale_job job = {st, v, k, lines};

    ozg_parallel(st->threads, (lines->count + OZG_SCALE_LINES - 1) / OZG_SCALE_LINES, scale_task, &job);
}

/*
 * norm1 += ceil(|x| 2^(20 - e)) for one component; inexact if x 2^d is no integer. The sum stays below 2^63
 * for k < 2^42.
 */
static void measure_component(uint64_t bits, int32_t d, int width, uint64_t *norm1, uint8_t *inexact)
{
    ozg_fp x = ozg_fp_of_bits(bits);
    int32_t shift = x.exp + d;                /* x 2^d = mant 2^shift */
    int32_t down = -(x.exp + 20 - width + d); /* e = width - d */

    if (!x.mant)
        return;
    if (shift < 0 && (shift < -63 || x.mant & ((UINT64_C(1) << -shift) - 1)))
        *inexact = 1;
    if (down <= 0)
        *norm1 += x.mant << -down;
    else
        *norm1 += down > 53 ? 1 : (x.mant >> down) + ((x.mant & ((UINT64_C(1) << down) - 1)) != 0);
}

static void measure_element(const scale_job *job, int64_t i, int64_t p)
{
    const ozg_view *v = job->v;
    const int single = ozg_type_single(v->type), parts = 1 + ozg_type_complex(v->type);
    const int64_t at = parts * (i * v->line_stride + p * v->step);

    if (job->lines->d[i] == OZG_D_NONE)
        return;
    for (int part = 0; part < parts; part++)
        measure_component(ozg_load_bits(v->x, single, at + part), job->lines->d[i], job->st->width,
                          &job->lines->norm1[i], &job->lines->inexact[i]);
}

static void measure_task(void *arg, int64_t task)
{
    const scale_job *job = arg;
    const int64_t i0 = task * OZG_SCALE_LINES, i1 = min64(i0 + OZG_SCALE_LINES, job->lines->count);

    for (int64_t i = i0; i < i1; i++) {
        job->lines->norm1[i] = 0;
        job->lines->inexact[i] = 0;
    }
    if (job->v->step == 1) /* walk through memory in order */
        for (int64_t i = i0; i < i1; i++)
            for (int64_t p = 0; p < job->k; p++)
                measure_element(job, i, p);
    else
        for (int64_t p = 0; p < job->k; p++)
            for (int64_t i = i0; i < i1; i++)
                measure_element(job, i, p);
}

static void measure(const ozg_stage *st, const ozg_view *v, int64_t k, ozg_lines *lines)
{
    scale_job job = {st, v, k, lines};

    ozg_parallel(st->threads, (lines->count + OZG_SCALE_LINES - 1) / OZG_SCALE_LINES, measure_task, &job);
}

/* ---- split -------------------------------------------------------------------------------------- */

#define SPLIT_ELEMENTS 1024 /* elements along k of a task; a multiple of every kr */

typedef struct split_job {
    const ozg_stage *st;
    const ozg_layout *layout;
    const ozg_view *v;
    const int32_t *d;
    int64_t i0, lines, p0, count, blocks;
    const ozg_planes *out;
} split_job;

/* A piece of a micro-panel in the order of its layout: `groups` groups of all lines, or one group of some
 * lines. */
typedef struct piece {
    int64_t panel, p; /* first element */
    int line, lines, groups;
} piece;

/* Vector code works on whole sixteens of elements: those beyond the count are zeros. */
static void pad_batch(ozg_batch *batch)
{
    for (int e = batch->count; e & 15; e++) {
        batch->re[e] = batch->im[e] = 0;
        batch->d[e] = OZG_D_NONE;
    }
}

/* kr elements of one line from element p on, as batch elements from e on. */
static void gather_line(const split_job *job, int64_t line, int64_t p, ozg_batch *batch, int e)
{
    const ozg_view *v = job->v;
    const int single = ozg_type_single(v->type), complex_ = ozg_type_complex(v->type), kr = job->layout->kr;
    const int64_t left = line < job->lines ? job->count - p : 0;
    const int here = left > kr ? kr : left > 0 ? (int)left : 0;
    int64_t index = (job->i0 + line) * v->line_stride + (job->p0 + p) * v->step;

    if (!single && !complex_)
        for (int q = 0; q < here; q++)
            memcpy(&batch->re[e + q], (const uint64_t *)v->x + index + q * v->step, 8);
    else
        for (int q = 0; q < here; q++, index += v->step) {
            batch->re[e + q] = ozg_load_bits(v->x, single, complex_ ? 2 * index : index);
            batch->im[e + q] =
                complex_ ? ozg_load_bits(v->x, single, 2 * index + 1) ^ (v->conj ? OZG_F64_SIGN : 0) : 0;
        }
    for (int q = 0; q < kr; q++)
        batch->d[e + q] = q < here ? job->d[job->i0 + line] : OZG_D_NONE;
    for (int q = here; q < kr; q++)
        batch->re[e + q] = batch->im[e + q] = 0;
}

static void gather(const split_job *job, const piece *at, ozg_batch *batch)
{
    const int kr = job->layout->kr;

    batch->count = 0;
    for (int g = 0; g < at->groups; g++)
        for (int i = at->line; i < at->line + at->lines; i++, batch->count += kr)
            gather_line(job, at->panel * job->layout->lines + i, at->p + g * kr, batch, batch->count);
    pad_batch(batch);
}

static void split_task(void *arg, int64_t task)
{
    const split_job *job = arg;
    const ozg_layout *layout = job->layout;
    const int64_t begin = task % job->blocks * SPLIT_ELEMENTS, step = layout->step;
    const int64_t end = min64(begin + SPLIT_ELEMENTS, (job->count + step - 1) / step * step);
    const int fit = OZG_SPLIT_BATCH / layout->kr; /* lines of one group in a batch */
    const int lines = fit < layout->lines ? fit : layout->lines, groups = fit / layout->lines;
    piece at = {task / job->blocks, begin, 0, lines, groups > 1 ? groups : 1};
    unsigned char *out =
        job->out->base + (size_t)at.panel * job->out->panel + (size_t)(begin * layout->lines * layout->word);
    ozg_batch batch;

    while (at.p < end) {
        at.lines = (int)min64(lines, layout->lines - at.line);
        at.groups = (int)min64(at.groups, (end - at.p) / layout->kr);
        gather(job, &at, &batch);
        job->st->kernel->split(job->st->rns, job->st->width, layout, ozg_type_complex(job->v->type), &batch,
                               out, job->out->plane);
        out += batch.count * layout->word;
        at.line += at.lines;
        if (at.line == layout->lines) {
            at.line = 0;
            at.p += at.groups * layout->kr;
        }
    }
}

static void split(const ozg_stage *st, const ozg_layout *layout, const ozg_view *v, const int32_t *d,
                  int64_t i0, int64_t lines, int64_t p0, int64_t count, const ozg_planes *out)
{
    split_job job = {st, layout, v, d, i0, lines, p0, count, (count + SPLIT_ELEMENTS - 1) / SPLIT_ELEMENTS,
                     out};

    ozg_parallel(st->threads, (lines + layout->lines - 1) / layout->lines * job.blocks, split_task, &job);
}

/* ---- product ------------------------------------------------------------------------------------ */

/* Between two reductions a micro-panel of B stays in the first-level cache; the block of A of a task in the
 * second. */
#define PRODUCT_ELEMENTS 2048
#define PRODUCT_ROWS     128
#define PRODUCT_COLUMNS  192

typedef struct product_job {
    const ozg_stage *st;
    const ozg_planes *a, *b;
    int64_t a_p0, b_p0, rows, columns, count;
    int first;
    const ozg_residues *out;
    int64_t row_blocks, column_blocks;
} product_job;

/* One micro-tile over `steps` steps: all products of modulus l, reduced into the residues of C. */
static void micro_tile(const product_job *job, int l, const unsigned char *a, const unsigned char *b,
                       int64_t steps, int64_t i, int64_t j, int first)
{
    const ozg_kernel *kernel = job->st->kernel;
    const int s = job->st->rns->nmod, complex_ = job->st->scalars.complex_;
    const int columns = (int)min64(kernel->b.lines, job->columns - j);
    _Alignas(64) int32_t acc[3][OZG_MR_MAX * OZG_NR_MAX];
    const int32_t *const sums[3] = {acc[0], acc[1], acc[2]};
    uint8_t *re = job->out->base + (size_t)l * job->out->plane + i + j * job->out->ld;

    for (int q = 0; q < (complex_ ? 3 : 1); q++)
        kernel->product(steps, a + (size_t)(q * s) * job->a->plane, b + (size_t)(q * s) * job->b->plane,
                        acc[q]);
    kernel->reduce(job->st->rns, l, complex_, kernel->a.lines, columns, first, sums, re,
                   re + (complex_ ? (size_t)s * job->out->plane : 0), job->out->ld);
}

/* The block (rows from i0, columns from j0) of the residues mod m_l. */
static void product_task(void *arg, int64_t task)
{
    const product_job *job = arg;
    const ozg_layout *la = &job->st->kernel->a, *lb = &job->st->kernel->b;
    const int64_t block = task % (job->row_blocks * job->column_blocks);
    const int l = (int)(task / (job->row_blocks * job->column_blocks)), step = la->step;
    const int64_t i0 = block % job->row_blocks * PRODUCT_ROWS, i1 = min64(i0 + PRODUCT_ROWS, job->rows);
    const int64_t j0 = block / job->row_blocks * PRODUCT_COLUMNS,
                  j1 = min64(j0 + PRODUCT_COLUMNS, job->columns);

    for (int64_t p = 0; p < job->count; p += PRODUCT_ELEMENTS) {
        int64_t steps = (min64(PRODUCT_ELEMENTS, job->count - p) + step - 1) / step;
        const unsigned char *a =
            job->a->base + (size_t)l * job->a->plane + (size_t)((job->a_p0 + p) * la->lines * la->word);
        const unsigned char *b =
            job->b->base + (size_t)l * job->b->plane + (size_t)((job->b_p0 + p) * lb->lines * lb->word);

        for (int64_t j = j0; j < j1; j += lb->lines)
            for (int64_t i = i0; i < i1; i += la->lines)
                micro_tile(job, l, a + (size_t)(i / la->lines) * job->a->panel,
                           b + (size_t)(j / lb->lines) * job->b->panel, steps, i, j, job->first && p == 0);
    }
}

static void product(const ozg_stage *st, const ozg_planes *a, int64_t a_p0, const ozg_planes *b, int64_t b_p0,
                    int64_t rows, int64_t columns, int64_t count, int first, const ozg_residues *out)
{
    product_job job = {st, a, b, a_p0, b_p0, rows, columns, count, first, out, 0, 0};

    job.row_blocks = (rows + PRODUCT_ROWS - 1) / PRODUCT_ROWS;
    job.column_blocks = (columns + PRODUCT_COLUMNS - 1) / PRODUCT_COLUMNS;
    ozg_parallel(st->threads, st->rns->nmod * job.row_blocks * job.column_blocks, product_task, &job);
}

/* ---- reconstruct -------------------------------------------------------------------------------- */

#define RECONSTRUCT_ROWS 1024 /* of a task, in one column */

typedef struct reconstruct_job {
    const ozg_stage *st;
    const ozg_residues *in;
    const ozg_lines *a, *b;
    int64_t i0, rows, j0;
    void *c;
    int64_t ldc, row_blocks;
} reconstruct_job;

/* A strip of c^ in two's complement, and the rounding of its entries. */
typedef struct strip {
    uint64_t word[2][OZG_CRT_WORDS][OZG_STRIP]; /* Re, Im */
    int count;                                  /* rows that exist */
} strip;

/* Sign and magnitude of c^ of row e. */
static void value_of_words(const uint64_t (*word)[OZG_STRIP], int n, int e, ozg_value *v)
{
    const int neg = (int)(word[n - 1][e] >> 63);
    const uint64_t flip = neg ? UINT64_MAX : 0;
    uint64_t carry = (uint64_t)neg;

    v->kind = OZG_FINITE;
    v->neg = 0;
    v->z.neg = neg;
    v->z.n = n;
    for (int w = 0; w < n; w++) {
        v->z.w[w] = (word[w][e] ^ flip) + carry;
        carry &= v->z.w[w] == 0;
    }
}

/* Rows i.. of column j from a strip, in general. */
static void update_entries(const reconstruct_job *job, const strip *s, int64_t i, int64_t j)
{
    const int n = job->st->rns->nword, complex_ = job->st->scalars.complex_;
    ozg_value v[2] = {{0}, {0}};

    for (int e = 0; e < s->count; e++) {
        if (job->a->special[i + e])
            continue;
        v[0].x = v[1].x = -(job->a->d[i + e] + job->b->d[j]);
        value_of_words(s->word[0], n, e, &v[0]);
        if (complex_)
            value_of_words(s->word[1], n, e, &v[1]);
        ozg_entry_update(&job->st->scalars, v, job->c, i + e + j * job->ldc);
    }
}

/* The same for a real alpha = +-2^q and beta = 0: straight to the rounding. */
static void round_entries(const reconstruct_job *job, strip *s, int64_t i, int64_t j)
{
    const ozg_scalars *scalars = &job->st->scalars;
    const ozg_fp alpha = scalars->alpha[0].fp;
    int32_t d[OZG_STRIP];
    uint64_t bits[OZG_STRIP];

    for (int e = 0; e < OZG_STRIP; e++) /* rows beyond the last are 0 */
        d[e] = e < s->count ? job->a->d[i + e] : 0;
    job->st->kernel->round(scalars->single, job->st->rns->nword, s->word[0], d, alpha.exp - job->b->d[j],
                           alpha.neg, bits);
    for (int e = 0; e < s->count; e++)
        if (!job->a->special[i + e])
            ozg_store_bits(job->c, scalars->single, i + e + j * job->ldc, bits[e]);
}

static void reconstruct_task(void *arg, int64_t task)
{
    const reconstruct_job *job = arg;
    const ozg_stage *st = job->st;
    const int complex_ = st->scalars.complex_;
    const int64_t column = task / job->row_blocks, j = job->j0 + column;
    const int64_t first = task % job->row_blocks * RECONSTRUCT_ROWS,
                  end = min64(first + RECONSTRUCT_ROWS, job->rows);
    const ozg_scalar alpha = st->scalars.alpha[0];
    const int plain = !complex_ && alpha.kind == OZG_FINITE && alpha.fp.mant == 1 &&
                      ozg_scalar_is_zero(st->scalars.beta[0]);
    strip s;

    if (job->b->special[j])
        return;
    for (int64_t row = first; row < end; row += OZG_STRIP) {
        const uint8_t *in = job->in->base + row + column * job->in->ld;

        s.count = (int)min64(OZG_STRIP, end - row);
        st->kernel->crt(st->rns, in, job->in->plane, s.word[0]);
        if (complex_)
            st->kernel->crt(st->rns, in + (size_t)st->rns->nmod * job->in->plane, job->in->plane, s.word[1]);
        if (plain)
            round_entries(job, &s, job->i0 + row, j);
        else
            update_entries(job, &s, job->i0 + row, j);
    }
}

static void reconstruct(const ozg_stage *st, const ozg_residues *in, const ozg_lines *a, int64_t i0,
                        int64_t rows, const ozg_lines *b, int64_t j0, int64_t columns, void *c, int64_t ldc)
{
    reconstruct_job job = {st,   in, a, b,   i0,
                           rows, j0, c, ldc, (rows + RECONSTRUCT_ROWS - 1) / RECONSTRUCT_ROWS};

    ozg_parallel(st->threads, columns * job.row_blocks, reconstruct_task, &job);
}

const ozg_backend ozg_backend_cpu = {"cpu", scale, measure, split, product, reconstruct};
