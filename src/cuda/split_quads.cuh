/*
 * split_quads.cuh - the split stage of a few elements: from memory to x^ to residues.
 *
 * x^ goes to two's complement of W words of 32 bits, and from there to the residue mod m by byte products:
 * split_table.h. Arrays of elements of a thread are flat: component `part` of element q of quad g is number
 * (4 g + q) parts + part.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_SPLIT_QUADS_CUH
#define OZG_CUDA_SPLIT_QUADS_CUH

#include "cuda/number.cuh"
#include "cuda/split.h"
#include "cuda/split_table.h"

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
 * quads are vectors in memory; d is large or there are shifts.
 */
enum { SPLIT_EXISTS = 1, SPLIT_ACTIVE = 2, SPLIT_OWNER = 4, SPLIT_VECTORS = 8, SPLIT_RARE = 16 };

/* A thread and its line. */
typedef struct split_thread {
    const void *x;            /* its element 0 */
    uint8_t *out;             /* its byte 0 of plane 0 */
    uint32_t stored;          /* its number */
    int32_t from, from_floor; /* OZG_CUDA_UNIT - d; OZG_CUDA_UNIT - bits + e of floors or ceilings */
    int32_t flags;
} split_thread;

/* Norms of residuals, and which elements of the present step have one. */
typedef struct split_norms {
    uint64_t squares;
    uint32_t sum, top,
        places; /* sum: an item has at most 8 steps of 16 numbers a thread, each at most 2^15 */
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

/*
 * Where the quads of a thread go. Across: all or none, as one vector. Along: the quads of a mask, or, in
 * lines of their own, all of the warp.
 */
enum { SPLIT_ACROSS = 1 << 8, SPLIT_WHOLE = 1 << 9, SPLIT_MASK = SPLIT_ACROSS - 1 };

/* Q words of a plane. */
template <int Q>
OZG_DEVICE void store_quads(uint8_t *out, const uint32_t (&w)[Q], const split_work &v, uint32_t stores)
{
    if (stores & SPLIT_ACROSS) {
        if (!(stores & SPLIT_MASK))
            return;
        if (Q == 4)
            *(uint4 *)out = make_uint4(w[0], w[1 % Q], w[2 % Q], w[3 % Q]);
        else if (Q == 2)
            *(uint2 *)out = make_uint2(w[0], w[1 % Q]);
        else
            *(uint32_t *)out = w[0];
    } else if (stores & SPLIT_WHOLE) {
#pragma unroll
        for (int g = 0; g < Q; g++)
            *(uint32_t *)(out + 128 * g) = w[g];
    } else {
#pragma unroll
        for (int g = 0; g < Q; g++)
            if (stores >> g & 1)
                *(uint32_t *)(out + g * v.shape.gap) = w[g];
    }
}

/* Byte 2 of each. */
OZG_DEVICE uint32_t pack(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    return __byte_perm(__byte_perm(a, b, 0x0062), __byte_perm(c, d, 0x0062), 0x5410);
}

OZG_DEVICE void add_residual(split_norms &n, const ozg_cuda_scaled &z, int place)
{
    const uint32_t y = ozg_cuda_residual(z);

    n.sum += y;
    n.squares += (uint64_t)y * y;
    n.top = max(n.top, y);
    n.places |= (uint32_t)(y > 0) << place;
}

/* The number of x[i], with its shift if it has one. full, rare: scale_quads(). */
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
                             uint32_t p, uint32_t stores)
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
OZG_DEVICE void scale_quads(uint32_t (&w)[4 * Q * parts][W], const B (&x)[4 * Q * parts], const split_work &v,
                            const split_thread &t, uint32_t p, uint32_t stores, int g0, split_norms &norms)
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
            add_residual(norms, z, 4 * g0 + i / parts);
            floors[i % parts][i / (4 * parts)] |= ozg_cuda_floor(n, t.from_floor) << 8 * (i / parts % 4);
        }
    }
    if (full && v.native)
        store_floors<parts, Q>(floors, v, t, p, stores);
}

/* ---- residues ----------------------------------------------------------------------------------- */

typedef struct split_constants {
    uint32_t ratio, times, add, both, offset;
    uint32_t power[OZG_CUDA_SPLIT_WORDS];
} split_constants;

