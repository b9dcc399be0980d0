/*
 * test_reconstruct.c - the constants of the reconstruction in rational numbers; the kernels bit for bit
 * against the CPU's stage: which entries they leave to repair, and what they write.
 *
 * with: ozg_cuda_emulated
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "cpu/parts.h"
#include "cuda/kernels.h"
#include "cuda/reconstruct.h"
#include "cuda/table.h"
#include "emulate.h"
#include "../kernels/kernels.h"

static ozg_cuda_table tables[OZG_NMOD_MAX + 1];

static int make_tables(void **state)
{
    (void)state;
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++)
        if (ozg_cuda_table_build(&tables[s], s))
            return -1;
    return 0;
}

/* M; Q = floor(M / 2) - floor(M / 64) */
static void product_of(mpz_t m, const ozg_rns *rns)
{
    mpz_set_ui(m, 1);
    for (int l = 0; l < rns->nmod; l++)
        mpz_mul_ui(m, m, rns->m[l]);
}

static void largest_of(mpz_t q, const ozg_rns *rns)
{
    mpz_t m, part;

    mpz_inits(m, part, NULL);
    product_of(m, rns);
    mpz_fdiv_q_2exp(q, m, 1);
    mpz_fdiv_q_2exp(part, m, 6);
    mpz_sub(q, q, part);
    mpz_clears(m, part, NULL);
}

/* ---- constants ---------------------------------------------------------------------------------- */

static int digit(const ozg_cuda_weights *t, int i, int l)
{
    return (int16_t)(t->digit[i][l / 4][l / 2 % 2] >> 16 * (l % 2));
}

/* z = the number whose digits are those of row `first` and on, or of -M (l < 0) */
static void number_of(mpz_t z, const ozg_cuda_weights *t, int l)
{
    mpz_set_ui(z, 0);
    for (int i = OZG_CRT_LIMBS - 1; i >= 0; i--) {
        const int x = l < 0 ? t->product[i] : digit(t, 2 + i, l);

        assert_in_range(x + 32768, 0, 65535);
        mpz_mul_2exp(z, z, 16);
        if (x < 0)
            mpz_sub_ui(z, z, (unsigned long)-x);
        else
            mpz_add_ui(z, z, (unsigned long)x);
    }
}

/* sum += h |(2^16 f + g) / 2^32 - w / M|, times 2^32 M */
static void add_error(mpz_t sum, const mpz_t w, const mpz_t m, long h, long f, long g)
{
    mpz_t error, part;

    mpz_inits(error, part, NULL);
    mpz_mul_si(error, m, f * 65536 + g);
    mpz_mul_2exp(part, w, 32);
    mpz_sub(error, error, part);
    mpz_abs(error, error);
    mpz_addmul_ui(sum, error, (unsigned long)h);
    mpz_clears(error, part, NULL);
}

/* 2^32 M (1 / 2 - Q / M) */
static void room_of(mpz_t room, const mpz_t m, const mpz_t q)
{
    mpz_mul_2exp(room, m, 31);
    mpz_submul_ui(room, q, 1ul << 32);
}

static void check_constants(const ozg_rns *rns, const ozg_cuda_weights *t)
{
    mpz_t m, q, w, y, one, two, room;

    mpz_inits(m, q, w, y, one, two, room, NULL);
    product_of(m, rns);
    largest_of(q, rns);
    number_of(w, t, -1);
    mpz_add(w, w, m);
    assert_int_equal(mpz_sgn(w), 0);
    assert_true(mpz_sizeinbase(q, 2) < (size_t)(16 * t->nlimb));
    assert_int_equal((t->nlimb + 3) / 4, rns->nword);
    for (int l = 0; l < 4 * OZG_CUDA_GROUPS; l++) {
        const long h = l >= rns->nmod ? 0 : rns->m[l] == 256 ? 128 : (rns->m[l] - 1) / 2;

        number_of(w, t, l);
        if (l >= rns->nmod) {
            assert_int_equal(mpz_sgn(w) | digit(t, 0, l) | digit(t, 1, l), 0);
            continue;
        }
        for (int other = 0; other < rns->nmod;
             other++) /* a weight is 1 modulo its own, 0 modulo the others */
            assert_int_equal(mpz_fdiv_ui(w, rns->m[other]), other == l);
        mpz_mul_2exp(y, w, 1);
        assert_true(mpz_cmpabs(y, m) < 0);
        add_error(one, w, m, h, digit(t, 0, l), 0);
        add_error(two, w, m, h, digit(t, 0, l), digit(t, 1, l));
    }
    room_of(room, m, q);
    assert_true(mpz_cmp(one, room) < 0);
    mpz_mul_ui(two, two, 3);
    mpz_addmul_ui(two, m, 1ul << 16); /* the low digits are rounded down */
    assert_true(mpz_cmp(two, room) < 0);
    mpz_clears(m, q, w, y, one, two, room, NULL);
}

