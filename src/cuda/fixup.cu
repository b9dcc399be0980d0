/*
 * fixup.cu - entries of C that the residues alone do not decide: repairs, Inf and NaN; and passes over C or
 * over sums: the largest entry, beta C, the largest ceilings.
 *
 * Repair. With x = x~ + rho, x~ what the split kept of an element, and P the places where an element of
 * either line was rounded (src/cpu/repair.c),
 *
 *     AB = 2^(-D-E) c^ + sum over p in P of (rho_p b_p + a~_p sigma_p),
 *
 * all products of integers of at most 53 bits times powers of two: exact, in any order. |rho| <= |a|, |a~| <=
 * 2 |a|. So with |a| < 2^e_i, |b| < 2^e_j (the shifts along k change no product) and k' < 2^l, all partial
 * sums are below (4 + 1 + 2) k' 2^(e_i + e_j) < 2^(e_i + e_j + l + 3). They are formed in a *window* of
 * twelve digits of 32 bits, in words of 64 (arith/exact.h), that ends at least 6 bits above 2^(e_i + e_j +
 * l). What lies below it goes to an ozg_exact of the warp.
 *
 * A warp takes entries in batches of up to 32 components (a lane a component):
 *     1  all lanes list the places of one entry after the other
 *     2  entries with few places: each lane computes its own component
 *     3  the other entries, one after the other: all lanes together, each in a window of its own
 *     4  each lane rounds its own component
 *
 * SPDX-License-Identifier: MIT
 */
#include "arith/exact.h"
#include "arith/residue.h"
#include "cuda/crt.cuh"
#include "cuda/device.cuh"
#include "cuda/fixup.h"
#include "cuda/kernels.h"
#include "cuda/table.h"
#include "cuda/two.cuh"

#define ALL    0xffffffffu
#define LANES  32
#define DIGITS (2 * OZG_INT_WORDS) /* of a window: it becomes an ozg_int */
#define PLACES 32                  /* of an entry that a lane computes alone */

