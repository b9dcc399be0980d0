/*
 * fill.h - operands for the comparisons of models with instructions.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef MODELS_FILL_H
#define MODELS_FILL_H

#include "rng.h"

/* Random bytes; extremes of signed and unsigned ones; 32-bit numbers near +-2^31. */
static inline void fill(struct rng *r, void *to, size_t bytes)
{
    static const uint8_t extreme[] = {0, 1, 127, 128, 129, 255};
    const uint64_t kind = rng_below(r, 4);
    uint8_t *x = to;

    for (size_t i = 0; i < bytes; i++)
        if (kind == 0)
            x[i] = extreme[rng_below(r, 6)];
        else if (kind == 1)
            x[i] = (uint8_t)(i % 4 == 3 ? 127 + rng_below(r, 2) : 255 * rng_below(r, 2));
        else
            x[i] = (uint8_t)rng_next(r);
}

#endif
