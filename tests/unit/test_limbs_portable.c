/*
 * test_limbs_portable.c - test_limbs.c as on a compiler without 128-bit integers.
 *
 * SPDX-License-Identifier: MIT
 */
#undef __SIZEOF_INT128__
#include "test_limbs.c"
