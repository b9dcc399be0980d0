/*
 * test_scale.c - begin, scale and norms, emulated, against ref: all types and strides, any alignment, guard
 * pages.
 *
 * with: ozg_cuda_emulated
 * SPDX-License-Identifier: MIT
 */
#include "../kernels/lines.h"
#include "cuda/kernels.h"
#include "cpu/stages.h"
#include "emulate.h"

enum { MOST = 300, ARRAYS = 3 * MOST + MOST / 2 }; /* lines; 64-bit words that begin zeroes */

static struct guard memory[2];

typedef struct operand {
    uint64_t zeroed[ARRAYS];
    uint8_t special[MOST + 1];
    int32_t e[MOST + 1], exact_e[MOST];
    ozg_cuda_lines lines;
} operand;

static operand operands[2];

/* ---- extremes ----------------------------------------------------------------------------------- */

enum { LEAST_NU = 2, MOST_NU = 15, SUBNORMAL = 52 /* exponents of doubles that are */ };

/* Lines whose norms were looked at: doubles by integers, by floating point; floats. */
static struct {
    int largest[MOST_NU + 1]; /* of the largest exponent, by nu */
    int subnormal[SUBNORMAL]; /* of subnormal numbers alone, by the exponent, from the least on */
} seen[3];

/* Line i of numbers up to the largest finite one, else of subnormal ones alone. */
static void make_extreme(struct rng *r, operand *o, int64_t i, int largest)
{
    const ozg_view *v = &o->lines.view;
    const int single = ozg_type_single(v->type), digits = single ? 24 : 53, least = single ? -149 : -1074;
    const int bits = largest ? digits : (int)rng_between(r, 1, digits - 1),
              unit = largest ? (single ? 128 : 1024) - digits : least;
    const uint64_t most = (UINT64_C(1) << bits) - 1;
    const int64_t parts = 1 + ozg_type_complex(v->type), at = rng_between(r, 0, o->lines.k - 1);

    for (int64_t p = 0; p < o->lines.k; p++)
        for (int64_t part = 0; part < parts; part++) {
            const uint64_t any = (rng_next(r) & most) >> rng_below(r, (uint64_t)bits);
            const double x = ldexp((double)(p == at && part == 0 ? most : any), unit);

            line_set_number(v, parts * (i * v->line_stride + p * v->step) + part, rng_below(r, 2) ? x : -x);
        }
    o->exact_e[i] = bits + unit;
}

static void count_extremes(const operand *o, const ozg_cuda_scale_args *args)
{
    const int single = args->request.single, how = single ? 2 : args->fp64;
    const int nu = ozg_norm_bits(args->request.length);

    for (int64_t i = 0; args->request.measured && i < o->lines.count; i++) {
        const int number = o->exact_e[i] - (single ? -148 : -1073);

        seen[how].largest[nu] += o->exact_e[i] == (single ? 128 : 1024);
        if (number >= 0 && number < (single ? 23 : SUBNORMAL))
            seen[how].subnormal[number]++;
    }
}

/* ---- a launch ----------------------------------------------------------------------------------- */

static void make_operand(struct rng *r, operand *o, const struct guard *mem, char type, int64_t lines,
                         int64_t k)
{
    ozg_view v = {NULL, 1, 1, type, 0, NULL};

    line_fill(r, mem, &v, (int)rng_below(r, 2), lines, k, o->exact_e);
    memset(&o->lines, 0, sizeof o->lines);
    memset(o->special, 0x5a, sizeof o->special);
    memset(o->e, 0x5a, sizeof o->e);
    memset(o->zeroed, 0x5a, sizeof o->zeroed);
    o->lines.view = v;
    o->lines.count = lines;
    o->lines.k = k;
    for (int64_t i = 0; i < lines; i++)
        if (rng_below(r, 4) == 0)
            make_extreme(r, o, i, (int)rng_below(r, 2));
    o->lines.most = o->zeroed;
    o->lines.sum = o->zeroed + MOST;
    o->lines.squares = o->zeroed + 2 * MOST;
    o->lines.top = (uint32_t *)(o->zeroed + 3 * MOST);
    o->lines.special = o->special;
    o->lines.e = o->e;
}

