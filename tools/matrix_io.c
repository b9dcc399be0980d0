/*
 * matrix_io.c - which format a file has, and output that appears whole or not at all.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "matrix_io.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

enum format { HDF5, NPY, MTX };

struct location {
    enum format format;
    char *path;
    char *dataset; /* HDF5 only; NULL: the only one, or /matrix */
};

static const struct {
    const char *extension;
    enum format format;
} formats[] = {{".h5", HDF5}, {".hdf5", HDF5}, {".npy", NPY}, {".mtx", MTX}};

/* locate() - split "file.h5:/dataset" and find the format. */
static struct location locate(const char *name)
{
    struct location where = {.path = xstrdup(name)};
    char *colon = strstr(where.path, ":/");
    if (colon && strcasestr(where.path, ".h5:/") == NULL && strcasestr(where.path, ".hdf5:/") == NULL)
        colon = NULL;
    if (colon) {
        *colon = '\0';
        where.dataset = xstrdup(colon + 1);
    }
    size_t length = strlen(where.path);
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        size_t e = strlen(formats[i].extension);
        if (length > e && strcasecmp(where.path + length - e, formats[i].extension) == 0) {
            where.format = formats[i].format;
            return where;
        }
    }
    fail("%s: the name does not tell the format: use the extension .h5, .npy or .mtx", name);
}

struct matrix matrix_read(const char *name)
{
    struct location where = locate(name);
    struct matrix x;
    if (access(where.path, R_OK) != 0)
        fail("%s: cannot be read: %s", where.path, strerror(errno));
    if (where.format == HDF5)
        x = hdf5_read(where.path, where.dataset);
    else if (where.format == NPY)
        x = npy_read(where.path);
    else
        x = mtx_read(where.path);
    free(where.path);
    free(where.dataset);
    return x;
}

static struct {
    struct location where;
    char *target;    /* where the file goes: where.path with symbolic links followed */
    char *temporary; /* the file beside it; NULL: none */
} output;

static void output_remove(void)
{
    if (output.temporary)
        unlink(output.temporary);
}

static void output_interrupted(int sig)
{
    output_remove();
    signal(sig, SIG_DFL);
    raise(sig);
}

/* copy_file() - the bytes of the file from into the open file to. */
static void copy_file(const char *from, int to, const char *name)
{
    char block[65536];
    ssize_t got = 0, put = 0;
    int fd = open(from, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && (got = read(fd, block, sizeof block)) > 0)
        for (ssize_t at = 0; at < got; at += put)
            if ((put = write(to, block + at, (size_t)(got - at))) < 0)
                fail("%s: cannot be written: %s", name, strerror(errno));
    if (fd < 0 || got < 0)
        fail("%s: cannot be read to keep its other datasets: %s", name, strerror(errno));
    close(fd);
}

/* resolve() - where an existing output really lies; refuses what is not a file (a device, a directory). */
static char *resolve(const char *path, int *exists)
{
    struct stat info;
    *exists = stat(path, &info) == 0;
    if (!*exists)
        return xstrdup(path);
    if (!S_ISREG(info.st_mode))
        fail("%s: is not a regular file: name a file for the output", path);
    if (access(path, W_OK) != 0)
        fail("%s: cannot be written: %s", path, strerror(errno));
    char *real = realpath(path, NULL);
    return real ? real : xstrdup(path);
}

void output_open(const char *name)
{
    int exists;
    output.where = locate(name);
    output.target = resolve(output.where.path, &exists);
    size_t size = strlen(output.target) + 40;
    char *temporary = xmalloc(size);
    snprintf(temporary, size, "%s.%ld.tmp", output.target, (long)getpid());
    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        fail("%s: cannot be written: %s", output.where.path, strerror(errno));
    output.temporary = temporary;
    atexit(output_remove);
    signal(SIGINT, output_interrupted);
    signal(SIGTERM, output_interrupted);
    signal(SIGHUP, output_interrupted);
    if (exists && output.where.format == HDF5)
        copy_file(output.target, fd, output.where.path);
    if (close(fd) != 0)
        fail("%s: cannot be written: %s", output.where.path, strerror(errno));
}

/* flush_to_disk() - a full disk must be known before the file gets its name. */
static void flush_to_disk(const char *path, const char *name)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0 || fsync(fd) != 0 || close(fd) != 0)
        fail("%s: cannot be written: %s", name, strerror(errno));
}

void output_write(const struct matrix *x)
{
    const char *name = output.where.path;
    if (output.where.format == HDF5)
        hdf5_write(output.temporary, output.where.dataset, name, x);
    else if (output.where.format == NPY)
        npy_write(output.temporary, name, x);
    else
        mtx_write(output.temporary, name, x);
    flush_to_disk(output.temporary, name);
    if (rename(output.temporary, output.target) != 0)
        fail("%s: cannot be written: %s", name, strerror(errno));
    free(output.temporary);
    output.temporary = NULL;
}
