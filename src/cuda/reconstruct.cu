/*
 * reconstruct.cu - residues of a tile to C: c^, the tests that the accuracy asks for, and the one rounding.
 * What it computes is what src/cpu/reconstruct.c does, entry by entry.
 *
 *     native    an entry stays as it is if its bound is proven small enough (ozg_bound_passes)
 *     rounded   an entry stays as it is if RN(c^ - bound) and RN(c^ + bound) are the same bits
 *
 * and neither turns an error into an infinity. All others go to the list, and keep their C.
 *
 * Two steps, by a warp for one column after the other. First a thread has R rows, one behind the other:
 * bytes of four planes become words of four moduli each, and dp2a multiplies them by two digits at a time
 * (reconstruct_table.h). Then, by way of shared memory, it has R rows 32 apart, so that all that has to do
 * with lines and with C is side by side.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cuda/reconstruct.cuh"

/* ---- c^ ----------------------------------------------------------------------------------------- */

/* Bytes of R rows, those of the first at the bottom. */
template <int R> OZG_DEVICE uint32_t load_rows(const uint8_t *p)
{
    return R == 4 ? __ldcs((const uint32_t *)p) : R == 2 ? __ldcs((const uint16_t *)p) : __ldcs(p);
}

/* v: one word for each of four planes; x[r]: of row r, one byte for each of them. */
template <int R> OZG_DEVICE void transpose(const uint32_t (&v)[4], uint32_t (&x)[R])
{
    const uint32_t low = __byte_perm(v[0], v[1], 0x5140), high = __byte_perm(v[2], v[3], 0x5140);

    x[0] = __byte_perm(low, high, 0x5410);
    if (R > 1)
        x[R > 1 ? 1 : 0] = __byte_perm(low, high, 0x7632);
    if (R > 2) {
        const uint32_t low2 = __byte_perm(v[0], v[1], 0x7362), high2 = __byte_perm(v[2], v[3], 0x7362);

        x[R > 2 ? 2 : 0] = __byte_perm(low2, high2, 0x5410);
        x[R > 2 ? 3 : 0] = __byte_perm(low2, high2, 0x7632);
    }
}

/* The digits in shared memory: two words a group, groups rounded up to whole pairs. */
#define PAIRS(g) (((g) + 1) / 2)

template <int G> OZG_DEVICE void load_digits(const uint4 *digits, int i, uint32_t (&k)[4 * PAIRS(G)])
{
#pragma unroll
    for (int p = 0; p < PAIRS(G); p++) {
        const uint4 four = digits[i * PAIRS(G) + p];

        k[4 * p] = four.x;
        k[4 * p + 1] = four.y;
        k[4 * p + 2] = four.z;
        k[4 * p + 3] = four.w;
    }
}

/* sum + the digits k times the residues of a row */
template <int G, int R>
OZG_DEVICE int dot(const uint32_t (&k)[4 * PAIRS(G)], const uint32_t (&x)[G][R], int r, int sum)
{
#pragma unroll
    for (int g = 0; g < G; g++) {
        sum = ozg_dp2a_lo_ss(k[2 * g], x[g][r], sum);
        sum = ozg_dp2a_hi_ss(k[2 * g + 1], x[g][r], sum);
    }
    return sum;
}

/*
 * What a row's sums of the planes of all products make of a component: P0; Re = P0 - P1, Im = P2 - P0 - P1.
 */
template <int COMPLEX> OZG_DEVICE void combine(const int (&p)[1 + 2 * COMPLEX], int (&out)[1 + COMPLEX])
{
    out[0] = COMPLEX ? p[0] - p[COMPLEX] : p[0];
    if (COMPLEX)
        out[COMPLEX] = p[2 * COMPLEX] - p[0] - p[COMPLEX];
}

template <int COMPLEX, int G, int R>
OZG_DEVICE void dots(const uint32_t (&k)[4 * PAIRS(G)], const uint32_t (&x)[1 + 2 * COMPLEX][G][R], int r,
                     int (&out)[1 + COMPLEX])
{
    int p[1 + 2 * COMPLEX];

#pragma unroll
    for (int q = 0; q < 1 + 2 * COMPLEX; q++)
        p[q] = dot<G, R>(k, x[q], r, 0);
    combine<COMPLEX>(p, out);
}

