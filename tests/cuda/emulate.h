/*
 * emulate.h - CUDA kernels on the processor: what CUDA C has beyond C++, and how a test launches a kernel.
 *
 * A kernel of src/cuda/X.cu, compiled as C++ with OZG_EMULATED, runs thread by thread: each thread is a fiber
 * that runs until it waits for others (barrier, collective of a warp). Shared memory begins with bytes 0xA5,
 * and so do lanes of a shuffle that give nothing. Errors in a kernel (deadlock, lanes in different
 * collectives, shared memory overrun) end the program with a message. Global memory is the memory of the
 * program.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TEST_CUDA_EMULATE_H
#define OZG_TEST_CUDA_EMULATE_H

#include <fenv.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    OZG_EMULATED_OK,
    OZG_EMULATED_NOT_FOUND,  /* there is no kernel of this name */
    OZG_EMULATED_BAD_LAUNCH, /* no thread, too many (launch bound), no block, too much shared memory */
    OZG_EMULATED_MISALIGNED  /* args */
};

/*
 * ozg_emulated_launch() - run all blocks, one after the other; returns when all are done. Threads 1 .. launch
 * bound, shared: bytes of dynamic shared memory. Any thread of the host may call it; one launch runs at a
 * time. ozg_emulated_launch_cooperative() - all blocks at once, so that they may wait for each other
 * (ozg_grid_sync()).
 */
int ozg_emulated_launch(const char *kernel, int blocks, int threads, size_t shared, const void *args);
int ozg_emulated_launch_cooperative(const char *kernel, int blocks, int threads, size_t shared,
                                    const void *args);
int ozg_emulated_launch_grid(const char *kernel, const int grid[3], int threads, size_t shared,
                             int cooperative, const void *args);

/* Bytes of the argument of a kernel; 0: there is no such kernel. */
size_t ozg_emulated_args_bytes(const char *kernel);

/* The names of all kernels, number 0, 1, ...; NULL: there are no more. */
const char *ozg_emulated_name(int number);

/* 1: the kernel is there, and from the file of this name, without folder and what follows the dot. */
int ozg_emulated_is_from(const char *kernel, const char *file);

/*
 * ozg_emulated_order() - the order in which threads, warps and blocks run from now on: 0 forward (at first), 1
 * backward, else pseudo-random from this seed, asynchronous copies too. A kernel that lacks a barrier is right
 * in some orders only.
 */
void ozg_emulated_order(uint32_t seed);

#ifdef __cplusplus
}
#endif

#ifdef OZG_EMULATED
#include "emulate_device.h"
#endif
#endif
