/*
 * extended.c - products of doubles with more than double precision and without matrix engines.
 *
 * Dot2 and double-double: eight rows of A are packed, and multiplied by two columns of B at a time. With
 * h + e = a b (one FMA gives e) and t + f = s + h (six additions, [Knuth 4.2.2 B]) the sums are
 *
 *     Dot2            s := t,          l := l + (e + f)          10 operations a product
 *     double-double   (s, l) := t + (f + (l + e)), normalised    13 operations a product
 *
 * and s + l is rounded at the end. Compilers must not reorder any of it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "extended.h"

#include <stdlib.h>

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#define AVX2        __attribute__((target("avx2,fma")))
#define AVX2_INLINE __attribute__((target("avx2,fma"), always_inline)) static inline

enum { ROWS = 8, COLUMNS = 2 };

/* Four entries of C as unevaluated sums s + l. */
struct sums {
    __m256d s, l;
};

AVX2_INLINE void add_product(int normalise, struct sums *x, __m256d a, __m256d b)
{
    __m256d h = _mm256_mul_pd(a, b), e = _mm256_fmsub_pd(a, b, h);
    __m256d t = _mm256_add_pd(x->s, h), z = _mm256_sub_pd(t, x->s);
    __m256d f = _mm256_add_pd(_mm256_sub_pd(x->s, _mm256_sub_pd(t, z)), _mm256_sub_pd(h, z));
    if (normalise) {
        f = _mm256_add_pd(f, _mm256_add_pd(x->l, e));
        x->s = _mm256_add_pd(t, f);
        x->l = _mm256_sub_pd(f, _mm256_sub_pd(x->s, t));
    } else {
        x->s = t;
        x->l = _mm256_add_pd(x->l, _mm256_add_pd(e, f));
    }
}

/* tile() - ROWS x COLUMNS entries of C into out; a: packed rows; b0, b1: columns of B. */
AVX2_INLINE void tile(int normalise, int64_t k, const double *a, const double *b0, const double *b1,
                      double *out)
{
    struct sums x[2 * COLUMNS];
    for (int i = 0; i < 2 * COLUMNS; i++)
        x[i].s = x[i].l = _mm256_setzero_pd();
    for (int64_t p = 0; p < k; p++, a += ROWS) {
        __m256d low = _mm256_loadu_pd(a), high = _mm256_loadu_pd(a + 4), y = _mm256_broadcast_sd(b0 + p);
        add_product(normalise, &x[0], low, y);
        add_product(normalise, &x[1], high, y);
        y = _mm256_broadcast_sd(b1 + p);
        add_product(normalise, &x[2], low, y);
        add_product(normalise, &x[3], high, y);
    }
    for (int i = 0; i < 2 * COLUMNS; i++)
        _mm256_storeu_pd(out + 4 * i, _mm256_add_pd(x[i].s, x[i].l));
}

AVX2 static void tile_dot2(int64_t k, const double *a, const double *b0, const double *b1, double *out)
{
    tile(0, k, a, b0, b1, out);
}

AVX2 static void tile_dd(int64_t k, const double *a, const double *b0, const double *b1, double *out)
{
    tile(1, k, a, b0, b1, out);
}

/* rows_of_c() - rows [i0, i0 + ROWS) of C, those beyond m left out; packed has room for ROWS k numbers. */
static void rows_of_c(enum extended_method method, int64_t i0, int64_t m, int64_t n, int64_t k,
                      const double *a, int64_t lda, const double *b, int64_t ldb, double *c, int64_t ldc,
                      double *packed)
{
    double out[ROWS * COLUMNS];
    for (int64_t p = 0; p < k; p++)
        for (int64_t i = 0; i < ROWS; i++)
            packed[p * ROWS + i] = i0 + i < m ? a[i0 + i + p * lda] : 0;
    for (int64_t j = 0; j < n; j += COLUMNS) {
        const double *b0 = b + j * ldb, *b1 = j + 1 < n ? b0 + ldb : b0;
        (method == EXTENDED_DD ? tile_dd : tile_dot2)(k, packed, b0, b1, out);
        for (int64_t column = 0; column < COLUMNS && j + column < n; column++)
            for (int64_t i = 0; i < ROWS && i0 + i < m; i++)
                c[i0 + i + (j + column) * ldc] = out[column * ROWS + i];
    }
}

