/*
 * scale.cu - the largest |component| of every line, its exponent, and its norms.
 *
 * The norms of a line want its exponent, which only all of the line tells. So each item (scale.h) gets norms with the
 * exponent of its own largest component, while its elements are in registers. Then the items of a line are joined:
 * those with the line's exponent as they are, the others once they have been read again.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cuda/batch.cuh"
#include "cuda/number.cuh"
#include "cuda/scale.h"

#define ALL_LANES 0xffffffffu

enum { WARPS = OZG_CUDA_SCALE_THREADS / 32, VECTORS = 8 /* of an item, of a thread */ };

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

/* ---- norms of numbers --------------------------------------------------------------------------- */

/* Sums of ceil(|x| 2^(nu - e)), each at most 2^15, over at most 1024 numbers. */
typedef struct scale_norms {
    uint64_t squares;
    uint32_t sum, top;
} scale_norms;

/* How the numbers of a line are taken: rare: any; plain: where subnormal ones do not matter; any by floating point. */
enum { SCALE_RARE, SCALE_PLAIN, SCALE_FP64 };

#define SCALE_TINY                                                                                           \
    (-1000) /* below this exponent doubles may be subnormal, or the power of two that is wanted none */

/* e of the largest magnitude. */
OZG_DEVICE int32_t exponent_of(uint64_t most)
{
    return most == 0 || ozg_is_special(most) ? OZG_E_NONE : ozg_exponent(most);
}

OZG_DEVICE int how_of(int32_t e, int single, int fp64)
{
    return !single && ozg_fast_fp64(fp64)     ? SCALE_FP64
           : e < (single ? -125 : SCALE_TINY) ? SCALE_RARE
                                              : SCALE_PLAIN;
}

/* What a line of exponent e wants its numbers multiplied by: up first, which is exact, then power; or `from`. */
typedef struct scale_by {
    double up, power;
    int32_t from;
} scale_by;

template <int how> OZG_DEVICE scale_by scale_by_of(int nu, int32_t e)
{
    const int32_t up = how == SCALE_FP64 && e < SCALE_TINY ? 600 : 0;
    scale_by by = {1, 1, OZG_CUDA_UNIT - nu + e};

    if (how == SCALE_FP64) {
        by.up = __hiloint2double((up + 1023) << 20, 0);
        by.power = __hiloint2double((nu - e - up + 1023) << 20, 0);
    }
    return by;
}

template <int how> OZG_DEVICE uint32_t ceiling_of(ozg_cuda_number n, const scale_by &by)
{
    if (how == SCALE_RARE)
        ozg_cuda_normalize(n);
    return ozg_cuda_ceiling(n, by.from);
}

template <int how> OZG_DEVICE uint32_t ceiling_of(uint32_t bits, const scale_by &by)
{
    return ceiling_of<how>(ozg_cuda_number_of(bits), by);
}

/* By floating point: RU(|x| 2^(nu - e) + 2^52) has no digits behind the point, so its low word is the ceiling. */
template <int how> OZG_DEVICE uint32_t ceiling_of(uint64_t bits, const scale_by &by)
{
    if (how == SCALE_FP64) {
        const double x = __dmul_rn(fabs(__longlong_as_double((long long)bits)), by.up);

        return (uint32_t)__double2loint(__fma_ru(x, by.power, 0x1p52));
    }
    return ceiling_of<how>(ozg_cuda_number_of(bits), by);
}

OZG_DEVICE void add(scale_norms &to, uint32_t y)
{
    to.sum += y;
    to.squares += (uint64_t)y * y;
    to.top = max(to.top, y);
}

OZG_DEVICE void join(scale_norms &to, const scale_norms &x)
{
    to.sum += x.sum;
    to.squares += x.squares;
    to.top = max(to.top, x.top);
}

