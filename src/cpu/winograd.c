/*
 * winograd.c - the product stage by one level of Winograd's form of Strassen's algorithm, in residues: seven
 * products of quarters instead of eight, everything exact modulo m_l.
 *
 * Lines (rows of A, columns of B) and k are cut in halves. The quarters of an operand are w (first lines,
 * first half of k), x (first, second), y (second, first), z (second, second), and their sums, with s = 1 for A
 * and s = -1 for B (ozg_quarters_fn),
 *
 *     f0 = z + s y,   f1 = f0 - s w,   f2 = s (w - y),   f3 = x - f1.
 *
 * With A's on the left and B's on the right,
 *
 *     P1 = w w,  P2 = x x,  P3 = f3 z,  P4 = z f3,  P5 = f0 f2,  P6 = f1 f1,  P7 = f2 f0,
 *     C11 = P1 + P2,             C12 = P1 + P6 + P5 + P3,
 *     C21 = P1 + P6 + P7 + P4,   C22 = P1 + P6 + P7 + P5.
 *
 * (S. Winograd's form, 15 additions, with the signs of the sums of B turned so that none but sums of quarters
 * subtracts.) The second half of k may be shorter, as if zeros followed. Sums of at most four products, and
 * never of two folded ones that are added to (kernel.h), are formed before they are reduced:
 *     8 bits: 4 h 127^2 and, with A in [0, m), 4 h 254 * 127 are below 2^31 for halves h <= 2^15 and 2^14 (of
 *     m < 256; m = 256 may wrap);
 *     16 bits: 2 * 2^15 (|c| + 1) <= 2^30, what reduce takes, since |c| <= m / 2 < 2^14.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "cpu/product.h"
#include "parallel.h"

#define HALF_SIGNED INT64_C(32768)
#define HALF_NONNEG INT64_C(16384)

enum { PRODUCTS = 7 };
enum { U, V, Z, BLOCKS, NONE = -1 }; /* sums of a block, see below */

ozg_halves ozg_halves_of(const ozg_kernel *kernel, int64_t rows, int64_t columns, int64_t count)
{
    const int64_t nr = kernel->b.lines;
    const ozg_halves half = {rows / (2 * OZG_STRIP) * OZG_STRIP, columns / (2 * nr) * nr,
                             ozg_round_up64((count + 1) / 2, 64)},
                     none = {0, 0, 0};
    const int fits = half.count <= (kernel->a.nonneg ? HALF_NONNEG : HALF_SIGNED);

    return half.rows && half.columns && half.count < count && fits ? half : none;
}

size_t ozg_winograd_scratch_bytes(const ozg_kernel *kernel, int complex_, const ozg_halves *half)
{
    return BLOCKS * ozg_cpu_scratch_bytes(kernel, complex_, half->rows, half->columns);
}

/* ---- sums of quarters --------------------------------------------------------------------------- */

typedef struct quarters_job {
    const ozg_stage *st;
    const ozg_layout *layout;
    const ozg_planes *planes, *out;
    int64_t panels, half, rest; /* panels of a half of the lines; elements of the halves of k */
    int negative;
} quarters_job;

/* The sums of one micro-panel of each half of the lines, in one plane. */
static void quarters_task(void *arg, int64_t task, int thread)
{
    static const unsigned char zeros[2 * OZG_MR_MAX * 128];
    const quarters_job *job = arg;
    const ozg_layout *layout = job->layout;
    const int64_t panel = task % job->panels, plane = task / job->panels;
    const int64_t both = (job->rest + layout->step - 1) / layout->step * layout->step;
    const size_t element = (size_t)(layout->lines * layout->word);
    const unsigned char *first =
        job->planes->base + (size_t)plane * job->planes->plane + (size_t)panel * job->planes->panel;
    const unsigned char *second = first + (size_t)job->panels * job->planes->panel;
    const size_t half = (size_t)job->half * element, at = (size_t)both * element;
    const void *const quarter[4] = {first, first + half, second, second + half};
    const void *const tail[4] = {first + at, zeros, second + at, zeros};
    void *out[4], *tail_out[4];

    (void)thread;
    for (int t = 0; t < 4; t++) {
        unsigned char *to =
            job->out->base + (size_t)(4 * plane + t) * job->out->plane + (size_t)panel * job->out->panel;

        out[t] = to;
        tail_out[t] = to + at;
    }
    job->st->kernel->quarters(job->st->rns, (int)(plane % job->st->rns->nmod), layout, job->negative,
                              both * layout->lines, quarter, out);
    if (both < job->half)
        job->st->kernel->quarters(job->st->rns, (int)(plane % job->st->rns->nmod), layout, job->negative,
                                  (job->half - both) * layout->lines, tail, tail_out);
}

