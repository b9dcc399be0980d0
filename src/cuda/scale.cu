/*
 * scale.cu - the largest |component| of every line, its exponent, and its norms.
 *
 * Each kernel reads the operands once (scale.h), collects in registers, and adds what a block has of a line
 * to that line by atomics.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cuda/batch.cuh"
#include "cuda/number.cuh"
#include "cuda/scale.h"

#define ALL_LANES 0xffffffffu

enum { WARPS = OZG_CUDA_SCALE_THREADS / 32, MOST_LINES = 128 };

/* What is known of an operand before the call. */
OZG_DEVICE void adopt(ozg_cuda_state *state, const ozg_cuda_state *prepared)
{
    state->special_rows += prepared->special_rows;
    state->special_columns += prepared->special_columns;
    state->width[0] = max(state->width[0], prepared->width[0]);
    state->inexact |= prepared->inexact;
}

OZG_KERNEL(ozg_cuda_begin, ozg_cuda_begin_args, 256, 4)
{
    const int64_t all = (int64_t)gridDim.x * blockDim.x,
                  first = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;

    const int64_t by = blockIdx.y * a.known;
    uint64_t *zero = ozg_cuda_moved(a.zero, by);

    for (int64_t i = first; i < a.words; i += all)
        zero[i] = 0;
    if (first == 0) {
        ozg_cuda_state *state = ozg_cuda_moved(a.state, by);

        *state = a.initial;
        for (int side = 0; side < 2; side++)
            if (a.prepared[side])
                adopt(state, a.prepared[side]);
    }
}

OZG_KERNEL(ozg_cuda_matrices, ozg_cuda_matrices_args, OZG_CUDA_MATRICES, 1)
{
    const int q = (int)threadIdx.x;

    if (q < a.count) {
        ozg_cuda_state *state = ozg_cuda_moved(a.state, q * a.known);

        state->a = a.matrix[q].a;
        state->b = a.matrix[q].b;
        state->c = a.matrix[q].c;
    }
}

/* ---- what is collected --------------------------------------------------------------------------- */

/* The largest magnitude, as bits of the type. at_once: vectors that are read at a time. */
template <typename B> struct scale_most {
    enum { at_once = 8 };
    B most;
};

/* Norms of ceil(|x| 2^(nu - e)): sums of a thread for an item of at most 8192 elements. */
struct scale_norms {
    enum { at_once = 4 };
    uint64_t squares;
    uint32_t sum, top;
};

/* How the numbers of a line are taken. */
typedef struct scale_line {
    int32_t from; /* OZG_CUDA_UNIT - nu + e */
    int32_t rare; /* numbers may be subnormal where that matters */
} scale_line;

template <int rare, typename B> OZG_DEVICE void take(scale_most<B> &to, B bits, const scale_line &)
{
    to.most = max(to.most, (B)(bits & ~(B)0 >> 1));
}

template <int rare, typename B> OZG_DEVICE void take(scale_norms &to, B bits, const scale_line &line)
{
    ozg_cuda_number n = ozg_cuda_number_of(bits);
    uint32_t y;

    if (rare)
        ozg_cuda_normalize(n);
    y = ozg_cuda_ceiling(n, line.from);
    to.sum += y;
    to.squares += (uint64_t)y * y;
    to.top = max(to.top, y);
}

template <typename B> OZG_DEVICE void join(scale_most<B> &to, const scale_most<B> &x)
{
    to.most = max(to.most, x.most);
}

OZG_DEVICE void join(scale_norms &to, const scale_norms &x)
{
    to.sum += x.sum;
    to.squares += x.squares;
    to.top = max(to.top, x.top);
}

template <typename B> OZG_DEVICE scale_most<B> shuffled(const scale_most<B> &x, int by)
{
    return {__shfl_xor_sync(ALL_LANES, x.most, by)};
}

OZG_DEVICE scale_norms shuffled(const scale_norms &x, int by)
{
    return {__shfl_xor_sync(ALL_LANES, x.squares, by), __shfl_xor_sync(ALL_LANES, x.sum, by),
            __shfl_xor_sync(ALL_LANES, x.top, by)};
}

OZG_DEVICE void deliver(const ozg_cuda_lines &l, int64_t line, const scale_most<uint64_t> &x)
{
    if (x.most)
        atomicMax((unsigned long long *)&l.most[line], (unsigned long long)x.most);
}

OZG_DEVICE void deliver(const ozg_cuda_lines &l, int64_t line, const scale_most<uint32_t> &x)
{
    if (x.most) /* floats order like the doubles of the same value */
        atomicMax((unsigned long long *)&l.most[line], (unsigned long long)ozg_f64_of_f32(x.most));
}

/* e of a line whose largest magnitude is known. */
OZG_DEVICE int32_t exponent_of(uint64_t most)
{
    return most == 0 || ozg_is_special(most) ? OZG_E_NONE : ozg_exponent(most);
}

