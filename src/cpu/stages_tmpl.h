/*
 * stages_tmpl.h - scale, measure, split and round in vectors. Include after a vec_*.h and a residues*.h, with
 *     STAGE(name)   the name with the suffix of the instruction set, e.g. ozg_##name##_avx2
 * The residues*.h have what depends on the word: split_real() and split_complex(), reduce and crt.
 *
 * Same bits as the _ref versions, to which tests/kernels compares each; the formulas are explained there and
 * in arith/residue.h. All integer arithmetic.
 *
 * SPDX-License-Identifier: MIT
 */

/* ---- scale -------------------------------------------------------------------------------------- */

#define LANES64 (VEC_LANES / 2)

VEC vec64 magnitude(const uint64_t *x)
{
    return vec64_and(vec_load(x), vec64_set1(~OZG_F64_SIGN));
}

/* largest[i] = max over p of |x[i + p step]| for i < count */
TARGET static void largest_across(const uint64_t *x, int64_t step, int64_t k, int64_t count,
                                  uint64_t *largest)
{
    int64_t i = 0;

    for (; i + 2 * LANES64 <= count; i += 2 * LANES64) {
        vec64 most0 = vec64_set1(0), most1 = most0;

        for (int64_t p = 0; p < k; p++) {
            most0 = vec64_max(most0, magnitude(x + i + p * step));
            most1 = vec64_max(most1, magnitude(x + i + LANES64 + p * step));
        }
        vec_store(largest + i, most0);
        vec_store(largest + i + LANES64, most1);
    }
    for (; i < count; i++) {
        largest[i] = 0;
        for (int64_t p = 0; p < k; p++) {
            const uint64_t bits = x[i + p * step] & ~OZG_F64_SIGN;

            largest[i] = largest[i] < bits ? bits : largest[i];
        }
    }
}

/* max |x[p]| over n contiguous numbers */
TARGET static uint64_t largest_along(const uint64_t *x, int64_t n)
{
    uint64_t lane[LANES64], largest = 0;
    vec64 most0 = vec64_set1(0), most1 = most0;
    int64_t p = 0;

    for (; p + 2 * LANES64 <= n; p += 2 * LANES64) {
        most0 = vec64_max(most0, magnitude(x + p));
        most1 = vec64_max(most1, magnitude(x + p + LANES64));
    }
    vec_store(lane, vec64_max(most0, most1));
    for (int q = 0; q < LANES64; q++)
        largest = largest < lane[q] ? lane[q] : largest;
    for (; p < n; p++)
        largest = largest < (x[p] & ~OZG_F64_SIGN) ? x[p] & ~OZG_F64_SIGN : largest;
    return largest;
}

/* The same for floats: plain loops, which compilers turn into vectors. */
TARGET static void largest_across_single(const uint32_t *x, int64_t step, int64_t k, int64_t count,
                                         uint32_t *largest)
{
    for (int64_t i = 0; i < count; i++)
        largest[i] = 0;
    for (int64_t p = 0; p < k; p++)
        for (int64_t i = 0; i < count; i++) {
            const uint32_t bits = x[i + p * step] & 0x7fffffff;

            largest[i] = largest[i] < bits ? bits : largest[i];
        }
}

TARGET static uint32_t largest_along_single(const uint32_t *x, int64_t n)
{
    uint32_t largest = 0;

    for (int64_t p = 0; p < n; p++)
        largest = largest < (x[p] & 0x7fffffff) ? x[p] & 0x7fffffff : largest;
    return largest;
}

/* Lines side by side: for complex types the components are, and the larger of each pair counts. */
TARGET static void scale_across(const ozg_view *v, int64_t k, int64_t i0, int64_t count, uint64_t *largest)
{
    const int64_t parts = 1 + ozg_type_complex(v->type);
    uint64_t wide[2 * OZG_SCALE_LINES];
    uint32_t narrow[2 * OZG_SCALE_LINES];

    if (ozg_type_single(v->type)) {
        largest_across_single((const uint32_t *)v->x + parts * i0, parts * v->step, k, parts * count, narrow);
        for (int64_t i = 0; i < parts * count; i++)
            wide[i] = ozg_f64_of_f32(narrow[i]);
    } else {
        largest_across((const uint64_t *)v->x + parts * i0, parts * v->step, k, parts * count, wide);
    }
    for (int64_t i = 0; i < count; i++)
        largest[i] =
            wide[parts * i] > wide[parts * (i + 1) - 1] ? wide[parts * i] : wide[parts * (i + 1) - 1];
}

