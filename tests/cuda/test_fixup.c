/*
 * test_fixup.c - repairs against the exact sum of all products (arith/exact.h); Inf and NaN against the CPU;
 * the passes over C and over sums of ceilings against loops.
 *
 * with: ozg_cuda_emulated
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "arith/exact.h"
#include "arith/residue.h"
#include "cpu/stages.h"
#include "cuda/fixup.h"
#include "cuda/kernels.h"
#include "cuda/table.h"
#include "emulate.h"
#include "emulate_two.h"
#include "special.h"
#include "../kernels/lines.h"

static ozg_cuda_table tables[OZG_NMOD_MAX + 1];

static int make_tables(void **state)
{
    (void)state;
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++)
        if (ozg_cuda_table_build(&tables[s], s))
            return -1;
    return 0;
}

static void *get(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size);

    assert_non_null(p);
    return p;
}

static void launch(const char *kernel, struct rng *r, int threads, const void *args)
{
    ozg_emulated_order((uint32_t)rng_below(r, 5));
    assert_int_equal((rng_below(r, 2) ? ozg_emulated_launch_cooperative : ozg_emulated_launch)(
                         kernel, 1 + (int)rng_below(r, 3), threads, 0, args),
                     OZG_EMULATED_OK);
}

/* ---- sums of two terms -------------------------------------------------------------------------- */

/* A term of up to seven words, the highest full or not, with few or many bits. */
static ozg_term term(struct rng *r, int32_t exp)
{
    ozg_term t = {.n = (int)rng_between(r, 0, OZG_TERM_WORDS), .neg = (int)rng_below(r, 2), .exp = exp};
    const uint64_t form = rng_below(r, 4);

    for (int i = 0; i < t.n; i++)
        t.w[i] = form == 0 ? UINT64_MAX : form == 1 ? 0 : rng_next(r) >> rng_below(r, 64);
    if (t.n && form < 3)
        t.w[rng_below(r, (uint64_t)t.n)] ^= UINT64_C(1) << rng_below(r, 64);
    return t;
}

/* The sum is short of a tie, or of a number, by as little as there can be: a bit of the other term. */
static void make_close(struct rng *r, int single, ozg_term *x, ozg_term *y)
{
    const int bits = (single ? 24 : 53) + (int)rng_below(r, 2); /* with the last one, a tie */

    *x = (ozg_term){.n = 1, .neg = (int)rng_below(r, 2), .exp = (int32_t)rng_between(r, -1100, 900)};
    x->w[0] = (rng_next(r) >> (64 - bits)) | UINT64_C(1) << (bits - 1) | 1;
    *y = term(r, x->exp - (int32_t)rng_between(r, 1, 700));
    for (int i = 1; i < y->n; i++)
        y->w[i] = 0;
}

static void test_two(void **state)
{
    struct rng r = {6};

    (void)state;
    for (int again = 0; again < 40000; again++) {
        const int32_t exp = (int32_t)rng_between(&r, -1500, 600);
        uint64_t bits = 0;
        ozg_term t[2] = {term(&r, exp), term(&r, exp + (int32_t)rng_between(&r, -900, 900))};
        emulate_two_args args = {(int32_t)rng_below(&r, 2), &t[0], &t[1], &bits};

        if (rng_below(&r, 3) == 0)
            make_close(&r, args.single, &t[again % 2], &t[!(again % 2)]);
        assert_int_equal(ozg_emulated_launch("emulate_two", 1, 1, 0, &args), OZG_EMULATED_OK);
        assert_true(bits == ozg_sum_round(args.single, t, 2));
    }
}

/* ---- a product ---------------------------------------------------------------------------------- */

/* How the elements of a line differ in size: not much, by this many bits, or by anything. */
struct product {
    char type;
    int64_t m, n, k, ldc;
    int nmod, narrower; /* lines of up to so many bits less than the width of nmod moduli */
    int spread, bits;   /* of the elements: their exponents, and their mantissas */
    int zeros;          /* one component of so many */
    int fine; /* of 512 elements so many are small with long mantissas, the others short; 0: as above */
    int shifts, parts;
    int apart; /* complex: Re fits the window, Im does not */
    ozg_cuda_lines a, b;
    int64_t first_a, first_b; /* places before the part */
    ozg_scalars scalars;
    void *c;
    int exponent_a, exponent_b;
};

