/*
 * xerbla.c - reports wrong arguments as the reference BLAS does: through the program's own handler.
 *
 * The handler is looked up at each error, since errors are rare and handlers come and go. This library
 * exports none, so a program's own always wins; without any, one line is printed and the call returns with C
 * untouched.
 *
 * Handlers of CBLAS errors come in two kinds. Plain ones expect the position in the C call. Netlib's (its
 * testers have one) expect the position in the Fortran call below it, where the sizes and leading dimensions
 * of a row-major product are exchanged, and undo that if the variable RowMajorStrg is set. With the variable
 * cleared both agree on the position in the C call; the reference BLAS leaves it cleared as well after each
 * call.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "hook.h"

typedef void (*xerbla_fn)(const char *routine, const int32_t *number, size_t length);
typedef void (*cblas_xerbla_fn)(int position, const char *routine, const char *form, ...);

static ozg_hook_fn lookup_function(const char *name)
{
    void *address = ozg_hook_lookup(name);
    ozg_hook_fn function;

    memcpy(&function, &address, sizeof function);
    return function;
}

void ozg_hook_xerbla(const char *routine, int number)
{
    xerbla_fn handler = (xerbla_fn)lookup_function("xerbla_");
    const int32_t value = number;

    if (handler != NULL)
        handler(routine, &value, strlen(routine));
    else
        ozg_hook_say("argument %d of %s is wrong: correct the call; nothing was computed.", number, routine);
}

void ozg_hook_cblas_xerbla(const char *routine, int position, const char *form, int value)
{
    cblas_xerbla_fn handler = (cblas_xerbla_fn)lookup_function("cblas_xerbla");
    int *row_major = ozg_hook_lookup("RowMajorStrg");

    if (row_major != NULL)
        *row_major = 0;
    if (handler != NULL)
        handler(position, routine, form, value);
    else
        ozg_hook_xerbla(routine, position);
}
