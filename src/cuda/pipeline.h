/*
 * pipeline.h - one product as kernels on the stream, in the order of kernels.h. Nothing here waits for the
 * device.
 *
 * A job keeps its first error; what is enqueued after one does nothing.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_PIPELINE_H
#define OZG_CUDA_PIPELINE_H

#include "cuda/device.h"
#include "cuda/operand.h"
#include "cuda/plan.h"

/* What the time between two marks was spent on. */
enum {
    OZG_CUDA_SCALE,
    OZG_CUDA_SPLIT,
    OZG_CUDA_PRODUCT,
    OZG_CUDA_RECONSTRUCT,
    OZG_CUDA_REPAIR,
    OZG_CUDA_STAGES
};

/* Numbers for ozg_cuda_mark(): the last upload; panels of C, in turn; the end of a call; times of stages. */
enum { OZG_CUDA_ARRIVED, OZG_CUDA_DONE, OZG_CUDA_END = OZG_CUDA_DONE + 2, OZG_CUDA_TIMES };

#define OZG_CUDA_MARKS 192 /* of times, at most: a product of more tiles is timed by its first ones */

/* The times of a call: mark OZG_CUDA_TIMES + q ends work on stage[q]; q = 0 is its beginning. */
typedef struct ozg_cuda_clock {
    int marks; /* 0: nobody wants times */
    uint8_t stage[OZG_CUDA_MARKS];
} ozg_cuda_clock;

typedef struct ozg_cuda_job {
    ozg_context *ctx;
    ozg_plan plan; /* a copy: ozg_cuda_job_settle() changes it */
    ozg_cuda_places places;
    unsigned char *base;
    unsigned char *tiles; /* planes and what comes of them are at tiles + places.plane[0] and on */
    int products;         /* of a batch, for which each launch is; 0: a single product */
    ozg_cuda_request request;
    ozg_cuda_state *state;
    ozg_cuda_chunk *chunks[2]; /* of scale */
    ozg_cuda_lines a, b;
    ozg_cuda_planes planes_a, planes_b; /* of a tile; prepared: of the whole operand */
    const ozg_cuda_operand *operand[2]; /* A, B: prepared, or NULL */
    ozg_cuda_residues sums;
    ozg_cuda_map map_a, map_b;
    ozg_scalars scalars;
    void *c;
    int64_t ldc;
    uint32_t *list;
    int parts;   /* that there may be */
    int settled; /* the number of moduli of each part is known here: nmod */
    int nmod[OZG_PARTS];
    ozg_part part[OZG_PARTS];
    ozg_cuda_clock clock;
    int touched; /* kernels that write C were enqueued */
    ozg_status status;
} ozg_cuda_job;

/* What the host does between tiles. */
typedef struct ozg_cuda_visitor {
    void (*before)(void *arg, const ozg_cuda_tile *tile); /* its first kernel */
    void (*after)(void *arg, const ozg_cuda_tile *tile);  /* its last kernel is enqueued */
    void *arg;
} ozg_cuda_visitor;

/*
 * ozg_cuda_job_open() - a job in the plan's workspace; a, b, c of data are in device memory. report: norms
 * and the largest bound are wanted. timed: marks are made.
 */
void ozg_cuda_job_open(ozg_cuda_job *job, const ozg_plan *plan, const ozg_data *data, void *work, int report,
                       int timed);

/*
 * ozg_cuda_job_open_batch() - the same for the first `known` products of a batch; data is that of the first
 * one. batch: strides. planes: of how many products there are planes at a time. The steps but ceilings and
 * tiles are then for all of them; these two for those from request.batch.first on, as many as job->products
 * says.
 */
void ozg_cuda_job_open_batch(ozg_cuda_job *job, const ozg_plan *plan, const ozg_data *data, void *work,
                             int report, const ozg_cuda_batch *batch, int known, int planes);

/* ozg_cuda_job_matrices() - after begin: the matrices of a batch of pointers, from product number `first`. */
void ozg_cuda_job_matrices(ozg_cuda_job *job, const ozg_data *data, const ozg_products *all, int64_t first);

