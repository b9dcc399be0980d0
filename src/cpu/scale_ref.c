/*
 * scale_ref.c - the scale stage, the plain C that defines it: the largest |component| of each line, its
 * norms, and the norms of what the split rounds away.
 *
 * The bits of a positive double order like the number, Inf above all finite ones and NaN above Inf.
 *
 * SPDX-License-Identifier: MIT
 */
#include "arith/bound.h"
#include "cpu/stages.h"

/* Component `part` of element p of line i, as the bits of a double. */
static uint64_t component(const ozg_view *v, int64_t i, int64_t p, int part)
{
    const int parts = 1 + ozg_type_complex(v->type);

    return ozg_load_bits(v->x, ozg_type_single(v->type), parts * (i * v->line_stride + p * v->step) + part);
}

static int32_t shift_of(const ozg_view *v, int64_t p)
{
    return v->shift ? v->shift[p] : 0;
}

void ozg_scale_ref(const ozg_view *v, int64_t k, int64_t i0, int64_t i1, uint64_t *largest)
{
    for (int64_t i = i0; i < i1; i++) {
        uint64_t most = 0;

        for (int64_t p = 0; p < k; p++)
            for (int part = 0; part <= ozg_type_complex(v->type); part++) {
                const uint64_t bits = component(v, i, p, part) & ~OZG_F64_SIGN;

                if (bits > most)
                    most = bits;
            }
        largest[i - i0] = most;
    }
}

int32_t ozg_exponent_shifted(const ozg_view *v, int64_t k, int64_t i)
{
    int32_t most = OZG_E_NONE;

    for (int64_t p = 0; p < k; p++)
        for (int part = 0; part <= ozg_type_complex(v->type); part++) {
            const uint64_t bits = component(v, i, p, part) & ~OZG_F64_SIGN;
            const int32_t e = bits ? ozg_exponent(bits) + shift_of(v, p) : OZG_E_NONE;

            if (e > most)
                most = e;
        }
    return most;
}

void ozg_norms_ref(const ozg_view *v, int64_t k, int64_t i0, int64_t i1, int nu, const int32_t *e,
                   ozg_norms *out)
{
    for (int64_t i = i0; i < i1; i++) {
        ozg_norms n = {0, 0, 0};

        for (int64_t p = 0; p < k && e[i - i0] != OZG_E_NONE; p++)
            for (int part = 0; part <= ozg_type_complex(v->type); part++) {
                const ozg_fp x = ozg_fp_of_bits(component(v, i, p, part));
                /* ceil(|x| 2^(nu - e)) <= 2^nu */
                const uint64_t y = ozg_ceil_shift(x.mant, e[i - i0] - nu - x.exp - shift_of(v, p));

                n.sum += y;
                n.squares += y * y;
                n.most = y > n.most ? (uint32_t)y : n.most;
            }
        out[i - i0] = n;
    }
}

void ozg_residuals_ref(const ozg_view *v, int64_t k, int64_t i0, int64_t i1, const int32_t *d, ozg_norms *out,
                       uint64_t *places, int64_t words)
{
    for (int64_t i = i0; i < i1; i++) {
        uint64_t *place = places ? places + (i - i0) * words : NULL;
        ozg_norms n = {0, 0, 0};

        for (int64_t w = 0; place && w < words; w++)
            place[w] = 0;
        for (int64_t p = 0; p < k && d[i - i0] != OZG_D_NONE; p++)
            for (int part = 0; part <= ozg_type_complex(v->type); part++) {
                const ozg_fp x = ozg_fp_of_bits(component(v, i, p, part));
                const int32_t down = -(x.exp + d[i - i0] + shift_of(v, p));
                const uint64_t y = ozg_residual(x.mant, down);

                n.sum += y;
                n.squares += y * y;
                n.most = y > n.most ? (uint32_t)y : n.most;
                if (place && y)
                    place[p / 64] |= UINT64_C(1) << (p % 64);
            }
        out[i - i0] = n;
    }
}
