/*
 * io_hdf5.c - a matrix as a dataset of an HDF5 file.
 *
 * A dataset of rows x cols elements is the matrix rows x cols, as h5py and NumPy see it (row-major on disk).
 * Complex numbers are the compound {r, i} of h5py; {real, imag} is read as well.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "matrix_io.h"

#include <hdf5.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"

static const char default_dataset[] = "/matrix";

/* start() - no messages of HDF5's own, and no second attempt at exit to write what a full disk refused. */
static void start(void)
{
    static int started;
    if (!started++) {
        H5dont_atexit();
        H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    }
}

/* complex_type() - the compound {r, i} in memory, with the names that the file uses. */
static hid_t complex_type(char type, const char *re, const char *im)
{
    hid_t part = type == 'z' ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT;
    hid_t t = H5Tcreate(H5T_COMPOUND, type_size(type));
    H5Tinsert(t, re, 0, part);
    H5Tinsert(t, im, type_size(type) / 2, part);
    return t;
}

/* float_type() - 's' or 'd' for a floating-point type of the file, 0 for one that double cannot hold. */
static char float_type(hid_t t)
{
    size_t size = H5Tget_size(t);
    return H5Tget_class(t) != H5T_FLOAT || size > 8 ? 0 : (size <= 4 ? 's' : 'd');
}

/* compound_type() - for {r, i}: the type 'c' or 'z' and *memory; else 0. */
static char compound_type(hid_t t, hid_t *memory)
{
    char type = 0;
    if (H5Tget_nmembers(t) != 2)
        return 0;
    hid_t member[2] = {H5Tget_member_type(t, 0), H5Tget_member_type(t, 1)};
    char *name[2] = {H5Tget_member_name(t, 0), H5Tget_member_name(t, 1)};
    char part = float_type(member[0]);
    int named = (!strcmp(name[0], "r") && !strcmp(name[1], "i")) ||
                (!strcmp(name[0], "real") && !strcmp(name[1], "imag"));
    if (named && part && part == float_type(member[1])) {
        type = part == 's' ? 'c' : 'z';
        *memory = complex_type(type, name[0], name[1]);
    }
    for (int i = 0; i < 2; i++) {
        H5Tclose(member[i]);
        H5free_memory(name[i]);
    }
    return type;
}

/* element_type() - the type of the matrix; *memory is how HDF5 shall deliver an element. */
static char element_type(hid_t set, const char *path, hid_t *memory, int *integer)
{
    hid_t t = H5Dget_type(set);
    char type = 0;
    *integer = H5Tget_class(t) == H5T_INTEGER && H5Tget_size(t) <= 8;
    if (*integer) {
        type = 'd';
        *memory = H5Tcopy(H5Tget_sign(t) == H5T_SGN_NONE ? H5T_NATIVE_UINT64 : H5T_NATIVE_INT64);
    } else if (H5Tget_class(t) == H5T_COMPOUND)
        type = compound_type(t, memory);
    else if ((type = float_type(t)) != 0)
        *memory = H5Tcopy(type == 's' ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE);
    H5Tclose(t);
    if (type == 0)
        fail("%s: the dataset is not of real numbers, integers or pairs {r, i}: save it as one of these",
             path);
    return type;
}

/* integers_to_double() - in place: 64-bit integers become doubles, each exact. */
static void integers_to_double(void *data, size_t count, int is_signed, const char *path)
{
    for (size_t e = 0; e < count; e++) {
        uint64_t bits;
        memcpy(&bits, (char *)data + 8 * e, 8);
        int negative = is_signed && bits >> 63;
        uint64_t size = negative ? 0 - bits : bits;
        if (!integer_exact(size))
            fail("%s: has an integer that no double can hold: convert the matrix to float64 yourself", path);
        double value = negative ? -(double)size : (double)size;
        memcpy((char *)data + 8 * e, &value, 8);
    }
}

/* rows_space() - select count rows from first on in the file; returns the matching space in memory. */
static hid_t rows_space(hid_t space, int64_t first, int64_t count, int64_t cols)
{
    hsize_t start[2] = {(hsize_t)first, 0}, size[2] = {(hsize_t)count, (hsize_t)cols};
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, size, NULL);
    return H5Screate_simple(2, size, NULL);
}

struct finder {
    int found;
    char name[1024];
};

/* visit() - remember the datasets of a file. */
static herr_t visit(hid_t file, const char *name, const H5O_info_t *info, void *data)
{
    struct finder *f = data;
    (void)file;
    if (info->type == H5O_TYPE_DATASET && f->found++ == 0)
        snprintf(f->name, sizeof f->name, "%s", name);
    return 0;
}

/* open_dataset() - the named one, else /matrix, else the only one. */
static hid_t open_dataset(hid_t file, const char *path, const char *dataset)
{
    struct finder f = {0};
    hid_t set = H5Dopen2(file, dataset ? dataset : default_dataset, H5P_DEFAULT);
    if (set >= 0)
        return set;
    if (dataset)
        fail("%s: has no dataset %s: list the names with h5ls", path, dataset);
    if (H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_NATIVE, visit, &f, H5O_INFO_BASIC) < 0 || f.found == 0)
        fail("%s: has no dataset", path);
    if (f.found > 1)
        fail("%s: has %d datasets and none is /matrix: name one as %s:/%s", path, f.found, path, f.name);
    set = H5Dopen2(file, f.name, H5P_DEFAULT);
    if (set < 0)
        fail("%s: the dataset %s cannot be opened", path, f.name);
    return set;
}

