/*
 * split.c - the split stage in tasks: gathers elements in the order of the micro-panels, batch by batch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cpu/parts.h"
#include "cpu/stages.h"
#include "parallel.h"

#define SPLIT_ELEMENTS 1024 /* elements along k of a task; a multiple of every step */

typedef struct split_job {
    const ozg_stage *st;
    const ozg_layout *layout;
    const ozg_lines *all;
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
        batch->d[e] = batch->s[e] = OZG_D_NONE;
    }
}

/* kr elements of one line from element p on, as batch elements from e on; zeros where there is no element. */
static void gather_line(const split_job *job, int64_t line, int64_t p, ozg_batch *batch, int e)
{
    const ozg_view *v = &job->all->view;
    const int single = ozg_type_single(v->type), complex_ = ozg_type_complex(v->type), kr = job->layout->kr;
    const int32_t bits = job->st->ceilings ? OZG_CEILING_BITS : OZG_FLOOR_BITS(complex_);
    const int64_t left = line < job->lines ? job->count - p : 0;
    const int here = left > kr ? kr : left > 0 ? (int)left : 0;
    int64_t index =
        here ? ozg_line_stored(job->all, job->i0 + line) * v->line_stride + (job->p0 + p) * v->step : 0;

    for (int q = 0; q < here; q++, index += v->step) {
        batch->re[e + q] = ozg_load_bits(v->x, single, complex_ ? 2 * index : index);
        batch->im[e + q] =
            complex_ ? ozg_load_bits(v->x, single, 2 * index + 1) ^ (v->conj ? OZG_F64_SIGN : 0) : 0;
    }
    for (int q = 0; q < here; q++) {
        const int32_t shift = v->shift ? v->shift[job->p0 + p + q] : 0;
        const int32_t d = job->all->d[job->i0 + line], exponent = job->all->e[job->i0 + line];

        batch->d[e + q] = d == OZG_D_NONE ? d : d + shift;
        batch->s[e + q] = exponent == OZG_E_NONE ? OZG_E_NONE : bits - exponent + shift;
    }
    for (int q = here; q < kr; q++) {
        batch->d[e + q] = batch->s[e + q] = OZG_D_NONE;
        batch->re[e + q] = batch->im[e + q] = 0;
    }
}

/* A piece of doubles that all exist, without d and s. */
static void gather_inner(const split_job *job, const piece *at, ozg_batch *batch)
{
    const int64_t line_stride = job->all->view.line_stride, step = job->all->view.step;
    const int kr = job->layout->kr, lines = at->lines;
    const int64_t first = (job->i0 + at->panel * job->layout->lines + at->line) * line_stride;
    uint64_t *out = batch->re;

    for (int g = 0; g < at->groups; g++, out += lines * kr) {
        const uint64_t *x = (const uint64_t *)job->all->view.x + first + (job->p0 + at->p + g * kr) * step;

        if (kr == 2)
            for (int i = 0; i < lines; i++) {
                out[2 * i] = x[i * line_stride];
                out[2 * i + 1] = x[i * line_stride + step];
            }
        else if (step == 1)
            for (int i = 0; i < lines; i++)
                for (int q = 0; q < kr; q++)
                    out[i * kr + q] = x[i * line_stride + q];
        else
            for (int q = 0; q < kr; q++)
                for (int i = 0; i < lines; i++)
                    out[i * kr + q] = x[q * step + i];
    }
}

/* The same of lines that are stored anywhere. */
static void gather_apart(const split_job *job, const piece *at, ozg_batch *batch)
{
    const ozg_view *v = &job->all->view;
    const int64_t *index = job->all->index + job->i0 + at->panel * job->layout->lines + at->line;
    const int kr = job->layout->kr;
    uint64_t *out = batch->re;

    for (int g = 0; g < at->groups; g++)
        for (int i = 0; i < at->lines; i++, out += kr) {
            const uint64_t *x = (const uint64_t *)v->x + index[i] * v->line_stride;

            for (int q = 0; q < kr; q++)
                out[q] = x[(job->p0 + at->p + g * kr + q) * v->step];
        }
}

