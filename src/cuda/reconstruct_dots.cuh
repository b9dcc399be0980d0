/*
 * reconstruct_dots.cuh - residues of a tile to C, the sums of digits by dp2a: any number of moduli, real and
 * complex.
 *
 * Two steps, by a warp for one column after the other. First a thread has R rows, one behind the other:
 * bytes of four planes become words of four residues each, and dp2a multiplies them by two digits at a time
 * (reconstruct_table.h). Then, by way of shared memory, it has R rows 32 apart, so that all that has to do
 * with lines and with C is side by side.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_RECONSTRUCT_DOTS_CUH
#define OZG_CUDA_RECONSTRUCT_DOTS_CUH

#include "cuda/reconstruct_entry.cuh"

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

/* One digit of all moduli. */
template <int G> OZG_DEVICE void load_digits(const uint4 (&digits)[PAIRS(G)], uint32_t (&k)[4 * PAIRS(G)])
{
#pragma unroll
    for (int p = 0; p < PAIRS(G); p++) {
        const uint4 four = digits[p];

        k[4 * p] = four.x;
        k[4 * p + 1] = four.y;
        k[4 * p + 2] = four.z;
        k[4 * p + 3] = four.w;
    }
}

/* the digits k times the residues of a row */
template <int G, int R>
OZG_DEVICE int dot(const uint32_t (&k)[4 * PAIRS(G)], const uint32_t (&x)[G][R], int r)
{
    int sum = 0;

#pragma unroll
    for (int g = 0; g < G; g++) {
        sum = ozg_dp2a_lo_ss(k[2 * g], x[g][r], sum);
        sum = ozg_dp2a_hi_ss(k[2 * g + 1], x[g][r], sum);
    }
    return sum;
}

/* Residues of R rows, of group g of `nmod` planes; at: those of plane 0. */
template <int R>
OZG_DEVICE void load_group(const uint8_t *at, int64_t plane, int nmod, int g, uint32_t (&v)[4])
{
#pragma unroll
    for (int l = 0; l < 4; l++)
        v[l] = 4 * g + l < nmod ? load_rows<R>(at + (4 * g + l) * plane) : 0;
}

/* All residues of R rows, of at most 4 G planes; at: those of the first. */
template <int G, int R>
OZG_DEVICE void load_planes(const uint8_t *at, int64_t plane, int nmod, uint32_t (&x)[G][R])
{
#pragma unroll
    for (int g = 0; g < G; g++) {
        uint32_t v[4];

        load_group<R>(at, plane, nmod, g, v);
        transpose<R>(v, x[g]);
    }
}

/* The same of Re and Im, from the planes of complex products. half: of the weights. */
template <int G, int R>
OZG_DEVICE void load_components(const uint8_t *at, int64_t plane, int nmod, int three, const uint4 *half,
                                uint32_t (&re)[G][R], uint32_t (&im)[G][R])
{
    const uint8_t *const thirds = at + 2 * nmod * plane;
    uint32_t third[4];

    if (three) /* with the others */
        load_group<R>(thirds, plane, three, 0, third);
    load_planes<G, R>(at, plane, nmod, re);
    load_planes<G, R>(at + nmod * plane, plane, nmod, im);
#pragma unroll
    for (int g = 0; g < G; g++) {
        const uint4 k = half[g];
        uint32_t c[R] = {};

        if (4 * g < three) {
            if (g)
                load_group<R>(thirds, plane, three, g, third);
            transpose<R>(third, c);
        }
#pragma unroll
        for (int r = 0; r < R; r++)
            ozg_cuda_components(&re[g][r], &im[g][r], c[r], 4 * g < three, k);
    }
}

/*
 * Threads side by side write words of one row of each, and read those of R rows of 32 / R threads: without
 * conflicts.
 */
#define SLOTS(r) (32 + 16 / (r) * ((r) > 1))

