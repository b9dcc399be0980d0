/*
 * driver.c - scale, then tile by tile: split, product, reconstruct. Native products may come in parts.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "choose.h"
#include "cpu/parts.h"
#include "driver.h"
#include "parallel.h"
#include "report.h"
#include "scaling.h"
#include "special.h"

typedef struct operand_state {
    ozg_lines lines;
    ozg_planes planes;
    int prepared;
} operand_state;

/* A part of a product: all of it, or some rows and columns with moduli of their own. */
typedef struct pass {
    ozg_plan plan;
    ozg_stage st;
    operand_state a, b;
    ozg_winograd sums;
    double from, to; /* its share of the product */
} pass;

typedef struct passes {
    pass pass[OZG_PARTS];
    int count;
    uint64_t repairs; /* estimate */
} passes;

static double seconds(void)
{
    return 1e-9 * (double)ozg_nanoseconds();
}

/* Time since *from, which moves on. */
static double lap(double *from)
{
    double now = seconds(), passed = now - *from;

    *from = now;
    return passed;
}

ozg_view ozg_view_of(char type, char side, char trans, const void *x, int64_t ld, int64_t count, int64_t k)
{
    ozg_view v = {x, 1, ld, type, ozg_type_complex(type) && trans == 'C', NULL};

    if ((side == 'A') != (trans == 'N')) { /* the lines are the columns of the stored matrix */
        v.line_stride = ld;
        v.step = 1;
    }
    /*
     * the stride between things of which there is one may be anything: no address is to be computed from it
     */
    if (count == 1 && v.step == 1)
        v.line_stride = k;
    if (k == 1 && v.line_stride == 1)
        v.step = count;
    return v;
}

ozg_stage ozg_driver_stage(const ozg_kernel *kernel, const ozg_rns *rns, const ozg_shape *s, int width,
                           int threads)
{
    ozg_stage st;

    st.kernel = kernel;
    st.rns = rns;
    st.ceilings = 0;
    st.kind = s->acc.kind;
    st.reported = 0;
    st.width = width;
    st.length = ozg_dot_length(s->type, s->k);
    st.k = s->k;
    st.threads = threads;
    st.scratch = NULL; /* only the product stage uses it */
    st.scratch_bytes = 0;
    st.scalars.single = ozg_type_single(s->type);
    st.scalars.complex_ = ozg_type_complex(s->type);
    return st;
}

static void set_scalars(ozg_scalars *s, const ozg_data *data)
{
    for (int part = 0; part < 2; part++) {
        s->alpha[part] = ozg_scalar_of(data->alpha[part]);
        s->beta[part] = ozg_scalar_of(data->beta[part]);
    }
}

void ozg_driver_scale_c(const ozg_shape *shape, const ozg_data *data)
{
    ozg_scalars s;

    if (shape->m == 0 || (data->beta[0] == 1 && ozg_is_zero(data->beta[1])))
        return; /* m = 0: not even a loop over n, which may be anything */
    s.single = ozg_type_single(shape->type);
    s.complex_ = ozg_type_complex(shape->type);
    set_scalars(&s, data);
    for (int64_t j = 0; j < shape->n; j++)
        for (int64_t i = 0; i < shape->m; i++)
            ozg_entry_scale(&s, data->c, i + j * data->ldc);
}

/* Planes that begin at line i0, which is the first of a panel. */
static ozg_planes planes_from(const ozg_planes *all, const ozg_layout *layout, int64_t i0)
{
    ozg_planes part = *all;

    part.base += (size_t)(i0 / layout->lines) * all->panel;
    return part;
}

/* The planes of lines [i0, i0 + lines), elements [p0, p0 + count): split now, or there already. *at: the
 * number of element p0. */
static ozg_planes tile_planes(const ozg_stage *st, const ozg_layout *layout, const operand_state *op,
                              int64_t i0, int64_t lines, int64_t p0, int64_t count, int64_t *at)
{
    *at = op->prepared ? p0 : 0;
    if (op->prepared)
        return planes_from(&op->planes, layout, i0);
    ozg_cpu_split(st, layout, &op->lines, i0, lines, p0, count, &op->planes);
    return op->planes;
}

