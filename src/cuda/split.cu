/*
 * split.cu - the split stage: lines of a tile to planes of residues, with d, floors, and what is rounded
 * away.
 *
 * Work is cut into items: a block of lines, some steps along k (split.h). x^ has as few words as the widths
 * of the lines of a warp need.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cuda/batch.cuh"
#include "cuda/split_fp64.cuh"
#include "cuda/split_residues.cuh"
#include "cuda/table.h"

/* What of the line is known before its elements are read. */
typedef struct split_line {
    int32_t e, d;
} split_line;

/* ---- lines -------------------------------------------------------------------------------------- */

/* d: scaling.c */
OZG_DEVICE int32_t exponent_d(const ozg_cuda_split_args &a, const split_work &v, const ozg_cuda_lines &l,
                              int64_t stored, int32_t e)
{
    if (e == OZG_E_NONE)
        return OZG_D_NONE;
    switch (a.request.kind) {
    case OZG_BY_NATIVE:
    case OZG_BY_ROUNDED:
        return ozg_norm_bits(a.request.length) - e +
               ozg_power_of_four(l.squares[stored], v.most_bits, v.most_top);
    case OZG_BY_ACCURATE:
        return l.ceiling[stored] == 0
                   ? OZG_D_NONE
                   : OZG_CEILING_BITS - e + ozg_power_of_four(l.ceiling[stored], v.most_bits, v.most_top);
    default:
        return a.request.width - e;
    }
}

/* The number of the thread among those of its line in the warp. */
OZG_DEVICE int column_of(const split_work &v)
{
    const int lane = (int)threadIdx.x & 31;

    return v.shape.along ? lane & (32 / v.shape.warp_lines - 1) : lane / v.shape.warp_lines;
}

/* Its first element in step 0. */
template <int parts> OZG_DEVICE uint32_t offset_of(const split_work &v)
{
    return (uint32_t)(v.shape.along ? 4 * column_of(v)
                                    : 64 * ((int)threadIdx.x / 128) + (parts == 2 ? 8 : 16) * column_of(v));
}

/* The thread's line of block `group` of the operand. */
OZG_DEVICE split_line find_line(const ozg_cuda_split_args &a, const ozg_cuda_split_side &side,
                                const split_work &v, int32_t group, split_thread &t)
{
    const int lane = (int)threadIdx.x & 31, warp = (int)threadIdx.x >> 5, own = v.shape.warp_lines;
    const ozg_cuda_lines &l = side.lines;
    const int single = a.request.single, complex_ = a.request.complex_;
    const int bits = a.ceilings ? OZG_CEILING_BITS : OZG_FLOOR_BITS(complex_);
    const int line = v.shape.along ? warp * own + lane / (32 / own) : warp % 4 * own + lane % own;
    const int64_t at = (int64_t)group * v.shape.block_lines + line;
    split_line s = {OZG_E_NONE, OZG_D_NONE};
    int64_t stored = 0;

    t.flags = 0;
    if (at < v.lines) {
        stored = l.index && a.state->parts > 1 ? l.index[v.place0 + at] : v.place0 + at;
        s.e = l.e[stored];
        s.d = a.ceilings ? OZG_D_NONE : exponent_d(a, v, l, stored, s.e);
        t.flags = SPLIT_EXISTS | (column_of(v) == 0 ? SPLIT_OWNER : 0) |
                  (a.ceilings || s.d != OZG_D_NONE ? SPLIT_ACTIVE : 0);
    }
    t.stored = (uint32_t)stored;
    t.x = (const char *)l.view.x +
          ((stored * l.view.line_stride + a.tile.p0 * v.step) << ((single ? 2 : 3) + complex_));
    t.out = ozg_global(side.planes.base) + at * side.planes.pitch;
    t.from = OZG_CUDA_UNIT - (s.d == OZG_D_NONE ? 0 : s.d);
    /* ozg_ceilings() makes 1 of all that is not 0 in lines that take no part */
    t.from_floor = OZG_CUDA_UNIT - bits + (s.e == OZG_E_NONE ? 1 << 20 : s.e);
    if (__all_sync(ALL_LANES, v.shape.along && ((uintptr_t)t.x & 15) == 0))
        t.flags |= SPLIT_VECTORS;
    if (v.shift || __any_sync(ALL_LANES, s.d > ozg_cuda_plain_d(single)))
        t.flags |= SPLIT_RARE;
    if (a.fp64 && !single && !v.shift && __all_sync(ALL_LANES, powers_fit(t) || !(t.flags & SPLIT_ACTIVE)))
        t.flags |= SPLIT_FP64 | (__any_sync(ALL_LANES, t.from > OZG_CUDA_UNIT) ? SPLIT_TINY : 0);
    return s;
}

