/*
 * emulate_fiber.h - fibers: stacks of their own, and switching between them, which AddressSanitizer is told.
 *
 * x86-64 has its own switch (the registers that a function must keep); others use <ucontext.h>.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TEST_CUDA_EMULATE_FIBER_H
#define OZG_TEST_CUDA_EMULATE_FIBER_H

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "emulate_poison.h"

#ifdef OZG_ASAN
#include <sanitizer/common_interface_defs.h>
enum { OZG_STACK = 256 << 10 };
#else
enum { OZG_STACK = 128 << 10 };
#endif

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

typedef struct ozg_fiber {
    void *sp;             /* where it stands, while others run */
    unsigned char *stack; /* NULL: the host's own */
    const void *bottom;   /* for AddressSanitizer */
    size_t bytes;
    void *fake;
    int ended;
    void (*body)(void);
#if !defined(__x86_64__)
    ucontext_t context;
#endif
} ozg_fiber;

static ozg_fiber *ozg_fiber_from, *ozg_fiber_to; /* of the switch under way */

/* ozg_fiber_create() - a stack with a guard page below; 0: no memory. It is never freed. */
static int ozg_fiber_create(ozg_fiber *f)
{
    enum { PAGE = 4096 };
    void *p = mmap(NULL, OZG_STACK + PAGE, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);

    if (p == MAP_FAILED)
        return 0;
    mprotect(p, PAGE, PROT_NONE);
    f->stack = (unsigned char *)p + PAGE;
    f->bottom = f->stack;
    f->bytes = OZG_STACK;
    return 1;
}

/* AddressSanitizer's part of a switch, after it: on the new stack. */
static void ozg_fiber_arrived(void)
{
#ifdef OZG_ASAN
    __sanitizer_finish_switch_fiber(ozg_fiber_to->fake, &ozg_fiber_from->bottom, &ozg_fiber_from->bytes);
#endif
}

#if defined(__x86_64__)
extern "C" void ozg_fiber_jump(void **save, void *load);
asm(".text\n"
    ".p2align 4\n"
    ".hidden ozg_fiber_jump\n"
    ".globl ozg_fiber_jump\n"
    ".type ozg_fiber_jump, @function\n"
    "ozg_fiber_jump:\n"
    "    pushq %rbp\n"
    "    pushq %rbx\n"
    "    pushq %r12\n"
    "    pushq %r13\n"
    "    pushq %r14\n"
    "    pushq %r15\n"
    "    movq %rsp, (%rdi)\n"
    "    movq %rsi, %rsp\n"
    "    popq %r15\n"
    "    popq %r14\n"
    "    popq %r13\n"
    "    popq %r12\n"
    "    popq %rbx\n"
    "    popq %rbp\n"
    "    ret\n"
    ".size ozg_fiber_jump, . - ozg_fiber_jump\n");
#endif

/* ozg_fiber_switch() - from the running fiber to another; returns when something switches back. */
static void ozg_fiber_switch(ozg_fiber *from, ozg_fiber *to)
{
    ozg_fiber_from = from;
    ozg_fiber_to = to;
#ifdef OZG_ASAN
    __sanitizer_start_switch_fiber(from->ended ? NULL : &from->fake, to->bottom, to->bytes);
#endif
#if defined(__x86_64__)
    ozg_fiber_jump(&from->sp, to->sp);
#else
    swapcontext(&from->context, &to->context);
#endif
    ozg_fiber_arrived();
}

/* The first function on each stack. What it needs is read before anything can switch. */
static void ozg_fiber_main(void)
{
    ozg_fiber *self = ozg_fiber_to, *scheduler = ozg_fiber_from;

    ozg_fiber_arrived();
    self->body();
    self->ended = 1;
    ozg_fiber_switch(self, scheduler);
    abort();
}

/* ozg_fiber_begin() - the next switch to f calls body, and goes back where it came from when body returns. */
static void ozg_fiber_begin(ozg_fiber *f, void (*body)(void))
{
    f->body = body;
    f->ended = 0;
    f->fake = NULL;
    OZG_UNPOISON(f->stack, OZG_STACK);
#if defined(__x86_64__)
    /* ret takes the address of main and leaves the stack as after a call: 8 above a multiple of 16. */
    void **top = (void **)(f->stack + OZG_STACK) - 2;

    top[0] = (void *)ozg_fiber_main;
    top[1] = NULL;
    f->sp = top - 6;
    memset(f->sp, 0, 6 * sizeof *top);
#else
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = f->stack;
    f->context.uc_stack.ss_size = OZG_STACK;
    f->context.uc_link = NULL;
    makecontext(&f->context, ozg_fiber_main, 0);
#endif
}

#endif
