/*
 * choose_sample.cuh - sums of a sample over k by all blocks, and what they say of each number of moduli.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_CHOOSE_SAMPLE_CUH
#define OZG_CUDA_CHOOSE_SAMPLE_CUH

#include "cuda/choose_tile.cuh"

/* ---- sampled lines ------------------------------------------------------------------------------ */

/* What is known of the line in this slot. */
OZG_DEVICE void load_facts(const args *a, chooser *z, int side, int slot, int64_t line)
{
    const ozg_cuda_lines *l = lines_of(a, side);
    ozg_norms n;

    z->line[slot] = line;
    if (line < 0)
        return;
    n.sum = l->sum[line];
    n.squares = l->squares[line];
    n.most = l->top[line];
    z->e[slot] = l->e[line];
    z->squares[slot] = n.squares;
    ozg_norms_factors(&n, z->nu, z->rule.c, &z->x1[slot], &z->x2[slot], &z->xmax[slot]);
}

/* d = nu - e + g (scaling.h) of the lines for the batch. */
OZG_DEVICE int32_t exponent_of(const args *a, const chooser *z, int slot, int s)
{
    return z->nu - z->e[slot] + ozg_power_of_four(z->squares[slot], a->limits.bits[s], a->limits.top[s]);
}

OZG_DEVICE void set_exponents(const args *a, chooser *z)
{
    const int slot = slot_of_thread(), b = first_of_thread();

    if (b < z->batch && z->line[slot] >= 0)
        z->d[b][slot] = exponent_of(a, z, slot, z->s[b]);
    __syncthreads();
}

/* The batch: numbers from s on, upwards or downwards, that are not measured yet. */
OZG_DEVICE void choose_batch(const args *a, chooser *z, int s, int up, int most)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        z->batch = 0;
        for (; s >= z->rule.least && s <= OZG_NMOD_MAX && z->batch < most; s += up ? 1 : -1)
            if (!(z->measured >> s & 1)) {
                z->measured |= UINT64_C(1) << s;
                z->s[z->batch++] = s;
            }
    }
    __syncthreads();
    set_exponents(a, z);
}

OZG_DEVICE void give_residuals(chooser *z, const residuals *r, int wanted, ozg_choose_sums *out)
{
    const int slot = slot_of_thread(), b = first_of_thread();
    uint32_t places;
    const ozg_norms n = sum_residuals(z, r, &places);

    if (!wanted || b >= z->batch || n.most == 0)
        return;
    add64(&out->sum[z->s[b]][slot], n.sum);
    add64(&out->squares[z->s[b]][slot], n.squares);
    atomicMax(&out->most[z->s[b]][slot], n.most);
    atomicAdd(&out->places[z->s[b]][slot], places);
}

template <int NR, int COMPLEX>
OZG_DEVICE void give_pairs(const chooser *z, const pair_sums<NR, COMPLEX> *s, int row, ozg_choose_sums *out)
{
    const int column = lane_number();

#pragma unroll
    for (int r = 0; r < NR; r++) {
        const int at = (row + WARPS * r) * LINES + column;

        if (row + WARPS * r >= z->n[0] || column >= z->n[1])
            continue;
#pragma unroll
        for (int part = 0; part <= COMPLEX; part++) {
            add64(&out->value[part][at], s->value[r][part]);
            add64(&out->magnitude[part][at], s->magnitude[r][part]);
            atomicMax(&out->term[part][at], (uint32_t)(s->term[r][part] - 2 * OZG_SAMPLE_ZERO));
        }
    }
}

/*
 * Pairs and residuals of the batch. The rows are in 4 / NR groups, whose pairs belong to blocks of their own.
 * These load all columns, but find the residuals of their share alone.
 */
template <int NR, int COMPLEX> CALL void measure_group(chooser *z, ozg_choose_sums *out)
{
    const int groups = LINES / WARPS / NR, rows = LINES / groups, slot = slot_of_thread();
    const int group = (int)blockIdx.x % groups, row = group * rows + warp_number();
    const int wanted = slot % LINES / rows == group && z->line[slot] >= 0;
    const uint32_t blocks = gridDim.x / groups;
    const tiles t = share_tiles(z->rule.k, TILE >> COMPLEX, blockIdx.x / groups, blocks);
    pair_sums<NR, COMPLEX> pairs;
    residuals r = {};

    if (blockIdx.x / groups >= blocks)
        return;
    clear_pairs(&pairs);
    add_tiles<NR, COMPLEX>(z, &t, wanted, group, &pairs, &r);
    give_pairs<NR, COMPLEX>(z, &pairs, row, out);
    give_residuals(z, &r, wanted, out);
}

