/*
 * checks.c - the checks of "ozgemm check": what a user can verify on a new machine in seconds.
 *
 * SPDX-License-Identifier: MIT
 */
#include "checks.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "families.h"
#include "reference.h"
#include "samples.h"

__extension__ typedef __int128 int128;

/* say() - the detail of a check. */
static void __attribute__((format(printf, 2, 3))) say(struct note *note, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(note->text, sizeof note->text, format, args);
    va_end(args);
}

/* wrong() - the detail of a check that failed. */
static enum outcome __attribute__((format(printf, 2, 3))) wrong(struct note *note, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(note->text, sizeof note->text, format, args);
    va_end(args);
    return FAILED;
}

/* ---- moduli and widths -------------------------------------------------------------------------- */

/* [Xe2] Table 2: widths for s = 4, 6, ..., 24 at these k. */
static const int table2_k[4] = {1024, 4096, 16384, 65536};
static const int table2_width[11][4] = {{9, 8, 7, 6},     {17, 16, 15, 14}, {25, 24, 23, 22},
                                        {33, 32, 31, 30}, {41, 40, 39, 38}, {49, 48, 47, 46},
                                        {56, 55, 54, 53}, {64, 63, 62, 61}, {71, 70, 69, 68},
                                        {79, 78, 77, 76}, {86, 85, 84, 83}};

static enum outcome check_table2(const ozg_config *on, int number, struct note *note)
{
    (void)on, (void)number;
    for (int i = 0; i < 11; i++)
        for (int j = 0; j < 4; j++) {
            int s = 4 + 2 * i, t = ozg_width_of_moduli('d', table2_k[j], s);
            if (t != table2_width[i][j])
                return wrong(note, "%d moduli at k = %d: width %d, must be %d", s, table2_k[j], t,
                             table2_width[i][j]);
        }
    say(note, "44 widths are those of the paper");
    return PASSED;
}

static enum outcome check_moduli(const ozg_config *on, int number, struct note *note)
{
    static const int64_t ks[] = {1, 2, 3, 100, 4096, 131072, 131073, INT64_C(1) << 33};
    (void)on, (void)number;
    for (const char *type = "sdcz"; *type; type++)
        for (size_t i = 0; i < sizeof ks / sizeof ks[0]; i++)
            for (int s = 2; s <= 49; s++) {
                int t = ozg_width_of_moduli(*type, ks[i], s),
                    before = ozg_width_of_moduli(*type, ks[i], s - 1);
                int least = t > 0 ? ozg_moduli_for_bits(*type, ks[i], t) : s;
                if (s > 2 && t < before)
                    return wrong(note, "%d moduli are narrower than %d", s, s - 1);
                if ((t > before && least != s) || least > s)
                    return wrong(note, "%d bits at k = %lld: %d moduli, must be %d", t, (long long)ks[i],
                                 least, s);
                if (type_complex(*type) && t != ozg_width_of_moduli('d', 2 * ks[i], s))
                    return wrong(note, "complex width at k = %lld is not the real one at 2 k",
                                 (long long)ks[i]);
            }
    say(note, "s = 2..49: widths rise, fewest moduli found, complex k counts twice");
    return PASSED;
}

/* ---- equal bits --------------------------------------------------------------------------------- */

/* open_context() - fail() is right here: without a context there is nothing to check. */
static ozg_context *open_context(const ozg_config *on, const char *kernel, int threads, size_t memory)
{
    ozg_context *ctx;
    ozg_config config = *on;
    config.kernel = kernel;
    config.threads = threads;
    config.memory_limit = memory;
    check_status(ozg_create(&ctx, &config), NULL);
    return ctx;
}

/* open_reference() - the plain C stages on the CPU, which define the result. */
static ozg_context *open_reference(void)
{
    ozg_config config;
    check_status(ozg_config_init(&config), NULL);
    config.backend = OZG_BACKEND_CPU;
    return open_context(&config, "ref", 0, 0);
}