static void begin(ozg_cuda_state *state, uint64_t *zero, int64_t words, struct rng *r)
{
    ozg_cuda_begin_args args = {
        .state = state, .initial = {.parts = 1, .failed = 77}, .zero = zero, .words = words};

    assert_int_equal(ozg_emulated_launch("ozg_cuda_begin", (int)rng_between(r, 1, 4), 256, 0, &args), 0);
    assert_int_equal(state->failed, 77);
}

/* Returns the number of lines with Inf or NaN. */
static uint64_t check_operand(const operand *o, const ozg_cuda_request *request)
{
    const ozg_cuda_lines *l = &o->lines;
    uint64_t specials = 0, most;
    ozg_norms n;

    for (int64_t i = 0; i < l->count; i++) {
        ozg_scale_ref(&l->view, l->k, i, i + 1, &most);
        specials += ozg_is_special(most);
        if (l->most[i] != most || l->e[i] != o->exact_e[i] ||
            l->special[i] != (ozg_is_nan(most)       ? OZG_LINE_NAN
                              : ozg_is_special(most) ? OZG_LINE_INF
                                                     : 0))
            fail_msg("type %c, strides %d %d, %d x %d, line %d: most %llx, expected %llx; e %d, expected %d; "
                     "special %d",
                     l->view.type, (int)l->view.line_stride, (int)l->view.step, (int)l->count, (int)l->k,
                     (int)i, (unsigned long long)l->most[i], (unsigned long long)most, l->e[i], o->exact_e[i],
                     l->special[i]);
        ozg_norms_ref(&l->view, l->k, i, i + 1, ozg_norm_bits(request->length), &o->exact_e[i], &n);
        if (!request->measured)
            memset(&n, 0, sizeof n);
        if (l->sum[i] != n.sum || l->squares[i] != n.squares || l->top[i] != n.most)
            fail_msg("type %c, strides %d %d, %d x %d, line %d: norms %llx %llx %x, expected %llx %llx %x",
                     l->view.type, (int)l->view.line_stride, (int)l->view.step, (int)l->count, (int)l->k,
                     (int)i, (unsigned long long)l->sum[i], (unsigned long long)l->squares[i], l->top[i],
                     (unsigned long long)n.sum, (unsigned long long)n.squares, n.most);
    }
    assert_int_equal(l->special[l->count], 0x5a);
    assert_int_equal(l->e[l->count], 0x5a5a5a5a);
    return specials;
}

