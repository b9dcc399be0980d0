/*
 * sample.c - sampled lines: their floors, products, residuals, and the test of native grade for pairs.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "choose.h"
#include "cpu/kernel.h"
#include "cpu/stages.h"
#include "sample.h"
#include "scaling.h"

/* Part of the definition of native results. */
#define SAMPLE_LEAST 4 /* lines of a side, fewer only if there are fewer; else an eighth of all, at most 32 */

int64_t ozg_sample_lines(int64_t count)
{
    const int64_t wanted = count / 8 < SAMPLE_LEAST ? SAMPLE_LEAST : count / 8;

    return wanted > OZG_SAMPLE_LINES ? OZG_SAMPLE_LINES : wanted < count ? wanted : count;
}

/* Elements of a piece. */
static int64_t piece_of(char type, int64_t k)
{
    const int64_t most = OZG_SAMPLE_PIECE / (1 + ozg_type_complex(type));

    return k < most ? k : most;
}

size_t ozg_choose_bytes(char type, int64_t m, int64_t n, int64_t k)
{
    const int64_t components = piece_of(type, k) * (1 + ozg_type_complex(type));

    return sizeof(ozg_sample) + 64 +
           (size_t)((ozg_sample_lines(m) + ozg_sample_lines(n)) * components) *
               (sizeof(uint64_t) + sizeof(int32_t) + sizeof(int16_t));
}

/* ---- the lines ---------------------------------------------------------------------------------- */

/* Copies what is known of n lines. */
void ozg_sample_take(ozg_side *z, int n)
{
    const ozg_lines *all = z->all;

    z->count = 0; /* the piece is that of other lines */
    z->lines.count = n;
    for (int q = 0; q < n; q++) {
        const int64_t i = z->index[q];

        z->special[q] = 0;
        z->e[q] = all->e[i];
        z->squares[q] = all->squares[i];
        z->x1[q] = all->x1[i];
        z->x2[q] = all->x2[i];
        z->xmax[q] = all->xmax[i];
    }
}

/* Chooses the lines, evenly among those that take part. */
static void choose_lines(ozg_side *z)
{
    const ozg_lines *all = z->all;
    const int64_t wanted = ozg_sample_lines(all->count);
    int64_t present = 0, seen = 0;
    int n = 0;

    for (int64_t i = 0; i < all->count; i++)
        present += all->e[i] != OZG_E_NONE;
    for (int64_t i = 0; i < all->count && n < wanted; i++) {
        if (all->e[i] == OZG_E_NONE)
            continue;
        /* number q of `wanted` is the line number floor(q present / wanted) of those present */
        if (present <= wanted || seen == n * present / wanted)
            z->index[n++] = i;
        seen++;
    }
    ozg_sample_take(z, n);
}

/* Elements [p0, p0 + count) of all lines. */
void ozg_sample_load(ozg_side *z, int64_t p0, int64_t count)
{
    const ozg_view *v = &z->all->view;
    const int parts = 1 + ozg_type_complex(v->type), single = ozg_type_single(v->type);

    z->lines.view.shift = z->shift ? z->shift + p0 : NULL;
    z->lines.k = count;
    if (z->count == count && z->begin == p0)
        return;
    z->begin = p0;
    z->count = count;
    for (int64_t q = 0; q < z->lines.count; q++) {
        const int64_t line = ozg_line_stored(z->all, z->index[q]);
        uint64_t *out = z->bits + q * z->lines.view.line_stride * parts;

        for (int64_t p = 0; p < count; p++)
            for (int part = 0; part < parts; part++)
                *out++ =
                    ozg_load_bits(v->x, single, (line * v->line_stride + (p0 + p) * v->step) * parts + part) ^
                    (part && v->conj ? OZG_F64_SIGN : 0);
    }
}

static void open_side(ozg_side *z, const ozg_lines *all, int64_t piece, unsigned char **memory)
{
    const int complex_ = ozg_type_complex(all->view.type);
    const ozg_view view = {NULL, piece, 1, complex_ ? 'z' : 'd', 0, NULL};
    ozg_lines *l = &z->lines;
    int64_t components;

    z->all = all;
    z->shift = all->view.shift;
    l->view = view;
    l->index = NULL;
    l->special = z->special;
    l->e = z->e;
    l->d = z->d;
    l->squares = z->squares;
    l->x1 = z->x1;
    l->x2 = z->x2;
    l->xmax = z->xmax;
    l->r1 = z->r1;
    l->r2 = z->r2;
    l->rmax = z->rmax;
    choose_lines(z);
    components = ozg_sample_lines(all->count) * piece * (1 + complex_);
    l->view.x = z->bits = (uint64_t *)*memory;
    *memory += (size_t)components * sizeof *z->bits;
}