static void test_constants(void **state)
{
    (void)state;
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++)
        check_constants(rns_of(1, s), &tables[s].weights);
}

/* ---- a tile ------------------------------------------------------------------------------------- */

enum {
    MOST_ROWS = 720,
    MOST_COLUMNS = 24,
    LD = 768,
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
    const ozg_rns *rns;
    int type, single, complex_, kind, reported;
    int64_t rows, columns, ldc, i0, j0; /* the tile lies at place i0, j0 */
    struct side a, b;
    ozg_scalars scalars;
    uint64_t length;
    int several, floor_bytes;
    int center;           /* of d */
    int tight;            /* all bounds about the same, and small: what is reported is the largest of many */
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

static void *get(size_t count, size_t size)
{
    void *p = calloc(count, size);

    assert_non_null(p);
    return p;
}

static size_t floor_room(const struct fixture *f)
{
    return (size_t)(1 + 2 * f->complex_) * LD * (size_t)f->columns;
}

/* Elements such that a repaired entry is alpha 2^980 (single 2^116), what C is added to it. */
static void fill_element(struct fixture *f, struct side *s, int64_t i)
{
    for (int part = 0; part <= f->complex_; part++)
        if (f->single)
            ((float *)(void *)s->element)[(1 + f->complex_) * i + part] = part ? 0 : 0x1p58f;
        else
            s->element[(1 + f->complex_) * i + part] = part ? 0 : 0x1p490;
}

/* One line; width: d + e. */
static void fill_line(struct fixture *f, struct side *s, int64_t i, int exact)
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

static void fill_side(struct fixture *f, struct side *s, int64_t count)
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
static void choose_integer(struct rng *r, mpz_t z, const mpz_t most)
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

static uint8_t symmetric_byte(unsigned long x, unsigned long m)
{
    x %= m;
    return (uint8_t)(x > m / 2 ? x - m : x);
}

/* Residues of one entry, both ways. */
static void set_entry(struct fixture *f, int64_t i, int64_t j, mpz_t *z)
{
    const int s = f->rns->nmod;
    const int64_t plane = LD * f->columns, at = j * LD + i;

    for (int l = 0; l < s; l++) {
        const unsigned long m = f->rns->m[l], re = mpz_fdiv_ui(z[0], m), im = mpz_fdiv_ui(z[1], m);
        const unsigned long other = (unsigned long)rng_below(&f->r, m); /* P1 */

        f->bytes[l * plane + at] = (unsigned char)re;
        if (f->complex_)
            f->bytes[(s + l) * plane + at] = (unsigned char)im;
        f->planes[l * plane + at] = symmetric_byte(f->complex_ ? re + other : re, m);
        if (f->complex_) {
            f->planes[(s + l) * plane + at] = symmetric_byte(other, m);
            f->planes[(2 * s + l) * plane + at] = symmetric_byte(im + re + 2 * other, m);
        }
    }
}

/* Sums of floors: those of the CPU are of components. */
static void set_floors(struct fixture *f, int64_t at)
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

static void fill_sums(struct fixture *f)
{
    mpz_t most, z[2];

    mpz_inits(most, z[0], z[1], NULL);
    largest_of(most, f->rns);
    for (int64_t j = 0; j < f->columns; j++)
        for (int64_t i = 0; i < f->rows; i++) {
            const int zero =
                f->a.e[f->i0 + i] == OZG_E_NONE || f->b.e[f->j0 + j] == OZG_E_NONE; /* then c^ = 0 */

            for (int part = 0; part < 2; part++) {
                choose_integer(&f->r, z[part], most);
                if (zero)
                    mpz_set_ui(z[part], 0);
            }
            set_entry(f, i, j, z);
            set_floors(f, j * LD + i);
        }
    mpz_clears(most, z[0], z[1], NULL);
}

static ozg_scalar power(struct rng *r)
{
    const double x[] = {1, -1, 2, -0.5, 0.0625};

    return ozg_scalar_of(x[rng_below(r, 5)]);
}

/* form 0: alpha a power, beta 0; 1: beta a power; 2: any; 3: Inf or NaN, too */
static void fill_scalars(struct fixture *f, int form)
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

static double old_number(struct fixture *f, double near)
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

static void put_number(const struct fixture *f, double *c, int64_t at, double x)
{
    if (f->single)
        ((float *)(void *)c)[at] = (float)x;
    else
        c[at] = x;
}

static int64_t numbers_of_c(const struct fixture *f)
{
    return (1 + f->complex_) * f->ldc * 2 * MOST_COLUMNS;
}

/* ---- both sides --------------------------------------------------------------------------------- */

static ozg_lines cpu_lines(struct fixture *f, struct side *s)
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
static ozg_cuda_lines cuda_lines(struct fixture *f, struct side *s, void **memory)
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

static ozg_repairs run_cpu(struct fixture *f, double *c)
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

static ozg_cuda_state run_cuda(struct fixture *f)
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
    args.request = (ozg_cuda_request){f->kind, 0, f->single, f->complex_, 1, f->reported, 0, 0, 0, f->length};
    args.a = cuda_lines(f, &f->a, &memory[0]);
    args.b = cuda_lines(f, &f->b, &memory[1]);
    args.in =
        (ozg_cuda_residues){f->planes, LD, f->columns,
                            f->floor_bytes == 4 ? (void *)f->sums : (void *)f->wide_sums, f->floor_bytes};
    args.tables = tables;
    args.scalars = f->scalars;
    args.c = f->c;
    args.ldc = f->ldc;
    args.list = f->list;
    args.factor = ozg_native_factor((int64_t)f->length >> f->complex_);
    ozg_emulated_order((uint32_t)rng_below(&f->r, 4));
    for (int large = 0; large < 2; large++)
        assert_int_equal(ozg_emulated_launch(ozg_cuda_reconstruct_name(&f->scalars, large),
                                             1 + (int)rng_below(&f->r, 5), OZG_CUDA_RECONSTRUCT_THREADS, 0,
                                             &args),
                         OZG_EMULATED_OK);
    free(memory[0]);
    free(memory[1]);
    return state;
}

