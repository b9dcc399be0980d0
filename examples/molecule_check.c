/*
 * molecule_check.c - errors of X^T S X by native BLAS and by ozgemm, against the exact product.
 *
 *   molecule_check FILE.h5 S...             FILE.h5 is from molecule_lapack; S... are numbers of moduli
 *
 * In the current folder, for each S, are the files that "ozgemm multiply" wrote: TS.h5 has T = S X and PS.h5 has
 * P = X^T T. If there is also QS.h5, it is X after a Newton step, X - X (P - I)/2.
 *
 * The exact products are computed by FLINT: S and each column of X are a power of two times a matrix of integers.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <math.h>
#include <mpfr.h>
#include <flint/fmpz_mat.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "matrix_h5.h"

void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k, const double *alpha,
            const double *a, const int *lda, const double *b, const int *ldb, const double *beta, double *c,
            const int *ldc);

/* C := alpha op(A) B + beta C by the BLAS of the system. */
static void native(char transa, size_t n, double alpha, const double *a, const double *b, double beta, double *c)
{
    int order = (int)n;
    dgemm_(&transa, "N", &order, &order, &order, &alpha, a, &order, b, &order, &beta, c, &order);
}

/* ---- the exact products -------------------------------------------------------------------------------------- */

/* Entry (i, j) is z(i, j) 2^(row[i] + col[j]). */
struct exact {
    fmpz_mat_t z;
    long *row, *col;
};

static void exact_init(struct exact *e, size_t n)
{
    fmpz_mat_init(e->z, (slong)n, (slong)n);
    e->row = calloc(n, sizeof *e->row);
    e->col = calloc(n, sizeof *e->col);
    if (!e->row || !e->col)
        abort();
}

static void exact_clear(struct exact *e)
{
    fmpz_mat_clear(e->z);
    free(e->row);
    free(e->col);
}

/* lowest() - the exponent of the last of the 53 bits of the smallest of count numbers; at most 0. */
static long lowest(const double *x, size_t count)
{
    int e;
    long low = 0;
    for (size_t i = 0; i < count; i++)
        if (x[i] != 0 && (frexp(x[i], &e), e - 53 < low))
            low = e - 53;
    return low;
}

/* from_doubles() - without rounding. common: one exponent for all, else one a column. */
static void from_doubles(struct exact *e, const double *x, size_t n, int common)
{
    long all = lowest(x, n * n);
    for (size_t j = 0; j < n; j++) {
        e->col[j] = common ? all : lowest(x + j * n, n);
        for (size_t i = 0; i < n; i++) {
            int exponent;
            double mantissa = ldexp(frexp(x[i + j * n], &exponent), 53);
            if (mantissa != 0) {
                fmpz *z = fmpz_mat_entry(e->z, (slong)i, (slong)j);
                fmpz_set_si(z, (slong)mantissa);
                fmpz_mul_2exp(z, z, (ulong)(exponent - 53 - e->col[j]));
            }
        }
    }
}

/* The exact value of each entry is hi + lo to 106 bits: hi is the correctly rounded one. */
struct reference {
    double *hi, *lo;
};

static struct reference round_exact(const struct exact *e, size_t n)
{
    struct reference r = {new_matrix(n), new_matrix(n)};
    mpfr_t x;
    mpfr_init2(x, 2200); /* more than any entry has */
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) {
            fmpz_get_mpfr(x, fmpz_mat_entry(e->z, (slong)i, (slong)j), MPFR_RNDN);
            mpfr_mul_2si(x, x, e->row[i] + e->col[j], MPFR_RNDN);
            r.hi[i + j * n] = mpfr_get_d(x, MPFR_RNDN);
            mpfr_sub_d(x, x, r.hi[i + j * n], MPFR_RNDN);
            r.lo[i + j * n] = mpfr_get_d(x, MPFR_RNDN);
        }
    mpfr_clear(x);
    return r;
}

/* exact_products() - S X and X^T S X; t may be NULL. */
static void exact_products(const double *S, const double *X, size_t n, struct reference *t, struct reference *p)
{
    struct exact s, x, sx, xsx;
    exact_init(&s, n);
    exact_init(&x, n);
    exact_init(&sx, n);
    exact_init(&xsx, n);
    from_doubles(&s, S, n, 1);
    from_doubles(&x, X, n, 0);
    fmpz_mat_mul(sx.z, s.z, x.z);
    fmpz_mat_transpose(s.z, x.z);
    fmpz_mat_mul(xsx.z, s.z, sx.z);
    for (size_t j = 0; j < n; j++) {
        xsx.row[j] = x.col[j];
        xsx.col[j] = sx.col[j] = s.col[0] + x.col[j];
    }
    if (t)
        *t = round_exact(&sx, n);
    *p = round_exact(&xsx, n);
    exact_clear(&s);
    exact_clear(&x);
    exact_clear(&sx);
    exact_clear(&xsx);
}

/* ---- the figures --------------------------------------------------------------------------------------------- */

/* from_identity() - the largest entry of |P - I|. */
static double from_identity(const double *p, size_t n)
{
    double largest = 0;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
            largest = fmax(largest, fabs(p[i + j * n] - (i == j)));
    return largest;
}