/* All residues of R rows. at: those of plane 0. */
template <int COMPLEX, int G, int R>
OZG_DEVICE void load_residues(const uint8_t *at, int64_t plane, int nmod,
                              uint32_t (&x)[1 + 2 * COMPLEX][G][R])
{
#pragma unroll
    for (int q = 0; q < 1 + 2 * COMPLEX; q++) {
#pragma unroll
        for (int g = 0; g < G; g++) {
            uint32_t v[4];

#pragma unroll
            for (int l = 0; l < 4; l++)
                v[l] = 4 * g + l < nmod ? load_rows<R>(at + (q * nmod + 4 * g + l) * plane) : 0;
            transpose<R>(v, x[q][g]);
        }
    }
}

/* What quick_entry() asks for beside the arguments of the kernel. */
typedef struct quick {
    int unit;    /* c */
    float scale; /* ozg_cuda_tests */
} quick;

/*
 * Threads side by side write words of one row of each, and read those of R rows of 32 / R threads: without
 * conflicts.
 */
#define SLOTS(r) (32 + 16 / (r) * ((r) > 1))

/* Shared memory of a block: L digits of at most 4 G moduli, R rows a thread, N words of each component. */
template <int COMPLEX, int L, int G, int R> struct alignas(16) shared_memory {
    uint4 digits[(2 + L) * PAIRS(G)];
    int product[L];
    ozg_cuda_line row[R * THREADS]; /* of the strip */
    ozg_cuda_line column[THREADS];  /* of each thread */
    tile t;
    quick q;
    uint64_t word[THREADS / 32][1 + COMPLEX][(L + 3) / 4][R * SLOTS(R)];
};

/* The last word of L digits, signed. high: the last digit; bits: of the word so far. */
template <int L> OZG_DEVICE uint64_t last_word(uint64_t bits, int high)
{
    if (L % 4 == 2)
        return (uint64_t)(int64_t)(int32_t)bits;
    return L % 4 == 3 ? bits | (uint64_t)(uint32_t)(int32_t)(int16_t)high << 32 : bits;
}

/* The quotients, negated: product is that of -M. */
template <int COMPLEX, int L, int G, int R>
OZG_DEVICE void quotients(const shared_memory<COMPLEX, L, G, R> *m,
                          const uint32_t (&x)[1 + 2 * COMPLEX][G][R], int (&quotient)[R][1 + COMPLEX])
{
    uint32_t k[4 * PAIRS(G)];
    int sum[1 + COMPLEX];

    load_digits<G>(m->digits, 0, k);
#pragma unroll
    for (int r = 0; r < R; r++)
        dots<COMPLEX, G, R>(k, x, r, quotient[r]);
    if (COMPLEX) /* three residues: one digit is not enough */
        load_digits<G>(m->digits, 1, k);
#pragma unroll
    for (int r = 0; r < R; r++) {
        if (COMPLEX)
            dots<COMPLEX, G, R>(k, x, r, sum);
#pragma unroll
        for (int c = 0; c <= COMPLEX; c++)
            quotient[r][c] = (quotient[r][c] + (COMPLEX ? sum[c] >> 16 : 0) + 32768) >> 16;
    }
}

/* c^ of R rows: L digits, in words to shared memory. */
template <int COMPLEX, int L, int G, int R>
OZG_DEVICE void crt(shared_memory<COMPLEX, L, G, R> *m, const uint32_t (&x)[1 + 2 * COMPLEX][G][R])
{
    uint64_t *const to = &m->word[threadIdx.x / 32][0][0][threadIdx.x % 32], word[R][1 + COMPLEX];
    uint32_t k[4 * PAIRS(G)];
    int quotient[R][1 + COMPLEX], carry[R][1 + COMPLEX], low[R][1 + COMPLEX], sum[1 + COMPLEX];

    quotients<COMPLEX, L, G, R>(m, x, quotient);
#pragma unroll
    for (int i = 0; i < L; i++) {
        load_digits<G>(m->digits, 2 + i, k);
#pragma unroll
        for (int r = 0; r < R; r++) {
            dots<COMPLEX, G, R>(k, x, r, sum);
#pragma unroll
            for (int c = 0; c <= COMPLEX; c++) {
                const int v = (i ? carry[r][c] : 0) + sum[c] + quotient[r][c] * m->product[i];

                carry[r][c] = v >> 16;
                if (i % 2 == 0)
                    low[r][c] = v;
                if (i % 4 == 1)
                    word[r][c] = __byte_perm((uint32_t)low[r][c], (uint32_t)v, 0x5410);
                if (i % 4 == 3)
                    word[r][c] |= (uint64_t)__byte_perm((uint32_t)low[r][c], (uint32_t)v, 0x5410) << 32;
                if (i == L - 1)
                    word[r][c] = last_word<L>(word[r][c], v);
                if (i == L - 1 || i % 4 == 3)
                    to[((c * ((L + 3) / 4) + i / 4) * R + r) * SLOTS(R)] = word[r][c];
            }
        }
    }
}

