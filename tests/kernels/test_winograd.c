/*
 * test_winograd.c - Winograd's sums by every kernel against plain arithmetic, and the product stage by
 * Winograd against a triple loop: extreme residues of all moduli, odd sizes, k at the limit of 32-bit sums.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels.h"
#include "cpu/parts.h"
#include "plan.h"

enum { WORDS_MAX = 512 };

static struct guard quarter_memory[4], out_memory[4];

enum pattern { ANY, LOWEST, HIGHEST, ALTERNATING, SIGNS, PATTERNS, MOST };

/* A residue mod m of a layout, from number n on. */
static int value_of(struct rng *r, int m, int nonneg, enum pattern pattern, int64_t n)
{
    const int low = nonneg ? 0 : -((m - 1) / 2), high = low + m - 1;

    switch (pattern) {
    case LOWEST:
        return low;
    case HIGHEST:
        return high;
    case ALTERNATING:
        return n % 2 ? high : low;
    case SIGNS:
        return rng_next(r) & 1 ? high : low;
    default:
        return low + (int)rng_below(r, (uint64_t)m);
    }
}

/* Word number e at x as a residue: sign-extended where the layout is symmetric. */
static int residue_at(const void *x, const ozg_layout *layout, int64_t e)
{
    const unsigned w = word_at(x, layout->word, e);

    return layout->nonneg ? (int)w : layout->word == 1 ? (int8_t)w : (int16_t)w;
}

/* The word that stores the residue of a number: what split would write. */
static unsigned stored(int64_t number, int m, const ozg_layout *layout)
{
    const int r = (int)((number % m + m) % m), s = layout->nonneg || r <= m / 2 ? r : r - m;

    return (unsigned)s & (layout->word == 1 ? 0xff : 0xffff);
}

static void check_quarters(const ozg_kernel *kernel, struct rng *r, const ozg_rns *rns, int l,
                           const ozg_layout *layout, int negative, int64_t count, enum pattern pattern)
{
    const size_t bytes = (size_t)(count * layout->word);
    const int m = (int)rns->m[l], s = negative ? -1 : 1;
    const void *quarter[4];
    void *out[4];

    for (int t = 0; t < 4; t++) {
        unsigned char *x = guard_tail(&quarter_memory[t], bytes);
        const enum pattern own = pattern == SIGNS ? (enum pattern)(LOWEST + rng_below(r, 2)) : pattern;

        for (int64_t e = 0; e < count; e++)
            set_word(x, layout->word, e, (unsigned)value_of(r, m, layout->nonneg, own, e + t));
        quarter[t] = x;
        out[t] = guard_tail(&out_memory[t], bytes);
        memset(guard_head(&out_memory[t]), 0x5a, out_memory[t].room);
    }
    kernel->quarters(rns, l, layout, negative, count, quarter, out);
    for (int64_t e = 0; e < count; e++) {
        const int64_t w = residue_at(quarter[0], layout, e), x = residue_at(quarter[1], layout, e);
        const int64_t y = residue_at(quarter[2], layout, e), z = residue_at(quarter[3], layout, e);
        const int64_t sum[4] = {z + s * y, z + s * y - s * w, s * (w - y), x - z - s * y + s * w};

        for (int t = 0; t < 4; t++)
            if (word_at(out[t], layout->word, e) != stored(sum[t], m, layout))
                fail_msg("%s: mod %d, nonneg %d, s = %d, pattern %d, sum %d of %lld, %lld, %lld, %lld: %#x",
                         kernel->name, m, layout->nonneg, s, (int)pattern, t, (long long)w, (long long)x,
                         (long long)y, (long long)z, word_at(out[t], layout->word, e));
    }
    for (int t = 0; t < 4; t++)
        for (unsigned char *c = guard_head(&out_memory[t]); c < (unsigned char *)out[t]; c++)
            assert_int_equal(*c, 0x5a);
}

/* All systems, all moduli, both layouts, all counts around whole vectors. */
static void test_quarters(void **state)
{
    struct rng r = {1};

    (void)state;
    for (int i = 0; kernel_at(i); i++)
        for (int form = 0; form < 8; form++) {
            const int word = 1 + form / 4, negative = form % 2;
            ozg_layout layout = form & 2 ? kernel_at(i)->a : kernel_at(i)->b;

            if (!takes_word(kernel_at(i), word))
                continue;
            layout.word = word;
            for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s += word == 1 ? OZG_NMOD_MAX - OZG_NMOD_MIN : 1)
                for (int l = 0; l < rns_of(word, s)->nmod; l++)
                    for (int pattern = 0; pattern < PATTERNS; pattern++)
                        check_quarters(kernel_at(i), &r, rns_of(word, s), l, &layout, negative,
                                       1 + (int64_t)rng_below(&r, 200), (enum pattern)pattern);
            for (int64_t count = 1; count <= WORDS_MAX; count++)
                check_quarters(kernel_at(i), &r, rns_of(word, 16), (int)rng_below(&r, 9), &layout, negative,
                               count, ANY);
        }
}

