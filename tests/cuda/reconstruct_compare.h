/*
 * reconstruct_compare.h - the kernels of the reconstruction bit for bit against the CPU's stage: which
 * entries they leave to repair, and what they write.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TEST_CUDA_RECONSTRUCT_COMPARE_H
#define OZG_TEST_CUDA_RECONSTRUCT_COMPARE_H

#include "reconstruct_fixture.h"

static inline uint64_t bits_of(const struct fixture *f, const double *c, int64_t at)
{
    uint64_t bits = 0;

    memcpy(&bits, (const char *)c + (f->single ? 4 : 8) * at, f->single ? 4 : 8);
    return bits;
}

static inline uint64_t field_of(const struct fixture *f, uint64_t bits)
{
    return f->single ? bits >> 23 & 0xff : bits >> 52 & 0x7ff;
}

/* The bits of a repaired entry. */
static inline uint64_t repaired_bits(const struct fixture *f)
{
    const ozg_fp alpha = f->scalars.alpha[0].fp;
    const double x = ldexp((double)alpha.mant, alpha.exp + (f->single ? 116 : 980)) * (alpha.neg ? -1 : 1);
    double c[1];

    put_number(f, c, 0, x);
    return bits_of(f, c, 0);
}

struct fails {
    int64_t listed, tested;
};

static struct {
    uint64_t doubted, tested;
} all; /* of all fixtures of a test */

/*
 * Rounded: the CPU repairs where the bound leaves no room in the words of c^, though C, joining c^, may be so
 * large that there is no doubt; and it rounds a bound up to an integer of c^, of which the screen of the device
 * knows the digits behind the point. Elsewhere the device leaves no entry that the CPU repairs.
 */
static inline int cpu_knows_bound(struct fixture *f, int64_t i, int64_t j)
{
    const ozg_lines a = cpu_lines(f, &f->a), b = cpu_lines(f, &f->b);
    const ozg_factors row = ozg_factors_of(&a, f->i0 + i), column = ozg_factors_of(&b, f->j0 + j);
    const int shift = (row.w > column.w ? row.w : column.w) + 2 * ozg_bound_unit(f->length) - 32;
    const uint64_t bound = ozg_bound(&row, &column);

    return shift >= 0 && shift + ozg_bit_length(bound) <= 64 * f->rns->nword - 7;
}

/* C is as it was at `at`. */
static inline void check_kept(struct fixture *f, const double *before, int64_t at)
{
    const int64_t size = f->single ? 4 : 8;

    assert_memory_equal((char *)f->c + size * at, (const char *)before + size * at,
                        (size_t)(size << f->complex_));
    memcpy((char *)f->expected + size * at, (char *)f->c + size * at, (size_t)(size << f->complex_));
}

static inline void check_entry(struct fixture *f, const double *before, int64_t i, int64_t j, int listed)
{
    const int64_t at = (1 + f->complex_) * (f->a.index[f->i0 + i] + f->b.index[f->j0 + j] * f->ldc),
                  size = f->single ? 4 : 8;
    const uint64_t first = bits_of(f, f->expected, at);
    const int tests = f->kind == OZG_BY_NATIVE || f->kind == OZG_BY_ROUNDED,
              repaired = first == repaired_bits(f);
    const int known = tests && field_of(f, first) != (f->single ? 0xff : 0x7ff);

    if (f->kind == OZG_BY_ROUNDED && repaired && !listed && !cpu_knows_bound(f, i, j)) { /* RN(c^) */
        memcpy((char *)f->expected + size * at, (const char *)f->plain + size * at,
               (size_t)(size << f->complex_));
        f->certain++;
    } else if (f->kind == OZG_BY_ROUNDED && listed && !repaired) {
        f->doubted++; /* the CPU found that both ends agree; the list is right, too */
        check_kept(f, before, at);
        return;
    } else if (known && repaired != listed)
        fail_msg("s = %d, type %c, kind %d, entry (%d, %d): %s, the CPU has %016llx", f->rns->nmod,
                 "dszc"[2 * f->complex_ + f->single], f -> kind, (int)i, (int)j,
                 listed ? "in the list" : "not in the list", (unsigned long long)first);
    for (int part = 0; part <= f->complex_; part++) {
        const uint64_t actual = bits_of(f, f->c, at + part),
                       expected = bits_of(f, listed ? before : f->expected, at + part);

        if (actual != expected)
            fail_msg("s = %d, type %c, kind %d, entry (%d, %d) part %d: %016llx, expected %016llx",
                     f->rns->nmod, "dszc"[2 * f->complex_ + f->single], f -> kind, (int)i, (int)j, part,
                     (unsigned long long)actual, (unsigned long long)expected);
    }
    memcpy((char *)f->expected + size * at, (char *)f->c + size * at, (size_t)(size << f->complex_));
}