/* d and the width of the lines, by one thread of each line or warp. Returns the largest width of the warp. */
OZG_DEVICE int32_t store_d(const ozg_cuda_split_args &a, const ozg_cuda_lines &l, const split_line &s,
                           const split_thread &t, int first)
{
    const int32_t most = __reduce_max_sync(ALL_LANES, s.d == OZG_D_NONE ? 0 : s.d + s.e);

    if (first && (t.flags & SPLIT_OWNER))
        l.d[t.stored] = s.d;
    if (first && most > 0 && (threadIdx.x & 31) == 0)
        atomicMax(&a.state->width[a.tile.part], most);
    return most;
}

/* ---- what is rounded away ----------------------------------------------------------------------- */

/*
 * The bits of a step as words of 32 elements, each written by one thread. places: bits 4 g + q of a thread.
 * Across they are neighbours; along, those of eight threads make a word for each g.
 */
template <int parts>
OZG_DEVICE void store_places(const split_work &v, const split_thread &t, uint32_t places, uint32_t p)
{
    const int own = parts == 2 ? 8 : 16, quads = own / 4, exists = t.flags & SPLIT_EXISTS;
    uint32_t *to = v.places + t.stored * v.words;

    if (v.shape.along) {
        const int c = (int)threadIdx.x & 7;

        for (int g = 0; g < quads; g++) {
            const uint32_t at = (p - 4 * c + g * v.shape.gap) / 32;
            uint32_t word = (places >> 4 * g & 15) << 4 * c;

            for (int by = 1; by < 8; by *= 2)
                word |= __shfl_xor_sync(ALL_LANES, word, by);
            if (c == g && exists && at < v.place_words)
                to[at] = word;
        }
    } else {
        const int c = column_of(v) & (32 / own - 1);
        uint32_t word = places << own * c;

        for (int by = 1; by < 32 / own; by *= 2)
            word |= __shfl_xor_sync(ALL_LANES, word, by * v.shape.warp_lines);
        if (c == 0 && exists && p / 32 < v.place_words)
            to[p / 32] = word;
    }
}

/* Sums of the threads of each line, added to those of the line. */
OZG_DEVICE void add_norms(const split_work &v, const ozg_cuda_lines &l, const split_thread &t, split_norms n)
{
    const int first = v.shape.along ? 1 : v.shape.warp_lines,
              end = v.shape.along ? 32 / v.shape.warp_lines : 32;

    for (int by = first; by < end; by *= 2) {
        n.sum += __shfl_xor_sync(ALL_LANES, n.sum, by);
        n.squares += __shfl_xor_sync(ALL_LANES, n.squares, by);
        n.top = max(n.top, __shfl_xor_sync(ALL_LANES, n.top, by));
    }
    if (!(t.flags & SPLIT_OWNER) || !n.sum)
        return;
    atomicAdd((unsigned long long *)&l.rsum[t.stored], (unsigned long long)n.sum);
    atomicAdd((unsigned long long *)&l.rsquares[t.stored], (unsigned long long)n.squares);
    atomicMax(&l.rtop[t.stored], n.top);
}

/* ---- steps -------------------------------------------------------------------------------------- */

/* All elements of the warp are there. */
template <int Q> OZG_DEVICE int all_inside(const split_work &v, const split_thread &t, uint32_t p)
{
    return __all_sync(ALL_LANES, (t.flags & SPLIT_ACTIVE) && p + (Q - 1) * v.shape.gap + 4 <= v.count);
}

