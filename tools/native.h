/*
 * native.h - the BLAS of the system, found at run time, as the row to compare with.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TOOL_NATIVE_H
#define OZG_TOOL_NATIVE_H

#include <stddef.h>

#include "matrix.h"

struct native;

/* native_open() - a library by file name; NULL: libblas.so.3, then OpenBLAS. Returns NULL if there is none.
 */
struct native *native_open(const char *file);

void native_close(struct native *lib);

/* native_path() - the file that was loaded. */
const char *native_path(const struct native *lib);

/* native_core() - the processor core that OpenBLAS has chosen its code for; NULL: another BLAS. */
const char *native_core(const struct native *lib);

/* native_gemm() - C := A B by ?gemm_. Returns 0 if the sizes do not fit the 32-bit integers of this
 * interface. */
int native_gemm(const struct native *lib, const struct matrix *a, const struct matrix *b, struct matrix *c);

#endif
