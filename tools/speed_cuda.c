/*
 * speed_cuda.c - the measurements of "ozgemm speed --backend cuda", as JSON facts.
 *
 * A board at its limit of power has two speeds, so there are two figures for each row: burst, the median of
 * calls that each come after 100 ms without work, all ways in turn; and sustained, the mean over a window of
 * calls in a row, after as long a time of the same load, cuBLAS first and last. Both are times between
 * events of one stream. The energy is that of the sustained window and the calls shortly before it, by the
 * counter of the board.
 *
 * Every way is checked before it is timed, and C is poisoned and looked at again for the last burst and for
 * the sustained window: the result of a timed call must have the bits that were checked.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "speed_cuda.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench_limit.h"
#include "cli.h"
#include "lane.h"
#include "nvml.h"

enum { MOST_CALLS = 1000000 }; /* of a window */

struct speed_gpu {
    struct cuda *cuda;
    struct cublas *cublas; /* NULL: none */
    struct nvml *nvml;     /* NULL: none */
    int cublas_version;
    double burst_rate, sustained_rate; /* of integer products: operations a second, the best seen */
    char driver[16], native[32];
};

/* One type and shape. */
struct match {
    struct contest t;
    struct speed_gpu *gpu;
    struct device_matrices on;
    struct lane *lanes;
    struct way *ways;
    int nlanes;
};

/* ---- the GPU --------------------------------------------------------------------------------------- */

/* no_cublas() - why there is none: the end if it was named, else a note. */
static void no_cublas(struct speed *q, const char *file, const char *why)
{
    char line[300];
    if (file)
        fail("%s: %s: name another file by --cublas, or none", file, why);
    snprintf(line, sizeof line,
             "%.200s, so there are no ratios: install CUDA's libcublas, or name it by --cublas", why);
    speed_note(q, line);
    cublas_close(q->gpu->cublas);
    q->gpu->cublas = NULL;
}

/* note_settings() - variables of the environment that make native cuBLAS something else. */
static void note_settings(struct speed *q)
{
    static const char *const names[] = {"CUBLAS_EMULATE_DOUBLE_PRECISION", "CUBLAS_EMULATE_SINGLE_PRECISION",
                                        "CUBLAS_EMULATION_STRATEGY", "NVIDIA_TF32_OVERRIDE"};
    char line[200];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = getenv(names[i]);
        if (value == NULL)
            continue;
        snprintf(line, sizeof line, "%s=%.40s is set: what is called cuBLAS here may not be native; unset it",
                 names[i], value);
        speed_note(q, line);
    }
}

/* look_at_cublas() - find it, and see whether it works. */
static void look_at_cublas(struct speed *q, const char *file)
{
    struct speed_gpu *gpu = q->gpu;
    const char *problem;
    if (file && strcmp(file, "none") == 0)
        return;
    gpu->cublas = cublas_open(file);
    if (gpu->cublas == NULL) {
        no_cublas(q, file, file ? "is no cuBLAS with cublasDgemm_v2 and its like" : "no cuBLAS was found");
        return;
    }
    struct cublas_handle *h = cublas_begin(gpu->cublas, cuda_stream(gpu->cuda), &problem);
    if (h == NULL) {
        no_cublas(q, file, problem);
        return;
    }
    const int v = gpu->cublas_version = cublas_version(h); /* 110601, 120400, 130100 */
    cublas_end(h);
    note_settings(q);
    snprintf(gpu->native, sizeof gpu->native, "cuBLAS %d.%d", v / 10000, v / 100 % 100);
}

void speed_cuda_open(struct speed *q, const char *cublas)
{
    ozg_context *ctx;
    const char *missing;
    check_status(ozg_create(&ctx, &q->config), NULL); /* the library says best what is wrong with a GPU */
    ozg_destroy(ctx);
    q->gpu = xmalloc(sizeof *q->gpu);
    *q->gpu = (struct speed_gpu){.cuda = cuda_open(q->config.device)};
    look_at_cublas(q, cublas);
    q->gpu->nvml = nvml_open(cuda_bus(q->gpu->cuda), &missing);
    if (missing)
        speed_note(q, missing);
}

