/*
 * split_words.cuh - the split stage of a few elements: from memory to x^ in words of 32 bits, by integers.
 *
 * Arrays of elements of a thread are flat: component `part` of element q of quad g is number (4 g + q) parts +
 * part.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_SPLIT_WORDS_CUH
#define OZG_CUDA_SPLIT_WORDS_CUH

#include "cuda/number.cuh"
#include "cuda/split.h"

#define ALL_LANES 0xffffffffu

/*
 * One operand in this launch, in shared memory. Elements are numbered from p = 0, the first of the tile;
 * shift, too.
 */
typedef struct split_work {
    ozg_cuda_split_shape shape;
    int64_t lines, place0; /* that the part has in this tile, and the place of the first */
    int64_t step, plane;   /* elements from one to the next, bytes from a plane to the next */
    const int16_t *shift;  /* or NULL */
    uint32_t count, pitch; /* elements, with and without padding */
    uint32_t *places;      /* of stored line 0, from p = 0 on; NULL: not wanted */
    int64_t words;         /* of places, from a line to the next */
    uint32_t place_words;  /* of a line from p = 0 on */
    int32_t chunk,
        items; /* steps of an item, a block of lines; items in all: their planes are in memory, so they fit */
    int32_t nmod, three, planes; /* ozg_cuda_table */
    int32_t native;
    int32_t most_bits; /* Q: ozg_moduli_set */
    uint64_t most_top;
    int32_t measure; /* norms of residuals are wanted */
    uint32_t conj;   /* all ones: Im is negated */
} split_work;

/*
 * Of a thread and its line: the line is there; its elements are read; the thread stands for it. Of the warp:
 * quads are vectors in memory; d is large or there are shifts; x^ comes from floating point; some d is negative.
 */
enum {
    SPLIT_EXISTS = 1,
    SPLIT_ACTIVE = 2,
    SPLIT_OWNER = 4,
    SPLIT_VECTORS = 8,
    SPLIT_RARE = 16,
    SPLIT_FP64 = 32,
    SPLIT_TINY = 64
};

/* A thread and its line. */
typedef struct split_thread {
    const void *x;   /* its element 0 */
    uint8_t *out;    /* its byte 0 of plane 0 */
    uint32_t stored; /* its number */
    int32_t from,
        from_floor; /* OZG_CUDA_UNIT - d, d = 0 where all is 0; OZG_CUDA_UNIT - bits + e of floors or
                                 ceilings */
    int32_t flags;
} split_thread;

/* Norms of residuals, and which elements of the present step have one. */
typedef struct split_norms {
    uint64_t squares;
    uint32_t sum, top,
        places; /* sum: an item has at most 32 steps of 16 numbers a thread, each at most 2^15 */
} split_norms;

/* ---- elements ----------------------------------------------------------------------------------- */

template <int single> struct split_type {
    typedef uint64_t bits;
};
template <> struct split_type<1> {
    typedef uint32_t bits;
};

/* N bits of a quad, aligned. */
template <int N> OZG_DEVICE void load_vectors(uint64_t *x, const void *from)
{
    for (int i = 0; i < N / 2; i++) {
        const ulonglong2 v = __ldg((const ulonglong2 *)from + i);

        x[2 * i] = v.x;
        x[2 * i + 1] = v.y;
    }
}

template <int N> OZG_DEVICE void load_vectors(uint32_t *x, const void *from)
{
    for (int i = 0; i < N / 4; i++) {
        const uint4 v = __ldg((const uint4 *)from + i);

        x[4 * i] = v.x;
        x[4 * i + 1] = v.y;
        x[4 * i + 2] = v.z;
        x[4 * i + 3] = v.w;
    }
}

