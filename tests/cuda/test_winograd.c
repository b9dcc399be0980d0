/*
 * test_winograd.c - combinations of quadrants, and products by them, against plain loops over all elements.
 *
 * ctest: full
 * with: ozg_cuda_emulated
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "cuda/device.h"
#include "cuda/plan.h"
#include "cuda/product.h"
#include "cuda/product_maps.h"
#include "cuda/table.h"
#include "cuda/winograd.h"
#include "emulate.h"
#include "emulate_tensor.h"
#include "guard.h"
#include "rng.h"
#include "../unit/unit.h"

static ozg_cuda_table tables[OZG_CUDA_TABLES];

/* ---- a tile ------------------------------------------------------------------------------------- */

enum pattern { ANY, LEAST, ALTERNATING, PAIRS };

/* What is computed. */
struct product {
    int complex_, native, nmod;
    int64_t rows, columns, count;
    int64_t more; /* lines, and twice as many elements, that there is more room for */
    enum pattern pattern;
};

struct memory {
    struct guard a, b, out, floors;
    uint8_t *old[2]; /* the operands, as they were */
    size_t bytes[2], bytes_out, bytes_floors;
    const ozg_cuda_table *table;
    int residues, planes; /* of an operand: of residues, and with floors */
    ozg_cuda_state state;
    ozg_cuda_product_args args;
};

static int64_t up(int64_t x, int64_t to)
{
    return (x + to - 1) / to * to;
}

/* 256: 0 .. 255 stands for all of the class. */
static int modulus(const struct memory *y, int plane)
{
    return (int)y->table->reduce[plane % y->table->nmod].modulus;
}

/*
 * PAIRS: x21 is i and the other quadrants j, so that each sum and difference, also of what is a combination
 * already, is one of all pairs of residues.
 */
static int pair_of(const struct product *z, int m, int side, int64_t line, int64_t p)
{
    const int64_t half = side ? ozg_cuda_half(z->columns, 128) : ozg_cuda_half(z->rows, 256),
                  k = ozg_cuda_half(z->count, 128), number = line % half * k + p % k;

    return (int)(line >= half && p < k ? number % m : number / m % m);
}

static int element(struct rng *r, const struct memory *y, const struct product *z, int side, int plane,
                   int64_t line, int64_t p)
{
    const int m = plane < y->residues ? modulus(y, plane) : 128, h = (m - 1) / 2,
              least = m == 256 ? -128 : -h;

    if (plane >= y->residues)
        return z->pattern == ANY ? (int)rng_below(r, 128) : 127;
    if (z->pattern == PAIRS)
        return least + pair_of(z, m, side, line, p);
    if (z->pattern == ANY)
        return (int)rng_between(r, least, h);
    return z->pattern == ALTERNATING && (line + p) % 3 ? h : least;
}

/* Planes of an operand and room for combinations, with dirt where the contract says nothing. */
static ozg_cuda_planes make_planes(struct memory *y, struct rng *r, const struct product *z, int side)
{
    const int64_t lines = side ? z->columns : z->rows;
    struct guard *g = side ? &y->b : &y->a;
    ozg_cuda_planes p = {NULL, up(lines, 512) + up(z->more, 256), up(z->count, 256) + up(2 * z->more, 128)};
    const size_t bytes = (size_t)((y->planes + y->residues) * p.lines * p.pitch);

    guard_open(g, bytes);
    p.base = guard_tail(g, bytes);
    for (int64_t at = 0; at < (int64_t)bytes; at++) {
        const int64_t e = at % p.pitch, line = at / p.pitch;
        const int plane = (int)(line / p.lines);

        if (plane >= y->planes || line % p.lines >= lines)
            p.base[at] = (uint8_t)rng_next(r);
        else
            p.base[at] = e < z->count ? (uint8_t)element(r, y, z, side, plane, line % p.lines, e) : 0;
    }
    y->bytes[side] = bytes;
    y->old[side] = malloc(bytes);
    assert_non_null(y->old[side]);
    memcpy(y->old[side], p.base, bytes);
    return p;
}

