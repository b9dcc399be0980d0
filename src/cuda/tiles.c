/*
 * tiles.c - enqueues the kernels of all tiles of a product.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cuda/fixup.h"
#include "cuda/pipeline.h"
#include "cuda/product.h"
#include "cuda/product_maps.h"
#include "cuda/reconstruct.h"
#include "cuda/split.h"
#include "cuda/table.h"

/* ---- one tile ----------------------------------------------------------------------------------- */

/* The tiles of a part: what is in the planes, and which lines are new. */
typedef struct walk {
    ozg_cuda_job *job;
    ozg_cuda_tile tile;
    const ozg_cuda_visitor *visitor; /* or NULL */
    int ceilings;                    /* ceilings instead of residues */
    int new_a, new_b;                /* seen for the first time in this part */
    int split_a, split_b;
} walk;

static const struct ozg_cuda_table *tables_of(const ozg_cuda_job *job)
{
    return ozg_cuda_tables_of(job->ctx->cuda->tables, job->request.complex_);
}

static void split(const walk *w)
{
    ozg_cuda_job *job = w->job;
    const ozg_cuda_tile *t = &w->tile;
    const int multiprocessors = ozg_cuda_job_share(job);
    ozg_cuda_split_args args;
    int64_t blocks = 0;

    memset(&args, 0, sizeof args);
    args.state = job->state;
    args.request = job->request;
    args.tile = *t;
    args.tables = tables_of(job);
    args.ceilings = w->ceilings;
    args.fp64 = ozg_cuda_fast_fp64(job->ctx);
    args.side[0].lines = job->a;
    args.side[0].planes = job->planes_a;
    args.side[0].measure = w->new_a && !w->ceilings;
    args.side[1].lines = job->b;
    args.side[1].planes = job->planes_b;
    args.side[1].measure = w->new_b && !w->ceilings;
    if (w->split_a)
        blocks += ozg_cuda_split_blocks(&job->a, t->rows, t->count, multiprocessors);
    else
        args.side[0].lines.view.x = NULL;
    if (w->split_b)
        blocks += ozg_cuda_split_blocks(&job->b, t->columns, t->count, multiprocessors);
    else
        args.side[1].lines.view.x = NULL;
    if (w->split_a || w->split_b)
        ozg_cuda_job_launch(job, OZG_CUDA_KERNEL(job, "ozg_cuda_split"),
                            (int)ozg_min64(blocks, (int64_t)OZG_CUDA_SPLIT_RESIDENT * multiprocessors),
                            OZG_CUDA_SPLIT_THREADS, ozg_cuda_split_shared(), &args);
    ozg_cuda_job_mark(job, OZG_CUDA_SPLIT);
}

/* The factors of lines that were measured. */
static int wants_factors(const walk *w)
{
    return w->job->request.measured && !w->ceilings && (w->new_a || w->new_b);
}

static void set_factors(const walk *w, ozg_cuda_factors_args *args)
{
    const ozg_cuda_job *job = w->job;

    memset(args, 0, sizeof *args);
    args->state = job->state;
    args->request = job->request;
    args->tile = w->tile;
    args->a = job->a;
    args->b = job->b;
    args->rows = w->new_a;
    args->columns = w->new_b;
}

/* The kernel for factors, where no product makes them: once all elements of the lines were measured. */
static void factors(const walk *w)
{
    ozg_cuda_job *job = w->job;
    const ozg_cuda_tile *t = &w->tile;
    ozg_cuda_factors_args args;

    if (!wants_factors(w))
        return;
    set_factors(w, &args);
    ozg_cuda_job_launch(job, OZG_CUDA_KERNEL(job, "ozg_cuda_factors"),
                        (int)(ozg_cuda_tiles(t->rows, 256) + ozg_cuda_tiles(t->columns, 256)), 256, 0, &args);
    ozg_cuda_job_mark(job, OZG_CUDA_SPLIT);
}

/* Planes of sums of a tile, at most. */
static int sums(const ozg_cuda_job *job, int part, int ceilings)
{
    const ozg_shape *s = &job->plan.shape;

    if (ceilings)
        return 1 + ozg_type_complex(s->type);
    return ozg_cuda_planes_of(s->type, s->acc, job->settled ? job->nmod[part] : OZG_NMOD_MAX);
}

/* Planes of a whole operand, and their map, from the first line of the tile and the chunk on. */
static void enter_operand(const walk *w, int side, int64_t line, ozg_cuda_planes *planes, ozg_cuda_map *map)
{
    ozg_cuda_job *job = w->job;
    const struct ozg_cuda *cuda = job->ctx->cuda;

    if (!job->operand[side] || (line == 0 && w->tile.p0 == 0))
        return;
    if (!job->status && cuda->wgmma)
        job->status = ozg_cuda_check(
            job->ctx,
            ozg_cuda_product_part(cuda->api, side, planes, job->places.planes, line, w->tile.p0, map),
            "describe the planes of an operand");
    planes->base += line * planes->pitch + w->tile.p0;
}

