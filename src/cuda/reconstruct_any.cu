/*
 * reconstruct_any.cu - the reconstruct stage for scalars of any kind: each entry by a thread, as
 * src/cpu/reconstruct.c has it in general, with the arithmetic of arith/entry.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cuda/reconstruct.cuh"

/*
 * The sum of up to four terms needs OZG_SUM_WORDS words, since their exponents may be far apart. But then
 * all that lies far below the highest of them only counts by its sign, and may be brought closer: to GAP
 * bits below the lowest bit of what is above it. Four terms of at most (7 + 7 + 2 + 2) words and three gaps
 * take 18 + 9 + 3 words (ozg_sum_round_in()).
 *
 * Let u be the sum of the terms above the first gap, a multiple of 2^L, and v the rest, |v| < 2^(L - GAP +
 * 2), before and after. If u is not 0, places where the rounding changes are multiples of 2^(L - 55) (for
 * the subnormal range see ozg_cuda_words_join()), so that u + v lies between the same two, on the same side
 * of u. By the same argument the sign of v does not change where a gap within it is closed. If u = 0 its
 * terms are left out.
 */
#define GAP       192
#define SUM_WORDS (18 + 3 * GAP / 64 + 3)

/* Words that are not 0 at the top, at least 1: bits [exp, high) */
OZG_DEVICE int32_t high_of(const ozg_term *t)
{
    int used = t->n;

    while (used > 1 && !t->w[used - 1])
        used--;
    return t->exp + 64 * used;
}

/* The highest first; terms that are 0 go. */
OZG_DEVICE void order_terms(ozg_sum *sum)
{
    int count = 0;

    for (int i = 0; i < sum->count; i++) {
        const ozg_term t = sum->t[i];
        uint64_t any = 0;
        int at = count;

        for (int w = 0; w < t.n; w++)
            any |= t.w[w];
        if (!any)
            continue;
        for (; at > 0 && high_of(&sum->t[at - 1]) < high_of(&t); at--)
            sum->t[at] = sum->t[at - 1];
        sum->t[at] = t;
        count++;
    }
    sum->count = count;
}

/* Is the sum of the first terms 0? */
OZG_DEVICE int vanishes(uint64_t *acc, const ozg_term *t, int count)
{
    int32_t low = t[0].exp, n;
    uint64_t any = 0;

    for (int i = 1; i < count; i++)
        low = t[i].exp < low ? t[i].exp : low;
    n = (high_of(&t[0]) - low) / 64 + 3;
    for (int i = 0; i < n; i++)
        acc[i] = 0;
    for (int i = 0; i < count; i++)
        ozg_sum_add(acc, n, t[i].w, (high_of(&t[i]) - t[i].exp) / 64, t[i].neg, t[i].exp - low);
    for (int i = 0; i < n; i++)
        any |= acc[i];
    return any == 0;
}

/* Closes the gaps. Terms are in order. */
OZG_DEVICE void close_gaps(uint64_t *acc, ozg_sum *sum)
{
    int32_t low = sum->count ? sum->t[0].exp : 0;
    int whole = 1; /* no gap yet */

    for (int i = 1; i < sum->count; i++) {
        const int32_t high = high_of(&sum->t[i]), up = low - GAP - high;

        if (up > 0 && whole && vanishes(acc, sum->t, i)) {
            for (int q = i; q < sum->count; q++)
                sum->t[q - i] = sum->t[q];
            sum->count -= i;
            low = sum->t[0].exp;
            i = 0;
            continue;
        }
        if (up > 0) {
            whole = 0;
            for (int q = i; q < sum->count; q++)
                sum->t[q].exp += up;
        }
        low = sum->t[i].exp < low ? sum->t[i].exp : low;
    }
}

/* ozg_entry_component() */
OZG_DEVICE uint64_t component(const ozg_scalars *s, int part, const ozg_value *v, const uint64_t old[2])
{
    uint64_t acc[SUM_WORDS], special;
    ozg_sum sum;

    ozg_entry_sum(&sum, s, part, v, old);
    special = ozg_sum_special(&sum, s->single);
    if (special)
        return special;
    order_terms(&sum);
    close_gaps(acc, &sum);
    return sum.count ? ozg_sum_round_in(acc, s->single, sum.t, sum.count) : 0;
}

/* Sign and magnitude. */
template <int N> OZG_DEVICE void value_of(const ozg_cuda_words<N> &c, int32_t x, ozg_value *v)
{
    const uint64_t flip = (uint64_t)((int64_t)c.w[N - 1] >> 63);
    uint64_t carry = flip & 1;

    v->kind = OZG_FINITE;
    v->neg = 0;
    v->z.neg = (int)(flip & 1);
    v->z.n = N;
    v->x = x;
    for (int i = 0; i < N; i++) {
        v->z.w[i] = (c.w[i] ^ flip) + carry;
        carry &= (uint64_t)(v->z.w[i] == 0);
    }
}

