/*
 * choose_tile.cuh - what a block of ozg_cuda_choose knows, and tiles of sampled lines in its shared memory.
 *
 * A tile is up to 64 components of up to 64 lines, component by component: slots 0 .. 31 are lines of one
 * side, 32 .. 63 of the other.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_CHOOSE_TILE_CUH
#define OZG_CUDA_CHOOSE_TILE_CUH

#include "cuda/choose.h"
#include "cuda/number.cuh"
#include "decide.h"

#define THREADS  OZG_CUDA_CHOOSE_THREADS
#define WARPS    (THREADS / 32)
#define LINES    OZG_SAMPLE_LINES
#define BOTH     OZG_CHOOSE_BOTH
#define TILE     64         /* components of a line */
#define PITCH    (BOTH + 1) /* words between components: those of a line are in different banks */
#define BATCH    4          /* numbers of moduli that are measured together */
#define FIRST    2          /* of these, in the first pass: the start of the search and the one below it */
#define TOGETHER 2          /* numbers of moduli that are evaluated together */
#define ALL      0xffffffffu

#define CALL static __device__ __attribute__((noinline))

/* What a block knows. */
typedef struct chooser {
    uint64_t tile[TILE * PITCH];
    ozg_fails fails;
    ozg_rule rule;
    ozg_choice choice, plain;
    ozg_wish wish;
    ozg_view view[2]; /* of the slots of either half */
    int32_t n[2];
    int64_t line[BOTH], sampled[BOTH]; /* stored lines; -1: none */
    uint64_t squares[BOTH], measured;  /* bit s: residuals for s moduli are in the sums */
    int32_t e[BOTH];
    uint32_t x1[BOTH], x2[BOTH], xmax[BOTH];
    int32_t nu, batch, s[BATCH], d[BATCH][BOTH];
    /* for the numbers of moduli that are being evaluated */
    int32_t w[TOGETHER][BOTH];
    uint32_t r1[TOGETHER][BOTH], r2[TOGETHER][BOTH], rmax[TOGETHER][BOTH], places[TOGETHER][BOTH];
    double doubts[WARPS], work[WARPS];
    uint32_t mask[WARPS]; /* of failing pairs */
    int64_t total;
} chooser;

typedef ozg_cuda_choose_args args;

OZG_DEVICE void add64(uint64_t *x, uint64_t y)
{
    atomicAdd((unsigned long long *)x, (unsigned long long)y);
}

