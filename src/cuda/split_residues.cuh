/*
 * split_residues.cuh - from x^ to residues: byte products, split_table.h.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_SPLIT_RESIDUES_CUH
#define OZG_CUDA_SPLIT_RESIDUES_CUH

#include "cuda/split_table.h"
#include "cuda/split_words.cuh"

/* x^ in W words of a form. */
template <int F> struct split_form {
    enum {
        LIMBS = F >= OZG_CUDA_SPLIT_2_LIMBS,
        WORDS = LIMBS                   ? F - OZG_CUDA_SPLIT_2_LIMBS + 2
                : F == OZG_CUDA_SPLIT_6 ? 6
                                        : F + 1
    };
};

/* Byte 2 of each. */
OZG_DEVICE uint32_t pack(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    return __byte_perm(__byte_perm(a, b, 0x0062), __byte_perm(c, d, 0x0062), 0x5410);
}

typedef struct split_constants {
    uint32_t ratio, times, add, both, offset;
    uint32_t power[OZG_CUDA_SPLIT_WORDS];
} split_constants;

template <int F> OZG_DEVICE split_constants constants_of(const ozg_cuda_split_modulus *m)
{
    const uint4 v = *(const uint4 *)&m->ratio;
    split_constants c;

    c.ratio = v.x;
    c.times = v.y;
    c.add = v.z;
    c.both = v.w;
    c.offset = m->offset[F];
    for (int i = 0; i < split_form<F>::WORDS; i++)
        c.power[i] = split_form<F>::LIMBS ? m->limb[i % OZG_CUDA_SPLIT_LIMBS] : m->power[i];
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

/* The planes of a modulus, of Q quads at `out`: of a real number, or complex by 3M, `component` bytes apart. */
template <int how, int parts, int Q, int W>
OZG_DEVICE void store_modulus(const uint32_t (&w)[4 * Q * parts][W], uint8_t *out, int64_t component,
                              int32_t gap, uint32_t mask, const split_constants &c)
{
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
        store_quads<how>(out + k * component, r[k], gap, mask);
}

/* The same by 2M: Re + j Im and Re - j Im. root, start: ozg_cuda_split_modulus. */
template <int how, int Q, int W>
OZG_DEVICE void store_modulus_2m(const uint32_t (&w)[8 * Q][W], uint8_t *out, int64_t component, int32_t gap,
                                 uint32_t mask, const split_constants &c, uint32_t root, uint32_t start)
{
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
        store_quads<how>(out + k * component, r[k], gap, mask);
}

/* All moduli. The constants of a modulus are read during the one before; table has room behind the last. */
template <int F, int how, int parts, int Q, int W>
OZG_DEVICE void store_all(const uint32_t (&w)[4 * Q * parts][W], const split_work &v, uint8_t *out,
                          uint32_t mask, const ozg_cuda_split_modulus *table)
{
    const int nmod = v.nmod, three = v.three;
    const int32_t gap = v.shape.gap;
    const int64_t plane = v.plane, component = nmod * plane;
    split_constants c = constants_of<F>(table);

#pragma unroll 1
    for (int l = 0; l < nmod; l++, table++, out += plane) {
        const split_constants next = constants_of<F>(table + 1);

        if (parts == 1 || l < three)
            store_modulus<how, parts, Q>(w, out, component, gap, mask, c);
        else if constexpr (parts == 2)
            store_modulus_2m<how, Q>(w, out, component, gap, mask, c, table->root, table->start[F]);
        c = next;
    }
}

/* All planes of Q quads at `out`. */
template <int F, int parts, int Q, int W>
OZG_DEVICE void store_residues(const uint32_t (&w)[4 * Q * parts][W], const split_work &v, uint8_t *out,
                               const split_stores &stores, const ozg_cuda_split_modulus *table)
{
    if (!v.shape.along)
        store_all<F, STORE_ACROSS, parts, Q>(w, v, out, stores.mask, table);
    else if (stores.whole)
        store_all<F, STORE_WHOLE, parts, Q>(w, v, out, stores.mask, table);
    else
        store_all<F, STORE_SOME, parts, Q>(w, v, out, stores.mask, table);
}

#endif
