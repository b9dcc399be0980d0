/*
 * plan.c - how much accuracy costs in moduli, and how a product is cut so that its workspace stays below the
 * limit.
 *
 * One tile needs, for n moduli of the engine (complex: planes Re, Im, Re + Im of the operands, Re, Im of C):
 *     planes of A  (1 or 3) n mt kt,   planes of B  (1 or 3) n nt kt,   residues  (1 or 2) n mt nt   words
 * and for native accuracy one plane of floors more and their sums, 8 bytes an entry.
 * The driver keeps the planes of A while it walks through the tiles of B, so mt is large and nt small.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdlib.h>

#include "choose.h"
#include "cpu/parts.h"
#include "parallel.h"
#include "plan.h"
#include "scaling.h"

/* 32-bit sums are exact up to 131071 elements of symmetric residues, 65793 where those of A are in [0, m). */
#define K_CHUNK 65536
#define K_SMALL 4096 /* chunks are not cut below this while tiles can be */
#define N_TILE  384  /* columns of a tile: enough to use the planes of A well */

/* Where the number of moduli follows from the data, tiles are first cut for so many; single: half of them. */
#define NMOD_USUAL 18

/*
 * Winograd: its tiles are twice as wide, and it is chosen where an estimate says that at least 3 % are saved.
 * Roughly, the sums of an element take so much of the time of its split; and nanoseconds of sums for an entry
 * of C, modulus and chunk of k, and of memory traffic that is not hidden, for a product of residues: measured,
 * see doc/performance.md.
 */
#define WINOGRAD_TILE    2
#define WINOGRAD_WORTH   0.97
#define WINOGRAD_SUMS    0.5
#define WINOGRAD_ENTRY   0.1
#define WINOGRAD_TRAFFIC 0.00015

/* More lines than any memory holds, and more rows than a tile ever needs: sizes in bytes stay below 2^63. */
#define LINES_MAX    (INT64_C(1) << 48)
#define M_TILE       (INT64_C(1) << 32)
#define ELEMENTS_MAX (INT64_C(1) << 52)

ozg_status ozg_plan_accuracy(ozg_context *ctx, char type, int64_t k, ozg_accuracy acc, int *nmod, int *width)
{
    const uint64_t length = ozg_dot_length(type, k);

    if (acc.kind == OZG_BY_MODULI) {
        *nmod = acc.value;
        *width = ozg_moduli_width(acc.value, length);
        if (*width < 1)
            return ozg_fail(ctx, OZG_E_UNSUPPORTED, "%d moduli leave no bit at k = %lld; use at least %d",
                            acc.value, (long long)k, ozg_moduli_for_width(1, length));
        return OZG_OK;
    }
    if (ozg_by_data(acc)) {
        const int least = length > UINT32_MAX ? 0 : ozg_scaling_least(length);

        if (least == 0)
            return ozg_fail(ctx, OZG_E_UNSUPPORTED, "k = %lld is too large for native and rounded accuracy",
                            (long long)k);
        *nmod = acc.value;
        *width = 0;
        if (acc.value && acc.value < least)
            return ozg_fail(ctx, OZG_E_UNSUPPORTED, "%d moduli are too few for k = %lld; use at least %d",
                            acc.value, (long long)k, least);
        return OZG_OK;
    }
    if (acc.kind == OZG_BY_ACCURATE) {
        const int least = ozg_scaling_accurate_least(length);

        *nmod = acc.value;
        *width = 0;
        if (least == 0 || acc.value < least)
            return ozg_fail(ctx, OZG_E_UNSUPPORTED,
                            "%d moduli are too few for accurate scaling at k = %lld; use at least %d",
                            acc.value, (long long)k, least);
        return OZG_OK;
    }
    *width = acc.value;
    *nmod = ozg_moduli_for_width(acc.value, length);
    if (*nmod == 0)
        return ozg_fail(ctx, OZG_E_UNSUPPORTED, "a width of %d bits is too large at k = %lld; use at most %d",
                        acc.value, (long long)k, ozg_moduli_width(OZG_NMOD_MAX, length));
    return OZG_OK;
}

/* Bytes of a line: squares; e, d and six factors; special. */
#define LINE_BYTES (8 + 8 * 4 + 1)

static int64_t place_words(int64_t k, int places)
{
    return places ? (k + 63) / 64 : 0;
}

size_t ozg_lines_bytes(int64_t count, int64_t k, int places)
{
    return ozg_round_up((size_t)count * (LINE_BYTES + 8 * (size_t)place_words(k, places)), OZG_ALIGN);
}

