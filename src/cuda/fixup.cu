/*
 * fixup.cu - passes over C: rows and columns with Inf or NaN, the largest entry, beta C; and over sums: the
 * largest ceilings.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cuda/batch.cuh"
#include "cuda/element.cuh"
#include "cuda/fixup.h"
#include "cuda/two.cuh"

/* ---- Inf and NaN -------------------------------------------------------------------------------- */

/*
 * A sum in which only terms with an infinite factor count (src/special.c): what was found of it. It is Inf
 * unless decided.
 */
enum { PLUS = 1, MINUS = 2, NAN_TERM = 4 };

OZG_DEVICE int is_decided(uint32_t found)
{
    return found >= 3; /* NaN, or Inf - Inf */
}

OZG_DEVICE uint32_t special_term(uint64_t x, uint64_t y, int negate)
{
    if (!ozg_is_special(x) && !ozg_is_special(y))
        return 0;
    if (x << 1 == 0 || y << 1 == 0)
        return NAN_TERM;
    return (int)((x ^ y) >> 63) ^ negate ? MINUS : PLUS;
}

OZG_DEVICE void special_pair(const uint64_t x[2], const uint64_t y[2], int complex_, uint32_t found[2])
{
    found[0] |= special_term(x[0], y[0], 0);
    if (complex_) {
        found[0] |= special_term(x[1], y[1], 1);
        found[1] |= special_term(x[0], y[1], 0) | special_term(x[1], y[0], 0);
    }
}

OZG_DEVICE int special_ends(const uint32_t found[2], int complex_)
{
    return is_decided(found[0]) && (!complex_ || is_decided(found[1]));
}

/* C(row, column) from what was found. */
OZG_DEVICE void store_special(const ozg_cuda_c_args *a, int64_t row, int64_t column, const uint32_t found[2])
{
    const int64_t index = row + column * a->ldc;
    ozg_value v[2];
    uint64_t old[2], bits[2];
    ozg_sum sum;

    for (int part = 0; part < 2; part++) {
        v[part].kind = is_decided(found[part]) ? OZG_INVALID : OZG_INFINITE;
        v[part].neg = (found[part] & MINUS) != 0;
        v[part].z.n = v[part].z.neg = 0;
        v[part].x = 0;
    }
    ozg_entry_old(&a->scalars, a->c, index, old);
    for (int part = 0; part <= a->request.complex_; part++) { /* alpha is not 0: no sum is finite */
        ozg_entry_sum(&sum, &a->scalars, part, v, old);
        bits[part] = ozg_sum_special(&sum, a->request.single);
    }
    ozg_entry_store(&a->scalars, a->c, index, bits);
}

/* One entry, lanes along k. All lanes get what was found. */
OZG_DEVICE void special_along(const ozg_cuda_c_args *a, int64_t row, int64_t column, int lane,
                              uint32_t found[2])
{
    const int single = a->request.single, complex_ = a->request.complex_;

    found[0] = found[1] = 0;
    for (int64_t p = 0; p < a->request.k; p += 4 * OZG_CUDA_WARP) {
        for (int q = 0; q < 4; q++)
            if (p + q * OZG_CUDA_WARP + lane < a->request.k) {
                uint64_t x[2], y[2];

                ozg_cuda_element(&a->a, row, p + q * OZG_CUDA_WARP + lane, single, complex_, x);
                ozg_cuda_element(&a->b, column, p + q * OZG_CUDA_WARP + lane, single, complex_, y);
                special_pair(x, y, complex_, found);
            }
        found[0] = __reduce_or_sync(OZG_CUDA_ALL, found[0]);
        if (complex_)
            found[1] = __reduce_or_sync(OZG_CUDA_ALL, found[1]);
        if (special_ends(found, complex_))
            return;
    }
}

/*
 * An entry a lane, neighbours in a column: those of the lanes that want it. Where none of their rows is
 * special, only the special elements of the column count.
 */
