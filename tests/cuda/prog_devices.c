/*
 * prog_devices.c - contexts on two devices, and on two streams of one, that work at the same time: bits and
 * reports of the CPU; operands, errors, and contexts that end while others work.
 *
 *     prog_devices [--driver LIBRARY [--capability N] [--order N] [--fresh N]] [--quick]
 *
 * --quick: small products, for emulation (whose driver has two devices); the rest as in device_program.h. On a
 * machine with one device the part that needs two is left out, and the last line says so. A line for each part; exit
 * status 1 if anything is wrong, 77 if there is no device.
 *
 * SPDX-License-Identifier: MIT
 */
#include "device_program.h"

#include <pthread.h>

#include "check.h"

enum { TYPES = 4, ACCURACIES = 4, JOBS = TYPES * ACCURACIES };

/* A product, and what the CPU makes of it. */
typedef struct job {
    struct gemm g;
    struct arena arena;
    ozg_accuracy acc;
    unsigned char *expected;
    ozg_report report;
} job;

static job jobs[JOBS];
static int quick, wrong, checks;
static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;

/* A check that many threads may make. */
static void check(int good, const char *where, const char *what, const char *more)
{
    pthread_mutex_lock(&counting);
    checks++;
    wrong += !good;
    if (!good)
        printf("    %s: %s: %s\n", where, what, more);
    pthread_mutex_unlock(&counting);
}

/* ---- products ----------------------------------------------------------------------------------- */

static ozg_accuracy accuracy(char type, int q)
{
    const int single = type_is_single(type);

    return q == 0   ? ozg_native()
           : q == 1 ? ozg_moduli(single ? 8 : 15)
           : q == 2 ? ozg_rounded()
                    : ozg_accurate(single ? 9 : 16);
}

static void make_job(job *j, int number, ozg_context *cpu)
{
    static const char trans[] = "NTC";
    static const enum family families[] = {FAMILY_NORMAL, FAMILY_SPIKE, FAMILY_SPECIAL, FAMILY_CANCEL};
    const int64_t size = quick ? 12 : 300;
    const enum family f = families[number % 5 % 4];
    struct rng r = {(uint64_t)number + 1};
    struct gemm *g = &j->g;

    g->type = "dszc"[number / ACCURACIES];
    g->transa = trans[number % 3];
    g->transb = trans[number / 3 % 3];
    g->m = size + number;
    g->n = size + 17 - number % 5;
    g->k = 2 * size + number;
    g->alpha[0] = 1;
    g->beta[0] = number % 2 ? 0.5 : 0;
    j->acc = accuracy(g->type, number % ACCURACIES);
    arena_open(&j->arena, (size_t)(g->m + g->n) * (size_t)(g->k + 8) * type_bytes(g->type));
    gemm_layout(g, &j->arena, (struct padding){1, 0, 3}, 1);
    gemm_fill(g, &r, f, f, FAMILY_NORMAL);
    j->expected = gemm_image(g);
    must(gemm_run(cpu, g, j->expected, j->acc, &j->report), "the CPU's product");
}

static size_t bytes_a(const struct gemm *g)
{
    return (size_t)matrix_elements(gemm_rows_a(g), gemm_cols_a(g), g->lda) * type_bytes(g->type);
}

static size_t bytes_b(const struct gemm *g)
{
    return (size_t)matrix_elements(gemm_rows_b(g), gemm_cols_b(g), g->ldb) * type_bytes(g->type);
}

/* ---- a job in a context ------------------------------------------------------------------------- */

static ozg_context *open_on(int device, CUstream stream, int device_pointers)
{
    ozg_config cfg;
    ozg_context *ctx;

    ozg_config_init(&cfg);
    cfg.backend = OZG_BACKEND_CUDA;
    cfg.device = device;
    cfg.stream = stream;
    cfg.device_pointers = device_pointers;
    must(ozg_create(&ctx, &cfg), "create a context");
    return ctx;
}

/* A stream of the device; of_device: a context there. */
static CUstream open_stream(ozg_context *of_device)
{
    CUstream stream;

    must(ozg_cuda_enter(of_device), "enter");
    must(api->stream_create(&stream, CU_STREAM_NON_BLOCKING), "create a stream");
    must(ozg_cuda_leave(of_device, OZG_OK), "leave");
    return stream;
}

/* A product under way, with its matrices where the context wants them. */
typedef struct running {
    ozg_context *ctx;
    const job *j;
    struct gemm g;
    unsigned char *c;
    CUdeviceptr memory[3];
    ozg_operand *operand;
    ozg_report report;
    ozg_status status;
} running;