ozg_lines ozg_lines_at(void *place, const ozg_view *view, int64_t count, int64_t k, int places)
{
    ozg_lines l;

    l.view = *view;
    l.count = count;
    l.k = k;
    l.words = place_words(k, places);
    l.squares = place;
    l.index = NULL;
    l.places = places ? l.squares + count : NULL;
    l.e = (int32_t *)(l.squares + count + count * l.words);
    l.d = l.e + count;
    l.x1 = (uint32_t *)(l.d + count);
    l.x2 = l.x1 + count;
    l.xmax = l.x2 + count;
    l.r1 = l.xmax + count;
    l.r2 = l.r1 + count;
    l.rmax = l.r2 + count;
    l.special = (uint8_t *)(l.rmax + count);
    return l;
}

int ozg_plan_planes(char type, ozg_accuracy acc, int nmod)
{
    return (nmod + (acc.kind == OZG_BY_NATIVE)) * (ozg_type_complex(type) ? 3 : 1);
}

ozg_planes ozg_planes_at(void *place, const ozg_layout *layout, int64_t lines, int64_t k)
{
    ozg_planes planes;
    size_t panels = (size_t)((lines + layout->lines - 1) / layout->lines);

    planes.base = place;
    planes.panel = ozg_round_up((size_t)layout->lines * (size_t)layout->word *
                                    ozg_round_up((size_t)k, (size_t)layout->step),
                                OZG_ALIGN);
    if (planes.panel % 4096 ==
        0) /* panels a power of two apart would compete for the same places in the caches */
        planes.panel += 1024;
    planes.plane = panels * planes.panel;
    return planes;
}

size_t ozg_planes_bytes(const ozg_layout *layout, int planes, int64_t lines, int64_t k)
{
    return ozg_planes_at(NULL, layout, lines, k).plane * (size_t)planes;
}

int ozg_plan_apart(const ozg_plan *plan)
{
    return plan->shape.acc.kind == OZG_BY_NATIVE && !plan->shape.acc.value && !plan->prepared_a &&
           !plan->prepared_b;
}

/* Halves of the plan's tile; all 0 without Winograd. */
static ozg_halves halves(const ozg_plan *plan)
{
    const ozg_halves none = {0, 0, 0};

    return plan->winograd ? ozg_halves_of(plan->kernel, plan->mt, plan->nt, plan->kt) : none;
}

/* Memory that each thread needs in the product stage. */
static size_t scratch(const ozg_plan *plan, const ozg_halves *half)
{
    const int complex_ = ozg_type_complex(plan->shape.type);
    const size_t classical = ozg_cpu_scratch_bytes(plan->kernel, complex_, plan->mt, plan->nt);
    const size_t winograd = half->rows ? ozg_winograd_scratch_bytes(plan->kernel, complex_, half) : 0;

    return ozg_round_up(winograd > classical ? winograd : classical, OZG_ALIGN);
}

