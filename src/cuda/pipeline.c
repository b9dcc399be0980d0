/*
 * pipeline.c - enqueues the kernels of a product, but for its tiles (tiles.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include "cuda/fixup.h"
#include "cuda/pipeline.h"
#include "cuda/product_maps.h"
#include "cuda/scale.h"

/*
 * Products of two INT8 numbers a nanosecond, in the unit of decide.h: an H200 makes 700000, and repairs an
 * entry that this takes for 540 ns (20 places) in 1.8 ns. Rough figures, which decide time alone.
 */
#define RATE (700000.0 * 1.8 / 540)

void ozg_cuda_job_launch(ozg_cuda_job *job, const char *kernel, int blocks, int threads, size_t shared,
                         const void *args)
{
    if (!job->status)
        job->status = ozg_cuda_launch_batch(job->ctx, kernel, blocks, job->products ? job->products : 1,
                                            threads, shared, 0, args);
}

/* Waves of blocks of a batch: that none is nearly empty costs more than that blocks begin. */
#define WAVES 4

int ozg_cuda_job_share(const ozg_cuda_job *job)
{
    const int all = job->ctx->cuda->multiprocessors, waves = WAVES * all;

    return !job->products           ? all
           : job->products <= WAVES ? all
           : job->products < waves  ? waves / job->products
                                    : 1;
}

/* Blocks for so many threads of work; not more than some waves of all multiprocessors. */
static int blocks_for(const ozg_cuda_job *job, int64_t items, int threads)
{
    const int64_t blocks = ozg_cuda_tiles(items, threads), most = 4 * (int64_t)ozg_cuda_job_share(job);

    return (int)(blocks < 1 ? 1 : ozg_min64(blocks, most));
}

void ozg_cuda_job_mark(ozg_cuda_job *job, int stage)
{
    ozg_cuda_clock *clock = &job->clock;

    if (job->status || clock->marks == 0 || clock->marks == OZG_CUDA_MARKS)
        return;
    clock->stage[clock->marks] = (uint8_t)stage;
    job->status = ozg_cuda_mark(job->ctx, OZG_CUDA_TIMES + clock->marks++);
}

/* ---- what all kernels of a call share ----------------------------------------------------------- */

static ozg_cuda_request request_of(const ozg_plan *plan, int report)
{
    const ozg_shape *s = &plan->shape;
    ozg_cuda_request r;

    memset(&r, 0, sizeof r);
    r.kind = s->acc.kind;
    r.width = plan->width;
    r.single = ozg_type_single(s->type);
    r.complex_ = ozg_type_complex(s->type);
    r.measured = ozg_by_data(s->acc) || report;
    r.reported = report;
    r.m = s->m;
    r.n = s->n;
    r.k = s->k;
    r.length = ozg_dot_length(s->type, s->k);
    return r;
}

/* Member by member: what is passed to a kernel has no bytes of chance, not even between members. */
static void set_scalar(ozg_scalar *s, double x)
{
    const ozg_scalar value = ozg_scalar_of(x);

    s->kind = value.kind;
    s->fp.mant = value.fp.mant;
    s->fp.exp = value.fp.exp;
    s->fp.neg = value.fp.neg;
}

static void set_scalars(ozg_scalars *x, const ozg_shape *s, const ozg_data *data)
{
    memset(x, 0, sizeof *x);
    x->single = ozg_type_single(s->type);
    x->complex_ = ozg_type_complex(s->type);
    for (int part = 0; part < 2; part++) {
        set_scalar(&x->alpha[part], data->alpha[part]);
        set_scalar(&x->beta[part], data->beta[part]);
    }
}

