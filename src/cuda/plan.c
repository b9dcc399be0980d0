/*
 * plan.c - cuts a product so that its workspace on the device stays below the limit.
 *
 * One tile needs, with P = s planes for s moduli, for complex types 3 s or fewer (ozg_moduli_complex()),
 *
 *     planes of A  P mt kt,   planes of B  P nt kt,   residues  P mt nt   bytes
 *
 * and for native accuracy one plane of floors more (complex three), and their sums. Where the data choose
 * the number of moduli, nobody on the host knows it when the work is enqueued: there is room for 49.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cuda/device.h"
#include "cuda/plan.h"

/*
 * Sums of symmetric residues, |x| <= 128 and for m < 256 |x| <= 127, over a chunk of k: 127^2 2^17 < 2^31;
 * those mod 256 may wrap around, since 256 divides 2^32. Sums of floors below 2^7 stay below 2^31 likewise.
 */
#define K_CHUNK (INT64_C(1) << 17)

#define LINES_MAX    (INT64_C(1) << 31)
#define ELEMENTS_MAX (INT64_C(1) << 52)       /* of a matrix; sizes in bytes stay below 2^63 */
#define ENTRIES_MAX  ((INT64_C(1) << 32) - 1) /* of a tile: numbered in the list by 32 bits */

#define COLUMNS 128 /* residues have a multiple of so many columns */
#define PITCH   128 /* planes are a multiple of so many bytes wide */
#define ALIGN   ((size_t)256)

#define PANELS        8 /* of C, for matrices of the host: the copy of one overlaps with work on the next */
#define PANEL_COLUMNS 1024 /* at least */

/* Takes bytes at *at, which moves on. */
static size_t take(size_t *at, size_t bytes)
{
    const size_t place = *at;

    *at = ozg_round_up(place + bytes, ALIGN);
    return place;
}

/* 64-bit words of `count` 32-bit numbers. */
static size_t words32(int64_t count)
{
    return ((size_t)count + 1) / 2;
}

/* e, d, x1, x2, xmax, r1, r2, rmax. */
size_t ozg_cuda_line_bytes(int64_t count)
{
    return 8 * 8 * words32(count);
}

/* most, sum, squares, rsum, rsquares; accurate: ceiling; top, rtop. */
size_t ozg_cuda_sum_bytes(int64_t count, int accurate)
{
    return 8 * ((size_t)count * (size_t)(5 + accurate) + 2 * words32(count));
}

/* What is known of the lines of both operands. */
static void place_lines(const ozg_plan *plan, ozg_cuda_places *l, size_t *at)
{
    const ozg_shape *s = &plan->shape;
    const int64_t count[2] = {s->m, s->n};
    const int prepared[2] = {plan->prepared_a, plan->prepared_b};
    const int by_data = ozg_by_data(s->acc), apart = ozg_plan_apart(plan);

    for (int side = 0; side < 2; side++) {
        l->line[side] = *at;
        *at += ozg_cuda_line_bytes(count[side]);
    }
    for (int side = 0; side < 2; side++) {
        l->sums[side] = *at;
        *at += ozg_cuda_sum_bytes(count[side], s->acc.kind == OZG_BY_ACCURATE);
    }
    l->line_end = *at;
    *at = ozg_round_up(*at, ALIGN);
    l->choose_bytes = by_data ? ozg_cuda_choose_bytes(s->type, s->m, s->n, s->k) : 0;
    l->choose = take(at, l->choose_bytes);
    l->zero = by_data ? l->sums[0] : l->line[0]; /* reports take all lines, whatever was written */
    l->zero_bytes = (by_data ? l->choose + OZG_CUDA_CHOOSE_ZERO : l->line_end) - l->zero;
    l->places = by_data ? (s->k + 63) / 64 : 0;
    for (int side = 0; side < 2; side++) {
        l->special[side] = take(at, (size_t)count[side]);
        l->chunks[side] =
            take(at, prepared[side] ? 0
                                    : ozg_cuda_chunk_bytes(s->type, side ? 'B' : 'A',
                                                           side ? s->transb : s->transa, count[side], s->k));
        l->place[side] = take(at, prepared[side] ? 0 : 8 * (size_t)(count[side] * l->places));
        l->index[side] = take(at, apart ? 8 * (size_t)count[side] : 0);
        l->shift[side] = take(at, by_data ? 2 * (size_t)s->k : 0);
    }
}

