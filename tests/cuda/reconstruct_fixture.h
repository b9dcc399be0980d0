/*
 * reconstruct_fixture.h - a tile for the tests of the reconstruction: lines, residues, floors, scalars and C
 * as the CPU's stage and the kernels see them, and either's run.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TEST_CUDA_RECONSTRUCT_FIXTURE_H
#define OZG_TEST_CUDA_RECONSTRUCT_FIXTURE_H

#include <math.h>

#include "cpu/parts.h"
#include "cuda/kernels.h"
#include "cuda/reconstruct.h"
#include "cuda/table.h"
#include "emulate.h"
#include "root.h"
#include "../kernels/kernels.h"

static ozg_cuda_table tables[OZG_CUDA_TABLES];

static inline int make_tables(void **state)
{
    (void)state;
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++)
        for (int complex_ = 0; complex_ < 2; complex_++)
            if (ozg_cuda_table_build(&tables[complex_ * (OZG_NMOD_MAX + 1) + s], complex_, s))
                return -1;
    return 0;
}

/* M; Q = floor(M / 2) - floor(M / 64) */
static inline void product_of(mpz_t m, const ozg_rns *rns)
{
    mpz_set_ui(m, 1);
    for (int l = 0; l < rns->nmod; l++)
        mpz_mul_ui(m, m, rns->m[l]);
}

static inline void largest_of(mpz_t q, const ozg_rns *rns)
{
    mpz_t m, part;

    mpz_inits(m, part, NULL);
    product_of(m, rns);
    mpz_fdiv_q_2exp(q, m, 1);
    mpz_fdiv_q_2exp(part, m, 6);
    mpz_sub(q, q, part);
    mpz_clears(m, part, NULL);
}

/* ---- a tile ------------------------------------------------------------------------------------- */

enum {
    MOST_ROWS = 720,
    MOST_COLUMNS = 24,
    LD = 768,
    TIE_COLUMNS = 20,
    GAP = 3
}; /* more rows than a strip of 128 threads has */

/* The lines of an operand as both sides see them. Elements are such that a repaired entry is huge. */
struct side {
    int64_t count;
    uint8_t special[MOST_ROWS];
    int32_t e[MOST_ROWS], d[MOST_ROWS];
    uint32_t factor[6][MOST_ROWS];
    uint64_t places[MOST_ROWS];
    int64_t index[MOST_ROWS];
    double element[4 * MOST_ROWS];
};

struct fixture {
    struct rng r;
    const ozg_rns *rns, *system; /* the CPU's, and that of the planes */
    int type, single, complex_, kind, reported;
    int64_t rows, columns, ldc, i0, j0; /* the tile lies at place i0, j0 */
    struct side a, b;
    ozg_scalars scalars;
    uint64_t length;
    int several, floor_bytes;
    int center;           /* of d */
    int tight;            /* all bounds about the same, and small: what is reported is the largest of many */
    int ties;             /* c^ are near ties, of so many bits and more; 0: any */
    int fp64;             /* of the kernels; -1: one of both */
    uint8_t *planes;      /* of products */
    unsigned char *bytes; /* residues in [0, m) */
    uint64_t *floors, *wide_sums;
    uint32_t *sums;
    double *c, *expected, *plain; /* room for any type; plain: without tests */
    uint64_t certain;             /* entries that the CPU repairs without need */
    uint64_t doubted;             /* entries that the device repairs without need */
    uint32_t *list;
};

static const uint64_t MOST_FIELD[2] = {
    1900, 200}; /* of C's exponent where entries may be repaired: double, single */

static inline void *get(size_t count, size_t size)
{
    void *p = calloc(count, size);

    assert_non_null(p);
    return p;
}

static inline size_t floor_room(const struct fixture *f)
{
    return (size_t)(1 + 2 * f->complex_) * LD * (size_t)f->columns;
}

/* Elements such that a repaired entry is alpha 2^980 (single 2^116), what C is added to it. */
static inline void fill_element(struct fixture *f, struct side *s, int64_t i)
{
    for (int part = 0; part <= f->complex_; part++)
        if (f->single)
            ((float *)(void *)s->element)[(1 + f->complex_) * i + part] = part ? 0 : 0x1p58f;
        else
            s->element[(1 + f->complex_) * i + part] = part ? 0 : 0x1p490;
}