static void product(const walk *w)
{
    ozg_cuda_job *job = w->job;
    const struct ozg_cuda *cuda = job->ctx->cuda;
    const ozg_cuda_tile *t = &w->tile;
    ozg_cuda_product_args args;
    int blocks;

    memset(&args, 0, sizeof args);
    args.map_a = job->map_a;
    args.map_b = job->map_b;
    args.state = job->state;
    args.request = job->request;
    args.tile = *t;
    args.a = job->planes_a;
    args.b = job->planes_b;
    args.out = job->sums;
    args.tables = tables_of(job);
    args.ceilings = w->ceilings;
    if (!job->products && wants_factors(w) && t->p0 + t->count == job->plan.shape.k)
        set_factors(w, &args.factors);
    enter_operand(w, 0, t->i0, &args.a, &args.map_a);
    enter_operand(w, 1, t->j0, &args.b, &args.map_b);
    blocks = ozg_cuda_product_blocks(cuda->wgmma, t->rows, t->columns, sums(job, t->part, w->ceilings),
                                     ozg_cuda_job_share(job));
    if (cuda->wgmma)
        ozg_cuda_job_launch(job, OZG_CUDA_KERNEL(job, "ozg_cuda_product_wgmma"), blocks,
                            OZG_CUDA_WGMMA_THREADS, OZG_CUDA_WGMMA_SHARED, &args);
    else
        ozg_cuda_job_launch(job, OZG_CUDA_KERNEL(job, "ozg_cuda_product_mma"), blocks, OZG_CUDA_MMA_THREADS,
                            OZG_CUDA_MMA_SHARED, &args);
    ozg_cuda_job_mark(job, OZG_CUDA_PRODUCT);
}

/* Words of c^ of the part: 0 if nobody here knows. */
static int words(const ozg_cuda_job *job, int part)
{
    const ozg_rns *rns;

    return !job->settled || ozg_rns_get(&rns, 1, job->nmod[part]) ? 0 : rns->nword;
}

static void reconstruct(const walk *w)
{
    ozg_cuda_job *job = w->job;
    const ozg_cuda_tile *t = &w->tile;
    const int n = words(job, t->part), multiprocessors = ozg_cuda_job_share(job);
    ozg_cuda_reconstruct_args args;

    memset(&args, 0, sizeof args);
    args.state = job->state;
    args.request = job->request;
    args.tile = *t;
    args.a = job->a;
    args.b = job->b;
    args.in = job->sums;
    args.tables = tables_of(job);
    args.scalars = job->scalars;
    args.c = job->c;
    args.ldc = job->ldc;
    args.list = job->list;
    args.factor = ozg_native_factor(job->request.k);
    args.fp64 = ozg_cuda_fast_fp64(job->ctx);
    job->touched |= !job->status;
    args.all = n == 0 && t->part > 0 && ozg_cuda_reconstruct_may_all(&job->scalars);
    for (int large = args.all; large < 2; large++)
        if (n == 0 || large == (n > 2)) /* the other one returns at once */
            ozg_cuda_job_launch(
                job,
                job->products ? ozg_cuda_reconstruct_batch_name(&job->scalars, large)
                              : ozg_cuda_reconstruct_name(&job->scalars, large),
                ozg_cuda_reconstruct_blocks(&job->scalars, large, t->rows, t->columns, multiprocessors),
                OZG_CUDA_RECONSTRUCT_THREADS, 0, &args);
    ozg_cuda_job_mark(job, OZG_CUDA_RECONSTRUCT);
    if (!ozg_by_data(job->plan.shape.acc))
        return;
    ozg_cuda_job_launch(job, OZG_CUDA_KERNEL(job, "ozg_cuda_repair"), ozg_cuda_repair_blocks(multiprocessors),
                        OZG_CUDA_REPAIR_THREADS, 0, &args);
    ozg_cuda_job_mark(job, OZG_CUDA_REPAIR);
}

static void raise_ceilings(const walk *w)
{
    ozg_cuda_job *job = w->job;
    ozg_cuda_raise_args args;

    memset(&args, 0, sizeof args);
    args.request = job->request;
    args.tile = w->tile;
    args.a = job->a;
    args.b = job->b;
    args.in = job->sums;
    ozg_cuda_job_launch(job, OZG_CUDA_KERNEL(job, "ozg_cuda_raise"),
                        ozg_cuda_raise_blocks(w->tile.rows, w->tile.columns, ozg_cuda_job_share(job)),
                        OZG_CUDA_RAISE_THREADS, 0, &args);
    ozg_cuda_job_mark(job, OZG_CUDA_SCALE);
}

