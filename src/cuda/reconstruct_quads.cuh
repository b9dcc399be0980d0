/*
 * reconstruct_quads.cuh - residues of a real tile to C, the sums of digits by matrix instructions.
 *
 * A warp has 128 rows of one column at a time: lane 4 g + q fetches rows 16 g .. 16 g + 15 of the planes
 * 4 q .. 4 q + 3 of each 16 moduli, and ends with the digits of rows 16 g + 4 q .. + 3. Between the two is
 * mma.m16n8k32: of its 16 x 32 operand, row g (g + 8) has residues of matrix row 16 g + 4 x + r (+ 1), bytes
 * k of 16 moduli each; its 32 x 8 operand the byte digits of the weights (ozg_cuda_weights.fragment): columns
 * 2 x and 2 x + 1 hold bytes 2 T and 2 T + 1, and 0 for other x. So a lane's column pair 2 q, 2 q + 1 is that
 * of the rows x = q, which are its own. The last T is the quotient.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_RECONSTRUCT_QUADS_CUH
#define OZG_CUDA_RECONSTRUCT_QUADS_CUH

#include "cuda/reconstruct_entry.cuh"

/*
 * Shared memory of a block. Number 32 r + lane of d .. u: of row 4 lane + r of the strip, as in ozg_cuda_line,
 * so that lanes read words side by side.
 */
template <int GROUPS, int DIGITS> struct quads_memory {
    uint32_t fragment[1 + DIGITS][GROUPS][32];
    int product[DIGITS], d[128];
    float r[128], x[128], r1[128], xmax[128], u[128];
    tile t;
    quick q;
};

/* The line of row r of the lane; without tests all that counts is d. */
template <int TESTS, int GROUPS, int DIGITS>
OZG_DEVICE ozg_cuda_line row_of(const quads_memory<GROUPS, DIGITS> *m, int r)
{
    const int at = 32 * r + (int)threadIdx.x % 32;
    ozg_cuda_line line = {0, 0, 0, 0, 0, m->d[at]};

    if (TESTS) {
        line.r = m->r[at];
        line.x = m->x[at];
        line.r1 = m->r1[at];
        line.xmax = m->xmax[at];
        line.u = m->u[at];
    }
    return line;
}

/* Four words of four planes, to words of one row each: x[4 i + b] is row 4 i + b. */
OZG_DEVICE void transpose_quads(const uint4 (&v)[4], uint32_t (&x)[16])
{
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const uint32_t w[4] = {i == 0   ? v[0].x
                               : i == 1 ? v[0].y
                               : i == 2 ? v[0].z
                                        : v[0].w,
                               i == 0   ? v[1].x
                               : i == 1 ? v[1].y
                               : i == 2 ? v[1].z
                                        : v[1].w,
                               i == 0   ? v[2].x
                               : i == 1 ? v[2].y
                               : i == 2 ? v[2].z
                                        : v[2].w,
                               i == 0   ? v[3].x
                               : i == 1 ? v[3].y
                               : i == 2 ? v[3].z
                                        : v[3].w};
        const uint32_t low = __byte_perm(w[0], w[1], 0x5140), low2 = __byte_perm(w[0], w[1], 0x7362);
        const uint32_t high = __byte_perm(w[2], w[3], 0x5140), high2 = __byte_perm(w[2], w[3], 0x7362);

        x[4 * i] = __byte_perm(low, high, 0x5410);
        x[4 * i + 1] = __byte_perm(low, high, 0x7632);
        x[4 * i + 2] = __byte_perm(low2, high2, 0x5410);
        x[4 * i + 3] = __byte_perm(low2, high2, 0x7632);
    }
}

/* Residues of 16 rows of the lane's planes of group `group`; at: those of plane 0 in the column. */
OZG_DEVICE void load_quads(const uint8_t *at, int64_t plane, int group, int nmod, uint4 (&v)[4])
{
    const int first = 16 * group + 4 * (int)(threadIdx.x % 4);

#pragma unroll
    for (int l = 0; l < 4; l++)
        v[l] = first + l < nmod ? __ldcs((const uint4 *)(at + (first + l) * plane)) : make_uint4(0, 0, 0, 0);
}