/* Shared memory of a block: L digits of at most 4 G moduli, R rows a thread, N words of each component. */
template <int COMPLEX, int L, int G, int R> struct alignas(16) shared_memory {
    uint4 digits[1 + COMPLEX][2 + L][PAIRS(G)], half[COMPLEX ? G : 1];
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

/* The quotients of a component, negated: product is that of -M. */
template <int COMPLEX, int L, int G, int R>
OZG_DEVICE void quotients(const shared_memory<COMPLEX, L, G, R> *m, int c, const uint32_t (&x)[G][R],
                          int (&quotient)[R])
{
    uint32_t k[4 * PAIRS(G)];

    load_digits<G>(m->digits[c][0], k);
#pragma unroll
    for (int r = 0; r < R; r++)
        quotient[r] = dot<G, R>(k, x, r);
    if (COMPLEX) /* there is less room for an error */
        load_digits<G>(m->digits[c][1], k);
#pragma unroll
    for (int r = 0; r < R; r++)
        quotient[r] = (quotient[r] + (COMPLEX ? dot<G, R>(k, x, r) >> 16 : 0) + 32768) >> 16;
}

/* A component of c^ of R rows: L digits, in words to shared memory. */
template <int COMPLEX, int L, int G, int R>
OZG_DEVICE void crt(shared_memory<COMPLEX, L, G, R> *m, int c, const uint32_t (&x)[G][R])
{
    uint64_t *const to = &m->word[threadIdx.x / 32][c][0][threadIdx.x % 32];
    uint64_t word[R];
    uint32_t k[4 * PAIRS(G)];
    int quotient[R], carry[R], low[R];

    quotients<COMPLEX, L, G, R>(m, c, x, quotient);
#pragma unroll
    for (int i = 0; i < L; i++) {
        load_digits<G>(m->digits[c][2 + i], k);
#pragma unroll
        for (int r = 0; r < R; r++) {
            const int v = (i ? carry[r] : 0) + dot<G, R>(k, x, r) + quotient[r] * m->product[i];

            carry[r] = v >> 16;
            if (i % 2 == 0)
                low[r] = v;
            if (i % 4 == 1)
                word[r] = __byte_perm((uint32_t)low[r], (uint32_t)v, 0x5410);
            if (i % 4 == 3)
                word[r] |= (uint64_t)__byte_perm((uint32_t)low[r], (uint32_t)v, 0x5410) << 32;
            if (i == L - 1)
                word[r] = last_word<L>(word[r], v);
            if (i == L - 1 || i % 4 == 3)
                to[(i / 4 * R + r) * SLOTS(R)] = word[r];
        }
    }
}

/* ---- a warp ------------------------------------------------------------------------------------- */

/* What a warp has of an item. */
typedef struct strip {
    int i, first, end; /* place of the first row; columns from this one on, and their end */
} strip;

/* c^ of the thread's rows in its column to shared memory. */
template <int COMPLEX, int L, int G, int R>
OZG_DEVICE void crt_of_rows(const ozg_cuda_reconstruct_args &a, const ozg_cuda_table *table, const strip &s,
                            shared_memory<COMPLEX, L, G, R> *m)
{
    const tile &t = m->t;
    const int i = s.i + (int)(threadIdx.x & (t.lines - 1)) * R, j = s.first + (int)(threadIdx.x / t.lines);
    const uint8_t *const at = a.in.base + j * a.in.ld + i;
    const int64_t plane = a.in.columns * a.in.ld;
    uint32_t x[1 + COMPLEX][G][R];

    if (i >= t.rows || j >= s.end)
        return;
    if (COMPLEX)
        load_components<G, R>(at, plane, table->nmod, table->three, m->half, x[0], x[COMPLEX]);
    else
        load_planes<G, R>(at, plane, table->nmod, x[0]);
    m->column[threadIdx.x] = line_of(a.b, stored(t, a.b, t.j0 + j), &a.request);
#pragma unroll
    for (int c = 0; c <= COMPLEX; c++)
        crt<COMPLEX, L, G, R>(m, c, x[c]);
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

    for (int q = threadIdx.x; q < (1 + COMPLEX) * (2 + L) * 4 * PAIRS(G); q += THREADS) {
        const int row = q / (4 * PAIRS(G)), g = q % (4 * PAIRS(G)) / 2;

        ((uint32_t *)m->digits)[q] = g < G ? w->digit[row / (2 + L)][row % (2 + L)][g][q % 2] : 0;
    }
    for (int q = threadIdx.x; q < 4 * G && COMPLEX; q += THREADS)
        ((uint32_t *)m->half)[q] = (&w->half[0][0])[q];
    for (int q = threadIdx.x; q < L; q += THREADS)
        m->product[q] = w->product[q];
    if (threadIdx.x == 0) {
        m->t = tile_of(a, R);
        m->q = {tests.unit, tests.limit};
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
            crt_of_rows(a, table, s, m);
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

#endif
