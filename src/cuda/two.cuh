/*
 * two.cuh - RN of the sum of two terms (arith/limbs.h), such as alpha AB + beta C, in few words.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_TWO_CUH
#define OZG_CUDA_TWO_CUH

#include "arith/limbs.h"
#include "cuda/device.cuh"

#define OZG_CUDA_TWO_WORDS 10

OZG_DEVICE int ozg_cuda_two_used(const ozg_term *t)
{
    int n = t->n;

    while (n > 0 && !t->w[n - 1])
        n--;
    return n;
}

/* acc += t, in units of 2^base. What lies below becomes the lowest bit, if it is not 0. */
OZG_DEVICE void ozg_cuda_two_add(uint64_t *acc, const ozg_term *t, int used, int64_t base)
{
    const int64_t down = base - t->exp;
    uint64_t w[OZG_TERM_WORDS], below = 0;
    int first, bit, n = 0;

    if (down <= 0) {
        ozg_sum_add(acc, OZG_CUDA_TWO_WORDS, t->w, used, t->neg, -down);
        return;
    }
    first = down / 64 < used ? (int)(down / 64) : used;
    bit = (int)(down % 64);
    for (int i = 0; i < first; i++)
        below |= t->w[i];
    if (first < used && bit)
        below |= t->w[first] << (64 - bit);
    for (int i = first; i < used; i++)
        w[n++] = bit ? t->w[i] >> bit | (i + 1 < used ? t->w[i + 1] << (64 - bit) : 0) : t->w[i];
    if (n == 0)
        w[n++] = 0;
    w[0] |= below != 0;
    ozg_sum_add(acc, OZG_CUDA_TWO_WORDS, w, n, t->neg, 0);
}

/*
 * ozg_cuda_round_two() - RN(x + y), what ozg_sum_round() gives for two terms. acc has nine words below 2^t,
 * the top of the higher term H, and one for the carry and the sign; 2^b, b = t - 576, is its unit. A term has
 * at most seven words, so a term L that reaches below 2^b lies below 2^(b + 448) = 2^(t - 128), while |H| >=
 * 2^(t - 64): |H + L| > 2^(t - 65), and where its rounding changes are multiples of 2^(t - 65 - 53), in the
 * subnormal range of larger numbers. |L| lies strictly between q and q + 1 in units of 2^b and becomes the
 * odd one of the two: H + L stays between the same two even numbers.
 */
OZG_DEVICE uint64_t ozg_cuda_round_two(int single, const ozg_term *x, const ozg_term *y)
{
    const int nx = ozg_cuda_two_used(x), ny = ozg_cuda_two_used(y);
    int64_t base;
    uint64_t acc[OZG_CUDA_TWO_WORDS];

    if (nx == 0)
        return ozg_round_words(single, y->neg, y->w, ny, y->exp);
    if (ny == 0)
        return ozg_round_words(single, x->neg, x->w, nx, x->exp);
    base = (x->exp + 64 * nx > y->exp + 64 * ny ? x->exp + 64 * nx : y->exp + 64 * ny) -
           64 * (OZG_CUDA_TWO_WORDS - 1);
    for (int i = 0; i < OZG_CUDA_TWO_WORDS; i++)
        acc[i] = 0;
    ozg_cuda_two_add(acc, x, nx, base);
    ozg_cuda_two_add(acc, y, ny, base);
    return ozg_sum_round_words(single, acc, OZG_CUDA_TWO_WORDS, base);
}

#endif