static double number(struct rng *r, const struct product *z, int exponent)
{
    const int is_fine = (int)rng_below(r, 512) < z->fine, bits = z->fine && !is_fine ? 10 : z->bits;
    const uint64_t mantissa = (rng_next(r) >> 11 | UINT64_C(1) << 52) >> (53 - bits);
    const double x =
        ldexp((double)mantissa, exponent - bits - (int)rng_below(r, (uint64_t)z->spread + 1) - 20 * is_fine);

    return rng_below(r, (uint64_t)z->zeros) == 0 ? (rng_below(r, 2) ? 0 : -0.0) : rng_below(r, 2) ? x : -x;
}

/* The exponent of a line, with the shifts; 0: it is all zero. */
static int32_t exponent_of(const ozg_view *v, int64_t i, int64_t k)
{
    int32_t e = OZG_E_NONE, here;

    for (int64_t p = 0; p < k; p++)
        for (int part = 0; part <= ozg_type_complex(v->type); part++) {
            const double x = line_number(v, i, p, part);

            if (x == 0)
                continue;
            frexp(x, &here);
            here += v->shift ? v->shift[p] : 0;
            e = here > e ? here : e;
        }
    return e;
}

/* Every third element is tiny, real in A and imaginary in B; the others are real. */
static void set_apart(const ozg_view *v, int64_t count, int64_t k, int part)
{
    for (int64_t i = 0; i < count; i++)
        for (int64_t p = 0; p < k; p++) {
            const int64_t at = 2 * (i * v->line_stride + p * v->step);
            const double x = line_number(v, i, p, 0);

            line_set_number(v, at, p % 3 ? x : part ? 0 : ldexp(x, -300));
            line_set_number(v, at + 1, p % 3 || !part ? 0 : ldexp(x, -300));
        }
}

static void make_lines(struct rng *r, struct product *z, ozg_cuda_lines *l, int64_t count, int64_t places,
                       int exponent, const int16_t *shift)
{
    const int along = rng_below(r, 2) != 0, complex_ = ozg_type_complex(z->type);
    const int64_t gap = rng_between(r, 0, 2);
    const int width = ozg_moduli_width(z->nmod, ozg_dot_length(z->type, z->k));
    size_t numbers;

    memset(l, 0, sizeof *l);
    l->count = count;
    l->k = z->k;
    l->words = (z->k + 63) / 64;
    l->view.type = z->type;
    l->view.conj = complex_ && rng_below(r, 2);
    l->view.line_stride = along ? z->k + gap : 1;
    l->view.step = along ? 1 : count + gap;
    l->view.shift = shift;
    numbers = (size_t)((1 + complex_) * ((count - 1) * l->view.line_stride + (z->k - 1) * l->view.step + 1));
    l->view.x = get(numbers, ozg_type_single(z->type) ? 4 : 8);
    for (size_t q = 0; q < numbers; q++)
        line_set_number(&l->view, (int64_t)q, number(r, z, exponent));
    if (z->apart)
        set_apart(&l->view, count, z->k, l == &z->b);
    l->e = get((size_t)count, sizeof *l->e);
    l->d = get((size_t)count, sizeof *l->d);
    l->places = get((size_t)(count * l->words), sizeof *l->places);
    l->index = get((size_t)places, sizeof *l->index);
    for (int64_t i = 0; i < count; i++) {
        ozg_norms unused;

        l->e[i] = exponent_of(&l->view, i, z->k);
        l->d[i] = l->e[i] == OZG_E_NONE ? OZG_D_NONE
                                        : width - (int)rng_below(r, (uint64_t)z->narrower + 1) - l->e[i];
        ozg_residuals_ref(&l->view, z->k, i, i + 1, l->d + i, &unused, l->places + i * l->words, l->words);
    }
    for (int64_t i = 0; i < places; i++) /* the lines of this part lie behind those of others */
        l->index[i] = i >= places - count ? count - 1 - (i - (places - count)) : 1 << 30;
}

