/*
 * table.h - the constants of one number of moduli, as the kernels want them.
 *
 * Built by table.c from ozg_rns, each with its proof (by enumeration where there is one).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_TABLE_H
#define OZG_CUDA_TABLE_H

#include "cuda/reconstruct_table.h"
#include "cuda/reduce_table.h"
#include "cuda/split_table.h"

typedef struct ozg_cuda_table {
    int32_t nmod, nword;
    int32_t most_bits; /* Q: ozg_moduli_set */
    uint64_t most_top;
    ozg_cuda_reduce reduce[OZG_NMOD_MAX];       /* product: 32-bit sums to residues */
    ozg_cuda_split_modulus split[OZG_NMOD_MAX]; /* split: x^ to residues */
    ozg_cuda_weights weights;                   /* reconstruct: residues to c^ */
} ozg_cuda_table;

/* ozg_cuda_table_build() - the table of s moduli. Errors: OZG_E_NOMEM. */
ozg_status ozg_cuda_table_build(ozg_cuda_table *table, int s);

#endif