/* d and s of a piece whose lines all exist. */
static void gather_d(const split_job *job, int64_t line0, const piece *at, ozg_batch *batch)
{
    const int32_t *d = job->all->d + job->i0 + line0, *exponent = job->all->e + job->i0 + line0;
    const int32_t bits = job->st->ceilings ? OZG_CEILING_BITS : OZG_FLOOR_BITS(0); /* pieces are real */
    const int kr = job->layout->kr;

    for (int g = 0, e = 0; g < at->groups; g++)
        for (int i = 0; i < at->lines; i++)
            for (int q = 0; q < kr; q++, e++) {
                batch->d[e] = d[i];
                batch->s[e] = exponent[i] == OZG_E_NONE ? OZG_E_NONE : bits - exponent[i];
            }
}

/* The batch of a piece. `like` is the piece that the batch held before: its d and s may serve again. */
static void gather(const split_job *job, const piece *at, const piece *like, ozg_batch *batch)
{
    const int kr = job->layout->kr;
    const int64_t line0 = at->panel * job->layout->lines + at->line;
    const ozg_view *v = &job->all->view;
    const int inner = v->type == 'd' && !v->shift && line0 + at->lines <= job->lines &&
                      at->p + at->groups * kr <= job->count;

    batch->count = at->groups * at->lines * kr;
    if (inner) {
        if (like->lines != at->lines || like->line != at->line || like->groups < at->groups)
            gather_d(job, line0, at, batch);
        if (job->all->index)
            gather_apart(job, at, batch);
        else
            gather_inner(job, at, batch);
        pad_batch(batch);
        return;
    }
    for (int g = 0, e = 0; g < at->groups; g++)
        for (int i = 0; i < at->lines; i++, e += kr)
            gather_line(job, line0 + i, at->p + g * kr, batch, e);
    pad_batch(batch);
}

/* All planes of a batch; out: where it begins in the first. */
static void split_batch(const split_job *job, const ozg_batch *batch, unsigned char *out)
{
    const ozg_stage *st = job->st;
    const int complex_ = st->scalars.complex_;
    const size_t plane = job->out->plane;

    if (st->ceilings) {
        ozg_ceilings(job->layout, complex_, batch, out, plane);
        return;
    }
    st->kernel->split(st->rns, st->width, job->layout, complex_, batch, out, plane);
    if (st->kind == OZG_BY_NATIVE)
        st->kernel->floors(job->layout, complex_, batch,
                           out + (size_t)(st->rns->nmod * (complex_ ? 3 : 1)) * plane, plane);
}

/* Groups of a batch: as many as fit, but such that the batch is whole sixteens, if it can be. */
static int whole_groups(int size, int groups)
{
    int whole = groups;

    while (whole > 1 && whole * size % 16)
        whole--;
    return whole > 1 ? whole : groups > 1 ? groups : 1;
}

static void split_task(void *arg, int64_t task, int thread)
{
    const split_job *job = arg;
    const ozg_layout *layout = job->layout;
    const int64_t begin = task % job->blocks * SPLIT_ELEMENTS, step = layout->step;
    const int64_t end = ozg_min64(begin + SPLIT_ELEMENTS, (job->count + step - 1) / step * step);
    const int fit = OZG_SPLIT_BATCH / layout->kr; /* lines of one group in a batch */
    const int lines = fit < layout->lines ? fit : layout->lines, groups = fit / layout->lines;
    piece at = {task / job->blocks, begin, 0, lines, whole_groups(lines * layout->kr, groups)};
    piece like = {0, 0, 0, 0, 0};
    unsigned char *out =
        job->out->base + (size_t)at.panel * job->out->panel + (size_t)(begin * layout->lines * layout->word);
    ozg_batch batch;

    (void)thread;
    while (at.p < end) {
        at.lines = (int)ozg_min64(lines, layout->lines - at.line);
        at.groups = (int)ozg_min64(at.groups, (end - at.p) / layout->kr);
        gather(job, &at, &like, &batch);
        split_batch(job, &batch, out);
        out += batch.count * layout->word;
        like = at;
        at.line += at.lines;
        if (at.line == layout->lines) {
            at.line = 0;
            at.p += at.groups * layout->kr;
        }
    }
}

void ozg_cpu_split(const ozg_stage *st, const ozg_layout *layout, const ozg_lines *lines, int64_t i0,
                   int64_t count_lines, int64_t p0, int64_t count, const ozg_planes *out)
{
    split_job job = {
        st, layout, lines, i0, count_lines, p0, count, (count + SPLIT_ELEMENTS - 1) / SPLIT_ELEMENTS, out};

    ozg_parallel(st->threads, (count_lines + layout->lines - 1) / layout->lines * job.blocks, split_task,
                 &job);
}
