/*
 * matrix_io.h - matrices in files: HDF5, NumPy's .npy and Matrix Market.
 *
 * The format follows from the extension: .h5 or .hdf5 (file.h5:/dataset names the dataset), .npy, .mtx.
 * Any file that cannot be read, is cut short or breaks its format ends in fail(): one line, exit code 2.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TOOL_MATRIX_IO_H
#define OZG_TOOL_MATRIX_IO_H

#include "matrix.h"

/* matrix_read() - the whole matrix of a file, in the type of the file (integers as double). */
struct matrix matrix_read(const char *name);

/*
 * output_open() - make the temporary file beside name, before any long work: an output that cannot be written
 * is refused at once. At most one output a process. The temporary file vanishes at exit, whatever the reason,
 * unless output_write() has renamed it.
 */
void output_open(const char *name);

/* output_write() - write the matrix, flush it to the disk and give it its name. */
void output_write(const struct matrix *x);

/* ---- one reader and one writer a format; path is the file without the dataset ------------------- */

struct matrix hdf5_read(const char *path, const char *dataset);
struct matrix npy_read(const char *path);
struct matrix mtx_read(const char *path);

/* Writers fill the file at path; name is what messages call it. hdf5_write() replaces the dataset and keeps
 * the other contents of the file. */
void hdf5_write(const char *path, const char *dataset, const char *name, const struct matrix *x);
void npy_write(const char *path, const char *name, const struct matrix *x);
void mtx_write(const char *path, const char *name, const struct matrix *x);

#endif
