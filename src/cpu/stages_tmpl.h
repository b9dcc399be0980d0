/*
 * stages_tmpl.h - scale, split, reduce and reconstruct in vectors. Include after a vec_*.h, with
 *     STAGE(name)   the name with the suffix of the instruction set, e.g. ozg_##name##_avx2
 *
 * Same bits as the _ref versions, to which tests/kernels compares each; the formulas are explained there and
 * in arith/residue.h. All integer arithmetic. A recurring step: x - m wraps to a large number if x < m, so
 * that the unsigned minimum of x and x - m is x mod m for x < 2 m.
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

/*
 * x^ in signed digits of 15 bits, (-1)^neg sum_i u_i 2^(15 i), two of them in the halves of each 32-bit
 * number: digit pair i of element e in pair[i][e]. At most five digits of a number are not 0, so the sum of
 * their products with residues below 256 is below 5 * 2^15 * 2^8 < 2^26 in magnitude, and OFFSET m more is
 * a positive number of the same class, below 2^28.
 */
#define DIGIT_BITS 15
#define OFFSET     (UINT32_C(1) << 19)

typedef struct digits {
    uint32_t pair[OZG_SPLIT_PAIRS][OZG_SPLIT_BATCH];
} digits;

/* Digit at bit position -shift of mant, with the sign: shift goes down by 15 from one digit to the next. */
VEC vec64 digit(vec64 mant, vec64 shift, vec64 neg)
{
    const vec64 zero = vec64_set1(0);
    const vec64 bits =
        vec64_or(vec64_shift_left_by(mant, shift), vec64_shift_right_by(mant, vec64_sub(zero, shift)));

    return vec64_sub(vec64_xor(vec64_and(bits, vec64_set1((1 << DIGIT_BITS) - 1)), neg), neg);
}

/* ozg_scale_bits(), then digits. Vector shifts by 64 or more, hence by a negative number, give 0. */
TARGET static void find_digits(const uint64_t *bits, const int32_t *d, int count, int pairs, digits *out)
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
            const vec64 high = digit(mant, vec64_sub(shift, vec64_set1(DIGIT_BITS)), neg);

            vec64_store_low32(out->pair[i] + e, vec64_or(vec64_and(low, vec64_set1(0xffff)),
                                                         vec64_shift_left_by(high, vec64_set1(16))));
            shift = vec64_sub(shift, vec64_set1(2 * DIGIT_BITS));
        }
    }
}

/* What the residues of one modulus need, in all lanes. */
typedef struct split_modulus {
    vec m, inv, offset, power[OZG_SPLIT_PAIRS];
} split_modulus;

/* x^ mod m in [0, m) of elements e.. */
VEC vec residue(const split_modulus *q, int pairs, const digits *in, int e)
{
    vec v = q->offset;

    for (int i = 0; i < pairs; i++)
        v = vec_madd(v, vec_load(in->pair[i] + e), q->power[i]);
    v = vec_sub(v, vec_mul(vec_mul_high(v, q->inv), q->m));
    return vec_min(v, vec_sub(v, q->m));
}

VEC void store_residue(const ozg_layout *layout, const split_modulus *q, vec half, vec r, unsigned char *out,
                       int e)
{
    if (!layout->nonneg)
        r = vec_if_greater(r, half, vec_sub(r, q->m), r);
    if (layout->word == 1)
        vec_store_low8(out + e, r);
    else
        vec_store_low16(out + 2 * e, r);
}

VEC split_modulus split_modulus_of(const ozg_rns *rns, int l, int pairs)
{
    split_modulus q;

    q.m = vec_set1(rns->m[l]);
    q.inv = vec_set1(rns->inv[l]);
    q.offset = vec_set1(rns->m[l] * OFFSET);
    for (int i = 0; i < pairs; i++)
        q.power[i] = vec_set1(rns->power_pair[l][i]);
    return q;
}

/* The residues of a real batch mod m_l, and those of a complex one with their sums for 3M. */
TARGET static void split_real(const ozg_rns *rns, int l, int pairs, const ozg_layout *layout, int count,
                              const digits *re, unsigned char *out)
{
    const split_modulus q = split_modulus_of(rns, l, pairs);
    const vec half = vec_set1(rns->m[l] / 2);

    for (int e = 0; e < count; e += VEC_LANES)
        store_residue(layout, &q, half, residue(&q, pairs, re, e), out, e);
}

TARGET static void split_complex(const ozg_rns *rns, int l, int pairs, const ozg_layout *layout, int count,
                                 const digits *re, const digits *im, unsigned char *const out[3])
{
    const split_modulus q = split_modulus_of(rns, l, pairs);
    const vec half = vec_set1(rns->m[l] / 2);

    for (int e = 0; e < count; e += VEC_LANES) {
        const vec x = residue(&q, pairs, re, e), y = residue(&q, pairs, im, e), sum = vec_add(x, y);

        store_residue(layout, &q, half, x, out[0], e);
        store_residue(layout, &q, half, y, out[1], e);
        store_residue(layout, &q, half, vec_min(sum, vec_sub(sum, q.m)), out[2], e);
    }
}

