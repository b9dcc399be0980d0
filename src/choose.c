/*
 * choose.c - samples lines of both operands and asks for each number of moduli how many entries would fail.
 *
 * The sample is up to 32 lines a side, evenly among those that take part, and all pairs of them. For s moduli
 * the lines are scaled as all lines would be; their residuals give the bound of each pair, and floors of the
 * elements (arith/bound.h) give a lower bound of |A||B| and, with more bits, an estimate of AB. The cost of
 * s is
 *
 *     native    s + REPAIR (share of pairs that fail)              in products of the size of the problem
 *     rounded   s + the time of repairs in the same unit, from the chance that the rounding is in doubt
 *
 * Lines are looked at in pieces of PIECE components, so that the memory does not grow with k.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <string.h>

#include "choose.h"
#include "cpu/kernel.h"
#include "cpu/stages.h"
#include "parallel.h"
#include "scaling.h"

/* Part of the definition of native results. */
#define SAMPLE_LINES 32  /* of a side at most: a sixteenth of all */
#define SAMPLE_LEAST 16  /* fewer only if there are fewer */
#define REPAIR       256 /* products that the exact computation of all entries costs */
#define START_DOUBLE 14  /* moduli at which the search begins */
#define START_SINGLE 8
#define SHIFT_MOST   1100 /* of an element along k */

/* Rough times of an exact entry: of itself, and of each place. They decide the time of rounded alone. */
#define REPAIR_NS 300.0
#define PLACE_NS  12.0

#define FLOOR_BITS 31 /* of the sampled elements */

#define ZERO (INT16_MIN / 2) /* exponent of 0, below all others */

#define UNIT  1024 /* of costs */
#define PIECE 8192 /* components of a line that are looked at together; an even number */

/* The sampled lines of one operand. */
typedef struct side {
    int threads;
    const ozg_lines *all;
    int64_t index[SAMPLE_LINES];
    ozg_lines lines;      /* view of the piece */
    const int16_t *shift; /* of all elements, or NULL */
    int64_t begin, count; /* the elements of the piece; count 0: none loaded */
    uint64_t *bits;       /* the piece: PIECE components a line, as doubles */
    int32_t *floor;       /* floor(|x| 2^(31 - e)) with the sign */
    int16_t *exponent;    /* of each component, less e; ZERO for 0 */
    /* the arrays of lines */
    uint8_t special[SAMPLE_LINES];
    int32_t e[SAMPLE_LINES], d[SAMPLE_LINES];
    uint64_t squares[SAMPLE_LINES];
    uint32_t x1[SAMPLE_LINES], x2[SAMPLE_LINES], xmax[SAMPLE_LINES];
    uint32_t r1[SAMPLE_LINES], r2[SAMPLE_LINES], rmax[SAMPLE_LINES];
    uint64_t place[SAMPLE_LINES * PIECE / 64]; /* where elements of the piece are rounded */
    int64_t places[SAMPLE_LINES];              /* how many are */
} side;

typedef struct sample {
    const ozg_stage *st;
    side a, b;
    int64_t piece; /* elements */
    /*
     * Of each pair and component: L of ozg_bound_passes() times 2^c, |sum x y| about in units of
     * 2^(e_i + e_j - 31), and the largest exponent of a term, less e_i + e_j.
     */
    uint64_t magnitude[SAMPLE_LINES][SAMPLE_LINES][2], value[SAMPLE_LINES][SAMPLE_LINES][2];
    int16_t term[SAMPLE_LINES][SAMPLE_LINES][2];
    uint64_t repairs; /* what cost() expects of the pairs, times UNIT */
} sample;

static int64_t sample_lines(int64_t count)
{
    const int64_t wanted = count / 16 < SAMPLE_LEAST ? SAMPLE_LEAST : count / 16;

    return wanted > SAMPLE_LINES ? SAMPLE_LINES : wanted < count ? wanted : count;
}

/* Elements of a piece. */
static int64_t piece_of(char type, int64_t k)
{
    const int64_t most = PIECE / (1 + ozg_type_complex(type));

    return k < most ? k : most;
}