/* get_shape() - the two sizes of the dataset. */
static void get_shape(hid_t set, const char *path, int64_t shape[2])
{
    hid_t space = H5Dget_space(set);
    hsize_t size[H5S_MAX_RANK];
    int rank = H5Sget_simple_extent_dims(space, size, NULL);
    if (rank != 2)
        fail("%s: the dataset has %d dimensions: a matrix has 2; reshape it", path, rank);
    for (int i = 0; i < 2; i++) {
        if (size[i] > INT64_MAX)
            fail("%s: the dataset claims a size of %llu: check the file", path, (unsigned long long)size[i]);
        shape[i] = (int64_t)size[i];
    }
    H5Sclose(space);
}

/* read_rows() - all rows by blocks, turned into columns. */
static void read_rows(hid_t set, const char *path, hid_t memory, int integer, struct matrix *x)
{
    int64_t block = lines_per_block(x->rows, x->cols, type_size(x->type));
    void *buffer = xmalloc((size_t)block * (size_t)x->cols * type_size(x->type));
    hid_t space = H5Dget_space(set);
    for (int64_t i = 0; i < x->rows && x->cols > 0; i += block) {
        int64_t count = x->rows - i < block ? x->rows - i : block;
        hid_t part = rows_space(space, i, count, x->cols);
        if (H5Dread(set, memory, part, space, H5P_DEFAULT, buffer) < 0)
            fail("%s: the data cannot be read: the file is cut short or damaged", path);
        H5Sclose(part);
        if (integer)
            integers_to_double(buffer, (size_t)count * (size_t)x->cols, H5Tget_sign(memory) == H5T_SGN_2,
                               path);
        matrix_put_rows(x, i, count, buffer);
    }
    H5Sclose(space);
    free(buffer);
}

struct matrix hdf5_read(const char *path, const char *dataset)
{
    hid_t memory = -1;
    int integer;
    int64_t shape[2];
    start();
    if (H5Fis_hdf5(path) <= 0)
        fail("%s: is no HDF5 file, or is cut short", path);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0)
        fail("%s: cannot be opened as HDF5: the file is cut short or damaged", path);
    hid_t set = open_dataset(file, path, dataset);
    get_shape(set, path, shape);
    char type = element_type(set, path, &memory, &integer);
    struct matrix x = matrix_alloc(path, type, shape[0], shape[1]);
    read_rows(set, path, memory, integer, &x);
    H5Tclose(memory);
    H5Dclose(set);
    H5Fclose(file);
    return x;
}

/* write_rows() - all columns, turned into rows by blocks; 0 if the disk does not take them. */
static int write_rows(hid_t set, hid_t memory, const struct matrix *x)
{
    int64_t block = lines_per_block(x->rows, x->cols, type_size(x->type));
    void *buffer = xmalloc((size_t)block * (size_t)x->cols * type_size(x->type));
    hid_t space = H5Dget_space(set);
    int good = space >= 0;
    for (int64_t i = 0; i < x->rows && x->cols > 0 && good; i += block) {
        int64_t count = x->rows - i < block ? x->rows - i : block;
        hid_t part = rows_space(space, i, count, x->cols);
        matrix_get_rows(x, i, count, buffer);
        good = H5Dwrite(set, memory, part, space, H5P_DEFAULT, buffer) >= 0;
        H5Sclose(part);
    }
    H5Sclose(space);
    free(buffer);
    return good;
}

/* open_output() - the copy of an existing file without the dataset, or a new file. */
static hid_t open_output(const char *path, const char *dataset, const char *name)
{
    struct stat info;
    htri_t old = H5Fis_hdf5(path);
    if (old <= 0 && stat(path, &info) == 0 && info.st_size > 0)
        fail("%s: exists and is no HDF5 file: choose another output", name);
    hid_t file = old > 0 ? H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT)
                         : H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    if (file < 0)
        fail("%s: cannot be opened as HDF5 for writing", name);
    if (old > 0 && H5Lexists(file, dataset, H5P_DEFAULT) > 0) {
        H5O_info_t object;
        if (H5Oget_info_by_name2(file, dataset, &object, H5O_INFO_BASIC, H5P_DEFAULT) >= 0 &&
            object.type != H5O_TYPE_DATASET)
            fail("%s: %s is no dataset: choose another name for the output", name, dataset);
        H5Ldelete(file, dataset, H5P_DEFAULT);
    }
    return file;
}

void hdf5_write(const char *path, const char *dataset, const char *name, const struct matrix *x)
{
    hsize_t size[2] = {(hsize_t)x->rows, (hsize_t)x->cols};
    const char *where = dataset ? dataset : default_dataset;
    start();
    hid_t file = open_output(path, where, name);
    hid_t memory = type_complex(x->type) ? complex_type(x->type, "r", "i")
                                         : H5Tcopy(x->type == 's' ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE);
    hid_t links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    hid_t space = H5Screate_simple(2, size, NULL);
    hid_t set = H5Dcreate2(file, where, memory, space, links, H5P_DEFAULT, H5P_DEFAULT);
    if (set < 0)
        fail("%s: the dataset %s cannot be made: choose another name or check the space on the disk", name,
             where);
    int good = write_rows(set, memory, x);
    H5Sclose(space);
    H5Pclose(links);
    H5Tclose(memory);
    good &= H5Dclose(set) >= 0 && H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0;
    good &= H5Fclose(file) >= 0;
    if (!good)
        fail("%s: cannot be written: check the space on the disk", name);
}