static void make_maps(struct memory *y)
{
    ozg_cuda_api api;

    memset(&api, 0, sizeof api);
    api.tensor_map = ozg_emulated_tensor_map;
    assert_int_equal(ozg_cuda_product_maps(&api, &y->args.a, &y->args.b, y->planes + y->residues,
                                           &y->args.map_a, &y->args.map_b),
                     0);
}

static void make(struct memory *y, struct rng *r, const struct product *z)
{
    ozg_cuda_product_args *a = &y->args;

    memset(y, 0, sizeof *y);
    a->tables = ozg_cuda_tables_of(tables, z->complex_);
    y->table = &a->tables[z->nmod];
    y->residues = y->table->planes;
    y->planes = y->residues + (z->native ? z->complex_ ? 3 : 1 : 0);
    a->state = &y->state;
    a->request.complex_ = z->complex_;
    a->request.kind = z->native ? OZG_BY_NATIVE : OZG_BY_MODULI;
    a->tile = (ozg_cuda_tile){1, 7, z->rows + z->more, 5, z->columns + z->more, 0, z->count, 1};
    y->state.parts = 2;
    y->state.nmod[1] = z->nmod;
    y->state.part[1] = (ozg_part){11, 7 + z->rows, 13, 5 + z->columns};
    a->a = make_planes(y, r, z, 0);
    a->b = make_planes(y, r, z, 1);
    a->room = y->planes + y->residues;
    a->out.ld = a->a.lines;
    a->out.columns = a->b.lines;
    a->out.floor_bytes = 4;
    y->bytes_out = (size_t)(y->residues * a->out.ld * a->out.columns);
    y->bytes_floors = (size_t)((y->planes - y->residues) * a->out.ld * a->out.columns * 4);
    guard_open(&y->out, y->bytes_out);
    guard_open(&y->floors, y->bytes_floors + 16);
    a->out.base = guard_tail(&y->out, y->bytes_out);
    a->out.floors = guard_tail(&y->floors, y->bytes_floors + 16);
    memset(a->out.base, 0x5a, y->bytes_out);
    memset(a->out.floors, 0x5a, y->bytes_floors);
    make_maps(y);
}

static void unmake(struct memory *y)
{
    guard_close(&y->a);
    guard_close(&y->b);
    guard_close(&y->out);
    guard_close(&y->floors);
    free(y->old[0]);
    free(y->old[1]);
}

static void combine(const struct memory *y, int blocks, int make_a, int make_b)
{
    ozg_cuda_winograd_args w;

    memset(&w, 0, sizeof w);
    w.state = y->args.state;
    w.request = y->args.request;
    w.tile = y->args.tile;
    w.a = y->args.a;
    w.b = y->args.b;
    w.tables = y->args.tables;
    w.room = y->args.room;
    w.make_a = make_a;
    w.make_b = make_b;
    assert_int_equal(ozg_emulated_launch("ozg_cuda_winograd", blocks, OZG_CUDA_WINOGRAD_THREADS, 0, &w),
                     OZG_EMULATED_OK);
}

static void multiply(const struct memory *y, int wgmma, int blocks)
{
    static const char *const name[2][2] = {{"ozg_cuda_product_mma_winograd", "ozg_cuda_product_mma"},
                                           {"ozg_cuda_product_wgmma_winograd", "ozg_cuda_product_wgmma"}};

    for (int usual = 0; usual < 2; usual++)
        assert_int_equal(ozg_emulated_launch(name[wgmma][usual], blocks,
                                             wgmma ? OZG_CUDA_WGMMA_THREADS : OZG_CUDA_MMA_THREADS,
                                             wgmma ? OZG_CUDA_WGMMA_SHARED : OZG_CUDA_MMA_SHARED, &y->args),
                         OZG_EMULATED_OK);
}