/* before: C as it was. */
static inline struct fails compare(struct fixture *f, const double *before, const ozg_repairs *cpu,
                                   const ozg_cuda_state *cuda)
{
    uint8_t *listed = get((size_t)(f->rows * f->columns), 1);
    const int tests = f->kind == OZG_BY_NATIVE || f->kind == OZG_BY_ROUNDED;

    assert_int_equal(cuda->repaired, cuda->failed);
    assert_int_equal(cuda->tested, cpu->tested);
    assert_true(tests || cuda->failed == 0);
    for (uint32_t q = 0; q < cuda->failed; q++) {
        assert_true(f->list[q] < f->rows * f->columns && !listed[f->list[q]]);
        listed[f->list[q]] = 1;
    }
    for (int64_t j = 0; j < f->columns; j++)
        for (int64_t i = 0; i < f->rows; i++)
            check_entry(f, before, i, j, listed[i + j * f->rows]);
    assert_int_equal(cuda->repaired + f->certain, cpu->repaired + f->doubted);
    all.doubted += f->doubted;
    all.tested += cuda->tested;
    assert_int_equal(cuda->largest, cpu->largest);
    assert_memory_equal(f->c, f->expected,
                        (size_t)numbers_of_c(f) * (f->single ? 4 : 8)); /* and nothing else */
    free(listed);
    return (struct fails){cuda->failed, (int64_t)cuda->tested};
}

/* C near what is added to it: the CPU's result with beta = 0 serves. */
static inline void fill_c(struct fixture *f)
{
    const ozg_scalars scalars = f->scalars;
    const int kind = f->kind;

    f->kind = OZG_BY_MODULI;
    f->scalars.beta[0] = f->scalars.beta[1] = ozg_scalar_of(0);
    run_cpu(f, f->expected);
    f->kind = kind;
    f->scalars = scalars;
    for (int64_t at = 0; at < numbers_of_c(f); at++) {
        const uint64_t bits = bits_of(f, f->expected, at);
        float narrow;
        double x;
        const uint32_t half = (uint32_t)bits;

        memcpy(&narrow, &half, 4);
        memcpy(&x, &bits, 8);
        x = old_number(f, f->single ? (double)narrow : x);
        put_number(f, f->c, at, x);
        if (field_of(f, bits_of(f, f->c, at)) >= MOST_FIELD[f->single] && f->kind != OZG_BY_MODULI)
            put_number(f, f->c, at, 1);
    }
    memcpy(f->plain, f->c, (size_t)numbers_of_c(f) * 8);
    memcpy(f->expected, f->c, (size_t)numbers_of_c(f) * 8);
    f->kind = OZG_BY_MODULI;
    run_cpu(f, f->plain);
    f->kind = kind;
}

/* ties, fp64: as in the fixture. */
static inline struct fails run_with(struct rng *r, int s, int type, int kind, int scalars, int ties, int fp64)
{
    struct fixture f = {.r = *r, .ties = ties, .fp64 = fp64};
    struct fails fails;
    double *before;
    ozg_repairs cpu;
    ozg_cuda_state cuda;

    open_fixture(&f, s, type, kind, scalars);
    fill_c(&f);
    before = get((size_t)numbers_of_c(&f) + 1, 8);
    memcpy(before, f.c, (size_t)numbers_of_c(&f) * 8);
    cpu = run_cpu(&f, f.expected);
    cuda = run_cuda(&f);
    fails = compare(&f, before, &cpu, &cuda);
    *r = f.r;
    free(before);
    close_fixture(&f);
    return fails;
}

static inline struct fails run_once(struct rng *r, int s, int type, int kind, int scalars)
{
    return run_with(r, s, type, kind, scalars, 0, -1);
}

/* Every s; of each kind some entries must pass and some fail, or the test shows nothing. */
static inline void check_kind(int kind, int scalars, uint64_t seed)
{
    struct rng r = {seed};
    int64_t listed = 0, tested = 0;

    for (int type = 0; type < 4; type++)
        for (int s = kind == OZG_BY_MODULI ? OZG_NMOD_MIN : 4; s <= OZG_NMOD_MAX; s++) {
            const struct fails fails = run_once(&r, s, type, kind, scalars);

            listed += fails.listed;
            tested += fails.tested;
        }
    print_message("kind %d: %d entries tested, %d in lists\n", kind, (int)tested, (int)listed);
    if (kind != OZG_BY_MODULI)
        assert_true(listed > tested / 50 && listed < tested - tested / 50);
}

#endif