const char *check_kernel_name(const ozg_config *on, int number)
{
    static const char *const cuda[] = {"cuda-wgmma", "cuda-mma"};
    ozg_config config = *on;
    ozg_context *ctx;
    int present = 0;
    if (on->backend != OZG_BACKEND_CUDA)
        return ozg_kernel_name(number + 1) ? ozg_kernel_name(number) : NULL; /* the last is ref */
    for (size_t i = 0; i < sizeof cuda / sizeof cuda[0]; i++) {
        config.kernel = cuda[i];
        ozg_status status = ozg_create(&ctx, &config);
        if (status == OZG_E_UNSUPPORTED) /* not on this GPU */
            continue;
        check_status(status, NULL);
        ozg_destroy(ctx);
        if (present++ == number)
            return cuda[i];
    }
    return NULL;
}

/* same_bits() - do two contexts give the same bits for this sample? */
static enum outcome same_bits(ozg_context *one, ozg_context *two, const struct sample *s, struct note *note)
{
    struct sample_data x = sample_fill(s), y = sample_fill(s);
    ozg_status first = sample_run(one, s, &x, NULL), second = sample_run(two, s, &y, NULL);
    enum outcome result = PASSED;
    if (first != OZG_OK || second != OZG_OK)
        result = wrong(note, "%s", ozg_last_error(first != OZG_OK ? one : two));
    else if (!matrix_equal(&x.c, &y.c))
        result = wrong(note, "different bits: %cgemm %c%c %lld x %lld x %lld, kind %d", s->type, s->transa,
                       s->transb, (long long)s->m, (long long)s->n, (long long)s->k, (int)s->kind);
    sample_free(&x);
    sample_free(&y);
    return result;
}

/* Shapes at the edges of micro-kernels, and the pairs of op. */
static const int64_t shapes[][3] = {{1, 1, 1},   {3, 1, 2},    {1, 9, 70},   {8, 8, 64},
                                    {17, 5, 33}, {33, 31, 65}, {70, 34, 129}};
static const char ops[][3] = {"NN", "TN", "NT", "CC", "CN", "NC"};

static enum outcome check_kernel(const ozg_config *on, int number, struct note *note)
{
    const char *kernel = check_kernel_name(on, number);
    ozg_context *fast = open_context(on, kernel, 0, 0), *ref = open_reference();
    int count = 0, moduli[] = {2, 8, 15, 16, 24, 49};
    enum outcome result = PASSED;
    for (const char *type = "sdcz"; *type && result == PASSED; type++)
        for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
            for (int kind = 0; kind < KIND_COUNT && result == PASSED; kind++, count++) {
                const char *op = ops[count % 6];
                int s = moduli[(count + count / 6) % 6];
                struct sample sample = {*type,        op[0],           op[1],     shapes[i][0], shapes[i][1],
                                        shapes[i][2], (enum kind)kind, count % 2, ozg_moduli(s)};
                if (ozg_width_of_moduli(*type, sample.k, s) < 1)
                    sample.accuracy = ozg_width(1 + count % 30);
                result = same_bits(fast, ref, &sample, note);
            }
    if (result == PASSED)
        say(note, "%d products have the bits of ref", count);
    ozg_destroy(fast);
    ozg_destroy(ref);
    return result;
}

static enum outcome check_threads(const ozg_config *on, int number, struct note *note)
{
    static const int threads[] = {2, 3, 16};
    enum outcome result = PASSED;
    (void)number;
    if (on->backend == OZG_BACKEND_CUDA) {
        say(note, "a matter of the CPU");
        return LEFT_OUT;
    }
    for (size_t i = 0; i < 3 && result == PASSED; i++)
        for (const char *type = "sdcz"; *type && result == PASSED; type++) {
            struct sample s = {*type, 'N', 'T', 190, 150, 260, KIND_UNIFORM, 1, ozg_moduli(16)};
            ozg_context *one = open_context(on, NULL, 1, 0), *many = open_context(on, NULL, threads[i], 0);
            result = same_bits(one, many, &s, note);
            ozg_destroy(one);
            ozg_destroy(many);
        }
    if (result == PASSED)
        say(note, "1, 2, 3 and 16 threads give the same bits");
    return result;
}

