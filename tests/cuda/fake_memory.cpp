/*
 * fake_memory.cpp - device memory of the fake driver: with red zones, and pages that only open while the
 * device works.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>
#include <sys/mman.h>

#include "emulate_poison.h"
#include "fake_parts.h"

/* LARGE: opening and closing takes time for every page; larger areas stay open. */
enum { PAGE = 4096, ALIGNMENT = 256, LARGE = 1 << 20, RED = 0xFD, FRESH = 0xCD };

/* Pages: one closed, `body` bytes with red zones around `bytes` bytes at base, one closed. */
typedef struct area {
    unsigned char *body, *base;
    size_t body_bytes, bytes;
    int device; /* -1: of no one in particular */
    struct area *next;
} area;

static area *areas, *pinned;
static int opened;

static size_t round_up(size_t x, size_t to)
{
    return (x + to - 1) / to * to;
}

static void protect(const area *a, int protection)
{
    if (a->body_bytes <= LARGE && mprotect(a->body, a->body_bytes, protection) != 0)
        abort();
}

static void set_red(const area *a, int poison)
{
    unsigned char *end = a->base + a->bytes;

    if (poison) {
        OZG_POISON(a->body, (size_t)(a->base - a->body));
        OZG_POISON(end, (size_t)(a->body + a->body_bytes - end));
    } else {
        OZG_UNPOISON(a->body, a->body_bytes);
    }
}

/* The end of what was asked for is as near to the closed page as an alignment to 256 allows. */
void *fake_memory_new(size_t bytes)
{
    area *a;

    if (bytes > fake.memory || fake_now.bytes > fake.memory - bytes)
        return NULL;
    a = (area *)calloc(1, sizeof *a);
    if (!a)
        return NULL;
    a->bytes = bytes;
    a->device = -1;
    a->body_bytes = round_up(bytes + ALIGNMENT, PAGE);
    a->body = (unsigned char *)mmap(NULL, a->body_bytes + 2 * PAGE, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (a->body == MAP_FAILED) {
        free(a);
        return NULL;
    }
    a->body += PAGE;
    a->base = a->body + a->body_bytes - round_up(bytes, ALIGNMENT);
    if (mprotect(a->body - PAGE, PAGE, PROT_NONE) || mprotect(a->body + a->body_bytes, PAGE, PROT_NONE))
        abort();
    memset(a->body, RED, (size_t)(a->base - a->body));
    memset(a->base, fake.fresh, bytes);
    memset(a->base + bytes, RED, (size_t)(a->body + a->body_bytes - a->base) - bytes);
    set_red(a, 1);
    if (!opened)
        protect(a, PROT_NONE);
    a->next = areas;
    areas = a;
    fake_now.allocations++;
    fake_now.bytes += bytes;
    if (fake_now.bytes > fake_now.most_bytes)
        fake_now.most_bytes = fake_now.bytes;
    return a->base;
}

static void look_at_red(const area *a)
{
    const unsigned char *end = a->base + a->bytes, *last = a->body + a->body_bytes;

    set_red(a, 0);
    for (const unsigned char *p = a->body; p < last; p++) {
        if (p == a->base)
            p = end;
        if (p < last && *p != RED) {
            fake_complain("device memory %p of %zu bytes was written at byte %td", (void *)a->base, a->bytes,
                          p - a->base);
            memset(a->body, RED, (size_t)(a->base - a->body));
            memset(a->base + a->bytes, RED, (size_t)(last - end));
            break;
        }
    }
    set_red(a, 1);
}

int fake_memory_free(void *memory)
{
    for (area **p = &areas; *p; p = &(*p)->next) {
        area *a = *p;

        if (a->base != memory)
            continue;
        set_red(a, 0);
        *p = a->next;
        fake_now.allocations--;
        fake_now.bytes -= a->bytes;
        munmap(a->body - PAGE, a->body_bytes + 2 * PAGE);
        free(a);
        return 1;
    }
    return 0;
}

static const area *find(const area *list, const void *p)
{
    const unsigned char *q = (const unsigned char *)p;

    while (list && (q < list->base || q > list->base + list->bytes))
        list = list->next;
    return list;
}

int fake_memory_holds(const void *p, size_t bytes)
{
    const area *a = find(areas, p);

    return a && bytes <= (size_t)(a->base + a->bytes - (const unsigned char *)p);
}

void fake_memory_give(void *memory, int device)
{
    for (area *a = areas; a; a = a->next)
        if (a->base == memory)
            a->device = device;
}

int fake_memory_elsewhere(const void *p, int device)
{
    const area *a = find(areas, p);

    return a && a->device >= 0 && a->device != device;
}

void *fake_pinned_new(size_t bytes)
{
    area *a = (area *)calloc(1, sizeof *a);

    if (!a)
        return NULL;
    a->base = (unsigned char *)malloc(bytes);
    if (!a->base) {
        free(a);
        return NULL;
    }
    memset(a->base, FRESH, bytes);
    a->bytes = bytes;
    a->next = pinned;
    pinned = a;
    fake_now.pinned++;
    return a->base;
}

int fake_pinned_free(void *memory)
{
    for (area **p = &pinned; *p; p = &(*p)->next) {
        area *a = *p;

        if (a->base != memory)
            continue;
        *p = a->next;
        fake_now.pinned--;
        free(a->base);
        free(a);
        return 1;
    }
    return 0;
}

int fake_pinned_holds(const void *p)
{
    return find(pinned, p) != NULL;
}

void fake_memory_open(void)
{
    if (opened++ > 0)
        return;
    for (const area *a = areas; a; a = a->next)
        protect(a, PROT_READ | PROT_WRITE);
}

void fake_memory_close(void)
{
    if (--opened > 0)
        return;
    for (const area *a = areas; a; a = a->next) {
        look_at_red(a);
        protect(a, PROT_NONE);
    }
}

/* Addresses of programs on Linux: above 2^45 (numbers in arguments are smaller), and there is a page. */
const void *fake_host_pointer(const void *args, size_t bytes)
{
    for (size_t i = 0; i + sizeof(uintptr_t) <= bytes; i += sizeof(uintptr_t)) {
        uintptr_t word;
        unsigned char resident;

        memcpy(&word, (const unsigned char *)args + i, sizeof word);
        if (word < (uintptr_t)1 << 45 || word >= (uintptr_t)1 << 47) /* below: shadow memory of sanitizers */
            continue;
        if (!find(areas, (const void *)word) && !find(pinned, (const void *)word) &&
            mincore((void *)(word & ~(uintptr_t)(PAGE - 1)), PAGE, &resident) == 0)
            return (const void *)word;
    }
    return NULL;
}

const void *fake_foreign_pointer(const void *args, size_t bytes, int device)
{
    for (size_t i = 0; i + sizeof(uintptr_t) <= bytes; i += sizeof(uintptr_t)) {
        uintptr_t word;

        memcpy(&word, (const unsigned char *)args + i, sizeof word);
        if (fake_memory_elsewhere((const void *)word, device))
            return (const void *)word;
    }
    return NULL;
}
