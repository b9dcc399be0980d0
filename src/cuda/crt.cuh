/*
 * crt.cuh - c^ of one entry from the residues of a tile: any number of moduli, one entry by one thread,
 * slowly.
 *
 * The formula is that of reconstruct_table.h; reconstruct.cu has it for whole columns.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_CRT_CUH
#define OZG_CUDA_CRT_CUH

#include "cuda/halves.cuh"

/* The residue of modulus l, as the weights of a component want it. */
OZG_DEVICE int ozg_cuda_crt_residue(const ozg_cuda_table *t, const ozg_cuda_residues *in, int l,
                                    int component, int complex_, int64_t at)
{
    return complex_ ? ozg_cuda_component(t, in, l, component, at)
                    : ((const int8_t *)in->base)[l * in->columns * in->ld + at];
}

/* Digit i of modulus l for component 0 (Re) or 1 (Im). */
OZG_DEVICE int ozg_cuda_crt_digit(const ozg_cuda_weights *w, int component, int i, int l)
{
    return (int16_t)(w->digit[component][i][l / 4][l / 2 % 2] >> 16 * (l % 2));
}

/*
 * ozg_cuda_crt_entry() - c^ of component 0 (Re) or 1 (Im) of the entry at place (i, j) of the tile, in two's
 * complement of t->nword words.
 */
OZG_DEVICE void ozg_cuda_crt_entry(const ozg_cuda_table *t, const ozg_cuda_residues *in, int component,
                                   int complex_, int64_t i, int64_t j, uint64_t *words)
{
    const ozg_cuda_weights *w = &t->weights;
    int carry = 0, q = 0;

    for (int d = 0; d < t->nword; d++)
        words[d] = 0;
    for (int d = -2; d < 4 * t->nword; d++) { /* first the two digits of the quotient, the low one first */
        const int row = d < 0 ? -1 - d : 2 + d;
        int sum = 0;

        for (int l = 0; l < t->nmod; l++)
            sum += ozg_cuda_crt_residue(t, in, l, component, complex_, j * in->ld + i) *
                   ozg_cuda_crt_digit(w, component, row, l);
        if (d == -2)
            q = sum >> 16;
        else if (d == -1)
            q = (q + sum + 32768) >> 16;
        else {
            carry += sum + q * w->product[d];
            words[d / 4] |= (uint64_t)(carry & 0xffff) << 16 * (d % 4);
            carry >>= 16;
        }
    }
}

#endif
