/*
 * test_product.c - both product kernels against plain C, and the reductions of all moduli by enumeration.
 *
 * with: ozg_cuda_emulated
 *
 * SPDX-License-Identifier: MIT
 */
#include "arith/residue.h"
#include "context.h"
#include "cpu/stages.h"
#include "cuda/product.h"
#include "cuda/product_maps.h"
#include "cuda/table.h"
#include "emulate.h"
#include "emulate_product.h"
#include "emulate_tensor.h"
#include "factors_data.h"
#include "guard.h"
#include "rng.h"
#include "../unit/unit.h"

static ozg_cuda_table tables[OZG_CUDA_TABLES];

/* ---- a launch ----------------------------------------------------------------------------------- */

enum pattern { ANY, EXTREME, OPPOSITE };

/* What is computed. */
struct product {
    int complex_, native, ceilings, nmod;
    int64_t rows, columns, count;    /* that there are */
    int64_t more_rows, more_columns; /* that the tile would have room for */
    int64_t pitch;                   /* 0: the least */
    int first, floor_bytes, part;
    enum pattern pattern;
    int64_t checked; /* entries of a plane that are looked at, at most */
};

struct memory {
    struct guard a, b, out, floors;
    size_t bytes_out, bytes_floors;
    uint8_t *old_out, *old_floors; /* what was there before */
    ozg_cuda_state state;
    ozg_cuda_product_args args;
    int planes, residues; /* of sums; those of the operands are as many */
    int batch;            /* the kernel for batches, of one product */
};

static const ozg_rns *rns_of(const struct product *z)
{
    const ozg_rns *rns = NULL;

    assert_int_equal(z->complex_ ? ozg_rns_complex(&rns, z->nmod) : ozg_rns_get(&rns, 1, z->nmod), OZG_OK);
    return rns;
}

/* Planes of residues: complex 3 of the first moduli, 2 of the others. */
static int residue_planes(const struct product *z)
{
    return z->complex_ ? 2 * rns_of(z)->nmod + rns_of(z)->three : z->nmod;
}

/* A byte of plane q of an operand. */
static int element(struct rng *r, const struct product *z, int q, int is_a)
{
    const ozg_rns *rns = rns_of(z);
    const int exact = z->ceilings || q >= residue_planes(z);
    const int m = exact ? 128 : (int)rns->m[q % rns->nmod], h = (m - 1) / 2, least = m == 256 ? -128 : -h;

    if (z->ceilings)
        return z->pattern == ANY ? (int)rng_below(r, 65) : 64;
    if (exact)
        return z->pattern == ANY ? (int)rng_below(r, 128) : 127;
    if (z->pattern == ANY)
        return (int)rng_between(r, least, h);
    return z->pattern == OPPOSITE && is_a ? h : least;
}

/* Planes of an operand, with dirt where the contract says nothing. */
static ozg_cuda_planes make_planes(struct guard *g, struct rng *r, const struct product *z, int planes,
                                   int is_a, int64_t lines)
{
    const int64_t pitch = z->pitch ? z->pitch : ozg_round_up64(z->count, 128);
    ozg_cuda_planes p = {NULL, ozg_round_up64(lines, OZG_CUDA_LINES), pitch};
    const size_t bytes = (size_t)(planes * p.lines * pitch);

    guard_open(g, bytes);
    p.base = guard_tail(g, bytes);
    for (int64_t at = 0; at < (int64_t)bytes; at++) {
        const int64_t e = at % pitch, line = at / pitch % p.lines;
        const int q = (int)(at / pitch / p.lines);

        if (line >= lines || e >= ozg_round_up64(z->count, 128))
            p.base[at] = (uint8_t)rng_next(r);
        else
            p.base[at] = e < z->count ? (uint8_t)element(r, z, q, is_a) : 0;
    }
    return p;
}

static void *make_out(struct guard *g, struct rng *r, size_t bytes, uint8_t **old)
{
    uint8_t *x;

    guard_open(g, bytes);
    x = guard_tail(g, bytes);
    *old = malloc(bytes ? bytes : 1);
    assert_non_null(*old);
    for (size_t at = 0; at < bytes; at++)
        x[at] = (*old)[at] = (uint8_t)rng_next(r);
    return x;
}

