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

/* The first word of `args` that is an address of host memory; NULL: none. */
const void *fake_host_pointer(const void *args, size_t bytes);

/* ---- fake_work.cpp ------------------------------------------------------------------------------ */

struct CUfunc_st {
    char name[64];
    int shared; /* dynamic shared memory that it may have */
    CUfunc_st *next;
};

struct CUevent_st {
    int recorded, pending, timed;
    double seconds;
};

enum fake_kind { FAKE_COPY, FAKE_SET, FAKE_LAUNCH, FAKE_EVENT, FAKE_WAIT };

/* Work of a stream. */
typedef struct fake_work {
    int kind;
    unsigned char *to;
    const unsigned char *from;
    size_t to_pitch, from_pitch, bytes, height; /* FAKE_COPY, FAKE_SET */
    int value;
    CUfunc_st *function;
    int grid[3], threads, cooperative;
    size_t shared;
    void *args; /* a copy, of its own */
    CUevent_st *event;
    fake_work *next;
} fake_work;

/* fake_do() - now, queued, or kept for a graph; args is copied. Returns a CUresult. */
int fake_do(const fake_work *work);

/* fake_finish() - all that is queued. Returns a CUresult; an error stays. */
int fake_finish(void);

int fake_capturing(void);

/* The kind of the last work that was given; FAKE_WAIT: a stream waits for an event. */
extern int fake_last;

/* The error of a kernel that stays; CUDA_SUCCESS: none. */
extern int fake_sticky;

#endif