/* One line; width: d + e. */
static inline void fill_line(struct fixture *f, struct side *s, int64_t i, int exact)
{
    struct rng *r = &f->r;
    const int zero = rng_below(r, 16) == 0, wide = (int)rng_below(r, 3),
              bits = wide ? 24 : (int)rng_between(r, 1, 24);
    const int width = (int)(wide ? rng_between(r, 40, 60) : rng_between(r, 15, 172));

    s->special[i] = (uint8_t)(rng_below(r, 20) == 0 ? OZG_LINE_INF : 0);
    s->places[i] = 1;
    s->d[i] =
        f->center + (f->tight ? 0 : (int32_t)rng_between(r, f->single ? -20 : -150, f->single ? 40 : 150));
    s->e[i] = (f->tight ? 50 : width) - s->d[i];
    if (zero || s->special[i])
        s->e[i] = s->d[i] = OZG_D_NONE;
    for (int q = 0; q < 6 && f->tight; q++) { /* r2 x2 is the least product */
        const uint32_t about[6] = {UINT32_C(1) << 31, 1 << 20, 1 << 16, 1 << 26, 1 << 10, 1 << 15};
        const int none = s->e[i] == OZG_E_NONE || (q >= 3 && exact);

        s->factor[q][i] = none ? 0 : about[q] - (uint32_t)rng_below(r, about[q] / 16);
    }
    for (int q = 0; q < 6 && !f->tight; q++) {
        const int none = s->e[i] == OZG_E_NONE || (q >= 3 && exact);
        const int most[6] = {32, 24, 16, 30, 22, 15}, by = most[q] * bits / 24 > 1 ? most[q] * bits / 24 : 1;

        s->factor[q][i] = none ? 0 : (uint32_t)(1 + rng_next(r) % ((UINT64_C(1) << by) - 1));
    }
}

static inline void fill_side(struct fixture *f, struct side *s, int64_t count)
{
    const int exact = (int)rng_below(&f->r, 4);

    s->count = count;
    for (int64_t i = 0; i < 2 * MOST_ROWS; i++)
        fill_element(f, s, i);
    for (int64_t i = 0; i < count; i++)
        fill_line(f, s, i, exact == 0 || (exact == 1 && rng_below(&f->r, 2)));
    for (int64_t i = 0; i < count; i++) /* a part's lines, rising; whole runs, too */
        s->index[i] = i;
    if (f->several) {
        int64_t at = 0;

        for (int64_t i = 0; i < count; i++) {
            s->index[i] = at;
            at += 1 + (rng_below(&f->r, 12) == 0);
        }
    }
}

/* c^ of a component: up to Q, of any length; near it, or small. */
static inline void choose_integer(struct rng *r, mpz_t z, const mpz_t most)
{
    const uint64_t form = rng_below(r, 8);
    mpz_t low;

    mpz_init(low);
    if (form == 0)
        mpz_sub_ui(z, most, (unsigned long)rng_below(r, 3));
    else if (form == 1)
        mpz_set_ui(z, (unsigned long)rng_below(r, 3));
    else {
        mpz_fdiv_q_2exp(z, most, form == 2 ? 0 : (mp_bitcnt_t)rng_below(r, mpz_sizeinbase(most, 2)));
        mpz_random_between(z, r, low, z);
        if (form < 5) /* a tie, nearly, or short */
            for (int q = (int)rng_below(r, 20); q >= 0 && mpz_sizeinbase(z, 2) > 56; q--)
                mpz_clrbit(z, (mp_bitcnt_t)rng_below(r, mpz_sizeinbase(z, 2) - 54));
    }
    if (rng_below(r, 2))
        mpz_neg(z, z);
    mpz_clear(low);
}

/* Of tie_integer(): each has a row. */
enum { TIE_STEPS = 26, TIES = 2 * TIE_STEPS * 4 * 2 };

/*
 * c^ of `length` bits at a place where the rounding to `digits` bits changes, or next to it, number q < TIES
 * of these: tie + step, + a number 2^step beside it, steps 0 (none) and +-1 .. +-2^24; what is kept is odd,
 * even, all ones (it carries into the next power of two) or a power of two; both signs.
 */
