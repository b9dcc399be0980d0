/*
 * checks.h - the checks of "ozgemm check".
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TOOL_CHECKS_H
#define OZG_TOOL_CHECKS_H

enum outcome { FAILED = 0, PASSED = 1, LEFT_OUT = 2 };

/* What was done, or what is wrong. */
struct note {
    char text[256];
};

/* One check; number is 0 but for those that come once a kernel. */
struct check {
    const char *name;
    enum outcome (*run)(int number, struct note *note);
    int each_kernel; /* once for each micro-kernel but ref, by number */
};

extern const struct check checks[];
extern const int check_count;

#endif
