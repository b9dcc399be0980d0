/*
 * operand.c - prepared operands on a CUDA device: made by the kernels of a product (pipeline.h), and kept
 * in memory of their own. Also entries of a matrix from there, by the kernel that copies an operand.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "cuda/operand.h"
#include "cuda/record.h"
#include "cuda/shared.h"

#define ALIGN ((size_t)256)
#define PITCH 128 /* planes are a multiple of so many bytes wide */

#define LINES_MAX    (INT64_C(1) << 31)
#define K_MAX        (INT64_C(1) << 30) /* split counts elements of a line in 32 bits */
#define ELEMENTS_MAX (INT64_C(1) << 48) /* more than any memory holds: sizes in bytes stay below 2^63 */

#define PIECE ((size_t)16 << 20) /* bytes of entries that are gathered at once */

static size_t take(size_t *at, size_t bytes)
{
    const size_t place = *at;

    *at = ozg_round_up(place + bytes, ALIGN);
    return place;
}

/* ---- memory ------------------------------------------------------------------------------------- */

static ozg_status allocate(ozg_context *ctx, CUdeviceptr *memory, size_t bytes)
{
    return ozg_cuda_check(ctx, ctx->cuda->api->allocate(memory, bytes), "hold a prepared operand");
}

/* The stored matrix of op(X): lines are its rows or its columns. Returns its leading dimension as a copy. */
static int64_t stored_size(const ozg_operand *op, char trans, int64_t *rows, int64_t *columns)
{
    const int lines_are_rows = (op->side == 'A') == (trans == 'N');
    const int64_t unit = 16 / ozg_type_size(op->type);

    *rows = lines_are_rows ? op->count : op->k;
    *columns = lines_are_rows ? op->k : op->count;
    return (*rows + unit - 1) / unit * unit;
}

/* Memory for the state, the lines and the copy. */
static ozg_status allocate_lines(ozg_operand *op, char trans)
{
    ozg_cuda_operand *own = op->cuda;
    const int64_t words = ozg_by_data(op->acc) ? (op->k + 63) / 64 : 0;
    int64_t rows, columns;
    const int64_t ld = stored_size(op, trans, &rows, &columns);
    size_t at = 0;
    const size_t state = take(&at, sizeof(ozg_cuda_state)), line = take(&at, ozg_cuda_line_bytes(op->count)),
                 sums = take(&at, ozg_cuda_sum_bytes(op->count, 0)), special = take(&at, (size_t)op->count),
                 places = take(&at, 8 * (size_t)(op->count * words)),
                 chunks = take(&at, ozg_cuda_chunk_bytes(op->type, op->side, trans, op->count, op->k)),
                 copy = take(&at, (size_t)(ld * columns * ozg_type_size(op->type)));
    const ozg_status status = allocate(op->ctx, &own->memory, at);
    unsigned char *base = (unsigned char *)(uintptr_t)own->memory;
    ozg_view view;

    if (status)
        return status;
    view = ozg_view_of(op->type, op->side, trans, base + copy, ld, op->count, op->k);
    own->state = (ozg_cuda_state *)(void *)(base + state);
    own->lines = ozg_cuda_lines_of(&view, op->count, op->k, 0, base + line, base + sums);
    own->chunks = (ozg_cuda_chunk *)(void *)(base + chunks);
    own->lines.special = base + special;
    own->lines.words = words;
    own->lines.places = words ? (uint64_t *)(void *)(base + places) : NULL;
    return OZG_OK;
}

/* Memory for the planes, once the number of moduli is known. */
static ozg_status allocate_planes(ozg_operand *op)
{
    ozg_cuda_operand *own = op->cuda;
    const size_t planes = (size_t)ozg_cuda_planes_of(op->type, op->acc, op->nmod);
    ozg_status status;

    own->planes.lines = (op->count + OZG_CUDA_LINES - 1) / OZG_CUDA_LINES * OZG_CUDA_LINES;
    own->planes.pitch = (op->k + PITCH - 1) / PITCH * PITCH;
    status = allocate(op->ctx, &own->split, planes * (size_t)(own->planes.lines * own->planes.pitch));
    own->planes.base = (uint8_t *)(uintptr_t)own->split;
    return status;
}

