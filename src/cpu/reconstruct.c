/*
 * reconstruct.c - the reconstruct stage in tasks: strips of residues to c^, the tests that the accuracy asks
 * for, and the one rounding.
 *
 *     native    an entry stays as it is if its bound is proven small enough (ozg_bound_passes)
 *     rounded   an entry stays as it is if RN(c^ - bound) and RN(c^ + bound) are the same bits
 *
 * and neither turns an error into an infinity. All others are computed exactly (repair.c) before C is
 * overwritten.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cpu/parts.h"
#include "parallel.h"

#define RECONSTRUCT_ROWS 1024 /* of a task, in one column */

typedef struct reconstruct_job {
    const ozg_stage *st;
    const ozg_residues *in;
    const ozg_lines *a, *b;
    int64_t i0, rows, j0;
    void *c;
    int64_t ldc, row_blocks;
    uint32_t factor; /* F of native grade */
    ozg_repairs *repairs;
} reconstruct_job;

/* Rows i .. i + count - 1 of column j of C, and their c^ in two's complement. */
typedef struct strip {
    int64_t i, j;
    int count;
    uint64_t word[2][OZG_CRT_WORDS][OZG_STRIP]; /* Re, Im */
    uint8_t done[OZG_STRIP];                    /* stored already, or special */
    uint8_t failed[OZG_STRIP];                  /* to be computed exactly */
    int tests;                                  /* some bound is not 0 */
    uint64_t bound[OZG_STRIP];                  /* |AB - c^| <= bound 2^shift in units of c^ */
    int32_t shift[OZG_STRIP];
} strip;

/* c^ of one row: n words in two's complement, stride apart. */
typedef struct number {
    uint64_t *word;
    int n, stride;
} number;

static number row_of(const reconstruct_job *job, uint64_t (*word)[OZG_STRIP], int e)
{
    const number z = {&word[0][e], job->st->rns->nword, OZG_STRIP};

    return z;
}

/* Sign and magnitude. */
static void value_of_number(number z, ozg_value *v)
{
    const int neg = (int)(z.word[(z.n - 1) * z.stride] >> 63);
    const uint64_t flip = neg ? UINT64_MAX : 0;
    uint64_t carry = (uint64_t)neg;

    v->kind = OZG_FINITE;
    v->neg = 0;
    v->z.neg = neg;
    v->z.n = z.n;
    for (int w = 0; w < z.n; w++) {
        v->z.w[w] = (z.word[w * z.stride] ^ flip) + carry;
        carry &= v->z.w[w] == 0;
    }
}

static int64_t index_of(const reconstruct_job *job, const strip *s, int e)
{
    return ozg_line_stored(job->a, s->i + e) + ozg_line_stored(job->b, s->j) * job->ldc;
}

/* z += (-1)^neg mant 2^shift. 0: not done, for the number is no integer or might not fit. */
static int add_integer(number z, uint64_t mant, int64_t shift, int neg)
{
    uint64_t part[2], carry = (uint64_t)neg;
    int first, bit;

    if (mant == 0)
        return 1;
    if (shift < 0) {
        if (shift < -63 || mant & ((UINT64_C(1) << -shift) - 1))
            return 0;
        mant >>= -shift;
        shift = 0;
    }
    /* |c^| < 2^(64 n) (1/2 - 1/64): two numbers below 2^(64 n - 7) may be added */
    if (shift + ozg_bit_length(mant) > 64 * z.n - 7)
        return 0;
    first = (int)(shift / 64);
    bit = (int)(shift % 64);
    part[0] = mant << bit;
    part[1] = bit ? mant >> (64 - bit) : 0;
    for (int w = first; w < z.n; w++) { /* subtracting is adding the complement plus 1 */
        const uint64_t add = (w - first < 2 ? part[w - first] : 0) ^ (neg ? UINT64_MAX : 0);
        const uint64_t sum = z.word[w * z.stride] + carry;

        carry = sum < carry;
        z.word[w * z.stride] = sum + add;
        carry += z.word[w * z.stride] < add;
    }
    return 1;
}

/*
 * c^ += beta C / (alpha 2^x) for row e, x = -d - E: then alpha 2^x c^ is all there is to round. 0: not
 * done.
 */
static int add_old(const reconstruct_job *job, strip *s, int e, int part, uint64_t bits)
{
    const ozg_fp alpha = job->st->scalars.alpha[0].fp, beta = job->st->scalars.beta[0].fp;
    const ozg_fp old = ozg_fp_of_bits(bits);

    if (ozg_is_special(bits))
        return 0;
    return add_integer(row_of(job, s->word[part], e), old.mant,
                       (int64_t)old.exp + beta.exp - alpha.exp + job->a->d[s->i + e] + job->b->d[s->j],
                       old.neg ^ beta.neg ^ alpha.neg);
}