/* Numbers of one line, of exponent e, not OZG_E_NONE. */
template <int how, int N, typename B>
OZG_DEVICE void add_all(scale_norms &to, const B (&x)[N], int nu, int32_t e)
{
    const scale_by by = scale_by_of<how>(nu, e);

#pragma unroll
    for (int i = 0; i < N; i++)
        add(to, ceiling_of<how>(x[i], by));
}

template <int N, typename B>
OZG_DEVICE void add_numbers(scale_norms &to, const B (&x)[N], int nu, int32_t e, int fp64)
{
    const int how = how_of(e, sizeof(B) == 4, fp64);

    if (e == OZG_E_NONE)
        return;
    if (how == SCALE_FP64)
        add_all<SCALE_FP64>(to, x, nu, e);
    else if (how == SCALE_PLAIN)
        add_all<SCALE_PLAIN>(to, x, nu, e);
    else
        add_all<SCALE_RARE>(to, x, nu, e);
}

OZG_DEVICE uint64_t magnitude(uint64_t bits)
{
    return bits & ~OZG_F64_SIGN;
}

/* As a double: floats order like the doubles of the same value. */
OZG_DEVICE uint32_t magnitude(uint32_t bits)
{
    return bits & 0x7fffffff;
}

OZG_DEVICE uint64_t as_double(uint64_t bits)
{
    return bits;
}

OZG_DEVICE uint64_t as_double(uint32_t bits)
{
    return ozg_f64_of_f32(bits);
}

template <int N, typename B> OZG_DEVICE B largest(const B (&x)[N])
{
    B most = 0;

#pragma unroll
    for (int i = 0; i < N; i++)
        most = max(most, magnitude(x[i]));
    return most;
}

/* ---- sums of a warp ----------------------------------------------------------------------------- */

OZG_DEVICE uint32_t largest_of_warp(uint32_t x)
{
    return __reduce_max_sync(ALL_LANES, x);
}

OZG_DEVICE uint64_t largest_of_warp(uint64_t x)
{
    const uint32_t hi = __reduce_max_sync(ALL_LANES, (uint32_t)(x >> 32)),
                   lo = __reduce_max_sync(ALL_LANES, x >> 32 == hi ? (uint32_t)x : 0);

    return (uint64_t)hi << 32 | lo;
}

/* Of each lane at most 34 numbers: squares of at most 2^36, so that neither half of the sum overflows. */
OZG_DEVICE scale_norms sum_of_warp(const scale_norms &n)
{
    scale_norms sum;

    sum.squares = __reduce_add_sync(ALL_LANES, (uint32_t)n.squares & 0xffff) +
                  ((uint64_t)__reduce_add_sync(ALL_LANES, (uint32_t)(n.squares >> 16)) << 16);
    sum.sum = __reduce_add_sync(ALL_LANES, n.sum);
    sum.top = __reduce_max_sync(ALL_LANES, n.top);
    return sum;
}

/* ---- loads -------------------------------------------------------------------------------------- */

template <int N> OZG_DEVICE void load(uint64_t *x, const uint64_t *from)
{
    if (N == 1) {
        x[0] = __ldg(from);
    } else {
        const ulonglong2 v = __ldg((const ulonglong2 *)from);

        x[0] = v.x;
        x[N - 1] = v.y;
    }
}

template <int N> OZG_DEVICE void load(uint32_t *x, const uint32_t *from)
{
    if (N == 1) {
        x[0] = __ldg(from);
    } else {
        const uint4 v = __ldg((const uint4 *)from);

        x[0] = v.x;
        x[N > 1 ? 1 : 0] = v.y;
        x[N > 1 ? 2 : 0] = v.z;
        x[N - 1] = v.w;
    }
}

/* ---- items -------------------------------------------------------------------------------------- */

/* What an item needs of the call. */
typedef struct scale_call {
    int32_t nu, fp64, measured;
} scale_call;

OZG_DEVICE void store_chunk(ozg_cuda_chunk *to, uint64_t most, const scale_norms &n)
{
    to->most = most;
    to->squares = n.squares;
    to->sum = n.sum;
    to->top = n.top;
}