static enum outcome check_tiles(const ozg_config *on, int number, struct note *note)
{
    const int megabytes = on->backend == OZG_BACKEND_CUDA ? 16 : 4; /* a tile on a GPU is larger */
    const size_t memory = (size_t)megabytes << 20;
    enum outcome result = PASSED;
    (void)number;
    for (const char *type = "sdcz"; *type && result == PASSED; type++) {
        struct sample s = {*type, 'N', 'N', 300, 280, 260, KIND_UNIFORM, 1, ozg_moduli(16)};
        ozg_context *whole = open_context(on, NULL, 0, 0), *tiled = open_context(on, NULL, 0, memory);
        result = same_bits(whole, tiled, &s, note);
        ozg_destroy(whole);
        ozg_destroy(tiled);
    }
    if (result == PASSED)
        say(note, "a limit of %d MB gives the same bits as none", megabytes);
    return result;
}

/* ---- right values ------------------------------------------------------------------------------- */

static enum outcome check_integers(const ozg_config *on, int number, struct note *note)
{
    enum { M = 13, N = 11, K = 200 };
    static double a[M * K], b[K * N], c[M * N];
    ozg_context *ctx = open_context(on, NULL, 0, 0);
    enum outcome result = PASSED;
    (void)number;
    for (int i = 0; i < M * K; i++)
        a[i] = (double)((int64_t)(random_bits(4, (uint64_t)i) >> 10) - (INT64_C(1) << 53));
    for (int i = 0; i < K * N; i++)
        b[i] = (double)((int64_t)(random_bits(5, (uint64_t)i) >> 10) - (INT64_C(1) << 53));
    ozg_status status = ozg_dgemm(ctx, 'N', 'N', M, N, K, 1, a, M, b, K, 0, c, M, ozg_width(53), NULL);
    if (status != OZG_OK)
        result = wrong(note, "%s", ozg_last_error(ctx));
    for (int i = 0; i < M * N && result == PASSED; i++) {
        int128 sum = 0; /* below 200 2^106 < 2^114 */
        for (int p = 0; p < K; p++)
            sum += (int128)a[i % M + p * M] * (int128)b[p + i / M * K];
        if (c[i] != (double)sum)
            result = wrong(note, "entry %d is %.17g, must be %.17g", i, c[i], (double)sum);
    }
    if (result == PASSED)
        say(note, "53-bit integers, rounded once, against 128-bit integers");
    ozg_destroy(ctx);
    return result;
}

/* plain() - c := a b by three loops; the entries are small integers, Inf and NaN, so no order of sums
 * matters. */
static void plain(const struct matrix *a, const struct matrix *b, double *c)
{
    const double *x = a->data, *y = b->data;
    for (int64_t j = 0; j < b->cols; j++)
        for (int64_t i = 0; i < a->rows; i++) {
            double sum = 0;
            for (int64_t p = 0; p < a->cols; p++)
                sum += x[i + p * a->rows] * y[p + j * b->rows];
            c[i + j * a->rows] = sum;
        }
}

static enum outcome check_special(const ozg_config *on, int number, struct note *note)
{
    enum outcome result = PASSED;
    ozg_context *ctx = open_context(on, NULL, 0, 0);
    (void)number;
    for (int64_t k = 1; k <= 8 && result == PASSED; k++) {
        struct sample s = {'d', 'N', 'N', 60, 60, k, KIND_SPECIAL, 0, ozg_moduli(8)};
        struct sample_data d = sample_fill(&s);
        double *expected = xmalloc(60 * 60 * sizeof(double));
        const double *c = d.c.data;
        plain(&d.a, &d.b, expected);
        if (sample_run(ctx, &s, &d, NULL) != OZG_OK)
            result = wrong(note, "%s", ozg_last_error(ctx));
        for (int i = 0; i < 60 * 60 && result == PASSED; i++)
            if (isnan(expected[i]) ? !isnan(c[i]) : c[i] != expected[i])
                result = wrong(note, "k = %d: entry %d is %g, must be %g", (int)k, i, c[i], expected[i]);
        free(expected);
        sample_free(&d);
    }
    if (result == PASSED)
        say(note, "Inf and NaN reach the entries that IEEE arithmetic says");
    ozg_destroy(ctx);
    return result;
}

