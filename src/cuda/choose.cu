/*
 * choose.cu - the number of moduli, shifts along k and parts from the data: choose() of src/driver.c on the
 * device.
 *
 * The rules are those of the CPU (decide.h, apart.h); this file measures what they ask for. All blocks of the
 * cooperative launch share the measuring, meet at a barrier, and then take the same decisions, each for
 * itself, from the same numbers. Usual data need two barriers: in one pass over the sampled lines the sums of
 * all pairs and the residuals for the first numbers of moduli are made, then the pairs that fail are found.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cuda/batch.cuh"
#include "cuda/choose_parts.cuh"
#include "cuda/choose_shifts.cuh"

OZG_DEVICE void open(const args *a, chooser *z)
{
    if (threadIdx.x < 2) {
        z->view[threadIdx.x] = lines_of(a, (int)threadIdx.x)->view;
        z->view[threadIdx.x].shift = NULL;
    }
    if (threadIdx.x == 0) {
        const ozg_cuda_request *q = &a->request;
        ozg_rule *r = &z->rule;

        r->native = q->kind == OZG_BY_NATIVE;
        r->single = q->single;
        r->complex_ = q->complex_;
        r->c = ozg_bound_unit(q->length);
        r->least = a->limits.least;
        r->factor = ozg_native_factor(q->k);
        r->k = q->k;
        r->rate = a->rate;
        z->nu = ozg_norm_bits(q->length);
    }
    __syncthreads();
}

/* Clears the sums that may be needed after the first barrier. */
OZG_DEVICE void clear_sums(const args *a)
{
    uint64_t *x = (uint64_t *)memory_of(a)->more;
    const int words = (int)(sizeof(ozg_choose_sums) * (OZG_SUMS - 1) / sizeof *x);

    for (int i = thread_of_grid(); i < words; i += threads_of_grid())
        x[i] = 0;
}

/* The sample and its sums; some lines take no part. */
CALL void sample_present(const args *a, chooser *z)
{
    for (int side = 0; side < 2; side++) {
        const range r = range_of(side, 0, lines_of(a, side)->count);

        count_lines(a, &r, PRESENT, 0, memory_of(a)->counts[side]);
    }
    ozg_grid_sync(&a->state->arrived);
    for (int side = 0; side < 2; side++) {
        const range r = range_of(side, 0, lines_of(a, side)->count);

        choose_present(a, z, &r, 0, memory_of(a)->counts[side]);
    }
    if (z->n[0] == 0 || z->n[1] == 0)
        return;
    measure_sample(a, z, sums_of(a, OZG_SUMS_PRESENT));
    ozg_grid_sync(&a->state->arrived);
}

/* The choice for the whole product. Returns which sums it comes from. */
OZG_DEVICE int choose_whole(const args *a, chooser *z, int which)
{
    ozg_choose_sums *sums = sums_of(a, which);

    if (a->fixed) {
        forget(z, a->request.m, a->request.n);
        evaluate(a, z, sums, a->fixed);
        if (threadIdx.x == 0) {
            z->choice.nmod = a->fixed;
            z->choice.shifted = z->choice.apart.nmod = 0;
            z->choice.repairs = z->fails.repairs[a->fixed];
        }
        __syncthreads();
        return which;
    }
    search(a, z, sums, a->apart, a->request.m, a->request.n);
    if (a->shifts)
        try_shifts(a, z);
    return z->choice.shifted ? OZG_SUMS_SHIFTED : which;
}

OZG_DEVICE void publish(const args *a, const ozg_part *part, int parts, int nmod, uint64_t estimate)
{
    ozg_cuda_state *state = a->state;

    if (thread_of_grid() != 0)
        return;
    state->parts = parts;
    for (int q = 0; q < parts; q++)
        state->part[q] = part[q];
    if (parts == 1)
        state->nmod[0] = nmod;
    state->estimate = estimate;
}

OZG_KERNEL_BATCH(ozg_cuda_choose, ozg_cuda_choose_args, OZG_CUDA_CHOOSE_THREADS, OZG_CUDA_CHOOSE_BLOCKS)
{
    __shared__ chooser z;
    ozg_part part[OZG_PARTS] = {{0, a.request.m, 0, a.request.n}};
    uint64_t estimate;
    int which = OZG_SUMS_ALL, parts = 1, nmod;

    open(&a, &z);
    choose_all(&a, &z);
    measure_sample(&a, &z, sums_of(&a, OZG_SUMS_ALL));
    set_factors(&a, &z);
    clear_sums(&a);
    ozg_grid_sync(&a.state->arrived);
    if (__ldcg(&memory_of(&a)->absent[0]) | __ldcg(&memory_of(&a)->absent[1])) {
        sample_present(&a, &z);
        which = OZG_SUMS_PRESENT;
    }
    if (z.n[0] == 0 || z.n[1] == 0) {
        publish(&a, part, 1, a.fixed ? a.fixed : z.rule.least, 0);
        return;
    }
    which = choose_whole(&a, &z, which);
    nmod = z.choice.nmod;
    estimate = ozg_repairs_of(z.choice.repairs, (uint64_t)(z.n[0] * z.n[1]), a.request.m, a.request.n);
    if (z.choice.shifted)
        scale_shifted(&a, &z);
    if (z.choice.apart.nmod)
        parts = order_lines(&a, &z, sums_of(&a, which), part);
    if (parts > 1)
        estimate = choose_parts(&a, &z, part, parts);
    publish(&a, part, parts, nmod, estimate);
}
