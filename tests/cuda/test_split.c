/*
 * test_split.c - the split kernel, emulated, against ref: all types, accuracies, strides, parts, chunks of k,
 * shifts, up to guard pages.
 *
 * with: ozg_cuda_emulated
 * SPDX-License-Identifier: MIT
 */
#include "../kernels/lines.h"
#include "cuda/kernels.h"
#include "cuda/table.h"
#include "cpu/stages.h"
#include "emulate.h"
#include "root.h"
#include "scaling.h"

enum { MOST = 100, K_MOST = 4700, WORDS = K_MOST / 64 + 3, DIRT = 0x5a };

static struct guard memory[2];
static ozg_cuda_table tables[OZG_CUDA_TABLES];

/* Lines, what is known of them, and what the kernel is to find out. */
typedef struct operand {
    int64_t count, k, first, places; /* places: lines of the part, from place `first` on */
    uint64_t squares[MOST], ceiling[MOST], rsum[MOST], rsquares[MOST], bits[MOST * WORDS];
    uint32_t rtop[MOST];
    int32_t e[MOST], d[MOST], exact_d[MOST];
    int64_t index[MOST];
    int16_t shift[K_MOST];
    ozg_cuda_lines lines;
    ozg_cuda_planes planes;
    size_t plane_bytes;
    int width; /* the largest of the lines that are split */
} operand;

static operand operands[2];

typedef struct problem {
    ozg_cuda_state state;
    ozg_cuda_split_args args;
    int nmod, parts, indexed;
    char type;
} problem;

/* ---- operands ----------------------------------------------------------------------------------- */

/* Lines with little between the smallest and the largest, or all the same. */
static void make_even(struct rng *r, operand *o)
{
    const ozg_view *v = &o->lines.view;
    const int parts = 1 + ozg_type_complex(v->type), same = rng_below(r, 2) == 0;
    const double x = line_random_number(r, 1);

    for (int64_t i = 0; i < o->count; i++)
        for (int64_t p = 0; p < o->k; p++)
            for (int part = 0; part < parts; part++)
                line_set_number(v, parts * (i * v->line_stride + p * v->step) + part,
                                same ? 1.5 : x * (1 + 0x1p-30 * (double)rng_below(r, 1 << 20)));
}

/* Lines from the smallest to large numbers, so that d is negative and x 2^d of the smallest is no double. */
static void make_far(struct rng *r, operand *o)
{
    const ozg_view *v = &o->lines.view;
    const int parts = 1 + ozg_type_complex(v->type),
              up = (int)rng_between(r, 60, ozg_type_single(v->type) ? 120 : 1020);

    for (int64_t i = 0; i < o->count; i++)
        for (int64_t p = 0; p < o->k; p++)
            for (int part = 0; part < parts; part++) {
                const double x = rng_below(r, 3) ? 1 : -1,
                             tiny = ozg_type_single(v->type) ? 0x1p-149 : 0x1p-1074;

                line_set_number(v, parts * (i * v->line_stride + p * v->step) + part,
                                rng_below(r, 3) ? x * tiny * (double)rng_below(r, 4)
                                                : x * ldexp(1 + 0x1p-30 * (double)rng_below(r, 1 << 30), up));
            }
}

static void find_exponents(operand *o)
{
    for (int64_t i = 0; i < o->count; i++) {
        uint64_t most;

        ozg_scale_ref(&o->lines.view, o->k, i, i + 1, &most);
        o->e[i] =
            most == 0 || ozg_is_special(most) ? OZG_E_NONE : ozg_exponent_shifted(&o->lines.view, o->k, i);
    }
}

