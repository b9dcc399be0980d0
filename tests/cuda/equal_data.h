/*
 * equal_data.h - a product of prog_equal.c: its shape, matrices made from a seed, and what is reported of it.
 *
 * Memory between columns is filled with NaN, which nobody may read or change.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TEST_CUDA_EQUAL_DATA_H
#define OZG_TEST_CUDA_EQUAL_DATA_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "moduli.h"
#include "ozgemm.h"

enum family {
    UNIFORM,   /* full mantissas in (-1, 1) */
    WIDE,      /* exponents over hundreds of bits, by element */
    CANCEL,    /* sums that cancel to a few bits */
    SUBNORMAL, /* subnormal elements and results */
    INTEGERS,  /* small ones: exact */
    HUGE_ONES, /* results that overflow */
    SPECIAL,   /* some lines with Inf or NaN, some zero */
    FAR,       /* some lines of a wide range: parts */
    EVIL,      /* spikes in some lines meet small elements: parts */
    INNER,     /* A D and D^-1 B: shifts along k */
    FAMILIES
};

static const char *const family_names[] = {"uniform", "wide",    "cancel", "subnormal", "integers",
                                           "huge",    "special", "far",    "evil",      "inner"};

typedef struct product {
    char type, transa, transb;
    int64_t m, n, k;
    int pad; /* elements between columns, more or less */
    enum family family;
    double alpha[2], beta[2];
    int nan_in_c;
    ozg_accuracy acc;
    /* set by product_make() */
    int64_t lda, ldb, ldc;
    void *a, *b, *c;
    size_t bytes_a, bytes_b, bytes_c;
} product;

static uint64_t rng_state;