/* All planes of Q quads, from quad g0 of the thread on: x^ in form F, by integers. */
template <int F, int parts, int Q, typename B>
OZG_DEVICE void quads_by_words(const B (&x)[4 * Q * parts], const split_work &v, const split_thread &t,
                               uint32_t p, int g0, const ozg_cuda_split_modulus *table, split_norms &norms)
{
    const int W = split_form<F>::WORDS;
    const split_stores stores = stores_of<Q>(v, t, p);
    uint32_t w[4 * Q * parts][W];

    if (W > 2 || (t.flags & SPLIT_RARE))
        scale_words<W, parts, Q, 1, 1>(w, x, v, t, p, stores, g0, norms);
    else if (v.measure || v.native)
        scale_words<W, parts, Q, 1, 0>(w, x, v, t, p, stores, g0, norms);
    else
        scale_words<W, parts, Q, 0, 0>(w, x, v, t, p, stores, g0, norms);
    store_residues<F, parts, Q>(w, v, t.out + p, stores, table);
}

/* The same by floating point. */
template <int F, int parts, int Q>
OZG_DEVICE void quads_by_limbs(const uint64_t (&x)[4 * Q * parts], const split_work &v, const split_thread &t,
                               uint32_t p, int g0, const ozg_cuda_split_modulus *table, split_norms &norms)
{
    const int L = split_form<F>::WORDS;
    const split_stores stores = stores_of<Q>(v, t, p);
    uint32_t w[4 * Q * parts][L];

    if (v.measure || v.native)
        scale_limbs<L, parts, Q, 1>(w, x, v, t, p, stores, g0, norms);
    else
        scale_limbs<L, parts, Q, 0>(w, x, v, t, p, stores, g0, norms);
    store_residues<F, parts, Q>(w, v, t.out + p, stores, table);
}

/* The same of form F; of limbs, where those will not do, of as many words. */
template <int single, int parts, int F, int Q, typename B>
OZG_DEVICE void split_quads(const B (&x)[4 * Q * parts], const split_work &v, const split_thread &t,
                            uint32_t p, int g0, const ozg_cuda_split_modulus *table, split_norms &norms)
{
    if constexpr (split_form<F>::LIMBS) {
        if (!(t.flags & SPLIT_TINY) || __all_sync(ALL_LANES, all_normal(x, t)))
            quads_by_limbs<F, parts, Q>(x, v, t, p, g0, table, norms);
        else
            quads_by_words<F - OZG_CUDA_SPLIT_2_LIMBS + OZG_CUDA_SPLIT_2, parts, Q>(x, v, t, p, g0, table,
                                                                                    norms);
    } else {
        quads_by_words<F, parts, Q>(x, v, t, p, g0, table, norms);
    }
    if (v.places && g0 + Q == 4 / parts) {
        store_places<parts>(v, t, norms.places, p - g0 * v.shape.gap);
        norms.places = 0;
    }
}

/* `steps` steps of the warp's lines, from element p on. Of a step that is whole, numbers come ahead. */
template <int single, int parts, int F>
OZG_DEVICE void split_steps(const split_work &v, const ozg_cuda_lines &l, const split_thread &t, uint32_t p,
                            int steps, const ozg_cuda_split_modulus *table)
{
    typedef typename split_type<single>::bits B;
    const int quads = 4 / parts, Q = F == OZG_CUDA_SPLIT_6 ? quads / 2 : quads;
    B *stage = (B *)(table + OZG_NMOD_MAX + 1) + (threadIdx.x & ~31u) * SPLIT_STAGED; /* of the warp */
    split_norms n = {0, 0, 0, 0};
    int staged = all_inside<quads>(v, t, p);

    if (staged)
        stage_numbers<parts>(stage, v, t, p);
#pragma unroll 1
    for (; steps > 0; steps--, p += v.shape.step)
#pragma unroll 1
        for (int g = 0; g < quads; g += Q) {
            const uint32_t at = p + g * v.shape.gap;
            alignas(16) B x[4 * Q * parts];

            if (staged) {
                ozg_cp_async_wait<0>();
                take_staged(x, stage, t, 4 * parts * g);
            } else {
                load_quads<parts, Q>(x, v, t, at, all_inside<Q>(v, t, at));
            }
            if (g + Q == quads) {
                staged = steps > 1 && all_inside<quads>(v, t, p + v.shape.step);
                if (staged)
                    stage_numbers<parts>(stage, v, t, p + v.shape.step);
            }
            split_quads<single, parts, F, Q>(x, v, t, at, g, table, n);
        }
    if (v.measure)
        add_norms(v, l, t, n);
}

