/*
 * record.c - copies of the state and of the lines, and reports from them by the functions of report.h.
 *
 * The record is one piece of page-locked memory: the state, another one aside, then what begins at
 * line[0] of the workspace, then the order of the lines (index).
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "cuda/record.h"
#include "cuda/run.h"
#include "report.h"

#define LINES_AT 1024 /* of the record */
#define ASIDE_AT 512  /* a state that is no part of a report */

_Static_assert(sizeof(ozg_cuda_state) <= ASIDE_AT && ASIDE_AT + sizeof(ozg_cuda_state) <= LINES_AT,
               "the record has no room for two states");

void ozg_cuda_close_run(ozg_context *ctx)
{
    struct ozg_cuda_run_state *run = ctx->cuda->run;

    if (run && run->up)
        ctx->cuda->api->stream_destroy(run->up);
    if (run && run->down)
        ctx->cuda->api->stream_destroy(run->down);
    free(run);
    ctx->cuda->run = NULL;
}

/* The lines are needed where the bound comes from them: fixed accuracies, and predictions of native. */
static size_t line_bytes(const ozg_cuda_places *p)
{
    return ozg_round_up(p->line_end - p->line[0], 64);
}

static ozg_status open_record(ozg_context *ctx, size_t bytes)
{
    ozg_status status = OZG_E_NOMEM;

    if (!ctx->cuda->run)
        ctx->cuda->run = calloc(1, sizeof *ctx->cuda->run);
    if (!ctx->cuda->run)
        return ozg_fail(ctx, OZG_E_NOMEM, "no memory for a report");
    return ozg_cuda_record(ctx, bytes, &status) ? OZG_OK : status;
}

size_t ozg_cuda_record_bytes(const ozg_plan *plan)
{
    ozg_cuda_places p;

    ozg_cuda_place(plan, &p);
    return LINES_AT + line_bytes(&p) + 8 * (size_t)(ozg_plan_apart(plan) ? plan->shape.m + plan->shape.n : 0);
}

ozg_status ozg_cuda_record_open(ozg_context *ctx, const ozg_plan *plan)
{
    return open_record(ctx, plan ? ozg_cuda_record_bytes(plan) : LINES_AT);
}

static unsigned char *record_of(const ozg_context *ctx)
{
    return ctx->cuda->record.base;
}

static void fetch(ozg_cuda_job *job, size_t at, const void *device, size_t bytes)
{
    if (!job->status && bytes)
        job->status = ozg_cuda_fetch(job->ctx, record_of(job->ctx) + at, device, bytes);
}

/* Those of a prepared operand are its own. */
static void fetch_lines(ozg_cuda_job *job)
{
    const ozg_cuda_places *p = &job->places;

    fetch(job, LINES_AT, job->base + p->line[0], p->line_end - p->line[0]);
    for (int side = 0; side < 2; side++)
        if (job->operand[side]) {
            const ozg_cuda_lines *l = &job->operand[side]->lines;

            fetch(job, LINES_AT + p->line[side] - p->line[0], l->e, ozg_cuda_line_bytes(l->count));
            fetch(job, LINES_AT + p->sums[side] - p->line[0], l->most, ozg_cuda_sum_bytes(l->count, 0));
        }
}

/* ---- lines in host memory ----------------------------------------------------------------------- */

/* Norms of elements as factors: what choose does on the device where the data choose. */
static void set_norm_factors(const ozg_cuda_lines *l, uint64_t length)
{
    const int bits = ozg_norm_bits(length), c = ozg_bound_unit(length);

    for (int64_t i = 0; i < l->count; i++) {
        const ozg_norms norms = {l->sum[i], l->squares[i], l->top[i]};

        ozg_norms_factors(&norms, bits, c, &l->x1[i], &l->x2[i], &l->xmax[i]);
    }
}

