/*
 * bounds_tmpl.h - what the bounds need, in vectors: norms of lines, residuals, floors, the bound of an entry.
 * Include after a vec_*.h, with STAGE(name) as for stages_tmpl.h. Same numbers as the _ref versions, to which
 * tests/kernels compares each; formulas in arith/bound.h. All integer arithmetic.
 *
 * SPDX-License-Identifier: MIT
 */

/* ---- numbers in halves -------------------------------------------------------------------------- */

#define LANES64 (VEC_LANES / 2)

/* |x| = (hi 2^32 + lo) 2^(exponent - 1075), hi < 2^21 */
typedef struct numbers {
    vec hi, lo, exponent;
} numbers;

/*
 * The mantissa, first bit included, of |x|: `field` is its exponent field E, or 1 where that is 0, as for
 * subnormals, which have no first bit. E 2^n + fraction - (field - 1) 2^n, n = fraction_bits.
 */
VEC vec mantissa(vec magnitude, vec field, int fraction_bits)
{
    return vec_sub(magnitude, vec_shift_left(vec_sub(field, vec_set1(1)), fraction_bits));
}

VEC numbers numbers_of_doubles(vec hi, vec lo)
{
    const vec magnitude = vec_and(hi, vec_set1(0x7fffffff));
    const vec field = vec_max(vec_shift_right(magnitude, 20), vec_set1(1));
    const numbers x = {mantissa(magnitude, field, 20), lo, field};

    return x;
}

/* |x| = mantissa 2^(field - 150), and with 29 bits more to the right as for doubles */
VEC numbers numbers_of_singles(vec bits)
{
    const vec magnitude = vec_and(bits, vec_set1(0x7fffffff));
    const vec field = vec_max(vec_shift_right(magnitude, 23), vec_set1(1)),
              m = mantissa(magnitude, field, 23);
    const numbers x = {vec_shift_right(m, 3), vec_shift_left(m, 29),
                       vec_add(field, vec_set1(1075 - 29 - 150))};

    return x;
}

/* The first n numbers of 32 bits at x, else zeros. */
VEC vec load_upto(const char *x, int n)
{
    return n >= VEC_LANES ? vec_load(x) : vec_load_some(x, n > 0 ? n : 0);
}

/* The first n doubles or floats at x, else zeros. */
VEC numbers load_numbers(const char *x, int single, int n)
{
    vec64 first, second;

    if (single)
        return numbers_of_singles(load_upto(x, n));
    first = load_upto(x, 2 * n);
    second = load_upto(x + 8 * LANES64, 2 * n - VEC_LANES);
    return numbers_of_doubles(vec64_high_halves(first, second), vec64_low_halves(first, second));
}

/* floor((hi 2^32 + lo) 2^(up - 32)) mod 2^32. Vector shifts by 32 or more, or by less than 0, give 0. */
VEC vec upper_word(numbers x, vec up)
{
    const vec word = vec_set1(32), down = vec_sub(vec_set1(0), up);
    const vec hi = vec_or(vec_shift_left_by(x.hi, up), vec_shift_right_by(x.hi, down));

    return vec_or(hi, vec_or(vec_shift_left_by(x.lo, vec_sub(up, word)),
                             vec_shift_right_by(x.lo, vec_add(down, word))));
}

/* ---- norms and residuals ------------------------------------------------------------------------ */

/* Which y_p of a line: those of ozg_norms_fn, or those of ozg_residuals_fn. */
enum { NORMS, RESIDUALS };

#define TO_INTEGERS (1 << 20) /* d of a line without residuals: makes an integer of every number */

/*
 * y = ceil(|x 2^d - RN_int(x 2^d)| 2^16). |x| 2^d mod 1 in units of 2^-64 is the mantissa shifted left by
 * d + 64 + its exponent: of that the upper 32 bits, as a signed number the distance to the nearest integer,
 * and whether anything lies below. d here is d + 64 - 1075.
 */