/* The same for all components of an entry, or for none. */
static int add_old_parts(const reconstruct_job *job, strip *s, int e)
{
    const int n = job->st->rns->nword;
    uint64_t real[OZG_CRT_WORDS], old[2];

    ozg_entry_old(&job->st->scalars, job->c, index_of(job, s, e), old);
    for (int w = 0; w < n; w++)
        real[w] = s->word[0][w][e];
    if (!add_old(job, s, e, 0, old[0]))
        return 0;
    if (!job->st->scalars.complex_ || add_old(job, s, e, 1, old[1]))
        return 1;
    for (int w = 0; w < n; w++)
        s->word[0][w][e] = real[w];
    return 0;
}

/* c^ of row e moved by its bound, up or down. 0: the bound does not fit. */
static int move_by_bound(number z, const strip *s, int e, int down)
{
    const int32_t shift = s->shift[e];

    return add_integer(z, ozg_ceil_shift(s->bound[e], shift < 0 ? -shift : 0), shift < 0 ? 0 : shift, down);
}

/* The bits are those of an infinity, of a row whose c^ is not exact. */
static int is_doubtful(const reconstruct_job *job, const strip *s, int e, uint64_t bits)
{
    const uint64_t inf = job->st->scalars.single ? UINT64_C(0x7f800000) : OZG_F64_INF;

    return s->tests && s->bound[e] && (bits & inf) == inf;
}

/* Marks such rows. One more in the lowest bit of the exponent carries out of that of an infinity. */
static void mark_doubtful(const reconstruct_job *job, strip *s, const uint64_t *bits)
{
    const int single = job->st->scalars.single;
    const uint64_t inf = single ? UINT64_C(0x7f800000) : OZG_F64_INF, one = UINT64_C(1) << (single ? 23 : 52);
    uint64_t any = 0;

    for (int e = 0; e < OZG_STRIP; e++)
        any |= (bits[e] & inf) + one;
    if ((any & (inf + one)) == 0 || !s->tests)
        return;
    for (int e = 0; e < s->count; e++)
        s->failed[e] |= (uint8_t)is_doubtful(job, s, e, bits[e]);
}

/* ---- an entry in general ------------------------------------------------------------------------ */

/* The component of the strip, moved down (-1), up (1) or not at all (0), as a value. 0: the bound does not
 * fit.
 */
static int value_moved(const reconstruct_job *job, const strip *s, int e, int part, int move, ozg_value *v)
{
    uint64_t word[OZG_CRT_WORDS] = {0};
    const number z = {word, job->st->rns->nword, 1};

    for (int w = 0; w < z.n; w++)
        word[w] = s->word[part][w][e];
    if (move && !move_by_bound(z, s, e, move < 0))
        return 0;
    value_of_number(z, v);
    v->x = -(job->a->d[s->i + e] + job->b->d[s->j]);
    return 1;
}

/* RN of component `part` with alpha AB moved down (-1), up (1) or not at all. 0: not done. */
static int round_moved(const reconstruct_job *job, const strip *s, int e, int part, int move,
                       const uint64_t *old, uint64_t *bits)
{
    const ozg_scalars *scalars = &job->st->scalars;
    ozg_value v[2] = {{0}, {0}};

    for (int q = 0; q <= scalars->complex_; q++) { /* alpha_q meets component part ^ q, Im Im negatively */
        const int negative = scalars->alpha[q].fp.neg ^ (q && !part);

        if (!value_moved(job, s, e, part ^ q, negative ? -move : move, &v[part ^ q]))
            return 0;
    }
    *bits = ozg_entry_component(scalars, part, v, old);
    return 1;
}

/* Row e, tested if its rounding is to be certain. */
static void round_entry(const reconstruct_job *job, strip *s, int e)
{
    const ozg_scalars *scalars = &job->st->scalars;
    const int64_t index = index_of(job, s, e);
    const int tested = s->tests && s->bound[e] && job->st->kind == OZG_BY_ROUNDED;
    uint64_t old[2], bits[2], above;

    ozg_entry_old(scalars, job->c, index, old);
    for (int part = 0; part <= scalars->complex_; part++) {
        if (!round_moved(job, s, e, part, tested ? -1 : 0, old, &bits[part]))
            s->failed[e] = 1;
        else if (tested && (!round_moved(job, s, e, part, 1, old, &above) || above != bits[part]))
            s->failed[e] = 1;
        else if (is_doubtful(job, s, e, bits[part]))
            s->failed[e] = 1;
    }
    if (!s->failed[e])
        ozg_entry_store(scalars, job->c, index, bits);
    s->done[e] = !s->failed[e];
}