/* The lines of a side in the record. places: those of the workspace, which would begin at base. */
static ozg_lines recorded_lines(const ozg_plan *plan, const ozg_cuda_places *places, unsigned char *base,
                                int side)
{
    const ozg_view view = {NULL, 1, 1, plan->shape.type, 0, NULL};
    const ozg_cuda_lines d = ozg_cuda_lines_at(plan, places, base, side, &view);
    ozg_lines l;

    memset(&l, 0, sizeof l);
    l.view = view;
    l.count = d.count;
    l.k = d.k;
    l.e = d.e;
    l.d = d.d;
    l.x1 = d.x1;
    l.x2 = d.x2;
    l.xmax = d.xmax;
    l.r1 = d.r1;
    l.r2 = d.r2;
    l.rmax = d.rmax;
    if (!ozg_by_data(plan->shape.acc))
        set_norm_factors(&d, ozg_dot_length(plan->shape.type, plan->shape.k));
    return l;
}

/* ---- reports ------------------------------------------------------------------------------------ */

/* The plan of a part, as the data have it. Errors: OZG_E_NOMEM. */
static ozg_status plan_of_part(ozg_plan *part, const ozg_plan *plan, const ozg_cuda_state *state, int q)
{
    *part = *plan;
    part->nmod = state->nmod[q];
    part->width = state->width[q] > 1 ? state->width[q] : 1; /* as where no line has a width: driver.c */
    part->rows = state->part[q].rows;
    part->columns = state->part[q].columns;
    if (ozg_cuda_rns(&part->rns, plan->shape.type, part->nmod))
        return ozg_fail(plan->ctx, OZG_E_NOMEM, "no memory for the tables of %d moduli", part->nmod);
    return OZG_OK;
}

/* Times of the stages. */
static void set_times(ozg_report *r, ozg_context *ctx, const ozg_cuda_clock *clock)
{
    double spent[OZG_CUDA_STAGES] = {0}, sum = 0, scale;

    for (int q = 1; q < clock->marks; q++) {
        const double s = ozg_cuda_seconds(ctx, OZG_CUDA_TIMES + q - 1, OZG_CUDA_TIMES + q);

        spent[clock->stage[q]] += s;
        sum += s;
    }
    r->seconds_total = clock->marks > 1 ? ozg_cuda_seconds(ctx, OZG_CUDA_TIMES, OZG_CUDA_END) : 0;
    scale = sum > 0 ? r->seconds_total / sum : 0; /* more than 1 where there were not marks enough */
    r->seconds_scale = scale * spent[OZG_CUDA_SCALE];
    r->seconds_split = scale * spent[OZG_CUDA_SPLIT];
    r->seconds_product = scale * spent[OZG_CUDA_PRODUCT];
    r->seconds_reconstruct = scale * spent[OZG_CUDA_RECONSTRUCT];
    r->seconds_repair = scale * spent[OZG_CUDA_REPAIR];
}

/* state, and where the workspace would begin, if its lines are where the record has them. */
static ozg_status fill_product(ozg_context *ctx, const struct ozg_cuda_run_state *run,
                               const ozg_cuda_state *state, unsigned char *base, ozg_report *r)
{
    const ozg_findings found = {state->tested, state->repaired, state->largest, state->largest_entry};
    const int fixed = !ozg_by_data(run->plan.shape.acc);
    ozg_lines a, b;
    double products = 0;
    ozg_plan part;
    ozg_status status = OZG_OK;

    for (int q = 0; !status && q < state->parts; q++) {
        status = plan_of_part(&part, &run->plan, state, q);
        if (!status)
            ozg_report_part(r, &part, !state->inexact, &products);
    }
    if (status)
        return status;
    r->special_rows = state->special_rows;
    r->special_cols = state->special_columns;
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    if (fixed) {
        a = recorded_lines(&run->plan, &run->places, base, 0);
        b = recorded_lines(&run->plan, &run->places, base, 1);
    }
    ozg_report_product(r, &run->plan, &run->data, &a, &b, &found);
    set_times(r, ctx, &run->clock);
    return OZG_OK;
}

