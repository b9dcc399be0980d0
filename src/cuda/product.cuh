/*
 * product.cuh - what the product kernels share: which planes and tiles there are, and how sums are stored.
 *
 * Both kernels compute C^T tile by tile: columns of C (lines of B) are the rows of the matrix instructions,
 * rows of C (lines of A) their columns, permuted in groups of 64, so that each thread ends with 16 sums that
 * are neighbours in memory. In a fragment of an instruction, thread q of each four holds columns
 * 8 t + 2 q + c, c = 0, 1, of its row. Column 8 t + 2 q + c of a group is row 16 q + 2 t + c of C.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_PRODUCT_CUH
#define OZG_CUDA_PRODUCT_CUH

#include "cuda/batch.cuh"
#include "cuda/factors.cuh"
#include "cuda/product.h"
#include "cuda/table.h"

/* What a launch has to do. */
typedef struct ozg_cuda_product_work {
    const ozg_cuda_table *table;
    int nmod;     /* of the table: plane q of residues is one of modulus q % nmod */
    int residues; /* planes of sums that are reduced, the first ones */
    int planes;   /* of sums: these, and those that are stored as they are */
    int pairs;    /* of planes that are multiplied for one plane of sums */
    int tiles_i, tiles_j;
    int total; /* tiles of all planes */
    int batch; /* the block is for one product of a batch */
} ozg_cuda_product_work;

/* Of tiles of tile_rows x tile_columns; total = 0: nothing. batch is a constant, for which code is made. */
OZG_DEVICE ozg_cuda_product_work ozg_cuda_product_work_of(const ozg_cuda_product_args &a, int batch,
                                                          int tile_rows, int tile_columns)
{
    const ozg_cuda_state *state = batch ? ozg_cuda_state_of(a.state, a.request) : a.state;
    const int components = a.request.complex_ ? 3 : 1;
    ozg_cuda_product_work w = {};
    int64_t rows, columns;

    if (a.tile.part >= state->parts) {
        ozg_launch_next();
        return w;
    }
    rows = state->part[a.tile.part].rows - a.tile.i0;
    columns = state->part[a.tile.part].columns - a.tile.j0;
    rows = rows < a.tile.rows ? rows : a.tile.rows;
    columns = columns < a.tile.columns ? columns : a.tile.columns;
    if (rows <= 0 || columns <= 0)
        return w;
    w.batch = batch;
    w.table = &a.tables[state->nmod[a.tile.part]];
    w.nmod = w.table->nmod;
    w.residues = a.ceilings ? 0 : w.table->planes;
    w.planes = w.residues + (a.request.kind == OZG_BY_NATIVE ? components : 0);
    w.pairs = 1;
    if (a.ceilings)
        w.planes = w.pairs = a.request.complex_ ? 2 : 1;
    w.tiles_i = (int)((rows + tile_rows - 1) / tile_rows);
    w.tiles_j = (int)((columns + tile_columns - 1) / tile_columns);
    w.total = w.planes * w.tiles_i * w.tiles_j;
    return w;
}

/*
 * The planes of A and B of pair number `pair` of plane `plane` of sums: of ceilings Re Re + Im Im and
 * Re Im + Im Re, else the one of the same number.
 */
OZG_DEVICE int ozg_cuda_product_plane_a(const ozg_cuda_product_work &w, int plane, int pair)
{
    return w.pairs == 2 ? pair : plane;
}

OZG_DEVICE int ozg_cuda_product_plane_b(const ozg_cuda_product_work &w, int plane, int pair)
{
    return w.pairs == 2 ? pair ^ plane : plane;
}

/*
 * Tile number `number`: planes one after the other, in each bands of OZG_CUDA_BAND tiles of columns, and in
 * these row by row, every second band backwards: what the blocks read at one time is then little enough for
 * the L2 cache.
 */
#define OZG_CUDA_BAND 16

OZG_DEVICE void ozg_cuda_product_place(const ozg_cuda_product_work &w, int number, int *plane, int *tile_i,
                                       int *tile_j)
{
    const int in_plane = w.tiles_i * w.tiles_j, in_band = OZG_CUDA_BAND * w.tiles_i;
    const int rest = number % in_plane, band = rest / in_band, in = rest % in_band;
    const int left = w.tiles_j - band * OZG_CUDA_BAND, width = left < OZG_CUDA_BAND ? left : OZG_CUDA_BAND;

    *plane = number / in_plane;
    *tile_i = band % 2 ? w.tiles_i - 1 - in / width : in / width;
    *tile_j = band * OZG_CUDA_BAND + in % width;
}

/* From the planes of the first product of a launch to those of the block's, in lines. */
OZG_DEVICE int64_t ozg_cuda_product_line(const ozg_cuda_product_args &a, const ozg_cuda_product_work &w)
{
    return w.batch ? blockIdx.y * a.request.batch.lines : 0;
}

/* ---- sums --------------------------------------------------------------------------------------- */

/* How the sums of a tile are stored: see reduce_table.h. */
enum {
    OZG_CUDA_DIRECT, /* reduced, short sums */
    OZG_CUDA_BYTES,  /* reduced */
    OZG_CUDA_ADDED,  /* added to what is there, and reduced */
    OZG_CUDA_EXACT   /* as they are; added to what is there where this is not the first chunk */
};

OZG_DEVICE int ozg_cuda_product_how(const ozg_cuda_product_args &a, const ozg_cuda_product_work &w, int plane,
                                    const ozg_cuda_reduce &m)
{
    if (plane >= w.residues)
        return OZG_CUDA_EXACT;
    if (!a.tile.first)
        return OZG_CUDA_ADDED;
    return a.tile.count <= m.direct ? OZG_CUDA_DIRECT : OZG_CUDA_BYTES;
}

