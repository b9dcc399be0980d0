/*
 * matrix_h5.c - square matrices of double in an HDF5 file.
 *
 * SPDX-License-Identifier: MIT
 */
#include "matrix_h5.h"

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>

/* check() - one line of our own; HDF5's stack of messages is switched off. */
static void check(int fine, const char *file, const char *name)
{
    if (!fine) {
        fprintf(stderr, "%s:/%s: cannot be read or written as a square matrix of double\n", file, name);
        exit(2);
    }
}

double *new_matrix(size_t rows, size_t cols)
{
    double *x = malloc(rows * cols * sizeof *x);
    if (x == NULL) {
        fprintf(stderr, "no memory for a matrix of %zu x %zu numbers\n", rows, cols);
        exit(2);
    }
    return x;
}

/* transposed() - a copy with rows and columns exchanged. */
static double *transposed(size_t n, const double *x)
{
    double *y = new_matrix(n, n);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
            y[i * n + j] = x[j * n + i];
    return y;
}

void create_file(const char *file)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t f = H5Fcreate(file, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    check(f >= 0, file, "");
    H5Fclose(f);
}

void write_matrix(const char *file, const char *name, size_t n, const double *x)
{
    hsize_t size[2] = {n, n};
    double *rows = transposed(n, x);
    hid_t f = H5Fopen(file, H5F_ACC_RDWR, H5P_DEFAULT), space = H5Screate_simple(2, size, NULL);
    check(f >= 0, file, name);
    hid_t set = H5Dcreate2(f, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    check(set >= 0 && H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows) >= 0, file, name);
    check(H5Dclose(set) >= 0 && H5Sclose(space) >= 0 && H5Fclose(f) >= 0, file, name);
    free(rows);
}

double *read_matrix(const char *file, const char *name, size_t *n)
{
    hsize_t size[2];
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t f = H5Fopen(file, H5F_ACC_RDONLY, H5P_DEFAULT);
    check(f >= 0, file, name);
    hid_t set = H5Dopen2(f, name, H5P_DEFAULT);
    check(set >= 0, file, name);
    hid_t space = H5Dget_space(set);
    check(H5Sget_simple_extent_ndims(space) == 2, file, name);
    H5Sget_simple_extent_dims(space, size, NULL);
    check(size[0] == size[1], file, name);
    *n = (size_t)size[0];
    double *rows = new_matrix(*n, *n);
    check(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows) >= 0, file, name);
    H5Sclose(space);
    H5Dclose(set);
    H5Fclose(f);
    double *x = transposed(*n, rows);
    free(rows);
    return x;
}