TARGET static uint64_t scale_along(const ozg_view *v, int64_t k, int64_t i)
{
    const int64_t parts = 1 + ozg_type_complex(v->type), at = parts * i * v->line_stride;

    return ozg_type_single(v->type)
               ? ozg_f64_of_f32(largest_along_single((const uint32_t *)v->x + at, parts * k))
               : largest_along((const uint64_t *)v->x + at, parts * k);
}

TARGET void STAGE(scale)(const ozg_view *v, int64_t k, int64_t i0, int64_t i1, uint64_t *largest)
{
    if (v->line_stride == 1)
        scale_across(v, k, i0, i1 - i0, largest);
    else
        for (int64_t i = i0; i < i1; i++)
            largest[i - i0] = scale_along(v, k, i);
}

/* ---- split -------------------------------------------------------------------------------------- */

/* Digit at bit position -shift of mant, with the sign: shift goes down by 15 from one digit to the next. */
VEC vec64 digit(vec64 mant, vec64 shift, vec64 neg)
{
    const vec64 zero = vec64_set1(0);
    const vec64 bits =
        vec64_or(vec64_shift_left_by(mant, shift), vec64_shift_right_by(mant, vec64_sub(zero, shift)));

    return vec64_sub(vec64_xor(vec64_and(bits, vec64_set1((1 << OZG_DIGIT_BITS) - 1)), neg), neg);
}

/* ozg_scale_bits(), then digits. Vector shifts by 64 or more, hence by a negative number, give 0. */
TARGET static void find_digits(const uint64_t *bits, const int32_t *d, int count, int pairs, ozg_digits *out)
{
    const vec64 zero = vec64_set1(0), one = vec64_set1(1);

    for (int e = 0; e < count; e += LANES64) {
        const vec64 x = vec_load(bits + e), exponent = vec64_and(vec64_shift_right(x, 52), vec64_set1(0x7ff));
        const vec64 normal = vec64_negative(vec64_sub(zero, exponent)),
                    neg = vec64_negative(x); /* all ones, else 0 */
        /* |x| = mant 2^(exponent - 1075), the exponent of a subnormal being 1 */
        vec64 mant = vec64_or(vec64_and(x, vec64_set1((UINT64_C(1) << 52) - 1)),
                              vec64_and(normal, vec64_set1(UINT64_C(1) << 52)));
        const vec64 up = vec64_add(vec64_sub(exponent, vec64_set1(1074)),
                                   vec64_sub(vec64_load_i32(d + e), vec64_and(normal, one)));
        const vec64 rounds = vec64_negative(up), down = vec64_and(rounds, vec64_sub(zero, up));
        const vec64 half = vec64_shift_left_by(one, vec64_sub(down, one));
        const vec64 last = vec64_and(vec64_shift_right_by(mant, down), one);
        vec64 shift = vec64_add(up, down);

        mant = vec64_add(mant, vec64_and(rounds, vec64_sub(vec64_add(half, last), one)));
        mant = vec64_shift_right_by(mant, down);
        for (int i = 0; i < pairs; i++) {
            const vec64 low = digit(mant, shift, neg);
            const vec64 high = digit(mant, vec64_sub(shift, vec64_set1(OZG_DIGIT_BITS)), neg);

            vec64_store_pairs(
                out->pair[i], e,
                vec64_or(vec64_and(low, vec64_set1(0xffff)), vec64_shift_left_by(high, vec64_set1(16))));
            shift = vec64_sub(shift, vec64_set1(2 * OZG_DIGIT_BITS));
        }
    }
}