static uint64_t rng_next(void)
{
    uint64_t z = rng_state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static int rng_below(int n)
{
    return (int)(rng_next() >> 33) % n;
}

/* In (-1, 1), all mantissa bits. */
static double rng_unit(void)
{
    return (double)(int64_t)(rng_next() | 1) * 0x1p-63;
}

/* About normal, of variance 1. */
static double rng_normal(void)
{
    double sum = 0;

    for (int q = 0; q < 12; q++)
        sum += rng_unit();
    return sum / 2;
}

static int type_is_single(char type)
{
    return type == 's' || type == 'c';
}

static int type_parts(char type)
{
    return type == 'c' || type == 'z' ? 2 : 1;
}

static size_t type_bytes(char type)
{
    return (type_is_single(type) ? 4u : 8u) * (size_t)type_parts(type);
}

static void number_set(char type, void *x, int64_t at, double value)
{
    if (type_is_single(type))
        ((float *)x)[at] = (float)value;
    else
        ((double *)x)[at] = value;
}

static double number_get(char type, const void *x, int64_t at)
{
    return type_is_single(type) ? (double)((const float *)x)[at] : ((const double *)x)[at];
}

/* Numbers of the type that an element at row i, column j of op(X) begins with. */
static int64_t element_at(char type, char trans, int64_t i, int64_t j, int64_t ld)
{
    return type_parts(type) * (trans == 'N' ? i + j * ld : j + i * ld);
}

/* Element p of line i of either side. */
static int64_t place_of(const product *g, int is_a, int64_t i, int64_t p)
{
    return is_a ? element_at(g->type, g->transa, i, p, g->lda) : element_at(g->type, g->transb, p, i, g->ldb);
}

static void scale_place(const product *g, int is_a, int64_t i, int64_t p, int e)
{
    void *x = is_a ? g->a : g->b;

    for (int part = 0; part < type_parts(g->type); part++) {
        const int64_t at = place_of(g, is_a, i, p) + part;

        number_set(g->type, x, at, ldexp(number_get(g->type, x, at), e));
    }
}

/* One number of an operand; the line and the element matter to some families. */
static double number_of(const product *g, int is_a, int64_t i, int64_t p)
{
    const int single = type_is_single(g->type);

    (void)i;
    switch (g->family) {
    case WIDE:
        return ldexp(rng_unit(), (int)(rng_normal() * (single ? 12 : 60)));
    case SUBNORMAL:
        return ldexp(rng_unit(),
                     single ? (is_a ? -130 : -20) - rng_below(8) : (is_a ? -1030 : -20) - rng_below(40));
    case INTEGERS:
        return (double)(rng_below(41) - 20);
    case HUGE_ONES:
        return ldexp(rng_unit(), single ? 64 : 512);
    default:
        return p % 7 == 3 ? 0 : rng_unit();
    }
}

/* One line in 7, in runs: the sample of 32 lines sees some. */
static int chosen(int64_t i)
{
    return i / 9 % 7 == 3;
}

/* Element 2 q + 1 undoes element 2 q, but for its last bits. */
static void make_cancel(const product *g)
{
    const int parts = type_parts(g->type);

    for (int64_t p = 0; p + 1 < g->k; p += 2)
        for (int side = 0; side < 2; side++)
            for (int64_t i = 0; i < (side ? g->m : g->n); i++)
                for (int part = 0; part < parts; part++) {
                    void *x = side ? g->a : g->b;
                    const double y = number_get(g->type, x, place_of(g, side, i, p) + part);

                    number_set(g->type, x, place_of(g, side, i, p + 1) + part,
                               side ? -y : y * (1 + (rng_below(4) == 0 ? 0x1p-22 : 0)));
                }
}

static void make_special(const product *g)
{
    const int parts = type_parts(g->type);

    for (int side = 0; side < 2; side++) {
        const int64_t count = side ? g->m : g->n;
        void *x = side ? g->a : g->b;

        for (int64_t i = 0; i < count; i++) {
            const int kind = rng_below(9);
            const int64_t p = (int64_t)(rng_next() % (uint64_t)g->k);
            const int64_t at = place_of(g, side, i, p) + rng_below(parts);

            if (kind == 0)
                number_set(g->type, x, at, INFINITY);
            if (kind == 1)
                number_set(g->type, x, at, -INFINITY);
            if (kind == 2)
                number_set(g->type, x, at, NAN);
            for (int64_t q = 0; kind == 3 && q < g->k; q++)
                for (int part = 0; part < parts; part++)
                    number_set(g->type, x, place_of(g, side, i, q) + part, rng_below(2) ? 0.0 : -0.0);
        }
    }
}

/* Elements of some lines of A, and of B for some sizes, times 2^(14 N). */
static void make_far(const product *g)
{
    for (int side = 0; side < 2; side++)
        for (int64_t i = 0; i < (side ? g->m : g->n); i++)
            for (int64_t p = 0; p < g->k && chosen(i) && (side || g->n % 2); p++)
                scale_place(g, side, i, p, (int)(14 * rng_normal()));
}

/*
 * As in tests/oracle/test_apart.c: a spike of 2^e in some lines of one side meets elements of the other that
 * are as small.
 */
static void make_evil_lines(const product *g, int is_a)
{
    const int64_t half = g->k / 2, lines = is_a ? g->m : g->n, others = is_a ? g->n : g->m;
    const int e = type_is_single(g->type) ? 30 : 50;

    for (int64_t q = 0; q < half; q++) {
        const int64_t p = is_a ? q : half + q;
        int met = 0;

        for (int64_t i = q; i < lines; i += half)
            if (chosen(i)) {
                scale_place(g, is_a, i, p, e);
                met = 1;
            }
        for (int64_t j = 0; j < others && met; j++)
            scale_place(g, !is_a, j, p, -e);
    }
}

/* In rows, columns or both. */
static void make_evil(const product *g)
{
    if (g->n % 3 != 1)
        make_evil_lines(g, 1);
    if (g->n % 3 != 0)
        make_evil_lines(g, 0);
}

static void make_inner(const product *g)
{
    for (int64_t p = 0; p < g->k; p++) {
        const int e = (int)(rng_normal() * (type_is_single(g->type) ? 10 : 40));

        for (int64_t i = 0; i < g->m; i++)
            scale_place(g, 1, i, p, e);
        for (int64_t j = 0; j < g->n; j++)
            scale_place(g, 0, j, p, -e);
    }
}

static void fill_side(const product *g, int is_a)
{
    void *x = is_a ? g->a : g->b;

    for (int64_t i = 0; i < (is_a ? g->m : g->n); i++)
        for (int64_t p = 0; p < g->k; p++)
            for (int part = 0; part < type_parts(g->type); part++)
                number_set(g->type, x, place_of(g, is_a, i, p) + part, number_of(g, is_a, i, p));
}

static void fill_c(const product *g)
{
    for (int64_t j = 0; j < g->n; j++)
        for (int64_t i = 0; i < type_parts(g->type) * g->m; i++) {
            double x = rng_unit();

            if (g->family == SUBNORMAL)
                x = ldexp(x, type_is_single(g->type) ? -148 : -1070);
            if (g->nan_in_c && rng_below(5) == 0)
                x = rng_below(2) ? NAN : INFINITY;
            number_set(g->type, g->c, i + type_parts(g->type) * j * g->ldc, x);
        }
}

static void *junk(size_t bytes)
{
    unsigned char *x = malloc(bytes ? bytes : 1);

    if (!x)
        abort();
    memset(x, 0xff, bytes); /* NaN in both precisions */
    return x;
}

static void product_make(product *g, uint64_t seed)
{
    const int64_t rows_a = g->transa == 'N' ? g->m : g->k, columns_a = g->transa == 'N' ? g->k : g->m;
    const int64_t rows_b = g->transb == 'N' ? g->k : g->n, columns_b = g->transb == 'N' ? g->n : g->k;

    rng_state = seed;
    g->lda = rows_a + g->pad;
    g->ldb = rows_b + (g->pad ? g->pad + 2 : 0);
    g->ldc = g->m + (g->pad ? g->pad + 4 : 0);
    g->bytes_a = (size_t)(g->lda * columns_a) * type_bytes(g->type);
    g->bytes_b = (size_t)(g->ldb * columns_b) * type_bytes(g->type);
    g->bytes_c = (size_t)(g->ldc * g->n) * type_bytes(g->type);
    g->a = junk(g->bytes_a);
    g->b = junk(g->bytes_b);
    g->c = junk(g->bytes_c);
    fill_side(g, 1);
    fill_side(g, 0);
    fill_c(g);
    if (g->family == CANCEL)
        make_cancel(g);
    if (g->family == SPECIAL)
        make_special(g);
    if (g->family == FAR)
        make_far(g);
    if (g->family == EVIL)
        make_evil(g);
    if (g->family == INNER)
        make_inner(g);
}

static void product_free(product *g)
{
    free(g->a);
    free(g->b);
    free(g->c);
}

/* ---- batches ------------------------------------------------------------------------------------ */

/*
 * Products of type 'd' and one shape, of all families in turn. Matrices of one kind lie in one piece of
 * memory, some elements between them; place[q] is that of C of product q: by strides q.
 */
typedef struct batch {
    int count;
    product like;
    double *a, *b, *c;
    int64_t stride_a, stride_b, stride_c; /* elements; A and B: 0 if all have one */
    size_t bytes_a, bytes_b, bytes_c;
    int64_t *place;
} batch;

static inline double *batch_memory(int64_t stride, int count, size_t bytes_each, size_t *bytes)
{
    *bytes = (size_t)(count - 1) * (size_t)stride * 8 + bytes_each;
    return junk(*bytes);
}

/* shared: 1 one A for all, 2 one B. scattered: C in another order. */
static inline void batch_make(batch *z, const product *like, int count, int shared, int scattered,
                              uint64_t seed)
{
    z->count = count;
    z->place = malloc((size_t)count * sizeof *z->place);
    for (int q = 0; q < count; q++) {
        product g = *like;

        g.family = (enum family)((like->family + q) % FAMILIES);
        product_make(&g, seed + (uint64_t)q);
        if (q == 0) {
            z->like = g;
            z->stride_a = shared & 1 ? 0 : (int64_t)(g.bytes_a / 8) + 3;
            z->stride_b = shared & 2 ? 0 : (int64_t)(g.bytes_b / 8) + 1;
            z->stride_c = (int64_t)(g.bytes_c / 8) + 2;
            z->a = batch_memory(z->stride_a, count, g.bytes_a, &z->bytes_a);
            z->b = batch_memory(z->stride_b, count, g.bytes_b, &z->bytes_b);
            z->c = batch_memory(z->stride_c, count, g.bytes_c, &z->bytes_c);
        }
        z->place[q] = scattered ? count - 1 - q : q;
        if (q == 0 || z->stride_a)
            memcpy(z->a + q * z->stride_a, g.a, g.bytes_a);
        if (q == 0 || z->stride_b)
            memcpy(z->b + q * z->stride_b, g.b, g.bytes_b);
        memcpy(z->c + z->place[q] * z->stride_c, g.c, g.bytes_c);
        product_free(&g);
    }
    z->like.a = z->like.b = z->like.c = NULL;
}

static inline void batch_free(batch *z)
{
    free(z->a);
    free(z->b);
    free(z->c);
    free(z->place);
}

/* ---- reports ------------------------------------------------------------------------------------ */

/* Products of a product that is not in parts. */
static inline int products_of(const product *g, const ozg_report *r)
{
    const int complex_ = type_parts(g->type) == 2, native = g->acc.kind == ozg_native().kind;
    const ozg_moduli_set *set = ozg_moduli_complex(r->moduli);

    return complex_ ? 2 * set->nmod + set->three + 3 * native : r->moduli + native;
}

/* The products that the device reports: complex ones are fewer than the CPU's. Parts save some of native. */
static inline int right_products(const product *g, const ozg_report *r)
{
    const int all = r->emulated ? products_of(g, r) : 0;

    return r->products == all || (r->products < all && r->products > 0 && g->acc.kind == ozg_native().kind);
}

#endif
