/*
 * choose_shifts.cuh - the scaling along k.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_CHOOSE_SHIFTS_CUH
#define OZG_CUDA_CHOOSE_SHIFTS_CUH

#include "cuda/choose_lines.cuh"

OZG_DEVICE void clear_rooms(const args *a)
{
    for (int64_t p = thread_of_grid(); p < 2 * a->request.k; p += threads_of_grid())
        rooms_of(a, 0)[p] = 0;
}

OZG_DEVICE void set_shifts(const args *a)
{
    int16_t *shift_a = (int16_t *)a->a.view.shift, *shift_b = (int16_t *)a->b.view.shift;
    const uint32_t *room_a = rooms_of(a, 0), *room_b = rooms_of(a, 1);

    for (int64_t p = thread_of_grid(); p < a->request.k; p += threads_of_grid()) {
        const int32_t d =
            ozg_shift_of_rooms((int32_t)room_a[p] + OZG_ROOM_NONE, (int32_t)room_b[p] + OZG_ROOM_NONE);

        shift_a[p] = (int16_t)d;
        shift_b[p] = (int16_t)-d;
        if (d)
            memory_of(a)->shifts = 1;
    }
}

OZG_DEVICE void use_shifts(const args *a, chooser *z, int on)
{
    __syncthreads();
    if (threadIdx.x < 2)
        z->view[threadIdx.x].shift = on ? lines_of(a, (int)threadIdx.x)->view.shift : NULL;
    __syncthreads();
}

/* e of the sampled lines, and then their norms, with shifts. As ozg_sample_measure(). */
CALL void measure_shifted(const args *a, chooser *z, ozg_choose_sums *sums)
{
    const tiles t = share_tiles(z->rule.k, TILE >> z->rule.complex_, blockIdx.x, gridDim.x);
    const int slot = slot_of_thread(), parts = 1 + z->rule.complex_, there = z->line[slot] >= 0;

    for (int norms = 0; norms < 2; norms++) {
        ozg_norms n = {0, 0, 0};

        for (int64_t p0 = t.first * t.elements; p0 < t.k; p0 += t.stride * t.elements) {
            const int count = (int)tile_elements(&t, p0);

            load_tile(z, 0, LINES, p0, count);
            for (int at = first_of_thread(); there && at < count * parts; at += SHARE) {
                const ozg_cuda_number x = number_at(z, at, slot);
                const int32_t shift = shift_at(z, slot, p0 + at / parts);
                const uint32_t y = norms  ? ozg_cuda_ceiling(x, OZG_CUDA_UNIT - z->nu + z->e[slot] - shift)
                                   : x.hi ? (uint32_t)(exponent_at(x, shift) - OZG_E_NONE)
                                          : 0;

                n.sum += y;
                n.squares += norms ? (uint64_t)y * y : 0;
                n.most = max(n.most, y);
            }
        }
        if (n.most && norms) {
            add64(&sums->norm_sum[slot], n.sum);
            add64(&sums->norm_squares[slot], n.squares);
        }
        if (n.most)
            atomicMax(norms ? &sums->norm_most[slot] : &sums->exponent[slot], n.most);
        ozg_grid_sync(&a->state->arrived);
        if (threadIdx.x < BOTH && there && !norms)
            z->e[slot] = (int32_t)__ldcg(&sums->exponent[slot]) + OZG_E_NONE;
        __syncthreads();
    }
    if (threadIdx.x < BOTH && there) {
        ozg_norms n;

        n.sum = __ldcg(&sums->norm_sum[slot]);
        n.squares = z->squares[slot] = __ldcg(&sums->norm_squares[slot]);
        n.most = __ldcg(&sums->norm_most[slot]);
        ozg_norms_factors(&n, z->nu, z->rule.c, &z->x1[slot], &z->x2[slot], &z->xmax[slot]);
    }
    __syncthreads();
}

/* Takes the choice with shifts, if they pay. As try_shifts() in choose.c. */
CALL void try_shifts(const args *a, chooser *z)
{
    ozg_choose_sums *sums = sums_of(a, OZG_SUMS_SHIFTED);
    uint32_t *arrived = &a->state->arrived;
    int pay;

    if (ozg_is_usual(&z->rule, &z->fails, z->choice.cost))
        return;
    clear_rooms(a);
    ozg_grid_sync(arrived);
    raise_rooms(a, 0);
    raise_rooms(a, 1);
    ozg_grid_sync(arrived);
    set_shifts(a);
    ozg_grid_sync(arrived);
    if (!__ldcg(&memory_of(a)->shifts))
        return;
    if (threadIdx.x == 0)
        z->plain = z->choice;
    use_shifts(a, z, 1);
    measure_shifted(a, z, sums);
    measure_sample(a, z, sums);
    ozg_grid_sync(arrived);
    search(a, z, sums, a->apart, a->request.m, a->request.n);
    pay = ozg_shifts_pay(&z->fails, z->choice.cost, z->plain.cost);
    use_shifts(a, z, pay);
    if (threadIdx.x == 0) {
        if (!pay)
            z->choice = z->plain;
        z->choice.shifted = pay;
    }
    __syncthreads();
}

/* e and norms of all lines with the shifts. */
CALL void scale_shifted(const args *a, chooser *z)
{
    uint32_t *arrived = &a->state->arrived;

    for (int step = 0; step < 2; step++) { /* clear; then take e from top */
        for (int side = 0; side < 2; side++) {
            const ozg_cuda_lines *l = lines_of(a, side);

            for (int64_t i = thread_of_grid(); i < l->count; i += threads_of_grid()) {
                if (step && is_present(l, i))
                    l->e[i] = (int32_t)l->top[i] + OZG_E_NONE;
                l->sum[i] = l->squares[i] = l->top[i] = 0;
            }
        }
        ozg_grid_sync(arrived);
        for (int side = 0; side < 2; side++)
            step ? add_norms(a, z, side) : raise_exponents(a, side);
        ozg_grid_sync(arrived);
    }
    set_factors(a, z);
    if (thread_of_grid() == 0)
        a->state->shifted = 1;
    ozg_grid_sync(arrived);
}

#endif
