/*
 * emulate_warp.cpp - what each collective of a warp computes.
 *
 * SPDX-License-Identifier: MIT
 */
#include "emulate.h"

static ozg_emulated_lane *at(void *const lane[32], int i)
{
    return (ozg_emulated_lane *)lane[i];
}

static void give_all(void *const lane[32], uint64_t result)
{
    for (int i = 0; i < 32; i++) {
        if (lane[i])
            at(lane, i)->result = result;
    }
}

void ozg_emulated_step_nothing(uint32_t, void *const[32])
{
}

/* What a lane gives that is not there is undefined: garbage. */
void ozg_emulated_step_shuffle(uint32_t, void *const lane[32])
{
    for (int i = 0; i < 32; i++) {
        if (lane[i]) {
            const int source = at(lane, i)->source & 31;

            at(lane, i)->result = lane[source] ? at(lane, source)->value : 0xA5A5A5A5A5A5A5A5u;
        }
    }
}

void ozg_emulated_step_ballot(uint32_t, void *const lane[32])
{
    uint32_t result = 0;

    for (int i = 0; i < 32; i++) {
        if (lane[i] && at(lane, i)->value)
            result |= 1u << i;
    }
    give_all(lane, result);
}

void ozg_emulated_step_match(uint32_t, void *const lane[32])
{
    for (int i = 0; i < 32; i++) {
        if (!lane[i])
            continue;
        at(lane, i)->result = 0;
        for (int k = 0; k < 32; k++) {
            if (lane[k] && at(lane, k)->value == at(lane, i)->value)
                at(lane, i)->result |= 1u << k;
        }
    }
}

/* Reductions of 32-bit words: x so far, y the next. */
#define REDUCE(name, type, expression)                                                                       \
    void ozg_emulated_step_##name(uint32_t, void *const lane[32])                                            \
    {                                                                                                        \
        type x = 0;                                                                                          \
        int first = 1;                                                                                       \
                                                                                                             \
        for (int i = 0; i < 32; i++) {                                                                       \
            if (!lane[i])                                                                                    \
                continue;                                                                                    \
            const type y = (type)(uint32_t)at(lane, i)->value;                                               \
                                                                                                             \
            x = first ? y : expression;                                                                      \
            first = 0;                                                                                       \
        }                                                                                                    \
        give_all(lane, (uint32_t)x);                                                                         \
    }

REDUCE(add, uint32_t, x + y)
REDUCE(and, uint32_t, x &y)
REDUCE(or, uint32_t, x | y)
REDUCE(xor, uint32_t, x ^ y)
REDUCE(min, int, (y < x ? y : x))
REDUCE(max, int, (y > x ? y : x))
REDUCE(umin, uint32_t, (y < x ? y : x))
REDUCE(umax, uint32_t, (y > x ? y : x))

static void all_there(void *const lane[32], const char *what)
{
    for (int i = 0; i < 32; i++) {
        if (!lane[i])
            ozg_emulated_error(what);
    }
}

/*
 * Fragments of mma.m16n8k32 with 8-bit integers (PTX ISA, "Matrix Fragments for mma.m16n8k32"). With
 * g = lane / 4 and t = lane % 4, byte b of register r is
 *     A: row g + 8 (r % 2), column 4 t + b + 16 (r / 2)
 *     B: row 4 t + b + 16 r, column g
 *     C: register r is row g + 8 (r / 2), column 2 t + r % 2
 */
void ozg_emulated_step_mma_s8(uint32_t, void *const lane[32])
{
    short a[16][32], b[8][32];

    all_there(lane, "mma without all lanes");
    for (int i = 0; i < 32; i++) {
        const ozg_emulated_mma *f = (const ozg_emulated_mma *)lane[i];
        const int g = i / 4, t = i % 4;

        for (int r = 0; r < 4; r++) {
            for (int k = 0; k < 4; k++)
                a[g + 8 * (r % 2)][4 * t + k + 16 * (r / 2)] = (short)ozg_emulated_byte(f->x[r], k, 1);
        }
        for (int r = 0; r < 2; r++) {
            for (int k = 0; k < 4; k++)
                b[g][4 * t + k + 16 * r] = (short)ozg_emulated_byte(f->y[r], k, 1);
        }
    }
    for (int i = 0; i < 32; i++) {
        const ozg_emulated_mma *f = (const ozg_emulated_mma *)lane[i];

        for (int r = 0; r < 4; r++) {
            const short *x = a[i / 4 + 8 * (r / 2)], *y = b[2 * (i % 4) + r % 2];
            int sum = 0;

            for (int k = 0; k < 32; k++)
                sum += x[k] * y[k];
            f->c[r] = (int)((uint32_t)f->c[r] + (uint32_t)sum);
        }
    }
}

/*
 * ldmatrix.x4: lane 8 r + i has the address of row i (16 bytes) of matrix r; register r of a lane is 4
 * bytes of it.
 */
void ozg_emulated_step_ldmatrix(uint32_t, void *const lane[32])
{
    all_there(lane, "ldmatrix without all lanes");
    for (int i = 0; i < 32; i++) {
        const ozg_emulated_ldmatrix *f = (const ozg_emulated_ldmatrix *)lane[i];

        if ((uintptr_t)f->row & 15)
            ozg_emulated_error("ldmatrix of a misaligned row");
        for (int r = 0; r < 4; r++) {
            const ozg_emulated_ldmatrix *from = (const ozg_emulated_ldmatrix *)lane[8 * r + i / 4];

            memcpy(&f->r[r], (const unsigned char *)from->row + 4 * (i % 4), 4);
        }
    }
}
