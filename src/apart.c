/*
 * apart.c - lines in the order of the parts.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "decide.h"

int64_t ozg_apart_count(const uint8_t *far, int64_t count)
{
    int64_t sum = 0;

    for (int64_t i = 0; i < count; i++)
        sum += far[i];
    return ozg_too_many_far(sum, count) ? -1 : sum;
}

/* x[i] := the old x[index[i]], by way of `old`. */
static void order32(uint32_t *x, uint32_t *old, const int64_t *index, int64_t count)
{
    memcpy(old, x, (size_t)count * sizeof *x);
    for (int64_t i = 0; i < count; i++)
        x[i] = old[index[i]];
}

static void order64(uint64_t *x, uint64_t *old, const int64_t *index, int64_t count)
{
    memcpy(old, x, (size_t)count * sizeof *x);
    for (int64_t i = 0; i < count; i++)
        x[i] = old[index[i]];
}

static void order8(uint8_t *x, uint8_t *old, const int64_t *index, int64_t count)
{
    memcpy(old, x, (size_t)count);
    for (int64_t i = 0; i < count; i++)
        x[i] = old[index[i]];
}

void ozg_apart_order(ozg_lines *lines, const uint8_t *far, int64_t *index)
{
    const int64_t count = lines->count;
    int64_t at = 0;

    for (int behind = 0; behind < 2; behind++)
        for (int64_t i = 0; i < count; i++)
            if (far[i] == behind)
                index[at++] = i;
    /* residuals and places are not known yet: their arrays hold the old order meanwhile */
    order32((uint32_t *)lines->e, lines->r1, index, count);
    order32(lines->x1, lines->r1, index, count);
    order32(lines->x2, lines->r1, index, count);
    order32(lines->xmax, lines->r1, index, count);
    order64(lines->squares, lines->places, index, count);
    order8(lines->special, (uint8_t *)lines->r1, index, count);
    lines->index = index;
}

ozg_lines ozg_apart_lines(const ozg_lines *lines, int64_t first, int64_t count)
{
    ozg_lines part = *lines;

    part.count = count;
    part.special += first;
    part.e += first;
    part.d += first;
    part.squares += first;
    part.x1 += first;
    part.x2 += first;
    part.xmax += first;
    part.r1 += first;
    part.r2 += first;
    part.rmax += first;
    part.places += first * part.words;
    part.index += first;
    return part;
}