/* ---- comparison --------------------------------------------------------------------------------- */

static uint64_t bits_of(const struct fixture *f, const double *c, int64_t at)
{
    uint64_t bits = 0;

    memcpy(&bits, (const char *)c + (f->single ? 4 : 8) * at, f->single ? 4 : 8);
    return bits;
}

static uint64_t field_of(const struct fixture *f, uint64_t bits)
{
    return f->single ? bits >> 23 & 0xff : bits >> 52 & 0x7ff;
}

/* The bits of a repaired entry. */
static uint64_t repaired_bits(const struct fixture *f)
{
    const ozg_fp alpha = f->scalars.alpha[0].fp;
    const double x = ldexp((double)alpha.mant, alpha.exp + (f->single ? 116 : 980)) * (alpha.neg ? -1 : 1);
    double c[1];

    put_number(f, c, 0, x);
    return bits_of(f, c, 0);
}

struct fails {
    int64_t listed, tested;
};

static struct {
    uint64_t doubted, tested;
} all; /* of all fixtures of a test */

/*
 * Rounded, C joining c^: the CPU repairs where the bound leaves no room in the words of c^, though C may be
 * so large that there is no doubt.
 */
static int has_room(struct fixture *f, int64_t i, int64_t j)
{
    const ozg_lines a = cpu_lines(f, &f->a), b = cpu_lines(f, &f->b);
    const ozg_factors row = ozg_factors_of(&a, f->i0 + i), column = ozg_factors_of(&b, f->j0 + j);
    const int shift = (row.w > column.w ? row.w : column.w) + 2 * ozg_bound_unit(f->length) - 32;
    const uint64_t bound = ozg_ceil_shift(ozg_bound(&row, &column), shift < 0 ? -shift : 0);

    return (shift > 0 ? shift : 0) + ozg_bit_length(bound) <= 64 * f->rns->nword - 7;
}