static int vector_gemm(enum extended_method method, int threads, int64_t m, int64_t n, int64_t k,
                       const double *a, int64_t lda, const double *b, int64_t ldb, double *c, int64_t ldc)
{
    int fine = 1;
    (void)threads;
#pragma omp parallel num_threads(threads) reduction(&& : fine)
    {
        double *packed = malloc(ROWS * sizeof *packed * (size_t)k);
        fine = packed != NULL;
#pragma omp for schedule(dynamic)
        for (int64_t i0 = 0; i0 < m; i0 += ROWS)
            if (packed)
                rows_of_c(method, i0, m, n, k, a, lda, b, ldb, c, ldc, packed);
        free(packed);
    }
    return fine;
}

static const char *vectors_missing(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? NULL
                                                                           : "this processor has no AVX2";
}

#else

static int vector_gemm(enum extended_method method, int threads, int64_t m, int64_t n, int64_t k,
                       const double *a, int64_t lda, const double *b, int64_t ldb, double *c, int64_t ldc)
{
    (void)method, (void)threads, (void)m, (void)n, (void)k;
    (void)a, (void)lda, (void)b, (void)ldb, (void)c, (void)ldc;
    return 0;
}

static const char *vectors_missing(void)
{
    return "written for AVX2 only";
}

#endif

#ifdef __SIZEOF_FLOAT128__

__extension__ typedef __float128 binary128;

enum { BLOCK = 16 };

static void float128_gemm(int threads, int64_t m, int64_t n, int64_t k, const double *a, int64_t lda,
                          const double *b, int64_t ldb, double *c, int64_t ldc)
{
    (void)threads;
#pragma omp parallel for num_threads(threads) schedule(dynamic) collapse(2)
    for (int64_t j = 0; j < n; j++)
        for (int64_t i0 = 0; i0 < m; i0 += BLOCK) {
            int64_t rows = m - i0 < BLOCK ? m - i0 : BLOCK;
            binary128 sum[BLOCK] = {0};
            for (int64_t p = 0; p < k; p++)
                for (int64_t i = 0; i < rows; i++)
                    sum[i] += (binary128)a[i0 + i + p * lda] * b[p + j * ldb];
            for (int64_t i = 0; i < rows; i++)
                c[i0 + i + j * ldc] = (double)sum[i];
        }
}

static const char *float128_missing(void)
{
    return NULL;
}

#else

static void float128_gemm(int threads, int64_t m, int64_t n, int64_t k, const double *a, int64_t lda,
                          const double *b, int64_t ldb, double *c, int64_t ldc)
{
    (void)threads, (void)m, (void)n, (void)k;
    (void)a, (void)lda, (void)b, (void)ldb, (void)c, (void)ldc;
}

static const char *float128_missing(void)
{
    return "the compiler of this build had no __float128";
}

#endif

const char *extended_missing(enum extended_method method)
{
    return method == EXTENDED_FLOAT128 ? float128_missing() : vectors_missing();
}

int extended_gemm(enum extended_method method, int threads, int64_t m, int64_t n, int64_t k, const double *a,
                  int64_t lda, const double *b, int64_t ldb, double *c, int64_t ldc)
{
    if (method != EXTENDED_FLOAT128)
        return vector_gemm(method, threads, m, n, k, a, lda, b, ldb, c, ldc);
    float128_gemm(threads, m, n, k, a, lda, b, ldb, c, ldc);
    return 1;
}

double extended_error(enum extended_method method, int64_t k)
{
    double x = (double)k;
    if (method == EXTENDED_DOT2) /* gamma_k^2, [Ogita, Rump, Oishi 2005] proposition 5.5; u = 2^-53 */
        return x * x * 0x1p-106 / (1 - x * 0x1p-53) / (1 - x * 0x1p-53);
    if (method == EXTENDED_DD) /* k additions, each off by less than 2^-102 of a sum below abs(A) abs(B) */
        return x * 0x1p-102;
    return 2 * x * 0x1p-113; /* k products and k additions */
}