void ozg_cpu_quarters(const ozg_stage *st, char side, const ozg_planes *planes, const ozg_halves *half,
                      int64_t count, const ozg_planes *out)
{
    const ozg_layout *layout = side == 'A' ? &st->kernel->a : &st->kernel->b;
    quarters_job job = {st,
                        layout,
                        planes,
                        out,
                        (side == 'A' ? half->rows : half->columns) / layout->lines,
                        half->count,
                        count - half->count,
                        side == 'B'};

    ozg_parallel(st->threads, job.panels * st->rns->nmod * (st->scalars.complex_ ? 3 : 1), quarters_task,
                 &job);
}

/* ---- products ----------------------------------------------------------------------------------- */

/*
 * The seven products in their order, with three blocks of sums U, V and Z. What is multiplied: quarters w, x,
 * y, z are 0 .. 3, their sums 4 .. 7. The product is added to the sums `from` (NONE: 0) and that goes to `to`;
 * then it is a quarter of C, alone or with the sums `with`.
 */
static const struct {
    int a, b, is_short, from, to, quarter, with; /* is_short: of the second half of k */
} products[PRODUCTS] = {
    {0, 0, 0, NONE, U, NONE, NONE}, /* U = P1 */
    {1, 1, 1, U, Z, 0, NONE},       /* C11 = U + P2 */
    {5, 5, 0, U, U, NONE, NONE},    /* U = P1 + P6 */
    {6, 4, 0, U, V, NONE, NONE},    /* V = U + P7 */
    {4, 6, 0, NONE, Z, 3, V},       /* Z = P5, C22 = Z + V */
    {7, 3, 1, Z, Z, 1, U},          /* C12 = P5 + P3 + U */
    {3, 7, 1, V, V, 2, NONE},       /* C21 = V + P4 */
};

/* The first element of factor number `which` of an operand, from line i0 of its half on; panel: bytes of one. */
static const unsigned char *factor_of(const ozg_planes *planes, const ozg_planes *sums,
                                      const ozg_layout *layout, int64_t plane, int which, int64_t i0,
                                      int64_t p0, int64_t half_lines, int64_t half_count, size_t *panel)
{
    const size_t element = (size_t)(layout->lines * layout->word);
    const int64_t line = which & 2 ? i0 + half_lines : i0, p = which & 1 ? p0 + half_count : p0;

    if (which < 4) {
        *panel = planes->panel;
        return planes->base + (size_t)plane * planes->plane + (size_t)(line / layout->lines) * planes->panel +
               (size_t)p * element;
    }
    *panel = sums->panel;
    return sums->base + (size_t)(4 * plane + which - 4) * sums->plane +
           (size_t)(i0 / layout->lines) * sums->panel;
}

/* The two factors of a product, and its length. */
typedef struct factors {
    const unsigned char *a, *b;
    size_t panel_a, panel_b;
    int64_t count;
} factors;

static factors factors_of(const ozg_product_job *job, const ozg_task_block *at, int q, int product)
{
    const ozg_kernel *kernel = job->st->kernel;
    const ozg_halves *half = &job->half;
    const int64_t plane = q * job->st->rns->nmod + at->l;
    factors f;

    f.a = factor_of(job->a, &job->w->a, &kernel->a, plane, products[product].a, at->i0, job->a_p0, half->rows,
                    half->count, &f.panel_a);
    f.b = factor_of(job->b, &job->w->b, &kernel->b, plane, products[product].b, at->j0, job->b_p0,
                    half->columns, half->count, &f.panel_b);
    f.count = products[product].is_short ? job->count - half->count : half->count;
    return f;
}

