/*
 * fake_parts.h - what the parts of the fake driver know of each other: memory, queued work.
 *
 * All functions are called with the driver's lock held.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TEST_CUDA_FAKE_PARTS_H
#define OZG_TEST_CUDA_FAKE_PARTS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/api.h"
#include "emulate.h"
#include "fake_driver.h"

extern fake_counts fake_now;

/* fake_complain() - what the caller did wrong; returns CUDA_ERROR_INVALID_VALUE. */
int fake_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- fake_memory.cpp ---------------------------------------------------------------------------- */

/* Device memory; NULL: no more. fake_memory_free() returns 0 if it is none. */
void *fake_memory_new(size_t bytes);
int fake_memory_free(void *memory);

/* 1: all of it lies in one live allocation. */
int fake_memory_holds(const void *p, size_t bytes);

/* Memory belongs to device number `device`, or to no one in particular (-1: memory of the test itself). */
void fake_memory_give(void *memory, int device);

/* 1: p lies in memory of another device than this one. */
int fake_memory_elsewhere(const void *p, int device);

/* Page-locked memory of the host. */
void *fake_pinned_new(size_t bytes);
int fake_pinned_free(void *memory);
int fake_pinned_holds(const void *p);

/*
 * The device works: its memory can be touched until fake_memory_close(), which looks at the red zones. May
 * be nested.
 */
void fake_memory_open(void);
void fake_memory_close(void);

/*
 * The first word of `args` that is an address of host memory, or of memory of another device than this one;
 * NULL: none.
 */
const void *fake_host_pointer(const void *args, size_t bytes);
const void *fake_foreign_pointer(const void *args, size_t bytes, int device);

/* ---- fake_work.cpp ------------------------------------------------------------------------------ */

struct CUfunc_st {
    char name[64];
    int shared; /* dynamic shared memory that it may have */
    int device;
    CUfunc_st *next;
};

struct CUevent_st {
    int recorded, timed;
    uint64_t given, done; /* records of it, so far */
    double seconds;
};

enum fake_kind { FAKE_COPY, FAKE_SET, FAKE_LAUNCH, FAKE_EVENT, FAKE_WAIT };

struct fake_work;

struct CUstream_st {
    CUctx_st *context;
    int last;                /* the kind of the last work that was given */
    fake_work *first, **end; /* queued */
    CUstream_st *next;
};

/* Work of a stream. */
typedef struct fake_work {
    int kind;
    CUstream_st *stream;
    unsigned char *to;
    const unsigned char *from;
    size_t to_pitch, from_pitch, bytes, height; /* FAKE_COPY, FAKE_SET */
    int value;
    CUfunc_st *function;
    int grid[3], threads, cooperative;
    size_t shared;
    void *args; /* a copy, of its own */
    CUevent_st *event;
    uint64_t target; /* FAKE_WAIT: records of the event */
    fake_work *next;
} fake_work;

/* fake_do() - now, queued, or kept for a graph; args is copied. Returns a CUresult. */
int fake_do(const fake_work *work);

/* fake_stream_open() - a stream joins those that have work: for ever, since work may outlive it. */
void fake_stream_open(CUstream_st *stream, CUctx_st *context);

/*
 * What is queued: all of it, that of a stream, or up to the last record of an event; and what that waits for.
 * Returns a CUresult; an error stays.
 */
int fake_finish(void);
int fake_finish_stream(CUstream_st *stream);
int fake_finish_event(CUevent_st *event);

int fake_capturing(void);

/* The error of a kernel that stays; CUDA_SUCCESS: none. */
extern int fake_sticky;

#endif