static inline void tie_integer(struct rng *r, mpz_t z, int length, int digits, int q)
{
    const int down = q % 2, step = q / 2 % TIE_STEPS, form = q / (2 * TIE_STEPS) % 4, below = length - digits;
    mpz_t move;

    mpz_init_set_ui(move, 1);
    mpz_mul_2exp(z, move, (mp_bitcnt_t)digits - 1);
    if (form == 0)
        mpz_add_ui(z, z, (unsigned long)(rng_next(r) & ((UINT64_C(1) << (digits - 1)) - 1)) | 1);
    else if (form == 1)
        mpz_add_ui(z, z, (unsigned long)(rng_next(r) & ((UINT64_C(1) << (digits - 1)) - 1)) & ~1UL);
    else if (form == 2)
        mpz_sub_ui(z, z, 1), mpz_setbit(z, (mp_bitcnt_t)digits - 1);
    mpz_mul_2exp(z, z, (mp_bitcnt_t)below);
    mpz_setbit(z, (mp_bitcnt_t)below - 1);
    mpz_mul_2exp(move, move, (mp_bitcnt_t)(step > 0 ? (step - 1) % below : 0));
    if (step > 0 && down)
        mpz_sub(z, z, move);
    else if (step > 0)
        mpz_add(z, z, move);
    if (q / (8 * TIE_STEPS) % 2)
        mpz_neg(z, z);
    mpz_clear(move);
}

static inline uint8_t symmetric_byte(unsigned long x, unsigned long m)
{
    x %= m;
    return (uint8_t)(x > m / 2 ? x - m : x);
}

/* The residues of an entry as the device has them: 3M with any P1, or 2M. */
static inline void set_planes(struct fixture *f, int64_t at, mpz_t *z)
{
    const int n = f->system->nmod;
    const int64_t plane = LD * f->columns;

    for (int l = 0; l < n; l++) {
        const unsigned long m = f->system->m[l], re = mpz_fdiv_ui(z[0], m), im = mpz_fdiv_ui(z[1], m);
        const unsigned long other = (unsigned long)rng_below(&f->r, m); /* P1 */

        if (!f->complex_) {
            f->planes[l * plane + at] = symmetric_byte(re, m);
        } else if (l < f->system->three) {
            f->planes[l * plane + at] = symmetric_byte(re + other, m);
            f->planes[(n + l) * plane + at] = symmetric_byte(other, m);
            f->planes[(2 * n + l) * plane + at] = symmetric_byte(im + re + 2 * other, m);
        } else {
            const unsigned long j = (unsigned long)root_of((int)m);

            f->planes[l * plane + at] = symmetric_byte(re + j * im, m);
            f->planes[(n + l) * plane + at] = symmetric_byte(re + (m - j) * im, m);
        }
    }
}

/* Residues of one entry, both ways. */
static inline void set_entry(struct fixture *f, int64_t i, int64_t j, mpz_t *z)
{
    const int64_t plane = LD * f->columns, at = j * LD + i;

    for (int part = 0; part <= f->complex_; part++)
        for (int l = 0; l < f->rns->nmod; l++)
            f->bytes[(part * f->rns->nmod + l) * plane + at] =
                (unsigned char)mpz_fdiv_ui(z[part], f->rns->m[l]);
    set_planes(f, at, z);
}

/* Sums of floors: those of the CPU are of components. */
static inline void set_floors(struct fixture *f, int64_t at)
{
    const int bits = f->tight ? 29 : (int)rng_below(&f->r, f->floor_bytes == 4 ? 29 : 40);
    const uint64_t re = rng_next(&f->r) & ((UINT64_C(1) << bits) - 1),
                   im = rng_next(&f->r) & ((UINT64_C(1) << bits) - 1);
    const int64_t plane = LD * f->columns;
    const uint64_t p[3] = {f->complex_ ? re / 2 : re, re - re / 2, im + re};

    f->floors[at] = re;
    if (f->complex_)
        f->floors[plane + at] = im;
    for (int q = 0; q < 1 + 2 * f->complex_; q++)
        if (f->floor_bytes == 4)
            f->sums[q * plane + at] = (uint32_t)p[q];
        else
            f->wide_sums[q * plane + at] = p[q];
}