/* Places in the workspace for the present tile; returns the bytes of all. */
static size_t place(ozg_plan *plan)
{
    const ozg_kernel *kernel = plan->kernel;
    const ozg_shape *s = &plan->shape;
    const int complex_ = ozg_type_complex(s->type);
    const int planes = ozg_plan_planes(s->type, s->acc, plan->rns->nmod);
    const int by_data = ozg_by_data(s->acc), native = s->acc.kind == OZG_BY_NATIVE,
              accurate = s->acc.kind == OZG_BY_ACCURATE, apart = ozg_plan_apart(plan);
    const ozg_halves half = halves(plan);
    const int sums = 4 * plan->rns->nmod * (complex_ ? 3 : 1);
    const size_t entries = (size_t)(ozg_round_up64(plan->mt, OZG_STRIP) * plan->nt);
    size_t at = 0;

    plan->lines_a = at;
    at += plan->prepared_a ? 0 : ozg_lines_bytes(s->m, s->k, by_data);
    plan->lines_b = at;
    at += plan->prepared_b ? 0 : ozg_lines_bytes(s->n, s->k, by_data);
    plan->index = at;
    at += apart ? ozg_round_up((size_t)(s->m + s->n) * sizeof(int64_t), OZG_ALIGN) : 0;
    plan->far = at;
    at += apart ? ozg_round_up((size_t)(s->m + s->n), OZG_ALIGN) : 0;
    plan->shifts = at;
    at += by_data ? ozg_round_up(4 * (size_t)s->k, OZG_ALIGN) : 0;
    plan->sample = plan->planes_a = at; /* the sample is forgotten when tiles begin */
    at += plan->prepared_a ? 0 : ozg_planes_bytes(&kernel->a, planes, plan->mt, plan->kt);
    plan->planes_b = at;
    at += plan->prepared_b ? 0 : ozg_planes_bytes(&kernel->b, planes, plan->nt, plan->kt);
    plan->sums_a = at;
    at += half.rows ? ozg_planes_bytes(&kernel->a, sums, half.rows, half.count) : 0;
    plan->sums_b = at;
    at += half.rows ? ozg_planes_bytes(&kernel->b, sums, half.columns, half.count) : 0;
    plan->residues = at;
    at += entries * (size_t)(plan->rns->nmod * plan->rns->word * (1 + complex_));
    at = ozg_round_up(at, OZG_ALIGN);
    plan->floors = at;
    at += native ? entries * sizeof(uint64_t) * (size_t)(1 + complex_) : 0;
    plan->ceilings = at = ozg_round_up(at, OZG_ALIGN);
    at += accurate ? ozg_round_up((entries + (size_t)s->m + (size_t)s->n) * sizeof(uint64_t), OZG_ALIGN) : 0;
    plan->scratch = at;
    plan->scratch_bytes = scratch(plan, &half);
    at += plan->scratch_bytes * (size_t)plan->threads;
    if (by_data && at < plan->sample + ozg_choose_bytes(s->type, s->m, s->n, s->k))
        at = plan->sample + ozg_choose_bytes(s->type, s->m, s->n, s->k);
    return at + OZG_ALIGN;
}

static double padded(int64_t x, int unit)
{
    return ceil((double)x / unit) * unit;
}

/* Rough seconds of one thread: decides only which kernel and how many threads a product is worth. */
static double estimate(const ozg_plan *plan, const ozg_kernel *kernel, const ozg_rns *rns)
{
    const ozg_shape *s = &plan->shape;
    const double m = padded(s->m, kernel->a.lines), n = padded(s->n, kernel->b.lines);
    const double k = padded(s->k, kernel->a.step);
    const double elements =
        (m + n) * k + 2 * (double)s->m * (double)s->n; /* to be split; to be reconstructed */
    const int planes = ozg_plan_planes(s->type, s->acc, rns->nmod);

    return 1e-9 * planes * (m * n * k / kernel->rate + elements * kernel->element_ns);
}

/*
 * The fastest kernel for this shape, and its residue system. A prepared operand has the layout of the
 * context's kernel. Errors: OZG_E_NOMEM.
 */
static ozg_status choose_kernel(ozg_plan *plan)
{
    const ozg_kernel *kernel;
    const ozg_rns *rns;
    ozg_status status = ozg_rns_get(&plan->rns, plan->ctx->kernel->a.word, plan->nmod);

    plan->kernel = plan->ctx->kernel;
    if (plan->ctx->kernel_is_fixed || plan->prepared_a || plan->prepared_b)
        return status;
    for (int i = 0; !status && (kernel = ozg_kernel_at(ozg_cpu_isa(), i)); i++) {
        status = ozg_rns_get(&rns, kernel->a.word, plan->nmod);
        if (!status && estimate(plan, kernel, rns) < estimate(plan, plan->kernel, plan->rns)) {
            plan->kernel = kernel;
            plan->rns = rns;
        }
    }
    return status;
}

/* Each thread gets at least some 0.2 ms of work: waking it up costs a good part of that. */
static int worthwhile_threads(const ozg_plan *plan)
{
    const int most = ozg_parallel_threads(plan->ctx->threads);
    const double worth = estimate(plan, plan->kernel, plan->rns) / 200e-6;

    return worth >= most ? most : worth < 2 ? 1 : (int)worth;
}

/* Columns of a tile: a multiple of nr, and enough for a tile of few rows to be worth waking the threads. */
static int64_t tile_columns(const ozg_plan *plan)
{
    const int64_t most = plan->winograd ? WINOGRAD_TILE * N_TILE : N_TILE;
    const int64_t wanted = plan->rows >= most ? most : most * (most / plan->rows);

    return plan->columns < wanted ? plan->columns : ozg_round_up64(wanted, plan->kernel->b.lines);
}

/* Halves x, to a multiple of `unit`. 0: it is as small as can be. */
static int halve(int64_t *x, int64_t unit)
{
    int64_t half = ozg_round_up64((*x + 1) / 2, unit);

    if (half >= *x)
        return 0;
    *x = half;
    return 1;
}

