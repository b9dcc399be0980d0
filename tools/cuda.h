/*
 * cuda.h - a GPU for "ozgemm speed": memory, copies, one stream, times. By the driver API as the library
 * opens it (src/cuda/api.h): neither headers nor libraries of CUDA are needed.
 *
 * Everything is one stream, so that nothing overtakes: what poisons C is done before the product that
 * follows. The primary context stays current in the thread that opened the GPU. A driver call that fails
 * ends the command by fail(), as nothing measured after it would be worth anything.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TOOL_CUDA_H
#define OZG_TOOL_CUDA_H

#include <stddef.h>

struct cuda;

/* cuda_open() - the device of this number; fail() with the sentence of the driver if there is none. */
struct cuda *cuda_open(int number);

/* cuda_close() - waits, and gives all but the memory of cuda_memory() back. g may be NULL. */
void cuda_close(struct cuda *g);

/* cuda_name() - such as "NVIDIA H200". cuda_bus() - its place on the PCI bus; "": the driver does not say. */
const char *cuda_name(const struct cuda *g);
const char *cuda_bus(const struct cuda *g);

/* cuda_driver() - the version of CUDA that the driver is for: 13000. */
int cuda_driver(const struct cuda *g);

/* cuda_stream() - the stream, a CUstream and cudaStream_t. */
void *cuda_stream(const struct cuda *g);

/* cuda_memory() - device memory; NULL if there is not so much. cuda_release() - NULL is fine. */
void *cuda_memory(struct cuda *g, size_t bytes);
void cuda_release(struct cuda *g, void *memory);

/* cuda_upload(), cuda_download() - return when they are done. */
void cuda_upload(struct cuda *g, void *device, const void *host, size_t bytes);
void cuda_download(struct cuda *g, void *host, const void *device, size_t bytes);

/* cuda_poison() - 0xff in every byte, NaN in every number; in order with the stream. */
void cuda_poison(struct cuda *g, void *device, size_t bytes);

/* cuda_finish() - wait until the stream is done. */
void cuda_finish(struct cuda *g);

/* cuda_mark() - a point in the stream, number 0 or 1. cuda_seconds() - from 0 to 1; both are reached. */
void cuda_mark(struct cuda *g, int number);
double cuda_seconds(struct cuda *g);

#endif