OZG_DEVICE void deliver(const ozg_cuda_lines &l, int64_t line, const scale_norms &x)
{
    if (!x.sum || exponent_of(l.most[line]) == OZG_E_NONE)
        return;
    atomicAdd((unsigned long long *)&l.sum[line], (unsigned long long)x.sum);
    atomicAdd((unsigned long long *)&l.squares[line], (unsigned long long)x.squares);
    atomicMax(&l.top[line], x.top);
}

template <typename B>
OZG_DEVICE scale_line line_of(const ozg_cuda_lines &, int64_t, int, const scale_most<B> &)
{
    return {0, 0};
}

OZG_DEVICE scale_line line_of(const ozg_cuda_lines &l, int64_t line, int nu, const scale_norms &)
{
    const int32_t e = line < l.count ? exponent_of(l.most[line]) : OZG_E_NONE;

    if (e == OZG_E_NONE)
        return {OZG_CUDA_UNIT + (1 << 20), 0}; /* nothing of it is delivered */
    return {OZG_CUDA_UNIT - nu + e,
            e < (ozg_type_single(l.view.type) ? -125 : -1021)}; /* the least normal number's */
}

/* ---- loads -------------------------------------------------------------------------------------- */

template <int N> OZG_DEVICE void load(uint64_t (&x)[N], const uint64_t *from)
{
    if (N == 1) {
        x[0] = __ldg(from);
    } else {
        const ulonglong2 v = __ldg((const ulonglong2 *)from);

        x[0] = v.x;
        x[1 % N] = v.y;
    }
}

template <int N> OZG_DEVICE void load(uint32_t (&x)[N], const uint32_t *from)
{
    if (N == 1) {
        x[0] = __ldg(from);
    } else {
        const uint4 v = __ldg((const uint4 *)from);

        x[0] = v.x;
        x[1 % N] = v.y;
        x[2 % N] = v.z;
        x[3 % N] = v.w;
    }
}

/*
 * `count` vectors of N components, `stride` components from one to the next. Component j belongs to set j /
 * per of L.
 */
template <int N, int per, int L, int rare, int at_once, typename B, typename T>
OZG_DEVICE void walk_all(T (&to)[L], const B *&from, int64_t &count, int64_t stride,
                         const scale_line (&line)[L])
{
#pragma unroll 1
    for (; count >= at_once; count -= at_once) {
        B x[at_once][N];

#pragma unroll
        for (int u = 0; u < at_once; u++, from += stride)
            load<N>(x[u], from);
#pragma unroll
        for (int u = 0; u < at_once; u++)
            for (int j = 0; j < N; j++)
                take<rare>(to[j / per], x[u][j], line[j / per]);
    }
}

template <int N, int per, int L, typename B, typename T>
OZG_DEVICE void walk(T (&to)[L], const B *from, int64_t count, int64_t stride, const scale_line (&line)[L])
{
    int rare = 0;

    for (int j = 0; j < L; j++)
        rare |= line[j].rare;
    if (!rare)
        walk_all<N, per, L, 0, T::at_once>(to, from, count, stride, line);
    walk_all<N, per, L, 1, 1>(to, from, count, stride, line);
}

/* ---- items -------------------------------------------------------------------------------------- */

/* Part of a line by a warp. */
template <int parts, int N, typename B, typename T>
OZG_DEVICE void item_along(const ozg_cuda_lines &l, const ozg_cuda_scale_shape &s, int64_t item, int nu)
{
    const int lane = (int)threadIdx.x & 31;
    const int64_t line = item % s.groups, p = item / s.groups * s.chunk,
                  count = min(s.chunk, l.k - p) * parts;
    const B *x = (const B *)l.view.x + (line * l.view.line_stride + p) * parts;
    const int64_t head = min((int64_t)((-(intptr_t)x & 15) / (intptr_t)sizeof(B)), count),
                  body = (count - head) / N;
    const int64_t tail = head + body * N + lane;
    T t[1] = {};
    scale_line how[1] = {line_of(l, line, nu, t[0])};

    if (lane < head)
        take<1>(t[0], __ldg(x + lane), how[0]);
    if (tail < count)
        take<1>(t[0], __ldg(x + tail), how[0]);
    walk<N, N, 1>(t, x + head + lane * N, (body - lane + 31) / 32, 32 * N, how);
    for (int by = 1; by < 32; by *= 2)
        join(t[0], shuffled(t[0], by));
    if (lane == 0)
        deliver(l, line, t[0]);
}