/* ---- the usual scalars: vectors ----------------------------------------------------------------- */

/* The D of the rows; rows that do not exist are rounded too: they become 0. */
static void set_rows(const reconstruct_job *job, strip *s, int part, int32_t *d)
{
    memcpy(d, job->a->d + s->i, (size_t)s->count * sizeof *d);
    for (int e = s->count; e < OZG_STRIP; e++) {
        d[e] = s->shift[e] = 0;
        s->bound[e] = 0;
        for (int w = 0; w < job->st->rns->nword; w++)
            s->word[part][w][e] = 0;
    }
}

/* Do both ends of the interval of row e round to the same bits? exponent: alpha 2^(-E) of the column. */
static int ends_agree(const reconstruct_job *job, const strip *s, int e, int part, int32_t exponent)
{
    const int single = job->st->scalars.single, negate = job->st->scalars.alpha[0].fp.neg;
    const int64_t x = (int64_t)exponent - job->a->d[s->i + e];
    ozg_value v[2] = {{0}, {0}};

    if (!value_moved(job, s, e, part, -1, &v[0]) || !value_moved(job, s, e, part, 1, &v[1]))
        return 0;
    return ozg_round_words(single, v[0].z.neg ^ negate, v[0].z.w, v[0].z.n, x) ==
           ozg_round_words(single, v[1].z.neg ^ negate, v[1].z.w, v[1].z.n, x);
}

/* RN of component `part` of all rows; marks those whose rounding is to be certain and is not. */
static void round_component(const reconstruct_job *job, strip *s, int part, int tested, uint64_t *bits)
{
    const ozg_stage *st = job->st;
    const ozg_fp alpha = st->scalars.alpha[0].fp;
    const int32_t exponent = alpha.exp - job->b->d[s->j];
    int32_t d[OZG_STRIP];
    uint8_t doubt[OZG_STRIP];

    set_rows(job, s, part, d);
    st->kernel->round(st->scalars.single, st->rns->nword, s->word[part], d, exponent, alpha.neg, bits);
    if (!tested)
        return;
    st->kernel->doubt(st->scalars.single, st->rns->nword, s->word[part], d, exponent, s->bound, s->shift,
                      doubt);
    for (int e = 0; e < s->count; e++)
        if (doubt[e] && !s->done[e] && !s->failed[e])
            s->failed[e] = (uint8_t)!ends_agree(job, s, e, part, exponent);
}

/* The rows of the strip are stored one after the other. */
static int is_contiguous(const reconstruct_job *job, const strip *s)
{
    const int64_t *index = job->a->index; /* rises within a part (apart.h) */

    return !index || index[s->i + s->count - 1] - index[s->i] == s->count - 1;
}

/* All rows that are neither done nor to be computed exactly. */
static void store_strip(const reconstruct_job *job, const strip *s, uint64_t (*bits)[OZG_STRIP])
{
    const int single = job->st->scalars.single, parts = 1 + job->st->scalars.complex_;
    const int whole = is_contiguous(job, s);
    const int64_t first = index_of(job, s, 0);
    void *const c = job->c;
    int left = 0;

    for (int e = 0; e < s->count; e++)
        left |= s->done[e] | s->failed[e];
    if (!left && !single && parts == 1 && whole) {
        memcpy((char *)c + 8 * first, bits[0], (size_t)s->count * 8);
        return;
    }
    for (int part = 0; part < parts; part++)
        for (int e = 0; e < s->count; e++)
            if (!left || (!s->done[e] && !s->failed[e]))
                ozg_store_bits(c, single, (whole ? first + e : index_of(job, s, e)) * parts + part,
                               bits[part][e]);
}

/*
 * alpha = +-2^q and beta = 0 or +-2^r, both real: the components of a complex C do not mix, and C joins c^
 * where it is a multiple of its unit. Rows for which it is not are rounded in general.
 */