/* A part of a line by a warp. A line of k elements begins anywhere: what is before and behind its vectors is extra. */
template <int parts, int N, typename B>
OZG_DEVICE void item_along(const ozg_cuda_lines &l, const ozg_cuda_scale_shape &s, uint32_t item,
                           const scale_call &call, ozg_cuda_chunk *out)
{
    enum { CHUNK = 32 * VECTORS * N / parts };
    const int lane = (int)threadIdx.x & 31;
    const int64_t line = item % s.groups, chunk = item / s.groups;
    const int64_t count = min((int64_t)CHUNK, l.k - chunk * CHUNK) * parts;
    const B *from = (const B *)l.view.x + (line * l.view.line_stride + chunk * CHUNK) * parts;
    const int64_t head = min((int64_t)((-(intptr_t)from & 15) / (intptr_t)sizeof(B)), count),
                  body = (count - head) / N, tail = head + body * N + lane;
    B x[VECTORS * N + 2], most;
    scale_norms n = {0, 0, 0};

#pragma unroll
    for (int i = 0; i < VECTORS * N + 2; i++)
        x[i] = 0;
#pragma unroll
    for (int u = 0; u < VECTORS; u++)
        if (lane + 32 * u < body)
            load<N>(x + u * N, from + head + (lane + 32 * u) * N);
    if (lane < head)
        x[VECTORS * N] = __ldg(from + lane);
    if (tail < count)
        x[VECTORS * N + 1] = __ldg(from + tail);
    most = largest_of_warp(largest(x));
    if (call.measured) {
        add_numbers(n, x, call.nu, exponent_of(as_double(most)), call.fp64);
        n = sum_of_warp(n);
    }
    if (lane == 0)
        store_chunk(out + chunk * l.count + line, as_double(most), n);
}

/*
 * What the warps of a block have of the components side by side, 32 N each. The places of both do not depend on N,
 * which may change from item to item.
 */
typedef struct scale_shared {
    union {
        uint32_t of_floats[WARPS * 128];
        uint64_t of_doubles[WARPS * 64];
    } most;
    scale_norms norms[WARPS * 128];
} scale_shared;

OZG_DEVICE uint32_t *most_in(scale_shared *shared, uint32_t)
{
    return shared->most.of_floats;
}

OZG_DEVICE uint64_t *most_in(scale_shared *shared, uint64_t)
{
    return shared->most.of_doubles;
}

/*
 * Lines side by side by a block. Each thread has N components of VECTORS elements, x[j] those of component j;
 * `parts` components in turn are of one line, of which N < parts is half.
 */
