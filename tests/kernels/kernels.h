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

/* The system of s canonical moduli with words of this size. */
static inline const ozg_rns *rns_of(int word, int s)
{
    const ozg_rns *rns = NULL;

    assert_int_equal(ozg_rns_get(&rns, word, s), OZG_OK);
    return rns;
}

/* Number e of the words at x, unsigned. */
static inline unsigned word_at(const void *x, int word, int64_t e)
{
    uint16_t wide;

    if (word == 1)
        return ((const uint8_t *)x)[e];
    memcpy(&wide, (const char *)x + 2 * e, 2);
    return wide;
}

static inline void set_word(void *x, int word, int64_t e, unsigned value)
{
    const uint16_t wide = (uint16_t)value;

    if (word == 1)
        ((uint8_t *)x)[e] = (uint8_t)value;
    else
        memcpy((char *)x + 2 * e, &wide, 2);
}

/* ref takes systems of both words, every other kernel those of its own. */
static inline int takes_word(const ozg_kernel *kernel, int word)
{
    return kernel == kernel_ref() || kernel->a.word == word;
}

#endif
