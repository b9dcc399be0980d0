/*
 * guard.h - memory between two pages that fault on any access.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TEST_GUARD_H
#define TEST_GUARD_H

#include <stddef.h>

struct guard {
    char *map;   /* the page before */
    size_t room; /* bytes between the two pages */
    size_t page;
};

/* guard_open() - at least bytes of memory; exits with a message if the system has none. */
void guard_open(struct guard *g, size_t bytes);
void guard_close(struct guard *g);

/* guard_head() - bytes that start right after the first page. */
void *guard_head(const struct guard *g);

/* guard_tail() - bytes that end right before the last page. */
void *guard_tail(const struct guard *g, size_t bytes);

/* guard_lock() - make the whole of it unreadable (1) or usable again (0). */
void guard_lock(const struct guard *g, int locked);

#endif