/* Tells the caller that the tile that ends at row i and column j is done. */
static void tell_progress(const pass *q, int64_t i0, int64_t i, int64_t j)
{
    const ozg_context *ctx = q->plan.ctx;
    const double rows = (double)q->plan.rows, columns = (double)q->plan.columns;
    const double before = (double)i0 / rows, here = (double)(i - i0) / rows;
    const double done = q->from + (q->to - q->from) * (before + here * ((double)j / columns));

    if (!ctx->progress)
        return;
    /* whatever the caller's rounding mode makes of it: the last tile ends the part */
    if ((i == q->plan.rows && j == q->plan.columns) || done > q->to)
        ctx->progress(ctx->progress_arg, q->to);
    else
        ctx->progress(ctx->progress_arg, done);
}

/* The sums of a tile of A or B, where the plan is by Winograd and this tile is large enough. */
static void quarter_sums(const pass *q, char side, const ozg_planes *planes, int64_t rows, int64_t columns,
                         int64_t count)
{
    const ozg_halves half = ozg_halves_of(q->plan.kernel, rows, columns, count);

    if (q->plan.winograd && half.rows)
        ozg_cpu_quarters(&q->st, side, planes, &half, count, side == 'A' ? &q->sums.a : &q->sums.b);
}

static void run_tiles(const pass *q, const ozg_data *data, const ozg_residues *residues, ozg_repairs *repairs,
                      ozg_report *report)
{
    const ozg_plan *plan = &q->plan;
    const ozg_stage *st = &q->st;
    const operand_state *a = &q->a, *b = &q->b;
    const int64_t k = plan->shape.k;
    double clock = seconds();
    ozg_planes pa = a->planes, pb = b->planes;
    int64_t a_p0 = 0, b_p0 = 0;

    for (int64_t i0 = 0; i0 < plan->rows; i0 += plan->mt)
        for (int64_t j0 = 0; j0 < plan->columns; j0 += plan->nt) {
            const int64_t rows = ozg_min64(plan->mt, plan->rows - i0);
            const int64_t columns = ozg_min64(plan->nt, plan->columns - j0);

            for (int64_t p0 = 0; p0 < k; p0 += plan->kt) {
                const int64_t count = ozg_min64(plan->kt, k - p0);

                if (j0 == 0 || plan->kt < k) { /* else the planes of A are still those of these rows */
                    pa = tile_planes(st, &st->kernel->a, a, i0, rows, p0, count, &a_p0);
                    quarter_sums(q, 'A', &pa, rows, columns, count);
                }
                if (i0 == 0 || plan->nt < plan->columns || plan->kt < k) {
                    pb = tile_planes(st, &st->kernel->b, b, j0, columns, p0, count, &b_p0);
                    quarter_sums(q, 'B', &pb, rows, columns, count);
                }
                report->seconds_split += lap(&clock);
                ozg_cpu_product(st, &pa, a_p0, &pb, b_p0, rows, columns, count, p0 == 0,
                                plan->winograd ? &q->sums : NULL, residues);
                report->seconds_product += lap(&clock);
            }
            ozg_cpu_reconstruct(st, residues, &a->lines, i0, rows, &b->lines, j0, columns, data->c, data->ldc,
                                repairs);
            report->seconds_reconstruct += lap(&clock);
            tell_progress(q, i0, i0 + rows, j0 + columns);
        }
}

/* The operand as the caller gave it, with its lines in the workspace; or the prepared one. */
static operand_state operand_of(const ozg_plan *plan, char side, const ozg_data *data, unsigned char *work)
{
    const ozg_shape *s = &plan->shape;
    const int is_a = side == 'A';
    const ozg_operand *prepared = is_a ? data->pa : data->pb;
    const int64_t count = is_a ? s->m : s->n;
    operand_state op;
    ozg_view view;

    op.prepared = prepared != NULL;
    if (prepared) {
        op.lines = prepared->lines;
        op.planes = prepared->planes;
        return op;
    }
    view = ozg_view_of(s->type, side, is_a ? s->transa : s->transb, is_a ? data->a : data->b,
                       is_a ? data->lda : data->ldb, count, s->k);
    op.lines =
        ozg_lines_at(work + (is_a ? plan->lines_a : plan->lines_b), &view, count, s->k, ozg_by_data(s->acc));
    return op;
}