VEC vec residual_of(numbers x, vec d)
{
    /* shifts below -31 leave no more than -31 does */
    const vec up = vec_max(vec_add(x.exponent, d), vec_set1((uint32_t)-31));
    const vec upper = upper_word(x, up), neg = vec_shift_right_signed(upper, 31);
    const vec below = vec_or(vec_shift_left_by(x.hi, vec_add(up, vec_set1(32))),
                             vec_shift_left_by(x.lo, vec_max(up, vec_set1(0))));
    /* |upper| rounded up: -upper = ~upper + 1, and anything below brings it no further than ~upper */
    const vec carry = vec_min(vec_or(below, neg), vec_set1(1));

    return vec_shift_right(vec_add(vec_add(vec_xor(upper, neg), carry), vec_set1(0xffff)), 16);
}

/*
 * y = ceil(|x| 2^(nu - e)), d being nu - 16 - e, + 64 - 1075 as above: ceil((2 hi + (lo != 0)) 2^-n) where
 * n = 17 - d - exponent > 0. (It is the residual, too, for |x| 2^d < 1/2 rounds to 0; see ozg_norms_fn.)
 */
VEC vec norm_of(numbers x, vec d)
{
    const vec down = vec_min(vec_sub(vec_sub(vec_set1(17), d), x.exponent), vec_set1(31));
    const vec m = vec_add(vec_add(x.hi, x.hi), vec_min(x.lo, vec_set1(1)));
    const vec less = vec_shift_right_by(vec_set1(UINT32_MAX), vec_sub(vec_set1(32), down)); /* 2^n - 1 */

    return vec_shift_right_by(vec_add(m, less), down);
}

/*
 * Sums of y and y^2 of each 32-bit lane, in 64 bits. Of two lanes side by side, [0] sums even + 2^32 odd
 * modulo 2^64 and [1] odd: one operation less than masking the even ones. some: those of at most 2^16 y that
 * are not in sum yet.
 */
typedef struct tally {
    vec64 sum[2], squares[2];
    vec most, some;
} tally;

VEC tally tally_empty(void)
{
    const vec zero = vec_set1(0);
    const tally t = {{zero, zero}, {zero, zero}, zero, zero};

    return t;
}

VEC void tally_sum(vec64 sum[2], vec y)
{
    sum[0] = vec64_add(sum[0], y);
    sum[1] = vec64_add(sum[1], vec64_shift_right(y, 32));
}

/* y <= 2^15: as a signed number of 16 bits, 2^15 is -2^15, of the same square. */
VEC void tally_add(tally *t, vec y)
{
    t->some = vec_add(t->some, y);
    tally_sum(t->squares, vec_madd(vec_set1(0), y, y));
    t->most = vec_max(t->most, y);
}

VEC void tally_flush(tally *t)
{
    tally_sum(t->sum, t->some);
    t->some = vec_set1(0);
}

/* Adds lane q to out[q / lanes] for count lanes. */
TARGET static void tally_close(const tally *t, int count, int lanes, ozg_norms *out)
{
    uint64_t sum[2][LANES64], squares[2][LANES64];
    uint32_t most[VEC_LANES];

    for (int i = 0; i < 2; i++) {
        vec_store(sum[i], t->sum[i]);
        vec_store(squares[i], t->squares[i]);
    }
    vec_store(most, t->most);
    for (int q = 0; q < count; q++) {
        const int pair = q / 2;
        ozg_norms *n = &out[q / lanes];

        n->sum += q % 2 ? sum[1][pair] : sum[0][pair] - (sum[1][pair] << 32);
        n->squares += q % 2 ? squares[1][pair] : squares[0][pair] - (squares[1][pair] << 32);
        n->most = most[q] > n->most ? most[q] : n->most;
    }
}

