/*
 * choose_lines.cuh - which lines are sampled; passes over all lines.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_CHOOSE_LINES_CUH
#define OZG_CUDA_CHOOSE_LINES_CUH

#include "cuda/choose_sample.cuh"

/* ---- the lines of the sample -------------------------------------------------------------------- */

/* Lines that are counted: places [first, first + count) of a side, in segments. */
typedef struct range {
    int side;
    int64_t first, count;
} range;

enum { PRESENT, FAR };

OZG_DEVICE range range_of(int side, int64_t first, int64_t count)
{
    const range r = {side, first, count};

    return r;
}

OZG_DEVICE int64_t segment_lines(int64_t count)
{
    return quotient_up(quotient_up(count, OZG_CHOOSE_SEGMENTS), THREADS) * THREADS;
}

OZG_DEVICE int64_t stored(const args *a, const range *r, int64_t i, int by_index)
{
    return by_index ? lines_of(a, r->side)->index[r->first + i] : r->first + i;
}

OZG_DEVICE int is_counted(const args *a, const range *r, int64_t i, int what, int by_index)
{
    if (i >= r->count)
        return 0;
    return what == FAR ? far_of(a, r->side)[r->first + i]
                       : is_present(lines_of(a, r->side), stored(a, r, i, by_index));
}

/* The lines of each segment that are counted. To be followed by a barrier. */
OZG_DEVICE void count_lines(const args *a, const range *r, int what, int by_index, uint32_t *counts)
{
    const int64_t lines = segment_lines(r->count);

    for (int64_t segment = blockIdx.x; segment * lines < r->count; segment += gridDim.x) {
        uint32_t count = 0;

        for (int64_t i = 0; i < lines; i += THREADS)
            count += (uint32_t)__syncthreads_count(
                is_counted(a, r, segment * lines + i + threadIdx.x, what, by_index));
        if (threadIdx.x == 0)
            counts[segment] = count;
    }
}

/* before[q]: the lines counted in segments before q; the total is returned. For whole blocks. */
OZG_DEVICE int64_t sum_counts(chooser *z, const range *r, const uint32_t *counts, int64_t *before)
{
    const int lane = (int)threadIdx.x;
    const int64_t lines = segment_lines(r->count), segments = lines ? quotient_up(r->count, lines) : 0;

    __syncthreads();
    if (threadIdx.x < 32) {
        int64_t sum = 0;

        for (int64_t first = 0; first < segments; first += 32) {
            const int64_t own = first + lane < segments ? (int64_t)__ldcg(&counts[first + lane]) : 0;
            int64_t upto = own;

            for (int by = 1; by < 32; by *= 2) {
                const int64_t other = __shfl_up_sync(ALL, upto, by);

                upto += lane >= by ? other : 0;
            }
            if (first + lane < segments)
                before[first + lane] = sum + upto - own;
            sum += __shfl_sync(ALL, upto, 31);
        }
        if (lane == 0)
            z->total = sum;
    }
    __syncthreads();
    return z->total;
}

/* The stored line of the q-th line of the range that is present. For whole warps. */
OZG_DEVICE int64_t find_present(const args *a, const range *r, int by_index, const int64_t *before, int64_t q)
{
    const int lane = lane_number();
    const int64_t lines = segment_lines(r->count), segments = quotient_up(r->count, lines);
    int64_t segment = -1, i;

    for (int64_t first = 0; first < segments; first += 32)
        segment += __popc(__ballot_sync(ALL, first + lane < segments && before[first + lane] <= q));
    q -= before[segment];
    for (i = segment * lines;; i += 32) {
        uint32_t here = __ballot_sync(ALL, is_counted(a, r, i + lane, PRESENT, by_index));
        const int count = __popc(here);

        if (q >= count) {
            q -= count;
            continue;
        }
        for (; q > 0; q--)
            here &= here - 1;
        return stored(a, r, i + __ffs((int)here) - 1, by_index);
    }
}