/*
 * c^ of entry (i, j): lengths rise with the columns, so that a warp has one; but in the first column all ones are
 * one bit shorter, and would have the length of the others if they carried.
 */
static inline void choose_entry(struct fixture *f, int64_t i, int64_t j, const mpz_t most, mpz_t z)
{
    const int longest = (int)mpz_sizeinbase(most, 2) - 1, lengths = longest - f->ties + 1, q = (int)i % TIES;
    const int ones = q / (2 * TIE_STEPS) % 4 == 2 && q / 2 % TIE_STEPS < TIE_STEPS - 1;

    if (f->ties && lengths > 0)
        tie_integer(&f->r, z, f->ties + (int)(j % lengths) - (j == 0 && ones), f->single ? 24 : 53, q);
    else
        choose_integer(&f->r, z, most);
}

static inline void fill_sums(struct fixture *f)
{
    mpz_t most, z[2];

    mpz_inits(most, z[0], z[1], NULL);
    largest_of(most, f->rns);
    for (int64_t j = 0; j < f->columns; j++)
        for (int64_t i = 0; i < f->rows; i++) {
            const int zero =
                f->a.e[f->i0 + i] == OZG_E_NONE || f->b.e[f->j0 + j] == OZG_E_NONE; /* then c^ = 0 */

            for (int part = 0; part < 2; part++) {
                choose_entry(f, i, j, most, z[part]);
                if (zero)
                    mpz_set_ui(z[part], 0);
            }
            set_entry(f, i, j, z);
            set_floors(f, j * LD + i);
        }
    mpz_clears(most, z[0], z[1], NULL);
}

static inline ozg_scalar power(struct rng *r)
{
    const double x[] = {1, -1, 2, -0.5, 0.0625};

    return ozg_scalar_of(x[rng_below(r, 5)]);
}

/* form 0: alpha a power, beta 0; 1: beta a power; 2: any; 3: Inf or NaN, too */
static inline void fill_scalars(struct fixture *f, int form)
{
    const double any[] = {1, -1.5, 0.3, 1e-3, -3, 0, INFINITY, NAN};
    struct rng *r = &f->r;
    ozg_scalars *s = &f->scalars;

    memset(s, 0, sizeof *s);
    s->single = f->single;
    s->complex_ = f->complex_;
    for (int part = 0; part < 2; part++) {
        s->alpha[part] = ozg_scalar_of(form < 2 ? 0 : any[rng_below(r, form == 2 ? 5 + (uint64_t)part : 8)]);
        s->beta[part] = ozg_scalar_of(form < 2 ? 0 : any[rng_below(r, form == 2 ? 6 : 8)]);
    }
    if (form < 2)
        s->alpha[0] = power(r);
    if (form == 1)
        s->beta[0] = power(r);
}

static inline double old_number(struct fixture *f, double near)
{
    static const double odd[] = {0,   -0.0,      INFINITY,  -INFINITY,
                                 NAN, 0x1p-1074, 0x1p-1060, 0x1.fffffffffffffp1023};
    struct rng *r = &f->r;
    const uint64_t form = rng_below(r, 12);

    if (form == 0)
        return odd[rng_below(r, 8)];
    if (form < 5) /* cancels */
        return -near;
    if (form < 6)
        return ldexp((double)(int64_t)rng_next(r), (int)rng_between(r, -1130, 900));
    return near * ldexp((double)(int64_t)rng_next(r), (int)rng_between(r, -200, 60));
}

static inline void put_number(const struct fixture *f, double *c, int64_t at, double x)
{
    if (f->single)
        ((float *)(void *)c)[at] = (float)x;
    else
        c[at] = x;
}

static inline int64_t numbers_of_c(const struct fixture *f)
{
    return (1 + f->complex_) * f->ldc * 2 * MOST_COLUMNS;
}

