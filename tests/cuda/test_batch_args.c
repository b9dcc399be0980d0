/*
 * test_batch_args.c - the arguments that each block of a batch works with: every pointer is moved to its
 * product, and nothing else is changed (src/cuda/batch.cuh).
 * with: ozg_cuda_emulated
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "emulate.h"
#include "emulate_batch.h"

#define PRODUCTS EMULATE_BATCH_PRODUCTS
#define FIRST    2 /* of the launch, in the batch */
#define KNOWN    1024
#define TILE     (1 << 20)

static unsigned char states[(FIRST + PRODUCTS) * KNOWN] __attribute__((aligned(64)));

static uintptr_t next_address;

/* Another address each time; nothing is read there. */
static void *somewhere(void)
{
    next_address += (uintptr_t)1 << 40;
    return (void *)next_address;
}

static void *moved(const void *x, int64_t bytes)
{
    return x ? (void *)((uintptr_t)x + (uintptr_t)bytes) : NULL;
}

static ozg_cuda_state *state_of(int q)
{
    return (ozg_cuda_state *)(void *)(states + q * KNOWN);
}

/* whole: with what only native has. */
static ozg_cuda_lines lines_somewhere(int whole)
{
    ozg_cuda_lines l;

    memset(&l, 0x11, sizeof l);
    l.view.x = somewhere();
    l.view.shift = whole ? somewhere() : NULL;
    l.most = somewhere();
    l.sum = somewhere();
    l.squares = somewhere();
    l.top = somewhere();
    l.rsum = somewhere();
    l.rsquares = somewhere();
    l.rtop = somewhere();
    l.ceiling = whole ? NULL : somewhere();
    l.special = somewhere();
    l.e = somewhere();
    l.d = somewhere();
    l.x1 = somewhere();
    l.x2 = somewhere();
    l.xmax = somewhere();
    l.r1 = somewhere();
    l.r2 = somewhere();
    l.rmax = somewhere();
    l.places = whole ? somewhere() : NULL;
    l.index = whole ? somewhere() : NULL;
    return l;
}

/* Of product q; x: where its matrix is. */
static void move_lines(ozg_cuda_lines *l, int q, const void *x)
{
    const int64_t by = q * KNOWN;

    l->view.x = x;
    l->view.shift = moved(l->view.shift, by);
    l->most = moved(l->most, by);
    l->sum = moved(l->sum, by);
    l->squares = moved(l->squares, by);
    l->top = moved(l->top, by);
    l->rsum = moved(l->rsum, by);
    l->rsquares = moved(l->rsquares, by);
    l->rtop = moved(l->rtop, by);
    l->ceiling = moved(l->ceiling, by);
    l->special = moved(l->special, by);
    l->e = moved(l->e, by);
    l->d = moved(l->d, by);
    l->x1 = moved(l->x1, by);
    l->x2 = moved(l->x2, by);
    l->xmax = moved(l->xmax, by);
    l->r1 = moved(l->r1, by);
    l->r2 = moved(l->r2, by);
    l->rmax = moved(l->rmax, by);
    l->places = moved(l->places, by);
    l->index = moved(l->index, by);
}

static ozg_cuda_request request(int pointers)
{
    ozg_cuda_request r;

    memset(&r, 0x22, sizeof r);
    r.batch.known = KNOWN;
    r.batch.tile = TILE;
    r.batch.lines = 4096;
    r.batch.a = pointers ? 0 : 800;
    r.batch.b = 0; /* one B for all */
    r.batch.c = pointers ? 0 : -1600;
    r.batch.pointers = pointers;
    r.batch.first = FIRST;
    return r;
}

/* Where the matrices of product q are. */
static const void *matrix(const ozg_cuda_request *r, int q, int side, const void *x)
{
    if (r->batch.pointers)
        return side == 0 ? state_of(q)->a : side == 1 ? state_of(q)->b : state_of(q)->c;
    return moved(x, q * (side == 0 ? r->batch.a : side == 1 ? r->batch.b : r->batch.c));
}

static void launch(const char *kernel, const void *args)
{
    const int grid[3] = {2, PRODUCTS, 1};

    memset(emulate_batch_seen, 0, sizeof emulate_batch_seen);
    assert_int_equal(ozg_emulated_launch_grid(kernel, grid, 128, 0, 0, args), OZG_EMULATED_OK);
}