/* Q quads from element p on, zeros where there is none. all: every thread of the warp has all of its own. */
template <int parts, int Q, typename B>
OZG_DEVICE void load_quads(B (&x)[4 * Q * parts], const split_work &v, const split_thread &t, uint32_t p,
                           int all)
{
    const int64_t step = parts * v.step;
    const B *from = (const B *)t.x + p * step;

    if (all && (t.flags & SPLIT_VECTORS)) {
#pragma unroll
        for (int g = 0; g < Q; g++)
            load_vectors<4 * parts>(x + 4 * g * parts, from + g * v.shape.gap * parts);
        return;
    }
    for (int i = 0; i < 4 * Q * parts; i++)
        x[i] = 0;
    if (!(t.flags & SPLIT_ACTIVE))
        return;
#pragma unroll
    for (int g = 0; g < Q; g++, from += (v.shape.gap - 4) * step)
#pragma unroll
        for (int q = 0; q < 4; q++, from += step)
#pragma unroll
            for (int part = 0; part < parts; part++)
                if (all || p + g * v.shape.gap + q < v.count)
                    x[(4 * g + q) * parts + part] = __ldg(from + part);
}

/* ---- elements ahead of their turn --------------------------------------------------------------- */

/*
 * The 16 numbers of a step in shared memory, each warp's in an area of its own: as vectors of 16 bytes or one by one,
 * which depends on the warp's lines, those of neighbouring threads side by side.
 */
enum { SPLIT_STAGED = 16 };

/* Begins to copy those from element p on, all of which are there. */
template <int parts, typename B>
OZG_DEVICE void stage_numbers(B *stage, const split_work &v, const split_thread &t, uint32_t p)
{
    const int per = 16 / (int)sizeof(B), lane = (int)threadIdx.x & 31;
    const int64_t step = parts * v.step;
    const B *from = (const B *)t.x + p * step;

    if (t.flags & SPLIT_VECTORS) {
#pragma unroll
        for (int i = 0; i < SPLIT_STAGED; i += per)
            ozg_cp_async16(stage + i * 32 + lane * per,
                           from + i / (4 * parts) * v.shape.gap * parts + i % (4 * parts));
    } else {
#pragma unroll
        for (int i = 0; i < SPLIT_STAGED; i++)
            ozg_cp_async<sizeof(B)>(stage + i * 32 + lane,
                                    from + (i / (4 * parts) * v.shape.gap + i / parts % 4) * step +
                                        i % parts);
    }
    ozg_cp_async_commit();
}

/* Numbers [first, first + N) of them. */
template <int N, typename B>
OZG_DEVICE void take_staged(B (&x)[N], const B *stage, const split_thread &t, int first)
{
    const int per = 16 / (int)sizeof(B), lane = (int)threadIdx.x & 31;

    if (t.flags & SPLIT_VECTORS) {
#pragma unroll
        for (int i = 0; i < N; i += per)
            *(uint4 *)(x + i) = *(const uint4 *)(stage + (first + i) * 32 + lane * per);
    } else {
#pragma unroll
        for (int i = 0; i < N; i++)
            x[i] = stage[(first + i) * 32 + lane];
    }
}

/*
 * How the quads of a warp go to a plane. ACROSS: those of a thread are neighbours, all of them or none, one vector.
 * WHOLE: along lines of their own, all threads have all quads. SOME: along, each thread those of its mask.
 */
enum { STORE_ACROSS, STORE_WHOLE, STORE_SOME };

/* Q words of a plane; mask: those that exist. */
template <int how, int Q>
OZG_DEVICE void store_quads(uint8_t *out, const uint32_t (&w)[Q], int32_t gap, uint32_t mask)
{
    if (how == STORE_ACROSS) {
        if (!mask)
            return;
        if (Q == 4)
            *(uint4 *)out = make_uint4(w[0], w[1 % Q], w[2 % Q], w[3 % Q]);
        else if (Q == 2)
            *(uint2 *)out = make_uint2(w[0], w[1 % Q]);
        else
            *(uint32_t *)out = w[0];
    } else if (how == STORE_WHOLE) {
#pragma unroll
        for (int g = 0; g < Q; g++)
            *(uint32_t *)(out + 128 * g) = w[g];
    } else {
#pragma unroll
        for (int g = 0; g < Q; g++)
            if (mask >> g & 1)
                *(uint32_t *)(out + g * gap) = w[g];
    }
}

/* The quads of a thread at p that are to be stored, as bits; whole: by all threads of the warp, STORE_WHOLE. */
typedef struct split_stores {
    uint32_t mask;
    int whole;
} split_stores;