/* Bit i: bit 2 i or 2 i + 1 of x. */
static inline uint64_t either_of_pairs(uint64_t x)
{
    x = (x | x >> 1) & UINT64_C(0x5555555555555555);
    x = (x | x >> 1) & UINT64_C(0x3333333333333333);
    x = (x | x >> 2) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    x = (x | x >> 4) & UINT64_C(0x00ff00ff00ff00ff);
    x = (x | x >> 8) & UINT64_C(0x0000ffff0000ffff);
    return (x | x >> 16) & UINT64_C(0x00000000ffffffff);
}

/* Lines whose y are asked for; strides in bytes. places: NULL, or bits where y is not 0. */
typedef struct some_lines {
    const char *x;
    int64_t line_stride, step, k;
    int kind, single, parts, count;
    const int32_t *d; /* + 64 - 1075 */
    ozg_norms *out;
    uint64_t *places;
    int64_t words;
} some_lines;

VEC vec value_of(int kind, numbers x, vec d)
{
    return kind == NORMS ? norm_of(x, d) : residual_of(x, d);
}

#define AHEAD 2048 /* bytes: past the page, at whose end processors stop to look ahead */

/* Brings a vector of numbers, which need not exist, to the caches. */
VEC void fetch_ahead(const char *x, int64_t ahead, int single)
{
    for (int64_t at = 0; at < (single ? 4 : 8) * VEC_LANES; at += 64)
        __builtin_prefetch((const void *)((uintptr_t)x + (uintptr_t)(ahead + at)));
}

/* A line of n components side by side, parts to an element; lanes are components. */
VEC void along(int kind, int single, const char *x, int parts, int64_t n, int32_t d, ozg_norms *out,
               uint64_t *place)
{
    const vec all_d = vec_set1((uint32_t)d);
    tally t = tally_empty();

    for (int64_t p = 0; p < n; p += 64) {
        const int count = n - p < 64 ? (int)(n - p) : 64;
        uint64_t bits = 0;

        for (int q = 0; q < count; q += VEC_LANES) {
            const vec y =
                value_of(kind, load_numbers(x + (p + q) * (single ? 4 : 8), single, count - q), all_d);

            fetch_ahead(x, (p + q) * (single ? 4 : 8) + AHEAD, single);
            tally_add(&t, y);
            if (kind == RESIDUALS)
                bits |= vec_signs(vec_sub(vec_set1(0), y)) << q;
        }
        tally_flush(&t);
        if (place && parts == 1)
            place[p / 64] = bits;
        else if (place)
            place[p / 128] |= either_of_pairs(bits) << p / 2 % 64;
    }
    tally_close(&t, VEC_LANES, VEC_LANES, out);
}

TARGET static void lines_along(const some_lines *l)
{
    const int parts = l->parts;

    for (int q = 0; q < l->count; q++) {
        const char *x = l->x + q * l->line_stride;
        uint64_t *place = l->places ? l->places + q * l->words : NULL;

        if (l->kind == NORMS && l->single)
            along(NORMS, 1, x, parts, parts * l->k, l->d[q], &l->out[q], NULL);
        else if (l->kind == NORMS)
            along(NORMS, 0, x, parts, parts * l->k, l->d[q], &l->out[q], NULL);
        else if (l->single)
            along(RESIDUALS, 1, x, parts, parts * l->k, l->d[q], &l->out[q], place);
        else
            along(RESIDUALS, 0, x, parts, parts * l->k, l->d[q], &l->out[q], place);
    }
}

#define ACROSS 32 /* elements taken before the next lines' turn */

/*
 * n <= ACROSS elements, step bytes apart, of `lanes` components side by side; lanes are components. Bit p of
 * a lane of the result: y is not 0 for element p.
 */
VEC vec across(int kind, int single, const char *x, int64_t step, int lanes, int n, vec d, tally *t)
{
    vec bits = vec_set1(0);
    tally sum = *t;

    for (int p = n - 1; p >= 0; p--) {
        const vec y = value_of(kind, load_numbers(x + p * step, single, lanes), d);

        fetch_ahead(x, (p + ACROSS) * step, single);
        tally_add(&sum, y);
        if (kind == RESIDUALS)
            bits = vec_add(vec_add(bits, bits), vec_min(y, vec_set1(1)));
    }
    tally_flush(&sum);
    *t = sum;
    return bits;
}

