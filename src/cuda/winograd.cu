/*
 * winograd.cu - the combinations S and T of quadrants of the operands' planes (winograd.h).
 *
 * A warp takes 512 bytes of k of the first half of a line, 16 a thread, with what lies there in the other
 * three quadrants. Bound by memory: four loads, four stores, and some 50 instructions for four residues of
 * each quadrant.
 *
 * Two residues of 16 bits are added at a time. Elements x come as v = x + 128; a sum z of residues modulo m, |z|
 * <= 2 h with h = floor(m / 2), as t = z + h + m >= 0, and then
 *
 *     min(t, t - m, t - 2 m)    in unsigned numbers of 16 bits
 *
 * is its symmetric residue, plus h: exactly one of the three lies in 0 .. m - 1 (m = 256: 0 .. 255, too), smaller
 * ones have wrapped around to more than 2^15, larger ones are m at least. Numbers that are no residues give
 * something for their own line alone.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cuda/device.cuh"
#include "cuda/table.h"
#include "cuda/winograd.h"

/* Four residues: bytes 0 and 2, and 1 and 3, as numbers of 16 bits. */
typedef struct winograd_four {
    uint32_t even, odd;
} winograd_four;

/* Constants of a modulus, in both halves. */
typedef struct winograd_modulus {
    uint32_t less, less2; /* -m, -2 m mod 2^16 */
    uint32_t sum;         /* m + h - 256: of two v */
    uint32_t difference;  /* m + h: of two v, or of a result and a v if 128 - h is added */
    uint32_t center;      /* 128 - h; bytes: in all four */
    uint32_t bytes;
} winograd_modulus;

/* One operand of the tile. */
typedef struct winograd_side {
    uint8_t *base;
    int64_t pitch, plane, lower; /* bytes of a line, of a plane, of the first half of its lines */
    int64_t more;                /* from a plane to that of its combinations, bytes */
    int lines, k;                /* of a half */
    int below;                   /* lines of the second half that there are */
    uint32_t segments, groups;   /* of a line; groups of lines of a plane */
    uint32_t total;              /* of what a warp does at a time, in all planes */
} winograd_side;

OZG_DEVICE uint32_t winograd_both(int x)
{
    return (uint32_t)x * 0x10001u;
}

OZG_DEVICE winograd_modulus winograd_modulus_of(uint32_t modulus)
{
    const int m = (int)modulus, h = m / 2;
    winograd_modulus c;

    c.less = winograd_both((65536 - m) & 0xffff);
    c.less2 = winograd_both((65536 - 2 * m) & 0xffff);
    c.sum = winograd_both(m + h - 256);
    c.difference = winograd_both(m + h);
    c.center = winograd_both(128 - h);
    c.bytes = (uint32_t)(128 - h) * 0x1010101u;
    return c;
}

OZG_DEVICE winograd_four winograd_take(uint32_t bytes)
{
    const uint32_t v = bytes ^ 0x80808080u;
    const winograd_four x = {v & 0xff00ffu, v >> 8 & 0xff00ffu};

    return x;
}

/* Symmetric residues: those of a result, without h. */
OZG_DEVICE uint32_t winograd_bytes(const winograd_four &x, const winograd_modulus &c)
{
    return (__byte_perm(x.even, x.odd, 0x6240) + c.bytes) ^ 0x80808080u;
}

OZG_DEVICE uint32_t winograd_fold(uint32_t t, const winograd_modulus &c)
{
    return __viaddmin_u16x2(t, c.less2, __viaddmin_u16x2(t, c.less, t));
}

/* x + y of two v: a result. */
OZG_DEVICE winograd_four winograd_sum(const winograd_four &x, const winograd_four &y,
                                      const winograd_modulus &c)
{
    const winograd_four z = {winograd_fold(x.even + y.even + c.sum, c),
                             winograd_fold(x.odd + y.odd + c.sum, c)};

    return z;
}

/* x - y + by. */
OZG_DEVICE winograd_four winograd_difference(const winograd_four &x, const winograd_four &y, uint32_t by,
                                             const winograd_modulus &c)
{
    const winograd_four z = {winograd_fold(x.even - y.even + by, c), winograd_fold(x.odd - y.odd + by, c)};

    return z;
}

/*
 * Four elements of each quadrant, x[line half][k half], to four of each combination. In differences of a v and
 * a result the biases 128 and h differ.
 */
template <int SIDE>
OZG_DEVICE void winograd_combine(uint32_t (&to)[2][2], const uint32_t (&x)[2][2], const winograd_modulus &c)
{
    const winograd_four x11 = winograd_take(x[0][0]), x12 = winograd_take(x[0][1]),
                        x21 = winograd_take(x[1][0]), x22 = winograd_take(x[1][1]);
    winograd_four y1, y2, y3, y4;

    if (SIDE == 0) {
        y1 = winograd_sum(x21, x22, c);
        y2 = winograd_difference(y1, x11, c.difference + c.center, c);
        y3 = winograd_difference(x11, x21, c.difference, c);
    } else { /* lines are columns of B: x12 is B21 */
        y1 = winograd_difference(x21, x11, c.difference, c);
        y2 = winograd_difference(x22, y1, c.difference - c.center, c);
        y3 = winograd_difference(x22, x21, c.difference, c);
    }
    y4 = winograd_difference(x12, y2, c.difference - c.center, c);
    to[0][0] = winograd_bytes(y1, c);
    to[0][1] = winograd_bytes(y2, c);
    to[1][0] = winograd_bytes(y3, c);
    to[1][1] = winograd_bytes(y4, c);
}

