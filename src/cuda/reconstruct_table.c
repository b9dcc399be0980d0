/*
 * reconstruct_table.c - weights of the reconstruction from those of the residue system.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "cuda/reconstruct_table.h"

/* floor(a / b), b > 0 */
static int64_t divide(int64_t a, int64_t b)
{
    return a >= 0 ? a / b : -((-a + b - 1) / b);
}

/* The symmetric y_l. quotient = RN(2^f y / m) with f >= 19 tells y, which is in [1, m). */
static int64_t inverse_of(const ozg_rns *rns, int l)
{
    const int f = rns->quotient_shift;
    const uint64_t y = ((uint64_t)rns->quotient[l] * rns->m[l] + (UINT64_C(1) << (f - 1))) >> f;

    return (int64_t)y - (y > rns->m[l] / 2 ? (int64_t)rns->m[l] : 0);
}

static void set_digit(ozg_cuda_weights *t, int i, int l, int32_t digit)
{
    t->digit[i][l / 4][l / 2 % 2] |= ((uint32_t)digit & 0xffff) << 16 * (l % 2);
}

/* The balanced digit of *rest in [-2^17, 2^17], and what it leaves for the next. */
static int32_t balanced(int32_t *rest)
{
    const int32_t carry = (int32_t)divide(*rest + 32768, 65536), digit = *rest - 65536 * carry;

    *rest = carry;
    return digit;
}

/* F and G: RN(2^32 y / m) = 2^16 F + G */
static void set_quotient(ozg_cuda_weights *t, int l, int64_t y, int64_t m)
{
    const int64_t both = divide(y * (INT64_C(1) << 33) + m, 2 * m);
    const int64_t high = divide(both + 32768, 65536);

    set_digit(t, 0, l, (int32_t)high);
    set_digit(t, 1, l, (int32_t)(both - 65536 * high));
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
    const int f = (int16_t)(t->digit[0][l / 4][l / 2 % 2] >> 16 * (l % 2));
    int32_t rest = f > 127 * 257 ? 127 * 257 : f; /* the bytes reach no further */

    for (int i = 0; i < 2 * (1 + OZG_CUDA_QUAD_DIGITS); i++) {
        const int32_t carry = (int32_t)divide(rest + 128, 256);

        set_byte(t, i, l, rest - 256 * carry);
        rest = carry;
        if (i == 1)
            rest = 0;
        if (i % 2 == 1 && i / 2 < OZG_CUDA_QUAD_DIGITS)
            rest += (int16_t)(t->digit[2 + i / 2][l / 4][l / 2 % 2] >> 16 * (l % 2));
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

void ozg_cuda_weights_build(ozg_cuda_weights *t, const ozg_rns *rns)
{
    int32_t rest = 0;

    memset(t, 0, sizeof *t);
    t->nlimb = limbs_for(ozg_moduli_get(rns->nmod)->most_bits);
    for (int i = 0; i < OZG_CRT_LIMBS; i++) {
        rest -= (int32_t)rns->product[i];
        t->product[i] = balanced(&rest);
    }
    for (int l = 0; l < rns->nmod; l++) {
        const int64_t y = inverse_of(rns, l);

        set_quotient(t, l, y, (int64_t)rns->m[l]);
        rest = 0;
        for (int i = 0; i < OZG_CRT_LIMBS; i++) { /* y negative: the weight less M */
            rest += (int32_t)rns->weight[l][i] - (y < 0 ? (int32_t)rns->product[i] : 0);
            set_digit(t, 2 + i, l, balanced(&rest));
        }
        if (l < 32)
            set_fragments(t, l);
    }
}