/* The same with the branches of `lanes` and kind out of the way. */
TARGET static vec across_group(const some_lines *l, const char *x, int lanes, int n, vec d, tally *t)
{
    if (lanes < VEC_LANES)
        return across(l->kind, l->single, x, l->step, lanes, n, d, t);
    if (l->single)
        return l->kind == NORMS ? across(NORMS, 1, x, l->step, VEC_LANES, n, d, t)
                                : across(RESIDUALS, 1, x, l->step, VEC_LANES, n, d, t);
    return l->kind == NORMS ? across(NORMS, 0, x, l->step, VEC_LANES, n, d, t)
                            : across(RESIDUALS, 0, x, l->step, VEC_LANES, n, d, t);
}

/* Lines side by side. */
TARGET static void lines_across(const some_lines *l)
{
    const int components = l->parts * l->count, size = l->single ? 4 : 8;
    int32_t d[2 * OZG_SCALE_LINES] = {0};
    tally t[2 * OZG_SCALE_LINES / VEC_LANES];

    for (int q = 0; q < components; q++)
        d[q] = l->d[q / l->parts];
    for (int q = 0; q < components; q += VEC_LANES)
        t[q / VEC_LANES] = tally_empty();
    for (int64_t p = 0; p < l->k; p += ACROSS)
        for (int q = 0; q < components; q += VEC_LANES) {
            const int lanes = components - q < VEC_LANES ? components - q : VEC_LANES;
            const int n = l->k - p < ACROSS ? (int)(l->k - p) : ACROSS;
            uint32_t bits[VEC_LANES];

            vec_store(bits, across_group(l, l->x + p * l->step + q * size, lanes, n, vec_load(d + q),
                                         &t[q / VEC_LANES]));
            for (int lane = 0; l->places && lane < lanes; lane++)
                l->places[(q + lane) / l->parts * l->words + p / 64] |= (uint64_t)bits[lane] << p % 64;
        }
    for (int q = 0; q < components; q += VEC_LANES)
        tally_close(&t[q / VEC_LANES], components - q < VEC_LANES ? components - q : VEC_LANES, l->parts,
                    l->out + q / l->parts);
}

/* Lines i.. of a view, at most OZG_SCALE_LINES. */
TARGET static void find_values(const ozg_view *v, int64_t k, int64_t i, int count, int kind, const int32_t *d,
                               ozg_norms *out, uint64_t *places, int64_t words)
{
    const int single = ozg_type_single(v->type), parts = 1 + ozg_type_complex(v->type);
    const int64_t bytes = parts * (single ? 4 : 8), line_stride = v->line_stride * bytes;
    const some_lines l = {(const char *)v->x + i * line_stride,
                          line_stride,
                          v->step * bytes,
                          k,
                          kind,
                          single,
                          parts,
                          count,
                          d,
                          out,
                          places,
                          words};

    for (int q = 0; q < count; q++)
        out[q] = (ozg_norms){0, 0, 0};
    for (int64_t w = 0; places && w < count * words; w++)
        places[w] = 0;
    if (v->step == 1)
        lines_along(&l);
    else
        lines_across(&l);
}

/* d[q] = nu - 16 - e + 64 - 1075. Returns whether norm_of() serves: n > 0 for the least exponents. */
static int norm_shifts(const int32_t *e, int count, int nu, int single, int32_t *d)
{
    const int32_t least_exponent = single ? 1 + 1075 - 29 - 150 : 1;
    int serves = 1;

    for (int q = 0; q < count; q++) {
        d[q] = e[q] == OZG_E_NONE ? 0 : nu - 16 - e[q] + 64 - 1075;
        serves &= d[q] < 17 - least_exponent;
    }
    return serves;
}

