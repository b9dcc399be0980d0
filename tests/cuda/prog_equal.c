/*
 * prog_equal.c - compares products on a CUDA device with the CPU's, byte by byte, and their reports.
 *
 *     prog_equal [--driver LIBRARY [--capability N] [--order N] [--fresh N]] [--quick | --big] [--seed N]
 *                [--group NAME]...
 *
 * --quick: a part of it, for emulation. --big: sizes up to 2048, for a real device. The rest as in
 * device_program.h. A line for each group; exit status 1 if anything differs, 77 if there is no device.
 *
 * SPDX-License-Identifier: MIT
 */
#include "device_program.h"
#include "equal_data.h"

static ozg_context *cpu, *on_device, *on_host;
static int quick, big, cases, differences;
static uint64_t seed = 1;

/* ---- one product -------------------------------------------------------------------------------- */

static ozg_status call(ozg_context *ctx, const product *g, const void *a, const void *b, void *c,
                       ozg_report *report)
{
    const float alpha[2] = {(float)g->alpha[0], (float)g->alpha[1]};
    const float beta[2] = {(float)g->beta[0], (float)g->beta[1]};

    switch (g->type) {
    case 's':
        return ozg_sgemm(ctx, g->transa, g->transb, g->m, g->n, g->k, alpha[0], a, g->lda, b, g->ldb, beta[0],
                         c, g->ldc, g->acc, report);
    case 'd':
        return ozg_dgemm(ctx, g->transa, g->transb, g->m, g->n, g->k, g->alpha[0], a, g->lda, b, g->ldb,
                         g->beta[0], c, g->ldc, g->acc, report);
    case 'c':
        return ozg_cgemm(ctx, g->transa, g->transb, g->m, g->n, g->k, alpha, a, g->lda, b, g->ldb, beta, c,
                         g->ldc, g->acc, report);
    default:
        return ozg_zgemm(ctx, g->transa, g->transb, g->m, g->n, g->k, g->alpha, a, g->lda, b, g->ldb, g->beta,
                         c, g->ldc, g->acc, report);
    }
}

static ozg_status call_on_device(ozg_context *ctx, const product *g, void *c, ozg_report *report)
{
    const size_t odd = type_bytes(g->type) * (size_t)(g->pad % 2);
    CUdeviceptr memory[3];
    const CUdeviceptr a = device_copy(g->a, g->bytes_a, odd, &memory[0]),
                      b = device_copy(g->b, g->bytes_b, odd, &memory[1]),
                      x = device_copy(c, g->bytes_c, odd, &memory[2]);
    ozg_status status =
        call(ctx, g, (void *)(uintptr_t)a, (void *)(uintptr_t)b, (void *)(uintptr_t)x, report);

    if (!status)
        status = ozg_report_wait(ctx, report);
    must(api->stream_synchronize(NULL), "synchronize");
    must(api->download(c, x, g->bytes_c, NULL), "download");
    must(api->stream_synchronize(NULL), "synchronize");
    for (int q = 0; q < 3; q++)
        must(api->release(memory[q]), "release");
    return status;
}

static void describe(const product *g, const char *where)
{
    printf("    %s: %c %c%c %lld x %lld x %lld %s, accuracy %d %d, alpha %g %g, beta %g %g, pad %d\n", where,
           g->type, g->transa, g->transb, (long long)g->m, (long long)g->n, (long long)g->k,
           family_names[g->family], g->acc.kind, g->acc.value, g->alpha[0], g->alpha[1], g->beta[0],
           g->beta[1], g->pad);
}

/* Returns whether details may follow. */
static int differ(const product *g, const char *where)
{
    if (differences++ >= 40)
        return 0;
    describe(g, where);
    return 1;
}

/* Where the bytes of two results differ. */
static void tell_entries(const product *g, const unsigned char *x, const unsigned char *y)
{
    const size_t size = type_bytes(g->type);
    size_t count = 0, first = 0;

    for (size_t at = 0; at < g->bytes_c; at += size)
        if (memcmp(x + at, y + at, size) != 0 && count++ == 0)
            first = at / size;
    printf("        %zu entries, the first at row %lld, column %lld: %a, not %a\n", count,
           (long long)((int64_t)first % g->ldc), (long long)((int64_t)first / g->ldc),
           number_get(g->type, y, (int64_t)first * type_parts(g->type)),
           number_get(g->type, x, (int64_t)first * type_parts(g->type)));
}

