/*
 * choose_parts.cuh - lines far out: rules 4 to 6 of apart.h.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_CHOOSE_PARTS_CUH
#define OZG_CUDA_CHOOSE_PARTS_CUH

#include "cuda/choose_lines.cuh"

/*
 * The ordinary lines of `side` that others are held against: OZG_FAR_AGAINST of the mask, evenly
 * (keep_lines() in choose.c), in slots from 0 on, with their residuals.
 */
OZG_DEVICE void keep_lines(const args *a, chooser *z, const ozg_choose_sums *in, int side, uint32_t mask)
{
    const int q = (int)threadIdx.x, present = ozg_bit_count(mask);
    const int wanted = present < OZG_FAR_AGAINST ? present : OZG_FAR_AGAINST;

    __syncthreads();
    if (q < LINES) {
        int line = -1, seen = 0;

        for (int i = 0; i < LINES && q < wanted; i++)
            if (mask >> i & 1 && seen++ == ozg_sample_number(q, present, OZG_FAR_AGAINST))
                line = i;
        load_facts(a, z, side, q, line < 0 ? -1 : z->sampled[side * LINES + line]);
        if (line >= 0)
            load_residuals(a, z, in, side * LINES + line, q, 0, z->choice.apart.nmod);
    }
    if (threadIdx.x == 0) {
        z->view[0] = lines_of(a, side)->view;
        z->view[1] = lines_of(a, !side)->view;
        if (!z->choice.shifted)
            z->view[0].shift = z->view[1].shift = NULL;
        z->n[0] = wanted;
        z->n[1] = LINES;
        z->batch = 1;
        z->s[0] = z->choice.apart.nmod;
    }
    __syncthreads();
}

/* Sets the flags of 32 lines of a side, which are in the slots of the second half. */
template <int COMPLEX> CALL void flag_lines(chooser *z, uint8_t *far)
{
    const tiles t = share_tiles(z->rule.k, TILE >> COMPLEX, 0, 1);
    const int lane = lane_number(), warp = warp_number(), slot = slot_of_thread();
    pair_sums<1, COMPLEX> sums;
    residuals r = {};
    ozg_norms n;
    uint32_t places;
    int fails = 0;

    clear_pairs(&sums);
    add_tiles<1, COMPLEX>(z, &t, slot >= LINES && z->line[slot] >= 0, 0, &sums, &r);
    n = sum_residuals(z, &r, &places);
    if (threadIdx.x < BOTH && slot >= LINES && z->line[slot] >= 0) {
        ozg_norms_factors(&n, 16, z->rule.c, &z->r1[0][slot], &z->r2[0][slot], &z->rmax[0][slot]);
        z->w[0][slot] = z->d[0][slot] + z->e[slot];
    }
    __syncthreads();
    if (warp < z->n[0] && z->line[LINES + lane] >= 0) {
        const ozg_factors x = factors_of(z, 0, warp), y = factors_of(z, 0, LINES + lane);
        ozg_pair pair = {{0, 0}, {0, 0}, {0, 0}};

        for (int part = 0; part <= COMPLEX; part++) {
            pair.value[part] = absolute(sums.value[0][part]);
            pair.magnitude[part] = sums.magnitude[0][part];
            pair.term[part] = (int16_t)sums.term[0][part];
        }
        fails = ozg_pair_fails(&z->rule, &pair, &x, &y);
    }
    fails = (int)__ballot_sync(ALL, fails);
    if (lane == 0)
        z->mask[warp] = (uint32_t)fails;
    __syncthreads();
    if (warp == 0 && z->line[LINES + lane] >= 0) {
        fails = 0;
        for (int q = 0; q < z->n[0]; q++)
            fails += (int)(z->mask[q] >> lane & 1);
        far[z->line[LINES + lane]] = (uint8_t)ozg_is_far(fails, z->n[0]);
    }
}

/* Rule 4: flags the lines of a side that are far out. */
CALL void find_far(const args *a, chooser *z, const ozg_choose_sums *in, int side)
{
    const ozg_cuda_lines *l = lines_of(a, side);
    const int wanted = side ? z->choice.apart.far_columns : z->choice.apart.far_rows;
    uint8_t *far = far_of(a, side);

    if (wanted)
        keep_lines(a, z, in, !side, side ? z->choice.apart.rows : z->choice.apart.columns);
    for (int64_t first = (int64_t)blockIdx.x * LINES; first < l->count; first += (int64_t)gridDim.x * LINES) {
        const int64_t i = first + threadIdx.x;

        __syncthreads();
        if (threadIdx.x < LINES) {
            if (i < l->count)
                far[i] = 0;
            if (wanted)
                load_facts(a, z, side, LINES + (int)threadIdx.x, i < l->count && is_present(l, i) ? i : -1);
        }
        __syncthreads();
        if (!wanted)
            continue;
        set_exponents(a, z);
        if (z->rule.complex_)
            flag_lines<1>(z, far);
        else
            flag_lines<0>(z, far);
    }
}

