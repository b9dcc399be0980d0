/*
 * moduli.c - the largest products of pairwise coprime moduli <= 256, by an exact dynamic programme; and the
 * cheapest sets of moduli of up to 16 bits, or for complex products, that take their place.
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

/* bits and top of the product */
static void set_size(ozg_moduli_set *set, const uint32_t *product)
{
    leading_bits(product, &set->top, &set->bits);
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
            set->m[set->nmod++] = (uint32_t)x;
    set->three = set->nmod;
    set_size(set, win->product);
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

/* ---- moduli of up to 16 bits -------------------------------------------------------------------- */

int32_t ozg_fold_factor(uint32_t m)
{
    const uint32_t c = (UINT32_C(1) << 16) % m;

    return (int32_t)c - (c > m / 2 ? (int32_t)m : 0);
}

/*
 * A call takes up to OZG_K_BLOCK products and starts from sums v, |v| <= 2^15 (|c| + 1), to which it adds
 * 2^15 for each of its folds. So between two folds
 *     |v| <= 2^15 (|c| + 1) + 2^15 ceil(OZG_K_BLOCK / every) + every h^2,
 * which has to be below 2^31. Sums modulo 2^16 may wrap, since 2^32 is a multiple of that modulus.
 */
int ozg_fold_every(uint32_t m)
{
    const int64_t h = (m - 1) / 2, c = ozg_fold_factor(m);
    int64_t every = OZG_K_BLOCK;

    if (m == UINT32_C(1) << 16)
        return OZG_K_BLOCK;
    while (every > 4 && ((c < 0 ? -c : c) + 1 + (OZG_K_BLOCK + every - 1) / every) * 32768 + every * h * h >=
                            INT64_C(1) << 31)
        every -= 4;
    return (int)every;
}

static uint32_t gcd(uint32_t a, uint32_t b)
{
    while (b) {
        const uint32_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* 2^16 and the n - 1 largest odd numbers <= most that are coprime one by one. 0: there are not so many. */
static int choose_wide(int n, uint32_t most, ozg_moduli_set *set, uint32_t *product)
{
    const uint32_t one[LIMBS] = {1};

    set->nmod = 1;
    set->m[0] = UINT32_C(1) << 16;
    multiply(product, one, set->m[0]);
    set->three = n;
    for (uint32_t x = most; set->nmod < n; x -= 2) {
        int coprime = 1;

        if (x < 3)
            return 0;
        for (int l = 1; l < set->nmod && coprime; l++)
            coprime = gcd(set->m[l], x) == 1;
        if (!coprime)
            continue;
        set->m[set->nmod++] = x;
        multiply(product, product, x);
    }
    return 1;
}

/* 2^13 (floor(M/2) - floor(M/64)) of the canonical M */
static void least_room(int s, uint32_t *room)
{
    const ozg_moduli_set *set = ozg_moduli_get(s);
    uint32_t m[LIMBS] = {1};
    int64_t borrow = 0;

    for (int l = 0; l < s; l++)
        multiply(m, m, set->m[l]);
    for (int i = 0; i < LIMBS; i++) {
        const uint64_t next = i + 1 < LIMBS ? m[i + 1] : 0, pair = next << 32 | m[i];

        borrow += (int64_t)(pair >> 1 & UINT32_MAX) - (int64_t)(pair >> 6 & UINT32_MAX);
        room[i] = (uint32_t)borrow;
        borrow = borrow < 0 ? -1 : 0;
    }
    multiply(room, room, 1 << 13);
}

/* M' / 2 - M' / 2^13 exceeds Q: M' (2^12 - 1) > 2^13 Q. */
static int has_room(const uint32_t *product, const uint32_t *room)
{
    uint32_t wide[LIMBS];

    multiply(wide, product, (1 << 12) - 1);
    return compare(wide, room) > 0;
}

/* The n moduli with the smallest largest one that have room. 0: no n numbers have. */
static int smallest_wide(int n, const uint32_t *room, ozg_moduli_set *set)
{
    uint32_t product[LIMBS], low = 1,
                             high = OZG_WIDE_ODD_MAX; /* odd; of `low` the power alone is too small */

    if (!choose_wide(n, high, set, product) || !has_room(product, room))
        return 0;
    while (high - low > 2) { /* the power of `high` has room: no set of moduli <= low has */
        const uint32_t middle = ((low + high) / 2) | 1, one[LIMBS] = {1};

        multiply(product, one, UINT32_C(1) << 16);
        for (int l = 1; l < n; l++)
            multiply(product, product, middle);
        if (has_room(product, room))
            high = middle < high ? middle : high - 2;
        else
            low = middle;
    }
    while (!choose_wide(n, high, set, product) || !has_room(product, room))
        high += 2;
    set_size(set, product);
    return 1;
}

/* A fold costs as much as two products: is a cheaper than b, in n (1 + 2 / every)? */
static int cheaper(const ozg_moduli_set *a, const ozg_moduli_set *b)
{
    const int every_a = ozg_fold_every(a->m[a->nmod > 1]), every_b = ozg_fold_every(b->m[b->nmod > 1]);

    return a->nmod * (every_a + 2) * every_b < b->nmod * (every_b + 2) * every_a;
}

void ozg_moduli_wide(int s, ozg_moduli_set *set)
{
    uint32_t room[LIMBS];
    ozg_moduli_set more;
    int n = 1;

    least_room(s, room);
    while (!smallest_wide(n, room, set))
        n++;
    for (n++; smallest_wide(n, room, &more) && cheaper(&more, set); n++)
        *set = more;
}

/* ---- complex products --------------------------------------------------------------------------- */

static ozg_moduli_set complex_sets[OZG_NMOD_MAX + 1];
static pthread_once_t complex_once = PTHREAD_ONCE_INIT;

uint32_t ozg_moduli_root(uint32_t m)
{
    for (uint32_t j = 1; j < m; j++)
        if ((j * j + 1) % m == 0)
            return j;
    return 0;
}

/* Numbers <= 256 that are coprime, the largest first: odd ones with a root, then those coprime to these. */
typedef struct kinds {
    int two, three; /* how many */
    uint32_t by_two[OZG_NMOD_MAX], by_three[OZG_NMOD_MAX];
} kinds;

static int is_coprime(uint32_t x, const uint32_t *to, int count)
{
    for (int i = 0; i < count; i++)
        if (gcd(x, to[i]) != 1)
            return 0;
    return 1;
}

static void find_kinds(kinds *k)
{
    k->two = k->three = 0;
    for (uint32_t x = 255; x > 1; x -= 2)
        if (ozg_moduli_root(x) && is_coprime(x, k->by_two, k->two))
            k->by_two[k->two++] = x;
    for (uint32_t x = 256; x > 1; x--)
        if (is_coprime(x, k->by_two, k->two) && is_coprime(x, k->by_three, k->three))
            k->by_three[k->three++] = x;
}

/* The first `three` by 3M and the first `two` by 2M. */
static void take_kinds(ozg_moduli_set *set, const kinds *k, int three, int two, const uint32_t *product)
{
    memset(set, 0, sizeof *set);
    set->nmod = three + two;
    set->three = three;
    memcpy(set->m, k->by_three, (size_t)three * sizeof *set->m);
    memcpy(set->m + three, k->by_two, (size_t)two * sizeof *set->m);
    set_size(set, product);
}

/* The fewest products; among these the fewest by 3M, which cost reconstruct more. */
static void choose_complex(int s, const kinds *k)
{
    ozg_moduli_set *set = &complex_sets[s];
    uint32_t room[LIMBS], product[LIMBS], by_three[LIMBS] = {1};

    *set = *ozg_moduli_get(s);
    least_room(s, room);
    for (int three = 0; three <= k->three; three++) {
        int two = 0;

        memcpy(product, by_three, sizeof product);
        while (two < k->two && !has_room(product, room))
            multiply(product, product, k->by_two[two++]);
        if (has_room(product, room) && three + two <= OZG_NMOD_MAX) {
            if (3 * three + 2 * two < 2 * set->nmod + set->three)
                take_kinds(set, k, three, two, product);
        }
        if (three < k->three)
            multiply(by_three, by_three, k->by_three[three]);
    }
}

static void compute_complex(void)
{
    kinds k;

    find_kinds(&k);
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++)
        choose_complex(s, &k);
}

const ozg_moduli_set *ozg_moduli_complex(int s)
{
    pthread_once(&complex_once, compute_complex);
    return &complex_sets[s];
}