/* ---- an entry ----------------------------------------------------------------------------------- */

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
            !(screen * q.scale <= (float)ozg_cuda_floor_sum(&a.in, part, COMPLEX, at, q.unit)))
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

/* ---- a warp ------------------------------------------------------------------------------------- */

/* What a warp has of an item. */
typedef struct strip {
    int i, first, end; /* place of the first row; columns from this one on, and their end */
} strip;

/* c^ of the thread's rows in its column to shared memory. */
template <int COMPLEX, int L, int G, int R>
OZG_DEVICE void crt_of_rows(const ozg_cuda_reconstruct_args &a, const strip &s, int nmod,
                            shared_memory<COMPLEX, L, G, R> *m)
{
    const tile &t = m->t;
    const int i = s.i + (int)(threadIdx.x & (t.lines - 1)) * R, j = s.first + (int)(threadIdx.x / t.lines);
    uint32_t x[1 + 2 * COMPLEX][G][R];

    if (i >= t.rows || j >= s.end)
        return;
    load_residues<COMPLEX, G, R>(a.in.base + j * a.in.ld + i, a.in.columns * a.in.ld, nmod, x);
    m->column[threadIdx.x] = line_of(a.b, stored(t, a.b, t.j0 + j), &a.request);
    crt<COMPLEX, L, G, R>(m, x);
}

/* Of entry `number` of the warp. Adds to *tested and *largest; returns whether it fails. */
template <int SINGLE, int COMPLEX, int L, int G, int R>
OZG_DEVICE int finish_entry(const ozg_cuda_reconstruct_args &a, const ozg_cuda_table *table, const strip &s,
                            int number, const shared_memory<COMPLEX, L, G, R> *m, uint32_t *tested,
                            uint64_t *largest)
{
    const tile &t = m->t;
    const int N = (L + 3) / 4, warp = threadIdx.x / 32, thread = 32 * warp + number / R;
    const int local = (thread & (t.lines - 1)) * R + number % R, i = s.i + local,
              j = s.first + thread / t.lines;
    const uint64_t *word = &m->word[warp][0][0][number % R * SLOTS(R) + number / R];
    int64_t row_at, column_at;
    ozg_cuda_words<N> c[1 + COMPLEX];
    uint64_t out[1 + COMPLEX], key = 0;
    int tests, status;

    if (i >= t.rows || j >= s.end || is_skipped(m->row[local]) || is_skipped(m->column[thread]))
        return 0;
    row_at = stored(t, a.a, t.i0 + i);
    column_at = stored(t, a.b, t.j0 + j);
#pragma unroll
    for (int part = 0; part <= COMPLEX; part++)
#pragma unroll
        for (int w = 0; w < N; w++)
            c[part].w[w] = word[(part * N + w) * R * SLOTS(R)];
    tests = ozg_cuda_tested(&m->row[local], &m->column[thread]);
    *tested += (uint32_t)tests;
    status = quick_entry<SINGLE, COMPLEX, N>(a, m->q, tests, m->row[local], m->column[thread],
                                             j * a.in.ld + i, row_at + column_at * a.ldc, c, *largest, out);
    if (status == OZG_CUDA_OPEN) {
        const entry e = {i, j, row_at + column_at * a.ldc, row_at, column_at};

        status = open_entry<SINGLE, COMPLEX, N>(&a, table, e, word, R * SLOTS(R), &key);
        if (a.request.reported && a.request.kind == OZG_BY_NATIVE && key > *largest)
            *largest = key;
    } else
        store_numbers<SINGLE, COMPLEX>(a.c, row_at + column_at * a.ldc, out);
    return status == OZG_CUDA_FAILS;
}

template <int COMPLEX, int L, int G, int R>
OZG_DEVICE void fill_shared(const ozg_cuda_reconstruct_args &a, const ozg_cuda_weights *w,
                            shared_memory<COMPLEX, L, G, R> *m)
{
    const ozg_cuda_tests tests = ozg_cuda_tests_of(&a.request, a.factor);

    for (int q = threadIdx.x; q < (2 + L) * 4 * PAIRS(G); q += THREADS) {
        const int i = q / (4 * PAIRS(G)), g = q % (4 * PAIRS(G)) / 2;

        ((uint32_t *)m->digits)[q] = g < G ? w->digit[i][g][q % 2] : 0;
    }
    for (int q = threadIdx.x; q < L; q += THREADS)
        m->product[q] = w->product[q];
    if (threadIdx.x == 0) {
        m->t = tile_of(a, R);
        m->q = {tests.unit, tests.scale};
    }
    __syncthreads();
}

