/*
 * equal_objects.h - prog_equal.c on prepared operands and the monitor. Included there, behind what it uses.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TEST_CUDA_EQUAL_OBJECTS_H
#define OZG_TEST_CUDA_EQUAL_OBJECTS_H

enum { PREPARED_A = 1, PREPARED_B = 2 };

/* The matrices of a product in one context; NULL where an operand stands for one. */
typedef struct placed {
    ozg_context *ctx;
    const product *g;
    const ozg_operand *pa, *pb;
    const void *a, *b;
} placed;

static ozg_status call_prepared(const placed *w, void *c, ozg_report *report)
{
    const product *g = w->g;
    const float alpha[2] = {(float)g->alpha[0], (float)g->alpha[1]};
    const float beta[2] = {(float)g->beta[0], (float)g->beta[1]};
    const int64_t lda = w->pa ? 0 : g->lda, ldb = w->pb ? 0 : g->ldb; /* not looked at */

    switch (g->type) {
    case 's':
        return ozg_sgemm_prepared(w->ctx, g->transa, g->transb, g->m, g->n, g->k, alpha[0], w->pa, w->a, lda,
                                  w->pb, w->b, ldb, beta[0], c, g->ldc, g->acc, report);
    case 'd':
        return ozg_dgemm_prepared(w->ctx, g->transa, g->transb, g->m, g->n, g->k, g->alpha[0], w->pa, w->a,
                                  lda, w->pb, w->b, ldb, g->beta[0], c, g->ldc, g->acc, report);
    case 'c':
        return ozg_cgemm_prepared(w->ctx, g->transa, g->transb, g->m, g->n, g->k, alpha, w->pa, w->a, lda,
                                  w->pb, w->b, ldb, beta, c, g->ldc, g->acc, report);
    default:
        return ozg_zgemm_prepared(w->ctx, g->transa, g->transb, g->m, g->n, g->k, g->alpha, w->pa, w->a, lda,
                                  w->pb, w->b, ldb, g->beta, c, g->ldc, g->acc, report);
    }
}

/* An operand of a copy of the matrix, which is NaN as soon as the call returns. */
static ozg_status prepare_side(ozg_context *ctx, const product *g, int is_a, ozg_accuracy acc,
                               ozg_operand **op)
{
    const size_t bytes = is_a ? g->bytes_a : g->bytes_b;
    const int64_t rows = is_a ? g->m : g->k, columns = is_a ? g->k : g->n, ld = is_a ? g->lda : g->ldb;
    const char side = is_a ? 'A' : 'B', trans = is_a ? g->transa : g->transb;
    const size_t odd = type_bytes(g->type) * (size_t)(g->pad % 2);
    CUdeviceptr memory, x;
    void *copy = junk(bytes);
    ozg_status status;

    memcpy(copy, is_a ? g->a : g->b, bytes);
    if (ctx->device_pointers) {
        x = device_copy(copy, bytes, odd, &memory);
        status =
            ozg_operand_create(op, ctx, g->type, side, trans, rows, columns, (void *)(uintptr_t)x, ld, acc);
        must(api->set_bytes(x, 0xff, bytes, NULL), "set");
        must(api->release(memory), "release");
    } else {
        status = ozg_operand_create(op, ctx, g->type, side, trans, rows, columns, copy, ld, acc);
        memset(copy, 0xff, bytes);
    }
    free(copy);
    return status;
}

/* The operands that are wanted; a second one has the moduli of the first. */
static ozg_status prepare_sides(ozg_context *ctx, const product *g, int which, ozg_operand *op[2])
{
    ozg_accuracy acc = g->acc;
    ozg_status status = OZG_OK;

    op[0] = op[1] = NULL;
    if (which & PREPARED_A)
        status = prepare_side(ctx, g, 1, acc, &op[0]);
    if (op[0])
        acc = ozg_with_moduli(acc, ozg_operand_moduli(op[0]));
    if (!status && (which & PREPARED_B))
        status = prepare_side(ctx, g, 0, acc, &op[1]);
    return status;
}

/* The call where matrices are on the device; c is the host's, before and after. */
static ozg_status call_placed(placed w, void *c, ozg_report *report)
{
    const product *g = w.g;
    const size_t odd = type_bytes(g->type) * (size_t)(g->pad % 2);
    CUdeviceptr memory[3] = {0, 0, 0}, x;
    ozg_status status;

    if (!w.pa)
        w.a = (void *)(uintptr_t)device_copy(g->a, g->bytes_a, odd, &memory[0]);
    if (!w.pb)
        w.b = (void *)(uintptr_t)device_copy(g->b, g->bytes_b, odd, &memory[1]);
    x = device_copy(c, g->bytes_c, odd, &memory[2]);
    status = call_prepared(&w, (void *)(uintptr_t)x, report);
    if (!status)
        status = ozg_report_wait(w.ctx, report);
    must(api->stream_synchronize(NULL), "synchronize");
    must(api->download(c, x, g->bytes_c, NULL), "download");
    must(api->stream_synchronize(NULL), "synchronize");
    for (int q = 0; q < 3; q++)
        if (memory[q])
            must(api->release(memory[q]), "release");
    return status;
}