OZG_DEVICE void special_across(const ozg_cuda_c_args *a, int64_t row, int64_t column, int lane, int wanted,
                               int special, uint32_t found[2])
{
    const int single = a->request.single, complex_ = a->request.complex_;
    const int any_row = __any_sync(OZG_CUDA_ALL, wanted && special);
    uint64_t x[2], y[2], other[2] = {0, 0};

    found[0] = found[1] = 0;
    for (int64_t p = 0; p < a->request.k; p += OZG_CUDA_WARP) {
        const int open = wanted && !special_ends(found, complex_), inside = p + lane < a->request.k;
        uint32_t turns;

        if (!__any_sync(OZG_CUDA_ALL, open))
            return;
        y[0] = y[1] = 0;
        if (inside)
            ozg_cuda_element(&a->b, column, p + lane, single, complex_, y);
        turns =
            __ballot_sync(OZG_CUDA_ALL, inside && (any_row || ozg_is_special(y[0]) || ozg_is_special(y[1])));
        for (; turns; turns &= turns - 1) {
            const int q = ozg_bit_length(turns & (~turns + 1)) - 1;

            other[0] = __shfl_sync(OZG_CUDA_ALL, y[0], q);
            if (complex_)
                other[1] = __shfl_sync(OZG_CUDA_ALL, y[1], q);
            if (open) {
                ozg_cuda_element(&a->a, row, p + q, single, complex_, x);
                special_pair(x, other, complex_, found);
            }
        }
    }
}

#define ACROSS 4 /* entries of 32 rows that are worth a lane each where rows are neighbours in memory */

/* Entries of 32 rows from `first` in one column. whole: the column is special; else the rows that are. */
OZG_DEVICE void special_group(const ozg_cuda_c_args *a, int64_t first, int64_t column, int whole, int lane)
{
    const int64_t row = first + lane;
    const int special = row < a->request.m ? a->a.special[row] : 0;
    const int wanted = row < a->request.m && (whole || special);
    const int nan = special == OZG_LINE_NAN || a->b.special[column] == OZG_LINE_NAN;
    uint32_t left = __ballot_sync(OZG_CUDA_ALL, wanted && !nan), found[2] = {NAN_TERM, NAN_TERM}, mine[2];

    if (ozg_bit_count(left) >= ACROSS && a->a.view.line_stride == 1) {
        special_across(a, row, column, lane, wanted && !nan, special, mine);
        found[0] = nan ? found[0] : mine[0];
        found[1] = nan ? found[1] : mine[1];
        left = 0;
    }
    for (; left; left &= left - 1) {
        const int q = ozg_bit_length(left & (~left + 1)) - 1;

        special_along(a, first + q, column, lane, mine);
        found[0] = lane == q ? mine[0] : found[0];
        found[1] = lane == q ? mine[1] : found[1];
    }
    if (wanted)
        store_special(a, row, column, found);
}

/*
 * Special columns first, then special rows in the other columns. A warp takes 32 rows of a column; neighbours
 * in the order of what there are many of.
 */
OZG_KERNEL_BATCH(ozg_cuda_special, ozg_cuda_c_args, OZG_CUDA_C_THREADS, 4)
{
    const int64_t warps = (int64_t)gridDim.x * (blockDim.x / OZG_CUDA_WARP),
                  groups = ozg_cuda_pieces(a.request.m, OZG_CUDA_WARP);
    const int64_t warp = blockIdx.x * (int64_t)(blockDim.x / OZG_CUDA_WARP) + threadIdx.x / OZG_CUDA_WARP,
                  n = a.request.n;
    const int lane = (int)(threadIdx.x % OZG_CUDA_WARP);

    if (!(a.state->special_columns | a.state->special_rows)) {
        ozg_launch_next();
        return;
    }
    for (int64_t t = warp; a.state->special_columns && t < groups * n; t += warps)
        if (a.b.special[t / groups])
            special_group(&a, t % groups * OZG_CUDA_WARP, t / groups, 1, lane);
    for (int64_t t = warp; a.state->special_rows && t < groups * n; t += warps)
        if (!a.b.special[t % n])
            special_group(&a, t / n * OZG_CUDA_WARP, t % n, 0, lane);
}

/* ---- passes over C ------------------------------------------------------------------------------ */

/*
 * C in pieces of a block: `width` rows (a power of two; of elements, or of components) times PASS_STEPS, and
 * as many columns as there are threads left.
 */
