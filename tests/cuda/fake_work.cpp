/*
 * fake_work.cpp - work of streams of the fake driver: done at once, queued until somebody waits, or kept for
 * a graph.
 *
 * Of a queue only so much is done as somebody waits for, and of several the youngest first: what is not ordered by
 * events goes wrong.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdarg.h>
#include <time.h>

#include "fake_parts.h"

fake_counts fake_now;
int fake_sticky;

typedef struct list {
    fake_work *first, **last;
} list;

static list graph;
static CUstream_st *streams; /* the youngest first */
static int capturing;

int fake_complain(const char *format, ...)
{
    va_list words;

    fake_now.complaints++;
    fputs("fake driver: ", stderr);
    va_start(words, format);
    vfprintf(stderr, format, words);
    va_end(words);
    fputc('\n', stderr);
    return CUDA_ERROR_INVALID_VALUE;
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int run_kernel(const fake_work *w)
{
    const int status =
        ozg_emulated_launch_grid(w->function->name, w->grid, w->threads, w->shared, w->cooperative, w->args);

    fake_now.launches++;
    if (status == OZG_EMULATED_OK)
        return CUDA_SUCCESS;
    fake_complain("kernel %s cannot run with %d x %d x %d blocks of %d threads and %zu bytes (%d)",
                  w->function->name, w->grid[0], w->grid[1], w->grid[2], w->threads, w->shared, status);
    return CUDA_ERROR_LAUNCH_FAILED;
}

static int run_work(const fake_work *w)
{
    int result = CUDA_SUCCESS;

    fake_memory_open();
    switch (w->kind) {
    case FAKE_COPY:
        for (size_t i = 0; i < w->height; i++)
            memcpy(w->to + i * w->to_pitch, w->from + i * w->from_pitch, w->bytes);
        fake_now.copies++;
        break;
    case FAKE_SET:
        memset(w->to, w->value, w->bytes);
        break;
    case FAKE_LAUNCH:
        result = run_kernel(w);
        break;
    case FAKE_EVENT:
        w->event->seconds = seconds();
        w->event->recorded = 1;
        w->event->done++;
        break;
    }
    fake_memory_close();
    return result;
}

/* A copy of its own, with its own args. */
static fake_work *own(const fake_work *work)
{
    fake_work *w = (fake_work *)malloc(sizeof *w);

    if (!w)
        abort();
    *w = *work;
    w->next = NULL;
    if (w->kind == FAKE_LAUNCH) {
        const size_t bytes = ozg_emulated_args_bytes(w->function->name);
        void *args;

        if (posix_memalign(&args, 64, bytes))
            abort();
        memcpy(args, work->args, bytes);
        w->args = args;
    }
    return w;
}

static void forget(fake_work *w)
{
    if (w->kind == FAKE_LAUNCH)
        free(w->args);
    free(w);
}

static void append(list *l, const fake_work *work)
{
    if (!l->first)
        l->last = &l->first;
    *l->last = own(work);
    l->last = &(*l->last)->next;
}

void fake_stream_open(CUstream_st *s, CUctx_st *context)
{
    s->context = context;
    s->last = FAKE_WAIT;
    s->end = &s->first;
    s->next = streams;
    streams = s;
}

int fake_do(const fake_work *work)
{
    CUstream_st *s = work->stream;

    s->last = work->kind;
    if (capturing) {
        append(&graph, work);
        return CUDA_SUCCESS;
    }
    if (work->kind == FAKE_EVENT)
        work->event->given++;
    if (fake.queued) {
        *s->end = own(work);
        s->end = &(*s->end)->next;
        return CUDA_SUCCESS;
    }
    /*
     * As queued work: a misaligned address of args is an error of the test's own, and the kernel gets a
     * copy.
     */
    fake_work *w = own(work);
    const int result = run_work(w);

    forget(w);
    if (result != CUDA_SUCCESS)
        fake_sticky = result;
    return result;
}

/* The stream whose work records this event. */
static CUstream_st *recorder(const CUevent_st *event)
{
    for (CUstream_st *s = streams; s; s = s->next)
        for (const fake_work *w = s->first; w; w = w->next)
            if (w->kind == FAKE_EVENT && w->event == event)
                return s;
    fputs("fake driver: a stream waits for an event that nobody records\n", stderr);
    abort();
}

static void reach(const CUevent_st *event, uint64_t target);

/* The first work of a queue, and what it waits for. After an error nothing is done, but events are reached. */
static void run_first(CUstream_st *s)
{
    if (s->first->kind == FAKE_WAIT)
        reach(s->first->event, s->first->target);

    fake_work *w = s->first;
    const int result = fake_sticky ? CUDA_SUCCESS : run_work(w);

    if (fake_sticky && w->kind == FAKE_EVENT)
        w->event->done++;
    if (result != CUDA_SUCCESS)
        fake_sticky = result;
    s->first = w->next;
    if (!s->first)
        s->end = &s->first;
    forget(w);
}

static void reach(const CUevent_st *event, uint64_t target)
{
    while (event->done < target)
        run_first(recorder(event));
}

int fake_finish_event(CUevent_st *event)
{
    reach(event, event->given);
    return fake_sticky;
}

int fake_finish_stream(CUstream_st *s)
{
    while (s->first)
        run_first(s);
    return fake_sticky;
}

int fake_finish(void)
{
    for (CUstream_st *s = streams; s; s = s->next)
        fake_finish_stream(s);
    return fake_sticky;
}

int fake_capturing(void)
{
    return capturing;
}

/* Called without the lock by fake_driver.cpp's wrappers, which hold it. */
void fake_work_capture(int on)
{
    capturing = on;
    while (on && graph.first) {
        fake_work *w = graph.first;

        graph.first = w->next;
        forget(w);
    }
}

/* On one stream, in the order in which it was given. An event recorded in a capture has no time. */
void fake_work_replay(void)
{
    for (fake_work *w = graph.first; w; w = w->next)
        if (w->kind != FAKE_EVENT && w->kind != FAKE_WAIT) {
            w->stream = graph.first->stream;
            fake_do(w);
        }
}
