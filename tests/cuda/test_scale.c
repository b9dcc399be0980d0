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

static void check(struct rng *r, char type, int64_t m, int64_t n, int64_t k)
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
                                      .measured = rng_below(r, 4) > 0,
                                      .m = m,
                                      .n = n,
                                      .k = k,
                                      .length = ozg_dot_length(type, k)};
    args.a = operands[0].lines;
    args.b = operands[1].lines;
    args.fp64 = rng_below(r, 4) > 0;
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_scale)};
    int failed;

    guard_open(&memory[0], 1 << 22);
    guard_open(&memory[1], 1 << 22);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    guard_close(&memory[0]);
    guard_close(&memory[1]);
    return failed;
}