template <int parts, int N, typename B>
OZG_DEVICE void item_across(const ozg_cuda_lines &l, const ozg_cuda_scale_shape &s, uint32_t item,
                            const scale_call &call, ozg_cuda_chunk *out, scale_shared *shared)
{
    B *mosts = most_in(shared, (B)0);
    const int lane = (int)threadIdx.x & 31, warp = (int)threadIdx.x / 32;
    const int64_t group = item % s.groups, chunk = item / s.groups, first = group * 32 * N,
                  components = l.count * parts - first, step = l.view.step * parts;
    const B *from = (const B *)l.view.x + first + lane * N;
    const int64_t p0 = chunk * WARPS * VECTORS + warp;
    const int own =
        (int)min(max(components - lane * N, (int64_t)0), (int64_t)N); /* components of the thread */
    B x[N][VECTORS];

#pragma unroll
    for (int u = 0; u < VECTORS; u++) {
        const int64_t p = p0 + WARPS * u;
        B v[N];

#pragma unroll
        for (int j = 0; j < N; j++)
            v[j] = 0;
        if (p < l.k && own == N) {
            load<N>(v, from + p * step);
        } else if (p < l.k) {
#pragma unroll
            for (int j = 0; j < N; j++)
                if (j < own)
                    v[j] = __ldg(from + p * step + j);
        }
#pragma unroll
        for (int j = 0; j < N; j++)
            x[j][u] = v[j];
    }
#pragma unroll
    for (int j = 0; j < N; j++)
        mosts[(warp * 32 + lane) * N + j] = largest(x[j]);
    __syncthreads(); /* also: norms of the item before are read */
    B own_most = 0;  /* of component number `warp` */

#pragma unroll
    for (int j = 0; j < N; j++) {
        const int at = (lane * N + j) / parts * parts;
        scale_norms n = {0, 0, 0};
        B most = 0;

        for (int w = 0; w < WARPS; w++)
            for (int part = 0; part < parts; part++)
                most = max(most, mosts[w * 32 * N + at + part]);
        if (call.measured)
            add_numbers(n, x[j], call.nu, exponent_of(as_double(most)), call.fp64);
        shared->norms[(warp * 32 + lane) * N + j] = n;
        own_most = j == warp ? most : own_most;
    }
    __syncthreads(); /* also: most is read */
    const int at = lane * N + warp;

    if (warp < N && at % parts == 0 && at < components) {
        scale_norms sum = {0, 0, 0};

        for (int w = 0; w < WARPS; w++)
            for (int part = 0; part < parts; part++)
                join(sum, shared->norms[w * 32 * N + at + part]);
        store_chunk(out + chunk * l.count + (first + at) / parts, as_double(own_most), sum);
    }
}

/* All items of both operands. */
template <int parts, int N, typename B>
OZG_DEVICE void collect(const ozg_cuda_scale_args &a, scale_shared *shared)
{
    const scale_call call = {ozg_norm_bits(a.request.length), a.fp64, a.request.measured};
    const ozg_cuda_scale_shape shape_a = ozg_cuda_scale_shape_of(&a.a),
                               shape_b = ozg_cuda_scale_shape_of(&a.b);

    for (int64_t i = blockIdx.x; i < shape_a.blocks + shape_b.blocks; i += gridDim.x) {
        const int q = i >= shape_a.blocks;
        const ozg_cuda_lines &l = q ? a.b : a.a;
        const ozg_cuda_scale_shape s = q ? shape_b : shape_a;
        const uint32_t block = (uint32_t)(q ? i - shape_a.blocks : i),
                       item = block * WARPS + threadIdx.x / 32;

        if (!s.along && s.wide)
            item_across<parts, N, B>(l, s, block, call, a.chunks[q], shared);
        else if (!s.along)
            item_across<parts, 1, B>(l, s, block, call, a.chunks[q], shared);
        else if (item < s.groups * s.chunks)
            item_along<parts, N, B>(l, s, item, call, a.chunks[q]);
    }
}

OZG_KERNEL_BATCH(ozg_cuda_scale, ozg_cuda_scale_args, OZG_CUDA_SCALE_THREADS, OZG_CUDA_SCALE_RESIDENT)
{
    __shared__ scale_shared shared;

    if (a.request.single && a.request.complex_)
        collect<2, 4, uint32_t>(a, &shared);
    else if (a.request.single)
        collect<1, 4, uint32_t>(a, &shared);
    else if (a.request.complex_)
        collect<2, 2, uint64_t>(a, &shared);
    else
        collect<1, 2, uint64_t>(a, &shared);
}

/* ---- lines -------------------------------------------------------------------------------------- */

/* Norms of a line. */
typedef struct line_norms {
    uint64_t sum, squares;
    uint32_t top;
} line_norms;

template <typename T> OZG_DEVICE void join(line_norms &to, const T &x)
{
    to.sum += x.sum;
    to.squares += x.squares;
    to.top = max(to.top, x.top);
}

/* An operand, as the warps of a block see it: a lane has a line. */
typedef struct norms_work {
    const ozg_cuda_lines *l;
    const ozg_cuda_chunk *chunks;
    int64_t count; /* chunks of a line */
    int32_t bits;  /* log2 of the elements of a chunk */
    int32_t nu, fp64;
} norms_work;