/* As many groups as leave each block one tile, or one. */
OZG_DEVICE void measure_pairs(chooser *z, ozg_choose_sums *out)
{
    const int64_t blocks = gridDim.x, components = z->rule.k << z->rule.complex_;
    const int rows = components <= blocks / 4 * TILE ? 1 : components <= blocks / 2 * TILE ? 2 : 4;

    if (z->rule.complex_)
        rows == 1   ? measure_group<1, 1>(z, out)
        : rows == 2 ? measure_group<2, 1>(z, out)
                    : measure_group<4, 1>(z, out);
    else
        rows == 1   ? measure_group<1, 0>(z, out)
        : rows == 2 ? measure_group<2, 0>(z, out)
                    : measure_group<4, 0>(z, out);
}

/* Residuals of the batch alone. */
CALL void measure_residuals(chooser *z, ozg_choose_sums *out)
{
    const tiles t = share_tiles(z->rule.k, TILE >> z->rule.complex_, blockIdx.x, gridDim.x);
    const int wanted = z->line[slot_of_thread()] >= 0;
    residuals r = {};

    for (int64_t p0 = t.first * t.elements; p0 < t.k; p0 += t.stride * t.elements) {
        load_tile(z, 0, LINES, p0, (int)tile_elements(&t, p0));
        take_slots(z, p0, (int)tile_elements(&t, p0), wanted, 0, &r);
    }
    give_residuals(z, &r, wanted, out);
}

/* A new sample, of lines whose facts are loaded: its sums. To be followed by a barrier. */
CALL void measure_sample(const args *a, chooser *z, ozg_choose_sums *out)
{
    __syncthreads();
    if (threadIdx.x == 0)
        z->measured = 0;
    if (a->fixed)
        choose_batch(a, z, a->fixed, 1, 1);
    else
        choose_batch(a, z, ozg_start_moduli(&z->rule), 0, FIRST);
    measure_pairs(z, out);
}

/* ---- the cost of s moduli ----------------------------------------------------------------------- */

OZG_DEVICE void load_residuals(const args *a, chooser *z, const ozg_choose_sums *in, int from, int slot,
                               int v, int s)
{
    ozg_norms n;

    n.sum = __ldcg(&in->sum[s][from]);
    n.squares = __ldcg(&in->squares[s][from]);
    n.most = __ldcg(&in->most[s][from]);
    z->places[v][slot] = __ldcg(&in->places[s][from]);
    ozg_norms_factors(&n, 16, z->rule.c, &z->r1[v][slot], &z->r2[v][slot], &z->rmax[v][slot]);
    z->w[v][slot] = exponent_of(a, z, slot, s) + z->e[slot];
}

OZG_DEVICE ozg_factors factors_of(const chooser *z, int v, int slot)
{
    const ozg_factors f = {z->x1[slot],    z->x2[slot],      z->xmax[slot], z->r1[v][slot],
                           z->r2[v][slot], z->rmax[v][slot], z->w[v][slot]};

    return f;
}

OZG_DEVICE uint64_t absolute(uint64_t x)
{
    return x >> 63 ? 0 - x : x;
}

OZG_DEVICE ozg_pair load_pair(const ozg_choose_sums *in, int at, int complex_)
{
    ozg_pair pair = {{0, 0}, {0, 0}, {0, 0}};

    for (int part = 0; part <= complex_; part++) {
        pair.value[part] = absolute(__ldcg(&in->value[part][at]));
        pair.magnitude[part] = __ldcg(&in->magnitude[part][at]);
        pair.term[part] = (int16_t)((int32_t)__ldcg(&in->term[part][at]) + 2 * OZG_SAMPLE_ZERO);
    }
    return pair;
}

/* Masks of failing pairs are in fails.row, for s, s - 1, ... moduli. */
OZG_DEVICE void know_fails(chooser *z, int s, int count)
{
    const int lane = lane_number();

    __syncthreads();
    if (threadIdx.x >= 32)
        return;
    for (int v = 0; v < count; v++) {
        const int fails = lane < z->n[0] ? ozg_bit_count(z->fails.row[s - v][lane]) : 0;
        const int sum = __reduce_add_sync(ALL, fails);

        if (lane == 0)
            ozg_know(&z->fails, s - v, (uint64_t)sum, 1);
    }
}

/* Does the pair fail for number v of the moduli that are being evaluated? */
OZG_DEVICE int pair_fails(const chooser *z, const ozg_choose_sums *in, int v, int row, int column)
{
    const ozg_pair pair = load_pair(in, row * LINES + column, z->rule.complex_);
    const ozg_factors x = factors_of(z, v, row), y = factors_of(z, v, LINES + column);

    return ozg_pair_fails(&z->rule, &pair, &x, &y);
}

