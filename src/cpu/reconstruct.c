/*
 * reconstruct.c - the reconstruct stage in tasks: strips of residues to c^, and the one rounding.
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
} reconstruct_job;

/* A strip of c^ in two's complement, and the rounding of its entries. */
typedef struct strip {
    uint64_t word[2][OZG_CRT_WORDS][OZG_STRIP]; /* Re, Im */
    int count;                                  /* rows that exist */
} strip;

/* Sign and magnitude of c^ of row e. */
static void value_of_words(const uint64_t (*word)[OZG_STRIP], int n, int e, ozg_value *v)
{
    const int neg = (int)(word[n - 1][e] >> 63);
    const uint64_t flip = neg ? UINT64_MAX : 0;
    uint64_t carry = (uint64_t)neg;

    v->kind = OZG_FINITE;
    v->neg = 0;
    v->z.neg = neg;
    v->z.n = n;
    for (int w = 0; w < n; w++) {
        v->z.w[w] = (word[w][e] ^ flip) + carry;
        carry &= v->z.w[w] == 0;
    }
}

/* Row e of a strip, row i + e of column j of C, in general. */
static void update_entry(const reconstruct_job *job, const strip *s, int e, int64_t i, int64_t j)
{
    const int n = job->st->rns->nword;
    ozg_value v[2] = {{0}, {0}};

    v[0].x = v[1].x = -(job->a->d[i + e] + job->b->d[j]);
    value_of_words(s->word[0], n, e, &v[0]);
    if (job->st->scalars.complex_)
        value_of_words(s->word[1], n, e, &v[1]);
    ozg_entry_update(&job->st->scalars, v, job->c, i + e + j * job->ldc);
}

/* word[.][e] += (-1)^neg mant 2^shift. 0: not done, for the number is no integer or might not fit. */
static int add_integer(uint64_t (*word)[OZG_STRIP], int n, int e, uint64_t mant, int64_t shift, int neg)
{
    uint64_t part[2], carry = (uint64_t)neg;
    int first, bit;

    if (mant == 0)
        return 1;
    if (shift < 0) {
        if (shift < -52 || mant & ((UINT64_C(1) << -shift) - 1))
            return 0;
        mant >>= -shift;
        shift = 0;
    }
    if (shift + 53 > 64 * n - 2) /* |c^| < 2^(64 n - 2) leaves a bit for the sum, and one for its sign */
        return 0;
    first = (int)(shift / 64);
    bit = (int)(shift % 64);
    part[0] = mant << bit;
    part[1] = bit ? mant >> (64 - bit) : 0;
    for (int w = first; w < n; w++) { /* subtracting is adding the complement plus 1 */
        const uint64_t add = (w - first < 2 ? part[w - first] : 0) ^ (neg ? UINT64_MAX : 0);
        const uint64_t sum = word[w][e] + carry;

        carry = sum < carry;
        word[w][e] = sum + add;
        carry += word[w][e] < add;
    }
    return 1;
}

/* Number of component `part` of C(i, j) in memory, in components. */
static int64_t component(const reconstruct_job *job, int64_t i, int64_t j, int part)
{
    return (i + j * job->ldc) * (1 + job->st->scalars.complex_) + part;
}

/*
 * c^ += beta C / (alpha 2^x) for row e, x = -d - E: then alpha 2^x c^ is all there is to round. 0: not
 * done.
 */
static int add_old(const reconstruct_job *job, strip *s, int e, int64_t i, int64_t j, int part)
{
    const ozg_scalars *scalars = &job->st->scalars;
    const ozg_fp alpha = scalars->alpha[0].fp, beta = scalars->beta[0].fp;
    const uint64_t bits = ozg_load_bits(job->c, scalars->single, component(job, i + e, j, part));
    const ozg_fp old = ozg_fp_of_bits(bits);

    if (ozg_is_special(bits))
        return 0;
    return add_integer(s->word[part], job->st->rns->nword, e, old.mant,
                       (int64_t)old.exp + beta.exp - alpha.exp + job->a->d[i + e] + job->b->d[j],
                       old.neg ^ beta.neg ^ alpha.neg);
}

/* The same for all components of an entry, or for none. */
static int add_old_parts(const reconstruct_job *job, strip *s, int e, int64_t i, int64_t j)
{
    const int n = job->st->rns->nword;
    uint64_t real[OZG_CRT_WORDS];

    for (int w = 0; w < n; w++)
        real[w] = s->word[0][w][e];
    if (!add_old(job, s, e, i, j, 0))
        return 0;
    if (!job->st->scalars.complex_ || add_old(job, s, e, i, j, 1))
        return 1;
    for (int w = 0; w < n; w++)
        s->word[0][w][e] = real[w];
    return 0;
}