static void make_operand(struct rng *r, operand *o, const struct guard *mem, const problem *q, int64_t count,
                         int64_t k)
{
    const ozg_cuda_request *request = &q->args.request;
    ozg_view v = {NULL, 1, 1, q->type, (int)rng_below(r, 2), NULL};

    memset(o, DIRT, sizeof *o);
    memset(&o->lines, 0, sizeof o->lines);
    o->count = count;
    o->k = k;
    line_fill(r, mem, &v, (int)rng_below(r, 2), count, k, o->e);
    o->lines.view = v;
    if (rng_below(r, 4) == 0)
        make_even(r, o);
    else if (rng_below(r, 4) == 0)
        make_far(r, o);
    if (q->state.shifted)
        for (int64_t p = 0; p < k; p++)
            o->shift[p] = (int16_t)rng_between(r, -1100, 1100);
    o->lines.view.shift = q->state.shifted ? o->shift : NULL;
    find_exponents(o);
    for (int64_t i = 0; i < count; i++) {
        ozg_norms n;

        ozg_norms_ref(&o->lines.view, k, i, i + 1, ozg_norm_bits(request->length), &o->e[i], &n);
        o->squares[i] = n.squares;
        o->ceiling[i] = rng_below(r, 4) ? rng_below(r, 4096 * request->length + 1) : rng_below(r, 3);
        o->rsum[i] = o->rsquares[i] = o->rtop[i] = 0;
        o->index[i] = i;
    }
    for (int64_t i = count - 1; i > 0; i--) { /* any order */
        const int64_t j = rng_between(r, 0, i), t = o->index[i];

        o->index[i] = o->index[j];
        o->index[j] = t;
    }
    o->lines.count = count;
    o->lines.k = k;
    o->lines.squares = o->squares;
    o->lines.ceiling = request->kind == OZG_BY_ACCURATE ? o->ceiling : NULL;
    o->lines.rsum = o->rsum;
    o->lines.rsquares = o->rsquares;
    o->lines.rtop = o->rtop;
    o->lines.e = o->e;
    o->lines.d = o->d;
    o->lines.words = (k + 63) / 64 + (int64_t)rng_below(r, 2);
    o->lines.places = rng_below(r, 4) ? o->bits : NULL;
    o->lines.index = q->indexed ? o->index : NULL;
    if (!q->state.shifted && rng_below(r, 2)) /* is there, but does not count */
        o->lines.view.shift = o->shift;
}

/* d as scaling.c has it; norms of lines are those of o. */
static void find_d(operand *o, const problem *q)
{
    const ozg_cuda_request *request = &q->args.request;
    ozg_lines l = {.count = o->count, .e = o->e, .d = o->exact_d, .squares = o->squares};

    if (request->kind == OZG_BY_ACCURATE)
        ozg_scaling_accurate(&l, q->nmod, o->ceiling);
    else if (request->kind == OZG_BY_NATIVE || request->kind == OZG_BY_ROUNDED)
        ozg_scaling_norm(&l, q->nmod, request->length);
    else
        ozg_scaling_fixed(&l, request->width);
}

static int64_t stored_line(const operand *o, const problem *q, int64_t place)
{
    return q->indexed && q->parts > 1 ? o->index[place] : place;
}

/* ---- expected ----------------------------------------------------------------------------------- */

/* Elements [p, p + count) of a stored line with what belongs to them. */
static void batch_of(const operand *o, const problem *q, int64_t line, int64_t p, int count, ozg_batch *batch)
{
    const ozg_view *v = &o->lines.view;
    const int single = ozg_type_single(v->type), complex_ = ozg_type_complex(v->type);
    const int bits = q->args.ceilings ? OZG_CEILING_BITS : OZG_FLOOR_BITS(complex_);

    batch->count = count;
    for (int i = 0; i < count; i++) {
        const int64_t at = (1 + complex_) * (line * v->line_stride + (p + i) * v->step);
        const int32_t shift = q->state.shifted ? o->shift[p + i] : 0, d = o->exact_d[line], e = o->e[line];

        batch->re[i] = ozg_load_bits(v->x, single, at);
        batch->im[i] = complex_ ? ozg_load_bits(v->x, single, at + 1) ^ (v->conj ? OZG_F64_SIGN : 0) : 0;
        batch->d[i] = d == OZG_D_NONE ? d : d + shift;
        batch->s[i] = e == OZG_E_NONE ? e : bits - e + shift;
    }
}