/*
 * Sums of digit t - 1 of rows r and r + 1 (r even) of the thread, t = 0: of the quotient: two bytes each.
 */
template <int GROUPS, int DIGITS>
OZG_DEVICE void digit_sums(const quads_memory<GROUPS, DIGITS> *m, int t, const uint32_t (&x)[GROUPS][16],
                           int r, int (&out)[2])
{
    const int lane = (int)threadIdx.x % 32, last = GROUPS - 1;
    const uint32_t low = m->fragment[t][0][lane], high = m->fragment[t][last][lane];
    int sums[4] = {0, 0, 0, 0};

#pragma unroll
    for (int i = 0; i < 4; i += 3 - GROUPS) { /* one group: the second half of k is that of the next x */
        const int other = GROUPS == 1 ? i + 1 : i;
        const uint32_t a[4] = {x[0][4 * i + r], x[0][4 * i + r + 1], x[last][4 * other + r],
                               x[last][4 * other + r + 1]};
        const uint32_t b[2] = {lane / 8 == i ? low : 0, lane / 8 == other ? high : 0};

        ozg_mma_s8(sums, a, b);
    }
    out[0] = sums[0] + 256 * sums[1];
    out[1] = sums[2] + 256 * sums[3];
}

/* c^ of rows r and r + 1 in words of 32 bits, two's complement. */
template <int GROUPS, int DIGITS>
OZG_DEVICE void pair_words(const quads_memory<GROUPS, DIGITS> *m, const uint32_t (&x)[GROUPS][16], int r,
                           uint32_t (&word)[2][DIGITS / 2])
{
    int quotient[2], carry[2] = {0, 0}, low[2], v[2];

    __syncwarp(); /* rows before may have gone ways of their own */
    digit_sums<GROUPS, DIGITS>(m, 0, x, r, quotient);
    quotient[0] = (quotient[0] + 32768) >> 16;
    quotient[1] = (quotient[1] + 32768) >> 16;
#pragma unroll
    for (int i = 0; i < DIGITS; i++) {
        digit_sums<GROUPS, DIGITS>(m, 1 + i, x, r, v);
#pragma unroll
        for (int h = 0; h < 2; h++) {
            v[h] += quotient[h] * m->product[i] + carry[h];
            carry[h] = v[h] >> 16;
            if (i % 2)
                word[h][i / 2] = __byte_perm((uint32_t)low[h], (uint32_t)v[h], 0x5410);
            else
                low[h] = v[h];
        }
    }
}

/* |word|; flip: all bits of it that are its sign. */
template <int n> OZG_DEVICE void magnitude_of(const uint32_t (&word)[n], uint32_t flip, uint32_t (&out)[n])
{
    const uint64_t wide = (uint64_t)flip << 32 | flip;
    uint64_t carry = flip & 1;

#pragma unroll
    for (int i = 0; i < n; i += 2) {
        const uint32_t above = i + 1 < n ? word[i + 1 < n ? i + 1 : 0] : 0;
        const uint64_t plain = ((uint64_t)above << 32 | word[i]) ^ wide, sum = plain + carry;

        carry = sum < carry;
        out[i] = (uint32_t)sum;
        if (i + 1 < n)
            out[i + 1 < n ? i + 1 : 0] = (uint32_t)(sum >> 32);
    }
}

/*
 * Leading bits of an integer of n words of 32 bits, as ozg_cuda_leading_of(), without branches: words that
 * are 0 at the top are shifted out by powers of two, then the bits that are 0.
 */
