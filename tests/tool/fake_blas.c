/*
 * fake_blas.c - dgemm_ by algorithms of known quality, for the tests of "ozgemm accuracy --grade".
 *
 * KIND names one: PLAIN a conventional sum; SINGLE sums in float; FLUSH takes subnormal inputs as 0; FIXED
 * keeps 53 bits below the largest entry of each row and column; GLOBAL below the largest entry of each matrix;
 * STRASSEN one level of Strassen's recursion; WRONG is PLAIN with one wrong entry of C.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdlib.h>

enum { PLAIN, SINGLE, FLUSH, FIXED, GLOBAL, STRASSEN, WRONG };

void sgemm_(void);
void cgemm_(void);
void zgemm_(void);
void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
            const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
            const double *beta, double *c, const int *ldc);

/* The tool looks for all four. */
void sgemm_(void)
{
    abort();
}

void cgemm_(void)
{
    abort();
}

void zgemm_(void)
{
    abort();
}

static double flushed(double x)
{
    return KIND == FLUSH && fabs(x) < 0x1p-1022 ? 0 : x;
}

/* exponent() - of the largest of count entries. */
static int exponent(const double *x, int count, int step)
{
    int most = -1100, e;
    for (int i = 0; i < count; i++)
        if (x[(size_t)i * (size_t)step] != 0 && (frexp(x[(size_t)i * (size_t)step], &e), e > most))
            most = e;
    return most;
}

/* cut() - x to a multiple of 2^(e - 53). */
static double cut(double x, int e)
{
    return ldexp(rint(ldexp(ldexp(x, -e / 2), 53 - e + e / 2)), e - 53); /* in two steps: 2^-e may overflow */
}

static void conventional(int m, int n, int k, const double *a, const double *b, double *c)
{
    int ea = exponent(a, m * k, 1), eb = exponent(b, k * n, 1);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            double sum = 0;
            float single = 0;
            int row = KIND == FIXED ? exponent(a + i, k, m) : ea;
            int column = KIND == FIXED ? exponent(b + (size_t)j * (size_t)k, k, 1) : eb;
            for (int p = 0; p < k; p++) {
                double x = flushed(a[i + (size_t)p * (size_t)m]), y = flushed(b[p + (size_t)j * (size_t)k]);
                if (KIND == FIXED || KIND == GLOBAL) {
                    x = cut(x, row);
                    y = cut(y, column);
                }
                sum += x * y;
                single += (float)x * (float)y;
            }
            c[i + (size_t)j * (size_t)m] = KIND == SINGLE ? (double)single : sum;
        }
}

/* block() - z := x(quarter p) + sign x(quarter q); quarters 0..3 are 11, 12, 21, 22; q < 0: nothing. */
static double *block(const double *x, int rows, int cols, int p, int q, double sign)
{
    int h = rows / 2, w = cols / 2;
    double *z = malloc((size_t)h * (size_t)w * sizeof *z);
    for (int j = 0; j < w; j++)
        for (int i = 0; i < h; i++) {
            double v = x[i + p / 2 * h + (size_t)(j + p % 2 * w) * (size_t)rows];
            if (q >= 0)
                v += sign * x[i + q / 2 * h + (size_t)(j + q % 2 * w) * (size_t)rows];
            z[i + (size_t)j * (size_t)h] = v;
        }
    return z;
}

/* strassen() - the seven products of two by two blocks; m, n and k are even. */
static void strassen(int m, int n, int k, const double *a, const double *b, double *c)
{
    static const int left[7][3] = {{0, 3, 1}, {2, 3, 1},  {0, -1, 0}, {3, -1, 0},
                                   {0, 1, 1}, {2, 0, -1}, {1, 3, -1}};
    static const int right[7][3] = {{0, 3, 1},  {0, -1, 0}, {1, 3, -1}, {2, 0, -1},
                                    {3, -1, 0}, {0, 1, 1},  {2, 3, 1}};
    static const int sums[4][7] = {
        {1, 0, 0, 1, -1, 0, 1}, {0, 0, 1, 0, 1, 0, 0}, {0, 1, 0, 1, 0, 0, 0}, {1, -1, 1, 0, 0, 1, 0}};
    int h = m / 2, w = n / 2;
    double *product[7];
    for (int q = 0; q < 7; q++) {
        double *x = block(a, m, k, left[q][0], left[q][1], left[q][2]);
        double *y = block(b, k, n, right[q][0], right[q][1], right[q][2]);
        product[q] = malloc((size_t)h * (size_t)w * sizeof(double));
        conventional(h, w, k / 2, x, y, product[q]);
        free(x);
        free(y);
    }
    for (int quarter = 0; quarter < 4; quarter++)
        for (int j = 0; j < w; j++)
            for (int i = 0; i < h; i++) {
                double v = 0;
                for (int q = 0; q < 7; q++)
                    v += sums[quarter][q] ? sums[quarter][q] * product[q][i + (size_t)j * (size_t)h] : 0;
                c[i + quarter / 2 * h + (size_t)(j + quarter % 2 * w) * (size_t)m] = v;
            }
    for (int q = 0; q < 7; q++)
        free(product[q]);
}

/* dgemm_() - C := A B of packed matrices, which is all that the tool asks for. */
void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
            const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
            const double *beta, double *c, const int *ldc)
{
    if (*transa != 'N' || *transb != 'N' || *alpha != 1 || *beta != 0 || *lda != *m || *ldb != *k ||
        *ldc != *m)
        abort();
    if (KIND == STRASSEN)
        strassen(*m, *n, *k, a, b, c);
    else
        conventional(*m, *n, *k, a, b, c);
    if (KIND == WRONG)
        c[*m * *n - 1] *= 1 + 1e-6;
}