/* The planes in the workspace of a plan whose tiles are final. */
static void place_planes(const ozg_plan *plan, operand_state *a, operand_state *b, unsigned char *work)
{
    if (!a->prepared)
        a->planes = ozg_planes_at(work + plan->planes_a, &plan->kernel->a, plan->mt, plan->kt);
    if (!b->prepared)
        b->planes = ozg_planes_at(work + plan->planes_b, &plan->kernel->b, plan->nt, plan->kt);
}

/* The same of the sums of Winograd's quarters. */
static ozg_winograd sums_of(const ozg_plan *plan, unsigned char *work)
{
    const ozg_halves half = ozg_halves_of(plan->kernel, plan->mt, plan->nt, plan->kt);
    ozg_winograd sums;

    sums.a = ozg_planes_at(work + plan->sums_a, &plan->kernel->a, half.rows, half.count);
    sums.b = ozg_planes_at(work + plan->sums_b, &plan->kernel->b, half.columns, half.count);
    return sums;
}

static ozg_residues residues_of(const ozg_plan *plan, unsigned char *work)
{
    ozg_residues r;

    r.base = work + plan->residues;
    r.ld = ozg_round_up64(plan->mt, OZG_STRIP);
    r.numbers = (size_t)(r.ld * plan->nt);
    r.plane = r.numbers * (size_t)plan->rns->word;
    r.ceilings = (uint64_t *)(void *)(work + plan->ceilings);
    r.floors = plan->shape.acc.kind == OZG_BY_NATIVE ? (uint64_t *)(void *)(work + plan->floors) : NULL;
    return r;
}

/* Exponents of an operand, and its norms where they are wanted. */
static void scale_operand(const ozg_stage *st, operand_state *op, int norms)
{
    if (op->prepared)
        return;
    ozg_cpu_scale(st, &op->lines);
    if (norms)
        ozg_cpu_norms(st, &op->lines);
}

/*
 * D for a fixed width or by norms (accurate scaling: set already), and residual norms where they are
 * wanted.
 */
static void set_exponents(const ozg_plan *plan, const ozg_stage *st, ozg_lines *lines, int residuals)
{
    if (ozg_by_data(plan->shape.acc))
        ozg_scaling_norm(lines, plan->nmod, st->length);
    else if (plan->shape.acc.kind != OZG_BY_ACCURATE)
        ozg_scaling_fixed(lines, plan->width);
    if (residuals)
        ozg_cpu_residuals(st, lines);
}

ozg_status ozg_driver_check_repairs(ozg_context *ctx, uint64_t repairs)
{
    if (repairs <= ctx->repair_limit)
        return OZG_OK;
    return ozg_fail(ctx, OZG_E_UNSUPPORTED,
                    "the data are so wide that about %llu entries would be repaired exactly, more than "
                    "repair_limit = %llu; raise it or ask for ozg_moduli()",
                    (unsigned long long)repairs, (unsigned long long)ctx->repair_limit);
}

/*
 * Brings the lines that are far out behind the others, and sets the rows and columns of the parts. Returns
 * how many there are: 1, and nothing is changed, if there are too many such lines, or none.
 */