static enum outcome check_reference(const ozg_config *on, int number, struct note *note)
{
    enum outcome result = PASSED;
    int count = 0;
    (void)number;
    if (!reference_available()) {
        say(note, "%s", reference_missing);
        return LEFT_OUT;
    }
    ozg_context *ctx = open_context(on, NULL, 0, 0);
    for (const char *type = "sdcz"; *type; type++)
        for (int kind = 0; kind < KIND_SPECIAL && result == PASSED; kind++, count++) {
            struct sample s = golden_sample(*type, (enum kind)kind, 0);
            struct sample_data d = sample_fill(&s);
            struct matrix rounded = matrix_alloc("C", *type, s.m, s.n);
            struct reference *exact = reference_make(&d.a, &d.b, NULL);
            ozg_report report;
            reference_round(exact, &rounded);
            if (sample_run(ctx, &s, &d, &report) != OZG_OK)
                result = wrong(note, "%s", ozg_last_error(ctx));
            else if (!report.exact || !matrix_equal(&rounded, &d.c))
                result = wrong(note, "%cgemm, kind %d: %s", *type, kind,
                               report.exact ? "not the correctly rounded product" : "not reported as exact");
            reference_free(exact);
            matrix_free(&rounded);
            sample_free(&d);
        }
    if (result == PASSED)
        say(note, "%d products are the correctly rounded ones of FLINT and MPFR", count);
    ozg_destroy(ctx);
    return result;
}

/* The hashes of golden_sample(), all kinds of a type in turn: kept exactly and rounded. */
static const struct golden {
    char type;
    uint64_t exact, rounded;
} golden[] = {
    {'s', UINT64_C(0x2bced101240aeb89), UINT64_C(0x7f66b6b3ebf599f3)},
    {'d', UINT64_C(0x9652d77f670d2bcd), UINT64_C(0x56a3cdc33610b274)},
    {'c', UINT64_C(0xcbb4b4d5e892974f), UINT64_C(0xb84c7e468fd51c02)},
    {'z', UINT64_C(0x7cd49dbf544a922f), UINT64_C(0x8f1947a7722009d1)},
};

static enum outcome check_golden(const ozg_config *on, int number, struct note *note)
{
    enum outcome result = PASSED;
    ozg_context *ctx = open_context(on, NULL, 0, 0);
    (void)number;
    for (size_t g = 0; g < 4 && result == PASSED; g++) {
        uint64_t hash[2] = {hash_start, hash_start};
        for (int kind = 0; kind < KIND_COUNT; kind++)
            for (int group = kind == KIND_SPECIAL; group < 2; group++) {
                struct sample s = golden_sample(golden[g].type, (enum kind)kind, group);
                struct sample_data d = sample_fill(&s);
                if (sample_run(ctx, &s, &d, NULL) != OZG_OK)
                    result = wrong(note, "%s", ozg_last_error(ctx));
                hash[group] = matrix_hash(hash[group], &d.c);
                sample_free(&d);
            }
        if (result == PASSED && (hash[0] != golden[g].exact || hash[1] != golden[g].rounded))
            result = wrong(note, "%cgemm: %016" PRIx64 " %016" PRIx64, golden[g].type, hash[0], hash[1]);
    }
    if (result == PASSED)
        say(note, "28 products have the bits that all machines have");
    ozg_destroy(ctx);
    return result;
}

const struct check checks[] = {
    {"widths of Table 2", check_table2, 0},
    {"moduli and widths", check_moduli, 0},
    {"kernel", check_kernel, 1},
    {"threads", check_threads, 0},
    {"tiles", check_tiles, 0},
    {"integers", check_integers, 0},
    {"special values", check_special, 0},
    {"correct rounding", check_reference, 0},
    {"golden values", check_golden, 0},
};

const int check_count = sizeof checks / sizeof checks[0];
