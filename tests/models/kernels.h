/*
 * kernels.h - the micro-kernels of kernels.inc on models of their instructions: they run on any machine, under
 * sanitizers too. Their other stages are the plain C ones.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef MODELS_KERNELS_H
#define MODELS_KERNELS_H

#include "cpu/kernel.h"

/* modelled_kernel_at() - the index-th of kernels.inc, but for the last, ref; NULL past the last. */
const ozg_kernel *modelled_kernel_at(int index);

#endif
