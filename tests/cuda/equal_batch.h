/*
 * equal_batch.h - the part of prog_equal.c that compares batches with single calls of the CPU.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TEST_CUDA_EQUAL_BATCH_H
#define OZG_TEST_CUDA_EQUAL_BATCH_H

enum { BATCH_MOST = 300 }; /* products */

/* One call for all, with matrices at these addresses. */
static ozg_status call_batch(ozg_context *ctx, const batch *z, int pointers, const double *a, const double *b,
                             double *c, ozg_report *report)
{
    const product *g = &z->like;
    const double *of_a[BATCH_MOST], *of_b[BATCH_MOST];
    double *of_c[BATCH_MOST];

    if (!pointers)
        return ozg_dgemm_batch_strided(ctx, g->transa, g->transb, g->m, g->n, g->k, g->alpha[0], a, g->lda,
                                       z->stride_a, b, g->ldb, z->stride_b, g->beta[0], c, g->ldc,
                                       z->stride_c, z->count, g->acc, report);
    for (int q = 0; q < z->count; q++) {
        of_a[q] = a + q * z->stride_a;
        of_b[q] = b + q * z->stride_b;
        of_c[q] = c + z->place[q] * z->stride_c;
    }
    return ozg_dgemm_batch(ctx, g->transa, g->transb, g->m, g->n, g->k, g->alpha[0], of_a, g->lda, of_b,
                           g->ldb, g->beta[0], of_c, g->ldc, z->count, g->acc, report);
}

static ozg_status batch_on_device(ozg_context *ctx, const batch *z, int pointers, double *c,
                                  ozg_report *report)
{
    CUdeviceptr memory[3];
    const CUdeviceptr a = device_copy(z->a, z->bytes_a, 8, &memory[0]),
                      b = device_copy(z->b, z->bytes_b, 0, &memory[1]),
                      x = device_copy(c, z->bytes_c, 8, &memory[2]);
    const ozg_status status = call_batch(ctx, z, pointers, (double *)(uintptr_t)a, (double *)(uintptr_t)b,
                                         (double *)(uintptr_t)x, report);

    must(api->stream_synchronize(NULL), "synchronize");
    must(api->download(c, x, z->bytes_c, NULL), "download");
    must(api->stream_synchronize(NULL), "synchronize");
    for (int q = 0; q < 3; q++)
        must(api->release(memory[q]), "release");
    return status;
}

/* The products one by one on the CPU; their sum as the header has it. */
static ozg_status batch_one_by_one(const batch *z, double *c, ozg_report *sum)
{
    ozg_status status = OZG_OK;

    memset(sum, 0, sizeof *sum);
    sum->exact = 1;
    for (int q = 0; !status && q < z->count; q++) {
        ozg_report one;

        status = call(cpu, &z->like, z->a + q * z->stride_a, z->b + q * z->stride_b,
                      c + z->place[q] * z->stride_c, &one);
        sum->bound = fmax(sum->bound, one.bound);
        sum->bound_relative = fmax(sum->bound_relative, one.bound_relative);
        sum->moduli = one.moduli > sum->moduli ? one.moduli : sum->moduli;
        sum->width = one.width > sum->width ? one.width : sum->width;
        sum->exact &= one.exact;
        sum->tested += one.tested;
        sum->repaired += one.repaired;
        sum->special_rows += one.special_rows;
        sum->special_cols += one.special_cols;
        sum->emulated = one.emulated;
        sum->reason = one.reason;
    }
    return status;
}

/* Has the context launched this kernel? */
static int knows_kernel(const ozg_context *ctx, const char *name)
{
    for (int q = 0; q < ctx->cuda->functions; q++)
        if (strcmp(ctx->cuda->function[q].name, name) == 0)
            return 1;
    return 0;
}

