/*
 * progress.h - a progress bar on stderr, for people only.
 *
 * Nothing is written unless stderr is a terminal, and nothing in the first second. The bar erases itself.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TOOL_PROGRESS_H
#define OZG_TOOL_PROGRESS_H

struct progress {
    double total; /* amount of work, any unit */
    double done;
    double start; /* seconds_now() at the beginning */
    int shown;    /* a bar stands on the terminal */
};

/* progress_wanted() - is there a terminal to show a bar on? */
int progress_wanted(void);

void progress_begin(struct progress *p, double total);

/* progress_step() - add work that is done and say what comes next; estimates the time left. */
void progress_step(struct progress *p, double work, const char *stage);

void progress_end(struct progress *p);

#endif
