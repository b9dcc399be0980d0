/*
 * lane.h - one way to compute C on a GPU: the library, cuBLAS, the emulation of cuBLAS, or its product of
 * 8-bit integers. Calls are enqueued on the stream and return.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TOOL_LANE_H
#define OZG_TOOL_LANE_H

#include <stdint.h>
#include <jansson.h>

#include "contest.h"
#include "cublas.h"
#include "cuda.h"
#include "product.h"

/* The matrices on the device; the same for all lanes but that of integers, which has its own. */
struct device_matrices {
    void *a, *b, *c;
};

enum lane_kind { LANE_CUBLAS, LANE_EMULATED, LANE_INT8, LANE_OWN };

/*
 * Products of 8-bit integers: C := A^T B, random entries in -127 .. 127, sides rounded up to multiples of
 * 16.
 */
struct int8_product {
    int64_t m, n, k;
    int8_t *a, *b; /* of the host */
    struct device_matrices on;
};

/* A time of a lane: burst or sustained. */
struct pace {
    double seconds;
    ozg_report report; /* LANE_OWN: of a call under the same load */
};

struct lane {
    enum lane_kind kind;
    const struct way *way; /* NULL: native cuBLAS */
    json_t *row;
    struct cuda *cuda;
    struct contest *t;
    int live; /* its first result was right, and nothing went wrong since */
    double flops;
    void *c; /* where it writes on the device */
    size_t c_bytes;
    const struct device_matrices *on;
    struct cublas_handle *handle; /* cuBLAS */
    int *device_bits, tells_bits; /* LANE_EMULATED: bits that it kept, on the device; whether it tells */
    struct int8_product int8;     /* LANE_INT8 */
    ozg_context *ctx;             /* LANE_OWN */
    struct product product;
    struct promise promise;
    uint64_t bits; /* of the result that was checked */
    struct pace burst, sustained;
    double least;                /* of the bursts */
    int64_t calls;               /* in the sustained window */
    double joules, clock, apart; /* a call; MHz; cuBLAS: how far its two means are apart, relative */
};

/*
 * lane_open() - what the way needs: a fresh handle of cuBLAS, a context of the library, matrices of integers.
 * Returns NULL, or a sentence that says why there is no such way; valid until the next call. q->config is
 * that of the library.
 */
const char *lane_open(struct lane *l, struct cublas *cublas);

/* lane_close() - the stream is done. */
void lane_close(struct lane *l);

/* lane_run() - one product; report: LANE_OWN, may be NULL. Returns NULL, or a sentence, as lane_open(). */
const char *lane_run(struct lane *l, ozg_report *report);

/* lane_wait() - until all of it is done; the report of the latest lane_run() that was given one, or NULL. */
const char *lane_wait(struct lane *l, ozg_report *report);

/*
 * lane_check() - downloads C and compares it with the exact product; what it found goes into the row. Returns
 * whether it is right. The bits are kept in l->bits.
 */
int lane_check(struct lane *l);

/*
 * lane_recheck() - the same for a result that was timed: the library has to give the bits that were checked;
 * cuBLAS may give others, which are checked then.
 */
int lane_recheck(struct lane *l);

#endif