/* Where planes, sums and the list are: as the tiles of the plan are cut. sets: of how many products. */
static void place(ozg_cuda_job *job, int sets)
{
    const ozg_plan *plan = &job->plan;
    const ozg_cuda_places *p = &job->places;
    const int64_t more = (sets - 1) * job->request.batch.lines;
    ozg_cuda_planes a, b; /* all planes as one */

    job->planes_a = (ozg_cuda_planes){job->tiles + p->plane[0], p->lines_a, p->pitch};
    job->planes_b = (ozg_cuda_planes){job->tiles + p->plane[1], p->lines_b, p->pitch};
    if (job->operand[0])
        job->planes_a = job->operand[0]->planes;
    if (job->operand[1])
        job->planes_b = job->operand[1]->planes;
    job->sums.base = job->tiles + p->residues;
    job->sums.ld = p->lines_a;
    job->sums.columns = p->columns;
    job->sums.floors = job->tiles + p->floors;
    job->sums.floor_bytes = plan->kt < plan->shape.k ? 8 : 4;
    job->list = (uint32_t *)(void *)(job->tiles + p->list);
    a = job->planes_a;
    b = job->planes_b;
    a.lines = p->planes * a.lines + more;
    b.lines = p->planes * b.lines + more;
    if (!job->status && job->ctx->cuda->wgmma)
        job->status = ozg_cuda_check(
            job->ctx, ozg_cuda_product_maps(job->ctx->cuda->api, &a, &b, 1, &job->map_a, &job->map_b),
            "describe the planes of the operands");
}

/* All of a job but its planes. */
static void open_job(ozg_cuda_job *job, const ozg_plan *plan, const ozg_data *data, void *work, int report)
{
    const ozg_shape *s = &plan->shape;
    const ozg_view a = ozg_view_of(s->type, 'A', s->transa, data->a, data->lda, s->m, s->k);
    const ozg_view b = ozg_view_of(s->type, 'B', s->transb, data->b, data->ldb, s->n, s->k);

    memset(job, 0, sizeof *job);
    job->ctx = plan->ctx;
    job->plan = *plan;
    ozg_cuda_place(plan, &job->places);
    job->base = job->tiles = (unsigned char *)ozg_round_up((size_t)work, 256);
    job->request = request_of(plan, report);
    job->state = (ozg_cuda_state *)(void *)(job->base + job->places.state);
    for (int side = 0; side < 2; side++)
        job->chunks[side] = (ozg_cuda_chunk *)(void *)(job->base + job->places.chunks[side]);
    job->operand[0] = data->pa ? data->pa->cuda : NULL;
    job->operand[1] = data->pb ? data->pb->cuda : NULL;
    job->a = data->pa ? data->pa->cuda->lines : ozg_cuda_lines_at(plan, &job->places, job->base, 0, &a);
    job->b = data->pb ? data->pb->cuda->lines : ozg_cuda_lines_at(plan, &job->places, job->base, 1, &b);
    set_scalars(&job->scalars, s, data);
    job->c = data->c;
    job->ldc = data->ldc;
    job->parts = ozg_plan_apart(plan) ? OZG_PARTS : 1;
    job->settled = !ozg_cuda_chosen(plan);
    job->nmod[0] = plan->nmod;
    job->part[0] = (ozg_part){0, s->m, 0, s->n};
}

static void start_clock(ozg_cuda_job *job)
{
    job->clock.marks = 1;
    if (!job->status)
        job->status = ozg_cuda_mark(job->ctx, OZG_CUDA_TIMES);
}

void ozg_cuda_job_open(ozg_cuda_job *job, const ozg_plan *plan, const ozg_data *data, void *work, int report,
                       int timed)
{
    open_job(job, plan, data, work, report);
    place(job, 1);
    if (timed)
        start_clock(job);
}

void ozg_cuda_job_open_batch(ozg_cuda_job *job, const ozg_plan *plan, const ozg_data *data, void *work,
                             int report, const ozg_cuda_batch *batch, int known, int planes)
{
    open_job(job, plan, data, work, report);
    job->products = known;
    job->request.batch = *batch;
    job->tiles = job->base + known * batch->known - job->places.plane[0];
    place(job, planes);
    if (report)
        start_clock(job);
}

void ozg_cuda_job_settle(ozg_cuda_job *job, const ozg_cuda_state *state)
{
    int most = 0;

    for (int q = 0; q < state->parts; q++) {
        job->nmod[q] = state->nmod[q];
        job->part[q] = state->part[q];
        most = state->nmod[q] > most ? state->nmod[q] : most;
    }
    job->parts = state->parts;
    job->settled = 1;
    if (!job->status)
        job->status = ozg_cuda_settle(&job->plan, most);
    ozg_cuda_place(&job->plan, &job->places);
    place(job, 1);
}