/* Facts that do not depend on the machine. Rounded: the moduli may; a device may repair more than it must. */
static int same_report(const product *g, const ozg_report *x, const ozg_report *y)
{
    const int rounded = g->acc.kind == ozg_rounded().kind;
    const int same = x->emulated == y->emulated && strcmp(x->reason, y->reason) == 0 &&
                     x->bound_relative == y->bound_relative && x->special_rows == y->special_rows &&
                     x->special_cols == y->special_cols && memcmp(&x->bound, &y->bound, sizeof x->bound) == 0;

    if (rounded && g->acc.value == 0)
        return same;
    return same && x->exact == y->exact && x->moduli == y->moduli && x->width == y->width &&
           x->tested == y->tested && (x->repaired == y->repaired || (rounded && y->repaired > x->repaired));
}

static void tell_report(const char *name, const ozg_report *r)
{
    printf("        %s: moduli %d, width %d, bound %a, relative %g, exact %d, tested %llu, repaired %llu, "
           "special "
           "%llu %llu, tiles %lld, chunks %lld\n",
           name, r->moduli, r->width, r->bound, r->bound_relative, r->exact, (unsigned long long)r->tested,
           (unsigned long long)r->repaired, (unsigned long long)r->special_rows,
           (unsigned long long)r->special_cols, (long long)r->tiles, (long long)r->k_chunks);
}

/* What the reports of a group tell: that it tests what it means to. */
static struct facts {
    int apart, tiled, chunked, special;
    uint64_t repaired;
} facts;

static void count_facts(const product *g, const ozg_report *r)
{
    facts.apart += r->emulated && r->products < products_of(g, r);
    facts.tiled += r->tiles > 1;
    facts.chunked += r->k_chunks > 1;
    facts.special += r->special_rows + r->special_cols > 0;
    facts.repaired += r->repaired;
}

static void *copy_c(const product *g)
{
    void *c = junk(g->bytes_c);

    memcpy(c, g->c, g->bytes_c);
    return c;
}

/* The product in this context, against the CPU's. */
static void compare(ozg_context *ctx, const product *g, const void *expected, const ozg_report *report,
                    const char *where)
{
    void *c = copy_c(g);
    ozg_report found;
    ozg_status status;

    if (report)
        status =
            ctx->device_pointers ? call_on_device(ctx, g, c, &found) : call(ctx, g, g->a, g->b, c, &found);
    else
        status = ctx->device_pointers ? call_on_device(ctx, g, c, NULL) : call(ctx, g, g->a, g->b, c, NULL);
    cases++;
    if (status) {
        if (differ(g, where))
            printf("        %s: %s\n", ozg_status_name(status), ozg_last_error(ctx));
    } else {
        const int same = memcmp(c, expected, g->bytes_c) == 0;

        if ((!same || (report && !(same_report(g, report, &found) && right_products(g, &found)))) &&
            differ(g, where)) {
            if (!same)
                tell_entries(g, expected, c);
            if (report)
                tell_report("cpu", report);
            if (report)
                tell_report("cuda", &found);
        }
        if (report)
            count_facts(g, &found);
    }
    free(c);
}

/* A context with so little memory that the product is cut into tiles, if it can be. */
static ozg_context *little_context(const product *g, int device_pointers, size_t part)
{
    ozg_plan *plan;
    size_t limit;

    must(ozg_plan_create(&plan, device_pointers ? on_device : on_host, g->type, g->transa, g->transb, g->m,
                         g->n, g->k, g->acc),
         "plan");
    limit = ozg_plan_workspace(plan) / part;
    ozg_plan_destroy(plan);
    for (;; limit += limit / 4) {
        ozg_context *ctx = open_context(OZG_BACKEND_CUDA, device_pointers, limit);
        const ozg_status status =
            ozg_plan_create(&plan, ctx, g->type, g->transa, g->transb, g->m, g->n, g->k, g->acc);

        ozg_plan_destroy(plan);
        if (status == OZG_OK)
            return ctx;
        ozg_destroy(ctx);
    }
}