/* ---- combinations ------------------------------------------------------------------------------- */

/* x is the residue of `sum` in the range of symmetric ones; of 256: of the class. */
static int is_residue(int m, int64_t sum, uint8_t x)
{
    const int64_t value = (int8_t)x, size = value < 0 ? -value : value;

    return (sum - value) % m == 0 && (m == 256 || 2 * size < m);
}

/* An element of a plane of side `side`, 0 in lines that are not there. */
static int old(const struct memory *y, int side, int64_t lines, int plane, int64_t line, int64_t p)
{
    const ozg_cuda_planes *x = side ? &y->args.b : &y->args.a;

    return line < lines ? (int8_t)y->old[side][(plane * x->lines + line) * x->pitch + p] : 0;
}

/* Wrong combinations of all planes. What else there is must be as it was: *touched counts that. */
static int64_t wrong_combinations(const struct memory *y, const struct product *z, int side, int made,
                                  int64_t *touched)
{
    const ozg_cuda_planes *x = side ? &y->args.b : &y->args.a;
    const int64_t lines = side ? z->columns : z->rows, half = ozg_cuda_half(lines, side ? 128 : 256),
                  k = ozg_cuda_half(z->count, 128);
    int64_t wrong = 0;

    for (int64_t at = 0; at < (int64_t)y->bytes[side]; at++) {
        const int64_t p = at % x->pitch, line = at / x->pitch % x->lines, i = line % half, e = p % k;
        const int plane = (int)(at / x->pitch / x->lines) - y->planes, q = (int)(2 * (line / half) + p / k);
        int x11, x12, x21, x22, s1, s2;

        if (!made || plane < 0 || line >= 2 * half || p >= 2 * k) {
            *touched += x->base[at] != y->old[side][at];
            continue;
        }
        if (i >= lines) /* unknown */
            continue;
        x11 = old(y, side, lines, plane, i, e);
        x12 = old(y, side, lines, plane, i, e + k);
        x21 = old(y, side, lines, plane, i + half, e);
        x22 = old(y, side, lines, plane, i + half, e + k);
        s1 = side ? x21 - x11 : x21 + x22;
        s2 = side ? x22 - s1 : s1 - x11;
        wrong += !is_residue(modulus(y, plane),
                             q == 0   ? s1
                             : q == 1 ? s2
                             : q == 2 ? (side ? x22 - x21 : x11 - x21)
                                      : x12 - s2,
                             x->base[at]);
    }
    return wrong;
}

static void check_combinations(struct rng *r, const struct product *z, int make_a, int make_b)
{
    int64_t wrong = 0, touched = 0;
    struct memory y;

    make(&y, r, z);
    combine(&y, 1 + (int)rng_below(r, 5), make_a, make_b);
    for (int side = 0; side < 2; side++)
        wrong += wrong_combinations(&y, z, side, side ? make_b : make_a, &touched);
    if (wrong || touched)
        fail_msg("%d x %d x %d, %d moduli, complex %d, pattern %d: %lld wrong, %lld touched", (int)z->rows,
                 (int)z->columns, (int)z->count, z->nmod, z->complex_, (int)z->pattern, (long long)wrong,
                 (long long)touched);
    unmake(&y);
}

/* Every modulus of both kinds once, as if they were systems, in the tables of 0 and 1: returns how many systems. */
static int all_moduli(void)
{
    uint8_t seen[257] = {0};
    int count = 0;

    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++)
        for (int complex_ = 0; complex_ < 2; complex_++) {
            const ozg_cuda_table *from = ozg_cuda_tables_of(tables, complex_) + s;

            for (int l = 0; l < from->nmod; l++)
                if (!seen[from->reduce[l].modulus]++) {
                    ozg_cuda_table *to = &tables[count / OZG_NMOD_MAX];

                    to->reduce[count++ % OZG_NMOD_MAX] = from->reduce[l];
                    to->nmod = to->planes = (count - 1) % OZG_NMOD_MAX + 1;
                }
        }
    return (count - 1) / OZG_NMOD_MAX + 1;
}

