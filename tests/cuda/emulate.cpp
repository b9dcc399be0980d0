/*
 * emulate.cpp - threads of CUDA blocks as fibers: scheduler, barriers, collectives, launches.
 *
 * One host thread runs one launch at a time. A fiber runs until it waits; a warp is run until all of its
 * lanes wait.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdarg.h>

#include "emulate.h"
#include "emulate_fiber.h"
#include "emulate_lock.h"

uint3 threadIdx, blockIdx, blockDim, gridDim;
unsigned char *ozg_emulated_shared;

enum {
    MAX_THREADS = 1024,
    MAX_SHARED = 232448,
    GUARD = 256,
    GARBAGE = 0xA5,
    GUARD_BYTE = 0x5A,
    PATIENCE = 10000
};

enum state { READY, AT_BARRIER, IN_WARP, DONE };

struct block;

struct copy {
    void *to;
    const void *from;
    int group, bytes;
};

struct thread {
    ozg_fiber fiber;
    block *home;
    unsigned index;
    int state, spun; /* spun: it gave way in ozg_emulated_yield() */
    uint32_t mask;   /* IN_WARP */
    ozg_emulated_step *step;
    void *mine;
    copy *copies; /* asynchronous ones under way */
    int copy_count, copy_room, groups;
};

struct block {
    uint3 index;
    unsigned char *memory, *statics; /* shared memory; the variables declared __shared__ while others run */
    thread *threads;
    int live, waiting, votes, result;
};

/* The present launch. */
static struct {
    const ozg_emulated_kernel *kernel;
    const void *args;
    size_t shared;
    int threads, cooperative;
    block *in; /* whose shared variables are in place */
    thread *now;
    ozg_fiber scheduler;
} run;

static ozg_emulated_kernel *kernels;
static uint32_t order, chance;

/* The section of all variables that are declared __shared__, if there are any. */
extern "C" {
extern unsigned char __start_ozg_shared_statics[] __attribute__((weak));
extern unsigned char __stop_ozg_shared_statics[] __attribute__((weak));
}

static size_t statics_bytes(void)
{
    return (size_t)((uintptr_t)__stop_ozg_shared_statics - (uintptr_t)__start_ozg_shared_statics);
}

/* ---- errors ------------------------------------------------------------------------------------- */

static void say(const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
}

[[noreturn]] static void give_up(void)
{
    fflush(stderr);
    abort();
}

static void say_where(void)
{
    say("emulated kernel %s", run.kernel ? run.kernel->name : "(none)");
    if (run.now)
        say(", block (%u, %u, %u), thread %u", run.now->home->index.x, run.now->home->index.y,
            run.now->home->index.z, run.now->index);
    say(": ");
}

void ozg_emulated_error(const char *text)
{
    say_where();
    say("%s\n", text);
    give_up();
}

static void say_waiting(const block *b)
{
    int count[4] = {0, 0, 0, 0};

    for (int i = 0; i < run.threads; i++)
        count[b->threads[i].state]++;
    say("  block (%u, %u, %u): %d threads wait at a barrier, %d in a collective of their warp, %d for "
        "memory, %d have "
        "ended\n",
        b->index.x, b->index.y, b->index.z, count[AT_BARRIER], count[IN_WARP], count[READY], count[DONE]);
    for (int i = 0, shown = 0; i < run.threads && shown < 4; i++) {
        const thread *t = &b->threads[i];

        if (t->state == IN_WARP) {
            say("    thread %d waits for lanes %08x\n", i, (unsigned)t->mask);
            shown++;
        }
    }
}

[[noreturn]] static void deadlock(const block *blocks, int count)
{
    run.now = NULL;
    say_where();
    say("deadlock: every thread waits\n");
    for (int i = 0; i < count && i < 8; i++)
        say_waiting(&blocks[i]);
    give_up();
}

/* ---- waiting ------------------------------------------------------------------------------------ */

/* To the scheduler and back. */
static void wait_here(thread *t)
{
    ozg_fiber_switch(&t->fiber, &run.scheduler);
}

static void open_barrier(block *b)
{
    if (b->waiting == 0 || b->waiting < b->live)
        return;
    b->result = b->votes;
    b->waiting = b->votes = 0;
    for (int i = 0; i < run.threads; i++) {
        if (b->threads[i].state == AT_BARRIER)
            b->threads[i].state = READY;
    }
}

int ozg_emulated_barrier(int value)
{
    thread *t = run.now;
    block *b = t->home;

    t->state = AT_BARRIER;
    b->waiting++;
    b->votes += value != 0;
    open_barrier(b);
    if (t->state != READY)
        wait_here(t);
    return b->result;
}