static void compare_little(const product *g, const void *expected, const ozg_report *report, size_t part)
{
    for (int device = 0; device < 2; device++) {
        ozg_context *ctx = little_context(g, device, part);

        compare(ctx, g, expected, report, device ? "device, little memory" : "host, little memory");
        ozg_destroy(ctx);
    }
}

/* small: in little memory, too; 2: and in the least. */
static void check(product g, int small)
{
    ozg_report report;
    void *c;
    const int with_report = cases % 3 != 1;
    ozg_status status;

    product_make(&g, seed * 1000003 + (uint64_t)cases);
    c = copy_c(&g);
    status = call(cpu, &g, g.a, g.b, c, &report);
    if (status) {
        printf("    cpu: %s\n", ozg_last_error(cpu));
        differ(&g, "cpu");
    } else {
        compare(on_device, &g, c, with_report ? &report : NULL, "device");
        compare(on_host, &g, c, with_report ? &report : NULL, "host");
        if (small)
            compare_little(&g, c, &report, 3);
        if (small > 1)
            compare_little(&g, c, &report, 12);
    }
    free(c);
    product_free(&g);
}

/* ---- groups ------------------------------------------------------------------------------------- */

static const char types[] = {'d', 's', 'z', 'c'};

static product make(char type, int64_t m, int64_t n, int64_t k, ozg_accuracy acc, enum family family)
{
    product g = {type, 'N', 'N', m, n,    k,    0,    family, {1, 0}, {0, 0}, 0,
                 acc,  0,   0,   0, NULL, NULL, NULL, 0,      0,      0};

    return g;
}

/* The accuracies by number. */
static ozg_accuracy accuracy(char type, int q)
{
    const int single = type_is_single(type);

    switch (q) {
    case 0:
        return ozg_native();
    case 1:
        return ozg_moduli(single ? 8 : 15);
    case 2:
        return ozg_rounded();
    case 3:
        return ozg_accurate(single ? 9 : 16);
    case 4:
        return ozg_width(single ? 24 : 53);
    default:
        return ozg_with_moduli(ozg_native(), single ? 9 : 16);
    }
}

static void group_types(void)
{
    for (int t = 0; t < 4; t++)
        for (int q = 0; q < 6; q++)
            check(make(types[t], 37, 29, 41, accuracy(types[t], q), UNIFORM), 0);
}

static void group_transposes(void)
{
    static const char trans[] = "NTC";

    for (int t = 0; t < 4; t++)
        for (int q = 0; q < 9; q++) {
            product g = make(types[t], 23, 31, 17 + q, accuracy(types[t], q % 3), UNIFORM);

            if (quick && (q + t) % 3)
                continue;
            g.transa = trans[q % 3];
            g.transb = trans[q / 3];
            g.pad = 1 + q % 3;
            check(g, 0);
        }
}

static void group_moduli(void)
{
    static const int s[] = {2, 5, 8, 14, 15, 16, 17, 20, 24, 33, 49};

    for (int t = 0; t < 4; t++)
        for (size_t q = 0; q < sizeof s / sizeof *s; q++) {
            const int k = s[q] == 2 ? 3 : 33;
            product g = make(types[t], 19, 21, k, ozg_moduli(s[q]), q % 2 ? WIDE : UNIFORM);

            if (quick && (q + (size_t)t) % 2)
                continue;
            check(g, 0);
            if (s[q] >= 8) {
                g.acc = ozg_accurate(s[q]);
                check(g, 0);
                g.acc = ozg_with_moduli(ozg_rounded(), s[q]);
                check(g, 0);
            }
        }
    for (int t = 1; t <= 150; t += quick ? 37 : 13)
        check(make('d', 11, 13, 20, ozg_width(t), WIDE), 0);
}

/* Every number of moduli, N, T and C, by 2M or not: fixed and chosen scaling, with and without repairs. */
static void group_complex(void)
{
    static const char trans[] = "NTC";

    for (int s = 2; s <= 49; s++)
        for (int q = 0; q < 4; q++) {
            const int k = s < 4 ? 3 : 9 + s % 5;
            product g =
                make(q % 2 ? 'c' : 'z', 5 + s % 3, 4 + s % 2, k, ozg_moduli(s), s % 2 ? WIDE : CANCEL);

            if (quick && q != s % 4)
                continue;
            if (s >= 8 && q / 2)
                g.acc = ozg_with_moduli(s % 2 ? ozg_native() : ozg_rounded(), s);
            g.transa = trans[(s + q) % 3];
            g.transb = trans[(s + q) / 3 % 3];
            g.pad = s % 2;
            check(g, 0);
        }
}