static ozg_scalar scalar(struct rng *r, int form)
{
    static const double values[] = {1,        0,   -1,     0.5,      -8,       0x1p-1074,
                                    0x1p1023, 0.3, -1e300, 1.7e-300, INFINITY, NAN};

    return ozg_scalar_of(values[form >= 0 ? form : (int)rng_below(r, 12)]);
}

/* 0: alpha = 1, beta = 0; 1: powers of two; 2: any. */
static void make_scalars(struct rng *r, struct product *z, int form)
{
    ozg_scalars *s = &z->scalars;

    s->single = ozg_type_single(z->type);
    s->complex_ = ozg_type_complex(z->type);
    s->alpha[0] = scalar(r, form == 0 ? 0 : form == 1 ? (int)rng_between(r, 2, 4) : -1);
    s->beta[0] = scalar(r, form == 0 ? 1 : form == 1 ? (int)rng_between(r, 0, 3) : -1);
    s->alpha[1] = s->beta[1] = scalar(r, 1);
    if (form == 2 && s->complex_ && rng_below(r, 2)) {
        s->alpha[1] = scalar(r, -1);
        s->beta[1] = scalar(r, -1);
    }
    if (ozg_scalar_is_zero(s->alpha[0]) && ozg_scalar_is_zero(s->alpha[1]))
        s->alpha[0] = scalar(r, 0);
}

static double old_number(struct rng *r, const struct product *z)
{
    const int exponent = z->exponent_a + z->exponent_b + (int)rng_between(r, -120, 20);

    switch (rng_below(r, 24)) {
    case 0:
        return INFINITY;
    case 1:
        return -0.0;
    case 2:
        return ldexp(1, rng_below(r, 2) ? -1074 : -149);
    case 3:
        return ozg_type_single(z->type) ? 0x1p127 : 0x1p1023;
    case 4:
        return NAN;
    default:
        return ldexp((double)(int64_t)(rng_next(r) >> 11), exponent - 53);
    }
}

static void make_c(struct rng *r, struct product *z)
{
    const int parts = 1 + ozg_type_complex(z->type);

    z->ldc = z->m + rng_between(r, 0, 2);
    z->c = get((size_t)(parts * z->ldc * z->n), ozg_type_single(z->type) ? 4 : 8);
    for (int64_t q = 0; q < parts * z->ldc * z->n; q++) {
        const double x = old_number(r, z);

        if (ozg_type_single(z->type))
            ((float *)z->c)[q] = (float)x;
        else
            ((double *)z->c)[q] = x;
    }
}

static void free_lines(ozg_cuda_lines *l)
{
    free((void *)(uintptr_t)l->view.x);
    free(l->e);
    free(l->d);
    free(l->places);
    free(l->index);
}

/* ---- residues ----------------------------------------------------------------------------------- */

/* x^ of component `part` of element p of a line, in [0, m). part 2: Re + Im. */
static uint32_t residue(const ozg_cuda_lines *l, int64_t i, int64_t p, int part, uint32_t m)
{
    const int single = ozg_type_single(l->view.type), complex_ = ozg_type_complex(l->view.type);
    const int64_t at = i * l->view.line_stride + p * l->view.step;
    ozg_scaled x;
    uint64_t r;

    if (part == 2)
        return (residue(l, i, p, 0, m) + residue(l, i, p, 1, m)) % m;
    x = ozg_scale_bits(ozg_load_bits(l->view.x, single, (1 + complex_) * at + part),
                       l->d[i] + (l->view.shift ? l->view.shift[p] : 0));
    r = x.mant % m;
    for (int q = 0; q < x.shift; q++)
        r = 2 * r % m;
    return x.neg ^ (part && l->view.conj) ? (m - (uint32_t)r) % m : (uint32_t)r;
}