static void *there(running *x, int which, const void *from, size_t bytes)
{
    if (!x->ctx->device_pointers)
        return (void *)(uintptr_t)from;
    must(api->allocate(&x->memory[which], bytes), "allocate");
    must(api->upload(x->memory[which], from, bytes, x->ctx->cuda->stream), "upload");
    return (void *)(uintptr_t)x->memory[which];
}

/* Enqueues it; prepared: op(A) is prepared first. Inside of ozg_cuda_enter(). */
static void start(running *x, ozg_context *ctx, const job *j, int prepared)
{
    struct gemm *g = &x->g;
    void *c;

    memset(x, 0, sizeof *x);
    x->ctx = ctx;
    x->j = j;
    x->c = gemm_image(&j->g);
    *g = j->g;
    g->a = there(x, 0, j->g.a, bytes_a(g));
    g->b = there(x, 1, j->g.b, bytes_b(g));
    c = there(x, 2, x->c, gemm_image_bytes(g));
    if (prepared)
        x->status =
            ozg_operand_create(&x->operand, ctx, g->type, 'A', g->transa, g->m, g->k, g->a, g->lda, j->acc);
    if (!x->status)
        x->status = gemm_run_prepared(ctx, g, x->operand, NULL, c, j->acc, prepared ? NULL : &x->report);
}

static int same_report(const ozg_report *x, const ozg_report *y, int rounded)
{
    const int same = x->emulated == y->emulated && x->special_rows == y->special_rows &&
                     x->special_cols == y->special_cols && memcmp(&x->bound, &y->bound, sizeof x->bound) == 0;

    return same && (rounded || (x->moduli == y->moduli && x->width == y->width && x->tested == y->tested &&
                                x->repaired == y->repaired));
}

/* Waits for it and compares. */
static void finish(running *x, const char *where)
{
    const job *j = x->j;
    const size_t bytes = gemm_image_bytes(&j->g);
    const int with_report = !x->operand && !x->status;
    char what[64];

    snprintf(what, sizeof what, "job %d%s", (int)(j - jobs), x->operand ? ", A prepared" : "");
    if (!x->status)
        x->status = ozg_report_wait(x->ctx, with_report ? &x->report : NULL);
    if (x->ctx->device_pointers)
        must(api->download(x->c, x->memory[2], bytes, x->ctx->cuda->stream), "download");
    must(api->stream_synchronize(x->ctx->cuda->stream), "synchronize");
    check(x->status == OZG_OK, where, what, ozg_last_error(x->ctx));
    if (!x->status && (!x->operand || j->acc.kind != ozg_accurate(9).kind))
        check(memcmp(x->c, j->expected, bytes) == 0, where, what, "bits are not the CPU's");
    if (with_report)
        check(same_report(&j->report, &x->report, j->acc.kind == ozg_rounded().kind), where, what,
              "the report is not the CPU's");
    ozg_operand_destroy(x->operand);
    for (int q = 0; q < 3; q++)
        if (x->memory[q])
            must(api->release(x->memory[q]), "release");
    free(x->c);
}

/* Accurate scaling looks at both operands: there is nothing to prepare. */
static int may_prepare(const job *j)
{
    return j->acc.kind != ozg_accurate(9).kind;
}

/* ---- threads ------------------------------------------------------------------------------------ */

typedef struct worker {
    pthread_t thread;
    const char *where;
    int device, device_pointers, first, step;
    int ends; /* a context for each job, which ends while its work waits on the stream */
} worker;

static void *work(void *arg)
{
    const worker *w = arg;
    ozg_context *base = open_on(w->device, NULL, 1), *ctx;
    const CUstream stream = open_stream(base);
    const int rounds = quick ? 1 : 3;
    running x;

    ctx = open_on(w->device, stream, w->device_pointers);
    must(ozg_cuda_enter(base), "enter");
    for (int q = w->first; q < JOBS * rounds; q += w->step) {
        const job *j = &jobs[q % JOBS];

        start(&x, ctx, j, q % 3 == 1 && may_prepare(j));
        if (w->ends && w->device_pointers && !x.operand) { /* its work goes on: this waits for it */
            ozg_destroy(ctx);
            ctx = open_on(w->device, stream, w->device_pointers);
            x.ctx = ctx;
            must(api->download(x.c, x.memory[2], gemm_image_bytes(&j->g), stream), "download");
            must(api->stream_synchronize(stream), "synchronize");
            check(memcmp(x.c, j->expected, gemm_image_bytes(&j->g)) == 0, w->where, "after its context",
                  "bits are not the CPU's");
            for (int i = 0; i < 3; i++)
                must(api->release(x.memory[i]), "release");
            free(x.c);
        } else {
            finish(&x, w->where);
        }
    }
    ozg_cuda_leave(base, OZG_OK);
    ozg_destroy(ctx);
    must(ozg_cuda_enter(base), "enter");
    must(api->stream_destroy(stream), "destroy a stream");
    ozg_cuda_leave(base, OZG_OK);
    ozg_destroy(base);
    return NULL;
}

