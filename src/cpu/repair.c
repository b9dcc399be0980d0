/*
 * repair.c - one entry of C exactly, rounded once, whatever the scaling kept.
 *
 * With x = x~ + (what the split rounded away), x~ = 2^-D x^, and P the places where an element of either line
 * was rounded,
 *
 *     AB = 2^(-D-E) c^ + sum over p in P of (a_p b_p - a~_p b~_p)
 *
 * and every product is one of doubles. Where P is large, AB = sum a_p b_p over all p is cheaper.
 *
 * SPDX-License-Identifier: MIT
 */
#include "arith/exact.h"
#include "arith/residue.h"
#include "cpu/parts.h"

/* Two lines and the components of their product on the way. */
typedef struct exact_entry {
    const ozg_lines *a, *b;
    int64_t i, j;
    int complex_;
    ozg_exact ab[2]; /* Re, Im */
} exact_entry;

/* Element p of line i: its components; kept: what the split kept of them. */
static void load(const ozg_lines *l, int64_t i, int64_t p, int kept, ozg_fp x[2])
{
    const ozg_view *v = &l->view;
    const int single = ozg_type_single(v->type), complex_ = ozg_type_complex(v->type);
    const int64_t at = ozg_line_stored(l, i) * v->line_stride + p * v->step;
    const int32_t d = l->d[i] + (v->shift ? v->shift[p] : 0);

    for (int part = 0; part <= complex_; part++) {
        const uint64_t bits = ozg_load_bits(v->x, single, (1 + complex_) * at + part);

        x[part] = ozg_fp_of_bits(bits);
        if (kept) {
            const ozg_scaled z = ozg_scale_bits(bits, d);

            x[part].mant = z.mant; /* mant 2^(shift - d) */
            x[part].exp = z.shift - d;
        }
        x[part].neg ^= part && v->conj;
    }
}

/* ab += (-1)^negate times the product of elements p, or of what the split kept of them. */
static void add_place(exact_entry *z, int64_t p, int kept, int negate)
{
    ozg_fp x[2], y[2];

    load(z->a, z->i, p, kept, x);
    load(z->b, z->j, p, kept, y);
    ozg_exact_add_product(&z->ab[0], x[0], y[0], negate);
    if (z->complex_) {
        ozg_exact_add_product(&z->ab[0], x[1], y[1], !negate);
        ozg_exact_add_product(&z->ab[1], x[0], y[1], negate);
        ozg_exact_add_product(&z->ab[1], x[1], y[0], negate);
    }
}

/* Word w of the places where an element of either line was rounded. */
static uint64_t places(const exact_entry *z, int64_t w)
{
    return z->a->places[z->i * z->a->words + w] | z->b->places[z->j * z->b->words + w];
}

/* Fewer products by the places than by all elements? */
static int few_places(const exact_entry *z)
{
    int64_t count = 0;

    for (int64_t w = 0; w < z->a->words && 2 * count < z->a->k; w++)
        count += ozg_bit_count(places(z, w));
    return 2 * count < z->a->k;
}

static void add_at_places(exact_entry *z, const ozg_value c[2])
{
    for (int part = 0; part <= z->complex_; part++)
        ozg_exact_add_int(&z->ab[part], &c[part].z, c[part].x, 0);
    for (int64_t w = 0; w < z->a->words; w++)
        for (uint64_t bits = places(z, w); bits; bits &= bits - 1) {
            const int64_t p = 64 * w + ozg_bit_length(bits & (~bits + 1)) - 1; /* the lowest bit */

            add_place(z, p, 0, 0);
            add_place(z, p, 1, 1);
        }
}

#define AHEAD 24 /* elements that are asked for before they are needed: they may lie a page apart each */

/* Asks for element p of line i. */
static void prefetch(const ozg_lines *l, int64_t i, int64_t p)
{
#if defined(__GNUC__)
    const ozg_view *v = &l->view;

    __builtin_prefetch((const char *)v->x +
                       (ozg_line_stored(l, i) * v->line_stride + p * v->step) * ozg_type_size(v->type));
#else
    (void)l, (void)i, (void)p;
#endif
}

/* The products of all elements. */
static void add_all(exact_entry *z)
{
    for (int64_t p = 0; p < z->a->k; p++) {
        if (p + AHEAD < z->a->k) {
            prefetch(z->a, z->i, p + AHEAD);
            prefetch(z->b, z->j, p + AHEAD);
        }
        add_place(z, p, 0, 0);
    }
}

void ozg_cpu_repair(const ozg_stage *st, const ozg_lines *a, int64_t i, const ozg_lines *b, int64_t j,
                    const ozg_value c[2], void *out, int64_t index)
{
    const ozg_scalars *s = &st->scalars;
    exact_entry z;
    uint64_t old[2], bits[2];

    z.a = a;
    z.b = b;
    z.i = i;
    z.j = j;
    z.complex_ = s->complex_;
    for (int part = 0; part <= s->complex_; part++)
        ozg_exact_clear(&z.ab[part]);

    if (few_places(&z))
        add_at_places(&z, c);
    else
        add_all(&z);
    ozg_entry_old(s, out, index, old);
    for (int part = 0; part <= s->complex_; part++)
        bits[part] = ozg_exact_component(s, part, z.ab, old);
    ozg_entry_store(s, out, index, bits);
}
