/*
 * repair.cu - the entries whose test failed, exactly, rounded once. window.cuh has the sums.
 *
 * A warp takes entries in batches of up to 32 components (a lane a component):
 *     1  all lanes list the places of one entry after the other
 *     2  entries with few places: each lane computes its own component
 *     3  the other entries, one after the other: all lanes together, each in a window of its own
 *     4  each lane rounds its own component
 *
 * SPDX-License-Identifier: MIT
 */
#include "cuda/batch.cuh"
#include "cuda/crt.cuh"
#include "cuda/fixup.h"
#include "cuda/table.h"
#include "cuda/two.cuh"
#include "cuda/window.cuh"

#define PLACES 32 /* of an entry that a lane computes alone */

/* Of a warp. */
typedef struct repair_memory {
    int64_t window[OZG_CUDA_WINDOW][OZG_CUDA_WARP]; /* a column of each lane */
    union {
        uint32_t place[OZG_CUDA_WARP][PLACES + 1]; /* of each entry of the batch */
        struct {
            ozg_exact ab[2];
            uint64_t work[OZG_EXACT_WORK];
        } whole;
    } u;
} repair_memory;

/* A lane and its entry. */
typedef struct lane_state {
    int lane, slot, part; /* part: Re, Im */
    int active, few;      /* few: AB from c^ and the places */
    int64_t row, column;  /* stored lines */
    int32_t bottom;       /* of its window */
    uint32_t places;
    ozg_int z; /* AB = z 2^x; c^ at first */
    int32_t x;
} lane_state;

/* ---- step 1: places ----------------------------------------------------------------------------- */

/* Word w of the places where an element of either line was rounded. */
OZG_DEVICE uint64_t places_word(const ozg_cuda_reconstruct_args *a, int64_t row, int64_t column, int64_t w)
{
    return a->a.places[row * a->a.words + w] | a->b.places[column * a->b.words + w];
}

/*
 * The number of places of an entry; the first PLACES of them to list. first: the lane's word of the first
 * LANES. All lanes.
 */
OZG_DEVICE uint32_t list_places(const ozg_cuda_reconstruct_args *a, int64_t row, int64_t column,
                                uint64_t first, int lane, uint32_t *list)
{
    const uint32_t before = (1u << lane) - 1;
    uint32_t count = 0, more = 0, any;

    for (int64_t w = lane; w - lane < a->a.words; w += OZG_CUDA_WARP) {
        uint64_t bits = w == lane ? first : w < a->a.words ? places_word(a, row, column, w) : 0;

        while (count <= PLACES && (any = __ballot_sync(OZG_CUDA_ALL, bits != 0)) != 0) {
            const uint32_t at = count + (uint32_t)ozg_bit_count(any & before);

            if (bits && at < PLACES)
                list[at] = (uint32_t)(64 * w + ozg_bit_length(bits & (~bits + 1)) - 1);
            bits &= bits - 1;
            count += (uint32_t)ozg_bit_count(any);
        }
        more += (uint32_t)ozg_bit_count(bits);
    }
    return count > PLACES ? count + __reduce_add_sync(OZG_CUDA_ALL, more) : count;
}

/* Lists the places of all entries of the batch, and decides how each is computed. */
OZG_DEVICE void list_all(const ozg_cuda_reconstruct_args *a, repair_memory *memory, lane_state *me, int count)
{
    const int complex_ = a->request.complex_, lane = me->lane;
    int64_t row = __shfl_sync(OZG_CUDA_ALL, me->row, 0), column = __shfl_sync(OZG_CUDA_ALL, me->column, 0);
    uint64_t first = lane < a->a.words ? places_word(a, row, column, lane) : 0;

    me->places = 0;
    for (int slot = 0; slot < count; slot++) {
        const int next = (slot + 1 < count ? slot + 1 : slot) << complex_;
        const int64_t next_row = __shfl_sync(OZG_CUDA_ALL, me->row, next),
                      next_column = __shfl_sync(OZG_CUDA_ALL, me->column, next);
        const uint64_t ahead = lane < a->a.words ? places_word(a, next_row, next_column, lane) : 0;
        const uint32_t places = list_places(a, row, column, first, lane, memory->u.place[slot]);

        me->places = me->slot == slot ? places : me->places;
        row = next_row;
        column = next_column;
        first = ahead;
    }
    me->few = 2 * (int64_t)me->places < a->request.k; /* few_places() of src/cpu/repair.c */
    __syncwarp();
}

