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

#define FP64_MODULI 12 /* fewer: c^ is mostly too small for round_fp64() */

/* Lines in shared memory (ozg_cuda_line). */
struct quads_lines {
    float4 bound[128]; /* r, x, r1, xmax */
    float u[128];
    int d[128];
};

/* Shared memory of a block. fragment[t][g][lane]: component x is for rows x, and 0 in lanes of another x. */
template <int GROUPS, int DIGITS> struct quads_memory {
    uint4 fragment[1 + DIGITS][GROUPS][32];
    quads_lines rows; /* of the strip: row 4 lane + r is number 32 r + lane, so that lanes read neighbours */
    quads_lines columns;     /* number 32 w + q: the column of warp w q turns after the first that is there */
    int product[DIGITS / 2]; /* -M in balanced digits of 32 bits */
    tile t;
    quick q;
    int fp64; /* round_fp64() is worth trying */
};

OZG_DEVICE void store_line(quads_lines *l, int at, const ozg_cuda_line &line)
{
    l->bound[at] = make_float4(line.r, line.x, line.r1, line.xmax);
    l->u[at] = line.u;
    l->d[at] = line.d;
}

OZG_DEVICE ozg_cuda_line load_line(const quads_lines *l, int at)
{
    const float4 bound = l->bound[at];

    return {bound.x, bound.y, bound.z, bound.w, l->u[at], l->d[at]};
}