/* Old sums as an earlier chunk leaves them: symmetric residues; numbers of floors below 2^30. */
static void make_old(struct memory *y, const struct product *z)
{
    ozg_cuda_residues *out = &y->args.out;
    const int64_t plane = out->ld * out->columns;

    for (int64_t at = 0; at < (int64_t)y->bytes_out; at++) {
        const uint32_t m = rns_of(z)->m[(int)(at / plane) % rns_of(z)->nmod];

        out->base[at] = (uint8_t)ozg_symmetric(out->base[at] % m, m);
    }
    for (size_t at = 0; out->floor_bytes == 4 && at < y->bytes_floors / 4; at++)
        ((uint32_t *)out->floors)[at] &= 0x3fffffff;
    memcpy(y->old_out, out->base, y->bytes_out);
    if (y->bytes_floors)
        memcpy(y->old_floors, out->floors, y->bytes_floors);
}

static void make_maps(struct memory *y, int planes)
{
    ozg_cuda_api api;

    memset(&api, 0, sizeof api);
    api.tensor_map = ozg_emulated_tensor_map;
    assert_int_equal(
        ozg_cuda_product_maps(&api, &y->args.a, &y->args.b, planes, &y->args.map_a, &y->args.map_b), 0);
}

static void make(struct memory *y, struct rng *r, const struct product *z)
{
    const int components = z->complex_ ? 3 : 1, native = z->native && !z->ceilings;
    const int64_t rows = z->rows + z->more_rows, columns = z->columns + z->more_columns;
    ozg_cuda_product_args *a = &y->args;

    memset(y, 0, sizeof *y);
    y->residues = z->ceilings ? 0 : residue_planes(z);
    y->planes = z->ceilings ? 1 + z->complex_ : y->residues + (native ? components : 0);
    a->state = &y->state;
    a->tables = ozg_cuda_tables_of(tables, z->complex_);
    a->request.complex_ = z->complex_;
    a->request.kind = z->native ? OZG_BY_NATIVE : OZG_BY_MODULI;
    a->tile = (ozg_cuda_tile){z->part, 7, rows, 5, columns, 3, z->count, z->first};
    a->ceilings = z->ceilings;
    y->state.parts = z->part + 1;
    y->state.nmod[z->part] = z->nmod;
    y->state.part[z->part] = (ozg_part){11, 7 + z->rows, 13, 5 + z->columns};
    a->a = make_planes(&y->a, r, z, y->planes, 1, rows);
    a->b = make_planes(&y->b, r, z, y->planes, 0, columns);
    a->out.ld = ozg_round_up64(rows, 256);
    a->out.columns = ozg_round_up64(columns, 128);
    a->out.floor_bytes = z->floor_bytes;
    y->bytes_out = (size_t)(y->residues * a->out.ld * a->out.columns);
    y->bytes_floors = (size_t)((y->planes - y->residues) * a->out.ld * a->out.columns * z->floor_bytes);
    a->out.base = make_out(&y->out, r, y->bytes_out, &y->old_out);
    a->out.floors = make_out(&y->floors, r, y->bytes_floors, &y->old_floors);
    make_old(y, z);
    make_maps(y, y->planes);
}

static void unmake(struct memory *y)
{
    guard_close(&y->a);
    guard_close(&y->b);
    guard_close(&y->out);
    guard_close(&y->floors);
    free(y->old_out);
    free(y->old_floors);
}

static void launch(int wgmma, const struct memory *y, int blocks)
{
    static const char *const name[2][2] = {{"ozg_cuda_product_mma", "ozg_cuda_product_mma_batch"},
                                           {"ozg_cuda_product_wgmma", "ozg_cuda_product_wgmma_batch"}};

    assert_int_equal(ozg_emulated_launch(name[wgmma][y->batch], blocks,
                                         wgmma ? OZG_CUDA_WGMMA_THREADS : OZG_CUDA_MMA_THREADS,
                                         wgmma ? OZG_CUDA_WGMMA_SHARED : OZG_CUDA_MMA_SHARED, &y->args),
                     OZG_EMULATED_OK);
}

/* ---- what is right ------------------------------------------------------------------------------ */

