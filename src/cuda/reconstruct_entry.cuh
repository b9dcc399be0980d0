/*
 * reconstruct_entry.cuh - an entry of C from its c^, for scalars as most calls have them: the tests that the
 * accuracy asks for, C joined to c^, the one rounding.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_RECONSTRUCT_ENTRY_CUH
#define OZG_CUDA_RECONSTRUCT_ENTRY_CUH

#include "cuda/reconstruct.cuh"

/* What the screens of bounds.cuh ask for beside the arguments of the kernel. */
typedef struct quick {
    int unit;    /* c */
    float limit; /* ozg_cuda_tests */
} quick;

/* beta C / (alpha 2^-(d + E)) for one component: (-1)^neg mant 2^shift in units of c^. */
typedef struct old_value {
    uint64_t mant;
    int shift, neg, special, nan;
} old_value;

/* d: d + E */
template <int SINGLE> OZG_DEVICE old_value old_of(const ozg_cuda_reconstruct_args &a, int64_t index, int d)
{
    const ozg_fp alpha = a.scalars.alpha[0].fp, beta = a.scalars.beta[0].fp;
    const uint64_t bits = ozg_load_bits(a.c, SINGLE, index);
    const ozg_fp c = ozg_fp_of_bits(bits);
    const old_value old = {c.mant, c.exp + beta.exp - alpha.exp + d, c.neg ^ beta.neg ^ alpha.neg,
                           ozg_is_special(bits), ozg_is_nan(bits)};

    return old;
}

/* Bits of alpha c^ + beta C where C is Inf or NaN. negate: the sign of alpha. */
template <int SINGLE> OZG_DEVICE uint64_t special_bits(const old_value *old, int negate)
{
    const uint64_t inf = SINGLE ? UINT64_C(0x7f800000) : OZG_F64_INF, sign = UINT64_C(1)
                                                                             << (SINGLE ? 31 : 63);

    return old->nan ? (SINGLE ? UINT64_C(0x7fc00000) : OZG_F64_NAN) : old->neg ^ negate ? sign | inf : inf;
}

/*
 * An entry with the screens of bounds.cuh alone: bits to out[0 .. COMPLEX], or it is left open. Scalars are
 * plain, sums of floors at `at`, C at `index`. largest: the largest key so far, where it is reported.
 */
template <int SINGLE, int COMPLEX, int N>
OZG_DEVICE int quick_entry(const ozg_cuda_reconstruct_args &a, const quick &q, int tested,
                           const ozg_cuda_line &row, const ozg_cuda_line &column, int64_t at, int64_t index,
                           const ozg_cuda_words<N> (&c)[1 + COMPLEX], uint64_t largest, uint64_t *out)
{
    const ozg_fp alpha = a.scalars.alpha[0].fp;
    const int d = row.d + column.d;
    const float screen = ozg_cuda_screen(&row, &column);
    const int widths = ozg_cuda_line_width(&row) + ozg_cuda_line_width(&column);
    int status = OZG_CUDA_STAYS;

#pragma unroll
    for (int part = 0; part <= COMPLEX; part++) {
        ozg_cuda_leading v;
        old_value old = {0, 0, 0, 0, 0};

        if (tested && a.request.kind == OZG_BY_NATIVE &&
            !(screen <= (float)ozg_cuda_floor_sum(&a.in, part, COMPLEX, at, q.unit) * q.limit))
            status = OZG_CUDA_OPEN;
        if (a.scalars.beta[0].fp.mant) {
            old = old_of<SINGLE>(a, (1 + COMPLEX) * index + part, d);
            v = ozg_cuda_words_join<N>(c[part], old.mant, old.shift, old.neg);
        } else
            v = ozg_cuda_leading_of<N>(c[part]);
        out[part] = old.special ? special_bits<SINGLE>(&old, alpha.neg)
                                : ozg_cuda_round<SINGLE>(v, alpha.exp - d, alpha.neg);
        if (tested && (!is_finite<SINGLE>(out[part]) ||
                       (a.request.kind == OZG_BY_ROUNDED &&
                        ozg_cuda_in_doubt(SINGLE, q.unit, v, alpha.exp - d, screen, widths))))
            status = OZG_CUDA_OPEN;
    }
    if (tested && a.request.reported && a.request.kind == OZG_BY_NATIVE &&
        ozg_cuda_screen_key(screen, widths - d, q.unit) > largest)
        status = OZG_CUDA_OPEN;
    return status;
}