static void tell(const char *part, int checks_before, int wrong_before)
{
    printf("%-44s %4d checks, %d wrong\n", part, checks - checks_before, wrong - wrong_before);
    fflush(stdout);
}

static void run_workers(const char *part, worker *w, int count)
{
    const int before = checks, wrong_before = wrong;

    for (int q = 0; q < count; q++) {
        w[q].where = part;
        must(pthread_create(&w[q].thread, NULL, work, &w[q]), "start a thread");
    }
    for (int q = 0; q < count; q++)
        must(pthread_join(w[q].thread, NULL), "join a thread");
    tell(part, before, wrong_before);
}

/* Two threads at once, on these devices, by device and by host pointers. */
static void threads(const char *part, int device, int other, int ends)
{
    worker w[4] = {{.device = device, .device_pointers = 1, .first = 0, .step = 2},
                   {.device = other, .device_pointers = 1, .first = 1, .step = 2},
                   {.device = device, .device_pointers = 0, .first = 2, .step = 3},
                   {.device = other, .device_pointers = 0, .first = 0, .step = 3}};

    w[0].ends = ends;
    run_workers(part, w, quick ? 3 : 4);
}

/* ---- one thread, two contexts ------------------------------------------------------------------- */

/* Products of both are enqueued before anybody waits. */
static void interleave(const char *part, int device, int other)
{
    const int before = checks, wrong_before = wrong;
    ozg_context *base[2] = {open_on(device, NULL, 1), open_on(other, NULL, 1)}, *ctx[2];
    CUstream stream[2];
    running x[2];

    for (int q = 0; q < 2; q++) {
        stream[q] = open_stream(base[q]);
        ctx[q] = open_on(q ? other : device, stream[q], 1);
    }
    for (int number = 0; number < JOBS; number += quick ? 5 : 1) {
        for (int q = 0; q < 2; q++) {
            const job *j = &jobs[(number + 7 * q) % JOBS];

            must(ozg_cuda_enter(ctx[q]), "enter");
            start(&x[q], ctx[q], j, number % 4 == 3 && may_prepare(j));
            must(ozg_cuda_leave(ctx[q], OZG_OK), "leave");
        }
        for (int q = 1; q >= 0; q--) {
            must(ozg_cuda_enter(ctx[q]), "enter");
            finish(&x[q], part);
            must(ozg_cuda_leave(ctx[q], OZG_OK), "leave");
        }
    }
    for (int q = 0; q < 2; q++) {
        ozg_destroy(ctx[q]);
        must(ozg_cuda_enter(base[q]), "enter");
        must(api->stream_destroy(stream[q]), "destroy a stream");
        must(ozg_cuda_leave(base[q], OZG_OK), "leave");
        ozg_destroy(base[q]);
    }
    tell(part, before, wrong_before);
}

/* ---- errors ------------------------------------------------------------------------------------- */

static void refused(const char *part, ozg_status status, ozg_status wanted, const char *sentence,
                    const char *word)
{
    char what[96];

    snprintf(what, sizeof what, "%s, not %s", ozg_status_name(status), ozg_status_name(wanted));
    check(status == wanted, part, what, sentence);
    check(strstr(sentence, word) != NULL, part, sentence, word);
}

static void wrong_numbers(int devices)
{
    const int before = checks, wrong_before = wrong, number[3] = {-1, devices, devices + 1000};
    const char *part = "a device that is not there";

    for (int q = 0; q < 3; q++) {
        ozg_config cfg;
        ozg_context *ctx;

        ozg_config_init(&cfg);
        cfg.backend = OZG_BACKEND_CUDA;
        cfg.device = number[q];
        refused(part, ozg_create(&ctx, &cfg), OZG_E_NODEVICE, ozg_last_error(NULL), "cfg->device is");
        check(ctx == NULL, part, "ctx", "is not NULL");
    }
    tell(part, before, wrong_before);
}