/* ---- entries to close by ------------------------------------------------------------------------ */

/* Words of 4 or 8 bytes: elements need not be aligned to more than their components. */
static ozg_cuda_gather_args gather_of(const ozg_entries *from, void *out, int64_t ld)
{
    const int word = ozg_type_single(from->type) ? 4 : 8;
    ozg_cuda_gather_args args;

    memset(&args, 0, sizeof args);
    args.x = from->x;
    args.out = out;
    args.row = from->row;
    args.column = from->column;
    args.rows = from->rows;
    args.columns = from->columns;
    args.row_step = from->row_step;
    args.column_step = from->column_step;
    args.ld = ld;
    args.word = word;
    args.words = (int32_t)(ozg_type_size(from->type) / word);
    return args;
}

/* Entries in device memory, indices too, to `out` there. */
static ozg_status gather(ozg_context *ctx, const ozg_entries *from, void *out, int64_t ld)
{
    const ozg_cuda_gather_args args = gather_of(from, out, ld);
    const int64_t blocks = ozg_cuda_tiles(args.rows * args.words * args.columns, OZG_CUDA_GATHER_THREADS),
                  most = 8 * (int64_t)ctx->cuda->multiprocessors;

    return ozg_cuda_launch(ctx, "ozg_cuda_gather", (int)(blocks < most ? blocks : most),
                           OZG_CUDA_GATHER_THREADS, 0, 0, &args);
}

/* ---- making an operand -------------------------------------------------------------------------- */

static ozg_status copy_matrix(ozg_operand *op, char trans, const void *x, int64_t ldx)
{
    ozg_cuda_operand *own = op->cuda;
    const int64_t size = ozg_type_size(op->type);
    void *copy = (void *)(uintptr_t)own->lines.view.x;
    ozg_entries all = {x, op->type, NULL, NULL, 0, 0, 1, ldx};
    const int64_t ld = stored_size(op, trans, &all.rows, &all.columns);

    if (op->ctx->device_pointers)
        return gather(op->ctx, &all, copy, ld);
    return ozg_cuda_upload(op->ctx, copy, (size_t)(ld * size), x, (size_t)ldx * (size_t)size,
                           (size_t)(all.rows * size), all.columns);
}

/*
 * Native and rounded: norms as factors, and the number of moduli if nobody asked for one; for that the
 * host waits, since the size of the planes depends on it.
 */
static ozg_status choose(ozg_operand *op, ozg_cuda_job *job)
{
    ozg_context *ctx = op->ctx;
    const size_t bytes = ozg_cuda_choose_bytes(op->type, op->count, op->count, op->k);
    ozg_cuda_state state;
    void *memory;
    ozg_status status = OZG_OK;

    if (bytes > ctx->memory_limit)
        return ozg_fail(ctx, OZG_E_WORKSPACE, "memory_limit is %zu bytes; to prepare this operand takes %zu",
                        ctx->memory_limit, bytes);
    memory = ozg_cuda_aside(ctx, bytes, &status);
    if (memory)
        status = ozg_cuda_zero(ctx, memory, OZG_CUDA_CHOOSE_ZERO);
    if (!status && !op->acc.value)
        status = ozg_cuda_record_open(ctx, NULL);
    if (status)
        return status;
    ozg_cuda_job_choose_in(job, memory, bytes);
    if (op->acc.value || job->status)
        return job->status;
    if (!ozg_cuda_record_aside(job, &state))
        op->nmod = state.nmod[0];
    return job->status;
}

