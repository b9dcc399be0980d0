/*
 * cublas.h - cuBLAS, found at run time, as what "ozgemm speed --backend cuda" compares with: native products,
 * its own emulation, and products of 8-bit integers.
 *
 * Functions that return a sentence return NULL if all went well; the sentence stays until the next call.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TOOL_CUBLAS_H
#define OZG_TOOL_CUBLAS_H

#include <stdint.h>

struct cublas;        /* the library */
struct cublas_handle; /* a cublasHandle_t: its stream and how it multiplies */

/*
 * cublas_open() - a library by file name; NULL: libcublas.so.13, .12, .11, by the usual search and in
 * /usr/local/cuda. Returns NULL if there is none, or it lacks what is needed.
 */
struct cublas *cublas_open(const char *file);
void cublas_close(struct cublas *lib);

/* cublas_path() - the file that was loaded. */
const char *cublas_path(const struct cublas *lib);

/* cublas_begin() - a new handle on this stream; *problem is a sentence if it is NULL. */
struct cublas_handle *cublas_begin(struct cublas *lib, void *stream, const char **problem);

/* cublas_end() - the stream is done. h may be NULL. */
void cublas_end(struct cublas_handle *h);

/* cublas_version() - such as 130100. */
int cublas_version(const struct cublas_handle *h);

/*
 * cublas_emulate() - from now on this handle emulates wherever it can (strategy "eager"): types d and z by
 * fixed point, s and c by 9 products of bfloat16. Where the version can tell, it writes the bits that a
 * product of d or z has kept to *bits on the device (-1, if it has not emulated); *tells says whether it
 * will.
 */
const char *cublas_emulate(struct cublas_handle *h, char type, int *bits, int *tells);

/* cublas_gemm() - C := A B of packed matrices on the device, by ?gemm. */
const char *cublas_gemm(struct cublas_handle *h, char type, int64_t m, int64_t n, int64_t k, const void *a,
                        const void *b, void *c);

/*
 * cublas_int8() - C := A^T B of packed matrices, A k x m and B k x n of 8-bit integers, C of 32-bit ones: the
 * form that the tensor cores like best, with sides that are multiples of 16.
 */
const char *cublas_int8(struct cublas_handle *h, int64_t m, int64_t n, int64_t k, const int8_t *a,
                        const int8_t *b, int32_t *c);

#endif
