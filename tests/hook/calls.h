/*
 * calls.h - ?gemm for tests that treat all four types alike: scalars are pairs of double, matrices are bytes.
 *
 * The BLAS names are called as C programs do: without the hidden lengths of Fortran characters.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CALLS_H
#define CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { ROW_MAJOR = 101, COL_MAJOR = 102, NO_TRANS = 111, TRANS = 112, CONJ_TRANS = 113 };

/* The interface a test goes through. */
typedef enum interface { FORTRAN, CBLAS_COLUMNS, CBLAS_ROWS, INTERFACES } interface;

/* A product; trans in the letters of Fortran; ld* as the interface counts them. */
typedef struct gemm_call {
    char type, transa, transb;
    int m, n, k;
    double alpha[2], beta[2];
    const void *a, *b;
    void *c;
    int lda, ldb, ldc;
} gemm_call;

size_t size_of(char type);
bool is_complex(char type);

/* element(): where element (i, j) lies; store() and load(): element number x as a pair of double. */
size_t element(interface face, int i, int j, int ld);
void store(char type, void *matrix, size_t x, double re, double im);
void load(char type, const void *matrix, size_t x, double value[2]);

void call_gemm(interface face, const gemm_call *call);

/* CHECK(): count and show what is not so; the program's exit status is check_status(). */
extern int check_failures;
#define CHECK(condition, ...)                                                                                \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            check_failures++;                                                                                \
            printf("%s:%d: ", __FILE__, __LINE__);                                                           \
            printf(__VA_ARGS__);                                                                             \
            printf("\n");                                                                                    \
        }                                                                                                    \
    } while (0)
int check_status(void);

#endif