/* Lines side by side by a block. */
template <int parts, int N, typename B, typename T>
OZG_DEVICE void item_across(const ozg_cuda_lines &l, const ozg_cuda_scale_shape &s, int64_t item, int nu,
                            T *shared)
{
    const int per = N < parts ? 1 : parts, L = N / per, lane = (int)threadIdx.x & 31,
              warp = (int)threadIdx.x / 32;
    const int64_t group = item % s.groups, p = item / s.groups * s.chunk + warp;
    const int64_t end = min(item / s.groups * s.chunk + s.chunk, l.k),
                  count = p < end ? (end - p + WARPS - 1) / WARPS : 0;
    const int64_t first = (group * 32 + lane) * N, components = l.count * parts, step = l.view.step * parts;
    const B *x = (const B *)l.view.x + first + p * step;
    T t[L] = {};
    scale_line how[L];

    for (int j = 0; j < L; j++)
        how[j] = line_of(l, (first + j * per) / parts, nu, t[0]);
    if (first + N <= components) {
        walk<N, per, L>(t, x, count, step * WARPS, how);
    } else {
        for (int j = 0; j < N && first + j < components; j++) {
            T one[1] = {};
            const scale_line line[1] = {line_of(l, (first + j) / parts, nu, one[0])};

            walk<1, 1, 1>(one, x + j, count, step * WARPS, line);
            for (int i = 0; i < L; i++) /* no index that is not known: t stays in registers */
                if (i == j / per)
                    join(t[i], one[0]);
        }
    }
    __syncthreads(); /* of the item before: all is read */
    for (int j = 0; j < L; j++)
        shared[(warp * 32 + lane) * L + j] = t[j];
    __syncthreads();
    for (int i = (int)threadIdx.x; i < 32 * L; i += OZG_CUDA_SCALE_THREADS) {
        const int64_t line = (group * 32 * N + i * per) / parts;
        T sum = shared[i];

        for (int w = 1; w < WARPS; w++)
            join(sum, shared[w * 32 * L + i]);
        if (line < l.count)
            deliver(l, line, sum);
    }
}

/* All items of both operands. */
template <int parts, int N, typename B, typename T>
OZG_DEVICE void collect(const ozg_cuda_scale_args &a, const ozg_cuda_scale_shape *shape, T *shared)
{
    const int nu = ozg_norm_bits(a.request.length);

    for (int64_t i = blockIdx.x; i < shape[0].blocks + shape[1].blocks; i += gridDim.x) {
        const int q = i >= shape[0].blocks;
        const ozg_cuda_lines &l = q ? a.b : a.a;
        const ozg_cuda_scale_shape &s = shape[q];
        const int64_t block = q ? i - shape[0].blocks : i, item = block * WARPS + threadIdx.x / 32;

        if (!s.along && s.wide)
            item_across<parts, N, B>(l, s, block, nu, shared);
        else if (!s.along)
            item_across<parts, 1, B>(l, s, block, nu, shared);
        else if (item < s.items)
            item_along<parts, N, B, T>(l, s, item, nu);
    }
}

template <typename M, typename N>
OZG_DEVICE void collect_type(const ozg_cuda_scale_args &a, M *of_single, N *of_double)
{
    __shared__ ozg_cuda_scale_shape shape[2];

    if (threadIdx.x % 32 == 0 && threadIdx.x < 64)
        shape[threadIdx.x / 32] = ozg_cuda_scale_shape_of(threadIdx.x ? &a.b : &a.a, 2 * (int64_t)gridDim.x);
    __syncthreads();
    if (a.request.single && a.request.complex_)
        collect<2, 4, uint32_t>(a, shape, of_single);
    else if (a.request.single)
        collect<1, 4, uint32_t>(a, shape, of_single);
    else if (a.request.complex_)
        collect<2, 2, uint64_t>(a, shape, of_double);
    else
        collect<1, 2, uint64_t>(a, shape, of_double);
}

/* ---- kernels ------------------------------------------------------------------------------------ */

OZG_KERNEL_BATCH(ozg_cuda_scale, ozg_cuda_scale_args, OZG_CUDA_SCALE_THREADS, OZG_CUDA_SCALE_RESIDENT)
{
    __shared__ uint64_t shared[WARPS * MOST_LINES];

    collect_type(a, (scale_most<uint32_t> *)shared, (scale_most<uint64_t> *)shared);
}

/* e and special of all lines, each by one thread. */
OZG_DEVICE void store_exponents(const ozg_cuda_lines &l, uint64_t *specials)
{
    for (int64_t i = (int64_t)blockIdx.x * OZG_CUDA_SCALE_THREADS + threadIdx.x; i < l.count;
         i += (int64_t)gridDim.x * OZG_CUDA_SCALE_THREADS) {
        const uint64_t most = l.most[i];

        l.e[i] = exponent_of(most);
        l.special[i] = (uint8_t)(ozg_is_nan(most) ? OZG_LINE_NAN : ozg_is_special(most) ? OZG_LINE_INF : 0);
        if (ozg_is_special(most))
            atomicAdd((unsigned long long *)specials, 1ull);
    }
}

OZG_KERNEL_BATCH(ozg_cuda_norms, ozg_cuda_scale_args, OZG_CUDA_SCALE_THREADS, OZG_CUDA_NORMS_RESIDENT)
{
    __shared__ scale_norms shared[WARPS * MOST_LINES];

    store_exponents(a.a, &a.state->special_rows);
    store_exponents(a.b, &a.state->special_columns);
    if (a.request.measured)
        collect_type(a, shared, shared);
}