/* Native: which pairs fail with s moduli. */
OZG_DEVICE void find_fails(chooser *z, const ozg_choose_sums *in, int s)
{
    const int lane = lane_number();

    for (int row = warp_number(); row < z->n[0]; row += WARPS) {
        const int fails = lane < z->n[1] && pair_fails(z, in, 0, row, lane);
        const uint32_t mask = __ballot_sync(ALL, fails);

        if (lane == 0)
            z->fails.row[s][row] = mask;
    }
    know_fails(z, s, 1);
}

/*
 * The same for s and s - 1 by all blocks, a warp a row: every search begins with this, and most end with it.
 */
CALL void find_fails_together(const args *a, chooser *z, ozg_choose_sums *sums, int s)
{
    const int lane = lane_number(), rows = z->n[0];

    for (int unit = (int)blockIdx.x + (int)gridDim.x * warp_number(); unit < 2 * rows;
         unit += (int)gridDim.x * WARPS) {
        const int v = unit / rows, row = unit % rows;
        const int fails = lane < z->n[1] && pair_fails(z, sums, v, row, lane);
        const uint32_t mask = __ballot_sync(ALL, fails);

        if (lane == 0)
            sums->fails[v][row] = mask;
    }
    ozg_grid_sync(&a->state->arrived);
    if (threadIdx.x < 2 * LINES && lane < rows)
        z->fails.row[s - warp_number()][lane] = __ldcg(&sums->fails[warp_number()][lane]);
    know_fails(z, s, 2);
}

OZG_DEVICE double sum_lanes(double x)
{
    for (int by = 16; by; by /= 2)
        x += __shfl_xor_sync(ALL, x, by);
    return x;
}

/* Rounded: what is in doubt with s moduli. */
OZG_DEVICE void find_doubts(chooser *z, const ozg_choose_sums *in, int s)
{
    const int lane = lane_number(), warp = warp_number();
    double doubts = 0, work = 0;

    for (int row = warp; row < z->n[0] && lane < z->n[1]; row += WARPS) {
        const ozg_pair pair = load_pair(in, row * LINES + lane, z->rule.complex_);
        const ozg_factors x = factors_of(z, 0, row), y = factors_of(z, 0, LINES + lane);
        const double doubt = ozg_pair_doubt(&z->rule, &pair, &x, &y);

        doubts += doubt;
        work +=
            doubt * ozg_repair_cost(&z->rule, (double)z->places[0][row] + (double)z->places[0][LINES + lane]);
    }
    doubts = sum_lanes(doubts);
    work = sum_lanes(work);
    if (lane == 0) {
        z->doubts[warp] = doubts;
        z->work[warp] = work;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < WARPS; w++) {
            doubts += z->doubts[w];
            work += z->work[w];
        }
        ozg_know_doubts(&z->fails, s, doubts, work);
    }
}

/*
 * Makes the cost of s known, which is measured; native at the start of the search, for all blocks: of s - 1,
 * too.
 */
CALL void evaluate(const args *a, chooser *z, ozg_choose_sums *in, int s)
{
    const int slot = slot_of_thread(), v = first_of_thread();
    const int two = z->rule.native && s == ozg_start_moduli(&z->rule) && (z->measured >> (s - 1) & 1);

    if (v < 1 + two && z->line[slot] >= 0)
        load_residuals(a, z, in, slot, slot, v, s - v);
    __syncthreads();
    if (two)
        find_fails_together(a, z, in, s);
    else if (z->rule.native)
        find_fails(z, in, s);
    else
        find_doubts(z, in, s);
    __syncthreads();
}

/* Nothing is known of the sample, of m x n entries. */
OZG_DEVICE void forget(chooser *z, int64_t m, int64_t n)
{
    for (int s = (int)threadIdx.x; s <= OZG_NMOD_MAX; s += THREADS)
        z->fails.known[s] = 0;
    if (threadIdx.x == 0) {
        z->fails.rows = z->n[0];
        z->fails.columns = z->n[1];
        z->fails.m = m;
        z->fails.n = n;
    }
    __syncthreads();
}

/* The choice for the sample, whose first sums are there. */
CALL void search(const args *a, chooser *z, ozg_choose_sums *sums, int apart, int64_t m, int64_t n)
{
    forget(z, m, n);
    evaluate(a, z, sums, ozg_start_moduli(&z->rule)); /* every search begins with it */
    for (;;) {
        int s;

        if (threadIdx.x < 32) {
            ozg_choice choice = {};
            const ozg_wish wish = ozg_search(&z->rule, &z->fails, apart, &choice);

            if (threadIdx.x == 0) {
                z->wish = wish;
                z->choice = choice;
            }
        }
        __syncthreads();
        s = z->wish.s;
        if (s == 0)
            break;
        if (!(z->measured >> s & 1)) {
            choose_batch(a, z, s, s > ozg_start_moduli(&z->rule), BATCH);
            measure_residuals(z, sums);
            ozg_grid_sync(&a->state->arrived);
        }
        evaluate(a, z, sums, s);
    }
}

#endif