/* The sum of entry (i, j) of plane x of A times plane y of B, by the plain C kernel. */
static int32_t sum_of(const ozg_cuda_product_args *a, const ozg_rns *rns, int x, int y, int64_t i, int64_t j)
{
    const uint8_t *line_a = a->a.base + (x * a->a.lines + i) * a->a.pitch;
    const uint8_t *line_b = a->b.base + (y * a->b.lines + j) * a->b.pitch;
    int32_t sum = 0;

    ozg_product_ref(rns, 0, a->tile.count, line_a, line_b, 0, &sum);
    return sum;
}

static uint64_t number_at(const void *x, int bytes, int64_t at)
{
    return bytes == 4 ? ((const uint32_t *)x)[at] : ((const uint64_t *)x)[at];
}

/* Is entry (i, j) of plane q what it should be? */
static int right(const struct memory *y, const struct product *z, int q, int64_t i, int64_t j)
{
    const ozg_cuda_product_args *a = &y->args;
    const ozg_rns *rns = rns_of(z);
    const int exact = q - y->residues, l = q % rns->nmod;
    const int64_t at = ((exact >= 0 ? exact : q) * a->out.columns + j) * a->out.ld + i;
    const uint32_t m = rns->m[l];
    uint64_t sum;
    uint32_t old;

    if (exact < 0) {
        old = z->first ? 0 : (uint32_t)(((int8_t)y->old_out[at] + (int)m) % (int)m);
        return (int8_t)a->out.base[at] ==
               (int8_t)ozg_symmetric(
                   ozg_mod_sum(old, sum_of(a, rns, q, q, i, j), m, rns->inv[l], rns->offset[l]), m);
    }
    if (z->ceilings && z->complex_) /* Re Re + Im Im, Re Im + Im Re */
        sum = (uint64_t)sum_of(a, rns, 0, q, i, j) + (uint64_t)sum_of(a, rns, 1, 1 - q, i, j);
    else
        sum = (uint64_t)sum_of(a, rns, q, q, i, j);
    return number_at(a->out.floors, z->floor_bytes, at) ==
           sum + (z->first ? 0 : number_at(y->old_floors, z->floor_bytes, at));
}

/* Entries that are not right: all are looked at, or some, and the corners. */
static int64_t wrong(const struct memory *y, struct rng *r, const struct product *z)
{
    const int64_t entries = z->rows * z->columns, step = entries <= z->checked ? 1 : entries / z->checked;
    int64_t count = 0;

    for (int q = 0; q < y->planes; q++) {
        for (int64_t e = 0; e < entries;
             e += step == 1 ? 1 : 1 + (int64_t)rng_below(r, (uint64_t)(2 * step - 1)))
            count += !right(y, z, q, e % z->rows, e / z->rows);
        count += !right(y, z, q, z->rows - 1, 0) + !right(y, z, q, 0, z->columns - 1) +
                 !right(y, z, q, z->rows - 1, z->columns - 1);
    }
    return count;
}

/* Nothing was written in tiles without entries. */
static int untouched(const struct memory *y, const struct product *z, int wgmma)
{
    const ozg_cuda_residues *out = &y->args.out;
    const int64_t rows = ozg_round_up64(z->rows, wgmma ? OZG_CUDA_WGMMA_ROWS : OZG_CUDA_MMA_ROWS);
    const int64_t columns = ozg_round_up64(z->columns, wgmma ? OZG_CUDA_WGMMA_COLUMNS : OZG_CUDA_MMA_COLUMNS);

    for (int64_t line = 0; line < y->planes * out->columns; line++) {
        const int in = line % out->columns < columns, exact = line >= y->residues * out->columns;
        const int64_t from = in ? rows : 0, word = exact ? out->floor_bytes : 1;
        const int64_t number = line - (exact ? y->residues * out->columns : 0);
        const uint8_t *now = exact ? out->floors : out->base, *old = exact ? y->old_floors : y->old_out;

        if (memcmp(now + (number * out->ld + from) * word, old + (number * out->ld + from) * word,
                   (size_t)((out->ld - from) * word)))
            return 0;
    }
    return 1;
}