/* ---- before the tiles --------------------------------------------------------------------------- */

void ozg_cuda_job_begin(ozg_cuda_job *job)
{
    const ozg_cuda_places *p = &job->places;
    ozg_cuda_begin_args args;

    memset(&args, 0, sizeof args);
    args.state = job->state;
    args.initial.parts = 1;
    args.initial.nmod[0] = job->plan.nmod;
    args.initial.width[0] = job->plan.width;
    args.initial.part[0] = job->part[0];
    for (int side = 0; side < 2; side++)
        args.prepared[side] = job->operand[side] ? job->operand[side]->state : NULL;
    args.zero = (uint64_t *)(void *)(job->base + p->zero);
    args.words = (int64_t)(p->zero_bytes / 8);
    args.known = job->request.batch.known;
    ozg_cuda_job_launch(job, "ozg_cuda_begin", blocks_for(job, args.words, 256), 256, 0, &args);
}

void ozg_cuda_job_matrices(ozg_cuda_job *job, const ozg_data *data, const ozg_products *all, int64_t first)
{
    const int64_t known = job->request.batch.known;
    ozg_cuda_matrices_args args;

    for (int q = 0; q < job->products; q += OZG_CUDA_MATRICES) {
        memset(&args, 0, sizeof args);
        args.state = (ozg_cuda_state *)(void *)(job->base + job->places.state + q * known);
        args.known = known;
        args.count = ozg_min64(job->products - q, OZG_CUDA_MATRICES);
        for (int i = 0; i < (int)args.count; i++) {
            ozg_data d;

            ozg_products_at(&d, data, all, first + q + i);
            args.matrix[i].a = d.a;
            args.matrix[i].b = d.b;
            args.matrix[i].c = d.c;
        }
        if (!job->status)
            job->status = ozg_cuda_launch(job->ctx, "ozg_cuda_matrices", 1, OZG_CUDA_MATRICES, 0, 0, &args);
    }
}

/* Scales lines a and b, of which either may be none. */
static void scale(ozg_cuda_job *job, const ozg_cuda_lines *a, const ozg_cuda_lines *b)
{
    const int share = ozg_cuda_job_share(job);
    ozg_cuda_scale_args args;
    int blocks;

    memset(&args, 0, sizeof args);
    args.state = job->state;
    args.request = job->request;
    args.a = *a;
    args.b = *b;
    args.a.view.shift = args.b.view.shift = NULL;
    args.chunks[0] = job->chunks[0];
    args.chunks[1] = job->chunks[1];
    args.fp64 = ozg_cuda_fast_fp64(job->ctx);
    if (a->count == 0 && b->count == 0)
        return;
    blocks =
        (a->count ? ozg_cuda_scale_blocks(a, share) : 0) + (b->count ? ozg_cuda_scale_blocks(b, share) : 0);
    ozg_cuda_job_launch(job, OZG_CUDA_KERNEL(job, "ozg_cuda_scale"),
                        (int)ozg_min64(blocks, (int64_t)OZG_CUDA_SCALE_RESIDENT * share),
                        OZG_CUDA_SCALE_THREADS, 0, &args);
    ozg_cuda_job_launch(job, OZG_CUDA_KERNEL(job, "ozg_cuda_norms"),
                        ozg_cuda_norms_blocks(a, share) + ozg_cuda_norms_blocks(b, share),
                        OZG_CUDA_SCALE_THREADS, 0, &args);
}