#define PASS_STEPS 8

typedef struct pass {
    int64_t rows, columns, row_pieces, pieces;
    int width, height;
} pass;

OZG_DEVICE pass pass_of(int64_t rows, int64_t columns)
{
    pass q;

    q.rows = rows;
    q.columns = columns;
    for (q.width = 1; q.width < OZG_CUDA_C_THREADS && q.width < rows;)
        q.width *= 2;
    q.height = OZG_CUDA_C_THREADS / q.width;
    q.row_pieces = ozg_cuda_pieces(rows, q.width * PASS_STEPS);
    q.pieces = q.row_pieces * ozg_cuda_pieces(columns, q.height);
    return q;
}

/* The thread's first row and its column in a piece; 0: none. */
OZG_DEVICE int pass_place(const pass *q, int64_t piece, int64_t *i, int64_t *j)
{
    const int x = (int)threadIdx.x & (q->width - 1), y = (int)threadIdx.x / q->width;

    *i = piece % q->row_pieces * q->width * PASS_STEPS + x;
    *j = piece / q->row_pieces * q->height + y;
    return y < q->height && *j < q->columns;
}

OZG_KERNEL_BATCH(ozg_cuda_largest, ozg_cuda_c_args, OZG_CUDA_C_THREADS, 4)
{
    const int parts = 1 + a.request.complex_;
    const pass q = pass_of(parts * a.request.m, a.request.n);
    uint64_t most = 0;
    int64_t i, j;

    for (int64_t t = blockIdx.x; t < q.pieces; t += gridDim.x)
        if (pass_place(&q, t, &i, &j))
#pragma unroll
            for (int step = 0; step < PASS_STEPS; step++)
                if (i + step * q.width < q.rows) {
                    const uint64_t bits =
                        ozg_load_bits(a.c, a.request.single, i + step * q.width + parts * j * a.ldc) &
                        ~OZG_F64_SIGN;

                    most = bits > most && !ozg_is_special(bits) ? bits : most;
                }
    for (int down = OZG_CUDA_WARP / 2; down; down /= 2) {
        const uint64_t other = __shfl_down_sync(OZG_CUDA_ALL, most, down);

        most = other > most ? other : most;
    }
    if (threadIdx.x % OZG_CUDA_WARP == 0 && most)
        atomicMax((unsigned long long *)(void *)&a.state->largest_entry, (unsigned long long)most);
}

/* ozg_sum_finish_signed() of a sum of at most two terms. */
OZG_DEVICE uint64_t finish_two(const ozg_sum *sum, int single)
{
    const uint64_t special = ozg_sum_special(sum, single);

    if (special)
        return special;
    if (sum->count == 2)
        return ozg_cuda_round_two(single, &sum->t[0], &sum->t[1]);
    if (sum->count == 1)
        return ozg_round_words(single, sum->t[0].neg, sum->t[0].w, sum->t[0].n, sum->t[0].exp);
    if (sum->zeros > 0 && sum->negative_zeros == sum->zeros)
        return single ? UINT64_C(1) << 31 : OZG_F64_SIGN;
    return 0;
}

/* ozg_entry_scale(). */
OZG_DEVICE void scale_entry(const ozg_scalars *s, void *c, int64_t index)
{
    uint64_t old[2], bits[2];
    ozg_sum sum;

    ozg_entry_old(s, c, index, old);
    for (int part = 0; part <= s->complex_; part++) {
        sum.count = sum.plus_inf = sum.minus_inf = sum.nan = sum.zeros = sum.negative_zeros = 0;
        ozg_sum_old(&sum, s->beta[0], 0, old[part]);
        if (s->complex_)
            ozg_sum_old(&sum, s->beta[1], !part, old[!part]);
        bits[part] = finish_two(&sum, s->single);
    }
    ozg_entry_store(s, c, index, bits);
}

