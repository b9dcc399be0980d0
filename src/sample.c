/*
 * sample.c - sampled lines: their floors, products, residuals, and the test of native grade for pairs.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "choose.h"
#include "cpu/kernel.h"
#include "cpu/stages.h"
#include "parallel.h"
#include "sample.h"
#include "scaling.h"

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
        if (seen == ozg_sample_number(n, present, wanted))
            z->index[n++] = i;
        seen++;
    }
    ozg_sample_take(z, n);
}

/* The piece of line q. */
static void load_task(void *arg, int64_t q, int thread)
{
    const ozg_side *z = arg;
    const ozg_view *v = &z->all->view;
    const int parts = 1 + ozg_type_complex(v->type), single = ozg_type_single(v->type);
    const int64_t line = ozg_line_stored(z->all, z->index[q]);
    uint64_t *out = z->bits + q * z->lines.view.line_stride * parts;

    (void)thread;
    for (int64_t p = 0; p < z->count; p++)
        for (int part = 0; part < parts; part++)
            *out++ = ozg_load_bits(v->x, single,
                                   (line * v->line_stride + (z->begin + p) * v->step) * parts + part) ^
                     (part && v->conj ? OZG_F64_SIGN : 0);
}

/* Elements [p0, p0 + count) of all lines. */
void ozg_sample_load(ozg_side *z, int64_t p0, int64_t count)
{
    z->lines.view.shift = z->shift ? z->shift + p0 : NULL;
    z->lines.k = count;
    if (z->count == count && z->begin == p0)
        return;
    z->begin = p0;
    z->count = count;
    ozg_parallel(z->threads, z->lines.count, load_task, z);
}