/* Lines [first, first + count), as an operand of their own. */
static ozg_cuda_lines lines_from(const ozg_cuda_lines *all, int64_t first, int64_t count)
{
    const int64_t size = ozg_type_size(all->view.type);
    ozg_cuda_lines l = *all;

    l.view.x = (const void *)((uintptr_t)all->view.x +
                              (uintptr_t)(count ? first * all->view.line_stride * size : 0));
    l.count = count;
    l.most += first;
    l.sum += first;
    l.squares += first;
    l.top += first;
    l.rsum += first;
    l.rsquares += first;
    l.rtop += first;
    l.ceiling = l.ceiling ? l.ceiling + first : NULL;
    l.special += first;
    l.e += first;
    l.d += first;
    l.x1 += first;
    l.x2 += first;
    l.xmax += first;
    l.r1 += first;
    l.r2 += first;
    l.rmax += first;
    l.places = l.places ? l.places + first * l.words : NULL;
    l.index = l.index ? l.index + first : NULL;
    return l;
}

void ozg_cuda_job_scale(ozg_cuda_job *job)
{
    const ozg_cuda_lines no_a = lines_from(&job->a, 0, 0), no_b = lines_from(&job->b, 0, 0);

    scale(job, job->operand[0] ? &no_a : &job->a, job->operand[1] ? &no_b : &job->b);
    ozg_cuda_job_mark(job, OZG_CUDA_SCALE);
}

void ozg_cuda_job_scale_lines(ozg_cuda_job *job, int side, int64_t first, int64_t count)
{
    const ozg_cuda_lines a = lines_from(&job->a, side ? 0 : first, side ? 0 : count),
                         b = lines_from(&job->b, side ? first : 0, side ? count : 0);

    scale(job, &a, &b);
    ozg_cuda_job_mark(job, OZG_CUDA_SCALE);
}

void ozg_cuda_job_scale_rows(ozg_cuda_job *job)
{
    ozg_cuda_job_scale_lines(job, 0, 0, job->a.count);
}

void ozg_cuda_job_scale_columns(ozg_cuda_job *job, int64_t j0, int64_t columns)
{
    ozg_cuda_job_scale_lines(job, 1, j0, columns);
}

/* As many blocks for each product as are resident at once: 1 where there are more products than that. */
static void launch_choose(ozg_cuda_job *job, const ozg_cuda_choose_args *args)
{
    const char *kernel = OZG_CUDA_KERNEL(job, "ozg_cuda_choose");
    const int products = job->products ? job->products : 1;
    int blocks = 1;

    if (!job->status)
        job->status = ozg_cuda_resident(job->ctx, kernel, OZG_CUDA_CHOOSE_THREADS, 0, &blocks);
    if (blocks > OZG_CUDA_CHOOSE_BLOCKS * job->ctx->cuda->multiprocessors)
        blocks = OZG_CUDA_CHOOSE_BLOCKS * job->ctx->cuda->multiprocessors;
    blocks = blocks > products ? blocks / products : 1;
    if (!job->status)
        job->status = ozg_cuda_launch_batch(job->ctx, kernel, blocks, products, OZG_CUDA_CHOOSE_THREADS, 0,
                                            blocks > 1, args);
}

void ozg_cuda_job_choose_in(ozg_cuda_job *job, void *memory, size_t bytes)
{
    const ozg_plan *plan = &job->plan;
    ozg_cuda_choose_args args;

    memset(&args, 0, sizeof args);
    args.state = job->state;
    args.request = job->request;
    args.a = job->a;
    args.b = job->b;
    args.fixed = plan->shape.acc.value;
    args.apart = ozg_plan_apart(plan);
    args.shifts = !args.fixed && !plan->prepared_a && !plan->prepared_b;
    args.rate = RATE;
    ozg_cuda_choose_limits(&args.limits, job->request.length);
    args.memory = memory;
    args.bytes = bytes;
    launch_choose(job, &args);
    ozg_cuda_job_mark(job, OZG_CUDA_SCALE);
}

/* Of two prepared operands everything is known, but not how many entries will be repaired. */
void ozg_cuda_job_choose(ozg_cuda_job *job)
{
    const int known = job->operand[0] && job->operand[1] && job->ctx->repair_limit == UINT64_MAX;

    if (ozg_by_data(job->plan.shape.acc) && !known)
        ozg_cuda_job_choose_in(job, job->base + job->places.choose, job->places.choose_bytes);
}

/* ---- after the tiles ---------------------------------------------------------------------------- */