/* ---- c^ ----------------------------------------------------------------------------------------- */

/* ozg_cuda_crt_entry() for `words` words, in registers. */
template <int words>
OZG_DEVICE void crt(const ozg_cuda_table *t, const ozg_cuda_residues *in, int part, int complex_, int64_t at,
                    uint64_t *z)
{
    const ozg_cuda_weights *w = &t->weights;
    int sum[2 + 4 * words], carry = 0, q;

#pragma unroll
    for (int d = 0; d < 2 + 4 * words; d++)
        sum[d] = 0;
    for (int l = 0; l < t->nmod; l++) {
        const int r = ozg_cuda_crt_residue(t, in, l, part, complex_, at);

#pragma unroll
        for (int d = 0; d < 2 + 4 * words; d++)
            sum[d] += r * ozg_cuda_crt_digit(w, part, d, l);
    }
    q = (sum[0] + (sum[1] >> 16) + 32768) >> 16;
#pragma unroll
    for (int d = 0; d < 4 * words; d++) {
        carry += sum[2 + d] + q * w->product[d];
        z[d / 4] = (d % 4 ? z[d / 4] : 0) | (uint64_t)(carry & 0xffff) << 16 * (d % 4);
        carry >>= 16;
    }
}

/* c^ of the lane's component at place (i, j) of the tile. */
OZG_DEVICE void set_crt(const ozg_cuda_reconstruct_args *a, const ozg_cuda_table *t, lane_state *me,
                        int64_t i, int64_t j)
{
    const int complex_ = a->request.complex_, n = t->nword;
    uint64_t w[OZG_INT_WORDS] = {0}, flip, add;

    static_assert(OZG_INT_WORDS == OZG_CRT_WORDS, "c^ is an ozg_int");
    if (n == 1)
        crt<1>(t, &a->in, me->part, complex_, j * a->in.ld + i, w);
    else if (n == 2)
        crt<2>(t, &a->in, me->part, complex_, j * a->in.ld + i, w);
    else if (n == 3)
        crt<3>(t, &a->in, me->part, complex_, j * a->in.ld + i, w);
    else
        ozg_cuda_crt_entry(t, &a->in, me->part, complex_, i, j, w);
    me->z.n = n;
    me->z.neg = (int)(w[n - 1] >> 63);
    flip = me->z.neg ? UINT64_MAX : 0;
    add = (uint64_t)me->z.neg;
#pragma unroll
    for (int q = 0; q < OZG_INT_WORDS; q++) {
        me->z.w[q] = q < me->z.n ? (w[q] ^ flip) + add : 0;
        add &= me->z.w[q] == 0;
    }
    me->x = -(a->a.d[me->row] + a->b.d[me->column]);
}

/* ---- step 2: a lane alone ----------------------------------------------------------------------- */

/* AB of the lane's component by the places in list. 0: it does not fit the window, and nothing has happened.
 */
OZG_DEVICE int add_listed(const ozg_cuda_reconstruct_args *a, repair_memory *memory, lane_state *me,
                          int wanted)
{
    const int complex_ = a->request.complex_;
    const uint32_t *list = memory->u.place[me->slot];
    ozg_cuda_sink s = {&memory->window[0][me->lane], NULL, me->bottom, 0};
    int fits;

    if (wanted) {
        ozg_cuda_pair now = {{0, 0}, {0, 0}, 0, 0}, next = now;

        ozg_cuda_window_clear(s.window);
        ozg_cuda_sink_add_int(&s, &me->z, me->x);
        if (me->places)
            now = ozg_cuda_pair_load(a, me->row, me->column, list[0]);
        for (uint32_t q = 0; q < me->places; q++) {
            if (q + 1 < me->places)
                next = ozg_cuda_pair_load(a, me->row, me->column, list[q + 1]);
            ozg_cuda_pair_add(&s, &now, complex_, me->part, 0);
            now = next;
        }
    }
    fits = wanted && !s.below;
    if (complex_)
        fits &= __shfl_xor_sync(OZG_CUDA_ALL, fits, 1);
    if (fits) {
        ozg_cuda_window_int(s.window, &me->z);
        me->x = s.bottom;
    }
    return fits;
}

/* ---- step 3: all lanes together ----------------------------------------------------------------- */

#define CHUNK                                                                                                \
    (1 << 22) /* additions of a lane to digits of ozg_exact before they are carried: 32 2 2^22 2^32 < 2^63 */

