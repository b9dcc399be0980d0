/*
 * scale_ref.c - the scale stage, the plain C that defines it: the largest |component| of each line.
 *
 * The bits of a positive double order like the number, Inf above all finite ones and NaN above Inf.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cpu/stages.h"

void ozg_scale_ref(const ozg_view *v, int64_t k, int64_t i0, int64_t i1, uint64_t *largest)
{
    const int single = ozg_type_single(v->type), parts = 1 + ozg_type_complex(v->type);

    for (int64_t i = i0; i < i1; i++) {
        uint64_t most = 0;

        for (int64_t p = 0; p < k; p++)
            for (int part = 0; part < parts; part++) {
                int64_t at = parts * (i * v->line_stride + p * v->step) + part;
                uint64_t bits = ozg_load_bits(v->x, single, at) & ~OZG_F64_SIGN;

                if (bits > most)
                    most = bits;
            }
        largest[i - i0] = most;
    }
}
