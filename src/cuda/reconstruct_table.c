/*
 * reconstruct_table.c - weights of the reconstruction from those of the residue system.
 *
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <string.h>

#include "cuda/reconstruct_table.h"

/* floor(a / b), b > 0 */
static int64_t divide(int64_t a, int64_t b)
{
    return a >= 0 ? a / b : -((-a + b - 1) / b);
}

/* (M / m_l)^-1 mod m_l. quotient = RN(2^f y / m) with f >= 19 tells y, which is in [1, m). */
static uint32_t inverse_of(const ozg_rns *rns, int l)
{
    const int f = rns->quotient_shift;

    return (uint32_t)(((uint64_t)rns->quotient[l] * rns->m[l] + (UINT64_C(1) << (f - 1))) >> f);
}

static void set_digit(ozg_cuda_weights *t, int component, int i, int l, int32_t digit)
{
    t->digit[component][i][l / 4][l / 2 % 2] |= ((uint32_t)digit & 0xffff) << 16 * (l % 2);
}

/* The inverse of x mod m. */
static uint32_t inverse_mod(uint32_t x, uint32_t m)
{
    uint32_t y = 1;

    while (x * y % m != 1)
        y++;
    return y;
}

/* u_l of Re or Im (component 0, 1) */
static uint32_t factor_of(const ozg_rns *rns, int complex_, int component, int l)
{
    const uint32_t m = rns->m[l];

    if (!complex_ || m == 256)
        return 1;
    if (l < rns->three)
        return (component ? 4 : 2) % m;
    return component ? inverse_mod(ozg_moduli_root(m), m) : 1;
}

/* cofactor = M / m_l in 16-bit limbs */
static void cofactor_of(const ozg_rns *rns, int l, uint32_t cofactor[OZG_CRT_LIMBS])
{
    uint64_t rest = 0;

    for (int i = OZG_CRT_LIMBS - 1; i >= 0; i--) {
        rest = rest << 16 | rns->product[i];
        cofactor[i] = (uint32_t)(rest / rns->m[l]);
        rest %= rns->m[l];
    }
}

/* The balanced digit of *rest, which is at most 2^24 in size, and what it leaves for the next. */
static int32_t balanced(int32_t *rest)
{
    const int32_t carry = (int32_t)divide(*rest + 32768, 65536), digit = *rest - 65536 * carry;

    *rest = carry;
    return digit;
}

/* F and G: RN(2^32 y / m) = 2^16 F + G */
static void set_quotient(ozg_cuda_weights *t, int component, int l, int64_t y, int64_t m)
{
    const int64_t both = divide(y * (INT64_C(1) << 33) + m, 2 * m);
    const int64_t high = divide(both + 32768, 65536);

    set_digit(t, component, 0, l, (int32_t)high);
    set_digit(t, component, 1, l, (int32_t)(both - 65536 * high));
}

/* Byte number `number` of the weight of modulus l (0 and 1: of F) in all lanes' fragments. */
static void set_byte(ozg_cuda_weights *t, int number, int l, int32_t byte)
{
    for (int column = number % 2; column < 8; column += 2)
        t->fragment[number / 2][l / 16][4 * column + l / 4 % 4] |= ((uint32_t)byte & 0xff) << 8 * (l % 4);
}

/*
 * The 16-bit digits of modulus l as balanced bytes; what lies above 2^(16 OZG_CUDA_QUAD_DIGITS) is dropped.
 */
static void set_fragments(ozg_cuda_weights *t, int l)
{
    const int f = (int16_t)(t->digit[0][0][l / 4][l / 2 % 2] >> 16 * (l % 2));
    int32_t rest = f > 127 * 257 ? 127 * 257 : f; /* the bytes reach no further */

    for (int i = 0; i < 2 * (1 + OZG_CUDA_QUAD_DIGITS); i++) {
        const int32_t carry = (int32_t)divide(rest + 128, 256);

        set_byte(t, i, l, rest - 256 * carry);
        rest = carry;
        if (i == 1)
            rest = 0;
        if (i % 2 == 1 && i / 2 < OZG_CUDA_QUAD_DIGITS)
            rest += (int16_t)(t->digit[0][2 + i / 2][l / 4][l / 2 % 2] >> 16 * (l % 2));
    }
}

static int limbs_for(int bits)
{
    static const int some[] = {2, 4, 6, 7, 8, 10, 12, 16, 20, 24};
    int i = 0;

    while (16 * some[i] <= bits) /* a sign, too */
        i++;
    return some[i];
}

/* The digits of modulus l. */
static void set_modulus(ozg_cuda_weights *t, const ozg_rns *rns, int complex_, int component, int l)
{
    const uint32_t m = rns->m[l];
    const uint32_t y = inverse_of(rns, l) * factor_of(rns, complex_, component, l) % m;
    const int32_t least = (int32_t)y - (y > m / 2 ? (int32_t)m : 0);
    uint32_t cofactor[OZG_CRT_LIMBS];
    int32_t rest = 0;

    cofactor_of(rns, l, cofactor);
    set_quotient(t, component, l, least, (int64_t)m);
    for (int i = 0; i < OZG_CRT_LIMBS; i++) {
        rest += least * (int32_t)cofactor[i];
        set_digit(t, component, 2 + i, l, balanced(&rest));
    }
}

static void set_halves(ozg_cuda_weights *t, const ozg_rns *rns)
{
    for (int l = 0; l < rns->nmod; l++) {
        const uint32_t m = rns->m[l], odd = m % 2;
        uint32_t *half = t->half[l / 4];

        half[0] |= (odd ? m / 2 : 0) << 8 * (l % 4);
        half[1] |= (odd ? m / 2 + 1 : 0) << 8 * (l % 4);
        half[2] |= (l < rns->three ? UINT32_C(255) : 0) << 8 * (l % 4);
    }
    assert(rns->m[0] == 256 || rns->m[0] % 2); /* 256 comes first in both lists */
    t->half[0][3] = rns->m[0] == 256;
}

void ozg_cuda_weights_build(ozg_cuda_weights *t, const ozg_rns *rns, int complex_, int most_bits)
{
    int32_t rest = 0;

    memset(t, 0, sizeof *t);
    t->nlimb = limbs_for(most_bits);
    for (int i = 0; i < OZG_CRT_LIMBS; i++) {
        rest -= (int32_t)rns->product[i];
        t->product[i] = balanced(&rest);
    }
    for (int component = 0; component <= complex_; component++)
        for (int l = 0; l < rns->nmod; l++)
            set_modulus(t, rns, complex_, component, l);
    if (complex_)
        set_halves(t, rns);
    for (int l = 0; l < 32 && l < rns->nmod && !complex_; l++)
        set_fragments(t, l);
}