/* RN of a component. moved: -1, 1, or 0. 0: not done. */
template <int SINGLE, int N>
OZG_DEVICE int round_moved(const common *z, const ozg_cuda_bound *bound, int moved, int d,
                           const old_value *old, ozg_cuda_words<N> c, uint64_t *bits)
{
    const ozg_fp alpha = z->a->scalars.alpha[0].fp;

    if (moved && !move_by_bound<N>(z, bound, moved < 0, &c))
        return 0;
    *bits = old->special ? special_bits<SINGLE>(old, alpha.neg)
                         : ozg_cuda_round<SINGLE>(ozg_cuda_words_join<N>(c, old->mant, old->shift, old->neg),
                                                  alpha.exp - d, alpha.neg);
    return 1;
}

/* An entry whose test of rounding is exact: bits to out. d: d + E. */
template <int SINGLE, int COMPLEX, int N>
OZG_DEVICE int exact_entry(const common *z, const entry *e, const ozg_cuda_bound &bound, int d,
                           const ozg_cuda_words<N> (&c)[1 + COMPLEX], uint64_t *out)
{
    const int ends = z->tests.kind == OZG_BY_ROUNDED;

    for (int part = 0; part <= COMPLEX; part++) {
        old_value old = {0, 0, 0, 0, 0};
        uint64_t bits[2] = {0, 0};

        if (z->a->scalars.beta[0].fp.mant)
            old = old_of<SINGLE>(*z->a, (1 + COMPLEX) * e->index + part, d);
        for (int end = 0; end <= ends; end++)
            if (!round_moved<SINGLE, N>(z, &bound, ends ? 2 * end - 1 : 0, d, &old, c[part], &bits[end]))
                return OZG_CUDA_FAILS;
        if (!is_finite<SINGLE>(bits[0]) || (ends && bits[0] != bits[1]))
            return OZG_CUDA_FAILS;
        out[part] = bits[0];
    }
    return OZG_CUDA_STAYS;
}

/* An entry of C. */
template <int SINGLE, int COMPLEX> OZG_DEVICE void store_numbers(void *c, int64_t index, const uint64_t *out)
{
    if (SINGLE && !COMPLEX)
        ((uint32_t *)c)[index] = (uint32_t)out[0];
    else if (!SINGLE && !COMPLEX)
        ((uint64_t *)c)[index] = out[0];
    else if ((uintptr_t)c % (SINGLE ? 8 : 16) != 0)
        for (int part = 0; part < 2; part++)
            ozg_store_bits(c, SINGLE, 2 * index + part, out[part ? COMPLEX : 0]);
    else if (SINGLE)
        ((uint64_t *)c)[index] = (uint32_t)out[0] | out[COMPLEX] << 32;
    else
        ((ulonglong2 *)c)[index] = make_ulonglong2(out[0], out[COMPLEX]);
}

/* A line; x is negative of one with Inf or NaN. */
OZG_DEVICE ozg_cuda_line line_of(const ozg_cuda_lines &l, int64_t i, const ozg_cuda_request *request)
{
    ozg_cuda_line out = ozg_cuda_line_of(&l, i, ozg_cuda_tests_wanted(request));

    out.x = l.special[i] ? -1.0f : out.x;
    return out;
}

OZG_DEVICE int is_skipped(const ozg_cuda_line &l)
{
    return l.x < 0;
}

/*
 * What quick_entry() left open. It is stored if it stays; *key: that of its bound, unless it fails native
 * grade. word: c^, the words of a component `step` apart.
 */
template <int SINGLE, int COMPLEX, int N>
OZG_DEVICE_CALL int open_entry(const ozg_cuda_reconstruct_args *a, const ozg_cuda_table *table, entry e,
                               const uint64_t *word, int step, uint64_t *key)
{
    const common z = {a, table, ozg_cuda_tests_of(&a->request, a->factor)};
    const ozg_cuda_bound bound = ozg_cuda_bound_of(&a->a, e.row_at, &a->b, e.column_at);
    const int d = a->a.d[e.row_at] + a->b.d[e.column_at];
    ozg_cuda_words<N> c[1 + COMPLEX];
    uint64_t out[1 + COMPLEX];

    for (int part = 0; part <= COMPLEX; part++)
        for (int i = 0; i < N; i++)
            c[part].w[i] = word[(part * N + i) * step];
    if (z.tests.kind == OZG_BY_NATIVE && !native_stays<N>(&z, &e, &bound, COMPLEX, c))
        return OZG_CUDA_FAILS;
    *key = ozg_bound_key(bound.e, bound.most + 2 * z.tests.unit - 32 - d);
    if (exact_entry<SINGLE, COMPLEX, N>(&z, &e, bound, d, c, out) == OZG_CUDA_FAILS)
        return OZG_CUDA_FAILS;
    store_numbers<SINGLE, COMPLEX>(a->c, e.index, out);
    return OZG_CUDA_STAYS;
}

#endif