int ozg_cuda_residue_planes(char type, int nmod)
{
    const ozg_moduli_set *set = ozg_moduli_complex(nmod);

    return ozg_type_complex(type) ? 2 * set->nmod + set->three : nmod;
}

int ozg_cuda_planes_of(char type, ozg_accuracy acc, int nmod)
{
    const int floors = acc.kind != OZG_BY_NATIVE ? 0 : ozg_type_complex(type) ? 3 : 1;

    return ozg_cuda_residue_planes(type, nmod) + floors;
}

/* The planes of a tile and what comes of them. */
static void place_tile(const ozg_plan *plan, ozg_cuda_places *l, size_t *at)
{
    const ozg_shape *s = &plan->shape;
    const int complex_ = ozg_type_complex(s->type), each = complex_ ? 3 : 1;
    const int native = s->acc.kind == OZG_BY_NATIVE, accurate = s->acc.kind == OZG_BY_ACCURATE;
    const size_t entries = (size_t)l->lines_a * (size_t)l->columns, sum = plan->kt < s->k ? 8 : 4;

    l->plane[0] = take(at, plan->prepared_a ? 0 : (size_t)l->planes * (size_t)(l->lines_a * l->pitch));
    l->plane[1] = take(at, plan->prepared_b ? 0 : (size_t)l->planes * (size_t)(l->lines_b * l->pitch));
    l->residues = take(at, (size_t)ozg_cuda_residue_planes(s->type, plan->nmod) * entries);
    l->floors = take(at, (size_t)(native ? each : accurate ? 1 + complex_ : 0) * entries * sum);
    l->list = take(at, ozg_by_data(s->acc) ? 4 * (size_t)plan->mt * (size_t)plan->nt : 0);
}

/*
 * The copies of the host's matrices, or of blocks of them, but not of what is prepared: columns begin at multiples of
 * 16 bytes. Of streamed blocks that of C comes last: it changes its size when the tiles are cut again.
 */
static void place_copies(const ozg_plan *plan, ozg_cuda_places *l, size_t *at)
{
    const ozg_shape *s = &plan->shape;
    const int64_t size = ozg_type_size(s->type), unit = 16 / size;
    const int blocks = plan->streamed && !ozg_cuda_whole(plan);
    const int64_t m = blocks ? plan->mt : s->m, n = blocks ? plan->nt : s->n;

    l->columns_a = plan->prepared_a ? 0 : s->transa == 'N' ? s->k : m;
    l->columns_b = plan->prepared_b ? 0 : s->transb == 'N' ? n : s->k;
    l->ld_a = ozg_round_up64(s->transa == 'N' ? m : s->k, unit);
    l->ld_b = ozg_round_up64(s->transb == 'N' ? s->k : n, unit);
    l->ld_c = ozg_round_up64(plan->streamed ? plan->mt : s->m, unit);
    l->slot_b = ozg_round_up((size_t)(l->ld_b * l->columns_b * size), ALIGN);
    l->slot_c = ozg_round_up((size_t)(l->ld_c * (plan->streamed ? plan->nt : s->n) * size), ALIGN);
    l->a = take(at, (size_t)(l->ld_a * l->columns_a * size));
    l->b = take(at, (1 + (size_t)blocks) * l->slot_b);
    l->c = take(at, (1 + (size_t)plan->streamed) * l->slot_c);
}

