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

#define SCALE_LINES 64 /* lines of a task */

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
    int64_t i0 = task * SCALE_LINES, i1 = min64(i0 + SCALE_LINES, job->lines->count);
    uint64_t largest[SCALE_LINES];

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

    ozg_parallel(st->threads, (lines->count + SCALE_LINES - 1) / SCALE_LINES, scale_task, &job);
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

static void measure_task(void *arg, int64_t i)
{
    const scale_job *job = arg;
    const ozg_view *v = job->v;
    const int single = ozg_type_single(v->type), parts = 1 + ozg_type_complex(v->type);

    job->lines->norm1[i] = 0;
    job->lines->inexact[i] = 0;
    if (job->lines->d[i] == OZG_D_NONE)
        return;
    for (int64_t p = 0; p < job->k; p++)
        for (int part = 0; part < parts; part++)
            measure_component(ozg_load_bits(v->x, single, parts * (i * v->line_stride + p * v->step) + part),
                              job->lines->d[i], job->st->width, &job->lines->norm1[i],
                              &job->lines->inexact[i]);
}

static void measure(const ozg_stage *st, const ozg_view *v, int64_t k, ozg_lines *lines)
{
    scale_job job = {st, v, k, lines};

    ozg_parallel(st->threads, lines->count, measure_task, &job);
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

/* Vector code works on whole groups of 16 elements: those beyond the count are zeros. */
static void pad_batch(ozg_batch *batch)
{
    for (int e = batch->count; e & 15; e++) {
        batch->re[e] = batch->im[e] = 0;
        batch->d[e] = OZG_D_NONE;
    }
}

/* The elements of a micro-panel from number `at` on, in its order: see ozg_layout. */
typedef struct cursor {
    int64_t p;
    int line, rest; /* element p + rest of line `line` */
} cursor;

static void gather(const split_job *job, int64_t panel, int64_t p_end, cursor *at, ozg_batch *batch)
{
    const ozg_view *v = job->v;
    const int single = ozg_type_single(v->type), complex_ = ozg_type_complex(v->type);
    const uint64_t flip = v->conj ? OZG_F64_SIGN : 0;
    const int lines = job->layout->lines, kr = job->layout->kr;

    batch->count = 0;
    while (batch->count < OZG_SPLIT_BATCH && at->p < p_end) {
        int64_t line = panel * lines + at->line, p = at->p + at->rest;
        int e = batch->count++;

        if (line < job->lines && p < job->count) {
            int64_t index = (job->i0 + line) * v->line_stride + (job->p0 + p) * v->step;

            batch->re[e] = ozg_load_bits(v->x, single, complex_ ? 2 * index : index);
            batch->im[e] = complex_ ? ozg_load_bits(v->x, single, 2 * index + 1) ^ flip : 0;
            batch->d[e] = job->d[job->i0 + line];
        } else {
            batch->re[e] = batch->im[e] = 0;
            batch->d[e] = OZG_D_NONE;
        }
        if (++at->rest == kr) {
            at->rest = 0;
            if (++at->line == lines) {
                at->line = 0;
                at->p += kr;
            }
        }
    }
    pad_batch(batch);
}

static void split_task(void *arg, int64_t task)
{
    const split_job *job = arg;
    const ozg_layout *layout = job->layout;
    int64_t panel = task / job->blocks, p = task % job->blocks * SPLIT_ELEMENTS;
    int64_t padded = (job->count + layout->kr - 1) / layout->kr * layout->kr;
    unsigned char *out =
        job->out->base + (size_t)panel * job->out->panel + (size_t)(p * layout->lines * layout->word);
    cursor at = {p, 0, 0};
    ozg_batch batch;

    for (;;) {
        gather(job, panel, min64(p + SPLIT_ELEMENTS, padded), &at, &batch);
        if (batch.count == 0)
            return;
        job->st->kernel->split(job->st->rns, job->st->width, layout, ozg_type_complex(job->v->type), &batch,
                               out, job->out->plane);
        out += batch.count * layout->word;
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

/* One micro-tile over `groups` groups: all products of modulus l, reduced into the residues of C. */
static void micro_tile(const product_job *job, int l, const unsigned char *a, const unsigned char *b,
                       int64_t groups, int64_t i, int64_t j, int first)
{
    const ozg_kernel *kernel = job->st->kernel;
    const int s = job->st->rns->nmod, complex_ = job->st->scalars.complex_;
    const int mr = kernel->a.lines, rows = (int)min64(mr, job->rows - i),
              columns = (int)min64(kernel->b.lines, job->columns - j);
    _Alignas(64) int32_t acc[3][OZG_MR_MAX * OZG_NR_MAX];
    uint8_t *re = job->out->base + (size_t)l * job->out->plane + i + j * job->out->ld;

    for (int q = 0; q < (complex_ ? 3 : 1); q++)
        kernel->product(groups, a + (size_t)(q * s) * job->a->plane, b + (size_t)(q * s) * job->b->plane,
                        acc[q]);
    for (int jj = 0; jj < columns; jj++) {
        const int32_t *const sums[3] = {acc[0] + jj * mr, acc[1] + jj * mr, acc[2] + jj * mr};

        kernel->reduce(job->st->rns, l, complex_, rows, first, sums, re + jj * job->out->ld,
                       re + (complex_ ? (size_t)s * job->out->plane : 0) + jj * job->out->ld);
    }
}

/* The block (rows from i0, columns from j0) of the residues mod m_l. */
static void product_task(void *arg, int64_t task)
{
    const product_job *job = arg;
    const ozg_layout *la = &job->st->kernel->a, *lb = &job->st->kernel->b;
    const int64_t block = task % (job->row_blocks * job->column_blocks);
    const int l = (int)(task / (job->row_blocks * job->column_blocks)), kr = la->kr;
    const int64_t i0 = block % job->row_blocks * PRODUCT_ROWS, i1 = min64(i0 + PRODUCT_ROWS, job->rows);
    const int64_t j0 = block / job->row_blocks * PRODUCT_COLUMNS,
                  j1 = min64(j0 + PRODUCT_COLUMNS, job->columns);

    for (int64_t p = 0; p < job->count; p += PRODUCT_ELEMENTS) {
        int64_t groups = (min64(PRODUCT_ELEMENTS, job->count - p) + kr - 1) / kr;
        const unsigned char *a =
            job->a->base + (size_t)l * job->a->plane + (size_t)((job->a_p0 + p) * la->lines * la->word);
        const unsigned char *b =
            job->b->base + (size_t)l * job->b->plane + (size_t)((job->b_p0 + p) * lb->lines * lb->word);

        for (int64_t j = j0; j < j1; j += lb->lines)
            for (int64_t i = i0; i < i1; i += la->lines)
                micro_tile(job, l, a + (size_t)(i / la->lines) * job->a->panel,
                           b + (size_t)(j / lb->lines) * job->b->panel, groups, i, j, job->first && p == 0);
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

/* c^ of row e, from its 16-bit limbs in two's complement. */
static void value_of_limbs(const uint32_t (*limbs)[OZG_STRIP], int nlimb, int e, ozg_value *v)
{
    const int neg = (int)(limbs[nlimb - 1][e] >> 15);
    uint64_t flip = neg ? UINT64_MAX : 0, carry = (uint64_t)neg;

    v->kind = OZG_FINITE;
    v->neg = 0;
    v->z.neg = neg;
    v->z.n = (nlimb + 3) / 4;
    for (int w = 0; w < v->z.n; w++) {
        uint64_t word = 0;

        for (int q = 3; q >= 0; q--) /* beyond the last limb: its sign */
            word = word << 16 | (4 * w + q < nlimb ? limbs[4 * w + q][e] : (flip & 0xffff));
        v->z.w[w] = (word ^ flip) + carry;
        carry = carry && v->z.w[w] == 0;
    }
}

static void reconstruct_task(void *arg, int64_t task)
{
    const reconstruct_job *job = arg;
    const ozg_stage *st = job->st;
    const int complex_ = st->scalars.complex_, s = st->rns->nmod;
    const int64_t column = task / job->row_blocks, j = job->j0 + column;
    const int64_t first = task % job->row_blocks * RECONSTRUCT_ROWS,
                  end = min64(first + RECONSTRUCT_ROWS, job->rows);
    uint32_t limbs[2][OZG_CRT_LIMBS][OZG_STRIP];
    ozg_value v[2];

    if (job->b->special[j])
        return;
    for (int64_t row = first; row < end; row += OZG_STRIP) {
        const uint8_t *in = job->in->base + row + column * job->in->ld;

        st->kernel->crt(st->rns, in, job->in->plane, limbs[0]);
        if (complex_)
            st->kernel->crt(st->rns, in + (size_t)s * job->in->plane, job->in->plane, limbs[1]);
        for (int e = 0; e < OZG_STRIP && row + e < end; e++) {
            int64_t i = job->i0 + row + e;

            if (job->a->special[i])
                continue;
            v[0].x = v[1].x = -(job->a->d[i] + job->b->d[j]);
            value_of_limbs((const uint32_t(*)[OZG_STRIP])limbs[0], st->rns->nlimb, e, &v[0]);
            if (complex_)
                value_of_limbs((const uint32_t(*)[OZG_STRIP])limbs[1], st->rns->nlimb, e, &v[1]);
            ozg_entry_update(&st->scalars, v, job->c, i + j * job->ldc);
        }
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