static int order_lines(const ozg_plan *plan, const ozg_stage *st, operand_state *a, operand_state *b,
                       const ozg_apart *apart, unsigned char *work, ozg_part range[OZG_PARTS])
{
    const int64_t m = plan->rows, n = plan->columns;
    int64_t *index_a = (int64_t *)(void *)(work + plan->index), *index_b = index_a + m, rows, columns;
    uint8_t *far_a = work + plan->far, *far_b = far_a + m;

    ozg_choose_far(st, &a->lines, &b->lines, apart, far_a, far_b, work + plan->sample,
                   plan->workspace - OZG_ALIGN - plan->sample);
    rows = ozg_apart_count(far_a, m);
    columns = ozg_apart_count(far_b, n);
    if (rows < 0 || columns < 0 || rows + columns == 0)
        return 1;
    ozg_apart_order(&a->lines, far_a, index_a);
    ozg_apart_order(&b->lines, far_b, index_b);
    return ozg_apart_parts(m, rows, n, columns, range);
}

/* Cuts the product in parts, each with the moduli that its lines choose. */
static void cut_passes(passes *all, const pass *whole, const ozg_part *range, void *memory, int *nmod)
{
    const double entries = (double)whole->plan.rows * (double)whole->plan.columns;
    double done = 0;

    all->repairs = 0;
    for (int q = 0; q < all->count; q++) {
        pass *p = &all->pass[q];
        ozg_choice choice;

        *p = *whole;
        p->plan.rows = range[q].rows;
        p->plan.columns = range[q].columns;
        p->a.lines = ozg_apart_lines(&whole->a.lines, range[q].i0, range[q].rows);
        p->b.lines = ozg_apart_lines(&whole->b.lines, range[q].j0, range[q].columns);
        p->from = done;
        done += (double)range[q].rows * (double)range[q].columns / entries;
        p->to = q + 1 < all->count ? done : 1;
        choice = ozg_choose(&p->st, &p->a.lines, &p->b.lines, 0, 0, NULL, NULL, memory);
        nmod[q] = choice.nmod;
        all->repairs += choice.repairs;
    }
}

/*
 * Parts, moduli and the shifts along k from the data: tiles are cut again for them. Errors, before C is
 * touched: OZG_E_UNSUPPORTED (more repairs than repair_limit), OZG_E_NOMEM.
 */
static ozg_status choose(passes *all, pass *whole, unsigned char *work)
{
    ozg_plan *plan = &whole->plan;
    operand_state *a = &whole->a, *b = &whole->b;
    int16_t *shift_a = (int16_t *)(void *)(work + plan->shifts), *shift_b = shift_a + plan->shape.k;
    const int fixed = plan->prepared_a || plan->prepared_b;
    const ozg_choice choice =
        ozg_choose(&whole->st, &a->lines, &b->lines, plan->shape.acc.value, ozg_plan_apart(plan),
                   fixed ? NULL : shift_a, fixed ? NULL : shift_b, work + plan->sample);
    ozg_part range[OZG_PARTS];
    int nmod[OZG_PARTS] = {choice.nmod, 0, 0};
    ozg_status status;

    if (choice.shifted) {
        a->lines.view.shift = shift_a;
        b->lines.view.shift = shift_b;
        scale_operand(&whole->st, a, 1);
        scale_operand(&whole->st, b, 1);
    }
    all->count = choice.apart.nmod ? order_lines(plan, &whole->st, a, b, &choice.apart, work, range) : 1;
    all->pass[0] = *whole;
    all->repairs = choice.repairs;
    if (all->count > 1)
        cut_passes(all, whole, range, work + plan->sample, nmod);
    status = ozg_driver_check_repairs(plan->ctx, all->repairs);
    for (int q = 0; !status && q < all->count; q++)
        status = ozg_plan_settle(&all->pass[q].plan, nmod[q]);
    return status;
}

/* The largest width of the lines of an operand. */
static int width_of(const ozg_lines *lines)
{
    int width = 1;

    for (int64_t i = 0; i < lines->count; i++)
        if (lines->d[i] != OZG_D_NONE && lines->d[i] + lines->e[i] > width)
            width = lines->d[i] + lines->e[i];
    return width;
}

