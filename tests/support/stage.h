/*
 * stage.h - a product as the stages of the CPU see it, for tests of what is chosen before the split.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TEST_STAGE_H
#define TEST_STAGE_H

#include <string.h>

#include "cpu/kernel.h"
#include "problem.h"

/* stage_of() - one thread, k elements of a type; kind: OZG_BY_... Without moduli, scalars and scratch memory. */
static inline ozg_stage stage_of(const ozg_kernel *kernel, int kind, char type, int64_t k)
{
    ozg_stage st;

    memset(&st, 0, sizeof st);
    st.kernel = kernel;
    st.kind = kind;
    st.length = ozg_dot_length(type, k);
    st.k = k;
    st.threads = 1;
    st.scalars.single = ozg_type_single(type);
    st.scalars.complex_ = ozg_type_complex(type);
    return st;
}

#endif