/*
 * The steps, in this order. begin: the state. scale: exponents and norms of both operands, as far as they
 * are not prepared, or of the columns [j0, j0 + columns) of B alone, or of A alone. choose: moduli and
 * parts, where the data choose. ceilings: the product of ceilings (accurate). tiles: all tiles of all
 * parts. special: rows and columns with Inf or NaN, in columns [j0, j0 + columns). largest: the largest
 * entry of C.
 */
void ozg_cuda_job_begin(ozg_cuda_job *job);
void ozg_cuda_job_scale(ozg_cuda_job *job);
void ozg_cuda_job_scale_rows(ozg_cuda_job *job);
void ozg_cuda_job_scale_columns(ozg_cuda_job *job, int64_t j0, int64_t columns);
void ozg_cuda_job_scale_lines(ozg_cuda_job *job, int side, int64_t first, int64_t count);
void ozg_cuda_job_choose(ozg_cuda_job *job);
void ozg_cuda_job_ceilings(ozg_cuda_job *job);
void ozg_cuda_job_tiles(ozg_cuda_job *job, const ozg_cuda_visitor *visitor);
void ozg_cuda_job_special(ozg_cuda_job *job, int64_t j0, int64_t columns);
void ozg_cuda_job_largest(ozg_cuda_job *job);

/* ozg_cuda_job_finish_tile() - special, and largest if somebody wants a report, of the entries of a tile. */
void ozg_cuda_job_finish_tile(ozg_cuda_job *job, const ozg_cuda_tile *tile);

/*
 * ozg_cuda_job_ended() - the status of the call: OZG_E_DEVICE for any failure after which C may be written in
 * part, since no other promises that it is as it was.
 */
static inline ozg_status ozg_cuda_job_ended(const ozg_cuda_job *job)
{
    return job->status && job->touched ? OZG_E_DEVICE : job->status;
}

/* ozg_cuda_job_measure() - D, residuals and factors of all lines of a part, without a product. Of the visitor only
 * before() is called. */
void ozg_cuda_job_measure(ozg_cuda_job *job, int part, const ozg_cuda_visitor *visitor);

/* ozg_cuda_job_settle() - tells the job what the device chose: tiles are cut for it. */
void ozg_cuda_job_settle(ozg_cuda_job *job, const ozg_cuda_state *state);

/*
 * ozg_cuda_job_open_operand() - a job that makes a prepared operand, whose memory is placed: its lines as
 * both sides of a product. Its steps are begin, scale_rows or scale_columns (side 'B'), choose in
 * `memory` of ozg_cuda_choose_bytes(), and ozg_cuda_job_split(): planes, d, residuals and factors of all
 * lines.
 */
void ozg_cuda_job_open_operand(ozg_cuda_job *job, const ozg_operand *op);
void ozg_cuda_job_choose_in(ozg_cuda_job *job, void *memory, size_t bytes);
void ozg_cuda_job_split(ozg_cuda_job *job, int side);

/*
 * ozg_cuda_job_open_scaled() - a job for C := RN(beta C), begun; work: OZG_CUDA_SCALED_BYTES. Its steps are
 * ozg_cuda_job_scale_c() and largest.
 */
#define OZG_CUDA_SCALED_BYTES sizeof(ozg_cuda_state)
void ozg_cuda_job_open_scaled(ozg_cuda_job *job, ozg_context *ctx, const ozg_shape *shape,
                              const ozg_data *data, void *work);
void ozg_cuda_job_scale_c(ozg_cuda_job *job);

/* The name of a kernel: for one product, or for those of a batch. */
#define OZG_CUDA_KERNEL(job, name) ((job)->products ? name "_batch" : name)

/* ozg_cuda_job_share() - how many multiprocessors each product of a launch may fill. */
int ozg_cuda_job_share(const ozg_cuda_job *job);

/* ozg_cuda_job_launch() - a kernel, unless the job has failed: `blocks` blocks for each product. */
void ozg_cuda_job_launch(ozg_cuda_job *job, const char *kernel, int blocks, int threads, size_t shared,
                         const void *args);

/* ozg_cuda_job_mark() - what was enqueued since the last mark is work on this stage. */
void ozg_cuda_job_mark(ozg_cuda_job *job, int stage);

#endif