TARGET void STAGE(norms)(const ozg_view *v, int64_t k, int64_t i0, int64_t i1, int nu, const int32_t *e,
                         ozg_norms *out)
{
    int32_t d[OZG_SCALE_LINES];

    for (int64_t i = i0; i < i1; i += OZG_SCALE_LINES, e += OZG_SCALE_LINES, out += OZG_SCALE_LINES) {
        const int count = i1 - i < OZG_SCALE_LINES ? (int)(i1 - i) : OZG_SCALE_LINES;
        const int kind = norm_shifts(e, count, nu, ozg_type_single(v->type), d) ? NORMS : RESIDUALS;

        find_values(v, k, i, count, kind, d, out, NULL, 0);
        for (int q = 0; q < count; q++)
            if (e[q] == OZG_E_NONE)
                out[q] = (ozg_norms){0, 0, 0};
    }
}

TARGET void STAGE(residuals)(const ozg_view *v, int64_t k, int64_t i0, int64_t i1, const int32_t *d,
                             ozg_norms *out, uint64_t *places, int64_t words)
{
    int32_t each[OZG_SCALE_LINES];

    for (int64_t i = i0; i < i1; i += OZG_SCALE_LINES, d += OZG_SCALE_LINES, out += OZG_SCALE_LINES) {
        const int count = i1 - i < OZG_SCALE_LINES ? (int)(i1 - i) : OZG_SCALE_LINES;

        for (int q = 0; q < count; q++)
            each[q] = d[q] == OZG_D_NONE ? TO_INTEGERS : d[q] + 64 - 1075;
        find_values(v, k, i, count, RESIDUALS, each, out, places ? places + (i - i0) * words : NULL, words);
    }
}

/* ---- floors ------------------------------------------------------------------------------------- */

/*
 * ozg_floor() of elements e.. of one component. Only of subnormal numbers in lines of them does lo count;
 * else it is floor(hi 2^-n), n >= 0. Collects signs of n.
 */
VEC vec floors_of(int subnormal, const uint64_t *x, const int32_t *s, int e, vec *signs)
{
    const numbers z = load_numbers((const char *)(x + e), 0, VEC_LANES);
    const vec n = vec_sub(vec_sub(vec_set1(1075 - 32), vec_load(s + e)), z.exponent);

    if (subnormal)
        return upper_word(z, vec_sub(vec_set1(0), n));
    *signs = vec_or(*signs, n);
    return vec_shift_right_by(z.hi, n);
}

VEC void store_floors(int word, unsigned char *out, int e, vec x)
{
    if (word == 1)
        vec_store_low8(out + e, x);
    else
        vec_store_low16(out + 2 * e, x);
}

/* Returns whether it must be done again with subnormal = 1. */
VEC int floors_of_batch(int subnormal, int word, int complex_, const ozg_batch *batch, int count,
                        unsigned char *const out[3])
{
    vec signs = vec_set1(0);

    for (int e = 0; e < count; e += VEC_LANES) {
        const vec re = floors_of(subnormal, batch->re, batch->s, e, &signs);

        store_floors(word, out[0], e, re);
        if (complex_) {
            const vec im = floors_of(subnormal, batch->im, batch->s, e, &signs);

            store_floors(word, out[1], e, im);
            store_floors(word, out[2], e, vec_add(re, im));
        }
    }
    return vec_signs(signs) != 0;
}

TARGET void STAGE(floors)(const ozg_layout *layout, int complex_, const ozg_batch *batch, unsigned char *out,
                          size_t plane)
{
    const int count = (batch->count + 15) & ~15, direct = count == batch->count;
    unsigned char some[3][2 * OZG_SPLIT_BATCH], *to[3]; /* as in the split stage */

    for (int q = 0; q < 3; q++)
        to[q] = direct ? out + (size_t)q * plane : some[q];
    if (floors_of_batch(0, layout->word, complex_, batch, count, to))
        floors_of_batch(1, layout->word, complex_, batch, count, to);
    for (int q = 0; !direct && q < (complex_ ? 3 : 1); q++)
        memcpy(out + (size_t)q * plane, some[q], (size_t)(batch->count * layout->word));
}

