/*
 * window.cuh - exact sums of products of elements, by single lanes.
 *
 * With x = x~ + rho, x~ what the split kept of an element, and P the places where an element of either line
 * was rounded (src/cpu/repair.c),
 *
 *     AB = 2^(-D-E) c^ + sum over p in P of (rho_p b_p + a~_p sigma_p),
 *
 * all products of integers of at most 53 bits times powers of two: exact, in any order. |rho| <= |a|, |a~| <=
 * 2 |a|. So with |a| < 2^e_i, |b| < 2^e_j (the shifts along k change no product) and k' < 2^l, all partial
 * sums are below (4 + 1 + 2) k' 2^(e_i + e_j) < 2^(e_i + e_j + l + 3). They are formed in a window of twelve
 * digits of 32 bits, in words of 64 (arith/exact.h), that ends at least 6 bits above 2^(e_i + e_j + l). What
 * lies below it goes to an ozg_exact of the warp. With k' < 2^32 no word overflows: a lane of a warp adds
 * fewer than 2^29 numbers below 2^32.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_WINDOW_CUH
#define OZG_CUDA_WINDOW_CUH

#include "arith/exact.h"
#include "arith/residue.h"
#include "cuda/element.cuh"

#define OZG_CUDA_WINDOW (2 * OZG_INT_WORDS) /* digits: they become an ozg_int */

/* ---- sums of products --------------------------------------------------------------------------- */

/* Where products go: digit 0 of the lane's column, 2^bottom; below it, whole, or nowhere if that is NULL. */
typedef struct ozg_cuda_sink {
    int64_t *window;
    ozg_exact *whole;
    int32_t bottom;
    int below; /* something did not fit the window */
} ozg_cuda_sink;

/* The 32-bit parts of (hi 2^64 + lo) 2^bit, bit < 32, with a sign. */
OZG_DEVICE void ozg_cuda_sink_cut(uint64_t lo, uint64_t hi, int bit, int neg, int64_t (&part)[5])
{
    const uint64_t low = lo << bit, high = bit ? hi << bit | lo >> (64 - bit) : hi;
    const int64_t sign = neg ? -1 : 0;

    part[0] = ((int64_t)(low & 0xffffffff) ^ sign) - sign;
    part[1] = ((int64_t)(low >> 32) ^ sign) - sign;
    part[2] = ((int64_t)(high & 0xffffffff) ^ sign) - sign;
    part[3] = ((int64_t)(high >> 32) ^ sign) - sign;
    part[4] = ((int64_t)(bit ? hi >> (64 - bit) : 0) ^ sign) - sign;
}

/* sink += (-1)^neg (hi 2^64 + lo) 2^exp */
OZG_DEVICE void ozg_cuda_sink_add(ozg_cuda_sink *s, uint64_t lo, uint64_t hi, int32_t exp, int neg)
{
    const int length = hi ? 64 + ozg_bit_length(hi) : ozg_bit_length(lo);
    const int32_t at = exp - s->bottom;
    int64_t part[5];

    if (length == 0)
        return;
    if (at >= 0 && at + length <= 32 * OZG_CUDA_WINDOW) {
        int64_t *digit = s->window + (at >> 5) * OZG_CUDA_WARP;

        ozg_cuda_sink_cut(lo, hi, at & 31, neg, part);
        for (int q = 0; q < 5; q++)
            if (part[q]) /* beyond the window there is nothing */
                digit[q * OZG_CUDA_WARP] += part[q];
        return;
    }
    s->below = 1;
    if (s->whole) {
        const int32_t from = exp - OZG_EXACT_LOWEST;
        int64_t *digit = s->whole->digit + (from >> 5);

        ozg_cuda_sink_cut(lo, hi, from & 31, neg, part);
        for (int q = 0; q < 5; q++)
            if (part[q])
                atomicAdd((unsigned long long *)(void *)&digit[q], (unsigned long long)part[q]);
    }
}

/* sink += z 2^exp, a multiple of 2^-2148 (ozg_exact_add_int). */
OZG_DEVICE void ozg_cuda_sink_add_int(ozg_cuda_sink *s, const ozg_int *z, int32_t exp)
{
#pragma unroll
    for (int i = 0; i < OZG_INT_WORDS; i++) {
        const int32_t at = exp + 64 * i, down = at < OZG_EXACT_LOWEST ? OZG_EXACT_LOWEST - at : 0;

        if (i < z->n && z->w[i])
            ozg_cuda_sink_add(s, z->w[i] >> (down < 63 ? down : 63), 0, at + down, z->neg);
    }
}

/* ---- elements ----------------------------------------------------------------------------------- */

/* Elements p of both lines; d: the power of two by which they were scaled. */
typedef struct ozg_cuda_pair {
    uint64_t x[2], y[2];
    int32_t dx, dy;
} ozg_cuda_pair;

OZG_DEVICE int32_t ozg_cuda_pair_scaling(const ozg_cuda_lines *l, int shifted, int64_t line, int64_t p)
{
    return l->d[line] + (shifted && l->view.shift ? l->view.shift[p] : 0);
}

OZG_DEVICE ozg_cuda_pair ozg_cuda_pair_load(const ozg_cuda_reconstruct_args *a, int64_t row, int64_t column,
                                            int64_t p)
{
    const int single = a->request.single, complex_ = a->request.complex_, shifted = a->state->shifted;
    ozg_cuda_pair z;

    ozg_cuda_element(&a->a, row, p, single, complex_, z.x);
    ozg_cuda_element(&a->b, column, p, single, complex_, z.y);
    z.dx = ozg_cuda_pair_scaling(&a->a, shifted, row, p);
    z.dy = ozg_cuda_pair_scaling(&a->b, shifted, column, p);
    return z;
}