/* Sums of a tile, as the product stage leaves them. */
static ozg_cuda_residues make_residues(const struct product *z, const int64_t *rows, int64_t count_rows,
                                       const int64_t *columns, int64_t count_columns)
{
    const int components = ozg_type_complex(z->type) ? 3 : 1;
    ozg_cuda_residues out = {NULL, 256, count_columns, NULL, 4};
    const ozg_moduli_set *set = ozg_moduli_get(z->nmod);

    out.base = get((size_t)(components * z->nmod * out.columns * out.ld), 1);
    for (int component = 0; component < components; component++)
        for (int l = 0; l < z->nmod; l++)
            for (int64_t j = 0; j < count_columns; j++)
                for (int64_t i = 0; i < count_rows; i++) {
                    const uint32_t m = set->m[l];
                    uint32_t sum = 0;

                    for (int64_t p = 0; p < z->k; p++)
                        sum = (sum + residue(&z->a, rows[i], p, component, m) *
                                         residue(&z->b, columns[j], p, component, m)) %
                              m;
                    out.base[((component * z->nmod + l) * out.columns + j) * out.ld + i] =
                        (uint8_t)ozg_symmetric(sum, m);
                }
    return out;
}

/* ---- what is expected --------------------------------------------------------------------------- */

static void load(const ozg_cuda_lines *l, int64_t i, int64_t p, ozg_fp x[2])
{
    const int single = ozg_type_single(l->view.type), complex_ = ozg_type_complex(l->view.type);
    const int64_t at = i * l->view.line_stride + p * l->view.step;

    for (int part = 0; part <= complex_; part++) {
        x[part] = ozg_fp_of_bits(ozg_load_bits(l->view.x, single, (1 + complex_) * at + part));
        x[part].neg ^= part && l->view.conj;
    }
}

static void repair_exactly(const struct product *z, int64_t i, int64_t j, void *c)
{
    const int64_t index = i + j * z->ldc;
    ozg_exact ab[2];
    uint64_t old[2], bits[2];

    ozg_exact_clear(&ab[0]);
    ozg_exact_clear(&ab[1]);
    for (int64_t p = 0; p < z->k; p++) {
        ozg_fp x[2], y[2];

        load(&z->a, i, p, x);
        load(&z->b, j, p, y);
        ozg_exact_add_product(&ab[0], x[0], y[0], 0);
        if (z->scalars.complex_) {
            ozg_exact_add_product(&ab[0], x[1], y[1], 1);
            ozg_exact_add_product(&ab[1], x[0], y[1], 0);
            ozg_exact_add_product(&ab[1], x[1], y[0], 0);
        }
    }
    ozg_entry_old(&z->scalars, c, index, old);
    for (int part = 0; part <= z->scalars.complex_; part++)
        bits[part] = ozg_exact_component(&z->scalars, part, ab, old);
    ozg_entry_store(&z->scalars, c, index, bits);
}

static void assert_same(const struct product *z, const void *c, const char *what)
{
    const size_t size = ozg_type_single(z->type) ? 4 : 8, parts = 1 + (size_t)ozg_type_complex(z->type);

    for (size_t q = 0; q < parts * (size_t)(z->ldc * z->n); q++)
        if (memcmp((const char *)z->c + q * size, (const char *)c + q * size, size))
            fail_msg(
                "%s, type %c, %lld x %lld x %lld, %d moduli: component %zu of %zu is %llx, expected %llx",
                what, z->type, (long long)z->m, (long long)z->n, (long long)z->k, z->nmod,
                q % (parts * (size_t)z->ldc), q / (parts * (size_t)z->ldc),
                (unsigned long long)ozg_load_bits(z->c, size == 4, (int64_t)q),
                (unsigned long long)ozg_load_bits(c, size == 4, (int64_t)q));
}

static void *copy_of_c(const struct product *z)
{
    const size_t bytes = (size_t)(z->ldc * z->n * ozg_type_size(z->type));
    void *c = get(bytes, 1);

    memcpy(c, z->c, bytes);
    return c;
}

/* ---- repair ------------------------------------------------------------------------------------- */

/* Some entries of a tile, in any order. */
static uint32_t make_list(struct rng *r, uint32_t *list, uint32_t entries)
{
    uint32_t count = 0;

    for (uint32_t e = 0; e < entries; e++)
        if (rng_below(r, 4))
            list[count++] = e;
    for (uint32_t e = 1; e < count; e++) {
        const uint32_t other = (uint32_t)rng_below(r, e + 1), x = list[e];

        list[e] = list[other];
        list[other] = x;
    }
    return count;
}