static void check_kernel(int wgmma, struct rng *r, const struct product *z)
{
    struct memory y;
    const int blocks = 1 + (int)rng_below(r, 6);

    make(&y, r, z);
    ozg_emulated_order((uint32_t)rng_below(r, 5));
    launch(wgmma, &y, blocks);
    ozg_emulated_order(0);
    if (wrong(&y, r, z) || !untouched(&y, z, wgmma))
        fail_msg(
            "%s: %d x %d x %d, %d moduli, complex %d, native %d, ceilings %d, first %d: wrong, or too much",
            wgmma ? "wgmma" : "mma", (int)z->rows, (int)z->columns, (int)z->count, z->nmod, z->complex_,
            z->native, z->ceilings, z->first);
    unmake(&y);
}

static void check(struct rng *r, const struct product *z)
{
    for (int wgmma = 0; wgmma < 2; wgmma++)
        check_kernel(wgmma, r, z);
}

/* ---- tests -------------------------------------------------------------------------------------- */

static const struct product usual = {0, 0, 0, 2, 256, 128, 128, 0, 0, 0, 1, 4, 0, ANY, 4000};

static void test_one_tile(void **state)
{
    struct rng r = {1};
    struct product z = usual;

    (void)state;
    z.checked = 1 << 20;
    check(&r, &z);
    z.count = 1;
    z.nmod = 3;
    check(&r, &z);
}

/* Odd sizes, with pitches larger than needed, and more room than there are rows and columns. */
static void test_sizes(void **state)
{
    static const int64_t size[][3] = {{1, 1, 1},     {255, 127, 63},  {257, 129, 65},  {300, 1, 129},
                                      {1, 300, 500}, {129, 257, 640}, {513, 130, 257}, {40, 2200, 64}};
    struct rng r = {2};

    (void)state;
    for (int i = 0; i < (int)(sizeof size / sizeof size[0]); i++) {
        struct product z = usual;

        z.rows = size[i][0];
        z.columns = size[i][1];
        z.count = size[i][2];
        z.more_rows = i % 2 ? 300 : 0;
        z.more_columns = i % 3 ? 200 : 0;
        z.pitch = i % 2 ? ozg_round_up64(z.count, 128) + 128 : 0;
        z.part = i % 3;
        check(&r, &z);
    }
}

/* All kinds of planes; first and later chunks. */
static void test_kinds(void **state)
{
    struct rng r = {3};

    (void)state;
    for (int kind = 0; kind < 32; kind++) {
        struct product z = usual;

        z.complex_ = kind & 1;
        z.native = kind >> 1 & 1;
        z.first = kind >> 2 & 1;
        z.floor_bytes = kind >> 3 & 1 ? 8 : 4;
        z.ceilings = kind >> 4;
        z.rows = 200 + kind;
        z.columns = 150 - kind;
        z.count = 150;
        check(&r, &z);
    }
}

/* Every set of moduli, with k on both sides of the limit of the direct form. */
static void test_moduli(void **state)
{
    struct rng r = {4};

    (void)state;
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s += s < 20 ? 3 : 29) {
        struct product z = usual;

        z.nmod = s;
        z.complex_ = s % 2;
        z.rows = 60;
        z.columns = 50;
        z.count = s % 4 ? 140 : 800;
        z.first = s % 3 != 0;
        check(&r, &z);
    }
}

/* The largest sums: those of modulus 256 reach 2^31. Long ones by one kernel only: they take seconds. */
static void test_extreme_sums(void **state)
{
    struct rng r = {5};

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct product z = usual;

        z.rows = 5;
        z.columns = 3;
        z.count = i == 0 ? 131072 : i == 1 ? 40000 : 524;
        z.native = i == 2;
        z.pattern = i == 1 ? OPPOSITE : EXTREME;
        z.first = i != 1;
        if (i < 2)
            check_kernel(i, &r, &z);
        else
            check(&r, &z);
    }
}

/* Launches of parts that do not exist, or without rows here, do nothing. */
static void test_nothing(void **state)
{
    struct rng r = {6};

    (void)state;
    for (int i = 0; i < 6; i++) {
        const int wgmma = i % 2;
        struct product z = usual;
        struct memory y;

        make(&y, &r, &z);
        if (i < 2)
            y.state.parts = 0;
        else if (i < 4)
            y.state.part[0].rows = 7;
        else
            y.state.part[0].columns = 1;
        launch(wgmma, &y, 2);
        assert_memory_equal(y.args.out.base, y.old_out, y.bytes_out);
        unmake(&y);
    }
}

