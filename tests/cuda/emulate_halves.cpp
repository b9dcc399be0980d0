/*
 * emulate_halves.cpp - ozg_cuda_components() for all residues of the first two planes of four moduli, and
 * some of the third.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cuda/halves.cuh"
#include "emulate_halves.h"

/* 2^twice r is v mod m, and r is symmetric. m = 256: r has the class of v. */
static int is_right(int r, int v, int m, int twice)
{
    if (m == 256)
        return (r - v) % 256 == 0;
    return (r * (1 << twice) - v) % m == 0 && 2 * r < m && -2 * r < m;
}

/* Are both residues of a modulus what the planes' a, b, c make them? And those of a single entry? */
static int right(const ozg_cuda_table *t, int l, int re, int im, int a, int b, int c)
{
    const int m = (int)t->reduce[l].modulus, three = l < t->three;
    int8_t plane[3 * OZG_NMOD_MAX] = {0};
    const ozg_cuda_residues in = {(uint8_t *)plane, 1, 1, nullptr, 0};

    plane[l] = (int8_t)a;
    plane[t->nmod + l] = (int8_t)b;
    if (three)
        plane[2 * t->nmod + l] = (int8_t)c;
    return is_right(re, three ? a - b : a + b, m, 1) &&
           is_right(im, three ? c - a - b : a - b, m, 1 + three) &&
           (int8_t)ozg_cuda_component(t, &in, l, 0, 0) == re &&
           (int8_t)ozg_cuda_component(t, &in, l, 1, 0) == im;
}

static int symmetric(int x, int m)
{
    return x % m > (m - 1) / 2 ? x % m - m : x % m;
}

OZG_KERNEL(emulate_halves, emulate_halves_args, 1, 1)
{
    const ozg_cuda_table *t = a.table;
    const uint32_t *half = t->weights.half[a.g];
    const uint4 k = make_uint4(half[0], half[1], half[2], half[3]);
    const int count = t->nmod - 4 * a.g < 4 ? t->nmod - 4 * a.g : 4;

    for (int i = 0; i < 256 * 256; i++) {
        uint32_t word[3] = {0, 0, 0}, now[2];
        int x[4][3];

        for (int q = 0; q < count; q++) {
            const int m = (int)t->reduce[4 * a.g + q].modulus,
                      number[3] = {i % 256, i / 256 + q, 91 * i / 7 + q};

            for (int p = 0; p < 3; p++) {
                x[q][p] = symmetric(number[p], m);
                word[p] |= (uint32_t)(x[q][p] & 255) << 8 * q;
            }
        }
        now[0] = word[0];
        now[1] = word[1];
        ozg_cuda_components(&now[0], &now[1], word[2], 4 * a.g < t->three, k);
        for (int q = 0; q < count; q++) {
            const int l = 4 * a.g + q;

            if (right(t, l, (int8_t)(now[0] >> 8 * q), (int8_t)(now[1] >> 8 * q), x[q][0], x[q][1],
                      x[q][2]) ||
                (*a.differ)++ > 0)
                continue;
            *a.first[0] = l;
            for (int p = 0; p < 3; p++)
                *a.first[1 + p] = x[q][p];
        }
        if (count < 4 && (now[0] | now[1]) >> 8 * count) /* nothing beyond the last modulus */
            ++*a.differ;
    }
}
