/*
 * reconstruct.cuh - what the reconstruct kernels share: their part of the tile, the exact tests, the list.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_RECONSTRUCT_CUH
#define OZG_CUDA_RECONSTRUCT_CUH

#include "cuda/batch.cuh"
#include "cuda/bounds.cuh"
#include "cuda/crt.cuh"
#include "cuda/kernels.h"
#include "cuda/reconstruct.h"
#include "cuda/table.h"
#include "cuda/words.cuh"

#define THREADS OZG_CUDA_RECONSTRUCT_THREADS
#define ALL     0xFFFFFFFFu

/* ---- the tile ----------------------------------------------------------------------------------- */

/* What the part has of the tile, and how blocks share it: `lines` threads side by side have a column. */
typedef struct tile {
    int64_t i0, j0; /* places of the first row and column */
    int rows, columns;
    int several;       /* parts: places have an index */
    int lines;         /* a power of 2 */
    int strips, width; /* an item: a strip of rows and `width` columns */
} tile;

OZG_DEVICE int64_t least(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

/* r: rows of a thread. Items are as many as there are blocks, if there are rows and columns enough. */
OZG_DEVICE tile tile_of(const ozg_cuda_reconstruct_args &a, int r)
{
    const ozg_part *part = &a.state->part[a.tile.part];
    tile t;

    t.i0 = part->i0 + a.tile.i0;
    t.j0 = part->j0 + a.tile.j0;
    t.rows = (int)least(a.tile.rows, part->rows - a.tile.i0);
    t.columns = (int)least(a.tile.columns, part->columns - a.tile.j0);
    t.several = a.state->parts > 1;
    t.lines = 1;
    while (t.lines < THREADS && t.lines * r < t.rows)
        t.lines *= 2;
    t.strips = t.rows > 0 && t.columns > 0 ? (t.rows + t.lines * r - 1) / (t.lines * r) : 0;
    t.width = 1;
    if (t.strips > 0 && t.strips < (int)gridDim.x)
        t.width = (int)((int64_t)t.columns * t.strips / gridDim.x) + 1;
    else
        t.width = t.columns;
    return t;
}

/* The stored line of a row or column by place. */
OZG_DEVICE int64_t stored(const tile &t, const ozg_cuda_lines &l, int64_t place)
{
    return t.several ? l.index[place] : place;
}

enum { SMALL_WORDS = 2, ANY_WORDS = INT32_MAX };

/* The table of the part, or NULL where nothing is to be done: its c^ has from `least` to `most` words. */
OZG_DEVICE const ozg_cuda_table *table_of(const ozg_cuda_reconstruct_args &a, int least, int most)
{
    const ozg_cuda_table *table;

    if (a.tile.part < a.state->parts) {
        table = &a.tables[a.state->nmod[a.tile.part]];
        if (table->nword >= least && table->nword <= most)
            return table;
    }
    ozg_launch_next();
    return nullptr;
}

/* ---- tests of an entry ---------------------------------------------------------------------------- */

/* What all entries have in common. */
typedef struct common {
    const ozg_cuda_reconstruct_args *a;
    const ozg_cuda_table *table;
    ozg_cuda_tests tests;
} common;

/* An entry: its place in the tile and in C, its lines as they are stored. */
typedef struct entry {
    int64_t i, j, index, row_at, column_at;
} entry;

enum { OZG_CUDA_FAILS, OZG_CUDA_STAYS, OZG_CUDA_OPEN };

template <int N>
OZG_DEVICE ozg_cuda_words<N> words_of(const common *z, const entry *e, int part, int complex_)
{
    uint64_t w[OZG_CRT_WORDS];
    ozg_cuda_words<N> out;

    ozg_cuda_crt_entry(z->table, &z->a->in, part, complex_, e->i, e->j, w);
#pragma unroll
    for (int i = 0; i < N; i++)
        out.w[i] = i < z->table->nword ? w[i] : (uint64_t)((int64_t)w[z->table->nword - 1] >> 63);
    return out;
}

/* Native grade of an entry, exactly. */
template <int N>
OZG_DEVICE int native_stays(const common *z, const entry *e, const ozg_cuda_bound *bound, int complex_,
                            const ozg_cuda_words<N> *c)
{
    const int64_t at = e->i + e->j * z->a->in.ld;

    for (int part = 0; part <= complex_; part++) {
        const uint32_t l = ozg_cuda_floor_sum(&z->a->in, part, complex_, at, z->tests.unit);
        const ozg_cuda_leading v = ozg_cuda_leading_of<N>(c[part]);

        if (!ozg_cuda_native_passes(&z->tests, bound, l, &v))
            return 0;
    }
    return 1;
}

/* c moved by its bound, up or down. 0: there is no room for it (doc/bounds.md sec. 8). */
template <int N>
OZG_DEVICE int move_by_bound(const common *z, const ozg_cuda_bound *bound, int down, ozg_cuda_words<N> *c)
{
    const int shift = bound->most + 2 * z->tests.unit - 32, up = shift > 0 ? shift : 0;
    const uint64_t b = ozg_ceil_shift(bound->e, up - shift);

    if (up + ozg_bit_length(b) > 64 * z->table->nword - 7)
        return 0;
    ozg_cuda_words_add<N>(c, b, up, down);
    return 1;
}

template <int SINGLE> OZG_DEVICE int is_finite(uint64_t bits)
{
    const uint64_t inf = SINGLE ? UINT64_C(0x7f800000) : OZG_F64_INF;

    return (bits & inf) != inf;
}

/* ---- what is counted ------------------------------------------------------------------------------ */

/* The places of entries that failed, one bit a row of this thread, to the list; all lanes of a warp. */
OZG_DEVICE void note_failed(const ozg_cuda_reconstruct_args &a, uint32_t failed, int64_t place)
{
    const int lane = threadIdx.x & 31, mine = __popc(failed);
    int before = mine;
    uint32_t first = 0;

    if (!__any_sync(ALL, mine))
        return;
#pragma unroll
    for (int by = 1; by < 32; by *= 2) {
        const int from = __shfl_up_sync(ALL, before, by);

        before += lane >= by ? from : 0;
    }
    if (lane == 31) {
        first = atomicAdd(&a.state->failed, (uint32_t)before);
        atomicAdd((unsigned long long *)&a.state->repaired, (unsigned long long)before);
    }
    first = __shfl_sync(ALL, first, 31) + (uint32_t)(before - mine);
    for (; failed; failed &= failed - 1)
        a.list[first++] = (uint32_t)(place + __ffs((int)failed) - 1);
}

/* Entries tested and the largest ozg_bound_key() of all lanes of a warp to the state. */
OZG_DEVICE void note_tested(const ozg_cuda_reconstruct_args &a, uint32_t tested, uint64_t largest)
{
    const uint32_t all = __reduce_add_sync(ALL, tested);

#pragma unroll
    for (int by = 16; by > 0; by /= 2) {
        const uint64_t other = __shfl_xor_sync(ALL, (unsigned long long)largest, by);

        largest = other > largest ? other : largest;
    }
    if (threadIdx.x % 32 == 0 && all)
        atomicAdd((unsigned long long *)&a.state->tested, (unsigned long long)all);
    if (threadIdx.x % 32 == 0 && largest)
        atomicMax((unsigned long long *)&a.state->largest, (unsigned long long)largest);
}

#endif
