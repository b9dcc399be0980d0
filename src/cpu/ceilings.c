/*
 * ceilings.c - the product of ceilings of accurate scaling, [EA] Algorithm 2, in tasks: exact sums, no
 * residues.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cpu/parts.h"
#include "parallel.h"

typedef struct ceilings_job {
    const ozg_stage *st;
    const ozg_planes *a, *b;
    int64_t rows, columns, count, panels_a;
    int first;
    const ozg_residues *out;
} ceilings_job;

/* sums (+)= one micro-tile of component x of A and y of B. */
static void multiply(const ceilings_job *job, int64_t panel_a, int64_t panel_b, int x, int y, int add,
                     int32_t *sums)
{
    const ozg_kernel *kernel = job->st->kernel;
    const size_t of_a = (size_t)(kernel->a.lines * kernel->a.word),
                 of_b = (size_t)(kernel->b.lines * kernel->b.word);
    const unsigned char *a = job->a->base + (size_t)x * job->a->plane + (size_t)panel_a * job->a->panel;
    const unsigned char *b = job->b->base + (size_t)y * job->b->plane + (size_t)panel_b * job->b->panel;

    for (int64_t p = 0; p < job->count; p += OZG_K_BLOCK) {
        const int64_t count = ozg_min64(OZG_K_BLOCK, job->count - p);

        kernel->product(job->st->rns, job->st->rns->nmod, (count + kernel->a.step - 1) / kernel->a.step,
                        a + (size_t)p * of_a, b + (size_t)p * of_b, add || p > 0, sums);
    }
}

/* One micro-tile: |A||B|, for complex operands the larger of |Ar||Br| + |Ai||Bi| and |Ar||Bi| + |Ai||Br|. */
static void ceilings_task(void *arg, int64_t task, int thread)
{
    const ceilings_job *job = arg;
    const ozg_kernel *kernel = job->st->kernel;
    const int complex_ = job->st->scalars.complex_, mr = kernel->a.lines, nr = kernel->b.lines;
    const int64_t panel_a = task % job->panels_a, panel_b = task / job->panels_a;
    _Alignas(64) int32_t re[OZG_MR_MAX * OZG_NR_MAX], im[OZG_MR_MAX * OZG_NR_MAX];

    (void)thread;
    if (kernel->state)
        kernel->state(1);
    multiply(job, panel_a, panel_b, 0, 0, 0, re);
    if (complex_) {
        multiply(job, panel_a, panel_b, 1, 1, 1, re);
        multiply(job, panel_a, panel_b, 0, 1, 0, im);
        multiply(job, panel_a, panel_b, 1, 0, 1, im);
    }
    if (kernel->state)
        kernel->state(0);
    for (int64_t j = panel_b * nr; j < ozg_min64((panel_b + 1) * nr, job->columns); j++)
        for (int64_t i = panel_a * mr; i < ozg_min64((panel_a + 1) * mr, job->rows); i++) {
            const int64_t at = j % nr * mr + i % mr, to = i + j * job->out->ld;
            const int32_t larger = complex_ && im[at] > re[at] ? im[at] : re[at];

            job->out->ceilings[to] = (job->first ? 0 : job->out->ceilings[to]) + (uint64_t)larger;
        }
}

void ozg_cpu_ceilings(const ozg_stage *st, const ozg_planes *a, const ozg_planes *b, int64_t rows,
                      int64_t columns, int64_t count, int first, const ozg_residues *out)
{
    const int64_t mr = st->kernel->a.lines, nr = st->kernel->b.lines;
    ceilings_job job = {st, a, b, rows, columns, count, (rows + mr - 1) / mr, first, out};

    ozg_parallel(st->threads, job.panels_a * ((columns + nr - 1) / nr), ceilings_task, &job);
}