/* What is enqueued belongs to this report from now on. */
static struct ozg_cuda_run_state *expect(ozg_cuda_job *job, const ozg_data *data, ozg_report *report)
{
    struct ozg_cuda_run_state *run = job->ctx->cuda->run;

    run->plan = job->plan;
    run->places = job->places;
    run->data = *data;
    run->clock = job->clock;
    report->reserved[0] = ++run->serial;
    return run;
}

void ozg_cuda_record_product(ozg_cuda_job *job, const ozg_data *data, ozg_report *report)
{
    if (!ozg_by_data(job->plan.shape.acc))
        fetch_lines(job);
    fetch(job, 0, job->state, sizeof *job->state);
    if (!job->status && job->clock.marks)
        job->status = ozg_cuda_mark(job->ctx, OZG_CUDA_END);
    if (!job->status)
        expect(job, data, report)->scaled = 0;
}

void ozg_cuda_record_scaled(ozg_cuda_job *job, const ozg_data *data, ozg_report *report, const char *reason)
{
    struct ozg_cuda_run_state *run;

    fetch(job, 0, job->state, sizeof *job->state);
    if (job->status)
        return;
    run = expect(job, data, report);
    run->scaled = 1;
    run->rounds = ozg_report_rounds(&job->plan.shape, data);
    run->reason = reason;
}

ozg_status ozg_cuda_record_finish(ozg_context *ctx, ozg_report *report)
{
    const struct ozg_cuda_run_state *run = ctx->cuda->run;
    const ozg_cuda_state *state = (const ozg_cuda_state *)(void *)record_of(ctx);
    ozg_status status = ozg_cuda_synchronize(ctx);

    if (status || !report || !report->reserved[0])
        return status; /* nothing to be filled, or filled already */
    if (!run || report->reserved[0] != run->serial)
        return ozg_fail(
            ctx, OZG_E_ARG,
            "argument 2 (report): it belongs to a call before the last one with a report; wait after each");
    if (run->scaled) {
        ozg_report_scaled(report, ctx, &run->plan.shape, run->rounds, state->largest_entry, run->reason);
    } else {
        ozg_report_nothing(report, ctx, "");
        status = fill_product(ctx, run, state, record_of(ctx) + LINES_AT - run->places.line[0], report);
    }
    report->reserved[0] = run->serial; /* a graph may be launched again, and the report asked for again */
    return status;
}

/* ---- batches ------------------------------------------------------------------------------------ */

/* Of a product the record has the beginning of what is known of it: the state, and the lines if needed. */
static size_t batch_record_bytes(const ozg_plan *plan, const ozg_cuda_places *p)
{
    return ozg_round_up(ozg_by_data(plan->shape.acc) ? sizeof(ozg_cuda_state) : p->line_end, 64);
}

ozg_status ozg_cuda_record_open_batch(ozg_context *ctx, const ozg_plan *plan, int64_t products)
{
    ozg_cuda_places p;
    ozg_status status;

    ozg_cuda_place(plan, &p);
    status = open_record(ctx, (size_t)products * batch_record_bytes(plan, &p));
    if (!status)
        ctx->cuda->run->serial++; /* the record is no longer that of an earlier report */
    return status;
}

ozg_status ozg_cuda_record_batch(ozg_cuda_job *job, const ozg_data *data, ozg_report *report, int first)
{
    const size_t each = batch_record_bytes(&job->plan, &job->places);
    struct ozg_cuda_run_state run;
    unsigned char *at = record_of(job->ctx);

    if (!job->status)
        job->status = ozg_cuda_mark(job->ctx, OZG_CUDA_END);
    if (!job->status)
        job->status = ozg_cuda_download(job->ctx, at, each, job->base, (size_t)job->request.batch.known, each,
                                        job->products);
    memset(&run, 0, sizeof run);
    run.plan = job->plan;
    run.places = job->places;
    run.data = *data;
    run.clock = job->clock;
    for (int q = 0; !job->status && q < job->products; q++, at += each) {
        ozg_report one;

        ozg_report_nothing(&one, job->ctx, "");
        job->status = fill_product(job->ctx, &run, (const ozg_cuda_state *)(void *)at, at, &one);
        if (!job->status)
            ozg_report_add(report, &one, first && q == 0);
        run.clock.marks = 0; /* the times are those of all */
    }
    return job->status;
}