/* The factors of lines as well, where the part goes on behind the tile. */
static void check_factors(struct rng *r, int wgmma, int batch, int absent, const struct product *z)
{
    struct factors_data f;
    struct memory y;

    make(&y, r, z);
    y.batch = batch;
    y.state.part[z->part].rows += 9;
    y.state.part[z->part].columns += 100;
    y.state.parts -= absent;
    factors_fill(&f, r, &y.state, &y.args.tile);
    y.args.factors = f.args;
    launch(wgmma, &y, 1 + (int)rng_below(r, 4));
    factors_check(&f, !batch && !absent);
    if (absent)
        assert_memory_equal(y.args.out.base, y.old_out, y.bytes_out);
    else
        assert_true(wrong(&y, r, z) == 0 && untouched(&y, z, wgmma));
    unmake(&y);
}

/* By both kernels where they are asked for, not for batches, and not of a part that does not exist. */
static void test_factors(void **state)
{
    struct rng r = {9};
    struct product z = usual;

    (void)state;
    z.rows = 300; /* with the columns more than the threads of a block */
    z.columns = 60;
    z.count = 64;
    z.checked = 100;
    for (int i = 0; i < 48; i++) {
        z.part = i / 4 % 2;
        check_factors(&r, i % 2, i / 2 % 2, i % 3 == 0, &z);
    }
}

/* One wrong bit in an operand is seen, wherever it is. */
static void test_faults_are_seen(void **state)
{
    struct rng r = {7};

    (void)state;
    for (int i = 0; i < 6; i++) {
        struct product z = usual;
        struct memory y;
        uint8_t *byte;
        int64_t line, p;

        z.rows = 100;
        z.columns = 40;
        z.checked = 1 << 20;
        make(&y, &r, &z);
        line = (int64_t)rng_below(&r, 40);
        p = (int64_t)rng_below(&r, 128);
        byte = i < 4 ? y.args.a.base + line * y.args.a.pitch + p : y.args.b.base + line * y.args.b.pitch + p;
        *byte ^= 1;
        launch(i % 2, &y, 1);
        *byte ^= 1;
        assert_true(wrong(&y, &r, &z) > 0);
        unmake(&y);
    }
}

/* ---- reductions --------------------------------------------------------------------------------- */

/* The numbers from, from + step, ... up to `to`, and the one behind each of these. */
static void enumerate(const char *kernel, const ozg_cuda_reduce *m, int64_t from, int64_t to, int64_t step)
{
    int64_t differ = 0, first = 0;
    const emulate_reduce_args args = {*m, from, to, step, &differ, &first};

    assert_int_equal(ozg_emulated_launch(kernel, 1, 1, 0, &args), OZG_EMULATED_OK);
    if (differ)
        fail_msg("%s, m = %u: %lld numbers of [%lld, %lld], first %lld", kernel, (unsigned)m->modulus,
                 (long long)differ, (long long)from, (long long)to, (long long)first);
}

/* The bytes are powers of 256, and v >= 0 has the class of x; then all v. Returns the largest. */
static int64_t enumerate_bytes(const ozg_cuda_reduce *t)
{
    const int64_t m = t->modulus, start = (int64_t)t->start - 0x4b000000;
    int64_t power = 1, least = start, most = start;

    for (int i = 0; i < 4; i++, power = power * 256 % m) {
        const int64_t c = (int8_t)(t->powers >> 8 * i);

        assert_int_equal((c + m) % m, power % m);
        least += c < 0 ? 255 * c : 0;
        most += c > 0 ? 255 * c : 0;
    }
    assert_true(least >= 0 && most < 1 << 22);
    assert_int_equal((start + (INT64_C(1) << 31)) % m, 0);
    enumerate("emulate_reduce_class", t, 0, most, 2);
    return most;
}

/*
 * Short sums. q does not fall as x grows (one rounding of x I + const), so that it is right everywhere if it
 * is right where the right quotient changes: between j m + h and j m + h + 1.
 */