/* error() - the largest |C - exact| / scale; scale NULL: 1. */
static double error(const double *c, const struct reference *r, const double *scale, size_t n)
{
    double largest = 0;
    for (size_t i = 0; i < n * n; i++) {
        double e = fabs((c[i] - r->hi[i]) - r->lo[i]);
        largest = fmax(largest, e > 0 && scale ? e / scale[i] : e);
    }
    return largest;
}

static double rounded_percent(const double *c, const struct reference *r, size_t n)
{
    size_t same = 0;
    for (size_t i = 0; i < n * n; i++)
        same += c[i] == r->hi[i];
    return 100 * (double)same / (double)(n * n);
}

/* absolute() - |X|, a new matrix. */
static double *absolute(const double *x, size_t n)
{
    double *y = new_matrix(n);
    for (size_t i = 0; i < n * n; i++)
        y[i] = fabs(x[i]);
    return y;
}

/* abs_product() - |S||X|, the natural scale of the errors of S X. */
static double *abs_product(const double *S, const double *X, size_t n)
{
    double *s = absolute(S, n), *x = absolute(X, n), *y = new_matrix(n);
    native('N', n, 1, s, x, 0, y);
    free(x);
    free(s);
    return y;
}

struct problem {
    size_t n;
    double *S, *X, *scale;
    struct reference t, p;
};

static void print_row(const char *method, const struct problem *w, const double *T, const double *P)
{
    printf("  %-14s %8.2f %%  %14.1e %16.2e %16.1e\n", method, rounded_percent(T, &w->t, w->n),
           error(T, &w->t, w->scale, w->n), from_identity(P, w->n), error(P, &w->p, NULL, w->n));
}

/* true_residual() - max |X^T S X - I| without any rounding error. */
static double true_residual(const struct problem *w, const double *X)
{
    struct reference p;
    exact_products(w->S, X, w->n, NULL, &p);
    double residual = from_identity(p.hi, w->n);
    free(p.hi);
    free(p.lo);
    return residual;
}

static double *read_result(char letter, const char *moduli, size_t n)
{
    char file[64];
    size_t order;
    snprintf(file, sizeof file, "%c%s.h5", letter, moduli);
    double *x = read_matrix(file, "matrix", &order);
    if (order != n) {
        fprintf(stderr, "%s: has order %zu, not %zu: make it again from the same FILE.h5\n", file, order, n);
        exit(2);
    }
    return x;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* newton() - the step by native products: X := X - X (P - I)/2. */
static double *newton(const struct problem *w, const double *P)
{
    double *Q = new_matrix(w->n);
    for (size_t i = 0; i < w->n * w->n; i++)
        Q[i] = w->X[i];
    native('N', w->n, -0.5, w->X, P, 1.5, Q);
    return Q;
}

static void refine(const struct problem *w, const double *P, const char *moduli)
{
    char name[32];
    double *Q = newton(w, P), *E = read_result('Q', moduli, w->n);
    printf("\n  One Newton step X - X (P - I)/2 with these P, then the exact max |X^T S X - I|:\n");
    printf("  %-14s %10.2e\n", "before", from_identity(w->p.hi, w->n));
    printf("  %-14s %10.2e\n", "native dgemm", true_residual(w, Q));
    snprintf(name, sizeof name, "%s moduli", moduli);
    printf("  %-14s %10.2e\n", name, true_residual(w, E));
    free(Q);
    free(E);
}

int main(int argc, char **argv)
{
    struct problem w;
    if (argc < 3) {
        fprintf(stderr, "usage: molecule_check FILE.h5 S...\n");
        return 2;
    }
    flint_set_num_threads((int)sysconf(_SC_NPROCESSORS_ONLN));
    w.S = read_matrix(argv[1], "S", &w.n);
    w.X = read_matrix(argv[1], "X", &w.n);
    w.scale = abs_product(w.S, w.X, w.n);
    exact_products(w.S, w.X, w.n, &w.t, &w.p);

    double *T = new_matrix(w.n), *P = new_matrix(w.n), start = seconds();
    native('N', w.n, 1, w.S, w.X, 0, T);
    native('T', w.n, 1, w.X, T, 0, P);
    double time = seconds() - start;
    printf("  %-14s %10s  %14s %16s %16s\n", "", "T rounded", "max |e| of T", "", "max |e| of P");
    printf("  %-14s %10s  %14s %16s %16s\n", "method", "correctly", "by |S||X|", "max |P - I|", "= X^T S X");
    print_row("native dgemm", &w, T, P);
    for (int i = 2; i < argc; i++) {
        char name[32];
        double *t = read_result('T', argv[i], w.n), *p = read_result('P', argv[i], w.n);
        snprintf(name, sizeof name, "%s moduli", argv[i]);
        print_row(name, &w, t, p);
        free(t);
        free(p);
    }
    print_row("exact, rounded", &w, w.t.hi, w.p.hi);
    printf("  native dgemm took %.2f s for both products\n", time);
    for (int i = 2; i < argc; i++) {
        char file[64];
        snprintf(file, sizeof file, "Q%s.h5", argv[i]);
        if (access(file, R_OK) == 0)
            refine(&w, P, argv[i]);
    }
    return 0;
}