OZG_DEVICE int64_t least(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

OZG_DEVICE int64_t rounded_up(int64_t x, int64_t by)
{
    return (x + by - 1) / by;
}

/* ---- an exact component ------------------------------------------------------------------------- */

/* Of a warp. */
typedef struct repair_memory {
    int64_t window[DIGITS][LANES]; /* a column of each lane */
    union {
        uint32_t place[LANES][PLACES + 1]; /* of each entry of the batch */
        struct {
            ozg_exact ab[2];
            uint64_t work[OZG_EXACT_WORK];
        } whole;
    } u;
} repair_memory;

/* Where products go: digit 0 of the lane's column, 2^bottom; below it, whole, or nowhere if that is NULL. */
typedef struct sink {
    int64_t *window;
    ozg_exact *whole;
    int32_t bottom;
    int below; /* something did not fit the window */
} sink;

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

/* The 32-bit parts of (hi 2^64 + lo) 2^bit, bit < 32, with a sign. */
OZG_DEVICE void cut(uint64_t lo, uint64_t hi, int bit, int neg, int64_t (&part)[5])
{
    const uint64_t low = lo << bit, high = bit ? hi << bit | lo >> (64 - bit) : hi;
    const int64_t sign = neg ? -1 : 0;

    part[0] = ((int64_t)(low & 0xffffffff) ^ sign) - sign;
    part[1] = ((int64_t)(low >> 32) ^ sign) - sign;
    part[2] = ((int64_t)(high & 0xffffffff) ^ sign) - sign;
    part[3] = ((int64_t)(high >> 32) ^ sign) - sign;
    part[4] = ((int64_t)(bit ? hi >> (64 - bit) : 0) ^ sign) - sign;
}

/* sink += (-1)^neg (hi 2^64 + lo) 2^exp */
OZG_DEVICE void sink_add(sink *s, uint64_t lo, uint64_t hi, int32_t exp, int neg)
{
    const int length = hi ? 64 + ozg_bit_length(hi) : ozg_bit_length(lo);
    const int32_t at = exp - s->bottom;
    int64_t part[5];

    if (length == 0)
        return;
    if (at >= 0 && at + length <= 32 * DIGITS) {
        int64_t *digit = s->window + (at >> 5) * LANES;

        cut(lo, hi, at & 31, neg, part);
        for (int q = 0; q < 5; q++)
            if (part[q]) /* beyond the window there is nothing */
                digit[q * LANES] += part[q];
        return;
    }
    s->below = 1;
    if (s->whole) {
        const int32_t from = exp - OZG_EXACT_LOWEST;
        int64_t *digit = s->whole->digit + (from >> 5);

        cut(lo, hi, from & 31, neg, part);
        for (int q = 0; q < 5; q++)
            if (part[q])
                atomicAdd((unsigned long long *)(void *)&digit[q], (unsigned long long)part[q]);
    }
}

/* sink += z 2^exp, a multiple of 2^-2148 (ozg_exact_add_int). */
OZG_DEVICE void sink_add_int(sink *s, const ozg_int *z, int32_t exp)
{
#pragma unroll
    for (int i = 0; i < OZG_INT_WORDS; i++) {
        const int32_t at = exp + 64 * i, down = at < OZG_EXACT_LOWEST ? OZG_EXACT_LOWEST - at : 0;

        if (i < z->n && z->w[i])
            sink_add(s, z->w[i] >> (down < 63 ? down : 63), 0, at + down, z->neg);
    }
}

/* ---- elements ----------------------------------------------------------------------------------- */

/* Elements p of both lines; d: the power of two by which they were scaled. */
typedef struct element_pair {
    uint64_t x[2], y[2];
    int32_t dx, dy;
} element_pair;

OZG_DEVICE void load(const ozg_cuda_lines *l, int64_t line, int64_t p, int single, int complex_,
                     uint64_t bits[2])
{
    const int64_t at = line * l->view.line_stride + p * l->view.step;

    bits[1] = 0;
    if (complex_) {
        bits[0] = ozg_load_bits(l->view.x, single, 2 * at);
        bits[1] = ozg_load_bits(l->view.x, single, 2 * at + 1) ^ (l->view.conj ? OZG_F64_SIGN : 0);
    } else {
        bits[0] = ozg_load_bits(l->view.x, single, at);
    }
}

OZG_DEVICE int32_t scaling(const ozg_cuda_lines *l, int shifted, int64_t line, int64_t p)
{
    return l->d[line] + (shifted && l->view.shift ? l->view.shift[p] : 0);
}

OZG_DEVICE element_pair load_pair(const ozg_cuda_reconstruct_args *a, int64_t row, int64_t column, int64_t p)
{
    const int single = a->request.single, complex_ = a->request.complex_, shifted = a->state->shifted;
    element_pair z;

    load(&a->a, row, p, single, complex_, z.x);
    load(&a->b, column, p, single, complex_, z.y);
    z.dx = scaling(&a->a, shifted, row, p);
    z.dy = scaling(&a->b, shifted, column, p);
    return z;
}

/* What the split kept of an element, (-1)^neg kept 2^exp, and what it rounded away, (-1)^neg rest 2^x.exp. */
typedef struct halves {
    uint64_t kept;
    int64_t rest;
    int32_t exp;
} halves;

OZG_DEVICE halves halves_of(uint64_t bits, ozg_fp x, int32_t d)
{
    const int32_t down = -(x.exp + d);
    halves h;

    h.kept = ozg_scale_bits(bits, d).mant;
    h.exp = down > 0 ? -d : x.exp;
    h.rest = down > 0 ? (int64_t)x.mant - (down < 64 ? (int64_t)(h.kept << down) : 0) : 0;
    return h;
}

OZG_DEVICE void sink_multiply(sink *s, uint64_t x, uint64_t y, int32_t exp, int neg)
{
    uint64_t lo, hi;

    if (x == 0 || y == 0)
        return;
    lo = ozg_mul_add(x, y, 0, &hi);
    sink_add(s, lo, hi, exp, neg);
}

/* sink += (-1)^negate times the product of two components (all), or what the split changed in it. */
OZG_DEVICE void add_product(sink *s, uint64_t x_bits, int32_t dx, uint64_t y_bits, int32_t dy, int negate,
                            int all)
{
    const ozg_fp x = ozg_fp_of_bits(x_bits), y = ozg_fp_of_bits(y_bits);
    const int neg = x.neg ^ y.neg ^ negate;
    halves hx, hy;

    if (all) {
        sink_multiply(s, x.mant, y.mant, x.exp + y.exp, neg);
        return;
    }
    hx = halves_of(x_bits, x, dx);
    hy = halves_of(y_bits, y, dy);
    sink_multiply(s, (uint64_t)(hx.rest < 0 ? -hx.rest : hx.rest), y.mant, x.exp + y.exp,
                  neg ^ (hx.rest < 0));
    sink_multiply(s, hx.kept, (uint64_t)(hy.rest < 0 ? -hy.rest : hy.rest), hx.exp + y.exp,
                  neg ^ (hy.rest < 0));
}

/* The same for component `part` of a pair of elements. */
OZG_DEVICE void add_pair(sink *s, const element_pair *z, int complex_, int part, int all)
{
    add_product(s, z->x[0], z->dx, part ? z->y[1] : z->y[0], z->dy, 0, all);
    if (complex_)
        add_product(s, z->x[1], z->dx, part ? z->y[0] : z->y[1], z->dy, !part, all);
}

/* ---- windows ------------------------------------------------------------------------------------ */

OZG_DEVICE void clear_window(int64_t *window)
{
#pragma unroll
    for (int q = 0; q < DIGITS; q++)
        window[q * LANES] = 0;
}

/* All digits but the highest into [0, 2^32). */
OZG_DEVICE void carry_window(int64_t *window)
{
    int64_t carry = 0;

#pragma unroll
    for (int q = 0; q < DIGITS - 1; q++) {
        const int64_t digit = window[q * LANES] + carry;

        window[q * LANES] = digit & 0xffffffff;
        carry = digit >> 32;
    }
    window[(DIGITS - 1) * LANES] += carry;
}

/* The number in a window, below 2^383 in size, in units of its bottom. */
OZG_DEVICE void window_int(const int64_t *window, ozg_int *z)
{
    uint64_t flip, add;
    int64_t carry = 0;

#pragma unroll
    for (int i = 0; i < OZG_INT_WORDS; i++) {
        const int64_t low = window[2 * i * LANES] + carry, high = window[(2 * i + 1) * LANES] + (low >> 32);

        z->w[i] = (uint64_t)(low & 0xffffffff) | (uint64_t)high << 32;
        carry = high >> 32;
    }
    z->n = OZG_INT_WORDS;
    z->neg = carry < 0;
    flip = carry < 0 ? UINT64_MAX : 0;
    add = carry < 0;
#pragma unroll
    for (int i = 0; i < OZG_INT_WORDS; i++) {
        z->w[i] = (z->w[i] ^ flip) + add;
        add &= z->w[i] == 0;
    }
}

/*
 * The bottom of the window of an entry: see above. A multiple of 32, as LOWEST is, so that digits are digits
 * of an ozg_exact; not below LOWEST, since below that there is nothing.
 */
OZG_DEVICE int32_t bottom_of(const ozg_cuda_reconstruct_args *a, int64_t row, int64_t column)
{
    const int32_t top = a->a.e[row] + a->b.e[column] + ozg_bit_length(a->request.length) + 6;
    const int32_t bottom = (top - 32 * DIGITS + 31) & ~31;

    return bottom < OZG_EXACT_LOWEST ? OZG_EXACT_LOWEST : bottom;
}

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

    for (int64_t w = lane; w - lane < a->a.words; w += LANES) {
        uint64_t bits = w == lane ? first : w < a->a.words ? places_word(a, row, column, w) : 0;

        while (count <= PLACES && (any = __ballot_sync(ALL, bits != 0)) != 0) {
            const uint32_t at = count + (uint32_t)ozg_bit_count(any & before);

            if (bits && at < PLACES)
                list[at] = (uint32_t)(64 * w + ozg_bit_length(bits & (~bits + 1)) - 1);
            bits &= bits - 1;
            count += (uint32_t)ozg_bit_count(any);
        }
        more += (uint32_t)ozg_bit_count(bits);
    }
    return count > PLACES ? count + __reduce_add_sync(ALL, more) : count;
}