static inline void open_fixture(struct fixture *f, int s, int type, int kind, int scalars)
{
    struct rng *r = &f->r;
    const int tests = kind == OZG_BY_NATIVE || kind == OZG_BY_ROUNDED;

    f->rns = f->system = rns_of(1, s);
    f->single = type & 1;
    f->complex_ = type >> 1;
    assert_true(!f->complex_ || ozg_rns_complex(&f->system, s) == OZG_OK);
    f->kind = kind;
    f->reported = tests && rng_below(r, 2);
    f->several = (int)rng_below(r, 2);
    f->rows = rng_between(r, 1, rng_below(r, 3) ? 9 : 61);
    f->columns = rng_between(r, 1, rng_below(r, 3) ? 5 : 20);
    if (rng_below(r, 16) == 0) {
        f->rows = rng_between(r, 500, 700);
        f->columns = rng_between(r, 1, 2);
    }
    if (f->ties) {
        f->rows = TIES;
        f->columns = f->fp64 < 0 ? 3 : TIE_COLUMNS;
    }
    f->i0 = rng_between(r, 0, 4);
    f->j0 = rng_between(r, 0, 3);
    f->ldc = 2 * MOST_ROWS + rng_between(r, 0, GAP);
    f->floor_bytes = rng_below(r, 2) ? 4 : 8;
    f->tight = kind == OZG_BY_NATIVE && rng_below(r, 4) == 0;
    f->center = ozg_moduli_get(s)->most_bits / 2;
    if (rng_below(r, 3) == 0) /* results overflow, or are subnormal */
        f->center += rng_below(r, 2) ? (f->single ? -50 : -450) : (f->single ? 70 : 520);
    f->length = (uint64_t)rng_between(r, 2, rng_below(r, 2) ? 5000 : 1 << 24);
    f->planes = get((size_t)(ozg_rns_products(f->system, f->complex_) * LD * f->columns), 1);
    f->bytes = get((size_t)((1 + f->complex_) * s * LD * f->columns), 1);
    f->floors = get(floor_room(f), 8);
    f->wide_sums = get(floor_room(f), 8);
    f->sums = get(floor_room(f), 4);
    fill_side(f, &f->a, f->i0 + f->rows + rng_between(r, 0, 2));
    fill_side(f, &f->b, f->j0 + f->columns + rng_between(r, 0, 2));
    fill_sums(f);
    fill_scalars(f, scalars);
    f->c = get((size_t)numbers_of_c(f) + 1, 8);
    f->expected = get((size_t)numbers_of_c(f) + 1, 8);
    f->plain = get((size_t)numbers_of_c(f) + 1, 8);
    f->list = get((size_t)(f->rows * f->columns), sizeof *f->list);
}

static inline void close_fixture(struct fixture *f)
{
    free(f->planes);
    free(f->bytes);
    free(f->floors);
    free(f->wide_sums);
    free(f->sums);
    free(f->c);
    free(f->expected);
    free(f->plain);
    free(f->list);
}

/* ---- both sides --------------------------------------------------------------------------------- */

static inline ozg_lines cpu_lines(struct fixture *f, struct side *s)
{
    ozg_lines l;

    memset(&l, 0, sizeof l);
    l.view = (ozg_view){s->element, 1, 1, "dszc"[2 * f->complex_ + f->single], 0, NULL};
    l.count = s->count;
    l.k = 1;
    l.special = s->special;
    l.e = s->e;
    l.d = s->d;
    l.x1 = s->factor[0];
    l.x2 = s->factor[1];
    l.xmax = s->factor[2];
    l.r1 = s->factor[3];
    l.r2 = s->factor[4];
    l.rmax = s->factor[5];
    l.places = s->places;
    l.words = 1;
    l.index = f->several ? s->index : NULL;
    return l;
}

/* The same by stored line: the arrays are spread out. */
static inline ozg_cuda_lines cuda_lines(struct fixture *f, struct side *s, void **memory)
{
    ozg_cuda_lines l;
    char *at = get((size_t)(2 * MOST_ROWS), 40);
    uint32_t **const factor[6] = {&l.x1, &l.x2, &l.xmax, &l.r1, &l.r2, &l.rmax};

    *memory = at;
    memset(&l, 0, sizeof l);
    l.count = 2 * MOST_ROWS;
    l.k = 1;
    l.d = (int32_t *)(void *)at;
    l.e = l.d + 2 * MOST_ROWS;
    for (int q = 0; q < 6; q++)
        *factor[q] = (uint32_t *)(void *)(l.e + (1 + q) * 2 * MOST_ROWS);
    l.special = (uint8_t *)(l.e + 7 * 2 * MOST_ROWS);
    l.index = f->several ? s->index : NULL;
    for (int64_t i = 0; i < s->count; i++) {
        const int64_t to = s->index[i];

        l.d[to] = s->d[i];
        l.e[to] = s->e[i];
        l.special[to] = s->special[i];
        for (int q = 0; q < 6; q++)
            (*factor[q])[to] = s->factor[q][i];
    }
    return l;
}