static const ozg_cuda_table *table_of(const problem *q)
{
    return &q->args.tables[q->nmod];
}

/* By 2M: Re + j Im and Re - j Im in place of Re and Im, of planes l and nmod + l. */
static void set_pair(unsigned char *re, unsigned char *im, int m)
{
    const int j = root_of(m);

    for (int e = 0; e < OZG_SPLIT_BATCH; e++) {
        const int x = (int8_t)re[e], y = (int8_t)im[e] * j;

        re[e] = (unsigned char)ozg_symmetric((uint32_t)(((x + y) % m + m) % m), (uint32_t)m);
        im[e] = (unsigned char)ozg_symmetric((uint32_t)(((x - y) % m + m) % m), (uint32_t)m);
    }
}

/* All planes of residues of a batch, OZG_SPLIT_BATCH bytes each. */
static void expect_residues(const problem *q, const ozg_batch *batch, unsigned char *expected)
{
    static const ozg_layout layout = {1, 1, 1, 1, 0};
    const int complex_ = ozg_type_complex(q->type);
    const ozg_rns *rns = NULL;

    assert_int_equal(complex_ ? ozg_rns_complex(&rns, q->nmod) : ozg_rns_get(&rns, 1, q->nmod), OZG_OK);
    ozg_split_ref(rns, OZG_WIDTH_MAX + 8, &layout, complex_, batch, expected, OZG_SPLIT_BATCH);
    for (int l = rns->three; l < rns->nmod; l++)
        set_pair(expected + l * OZG_SPLIT_BATCH, expected + (rns->nmod + l) * OZG_SPLIT_BATCH,
                 (int)rns->m[l]);
}

/* Compares one line of all planes, padding included. */
static void check_planes(const operand *o, const problem *q, int64_t line, int64_t at)
{
    static const ozg_layout layout = {1, 1, 1, 1, 0};
    static unsigned char expected[(3 * OZG_NMOD_MAX + 3) * OZG_SPLIT_BATCH];
    const int complex_ = ozg_type_complex(q->type), residues = table_of(q)->planes;
    const int floors = q->args.request.kind == OZG_BY_NATIVE ? (complex_ ? 3 : 1) : 0;
    const int planes = q->args.ceilings ? 1 + complex_ : residues + floors;
    ozg_batch batch;

    for (int64_t p = 0; p < o->planes.pitch; p += OZG_SPLIT_BATCH) {
        const int64_t left = q->args.tile.count - p, room = o->planes.pitch - p;
        const int count = (int)(left > OZG_SPLIT_BATCH ? OZG_SPLIT_BATCH : left < 0 ? 0 : left);

        memset(expected, 0, sizeof expected);
        batch_of(o, q, line, q->args.tile.p0 + p, count, &batch);
        if (q->args.ceilings) {
            ozg_ceilings(&layout, complex_, &batch, expected, OZG_SPLIT_BATCH);
        } else {
            expect_residues(q, &batch, expected);
            if (floors)
                ozg_floors_ref(&layout, complex_, &batch, expected + residues * OZG_SPLIT_BATCH,
                               OZG_SPLIT_BATCH);
        }
        for (int plane = 0; plane < planes; plane++)
            for (int e = 0; e < OZG_SPLIT_BATCH && e < room; e++) {
                const int x = o->planes.base[(plane * o->planes.lines + at) * o->planes.pitch + p + e];

                if (x != expected[plane * OZG_SPLIT_BATCH + e])
                    fail_msg("type %c, kind %d, s %d, strides %d %d, k %d, ceilings %d: plane %d, line %d (d "
                             "%d, e %d), "
                             "element %d: %02x, expected %02x",
                             q->type, q->args.request.kind, q->nmod, (int)o->lines.view.line_stride,
                             (int)o->lines.view.step, (int)o->k, q->args.ceilings, plane, (int)line,
                             o->exact_d[line], o->e[line], (int)(p + e), x,
                             expected[plane * OZG_SPLIT_BATCH + e]);
            }
    }
}