/* Lines and k in whole blocks of every kernel: nothing is read that nobody wrote (doc/cuda.md, Tests). */
static void group_whole(void)
{
    for (int t = 0; t < 4; t++)
        for (int q = 0; q < 6; q++) {
            product g = make(types[t], 256 + 256 * (t == 1), 256, q % 2 ? 300 : 128, accuracy(types[t], q),
                             q % 3 ? WIDE : SPECIAL);

            if (quick && (t != q % 4 || q > 1))
                continue;
            g.beta[0] = q % 2 ? 0 : 1.25;
            check(g, 0);
        }
}

static void group_shapes(void)
{
    static const int64_t shape[][3] = {{1, 1, 1},      {5, 2300, 6},    {1, 97, 3},     {101, 1, 5},
                                       {2, 3, 300},    {127, 131, 1},   {257, 3, 9},    {3, 259, 70},
                                       {131, 129, 64}, {64, 64, 129},   {1, 1, 2000},   {300, 17, 31},
                                       {13, 293, 7},   {251, 241, 127}, {256, 128, 128}};

    for (size_t q = 0; q < sizeof shape / sizeof *shape; q++)
        for (int t = 0; t < (quick ? 2 : 4); t++) {
            const int which = quick ? (int)(q + (size_t)t) % 4 : t;

            if (quick && shape[q][0] * shape[q][1] > 40000)
                continue;
            check(make(types[which], shape[q][0], shape[q][1], shape[q][2],
                       accuracy(types[which], (int)(q + (size_t)t) % 4), UNIFORM),
                  shape[q][0] > 100 || shape[q][1] > 100);
        }
}

static void group_scalars(void)
{
    static const double scalar[][4] = {{1, 0, 1, 0},   {-2, 0, 0.5, 0}, {1.7, 0, -0.3, 0},
                                       {0, 0, 2, 0},   {0.5, 0, 0, 0},  {1.5, -0.7, 0.3, 2},
                                       {0, 1, 0, -1},  {0, 0, 1, 0},    {INFINITY, 0, 1, 0},
                                       {1, 0, NAN, 0}, {0, 0, 0, 0}};

    for (int t = 0; t < 4; t++)
        for (size_t q = 0; q < sizeof scalar / sizeof *scalar; q++) {
            product g = make(types[t], 33, 18, 24, accuracy(types[t], (int)q % 4), UNIFORM);

            memcpy(g.alpha, scalar[q], sizeof g.alpha);
            memcpy(g.beta, scalar[q] + 2, sizeof g.beta);
            g.pad = (int)q % 2;
            g.nan_in_c = (int)q % 3 == 1;
            check(g, 0);
        }
}

static void group_families(void)
{
    for (int t = 0; t < 4; t++)
        for (int f = 0; f < FAMILIES; f++)
            for (int q = 0; q < 4; q++) {
                product g = make(types[t], 40, 44, 52, accuracy(types[t], q), (enum family)f);

                if (quick && q > 1 && (f + t + q) % 3)
                    continue;
                g.beta[0] = q % 2 ? 0 : 1.25;
                g.pad = f % 2;
                check(g, 0);
            }
}

/* Native products with lines far out, in parts: many lines, so that the sample is not all. */
static void group_apart(void)
{
    static const int64_t n[] = {90, 91, 92};

    for (int t = 0; t < 4; t++)
        for (int q = 0; q < 3; q++) {
            if (quick && t >= 2 && q != t - 1)
                continue;
            check(make(types[t], 150, n[q], 80, ozg_native(), EVIL), 0);
            check(make(types[t], 120, n[q] + 51, 64, ozg_native(), FAR), 0);
        }
    for (int t = 0; t < (quick ? 1 : 4); t++) /* in tiles, too */
        for (int q = 0; q < 3; q++)
            check(make(types[t], 300, 282 + q, 130, ozg_native(), EVIL), 1);
    check(make('d', 2, 120, 40, ozg_native(), FAR), 0);
    check(make('d', 120, 3, 40, ozg_native(), FAR), 0);
}