/* ---- each kind of arguments ---------------------------------------------------------------------- */

#define OF_LINES(member, kernel, args_type)                                                                  \
    static void member(void **state)                                                                         \
    {                                                                                                        \
        (void)state;                                                                                         \
        for (int q = 0; q < 4; q++) {                                                                        \
            args_type x;                                                                                     \
                                                                                                             \
            memset(&x, 0x33, sizeof x);                                                                      \
            x.request = request(q % 2);                                                                      \
            x.state = state_of(0);                                                                           \
            x.a = lines_somewhere(q / 2);                                                                    \
            x.b = lines_somewhere(q / 2);                                                                    \
            finish_##member(&x, NULL, 0);                                                                    \
            launch(kernel, &x);                                                                              \
            for (int y = 0; y < PRODUCTS; y++) {                                                             \
                args_type wanted = x;                                                                        \
                                                                                                             \
                wanted.state = state_of(FIRST + y);                                                          \
                move_lines(&wanted.a, FIRST + y, matrix(&x.request, FIRST + y, 0, x.a.view.x));              \
                move_lines(&wanted.b, FIRST + y, matrix(&x.request, FIRST + y, 1, x.b.view.x));              \
                finish_##member(&wanted, &x, y);                                                             \
                assert_memory_equal(&emulate_batch_seen[y].member, &wanted, sizeof wanted);                  \
            }                                                                                                \
        }                                                                                                    \
    }

/* finish: what there is beside lines and the state; first: of the launch (x NULL), then of place y. */
static void finish_scale(ozg_cuda_scale_args *to, const ozg_cuda_scale_args *x, int y)
{
    for (int side = 0; side < 2; side++)
        to->chunks[side] = x ? moved(x->chunks[side], (FIRST + y) * KNOWN) : somewhere();
}

static void finish_factors(ozg_cuda_factors_args *to, const ozg_cuda_factors_args *x, int y)
{
    (void)to;
    (void)x;
    (void)y;
}

static void finish_choose(ozg_cuda_choose_args *to, const ozg_cuda_choose_args *x, int y)
{
    to->memory = x ? moved(x->memory, (FIRST + y) * KNOWN) : somewhere();
}

static void finish_c(ozg_cuda_c_args *to, const ozg_cuda_c_args *x, int y)
{
    const void *c = x ? matrix(&x->request, FIRST + y, 2, x->c) : somewhere();

    to->c = (void *)(uintptr_t)c;
}

static void finish_reconstruct(ozg_cuda_reconstruct_args *to, const ozg_cuda_reconstruct_args *x, int y)
{
    const void *c = x ? matrix(&x->request, FIRST + y, 2, x->c) : somewhere();

    to->c = (void *)(uintptr_t)c;
    to->in.base = x ? moved(x->in.base, y * TILE) : somewhere();
    to->in.floors = x ? moved(x->in.floors, y * TILE) : somewhere();
    to->list = x ? moved(x->list, y * TILE) : somewhere();
}

OF_LINES(scale, "emulate_batch_scale_batch", ozg_cuda_scale_args)
OF_LINES(factors, "emulate_batch_factors_batch", ozg_cuda_factors_args)
OF_LINES(choose, "emulate_batch_choose_batch", ozg_cuda_choose_args)
OF_LINES(c, "emulate_batch_c_batch", ozg_cuda_c_args)
OF_LINES(reconstruct, "emulate_batch_reconstruct_batch", ozg_cuda_reconstruct_args)

/* One side may be left out. */
static void split(void **state)
{
    (void)state;
    for (int q = 0; q < 8; q++) {
        ozg_cuda_split_args x;

        memset(&x, 0x44, sizeof x);
        x.request = request(q % 2);
        x.state = state_of(0);
        for (int side = 0; side < 2; side++) {
            x.side[side].lines = lines_somewhere(q / 2 % 2);
            x.side[side].planes.base = somewhere();
        }
        if (q >= 4)
            x.side[q % 3 == 0].lines.view.x = NULL;
        launch("emulate_batch_split_batch", &x);
        for (int y = 0; y < PRODUCTS; y++) {
            ozg_cuda_split_args wanted = x;

            wanted.state = state_of(FIRST + y);
            for (int side = 0; side < 2; side++) {
                const void *old = x.side[side].lines.view.x;

                move_lines(&wanted.side[side].lines, FIRST + y,
                           old ? matrix(&x.request, FIRST + y, side, old) : NULL);
                wanted.side[side].planes.base = moved(x.side[side].planes.base, y * TILE);
            }
            assert_memory_equal(&emulate_batch_seen[y].split, &wanted, sizeof wanted);
        }
    }
}