/* length: k'; it may be said to be more than there is memory for. */
static void check_length(struct rng *r, char type, int64_t m, int64_t n, int64_t k, uint64_t length,
                         int measured, int fp64)
{
    ozg_cuda_state state;
    ozg_cuda_scale_args args;
    size_t bytes[2];

    memset(&state, 0x5a, sizeof state);
    memset(&args, 0, sizeof args);
    for (int q = 0; q < 2; q++) {
        make_operand(r, &operands[q], &memory[q], type, q ? n : m, k);
        begin(&state, operands[q].zeroed, ARRAYS - 1, r);
        assert_true(operands[q].zeroed[ARRAYS - 1] == UINT64_C(0x5a5a5a5a5a5a5a5a));
        operands[q].zeroed[ARRAYS - 1] = 0;
    }
    args.state = &state;
    args.request = (ozg_cuda_request){.kind = OZG_BY_NATIVE,
                                      .single = ozg_type_single(type),
                                      .complex_ = ozg_type_complex(type),
                                      .measured = measured,
                                      .m = m,
                                      .n = n,
                                      .k = k,
                                      .length = length};
    args.a = operands[0].lines;
    args.b = operands[1].lines;
    args.fp64 = fp64;
    for (int q = 0; q < 2; q++) {
        const ozg_cuda_lines *l = q ? &args.b : &args.a;

        bytes[q] =
            ozg_cuda_chunk_bytes(type, q ? 'B' : 'A', (l->view.step == 1) == q ? 'N' : 'T', l->count, k);
        args.chunks[q] = malloc(bytes[q]); /* the sanitizer's guard behind it */
        assert_non_null(args.chunks[q]);
        memset(args.chunks[q], 0x5a, bytes[q]);
    }
    if (rng_below(r, 8) == 0) /* one operand only */
        args.b.count = 0;
    ozg_emulated_order((uint32_t)rng_below(r, 100));
    for (int norms = 0; norms < 2; norms++) {
        const int share = (int)rng_between(r, 1, 3);
        const int blocks = norms
                               ? ozg_cuda_norms_blocks(&args.a, share) + ozg_cuda_norms_blocks(&args.b, share)
                               : ozg_cuda_scale_blocks(&args.a, share);

        assert_int_equal(ozg_emulated_launch(norms ? "ozg_cuda_norms" : "ozg_cuda_scale", blocks,
                                             OZG_CUDA_SCALE_THREADS, 0, &args),
                         0);
    }
    for (int q = 0; q < 2; q++)
        free(args.chunks[q]);
    assert_int_equal(state.special_rows, check_operand(&operands[0], &args.request));
    if (args.b.count)
        assert_int_equal(state.special_columns, check_operand(&operands[1], &args.request));
    else
        assert_int_equal(state.special_columns, 0);
    count_extremes(&operands[0], &args);
}

static void check(struct rng *r, char type, int64_t m, int64_t n, int64_t k)
{
    const int measured = rng_below(r, 4) > 0, fp64 = rng_below(r, 4) > 0;

    check_length(r, type, m, n, k, ozg_dot_length(type, k), measured, fp64);
}

static void test_scale(void **state)
{
    static const char types[] = {'s', 'd', 'c', 'z'};
    struct rng r = {1};

    (void)state;
    for (int type = 0; type < 4; type++) {
        for (int round = 0; round < 40; round++)
            check(&r, types[type], rng_between(&r, 1, 40), rng_between(&r, 1, 40), rng_between(&r, 1, 40));
        for (int round = 0; round < 12; round++) {
            check(&r, types[type], rng_between(&r, 1, MOST - 1), rng_between(&r, 1, 9),
                  rng_between(&r, 1, 200));
            check(&r, types[type], rng_between(&r, 1, 5), rng_between(&r, 1, 3), rng_between(&r, 1000, 5000));
        }
        check(&r, types[type], 256, 128, 64);
        check(&r, types[type], 64, 16, 1024);
    }
}

/* The largest and the least numbers that there are, and every nu of k' below 2^59. */
static void test_extremes(void **state)
{
    static const char types[] = {'s', 'd', 'c', 'z'};
    struct rng r = {2};

    (void)state;
    for (int i = 0; i < 8; i++)
        for (int bits = 32; bits <= 59; bits++)
            check_length(&r, types[i / 2], 60, 20, rng_between(&r, 1, 90),
                         (UINT64_C(1) << (bits - 1)) + rng_below(&r, UINT64_C(1) << 31), 1, i % 2);
    for (int how = 0; how < 3; how++) {
        for (int nu = LEAST_NU; nu <= MOST_NU; nu++)
            assert_true(seen[how].largest[nu] > 0);
        for (int number = 0; number < (how == 2 ? 23 : SUBNORMAL); number++)
            assert_true(seen[how].subnormal[number] > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_scale), cmocka_unit_test(test_extremes)};
    int failed;

    guard_open(&memory[0], 1 << 22);
    guard_open(&memory[1], 1 << 22);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    guard_close(&memory[0]);
    guard_close(&memory[1]);
    return failed;
}
