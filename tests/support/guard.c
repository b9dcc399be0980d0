/*
 * guard.c - memory between two pages that fault on any access, by mprotect().
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guard.h"

static void die(const char *what)
{
    perror(what);
    exit(99);
}

void guard_open(struct guard *g, size_t bytes)
{
    g->page = (size_t)sysconf(_SC_PAGESIZE);
    g->room = (bytes + g->page - 1) / g->page * g->page;
    if (g->room == 0)
        g->room = g->page;
    g->map = mmap(NULL, g->room + 2 * g->page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (g->map == MAP_FAILED)
        die("mmap");
    guard_lock(g, 0);
}

void guard_close(struct guard *g)
{
    munmap(g->map, g->room + 2 * g->page);
    g->map = NULL;
}

void *guard_head(const struct guard *g)
{
    return g->map + g->page;
}

void *guard_tail(const struct guard *g, size_t bytes)
{
    return g->map + g->page + g->room - bytes;
}

void guard_lock(const struct guard *g, int locked)
{
    if (mprotect(g->map + g->page, g->room, locked ? PROT_NONE : PROT_READ | PROT_WRITE) != 0)
        die("mprotect");
}
