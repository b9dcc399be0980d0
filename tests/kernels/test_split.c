/*
 * test_split.c - the split stage of every kernel against ref: all word sizes, signs, widths and batch sizes.
 *
 * The residues of ref themselves are compared with GMP in tests/unit/test_residue.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "arith/residue.h"
#include "kernels.h"

enum { ROOM = 2 * OZG_SPLIT_BATCH + 7, PLANES = 3 * OZG_NMOD_MAX };

static unsigned char actual[PLANES * ROOM], expected[PLANES * ROOM];

/* An element of any kind, with D such that |x^| <= 2^width in both components. */
static void random_element(struct rng *r, int width, uint64_t *re, uint64_t *im, int32_t *d)
{
    const uint64_t exponent = rng_below(r, 8) ? 1 + rng_below(r, 2046) : 0;
    uint64_t larger;

    *re = (rng_next(r) & ~OZG_F64_INF) | exponent << 52;
    *im = (rng_next(r) & ~OZG_F64_INF) | (exponent ? exponent - rng_below(r, exponent) : 0) << 52;
    switch (rng_below(r, 16)) {
    case 0: /* signed zeros */
        *re &= OZG_F64_SIGN;
        *im &= OZG_F64_SIGN;
        break;
    case 1:
        *im = *re ^ OZG_F64_SIGN;
        break;
    case 2: /* |x^| = 2^width */
        *re = *im = (*re & OZG_F64_SIGN) | (exponent ? exponent << 52 : 1);
        *d = width + 1 - ozg_exponent(*re);
        return;
    case 3: /* takes no part */
        *re |= rng_below(r, 2) ? OZG_F64_INF : 0;
        *d = OZG_D_NONE;
        return;
    }
    larger = *re << 1 > *im << 1 ? *re : *im;
    *d = width - (larger << 1 ? ozg_exponent(larger) : 0) - (rng_below(r, 3) ? 0 : (int32_t)rng_below(r, 80));
}

/*
 * Behind the count zeros up to a multiple of 16, as the backend has it, then dirt. Half the batches have no d
 * above 899 .. 901: vector versions may take a shorter way.
 */
static void random_batch(struct rng *r, ozg_batch *batch, int width, int count)
{
    const int32_t most = rng_below(r, 2) ? 899 + (int32_t)rng_below(r, 3) : INT32_MAX;

    batch->count = count;
    for (int e = 0; e < OZG_SPLIT_BATCH; e++)
        random_element(r, width, &batch->re[e], &batch->im[e], &batch->d[e]);
    for (int e = 0; e < OZG_SPLIT_BATCH; e++)
        batch->d[e] = batch->d[e] > most ? most : batch->d[e];
    for (int e = count; e < OZG_SPLIT_BATCH && e < ((count + 15) & ~15); e++) {
        batch->re[e] = batch->im[e] = 0;
        batch->d[e] = OZG_D_NONE;
    }
}

static void check(const ozg_kernel *kernel, struct rng *r, int word, int width, const ozg_layout *layout,
                  int complex_, int count)
{
    const ozg_rns *rns = rns_of(word, ozg_moduli_for_width(width, 1));
    const int planes = rns->nmod * (complex_ ? 3 : 1);
    const size_t plane = (size_t)(count * layout->word) + rng_below(r, 8);
    ozg_batch batch;

    random_batch(r, &batch, width, count);
    memset(actual, 0x5a, sizeof actual);
    memset(expected, 0x5a, sizeof expected);
    kernel->split(rns, width, layout, complex_, &batch, actual, plane);
    kernel_ref()->split(rns, width, layout, complex_, &batch, expected, plane);
    if (memcmp(actual, expected, sizeof actual) == 0)
        return;
    for (int q = 0; q < planes; q++)
        for (int e = 0; e < count; e++)
            for (int byte = 0; byte < layout->word; byte++) {
                const size_t at = (size_t)q * plane + (size_t)(e * layout->word + byte);

                if (actual[at] != expected[at])
                    fail_msg("%s: width %d, word %d, nonneg %d, complex %d: plane %d, element %d of %d: "
                             "%02x, expected %02x",
                             kernel->name, width, layout->word, layout->nonneg, complex_, q, e, count,
                             actual[at], expected[at]);
            }
    fail_msg("%s: width %d, word %d, count %d: wrote beyond its elements", kernel->name, width, layout->word,
             count);
}

static void test_split(void **state)
{
    struct rng r = {1};

    (void)state;
    for (int i = 0; kernel_at(i); i++)
        for (int form = 0; form < 8; form++) {
            const int word = 1 + form / 4, nonneg = form / 2 % 2, complex_ = form % 2;
            const ozg_layout layout = {.lines = 1, .kr = 1, .step = 1, .word = word, .nonneg = nonneg};

            if (!takes_word(kernel_at(i), word) || (word == 2 && nonneg))
                continue;
            for (int count = 1; count <= OZG_SPLIT_BATCH; count++)
                check(kernel_at(i), &r, word, (int)rng_between(&r, 1, 80), &layout, complex_, count);
            for (int width = 1; width <= OZG_WIDTH_MAX; width++)
                check(kernel_at(i), &r, word, width, &layout, complex_,
                      (int)rng_between(&r, 1, OZG_SPLIT_BATCH / 4));
        }
}

/* In ref: symmetric residues and those in [0, m) say the same, and plane 2 is the sum of planes 0 and 1. */
static void test_layouts_agree(void **state)
{
    static unsigned char plain[PLANES * ROOM], symmetric[PLANES * ROOM];
    struct rng r = {2};
    ozg_batch batch;

    (void)state;
    random_batch(&r, &batch, 55, OZG_SPLIT_BATCH);
    for (int word = 1; word <= 2; word++) {
        const ozg_layout layout[2] = {{1, 1, 1, word, 1}, {1, 1, 1, word, 0}};
        const ozg_rns *rns = rns_of(word, 16);
        const int n = rns->nmod;

        kernel_ref()->split(rns, 55, &layout[0], 1, &batch, plain, ROOM);
        kernel_ref()->split(rns, 55, &layout[1], 1, &batch, symmetric, ROOM);
        for (int q = 0; q < 3 * n; q++)
            for (int e = 0; e < OZG_SPLIT_BATCH; e++) {
                const int m = (int)rns->m[q % n], mask = word == 1 ? 0xff : 0xffff;
                int residue[3];

                for (int part = 0; part < 3; part++)
                    residue[part] = (int)word_at(plain + (part * n + q % n) * ROOM, word, e);
                assert_in_range(residue[q / n], 0, m - 1);
                assert_int_equal(residue[2], (residue[0] + residue[1]) % m);
                assert_int_equal(word_at(symmetric + q * ROOM, word, e),
                                 (2 * residue[q / n] > m ? residue[q / n] - m : residue[q / n]) & mask);
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_split), cmocka_unit_test(test_layouts_agree)};

    return cmocka_run_group_tests(tests, kernels_announce, NULL);
}
