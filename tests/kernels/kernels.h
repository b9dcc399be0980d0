/*
 * kernels.h - the list of micro-kernels as the tests of each stage walk through it: a new kernel is tested by
 * its line in kernels.inc alone.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TEST_KERNELS_H
#define TEST_KERNELS_H

#include "cpu/kernel.h"
#include "guard.h"
#include "../unit/unit.h"

/* The index-th kernel that this machine can run; NULL past the last. */
static inline const ozg_kernel *kernel_at(int index)
{
    return ozg_kernel_at(ozg_cpu_isa(), index);
}

/* The specification: the kernel that needs nothing. */
static inline const ozg_kernel *kernel_ref(void)
{
    return ozg_kernel_at(0, 0);
}

/* Group setup: says which kernels are tested, and which cannot run here. */
static inline int kernels_announce(void **state)
{
    const ozg_kernel *kernel;

    (void)state;
    for (int i = 0; (kernel = ozg_kernel_at(~0u, i)); i++)
        if (kernel->isa & ~ozg_cpu_isa())
            print_message("SKIPPED: kernel %s, which this machine cannot run\n", kernel->name);
        else
            print_message("kernel %s\n", kernel->name);
    return kernel_ref() && kernel_ref()->isa == 0 ? 0 : -1;
}

/* The system of s moduli. */
static inline const ozg_rns *rns_of(int s)
{
    const ozg_rns *rns = NULL;

    assert_int_equal(ozg_rns_get(&rns, s), OZG_OK);
    return rns;
}

#endif