TARGET void STAGE(split)(const ozg_rns *rns, int width, const ozg_layout *layout, int complex_,
                         const ozg_batch *batch, unsigned char *out, size_t plane)
{
    const int pairs = width / (2 * DIGIT_BITS) + 1, count = (batch->count + 15) & ~15, s = rns->nmod;
    const int direct = count == batch->count; /* whole vectors may be stored in place */
    const size_t bytes = (size_t)(batch->count * layout->word);
    unsigned char word[3][2 * OZG_SPLIT_BATCH];
    digits re, im;

    find_digits(batch->re, batch->d, count, pairs, &re);
    if (complex_)
        find_digits(batch->im, batch->d, count, pairs, &im);
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

/* ---- reduce ------------------------------------------------------------------------------------- */

/* The modulus of a micro-tile in all lanes. */
typedef struct modulus {
    vec m, inv, offset;
} modulus;

/* ozg_mod_sum() */
VEC vec mod_sum(const modulus *q, vec old, vec sum)
{
    const vec v = vec_xor(sum, vec_set1(UINT32_C(0x80000000)));
    vec r = vec_sub(v, vec_mul(vec_mul_high(v, q->inv), q->m));

    r = vec_add(r, vec_add(old, q->offset));
    r = vec_min(r, vec_sub(r, vec_add(q->m, q->m)));
    return vec_min(r, vec_sub(r, q->m));
}

/* x mod m for x < 3 m */
VEC vec mod_small(const modulus *q, vec x)
{
    x = vec_min(x, vec_sub(x, vec_add(q->m, q->m)));
    return vec_min(x, vec_sub(x, q->m));
}

VEC void reduce_real(const modulus *q, int first, const int32_t *sums, uint8_t *re)
{
    const vec old = first ? vec_set1(0) : vec_load_u8(re);

    vec_store_low8(re, mod_sum(q, old, vec_load(sums)));
}

VEC void reduce_complex(const modulus *q, int first, const int32_t *s0, const int32_t *s1, const int32_t *s2,
                        uint8_t *re, uint8_t *im)
{
    const vec zero = vec_set1(0);
    const vec old_re = first ? zero : vec_load_u8(re), old_im = first ? zero : vec_load_u8(im);
    const vec p0 = mod_sum(q, zero, vec_load(s0)), p1 = mod_sum(q, zero, vec_load(s1));
    const vec p2 = mod_sum(q, old_im, vec_load(s2)), minus_p1 = vec_sub(q->m, p1);

    vec_store_low8(re, mod_small(q, vec_add(old_re, vec_add(p0, minus_p1))));
    vec_store_low8(im, mod_small(q, vec_add(vec_add(p2, minus_p1), vec_sub(q->m, p0))));
}

TARGET void STAGE(reduce)(const ozg_rns *rns, int l, int complex_, int mr, int columns, int first,
                          const int32_t *const sums[3], uint8_t *re, uint8_t *im, int64_t ld)
{
    const modulus q = {vec_set1(rns->m[l]), vec_set1(rns->inv[l]), vec_set1(rns->offset[l])};

    for (int j = 0; j < columns; j++)
        for (int i = 0; i < mr; i += VEC_LANES) { /* mr is a multiple of 16 */
            const int at = j * mr + i;

            if (complex_)
                reduce_complex(&q, first, sums[0] + at, sums[1] + at, sums[2] + at, re + i + j * ld,
                               im + i + j * ld);
            else
                reduce_real(&q, first, sums[0] + at, re + i + j * ld);
        }
}

/* ---- reconstruct -------------------------------------------------------------------------------- */

#define VECTORS (OZG_STRIP / VEC_LANES)

/* The residues of a strip, and its quotient q as number nmod, in pairs of 16-bit numbers. */
TARGET static void pair_residues(const ozg_rns *rns, const uint8_t *residues, size_t plane,
                                 vec pairs[(OZG_NMOD_MAX + 2) / 2][VECTORS])
{
    const int s = rns->nmod;

    for (int v = 0; v < VECTORS; v++) {
        vec q = vec_set1(UINT32_C(1) << (rns->quotient_shift - 1));

        for (int l = 0; l < s; l++) {
            const vec r = vec_load_u8(residues + (size_t)l * plane + v * VEC_LANES);

            q = vec_add(q, vec_mul(r, vec_set1(rns->quotient[l])));
            pairs[l / 2][v] = l % 2 ? vec_or(pairs[l / 2][v], vec_shift_left(r, 16)) : r;
        }
        q = vec_shift_right(q, rns->quotient_shift);
        pairs[s / 2][v] = s % 2 ? vec_or(pairs[s / 2][v], vec_shift_left(q, 16)) : q;
    }
}

#define AT_ONCE (8 / VECTORS) /* limbs: enough independent sums to keep the multipliers busy */

/*
 * Limbs i, i + 1, ... of all pairs times their digits: below 2^30 in magnitude, since |digit| <= 2^15 and
 * the numbers add up to less than 2^14.
 */
VEC void sum_limbs(const ozg_rns *rns, int i, vec (*pairs)[VECTORS], vec (*sum)[VECTORS])
{
    vec acc[AT_ONCE][VECTORS];

    for (int g = 0; g < AT_ONCE; g++)
        for (int v = 0; v < VECTORS; v++)
            acc[g][v] = vec_set1(0);
    for (int j = 0; j < rns->npair; j++)
        for (int g = 0; g < AT_ONCE; g++) {
            const vec digits_of_limb = vec_set1(rns->pair[j][i + g]);

            for (int v = 0; v < VECTORS; v++)
                acc[g][v] = vec_madd(acc[g][v], pairs[j][v], digits_of_limb);
        }
    for (int g = 0; g < AT_ONCE; g++)
        for (int v = 0; v < VECTORS; v++)
            sum[g][v] = acc[g][v];
}

TARGET void STAGE(crt)(const ozg_rns *rns, const uint8_t *residues, size_t plane, uint64_t (*out)[OZG_STRIP])
{
    const vec mask = vec_set1(0xffff);
    vec pairs[(OZG_NMOD_MAX + 2) / 2][VECTORS], limb[4][VECTORS], carry[VECTORS];

    pair_residues(rns, residues, plane, pairs);
    for (int v = 0; v < VECTORS; v++)
        carry[v] = vec_set1(0);
    for (int w = 0; w < rns->nword; w++) {
        for (int q = 0; q < 4; q += AT_ONCE)
            sum_limbs(rns, 4 * w + q, pairs, limb + q);
        for (int v = 0; v < VECTORS; v++) {
            for (int q = 0; q < 4; q++) { /* the upper part of each sum is carried on */
                limb[q][v] = vec_add(limb[q][v], carry[v]);
                carry[v] = vec_shift_right_signed(limb[q][v], 16);
                limb[q][v] = vec_and(limb[q][v], mask);
            }
            vec_store_wide(out[w] + v * VEC_LANES, vec_or(limb[0][v], vec_shift_left(limb[1][v], 16)),
                           vec_or(limb[2][v], vec_shift_left(limb[3][v], 16)));
        }
    }
}

/* The leading 64 bits of a magnitude, from its highest word that is not 0, and what lies below. */
typedef struct leading {
    vec64 top;      /* leading bit at 63; 0 for zero */
    vec64 below;    /* not 0 iff a lower bit is set */
    vec64 exponent; /* of the leading bit */
} leading;

VEC vec64 is_zero(vec64 x)
{
    return vec64_xor(vec64_negative(vec64_or(x, vec64_sub(vec64_set1(0), x))), vec64_set1(UINT64_MAX));
}

/* Lanes at e. *neg: all ones for a negative number. */
VEC leading find_leading(int n, uint64_t (*words)[OZG_STRIP], int e, vec64 *neg)
{
    const vec64 zero = vec64_set1(0);
    vec64 carry, hi = zero, lo = zero, sticky = zero, base = zero, previous = zero, under = zero, zeros;
    leading out;

    *neg = vec64_negative(vec_load(words[n - 1] + e));
    carry = vec64_and(*neg, vec64_set1(1));
    for (int w = 0; w < n; w++) { /* upwards: the last word that is not 0 wins */
        const vec64 word = vec64_add(vec64_xor(vec_load(words[w] + e), *neg), carry), empty = is_zero(word);

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

TARGET void STAGE(round)(int single, int n, uint64_t (*words)[OZG_STRIP], const int32_t *d, int32_t exponent,
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
        const vec64 empty = is_zero(z.top),
                    tail = vec64_add(is_zero(z.below), one); /* 1 iff bits lie below */

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
        vec_store(out + e, vec64_select(empty, zero, bits));
        /* negative if x < -limit or x > limit */
        x = vec64_or(vec64_add(x, vec64_set1((uint64_t)limit)), vec64_sub(vec64_set1((uint64_t)limit), x));
        odd_range = vec64_or(odd_range, vec64_select(empty, zero, vec64_negative(x)));
    }
    vec_store(lane, odd_range);
    for (int q = 0; q < LANES64; q++)
        odd |= lane[q];
    if (odd)
        ozg_round_ref(single, n, words, d, exponent, negate, out);
}

/*
 * With 64 leading bits top, of which the lowest `cut` are rounded away, numbers within eps (in units of the last
 * of the 64) round alike if the part cut off is further than eps from one half, and none falls below the power
 * of two where the units change.
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
        x = vec64_or(vec64_or(x, down), is_zero(z.top));
        sure = vec64_and(vec64_negative(vec64_sub(eps, gap)), vec64_negative(vec64_sub(eps, below)));
        sure = vec64_select(vec64_negative(x), zero, sure);
        vec_store(lane, vec64_or(sure, is_zero(b)));
        for (int q = 0; q < LANES64; q++)
            doubt[e + q] = lane[q] == 0;
    }
}

#undef AT_ONCE
#undef DIGIT_BITS
#undef LANES64
#undef OFFSET
#undef VECTORS