/* The largest sums of ceilings of the rows and columns of a tile. */
static void raise_largest(const ozg_residues *sums, int64_t rows, int64_t columns, uint64_t *of_rows,
                          uint64_t *of_columns)
{
    for (int64_t j = 0; j < columns; j++)
        for (int64_t i = 0; i < rows; i++) {
            const uint64_t x = sums->ceilings[i + j * sums->ld];

            of_rows[i] = x > of_rows[i] ? x : of_rows[i];
            of_columns[j] = x > of_columns[j] ? x : of_columns[j];
        }
}

/*
 * D by accurate scaling: the product of ceilings, tile by tile, before the first tile of C. [EA] Algorithm
 * 2.
 */
static void scale_accurately(const ozg_plan *plan, const ozg_stage *st, operand_state *a, operand_state *b,
                             unsigned char *work)
{
    const ozg_shape *s = &plan->shape;
    ozg_residues sums = residues_of(plan, work);
    uint64_t *of_rows = sums.ceilings + sums.numbers, *of_columns = of_rows + s->m;
    ozg_stage ceilings = *st;

    ceilings.ceilings = 1;
    memset(of_rows, 0, (size_t)(s->m + s->n) * sizeof *of_rows);
    place_planes(plan, a, b, work);
    for (int64_t i0 = 0; i0 < s->m; i0 += plan->mt)
        for (int64_t j0 = 0; j0 < s->n; j0 += plan->nt) {
            const int64_t rows = ozg_min64(plan->mt, s->m - i0), columns = ozg_min64(plan->nt, s->n - j0);

            for (int64_t p0 = 0; p0 < s->k; p0 += plan->kt) {
                const int64_t count = ozg_min64(plan->kt, s->k - p0);

                ozg_cpu_split(&ceilings, &st->kernel->a, &a->lines, i0, rows, p0, count, &a->planes);
                ozg_cpu_split(&ceilings, &st->kernel->b, &b->lines, j0, columns, p0, count, &b->planes);
                ozg_cpu_ceilings(&ceilings, &a->planes, &b->planes, rows, columns, count, p0 == 0, &sums);
            }
            raise_largest(&sums, rows, columns, of_rows + i0, of_columns + j0);
        }
    ozg_scaling_accurate(&a->lines, plan->nmod, of_rows);
    ozg_scaling_accurate(&b->lines, plan->nmod, of_columns);
}

/* The scale stage of all lines up to the choice of moduli and parts. */
static ozg_status scale(passes *all, pass *whole, unsigned char *work, int report)
{
    const int by_data = ozg_by_data(whole->plan.shape.acc);

    scale_operand(&whole->st, &whole->a, by_data || report);
    scale_operand(&whole->st, &whole->b, by_data || report);
    if (by_data)
        return choose(all, whole, work);
    all->pass[0] = *whole;
    all->count = 1;
    all->repairs = 0;
    return OZG_OK;
}

/* The rest of it, part by part: they share the memory of exponents and residuals. */
static void scale_pass(pass *q, unsigned char *work, int report)
{
    const int by_data = ozg_by_data(q->plan.shape.acc), accurate = q->plan.shape.acc.kind == OZG_BY_ACCURATE;

    q->st.rns = q->plan.rns;
    if (accurate)
        scale_accurately(&q->plan, &q->st, &q->a, &q->b, work);
    if (!q->a.prepared)
        set_exponents(&q->plan, &q->st, &q->a.lines, by_data || report);
    if (!q->b.prepared)
        set_exponents(&q->plan, &q->st, &q->b.lines, by_data || report);
    if (by_data || accurate) {
        const int wa = width_of(&q->a.lines), wb = width_of(&q->b.lines);

        q->plan.width = wa > wb ? wa : wb;
        q->st.width = q->plan.width;
    }
}

static pass whole_of(const ozg_plan *plan, const ozg_data *data, unsigned char *work)
{
    pass q;

    q.plan = *plan;
    q.st = ozg_driver_stage(plan->kernel, plan->rns, &plan->shape, plan->width, plan->threads);
    q.a = operand_of(plan, 'A', data, work);
    q.b = operand_of(plan, 'B', data, work);
    q.sums = (ozg_winograd){{NULL, 0, 0}, {NULL, 0, 0}};
    q.from = 0;
    q.to = 1;
    return q;
}

