/*
 * gemm.h - one matrix product as data, for all four types, and how to hand it to the library.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TEST_GEMM_H
#define TEST_GEMM_H

#include <stddef.h>
#include <stdint.h>
#include <ozgemm.h>

struct gemm {
    char type; /* 's', 'd', 'c' or 'z' */
    char transa, transb;
    int64_t m, n, k;
    double alpha[2], beta[2]; /* real types use the first; for 's' and 'c' they are float values */
    const void *a;
    int64_t lda;
    const void *b;
    int64_t ldb;
    void *c;
    int64_t ldc;
};

/* A matrix seen through its transpose flag: what op(X) is. */
struct view {
    char type, trans;
    const void *x;
    int64_t ld;
};

int type_is_single(char type);
int type_is_complex(char type);
int type_parts(char type);           /* 1, complex 2 */
size_t type_bytes(char type);        /* of one element */
size_t type_number_bytes(char type); /* of one real number */

/* matrix_elements() - elements from the first to the last of a rows x cols matrix; 0 if it is empty. */
int64_t matrix_elements(int64_t rows, int64_t cols, int64_t ld);

/* number_get(), number_set() - the i-th real number of an array of the type. */
double number_get(char type, const void *x, int64_t i);
void number_set(char type, void *x, int64_t i, double value);

/* view_index() - where part (0 real, 1 imaginary) of op(X)(i, j) is stored, counted in real numbers. */
int64_t view_index(const struct view *v, int64_t i, int64_t j, int part);

/* view_get() - part of op(X)(i, j); conjugated for 'C'. */
double view_get(const struct view *v, int64_t i, int64_t j, int part);

struct view gemm_view_a(const struct gemm *g);
struct view gemm_view_b(const struct gemm *g);

/* Stored sizes of A and B (before the transpose). */
int64_t gemm_rows_a(const struct gemm *g);
int64_t gemm_cols_a(const struct gemm *g);
int64_t gemm_rows_b(const struct gemm *g);
int64_t gemm_cols_b(const struct gemm *g);

/* gemm_run() - ozg_?gemm() on C given apart, so that one problem can run many times. */
ozg_status gemm_run(ozg_context *ctx, const struct gemm *g, void *c, ozg_accuracy acc, ozg_report *report);

/* gemm_run_prepared() - ozg_?gemm_prepared(); pa or pb may be NULL. */
ozg_status gemm_run_prepared(ozg_context *ctx, const struct gemm *g, const ozg_operand *pa,
                             const ozg_operand *pb, void *c, ozg_accuracy acc, ozg_report *report);

/* gemm_run_plan() - the same by ozg_plan_create() and ozg_plan_run() with work NULL or of the caller. */
ozg_status gemm_run_plan(ozg_context *ctx, const struct gemm *g, void *c, ozg_accuracy acc, int own_work);

/* gemm_print() - the problem in one line on standard error. */
void gemm_print(const struct gemm *g, const char *label);

#endif