/* What the split kept of an element, (-1)^neg kept 2^exp, and what it rounded away, (-1)^neg rest 2^x.exp. */
typedef struct ozg_cuda_halves {
    uint64_t kept;
    int64_t rest;
    int32_t exp;
} ozg_cuda_halves;

OZG_DEVICE ozg_cuda_halves ozg_cuda_halves_of(uint64_t bits, ozg_fp x, int32_t d)
{
    const int32_t down = -(x.exp + d);
    ozg_cuda_halves h;

    h.kept = ozg_scale_bits(bits, d).mant;
    h.exp = down > 0 ? -d : x.exp;
    h.rest = down > 0 ? (int64_t)x.mant - (down < 64 ? (int64_t)(h.kept << down) : 0) : 0;
    return h;
}

OZG_DEVICE void ozg_cuda_sink_multiply(ozg_cuda_sink *s, uint64_t x, uint64_t y, int32_t exp, int neg)
{
    uint64_t lo, hi;

    if (x == 0 || y == 0)
        return;
    lo = ozg_mul_add(x, y, 0, &hi);
    ozg_cuda_sink_add(s, lo, hi, exp, neg);
}

/* sink += (-1)^negate times the product of two components (all), or what the split changed in it. */
OZG_DEVICE void ozg_cuda_pair_product(ozg_cuda_sink *s, uint64_t x_bits, int32_t dx, uint64_t y_bits,
                                      int32_t dy, int negate, int all)
{
    const ozg_fp x = ozg_fp_of_bits(x_bits), y = ozg_fp_of_bits(y_bits);
    const int neg = x.neg ^ y.neg ^ negate;
    ozg_cuda_halves hx, hy;

    if (all) {
        ozg_cuda_sink_multiply(s, x.mant, y.mant, x.exp + y.exp, neg);
        return;
    }
    hx = ozg_cuda_halves_of(x_bits, x, dx);
    hy = ozg_cuda_halves_of(y_bits, y, dy);
    ozg_cuda_sink_multiply(s, (uint64_t)(hx.rest < 0 ? -hx.rest : hx.rest), y.mant, x.exp + y.exp,
                           neg ^ (hx.rest < 0));
    ozg_cuda_sink_multiply(s, hx.kept, (uint64_t)(hy.rest < 0 ? -hy.rest : hy.rest), hx.exp + y.exp,
                           neg ^ (hy.rest < 0));
}

/* The same for component `part` of a pair of elements. */
OZG_DEVICE void ozg_cuda_pair_add(ozg_cuda_sink *s, const ozg_cuda_pair *z, int complex_, int part, int all)
{
    ozg_cuda_pair_product(s, z->x[0], z->dx, part ? z->y[1] : z->y[0], z->dy, 0, all);
    if (complex_)
        ozg_cuda_pair_product(s, z->x[1], z->dx, part ? z->y[0] : z->y[1], z->dy, !part, all);
}

/* ---- windows ------------------------------------------------------------------------------------ */

OZG_DEVICE void ozg_cuda_window_clear(int64_t *window)
{
#pragma unroll
    for (int q = 0; q < OZG_CUDA_WINDOW; q++)
        window[q * OZG_CUDA_WARP] = 0;
}

/* All digits but the highest into [0, 2^32). */
OZG_DEVICE void ozg_cuda_window_carry(int64_t *window)
{
    int64_t carry = 0;

#pragma unroll
    for (int q = 0; q < OZG_CUDA_WINDOW - 1; q++) {
        const int64_t digit = window[q * OZG_CUDA_WARP] + carry;

        window[q * OZG_CUDA_WARP] = digit & 0xffffffff;
        carry = digit >> 32;
    }
    window[(OZG_CUDA_WINDOW - 1) * OZG_CUDA_WARP] += carry;
}

/* The number in a window, below 2^383 in size, in units of its bottom. */
OZG_DEVICE void ozg_cuda_window_int(const int64_t *window, ozg_int *z)
{
    uint64_t flip, add;
    int64_t carry = 0;

#pragma unroll
    for (int i = 0; i < OZG_INT_WORDS; i++) {
        const int64_t low = window[2 * i * OZG_CUDA_WARP] + carry,
                      high = window[(2 * i + 1) * OZG_CUDA_WARP] + (low >> 32);

        z->w[i] = (uint64_t)(low & 0xffffffff) | (uint64_t)high << 32;
        carry = high >> 32;
    }
    z->n = OZG_INT_WORDS;
    z->neg = carry < 0;
    flip = carry < 0 ? UINT64_MAX : 0;
    add = carry < 0;
#pragma unroll
    for (int i = 0; i < OZG_INT_WORDS; i++) {
        z->w[i] = (z->w[i] ^ flip) + add;
        add &= z->w[i] == 0;
    }
}

/*
 * The bottom of the window of an entry: see above. A multiple of 32, as LOWEST is, so that digits are digits
 * of an ozg_exact; not below LOWEST, since below that there is nothing.
 */
OZG_DEVICE int32_t ozg_cuda_window_bottom(const ozg_cuda_reconstruct_args *a, int64_t row, int64_t column)
{
    const int32_t top = a->a.e[row] + a->b.e[column] + ozg_bit_length(a->request.length) + 6;
    const int32_t bottom = (top - 32 * OZG_CUDA_WINDOW + 31) & ~31;

    return bottom < OZG_EXACT_LOWEST ? OZG_EXACT_LOWEST : bottom;
}

#endif