/* The stored lines of a side in the order of the parts; before: far ones before each segment, of `all`. */
CALL void set_index(const args *a, chooser *z, const range *r, const int64_t *before, int64_t all)
{
    const int lane = lane_number(), warp = warp_number();
    const int64_t lines = segment_lines(r->count);
    const uint8_t *far = far_of(a, r->side);
    int64_t *index = lines_of(a, r->side)->index;

    for (int64_t segment = blockIdx.x; segment * lines < r->count; segment += gridDim.x) {
        int64_t sum = before[segment];

        for (int64_t i = segment * lines + threadIdx.x; i - threadIdx.x < (segment + 1) * lines;
             i += THREADS) {
            const int here = i < r->count && far[i];
            const uint32_t mask = __ballot_sync(ALL, here);
            int64_t number = sum + __popc(mask & ((1u << lane) - 1)); /* far ones before i */

            __syncthreads();
            if (lane == 0)
                z->mask[warp] = mask;
            __syncthreads();
            for (int w = 0; w < WARPS; w++) {
                number += w < warp ? __popc(z->mask[w]) : 0;
                sum += __popc(z->mask[w]);
            }
            if (i < r->count)
                index[here ? r->count - all + number : i - number] = i;
        }
    }
}

/*
 * The parts and the order of lines in them, by rules 4 and 5. 1: it is one part. As order_lines() in
 * driver.c.
 */
CALL int order_lines(const args *a, chooser *z, const ozg_choose_sums *in, ozg_part part[OZG_PARTS])
{
    int64_t *before = (int64_t *)z->tile, far[2];
    uint32_t *arrived = &a->state->arrived;

    if (threadIdx.x < BOTH)
        z->sampled[threadIdx.x] = z->line[threadIdx.x];
    find_far(a, z, in, 0);
    find_far(a, z, in, 1);
    ozg_grid_sync(arrived);
    for (int side = 0; side < 2; side++) {
        const range r = range_of(side, 0, lines_of(a, side)->count);

        count_lines(a, &r, FAR, 0, memory_of(a)->counts[side]);
    }
    ozg_grid_sync(arrived);
    for (int side = 0; side < 2; side++) {
        const range r = range_of(side, 0, lines_of(a, side)->count);

        far[side] = sum_counts(z, &r, memory_of(a)->counts[side], before);
    }
    if (ozg_too_many_far(far[0], a->a.count) || ozg_too_many_far(far[1], a->b.count) || far[0] + far[1] == 0)
        return 1;
    for (int side = 0; side < 2; side++) {
        const range r = range_of(side, 0, lines_of(a, side)->count);

        sum_counts(z, &r, memory_of(a)->counts[side], before);
        set_index(a, z, &r, before, far[side]);
    }
    ozg_grid_sync(arrived);
    return ozg_apart_parts(a->a.count, far[0], a->b.count, far[1], part);
}

/*
 * The moduli of each part, from a sample of its own lines. Returns the estimate of repairs. As cut_passes()
 * in driver.c.
 */
CALL uint64_t choose_parts(const args *a, chooser *z, const ozg_part *part, int parts)
{
    uint64_t estimate = 0;

    for (int q = 0; q < parts; q++)
        for (int side = 0; side < 2; side++) {
            const range r =
                side ? range_of(1, part[q].j0, part[q].columns) : range_of(0, part[q].i0, part[q].rows);

            count_lines(a, &r, PRESENT, 1, memory_of(a)->counts[2 * q + side]);
        }
    __syncthreads();
    if (threadIdx.x < 2) {
        z->view[threadIdx.x] = lines_of(a, (int)threadIdx.x)->view;
        if (!z->choice.shifted)
            z->view[threadIdx.x].shift = NULL;
    }
    ozg_grid_sync(&a->state->arrived);
    for (int q = 0; q < parts; q++) {
        const range rows = range_of(0, part[q].i0, part[q].rows),
                    columns = range_of(1, part[q].j0, part[q].columns);
        int nmod = z->rule.least;

        choose_present(a, z, &rows, 1, memory_of(a)->counts[2 * q]);
        choose_present(a, z, &columns, 1, memory_of(a)->counts[2 * q + 1]);
        if (z->n[0] && z->n[1]) {
            measure_sample(a, z, sums_of(a, OZG_SUMS_PARTS + q));
            ozg_grid_sync(&a->state->arrived);
            search(a, z, sums_of(a, OZG_SUMS_PARTS + q), 0, rows.count, columns.count);
            nmod = z->choice.nmod;
            estimate +=
                ozg_repairs_of(z->choice.repairs, (uint64_t)(z->n[0] * z->n[1]), rows.count, columns.count);
        }
        if (thread_of_grid() == 0)
            a->state->nmod[q] = nmod;
    }
    return estimate;
}

#endif