/* It reads no matrix, and has no state. */
static void raise_args(void **state)
{
    ozg_cuda_raise_args x;

    (void)state;
    memset(&x, 0x55, sizeof x);
    x.request = request(0);
    x.a = lines_somewhere(0);
    x.b = lines_somewhere(0);
    x.in.floors = somewhere();
    launch("emulate_batch_raise_batch", &x);
    for (int y = 0; y < PRODUCTS; y++) {
        ozg_cuda_raise_args wanted = x;

        move_lines(&wanted.a, FIRST + y, x.a.view.x);
        move_lines(&wanted.b, FIRST + y, x.b.view.x);
        wanted.in.floors = moved(x.in.floors, y * TILE);
        assert_memory_equal(&emulate_batch_seen[y].raise, &wanted, sizeof wanted);
    }
}

/* The kernel that sets the matrices of states, and begin for several products. */
static void matrices(void **state)
{
    static ozg_cuda_matrices_args x;

    (void)state;
    memset(states, 0, sizeof states);
    x.state = state_of(0);
    x.known = KNOWN;
    x.count = FIRST + PRODUCTS - 1;
    for (int q = 0; q < OZG_CUDA_MATRICES; q++) {
        x.matrix[q].a = somewhere();
        x.matrix[q].b = somewhere();
        x.matrix[q].c = somewhere();
    }
    assert_int_equal(ozg_emulated_launch("ozg_cuda_matrices", 1, OZG_CUDA_MATRICES, 0, &x), OZG_EMULATED_OK);
    for (int q = 0; q < FIRST + PRODUCTS; q++) {
        ozg_cuda_state wanted;

        memset(&wanted, 0, sizeof wanted);
        if (q < x.count) {
            wanted.a = x.matrix[q].a;
            wanted.b = x.matrix[q].b;
            wanted.c = x.matrix[q].c;
        }
        assert_memory_equal(state_of(q), &wanted, sizeof wanted);
    }
}

static void begin(void **state)
{
    const int grid[3] = {2, PRODUCTS, 1};
    static unsigned char wanted[sizeof states];
    ozg_cuda_begin_args x;

    (void)state;
    memset(states, 0x77, sizeof states);
    memset(wanted, 0x77, sizeof wanted);
    memset(&x, 0, sizeof x);
    memset(&x.initial, 0x66, sizeof x.initial);
    x.state = state_of(0);
    x.zero = (uint64_t *)(void *)(states + 512);
    x.words = 40;
    x.known = KNOWN;
    for (int q = 0; q < PRODUCTS; q++) {
        memcpy(wanted + q * KNOWN, &x.initial, sizeof x.initial);
        memset(wanted + q * KNOWN + 512, 0, 320);
    }
    assert_int_equal(ozg_emulated_launch_grid("ozg_cuda_begin", grid, 256, 0, 0, &x), OZG_EMULATED_OK);
    assert_memory_equal(states, wanted, sizeof states);
}

static int fill_states(void **state)
{
    (void)state;
    memset(states, 0, sizeof states);
    for (int q = 0; q < FIRST + PRODUCTS; q++) {
        state_of(q)->a = somewhere();
        state_of(q)->b = somewhere();
        state_of(q)->c = somewhere();
    }
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scale),       cmocka_unit_test(factors), cmocka_unit_test(choose),
        cmocka_unit_test(c),           cmocka_unit_test(split),   cmocka_unit_test(raise_args),
        cmocka_unit_test(reconstruct), cmocka_unit_test(begin),   cmocka_unit_test(matrices)};

    return cmocka_run_group_tests(tests, fill_states, NULL);
}
