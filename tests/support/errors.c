/*
 * errors.c - expect a failed call.
 *
 * SPDX-License-Identifier: MIT
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "errors.h"

/* The sentence names the argument by its number. */
static int names(const char *sentence, int number)
{
    char words[32];
    size_t length = (size_t)snprintf(words, sizeof words, "argument %d", number);

    for (const char *p = strstr(sentence, words); p != NULL; p = strstr(p + 1, words)) {
        if (!isdigit((unsigned char)p[length]))
            return 1;
    }
    return 0;
}

int error_is(const ozg_context *ctx, ozg_status got, ozg_status want, int number)
{
    const char *sentence = ozg_last_error(ctx);

    if (got == want && strlen(sentence) > 10 && strchr(sentence, '\n') == NULL &&
        (number == 0 || names(sentence, number)))
        return 1;
    fprintf(stderr, "got %s \"%s\", expected %s for argument %d\n", ozg_status_name(got), sentence,
            ozg_status_name(want), number);
    return 0;
}
