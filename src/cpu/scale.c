/*
 * scale.c - the scale stage in tasks: exponents of lines, their norms and those of what the split rounds
 * away.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cpu/parts.h"
#include "cpu/stages.h"
#include "parallel.h"

typedef struct scale_job {
    const ozg_stage *st;
    ozg_lines *lines;
} scale_job;

/* The first line of a task, and how many it has. */
static int64_t lines_of(const ozg_lines *lines, int64_t task, int64_t *count)
{
    const int64_t first = task * OZG_SCALE_LINES;

    *count = ozg_min64(OZG_SCALE_LINES, lines->count - first);
    return first;
}

static void for_all_lines(const ozg_stage *st, ozg_lines *lines, void (*run)(void *, int64_t, int))
{
    scale_job job = {st, lines};

    ozg_parallel(st->threads, (lines->count + OZG_SCALE_LINES - 1) / OZG_SCALE_LINES, run, &job);
}

static void scale_task(void *arg, int64_t task, int thread)
{
    const scale_job *job = arg;
    ozg_lines *lines = job->lines;
    int64_t count, first = lines_of(lines, task, &count);
    uint64_t largest[OZG_SCALE_LINES];

    (void)thread;
    job->st->kernel->scale(&lines->view, lines->k, first, first + count, largest);
    for (int64_t q = 0; q < count; q++) {
        const uint64_t most = largest[q];
        const int special = ozg_is_special(most);

        lines->special[first + q] = (uint8_t)(ozg_is_nan(most) ? OZG_LINE_NAN : special ? OZG_LINE_INF : 0);
        lines->e[first + q] = most == 0 || special ? OZG_E_NONE
                              : lines->view.shift  ? ozg_exponent_shifted(&lines->view, lines->k, first + q)
                                                   : ozg_exponent(most);
    }
}

void ozg_cpu_scale(const ozg_stage *st, ozg_lines *lines)
{
    for_all_lines(st, lines, scale_task);
}

static void norms_task(void *arg, int64_t task, int thread)
{
    const scale_job *job = arg;
    ozg_lines *l = job->lines;
    const int nu = ozg_norm_bits(job->st->length), c = ozg_bound_unit(job->st->length);
    int64_t count, first = lines_of(l, task, &count);
    ozg_norms n[OZG_SCALE_LINES];

    (void)thread;
    (l->view.shift ? ozg_norms_ref : job->st->kernel->norms)(&l->view, l->k, first, first + count, nu,
                                                             l->e + first, n);
    for (int64_t q = 0, i = first; q < count; q++, i++) {
        l->squares[i] = n[q].squares;
        ozg_norms_factors(&n[q], nu, c, &l->x1[i], &l->x2[i], &l->xmax[i]);
    }
}

void ozg_cpu_norms(const ozg_stage *st, ozg_lines *lines)
{
    for_all_lines(st, lines, norms_task);
}

/* Lines i .. i + the result - 1, at most `most`, are stored one after the other. */
static int64_t run_of(const ozg_lines *l, int64_t i, int64_t most)
{
    int64_t count = 1;

    if (!l->index)
        return most;
    while (count < most && l->index[i + count] == l->index[i] + count)
        count++;
    return count;
}

static void residuals_task(void *arg, int64_t task, int thread)
{
    const scale_job *job = arg;
    ozg_lines *l = job->lines;
    ozg_residuals_fn *residuals = l->view.shift ? ozg_residuals_ref : job->st->kernel->residuals;
    const int c = ozg_bound_unit(job->st->length);
    int64_t count, first = lines_of(l, task, &count), run;
    ozg_norms n[OZG_SCALE_LINES];

    (void)thread;
    for (int64_t q = 0, i = first; q < count; q += run, i += run) {
        const int64_t at = ozg_line_stored(l, i);

        run = run_of(l, i, count - q);
        residuals(&l->view, l->k, at, at + run, l->d + i, n + q, l->places ? l->places + i * l->words : NULL,
                  l->words);
    }
    for (int64_t q = 0, i = first; q < count; q++, i++)
        ozg_norms_factors(&n[q], 16, c, &l->r1[i], &l->r2[i], &l->rmax[i]);
}

void ozg_cpu_residuals(const ozg_stage *st, ozg_lines *lines)
{
    for_all_lines(st, lines, residuals_task);
}