static void check_repair(struct rng *r, struct product *z, const int16_t *shift_a, const int16_t *shift_b,
                         int form)
{
    const int64_t before_a = z->parts > 1 ? 3 : 0, before_b = z->parts > 1 ? 2 : 0;
    const int64_t i0 = rng_between(r, 0, z->m - 1), j0 = rng_between(r, 0, z->n - 1);
    const int64_t rows = z->m - i0, columns = rng_between(r, 1, z->n - j0);
    int64_t row[64], column[64];
    ozg_cuda_state state = {.parts = z->parts, .shifted = z->shifts};
    ozg_cuda_reconstruct_args args = {.state = &state, .tables = tables};
    void *expected;

    make_lines(r, z, &z->a, z->m, z->m + before_a, z->exponent_a, shift_a);
    make_lines(r, z, &z->b, z->n, z->n + before_b, z->exponent_b, shift_b);
    make_scalars(r, z, form);
    make_c(r, z);
    args.tile = (ozg_cuda_tile){z->parts - 1, i0, rows + 5, j0, columns, 0, z->k, 1};
    for (int64_t i = 0; i < rows; i++)
        row[i] = z->parts > 1 ? z->a.index[before_a + i0 + i] : i0 + i;
    for (int64_t j = 0; j < columns; j++)
        column[j] = z->parts > 1 ? z->b.index[before_b + j0 + j] : j0 + j;
    state.part[args.tile.part] = (ozg_part){before_a, z->m, before_b, z->n};
    state.nmod[args.tile.part] = z->nmod;
    args.request = (ozg_cuda_request){.kind = OZG_BY_ROUNDED,
                                      .single = z->scalars.single,
                                      .complex_ = z->scalars.complex_,
                                      .m = z->m + before_a,
                                      .n = z->n + before_b,
                                      .k = z->k,
                                      .length = ozg_dot_length(z->type, z->k)};
    args.a = z->a;
    args.b = z->b;
    if (z->parts == 1)
        args.a.index = args.b.index = NULL;
    args.in = make_residues(z, row, rows, column, columns);
    args.scalars = z->scalars;
    args.c = z->c;
    args.ldc = z->ldc;
    args.list = get((size_t)(rows * columns), sizeof *args.list);
    state.failed = make_list(r, args.list, (uint32_t)(rows * columns));
    expected = copy_of_c(z);
    for (uint32_t e = 0; e < state.failed; e++)
        repair_exactly(z, row[args.list[e] % rows], column[args.list[e] / rows], expected);
    launch("ozg_cuda_repair", r, OZG_CUDA_REPAIR_THREADS, &args);
    assert_same(z, expected, "repair");
    assert_int_equal(state.failed, 0);
    assert_int_equal(state.next, 0);
    free(expected);
    free(args.list);
    free(args.in.base);
    free(z->c);
    free_lines(&z->a);
    free_lines(&z->b);
}