static ozg_status fill(ozg_operand *op, char trans, const void *x, int64_t ldx)
{
    const int side = op->side == 'B';
    ozg_cuda_job job;
    ozg_status status = allocate_lines(op, trans);

    if (!status)
        status = copy_matrix(op, trans, x, ldx);
    if (status)
        return status;
    ozg_cuda_job_open_operand(&job, op);
    ozg_cuda_job_begin(&job);
    if (side)
        ozg_cuda_job_scale_columns(&job, 0, op->count);
    else
        ozg_cuda_job_scale_rows(&job);
    if (!job.status && ozg_by_data(op->acc))
        job.status = choose(op, &job);
    if (!job.status)
        job.status = allocate_planes(op);
    if (job.status)
        return job.status;
    job.planes_a = job.planes_b = op->cuda->planes;
    ozg_cuda_job_split(&job, side);
    return job.status;
}

/* Sizes that the kernels and the arithmetic of sizes can do. */
static ozg_status check_size(const ozg_operand *op)
{
    if (op->count > LINES_MAX || op->k > K_MAX)
        return ozg_fail(
            op->ctx, OZG_E_UNSUPPORTED,
            "a prepared operand on the device has at most 2^31 lines of 2^30 elements, not %lld of %lld; "
            "pass the matrix itself",
            (long long)op->count, (long long)op->k);
    if (op->count > ELEMENTS_MAX / op->k)
        return ozg_fail(op->ctx, OZG_E_NOMEM, "no memory holds a prepared operand of %lld x %lld elements",
                        (long long)op->count, (long long)op->k);
    return OZG_OK;
}

static void release_retired(ozg_context *ctx);

/* Between enter and leave. */
static ozg_status prepare(ozg_operand *op, char trans, const void *x, int64_t ldx)
{
    ozg_context *ctx = op->ctx;
    ozg_status status = check_size(op);

    if (!status && ctx->device_pointers)
        status = ozg_cuda_here(ctx, x, "argument 8 (x)");
    if (!status && ozg_cuda_capturing(ctx))
        status = ozg_fail(ctx, OZG_E_UNSUPPORTED,
                          "cannot prepare an operand while the stream is being captured; prepare it before");
    if (status)
        return status;
    release_retired(ctx);
    op->cuda = calloc(1, sizeof *op->cuda);
    if (!op->cuda)
        return ozg_fail(ctx, OZG_E_NOMEM, "no memory for a prepared operand");
    return fill(op, trans, x, ldx);
}

ozg_status ozg_cuda_prepare(ozg_operand *op, char trans, const void *x, int64_t ldx)
{
    const ozg_status status = ozg_cuda_enter(op->ctx);

    return status ? status : ozg_cuda_leave(op->ctx, prepare(op, trans, x, ldx));
}

/* ---- the end of an operand ---------------------------------------------------------------------- */

void ozg_cuda_close_operands(ozg_context *ctx, int reachable)
{
    struct ozg_cuda *g = ctx->cuda;

    while (g->retired) {
        ozg_cuda_operand *own = g->retired;

        g->retired = own->next;
        if (reachable && own->memory)
            g->api->release(own->memory);
        if (reachable && own->split)
            g->api->release(own->split);
        free(own);
    }
}

/* The stream is not captured. */
static void release_retired(ozg_context *ctx)
{
    if (!ctx->cuda->retired)
        return;
    ctx->cuda->api->stream_synchronize(ctx->cuda->stream); /* whatever it answers: nothing runs any more */
    ozg_cuda_close_operands(ctx, 1);
}

/* No error is told: what failed before, the next call says. */
void ozg_cuda_release(ozg_operand *op)
{
    struct ozg_cuda *g = op->ctx->cuda;
    ozg_cuda_operand *own = op->cuda;
    CUcontext popped;

    if (!own)
        return;
    own->next = g->retired;
    g->retired = own;
    if (g->api->context_push(g->device->context))
        return;
    if (!ozg_cuda_capturing(op->ctx))
        release_retired(op->ctx);
    g->api->context_pop(&popped);
}