/* A kernel on rows [i0, i0 + rows) of columns [j0, j0 + columns) of C. */
static void on_block(ozg_cuda_job *job, const char *kernel, int64_t i0, int64_t rows, int64_t j0,
                     int64_t columns)
{
    const ozg_shape *s = &job->plan.shape;
    ozg_cuda_c_args args;

    memset(&args, 0, sizeof args);
    args.state = job->state;
    args.request = job->request;
    args.request.m = rows;
    args.request.n = columns;
    args.a = lines_from(&job->a, i0, rows);
    args.b = lines_from(&job->b, j0, columns);
    args.a.index = args.b.index = NULL; /* stored lines */
    args.scalars = job->scalars;
    args.c = (void *)((uintptr_t)job->c + (uintptr_t)((i0 + j0 * job->ldc) * ozg_type_size(s->type)));
    args.ldc = job->ldc;
    ozg_cuda_job_launch(job, kernel, blocks_for(job, rows * columns, OZG_CUDA_C_THREADS), OZG_CUDA_C_THREADS,
                        0, &args);
    ozg_cuda_job_mark(job, OZG_CUDA_RECONSTRUCT);
}

void ozg_cuda_job_special(ozg_cuda_job *job, int64_t j0, int64_t columns)
{
    on_block(job, OZG_CUDA_KERNEL(job, "ozg_cuda_special"), 0, job->request.m, j0, columns);
}

void ozg_cuda_job_largest(ozg_cuda_job *job)
{
    on_block(job, OZG_CUDA_KERNEL(job, "ozg_cuda_largest"), 0, job->request.m, 0, job->request.n);
}

void ozg_cuda_job_finish_tile(ozg_cuda_job *job, const ozg_cuda_tile *t)
{
    on_block(job, "ozg_cuda_special", t->i0, t->rows, t->j0, t->columns);
    if (job->request.reported)
        on_block(job, "ozg_cuda_largest", t->i0, t->rows, t->j0, t->columns);
}

/* ---- prepared operands -------------------------------------------------------------------------- */

void ozg_cuda_job_open_operand(ozg_cuda_job *job, const ozg_operand *op)
{
    const ozg_cuda_operand *own = op->cuda;

    memset(job, 0, sizeof *job);
    job->ctx = op->ctx;
    job->plan.ctx = op->ctx;
    job->plan.shape = (ozg_shape){op->type, 'N', 'N', op->count, op->count, op->k, op->acc};
    job->plan.prepared_a = job->plan.prepared_b = 1; /* no parts, no shifts */
    job->plan.nmod = op->nmod;
    job->plan.width = op->width;
    job->base = (unsigned char *)own->lines.e;
    job->places.zero_bytes =
        (size_t)((unsigned char *)own->lines.most - job->base) + ozg_cuda_sum_bytes(op->count, 0);
    job->chunks[0] = job->chunks[1] = own->chunks;
    job->request = request_of(&job->plan, 1);
    job->state = own->state;
    job->a = job->b = own->lines;
    job->part[0] = (ozg_part){0, op->count, 0, op->count};
}

/* ---- C := RN(beta C) ---------------------------------------------------------------------------- */

void ozg_cuda_job_open_scaled(ozg_cuda_job *job, ozg_context *ctx, const ozg_shape *shape,
                              const ozg_data *data, void *work)
{
    memset(job, 0, sizeof *job);
    job->ctx = ctx;
    job->plan.ctx = ctx;
    job->plan.shape = *shape;
    job->base = work;
    job->request = request_of(&job->plan, 0);
    job->state = work;
    job->a.view.type = job->b.view.type = shape->type;
    job->a.count = shape->m;
    job->b.count = shape->n;
    set_scalars(&job->scalars, shape, data);
    job->c = data->c;
    job->ldc = data->ldc;
    ozg_cuda_job_begin(job);
}

void ozg_cuda_job_scale_c(ozg_cuda_job *job)
{
    job->touched |= !job->status;
    on_block(job, "ozg_cuda_scale_c", 0, job->request.m, 0, job->request.n);
}