template <int n> OZG_DEVICE ozg_cuda_leading leading_of_words(const uint32_t (&word)[n])
{
    const uint32_t flip = (uint32_t)((int32_t)word[n - 1] >> 31);
    uint32_t w[n], below = 0;
    ozg_cuda_leading out;
    int zeros = 0;

    magnitude_of<n>(word, flip, w);
#pragma unroll
    for (int by = n > 4 ? 4 : 2; by > 0; by /= 2) {
        uint32_t top = 0;

#pragma unroll
        for (int i = 0; i < by; i++)
            top |= w[n - 1 - i];
        zeros += top ? 0 : 32 * by;
#pragma unroll
        for (int i = n - 1; i >= 0; i--)
            w[i] = top ? w[i] : i >= by ? w[i >= by ? i - by : 0] : 0;
    }
    const int bits = __clz((int)w[n - 1]);
#pragma unroll
    for (int i = 0; i < n - 3; i++)
        below |= w[i];
    out.top =
        (uint64_t)__funnelshift_l(w[n - 2], w[n - 1], bits) << 32 | __funnelshift_l(w[n - 3], w[n - 2], bits);
    out.sticky = (w[n - 3] << (bits & 31) | below) != 0;
    out.neg = (int)(flip & 1);
    out.exp = 32 * n - 1 - zeros - bits;
    return out;
}

/* ---- four rows of a column ------------------------------------------------------------------------ */

/* Four rows of a column, computed two by two. */
typedef struct quad {
    int i, j;       /* place of the first row and of the column in the tile */
    uint32_t there; /* bit r: row r exists, and neither it nor the column is special */
    uint32_t fails; /* bit r: to the list */
    ozg_cuda_line column;
} quad;

/* Where row r of a quad is in C. */
OZG_DEVICE int64_t quad_index(const ozg_cuda_reconstruct_args &a, const tile &t, const quad &z, int r)
{
    return stored(t, a.a, t.i0 + z.i + r) + stored(t, a.b, t.j0 + z.j) * a.ldc;
}

/*
 * RN of an entry in the usual case. *open: it is not surely that, as the result is subnormal or near the
 * largest number, or as a screen leaves its test open.
 */
template <int SINGLE, int TESTS>
OZG_DEVICE uint64_t quick_bits(const ozg_cuda_reconstruct_args &a, const quick &q, const ozg_cuda_line &row,
                               const ozg_cuda_line &column, int64_t at, const ozg_cuda_leading &v,
                               uint64_t largest, int *open)
{
    const ozg_fp alpha = a.scalars.alpha[0].fp;
    const int cut = SINGLE ? 40 : 11, most = SINGLE ? 127 : 1023, exponent = alpha.exp - row.d - column.d;
    const int x = v.exp + exponent;
    const uint64_t all = v.top | (uint64_t)v.sticky, kept = all >> cut,
                   rest = all & ((UINT64_C(1) << cut) - 1);
    const uint64_t bits = (kept + (uint64_t)(rest + (kept & 1) > UINT64_C(1) << (cut - 1)) +
                           ((uint64_t)(uint32_t)(x + most - 1) << (63 - cut))) |
                          (uint64_t)(v.neg ^ alpha.neg) << (SINGLE ? 31 : 63);

    *open = v.top != 0 && (unsigned)(x + most - 1) >= (unsigned)(2 * most - 1);
    if (TESTS && ozg_cuda_tested(&row, &column)) {
        const float screen = ozg_cuda_screen(&row, &column);
        const int widths = ozg_cuda_line_width(&row) + ozg_cuda_line_width(&column);

        if (a.request.kind == OZG_BY_ROUNDED)
            *open |= ozg_cuda_in_doubt(SINGLE, q.unit, v, exponent, screen, widths);
        else
            *open |= !(screen * q.scale <= (float)ozg_cuda_floor_sum(&a.in, 0, 0, at, q.unit)) ||
                     (a.request.reported &&
                      ozg_cuda_screen_key(screen, widths + exponent - alpha.exp, q.unit) > largest);
    }
    return v.top ? bits : 0;
}