void speed_cuda_close(struct speed *q)
{
    if (q->gpu == NULL)
        return;
    nvml_close(q->gpu->nvml);
    cuda_close(q->gpu->cuda);
    cublas_close(q->gpu->cublas);
    free(q->gpu);
    q->gpu = NULL;
}

const char *speed_cuda_native(const struct speed *q)
{
    return q->gpu->cublas ? q->gpu->native : NULL;
}

void speed_cuda_facts(const struct speed *q, json_t *o)
{
    const struct speed_gpu *gpu = q->gpu;
    json_object_set_new(o, "device", json_text(cuda_name(gpu->cuda)));
    json_object_set_new(o, "cuda_driver", json_integer(cuda_driver(gpu->cuda)));
    json_object_set_new(o, "power_limit_watts", json_number(nvml_power_limit(gpu->nvml)));
    json_object_set_new(o, "cublas", gpu->cublas ? json_text(cublas_path(gpu->cublas)) : json_null());
    json_object_set_new(o, "cublas_version", gpu->cublas ? json_integer(gpu->cublas_version) : json_null());
    json_object_set_new(
        o, "limits",
        json_pack("{s:s}", "obtained",
                  "the fastest integer products seen in this run under the same load: those of cuBLAS "
                  "(cublasGemmEx, 8 bits) and the product stages of the library"));
    json_t *limits = json_object_get(o, "limits");
    json_object_set_new(limits, "burst_tops", json_number(gpu->burst_rate * 1e-12));
    json_object_set_new(limits, "sustained_tops", json_number(gpu->sustained_rate * 1e-12));
}

/* ---- lanes ----------------------------------------------------------------------------------------- */

/* rest_of() - seconds without work before a burst; --seconds 0 wants results and no figures. */
static double rest_of(const struct speed *q)
{
    return q->seconds > 0 ? 0.1 : 0;
}

static void idle(double seconds)
{
    struct timespec pause = {(time_t)seconds, (long)(fmod(seconds, 1) * 1e9)};
    nanosleep(&pause, NULL);
}

/* drop() - the lane has no figures, for this reason. */
static void drop(struct lane *l, const char *reason)
{
    l->live = 0;
    if (json_is_null(json_object_get(l->row, "wrong")))
        contest_refuse(l->t, l->row, reason);
}

/* run() - a call of a lane that is alive; returns whether it still is. */
static int run(struct lane *l, ozg_report *report)
{
    const char *problem = lane_run(l, report);
    if (problem)
        drop(l, problem);
    return l->live;
}

/* settle() - the same for what was enqueued. */
static int settle(struct lane *l, ozg_report *report)
{
    const char *problem = lane_wait(l, report);
    if (problem)
        drop(l, problem);
    return l->live;
}

/* tell_emulation() - how many bits the emulation of cuBLAS kept, or that it may not have emulated. */
static void tell_emulation(struct match *x, struct lane *l)
{
    int32_t bits;
    if (l->tells_bits) {
        cuda_download(l->cuda, &bits, l->device_bits, sizeof bits);
        json_object_set_new(l->row, "emulation_bits", bits > 0 ? json_integer(bits) : json_null());
        if (bits > 0)
            return;
    }
    if (l->tells_bits || (x->lanes->live && x->lanes->kind == LANE_CUBLAS && x->lanes->bits == l->bits))
        json_object_set_new(
            l->row, "remark",
            json_string(l->tells_bits
                            ? "cuBLAS tells no bits that it kept: it has not emulated this product"
                            : "the bits of native cuBLAS: it has probably not emulated this product"));
}

/* first() - the call that is checked. */
static void first(struct match *x, struct lane *l)
{
    const struct contest *t = &x->t;
    ozg_report r;
    cuda_poison(l->cuda, l->c, l->c_bytes);
    if (!run(l, l->kind == LANE_OWN ? &r : NULL) || !settle(l, l->kind == LANE_OWN ? &r : NULL))
        return;
    if (l->kind == LANE_OWN) {
        l->promise = contest_promise(t, l->way, &r);
        contest_report(t, l->row, &r);
    }
    l->live = lane_check(l);
    if (l->kind == LANE_CUBLAS && l->live) {
        memcpy(x->t.d.data, x->t.c.data, l->c_bytes);
        x->t.compare = 1;
    }
    if (l->kind == LANE_EMULATED && l->live)
        tell_emulation(x, l);
}