/* Widths that round nothing, few, many or all elements; sizes that fit the window or do not. */
static void test_repair(void **state)
{
    static const int64_t lengths[] = {1, 7, 64, 65, 130, 300};
    struct rng r = {1};

    (void)state;
    for (int again = 0; again < 400; again++) {
        struct product z = {
            .type = "sdcz"[again % 4], .m = rng_between(&r, 1, 9), .n = rng_between(&r, 1, 9)};
        const int single = ozg_type_single(z.type), wide = again / 4 % 5 == 0;
        int16_t shift_a[300], shift_b[300];

        z.k = lengths[rng_below(&r, 6)];
        z.nmod = (int)(wide ? rng_between(&r, 17, OZG_NMOD_MAX)
                            : rng_between(&r, single ? 8 : 15, single ? 12 : 20));
        z.narrower = rng_below(&r, 3) ? 0 : (int)rng_below(&r, 12);
        z.spread = (int)(rng_below(&r, 3) ? rng_below(&r, 14) : rng_below(&r, single ? 120 : 900));
        z.bits = (int)(rng_below(&r, 3) ? (single ? 24 : 53) : rng_between(&r, 1, single ? 24 : 53));
        z.exponent_a = (int)(rng_below(&r, 3) ? rng_between(&r, -5, 5)
                                              : rng_between(&r, single ? -130 : -1000, single ? 120 : 1000));
        z.exponent_b = (int)(rng_below(&r, 3) ? rng_between(&r, -5, 5)
                                              : rng_between(&r, single ? -130 : -1000, single ? 120 : 1000));
        z.zeros = rng_below(&r, 4) ? 16 : 2;
        if (rng_below(&r, 2)) { /* few places, about as many as a lane takes alone */
            z.fine = (int)rng_between(&r, 1, 60);
            z.bits = single ? 24 : 53;
            z.spread = (int)rng_below(&r, 8);
        }
        z.shifts = rng_below(&r, 4) == 0;
        z.parts = 1 + (int)rng_below(&r, 3);
        z.apart = z.type == 'z' && rng_below(&r, 8) == 0;
        if (z.apart)
            z.exponent_a = z.exponent_b = 0;
        for (int64_t p = 0; p < z.k; p++)
            shift_b[p] = (int16_t) - (shift_a[p] = (int16_t)rng_between(&r, -40, 40));
        check_repair(&r, &z, z.shifts ? shift_a : NULL, z.shifts ? shift_b : NULL, (int)rng_below(&r, 3));
    }
}

/* A tile of a part that does not exist, and a list without entries: nothing happens. */
static void test_repair_nothing(void **state)
{
    struct rng r = {7};
    ozg_cuda_state s = {.parts = 1, .failed = 3};
    ozg_cuda_reconstruct_args args = {.state = &s, .tables = tables, .tile = {.part = 1}};

    (void)state;
    launch("ozg_cuda_repair", &r, OZG_CUDA_REPAIR_THREADS, &args);
    assert_int_equal(s.next, 0);
    s.failed = 0;
    args.tile.part = 0;
    launch("ozg_cuda_repair", &r, OZG_CUDA_REPAIR_THREADS, &args);
    assert_int_equal(s.next, 0);
}

/* ---- Inf and NaN -------------------------------------------------------------------------------- */

/* Puts Inf (and NaN) into some lines, in which there are zeros. */
static void spoil(struct rng *r, ozg_cuda_lines *l, int64_t k, int lines)
{
    const int parts = 1 + ozg_type_complex(l->view.type);

    l->special = get((size_t)l->count, 1);
    for (int q = 0; q < lines; q++) {
        const int64_t i = rng_between(r, 0, l->count - 1);

        for (int times = (int)rng_below(r, 4); times >= 0; times--) {
            const double x = rng_below(r, 12) == 0 ? NAN : rng_below(r, 2) ? INFINITY : -INFINITY;
            const int64_t p = rng_between(r, 0, k - 1);

            line_set_number(
                &l->view,
                parts * (i * l->view.line_stride + p * l->view.step) + (int)rng_below(r, (uint64_t)parts), x);
        }
    }
    for (int64_t i = 0; i < l->count; i++)
        for (int64_t p = 0; p < parts * k; p++) {
            const double x = line_number(&l->view, i, p / parts, (int)(p % parts));
            const int is = isnan(x) ? OZG_LINE_NAN : isinf(x) ? OZG_LINE_INF : 0;

            l->special[i] = (uint8_t)(is > l->special[i] ? is : l->special[i]);
        }
}

static ozg_lines cpu_lines(const ozg_cuda_lines *l)
{
    ozg_lines x = {.view = l->view, .count = l->count, .k = l->k};

    x.special = l->special;
    return x;
}