/* ---- the bound of an entry ---------------------------------------------------------------------- */

/* Lines of ozg_factors; of the lanes of factors the low halves count. */
typedef struct factors {
    vec64 x1, x2, xmax, r1, r2, rmax;
} factors;

/* n of the three ceil_shift() of ozg_bound() */
typedef struct shifts {
    vec64 a, b, both;
} shifts;

VEC factors odd_factors(const factors *f)
{
    const factors odd = {vec64_shift_right(f->x1, 32),   vec64_shift_right(f->x2, 32),
                         vec64_shift_right(f->xmax, 32), vec64_shift_right(f->r1, 32),
                         vec64_shift_right(f->r2, 32),   vec64_shift_right(f->rmax, 32)};

    return odd;
}

VEC shifts even_shifts(const shifts *s)
{
    const vec64 low = vec64_set1(UINT32_MAX);
    const shifts even = {vec64_and(s->a, low), vec64_and(s->b, low), vec64_and(s->both, low)};

    return even;
}

VEC shifts odd_shifts(const shifts *s)
{
    const shifts odd = {vec64_shift_right(s->a, 32), vec64_shift_right(s->b, 32),
                        vec64_shift_right(s->both, 32)};

    return odd;
}

/* ceil(x 2^-n) for x < 2^63, n = 0..63 */
VEC vec64 ceil_shift(vec64 x, vec64 n)
{
    const vec64 less =
        vec64_shift_right_by(vec64_set1(UINT64_MAX), vec64_sub(vec64_set1(64), n)); /* 2^n - 1 */

    return vec64_shift_right_by(vec64_add(x, less), n);
}

VEC vec64 least_product(vec64 x0, vec64 y0, vec64 x1, vec64 y1, vec64 x2, vec64 y2)
{
    return vec64_min(vec64_min(vec64_mul_low(x0, y0), vec64_mul_low(x1, y1)), vec64_mul_low(x2, y2));
}

/* ozg_bound() */
VEC vec64 bound_of(const factors *a, const factors *b, shifts s)
{
    const vec64 of_a = least_product(a->rmax, b->x1, a->r2, b->x2, a->r1, b->xmax);
    const vec64 of_b = least_product(b->rmax, a->x1, b->r2, a->x2, b->r1, a->xmax);
    const vec64 both = least_product(a->r2, b->r2, a->r1, b->rmax, a->rmax, b->r1);
    const vec64 sum =
        vec64_add(vec64_add(ceil_shift(of_a, s.a), ceil_shift(of_b, s.b)), ceil_shift(both, s.both));

    /* sum ? sum + (sum >> 24) + 1 : 0 */
    return vec64_sub(vec64_add(sum, vec64_shift_right(sum, 24)),
                     vec64_negative(vec64_sub(vec64_set1(0), sum)));
}

/* VEC_LANES rows against a column of width w. Only lines of zeros, whose factors are 0, have a width <= 0. */
VEC void bounds_of_rows(const ozg_lines *rows, int64_t i, const factors *column, vec w, uint64_t *bound,
                        int32_t *larger_w, int32_t *smaller_w)
{
    const factors even = {vec_load(rows->x1 + i), vec_load(rows->x2 + i), vec_load(rows->xmax + i),
                          vec_load(rows->r1 + i), vec_load(rows->r2 + i), vec_load(rows->rmax + i)};
    const factors odd = odd_factors(&even);
    const vec w_row = vec_add(vec_load(rows->d + i), vec_load(rows->e + i)), larger = vec_max(w_row, w);
    const vec most = vec_set1(63); /* more leaves no more of numbers below 2^63 */
    const shifts s = {vec_min(vec_sub(larger, w), most), vec_min(vec_sub(larger, w_row), most),
                      vec_min(larger, most)};

    vec_store(larger_w, larger);
    vec_store(smaller_w, vec_sub(vec_add(w_row, w), larger));
    vec64_store_in_turn(bound, bound_of(&even, column, even_shifts(&s)),
                        bound_of(&odd, column, odd_shifts(&s)));
}

