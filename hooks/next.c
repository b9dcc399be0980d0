/*
 * next.c - finds the BLAS behind this one, and other symbols of the process.
 *
 * The next BLAS is looked for in this order: the libraries after this one in the global scope (RTLD_NEXT);
 * all loaded objects, because NumPy, SciPy and others load BLAS with a scope of their own, where RTLD_NEXT
 * does not see it; at last libblas.so.3 is loaded. What was found is kept, and the object that holds it is
 * held in memory, so that its user may close it. That nothing was found is not kept: a provider may be loaded
 * later.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "hook.h"

static const char last_resort[] = "libblas.so.3";

/* is_ours() - the address lies in this library or in a second copy of it, which would call us back for ever.
 */
static bool is_ours(const void *address)
{
    static const char own_file[] = "libozgemm_blas.";
    Dl_info own, other;
    const char *file;

    if (dladdr(address, &other) == 0 || dladdr(ozg_hook_entries, &own) == 0)
        return false;
    file = strrchr(other.dli_fname, '/');
    file = file != NULL ? file + 1 : other.dli_fname;
    return own.dli_fbase == other.dli_fbase || strncmp(file, own_file, sizeof own_file - 1) == 0;
}

/* hold() - keep the object that contains the address loaded for the rest of the process. */
static void hold(const void *address)
{
    Dl_info info;

    if (dladdr(address, &info) != 0)
        dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD); /* the handle is kept by never closing it */
}

/* The path of the loaded object with this number. dlopen() may not be called while objects are being listed.
 */
typedef struct object {
    int number;
    char path[PATH_MAX];
} object;

static int copy_path(struct dl_phdr_info *info, size_t size, void *data)
{
    object *wanted = data;

    (void)size;
    if (wanted->number-- > 0)
        return 0;
    if (strlen(info->dlpi_name) < sizeof wanted->path)
        strcpy(wanted->path, info->dlpi_name);
    return 1;
}

static void *search_object(const char *path, const char *name)
{
    void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    void *address;

    if (handle == NULL)
        return NULL;
    address = dlsym(handle, name);
    if (address != NULL && is_ours(address))
        address = NULL;
    if (address != NULL)
        hold(address);
    dlclose(handle);
    return address;
}

static void *search_loaded(const char *name)
{
    object candidate;
    void *address;

    for (int i = 0;; i++) {
        candidate = (object){.number = i};
        if (dl_iterate_phdr(copy_path, &candidate) == 0)
            return NULL;
        if (candidate.path[0] == '\0') /* the program itself: the global scope has been searched */
            continue;
        address = search_object(candidate.path, name);
        if (address != NULL)
            return address;
    }
}

void *ozg_hook_lookup(const char *name)
{
    void *address = dlsym(RTLD_DEFAULT, name);

    return address != NULL ? address : search_loaded(name);
}

static void *find_next(const char *name)
{
    void *address = dlsym(RTLD_NEXT, name);
    void *handle;

    if (address != NULL && !is_ours(address)) {
        hold(address);
        return address;
    }
    address = search_loaded(name);
    if (address != NULL)
        return address;
    handle = dlopen(last_resort, RTLD_LAZY | RTLD_LOCAL);
    address = handle != NULL ? dlsym(handle, name) : NULL;
    return address != NULL && !is_ours(address) ? address : NULL;
}

ozg_hook_fn ozg_hook_next(ozg_hook_entry *entry)
{
    ozg_hook_fn next = atomic_load_explicit(&entry->next, memory_order_acquire);
    void *address;

    ozg_hook_count(entry, OZG_HOOK_PASSED);
    if (next != NULL)
        return next;
    address = find_next(entry->name);
    if (address == NULL) {
        ozg_hook_say("%s needs a BLAS and none is loaded: install one that provides %s (Debian: libblas3).",
                     entry->name, last_resort);
        abort();
    }
    memcpy(&next, &address, sizeof next);
    atomic_store_explicit(&entry->next, next, memory_order_release);
    return next;
}
