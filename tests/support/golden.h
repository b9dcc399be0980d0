/*
 * golden.h - the problems of tests/golden/products.txt, and hashes of their results.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TEST_GOLDEN_H
#define TEST_GOLDEN_H

#include "check.h"

/* What is asked of a product. */
enum golden_kind { GOLDEN_MODULI, GOLDEN_ROUNDED, GOLDEN_NATIVE };

struct golden_problem {
    enum golden_kind kind;
    struct request request; /* by moduli */
};

/* A line of the file. */
struct golden {
    const char *name;
    uint64_t hash;
};

/* golden_table() - the lines of the file, in order, up to one with name NULL. */
const struct golden *golden_table(void);

/* golden_count() - problems that there are. */
int golden_count(void);

/* golden_make() - problem number `number`, its matrices in the arena, and its name. */
struct golden_problem golden_make(int number, struct arena *arena, struct gemm *g, char name[64]);

ozg_accuracy golden_accuracy(struct golden_problem problem);

/* golden_hash() - FNV-1a over the bytes of C in little-endian order, padding left out. */
uint64_t golden_hash(const struct gemm *g, const void *c);

#endif
