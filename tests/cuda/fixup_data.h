/*
 * fixup_data.h - lines, scalars and C for the tests of repairs and of passes over C.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TEST_CUDA_FIXUP_DATA_H
#define OZG_TEST_CUDA_FIXUP_DATA_H

#include <math.h>

#include "arith/residue.h"
#include "cpu/stages.h"
#include "cuda/fixup.h"
#include "cuda/kernels.h"
#include "emulate.h"
#include "../kernels/lines.h"

static inline void *get(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size);

    assert_non_null(p);
    return p;
}

static inline void launch(const char *kernel, struct rng *r, int threads, const void *args)
{
    ozg_emulated_order((uint32_t)rng_below(r, 5));
    assert_int_equal((rng_below(r, 2) ? ozg_emulated_launch_cooperative : ozg_emulated_launch)(
                         kernel, 1 + (int)rng_below(r, 3), threads, 0, args),
                     OZG_EMULATED_OK);
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

static inline double number(struct rng *r, const struct product *z, int exponent)
{
    const int is_fine = (int)rng_below(r, 512) < z->fine, bits = z->fine && !is_fine ? 10 : z->bits;
    const uint64_t mantissa = (rng_next(r) >> 11 | UINT64_C(1) << 52) >> (53 - bits);
    const double x =
        ldexp((double)mantissa, exponent - bits - (int)rng_below(r, (uint64_t)z->spread + 1) - 20 * is_fine);

    return rng_below(r, (uint64_t)z->zeros) == 0 ? (rng_below(r, 2) ? 0 : -0.0) : rng_below(r, 2) ? x : -x;
}

/* The exponent of a line, with the shifts; 0: it is all zero. */
static inline int32_t exponent_of(const ozg_view *v, int64_t i, int64_t k)
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
static inline void set_apart(const ozg_view *v, int64_t count, int64_t k, int part)
{
    for (int64_t i = 0; i < count; i++)
        for (int64_t p = 0; p < k; p++) {
            const int64_t at = 2 * (i * v->line_stride + p * v->step);
            const double x = line_number(v, i, p, 0);

            line_set_number(v, at, p % 3 ? x : part ? 0 : ldexp(x, -300));
            line_set_number(v, at + 1, p % 3 || !part ? 0 : ldexp(x, -300));
        }
}

static inline void make_lines(struct rng *r, struct product *z, ozg_cuda_lines *l, int64_t count,
                              int64_t places, int exponent, const int16_t *shift)
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

static inline ozg_scalar scalar(struct rng *r, int form)
{
    static const double values[] = {1,        0,   -1,     0.5,      -8,       0x1p-1074,
                                    0x1p1023, 0.3, -1e300, 1.7e-300, INFINITY, NAN};

    return ozg_scalar_of(values[form >= 0 ? form : (int)rng_below(r, 12)]);
}

/* 0: alpha = 1, beta = 0; 1: powers of two; 2: any. */
static inline void make_scalars(struct rng *r, struct product *z, int form)
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

static inline double old_number(struct rng *r, const struct product *z)
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

static inline void make_c(struct rng *r, struct product *z)
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

static inline void free_lines(ozg_cuda_lines *l)
{
    free((void *)(uintptr_t)l->view.x);
    free(l->e);
    free(l->d);
    free(l->places);
    free(l->index);
}

static inline void assert_same(const struct product *z, const void *c, const char *what)
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

static inline void *copy_of_c(const struct product *z)
{
    const size_t bytes = (size_t)(z->ldc * z->n * ozg_type_size(z->type));
    void *c = get(bytes, 1);

    memcpy(c, z->c, bytes);
    return c;
}

#endif