/* Norms of residuals and places of a line of which all chunks of k were split. */
static void check_residuals(const operand *o, const problem *q, int64_t line)
{
    uint64_t places[WORDS];
    ozg_view view = o->lines.view;
    ozg_norms n;

    view.shift = q->state.shifted ? o->shift : NULL;
    ozg_residuals_ref(&view, o->k, line, line + 1, &o->exact_d[line], &n, places, o->lines.words);
    if (o->rsum[line] != n.sum || o->rsquares[line] != n.squares || o->rtop[line] != n.most)
        fail_msg("type %c, strides %d %d, k %d, line %d, d %d: residuals %llx %llx %x, expected %llx %llx %x",
                 q->type, (int)view.line_stride, (int)view.step, (int)o->k, (int)line, o->exact_d[line],
                 (unsigned long long)o->rsum[line], (unsigned long long)o->rsquares[line], o->rtop[line],
                 (unsigned long long)n.sum, (unsigned long long)n.squares, n.most);
    for (int64_t w = 0; o->lines.places && w < (o->k + 63) / 64; w++)
        if (o->bits[line * o->lines.words + w] != places[w])
            fail_msg("type %c, strides %d %d, k %d, line %d, word %d: places %llx, expected %llx", q->type,
                     (int)view.line_stride, (int)view.step, (int)o->k, (int)line, (int)w,
                     (unsigned long long)o->bits[line * o->lines.words + w], (unsigned long long)places[w]);
}

/* After the last chunk of k. */
static void check_lines(const operand *o, const problem *q, int64_t i0, int64_t lines, int measured)
{
    uint8_t seen[MOST] = {0};

    for (int64_t i = i0; i < i0 + lines && i < o->places; i++) {
        const int64_t line = stored_line(o, q, o->first + i);

        seen[line] = 1;
        if (!q->args.ceilings && o->d[line] != o->exact_d[line])
            fail_msg("d %d, expected %d", o->d[line], o->exact_d[line]);
        if (measured)
            check_residuals(o, q, line);
    }
    for (int64_t line = 0; line < o->count; line++) {
        if (!seen[line] || !measured) {
            assert_int_equal(o->rsum[line] | o->rsquares[line] | o->rtop[line], 0);
            assert_true(o->bits[line * o->lines.words] == UINT64_C(0x5a5a5a5a5a5a5a5a));
        }
        if (!seen[line])
            assert_int_equal(o->d[line], 0x5a5a5a5a);
    }
    assert_true(o->bits[o->count * o->lines.words] == UINT64_C(0x5a5a5a5a5a5a5a5a));
}

/* ---- problems ----------------------------------------------------------------------------------- */

/* The accuracy: a number of moduli, and a width where it is fixed. */
static void make_request(struct rng *r, problem *q, int64_t k)
{
    const int kinds[] = {OZG_BY_MODULI, OZG_BY_WIDTH, OZG_BY_NATIVE, OZG_BY_ROUNDED, OZG_BY_ACCURATE};
    const uint64_t length = ozg_dot_length(q->type, k);
    ozg_cuda_request *request = &q->args.request;
    int least;

    request->kind = kinds[rng_below(r, 5)];
    request->single = ozg_type_single(q->type);
    request->complex_ = ozg_type_complex(q->type);
    request->measured = request->kind == OZG_BY_NATIVE || request->kind == OZG_BY_ROUNDED || rng_below(r, 2);
    request->k = k;
    request->length = length;
    least = request->kind == OZG_BY_ACCURATE ? ozg_scaling_accurate_least(length)
            : request->kind == OZG_BY_NATIVE || request->kind == OZG_BY_ROUNDED
                ? ozg_scaling_least(length)
                : ozg_moduli_for_width(1, length);
    q->nmod = (int)(rng_below(r, 2) ? rng_between(r, least, 18) : rng_between(r, least, OZG_NMOD_MAX));
    request->width = ozg_moduli_width(q->nmod, length);
    if (request->kind == OZG_BY_WIDTH)
        request->width = (int32_t)rng_between(r, 1, request->width);
    q->args.ceilings = request->kind == OZG_BY_ACCURATE && rng_below(r, 2);
}