static void round_strip(const reconstruct_job *job, strip *s)
{
    const ozg_scalars *scalars = &job->st->scalars;
    const int tested = s->tests && job->st->kind == OZG_BY_ROUNDED;
    const int reads = !ozg_scalar_is_zero(scalars->beta[0]);
    uint64_t bits[2][OZG_STRIP];

    for (int e = 0; e < s->count; e++)
        if (reads && !s->done[e] && !s->failed[e] && !add_old_parts(job, s, e))
            round_entry(job, s, e);
    for (int part = 0; part <= scalars->complex_; part++)
        round_component(job, s, part, tested, bits[part]);
    for (int part = 0; part <= scalars->complex_; part++)
        mark_doubtful(job, s, bits[part]);
    store_strip(job, s, bits);
}

/* +-2^q, or 0 if that is allowed */
static int is_power_of_two(ozg_scalar s, int or_zero)
{
    return s.kind == OZG_FINITE && (s.fp.mant == 1 || (or_zero && s.fp.mant == 0));
}

static int is_plain(const ozg_scalars *s)
{
    return is_power_of_two(s->alpha[0], 0) && is_power_of_two(s->beta[0], 1) &&
           (!s->complex_ || (ozg_scalar_is_zero(s->alpha[1]) && ozg_scalar_is_zero(s->beta[1])));
}

/* ---- tests -------------------------------------------------------------------------------------- */

/* Native grade by |c^| itself: what data of a wide range need. */
static int passes_value(const reconstruct_job *job, const strip *s, int e, int part, int32_t most)
{
    ozg_value v = {0};
    int top, bits;
    uint64_t z;

    value_moved(job, s, e, part, 0, &v);
    for (top = v.z.n - 1; top > 0 && !v.z.w[top];)
        top--;
    bits = ozg_bit_length(v.z.w[top]);
    z = bits > 47 ? v.z.w[top] >> (bits - 47) : v.z.w[top];
    return ozg_bound_passes_value(s->bound[e], job->factor, z, 64 * top + (bits > 47 ? bits - 47 : 0),
                                  job->st->scalars.single, ozg_bound_unit(job->st->length), most);
}

/* Marks the rows that fail native grade. floors: sums of the strip's first row; least: the smaller widths. */
static void test_native(const reconstruct_job *job, strip *s, const uint64_t *floors, const int32_t *least)
{
    const ozg_scalars *scalars = &job->st->scalars;
    const int c = ozg_bound_unit(job->st->length);
    const int32_t base = ozg_bound_shift(scalars->single, scalars->complex_, c);
    int32_t shift[OZG_STRIP];
    uint8_t pass[OZG_STRIP];

    for (int e = 0; e < OZG_STRIP; e++)
        shift[e] = base - least[e];
    for (int part = 0; part <= scalars->complex_; part++) {
        job->st->kernel->passes(s->bound, shift, job->factor, floors + (part ? job->in->numbers : 0), c,
                                pass);
        for (int e = 0; e < s->count; e++)
            if (!pass[e] && !s->done[e] && !s->failed[e])
                s->failed[e] = (uint8_t)!passes_value(job, s, e, part, s->shift[e] + 32 - 2 * c);
    }
}

/* Bounds of all rows, and the test of native grade. Returns how many are above 0. */
static int set_bounds(const reconstruct_job *job, strip *s, const uint64_t *floors)
{
    const ozg_stage *st = job->st;
    const ozg_factors column = ozg_factors_of(job->b, s->j);
    const int32_t unit = 2 * ozg_bound_unit(st->length) - 32;
    int32_t most[OZG_STRIP] = {0}, least[OZG_STRIP] = {0};
    uint64_t any = 0;
    int tests = 0;

    for (int e = s->count; e < OZG_STRIP; e++)
        s->bound[e] = 0;
    st->kernel->bounds(job->a, s->i, s->count, &column, s->bound, most, least);
    for (int e = 0; e < OZG_STRIP; e++) {
        s->shift[e] = most[e] + unit;
        any |= s->bound[e];
    }
    for (int e = 0; any && e < s->count; e++)
        tests += !s->done[e] && s->bound[e];
    if (st->kind == OZG_BY_NATIVE && tests)
        test_native(job, s, floors, least);
    return tests;
}

/* The largest bound of entries that pass, for the report. */
static void note_largest(const reconstruct_job *job, const strip *s)
{
    uint64_t largest = 0, key, known = atomic_load_explicit(&job->repairs->largest, memory_order_relaxed);
    int32_t highest = INT32_MIN;

    if (!job->st->reported)
        return;
    for (int e = 0; e < s->count; e++) {
        const int32_t exp = s->shift[e] - job->a->d[s->i + e] - job->b->d[s->j];

        if (s->done[e] || s->failed[e] || s->bound[e] == 0 || exp + ozg_bit_length(s->bound[e]) < highest)
            continue;
        highest = exp + ozg_bit_length(s->bound[e]);
        key = ozg_bound_key(s->bound[e], exp);
        largest = key > largest ? key : largest;
    }
    while (largest > known && !atomic_compare_exchange_weak(&job->repairs->largest, &known, largest))
        ;
}

