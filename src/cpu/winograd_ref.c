/*
 * winograd_ref.c - the sums of quarters and of products for Winograd, the plain C that defines them.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "cpu/stages.h"

/* Word number e at x, a residue mod m as stored, in [0, m). */
static int32_t load(const void *x, const ozg_layout *layout, int64_t e, int32_t m)
{
    int16_t wide;
    int32_t r;

    if (layout->word == 1)
        r = layout->nonneg ? ((const uint8_t *)x)[e] : ((const int8_t *)x)[e];
    else {
        memcpy(&wide, (const char *)x + 2 * e, 2);
        r = wide;
    }
    return r < 0 ? r + m : r;
}

/* The residue of a number of any sign, as it is stored. */
static void store(void *x, const ozg_layout *layout, int64_t e, int32_t m, int32_t number)
{
    const int32_t r = (number % m + m) % m, s = layout->nonneg || r <= m / 2 ? r : r - m;
    const uint16_t wide = (uint16_t)s;

    if (layout->word == 1)
        ((uint8_t *)x)[e] = (uint8_t)s;
    else
        memcpy((char *)x + 2 * e, &wide, 2);
}

void ozg_quarters_ref(const ozg_rns *rns, int l, const ozg_layout *layout, int negative, int64_t count,
                      const void *const quarter[4], void *const out[4])
{
    const int32_t m = (int32_t)rns->m[l], s = negative ? -1 : 1;

    for (int64_t e = 0; e < count; e++) {
        const int32_t w = load(quarter[0], layout, e, m), x = load(quarter[1], layout, e, m);
        const int32_t y = load(quarter[2], layout, e, m), z = load(quarter[3], layout, e, m);

        store(out[0], layout, e, m, z + s * y);
        store(out[1], layout, e, m, z + s * y - s * w);
        store(out[2], layout, e, m, s * (w - y));
        store(out[3], layout, e, m, x - z - s * y + s * w);
    }
}

void ozg_combine_ref(int count, const int32_t *x, const int32_t *y, int32_t *out)
{
    for (int e = 0; e < count; e++)
        out[e] = (int32_t)((uint32_t)x[e] + (uint32_t)y[e]);
}