OZG_DEVICE void clear_whole(repair_memory *memory, int lane)
{
    for (int part = 0; part < 2; part++) {
        for (int q = lane; q < OZG_EXACT_DIGITS; q += OZG_CUDA_WARP)
            memory->u.whole.ab[part].digit[q] = 0;
        if (lane == 0) {
            memory->u.whole.ab[part].added = 0;
            memory->u.whole.ab[part].low = 0; /* not known: no short cuts */
            memory->u.whole.ab[part].high = OZG_EXACT_DIGITS - 1;
        }
    }
    __syncwarp();
}

/* Adds up the windows of all lanes, component by component, into the columns of lanes 0 and 1 (Im). */
OZG_DEVICE void join_windows(repair_memory *memory, int lane, int complex_)
{
    const int part = lane / OZG_CUDA_WINDOW, digit = lane % OZG_CUDA_WINDOW, mine = part <= complex_;
    int64_t sum = 0;

    __syncwarp();
    for (int q = 0; mine && q < OZG_CUDA_WARP >> complex_;
         q++) /* each lane begins elsewhere: in another bank */
        sum += memory->window[digit][(((q + digit) << complex_) & (OZG_CUDA_WARP - 1)) + part];
    __syncwarp();
    if (mine)
        memory->window[digit][part] = sum;
    __syncwarp();
}

/* The components in the first columns and in ab, rounded and stored. Lane 0. */
OZG_DEVICE_CALL void store_whole(const ozg_cuda_reconstruct_args *a, repair_memory *memory, int64_t row,
                                 int64_t column, int32_t bottom)
{
    ozg_exact *ab = memory->u.whole.ab;
    const int64_t index = row + column * a->ldc;
    uint64_t old[2], bits[2];

    for (int part = 0; part <= a->request.complex_; part++)
        for (int q = 0; q < OZG_CUDA_WINDOW; q++)
            ab[part].digit[(bottom - OZG_EXACT_LOWEST) / 32 + q] += memory->window[q][part];
    ozg_entry_old(&a->scalars, a->c, index, old);
    for (int part = 0; part <= a->request.complex_; part++)
        bits[part] = ozg_exact_component_in(memory->u.whole.work, &a->scalars, part, ab, old);
    ozg_entry_store(&a->scalars, a->c, index, bits);
}

/* The products of all elements [from, to), or what the split changed at places in words [from, to). */
OZG_DEVICE void add_range(const ozg_cuda_reconstruct_args *a, ozg_cuda_sink *s, const lane_state *me,
                          int64_t row, int64_t column, int64_t from, int64_t to, int few)
{
    const int complex_ = a->request.complex_, step = OZG_CUDA_WARP >> complex_;

    if (few) {
        for (int64_t w = from + me->slot; w < to; w += step)
            for (uint64_t bits = places_word(a, row, column, w); bits; bits &= bits - 1) {
                const int64_t p = 64 * w + ozg_bit_length(bits & (~bits + 1)) - 1;
                const ozg_cuda_pair z = ozg_cuda_pair_load(a, row, column, p);

                ozg_cuda_pair_add(s, &z, complex_, me->part, 0);
            }
    } else if (from + me->slot < to) {
        ozg_cuda_pair now = ozg_cuda_pair_load(a, row, column, from + me->slot), next = now;

        for (int64_t p = from + me->slot; p < to; p += step) {
            if (p + step < to)
                next = ozg_cuda_pair_load(a, row, column, p + step);
            ozg_cuda_pair_add(s, &now, complex_, me->part, 1);
            now = next;
        }
    }
}

