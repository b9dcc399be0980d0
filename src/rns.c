/*
 * rns.c - builds residue systems, each once.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "rns.h"

enum { WORD_1, WORD_2, COMPLEX, KINDS };

static _Atomic(const ozg_rns *) systems[KINDS][OZG_NMOD_MAX + 1];

/* Numbers in 16-bit limbs, least significant first. */
static void limbs_multiply(uint32_t *a, uint32_t factor)
{
    uint64_t carry = 0;

    for (int i = 0; i < OZG_CRT_LIMBS; i++) {
        carry += (uint64_t)a[i] * factor;
        a[i] = carry & 0xffff;
        carry >>= 16;
    }
}

static void limbs_divide(uint32_t *a, uint32_t divisor)
{
    uint64_t rest = 0;

    for (int i = OZG_CRT_LIMBS - 1; i >= 0; i--) {
        rest = rest << 16 | a[i];
        a[i] = (uint32_t)(rest / divisor);
        rest %= divisor;
    }
}

/* 2^e mod m */
static uint32_t power_mod(int e, uint32_t m)
{
    uint32_t r = 1;

    while (e-- > 0)
        r = 2 * r % m;
    return r;
}

/* 16 bits of the symmetric residue of 2^e mod m */
static uint32_t symmetric_power(int e, uint32_t m)
{
    const uint32_t r = power_mod(e, m);

    return (r > m / 2 ? r - m : r) & 0xffff;
}

/* y = (M/m_l)^-1 mod m_l, by trial: m <= 2^16. */
static uint32_t inverse_of_cofactor(const ozg_rns *rns, int l)
{
    uint32_t m = rns->m[l], y = 1, multiple;
    uint64_t cofactor = 1;

    for (int i = 0; i < rns->nmod; i++)
        if (i != l)
            cofactor = cofactor * rns->m[i] % m;
    for (multiple = (uint32_t)cofactor; multiple != 1 % m; multiple -= multiple >= m ? m : 0) {
        multiple += (uint32_t)cofactor;
        y++;
    }
    return y;
}

/* quotient_l = RN(2^f y_l / m_l); returns the largest value that the sum below can have. */
static uint64_t set_quotients_for(ozg_rns *rns, const uint32_t *y, int f)
{
    uint64_t most = UINT64_C(1) << (f - 1);

    rns->quotient_shift = f;
    for (int l = 0; l < rns->nmod; l++) {
        rns->quotient[l] = (uint32_t)((((uint64_t)y[l] << (f + 1)) / rns->m[l] + 1) >> 1);
        most += (uint64_t)(rns->m[l] - 1) * rns->quotient[l];
    }
    return most;
}

/*
 * The quotient q = rint(Z / M) is taken from  ( sum_l r_l quotient_l + 2^(f-1) ) >> f. The error of the sum
 * is at most sum_l (m_l - 1) 2^-(f+1).
 * Word 1: in 32 bits, f being the largest for which the sum cannot overflow. The error is then below 0.0076
 * for every s, and the quotient is right for |c^| <= 0.49 M.
 * Word 2: in 64 bits, f = 32. As sum_l (m_l - 1) < 2^20, the error is below 2^-13: ozg_moduli_wide().
 * tests/unit checks this for every s. No floating point: [Xe2] sec. 4.4 uses FP32.
 */
static void set_quotients(ozg_rns *rns, const uint32_t *y)
{
    int f = 24;

    if (rns->word == 2)
        set_quotients_for(rns, y, 32);
    else
        while (set_quotients_for(rns, y, f) >> 32)
            f--;
}

/*
 * Balanced base-2^16 digits of (-1)^negate a, least significant first, to half a pair. The carry out of the
 * last limb is dropped: c^ is computed modulo 2^(16 nlimb).
 */
static void set_pair_half(ozg_rns *rns, int number, const uint32_t *a, int negate)
{
    int32_t carry = 0;

    for (int i = 0; i < rns->nlimb; i++) {
        int32_t digit = (negate ? -(int32_t)a[i] : (int32_t)a[i]) + carry; /* in [-2^16, 2^16] */

        carry = digit >= 32768 ? 1 : digit < -32768 ? -1 : 0;
        digit -= carry * 65536;
        rns->pair[number / 2][i] |= ((uint32_t)digit & 0xffff) << 16 * (number % 2);
    }
}

static void set_pairs(ozg_rns *rns)
{
    rns->npair = (rns->nmod + 2) / 2;
    for (int l = 0; l < rns->nmod; l++)
        set_pair_half(rns, l, rns->weight[l], 0);
    set_pair_half(rns, rns->nmod, rns->product, 1);
}