/* Row e exactly. ab: c^ before C was added. */
static void repair_row(const reconstruct_job *job, const strip *s, int e, const strip *ab)
{
    ozg_value c[2] = {{0}, {0}};

    for (int part = 0; part <= job->st->scalars.complex_; part++)
        value_moved(job, ab, e, part, 0, &c[part]);
    ozg_cpu_repair(job->st, job->a, s->i + e, job->b, s->j, c, job->c, index_of(job, s, e));
}

/* The marked rows exactly. */
static void repair_strip(const reconstruct_job *job, const strip *s, const strip *ab)
{
    uint64_t count = 0, start = 0;

    for (int e = 0; e < s->count; e++)
        if (s->failed[e] && !s->done[e]) {
            start = count++ ? start : ozg_nanoseconds();
            repair_row(job, s, e, ab);
        }
    if (count) {
        atomic_fetch_add(&job->repairs->repaired, count);
        atomic_fetch_add(&job->repairs->nanoseconds, ozg_nanoseconds() - start);
    }
}

/* ---- tasks -------------------------------------------------------------------------------------- */

/* c^ of a strip, tested where the accuracy wants it. */
static void open_strip(const reconstruct_job *job, strip *s, int64_t at)
{
    const ozg_stage *st = job->st;

    for (int part = 0; part <= st->scalars.complex_; part++)
        st->kernel->crt(st->rns,
                        job->in->base + at * st->rns->word + (size_t)(part * st->rns->nmod) * job->in->plane,
                        job->in->plane, s->word[part]);
    memcpy(s->done, job->a->special + s->i, (size_t)s->count);
    memset(s->failed, 0, sizeof s->failed);
    s->tests = 0;
    if (st->kind == OZG_BY_NATIVE || st->kind == OZG_BY_ROUNDED)
        s->tests = set_bounds(job, s, job->in->floors ? job->in->floors + at : NULL);
    if (st->kind == OZG_BY_NATIVE)
        note_largest(job, s);
}

/* Strip s, whose residues begin at place `at`. Returns how many entries were tested. */
static int reconstruct_strip(const reconstruct_job *job, strip *s, int64_t at)
{
    const ozg_scalars *scalars = &job->st->scalars;
    const int plain = is_plain(scalars), joins = plain && !ozg_scalar_is_zero(scalars->beta[0]);
    const strip *ab = s;
    strip copy;

    open_strip(job, s, at);
    if (s->tests && joins) { /* C will join c^, which a repair needs as it was */
        copy = *s;
        ab = &copy;
    }
    if (plain)
        round_strip(job, s);
    else
        for (int e = 0; e < s->count; e++)
            if (!s->done[e] && !s->failed[e])
                round_entry(job, s, e);
    if (s->tests)
        repair_strip(job, s, ab);
    return s->tests;
}

static void reconstruct_task(void *arg, int64_t task, int thread)
{
    const reconstruct_job *job = arg;
    const int64_t column = task / job->row_blocks;
    const int64_t first = task % job->row_blocks * RECONSTRUCT_ROWS,
                  end = ozg_min64(first + RECONSTRUCT_ROWS, job->rows);
    uint64_t tested = 0;
    strip s;

    (void)thread;
    s.j = job->j0 + column;
    if (job->b->special[s.j])
        return;
    for (int64_t row = first; row < end; row += OZG_STRIP) {
        s.i = job->i0 + row;
        s.count = (int)ozg_min64(OZG_STRIP, end - row);
        tested += (uint64_t)reconstruct_strip(job, &s, row + column * job->in->ld);
    }
    if (tested)
        atomic_fetch_add(&job->repairs->tested, tested);
}

void ozg_cpu_reconstruct(const ozg_stage *st, const ozg_residues *in, const ozg_lines *a, int64_t i0,
                         int64_t rows, const ozg_lines *b, int64_t j0, int64_t columns, void *c, int64_t ldc,
                         ozg_repairs *repairs)
{
    reconstruct_job job = {st,
                           in,
                           a,
                           b,
                           i0,
                           rows,
                           j0,
                           c,
                           ldc,
                           (rows + RECONSTRUCT_ROWS - 1) / RECONSTRUCT_ROWS,
                           ozg_native_factor(st->k),
                           repairs};

    ozg_parallel(st->threads, columns * job.row_blocks, reconstruct_task, &job);
}