/* One context: prepares, multiplies twice, and has the moduli that were chosen. */
static ozg_status run_prepared(ozg_context *ctx, const product *g, int which, void *c[2], ozg_report *report,
                               int moduli[2])
{
    ozg_operand *op[2];
    ozg_status status = prepare_sides(ctx, g, which, op);
    const placed w = {ctx, g, op[0], op[1], op[0] ? NULL : g->a, op[1] ? NULL : g->b};

    for (int q = 0; q < 2 && !status; q++)
        status = ctx->device_pointers ? call_placed(w, c[q], q ? report : NULL)
                                      : call_prepared(&w, c[q], q ? report : NULL);
    for (int side = 0; side < 2; side++) {
        moduli[side] = ozg_operand_moduli(op[side]);
        ozg_operand_destroy(op[side]);
    }
    return status;
}

/* What the CPU has. */
typedef struct prepared_result {
    void *c;
    ozg_report report;
    int moduli[2];
} prepared_result;

static void compare_prepared(ozg_context *ctx, const product *g, int which, const prepared_result *want,
                             const char *where)
{
    void *c[2] = {copy_c(g), copy_c(g)};
    int moduli[2];
    ozg_report found;
    const ozg_status status = run_prepared(ctx, g, which, c, &found, moduli);
    const int chosen = g->acc.kind == ozg_rounded().kind && g->acc.value == 0;

    cases++;
    if (status) {
        if (differ(g, where))
            printf("        prepared %d: %s: %s\n", which, ozg_status_name(status), ozg_last_error(ctx));
    } else {
        const int same = memcmp(c[0], want->c, g->bytes_c) == 0 && memcmp(c[1], want->c, g->bytes_c) == 0 &&
                         (chosen || (moduli[0] == want->moduli[0] && moduli[1] == want->moduli[1]));

        if ((!same || !same_report(g, &want->report, &found)) && differ(g, where)) {
            printf("        prepared %d: moduli %d, %d, not %d, %d\n", which, moduli[0], moduli[1],
                   want->moduli[0], want->moduli[1]);
            tell_entries(g, want->c, c[0]);
            tell_entries(g, want->c, c[1]);
            tell_report("cpu", &want->report);
            tell_report("cuda", &found);
        }
        count_facts(g, &found);
    }
    free(c[0]);
    free(c[1]);
}

/* In the least memory in which the product with these operands can be made. */
static void compare_prepared_little(const product *g, int which, const prepared_result *want)
{
    for (int device = 0; device < 2; device++)
        for (size_t limit = (size_t)1 << 18;; limit += limit / 4) {
            ozg_context *ctx = open_context(OZG_BACKEND_CUDA, device, limit);
            void *c[2] = {copy_c(g), copy_c(g)};
            ozg_report found;
            int moduli[2];
            const ozg_status status = run_prepared(ctx, g, which, c, &found, moduli);

            if (status != OZG_E_WORKSPACE)
                compare_prepared(ctx, g, which, want, device ? "device, least memory" : "host, least memory");
            free(c[0]);
            free(c[1]);
            ozg_destroy(ctx);
            if (status != OZG_E_WORKSPACE)
                break;
        }
}

static void check_prepared(product g, int which, int small)
{
    prepared_result want;
    void *c[2];

    product_make(&g, seed * 1000003 + (uint64_t)cases);
    c[0] = copy_c(&g);
    c[1] = copy_c(&g);
    if (run_prepared(cpu, &g, which, c, &want.report, want.moduli)) {
        printf("    cpu: %s\n", ozg_last_error(cpu));
        differ(&g, "cpu");
    } else {
        want.c = c[0];
        compare_prepared(on_device, &g, which, &want, "device");
        compare_prepared(on_host, &g, which, &want, "host");
        if (small)
            compare_prepared_little(&g, which, &want);
    }
    free(c[0]);
    free(c[1]);
    product_free(&g);
}

/* The accuracies by number, without the accurate one. */
static ozg_accuracy prepared_accuracy(char type, int q)
{
    return accuracy(type, q % 5 < 3 ? q % 5 : q % 5 + 1);
}