/* The entry of one slot, by all lanes. 1: it is stored. 0: its lanes have AB. */
OZG_DEVICE_CALL int repair_together(const ozg_cuda_reconstruct_args *a, repair_memory *memory, lane_state *me,
                                    int slot)
{
    const int complex_ = a->request.complex_, from = slot << complex_;
    const int64_t row = __shfl_sync(OZG_CUDA_ALL, me->row, from),
                  column = __shfl_sync(OZG_CUDA_ALL, me->column, from);
    const int few = __shfl_sync(OZG_CUDA_ALL, me->few, from), mine = me->slot == slot;
    const int64_t end = few ? a->a.words : a->request.k,
                  chunk = (few ? CHUNK / 64 : CHUNK) * (int64_t)OZG_CUDA_WARP;
    ozg_cuda_sink s = {&memory->window[0][me->lane], &memory->u.whole.ab[me->part],
                       __shfl_sync(OZG_CUDA_ALL, me->bottom, from), 0};
    int whole;

    ozg_cuda_window_clear(s.window);
    if (few && mine)
        ozg_cuda_sink_add_int(&s, &me->z, me->x);
    for (int64_t p = 0; p < end; p += chunk) {
        add_range(a, &s, me, row, column, p, ozg_cuda_least(end, p + chunk), few);
        if (p + chunk < end) {
            __syncwarp();
            if (me->lane <= complex_)
                ozg_exact_carry(&memory->u.whole.ab[me->lane]);
            __syncwarp();
        }
    }
    ozg_cuda_window_carry(s.window);
    whole = __any_sync(OZG_CUDA_ALL, s.below);
    join_windows(memory, me->lane, complex_);
    if (whole) {
        if (me->lane == 0)
            store_whole(a, memory, row, column, s.bottom);
        __syncwarp();
        clear_whole(memory, me->lane);
    } else if (mine) {
        ozg_cuda_window_int(&memory->window[0][me->part], &me->z);
        me->x = s.bottom;
    }
    __syncwarp();
    return whole;
}

/* ---- step 4: rounding --------------------------------------------------------------------------- */

/* Components do not mix, and nothing is an Inf or NaN. */
OZG_DEVICE int is_usual(const ozg_scalars *s, const uint64_t old[2])
{
    const int reads = !ozg_scalar_is_zero(s->beta[0]);

    if (s->alpha[0].kind != OZG_FINITE || s->beta[0].kind != OZG_FINITE ||
        (reads && (ozg_is_special(old[0]) || ozg_is_special(old[1]))))
        return 0;
    return !s->complex_ || (ozg_scalar_is_zero(s->alpha[1]) && ozg_scalar_is_zero(s->beta[1]));
}

OZG_DEVICE uint64_t round_usual(const ozg_scalars *s, const lane_state *me, uint64_t old)
{
    const ozg_term x = ozg_term_scaled(s->alpha[0].fp, &me->z, me->x);
    ozg_term y;

    if (ozg_scalar_is_zero(s->beta[0]))
        return ozg_round_words(s->single, x.neg, x.w, x.n, x.exp);
    y = ozg_term_product(s->beta[0].fp, ozg_fp_of_bits(old));
    return ozg_cuda_round_two(s->single, &x, &y);
}

/* RN of all components of which AB is known, pending ones of all lanes one after the other. */
OZG_DEVICE_CALL uint64_t round_general(const ozg_cuda_reconstruct_args *a, repair_memory *memory,
                                       const lane_state *me, const uint64_t old[2], uint32_t pending)
{
    ozg_value v[2] = {{OZG_FINITE, 0, me->z, me->x}, {OZG_FINITE, 0, me->z, me->x}};
    uint64_t bits = 0;

    if (a->request.complex_) {
        ozg_value *other = &v[!me->part];

        for (int q = 0; q < OZG_INT_WORDS; q++)
            other->z.w[q] = __shfl_xor_sync(OZG_CUDA_ALL, me->z.w[q], 1);
        other->z.n = __shfl_xor_sync(OZG_CUDA_ALL, me->z.n, 1);
        other->z.neg = __shfl_xor_sync(OZG_CUDA_ALL, me->z.neg, 1);
        other->x = __shfl_xor_sync(OZG_CUDA_ALL, me->x, 1);
    }
    for (int lane = 0; lane < OZG_CUDA_WARP; lane++) {
        if (lane == me->lane && pending >> lane & 1)
            bits = ozg_entry_component_in(memory->u.whole.work, &a->scalars, me->part, v, old);
        __syncwarp();
    }
    return bits;
}

OZG_DEVICE void store_all(const ozg_cuda_reconstruct_args *a, repair_memory *memory, const lane_state *me,
                          int ready)
{
    const int parts = 1 + a->request.complex_;
    const int64_t index = me->row + me->column * a->ldc;
    uint64_t old[2] = {0, 0}, bits = 0;
    uint32_t pending;
    int usual;

    if (ready)
        ozg_entry_old(&a->scalars, a->c, index, old);
    __syncwarp(); /* both components are read before one is written */
    usual = is_usual(&a->scalars, old);
    if (ready && usual)
        bits = round_usual(&a->scalars, me, old[me->part]);
    pending = __ballot_sync(OZG_CUDA_ALL, ready && !usual);
    if (pending) {
        const lane_state copy = *me; /* that the state itself stays in registers */
        const uint64_t known[2] = {old[0], old[1]}, general = round_general(a, memory, &copy, known, pending);

        bits = usual ? bits : general;
    }
    if (ready)
        ozg_store_bits(a->c, a->request.single, parts * index + me->part, bits);
    __syncwarp();
}