/*
 * The same for widths up to 59 where no d is above 900, in fewer steps. |x^| <= 2^59 is one signed number,
 * and its digits but the last are not negative. Numbers below 2^-1022 become 0, and may be read as if they
 * were normal; then |x| = mant 2^(exponent - 1075) with mant >= 2^52, and the exponent of mant 2^8 is
 * negative: it is only shifted to the right, by at least 1 and, to give 0, by any large number.
 */
#define NARROW_WIDTH 59
#define NARROW_D     900

TARGET static int is_narrow(const int32_t *d, int count, int width)
{
    int32_t most = 0;

    for (int e = 0; e < count; e++)
        most = d[e] > most ? d[e] : most;
    return width <= NARROW_WIDTH && most <= NARROW_D;
}

VEC vec64 scaled_narrow(const uint64_t *bits, const int32_t *d)
{
    const vec64 one = vec64_set1(1), x = vec_load(bits), neg = vec64_negative(x);
    const vec64 exponent = vec64_and(vec64_shift_right(x, 52), vec64_set1(0x7ff));
    const vec64 down = vec64_sub(vec64_sub(vec64_set1(1075 + 8), vec64_load_i32(d)), exponent);
    const vec64 mant = vec64_shift_right(vec64_or(vec64_shift_left(x, 11), vec64_set1(OZG_F64_SIGN)), 3);
    const vec64 half = vec64_shift_left_by(one, vec64_sub(down, one));
    const vec64 last = vec64_and(vec64_shift_right_by(mant, down), one);
    const vec64 rounded = vec64_shift_right_by(vec64_add(vec64_sub(mant, one), vec64_add(half, last)), down);

    return vec64_sub(vec64_xor(rounded, neg), neg);
}

TARGET static void find_digits_narrow(const uint64_t *bits, const int32_t *d, int count, int pairs,
                                      ozg_digits *out)
{
    /* digit 1 is the last if there is one pair */
    const vec64 mask0 = vec64_set1(0x7fff), mask1 = vec64_set1(pairs == 1 ? 0xffff0000 : 0x7fff0000),
                mask2 = vec64_set1(UINT64_C(0x7fff) << 32), mask3 = vec64_set1(UINT64_C(0xffff) << 48);

    for (int e = 0; e < count; e += 16) {
        vec64 both[16 / LANES64]; /* pairs 0 and 1 */

        for (int v = 0; v < 16 / LANES64; v++) {
            const vec64 x = scaled_narrow(bits + e + v * LANES64, d + e + v * LANES64);
            const vec64 low = vec64_or(vec64_and(x, mask0), vec64_and(vec64_shift_left(x, 1), mask1));

            both[v] = vec64_or(low, vec64_or(vec64_and(vec64_shift_left(x, 2), mask2),
                                             vec64_and(vec64_shift_left(x, 3), mask3)));
        }
        vec64_store_both_pairs(out->pair[0] + e, out->pair[1] + e, both);
    }
}

TARGET void STAGE(split)(const ozg_rns *rns, int width, const ozg_layout *layout, int complex_,
                         const ozg_batch *batch, unsigned char *out, size_t plane)
{
    const int pairs = width / (2 * OZG_DIGIT_BITS) + 1, count = (batch->count + 15) & ~15, s = rns->nmod;
    const int direct = count == batch->count; /* whole vectors may be stored in place */
    const size_t bytes = (size_t)(batch->count * layout->word);
    unsigned char word[3][2 * OZG_SPLIT_BATCH];
    ozg_digits re, im;

    if (is_narrow(batch->d, count, width)) {
        find_digits_narrow(batch->re, batch->d, count, pairs, &re);
        if (complex_)
            find_digits_narrow(batch->im, batch->d, count, pairs, &im);
    } else {
        find_digits(batch->re, batch->d, count, pairs, &re);
        if (complex_)
            find_digits(batch->im, batch->d, count, pairs, &im);
    }
    for (int l = 0; l < s; l++) {
        unsigned char *to[3];

        for (int q = 0; q < 3; q++)
            to[q] = direct ? out + (size_t)(q * s + l) * plane : word[q];
        if (complex_)
            split_complex(rns, l, pairs, layout, count, &re, &im, to);
        else
            split_real(rns, l, pairs, layout, count, &re, to[0]);
        for (int q = 0; !direct && q < (complex_ ? 3 : 1); q++)
            memcpy(out + (size_t)(q * s + l) * plane, word[q], bytes);
    }
}