/* An operand of one context in a call of another, and a report. C stays as it was, and both work afterwards. */
static void wrong_operand(const char *part, int device, int other)
{
    const int before = checks, wrong_before = wrong;
    ozg_context *ctx = open_on(device, NULL, 0), *second = open_on(other, NULL, 0);
    const job *j = &jobs[1];
    unsigned char *c = gemm_image(&j->g), *as_it_was = gemm_image(&j->g);
    ozg_operand *op;
    ozg_report report;
    running x;

    must(ozg_operand_create(&op, ctx, j->g.type, 'A', j->g.transa, j->g.m, j->g.k, j->g.a, j->g.lda, j->acc),
         "prepare an operand");
    refused(part, gemm_run_prepared(second, &j->g, op, NULL, c, j->acc, &report), OZG_E_ARG,
            ozg_last_error(second), "another context");
    check(memcmp(c, as_it_was, gemm_image_bytes(&j->g)) == 0, part, "C", "was changed");
    for (int q = 0; q < 2; q++) {
        must(ozg_cuda_enter(q ? second : ctx), "enter");
        start(&x, q ? second : ctx, j, 1);
        finish(&x, part);
        must(ozg_cuda_leave(q ? second : ctx, OZG_OK), "leave");
    }
    ozg_operand_destroy(op);
    ozg_destroy(second);
    ozg_destroy(ctx);
    free(c);
    free(as_it_was);
    tell(part, before, wrong_before);
}

static void wrong_stream(void)
{
    const int before = checks, wrong_before = wrong;
    const char *part = "a stream of another device";
    ozg_context *base = open_on(1, NULL, 0), *ctx;
    const CUstream stream = open_stream(base);
    ozg_config cfg;

    ozg_config_init(&cfg);
    cfg.backend = OZG_BACKEND_CUDA;
    cfg.device = 0;
    cfg.stream = stream;
    refused(part, ozg_create(&ctx, &cfg), OZG_E_ARG, ozg_last_error(NULL), "cfg->stream");
    must(ozg_cuda_enter(base), "enter");
    must(api->stream_destroy(stream), "destroy a stream");
    must(ozg_cuda_leave(base, OZG_OK), "leave");
    ozg_destroy(base);
    tell(part, before, wrong_before);
}

/* ---- the program -------------------------------------------------------------------------------- */

/* What the driver's stand-in saw. */
static void check_driver(const char *driver)
{
    fake_counts (*count)(void);
    void *library = driver ? dlopen(driver, RTLD_NOW) : NULL;

    if (!library)
        return;
    *(void **)(void *)&count = dlsym(library, "fake_count");
    check(count().complaints == 0, "the driver", "complaints", "see above");
    check(count().allocations <= count().contexts, "the driver", "allocations", "are left behind");
    dlclose(library);
}

int main(int argc, char **argv)
{
    ozg_context *cpu = NULL, *first;
    int devices = 0;

    for (int q = 1; q < argc; q++)
        quick |= strcmp(argv[q], "--quick") == 0;
    use_driver(argc, argv, 2);
    first = open_context(OZG_BACKEND_CUDA, 0, 0);
    api = first->cuda->api;
    must(api->device_count(&devices), "count the devices");
    cpu = open_context(OZG_BACKEND_CPU, 0, 0);
    for (int q = 0; q < JOBS; q++)
        make_job(&jobs[q], q, cpu);
    wrong_numbers(devices);
    wrong_operand("an operand of another context", 0, 0);
    interleave("two streams, one thread", 0, 0);
    threads("two streams, a thread each", 0, 0, 0);
    threads("contexts that end while others work", 0, 0, 1);
    if (devices > 1) {
        wrong_operand("an operand of another device", 0, 1);
        wrong_stream();
        interleave("two devices, one thread", 0, 1);
        threads("two devices, a thread each", 0, 1, 0);
        threads("two devices, contexts that end", 0, 1, 1);
    }
    ozg_destroy(first);
    ozg_destroy(cpu);
    check_driver(option_of(argc, argv, "--driver"));
    for (int q = 0; q < JOBS; q++) {
        arena_close(&jobs[q].arena);
        free(jobs[q].expected);
    }
    printf("%d checks, %d wrong\n", checks, wrong);
    if (devices < 2)
        printf("ONE DEVICE: WHAT NEEDS TWO DEVICES WAS NOT RUN\n");
    return wrong != 0;
}