/* ---- decisions and predictions ------------------------------------------------------------------ */

static ozg_status fetch_state(ozg_cuda_job *job, size_t at, ozg_cuda_state *state)
{
    fetch(job, at, job->state, sizeof *job->state);
    if (!job->status)
        job->status = ozg_cuda_synchronize(job->ctx);
    if (!job->status)
        memcpy(state, record_of(job->ctx) + at, sizeof *state);
    return job->status;
}

ozg_status ozg_cuda_record_state(ozg_cuda_job *job, ozg_cuda_state *state)
{
    return fetch_state(job, 0, state);
}

ozg_status ozg_cuda_record_aside(ozg_cuda_job *job, ozg_cuda_state *state)
{
    return fetch_state(job, ASIDE_AT, state);
}

/* out[i] = in[index[i]] for the eight arrays of lines from e on; out: 8 count numbers. */
static void gather(ozg_lines *l, const int64_t *index, int64_t count, uint32_t *out)
{
    uint32_t **const array[8] = {(uint32_t **)(void *)&l->e,
                                 (uint32_t **)(void *)&l->d,
                                 &l->x1,
                                 &l->x2,
                                 &l->xmax,
                                 &l->r1,
                                 &l->r2,
                                 &l->rmax};

    for (int q = 0; q < 8; q++) {
        const uint32_t *in = *array[q];

        for (int64_t i = 0; i < count; i++)
            out[q * count + i] = in[index[i]];
        *array[q] = out + q * count;
    }
    l->count = count;
}

static void fetch_index(ozg_cuda_job *job)
{
    const size_t a = 8 * (size_t)job->a.count, at = LINES_AT + line_bytes(&job->places);

    fetch(job, at, job->a.index, a);
    fetch(job, at + a, job->b.index, 8 * (size_t)job->b.count);
}

ozg_status ozg_cuda_record_predict(ozg_cuda_job *job, const ozg_data *data, int q, ozg_report *report,
                                   double *products)
{
    const int64_t *index =
        (const int64_t *)(void *)(record_of(job->ctx) + LINES_AT + line_bytes(&job->places));
    const ozg_part *range = &job->part[q];
    uint32_t *memory = NULL;
    ozg_cuda_state state;
    ozg_lines a, b;
    ozg_plan part;

    fetch_lines(job);
    if (job->parts > 1)
        fetch_index(job);
    if (ozg_cuda_record_state(job, &state))
        return job->status;
    a = recorded_lines(&job->plan, &job->places, record_of(job->ctx) + LINES_AT - job->places.line[0], 0);
    b = recorded_lines(&job->plan, &job->places, record_of(job->ctx) + LINES_AT - job->places.line[0], 1);
    if (job->parts > 1) {
        memory = malloc(32 * (size_t)(range->rows + range->columns));
        if (!memory)
            return ozg_fail(job->ctx, OZG_E_NOMEM, "no memory for the report of a part");
        gather(&a, index + range->i0, range->rows, memory);
        gather(&b, index + job->a.count + range->j0, range->columns, memory + 8 * range->rows);
    }
    job->status = plan_of_part(&part, &job->plan, &state, q);
    if (!job->status) {
        ozg_report_part(report, &part, ozg_report_exact(&a) && ozg_report_exact(&b), products);
        ozg_report_predicted(report, &part, data, &a, &b);
    }
    free(memory);
    return job->status;
}