/* Does the collective if all lanes of mask that still run have come. Returns 1 if it did. */
static int meet(thread *warp, int lanes, uint32_t mask, ozg_emulated_step *step)
{
    void *lane[32];
    uint32_t there = 0;

    for (int i = 0; i < 32; i++) {
        lane[i] = NULL;
        if (i >= lanes || !(mask >> i & 1) || warp[i].state == DONE)
            continue;
        if (warp[i].state != IN_WARP || warp[i].mask != mask)
            return 0;
        if (warp[i].step != step)
            ozg_emulated_error("lanes of a warp meet in different collectives");
        lane[i] = warp[i].mine;
        there |= 1u << i;
    }
    step(mask, lane);
    for (int i = 0; i < 32; i++) {
        if (there >> i & 1)
            warp[i].state = READY;
    }
    return 1;
}

static thread *warp_of(thread *t, int *lanes)
{
    const int first = (int)t->index & ~31;

    *lanes = run.threads - first < 32 ? run.threads - first : 32;
    return t->home->threads + first;
}

void ozg_emulated_together(uint32_t mask, ozg_emulated_step *step, void *mine)
{
    thread *t = run.now;
    int lanes;
    thread *warp = warp_of(t, &lanes);

    if (!(mask >> (t->index & 31) & 1))
        ozg_emulated_error("a lane is not in the mask of its own collective");
    t->state = IN_WARP;
    t->mask = mask;
    t->step = step;
    t->mine = mine;
    if (!meet(warp, lanes, mask, step))
        wait_here(t);
}

void ozg_emulated_yield(void)
{
    run.now->spun = 1;
    wait_here(run.now);
}

/*
 * ---- asynchronous copies: they happen as late as they may, and what they overwrite is garbage until then; in a
 * pseudo-random order some happen at once ----
 */

static uint32_t draw(void);

void ozg_emulated_copy(void *to, const void *from, int bytes)
{
    thread *t = run.now;

    if (((uintptr_t)to | (uintptr_t)from) & (uintptr_t)(bytes - 1))
        ozg_emulated_error("an asynchronous copy of a misaligned address");
    if (t->copy_count == t->copy_room) {
        t->copy_room = 2 * t->copy_room + 16;
        t->copies = (copy *)realloc(t->copies, (size_t)t->copy_room * sizeof *t->copies);
        if (!t->copies)
            ozg_emulated_error("no memory for its copies");
    }
    if (order > 1 && draw() % 2)
        memcpy(to, from, (size_t)bytes);
    else
        memset(to, GARBAGE, (size_t)bytes);
    t->copies[t->copy_count++] = copy{to, from, t->groups, bytes};
}

void ozg_emulated_copy_commit(void)
{
    run.now->groups++;
}

void ozg_emulated_copy_wait(int but)
{
    thread *t = run.now;
    int left = 0;

    for (int i = 0; i < t->copy_count; i++) {
        if (t->copies[i].group < t->groups - but)
            memcpy(t->copies[i].to, t->copies[i].from, (size_t)t->copies[i].bytes);
        else
            t->copies[left++] = t->copies[i];
    }
    t->copy_count = left;
}

/* A thread has ended: others may have waited for it alone. */
static void leave(thread *t)
{
    int lanes;
    thread *warp = warp_of(t, &lanes);

    t->state = DONE;
    t->home->live--;
    open_barrier(t->home);
    for (int i = 0; i < lanes; i++) {
        if (warp[i].state == IN_WARP)
            meet(warp, lanes, warp[i].mask, warp[i].step);
    }
}

static void body(void)
{
    run.kernel->run(run.args);
    leave(run.now);
}

/* ---- the scheduler ------------------------------------------------------------------------------ */

static uint32_t draw(void)
{
    chance ^= chance << 13;
    chance ^= chance >> 17;
    chance ^= chance << 5;
    return chance;
}

/* Number i of count in the present order, which start (a random number) selects. */
static int place(int i, int count, uint32_t start)
{
    if (order == 0)
        return i;
    if (order == 1)
        return count - 1 - i;
    i = (int)((start / 2 + (uint32_t)i) % (uint32_t)count);
    return start & 1 ? count - 1 - i : i;
}

/* Puts the shared memory of a block in place. */
static void enter(block *b)
{
    if (run.in == b)
        return;
    if (run.cooperative && statics_bytes() > 0) {
        if (run.in)
            memcpy(run.in->statics, __start_ozg_shared_statics, statics_bytes());
        memcpy(__start_ozg_shared_statics, b->statics, statics_bytes());
    }
    run.in = b;
    blockIdx = b->index;
    ozg_emulated_shared = b->memory;
}