/* Places [first, first + places) of each operand are the part's. */
static void make_part(struct rng *r, problem *q)
{
    const int part = (int)rng_below(r, (uint64_t)q->parts);
    ozg_part *p = &q->state.part[part];

    q->args.tile.part = part;
    q->state.parts = q->parts;
    for (int side = 0; side < 2; side++) {
        operand *o = &operands[side];

        o->first = q->parts > 1 ? rng_between(r, 0, o->count - 1) : 0;
        o->places = q->parts > 1 ? rng_between(r, 1, o->count - o->first) : o->count;
    }
    *p = (ozg_part){operands[0].first, operands[0].places, operands[1].first, operands[1].places};
    q->state.nmod[part] = q->nmod;
    q->state.width[part] = 1;
}

/* A tile that begins inside of the part and may go beyond it. */
static void make_tile(struct rng *r, problem *q, int64_t chunk)
{
    ozg_cuda_tile *t = &q->args.tile;

    t->i0 = rng_below(r, 2) ? 0 : rng_between(r, 0, operands[0].places);
    t->j0 = rng_below(r, 2) ? 0 : rng_between(r, 0, operands[1].places);
    t->rows = rng_below(r, 2) ? MOST : rng_between(r, 1, MOST);
    t->columns = rng_below(r, 2) ? MOST : rng_between(r, 1, MOST);
    for (int side = 0; side < 2; side++) {
        operand *o = &operands[side];
        const int planes = table_of(q)->planes + (q->args.request.complex_ ? 3 : 1);

        o->planes.lines = o->count + 3;
        o->planes.pitch = (chunk + 127) / 128 * 128 + 128 * (int64_t)(rng_below(r, 4) == 0);
        o->plane_bytes = (size_t)(planes * o->planes.lines * o->planes.pitch);
        o->planes.base = aligned_alloc(128, o->plane_bytes);
        assert_non_null(o->planes.base);
        q->args.side[side].lines = o->lines;
        q->args.side[side].planes = o->planes;
    }
}

static void launch(struct rng *r, problem *q)
{
    ozg_cuda_split_args *a = &q->args;
    const int64_t count = a->tile.count;
    int blocks;

    for (int side = 0; side < 2; side++)
        memset(operands[side].planes.base, DIRT, operands[side].plane_bytes);
    blocks = ozg_cuda_split_blocks(&a->side[0].lines, a->tile.rows, count, (int)rng_between(r, 1, 2));
    blocks += ozg_cuda_split_blocks(&a->side[1].lines, a->tile.columns, count, 1);
    assert_int_equal(
        ozg_emulated_launch("ozg_cuda_split", blocks, OZG_CUDA_SPLIT_THREADS, ozg_cuda_split_shared(), a), 0);
}

/* The planes after one launch. */
static void check_side(problem *q, int side)
{
    operand *o = &operands[side];
    const int64_t i0 = side ? q->args.tile.j0 : q->args.tile.i0,
                  most = side ? q->args.tile.columns : q->args.tile.rows;
    int64_t lines = 0;

    for (int64_t i = 0; i < most && i0 + i < o->places; i++) {
        const int64_t line = stored_line(o, q, o->first + i0 + i);
        const int width = o->exact_d[line] == OZG_D_NONE ? 0 : o->exact_d[line] + o->e[line];

        check_planes(o, q, line, i);
        o->width = width > o->width ? width : o->width;
        lines = i + 1;
    }
    for (size_t plane = 0; plane < o->plane_bytes; plane += (size_t)(o->planes.lines * o->planes.pitch))
        for (int64_t at = lines * o->planes.pitch; at < o->planes.lines * o->planes.pitch; at++)
            assert_int_equal(o->planes.base[plane + (size_t)at], DIRT);
}