size_t ozg_choose_bytes(char type, int64_t m, int64_t n, int64_t k)
{
    const int64_t components = piece_of(type, k) * (1 + ozg_type_complex(type));

    return sizeof(sample) + 64 +
           (size_t)((sample_lines(m) + sample_lines(n)) * components) *
               (sizeof(uint64_t) + sizeof(int32_t) + sizeof(int16_t));
}

/* ---- the lines ---------------------------------------------------------------------------------- */

/* Chooses the lines, evenly among those that take part, and copies what is known of them. */
static void choose_lines(side *z)
{
    const ozg_lines *all = z->all;
    const int64_t wanted = sample_lines(all->count);
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

/* The piece of line q. */
static void load_task(void *arg, int64_t q, int thread)
{
    const side *z = arg;
    const ozg_view *v = &z->all->view;
    const int parts = 1 + ozg_type_complex(v->type), single = ozg_type_single(v->type);
    uint64_t *out = z->bits + q * z->lines.view.line_stride * parts;

    (void)thread;
    for (int64_t p = 0; p < z->count; p++)
        for (int part = 0; part < parts; part++)
            *out++ = ozg_load_bits(v->x, single,
                                   (z->index[q] * v->line_stride + (z->begin + p) * v->step) * parts + part) ^
                     (part && v->conj ? OZG_F64_SIGN : 0);
}

/* Elements [p0, p0 + count) of all lines. */
static void load_piece(side *z, int64_t p0, int64_t count)
{
    z->lines.view.shift = z->shift ? z->shift + p0 : NULL;
    z->lines.k = count;
    if (z->count == count && z->begin == p0)
        return;
    z->begin = p0;
    z->count = count;
    ozg_parallel(z->threads, z->lines.count, load_task, z);
}

static void open_side(side *z, const ozg_lines *all, int64_t piece, int threads, unsigned char **memory)
{
    const int complex_ = ozg_type_complex(all->view.type);
    const ozg_view view = {NULL, piece, 1, complex_ ? 'z' : 'd', 0, NULL};
    ozg_lines *l = &z->lines;
    int64_t components;

    z->threads = threads;
    z->all = all;
    z->shift = NULL;
    z->count = 0;
    l->view = view;
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
    components = sample_lines(all->count) * piece * (1 + complex_);
    l->view.x = z->bits = (uint64_t *)*memory;
    *memory += (size_t)components * sizeof *z->bits;
}

static void set_floor_memory(sample *z, int32_t *memory)
{
    const int64_t components = z->piece * (1 + z->st->scalars.complex_);
    const int64_t of_a = sample_lines(z->a.all->count) * components,
                  of_b = sample_lines(z->b.all->count) * components;

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
static void measure_shifted(const sample *z, side *x)
{
    const int nu = ozg_norm_bits(z->st->length), c = ozg_bound_unit(z->st->length), n = (int)x->lines.count;
    ozg_norms sum[SAMPLE_LINES] = {{0, 0, 0}}, part[SAMPLE_LINES];

    for (int q = 0; q < n; q++)
        x->e[q] = OZG_E_NONE;
    for (int64_t p = 0; p < x->all->k; p += z->piece) {
        load_piece(x, p, x->all->k - p < z->piece ? x->all->k - p : z->piece);
        for (int q = 0; q < n; q++) {
            const int32_t e = ozg_exponent_shifted(&x->lines.view, x->lines.k, q);

            x->e[q] = e > x->e[q] ? e : x->e[q];
        }
    }
    for (int64_t p = 0; p < x->all->k; p += z->piece) {
        load_piece(x, p, x->all->k - p < z->piece ? x->all->k - p : z->piece);
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
    const side *x = arg;
    const ozg_view *v = &x->lines.view;
    const int parts = 1 + ozg_type_complex(v->type);

    (void)thread;
    for (int64_t p = 0; p < parts * x->lines.k; p++) {
        const int64_t at = q * v->line_stride * parts + p;
        const int32_t shift = (v->shift ? v->shift[p / parts] : 0) - x->e[q];
        const uint64_t magnitude = x->bits[at] & ~OZG_F64_SIGN;
        const int32_t f = (int32_t)ozg_floor(magnitude, FLOOR_BITS + shift);

        x->floor[at] = x->bits[at] >> 63 ? -f : f;
        x->exponent[at] = (int16_t)(magnitude ? ozg_exponent(magnitude) + shift : ZERO);
    }
}

/*
 * sums[0] += sum x y 2^-31, sums[1] += sum of the products of the leading bits, over n numbers, step apart.
 */
static void add_products(const int32_t *x, const int32_t *y, int64_t n, int step, int leading,
                         int64_t sums[2])
{
    const int down = FLOOR_BITS - leading;
    uint64_t value = 0, magnitude = 0;

    for (int64_t p = 0; p < n; p++) {
        const int32_t a = x[p * step], b = y[p * step];
        const uint32_t ma = (uint32_t)(a < 0 ? -a : a), mb = (uint32_t)(b < 0 ? -b : b);
        const uint64_t product = (uint64_t)ma * mb >> FLOOR_BITS,
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
static void raise_terms(const sample *z, int i, int j, int16_t term[2])
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
static void add_pair(const sample *z, int i, int j, int64_t sums[2][2])
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
    sample *z = arg;

    (void)thread;
    for (int j = 0; j < z->b.lines.count; j++) {
        int64_t sums[2][2] = {{0, 0}, {0, 0}};

        add_pair(z, (int)i, j, sums);
        raise_terms(z, (int)i, j, z->term[i][j]);
        for (int part = 0; part < 2; part++) { /* value: two's complement until all pieces are added */
            z->value[i][j][part] += (uint64_t)sums[part][0];
            z->magnitude[i][j][part] += (uint64_t)sums[part][1];
        }
    }
}

static void set_pairs(sample *z)
{
    const int64_t k = z->a.all->k;

    for (int i = 0; i < z->a.lines.count; i++) {
        memset(z->value[i], 0, (size_t)z->b.lines.count * sizeof *z->value[i]);
        memset(z->magnitude[i], 0, (size_t)z->b.lines.count * sizeof *z->magnitude[i]);
        for (int j = 0; j < z->b.lines.count; j++)
            z->term[i][j][0] = z->term[i][j][1] = 2 * ZERO;
    }
    for (int64_t p = 0; p < k; p += z->piece) {
        const int64_t count = k - p < z->piece ? k - p : z->piece;

        load_piece(&z->a, p, count);
        load_piece(&z->b, p, count);
        ozg_parallel(z->st->threads, z->a.lines.count, floor_task, &z->a);
        ozg_parallel(z->st->threads, z->b.lines.count, floor_task, &z->b);
        ozg_parallel(z->st->threads, z->a.lines.count, pair_task, z);
    }
    for (int i = 0; i < z->a.lines.count; i++)
        for (int j = 0; j < z->b.lines.count; j++)
            for (int part = 0; part < 2; part++)
                z->value[i][j][part] = absolute((int64_t)z->value[i][j][part]);
}

/* ---- the cost of s moduli ----------------------------------------------------------------------- */

/* Residuals of the piece, line by line of both operands. */
typedef struct residuals_job {
    const sample *z;
    side *side[2];
    ozg_norms *sum[2];
} residuals_job;

static void residuals_task(void *arg, int64_t task, int thread)
{
    const residuals_job *job = arg;
    const int of_b = task >= job->side[0]->lines.count;
    const int64_t q = of_b ? task - job->side[0]->lines.count : task;
    side *x = job->side[of_b];
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

/* D of all lines for s moduli, and the norms of what is then rounded away. */
static void set_residuals(sample *z, int s)
{
    const int c = ozg_bound_unit(z->st->length);
    ozg_norms sum[2][SAMPLE_LINES] = {{{0, 0, 0}}, {{0, 0, 0}}};
    residuals_job job = {z, {&z->a, &z->b}, {sum[0], sum[1]}};

    for (int of_b = 0; of_b < 2; of_b++) {
        ozg_scaling_norm(&job.side[of_b]->lines, s, z->st->length);
        memset(job.side[of_b]->places, 0, sizeof z->a.places);
    }
    for (int64_t p = 0; p < z->st->k; p += z->piece) {
        const int64_t count = z->st->k - p < z->piece ? z->st->k - p : z->piece;

        load_piece(&z->a, p, count);
        load_piece(&z->b, p, count);
        ozg_parallel(z->st->threads, z->a.lines.count + z->b.lines.count, residuals_task, &job);
    }
    for (int of_b = 0; of_b < 2; of_b++)
        for (int q = 0; q < job.side[of_b]->lines.count; q++)
            ozg_norms_factors(&sum[of_b][q], 16, c, &job.side[of_b]->r1[q], &job.side[of_b]->r2[q],
                              &job.side[of_b]->rmax[q]);
}

/*
 * |AB| of a pair is about *z 2^(e_i + e_j - 31 + *q): by the sum, and where that has no bits left, by the
 * largest term. z < 2^47.
 */
static void pair_value(const sample *s, int i, int j, int part, uint64_t *z, int32_t *q)
{
    const int c = ozg_bound_unit(s->st->length);

    *z = s->value[i][j][part] >> c;
    *q = c;
    if (s->value[i][j][part] >> 8 || s->term[i][j][part] < ZERO)
        return;
    *z = 1 << 20;
    *q = s->term[i][j][part] - 1 + FLOOR_BITS - 20;
}

/*
 * Does native grade fail for the pair? As passes_native() of the reconstruct stage, with an estimate of c^.
 */
static int pair_fails(const sample *z, int i, int j, uint64_t bound, int32_t least)
{
    const int single = z->st->scalars.single, complex_ = z->st->scalars.complex_,
              c = ozg_bound_unit(z->st->length);
    const uint32_t f = ozg_native_factor(z->st->k);
    int fails = 0;

    for (int part = 0; part <= complex_; part++) {
        uint64_t value;
        int32_t q;

        pair_value(z, i, j, part, &value, &q); /* c^ = value 2^(least + most - 31 + q) */
        fails |= !ozg_bound_passes(bound, f, (uint32_t)(z->magnitude[i][j][part] >> c), single, complex_, c,
                                   least) &&
                 !ozg_bound_passes_value(bound, f, value, least - FLOOR_BITS + q, single, c, 0);
    }
    return fails;
}

/*
 * The chance that the rounding of the pair is in doubt: 2 bound / ulp, where AB is about value
 * 2^(e_i + e_j - 31), ulp about 2^(1 - p) of it, and the bound 2^(-D-E) bound 2^(most + 2 c - 32).
 */
static double pair_doubt(const sample *z, int i, int j, uint64_t bound, int32_t least)
{
    const int complex_ = z->st->scalars.complex_, c = ozg_bound_unit(z->st->length);
    const int32_t shift = 2 * c - 32 + (z->st->scalars.single ? 24 : 53) + FLOOR_BITS - least;
    double doubt = 0;

    for (int part = 0; part <= complex_; part++) {
        uint64_t value;
        int32_t q;

        pair_value(z, i, j, part, &value, &q);
        doubt += ldexp((double)bound, shift - q) / ((double)value + 0.5);
    }
    return doubt < 1 ? doubt : 1;
}

/* What an exact entry costs, in products of one entry: by the places where elements were rounded, or all. */
static double repair_cost(const sample *z, int i, int j)
{
    const double k = (double)z->st->k, places = (double)z->a.places[i] + (double)z->b.places[j];

    return (REPAIR_NS + PLACE_NS * (places < k / 2 ? places : k / 2)) * z->st->kernel->rate / k;
}

/* The cost of s moduli for all pairs, in products (of the size of the problem) times pairs times UNIT. */
static uint64_t cost(sample *z, int s)
{
    const int native = z->st->kind == OZG_BY_NATIVE;
    const uint64_t pairs = (uint64_t)(z->a.lines.count * z->b.lines.count);
    uint64_t fails = 0;
    double doubts = 0, work = 0;

    set_residuals(z, s);
    for (int i = 0; i < z->a.lines.count; i++)
        for (int j = 0; j < z->b.lines.count; j++) {
            const ozg_factors a = ozg_factors_of(&z->a.lines, i), b = ozg_factors_of(&z->b.lines, j);
            const int32_t least = a.w < b.w ? a.w : b.w;
            const uint64_t bound = ozg_bound(&a, &b);
            double doubt;

            if (native) {
                fails += (uint64_t)pair_fails(z, i, j, bound, least);
                continue;
            }
            doubt = pair_doubt(z, i, j, bound, least);
            doubts += doubt;
            work += doubt * repair_cost(z, i, j);
        }
    z->repairs = native ? fails * UNIT : (uint64_t)(doubts * UNIT);
    return (uint64_t)s * pairs * UNIT + (native ? fails * REPAIR * UNIT : (uint64_t)(work * UNIT));
}

/* What full mantissas of like size take. */
static int usual_moduli(const sample *z)
{
    return (z->st->scalars.single ? START_SINGLE : START_DOUBLE) + (z->st->kind == OZG_BY_ROUNDED ? 3 : 0);
}

/* Looks for the cheapest s: upwards from a start, else downwards. *lowest: its cost. */
static ozg_choice search(sample *z, uint64_t *lowest)
{
    const uint64_t product = (uint64_t)(z->a.lines.count * z->b.lines.count) * UNIT; /* the cost of one */
    const int least = ozg_scaling_least(z->st->length);
    const int start = usual_moduli(z) > least ? usual_moduli(z) : least;
    ozg_choice best = {start, 0, 0};
    uint64_t here;

    *lowest = cost(z, start);
    best.repairs = z->repairs;
    for (int s = start + 1; s <= OZG_NMOD_MAX && (uint64_t)s * product < *lowest; s++)
        if ((here = cost(z, s)) < *lowest) {
            *lowest = here;
            best = (ozg_choice){s, 0, z->repairs};
        }
    for (int s = start - 1; best.nmod == s + 1 && s >= least; s--)
        if ((here = cost(z, s)) <= *lowest) {
            *lowest = here;
            best = (ozg_choice){s, 0, z->repairs};
        }
    return best;
}

/* ---- scaling along k ---------------------------------------------------------------------------- */

/* Rooms of a block of elements, of all lines. */
typedef struct room_job {
    const ozg_lines *lines;
    int16_t *room;
} room_job;

#define ROOM_BLOCK 512 /* elements of a task */

/* The largest exponent of a component of element p of line i, less that of the line. */
static int32_t room_of(const ozg_lines *l, int64_t i, int64_t p)
{
    const ozg_view *v = &l->view;
    const int parts = 1 + ozg_type_complex(v->type), single = ozg_type_single(v->type);
    int32_t most = INT16_MIN;

    for (int part = 0; part < parts; part++) {
        const int64_t at = (i * v->line_stride + p * v->step) * parts + part;
        const uint64_t bits = ozg_load_bits(v->x, single, at) & ~OZG_F64_SIGN;
        const int32_t e = bits ? ozg_exponent(bits) - l->e[i] : INT16_MIN;

        most = e > most ? e : most;
    }
    return most;
}

static void room_task(void *arg, int64_t task, int thread)
{
    const room_job *job = arg;
    const ozg_lines *l = job->lines;
    const int64_t begin = task * ROOM_BLOCK, end = begin + ROOM_BLOCK < l->k ? begin + ROOM_BLOCK : l->k;
    const int along = l->view.step == 1; /* the inner loop runs along memory */
    const int64_t outer = along ? l->count : end - begin, inner = along ? end - begin : l->count;

    (void)thread;
    for (int64_t p = begin; p < end; p++)
        job->room[p] = INT16_MIN;
    for (int64_t q = 0; q < outer; q++)
        for (int64_t r = 0; r < inner; r++) {
            const int64_t i = along ? q : r, p = begin + (along ? r : q);
            const int32_t room = l->e[i] == OZG_E_NONE ? INT16_MIN : room_of(l, i, p);

            job->room[p] = room > job->room[p] ? (int16_t)room : job->room[p];
        }
}

/* room[p] = the largest exponent of element p in any line, less that of the line; INT16_MIN: all are 0. */
static void set_room(const ozg_stage *st, const ozg_lines *lines, int16_t *room)
{
    room_job job = {lines, room};

    ozg_parallel(st->threads, (lines->k + ROOM_BLOCK - 1) / ROOM_BLOCK, room_task, &job);
}

/*
 * Shifts d_p of A and -d_p of B, d_p = (room of B - room of A) / 2 towards 0, that even out a scaling
 * inside: A diag(2^x), diag(2^-x) B. Returns 0 if all are 0.
 */
static int set_shifts(const sample *z, int16_t *shift_a, int16_t *shift_b)
{
    int any = 0;

    set_room(z->st, z->a.all, shift_a);
    set_room(z->st, z->b.all, shift_b);
    for (int64_t p = 0; p < z->st->k; p++) {
        const int32_t a = shift_a[p], b = shift_b[p],
                      half = a == INT16_MIN || b == INT16_MIN ? 0 : (b - a) / 2;
        const int32_t d = half > SHIFT_MOST ? SHIFT_MOST : half < -SHIFT_MOST ? -SHIFT_MOST : half;

        shift_a[p] = (int16_t)d;
        shift_b[p] = (int16_t)-d;
        any |= d != 0;
    }
    return any;
}

/*
 * The choice with shifts, if it saves at least one product; else `plain`, whose cost is `lowest`. Data that
 * cost less than one product more than usual are not looked at again.
 */
static ozg_choice try_shifts(sample *z, ozg_choice plain, uint64_t lowest, int16_t *shift_a, int16_t *shift_b)
{
    const uint64_t product = (uint64_t)(z->a.lines.count * z->b.lines.count) * UNIT;
    ozg_choice shifted;
    uint64_t cost_shifted;

    if (lowest < (uint64_t)(usual_moduli(z) + 1) * product || !set_shifts(z, shift_a, shift_b))
        return plain;
    z->a.shift = shift_a;
    z->b.shift = shift_b;
    measure_shifted(z, &z->a);
    measure_shifted(z, &z->b);
    set_pairs(z);
    shifted = search(z, &cost_shifted);
    shifted.shifted = 1;
    return cost_shifted + product <= lowest ? shifted : plain;
}

/* ---- public ------------------------------------------------------------------------------------- */

ozg_choice ozg_choose(const ozg_stage *st, const ozg_lines *a, const ozg_lines *b, int s, int16_t *shift_a,
                      int16_t *shift_b, void *memory)
{
    sample *z = memory;
    unsigned char *rest = (unsigned char *)memory + (sizeof *z + 63) / 64 * 64;
    const int least = ozg_scaling_least(st->length);
    ozg_choice choice = {s ? s : least, 0, 0};
    uint64_t lowest, pairs;

    z->st = st;
    z->piece = piece_of(a->view.type, a->k);
    open_side(&z->a, a, z->piece, st->threads, &rest);
    open_side(&z->b, b, z->piece, st->threads, &rest);
    set_floor_memory(z, (int32_t *)(void *)rest);
    pairs = (uint64_t)(z->a.lines.count * z->b.lines.count);
    if (pairs == 0)
        return choice;
    set_pairs(z);
    if (s) {
        cost(z, s);
        choice.repairs = z->repairs;
    } else {
        choice = search(z, &lowest);
        if (shift_a && shift_b)
            choice = try_shifts(z, choice, lowest, shift_a, shift_b);
    }
    choice.repairs =
        (uint64_t)((double)choice.repairs / UNIT / (double)pairs * (double)a->count * (double)b->count);
    return choice;
}