/* One of the seven products of component q over all its elements; next: what this thread multiplies then. */
static void multiply(const ozg_product_job *job, const ozg_task_block *at, int product, const factors *f,
                     const factors *next, int32_t *blocks)
{
    const ozg_kernel *kernel = job->st->kernel;
    const int64_t mr = kernel->a.lines, nr = kernel->b.lines;
    const size_t element_a = (size_t)(mr * kernel->a.word), element_b = (size_t)(nr * kernel->b.word);
    int32_t *sums = blocks + products[product].to * at->size;
    const int32_t *from = products[product].from == NONE ? NULL : blocks + products[product].from * at->size;

    for (int64_t p = 0; p < f->count; p += OZG_K_BLOCK, from = sums) {
        const int64_t count = ozg_min64(OZG_K_BLOCK, f->count - p), behind = p + count;
        const int64_t more = ozg_min64(OZG_K_BLOCK, (behind < f->count ? f->count - behind : next->count));
        ozg_run a = {f->a + (size_t)p * element_a, f->a + (size_t)behind * element_a, f->panel_a, f->panel_a,
                     (size_t)more * element_a};
        ozg_run b = {f->b + (size_t)p * element_b, f->b + (size_t)behind * element_b, f->panel_b, f->panel_b,
                     (size_t)more * element_b};

        if (behind == f->count) {
            a.next = next->a;
            a.next_panel = next->panel_a;
            b.next = next->b;
            b.next_panel = next->panel_b;
        }
        ozg_product_panels(job->st, at->l, count, from, &a, (at->i1 - at->i0) / mr, &b,
                           (at->j1 - at->j0) / nr, sums);
    }
}

/* The quarter of C that is there after a product: to the residues. */
static void store(const ozg_product_job *job, const ozg_task_block *at, int product)
{
    const ozg_kernel *kernel = job->st->kernel;
    const int components = job->st->scalars.complex_ ? 3 : 1, mr = kernel->a.lines, nr = kernel->b.lines;
    const int with = products[product].with, quarter = products[product].quarter;
    const int64_t down = quarter & 2 ? job->half.rows : 0, right = quarter & 1 ? job->half.columns : 0;
    const int32_t *sums = at->sums;
    _Alignas(64) int32_t both[3][OZG_MR_MAX * OZG_NR_MAX];

    for (int64_t j = at->j0; j < at->j1; j += nr)
        for (int64_t i = at->i0; i < at->i1; i += mr, sums += mr * nr) {
            const int32_t *three[3];

            for (int q = 0; q < 3; q++) {
                const int32_t *blocks = sums + (q < components ? q : 0) * BLOCKS * at->size;

                three[q] = blocks + products[product].to * at->size;
                if (with != NONE && q < components) {
                    kernel->combine(mr * nr, three[q], blocks + with * at->size, both[q]);
                    three[q] = both[q];
                }
            }
            ozg_product_store(job, at->l, i + down, j + right, nr, three);
        }
}

void ozg_winograd_task(const ozg_product_job *job, const ozg_task_block *at)
{
    const ozg_kernel *kernel = job->st->kernel;
    const int components = job->st->scalars.complex_ ? 3 : 1, all = PRODUCTS * components;
    factors now = factors_of(job, at, 0, 0);

    if (kernel->state)
        kernel->state(1);
    for (int t = 0; t < all; t++) {
        const int product = t / components, q = t % components, next_t = (t + 1) % all;
        ozg_task_block next_at = *at;
        factors next;

        if (next_t == 0 && at->l + job->st->threads < job->st->rns->nmod)
            next_at.l += job->st->threads;
        next = factors_of(job, &next_at, next_t % components, next_t / components);
        multiply(job, at, product, &now, &next, at->sums + q * BLOCKS * at->size);
        if (q == components - 1 && products[product].quarter != NONE)
            store(job, at, product);
        now = next;
    }
    if (kernel->state)
        kernel->state(0);
}