/* Runs each lane of a warp that is ready once. Returns how many did something. */
static int run_lanes(block *b, int first)
{
    const int lanes = run.threads - first < 32 ? run.threads - first : 32;
    const uint32_t start = order > 1 ? draw() : 0;
    int moved = 0;

    for (int i = 0; i < lanes; i++) {
        thread *t = &b->threads[first + place(i, lanes, start)];

        if (t->state != READY)
            continue;
        t->spun = 0;
        run.now = t;
        threadIdx.x = t->index;
        ozg_fiber_switch(&run.scheduler, &t->fiber);
        moved += !t->spun;
    }
    return moved;
}

/*
 * Runs every warp of a block until all lanes wait; in a pseudo-random order warps also take turns at what their lanes do
 * together. Returns 1 if something moved.
 */
static int run_warps(block *b)
{
    const int warps = (run.threads + 31) / 32;
    const uint32_t start = order > 1 ? draw() : 0;
    int moved = 0;

    enter(b);
    for (int w = 0; w < warps; w++) {
        while (run_lanes(b, 32 * place(w, warps, start)) > 0) {
            moved = 1;
            if (order > 1 && draw() % 2)
                break;
        }
    }
    return moved;
}

static void run_blocks(block *blocks, int count)
{
    int idle = 0, live = count;

    while (live > 0) {
        const uint32_t start = order > 1 ? draw() : 0;
        int moved = 0, spinning = 0;

        live = 0;
        for (int i = 0; i < count; i++) {
            block *b = &blocks[place(i, count, start)];

            if (b->live == 0)
                continue;
            moved |= run_warps(b);
            live += b->live > 0;
            for (int k = 0; k < run.threads; k++)
                spinning |= b->threads[k].state == READY;
        }
        idle = moved ? 0 : idle + 1;
        if (live > 0 && !moved && (!spinning || idle > PATIENCE))
            deadlock(blocks, count);
    }
    run.now = NULL;
}

/* ---- blocks and launches ------------------------------------------------------------------------ */

/* Stacks and shared memory are kept for the next launch. */
static struct {
    thread *threads;
    int count;
} kept;

static int enough_threads(int count)
{
    if (count <= kept.count)
        return 1;
    thread *more = (thread *)realloc(kept.threads, (size_t)count * sizeof *more);

    if (!more)
        return 0;
    kept.threads = more;
    for (; kept.count < count; kept.count++) {
        memset(&more[kept.count], 0, sizeof *more);
        if (!ozg_fiber_create(&more[kept.count].fiber))
            return 0;
    }
    return 1;
}

static int open_block(block *b, thread *threads, uint3 index)
{
    void *memory;

    if (posix_memalign(&memory, 1024, run.shared + GUARD))
        return 0;
    b->memory = (unsigned char *)memory;
    memset(b->memory, GARBAGE, run.shared);
    memset(b->memory + run.shared, GUARD_BYTE, GUARD);
    OZG_POISON(b->memory + run.shared, GUARD);
    b->statics = NULL;
    if (run.cooperative) {
        b->statics = (unsigned char *)malloc(statics_bytes() + 1);
        if (!b->statics) {
            free(b->memory);
            return 0;
        }
        memset(b->statics, GARBAGE, statics_bytes());
    } else if (statics_bytes() > 0) {
        memset(__start_ozg_shared_statics, GARBAGE, statics_bytes());
    }
    b->index = index;
    b->threads = threads;
    b->live = run.threads;
    b->waiting = b->votes = b->result = 0;
    for (int i = 0; i < run.threads; i++) {
        threads[i].home = b;
        threads[i].index = (unsigned)i;
        threads[i].state = READY;
        threads[i].copy_count = threads[i].groups = 0;
        ozg_fiber_begin(&threads[i].fiber, body);
    }
    return 1;
}

static void close_block(block *b)
{
    OZG_UNPOISON(b->memory + run.shared, GUARD);
    for (int i = 0; i < GUARD; i++) {
        if (b->memory[run.shared + (size_t)i] != GUARD_BYTE) {
            say_where();
            say("block (%u, %u, %u) wrote byte %zu of its %zu bytes of shared memory\n", b->index.x,
                b->index.y, b->index.z, run.shared + (size_t)i, run.shared);
            give_up();
        }
    }
    free(b->memory);
    free(b->statics);
}

static uint3 block_index(long i)
{
    return uint3{(unsigned)(i % gridDim.x), (unsigned)(i / gridDim.x % gridDim.y),
                 (unsigned)(i / ((long)gridDim.x * gridDim.y))};
}

[[noreturn]] static void no_memory(void)
{
    ozg_emulated_error("no memory for its threads");
}