OZG_KERNEL(ozg_cuda_scale_c, ozg_cuda_c_args, OZG_CUDA_C_THREADS, 2)
{
    const pass q = pass_of(a.request.m, a.request.n);
    int64_t i, j;

    for (int64_t t = blockIdx.x; t < q.pieces; t += gridDim.x)
        if (pass_place(&q, t, &i, &j))
            for (int step = 0; step < PASS_STEPS; step++)
                if (i + step * q.width < q.rows)
                    scale_entry(&a.scalars, a.c, i + step * q.width + j * a.ldc);
}

/* ---- accurate scaling --------------------------------------------------------------------------- */

/* Most of it is known already: a look is cheaper than an atomic operation. */
OZG_DEVICE void raise_to(uint64_t *most, uint64_t x)
{
    if (x > *(volatile uint64_t *)most)
        atomicMax((unsigned long long *)(void *)most, (unsigned long long)x);
}

OZG_DEVICE uint64_t warp_most(uint64_t x)
{
    if (__all_sync(OZG_CUDA_ALL, x >> 32 == 0))
        return __reduce_max_sync(OZG_CUDA_ALL, (unsigned)x);
    for (int by = OZG_CUDA_WARP / 2; by; by /= 2) {
        const uint64_t other = __shfl_xor_sync(OZG_CUDA_ALL, x, by);

        x = other > x ? other : x;
    }
    return x;
}

/* The sum of ceilings of an entry; complex: the larger of Re and Im. */
OZG_DEVICE uint64_t ceiling_of(const ozg_cuda_raise_args *a, int64_t i, int64_t j)
{
    const int64_t at = j * a->in.ld + i, im = at + a->in.columns * a->in.ld;
    uint64_t x, y = 0;

    if (a->in.floor_bytes == 4) {
        x = ((const uint32_t *)a->in.floors)[at];
        y = a->request.complex_ ? ((const uint32_t *)a->in.floors)[im] : 0;
    } else {
        x = ((const uint64_t *)a->in.floors)[at];
        y = a->request.complex_ ? ((const uint64_t *)a->in.floors)[im] : 0;
    }
    return x > y ? x : y;
}

/* There is one part, and no index. */
OZG_KERNEL_BATCH(ozg_cuda_raise, ozg_cuda_raise_args, OZG_CUDA_RAISE_THREADS, 4)
{
    const int64_t rows = ozg_cuda_least(a.tile.rows, a.request.m - a.tile.i0);
    const int64_t columns = ozg_cuda_least(a.tile.columns, a.request.n - a.tile.j0);
    const int64_t row_pieces = ozg_cuda_pieces(rows, OZG_CUDA_RAISE_ROWS);

    for (int64_t t = blockIdx.x; t < row_pieces * ozg_cuda_pieces(columns, OZG_CUDA_RAISE_COLUMNS);
         t += gridDim.x) {
        const int64_t i = t % row_pieces * OZG_CUDA_RAISE_ROWS + threadIdx.x;
        const int64_t from = t / row_pieces * OZG_CUDA_RAISE_COLUMNS;
        const int64_t to = ozg_cuda_least(columns, from + OZG_CUDA_RAISE_COLUMNS);
        uint64_t of_row[OZG_CUDA_RAISE_ROWS / OZG_CUDA_RAISE_THREADS] = {0};

        for (int64_t j = from; j < to; j++) {
            uint64_t most = 0;

#pragma unroll
            for (int q = 0; q < OZG_CUDA_RAISE_ROWS / OZG_CUDA_RAISE_THREADS; q++)
                if (i + q * OZG_CUDA_RAISE_THREADS < rows) {
                    const uint64_t x = ceiling_of(&a, i + q * OZG_CUDA_RAISE_THREADS, j);

                    of_row[q] = x > of_row[q] ? x : of_row[q];
                    most = x > most ? x : most;
                }
            most = warp_most(most);
            if (threadIdx.x % OZG_CUDA_WARP == 0)
                raise_to(&a.b.ceiling[a.tile.j0 + j], most);
        }
#pragma unroll
        for (int q = 0; q < OZG_CUDA_RAISE_ROWS / OZG_CUDA_RAISE_THREADS; q++)
            if (i + q * OZG_CUDA_RAISE_THREADS < rows)
                raise_to(&a.a.ceiling[a.tile.i0 + i + q * OZG_CUDA_RAISE_THREADS], of_row[q]);
    }
}