/* The same for sums: to be added to the row. They are bytes, the exact ones words. */
OZG_DEVICE int64_t ozg_cuda_product_row(const ozg_cuda_product_args &a, const ozg_cuda_product_work &w,
                                        int how)
{
    const int64_t by = w.batch ? blockIdx.y * a.request.batch.tile : 0;

    return how != OZG_CUDA_EXACT ? by : a.out.floor_bytes == 4 ? by / 4 : by / 8;
}

/* The constants of a plane; those of modulus 0 where there is nothing to be reduced. */
OZG_DEVICE ozg_cuda_reduce ozg_cuda_product_modulus(const ozg_cuda_product_work &w, int plane)
{
    ozg_cuda_reduce none = {};

    return plane < w.residues ? w.table->reduce[plane % w.nmod] : none;
}

/* The symmetric residue of a sum, in the low byte. */
OZG_DEVICE uint32_t ozg_cuda_reduce_direct(int x, const ozg_cuda_reduce &m)
{
    const uint32_t q = __float_as_uint(__fmaf_rn((float)x, m.inverse, 12582912.0f)); /* 1.5 2^23 */

    return (uint32_t)x - q * m.modulus;
}

/* The same of the number v >= 0, by the bits of 2^23 + v. */
OZG_DEVICE uint32_t ozg_cuda_reduce_class(uint32_t v, const ozg_cuda_reduce &m)
{
    const uint32_t q = __float_as_uint(__fmaf_rn(__uint_as_float(v), m.scale, m.bias));

    return v - q * m.modulus;
}

OZG_DEVICE uint32_t ozg_cuda_reduce_bytes(int x, const ozg_cuda_reduce &m)
{
    return ozg_cuda_reduce_class((uint32_t)ozg_dp4a_us((uint32_t)x ^ 0x80000000u, m.powers, (int)m.start), m);
}

/* Four low bytes as a word. */
OZG_DEVICE uint32_t ozg_cuda_low_bytes(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
}

/* Four sums to a word of residues; old: residues, for OZG_CUDA_ADDED. */
template <int HOW> OZG_DEVICE uint32_t ozg_cuda_reduce4(const int *x, uint32_t old, const ozg_cuda_reduce &m)
{
    uint32_t r[4];

#pragma unroll
    for (int c = 0; c < 4; c++) {
        const uint32_t add = HOW == OZG_CUDA_ADDED ? (uint32_t)(int8_t)(old >> 8 * c) : 0;
        const int sum = (int)((uint32_t)x[c] + add); /* |x| + 128 < 2^31; modulo 256 it may wrap */

        r[c] = HOW == OZG_CUDA_DIRECT ? ozg_cuda_reduce_direct(sum, m) : ozg_cuda_reduce_bytes(sum, m);
    }
    return ozg_cuda_low_bytes(r[0], r[1], r[2], r[3]);
}

/* 16 residues to `to`, which is aligned to 16. */
template <int HOW>
OZG_DEVICE void ozg_cuda_store_residues(const int (&x)[16], uint8_t *to, const ozg_cuda_reduce &m)
{
    uint4 r = {0, 0, 0, 0};

    if (HOW == OZG_CUDA_ADDED)
        r = *(const uint4 *)to;
    r.x = ozg_cuda_reduce4<HOW>(x, r.x, m);
    r.y = ozg_cuda_reduce4<HOW>(x + 4, r.y, m);
    r.z = ozg_cuda_reduce4<HOW>(x + 8, r.z, m);
    r.w = ozg_cuda_reduce4<HOW>(x + 12, r.w, m);
    *(uint4 *)to = r;
}

/* 16 sums to word number `at` of the exact ones, a multiple of 16. They are nonnegative. */
OZG_DEVICE void ozg_cuda_store_exact(const int (&x)[16], const ozg_cuda_residues &out, int64_t at, int first)
{
    if (out.floor_bytes == 4) {
        uint32_t *to = (uint32_t *)out.floors + at;

#pragma unroll
        for (int i = 0; i < 16; i += 4) {
            uint4 r = {0, 0, 0, 0};

            if (!first)
                r = *(const uint4 *)(to + i);
            r.x += (uint32_t)x[i];
            r.y += (uint32_t)x[i + 1];
            r.z += (uint32_t)x[i + 2];
            r.w += (uint32_t)x[i + 3];
            *(uint4 *)(to + i) = r;
        }
    } else {
        uint64_t *to = (uint64_t *)out.floors + at;

#pragma unroll
        for (int i = 0; i < 16; i += 2) {
            ulonglong2 r = {0, 0};

            if (!first)
                r = *(const ulonglong2 *)(to + i);
            r.x += (uint32_t)x[i];
            r.y += (uint32_t)x[i + 1];
            *(ulonglong2 *)(to + i) = r;
        }
    }
}

/* 16 sums: rows i .. i + 15 of column j of a plane, places in the tile of the launch. */
template <int HOW>
OZG_DEVICE void ozg_cuda_product_store(const int (&x)[16], const ozg_cuda_product_args &a,
                                       const ozg_cuda_product_work &w, int plane, int64_t i, int64_t j,
                                       const ozg_cuda_reduce &m)
{
    const int64_t number = HOW == OZG_CUDA_EXACT ? plane - w.residues : plane;
    const int64_t at = (number * a.out.columns + j) * a.out.ld + i;

    if (HOW == OZG_CUDA_EXACT)
        ozg_cuda_store_exact(x, a.out, at, a.tile.first);
    else
        ozg_cuda_store_residues<HOW>(x, a.out.base + at, m);
}

#endif
