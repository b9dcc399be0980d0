/*
 * test_repair.c - repairs against the exact sum of all products (arith/exact.h), and the rounding of two
 * terms against that of any number.
 *
 * with: ozg_cuda_emulated
 *
 * SPDX-License-Identifier: MIT
 */
#include "arith/exact.h"
#include "cuda/table.h"
#include "emulate_two.h"
#include "fixup_data.h"
#include "root.h"

static ozg_cuda_table tables[OZG_CUDA_TABLES];

static int make_tables(void **state)
{
    (void)state;
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++)
        for (int complex_ = 0; complex_ < 2; complex_++)
            if (ozg_cuda_table_build(&tables[complex_ * (OZG_NMOD_MAX + 1) + s], complex_, s))
                return -1;
    return 0;
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

/* The number of plane q of modulus l: Re, Im, Re + Im; by 2M Re + j Im, Re - j Im. */
static uint32_t plane_residue(const ozg_cuda_lines *x, int64_t i, int64_t p, const ozg_moduli_set *set, int q,
                              int l)
{
    const uint32_t m = set->m[l];
    uint32_t j;

    if (l < set->three)
        return residue(x, i, p, q, m);
    j = (uint32_t)root_of((int)m);
    return (residue(x, i, p, 0, m) + (q ? m - j : j) * residue(x, i, p, 1, m)) % m;
}

/* Sums of a tile, as the product stage leaves them. */
static ozg_cuda_residues make_residues(const struct product *z, const int64_t *rows, int64_t count_rows,
                                       const int64_t *columns, int64_t count_columns)
{
    const int complex_ = ozg_type_complex(z->type);
    const ozg_moduli_set *set = complex_ ? ozg_moduli_complex(z->nmod) : ozg_moduli_get(z->nmod);
    const int planes = complex_ ? 2 * set->nmod + set->three : set->nmod;
    ozg_cuda_residues out = {NULL, 256, count_columns, NULL, 4};

    out.base = get((size_t)(planes * out.columns * out.ld), 1);
    for (int plane = 0; plane < planes; plane++)
        for (int64_t j = 0; j < count_columns; j++)
            for (int64_t i = 0; i < count_rows; i++) {
                const int q = plane / set->nmod, l = plane % set->nmod;
                uint32_t sum = 0;

                for (int64_t p = 0; p < z->k; p++)
                    sum = (sum + plane_residue(&z->a, rows[i], p, set, q, l) *
                                     plane_residue(&z->b, columns[j], p, set, q, l)) %
                          set->m[l];
                out.base[(plane * out.columns + j) * out.ld + i] = (uint8_t)ozg_symmetric(sum, set->m[l]);
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
    args.tables = ozg_cuda_tables_of(tables, z->scalars.complex_);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two),
        cmocka_unit_test(test_repair),
        cmocka_unit_test(test_repair_nothing),
    };

    return cmocka_run_group_tests(tests, make_tables, NULL);
}