/* The lines of a strip of rows. */
template <int COMPLEX, int L, int G, int R>
OZG_DEVICE void fill_rows(const ozg_cuda_reconstruct_args &a, int i, shared_memory<COMPLEX, L, G, R> *m)
{
    const tile &t = m->t;

    __syncthreads();
    for (int q = threadIdx.x; q < t.lines * R && i + q < t.rows; q += THREADS)
        m->row[q] = line_of(a.a, stored(t, a.a, t.i0 + i + q), &a.request);
    __syncthreads();
}

/* The tile with L digits of c^ from at most 4 G moduli, R rows a thread. memory: shared, of that size. */
template <int SINGLE, int COMPLEX, int L, int G, int R, int SIZE>
OZG_DEVICE void reconstruct(const ozg_cuda_reconstruct_args &a, const ozg_cuda_table *table,
                            uint4 (&memory)[SIZE])
{
    static_assert(sizeof(shared_memory<COMPLEX, L, G, R>) <= sizeof memory, "shared memory");
    shared_memory<COMPLEX, L, G, R> *m = (shared_memory<COMPLEX, L, G, R> *)(void *)memory;
    const tile &t = m->t; /* block-wide numbers are in shared memory: registers are for c^ */
    uint32_t items, tested = 0;
    uint64_t largest = 0;

    fill_shared(a, &table->weights, m);
    items = t.strips ? (uint32_t)t.strips * (uint32_t)((t.columns + t.width - 1) / t.width) : 0;
    for (uint32_t item = blockIdx.x; item < items; item += gridDim.x) {
        const int begin = (int)(item / t.strips) * t.width;
        strip s = {(int)(item % t.strips) * t.lines * R, begin, min(begin + t.width, t.columns)};

        fill_rows(a, s.i, m);
        for (; s.first < s.end; s.first += THREADS / t.lines) {
            crt_of_rows(a, s, table->nmod, m);
            __syncwarp();
#pragma unroll 1
            for (int number = threadIdx.x % 32; number < 32 * R; number += 32) {
                const int fails =
                    finish_entry<SINGLE, COMPLEX, L, G, R>(a, table, s, number, m, &tested, &largest);
                const int thread = (threadIdx.x & ~31u) + number / R,
                          local = (thread & (t.lines - 1)) * R + number % R;

                if (ozg_cuda_tests_wanted(&a.request))
                    note_failed(a, (uint32_t)fails,
                                s.i + local + (int64_t)(s.first + thread / t.lines) * t.rows);
            }
            __syncwarp();
        }
    }
    if (ozg_cuda_tests_wanted(&a.request))
        note_tested(a, tested, largest);
}

template <int SINGLE, int COMPLEX> OZG_DEVICE void reconstruct_small(const ozg_cuda_reconstruct_args &a)
{
    const int R = COMPLEX ? 2 : 4;
    __shared__ uint4 memory[sizeof(shared_memory<COMPLEX, 8, 4, R>) / sizeof(uint4)];
    const ozg_cuda_table *table = table_of(a, 0);

    if (!table)
        return;
    if (table->weights.nlimb <= 4)
        reconstruct<SINGLE, COMPLEX, 4, 2, R>(a, table, memory);
    else if (table->weights.nlimb == 6)
        reconstruct<SINGLE, COMPLEX, 6, 3, R>(a, table, memory);
    else if (table->weights.nlimb == 7)
        reconstruct<SINGLE, COMPLEX, 7, 4, R>(a, table, memory);
    else
        reconstruct<SINGLE, COMPLEX, 8, 4, R>(a, table, memory);
}

template <int SINGLE, int COMPLEX> OZG_DEVICE void reconstruct_large(const ozg_cuda_reconstruct_args &a)
{
    const int FEW = COMPLEX ? 1 : 2, MORE = COMPLEX ? 1 : 4;
    const size_t most = sizeof(shared_memory<COMPLEX, 24, 13, FEW>),
                 other = sizeof(shared_memory<COMPLEX, 12, 6, MORE>);
    __shared__ uint4 memory[(most > other ? most : other) / sizeof(uint4)];
    const ozg_cuda_table *table = table_of(a, 1);

    if (!table)
        return;
    if (table->weights.nlimb == 10)
        reconstruct<SINGLE, COMPLEX, 10, 5, MORE>(a, table, memory);
    else if (table->weights.nlimb == 12)
        reconstruct<SINGLE, COMPLEX, 12, 6, MORE>(a, table, memory);
    else if (table->weights.nlimb == 16)
        reconstruct<SINGLE, COMPLEX, 16, 9, FEW>(a, table, memory);
    else if (table->weights.nlimb == 20)
        reconstruct<SINGLE, COMPLEX, 20, 11, FEW>(a, table, memory);
    else
        reconstruct<SINGLE, COMPLEX, 24, 13, FEW>(a, table, memory);
}

