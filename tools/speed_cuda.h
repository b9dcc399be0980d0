/*
 * speed_cuda.h - the measurements of "ozgemm speed --backend cuda", as JSON facts.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TOOL_SPEED_CUDA_H
#define OZG_TOOL_SPEED_CUDA_H

#include "speed.h"

/*
 * speed_cuda_open() - q->gpu for q->config.device, with cuBLAS (a file; "none"; NULL: the usual ones) and
 * NVML; what is missing goes to q->notes. fail() if there is no GPU that the library can use, or if the
 * file is no cuBLAS.
 */
void speed_cuda_open(struct speed *q, const char *cublas);
void speed_cuda_close(struct speed *q);

/* speed_cuda_work() - how long this type and shape take, in units of the bar. */
double speed_cuda_work(const struct speed *q, char type, struct shape shape);

/* speed_cuda_measure() - append the rows of one type and shape. */
void speed_cuda_measure(struct speed *q, char type, struct shape shape);

/* speed_cuda_finish() - the shares of the limit; closes the bar. */
void speed_cuda_finish(struct speed *q);

/* speed_cuda_facts() - what the GPU and the libraries are: into o. */
void speed_cuda_facts(const struct speed *q, json_t *o);

/* speed_cuda_native() - "cuBLAS 13.1"; NULL: there is none. Until the next call. */
const char *speed_cuda_native(const struct speed *q);

#endif
