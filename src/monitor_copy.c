/*
 * monitor_copy.c - copies of lines for the monitor, by several threads.
 *
 * SPDX-License-Identifier: MIT
 */
#include "monitor_copy.h"
#include "parallel.h"

#define ALONE 16384 /* elements that are copied sooner than threads begin */

typedef struct copy_job {
    const ozg_view *view;
    const int64_t *index; /* or NULL */
    int64_t k;
    ozg_copy_how how;
    void *out;
} copy_job;

/* Number `at` of the matrix, as it stands there, with another sign if flip. */
static void copy_float(const void *x, int64_t at, int flip, void *out, int64_t to)
{
    uint32_t bits;

    memcpy(&bits, (const char *)x + 4 * at, 4);
    bits ^= (uint32_t)flip << 31;
    memcpy((char *)out + 4 * to, &bits, 4);
}

/* The leading 12 bits of a magnitude; subnormal numbers stay. */
static uint64_t leading_bits(uint64_t bits)
{
    bits &= ~OZG_F64_SIGN;
    return bits >> 52 ? bits >> 41 << 41 : bits;
}

static void copy_task(void *arg, int64_t q, int thread)
{
    const copy_job *job = arg;
    const ozg_view *v = job->view;
    const int single = ozg_type_single(v->type), parts = 1 + ozg_type_complex(v->type);
    const int64_t line = job->index ? job->index[q] : q;

    (void)thread;
    for (int64_t p = 0; p < job->k; p++)
        for (int part = 0; part < parts; part++) {
            const int64_t at = (line * v->line_stride + p * v->step) * parts + part;
            const int64_t to =
                (q * job->k + p) * parts + (job->how == OZG_COPY_EXCHANGED ? parts - 1 - part : part);
            const int flip = v->conj && part;
            uint64_t bits;

            if (job->how == OZG_COPY_GIVEN && single) {
                copy_float(v->x, at, flip, job->out, to);
                continue;
            }
            bits = ozg_load_bits(v->x, single, at) ^ (flip ? OZG_F64_SIGN : 0);
            ozg_store_bits(job->out, 0, to, job->how >= OZG_COPY_MAGNITUDES ? leading_bits(bits) : bits);
        }
}

void ozg_monitor_copy(const ozg_view *view, const int64_t *index, int64_t count, int64_t k, ozg_copy_how how,
                      int threads, void *out)
{
    copy_job job = {view, index, k, how, out};

    ozg_parallel(count * k < ALONE ? 1 : ozg_parallel_threads(threads), count, copy_task, &job);
}