/* All chunks of k of a tile. */
static void multiply(walk *w)
{
    const ozg_plan *plan = &w->job->plan;
    ozg_cuda_tile *t = &w->tile;

    for (t->p0 = 0; t->p0 < plan->shape.k; t->p0 += plan->kt) {
        t->count = ozg_min64(plan->kt, plan->shape.k - t->p0);
        t->first = t->p0 == 0;
        split(w);
        product(w);
    }
}

/* ---- all tiles ---------------------------------------------------------------------------------- */

/*
 * A tile at (i0, j0) of a part may have entries. The parts but the first have m / 4 rows at most, or n / 4
 * columns at most (rule 5 of apart.h), and nobody here knows which.
 */
static int may_exist(const ozg_cuda_job *job, int part, int64_t i0, int64_t j0)
{
    return job->settled || part == 0 || i0 < job->request.m / OZG_FAR_LINES ||
           j0 < job->request.n / OZG_FAR_LINES;
}

/*
 * Calls act() for all tiles of a part that may exist, rows outside: planes of A stay while columns go by. If
 * (i0, j0) may exist, then so may (i0, 0) and (0, j0): lines are new in the first row or column of tiles.
 */
static void for_tiles(walk *w, int part, void (*act)(walk *w))
{
    const ozg_cuda_job *job = w->job;
    const ozg_plan *plan = &job->plan;
    const ozg_part *p = &job->part[job->settled ? part : 0]; /* or the whole */
    const int chunked = plan->kt < plan->shape.k;
    ozg_cuda_tile *t = &w->tile;

    t->part = part;
    for (t->i0 = 0; t->i0 < p->rows; t->i0 += plan->mt)
        for (t->j0 = 0; t->j0 < p->columns; t->j0 += plan->nt) {
            if (!may_exist(job, part, t->i0, t->j0))
                continue;
            t->rows = ozg_min64(plan->mt, p->rows - t->i0);
            t->columns = ozg_min64(plan->nt, p->columns - t->j0);
            w->new_a = t->j0 == 0 && !job->operand[0];
            w->new_b = t->i0 == 0 && !job->operand[1];
            w->split_a = w->new_a || (chunked && !job->operand[0]);
            w->split_b = w->new_b || ((chunked || plan->nt < p->columns) && !job->operand[1]);
            act(w);
        }
}

static void open_walk(walk *w, ozg_cuda_job *job, const ozg_cuda_visitor *visitor, int ceilings)
{
    memset(w, 0, sizeof *w);
    w->job = job;
    w->visitor = visitor;
    w->ceilings = ceilings;
}

static void raise_tile(walk *w)
{
    multiply(w);
    raise_ceilings(w);
}

void ozg_cuda_job_ceilings(ozg_cuda_job *job)
{
    walk w;

    open_walk(&w, job, NULL, 1);
    if (job->plan.shape.acc.kind == OZG_BY_ACCURATE)
        for_tiles(&w, 0, raise_tile);
}

static void finish_tile(walk *w)
{
    const ozg_cuda_visitor *v = w->visitor;

    if (v && v->before)
        v->before(v->arg, &w->tile);
    multiply(w);
    if (w->job->products)
        factors(w);
    reconstruct(w);
    if (v && v->after)
        v->after(v->arg, &w->tile);
}

void ozg_cuda_job_tiles(ozg_cuda_job *job, const ozg_cuda_visitor *visitor)
{
    walk w;

    open_walk(&w, job, visitor, 0);
    for (int part = 0; part < job->parts; part++)
        for_tiles(&w, part, finish_tile);
}

/* The lines of a tile that are new, chunk by chunk. */
static void measure_tile(walk *w)
{
    const ozg_plan *plan = &w->job->plan;
    ozg_cuda_tile *t = &w->tile;

    if (w->visitor)
        w->visitor->before(w->visitor->arg, t);
    w->split_a = w->new_a;
    w->split_b = w->new_b;
    for (t->p0 = 0; t->p0 < plan->shape.k; t->p0 += plan->kt) {
        t->count = ozg_min64(plan->kt, plan->shape.k - t->p0);
        t->first = t->p0 == 0;
        split(w);
    }
    factors(w);
}

void ozg_cuda_job_measure(ozg_cuda_job *job, int part, const ozg_cuda_visitor *visitor)
{
    walk w;

    open_walk(&w, job, visitor, 0);
    for_tiles(&w, part, measure_tile);
}

void ozg_cuda_job_split(ozg_cuda_job *job, int side)
{
    walk w;

    open_walk(&w, job, NULL, 0);
    w.new_a = w.split_a = side == 0;
    w.new_b = w.split_b = side == 1;
    w.tile.rows = w.tile.columns = job->a.count;
    w.tile.count = job->plan.shape.k;
    w.tile.first = 1;
    split(&w);
    factors(&w);
}