/* An entry that quick_bits() left open: 1 if it fails, else it is stored. word: c^, of n words. */
template <int SINGLE, int n>
OZG_DEVICE_CALL int slow_entry(const ozg_cuda_reconstruct_args *a, const ozg_cuda_table *table, entry e,
                               int tested, const uint32_t *word, uint64_t *key)
{
    const int N = (n + 1) / 2;
    ozg_cuda_words<N> c;
    uint64_t w[N], bits;

    for (int i = 0; i < N; i++)
        w[i] = c.w[i] = (uint64_t)word[2 * i] |
                        (uint64_t)(2 * i + 1 < n ? word[2 * i + 1] : (uint32_t)((int32_t)word[n - 1] >> 31))
                            << 32;
    if (tested)
        return open_entry<SINGLE, 0, N>(a, table, e, w, 1, key) == OZG_CUDA_FAILS;
    bits = ozg_cuda_round<SINGLE>(ozg_cuda_leading_of<N>(c),
                                  a->scalars.alpha[0].fp.exp - a->a.d[e.row_at] - a->b.d[e.column_at],
                                  a->scalars.alpha[0].fp.neg);
    store_numbers<SINGLE, 0>(a->c, e.index, &bits);
    return 0;
}

/* Rows r and r + 1 as far as `stays` has a bit, to C: as a whole where they follow one another. */
template <int SINGLE>
OZG_DEVICE void store_pair(const ozg_cuda_reconstruct_args &a, const tile &t, const quad &z, int r,
                           uint32_t stays, const uint64_t (&out)[2])
{
    const int64_t first = quad_index(a, t, z, r);
    char *const to = (char *)a.c + first * (SINGLE ? 4 : 8);

    if (stays == 3 && !t.several && (uintptr_t)to % (SINGLE ? 8 : 16) == 0) {
        if (SINGLE)
            *(uint2 *)to = make_uint2((uint32_t)out[0], (uint32_t)out[1]);
        else
            *(ulonglong2 *)to = make_ulonglong2(out[0], out[1]);
        return;
    }
#pragma unroll
    for (int h = 0; h < 2; h++)
        if (stays >> h & 1)
            store_numbers<SINGLE, 0>(a.c, t.several ? quad_index(a, t, z, r + h) : first + h, &out[h]);
}

/*
 * The entry of row r, left open. Returns whether it fails: where the rounding is in doubt the exact test of
 * both ends would cost more than the repairs that it saves, for it keeps a warp waiting.
 */
template <int SINGLE, int TESTS, int n, int GROUPS, int DIGITS>
OZG_DEVICE uint32_t finish_slowly(const ozg_cuda_reconstruct_args &a, const ozg_cuda_table *table,
                                  const quads_memory<GROUPS, DIGITS> *m, const quad &z, int r,
                                  const uint32_t (&word)[n], uint64_t *largest)
{
    const int64_t row_at = stored(m->t, a.a, m->t.i0 + z.i + r), column_at = stored(m->t, a.b, m->t.j0 + z.j);
    const ozg_cuda_line row = row_of<TESTS>(m, r);
    const int tested = TESTS && ozg_cuda_tested(&row, &z.column);
    const entry e = {z.i + r, z.j, row_at + column_at * a.ldc, row_at, column_at};
    uint64_t key = 0;
    uint32_t copy[n], fails;

    if (tested && a.request.kind == OZG_BY_ROUNDED)
        return 1;
    for (int i = 0; i < n; i++)
        copy[i] = word[i];
    fails = (uint32_t)slow_entry<SINGLE, n>(&a, table, e, tested, copy, &key);
    if (tested && a.request.reported && key > *largest) /* 0 where native grade fails */
        *largest = key;
    return fails;
}

