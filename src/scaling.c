/*
 * scaling.c - scaling exponents, in integers.
 *
 * SPDX-License-Identifier: MIT
 */
#include "scaling.h"

void ozg_scaling_fixed(ozg_lines *lines, int width)
{
    for (int64_t i = 0; i < lines->count; i++)
        lines->d[i] = lines->e[i] == OZG_E_NONE ? OZG_D_NONE : width - lines->e[i];
}

/* The largest g with 4^g n <= Q(s), n > 0. */
static int largest_power(uint64_t n, const ozg_moduli_set *set)
{
    return ozg_power_of_four(n, set->most_bits, set->most_top);
}

int ozg_scaling_norm(ozg_lines *lines, int s, uint64_t length)
{
    const ozg_moduli_set *set = ozg_moduli_get(s);
    const int nu = ozg_norm_bits(length);
    int width = 1;

    for (int64_t i = 0; i < lines->count; i++) {
        if (lines->e[i] == OZG_E_NONE) {
            lines->d[i] = OZG_D_NONE;
            continue;
        }
        lines->d[i] = nu - lines->e[i] + largest_power(lines->squares[i], set);
        if (lines->d[i] + lines->e[i] > width)
            width = lines->d[i] + lines->e[i];
    }
    return width;
}

void ozg_scaling_accurate(ozg_lines *lines, int s, const uint64_t *largest)
{
    for (int64_t i = 0; i < lines->count; i++)
        lines->d[i] = lines->e[i] == OZG_E_NONE || largest[i] == 0
                          ? OZG_D_NONE
                          : OZG_CEILING_BITS - lines->e[i] + largest_power(largest[i], ozg_moduli_get(s));
}

/* The fewest moduli with most <= Q(s); 0: 49 are not enough. */
static int least_moduli(uint64_t most)
{
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++)
        if (largest_power(most, ozg_moduli_get(s)) >= 0)
            return s;
    return 0;
}

int ozg_scaling_least(uint64_t length)
{
    return least_moduli(length << 2 * ozg_norm_bits(length)); /* below 2^63 */
}

int ozg_scaling_accurate_least(uint64_t length)
{
    return length >> 51 ? 0 : least_moduli(length << 2 * OZG_CEILING_BITS);
}
