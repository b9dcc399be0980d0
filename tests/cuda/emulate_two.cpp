/*
 * emulate_two.cpp - ozg_cuda_round_two() as a kernel.
 *
 * SPDX-License-Identifier: MIT
 */
#include "emulate_two.h"
#include "cuda/two.cuh"

OZG_KERNEL(emulate_two, emulate_two_args, 1, 1)
{
    *a.bits = ozg_cuda_round_two(a.single, a.x, a.y);
}