/* Chooses lines of a range, evenly among those that take part (sample.c), for the slots of its side. */
CALL void choose_present(const args *a, chooser *z, const range *r, int by_index, const uint32_t *counts)
{
    int64_t *before = (int64_t *)z->tile;
    const int64_t present = sum_counts(z, r, counts, before), wanted = ozg_sample_lines(r->count);
    const int n = (int)least64(wanted, present);

    for (int q = warp_number(); q < LINES; q += WARPS) {
        const int64_t line =
            q < n ? find_present(a, r, by_index, before, ozg_sample_number(q, present, wanted)) : -1;

        if (lane_number() == 0)
            load_facts(a, z, r->side, r->side * LINES + q, line);
    }
    if (threadIdx.x == 0)
        z->n[r->side] = n;
    __syncthreads();
}

/* The sample if all lines take part. */
OZG_DEVICE void choose_all(const args *a, chooser *z)
{
    const int slot = (int)threadIdx.x, side = slot / LINES, q = slot % LINES;

    if (slot >= BOTH)
        return;
    const int64_t count = lines_of(a, side)->count, n = ozg_sample_lines(count);

    load_facts(a, z, side, slot, q < n ? ozg_sample_number(q, count, n) : -1);
    if (z->line[slot] >= 0 && z->e[slot] == OZG_E_NONE)
        z->line[slot] = -1; /* the sample will be another one */
    if (q == 0)
        z->n[side] = (int)n;
}

/* ---- all lines ---------------------------------------------------------------------------------- */

/* x1, x2, xmax of all lines, and how many take no part. */
CALL void set_factors(const args *a, chooser *z)
{
    uint32_t absent[2] = {0, 0};

    for (int64_t at = thread_of_grid(); at < a->a.count + a->b.count; at += threads_of_grid()) {
        const int side = at >= a->a.count;
        const ozg_cuda_lines *l = lines_of(a, side);
        const int64_t i = side ? at - a->a.count : at;
        const ozg_norms n = {l->sum[i], l->squares[i], l->top[i]};

        ozg_norms_factors(&n, z->nu, z->rule.c, &l->x1[i], &l->x2[i], &l->xmax[i]);
        absent[side] += !is_present(l, i);
    }
    for (int side = 0; side < 2; side++)
        if (absent[side])
            atomicAdd(&memory_of(a)->absent[side], absent[side]);
}

/* Something of a line with its shifts, of a group of 32 lines and 256 elements: items of all blocks. */
#define GROUP_LINES    32
#define GROUP_ELEMENTS 256

OZG_DEVICE int64_t groups_of(const ozg_cuda_lines *l)
{
    return quotient_up(l->count, GROUP_LINES) * quotient_up(l->k, GROUP_ELEMENTS);
}

/* Element q of this thread in a group: lane by lane along memory; 32 of each thread. 0: there is none. */
OZG_DEVICE int group_element(const ozg_cuda_lines *l, int64_t group, int q, int64_t *i, int64_t *p)
{
    const int lane = lane_number(), warp = warp_number();
    const int64_t groups = quotient_up(l->count, GROUP_LINES), i0 = group % groups * GROUP_LINES,
                  p0 = group / groups * GROUP_ELEMENTS;

    if (l->view.step == 1) { /* a line for 8 numbers q */
        *i = i0 + warp + WARPS * (q / 8);
        *p = p0 + lane + 32 * (q % 8);
    } else {
        *i = i0 + lane;
        *p = p0 + warp + WARPS * q;
    }
    return *i < l->count && *p < l->k && is_present(l, *i);
}

OZG_DEVICE uint64_t component_of(const ozg_cuda_lines *l, int64_t i, int64_t p, int part)
{
    const ozg_view *v = &l->view;
    const int parts = 1 + ozg_type_complex(v->type);

    return ozg_load_bits(v->x, ozg_type_single(v->type), (i * v->line_stride + p * v->step) * parts + part) &
           ~OZG_F64_SIGN;
}

OZG_DEVICE int32_t largest_exponent(const ozg_cuda_lines *l, int64_t i, int64_t p)
{
    int32_t most = OZG_E_NONE;

    for (int part = 0; part <= ozg_type_complex(l->view.type); part++) {
        const uint64_t bits = component_of(l, i, p, part);

        most = bits ? max(most, ozg_exponent(bits)) : most;
    }
    return most;
}