static void enumerate_direct(const ozg_cuda_reduce *t)
{
    const int64_t m = t->modulus, h = (m - 1) / 2, most = m == 256 ? 1 << 24 : t->direct * h * h;

    assert_true(m == 256 ? t->direct == INT32_MAX : most <= 1 << 24 && t->direct >= 524);
    enumerate("emulate_reduce_direct", t, h, most, m);
    enumerate("emulate_reduce_direct", t, -(most / m) * m + h, 0, m);
    enumerate("emulate_reduce_direct", t, most - 1000, most, 2);
    enumerate("emulate_reduce_direct", t, -most, -most + 1000, 2);
    enumerate("emulate_reduce_direct", t, -70000, 70000, 2);
}

static void test_reductions(void **state)
{
    uint8_t seen[257] = {0};
    struct rng r = {8};

    (void)state;
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++)
        for (int l = 0; l < s + ozg_moduli_complex(s)->nmod; l++) {
            const uint32_t m = l < s ? ozg_moduli_get(s)->m[l] : ozg_moduli_complex(s)->m[l - s];
            ozg_cuda_reduce t;

            if (seen[m]++)
                continue;
            ozg_cuda_reduce_build(&t, m);
            enumerate_bytes(&t);
            enumerate_direct(&t);
            for (int i = 0; i < 100; i++) {
                const int64_t x = (int32_t)(uint32_t)rng_next(&r);

                enumerate("emulate_reduce_bytes", &t, x, x + 100 < INT32_MAX ? x + 100 : INT32_MAX, 2);
            }
            enumerate("emulate_reduce_bytes", &t, INT32_MIN, INT32_MIN + 1000, 2);
            enumerate("emulate_reduce_bytes", &t, INT32_MAX - 1000, INT32_MAX, 2);
        }
}

/* The enumeration finds a constant that is wrong by one bit. */
static void test_wrong_constants_are_found(void **state)
{
    int64_t differ = 0, first = 0;
    emulate_reduce_args args;

    (void)state;
    ozg_cuda_reduce_build(&args.m, 245);
    args.m.scale += 1.0f / (1 << 24);
    args.from = 0;
    args.to = 61097;
    args.step = 2;
    args.differ = &differ;
    args.first_fail = &first;
    assert_int_equal(ozg_emulated_launch("emulate_reduce_class", 1, 1, 0, &args), OZG_EMULATED_OK);
    assert_true(differ > 0);
}

/* ---- maps --------------------------------------------------------------------------------------- */

/* Column 8 t + 2 q + c of a group of 64 is line 16 q + 2 t + c. */
static void test_maps(void **state)
{
    const ozg_cuda_planes planes = {NULL, 512, 384};
    const ozg_cuda_map_shape a = ozg_cuda_product_shape_a(&planes, 7),
                             b = ozg_cuda_product_shape_b(&planes, 7);

    (void)state;
    assert_int_equal(a.rank, 5);
    assert_int_equal(a.size[1] * a.size[2] * a.size[3] * a.size[4], 7 * 512);
    assert_int_equal(a.box[1] * a.box[2] * a.box[3] * a.box[4], OZG_CUDA_WGMMA_ROWS);
    for (uint64_t column = 0; column < 64; column++) {
        const uint64_t c = column % 2, q = column / 2 % 4, t = column / 8;

        assert_int_equal(c * a.stride[0] + q * a.stride[1] + t * a.stride[2], (16 * q + 2 * t + c) * 384);
    }
    assert_int_equal(a.stride[3], 64 * 384);
    assert_int_equal(b.rank, 2);
    assert_int_equal(b.size[0], 384);
    assert_int_equal(b.size[1], 7 * 512);
    assert_int_equal(b.box[0] * b.box[1] + a.box[0] * OZG_CUDA_WGMMA_ROWS, OZG_CUDA_WGMMA_STAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reductions), cmocka_unit_test(test_wrong_constants_are_found),
        cmocka_unit_test(test_maps),       cmocka_unit_test(test_one_tile),
        cmocka_unit_test(test_sizes),      cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_moduli),     cmocka_unit_test(test_extreme_sums),
        cmocka_unit_test(test_nothing),    cmocka_unit_test(test_faults_are_seen),
        cmocka_unit_test(test_factors),
    };

    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++)
        for (int complex_ = 0; complex_ < 2; complex_++)
            if (ozg_cuda_table_build(&tables[complex_ * (OZG_NMOD_MAX + 1) + s], complex_, s))
                return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
