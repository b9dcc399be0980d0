/*
 * samples.c - small products for the self-test, made from integers: the same bits on every machine.
 *
 * SPDX-License-Identifier: MIT
 */
#include "samples.h"

#include <string.h>

#include "cli.h"
#include "families.h"

const uint64_t hash_start = UINT64_C(0xcbf29ce484222325);

/* The layout of an IEEE number. */
struct layout {
    int digits; /* stored bits of the significand */
    int bias;
};

static struct layout layout_of(char type)
{
    return type_double(type) ? (struct layout){52, 1023} : (struct layout){23, 127};
}

/* encode() - sign, biased exponent and significand as bits. */
static uint64_t encode(struct layout l, int sign, int exponent, uint64_t significand)
{
    int width = l.digits == 52 ? 63 : 31;
    return (uint64_t)sign << width | (uint64_t)exponent << l.digits |
           (significand & (((uint64_t)1 << l.digits) - 1));
}

/* encode_integer() - a small integer as bits. */
static uint64_t encode_integer(struct layout l, int64_t v)
{
    uint64_t size = v < 0 ? (uint64_t)-v : (uint64_t)v;
    if (size == 0)
        return 0;
    int e = 63 - __builtin_clzll(size);
    return encode(l, v < 0, e + l.bias, size << (l.digits - e));
}

/* special() - one number in eight is NaN, Inf, -Inf or a zero. */
static uint64_t special(struct layout l, uint64_t r)
{
    int most = 2 * l.bias + 1;
    switch (r >> 8 & 63) {
    case 0:
        return encode(l, 0, most, (uint64_t)1 << (l.digits - 1));
    case 1:
        return encode(l, 0, most, 0);
    case 2:
        return encode(l, 1, most, 0);
    case 3:
    case 4:
    case 5:
        return 0;
    case 6:
    case 7:
        return encode(l, 1, 0, 0);
    default:
        return encode_integer(l, (int64_t)(r & 15) - 8);
    }
}

/* number_bits() - one number of this kind from 64 random bits. */
static uint64_t number_bits(struct layout l, enum kind kind, uint64_t r)
{
    int range = l.digits == 52 ? 20 : 10;
    switch (kind) {
    case KIND_UNIFORM:
        return encode(l, (int)(r >> 63), l.bias - 20 + (int)(r >> 52 & 1023) % 40, r);
    case KIND_INTEGER:
        return encode_integer(l, (int64_t)(r >> (63 - range)) - ((int64_t)1 << range));
    case KIND_SUBNORMAL:
        return encode(l, (int)(r >> 63), (int)(r >> 62 & 1), r);
    default:
        return special(l, r);
    }
}

static void fill(struct matrix *x, enum kind kind, uint64_t stream)
{
    struct layout l = layout_of(x->type);
    size_t count = (size_t)x->rows * (size_t)x->cols * (type_complex(x->type) ? 2 : 1);
    for (size_t e = 0; e < count; e++) {
        uint64_t bits = number_bits(l, kind, random_bits(stream, e));
        uint32_t half = (uint32_t)bits;
        if (l.digits == 52)
            memcpy((double *)x->data + e, &bits, 8);
        else
            memcpy((float *)x->data + e, &half, 4);
    }
}

struct sample golden_sample(char type, enum kind kind, int rounded)
{
    int64_t k = kind == KIND_SPECIAL ? 5 : 75; /* few terms, so that not every sum has a NaN */
    if (rounded)
        return (struct sample){type, 'T', 'C', 21, 18, k, kind, 1, ozg_moduli(8)};
    return (struct sample){type, 'N', 'N', 23, 19, 67, kind, 0, ozg_width(type_double(type) ? 95 : 66)};
}

struct sample_data sample_fill(const struct sample *s)
{
    int ta = s->transa != 'N', tb = s->transb != 'N';
    struct sample_data d = {
        .a = matrix_alloc("A", s->type, ta ? s->k : s->m, ta ? s->m : s->k),
        .b = matrix_alloc("B", s->type, tb ? s->n : s->k, tb ? s->k : s->n),
        .c = matrix_alloc("C", s->type, s->m, s->n),
    };
    /* subnormal times subnormal is all zero: B is uniform then */
    fill(&d.a, s->kind, 1);
    fill(&d.b, s->kind == KIND_SUBNORMAL ? KIND_UNIFORM : s->kind, 2);
    fill(&d.c, s->kind, 3);
    return d;
}

void sample_free(struct sample_data *d)
{
    matrix_free(&d->a);
    matrix_free(&d->b);
    matrix_free(&d->c);
}

ozg_status sample_run(ozg_context *ctx, const struct sample *s, struct sample_data *d, ozg_report *report)
{
    struct product p = product_of(s->type, s->m, s->n, s->k, d->a.data, d->b.data, d->c.data, s->accuracy);
    p.transa = s->transa;
    p.transb = s->transb;
    p.lda = matrix_ld(&d->a);
    p.ldb = matrix_ld(&d->b);
    if (s->scaled) {
        p.alpha = (struct scalar){{0.7, -1.1}, {0.7f, -1.1f}};
        p.beta = (struct scalar){{-0.3, 0.9}, {-0.3f, 0.9f}};
    }
    return product_run(ctx, &p, report);
}

int matrix_equal(const struct matrix *x, const struct matrix *y)
{
    return memcmp(x->data, y->data, (size_t)x->rows * (size_t)x->cols * type_size(x->type)) == 0;
}

uint64_t matrix_hash(uint64_t hash, const struct matrix *x)
{
    size_t size = type_double(x->type) ? 8 : 4;
    size_t count = (size_t)x->rows * (size_t)x->cols * (type_complex(x->type) ? 2 : 1);
    for (size_t e = 0; e < count; e++) {
        uint64_t bits = 0;
        uint32_t half = 0;
        if (size == 8)
            memcpy(&bits, (double *)x->data + e, 8);
        else
            memcpy(&half, (float *)x->data + e, 4);
        bits |= half;
        for (size_t i = 0; i < size; i++)
            hash = (hash ^ (bits >> 8 * i & 255)) * UINT64_C(0x100000001b3);
    }
    return hash;
}