template <int Q> OZG_DEVICE split_stores stores_of(const split_work &v, const split_thread &t, uint32_t p)
{
    split_stores s = {0, 0};

    for (int g = 0; g < Q; g++)
        s.mask |= (uint32_t)((t.flags & SPLIT_EXISTS) && p + g * v.shape.gap < v.pitch) << g;
    s.whole = __all_sync(ALL_LANES, v.shape.along && v.shape.gap == 128 && s.mask == (1u << Q) - 1);
    return s;
}

/* The same where it is done once. */
template <int Q>
OZG_DEVICE void store_quads(uint8_t *out, const uint32_t (&w)[Q], const split_work &v, const split_stores &s)
{
    if (!v.shape.along)
        store_quads<STORE_ACROSS>(out, w, 0, s.mask);
    else if (s.whole)
        store_quads<STORE_WHOLE>(out, w, 0, s.mask);
    else
        store_quads<STORE_SOME>(out, w, v.shape.gap, s.mask);
}

/* y: ceil(|x 2^d - x^| 2^16) */
OZG_DEVICE void add_residual(split_norms &n, uint32_t y, int place)
{
    n.sum += y;
    n.squares += (uint64_t)y * y;
    n.top = max(n.top, y);
    n.places |= (uint32_t)(y > 0) << place;
}

/* The number of x[i], with its shift if it has one. full, rare: scale_words(). */
template <int parts, int full, int rare, int Q, typename B>
OZG_DEVICE ozg_cuda_number number_at(const B (&x)[4 * Q * parts], int i, const split_work &v, uint32_t p)
{
    ozg_cuda_number n = full || rare ? ozg_cuda_number_of(x[i]) : ozg_cuda_plain_number_of(x[i]);
    const int g = i / (4 * parts), q = i / parts % 4;

    if (parts == 2 && i % 2)
        n.neg ^= v.conj;
    if (rare) {
        ozg_cuda_normalize(n);
        if (v.shift && p + g * v.shape.gap + q < v.count)
            n.exp += v.shift[p + g * v.shape.gap + q];
    }
    return n;
}

/* The bytes of floors, and of their sums. */
template <int parts, int Q>
OZG_DEVICE void store_floors(uint32_t (&floors)[parts][Q], const split_work &v, const split_thread &t,
                             uint32_t p, const split_stores &stores)
{
    uint8_t *out = t.out + p + v.planes * v.plane;

    for (int part = 0; part < parts; part++, out += v.plane)
        store_quads<Q>(out, floors[part], v, stores);
    if (parts == 2) {
        for (int g = 0; g < Q; g++)
            floors[0][g] += floors[1 % parts][g]; /* bytes below 64 */
        store_quads<Q>(out, floors[0], v, stores);
    }
}

/*
 * x^ of all elements. full: also their residuals (quads from g0 on) and their floors. rare: lines
 * of any d, with shifts, not only those of ozg_cuda_plain_number_of().
 */
template <int W, int parts, int Q, int full, int rare, typename B>
OZG_DEVICE void scale_words(uint32_t (&w)[4 * Q * parts][W], const B (&x)[4 * Q * parts], const split_work &v,
                            const split_thread &t, uint32_t p, const split_stores &stores, int g0,
                            split_norms &norms)
{
    uint32_t floors[parts][Q];

    for (int part = 0; part < parts; part++)
        for (int g = 0; g < Q; g++)
            floors[part][g] = 0;
#pragma unroll
    for (int i = 0; i < 4 * Q * parts; i++) {
        const ozg_cuda_number n = number_at<parts, full, rare, Q>(x, i, v, p);
        const ozg_cuda_scaled z = ozg_cuda_scale_number<W>(n, t.from);

        ozg_cuda_words<W>(w[i], z, n.neg);
        if (full) {
            add_residual(norms, ozg_cuda_residual(z), 4 * g0 + i / parts);
            floors[i % parts][i / (4 * parts)] |= ozg_cuda_floor(n, t.from_floor) << 8 * (i / parts % 4);
        }
    }
    if (full && v.native)
        store_floors<parts, Q>(floors, v, t, p, stores);
}

#endif