static void set_floor_memory(ozg_sample *z, int32_t *memory)
{
    const int64_t components = z->piece * (1 + z->st->scalars.complex_);
    const int64_t of_a = ozg_sample_lines(z->a.all->count) * components,
                  of_b = ozg_sample_lines(z->b.all->count) * components;

    z->a.floor = memory;
    z->b.floor = memory + of_a;
    z->a.exponent = (int16_t *)(void *)(memory + of_a + of_b);
    z->b.exponent = z->a.exponent + of_a;
}

/* sum[q] += part[q], the norms of pieces of a line */
static void add_norms(ozg_norms *sum, const ozg_norms *part, int n)
{
    for (int q = 0; q < n; q++) {
        sum[q].sum += part[q].sum;
        sum[q].squares += part[q].squares;
        sum[q].most = part[q].most > sum[q].most ? part[q].most : sum[q].most;
    }
}

/* ---- what does not depend on s ------------------------------------------------------------------ */

/* e and norms of the lines with their shifts. */
void ozg_sample_measure(const ozg_sample *z, ozg_side *x)
{
    const int nu = ozg_norm_bits(z->st->length), c = ozg_bound_unit(z->st->length), n = (int)x->lines.count;
    ozg_norms sum[OZG_SAMPLE_LINES] = {{0, 0, 0}}, part[OZG_SAMPLE_LINES];

    for (int q = 0; q < n; q++)
        x->e[q] = OZG_E_NONE;
    for (int64_t p = 0; p < x->all->k; p += z->piece) {
        ozg_sample_load(x, p, x->all->k - p < z->piece ? x->all->k - p : z->piece);
        for (int q = 0; q < n; q++) {
            const int32_t e = ozg_exponent_shifted(&x->lines.view, x->lines.k, q);

            x->e[q] = e > x->e[q] ? e : x->e[q];
        }
    }
    for (int64_t p = 0; p < x->all->k; p += z->piece) {
        ozg_sample_load(x, p, x->all->k - p < z->piece ? x->all->k - p : z->piece);
        ozg_norms_ref(&x->lines.view, x->lines.k, 0, n, nu, x->e, part);
        add_norms(sum, part, n);
    }
    for (int q = 0; q < n; q++) {
        x->squares[q] = sum[q].squares;
        ozg_norms_factors(&sum[q], nu, c, &x->x1[q], &x->x2[q], &x->xmax[q]);
    }
}

static void set_floors(ozg_side *x)
{
    const ozg_view *v = &x->lines.view;
    const int complex_ = ozg_type_complex(v->type), parts = 1 + complex_;

    for (int64_t q = 0; q < x->lines.count; q++)
        for (int64_t p = 0; p < parts * x->lines.k; p++) {
            const int64_t at = q * v->line_stride * parts + p;
            const int32_t shift = v->shift ? v->shift[p / parts] : 0;
            const int32_t f = (int32_t)ozg_floor(x->bits[at], OZG_SAMPLE_FLOOR - x->e[q] + shift);

            x->floor[at] = x->bits[at] >> 63 ? -f : f;
            x->exponent[at] =
                (int16_t)(x->bits[at] << 1 ? ozg_exponent(x->bits[at] & ~OZG_F64_SIGN) - x->e[q] + shift
                                           : OZG_SAMPLE_ZERO);
        }
}

/* sums[0] += sum x y 2^-31, sums[1] += sum of the products of the leading bits, over n numbers, step apart. */
static void add_products(const int32_t *x, const int32_t *y, int64_t n, int step, int leading,
                         int64_t sums[2])
{
    const int down = OZG_SAMPLE_FLOOR - leading;
    int64_t value = 0, magnitude = 0;

    for (int64_t p = 0; p < n; p++) {
        const int32_t a = x[p * step], b = y[p * step];
        const int32_t la = (a < 0 ? -a : a) >> down, lb = (b < 0 ? -b : b) >> down;

        value += (int64_t)a * b / (INT64_C(1) << OZG_SAMPLE_FLOOR);
        magnitude += la * lb;
    }
    sums[0] += value;
    sums[1] += magnitude;
}