/* All pairs of residues: 2^16 elements of a quadrant are enough. */
static void test_every_modulus(void **state)
{
    const int systems = all_moduli();
    struct rng r = {1};

    (void)state;
    assert_true(systems == 2);
    for (int s = 0; s < systems; s++) {
        assert_true(tables[s].nmod > 0);
        check_combinations(&r, &(struct product){0, 0, s, 512, 512, 512, 0, PAIRS}, 1, 1);
    }
}

static void test_sizes(void **state)
{
    static const int64_t size[][3] = {{1, 1, 1},     {255, 129, 127}, {257, 257, 129},  {511, 255, 256},
                                      {512, 256, 5}, {513, 300, 257}, {300, 513, 1100}, {700, 260, 515}};
    struct rng r = {2};

    (void)state;
    for (int i = 0; i < (int)(sizeof size / sizeof size[0]); i++) {
        const struct product z = {i % 3 == 0, i % 2,      3 + i % 2,          size[i][0],
                                  size[i][1], size[i][2], i % 2 ? 0 : 60 * i, i % 3 ? ANY : ALTERNATING};

        check_combinations(&r, &z, i != 3, i != 5);
    }
}

/* ---- products ----------------------------------------------------------------------------------- */

/* Is entry (i, j) of plane q the sum of products of elements? */
static int right(const struct memory *y, const struct product *z, int q, int64_t i, int64_t j)
{
    const ozg_cuda_product_args *a = &y->args;
    const int64_t number = q < y->residues ? q : q - y->residues;
    const int64_t at = (number * a->out.columns + j) * a->out.ld + i;
    int64_t sum = 0;

    for (int64_t p = 0; p < z->count; p++)
        sum += (int64_t)old(y, 0, z->rows, q, i, p) * old(y, 1, z->columns, q, j, p);
    return q < y->residues ? is_residue(modulus(y, q), sum, a->out.base[at])
                           : ((const uint32_t *)a->out.floors)[at] == (uint64_t)sum;
}

/* Entries that are not right; of many some are looked at, among them all at the edges of quadrants. */
static int64_t wrong_sums(const struct memory *y, struct rng *r, const struct product *z, int64_t most)
{
    const int64_t step = 1 + 2 * z->rows * z->columns / most;
    int64_t wrong = 0;

    for (int q = 0; q < y->planes; q++) {
        for (int64_t e = 0; e < z->rows * z->columns; e += step == 1 ? 1 : 1 + (int64_t)rng_below(r, step))
            wrong += !right(y, z, q, e % z->rows, e / z->rows);
        for (int corner = 0; corner < 16; corner++) {
            const int64_t half_i = ozg_cuda_half(z->rows, 256), half_j = ozg_cuda_half(z->columns, 128);
            const int64_t i[] = {0, half_i - 1, half_i, z->rows - 1},
                          j[] = {0, half_j - 1, half_j, z->columns - 1};

            if (i[corner % 4] < z->rows && j[corner / 4] < z->columns)
                wrong += !right(y, z, q, i[corner % 4], j[corner / 4]);
        }
    }
    return wrong;
}

static void check_product(struct rng *r, const struct product *z)
{
    for (int wgmma = 0; wgmma < 2; wgmma++) {
        struct memory y;
        int64_t wrong;

        make(&y, r, z);
        ozg_emulated_order((uint32_t)rng_below(r, 5));
        combine(&y, 3, 1, 1);
        multiply(&y, wgmma, 1 + (int)rng_below(r, 5));
        ozg_emulated_order(0);
        wrong = wrong_sums(&y, r, z, 3000);
        if (wrong)
            fail_msg("%s: %d x %d x %d, %d moduli, complex %d, native %d, pattern %d: %lld wrong",
                     wgmma ? "wgmma" : "mma", (int)z->rows, (int)z->columns, (int)z->count, z->nmod,
                     z->complex_, z->native, (int)z->pattern, (long long)wrong);
        unmake(&y);
    }
}