/* RN of component `part` with alpha AB moved down (-1), up (1) or not at all. 0: not done. */
template <int N>
OZG_DEVICE int round_moved(const common *z, const ozg_cuda_bound *bound, int move, int part, int32_t x,
                           const ozg_cuda_words<N> *c, const uint64_t old[2], uint64_t *bits)
{
    const ozg_scalars *scalars = &z->a->scalars;
    ozg_value v[2];

    for (int q = 0; q <= scalars->complex_; q++) { /* alpha_q meets component part ^ q, Im Im negatively */
        const int down = (move < 0) ^ scalars->alpha[q].fp.neg ^ (q && !part);
        ozg_cuda_words<N> moved = c[part ^ q];

        if (move && !move_by_bound<N>(z, bound, down, &moved))
            return 0;
        value_of<N>(moved, x, &v[part ^ q]);
    }
    *bits = component(scalars, part, v, old);
    return 1;
}

/* One entry, tested if the accuracy asks for it. It is stored if it stays. */
template <int N>
OZG_DEVICE int any_entry(const common *z, uint32_t *tested, uint64_t *largest, const entry *e)
{
    const ozg_scalars *scalars = &z->a->scalars;
    const int32_t x = -(z->a->a.d[e->row_at] + z->a->b.d[e->column_at]);
    const uint64_t inf = scalars->single ? UINT64_C(0x7f800000) : OZG_F64_INF;
    ozg_cuda_bound bound = {0, 0, 0};
    ozg_cuda_words<N> c[2];
    uint64_t old[2], bits[2], above, key;

    for (int part = 0; part <= scalars->complex_; part++)
        c[part] = words_of<N>(z, e, part, scalars->complex_);
    if (z->tests.kind)
        bound = ozg_cuda_bound_of(&z->a->a, e->row_at, &z->a->b, e->column_at);
    *tested += bound.e != 0;
    if (bound.e && z->tests.kind == OZG_BY_NATIVE && !native_stays<N>(z, e, &bound, scalars->complex_, c))
        return OZG_CUDA_FAILS;
    key = ozg_bound_key(bound.e, bound.most + 2 * z->tests.unit - 32 + x);
    if (z->tests.reported && key > *largest)
        *largest = key;
    ozg_entry_old(scalars, z->a->c, e->index, old);
    for (int part = 0; part <= scalars->complex_; part++) {
        const int ends = bound.e && z->tests.kind == OZG_BY_ROUNDED;

        if (!round_moved<N>(z, &bound, -ends, part, x, c, old, &bits[part]) ||
            (ends && (!round_moved<N>(z, &bound, 1, part, x, c, old, &above) || above != bits[part])) ||
            (bound.e && (bits[part] & inf) == inf))
            return OZG_CUDA_FAILS;
    }
    ozg_entry_store(scalars, z->a->c, e->index, bits);
    return OZG_CUDA_STAYS;
}

/* Entries of the tile, column by column. */
template <int N>
OZG_DEVICE void reconstruct_any(const ozg_cuda_reconstruct_args &a, const ozg_cuda_table *table)
{
    const tile t = tile_of(a, 1);
    const uint32_t all = t.strips ? (uint32_t)t.rows * (uint32_t)t.columns : 0;
    const common z = {&a, table, ozg_cuda_tests_of(&a.request, a.factor)};
    uint32_t tested = 0;
    uint64_t largest = 0;

    for (uint64_t first = (uint64_t)blockIdx.x * THREADS; first < all;
         first += (uint64_t)gridDim.x * THREADS) {
        const uint64_t place = first + threadIdx.x;
        const uint32_t i = (uint32_t)place % (uint32_t)t.rows, j = (uint32_t)place / (uint32_t)t.rows;
        int fails = 0;

        if (place < all) {
            const int64_t row = stored(t, a.a, t.i0 + i), column = stored(t, a.b, t.j0 + j);
            const entry e = {i, j, row + column * a.ldc, row, column};

            if (!a.a.special[row] && !a.b.special[column])
                fails = any_entry<N>(&z, &tested, &largest, &e) == OZG_CUDA_FAILS;
        }
        note_failed(a, (uint32_t)fails, (int64_t)place);
    }
    note_tested(a, tested, largest);
}

OZG_KERNEL_BATCH(ozg_cuda_reconstruct_small_any, ozg_cuda_reconstruct_args, THREADS,
                 OZG_CUDA_RECONSTRUCT_LARGE)
{
    const ozg_cuda_table *table = table_of(a, 0, SMALL_WORDS);

    if (table)
        reconstruct_any<2>(a, table);
}

OZG_KERNEL_BATCH(ozg_cuda_reconstruct_large_any, ozg_cuda_reconstruct_args, THREADS,
                 OZG_CUDA_RECONSTRUCT_LARGE)
{
    const ozg_cuda_table *table = table_of(a, SMALL_WORDS + 1, ANY_WORDS);

    if (table)
        reconstruct_any<OZG_CRT_WORDS>(a, table);
}
