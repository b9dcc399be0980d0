/*
 * test_fixup.c - Inf and NaN against the CPU; the passes over C and over sums of ceilings against loops.
 *
 * with: ozg_cuda_emulated
 *
 * SPDX-License-Identifier: MIT
 */
#include "fixup_data.h"
#include "special.h"

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
        cmocka_unit_test(test_special),
        cmocka_unit_test(test_largest),
        cmocka_unit_test(test_scale_c),
        cmocka_unit_test(test_raise),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