static void add_lane(struct match *x, enum lane_kind kind, const struct way *way, const char *name)
{
    struct lane *l = &x->lanes[x->nlanes++];
    *l = (struct lane){.kind = kind, .way = way, .cuda = x->gpu->cuda, .t = &x->t, .on = &x->on};
    l->row = contest_row(&x->t, name);
    l->joules = l->clock = NAN;
}

/* add_lanes() - native cuBLAS first, then the others as they were asked for. */
static void add_lanes(struct match *x)
{
    const struct speed *q = x->t.q;
    x->lanes = xmalloc((size_t)(q->nways + 1) * sizeof *x->lanes);
    x->ways = xmalloc((size_t)q->nways * sizeof *x->ways);
    if (x->gpu->cublas)
        add_lane(x, LANE_CUBLAS, NULL, "cuBLAS");
    for (int i = 0; i < q->nways; i++) {
        x->ways[i] = way_of_type(&q->ways[i], x->t.type);
        add_lane(x,
                 x->ways[i].by == BY_CUBLAS_EMULATED ? LANE_EMULATED
                 : x->ways[i].by == BY_CUBLAS_INT8   ? LANE_INT8
                                                     : LANE_OWN,
                 &x->ways[i], x->ways[i].name);
    }
}

/* begin() - one after the other, since what is free decides the workspace of the next. */
static void begin(struct match *x)
{
    for (struct lane *l = x->lanes; l < x->lanes + x->nlanes; l++) {
        const char *problem = lane_open(l, x->gpu->cublas);
        contest_progress(&x->t, 0, json_string_value(json_object_get(l->row, "method")));
        l->live = problem == NULL;
        if (problem)
            drop(l, problem);
        else
            first(x, l);
        if (!l->live && problem == NULL && !json_is_null(json_object_get(l->row, "wrong")))
            contest_progress(&x->t, 1, "");
    }
}

/* ---- times ----------------------------------------------------------------------------------------- */

/* burst_once() - a call after a time without work, in seconds; last: its result is looked at. */
static double burst_once(struct lane *l, int last)
{
    if (last)
        cuda_poison(l->cuda, l->c, l->c_bytes);
    cuda_finish(l->cuda);
    idle(rest_of(l->t->q));
    cuda_mark(l->cuda, 0);
    if (!run(l, NULL))
        return NAN;
    cuda_mark(l->cuda, 1);
    if (!settle(l, NULL))
        return NAN;
    double seconds = cuda_seconds(l->cuda);
    if (last)
        l->live = lane_recheck(l);
    return seconds;
}