template <int single, int parts>
OZG_DEVICE void split_item(const ozg_cuda_split_args &a, const ozg_cuda_split_side &side, const split_work &v,
                           int32_t group, int32_t step, int32_t steps, const ozg_cuda_split_modulus *table)
{
    const ozg_cuda_lines &l = side.lines;
    split_thread t;
    const split_line s = find_line(a, side, v, group, t);
    const uint32_t offset = offset_of<parts>(v), p = (uint32_t)(step * v.shape.step) + offset;
    const int32_t width = store_d(a, l, s, t, step == 0 && offset < 64);

    if (!__any_sync(ALL_LANES, t.flags & SPLIT_EXISTS))
        return;
    if constexpr (single) {
        if (width <= 30)
            split_steps<1, parts, OZG_CUDA_SPLIT_1>(v, l, t, p, steps, table);
        else if (width <= 62)
            split_steps<1, parts, OZG_CUDA_SPLIT_2>(v, l, t, p, steps, table);
        else
            split_steps<1, parts, OZG_CUDA_SPLIT_6>(v, l, t, p, steps, table);
    } else {
        const int limbs = t.flags & SPLIT_FP64;

        if (limbs && width <= 56)
            split_steps<0, parts, OZG_CUDA_SPLIT_2_LIMBS>(v, l, t, p, steps, table);
        else if (limbs && width <= 82)
            split_steps<0, parts, OZG_CUDA_SPLIT_3_LIMBS>(v, l, t, p, steps, table);
        else if (width <= 62)
            split_steps<0, parts, OZG_CUDA_SPLIT_2>(v, l, t, p, steps, table);
        else if (width <= 94)
            split_steps<0, parts, OZG_CUDA_SPLIT_3>(v, l, t, p, steps, table);
        else
            split_steps<0, parts, OZG_CUDA_SPLIT_6>(v, l, t, p, steps, table);
    }
}

/* ---- ceilings ----------------------------------------------------------------------------------- */

/* ozg_ceilings() */
template <int single, int parts>
OZG_DEVICE void ceilings_item(const ozg_cuda_split_args &a, const ozg_cuda_split_side &side,
                              const split_work &v, int32_t group, int32_t step, int32_t steps)
{
    const int quads = parts == 2 ? 2 : 4;
    uint32_t p = (uint32_t)(step * v.shape.step) + offset_of<parts>(v);
    split_thread t;

    find_line(a, side, v, group, t);
#pragma unroll 1
    for (; steps > 0; steps--, p += v.shape.step) {
        typename split_type<single>::bits x[4 * quads * parts];
        uint32_t w[parts][quads];

        load_quads<parts, quads>(x, v, t, p, all_inside<quads>(v, t, p));
        for (int i = 0; i < 4 * quads * parts; i++) {
            const uint32_t y = ozg_cuda_ceiling(number_at<parts, 1, 1, quads>(x, i, v, p), t.from_floor);
            uint32_t *word = &w[i % parts][i / (4 * parts)];

            *word = (i / parts % 4 ? *word : 0) | y << 8 * (i / parts % 4);
        }
        for (int part = 0; part < parts; part++)
            store_quads<quads>(t.out + p + part * v.plane, w[part], v, stores_of<quads>(v, t, p));
    }
}

/* ---- the kernel --------------------------------------------------------------------------------- */

/*
 * Steps of an item, by a warp: of 1 .. 32 those with which the last block is ready first. What an item costs
 * beside its steps is about half a step.
 */
OZG_DEVICE int32_t chunk_of(const split_work &v)
{
    const int64_t chunk = 1 + (threadIdx.x & 31),
                  items = v.shape.groups * ((v.shape.steps + chunk - 1) / chunk);
    const int64_t rounds = (items + gridDim.x - 1) / gridDim.x;
    const uint32_t cost = (uint32_t)min(rounds * (2 * chunk + 1), (int64_t)UINT32_MAX),
                   best = __reduce_min_sync(ALL_LANES, cost);

    return __ffs((int)__ballot_sync(ALL_LANES, cost == best));
}