/* Elements of a chunk. */
OZG_DEVICE int64_t elements_of(const norms_work &v, int64_t chunk)
{
    return min((int64_t)1 << v.bits, v.l->k - (chunk << v.bits));
}

/* A chunk of a lane's own line again, lines being neighbours in memory. */
template <int parts, typename B>
OZG_DEVICE scale_norms again_across(const norms_work &v, int64_t line, int64_t chunk, int32_t e)
{
    enum { AT_ONCE = 4 };
    const int64_t step = v.l->view.step * parts, elements = elements_of(v, chunk);
    const B *from = (const B *)v.l->view.x + line * v.l->view.line_stride * parts + (chunk << v.bits) * step;
    scale_norms n = {0, 0, 0};

#pragma unroll 1
    for (int64_t p = 0; p < elements; p += AT_ONCE) {
        B x[AT_ONCE * parts] = {};

#pragma unroll
        for (int u = 0; u < AT_ONCE; u++)
            for (int part = 0; part < parts; part++)
                if (p + u < elements)
                    x[u * parts + part] = __ldg(from + (p + u) * step + part);
        add_numbers(n, x, v.nu, e, v.fp64);
    }
    return n;
}

/* A chunk of one line again, by all lanes. */
template <int parts, typename B>
OZG_DEVICE scale_norms again_together(const norms_work &v, int64_t line, int64_t chunk, int32_t e)
{
    enum { AT_ONCE = 8 };
    const int64_t numbers = elements_of(v, chunk) * parts, step = v.l->view.step * parts;
    const B *from = (const B *)v.l->view.x + line * v.l->view.line_stride * parts + (chunk << v.bits) * step;
    scale_norms n = {0, 0, 0};

#pragma unroll 1
    for (int64_t at = threadIdx.x & 31; at < numbers; at += 32 * AT_ONCE) {
        B x[AT_ONCE] = {};

#pragma unroll
        for (int u = 0; u < AT_ONCE; u++)
            if (at + 32 * u < numbers)
                x[u] = __ldg(from + (at + 32 * u) / parts * step + (at + 32 * u) % parts);
        add_numbers(n, x, v.nu, e, v.fp64);
    }
    return sum_of_warp(n);
}

/*
 * Every eighth chunk of the lanes' lines, of exponents e. Where lines are neighbours in memory and many want a chunk
 * again, each lane takes its own; a few are taken by all lanes one after the other, which is sooner.
 */
template <int parts, typename B> OZG_DEVICE line_norms norms_of(const norms_work &v, int64_t line, int32_t e)
{
    enum { MANY = 8 };
    const int exists = e != OZG_E_NONE;
    line_norms sum = {0, 0, 0};

    for (int64_t c = threadIdx.x / 32; c < v.count; c += WARPS) {
        const ozg_cuda_chunk chunk = exists ? v.chunks[c * v.l->count + line] : ozg_cuda_chunk{};
        const int again = exists && chunk.most && exponent_of(chunk.most) != e;

        if (exists && !again)
            join(sum, chunk);
        uint32_t lanes = __ballot_sync(ALL_LANES, again);

        if (v.l->view.step != 1 && __popc(lanes) >= MANY) {
            if (again)
                join(sum, again_across<parts, B>(v, line, c, e));
            continue;
        }
        for (; lanes; lanes &= lanes - 1) {
            const int lane = __ffs((int)lanes) - 1;
            const scale_norms n = again_together<parts, B>(v, __shfl_sync(ALL_LANES, line, lane), c,
                                                           __shfl_sync(ALL_LANES, e, lane));

            if ((int)(threadIdx.x & 31) == lane)
                join(sum, n);
        }
    }
    return sum;
}

/* What the warps of a block have of its lines. */
typedef struct norms_shared {
    uint64_t most[WARPS][32];
    line_norms norms[WARPS][32];
} norms_shared;