static void run_together(long blocks)
{
    block *all = (block *)malloc((size_t)blocks * sizeof *all);

    if (!all || blocks > 4096 || !enough_threads((int)blocks * run.threads))
        no_memory();
    for (long i = 0; i < blocks; i++) {
        if (!open_block(&all[i], kept.threads + i * run.threads, block_index(i)))
            no_memory();
    }
    run_blocks(all, (int)blocks);
    for (long i = 0; i < blocks; i++)
        close_block(&all[i]);
    free(all);
}

static void run_in_turn(long blocks)
{
    const uint32_t start = order > 1 ? draw() : 0;

    if (!enough_threads(run.threads))
        no_memory();
    for (long i = 0; i < blocks; i++) {
        block b;

        if (!open_block(&b, kept.threads, block_index(place((int)i, (int)blocks, start))))
            no_memory();
        run.in = NULL;
        run_blocks(&b, 1);
        close_block(&b);
    }
}

/* The kernel reads a copy, as on a device. */
static int launch(const ozg_emulated_kernel *kernel, const int grid[3], int threads, size_t shared,
                  int cooperative, const void *args)
{
    const long blocks = (long)grid[0] * grid[1] * grid[2];
    void *copy;

    if (grid[0] < 1 || grid[1] < 1 || grid[2] < 1 || blocks > INT_MAX || threads < 1 ||
        threads > MAX_THREADS || threads > kernel->threads || shared > MAX_SHARED)
        return OZG_EMULATED_BAD_LAUNCH;
    if ((uintptr_t)args % kernel->alignment)
        return OZG_EMULATED_MISALIGNED;
    if (posix_memalign(&copy, 64, kernel->bytes))
        no_memory();
    memcpy(copy, args, kernel->bytes);
    memset(&run, 0, sizeof run);
    run.kernel = kernel;
    run.args = copy;
    run.shared = shared;
    run.threads = threads;
    run.cooperative = cooperative;
    gridDim = uint3{(unsigned)grid[0], (unsigned)grid[1], (unsigned)grid[2]};
    blockDim = uint3{(unsigned)threads, 1, 1};
    if (cooperative)
        run_together(blocks);
    else
        run_in_turn(blocks);
    run.kernel = NULL;
    free(copy);
    return OZG_EMULATED_OK;
}

static const ozg_emulated_kernel *find(const char *name)
{
    const ozg_emulated_kernel *kernel = kernels;

    while (kernel && strcmp(kernel->name, name) != 0)
        kernel = kernel->next;
    return kernel;
}

void ozg_emulated_register(ozg_emulated_kernel *kernel)
{
    if (find(kernel->name)) {
        say("two emulated kernels are called %s\n", kernel->name);
        give_up();
    }
    kernel->next = kernels;
    kernels = kernel;
}

int ozg_emulated_launch_grid(const char *kernel, const int grid[3], int threads, size_t shared,
                             int cooperative, const void *args)
{
    const ozg_emulated_kernel *found = find(kernel);
    int status;

    if (!found)
        return OZG_EMULATED_NOT_FOUND;
    ozg_lock();
    status = launch(found, grid, threads, shared, cooperative, args);
    ozg_unlock();
    return status;
}

int ozg_emulated_launch(const char *kernel, int blocks, int threads, size_t shared, const void *args)
{
    const int grid[3] = {blocks, 1, 1};

    return ozg_emulated_launch_grid(kernel, grid, threads, shared, 0, args);
}

int ozg_emulated_launch_cooperative(const char *kernel, int blocks, int threads, size_t shared,
                                    const void *args)
{
    const int grid[3] = {blocks, 1, 1};

    return ozg_emulated_launch_grid(kernel, grid, threads, shared, 1, args);
}

size_t ozg_emulated_args_bytes(const char *kernel)
{
    const ozg_emulated_kernel *found = find(kernel);

    return found ? found->bytes : 0;
}

const char *ozg_emulated_name(int number)
{
    const ozg_emulated_kernel *kernel = kernels;

    while (kernel && number-- > 0)
        kernel = kernel->next;
    return kernel ? kernel->name : NULL;
}

int ozg_emulated_is_from(const char *kernel, const char *file)
{
    const ozg_emulated_kernel *found = find(kernel);
    const char *slash = found ? strrchr(found->file, '/') : NULL;
    const char *name = !found ? "" : slash ? slash + 1 : found->file;
    const size_t length = strcspn(name, ".");

    return length > 0 && strlen(file) == length && strncmp(name, file, length) == 0;
}

void ozg_emulated_order(uint32_t seed)
{
    order = seed;
    chance = seed ? seed : 1;
}
