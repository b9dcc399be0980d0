/*
 * molecule_check.c - errors of X^T S X by native BLAS and by ozgemm, against the exact product.
 *
 *   molecule_check FILE.h5 S...             FILE.h5 is from molecule_lapack; S... are numbers of moduli
 *
 * The current folder holds, for each S, what "ozgemm multiply" made of FILE.h5: TS.h5 is T = S X and PS.h5 is
 * P = X^T T. For the last S there are also QS.h5, X after a Newton step, Q = X - X (P - I)/2, and FS.h5, Q^T
 * (H Q).
 *
 * The exact products are FLINT's: S and each column of X are a power of two times a matrix of integers.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <mpfr.h>
#include <flint/fmpz_mat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "matrix_h5.h"

void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
            const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
            const double *beta, double *c, const int *ldc);

/* native() - C := alpha op(A) B + beta C by the BLAS of the system. */
static void native(char transa, size_t n, double alpha, const double *a, const double *b, double beta,
                   double *c)
{
    int order = (int)n;
    dgemm_(&transa, "N", &order, &order, &order, &alpha, a, &order, b, &order, &beta, c, &order);
}

/* native_core() - the processor core that OpenBLAS has chosen its code for; NULL: another BLAS. */
static const char *native_core(void)
{
    char *(*corename)(void) = NULL;
    *(void **)&corename = dlsym(RTLD_DEFAULT, "openblas_get_corename");
    return corename ? corename() : NULL;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- exact matrices ----------------------------------------------------------------------------------- */

/* Entry (i, j) is z(i, j) 2^(row[i] + col[j]). */
struct exact {
    fmpz_mat_t z;
    long *row, *col;
};

static void exact_init(struct exact *e, size_t rows, size_t cols)
{
    fmpz_mat_init(e->z, (slong)rows, (slong)cols);
    e->row = calloc(rows, sizeof *e->row);
    e->col = calloc(cols, sizeof *e->col);
    if (!e->row || !e->col) {
        fprintf(stderr, "no memory for the exact product\n");
        exit(2);
    }
}

static void exact_clear(struct exact *e)
{
    fmpz_mat_clear(e->z);
    free(e->row);
    free(e->col);
}

/* lowest() - the exponent of the last of the 53 bits of the smallest of count numbers, at most 0. */
static long lowest(const double *x, size_t count)
{
    int e;
    long low = 0;
    for (size_t i = 0; i < count; i++)
        if (x[i] != 0 && (frexp(x[i], &e), e - 53 < low))
            low = e - 53;
    return low;
}

/* set_column() - integers of the column x, in units of 2^unit: nothing is rounded. */
static void set_column(struct exact *e, size_t j, const double *x, size_t rows, long unit)
{
    e->col[j] = unit;
    for (size_t i = 0; i < rows; i++) {
        int exponent;
        double mantissa = ldexp(frexp(x[i], &exponent), 53);
        fmpz *z = fmpz_mat_entry(e->z, (slong)i, (slong)j);
        fmpz_set_si(z, (slong)mantissa);
        if (mantissa != 0)
            fmpz_mul_2exp(z, z, (ulong)(exponent - 53 - unit));
    }
}

/* The exact value of each entry is hi + lo to 106 bits: hi is the correctly rounded one. */
struct reference {
    double *hi, *lo;
};

static void reference_free(struct reference *r)
{
    free(r->hi);
    free(r->lo);
}

/* reference_of() - by MPFR; its precision holds every integer of the matrix. */
static struct reference reference_of(const struct exact *e, size_t rows, size_t cols)
{
    struct reference r = {new_matrix(rows, cols), new_matrix(rows, cols)};
    slong bits = fmpz_mat_max_bits(e->z);
    mpfr_t x;
    mpfr_init2(x, (bits < 0 ? -bits : bits) + 64);
    for (size_t j = 0; j < cols; j++)
        for (size_t i = 0; i < rows; i++) {
            fmpz_get_mpfr(x, fmpz_mat_entry(e->z, (slong)i, (slong)j), MPFR_RNDN);
            mpfr_mul_2si(x, x, e->row[i] + e->col[j], MPFR_RNDN);
            r.hi[i + j * rows] = mpfr_get_d(x, MPFR_RNDN);
            mpfr_sub_d(x, x, r.hi[i + j * rows], MPFR_RNDN);
            r.lo[i + j * rows] = mpfr_get_d(x, MPFR_RNDN);
        }
    mpfr_clear(x);
    return r;
}

/* exact_products() - the columns 0, step, 2 step, ... of T = S X and P = X^T S X. */
static void exact_products(const double *S, const double *X, size_t n, size_t step, struct reference *t,
                           struct reference *p)
{
    size_t m = (n + step - 1) / step;
    long unit = lowest(S, n * n);
    struct exact s, xt, x, sx, xsx;
    exact_init(&s, n, n);
    exact_init(&xt, n, n);
    exact_init(&x, n, m);
    exact_init(&sx, n, m);
    exact_init(&xsx, n, m);
    for (size_t j = 0; j < n; j++) {
        set_column(&s, j, S + j * n, n, unit);
        set_column(&xt, j, X + j * n, n, lowest(X + j * n, n));
        xsx.row[j] = xt.col[j];
    }
    fmpz_mat_transpose(xt.z, xt.z);
    for (size_t j = 0; j < m; j++) {
        set_column(&x, j, X + j * step * n, n, lowest(X + j * step * n, n));
        sx.col[j] = xsx.col[j] = unit + x.col[j];
    }
    fmpz_mat_mul(sx.z, s.z, x.z);
    fmpz_mat_mul(xsx.z, xt.z, sx.z);
    *t = reference_of(&sx, n, m);
    *p = reference_of(&xsx, n, m);
    exact_clear(&s);
    exact_clear(&xt);
    exact_clear(&x);
    exact_clear(&sx);
    exact_clear(&xsx);
}

/* ---- figures ------------------------------------------------------------------------------------------ */

/* from_identity() - the largest |P - I|; P holds the columns 0, step, 2 step, ... */
static double from_identity(const double *p, size_t n, size_t step)
{
    double largest = 0;
    for (size_t j = 0; j < n; j += step)
        for (size_t i = 0; i < n; i++)
            largest = fmax(largest, fabs(p[i + j / step * n] - (i == j)));
    return largest;
}

/* asymmetry() - the largest |F - F^T|. */
static double asymmetry(const double *f, size_t n)
{
    double largest = 0;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < j; i++)
            largest = fmax(largest, fabs(f[i + j * n] - f[j + i * n]));
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

/* ---- the two tables ----------------------------------------------------------------------------------- */

struct problem {
    size_t n;
    double *S, *H, *X;
    double *scale; /* |S||X|, what errors of S X are measured by */
    double *T, *P; /* native */
    struct reference t, p;
};

static double *read_result(char letter, const char *moduli, size_t n)
{
    char file[64];
    size_t order;
    snprintf(file, sizeof file, "%c%s.h5", letter, moduli);
    double *x = read_matrix(file, "matrix", &order);
    if (order != n) {
        fprintf(stderr, "%s: is of order %zu, not %zu: make it again from the same FILE.h5\n", file, order,
                n);
        exit(2);
    }
    return x;
}

/* abs_product() - |S||X|. */
static double *abs_product(const double *S, const double *X, size_t n)
{
    double *s = new_matrix(n, n), *x = new_matrix(n, n), *y = new_matrix(n, n);
    for (size_t i = 0; i < n * n; i++) {
        s[i] = fabs(S[i]);
        x[i] = fabs(X[i]);
    }
    native('N', n, 1, s, x, 0, y);
    free(x);
    free(s);
    return y;
}

static void error_row(const char *method, const struct problem *w, const double *T, const double *P)
{
    printf("  %-14s %8.2f %% %12.1e %14.2e %14.1e\n", method, rounded_percent(T, &w->t, w->n),
           error(T, &w->t, w->scale, w->n), from_identity(P, w->n, 1), error(P, &w->p, NULL, w->n));
}

static void error_table(const struct problem *w, char **moduli, int count)
{
    if (native_core())
        printf("  native BLAS: OpenBLAS, core %s\n\n", native_core());
    printf("  %-14s %25s %29s\n", "", "------- T = S X -------", "----- P = X^T S X -----");
    printf("  %-14s %10s %12s %14s %14s\n", "", "correctly", "max |e|", "max |P - I|", "max |e|");
    printf("  %-14s %10s %12s %14s %14s\n", "", "rounded", "/(|S||X|)", "as computed", "");
    error_row("native BLAS", w, w->T, w->P);
    for (int i = 0; i < count; i++) {
        char name[32];
        double *T = read_result('T', moduli[i], w->n), *P = read_result('P', moduli[i], w->n);
        snprintf(name, sizeof name, "%s moduli", moduli[i]);
        error_row(name, w, T, P);
        free(T);
        free(P);
    }
    error_row("exact, rounded", w, w->t.hi, w->p.hi);
}

/* true_residual() - the largest |X^T S X - I| over some columns, without any rounding error. */
static double true_residual(const struct problem *w, const double *X, size_t step)
{
    struct reference t, p;
    exact_products(w->S, X, w->n, step, &t, &p);
    double residual = from_identity(p.hi, w->n, step);
    reference_free(&t);
    reference_free(&p);
    return residual;
}

static void newton_row(const char *method, const struct problem *w, const double *Q, const double *F)
{
    printf("  %-14s %25.2e %29.2e\n", method, true_residual(w, Q, 8), asymmetry(F, w->n));
}

/* newton_table() - the use of an accurate P: one step repairs X, if P - I is right. */
static void newton_table(const struct problem *w, const char *moduli)
{
    char name[32];
    size_t n = w->n;
    double *Q = new_matrix(n, n), *G = new_matrix(n, n), *F = new_matrix(n, n);
    memcpy(Q, w->X, n * n * sizeof *Q);
    native('N', n, -0.5, w->X, w->P, 1.5, Q);
    native('N', n, 1, w->H, Q, 0, G);
    native('T', n, 1, Q, G, 0, F);
    double *q = read_result('Q', moduli, n), *f = read_result('F', moduli, n);
    snprintf(name, sizeof name, "%s moduli", moduli);
    printf("  %-14s %25s %29s\n", "", "max |Q^T S Q - I|, exact", "max |F - F^T|, F = Q^T H Q");
    printf("  %-14s %25.2e %29s\n", "before (Q = X)", from_identity(w->p.hi, n, 1), "-");
    newton_row("native BLAS", w, Q, F);
    newton_row(name, w, q, f);
    printf("  (rows 2 and 3: every 8th column of Q)\n");
    free(f);
    free(q);
    free(F);
    free(G);
    free(Q);
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
    w.H = read_matrix(argv[1], "H", &w.n);
    w.X = read_matrix(argv[1], "X", &w.n);
    w.scale = abs_product(w.S, w.X, w.n);
    w.T = new_matrix(w.n, w.n);
    w.P = new_matrix(w.n, w.n);
    double start = seconds();
    native('N', w.n, 1, w.S, w.X, 0, w.T);
    native('T', w.n, 1, w.X, w.T, 0, w.P);
    double time = seconds() - start;
    exact_products(w.S, w.X, w.n, 1, &w.t, &w.p);

    error_table(&w, argv + 2, argc - 2);
    printf(
        "  (all %zu entries of each matrix against the exact products; native BLAS: %.2f s a product;\n"
        "   the last errors of P are those of T, which is rounded to double before the second product)\n\n",
        w.n * w.n, time / 2);
    printf("  One Newton step, Q = X - X (P - I)/2, by each method's own P and products:\n");
    newton_table(&w, argv[argc - 1]);

    double *all[] = {w.S, w.H, w.X, w.scale, w.T, w.P};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
    reference_free(&w.t);
    reference_free(&w.p);
    flint_cleanup_master();
    return 0;
}