static void run_pass(pass *q, const ozg_data *data, unsigned char *work, ozg_repairs *repairs, ozg_report *r)
{
    double clock = seconds();
    ozg_residues residues;

    scale_pass(q, work, q->st.reported);
    q->st.scratch = work + q->plan.scratch;
    q->st.scratch_bytes = q->plan.scratch_bytes;
    q->st.threads = q->plan.threads; /* fewer, perhaps, than before the tiles were cut again */
    place_planes(&q->plan, &q->a, &q->b, work);
    q->sums = sums_of(&q->plan, work);
    residues = residues_of(&q->plan, work);
    r->seconds_scale += lap(&clock);
    run_tiles(q, data, &residues, repairs, r);
}

static void report_part(ozg_report *r, const pass *q, double *products)
{
    ozg_report_part(r, &q->plan, ozg_report_exact(&q->a.lines) && ozg_report_exact(&q->b.lines), products);
}

static void report_product(ozg_report *r, const pass *first, const ozg_data *data, const pass *whole,
                           ozg_repairs *repairs)
{
    const ozg_plan *plan = &first->plan;
    const double repair = 1e-9 * (double)atomic_load(&repairs->nanoseconds) / plan->threads;
    const ozg_findings found = {atomic_load(&repairs->tested), atomic_load(&repairs->repaired),
                                atomic_load(&repairs->largest),
                                ozg_report_largest_entry(&plan->shape, data, plan->threads)};

    r->seconds_repair = repair < r->seconds_reconstruct ? repair : r->seconds_reconstruct;
    r->seconds_reconstruct -= r->seconds_repair;
    ozg_report_product(r, plan, data, &whole->a.lines, &whole->b.lines, &found);
}

ozg_status ozg_driver_run(const ozg_plan *plan, const ozg_data *data, void *workspace, ozg_report *report)
{
    unsigned char *work = (unsigned char *)ozg_round_up((size_t)workspace, OZG_ALIGN);
    pass whole = whole_of(plan, data, work);
    passes all;
    ozg_repairs repairs = {0, 0, 0, 0};
    ozg_report unused = {0}, *r = report ? report : &unused;
    double start = seconds(), clock = start, products = 0;
    ozg_status status;

    set_scalars(&whole.st.scalars, data);
    whole.st.reported = report != NULL;
    status = scale(&all, &whole, work, report != NULL);
    if (status)
        return status;
    r->seconds_scale += lap(&clock);
    for (int q = 0; q < all.count; q++) {
        run_pass(&all.pass[q], data, work, &repairs, r);
        if (report)
            report_part(report, &all.pass[q], &products);
    }
    clock = seconds();
    ozg_special_rows_columns(&all.pass[0].st, &whole.a.lines, &whole.b.lines, data->c, data->ldc,
                             plan->ctx->memory_limit - plan->workspace, &r->special_rows, &r->special_cols);
    r->seconds_reconstruct += lap(&clock);
    if (report)
        report_product(report, &all.pass[0], data, &whole, &repairs);
    r->seconds_total += seconds() - start;
    return OZG_OK;
}

ozg_status ozg_driver_predict(const ozg_plan *plan, const ozg_data *data, void *workspace, ozg_report *report)
{
    unsigned char *work = (unsigned char *)ozg_round_up((size_t)workspace, OZG_ALIGN);
    pass whole = whole_of(plan, data, work);
    passes all;
    double start = seconds(), products = 0;
    ozg_status status = scale(&all, &whole, work, 1);

    if (status)
        return status;
    report->repaired = all.repairs;
    for (int q = 0; q < all.count; q++) {
        pass *p = &all.pass[q];

        scale_pass(p, work, 1);
        report_part(report, p, &products);
        ozg_report_predicted(report, &p->plan, data, &p->a.lines, &p->b.lines);
    }
    report->seconds_scale = report->seconds_total = seconds() - start;
    return OZG_OK;
}
