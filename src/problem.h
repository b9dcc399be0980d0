/*
 * problem.h - one product as the caller states it, and the rules it must obey.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_PROBLEM_H
#define OZG_PROBLEM_H

#include <string.h>

#include "arith/inline.h"
#include "ozgemm.h"

/* ozg_accuracy.kind */
enum { OZG_BY_MODULI = 1, OZG_BY_WIDTH, OZG_BY_NATIVE, OZG_BY_ROUNDED, OZG_BY_ACCURATE };

/* What a plan depends on. Letters are upper case after ozg_problem_check_shape(). */
typedef struct ozg_shape {
    char type; /* 's' 'd' 'c' 'z' */
    char transa, transb;
    int64_t m, n, k;
    ozg_accuracy acc;
} ozg_shape;

/* Where the matrices are, and the scalars (exact in double for every type). A prepared operand replaces a or
 * b. */
typedef struct ozg_data {
    double alpha[2], beta[2];
    const void *a, *b;
    int64_t lda, ldb;
    const ozg_operand *pa, *pb;
    void *c;
    int64_t ldc;
} ozg_data;

/* The number of each argument in the public call, counted from 1; 0: the call has no such argument. */
typedef struct ozg_argument_numbers {
    int type, transa, transb, m, n, k, alpha, pa, a, lda, pb, b, ldb, beta, c, ldc, acc;
} ozg_argument_numbers;

OZG_INLINE int ozg_type_single(char type)
{
    return type == 's' || type == 'c';
}

OZG_INLINE int ozg_type_complex(char type)
{
    return type == 'c' || type == 'z';
}

/* Bytes of an element. */
OZG_INLINE int64_t ozg_type_size(char type)
{
    return (ozg_type_single(type) ? 4 : 8) << ozg_type_complex(type);
}

/* k' of doc/numerics.md: a component of C is a real dot product of this length. At least 1. */
OZG_INLINE uint64_t ozg_dot_length(char type, int64_t k)
{
    return (k > 0 ? (uint64_t)k : 1) << ozg_type_complex(type);
}

/* x is +0 or -0: by its bits, since a caller's denormals-are-zero setting would let a subnormal compare
 * equal. */
OZG_INLINE int ozg_is_zero(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, 8);
    return bits << 1 == 0;
}

/* Nothing to multiply: C := beta C, and A and B are not read. */
OZG_INLINE int ozg_nothing_to_multiply(const ozg_shape *s, const ozg_data *d)
{
    return s->k == 0 || (ozg_is_zero(d->alpha[0]) && ozg_is_zero(d->alpha[1]));
}

/*
 * Both checks return OZG_OK, or OZG_E_ARG (accuracy of a later version: OZG_E_UNSUPPORTED) with the sentence
 * in error[size]. They read no matrix element.
 */
ozg_status ozg_problem_check_shape(ozg_shape *s, const ozg_argument_numbers *arg, char *error, size_t size);
ozg_status ozg_problem_check_data(const ozg_shape *s, const ozg_data *d, const ozg_argument_numbers *arg,
                                  char *error, size_t size);
/* The same for one operand alone: op(A) of s (is_a) or op(B). */
ozg_status ozg_problem_check_operand(const ozg_shape *s, int is_a, const void *x, int64_t ldx,
                                     const ozg_argument_numbers *arg, char *error, size_t size);

/*
 * The products of a batch, of type 'd': matrices by pointers, or by strides (elements) from those of product
 * 0.
 */
typedef struct ozg_products {
    const double *const *a, *const *b; /* NULL: by strides */
    double *const *c;
    int64_t stride_a, stride_b, stride_c, count;
} ozg_products;

/* ozg_products_at() - product q of a batch; data: scalars, leading dimensions and the matrices of product 0. */
void ozg_products_at(ozg_data *d, const ozg_data *data, const ozg_products *all, int64_t q);

/* A stored matrix as intervals of bytes: columns [first + q ld, + height), q < columns. */
typedef struct ozg_block {
    uintptr_t first;
    uint64_t ld, height;
    int64_t columns;
    char of; /* 'a', 'b' or 'c' */
} ozg_block;

/* ozg_problem_blocks() - the matrices that a checked product touches. Returns how many of out[3]. */
int ozg_problem_blocks(const ozg_shape *s, const ozg_data *d, ozg_block *out);

/* ozg_problem_blocks_clash() - 1 if some C shares a byte with another block. Sorts the blocks. */
int ozg_problem_blocks_clash(ozg_block *blocks, size_t count);

#endif
