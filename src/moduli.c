/*
 * moduli.c - the largest products of pairwise coprime moduli, by an exact dynamic programme.
 *
 * A number <= 256 has at most one prime factor >= 17, since 17^2 > 256. So numbers fall into groups: those
 * with the big prime p (at most one of each group may be chosen), and those without (each its own group).
 * Within the small primes 2, 3, 5, 7, 11, 13 "pairwise coprime" is "disjoint sets of primes": 64 masks. The
 * state (mask, count) holds the largest product of count numbers that use exactly the small primes of mask.
 *
 * SPDX-License-Identifier: MIT
 */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "moduli.h"

#define MASKS 64
#define LIMBS 12 /* 32-bit limbs: M < 2^345 */

typedef struct state {
    double log2; /* of the product; -1: no such choice */
    uint32_t product[LIMBS];
    uint8_t chosen[32]; /* one bit a number 1..256 */
} state;

static state best[MASKS][OZG_NMOD_MAX + 1];
static ozg_moduli_set sets[OZG_NMOD_MAX + 1];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void multiply(uint32_t *out, const uint32_t *a, uint32_t factor)
{
    uint64_t carry = 0;

    for (int i = 0; i < LIMBS; i++) {
        carry += (uint64_t)a[i] * factor;
        out[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

static int compare(const uint32_t *a, const uint32_t *b)
{
    for (int i = LIMBS - 1; i >= 0; i--)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

/* The small primes of x as a mask; *big is its prime >= 17, or 1. */
static int small_primes(int x, int *big)
{
    static const int prime[6] = {2, 3, 5, 7, 11, 13};
    int mask = 0;

    for (int i = 0; i < 6; i++)
        while (x % prime[i] == 0) {
            x /= prime[i];
            mask |= 1 << i;
        }
    *big = x;
    return mask;
}

/* best[mask][count] := the larger of itself and from * x. Logarithms decide only where they are far from
 * equal. */
static void offer(int mask, int count, const state *from, int x)
{
    state *to = &best[mask][count];
    double log2_new = from->log2 + log2(x);
    uint32_t product[LIMBS];

    if (log2_new < to->log2 - 1e-6)
        return;
    multiply(product, from->product, (uint32_t)x);
    if (to->log2 >= 0 && compare(product, to->product) <= 0)
        return;
    to->log2 = log2_new;
    memcpy(to->product, product, sizeof product);
    memcpy(to->chosen, from->chosen, sizeof to->chosen);
    to->chosen[(x - 1) / 8] |= (uint8_t)(1 << (x - 1) % 8);
}

/* At most one number of a group joins: count goes down, so that no state is both read and written as new. */
static void choose_from_group(const int *number, const int *mask, int size)
{
    for (int count = OZG_NMOD_MAX - 1; count >= 0; count--)
        for (int used = 0; used < MASKS; used++) {
            if (best[used][count].log2 < 0)
                continue;
            for (int i = 0; i < size; i++)
                if (!(used & mask[i]))
                    offer(used | mask[i], count + 1, &best[used][count], number[i]);
        }
}

/* The leading 64 bits of a, and how many bits it has. a is not 0. */
static void leading_bits(const uint32_t *a, uint64_t *top, int *bits)
{
    int word = LIMBS - 1, shift;
    uint64_t hi, lo;

    while (!a[word])
        word--;
    hi = (uint64_t)a[word] << 32 | (word > 0 ? a[word - 1] : 0);
    lo = (uint64_t)(word > 1 ? a[word - 2] : 0) << 32 | (word > 2 ? a[word - 3] : 0);
    for (shift = 0; !(hi >> 63); shift++) {
        hi = hi << 1 | lo >> 63;
        lo <<= 1;
    }
    *top = hi;
    *bits = 32 * (word + 1) - shift;
}

/* out := (a >> 1) - (a >> 6) */
static void half_less_a_64th(uint32_t *out, const uint32_t *a)
{
    int64_t borrow = 0;

    for (int i = 0; i < LIMBS; i++) {
        const uint32_t above = i + 1 < LIMBS ? a[i + 1] : 0;

        borrow += (int64_t)(a[i] >> 1 | above << 31) - (int64_t)(a[i] >> 6 | above << 26);
        out[i] = (uint32_t)borrow;
        borrow >>= 32; /* -1 or 0 */
    }
}

static void extract(int s)
{
    const state *win = NULL;
    ozg_moduli_set *set = &sets[s];
    uint32_t most[LIMBS];

    for (int mask = 0; mask < MASKS; mask++)
        if (best[mask][s].log2 >= 0 && (!win || compare(best[mask][s].product, win->product) > 0))
            win = &best[mask][s];
    for (int x = 256; x >= 2; x--)
        if (win->chosen[(x - 1) / 8] >> (x - 1) % 8 & 1)
            set->m[set->nmod++] = (uint16_t)x;
    leading_bits(win->product, &set->top, &set->bits);
    half_less_a_64th(most, win->product);
    leading_bits(most, &set->most_top, &set->most_bits);
}

static void compute(void)
{
    for (int mask = 0; mask < MASKS; mask++)
        for (int count = 0; count <= OZG_NMOD_MAX; count++)
            best[mask][count].log2 = -1;
    best[0][0].log2 = 0;
    best[0][0].product[0] = 1;
    for (int p = 1; p <= 256; p++) { /* the group of the big prime p; p = 1: no big prime */
        int number[256], mask[256], size = 0;

        for (int x = 2; x <= 256; x++) {
            int big, small = small_primes(x, &big);

            if (big != p)
                continue;
            number[size] = x;
            mask[size++] = small;
        }
        if (p > 1)
            choose_from_group(number, mask, size);
        else
            for (int i = 0; i < size; i++)
                choose_from_group(number + i, mask + i, 1);
    }
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++)
        extract(s);
}

const ozg_moduli_set *ozg_moduli_get(int s)
{
    pthread_once(&once, compute);
    return &sets[s];
}

int ozg_moduli_width(int s, uint64_t length)
{
    const ozg_moduli_set *set = ozg_moduli_get(s);
    int bits = 0, room;

    for (uint64_t x = length; x; x >>= 1)
        bits++;
    /* length 2^r <= M: r <= set->bits - bits, with equality only if the leading 64 bits allow it */
    room = set->bits - bits - (length << (64 - bits) > set->top);
    return room < 2 ? 0 : (room - 2) / 2;
}

int ozg_moduli_for_width(int t, uint64_t length)
{
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++)
        if (ozg_moduli_width(s, length) >= t)
            return s;
    return 0;
}