void ozg_cuda_place(const ozg_plan *plan, ozg_cuda_places *l)
{
    const ozg_shape *s = &plan->shape;
    size_t at = 0;

    memset(l, 0, sizeof *l);
    l->planes = ozg_cuda_planes_of(s->type, s->acc, plan->nmod);
    l->pitch = ozg_round_up64(plan->kt, PITCH);
    l->lines_a = ozg_round_up64(plan->mt, OZG_CUDA_LINES);
    l->lines_b = ozg_round_up64(plan->nt, OZG_CUDA_LINES);
    l->columns = ozg_round_up64(plan->nt, COLUMNS);
    l->state = take(&at, sizeof(ozg_cuda_state));
    place_lines(plan, l, &at);
    if (!plan->ctx->device_pointers)
        place_copies(plan, l, &at);
    place_tile(plan, l, &at);
    l->bytes = at + ALIGN; /* to align the caller's */
}

ozg_cuda_lines ozg_cuda_lines_of(const ozg_view *view, int64_t count, int64_t k, int accurate,
                                 unsigned char *line, unsigned char *sums)
{
    const int64_t half = (int64_t)words32(count) * 2;
    ozg_cuda_lines x;

    memset(&x, 0, sizeof x);
    x.view = *view;
    x.count = count;
    x.k = k;
    x.most = (uint64_t *)(void *)sums;
    x.sum = x.most + count;
    x.squares = x.sum + count;
    x.rsum = x.squares + count;
    x.rsquares = x.rsum + count;
    x.ceiling = accurate ? x.rsquares + count : NULL;
    x.top = (uint32_t *)((x.ceiling ? x.ceiling : x.rsquares) + count);
    x.rtop = x.top + half;
    x.e = (int32_t *)(void *)line;
    x.d = x.e + half;
    x.x1 = (uint32_t *)(x.d + half);
    x.x2 = x.x1 + half;
    x.xmax = x.x2 + half;
    x.r1 = x.xmax + half;
    x.r2 = x.r1 + half;
    x.rmax = x.r2 + half;
    return x;
}

ozg_cuda_lines ozg_cuda_lines_at(const ozg_plan *plan, const ozg_cuda_places *l, unsigned char *base,
                                 int side, const ozg_view *view)
{
    const int by_data = ozg_by_data(plan->shape.acc);
    ozg_cuda_lines x = ozg_cuda_lines_of(view, side ? plan->shape.n : plan->shape.m, plan->shape.k,
                                         plan->shape.acc.kind == OZG_BY_ACCURATE, base + l->line[side],
                                         base + l->sums[side]);

    x.words = l->places;
    x.special = base + l->special[side];
    x.places = by_data ? (uint64_t *)(void *)(base + l->place[side]) : NULL;
    x.index = ozg_plan_apart(plan) ? (int64_t *)(void *)(base + l->index[side]) : NULL;
    if (by_data)
        x.view.shift = (const int16_t *)(const void *)(base + l->shift[side]);
    return x;
}

/* Makes x smaller, by an eighth, to a multiple of `unit`. 0: it is at most `least` already. */
static int shrink_to(int64_t *x, int64_t unit, int64_t least)
{
    int64_t smaller = ozg_round_up64(*x - *x / 8, unit);

    if (smaller >= *x)
        smaller = (*x - 1) / unit * unit;
    if (smaller < least)
        smaller = least;
    if (smaller >= *x)
        return 0;
    *x = smaller;
    return 1;
}

/* One step towards less workspace: columns before rows, and k when tiles are small. 0: there is none. */
static int shrink(ozg_plan *plan)
{
    static const struct {
        int64_t columns, rows, elements;
    } least[] = {{2048, 4096, 16384}, {512, 1024, 4096}, {COLUMNS, OZG_CUDA_LINES, PITCH}};

    for (size_t q = 0; q < sizeof least / sizeof *least; q++)
        if (shrink_to(&plan->nt, COLUMNS, least[q].columns) ||
            shrink_to(&plan->mt, OZG_CUDA_LINES, least[q].rows) ||
            shrink_to(&plan->kt, PITCH, least[q].elements))
            return 1;
    return 0;
}

