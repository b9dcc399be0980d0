/*
 * scale_ref.c - the scale stage, the plain C that defines it: the largest |component| of each line,
 * and what reports want to know.
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

/* norm1 += ceil(|x| 2^(20 - e)); inexact if x 2^d is no integer. */
static void measure_component(uint64_t bits, int32_t d, int width, uint64_t *norm1, uint8_t *inexact)
{
    const ozg_fp x = ozg_fp_of_bits(bits);
    const int32_t shift = x.exp + d;             /* x 2^d = mant 2^shift */
    const int32_t down = width - d - 20 - x.exp; /* |x| 2^(20 - e) = mant 2^-down */

    if (!x.mant)
        return;
    if (shift < 0 && (shift < -63 || x.mant & ((UINT64_C(1) << -shift) - 1)))
        *inexact = 1;
    if (down <= 0)
        *norm1 += x.mant << -down; /* a subnormal: at most 2^20 */
    else
        *norm1 += down > 53 ? 1 : (x.mant >> down) + ((x.mant & ((UINT64_C(1) << down) - 1)) != 0);
}

void ozg_measure_ref(const ozg_view *v, int64_t k, int64_t i0, int64_t i1, int width, const int32_t *d,
                     uint64_t *norm1, uint8_t *inexact)
{
    const int single = ozg_type_single(v->type), parts = 1 + ozg_type_complex(v->type);

    for (int64_t i = i0; i < i1; i++) {
        norm1[i - i0] = 0;
        inexact[i - i0] = 0;
        if (d[i - i0] == OZG_D_NONE)
            continue;
        for (int64_t p = 0; p < k; p++)
            for (int part = 0; part < parts; part++)
                measure_component(
                    ozg_load_bits(v->x, single, parts * (i * v->line_stride + p * v->step) + part), d[i - i0],
                    width, &norm1[i - i0], &inexact[i - i0]);
    }
}
