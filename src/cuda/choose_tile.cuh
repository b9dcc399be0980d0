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
#include "cuda/device.cuh"
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
 * The components of a half that a thread loads, as bits of the type, are 8: along memory (step 1) those of 4
 * lines, number lane and lane + 32; else of one line, and of elements WARPS apart. Neighbours in memory are
 * neighbouring lanes.
 */
template <typename word>
OZG_DEVICE void load_along(const chooser *z, int half, int group, int lines, int64_t p0, int count,
                           uint64_t bits[8])
{
    const ozg_view *v = &z->view[half];
    const int components = count << z->rule.complex_, lane = lane_number();

#pragma unroll
    for (int q = 0; q < 4; q++) {
        const int slot = warp_number() + WARPS * q,
                  there = slot / lines == group && z->line[half * LINES + slot] >= 0;
        const int64_t line = there ? z->line[half * LINES + slot] : 0;
        const word *x = (const word *)v->x + ((line * v->line_stride + p0) << z->rule.complex_) + lane;

        bits[2 * q] = there && lane < components ? x[0] : 0;
        bits[2 * q + 1] = there && lane + 32 < components ? x[32] : 0;
    }
}

template <typename word>
OZG_DEVICE void load_across(const chooser *z, int half, int group, int lines, int64_t p0, int count,
                            uint64_t bits[8])
{
    const ozg_view *v = &z->view[half];
    const int complex_ = z->rule.complex_, lane = lane_number(), warp = warp_number();
    const int there = lane / lines == group && z->line[half * LINES + lane] >= 0;
    const int64_t line = there ? z->line[half * LINES + lane] : 0;
    const word *x = (const word *)v->x + ((line * v->line_stride + (p0 + warp) * v->step) << complex_);

#pragma unroll
    for (int q = 0; q < 8; q++) {
        const int further = WARPS * (q >> complex_);
        const int64_t at = ((further * v->step) << complex_) + (complex_ ? q & 1 : 0);

        bits[q] = there && warp + further < count ? x[at] : 0;
    }
}

template <typename word>
OZG_DEVICE void load_half(const chooser *z, int half, int group, int lines, int64_t p0, int count,
                          uint64_t bits[8])
{
    if (z->view[half].step == 1)
        load_along<word>(z, half, group, lines, p0, count, bits);
    else
        load_across<word>(z, half, group, lines, p0, count, bits);
}

/* What was loaded, as doubles, to its places. */
OZG_DEVICE void store_half(chooser *z, int half, const uint64_t bits[8])
{
    const int along = z->view[half].step == 1, complex_ = z->rule.complex_, lane = lane_number(),
              warp = warp_number();

#pragma unroll
    for (int q = 0; q < 8; q++) {
        const int slot = along ? warp + WARPS * (q / 2) : lane;
        const int component = along      ? lane + 32 * (q & 1)
                              : complex_ ? 2 * (warp + WARPS * (q / 2)) + (q & 1)
                                         : warp + WARPS * q;
        const int negative = complex_ && component & 1 && z->view[half].conj;
        const uint64_t x = z->rule.single ? ozg_f64_of_f32((uint32_t)bits[q]) : bits[q];

        z->tile[component * PITCH + half * LINES + slot] = negative ? x ^ OZG_F64_SIGN : x;
    }
}

/* Elements [p0, p0 + count) of all lines of the second half, and of a group of `lines` lines of the first. */
CALL void load_tile(chooser *z, int group, int lines, int64_t p0, int count)
{
    uint64_t first[8], second[8];

    if (z->rule.single) {
        load_half<uint32_t>(z, 0, group, lines, p0, count, first);
        load_half<uint32_t>(z, 1, 0, LINES, p0, count, second);
    } else {
        load_half<uint64_t>(z, 0, group, lines, p0, count, first);
        load_half<uint64_t>(z, 1, 0, LINES, p0, count, second);
    }
    __syncthreads(); /* the last tile has been used */
    store_half(z, 0, first);
    store_half(z, 1, second);
    __syncthreads();
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

OZG_DEVICE void add_residuals(const chooser *z, int64_t p0, int count, residuals *r)
{
    const int slot = slot_of_thread(), parts = 1 + z->rule.complex_;

    for (int p = first_of_thread(); p < count; p += SHARE) {
        const int32_t shift = shift_at(z, slot, p0 + p);
        uint64_t any[BATCH] = {0, 0, 0, 0};

        for (int part = 0; part < parts; part++) {
            const ozg_fp x = ozg_fp_of_bits(z->tile[(p * parts + part) * PITCH + slot]);

#pragma unroll
            for (int b = 0; b < BATCH; b++) {
                const uint64_t y = b < z->batch ? ozg_residual(x.mant, -(x.exp + z->d[b][slot] + shift)) : 0;

                r->sum[b] += y;
                r->squares[b] += (uint64_t)(uint32_t)y * (uint32_t)y;
                r->most[b] = y > r->most[b] ? (uint32_t)y : r->most[b];
                any[b] |= y;
            }
        }
#pragma unroll
        for (int b = 0; b < BATCH; b++)
            r->places[b] += any[b] != 0;
    }
}

/*
 * Each component becomes its floor, with the sign as the highest of 32 bits, and above it its exponent less
 * e.
 */
CALL void make_floors(chooser *z, int64_t p0, int count)
{
    const int slot = slot_of_thread(), parts = 1 + z->rule.complex_;

    for (int p = first_of_thread(); p < count; p += SHARE) {
        const int32_t shift = shift_at(z, slot, p0 + p) - z->e[slot];

        for (int part = 0; part < parts; part++) {
            uint64_t *at = &z->tile[(p * parts + part) * PITCH + slot];
            const uint64_t magnitude = *at & ~OZG_F64_SIGN;
            const uint32_t sign = (uint32_t)(*at >> 63) << 31;
            const int32_t exponent = magnitude ? ozg_exponent(magnitude) + shift : OZG_SAMPLE_ZERO;

            *at = (uint64_t)(uint32_t)exponent << 32 | sign | ozg_floor(magnitude, OZG_SAMPLE_FLOOR + shift);
        }
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
#pragma unroll 4
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
        if (wanted)
            add_residuals(z, p0, count, r);
        if (used)
            make_floors(z, p0, count);
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