/* 16 elements of each quadrant; from: those of the first one. */
template <int SIDE>
OZG_DEVICE void winograd_line(uint8_t *from, const winograd_side &s, int below, const winograd_modulus &c)
{
    const uint4 none = {0, 0, 0, 0};
    const uint4 v[2][2] = {{*(const uint4 *)from, *(const uint4 *)(from + s.k)},
                           {below ? *(const uint4 *)(from + s.lower) : none,
                            below ? *(const uint4 *)(from + s.lower + s.k) : none}};
    uint32_t w[4][2][2];

#pragma unroll
    for (int i = 0; i < 4; i++) {
        uint32_t x[2][2];

#pragma unroll
        for (int q = 0; q < 4; q++) {
            const uint4 &u = v[q / 2][q % 2];

            x[q / 2][q % 2] = i == 0 ? u.x : i == 1 ? u.y : i == 2 ? u.z : u.w;
        }
        winograd_combine<SIDE>(w[i], x, c);
    }
#pragma unroll
    for (int q = 0; q < 4; q++)
        *(uint4 *)(from + s.more + q / 2 * s.lower + q % 2 * s.k) =
            make_uint4(w[0][q / 2][q % 2], w[1][q / 2][q % 2], w[2][q / 2][q % 2], w[3][q / 2][q % 2]);
}

/* What a warp does at a time: number `number` of an operand. */
template <int SIDE>
OZG_DEVICE void winograd_lines(const winograd_side &s, const ozg_cuda_table &table, uint32_t number)
{
    const uint32_t in_plane = s.groups * s.segments, plane = number / in_plane, rest = number % in_plane;
    const int line = (int)(rest / s.segments) * OZG_CUDA_WINOGRAD_LINES;
    const int p = (int)(rest % s.segments) * OZG_CUDA_WINOGRAD_SEGMENT + (int)threadIdx.x % 32 * 16;
    const winograd_modulus c = winograd_modulus_of(table.reduce[(int)plane % table.nmod].modulus);
    uint8_t *from = s.base + plane * s.plane + line * s.pitch + p;

    if (p >= s.k)
        return;
#pragma unroll
    for (int i = 0; i < OZG_CUDA_WINOGRAD_LINES; i++)
        winograd_line<SIDE>(from + i * s.pitch, s, line + i < s.below, c);
}

/* floors: planes of them, behind those of residues; combinations come behind these. */
OZG_DEVICE winograd_side winograd_side_of(const ozg_cuda_planes &planes, int64_t count, int64_t unit,
                                          int64_t k, int residues, int floors)
{
    const int64_t half = ozg_cuda_half(count, unit);
    winograd_side s;

    s.base = planes.base;
    s.pitch = planes.pitch;
    s.plane = planes.lines * planes.pitch;
    s.lower = half * planes.pitch;
    s.more = (residues + floors) * s.plane;
    s.lines = (int)half;
    s.k = (int)ozg_cuda_half(k, OZG_CUDA_WINOGRAD_PITCH);
    s.below = (int)(count - half);
    s.segments = (uint32_t)(s.k + OZG_CUDA_WINOGRAD_SEGMENT - 1) / OZG_CUDA_WINOGRAD_SEGMENT;
    s.groups = (uint32_t)s.lines / OZG_CUDA_WINOGRAD_LINES;
    s.total = (uint32_t)residues * s.groups * s.segments;
    return s;
}

OZG_KERNEL(ozg_cuda_winograd, ozg_cuda_winograd_args, OZG_CUDA_WINOGRAD_THREADS, OZG_CUDA_WINOGRAD_RESIDENT)
{
    const ozg_cuda_state *state = a.state;
    const int floors = a.request.kind != OZG_BY_NATIVE ? 0 : a.request.complex_ ? 3 : 1;
    const uint32_t warps = gridDim.x * (OZG_CUDA_WINOGRAD_THREADS / 32);
    int64_t rows, columns;

    if (a.tile.part >= state->parts) {
        ozg_launch_next();
        return;
    }
    const ozg_cuda_table &table = a.tables[state->nmod[a.tile.part]];

    rows = min(state->part[a.tile.part].rows - a.tile.i0, a.tile.rows);
    columns = min(state->part[a.tile.part].columns - a.tile.j0, a.tile.columns);
    if (rows <= 0 || columns <= 0 || !ozg_cuda_winograd_fits(table.planes, floors, a.room)) {
        ozg_launch_next();
        return;
    }
    const winograd_side x = winograd_side_of(a.a, rows, OZG_CUDA_WINOGRAD_ROWS, a.tile.count, table.planes,
                                             floors),
                        y = winograd_side_of(a.b, columns, OZG_CUDA_WINOGRAD_COLUMNS, a.tile.count,
                                             table.planes, floors);
    const uint32_t of_a = a.make_a ? x.total : 0, total = of_a + (a.make_b ? y.total : 0);

    for (uint32_t number = (blockIdx.x * OZG_CUDA_WINOGRAD_THREADS + threadIdx.x) / 32; number < total;
         number += warps)
        if (number < of_a)
            winograd_lines<0>(x, table, number);
        else
            winograd_lines<1>(y, table, number - of_a);
}
