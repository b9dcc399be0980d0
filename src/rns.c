/*
 * rns.c - builds residue systems, each once.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "rns.h"

static _Atomic(const ozg_rns *) systems[OZG_NMOD_MAX + 1];

/* Numbers in 16-bit limbs, least significant first. */
static void limbs_multiply(uint32_t *a, uint32_t factor)
{
    uint32_t carry = 0;

    for (int i = 0; i < OZG_CRT_LIMBS; i++) {
        carry += a[i] * factor;
        a[i] = carry & 0xffff;
        carry >>= 16;
    }
}

static void limbs_divide(uint32_t *a, uint32_t divisor)
{
    uint32_t rest = 0;

    for (int i = OZG_CRT_LIMBS - 1; i >= 0; i--) {
        rest = rest << 16 | a[i];
        a[i] = rest / divisor;
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

/* y = (M/m_l)^-1 mod m_l, by trial: m <= 256. */
static uint32_t inverse_of_cofactor(const ozg_rns *rns, int l)
{
    uint32_t m = rns->m[l], cofactor = 1, y = 1;

    for (int i = 0; i < rns->nmod; i++)
        if (i != l)
            cofactor = cofactor * rns->m[i] % m;
    while (cofactor * y % m != 1 % m)
        y++;
    return y;
}

/*
 * The quotient q = rint(Z / M) is taken from  ( sum_l r_l quotient_l + 2^(f-1) ) >> f  in 32 bits. The error
 * of the sum is at most sum_l (m_l - 1) 2^-(f+1). f is the largest for which the sum cannot overflow: then
 * the error is below 0.0076 for every s, and the quotient is right for |c^| <= 0.49 M (tests/unit checks both
 * for every s). No floating point: [Xe2] sec. 4.4 uses FP32.
 */
static void set_quotients(ozg_rns *rns, const uint32_t *y)
{
    for (int f = 24; f > 0; f--) {
        uint64_t most = UINT64_C(1) << (f - 1);

        for (int l = 0; l < rns->nmod; l++) {
            rns->quotient[l] = (uint32_t)((((uint64_t)y[l] << (f + 1)) / rns->m[l] + 1) >> 1);
            most += (uint64_t)(rns->m[l] - 1) * rns->quotient[l];
        }
        rns->quotient_shift = f;
        if (most >> 32 == 0)
            return;
    }
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

static void build(ozg_rns *rns, const ozg_moduli_set *set)
{
    uint32_t y[OZG_NMOD_MAX];

    rns->nmod = set->nmod;
    rns->nword = (set->bits - 1) / 64 + 1; /* bits - 1 = floor(log2 M) */
    rns->nlimb = 4 * rns->nword;
    rns->product[0] = 1;
    for (int l = 0; l < set->nmod; l++) {
        uint32_t m = rns->m[l] = set->m[l];

        rns->inv[l] = (uint32_t)((UINT64_C(1) << 32) / m);
        rns->offset[l] = (m - (UINT32_C(1) << 31) % m) % m;
        rns->power[l][0] = 1;
        for (int i = 1; i < OZG_SPLIT_LIMBS; i++)
            rns->power[l][i] = (rns->power[l][i - 1] << 21) % m;
        for (int i = 0; i < OZG_SPLIT_PAIRS; i++)
            rns->power_pair[l][i] = power_mod(30 * i, m) | power_mod(30 * i + 15, m) << 16;
        limbs_multiply(rns->product, m);
    }
    for (int l = 0; l < set->nmod; l++) {
        y[l] = inverse_of_cofactor(rns, l);
        for (int i = 0; i < OZG_CRT_LIMBS; i++)
            rns->weight[l][i] = rns->product[i];
        limbs_divide(rns->weight[l], rns->m[l]);
        limbs_multiply(rns->weight[l], y[l]);
    }
    set_quotients(rns, y);
    set_pairs(rns);
}

ozg_status ozg_rns_get(const ozg_rns **rns, int s)
{
    const ozg_rns *have = atomic_load_explicit(&systems[s], memory_order_acquire);

    if (!have) {
        ozg_rns *made = calloc(1, sizeof *made);

        if (!made)
            return OZG_E_NOMEM;
        build(made, ozg_moduli_get(s));
        if (atomic_compare_exchange_strong(&systems[s], &have, made))
            have = made;
        else
            free(made);
    }
    *rns = have;
    return OZG_OK;
}