/* The largest component of each lane's line, lines beyond the last: 0. */
OZG_DEVICE uint64_t most_of(const norms_work &v, int64_t line, norms_shared *shared)
{
    const int lane = (int)threadIdx.x & 31;
    uint64_t most = 0;

    for (int64_t c = threadIdx.x / 32; c < v.count && line < v.l->count; c += WARPS)
        most = max(most, v.chunks[c * v.l->count + line].most);
    __syncthreads(); /* of the lines before: all is read */
    shared->most[threadIdx.x / 32][lane] = most;
    __syncthreads();
    for (int w = 0; w < WARPS; w++)
        most = max(most, shared->most[w][lane]);
    return most;
}

OZG_DEVICE void store_line(const ozg_cuda_lines &l, int64_t line, uint64_t most, uint64_t *specials)
{
    l.most[line] = most;
    l.e[line] = exponent_of(most);
    l.special[line] = (uint8_t)(ozg_is_nan(most) ? OZG_LINE_NAN : ozg_is_special(most) ? OZG_LINE_INF : 0);
    if (ozg_is_special(most))
        atomicAdd((unsigned long long *)specials, 1ull);
}

/* The lines of a block, a lane each. */
template <int parts, typename B>
OZG_DEVICE void finish_lines(const ozg_cuda_scale_args &a, const norms_work &v, int64_t block,
                             uint64_t *specials, norms_shared *shared)
{
    const int lane = (int)threadIdx.x & 31, warp = (int)threadIdx.x / 32;
    const int64_t line = block * OZG_CUDA_NORMS_LINES + lane;
    const uint64_t most = most_of(v, line, shared);

    if (warp == 0 && line < v.l->count)
        store_line(*v.l, line, most, specials);
    if (!a.request.measured)
        return;
    shared->norms[warp][lane] = norms_of<parts, B>(v, line, exponent_of(most));
    __syncthreads();
    if (warp == 0 && line < v.l->count) {
        line_norms sum = shared->norms[0][lane];

        for (int w = 1; w < WARPS; w++)
            join(sum, shared->norms[w][lane]);
        v.l->sum[line] = sum.sum;
        v.l->squares[line] = sum.squares;
        v.l->top[line] = sum.top;
    }
}

template <int parts, typename B>
OZG_DEVICE void finish_all(const ozg_cuda_scale_args &a, norms_shared *shared)
{
    const int64_t blocks_a = ozg_cuda_shares(a.a.count, 5), blocks_b = ozg_cuda_shares(a.b.count, 5);

    static_assert(OZG_CUDA_NORMS_LINES == 32, "2^5");

    for (int64_t i = blockIdx.x; i < blocks_a + blocks_b; i += gridDim.x) {
        const int q = i >= blocks_a;
        const ozg_cuda_lines *l = q ? &a.b : &a.a;
        const int bits = ozg_cuda_scale_chunk_bits(l->view.step == 1, l->view.type);
        const norms_work v = {
            l, a.chunks[q], ozg_cuda_shares(l->k, bits), bits, ozg_norm_bits(a.request.length), a.fp64};

        finish_lines<parts, B>(a, v, q ? i - blocks_a : i,
                               q ? &a.state->special_columns : &a.state->special_rows, shared);
    }
}

OZG_KERNEL_BATCH(ozg_cuda_norms, ozg_cuda_scale_args, OZG_CUDA_SCALE_THREADS, OZG_CUDA_SCALE_RESIDENT)
{
    __shared__ norms_shared shared;

    if (a.request.single && a.request.complex_)
        finish_all<2, uint32_t>(a, &shared);
    else if (a.request.single)
        finish_all<1, uint32_t>(a, &shared);
    else if (a.request.complex_)
        finish_all<2, uint64_t>(a, &shared);
    else
        finish_all<1, uint64_t>(a, &shared);
}