static void test_combine(void **state)
{
    struct rng r = {2};
    _Alignas(64) int32_t x[OZG_MR_MAX * OZG_NR_MAX], y[OZG_MR_MAX * OZG_NR_MAX];
    _Alignas(64) int32_t out[OZG_MR_MAX * OZG_NR_MAX + 16];

    (void)state;
    for (int i = 0; kernel_at(i); i++) {
        const int count = kernel_at(i)->a.lines * kernel_at(i)->b.lines;

        for (int e = 0; e < count; e++) {
            x[e] = (int32_t)(rng_next(&r) >> 32);
            y[e] = (int32_t)(rng_next(&r) >> 32);
        }
        for (int e = 0; e < OZG_MR_MAX * OZG_NR_MAX + 16; e++)
            out[e] = 77;
        kernel_at(i)->combine(count, x, y, out);
        for (int e = 0; e < count; e++)
            assert_true((uint32_t)out[e] == (uint32_t)x[e] + (uint32_t)y[e]);
        for (int e = count; e < OZG_MR_MAX * OZG_NR_MAX + 16; e++)
            assert_int_equal(out[e], 77);
    }
}

/* ---- the product stage -------------------------------------------------------------------------- */

/* An operand: its planes in memory that ends at a guard page, and its sums in such memory. */
struct side {
    const ozg_layout *layout;
    int64_t lines, k;
    ozg_planes planes, sums;
    struct guard memory, sum_memory;
};

static int64_t word_number(const struct side *x, int64_t line, int64_t p)
{
    const ozg_layout *g = x->layout;

    return ((p / g->kr) * g->lines + line % g->lines) * g->kr + p % g->kr;
}

static unsigned char *panel_of(const struct side *x, int plane, int64_t line)
{
    return x->planes.base + (size_t)plane * x->planes.plane +
           (size_t)(line / x->layout->lines) * x->planes.panel;
}

/*
 * Pattern MOST: quarters w, x, y, z of both operands of which the sums of products are as large as can be, if
 * those of A are in [0, m): of A f0 .. f3 are m - 2, m - 1, m - 1, m - 1; of B w + f1 + f2 + z is 3 h. C12
 * then has some 380 (m - 1) an element for m = 255, of 508.
 */
static int most_of(int m, const ozg_layout *layout, int is_a, int quarter)
{
    const int h = (m - 1) / 2, w = (h - 1) / 2;
    const int a[4] = {-1, -2, 0, -2}, b[4] = {w, 0, w + h, w};
    const int x = ((is_a ? a[quarter] : b[quarter]) + 2 * m) % m;

    return layout->nonneg || x <= m / 2 ? x : x - m;
}

/* Fills `planes` planes; those from nmod 3 or nmod on have floors. Padding as split writes it. */
static struct side side_of(struct rng *r, const ozg_rns *rns, const ozg_layout *layout, int is_a,
                           int64_t lines, int64_t k, int planes, int residues, const ozg_halves *half,
                           enum pattern pattern)
{
    const int64_t half_lines = half->rows; /* of this side */
    const size_t bytes = ozg_planes_bytes(layout, planes, lines, k),
                 sum_bytes = ozg_planes_bytes(layout, 4 * residues, half_lines, half->count);
    struct side x = {layout, lines, k, {NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}};

    guard_open(&x.memory, bytes);
    guard_open(&x.sum_memory, sum_bytes);
    x.planes = ozg_planes_at(guard_tail(&x.memory, bytes), layout, lines, k);
    x.sums = ozg_planes_at(guard_tail(&x.sum_memory, sum_bytes), layout, half_lines, half->count);
    memset(x.sums.base, 0x7f, sum_bytes);
    memset(x.planes.base, 0x7f, bytes); /* dirt between panels */
    for (int plane = 0; plane < planes; plane++)
        for (int64_t line = 0; line < (lines + layout->lines - 1) / layout->lines * layout->lines; line++)
            for (int64_t p = 0; p < (k + layout->step - 1) / layout->step * layout->step; p++) {
                const int m = plane < residues ? (int)rns->m[plane % rns->nmod] : 128;
                const int quarter = (line >= half_lines ? 2 : 0) + (p >= half->count);
                const int value = pattern == MOST ? most_of(m, layout, is_a, quarter)
                                                  : value_of(r, m, plane < residues ? layout->nonneg : 1,
                                                             pattern, line + p);

                set_word(panel_of(&x, plane, line), layout->word, word_number(&x, line, p),
                         (unsigned)(line < lines && p < k ? value : 0));
            }
    return x;
}