/* The largest exponent of a term over n numbers, step apart; at least `most`. */
static int16_t largest_term(const int16_t *x, const int16_t *y, int64_t n, int step, int16_t most)
{
    for (int64_t p = 0; p < n; p++) {
        const int16_t sum = (int16_t)(x[p * step] + y[p * step]);

        most = sum > most ? sum : most;
    }
    return most;
}

/* The same of both components of a pair. */
static void raise_terms(const ozg_sample *z, int i, int j, int16_t term[2])
{
    const int complex_ = z->st->scalars.complex_, step = 1 + complex_;
    const int64_t n = z->a.lines.k;
    const int16_t *x = z->a.exponent + i * z->piece * step, *y = z->b.exponent + j * z->piece * step;

    term[0] = largest_term(x, y, n, step, term[0]);
    if (!complex_)
        return;
    term[0] = largest_term(x + 1, y + 1, n, step, term[0]);
    term[1] = largest_term(x, y + 1, n, step, term[1]);
    term[1] = largest_term(x + 1, y, n, step, term[1]);
}

/* Components Re and Im of a pair over the piece: {sum, sum of magnitudes} each. */
static void add_pair(const ozg_sample *z, int i, int j, int64_t sums[2][2])
{
    const int complex_ = z->st->scalars.complex_, step = 1 + complex_, bits = OZG_FLOOR_BITS(complex_);
    const int64_t n = z->a.lines.k;
    const int32_t *x = z->a.floor + i * z->piece * step, *y = z->b.floor + j * z->piece * step;
    int64_t negative[2] = {0, 0};

    add_products(x, y, n, step, bits, sums[0]);
    if (!complex_)
        return;
    add_products(x + 1, y + 1, n, step, bits, negative); /* Re = xr yr - xi yi */
    sums[0][0] -= negative[0];
    sums[0][1] += negative[1];
    add_products(x, y + 1, n, step, bits, sums[1]); /* Im = xr yi + xi yr */
    add_products(x + 1, y, n, step, bits, sums[1]);
}

static uint64_t absolute(int64_t x)
{
    return x < 0 ? -(uint64_t)x : (uint64_t)x;
}

void ozg_sample_pairs(ozg_sample *z)
{
    const int64_t k = z->a.all->k;

    for (int i = 0; i < z->a.lines.count; i++) {
        memset(z->value[i], 0, (size_t)z->b.lines.count * sizeof *z->value[i]);
        memset(z->magnitude[i], 0, (size_t)z->b.lines.count * sizeof *z->magnitude[i]);
        for (int j = 0; j < z->b.lines.count; j++)
            z->term[i][j][0] = z->term[i][j][1] = 2 * OZG_SAMPLE_ZERO;
    }
    for (int64_t p = 0; p < k; p += z->piece) {
        const int64_t count = k - p < z->piece ? k - p : z->piece;

        ozg_sample_load(&z->a, p, count);
        ozg_sample_load(&z->b, p, count);
        set_floors(&z->a);
        set_floors(&z->b);
        for (int i = 0; i < z->a.lines.count; i++)
            for (int j = 0; j < z->b.lines.count; j++) {
                int64_t sums[2][2] = {{0, 0}, {0, 0}};

                add_pair(z, i, j, sums);
                raise_terms(z, i, j, z->term[i][j]);
                for (int part = 0; part < 2;
                     part++) { /* value: two's complement until all pieces are added */
                    z->value[i][j][part] += (uint64_t)sums[part][0];
                    z->magnitude[i][j][part] += (uint64_t)sums[part][1];
                }
            }
    }
    for (int i = 0; i < z->a.lines.count; i++)
        for (int j = 0; j < z->b.lines.count; j++)
            for (int part = 0; part < 2; part++)
                z->value[i][j][part] = absolute((int64_t)z->value[i][j][part]);
}

/* ---- the cost of s moduli ----------------------------------------------------------------------- */

