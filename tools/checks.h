/*
 * checks.h - the checks of "ozgemm check".
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TOOL_CHECKS_H
#define OZG_TOOL_CHECKS_H

#include "ozgemm.h"

enum outcome { FAILED = 0, PASSED = 1, LEFT_OUT = 2 };

/* What was done, or what is wrong. */
struct note {
    char text[256];
};

/* One check of a backend; number is 0 but for those that come once a kernel. */
struct check {
    const char *name;
    enum outcome (*run)(const ozg_config *on, int number, struct note *note);
    int each_kernel; /* once for each of check_kernel_name() */
};

/* check_kernel_name() - the kernels of a backend that this machine can run, but the plain C one; NULL past the last. */
const char *check_kernel_name(const ozg_config *on, int number);

extern const struct check checks[];
extern const int check_count;

#endif