static void test_products(void **state)
{
    static const int64_t size[][3] = {{1, 1, 1},       {256, 128, 128}, {257, 129, 129},
                                      {512, 256, 256}, {300, 300, 300}, {520, 257, 140}};
    struct rng r = {3};

    (void)state;
    for (int i = 0; i < (int)(sizeof size / sizeof size[0]); i++) {
        const struct product z = {i % 3 == 2, i % 2,      2 + i % 3,          size[i][0],
                                  size[i][1], size[i][2], i % 2 ? 0 : 50 * i, (enum pattern)(i % PAIRS)};

        check_product(&r, &z);
    }
}

/* The canonical moduli of usual data, and a complex set, once. */
static void test_many_moduli(void **state)
{
    struct rng r = {4};

    (void)state;
    check_product(&r, &(struct product){0, 1, 16, 260, 132, 200, 0, ANY});
    check_product(&r, &(struct product){1, 1, 11, 260, 132, 130, 0, ANY});
}

/* Long sums of the largest residues. */
static void test_long_sums(void **state)
{
    struct rng r = {5};

    (void)state;
    check_product(&r, &(struct product){0, 0, 2, 257, 3, 4000, 0, LEAST});
}

/* ---- what is left to the usual kernel ----------------------------------------------------------- */

/* Too little room: no combinations, and all planes by the usual kernel. */
static void test_no_room(void **state)
{
    struct rng r = {6};
    const struct product z = {0, 1, 3, 300, 140, 150, 0, ANY};

    (void)state;
    for (int wgmma = 0; wgmma < 2; wgmma++)
        for (int room = 0; room < 7; room += 6) {
            int64_t touched = 0;
            struct memory y;

            make(&y, &r, &z);
            y.args.room = room; /* 7 are enough */
            combine(&y, 2, 1, 1);
            multiply(&y, wgmma, 2);
            for (int side = 0; side < 2; side++)
                wrong_combinations(&y, &z, side, 0, &touched);
            assert_int_equal(touched, 0);
            assert_int_equal(wrong_sums(&y, &r, &z, 3000), 0);
            unmake(&y);
        }
}

/* Parts that do not exist, or without lines here: nothing happens. */
static void test_nothing(void **state)
{
    struct rng r = {7};
    const struct product z = {0, 0, 3, 300, 140, 150, 0, ANY};

    (void)state;
    for (int i = 0; i < 6; i++) {
        int64_t touched = 0;
        struct memory y;

        make(&y, &r, &z);
        y.state.parts = i < 2 ? 1 : 2;
        y.state.part[1].rows -= i / 2 == 1 ? 300 : 0;
        y.state.part[1].columns -= i / 2 == 2 ? 140 : 0;
        combine(&y, 2, 1, 1);
        multiply(&y, i % 2, 2);
        for (int side = 0; side < 2; side++)
            wrong_combinations(&y, &z, side, 0, &touched);
        for (size_t at = 0; at < y.bytes_out; at++)
            touched += y.args.out.base[at] != 0x5a;
        assert_int_equal(touched, 0);
        unmake(&y);
    }
}

/* One wrong bit in a combination is seen: products are made of them. */
static void test_faults_are_seen(void **state)
{
    struct rng r = {8};
    const struct product z = {0, 0, 2, 300, 140, 200, 0, ANY};

    (void)state;
    for (int i = 0; i < 8; i++) {
        struct memory y;
        const ozg_cuda_planes *x;

        make(&y, &r, &z);
        combine(&y, 1, 1, 1);
        x = i % 2 ? &y.args.b : &y.args.a; /* a quadrant of plane 1 */
        x->base[((y.planes + 1) * x->lines + i / 2 % 2 * (i % 2 ? 128 : 256)) * x->pitch + i / 4 * 128] ^= 1;
        multiply(&y, i / 2 % 2, 1);
        assert_true(wrong_sums(&y, &r, &z, 1 << 20) > 0);
        unmake(&y);
    }
}