OZG_KERNEL(ozg_cuda_reconstruct_small_d, ozg_cuda_reconstruct_args, THREADS, OZG_CUDA_RECONSTRUCT_SMALL)
{
    reconstruct_small<0, 0>(a);
}

OZG_KERNEL(ozg_cuda_reconstruct_small_s, ozg_cuda_reconstruct_args, THREADS, OZG_CUDA_RECONSTRUCT_SMALL)
{
    reconstruct_small<1, 0>(a);
}

OZG_KERNEL(ozg_cuda_reconstruct_small_z, ozg_cuda_reconstruct_args, THREADS, OZG_CUDA_RECONSTRUCT_COMPLEX)
{
    reconstruct_small<0, 1>(a);
}

OZG_KERNEL(ozg_cuda_reconstruct_small_c, ozg_cuda_reconstruct_args, THREADS, OZG_CUDA_RECONSTRUCT_COMPLEX)
{
    reconstruct_small<1, 1>(a);
}

OZG_KERNEL(ozg_cuda_reconstruct_large_d, ozg_cuda_reconstruct_args, THREADS, OZG_CUDA_RECONSTRUCT_LARGE)
{
    reconstruct_large<0, 0>(a);
}

OZG_KERNEL(ozg_cuda_reconstruct_large_s, ozg_cuda_reconstruct_args, THREADS, OZG_CUDA_RECONSTRUCT_LARGE)
{
    reconstruct_large<1, 0>(a);
}

OZG_KERNEL(ozg_cuda_reconstruct_large_z, ozg_cuda_reconstruct_args, THREADS, OZG_CUDA_RECONSTRUCT_LARGE)
{
    reconstruct_large<0, 1>(a);
}

OZG_KERNEL(ozg_cuda_reconstruct_large_c, ozg_cuda_reconstruct_args, THREADS, OZG_CUDA_RECONSTRUCT_LARGE)
{
    reconstruct_large<1, 1>(a);
}

/* ---- factors ------------------------------------------------------------------------------------ */

/* Line `place` of the part's tile. Returns whether some bit of it was rounded away. */
OZG_DEVICE int factors_of_line(const ozg_cuda_lines &l, int64_t i, int unit)
{
    const ozg_norms norms = {l.rsum[i], l.rsquares[i], l.rtop[i]};
    uint32_t r1, r2, most;

    ozg_norms_factors(&norms, 16, unit, &r1, &r2, &most);
    l.r1[i] = r1;
    l.r2[i] = r2;
    l.rmax[i] = most;
    l.rsum[i] = 0;
    l.rsquares[i] = 0;
    l.rtop[i] = 0;
    return most != 0 && l.e[i] != OZG_E_NONE;
}

OZG_KERNEL(ozg_cuda_factors, ozg_cuda_factors_args, 256, 1)
{
    const int64_t blocks_a = (a.tile.rows + 255) / 256;
    const int of_a = blockIdx.x < blocks_a;
    const int64_t at = (int64_t)(of_a ? blockIdx.x : blockIdx.x - blocks_a) * 256 + threadIdx.x;
    const ozg_part *part = &a.state->part[a.tile.part];
    const int64_t i0 = of_a ? a.tile.i0 : a.tile.j0, most = of_a ? a.tile.rows : a.tile.columns;
    const int64_t place = (of_a ? part->i0 : part->j0) + i0 + at, all = of_a ? part->rows : part->columns;
    int inexact = 0;

    if (a.tile.part >= a.state->parts || !(of_a ? a.rows : a.columns))
        return;
    if (at < most && i0 + at < all) {
        const ozg_cuda_lines &l = of_a ? a.a : a.b;

        inexact =
            factors_of_line(l, a.state->parts > 1 ? l.index[place] : place, ozg_bound_unit(a.request.length));
    }
    if (__any_sync(ALL, inexact) && threadIdx.x % 32 == 0)
        a.state->inexact = 1;
}