static void check_special(struct rng *r, struct product *z, int rows, int columns)
{
    ozg_cuda_state state = {.parts = 1};
    ozg_cuda_c_args args = {.state = &state};
    ozg_stage st = {.threads = 1};
    ozg_lines a, b;
    uint64_t special_rows, special_columns;
    void *expected;

    make_lines(r, z, &z->a, z->m, z->m, 0, NULL);
    make_lines(r, z, &z->b, z->n, z->n, 0, NULL);
    spoil(r, &z->a, z->k, rows);
    spoil(r, &z->b, z->k, columns);
    make_scalars(r, z, (int)rng_below(r, 3));
    make_c(r, z);
    st.scalars = z->scalars;
    expected = copy_of_c(z);
    a = cpu_lines(&z->a);
    b = cpu_lines(&z->b);
    ozg_special_rows_columns(&st, &a, &b, expected, z->ldc, rng_below(r, 2) ? 1 << 20 : 0, &special_rows,
                             &special_columns);
    state.special_rows = special_rows;
    state.special_columns = special_columns;
    args.request = (ozg_cuda_request){
        .single = z->scalars.single, .complex_ = z->scalars.complex_, .m = z->m, .n = z->n, .k = z->k};
    args.a = z->a;
    args.b = z->b;
    args.scalars = z->scalars;
    args.c = z->c;
    args.ldc = z->ldc;
    launch("ozg_cuda_special", r, OZG_CUDA_C_THREADS, &args);
    assert_same(z, expected, "special");
    free(expected);
    free(z->c);
    free(z->a.special);
    free(z->b.special);
    free_lines(&z->a);
    free_lines(&z->b);
}

static void test_special(void **state)
{
    static const int counts[] = {0, 0, 1, 2, 9, 60};
    struct rng r = {2};

    (void)state;
    for (int again = 0; again < 160; again++) {
        struct product z = {.type = "sdcz"[again % 4],
                            .m = rng_between(&r, 1, 70),
                            .n = rng_between(&r, 1, 20),
                            .nmod = 8,
                            .spread = 3,
                            .bits = 20,
                            .zeros = 16};

        z.k = rng_below(&r, 3) ? rng_between(&r, 1, 40) : rng_between(&r, 100, 300);
        check_special(&r, &z, counts[rng_below(&r, 6)], counts[rng_below(&r, 6)]);
    }
}

/* ---- passes over C ------------------------------------------------------------------------------ */

static void shape_c(struct rng *r, struct product *z, int again)
{
    static const int64_t sizes[] = {1, 2, 3, 5, 31, 70, 300, 2100};

    *z =
        (struct product){.type = "sdcz"[again % 4], .m = sizes[rng_below(r, 8)], .n = sizes[rng_below(r, 6)]};
    make_scalars(r, z, (int)rng_below(r, 3));
    make_c(r, z);
}

static ozg_cuda_c_args c_args(const struct product *z, ozg_cuda_state *state)
{
    ozg_cuda_c_args args = {.state = state};

    args.request = (ozg_cuda_request){
        .single = z->scalars.single, .complex_ = z->scalars.complex_, .m = z->m, .n = z->n};
    args.scalars = z->scalars;
    args.c = z->c;
    args.ldc = z->ldc;
    return args;
}

static void test_largest(void **state)
{
    struct rng r = {3};

    (void)state;
    for (int again = 0; again < 60; again++) {
        struct product z;
        ozg_cuda_state s = {.parts = 1};
        ozg_cuda_c_args args;
        uint64_t most = 0;

        shape_c(&r, &z, again);
        if (ozg_type_single(z.type)) /* one of them is larger than all others */
            ((float *)z.c)[rng_below(&r, (uint64_t)z.m) + (uint64_t)z.ldc * rng_below(&r, (uint64_t)z.n)] =
                -0x1.8p127f;
        else
            ((double *)z.c)[rng_below(&r, (uint64_t)z.m) + (uint64_t)z.ldc * rng_below(&r, (uint64_t)z.n)] =
                -0x1.8p1023;
        for (int64_t j = 0; j < z.n; j++)
            for (int64_t i = 0; i < (1 + z.scalars.complex_) * z.m; i++) {
                const uint64_t bits =
                    ozg_load_bits(z.c, z.scalars.single, i + (1 + z.scalars.complex_) * j * z.ldc) &
                    ~OZG_F64_SIGN;

                most = bits > most && !ozg_is_special(bits) ? bits : most;
            }
        args = c_args(&z, &s);
        launch("ozg_cuda_largest", &r, OZG_CUDA_C_THREADS, &args);
        assert_true(s.largest_entry == most);
        free(z.c);
    }
}