static int shrink_threads(ozg_plan *plan)
{
    if (plan->threads == 1)
        return 0;
    plan->threads /= 2;
    return 1;
}

static int shrink_tile(ozg_plan *plan)
{
    const int64_t mr = ozg_round_up64(plan->kernel->a.lines, OZG_STRIP), nr = plan->kernel->b.lines;

    if (plan->mt <= 256 && plan->nt <= 256 && plan->kt > K_SMALL && halve(&plan->kt, 64))
        return 1;
    if (plan->mt >= plan->nt)
        return halve(&plan->mt, mr) || halve(&plan->nt, nr) || halve(&plan->kt, 64);
    return halve(&plan->nt, nr) || halve(&plan->mt, mr) || halve(&plan->kt, 64);
}

/* One step towards less workspace; 0: there is none. */
static int shrink(ozg_plan *plan, size_t bytes)
{
    if (plan->scratch_bytes * (size_t)plan->threads > bytes / 2 && shrink_threads(plan))
        return 1;
    return shrink_tile(plan) || shrink_threads(plan);
}

/* The largest tile within limit bytes, from the largest that is of use. Returns its bytes: more than limit if
 * even the smallest does not fit. */
static size_t cut(ozg_plan *plan, size_t limit, int winograd)
{
    const int64_t most = winograd && plan->kernel->a.nonneg ? K_CHUNK / 2 : K_CHUNK;
    size_t bytes;

    plan->winograd = winograd;
    plan->mt = ozg_min64(plan->rows, M_TILE);
    plan->nt = tile_columns(plan);
    plan->kt = ozg_min64(plan->shape.k, most);
    do
        bytes = place(plan);
    while (bytes > limit && shrink(plan, bytes));
    return bytes;
}

/*
 * Rough nanoseconds of one thread, for one plane, of what Winograd changes: products, sums, and splitting
 * again for each row of tiles or chunk.
 */
static double estimate_tiles(const ozg_plan *plan)
{
    const ozg_kernel *kernel = plan->kernel;
    const ozg_halves half = halves(plan);
    const double m = (double)plan->rows, n = (double)plan->columns, k = (double)plan->shape.k;
    const int chunks = plan->kt < plan->shape.k;
    const double times_a = chunks ? ceil(n / (double)plan->nt) : 1,
                 times_b = chunks || plan->nt < plan->columns ? ceil(m / (double)plan->mt) : 1;
    const double elements = (m * times_a + n * times_b) * k, entries = m * n * ceil(k / (double)plan->kt);
    const double core = 4 * (double)half.rows * (double)half.columns / ((double)plan->mt * (double)plan->nt);
    const double classical = m * n * k / kernel->rate + elements * kernel->element_ns;

    if (half.rows == 0)
        return classical;
    return classical + elements * kernel->element_ns * WINOGRAD_SUMS + entries * WINOGRAD_ENTRY +
           m * n * k * core * (WINOGRAD_TRAFFIC - 0.125 / kernel->rate);
}

/* Tiles within limit bytes, by Winograd where that saves time. Returns their bytes, as cut(). */
static size_t cut_tiles(ozg_plan *plan, size_t limit)
{
    ozg_plan other = *plan;
    const size_t classical = cut(plan, limit, 0);
    const int always = plan->ctx->winograd == OZG_WINOGRAD_ALWAYS;
    size_t bytes;

    if (plan->prepared_a || plan->prepared_b || plan->ctx->winograd == OZG_WINOGRAD_NEVER ||
        classical > limit)
        return classical;
    bytes = cut(&other, limit, 1);
    if (bytes > limit || halves(&other).rows == 0)
        return classical;
    if (!always &&
        (other.threads < plan->threads || estimate_tiles(&other) > WINOGRAD_WORTH * estimate_tiles(plan)))
        return classical;
    *plan = other;
    return bytes;
}

/* Bytes of the smallest tile of 49 moduli: what shrink() ends at. Errors: OZG_E_NOMEM. */
static ozg_status smallest_workspace(const ozg_plan *plan, size_t *bytes)
{
    ozg_plan small = *plan;

    if (ozg_rns_get(&small.rns, plan->kernel->a.word, OZG_NMOD_MAX))
        return OZG_E_NOMEM;
    small.winograd = 0;
    small.mt = ozg_min64(plan->shape.m, ozg_round_up64(plan->kernel->a.lines, OZG_STRIP));
    small.nt = ozg_min64(tile_columns(plan), plan->kernel->b.lines);
    small.kt = ozg_min64(plan->shape.k, 64);
    small.threads = 1;
    *bytes = place(&small);
    return OZG_OK;
}