/* D of all lines for s moduli, and the norms of what is then rounded away. */
void ozg_sample_residuals(const ozg_sample *z, ozg_side *x, int s)
{
    const int c = ozg_bound_unit(z->st->length), n = (int)x->lines.count;
    const int wanted = z->st->kind == OZG_BY_ROUNDED;
    ozg_residuals_fn *residuals = x->shift ? ozg_residuals_ref : z->st->kernel->residuals;
    ozg_norms sum[OZG_SAMPLE_LINES] = {{0, 0, 0}}, part[OZG_SAMPLE_LINES];
    int64_t words;

    ozg_scaling_norm(&x->lines, s, z->st->length);
    memset(x->places, 0, sizeof x->places);
    for (int64_t p = 0; p < x->all->k; p += z->piece) {
        ozg_sample_load(x, p, x->all->k - p < z->piece ? x->all->k - p : z->piece);
        words = (x->lines.k + 63) / 64;
        residuals(&x->lines.view, x->lines.k, 0, n, x->d, part, wanted ? x->place : NULL, words);
        add_norms(sum, part, n);
        for (int64_t w = 0; w < n * words && wanted; w++)
            x->places[w / words] += ozg_bit_count(x->place[w]);
    }
    for (int q = 0; q < n; q++)
        ozg_norms_factors(&sum[q], 16, c, &x->r1[q], &x->r2[q], &x->rmax[q]);
}

/*
 * |AB| of a pair is about *z 2^(e_i + e_j - 31 + *q): by the sum, and where that has no bits left, by the largest
 * term. z < 2^47.
 */
void ozg_sample_value(const ozg_sample *s, int i, int j, int part, uint64_t *z, int32_t *q)
{
    const int c = ozg_bound_unit(s->st->length);

    *z = s->value[i][j][part] >> c;
    *q = c;
    if (s->value[i][j][part] >> 8 || s->term[i][j][part] < OZG_SAMPLE_ZERO)
        return;
    *z = 1 << 20;
    *q = s->term[i][j][part] - 1 + OZG_SAMPLE_FLOOR - 20;
}

/* Does native grade fail for the pair? As passes_native() of the reconstruct stage, with an estimate of c^. */
static int pair_fails(const ozg_sample *z, int i, int j, uint64_t bound, int32_t least)
{
    const int single = z->st->scalars.single, complex_ = z->st->scalars.complex_,
              c = ozg_bound_unit(z->st->length);
    const uint32_t f = ozg_native_factor(z->st->k);
    int fails = 0;

    for (int part = 0; part <= complex_; part++) {
        uint64_t value;
        int32_t q;

        ozg_sample_value(z, i, j, part, &value, &q); /* c^ = value 2^(least + most - 31 + q) */
        fails |= !ozg_bound_passes(bound, f, (uint32_t)(z->magnitude[i][j][part] >> c), single, complex_, c,
                                   least) &&
                 !ozg_bound_passes_value(bound, f, value, least - OZG_SAMPLE_FLOOR + q, single, c, 0);
    }
    return fails;
}

/* Bit j of row[i]: the pair fails. Returns how many do. */
uint64_t ozg_sample_fails(const ozg_sample *z, uint32_t row[OZG_SAMPLE_LINES])
{
    uint64_t fails = 0;

    for (int i = 0; i < z->a.lines.count; i++) {
        row[i] = 0;
        for (int j = 0; j < z->b.lines.count; j++) {
            const ozg_factors a = ozg_factors_of(&z->a.lines, i), b = ozg_factors_of(&z->b.lines, j);

            row[i] |= (uint32_t)pair_fails(z, i, j, ozg_bound(&a, &b), a.w < b.w ? a.w : b.w) << j;
        }
        fails += (uint64_t)ozg_bit_count(row[i]);
    }
    return fails;
}

ozg_sample *ozg_sample_open(const ozg_stage *st, const ozg_lines *a, const ozg_lines *b, void *memory)
{
    ozg_sample *z = memory;
    unsigned char *rest = (unsigned char *)memory + (sizeof *z + 63) / 64 * 64;

    z->st = st;
    z->piece = piece_of(a->view.type, a->k);
    open_side(&z->a, a, z->piece, &rest);
    open_side(&z->b, b, z->piece, &rest);
    set_floor_memory(z, (int32_t *)(void *)rest);
    return z;
}
