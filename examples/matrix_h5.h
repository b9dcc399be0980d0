/*
 * matrix_h5.h - square matrices of double in an HDF5 file, for the molecule programs.
 *
 * In memory column-major, as BLAS wants them; in the file row-major, as h5py and ozgemm see them. On any
 * error these functions print one line and end the program.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_EXAMPLES_MATRIX_H5_H
#define OZG_EXAMPLES_MATRIX_H5_H

#include <stddef.h>

/* new_matrix() - rows x cols numbers, not set. */
double *new_matrix(size_t rows, size_t cols);

/* create_file() - an empty file; an old one is replaced. */
void create_file(const char *file);

/* write_matrix() - as a new dataset of an existing file. */
void write_matrix(const char *file, const char *name, size_t n, const double *x);

/* read_matrix() - the dataset; its order goes to *n. The caller frees it. */
double *read_matrix(const char *file, const char *name, size_t *n);

#endif