OZG_DEVICE int64_t least64(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

OZG_DEVICE int64_t quotient_up(int64_t x, int64_t y)
{
    return (x + y - 1) / y;
}

OZG_DEVICE int lane_number(void)
{
    return (int)threadIdx.x % 32;
}

OZG_DEVICE int warp_number(void)
{
    return (int)threadIdx.x / 32;
}

OZG_DEVICE int thread_of_grid(void)
{
    return (int)(blockIdx.x * THREADS + threadIdx.x);
}

OZG_DEVICE int threads_of_grid(void)
{
    return (int)gridDim.x * THREADS;
}

OZG_DEVICE ozg_choose_memory *memory_of(const args *a)
{
    return (ozg_choose_memory *)a->memory;
}

OZG_DEVICE ozg_choose_sums *sums_of(const args *a, int which)
{
    ozg_choose_memory *m = memory_of(a);

    return which == OZG_SUMS_ALL ? &m->first : &m->more[which - 1];
}

/* Rooms of side A (0) or B (1). */
OZG_DEVICE uint32_t *rooms_of(const args *a, int side)
{
    return (uint32_t *)((unsigned char *)a->memory + OZG_CHOOSE_ROOMS_AT) + side * a->request.k;
}

OZG_DEVICE uint8_t *far_of(const args *a, int side)
{
    return (uint8_t *)rooms_of(a, 2) + (side ? a->request.m : 0);
}

OZG_DEVICE const ozg_cuda_lines *lines_of(const args *a, int side)
{
    return side ? &a->b : &a->a;
}

OZG_DEVICE int is_present(const ozg_cuda_lines *l, int64_t i)
{
    return l->e[i] != OZG_E_NONE;
}

/* ---- tiles -------------------------------------------------------------------------------------- */

/*
 * A thread brings 8 components of each half, number q of them: along memory (step 1) of 4 lines, components lane
 * and lane + 32; else of one line, elements WARPS apart. Neighbours in memory are neighbouring lanes.
 */
typedef struct tile_place {
    int slot, component;
} tile_place;

OZG_DEVICE tile_place place_of(int along, int complex_, int q)
{
    const int lane = lane_number(), warp = warp_number();

    if (along)
        return {warp + WARPS * (q / 2), lane + 32 * (q & 1)};
    return {lane, complex_ ? 2 * (warp + WARPS * (q / 2)) + (q & 1) : warp + WARPS * q};
}

/*
 * Numbers as they are stored, of `count` elements from p0 on; of the first half, `lines` lines of a group. By
 * asynchronous copies: all of them are on their way at once, in a loop of few instructions. (What takes time here
 * is to fetch instructions for the first time.)
 */
OZG_DEVICE void load_half(chooser *z, int half, int group, int lines, int64_t p0, int count)
{
    const ozg_view *v = &z->view[half];
    const int complex_ = z->rule.complex_, along = v->step == 1;

#pragma unroll 1
    for (int q = 0; q < 8; q++) {
        const tile_place t = place_of(along, complex_, q);
        const int64_t line = z->line[half * LINES + t.slot];
        const int p = t.component >> complex_;
        const uint64_t element = (uint64_t)(line * v->line_stride + (p0 + p) * v->step); /* line may be -1 */
        const int64_t at = (int64_t)(element << complex_) + (t.component & complex_);
        uint64_t *to = &z->tile[t.component * PITCH + half * LINES + t.slot];

        if (line < 0 || p >= count || (unsigned)(t.slot - group * lines) >= (unsigned)lines)
            *to = 0;
        else if (z->rule.single)
            ozg_cp_async<4>(to, (const uint32_t *)v->x + at);
        else
            ozg_cp_async<8>(to, (const uint64_t *)v->x + at);
    }
}

/* Elements [p0, p0 + count) of all lines of the second half, and of a group of `lines` lines of the first. */
CALL void load_tile(chooser *z, int group, int lines, int64_t p0, int count)
{
    __syncthreads(); /* the last tile has been used */
    load_half(z, 0, group, lines, p0, count);
    load_half(z, 1, 0, LINES, p0, count);
    ozg_cp_async_commit();
    ozg_cp_async_wait<0>();
    __syncthreads();
}

/* A component of a tile, normalized. */
OZG_DEVICE ozg_cuda_number number_at(const chooser *z, int component, int slot)
{
    const uint64_t bits = z->tile[component * PITCH + slot];
    ozg_cuda_number n = z->rule.single ? ozg_cuda_number_of((uint32_t)bits) : ozg_cuda_number_of(bits);

    if (z->rule.complex_ && component & 1 && z->view[slot / LINES].conj)
        n.neg = ~n.neg;
    if (!(n.hi & OZG_CUDA_LEADING))
        ozg_cuda_normalize(n);
    return n;
}

/* ozg_exponent(), OZG_SAMPLE_ZERO of 0; and times 2^shift. */
OZG_DEVICE int32_t exponent_at(const ozg_cuda_number &n, int32_t shift)
{
    return n.hi ? n.exp - (OZG_CUDA_UNIT - 63) + shift : OZG_SAMPLE_ZERO;
}

/* The slot that this thread looks after in a tile, with three others: elements p = first, first + 4, ... */
OZG_DEVICE int slot_of_thread(void)
{
    return (int)threadIdx.x % BOTH;
}

#define SHARE (THREADS / BOTH)

OZG_DEVICE int first_of_thread(void)
{
    return (int)threadIdx.x / BOTH;
}

OZG_DEVICE int32_t shift_at(const chooser *z, int slot, int64_t p)
{
    const int16_t *shift = z->view[slot / LINES].shift;

    return shift ? shift[p] : 0;
}

/* Norms of the residuals of a slot, of a share of its elements, for each number of moduli of the batch. */
typedef struct residuals {
    uint64_t sum[BATCH], squares[BATCH];
    uint32_t most[BATCH], places[BATCH];
} residuals;

/* RN_int(x 2^d) for each number of moduli of the batch; places: bit b, something of the element is rounded. */
OZG_DEVICE void add_residuals(const chooser *z, const ozg_cuda_number &n, int slot, int32_t shift,
                              residuals *r, uint32_t *places)
{
#pragma unroll
    for (int b = 0; b < BATCH; b++)
        if (b < z->batch) {
            const int32_t from = OZG_CUDA_UNIT - z->d[b][slot] - shift;
            const uint32_t y = ozg_cuda_residual(ozg_cuda_scale_number<6>(n, from));

            r->sum[b] += y;
            r->squares[b] += (uint64_t)y * y;
            r->most[b] = max(r->most[b], y);
            *places |= (uint32_t)(y != 0) << b;
        }
}

/* The floor of a component with the sign as the highest of 32 bits, and above it its exponent less e. */
OZG_DEVICE uint64_t floor_of(const ozg_cuda_number &n, int32_t shift)
{
    const int32_t exponent = exponent_at(n, shift); /* at most 0: |x| 2^shift < 1 */

    static_assert(OZG_SAMPLE_FLOOR == 31, "n.hi has so many bits");
    return (uint64_t)(uint32_t)exponent << 32 | (n.neg & 0x80000000) | n.hi >> min(-exponent, 31);
}

/* The components of the slot, by four threads: residuals where wanted, floors in their place where used. */
OZG_DEVICE void take_slots(chooser *z, int64_t p0, int count, int wanted, int used, residuals *r)
{
    const int slot = slot_of_thread(), parts = 1 + z->rule.complex_;

#pragma unroll 1
    for (int p = first_of_thread(); p < count; p += SHARE) {
        const int32_t shift = shift_at(z, slot, p0 + p);
        uint32_t places = 0;

#pragma unroll 1
        for (int at = p * parts; at < (p + 1) * parts; at++) {
            const ozg_cuda_number n = number_at(z, at, slot);

            if (wanted)
                add_residuals(z, n, slot, shift, r, &places);
            if (used)
                z->tile[at * PITCH + slot] = floor_of(n, shift - z->e[slot]);
        }
#pragma unroll
        for (int b = 0; b < BATCH; b++)
            r->places[b] += places >> b & 1;
    }
}

/* Sums of NR pairs: of slots row + WARPS r of the first half with one of the second. */
template <int NR, int COMPLEX> struct pair_sums {
    uint64_t value[NR][1 + COMPLEX], magnitude[NR][1 + COMPLEX];
    int32_t term[NR][1 + COMPLEX];
};

template <int NR, int COMPLEX> OZG_DEVICE void clear_pairs(pair_sums<NR, COMPLEX> *s)
{
#pragma unroll
    for (int r = 0; r < NR; r++)
#pragma unroll
        for (int part = 0; part <= COMPLEX; part++) {
            s->value[r][part] = s->magnitude[r][part] = 0;
            s->term[r][part] = 2 * OZG_SAMPLE_ZERO;
        }
}

/*
 * Adds x y 2^-31 (subtract: -x y 2^-31), the product of the leading bits and the exponents. As
 * add_products() in sample.c.
 */
OZG_DEVICE void add_product(uint64_t x, uint64_t y, int subtract, int down, uint64_t *value,
                            uint32_t *magnitude, int32_t *term)
{
    const uint32_t mx = (uint32_t)x & INT32_MAX, my = (uint32_t)y & INT32_MAX;
    const int32_t product = (int32_t)((uint64_t)mx * my >> OZG_SAMPLE_FLOOR);
    const uint32_t signs = (uint32_t)x ^ (uint32_t)y ^ (uint32_t)subtract << 31;
    const int32_t sign = (int32_t)signs >> 31 | 1, sum = (int32_t)(x >> 32) + (int32_t)(y >> 32);

    *value += (uint64_t)((int64_t)product * sign);
    *magnitude += (mx >> down) * (my >> down);
    *term = max(*term, sum);
}

/* Adds `count` elements of the tile. Leading products are below 2^14: of a tile, they fit 32 bits. */
template <int NR, int COMPLEX>
OZG_DEVICE void add_pairs(const chooser *z, int row, int count, pair_sums<NR, COMPLEX> *s)
{
    const int column = LINES + lane_number(), down = OZG_SAMPLE_FLOOR - OZG_FLOOR_BITS(COMPLEX);
    uint32_t magnitude[NR][1 + COMPLEX] = {};

    if (column - LINES >= z->n[1])
        return;
#pragma unroll(NR *(1 + COMPLEX) == 1 ? 4 : 1)
    for (int p = 0; p < count; p++) {
        const uint64_t *t = &z->tile[p * (1 + COMPLEX) * PITCH];
        const uint64_t yr = t[column], yi = COMPLEX ? t[PITCH + column] : 0;

#pragma unroll
        for (int r = 0; r < NR; r++) {
            const uint64_t xr = t[row + WARPS * r];

            add_product(xr, yr, 0, down, &s->value[r][0], &magnitude[r][0], &s->term[r][0]);
            if (COMPLEX) { /* Re = xr yr - xi yi, Im = xr yi + xi yr */
                const uint64_t xi = t[PITCH + row + WARPS * r];

                add_product(xi, yi, 1, down, &s->value[r][0], &magnitude[r][0], &s->term[r][0]);
                add_product(xr, yi, 0, down, &s->value[r][COMPLEX], &magnitude[r][COMPLEX],
                            &s->term[r][COMPLEX]);
                add_product(xi, yr, 0, down, &s->value[r][COMPLEX], &magnitude[r][COMPLEX],
                            &s->term[r][COMPLEX]);
            }
        }
    }
#pragma unroll
    for (int r = 0; r < NR; r++)
#pragma unroll
        for (int part = 0; part <= COMPLEX; part++)
            s->magnitude[r][part] += magnitude[r][part];
}

/* Tiles first, first + stride, ... of `elements` elements each. */
typedef struct tiles {
    int64_t first, stride, k;
    int elements;
} tiles;

OZG_DEVICE int64_t tile_elements(const tiles *t, int64_t p0)
{
    return least64(t->elements, t->k - p0);
}

/*
 * Tiles of one block out of so many; most: elements of a tile at most. All blocks have about the same
 * number.
 */
OZG_DEVICE tiles share_tiles(int64_t k, int most, uint32_t block, uint32_t blocks)
{
    const uint32_t share = ((uint32_t)k - 1) / blocks + 1,
                   rounds = (share - 1) / (uint32_t)most + 1; /* k < 2^32 */
    const uint32_t each = ((share - 1) / rounds / 8 + 1) * 8;
    tiles t;

    t.first = block;
    t.stride = blocks;
    t.k = k;
    t.elements = (int)(each < (uint32_t)most ? each : (uint32_t)most);
    return t;
}

/*
 * Sums of the tiles: residuals of the slots whose threads want them, and pairs of a group of NR WARPS rows.
 */
template <int NR, int COMPLEX>
OZG_DEVICE void add_tiles(chooser *z, const tiles *t, int wanted, int group, pair_sums<NR, COMPLEX> *s,
                          residuals *r)
{
    const int rows = NR * WARPS, slot = slot_of_thread(), used = slot >= LINES || slot / rows == group;

    for (int64_t p0 = t->first * t->elements; p0 < t->k; p0 += t->stride * t->elements) {
        const int count = (int)tile_elements(t, p0);

        load_tile(z, group, rows, p0, count);
        take_slots(z, p0, count, wanted, used, r);
        __syncthreads();
        add_pairs<NR, COMPLEX>(z, group * rows + warp_number(), count, s);
    }
}

/*
 * The sums of the four threads of each slot: of slot slot_of_thread() for number first_of_thread() of the
 * batch.
 */
OZG_DEVICE ozg_norms sum_residuals(chooser *z, const residuals *r, uint32_t *places)
{
    const int slot = slot_of_thread(), at = first_of_thread();
    uint64_t *sum = z->tile, *squares = sum + SHARE * BATCH * BOTH;
    uint32_t *most = (uint32_t *)(squares + SHARE * BATCH * BOTH), *place = most + SHARE * BATCH * BOTH;
    ozg_norms n = {0, 0, 0};

    static_assert(BATCH == SHARE && 24 * SHARE * BATCH * BOTH <= sizeof z->tile, "room for all of them");
    __syncthreads();
#pragma unroll
    for (int b = 0; b < BATCH; b++) {
        sum[(at * BATCH + b) * BOTH + slot] = r->sum[b];
        squares[(at * BATCH + b) * BOTH + slot] = r->squares[b];
        most[(at * BATCH + b) * BOTH + slot] = r->most[b];
        place[(at * BATCH + b) * BOTH + slot] = r->places[b];
    }
    __syncthreads();
    *places = 0;
    for (int q = 0; q < SHARE; q++) {
        const int from = (q * BATCH + at) * BOTH + slot;

        n.sum += sum[from];
        n.squares += squares[from];
        n.most = max(n.most, most[from]);
        *places += place[from];
    }
    return n;
}

#endif