/* ---- round ---------------------------------------------------------------------------------------- */

/* The leading 64 bits of a magnitude, from its highest word that is not 0, and what lies below. */
typedef struct leading {
    vec64 top;      /* leading bit at 63; 0 for zero */
    vec64 below;    /* not 0 iff a lower bit is set */
    vec64 exponent; /* of the leading bit */
} leading;

/* Lanes at e. *neg: all ones for a negative number. */
VEC leading find_leading(int n, uint64_t (*words)[OZG_STRIP], int e, vec64 *neg)
{
    const vec64 zero = vec64_set1(0);
    vec64 carry, hi, lo = zero, sticky = zero, base = vec64_set1(63), previous, under = zero, zeros;
    leading out;

    *neg = vec64_negative(vec_load(words[n - 1] + e));
    hi = previous = vec64_sub(vec64_xor(vec_load(words[0] + e), *neg), *neg);
    carry = vec64_and(*neg, vec64_is_zero(hi));
    carry = vec64_sub(zero, carry);
    for (int w = 1; w < n; w++) { /* upwards: the last word that is not 0 wins */
        const vec64 word = vec64_add(vec64_xor(vec_load(words[w] + e), *neg), carry),
                    empty = vec64_is_zero(word);

        carry = vec64_and(carry, empty);
        hi = vec64_select(empty, hi, word);
        lo = vec64_select(empty, lo, previous);
        sticky = vec64_select(empty, sticky, under);
        base = vec64_select(empty, base, vec64_set1((uint64_t)(64 * w + 63)));
        under = vec64_or(under, previous);
        previous = word;
    }
    zeros = vec64_leading_zeros(hi);
    out.top =
        vec64_or(vec64_shift_left_by(hi, zeros), vec64_shift_right_by(lo, vec64_sub(vec64_set1(64), zeros)));
    out.below = vec64_or(vec64_shift_left_by(lo, zeros), sticky);
    out.exponent = vec64_sub(base, zeros);
    return out;
}

/* 1: some results may be subnormal or infinite, and are not to be used. */
VEC int round_strip(int single, int n, uint64_t (*words)[OZG_STRIP], const int32_t *d, int32_t exponent,
                    int negate, uint64_t *out)
{
    const int precision = single ? 24 : 53,
              limit = single ? 126 : 1022; /* |exponent| of what is surely normal */
    const vec64 cut = vec64_set1((uint64_t)(64 - precision)), one = vec64_set1(1), zero = vec64_set1(0);
    const vec64 half = vec64_shift_left_by(one, cut), sign = vec64_set1(UINT64_C(1) << (single ? 31 : 63));
    vec64 odd_range = zero; /* lanes whose result is, or may be, subnormal or infinite */
    uint64_t lane[LANES64], odd = 0;

    for (int e = 0; e < OZG_STRIP; e += LANES64) {
        vec64 neg, q, rest, x, bits;
        const leading z = find_leading(n, words, e, &neg);
        const vec64 empty = vec64_is_zero(z.top),
                    tail = vec64_add(vec64_is_zero(z.below), one); /* 1 iff bits lie below */

        /* twice the part cut off, its last bit the tail, plus the last bit kept: above 2^(64 - precision) it
         * rounds up */
        q = vec64_shift_right_by(z.top, cut);
        rest = vec64_and(z.top, vec64_sub(half, one));
        rest = vec64_add(vec64_or(vec64_add(rest, rest), tail), vec64_and(q, one));
        q = vec64_sub(q, vec64_negative(vec64_sub(half, rest)));
        x = vec64_sub(vec64_add(z.exponent, vec64_set1((uint64_t)(int64_t)exponent)), vec64_load_i32(d + e));
        bits = vec64_add(q, vec64_shift_left_by(vec64_add(x, vec64_set1((uint64_t)limit)),
                                                vec64_set1((uint64_t)precision - 1)));
        bits = vec64_or(bits, vec64_and(negate ? vec64_xor(neg, vec64_set1(UINT64_MAX)) : neg, sign));
        vec_store(out + e, vec64_clear(empty, bits));
        /* negative if x < -limit or x > limit */
        x = vec64_or(vec64_add(x, vec64_set1((uint64_t)limit)), vec64_sub(vec64_set1((uint64_t)limit), x));
        odd_range = vec64_or(odd_range, vec64_clear(empty, vec64_negative(x)));
    }
    vec_store(lane, odd_range);
    for (int q = 0; q < LANES64; q++)
        odd |= lane[q];
    return odd != 0;
}