/* The number of row r of the lane. */
OZG_DEVICE int row_number(int r)
{
    return 32 * r + (int)threadIdx.x % 32;
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

/* Sums of digit t - 1 of R rows from row r0 on, t = 0: of the quotient: two bytes each. */
template <int R, int GROUPS, int DIGITS>
OZG_DEVICE void digit_sums(const quads_memory<GROUPS, DIGITS> *m, int t, const uint32_t (&x)[GROUPS][16],
                           int r0, int (&out)[R])
{
    const int lane = (int)threadIdx.x % 32, last = GROUPS - 1;
    const uint4 one = m->fragment[t][0][lane], two = m->fragment[t][last][lane];
    const uint32_t low[4] = {one.x, one.y, one.z, one.w}, high[4] = {two.x, two.y, two.z, two.w};

#pragma unroll
    for (int h = 0; h < R; h += 2) {
        const int r = r0 + h;
        int sums[4] = {0, 0, 0, 0};

#pragma unroll
        for (int i = 0; i < 4; i += 3 - GROUPS) { /* one group: the second half of k is that of the next x */
            const int other = GROUPS == 1 ? i + 1 : i;
            const uint32_t a[4] = {x[0][4 * i + r], x[0][4 * i + r + 1], x[last][4 * other + r],
                                   x[last][4 * other + r + 1]};
            const uint32_t b[2] = {low[i], high[other]};

            ozg_mma_s8(sums, a, b);
        }
        out[h] = sums[0] + 256 * sums[1];
        out[h + 1] = sums[2] + 256 * sums[3];
    }
}

/* c^ of R rows in words of 32 bits, two's complement: what two digits give, and a carry. */
template <int R, int GROUPS, int DIGITS>
OZG_DEVICE void row_words(const quads_memory<GROUPS, DIGITS> *m, const uint32_t (&x)[GROUPS][16], int r0,
                          uint32_t (&word)[R][DIGITS / 2])
{
    int quotient[R], low[R], high[R];
    int64_t sum[R] = {};

    __syncwarp(); /* rows before may have gone ways of their own */
    digit_sums<R>(m, 0, x, r0, quotient);
#pragma unroll
    for (int h = 0; h < R; h++)
        quotient[h] = (quotient[h] + 32768) >> 16;
#pragma unroll
    for (int i = 0; i < DIGITS / 2; i++) {
        digit_sums<R>(m, 1 + 2 * i, x, r0, low);
        digit_sums<R>(m, 2 + 2 * i, x, r0, high);
#pragma unroll
        for (int h = 0; h < R; h++) {
            sum[h] =
                (sum[h] >> 32) + low[h] + (int64_t)high[h] * 65536 + (int64_t)quotient[h] * m->product[i];
            word[h][i] = (uint32_t)sum[h];
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

/* ---- the one rounding --------------------------------------------------------------------------- */

/*
 * RN of a number by its leading bits, times 2^exponent. *open: the result is subnormal or near the largest
 * number, and not that.
 */
template <int SINGLE>
OZG_DEVICE uint64_t round_leading(const ozg_cuda_leading &v, int exponent, int negate, int *open)
{
    const int cut = SINGLE ? 40 : 11, most = SINGLE ? 127 : 1023, x = v.exp + exponent;
    const uint64_t all = v.top | (uint64_t)v.sticky, kept = all >> cut,
                   rest = all & ((UINT64_C(1) << cut) - 1);
    const uint64_t bits = (kept + (uint64_t)(rest + (kept & 1) > UINT64_C(1) << (cut - 1)) +
                           ((uint64_t)(uint32_t)(x + most - 1) << (63 - cut))) |
                          (uint64_t)(v.neg ^ negate) << (SINGLE ? 31 : 63);

    *open = v.top != 0 && (unsigned)(x + most - 1) >= (unsigned)(2 * most - 1);
    return v.top ? bits : 0;
}

/*
 * The same of c^, |c^| < 2^127, in words, to binary64 by floating point: c^ = (H 2^52 + L + f) 2^24, H and L
 * integers, |H| < 2^51, 0 <= L < 2^52, 0 <= f < 1, and H and L are doubles. With L made odd if f > 0, RN(H 2^52
 * + L) is RN(c^ 2^-24) where the last place of the result is at least 4: numbers at which the rounding changes
 * are then even, and L + f and the odd number lie on the same side of each. That is from 2^55 on. *small is set
 * if RN(...) is below, and not 0: the result counts for nothing then.
 */
OZG_DEVICE uint64_t round_fp64(const uint32_t (&w)[4], int exponent, int negate, int *open, int *small)
{
    const uint32_t odd = (w[0] & 0xffffff) != 0;
    const int h1 = (int)(w[3] >> 12 ^ 0x43380000),
              l1 = (int)((w[1] >> 24 | (w[2] << 8 & 0xfff00)) | 0x43300000);
    const double h = __hiloint2double(h1, (int)__funnelshift_r(w[2], w[3], 12)) - 0x1.8p52;
    const double l = __hiloint2double(l1, (int)(__funnelshift_r(w[0], w[1], 24) | odd)) - 0x1p52;
    const double rounded = __fma_rn(h, 0x1p52, l);
    const uint32_t top = (uint32_t)__double2hiint(rounded), size = top & 0x7ff00000;
    const int x = (int)(size >> 20) + 24 + exponent;

    *small |= size != 0 && size < (uint32_t)(1023 + 55) << 20;
    *open = size != 0 && (unsigned)(x - 1) >= 2046u;
    return size ? (uint64_t)((top + ((uint32_t)(24 + exponent) << 20)) ^ (uint32_t)negate << 31) << 32 |
                      (uint32_t)__double2loint(rounded)
                : 0;
}

/* ---- four rows of a column ------------------------------------------------------------------------ */

/* Four rows of a column. */
typedef struct quad {
    int i, j;       /* place of the first row and of the column in the tile */
    uint32_t there; /* bit r: row r exists, and neither it nor the column is special */
    uint32_t open;  /* bit r: the quick way does not decide */
    uint32_t fails; /* bit r: to the list */
    ozg_cuda_line column;
} quad;

/* A column's residues and sums of floors, before its turn. */
template <int GROUPS> struct quads_ahead {
    uint4 residues[GROUPS][4];
    uint4 floors; /* of 32 bits; as they come: to change them would be to wait for them */
};

/* Where row r of a quad is in C. */
OZG_DEVICE int64_t quad_index(const ozg_cuda_reconstruct_args &a, const tile &t, const quad &z, int r)
{
    return stored(t, a.a, t.i0 + z.i + r) + stored(t, a.b, t.j0 + z.j) * a.ldc;
}

/* RN of rows from r0 on: by floating point, unless some row of the warp is too small for that. */
template <int SINGLE, int R, int W, int GROUPS, int DIGITS>
OZG_DEVICE void round_rows(const quads_memory<GROUPS, DIGITS> *m, const uint32_t (&word)[R][W],
                           const ozg_scalar &alpha, int r0, quad *z, uint64_t (&out)[R])
{
    const int exponent = alpha.fp.exp - z->column.d, *d = m->rows.d + row_number(r0);
    int open[R], small = SINGLE || W != 4 || !m->fp64;

    if (!small) {
#pragma unroll
        for (int h = 0; h < R; h++) {
            const uint32_t w[4] = {word[h][0], word[h][1], word[h][2], word[h][3 % W]};

            out[h] = round_fp64(w, exponent - d[32 * h], alpha.fp.neg, &open[h], &small);
        }
        small = __any_sync(ALL, small);
    }
    if (small)
#pragma unroll
        for (int h = 0; h < R; h++)
            out[h] = round_leading<SINGLE>(leading_of_words<W>(word[h]), exponent - d[32 * h], alpha.fp.neg,
                                           &open[h]);
#pragma unroll
    for (int h = 0; h < R; h++)
        z->open |= (uint32_t)open[h] << (r0 + h);
}

/* Does the screen leave native grade open, or the largest bound? terms: ozg_cuda_screen_terms(). */
OZG_DEVICE int native_open(const ozg_cuda_reconstruct_args &a, const quick &q, const ozg_cuda_line &row,
                           const ozg_cuda_line &column, float terms, uint32_t floors, uint64_t largest)
{
    const float screen = terms + (row.u + column.u);
    int open = !(screen <= (float)floors * q.limit);

    if (a.request.reported)
        open |= ozg_cuda_screen_key(
                    screen, ozg_cuda_line_width(&row) + ozg_cuda_line_width(&column) - row.d - column.d,
                    q.unit) > largest;
    return open;
}

/* The tests of row r, by the screens alone. */
template <int SINGLE, int W, int GROUPS, int DIGITS>
OZG_DEVICE void test_row(const ozg_cuda_reconstruct_args &a, const quads_memory<GROUPS, DIGITS> *m, int r,
                         const uint32_t (&word)[W], uint32_t floors, quad *z, uint32_t *tested,
                         uint64_t largest)
{
    const ozg_cuda_line row = load_line(&m->rows, row_number(r));
    const float terms = ozg_cuda_screen_terms(&row, &z->column);
    int open;

    if (!(terms > 0)) /* E = 0 */
        return;
    if (a.request.kind == OZG_BY_NATIVE)
        open = native_open(a, m->q, row, z->column, terms, floors, largest);
    else
        open = ozg_cuda_in_doubt(
            SINGLE, m->q.unit, leading_of_words<W>(word), a.scalars.alpha[0].fp.exp - row.d - z->column.d,
            terms + (row.u + z->column.u), ozg_cuda_line_width(&row) + ozg_cuda_line_width(&z->column));
    z->open |= (uint32_t)open << r;
    *tested += z->there >> r & 1;
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
                           uint32_t stays, uint64_t one, uint64_t two)
{
    if (!stays)
        return;
    const int64_t first = quad_index(a, t, z, r);
    char *const to = (char *)ozg_global(a.c) + first * (SINGLE ? 4 : 8);

    if (stays == 3 && !t.several && (uintptr_t)to % (SINGLE ? 8 : 16) == 0) {
        if (SINGLE)
            *(uint2 *)to = make_uint2((uint32_t)one, (uint32_t)two);
        else
            *(ulonglong2 *)to = make_ulonglong2(one, two);
        return;
    }
    if (stays & 1)
        store_numbers<SINGLE, 0>(a.c, first, &one);
    if (stays & 2)
        store_numbers<SINGLE, 0>(a.c, t.several ? quad_index(a, t, z, r + 1) : first + 1, &two);
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
    const ozg_cuda_line row = load_line(&m->rows, row_number(r));
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

/* R rows from row r0 on. All lanes of the warp. */
template <int SINGLE, int TESTS, int R, int GROUPS, int DIGITS>
OZG_DEVICE void finish_rows(const ozg_cuda_reconstruct_args &a, const ozg_cuda_table *table,
                            const quads_memory<GROUPS, DIGITS> *m, const uint32_t (&x)[GROUPS][16],
                            const uint32_t (&floors)[4], int r0, quad *z, uint32_t *tested, uint64_t *largest)
{
    uint32_t word[R][DIGITS / 2], stays = z->there;
    uint64_t out[R];

    row_words<R>(m, x, r0, word);
    round_rows<SINGLE, R, DIGITS / 2>(m, word, a.scalars.alpha[0], r0, z, out);
    if (TESTS)
#pragma unroll
        for (int h = 0; h < R; h++)
            test_row<SINGLE, DIGITS / 2>(a, m, r0 + h, word[h], floors[r0 + h], z, tested, *largest);
    if (z->open & stays)
#pragma unroll
        for (int h = 0; h < R; h++)
            if (z->open & stays & 1u << (r0 + h)) {
                z->fails |=
                    finish_slowly<SINGLE, TESTS, DIGITS / 2>(a, table, m, *z, r0 + h, word[h], largest)
                    << (r0 + h);
                stays &= ~(1u << (r0 + h));
            }
#pragma unroll
    for (int h = 0; h < R; h += 2)
        store_pair<SINGLE>(a, m->t, *z, r0 + h, stays >> (r0 + h) & 3, out[h], out[h + 1]);
}

/* ---- a block ------------------------------------------------------------------------------------ */

/* Items of 128 rows and as many columns as make about `wanted` of them. */
OZG_DEVICE void set_items(tile *t, int wanted)
{
    t->strips = t->rows > 0 && t->columns > 0 ? (t->rows + 127) / 128 : 0;
    t->width = t->strips ? (int)((int64_t)t->columns * t->strips / wanted) : 0;
    t->width = (t->width + 4) / 4 * 4;
}

/* -M in balanced digits of 32 bits, from those of 16. */
template <int N> OZG_DEVICE void set_product(const ozg_cuda_weights *w, int (&product)[N])
{
    int64_t rest = 0;

    for (int i = 0; i < N; i++) {
        rest += w->product[2 * i] + (int64_t)w->product[2 * i + 1] * 65536;
        product[i] = (int)(uint32_t)rest;
        rest = (rest - product[i]) >> 32;
    }
}

template <int GROUPS, int DIGITS>
OZG_DEVICE void open_quads(const ozg_cuda_reconstruct_args &a, const ozg_cuda_table *table,
                           quads_memory<GROUPS, DIGITS> *m)
{
    for (int q = threadIdx.x; q < (1 + DIGITS) * GROUPS * 32; q += THREADS) {
        const uint32_t w = table->weights.fragment[q / (32 * GROUPS)][q / 32 % GROUPS][q % 32];
        const int x = q % 32 / 8;

        (&m->fragment[0][0][0])[q] =
            make_uint4(x == 0 ? w : 0, x == 1 ? w : 0, x == 2 ? w : 0, x == 3 ? w : 0);
    }
    if (threadIdx.x == 0) {
        const ozg_cuda_tests tests = ozg_cuda_tests_of(&a.request, a.factor);

        m->t = tile_of(a, 4);
        set_items(&m->t, (int)gridDim.x);
        m->q = {tests.unit, tests.limit};
        m->fp64 = a.fp64 && a.request.kind != OZG_BY_ROUNDED && table->nmod >= FP64_MODULI;
        set_product(&table->weights, m->product);
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
    if (i + row < t.rows)
        store_line(&m->rows, 32 * (row % 4) + row / 4,
                   line_of(a.a, stored(t, a.a, t.i0 + i + row), &a.request));
    __syncthreads();
}

/* The rows of the lane that exist and are not special. */
template <int GROUPS, int DIGITS> OZG_DEVICE uint32_t rows_there(const quads_memory<GROUPS, DIGITS> *m, int i)
{
    uint32_t there = 0;

    for (int r = 0; r < 4; r++)
        if (i + r < m->t.rows && !is_skipped(load_line(&m->rows, row_number(r))))
            there |= 1u << r;
    return there;
}

/* L of the four rows. ahead: their sums, if they are of 32 bits. */
OZG_DEVICE void take_floors(const ozg_cuda_reconstruct_args &a, const quad &z, const uint4 &ahead, int unit,
                            uint32_t (&l)[4])
{
    l[0] = ahead.x >> unit;
    l[1] = ahead.y >> unit;
    l[2] = ahead.z >> unit;
    l[3] = ahead.w >> unit;
    if (a.in.floor_bytes != 4)
        for (int r = 0; r < 4; r++)
            l[r] = ozg_cuda_floor_sum(&a.in, 0, 0, z.j * a.in.ld + z.i + r, unit);
}

/* The lines of columns j, j + step, ... of the warp, 32 of them. */
template <int GROUPS, int DIGITS>
OZG_DEVICE void fill_columns(const ozg_cuda_reconstruct_args &a, int j, int step, int end,
                             quads_memory<GROUPS, DIGITS> *m)
{
    const int own = j + (int)threadIdx.x % 32 * step;

    __syncwarp(); /* those before have been used */
    if (own < end)
        store_line(&m->columns, (int)threadIdx.x, line_of(a.b, stored(m->t, a.b, m->t.j0 + own), &a.request));
    __syncwarp();
}

/* The residues of column j and its sums of floors; i: the first row of the strip. */
template <int TESTS, int GROUPS>
OZG_DEVICE void load_column(const ozg_cuda_reconstruct_args &a, int nmod, int i, int j,
                            quads_ahead<GROUPS> *next)
{
    const int lane = (int)threadIdx.x % 32;
    const uint8_t *at = a.in.base + j * a.in.ld + i + 16 * (lane / 4);

#pragma unroll
    for (int g = 0; g < GROUPS; g++)
        load_quads(at, a.in.columns * a.in.ld, g, nmod, next->residues[g]);
    if (TESTS && a.request.kind == OZG_BY_NATIVE && a.in.floor_bytes == 4)
        next->floors = __ldcs((const uint4 *)((const uint32_t *)a.in.floors + j * a.in.ld + i + 4 * lane));
}

/* Rows i .. i + 127 of columns [begin, end), a warp every fourth. */
template <int SINGLE, int TESTS, int GROUPS, int DIGITS>
OZG_DEVICE void quads_of_strip(const ozg_cuda_reconstruct_args &a, const ozg_cuda_table *table,
                               quads_memory<GROUPS, DIGITS> *m, int i, int begin, int end, uint32_t *tested,
                               uint64_t *largest)
{
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32, nmod = table->planes,
              step = THREADS / 32;
    const int ahead = GROUPS == 1, rows = GROUPS == 1 ? 4 : 2; /* as registers allow */
    const uint32_t there = rows_there(m, i + 4 * lane);
    quads_ahead<GROUPS> next = {};
    int turn = 0;

    if (ahead && begin + warp < end)
        load_column<TESTS>(a, nmod, i, begin + warp, &next);
#pragma unroll 1
    for (int j = begin + warp; j < end; j += step, turn++) {
        uint32_t x[GROUPS][16];

        if (turn % 32 == 0)
            fill_columns(a, j, step, end, m);
        if (!ahead)
            load_column<TESTS>(a, nmod, i, j, &next);
        quad z = {i + 4 * lane, j, there, 0, 0, load_line(&m->columns, 32 * warp + turn % 32)};
        uint32_t floors[4] = {0, 0, 0, 0};

        if (is_skipped(z.column))
            z.there = 0;
        if (TESTS && a.request.kind == OZG_BY_NATIVE)
            take_floors(a, z, next.floors, m->q.unit, floors);
#pragma unroll
        for (int g = 0; g < GROUPS; g++)
            transpose_quads(next.residues[g], x[g]);
        if (ahead && j + step < end) /* they come while this column's are worked on */
            load_column<TESTS>(a, nmod, i, j + step, &next);
#pragma unroll
        for (int r = 0; r < 4; r += rows)
            finish_rows<SINGLE, TESTS, rows>(a, table, m, x, floors, r, &z, tested, largest);
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

    open_quads(a, table, m);
    if (ozg_cuda_tests_wanted(&a.request))
        quads_of_tile<SINGLE, 1, GROUPS, DIGITS>(a, table, m);
    else
        quads_of_tile<SINGLE, 0, GROUPS, DIGITS>(a, table, m);
}

#endif