/* Raises the rooms of elements, numbers less OZG_ROOM_NONE. */
OZG_DEVICE void raise_rooms(const args *a, int side)
{
    const ozg_cuda_lines *l = lines_of(a, side);
    uint32_t *rooms = rooms_of(a, side);

    const int along = l->view.step == 1;

    for (int64_t group = blockIdx.x; group < groups_of(l); group += gridDim.x)
        for (int q = 0; q < 8; q++) {
            uint32_t most = 0;
            int64_t i, p;

            for (int r = q; r < 32; r += 8) { /* along memory, of one element */
                const int there = group_element(l, group, r, &i, &p);
                const int32_t e = there ? largest_exponent(l, i, p) : OZG_E_NONE;
                const uint32_t room = e == OZG_E_NONE ? 0 : (uint32_t)(e - l->e[i] - OZG_ROOM_NONE);

                most = max(along ? most : 0, room);
                if (along)
                    continue;
                most = __reduce_max_sync(ALL, most);
                if (lane_number() == 0 && most)
                    atomicMax(&rooms[p], most);
            }
            if (along && most)
                atomicMax(&rooms[p], most);
        }
}

/* With shifts: the exponents of all lines, less OZG_E_NONE, in top. */
OZG_DEVICE void raise_exponents(const args *a, int side)
{
    const ozg_cuda_lines *l = lines_of(a, side);
    const int16_t *shift = l->view.shift;

    for (int64_t group = blockIdx.x; group < groups_of(l); group += gridDim.x)
        for (int q = 0; q < 32; q++) {
            int64_t i, p;
            const int there = group_element(l, group, q, &i, &p);
            const int32_t e = there ? largest_exponent(l, i, p) : OZG_E_NONE;
            uint32_t above = e == OZG_E_NONE ? 0 : (uint32_t)(e + shift[p] - OZG_E_NONE);

            if (l->view.step == 1)
                above = __reduce_max_sync(ALL, above);
            if (above && (l->view.step != 1 || lane_number() == 0))
                atomicMax(&l->top[i], above);
        }
}

OZG_DEVICE uint64_t sum_lanes64(uint64_t x)
{
    for (int by = 16; by; by /= 2)
        x += __shfl_xor_sync(ALL, x, by);
    return x;
}

/* ceil(|x| 2^(nu - e)), as ozg_norms_ref(): shift is that of the element, less e. */
OZG_DEVICE uint64_t norm_of(const chooser *z, uint64_t bits, int32_t shift)
{
    const ozg_fp x = ozg_fp_of_bits(bits);

    return ozg_ceil_shift(x.mant, -z->nu - x.exp - shift);
}

/* With shifts: the norms of all lines. */
OZG_DEVICE void add_norms(const args *a, chooser *z, int side)
{
    const ozg_cuda_lines *l = lines_of(a, side);
    const int along = l->view.step == 1;

    for (int64_t group = blockIdx.x; group < groups_of(l); group += gridDim.x)
        for (int q = 0; q < 32; q += 8) { /* of one line each thread */
            ozg_norms n = {0, 0, 0};
            int64_t i, p;

            for (int r = q; r < q + 8; r++)
                if (group_element(l, group, r, &i, &p))
                    for (int part = 0; part <= z->rule.complex_; part++) {
                        const uint64_t y =
                            norm_of(z, component_of(l, i, p, part), l->view.shift[p] - l->e[i]);

                        n.sum += y;
                        n.squares += y * y;
                        n.most = max(n.most, (uint32_t)y);
                    }
            if (along) {
                n.sum = sum_lanes64(n.sum);
                n.squares = sum_lanes64(n.squares);
                n.most = __reduce_max_sync(ALL, n.most);
            }
            if (n.most == 0 || (along && lane_number()))
                continue;
            add64(&l->sum[i], n.sum);
            add64(&l->squares[i], n.squares);
            atomicMax(&l->top[i], n.most);
        }
}

#endif