static void open_side(ozg_side *z, const ozg_lines *all, int64_t piece, int threads, unsigned char **memory)
{
    const int complex_ = ozg_type_complex(all->view.type);
    const ozg_view view = {NULL, piece, 1, complex_ ? 'z' : 'd', 0, NULL};
    ozg_lines *l = &z->lines;
    int64_t components;

    z->threads = threads;
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

/* Floors and exponents of the piece of line q. */
static void floor_task(void *arg, int64_t q, int thread)
{
    const ozg_side *x = arg;
    const ozg_view *v = &x->lines.view;
    const int parts = 1 + ozg_type_complex(v->type);

    (void)thread;
    for (int64_t p = 0; p < parts * x->lines.k; p++) {
        const int64_t at = q * v->line_stride * parts + p;
        const int32_t shift = (v->shift ? v->shift[p / parts] : 0) - x->e[q];
        const uint64_t magnitude = x->bits[at] & ~OZG_F64_SIGN;
        const int32_t f = (int32_t)ozg_floor(magnitude, OZG_SAMPLE_FLOOR + shift);

        x->floor[at] = x->bits[at] >> 63 ? -f : f;
        x->exponent[at] = (int16_t)(magnitude ? ozg_exponent(magnitude) + shift : OZG_SAMPLE_ZERO);
    }
}

/*
 * sums[0] += sum x y 2^-31, sums[1] += sum of the products of the leading bits, over n numbers, step apart.
 */
static void add_products(const int32_t *x, const int32_t *y, int64_t n, int step, int leading,
                         int64_t sums[2])
{
    const int down = OZG_SAMPLE_FLOOR - leading;
    uint64_t value = 0, magnitude = 0;

    for (int64_t p = 0; p < n; p++) {
        const int32_t a = x[p * step], b = y[p * step];
        const uint32_t ma = (uint32_t)(a < 0 ? -a : a), mb = (uint32_t)(b < 0 ? -b : b);
        const uint64_t product = (uint64_t)ma * mb >> OZG_SAMPLE_FLOOR,
                       negative = (uint64_t)(int64_t)((a ^ b) >> 31);

        value += (product ^ negative) - negative;
        magnitude += (ma >> down) * (mb >> down);
    }
    sums[0] += (int64_t)value;
    sums[1] += (int64_t)magnitude;
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

/* The pairs of line i of A over the piece. */
static void pair_task(void *arg, int64_t i, int thread)
{
    ozg_sample *z = arg;

    (void)thread;
    for (int j = 0; j < z->b.lines.count; j++) {
        int64_t sums[2][2] = {{0, 0}, {0, 0}};

        add_pair(z, (int)i, j, sums);
        raise_terms(z, (int)i, j, z->pair[i][j].term);
        for (int part = 0; part < 2; part++) { /* value: two's complement until all pieces are added */
            z->pair[i][j].value[part] += (uint64_t)sums[part][0];
            z->pair[i][j].magnitude[part] += (uint64_t)sums[part][1];
        }
    }
}

void ozg_sample_pairs(ozg_sample *z)
{
    const int64_t k = z->a.all->k;

    for (int i = 0; i < z->a.lines.count; i++)
        for (int j = 0; j < z->b.lines.count; j++)
            z->pair[i][j] = (ozg_pair){{0, 0}, {0, 0}, {2 * OZG_SAMPLE_ZERO, 2 * OZG_SAMPLE_ZERO}};
    for (int64_t p = 0; p < k; p += z->piece) {
        const int64_t count = k - p < z->piece ? k - p : z->piece;

        ozg_sample_load(&z->a, p, count);
        ozg_sample_load(&z->b, p, count);
        ozg_parallel(z->st->threads, z->a.lines.count, floor_task, &z->a);
        ozg_parallel(z->st->threads, z->b.lines.count, floor_task, &z->b);
        ozg_parallel(z->st->threads, z->a.lines.count, pair_task, z);
    }
    for (int i = 0; i < z->a.lines.count; i++)
        for (int j = 0; j < z->b.lines.count; j++)
            for (int part = 0; part < 2; part++)
                z->pair[i][j].value[part] = absolute((int64_t)z->pair[i][j].value[part]);
}

/* ---- the cost of s moduli ----------------------------------------------------------------------- */

/* Residuals of the piece, line by line of the sides that are wanted. */
typedef struct residuals_job {
    const ozg_sample *z;
    ozg_side *side[2];
    int64_t lines[2]; /* of each side; 0: not wanted */
    ozg_norms (*sum)[OZG_SAMPLE_LINES];
} residuals_job;

static void residuals_task(void *arg, int64_t task, int thread)
{
    const residuals_job *job = arg;
    const int of_b = task >= job->lines[0];
    const int64_t q = of_b ? task - job->lines[0] : task;
    ozg_side *x = job->side[of_b];
    const int64_t words = (x->lines.k + 63) / 64;
    uint64_t *place = job->z->st->kind == OZG_BY_ROUNDED ? x->place + q * words : NULL;
    ozg_norms part, *sum = &job->sum[of_b][q];

    (void)thread;
    (x->shift ? ozg_residuals_ref : job->z->st->kernel->residuals)(&x->lines.view, x->lines.k, q, q + 1,
                                                                   x->d + q, &part, place, words);
    sum->sum += part.sum;
    sum->squares += part.squares;
    sum->most = part.most > sum->most ? part.most : sum->most;
    for (int64_t w = 0; place && w < words; w++)
        x->places[q] += ozg_bit_count(place[w]);
}

/* D of the lines for s moduli, and the norms of what is then rounded away. */
void ozg_sample_residuals(ozg_sample *z, int sides, int s)
{
    const int c = ozg_bound_unit(z->st->length);
    ozg_norms sum[2][OZG_SAMPLE_LINES] = {{{0, 0, 0}}, {{0, 0, 0}}};
    residuals_job job = {
        z,
        {&z->a, &z->b},
        {sides & OZG_SIDE_A ? z->a.lines.count : 0, sides & OZG_SIDE_B ? z->b.lines.count : 0},
        sum};

    for (int of_b = 0; of_b < 2; of_b++)
        if (job.lines[of_b]) {
            ozg_scaling_norm(&job.side[of_b]->lines, s, z->st->length);
            memset(job.side[of_b]->places, 0, sizeof z->a.places);
        }
    for (int64_t p = 0; p < z->st->k; p += z->piece) {
        for (int of_b = 0; of_b < 2; of_b++)
            if (job.lines[of_b])
                ozg_sample_load(job.side[of_b], p, z->st->k - p < z->piece ? z->st->k - p : z->piece);
        ozg_parallel(z->st->threads, job.lines[0] + job.lines[1], residuals_task, &job);
    }
    for (int of_b = 0; of_b < 2; of_b++)
        for (int q = 0; q < job.lines[of_b]; q++)
            ozg_norms_factors(&sum[of_b][q], 16, c, &job.side[of_b]->r1[q], &job.side[of_b]->r2[q],
                              &job.side[of_b]->rmax[q]);
}

uint64_t ozg_sample_fails(const ozg_sample *z, uint64_t enough, uint32_t row[OZG_SAMPLE_LINES])
{
    uint64_t fails = 0;

    for (int i = 0; i < z->a.lines.count && fails <= enough; i++) {
        row[i] = 0;
        for (int j = 0; j < z->b.lines.count; j++) {
            const ozg_factors a = ozg_factors_of(&z->a.lines, i), b = ozg_factors_of(&z->b.lines, j);

            row[i] |= (uint32_t)ozg_pair_fails(&z->rule, &z->pair[i][j], &a, &b) << j;
        }
        fails += (uint64_t)ozg_bit_count(row[i]);
    }
    return fails;
}

static ozg_rule rule_of(const ozg_stage *st)
{
    ozg_rule r;

    r.native = st->kind == OZG_BY_NATIVE;
    r.single = st->scalars.single;
    r.complex_ = st->scalars.complex_;
    r.c = ozg_bound_unit(st->length);
    r.least = ozg_scaling_least(st->length);
    r.factor = ozg_native_factor(st->k);
    r.k = st->k;
    r.rate = st->kernel->rate;
    return r;
}

ozg_sample *ozg_sample_open(const ozg_stage *st, const ozg_lines *a, const ozg_lines *b, void *memory)
{
    ozg_sample *z = memory;
    unsigned char *rest = (unsigned char *)memory + (sizeof *z + 63) / 64 * 64;

    z->st = st;
    z->rule = rule_of(st);
    z->piece = piece_of(a->view.type, a->k);
    open_side(&z->a, a, z->piece, st->threads, &rest);
    open_side(&z->b, b, z->piece, st->threads, &rest);
    set_floor_memory(z, (int32_t *)(void *)rest);
    return z;
}
