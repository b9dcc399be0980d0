/*
 * progress.c - a progress bar on stderr, for people only.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "progress.h"

#include <stdio.h>
#include <unistd.h>

#include "cli.h"

enum { BAR = 30 };

int progress_wanted(void)
{
    return isatty(STDERR_FILENO);
}

void progress_begin(struct progress *p, double total)
{
    *p = (struct progress){.total = total > 0 ? total : 1, .start = seconds_now()};
}

/* show_time() - seconds as 0:07, 12:34 or 1:02:03. */
static void show_time(char *text, size_t size, double seconds)
{
    long s = seconds < 1e8 ? (long)(seconds + 0.5) : 100000000L;
    if (s < 3600)
        snprintf(text, size, "%ld:%02ld", s / 60, s % 60);
    else
        snprintf(text, size, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
}

void progress_step(struct progress *p, double work, const char *stage)
{
    p->done += work;
    double elapsed = seconds_now() - p->start;
    if (!progress_wanted() || elapsed < 1.0)
        return;
    double part = p->done < p->total ? p->done / p->total : 1.0;
    char left[32] = "?";
    if (part > 0)
        show_time(left, sizeof left, elapsed * (1 - part) / part);
    fprintf(stderr, "\r\033[K[");
    for (int i = 0; i < BAR; i++)
        fputc(i < (int)(part * BAR) ? '#' : '.', stderr);
    fprintf(stderr, "] %3.0f %%  %s left  %.60s", 100 * part, left, stage);
    fflush(stderr);
    p->shown = 1;
}

void progress_end(struct progress *p)
{
    if (p->shown)
        fprintf(stderr, "\r\033[K");
    p->shown = 0;
}