/* Component `part` of rows i.. of column j, all that are not to be skipped: straight to the rounding. */
static void round_component(const reconstruct_job *job, strip *s, int64_t i, int64_t j, int part,
                            const uint8_t *skip)
{
    const ozg_scalars *scalars = &job->st->scalars;
    const ozg_fp alpha = scalars->alpha[0].fp;
    const int n = job->st->rns->nword, single = scalars->single, step = 1 + scalars->complex_;
    const int64_t at = component(job, i, j, part);
    void *const c = job->c;
    int32_t d[OZG_STRIP];
    uint64_t bits[OZG_STRIP];

    for (int e = 0; e < s->count; e++)
        d[e] = job->a->d[i + e];
    for (int e = s->count; e < OZG_STRIP; e++) { /* rows that do not exist are rounded too: make them 0 */
        d[e] = 0;
        for (int w = 0; w < n; w++)
            s->word[part][w][e] = 0;
    }
    job->st->kernel->round(single, n, s->word[part], d, alpha.exp - job->b->d[j], alpha.neg, bits);
    for (int e = 0; e < s->count; e++)
        if (!skip[e])
            ozg_store_bits(c, single, at + e * step, bits[e]);
}

/*
 * Rows i.. of column j for alpha = +-2^q and beta = 0 or +-2^r, both real: the components of a complex C do
 * not mix, and C joins c^ where it is a multiple of its unit. Rows for which it is not are updated in
 * general.
 */
static void round_entries(const reconstruct_job *job, strip *s, int64_t i, int64_t j)
{
    const int reads = !ozg_scalar_is_zero(job->st->scalars.beta[0]), parts = 1 + job->st->scalars.complex_;
    uint8_t skip[OZG_STRIP]; /* special rows, and those that were updated on the way */

    memcpy(skip, job->a->special + i, (size_t)s->count);
    for (int e = 0; reads && e < s->count; e++) {
        if (skip[e])
            continue;
        if (!add_old_parts(job, s, e, i, j)) {
            update_entry(job, s, e, i, j);
            skip[e] = 1;
        }
    }
    for (int part = 0; part < parts; part++)
        round_component(job, s, i, j, part, skip);
}

/* +-2^q, or 0 if that is allowed */
static int is_power_of_two(ozg_scalar s, int or_zero)
{
    return s.kind == OZG_FINITE && (s.fp.mant == 1 || (or_zero && s.fp.mant == 0));
}

static void reconstruct_task(void *arg, int64_t task, int thread)
{
    const reconstruct_job *job = arg;
    const ozg_stage *st = job->st;
    const int complex_ = st->scalars.complex_;
    const int64_t column = task / job->row_blocks, j = job->j0 + column;
    const int64_t first = task % job->row_blocks * RECONSTRUCT_ROWS,
                  end = ozg_min64(first + RECONSTRUCT_ROWS, job->rows);
    const int plain =
        is_power_of_two(st->scalars.alpha[0], 0) && is_power_of_two(st->scalars.beta[0], 1) &&
        (!complex_ || (ozg_scalar_is_zero(st->scalars.alpha[1]) && ozg_scalar_is_zero(st->scalars.beta[1])));
    strip s;

    (void)thread;
    if (job->b->special[j])
        return;
    for (int64_t row = first; row < end; row += OZG_STRIP) {
        const unsigned char *in = job->in->base + (row + column * job->in->ld) * st->rns->word;

        s.count = (int)ozg_min64(OZG_STRIP, end - row);
        st->kernel->crt(st->rns, in, job->in->plane, s.word[0]);
        if (complex_)
            st->kernel->crt(st->rns, in + (size_t)st->rns->nmod * job->in->plane, job->in->plane, s.word[1]);
        if (plain)
            round_entries(job, &s, job->i0 + row, j);
        else
            for (int e = 0; e < s.count; e++)
                if (!job->a->special[job->i0 + row + e])
                    update_entry(job, &s, e, job->i0 + row, j);
    }
}

void ozg_cpu_reconstruct(const ozg_stage *st, const ozg_residues *in, const ozg_lines *a, int64_t i0,
                         int64_t rows, const ozg_lines *b, int64_t j0, int64_t columns, void *c, int64_t ldc)
{
    reconstruct_job job = {st,   in, a, b,   i0,
                           rows, j0, c, ldc, (rows + RECONSTRUCT_ROWS - 1) / RECONSTRUCT_ROWS};

    ozg_parallel(st->threads, columns * job.row_blocks, reconstruct_task, &job);
}