/* ---- entries for the host ----------------------------------------------------------------------- */

/* A piece of `from` from (i0, j0) on; its indices are the host's. work: room for them, then for the entries. */
static ozg_status fetch_piece(ozg_context *ctx, const ozg_entries *from, int64_t i0, int64_t j0, int64_t rows,
                              int64_t columns, unsigned char *work, unsigned char *out)
{
    const size_t size = (size_t)ozg_type_size(from->type), row_bytes = 8 * (size_t)rows,
                 column_bytes = 8 * (size_t)columns;
    unsigned char *row = work, *column = row + ozg_round_up(row_bytes, ALIGN),
                  *entries = column + ozg_round_up(column_bytes, ALIGN);
    ozg_entries piece = {from->x, from->type, NULL, NULL, rows, columns, from->row_step, from->column_step};
    ozg_status status = OZG_OK;

    if (from->row)
        status = ozg_cuda_upload(ctx, row, row_bytes, from->row + i0, row_bytes, row_bytes, 1);
    if (!status && from->column)
        status = ozg_cuda_upload(ctx, column, column_bytes, from->column + j0, column_bytes, column_bytes, 1);
    if (status)
        return status;
    piece.row = from->row ? (const int64_t *)(const void *)row : NULL;
    piece.column = from->column ? (const int64_t *)(const void *)column : NULL;
    if (!from->row)
        piece.x = (const char *)piece.x + i0 * from->row_step * (int64_t)size;
    if (!from->column)
        piece.x = (const char *)piece.x + j0 * from->column_step * (int64_t)size;
    status = gather(ctx, &piece, entries, rows);
    if (status)
        return status;
    return ozg_cuda_download(ctx, out + (size_t)(i0 + j0 * from->rows) * size, (size_t)from->rows * size,
                             entries, (size_t)rows * size, (size_t)rows * size, columns);
}

/* Pieces of whole columns, or of parts of one. */
static ozg_status fetch_entries(ozg_context *ctx, const ozg_entries *from, unsigned char *out)
{
    const size_t room = ctx->memory_limit < PIECE ? ctx->memory_limit : PIECE;
    const int64_t most = room < 64 ? 1 : (int64_t)(room / 32); /* entries of at most 16 bytes, and indices */
    const int64_t rows = from->rows < most ? from->rows : most,
                  columns = most / rows < from->columns ? most / rows : from->columns;
    const size_t bytes = ozg_round_up(8 * (size_t)rows, ALIGN) + ozg_round_up(8 * (size_t)columns, ALIGN) +
                         (size_t)(rows * columns * ozg_type_size(from->type));
    unsigned char *work;
    ozg_status status = ozg_cuda_synchronize(ctx);

    if (!status && bytes > ctx->memory_limit)
        status = ozg_fail(ctx, OZG_E_WORKSPACE, "memory_limit is %zu bytes; copies of lines take %zu",
                          ctx->memory_limit, bytes);
    if (status)
        return status;
    work = ozg_cuda_aside(ctx, bytes, &status);
    if (!work)
        return status;
    for (int64_t j0 = 0; !status && j0 < from->columns; j0 += columns)
        for (int64_t i0 = 0; !status && i0 < from->rows; i0 += rows)
            status = fetch_piece(ctx, from, i0, j0, rows < from->rows - i0 ? rows : from->rows - i0,
                                 columns < from->columns - j0 ? columns : from->columns - j0, work, out);
    return status;
}

ozg_status ozg_cuda_entries(ozg_context *ctx, const ozg_entries *from, void *out)
{
    const ozg_status status = ozg_cuda_enter(ctx);

    if (status)
        return status;
    return ozg_cuda_leave(ctx, from->rows > 0 && from->columns > 0 ? fetch_entries(ctx, from, out) : OZG_OK);
}
