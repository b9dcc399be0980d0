/*
 * as_x86.h - included before each src/cpu/x86/product_*.c that is compiled for the models: other names, and
 * neither the processor nor the compiler needs to know the instructions. Headers of the system come first,
 * and see the machine as it is.
 *
 * SPDX-License-Identifier: MIT
 */
#include "models/names.h"

#include <string.h>

#include "cpu/stages.h"
#include "models/x86.h"

#ifndef __x86_64__
#define __x86_64__ 1
#endif
#define target(isa) unused /* in __attribute__((target("..."))) */