/* ---- the plan ----------------------------------------------------------------------------------- */

static ozg_plan plan_of(int64_t n, int64_t k, ozg_accuracy acc, int how, size_t limit, int prepared)
{
    static struct ozg_cuda device;
    static ozg_context ctx;
    ozg_plan plan;

    memset(&ctx, 0, sizeof ctx);
    memset(&device, 0, sizeof device);
    memset(&plan, 0, sizeof plan);
    ctx.cuda = &device;
    ctx.device_pointers = 1;
    ctx.memory_limit = limit;
    device.capability = 90;
    device.wgmma = 1;
    device.multiprocessors = 132;
    ctx.winograd = how;
    plan.ctx = &ctx;
    plan.shape = (ozg_shape){'d', 'N', 'N', n, n, k, acc};
    plan.prepared_b = prepared;
    plan.nmod = acc.value;
    assert_int_equal(ozg_cuda_plan(&plan), OZG_OK);
    assert_true(plan.workspace <= limit);
    return plan;
}

static int planned(int64_t n, int64_t k, int how, int prepared)
{
    return plan_of(n, k, ozg_moduli(15), how, (size_t)100 << 30, prepared).winograd;
}

static void test_plans(void **state)
{
    const size_t much = (size_t)100 << 30;
    ozg_cuda_places with, without;
    ozg_plan plan;

    (void)state;
    assert_int_equal(planned(16384, 16384, OZG_WINOGRAD_PAYS, 0), 0);
    assert_int_equal(planned(16384, 16384, OZG_WINOGRAD_NEVER, 0), 0);
    assert_int_equal(planned(16384, 16384, OZG_WINOGRAD_ALWAYS, 1), 0);
    assert_int_equal(planned(2048, 2048, OZG_WINOGRAD_PAYS, 0), 0);
    assert_int_equal(planned(20, 20, OZG_WINOGRAD_ALWAYS, 0), 1);
    assert_int_equal(planned(16384, OZG_CUDA_WINOGRAD_K, OZG_WINOGRAD_ALWAYS, 0), 1);
    assert_int_equal(planned(16384, OZG_CUDA_WINOGRAD_K + 1, OZG_WINOGRAD_ALWAYS, 0), 0);
    /* s given: a second set of planes; in less memory smaller tiles */
    plan = plan_of(16384, 16384, ozg_moduli(15), OZG_WINOGRAD_ALWAYS, much, 0);
    ozg_cuda_place(&plan, &with);
    assert_int_equal(with.room, 30);
    assert_int_equal(plan.nt, 16384);
    plan = plan_of(16384, 16384, ozg_moduli(15), OZG_WINOGRAD_ALWAYS, plan.workspace - 1, 0);
    assert_true(plan.winograd && plan.nt < 16384);
    /* the data choose: no more than without it */
    plan = plan_of(16384, 16384, ozg_native(), OZG_WINOGRAD_ALWAYS, much, 0);
    ozg_cuda_place(&plan, &with);
    assert_int_equal(plan.winograd, 1);
    plan = plan_of(16384, 16384, ozg_native(), OZG_WINOGRAD_NEVER, much, 0);
    ozg_cuda_place(&plan, &without);
    assert_int_equal(with.bytes, without.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_modulus), cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_products),      cmocka_unit_test(test_many_moduli),
        cmocka_unit_test(test_long_sums),     cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_nothing),       cmocka_unit_test(test_faults_are_seen),
        cmocka_unit_test(test_plans),
    };

    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++)
        for (int complex_ = 0; complex_ < 2; complex_++)
            if (ozg_cuda_table_build(&tables[complex_ * (OZG_NMOD_MAX + 1) + s], complex_, s))
                return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