static void test_scale_c(void **state)
{
    struct rng r = {4};

    (void)state;
    for (int again = 0; again < 200; again++) {
        struct product z;
        ozg_cuda_c_args args;
        void *expected;

        shape_c(&r, &z, again);
        if (rng_below(&r, 4) == 0)
            z.scalars.beta[0] = scalar(&r, 1);
        args = c_args(&z, NULL);
        expected = copy_of_c(&z);
        for (int64_t j = 0; j < z.n; j++)
            for (int64_t i = 0; i < z.m; i++)
                ozg_entry_scale(&z.scalars, expected, i + j * z.ldc);
        launch("ozg_cuda_scale_c", &r, OZG_CUDA_C_THREADS, &args);
        assert_same(&z, expected, "scale_c");
        free(expected);
        free(z.c);
    }
}

/* ---- accurate scaling --------------------------------------------------------------------------- */

static uint64_t ceiling(const ozg_cuda_residues *in, int64_t at)
{
    return in->floor_bytes == 4 ? ((const uint32_t *)in->floors)[at] : ((const uint64_t *)in->floors)[at];
}

static void check_raise(struct rng *r)
{
    const int complex_ = rng_below(r, 2) != 0;
    const int64_t m = rng_between(r, 1, 1500), n = rng_between(r, 1, 50), i0 = rng_below(r, 2) ? m / 3 : 0;
    const int64_t j0 = rng_below(r, 2) ? n / 2 : 0, rows = m - i0, columns = n - j0;
    ozg_cuda_raise_args args;
    uint64_t *of_rows = get((size_t)m, 8), *of_columns = get((size_t)n, 8);

    memset(&args, 0, sizeof args);
    args.request = (ozg_cuda_request){.complex_ = complex_, .m = m, .n = n};
    args.tile = (ozg_cuda_tile){0, i0, rows + 7, j0, columns + 3, 0, 1, 1};
    args.in = (ozg_cuda_residues){NULL, (rows + 7 + 255) / 256 * 256, (columns + 3 + 127) / 128 * 128, NULL,
                                  rng_below(r, 2) ? 4 : 8};
    args.in.floors = get((size_t)(2 * args.in.ld * args.in.columns), (size_t)args.in.floor_bytes);
    for (int64_t at = 0; at < 2 * args.in.ld * args.in.columns; at++)
        if (args.in.floor_bytes == 4)
            ((uint32_t *)args.in.floors)[at] = (uint32_t)rng_next(r);
        else
            ((uint64_t *)args.in.floors)[at] = rng_next(r) >> 20 >> rng_below(r, 30);
    args.a.ceiling = get((size_t)m, 8);
    args.b.ceiling = get((size_t)n, 8);
    for (int64_t i = 0; i < m; i++)
        of_rows[i] = args.a.ceiling[i] = rng_below(r, 2) ? rng_next(r) >> 33 : 0;
    for (int64_t j = 0; j < columns; j++)
        for (int64_t i = 0; i < rows; i++)
            for (int part = 0; part <= complex_; part++) {
                const uint64_t x = ceiling(&args.in, (part * args.in.columns + j) * args.in.ld + i);

                of_rows[i0 + i] = x > of_rows[i0 + i] ? x : of_rows[i0 + i];
                of_columns[j0 + j] = x > of_columns[j0 + j] ? x : of_columns[j0 + j];
            }
    launch("ozg_cuda_raise", r, OZG_CUDA_RAISE_THREADS, &args);
    assert_memory_equal(args.a.ceiling, of_rows, (size_t)m * 8);
    assert_memory_equal(args.b.ceiling, of_columns, (size_t)n * 8);
    free(args.a.ceiling);
    free(args.b.ceiling);
    free(args.in.floors);
    free(of_rows);
    free(of_columns);
}

static void test_raise(void **state)
{
    struct rng r = {5};

    (void)state;
    for (int again = 0; again < 12; again++)
        check_raise(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two),     cmocka_unit_test(test_repair),  cmocka_unit_test(test_repair_nothing),
        cmocka_unit_test(test_special), cmocka_unit_test(test_largest), cmocka_unit_test(test_scale_c),
        cmocka_unit_test(test_raise),
    };

    return cmocka_run_group_tests(tests, make_tables, NULL);
}