/* Rows r and r + 1. All lanes of the warp. */
template <int SINGLE, int TESTS, int GROUPS, int DIGITS>
OZG_DEVICE void finish_pair(const ozg_cuda_reconstruct_args &a, const ozg_cuda_table *table,
                            const quads_memory<GROUPS, DIGITS> *m, const uint32_t (&x)[GROUPS][16], int r,
                            quad *z, uint32_t *tested, uint64_t *largest)
{
    const int64_t at = (int64_t)z->j * a.in.ld + z->i + r;
    uint32_t word[2][DIGITS / 2], stays = z->there >> r & 3;
    uint64_t out[2];
    int open[2];

    pair_words<GROUPS, DIGITS>(m, x, r, word);
#pragma unroll
    for (int h = 0; h < 2; h++) {
        const ozg_cuda_line row = row_of<TESTS>(m, r + h);

        out[h] = quick_bits<SINGLE, TESTS>(a, m->q, row, z->column, at + h,
                                           leading_of_words<DIGITS / 2>(word[h]), *largest, &open[h]);
        if (TESTS)
            *tested += z->there >> (r + h) & (uint32_t)ozg_cuda_tested(&row, &z->column);
    }
    if (((open[0] & stays) | (open[1] & stays >> 1)) & 1)
#pragma unroll
        for (int h = 0; h < 2; h++)
            if (open[h] && stays >> h & 1) {
                z->fails |= finish_slowly<SINGLE, TESTS, DIGITS / 2>(a, table, m, *z, r + h, word[h], largest)
                            << (r + h);
                stays &= ~(1u << h);
            }
    if (stays)
        store_pair<SINGLE>(a, m->t, *z, r, stays, out);
}

/* ---- a block ------------------------------------------------------------------------------------ */

/* Items of 128 rows and as many columns as make about `wanted` of them. */
OZG_DEVICE void set_items(tile *t, int wanted)
{
    t->strips = t->rows > 0 && t->columns > 0 ? (t->rows + 127) / 128 : 0;
    t->width = t->strips ? (int)((int64_t)t->columns * t->strips / wanted) : 0;
    t->width = (t->width + 4) / 4 * 4;
}

template <int GROUPS, int DIGITS>
OZG_DEVICE void open_quads(const ozg_cuda_reconstruct_args &a, const ozg_cuda_weights *w,
                           quads_memory<GROUPS, DIGITS> *m)
{
    for (int q = threadIdx.x; q < (1 + DIGITS) * GROUPS * 32; q += THREADS)
        (&m->fragment[0][0][0])[q] = w->fragment[q / (32 * GROUPS)][q / 32 % GROUPS][q % 32];
    for (int i = threadIdx.x; i < DIGITS; i += THREADS)
        m->product[i] = w->product[i];
    if (threadIdx.x == 0) {
        const ozg_cuda_tests tests = ozg_cuda_tests_of(&a.request, a.factor);

        m->t = tile_of(a, 4);
        set_items(&m->t, (int)gridDim.x);
        m->q = {tests.unit, tests.scale};
    }
    __syncthreads();
}

/* The lines of a strip of rows that begins at place i. */
template <int GROUPS, int DIGITS>
OZG_DEVICE void fill_strip(const ozg_cuda_reconstruct_args &a, int i, quads_memory<GROUPS, DIGITS> *m)
{
    const tile &t = m->t;
    const int row = (int)threadIdx.x;

    __syncthreads();
    if (i + row < t.rows) {
        const ozg_cuda_line line = line_of(a.a, stored(t, a.a, t.i0 + i + row), &a.request);
        const int at = 32 * (row % 4) + row / 4;

        m->d[at] = line.d;
        m->r[at] = line.r;
        m->x[at] = line.x;
        m->r1[at] = line.r1;
        m->xmax[at] = line.xmax;
        m->u[at] = line.u;
    }
    __syncthreads();
}

/* The rows of the lane that exist and are not special. */
template <int GROUPS, int DIGITS> OZG_DEVICE uint32_t rows_there(const quads_memory<GROUPS, DIGITS> *m, int i)
{
    uint32_t there = 0;

    for (int r = 0; r < 4; r++)
        if (i + r < m->t.rows && !is_skipped(row_of<1>(m, r)))
            there |= 1u << r;
    return there;
}