ozg_status ozg_plan_settle(ozg_plan *plan, int nmod)
{
    plan->nmod = nmod;
    if (ozg_rns_get(&plan->rns, plan->kernel->a.word, nmod))
        return ozg_fail(plan->ctx, OZG_E_NOMEM, "no memory for the tables of %d moduli", nmod);
    cut_tiles(plan, plan->workspace);
    return OZG_OK;
}

ozg_status ozg_plan_cpu(ozg_plan *plan)
{
    ozg_context *ctx = plan->ctx;
    const int by_data = ozg_by_data(plan->shape.acc);
    size_t least;

    if (choose_kernel(plan))
        return ozg_fail(ctx, OZG_E_NOMEM, "no memory for the tables of %d moduli", plan->nmod);
    plan->threads = worthwhile_threads(plan);
    plan->workspace = cut_tiles(plan, ctx->memory_limit);
    least = plan->workspace;
    if (by_data && smallest_workspace(plan, &least))
        return ozg_fail(ctx, OZG_E_NOMEM, "no memory for the tables of %d moduli", OZG_NMOD_MAX);
    if (plan->workspace < least)
        plan->workspace = least;
    if (plan->workspace > ctx->memory_limit)
        return ozg_fail(ctx, OZG_E_WORKSPACE, "memory_limit is %zu bytes; this product needs at least %zu",
                        ctx->memory_limit, by_data ? least : plan->workspace);
    return OZG_OK;
}

ozg_status ozg_plan_make(ozg_plan *plan, ozg_context *ctx, const ozg_shape *shape, int prepared_a,
                         int prepared_b)
{
    const int by_data = ozg_by_data(shape->acc);
    ozg_status status;

    plan->ctx = ctx;
    plan->shape = *shape;
    plan->rows = shape->m;
    plan->columns = shape->n;
    plan->prepared_a = prepared_a;
    plan->prepared_b = prepared_b;
    status = ozg_plan_accuracy(ctx, shape->type, shape->k, shape->acc, &plan->nmod, &plan->width);
    if (status)
        return status;
    if (plan->nmod == 0)
        plan->nmod = ozg_type_single(shape->type) ? NMOD_USUAL / 2 : NMOD_USUAL;
    if (shape->m > LINES_MAX || shape->n > LINES_MAX)
        return ozg_fail(ctx, OZG_E_WORKSPACE, "no memory holds %lld rows and %lld columns; use at most 2^48",
                        (long long)shape->m, (long long)shape->n);
    if (by_data &&
        (shape->k > ELEMENTS_MAX || shape->m > ELEMENTS_MAX / shape->k || shape->n > ELEMENTS_MAX / shape->k))
        return ozg_fail(ctx, OZG_E_WORKSPACE, "no memory holds matrices of 2^52 elements");
    return ctx->backend->plan(plan);
}

/* ---- public ------------------------------------------------------------------------------------- */

ozg_accuracy ozg_moduli(int s)
{
    return (ozg_accuracy){OZG_BY_MODULI, s};
}

ozg_accuracy ozg_accurate(int s)
{
    return (ozg_accuracy){OZG_BY_ACCURATE, s};
}

ozg_accuracy ozg_width(int t)
{
    return (ozg_accuracy){OZG_BY_WIDTH, t};
}

ozg_accuracy ozg_native(void)
{
    return (ozg_accuracy){OZG_BY_NATIVE, 0};
}

ozg_accuracy ozg_rounded(void)
{
    return (ozg_accuracy){OZG_BY_ROUNDED, 0};
}

ozg_accuracy ozg_with_moduli(ozg_accuracy acc, int s)
{
    if (ozg_by_data(acc))
        acc.value = s;
    return acc;
}

static int valid_type(char type)
{
    return type == 's' || type == 'd' || type == 'c' || type == 'z';
}

int ozg_moduli_for_bits(char type, int64_t k, int bits)
{
    if (!valid_type(type) || k < 0 || bits < 1)
        return 0;
    return ozg_moduli_for_width(bits, ozg_dot_length(type, k));
}

int ozg_width_of_moduli(char type, int64_t k, int s)
{
    if (!valid_type(type) || k < 0 || s < OZG_NMOD_MIN || s > OZG_NMOD_MAX)
        return 0;
    return ozg_moduli_width(s, ozg_dot_length(type, k));
}
