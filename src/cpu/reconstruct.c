/*
 * reconstruct.c - the reconstruct stage in tasks: strips of residues to c^, and the one rounding.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cpu/parts.h"
#include "parallel.h"

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

    for (int e = 0; e < s->count; e++)
        d[e] = job->a->d[i + e];
    for (int e = s->count; e < OZG_STRIP; e++) { /* rows that do not exist are rounded too: make them 0 */
        d[e] = 0;
        for (int w = 0; w < job->st->rns->nword; w++)
            s->word[0][w][e] = 0;
    }
    job->st->kernel->round(scalars->single, job->st->rns->nword, s->word[0], d, alpha.exp - job->b->d[j],
                           alpha.neg, bits);
    for (int e = 0; e < s->count; e++)
        if (!job->a->special[i + e])
            ozg_store_bits(job->c, scalars->single, i + e + j * job->ldc, bits[e]);
}

static void reconstruct_task(void *arg, int64_t task, int thread)
{
    const reconstruct_job *job = arg;
    const ozg_stage *st = job->st;
    const int complex_ = st->scalars.complex_;
    const int64_t column = task / job->row_blocks, j = job->j0 + column;
    const int64_t first = task % job->row_blocks * RECONSTRUCT_ROWS,
                  end = ozg_min64(first + RECONSTRUCT_ROWS, job->rows);
    const ozg_scalar alpha = st->scalars.alpha[0];
    const int plain = !complex_ && alpha.kind == OZG_FINITE && alpha.fp.mant == 1 &&
                      ozg_scalar_is_zero(st->scalars.beta[0]);
    strip s;

    (void)thread;
    if (job->b->special[j])
        return;
    for (int64_t row = first; row < end; row += OZG_STRIP) {
        const uint8_t *in = job->in->base + row + column * job->in->ld;

        s.count = (int)ozg_min64(OZG_STRIP, end - row);
        st->kernel->crt(st->rns, in, job->in->plane, s.word[0]);
        if (complex_)
            st->kernel->crt(st->rns, in + (size_t)st->rns->nmod * job->in->plane, job->in->plane, s.word[1]);
        if (plain)
            round_entries(job, &s, job->i0 + row, j);
        else
            update_entries(job, &s, job->i0 + row, j);
    }
}

void ozg_cpu_reconstruct(const ozg_stage *st, const ozg_residues *in, const ozg_lines *a, int64_t i0,
                         int64_t rows, const ozg_lines *b, int64_t j0, int64_t columns, void *c, int64_t ldc)
{
    reconstruct_job job = {st,   in, a, b,   i0,
                           rows, j0, c, ldc, (rows + RECONSTRUCT_ROWS - 1) / RECONSTRUCT_ROWS};

    ozg_parallel(st->threads, columns * job.row_blocks, reconstruct_task, &job);
}
