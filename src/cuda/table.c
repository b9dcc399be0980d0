/*
 * table.c - the constants of one number of moduli, from its residue system.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fenv.h>

#include "cuda/table.h"

ozg_status ozg_cuda_table_build(ozg_cuda_table *table, int complex_, int s)
{
    const ozg_moduli_set *set = ozg_moduli_get(s);
    const ozg_rns *rns;
    fenv_t caller;

    if (complex_ ? ozg_rns_complex(&rns, s) : ozg_rns_get(&rns, 1, s))
        return OZG_E_NOMEM;
    table->nmod = rns->nmod;
    table->three = rns->three;
    table->planes = ozg_rns_products(rns, complex_);
    table->nword = rns->nword;
    table->most_bits = set->most_bits;
    table->most_top = set->most_top;
    fegetenv(&caller); /* the constants of the reduction are rounded to nearest, whatever the caller's mode */
    fesetenv(FE_DFL_ENV);
    for (int l = 0; l < rns->nmod; l++) {
        ozg_cuda_reduce_build(&table->reduce[l], rns->m[l]);
        ozg_cuda_split_modulus_build(&table->split[l], rns->m[l],
                                     l < rns->three ? 0 : ozg_moduli_root(rns->m[l]));
    }
    ozg_cuda_weights_build(&table->weights, rns, complex_, set->most_bits);
    fesetenv(&caller);
    return OZG_OK;
}