static void prepared_shapes(void)
{
    static const int64_t shape[][3] = {{1, 1, 1},     {5, 300, 6},    {131, 129, 64},
                                       {300, 17, 31}, {257, 3, 1000}, {270, 290, 300}};
    static const char trans[] = "NTC";

    for (int t = 0; t < 4; t++)
        for (int q = 0; q < 9; q++) {
            product g = make(types[t], 23, 31, 17 + q, prepared_accuracy(types[t], q + t), UNIFORM);

            if (quick && (q + t) % 3)
                continue;
            g.transa = trans[q % 3];
            g.transb = trans[q / 3];
            g.pad = 1 + q % 3;
            check_prepared(g, 1 + (q + t) % 3, 0);
        }
    for (size_t q = 0; q < sizeof shape / sizeof *shape; q++)
        for (int t = 0; t < 4; t++)
            if (!quick || (t == (int)q % 4 && shape[q][0] * shape[q][1] < 40000)) {
                product g = make(types[t], shape[q][0], shape[q][1], shape[q][2],
                                 prepared_accuracy(types[t], (int)q + t), q % 2 ? WIDE : UNIFORM);

                g.beta[0] = 0.75;
                check_prepared(g, 1 + ((int)q + t) % 3, shape[q][0] > 100);
            }
}

static void group_prepared(void)
{
    for (int t = 0; t < 4; t++)
        for (int q = 0; q < 5; q++)
            for (int which = 1; which <= 3; which++)
                if (!quick || (q + t + which) % 3 == 0)
                    check_prepared(make(types[t], 37, 29, 41, prepared_accuracy(types[t], q), UNIFORM), which,
                                   0);
    for (int t = 0; t < 4; t++)
        for (int f = 0; f < FAMILIES; f++)
            for (int q = 0; q < 4; q++) {
                product g = make(types[t], 40, 44, 52, prepared_accuracy(types[t], q), (enum family)f);

                if (quick && (f + t + q) % 4)
                    continue;
                g.alpha[0] = q % 2 ? 1.7 : -2;
                g.beta[0] = q == 3 ? 0 : 1.25;
                g.pad = f % 2;
                check_prepared(g, 1 + (f + q) % 3, 0);
            }
    prepared_shapes();
    for (int t = 0; t < 4 && !quick; t++) /* chunks of k */
        for (int q = 0; q < 5; q++)
            check_prepared(
                make(types[t], 5, 3, q % 2 ? 131073 : 262145, prepared_accuracy(types[t], q), UNIFORM),
                1 + (q + t) % 3, 0);
    for (int t = 0; t < 4 && big; t++)
        for (int q = 0; q < 5; q++)
            check_prepared(
                make(types[t], 1531, 1027, 2048 + q, prepared_accuracy(types[t], q), (enum family)q),
                1 + (q + t) % 3, 1);
}

/* ---- the monitor -------------------------------------------------------------------------------- */

static ozg_status call_monitor(ozg_context *ctx, const product *g, const void *a, const void *b,
                               const void *c0, const void *c, int64_t lines, ozg_monitor *found)
{
    const float alpha[2] = {(float)g->alpha[0], (float)g->alpha[1]};
    const float beta[2] = {(float)g->beta[0], (float)g->beta[1]};

    switch (g->type) {
    case 's':
        return ozg_monitor_sgemm(ctx, g->transa, g->transb, g->m, g->n, g->k, alpha[0], a, g->lda, b, g->ldb,
                                 beta[0], c0, g->ldc, c, g->ldc, lines, seed, found);
    case 'd':
        return ozg_monitor_dgemm(ctx, g->transa, g->transb, g->m, g->n, g->k, g->alpha[0], a, g->lda, b,
                                 g->ldb, g->beta[0], c0, g->ldc, c, g->ldc, lines, seed, found);
    case 'c':
        return ozg_monitor_cgemm(ctx, g->transa, g->transb, g->m, g->n, g->k, alpha, a, g->lda, b, g->ldb,
                                 beta, c0, g->ldc, c, g->ldc, lines, seed, found);
    default:
        return ozg_monitor_zgemm(ctx, g->transa, g->transb, g->m, g->n, g->k, g->alpha, a, g->lda, b, g->ldb,
                                 g->beta, c0, g->ldc, c, g->ldc, lines, seed, found);
    }
}