static void close_side(struct side *x)
{
    guard_close(&x->memory);
    guard_close(&x->sum_memory);
}

static int64_t dot(const struct side *a, const struct side *b, int plane, int64_t i, int64_t j, int64_t p0,
                   int64_t p1)
{
    const unsigned char *x = panel_of(a, plane, i), *y = panel_of(b, plane, j);
    int64_t sum = 0;

    for (int64_t p = p0; p < p1; p++)
        sum += (int64_t)residue_at(x, a->layout, word_number(a, i, p)) *
               residue_at(y, b->layout, word_number(b, j, p));
    return sum;
}

struct problem {
    int64_t rows, columns, k, chunk; /* chunk: elements of a call */
    int complex_, native, threads, stride;
    enum pattern pattern;
};

/* Entry (i, j): residues of all moduli, and sums of floors. */
static void check_entry(const ozg_kernel *kernel, const struct problem *q, const ozg_rns *rns,
                        const struct side *a, const struct side *b, const ozg_residues *out, int64_t i,
                        int64_t j)
{
    const int n = rns->nmod, parts = q->complex_ ? 3 : 1;

    for (int l = 0; l < n + q->native; l++) {
        const int64_t at = i + j * out->ld;
        int64_t s[3] = {0, 0, 0}, value[2];

        for (int c = 0; c < parts; c++)
            s[c] = dot(a, b, l < n ? c * n + l : parts * n + c, i, j, 0, q->k);
        value[0] = q->complex_ ? s[0] - s[1] : s[0];
        value[1] = s[2] - s[0] - s[1];
        for (int c = 0; c < 1 + q->complex_ && l < n; c++) {
            const int m = (int)rns->m[l];
            const unsigned is = word_at(out->base + (size_t)(c * n + l) * out->plane, rns->word, at);

            if (is != (unsigned)((value[c] % m + m) % m))
                fail_msg("%s: %lld x %lld x %lld by %lld, complex %d, threads %d, pattern %d, mod %d, "
                         "component %d of (%lld, %lld): %u, sum %lld",
                         kernel->name, (long long)q->rows, (long long)q->columns, (long long)q->k,
                         (long long)q->chunk, q->complex_, q->threads, (int)q->pattern, m, c, (long long)i,
                         (long long)j, is, (long long)value[c]);
        }
        if (l == n) {
            assert_true(out->floors[at] == (uint64_t)(q->complex_ ? s[0] + s[1] : s[0]));
            if (q->complex_)
                assert_true(out->floors[at + (int64_t)out->numbers] == (uint64_t)value[1]);
        }
    }
}

static ozg_stage stage_of(const ozg_kernel *kernel, const ozg_rns *rns, const struct problem *q,
                          const ozg_halves *half)
{
    ozg_stage st;
    const size_t classical = ozg_cpu_scratch_bytes(kernel, q->complex_, q->rows, q->columns),
                 winograd = ozg_winograd_scratch_bytes(kernel, q->complex_, half);

    memset(&st, 0, sizeof st);
    st.kernel = kernel;
    st.rns = rns;
    st.kind = q->native ? OZG_BY_NATIVE : OZG_BY_MODULI;
    st.threads = q->threads;
    st.scalars.complex_ = q->complex_;
    st.scratch_bytes = (winograd > classical ? winograd : classical) / 64 * 64 + 64;
    st.scratch = aligned_alloc(64, st.scratch_bytes * (size_t)q->threads);
    assert_non_null(st.scratch);
    return st;
}

static ozg_residues residues_of(const ozg_rns *rns, const struct problem *q)
{
    ozg_residues out;

    out.ld = (q->rows + OZG_STRIP - 1) / OZG_STRIP * OZG_STRIP;
    out.numbers = (size_t)(out.ld * q->columns);
    out.plane = out.numbers * (size_t)rns->word;
    out.base = malloc(out.plane * (size_t)(2 * rns->nmod));
    out.floors = malloc(16 * out.numbers);
    out.ceilings = NULL;
    assert_true(out.base && out.floors);
    memset(out.base, 0xab, out.plane * (size_t)(2 * rns->nmod)); /* the first chunk overwrites */
    return out;
}

