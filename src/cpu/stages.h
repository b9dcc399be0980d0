/*
 * stages.h - the CPU versions of the four stages. Contracts: kernel.h. The _ref versions are the
 * specification.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CPU_STAGES_H
#define OZG_CPU_STAGES_H

#include "arith/residue.h"
#include "cpu/kernel.h"

/*
 * x^ in signed digits of 15 bits, (-1)^neg sum_i u_i 2^(15 i), two of them in the halves of each 32-bit
 * number: digit pair i of element e in pair[i][at], where at = e or another number of the same sixteen, as
 * vec64_store_pairs() has it. Of a number of 53 bits at most five digits are not 0.
 */
#define OZG_DIGIT_BITS 15
typedef struct ozg_digits {
    uint32_t pair[OZG_SPLIT_PAIRS][OZG_SPLIT_BATCH];
} ozg_digits;

ozg_scale_fn ozg_scale_ref, ozg_scale_avx2, ozg_scale_avxvnni, ozg_scale_avx512, ozg_scale_neon;
ozg_norms_fn ozg_norms_ref, ozg_norms_avx2, ozg_norms_avxvnni, ozg_norms_avx512, ozg_norms_neon;
ozg_residuals_fn ozg_residuals_ref, ozg_residuals_avx2, ozg_residuals_avxvnni, ozg_residuals_avx512,
    ozg_residuals_neon;
ozg_split_fn ozg_split_ref, ozg_split_avx2, ozg_split_avxvnni, ozg_split_avx512, ozg_split_neon;
ozg_floors_fn ozg_floors_ref, ozg_floors_avx2, ozg_floors_avxvnni, ozg_floors_avx512, ozg_floors_neon;
ozg_product_fn ozg_product_ref, ozg_product_16x6x2_avx2, ozg_product_16x6x4_avxvnni,
    ozg_product_32x12x4_avx512vnni, ozg_product_32x32x64_amxint8, ozg_product_16x6x4_neondot,
    ozg_product_16x6x8_neoni8mm;
ozg_state_fn ozg_state_amxint8;
ozg_reduce_fn ozg_reduce_ref, ozg_reduce_avx2, ozg_reduce_avxvnni, ozg_reduce_avx512, ozg_reduce_neon;
ozg_quarters_fn ozg_quarters_ref, ozg_quarters_avx2, ozg_quarters_avxvnni, ozg_quarters_avx512,
    ozg_quarters_neon;
ozg_combine_fn ozg_combine_ref, ozg_combine_avx2, ozg_combine_avxvnni, ozg_combine_avx512, ozg_combine_neon;
ozg_crt_fn ozg_crt_ref, ozg_crt_avx2, ozg_crt_avxvnni, ozg_crt_avx512, ozg_crt_neon;
ozg_round_fn ozg_round_ref, ozg_round_avx2, ozg_round_avxvnni, ozg_round_avx512, ozg_round_neon;
ozg_bounds_fn ozg_bounds_ref, ozg_bounds_avx2, ozg_bounds_avxvnni, ozg_bounds_avx512, ozg_bounds_neon;
ozg_doubt_fn ozg_doubt_ref, ozg_doubt_avx2, ozg_doubt_avxvnni, ozg_doubt_avx512, ozg_doubt_neon;
ozg_passes_fn ozg_passes_ref, ozg_passes_avx2, ozg_passes_avxvnni, ozg_passes_avx512, ozg_passes_neon;

/* Four bytes of a micro-panel, whatever they are: what is broadcast. */
static inline int32_t ozg_four_bytes(const void *x)
{
    int32_t four;

    memcpy(&four, x, 4);
    return four;
}

/* ozg_ceilings() - the ceilings of accurate scaling of a batch; those of Im, if any, to out + plane. */
void ozg_ceilings(const ozg_layout *layout, int complex_, const ozg_batch *batch, unsigned char *out,
                  size_t plane);

/* ozg_exponent_shifted() - e of line i, finite, with the shifts of the view; OZG_E_NONE if it is all zero. */
int32_t ozg_exponent_shifted(const ozg_view *v, int64_t k, int64_t i);

#endif
