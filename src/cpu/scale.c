/*
 * scale.c - the scale stage in tasks: D of each line from its largest component; norms for reports.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cpu/parts.h"
#include "parallel.h"

typedef struct scale_job {
    const ozg_stage *st;
    const ozg_view *v;
    int64_t k;
    ozg_lines *lines;
} scale_job;

static void scale_task(void *arg, int64_t task, int thread)
{
    const scale_job *job = arg;
    const int64_t i0 = task * OZG_SCALE_LINES, i1 = ozg_min64(i0 + OZG_SCALE_LINES, job->lines->count);
    uint64_t largest[OZG_SCALE_LINES];

    (void)thread;
    job->st->kernel->scale(job->v, job->k, i0, i1, largest);
    for (int64_t i = i0; i < i1; i++) {
        const uint64_t most = largest[i - i0];
        const int special = ozg_is_special(most);

        job->lines->special[i] = (uint8_t)(ozg_is_nan(most) ? OZG_LINE_NAN : special ? OZG_LINE_INF : 0);
        job->lines->d[i] = most == 0 || special ? OZG_D_NONE : job->st->width - ozg_exponent(most);
    }
}

static void measure_task(void *arg, int64_t task, int thread)
{
    const scale_job *job = arg;
    const int64_t i0 = task * OZG_SCALE_LINES, i1 = ozg_min64(i0 + OZG_SCALE_LINES, job->lines->count);

    (void)thread;
    job->st->kernel->measure(job->v, job->k, i0, i1, job->st->width, job->lines->d + i0,
                             job->lines->norm1 + i0, job->lines->inexact + i0);
}

static int64_t tasks(const ozg_lines *lines)
{
    return (lines->count + OZG_SCALE_LINES - 1) / OZG_SCALE_LINES;
}

void ozg_cpu_scale(const ozg_stage *st, const ozg_view *v, int64_t k, ozg_lines *lines)
{
    scale_job job = {st, v, k, lines};

    ozg_parallel(st->threads, tasks(lines), scale_task, &job);
}

void ozg_cpu_measure(const ozg_stage *st, const ozg_view *v, int64_t k, ozg_lines *lines)
{
    scale_job job = {st, v, k, lines};

    ozg_parallel(st->threads, tasks(lines), measure_task, &job);
}