static void check(struct rng *r, char type, int64_t m, int64_t n, int64_t k)
{
    static problem q;
    const int64_t chunk = rng_below(r, 2) || k < 130 ? k : 128 * rng_between(r, 1, k / 128);
    int width = 1;

    memset(&q, 0, sizeof q);
    q.type = type;
    q.parts = rng_below(r, 2) ? 1 : (int)rng_between(r, 2, OZG_PARTS);
    q.indexed = (int)rng_below(r, 2);
    q.args.tables = ozg_cuda_tables_of(tables, ozg_type_complex(type));
    make_request(r, &q, k);
    q.state.shifted = q.args.request.kind == OZG_BY_NATIVE && rng_below(r, 3) == 0;
    for (int side = 0; side < 2; side++) {
        make_operand(r, &operands[side], &memory[side], &q, side ? n : m, k);
        find_d(&operands[side], &q);
        operands[side].width = 0;
    }
    make_part(r, &q);
    make_tile(r, &q, chunk);
    q.args.state = &q.state;
    q.args.fp64 = rng_below(r, 4) > 0;
    for (int side = 0; side < 2; side++)
        q.args.side[side].measure = rng_below(r, 4) > 0;
    if (rng_below(r, 6) == 0)
        q.args.side[rng_below(r, 2)].lines.view.x = NULL;
    for (int64_t p0 = 0; p0 < k; p0 += chunk) {
        q.args.tile.p0 = p0;
        q.args.tile.count = k - p0 < chunk ? k - p0 : chunk;
        ozg_emulated_order((uint32_t)rng_below(r, 100));
        launch(r, &q);
        for (int side = 0; side < 2; side++)
            if (q.args.side[side].lines.view.x)
                check_side(&q, side);
    }
    for (int side = 0; side < 2; side++) {
        if (q.args.side[side].lines.view.x)
            check_lines(&operands[side], &q, side ? q.args.tile.j0 : q.args.tile.i0,
                        side ? q.args.tile.columns : q.args.tile.rows,
                        q.args.side[side].measure && q.args.request.measured && !q.args.ceilings);
        width = operands[side].width > width ? operands[side].width : width;
        free(operands[side].planes.base);
    }
    if (!q.args.ceilings)
        assert_int_equal(q.state.width[q.args.tile.part], width);
}

static void test_split(void **state)
{
    static const char types[] = {'s', 'd', 'c', 'z'};
    struct rng r = {1};

    (void)state;
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++)
        for (int complex_ = 0; complex_ < 2; complex_++)
            assert_int_equal(ozg_cuda_table_build(&tables[complex_ * (OZG_NMOD_MAX + 1) + s], complex_, s),
                             OZG_OK);
    for (int type = 0; type < 4; type++) {
        for (int round = 0; round < 60; round++)
            check(&r, types[type], rng_between(&r, 1, 40), rng_between(&r, 1, 40), rng_between(&r, 1, 60));
        for (int round = 0; round < 20; round++) {
            check(&r, types[type], rng_between(&r, 1, MOST), rng_between(&r, 1, 9), rng_between(&r, 1, 300));
            check(&r, types[type], rng_between(&r, 1, 9), rng_between(&r, 1, 9), rng_between(&r, 300, 1400));
        }
        for (int round = 0; round < 12;
             round++) /* warps of one kind beside warps of the other, several steps */
            check(&r, types[type], rng_between(&r, 1, 40), rng_between(&r, 1, 40),
                  rng_between(&r, 1000, 1024));
        for (int round = 0; round < 3; round++)
            check(&r, types[type], rng_between(&r, 1, 9), 1, rng_between(&r, 2048, K_MOST));
        check(&r, types[type], 64, 32, 512);
        check(&r, types[type], 32, 64, 256);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_split)};
    int failed;

    guard_open(&memory[0], 1 << 23);
    guard_open(&memory[1], 1 << 23);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    guard_close(&memory[0]);
    guard_close(&memory[1]);
    return failed;
}