template <int W> OZG_DEVICE split_constants constants_of(const ozg_cuda_split_modulus *m)
{
    const uint4 v = *(const uint4 *)&m->ratio;
    split_constants c;

    c.ratio = v.x;
    c.times = v.y;
    c.add = v.z;
    c.both = v.w;
    c.offset = m->offset[W < 4 ? W - 1 : 3];
    for (int i = 0; i < W; i++)
        c.power[i] = m->power[i];
    return c;
}

/* v + start of split_table.h */
template <int W>
OZG_DEVICE uint32_t byte_sum(const uint32_t (&w)[W], const split_constants &c, uint32_t start)
{
    int v = (int)start;

#pragma unroll
    for (int i = 0; i < W; i++)
        v = ozg_dp4a_us(w[i], c.power[i], v);
    return (uint32_t)v;
}

/* f of split_table.h */
template <int W> OZG_DEVICE uint32_t fraction(const uint32_t (&w)[W], const split_constants &c)
{
    return byte_sum<W>(w, c, 0) * c.ratio + c.offset;
}

OZG_DEVICE uint32_t residue(uint32_t f, const split_constants &c)
{
    return ozg_dp2a_lo_uu(f, c.times, c.add);
}

/* The planes of a modulus, of Q quads at `out`: of a real number, or complex by 3M. */
template <int W, int parts, int Q>
OZG_DEVICE void store_modulus(const uint32_t (&w)[4 * Q * parts][W], const split_work &v, uint8_t *out,
                              uint32_t stores, const ozg_cuda_split_modulus *modulus)
{
    const split_constants c = constants_of<W>(modulus);
    const int64_t component = v.nmod * v.plane;
    uint32_t r[parts == 2 ? 3 : 1][Q];

#pragma unroll
    for (int g = 0; g < Q; g++) {
        uint32_t x[parts == 2 ? 3 : 1][4];

#pragma unroll
        for (int q = 0; q < 4; q++) {
            const int i = (4 * g + q) * parts;
            const uint32_t f = fraction<W>(w[i], c);

            x[0][q] = residue(f, c);
            if (parts == 2) {
                const uint32_t f2 = fraction<W>(w[i + parts - 1], c);

                x[1 % (2 * parts - 1)][q] = residue(f2, c);
                x[2 % (2 * parts - 1)][q] = residue(f + f2 - c.both, c);
            }
        }
        for (int k = 0; k < (parts == 2 ? 3 : 1); k++)
            r[k][g] = pack(x[k][0], x[k][1], x[k][2], x[k][3]);
    }
    for (int k = 0; k < (parts == 2 ? 3 : 1); k++)
        store_quads<Q>(out + k * component, r[k], v, stores);
}

/* The same by 2M: Re + j Im and Re - j Im. */
template <int W, int Q>
OZG_DEVICE void store_modulus_2m(const uint32_t (&w)[8 * Q][W], const split_work &v, uint8_t *out,
                                 uint32_t stores, const ozg_cuda_split_modulus *modulus)
{
    const split_constants c = constants_of<W>(modulus);
    const uint32_t root = modulus->root, start = modulus->start >> 8 * (W < 4 ? W - 1 : 3) & 0xff;
    uint32_t r[2][Q];

#pragma unroll
    for (int g = 0; g < Q; g++) {
        uint32_t x[2][4];

#pragma unroll
        for (int q = 0; q < 4; q++) {
            const uint32_t f = fraction<W>(w[2 * (4 * g + q)], c);
            const uint32_t im = byte_sum<W>(w[2 * (4 * g + q) + 1], c, start);

            x[0][q] = residue(f + im * root, c);
            x[1][q] = residue(f - im * root, c);
        }
        for (int k = 0; k < 2; k++)
            r[k][g] = pack(x[k][0], x[k][1], x[k][2], x[k][3]);
    }
    for (int k = 0; k < 2; k++)
        store_quads<Q>(out + k * v.nmod * v.plane, r[k], v, stores);
}

/* All planes of Q quads at p. */
template <int W, int parts, int Q>
OZG_DEVICE void store_residues(const uint32_t (&w)[4 * Q * parts][W], const split_work &v,
                               const split_thread &t, uint32_t p, uint32_t stores,
                               const ozg_cuda_split_modulus *table)
{
    uint8_t *out = t.out + p;

#pragma unroll 1
    for (int l = 0; l < v.nmod; l++, out += v.plane) {
        if constexpr (parts == 2) {
            if (l >= v.three) {
                store_modulus_2m<W, Q>(w, v, out, stores, &table[l]);
                continue;
            }
        }
        store_modulus<W, parts, Q>(w, v, out, stores, &table[l]);
    }
}

#endif