/* C is as it was at `at`. */
static void check_kept(struct fixture *f, const double *before, int64_t at)
{
    const int64_t size = f->single ? 4 : 8;

    assert_memory_equal((char *)f->c + size * at, (const char *)before + size * at,
                        (size_t)(size << f->complex_));
    memcpy((char *)f->expected + size * at, (char *)f->c + size * at, (size_t)(size << f->complex_));
}

static void check_entry(struct fixture *f, const double *before, int64_t i, int64_t j, int listed)
{
    const int64_t at = (1 + f->complex_) * (f->a.index[f->i0 + i] + f->b.index[f->j0 + j] * f->ldc),
                  size = f->single ? 4 : 8;
    const uint64_t first = bits_of(f, f->expected, at);
    const int tests = f->kind == OZG_BY_NATIVE || f->kind == OZG_BY_ROUNDED,
              repaired = first == repaired_bits(f);
    const int known = tests && field_of(f, first) != (f->single ? 0xff : 0x7ff);

    if (f->kind == OZG_BY_ROUNDED && repaired && !listed && !has_room(f, i, j)) { /* RN(c^) */
        memcpy((char *)f->expected + size * at, (const char *)f->plain + size * at,
               (size_t)(size << f->complex_));
        f->certain++;
    } else if (f->kind == OZG_BY_ROUNDED && listed && !repaired) {
        f->doubted++; /* the CPU found that both ends agree; the list is right, too */
        return check_kept(f, before, at);
    } else if (known && repaired != listed)
        fail_msg("s = %d, type %c, kind %d, entry (%d, %d): %s, the CPU has %016llx", f->rns->nmod,
                 "dszc"[2 * f->complex_ + f->single], f -> kind, (int)i, (int)j,
                 listed ? "in the list" : "not in the list", (unsigned long long)first);
    for (int part = 0; part <= f->complex_; part++) {
        const uint64_t actual = bits_of(f, f->c, at + part),
                       expected = bits_of(f, listed ? before : f->expected, at + part);

        if (actual != expected)
            fail_msg("s = %d, type %c, kind %d, entry (%d, %d) part %d: %016llx, expected %016llx",
                     f->rns->nmod, "dszc"[2 * f->complex_ + f->single], f -> kind, (int)i, (int)j, part,
                     (unsigned long long)actual, (unsigned long long)expected);
    }
    memcpy((char *)f->expected + size * at, (char *)f->c + size * at, (size_t)(size << f->complex_));
}

/* before: C as it was. */
static struct fails compare(struct fixture *f, const double *before, const ozg_repairs *cpu,
                            const ozg_cuda_state *cuda)
{
    uint8_t *listed = get((size_t)(f->rows * f->columns), 1);
    const int tests = f->kind == OZG_BY_NATIVE || f->kind == OZG_BY_ROUNDED;

    assert_int_equal(cuda->repaired, cuda->failed);
    assert_int_equal(cuda->tested, cpu->tested);
    assert_true(tests || cuda->failed == 0);
    for (uint32_t q = 0; q < cuda->failed; q++) {
        assert_true(f->list[q] < f->rows * f->columns && !listed[f->list[q]]);
        listed[f->list[q]] = 1;
    }
    for (int64_t j = 0; j < f->columns; j++)
        for (int64_t i = 0; i < f->rows; i++)
            check_entry(f, before, i, j, listed[i + j * f->rows]);
    assert_int_equal(cuda->repaired + f->certain, cpu->repaired + f->doubted);
    all.doubted += f->doubted;
    all.tested += cuda->tested;
    assert_int_equal(cuda->largest, cpu->largest);
    assert_memory_equal(f->c, f->expected,
                        (size_t)numbers_of_c(f) * (f->single ? 4 : 8)); /* and nothing else */
    free(listed);
    return (struct fails){cuda->failed, (int64_t)cuda->tested};
}