TARGET void STAGE(round)(int single, int n, uint64_t (*words)[OZG_STRIP], const int32_t *d, int32_t exponent,
                         int negate, uint64_t *out)
{
    /* double precision of 65 to 128 bits, the usual case, with its loop over the words unrolled */
    const int odd = !single && n == 2 ? round_strip(0, 2, words, d, exponent, negate, out)
                                      : round_strip(single, n, words, d, exponent, negate, out);

    if (odd)
        ozg_round_ref(single, n, words, d, exponent, negate, out);
}

/*
 * With 64 leading bits top, of which the lowest `cut` are rounded away, numbers within eps (in units of the
 * last of the 64) round alike if the part cut off is further than eps from one half, and none falls below
 * the power of two where the units change.
 */
TARGET void STAGE(doubt)(int single, int n, uint64_t (*words)[OZG_STRIP], const int32_t *d, int32_t exponent,
                         const uint64_t *bound, const int32_t *shift, uint8_t *doubt)
{
    const int precision = single ? 24 : 53, limit = single ? 126 : 1022;
    const vec64 zero = vec64_set1(0), cut = vec64_set1(64 - (uint64_t)precision);
    const vec64 mask = vec64_sub(vec64_shift_left_by(vec64_set1(1), cut), vec64_set1(1));
    const vec64 half = vec64_shift_left_by(vec64_set1(1), vec64_sub(cut, vec64_set1(1)));
    uint64_t lane[LANES64];

    for (int e = 0; e < OZG_STRIP; e += LANES64) {
        vec64 neg, eps, gap, x, below, sure;
        const leading z = find_leading(n, words, e, &neg);
        const vec64 b = vec_load(bound + e);
        const vec64 down = vec64_sub(vec64_sub(z.exponent, vec64_set1(63)), vec64_load_i32(shift + e));

        /* 1 for the bits shifted out, 1 for those below top */
        eps = vec64_add(vec64_shift_right_by(b, down), vec64_set1(2));
        gap = vec64_sub(vec64_and(z.top, mask), half);
        gap = vec64_select(vec64_negative(gap), vec64_sub(zero, gap), gap);
        below = vec64_and(z.top, vec64_set1(INT64_MAX)); /* above the power of two */
        x = vec64_sub(vec64_add(z.exponent, vec64_set1((uint64_t)(int64_t)exponent)), vec64_load_i32(d + e));
        /* negative if x < -limit or x > limit, if the bound is above the last bit, if top is 0 */
        x = vec64_or(vec64_add(x, vec64_set1((uint64_t)limit)), vec64_sub(vec64_set1((uint64_t)limit), x));
        x = vec64_or(vec64_or(x, down), vec64_is_zero(z.top));
        sure = vec64_and(vec64_negative(vec64_sub(eps, gap)), vec64_negative(vec64_sub(eps, below)));
        sure = vec64_select(vec64_negative(x), zero, sure);
        vec_store(lane, vec64_or(sure, vec64_is_zero(b)));
        for (int q = 0; q < LANES64; q++)
            doubt[e + q] = lane[q] == 0;
    }
}

#undef LANES64
#undef NARROW_D
#undef NARROW_WIDTH
