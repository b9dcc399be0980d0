/*
 * environment.h - the floating-point settings that a caller may have: rounding modes, flush to zero.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TEST_ENVIRONMENT_H
#define TEST_ENVIRONMENT_H

#include <fenv.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

enum { ENVIRONMENTS = 5 };

static const char *const environment_name[ENVIRONMENTS] = {"to nearest", "upward", "downward", "toward zero",
                                                           "flush to zero"};

/* environment_set() - 0 is the default. Flush to zero includes denormals are zero; on x86 only, elsewhere it
 * does nothing. */
static inline void environment_set(int environment)
{
    static const int rounding[ENVIRONMENTS] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO,
                                               FE_TONEAREST};

    fesetround(rounding[environment]);
#if defined(__SSE2__)
    _mm_setcsr((_mm_getcsr() & ~0x8040u) | (environment == 4 ? 0x8040u : 0));
#endif
}

#endif