#include "equal_memory.h" /* group_memory(), group_streamed(), by the functions above */

static void group_long(void)
{
    static const int64_t k[] = {131071, 131072, 131073, 140000, 262145};

    for (size_t q = 0; q < sizeof k / sizeof *k; q++)
        for (int t = 0; t < 4; t++)
            for (int a = 0; a < 4 && !quick; a++) /* emulation takes a minute for each */
                check(make(types[t], 2, 3, k[q], accuracy(types[t], a), UNIFORM), 0);
}

#include "equal_batch.h" /* group_batches(), by the functions above */

static void group_big(void)
{
    static const int64_t shape[][3] = {{2048, 2048, 2048}, {1531, 2047, 517},  {2048, 64, 1999},
                                       {65, 2048, 2048},   {1024, 1500, 4096}, {2000, 2000, 3}};

    if (!big)
        return;
    for (size_t q = 0; q < sizeof shape / sizeof *shape; q++)
        for (int t = 0; t < 4; t++)
            for (int f = 0; f < FAMILIES; f++)
                if (((int)q + t + f) % 3 == 0) {
                    product g = make(types[t], shape[q][0], shape[q][1], shape[q][2],
                                     accuracy(types[t], ((int)q + f) % 5), (enum family)f);

                    g.pad = f % 3;
                    g.transa = f % 2 ? 'T' : 'N';
                    g.transb = f % 3 ? 'N' : 'C';
                    check(g, 1);
                }
}

#include "equal_objects.h"

#include "equal_kernels.h" /* by the functions of both */

static const struct {
    const char *name;
    void (*run)(void);
} groups[] = {{"kernels", group_kernels}, /* first: it looks at what was launched */
              {"types", group_types},     {"transposes", group_transposes}, {"moduli", group_moduli},
              {"shapes", group_shapes},   {"complex", group_complex},       {"whole", group_whole},
              {"scalars", group_scalars}, {"families", group_families},     {"apart", group_apart},
              {"memory", group_memory},   {"streamed", group_streamed},     {"long", group_long},
              {"batches", group_batches}, {"prepared", group_prepared},     {"monitor", group_monitor},
              {"big", group_big}};

/* ---- the program -------------------------------------------------------------------------------- */

static void open_all(void)
{
    cpu = open_context(OZG_BACKEND_CPU, 0, 0);
    on_device = open_context(OZG_BACKEND_CUDA, 1, 0);
    on_host = open_context(OZG_BACKEND_CUDA, 0, 0);
    api = on_device->cuda->api;
    if (ozg_cuda_enter(on_device)) {
        printf("%s\n", ozg_last_error(on_device));
        exit(2);
    }
}

/* The group was asked for by name, or none was. */
static int wanted(const char *name, int argc, char **argv)
{
    int named = 0;

    for (int q = 1; q + 1 < argc; q++)
        if (strcmp(argv[q], "--group") == 0) {
            named = 1;
            if (strcmp(argv[q + 1], name) == 0)
                return 1;
        }
    return !named;
}

static void run_groups(int argc, char **argv)
{
    for (size_t q = 0; q < sizeof groups / sizeof *groups; q++) {
        const int before = cases, wrong = differences;

        if (!wanted(groups[q].name, argc, argv))
            continue;
        memset(&facts, 0, sizeof facts);
        groups[q].run();
        printf("%-12s %5d products, %d differ (%d in tiles, %d chunks of k, %d parts, %d with Inf or NaN; "
               "%llu entries "
               "repaired)\n",
               groups[q].name, cases - before, differences - wrong, facts.tiled, facts.chunked, facts.apart,
               facts.special, (unsigned long long)facts.repaired);
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    const char *given = option_of(argc, argv, "--seed");

    for (int q = 1; q < argc; q++) {
        quick |= strcmp(argv[q], "--quick") == 0;
        big |= strcmp(argv[q], "--big") == 0;
    }
    if (given)
        seed = strtoull(given, NULL, 0);
    use_driver(argc, argv, 1);
    open_all();
    run_groups(argc, argv);
    printf("%s: %d products, %d differ\n", on_device->kernel_name, cases, differences);
    ozg_cuda_leave(on_device, OZG_OK);
    ozg_destroy(on_host);
    ozg_destroy(on_device);
    ozg_destroy(cpu);
    return differences != 0;
}