/* Rows i .. i + 127 of columns [begin, end), a warp every fourth. */
template <int SINGLE, int TESTS, int GROUPS, int DIGITS>
OZG_DEVICE void quads_of_strip(const ozg_cuda_reconstruct_args &a, const ozg_cuda_table *table,
                               const quads_memory<GROUPS, DIGITS> *m, int i, int begin, int end,
                               uint32_t *tested, uint64_t *largest)
{
    const int lane = (int)threadIdx.x % 32, nmod = table->planes, step = THREADS / 32;
    const int ahead = GROUPS == 1; /* registers for the next column's residues */
    const int64_t plane = a.in.columns * a.in.ld;
    const uint8_t *at = a.in.base + i + 16 * (lane / 4);
    const uint32_t there = rows_there(m, i + 4 * lane);
    ozg_cuda_line column;
    uint4 v[GROUPS][4];
    int j = begin + (int)threadIdx.x / 32;

    if (j >= end)
        return;
#pragma unroll
    for (int g = 0; g < GROUPS; g++)
        if (ahead)
            load_quads(at + j * a.in.ld, plane, g, nmod, v[g]);
    column = line_of(a.b, stored(m->t, a.b, m->t.j0 + j), &a.request);
#pragma unroll 1
    for (; j < end; j += step) {
        quad z = {i + 4 * lane, j, is_skipped(column) ? 0 : there, 0, column};
        uint32_t x[GROUPS][16];

#pragma unroll
        for (int g = 0; g < GROUPS; g++) {
            if (!ahead)
                load_quads(at + j * a.in.ld, plane, g, nmod, v[g]);
        }
#pragma unroll
        for (int g = 0; g < GROUPS; g++) {
            transpose_quads(v[g], x[g]);
            if (ahead && j + step < end) /* they come while this column's are worked on */
                load_quads(at + (j + step) * a.in.ld, plane, g, nmod, v[g]);
        }
        if (j + step < end)
            column = line_of(a.b, stored(m->t, a.b, m->t.j0 + j + step), &a.request);
        finish_pair<SINGLE, TESTS, GROUPS, DIGITS>(a, table, m, x, 0, &z, tested, largest);
        finish_pair<SINGLE, TESTS, GROUPS, DIGITS>(a, table, m, x, 2, &z, tested, largest);
        if (TESTS)
            note_failed(a, z.fails, z.i + (int64_t)j * m->t.rows);
    }
}

template <int SINGLE, int TESTS, int GROUPS, int DIGITS>
OZG_DEVICE void quads_of_tile(const ozg_cuda_reconstruct_args &a, const ozg_cuda_table *table,
                              quads_memory<GROUPS, DIGITS> *m)
{
    const tile &t = m->t;
    const int items = t.strips ? t.strips * ((t.columns + t.width - 1) / t.width) : 0;
    uint32_t tested = 0;
    uint64_t largest = 0;

    for (int item = blockIdx.x; item < items; item += gridDim.x) {
        const int i = item % t.strips * 128, begin = item / t.strips * t.width;

        fill_strip(a, i, m);
        quads_of_strip<SINGLE, TESTS, GROUPS, DIGITS>(a, table, m, i, begin, min(begin + t.width, t.columns),
                                                      &tested, &largest);
    }
    if (TESTS)
        note_tested(a, tested, largest);
}

/* The tile with DIGITS digits of c^ from at most 16 GROUPS moduli; beta = 0. memory: shared, of that size. */
template <int SINGLE, int GROUPS, int DIGITS, int SIZE>
OZG_DEVICE void reconstruct_quads(const ozg_cuda_reconstruct_args &a, const ozg_cuda_table *table,
                                  uint4 (&memory)[SIZE])
{
    static_assert(sizeof(quads_memory<GROUPS, DIGITS>) <= sizeof memory, "shared memory");
    quads_memory<GROUPS, DIGITS> *m = (quads_memory<GROUPS, DIGITS> *)(void *)memory;

    open_quads(a, &table->weights, m);
    if (ozg_cuda_tests_wanted(&a.request))
        quads_of_tile<SINGLE, 1, GROUPS, DIGITS>(a, table, m);
    else
        quads_of_tile<SINGLE, 0, GROUPS, DIGITS>(a, table, m);
}

#endif