/* Lists the places of all entries of the batch, and decides how each is computed. */
OZG_DEVICE void list_all(const ozg_cuda_reconstruct_args *a, repair_memory *memory, lane_state *me, int count)
{
    const int complex_ = a->request.complex_, lane = me->lane;
    int64_t row = __shfl_sync(ALL, me->row, 0), column = __shfl_sync(ALL, me->column, 0);
    uint64_t first = lane < a->a.words ? places_word(a, row, column, lane) : 0;

    me->places = 0;
    for (int slot = 0; slot < count; slot++) {
        const int next = (slot + 1 < count ? slot + 1 : slot) << complex_;
        const int64_t next_row = __shfl_sync(ALL, me->row, next),
                      next_column = __shfl_sync(ALL, me->column, next);
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
        const int r = ozg_cuda_crt_residue(in, t->nmod, l, part, complex_, at);

#pragma unroll
        for (int d = 0; d < 2 + 4 * words; d++)
            sum[d] += r * ozg_cuda_crt_digit(w, d, l);
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
    sink s = {&memory->window[0][me->lane], NULL, me->bottom, 0};
    int fits;

    if (wanted) {
        element_pair now = {{0, 0}, {0, 0}, 0, 0}, next = now;

        clear_window(s.window);
        sink_add_int(&s, &me->z, me->x);
        if (me->places)
            now = load_pair(a, me->row, me->column, list[0]);
        for (uint32_t q = 0; q < me->places; q++) {
            if (q + 1 < me->places)
                next = load_pair(a, me->row, me->column, list[q + 1]);
            add_pair(&s, &now, complex_, me->part, 0);
            now = next;
        }
    }
    fits = wanted && !s.below;
    if (complex_)
        fits &= __shfl_xor_sync(ALL, fits, 1);
    if (fits) {
        window_int(s.window, &me->z);
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
        for (int q = lane; q < OZG_EXACT_DIGITS; q += LANES)
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
    const int part = lane / DIGITS, digit = lane % DIGITS, mine = part <= complex_;
    int64_t sum = 0;

    __syncwarp();
    for (int q = 0; mine && q < LANES >> complex_; q++) /* each lane begins elsewhere: in another bank */
        sum += memory->window[digit][(((q + digit) << complex_) & (LANES - 1)) + part];
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
        for (int q = 0; q < DIGITS; q++)
            ab[part].digit[(bottom - OZG_EXACT_LOWEST) / 32 + q] += memory->window[q][part];
    ozg_entry_old(&a->scalars, a->c, index, old);
    for (int part = 0; part <= a->request.complex_; part++)
        bits[part] = ozg_exact_component_in(memory->u.whole.work, &a->scalars, part, ab, old);
    ozg_entry_store(&a->scalars, a->c, index, bits);
}

/* The products of all elements [from, to), or what the split changed at places in words [from, to). */
OZG_DEVICE void add_range(const ozg_cuda_reconstruct_args *a, sink *s, const lane_state *me, int64_t row,
                          int64_t column, int64_t from, int64_t to, int few)
{
    const int complex_ = a->request.complex_, step = LANES >> complex_;

    if (few) {
        for (int64_t w = from + me->slot; w < to; w += step)
            for (uint64_t bits = places_word(a, row, column, w); bits; bits &= bits - 1) {
                const int64_t p = 64 * w + ozg_bit_length(bits & (~bits + 1)) - 1;
                const element_pair z = load_pair(a, row, column, p);

                add_pair(s, &z, complex_, me->part, 0);
            }
    } else if (from + me->slot < to) {
        element_pair now = load_pair(a, row, column, from + me->slot), next = now;

        for (int64_t p = from + me->slot; p < to; p += step) {
            if (p + step < to)
                next = load_pair(a, row, column, p + step);
            add_pair(s, &now, complex_, me->part, 1);
            now = next;
        }
    }
}

/* The entry of one slot, by all lanes. 1: it is stored. 0: its lanes have AB. */
OZG_DEVICE_CALL int repair_together(const ozg_cuda_reconstruct_args *a, repair_memory *memory, lane_state *me,
                                    int slot)
{
    const int complex_ = a->request.complex_, from = slot << complex_;
    const int64_t row = __shfl_sync(ALL, me->row, from), column = __shfl_sync(ALL, me->column, from);
    const int few = __shfl_sync(ALL, me->few, from), mine = me->slot == slot;
    const int64_t end = few ? a->a.words : a->request.k, chunk = (few ? CHUNK / 64 : CHUNK) * (int64_t)LANES;
    sink s = {&memory->window[0][me->lane], &memory->u.whole.ab[me->part], __shfl_sync(ALL, me->bottom, from),
              0};
    int whole;

    clear_window(s.window);
    if (few && mine)
        sink_add_int(&s, &me->z, me->x);
    for (int64_t p = 0; p < end; p += chunk) {
        add_range(a, &s, me, row, column, p, least(end, p + chunk), few);
        if (p + chunk < end) {
            __syncwarp();
            if (me->lane <= complex_)
                ozg_exact_carry(&memory->u.whole.ab[me->lane]);
            __syncwarp();
        }
    }
    carry_window(s.window);
    whole = __any_sync(ALL, s.below);
    join_windows(memory, me->lane, complex_);
    if (whole) {
        if (me->lane == 0)
            store_whole(a, memory, row, column, s.bottom);
        __syncwarp();
        clear_whole(memory, me->lane);
    } else if (mine) {
        window_int(&memory->window[0][me->part], &me->z);
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
            other->z.w[q] = __shfl_xor_sync(ALL, me->z.w[q], 1);
        other->z.n = __shfl_xor_sync(ALL, me->z.n, 1);
        other->z.neg = __shfl_xor_sync(ALL, me->z.neg, 1);
        other->x = __shfl_xor_sync(ALL, me->x, 1);
    }
    for (int lane = 0; lane < LANES; lane++) {
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
    pending = __ballot_sync(ALL, ready && !usual);
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
    const int complex_ = a->request.complex_, lane = (int)(threadIdx.x % LANES);
    const ozg_part *part = &a->state->part[a->tile.part];
    const ozg_cuda_table *table = &a->tables[a->state->nmod[a->tile.part]];
    const uint32_t rows = (uint32_t)least(a->tile.rows, part->rows - a->tile.i0);
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
    me.bottom = bottom_of(a, me.row, me.column);
    list_all(a, memory, &me, count);
    if (me.active && me.few)
        set_crt(a, table, &me, at % rows, at / rows);
    done = add_listed(a, memory, &me, me.active && me.few && me.places <= PLACES);
    __syncwarp();
    left = __ballot_sync(ALL, me.active && !done && me.part == 0);
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
OZG_KERNEL(ozg_cuda_repair, ozg_cuda_reconstruct_args, OZG_CUDA_REPAIR_THREADS, OZG_CUDA_REPAIR_BLOCKS)
{
    __shared__ repair_memory memory[OZG_CUDA_REPAIR_THREADS / LANES];
    const uint32_t failed = a.state->failed, warps = gridDim.x * (blockDim.x / LANES);
    const uint32_t most = (uint32_t)(LANES >> a.request.complex_);
    const int lane = (int)(threadIdx.x % LANES);
    uint32_t size, batches, batch;

    if (a.tile.part >= a.state->parts || failed == 0)
        return;
    size = (failed - 1) / warps + 1;
    size = size < most ? size : most;
    batches = (failed - 1) / size + 1;
    for (;;) {
        uint32_t first;

        batch = lane == 0 ? atomicAdd(&a.state->next, 1u) : 0;
        batch = __shfl_sync(ALL, batch, 0);
        if (batch >= batches)
            break;
        first = batch * size;
        repair_batch(&a, &memory[threadIdx.x / LANES], first, (int)least(size, failed - first));
    }
    if (lane == 0 && batch == batches + warps - 1) {
        a.state->next = 0;
        a.state->failed = 0;
    }
}

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
    for (int64_t p = 0; p < a->request.k; p += 4 * LANES) {
        for (int q = 0; q < 4; q++)
            if (p + q * LANES + lane < a->request.k) {
                uint64_t x[2], y[2];

                load(&a->a, row, p + q * LANES + lane, single, complex_, x);
                load(&a->b, column, p + q * LANES + lane, single, complex_, y);
                special_pair(x, y, complex_, found);
            }
        found[0] = __reduce_or_sync(ALL, found[0]);
        if (complex_)
            found[1] = __reduce_or_sync(ALL, found[1]);
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
    const int any_row = __any_sync(ALL, wanted && special);
    uint64_t x[2], y[2], other[2] = {0, 0};

    found[0] = found[1] = 0;
    for (int64_t p = 0; p < a->request.k; p += LANES) {
        const int open = wanted && !special_ends(found, complex_), inside = p + lane < a->request.k;
        uint32_t turns;

        if (!__any_sync(ALL, open))
            return;
        y[0] = y[1] = 0;
        if (inside)
            load(&a->b, column, p + lane, single, complex_, y);
        turns = __ballot_sync(ALL, inside && (any_row || ozg_is_special(y[0]) || ozg_is_special(y[1])));
        for (; turns; turns &= turns - 1) {
            const int q = ozg_bit_length(turns & (~turns + 1)) - 1;

            other[0] = __shfl_sync(ALL, y[0], q);
            if (complex_)
                other[1] = __shfl_sync(ALL, y[1], q);
            if (open) {
                load(&a->a, row, p + q, single, complex_, x);
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
    uint32_t left = __ballot_sync(ALL, wanted && !nan), found[2] = {NAN_TERM, NAN_TERM}, mine[2];

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
OZG_KERNEL(ozg_cuda_special, ozg_cuda_c_args, OZG_CUDA_C_THREADS, 4)
{
    const int64_t warps = (int64_t)gridDim.x * (blockDim.x / LANES), groups = rounded_up(a.request.m, LANES);
    const int64_t warp = blockIdx.x * (int64_t)(blockDim.x / LANES) + threadIdx.x / LANES, n = a.request.n;
    const int lane = (int)(threadIdx.x % LANES);

    for (int64_t t = warp; a.state->special_columns && t < groups * n; t += warps)
        if (a.b.special[t / groups])
            special_group(&a, t % groups * LANES, t / groups, 1, lane);
    for (int64_t t = warp; a.state->special_rows && t < groups * n; t += warps)
        if (!a.b.special[t % n])
            special_group(&a, t / n * LANES, t % n, 0, lane);
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
    q.row_pieces = rounded_up(rows, q.width * PASS_STEPS);
    q.pieces = q.row_pieces * rounded_up(columns, q.height);
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

OZG_KERNEL(ozg_cuda_largest, ozg_cuda_c_args, OZG_CUDA_C_THREADS, 4)
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
    for (int down = LANES / 2; down; down /= 2) {
        const uint64_t other = __shfl_down_sync(ALL, most, down);

        most = other > most ? other : most;
    }
    if (threadIdx.x % LANES == 0 && most)
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
    if (__all_sync(ALL, x >> 32 == 0))
        return __reduce_max_sync(ALL, (unsigned)x);
    for (int by = LANES / 2; by; by /= 2) {
        const uint64_t other = __shfl_xor_sync(ALL, x, by);

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
OZG_KERNEL(ozg_cuda_raise, ozg_cuda_raise_args, OZG_CUDA_RAISE_THREADS, 4)
{
    const int64_t rows = least(a.tile.rows, a.request.m - a.tile.i0);
    const int64_t columns = least(a.tile.columns, a.request.n - a.tile.j0);
    const int64_t row_pieces = rounded_up(rows, OZG_CUDA_RAISE_ROWS);

    for (int64_t t = blockIdx.x; t < row_pieces * rounded_up(columns, OZG_CUDA_RAISE_COLUMNS);
         t += gridDim.x) {
        const int64_t i = t % row_pieces * OZG_CUDA_RAISE_ROWS + threadIdx.x;
        const int64_t from = t / row_pieces * OZG_CUDA_RAISE_COLUMNS;
        const int64_t to = least(columns, from + OZG_CUDA_RAISE_COLUMNS);
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
            if (threadIdx.x % LANES == 0)
                raise_to(&a.b.ceiling[a.tile.j0 + j], most);
        }
#pragma unroll
        for (int q = 0; q < OZG_CUDA_RAISE_ROWS / OZG_CUDA_RAISE_THREADS; q++)
            if (i + q * OZG_CUDA_RAISE_THREADS < rows)
                raise_to(&a.a.ceiling[a.tile.i0 + i + q * OZG_CUDA_RAISE_THREADS], of_row[q]);
    }
}