static inline ozg_repairs run_cpu(struct fixture *f, double *c)
{
    const ozg_lines a = cpu_lines(f, &f->a), b = cpu_lines(f, &f->b);
    const ozg_residues in = {f->bytes, (size_t)(LD * f->columns), LD, (size_t)(LD * f->columns), f->floors,
                             NULL};
    ozg_repairs repairs = {0, 0, 0, 0};
    ozg_stage st;

    memset(&st, 0, sizeof st);
    st.kernel = kernel_ref();
    st.rns = f->rns;
    st.kind = f->kind;
    st.reported = f->reported;
    st.length = f->length;
    st.k = (int64_t)f->length >> f->complex_;
    st.threads = 1;
    st.scalars = f->scalars;
    ozg_cpu_reconstruct(&st, &in, &a, f->i0, f->rows, &b, f->j0, f->columns, c, f->ldc, &repairs);
    return repairs;
}

static inline ozg_cuda_state run_cuda(struct fixture *f)
{
    ozg_cuda_state state;
    ozg_cuda_reconstruct_args args;
    void *memory[2];

    memset(&state, 0, sizeof state);
    memset(&args, 0, sizeof args);
    args.tile.part = (int)rng_below(&f->r, OZG_PARTS) * f->several;
    state.parts = f->several ? OZG_PARTS : 1;
    state.nmod[args.tile.part] = f->rns->nmod;
    state.part[args.tile.part] =
        (ozg_part){f->i0 / 2, f->a.count - f->i0 / 2, f->j0 / 2, f->b.count - f->j0 / 2};
    args.tile.i0 = f->i0 - f->i0 / 2;
    args.tile.j0 = f->j0 - f->j0 / 2;
    args.tile.rows = f->rows + (f->i0 + f->rows == f->a.count ? 5 : 0); /* the part ends before the tile */
    args.tile.columns = f->columns + (f->j0 + f->columns == f->b.count ? 9 : 0);
    args.state = &state;
    memset(&args.request, 0, sizeof args.request);
    args.request.kind = f->kind;
    args.request.single = f->single;
    args.request.complex_ = f->complex_;
    args.request.measured = 1;
    args.request.reported = f->reported;
    args.request.length = f->length;
    args.a = cuda_lines(f, &f->a, &memory[0]);
    args.b = cuda_lines(f, &f->b, &memory[1]);
    args.in =
        (ozg_cuda_residues){f->planes, LD, f->columns,
                            f->floor_bytes == 4 ? (void *)f->sums : (void *)f->wide_sums, f->floor_bytes};
    args.tables = ozg_cuda_tables_of(tables, f->complex_);
    args.scalars = f->scalars;
    args.c = f->c;
    args.ldc = f->ldc;
    args.list = f->list;
    args.factor = ozg_native_factor((int64_t)f->length >> f->complex_);
    args.fp64 = f->fp64 < 0 ? (int)rng_below(&f->r, 2) : f->fp64;
    ozg_emulated_order((uint32_t)rng_below(&f->r, 4));
    args.all = ozg_cuda_reconstruct_may_all(&f->scalars) && rng_below(&f->r, 2);
    for (int large = args.all; large < 2; large++)
        assert_int_equal(ozg_emulated_launch(ozg_cuda_reconstruct_name(&f->scalars, large),
                                             1 + (int)rng_below(&f->r, 5), OZG_CUDA_RECONSTRUCT_THREADS, 0,
                                             &args),
                         OZG_EMULATED_OK);
    free(memory[0]);
    free(memory[1]);
    return state;
}

#endif