/* items = 0: nothing. By a warp, of which all lanes get the same. */
OZG_DEVICE split_work work_of(const ozg_cuda_split_args &a, int q)
{
    const ozg_cuda_split_side &side = a.side[q];
    const ozg_view &view = side.lines.view;
    const ozg_part &part = a.state->part[a.tile.part];
    const ozg_cuda_table &table = a.tables[a.state->nmod[a.tile.part]];
    const int64_t i0 = q ? a.tile.j0 : a.tile.i0, most = q ? a.tile.columns : a.tile.rows;
    split_work v = {};

    v.lines = view.x ? min((q ? part.columns : part.rows) - i0, most) : 0;
    if (v.lines <= 0)
        return v;
    v.place0 = (q ? part.j0 : part.i0) + i0;
    v.shape = ozg_cuda_split_shape_of(a.request.complex_, view.step == 1, v.lines, side.planes.pitch);
    v.chunk = chunk_of(v);
    v.items = (int32_t)(v.shape.groups * ((v.shape.steps + v.chunk - 1) / v.chunk));
    v.step = view.step;
    v.plane = side.planes.lines * side.planes.pitch;
    v.shift = view.shift && a.state->shifted ? view.shift + a.tile.p0 : NULL;
    v.count = (uint32_t)a.tile.count;
    v.pitch = (uint32_t)side.planes.pitch;
    v.words = 2 * side.lines.words;
    v.place_words = (uint32_t)(v.words - a.tile.p0 / 32);
    if (side.measure && a.request.measured && side.lines.places)
        v.places = (uint32_t *)side.lines.places + a.tile.p0 / 32;
    v.nmod = table.nmod;
    v.three = table.three;
    v.planes = table.planes;
    v.most_bits = table.most_bits;
    v.most_top = table.most_top;
    v.native = a.request.kind == OZG_BY_NATIVE;
    v.measure = side.measure && a.request.measured;
    v.conj = view.conj ? ALL_LANES : 0;
    return v;
}

template <int single, int parts>
OZG_DEVICE void split_all(const ozg_cuda_split_args &a, const split_work *work,
                          const ozg_cuda_split_modulus *table)
{
    for (int32_t i = (int32_t)blockIdx.x; i < work[0].items + work[1].items; i += (int32_t)gridDim.x) {
        const int q = i >= work[0].items;
        const split_work &v = work[q];
        const int32_t item = q ? i - work[0].items : i, groups = (int32_t)v.shape.groups;
        const int32_t group = item % groups, step = item / groups * v.chunk;
        const int32_t steps = min(v.chunk, (int32_t)v.shape.steps - step);

        if (a.ceilings)
            ceilings_item<single, parts>(a, a.side[q], v, group, step, steps);
        else
            split_item<single, parts>(a, a.side[q], v, group, step, steps, table);
    }
}

OZG_KERNEL_BATCH(ozg_cuda_split, ozg_cuda_split_args, OZG_CUDA_SPLIT_THREADS, OZG_CUDA_SPLIT_RESIDENT)
{
    OZG_SHARED(ozg_cuda_split_modulus, table);
    __shared__ split_work work[2];

    if (a.tile.part >= a.state->parts) {
        ozg_launch_next();
        return;
    }
    const ozg_cuda_table &constants = a.tables[a.state->nmod[a.tile.part]];
    const uint32_t *from = (const uint32_t *)constants.split;
    const int nmod = constants.nmod;

    if (threadIdx.x < 64) {
        const split_work v = work_of(a, (int)threadIdx.x / 32);

        if (threadIdx.x % 32 == 0)
            work[threadIdx.x / 32] = v;
    }
    for (int i = (int)threadIdx.x; !a.ceilings && i < nmod * (int)(sizeof *table / 4);
         i += OZG_CUDA_SPLIT_THREADS)
        ((uint32_t *)table)[i] = from[i];
    __syncthreads();
    if (a.request.complex_) {
        if (a.request.single)
            split_all<1, 2>(a, work, table);
        else
            split_all<0, 2>(a, work, table);
    } else {
        if (a.request.single)
            split_all<1, 1>(a, work, table);
        else
            split_all<0, 1>(a, work, table);
    }
}