static void open_fixture(struct fixture *f, int s, int type, int kind, int scalars)
{
    struct rng *r = &f->r;
    const int tests = kind == OZG_BY_NATIVE || kind == OZG_BY_ROUNDED;

    f->rns = rns_of(1, s);
    f->single = type & 1;
    f->complex_ = type >> 1;
    f->kind = kind;
    f->reported = tests && rng_below(r, 2);
    f->several = (int)rng_below(r, 2);
    f->rows = rng_between(r, 1, rng_below(r, 3) ? 9 : 61);
    f->columns = rng_between(r, 1, rng_below(r, 3) ? 5 : 20);
    if (rng_below(r, 16) == 0) {
        f->rows = rng_between(r, 500, 700);
        f->columns = rng_between(r, 1, 2);
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
    f->planes = get((size_t)((1 + 2 * f->complex_) * s * LD * f->columns), 1);
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

static void close_fixture(struct fixture *f)
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

/* C near what is added to it: the CPU's result with beta = 0 serves. */
static void fill_c(struct fixture *f)
{
    const ozg_scalars scalars = f->scalars;
    const int kind = f->kind;

    f->kind = OZG_BY_MODULI;
    f->scalars.beta[0] = f->scalars.beta[1] = ozg_scalar_of(0);
    run_cpu(f, f->expected);
    f->kind = kind;
    f->scalars = scalars;
    for (int64_t at = 0; at < numbers_of_c(f); at++) {
        const uint64_t bits = bits_of(f, f->expected, at);
        float narrow;
        double x;
        const uint32_t half = (uint32_t)bits;

        memcpy(&narrow, &half, 4);
        memcpy(&x, &bits, 8);
        x = old_number(f, f->single ? (double)narrow : x);
        put_number(f, f->c, at, x);
        if (field_of(f, bits_of(f, f->c, at)) >= MOST_FIELD[f->single] && f->kind != OZG_BY_MODULI)
            put_number(f, f->c, at, 1);
    }
    memcpy(f->plain, f->c, (size_t)numbers_of_c(f) * 8);
    memcpy(f->expected, f->c, (size_t)numbers_of_c(f) * 8);
    f->kind = OZG_BY_MODULI;
    run_cpu(f, f->plain);
    f->kind = kind;
}

static struct fails run_once(struct rng *r, int s, int type, int kind, int scalars)
{
    struct fixture f = {.r = *r};
    struct fails fails;
    double *before;
    ozg_repairs cpu;
    ozg_cuda_state cuda;

    open_fixture(&f, s, type, kind, scalars);
    fill_c(&f);
    before = get((size_t)numbers_of_c(&f) + 1, 8);
    memcpy(before, f.c, (size_t)numbers_of_c(&f) * 8);
    cpu = run_cpu(&f, f.expected);
    cuda = run_cuda(&f);
    fails = compare(&f, before, &cpu, &cuda);
    *r = f.r;
    free(before);
    close_fixture(&f);
    return fails;
}

/* Every s; of each kind some entries must pass and some fail, or the test shows nothing. */
static void check_kind(int kind, int scalars, uint64_t seed)
{
    struct rng r = {seed};
    int64_t listed = 0, tested = 0;

    for (int type = 0; type < 4; type++)
        for (int s = kind == OZG_BY_MODULI ? OZG_NMOD_MIN : 4; s <= OZG_NMOD_MAX; s++) {
            const struct fails fails = run_once(&r, s, type, kind, scalars);

            listed += fails.listed;
            tested += fails.tested;
        }
    print_message("kind %d: %d entries tested, %d in lists\n", kind, (int)tested, (int)listed);
    if (kind != OZG_BY_MODULI)
        assert_true(listed > tested / 50 && listed < tested - tested / 50);
}

static void test_moduli(void **state)
{
    (void)state;
    for (int scalars = 0; scalars < 4; scalars++)
        check_kind(OZG_BY_MODULI, scalars, (uint64_t)scalars + 1);
}

static void test_native(void **state)
{
    (void)state;
    for (int scalars = 0; scalars < 3; scalars++)
        check_kind(OZG_BY_NATIVE, scalars, (uint64_t)scalars + 11);
}

static void test_rounded(void **state)
{
    (void)state;
    for (int scalars = 0; scalars < 3; scalars++)
        check_kind(OZG_BY_ROUNDED, scalars, (uint64_t)scalars + 21);
    printf("rounded: %llu of %llu tested entries listed without need\n", (unsigned long long)all.doubted,
           (unsigned long long)all.tested);
    assert_true(all.doubted <= all.tested / 8);
}

/* ---- factors ------------------------------------------------------------------------------------ */

enum { LINES = 600 };

static void check_factors(struct rng *r)
{
    uint64_t sum[2][LINES], squares[2][LINES], sum_was[2][LINES], squares_was[2][LINES];
    uint32_t top[2][LINES], top_was[2][LINES], f[2][3][LINES], expected[3];
    int32_t e[2][LINES];
    int64_t index[2][LINES];
    ozg_cuda_state state = {.parts = (int)rng_between(r, 1, 2),
                            .part = {{.i0 = 7, .rows = 500, .j0 = 3, .columns = 290}}};
    ozg_cuda_factors_args args = {
        .state = &state, .rows = rng_below(r, 4) != 0, .columns = rng_below(r, 4) != 0};
    ozg_cuda_lines *side[2] = {&args.a, &args.b};
    int inexact = 0;

    args.request.length = (uint64_t)rng_between(r, 1, rng_below(r, 2) ? 60000 : UINT32_MAX);
    args.tile = (ozg_cuda_tile){
        .i0 = 100, .rows = rng_between(r, 1, 450), .j0 = rng_between(r, 0, 200), .columns = 300};
    for (int q = 0; q < 2; q++) {
        for (int i = 0; i < LINES; i++) {
            sum[q][i] = sum_was[q][i] = rng_below(r, 2) ? rng_below(r, args.request.length << 15) : 0;
            squares[q][i] = squares_was[q][i] = rng_below(r, args.request.length << 30);
            top[q][i] = top_was[q][i] = rng_below(r, 50) ? 0 : (uint32_t)rng_below(r, 32769);
            e[q][i] = rng_below(r, 5) ? 3 : OZG_E_NONE;
            index[q][i] = LINES - 1 - i;
        }
        memset(f[q], 0xa5, sizeof f[q]);
        *side[q] = (ozg_cuda_lines){.rsum = sum[q],
                                    .rsquares = squares[q],
                                    .rtop = top[q],
                                    .e = e[q],
                                    .r1 = f[q][0],
                                    .r2 = f[q][1],
                                    .rmax = f[q][2],
                                    .index = index[q]};
    }
    assert_int_equal(
        ozg_emulated_launch("ozg_cuda_factors", (int)((args.tile.rows + 255) / 256) + 2, 256, 0, &args),
        OZG_EMULATED_OK);
    for (int q = 0; q < 2; q++)
        for (int place = 0; place < LINES; place++) {
            const int64_t first = q ? 3 + args.tile.j0 : 107, most = q ? args.tile.columns : args.tile.rows;
            const int64_t end = first + most < (q ? 293 : 507) ? first + most : q ? 293 : 507;
            const int in = place >= first && place < end && (q ? args.columns : args.rows);
            const int64_t i = state.parts > 1 ? index[q][place] : place;
            const ozg_norms norms = {sum_was[q][i], squares_was[q][i], top_was[q][i]};

            memset(expected, 0xa5, sizeof expected);
            if (in)
                ozg_norms_factors(&norms, 16, ozg_bound_unit(args.request.length), &expected[0], &expected[1],
                                  &expected[2]);
            inexact |= in && norms.most && e[q][i] != OZG_E_NONE;
            for (int x = 0; x < 3; x++)
                assert_int_equal(f[q][x][i], expected[x]);
            assert_true(sum[q][i] == (in ? 0 : norms.sum) && squares[q][i] == (in ? 0 : norms.squares) &&
                        top[q][i] == (in ? 0 : norms.most));
        }
    assert_int_equal(state.inexact, inexact);
}

static void test_factors(void **state)
{
    struct rng r = {31};

    (void)state;
    for (int again = 0; again < 60; again++)
        check_factors(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_constants), cmocka_unit_test(test_moduli),
                                       cmocka_unit_test(test_native), cmocka_unit_test(test_rounded),
                                       cmocka_unit_test(test_factors)};

    return cmocka_run_group_tests(tests, make_tables, NULL);
}