/* together: the device computes products together, or must not (0). */
static void compare_batch(ozg_context *ctx, const batch *z, int pointers, const double *expected,
                          const ozg_report *report, int together)
{
    double *c = junk(z->bytes_c);
    ozg_report found;
    ozg_status status;

    memcpy(c, z->c, z->bytes_c);
    status = ctx->device_pointers ? batch_on_device(ctx, z, pointers, c, report ? &found : NULL)
                                  : call_batch(ctx, z, pointers, z->a, z->b, c, report ? &found : NULL);
    cases += z->count;
    if (status) {
        if (differ(&z->like, "batch"))
            printf("        %s: %s\n", ozg_status_name(status), ozg_last_error(ctx));
    } else {
        const int same = memcmp(c, expected, z->bytes_c) == 0,
                  reports = !report || same_report(&z->like, report, &found);

        if ((!same || !reports || knows_kernel(ctx, "ozg_cuda_split_batch") != together) &&
            differ(&z->like, pointers ? "batch of pointers" : "batch by strides"))
            printf("        %d products: C %s, report %s, %s\n", z->count, same ? "right" : "WRONG",
                   reports ? "right" : "WRONG", together ? "to be together" : "to be one by one");
        if (!reports) {
            tell_report("cpu", report);
            tell_report("cuda", &found);
        }
        if (report)
            count_facts(&z->like, &found);
    }
    free(c);
}

/* Memory for so many products at a time, more or less. */
static void compare_batch_in_groups(const batch *z, int pointers, const double *expected,
                                    const ozg_report *report, int products)
{
    const product *g = &z->like;
    ozg_context *ctx;
    ozg_plan *plan;

    must(ozg_plan_create(&plan, on_device, 'd', g->transa, g->transb, g->m, g->n, g->k, g->acc), "plan");
    ctx = open_context(OZG_BACKEND_CUDA, 1, (size_t)products * (ozg_plan_workspace(plan) + 65536));
    ozg_plan_destroy(plan);
    compare_batch(ctx, z, pointers, expected, report, products > 1);
    ozg_destroy(ctx);
}

/* pointers: 1 an array of them, C in another order; shared: 1 one A for all, 2 one B. groups: also those. */
static void check_batch(product like, int count, int pointers, int shared, int groups)
{
    const int with_report = cases % 3 != 1;
    ozg_report report;
    double *c;
    batch z;

    batch_make(&z, &like, count, shared, pointers, seed * 1000003 + (uint64_t)cases);
    c = junk(z.bytes_c);
    memcpy(c, z.c, z.bytes_c);
    must(batch_one_by_one(&z, c, &report), "cpu");
    compare_batch(on_device, &z, pointers, c, with_report ? &report : NULL, 1);
    if (groups) {
        compare_batch(on_host, &z, pointers, c, with_report ? &report : NULL, 0);
        for (int products = 1; products <= 3; products++)
            compare_batch_in_groups(&z, pointers, c, with_report ? NULL : &report, products);
    }
    free(c);
    batch_free(&z);
}

/* ---- the group ---------------------------------------------------------------------------------- */

static void group_batches(void)
{
    static const double scalar[][2] = {{1, 0}, {1, 1.25}, {-0.5, 1}, {1.7, -0.3}};

    for (int q = 0; q < (quick ? 8 : 24); q++) { /* all accuracies, scalars, transposes */
        product g = make('d', 33 + q, 40 - q, 24 + q, accuracy('d', q % 6), (enum family)(q % FAMILIES));

        g.alpha[0] = scalar[q % 4][0];
        g.beta[0] = scalar[q % 4][1];
        g.transa = q % 3 ? 'N' : 'T';
        g.transb = q % 4 ? 'N' : 'T';
        g.pad = q % 5;
        check_batch(g, 2 + 3 * (q % 4), q % 2, q % 4 ? 0 : q / 4 + 1, q % 5 == 0);
    }
    for (int q = 0; q < 3; q++) /* lines far out, parts, all families */
        check_batch(make('d', 150, 90 + q, 80, ozg_native(), FAR), quick ? 4 : 10, q % 2, 0, q == 2);
    for (int q = 0; q < 3; q++) /* more than there are blocks, and pointers of several launches */
        check_batch(make('d', 5, 3, 7, accuracy('d', q), UNIFORM), quick ? 140 : BATCH_MOST, q != 1, 0, 0);
    if (big)
        for (int q = 0; q < 6; q++)
            check_batch(make('d', 256, 256 - q, 256 + q, accuracy('d', q), UNIFORM), 40 + 100 * (q % 2),
                        q % 2, 0, q < 3);
}

#endif