static ozg_status monitor_on_device(ozg_context *ctx, const product *g, const void *c, int64_t lines,
                                    ozg_monitor *found)
{
    const size_t odd = type_bytes(g->type) * (size_t)(g->pad % 2);
    const void *x[4] = {g->a, g->b, g->c, c};
    const size_t bytes[4] = {g->bytes_a, g->bytes_b, g->bytes_c, g->bytes_c};
    CUdeviceptr memory[4];
    ozg_status status;

    for (int q = 0; q < 4; q++) {
        const CUdeviceptr copy = device_copy(x[q], bytes[q], odd, &memory[q]);

        x[q] = (const void *)(uintptr_t)copy;
    }
    status = call_monitor(ctx, g, x[0], x[1], g->beta[0] == 0 && g->beta[1] == 0 ? NULL : x[2], x[3], lines,
                          found);
    for (int q = 0; q < 4; q++)
        must(api->release(memory[q]), "release");
    return status;
}

static void compare_monitor(ozg_context *ctx, const product *g, const void *c, int64_t lines,
                            const ozg_monitor *want, const char *where)
{
    ozg_monitor found;
    const ozg_status status = ctx->device_pointers ? monitor_on_device(ctx, g, c, lines, &found)
                                                   : call_monitor(ctx, g, g->a, g->b, g->c, c, lines, &found);

    cases++;
    if (status) {
        if (differ(g, where))
            printf("        monitor: %s: %s\n", ozg_status_name(status), ozg_last_error(ctx));
    } else if (memcmp(&found, want, sizeof found) != 0 && differ(g, where)) {
        printf("        monitor, %lld lines: compared %llu, rounded %llu, error %a, ulp %a, grade %a, "
               "special %llu\n",
               (long long)lines, (unsigned long long)found.compared, (unsigned long long)found.rounded,
               found.max_error, found.max_ulp, found.worst_grade, (unsigned long long)found.special);
        printf("        and not compared %llu, rounded %llu, error %a, ulp %a, grade %a, special %llu\n",
               (unsigned long long)want->compared, (unsigned long long)want->rounded, want->max_error,
               want->max_ulp, want->worst_grade, (unsigned long long)want->special);
    }
}

/* A product of few moduli, some entries of which are spoilt. limit: also in a context of so little memory. */
static void check_monitor(product g, int64_t lines, size_t limit)
{
    ozg_monitor want;
    ozg_context *little;
    void *c;

    product_make(&g, seed * 1000003 + (uint64_t)cases);
    c = copy_c(&g);
    if (call(cpu, &g, g.a, g.b, c, NULL) || call_monitor(cpu, &g, g.a, g.b, g.c, c, lines, &want)) {
        printf("    cpu: %s\n", ozg_last_error(cpu));
        differ(&g, "cpu");
    } else {
        for (int64_t i = 0; i < g.m; i += 3)
            number_set(g.type, c, type_parts(g.type) * (i + i % g.n * g.ldc), i % 2 ? 0.1 : NAN);
        call_monitor(cpu, &g, g.a, g.b, g.c, c, lines, &want);
        compare_monitor(on_device, &g, c, lines, &want, "device");
        compare_monitor(on_host, &g, c, lines, &want, "host");
        if (limit) {
            little = open_context(OZG_BACKEND_CUDA, 1, limit);
            compare_monitor(little, &g, c, lines, &want, "device, little memory");
            ozg_destroy(little);
        }
    }
    free(c);
    product_free(&g);
}

static void group_monitor(void)
{
    static const char trans[] = "NTC";
    static const int64_t shape[][3] = {{1, 1, 1}, {700, 3, 9}, {3, 700, 5}, {90, 80, 1}};

    for (int t = 0; t < 4; t++)
        for (int q = 0; q < 9; q++) {
            product g =
                make(types[t], 23, 31, 17 + q, accuracy(types[t], 1), (enum family)((q + t) % FAMILIES));

            if (quick && (q + t) % 3)
                continue;
            g.transa = trans[q % 3];
            g.transb = trans[q / 3];
            g.pad = q % 3;
            g.alpha[0] = -0.7;
            g.beta[0] = q % 2 ? 1.5 : 0;
            g.beta[1] = q % 4 == 3 ? -2 : 0;
            check_monitor(g, 1 + 4 * (q % 4), q % 2 ? 4096 : 0);
        }
    for (int t = 0; t < 4; t++)
        for (size_t q = 0; q < sizeof shape / sizeof *shape; q++) {
            product g = make(types[t], shape[q][0], shape[q][1], shape[q][2], ozg_moduli(7), UNIFORM);

            if (quick && (q + (size_t)t) % 2)
                continue;
            g.alpha[0] = q == 3 ? 0 : 2;
            g.beta[0] = q % 2;
            check_monitor(g, 2, 2048);
        }
    if (!quick)
        check_monitor(make('z', 30, 20, 300000, ozg_moduli(15), UNIFORM), 2,
                      0); /* more than 16 MiB of lines */
    if (big)
        check_monitor(make('d', 1531, 2047, 1000, ozg_moduli(14), WIDE), 5, 0);
}

#endif