static void check_product(const ozg_kernel *kernel, struct rng *r, const ozg_rns *rns,
                          const struct problem *q)
{
    const ozg_halves half = ozg_halves_of(kernel, q->rows, q->columns, q->chunk),
                     half_b = {half.columns, half.columns, half.count};
    const int residues = rns->nmod * (q->complex_ ? 3 : 1),
              planes = residues + q->native * (q->complex_ ? 3 : 1);
    struct side a = side_of(r, rns, &kernel->a, 1, q->rows, q->k, planes, residues, &half, q->pattern);
    struct side b = side_of(r, rns, &kernel->b, 0, q->columns, q->k, planes, residues, &half_b, q->pattern);
    ozg_stage st = stage_of(kernel, rns, q, &half);
    ozg_residues out = residues_of(rns, q);

    assert_true(half.rows > 0);
    for (int64_t p = 0; p < q->k; p += q->chunk) {
        const int64_t count = q->k - p < q->chunk ? q->k - p : q->chunk;
        const ozg_halves now = ozg_halves_of(kernel, q->rows, q->columns, count);
        const ozg_winograd w = {a.sums, b.sums};
        ozg_planes pa = a.planes, pb = b.planes; /* the sums are of planes that begin with the chunk */

        pa.base += (size_t)(p * kernel->a.lines * kernel->a.word);
        pb.base += (size_t)(p * kernel->b.lines * kernel->b.word);
        if (now.rows) {
            ozg_cpu_quarters(&st, 'A', &pa, &now, count, &a.sums);
            ozg_cpu_quarters(&st, 'B', &pb, &now, count, &b.sums);
        }
        ozg_cpu_product(&st, &pa, 0, &pb, 0, q->rows, q->columns, count, p == 0, &w, &out);
    }
    for (int64_t at = 0; at < q->rows * q->columns; at += q->stride)
        check_entry(kernel, q, rns, &a, &b, &out, at % q->rows, at / q->rows);
    close_side(&a);
    close_side(&b);
    free(st.scratch);
    free(out.base);
    free(out.floors);
}

static void test_shapes(void **state)
{
    struct rng r = {3};

    (void)state;
    for (int i = 0; kernel_at(i); i++)
        for (int n = 0; n < 30; n++) {
            const int nr = kernel_at(i)->b.lines;
            struct problem q = {rng_between(&r, 64, 210),
                                rng_between(&r, 2 * nr, 5 * nr),
                                rng_between(&r, 65, n % 4 ? 300 : 2500),
                                0,
                                n % 3 == 0,
                                n % 5 == 0,
                                1 + n % 3,
                                n % 4 ? 7 : 61,
                                (enum pattern)(n % PATTERNS)};

            q.chunk = n % 7 ? q.k : (q.k / 2 + 63) / 64 * 64 < 65 ? 128 : (q.k / 2 + 63) / 64 * 64;
            check_product(kernel_at(i), &r, rns_of(kernel_at(i)->a.word, 2 + n % 20), &q);
        }
}

/* Blocks that do not fill the tile: more than one in each direction. */
static void test_blocks(void **state)
{
    struct rng r = {4};

    (void)state;
    for (int i = 0; kernel_at(i); i++)
        for (int complex_ = 0; complex_ < 2; complex_++) {
            const struct problem q = {700, 900, 130, 130, complex_, 1, 2, 9973, ANY};

            check_product(kernel_at(i), &r, rns_of(kernel_at(i)->a.word, 2), &q);
        }
}

/* The largest chunk, extreme residues of the largest moduli: sums of four products reach 2^31. */
static void test_limit(void **state)
{
    struct rng r = {5};

    (void)state;
    for (int i = 0; kernel_at(i); i++) {
        const int64_t most = kernel_at(i)->a.nonneg ? 32768 : 65536;

        assert_int_equal(ozg_halves_of(kernel_at(i), 64, 64, most).count, most / 2);
        assert_int_equal(ozg_halves_of(kernel_at(i), 64, 64, most + 1).count, 0);
        for (int pattern = HIGHEST; pattern <= MOST; pattern += MOST - HIGHEST) {
            const struct problem q = {64,  2 * kernel_at(i)->b.lines, most, most, 0, 0, 1,
                                      211, (enum pattern)pattern};

            check_product(kernel_at(i), &r, rns_of(kernel_at(i)->a.word, 2), &q); /* 256, 255; 2^16, ... */
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quarters), cmocka_unit_test(test_combine), cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_blocks),   cmocka_unit_test(test_limit),
    };
    int failed;

    for (int t = 0; t < 4; t++) {
        guard_open(&quarter_memory[t], 2 * WORDS_MAX);
        guard_open(&out_memory[t], 2 * WORDS_MAX);
    }
    failed = cmocka_run_group_tests(tests, kernels_announce, NULL);
    for (int t = 0; t < 4; t++) {
        guard_close(&quarter_memory[t]);
        guard_close(&out_memory[t]);
    }
    return failed;
}