/* ---- the kernel --------------------------------------------------------------------------------- */

/* The stored line at a place of the tile. */
OZG_DEVICE int64_t stored(const ozg_cuda_state *state, const ozg_cuda_lines *l, int64_t place)
{
    return state->parts > 1 ? l->index[place] : place;
}

/* Entries [first, first + count) of the list. */
OZG_DEVICE void repair_batch(const ozg_cuda_reconstruct_args *a, repair_memory *memory, uint32_t first,
                             int count)
{
    const int complex_ = a->request.complex_, lane = (int)(threadIdx.x % OZG_CUDA_WARP);
    const ozg_part *part = &a->state->part[a->tile.part];
    const ozg_cuda_table *table = &a->tables[a->state->nmod[a->tile.part]];
    const uint32_t rows = (uint32_t)ozg_cuda_least(a->tile.rows, part->rows - a->tile.i0);
    lane_state me;
    uint32_t at, left;
    int done;

    me.lane = lane;
    me.slot = lane >> complex_;
    me.part = lane & complex_;
    me.active = me.slot < count;
    me.z = {{0}, 0, 0};
    me.x = 0;
    at = a->list[first + (uint32_t)(me.active ? me.slot : 0)];
    me.row = stored(a->state, &a->a, part->i0 + a->tile.i0 + at % rows);
    me.column = stored(a->state, &a->b, part->j0 + a->tile.j0 + at / rows);
    me.bottom = ozg_cuda_window_bottom(a, me.row, me.column);
    list_all(a, memory, &me, count);
    if (me.active && me.few)
        set_crt(a, table, &me, at % rows, at / rows);
    done = add_listed(a, memory, &me, me.active && me.few && me.places <= PLACES);
    __syncwarp();
    left = __ballot_sync(OZG_CUDA_ALL, me.active && !done && me.part == 0);
    if (left)
        clear_whole(memory, lane);
    done = 0;
    for (; left; left &= left - 1) {
        const int slot = (ozg_bit_length(left & (~left + 1)) - 1) >> complex_;

        lane_state copy = me; /* that the state itself stays in registers */

        if (repair_together(a, memory, &copy, slot))
            done |= me.slot == slot;
        me.z = copy.z;
        me.x = copy.x;
    }
    store_all(a, memory, &me, me.active && !done);
}

/*
 * Every warp takes batches until there are none. With n batches and w warps, the last number that is given is
 * n + w - 1: whoever gets it knows that all others have read what they need of the state.
 */
OZG_KERNEL_BATCH(ozg_cuda_repair, ozg_cuda_reconstruct_args, OZG_CUDA_REPAIR_THREADS, OZG_CUDA_REPAIR_BLOCKS)
{
    __shared__ repair_memory memory[OZG_CUDA_REPAIR_THREADS / OZG_CUDA_WARP];
    const uint32_t failed = a.state->failed, warps = gridDim.x * (blockDim.x / OZG_CUDA_WARP);
    const uint32_t most = (uint32_t)(OZG_CUDA_WARP >> a.request.complex_);
    const int lane = (int)(threadIdx.x % OZG_CUDA_WARP);
    uint32_t size, batches, batch;

    if (a.tile.part >= a.state->parts || failed == 0) {
        ozg_launch_next();
        return;
    }
    size = (failed - 1) / warps + 1;
    size = size < most ? size : most;
    batches = (failed - 1) / size + 1;
    __syncwarp(); /* all lanes know how many failed before one of them can be the last to ask */
    for (;;) {
        uint32_t first;

        batch = lane == 0 ? atomicAdd(&a.state->next, 1u) : 0;
        batch = __shfl_sync(OZG_CUDA_ALL, batch, 0);
        if (batch >= batches)
            break;
        first = batch * size;
        repair_batch(&a, &memory[threadIdx.x / OZG_CUDA_WARP], first,
                     (int)ozg_cuda_least(size, failed - first));
    }
    if (lane == 0 && batch == batches + warps - 1) {
        a.state->next = 0;
        a.state->failed = 0;
    }
}