/* Rows i.. of a, fewer than VEC_LANES, as lines 0.. of memory that holds a whole vector. */
typedef struct copied_rows {
    uint32_t factor[6][VEC_LANES];
    int32_t d[VEC_LANES], e[VEC_LANES];
} copied_rows;

static ozg_lines copy_rows(copied_rows *to, const ozg_lines *a, int64_t i, int count)
{
    const uint32_t *const from[6] = {a->x1, a->x2, a->xmax, a->r1, a->r2, a->rmax};
    ozg_lines l = *a;

    memset(to, 0, sizeof *to);
    for (int q = 0; q < 6; q++)
        memcpy(to->factor[q], from[q] + i, (size_t)count * sizeof **from);
    memcpy(to->d, a->d + i, (size_t)count * sizeof *a->d);
    memcpy(to->e, a->e + i, (size_t)count * sizeof *a->e);
    l.x1 = to->factor[0];
    l.x2 = to->factor[1];
    l.xmax = to->factor[2];
    l.r1 = to->factor[3];
    l.r2 = to->factor[4];
    l.rmax = to->factor[5];
    l.d = to->d;
    l.e = to->e;
    return l;
}

TARGET void STAGE(bounds)(const ozg_lines *a, int64_t i, int count, const ozg_factors *b, uint64_t *bound,
                          int32_t *most, int32_t *least)
{
    const factors column = {vec64_set1(b->x1), vec64_set1(b->x2), vec64_set1(b->xmax),
                            vec64_set1(b->r1), vec64_set1(b->r2), vec64_set1(b->rmax)};
    const vec w = vec_set1((uint32_t)b->w);
    int e = 0;

    for (; e + VEC_LANES <= count; e += VEC_LANES)
        bounds_of_rows(a, i + e, &column, w, bound + e, most + e, least + e);
    if (e < count) {
        uint64_t all[VEC_LANES];
        int32_t all_most[VEC_LANES], all_least[VEC_LANES];
        copied_rows rows;
        const ozg_lines some = copy_rows(&rows, a, i + e, count - e);

        bounds_of_rows(&some, 0, &column, w, all, all_most, all_least);
        memcpy(bound + e, all, (size_t)(count - e) * sizeof *bound);
        memcpy(most + e, all_most, (size_t)(count - e) * sizeof *most);
        memcpy(least + e, all_least, (size_t)(count - e) * sizeof *least);
    }
}

/* ozg_bound_fits() for a whole strip: one side or the other is shifted to the right. */
TARGET void STAGE(passes)(const uint64_t *bound, const int32_t *shift, uint32_t f, const uint64_t *floors,
                          int c, uint8_t *pass)
{
    const vec64 zero = vec64_set1(0), one = vec64_set1(1), factor = vec64_set1(f);
    uint64_t lane[LANES64];

    for (int e = 0; e < OZG_STRIP; e += LANES64) {
        const vec64 right = vec64_mul_low(vec64_shift_right(vec_load(floors + e), c), factor);
        const vec64 s = vec64_load_i32(shift + e), left = vec64_negative(s);
        const vec64 down = vec64_min(vec64_and(left, vec64_sub(zero, s)), vec64_set1(55)); /* bound < 2^51 */
        const vec64 up = vec64_sub(vec64_add(vec_load(bound + e), vec64_shift_left_by(one, down)), one);

        vec_store(lane, vec64_sub(vec64_shift_right_by(right, vec64_clear(left, s)),
                                  vec64_shift_right_by(up, down)));
        for (int q = 0; q < LANES64; q++)
            pass[e + q] = lane[q] >> 63 == 0;
    }
}

#undef ACROSS
#undef AHEAD
#undef LANES64
#undef TO_INTEGERS