static int by_size(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* bursts() - all lanes in turn. */
static void bursts(struct match *x)
{
    const int runs = x->t.q->runs;
    double *times = xmalloc((size_t)(x->nlanes * runs) * sizeof *times);
    for (int turn = 0; turn < runs; turn++)
        for (int i = 0; i < x->nlanes; i++)
            if (x->lanes[i].live) {
                times[i * runs + turn] = burst_once(&x->lanes[i], turn == runs - 1);
                contest_progress(&x->t, 0.5 / runs, "bursts");
            }
    for (int i = 0; i < x->nlanes; i++) {
        struct lane *l = &x->lanes[i];
        double *own = times + i * runs;
        if (!l->live)
            continue;
        qsort(own, (size_t)runs, sizeof *own, by_size);
        l->least = own[0];
        l->burst.seconds = (own[(runs - 1) / 2] + own[runs / 2]) / 2;
        idle(rest_of(x->t.q));
        if (l->kind == LANE_OWN && run(l, &l->burst.report))
            settle(l, &l->burst.report);
    }
    free(times);
}

static int calls(struct lane *l, int64_t count)
{
    while (count > 0 && run(l, NULL))
        count--;
    return l->live;
}

/*
 * sustain() - the mean over a window of calls. Energy is counted from shortly before the window, so that to
 * ask for it does not leave the GPU without work within. l->joules and l->clock become those of this window.
 */
static double sustain(struct match *x, struct lane *l)
{
    const double seconds = x->t.q->seconds, once = l->burst.seconds;
    const double wanted = once > 0 ? ceil(seconds / once) : 2;
    const int64_t count = wanted < 2 ? 2 : wanted < MOST_CALLS ? (int64_t)wanted : MOST_CALLS;
    const int64_t before = count / 5 + 1;
    ozg_report *report = l->kind == LANE_OWN ? &l->sustained.report : NULL;
    idle(seconds);
    if (!calls(l, count) || !settle(l, NULL))
        return NAN;
    const double joules = nvml_energy(x->gpu->nvml);
    cuda_poison(l->cuda, l->c, l->c_bytes);
    if (!calls(l, before))
        return NAN;
    cuda_mark(l->cuda, 0);
    if (!calls(l, count))
        return NAN;
    cuda_mark(l->cuda, 1);
    l->clock = nvml_clock(x->gpu->nvml);
    if (!settle(l, NULL))
        return NAN;
    l->joules = (nvml_energy(x->gpu->nvml) - joules) / (double)(before + count);
    l->calls = count;
    double mean = cuda_seconds(l->cuda) / (double)count;
    l->live = lane_recheck(l);
    if (l->live && report && calls(l, before) && run(l, report))
        settle(l, report);
    return mean;
}

static void sustained(struct match *x)
{
    for (int i = 0; i < x->nlanes; i++)
        if (x->lanes[i].live) {
            x->lanes[i].sustained.seconds = sustain(x, &x->lanes[i]);
            contest_progress(&x->t, 0.5, "sustained");
        }
    struct lane *l = x->lanes; /* cuBLAS, once more */
    if (x->nlanes == 0 || l->kind != LANE_CUBLAS || !l->live)
        return;
    double joules = l->joules, mean = l->sustained.seconds, again = sustain(x, l);
    l->apart = fabs(again - mean) / again;
    l->sustained.seconds = (mean + again) / 2;
    l->joules = (l->joules + joules) / 2;
}

/* ---- rows ------------------------------------------------------------------------------------------ */

/* stages_of() - milliseconds of each stage. */
static json_t *stages_of(const ozg_report *r)
{
    json_t *o = json_object();
    json_object_set_new(o, "scale", json_number(1e3 * r->seconds_scale));
    json_object_set_new(o, "split", json_number(1e3 * r->seconds_split));
    json_object_set_new(o, "product", json_number(1e3 * r->seconds_product));
    json_object_set_new(o, "reconstruct", json_number(1e3 * r->seconds_reconstruct));
    json_object_set_new(o, "repair", json_number(1e3 * r->seconds_repair));
    json_object_set_new(o, "total", json_number(1e3 * r->seconds_total));
    return o;
}

/* put_pace() - what one time of a lane says; native: that of cuBLAS, or NULL. */
static json_t *put_pace(const struct lane *l, const char *key, const struct pace *p,
                        const struct pace *native)
{
    json_t *o = json_object();
    json_object_set_new(o, "seconds", json_number(p->seconds));
    json_object_set_new(o, "tflops", json_number(l->flops / p->seconds * 1e-12));
    if (native && l->kind != LANE_INT8 && l->kind != LANE_CUBLAS)
        json_object_set_new(o, "ratio", json_number(p->seconds / native->seconds));
    if (l->kind == LANE_OWN)
        json_object_set_new(o, "stages_ms", stages_of(&p->report));
    json_object_set_new(l->row, key, o);
    return o;
}

/* raise_rates() - what this lane shows of integer products. */
static void raise_rates(struct speed_gpu *gpu, const struct lane *l)
{
    const struct contest *t = l->t;
    const ozg_report *b = &l->burst.report, *s = &l->sustained.report;
    double burst = 0, lasting = 0;
    if (l->kind == LANE_INT8) {
        burst = l->flops / l->burst.seconds;
        lasting = l->flops / l->sustained.seconds;
    } else if (l->kind == LANE_OWN && b->seconds_product > 0 && s->seconds_product > 0) {
        burst = 2 * limit_work(b, t->m, t->n, t->k) / b->seconds_product;
        lasting = 2 * limit_work(s, t->m, t->n, t->k) / s->seconds_product;
    }
    gpu->burst_rate = fmax(gpu->burst_rate, burst);
    gpu->sustained_rate = fmax(gpu->sustained_rate, lasting);
}

static void put_rows(struct match *x)
{
    const struct lane *native =
        x->nlanes && x->lanes->kind == LANE_CUBLAS && x->lanes->live ? x->lanes : NULL;
    for (struct lane *l = x->lanes; l < x->lanes + x->nlanes; l++) {
        if (!l->live)
            continue;
        json_t *o = put_pace(l, "burst", &l->burst, native ? &native->burst : NULL);
        json_object_set_new(o, "calls", json_integer(x->t.q->runs));
        json_object_set_new(o, "seconds_min", json_number(l->least));
        o = put_pace(l, "sustained", &l->sustained, native ? &native->sustained : NULL);
        json_object_set_new(o, "calls", json_integer((json_int_t)l->calls));
        json_object_set_new(o, "joules", json_number(l->joules));
        json_object_set_new(o, "watts", json_number(l->joules / l->sustained.seconds));
        json_object_set_new(o, "clock_mhz", json_number(l->clock));
        if (native && l->kind != LANE_INT8 && l != native)
            json_object_set_new(o, "energy_ratio", json_number(l->joules / native->joules));
        if (l == native)
            json_object_set_new(o, "apart", json_number(l->apart));
        raise_rates(x->gpu, l);
    }
}

/* ---- all of it ------------------------------------------------------------------------------------- */

double speed_cuda_work(const struct speed *q, char type, struct shape shape)
{
    struct contest t = {.type = type, .m = shape.m, .n = shape.n, .k = shape.k};
    return (contest_flops(&t) + 1e8) * (q->nways + (q->gpu->cublas != NULL));
}

/* upload() - A and B to the device, and room for C; 0: it has no memory for them. */
static int upload(struct match *x)
{
    const struct contest *t = &x->t;
    size_t size = type_size(t->type), a = size * (size_t)(t->m * t->k), b = size * (size_t)(t->k * t->n);
    x->on.a = cuda_memory(x->gpu->cuda, a);
    x->on.b = cuda_memory(x->gpu->cuda, b);
    x->on.c = cuda_memory(x->gpu->cuda, size * (size_t)(t->m * t->n));
    if (x->on.a == NULL || x->on.b == NULL || x->on.c == NULL)
        return 0;
    cuda_upload(x->gpu->cuda, x->on.a, t->a.data, a);
    cuda_upload(x->gpu->cuda, x->on.b, t->b.data, b);
    return 1;
}

static void end(struct match *x)
{
    cuda_finish(x->gpu->cuda);
    for (struct lane *l = x->lanes; l < x->lanes + x->nlanes; l++)
        lane_close(l);
    cuda_release(x->gpu->cuda, x->on.a);
    cuda_release(x->gpu->cuda, x->on.b);
    cuda_release(x->gpu->cuda, x->on.c);
    free(x->lanes);
    free(x->ways);
    contest_end(&x->t);
}

void speed_cuda_measure(struct speed *q, char type, struct shape shape)
{
    struct match x = {.t = {.q = q, .type = type, .m = shape.m, .n = shape.n, .k = shape.k}, .gpu = q->gpu};
    contest_begin(&x.t, q->gpu->cublas != NULL);
    add_lanes(&x);
    if (upload(&x)) {
        begin(&x);
        bursts(&x);
        sustained(&x);
        put_rows(&x);
    } else
        for (int i = 0; i < x.nlanes; i++)
            drop(&x.lanes[i], "the GPU has no memory for the three matrices");
    end(&x);
}

void speed_cuda_finish(struct speed *q)
{
    static const char *const keys[] = {"burst", "sustained"};
    size_t i;
    json_t *row;
    progress_end(&q->bar);
    json_array_foreach(q->rows, i, row)
    {
        for (int p = 0; p < 2 && json_object_get(row, "products"); p++) {
            json_t *o = json_object_get(row, keys[p]);
            double rate = p == 0 ? q->gpu->burst_rate : q->gpu->sustained_rate;
            double work = 2 * json_number_value(json_object_get(row, "multiply_adds"));
            if (o)
                json_object_set_new(
                    o, "limit_share",
                    json_number(work / rate / json_number_value(json_object_get(o, "seconds"))));
        }
    }
}