/* Balanced base-2^32 digits of (-1)^negate a, modulo 2^(16 nlimb). */
static void set_wide(const ozg_rns *rns, int32_t *out, const uint32_t *a, int negate)
{
    int64_t carry = 0;

    for (int i = 0; i < 2 * rns->nword; i++) {
        const int64_t limb = (int64_t)a[2 * i + 1] << 16 | a[2 * i];

        carry += negate ? -limb : limb; /* in [-2^32, 2^32] */
        out[i] = (int32_t)(uint32_t)carry;
        carry = (carry - out[i]) / (INT64_C(1) << 32); /* exact */
    }
}

static void set_wides(ozg_rns *rns)
{
    for (int l = 0; l < rns->nmod; l++)
        set_wide(rns, rns->wide[l], rns->weight[l], 0);
    set_wide(rns, rns->wide[rns->nmod], rns->product, 1);
}

/* The least multiple of m that is no less than x. */
static uint32_t multiple_from(uint32_t x, uint32_t m)
{
    return (x + m - 1) / m * m;
}

static void set_modulus(ozg_rns *rns, int l, uint32_t m)
{
    rns->m[l] = m;
    rns->inv[l] = (uint32_t)((UINT64_C(1) << 32) / m);
    rns->offset[l] = (m - (UINT32_C(1) << 31) % m) % m;
    for (int i = 0; i < OZG_SPLIT_LIMBS; i++)
        rns->power[l][i] = power_mod(21 * i, m);
    for (int i = 0; i < OZG_SPLIT_PAIRS; i++)
        rns->power_pair[l][i] = symmetric_power(30 * i, m) | symmetric_power(30 * i + 15, m) << 16;
    for (int i = 0; i < 4 && rns->word == 1; i++)
        rns->bytes[l] |= (symmetric_power(8 * i, m) & 0xff) << 8 * i;
    rns->bytes_1[l] = multiple_from(OZG_BYTES_1, m);
    rns->bytes_2[l] = multiple_from(OZG_BYTES_2, m);
    rns->fold_every[l] = ozg_fold_every(m);
    rns->fold_factor[l] = ozg_fold_factor(m);
    limbs_multiply(rns->product, m);
}

/* Words of every |c^| < M / 2. */
static int words_for(const ozg_moduli_set *set)
{
    const int words = (set->bits - 1) / 64 + 1; /* bits - 1 = floor(log2 M) */

    /* |c^| < 2^(64 words) (1/2 - 1/64), for which M / 2 is too much if M > 31/32 2^(64 words) */
    return words + (set->bits % 64 == 0 && set->top >> 59 == 31);
}

/* words: the set that says how many c^ has */
static void build(ozg_rns *rns, int word, const ozg_moduli_set *set, const ozg_moduli_set *words)
{
    uint32_t y[OZG_NMOD_MAX];

    rns->word = word;
    rns->nmod = set->nmod;
    rns->three = set->three;
    rns->nword = words_for(words);
    rns->nlimb = 4 * rns->nword;
    rns->product[0] = 1;
    for (int l = 0; l < set->nmod; l++)
        set_modulus(rns, l, set->m[l]);
    for (int l = 0; l < set->nmod; l++) {
        y[l] = inverse_of_cofactor(rns, l);
        for (int i = 0; i < OZG_CRT_LIMBS; i++)
            rns->weight[l][i] = rns->product[i];
        limbs_divide(rns->weight[l], rns->m[l]);
        limbs_multiply(rns->weight[l], y[l]);
    }
    set_quotients(rns, y);
    if (word == 1)
        set_pairs(rns);
    else
        set_wides(rns);
}

static void make(ozg_rns *rns, int kind, int s)
{
    ozg_moduli_set wide;

    if (kind == COMPLEX) { /* c^ is that of the canonical moduli, and so are its words */
        build(rns, 1, ozg_moduli_complex(s), ozg_moduli_get(s));
    } else if (kind == WORD_2) {
        ozg_moduli_wide(s, &wide);
        build(rns, 2, &wide, &wide);
    } else {
        build(rns, 1, ozg_moduli_get(s), ozg_moduli_get(s));
    }
}

static ozg_status get(const ozg_rns **rns, int kind, int s)
{
    _Atomic(const ozg_rns *) *system = &systems[kind][s];
    const ozg_rns *have = atomic_load_explicit(system, memory_order_acquire);

    if (!have) {
        ozg_rns *made = calloc(1, sizeof *made);

        if (!made)
            return OZG_E_NOMEM;
        make(made, kind, s);
        if (atomic_compare_exchange_strong(system, &have, made))
            have = made;
        else
            free(made);
    }
    *rns = have;
    return OZG_OK;
}

ozg_status ozg_rns_get(const ozg_rns **rns, int word, int s)
{
    return get(rns, word == 2 ? WORD_2 : WORD_1, s);
}

ozg_status ozg_rns_complex(const ozg_rns **rns, int s)
{
    return get(rns, COMPLEX, s);
}
