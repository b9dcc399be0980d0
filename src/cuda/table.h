/*
 * table.h - the constants of one number of moduli s, as the kernels want them. Real products are computed
 * modulo the canonical s; complex ones modulo the system of ozg_moduli_complex().
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
    int32_t nmod, three; /* moduli of the system; complex: by 3M modulo the first `three`, by 2M the others */
    int32_t planes;    /* of residues, and of their products: component q of modulus l is plane q nmod + l */
    int32_t nword;     /* 64-bit words of c^ */
    int32_t most_bits; /* Q of the canonical s: ozg_moduli_set */
    uint64_t most_top;
    ozg_cuda_reduce reduce[OZG_NMOD_MAX];       /* product: 32-bit sums to residues */
    ozg_cuda_split_modulus split[OZG_NMOD_MAX]; /* split: x^ to residues */
    ozg_cuda_weights weights;                   /* reconstruct: residues to c^ */
} ozg_cuda_table;

/* ozg_cuda_table_build() - the table of s moduli, for real or complex products. Errors: OZG_E_NOMEM. */
ozg_status ozg_cuda_table_build(ozg_cuda_table *table, int complex_, int s);

/* Tables of all s, the first ones unused: a kernel finds its own by s. First the real ones. */
#define OZG_CUDA_TABLES (2 * (OZG_NMOD_MAX + 1))

/* ozg_cuda_tables_of() - those for real or complex products. */
static inline const ozg_cuda_table *ozg_cuda_tables_of(const ozg_cuda_table *all, int complex_)
{
    return all + (complex_ ? OZG_NMOD_MAX + 1 : 0);
}

#endif