/* As many tiles, of one size. */
static int64_t even_out(int64_t count, int64_t tile, int64_t unit)
{
    const int64_t tiles = ozg_cuda_tiles(count, tile);

    return ozg_min64(count, ozg_round_up64(ozg_cuda_tiles(count, tiles), unit));
}

/* The largest tile that fits. Returns the bytes of it: more than the limit if even the smallest does not. */
static size_t cut_tiles(ozg_plan *plan, size_t limit)
{
    const ozg_shape *s = &plan->shape;
    ozg_cuda_places places;

    plan->mt = s->m;
    plan->nt = s->n;
    plan->kt = ozg_min64(s->k, K_CHUNK);
    if (!plan->ctx->device_pointers && s->n > PANEL_COLUMNS) {
        const int64_t panel = ozg_round_up64(ozg_cuda_tiles(s->n, PANELS), COLUMNS);

        plan->nt = panel > PANEL_COLUMNS ? panel : PANEL_COLUMNS;
    }
    while (plan->mt > ENTRIES_MAX / plan->nt && shrink(plan))
        ;
    do
        ozg_cuda_place(plan, &places);
    while (places.bytes > limit && shrink(plan));
    plan->mt = even_out(s->m, plan->mt, OZG_CUDA_LINES);
    plan->nt = even_out(s->n, plan->nt, COLUMNS);
    plan->kt = even_out(s->k, plan->kt, PITCH);
    ozg_cuda_place(plan, &places);
    return places.bytes;
}

/* Sizes of which no sum or product overflows. */
static int too_large(const ozg_shape *s)
{
    return s->m > LINES_MAX || s->n > LINES_MAX || s->k > ELEMENTS_MAX || s->m > ELEMENTS_MAX / s->k ||
           s->n > ELEMENTS_MAX / s->k || s->m > ELEMENTS_MAX / s->n;
}

static ozg_status get_tables(ozg_plan *plan)
{
    if (ozg_cuda_rns(&plan->rns, plan->shape.type, plan->nmod))
        return ozg_fail(plan->ctx, OZG_E_NOMEM, "no memory for the tables of %d moduli", plan->nmod);
    return OZG_OK;
}

ozg_status ozg_cuda_settle(ozg_plan *plan, int nmod)
{
    plan->nmod = nmod;
    cut_tiles(plan, plan->workspace);
    return get_tables(plan);
}

ozg_status ozg_cuda_plan(ozg_plan *plan)
{
    ozg_context *ctx = plan->ctx;
    const ozg_shape *s = &plan->shape;
    const int host = !ctx->device_pointers;

    if (ozg_cuda_chosen(plan))
        plan->nmod = OZG_NMOD_MAX;
    plan->streamed = 0;
    plan->kernel = NULL;
    plan->threads = 1;
    if (too_large(s))
        return ozg_fail(
            ctx, OZG_E_WORKSPACE,
            "%lld x %lld x %lld is too large for the device; use at most 2^31 rows and columns, and "
            "matrices of 2^52 elements",
            (long long)s->m, (long long)s->n, (long long)s->k);
    plan->workspace = cut_tiles(plan, ctx->memory_limit);
    if (host && plan->workspace > ctx->memory_limit) {
        plan->streamed = 1;
        plan->workspace = cut_tiles(plan, ctx->memory_limit);
    }
    if (plan->workspace > ctx->memory_limit)
        return ozg_fail(ctx, OZG_E_WORKSPACE, "memory_limit is %zu bytes; this product needs at least %zu%s",
                        ctx->memory_limit, plan->workspace,
                        !host                  ? ""
                        : ozg_cuda_whole(plan) ? ", copies of A and B and of a block of C among them"
                                               : ", copies of a block of each matrix among them");
    return get_tables(plan);
}
